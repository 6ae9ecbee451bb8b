"""Functions that call a function: what they do, as code that is lowered like any other."""

from __future__ import annotations

import functools

import numpy as np

from .. import runtime
from ..analysis.inference import Inferred
from ..kinds import NOTHING
from .inplace import check_cast, resized
from .registry import definition, effect, inert, kind, refuse, rereads

inert(runtime.check_first)
effect(runtime.check_first)

kind(runtime.check_first)(lambda args, kwargs: Inferred(NOTHING))


@definition(np.fromfunction)
def fromfunction(function, shape, *, dtype=float, **kwargs):
    return function(*np.indices(shape, dtype=dtype), **kwargs)


@definition(np.trim_zeros)
def trim_zeros(filt, trim="fb", axis=None):
    """A view whose bounds follow from the values, so that it must be a slice of known bounds."""
    filt = np.asarray(filt)
    axes = range(filt.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    filled, front, back = filt != 0, "f" in trim.lower(), "b" in trim.lower()
    for k in axes:
        k = k % filt.ndim
        there = np.flatnonzero(filled.any(tuple([j for j in range(filt.ndim) if j != k])))
        start, stop = 0, 0
        if there.size > 0:
            start = there[0] if front else 0
            stop = there[-1] + 1 if back else filled.shape[k]
        filt = filt[(slice(None),) * k + (slice(start, stop),)]
    return filt


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
    results = [func1d(row, *args, **kwargs) for row in rows]
    runtime.check_first(results, "np.apply_along_axis", "have it return floats, as 0.0 for 0")
    results = np.array(results)
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
    if np.ndim(x) == 0:  # numbers can't be indexed
        x, condlist = np.asarray(x), [np.asarray(condition) for condition in condlist]
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
    if isinstance(items[0], str):
        raise NotImplementedError("directives to np.r_: use np.stack or np.concatenate")
    if self is np.c_:
        made = np.concatenate([part(item, 2) for item in items], -1)
    else:
        made = np.concatenate([part(item, 1) for item in items])
    if made.dtype.char in "dD":  # beside arrays of lower precision, Python's numbers have theirs
        found = [item if np.isscalar(item) else part(item, 1).dtype for item in items]
        lower = np.result_type(*found)
        return made if lower == made.dtype else made.astype(lower)
    return made


def part(item, ndim):
    """An item of `np.r_` or `np.c_` as an array of at least so many dimensions."""
    array = numbers(item) if isinstance(item, slice) else np.atleast_1d(np.asarray(item))
    return array[:, None] if array.ndim < ndim else array


def numbers(item):
    """The numbers of a slice; an imaginary step says how many."""
    start = 0 if item.start is None else item.start
    if isinstance(item.step, complex):
        return np.linspace(start, item.stop, int(abs(item.step)))
    return np.arange(start, item.stop, 1 if item.step is None else item.step)


@definition(type(np.s_).__getitem__)
def index_expression(self, key):
    """The index that `np.s_[...]` and `np.index_exp[...]` stand for."""
    return (key,) if self is np.index_exp and not isinstance(key, tuple) else key


@definition(type(np.mgrid).__getitem__)
def grid(self, key):
    """The coordinates that `np.mgrid[...]` and `np.ogrid[...]` give."""
    if not isinstance(key, tuple):
        return numbers(key)
    axes = np.meshgrid(*[numbers(item) for item in key], indexing="ij", sparse=self.sparse)
    return axes if self.sparse else np.stack(axes)


definition(np.ndarray)(lambda shape, dtype=float, *, order="C": np.empty(shape, dtype, order))


def check_put(values, array):
    """Raise TypeError if values can't be put under a mask, which what isn't an array mostly can."""
    if isinstance(values, np.ndarray):
        check_cast(values, array, "safe")
    elif not isinstance(values, np.generic) and np.iscomplexobj(values):
        check_cast(values, array, "same_kind")


@definition(np.place)
def place(arr, mask, vals):
    mask = np.reshape(np.asarray(mask, bool), arr.shape)
    check_put(vals, arr)
    arr[mask] = resized(vals, np.count_nonzero(mask))


rereads(np.place, written=0)


@definition(np.putmask)
def putmask(a, mask, values):
    mask = np.reshape(np.asarray(mask, bool), a.shape)
    check_put(values, a)
    if np.size(values) > 0:
        a[mask] = resized(values, a.shape)[mask]


@definition(np.kaiser)
def kaiser(M, beta):
    if M <= 1:
        return np.ones(int(M == 1))
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


@definition(np.vectorize)
def vectorize(
    pyfunc=np._NoValue, otypes=None, doc=None, excluded=None, cache=False, signature=None
):
    if pyfunc is np._NoValue:
        return functools.partial(
            np.vectorize, otypes=otypes, excluded=excluded, signature=signature
        )

    def vectorized(*args, **kwargs):
        return over_elements(pyfunc, otypes, excluded, signature, args, kwargs)

    return vectorized


@definition(np.vectorize.__call__)
def call_vectorized(self, *args, **kwargs):
    return over_elements(self.pyfunc, self.otypes, self.excluded, self.signature, args, kwargs)


# The dtypes of Python's numbers. Of others, `np.vectorize` gives its function Python's numbers too,
# but asks what dtype it returns of one of NumPy's.
OF_PYTHON = "lqdDO"


def over_elements(function, otypes, excluded, signature, args, kwargs):
    """What a function returns for each element, or each part that the signature tells."""
    excluded = () if excluded is None else tuple(excluded)
    places = varying(excluded, len(args), tuple(kwargs))
    given = [args[i] if isinstance(i, int) else kwargs[i] for i in places]
    given = [a if isinstance(a, np.ndarray) else np.asarray(a) for a in given]
    ranks = core_ranks(signature, len(given))
    leads = [a.shape[: a.ndim - rank] for a, rank in zip(given, ranks, strict=True)]
    lead = leads[0] if len(leads) == 1 else np.broadcast_shapes(*leads)
    flat = []
    for array, rank in zip(given, ranks, strict=True):
        core = array.shape[array.ndim - rank :]
        if len(leads) > 1:
            array = np.broadcast_to(array, (*lead, *core))
        flat.append(array.reshape((-1, *core)) if len(lead) != 1 else array)
    if signature is None and otypes is None and any(a.dtype.char not in OF_PYTHON for a in given):
        first = called(function, places, [a[0] for a in flat], args, kwargs, False)
        made = first if isinstance(first, tuple) else (first,)
        otypes = [np.asarray(item).dtype for item in made]
    results = [
        called(function, places, parts, args, kwargs, signature is None)
        for parts in zip(*flat, strict=True)
    ]
    if not isinstance(results[0], tuple):
        return gathered(results, lead, otypes, 0)
    return tuple(
        gathered([result[i] for result in results], lead, otypes, i) for i in range(len(results[0]))
    )


def called(function, places, parts, args, kwargs, scalars):
    """The function of one element of each argument that varies, and of the others as they are."""
    args, kwargs = list(args), dict(kwargs)
    for place, value in zip(places, parts, strict=True):
        value = value.item() if scalars else value
        if isinstance(place, int):
            args[place] = value
        else:
            kwargs[place] = value
    return function(*args, **kwargs)


def gathered(results, lead, otypes, i):
    """The results of one output as an array."""
    if otypes is None:
        array = np.array(results)
        if not isinstance(results[0], float) or array.dtype != float:
            runtime.check_first(results, "np.vectorize", "give otypes=[float]")
    else:
        array = np.array(results).astype(otypes[i])
    return array if len(lead) == 1 else array.reshape((*lead, *array.shape[1:]))


def varying(excluded, count, names):
    """The positions and names of the arguments whose elements `np.vectorize` takes."""
    places = (*range(count), *names)
    return tuple(p for p in places if p not in excluded)


def core_ranks(signature, count):
    """How many dimensions of each argument a signature as `(n),(m)->()` gives to the function."""
    if signature is None:
        return (0,) * count
    inputs = signature.replace(" ", "").split("->")[0]
    return tuple(len([n for n in core.split(",") if n]) for core in inputs[1:-1].split("),("))


refuse(
    np.frompyfunc,
    reason="it makes arrays of objects: use np.vectorize(function, otypes=[float])",
    always=True,
)
