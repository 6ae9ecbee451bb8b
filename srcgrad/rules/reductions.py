"""Sums, means, variances, extrema and products along axes."""

from __future__ import annotations

import math

import numpy as np

from .helpers import (
    argsort,
    at_least_1,
    check_dtype,
    everywhere,
    only_along,
    other_axes,
    products_of_others,
    reduced_size,
    restore_axes,
    shares,
)
from .registry import adjoint, rereads, summing_in_out, zero

summing_in_out.update((np.sum, np.prod, np.cumsum, np.cumprod, np.trace))
summing_in_out.update((np.nansum, np.nanprod, np.nancumsum, np.nancumprod))

# Sums and means


@adjoint(np.sum)
def sum(a, axis=None, dtype=None, initial=None, *, keepdims=False, where=True, out, d_out):
    d_a = spread(restore_axes(d_out, a, axis, keepdims), a, where)
    return d_a if initial is None else (d_a, None, None, total(d_out))


def total(d_out):
    """The adjoint of what each of the results begins with."""
    return np.sum(d_out) if np.ndim(d_out) else d_out


def spread(d_a, a, where):
    """The adjoint of each of the numbers that are added up."""
    return np.broadcast_to(d_a if everywhere(where) else d_a * where, np.shape(a))


@adjoint(np.nansum)
def nansum(a, axis=None, dtype=None, initial=None, *, keepdims=False, where=True, out, d_out):
    d_a = restore_axes(d_out, a, axis, keepdims) * ~np.isnan(a)
    d_a = d_a if everywhere(where) else d_a * where
    return d_a if initial is None else (d_a, None, None, total(d_out))


@adjoint(np.mean)
def mean(a, axis=None, dtype=None, *, keepdims=False, where=True, out, d_out):
    n = counted(a, axis, keepdims, where, out)
    d_a = d_out / (n if np.ndim(n) else at_least_1(n))
    return spread(restore_axes(d_a, a, axis, keepdims), a, where)


def counted(a, axis, keepdims, where, out):
    """How many numbers each result is made of."""
    if everywhere(where):
        return reduced_size(a, axis)
    mask = np.broadcast_to(where, np.shape(a))
    return np.sum(mask, axis=axis, dtype=out.dtype, keepdims=keepdims)


@adjoint(np.nanmean)
def nanmean(a, axis=None, dtype=None, *, keepdims=False, where=True, out, d_out):
    there = ~np.isnan(a) if everywhere(where) else ~np.isnan(a) & where
    d_a = restore_axes(d_out, a, axis, keepdims)
    return shares(there, d_a, axis, out.dtype)


@adjoint(np.average)
def average(a, axis=None, weights=None, *, returned=False, keepdims=False, out, d_out):
    if returned:
        (out, _), (d_out, d_total) = out, d_out
        d_a, _, d_weights = d_average(a, axis, weights, keepdims, out, d_out)
        if weights is None:
            return d_a
        if np.ndim(weights) == np.ndim(a):
            return d_a, None, d_weights + restore_axes(d_total, a, axis, keepdims)
        return d_a, None, d_weights + np.sum(d_total)
    return d_average(a, axis, weights, keepdims, out, d_out)


def d_average(a, axis, weights, keepdims, out, d_out):
    if weights is None:
        shared = restore_axes(d_out / at_least_1(reduced_size(a, axis)), a, axis, keepdims)
        return np.broadcast_to(shared, np.shape(a)), None, None
    d_out, out = restore_axes(d_out, a, axis, keepdims), restore_axes(out, a, axis, keepdims)
    if np.ndim(weights) == np.ndim(a):
        scaled = d_out / np.sum(weights, axis=axis, keepdims=True)
        return scaled * weights, None, scaled * (a - out)
    # the weights have the reduced axes only, in the order given
    ndim, axes = np.ndim(a), axis if isinstance(axis, tuple) else (axis,)
    order = argsort(axes, ndim)
    scaled = d_out / np.sum(weights)
    d_a = scaled * np.transpose(weights, order)[only_along(ndim, axis)]
    d_weights = np.sum(scaled * (a - out), axis=other_axes(ndim, axis))
    return d_a, None, np.transpose(d_weights, argsort(order, len(order)))


# Variances


@adjoint(np.var)
def var(
    a, axis=None, dtype=None, mean=None, *, ddof=0, keepdims=False, where=True, correction=None,
    out, d_out,
):  # fmt: skip
    check_dtype(dtype, a)
    out, d_out = np.real(out), np.real(d_out)
    n = counted(a, axis, keepdims, where, out)
    scaled = 2 * d_out / degrees_of_freedom(n, ddof, correction)
    d_a = restore_axes(scaled, a, axis, keepdims) * deviations(a, axis, where, mean)
    d_a = d_a if everywhere(where) else d_a * where
    return d_a if mean is None else (d_a, None, None, -d_a)


@adjoint(np.std)
def std(
    a, axis=None, dtype=None, mean=None, *, ddof=0, keepdims=False, where=True, correction=None,
    out, d_out,
):  # fmt: skip
    check_dtype(dtype, a)
    out, d_out = np.real(out), np.real(d_out)
    n = counted(a, axis, keepdims, where, out)
    scaled = d_out / (degrees_of_freedom(n, ddof, correction) * (out + (out == 0)))
    d_a = restore_axes(scaled, a, axis, keepdims) * deviations(a, axis, where, mean)
    d_a = d_a if everywhere(where) else d_a * where
    return d_a if mean is None else (d_a, None, None, -d_a)


