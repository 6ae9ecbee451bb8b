"""Powers of Python's own numbers, which may be complex: `(-8.0) ** 0.5` is.

Their kind says that they are real, as they are for all other numbers. The rules go by it, and so
does the answer to `isinstance`; so where a power may be another, it is checked as the program runs.

A power of ints may be a float, `2 ** (n - 6)` is for small n. Arithmetic doesn't mind; but in a
program with such powers, what is said to be an int may not be one, and whether it is must be asked
as the program runs.
"""

from __future__ import annotations

import builtins
import math
import operator
from typing import Any

import numpy as np

from .. import ir, runtime
from ..kinds import Kind, Scalar, least

REAL = ("f", "i", "u", "b")
POWERS = (operator.pow, operator.ipow, builtins.pow)
NOT_NEGATIVE: tuple[Any, ...] = (
    *(operator.abs, builtins.abs, builtins.len, np.abs, np.square, np.exp, np.sqrt, np.hypot),
    *(math.fabs, math.exp, math.sqrt, math.hypot),
)


def check_power(low: Any, function: Any, operands: tuple[ir.Operand, ...]) -> None:
    """Have a power that the program takes checked, where it may be complex and isn't said to be."""
    if not any(function is p for p in POWERS) or len(operands) != 2:
        return
    base, exponent = operands
    if _letter(base) in ("i", "b") and _letter(exponent) == "i" and isinstance(exponent, ir.Var):
        low.about_ints.add("powers")
        if low.loop_depth and "asked" in low.about_ints:  # of what it was in the iteration before
            low.act(runtime.check_whole_power, base, exponent)
    if isinstance(low.span, ir.Origin) or _letter(base) not in REAL or _letter(exponent) != "f":
        return
    whole = isinstance(exponent, ir.Const) and exponent.value % 1 == 0
    if not whole and not _is_not_negative(base, low.block.statements):
        low.act(runtime.check_power, base, exponent)


def may_be_power(low: Any, kind: Kind) -> bool:
    """Whether what is said to be an int may be a power that is a float; it is asked what it is."""
    if not isinstance(kind, Scalar) or kind.dtype.kind != "i" or kind.python is False:
        return False
    if low.loop_depth:
        low.about_ints.add("asked")
    return "powers" in low.about_ints


def may_be_negative(kind: Kind) -> bool:
    """Whether an int isn't known to be a length.

    >>> may_be_negative(Scalar(np.dtype(int), True, 2)), may_be_negative(Scalar(np.dtype(int)))
    (False, True)
    """
    size = kind.size if isinstance(kind, Scalar) else None
    shortest = None if size is None else least(size)
    return shortest is None or shortest < 0


def _is_not_negative(operand: ir.Operand, before: list[ir.Statement], depth: int = 4) -> bool:
    """Whether the calls that made a number show that it isn't negative (it may be NaN)."""
    if isinstance(operand, ir.Const):
        return not operand.value < 0
    if isinstance(operand, ir.Var) and getattr(operand.kind, "size", None) is not None:
        return True  # the length of something
    made = (s for s in before if isinstance(s, ir.Assign) and s.target is operand)
    s = next(made, None)
    if s is None or not depth:
        return False
    if any(s.function is f for f in NOT_NEGATIVE):
        return True
    if s.function is operator.mul and s.args[0] is s.args[1]:
        return True
    if s.function is operator.pow and isinstance(s.args[1], ir.Const) and s.args[1].value == 2:
        return True
    if s.function is operator.pow:
        return _is_not_negative(s.args[0], before, depth - 1)
    if s.function in (operator.add, operator.mul, operator.truediv):
        return all(_is_not_negative(o, before, depth - 1) for o in s.args)
    return False


def _letter(operand: ir.Operand) -> str | None:
    """The letter of the dtype of what may be a number of Python's own."""
    if isinstance(operand, ir.Const):
        value = operand.value
        return np.dtype(type(value)).kind if isinstance(value, (int, float, complex)) else None
    kind = getattr(operand, "kind", None)
    return kind.dtype.kind if isinstance(kind, Scalar) and kind.python is not False else None
