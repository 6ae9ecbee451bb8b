"""Functions that move elements about: shapes, axes, joining, splitting, padding, creation."""

from __future__ import annotations

import numpy as np

from .helpers import known
from .registry import adjoint, inert, method, methods, refuse, zero


def present(module, *names):
    """Those of the named functions that this version of NumPy has."""
    return [getattr(module, name) for name in names if hasattr(module, name)]


def at(axis, key):
    """The key that indexes one axis (counted from the front) and leaves the others."""
    return (*(slice(None),) * axis, key) if axis else key


def inverse_permutation(axes):
    """The transposition that undoes `x.transpose(axes)`."""
    axes = [axis % len(axes) for axis in axes]
    return tuple(axes.index(i) for i in range(len(axes)))


def from_last(ndim, axis1, axis2):
    """The transposition that moves the last two axes to the places given; None if they are there.

    >>> from_last(3, 0, 1)
    (1, 2, 0)
    """
    axis1, axis2 = axis1 % ndim, axis2 % ndim
    order = (*(i for i in range(ndim) if i not in (axis1, axis2)), axis1, axis2)
    return None if order == tuple(range(ndim)) else inverse_permutation(order)


def transposed(x):
    """The transpose of a matrix, or of each matrix of a stack."""
    return x.T if x.ndim == 2 else x.swapaxes(-1, -2)


def along(axis, ndim):
    """The axis counted from the front."""
    return axis % ndim if ndim else 0


def filled(d_out, out):
    """The adjoints of several results, zeros for those that were not used."""
    return [np.zeros_like(out[i]) if d_out[i] is None else d_out[i] for i in range(len(out))]


# Shape


def memory_order(a, order):
    """What 'A' means for an array."""
    if order == "A":
        return "F" if np.isfortran(a) else "C"
    return order


def reshaped(d_out, a, order):
    """`d_out` in the shape of `a`, whose elements were read in the given order."""
    if order == "C":
        return d_out.reshape(np.shape(a))
    return d_out.reshape(np.shape(a), order=memory_order(a, order))


@adjoint(np.reshape)
def reshape(a, shape=None, order="C", *, newshape=None, copy=None, out, d_out):
    return reshaped(d_out, a, order)


@adjoint(np.ndarray.reshape)
def reshape_method(x, *shape, order="C", copy=None, out, d_out):
    return reshaped(d_out, x, order)


@adjoint(np.ravel, np.ndarray.ravel, np.ndarray.flatten)
def ravel(a, order="C", *, out, d_out):
    if order == "K":  # number the elements as they lie in memory
        numbers = np.empty_like(a, int)
        numbers[...] = np.arange(a.size).reshape(a.shape)
        d_a = np.empty(a.size, d_out.dtype)
        d_a[numbers.ravel("K")] = d_out
        return d_a.reshape(a.shape)
    return reshaped(d_out, a, order)


def inserted(axis, ndim):
    """For each leading axis, up to the last of those given, whether it is one of them."""
    axes = (axis,) if isinstance(axis, (int, np.integer)) else axis
    axes = [i % ndim for i in axes]
    return [i in axes for i in range(max(axes, default=-1) + 1)]


@adjoint(np.expand_dims)
def expand_dims(a, axis, *, out, d_out):
    return d_out[tuple(0 if new else slice(None) for new in inserted(axis, d_out.ndim))]


@adjoint(np.squeeze)
def squeeze(a, axis=None, *, out, d_out):
    if axis is None:
        return np.reshape(d_out, np.shape(a))
    return np.asarray(d_out)[
        tuple(None if new else slice(None) for new in inserted(axis, np.ndim(a)))
    ]


method(np.ndarray.squeeze, np.squeeze)


@adjoint(np.atleast_1d)
def atleast_1d(*arys, out, d_out):
    return lowered(arys, d_out, 1)


@adjoint(np.atleast_2d)
def atleast_2d(*arys, out, d_out):
    return lowered(arys, d_out, 2)


@adjoint(np.atleast_3d)
def atleast_3d(*arys, out, d_out):
    return lowered(arys, d_out, 3)


