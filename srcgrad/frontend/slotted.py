"""Dicts with a slot for each of their keys, of which only the run knows how many there are.

A dict whose keys the program names (`{"mass": m, "name": "sun"}`) is known key by key. Where it is
put into a list that a loop makes, it is one with keys that only the run tells (`tables.py`), unless
its values are of different kinds. Then it is an object of the class of the dicts with these keys:
its values are attributes, and what is done with objects (`objects.py`) can be done with it. So too
where a recursion makes trees of dicts.

A key that such a dict is given later, or that is taken out, has an attribute beside it which says
whether it is there. That there is one is learned where the program does so.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

from .. import ir
from ..errors import UnsupportedError
from ..kinds import Reference
from ..rules.registry import definition
from .columns import Columns
from .sets import Sets
from .tables import Table
from .values import DictObject, Instance, Ref, Value

SITE = "%slotted"  # of known sites: a dict that is made here has a slot for each key


class Slotted:
    """A dict that is made with the keys `fields`: `d["mass"]` is the attribute `mass_`.

    It may have the keys `varying` or not, as `d.mass_is_there` says; `ever` are both.
    """

    fields: tuple[str, ...] = ()
    varying: tuple[str, ...] = ()
    ever: tuple[str, ...] = ()

    def __init__(self, *values: Any) -> None:
        for key, value in zip(self.fields, values, strict=True):
            setattr(self, key + "_", value)
        for key in self.varying:
            setattr(self, key + "_is_there", key in self.fields)

    def __getitem__(self, key: Any) -> Any:
        if key not in self:
            raise KeyError(key)
        return getattr(self, key + "_")

    def __setitem__(self, key: Any, value: Any) -> None:
        if key in self.varying:
            setattr(self, key + "_is_there", True)
        elif key not in self.fields:
            varies(self.fields, key)
        setattr(self, key + "_", value)

    def __delitem__(self, key: Any) -> None:
        if key not in self:
            raise KeyError(key)
        if key not in self.varying:
            varies(self.fields, key)
        setattr(self, key + "_is_there", False)

    def __contains__(self, key: Any) -> Any:
        return getattr(self, key + "_is_there") if key in self.varying else key in self.fields

    def __len__(self) -> Any:
        return sum([key in self for key in self.ever])

    def __iter__(self) -> Any:
        if self.varying:
            other_keys()
        return self.fields

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, dict) or len(other) != len(self):
            return False
        return all(key in other and self[key] == other[key] for key in self.ever if key in self)

    __hash__ = None  # type: ignore[assignment]

    keys: Any = Table.keys
    values: Any = Table.values
    items: Any = Table.items
    update: Any = Table.update

    def get(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            return default
        return self[key]

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def __or__(self, other: Any) -> Any:
        return {**self, **other}

    def __ror__(self, other: Any) -> Any:
        return {**other, **self}

    def copy(self) -> Any:
        return type(self)(*self.values())

    def pop(self, key: Any, *default: Any) -> Any:
        if default and key not in self:
            return default[0]
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> Any:
        other_keys()

    clear = popitem


def other_keys() -> None:
    """Refuse what isn't known of a dict's keys, as their order."""


def varies(fields: Any, key: Any) -> None:
    """Begin again, with a key that dicts made with others may have or not."""


@functools.cache
def slotted(keys: tuple[str, ...], varying: tuple[str, ...] = ()) -> type:
    """The class of the dicts that are made with these keys, of which some may come and go.

    >>> slotted(("mass", "name"), ("speed",)).fields
    ('mass', 'name')
    """
    ever = tuple(dict.fromkeys(keys + varying))
    members = {"fields": keys, "varying": varying, "ever": ever, "__module__": "builtins"}
    return type("dict", (Slotted,), members)


def told_class(cls: type) -> type:
    """A class of objects as Python tells it."""
    return dict if issubclass(cls, Slotted) else cls


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
            self.objects.dicts |= self.site_of_slots(ref, thing)

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


for _member in vars(Slotted).values():
    if isinstance(_member, FunctionType):
        definition(_member)(_member)
