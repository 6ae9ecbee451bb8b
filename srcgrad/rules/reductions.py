"""Sums, means, extrema, products, cumulative forms, order statistics and finite differences."""

from __future__ import annotations

import builtins
import math

import numpy as np

from srcgrad.rules.helpers import (
    all_axes,
    along,
    argsort,
    at_least_1,
    axes_of,
    everywhere,
    only_along,
    other_axes,
    products_of_others,
    reduced_back,
    reduced_first,
    reduced_size,
    restore_axes,
    restoring_index,
    reversed_cumsum,
    shares,
)
from srcgrad.rules.registry import adjoint, zero

# -- sums and means --------------------------------------------------------------------------------


@adjoint(np.sum)
def sum(a, axis=None, dtype=None, *, keepdims=False, initial=None, where=True, out, d_out):
    d_a = restore_axes(d_out, a, axis, keepdims)
    return np.broadcast_to(d_a if everywhere(where) else d_a * where, np.shape(a))


@adjoint(np.nansum)
def nansum(a, axis=None, dtype=None, *, keepdims=False, initial=None, where=True, out, d_out):
    d_a = restore_axes(d_out, a, axis, keepdims) * ~np.isnan(a)
    return d_a if everywhere(where) else d_a * where


@adjoint(np.mean)
def mean(a, axis=None, dtype=None, *, keepdims=False, where=True, out, d_out):
    n = counted(a, axis, keepdims, where, out)
    d_a = d_out / (n if np.ndim(n) else at_least_1(n))
    d_a = restore_axes(d_a, a, axis, keepdims)
    return np.broadcast_to(d_a if everywhere(where) else d_a * where, np.shape(a))


def counted(a, axis, keepdims, where, out):
    """How many numbers each result is made of."""
    if everywhere(where):
        return reduced_size(a, axis)
    mask = np.broadcast_to(where, np.shape(a))
    return np.sum(mask, axis=axis, dtype=out.dtype, keepdims=keepdims)


@adjoint(np.nanmean)
def nanmean(a, axis=None, dtype=None, *, keepdims=False, where=True, out, d_out):
    there = ~np.isnan(a) if everywhere(where) else ~np.isnan(a) & where
    d_a = restore_axes(d_out, a, axis, keepdims)
    return shares(there, d_a, axis, out.dtype)


@adjoint(np.average)
def average(a, axis=None, weights=None, *, keepdims=False, out, d_out):
    if weights is None:
        return np.broadcast_to(
            restore_axes(d_out / at_least_1(reduced_size(a, axis)), a, axis, keepdims), np.shape(a)
        )
    d_out, out = restore_axes(d_out, a, axis, keepdims), restore_axes(out, a, axis, keepdims)
    if np.ndim(weights) == np.ndim(a):
        scaled = d_out / np.sum(weights, axis=axis, keepdims=True)
        return scaled * weights, None, scaled * (a - out)
    # the weights have the reduced axes only, in the order given
    ndim, axes = np.ndim(a), axis if isinstance(axis, tuple) else (axis,)
    order = argsort(axes, ndim)
    scaled = d_out / np.sum(weights)
    d_a = scaled * np.transpose(weights, order)[only_along(ndim, axis)]
    d_weights = np.sum(scaled * (a - out), axis=other_axes(ndim, axis))
    return d_a, None, np.transpose(d_weights, argsort(order, len(order)))


# -- variances -------------------------------------------------------------------------------------


@adjoint(np.var)
def var(
    a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True, mean=None, correction=None,
    out, d_out,
):  # fmt: skip
    n = counted(a, axis, keepdims, where, out)
    scaled = 2 * d_out / degrees_of_freedom(n, ddof, correction)
    d_a = restore_axes(scaled, a, axis, keepdims) * deviations(a, axis, where, mean)
    return d_a if everywhere(where) else d_a * where