def lowered(arrays, d_out, rank):
    if len(arrays) == 1:
        a = arrays[0]
        return d_out if np.ndim(a) >= rank else d_out.reshape(np.shape(a))
    return tuple(
        d if d is None or np.ndim(a) >= rank else d.reshape(np.shape(a))
        for a, d in zip(arrays, d_out, strict=True)
    )


# Axes


@adjoint(np.transpose, *present(np, "permute_dims"))
def transpose(a, axes=None, *, out, d_out):
    return d_out.T if axes is None else d_out.transpose(inverse_permutation(axes))


@adjoint(np.ndarray.transpose)
def transpose_method(x, *axes, out, d_out):
    if len(axes) == 1 and not isinstance(axes[0], (int, np.integer)):
        return transpose(x, axes[0], out=out, d_out=d_out)
    return transpose(x, axes if axes else None, out=out, d_out=d_out)


methods[np.ndarray.T] = np.transpose


if hasattr(np, "matrix_transpose"):

    @adjoint(np.matrix_transpose, np.linalg.matrix_transpose)
    def matrix_transpose(x, *, out, d_out):
        return transposed(d_out)

    methods[np.ndarray.mT] = np.matrix_transpose


@adjoint(np.swapaxes)
def swapaxes(a, axis1, axis2, *, out, d_out):
    return d_out.swapaxes(axis1, axis2)


method(np.ndarray.swapaxes, np.swapaxes)


def moved(ndim, source, destination):
    """The transposition that `moveaxis` does."""
    if isinstance(source, (int, np.integer)):
        source, destination = (source,), (destination,)
    source = [i % ndim for i in source]
    order = [i for i in range(ndim) if i not in source]
    for place, axis in sorted(zip([i % ndim for i in destination], source, strict=True)):
        order.insert(place, axis)
    return tuple(order)


@adjoint(np.moveaxis)
def moveaxis(a, source, destination, *, out, d_out):
    return d_out.transpose(moved(a.ndim, destination, source))


def rolled(ndim, axis, start):
    """The transposition that `rollaxis` does."""
    axis, start = axis % ndim, start + ndim if start < 0 else start
    order = [i for i in range(ndim) if i != axis]
    order.insert(start - 1 if axis < start else start, axis)
    return tuple(order)


@adjoint(np.rollaxis)
def rollaxis(a, axis, start=0, *, out, d_out):
    return d_out.transpose(inverse_permutation(rolled(a.ndim, axis, start)))


def reversing(axis, ndim):
    """The key that reverses the axes given."""
    if axis is None:
        axes = tuple(range(ndim))
    elif isinstance(axis, (int, np.integer)):
        axes = (axis % ndim,)
    else:
        axes = tuple(i % ndim for i in axis)
    return tuple(
        slice(None, None, -1) if i in axes else slice(None) for i in range(max((-1, *axes)) + 1)
    )


@adjoint(np.flip)
def flip(m, axis=None, *, out, d_out):
    return d_out[reversing(axis, m.ndim)]


@adjoint(np.flipud)
def flipud(m, *, out, d_out):
    return d_out[::-1]


@adjoint(np.fliplr)
def fliplr(m, *, out, d_out):
    return d_out[:, ::-1]


@adjoint(np.rot90)
def rot90(m, k=1, axes=(0, 1), *, out, d_out):
    return np.rot90(d_out, -k, axes)


@adjoint(np.roll)
def roll(a, shift, axis=None, *, out, d_out):
    if isinstance(shift, (tuple, list)):
        return np.roll(d_out, tuple(-s for s in shift), axis)
    return np.roll(d_out, -shift, axis)


# Repetition


@adjoint(np.broadcast_to)
def broadcast_to(array, shape, *, subok=False, out, d_out):
    return d_out


@adjoint(np.broadcast_arrays)
def broadcast_arrays(*args, subok=False, out, d_out):
    return tuple(d_out)


