"""Names that have no value on some paths: reading one raises, as in Python.

The generated code leaves such a variable unassigned, so that what it computes of it raises by
itself. A gradient may need none of it (`y + x` has ones as its gradient), and what a function or
an object is, is known without reading anything. So each read of a name that may be unbound is
noted. If nothing is computed of it in the end (`transform.conformity`), the function is lowered
again, in which each name of that spelling has a flag beside it in its frame, a variable as others
are: whether it is bound. Reading the name then checks the flag.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

from .. import ir, runtime
from ..errors import Span
from .item_counts import runs_at_least_once
from .journals import Journals
from .predicates import FALSE, TRUE
from .restarts import NeedStatic
from .structure import BOUND, Poison, flagged, nothing, object_items, parts
from .values import Ref, Value


@dataclass(frozen=True, eq=False, slots=True)
class Read:
    """A read of a name that may be unbound.

    `var` is the variable that is unassigned if it is, `block` where the read stands.
    """

    name: str
    var: ir.Var
    block: ir.Block
    span: Span | None

    @property
    def site(self) -> Any:
        return flagged(self.name)


class Boundness(Journals):
    """Keeps flags of names, and looks at them where the names are read."""

    def has_flag(self, name: str) -> bool:
        return flagged(name) in self.known_sites

    def set_flag(self, name: str, number: int, flag: ir.Const) -> None:
        """Note that a name of a frame is bound, or is so no longer."""
        if self.has_flag(name):
            self.state.frames[number][BOUND + name] = flag

    def leave_unbound(self, name: str) -> None:
        """Take a name's value away; its variable still has the old one."""
        number = self.current
        self.state.frames[number][name] = ir.UNDEFINED
        self.set_flag(name, number, FALSE)
        self.untold.add((number, name))

    def check_bound(self, name: str, value: Value, number: int) -> None:
        """See to it that reading a name of a frame raises on the paths on which it is unbound."""
        if self.fixed_span or name.startswith("%") or isinstance(value, Poison):
            return
        var = self.unassigned(value)
        untold = (number, name) in self.untold
        if var is None and (not untold or isinstance(value, ir.Var)):
            return
        caught = self.catcher(UnboundLocalError) is not None
        if self.has_flag(name):
            flag = self.state.frames[number].get(BOUND + name, FALSE)
            if isinstance(flag, ir.Var) and caught:
                said = ir.Const(runtime.UNBOUND.format(name))
                self.branch(flag, nothing, lambda: self.throw_new(UnboundLocalError, [said]))
            elif isinstance(flag, ir.Var):
                self.act(runtime.check_bound, flag, ir.Const(name))
        elif var is None or untold or self.making or caught:
            message = f"whether {name!r} has a value isn't known when compiling"
            alike = {name, *self.half_bound_of(number)}
            raise NeedStatic(frozenset(map(flagged, alike)), message, self.span)
        else:
            self.reads.append(Read(name, var, self.block, self.span))

    def half_bound(self, number: int, name: Any, value: Value) -> None:
        """Note that a name of a frame has this value on some paths to here, and none on others."""
        if isinstance(name, str) and name[0] != "%" and self.unassigned(value) is None:
            self.untold.add((number, name))

    def half_bound_of(self, number: int) -> set[str]:
        """The names of a frame that may be unbound here."""
        held = self.state.frames[number].items()
        partial = {n for n, v in held if n[0] != "%" and self.unassigned(v) is not None}
        return partial | {name for frame, name in self.untold if frame == number}

    def ran(self, bounds: tuple[ir.Operand, ir.Operand, ir.Operand] | None) -> Value | None:
        """Whether a loop has run at all; None if nothing simple tells."""
        if runs_at_least_once(bounds):
            return TRUE
        assert bounds is not None
        start, stop, step = bounds
        if not isinstance(step, ir.Const):
            return None
        return self.emit(operator.lt if step.value > 0 else operator.gt, (start, stop))

    def unassigned(self, value: Any) -> ir.Var | None:
        """A variable of a value that has none if the value is unbound, if one is found."""
        if isinstance(value, ir.Var):
            return value if value.partial else None
        if isinstance(value, Ref):
            thing = self.state.heap.get(value.id)
            var = getattr(thing, "var", None)
            held = object_items(thing) if thing is not None and var is None else [var]
        else:
            held = parts(value)
        return next((v for v in held if isinstance(v, ir.Var) and v.partial), None)
