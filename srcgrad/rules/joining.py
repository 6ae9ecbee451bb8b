"""Functions that join arrays, split them, insert elements and delete some."""

from __future__ import annotations

import numpy as np

from .creation import nesting, unpacked
from .helpers import known
from .registry import adjoint, definition, otherwise, rereads
from .shaping import along, at, filled, present

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


rereads(np.concatenate, np.stack, *present(np, "concat"), written="out")


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
    return 1 + depth(arrays[0]) if isinstance(arrays, list) else 0


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
    if not known(len(arrays)):
        start = 0
        for a in arrays:
            stop = start + extent(a, -level, d_out.ndim, level - 1)
            piece = d_out[at(d_out.ndim - level, slice(start, stop))]
            contributions.append(unblocked(a, piece, level - 1))
            start = stop
        return contributions
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


adjoint(np.block)(lambda arrays, *, out, d_out: unblocked(arrays, d_out, depth(arrays)))


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


adjoint(np.vsplit)(
    lambda ary, indices_or_sections, *, out, d_out: joined(ary, indices_or_sections, 0, out, d_out)
)


@adjoint(np.hsplit)
def hsplit(ary, indices_or_sections, *, out, d_out):
    return joined(ary, indices_or_sections, 1 if ary.ndim > 1 else 0, out, d_out)


adjoint(np.dsplit)(
    lambda ary, indices_or_sections, *, out, d_out: joined(ary, indices_or_sections, 2, out, d_out)
)


@otherwise(np.array_split)
def parts(ary, indices_or_sections, axis=0):
    if axis is None:
        raise TypeError("an axis must be an int, not None")
    axis, n = along(axis, ary.ndim), ary.shape[axis]
    if not isinstance(indices_or_sections, (int, np.integer)):
        points = [0] + [int(i) for i in indices_or_sections] + [n]
        return [ary[at(axis, slice(points[i], points[i + 1]))] for i in range(len(points) - 1)]
    if indices_or_sections <= 0:
        raise ValueError("number sections must be larger than 0.")
    each, more = divmod(n, indices_or_sections)  # the first parts are longer by one
    return [
        ary[at(axis, slice(i * each + min(i, more), (i + 1) * each + min(i + 1, more)))]
        for i in range(indices_or_sections)
    ]


@otherwise(np.split)
def equal_parts(ary, indices_or_sections, axis=0):
    if axis is not None and isinstance(indices_or_sections, (int, np.integer)):
        if ary.shape[axis] % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
    return parts(ary, indices_or_sections, axis)


otherwise(np.vsplit)(lambda ary, indices_or_sections: equal_parts(ary, indices_or_sections, 0))
otherwise(np.hsplit)(
    lambda ary, indices_or_sections: equal_parts(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)
)
otherwise(np.dsplit)(lambda ary, indices_or_sections: equal_parts(ary, indices_or_sections, 2))


if hasattr(np, "unstack"):
    definition(np.unstack)(lambda x, *, axis=0: tuple(np.moveaxis(x, axis, 0)))


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