@adjoint(np.repeat)
def repeat(a, repeats, axis=None, *, out, d_out):
    shape = (np.size(a),) if axis is None else np.shape(a)
    axis = 0 if axis is None else along(axis, np.ndim(a))
    if isinstance(repeats, (tuple, list)):
        repeats = np.asarray(repeats)
    if np.ndim(repeats) == 0:
        d_a = d_out.reshape((*shape[: axis + 1], repeats, *shape[axis + 1 :]))
        if axis == len(shape) - 1:  # NumPy is slow at sums of short rows
            d_a = d_a @ np.ones(repeats, d_out.dtype)
        else:
            d_a = d_a.sum(axis + 1)
    else:
        repeats = np.broadcast_to(repeats, (shape[axis],))
        d_a = np.zeros(shape, d_out.dtype)
        np.add.at(d_a, at(axis, np.repeat(np.arange(shape[axis]), repeats)), d_out)
    return d_a if np.ndim(a) == len(shape) else np.reshape(d_a, np.shape(a))


method(np.ndarray.repeat, np.repeat)


@adjoint(np.tile)
def tile(A, reps, *, out, d_out):
    if isinstance(reps, (int, np.integer)):
        reps = (reps,)
    ndim = max(len(reps), np.ndim(A))
    reps = (1,) * (ndim - len(reps)) + tuple(reps)
    shape = (1,) * (ndim - np.ndim(A)) + np.shape(A)
    mixed = ()
    for axis in range(ndim):
        mixed = (*mixed, reps[axis], shape[axis])
    d_A = d_out.reshape(mixed).sum(0 if ndim == 1 else tuple(range(0, 2 * ndim, 2)))
    return d_A if np.ndim(A) == ndim else d_A.reshape(np.shape(A))


