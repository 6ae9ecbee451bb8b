"""Sparse matrices.

One from outside the function is an object of which no derivative is taken: products with it and
solves are linear in the other operand. One that the function makes of its data is a `SparseArray`
or `SparseMatrix`, which the compiler sees through, so that the data have derivatives.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ...analysis.inference import Inferred
from ...ir import Const
from ...kinds import Array, Opaque, fresh_size
from ..parameters import AS_GIVEN
from ..registry import adjoint, definition, inert, kind, refuse, spelled
from ..shaping import present
from .kinds import floating, operand_kind
from .sparse_entries import (
    FORMATS,
    OF_MATRICES,
    OPAQUE,
    OuterArray,
    OuterMatrix,
    SparseArray,
    SparseMatrix,
    as_sparse,
    dtype_of,
    is_number,
    is_sparse,
)

BASE = next(c for c in sparse.csr_matrix.__mro__ if "__matmul__" in vars(c))


def members(name):
    """The functions that are the method of this name in one of the classes."""
    found = {getattr(c, name) for c in (*FORMATS, BASE)}
    return [f.fget if isinstance(f, property) else f for f in found]


# Products with a matrix from outside


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


def holds_sparse(operand):
    if isinstance(operand, Const):
        return sparse.issparse(operand.value)
    cls = getattr(getattr(operand, "kind", None), "type", None)
    return isinstance(cls, type) and issubclass(cls, BASE)


@kind(flipped)
def flipped_kind(args, kwargs):
    if holds_sparse(args[0]):
        return Inferred(Opaque(type_of(args[0])))
    found = operand_kind(args[0])
    return None if found is None else Inferred(Array(found.dtype, found.shape), (args[0],))


def type_of(operand):
    cls = type(operand.value) if isinstance(operand, Const) else operand.kind.type
    return OuterArray if issubclass(cls, sparse.sparray) else OuterMatrix


def product_kind(args, rows):
    """The kind of a product with an array, `rows` long in the dimension that is the matrix's."""
    other = operand_kind(args[1])
    if other is None or other.shape is None:
        return Inferred(Opaque(type_of(args[0]))) if holds_sparse(args[1]) else None
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


definition(sparse.spmatrix.__mul__)(
    lambda self, other: as_sparse(self) * other if is_number(other) else self @ other
)
definition(sparse.spmatrix.__rmul__)(
    lambda self, other: as_sparse(self) * other if is_number(other) else other @ self
)


@definition(BASE.__mul__, BASE.__rmul__)
def array_times(self, other):
    return as_sparse(self) * other if is_number(other) else elementwise_product(self, other)


definition(BASE.__truediv__)(lambda self, other: as_sparse(self) / other)


def elementwise_product(A, x):
    """Called by generated code."""
    return A * x


refuse(elementwise_product, *members("multiply"), reason="multiply entries: make it of A.data * x")


# Matrices that the function makes


def common(matrices):
    """The class of what SciPy makes of several matrices: an array if one of them is."""
    for A in matrices:
        if not isinstance(A, SparseMatrix):
            return SparseArray
    return SparseMatrix


def cast(A, dtype):
    """A sparse matrix made here, its numbers of the dtype asked for."""
    return A if dtype is None else A.mapped(np.asarray(A.values, dtype))


def stacked(blocks, axis, format, dtype):
    matrices = [as_sparse(A) for A in blocks]
    values, rows, columns, end = [], [], [], 0
    for A in matrices:
        values.append(A.values)
        rows.append(A.rows + end if axis == 0 else A.rows)
        columns.append(A.columns if axis == 0 else A.columns + end)
        end = end + A.shape[axis]
    m, n = matrices[0].shape
    shape = (end, n) if axis == 0 else (m, end)
    cls = common(matrices)
    layout = stacked_layout([A.layout for A in matrices])
    made = cls(np.concatenate(values), np.concatenate(rows), np.concatenate(columns), shape, layout)
    return cast(made.asformat(format), dtype)


def stacked_layout(layouts):
    """The format of several matrices beside each other, of theirs; None if it isn't known."""
    for name in ("csr", "csc"):
        if all(layout == name for layout in layouts):
            return name
    return None if None in layouts else "coo"


@definition(sparse.vstack)
def vstack(blocks, format=None, dtype=None):
    return stacked(blocks, 0, format, dtype)


@definition(sparse.hstack)
def hstack(blocks, format=None, dtype=None):
    return stacked(blocks, 1, format, dtype)


@definition(sparse.block_diag)
def block_diag(mats, format=None, dtype=None):
    matrices = [as_sparse(A) for A in mats]
    values, rows, columns, m, n = [], [], [], 0, 0
    for A in matrices:
        values.append(A.values)
        rows.append(A.rows + m)
        columns.append(A.columns + n)
        m, n = m + A.shape[0], n + A.shape[1]
    cls, shape = common(matrices), (m, n)
    made = cls(np.concatenate(values), np.concatenate(rows), np.concatenate(columns), shape, "coo")
    return cast(made.asformat(format), dtype)


