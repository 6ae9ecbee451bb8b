"""Statistics of samples, in NumPy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import special, stats

from ..registry import definition, passes_for, zero


def central(a, order, axis, keepdims):
    return np.mean((a - np.mean(a, axis, keepdims=True)) ** order, axis, keepdims=keepdims)


def nan_if_constant(values, variance, mean):
    """SciPy's: no number where all values are the same, but for rounding."""
    return np.where(variance <= (np.finfo(mean.dtype).eps * mean) ** 2, np.nan, values)[()]


@definition(stats.moment)
def moment(a, order=1, axis=0, *, center=None, keepdims=False):
    if isinstance(order, (list, tuple)) or np.ndim(order) > 0:
        raise NotImplementedError("stats.moment is differentiated for one order at a time")
    if order != int(order):
        raise ValueError("All elements of `order` must be integral.")
    a = np.asarray(a)
    if center is not None:
        return np.mean((a - center) ** order, axis, keepdims=keepdims)
    if order == 1:  # but for rounding
        return 0.0 * np.mean(a, axis, keepdims=keepdims)
    return central(a, order, axis, keepdims)


@definition(stats.skew)
def skew(a, axis=0, bias=True, *, keepdims=False):
    a = np.asarray(a)
    variance = central(a, 2, axis, keepdims)
    value = nan_if_constant(
        central(a, 3, axis, keepdims) / variance**1.5, variance, np.mean(a, axis, keepdims=keepdims)
    )
    n = a.size if axis is None else a.shape[axis]
    if bias or n <= 2:
        return value
    return value * (((n - 1.0) * n) ** 0.5 / (n - 2.0))


@definition(stats.kurtosis)
def kurtosis(a, axis=0, fisher=True, bias=True, *, keepdims=False):
    a = np.asarray(a)
    variance = central(a, 2, axis, keepdims)
    value = nan_if_constant(
        central(a, 4, axis, keepdims) / variance**2, variance, np.mean(a, axis, keepdims=keepdims)
    )
    n = a.size if axis is None else a.shape[axis]
    if not bias and n > 3:
        value = ((n**2 - 1.0) * value - 3 * (n - 1.0) ** 2) / ((n - 2.0) * (n - 3.0)) + 3.0
    return value - 3.0 if fisher else value


@definition(stats.zscore)
def zscore(a, axis=0, ddof=0):
    a = np.asarray(a)
    mean = np.mean(a, axis, keepdims=True)
    variance = np.var(a, axis, ddof=ddof, keepdims=True)
    return nan_if_constant((a - mean) / np.sqrt(variance), variance, mean)


@definition(stats.zmap)
def zmap(scores, compare, axis=0, ddof=0):
    compare = np.asarray(compare)
    mean = np.mean(compare, axis, keepdims=True)
    return (np.asarray(scores) - mean) / np.std(compare, axis, ddof=ddof, keepdims=True)


@definition(stats.sem)
def sem(a, axis=0, ddof=1, *, keepdims=False):
    a = np.asarray(a)
    n = a.size if axis is None else a.shape[axis]
    return np.std(a, axis, ddof=ddof, keepdims=keepdims) / np.sqrt(n)


@definition(stats.variation)
def variation(a, axis=0, ddof=0, *, keepdims=False):
    a = np.asarray(a)
    return np.std(a, axis, ddof=ddof, keepdims=keepdims) / np.mean(a, axis, keepdims=keepdims)


def weighted_mean(a, axis, weights, keepdims):
    if weights is None:
        return np.mean(a, axis, keepdims=keepdims)
    weights = np.asarray(weights)
    if axis is None:
        weights = np.reshape(np.broadcast_to(np.ravel(weights), (a.size,)), a.shape)
    weighted = weights * a  # not as np.average, which takes weights for those along the axis
    weights = np.broadcast_to(weights, weighted.shape)
    return np.sum(weighted, axis, keepdims=keepdims) / np.sum(weights, axis, keepdims=keepdims)


@definition(stats.gmean)
def gmean(a, axis=0, dtype=None, weights=None, *, keepdims=False):
    return np.exp(weighted_mean(np.log(np.asarray(a, dtype)), axis, weights, keepdims))


@definition(stats.hmean)
def hmean(a, axis=0, dtype=None, *, weights=None, keepdims=False):
    return 1.0 / weighted_mean(1.0 / np.asarray(a, dtype), axis, weights, keepdims)


@definition(stats.pmean)
def pmean(a, p, *, axis=0, dtype=None, weights=None, keepdims=False):
    if p == 0:
        return stats.gmean(a, axis, dtype, weights=weights, keepdims=keepdims)
    return weighted_mean(np.asarray(a, dtype) ** p, axis, weights, keepdims) ** (1.0 / p)


@definition(stats.gstd)
def gstd(a, axis=0, ddof=1, *, keepdims=False):
    return np.exp(np.std(np.log(np.asarray(a)), axis, ddof=ddof, keepdims=keepdims))


@definition(stats.median_abs_deviation)
def median_abs_deviation(x, axis=0, center=None, scale=1.0, *, keepdims=False):
    if isinstance(scale, str):
        if scale.lower() != "normal":
            raise ValueError(f"{scale} is not a valid scale value.")
        scale = special.ndtri(0.75)
    x = np.asarray(x)
    if axis is None:
        flat = np.ravel(x)
        far = stats.median_abs_deviation(flat, 0, center, scale)
        return np.reshape(far, (1,) * x.ndim) if keepdims else far
    middle = np.median(x, axis) if center is None else center(x, axis=axis)
    far = np.abs(x - np.expand_dims(middle, axis))
    return np.median(far, axis, keepdims=keepdims) / scale


