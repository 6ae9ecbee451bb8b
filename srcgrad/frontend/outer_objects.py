"""Objects, lists and dicts outside that the function writes and reads: `self.output = ...`.

Such a thing is taken in whole: from the first statement on it is an object of the function's own,
with the attributes or items that it has outside. Written and read, on branches and in loops, it is
followed as any other; when the function ends, the generated code writes outside what has another
value then. That a thing is written is known since the function is lowered once more when the first
assignment is met, like `counts`. A list or dict that is only written is left where it is: see
`journals`.
"""

from __future__ import annotations

import builtins
import types
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.aliasing import Aliasing
from ..analysis.inference import Inferred
from ..errors import Span, UnsupportedError
from ..kinds import Array, Fields, ListOf, Opaque, Scalar
from ..runtime import attributes
from ..signature import is_record
from .lookup import Lookup
from .operations import put_outside
from .restarts import NeedStatic
from .structure import Poison, held_by, references
from .values import (
    TAKEN_IN,
    DictObject,
    Heap,
    Instance,
    Journal,
    ListObject,
    Path,
    Place,
    Ref,
    Tuple,
    Value,
    layout,
)

ADDED = "%added"  # the attributes that they get on some paths only
KEPT_OUT = "%kept out"  # of known sites: things that are written by what isn't looked into
LONGEST = 16  # list that is taken in
_PLAIN: Any = object.__setattr__


@dataclass(eq=False, slots=True)
class Taken:
    """What is taken in.

    Attributes:
        thing: itself.
        path: where it is found.
        span: where the function writes it first.
        ref: what stands for it.
        before: what it has outside, by name or position.
    """

    thing: Any
    path: Path
    span: Span | None
    ref: Ref
    before: dict[Any, Any]


