"""Sparse matrices.

One from outside the function is an object of which no derivative is taken: products with it and
solves are linear in the other operand. One that the function makes of its data is a `Matrix`, which
the compiler sees through, so that the data have derivatives; its products are those of SciPy.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ...analysis.inference import Inferred
from ...ir import Const
from ...kinds import Array, Opaque, TupleOf, fresh_size
from ..registry import adjoint, definition, inert, kind, refuse, spelled
from ..shaping import present
from .kinds import floating, operand_kind

BASE = next(c for c in sparse.csr_matrix.__mro__ if "__matmul__" in vars(c))
FORMATS = tuple(
    getattr(sparse, f"{name}_{ending}")
    for name in ("csr", "csc", "coo", "dia", "bsr", "lil", "dok")
    for ending in ("matrix", "array")
)


def members(name):
    """The functions that are the method of this name in one of the classes."""
    found = {getattr(c, name) for c in (*FORMATS, BASE)}
    return [f.fget if isinstance(f, property) else f for f in found]


# Products with a matrix from outside


OPAQUE = "its entries carry no derivative; make the matrix of its data in the function"


def flipped(A):
    """The transpose."""
    return A.T


refuse(flipped, reason=OPAQUE)
spelled(flipped, "T")


def shape_of(operand):
    """The shape of a sparse matrix, as dimensions."""
    if isinstance(operand, Const):
        return operand.value.shape
    return fresh_size(), fresh_size()


def is_sparse(operand):
    if isinstance(operand, Const):
        return sparse.issparse(operand.value)
    cls = getattr(getattr(operand, "kind", None), "type", None)
    return isinstance(cls, type) and issubclass(cls, BASE)


def dtype_of(operand):
    return getattr(operand.value, "dtype", None) if isinstance(operand, Const) else None


@kind(flipped)
def flipped_kind(args, kwargs):
    if is_sparse(args[0]):
        return Inferred(Opaque(type_of(args[0])))
    found = operand_kind(args[0])
    return None if found is None else Inferred(Array(found.dtype, found.shape), (args[0],))


def type_of(operand):
    cls = type(operand.value) if isinstance(operand, Const) else operand.kind.type
    return sparse.csr_array if issubclass(cls, sparse.sparray) else sparse.csr_matrix


def product_kind(args, rows):
    """The kind of a product with an array, `rows` long in the dimension that is the matrix's."""
    other = operand_kind(args[1])
    if other is None or other.shape is None:
        return Inferred(Opaque(type_of(args[0]))) if is_sparse(args[1]) else None
    dtype, of_other = dtype_of(args[0]), other.dtype
    dtype = None if dtype is None or of_other is None else floating(dtype, of_other)
    return dtype, other.shape, shape_of(args[0])[rows]


adjoint(BASE.__matmul__)(lambda self, other, *, out, d_out: (None, flipped(self) @ d_out))


@kind(BASE.__matmul__)
def matmul_kind(args, kwargs):
    found = product_kind(args, 0)
    if not isinstance(found, tuple):
        return found
    dtype, shape, rows = found
    return Inferred(Array(dtype, (rows, *shape[1:])))


adjoint(BASE.__rmatmul__)(lambda self, other, *, out, d_out: (None, d_out @ flipped(self)))


@kind(BASE.__rmatmul__)
def rmatmul_kind(args, kwargs):
    found = product_kind(args, 1)
    if not isinstance(found, tuple):
        return found
    dtype, shape, columns = found
    return Inferred(Array(dtype, (*shape[:-1], columns)))


spelled(BASE.__matmul__, "@")
spelled(BASE.__rmatmul__, "@ reversed")

definition(*members("dot"))(lambda self, other: self @ other)
definition(*members("T"), *members("transpose"))(lambda self, axes=None, copy=False: flipped(self))


@definition(sparse.spmatrix.__mul__)
def matrix_times(self, other):
    """Of the older classes `*` is the product of matrices."""
    return scaled(self, other) if np.ndim(other) == 0 else self @ other


definition(sparse.spmatrix.__rmul__)(
    lambda self, other: scaled(self, other) if np.ndim(other) == 0 else other @ self
)


@definition(BASE.__mul__, BASE.__rmul__)
def array_times(self, other):
    if np.ndim(other) == 0:
        return scaled(self, other)
    return elementwise_product(self, other)


def scaled(A, factor):
    """A sparse matrix times a number, which may have a derivative."""
    data, rows, columns = entries(A)
    return Matrix(data * factor, rows, columns, A.shape)


def elementwise_product(A, x):
    """Called by generated code."""
    return A * x


refuse(elementwise_product, *members("multiply"), reason="multiply entries: make it of A.data * x")


# Matrices that the function makes


def starred(A, x):
    """The product of the matrices for `csr_matrix`, that of the elements for `csr_array`."""
    return A * x


refuse(starred, reason="write A @ x for the product of the matrices", always=True)