@adjoint(np.std)
def std(
    a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True, mean=None, correction=None,
    out, d_out,
):  # fmt: skip
    n = counted(a, axis, keepdims, where, out)
    scaled = d_out / (degrees_of_freedom(n, ddof, correction) * (out + (out == 0)))
    d_a = restore_axes(scaled, a, axis, keepdims) * deviations(a, axis, where, mean)
    return d_a if everywhere(where) else d_a * where


def degrees_of_freedom(n, ddof, correction):
    lost = ddof if correction is None else correction
    if np.ndim(n):
        return n if lost == 0 else n - lost
    return n - lost if n > lost else math.nan


def deviations(a, axis, where, mean):
    """The differences from the mean, conjugated."""
    if mean is None:
        if not everywhere(where):
            mean = np.mean(a, axis=axis, keepdims=True, where=where)
        elif axis is None:
            mean = np.mean(a)
        else:
            mean = np.mean(a, axis=axis, keepdims=True)
    return np.conj(a - mean) if np.iscomplexobj(a) else a - mean


@adjoint(np.nanvar)
def nanvar(
    a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True, mean=None, correction=None,
    out, d_out,
):  # fmt: skip
    there = ~np.isnan(a) if everywhere(where) else ~np.isnan(a) & where
    n = np.sum(there, axis=axis, dtype=out.dtype, keepdims=keepdims)
    scaled = 2 * d_out / degrees_of_freedom(n, ddof, correction)
    known = np.where(there, a, 0.0)
    return restore_axes(scaled, a, axis, keepdims) * deviations(known, axis, there, mean) * there


@adjoint(np.nanstd)
def nanstd(
    a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True, mean=None, correction=None,
    out, d_out,
):  # fmt: skip
    there = ~np.isnan(a) if everywhere(where) else ~np.isnan(a) & where
    n = np.sum(there, axis=axis, dtype=out.dtype, keepdims=keepdims)
    scaled = d_out / (degrees_of_freedom(n, ddof, correction) * (out + (out == 0)))
    known = np.where(there, a, 0.0)
    return restore_axes(scaled, a, axis, keepdims) * deviations(known, axis, there, mean) * there


# -- extrema ---------------------------------------------------------------------------------------


@adjoint(np.max, np.amax, np.min, np.amin, np.nanmax, np.nanmin)
def max(a, axis=None, *, keepdims=False, initial=None, where=True, out, d_out):
    """Equal shares for all that attain the extremum, `initial` included."""
    out = restore_axes(out, a, axis, keepdims)
    d_out = restore_axes(d_out, a, axis, keepdims)
    mask = a == out if everywhere(where) else (a == out) & where
    if initial is None:
        return shares(mask, d_out, axis, out.dtype)
    count = np.sum(mask, axis=axis, dtype=out.dtype, keepdims=axis is not None)
    return mask * (d_out / (count + (out == initial)))


@adjoint(np.ptp)
def ptp(a, axis=None, *, keepdims=False, out, d_out):
    d_out = restore_axes(d_out, a, axis, keepdims)
    high = a == np.max(a, axis=axis, keepdims=axis is not None)
    low = a == np.min(a, axis=axis, keepdims=axis is not None)
    return shares(high, d_out, axis, out.dtype) - shares(low, d_out, axis, out.dtype)


# -- products --------------------------------------------------------------------------------------


@adjoint(np.prod)
def prod(a, axis=None, dtype=None, *, keepdims=False, initial=None, where=True, out, d_out):
    if not everywhere(where):
        factors = np.where(where, a, 1.0)
        return where * d_prod(factors, axis, keepdims, initial, out, d_out)
    return d_prod(a, axis, keepdims, initial, out, d_out)


@adjoint(np.nanprod)
def nanprod(a, axis=None, dtype=None, *, keepdims=False, initial=None, where=True, out, d_out):
    there = ~np.isnan(a) if everywhere(where) else ~np.isnan(a) & where
    return there * d_prod(np.where(there, a, 1.0), axis, keepdims, initial, out, d_out)


