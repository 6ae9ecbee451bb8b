"""Lists: their methods, on those known when compiling and those that aren't."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .. import ir, runtime
from ..ir import list_append
from ..kinds import SHAPE, ListOf
from . import running
from .item_counts import Count, changed
from .iteration import MOST_UNROLLED
from .long_tuples import LongTuples
from .predicates import NONE, is_none, is_unknown
from .restarts import WHOLE, NeedStatic, Thaw
from .structure import is_long
from .values import (
    OWN,
    Choice,
    DictObject,
    Generator,
    Instance,
    ListObject,
    Ref,
    Sequence,
    Slice,
    Tuple,
    Value,
)


class Containers(LongTuples):
    """Evaluates the methods of lists."""

    def append(self, ref: Ref, value: Value) -> None:
        thing = self.state.heap[ref.id]
        if isinstance(thing, Instance):  # a list of several kinds
            self.call(self.attribute(ref, "append"), [value], {})
            return
        assert isinstance(thing, ListObject)
        self.writable(thing)
        if thing.var is None:
            self.state.heap[ref.id] = ListObject((*thing.items, value), type=thing.type)
            return
        if isinstance(value, Tuple) and value.missing is not None and self.may_be_none(value):
            given = Tuple(value.items, value.type)
            missing = self.identical(value, NONE)
            self.decided(missing, lambda: self.append(ref, NONE), lambda: self.append(ref, given))
            return
        assert isinstance(thing.var.kind, ListOf)
        value = self.as_item(thing.var.kind.item, value)
        self.keep(thing.var, value)
        self.modify(list_append, thing.var, self.kept_operand(value))
        self.recount(ref, thing.count, 1)

    def recount(self, ref: Ref, before: Count, by: int) -> None:
        """Note how many items a list has that has one more, or one less, than it had."""
        now = self.state.heap[ref.id]
        assert isinstance(now, ListObject)
        self.state.heap[ref.id] = replace(now, count=changed(before, by))

    def writable(self, thing: Any) -> None:
        if is_long(thing):
            raise self.fault(TypeError, "a tuple can't be changed")
        if thing.external:
            self.write_journal(thing)
            self.want_own(thing)
            raise self.refuse(
                f"{thing.external!r} belongs to the caller, who would see it change",
                "make a copy of it first",
            )
        self.unfrozen(thing)

    def want_own(self, thing: Any) -> None:
        """Begin again with a copy of the argument that is written here, or of which a part is."""
        heap = self.state.heap
        name = next((n for i, n in self.of_arguments.items() if heap.get(i) is thing), None)
        if name is not None and (OWN, name) not in self.known_sites:
            site = frozenset([(OWN, name)])
            raise NeedStatic(site, f"{thing.external} is written here", self.span)

    def want_whole(self, ref: Ref) -> None:
        """Begin again with a short list outside as one value, as long ones are."""
        path = next((p for p, known in self.lifted.items() if known == ref), None)
        if path is not None and (WHOLE, path) not in self.known_sites:
            raise NeedStatic(
                frozenset([(WHOLE, path)]), "which list this is isn't known", self.span
            )

    def unfrozen(self, thing: Any) -> None:
        """Refuse to write an object that stands for one of several."""
        self.types_written.add(thing.type)
        if thing.frozen is not None:
            self.want_tables(thing)
            self.wants_table(thing)
            raise Thaw(
                thing.frozen,
                "which object is changed here isn't known when compiling",
                self.span,
                "make a new object instead of changing it",
            )

    def put_items(self, ref: Ref, items: dict[Any, Value]) -> None:
        """Give a dict, a set or an object other items: an object, and what `vars()` of it is."""
        for number in (ref.id, -ref.id):
            thing = self.state.heap.get(number)
            if thing is None:
                continue
            assert isinstance(thing, (DictObject, Instance))
            self.unfrozen(thing)
            for name in items.keys() - thing.items.keys():
                self.check_added(Ref(number), name)
            self.state.heap[number] = replace(thing, items=items)

    def extend(self, ref: Ref, part: Value) -> None:
        part = self.builtin_list(part) if part == ref else part  # which grows under its iterator
        self.check_other_list(ref, part)
        self.loop_site = self.site
        self.iterate(part, lambda item: self.append(ref, item))

    def check_other_list(self, ref: Ref, part: Value) -> None:
        """Find out in the run whether a list is extended by itself, under another name."""
        if self.span is None or self.fixed_span:  # a rule's code
            return
        things = [self.on_heap(value) for value in (ref, part)]
        whole, other = (t.var if isinstance(t, ListObject) else t for t in things)
        if (
            isinstance(whole, ir.Var)
            and isinstance(other, ir.Var)
            and isinstance(other.kind, ListOf)
        ):
            self.act(runtime.check_other_list, whole, ir.Const(self.span.place), other)

    def listed(self, length: Value, item: Callable[[Value], Value], of: type = list) -> Ref:
        ref = self.new(ListObject((), type=list if of is tuple else of))
        bounds = (ir.Const(0), length, ir.Const(1))
        self.iterate(Sequence(length, item, False, bounds), lambda i: self.append(ref, item(i)))
        made = self.long_tuple(ref) if of is tuple else ref
        assert isinstance(made, Ref)
        return made

    def list_of(self, value: Value) -> tuple[Ref, ListObject]:
        assert isinstance(value, Ref)
        thing = self.state.heap[value.id]
        assert isinstance(thing, ListObject)
        return value, thing

    def method___init__(self, items: Value, part: Value | None = None) -> Value:
        self.method_clear(items)
        return NONE if part is None else self.method_extend(items, part)

    def method_append(self, items: Value, value: Value) -> Value:
        self.append(self.list_of(items)[0], value)
        return NONE

    def method_extend(self, items: Value, part: Value) -> Value:
        self.extend(self.list_of(items)[0], part)
        return NONE

    def method_pop(self, items: Value, position: Value | None = None) -> Value:
        ref, thing = self.list_of(items)
        self.writable(thing)
        if thing.var is None and (position is None or isinstance(position, ir.Const)):
            values = list(thing.items)
            try:
                value = values.pop(position.value if isinstance(position, ir.Const) else -1)
            except (IndexError, TypeError) as error:
                raise self.raised_by_python(error) from None
            self.state.heap[ref.id] = ListObject(tuple(values), type=thing.type)
            return value
        var = self.materialized(ref, NONE if position is None else position)
        inferred = self.item_inferred(var)
        operands: tuple[ir.Operand, ...] = (var,)
        if position is not None:
            operands = (var, self.operand(position))
        self.guard_index(var, operands[1] if position is not None else ir.Const(-1))
        count = self.list_of(items)[1].count
        item = self.emit(list.pop, operands, inferred=inferred, writes=(var,), name="item")
        self.recount(ref, count, -1)
        return self.item_taken(item, var)

    def method_popleft(self, items: Value) -> Value:
        return self.method_pop(items, ir.Const(0))

    def method_rotate(self, items: Value, n: Value = ir.Const(1)) -> Value:  # noqa: B008
        ref, thing = self.list_of(items)
        self.writable(thing)
        if thing.var is not None or not isinstance(n, ir.Const):
            self.materialized(ref, n)
            return self.of_definition(running.rotate, [items, n])
        if thing.items:
            back = -self.key(n) % len(thing.items)
            rotated = (*thing.items[back:], *thing.items[:back])
            self.state.heap[ref.id] = replace(thing, items=rotated)
        return NONE

    def method_extendleft(self, items: Value, part: Value) -> Value:
        self.iterate(part, lambda item: self.discarded(self.method_appendleft(items, item)))
        return NONE

    def method_appendleft(self, items: Value, value: Value) -> Value:
        return self.method_insert(items, ir.Const(0), value)

    def method_remove(self, items: Value, value: Value) -> Value:
        position = self.method_index(items, value)
        self.method_pop(items, position)
        return NONE

    def method_count(self, items: Value, value: Value) -> Value:
        if self.has_any_length(items) or self.are_objects_among(items, value):
            return self.of_definition(running.count, [items, value])
        count: Value = ir.Const(0)
        for item in self.unpacked(items):
            equal = self.equal_items(item, value)
            if isinstance(equal, ir.Const):
                equal = ir.Const(int(equal.value))
            count = self.binary(operator.add, count, equal)
        return count

    def method_sort(self, items: Value, **kwargs: Value) -> Value:
        ref, thing = self.list_of(items)
        self.writable(thing)
        if thing.var is not None and thing.type is list:
            self.modify(runtime.reorder, thing.var, self.order_of(items, **kwargs))
            return NONE
        result = self.builtin_sorted(items, **kwargs)
        assert isinstance(result, Ref)
        if thing.var is not None or thing.type is not list:
            self.rebuild(ref, result)
        else:
            self.state.heap[ref.id] = self.state.heap[result.id]
        return NONE

    def method_insert(self, items: Value, position: Value, value: Value) -> Value:
        ref, thing = self.list_of(items)
        self.writable(thing)
        if thing.var is None and isinstance(position, ir.Const):
            values = list(thing.items)
            try:
                values.insert(position.value, value)
            except TypeError as error:
                raise self.raised_by_python(error) from None
            self.state.heap[ref.id] = ListObject(tuple(values), type=thing.type)
            return NONE
        self.materialized(ref, position)
        if isinstance(position, ir.Const) and position.value == 0:
            return self.list_put(items, position, value)
        return self.of_definition(running.insert, [items, position, value])

    def list_put(self, items: Value, position: Value, value: Value) -> Value:
        """`items.insert(position, value)` where the position is neither negative nor too large."""
        ref, thing = self.list_of(items)
        assert thing.var is not None
        self.keep(thing.var, value)
        self.modify(list.insert, thing.var, self.operand(position), self.kept_operand(value))
        self.recount(ref, thing.count, 1)
        return NONE

    def below(self, length: Value) -> Sequence:
        """The numbers below a length."""
        return Sequence(length, lambda i: i, False, (ir.Const(0), length, ir.Const(1)))

    def rebuild(self, ref: Ref, made: Value) -> None:
        """Give a list that is built in a loop other items, in place: it may have other names."""
        popped = self.below(self.builtin_len(ref))
        self.iterate(popped, lambda _: self.discarded(self.method_pop(ref)))
        self.extend(ref, made)

    def replace_slice(self, ref: Ref, key: Slice, value: Value) -> None:
        """`items[a:b] = value` on a list that is built in a loop."""
        bounds = [getattr(p, "value", ...) for p in (key.start, key.stop, key.step)]
        start, stop = bounds[0] or 0, bounds[1]
        ordered = (
            isinstance(start, int) and isinstance(stop, int)
            and (start < 0) == (stop < 0) and start <= stop
        )  # fmt: skip
        if bounds[2] is None and not (ordered or stop is None or start == 0):
            told = self.of_definition(running.bounds, [ref, key.start, key.stop])
            assert isinstance(told, Tuple)
            first, last = told.items
            key, start, stop = Slice(first, last, NONE), ..., ...
        elif bounds[2] is not None:
            raise self.refuse(
                "this slice of a list that is built in a loop can't be assigned",
                "join the parts: items[:a] + new + items[b:]",
            )
        made = self.new(ListObject(()))
        if start != 0:
            self.extend(made, self.subscript(ref, Slice(NONE, key.start, NONE)))
        self.extend(made, value)
        if stop is not None:
            self.extend(made, self.subscript(ref, Slice(key.stop, NONE, NONE)))
        self.rebuild(ref, made)

    def method_reverse(self, items: Value) -> Value:
        ref, thing = self.list_of(items)
        self.writable(thing)
        if thing.var is not None:
            self.modify(list.reverse, thing.var)
            return NONE
        self.state.heap[ref.id] = ListObject(thing.items[::-1], type=thing.type)
        return NONE

    def of_definition(self, function: Any, args: list[Value]) -> Value:
        """What a function written in what the compiler reads does."""
        return self.call_object(function, args, {})

    def method_copy(self, value: Value) -> Value:
        return self.builtin_list(value)

    def method_clear(self, value: Value) -> Value:
        ref, thing = self.list_of(value)
        self.writable(thing)
        if thing.var is not None:
            self.rebuild(ref, Tuple(()))
            return NONE
        self.state.heap[ref.id] = ListObject((), type=thing.type)
        return NONE

    def method_index(
        self, items: Value, value: Value, start: Value = NONE, stop: Value = NONE
    ) -> Value:
        if not (is_none(start) and is_none(stop)):
            length = self.key(self.builtin_len(items))
            first, last, _ = slice(self.key(start), self.key(stop)).indices(length)
            part = self.subscript(items, Slice(ir.Const(first), ir.Const(last), NONE))
            return self.binary(operator.add, self.method_index(part, value), ir.Const(first))
        thing = self.on_heap(items)
        at_run_time = isinstance(thing, ListObject) and thing.var is not None
        if at_run_time or self.are_objects_among(items, value):
            return self.of_definition(running.index, [items, value])
        for i, item in enumerate(self.unpacked(items)):
            equal = self.equal_items(item, value)
            if not isinstance(equal, ir.Const):
                break
            if equal.value:
                return ir.Const(i)
        else:
            raise self.empty(ValueError, "the value isn't in the list")
        return self.of_definition(running.index, [items, value])

    def namedtuple_make(self, cls: Value, values: Value, /) -> Value:
        made, items = self.key(cls), self.unpacked(values)
        if len(items) != len(made._fields):
            expected = len(made._fields)
            raise self.fault(TypeError, f"Expected {expected} arguments, got {len(items)}")
        return self.linked(Tuple(tuple(items), made))

    def namedtuple_replace(self, value: Value, /, **changes: Value) -> Value:
        if isinstance(value, Choice):  # of several classes
            return self.for_each(value, lambda v: self.namedtuple_replace(v, **changes))
        assert isinstance(value, Tuple)
        fields = list(getattr(value.type, "_fields", ()))
        unknown = [name for name in changes if name not in fields]
        if unknown:
            raise self.refuse(f"{value.type.__name__} has no field {unknown[0]!r}")
        pairs = zip(fields, value.items, strict=True)
        items = tuple(changes.get(name, item) for name, item in pairs)
        return self.linked(Tuple(items, value.type))

    def namedtuple_asdict(self, value: Value, /) -> Value:
        if isinstance(value, Choice):
            return self.for_each(value, self.namedtuple_asdict)
        assert isinstance(value, Tuple)
        fields = getattr(value.type, "_fields", ())
        return self.new(DictObject(dict(zip(fields, value.items, strict=True))))

    def builtin_list(self, value: Value | None = None) -> Value:
        if value is None:
            return self.new(ListObject(()))
        value = self.lazily(value)
        if isinstance(value, Generator) or self.is_cursor(value):
            ref = self.new(ListObject(()))
            self.iterate(value, lambda item: self.append(ref, item))
            return ref
        if isinstance(value, ir.Var) and value.kind == SHAPE:
            return self.list_of_shape(value)
        kept = self.on_heap(value)
        if isinstance(kept, ListObject) and kept.var is not None and not is_long(kept):
            return self.subscript(value, Slice(NONE, NONE, NONE))
        sequence = self.require(value)
        if isinstance(sequence.length, ir.Const) and sequence.length.value <= MOST_UNROLLED:
            items = [sequence.item(ir.Const(i)) for i in range(sequence.length.value)]
            return self.new(ListObject(tuple(items)))
        ref = self.new(ListObject(()))
        taken = isinstance(value, Sequence) or is_unknown(value)  # it is asked once for what it has
        self.iterate(sequence if taken else value, lambda item: self.append(ref, item))
        return ref

    def list_of_items(self, value: Value) -> Value:
        return self.builtin_list(value)

    def builtin_tuple(self, value: Value | None = None) -> Value:
        if value is None:
            return Tuple(())
        if isinstance(value, ir.Var) and value.kind == SHAPE:
            return value
        if is_long(self.on_heap(value)):
            return value
        if isinstance(value, Generator):
            value = self.builtin_list(value)
        items = self.items_or_list(value, "%tuple")
        if isinstance(items, list):
            return Tuple(tuple(items))
        return self.shape_of_items(items) if self.is_list_of_ints(items) else self.long_tuple(items)