@adjoint(np.resize)
def resize(a, new_shape, *, out, d_out):
    size = max(np.size(a), 1)
    rounds = -(-d_out.size // size)
    d_a = np.zeros(rounds * size, d_out.dtype)
    d_a[: d_out.size] = d_out.reshape(d_out.size)
    return d_a.reshape(rounds, size)[:, : np.size(a)].sum(0).reshape(np.shape(a))


# Joining


def of_one_array(arrays, shape, axis, d_out):
    """The adjoint of a joined *array*, whose items have the given shape when joined."""
    split = (*shape[:axis], arrays.shape[0], *shape[axis:])
    return np.moveaxis(d_out.reshape(split), axis, 0).reshape(arrays.shape)


def pieces(d_out, arrays, axis, lengths):
    """Cut `d_out` into the contributions to the arrays that were joined along an axis."""
    if not known(len(arrays)):
        contributions, start = [], 0
        for number in range(len(arrays)):
            piece = d_out[at(axis, slice(start, start + lengths[number]))]
            contributions.append(piece.reshape(np.shape(arrays[number])))
            start = start + lengths[number]
        return contributions
    contributions = []
    start = None
    for number, a in enumerate(arrays):
        stop = None
        if number < len(arrays) - 1:
            stop = lengths[number] if start is None else start + lengths[number]
        piece = d_out[at(axis, slice(start, stop))]
        start = stop
        if isinstance(a, (list, tuple)):
            piece = unpacked(a, piece.reshape(shape_of(a)))
        elif np.ndim(a) != d_out.ndim:
            piece = piece.reshape(np.shape(a))
        contributions = [*contributions, piece]
    return contributions


def shape_of(a):
    """The shape of an array or of a nested list."""
    return (len(a), *shape_of(a[0])) if isinstance(a, (list, tuple)) else np.shape(a)


def length(a, axis):
    """The length of an array or a nested list along an axis, 1 where it has no such axis."""
    return shape_of(a)[axis] if nesting(a) > axis else 1


@adjoint(np.concatenate, *present(np, "concat"))
def concatenate(arrays, axis=0, *, dtype=None, casting="same_kind", out, d_out):
    if isinstance(arrays, np.ndarray):
        if axis is None:
            return d_out.reshape(arrays.shape)
        return of_one_array(arrays, arrays.shape[1:], along(axis, arrays.ndim - 1), d_out)
    if axis is None:
        return pieces(d_out, arrays, 0, [np.size(a) for a in arrays])
    axis = along(axis, d_out.ndim)
    return pieces(d_out, arrays, axis, [length(a, axis) for a in arrays])


@adjoint(np.stack)
def stack(arrays, axis=0, *, dtype=None, casting="same_kind", out, d_out):
    axis = along(axis, d_out.ndim)
    if isinstance(arrays, np.ndarray) or not known(len(arrays)):
        return unpacked(arrays, d_out if axis == 0 else np.moveaxis(d_out, axis, 0))
    return [unpacked(arrays[i], d_out[at(axis, i)]) for i in range(len(arrays))]


@adjoint(np.hstack)
def hstack(tup, *, dtype=None, casting="same_kind", out, d_out):
    axis = 0 if d_out.ndim == 1 else 1
    if isinstance(tup, np.ndarray):
        shape = tup.shape[1:] if tup.ndim > 1 else (1,)
        return of_one_array(tup, shape, axis, d_out)
    return pieces(d_out, tup, axis, [length(a, axis) for a in tup])


@adjoint(np.vstack)
def vstack(tup, *, dtype=None, casting="same_kind", out, d_out):
    if isinstance(tup, np.ndarray):
        return d_out.reshape(tup.shape)
    return pieces(d_out, tup, 0, [length(a, 0) if nesting(a) > 1 else 1 for a in tup])


@adjoint(np.dstack)
def dstack(tup, *, out, d_out):
    if isinstance(tup, np.ndarray):
        shape = tup.shape[1:]
        if tup.ndim <= 3:
            shape = (1,) * (3 - max(tup.ndim, 2)) + shape + (1,) * (1 if tup.ndim > 1 else 2)
        return of_one_array(tup, shape, 2, d_out)
    return pieces(d_out, tup, 2, [length(a, 2) for a in tup])


@adjoint(np.column_stack)
def column_stack(tup, *, out, d_out):
    if isinstance(tup, np.ndarray):
        shape = tup.shape[1:] + (1,) * (3 - tup.ndim)
        return of_one_array(tup, shape, 1, d_out)
    return pieces(d_out, tup, 1, [length(a, 1) for a in tup])


@adjoint(np.append)
def append(arr, values, axis=None, *, out, d_out):
    if axis is None:
        n = np.size(arr)
        return d_out[:n].reshape(np.shape(arr)), d_out[n:].reshape(np.shape(values))
    axis = along(axis, arr.ndim)
    n = arr.shape[axis]
    return d_out[at(axis, slice(None, n))], d_out[at(axis, slice(n, None))]


def depth(arrays):
    return 1 + max(depth(a) for a in arrays) if isinstance(arrays, list) else 0


def rank(arrays):
    return max(rank(a) for a in arrays) if isinstance(arrays, list) else np.ndim(arrays)


def extent(arrays, axis, ndim, level):
    """The length along an axis of a part of a `block`, nested `level` deep."""
    if not isinstance(arrays, list):
        return np.shape(arrays)[axis] if np.ndim(arrays) >= -axis else 1
    if axis != -level:
        return extent(arrays[0], axis, ndim, level - 1)
    total = extent(arrays[0], axis, ndim, level - 1)
    for a in arrays[1:]:
        total = total + extent(a, axis, ndim, level - 1)
    return total


def unblocked(arrays, d_out, level):
    if not isinstance(arrays, list):
        return d_out if np.ndim(arrays) == d_out.ndim else d_out.reshape(np.shape(arrays))
    contributions = []
    start = None
    for number, a in enumerate(arrays):
        stop = None
        if number < len(arrays) - 1:
            stop = extent(a, -level, d_out.ndim, level - 1)
            stop = stop if start is None else start + stop
        piece = d_out[at(d_out.ndim - level, slice(start, stop))]
        start = stop
        contributions = [*contributions, unblocked(a, piece, level - 1)]
    return contributions


@adjoint(np.block)
def block(arrays, *, out, d_out):
    return unblocked(arrays, d_out, depth(arrays))


# Splitting


def joined(ary, indices_or_sections, axis, out, d_out):
    d_out = filled(d_out, out)
    axis = along(axis, ary.ndim)
    if isinstance(indices_or_sections, (int, np.integer)) or len(out) <= 2:
        return np.concatenate(d_out, axis)
    # positions out of order make parts that overlap
    d_ary = np.zeros(ary.shape, d_out[0].dtype)
    points = [0, *indices_or_sections, None]
    for i in range(len(out)):
        d_ary[at(axis, slice(points[i], points[i + 1]))] += d_out[i]
    return d_ary


@adjoint(np.split, np.array_split)
def split(ary, indices_or_sections, axis=0, *, out, d_out):
    return joined(ary, indices_or_sections, axis, out, d_out)


@adjoint(np.vsplit)
def vsplit(ary, indices_or_sections, *, out, d_out):
    return joined(ary, indices_or_sections, 0, out, d_out)


@adjoint(np.hsplit)
def hsplit(ary, indices_or_sections, *, out, d_out):
    return joined(ary, indices_or_sections, 1 if ary.ndim > 1 else 0, out, d_out)


@adjoint(np.dsplit)
def dsplit(ary, indices_or_sections, *, out, d_out):
    return joined(ary, indices_or_sections, 2, out, d_out)


if hasattr(np, "unstack"):

    @adjoint(np.unstack)
    def unstack(x, *, axis=0, out, d_out):
        return np.stack(filled(d_out, out), axis)


# Insertion and deletion


@adjoint(np.insert)
def insert(arr, obj, values, axis=None, *, out, d_out):
    shape = (np.size(arr),) if axis is None else arr.shape
    axis = 0 if axis is None else along(axis, arr.ndim)
    n = shape[axis]
    origin = np.insert(np.full(n, -1), obj, np.arange(d_out.shape[axis] - n))
    d_arr = d_out[at(axis, np.flatnonzero(origin < 0))]
    d_values = d_out[at(axis, np.argsort(origin, kind="stable")[n:])]
    if axis != 0 and isinstance(obj, (int, np.integer)):
        d_values = np.moveaxis(d_values, axis, 0)
    return d_arr if np.ndim(arr) == len(shape) else d_arr.reshape(np.shape(arr)), None, d_values


@adjoint(np.delete)
def delete(arr, obj, axis=None, *, out, d_out):
    shape = (np.size(arr),) if axis is None else arr.shape
    axis = 0 if axis is None else along(axis, arr.ndim)
    d_arr = np.zeros(shape, d_out.dtype)
    d_arr[at(axis, np.delete(np.arange(shape[axis]), obj))] = d_out
    return d_arr if np.ndim(arr) == len(shape) else d_arr.reshape(np.shape(arr))


@adjoint(np.trim_zeros)
def trim_zeros(filt, trim="fb", *, out, d_out):
    start = 0
    if "f" in trim.lower() and d_out.size > 0:
        start = np.flatnonzero(filt)[0]
    d_filt = np.zeros(filt.shape, d_out.dtype)
    d_filt[start : start + d_out.size] = d_out
    return d_filt


# Padding


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
        if mode == "empty" or (before == 0 and after == 0):
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


# Triangles and diagonals


@adjoint(np.tril)
def tril(m, k=0, *, out, d_out):
    return np.tril(d_out, k)


@adjoint(np.triu)
def triu(m, k=0, *, out, d_out):
    return np.triu(d_out, k)


@adjoint(np.diag)
def diag(v, k=0, *, out, d_out):
    if v.ndim == 1:
        return d_out.diagonal(k)
    return diagonal(v, k, out=out, d_out=d_out)


@adjoint(np.diagflat)
def diagflat(v, k=0, *, out, d_out):
    return d_out.diagonal(k) if np.ndim(v) == 1 else d_out.diagonal(k).reshape(np.shape(v))


@adjoint(np.diagonal)
def diagonal(a, offset=0, axis1=0, axis2=1, *, out, d_out):
    d_a = np.zeros((*d_out.shape[:-1], a.shape[axis1], a.shape[axis2]), d_out.dtype)
    i = np.arange(d_out.shape[-1])
    if a.ndim == 2:
        d_a[i + max(-offset, 0), i + max(offset, 0)] = d_out
    else:
        d_a[..., i + max(-offset, 0), i + max(offset, 0)] = d_out
    order = from_last(a.ndim, axis1, axis2)
    return d_a if order is None else d_a.transpose(order)


method(np.ndarray.diagonal, np.diagonal)


if hasattr(np.linalg, "diagonal"):

    @adjoint(np.linalg.diagonal)
    def linalg_diagonal(x, *, offset=0, out, d_out):
        return diagonal(x, offset, -2, -1, out=out, d_out=d_out)


@adjoint(np.vander)
def vander(x, N=None, increasing=False, *, out, d_out):
    n = out.shape[1]
    if increasing:
        return (d_out[:, 1:] * out[:, :-1]) @ np.arange(1, n)
    return (d_out[:, :-1] * out[:, 1:]) @ np.arange(n - 1, 0, -1)


def other_axes(number, count, indexing):
    """The axes of the arrays of `meshgrid` but the one along which number `number` changes."""
    place = 1 - number if indexing == "xy" and count > 1 and number < 2 else number
    return tuple(i for i in range(count) if i != place)


@adjoint(np.meshgrid)
def meshgrid(*xi, copy=True, sparse=False, indexing="xy", out, d_out):
    contributions = []
    for number, x in enumerate(xi):
        d_x = d_out[number]
        if d_x is not None:
            if not sparse:
                d_x = d_x.sum(other_axes(number, len(xi), indexing))
            if sparse or np.ndim(x) != 1:
                d_x = d_x.reshape(np.shape(x))
        contributions = [*contributions, d_x]
    return tuple(contributions)


# Copies and conversions


def unpacked(value, d_out):
    """`d_out`, or a list of its items where the value is a list or tuple."""
    if not isinstance(value, (list, tuple)):
        return d_out
    if not known(len(value)) and not isinstance(value[0], (list, tuple)):
        return d_out  # its items are the list's
    return [unpacked(value[i], d_out[i]) for i in range(len(value))]


def nesting(value):
    return 1 + nesting(value[0]) if isinstance(value, (list, tuple)) else np.ndim(value)


@adjoint(np.array)
def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, ndmax=0, out, d_out):
    if ndmin > nesting(object):
        d_out = d_out[(0,) * (ndmin - nesting(object))]
    return unpacked(object, d_out)


