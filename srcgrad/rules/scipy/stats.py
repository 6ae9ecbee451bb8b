"""Densities and distribution functions, as the closed forms that the compiler can read.

SciPy's own methods check and broadcast their arguments for some 50 us; the closed forms take a
few. They give what SciPy's give, nan for invalid parameters and the value outside the support
included.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special, stats

from ..registry import Unknown, adjoint, definition, primitives, refuse

BY_SHAPE = "by the shape of the distribution it has no closed form"
_forms: dict[tuple[type, str, str], Callable[..., Any]] = {}


def form(distribution, method):
    """Decorator: register the closed form of a method of a distribution."""

    def register(function):
        _forms[type(distribution), distribution.name, method] = function
        return function

    return register


def closed_form(distribution, method):
    """The closed form of a method; if there is none, the method itself, which is refused.

    Of a distribution whose density is known, every method has a derivative by the variable.
    """
    found = _forms.get((type(distribution), distribution.name, method))
    if found is not None:
        return found
    if method in SLOPES and (type(distribution), distribution.name, "logpdf") in _forms:
        return form(distribution, method)(standardised(distribution, method))
    bound = getattr(distribution, method)
    if bound not in primitives:
        refuse(bound, reason=f"the {method} of this distribution has no closed form here")
    return bound


# The derivatives by the variable: of the method, given the logarithm of the density there

SLOPES = {
    "pdf": None,
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
    log_density = getattr(general, "standard", general)

    def standard(x, *shapes):
        return bound(x, *shapes)

    standard.__name__ = f"{distribution.name}_{method}"

    @adjoint(standard)
    def by_variable(x, *shapes, out, d_out):
        at = out if method in ("ppf", "isf") else x
        d_x = d_out * slope(out, log_density(at, *shapes))
        return d_x, *[Unknown(BY_SHAPE) for _ in shapes]

    def density(x, *args, **kwds):
        return np.exp(general(x, *args, **kwds))

    def of_variable(x, *args, loc=0, scale=1, **kwds):
        shapes, loc, scale = parameters(distribution, args, kwds, loc, scale)
        return standard((x - loc) / positive(scale), *shapes)

    def of_level(x, *args, loc=0, scale=1, **kwds):
        shapes, loc, scale = parameters(distribution, args, kwds, loc, scale)
        return loc + positive(scale) * standard(x, *shapes)

    if method == "pdf":
        return density
    return of_level if method in ("ppf", "isf") else of_variable


def parameters(distribution, args, kwds, loc, scale):
    """The shapes of a distribution, its location and scale, from the arguments of a method."""
    count, names = distribution.numargs, (distribution.shapes or "").split(", ")
    shapes = [*args[:count], *[kwds[name] for name in names if name in kwds]]
    if len(args) > count + 2 or len(shapes) < len(args[:count]) + len(kwds):
        raise NotImplementedError("the distribution has no such parameter")
    if len(args) > count:
        loc = args[count]
    if len(args) > count + 1:
        scale = args[count + 1]
    return shapes, loc, scale


# The methods of all distributions


def _method(cls, name):
    def body(self, x, *args, **kwds):
        return closed_form(self, name)(x, *args, **kwds)

    definition(getattr(cls, name))(body)


def _frozen_method(cls, name):
    def body(self, x):
        return closed_form(self.dist, name)(x, *self.args, **self.kwds)

    definition(getattr(cls, name))(body)


class Frozen:
    """A distribution with its parameters."""

    def __init__(self, dist, args, kwds):
        self.dist, self.args, self.kwds = dist, args, kwds

    def pdf(self, x):
        return closed_form(self.dist, "pdf")(x, *self.args, **self.kwds)

    def logpdf(self, x):
        return closed_form(self.dist, "logpdf")(x, *self.args, **self.kwds)

    def pmf(self, k):
        return closed_form(self.dist, "pmf")(k, *self.args, **self.kwds)

    def logpmf(self, k):
        return closed_form(self.dist, "logpmf")(k, *self.args, **self.kwds)

    def cdf(self, x):
        return closed_form(self.dist, "cdf")(x, *self.args, **self.kwds)

    def logcdf(self, x):
        return closed_form(self.dist, "logcdf")(x, *self.args, **self.kwds)

    def sf(self, x):
        return closed_form(self.dist, "sf")(x, *self.args, **self.kwds)

    def logsf(self, x):
        return closed_form(self.dist, "logsf")(x, *self.args, **self.kwds)

    def ppf(self, q):
        return closed_form(self.dist, "ppf")(q, *self.args, **self.kwds)

    def isf(self, q):
        return closed_form(self.dist, "isf")(q, *self.args, **self.kwds)


def freeze(self, *args, **kwds):
    return Frozen(self, args, kwds)


_continuous, _discrete = type(stats.norm).__mro__[1], type(stats.poisson).__mro__[1]
for _cls, _names in ((_continuous, ("pdf", "logpdf")), (_discrete, ("pmf", "logpmf"))):
    for _name in (*_names, "cdf", "logcdf", "sf", "logsf", "ppf", "isf"):
        _method(_cls, _name)
for _example, _names in ((stats.norm(), ("pdf", "logpdf")), (stats.poisson(1), ("pmf", "logpmf"))):
    for _name in (*_names, "cdf", "logcdf", "sf", "logsf", "ppf", "isf"):
        _frozen_method(type(_example), _name)
definition(_continuous.__call__)(freeze)
definition(_discrete.__call__)(freeze)


def positive(x):
    """A parameter that must be positive: else nan, as is all that SciPy computes of it."""
    if np.ndim(x) == 0:
        return x if x > 0 else math.nan
    return np.where(x > 0, x, np.nan)


def within(x, high):
    """A parameter from 0 to a bound, else nan."""
    if np.ndim(x) == 0:
        return x if 0 <= x <= high else math.nan
    return np.where((x >= 0) & (x <= high), x, np.nan)


def scaled(x, loc, scale):
    return (x - loc) / positive(scale)


# Normal and related


@form(stats.norm, "pdf")
def norm_pdf(x, loc=0, scale=1):
    scale = positive(scale)
    z = (x - loc) / scale
    return np.exp(-0.5 * z * z) / (math.sqrt(2 * math.pi) * scale)


@form(stats.norm, "logpdf")
def norm_logpdf(x, loc=0, scale=1):
    scale = positive(scale)
    z = (x - loc) / scale
    return -0.5 * z * z - np.log(scale) - 0.5 * math.log(2 * math.pi)


@form(stats.norm, "cdf")
def norm_cdf(x, loc=0, scale=1):
    return special.ndtr(scaled(x, loc, scale))


@form(stats.norm, "logcdf")
def norm_logcdf(x, loc=0, scale=1):
    return special.log_ndtr(scaled(x, loc, scale))


@form(stats.norm, "sf")
def norm_sf(x, loc=0, scale=1):
    return special.ndtr(-scaled(x, loc, scale))


@form(stats.norm, "logsf")
def norm_logsf(x, loc=0, scale=1):
    return special.log_ndtr(-scaled(x, loc, scale))


@form(stats.norm, "ppf")
def norm_ppf(q, loc=0, scale=1):
    return special.ndtri(q) * positive(scale) + loc


@form(stats.norm, "isf")
def norm_isf(q, loc=0, scale=1):
    return loc - special.ndtri(q) * positive(scale)


@form(stats.halfnorm, "logpdf")
def halfnorm_logpdf(x, loc=0, scale=1):
    z = scaled(x, loc, scale)
    return np.where(x < loc, -np.inf, -0.5 * z * z) - np.log(scale) + 0.5 * math.log(2 / math.pi)


@form(stats.halfnorm, "pdf")
def halfnorm_pdf(x, loc=0, scale=1):
    return np.exp(halfnorm_logpdf(x, loc, scale))


@form(stats.halfnorm, "cdf")
def halfnorm_cdf(x, loc=0, scale=1):
    return special.erf(math.sqrt(0.5) * np.maximum(scaled(x, loc, scale), 0.0))


@form(stats.lognorm, "logpdf")
def lognorm_logpdf(x, s, loc=0, scale=1):
    s, z = positive(s), scaled(x, loc, scale)
    log = np.log(np.where(x <= loc, 1.0, z))
    inside = -0.5 * (log / s) ** 2 - np.log(s) - log - 0.5 * math.log(2 * math.pi)
    return np.where(x <= loc, -np.inf, inside) - np.log(scale)


@form(stats.lognorm, "pdf")
def lognorm_pdf(x, s, loc=0, scale=1):
    return np.exp(lognorm_logpdf(x, s, loc, scale))


@form(stats.lognorm, "cdf")
def lognorm_cdf(x, s, loc=0, scale=1):
    z = scaled(x, loc, scale)
    inside = special.ndtr(np.log(np.where(z <= 0, 1.0, z)) / positive(s))
    return 1.0 * np.where(z <= 0, 0.0, inside)


@form(stats.t, "logpdf")
def t_logpdf(x, df, loc=0, scale=1):
    df, z = positive(df), scaled(x, loc, scale)
    spread = -0.5 * (df + 1) * np.log1p(z * z / df)
    return spread - special.betaln(0.5 * df, 0.5) - 0.5 * np.log(df) - np.log(scale)


@form(stats.t, "pdf")
def t_pdf(x, df, loc=0, scale=1):
    return np.exp(t_logpdf(x, df, loc, scale))


@form(stats.t, "cdf")
def t_cdf(x, df, loc=0, scale=1):
    return special.stdtr(positive(df), scaled(x, loc, scale))


@form(stats.t, "sf")
def t_sf(x, df, loc=0, scale=1):
    return special.stdtr(positive(df), -scaled(x, loc, scale))


@form(stats.cauchy, "logpdf")
def cauchy_logpdf(x, loc=0, scale=1):
    z = scaled(x, loc, scale)
    return -np.log1p(z * z) - np.log(scale) - math.log(math.pi)


@form(stats.cauchy, "pdf")
def cauchy_pdf(x, loc=0, scale=1):
    z = scaled(x, loc, scale)
    return 1 / (math.pi * scale * (1 + z * z))


@form(stats.cauchy, "cdf")
def cauchy_cdf(x, loc=0, scale=1):
    return np.arctan2(1.0, -scaled(x, loc, scale)) / math.pi


# Exponential and related


@form(stats.expon, "logpdf")
def expon_logpdf(x, loc=0, scale=1):
    z = scaled(x, loc, scale)
    return np.where(x < loc, -np.inf, -z) - np.log(scale)


@form(stats.expon, "pdf")
def expon_pdf(x, loc=0, scale=1):
    return np.exp(expon_logpdf(x, loc, scale))


@form(stats.expon, "cdf")
def expon_cdf(x, loc=0, scale=1):
    return -np.expm1(-np.maximum(scaled(x, loc, scale), 0.0))


@form(stats.expon, "sf")
def expon_sf(x, loc=0, scale=1):
    return np.exp(-np.maximum(scaled(x, loc, scale), 0.0))


@form(stats.expon, "logsf")
def expon_logsf(x, loc=0, scale=1):
    return -np.maximum(scaled(x, loc, scale), 0.0)


@form(stats.gamma, "logpdf")
def gamma_logpdf(x, a, loc=0, scale=1):
    a, z = positive(a), scaled(x, loc, scale)
    kept = np.where(x < loc, 1.0, z)
    inside = special.xlogy(a - 1, kept) - kept - special.gammaln(a)
    return np.where(x < loc, -np.inf, inside) - np.log(scale)


@form(stats.gamma, "pdf")
def gamma_pdf(x, a, loc=0, scale=1):
    return np.exp(gamma_logpdf(x, a, loc, scale))


@form(stats.gamma, "cdf")
def gamma_cdf(x, a, loc=0, scale=1):
    return special.gammainc(positive(a), np.maximum(scaled(x, loc, scale), 0.0))


@form(stats.gamma, "sf")
def gamma_sf(x, a, loc=0, scale=1):
    return special.gammaincc(positive(a), np.maximum(scaled(x, loc, scale), 0.0))


@form(stats.chi2, "logpdf")
def chi2_logpdf(x, df, loc=0, scale=1):
    return gamma_logpdf(x, 0.5 * df, loc, 2 * scale)


@form(stats.chi2, "pdf")
def chi2_pdf(x, df, loc=0, scale=1):
    return np.exp(gamma_logpdf(x, 0.5 * df, loc, 2 * scale))


@form(stats.chi2, "cdf")
def chi2_cdf(x, df, loc=0, scale=1):
    return gamma_cdf(x, 0.5 * df, loc, 2 * scale)


@form(stats.chi2, "sf")
def chi2_sf(x, df, loc=0, scale=1):
    return gamma_sf(x, 0.5 * df, loc, 2 * scale)


@form(stats.laplace, "logpdf")
def laplace_logpdf(x, loc=0, scale=1):
    return -np.abs(scaled(x, loc, scale)) - np.log(scale) - math.log(2.0)


@form(stats.laplace, "pdf")
def laplace_pdf(x, loc=0, scale=1):
    return 0.5 * np.exp(-np.abs(scaled(x, loc, scale))) / scale


@form(stats.laplace, "cdf")
def laplace_cdf(x, loc=0, scale=1):
    z = scaled(x, loc, scale)
    below, above = 0.5 * np.exp(np.minimum(z, 0.0)), 0.5 * np.exp(-np.maximum(z, 0.0))
    return below + (0.5 - above)


@form(stats.logistic, "logpdf")
def logistic_logpdf(x, loc=0, scale=1):
    z = np.abs(scaled(x, loc, scale))
    return -z - 2 * np.log1p(np.exp(-z)) - np.log(scale)


@form(stats.logistic, "pdf")
def logistic_pdf(x, loc=0, scale=1):
    return np.exp(logistic_logpdf(x, loc, scale))


@form(stats.logistic, "cdf")
def logistic_cdf(x, loc=0, scale=1):
    return special.expit(scaled(x, loc, scale))


@form(stats.logistic, "sf")
def logistic_sf(x, loc=0, scale=1):
    return special.expit(-scaled(x, loc, scale))


@form(stats.logistic, "logcdf")
def logistic_logcdf(x, loc=0, scale=1):
    return special.log_expit(scaled(x, loc, scale))


@form(stats.logistic, "logsf")
def logistic_logsf(x, loc=0, scale=1):
    return special.log_expit(-scaled(x, loc, scale))


@form(stats.weibull_min, "logpdf")
def weibull_logpdf(x, c, loc=0, scale=1):
    c, z = positive(c), scaled(x, loc, scale)
    kept = np.where(x < loc, 1.0, z)
    inside = np.log(c) + special.xlogy(c - 1, kept) - kept**c
    return np.where(x < loc, -np.inf, inside) - np.log(scale)


@form(stats.weibull_min, "pdf")
def weibull_pdf(x, c, loc=0, scale=1):
    return np.exp(weibull_logpdf(x, c, loc, scale))


@form(stats.weibull_min, "cdf")
def weibull_cdf(x, c, loc=0, scale=1):
    return -np.expm1(-(np.maximum(scaled(x, loc, scale), 0.0) ** positive(c)))


@form(stats.weibull_min, "sf")
def weibull_sf(x, c, loc=0, scale=1):
    return np.exp(-(np.maximum(scaled(x, loc, scale), 0.0) ** positive(c)))


@form(stats.pareto, "logpdf")
def pareto_logpdf(x, b, loc=0, scale=1):
    b, z = positive(b), scaled(x, loc, scale)
    inside = np.log(b) - (b + 1) * np.log(np.where(z < 1, 1.0, z))
    return np.where(z < 1, -np.inf, inside) - np.log(scale)


@form(stats.pareto, "pdf")
def pareto_pdf(x, b, loc=0, scale=1):
    return np.exp(pareto_logpdf(x, b, loc, scale))


@form(stats.pareto, "cdf")
def pareto_cdf(x, b, loc=0, scale=1):
    return 1 - np.maximum(scaled(x, loc, scale), 1.0) ** -positive(b)


# On an interval


@form(stats.uniform, "logpdf")
def uniform_logpdf(x, loc=0, scale=1):
    z = scaled(x, loc, scale)
    return np.where((x < loc) | (z > 1), -np.inf, 0.0 * z) - np.log(scale)


@form(stats.uniform, "pdf")
def uniform_pdf(x, loc=0, scale=1):
    z = scaled(x, loc, scale)
    return np.where((x < loc) | (z > 1), 0.0, 1.0 + 0.0 * z) / positive(scale)


@form(stats.uniform, "cdf")
def uniform_cdf(x, loc=0, scale=1):
    return np.clip(scaled(x, loc, scale), 0.0, 1.0)


@form(stats.beta, "logpdf")
def beta_logpdf(x, a, b, loc=0, scale=1):
    a, b, z = positive(a), positive(b), scaled(x, loc, scale)
    outside = (x < loc) | (z > 1)
    kept = np.where(outside, 0.5, z)
    inside = special.xlogy(a - 1, kept) + special.xlog1py(b - 1, -kept) - special.betaln(a, b)
    return np.where(outside, -np.inf, inside) - np.log(scale)


@form(stats.beta, "pdf")
def beta_pdf(x, a, b, loc=0, scale=1):
    return np.exp(beta_logpdf(x, a, b, loc, scale))


@form(stats.beta, "cdf")
def beta_cdf(x, a, b, loc=0, scale=1):
    return special.betainc(positive(a), positive(b), np.clip(scaled(x, loc, scale), 0.0, 1.0))


# Discrete: by their parameters


def outside_counts(k):
    return (k < 0) | (k != np.floor(k))


@form(stats.poisson, "logpmf")
def poisson_logpmf(k, mu, loc=0):
    k = k - loc
    mu = within(mu, math.inf)
    outside = outside_counts(k)
    kept = np.where(outside, 0.0, k)
    inside = special.xlogy(kept, mu) - mu - special.gammaln(kept + 1)
    return 1.0 * np.where(outside, -np.inf, inside)


@form(stats.poisson, "pmf")
def poisson_pmf(k, mu, loc=0):
    return np.exp(poisson_logpmf(k, mu, loc))


@form(stats.binom, "logpmf")
def binom_logpmf(k, n, p, loc=0):
    k = k - loc
    p = within(p, 1)
    outside = outside_counts(k) | (k > n)
    kept = np.where(outside, 0.0, k)
    ways = special.gammaln(n + 1) - special.gammaln(kept + 1) - special.gammaln(n - kept + 1)
    inside = ways + special.xlogy(kept, p) + special.xlog1py(n - kept, -p)
    return 1.0 * np.where(outside, -np.inf, inside)


@form(stats.binom, "pmf")
def binom_pmf(k, n, p, loc=0):
    return np.exp(binom_logpmf(k, n, p, loc))


@form(stats.bernoulli, "logpmf")
def bernoulli_logpmf(k, p, loc=0):
    return binom_logpmf(k, 1, p, loc)


@form(stats.bernoulli, "pmf")
def bernoulli_pmf(k, p, loc=0):
    return np.exp(binom_logpmf(k, 1, p, loc))


from . import descriptive_stats, more_stats, stats_densities, vector_stats  # noqa: E402, F401  (they register the rest)
