"""Dicts and sets whose keys only the run tells.

Such a dict is a list of its values and a *lookup* (`kinds.Places`), which knows at which position
the value of a key stands. The list is one like any other: what is put in and read has its
derivative, whatever is overwritten. The lookup has none. So nothing but this module knows of such
dicts: they are objects of the classes here, whose methods are written in what the compiler reads.

A deleted value stays in the list, where nobody finds it; a key that comes back gets a new position.
"""

from __future__ import annotations

import collections
import operator
from types import FunctionType
from typing import Any

from ..rules.registry import definition

# Lookups. The compiler's methods of the names `lookup_...` emit what these functions do.


def made() -> Any:
    """A new lookup."""
    return {}


def has(where: Any, key: Any) -> Any:
    """Whether a key is there."""
    return key in where


def at(where: Any, key: Any) -> Any:
    """The position at which the value of a key stands."""
    return where[key]


def value(where: Any, key: Any) -> Any:
    """The value of a key, where it is found right there."""
    return where[key]


def written(where: Any) -> Any:
    """Refuse to write what isn't the function's own."""


def made_set() -> Any:
    """A new lookup of a set, which knows no positions."""
    return set()


def join(where: Any, key: Any) -> None:
    """Add a key to a set."""
    where.add(key)


def part(where: Any, key: Any) -> None:
    """Take a key out of a set."""
    where.remove(key)


def taken(where: Any) -> Any:
    """Take a key out of a set, whichever Python takes."""
    return where.pop()


def change(function: Any, where: Any, other: Any) -> None:
    """Change a set by a method that is given another one."""
    function(where, other)


def combine(function: Any, where: Any, other: Any) -> Any:
    """The set that a method returns which is given another one."""
    return function(where, other)


def compare(function: Any, where: Any, other: Any) -> Any:
    """Whether a comparison of two sets holds."""
    return function(where, other)


def empty(where: Any) -> None:
    """Take all keys out of a set."""
    where.clear()


def enter(where: Any, key: Any, position: Any) -> None:
    """Note the position for a key."""
    where[key] = position


def leave(where: Any, key: Any) -> None:
    """Forget a key."""
    del where[key]


def keys(where: Any) -> Any:
    """The keys, in Python's order."""
    return list(where)


def count(where: Any) -> Any:
    """How many keys there are."""
    return len(where)


def is_dict(value: Any) -> Any:
    return isinstance(value, dict)


