"""Python's own functions of numbers: the built-in ones, `math` and `cmath`."""

from __future__ import annotations

import builtins
import cmath
import math
import time

import numpy as np

from ..analysis.inference import Inferred
from ..kinds import Scalar
from .helpers import polygamma, products_of_others
from .registry import (
    adjoint,
    effect,
    elementwise,
    equality,
    inert,
    jumps,
    kind,
    matches,
    measures,
    no_jumps,
    picks,
    refuse,
    restricted,
    smooth,
    zero,
)

# Built-in functions


@adjoint(builtins.max, builtins.min)
def extremum(*args, out, d_out):
    """Equal shares for all that attain the extremum; of arrays with one item, of any rank."""
    if len(args) == 2:
        x, y = args
        d_x = d_out * (0.5 if x == y else 1.0 if x == out else 0.0)
        return as_item(d_x, x), as_item(d_out - d_x, y)
    count = 1 if args[0] == out else 0  # NumPy's truth values are slow to add
    for x in args[1:]:
        count = count + (1 if x == out else 0)
    share, shares = d_out / count, ()
    for x in args:
        shares = (*shares, as_item(share if x == out else 0.0, x))
    return shares


def as_item(d_out, x):
    return np.reshape(d_out, np.shape(x)) if np.ndim(x) else d_out


picks(builtins.max, builtins.min)


@adjoint(
    *(builtins.float, np.float16, np.float32, np.float64, np.longdouble),
    *(np.complex64, np.complex128, np.clongdouble),
)
def to_float(x=0.0, *, out, d_out):
    return as_item(d_out, x)


adjoint(builtins.complex)(lambda real=0.0, imag=0.0, *, out, d_out: (d_out, 1j * d_out))

zero(builtins.int, builtins.bool, builtins.round, builtins.any, builtins.all)
no_jumps(builtins.bool)
zero(*(dtype for dtype in np.sctypeDict.values() if issubclass(dtype, (np.integer, np.bool))))
refuse(builtins.memoryview, reason="use the array itself", always=True)
refuse(
    *(builtins.eval, builtins.exec),
    reason="write the code itself",
    always=True,
)
refuse(builtins.globals, reason="name the variable itself", always=True)
zero(float.is_integer, int.bit_length)
inert(
    *(builtins.len, builtins.isinstance, builtins.issubclass, builtins.callable, builtins.hasattr),
    *(builtins.id, builtins.hash, builtins.type, builtins.bin, builtins.hex, builtins.oct),
    *(builtins.ord, builtins.chr),
)
refuse(
    *(builtins.str, builtins.repr, builtins.ascii, builtins.format),
    reason="a number that is read from text has no derivative",
)
refuse(
    builtins.getattr,
    reason="it is none that srcgrad knows, or the memory of an array: use the array itself",
)

# Clocks

CLOCKS = (time.time, time.perf_counter, time.monotonic, time.process_time, time.thread_time)
zero(*CLOCKS)
effect(*CLOCKS)  # each call has its place, and a result of its own


@kind(*CLOCKS)
def seconds(args, kwargs):
    return Inferred(Scalar(np.dtype(float)))


# Math: powers, exponentials and logarithms

adjoint(math.sqrt)(lambda x, *, out, d_out: 0.5 * d_out / out if out else d_out * math.inf)


@elementwise(math.pow)
def pow(x, y, *, out):
    if y % 1 == 0:
        d_x = y * x ** (y - 1) if y else 0.0
    else:  # which raises what the function raises
        d_x = y * math.pow(x, y - 1) if x or y < 0 else y * math.inf if y < 1 else 0.0
    return d_x, out * math.log(x) if x > 0 else 0.0 if x == 0 else math.nan


adjoint(math.exp, cmath.exp)(lambda x, *, out, d_out: d_out * out)
elementwise(math.expm1)(lambda x, *, out: out + 1)


@adjoint(math.log, cmath.log)
def log(x, base=None, *, out, d_out):
    if base is None:
        return d_out / x
    scaled = d_out / (cmath.log(base) if np.iscomplexobj(out) else math.log(base))
    return scaled / x, -scaled * out / base


