"""Tuples of which only the run knows how many items they have.

A tuple that the program writes down is known item by item (`values.Tuple`). One that is made of
what a loop collects (`tuple(path)`, `path += (node,)`) stands on the abstract heap as a list does
that exists at run time, of the class `tuple`: what reads lists reads it, nothing changes it, and
which object it is isn't asked. Since a tuple never changes, one that is known item by item becomes
one of these wherever both may meet: where a loop begins, or at the end of a branch.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .. import ir
from ..analysis.inference import Inferred
from ..errors import UnsupportedError
from ..kinds import SHAPE, ListOf, Scalar
from .comprehensions import Comprehensions
from .predicates import leaf_kind
from .restarts import NeedStatic
from .structure import is_long, may_get_long, parts
from .values import Choice, ListObject, Sequence, State, Tuple, Value


class LongTuples(Comprehensions):
    """Makes such tuples."""

    def long_tuple(self, value: Value) -> Value:
        """The items that a tuple or list has here, as a tuple of any length.

        Raises:
            UnsupportedError: the items aren't of one kind.
        """
        if isinstance(value, Choice):
            return self.for_each(value, self.long_tuple)
        thing = self.on_heap(value)
        if is_long(thing):
            return value
        var = thing.var if isinstance(thing, ListObject) else None
        if var is None:
            known = value if isinstance(value, Tuple) else thing
            if not isinstance(known, (Tuple, ListObject)):  # one of boxes
                raise self.refuse(
                    "a tuple of items of several kinds can't be as long as only the run tells",
                    "keep them in a list",
                )
            items = known.items
            made = self.built_list(items, tuple)
            for item in items:
                self.hold(made, (), item)
            return self.project(made)
        assert isinstance(var.kind, ListOf)
        inferred = Inferred(replace(var.kind, type=tuple), (var,))
        made = self.emit(tuple, (var,), inferred=inferred, name="items")
        self.link(var, None, made, sliced=True)
        return self.project(made)

    def items_or_list(self, value: Value, what: str) -> list[Value] | Value:
        """The items of something that is gone through; a list, if only the run knows how many."""
        site, used = (what, self.site), self.state.used
        try:
            return self.unpacked(value)
        except NeedStatic as need:  # which asks for loops to be unrolled, if they can be
            if site not in self.known_sites:
                need.origins |= {site}
                raise
        except UnsupportedError:
            made = isinstance(value, Sequence) or self.has_any_length(value)
            if not made or isinstance(value, Choice):
                raise
        self.state.used = used
        return value if isinstance(self.on_heap(value), ListObject) else self.builtin_list(value)

    def lengthened(self, state: State, block: ir.Block, value: Any) -> Any:
        """A tuple as one of any length, made at the end of a block."""
        outer, before = self.block, self.state
        self.block, self.state = block, state
        try:
            return self.long_tuple(value)
        finally:
            self.block, self.state = outer, before

    def as_item(self, kind: Any, value: Value) -> Value:
        """What is put in a list whose items are of a kind: tuples of any length, if they are."""
        if isinstance(value, Tuple) and may_get_long(value):
            if isinstance(kind, ListOf) and kind.type is tuple:
                return self.long_tuple(value)
            if isinstance(kind, tuple) and len(kind) == len(value.items):
                items = tuple(map(self.as_item, kind, value.items))
                same = all(a is b for a, b in zip(items, value.items, strict=True))
                return value if same else Tuple(items)
        return value

    def joined_tuples(self, a: Value, b: Value) -> Value | None:
        """`a + b` where one is a tuple of any length, not of ints alone; None if neither is."""
        long = shapes = 0
        for value in (a, b):
            if isinstance(value, ir.Var) and value.kind == SHAPE:
                shapes += 1
            elif self.sequence_type(value) is not tuple:
                return None
            elif is_long(self.on_heap(value)) or not all(map(is_index, parts(value))):
                long += 1
        if not long or (not shapes and isinstance(a, Tuple) and isinstance(b, Tuple)):
            return None
        joined = self.new(ListObject(()))
        for part in (a, b):
            self.extend(joined, part)
        return self.long_tuple(joined)

    def is_list_of_ints(self, value: Value) -> bool:
        """Whether a value is a list of ints that exists at run time."""
        thing = self.on_heap(value)
        kind = thing.var.kind if isinstance(thing, ListObject) and thing.var is not None else None
        item = kind.item if isinstance(kind, ListOf) else None
        return isinstance(item, Scalar) and item.dtype.kind == "i"

    def shape_of_items(self, value: Value) -> Value:
        """The ints of a list that exists at run time, as a tuple."""
        shape = (self.operand(value),)
        return self.emit(tuple, shape, inferred=Inferred(SHAPE), name="shape")

    def as_shape(self, value: Value) -> Value:
        """A tuple of any length that is an index or a shape: of ints."""
        thing = self.on_heap(value)
        if not is_long(thing):
            return value
        if not self.is_list_of_ints(value):
            raise self.refuse("a tuple that only the run knows can't be an index")
        return self.shape_of_items(value)


def is_index(item: Value) -> bool:
    """Whether an item of a tuple is an int, or nothing that has a derivative (`None`, `...`)."""
    if not isinstance(item, (ir.Var, ir.Const)):
        return False
    kind = leaf_kind(item)
    return kind.dtype.kind in "iub" if isinstance(kind, Scalar) else isinstance(item, ir.Const)
