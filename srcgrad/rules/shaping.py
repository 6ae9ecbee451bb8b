"""Functions that move elements about: shapes, axes, repetition, triangles and diagonals."""

from __future__ import annotations

import math

import numpy as np

from .helpers import known
from .registry import adjoint, definition, method, methods, passes_for


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


def reshaped(d_out, a, order):
    """`d_out` in the shape of `a`, whose elements were read in the given order."""
    if order == "A":
        order = "C"
        if np.ndim(a) > 1 and np.isfortran(a):
            return d_out.reshape(np.shape(a), order="F")
    if order == "C":
        return d_out.reshape(np.shape(a))
    return d_out.reshape(np.shape(a), order=order)


@adjoint(np.reshape)
def reshape(a, shape=None, order="C", *, newshape=None, copy=None, out, d_out):
    return reshaped(d_out, a, order)


adjoint(np.ndarray.reshape)(
    lambda x, *shape, order="C", copy=None, out, d_out: reshaped(d_out, x, order)
)


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
    if not known(np.ndim(out)):
        return np.squeeze(d_out, axis)
    return d_out[tuple(0 if new else slice(None) for new in inserted(axis, d_out.ndim))]


@adjoint(np.squeeze)
def squeeze(a, axis=None, *, out, d_out):
    if axis is None or np.ndim(a) == 0:  # of a number NumPy takes axis=0, too
        return np.reshape(d_out, np.shape(a))
    if not known(np.ndim(a)):
        return np.expand_dims(d_out, axis)
    return np.asarray(d_out)[
        tuple(None if new else slice(None) for new in inserted(axis, np.ndim(a)))
    ]


method(np.ndarray.squeeze, np.squeeze)

adjoint(np.atleast_1d)(lambda *arys, out, d_out: lowered(arys, d_out, 1))
adjoint(np.atleast_2d)(lambda *arys, out, d_out: lowered(arys, d_out, 2))
adjoint(np.atleast_3d)(lambda *arys, out, d_out: lowered(arys, d_out, 3))


def lowered(arrays, d_out, rank):
    if len(arrays) == 1:
        a = arrays[0]
        return d_out if np.ndim(a) >= rank else d_out.reshape(np.shape(a))
    return tuple(
        d if d is None or np.ndim(d) == np.ndim(a) else d.reshape(np.shape(a))
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
    adjoint(np.matrix_transpose, np.linalg.matrix_transpose)(
        lambda x, *, out, d_out: transposed(d_out)
    )

    methods[np.ndarray.mT] = np.matrix_transpose


adjoint(np.swapaxes)(lambda a, axis1, axis2, *, out, d_out: d_out.swapaxes(axis1, axis2))

method(np.ndarray.swapaxes, np.swapaxes)


def moved(ndim, source, destination):
    """The transposition that `moveaxis` does, of axes known when compiling."""
    if isinstance(source, (int, np.integer)):
        source, destination = (source,), (destination,)
    source = [i % ndim for i in source]
    order = [i for i in range(ndim) if i not in source]
    for place, axis in sorted(zip([i % ndim for i in destination], source, strict=True)):
        order.insert(place, axis)
    return tuple(order)


@adjoint(np.moveaxis)
def moveaxis(a, source, destination, *, out, d_out):
    single = isinstance(source, (int, np.integer))
    if single and not (known(source) and known(destination)):
        return np.moveaxis(d_out, destination, source)
    return d_out.transpose(moved(a.ndim, destination, source))


def rolled(ndim, axis, start):
    """The transposition that `rollaxis` does, of axes known when compiling."""
    axis, start = axis % ndim, start + ndim if start < 0 else start
    order = [i for i in range(ndim) if i != axis]
    order.insert(start - 1 if axis < start else start, axis)
    return tuple(order)


@adjoint(np.rollaxis)
def rollaxis(a, axis, start=0, *, out, d_out):
    if not (known(axis) and known(start)):
        axis, start = axis % a.ndim, start + a.ndim if start < 0 else start
        return np.moveaxis(d_out, start - 1 if axis < start else start, axis)
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


adjoint(np.flip)(lambda m, axis=None, *, out, d_out: d_out[reversing(axis, m.ndim)])
adjoint(np.flipud)(lambda m, *, out, d_out: d_out[::-1])
adjoint(np.fliplr)(lambda m, *, out, d_out: d_out[:, ::-1])
adjoint(np.rot90)(lambda m, k=1, axes=(0, 1), *, out, d_out: np.rot90(d_out, -k, axes))


@adjoint(np.roll)
def roll(a, shift, axis=None, *, out, d_out):
    if isinstance(shift, (tuple, list)):
        return np.roll(d_out, tuple(-s for s in shift), axis)
    if isinstance(shift, (bool, np.bool_)):
        shift = int(shift)
    return np.roll(d_out, -shift, axis)


# Repetition

adjoint(np.broadcast_to)(lambda array, shape, *, subok=False, out, d_out: d_out)
adjoint(np.broadcast_arrays)(lambda *args, subok=False, out, d_out: tuple(d_out))


@passes_for(np.broadcast)
class Broadcast:
    """What `np.broadcast` returns: the shape that arrays have together, and their items in it."""

    def __init__(self, *arrays):
        self.arrays, self.numiter, self.index = arrays, len(arrays), 0
        self.shape = np.broadcast_shapes(*[np.shape(array) for array in arrays])

    @property
    def ndim(self):
        return len(self.shape)

    nd = ndim

    @property
    def size(self):
        return math.prod(self.shape)

    @property
    def iters(self):
        return tuple([np.ravel(array) for array in np.broadcast_arrays(*self.arrays)])

    def __iter__(self):
        return zip(*self.iters, strict=True)


definition(np.broadcast)(lambda *arrays: Broadcast(*arrays))


@adjoint(np.repeat)
def repeat(a, repeats, axis=None, *, out, d_out):
    if np.ndim(a) == 0:
        axis = None
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


# Triangles and diagonals

adjoint(np.tril)(lambda m, k=0, *, out, d_out: np.tril(d_out, k))
adjoint(np.triu)(lambda m, k=0, *, out, d_out: np.triu(d_out, k))


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
    rows = columns = np.arange(d_out.shape[-1])
    if offset < 0:
        rows = rows - offset
    if offset > 0:
        columns = columns + offset
    if a.ndim == 2:
        d_a[rows, columns] = d_out
    else:
        d_a[..., rows, columns] = d_out
    order = from_last(a.ndim, axis1, axis2)
    return d_a if order is None else d_a.transpose(order)


method(np.ndarray.diagonal, np.diagonal)


if hasattr(np.linalg, "diagonal"):
    adjoint(np.linalg.diagonal)(
        lambda x, *, offset=0, out, d_out: diagonal(x, offset, -2, -1, out=out, d_out=d_out)
    )


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


@adjoint(np.meshgrid, unused=None)
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