@adjoint(np.asarray, np.asanyarray)
def asarray(a, dtype=None, order=None, *, device=None, copy=None, out, d_out):
    return unpacked(a, d_out)


@adjoint(np.ascontiguousarray, np.asfortranarray)
def ascontiguousarray(a, dtype=None, *, out, d_out):
    if np.ndim(d_out) > nesting(a):
        d_out = d_out[0]
    return unpacked(a, d_out)


@adjoint(np.asarray_chkfinite)
def asarray_chkfinite(a, dtype=None, order=None, *, out, d_out):
    return unpacked(a, d_out)


@adjoint(np.copy)
def copy(a, order="K", subok=False, *, out, d_out):
    return unpacked(a, d_out)


@adjoint(np.ndarray.copy)
def copy_method(x, order="C", *, out, d_out):
    return d_out


@adjoint(np.ndarray.view)
def view(x, *, out, d_out):
    return d_out


@adjoint(np.require)
def require(a, dtype=None, requirements=None, *, out, d_out):
    return unpacked(a, d_out)


@adjoint(np.ndarray.astype)
def astype_method(x, dtype, order="K", casting="unsafe", subok=True, copy=True, *, out, d_out):
    return d_out


if hasattr(np, "astype"):

    @adjoint(np.astype)
    def astype(x, dtype, *, copy=True, device=None, out, d_out):
        return d_out


