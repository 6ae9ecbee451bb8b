"""Closed forms of continuous distributions in standard form: what their methods compute, in NumPy.

A density without a form of its own is the exponential of its logarithm.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special, stats

from .stats_distributions import (
    HALF_LOG_2PI,
    above_zero,
    form,
    on_unit,
    positive,
    standard,
    strictly_above_zero,
)

# Normal and related

standard(stats.norm)(lambda z: -0.5 * z * z - HALF_LOG_2PI)
standard(stats.norm, "pdf")(lambda z: np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi))
standard(stats.norm, "cdf")(lambda z: special.ndtr(z))
standard(stats.norm, "logcdf")(lambda z: special.log_ndtr(z))
standard(stats.norm, "sf")(lambda z: special.ndtr(-z))
standard(stats.norm, "logsf")(lambda z: special.log_ndtr(-z))
standard(stats.norm, "ppf")(lambda q: special.ndtri(q))
standard(stats.norm, "isf")(lambda q: -special.ndtri(q))

standard(stats.halfnorm, support=above_zero)(lambda z: 0.5 * math.log(2 / math.pi) - 0.5 * z * z)
standard(stats.halfnorm, "cdf")(lambda z: special.erf(math.sqrt(0.5) * np.maximum(z, 0.0)))


@standard(stats.lognorm, support=strictly_above_zero)
def lognorm(z, s):
    log = np.log(z)
    return -0.5 * (log / s) ** 2 - np.log(s) - log - HALF_LOG_2PI


def of_logarithm(function, z, s, below, sign=1):
    """A function of the standard normal distribution at the logarithm, or what it is below 0."""
    log = sign * np.log(np.where(z <= 0, 1.0, z)) / s
    return 1.0 * np.where(z <= 0, below, function(log))


standard(stats.lognorm, "cdf")(lambda z, s: of_logarithm(special.ndtr, z, s, 0.0))
standard(stats.lognorm, "logcdf")(lambda z, s: of_logarithm(special.log_ndtr, z, s, -np.inf))
standard(stats.lognorm, "sf")(lambda z, s: of_logarithm(special.ndtr, z, s, 1.0, -1))
standard(stats.lognorm, "logsf")(lambda z, s: of_logarithm(special.log_ndtr, z, s, 0.0, -1))
standard(stats.lognorm, "ppf")(lambda q, s: np.exp(s * special.ndtri(q)))
standard(stats.lognorm, "isf")(lambda q, s: np.exp(-s * special.ndtri(q)))


@standard(stats.t)
def t(z, df):
    spread = -0.5 * (df + 1) * np.log1p(z * z / df)
    return spread - special.betaln(0.5 * df, 0.5) - 0.5 * np.log(df)


standard(stats.t, "cdf")(lambda z, df: special.stdtr(df, z))
standard(stats.t, "sf")(lambda z, df: special.stdtr(df, -z))
standard(stats.t, "ppf")(lambda q, df: special.stdtrit(df, q))

standard(stats.cauchy)(lambda z: -np.log1p(z * z) - math.log(math.pi))
standard(stats.cauchy, "pdf")(lambda z: 1 / (math.pi * (1 + z * z)))
standard(stats.cauchy, "cdf")(lambda z: np.arctan2(1.0, -z) / math.pi)
standard(stats.cauchy, "sf")(lambda z: np.arctan2(1.0, z) / math.pi)
standard(stats.cauchy, "ppf")(lambda q: np.tan(math.pi * q - 0.5 * math.pi))


@standard(stats.f, support=above_zero)
def f(z, dfn, dfd):
    n, m = dfn, dfd
    inside = 0.5 * m * np.log(m) + 0.5 * n * np.log(n) + special.xlogy(0.5 * n - 1, z)
    return inside - 0.5 * (n + m) * np.log(m + n * z) - special.betaln(0.5 * n, 0.5 * m)


standard(stats.f, "cdf")(lambda z, dfn, dfd: special.fdtr(dfn, dfd, np.maximum(z, 0.0)))
standard(stats.f, "sf")(lambda z, dfn, dfd: special.fdtrc(dfn, dfd, np.maximum(z, 0.0)))

# Exponential and related


@form(stats.expon, "logpdf")
def expon_logpdf(x, loc=0, scale=1):
    """Compared with the location: where an integrand jumps doesn't move with the scale then."""
    scale = positive(scale)
    return np.where(x < loc, -np.inf, -(x - loc) / scale) - np.log(scale)


standard(stats.expon, "cdf")(lambda z: -np.expm1(-np.maximum(z, 0.0)))
standard(stats.expon, "logcdf")(lambda z: np.log(-np.expm1(-np.maximum(z, 0.0))))
standard(stats.expon, "sf")(lambda z: np.exp(-np.maximum(z, 0.0)))
standard(stats.expon, "logsf")(lambda z: -np.maximum(z, 0.0))
standard(stats.expon, "ppf")(lambda q: -np.log1p(-q))
standard(stats.expon, "isf")(lambda q: -np.log(q))


@standard(stats.gamma, support=above_zero)
def gamma(z, a):
    return special.xlogy(a - 1, z) - z - special.gammaln(a)


standard(stats.gamma, "cdf")(lambda z, a: special.gammainc(a, np.maximum(z, 0.0)))
standard(stats.gamma, "sf")(lambda z, a: special.gammaincc(a, np.maximum(z, 0.0)))
standard(stats.gamma, "ppf")(lambda q, a: special.gammaincinv(a, q))
standard(stats.gamma, "isf")(lambda q, a: special.gammainccinv(a, q))