class OuterObjects(Lookup):
    """Takes in the things outside that are written, and writes back what has changed."""

    def __init__(self) -> None:
        super().__init__()
        self.taken_in: dict[int, Taken] = {}
        self.was_outside: dict[ir.Var, str] = {}  # at the end: what was there, and what it's called
        self.overwritten: Aliasing | None = None  # at the end: of all that was written in place
        self.lists_outside: dict[int, ir.Var] = {}  # what is written for the function's own

    def within(self, low: Any) -> None:
        super().within(low)
        self.taken_in = low.taken_in

    # At the beginning

    def take_in(self) -> None:
        """Take in everything of which it is known that it is written and read."""
        sites = [site for site in self.known_sites if isinstance(site, tuple)]
        for _, path, _, span in sorted((s for s in sites if s[0] == TAKEN_IN), key=lambda s: s[2]):
            if not _fits(path.container):
                continue  # it has grown
            ref = self.new(Instance(type(path.container), {}))
            self.taken_in[id(path.container)] = Taken(path.container, path, span, ref, {})
        for taken in self.taken_in.values():
            how, members = taken.path, _members(taken.thing)
            if members is not taken.thing and isinstance(members, dict):
                how = Path("attribute", taken.path, "__dict__")
            if (
                hasattr(taken.thing, "__dict__") or members is taken.thing
            ):  # slots are what they are
                self.guards[Path("structure", how, "")] = layout(members)
            named = members if isinstance(members, dict) else dict(enumerate(members))
            for name, value in named.items():
                try:
                    found = Path(_way(taken.thing), taken.path, name)
                    taken.before[name] = self.lift(value, found)
                except UnsupportedError as error:
                    taken.before[name] = Poison(error.message, self.span)
            added = [s[2] for s in sites if s[0] == ADDED and s[1] == taken.path]
            absent = {name: self.absent_outside(name) for name in added}
            self.state.heap[taken.ref.id] = _stand_in(taken, absent)
            self.sites[taken.ref.id] = self.site

    def absent_outside(self, name: str) -> Any:
        return Poison(
            f"{name!r} of what is outside is written on some paths only, and isn't there before",
            self.span,
        )

    def outer(self, thing: Any, path: Path | None) -> Ref | None:
        """What stands for a thing outside, if it is taken in."""
        taken = self.taken_in.get(id(thing))
        if taken is None:
            return None
        if path is not None:
            self.guards[path] = thing
        return taken.ref

    # Before that

    def want_in(self, thing: Any, name: str) -> None:
        """Begin again if a thing outside, which is written, can be taken in."""
        if self.on_free is None or not _fits(thing) or id(thing) in self.taken_in:
            return
        if (KEPT_OUT, Path("object", thing, "")) in self.known_sites:
            raise self.refuse(
                f"{name!r} is written by a function that keeps its results, and isn't looked into",
                "return what it writes",
            )
        site = (TAKEN_IN, Path("object", thing, name), len(self.taken_in), self.span)
        raise NeedStatic(frozenset([site]), f"{name} is written here", self.span)

    def brought_in(self, value: Value) -> Value:
        """What stands for an object outside that isn't only asked for single attributes."""
        if not isinstance(value, Place):
            return value
        taken = self.outer(value.value, None)
        if taken is None:
            self.want_in(value.value, type(value.value).__name__.lower())
        return taken or value

    def want_journal(self, journal: Journal) -> None:
        if not journal.fresh:
            name = journal.var.name if journal.path is None else str(journal.path.name)
            self.want_in(journal.thing, name)

    def unread(self, journal: Journal) -> UnsupportedError:
        self.want_journal(journal)
        return super().unread(journal)

    def read_journal(self, journal: Journal, key: Value) -> Value:
        known = key.value if isinstance(key, ir.Const) else None
        try:
            found = journal.thing[known]
        except (LookupError, TypeError):
            return super().read_journal(journal, key)
        if id(found) in self.taken_in:
            raise self.unread(journal)
        return super().read_journal(journal, key)

    def store_journal(self, journal: Journal, key: Value, value: Value) -> None:
        try:
            super().store_journal(journal, key, value)
        except UnsupportedError:
            self.want_journal(journal)
            raise

    def call_of_journal(self, function: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        try:
            return super().call_of_journal(function, args, kwargs)
        except UnsupportedError:
            if isinstance(args[0], Journal):
                self.want_journal(args[0])
            raise

    def operand(self, value: Any) -> ir.Operand:
        if isinstance(value, Journal):  # asked for more than single items
            self.want_journal(value)
        return super().operand(value)

    def is_taken(self, ref: Ref) -> bool:
        return any(taken.ref == ref for taken in self.taken_in.values())

    def check_added(self, ref: Ref, name: Any) -> None:
        """Begin again if what is taken in gets an attribute or item on some paths only."""
        taken = next((t for t in self.taken_in.values() if t.ref == ref), None)
        if taken is None or name in taken.before:
            return
        thing = self.state.heap[ref.id]
        if isinstance(thing, ListObject) or name in thing.items:
            return
        if self.fork_depth or self.loop_depth or self.making:
            site = (ADDED, taken.path, name)
            raise NeedStatic(frozenset([site]), f"{name} is written here", self.span)

    def check_unseen(self, function: Any) -> None:
        """Refuse to call what may read outside what has been written here, and isn't there yet."""
        for taken in self.taken_in.values():
            thing = self.state.heap[taken.ref.id]
            if _type_of(thing) is type(taken.thing) and _items(thing) == taken.before:
                continue
            raise self.refuse(
                f"{function.__name__!r}, which isn't looked into, may read {taken.path}, which is "
                "written here",
                "give it what it needs as arguments",
            )

    # At the end

    def write_back(self) -> None:
        """Write outside what is another now than it was."""
        if self.state.unreachable:
            return
        self.was_outside = self.replaced()
        self.overwritten = Aliasing(self.block, ())
        for taken in self.taken_in.values():
            self.span = taken.span
            thing = self.state.heap[taken.ref.id]
            items = _items(thing) if _type_of(thing) is type(taken.thing) else None
            if items is None or not items.keys() >= taken.before.keys():
                raise self.refuse(
                    f"how {taken.path} changes outside of the function can't be followed",
                    "make a new one, or a copy of it",
                )
            for name, value in items.items():
                if name not in taken.before or not self.same(taken.before[name], value):
                    self.write_outside(taken, name, self.known(str(name), value))
            taken.before = items

    def replaced(self) -> dict[ir.Var, str]:
        """The numbers and arrays outside where others stand now, and where they are found."""
        found: dict[ir.Var, str] = {}
        for taken in self.taken_in.values():
            items = _items(self.state.heap[taken.ref.id])
            for name, value in taken.before.items():
                if name in items and not self.same(value, items[name]):
                    called = str(Path(_way(taken.thing), taken.path, name))
                    found.update(dict.fromkeys(_numbers(value), called))
        return found

    def write_outside(self, taken: Taken, name: Any, value: Value) -> None:
        function: Any = put_outside
        if isinstance(taken.thing, list) and name not in taken.before:
            function = list.append
        elif not isinstance(taken.thing, (list, dict)):
            plain: Any = type(taken.thing).__setattr__ is _PLAIN
            function = builtins.setattr if plain else _PLAIN
        holder, item = self.outside(taken.ref), self.entry(value, 1)
        assert holder is not None
        self.check_kept_key(name)
        operands = (holder, item) if function is list.append else (holder, ir.Const(name), item)
        self.act(function, *operands)

    def outside(self, ref: Ref) -> ir.Operand | None:
        """The variable that holds what is found outside, as it is; None for what isn't."""
        taken = next((t for t in self.taken_in.values() if t.ref == ref), None)
        if taken is not None and self.on_free is not None:
            return self.operand(self.on_free(taken.path, taken.thing))
        if ref.id in self.holders:
            return self.holders[ref.id]
        path = next((path for path, known in self.lifted.items() if known == ref), None)
        if path is not None and self.on_free is not None:
            return self.operand(self.on_free(path, path.read()))
        return None

    def entry(self, value: Value, holders: int = 0) -> ir.Operand:
        if isinstance(value, ir.Var) and self.overwritten is not None:
            if isinstance(value.kind, Array) and self.overwritten.is_written(value):
                return self.emit(np.copy, (value,), name=value.name)
        if isinstance(value, Journal):
            return value.var
        if isinstance(value, ir.Var) and value.kind == Opaque(str):
            return value
        if isinstance(value, Ref):
            thing = self.state.heap[value.id]
            found = self.outside(value)
            listed = thing.var if isinstance(thing, ListObject) else None
            if found is not None and listed is None:
                return found
            if found is None and listed is not None and self.overwritten is not None:
                if _is_plain(listed.kind) and not self.has_deques:
                    return self.list_outside(value, listed)
            if self.overwritten is not None:
                shared = self.shared_outside(value)
                if shared is not None:
                    return shared
        return super().entry(value, holders)

    def shared_outside(self, ref: Ref) -> ir.Var | None:
        """One new list or dict for all that hold it at the end, if they all are outside."""
        if ref.id not in self.lists_outside:
            held = (v for t in self.taken_in.values() for v in held_by(self.state.heap[t.ref.id]))
            count = references(self.state, ref)
            if count == 1 or sum(v == ref for v in held) < count:
                return None
            made = super().entry(ref, count)
            if not isinstance(made, ir.Var):
                made = self.emit(list, (made,), inferred=Inferred(Opaque(list)), effect=True)
            self.lists_outside[ref.id] = made
        return self.lists_outside[ref.id]

    def list_outside(self, ref: Ref, var: ir.Var) -> ir.Var:
        """A list for outside like one of the function's, out of which the reverse sweep takes."""
        if ref.id not in self.lists_outside:
            inferred = Inferred(Opaque(list))
            self.lists_outside[ref.id] = self.emit(
                runtime.copied_items, (var,), inferred=inferred, effect=True
            )
        return self.lists_outside[ref.id]


def _is_plain(kind: Any) -> bool:
    """Whether values of a kind are numbers, arrays, or tuples and lists of them."""
    if isinstance(kind, ListOf):
        return _is_plain(kind.item)
    if isinstance(kind, tuple):
        return not isinstance(kind, Fields) and all(map(_is_plain, kind))
    return isinstance(kind, (Scalar, Array))


def _fits(thing: Any) -> bool:
    """Whether a thing can be taken in: all of it is lowered, for each length of a list anew."""
    if isinstance(thing, list):
        return type(thing) is list and len(thing) <= LONGEST
    if isinstance(thing, dict):
        return type(thing) is dict and len(thing) <= 10 * LONGEST
    cls = type(thing)
    plain: Any = cls.__getattribute__
    followed = cls.__setattr__ is _PLAIN or isinstance(cls.__setattr__, types.FunctionType)
    return is_record(thing) and plain is object.__getattribute__ and followed


def _type_of(thing: Heap) -> type | None:
    """The class of what stands on the heap; None for a list that exists at run time."""
    if isinstance(thing, ListObject):
        return thing.type if thing.var is None else None
    return thing.type


def _items(thing: Heap) -> dict[Any, Any]:
    return dict(enumerate(thing.items)) if isinstance(thing, ListObject) else dict(thing.items)


def _members(thing: Any) -> Any:
    return thing if isinstance(thing, (list, dict)) else attributes(thing)


def _numbers(value: Value) -> list[ir.Var]:
    """The numbers and arrays that a value is, or a tuple holds."""
    if isinstance(value, Tuple):
        return [v for item in value.items for v in _numbers(item)]
    return [value] if isinstance(value, ir.Var) else []


def _way(thing: Any) -> str:
    """How what a thing holds is found in it."""
    return "item" if _members(thing) is thing else "attribute"


def _stand_in(taken: Taken, absent: dict[Any, Any]) -> Heap:
    if isinstance(taken.thing, list):
        return ListObject(tuple(taken.before.values()))
    items = {**taken.before, **absent}
    if isinstance(taken.thing, dict):
        return DictObject(items)
    return Instance(type(taken.thing), items)
