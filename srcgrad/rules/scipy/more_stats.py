"""More densities and distribution functions: of rarer distributions, and inverse functions."""

from __future__ import annotations

import math

import numpy as np
from scipy import special, stats

from .stats import form, laplace_cdf, outside_counts, positive, scaled, within

# Inverse distribution functions


@form(stats.expon, "ppf")
def expon_ppf(q, loc=0, scale=1):
    return loc - np.log1p(-q) * positive(scale)


@form(stats.expon, "isf")
def expon_isf(q, loc=0, scale=1):
    return loc - np.log(q) * positive(scale)


@form(stats.expon, "logcdf")
def expon_logcdf(x, loc=0, scale=1):
    return np.log(-np.expm1(-np.maximum(scaled(x, loc, scale), 0.0)))


@form(stats.uniform, "ppf")
def uniform_ppf(q, loc=0, scale=1):
    return loc + q * positive(scale)


@form(stats.uniform, "sf")
def uniform_sf(x, loc=0, scale=1):
    return 1.0 - np.clip(scaled(x, loc, scale), 0.0, 1.0)


@form(stats.logistic, "ppf")
def logistic_ppf(q, loc=0, scale=1):
    return loc + special.logit(q) * positive(scale)


@form(stats.logistic, "isf")
def logistic_isf(q, loc=0, scale=1):
    return loc - special.logit(q) * positive(scale)


@form(stats.laplace, "ppf")
def laplace_ppf(q, loc=0, scale=1):
    side = np.where(q > 0.5, -np.log(2 * (1 - q)), np.log(2 * q))
    return loc + side * positive(scale)


@form(stats.laplace, "sf")
def laplace_sf(x, loc=0, scale=1):
    return laplace_cdf(-np.asarray(x), -loc, scale)


@form(stats.cauchy, "ppf")
def cauchy_ppf(q, loc=0, scale=1):
    return loc + np.tan(math.pi * q - 0.5 * math.pi) * positive(scale)


@form(stats.cauchy, "sf")
def cauchy_sf(x, loc=0, scale=1):
    return np.arctan2(1.0, scaled(x, loc, scale)) / math.pi


@form(stats.gamma, "ppf")
def gamma_ppf(q, a, loc=0, scale=1):
    return loc + special.gammaincinv(positive(a), q) * positive(scale)


@form(stats.gamma, "isf")
def gamma_isf(q, a, loc=0, scale=1):
    return loc + special.gammainccinv(positive(a), q) * positive(scale)


@form(stats.chi2, "ppf")
def chi2_ppf(q, df, loc=0, scale=1):
    return gamma_ppf(q, 0.5 * df, loc, 2 * scale)


@form(stats.beta, "ppf")
def beta_ppf(q, a, b, loc=0, scale=1):
    return loc + special.betaincinv(positive(a), positive(b), q) * positive(scale)


@form(stats.beta, "sf")
def beta_sf(x, a, b, loc=0, scale=1):
    z = np.clip(scaled(x, loc, scale), 0.0, 1.0)
    return special.betainc(positive(b), positive(a), 1 - z)


@form(stats.t, "ppf")
def t_ppf(q, df, loc=0, scale=1):
    return loc + special.stdtrit(positive(df), q) * positive(scale)


@form(stats.lognorm, "ppf")
def lognorm_ppf(q, s, loc=0, scale=1):
    return loc + np.exp(positive(s) * special.ndtri(q)) * positive(scale)


@form(stats.lognorm, "sf")
def lognorm_sf(x, s, loc=0, scale=1):
    log, below = of_logarithm(x, s, loc, scale)
    return 1.0 * np.where(below, 1.0, special.ndtr(-log))


@form(stats.lognorm, "logcdf")
def lognorm_logcdf(x, s, loc=0, scale=1):
    log, below = of_logarithm(x, s, loc, scale)
    return 1.0 * np.where(below, -np.inf, special.log_ndtr(log))


@form(stats.lognorm, "logsf")
def lognorm_logsf(x, s, loc=0, scale=1):
    log, below = of_logarithm(x, s, loc, scale)
    return 1.0 * np.where(below, 0.0, special.log_ndtr(-log))


