"""Dicts with a slot for each of their keys, of which only the run knows how many there are.

A dict whose keys the program names (`{"mass": m, "name": "sun"}`) is known key by key. Where it is
put into a list that a loop makes, it is one with keys that only the run tells (`tables.py`), unless
its values are of different kinds. Then it is an object of the class of the dicts with these keys:
its values are attributes, and what is done with objects (`objects.py`) can be done with it.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

from .. import ir
from ..rules.registry import definition
from .sets import Sets
from .tables import Table
from .values import DictObject, Instance, Ref, Value

SITE = "%slotted"  # of known sites: a dict that is made here has a slot for each key


class Slotted:
    """A dict that keeps its keys: `d["mass"]` is the attribute `mass_`."""

    fields: tuple[str, ...] = ()

    def __init__(self, *values: Any) -> None:
        for key, value in zip(self.fields, values, strict=True):
            setattr(self, key + "_", value)

    def __getitem__(self, key: Any) -> Any:
        if key not in self.fields:
            raise KeyError(key)
        return getattr(self, key + "_")

    def __setitem__(self, key: Any, value: Any) -> None:
        if key not in self.fields:
            other_keys()
        setattr(self, key + "_", value)

    def __contains__(self, key: Any) -> Any:
        return key in self.fields

    def __len__(self) -> Any:
        return len(self.fields)

    def __iter__(self) -> Any:
        return self.fields

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, dict) or len(other) != len(self.fields):
            return False
        return all(key in other and self[key] == other[key] for key in self.fields)

    __hash__ = None  # type: ignore[assignment]

    keys: Any = Table.keys
    values: Any = Table.values
    items: Any = Table.items
    update: Any = Table.update

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if key in self.fields else default

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if key not in self.fields:
            other_keys()
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

    def pop(self, *args: Any) -> Any:
        other_keys()

    __delitem__ = popitem = clear = pop


def other_keys() -> None:
    """Refuse what gives a dict other keys."""


@functools.cache
def slotted(keys: tuple[str, ...]) -> type:
    """The class of the dicts with these keys.

    >>> slotted(("mass", "name")).fields
    ('mass', 'name')
    """
    return type("dict", (Slotted,), {"fields": keys, "__module__": "builtins"})


def told_class(cls: type) -> type:
    """A class of objects as Python tells it."""
    return dict if issubclass(cls, Slotted) else cls


class SlottedDicts(Sets):
    """Makes such dicts."""

    def site_of_slots(self, ref: Ref, thing: DictObject) -> frozenset[Any]:
        """What must be static for a dict to have a slot for each of its keys, if it can have."""
        return frozenset([(SITE, self.sites.get(ref.id))] if _has_names(thing) else ())

    def with_slots(self, ref: Ref) -> Value:
        """A dict that was made here as one that has a slot for each of its keys, if it is to be."""
        thing = self.state.heap[ref.id]
        if not isinstance(thing, DictObject) or not _has_names(thing):
            return ref
        if (SITE, self.sites.get(ref.id)) not in self.known_sites:
            return ref
        return self.call(ir.Const(slotted(tuple(thing.items))), list(thing.items.values()), {})

    def slotted_other_keys(self) -> Value:
        raise self.refuse(
            "the keys change of a dict that is one of many, with values of different kinds",
            "make it with all of its keys",
        )


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
    return {key: thing.items[key + "_"] for key in thing.type.fields}


for _member in vars(Slotted).values():
    if isinstance(_member, FunctionType):
        definition(_member)(_member)
