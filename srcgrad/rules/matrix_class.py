"""`np.matrix`, as a class that the compiler can read: always of two dimensions, `*` is the product.

What becomes of a matrix is what NumPy makes of it (`numpy/matrixlib/defmatrix.py`): functions
return a matrix where they return an array of two dimensions, or an array. Others are refused.
"""

from __future__ import annotations

import numpy as np

from .registry import definition, made_of, stands_for

# Functions that reduce rows or columns, for which a matrix has methods of its own
REDUCING = {
    np.sum: "sum", np.mean: "mean", np.std: "std", np.var: "var", np.prod: "prod",
    np.max: "max", np.amax: "max", np.min: "min", np.amin: "min", np.any: "any", np.all: "all",
    np.argmax: "argmax", np.argmin: "argmin", np.ptp: "ptp", np.median: "median",
    np.average: "average",
}  # fmt: skip
# Functions that return a matrix where they return an array of two dimensions
OF_MATRICES = (
    np.concatenate, np.vstack, np.hstack, np.kron, np.reshape, np.transpose, np.clip, np.squeeze,
    np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.real, np.imag, np.append,
    np.linalg.inv, np.linalg.pinv, np.linalg.det, np.linalg.slogdet, np.linalg.matrix_power,
    np.linalg.solve, np.linalg.cholesky, np.linalg.qr, np.linalg.svd, np.linalg.eig,
    np.linalg.eigh, np.linalg.eigvals, np.linalg.eigvalsh, np.linalg.matrix_rank, np.isclose,
    np.sort, np.argsort, np.round, np.around, np.fliplr, np.flipud, np.atleast_2d, np.tile,
)  # fmt: skip
OF_ROWS = (np.dot, np.inner, np.cumsum, np.cumprod)  # vectors are rows of a matrix
PLAIN = (
    np.where, np.tril, np.triu, np.diag, np.trace, np.outer, np.einsum, np.ravel, np.linalg.norm,
    np.copy, np.shape, np.ndim, np.size, np.nonzero, np.allclose, np.array_equal,
    np.count_nonzero, np.isrealobj, np.iscomplexobj,
)  # fmt: skip


