"""What a function demands of shapes stays demanded, where its gradient needs no such product.

`np.sum(a + b)` has ones as its gradient, whatever the lengths of `a` and `b`; yet the function
raises where they don't go together, and so must its gradient. Where kinds don't prove that the
operands of a call fit, a statement that does nothing else than to check them stands beside it; so
does one beside `math.log(x)`, which raises where x isn't positive, unlike its gradient 1 / x. It
goes again if the call itself is still there when the gradient has been simplified.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import ir
from ..analysis.inference import fits, infer
from ..emit import runtime
from ..kinds import Array, Dimension, ListOf, Opaque, Scalar, TupleOf
from ..rules.registry import hashable, raising
from .elementwise import is_elementwise

STORES = frozenset({operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow})
SPELLINGS = {operator.matmul: np.matmul}
Checks = dict[ir.Var, ir.Assign]


def demand(function: ir.Function, checks: Checks) -> None:
    """Insert the checks, in place, and note by what each returns the call that it is for.

    Only the program's own calls demand something, not those of an inner gradient's reverse sweep.
    """
    checked = {call.target for call in checks.values()}
    for block in _blocks(function.block):
        statements: list[ir.Statement] = []
        for s in block.statements:
            if isinstance(s, ir.Assign) and _is_own(s) and s.target not in checked:
                added = list(_check(s))
                checks.update((check.target, s) for check in added if check.effect)
                statements += added
            statements.append(s)
        block.statements = statements


def dismiss(function: ir.Function, checks: Checks) -> None:
    """Remove the checks of calls that are still made, in place."""
    targets = {t for s in ir.walk(function.block) for t in ir.targets(s)}
    for block in _blocks(function.block):
        made = {
            (id(s.function), s.args) for s in block.statements
            if isinstance(s, ir.Assign) and s.target not in checks
            and all(isinstance(a, ir.Var) for a in s.args)
        }  # fmt: skip
        kept = []
        for s in block.statements:
            call = checks.get(s.target) if isinstance(s, ir.Assign) else None
            if call is None or not (
                call.target in targets or (id(call.function), call.args) in made
            ):
                kept.append(s)
        block.statements = kept


def _is_own(s: ir.Assign) -> bool:
    return not s.effect and not isinstance(s.span, ir.Origin)


def _blocks(block: ir.Block) -> list[ir.Block]:
    inner = [b for s in block.statements for b in ir.blocks(s)]
    return [block, *(found for b in inner for found in _blocks(b))]


def _check(s: ir.Assign) -> Iterator[ir.Assign]:
    """Statements that raise where a call's operands don't fit; none if they surely do."""
    if hashable(s.function) and s.function in raising:
        yield ir.Assign(
            ir.Var("_", Opaque(None)), s.function, s.args, s.kwargs, s.span, effect=True
        )
        return
    arrays = [a for a in s.args if isinstance(a, ir.Var) and isinstance(a.kind, Array)]
    others = any(isinstance(v.kind, (ListOf, TupleOf)) for a in s.args for v in ir.variables(a))
    if isinstance(s.function, ir.Unit) or not arrays or others:
        return
    args: tuple[ir.Operand, ...] = tuple(arrays)
    kwargs: Any = ()
    if s.function in STORES:
        function: Any = runtime.check_stored
        if _within(_shape(s.args[1]), _shape(s.args[0])):
            return
    elif s.function is operator.setitem:
        function, (x, key, value) = runtime.check_stored, s.args
        if any(isinstance(v.kind, Array) for v in ir.variables(key)):
            return
        found = infer(operator.getitem, (x, key), {})
        if _within(_shape(value), found.kind.shape if isinstance(found.kind, Array) else None):
            return
        region = ir.Var("region", found.kind)
        args = (region, value)
        yield ir.Assign(region, operator.getitem, (x, key), (), s.span, found.views, found.certain)
    elif s.writes or s.function is operator.getitem:
        return
    elif is_elementwise(s.function):
        function = runtime.check_broadcast
        if _broadcast(list(map(_shape, s.args))):
            return
    elif fits(s.function, s.args, dict(s.kwargs)):
        return
    else:
        function = runtime.check_call
        args = (ir.Const(SPELLINGS.get(s.function, s.function)), *s.args)
        kwargs = s.kwargs
    yield ir.Assign(ir.Var("_", Opaque(None)), function, args, kwargs, s.span, effect=True)


def _shape(operand: ir.Operand) -> tuple[Dimension, ...] | None:
    kind = operand.kind if isinstance(operand, ir.Var) else None
    if isinstance(kind, (Array, Scalar)):
        return kind.shape
    return np.shape(operand.value) if isinstance(operand, ir.Const) else None


def _broadcast(shapes: list[tuple[Dimension, ...] | None]) -> bool:
    """Whether arrays of such shapes surely broadcast against each other, or nothing is known."""
    if any(shape is None for shape in shapes):
        return True
    known = [shape for shape in shapes if shape]
    rank = max(map(len, known), default=0)
    for axis in range(1, rank + 1):
        lengths = {shape[-axis] for shape in known if len(shape) >= axis}
        if len(lengths - {1}) > 1:
            return False
    return True


def _within(value: tuple[Dimension, ...] | None, target: tuple[Dimension, ...] | None) -> bool:
    """Whether a value surely broadcasts to a shape, or nothing is known."""
    if value is None or target is None:
        return True
    pairs = zip(value[::-1], target[::-1], strict=False)
    return len(value) <= len(target) and all(m in (1, n) for m, n in pairs)
