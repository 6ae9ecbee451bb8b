"""Sets whose members are known when compiling, and in which order Python goes through them."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

import gast

from .. import ir
from ..analysis.inference import Inferred
from ..kinds import Places
from . import tables
from .containers import Containers
from .predicates import NONE
from .set_orders import PURE, Order, constant_set
from .structure import Poison
from .values import DictObject, Instance, ListObject, Ref, Value

SET_OPERATORS: dict[Any, Any] = {
    operator.or_: set.union,
    operator.and_: set.intersection,
    operator.sub: set.difference,
    operator.xor: set.symmetric_difference,
}
IN_PLACE: dict[Any, str] = {
    operator.or_: "update",
    operator.and_: "intersection_update",
    operator.sub: "difference_update",
    operator.xor: "symmetric_difference_update",
}


class Sets(Containers):
    """Evaluates what is done to sets."""

    def expression_Set(self, node: Any) -> Value:
        return self.set_display(node, False)

    def iterable(self, node: Any) -> Value:
        """What a loop goes through."""
        return self.set_display(node, True) if isinstance(node, gast.Set) else self.expression(node)

    def set_display(self, node: Any, iterated: bool) -> Value:
        """The set that `{a, b, c}` is: of constants Python has made a constant (in 3.11 to 3.13,
        of more than two, or where a loop goes through them), which a set is made of, or it is gone
        through itself."""
        ref = self.new_set({})
        starred = [isinstance(element, gast.Starred) for element in node.elts]
        items = [
            self.expression(element.value if star else element)
            for element, star in zip(node.elts, starred, strict=True)
        ]
        known = [item.value for item in items if isinstance(item, ir.Const)]
        if len(known) == len(items) and not any(starred) and (iterated or len(items) > 2):
            constant = constant_set(self.inlined.values(), tuple(known))
            if constant is not None:
                members = dict(zip(known, items, strict=True))
                gone_through = Order.of(constant)
                return self.new_set(
                    members, gone_through if iterated else Order(set.update, gone_through)
                )
        for item, star in zip(items, starred, strict=True):
            self.call(self.attribute(ref, "update" if star else "add"), [item], {})
        return ref

    def new_set(self, items: dict[Any, Value], order: Any = None) -> Ref:
        return self.new(DictObject(items, None, True, type=set, order=order or Order()))

    def change_set(
        self, value: Value, change: Any, given: tuple[Any, ...], items: dict[Any, Value]
    ) -> None:
        """Give a set other items, by a method of sets, and what that is given."""
        self.changed(value, items)
        assert isinstance(value, Ref)
        thing = self.dictionary(value)
        self.state.heap[value.id] = replace(thing, order=self.order_after(thing, change, given))

    def order_after(self, thing: DictObject, change: Any, given: tuple[Any, ...]) -> Any:
        unknown = [o for o in (thing.order, *given) if isinstance(o, Poison)]
        return unknown[0] if unknown else thing.order.then(change, *given)

    def given_to_set(self, value: Value) -> Any:
        """What a method of sets is given: sets and dicts it goes through in a way of their own."""
        thing = self.on_heap(value)
        if isinstance(thing, DictObject):
            if thing.is_set:
                return thing.order
            self.settled_keys(thing)
            return dict.fromkeys(thing.items) if thing.type is dict else tuple(thing.items)
        if isinstance(value, ir.Const) and isinstance(value.value, (set, frozenset, dict)):
            return value.value
        return tuple(self.hashed(i) for i in self.unpacked(value))

    def made_like(self, order: Order) -> Ref:
        """The lookup of a set that exists at run time, made so that Python goes through it in an
        order."""
        keys, steps = order.as_added(), order.steps()
        where: Any = self.lookup_made_set()
        self.lookup_of(where).name = "members"
        if keys is not None:
            for key in keys:
                self.lookup_join(where, self.lift(key, None))
            return where  # type: ignore[no-any-return]
        for step in steps if steps is not None else (order,):
            given = step.given[0] if len(step.given) == 1 else None
            if step.change is set.clear:
                self.lookup_empty(where)
            elif step.change is set.add:
                self.lookup_join(where, self.lift(given, None))
            elif step.change is set.discard:  # the places that it leaves count
                self.lookup_part(where, self.lift(given, None))
            elif step.change is set.pop:
                self.lookup_taken(where)
            elif step.change is set.update and type(given) is tuple:
                for key in given:
                    self.lookup_join(where, self.lift(key, None))
            elif isinstance(given, Order) and steps is not None:
                function, other = ir.Const(step.change), self.set_like(given)
                if step.change in PURE:
                    where = self.lookup_combine(function, where, other)
                else:
                    self.lookup_change(function, where, other)
            else:
                raise self.refuse(
                    "in which order Python goes through this set isn't known where only the run "
                    "tells its members", "make it of a sorted list: set(sorted(...))",
                )  # fmt: skip
        return where  # type: ignore[no-any-return]

    def set_like(self, order: Order) -> Ref:
        return self.new_set({key: self.lift(key, None) for key in order.keys()}, order)  # noqa: SIM118

    # Construction

    def builtin_set(self, value: Value | None = None) -> Value:
        ref = self.new_set({})
        thing = self.on_heap(value)
        if isinstance(thing, DictObject) or isinstance(value, ir.Const):
            self.set_update(ref, value)  # type: ignore[arg-type]
        elif isinstance(thing, Instance) and thing.type is tables.Table:
            where = thing.items["where"]
            kind = self.kind_of_keys(where)
            members = self.emit(
                set, (self.lookup_of(where),), inferred=Inferred(Places(kind.item, kind.holes))
            )
            members.name = "members"
            kept: dict[Any, Value] = {"where": self.new(ListObject((), members))}
            return self.new(Instance(tables.Members, kept))
        elif value is not None and is_set_table(thing):
            return self.call(self.attribute(value, "copy"), [], {})
        elif value is not None:
            self.iterate(
                value, lambda i: self.discarded(self.call(self.attribute(ref, "add"), [i], {}))
            )
        return ref

    def builtin_frozenset(self, value: Value | None = None) -> Value:
        thing = self.on_heap(value)
        if isinstance(thing, DictObject) and thing.type is frozenset:
            assert value is not None
            return value
        if is_set_table(thing):
            return self.builtin_set(value)
        items = {} if value is None else self.builtin_set_items(value)
        given = () if value is None else (self.given_to_set(value),)
        order = self.order_after(DictObject({}, order=Order()), set.update, given)
        return self.new(DictObject(items, None, True, type=frozenset, order=order))

    # Methods of sets

    def set_copy(self, value: Value) -> Value:
        if self.dictionary(value).type is frozenset:
            return value
        return self.builtin_set(value)

    def set_clear(self, value: Value) -> Value:
        self.change_set(value, set.clear, (), {})
        return NONE

    def set_add(self, value: Value, item: Value) -> Value:
        items, key = self.dictionary(value).items, self.hashed(item)
        if key not in items or isinstance(items[key], Poison):
            self.change_set(value, set.add, (key,), {**items, key: item})
        return NONE

    def set_remove(self, value: Value, item: Value) -> Value:
        items, key = dict(self.dictionary(value).items), self.hashed(item)
        if key not in items:
            raise self.missing(key, f"{key!r} isn't in this set")
        return self.set_discard(value, item)

    def set_discard(self, value: Value, item: Value) -> Value:
        items, key = dict(self.dictionary(value).items), self.hashed(item)
        if key in items:
            self.settled_keys(self.dictionary(value))
            items.pop(key)
            self.change_set(value, set.discard, (key,), items)
        return NONE

    def set_pop(self, value: Value) -> Value:
        thing = self.dictionary(value)
        self.settled_keys(thing)
        items = dict(thing.items)
        if not items:
            raise self.fault(KeyError, "pop from an empty set", given=("pop from an empty set",))
        (key,) = items.keys() - set(thing.order.then(set.pop).keys())
        item: Value = items.pop(key)
        self.change_set(value, set.pop, (), items)
        return item

    def combined(
        self, function: Any, value: Value, others: tuple[Value, ...]
    ) -> tuple[tuple[Any, ...], dict[Any, Value]]:
        """What a method of sets is given beside the first one, and the items after it."""
        things = [self.builtin_set_items(v) for v in (value, *others)]
        known = {k: v for items in reversed(things) for k, v in items.items()}
        first = set(things[0])
        result = function(first, *map(set, things[1:]))
        keys = first if result is None else result
        return tuple(map(self.given_to_set, others)), {k: known[k] for k in known if k in keys}

    def set_of(self, function: Any, value: Value, others: tuple[Value, ...]) -> Ref:
        """The set that a method of sets returns."""
        given, items = self.combined(function, value, others)
        return self.new_set(items, self.order_after(self.dictionary(value), function, given))

    def set_changed(self, function: Any, value: Value, others: tuple[Value, ...]) -> Value:
        self.change_set(value, function, *self.combined(function, value, others))
        return NONE

    def builtin_set_items(self, value: Value) -> dict[Any, Value]:
        thing = self.on_heap(value)
        if isinstance(thing, DictObject):
            self.settled_keys(thing)
            return {k: v if thing.is_set else self.lift(k, None) for k, v in thing.items.items()}
        return {self.hashed(i): i for i in self.unpacked(value)}

    def set_union(self, value: Value, *others: Value) -> Value:
        return self.set_of(set.union, value, others)

    def set_intersection(self, value: Value, *others: Value) -> Value:
        return self.set_of(set.intersection, value, others)

    def set_difference(self, value: Value, *others: Value) -> Value:
        return self.set_of(set.difference, value, others)

    def set_symmetric_difference(self, value: Value, other: Value) -> Value:
        return self.set_of(set.symmetric_difference, value, (other,))

    def set_update(self, value: Value, *others: Value) -> Value:
        return self.set_changed(set.update, value, others)

    def set_intersection_update(self, value: Value, *others: Value) -> Value:
        return self.set_changed(set.intersection_update, value, others)

    def set_difference_update(self, value: Value, *others: Value) -> Value:
        return self.set_changed(set.difference_update, value, others)

    def set_symmetric_difference_update(self, value: Value, other: Value) -> Value:
        return self.set_changed(set.symmetric_difference_update, value, (other,))

    def set_issubset(self, value: Value, other: Value) -> Value:
        return ir.Const(set(self.builtin_set_items(value)) <= set(self.builtin_set_items(other)))

    def set_issuperset(self, value: Value, other: Value) -> Value:
        return self.set_issubset(other, value)

    def set_isdisjoint(self, value: Value, other: Value) -> Value:
        sets = self.builtin_set_items(value), self.builtin_set_items(other)
        return ir.Const(set(sets[0]).isdisjoint(sets[1]))


def is_set_table(thing: Any) -> bool:
    """Whether this is a set that exists at run time."""
    return isinstance(thing, Instance) and thing.type is tables.Members
