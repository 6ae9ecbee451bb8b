"""Copies, conversions, and the creation of arrays."""

from __future__ import annotations

import numpy as np

from .helpers import known
from .registry import adjoint, inert, of_bits, refuse, reshapes, zero

# Copies and conversions


def unpacked(value, d_out):
    """`d_out`, or a list of its items where the value is a list or tuple."""
    if not isinstance(value, (list, tuple)):
        return d_out
    if not known(len(value)) and not isinstance(value[0], (list, tuple)):
        return d_out  # its items are the list's
    return [unpacked(value[i], d_out[i]) for i in range(len(value))]


def nesting(value):
    return 1 + nesting(value[0]) if isinstance(value, (list, tuple)) else np.ndim(value)


@adjoint(np.array)
def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, ndmax=0, out, d_out):
    if ndmin and ndmin > nesting(object):
        d_out = d_out[(0,) * (ndmin - nesting(object))]
    return unpacked(object, d_out)


adjoint(np.asarray, np.asanyarray)(
    lambda a, dtype=None, order=None, *, device=None, copy=None, out, d_out: unpacked(a, d_out)
)


@adjoint(np.ascontiguousarray, np.asfortranarray)
def ascontiguousarray(a, dtype=None, *, out, d_out):
    if np.ndim(d_out) > nesting(a):
        d_out = d_out[0]
    return unpacked(a, d_out)


adjoint(np.asarray_chkfinite)(lambda a, dtype=None, order=None, *, out, d_out: unpacked(a, d_out))
adjoint(np.copy)(lambda a, order="K", subok=False, *, out, d_out: unpacked(a, d_out))
adjoint(np.ndarray.copy)(lambda x, order="C", *, out, d_out: d_out)


@adjoint(np.ndarray.view)
def view(x, dtype=None, type=None, *, out, d_out):
    if dtype not in (None, np.ndarray) and np.dtype(dtype) != x.dtype:
        raise NotImplementedError("a view with another dtype: use x.real, x.imag or x.astype")
    return d_out


of_bits(
    *(np.ndarray.view, np.generic.view, float.as_integer_ratio),
    *(t.as_integer_ratio for t in (np.float16, np.float32, np.float64, np.longdouble)),
    reason="the bits of a number are read as something else",
)

adjoint(np.require)(lambda a, dtype=None, requirements=None, *, out, d_out: unpacked(a, d_out))
adjoint(np.ndarray.astype)(
    lambda x, dtype, order="K", casting="unsafe", subok=True, copy=True, *, out, d_out: d_out
)


if hasattr(np, "astype"):
    adjoint(np.astype)(lambda x, dtype, *, copy=True, device=None, out, d_out: d_out)


# NumPy's types of numbers, called: they convert arrays too
FLOATING = {np.float16, np.float32, np.float64, np.longdouble}
FLOATING |= {np.complex64, np.complex128, np.clongdouble}
INTEGERS = {np.dtype(code).type for code in np.typecodes["AllInteger"] + "?"}


adjoint(*FLOATING)(lambda x=0.0, *, out, d_out: d_out)

zero(*INTEGERS, note="an integer, or a truth value")
inert(np.dtype)


@adjoint(np.ndarray.item)
def item(x, *args, out, d_out):
    if not args:
        return d_out if np.ndim(x) == 0 else np.reshape(d_out, x.shape)
    key = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    if len(key) == 1 and x.ndim != 1:
        key = np.unravel_index(key[0] % x.size, x.shape)
    d_x = np.zeros(x.shape, x.dtype)
    d_x[key] = d_out
    return d_x


adjoint(np.ndarray.tolist)(lambda x, *, out, d_out: np.asarray(d_out))

# Creation

adjoint(np.full)(
    lambda shape, fill_value, dtype=None, order="C", *, device=None, out, d_out: (None, d_out)
)


@adjoint(np.full_like)
def full_like(
    a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None, out, d_out
):
    return None, d_out