adjoint(math.log2)(lambda x, *, out, d_out: d_out / math.log(2.0) / x)
adjoint(math.log10, cmath.log10)(lambda x, *, out, d_out: d_out / math.log(10.0) / x)
adjoint(math.log1p)(lambda x, *, out, d_out: d_out / (1 + x))


@adjoint(math.hypot)
def hypot(*coordinates, out, d_out):
    scaled, result = d_out / (out + (out == 0)), ()
    for x in coordinates:
        result = (*result, scaled * x)
    return result


@adjoint(math.dist)
def dist(p, q, *, out, d_out):
    scaled = d_out / (out + (out == 0))
    if isinstance(p, np.ndarray):
        d_p = scaled * (p - q)
        return d_p, -d_p
    d_p = [scaled * (x - y) for x, y in zip(p, q, strict=True)]
    return d_p, [-d_x for d_x in d_p]


# Math: trigonometry

elementwise(math.sin)(lambda x, *, out: math.cos(x))
adjoint(math.cos)(lambda x, *, out, d_out: -d_out * math.sin(x))
elementwise(math.tan, cmath.tan)(lambda x, *, out: 1 + out * out)
adjoint(math.asin)(
    lambda x, *, out, d_out: d_out / math.sqrt(1 - x * x) if x * x != 1 else d_out * math.inf
)
adjoint(math.acos)(
    lambda x, *, out, d_out: -d_out / math.sqrt(1 - x * x) if x * x != 1 else -d_out * math.inf
)
adjoint(math.atan, cmath.atan)(lambda x, *, out, d_out: d_out / (1 + x * x))


@adjoint(math.atan2)
def atan2(y, x, *, out, d_out):
    squared = x * x + y * y
    scaled = d_out / (squared + (squared == 0))
    return scaled * x, -scaled * y


elementwise(math.sinh)(lambda x, *, out: math.cosh(x))
elementwise(math.cosh)(lambda x, *, out: math.sinh(x))
elementwise(math.tanh, cmath.tanh)(lambda x, *, out: 1 - out * out)
adjoint(math.asinh)(lambda x, *, out, d_out: d_out / math.sqrt(x * x + 1))
adjoint(math.acosh)(lambda x, *, out, d_out: d_out / math.sinh(out) if out else d_out * math.inf)
adjoint(math.atanh, cmath.atanh)(lambda x, *, out, d_out: d_out / (1 - x * x))
adjoint(math.radians)(lambda x, *, out, d_out: math.pi / 180 * d_out)
adjoint(math.degrees)(lambda x, *, out, d_out: 180 / math.pi * d_out)

# Math: special functions

elementwise(math.gamma)(lambda x, *, out: out * polygamma(0, x))
elementwise(math.lgamma)(lambda x, *, out: polygamma(0, x))
adjoint(math.erf)(lambda x, *, out, d_out: 2 / math.sqrt(math.pi) * d_out * math.exp(-x * x))
adjoint(math.erfc)(lambda x, *, out, d_out: -2 / math.sqrt(math.pi) * d_out * math.exp(-x * x))

# Math: arithmetic

elementwise(math.fabs)(lambda x, *, out: math.copysign(1.0, x) if x else 0.0)
elementwise(math.copysign)(
    lambda x, y, *, out: (math.copysign(1.0, x) * math.copysign(1.0, y) if x else 0.0, None)
)
adjoint(math.fmod)(lambda x, y, *, out, d_out: (d_out, -d_out * round((x - out) / y)))
adjoint(math.remainder)(lambda x, y, *, out, d_out: (d_out, -d_out * round((x - out) / y)))
adjoint(math.modf)(lambda x, *, out, d_out: d_out[0])
adjoint(math.frexp)(lambda x, *, out, d_out: d_out[0] * 2.0 ** -out[1])
adjoint(math.ldexp)(lambda x, i, *, out, d_out: d_out * 2.0**i)
adjoint(math.nextafter)(lambda x, y, *, out, d_out: (d_out, None))


