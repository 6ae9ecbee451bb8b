"""Reading elements: subscripts, take, choose and select, sorting, interpolation, searching."""

from __future__ import annotations

import operator

import numpy as np

from .registry import adjoint, inert, method, refuse, rereads, zero
from .shaping import along, at, present


def repeats(item):
    """Whether a part of a key may name an element twice: arrays and lists of integers."""
    if isinstance(item, (list, tuple)):
        return len(item) > 0 and repeats_within(item[0])
    return isinstance(item, np.ndarray) and item.dtype.kind in "iu" and item.ndim > 0


def repeats_within(item):
    if isinstance(item, (list, tuple)):
        return len(item) > 0 and repeats_within(item[0])
    return not isinstance(item, (bool, np.bool_)) and np.asarray(item).dtype.kind in "iu"


def may_repeat(key):
    """Whether `x[key]` may hold an element of x twice, so that `x[key] += y` would lose a part."""
    if not isinstance(key, tuple):
        return repeats(key)
    found = False
    for item in key:
        found = found or repeats(item)
    return found


def accumulate_at(d_x, key, d_out):
    """`d_x[key] += d_out`, where an element may be named several times."""
    if may_repeat(key):
        np.add.at(d_x, key, d_out)
    else:
        d_x[key] += d_out


@adjoint(operator.getitem)
def getitem(x, key, *, out, d_out):
    d_x = np.zeros(x.shape, x.dtype)
    if may_repeat(key):
        np.add.at(d_x, key, d_out)
    else:
        d_x[key] = d_out
    return d_x


def is_truth(indices):
    if isinstance(indices, np.ndarray):
        return indices.dtype.kind == "b"
    return isinstance(indices, (bool, np.bool_))


@adjoint(np.take)
def take(a, indices, axis=None, *, mode="raise", out, d_out):
    if isinstance(indices, (list, tuple)):
        indices = np.asarray(indices)
    if is_truth(indices):
        indices = np.asarray(indices, int)  # as a key it would be a mask
    if np.ndim(a) == 0:
        axis = None
    shape = (np.size(a),) if axis is None else a.shape
    axis = 0 if axis is None else along(axis, a.ndim)
    if mode == "wrap":
        indices = indices % shape[axis]
    elif mode == "clip":
        indices = np.clip(indices, 0, shape[axis] - 1)
    d_a = np.zeros(shape, a.dtype)
    if np.ndim(indices) == 0:
        d_a[at(axis, indices)] = d_out
    else:
        np.add.at(d_a, at(axis, indices), d_out)
    return d_a if np.ndim(a) == len(shape) else d_a.reshape(np.shape(a))


method(np.ndarray.take, np.take)


def axis_key(indices, axis, shape):
    """The key for which `x[key]` is `np.take_along_axis(x, indices, axis)`."""
    key = ()
    for i in range(len(shape)):
        if i == axis:
            key = (*key, indices)
        else:
            key = (*key, np.arange(shape[i])[(..., *(None,) * (len(shape) - 1 - i))])
    return key


@adjoint(np.take_along_axis)
def take_along_axis(arr, indices, axis=-1, *, out, d_out):
    if axis is None:
        d_arr = np.zeros(arr.size, d_out.dtype)
        np.add.at(d_arr, indices, d_out)
        return d_arr if arr.ndim == 1 else d_arr.reshape(arr.shape)
    d_arr = np.zeros(arr.shape, d_out.dtype)
    np.add.at(d_arr, axis_key(indices, along(axis, arr.ndim), arr.shape), d_out)
    return d_arr


adjoint(np.compress)(
    lambda condition, a, axis=None, *, out, d_out: (None, compressed(a, condition, axis, d_out))
)
adjoint(np.ndarray.compress)(
    lambda a, condition, axis=None, *, out, d_out: compressed(a, condition, axis, d_out)
)


def compressed(a, condition, axis, d_out):
    if np.ndim(a) == 0:
        axis = None
    shape = (np.size(a),) if axis is None else a.shape
    axis = 0 if axis is None else along(axis, a.ndim)
    d_a = np.zeros(shape, d_out.dtype)
    d_a[at(axis, np.flatnonzero(condition))] = d_out
    return d_a if np.ndim(a) == len(shape) else d_a.reshape(np.shape(a))


adjoint(np.extract)(
    lambda condition, arr, *, out, d_out: (None, compressed(arr, condition, None, d_out))
)


@adjoint(np.choose)
def choose(a, choices, *, mode="raise", out, d_out):
    n = len(choices)
    if mode == "wrap":
        a = a % n
    elif mode == "clip":
        a = np.clip(a, 0, n - 1)
    if isinstance(choices, np.ndarray):
        numbers = np.arange(n)[(..., *(None,) * np.ndim(out))]
        d_choices = np.where(a == numbers, d_out, 0)
        extra = np.ndim(out) - (choices.ndim - 1)
        return None, d_choices.sum(tuple(range(1, extra + 1))) if extra > 0 else d_choices
    return None, [np.where(a == i, d_out, 0) for i in range(n)]


method(np.ndarray.choose, np.choose)
rereads(np.choose, written="out")  # with mode="clip"


@adjoint(np.select)
def select(condlist, choicelist, default=0, *, out, d_out):
    d_choices = []
    d_rest = d_out
    for condition in condlist:
        d_choices = [*d_choices, np.where(condition, d_rest, 0)]
        d_rest = np.where(condition, 0, d_rest)
    return None, d_choices, d_rest


# Sorting