def d_prod(a, axis, keepdims, initial, out, d_out):
    if np.all(out) if np.ndim(out) else out != 0:
        return restore_axes(d_out * out, a, axis, keepdims) / a
    if initial is not None:
        d_out = d_out * initial
    return restore_axes(d_out, a, axis, keepdims) * products_of_others(a, axis)


# -- cumulative sums and products ------------------------------------------------------------------


@adjoint(np.cumsum)
def cumsum(a, axis=None, dtype=None, *, out, d_out):
    if axis is None:
        d_a = reversed_cumsum(d_out, 0)
        return d_a if np.ndim(a) == 1 else np.reshape(d_a, np.shape(a))
    return reversed_cumsum(d_out, axis)


@adjoint(np.nancumsum)
def nancumsum(a, axis=None, dtype=None, *, out, d_out):
    if axis is None:
        d_a = reversed_cumsum(d_out, 0)
        return ~np.isnan(a) * (d_a if np.ndim(a) == 1 else np.reshape(d_a, np.shape(a)))
    return ~np.isnan(a) * reversed_cumsum(d_out, axis)


@adjoint(np.cumprod)
def cumprod(a, axis=None, dtype=None, *, out, d_out):
    return d_cumprod(a, axis, out, d_out)


@adjoint(np.nancumprod)
def nancumprod(a, axis=None, dtype=None, *, out, d_out):
    there = ~np.isnan(a)
    return there * d_cumprod(np.where(there, a, 1.0), axis, out, d_out)


def d_cumprod(a, axis, out, d_out):
    if axis is None and np.ndim(a) != 1:
        return np.reshape(d_cumprod_along(np.reshape(a, -1), 0, out, d_out), np.shape(a))
    return d_cumprod_along(a, 0 if axis is None else axis, out, d_out)


def d_cumprod_along(a, axis, out, d_out):
    """With zeros, by the recurrence s[k] = d_out[k] + a[k + 1] * s[k + 1]."""
    if np.all(out):
        return reversed_cumsum(d_out * out, axis) / a
    factors = reduced_first(a, axis)
    s = np.array(reduced_first(d_out, axis))
    for k in range(len(factors) - 2, -1, -1):
        s[k] += factors[k + 1] * s[k + 1]
    s[1:] *= np.cumprod(factors[:-1], axis=0)
    return reduced_back(s, a, axis)


if hasattr(np, "cumulative_sum"):

    @adjoint(np.cumulative_sum)
    def cumulative_sum(x, *, axis=None, dtype=None, include_initial=False, out, d_out):
        axis = 0 if axis is None else axis
        return reversed_cumsum(without_initial(d_out, axis, include_initial), axis)

    @adjoint(np.cumulative_prod)
    def cumulative_prod(x, *, axis=None, dtype=None, include_initial=False, out, d_out):
        axis = 0 if axis is None else axis
        out = without_initial(out, axis, include_initial)
        return d_cumprod_along(x, axis, out, without_initial(d_out, axis, include_initial))


def without_initial(x, axis, include_initial):
    return x[along(np.ndim(x), axis, slice(1, None))] if include_initial else x


# -- order statistics ------------------------------------------------------------------------------


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


# closest_observation goes to an odd index between two, and before NumPy 2.0.1 to an even one
ODD = not np.__version__.startswith("1.") and np.__version__ != "2.0.0"


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
def quantile(a, q, axis=None, *, method="linear", keepdims=False, out, d_out):
    return d_quantile(a, q, axis, method, keepdims, out, d_out)


@adjoint(np.nanquantile)
def nanquantile(a, q, axis=None, *, method="linear", keepdims=False, out, d_out):
    return d_nanquantile(a, q, axis, method, keepdims, out, d_out)


@adjoint(np.percentile)
def percentile(a, q, axis=None, *, method="linear", keepdims=False, out, d_out):
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


