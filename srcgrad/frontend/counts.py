"""Counts and flags outside of the function that it writes: `calls += 1` of a global, or of `self`.

An int, a bool or a text, the name of a mode say, has no derivative, so that the generated code may
write it where the function does. It is read where the function reads it, too, not beforehand:
`known_sites` says of which this is known, for the function is lowered once more when the first
write is met. Each is an attribute of some object: of a module, a cell, a class, or any other. A
function may get its first one here.

What a flag (a text too) is at a place is known all the same where it is what it was at first, or a
constant that was written, however the program got there (`with no_grad():`): the state of the
lowering says it.
"""

from __future__ import annotations

import builtins
import sys
import types
from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.inference import Inferred
from ..kinds import BOOL, Opaque, Scalar, int_kind
from ..packages import told
from .loops import Loops
from .restarts import NeedStatic
from .values import Path, Place, State, Value

WRITTEN = "%written"  # of known sites: the attributes of outer objects that are written
VARYING = "%varying"  # of known sites: the flags of which only the run knows what they are where
FIRST = "%first"  # of known sites: those that aren't there yet, and the type of what is written
FLAGS: tuple[type, ...] = (bool, str)  # of which what was written is remembered
WRITABLE: tuple[type, ...] = (int, *FLAGS)
CONTENTS = "cell_contents"
READ_NOW = object.__getattribute__  # not getattr, which passes take for a question of a shape


class Counts(Loops):
    """Reads and writes the counts and flags of objects outside."""

    def written_outside(self, path: Path | None, value: Any) -> Path | None:
        """Where an outer value stands, if it is a count or flag that the function writes."""
        if path is None or type(value) not in WRITABLE:
            return None
        place = standing(path)
        places = (place, None if place is None else of_class(place))
        return next((p for p in places if p is not None and (WRITTEN, p) in self.known_sites), None)

    def read_count(self, place: Path, path: Path, found: Any) -> Value:
        """A count or flag that the function writes, as it is when the program gets here."""
        if type(found) in FLAGS and not self.making and (VARYING, place) not in self.known_sites:
            flag = self.state.flags.get(place, found)
            if flag is not None:
                self.guards[path] = found
                return ir.Const(flag)
        self.guards[Path("attribute", path, "__class__")] = type(found)
        return self.read_now(place, path, type(found))

    def check_flags(self, a: State, b: State) -> None:
        """Have flags read when the program runs that aren't the same in two states that meet."""
        if a.unreachable or b.unreachable:
            return
        for place in {**a.flags, **b.flags}:
            found = stored(place.container, place.name)
            if a.flags.get(place, found) != b.flags.get(place, found):
                self.need_at_run_time(place)

    def need_at_run_time(self, place: Path) -> None:
        site = (VARYING, place)
        if site not in self.known_sites:
            raise NeedStatic(frozenset([site]), f"{place.name} is written here", self.span)

    def read_first(self, path: Path) -> Value | None:
        """What isn't there yet, but is written before it is read, if the function gets here."""
        place, cls = standing(path), self.first(path)
        if place is None or cls is None:
            return None
        if self.catcher(AttributeError) is not None:
            self.unasked(path)
        return self.read_now(place, path, cls)

    def unasked(self, path: Path) -> None:
        """Refuse a program that depends on whether a function has got a count or flag by now."""
        if self.first(path) is not None:
            raise self.refuse(
                f"whether the function has got .{path.name} by now isn't known when compiling",
                "set it before the function is called",
            )

    def first(self, path: Path) -> type | None:
        """The type of a count or flag of a function that it gets while the program runs."""
        place = standing(path)
        return next((c for c in WRITABLE if (FIRST, place, c) in self.known_sites), None)

    def read_now(self, place: Path, path: Path, cls: type) -> Value:
        operands = (self.outer_object(place.container, path), ir.Const(place.name))
        name = str(path.name)
        return self.emit(READ_NOW, operands, inferred=_kind(cls), name=name, effect=True)

    def write_name(self, path: Path, value: Value) -> bool:
        """Write a count or flag that is a name of a module or function.

        What a function that isn't followed returned may be one: when the program runs, it is
        checked that its type is that of what stands there.
        """
        place = standing(path)
        if place is None or not isinstance(value, ir.Var) or value.kind != Opaque(None):
            return self.write_count(path, value)
        cls = type(stored(place.container, place.name))
        if cls not in WRITABLE:
            return False
        operands, inferred = (value, ir.Const(cls)), _kind(cls)
        checked = self.emit(
            runtime.of_type, operands, inferred=inferred, name=value.name, effect=True
        )
        return self.write_count(path, checked)

    def write_count(self, path: Path, value: Value) -> bool:
        """Write a count or flag outside when the program runs, if that is what stands there."""
        place = standing(path)
        if place is None or self.on_free is None:
            return False
        thing, name = place.container, place.name
        written = self.type_written(value)
        if written is None:
            return False
        sites: frozenset[Any] = frozenset([(WRITTEN, place)])
        cls: type | None = type(stored(thing, name))
        if isinstance(thing, types.FunctionType) and not hasattr(thing, name):
            cls = written
            sites |= {(FIRST, place, cls)}
        if cls is not written:
            return False
        if self.first(path) not in (None, cls):
            return False  # an int here, a bool there
        if not sites <= self.known_sites:
            raise NeedStatic(sites, f"{name} is written here", self.span)
        if cls in FLAGS:
            if self.making:
                self.need_at_run_time(place)
            self.state.flags[place] = value.value if isinstance(value, ir.Const) else None
        operands = (self.outer_object(thing, path), ir.Const(name), self.operand(value))
        self.act(builtins.setattr, *operands)
        return True

    def type_written(self, value: Value) -> type | None:
        """Which of the types that may be written outside a value is surely of."""
        if isinstance(value, ir.Const):
            return type(value.value) if type(value.value) in WRITABLE else None
        kind = value.kind if isinstance(value, ir.Var) else None
        if isinstance(kind, Opaque):
            return str if kind.type is str else None
        if not isinstance(kind, Scalar) or kind.python is not True:
            return None
        return next((c for c in (int, bool) if kind.dtype == np.dtype(c)), None)

    def outer_object(self, thing: Any, path: Path) -> ir.Operand:
        """The variable that holds the object in which an outer value stands."""
        assert self.on_free is not None
        holder = path.container
        if isinstance(thing, types.CellType):
            holder = Path("object", thing, path.name)
        elif isinstance(thing, types.ModuleType):
            holder = Path("object", thing, thing.__name__.rpartition(".")[2])
        elif isinstance(thing, type) or not isinstance(holder, Path):
            holder = Path("object", thing, told(thing, "__name__", "self"))
        return self.operand(self.on_free(holder, thing))

    def outer_holder(self, holder: Place, name: str) -> Path:
        """The path of an attribute of an object from outside."""
        return Path("attribute", holder.path or holder.value, name)


