"""Which results are surely positive, whatever the numbers: what they divide isn't infinite.

A rule gets the signs of the operands and, of those that are constants, their values (None of the
others), and returns that of the result. Positive is what is so by a distance that rounding leaves:
`1 + np.exp(x)`, but not `np.exp(x)`.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

UNKNOWN, NONNEGATIVE, POSITIVE = range(3)
LEAST = 1e-12  # what may be squared and be multiplied in single precision

# Functions whose derivatives are infinite at 0, or below, alone
UNBOUNDED_AT_ZERO: frozenset[Any] = frozenset(
    {np.sqrt, np.cbrt, np.hypot, np.arctan2, np.reciprocal, np.log, np.log2, np.log10, np.log1p,
     math.sqrt, math.cbrt, math.hypot, math.atan2, math.log, math.log2, math.log10, math.log1p}
)  # fmt: skip

signs: dict[Any, Callable[..., int]] = {}


def sign(*functions: Any) -> Any:
    """Decorator: register when the results of functions are surely positive, or not negative."""

    def register(rule: Callable[..., int]) -> Callable[..., int]:
        signs.update(dict.fromkeys(functions, rule))
        return rule

    return register


def sign_of(number: Any) -> int:
    """That of a constant: the least of its elements'."""
    values = np.asarray(number)
    if values.dtype.kind not in "biuf" or not values.size or not np.isfinite(values).all():
        return UNKNOWN
    least = values.min()
    return POSITIVE if least >= LEAST else NONNEGATIVE if least >= 0 else UNKNOWN


@sign(operator.add, np.add)
def add(signs, values):
    return max(signs) if min(signs) else UNKNOWN


@sign(operator.mul, np.multiply, np.minimum, np.fmin)
def least(signs, values):
    return min(signs)


sign(np.maximum, np.fmax)(lambda signs, values: max(signs))
sign(np.where)(lambda signs, values: min(signs[1:], default=UNKNOWN))


@sign(np.clip)
def clip(signs, values):
    bounded = max(signs[:2])
    return min(bounded, signs[2]) if values[2:] and values[2] is not None else bounded


@sign(operator.truediv, np.divide)
def quotient(signs, values):
    return min(*signs, NONNEGATIVE)


@sign(operator.pow, np.power, np.float_power)
def power(signs, values):
    exponent = values[1]
    if not isinstance(exponent, (int, float)):
        return min(signs[0], NONNEGATIVE)
    known = signs[0] if 0 < exponent <= 2 else min(signs[0], NONNEGATIVE)
    return max(known, NONNEGATIVE) if exponent % 2 == 0 else known


@sign(
    *(operator.pos, operator.getitem, np.mean, np.max, np.min, np.ndarray.copy, np.copy),
    *(np.reshape, np.ndarray.reshape, np.broadcast_to, np.expand_dims, np.transpose, np.squeeze),
    *(np.ndarray.transpose, builtins.float),
)
def kept(signs, values):
    return signs[0]


@sign(np.sum, np.prod, np.array, np.asarray, np.ndarray.astype)
def kept_but_for_zero(signs, values):
    """A sum may be of nothing, a product underflow, a part of one be no whole number."""
    return min(signs[0], NONNEGATIVE)


@sign(np.square, np.abs, np.fabs, operator.abs, builtins.abs, np.sqrt, math.sqrt)
def never_negative(signs, values):
    return max(signs[0], NONNEGATIVE)


@sign(
    *(np.exp, np.exp2, np.std, np.var, np.linalg.norm, np.hypot, math.exp, math.hypot),
    *(np.zeros, np.zeros_like, np.eye, builtins.len, np.size),
)
def nonnegative(signs, values):
    return NONNEGATIVE


sign(np.ones, np.ones_like, np.cosh, math.cosh)(lambda signs, values: POSITIVE)
sign(np.full, np.full_like)(lambda signs, values: signs[1])


@sign(builtins.getattr)
def attribute(signs, values):
    return NONNEGATIVE if values[1] in ("shape", "size", "ndim") else UNKNOWN