@definition(stats.boxcox)
def boxcox(x, lmbda=None):
    if lmbda is None:
        raise NotImplementedError("stats.boxcox is differentiated for a given lmbda")
    return special.boxcox(x, lmbda)


@definition(stats.yeojohnson)
def yeojohnson(x, lmbda=None):
    if lmbda is None:
        raise NotImplementedError("stats.yeojohnson is differentiated for a given lmbda")
    x = np.asarray(x)
    above = special.boxcox1p(np.maximum(x, 0.0), lmbda)
    return above - special.boxcox1p(np.maximum(-x, 0.0), 2.0 - lmbda)


@definition(stats.entropy)
def entropy(pk, qk=None, base=None, axis=0, *, keepdims=False):
    p = np.asarray(pk)
    p = p / np.sum(p, axis, keepdims=True)
    if qk is None:
        terms = special.entr(p)
    else:
        q = np.asarray(qk)
        terms = special.rel_entr(p, q / np.sum(q, axis, keepdims=True))
    total = np.sum(terms, axis, keepdims=keepdims)
    return total if base is None else total / np.log(base)


@definition(stats.circmean)
def circmean(samples, high=2 * np.pi, low=0, axis=None, *, keepdims=False):
    angles = (np.asarray(samples) - low) * 2 * np.pi / (high - low)
    sine = np.mean(np.sin(angles), axis, keepdims=keepdims)
    angle = np.arctan2(sine, np.mean(np.cos(angles), axis, keepdims=keepdims))
    return angle % (2 * np.pi) * (high - low) / (2 * np.pi) + low


def resultant(samples, high, low, axis, keepdims):
    """The length of the mean of unit vectors at these angles."""
    angles = (np.asarray(samples) - low) * 2 * np.pi / (high - low)
    sine = np.mean(np.sin(angles), axis, keepdims=keepdims)
    return np.hypot(sine, np.mean(np.cos(angles), axis, keepdims=keepdims))


@definition(stats.circvar)
def circvar(samples, high=2 * np.pi, low=0, axis=None, *, keepdims=False):
    return 1.0 - resultant(samples, high, low, axis, keepdims)


@definition(stats.circstd)
def circstd(samples, high=2 * np.pi, low=0, axis=None, *, normalize=False, keepdims=False):
    spread = np.sqrt(-2.0 * np.log(np.minimum(resultant(samples, high, low, axis, keepdims), 1.0)))
    return spread if normalize else spread * ((high - low) / (2 * np.pi))


def correlation(x, y):
    x, y = x - np.mean(x), y - np.mean(y)
    return np.sum(x * y) / np.sqrt(np.sum(x * x) * np.sum(y * y))


def correlated_by_chance(r, n):
    """The two-sided p-value of a correlation of n samples, which is that of Student's t."""
    half = n / 2.0 - 1.0
    return 2.0 * special.betainc(half, half, 0.5 * (1.0 - np.abs(r)))


class Correlation(NamedTuple):
    statistic: Any
    pvalue: Any


@definition(stats.pearsonr)
def pearsonr(x, y):
    x, y = np.asarray(x), np.asarray(y)
    if np.ndim(x) != 1:
        raise NotImplementedError("pearsonr is differentiated for samples of one dimension")
    r = correlation(x, y)
    return Correlation(r, correlated_by_chance(r, x.size))


@passes_for(type(stats.linregress([0.0, 1.0, 2.0], [0.0, 1.0, 3.0])))
class Regression:
    """As SciPy's: a tuple of five that has a sixth attribute."""

    def __init__(self, slope, intercept, rvalue, pvalue, stderr, intercept_stderr):
        self.slope, self.intercept, self.rvalue, self.pvalue = slope, intercept, rvalue, pvalue
        self.stderr, self.intercept_stderr = stderr, intercept_stderr

    def __len__(self):
        return 5

    def __getitem__(self, key):
        return (self.slope, self.intercept, self.rvalue, self.pvalue, self.stderr)[key]


@definition(stats.linregress)
def linregress(x, y):
    x, y = np.asarray(x), np.asarray(y)
    n, centred = x.size, x - np.mean(x)
    spread = np.sum(centred * centred)
    slope = np.sum(centred * (y - np.mean(y))) / spread
    intercept = np.mean(y) - slope * np.mean(x)
    error = np.sqrt(np.sum((y - slope * x - intercept) ** 2) / (n - 2.0) / spread)
    r = correlation(x, y)
    p = correlated_by_chance(r, n)
    return Regression(slope, intercept, r, p, error, error * np.sqrt(np.mean(x * x)))


@definition(stats.boxcox_llf)
def boxcox_llf(lmb, data, *, axis=0, keepdims=False):
    """Of the data over their geometric mean, whose powers don't overflow."""
    logs = np.log(data)
    n = np.shape(data)[axis]
    middle = np.mean(logs, axis, keepdims=True)
    spread = np.var(special.boxcox(np.exp(logs - middle), lmb), axis, keepdims=keepdims)
    return -np.sum(logs, axis, keepdims=keepdims) - n / 2.0 * np.log(spread)


zero(stats.rankdata, stats.percentileofscore)
