"""Products: matmul, dot, inner, outer, tensordot, kron, cross, convolve, powers, traces."""

from __future__ import annotations

import operator

import numpy as np

from .registry import adjoint, method
from .shaping import from_last, inverse_permutation, present, transposed


def conj(x):
    """The complex conjugate, without the copy that `np.conj` makes of a real array."""
    return np.conj(x) if np.iscomplexobj(x) else x


def rows(x):
    """The number of rows of a stack of vectors."""
    count = 1
    for axis in range(x.ndim - 1):
        count = count * x.shape[axis]
    return count


# These broadcast neither vectors nor matrices: what they contribute to them has their shapes
EXACT = frozenset({operator.matmul, np.matmul, np.dot, np.inner, *present(np.linalg, "matmul")})


@adjoint(operator.matmul, np.matmul, *present(np.linalg, "matmul"))
def matmul(x, y, *, out, d_out):
    if x.ndim == 1 and y.ndim == 1:
        return d_out * y, d_out * x
    if x.ndim == 2 and y.ndim == 1:
        return d_out[:, None] * y, x.T @ d_out
    if x.ndim == 1 and y.ndim == 2:
        return y @ d_out, x[:, None] * d_out
    if x.ndim == 2 and y.ndim == 2:
        return d_out @ y.T, x.T @ d_out
    if y.ndim == 1:
        n = rows(x)
        return d_out[..., None] * y, d_out.reshape(n) @ x.reshape(n, x.shape[-1])
    if x.ndim == 1:
        return (y @ d_out[..., None])[..., 0], x[:, None] * d_out[..., None, :]
    if y.ndim == 2:
        n = rows(x)
        d_y = x.reshape(n, x.shape[-1]).T @ d_out.reshape(n, y.shape[1])
        return d_out @ y.T, d_y
    return d_out @ transposed(y), transposed(x) @ d_out


@adjoint(np.dot)
def dot(a, b, *, out, d_out):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return d_out * b, d_out * a
    if a.ndim == 1 and b.ndim == 1:
        return d_out * b, d_out * a
    if b.ndim <= 2:
        return matmul(a, b, out=out, d_out=d_out)
    rest = a.ndim - 1
    d_a = np.tensordot(d_out, b, (tuple(range(rest, out.ndim)), (*range(b.ndim - 2), b.ndim - 1)))
    if a.ndim == 1:
        d_b = a[:, None] * d_out[..., None, :]
    else:
        d_b = np.tensordot(a, d_out, (tuple(range(rest)), tuple(range(rest))))
        d_b = d_b.transpose((*range(1, b.ndim - 1), 0, b.ndim - 1))
    return d_a, d_b


@adjoint(np.inner)
def inner(a, b, *, out, d_out):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return d_out * b, d_out * a
    if a.ndim == 1 and b.ndim == 1:
        return d_out * b, d_out * a
    if a.ndim == 2 and b.ndim == 2:
        return d_out @ b, d_out.T @ a
    if a.ndim == 2 and b.ndim == 1:
        return d_out[:, None] * b, d_out @ a
    if a.ndim == 1 and b.ndim == 2:
        return d_out @ b, d_out[:, None] * a
    rest = a.ndim - 1
    d_a = np.tensordot(d_out, b, (tuple(range(rest, out.ndim)), tuple(range(b.ndim - 1))))
    d_b = np.tensordot(d_out, a, (tuple(range(rest)), tuple(range(rest))))
    return d_a, d_b


@adjoint(np.outer, *present(np.linalg, "outer"))
def outer(a, b, *, out, d_out):
    d_a = d_out @ (b if np.ndim(b) == 1 else np.ravel(b))
    d_b = (a if np.ndim(a) == 1 else np.ravel(a)) @ d_out
    if np.ndim(a) != 1:
        d_a = d_a.reshape(np.shape(a))
    if np.ndim(b) != 1:
        d_b = d_b.reshape(np.shape(b))
    return d_a, d_b


@adjoint(np.vdot)
def vdot(a, b, *, out, d_out):
    if np.ndim(a) > 1 or np.ndim(a) != np.ndim(b):
        return (conj(d_out * np.reshape(b, np.shape(a))), d_out * conj(np.reshape(a, np.shape(b))))
    return conj(d_out * b), d_out * conj(a)


def contracted(axes, a_ndim, b_ndim):
    """The axes that `tensordot` contracts, as two tuples of positions."""
    if isinstance(axes, (int, np.integer)):
        return tuple(range(a_ndim - axes, a_ndim)), tuple(range(axes))
    a_axes, b_axes = axes
    if isinstance(a_axes, (int, np.integer)):
        a_axes = (a_axes,)
    if isinstance(b_axes, (int, np.integer)):
        b_axes = (b_axes,)
    return tuple(i % a_ndim for i in a_axes), tuple(i % b_ndim for i in b_axes)


