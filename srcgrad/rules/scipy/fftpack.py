"""The older module of Fourier transforms.

They are those of `scipy.fft`, but that the inverses of cosine and sine transforms aren't divided by
anything, and the results of real transforms lie one after the other in an array of reals.
"""

from __future__ import annotations

from scipy import fft, fftpack

from ..registry import definition, inert, refuse


def _of_one_axis(name):
    modern = getattr(fft, name)

    @definition(getattr(fftpack, name))
    def transform(x, n=None, axis=-1, overwrite_x=False):
        return modern(x, n, axis)


def _of_several_axes(name, axes):
    modern = getattr(fft, name)

    @definition(getattr(fftpack, name))
    def transform(x, shape=None, axes=axes, overwrite_x=False):
        return modern(x, shape, axes)


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
refuse(
    *(fftpack.rfft, fftpack.irfft),
    reason="use scipy.fft.rfft and irfft, whose results are complex",
)
refuse(
    *(fftpack.diff, fftpack.hilbert, fftpack.ihilbert, fftpack.tilbert, fftpack.itilbert),
    *(fftpack.cs_diff, fftpack.sc_diff, fftpack.ss_diff, fftpack.cc_diff, fftpack.shift),
    reason="multiply the Fourier transform by its factors: ifft(factors * fft(x))",
)
