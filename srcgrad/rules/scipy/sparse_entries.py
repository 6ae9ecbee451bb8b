"""Sparse matrices that the function makes of data with derivatives: classes that the compiler sees
through, whose products are those of SciPy."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ...analysis.inference import Inferred
from ...ir import Const
from ...kinds import Array, TupleOf, fresh_size
from ..matrix_class import Matrix
from ..registry import adjoint, kind, passes_for, refuse
from .kinds import floating, operand_kind

NAMES = ("csr", "csc", "coo", "dia", "bsr", "lil", "dok")
OF_MATRICES = {name: getattr(sparse, f"{name}_matrix") for name in NAMES}
OF_ARRAYS = {name: getattr(sparse, f"{name}_array") for name in NAMES}
FORMATS = (*OF_MATRICES.values(), *OF_ARRAYS.values())
OPAQUE = "its entries carry no derivative; make the matrix of its data in the function"


def dtype_of(operand):
    return getattr(operand.value, "dtype", None) if isinstance(operand, Const) else None


@passes_for(*OF_MATRICES.values())
class OuterMatrix(sparse.csr_matrix):  # type: ignore[misc]
    """What becomes of a matrix from outside, in a format that isn't followed."""


@passes_for(*OF_ARRAYS.values())
class OuterArray(sparse.csr_array):  # type: ignore[misc]
    """The same of an array."""


def entries(A):
    """The entries of a sparse matrix from outside, with their rows and columns."""
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
    # of a single row, coo_array makes a number
    made = sparse.coo_array((data, (rows, columns)), shape=shape) @ x
    return made.reshape(shape[0], *x.shape[1:])


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


def unordered(values):
    """The numbers of a sparse matrix, in an order that isn't followed."""
    return values


refuse(
    unordered,
    reason="where a format keeps which entry isn't followed: use .toarray(), or coo_array's data",
    always=True,
)


def untold(shape):
    """The format of a sparse matrix, which isn't followed."""
    return shape


refuse(untold, reason="which format this is in isn't followed", always=True)


def computed(a, b):
    """The format of a difference or product, of those of its operands; None if it isn't known.

    >>> computed("csc", "dia"), computed("dia", "dia"), computed("coo", "coo")
    ('csc', 'dia', 'csr')
    """
    if a is None or b is None:
        return None
    if a in ("csr", "csc", "bsr"):
        return a
    return "dia" if a == "dia" and b == "dia" else "csr"


def added(a, b):
    """The format of a sum."""
    if a == "dok" or (a == "dia" and b in ("csc", "bsr")):
        return a if a == "dok" else b
    return computed(a, b)


def one_dimensional(A):
    """A row or column of a `csr_array`, which is one-dimensional."""
    return A


refuse(one_dimensional, reason="write A[[i], :] or A.toarray()[i]", always=True)


def matches(a, b):
    """The pairs of positions at which two arrays of ints agree, in the order of the first.

    >>> matches(np.array([7, 5]), np.array([5, 7, 5]))
    (array([0, 1, 1]), array([1, 0, 2]))
    """
    order = np.argsort(b, kind="stable")
    ordered = b[order]
    first = np.searchsorted(ordered, a, "left")
    count = np.searchsorted(ordered, a, "right") - first
    left = np.repeat(np.arange(len(a)), count)
    along = np.arange(len(left)) - np.repeat(np.cumsum(count) - count, count)
    return left, order[np.repeat(first, count) + along]


def is_sparse(x):
    return isinstance(x, (Entries, *FORMATS))


def is_full(key):
    whole = isinstance(key, slice) and key.start is None and key.stop is None
    return whole and key.step is None


