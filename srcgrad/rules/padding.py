"""`np.pad`, in all its modes."""

from __future__ import annotations

import numpy as np

from .helpers import known
from .registry import adjoint
from .shaping import at


def pairs(widths, ndim):
    """What `pad` takes for each side of each axis, as a list of pairs."""
    if isinstance(widths, np.ndarray):
        widths = widths.tolist()
    if isinstance(widths, dict):
        both = [(0, 0)] * ndim
        for axis, width in widths.items():
            both[axis] = tuple(width) if isinstance(width, (tuple, list)) else (width, width)
        return both
    if not isinstance(widths, (tuple, list)):
        return [(widths, widths)] * ndim
    if not isinstance(widths[0], (tuple, list)):
        return [(widths[0], widths[-1])] * ndim
    return [(w[0], w[-1]) for w in widths] * (ndim if len(widths) == 1 else 1)


def as_given(values, totals):
    """The contributions to the values of each side, nested as `pad` was given them."""
    if np.ndim(values) == 0:
        return sum([before + after for before, after in totals])
    if not isinstance(values, (tuple, list)):
        return np.array(totals)  # the values were broadcast to this shape
    if not isinstance(values[0], (tuple, list)):
        before, after = sum([t[0] for t in totals]), sum([t[1] for t in totals])
        return [before, after] if len(values) == 2 else [before + after]
    if len(values) == 1:
        totals = [(sum([t[0] for t in totals]), sum([t[1] for t in totals]))]
    return [list(t) if len(v) == 2 else [t[0] + t[1]] for v, t in zip(values, totals, strict=True)]


@adjoint(np.pad)
def pad(
    array,
    pad_width,
    mode="constant",
    constant_values=0,
    end_values=0,
    stat_length=None,
    reflect_type="even",
    *,
    out,
    d_out,
):
    """NumPy pads axis by axis, each time what the axes before have given: undo it backwards."""
    if not isinstance(mode, str):
        raise NotImplementedError("np.pad with a function as mode: pad with slices instead")
    widths = pairs(pad_width, array.ndim)
    lengths = pairs(stat_length, array.ndim)
    linear = mode in ("mean", "linear_ramp") or (
        mode in ("reflect", "symmetric") and reflect_type == "odd"
    )
    totals = []
    for axis in reversed(range(array.ndim)):
        before, after = widths[axis]
        n = array.shape[axis]
        left = d_out[at(axis, slice(None, before))]
        right = d_out[at(axis, slice(before + n, None))]
        d_out = d_out[at(axis, slice(before, before + n))]
        unpadded = known(before) and known(after) and before == 0 and after == 0
        if mode == "empty" or unpadded:
            totals = [(0, 0), *totals]
        elif mode == "constant":
            totals = [(left.sum(), right.sum()), *totals]
        elif mode == "edge":
            d_out = d_out.copy()
            d_out[at(axis, slice(None, 1))] += left.sum(axis, keepdims=True)
            d_out[at(axis, slice(n - 1, None))] += right.sum(axis, keepdims=True)
        elif linear:
            options = {}
            if mode == "mean" and stat_length is not None:
                options = {"stat_length": lengths[axis]}
            elif mode in ("reflect", "symmetric"):
                options = {"reflect_type": reflect_type}
            matrix = np.pad(np.eye(n), ((before, after), (0, 0)), mode, **options)
            d_out = d_out + _applied(matrix[:before], left, axis)
            d_out = d_out + _applied(matrix[before + n :], right, axis)
            if mode == "linear_ramp":
                ramp = np.linspace(1, 0, before, endpoint=False)
                left_total = np.moveaxis(left, axis, -1) @ ramp
                ramp = np.linspace(1, 0, after, endpoint=False)[::-1]
                right_total = np.moveaxis(right, axis, -1) @ ramp
                totals = [(left_total.sum(), right_total.sum()), *totals]
        elif mode in ("maximum", "minimum", "median"):
            core = out[
                tuple(
                    slice(None) if i < axis else slice(widths[i][0], widths[i][0] + array.shape[i])
                    for i in range(array.ndim)
                )
            ]
            d_out = d_out.copy()
            first, last = lengths[axis]
            head = at(axis, slice(None, first))
            tail = at(axis, slice(None if last is None else max(n - last, 0), None))
            d_out[head] += left.sum(axis, keepdims=True) * _chosen(core[head], mode, axis)
            d_out[tail] += right.sum(axis, keepdims=True) * _chosen(core[tail], mode, axis)
        else:
            source = np.pad(np.arange(n), (before, after), mode)
            d_out = d_out.copy()
            np.add.at(d_out, at(axis, source[:before]), left)
            np.add.at(d_out, at(axis, source[before + n :]), right)
    d_constant = as_given(constant_values, totals) if mode == "constant" else None
    d_end = as_given(end_values, totals) if mode == "linear_ramp" else None
    return d_out, None, None, d_constant, d_end


def _applied(matrix, d_side, axis):
    """The product of the transposed matrix with one axis of an array."""
    return np.moveaxis(np.tensordot(matrix, d_side, ((0,), (axis,))), 0, axis)


def _chosen(x, mode, axis):
    """The derivative of the maximum, minimum or median by each element."""
    if mode == "median":
        n = x.shape[axis]
        order = np.argsort(x, axis)
        weights = np.zeros(x.shape)
        for middle in ((n - 1) // 2, n // 2):
            place = np.take(order, [middle], axis)
            np.put_along_axis(weights, place, np.take_along_axis(weights, place, axis) + 0.5, axis)
        return weights
    extreme = x.max(axis, keepdims=True) if mode == "maximum" else x.min(axis, keepdims=True)
    tied = x == extreme
    return tied / tied.sum(axis, keepdims=True)
