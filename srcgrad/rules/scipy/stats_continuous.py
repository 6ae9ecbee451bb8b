"""Closed forms of continuous distributions: what their methods compute, in NumPy.

A density without a form of its own is the exponential of its logarithm.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special, stats

from .stats_distributions import form, positive, scaled

# Normal and related


@form(stats.norm, "logpdf")
def norm_logpdf(x, loc=0, scale=1):
    scale = positive(scale)
    z = (x - loc) / scale
    return -0.5 * z * z - np.log(scale) - 0.5 * math.log(2 * math.pi)


@form(stats.norm, "pdf")
def norm_pdf(x, loc=0, scale=1):
    scale = positive(scale)
    z = (x - loc) / scale
    return np.exp(-0.5 * z * z) / (math.sqrt(2 * math.pi) * scale)


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


@form(stats.halfnorm, "cdf")
def halfnorm_cdf(x, loc=0, scale=1):
    return special.erf(math.sqrt(0.5) * np.maximum(scaled(x, loc, scale), 0.0))


@form(stats.lognorm, "logpdf")
def lognorm_logpdf(x, s, loc=0, scale=1):
    s, z = positive(s), scaled(x, loc, scale)
    log = np.log(np.where(x <= loc, 1.0, z))
    inside = -0.5 * (log / s) ** 2 - np.log(s) - log - 0.5 * math.log(2 * math.pi)
    return np.where(x <= loc, -np.inf, inside) - np.log(scale)


@form(stats.lognorm, "cdf")
def lognorm_cdf(x, s, loc=0, scale=1):
    z = scaled(x, loc, scale)
    inside = special.ndtr(np.log(np.where(z <= 0, 1.0, z)) / positive(s))
    return 1.0 * np.where(z <= 0, 0.0, inside)


@form(stats.lognorm, "logcdf")
def lognorm_logcdf(x, s, loc=0, scale=1):
    log, below = of_logarithm(x, s, loc, scale)
    return 1.0 * np.where(below, -np.inf, special.log_ndtr(log))


@form(stats.lognorm, "sf")
def lognorm_sf(x, s, loc=0, scale=1):
    log, below = of_logarithm(x, s, loc, scale)
    return 1.0 * np.where(below, 1.0, special.ndtr(-log))


@form(stats.lognorm, "logsf")
def lognorm_logsf(x, s, loc=0, scale=1):
    log, below = of_logarithm(x, s, loc, scale)
    return 1.0 * np.where(below, 0.0, special.log_ndtr(-log))


@form(stats.lognorm, "ppf")
def lognorm_ppf(q, s, loc=0, scale=1):
    return loc + np.exp(positive(s) * special.ndtri(q)) * positive(scale)


@form(stats.lognorm, "isf")
def lognorm_isf(q, s, loc=0, scale=1):
    return loc + np.exp(-positive(s) * special.ndtri(q)) * positive(scale)


def of_logarithm(x, s, loc, scale):
    """The number of the standard normal distribution, and where there is none."""
    z = scaled(x, loc, scale)
    below = z <= 0
    return np.log(np.where(below, 1.0, z)) / positive(s), below


@form(stats.t, "logpdf")
def t_logpdf(x, df, loc=0, scale=1):
    df, z = positive(df), scaled(x, loc, scale)
    spread = -0.5 * (df + 1) * np.log1p(z * z / df)
    return spread - special.betaln(0.5 * df, 0.5) - 0.5 * np.log(df) - np.log(scale)


@form(stats.t, "cdf")
def t_cdf(x, df, loc=0, scale=1):
    return special.stdtr(positive(df), scaled(x, loc, scale))


@form(stats.t, "sf")
def t_sf(x, df, loc=0, scale=1):
    return special.stdtr(positive(df), -scaled(x, loc, scale))


@form(stats.t, "ppf")
def t_ppf(q, df, loc=0, scale=1):
    return loc + special.stdtrit(positive(df), q) * positive(scale)


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


@form(stats.cauchy, "sf")
def cauchy_sf(x, loc=0, scale=1):
    return np.arctan2(1.0, scaled(x, loc, scale)) / math.pi


@form(stats.cauchy, "ppf")
def cauchy_ppf(q, loc=0, scale=1):
    return loc + np.tan(math.pi * q - 0.5 * math.pi) * positive(scale)


@form(stats.f, "logpdf")
def f_logpdf(x, dfn, dfd, loc=0, scale=1):
    n, m, z = positive(dfn), positive(dfd), scaled(x, loc, scale)
    kept = np.where(x < loc, 1.0, z)
    inside = 0.5 * m * np.log(m) + 0.5 * n * np.log(n) + special.xlogy(0.5 * n - 1, kept)
    inside = inside - 0.5 * (n + m) * np.log(m + n * kept) - special.betaln(0.5 * n, 0.5 * m)
    return np.where(x < loc, -np.inf, inside) - np.log(scale)


@form(stats.f, "cdf")
def f_cdf(x, dfn, dfd, loc=0, scale=1):
    z = np.maximum(scaled(x, loc, scale), 0.0)
    return special.fdtr(positive(dfn), positive(dfd), z)


@form(stats.f, "sf")
def f_sf(x, dfn, dfd, loc=0, scale=1):
    z = np.maximum(scaled(x, loc, scale), 0.0)
    return special.fdtrc(positive(dfn), positive(dfd), z)


# Exponential and related


@form(stats.expon, "logpdf")
def expon_logpdf(x, loc=0, scale=1):
    z = scaled(x, loc, scale)
    return np.where(x < loc, -np.inf, -z) - np.log(scale)


@form(stats.expon, "cdf")
def expon_cdf(x, loc=0, scale=1):
    return -np.expm1(-np.maximum(scaled(x, loc, scale), 0.0))


@form(stats.expon, "logcdf")
def expon_logcdf(x, loc=0, scale=1):
    return np.log(-np.expm1(-np.maximum(scaled(x, loc, scale), 0.0)))


@form(stats.expon, "sf")
def expon_sf(x, loc=0, scale=1):
    return np.exp(-np.maximum(scaled(x, loc, scale), 0.0))


@form(stats.expon, "logsf")
def expon_logsf(x, loc=0, scale=1):
    return -np.maximum(scaled(x, loc, scale), 0.0)


@form(stats.expon, "ppf")
def expon_ppf(q, loc=0, scale=1):
    return loc - np.log1p(-q) * positive(scale)


@form(stats.expon, "isf")
def expon_isf(q, loc=0, scale=1):
    return loc - np.log(q) * positive(scale)


@form(stats.gamma, "logpdf")
def gamma_logpdf(x, a, loc=0, scale=1):
    a, z = positive(a), scaled(x, loc, scale)
    kept = np.where(x < loc, 1.0, z)
    inside = special.xlogy(a - 1, kept) - kept - special.gammaln(a)
    return np.where(x < loc, -np.inf, inside) - np.log(scale)


@form(stats.gamma, "cdf")
def gamma_cdf(x, a, loc=0, scale=1):
    return special.gammainc(positive(a), np.maximum(scaled(x, loc, scale), 0.0))


@form(stats.gamma, "sf")
def gamma_sf(x, a, loc=0, scale=1):
    return special.gammaincc(positive(a), np.maximum(scaled(x, loc, scale), 0.0))


@form(stats.gamma, "ppf")
def gamma_ppf(q, a, loc=0, scale=1):
    return loc + special.gammaincinv(positive(a), q) * positive(scale)


@form(stats.gamma, "isf")
def gamma_isf(q, a, loc=0, scale=1):
    return loc + special.gammainccinv(positive(a), q) * positive(scale)


@form(stats.invgamma, "logpdf")
def invgamma_logpdf(x, a, loc=0, scale=1):
    a, z = positive(a), scaled(x, loc, scale)
    kept = np.where(x <= loc, 1.0, z)
    inside = -(a + 1) * np.log(kept) - special.gammaln(a) - 1 / kept
    return np.where(x <= loc, -np.inf, inside) - np.log(scale)


@form(stats.chi2, "logpdf")
def chi2_logpdf(x, df, loc=0, scale=1):
    return gamma_logpdf(x, 0.5 * df, loc, 2 * scale)


@form(stats.chi2, "cdf")
def chi2_cdf(x, df, loc=0, scale=1):
    return gamma_cdf(x, 0.5 * df, loc, 2 * scale)


@form(stats.chi2, "sf")
def chi2_sf(x, df, loc=0, scale=1):
    return gamma_sf(x, 0.5 * df, loc, 2 * scale)


@form(stats.chi2, "ppf")
def chi2_ppf(q, df, loc=0, scale=1):
    return gamma_ppf(q, 0.5 * df, loc, 2 * scale)


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


@form(stats.laplace, "sf")
def laplace_sf(x, loc=0, scale=1):
    return laplace_cdf(-np.asarray(x), -loc, scale)


@form(stats.laplace, "ppf")
def laplace_ppf(q, loc=0, scale=1):
    side = np.where(q > 0.5, -np.log(2 * (1 - q)), np.log(2 * q))
    return loc + side * positive(scale)


@form(stats.logistic, "logpdf")
def logistic_logpdf(x, loc=0, scale=1):
    z = np.abs(scaled(x, loc, scale))
    return -z - 2 * np.log1p(np.exp(-z)) - np.log(scale)


@form(stats.logistic, "cdf")
def logistic_cdf(x, loc=0, scale=1):
    return special.expit(scaled(x, loc, scale))


@form(stats.logistic, "logcdf")
def logistic_logcdf(x, loc=0, scale=1):
    return special.log_expit(scaled(x, loc, scale))


@form(stats.logistic, "sf")
def logistic_sf(x, loc=0, scale=1):
    return special.expit(-scaled(x, loc, scale))


@form(stats.logistic, "logsf")
def logistic_logsf(x, loc=0, scale=1):
    return special.log_expit(-scaled(x, loc, scale))


@form(stats.logistic, "ppf")
def logistic_ppf(q, loc=0, scale=1):
    return loc + special.logit(q) * positive(scale)


@form(stats.logistic, "isf")
def logistic_isf(q, loc=0, scale=1):
    return loc - special.logit(q) * positive(scale)


@form(stats.weibull_min, "logpdf")
def weibull_logpdf(x, c, loc=0, scale=1):
    c, z = positive(c), scaled(x, loc, scale)
    kept = np.where(x < loc, 1.0, z)
    inside = np.log(c) + special.xlogy(c - 1, kept) - kept**c
    return np.where(x < loc, -np.inf, inside) - np.log(scale)


@form(stats.weibull_min, "cdf")
def weibull_cdf(x, c, loc=0, scale=1):
    return -np.expm1(-(np.maximum(scaled(x, loc, scale), 0.0) ** positive(c)))


@form(stats.weibull_min, "logcdf")
def weibull_logcdf(x, c, loc=0, scale=1):
    return np.log(-np.expm1(-(np.maximum(scaled(x, loc, scale), 0.0) ** positive(c))))


@form(stats.weibull_min, "sf")
def weibull_sf(x, c, loc=0, scale=1):
    return np.exp(-(np.maximum(scaled(x, loc, scale), 0.0) ** positive(c)))


@form(stats.weibull_min, "logsf")
def weibull_logsf(x, c, loc=0, scale=1):
    return -(np.maximum(scaled(x, loc, scale), 0.0) ** positive(c))


@form(stats.weibull_min, "ppf")
def weibull_ppf(q, c, loc=0, scale=1):
    return loc + (-np.log1p(-q)) ** (1 / positive(c)) * positive(scale)


@form(stats.weibull_min, "isf")
def weibull_isf(q, c, loc=0, scale=1):
    return loc + (-np.log(q)) ** (1 / positive(c)) * positive(scale)


@form(stats.rayleigh, "logpdf")
def rayleigh_logpdf(x, loc=0, scale=1):
    z = scaled(x, loc, scale)
    inside = np.log(np.where(x <= loc, 1.0, z)) - 0.5 * z * z
    return np.where(x <= loc, -np.inf, inside) - np.log(scale)


@form(stats.rayleigh, "cdf")
def rayleigh_cdf(x, loc=0, scale=1):
    z = np.maximum(scaled(x, loc, scale), 0.0)
    return -np.expm1(-0.5 * z * z)


@form(stats.pareto, "logpdf")
def pareto_logpdf(x, b, loc=0, scale=1):
    b, z = positive(b), scaled(x, loc, scale)
    inside = np.log(b) - (b + 1) * np.log(np.where(z < 1, 1.0, z))
    return np.where(z < 1, -np.inf, inside) - np.log(scale)


@form(stats.pareto, "cdf")
def pareto_cdf(x, b, loc=0, scale=1):
    return 1 - np.maximum(scaled(x, loc, scale), 1.0) ** -positive(b)


@form(stats.pareto, "logcdf")
def pareto_logcdf(x, b, loc=0, scale=1):
    return np.log1p(-(np.maximum(scaled(x, loc, scale), 1.0) ** -positive(b)))


@form(stats.pareto, "sf")
def pareto_sf(x, b, loc=0, scale=1):
    return np.maximum(scaled(x, loc, scale), 1.0) ** -positive(b)


@form(stats.pareto, "logsf")
def pareto_logsf(x, b, loc=0, scale=1):
    return -positive(b) * np.log(np.maximum(scaled(x, loc, scale), 1.0))


@form(stats.pareto, "ppf")
def pareto_ppf(q, b, loc=0, scale=1):
    return loc + (1 - q) ** (-1 / positive(b)) * positive(scale)


@form(stats.pareto, "isf")
def pareto_isf(q, b, loc=0, scale=1):
    return loc + q ** (-1 / positive(b)) * positive(scale)


@form(stats.gumbel_r, "logpdf")
def gumbel_r_logpdf(x, loc=0, scale=1):
    z = scaled(x, loc, scale)
    return -z - np.exp(-z) - np.log(scale)


@form(stats.gumbel_r, "cdf")
def gumbel_r_cdf(x, loc=0, scale=1):
    return np.exp(-np.exp(-scaled(x, loc, scale)))


@form(stats.gumbel_r, "logcdf")
def gumbel_r_logcdf(x, loc=0, scale=1):
    return -np.exp(-scaled(x, loc, scale))


@form(stats.gumbel_r, "sf")
def gumbel_r_sf(x, loc=0, scale=1):
    return -np.expm1(-np.exp(-scaled(x, loc, scale)))


@form(stats.gumbel_r, "ppf")
def gumbel_r_ppf(q, loc=0, scale=1):
    return loc - np.log(-np.log(q)) * positive(scale)


@form(stats.gumbel_l, "logpdf")
def gumbel_l_logpdf(x, loc=0, scale=1):
    z = scaled(x, loc, scale)
    return z - np.exp(z) - np.log(scale)


@form(stats.gumbel_l, "cdf")
def gumbel_l_cdf(x, loc=0, scale=1):
    return -np.expm1(-np.exp(scaled(x, loc, scale)))


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


@form(stats.uniform, "sf")
def uniform_sf(x, loc=0, scale=1):
    return 1.0 - np.clip(scaled(x, loc, scale), 0.0, 1.0)


@form(stats.uniform, "ppf")
def uniform_ppf(q, loc=0, scale=1):
    return loc + q * positive(scale)


@form(stats.beta, "logpdf")
def beta_logpdf(x, a, b, loc=0, scale=1):
    a, b, z = positive(a), positive(b), scaled(x, loc, scale)
    outside = (x < loc) | (z > 1)
    kept = np.where(outside, 0.5, z)
    inside = special.xlogy(a - 1, kept) + special.xlog1py(b - 1, -kept) - special.betaln(a, b)
    return np.where(outside, -np.inf, inside) - np.log(scale)


@form(stats.beta, "cdf")
def beta_cdf(x, a, b, loc=0, scale=1):
    return special.betainc(positive(a), positive(b), np.clip(scaled(x, loc, scale), 0.0, 1.0))


@form(stats.beta, "sf")
def beta_sf(x, a, b, loc=0, scale=1):
    z = np.clip(scaled(x, loc, scale), 0.0, 1.0)
    return special.betainc(positive(b), positive(a), 1 - z)


@form(stats.beta, "ppf")
def beta_ppf(q, a, b, loc=0, scale=1):
    return loc + special.betaincinv(positive(a), positive(b), q) * positive(scale)