# -- integrals and differences ---------------------------------------------------------------------


def trapezoid(y, x=None, dx=1.0, axis=-1, *, out, d_out):
    ndim = np.ndim(y)
    head, tail = along(ndim, axis, slice(None, -1)), along(ndim, axis, slice(1, None))
    half = (0.5 * d_out)[along(ndim, axis, None)] if ndim > 1 else 0.5 * d_out
    d_y = np.zeros(np.shape(y), out.dtype)
    if x is None:
        d_y[head] += half * dx
        d_y[tail] += half * dx
        return d_y, None, np.sum(half * (y[head] + y[tail]), axis=axis, keepdims=True)
    if np.ndim(x) == 1:
        steps = np.diff(x)[only_along(ndim, axis)]
        d_steps = np.sum(half * (y[head] + y[tail]), axis=other_axes(ndim, axis))
        d_x = np.zeros(np.shape(x), d_steps.dtype)
        d_x[1:] += d_steps
        d_x[:-1] -= d_steps
    else:
        steps = np.diff(x, axis=axis)
        d_steps = half * (y[head] + y[tail])
        d_x = np.zeros(np.shape(y), d_steps.dtype)
        d_x[tail] += d_steps
        d_x[head] -= d_steps
    d_y[head] += half * steps
    d_y[tail] += half * steps
    return d_y, d_x


for _name in ("trapezoid", "trapz"):
    if hasattr(np, _name):
        adjoint(getattr(np, _name))(trapezoid)


@adjoint(np.diff)
def diff(a, n=1, axis=-1, prepend=None, append=None, *, out, d_out):
    if n == 0:  # nothing is prepended or appended, either
        d_prepend = None if prepend is None else np.zeros_like(prepend)
        return d_out, None, None, d_prepend, None if append is None else np.zeros_like(append)
    if prepend is None and append is None:
        return undo_diffs(d_out, axis, n, np.shape(a)[axis])
    before = 0 if prepend is None else 1 if np.ndim(prepend) == 0 else np.shape(prepend)[axis]
    after = 0 if append is None else 1 if np.ndim(append) == 0 else np.shape(append)[axis]
    last = before + np.shape(a)[axis]
    d_all, ndim = undo_diffs(d_out, axis, n, last + after), np.ndim(a)
    return (
        d_all[along(ndim, axis, slice(before, last))],
        None,
        None,
        d_all[along(ndim, axis, slice(None, before))],
        d_all[along(ndim, axis, slice(last, None))],
    )


def undo_diffs(d_out, axis, times, n):
    if times == 1:
        return undo_diff(d_out, axis, n)
    for k in all_axes(times):
        d_out = undo_diff(d_out, axis, n if k == times - 1 else builtins.max(n - times + 1 + k, 0))
    return d_out


def undo_diff(d_out, axis, n):
    """The adjoint of the differences of n numbers along an axis."""
    d_a = np.zeros(with_length(np.shape(d_out), axis, n), d_out.dtype)
    d_a[along(np.ndim(d_out), axis, slice(1, None))] = d_out
    d_a[along(np.ndim(d_out), axis, slice(None, -1))] -= d_out
    return d_a


def with_length(shape, axis, n):
    """A shape with another length along one axis."""
    axis = axis % len(shape)
    return (*shape[:axis], n, *shape[axis + 1 :])


@adjoint(np.ediff1d)
def ediff1d(ary, to_end=None, to_begin=None, *, out, d_out):
    n = np.size(ary)
    first = 0 if to_begin is None else np.size(to_begin)
    last = np.size(out) if to_end is None else np.size(out) - np.size(to_end)
    d_ary = np.reshape(undo_diff(d_out[first:last], 0, n), np.shape(ary))
    d_end = None if to_end is None else np.reshape(d_out[last:], np.shape(to_end))
    d_begin = None if to_begin is None else np.reshape(d_out[:first], np.shape(to_begin))
    return d_ary, d_end, d_begin


