"""Elementwise arithmetic: the operators and NumPy's elementwise functions.

A rule is given by partial derivatives where that is cheapest, else as an adjoint that divides or
scales `d_out` first. Applied to the tangents, such an adjoint gives the forward derivative too.
"""

from __future__ import annotations

import builtins
import math
import operator

import numpy as np

from .helpers import bessel_i, may_be_python_float
from .registry import (
    adjoint,
    copying,
    elementwise,
    equality,
    inert,
    jumps,
    matches,
    measures,
    orders,
    smooth,
    zero,
)

NUMPY_2 = not np.__version__.startswith("1.")


def divisor(x, dividend=0.0):
    """A float as NumPy's, for the rule of a function of NumPy: it divides by zero as arrays do.

    Arrays do so whatever they are divided by, and keep their precision if that is Python's float.
    """
    python = may_be_python_float(x) and may_be_python_float(dividend)
    return np.float64(x) if python else x


# Arithmetic

adjoint(operator.add, np.add)(lambda x, y, *, out, d_out: (d_out, d_out))
adjoint(operator.sub, np.subtract)(lambda x, y, *, out, d_out: (d_out, -d_out))
elementwise(operator.mul, np.multiply)(lambda x, y, *, out: (y, x))


@adjoint(operator.truediv)
def truediv(x, y, *, out, d_out):
    d_x = d_out / y
    return d_x, -d_x * out


@adjoint(np.divide)
def divide(x, y, *, out, d_out):
    d_x = d_out / divisor(y, x)
    return d_x, -d_x * out


