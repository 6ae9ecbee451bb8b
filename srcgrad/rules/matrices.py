"""What rules about matrices, and stacks of them, are made of."""

from __future__ import annotations

import numpy as np

from .products import conj
from .shaping import transposed


def adjoined(x):
    """The conjugate transpose of a matrix, or of each matrix of a stack."""
    return conj(transposed(x))


def hermitian_part(x):
    return (x + adjoined(x)) / 2


def diagonal_of(x):
    """The diagonals of a stack of matrices."""
    return x.diagonal(0, -2, -1)


def copy_lower(x):
    """The Hermitian matrix with the lower triangle of x and, on its diagonal, the real part."""
    lower = np.tril(x, -1)
    return lower + adjoined(lower) + diagonal_matrix(diagonal_of(x).real)


def in_one_triangle(x, lower=True):
    """The adjoint of a Hermitian matrix of which one triangle is read: all of it goes there."""
    return np.tril(x) + np.tril(x, -1) if lower else np.triu(x) + np.triu(x, 1)


def diagonal_matrix(x):
    return x[..., None] * np.eye(x.shape[-1], dtype=x.dtype)


def outer(x, y):
    """x y^T, of two vectors or two matrices."""
    return x[:, None] * y if x.ndim == 1 else x @ y.T


def triangle(x, lower, k=0):
    """The lower or upper triangle of a matrix, without the k diagonals next to the other."""
    return np.tril(x, -k) if lower else np.triu(x, k)