@adjoint(np.gradient)
def gradient(f, *varargs, axis=None, edge_order=1, out, d_out):
    ndim, d_f, d_spacings = np.ndim(f), 0.0, ()
    axes = axis if isinstance(axis, tuple) else axes_of(ndim, axis)
    for k in all_axes(len(axes)):
        d_k = d_out if len(axes) == 1 else d_out[k]
        spacing = None if not varargs else varargs[0] if len(varargs) == 1 else varargs[k]
        part, d_spacing = d_gradient(f, spacing, axes[k] % ndim, edge_order, d_k)
        d_f = part if k == 0 else d_f + part
        d_spacings = (*d_spacings, d_spacing)
    if len(varargs) == 1:
        total = d_spacings[0]
        for d_spacing in d_spacings[1:]:
            total = total + d_spacing
        return d_f, total
    return (d_f, *d_spacings) if varargs else d_f


def d_gradient(f, spacing, axis, edge_order, d_out):
    """One derivative: of weighted means of the slopes of neighbouring intervals.

    With slopes s and steps h these are (h2 s1 + h1 s2) / (h1 + h2) inside, and at the edges s1,
    or s1 + (s1 - s2) h1 / (h1 + h2) if of second order.
    """
    ndim = np.ndim(f)
    uneven = spacing is not None and np.ndim(spacing) > 0
    head, tail = along(ndim, axis, slice(None, -1)), along(ndim, axis, slice(1, None))
    first, second = along(ndim, axis, slice(None, 1)), along(ndim, axis, slice(1, 2))
    last, before = along(ndim, axis, slice(-1, None)), along(ndim, axis, slice(-2, -1))
    inner = d_out[along(ndim, axis, slice(1, -1))]
    if uneven:
        step = np.diff(spacing)[only_along(ndim, axis)]
        both = step[head] + step[tail]
        inner = inner / both
        to_left, to_right = inner * step[tail], inner * step[head]
        at_first, at_last = step[first] / both[first], step[last] / both[last]
    else:
        to_left = to_right = 0.5 * inner
        at_first = at_last = 0.5
    n = np.shape(f)[axis]
    d_slope = np.zeros(with_length(np.shape(f), axis, n - 1), d_out.dtype)
    d_slope[head] += to_left
    d_slope[tail] += to_right
    d_slope[first] += d_out[first]
    d_slope[last] += d_out[last]
    if edge_order == 2:
        d_slope[first] += d_out[first] * at_first
        d_slope[second] -= d_out[first] * at_first
        d_slope[last] += d_out[last] * at_last
        d_slope[before] -= d_out[last] * at_last
    if spacing is None:
        return undo_diff(d_slope, axis, n), None
    d_difference = d_slope / (step if uneven else spacing)
    d_f = undo_diff(d_difference, axis, n)
    if not uneven:
        return d_f, -np.sum(d_difference * np.diff(f, axis=axis)) / spacing
    # of the coordinates: through the slopes, and through the weights of the slopes
    slope = np.diff(f, axis=axis) / step
    mean = (slope[head] * step[tail] + slope[tail] * step[head]) / both
    d_step = -d_difference * slope
    d_step[head] += inner * (slope[tail] - mean)
    d_step[tail] += inner * (slope[head] - mean)
    if edge_order == 2:
        bend = d_out[first] * (slope[first] - slope[second]) / both[first] ** 2
        d_step[first] += bend * step[second]
        d_step[second] -= bend * step[first]
        bend = d_out[last] * (slope[last] - slope[before]) / both[last] ** 2
        d_step[last] += bend * step[before]
        d_step[before] -= bend * step[last]
    d_step = np.sum(d_step, axis=other_axes(ndim, axis))
    return d_f, undo_diff(d_step, 0, n)


# -- piecewise constant ----------------------------------------------------------------------------

zero(np.any, np.all, note="a truth value")
zero(np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.count_nonzero, note="an integer")