class Matrix:
    """A sparse matrix by its entries; those at the same place add up."""

    def __init__(self, data, rows, columns, shape):
        self.data, self.row, self.col, self.shape = data, rows, columns, shape
        self.ndim = 2

    def __matmul__(self, other):
        if isinstance(other, (Matrix, *FORMATS)):
            return sparse_product(self, as_matrix(other))
        return product(self.data, self.row, self.col, self.shape, other)

    def __rmatmul__(self, other):
        if np.ndim(other) == 1:
            return self.T @ other
        return (self.T @ other.T).T

    def dot(self, other):
        return self @ other

    def __mul__(self, other):
        if isinstance(other, (Matrix, *FORMATS)) or np.ndim(other) > 0:
            return starred(self.data, other)
        return Matrix(self.data * other, self.row, self.col, self.shape)

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        return Matrix(self.data / other, self.row, self.col, self.shape)

    def __imul__(self, other):
        self.data = self.data * other
        return self

    def __itruediv__(self, other):
        self.data = self.data / other
        return self

    def __neg__(self):
        return Matrix(-self.data, self.row, self.col, self.shape)

    def __add__(self, other):
        if not isinstance(other, Matrix):
            other = Matrix(*entries(other), self.shape)
        data = np.concatenate((self.data, other.data))
        rows = np.concatenate((self.row, other.row))
        return Matrix(data, rows, np.concatenate((self.col, other.col)), self.shape)

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        if not isinstance(other, Matrix):
            other = Matrix(*entries(other), self.shape)
        return self + -other

    def __rsub__(self, other):
        return -self + other

    @property
    def T(self):
        return Matrix(self.data, self.col, self.row, (self.shape[1], self.shape[0]))

    def transpose(self):
        return self.T

    def toarray(self):
        dense = np.zeros(self.shape, self.data.dtype)
        np.add.at(dense, (self.row, self.col), self.data)
        return dense

    def todense(self):
        return self.toarray()

    def tocsr(self, copy=False):
        return self

    def tocsc(self, copy=False):
        return self

    def tocoo(self, copy=False):
        return self

    def copy(self):
        return self

    def sum(self, axis=None):
        if axis is None:
            return np.sum(self.data)
        return self.toarray().sum(axis)

    def diagonal(self, k=0):
        return self.toarray().diagonal(k)


def entries(A):
    """The entries of a sparse matrix, with their rows and columns."""
    A = A.tocoo()
    return A.data, A.row, A.col


refuse(entries, reason=OPAQUE)


@kind(entries)
def entries_kind(args, kwargs):
    n, index = fresh_size(), np.dtype(np.intc)
    items = (Array(dtype_of(args[0]), (n,)), Array(index, (n,)), Array(index, (n,)))
    return Inferred(TupleOf(items))


def product(data, rows, columns, shape, x):
    """The product of a sparse matrix, given by its entries, with a vector or matrix.

    >>> product(np.array([2.0, 3.0]), np.array([0, 1]), np.array([1, 1]), (2, 2), np.ones(2))
    array([2., 3.])
    """
    return sparse.coo_array((data, (rows, columns)), shape=shape) @ x


@adjoint(product)
def d_product(data, rows, columns, shape, x, *, out, d_out):
    d_data = d_out[rows] * x[columns]
    if x.ndim > 1:
        d_data = d_data.sum(1)
    return d_data, None, None, None, product(data, columns, rows, (shape[1], shape[0]), d_out)


@kind(product)
def of_entries_kind(args, kwargs):
    data, other = operand_kind(args[0]), operand_kind(args[-1])
    if data is None or other is None or other.shape is None:
        return None
    known = data.dtype is not None and other.dtype is not None
    dtype = floating(data.dtype, other.dtype) if known else None
    return Inferred(Array(dtype, (fresh_size(), *other.shape[1:])))


def sparse_product(a, b):
    """The product of two sparse matrices: an entry for each pair whose inner indices agree."""
    order = np.argsort(b.row)
    sorted_rows = b.row[order]
    first = np.searchsorted(sorted_rows, a.col, "left")
    count = np.searchsorted(sorted_rows, a.col, "right") - first
    left = np.repeat(np.arange(len(a.col)), count)
    along = np.arange(len(left)) - np.repeat(np.cumsum(count) - count, count)
    right = order[np.repeat(first, count) + along]
    data = a.data[left] * b.data[right]
    return Matrix(data, a.row[left], b.col[right], (a.shape[0], b.shape[1]))


def as_matrix(x):
    """A sparse matrix, from outside or made here, or an array, by its entries."""
    if isinstance(x, Matrix):
        return x
    if isinstance(x, FORMATS):
        return Matrix(*entries(x), x.shape)
    return dense_entries(x)


def stacked(matrices, axis):
    data, rows, columns, end = [], [], [], 0
    for A in matrices:
        data.append(A.data)
        rows.append(A.row + end if axis == 0 else A.row)
        columns.append(A.col if axis == 0 else A.col + end)
        end = end + A.shape[axis]
    m, n = matrices[0].shape
    shape = (end, n) if axis == 0 else (m, end)
    return Matrix(np.concatenate(data), np.concatenate(rows), np.concatenate(columns), shape)


definition(sparse.vstack)(
    lambda blocks, format=None, dtype=None: stacked([as_matrix(A) for A in blocks], 0)
)
definition(sparse.hstack)(
    lambda blocks, format=None, dtype=None: stacked([as_matrix(A) for A in blocks], 1)
)


