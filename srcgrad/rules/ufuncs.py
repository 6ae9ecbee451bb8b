"""The methods of ufuncs: `np.add.reduce` and its like mean the same as other NumPy functions."""

from __future__ import annotations

import numpy as np

from .helpers import all_axes, axes_of, other_axes, reduced_first
from .registry import adjoint, definition, definitions, inplace_rules, lookup, refuse, zero
from .shaping import along, at

REDUCTIONS = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
    np.fmax: np.nanmax,
    np.fmin: np.nanmin,
    np.logical_and: np.all,
    np.logical_or: np.any,
}
UNSOUND = (np.power, np.arctan2)  # NumPy's results depend on how the array lies in memory
CUMULATIONS = {np.add: np.cumsum, np.multiply: np.cumprod}


def _reduce(whole):
    """What `ufunc.reduce` is short for. Its axis is 0 where that of np.sum is None."""

    def reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True):
        options = {}
        if dtype is not None:
            if whole is np.sum or whole is np.prod:
                options = {**options, "dtype": dtype}
            else:
                array = np.asarray(array, dtype)
        if keepdims:
            options = {**options, "keepdims": True}
        if initial is not None:
            options = {**options, "initial": initial}
        if where is not True:
            options = {**options, "where": where}
        if out is not None:
            options = {**options, "out": out}
        return whole(array, axis, **options)

    return reduce


def _accumulate(whole):
    def accumulate(array, axis=0, dtype=None, out=None):
        check_accumulated(array, axis)
        if out is not None:
            return whole(array, axis, dtype, out=out)
        if dtype is not None:
            return whole(array, axis, dtype)
        return whole(array, axis)

    return accumulate


def check_accumulated(array, axis):
    """What NumPy demands of an array and an axis along which results are accumulated."""
    if np.ndim(array) == 0:
        raise TypeError("cannot accumulate on a scalar")
    if axis is None and np.ndim(array) > 1:
        raise ValueError("accumulate does not allow multiple axes")


def _outer(ufunc):
    def outer(A, B, *, out=None):
        A, B = typed(A, B), typed(B, A)
        for _ in range(np.ndim(B)):
            A = np.expand_dims(A, -1)
        if out is not None:
            return ufunc(A, B, out=out)
        return ufunc(A, B)

    return outer


def typed(number, other):
    """An operand of `ufunc.outer`, which counts a Python number with the dtype it has as an array.

    >>> np.add.outer(np.ones(1, np.float32), typed(2.0, np.ones(1, np.float32))).dtype
    dtype('float64')
    """
    if isinstance(number, np.generic) or not isinstance(number, (int, float, complex)):
        return number
    widest = isinstance(other, (int, float, complex)) or np.asarray(other).dtype.char in "dD"
    return number if widest else np.asarray(number)


def marked(array, axis, keepdims, where, identity):
    """The elements of a reduction along the first axis, `identity` for those left out; and the
    shape of its result.
    """
    if where is not True:
        array = np.where(where, array, identity)
    shape = np.shape(array)
    for k in () if axis is None else axis if isinstance(axis, tuple) else (axis,):
        if not -max(len(shape), 1) <= k < max(len(shape), 1):
            raise np.exceptions.AxisError(k, len(shape))
    if keepdims:
        axes = axes_of(len(shape), axis)
        kept = tuple(1 if i in axes else shape[i] for i in all_axes(len(shape)))
    else:
        kept = tuple(shape[i] for i in other_axes(len(shape), axis))
    return reduced_first(array, axis), kept


def delivered(result, shape, out):
    """The result of a reduction in its shape, or in the array that was given for it."""
    result = np.reshape(result, shape) if np.shape(result) != shape else result
    if out is not None:
        out[...] = result
        return out
    return result


def check_ordered(array, axis, initial, where):
    """What NumPy demands of a reduction whose order matters, and that has no neutral element."""
    if len(axes_of(np.ndim(array), axis)) > 1:
        raise ValueError("the order of the elements matters, so only one axis can be reduced")
    if where is not True and initial is None:
        raise ValueError("to use a where mask, `initial` has to be given")


def check_any(elements, initial):
    """A reduction that has no neutral element needs something to begin with."""
    if initial is None and len(elements) == 0:
        raise ValueError("zero-size array to reduction operation which has no identity")


