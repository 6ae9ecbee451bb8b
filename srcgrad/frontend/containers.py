"""Lists, dicts and sets: their methods, on those known when compiling and those that aren't."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gast

from .. import ir
from ..analysis.inference import Inferred
from ..kinds import (
    ListOf,
    Opaque,
)
from .iteration import MOST_UNROLLED, Iteration
from .operations import list_append
from .structure import NONE, Poison, describe
from .values import (
    DictObject,
    Generator,
    ListObject,
    Ref,
    Sequence,
    Thaw,
    Tuple,
    Value,
)


class Containers(Iteration):
    """Evaluates the methods of containers."""

    def append(self, ref: Ref, value: Value) -> None:
        thing = self.state.heap[ref.id]
        assert isinstance(thing, ListObject)
        self.writable(thing)
        if thing.var is None:
            self.state.heap[ref.id] = ListObject((*thing.items, value))
            return
        assert isinstance(thing.var.kind, ListOf)
        thing.var.kind = ListOf(self.joined_item(thing.var.kind.item, value))
        self.emit(
            list_append,
            (thing.var, self.operand(value)),
            inferred=Inferred(Opaque(None)),
            writes=(thing.var,),
        )

    def writable(self, thing: Any) -> None:
        if thing.external:
            raise self.refuse(
                f"{thing.external!r} belongs to the caller, who would see it change",
                "make a copy of it first",
            )
        self.unfrozen(thing)

    def unfrozen(self, thing: Any) -> None:
        """Refuse to write an object that stands for one of several."""
        if thing.frozen is not None:
            raise Thaw(
                thing.frozen,
                "which object is changed here isn't known when compiling",
                self.span,
                "make a new object instead of changing it",
            )

    def extend(self, ref: Ref, part: Value) -> None:
        self.iterate(part, lambda item: self.append(ref, item))

    def listed(self, length: Value, item: Callable[[Value], Value]) -> Ref:
        ref = self.new(ListObject(()))
        bounds = (ir.Const(0), length, ir.Const(1))
        self.iterate(Sequence(length, item, False, bounds), lambda i: self.append(ref, item(i)))
        return ref

    def list_of(self, value: Value) -> tuple[Ref, ListObject]:
        assert isinstance(value, Ref)
        thing = self.state.heap[value.id]
        assert isinstance(thing, ListObject)
        return value, thing

    def method_append(self, items: Value, value: Value) -> Value:
        self.append(self.list_of(items)[0], value)
        return NONE

    def method_extend(self, items: Value, part: Value) -> Value:
        self.extend(self.list_of(items)[0], part)
        return NONE

    def method_pop(self, items: Value, position: Value | None = None) -> Value:
        if isinstance(items, Ref) and isinstance(self.state.heap[items.id], DictObject):
            return self.dict_pop(items, position)
        ref, thing = self.list_of(items)
        self.writable(thing)
        if thing.var is None and (position is None or isinstance(position, ir.Const)):
            values = list(thing.items)
            if not values:
                raise self.refuse("pop from an empty list")
            value = values.pop(position.value if isinstance(position, ir.Const) else -1)
            self.state.heap[ref.id] = ListObject(tuple(values))
            return value
        var = self.materialized(ref)
        inferred = self.item_inferred(var)
        operands: tuple[ir.Operand, ...] = (var,)
        if position is not None:
            operands = (var, self.operand(position))
        return self.project(
            self.emit(list.pop, operands, inferred=inferred, writes=(var,), name="item")
        )

    def method_popleft(self, items: Value) -> Value:
        return self.method_pop(items, ir.Const(0))

    def method_appendleft(self, items: Value, value: Value) -> Value:
        return self.method_insert(items, ir.Const(0), value)

    def method_remove(self, items: Value, value: Value) -> Value:
        if isinstance(items, Ref) and isinstance(self.state.heap[items.id], DictObject):
            return self.dict_remove(items, value, True)
        position = self.method_index(items, value)
        self.method_pop(items, position)
        return NONE

    def method_count(self, items: Value, value: Value) -> Value:
        count: Value = ir.Const(0)
        for item in self.unpacked(items):
            equal = self.compare(gast.Eq(), item, value)
            if isinstance(equal, ir.Const):
                equal = ir.Const(int(equal.value))
            count = self.binary(operator.add, count, equal)
        return count

    def method_sort(self, items: Value, **kwargs: Value) -> Value:
        ref, thing = self.list_of(items)
        self.writable(thing)
        result = self.builtin_sorted(items, **kwargs)
        assert isinstance(result, Ref)
        self.state.heap[ref.id] = self.state.heap[result.id]
        return NONE

    def dict_remove(self, value: Ref, item: Value, must: bool) -> Value:
        thing = self.dictionary(value)
        self.writable(thing)
        items, key = dict(thing.items), self.key(item)
        if key in items:
            self.settled_keys(thing)
            items.pop(key)
        elif must:
            raise self.refuse(f"{key!r} isn't in this set")
        self.state.heap[value.id] = DictObject(items, None, thing.is_set)
        return NONE

    def method_discard(self, value: Value, item: Value) -> Value:
        assert isinstance(value, Ref)
        return self.dict_remove(value, item, False)

    def settled_keys(self, thing: DictObject) -> None:
        """Refuse a dict of which it depends on the run what keys it has."""
        for item in thing.items.values():
            if isinstance(item, Poison):
                self.known("", item)

    def method_insert(self, items: Value, position: Value, value: Value) -> Value:
        ref, thing = self.list_of(items)
        self.writable(thing)
        if thing.var is None and isinstance(position, ir.Const):
            values = list(thing.items)
            values.insert(position.value, value)
            self.state.heap[ref.id] = ListObject(tuple(values))
            return NONE
        raise self.refuse("list.insert isn't supported on a list that is built in a loop")

    def method_reverse(self, items: Value) -> Value:
        ref, thing = self.list_of(items)
        self.writable(thing)
        if thing.var is not None:
            raise self.refuse("list.reverse isn't supported on a list that is built in a loop")
        self.state.heap[ref.id] = ListObject(thing.items[::-1])
        return NONE

    def method_copy(self, value: Value) -> Value:
        assert isinstance(value, Ref)
        thing = self.state.heap[value.id]
        if isinstance(thing, DictObject):
            return self.new(DictObject(dict(thing.items), None, thing.is_set))
        return self.builtin_list(value)

    def method_clear(self, value: Value) -> Value:
        assert isinstance(value, Ref)
        thing = self.state.heap[value.id]
        self.writable(thing)
        if isinstance(thing, ListObject):
            if thing.var is not None:
                raise self.refuse("list.clear isn't supported on a list that is built in a loop")
            self.state.heap[value.id] = ListObject(())
        else:
            self.state.heap[value.id] = DictObject({})
        return NONE

    def method_index(self, items: Value, value: Value) -> Value:
        for i, item in enumerate(self.unpacked(items)):
            equal = self.compare(gast.Eq(), item, value)
            if isinstance(equal, ir.Const) and equal.value:
                return ir.Const(i)
        raise self.refuse("the position of this value isn't known when compiling")

    def dict_pop(self, value: Value, key: Value | None) -> Value:
        assert isinstance(value, Ref) and key is not None
        thing = self.dictionary(value)
        self.writable(thing)
        items = dict(thing.items)
        item: Value = items.pop(self.key(key))
        self.state.heap[value.id] = DictObject(items, None, thing.is_set)
        return item

    def method_items(self, value: Value) -> Value:
        self.settled_keys(self.dictionary(value))
        pairs = self.dictionary(value).items.items()
        return Tuple(tuple(Tuple((self.lift(k, None), v)) for k, v in pairs))

    def method_keys(self, value: Value) -> Value:
        self.settled_keys(self.dictionary(value))
        return Tuple(tuple(self.lift(k, None) for k in self.dictionary(value).items))

    def method_values(self, value: Value) -> Value:
        self.settled_keys(self.dictionary(value))
        return Tuple(tuple(self.dictionary(value).items.values()))

    def method_get(self, value: Value, key: Value, default: Value = NONE) -> Value:
        if isinstance(value, ir.Const):
            if not isinstance(value.value, dict):
                raise self.refuse(f"a {describe(value)} has no get")
            return self.lift(value.value.get(self.key(key)), None)
        found = self.dictionary(value).items.get(self.key(key), default)
        return self.known(f"[{self.key(key)!r}]", found)

    def method_setdefault(self, value: Value, key: Value, default: Value = NONE) -> Value:
        thing = self.dictionary(value)
        if self.key(key) not in thing.items:
            self.store_item(value, key, default)
        return self.dictionary(value).items[self.key(key)]

    def method_update(self, value: Value, other: Value | None = None, **named: Value) -> Value:
        items = dict(named)
        if other is not None:
            items = {**self.builtin_dict_items(other), **named}
        for k, v in items.items():
            self.store_item(value, ir.Const(k), v)
        return NONE

    def method_add(self, value: Value, item: Value) -> Value:
        thing = self.dictionary(value)
        self.writable(thing)
        assert isinstance(value, Ref)
        self.state.heap[value.id] = DictObject({**thing.items, self.key(item): item}, None, True)
        return NONE

    def namedtuple_replace(self, value: Value, /, **changes: Value) -> Value:
        assert isinstance(value, Tuple)
        fields = list(getattr(value.type, "_fields", ()))
        unknown = [name for name in changes if name not in fields]
        if unknown:
            raise self.refuse(f"{value.type.__name__} has no field {unknown[0]!r}")
        pairs = zip(fields, value.items, strict=True)
        return Tuple(tuple(changes.get(name, item) for name, item in pairs), value.type)

    def namedtuple_asdict(self, value: Value, /) -> Value:
        assert isinstance(value, Tuple)
        fields = getattr(value.type, "_fields", ())
        return self.new(DictObject(dict(zip(fields, value.items, strict=True))))

    def builtin_fromkeys(self, keys: Value, value: Value = NONE) -> Value:
        return self.new(DictObject({self.key(k): value for k in self.unpacked(keys)}))

    def builtin_list(self, value: Value | None = None) -> Value:
        if value is None:
            return self.new(ListObject(()))
        if isinstance(value, Generator):
            ref = self.new(ListObject(()))
            self.iterate(value, lambda item: self.append(ref, item))
            return ref
        sequence = self.require(value)
        if isinstance(sequence.length, ir.Const) and sequence.length.value <= MOST_UNROLLED:
            items = [sequence.item(ir.Const(i)) for i in range(sequence.length.value)]
            return self.new(ListObject(tuple(items)))
        ref = self.new(ListObject(()))
        self.iterate(value, lambda item: self.append(ref, item))
        return ref

    def list_of_items(self, value: Value) -> Value:
        return self.builtin_list(value)

    def builtin_tuple(self, value: Value | None = None) -> Value:
        if value is None:
            return Tuple(())
        if isinstance(value, Generator):
            value = self.builtin_list(value)
        return Tuple(tuple(self.unpacked(value)))

    def builtin_dict_items(self, value: Value) -> dict[Any, Value]:
        if isinstance(value, Ref) and isinstance(self.state.heap[value.id], DictObject):
            return dict(self.dictionary(value).items)
        pairs = [self.unpacked(item) for item in self.unpacked(value)]
        return {self.key(k): v for k, v in pairs}

    def builtin_dict(self, value: Value | None = None, **named: Value) -> Value:
        items = {} if value is None else self.builtin_dict_items(value)
        return self.new(DictObject({**items, **named}))

    def builtin_set(self, value: Value | None = None) -> Value:
        items = [] if value is None else self.unpacked(value)
        return self.new(DictObject({self.key(i): i for i in items}, None, True))
