"""Destinations: what is computed to be stored in a part of an array is computed there.

`t = a + b; x[k] = t` becomes `np.add(a, b, out=x[k])`, which saves an array and a pass over it. So
does a chain of calls of which each needs the one before alone: `t = a + b; t = t / 3; x[k] = t`
becomes `t = x[k]; np.add(a, b, out=t); t /= 3`. Nothing on the way may look at the array. In the
user's own code, which reads best as it is written, a chain is taken apart only where memory is
scarce (`footprint.py`).
"""

from __future__ import annotations

import operator

import numpy as np

from .. import ir
from ..analysis.aliasing import Aliasing
from ..analysis.elementwise import COMMUTATIVE, IN_PLACE, is_elementwise, makes_fresh
from ..analysis.inference import infer
from ..frontend.naming import temporary_name
from ..kinds import Array, Opaque
from .footprint import scarce
from .reuse import negated, takes_out, written_over

ALLOCATIONS = (np.zeros, np.zeros_like, np.empty, np.empty_like)


def compute_in_place(function: ir.Function) -> None:
    """Compute what is stored in a part of an array where it is stored, in place."""
    start = ir.sweep_start(function)
    if start is None:
        return
    director = _Director(function)
    statements = function.block.statements
    for position, s in enumerate(statements):
        for inner in ir.walk(ir.Block([s])):
            for block in ir.blocks(inner):
                director.block(block, position < start)
    forward = ir.Block(statements[: start - 1])
    director.block(forward, True)
    reverse = ir.Block(statements[start:])
    director.block(reverse, False)
    statements[:] = [*forward.statements, statements[start - 1], *reverse.statements]
    ir.rename(function.block, director.renamed)


class _Director:
    def __init__(self, function: ir.Function) -> None:
        self.aliasing = Aliasing(function.block, function.together)
        self.counts = ir.use_counts(function.block)
        self.scarce = scarce(function)
        self.renamed = ir.Renaming()

    def block(self, block: ir.Block, forward: bool) -> None:
        for s in list(block.statements):
            if isinstance(s, ir.Assign) and s.function is operator.setitem:
                self.store(block.statements, s, forward)

    def store(self, statements: list[ir.Statement], s: ir.Assign, forward: bool) -> None:
        """Compute what a statement stores in its place, as far back as it can be."""
        x, key, value = s.args
        part = _part(x, key, value)
        position = next(i for i, other in enumerate(statements) if other is s)
        if part is None:
            return
        assert isinstance(x, ir.Var)
        needed = {x, *ir.variables(key)}
        chain: list[ir.Assign] = []
        made = self.maker(statements[:position], value, value)
        while made is not None:
            start = next(i for i, other in enumerate(statements) if other is made)
            between = statements[start:position]
            zeros = next((o for o in between if x in ir.targets(o)), None)
            if zeros is not None and self.moved(statements, zeros, start):
                between = statements[start + 1 : position + 1]
            overlaps = self.aliasing.mentions(made, self.aliasing.find(x))
            if overlaps and not chain and is_elementwise(made.function):
                between = [o for o in between if o is not made]  # NumPy sees to that
            if any(
                self.aliasing.mentions(o, self.aliasing.find(x))
                or not needed.isdisjoint(ir.targets(o))
                for o in between
            ):
                break
            chain.insert(0, made)
            if overlaps:
                break
            position = next(i for i, other in enumerate(statements) if other is made)
            makers = (self.maker(statements[:position], a, value) for a in made.args)
            made = next((m for m in makers if m is not None), None)
        if forward and not any(made.target in self.scarce for made in chain):
            chain = chain[-1:]
        if chain:
            self.direct(statements, s, part, chain)

    def maker(
        self, statements: list[ir.Statement], operand: ir.Operand, value: ir.Operand
    ) -> ir.Assign | None:
        """The call that makes an operand just like the value, and for this use alone."""
        if not isinstance(operand, ir.Var) or self.counts.get(operand) != 1:
            return None
        for s in reversed(statements):
            if isinstance(s, ir.Assign) and s.target is operand:
                alike = operand.kind == value.kind  # type: ignore[union-attr]
                return s if alike and not s.kwargs and makes_fresh(s) and takes_out(s) else None
        return None

    def moved(self, statements: list[ir.Statement], zeros: ir.Statement, start: int) -> bool:
        """Move the statement that makes an array of zeros up to a position, if that can be."""
        if not isinstance(zeros, ir.Assign) or zeros.function not in ALLOCATIONS:
            return False
        position = next(i for i, other in enumerate(statements) if other is zeros)
        made = {v for o in statements[start:position] for v in ir.targets(o)}
        if not made.isdisjoint(ir.uses(zeros)):
            return False
        statements.insert(start, statements.pop(position))
        return True

    def direct(
        self, statements: list[ir.Statement], s: ir.Assign, part: ir.Var, chain: list[ir.Assign]
    ) -> None:
        """Let a chain of calls compute in a part of an array."""
        view = ir.Assign(part, operator.getitem, s.args[:2], (), s.span, views=s.writes)
        whole = isinstance(s.args[1], ir.Const) and s.args[1].value in (slice(None), Ellipsis)
        if whole and part.kind == s.writes[0].kind:
            part = s.writes[0]
        self.aliasing.union(part, s.writes[0])
        start = next(i for i, other in enumerate(statements) if other is chain[0])
        for number, made in enumerate(chain):
            position = next(i for i, other in enumerate(statements) if other is made)
            before = chain[number - 1].target if number else None
            statements[position] = _written_in(made, part, before)
            self.renamed[made.target] = part
        statements[:] = [o for o in statements if o is not s]
        if part is view.target:
            statements.insert(start, view)


def _part(x: ir.Operand, key: ir.Operand, value: ir.Operand) -> ir.Var | None:
    """A variable for a part of an array that is a view, and just like the value."""
    if not isinstance(x, ir.Var) or not isinstance(x.kind, Array) or not x.assured:
        return None
    if not isinstance(value, ir.Var) or not isinstance(value.kind, Array) or not value.kind.shape:
        return None
    found = infer(operator.getitem, (x, key), {})
    if found.kind != value.kind or found.views != (x,) or not found.certain:
        return None
    if value.kind.dtype is None or value.kind.dtype.kind not in "fc":
        return None
    name = temporary_name(operator.getitem, (x, key), x.name, value.kind)
    return ir.Var(name, value.kind)


def _written_in(s: ir.Assign, part: ir.Var, before: ir.Var | None) -> ir.Assign:
    """A call that writes its result into a part of an array, where an operand of it may be."""
    nothing = ir.Var("_", Opaque(None))
    args = tuple(part if a is before and before is not None else a for a in s.args)
    function, args = negated(s.function, args)
    if before is not None and function in IN_PLACE:
        if args[0] is not part and function in COMMUTATIVE:
            args = args[::-1]
        if args[0] is part:
            return ir.Assign(nothing, IN_PLACE[function], args, (), s.span, writes=(part,))
    function, args = written_over(function, args)
    return ir.Assign(nothing, function, args, (("out", part),), s.span, writes=(part,))
