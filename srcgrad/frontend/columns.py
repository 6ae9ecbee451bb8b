"""Tables of objects: a row for each object, a column for each of their attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from .. import ir
from ..errors import UnsupportedError
from ..kinds import BOOL, Array, ListOf, Reference, Scalar, Size, TupleOf, parts_like

ANY = Size(-1)  # in what is known of an attribute: a dimension
MISSING = -1  # where a path ends at what says whether a tuple is None instead


@dataclass(frozen=True)
class Leaf:
    """What is in one list: items of a kind (None: no item yet), or None."""

    kind: Any = None
    optional: bool = False


@dataclass(frozen=True)
class Parts:
    """A tuple, or None."""

    type: type
    items: tuple[Any, ...]
    optional: bool = False


@dataclass(frozen=True, eq=False)
class Common:
    """A value that only the compiler knows, the same for all objects."""

    value: Any


Column = Leaf | Parts | Common


@dataclass(eq=False)
class Table:
    """The objects of some classes, and what is known of their attributes.

    `scope` says in which function whose gradient is taken inside the program they are made, if in
    any: what is differentiated has tables of its own.
    """

    classes: list[type]
    scope: tuple[Any, ...] = ()
    columns: dict[str, Column] = field(default_factory=dict)
    related: list[Table] = field(default_factory=list)  # a variable is of one or the other

    def __repr__(self) -> str:
        return "table of " + ", ".join(cls.__name__ for cls in self.classes)


class Unkept(UnsupportedError):
    """What the objects in tables do isn't supported."""


class Columns(Exception):
    """More came to be known of the attributes of objects: the program must be lowered again."""


class Knowledge:
    """What is known of the objects of a program, however often it is lowered.

    Attributes:
        tables: the tables that there are.
        candidates: the classes of objects that are made where it isn't known how often, or changed
            where it isn't known which they are.
        single: those of objects that are made one by one.
        final: an attribute that isn't known is one that no object ever has.
        boxes: the classes of what holds the items of lists of several kinds, by what they hold.
        sites: where dicts, tuples and lists are made, perhaps many, that can be objects of a class
            (`slotted.py`, `linking.py`).
        alone: where tuples and lists are made once that may be held by such.
        varying: with which keys dicts are made, and a key that they are given later, or lose.
    """

    def __init__(self) -> None:
        self.tables: list[Table] = []
        self.candidates: dict[tuple[type, tuple[Any, ...]], None] = {}
        self.single: dict[tuple[type, tuple[Any, ...]], None] = {}
        self.final = False
        self.boxes: dict[Any, type] = {}
        self.sites: set[Any] = set()
        self.alone: set[Any] = set()
        self.varying: set[tuple[tuple[str, ...], str]] = set()

    def table(self, cls: type, scope: tuple[Any, ...]) -> Table | None:
        """The table for the objects of a class that are made in a scope; None if it has none."""
        return next((t for t in self.tables if cls in t.classes and t.scope == scope), None)

    def forget(self) -> None:
        """Forget what was known of the objects in tables, and of what could be such."""
        self.sites, self.alone = set(), set()
        for table in self.tables:
            table.columns = {}

    def replace(self, instead: Callable[[type], type]) -> None:
        """Let other classes have the tables: nothing is known of their objects yet."""
        for table in self.tables:
            table.classes = list(dict.fromkeys(map(instead, table.classes)))
            table.columns = {}

    def adopt(self) -> bool:
        """Make tables for what the last lowerings asked for; whether they asked for anything."""
        new = [place for place in self.candidates if self.table(*place) is None]
        self.tables += [Table([cls], scope) for cls, scope in new]
        found = bool(new)
        for table in self.tables:
            for other in table.related:
                if other is not table and other in self.tables and other.scope == table.scope:
                    table.classes += other.classes
                    self.tables.remove(other)
                    found = True
        for table in self.tables if found else ():
            table.columns, table.related = {}, []
        self.candidates, self.single, self.final = {}, {}, False
        return found


def is_same(a: Any, b: Any) -> bool:
    """Whether two values that only the compiler knows are one object."""
    return isinstance(a, ir.Const) and isinstance(b, ir.Const) and a.value is b.value


def is_reference(value: Any) -> bool:
    """Whether a value is an object in a table."""
    return isinstance(value, ir.Var) and isinstance(value.kind, Reference)


def holds_references(kind: Any) -> bool:
    """Whether values of a kind are, or hold, objects in tables."""
    return next(classes_in(kind), None) is not None


def holds_named(kind: Any) -> bool:
    """Whether values of a kind are, or hold, tuples that stand for objects or dicts."""
    return next(named_in(kind), None) is not None


def named_in(kind: Any) -> Iterator[type]:
    """The classes of the objects and dicts for which tuples stand that values of a kind hold."""
    if isinstance(kind, ListOf):
        yield from named_in(kind.item)
    elif isinstance(kind, (tuple, TupleOf)):
        if getattr(kind, "names", ()):
            yield kind.type  # type: ignore[union-attr]
        for item in kind if isinstance(kind, tuple) else kind.items:
            yield from named_in(item)


def classes_in(kind: Any) -> Iterator[type]:
    """The classes of the objects in tables that values of a kind are, or hold."""
    if isinstance(kind, Reference):
        yield from sorted(kind.types, key=kind.table.classes.index)
    elif isinstance(kind, ListOf):
        yield from classes_in(kind.item)
    elif isinstance(kind, (tuple, TupleOf)):
        for item in kind if isinstance(kind, tuple) else kind.items:
            yield from classes_in(item)


def leaves(column: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Leaf]]:
    """The lists that an attribute is kept in, each with its place in the attribute."""
    if isinstance(column, Leaf):
        yield path, column
    elif isinstance(column, Parts):
        if column.optional:
            yield (*path, MISSING), Leaf(BOOL)
        for i, item in enumerate(column.items):
            yield from leaves(item, (*path, i))


def with_leaf(column: Any, path: list[Any], kind: Any) -> Any:
    """What is known of an attribute, the items of one of its lists being of this kind."""
    if path == [MISSING]:
        return column
    if path and isinstance(column, Parts):
        first, *rest = path
        items = list(column.items)
        items[first] = with_leaf(items[first], rest, kind)
        return replace(column, items=tuple(items))
    return replace(column, kind=kind) if isinstance(column, Leaf) and not path else column


def mapped(item: Any, size: Any) -> Any:
    """The kind of a list's items with other dimensions."""
    if isinstance(item, tuple):
        return parts_like(item, (mapped(part, size) for part in item))
    if isinstance(item, ListOf):
        return replace(item, item=mapped(item.item, size))
    if isinstance(item, Array) and item.shape is not None:
        return Array(item.dtype, tuple(map(size, item.shape)))
    if isinstance(item, Scalar):
        return replace(item, size=None)
    return item


def without_sizes(item: Any) -> Any:
    """The kind of a list's items, each dimension that may vary being the same."""
    return mapped(item, lambda n: ANY if isinstance(n, Size) else n)