def of_logarithm(x, s, loc, scale):
    """The number of the standard normal distribution, and where there is none."""
    z = scaled(x, loc, scale)
    below = z <= 0
    return np.log(np.where(below, 1.0, z)) / positive(s), below


@form(stats.lognorm, "isf")
def lognorm_isf(q, s, loc=0, scale=1):
    return loc + np.exp(-positive(s) * special.ndtri(q)) * positive(scale)


@form(stats.weibull_min, "logcdf")
def weibull_logcdf(x, c, loc=0, scale=1):
    return np.log(-np.expm1(-(np.maximum(scaled(x, loc, scale), 0.0) ** positive(c))))


@form(stats.weibull_min, "isf")
def weibull_isf(q, c, loc=0, scale=1):
    return loc + (-np.log(q)) ** (1 / positive(c)) * positive(scale)


@form(stats.pareto, "logcdf")
def pareto_logcdf(x, b, loc=0, scale=1):
    return np.log1p(-(np.maximum(scaled(x, loc, scale), 1.0) ** -positive(b)))


@form(stats.pareto, "isf")
def pareto_isf(q, b, loc=0, scale=1):
    return loc + q ** (-1 / positive(b)) * positive(scale)


@form(stats.weibull_min, "ppf")
def weibull_ppf(q, c, loc=0, scale=1):
    return loc + (-np.log1p(-q)) ** (1 / positive(c)) * positive(scale)


@form(stats.weibull_min, "logsf")
def weibull_logsf(x, c, loc=0, scale=1):
    return -(np.maximum(scaled(x, loc, scale), 0.0) ** positive(c))


@form(stats.pareto, "ppf")
def pareto_ppf(q, b, loc=0, scale=1):
    return loc + (1 - q) ** (-1 / positive(b)) * positive(scale)


@form(stats.pareto, "sf")
def pareto_sf(x, b, loc=0, scale=1):
    return np.maximum(scaled(x, loc, scale), 1.0) ** -positive(b)


@form(stats.pareto, "logsf")
def pareto_logsf(x, b, loc=0, scale=1):
    return -positive(b) * np.log(np.maximum(scaled(x, loc, scale), 1.0))


# Gumbel, Rayleigh, F and inverse gamma


@form(stats.gumbel_r, "logpdf")
def gumbel_r_logpdf(x, loc=0, scale=1):
    z = scaled(x, loc, scale)
    return -z - np.exp(-z) - np.log(scale)


@form(stats.gumbel_r, "pdf")
def gumbel_r_pdf(x, loc=0, scale=1):
    return np.exp(gumbel_r_logpdf(x, loc, scale))


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


@form(stats.gumbel_l, "pdf")
def gumbel_l_pdf(x, loc=0, scale=1):
    return np.exp(gumbel_l_logpdf(x, loc, scale))


@form(stats.gumbel_l, "cdf")
def gumbel_l_cdf(x, loc=0, scale=1):
    return -np.expm1(-np.exp(scaled(x, loc, scale)))


@form(stats.rayleigh, "logpdf")
def rayleigh_logpdf(x, loc=0, scale=1):
    z = scaled(x, loc, scale)
    inside = np.log(np.where(x <= loc, 1.0, z)) - 0.5 * z * z
    return np.where(x <= loc, -np.inf, inside) - np.log(scale)


@form(stats.rayleigh, "pdf")
def rayleigh_pdf(x, loc=0, scale=1):
    return np.exp(rayleigh_logpdf(x, loc, scale))


@form(stats.rayleigh, "cdf")
def rayleigh_cdf(x, loc=0, scale=1):
    z = np.maximum(scaled(x, loc, scale), 0.0)
    return -np.expm1(-0.5 * z * z)


