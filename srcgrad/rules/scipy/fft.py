"""Fourier transforms as NumPy has them, and the cosine and sine transforms."""

from __future__ import annotations

import math

import numpy as np
from scipy import fft

from ..fft import fitted
from ..registry import adjoint, definition, inert, lookup, refuse
from ..shapes import register_transforms
from ..shaping import along, at, present


def _twin(name):
    """The rule of a transform of one axis, which is that of NumPy's."""
    rule = lookup(getattr(np.fft, name)).adjoint

    @adjoint(getattr(fft, name))
    def transform(x, n=None, axis=-1, norm=None, *, workers=None, out, d_out):
        return rule(x, n, axis, norm, out=out, d_out=d_out)


def _twin_of_several(name, axes):
    rule = lookup(getattr(np.fft, name)).adjoint

    @adjoint(getattr(fft, name))
    def transform(x, s=None, axes=axes, norm=None, *, workers=None, out, d_out):
        return rule(x, s, axes, norm, out=out, d_out=d_out)


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _twin(_name)
for _name in ("fftn", "ifftn", "rfftn", "irfftn"):
    _twin_of_several(_name, None)
for _name in ("fft2", "ifft2", "rfft2", "irfft2"):
    _twin_of_several(_name, (-2, -1))


register_transforms(fft)

definition(fft.fftshift)(lambda x, axes=None: np.fft.fftshift(x, axes))
definition(fft.ifftshift)(lambda x, axes=None: np.fft.ifftshift(x, axes))


def weighted(x, axis, position, factor):
    """A copy with the elements at one position of an axis multiplied."""
    x = np.array(x)
    x[at(along(axis, x.ndim), position)] *= factor
    return x


def transposed_transform(inverse, d_out, type, axis, norm, special):
    """The adjoint of a cosine or sine transform: an orthogonal one, but for factors.

    Of type 2 the result at `special` has a factor of its own, of type 3 the argument has.
    """
    n = d_out.shape[axis]
    scale = np.sqrt(2.0 * n)
    if norm == "forward":
        scale = scale / (2 * n)
    if norm == "ortho":
        return inverse(d_out, type, axis=axis, norm="ortho")
    if type == 2:
        d_out = weighted(d_out, axis, special, math.sqrt(2.0))
    d_x = scale * inverse(d_out, type, axis=axis, norm="ortho")
    if type == 3:
        d_x = weighted(d_x, axis, special, math.sqrt(0.5))
    return d_x


def transposed_first(d_out, axis, norm):
    """The adjoint of the cosine transform of type 1: a symmetric matrix, but that all but the
    first and last column are doubled."""
    if norm == "ortho":
        return fft.dct(d_out, 1, axis=axis, norm=norm)
    halved = weighted(weighted(0.5 * d_out, axis, 0, 2.0), axis, -1, 2.0)
    d_x = fft.dct(halved, 1, axis=axis, norm=norm)
    return weighted(weighted(2.0 * d_x, axis, 0, 0.5), axis, -1, 0.5)


def dual_type(type):
    return {2: 3, 3: 2}.get(type, type)


def dual_norm(norm):
    return {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)


@adjoint(fft.dct)
def dct(x, type=2, n=None, axis=-1, norm=None, *, workers=None, out, d_out):
    if type == 1:
        return fitted(transposed_first(d_out, axis, norm), x, axis, n)
    return fitted(transposed_transform(fft.idct, d_out, type, axis, norm, 0), x, axis, n)


@adjoint(fft.idct)
def idct(x, type=2, n=None, axis=-1, norm=None, *, workers=None, out, d_out):
    return dct(x, dual_type(type), n, axis, dual_norm(norm), out=out, d_out=d_out)


@adjoint(fft.dst)
def dst(x, type=2, n=None, axis=-1, norm=None, *, workers=None, out, d_out):
    if type == 1:  # a symmetric matrix
        return fitted(fft.dst(d_out, 1, axis=axis, norm=norm), x, axis, n)
    return fitted(transposed_transform(fft.idst, d_out, type, axis, norm, -1), x, axis, n)


@adjoint(fft.idst)
def idst(x, type=2, n=None, axis=-1, norm=None, *, workers=None, out, d_out):
    return dst(x, dual_type(type), n, axis, dual_norm(norm), out=out, d_out=d_out)


def axes_of(x, s, axes):
    if axes is not None:
        return (axes,) if isinstance(axes, int) else axes
    return range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)


@definition(fft.dctn)
def dctn(x, type=2, s=None, axes=None, norm=None, *, workers=None):
    for number, axis in enumerate(axes_of(x, s, axes)):
        x = fft.dct(x, type, None if s is None else s[number], axis, norm)
    return x


@definition(fft.idctn)
def idctn(x, type=2, s=None, axes=None, norm=None, *, workers=None):
    for number, axis in enumerate(axes_of(x, s, axes)):
        x = fft.idct(x, type, None if s is None else s[number], axis, norm)
    return x


@definition(fft.dstn)
def dstn(x, type=2, s=None, axes=None, norm=None, *, workers=None):
    for number, axis in enumerate(axes_of(x, s, axes)):
        x = fft.dst(x, type, None if s is None else s[number], axis, norm)
    return x


@definition(fft.idstn)
def idstn(x, type=2, s=None, axes=None, norm=None, *, workers=None):
    for number, axis in enumerate(axes_of(x, s, axes)):
        x = fft.idst(x, type, None if s is None else s[number], axis, norm)
    return x


definition(fft.fftfreq)(lambda n, d=1.0: np.fft.fftfreq(n, d))
definition(fft.rfftfreq)(lambda n, d=1.0: np.fft.rfftfreq(n, d))


inert(fft.next_fast_len, *present(fft, "prev_fast_len"), fft.get_workers)
refuse(
    *(fft.hfft2, fft.ihfft2, fft.hfftn, fft.ihfftn), reason="use irfftn or rfftn of the conjugate"
)
refuse(fft.fht, fft.ifht, fft.fhtoffset, reason="it has no rule")
refuse(
    *(fft.set_backend, fft.skip_backend, fft.set_global_backend, fft.register_backend),
    fft.set_workers,
    reason="it changes SciPy's settings: do that outside the function",
    always=True,
)
