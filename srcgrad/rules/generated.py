"""Rules of the helpers that generated code calls, so that it can be differentiated again."""

from __future__ import annotations

import numpy as np

from ..emit import runtime
from .registry import adjoint, zero


@adjoint(runtime.unbroadcast)
def unbroadcast(gradient, like, *, out, d_out):
    return np.broadcast_to(d_out, np.shape(gradient)), None


@adjoint(runtime.unbroadcast_to)
def unbroadcast_to(gradient, shape, *, out, d_out):
    return np.broadcast_to(d_out, np.shape(gradient)), None


@adjoint(runtime.total)
def total(gradient, *, out, d_out):
    return np.broadcast_to(d_out, np.shape(gradient))


@adjoint(runtime.as_dtype)
def as_dtype(gradient, dtype, *, out, d_out):
    return d_out, None


@adjoint(runtime.finished)
def finished(gradient, like, *, out, d_out):
    return d_out, None


zero(runtime.order, runtime.zero_like)