@adjoint(math.fsum)
def fsum(seq, *, out, d_out):
    if isinstance(seq, np.ndarray):
        return np.broadcast_to(d_out, np.shape(seq))
    return [d_out for _ in seq]


@adjoint(math.prod)
def prod(iterable, *, start=1, out, d_out):
    """With a zero among them, by the products of the factors before and after each one."""
    if isinstance(iterable, np.ndarray):
        return d_out * start * products_of_others(iterable, None)
    if out:
        return [d_out * out / x for x in iterable]
    d_iterable = [d_out * start for _ in iterable]
    before = after = 1.0
    for i in range(len(iterable)):
        d_iterable[i] = d_iterable[i] * before
        before = before * iterable[i]
    for i in range(len(iterable) - 1, -1, -1):
        d_iterable[i] = d_iterable[i] * after
        after = after * iterable[i]
    return d_iterable


if hasattr(math, "cbrt"):
    adjoint(math.cbrt)(
        lambda x, *, out, d_out: d_out / (3 * out * out) if out else d_out * math.inf
    )
    adjoint(math.exp2)(lambda x, *, out, d_out: math.log(2.0) * d_out * out)


if hasattr(math, "sumprod"):

    @adjoint(math.sumprod)
    def sumprod(p, q, *, out, d_out):
        if isinstance(p, np.ndarray):
            return d_out * q, d_out * p
        return [d_out * y for y in q], [d_out * x for x in p]


if hasattr(math, "fma"):
    elementwise(math.fma)(lambda x, y, z, *, out: (y, x, 1.0))


zero(math.ceil, math.floor, math.trunc, math.ulp)
zero(math.isclose, math.isfinite, math.isinf, math.isnan, note="a truth value")
matches(math.isclose, cmath.isclose)
measures(math.fabs, math.hypot, math.dist)
equality(math.isfinite, math.isinf, math.isnan)
smooth(math.exp, math.sin, math.cos, math.tanh, math.atan, math.sinh, math.cosh)
# of pow, asin, acos and acosh the derivatives raise there, too
restricted(math.log, math.log2, math.log10, math.log1p, math.atanh, math.lgamma)
restricted(math.fmod, math.remainder, cmath.log, cmath.log10, cmath.atanh)
jumps(math.fmod, math.remainder, math.modf, math.frexp, math.copysign)
zero(*(math.comb, math.perm, math.factorial, math.gcd, math.lcm, math.isqrt), note="of integers")

# Cmath

adjoint(cmath.sqrt)(lambda z, *, out, d_out: 0.5 * d_out / out if out else d_out * math.inf)
elementwise(cmath.sin)(lambda z, *, out: cmath.cos(z))
adjoint(cmath.cos)(lambda z, *, out, d_out: -d_out * cmath.sin(z))
elementwise(cmath.sinh)(lambda z, *, out: cmath.cosh(z))
elementwise(cmath.cosh)(lambda z, *, out: cmath.sinh(z))
# the results of these know on which side of its cut z lies
adjoint(cmath.asin)(lambda z, *, out, d_out: d_out / cmath.cos(out))
adjoint(cmath.acos)(lambda z, *, out, d_out: -d_out / cmath.sin(out))
adjoint(cmath.asinh)(lambda z, *, out, d_out: d_out / cmath.cosh(out))
adjoint(cmath.acosh)(lambda z, *, out, d_out: d_out / cmath.sinh(out))


@adjoint(cmath.phase)
def phase(z, *, out, d_out):
    squared = z.real * z.real + z.imag * z.imag
    return -1j * z.conjugate() * (d_out / (squared + (squared == 0)))


@adjoint(cmath.polar)
def polar(z, *, out, d_out):
    """With z = r e^(i phi): dr + i r dphi = r dz / z."""
    r = out[0]
    d_r, d_phi = d_out
    return (r * d_r - 1j * d_phi) * z.conjugate() / (r * r + (r == 0))


adjoint(cmath.rect)(lambda r, phi, *, out, d_out: (d_out * cmath.exp(1j * phi), 1j * d_out * out))

zero(cmath.isclose, cmath.isfinite, cmath.isinf, cmath.isnan, note="a truth value")