@definition(sparse.kron)
def kron(A, B, format=None):
    A, B = as_sparse(A), as_sparse(B)
    values = np.ravel(A.values[:, None] * B.values)
    rows = np.ravel(A.rows[:, None] * B.shape[0] + B.rows)
    columns = np.ravel(A.columns[:, None] * B.shape[1] + B.columns)
    shape = (A.shape[0] * B.shape[0], A.shape[1] * B.shape[1])
    return common([A, B])(values, rows, columns, shape, format)


@definition(sparse.kronsum)
def kronsum(A, B, format=None):
    A, B = as_sparse(A), as_sparse(B)
    cls = common([A, B])
    ones = [of_diagonals(cls, np.ones(M.shape[0], M.dtype), 0, M.shape) for M in (A, B)]
    return (kron(ones[1], A, "coo") + kron(B, ones[0], "coo")).asformat(format)


def grid(cls, blocks, format, dtype):
    """A matrix of blocks, of which None is one of zeros."""
    blocks = [[None if A is None else as_sparse(A) for A in row] for row in blocks]
    given = [A for row in blocks for A in row if A is not None]
    full = len(given) == len(blocks) * len(blocks[0])
    layout = stacked_layout([A.layout for A in given]) if full else "coo"
    values, rows, columns, top = [], [], [], 0
    widths = [
        next((row[j].shape[1] for row in blocks if row[j] is not None), 0)
        for j in range(len(blocks[0]))
    ]
    for row in blocks:
        left = 0
        for A, width in zip(row, widths, strict=True):
            if A is not None:
                values.append(A.values)
                rows.append(A.rows + top)
                columns.append(A.columns + left)
            left = left + width
        top = top + next((A.shape[0] for A in row if A is not None), 0)
    places, shape = (np.concatenate(rows), np.concatenate(columns)), (top, sum(widths))
    return cast(cls(np.concatenate(values), *places, shape, layout).asformat(format), dtype)


@definition(sparse.bmat)
def bmat(blocks, format=None, dtype=None):
    cls = common([A for row in blocks for A in row if is_sparse(A)])
    return grid(cls, blocks, format, dtype)


def part(A, chosen, format):
    A = as_sparse(A)
    places = A.rows[chosen], A.columns[chosen]
    return type(A)(A.values[chosen], *places, A.shape, "coo").asformat(format)


@definition(sparse.tril)
def tril(A, k=0, format=None):
    A = as_sparse(A)
    return part(A, A.rows + k >= A.columns, format)


@definition(sparse.triu)
def triu(A, k=0, format=None):
    A = as_sparse(A)
    return part(A, A.rows + k <= A.columns, format)


for _made in present(sparse, "block_array"):  # of SciPy 1.11
    definition(_made)(
        lambda blocks, *, format=None, dtype=None: grid(SparseArray, blocks, format, dtype)
    )

AS_GIVEN.update({sparse.issparse, sparse.isspmatrix})
definition(sparse.issparse)(is_sparse)
definition(sparse.isspmatrix)(lambda x: isinstance(x, (SparseMatrix, sparse.spmatrix)))


def _register_test(name, cls):
    test = getattr(sparse, f"isspmatrix_{name}")
    AS_GIVEN.add(test)
    definition(test)(
        lambda x: x.format == name if isinstance(x, SparseMatrix) else isinstance(x, cls)
    )


for _name, _cls in OF_MATRICES.items():
    _register_test(_name, _cls)


def extent(indices):
    return int(np.max(indices)) + 1


def indices(places):
    """Places as ints that number all elements; SciPy takes floats too."""
    return np.asarray(places, np.intp)


def of_places(cls, arg1, shape, layout, ordered):
    values, (rows, columns) = arg1
    rows, columns = indices(rows), indices(columns)
    if shape is None:
        shape = (extent(rows), extent(columns))
    return cls(np.asarray(values), rows, columns, shape, layout, ordered)


def coo(cls, arg1, shape):
    if isinstance(arg1, tuple):
        return of_places(cls, arg1, shape, "coo", True)
    return of_matrix(cls, arg1, "coo")


def of_matrix(cls, A, layout):
    A = as_sparse(A).tocoo() if layout == "coo" else as_sparse(A).converted(layout)
    return cls(A.values, A.rows, A.columns, A.shape, layout, A.ordered)


