"""Makes dicts with a slot for each of their keys (`slots.py`), and says when."""

from __future__ import annotations

from typing import Any

from .. import ir
from ..errors import UnsupportedError
from ..kinds import Reference
from .columns import Columns
from .sets import Sets
from .slots import Slotted, slotted
from .values import DictObject, Instance, Ref, Value

SITE = "%slotted"  # of known sites: a dict that is made here has a slot for each key


class SlottedDicts(Sets):
    """Makes such dicts."""

    def site_of_slots(self, ref: Ref, thing: DictObject) -> frozenset[Any]:
        """What must be static for a dict to have a slot for each of its keys, if it can have."""
        return frozenset([(SITE, self.sites.get(ref.id))] if _has_names(thing) else ())

    def is_slotted(self, value: Value) -> bool:
        """Whether this is such a dict, or one of several."""
        thing = self.on_heap(value)
        if isinstance(thing, Instance):
            return issubclass(thing.type, Slotted)
        kind = getattr(value, "kind", None)
        return isinstance(kind, Reference) and any(issubclass(c, Slotted) for c in kind.types)

    def has_slots(self, thing: DictObject) -> bool:
        """Whether a dict that is made here is to have a slot for each of its keys."""
        return (SITE, self.site) in self.known_sites and _has_names(thing)

    def wants_slots(self, thing: DictObject) -> None:
        """Note that a dict had better have a slot for each of its keys, if it is made here."""
        refs = [Ref(n) for n, held in self.state.heap.items() if held is thing and n in self.sites]
        for ref in refs if not thing.external else ():
            self.objects.sites |= self.site_of_slots(ref, thing)

    def with_slots(self, ref: Ref) -> Value:
        """A dict that was made here as one that has a slot for each of its keys, if it is to be."""
        thing = self.state.heap[ref.id]
        if not isinstance(thing, DictObject) or not _has_names(thing):
            return ref
        if (SITE, self.sites.get(ref.id)) not in self.known_sites:
            if self.loop_depth or self.making or self.fork_depth:
                self.wants_slots(thing)
            return ref
        keys = tuple(thing.items)
        varying = sorted(key for made, key in self.objects.varying if made == keys)
        cls = slotted(keys, tuple(varying))
        return self.call(ir.Const(cls), list(thing.items.values()), {})

    def slotted_other_keys(self) -> Value:
        raise self.refuse(_ORDER, "make it with all of its keys")

    def slotted_varies(self, fields: Value, key: Value) -> Value:
        keys, new = self.static(fields), self.key(key)
        if not f"_{new}".isidentifier():
            raise self.refuse(_ORDER, "make it with all of its keys")

        def with_key(cls: type) -> type:
            if not issubclass(cls, Slotted) or cls.fields != keys:
                return cls
            return slotted(keys, tuple(sorted({*cls.varying, new})))

        self.objects.varying.add((keys, new))
        self.objects.replace(with_key)
        raise Columns


_ORDER = "how the keys of a dict that is one of many change can't be followed here"


def _has_names(thing: DictObject) -> bool:
    """Whether this is a plain dict all of whose keys could be names of attributes."""
    names = (isinstance(k, str) and f"_{k}".isidentifier() and k[:2] != "__" for k in thing.items)
    return thing.type is dict and not thing.is_set and bool(thing.items) and all(names)


def items_by_key(thing: DictObject | Instance) -> dict[Any, Any] | None:
    """What a dict on the abstract heap holds; None of what isn't one with keys that are known."""
    if isinstance(thing, DictObject):
        return thing.items
    if not issubclass(thing.type, Slotted):
        return None
    if thing.type.varying:
        raise UnsupportedError(_ORDER, None, "return what it holds")
    return {key: thing.items[key + "_"] for key in thing.type.fields}
