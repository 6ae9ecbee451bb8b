"""What the rewriting rules ask of operands, and how they change a call."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ir
from ..analysis.elementwise import elementwise_kind, number_kind, promoted, same_kind
from ..kinds import Array, Scalar, kind_of, may_be_truth

if TYPE_CHECKING:
    from .simplify import Simplifier

Rule = Callable[["Simplifier", ir.Assign], ir.Operand | None]

FOLDABLE: frozenset[Any] = frozenset(
    {operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pow,
     operator.floordiv, operator.mod, operator.lt, operator.le, operator.gt, operator.ge,
     operator.eq, operator.ne, operator.not_, builtins.abs, builtins.float, builtins.int,
     builtins.bool}
)  # fmt: skip


def fold(s: ir.Assign) -> ir.Const | None:
    """The value of a call of numbers that are known."""
    if s.kwargs or not s.args or not all(type(a) is ir.Const for a in s.args):
        return None
    values = [a.value for a in s.args if isinstance(a, ir.Const)]
    if not all(type(v) in (int, float, bool) or isinstance(v, np.floating) for v in values):
        return None
    try:
        if s.function not in FOLDABLE:
            return None
        with np.errstate(all="raise"):
            result = s.function(*values)
    except (TypeError, ArithmeticError, ValueError):
        return None
    if isinstance(result, complex) or (isinstance(result, float) and not math.isfinite(result)):
        return None
    return ir.Const(result)


def is_number(operand: ir.Operand, *values: float) -> bool:
    """Whether an operand is a known number, one of these if any are given."""
    if not isinstance(operand, ir.Const):
        return False
    value = operand.value
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating)):
        return False
    return not values or any(float(value) == v for v in values)


def number_dtype(operand: ir.Operand) -> np.dtype[Any] | None:
    """The dtype of a number; None if it's none."""
    known = kind_of(operand.value) if isinstance(operand, ir.Const) else None
    kind = getattr(operand, "kind", None) if known is None else known
    return kind.dtype if isinstance(kind, Scalar) else None


def is_scalar(operand: ir.Operand) -> bool:
    """Whether an operand is a real number that can be a coefficient."""
    if isinstance(operand, ir.Const):
        return is_number(operand) and math.isfinite(operand.value)
    kind = operand.kind if isinstance(operand, ir.Var) else None
    return isinstance(kind, Scalar) and kind.dtype.kind == "f"


def is_array(operand: ir.Operand) -> bool:
    return isinstance(operand, ir.Var) and isinstance(operand.kind, Array)


def given_arrays(ctx: Simplifier) -> list[ir.Var]:
    """The parameters that are arrays in every run: they are there anyway, to ask for a shape."""
    return [p for p in ctx.function.params if is_array(p) and p.assured]


def is_floating(s: ir.Assign) -> bool:
    """Whether a call yields floats of known dtype and shape."""
    kind = s.target.kind
    return (
        isinstance(kind, (Array, Scalar))
        and kind.dtype is not None
        and kind.dtype.kind in "fc"
        and kind.shape is not None
        and not may_be_truth(kind)
    )


def keeps_dtype(whole: ir.Operand, part: ir.Operand) -> bool:
    """Whether a call and its operand have the same floating dtype."""
    a, b = number_kind(whole), number_kind(part)
    return (
        a is not None and b is not None and a.dtype is not None
        and a.dtype == b.dtype and a.dtype.kind in "fc"
    )  # fmt: skip


def scaled(ctx: Simplifier, operand: ir.Operand) -> tuple[ir.Operand, ir.Operand] | None:
    """(c, x) if an operand is `c * x`, used nowhere else, with c a scalar and x an array.

    x may be a scalar too if c is a constant.
    """
    s = ctx.temporary(operand, operator.mul)
    if s is None or not is_scalar(s.args[0]) or not keeps_dtype(operand, s.args[1]):
        return None
    if is_array(s.args[1]) or (is_number(s.args[0]) and isinstance(s.args[1], ir.Var)):
        return s.args[0], s.args[1]
    return None


def negated(ctx: Simplifier, operand: ir.Operand) -> ir.Operand | None:
    """x if an operand is `-x`, used at most twice: signs that are taken over make it vanish."""
    s = ctx.definition(operand, operator.neg) or ctx.temporary(operand, operator.neg)
    if s is None or ctx.counts.get(s.target, 0) > 2 or not keeps_dtype(operand, s.args[0]):
        return None
    return s.args[0]


def choice(
    ctx: Simplifier, operand: ir.Operand
) -> tuple[ir.Operand, ir.Operand, ir.Operand] | None:
    """(test, x, y) if an operand is `np.where(test, x, y)`, used nowhere else."""
    s = ctx.temporary(operand, np.where)
    if s is None or s.kwargs or len(s.args) != 3:
        return None
    test, x, y = s.args
    return test, x, y


def combine(ctx: Simplifier, function: Any, *operands: ir.Operand) -> ir.Operand | None:
    """A new call on scalars, None if its kind isn't known."""
    if all(is_number(o) for o in operands):
        return fold(ir.Assign(ir.Var("", Scalar(np.dtype(float))), function, operands))
    kind = elementwise_kind(function, operands)
    return None if kind is None else ctx.emit(function, *operands, kind=kind, name="scale")


def rewritten(
    ctx: Simplifier,
    s: ir.Assign,
    function: Any,
    coefficient: ir.Operand,
    inner: Any,
    *operands: ir.Operand,
) -> None:
    """Make a call `function(coefficient, inner(*operands))`, if that keeps its kind."""
    kind = elementwise_kind(inner, operands)
    if kind is None:
        return
    probe = ir.Var(s.target.name, kind)
    whole = promoted((coefficient, probe))
    if kind.shape != s.target.kind.shape or whole != s.target.kind.dtype:  # type: ignore[attr-defined]
        return
    s.args = (coefficient, ctx.emit(inner, *operands, kind=kind))
    s.function = function


def negate(ctx: Simplifier, s: ir.Assign, inner: Any, *operands: ir.Operand) -> None:
    """Make a call `-inner(*operands)`, if that keeps its kind."""
    kind = elementwise_kind(inner, operands)
    if same_kind(kind, s.target.kind):
        s.args, s.function = (ctx.emit(inner, *operands, kind=kind),), operator.neg


def become(s: ir.Assign, function: Any, *operands: ir.Operand) -> None:
    """Turn a call into another that yields the same, if that keeps its kind."""
    if same_kind(elementwise_kind(function, operands), s.target.kind):
        s.function, s.args = function, operands
