"""Statistics that order samples or compare two of them: trimmed means, ranges, distances, tests and
bins. What only counts or ranks is constant."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import special, stats

from ...analysis.inference import Inferred
from ...kinds import Array
from ..registry import definition, kind, passes_for, zero
from .kinds import operand_kind
from .left import left

# Of one sample


@definition(stats.trim_mean)
def trim_mean(a, proportiontocut, axis=0, *, keepdims=False):
    a = np.asarray(a)
    rows = np.reshape(a, (-1, 1)) if axis is None else np.moveaxis(a, axis, 0)
    count = rows.shape[0]
    cut = int(proportiontocut * count)
    if cut > count - cut:
        raise ValueError("Proportion too big.")
    found = np.mean(np.sort(rows, axis=0)[cut : count - cut], axis=0)
    if axis is None:
        return np.reshape(found, (1,) * a.ndim) if keepdims else found[0]
    return np.expand_dims(found, axis) if keepdims else found


@definition(stats.iqr)
def iqr(x, axis=None, rng=(25, 75), scale=1.0, *, interpolation="linear", keepdims=False):
    if scale == "normal":
        scale = 2 * special.ndtri(0.75)
    low, high = min(rng[0], rng[1]), max(rng[0], rng[1])
    x = np.asarray(x)
    upper = np.percentile(x, high, axis=axis, method=interpolation, keepdims=keepdims)
    lower = np.percentile(x, low, axis=axis, method=interpolation, keepdims=keepdims)
    return (upper - lower) / scale


# Of two: the area, and the area of the square, between their distribution functions


def distribution_at(sample, weights, places):
    """The distribution function of a sample, at places where it may jump, from the right."""
    order = np.argsort(sample)
    below = np.searchsorted(sample[order], places, "right")
    if weights is None:
        return below / sample.shape[0]
    shares = np.concatenate((np.zeros(1), np.cumsum(weights[order])))
    return shares[below] / shares[-1]


def between(u, v, u_weights, v_weights):
    """The lengths of the steps between all numbers, and how far the functions are apart there."""
    u, v = np.asarray(u), np.asarray(v)
    if u.ndim != 1 or v.ndim != 1:
        raise NotImplementedError("distances of samples are differentiated in one dimension")
    places = np.sort(np.concatenate((u, v)))
    u_weights = None if u_weights is None else np.asarray(u_weights)
    v_weights = None if v_weights is None else np.asarray(v_weights)
    apart = distribution_at(u, u_weights, places[:-1]) - distribution_at(v, v_weights, places[:-1])
    return np.diff(places), apart


@definition(stats.wasserstein_distance)
def wasserstein_distance(u_values, v_values, u_weights=None, v_weights=None):
    steps, apart = between(u_values, v_values, u_weights, v_weights)
    return np.sum(np.abs(apart) * steps)


@definition(stats.energy_distance)
def energy_distance(u_values, v_values, u_weights=None, v_weights=None):
    steps, apart = between(u_values, v_values, u_weights, v_weights)
    return np.sqrt(2.0 * np.sum(apart**2 * steps))


# Student's tests


@passes_for(type(stats.ttest_1samp([1.0, 2.0], 0.0)))
class Tested:
    """As SciPy's: a tuple of two that has other attributes."""

    def __init__(self, statistic, pvalue, df):
        self.statistic, self.pvalue, self.df = statistic, pvalue, df

    def __len__(self):
        return 2

    def __getitem__(self, key):
        return (self.statistic, self.pvalue)[key]


def tested(statistic, df, alternative):
    if alternative == "two-sided":
        return Tested(statistic, 2.0 * special.stdtr(df, -np.abs(statistic)), df)
    if alternative == "less":
        return Tested(statistic, special.stdtr(df, statistic), df)
    if alternative == "greater":
        return Tested(statistic, special.stdtr(df, -statistic), df)
    raise ValueError("`alternative` must be 'less', 'greater', or 'two-sided'.")


def flat_along(a, axis):
    """A sample with the axis along which it is one in front."""
    a = np.asarray(a)
    return np.ravel(a) if axis is None else np.moveaxis(a, axis, 0)


@definition(stats.ttest_1samp)
def ttest_1samp(a, popmean, axis=0, *, alternative="two-sided"):
    a = flat_along(a, axis)
    if axis is not None and np.ndim(popmean) > 0:
        raise NotImplementedError("ttest_1samp is differentiated for one popmean")
    count = a.shape[0]
    error = np.std(a, axis=0, ddof=1) / np.sqrt(count)
    return tested((np.mean(a, axis=0) - popmean) / error, count - 1, alternative)


@definition(stats.ttest_rel)
def ttest_rel(a, b, axis=0, *, alternative="two-sided"):
    change = flat_along(a, axis) - flat_along(b, axis)
    count = change.shape[0]
    error = np.std(change, axis=0, ddof=1) / np.sqrt(count)
    return tested(np.mean(change, axis=0) / error, count - 1, alternative)


ttest_ind_left = left(stats.ttest_ind, "it is differentiated without trim and method")


@definition(stats.ttest_ind)
def ttest_ind(a, b, *, axis=0, equal_var=True, alternative="two-sided", trim=0, method=None):
    if trim != 0 or method is not None:
        return ttest_ind_left(
            a, b, axis=axis, equal_var=equal_var, alternative=alternative, trim=trim, method=method
        )
    a, b = flat_along(a, axis), flat_along(b, axis)
    m, n = a.shape[0], b.shape[0]
    change = np.mean(a, axis=0) - np.mean(b, axis=0)
    in_a, in_b = np.var(a, axis=0, ddof=1), np.var(b, axis=0, ddof=1)
    if equal_var:
        df = m + n - 2
        pooled = ((m - 1) * in_a + (n - 1) * in_b) / df
        return tested(change / np.sqrt(pooled * (1.0 / m + 1.0 / n)), df, alternative)
    in_a, in_b = in_a / m, in_b / n
    df = (in_a + in_b) ** 2 / (in_a**2 / (m - 1) + in_b**2 / (n - 1))
    return tested(change / np.sqrt(in_a + in_b), df, alternative)