def tensordot_operand(x_ndim, x_axes, y_ndim, y_axes):
    """How to get the adjoint of an operand of `tensordot`: the other's axes to sum over, and the
    transposition that brings the product's axes (the operand's free ones, then the other's
    contracted ones) into the operand's order; None where they are in order."""
    y_free = tuple(i for i in range(y_ndim) if i not in y_axes)
    x_free = tuple(i for i in range(x_ndim) if i not in x_axes)
    order = x_free + tuple(x_axes[y_axes.index(i)] for i in sorted(y_axes))
    if order == tuple(range(x_ndim)):
        return y_free, None
    return y_free, inverse_permutation(order)


@adjoint(np.tensordot)
def tensordot(a, b, axes=2, *, out, d_out):
    a_ndim, b_ndim = np.ndim(a), np.ndim(b)
    a_axes, b_axes = contracted(axes, a_ndim, b_ndim)
    rest = a_ndim - len(a_axes)
    b_free, order = tensordot_operand(a_ndim, a_axes, b_ndim, b_axes)
    d_a = np.tensordot(d_out, b, (tuple(range(rest, rest + len(b_free))), b_free))
    if order is not None:
        d_a = d_a.transpose(order)
    a_free, order = tensordot_operand(b_ndim, b_axes, a_ndim, a_axes)
    d_b = np.tensordot(d_out, a, (tuple(range(rest)), a_free))
    if order is not None:
        d_b = d_b.transpose(order)
    return d_a, d_b


if hasattr(np.linalg, "tensordot"):
    adjoint(np.linalg.tensordot)(
        lambda x1, x2, *, axes=2, out, d_out: tensordot(x1, x2, axes, out=out, d_out=d_out)
    )


@adjoint(np.kron)
def kron(a, b, *, out, d_out):
    ndim = max(np.ndim(a), np.ndim(b))
    if ndim == 0:
        return d_out * b, d_out * a
    a_shape = (1,) * (ndim - np.ndim(a)) + np.shape(a)
    b_shape = (1,) * (ndim - np.ndim(b)) + np.shape(b)
    mixed = ()
    for axis in range(ndim):
        mixed = (*mixed, a_shape[axis], b_shape[axis])
    d_mixed = d_out.reshape(mixed)
    even, odd, every = (
        tuple(range(0, 2 * ndim, 2)),
        tuple(range(1, 2 * ndim, 2)),
        tuple(range(ndim)),
    )
    d_a = np.tensordot(d_mixed, b if np.ndim(b) == ndim else np.reshape(b, b_shape), (odd, every))
    d_b = np.tensordot(d_mixed, a if np.ndim(a) == ndim else np.reshape(a, a_shape), (even, every))
    if np.ndim(a) != ndim:
        d_a = d_a.reshape(np.shape(a))
    if np.ndim(b) != ndim:
        d_b = d_b.reshape(np.shape(b))
    return d_a, d_b


@adjoint(np.cross)
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None, *, out, d_out):
    if axis is not None:
        axisa = axisb = axisc = axis
    if np.ndim(out) < max(a.ndim, b.ndim):  # two vectors of length two: their scalar product
        a, b, d_out = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1), d_out[..., None]
        d_a = np.stack((d_out[..., 0] * b[..., 1], d_out[..., 0] * -b[..., 0]), -1)
        d_b = np.stack((d_out[..., 0] * -a[..., 1], d_out[..., 0] * a[..., 0]), -1)
        return np.moveaxis(d_a, -1, axisa), np.moveaxis(d_b, -1, axisb)
    if a.shape[axisa] != b.shape[axisb]:  # one has length two: its third component is zero
        a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
        d_out = np.moveaxis(d_out, axisc, -1)
        d_a = np.cross(b, d_out)[..., : a.shape[-1]]
        d_b = np.cross(d_out, a)[..., : b.shape[-1]]
        return np.moveaxis(d_a, -1, axisa), np.moveaxis(d_b, -1, axisb)
    if axisa == -1 and axisb == -1 and axisc == -1:
        return np.cross(b, d_out), np.cross(d_out, a)
    back_a = axisa - a.ndim if axisa >= 0 else axisa
    back_b = axisb - b.ndim if axisb >= 0 else axisb
    d_a = np.cross(b, d_out, axisa=axisb, axisb=axisc, axisc=back_a)
    d_b = np.cross(d_out, a, axisa=axisc, axisb=axisa, axisc=back_b)
    return d_a, d_b


if hasattr(np.linalg, "cross"):
    adjoint(np.linalg.cross)(
        lambda x1, x2, *, axis=-1, out, d_out: cross(x1, x2, axis=axis, out=out, d_out=d_out)
    )


