"""How primitives work on batches: arrays with one more axis in front, a row for each direction.

What a linear map does to many directions at once, it does to each of them. Most primitives need
no more than a number: which parameter is an axis. The rest have a rule: an ordinary function,
with the primitive's parameters, of which those named in `batched` have the additional axis: only
the first can, if nothing else is said (`of`). NotImplemented says that the primitive has to be
called for one row after the other.
"""

from __future__ import annotations

import builtins
import operator
import string
from typing import Any

import numpy as np

from .registry import ALL, FLAT, along_axis, batch, elementwise_batch
from .shaping import present

# Elementwise functions other than ufuncs: the ranks of their operands are made equal, no more
elementwise_batch(
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv),
    *(operator.mod, operator.pow, operator.neg, operator.pos, operator.eq, operator.ne),
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.and_, operator.or_),
    *(operator.invert, operator.xor, builtins.abs),
    *(np.where, np.real, np.imag, np.clip, np.nan_to_num, np.ndarray.astype, np.angle),
    *(np.ndarray.copy, np.copy, np.array, np.asarray, np.ascontiguousarray, np.round),
    *(np.isclose, np.iscomplex, np.isreal, np.real_if_close),
)

along_axis(np.sum, np.mean, np.nansum, np.nanmean, np.prod, axis=1, default=ALL)
along_axis(np.max, np.min, np.any, np.all, np.count_nonzero, np.ptp, axis=1, default=ALL)
along_axis(np.std, np.var, np.nanstd, np.nanvar, np.median, axis=1, default=ALL)
along_axis(np.flip, axis=1, default=ALL)
along_axis(np.add.reduce, np.logical_or.reduce, np.logical_and.reduce, axis=1, default=0)
along_axis(np.add.accumulate, np.multiply.accumulate, axis=1, default=0)
along_axis(np.add.reduceat, axis=2, default=0)
along_axis(np.cumsum, np.cumprod, np.nancumsum, np.nancumprod, axis=1, default=FLAT)
along_axis(np.repeat, np.take, np.delete, np.compress, axis=2, default=FLAT)
along_axis(np.diff, axis=2, default=-1)
along_axis(np.sort, np.argsort, axis=1, default=-1)
along_axis(np.expand_dims, axis=1)
along_axis(np.concatenate, axis=1, default=0)
along_axis(np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, axis=2, default=-1)
along_axis(np.fft.hfft, np.fft.ihfft, axis=2, default=-1)
along_axis(np.fft.fft2, np.fft.ifft2, axis=2, default=(-2, -1), name="axes")
along_axis(np.fft.rfft2, np.fft.irfft2, axis=2, default=(-2, -1), name="axes")
along_axis(np.fft.fftshift, np.fft.ifftshift, axis=1, default=ALL, name="axes")
along_axis(np.triu, np.tril, axis=None)


def behind(axis, ndim):
    """An axis, or several, of the array without its first axis, counted from the end."""
    if isinstance(axis, (tuple, list)):
        return tuple(i if i < 0 else i - ndim for i in axis)
    return axis if axis < 0 else axis - ndim


def raised(x, ndim):
    """A batch with axes of length 1 put behind its first one, up to a number of axes."""
    missing = ndim - np.ndim(x)
    return x[(slice(None), *(None,) * missing)] if missing > 0 else x


def pieces(shape):
    """A shape given as a number or a sequence, as a tuple."""
    return tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)


# Shapes


@batch(np.linalg.norm)
def norm(x, ord=None, axis=None, keepdims=False, *, batched):
    ndim = np.ndim(x) - 1
    if axis is None and ndim not in (1, 2):
        return NotImplemented
    axis = (-1 if ndim == 1 else (-2, -1)) if axis is None else behind(axis, ndim)
    if ord is None and not keepdims:
        return np.linalg.norm(x, axis=axis)
    return np.linalg.norm(x, ord, axis, keepdims)


@batch(np.reshape)
def reshape(a, shape=None, order="C", *, newshape=None, copy=None, batched):
    if order != "C":
        return NotImplemented
    return np.reshape(a, (len(a), *pieces(newshape if shape is None else shape)))


@batch(np.ndarray.reshape)
def reshape_method(x, *shape, order="C", copy=None, batched):
    if order != "C":
        return NotImplemented
    if len(shape) == 1:
        return np.reshape(x, (len(x), *pieces(shape[0])))
    return np.reshape(x, (len(x), *shape))


batch(np.ravel, np.ndarray.ravel, np.ndarray.flatten)(
    lambda a, order="C", *, batched: np.reshape(a, (len(a), -1)) if order == "C" else NotImplemented
)