adjoint(operator.neg, np.negative)(lambda x, *, out, d_out: -d_out)
adjoint(operator.pos, np.positive)(lambda x, *, out, d_out: d_out)
adjoint(operator.mod)(lambda x, y, *, out, d_out: (d_out, -d_out * (x // y)))
adjoint(np.remainder)(lambda x, y, *, out, d_out: (d_out, -d_out * (x // divisor(y, x))))
adjoint(np.fmod)(lambda x, y, *, out, d_out: (d_out, -d_out * np.trunc(x / divisor(y, x))))
adjoint(builtins.divmod, np.divmod)(lambda x, y, *, out, d_out: (d_out[1], -d_out[1] * out[0]))


@elementwise(operator.pow, builtins.pow)
def power(x, y, *, out):
    if isinstance(y, int):
        d_x = y * x ** (y - 1) if y else 0.0
    elif np.ndim(x) or np.ndim(y) or np.iscomplexobj(y):
        d_x = power_by_base(x, y)
    else:  # which raises where a number of Python does
        d_x = y * x ** (y - 1) if not 0 <= y < 1 or x else y * math.inf if y else 0.0
    return d_x, out * log_of_base(x, y)


elementwise(np.power, np.float_power)(
    lambda x, y, *, out: (power_by_base(x, y), out * log_of_base(x, y))
)


def power_by_base(x, y):
    """The derivative `y * x ** (y - 1)`, but 0 where y = 0, also at x = 0."""
    if np.ndim(y):
        return y * (x + ((x == 0) & (y == 0))) ** (y - 1)
    if np.ndim(x) or np.iscomplexobj(y):
        return y * (x if y else x + (x == 0)) ** (y - 1)
    return y * x ** (y - 1) if y >= 1 or x else y * math.inf if y else 0.0


def log_of_base(x, y):
    """log(x), but 0 at x = 0; of a complex exponent, that of a negative number is one, too."""
    if np.iscomplexobj(y) and not np.iscomplexobj(x):
        x = x + 0j
    if np.ndim(x) or np.iscomplexobj(x):
        return np.log(x + (x == 0))
    return math.log(x) if x > 0 else 0.0 if x == 0 else math.nan


adjoint(np.reciprocal)(lambda x, *, out, d_out: -d_out * out * out)
adjoint(np.square)(lambda x, *, out, d_out: 2 * d_out * x)
adjoint(np.sqrt)(lambda x, *, out, d_out: 0.5 * d_out / out)
adjoint(np.cbrt)(lambda x, *, out, d_out: d_out / (3 * out * out))

# Exponentials and logarithms

elementwise(np.exp)(lambda x, *, out: out)
adjoint(np.exp2)(lambda x, *, out, d_out: math.log(2.0) * d_out * out)
elementwise(np.expm1)(lambda x, *, out: out + 1)
adjoint(np.log)(lambda x, *, out, d_out: d_out / divisor(x))
adjoint(np.log2)(lambda x, *, out, d_out: d_out / math.log(2.0) / divisor(x))
adjoint(np.log10)(lambda x, *, out, d_out: d_out / math.log(10.0) / divisor(x))
adjoint(np.log1p)(lambda x, *, out, d_out: d_out / divisor(1 + x))


@elementwise(np.logaddexp)
def logaddexp(x, y, *, out):
    """The softmax of both; the lower bound of `out` makes it 0 where both are -inf, not nan."""
    bounded = np.maximum(out, -3e38)
    return np.exp(x - bounded), np.exp(y - bounded)


@elementwise(np.logaddexp2)
def logaddexp2(x, y, *, out):
    bounded = np.maximum(out, -3e38)
    return np.exp2(x - bounded), np.exp2(y - bounded)


# Trigonometry

elementwise(np.sin)(lambda x, *, out: np.cos(x))
adjoint(np.cos)(lambda x, *, out, d_out: -d_out * np.sin(x))
elementwise(np.tan)(lambda x, *, out: 1 + out * out)


@adjoint(np.arcsin)
def arcsin(x, *, out, d_out):
    if np.iscomplexobj(x):  # the result knows on which side of its cut x lies
        return d_out / np.cos(out)
    return d_out / np.sqrt(1 - x * x)


@adjoint(np.arccos)
def arccos(x, *, out, d_out):
    if np.iscomplexobj(x):
        return -d_out / np.sin(out)
    return -d_out / np.sqrt(1 - x * x)


adjoint(np.arctan)(lambda x, *, out, d_out: d_out / (1 + x * x))


@adjoint(np.arctan2)
def arctan2(y, x, *, out, d_out):
    squared = x * x + y * y
    scaled = d_out / (squared + (squared == 0))
    return scaled * x, -scaled * y


@adjoint(np.hypot)
def hypot(x, y, *, out, d_out):
    scaled = d_out / (out + (out == 0))
    return scaled * x, scaled * y


elementwise(np.sinh)(lambda x, *, out: np.cosh(x))
elementwise(np.cosh)(lambda x, *, out: np.sinh(x))
elementwise(np.tanh)(lambda x, *, out: 1 - out * out)


@adjoint(np.arcsinh)
def arcsinh(x, *, out, d_out):
    if np.iscomplexobj(x):
        return d_out / np.cosh(out)
    return d_out / np.sqrt(x * x + 1)


@adjoint(np.arccosh)
def arccosh(x, *, out, d_out):
    if np.iscomplexobj(x):
        return d_out / np.sinh(out)
    return d_out / np.sqrt(x * x - 1)


adjoint(np.arctanh)(lambda x, *, out, d_out: d_out / divisor(1 - x * x))
adjoint(np.deg2rad, np.radians)(lambda x, *, out, d_out: math.pi / 180 * d_out)
adjoint(np.rad2deg, np.degrees)(lambda x, *, out, d_out: 180 / math.pi * d_out)


@elementwise(np.sinc)
def sinc(x, *, out):
    """(cos(pi x) - sinc(x)) / x, and near 0, where that cancels, its Taylor series."""
    near = np.abs(x) < 0.1
    s = (np.pi * x) ** 2
    series = 1 - s / 10 * (1 - s / 28 * (1 - s / 54 * (1 - s / 88 * (1 - s / 130))))
    return np.where(near, -np.pi * np.pi / 3 * x * series, (np.cos(np.pi * x) - out) / (x + near))


elementwise(np.i0)(lambda x, *, out: bessel_i(1, x))
adjoint(np.unwrap)(lambda p, discont=None, axis=-1, *, period=2 * np.pi, out, d_out: d_out)


# Signs, maxima and choices


@elementwise(operator.abs, builtins.abs, np.absolute)
def absolute(x, *, out):
    if np.iscomplexobj(x):
        return np.conj(x) / (out + (out == 0))
    if np.ndim(x) == 0:
        return math.copysign(1.0, x) if x else 0.0
    return np.sign(x)


elementwise(np.fabs)(lambda x, *, out: np.sign(x))


@adjoint(np.sign)
def sign(x, *, out, d_out):
    """Zero, but of a complex number NumPy 2 gives z / abs(z)."""
    if NUMPY_2 and np.iscomplexobj(x):
        size = np.abs(x)
        return (d_out - np.conj(out) * (d_out * out).real) / (size + (size == 0))
    return None


elementwise(np.copysign)(lambda x, y, *, out: (np.sign(x) * np.sign(out), None))


@adjoint(np.maximum)
def maximum(x, y, *, out, d_out):
    d_x = of_higher(d_out, x, y)
    return d_x, d_out - d_x


@adjoint(np.minimum)
def minimum(x, y, *, out, d_out):
    d_y = of_higher(d_out, x, y)
    return d_out - d_y, d_y


def of_higher(d_out, x, y):
    """The share of x in the adjoint of the higher of both: all, half of it where equal, or none."""
    if np.iscomplexobj(x) or np.iscomplexobj(y):  # NumPy compares them, Python doesn't
        return 0.5 * d_out * np.add(np.greater(x, y), np.greater_equal(x, y), dtype=np.int8)
    if np.ndim(x) == 0 and np.ndim(y) == 0:
        return d_out * (0.5 if x == y else 1.0 if x > y else 0.0)
    if isinstance(x, int) or isinstance(y, int):  # the difference is not inf - inf
        return d_out * (0.5 + 0.5 * np.sign(x - y))
    return 0.5 * d_out * np.add(x > y, x >= y, dtype=np.int8)


@adjoint(np.fmax, np.fmin)
def fmax(x, y, *, out, d_out):
    d_x = 0.5 * d_out * np.add(x == out, y != out, dtype=np.int8)
    return d_x, d_out - d_x


@adjoint(np.clip)
def clip(
    a,
    a_min=None,
    a_max=None,
    min=None,
    max=None,
    *,
    dtype=None,
    casting="same_kind",
    order="K",
    subok=True,
    out,
    d_out,
):
    """At a bound the derivative by `a` is 1; where `a` is cut, that by the bound is."""
    highest = a_max if max is None else max
    d_a = d_out * (a == out)
    if highest is None:
        d_min, d_max = d_out - d_a, None
    else:
        d_max = (d_out - d_a) * (out == highest)
        d_min = d_out - d_a - d_max
    if min is None and max is None:
        return d_a, d_min, d_max
    return d_a, d_min, d_max, d_min, d_max


@adjoint(np.where)
def where(condition, x=None, y=None, *, out, d_out):
    if x is None:
        return None
    return None, np.where(condition, d_out, 0.0), np.where(condition, 0.0, d_out)


elementwise(np.heaviside)(lambda x, y, *, out: (None, x == 0))

copying(np.nan_to_num, by="copy")


@adjoint(np.nan_to_num)
def nan_to_num(x, *, nan=0.0, posinf=None, neginf=None, out, d_out):
    if np.iscomplexobj(x):
        return d_out.real * np.isfinite(x.real) + 1j * d_out.imag * np.isfinite(x.imag)
    return d_out * np.isfinite(x)


# Parts of numbers

adjoint(np.ldexp)(lambda x, i, *, out, d_out: np.ldexp(d_out, i))
adjoint(np.modf)(lambda x, *, out, d_out: d_out[0])
adjoint(np.frexp)(lambda x, *, out, d_out: np.ldexp(d_out[0], -out[1]))
adjoint(np.nextafter)(lambda x, y, *, out, d_out: (d_out, None))
adjoint(np.real)(lambda val, *, out, d_out: d_out)
adjoint(np.real_if_close)(lambda a, tol=100, *, out, d_out: d_out)
adjoint(np.imag)(lambda val, *, out, d_out: -1j * d_out if np.iscomplexobj(val) else None)
adjoint(np.conjugate)(lambda x, *, out, d_out: np.conj(d_out) if np.iscomplexobj(x) else d_out)


@adjoint(np.angle)
def angle(z, deg=False, *, out, d_out):
    if not np.iscomplexobj(z):
        return None
    if deg:
        d_out = 180 / math.pi * d_out
    squared = z.real * z.real + z.imag * z.imag
    return -1j * np.conj(z) * (d_out / (squared + (squared == 0)))


# Piecewise constant

zero(operator.floordiv, np.floor_divide)
zero(np.rint, np.round, np.around, np.floor, np.ceil, np.trunc, np.fix, np.signbit, np.spacing)
zero(
    *(operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge),
    *(operator.not_, operator.truth, operator.is_, operator.is_not, operator.contains),
    *(np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal),
    *(np.logical_and, np.logical_or, np.logical_xor, np.logical_not),
    *(np.isnan, np.isinf, np.isfinite, np.isneginf, np.isposinf, np.isclose, np.allclose),
    *(np.array_equal, np.array_equiv, np.iscomplex, np.isreal),
    note="a truth value",
)
zero(
    *(operator.and_, operator.or_, operator.xor, operator.invert),
    *(operator.inv, operator.lshift, operator.rshift, operator.index),
    *(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift),
    *(np.gcd, np.lcm),
    note="of integers",
)
if hasattr(np, "bitwise_count"):
    zero(np.bitwise_count, note="of integers")
inert(np.iscomplexobj, np.isrealobj, np.issubdtype, np.can_cast, np.promote_types)
jumps(operator.mod, np.remainder, np.fmod, builtins.divmod, np.divmod, np.unwrap, np.modf, np.frexp)
jumps(np.sign, np.copysign, np.heaviside)
jumps(np.interp, given=("left", "right"))
equality(operator.eq, operator.ne, np.equal, np.not_equal, np.isfinite, np.isinf, np.isnan)
matches(operator.eq, operator.ne, np.equal, np.not_equal)
orders(operator.lt, operator.le, operator.gt, operator.ge)
orders(np.less, np.less_equal, np.greater, np.greater_equal)
measures(abs, np.abs, np.fabs, np.square, np.hypot, np.linalg.norm)
matches(np.isclose, np.allclose, np.array_equal, np.array_equiv)
smooth(
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos),
    *(np.add, np.subtract, np.multiply, np.divide, np.negative, np.positive, np.square),
    *(np.exp, np.sin, np.cos, np.tanh, np.arctan, np.sinh, np.cosh, np.asarray, builtins.float),
    operator.getitem,  # numbers of arrays that nothing is written into
)