class Entries:
    """A sparse matrix by its entries; those at the same place add up.

    `layout` is the name of its format, or None if that isn't known; its `data` are the values as
    they stand if they are `ordered`.
    """

    def __init__(self, values, rows, columns, shape, layout=None, ordered=False):
        self.values, self.rows, self.columns = values, rows, columns
        self.shape, self.layout, self.ordered, self.ndim = shape, layout, ordered, 2

    @property
    def format(self):
        return untold(self.shape) if self.layout is None else self.layout

    @property
    def dtype(self):
        return self.values.dtype

    def places(self):
        """The place of each entry, a number."""
        return self.rows * self.shape[1] + self.columns

    def mapped(self, values):
        """The matrix of other numbers at the same places."""
        return type(self)(values, self.rows, self.columns, self.shape, self.layout, self.ordered)

    @property
    def data(self):
        return self.values if self.ordered else unordered(self.values)

    @property
    def row(self):
        return self.rows if self.ordered and self.layout == "coo" else unordered(self.rows)

    @property
    def col(self):
        return self.columns if self.ordered and self.layout == "coo" else unordered(self.columns)

    def __matmul__(self, other):
        if is_sparse(other):
            other = as_sparse(other)
            left, right = matches(self.columns, other.rows)
            values = self.values[left] * other.values[right]
            shape, layout = (self.shape[0], other.shape[1]), computed(self.layout, other.layout)
            return type(self)(values, self.rows[left], other.columns[right], shape, layout)
        if isinstance(other, Matrix):
            return Matrix(self @ other.array)
        return product(self.values, self.rows, self.columns, self.shape, other)

    def __rmatmul__(self, other):
        if isinstance(other, Matrix):
            return Matrix(other.array @ self)
        if is_sparse(other):
            return as_sparse(other) @ self
        if np.ndim(other) == 1:
            return self.T @ other
        return (self.T @ other.T).T

    def dot(self, other):
        return self.mapped(self.values * other) if is_number(other) else self @ other

    def multiply(self, other):
        """The product of the elements."""
        if is_number(other):
            return self.mapped(self.values * other)
        if is_sparse(other):
            other = as_sparse(other)
            left, right = matches(self.places(), other.places())
            values, layout = self.values[left] * other.values[right], None
            if other.shape == self.shape:
                layout = computed(self.layout, other.layout)
            return type(self)(values, self.rows[left], self.columns[left], self.shape, layout)
        factors = np.broadcast_to(np.asarray(other), self.shape)[self.rows, self.columns]
        layout = None if self.layout is None or self.layout == "dia" else "coo"
        return type(self)(self.values * factors, self.rows, self.columns, self.shape, layout)

    def __truediv__(self, other):
        return self.mapped(self.values / other) if is_number(other) else self.multiply(1 / other)

    def __imul__(self, other):
        self.values *= other
        return self

    def __itruediv__(self, other):
        self.values /= other
        return self

    def __neg__(self):
        return self.mapped(-self.values)

    def __add__(self, other):
        if is_number(other):
            if other != 0:
                raise NotImplementedError("adding a nonzero scalar to a sparse array")
            return self.copy()
        if not is_sparse(other):
            return self.dense(self.toarray() + np.asarray(other))
        other = as_sparse(other)
        layout = added(self.layout, other.layout)
        if self.layout == "dia" and layout != "dia":
            return other.with_entries(self, layout)
        return self.with_entries(other, layout)

    def with_entries(self, other, layout):
        """With the entries of another matrix added."""
        values = np.concatenate((self.values, other.values))
        rows = np.concatenate((self.rows, other.rows))
        columns = np.concatenate((self.columns, other.columns))
        return type(self)(values, rows, columns, self.shape, layout)

    def __radd__(self, other):
        return as_sparse(other) + self if is_sparse(other) else self + other

    def __sub__(self, other):
        if not is_sparse(other):
            return self + -other
        other = as_sparse(other)
        return self.with_entries(-other, computed(self.layout, other.layout))

    def __rsub__(self, other):
        return as_sparse(other) - self if is_sparse(other) else -self + other

    def __getitem__(self, key):
        m, n = self.shape
        i, j = key if isinstance(key, tuple) else (key, slice(None))
        if is_number(i) and is_number(j):
            here = (self.rows == np.arange(m)[i]) & (self.columns == np.arange(n)[j])
            return np.sum(self.values[here])
        if not isinstance(i, slice) and not isinstance(j, slice):
            return self.at(*np.broadcast_arrays(np.arange(m)[i], np.arange(n)[j]))
        if is_number(i) or is_number(j):
            self = self.line()
        if not is_full(i):
            self = self.chosen_rows(np.atleast_1d(np.arange(m)[i]))
        return self if is_full(j) else self.T.chosen_rows(np.atleast_1d(np.arange(n)[j])).T

    def chosen_rows(self, chosen):
        left, right = matches(chosen, self.rows)
        shape = (len(chosen), self.shape[1])
        return type(self)(self.values[right], left, self.columns[right], shape, self.layout)

    def at(self, i, j):
        """The elements at the places `i`, `j`: an array, of two-dimensional places a matrix."""
        left, right = matches(np.ravel(i * self.shape[1] + j), self.places())
        values = self.values[right]
        if i.ndim > 1:
            rows, columns = left // i.shape[1], left % i.shape[1]
            return type(self)(values, rows, columns, i.shape, self.layout)
        found = np.zeros(len(i), values.dtype)
        np.add.at(found, left, values)
        return self.dense(found)

    @property
    def T(self):
        layout = {"csr": "csc", "csc": "csr"}.get(self.layout, self.layout)
        shape = (self.shape[1], self.shape[0])
        return type(self)(self.values, self.columns, self.rows, shape, layout, self.ordered)

    def transpose(self):
        return self.T

    def toarray(self):
        found = np.zeros(self.shape, self.values.dtype)
        np.add.at(found, (self.rows, self.columns), self.values)
        return found

    def todense(self):
        return self.dense(self.toarray())

    def tocsr(self, copy=False):
        return self.converted("csr")

    def tocsc(self, copy=False):
        return self.converted("csc")

    def tocoo(self, copy=False):
        if self.layout == "coo":
            return self
        return type(self)(self.values, self.rows, self.columns, self.shape, "coo", self.ordered)

    def asformat(self, format, copy=False):
        if copy:
            raise NotImplementedError("a format asked for with copy=True: copy the matrix first")
        return self if format is None else self.converted(format)

    def converted(self, layout):
        if self.layout == layout:
            return self
        return type(self)(np.array(self.values), self.rows, self.columns, self.shape, layout)

    def copy(self):
        return self.mapped(np.array(self.values))

    def sum(self, axis=None):
        if axis is None:
            return np.sum(self.values)
        found = np.zeros(self.shape[1 - axis % 2], self.values.dtype)
        np.add.at(found, self.columns if axis % 2 == 0 else self.rows, self.values)
        return self.sums(found, axis)

    def diagonal(self, k=0):
        m, n = self.shape
        here = self.columns - self.rows == k
        found = np.zeros(min(m + min(k, 0), n - max(k, 0)), self.values.dtype)
        np.add.at(found, (self.rows if k >= 0 else self.columns)[here], self.values[here])
        return found