# Bins


class Binned(NamedTuple):
    statistic: Any
    bin_edges: Any
    binnumber: Any


def bin_numbers(x, edges):
    """In which bin each number is, from 1 on; the last one has its right edge. Called by generated
    code.

    >>> bin_numbers(np.array([0.0, 1.5, 2.0, 3.0]), np.array([0.0, 1.0, 2.0]))
    array([1, 2, 2, 3])
    """
    numbers = np.digitize(x, edges)
    digits = int(-np.log10(np.min(np.diff(edges)))) + 6
    last = (x >= edges[-1]) & (np.around(x, digits) == np.around(edges[-1], digits))
    return numbers - last


zero(bin_numbers)


@kind(bin_numbers)
def bin_numbers_kind(args, kwargs):
    x = operand_kind(args[0])
    shape = getattr(x, "shape", None)
    return None if shape is None else Inferred(Array(np.dtype(np.intp), shape))


binned_left = left(
    stats.binned_statistic,
    "it is differentiated for 'mean', 'sum', 'std' and 'count', of one list of values",
)


@definition(stats.binned_statistic)
def binned_statistic(x, values, statistic="mean", bins=10, range=None):
    x, values = np.asarray(x), np.asarray(values)
    if statistic not in ("mean", "sum", "count", "std") or values.ndim != 1:
        return binned_left(x, values, statistic, bins, range)
    if isinstance(bins, (int, np.integer)):
        low, high = (np.min(x), np.max(x)) if range is None else range
        edges = np.linspace(low, high, bins + 1)
    else:
        edges = np.asarray(bins) * 1.0
    numbers = bin_numbers(x, edges)
    count = np.bincount(numbers, minlength=edges.shape[0] + 1)[1:-1]
    if statistic == "count":
        return Binned(count * 1.0, edges, numbers)
    total = np.zeros(edges.shape[0] + 1)
    np.add.at(total, numbers, values)
    if statistic == "sum":
        return Binned(total[1:-1], edges, numbers)
    share = np.where(count == 0, np.nan, count)
    mean = total[1:-1] / share
    if statistic == "mean":
        return Binned(mean, edges, numbers)
    whole = np.concatenate((np.zeros(1), mean, np.zeros(1)))
    squares = np.zeros(edges.shape[0] + 1)
    np.add.at(squares, numbers, (values - whole[numbers]) ** 2)
    variance = squares[1:-1] / share
    alike = variance == 0  # as of np.std, the slope there is 0
    return Binned(np.where(alike, 0.0, np.sqrt(variance + alike)), edges, numbers)


# Densities


@passes_for(stats.gaussian_kde)
class Density:
    """What SciPy makes a `gaussian_kde`: the mean of normal densities about the data."""

    def __init__(self, dataset, weights, factor):
        self.dataset, self.weights, self.factor = dataset, weights, factor
        self.d, self.n = dataset.shape
        centred = dataset - (dataset @ weights)[:, None]
        spread = (centred * weights) @ centred.T / (1.0 - np.sum(weights**2))
        self.covariance = spread * factor**2

    def terms(self, points):
        """The logarithms of the weighted densities, and the points as columns."""
        points = np.atleast_2d(np.asarray(points))
        if points.shape[0] != self.d:
            points = np.reshape(points, (self.d, 1))
        root = np.linalg.cholesky(self.covariance)
        about = np.linalg.solve(root, self.dataset)
        moved = np.linalg.solve(root, points)
        apart = np.sum((moved[:, None, :] - about[:, :, None]) ** 2, axis=0)
        size = np.sum(np.log(np.diagonal(root))) + 0.5 * self.d * np.log(2 * np.pi)
        return -0.5 * apart - size

    def evaluate(self, points):
        return self.weights @ np.exp(self.terms(points))

    def __call__(self, points):
        return self.evaluate(points)

    def pdf(self, x):
        return self.evaluate(x)

    def logpdf(self, x):
        return special.logsumexp(self.terms(x), axis=0, b=self.weights[:, None])


@definition(stats.gaussian_kde)
def gaussian_kde(dataset, bw_method=None, weights=None):
    dataset = np.atleast_2d(np.asarray(dataset))
    d, n = dataset.shape
    if weights is None:
        weights = np.full(n, 1.0 / n)
    else:
        weights = np.asarray(weights) * 1.0
        weights = weights / np.sum(weights)
    count = 1.0 / np.sum(weights**2)
    if bw_method is None or bw_method == "scott":
        factor = count ** (-1.0 / (d + 4))
    elif bw_method == "silverman":
        factor = (count * (d + 2.0) / 4.0) ** (-1.0 / (d + 4))
    elif callable(bw_method):
        raise NotImplementedError("gaussian_kde is differentiated with a number for bw_method")
    else:
        factor = bw_method
    return Density(dataset, weights, factor)


def density_from_outside(kde):
    return Density(kde.dataset, kde.weights, kde.factor)


definition(stats.gaussian_kde.evaluate, stats.gaussian_kde.__call__)(
    lambda self, points: density_from_outside(self).evaluate(points)
)
definition(stats.gaussian_kde.pdf)(lambda self, x: density_from_outside(self).evaluate(x))
definition(stats.gaussian_kde.logpdf)(lambda self, x: density_from_outside(self).logpdf(x))