@definition(sparse.block_diag)
def block_diag(mats, format=None, dtype=None):
    data, rows, columns, m, n = [], [], [], 0, 0
    for block in mats:
        A = as_matrix(block)
        data.append(A.data)
        rows.append(A.row + m)
        columns.append(A.col + n)
        m, n = m + A.shape[0], n + A.shape[1]
    return Matrix(np.concatenate(data), np.concatenate(rows), np.concatenate(columns), (m, n))


@definition(sparse.kron)
def kron(A, B, format=None):
    A, B = as_matrix(A), as_matrix(B)
    data = np.ravel(A.data[:, None] * B.data)
    rows = np.ravel(A.row[:, None] * B.shape[0] + B.row)
    columns = np.ravel(A.col[:, None] * B.shape[1] + B.col)
    return Matrix(data, rows, columns, (A.shape[0] * B.shape[0], A.shape[1] * B.shape[1]))


definition(sparse.issparse)(lambda x: isinstance(x, (Matrix, *FORMATS)))


def dense_entries(x):
    m, n = x.shape
    return Matrix(x.ravel(), np.repeat(np.arange(m), n), np.tile(np.arange(n), m), (m, n))


def extent(indices):
    return int(np.max(indices)) + 1


def of_places(arg1, shape):
    data, (rows, columns) = arg1
    if shape is None:
        shape = (extent(rows), extent(columns))
    return Matrix(np.asarray(data), np.asarray(rows), np.asarray(columns), shape)


def of_summed_places(arg1, shape):
    """What `csr_matrix` makes of numbers and their places: it sums them, and so copies them."""
    if not isinstance(arg1, tuple):
        return as_matrix(arg1)
    data, places = arg1
    return of_places((np.array(data), places), shape)


@definition(sparse.coo_matrix, sparse.coo_array)
def coo(arg1, shape=None, dtype=None, copy=False):
    return of_places(arg1, shape) if isinstance(arg1, tuple) else as_matrix(arg1)


@definition(sparse.csr_matrix, sparse.csr_array)
def csr(arg1, shape=None, dtype=None, copy=False):
    if not is_compressed(arg1):
        return of_summed_places(arg1, shape)
    data, columns, starts = arg1
    rows = places_of(starts)
    return Matrix(data, rows, columns, shape or (len(starts) - 1, extent(columns)))


@definition(sparse.csc_matrix, sparse.csc_array)
def csc(arg1, shape=None, dtype=None, copy=False):
    if not is_compressed(arg1):
        return of_summed_places(arg1, shape)
    data, rows, starts = arg1
    columns = places_of(starts)
    return Matrix(data, rows, columns, shape or (extent(rows), len(starts) - 1))


def is_compressed(arg1):
    """Whether a matrix is given by rows or columns: numbers, places in them, and their starts."""
    return isinstance(arg1, tuple) and len(arg1) == 3


def places_of(starts):
    """The number of the row or column of each entry."""
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


@definition(sparse.diags, sparse.diags_array)
def diags(diagonals, offsets=0, shape=None, format=None, dtype=None):
    if not isinstance(diagonals, (list, tuple)):
        diagonals = [diagonals]
    if not isinstance(offsets, (list, tuple)):
        offsets = [offsets]
    if shape is None:
        n = len(diagonals[0]) + abs(offsets[0])
        shape = (n, n)
    data, rows, columns = [], [], []
    for values, k in zip(diagonals, offsets, strict=True):
        count = min(shape[0] + min(k, 0), shape[1] - max(k, 0))
        if np.ndim(values) == 0 or len(values) == 1:
            values = values * np.ones(count)
        data.append(values)
        rows.append(np.arange(count) + max(-k, 0))
        columns.append(np.arange(count) + max(k, 0))
    return Matrix(np.concatenate(data), np.concatenate(rows), np.concatenate(columns), shape)


@definition(sparse.eye, sparse.eye_array, sparse.identity)
def eye(m, n=None, k=0, dtype=float, format=None):
    n = m if n is None else n
    return diags(np.ones(min(m + min(k, 0), n - max(k, 0))), k, (m, n))


@kind(sparse.spdiags)
def spdiags_kind(args, kwargs):
    return Inferred(Opaque(sparse.dia_matrix))


DESCRIBING = (
    *(sparse.isspmatrix, sparse.isspmatrix_bsr, sparse.isspmatrix_coo, sparse.isspmatrix_csc),
    *(sparse.isspmatrix_csr, sparse.isspmatrix_dia, sparse.isspmatrix_dok, sparse.isspmatrix_lil),
    *present(sparse, "get_index_dtype", "safely_cast_index_arrays"),
)
inert(*DESCRIBING)
for name in (
    "block_array bmat expand_dims find kronsum load_npz matrix_transpose permute_dims rand random "
    "random_array save_npz spdiags swapaxes tril triu"
).split():
    if hasattr(sparse, name):
        refuse(
            getattr(sparse, name),
            reason="use sparse.csr_array((data, (rows, columns))), diags, hstack, vstack or kron",
        )
