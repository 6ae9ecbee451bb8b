"""Copies of values: `copy.copy`, `copy.deepcopy`, and those of arguments that are written.

Where one object may stand in two places of what is copied deeply, its copies would be two: what
isn't known when compiling is checked when the program runs, of classes that are written.
"""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .. import ir, runtime
from ..kinds import Array, ListOf, Opaque, Reference
from . import tables
from .builtin_functions import BuiltinFunctions
from .columns import holds_references, is_reference, named_in
from .predicates import NONE, SETTLED, TRUE, is_static
from .restarts import Thaw
from .structure import is_table, objects_in_key, reachable
from .values import (
    Bound,
    Choice,
    Instance,
    Journal,
    ListObject,
    Partial,
    Place,
    Ref,
    Tuple,
    Value,
)

HOLDS_OBJECTS = (
    "a copy of what holds objects of which only the run tells how many there are can't be followed"
)


class Copies(BuiltinFunctions):
    """Makes copies of values."""

    def builtin_copy(self, value: Value) -> Value:
        if is_reference(value):
            value = self.object_or_none(value)
        if isinstance(value, Choice):
            return self.for_each(value, self.builtin_copy)
        if self.may_be_none(value):
            return self.unless_none(value, self.builtin_copy)
        thing = self.thing(value)
        own = self.class_attribute(thing.type, "__copy__") if isinstance(thing, Instance) else None
        if own is not None:
            return self.call(Bound(own, value), [], {})
        return self.copied(value, lambda item: item)

    def builtin_deepcopy(self, value: Value, memo: Value = NONE) -> Value:
        copies: dict[ir.Var, ir.Var] = {}
        self.check_not_twice(value)
        self.check_once(value)
        result = self.deep_copy(value, copies)
        held = tuple(v for v in copies if not holds_references(v.kind))
        if len(held) > 1 or any(isinstance(v.kind, ListOf) for v in held):
            self.act(runtime.check_listed_once, ir.Pack(tuple, held))
            self.deep_copies.append((self.block.statements[-1], tuple(copies.values())))
        return result

    def check_not_twice(self, value: Value) -> None:
        """Refuse a deep copy of an object that may be another one in it, whose copy it shares."""
        held = [self.state.heap[n] for n in sorted(reachable(self.state.heap, [value]))]
        lists = [t for t in held if isinstance(t, ListObject) and t.var in self.lists_of_records]
        for thing in held:
            others = [t for t in held if t is not thing and t.type is thing.type]
            if thing.frozen is not None and (others or lists):
                self.want_tables(thing)
                self.wants_table(thing)
                message = "which object is copied here isn't known when compiling"
                raise Thaw(thing.frozen, message, self.span, None)

    def check_once(self, value: Value) -> None:
        """Have it checked that no object of an argument is in two places of what is copied."""
        heap = self.state.heap
        found = {n: v for n in reachable(heap, [value]) if (v := self.whole_outside(Ref(n)))}
        parts = {n: reachable(heap, [Ref(n)]) - {n} for n in found}
        first = sorted(found.keys() - set[int]().union(*parts.values()))
        held = [heap[n] for n in sorted(set(first).union(*parts.values()))]
        listed = [t for t in held if isinstance(t, ListObject) and t.var is not None]
        types = [t.type for t in held if t not in listed]
        several = {t for t in types if types.count(t) > 1}
        for thing in listed:
            if thing.var in self.lists_of_records:
                several.update(named_in(thing.var.kind))
        if several:
            tops = ir.Pack(tuple, tuple(found[n] for n in first))
            self.act(runtime.check_once, tops, ir.Pack(tuple, ()))
            check = self.block.statements[-1]
            assert isinstance(check, ir.Assign)
            self.checked_once[check] = several

    def whole_outside(self, ref: Ref) -> ir.Operand | None:
        """What holds a part of an argument, or a list of objects that is found outside.

        Of other things that are found outside it is known which are one.
        """
        thing = self.state.heap[ref.id]
        if isinstance(thing, ListObject) and thing.var in self.lists_of_records:
            return self.lists_of_records[thing.var].args[0]
        return self.holders.get(ref.id)

    def deep_copy(self, value: Value, copies: dict[ir.Var, ir.Var]) -> Value:
        """A deep copy; notes of the arrays, and lists that exist at run time, what they become."""
        known: dict[int, Ref | ir.Var] = {}
        making: set[int] = set()  # objects whose copies are put in tables
        elsewhere: set[Any] = set()  # what was copied on the branches for a choice's options

        def deep_option(option: Value) -> Value:
            objects, arrays = set(known), set(copies)
            made = deep(option)
            new: tuple[set[Any], set[Any]] = known.keys() - objects, copies.keys() - arrays
            for number in new[0]:
                del known[number]
            for array in new[1]:
                del copies[array]
            elsewhere.update(*new)
            return made

        def chosen(choose: Any, item: Value) -> Value:
            """The copy of one of several; where paths meet, the copies made before are known."""
            name, frame = f"%copies{self.unique()}", self.current
            self.state.frames[frame][name] = Tuple(tuple(known.values()))
            made: Value = choose(item, deep_option)
            self.state.frames[frame].pop(name, None)
            return made

        def deep(item: Value) -> Value:
            if is_reference(item) and item is not value:
                raise self.refuse(HOLDS_OBJECTS, "make new objects of their class")
            if isinstance(item, Choice):
                return chosen(self.for_each, item)
            if self.may_be_none(item):
                return chosen(self.unless_none, item)
            if (item.id if isinstance(item, Ref) else item) in elsewhere:
                raise self.refuse("which copy of an object this is isn't known when compiling")
            if isinstance(item, Ref) and item.id in known:
                return known[item.id]
            if isinstance(item, ir.Var) and isinstance(item.kind, Array):
                if item not in copies:
                    copies[item] = self.copied(item, deep)  # type: ignore[assignment]
                return copies[item]
            thing = self.on_heap(item)
            copied = self.thing(item)
            if isinstance(copied, Instance):
                self.check_copied(copied, "__deepcopy__")
            if isinstance(item, Ref) and isinstance(thing, Instance) and not is_table(thing):
                if item.id in making:
                    raise self.refuse("a copy of an object that holds itself can't be followed")
                if self.table_of(thing.type) is None:
                    known[item.id] = self.new(Instance(thing.type, {}))  # it may hold itself
                else:
                    making.add(item.id)
            if isinstance(thing, ListObject) and thing.var is not None:
                self.check_distinct(thing.var, item is value)
                made = self.copied(item, lambda part: self.deep_copy(part, {}))
                if (var := getattr(self.on_heap(made), "var", None)) is not None:
                    copies[thing.var] = var
            else:
                made = self.copied(item, deep)
            if isinstance(item, Ref) and isinstance(made, (Ref, ir.Var)):
                ref = known.setdefault(item.id, made)
                if isinstance(ref, Ref) and isinstance(made, Ref):
                    self.state.heap[ref.id] = self.state.heap[made.id]
                return ref
            return made

        return deep(value)

    def check_distinct(self, items: ir.Var, alone: bool) -> None:
        """Have it checked of a list of objects that none is in two places of what is copied.

        `alone`: nothing is copied beside it.
        """
        assert isinstance(items.kind, ListOf)
        if holds_references(items.kind):
            if not isinstance(items.kind.item, Reference) or not alone:
                raise self.refuse(HOLDS_OBJECTS, "make new objects of their class")
            self.act(runtime.check_different, items)
        if getattr(items.kind.item, "outside", None) is None:
            return
        if items not in self.lists_of_records:
            raise self.refuse("copies of objects from outside are made of the whole list")

    def copied(self, value: Value, inner: Any) -> Value:
        """A copy of a value, what it holds as `inner` makes it."""
        if isinstance(value, Tuple):
            return Tuple(tuple(map(inner, value.items)), value.type)
        if isinstance(value, Bound):
            return Bound(value.function, inner(value.receiver))
        if isinstance(value, Partial):
            named = {k: inner(v) for k, v in value.kwargs.items()}
            return Partial(inner(value.function), tuple(map(inner, value.args)), named)
        if isinstance(value, Journal):
            self.want_journal(value)
            raise self.refuse("a copy of a container outside that is written can't be followed")
        if isinstance(value, Place) and not isinstance(value.value, SETTLED):
            return self.copied_outer(value, inner)
        if isinstance(value, ir.Var):
            if isinstance(value.kind, Reference):
                return self.copied_object(self.row(value), inner)  # type: ignore[arg-type]
            if isinstance(value.kind, Array):
                test: Value = TRUE
                if value.kind.shape is None:  # a number is its own copy
                    test = self.class_test(value, np.ndarray)
                return self.either(
                    test, lambda: self.call_object(np.copy, [value], {}), lambda: value
                )
            if isinstance(value.kind, Opaque) and value.kind.type is not str:
                raise self.refuse("a copy of this object can't be followed")
            return value
        if not isinstance(value, Ref):
            return value
        thing = self.state.heap[value.id]
        if value.id in self.bounded:
            held = self.new(ListObject(tuple(map(inner, thing.items))))
            return self.construct(tables.Window, [held, ir.Const(self.bounded[value.id])], {})
        if isinstance(thing, ListObject):
            if thing.var is None:
                return self.new(ListObject(tuple(map(inner, thing.items)), type=thing.type))
            assert isinstance(thing.var.kind, ListOf)
            sequence = self.require(value)
            return self.listed(sequence.length, lambda i: inner(sequence.item(i)), thing.type)
        if isinstance(thing, Instance) and is_table(thing):
            made = self.call(self.attribute(value, "copy"), [], {})
            new = self.thing(made)
            if "entries" in new.items:
                items = {**new.items, "entries": inner(new.items["entries"])}
                self.state.heap[made.id] = replace(new, items=items)  # type: ignore[union-attr]
            return made
        if isinstance(thing, Instance):
            return self.copied_object(thing, inner)
        items = {with_copies(k, inner): inner(v) for k, v in thing.items.items()}
        return self.new(replace(thing, items=items, external=None, frozen=None))

    def copied_object(self, thing: Instance, inner: Any) -> Value:
        self.check_copied(thing, "__reduce__", "__getstate__")
        table, block, start = self.table_of(thing.type), self.block, len(self.block.statements)
        if table is None:
            items = {name: inner(value) for name, value in thing.items.items()}
            return self.new(replace(thing, items=items, external=None, frozen=None))
        made = self.new_object(thing.type, table)
        held = getattr(thing.items, "held", thing.items.get)  # of a row, also what it lacks
        for name in list(thing.items):
            self.write(made, name, inner(held(name)))
        self.appended(block, start)
        return made

    def check_copied(self, thing: Instance, *methods: str) -> None:
        """Refuse a copy of an object whose class has a method of its own for that."""
        for name in methods:
            if self.class_attribute(thing.type, name) is not None:
                raise self.refuse(f"a copy of an object with {name} isn't supported")

    def copied_outer(self, value: Place, inner: Any) -> Value:
        """A copy of an object outside, which is followed from the beginning then."""
        thing = value.value
        if isinstance(thing, types.MethodType):
            return Bound(Place(thing.__func__), inner(self.receiver(thing.__self__)))
        taken = self.brought_in(value)
        if taken is not value:
            self.check_copied(self.thing(taken), "__copy__", "__deepcopy__")
            return self.copied(taken, inner)
        if is_static(type(thing).__module__) and copy.copy(thing) is thing:
            return value
        raise self.refuse("a copy of this object can't be followed")


def with_copies(key: Any, copied: Callable[[Ref], Any]) -> Any:
    """The key of a dict in which copies take the places of objects."""
    if not objects_in_key(key):
        return key
    return copied(key) if isinstance(key, Ref) else tuple(with_copies(k, copied) for k in key)
