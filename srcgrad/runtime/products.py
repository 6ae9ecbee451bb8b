"""Products of arrays, as fast as NumPy can."""

from __future__ import annotations

from typing import Any

import numpy as np


def cross_product(a: Any, b: Any) -> Any:
    """`np.cross(a, b)` along the last axis, in less time where it has three components.

    >>> cross_product(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    array([0., 0., 1.])
    """
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        return np.cross(a, b)
    a0, a1, a2 = a[..., 0], a[..., 1], a[..., 2]
    b0, b1, b2 = b[..., 0], b[..., 1], b[..., 2]
    first = a1 * b2 - a2 * b1
    out = np.empty_like(a, first.dtype, shape=(*first.shape, 3))
    out[..., 0] = first
    out[..., 1] = a2 * b0 - a0 * b2
    out[..., 2] = a0 * b1 - a1 * b0
    return out


def sum_of_products(a: Any, b: Any) -> Any:
    """`np.vdot(a, b)` of real arrays, without copies of large ones that aren't contiguous.

    >>> sum_of_products(np.ones((2, 3)), np.full((2, 3), 2.0))
    np.float64(12.0)
    """
    if a.size < 10_000 or a.shape[-1] < 64:
        return np.vdot(a, b)
    return np.vecdot(a, b).sum()


def weighted_sum(weights: Any, array: Any, axis: int) -> Any:
    """`(weights[..., None] * array).sum(axis)` of three axes, for the first axis or the second.

    In less time: it is a product of matrices for each place along the other axis of the weights.

    >>> weighted_sum(np.array([[1.0], [2.0]]), np.ones((2, 1, 3)), 0)
    array([[3., 3., 3.]])
    """
    if axis == 0:
        weights, array = weights.T, array.swapaxes(0, 1)
    return (weights[:, None] @ array)[:, 0]


def padded_product(a: Any, b: Any) -> Any:
    """`a @ b` of matrices in which zeros stand for what isn't there, whatever they are times.

    >>> padded_product(np.array([[np.inf, 1.0]]), np.array([[0.0, 4.0], [2.0, 3.0]]))
    array([[ 2., inf]])
    """
    with np.errstate(invalid="ignore"):
        product = a @ b
    if np.isfinite(product).all():
        return product
    product[...] = 0
    for column, row in zip(a.T, b, strict=True):
        (rows,), (columns,) = column.nonzero(), row.nonzero()
        product[np.ix_(rows, columns)] += column[rows, None] * row[columns]
    return product