# NumPy's types of numbers, called: they convert arrays too
FLOATING = {np.float16, np.float32, np.float64, np.longdouble}
FLOATING |= {np.complex64, np.complex128, np.clongdouble}
INTEGERS = {np.dtype(code).type for code in np.typecodes["AllInteger"] + "?"}


@adjoint(*FLOATING)
def to_floating(x=0.0, *, out, d_out):
    return d_out


zero(*INTEGERS, note="an integer, or a truth value")
inert(np.dtype)


@adjoint(np.ndarray.item)
def item(x, *args, out, d_out):
    if not args:
        return d_out if np.ndim(x) == 0 else np.reshape(d_out, x.shape)
    key = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    if len(key) == 1 and x.ndim != 1:
        key = np.unravel_index(key[0] % x.size, x.shape)
    d_x = np.zeros(x.shape, x.dtype)
    d_x[key] = d_out
    return d_x


@adjoint(np.ndarray.tolist)
def tolist(x, *, out, d_out):
    return np.asarray(d_out)


# Creation


@adjoint(np.full)
def full(shape, fill_value, dtype=None, order="C", *, device=None, out, d_out):
    return None, d_out


@adjoint(np.full_like)
def full_like(
    a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None, out, d_out
):
    return None, d_out


@adjoint(np.linspace)
def linspace(
    start,
    stop,
    num=50,
    endpoint=True,
    retstep=False,
    dtype=None,
    axis=0,
    *,
    device=None,
    out,
    d_out,
):
    d_start, d_stop = 0, 0
    if retstep:
        d_out, d_step = d_out
        if d_step is not None:
            d_stop = d_step / (num - 1 if endpoint else num)
            d_start = -d_stop
    if d_out is not None:
        if d_out.ndim > 1 and axis != -1:
            d_out = np.moveaxis(d_out, axis, -1)
        d_start = d_out @ np.linspace(1.0, 0.0, num, endpoint) + d_start
        d_stop = d_out @ np.linspace(0.0, 1.0, num, endpoint) + d_stop
    return d_start, d_stop


