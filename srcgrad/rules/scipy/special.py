"""Special functions.

Where the derivative by one argument is known only as an infinite series (by the order of a Bessel
function, the shape of an incomplete gamma function), that one is refused and the others are not.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from ..elementwise import power_by_base
from ..registry import adjoint, classified, elementwise, inert, lookup, refuse, singular, zero
from ..shaping import present
from . import (  # noqa: F401  (rules)
    special_bessel,
    special_gamma,
    special_integrals,
    special_orthogonal,
)
from .special_arguments import OF_COMPLEX

# The logistic function, softmax, and what else machine learning uses

elementwise(special.expit)(lambda x, *, out: out * (1 - out))
adjoint(special.logit)(lambda x, *, out, d_out: d_out / (x * (1 - x)))
elementwise(special.log_expit)(lambda x, *, out: special.expit(-x))

adjoint(*present(special, "softplus"))(lambda x, *, out, d_out: d_out * special.expit(x))


@adjoint(special.softmax)
def softmax(x, axis=None, *, out, d_out):
    scaled = d_out * out
    return scaled - out * np.sum(scaled, axis=axis, keepdims=True)


@adjoint(special.log_softmax)
def log_softmax(x, axis=None, *, out, d_out):
    return d_out - np.exp(out) * np.sum(d_out, axis=axis, keepdims=True)


@adjoint(special.logsumexp)
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, *, out, d_out):
    """The weights are a softmax; the lower bound makes them 0 where all are -inf, not nan."""
    if return_sign:
        out, sign = out
        d_out = d_out[0]
        if np.iscomplexobj(a) or np.iscomplexobj(b):
            return OF_COMPLEX, None, OF_COMPLEX
        d_out = d_out * sign
    if axis is not None and not keepdims and np.ndim(a) > 0:
        out, d_out = np.expand_dims(out, axis), np.expand_dims(d_out, axis)
    if not np.iscomplexobj(out):
        out = np.maximum(out, -3e38)
    if b is None:
        return d_out * np.exp(a - out)
    weights = d_out * np.exp(a - out)
    return b * weights, None, weights


@elementwise(special.xlogy)
def xlogy(x, y, *, out):
    """At 0, 0 both are 0."""
    y = y + ((x == 0) & (y == 0))
    return np.log(y), x / y


@elementwise(special.xlog1py)
def xlog1py(x, y, *, out):
    y = y + ((x == 0) & (y == -1))
    return np.log1p(y), x / (1 + y)


elementwise(special.entr)(lambda x, *, out: -1 - np.log(x))


@elementwise(special.rel_entr)
def rel_entr(x, y, *, out):
    ratio = x / y
    return 1 + np.log(ratio), -ratio


@elementwise(special.kl_div)
def kl_div(x, y, *, out):
    ratio = x / y
    return np.log(ratio), 1 - ratio


elementwise(special.huber)(
    lambda delta, r, *, out: (np.maximum(np.abs(r) - delta, 0.0), np.clip(r, -delta, delta))
)


@elementwise(special.pseudo_huber)
def pseudo_huber(delta, r, *, out):
    ratio = r / delta
    root = np.sqrt(1 + ratio * ratio)
    slope = r / root
    return delta * (2 * (root - 1) - ratio * ratio / root), slope


# Powers, exponentials, angles

elementwise(special.expm1)(lambda x, *, out: out + 1)
adjoint(special.log1p)(lambda x, *, out, d_out: d_out / (1 + x))
adjoint(special.cbrt)(lambda x, *, out, d_out: d_out / (3 * out * out))
adjoint(special.exp2)(lambda x, *, out, d_out: math.log(2.0) * d_out * out)
adjoint(special.exp10)(lambda x, *, out, d_out: math.log(10.0) * d_out * out)
elementwise(special.powm1)(
    lambda x, y, *, out: (power_by_base(x, y), (out + 1) * special.xlogy(out != -1, x))
)


def exprel_slope(x):
    """The derivative of (exp(x) - 1) / x, in the form that doesn't cancel near 0."""
    return 0.5 * special.hyp1f1(2, 3, x)


elementwise(special.exprel)(lambda x, *, out: exprel_slope(x))


@elementwise(special.boxcox)
def boxcox(x, lmbda, *, out):
    log = np.log(x)
    return x ** (lmbda - 1), log * log * exprel_slope(lmbda * log)


@elementwise(special.boxcox1p)
def boxcox1p(x, lmbda, *, out):
    log = np.log1p(x)
    return np.exp((lmbda - 1) * log), log * log * exprel_slope(lmbda * log)


@elementwise(special.inv_boxcox)
def inv_boxcox(y, lmbda, *, out):
    log = np.log(out)
    slope = np.exp((1 - lmbda) * log)
    return slope, -slope * log * log * exprel_slope(lmbda * log)


@elementwise(special.inv_boxcox1p)
def inv_boxcox1p(y, lmbda, *, out):
    log = np.log1p(out)
    slope = np.exp((1 - lmbda) * log)
    return slope, -slope * log * log * exprel_slope(lmbda * log)


elementwise(special.cosm1)(lambda x, *, out: -np.sin(x))

elementwise(special.sindg)(lambda x, *, out: math.pi / 180 * special.cosdg(x))
elementwise(special.cosdg)(lambda x, *, out: -math.pi / 180 * special.sindg(x))
elementwise(special.tandg)(lambda x, *, out: math.pi / 180 * (1 + out * out))
elementwise(special.cotdg)(lambda x, *, out: -math.pi / 180 * (1 + out * out))


@adjoint(special.radian)
def radian(d, m, s, *, out, d_out):
    return math.pi / 180 * d_out, math.pi / 10800 * d_out, math.pi / 648000 * d_out


adjoint(special.lambertw)(lambda z, k=0, *, tol=1e-8, out, d_out: d_out * np.exp(-out) / (1 + out))

adjoint(special.wrightomega)(lambda z, *, out, d_out: d_out * out / (1 + out))

# Everything else

zero(special.gammasgn, special.round)
inert(special.geterr, special.seterr)
for _name in special.__all__:
    _function = getattr(special, _name)
    if callable(_function) and not classified(_function) and not isinstance(_function, type):
        refuse(_function, reason="its derivative has no closed form that SciPy can compute")


# Derivatives that are infinite or undefined somewhere: nearly all, at an end of the domain or a
# pole, but not those of these.

_TAME = {special.erf, special.erfc, special.expit, special.log_expit, special.ndtr, special.sinc}
_TAME.update(present(special, "softplus"))
singular(
    *(f for f in vars(special).values() if isinstance(f, np.ufunc) and f not in _TAME
      and (record := lookup(f)) is not None and (record.adjoint or record.partials)),
    finite=True,
)  # fmt: skip