@form(stats.f, "logpdf")
def f_logpdf(x, dfn, dfd, loc=0, scale=1):
    n, m, z = positive(dfn), positive(dfd), scaled(x, loc, scale)
    kept = np.where(x < loc, 1.0, z)
    inside = 0.5 * m * np.log(m) + 0.5 * n * np.log(n) + special.xlogy(0.5 * n - 1, kept)
    inside = inside - 0.5 * (n + m) * np.log(m + n * kept) - special.betaln(0.5 * n, 0.5 * m)
    return np.where(x < loc, -np.inf, inside) - np.log(scale)


@form(stats.f, "pdf")
def f_pdf(x, dfn, dfd, loc=0, scale=1):
    return np.exp(f_logpdf(x, dfn, dfd, loc, scale))


@form(stats.f, "cdf")
def f_cdf(x, dfn, dfd, loc=0, scale=1):
    z = np.maximum(scaled(x, loc, scale), 0.0)
    return special.fdtr(positive(dfn), positive(dfd), z)


@form(stats.f, "sf")
def f_sf(x, dfn, dfd, loc=0, scale=1):
    z = np.maximum(scaled(x, loc, scale), 0.0)
    return special.fdtrc(positive(dfn), positive(dfd), z)


@form(stats.invgamma, "logpdf")
def invgamma_logpdf(x, a, loc=0, scale=1):
    a, z = positive(a), scaled(x, loc, scale)
    kept = np.where(x <= loc, 1.0, z)
    inside = -(a + 1) * np.log(kept) - special.gammaln(a) - 1 / kept
    return np.where(x <= loc, -np.inf, inside) - np.log(scale)


@form(stats.invgamma, "pdf")
def invgamma_pdf(x, a, loc=0, scale=1):
    return np.exp(invgamma_logpdf(x, a, loc, scale))


# More counts


@form(stats.nbinom, "logpmf")
def nbinom_logpmf(k, n, p, loc=0):
    k = k - loc
    n, p = positive(n), within(p, 1)
    outside = outside_counts(k)
    kept = np.where(outside, 0.0, k)
    ways = special.gammaln(n + kept) - special.gammaln(kept + 1) - special.gammaln(n)
    inside = ways + n * np.log(p) + special.xlog1py(kept, -p)
    return 1.0 * np.where(outside, -np.inf, inside)


@form(stats.nbinom, "pmf")
def nbinom_pmf(k, n, p, loc=0):
    return np.exp(nbinom_logpmf(k, n, p, loc))


@form(stats.geom, "logpmf")
def geom_logpmf(k, p, loc=0):
    k = k - loc
    p = within(p, 1)
    outside = (k < 1) | (k != np.floor(k))
    inside = special.xlog1py(np.where(outside, 0.0, k - 1), -p) + np.log(p)
    return 1.0 * np.where(outside, -np.inf, inside)


@form(stats.geom, "pmf")
def geom_pmf(k, p, loc=0):
    return np.exp(geom_logpmf(k, p, loc))


@form(stats.poisson, "cdf")
def poisson_cdf(k, mu, loc=0):
    return 1.0 * np.where(k - loc < 0, 0.0, special.pdtr(np.maximum(k - loc, 0.0), mu))


@form(stats.poisson, "sf")
def poisson_sf(k, mu, loc=0):
    return 1.0 * np.where(k - loc < 0, 1.0, special.pdtrc(np.maximum(k - loc, 0.0), mu))


@form(stats.binom, "cdf")
def binom_cdf(k, n, p, loc=0):
    k = np.floor(k - loc)
    kept = np.clip(k, 0.0, n - 1)
    inside = special.betainc(n - kept, kept + 1, 1 - within(p, 1))
    return 1.0 * np.where(k < 0, 0.0, np.where(k >= n, 1.0, inside))


@form(stats.nbinom, "cdf")
def nbinom_cdf(k, n, p, loc=0):
    k = np.floor(k - loc)
    inside = special.betainc(positive(n), np.maximum(k, 0.0) + 1, within(p, 1))
    return 1.0 * np.where(k < 0, 0.0, inside)


@form(stats.geom, "cdf")
def geom_cdf(k, p, loc=0):
    return -np.expm1(np.maximum(np.floor(k - loc), 0.0) * np.log1p(-within(p, 1)))
