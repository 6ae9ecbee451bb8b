"""Observed gradients: each named variable, and its adjoint, is shown to whoever listens.

After each statement that defines or writes a named variable, the forward sweep shows its value;
where the reverse sweep comes to that place, it shows the adjoint, which then is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from .. import ir, runtime
from ..errors import Span
from ..kinds import Array, Opaque, Scalar
from .reverse import Adjoint

Listener = Callable[["Site", bool, Any], None]
listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@dataclass(frozen=True)
class Site:
    """A place in the program where a variable gets a value.

    Attributes:
        number: the sites are numbered in program order.
        name: the variable, as the user calls it.
        span: where it gets the value; None for an argument.
        variable: the number of the variable in the IR.
    """

    number: int
    name: str
    span: Span | None
    variable: int = -1


def observe(site: Site, value: Any) -> None:
    """Show the value of a variable."""
    listen = listener.get()
    if listen is not None:
        listen(site, False, value)


def observe_adjoint(site: Site, value: Any) -> None:
    """Show the adjoint of a variable."""
    listen = listener.get()
    if listen is not None:
        listen(site, True, value)


def instrument(
    function: ir.Function,
    inputs: Iterable[ir.Var],
    outputs: Iterable[ir.Var],
    everything: bool = False,
) -> None:
    """Have a function show its variables, in place.

    `inputs` are shown whoever named them; so are `outputs`, as the result; and with `everything`
    all arrays and numbers, those that are no floats too.
    """
    names = {v: "result" for v in outputs if not v.user} | {v: v.name for v in inputs}
    bases = _bases(function)
    copied = {
        s.args[0] for s in function.block.statements
        if isinstance(s, ir.Assign) and s.function is runtime.own_copy
    }  # fmt: skip
    count = 0

    def shown(v: ir.Var, span: Span | None) -> Iterator[ir.Statement]:
        nonlocal count
        if isinstance(v.kind, (Array, Scalar)) and (v.user or v in names or everything):
            dtype = v.kind.dtype
            wanted = everything or dtype is None or dtype.kind in "fc"
            if wanted and v.assured:
                site = Site(count, names.get(v, v.name), span, v.id)
                count += 1
                target = ir.Var("_", Opaque(None))
                yield ir.Assign(target, observe, (ir.Const(site), v), (), span, effect=True)

    def visit(block: ir.Block) -> None:
        statements: list[ir.Statement] = []
        for s in block.statements:
            statements.append(s)
            if isinstance(s, ir.Assign):
                statements += shown(s.target, s.span)
                for v in dict.fromkeys(bases.get(w, w) for w in s.writes):
                    statements += shown(v, s.span)
            for inner in ir.blocks(s):
                visit(inner)
        block.statements[:] = statements

    params = [v for v in (function.params if everything else inputs) if v in function.params]
    start = [s for v in params if v not in copied for s in shown(v, None)]
    visit(function.block)
    function.block.statements[:0] = start


def _bases(function: ir.Function) -> dict[ir.Var, ir.Var]:
    """The named array that a temporary is a view of."""
    found: dict[ir.Var, ir.Var] = {}
    for s in ir.walk(function.block):
        if isinstance(s, ir.Assign) and s.views and not s.target.user:
            found[s.target] = found.get(s.views[0], s.views[0])
    return found


class Observing(Adjoint):
    """Reverse mode that shows adjoints as well."""

    def _reverse_assign(self, s: ir.Assign) -> None:
        if s.function is not observe:
            super()._reverse_assign(s)
            return
        site, var = s.args
        assert isinstance(var, ir.Var)
        if not self.activity.active(var):
            return
        adjoint = self.shadows.get(var) or self.buffers.get(var) or self.adjoints.get(var)
        self.act(observe_adjoint, site, ir.Const(0.0) if adjoint is None else self.operand(adjoint))
