"""Convolutions and filters."""

from __future__ import annotations

import numpy as np
from scipy import signal

from ...analysis.inference import Inferred
from ...kinds import Array, fresh_size
from ..products import conj
from ..registry import Unknown, adjoint, kind
from .kinds import floating, operand_kind

INITIAL = Unknown("with initial conditions (zi) it has no rule")
SCALARS = Unknown("of arrays without dimensions it has no rule; use a product")


@kind(signal.convolve, signal.fftconvolve, signal.oaconvolve, signal.correlate)
def of_lengths(args, kwargs):
    """The lengths are sums and differences, which samples would take for numbers."""
    found = [operand_kind(a) for a in args[:2]]
    if len(found) < 2 or any(k is None or not k.shape for k in found):
        return None
    dtypes = [k.dtype for k in found]
    if any(d is None or d.kind not in "fc" for d in dtypes):
        dtype = None
    else:
        dtype = floating(*dtypes)
    return Inferred(Array(dtype, tuple(fresh_size() for _ in found[0].shape)))


def embedded(d_out, n, m, mode):
    """The adjoint of a shortened convolution as one of the full one, of shapes n and m."""
    if mode == "full":
        return d_out
    d_full = np.zeros(tuple(p + q - 1 for p, q in zip(n, m, strict=True)), d_out.dtype)
    if mode == "same":
        starts = tuple((q - 1) // 2 for q in m)
    else:
        starts = tuple(min(p, q) - 1 for p, q in zip(n, m, strict=True))
    key = tuple(slice(s, s + k) for s, k in zip(starts, d_out.shape, strict=True))
    d_full[key] = d_out
    return d_full


@adjoint(signal.convolve)
def convolve(in1, in2, mode="full", method="auto", *, out, d_out):
    if in1.ndim == 0:
        return SCALARS, SCALARS
    d_full = embedded(d_out, in1.shape, in2.shape, mode)
    d_in1 = signal.correlate(d_full, conj(in2), "valid", method)
    return d_in1, signal.correlate(d_full, conj(in1), "valid", method)


@adjoint(signal.fftconvolve, signal.oaconvolve)
def fftconvolve(in1, in2, mode="full", *, out, d_out):
    if in1.ndim == 0:
        return SCALARS, SCALARS
    d_full = embedded(d_out, in1.shape, in2.shape, mode)
    d_in1 = signal.correlate(d_full, conj(in2), "valid", "fft")
    return d_in1, signal.correlate(d_full, conj(in1), "valid", "fft")


@adjoint(signal.correlate)
def correlate(in1, in2, mode="full", method="auto", *, out, d_out):
    """The convolution with the other, reversed and conjugate."""
    if in1.ndim == 0:
        return SCALARS, SCALARS
    d_full = embedded(d_out, in1.shape, in2.shape, mode)
    d_in1 = signal.convolve(d_full, conj(in2), "valid", method)
    return d_in1, conj(np.flip(signal.correlate(d_full, conj(in1), "valid", method)))


def lagged(d_out, x, count):
    """The sums of d_out[i] x[i - k] along the last axis, for lags k below a count."""
    n = x.shape[-1]
    sums = np.zeros(count, d_out.dtype)
    for k in range(count):
        if k < n:
            sums[k] = np.sum(d_out[..., k:] * x[..., : n - k])
    return sums


@adjoint(signal.lfilter)
def lfilter(b, a, x, axis=-1, zi=None, *, out, d_out):
    """With a * y = b * x: a * dy = db * x - da * y, so that one filter 1 / a serves all."""
    if zi is not None:
        return INITIAL, INITIAL, INITIAL, None, INITIAL
    x, out, d_out = (np.swapaxes(v, axis, -1) for v in (x, out, d_out))
    reversed_ = np.flip(signal.lfilter(b, a, np.flip(d_out, -1)), -1)
    one = np.ones(1, out.dtype)
    d_b = lagged(d_out, signal.lfilter(one, a, x), b.shape[0])
    d_a = -lagged(d_out, signal.lfilter(one, a, out), a.shape[0])
    return d_b, d_a, np.swapaxes(reversed_, axis, -1)
