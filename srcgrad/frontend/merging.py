"""Joining the two states at the end of a branch into the state after it.

Numbers and arrays that differ are what the `If` yields. Of functions and objects that differ, the
`If` yields which one it is (`values.Choice`); what can't be described is an error where it is used.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import ir
from ..analysis.inference import Inferred
from ..errors import UnsupportedError
from ..joins import KindMismatch
from ..kinds import BOOL, NOTHING, Scalar
from ..rules.library import Memory
from .choices import FUNCTIONS, is_choosable, is_function, options
from .item_counts import merged as merged_count
from .predicates import FALSE, NONE, TRUE, is_none
from .restarts import Materialize, Thaw
from .structure import (
    PRESENCE,
    Poison,
    absent,
    alike,
    flagged,
    has_layout,
    interchangeable,
    is_absent,
    is_evaluated,
    is_long,
    is_table,
    is_view,
    list_held_by,
    may_be_twins,
    may_get_long,
    optional_tuples,
    part_names,
    parts,
    rebuild,
    references,
    same_layout,
    same_option,
    same_order,
)
from .values import (
    Choice,
    Closure,
    DictObject,
    Heap,
    Instance,
    ListObject,
    Ref,
    Slice,
    State,
    Tuple,
    Value,
)
from .wording import shown_name

if TYPE_CHECKING:
    from .builder import Builder


class Merger:
    """Makes the state after an If from its branches, at whose ends the states are `a` and `b`.

    A branch that never ends has no say: what it would yield is undefined.
    """

    def __init__(
        self,
        builder: Builder,
        test: ir.Operand,
        entry: State,
        first: tuple[State, ir.Block],
        second: tuple[State, ir.Block],
        marker: Any,
    ) -> None:
        (a, then), (b, orelse) = first, second
        self.then, self.orelse = then, orelse
        self.builder, self.test, self.entry = builder, test, entry
        self.a, self.b, self.marker = a, b, marker
        self.yields: list[tuple[ir.Operand, ir.Operand, ir.Var]] = []
        self.heap: dict[int, Heap] = {}
        self.frozen: set[int] = set()
        self.pending: set[tuple[Ref, Ref]] = set()  # the objects that are being merged
        self.inside = False  # of objects to which something else refers

    def state(self) -> State:
        if self.a.unreachable or self.b.unreachable:
            return self.one_sided()
        frames: dict[int, dict[str, Value]] = {}
        for number in {**self.a.frames, **self.b.frames}:
            x, y = self.a.frames.get(number, {}), self.b.frames.get(number, {})
            before = self.entry.frames.get(number, {})
            frames[number] = {  # most names aren't assigned by either branch
                name: value
                if (value := x.get(name)) is y.get(name) and value is not None
                else self.merged_name(number, name, before, x, y)
                for name in {**x, **y}
            }
        heap, other = self.a.heap, self.b.heap
        for number in {**heap, **other}:
            p, q = heap.get(number), other.get(number)
            self.heap[number] = p if p is q and p is not None else self.merged_object(number, p, q)
        for number in self.frozen:
            thing = self.heap[number]
            if thing.frozen is None:
                self.heap[number] = replace(thing, frozen=self.marker)
        self.builder.check_flags(self.a, self.b)
        return State(frames, self.heap, used=self.a.used | self.b.used, flags=self.a.flags)

    def merged_name(
        self,
        number: int,
        name: Any,
        before: dict[str, Value],
        x: dict[str, Value],
        y: dict[str, Value],
    ) -> Any:
        """What a name of a frame holds after the If, of whose branches one may have assigned it."""
        if self.is_deleted(name, before, x, y) and not self.builder.has_flag(name):
            found = self.poison(f"{shown_name(name)} has no value any more on some paths to here")
            found.origins |= {flagged(name)}
            return found
        a, b = x.get(name, absent(name)), y.get(name, absent(name))
        value = self.merge(name, a, b)
        if (a is ir.UNDEFINED) != (b is ir.UNDEFINED):
            self.builder.half_bound(number, name, value)
        return value

    def is_deleted(self, name: Any, before: Any, x: Any, y: Any) -> bool:
        """Whether one of the branches deletes a name, as a handler does the name of its exception.

        The generated code's variable still holds the old value there.
        """
        if name[0] == "%" or before.get(name, ir.UNDEFINED) is ir.UNDEFINED:
            return False
        return (x.get(name) is ir.UNDEFINED) != (y.get(name) is ir.UNDEFINED)

    def one_sided(self) -> State:
        """The state after an If of which one branch never ends: its other branch's values."""
        live, entry = (self.b if self.a.unreachable else self.a), self.entry
        frames: dict[int, dict[str, Value]] = {}
        for number, frame in live.frames.items():
            before = entry.frames.get(number, {})
            frames[number] = {
                name: self.kept(name, before.get(name, absent(name)), value)
                for name, value in frame.items()
            }
        for number, thing in live.heap.items():
            old = entry.heap.get(number)
            if old is thing or number in self.builder.outer_objects:
                self.heap[number] = thing
            else:
                self.heap[number] = self.rebuilt(thing, old)
        return State(frames, self.heap, used=live.used, flags=live.flags)

    def kept(self, name: Any, before: Any, after: Any) -> Any:
        """The value after an If of which only one branch ends, with `after`."""
        if self.builder.same(before, after):
            return before
        if isinstance(after, ir.Const):
            return after
        return self.padded(name, after, self.a.unreachable)

    def padded(self, name: Any, value: Any, first: bool) -> Any:
        """A value that one branch alone yields: the other (the first?) leaves it undefined."""
        if first:
            return self.merge(name, ir.UNDEFINED, value)
        return self.merge(name, value, ir.UNDEFINED)

    def rebuilt(self, thing: Heap, old: Heap | None = None, first: bool | None = None) -> Heap:
        """An object that only one branch has or changes, its values yielded by the If."""
        if first is None:
            first = self.a.unreachable
        if isinstance(thing, ListObject):
            if thing.var is not None:
                if isinstance(old, ListObject) and old.var is thing.var:
                    return thing
                target = self.padded(thing.var.name, thing.var, first)
                if isinstance(target, ir.Var):  # what is put in it is in the branch's list, too
                    self.builder.link(target, None, thing.var)
                return replace(thing, var=target)
            known = old.items if isinstance(old, ListObject) else ()
            items = tuple(
                item
                if i < len(known) and self.builder.same(known[i], item)
                else self.held_alone("item", item, first)
                for i, item in enumerate(thing.items)
            )
            return replace(thing, items=items)
        before = old.items if isinstance(old, (DictObject, Instance)) else {}
        return replace(
            thing,
            items={
                key: item
                if self.builder.same(before.get(key, ir.UNDEFINED), item)
                else self.held_alone(key, item, first)
                for key, item in thing.items.items()
            },
        )

    def held_alone(self, name: Any, value: Any, first: bool) -> Any:
        """What an object holds that one branch alone has: a loop may ask which, whatever it is."""
        value = self.numbered(value, not first)
        held = self.padded(name, value, first)
        if not isinstance(held, Choice) or self.a.unreachable or self.b.unreachable:
            return held
        index = (ir.Const(0), value.index) if first else (value.index, ir.Const(0))
        return replace(held, index=self.merge("choice", *index))

    def merged_object(self, number: int, p: Heap | None, q: Heap | None) -> Heap:
        """An object after the If, which its branches may have changed."""
        if p is None or q is None:
            thing = q if p is None else p
            assert thing is not None
            if number in self.builder.outer_objects:  # the same whichever branch read it
                return thing
            return self.rebuilt(thing, None, p is None)
        if isinstance(p, ListObject) and isinstance(q, ListObject):
            if p.var is not None and p.var is q.var:
                return replace(p, count=merged_count(p.count, q.count))
            if p.var is not None or q.var is not None or len(p.items) != len(q.items):
                raise Materialize(Ref(number), self.builder.span)
            items = zip(p.items, q.items, strict=True)
            return replace(p, items=tuple(self.merge("item", x, y) for x, y in items))
        assert not isinstance(p, ListObject) and not isinstance(q, ListObject)
        if type(p) is not type(q):  # a dict that exists at run time on one branch
            raise Materialize(Ref(number), self.builder.span)
        merged: dict[Any, Value] = {}
        for key in {**p.items, **q.items}:
            if key in p.items and key in q.items:
                merged[key] = self.merge(key, p.items[key], q.items[key])
            elif p.type is Memory:
                pass  # what was computed on one path only is computed again after it
            elif isinstance(p, Instance):
                default = self.builder.absent_attribute(p.type, key)
                merged[key] = self.merge(key, p.items.get(key, default), q.items.get(key, default))
            else:
                poison = self.poison(f"the key {key!r} is in this dict on one branch only")
                poison.site = self.builder.sites.get(number)
                merged[key] = poison
        frozen = p.frozen or q.frozen
        if isinstance(p, DictObject) and isinstance(q, DictObject) and not same_order(p, q):
            order = self.poison("the keys of this dict or set are in another order on one branch")
            order.site = self.builder.sites.get(number)
            return replace(p, items=merged, frozen=frozen, order=order)
        return replace(p, items=merged, frozen=frozen)

    def poison(self, message: str) -> Any:
        origins: frozenset[Any] = frozenset()
        for v in ir.variables(self.test):
            origins |= v.origins
        return Poison(message, self.builder.span, origins)

    def merge(self, name: Any, a: Any, b: Any) -> Any:
        """The value after the If that is `a` or `b`; adds to what the If yields."""
        if self.builder.same(a, b) or (isinstance(a, Closure) and same_option(a, b)):
            return a
        if isinstance(a, Poison) or isinstance(b, Poison):
            return a if isinstance(a, Poison) else b
        if is_evaluated(name):  # what a loop has returned, say: read only where it has a value
            a, b = (NONE if getattr(v, "kind", None) == NOTHING else v for v in (a, b))
        if is_absent(a) or is_absent(b):
            if is_choosable(a) and is_choosable(b):
                return self.choice(name, a, b)
            return self.poison(PRESENCE)
        for x, y, swapped in ((a, b, False), (b, a, True)):
            if isinstance(x, Tuple) and (is_none(y) or y is ir.UNDEFINED):
                return self.optional(name, x, y, swapped)
        for known, other in ((a, b), (b, a)):
            if other is ir.UNDEFINED and (isinstance(known, Slice) or is_function(known)):
                known = self.numbered(known, known is a)
                return rebuild(known, [self.option(p, other is a) for p in parts(known)])
        if isinstance(a, FUNCTIONS) and isinstance(b, FUNCTIONS) and not interchangeable(a, b):
            return self.choice(name, a, b)
        a, b = optional_tuples(a, b)
        if alike(a, b):
            names = part_names(name, a)
            pairs = zip(names, parts(a), parts(b), strict=True)
            return rebuild(a, [self.merge(*each) for each in pairs])
        if is_choosable(a) and is_choosable(b) and (is_function(a) or is_function(b)):
            return self.choice(name, a, b)
        if isinstance(a, Tuple) and isinstance(b, Tuple) and a.type is b.type is tuple:
            return self.choice(name, a, b)  # of other lengths
        if (is_none(a) and isinstance(b, Ref)) or (is_none(b) and isinstance(a, Ref)):
            return self.optional_list(name, a, b) or self.choice(name, a, b)
        if {type(a), type(b)} == {Ref, Tuple}:
            return self.long_tuple(name, a, b) or self.choice(name, a, b)
        if isinstance(a, (ir.Var, ir.Const)) and isinstance(b, (ir.Var, ir.Const)):
            return self.leaf(str(name), a, b)
        if isinstance(a, Ref) and isinstance(b, Ref):
            return self.reference(name, a, b)
        if a is ir.UNDEFINED or b is ir.UNDEFINED:
            known = b if a is ir.UNDEFINED else a
            if isinstance(known, Ref):
                return known
        return self.one_of_kinds(name, a, b)

    def optional_list(self, name: Any, a: Any, b: Any) -> Any:
        """A list that exists at run time, or None; None if it is another object."""
        thing: Any = self.b.heap[b.id] if is_none(a) else self.a.heap[a.id]
        var = thing.var if isinstance(thing, ListObject) else None
        if var is None:
            return None
        target = self.leaf(str(name), *((a, var) if is_none(a) else (var, b)))
        if isinstance(target, Poison):
            return target
        self.builder.link(target, None, var)
        return self.placed(replace(list_held_by(target), frozen=thing.frozen))

    def long_tuple(self, name: Any, a: Any, b: Any) -> Any:
        """A tuple of any length that one branch has, and another one; None if they aren't."""
        for value, state, other, block, end in (
            (a, self.a, b, self.orelse, self.b), (b, self.b, a, self.then, self.a)
        ):  # fmt: skip
            if isinstance(value, Ref) and is_long(state.heap[value.id]) and may_get_long(other):
                try:
                    long = self.builder.lengthened(end, block, other)
                except UnsupportedError:
                    return None
                return self.merge(name, *((value, long) if value is a else (long, value)))
        return None

    def numbered(self, value: Any, first: bool) -> Any:
        """A choice that one branch alone has (the first?), its index an int.

        Afterwards it may have no value, so that nothing can be made of it.
        """
        if not isinstance(value, Choice) or self.a.unreachable or self.b.unreachable:
            return value
        builder, outer, before = self.builder, self.builder.block, self.builder.state
        builder.block, builder.state = (self.then, self.a) if first else (self.orelse, self.b)
        index = builder.index_among(value, [])
        builder.block, builder.state = outer, before
        return replace(value, index=index)

    def one_of_kinds(self, name: Any, a: Any, b: Any) -> Any:
        """One of values of different kinds, unless more could be known of the test."""
        found = self.poison(f"{shown_name(name)} has values of different kinds after this branch")
        if self.builder.specialisable(found.origins) or interchangeable(a, b):
            return found
        return self.choice(name, a, b) if is_choosable(a) and is_choosable(b) else found

    def option(self, value: Any, first: bool) -> Any:
        """What one branch alone yields, as a value after the If."""
        if isinstance(value, Tuple) and value.missing is None:
            return Tuple(tuple(self.option(item, first) for item in value.items), value.type)
        return value if isinstance(value, (ir.Const, Ref)) else self.padded("option", value, first)

    def choice(self, name: Any, a: Any, b: Any) -> Any:
        """One of several functions or objects, or None."""
        known: list[Any] = []
        builder, twins = self.builder, self.twins(a, b)
        indices: list[Any] = [None, None]
        of_a = Choice(
            FALSE, tuple(twins.get(o, o) if isinstance(o, Ref) else o for o in options(a))
        )
        renamed = replace(of_a, index=a.index) if isinstance(a, Choice) else of_a.options[0]
        # the options of b come first: the index of a choice of two is the test itself
        for i, value, block, state in (1, b, self.orelse, self.b), (0, renamed, self.then, self.a):
            outer, before = builder.block, builder.state
            builder.block, builder.state = block, state
            indices[i] = builder.index_among(value, known)
            builder.block, builder.state = outer, before
        for k, option in enumerate(known):
            x, y = (next((o for o in options(v) if interchangeable(o, option)), ir.UNDEFINED)
                    for v in (of_a, b))  # fmt: skip
            if x is ir.UNDEFINED or y is ir.UNDEFINED:
                known[k] = self.option(option, x is ir.UNDEFINED)
            elif option in twins.values():
                (mine,) = (o for o, other in twins.items() if other == option)
                known[k] = self.reference(name, mine, option)
            else:
                known[k] = self.merge("option", x, y)
            if isinstance(known[k], Poison):
                return known[k]
        plain = not isinstance(a, Choice) and not isinstance(b, Choice)
        if len(known) == 2 and plain:
            indices = [TRUE, FALSE]
        index = self.merge("choice", *indices)
        return index if isinstance(index, Poison) else Choice(index, tuple(known))

    def twins(self, a: Any, b: Any) -> dict[Ref, Ref]:
        """The objects of `a`, each with one of `b` that may be one option with it.

        There is one such pair at most of each class, and none of what will be changed.
        """
        if self.marker in self.builder.thawed:
            return {}
        mine, other = ([o for o in options(v) if isinstance(o, Ref)] for v in (a, b))
        found: dict[Ref, Ref] = {}
        for ref in mine:
            thing = self.a.heap[ref.id]
            alike = [o for o in other if may_be_twins(thing, self.b.heap[o.id])]
            rivals = [o for o in mine if may_be_twins(thing, self.a.heap[o.id])]
            alone = len(alike) == len(rivals) == 1 and alike != [ref]
            if alone and not self.stands_apart(thing):
                found[ref] = alike[0]
        return found

    def stands_apart(self, thing: Heap) -> bool:
        return is_view(thing) or self.builder.stands_apart(thing)

    def optional(self, name: Any, value: Tuple, other: ir.Const, swapped: bool) -> Any:
        """A tuple, or None or nothing."""
        items = tuple(self.padded(name, item, swapped) for item in value.items)
        if other is ir.UNDEFINED:
            merged = Tuple(items, value.type)
            if value.missing is not None:
                merged.missing = self.padded("missing", value.missing, swapped)
            return merged
        a: Any = value.missing or FALSE
        x, y = (TRUE, a) if swapped else (a, TRUE)
        missing = self.merge("missing", x, y)
        return Tuple(items, value.type, None, missing if isinstance(missing, ir.Var) else None)

    def leaf(self, name: str, a: Any, b: Any) -> Any:
        test = self.test
        if (
            isinstance(a, ir.Const)
            and isinstance(b, ir.Const)
            and type(a.value) is bool
            and type(b.value) is bool
            and isinstance(test, ir.Var)
            and isinstance(test.kind, Scalar)
            and test.kind.dtype.kind == "b"
        ):
            if a.value:
                return self.builder.own_bool(test)
            return self.builder.emit(operator.not_, (test,), inferred=_BOOLEAN)
        try:
            target = self.builder.joined_variable(name, a, b)
        except KindMismatch:
            return self.one_of_kinds(name, a, b)
        if not isinstance(target.kind, Scalar) or target.kind.dtype.kind in "iub":
            target.origins |= self.builder.deciding(test)
        self.yields.append((a, b, target))
        given, nothing = self.builder.given_if, frozenset[ir.Var]()
        true, false = (isinstance(v, ir.Const) and v.value is t for v, t in ((a, True), (b, False)))
        self.builder.implied[target] = (
            given(test, True) | given(a, True) if false else nothing,
            given(test, False) | given(b, False) if true else nothing,
        )
        return target

    def reference(self, name: Any, a: Ref, b: Ref) -> Any:
        """One of two objects: a new, frozen one with the values of either."""
        p, q = self.a.heap[a.id], self.b.heap[b.id]
        thawed = self.marker is None or self.marker in self.builder.thawed
        if (a, b) in self.pending and not thawed:  # they refer to themselves
            message = "these objects hold each other"
            raise Thaw(self.marker, message, self.builder.span, None)
        self.pending.add((a, b))
        try:
            return self.merged_reference(name, a, b, p, q, thawed)
        finally:
            self.pending.discard((a, b))

    def merged_reference(self, name: Any, a: Ref, b: Ref, p: Heap, q: Heap, thawed: bool) -> Any:
        if isinstance(p, ListObject) and isinstance(q, ListObject):
            if p.type is not q.type:
                message = f"{shown_name(name)} is a list of one of two classes after this branch"
                return self.poison(message)
            if p.var is not None and q.var is not None:
                target = self.leaf(str(name), p.var, q.var)
                if isinstance(target, Poison):
                    return target
                for var in (p.var, q.var):
                    self.builder.link(target, None, var)
                frozen = p.frozen or q.frozen  # where one stands for one of several
                return self.placed(replace(list_held_by(target), frozen=frozen))
            if thawed or p.var is not None or q.var is not None or len(p.items) != len(q.items):
                raise Materialize(b if p.var is not None else a, self.builder.span)
            held = dict(enumerate(zip(p.items, q.items, strict=True)))
            frozen, found = self.contents(a, b, held, "item")
            return self.placed(ListObject(tuple(found.values()), frozen=frozen, type=p.type))
        if type(p) is not type(q) and (is_table(p) or is_table(q)):
            raise Materialize(b if is_table(p) else a, self.builder.span)
        alike = same_layout(p, q) and not self.stands_apart(p)
        if thawed or not alike:
            if has_layout(p) and has_layout(q):
                return self.choice(name, a, b)
            return self.poison(f"{shown_name(name)} is one of two objects after this branch")
        assert not isinstance(p, ListObject) and not isinstance(q, ListObject)
        held = {key: (item, q.items[key]) for key, item in p.items.items()}
        frozen, found = self.contents(a, b, held)
        return self.placed(replace(p, items=found, external=None, frozen=frozen))

    def contents(
        self, a: Ref, b: Ref, held: dict[Any, tuple[Any, Any]], name: Any = None
    ) -> tuple[Any, dict[Any, Any]]:
        """With what to freeze an object that is one of two, and what it holds."""
        frozen, around = self.shared(a, b), self.inside
        self.inside = around or frozen is not None
        try:
            return frozen, {k: self.merge(name or k, x, y) for k, (x, y) in held.items()}
        finally:
            self.inside = around

    def shared(self, a: Ref, b: Ref) -> Any:
        """The marker with which to freeze an object that is one of two, which are frozen too.

        None if nothing else refers to either of the two, or to what they are in.
        """
        owners = [self.a.heap[a.id], self.b.heap[b.id]]
        if not self.inside and all(t.frozen is None and not t.external for t in owners):
            if references(self.a, a) == 1 and references(self.b, b) == 1:
                return None
        self.frozen.update((a.id, b.id))
        return self.marker

    def placed(self, thing: Heap) -> Ref:
        ref = Ref(self.builder.unique())
        self.heap[ref.id] = thing
        return ref


_BOOLEAN = Inferred(BOOL)
