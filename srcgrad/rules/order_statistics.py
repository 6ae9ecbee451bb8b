"""Medians, quantiles and percentiles.

Each is a weighted mean of two neighbours among the sorted numbers: their adjoint goes to the
elements equal to those, and that of the level to its distance from them.
"""

from __future__ import annotations

import math

import numpy as np

from .helpers import (
    reduced_back,
    reduced_first,
    reduced_size,
    restore_axes,
    restoring_index,
    shares,
)
from .registry import adjoint, zero


@adjoint(np.median)
def median(a, axis=None, *, keepdims=False, out, d_out):
    """Half to those equal to either middle element."""
    n = reduced_size(a, axis)
    if np.size(a) == 0:
        return np.zeros(np.shape(a), out.dtype)
    ordered = np.partition(reduced_first(a, axis), ((n - 1) // 2, n // 2), axis=0)
    d_half = restore_axes(0.5 * d_out, a, axis, keepdims)
    low = restore_axes(ordered[(n - 1) // 2], a, axis, False)
    high = restore_axes(ordered[n // 2], a, axis, False)
    return shares(a == low, d_half, axis, out.dtype) + shares(a == high, d_half, axis, out.dtype)


@adjoint(np.nanmedian)
def nanmedian(a, axis=None, *, keepdims=False, out, d_out):
    return d_nanquantile(a, 0.5, axis, "linear", keepdims, out, d_out)[0]


@adjoint(np.quantile)
def quantile(a, q, axis=None, weights=None, *, method="linear", keepdims=False, out, d_out):
    if weights is not None:
        return d_weighted(a, q, axis, keepdims, out, d_out)
    return d_quantile(a, q, axis, method, keepdims, out, d_out)


@adjoint(np.nanquantile)
def nanquantile(a, q, axis=None, *, method="linear", keepdims=False, out, d_out):
    return d_nanquantile(a, q, axis, method, keepdims, out, d_out)


@adjoint(np.percentile)
def percentile(a, q, axis=None, weights=None, *, method="linear", keepdims=False, out, d_out):
    if weights is not None:
        return d_weighted(a, q, axis, keepdims, out, d_out)
    q = np.asarray(q) if isinstance(q, (list, tuple)) else q
    d_a, d_q = d_quantile(a, q / 100, axis, method, keepdims, out, d_out)
    return d_a, None if d_q is None else d_q / 100


@adjoint(np.nanpercentile)
def nanpercentile(a, q, axis=None, *, method="linear", keepdims=False, out, d_out):
    q = np.asarray(q) if isinstance(q, (list, tuple)) else q
    d_a, d_q = d_nanquantile(a, q / 100, axis, method, keepdims, out, d_out)
    return d_a, None if d_q is None else d_q / 100


def d_quantile(a, q, axis, method, keepdims, out, d_out):
    """A quantile lies between two elements; all equal to either share its weight."""
    q = np.asarray(q) if isinstance(q, (list, tuple)) else q
    n = reduced_size(a, axis)
    if np.size(a) == 0:
        return np.zeros(np.shape(a), out.dtype), None
    place = virtual_index(n, q, method)
    place = place if method == "linear" else np.clip(place, 0, n - 1)
    if np.ndim(q) == 0:
        i, j = math.floor(place), math.ceil(place)
        ordered = np.partition(reduced_first(a, axis), (i, j), axis=0)
        weight = place - i
    else:
        i, j = np.floor(place).astype(np.intp), np.ceil(place).astype(np.intp)
        ordered = np.sort(reduced_first(a, axis), axis=0)
    low, high = restore_levels(ordered[i], q, a, axis), restore_levels(ordered[j], q, a, axis)
    d_wide = d_out if keepdims else restore_levels(d_out, q, a, axis)
    d_q = d_level(a, q, n, method, (high - low) * d_wide)
    if np.ndim(q) == 0:
        return share(a, axis, low, high, weight, out, d_wide), d_q
    return share_levels(a, q, axis, i, j, place - i, out, d_out), d_q


def d_nanquantile(a, q, axis, method, keepdims, out, d_out):
    q = np.asarray(q) if isinstance(q, (list, tuple)) else q
    if np.ndim(q) > 1 and isinstance(axis, tuple):  # NumPy returns the levels out of order
        raise NotImplementedError("several axes with a two-dimensional q: flatten q first")
    if np.size(a) == 0:
        return np.zeros(np.shape(a), out.dtype), None
    ordered = np.sort(reduced_first(a, axis), axis=0)  # nan comes last
    n = np.count_nonzero(~np.isnan(ordered), axis=0)
    q_wide = np.reshape(q, np.shape(q) + (1,) * np.ndim(n)) if np.ndim(q) and np.ndim(n) else q
    place = np.clip(virtual_index(n, q_wide, method), 0, n - 1)
    i, j = np.floor(place).astype(np.intp), np.ceil(place).astype(np.intp)
    low = restore_levels(taken(ordered, i), q, a, axis)
    high = restore_levels(taken(ordered, j), q, a, axis)
    n = restore_axes(n, a, axis, False)
    d_wide = d_out if keepdims else restore_levels(d_out, q, a, axis)
    d_q = d_level(a, q, n, method, (high - low) * d_wide)
    if np.ndim(q) == 0:
        weight = restore_axes(place - i, a, axis, False)
        return share(a, axis, low, high, weight, out, d_wide), d_q
    return share_levels(a, q, axis, i, j, place - i, out, d_out), d_q


def d_weighted(a, q, axis, keepdims, out, d_out):
    """With weights a quantile is one of the elements; all equal to it share."""
    if np.ndim(q) == 0:
        out, d_out = restore_axes(out, a, axis, keepdims), restore_axes(d_out, a, axis, keepdims)
        return shares(a == out, d_out, axis, out.dtype), None, None, None
    d_a = np.zeros(np.shape(a), out.dtype)
    for value, d_value in zip(flat_levels(out, q), flat_levels(d_out, q), strict=True):
        d_a += d_weighted(a, 0.5, axis, keepdims, value, d_value)[0]
    return d_a, None, None, None


def flat_levels(x, q):
    return np.reshape(x, (np.size(q), *np.shape(x)[np.ndim(q) :]))


def taken(ordered, i):
    """The elements number i along the first axis, where i may have leading axes of its own."""
    if np.ndim(ordered) == 1:
        return ordered[i]
    rows = np.reshape(i, (-1, *np.shape(ordered)[1:]))
    return np.reshape(np.take_along_axis(ordered, rows, axis=0), np.shape(i))


def restore_levels(x, q, a, axis):
    """A result for each level of q with axes of length 1 in place of those reduced."""
    if np.ndim(q) == 0:
        return restore_axes(x, a, axis, False)
    return x[(slice(None),) * np.ndim(q) + restoring_index(np.ndim(a), axis)]


def share(a, axis, low, high, weight, out, d_out):
    """The adjoint of `low + weight * (high - low)`, where these are values found in a."""
    d_a = shares(a == low, d_out - weight * d_out, axis, out.dtype)
    return d_a + shares(a == high, weight * d_out, axis, out.dtype)


def share_levels(a, q, axis, i, j, weight, out, d_out):
    """The same for several levels: of the sorted a, elements number i and j of each row.

    A level's share goes to a group of equal elements, and each element has its part of a group.
    """
    first = reduced_first(a, axis)
    rows = np.reshape(first, (np.shape(first)[0], -1)).T
    order, group, count = grouped(rows)
    start = np.shape(rows)[1] * np.arange(np.shape(rows)[0])
    low = group[start + level_by_row(i, q, rows)]
    high = group[start + level_by_row(j, q, rows)]
    weight = level_by_row(weight, q, rows)
    d_out = np.reshape(d_out, (np.size(q), np.shape(rows)[0]))
    d_group = np.zeros(np.shape(count), out.dtype)
    np.add.at(d_group, low, d_out - weight * d_out)
    np.add.at(d_group, high, weight * d_out)
    d_rows = np.empty(np.shape(order), out.dtype)
    d_rows[order] = (d_group / count)[group]
    return reduced_back(np.reshape(np.reshape(d_rows, np.shape(rows)).T, np.shape(first)), a, axis)


def level_by_row(x, q, rows):
    """What there is for each level, or for each level and row, with two axes."""
    return np.reshape(x, (np.size(q), 1 if np.ndim(x) == np.ndim(q) else np.shape(rows)[0]))


def grouped(rows):
    """Which elements of the flat array come first, row by row, in rising order; the number of the
    group of equal ones that each of these belongs to; and how many a group has. Called by generated
    code.

    >>> for part in grouped(np.array([[3.0, 1.0, 3.0], [2.0, 2.0, 4.0]])):
    ...     print(part)
    [1 0 2 3 4 5]
    [0 1 1 2 2 3]
    [1 2 2 1]
    """
    order = np.argsort(rows, axis=1)
    ordered = np.take_along_axis(rows, order, axis=1)
    new = np.ones(rows.shape, bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    group = np.cumsum(new) - 1
    order = order + rows.shape[1] * np.arange(rows.shape[0])[:, None]
    return order.ravel(), group, np.bincount(group)


zero(grouped)


def d_level(a, q, n, method, d_place):
    """The adjoint of the level q, which only the continuous methods have."""
    constants = plotting(method)
    if constants is None:
        return None
    if method == "linear":
        d_place = (n - 1) * d_place
    else:
        alpha, beta = constants
        d_place = (n + 1 - alpha - beta) * d_place
        q_wide = np.reshape(q, np.shape(q) + (1,) * np.ndim(a)) if np.ndim(q) else q
        place = virtual_index(n, q_wide, method)
        d_place = d_place * ((place >= 0) & (place <= n - 1))
    if np.ndim(q) == 0:
        return np.sum(d_place) if np.ndim(d_place) else d_place
    return np.sum(d_place, axis=tuple(range(np.ndim(q), np.ndim(q) + np.ndim(a))))


# closest_observation goes to an odd index between two, and before NumPy 2.0.1 to an even one
ODD = not np.__version__.startswith("1.") and np.__version__ != "2.0.0"


def virtual_index(n, q, method):
    """Where quantile q lies among n sorted numbers, as NumPy's method of that name has it."""
    if method == "linear":
        return (n - 1) * q
    if method == "lower":
        return np.floor((n - 1) * q)
    if method == "higher":
        return np.ceil((n - 1) * q)
    if method == "nearest":
        return np.round((n - 1) * q)
    if method == "midpoint":
        return 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q))
    if method == "inverted_cdf":
        return np.ceil(n * q - 1)
    if method == "averaged_inverted_cdf":
        return 0.5 * (np.floor(n * q) + np.ceil(n * q - 1))
    if method == "closest_observation":
        nearest = np.ceil(n * q - 1.5)
        return nearest + ((nearest == n * q - 1.5) & ((nearest % 2 == 0) == ODD))
    alpha, beta = plotting(method)
    return n * q + (alpha + q * (1 - alpha - beta)) - 1


def plotting(method):
    """alpha and beta of the continuous methods: R. J. Hyndman and Y. Fan, Sample quantiles in
    statistical packages, The American Statistician 50 (1996).
    """
    if method == "linear":
        return 1.0, 1.0
    if method == "interpolated_inverted_cdf":
        return 0.0, 1.0
    if method == "hazen":
        return 0.5, 0.5
    if method == "weibull":
        return 0.0, 0.0
    if method == "median_unbiased":
        return 1 / 3, 1 / 3
    if method == "normal_unbiased":
        return 3 / 8, 3 / 8
    return None