@adjoint(np.linspace)
def linspace(
    start,
    stop,
    num=50,
    endpoint=True,
    retstep=False,
    dtype=None,
    axis=0,
    *,
    device=None,
    out,
    d_out,
):
    d_start, d_stop = 0, 0
    if retstep:
        d_out, d_step = d_out
        if d_step is not None:
            d_stop = d_step / (num - 1 if endpoint else num)
            d_start = -d_stop
    if d_out is not None:
        if d_out.ndim > 1 and axis != -1:
            d_out = np.moveaxis(d_out, axis, -1)
        d_start = d_out @ np.linspace(1.0, 0.0, num, endpoint) + d_start
        d_stop = d_out @ np.linspace(0.0, 1.0, num, endpoint) + d_stop
    return d_start, d_stop


def not_cut(out, dtype, *given):
    if dtype is None or np.iscomplexobj(out):
        return
    if any(np.iscomplexobj(number) for number in given):
        raise NotImplementedError("complex numbers with a real dtype: take np.real of the result")


@adjoint(np.logspace)
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0, *, out, d_out):
    not_cut(out, dtype, start, stop, base)
    d_power = d_out * out
    if d_power.ndim > 1 and axis != -1:
        d_power = np.moveaxis(d_power, axis, -1)
    d_start = d_power @ np.linspace(1.0, 0.0, num, endpoint)
    d_stop = d_power @ np.linspace(0.0, 1.0, num, endpoint)
    scale = np.log(base)
    return (d_start * scale, d_stop * scale, None, None, (d_start * start + d_stop * stop) / base)


@adjoint(np.geomspace)
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0, *, out, d_out):
    not_cut(out, dtype, start, stop)
    d_log = d_out * out
    if d_log.ndim > 1 and axis != -1:
        d_log = np.moveaxis(d_log, axis, -1)
    d_start = d_log @ np.linspace(1.0, 0.0, num, endpoint)
    d_stop = d_log @ np.linspace(0.0, 1.0, num, endpoint)
    return d_start / start, d_stop / stop


@adjoint(np.arange)
def arange(start, stop=None, step=1, dtype=None, *, device=None, out, d_out):
    d_step = d_out @ np.arange(d_out.size)
    if stop is None:
        return None, None, d_step  # the result starts at 0
    return d_out.sum(), None, d_step


zero(np.zeros, np.ones, np.empty, np.eye, np.identity, np.tri, np.indices, note="a constant")
zero(np.zeros_like, np.ones_like, np.empty_like, note="a constant")
refuse(
    np.bartlett, np.blackman, np.hamming, np.hanning,
    reason="by a length that isn't whole, a window has no rule; use an int, or a constant",
)  # fmt: skip
inert(np.isfortran, np.broadcast_shapes, np.unravel_index)
inert(np.tril_indices, np.triu_indices, np.tril_indices_from, np.triu_indices_from)
inert(np.diag_indices, np.diag_indices_from, np.ravel_multi_index, np.mask_indices, np.ix_)
inert(np.promote_types, np.can_cast, np.issubdtype, np.min_scalar_type, np.common_type)
inert(np.iscomplexobj, np.isrealobj, np.result_type, np.shares_memory, np.may_share_memory)
refuse(
    np.ndarray.resize,
    reason="what x.resize does can be followed in a statement x.resize(shape) alone",
    always=True,
)


@reshapes("resize")
def resized(x, *new_shape, refcheck=True):
    """An array cut off, or with zeros behind its elements."""
    shape = new_shape[0] if len(new_shape) == 1 else new_shape
    if not isinstance(shape, tuple):
        shape = (shape,)
    size = 1
    for n in shape:
        size = size * n
    elements = np.ravel(x)
    if size > x.size:
        elements = np.concatenate([elements, np.zeros(size - x.size, x.dtype)])
    return np.reshape(elements[:size], shape)