if hasattr(np, "vecdot"):

    @adjoint(np.vecdot)
    def vecdot(x1, x2, axis=-1, *, out, d_out):
        if x1.ndim == 1 and x2.ndim == 1:
            return conj(d_out * x2), d_out * conj(x1)
        back1 = axis - x1.ndim if axis >= 0 else axis
        back2 = axis - x2.ndim if axis >= 0 else axis
        if back1 != back2:
            d_out = d_out[..., None]
            d_x1 = conj(d_out * np.moveaxis(x2, back2, -1))
            d_x2 = d_out * conj(np.moveaxis(x1, back1, -1))
            return np.moveaxis(d_x1, -1, back1), np.moveaxis(d_x2, -1, back2)
        d_out = d_out[(..., None, *(slice(None),) * (-1 - back1))]
        return conj(d_out * x2), d_out * conj(x1)

    adjoint(np.linalg.vecdot)(
        lambda x1, x2, *, axis=-1, out, d_out: vecdot(x1, x2, axis, out=out, d_out=d_out)
    )


if hasattr(np, "matvec"):

    @adjoint(np.matvec)
    def matvec(x1, x2, *, out, d_out):
        d_x2 = (transposed(x1) @ d_out[..., None])[..., 0]
        return d_out[..., None] * x2[..., None, :], d_x2

    @adjoint(np.vecmat)
    def vecmat(x1, x2, *, out, d_out):
        d_x1 = conj((x2 @ d_out[..., None])[..., 0])
        return d_x1, conj(x1)[..., None] * d_out[..., None, :]


@adjoint(np.trace)
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, *, out, d_out):
    unit = np.eye(a.shape[axis1], a.shape[axis2], offset, a.dtype)
    if a.ndim == 2:
        return d_out * (unit if axis1 % 2 == 0 else unit.T)
    d_a = d_out[..., None, None] * unit
    order = from_last(a.ndim, axis1, axis2)
    return d_a if order is None else d_a.transpose(order)


method(np.ndarray.trace, np.trace)
method(np.ndarray.dot, np.dot)


if hasattr(np.linalg, "trace"):
    adjoint(np.linalg.trace)(
        lambda x, *, offset=0, out, d_out: trace(x, offset, -2, -1, out=out, d_out=d_out)
    )


def embedded(d_out, n, m, start):
    """The adjoint of a shortened convolution as one of the full convolution of lengths n, m."""
    d_full = np.zeros(n + m - 1, d_out.dtype)
    d_full[start : start + d_out.size] = d_out
    return d_full


@adjoint(np.convolve)
def convolve(a, v, mode="full", *, out, d_out):
    if np.ndim(a) == 0 or np.ndim(v) == 0:
        return d_out * v, d_out * a
    if mode == "same":
        d_out = embedded(d_out, a.size, v.size, (min(a.size, v.size) - 1) // 2)
    elif mode == "valid":
        d_out = embedded(d_out, a.size, v.size, min(a.size, v.size) - 1)
    return np.convolve(d_out, v[::-1], "valid"), np.convolve(d_out, a[::-1], "valid")


@adjoint(np.correlate)
def correlate(a, v, mode="valid", *, out, d_out):
    if mode == "same":
        start = (v.size - 1) // 2 if a.size >= v.size else a.size // 2
        d_out = embedded(d_out, a.size, v.size, start)
    elif mode == "valid":
        d_out = embedded(d_out, a.size, v.size, min(a.size, v.size) - 1)
    d_v = np.convolve(d_out, a[::-1], "valid")[::-1]
    return np.convolve(d_out, conj(v), "valid"), conj(d_v)


@adjoint(np.linalg.multi_dot)
def multi_dot(arrays, *, out, d_out):
    """The adjoint of each factor is a product again: those before it, `d_out`, those after it."""
    last = len(arrays) - 1
    if arrays[last].ndim == 1:
        d_out = d_out[..., None]
    if arrays[0].ndim == 1:
        d_out = d_out[None]
    contributions = []
    for number in tuple(range(last + 1)):
        factors = []
        for x in arrays[:number][::-1]:
            factors = [*factors, x[:, None] if x.ndim == 1 else x.T]
        factors = [*factors, d_out]
        for x in arrays[number + 1 :][::-1]:
            factors = [*factors, x[None] if x.ndim == 1 else x.T]
        d_x = factors[0] @ factors[1] if len(factors) == 2 else np.linalg.multi_dot(factors)
        if arrays[number].ndim == 1:
            d_x = d_x[:, 0] if number == last else d_x[0]
        contributions = [*contributions, d_x]
    return contributions


@adjoint(np.linalg.matrix_power)
def matrix_power(a, n, *, out, d_out):
    """d_a = sum over k < n of (a^k)^T d_out (a^(n-1-k))^T: the corner of
    [[a^T, d_out], [0, a^T]]^n, found by squaring as often as n has binary digits."""
    if n == 0:
        return np.zeros_like(a)
    if n < 0:
        inverse_t = transposed(np.linalg.inv(a))
        return -inverse_t @ positive_power(inverse_t, -n, d_out) @ inverse_t
    return positive_power(transposed(a), n, d_out)


def positive_power(a_t, n, d_out):
    power, corner = a_t, d_out
    for digit in range(int(n).bit_length() - 2, -1, -1):
        power, corner = power @ power, power @ corner + corner @ power
        if n >> digit & 1:
            power, corner = power @ a_t, power @ d_out + corner @ a_t
    return corner