@batch(np.squeeze)
def squeeze(a, axis=None, *, batched):
    return NotImplemented if axis is None else np.squeeze(a, behind(axis, np.ndim(a) - 1))


@batch(np.transpose, *present(np, "permute_dims"))
def transpose(a, axes=None, *, batched):
    ndim = np.ndim(a) - 1
    if axes is None:
        return np.transpose(a, (0, *range(ndim, 0, -1)))
    return np.transpose(a, (0, *(i % ndim + 1 for i in axes)))


@batch(np.ndarray.transpose)
def transpose_method(x, *axes, batched):
    if len(axes) == 1 and isinstance(axes[0], (tuple, list)):
        return transpose(x, axes[0], batched=batched)
    return transpose(x, axes if axes and axes[0] is not None else None, batched=batched)


if hasattr(np, "matrix_transpose"):
    batch(np.matrix_transpose, np.linalg.matrix_transpose)(
        lambda x, *, batched: np.swapaxes(x, -1, -2)
    )


@batch(np.swapaxes)
def swapaxes(a, axis1, axis2, *, batched):
    ndim = np.ndim(a) - 1
    return np.swapaxes(a, behind(axis1, ndim), behind(axis2, ndim))


@batch(np.moveaxis)
def moveaxis(a, source, destination, *, batched):
    ndim = np.ndim(a) - 1
    return np.moveaxis(a, behind(source, ndim), behind(destination, ndim))


@batch(np.broadcast_to)
def broadcast_to(array, shape, *, subok=False, batched):
    shape = pieces(shape)
    return np.broadcast_to(raised(array, len(shape) + 1), (len(array), *shape))


@batch(np.roll)
def roll(a, shift, axis=None, *, batched):
    if axis is None:
        flat = np.roll(np.reshape(a, (len(a), -1)), shift, -1)
        return np.reshape(flat, np.shape(a))
    return np.roll(a, shift, behind(axis, np.ndim(a) - 1))


batch(np.flipud)(lambda m, *, batched: m[:, ::-1])
batch(np.fliplr)(lambda m, *, batched: m[:, :, ::-1])
batch(np.rot90)(
    lambda m, k=1, axes=(0, 1), *, batched: np.rot90(m, k, behind(axes, np.ndim(m) - 1))
)


@batch(np.stack)
def stack(arrays, axis=0, *, out=None, dtype=None, casting="same_kind", batched):
    if isinstance(arrays, np.ndarray):
        return np.moveaxis(arrays, 1, behind(axis, np.ndim(arrays) - 1))
    return np.stack(arrays, behind(axis, np.ndim(arrays[0])))


@batch(np.full_like, of=("a", "fill_value"))
def full_like(
    a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None, batched
):
    if "fill_value" not in batched:
        return np.full_like(a, fill_value, dtype)
    ndim = np.ndim(a) if "a" in batched else np.ndim(a) + 1
    size = np.shape(a) if "a" in batched else (len(fill_value), *np.shape(a))
    return np.array(np.broadcast_to(raised(fill_value, ndim), size), dtype or a.dtype)


@batch(np.full, of=("fill_value",))
def full(shape, fill_value, dtype=None, order="C", *, device=None, like=None, batched):
    shape = pieces(shape)
    size = (len(fill_value), *shape)
    return np.array(np.broadcast_to(raised(fill_value, len(shape) + 1), size), dtype)


batch(builtins.float)(lambda x=0.0, *, batched: np.reshape(x, (len(x),)))
batch(builtins.complex, of=("real", "imag"))(
    lambda real=0.0, imag=0.0, *, batched: real + 1j * imag
)
batch(np.ndarray.item)(
    lambda x, *args, batched: np.reshape(x, (len(x),)) if not args else NotImplemented
)


@batch(np.diagonal)
def diagonal(a, offset=0, axis1=0, axis2=1, *, batched):
    ndim = np.ndim(a) - 1
    return np.diagonal(a, offset, behind(axis1, ndim), behind(axis2, ndim))


@batch(np.trace)
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None, *, batched):
    ndim = np.ndim(a) - 1
    return np.trace(a, offset, behind(axis1, ndim), behind(axis2, ndim), dtype)


@batch(np.diag)
def diag(v, k=0, *, batched):
    if np.ndim(v) == 3:
        return np.diagonal(v, k, 1, 2)
    if not isinstance(k, int) or k != 0:
        return NotImplemented
    return v[:, :, None] * np.eye(np.shape(v)[1], dtype=v.dtype)


@batch(np.take_along_axis)
def take_along_axis(arr, indices, axis=-1, *, batched):
    if axis is None:
        return NotImplemented
    shape = (len(arr), *np.shape(indices))
    return np.take_along_axis(arr, np.broadcast_to(indices, shape), behind(axis, np.ndim(arr) - 1))


