"""What rules about matrices, and stacks of them, are made of."""

from __future__ import annotations

import numpy as np

from .. import ir
from ..analysis.inference import Inferred
from .products import conj
from .registry import adjoint, along_axis, kind, tangent
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


def divisible(upper):
    """A copy of upper triangles by which something is divided, if that can be done.

    An element of the diagonal that is no longer than the rounding errors of its column says nothing
    but that the columns depend on one another. Called by generated code.

    >>> divisible(np.array([[1.0, 2.0], [0.0, 3.0]]))
    array([[1., 2.],
           [0., 3.]])
    >>> divisible(np.array([[1.0, 2.0], [0.0, 1e-17]]))
    Traceback (most recent call last):
    numpy.linalg.LinAlgError: Singular matrix: its columns depend on one another
    """
    size = np.abs(upper.diagonal(0, -2, -1))
    columns = np.sqrt(np.sum(np.abs(upper) ** 2, -2))
    if np.any(size <= upper.shape[-1] * np.finfo(upper.dtype).eps * columns):
        raise np.linalg.LinAlgError("Singular matrix: its columns depend on one another")
    return upper.copy()


adjoint(divisible)(lambda upper, *, out, d_out: d_out)
tangent(divisible)(lambda upper, *, out, tangents: tangents[0])
along_axis(divisible, axis=None)


@kind(divisible)
def kind_divisible(args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> Inferred | None:
    """That of the triangles: those that are drawn at random aren't all divisible."""
    upper = args[0]
    return Inferred(upper.kind) if isinstance(upper, ir.Var) else None
