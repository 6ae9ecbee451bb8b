"""Tuples, named tuples and short lists with an attribute for each of their items.

A tuple of known length is known item by item, and so is a list. Of trees and linked lists of them
(`(value, left, right)`, of which `left` is None or another one), only the run knows how many there
are: they are objects of the class of the tuples with so many items, or with the fields of a named
tuple, and what is done with objects (`objects.py`) can be done with them. What makes them is in
`linking.py`.
"""

from __future__ import annotations

import functools
import operator
from types import FunctionType
from typing import Any

from ..rules.registry import definition


class Linked:
    """A sequence of the class `_of`: `t[0]` is the first of the attributes `_attributes`."""

    _attributes: tuple[str, ...] = ()
    _of: type = tuple
    _class: Any  # of this very kind

    def __init__(self, *items: Any) -> None:
        for name, item in zip(self._attributes, items, strict=True):
            object.__setattr__(self, name, item)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{self._of.__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{self._of.__name__!r} object has no attribute {name!r}")

    def _items(self) -> Any:
        return tuple([getattr(self, name) for name in self._attributes])

    def _plain(self) -> Any:
        return self._items()

    def __len__(self) -> Any:
        return len(self._attributes)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._plain()[index]
        at = self._place(index)
        for i, name in enumerate(self._attributes):
            if at == i:
                return getattr(self, name)

    def _place(self, index: Any) -> Any:
        at, length = operator.index(index), len(self._attributes)
        if at < -length or at >= length:
            raise IndexError(f"{self._of.__name__} index out of range")
        return at + length if at < 0 else at

    def __iter__(self) -> Any:
        return iter(self._items())

    def __reversed__(self) -> Any:
        return reversed(self._items())

    def __contains__(self, item: Any) -> Any:
        return item in self._items()

    def __eq__(self, other: Any) -> Any:
        return self._items() == tuple(other) if self._is_like(other) else NotImplemented

    def __ne__(self, other: Any) -> Any:
        return self._items() != tuple(other) if self._is_like(other) else NotImplemented

    def __lt__(self, other: Any) -> Any:
        return self._items() < tuple(other) if self._is_like(other) else NotImplemented

    def __le__(self, other: Any) -> Any:
        return self._items() <= tuple(other) if self._is_like(other) else NotImplemented

    def __gt__(self, other: Any) -> Any:
        return self._items() > tuple(other) if self._is_like(other) else NotImplemented

    def __ge__(self, other: Any) -> Any:
        return self._items() >= tuple(other) if self._is_like(other) else NotImplemented

    def __add__(self, other: Any) -> Any:
        return self._plain() + other if self._is_like(other) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return other + self._plain() if self._is_like(other) else NotImplemented

    def __mul__(self, times: Any) -> Any:
        return self._plain() * times

    def __rmul__(self, times: Any) -> Any:
        return self._plain() * times

    def __repr__(self) -> Any:
        return repr(self._plain())

    def _is_like(self, other: Any) -> Any:
        return isinstance(other, list if self._of is list else tuple)

    def count(self, item: Any) -> Any:
        return self._items().count(item)

    def index(self, item: Any, *bounds: Any) -> Any:
        return self._items().index(item, *bounds)


class LinkedTuple(Linked):
    """A tuple, that is."""

    def __hash__(self) -> Any:
        return hash(self._items())

    def __copy__(self) -> Any:
        return self


class LinkedFields(LinkedTuple):
    """A named tuple, that is."""

    def __repr__(self) -> Any:
        return repr(self._of(*self._items()))

    def _replace(self, **changes: Any) -> Any:
        for name in changes:
            if name not in self._attributes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
        return self._class(
            *[
                changes[name] if name in changes else getattr(self, name)
                for name in self._attributes
            ]
        )

    def _asdict(self) -> Any:
        return {name: getattr(self, name) for name in self._attributes}


class LinkedList(Linked):
    """A list of so many items, that is."""

    __hash__ = None  # type: ignore[assignment]

    def _plain(self) -> Any:
        return list(self._items())

    def __setitem__(self, index: Any, item: Any) -> None:
        if isinstance(index, slice):
            other_length()
        at = self._place(index)
        for i, name in enumerate(self._attributes):
            if at == i:
                object.__setattr__(self, name, item)

    def copy(self) -> Any:
        return self._class(*self._items())

    __copy__ = copy

    def append(self, *given: Any) -> Any:
        other_length()

    __delitem__ = __iadd__ = __imul__ = append
    clear = extend = insert = pop = remove = reverse = sort = append


def other_length() -> None:
    """Refuse what changes how many items there are, or which."""


@functools.cache
def linked(of: type, length: int) -> type:
    """The class of the tuples or lists of a class that have so many items.

    >>> linked(tuple, 2)._attributes
    ('item_0', 'item_1')
    >>> import collections
    >>> linked(collections.namedtuple("Tree", "left right"), 2)._attributes
    ('left', 'right')
    """
    base: type = LinkedTuple if of is tuple else LinkedList if of is list else LinkedFields
    own: dict[str, Any] = {}
    if base is LinkedFields:
        made = _EVERY | set(of._fields)  # type: ignore[attr-defined]
        own = {name: member for name, member in vars(of).items() if name not in made}
    names = own.get("_fields", tuple(f"item_{i}" for i in range(length)))
    members = {**own, "_attributes": names, "_of": of, "__module__": "builtins"}
    cls: Any = type(of.__name__, (base,), members)
    cls._class = cls
    return cls  # type: ignore[no-any-return]


OWN = frozenset({"_attributes", "_class", "_is_like", "_items", "_of", "_place", "_plain"})
_EVERY = frozenset({
    "__new__", "__slots__", "__repr__", "__getnewargs__", "__orig_bases__", "__annotations__",
    "__replace__", "__dict__", "__weakref__", "_make", "_replace", "_asdict",
})  # fmt: skip

for _class in (Linked, LinkedTuple, LinkedFields, LinkedList):
    for _member in vars(_class).values():
        if isinstance(_member, FunctionType):
            definition(_member)(_member)
