"""Makes lists of several kinds (`boxes.py`), and the boxes that are in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from .. import ir
from ..kinds import Opaque, Places, Reference
from .boxes import Box, Mixed
from .linking import LinkedItems
from .predicates import NUMBERS, is_none, leaf_kind
from .structure import is_nothing
from .values import Choice, DictObject, Instance, ListObject, Ref, Tuple, Value

SITE = "%mixed"  # of known sites: a list that is made here may have items of several kinds
MOST_KINDS = 8  # of items, that all such lists have together
MOST_TUPLES = 4  # of them, which may get longer for ever
MOST_NESTED = 2  # of these, that differ only in tuples that they hold


def outline(family: Any) -> Any:
    """What the items of a family have in common that only differ in the tuples that they hold."""
    if not isinstance(family, tuple):
        return family
    return tuple(type(part) if isinstance(part, tuple) else part for part in family)


class MixedLists(LinkedItems):
    """What `boxed` and `equal` stand for, and when a list is one of several kinds."""

    def site_of_kinds(self, refs: list[Ref]) -> frozenset[Any]:
        """What must be known for lists to have items of several kinds."""
        sites = (self.sites.get(ref.id) for ref in refs)
        return frozenset((SITE, site) for site in sites if site and site > 0)

    def has_kinds(self, thing: ListObject) -> bool:
        """Whether a list that is made here may have items of several kinds."""
        known = (SITE, self.site) in self.known_sites and not self.fixed_span
        lookup = thing.var is not None and isinstance(thing.var.kind, Places)  # of a dict
        return known and not lookup and thing.type is list and not thing.external

    def mixed(self, ref: Ref) -> Ref:
        """A new list as one that may have items of several kinds."""
        thing = self.state.heap[ref.id]
        assert isinstance(thing, ListObject)
        before, self.site = self.site, -self.site  # of the list of boxes
        if thing.var is not None:
            made = self.construct(Mixed, [self.place(self.state, thing)], {})
            assert isinstance(made, Ref)
            self.state.heap[ref.id] = self.state.heap[made.id]
        else:
            boxes = self.new(ListObject(tuple(map(self.boxed, thing.items))))
            self.state.heap[ref.id] = Instance(Mixed, {"boxes": boxes})
        self.site = before
        return ref

    def boxed(self, value: Value) -> Value:
        """A new box with this content: one of several, if only the run tells of which kind."""
        thing = self.on_heap(value)
        if isinstance(thing, DictObject) and isinstance(value, Ref):
            error = self.unkeepable(value)
            error.slots = self.site_of_slots(value, thing)
            raise error
        if (choice := self.in_options(value)) is not None:
            return self.for_each(choice, self.boxed)
        return self.construct(self.box(value), [value], {})

    def content(self, box: Value) -> Value:
        return self.call(self.attribute(box, "content"), [], {})

    def equal(self, a: Value, b: Value) -> Value:
        return self.as_written(lambda: self.truth(self.compare(gast.Eq(), a, b)))

    def sorted_by(self, key: Value, item: Value) -> Value:
        return self.as_written(lambda: self.call(key, [item], {}))

    def as_written(self, run: Callable[[], Value]) -> Value:
        """What is done with items, which are the program's, not a rule's."""
        before, self.fixed_span = self.fixed_span, False
        try:
            return run()
        finally:
            self.fixed_span = before

    def in_options(self, value: Value) -> Choice | None:
        """A value as a choice, if its kind, or that of a part of it, is known only to the run."""
        if isinstance(value, Choice):
            return value
        if not is_none(value) and self.may_be_none(value):
            return self.or_none(value)
        if not isinstance(value, Tuple):
            return None
        for i, part in enumerate(value.items):
            if (choice := self.in_options(part)) is not None:
                before, after = value.items[:i], value.items[i + 1 :]
                made = (Tuple((*before, o, *after), value.type) for o in choice.options)
                return Choice(choice.index, tuple(made))
        return None

    def box(self, value: Value) -> type:
        """The class of the box for a value."""
        boxes: dict[Any, type] = self.objects.boxes
        family = self.family(value)
        if family not in boxes:
            tuples = sum(isinstance(other, tuple) for other in (*boxes, family))
            nested = sum(outline(other) == outline(family) for other in boxes)
            if len(boxes) == MOST_KINDS or tuples > MOST_TUPLES or nested == MOST_NESTED:
                raise self.unkeepable(value)
            name = "tuple" if isinstance(family, tuple) else "other"
            name = family if isinstance(family, str) else name
            same = sum(cls.__name__ == name for cls in boxes.values())
            field = f"{name}_{same}" if same else name
            members = {"field": field, "__module__": "builtins"}
            boxes[family] = type(name, (Box,), members)
        return boxes[family]

    def family(self, value: Value) -> Any:
        """What values have in common that can be in one column."""
        if is_none(value) or is_nothing(value):
            return "none"
        if isinstance(value, Tuple):
            return (value.type, *map(self.family, value.items))
        if isinstance(value, Ref):
            thing = self.state.heap[value.id]
            return "list" if isinstance(thing, ListObject) else "object"
        if isinstance(value, ir.Const) and callable(value.value):
            return value.value
        if isinstance(value, (ir.Var, ir.Const)):
            kind = leaf_kind(value)
            if isinstance(kind, Reference):
                return "object"
            if isinstance(kind, Opaque):
                return "text" if kind.type is str else kind.type
            is_number = isinstance(value, ir.Var) or isinstance(value.value, (*NUMBERS, np.generic))
            return "number" if is_number else "object"
        raise self.unkeepable(value)
