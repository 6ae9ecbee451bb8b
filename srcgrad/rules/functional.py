"""Functions that call a function: what they do, as code that is lowered like any other."""

from __future__ import annotations

import numpy as np

from .registry import definition, refuse


@definition(np.fromfunction)
def fromfunction(function, shape, *, dtype=float, **kwargs):
    return function(*np.indices(shape, dtype=dtype), **kwargs)


@definition(np.apply_over_axes)
def apply_over_axes(func, a, axes):
    if isinstance(axes, int):
        axes = (axes,)
    for axis in axes:
        result = func(a, axis)
        a = result if result.ndim == a.ndim else np.expand_dims(result, axis)
    return a


@definition(np.apply_along_axis)
def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    rows = np.moveaxis(arr, axis, -1)
    lead = rows.shape[:-1]
    rows = rows.reshape(-1, arr.shape[axis])
    results = np.array([func1d(row, *args, **kwargs) for row in rows])
    results = results.reshape((*lead, *results.shape[1:]))
    if results.ndim == len(lead):
        return results
    for i in range(results.ndim - len(lead)):
        results = np.moveaxis(results, len(lead) + i, axis % arr.ndim + i)
    return results


@definition(np.piecewise)
def piecewise(x, condlist, funclist, *args, **kw):
    """Each function sees only the elements where its condition holds, the last one that does."""
    if not isinstance(condlist, (list, tuple)):
        condlist = [condlist]
    y = np.zeros_like(x)
    rest = None
    for condition in condlist:
        rest = condition if rest is None else rest | condition
    for i in range(len(funclist)):
        condition = condlist[i] if i < len(condlist) else ~rest
        function = funclist[i]
        if callable(function):
            y[condition] = function(x[condition], *args, **kw)
        else:
            y[condition] = function
    return y


@definition(type(np.r_).__getitem__)
def joined(self, key):
    """What `np.r_[...]` and `np.c_[...]` join: arrays, numbers and ranges."""
    items = key if isinstance(key, tuple) else (key,)
    if self is np.c_:
        return np.concatenate([part(item, 2) for item in items], -1)
    return np.concatenate([part(item, 1) for item in items])


def part(item, ndim):
    """An item of `np.r_` or `np.c_` as an array of at least so many dimensions."""
    if isinstance(item, slice):
        start = 0 if item.start is None else item.start
        if isinstance(item.step, complex):
            array = np.linspace(start, item.stop, int(abs(item.step)))
        else:
            array = np.arange(start, item.stop, 1 if item.step is None else item.step)
    else:
        array = np.atleast_1d(item)
    return array[:, None] if array.ndim < ndim else array


@definition(np.ndarray)
def ndarray(shape, dtype=float, *, order="C"):
    return np.empty(shape, dtype, order)


@definition(np.place)
def place(arr, mask, vals):
    arr[mask] = np.resize(vals, np.count_nonzero(mask))


@definition(np.putmask)
def putmask(a, mask, values):
    a[mask] = np.resize(values, a.shape)[mask]


@definition(np.kaiser)
def kaiser(M, beta):
    if M <= 1:
        return np.ones(M)
    middle = (M - 1) / 2.0
    return np.i0(beta * np.sqrt(1 - ((np.arange(M) - middle) / middle) ** 2)) / np.i0(beta)


@definition(np.generic.item)
def item(x):
    """A Python number."""
    if x.dtype.kind == "f":
        return float(x)
    if x.dtype.kind == "c":
        return complex(x)
    return bool(x) if x.dtype.kind == "b" else int(x)


@definition(np.ndarray.tolist)
def tolist(a):
    if a.ndim == 0:
        return a.item()
    if a.ndim == 1:
        return [item(number) for number in a]
    return [tolist(row) for row in a]


refuse(
    np.vectorize,
    np.frompyfunc,
    reason="it calls a Python function on each element: write the loop, "
    "or call the function with the whole array",
)