# Products: linear in either operand, never batched in both


@batch(operator.matmul, np.matmul, *present(np.linalg, "matmul"), of=("x", "y"))
def matmul(x, y, *, batched):
    if len(batched) == 2:
        return NotImplemented
    if "x" in batched:
        if np.ndim(x) == 2 and np.ndim(y) > 2:
            return (x[(slice(None), *(None,) * (np.ndim(y) - 2), None)] @ y)[..., 0, :]
        return raised(x, np.ndim(y) + 1) @ y if np.ndim(y) > 2 else x @ y
    if np.ndim(y) == 2:
        if np.ndim(x) == 1:
            return y @ x
        if np.ndim(x) == 2:
            return y @ x.T
        return (x @ y[(slice(None), *(None,) * (np.ndim(x) - 2), slice(None), None)])[..., 0]
    return x @ (raised(y, np.ndim(x) + 1) if np.ndim(x) > 2 else y)


@batch(np.dot, of=("a", "b"))
def dot(a, b, *, batched):
    if len(batched) == 2:
        return NotImplemented
    if "a" in batched:
        if np.ndim(b) == 0:
            return a * b
        if np.ndim(a) == 1:
            return raised(a, np.ndim(b) + 1) * b
        return np.dot(a, b)
    if np.ndim(a) == 0:
        return a * b
    if np.ndim(b) == 1:
        return raised(b, np.ndim(a) + 1) * a
    if np.ndim(b) == 2:
        return np.dot(b, a) if np.ndim(a) == 1 else np.moveaxis(np.dot(a, b.T), -1, 0)
    return np.moveaxis(np.dot(a, b), np.ndim(a) - 1, 0)


@batch(np.inner, of=("a", "b"))
def inner(a, b, *, batched):
    if len(batched) == 2:
        return NotImplemented
    if "a" in batched:
        if np.ndim(b) == 0 or np.ndim(a) == 1:
            return raised(a, np.ndim(b) + 1) * b
        return np.inner(a, b)
    if np.ndim(a) == 0 or np.ndim(b) == 1:
        return raised(b, np.ndim(a) + 1) * a
    return np.moveaxis(np.inner(a, b), np.ndim(a) - 1, 0)


@batch(np.outer, *present(np.linalg, "outer"), of=("a", "b"))
def outer(a, b, *, batched):
    if len(batched) == 2:
        return NotImplemented
    if "a" in batched:
        return np.reshape(a, (len(a), -1))[:, :, None] * np.ravel(b)
    return np.ravel(a)[:, None] * np.reshape(b, (len(b), 1, -1))


@batch(np.vdot, of=("a", "b"))
def vdot(a, b, *, batched):
    if len(batched) == 2:
        return NotImplemented
    if "a" in batched:
        return np.conj(np.reshape(a, (len(a), -1))) @ np.ravel(b)
    return np.reshape(b, (len(b), -1)) @ np.conj(np.ravel(a))


@batch(np.tensordot, of=("a", "b"))
def tensordot(a, b, axes=2, *, batched):
    if len(batched) == 2:
        return NotImplemented
    a_ndim = np.ndim(a) - 1 if "a" in batched else np.ndim(a)
    b_ndim = np.ndim(b) - 1 if "b" in batched else np.ndim(b)
    if isinstance(axes, int):
        axes = (tuple(range(a_ndim - axes, a_ndim)), tuple(range(axes)))
    a_axes, b_axes = pieces(axes[0]), pieces(axes[1])
    if "a" in batched:
        return np.tensordot(a, b, (behind(a_axes, a_ndim), b_axes))
    out = np.tensordot(a, b, (a_axes, behind(b_axes, b_ndim)))
    return np.moveaxis(out, a_ndim - len(a_axes), 0)


def with_batch(subscripts: Any, numbers: tuple[int, ...]) -> str | None:
    """The subscripts of `einsum` with a letter for the batch, of the operands of these numbers.

    >>> with_batch("ij,j->i", (1,))
    'ij,aj->ai'
    """
    if not isinstance(subscripts, str) or "->" not in subscripts:
        return None
    letter = next(c for c in string.ascii_letters if c not in subscripts)
    left, right = subscripts.replace(" ", "").split("->")
    terms = [letter + t if i in numbers else t for i, t in enumerate(left.split(","))]
    return ",".join(terms) + "->" + letter + right


# Linear systems


@batch(np.linalg.solve, of=("b",))
def solve(a, b, *, batched):
    if np.ndim(a) > 2:
        return NotImplemented
    return np.linalg.solve(a, b.T).T if np.ndim(b) == 2 else np.linalg.solve(a, b)
