"""The older module of Fourier transforms.

They are those of `scipy.fft`, but that the inverses of cosine and sine transforms aren't divided by
anything, and the results of real transforms lie one after the other in an array of reals.
"""

from __future__ import annotations

import numpy as np
from scipy import fft, fftpack

from ..registry import adjoint, definition, inert, refuse


def _of_one_axis(name):
    modern = getattr(fft, name)

    definition(getattr(fftpack, name))(
        lambda x, n=None, axis=-1, overwrite_x=False: modern(x, n, axis)
    )


def _of_several_axes(name, axes):
    modern = getattr(fft, name)

    definition(getattr(fftpack, name))(
        lambda x, shape=None, axes=axes, overwrite_x=False: modern(x, shape, axes)
    )


INVERSES = (None, 1, 3, 2, 4)  # the type of the transform that is the inverse, but for a factor


def _real(name):
    modern = getattr(fft, name)
    modern_of_several = getattr(fft, f"{name}n")

    @definition(getattr(fftpack, name))
    def transform(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False):
        return modern(x, type, n, axis, norm)

    @definition(getattr(fftpack, f"i{name}"))
    def inverse(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False):
        return modern(x, INVERSES[type], n, axis, norm)

    @definition(getattr(fftpack, f"{name}n"))
    def transform_of_several(x, type=2, shape=None, axes=None, norm=None, overwrite_x=False):
        return modern_of_several(x, type, shape, axes, norm)

    @definition(getattr(fftpack, f"i{name}n"))
    def inverse_of_several(x, type=2, shape=None, axes=None, norm=None, overwrite_x=False):
        return modern_of_several(x, INVERSES[type], shape, axes, norm)


for _name in ("fft", "ifft"):
    _of_one_axis(_name)
for _name in ("fftn", "ifftn"):
    _of_several_axes(_name, None)
for _name in ("fft2", "ifft2"):
    _of_several_axes(_name, (-2, -1))
for _name in ("dct", "dst"):
    _real(_name)


inert(fftpack.rfftfreq, fftpack.next_fast_len)


def paired(n):
    """How often the square of each number of a real transform stands in that of a complex one."""
    weights = np.full(n, 2.0)
    weights[:1] = 1.0
    if n % 2 == 0:
        weights[-1:] = 1.0
    return weights


def fitted(d_x, n, axis):
    """Cut off, or filled up with zeros, to the length that was filled up or cut off."""
    d_x = np.moveaxis(d_x, axis, -1)
    if n > d_x.shape[-1]:
        d_x = np.concatenate((d_x, np.zeros((*d_x.shape[:-1], n - d_x.shape[-1]), d_x.dtype)), -1)
    return np.moveaxis(d_x[..., :n], -1, axis)


@adjoint(fftpack.rfft)
def rfft(x, n=None, axis=-1, overwrite_x=False, *, out, d_out):
    """The inverse is the transpose, but for weights."""
    length = out.shape[axis]
    d_out = np.moveaxis(d_out, axis, -1) / paired(length)
    return fitted(np.moveaxis(fftpack.irfft(d_out) * length, -1, axis), x.shape[axis], axis)


@adjoint(fftpack.irfft)
def irfft(x, n=None, axis=-1, overwrite_x=False, *, out, d_out):
    length = out.shape[axis]
    d_x = fftpack.rfft(np.moveaxis(d_out, axis, -1)) * paired(length) / length
    return fitted(np.moveaxis(d_x, -1, axis), x.shape[axis], axis)


refuse(
    *(fftpack.diff, fftpack.hilbert, fftpack.ihilbert, fftpack.tilbert, fftpack.itilbert),
    *(fftpack.cs_diff, fftpack.sc_diff, fftpack.ss_diff, fftpack.cc_diff, fftpack.shift),
    reason="multiply the Fourier transform by its factors: ifft(factors * fft(x))",
)