@definition(np.subtract.reduce)
def subtract_reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """The first element less all others."""
    array = np.asarray(array, dtype)
    check_ordered(array, axis, initial, where)
    elements, shape = marked(array, axis, keepdims, where, 0)
    check_any(elements, initial)
    first = 2 * elements[0] if initial is None else initial
    return delivered(first - np.sum(elements, 0), shape, out)


@definition(np.divide.reduce)
def divide_reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True):
    array = np.asarray(array, dtype)
    check_ordered(array, axis, initial, where)
    elements, shape = marked(array, axis, keepdims, where, 1)
    check_any(elements, initial)
    if initial is None:
        return delivered(elements[0] / np.prod(elements[1:], 0), shape, out)
    return delivered(initial / np.prod(elements, 0), shape, out)


def _log_of_sum(ufunc, exp, log):
    """The reduction of a `logaddexp`: the sum's logarithm, without overflow."""

    def reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True):
        array = np.asarray(array, dtype)
        elements, shape = marked(array, axis, keepdims, where, -np.inf)
        if np.size(array) == 0:
            total = np.full(np.shape(elements)[1:], -np.inf)
        else:
            highest = np.max(elements, 0)
            nothing = highest == -np.inf  # the sum is zero, and the derivative as well
            highest = np.where(np.isfinite(highest), highest, 0.0)
            total = log(np.sum(exp(elements - highest), 0) + nothing) + highest
            total = np.where(nothing, -np.inf, total)[()]
        return delivered(total if initial is None else ufunc(initial, total), shape, out)

    return reduce


definition(np.logaddexp.reduce)(_log_of_sum(np.logaddexp, np.exp, np.log))
definition(np.logaddexp2.reduce)(_log_of_sum(np.logaddexp2, np.exp2, np.log2))


@definition(np.hypot.reduce)
def hypot_reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True):
    array = np.asarray(array, dtype)
    elements, shape = marked(array, axis, keepdims, where, 0)
    length = np.linalg.norm(elements, axis=0)
    return delivered(length if initial is None else np.hypot(initial, length), shape, out)


def _one_by_one(ufunc):
    """The methods of a ufunc that has no faster form of them."""

    def reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True):
        array = np.asarray(array, dtype)
        elements, shape = marked(array, axis, keepdims, True, 0)
        if where is not True:
            where, _ = marked(np.broadcast_to(where, np.shape(array)), axis, False, True, 0)
        check_any(elements, initial)
        if initial is None:
            total, start = elements[0], 1
        else:
            total, start = np.full(np.shape(elements)[1:], initial, elements.dtype), 0
        for i in range(start, len(elements)):
            if where is True:
                total = ufunc(total, elements[i])
            else:
                total = np.where(where[i], ufunc(total, elements[i]), total)
        return delivered(total, shape, out)

    def accumulate(array, axis=0, dtype=None, out=None):
        array = np.asarray(array, dtype)
        check_accumulated(array, axis)
        axis = 0 if axis is None else axis
        rows = np.moveaxis(array, axis, 0)
        results = np.array(rows, ufunc(rows[:0], rows[:0]).dtype)
        for i in range(1, len(rows)):
            results[i] = ufunc(results[i - 1], rows[i])
        return delivered(np.moveaxis(results, 0, axis), array.shape, out)

    return reduce, accumulate


def _reduceat(ufunc):
    def reduceat(array, indices, axis=0, dtype=None, out=None):
        """From each index to the next one, or the element itself where that doesn't come later."""
        rows = np.moveaxis(np.asarray(array, dtype), axis, 0)
        starts = np.asarray(indices, np.intp)
        if np.any((starts < 0) | (starts >= len(rows))):
            raise IndexError("an index of reduceat is out of bounds")
        results = np.empty((len(starts), *rows.shape[1:]), ufunc(rows[:0], rows[:0]).dtype)
        for i in range(len(starts)):
            stop = starts[i + 1] if i + 1 < len(starts) else len(rows)
            if starts[i] + 1 < stop:
                results[i] = ufunc.reduce(rows[starts[i] : stop])
            else:
                results[i] = rows[starts[i]]
        results = np.moveaxis(results, 0, axis)
        return delivered(results, np.shape(results), out)

    return reduceat


