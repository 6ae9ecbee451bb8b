"""Which functions are linear, in one parameter or in each of several: their own tangents."""

from __future__ import annotations

import builtins
import math
import operator

import numpy as np

from .. import runtime
from .registry import linear, linear_together
from .shaping import present

linear(
    *(np.sum, np.mean, np.add.reduce, np.cumsum, np.add.accumulate, np.add.reduceat, np.diff),
    *(np.trace, np.real, np.imag, np.conj, np.ndarray.astype, np.ndarray.copy, np.copy),
    *(np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack),
    *(np.flip, np.fliplr, np.flipud, np.rot90, np.roll, np.repeat, np.tile, np.take),
    *(np.take_along_axis, np.compress, np.delete, np.triu, np.tril, np.diag, np.diagflat),
    *(np.reshape, np.ndarray.reshape, np.ravel, np.ndarray.ravel, np.ndarray.flatten, np.squeeze),
    *(np.expand_dims, np.transpose, np.ndarray.transpose, np.swapaxes, np.moveaxis, np.rollaxis),
    *(np.broadcast_to, np.diagonal, builtins.float, math.fsum),
    *(np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.asarray, np.asanyarray),
    *(np.ascontiguousarray, np.asfortranarray, np.lib.stride_tricks.sliding_window_view),
    *present(np, "permute_dims", "matrix_transpose"),
    *present(np.linalg, "diagonal", "matrix_transpose", "trace"),
    *(np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft),
    *(np.fft.fft2, np.fft.ifft2, np.fft.rfft2, np.fft.irfft2, np.fft.fftn, np.fft.ifftn),
    *(np.fft.rfftn, np.fft.irfftn, np.fft.fftshift, np.fft.ifftshift),
)
linear(
    *(operator.matmul, np.matmul, np.dot, np.inner, np.outer, np.vdot, np.tensordot, np.kron),
    *(np.cross, np.convolve, np.correlate),
    *present(np.linalg, "matmul", "outer", "tensordot", "vecdot", "cross"),
    *present(np, "vecdot"),
    by=range(2),
)
linear_together(np.atleast_1d, np.atleast_2d, np.atleast_3d)
linear(np.einsum, by=range(1, 100))
linear(runtime.unbroadcast, runtime.finished, runtime.project, runtime.given, like=1)
linear(runtime.unbroadcast_to, runtime.as_dtype, runtime.total, runtime.own_copy)
linear(runtime.writable, runtime.last_written)