standard(stats.invgamma, support=strictly_above_zero)(
    lambda z, a: -(a + 1) * np.log(z) - special.gammaln(a) - 1 / z
)

standard(stats.chi2, support=above_zero)(lambda z, df: gamma(0.5 * z, 0.5 * df) - math.log(2.0))
standard(stats.chi2, "cdf")(lambda z, df: special.gammainc(0.5 * df, 0.5 * np.maximum(z, 0.0)))
standard(stats.chi2, "sf")(lambda z, df: special.gammaincc(0.5 * df, 0.5 * np.maximum(z, 0.0)))
standard(stats.chi2, "ppf")(lambda q, df: 2 * special.gammaincinv(0.5 * df, q))

standard(stats.laplace)(lambda z: -np.abs(z) - math.log(2.0))
standard(stats.laplace, "pdf")(lambda z: 0.5 * np.exp(-np.abs(z)))


@standard(stats.laplace, "cdf")
def laplace_cdf(z):
    below, above = 0.5 * np.exp(np.minimum(z, 0.0)), 0.5 * np.exp(-np.maximum(z, 0.0))
    return below + (0.5 - above)


standard(stats.laplace, "sf")(lambda z: laplace_cdf(-z))
standard(stats.laplace, "ppf")(lambda q: np.where(q > 0.5, -np.log(2 * (1 - q)), np.log(2 * q)))


@standard(stats.logistic)
def logistic(z):
    size = np.abs(z)
    return -size - 2 * np.log1p(np.exp(-size))


standard(stats.logistic, "cdf")(lambda z: special.expit(z))
standard(stats.logistic, "logcdf")(lambda z: special.log_expit(z))
standard(stats.logistic, "sf")(lambda z: special.expit(-z))
standard(stats.logistic, "logsf")(lambda z: special.log_expit(-z))
standard(stats.logistic, "ppf")(lambda q: special.logit(q))
standard(stats.logistic, "isf")(lambda q: -special.logit(q))

standard(stats.weibull_min, support=above_zero)(
    lambda z, c: np.log(c) + special.xlogy(c - 1, z) - z**c
)


def weibull_rate(z, c):
    return np.maximum(z, 0.0) ** c


standard(stats.weibull_min, "cdf")(lambda z, c: -np.expm1(-weibull_rate(z, c)))
standard(stats.weibull_min, "logcdf")(lambda z, c: np.log(-np.expm1(-weibull_rate(z, c))))
standard(stats.weibull_min, "sf")(lambda z, c: np.exp(-weibull_rate(z, c)))
standard(stats.weibull_min, "logsf")(lambda z, c: -weibull_rate(z, c))
standard(stats.weibull_min, "ppf")(lambda q, c: (-np.log1p(-q)) ** (1 / c))
standard(stats.weibull_min, "isf")(lambda q, c: (-np.log(q)) ** (1 / c))

standard(stats.rayleigh, support=strictly_above_zero)(lambda z: np.log(z) - 0.5 * z * z)
standard(stats.rayleigh, "cdf")(lambda z: -np.expm1(-0.5 * np.maximum(z, 0.0) ** 2))


@standard(stats.pareto)
def pareto(z, b):
    inside = np.log(b) - (b + 1) * np.log(np.where(z < 1, 1.0, z))
    return np.where(z < 1, -np.inf, inside)


standard(stats.pareto, "cdf")(lambda z, b: 1 - np.maximum(z, 1.0) ** -b)
standard(stats.pareto, "logcdf")(lambda z, b: np.log1p(-(np.maximum(z, 1.0) ** -b)))
standard(stats.pareto, "sf")(lambda z, b: np.maximum(z, 1.0) ** -b)
standard(stats.pareto, "logsf")(lambda z, b: -b * np.log(np.maximum(z, 1.0)))
standard(stats.pareto, "ppf")(lambda q, b: (1 - q) ** (-1 / b))
standard(stats.pareto, "isf")(lambda q, b: q ** (-1 / b))

standard(stats.gumbel_r)(lambda z: -z - np.exp(-z))
standard(stats.gumbel_r, "cdf")(lambda z: np.exp(-np.exp(-z)))
standard(stats.gumbel_r, "logcdf")(lambda z: -np.exp(-z))
standard(stats.gumbel_r, "sf")(lambda z: -np.expm1(-np.exp(-z)))
standard(stats.gumbel_r, "ppf")(lambda q: -np.log(-np.log(q)))
standard(stats.gumbel_l)(lambda z: z - np.exp(z))
standard(stats.gumbel_l, "cdf")(lambda z: -np.expm1(-np.exp(z)))

# On an interval

standard(stats.uniform, support=on_unit)(lambda z: 0.0 * z)
standard(stats.uniform, "pdf")(lambda z: np.where((z < 0) | (z > 1), 0.0, 1.0 + 0.0 * z))
standard(stats.uniform, "cdf")(lambda z: np.clip(z, 0.0, 1.0))
standard(stats.uniform, "sf")(lambda z: 1.0 - np.clip(z, 0.0, 1.0))
standard(stats.uniform, "ppf")(lambda q: q)

standard(stats.beta, support=on_unit)(
    lambda z, a, b: special.xlogy(a - 1, z) + special.xlog1py(b - 1, -z) - special.betaln(a, b)
)

standard(stats.beta, "cdf")(lambda z, a, b: special.betainc(a, b, np.clip(z, 0.0, 1.0)))
standard(stats.beta, "sf")(lambda z, a, b: special.betainc(b, a, 1 - np.clip(z, 0.0, 1.0)))
standard(stats.beta, "ppf")(lambda q, a, b: special.betaincinv(a, b, q))
