"""The methods of ufuncs: `np.add.reduce` and its like mean the same as other NumPy functions."""

from __future__ import annotations

import numpy as np

from .registry import adjoint, definition, inplace_rules, lookup, refuse, zero
from .shaping import along, at

REDUCTIONS = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
    np.logical_and: np.all,
    np.logical_or: np.any,
}
CUMULATIONS = {np.add: np.cumsum, np.multiply: np.cumprod}


def _reduce(whole):
    """What `ufunc.reduce` is short for. Its axis is 0 where that of np.sum is None."""

    def reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True):
        options = {}
        if dtype is not None:
            options = {**options, "dtype": dtype}
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
        if out is not None:
            return whole(array, axis, dtype, out=out)
        if dtype is not None:
            return whole(array, axis, dtype)
        return whole(array, axis)

    return accumulate


def _outer(ufunc):
    def outer(A, B, *, out=None):
        A, B = np.asarray(A), np.asarray(B)
        if B.ndim:
            A = np.reshape(A, (*A.shape, *(1 for _ in range(B.ndim))))
        if out is not None:
            return ufunc(A, B, out=out)
        return ufunc(A, B)

    return outer


@definition(np.subtract.reduce)
def subtract_reduce(array, axis=0):
    """The first element less all others."""
    return 2 * np.take(array, 0, axis) - np.sum(array, axis)


@definition(np.divide.reduce)
def divide_reduce(array, axis=0):
    rest = array[at(along(axis, array.ndim), slice(1, None))]
    return np.take(array, 0, axis) / np.prod(rest, axis)


@definition(np.logaddexp.reduce)
def logaddexp_reduce(array, axis=0, keepdims=False):
    highest = np.max(array, axis, keepdims=True)
    highest = np.where(np.isfinite(highest), highest, 0.0)
    total = np.log(np.sum(np.exp(array - highest), axis, keepdims=True)) + highest
    return total if keepdims else np.squeeze(total, axis)


@definition(np.hypot.reduce)
def hypot_reduce(array, axis=0, keepdims=False):
    return np.linalg.norm(array, axis=axis, keepdims=keepdims)


@adjoint(np.maximum.accumulate, np.minimum.accumulate, note="of ties, the last one")
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
    starts = np.asarray(indices) % n
    ends = np.append(starts[1:], n)
    lengths = np.maximum(ends - starts, 1)
    before = np.cumsum(lengths) - lengths
    places = np.repeat(starts - before, lengths) + np.arange(np.sum(lengths))
    d_array = np.zeros(array.shape, d_out.dtype)
    np.add.at(d_array, at(axis, places), np.repeat(d_out, lengths, axis))
    return d_array


def register() -> None:
    """File the methods of all ufuncs, when the rules of these are known."""
    for name in dir(np):
        ufunc = getattr(np, name)
        if not isinstance(ufunc, np.ufunc):
            continue
        record = lookup(ufunc)
        constant = record is not None and record.zero
        if ufunc in REDUCTIONS:
            definition(ufunc.reduce)(_reduce(REDUCTIONS[ufunc]))
        if ufunc in CUMULATIONS:
            definition(ufunc.accumulate)(_accumulate(CUMULATIONS[ufunc]))
        if not constant and ufunc.nin == 2 and ufunc.nout == 1 and ufunc.signature is None:
            definition(ufunc.outer)(_outer(ufunc))
        for method in ("reduce", "accumulate", "reduceat", "outer"):
            bound = getattr(ufunc, method)
            if constant:
                zero(bound)
            else:
                refuse(bound, reason=f"write np.{name} in a loop over the elements")
        if ufunc.at not in inplace_rules:
            refuse(
                ufunc.at,
                reason="it writes in place: use np.add.at, np.subtract.at, or write a loop",
                always=True,
            )
