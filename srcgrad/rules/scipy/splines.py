"""Values of B-splines on a grid, by NumPy: what resampling an image does, and its derivatives.

Called by generated code. A spline is given by its coefficients c, one for each pixel; its value at
a point is the sum of (order + 1)**ndim of them with weights that depend on the point alone.
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy import ndimage

from ...analysis.inference import Inferred
from ...kinds import Array, fresh_size
from ..registry import adjoint, kind
from .kinds import operand_kind


def basis(order, nu, t):
    """The B-splines that aren't zero between two knots, at the fraction t of the way, from the
    leftmost to the rightmost, or their derivatives: the recurrence of Cox and de Boor.

    >>> [float(w) for w in basis(2, 0, 0.5)], [float(w) for w in basis(1, 1, 0.5)]
    ([0.125, 0.75, 0.125], [-1.0, 1.0])
    """
    if nu > order:
        return [np.zeros_like(t)] * (order + 1)
    weights = [np.ones_like(t)]
    for degree in range(1, order - nu + 1):
        outer = [np.zeros_like(t), *weights, np.zeros_like(t)]
        weights = [
            ((t + degree - j) * outer[j] + (1 + j - t) * outer[j + 1]) / degree
            for j in range(degree + 1)
        ]
    for _ in range(nu):
        outer = [0.0, *weights, 0.0]
        weights = [outer[j] - outer[j + 1] for j in range(len(weights) + 1)]
    return weights


def mirrored(i, n, mode):
    """The pixel that stands for number i where the image has n of them; -1 for none."""
    if mode == "nearest":
        return np.clip(i, 0, n - 1)
    if mode in ("reflect", "grid-mirror"):
        i = i % (2 * n)
        return np.minimum(i, 2 * n - 1 - i)
    if mode == "grid-wrap":
        return i % n
    if mode == "grid-constant":
        return np.where((i >= 0) & (i < n), i, -1)
    if n == 1:
        return np.zeros_like(i)
    i = i % (2 * n - 2)
    return np.minimum(i, 2 * n - 2 - i)


def reflected(x, n, mode):
    """Where a coordinate that n pixels don't have is found among them.

    SciPy reflects coordinates before it rounds them: that matters halfway between two pixels.
    """
    edge = 1 if mode in ("reflect", "grid-mirror") else 0  # whether the last pixel comes twice
    period = 2 * n - 2 + 2 * edge
    below, above = -((-x) % period), x % period
    below = np.where(below < 1 - n - edge, below + period, -below - edge)
    above = np.where(above >= n, period - above - edge, above)
    return np.where(x < 0, below, np.where(x > n - 1, above, x))


def terms(coordinates, shape, order, mode, nu):
    """For each neighbour: the index of its pixel at all points, and its weight there."""
    along, inside = [], True
    for x, n, derivative in zip(coordinates, shape, nu, strict=True):
        if mode == "constant":
            inside = inside & (x >= 0) & (x <= n - 1)
        if mode == "wrap" and n > 1:  # SciPy has the last pixel stand for 1 - n, 0 for others
            around = np.where(x < 0, n - 1 - -x % (n - 1), x % (n - 1))
            x = np.where((x < 0) | (x > n - 1), around, x)
        if order == 0 and n > 1 and mode in ("reflect", "grid-mirror", "mirror"):
            x = reflected(x, n, mode)
        start = np.floor(x if order % 2 else x + 0.5)
        t = x - start if order % 2 else x + 0.5 - start
        weights = basis(order, derivative, t)
        first = start.astype(np.intp) - order // 2
        along.append([(mirrored(first + j, n, mode), w) for j, w in enumerate(weights)])
    for corner in itertools.product(*along):
        index = tuple(i for i, _ in corner)
        weight = inside * np.prod([w for _, w in corner], axis=0)
        if mode == "grid-constant":
            there = np.all([i >= 0 for i in index], axis=0)
            yield index, weight, there
        else:
            yield index, weight, None


def value(c, coordinates, order, mode, cval, nu):
    """A spline, or its partial derivative of order nu[i] along each axis i, at some points.

    Arguments:
        c: the coefficients, as many as there are pixels.
        coordinates: of shape (c.ndim, ...).
        order, mode, cval: as of `scipy.ndimage.map_coordinates`.
        nu: how often to differentiate along each axis.

    >>> value(np.array([1.0, 3.0, 9.0]), np.array([[0.5, 1.5]]), 1, "nearest", 0.0, (0,))
    array([2., 6.])
    """
    total = np.zeros(np.shape(coordinates)[1:], np.result_type(c, np.float64))
    for index, weight, there in terms(coordinates, c.shape, order, mode, nu):
        pixels = c[index]
        if there is not None:
            pixels = np.where(there, pixels, cval)
        total += weight * pixels
    return total


def scattered(d_out, coordinates, shape, order, mode, nu):
    """The adjoint of `value` by the coefficients, of which there are `shape`."""
    total = np.zeros(shape, np.result_type(d_out, np.float64))
    for index, weight, there in terms(coordinates, shape, order, mode, nu):
        part = weight * d_out
        if there is not None:
            part = part * there
        np.add.at(total, index, part)
    return total


def raised(nu, axis):
    return tuple(n + 1 if i == axis else n for i, n in enumerate(nu))


@adjoint(value)
def d_value(c, coordinates, order, mode, cval, nu, *, out, d_out):
    slopes = [value(c, coordinates, order, mode, cval, raised(nu, i)) for i in range(len(nu))]
    d_c = scattered(d_out, coordinates, c.shape, order, mode, nu)
    return d_c, np.stack([d_out * slope for slope in slopes])


@adjoint(scattered)
def d_scattered(values, coordinates, shape, order, mode, nu, *, out, d_out):
    slopes = [value(d_out, coordinates, order, mode, 0.0, raised(nu, i)) for i in range(len(nu))]
    d_coordinates = np.stack([values * slope for slope in slopes])
    return value(d_out, coordinates, order, mode, 0.0, nu), d_coordinates


@kind(value)
def value_kind(args, kwargs):
    c, coordinates = (operand_kind(a) for a in args[:2])
    if c is None or coordinates is None or coordinates.shape is None:
        return None
    return Inferred(Array(widened(c.dtype), coordinates.shape[1:]))


@kind(scattered)
def scattered_kind(args, kwargs):
    values = operand_kind(args[0])
    rank = len(getattr(args[5], "items", None) or args[5].value)
    dtype = None if values is None else widened(values.dtype)
    return Inferred(Array(dtype, tuple(fresh_size() for _ in range(rank))))


def widened(dtype):
    return None if dtype is None else np.result_type(dtype, np.float64)


FEW = 16  # pixels, where SciPy's filter is not quite the inverse of the convolution


def unfiltered(d_c, order, axis, mode):
    """The adjoint of `scipy.ndimage.spline_filter1d`.

    The filter inverts a convolution with a symmetric kernel, which is a symmetric matrix for all
    modes but those that mirror about the centre of the last pixel, where half of the first and
    last equation is. Of few pixels the filter is an approximation, by another matrix.
    """
    n = d_c.shape[axis]
    if order < 2 or n < 2:
        return d_c
    if n < FEW:
        matrix = ndimage.spline_filter1d(np.eye(n), order, 0, mode=mode)
        return np.moveaxis(np.tensordot(matrix, d_c, axes=(0, axis)), 0, axis)
    if mode in ("reflect", "grid-mirror", "nearest", "grid-wrap"):
        return ndimage.spline_filter1d(d_c, order, axis, mode=mode)
    halved = np.ones(n)
    halved[0] = 0.5
    halved[-1] = 0.5
    halved = halved[(slice(None),) + (None,) * (d_c.ndim - 1 - axis)]
    return halved * ndimage.spline_filter1d(d_c / halved, order, axis, mode=mode)