def _kind(cls: type) -> Inferred:
    return Inferred(int_kind() if cls is int else BOOL if cls is bool else Opaque(str))


def standing(path: Path) -> Path | None:
    """Of which object an outer value is an attribute, whatever the path that leads to it.

    >>> standing(Path("attribute", Path("item", [Path], 0), "read"))
    <attribute self.read>
    >>> standing(Path("item", [1, 2], 0))
    """
    container = path.container
    if path.how == "global":
        module = sys.modules.get(container.get("__name__"))
        same = module is not None and vars(module) is container
        return Path("attribute", module, path.name) if same else None
    if path.how == "cell":
        return Path("attribute", container, CONTENTS)
    if path.how != "attribute":
        return None
    thing = container.read() if isinstance(container, Path) else container
    return Path("attribute", thing, path.name)


def of_class(place: Path) -> Path | None:
    """Where an attribute that an object doesn't have of itself stands: in a class of its."""
    thing, name = place.container, place.name
    if isinstance(thing, type) or name in told(thing, "__dict__", ()):
        return None
    owner = next((c for c in type(thing).__mro__ if name in vars(c)), None)
    return None if owner is None else Path("attribute", owner, name)


def stored(thing: Any, name: str) -> Any:
    """The attribute that an object has of itself, which nothing but the object has a say in."""
    if isinstance(thing, types.CellType):
        return thing.cell_contents
    cls = type(thing)
    meta = type if isinstance(thing, type) else object
    module = isinstance(thing, types.ModuleType)
    own: Any = (cls.__setattr__, cls.__getattribute__)
    plain = own == (meta.__setattr__, meta.__getattribute__)
    if not (module or plain) or hasattr(getattr(cls, name, None), "__set__"):
        return None
    return told(thing, "__dict__", {}).get(name)