def _at(ufunc):
    """What `ufunc.at` does, which takes the elements one after the other: they may be repeated."""

    def at_one(a, indices):
        places = np.unravel_index(np.arange(a.size).reshape(a.shape)[indices].ravel(), a.shape)
        for i in range(len(places[0])):
            place = tuple(p[i] for p in places)
            a[place] = ufunc(a[place])

    def at_two(a, indices, b):
        numbers = np.arange(a.size).reshape(a.shape)[indices]
        b = np.broadcast_to(b, np.shape(numbers)).ravel()
        places = np.unravel_index(np.ravel(numbers), a.shape)
        for i in range(len(places[0])):
            place = tuple(p[i] for p in places)
            a[place] = ufunc(a[place], b[i])

    return at_one if ufunc.nin == 1 else at_two


@adjoint(
    *(ufunc.accumulate for ufunc in (np.maximum, np.minimum, np.fmax, np.fmin)),
    note="of ties, the last one",
)
def extreme_accumulate(array, axis=0, dtype=None, *, out, d_out):
    """Each result is the latest element that equals it."""
    axis = along(axis, array.ndim)
    places = np.arange(array.shape[axis])[(..., *(None,) * (array.ndim - 1 - axis))]
    latest = np.maximum.accumulate(np.where(array == out, places, 0), axis)
    key = ()
    for i in range(array.ndim):
        if i == axis:
            key = (*key, latest)
        else:
            key = (*key, np.arange(array.shape[i])[(..., *(None,) * (array.ndim - 1 - i))])
    d_array = np.zeros(array.shape, d_out.dtype)
    np.add.at(d_array, key, d_out)
    return d_array


@adjoint(np.add.reduceat)
def add_reduceat(array, indices, axis=0, dtype=None, *, out, d_out):
    """Spread each sum's adjoint over the elements from its index to the next one."""
    axis = along(axis, array.ndim)
    n = array.shape[axis]
    starts = np.asarray(indices, np.intp)
    ends = np.append(starts[1:], n)
    lengths = np.maximum(ends - starts, 1)
    d_parts = np.repeat(d_out, lengths, axis)
    d_array = np.zeros(array.shape, d_out.dtype)
    if np.all(starts < ends):
        d_array[at(axis, slice(n - np.sum(lengths), None))] = d_parts
    else:
        before = np.cumsum(lengths) - lengths
        places = np.repeat(starts - before, lengths) + np.arange(np.sum(lengths))
        np.add.at(d_array, at(axis, places), d_parts)
    return d_array


def register() -> None:
    """File the methods of all ufuncs, when the rules of these are known."""
    for name, ufunc in sorted(
        vars(np).items()
    ):  # not dir(np): NumPy imports modules as they're read
        if not isinstance(ufunc, np.ufunc):
            continue
        record = lookup(ufunc)
        constant = record is not None and record.zero and "dd->d" not in ufunc.types
        binary = ufunc.nin == 2 and ufunc.nout == 1 and ufunc.signature is None
        if ufunc in REDUCTIONS:
            definition(ufunc.reduce)(_reduce(REDUCTIONS[ufunc]))
        if ufunc in CUMULATIONS:
            definition(ufunc.accumulate)(_accumulate(CUMULATIONS[ufunc]))
        if binary and not constant:
            reduce, accumulate = _one_by_one(ufunc)
            definition(ufunc.outer)(_outer(ufunc))
            if ufunc.accumulate not in definitions and lookup(ufunc.accumulate) is None:
                definition(ufunc.accumulate)(accumulate)
            if ufunc in UNSOUND:
                reason = "what NumPy returns depends on how the array lies in memory: write a loop"
                refuse(ufunc.reduce, ufunc.reduceat, reason=reason)
            else:
                if ufunc.reduce not in definitions:
                    definition(ufunc.reduce)(reduce)
                if lookup(ufunc.reduceat) is None:
                    definition(ufunc.reduceat)(_reduceat(ufunc))
        for method in ("reduce", "accumulate", "reduceat", "outer"):
            bound = getattr(ufunc, method)
            if constant:
                zero(bound)
            elif not binary:
                refuse(bound, reason=f"np.{name} has no such method: it is for functions of two")
        if ufunc.at not in inplace_rules:
            if ufunc.nin <= 2 and ufunc.nout == 1 and ufunc.signature is None:
                definition(ufunc.at)(_at(ufunc))
            else:
                refuse(ufunc.at, reason=f"np.{name} has no such method", always=True)
