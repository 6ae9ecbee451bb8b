"""Cumulative sums and products, differences, and what is made of differences.

The adjoint of a cumulative sum is one from the other end; that of differences along an axis is
minus the differences of the adjoint, the ends included.
"""

from __future__ import annotations

import numpy as np

from .helpers import (
    all_axes,
    along,
    axes_of,
    check_dtype,
    only_along,
    other_axes,
    reduced_back,
    reduced_first,
    reversed_cumsum,
)
from .registry import adjoint

# Cumulative sums and products


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
    check_dtype(dtype, a)
    return d_cumprod(a, axis, out, d_out)


@adjoint(np.nancumprod)
def nancumprod(a, axis=None, dtype=None, *, out, d_out):
    check_dtype(dtype, a)
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
        check_dtype(dtype, x)
        axis = 0 if axis is None else axis
        out = without_initial(out, axis, include_initial)
        return d_cumprod_along(x, axis, out, without_initial(d_out, axis, include_initial))


def without_initial(x, axis, include_initial):
    return x[along(np.ndim(x), axis, slice(1, None))] if include_initial else x


# Differences, and the integral by trapezoids


def trapezoid(y, x=None, dx=1.0, axis=-1, *, out, d_out):
    ndim = np.ndim(y)
    head, tail = along(ndim, axis, slice(None, -1)), along(ndim, axis, slice(1, None))
    if x is not None and np.ndim(x) != 1:
        return trapezoid_between_places(y, x, axis, out, d_out)
    half = (0.5 * d_out)[along(ndim, axis, None)] if ndim > 1 else 0.5 * d_out
    d_y = np.zeros(np.shape(y), out.dtype)
    if x is None:
        d_y[head] += half * dx
        d_y[tail] += half * dx
        return d_y, None, np.sum(half * (y[head] + y[tail]), axis=axis, keepdims=True)
    steps = np.diff(x)[only_along(ndim, axis)]
    d_steps = np.sum(half * (y[head] + y[tail]), axis=other_axes(ndim, axis))
    d_x = np.zeros(np.shape(x), d_steps.dtype)
    d_x[1:] += d_steps
    d_x[:-1] -= d_steps
    d_y[head] += half * steps
    d_y[tail] += half * steps
    return d_y, d_x


def trapezoid_between_places(y, x, axis, out, d_out):
    """The adjoint where each integral has places of its own, or all have the same samples."""
    if axis >= 0 and np.ndim(x) != np.ndim(y):
        raise NotImplementedError("x has another rank than y: count the axis from the end")
    wide = max(np.ndim(y), np.ndim(x))
    head, tail = along(wide, axis, slice(None, -1)), along(wide, axis, slice(1, None))
    first, second = (
        along(np.ndim(y), axis, slice(None, -1)),
        along(np.ndim(y), axis, slice(1, None)),
    )
    half = (0.5 * d_out)[along(wide, axis, None)]
    d_samples, d_steps = half * np.diff(x, axis=axis), half * (y[first] + y[second])
    shape = np.broadcast_shapes(np.shape(y), np.shape(x))
    d_y, d_x = np.zeros(shape, out.dtype), np.zeros(shape, d_steps.dtype)
    d_y[head] += d_samples
    d_y[tail] += d_samples
    d_x[tail] += d_steps
    d_x[head] -= d_steps
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
        d_out = undo_diff(d_out, axis, n if k == times - 1 else max(n - times + 1 + k, 0))
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
