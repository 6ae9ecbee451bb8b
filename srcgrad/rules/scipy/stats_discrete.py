"""Closed forms of discrete distributions, which have derivatives by their parameters."""

from __future__ import annotations

import math

import numpy as np
from scipy import special, stats

from .stats_distributions import form, positive, within


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


@form(stats.poisson, "cdf")
def poisson_cdf(k, mu, loc=0):
    return 1.0 * np.where(k - loc < 0, 0.0, special.pdtr(np.maximum(k - loc, 0.0), mu))


@form(stats.poisson, "sf")
def poisson_sf(k, mu, loc=0):
    return 1.0 * np.where(k - loc < 0, 1.0, special.pdtrc(np.maximum(k - loc, 0.0), mu))


@form(stats.binom, "logpmf")
def binom_logpmf(k, n, p, loc=0):
    k = k - loc
    p = within(p, 1)
    outside = outside_counts(k) | (k > n)
    kept = np.where(outside, 0.0, k)
    ways = special.gammaln(n + 1) - special.gammaln(kept + 1) - special.gammaln(n - kept + 1)
    inside = ways + special.xlogy(kept, p) + special.xlog1py(n - kept, -p)
    return 1.0 * np.where(outside, -np.inf, inside)


@form(stats.binom, "cdf")
def binom_cdf(k, n, p, loc=0):
    k = np.floor(k - loc)
    kept = np.clip(k, 0.0, n - 1)
    inside = special.betainc(n - kept, kept + 1, 1 - within(p, 1))
    return 1.0 * np.where(k < 0, 0.0, np.where(k >= n, 1.0, inside))


form(stats.bernoulli, "logpmf")(lambda k, p, loc=0: binom_logpmf(k, 1, p, loc))


@form(stats.nbinom, "logpmf")
def nbinom_logpmf(k, n, p, loc=0):
    k = k - loc
    n, p = positive(n), within(p, 1)
    outside = outside_counts(k)
    kept = np.where(outside, 0.0, k)
    ways = special.gammaln(n + kept) - special.gammaln(kept + 1) - special.gammaln(n)
    inside = ways + n * np.log(p) + special.xlog1py(kept, -p)
    return 1.0 * np.where(outside, -np.inf, inside)


@form(stats.nbinom, "cdf")
def nbinom_cdf(k, n, p, loc=0):
    k = np.floor(k - loc)
    inside = special.betainc(positive(n), np.maximum(k, 0.0) + 1, within(p, 1))
    return 1.0 * np.where(k < 0, 0.0, inside)


@form(stats.geom, "logpmf")
def geom_logpmf(k, p, loc=0):
    k = k - loc
    p = within(p, 1)
    outside = (k < 1) | (k != np.floor(k))
    inside = special.xlog1py(np.where(outside, 0.0, k - 1), -p) + np.log(p)
    return 1.0 * np.where(outside, -np.inf, inside)


form(stats.geom, "cdf")(
    lambda k, p, loc=0: -np.expm1(np.maximum(np.floor(k - loc), 0.0) * np.log1p(-within(p, 1)))
)