class Matrix:
    """A matrix by its array of two dimensions."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return rows(getattr(ufunc, method)(*plain(inputs), **plain(kwargs)))

    def __array_function__(self, func, types, args, kwargs):
        if func in REDUCING:
            return getattr(args[0], REDUCING[func])(*args[1:], **kwargs)
        if func not in OF_MATRICES and func not in OF_ROWS and func not in PLAIN:
            return NotImplemented  # many count on `ravel()` having one dimension
        found = func(*plain(args), **plain(kwargs))
        if func in PLAIN:
            return found
        if func in OF_ROWS:
            return rows(found)
        return tuple(map(matrix_of, found)) if isinstance(found, tuple) else matrix_of(found)

    # What it is

    @property
    def shape(self):
        return self.array.shape

    @property
    def size(self):
        return self.array.size

    @property
    def dtype(self):
        return self.array.dtype

    @property
    def ndim(self):
        return 2

    @property
    def A(self):
        return self.array

    @property
    def A1(self):
        return self.array.ravel()

    @property
    def T(self):
        return Matrix(self.array.T)

    @property
    def H(self):
        return Matrix(np.conj(self.array).T)

    @property
    def I(self):  # noqa: E743
        if self.array.shape == self.array.T.shape:
            return Matrix(np.linalg.inv(self.array))
        return Matrix(np.linalg.pinv(self.array))

    @property
    def real(self):
        return Matrix(np.real(self.array))

    @property
    def imag(self):
        return Matrix(np.imag(self.array))

    @property
    def flat(self):
        return self.array.flat

    def getA(self):
        return self.array

    def getA1(self):
        return self.array.ravel()

    def getT(self):
        return self.T

    def getH(self):
        return self.H

    def getI(self):
        return self.I

    def __len__(self):
        return len(self.array)

    def __iter__(self):
        for i in range(len(self.array)):
            yield self[i]

    def __bool__(self):
        return bool(self.array)

    def __float__(self):
        return float(self.array)

    def __int__(self):
        return int(self.array)

    def __str__(self):
        return str(self.array)

    def __repr__(self):
        return repr(self.array).replace("array(", "matrix(").replace("\n", "\n ")

    def __format__(self, spec):
        return format(str(self), spec)

    def tolist(self):
        return self.array.tolist()

    def item(self, *args):
        return self.array.item(*args)

    # Parts

    def __getitem__(self, index):
        found = self.array[plain(index)]
        if np.ndim(found) == 1:
            return Matrix(found[:, None] if is_column(index) else found[None, :])
        return Matrix(found) if np.ndim(found) == 2 else found

    def __setitem__(self, index, value):
        if is_basic(index) and np.ndim(plain(value)) == 2:
            self[index].array[...] = plain(value)
        else:
            self.array[plain(index)] = plain(value)

    # Arithmetic

    def __mul__(self, other):
        if is_array(other):
            return Matrix(self.array @ two_dimensional(plain(other)))
        return rows(self.array * other)

    def __rmul__(self, other):
        return rows(np.dot(plain(other), self.array) if is_array(other) else other * self.array)

    def __imul__(self, other):
        self.array[...] = plain(self * other)
        return self

    def __matmul__(self, other):
        return rows(self.array @ plain(other))

    def __rmatmul__(self, other):
        return rows(plain(other) @ self.array)

    def __pow__(self, exponent):
        return Matrix(np.linalg.matrix_power(self.array, exponent))

    def __neg__(self):
        return Matrix(-self.array)

    def __pos__(self):
        return Matrix(+self.array)

    def __abs__(self):
        return Matrix(np.abs(self.array))

    def __add__(self, other):
        return rows(self.array + plain(other))

    def __radd__(self, other):
        return rows(plain(other) + self.array)

    def __iadd__(self, other):
        self.array += plain(other)
        return self

    def __sub__(self, other):
        return rows(self.array - plain(other))

    def __rsub__(self, other):
        return rows(plain(other) - self.array)

    def __isub__(self, other):
        self.array -= plain(other)
        return self

    def __truediv__(self, other):
        return rows(self.array / plain(other))

    def __rtruediv__(self, other):
        return rows(plain(other) / self.array)

    def __itruediv__(self, other):
        self.array /= plain(other)
        return self

    def __floordiv__(self, other):
        return rows(self.array // plain(other))

    def __mod__(self, other):
        return rows(self.array % plain(other))

    def __invert__(self):
        return Matrix(~self.array)

    def __and__(self, other):
        return rows(self.array & plain(other))

    def __or__(self, other):
        return rows(self.array | plain(other))

    def __lt__(self, other):
        return rows(self.array < plain(other))

    def __le__(self, other):
        return rows(self.array <= plain(other))

    def __gt__(self, other):
        return rows(self.array > plain(other))

    def __ge__(self, other):
        return rows(self.array >= plain(other))

    def __eq__(self, other):
        return rows(self.array == plain(other))

    def __ne__(self, other):
        return rows(self.array != plain(other))

    # Methods

    def dot(self, other):
        return rows(np.dot(self.array, plain(other)))

    def copy(self, order="C"):
        return Matrix(self.array.copy())

    def astype(self, dtype, copy=True):
        return Matrix(self.array.astype(dtype))

    def transpose(self, *axes):
        return Matrix(self.array.transpose(*axes))

    def swapaxes(self, axis1, axis2):
        return Matrix(self.array.swapaxes(axis1, axis2))

    def reshape(self, *shape, order="C"):
        return rows(np.reshape(self.array, shape[0] if len(shape) == 1 else shape, order))

    def flatten(self, order="C"):
        return Matrix(self.array.flatten(order)[None, :])

    def ravel(self, order="C"):
        return Matrix(np.reshape(self.array, (1, -1), order))

    def squeeze(self, axis=None):
        return self

    def diagonal(self, offset=0):
        return Matrix(np.diagonal(self.array, offset)[None, :])

    def trace(self, offset=0):
        return Matrix(np.reshape(np.trace(self.array, offset), (1, 1)))

    def conj(self):
        return Matrix(np.conj(self.array))

    def conjugate(self):
        return Matrix(np.conj(self.array))

    def clip(self, min=None, max=None):
        return Matrix(np.clip(self.array, min, max))

    def round(self, decimals=0):
        return Matrix(np.round(self.array, decimals))

    def cumsum(self, axis=None):
        return rows(np.cumsum(self.array, axis))

    def repeat(self, repeats, axis=None):
        return rows(np.repeat(self.array, repeats, axis))

    def fill(self, value):
        self.array.fill(value)

    def nonzero(self):
        return np.nonzero(self.array)

    def reduced(self, function, axis, **kwargs):
        if axis is None:
            return function(self.array, **kwargs)
        return Matrix(np.expand_dims(function(self.array, axis=axis, **kwargs), axis))

    def sum(self, axis=None, dtype=None):
        return self.reduced(np.sum, axis, dtype=dtype)

    def mean(self, axis=None, dtype=None):
        return self.reduced(np.mean, axis, dtype=dtype)

    def std(self, axis=None, dtype=None, ddof=0):
        return self.reduced(np.std, axis, ddof=ddof)

    def var(self, axis=None, dtype=None, ddof=0):
        return self.reduced(np.var, axis, ddof=ddof)

    def prod(self, axis=None, dtype=None):
        return self.reduced(np.prod, axis, dtype=dtype)

    def max(self, axis=None):
        return self.reduced(np.max, axis)

    def min(self, axis=None):
        return self.reduced(np.min, axis)

    def any(self, axis=None):
        return self.reduced(np.any, axis)

    def all(self, axis=None):
        return self.reduced(np.all, axis)

    def argmax(self, axis=None):
        return self.reduced(np.argmax, axis)

    def argmin(self, axis=None):
        return self.reduced(np.argmin, axis)

    def ptp(self, axis=None):
        return self.reduced(np.ptp, axis)

    def median(self, axis=None):
        return self.reduced(np.median, axis)

    def average(self, axis=None, weights=None):
        return self.reduced(np.average, axis, weights=plain(weights))


stands_for[Matrix] = np.matrix


def plain(x):
    """A value with arrays in place of matrices."""
    if isinstance(x, Matrix):
        return x.array
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, tuple):
        return tuple([plain(v) for v in x])
    if isinstance(x, list):
        return [plain(v) for v in x]
    return x


def rows(x):
    """What is computed of a matrix, as one: a vector is a row."""
    if isinstance(x, tuple):
        return tuple([rows(v) for v in x])
    if isinstance(x, Matrix):
        return x
    if np.ndim(x) == 1:
        return Matrix(x[None, :])
    return Matrix(x) if np.ndim(x) == 2 else x


def matrix_of(x):
    """What is computed of a matrix, as one if it is an array of two dimensions."""
    return Matrix(x) if isinstance(x, np.ndarray) and np.ndim(x) == 2 else x


def two_dimensional(x):
    return x if isinstance(x, np.ndarray) and np.ndim(x) == 2 else np.atleast_2d(x)


def is_array(x):
    return isinstance(x, (Matrix, np.ndarray, list, tuple))


def is_column(index):
    """Whether an index that leaves one axis takes a column."""
    if not isinstance(index, tuple) or len(index) < 2:
        return False
    return not isinstance(index[1], slice) and np.ndim(index[1]) == 0


def is_basic(index):
    """Whether an index takes a view."""
    if isinstance(index, tuple):
        return all(is_basic(item) for item in index)
    return not isinstance(index, (list, np.ndarray, Matrix))


def text_matrix(text):
    """The array of a matrix that a text describes."""
    return np.array(np.matrix(text))


made_of[np.matrix] = (Matrix, "A")


@definition(np.matrix)
def matrix(object, dtype=None, copy=True):
    if isinstance(object, str):
        return Matrix(text_matrix(object))
    found = np.array(plain(object)) if dtype is None else np.array(plain(object), dtype)
    return Matrix(two_dimensional(found))


@definition(np.asmatrix)
def asmatrix(object, dtype=None):
    if isinstance(object, str):
        return Matrix(text_matrix(object))
    found = np.asarray(plain(object)) if dtype is None else np.asarray(plain(object), dtype)
    return Matrix(two_dimensional(found))


@definition(np.bmat)
def bmat(obj, ldict=None, gdict=None):
    return Matrix(two_dimensional(np.block(plain(obj))))