@passes_for(*OF_ARRAYS.values(), told=("layout", OF_ARRAYS))
class SparseArray(Entries):
    """A `csr_array` and its like: `*` is the product of the elements."""

    def __mul__(self, other):
        return self.multiply(other)

    def __rmul__(self, other):
        return self.multiply(other)

    def line(self):
        """The matrix of which a row or column is asked for by its number."""
        return one_dimensional(self)

    def dense(self, array):
        """What a method that gives an array returns."""
        return array

    def sums(self, found, axis):
        """What `sum` along an axis returns."""
        return found


@passes_for(*OF_MATRICES.values(), told=("layout", OF_MATRICES))
class SparseMatrix(Entries):
    """A `csr_matrix` and its like: `*` is the product, what is dense an `np.matrix`."""

    def __mul__(self, other):
        return self.dot(other)

    def __rmul__(self, other):
        return self.mapped(self.values * other) if is_number(other) else other @ self

    def __pow__(self, exponent):
        return self if exponent == 1 else self @ self ** (exponent - 1)

    def line(self):
        return self

    def dense(self, array):
        return Matrix(np.atleast_2d(array))

    def sums(self, found, axis):
        return Matrix(np.expand_dims(found, axis))

    @property
    def A(self):
        return self.toarray()


def is_number(x):
    return not isinstance(x, (Entries, Matrix, slice, *FORMATS)) and np.ndim(x) == 0


def as_sparse(x):
    """A sparse matrix, from outside or made here, or an array, by its entries."""
    if isinstance(x, Entries):
        return x
    if isinstance(x, sparse.spmatrix):
        return SparseMatrix(*entries(x), x.shape)
    if isinstance(x, FORMATS):
        return SparseArray(*entries(x), x.shape)
    x = np.atleast_2d(x)
    m, n = x.shape
    rows, columns = np.repeat(np.arange(m), n), np.tile(np.arange(n), m)
    return SparseMatrix(x.ravel(), rows, columns, (m, n), "coo")