class Table:
    """A dict that exists at run time."""

    stands_for: type = dict

    def __init__(self) -> None:
        self.where = made()
        self.entries: Any = []

    def __len__(self) -> Any:
        return count(self.where)

    def __contains__(self, key: Any) -> Any:
        return has(self.where, key)

    def __getitem__(self, key: Any) -> Any:
        return self.entries[at(self.where, key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        if has(self.where, key):
            self.entries[at(self.where, key)] = value
        else:
            enter(self.where, key, len(self.entries))
            self.entries.append(value)

    def __delitem__(self, key: Any) -> None:
        leave(self.where, key)

    def __iter__(self) -> Any:
        return keys(self.where)

    def keys(self) -> Any:
        return Keys(self)

    def values(self) -> Any:
        return values(self)

    def items(self) -> Any:
        return items(self)

    def get(self, key: Any, default: Any = None) -> Any:
        return self.entries[at(self.where, key)] if has(self.where, key) else default

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if not has(self.where, key):
            enter(self.where, key, len(self.entries))
            self.entries.append(default)
        return self.entries[at(self.where, key)]

    def pop(self, key: Any, *default: Any) -> Any:
        if default:
            value = self.get(key, default[0])
            if has(self.where, key):
                leave(self.where, key)
            return value
        position = at(self.where, key)
        leave(self.where, key)
        return self.entries[position]

    def popitem(self, last: Any = True) -> Any:
        if not len(self):
            raise KeyError("popitem(): dictionary is empty")
        key = keys(self.where)[-1 if last else 0]
        return key, self.pop(key)

    def move_to_end(self, key: Any, last: Any = True) -> None:
        others = keys(self.where)
        position = at(self.where, key)
        leave(self.where, key)
        enter(self.where, key, position)
        if not last:
            for other in others:
                if other != key:
                    position = at(self.where, other)
                    leave(self.where, other)
                    enter(self.where, other, position)

    def update(self, other: Any = (), /, **named: Any) -> None:
        if hasattr(other, "keys") and not hasattr(other, "items"):
            for key in other.keys():  # noqa: SIM118 (it may have no __iter__)
                self[key] = other[key]
        else:
            for key, value in other.items() if hasattr(other, "items") else other:
                self[key] = value
        for name, value in named.items():
            self[name] = value

    def __or__(self, other: Any) -> Any:
        joined = self.copy()
        joined.update(other)
        return joined

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def __eq__(self, other: Any) -> Any:
        if not is_dict(other) or len(self) != len(other):
            return False
        return all(key in other and value == other[key] for key, value in self.items())

    def __ne__(self, other: Any) -> Any:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def held(self, key: Any) -> Any:
        """The value of a key that there is."""
        return self.entries[at(self.where, key)]

    def copy(self) -> Any:
        return self.filled(Table())

    def filled(self, other: Any) -> Any:
        for key in keys(self.where):
            other[key] = self.held(key)
        return other

    def clear(self) -> None:
        for key in keys(self.where):
            leave(self.where, key)


class HeldOutside(Table):
    """A dict outside that is one value; nobody writes it."""

    def __getitem__(self, key: Any) -> Any:
        return value(self.where, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        written(self.where)

    def __delitem__(self, key: Any) -> None:
        written(self.where)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        written(self.where)

    def pop(self, key: Any, *default: Any) -> Any:
        written(self.where)

    def popitem(self, last: Any = True) -> Any:
        written(self.where)

    def clear(self) -> None:
        written(self.where)

    def get(self, key: Any, default: Any = None) -> Any:
        return value(self.where, key) if has(self.where, key) else default

    def held(self, key: Any) -> Any:
        return value(self.where, key)


class DefaultTable(Table):
    """A defaultdict that exists at run time."""

    stands_for = collections.defaultdict

    def __getitem__(self, key: Any) -> Any:
        if not has(self.where, key):
            enter(self.where, key, len(self.entries))
            self.entries.append(self.factory())  # type: ignore[attr-defined]
        return self.entries[at(self.where, key)]

    # What goes through the keys doesn't make new ones.

    def values(self) -> Any:
        return View(self, lambda table, key: table.held(key))

    def items(self) -> Any:
        return View(self, lambda table, key: (key, table.held(key)))

    def copy(self) -> Any:
        other: Any = DefaultTable()
        other.factory = self.factory  # type: ignore[attr-defined]
        return self.filled(other)


class Counts(Table):
    """A Counter that exists at run time."""

    stands_for = collections.Counter

    def __getitem__(self, key: Any) -> Any:
        return self.entries[at(self.where, key)] if has(self.where, key) else 0

    def update(self, other: Any = (), /, **named: Any) -> None:
        if hasattr(other, "items"):
            for key, value in other.items():
                self[key] = value + self[key]
        else:
            for key in other:
                self[key] = 1 + self[key]
        for name, value in named.items():
            self[name] = value + self[name]

    def total(self) -> Any:
        return sum(self.values())

    def most_common(self, n: Any = None) -> Any:
        pairs = sorted(self.items(), key=lambda pair: pair[1], reverse=True)
        return pairs if n is None else pairs[:n]

    def copy(self) -> Any:
        return self.filled(Counts())

    # As Python's own are written.
    subtract = collections.Counter.subtract
    _keep_positive = collections.Counter._keep_positive  # type: ignore[attr-defined]
    __eq__ = collections.Counter.__eq__
    __ne__ = collections.Counter.__ne__
    __add__ = collections.Counter.__add__
    __sub__ = collections.Counter.__sub__
    __or__ = collections.Counter.__or__
    __and__ = collections.Counter.__and__
    __iadd__ = collections.Counter.__iadd__
    __isub__ = collections.Counter.__isub__
    __ior__ = collections.Counter.__ior__
    __iand__ = collections.Counter.__iand__
    __pos__ = collections.Counter.__pos__
    __neg__ = collections.Counter.__neg__
    __hash__ = None

    def __delitem__(self, key: Any) -> None:
        if has(self.where, key):
            leave(self.where, key)


class View:
    """What `items` or `values` of any dict returns: what it holds when one looks.

    How it is gone through, `Iteration.sequence_of_instance` knows.
    """

    def __init__(self, table: Any, part: Any) -> None:
        self.table = table
        self.part = part

    def __len__(self) -> Any:
        return len(self.table)

    def __contains__(self: Any, item: Any) -> Any:
        return item in list(self)


def values(table: Any) -> Any:
    return View(table, lambda table, key: table[key])


def items(table: Any) -> Any:
    return View(table, lambda table, key: (key, table[key]))


class Keys:
    """What `keys` of any dict returns."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __len__(self) -> Any:
        return len(self.table)

    def __iter__(self) -> Any:
        return list(self.table)

    def __contains__(self, key: Any) -> Any:
        return key in self.table

    def __eq__(self, other: Any) -> Any:
        return set(self) == set(other)

    # In which order Python goes through the results depends on how it makes them.

    def __and__(self, other: Any) -> Any:
        shorter: Any = self
        if len(self) > len(other):
            shorter, other = other, self
        made: Any = set()
        for key in shorter:
            if key in other:
                made.add(key)
        return made

    def __or__(self, other: Any) -> Any:
        made = set(self.table)
        made.update(other)
        return made

    def __sub__(self, other: Any) -> Any:
        made = set(self.table)
        made.difference_update(other)
        return made

    def __xor__(self, other: Any) -> Any:
        made = set(self.table)
        made.symmetric_difference_update(other)
        return made


class Members:
    """A set that exists at run time."""

    stands_for: type = set

    def __init__(self, where: Any) -> None:
        self.where = where

    def __len__(self) -> Any:
        return count(self.where)

    def __contains__(self, key: Any) -> Any:
        return has(self.where, key)

    def __iter__(self) -> Any:
        return keys(self.where)

    def add(self, key: Any) -> None:
        join(self.where, key)

    def remove(self, key: Any) -> None:
        part(self.where, key)

    def discard(self, key: Any) -> None:
        if has(self.where, key):
            part(self.where, key)

    def pop(self) -> Any:
        return taken(self.where)

    def update(self, *others: Any) -> None:
        for other in others:
            if isinstance(other, (set, frozenset)):
                change(set.update, self.where, other)
            else:
                for key in other:
                    join(self.where, key)

    def difference_update(self, *others: Any) -> None:
        for other in others:  # one by one, places would be left that Python clears away
            change(set.difference_update, self.where, as_set(other))

    def intersection_update(self, other: Any) -> None:
        change(set.intersection_update, self.where, as_set(other))

    def symmetric_difference_update(self, other: Any) -> None:
        change(set.symmetric_difference_update, self.where, as_set(other))

    def copy(self) -> Any:
        other = Members(made_set())
        other.update(self)
        return other

    def clear(self) -> None:
        empty(self.where)

    def union(self, *others: Any) -> Any:
        made = self.copy()
        made.update(*others)
        return made

    def intersection(self, other: Any) -> Any:
        return Members(combine(set.intersection, self.where, as_set(other)))

    def difference(self, other: Any) -> Any:
        return Members(combine(set.difference, self.where, as_set(other)))

    def symmetric_difference(self, other: Any) -> Any:
        return Members(combine(set.symmetric_difference, self.where, as_set(other)))

    def issubset(self, other: Any) -> Any:
        return compare(set.issubset, self.where, as_set(other))

    def issuperset(self, other: Any) -> Any:
        return compare(set.issuperset, self.where, as_set(other))

    def isdisjoint(self, other: Any) -> Any:
        return compare(set.isdisjoint, self.where, as_set(other))

    def __or__(self, other: Any) -> Any:
        return self.union(other)

    def __and__(self, other: Any) -> Any:
        return self.intersection(other)

    def __sub__(self, other: Any) -> Any:
        return self.difference(other)

    def __xor__(self, other: Any) -> Any:
        return self.symmetric_difference(other)

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def __iand__(self, other: Any) -> Any:
        self.intersection_update(other)
        return self

    def __isub__(self, other: Any) -> Any:
        self.difference_update(other)
        return self

    def __ixor__(self, other: Any) -> Any:
        self.symmetric_difference_update(other)
        return self

    def __le__(self, other: Any) -> Any:
        return compare(operator.le, self.where, other)

    def __lt__(self, other: Any) -> Any:
        return compare(operator.lt, self.where, other)

    def __ge__(self, other: Any) -> Any:
        return compare(operator.ge, self.where, other)

    def __gt__(self, other: Any) -> Any:
        return compare(operator.gt, self.where, other)

    def __eq__(self, other: Any) -> Any:
        return isinstance(other, (set, frozenset)) and compare(operator.eq, self.where, other)

    __hash__ = None  # type: ignore[assignment]


def as_set(values: Any) -> Any:
    """A set of what a method of sets is given."""
    return values if isinstance(values, (set, frozenset)) else set(values)


class Window:
    """A deque with a maximal length."""

    stands_for: type = collections.deque

    def __init__(self, items: Any, maxlen: Any) -> None:
        self.items: Any = []
        self.maxlen = maxlen
        self.extend(items)

    def __repr__(self) -> str:
        return f"deque({self.items!r}, maxlen={self.maxlen})"

    def __len__(self) -> Any:
        return len(self.items)

    def __iter__(self) -> Any:
        return self.items

    def __getitem__(self, key: Any) -> Any:
        return self.items[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.items[key] = value

    def __delitem__(self, key: Any) -> None:
        del self.items[key]

    def __iadd__(self, items: Any) -> Any:
        self.extend(items)
        return self

    def __contains__(self, item: Any) -> Any:
        return item in self.items

    def append(self, item: Any) -> None:
        self.items.append(item)
        if len(self.items) > self.maxlen:
            self.items.pop(0)

    def appendleft(self, item: Any) -> None:
        self.items.insert(0, item)
        if len(self.items) > self.maxlen:
            self.items.pop()

    def extend(self, items: Any) -> None:
        for item in items:
            self.append(item)

    def extendleft(self, items: Any) -> None:
        for item in items:
            self.appendleft(item)

    def pop(self) -> Any:
        return self.items.pop()

    def popleft(self) -> Any:
        return self.items.pop(0)

    def clear(self) -> None:
        self.items.clear()

    def copy(self) -> Any:
        return Window(self.items, self.maxlen)

    def rotate(self, n: Any = 1) -> None:
        collections.deque.rotate(self.items, n)

    def reverse(self) -> None:
        self.items.reverse()

    def count(self, item: Any) -> Any:
        return self.items.count(item)

    def index(self, item: Any, *bounds: Any) -> Any:
        return self.items.index(item, *bounds)

    def insert(self, place: Any, item: Any) -> None:
        if len(self.items) >= self.maxlen:
            raise IndexError("deque already at its maximum size")
        self.items.insert(place, item)

    def remove(self, item: Any) -> None:
        self.items.remove(item)

    def __reversed__(self) -> Any:
        return reversed(self.items)

    def __eq__(self, other: Any) -> Any:
        return is_deque(other) and list(self) == list(other)

    def __ne__(self, other: Any) -> Any:
        return not self == other

    __hash__ = None  # type: ignore[assignment]


def is_deque(value: Any) -> Any:
    return isinstance(value, collections.deque)


KINDS_OF_TABLES: tuple[type, ...] = (Table, HeldOutside, DefaultTable, Counts, Members)

definition(values)(values)
definition(items)(items)
definition(as_set)(as_set)
definition(is_dict)(is_dict)
definition(is_deque)(is_deque)
for _cls in (*KINDS_OF_TABLES, View, Keys, Window):
    for _member in vars(_cls).values():
        _function = _member.fget if isinstance(_member, property) else _member
        if isinstance(_function, FunctionType):
            definition(_function)(_function)