def degrees_of_freedom(n, ddof, correction):
    lost = ddof if correction is None else correction
    if np.ndim(n):
        return n if lost == 0 else n - lost
    return n - lost if n > lost else math.nan


def deviations(a, axis, where, mean):
    """The differences from the mean, conjugated."""
    if mean is None:
        if not everywhere(where):
            mean = np.mean(a, axis=axis, keepdims=True, where=where)
        elif axis is None:
            mean = np.mean(a)
        else:
            mean = np.mean(a, axis=axis, keepdims=True)
    return np.conj(a - mean) if np.iscomplexobj(a) else a - mean


@adjoint(np.nanvar)
def nanvar(
    a, axis=None, dtype=None, mean=None, *, ddof=0, keepdims=False, where=True, correction=None,
    out, d_out,
):  # fmt: skip
    check_dtype(dtype, a)
    out, d_out = np.real(out), np.real(d_out)
    there = ~np.isnan(a) if everywhere(where) else ~np.isnan(a) & where
    n = np.sum(there, axis=axis, dtype=out.dtype, keepdims=keepdims)
    scaled = 2 * d_out / degrees_of_freedom(n, ddof, correction)
    known = np.where(there, a, 0.0)
    d_a = restore_axes(scaled, a, axis, keepdims) * deviations(known, axis, there, mean) * there
    return d_a if mean is None else (d_a, None, None, -d_a)


@adjoint(np.nanstd)
def nanstd(
    a, axis=None, dtype=None, mean=None, *, ddof=0, keepdims=False, where=True, correction=None,
    out, d_out,
):  # fmt: skip
    check_dtype(dtype, a)
    out, d_out = np.real(out), np.real(d_out)
    there = ~np.isnan(a) if everywhere(where) else ~np.isnan(a) & where
    n = np.sum(there, axis=axis, dtype=out.dtype, keepdims=keepdims)
    scaled = d_out / (degrees_of_freedom(n, ddof, correction) * (out + (out == 0)))
    known = np.where(there, a, 0.0)
    d_a = restore_axes(scaled, a, axis, keepdims) * deviations(known, axis, there, mean) * there
    return d_a if mean is None else (d_a, None, None, -d_a)


# Extrema


@adjoint(np.max, np.amax, np.min, np.amin, np.nanmax, np.nanmin)
def max(a, axis=None, initial=None, *, keepdims=False, where=True, out, d_out):
    """Equal shares for all that attain the extremum, `initial` included."""
    out = restore_axes(out, a, axis, keepdims)
    d_out = restore_axes(d_out, a, axis, keepdims)
    mask = a == out if everywhere(where) else (a == out) & where
    if initial is None:
        return shares(mask, d_out, axis, out.dtype)
    count = np.sum(mask, axis=axis, dtype=out.dtype, keepdims=axis is not None)
    share = d_out / (count + (out == initial))
    return mask * share, None, total(share * (out == initial))


@adjoint(np.ptp)
def ptp(a, axis=None, *, keepdims=False, out, d_out):
    d_out = restore_axes(d_out, a, axis, keepdims)
    high = a == np.max(a, axis=axis, keepdims=axis is not None)
    low = a == np.min(a, axis=axis, keepdims=axis is not None)
    return shares(high, d_out, axis, out.dtype) - shares(low, d_out, axis, out.dtype)


rereads(np.ptp, written="out")


# Products


@adjoint(np.prod)
def prod(a, axis=None, dtype=None, initial=None, *, keepdims=False, where=True, out, d_out):
    check_dtype(dtype, a)
    return d_products(a, None if everywhere(where) else where, axis, keepdims, initial, out, d_out)


@adjoint(np.nanprod)
def nanprod(a, axis=None, dtype=None, initial=None, *, keepdims=False, where=True, out, d_out):
    check_dtype(dtype, a)
    there = ~np.isnan(a) if everywhere(where) else ~np.isnan(a) & where
    return d_products(a, there, axis, keepdims, initial, out, d_out)


def d_products(a, there, axis, keepdims, initial, out, d_out):
    """The adjoints of the factors that are there, and of what each product begins with."""
    factors = a if there is None else np.where(there, a, 1.0)
    d_a = d_prod(factors, axis, keepdims, initial, out, d_out)
    d_a = d_a if there is None else there * d_a
    if initial is None:
        return d_a
    return d_a, None, None, total(d_out * np.prod(factors, axis=axis, keepdims=keepdims))


def d_prod(a, axis, keepdims, initial, out, d_out):
    if np.all(out) if np.ndim(out) else out != 0:
        return restore_axes(d_out * out, a, axis, keepdims) / a
    if initial is not None:
        d_out = d_out * initial
    return restore_axes(d_out, a, axis, keepdims) * products_of_others(a, axis)


# Piecewise constant

zero(np.any, np.all, note="a truth value")
zero(np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.count_nonzero, note="an integer")
