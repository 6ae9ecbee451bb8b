"""Functions that write an array in place: their reverse rules, or what they are short for.

In a rule `x` is the array before the call and `d_x` its adjoint buffer, updated in place. `out` is
the array after it, or None where that isn't there any more.
"""

from __future__ import annotations

import math
import operator

import numpy as np

from .. import runtime
from .elementwise import log_of_base
from .products import matmul
from .registry import adjoint, definition, inplace, rereads


@inplace(operator.setitem)
def setitem(x, key, value, *, d_x):
    d_value = d_x[key]
    if isinstance(d_value, np.ndarray):  # x[..., 0] is a view, without axes
        d_value = d_value.copy()
    d_x[key] = 0
    return None, None, d_value


@adjoint(runtime.last_written)
def last_written(d_array, key, *, out, d_out):
    d_d_array = np.zeros(d_array.shape, d_array.dtype)
    d_d_array[key] = d_out  # of equal indices the last one counts, here too
    return d_d_array


inplace(operator.iadd)(lambda x, y, *, d_x: (None, d_x))
inplace(operator.isub)(lambda x, y, *, d_x: (None, -d_x))


@inplace(operator.imul)
def imul(x, y, *, d_x):
    d_y = d_x * x
    d_x *= y
    return None, d_y


@inplace(operator.itruediv)
def itruediv(x, y, *, out, d_x):
    d_x /= y
    return None, -(d_x * x / y if out is None else d_x * out)


@inplace(operator.ipow)
def ipow(x, y, *, d_x):
    d_y = d_x * x**y * log_of_base(x, y)
    d_x *= y * x ** np.where(y == 0, 1.0, y - 1.0)
    return None, d_y


inplace(operator.imod)(lambda x, y, *, d_x: (None, -d_x * (x // y)))


@inplace(operator.ifloordiv)
def ifloordiv(x, y, *, d_x):
    d_x[...] = 0
    return None, None


@inplace(operator.imatmul)
def imatmul(x, y, *, d_x):
    d_old, d_y = matmul(x, y, out=None, d_out=d_x)
    d_x[...] = d_old
    return None, d_y


inplace(np.add.at)(lambda x, indices, b, *, d_x: (None, None, d_x[indices]))
inplace(np.subtract.at)(lambda x, indices, b, *, d_x: (None, None, -d_x[indices]))


@definition(np.copyto)
def copyto(dst, src, casting="same_kind", where=True):
    check_cast(src, dst, casting)
    if where is True:
        dst[...] = src
    else:
        mask = np.broadcast_to(where, np.shape(dst))
        dst[mask] = np.broadcast_to(src, np.shape(dst))[mask]


def check_cast(values, array, casting):
    """Raise TypeError if an array can't take values of their dtype; Python's numbers have none."""
    given = np.asarray(values).dtype
    if isinstance(values, (int, float, complex)) and not isinstance(values, np.generic):
        given = np.result_type(array.dtype, values)
    if not np.can_cast(given, array.dtype, casting):
        raise TypeError("the values can't be cast to the dtype of the array")


@definition(np.ndarray.fill)
def fill(a, value):
    a[...] = value


@definition(np.ndarray.sort)
def sort(a, axis=-1, kind=None, *, stable=None):
    a[...] = np.sort(a, operator.index(axis), kind, stable=stable)


@definition(np.ndarray.partition)
def partition(a, kth, axis=-1, kind="introselect"):
    a[...] = np.partition(a, kth, operator.index(axis), kind)


def repeated(values, count):
    """As many values as there are places for them: repeated, or the first of them."""
    return values if np.shape(values) in ((), (count,)) else resized(values, count)


def resized(values, shape):
    """Values repeated, or cut, to fill a shape.

    Of no values NumPy's functions make nothing, or fail; `np.resize` makes zeros.
    """
    if np.size(values) == 0 and (math.prod(shape) if isinstance(shape, tuple) else shape) > 0:
        raise ValueError("there are no values to be put into places")
    return np.resize(values, shape)


@definition(np.put)
def put(a, ind, v, mode="raise"):
    places = np.asarray(ind)
    if places.ndim != 1:
        places = places.ravel()
    if places.dtype == bool:
        places = places.astype(int)
    if mode == "wrap":
        places = places % a.size
    elif mode == "clip":
        places = np.clip(places, 0, a.size - 1)
    values = repeated(v, places.size)
    if a.ndim == 0:
        a = a.reshape(1)
    if a.ndim == 1:
        a[places] = values
    else:
        a[np.unravel_index(np.where(places < 0, places + a.size, places), a.shape)] = values


@definition(*[f for f in (getattr(np.ndarray, "itemset", None),) if f is not None])
def itemset(a, key, value):
    a[key] = value


@definition(np.put_along_axis)
def put_along_axis(arr, indices, values, axis):
    key = []
    for i in range(arr.ndim):
        if i == axis % arr.ndim:
            key.append(indices)
        else:
            shape = [1] * arr.ndim
            shape[i] = arr.shape[i]
            key.append(np.arange(arr.shape[i]).reshape(tuple(shape)))
    arr[tuple(key)] = values


@definition(np.fill_diagonal)
def fill_diagonal(a, val, wrap=False):
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and min(a.shape) != max(a.shape):
        raise ValueError("All dimensions of input must be of equal length")
    if wrap and a.ndim == 2:
        n = a.shape[1]
        places = np.arange(0, a.size, n + 1)
        a[places // n, places % n] = repeated(val, places.size)
    else:
        i = np.arange(min(a.shape))
        a[(i,) * a.ndim] = repeated(val, i.size)


rereads(np.fill_diagonal, written=0)

adjoint(runtime.own_copy)(lambda array, *, out, d_out: d_out)
