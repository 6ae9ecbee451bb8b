"""Dicts with a slot for each of their keys, of which only the run knows how many there are.

A dict whose keys the program names (`{"mass": m, "name": "sun"}`) is known key by key. Where it is
put into a list that a loop makes, it is one with keys that only the run tells (`tables.py`), unless
its values are of different kinds. Then it is an object of the class of the dicts with these keys:
its values are attributes, and what is done with objects (`objects.py`) can be done with it. So too
where a recursion makes trees of dicts.

A key that such a dict is given later, or that is taken out, has an attribute beside it which says
whether it is there. That there is one is learned where the program does so. What makes such dicts
is in `slotted.py`.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

from ..rules.registry import definition
from .links import Linked
from .tables import Table


class Slotted:
    """A dict that is made with the keys `fields`: `d["mass"]` is the attribute `mass_`.

    It may have the keys `varying` or not, as `d.mass_is_there` says; `ever` are both.
    """

    fields: tuple[str, ...] = ()
    varying: tuple[str, ...] = ()
    ever: tuple[str, ...] = ()
    _class: Any  # of this very kind

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
        return self._class(*self.values())

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
    made = type("dict", (Slotted,), members)
    made._class = made  # type: ignore[attr-defined]
    return made


def spelled(cls: type, attribute: str) -> str:
    """What the program calls an attribute: the key, of such a dict.

    >>> spelled(slotted(("mass",)), "mass_"), spelled(range, "start_")
    ('mass', 'start_')
    """
    return attribute.removesuffix("_") if issubclass(cls, Slotted) else attribute


def told_class(cls: type) -> type:
    """A class of objects as Python tells it."""
    if issubclass(cls, Linked):
        return cls._of
    return dict if issubclass(cls, Slotted) else cls


for _member in vars(Slotted).values():
    if isinstance(_member, FunctionType):
        definition(_member)(_member)