@adjoint(np.logspace)
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0, *, out, d_out):
    d_power = d_out * out
    if d_power.ndim > 1 and axis != -1:
        d_power = np.moveaxis(d_power, axis, -1)
    d_start = d_power @ np.linspace(1.0, 0.0, num, endpoint)
    d_stop = d_power @ np.linspace(0.0, 1.0, num, endpoint)
    scale = np.log(base)
    return (
        d_start * scale,
        d_stop * scale,
        None,
        None,
        (d_start * start + d_stop * stop) / base,
    )


@adjoint(np.geomspace)
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0, *, out, d_out):
    d_log = d_out * out
    if d_log.ndim > 1 and axis != -1:
        d_log = np.moveaxis(d_log, axis, -1)
    d_start = d_log @ np.linspace(1.0, 0.0, num, endpoint)
    d_stop = d_log @ np.linspace(0.0, 1.0, num, endpoint)
    return d_start / start, d_stop / stop


@adjoint(np.arange)
def arange(start, stop=None, step=1, dtype=None, *, device=None, out, d_out):
    if stop is None:
        return None  # the result is 0, 1, 2, ...
    return d_out.sum(), None, d_out @ np.arange(d_out.size)


zero(np.zeros, np.ones, np.empty, np.eye, np.identity, np.tri, np.indices, note="a constant")
zero(np.bartlett, np.blackman, np.hamming, np.hanning, note="a constant")
zero(np.zeros_like, np.ones_like, np.empty_like, note="a constant")
inert(np.isfortran, np.broadcast_shapes, np.unravel_index)
inert(np.tril_indices, np.triu_indices, np.tril_indices_from, np.triu_indices_from)
inert(np.diag_indices, np.diag_indices_from, np.ravel_multi_index, np.mask_indices, np.ix_)
inert(np.promote_types, np.can_cast, np.issubdtype, np.min_scalar_type, np.common_type)
inert(np.iscomplexobj, np.isrealobj, np.result_type, np.shares_memory, np.may_share_memory)
refuse(np.ndarray.resize, reason="x.resize changes x in place: write x = np.resize(x, shape)")
refuse(
    np.lib.stride_tricks.as_strided,
    reason="as_strided may make elements overlap: use slices or sliding_window_view",
)


@adjoint(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False, out, d_out):
    """Add up the adjoints of all windows, one offset within the window at a time."""
    if isinstance(window_shape, (int, np.integer)):
        window_shape = (window_shape,)
    if axis is None:
        axes = tuple(range(len(window_shape)))
    else:
        axes = (axis % x.ndim,) if isinstance(axis, (int, np.integer)) else axis
    sizes = window_shape
    # axes may repeat: the later windows are made of what the earlier have left
    for number in reversed(range(len(sizes))):
        place = along(axes[number], x.ndim)
        count = d_out.shape[place]
        d_x = np.zeros(
            (*d_out.shape[:place], count + sizes[number] - 1, *d_out.shape[place + 1 : -1]),
            d_out.dtype,
        )
        for offset in range(sizes[number]):
            d_x[at(place, slice(offset, offset + count))] += d_out[..., offset]
        d_out = d_x
    return d_out
