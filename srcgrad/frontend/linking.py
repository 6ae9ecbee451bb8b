"""Makes tuples and lists with an attribute for each of their items (`links.py`), and says when."""

from __future__ import annotations

from typing import Any

from .. import ir
from ..kinds import Reference
from .links import OWN, Linked, linked
from .slots import told_class
from .slotted import SlottedDicts
from .subclasses import is_named_tuple
from .values import Choice, Instance, ListObject, Tuple, Value

LINKED = "%linked"  # of known sites: what is made here has an attribute for each item


class LinkedItems(SlottedDicts):
    """Makes such tuples and lists."""

    def linked(self, value: Value) -> Value:
        """A tuple or list that was made here as one that has attributes, if it is to be."""
        thing: Any = value if isinstance(value, Tuple) else self.on_heap(value)
        if not _has_items(thing) or self.in_place():
            return value
        if len({self.is_link(item) for item in thing.items}) != 2:  # a value, and other such
            return value
        site = (LINKED, self.site)
        if site not in self.known_sites:
            many = self.loop_depth or self.making or self.fork_depth
            (self.objects.sites if many else self.objects.alone).add(site)
            return value
        return self.call(ir.Const(linked(thing.type, len(thing.items))), list(thing.items), {})

    def unlinked(self, value: Value) -> Value:
        """A tuple that is an object as one that is known item by item; other values as given."""
        thing = self.on_heap(value)
        if isinstance(thing, ListObject) and thing.type is tuple and thing.var is None:
            return Tuple(thing.items)
        classes = self.classes_of(value) if self.is_link(value) else None
        if not classes or not all(issubclass(told_class(c), tuple) for c in classes):
            return value
        if self.may_be_none(value):
            return self.object_or_none(value)
        return Tuple(tuple(self.unpacked(value)))

    def is_link(self, value: Value, depth: int = 4) -> bool:
        """Whether a value is None, may be, or is a tuple or list that holds such."""
        if isinstance(value, Choice):
            return any(self.is_link(option, depth) for option in value.options)
        thing: Any = value if isinstance(value, Tuple) else self.on_heap(value)
        if _has_items(thing):
            inside = depth and any(self.is_link(item, depth - 1) for item in thing.items)
            return bool(inside) or self.may_be_none(value)
        if isinstance(thing, Instance):
            return issubclass(thing.type, Linked)
        kind: Any = getattr(value, "kind", None)
        if isinstance(kind, Reference):
            return any(issubclass(c, Linked) for c in kind.types)
        return getattr(value, "value", value) is None or self.may_be_none(value)

    def linked_other_length(self) -> Value:
        raise self.refuse(
            "how the items of a list that is one of many change can't be followed here",
            "make it with all of its items, and store into them one by one",
        )


def _has_items(thing: Any) -> bool:
    """Whether this is a plain tuple, named tuple or list whose items are known one by one."""
    if isinstance(thing, ListObject):
        return thing.type is list and thing.var is None
    if not isinstance(thing, Tuple) or thing.type is tuple:
        return isinstance(thing, Tuple)
    return is_named_tuple(thing.type) and vars(thing.type).keys().isdisjoint(OWN)
