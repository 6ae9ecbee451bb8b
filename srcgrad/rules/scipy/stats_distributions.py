"""The methods of distributions, by closed forms that the compiler can read.

SciPy's own methods check and broadcast their arguments for some 50 us; the closed forms take a
few. They give what SciPy's give, nan for invalid parameters and the value outside the support
included. A density follows from its logarithm; and where that is known, each other method has a
derivative by the variable, also where only SciPy can compute it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from ..registry import Unknown, adjoint, definition, passes_for, primitives, refuse

HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
BY_SHAPE = "by the shape of the distribution it has no closed form"
_forms: dict[tuple[type, str, str], Callable[..., Any]] = {}


def form(distribution, method):
    """Decorator: register the closed form of a method of a distribution."""

    def register(function):
        _forms[type(distribution), distribution.name, method] = function
        return function

    return register


def positive(x):
    """A parameter that must be positive: else nan, as is all that SciPy computes of it."""
    if np.ndim(x) == 0:
        return x if x > 0 else math.nan
    return np.where(x > 0, x, np.nan)


def standard(distribution, method="logpdf", support=None, valid=positive):
    """Decorator: register a method in standard form: location 0 and scale 1, before the shapes.

    Outside the `support` the logarithm of a density isn't asked for: it is -inf. `valid` makes a
    shape nan that isn't; where it is None, the form does so.
    """

    def register(function):
        inside = support(function) if support else function
        form(distribution, method)(located(distribution, method, inside, valid))
        return function

    return register


def closed_form(distribution, method):
    """The closed form of a method; if there is none, the method itself, which is refused."""
    key = (type(distribution), distribution.name)
    found = _forms.get((*key, method))
    if found is not None:
        return found
    if method in ("pdf", "pmf") and (*key, "log" + method) in _forms:
        return form(distribution, method)(exponential(_forms[*key, "log" + method]))
    if method in SLOPES and (*key, "logpdf") in _forms:
        return form(distribution, method)(standardised(distribution, method))
    bound = getattr(distribution, method)
    if bound not in primitives:
        refuse(bound, reason=f"the {method} of this distribution has no closed form here")
    return bound


def exponential(logarithm):
    """The density, given its logarithm."""

    def density(x, *args, **kwds):
        return np.exp(logarithm(x, *args, **kwds))

    return density


# The derivatives by the variable: of the method, given the logarithm of the density there

SLOPES = {
    "cdf": lambda out, log: np.exp(log),
    "sf": lambda out, log: -np.exp(log),
    "logcdf": lambda out, log: np.exp(log - out),
    "logsf": lambda out, log: -np.exp(log - out),
    "ppf": lambda out, log: np.exp(-log),
    "isf": lambda out, log: -np.exp(-log),
}


def standardised(distribution, method):
    """A method as SciPy computes it, differentiable by the variable, the location and the scale."""
    bound, slope = getattr(distribution, method), SLOPES[method]
    general = _forms[type(distribution), distribution.name, "logpdf"]
    log_density = general.standard

    def standard(x, *shapes):
        return bound(x, *shapes)

    standard.__name__ = f"{distribution.name}_{method}"

    @adjoint(standard)
    def by_variable(x, *shapes, out, d_out):
        at = out if method in ("ppf", "isf") else x
        d_x = d_out * slope(out, log_density(at, *shapes))
        return d_x, *[Unknown(BY_SHAPE) for _ in shapes]

    return located(distribution, method, standard, general.valid)


def located(distribution, method, standard, valid):
    """A method with location and scale, from that in standard form."""

    def of_variable(x, *args, loc=0, scale=1, **kwds):
        shapes, loc, scale = parameters(distribution, args, kwds, loc, scale, valid)
        result = standard((x - loc) / scale, *shapes)
        if method == "logpdf":
            return result - np.log(scale)
        return result / scale if method == "pdf" else result

    def of_level(q, *args, loc=0, scale=1, **kwds):
        shapes, loc, scale = parameters(distribution, args, kwds, loc, scale, valid)
        return loc + scale * standard(q, *shapes)

    made = of_level if method in ("ppf", "isf") else of_variable
    made.standard, made.valid = standard, valid
    return made


def parameters(distribution, args, kwds, loc, scale, valid):
    """The shapes of a distribution, its location and scale, from the arguments of a method."""
    count, names = distribution.numargs, (distribution.shapes or "").split(", ")
    shapes = [*args[:count], *[kwds[name] for name in names if name in kwds]]
    if len(args) > count + 2 or len(shapes) < len(args[:count]) + len(kwds):
        raise NotImplementedError("the distribution has no such parameter")
    if len(args) > count:
        loc = args[count]
    if len(args) > count + 1:
        scale = args[count + 1]
    if valid is not None:
        shapes = [valid(shape) for shape in shapes]
    return shapes, loc, positive(scale)


# The methods of all distributions


@passes_for(type(stats.norm()), type(stats.poisson(1)))
class Frozen:
    """A distribution with its parameters."""

    def __init__(self, dist, args, kwds):
        self.dist, self.args, self.kwds = dist, args, kwds

    def rvs(self, size=None, random_state=None):
        return self.dist.rvs(*self.args, size=size, random_state=random_state, **self.kwds)


def _method(cls, name):
    def body(self, x, *args, **kwds):
        return closed_form(self, name)(x, *args, **kwds)

    definition(getattr(cls, name))(body)


def _frozen_method(cls, name):
    def body(self, x):
        return closed_form(self.dist, name)(x, *self.args, **self.kwds)

    definition(getattr(cls, name))(body)
    setattr(Frozen, name, body)


definition(type(stats.norm()).rvs)(Frozen.rvs)


def freeze(self, *args, **kwds):
    return Frozen(self, args, kwds)


METHODS = ("cdf", "logcdf", "sf", "logsf", "ppf", "isf")
_continuous, _discrete = type(stats.norm).__mro__[1], type(stats.poisson).__mro__[1]
for _cls, _frozen, _names in (
    (_continuous, type(stats.norm()), ("pdf", "logpdf", *METHODS)),
    (_discrete, type(stats.poisson(1)), ("pmf", "logpmf", *METHODS)),
):
    for _name in _names:
        _method(_cls, _name)
        _frozen_method(_frozen, _name)
    definition(_cls.__call__)(freeze)


def not_negative(x):
    return within(x, math.inf)


def within(x, high):
    """A parameter from 0 to a bound, else nan."""
    if np.ndim(x) == 0:
        return x if 0 <= x <= high else math.nan
    return np.where((x >= 0) & (x <= high), x, np.nan)


# Supports of densities


def supported(outside, kept):
    """A support: outside of it, the formula of a density gets the number `kept` instead."""

    def support(function):
        def inside(z, *shapes):
            left_out = outside(z)
            return np.where(left_out, -np.inf, function(np.where(left_out, kept, z), *shapes))

        return inside

    return support


above_zero = supported(lambda z: z < 0, 1.0)
strictly_above_zero = supported(lambda z: z <= 0, 1.0)
on_unit = supported(lambda z: (z < 0) | (z > 1), 0.5)
strictly_inside_unit = supported(lambda z: (z <= 0) | (z >= 1), 0.5)


def between(bounds):
    """A support of which the bounds follow from the shapes."""

    def support(function):
        def inside(z, *shapes):
            low, high = bounds(*shapes)
            outside = (z < low) | (z > high)
            kept = np.where(outside, interior(low, high), z)
            return np.where(outside, -np.inf, function(kept, *shapes))

        return inside

    return support


def interior(low, high):
    """A point between two bounds, of which either may be infinite."""
    below = np.where(np.isinf(low), np.where(np.isinf(high), -1.0, high - 2), low)
    above = np.where(np.isinf(high), below + 2, high)
    return 0.5 * (below + above)