def put(shape, index, axis, d_out):
    """The array whose elements `index` along an axis are `d_out`."""
    d_x = np.empty(shape, d_out.dtype)
    if len(shape) == 1:
        d_x[index] = d_out
    else:
        np.put_along_axis(d_x, index, d_out, axis)
    return d_x


def stable_order(a, axis):
    """What `np.argsort(a, axis, "stable")` is. NumPy's other sort of floats is 20 times as fast,
    and no different where no two elements are equal. Called by generated code.

    >>> stable_order(np.array([2.0, 1.0, 2.0]), -1)
    array([1, 0, 2])
    """
    order = np.argsort(a, axis)
    ordered = np.ravel(a)[order] if axis is None else np.take_along_axis(a, order, axis)
    ordered = ordered.swapaxes(-1, -1 if axis is None else axis)
    if np.any(ordered[..., 1:] == ordered[..., :-1]):
        return np.argsort(a, axis, "stable")
    return order


zero(stable_order)


@adjoint(np.sort)
def sort(a, axis=-1, kind=None, *, stable=None, out, d_out):
    if axis is None:
        d_a = put((a.size,), stable_order(a, None), 0, d_out)
        return d_a if a.ndim == 1 else d_a.reshape(a.shape)
    return put(a.shape, stable_order(a, axis), axis, d_out)


adjoint(np.sort_complex)(lambda a, *, out, d_out: sort(a, out=out, d_out=d_out))


@adjoint(np.partition)
def partition(a, kth, axis=-1, kind="introselect", *, out, d_out):
    """NumPy does not say in which order the rest comes: match the sorted forms of both."""
    if axis is None:
        d_out = d_out[stable_order(out, None)]
        d_a = put((a.size,), stable_order(a, None), 0, d_out)
        return d_a if a.ndim == 1 else d_a.reshape(a.shape)
    d_out = np.take_along_axis(d_out, stable_order(out, axis), axis)
    return put(a.shape, stable_order(a, axis), axis, d_out)


# Interpolation


@adjoint(np.interp)
def interp(x, xp, fp, left=None, right=None, period=None, *, out, d_out):
    if period is not None:
        return periodic_interp(x, xp, fp, abs(period), np.sign(period), d_out)
    if isinstance(xp, (list, tuple)):
        xp = np.asarray(xp)
    if isinstance(fp, (list, tuple)):
        fp = np.asarray(fp)
    d_left, d_right = None, None
    if left is not None:
        d_left = d_out * (x < xp[0])
        d_out = d_out - d_left
    if right is not None:
        d_right = d_out * (x > xp[-1])
        d_out = d_out - d_right
    d_x, d_xp, d_fp = interpolated(x, xp, fp, d_out)
    return d_x, d_xp, d_fp, d_left, d_right


def interpolated(x, xp, fp, d_out):
    """The contributions to x, xp and fp of the polygon through (xp, fp), constant outside."""
    i = np.clip(np.searchsorted(xp, x, "right") - 1, 0, max(xp.size - 2, 0))
    j = np.minimum(i + 1, xp.size - 1)
    width = xp[j] - xp[i]
    at_once = width == 0  # two points at one end: of them the outer one counts
    width = width + at_once
    part = (np.clip(x, xp[0], xp[-1]) - xp[i]) / width + (at_once & (x >= xp[-1]))
    d_x = d_out * (fp[j] - fp[i]) / width * ((x >= xp[0]) & (x <= xp[-1]) & ~at_once)
    d_fp = np.zeros(fp.shape, d_out.dtype)
    np.add.at(d_fp, i, d_out * (1 - part))
    np.add.at(d_fp, j, d_out * part)
    d_xp = np.zeros(xp.shape, d_out.dtype)
    np.subtract.at(d_xp, i, d_x * (1 - part))
    np.subtract.at(d_xp, j, d_x * part)
    return d_x, d_xp, d_fp


def periodic_interp(x, xp, fp, period, sign, d_out):
    """As NumPy does it: all within one period, sorted, and one point more at both ends."""
    x_turns, xp_turns = np.floor(x / period), np.floor(xp / period)
    x, xp = x % period, xp % period
    order = np.argsort(xp)
    xp, fp = xp[order], fp[order]
    xp = np.concatenate((xp[-1:] - period, xp, xp[:1] + period))
    fp = np.concatenate((fp[-1:], fp, fp[:1]))
    d_x, d_xp, d_fp = interpolated(x, xp, fp, d_out)
    d_period = d_xp[-1] - d_xp[0]
    d_xp, d_fp = folded(d_xp, order), folded(d_fp, order)
    d_period = d_period - np.sum(d_x * x_turns) - np.sum(d_xp * xp_turns)
    return d_x, d_xp, d_fp, None, None, sign * d_period


def folded(d_points, order):
    d_inner = d_points[1:-1].copy()
    d_inner[-1] += d_points[0]
    d_inner[0] += d_points[-1]
    return put(d_inner.shape, order, 0, d_inner)


# Functions without a derivative, and functions that write

zero(np.argsort, np.argpartition, np.lexsort, np.nonzero, np.flatnonzero, np.argwhere)
zero(np.searchsorted, np.digitize, np.isin)
zero(np.ndarray.argsort, np.ndarray.argpartition, np.ndarray.nonzero, np.ndarray.searchsorted)
inert(np.iterable)
refuse(
    *present(np, "unique_all", "unique_counts", "unique_inverse", "unique_values"),
    reason="it returns more than values: use np.unique",
)
method(np.ndarray.put, np.put)