def compressed(cls, arg1, shape, format):
    """A `csr` or `csc` matrix, of what such classes take."""
    if not isinstance(arg1, tuple):
        return of_matrix(cls, arg1, format)
    if len(arg1) < 3:
        values, places = arg1  # a copy: equal places are summed
        return of_places(cls, (np.array(values), places), shape, format, False)
    values, inner, starts = arg1
    inner, outer = indices(inner), np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    if format == "csr":
        return cls(values, outer, inner, shape or (len(starts) - 1, extent(inner)), format, True)
    return cls(values, inner, outer, shape or (extent(inner), len(starts) - 1), format, True)


definition(sparse.coo_matrix)(
    lambda arg1, shape=None, dtype=None, copy=False: cast(coo(SparseMatrix, arg1, shape), dtype)
)
definition(sparse.coo_array)(
    lambda arg1, shape=None, dtype=None, copy=False: cast(coo(SparseArray, arg1, shape), dtype)
)
definition(sparse.csr_matrix)(
    lambda arg1, shape=None, dtype=None, copy=False: cast(
        compressed(SparseMatrix, arg1, shape, "csr"), dtype
    )
)
definition(sparse.csr_array)(
    lambda arg1, shape=None, dtype=None, copy=False: cast(
        compressed(SparseArray, arg1, shape, "csr"), dtype
    )
)
definition(sparse.csc_matrix)(
    lambda arg1, shape=None, dtype=None, copy=False: cast(
        compressed(SparseMatrix, arg1, shape, "csc"), dtype
    )
)
definition(sparse.csc_array)(
    lambda arg1, shape=None, dtype=None, copy=False: cast(
        compressed(SparseArray, arg1, shape, "csc"), dtype
    )
)


def of_diagonals(cls, diagonals, offsets, shape):
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
    places = np.concatenate(rows), np.concatenate(columns)
    return cls(np.concatenate(data), *places, shape, "dia")


@definition(sparse.diags)
def diags(diagonals, offsets=0, shape=None, format=None, dtype=None):
    return cast(of_diagonals(SparseMatrix, diagonals, offsets, shape).asformat(format), dtype)


@definition(sparse.diags_array)
def diags_array(diagonals, /, *, offsets=0, shape=None, format=None, dtype=None):
    return cast(of_diagonals(SparseArray, diagonals, offsets, shape).asformat(format), dtype)


def banded(cls, data, offsets, shape):
    """The rows of `data` are diagonals, of which each entry stands in the column it has there."""
    data, offsets = np.atleast_2d(data), np.atleast_1d(np.asarray(offsets))
    count = min(data.shape[1], shape[1])
    rows = np.arange(count) - offsets[:, None]
    inside = (rows >= 0) & (rows < shape[0])
    columns = np.broadcast_to(np.arange(count), rows.shape)
    return cls(data[:, :count][inside], rows[inside], columns[inside], shape, "dia")


@definition(sparse.spdiags)
def spdiags(data, diags, m=None, n=None, format=None):
    if n is None:
        m, n = (len(data[0]), len(data[0])) if m is None else m
    return banded(SparseMatrix, data, diags, (m, n)).asformat(format)


def diagonal(cls, arg1, shape):
    """A `dia` matrix, of what such classes take."""
    return banded(cls, *arg1, shape) if isinstance(arg1, tuple) else of_matrix(cls, arg1, "dia")


definition(sparse.dia_matrix)(
    lambda arg1, shape=None, dtype=None, copy=False: cast(
        diagonal(SparseMatrix, arg1, shape), dtype
    )
)
definition(sparse.dia_array)(
    lambda arg1, shape=None, dtype=None, copy=False: cast(diagonal(SparseArray, arg1, shape), dtype)
)


def diagonal_of_ones(cls, m, n, k, dtype, format):
    n = m if n is None else n
    ones = np.ones(min(m + min(k, 0), n - max(k, 0)), dtype)
    return of_diagonals(cls, ones, k, (m, n)).asformat(format)


@definition(sparse.eye)
def eye(m, n=None, k=0, dtype=float, format=None):
    return diagonal_of_ones(SparseMatrix, m, n, k, dtype, format)


@definition(sparse.eye_array)
def eye_array(m, n=None, *, k=0, dtype=float, format=None):
    return diagonal_of_ones(SparseArray, m, n, k, dtype, format)


@definition(sparse.identity)
def identity(n, dtype=float, format=None):
    return diagonal_of_ones(SparseMatrix, n, n, 0, dtype, format)


inert(*present(sparse, "get_index_dtype", "safely_cast_index_arrays"))
for name in (
    "expand_dims find load_npz matrix_transpose permute_dims rand random random_array save_npz "
    "swapaxes"
).split():
    if hasattr(sparse, name):
        refuse(
            getattr(sparse, name),
            reason="use sparse.csr_array((data, (rows, columns))), diags, dia_array, hstack, "
            "vstack or kron",
        )
