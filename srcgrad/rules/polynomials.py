"""The functions of `np.polynomial`: evaluation in all six bases, and what belongs to the powers."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from .registry import definition

# Evaluation. A basis has p[k+1] = a[k] p[k] + b[k] p[k-1]; Clenshaw's sums go from the last
# coefficient down: s[k] = c[k] + a[k] s[k+1] + b[k+1] s[k+2].


def coefficients(x, c, tensor):
    """The coefficients, with axes for those of x behind their own if they aren't one by one."""
    c = np.asarray(c)
    if tensor and c.ndim > 1:
        return np.reshape(c, (*c.shape, *(1 for _ in range(np.ndim(x)))))
    return c


@definition(polynomial.polyval)
def polyval(x, c, tensor=True):
    c = coefficients(x, c, tensor)
    total = c[-1] + 0.0 * x
    for k in range(len(c) - 2, -1, -1):
        total = c[k] + total * x
    return total


@definition(chebyshev.chebval)
def chebval(x, c, tensor=True):
    c = coefficients(x, c, tensor)
    later = latest = 0.0 * c[0] * x
    for k in range(len(c) - 1, 0, -1):
        later, latest = c[k] + 2 * x * later - latest, later
    return c[0] + x * later - latest


@definition(legendre.legval)
def legval(x, c, tensor=True):
    c = coefficients(x, c, tensor)
    later = latest = 0.0 * c[0] * x
    for k in range(len(c) - 1, 0, -1):
        later, latest = (
            c[k] + (2 * k + 1) / (k + 1) * x * later - (k + 1) / (k + 2) * latest,
            later,
        )
    return c[0] + x * later - 0.5 * latest


@definition(hermite.hermval)
def hermval(x, c, tensor=True):
    c = coefficients(x, c, tensor)
    later = latest = 0.0 * c[0] * x
    for k in range(len(c) - 1, 0, -1):
        later, latest = c[k] + 2 * x * later - 2 * (k + 1) * latest, later
    return c[0] + 2 * x * later - 2 * latest


@definition(hermite_e.hermeval)
def hermeval(x, c, tensor=True):
    c = coefficients(x, c, tensor)
    later = latest = 0.0 * c[0] * x
    for k in range(len(c) - 1, 0, -1):
        later, latest = c[k] + x * later - (k + 1) * latest, later
    return c[0] + x * later - latest


@definition(laguerre.lagval)
def lagval(x, c, tensor=True):
    c = coefficients(x, c, tensor)
    later = latest = 0.0 * c[0] * x
    for k in range(len(c) - 1, 0, -1):
        later, latest = (
            c[k] + (2 * k + 1 - x) / (k + 1) * later - (k + 1) / (k + 2) * latest,
            later,
        )
    return c[0] + (1 - x) * later - 0.5 * latest


BASES = {
    "poly": (polynomial, polyval),
    "cheb": (chebyshev, chebval),
    "leg": (legendre, legval),
    "herm": (hermite, hermval),
    "herme": (hermite_e, hermeval),
    "lag": (laguerre, lagval),
}

# In the powers, the lowest first

definition(polynomial.polyvander)(lambda x, deg: np.asarray(x)[..., None] ** np.arange(deg + 1))
definition(polynomial.polyder)(lambda c, m=1: np.polyder(c[::-1], m)[::-1])
definition(polynomial.polyint)(lambda c, m=1: np.polyint(c[::-1], m)[::-1])
definition(polynomial.polymul)(lambda c1, c2: np.polymul(c1[::-1], c2[::-1])[::-1])
definition(polynomial.polyroots)(lambda c: np.sort(np.roots(c[::-1])))


@definition(polynomial.polyfromroots)
def polyfromroots(roots):
    """Those of conjugate roots are complex here, and real in `np.poly`."""
    roots = np.asarray(roots)
    return np.poly(roots)[::-1].astype(np.promote_types(roots.dtype, float))


@definition(polynomial.polyvalfromroots)
def polyvalfromroots(x, r, tensor=True):
    if np.ndim(r) == 1:
        return np.prod(np.expand_dims(x, -1) - r, axis=-1)
    return np.prod(x - coefficients(x, r, tensor), axis=0)


@definition(polynomial.polyfit)
def polyfit(x, y, deg, rcond=None, full=False, w=None):
    if np.ndim(deg):
        raise NotImplementedError("of a number as the degree it has a rule")
    if not full:
        return np.polyfit(x, y, deg, rcond, w=w)[::-1]
    c, *status = np.polyfit(x, y, deg, rcond, True, w)
    return c[::-1], status


def _of_several_variables(prefix, module, value):
    def named(suffix):
        return definition(getattr(module, prefix + suffix))

    named("val2d")(lambda x, y, c: value(y, value(x, c), tensor=False))
    named("val3d")(lambda x, y, z, c: value(z, value(y, value(x, c), tensor=False), tensor=False))
    named("grid2d")(lambda x, y, c: value(y, value(x, c)))
    named("grid3d")(lambda x, y, z, c: value(z, value(y, value(x, c))))


for _prefix, (_module, _value) in BASES.items():
    _of_several_variables(_prefix, _module, _value)
