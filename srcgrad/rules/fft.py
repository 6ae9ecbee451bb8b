"""Fourier transforms.

The matrix of the transform is symmetric, so that the adjoint of `fft` is `fft` itself. Cotangents
are transposed without conjugation, as in JAX.
"""

from __future__ import annotations

import numpy as np

from . import registry
from .registry import adjoint
from .shaping import along, at

DUAL = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def fitted(d_a, a, axis, n):
    """The adjoint of cutting or padding an axis of `a` (n is None: it was neither)."""
    if n is None:
        return d_a
    axis = along(axis, a.ndim)
    part = at(axis, slice(None, min(d_a.shape[axis], a.shape[axis])))
    shape = (*d_a.shape[:axis], a.shape[axis], *d_a.shape[axis + 1 :])
    d_fitted = np.zeros(shape, d_a.dtype)
    d_fitted[part] = d_a[part]
    return d_fitted


def between(n, axis, ndim):
    """The key of the frequencies of `rfft` that stand for two of `fft`."""
    return at(along(axis, ndim), slice(1, (n + 1) // 2))


def rfft_adjoint(a, n, axis, norm, d_out):
    """Half of each frequency but the first and, n even, the last stands for its conjugate."""
    size = a.shape[axis] if n is None else n
    d_out = np.conj(d_out)
    d_out[between(size, axis, a.ndim)] *= 0.5
    return fitted(np.fft.irfft(d_out, size, axis, DUAL[norm]), a, axis, n)


def irfft_adjoint(a, n, axis, norm, d_out):
    d_a = np.conj(np.fft.rfft(d_out, None, axis, DUAL[norm]))
    d_a[between(d_out.shape[axis], axis, a.ndim)] *= 2
    return fitted(d_a, a, axis, n)


@adjoint(np.fft.fft)
def fft(a, n=None, axis=-1, norm=None, *, out, d_out):
    return fitted(np.fft.fft(d_out, None, axis, norm), a, axis, n)


@adjoint(np.fft.ifft)
def ifft(a, n=None, axis=-1, norm=None, *, out, d_out):
    return fitted(np.fft.ifft(d_out, None, axis, norm), a, axis, n)


adjoint(np.fft.rfft)(
    lambda a, n=None, axis=-1, norm=None, *, out, d_out: rfft_adjoint(a, n, axis, norm, d_out)
)
adjoint(np.fft.irfft)(
    lambda a, n=None, axis=-1, norm=None, *, out, d_out: irfft_adjoint(a, n, axis, norm, d_out)
)


@adjoint(np.fft.hfft)
def hfft(a, n=None, axis=-1, norm=None, *, out, d_out):
    return np.conj(irfft_adjoint(a, n, axis, DUAL[norm], d_out))


@adjoint(np.fft.ihfft)
def ihfft(a, n=None, axis=-1, norm=None, *, out, d_out):
    return rfft_adjoint(a, n, axis, DUAL[norm], np.conj(d_out))


registry.ignoring_out.update((np.fft.hfft, np.fft.ifft2, np.fft.irfft2))  # of NumPy 2.0 to 2.4


def sizes_and_axes(s, axes, ndim):
    """The length (None: as it is) and the axis of each transform."""
    if axes is None:
        axes = tuple(range(ndim)) if s is None else tuple(range(ndim - len(s), ndim))
    if len({axis % ndim for axis in axes}) < len(axes) and s is not None:
        raise NotImplementedError(
            "an axis given twice, with lengths: transform one after the other"
        )
    if s is None:
        s = (None,) * len(axes)
    return [None if isinstance(n, int) and n == -1 else n for n in s], axes


def fitted_axes(d_a, a, s, axes):
    s, axes = sizes_and_axes(s, axes, a.ndim)
    for n, axis in zip(s, axes, strict=True):
        d_a = fitted(d_a, a, axis, n)
    return d_a


@adjoint(np.fft.fftn)
def fftn(a, s=None, axes=None, norm=None, *, out, d_out):
    _, every = sizes_and_axes(s, axes, a.ndim)
    return fitted_axes(np.fft.fftn(d_out, None, every, norm), a, s, axes)


@adjoint(np.fft.ifftn)
def ifftn(a, s=None, axes=None, norm=None, *, out, d_out):
    _, every = sizes_and_axes(s, axes, a.ndim)
    return fitted_axes(np.fft.ifftn(d_out, None, every, norm), a, s, axes)


@adjoint(np.fft.fft2)
def fft2(a, s=None, axes=(-2, -1), norm=None, *, out, d_out):
    return fftn(a, s, axes, norm, out=out, d_out=d_out)


@adjoint(np.fft.ifft2)
def ifft2(a, s=None, axes=(-2, -1), norm=None, *, out, d_out):
    return ifftn(a, s, axes, norm, out=out, d_out=d_out)


@adjoint(np.fft.rfftn)
def rfftn(a, s=None, axes=None, norm=None, *, out, d_out):
    s, axes = sizes_and_axes(s, axes, a.ndim)
    if len(axes) > 1:
        d_out = np.fft.fftn(d_out, None, axes[:-1], norm)
        d_out = fitted_axes(d_out, a, s[:-1], axes[:-1])
    return rfft_adjoint(a, s[-1], axes[-1], norm, d_out)


@adjoint(np.fft.irfftn)
def irfftn(a, s=None, axes=None, norm=None, *, out, d_out):
    s, axes = sizes_and_axes(s, axes, a.ndim)
    d_a = irfft_adjoint(a, s[-1], axes[-1], norm, d_out)
    if len(axes) > 1:
        d_a = fitted_axes(np.fft.ifftn(d_a, None, axes[:-1], norm), a, s[:-1], axes[:-1])
    return d_a


@adjoint(np.fft.rfft2)
def rfft2(a, s=None, axes=(-2, -1), norm=None, *, out, d_out):
    return rfftn(a, s, axes, norm, out=out, d_out=d_out)


@adjoint(np.fft.irfft2)
def irfft2(a, s=None, axes=(-2, -1), norm=None, *, out, d_out):
    return irfftn(a, s, axes, norm, out=out, d_out=d_out)


adjoint(np.fft.fftshift)(lambda x, axes=None, *, out, d_out: np.fft.ifftshift(d_out, axes))
adjoint(np.fft.ifftshift)(lambda x, axes=None, *, out, d_out: np.fft.fftshift(d_out, axes))
adjoint(np.fft.fftfreq, np.fft.rfftfreq)(
    lambda n, d=1.0, *, device=None, out, d_out: (None, -(d_out @ out) / d)
)
