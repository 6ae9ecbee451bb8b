"""Filters that choose: each pixel becomes one of its neighbours, and what is made of such filters.

The adjoint goes to the neighbour that was taken; those that are equal to it share. What lies in the
margins is folded back onto the pixels that it was made of.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from ..registry import adjoint, definition, rereads
from .left import left
from .ndimage_margins import each, folded, margins, padded, placed


def filtered_axes(ndim, axes):
    """The axes along which a filter looks, which must be in their order."""
    if axes is None:
        return tuple(range(ndim))
    places = tuple([i % ndim for i in (axes if isinstance(axes, (tuple, list)) else (axes,))])
    for k in range(1, len(places)):
        if places[k - 1] >= places[k]:
            raise NotImplementedError("filters by order are differentiated with axes in order")
    return places


def for_all_axes(ndim, places, values, absent):
    """What is given for some axes, or one thing for all of them, as a tuple for all axes."""
    return tuple([each(values, places.index(i)) if i in places else absent for i in range(ndim)])


def neighbours(offset, shape):
    """Of an image with margins, those neighbours of all pixels that lie in one direction."""
    return tuple([slice(offset[i], offset[i] + shape[i]) for i in range(len(shape))])


def by_order(x, size, footprint, mode, cval, origin, axes, out, d_out):
    """All neighbours that are equal to the one that was taken share its adjoint."""
    if x.size == 0:
        return np.zeros(x.shape, d_out.dtype)
    places = filtered_axes(x.ndim, axes)
    if footprint is None:
        sizes = for_all_axes(x.ndim, places, size, 1)
        seen = np.ones(sizes, bool)
    else:
        others = tuple([i for i in range(x.ndim) if i not in places])
        seen = np.expand_dims(np.asarray(footprint, bool), others)
        sizes = seen.shape
    origins = for_all_axes(x.ndim, places, origin, 0)
    widths = [margins(sizes[i], origins[i]) for i in range(x.ndim)]
    wide = x
    if isinstance(mode, str):
        wide = padded(wide, widths, mode, cval)
    else:  # one axis after the other, as SciPy does
        mode = for_all_axes(x.ndim, places, mode, "nearest")
        for axis in places:
            alone = [widths[i] if i == axis else (0, 0) for i in range(x.ndim)]
            wide = padded(wide, alone, mode[axis], cval)
    equal = np.zeros(out.shape)
    for offset in np.argwhere(seen):
        equal += wide[neighbours(offset, out.shape)] == out
    share = d_out / np.where(equal == 0, np.nan, equal)
    d_wide = np.zeros(wide.shape, d_out.dtype)
    for offset in np.argwhere(seen):
        key = neighbours(offset, out.shape)
        d_wide[key] += share * (wide[key] == out)
    for axis in places:
        margin_mode = mode if isinstance(mode, str) else mode[axis]
        d_wide = folded(d_wide, x.shape[axis], widths[axis][0], axis, margin_mode)
    return d_wide


@adjoint(ndimage.median_filter, ndimage.maximum_filter, ndimage.minimum_filter)
def median_filter(
    input, size=None, footprint=None, *, mode="reflect", cval=0.0, origin=0, axes=None, out, d_out
):
    return by_order(input, size, footprint, mode, cval, origin, axes, out, d_out)


@adjoint(ndimage.rank_filter, ndimage.percentile_filter)
def rank_filter(
    input, rank, size=None, footprint=None, *, mode="reflect", cval=0.0, origin=0, axes=None,
    out, d_out,
):  # fmt: skip
    return by_order(input, size, footprint, mode, cval, origin, axes, out, d_out)


def along_axis(input, size, axis, origin):
    """The size of a filter along one axis as that of all axes, and the origin in each."""
    axis = axis % input.ndim
    sizes = tuple([size if i == axis else 1 for i in range(input.ndim)])
    return sizes, tuple([origin if i == axis else 0 for i in range(input.ndim)])


@definition(ndimage.maximum_filter1d)
def maximum_filter1d(input, size, axis=-1, *, output=None, mode="reflect", cval=0.0, origin=0):
    sizes, origins = along_axis(input, size, axis, origin)
    found = ndimage.maximum_filter(input, sizes, mode=mode, cval=cval, origin=origins)
    return placed(found, output)


@definition(ndimage.minimum_filter1d)
def minimum_filter1d(input, size, axis=-1, *, output=None, mode="reflect", cval=0.0, origin=0):
    sizes, origins = along_axis(input, size, axis, origin)
    found = ndimage.minimum_filter(input, sizes, mode=mode, cval=cval, origin=origins)
    return placed(found, output)


# Of these with flat structuring elements


HEIGHTS = "it is differentiated with size or footprint: structure adds heights to the image"


def morphology(function, made):
    """Register what a function of these does with flat elements: `made` of its arguments."""
    kept = left(function, HEIGHTS)

    @definition(function)
    def filtered(
        input, size=None, footprint=None, structure=None, *, output=None, mode="reflect", cval=0.0,
        origin=0, axes=None,
    ):  # fmt: skip
        if structure is not None:
            return kept(input, size, footprint, structure, output, mode, cval, origin, axes=axes)
        how = {"mode": mode, "cval": cval, "origin": origin, "axes": axes}
        return placed(made(input, size, footprint, **how), output)


def eroded(x, size, footprint, **how):
    return ndimage.minimum_filter(x, None if footprint is not None else size, footprint, **how)


def dilated(x, size, footprint, *, mode, cval, origin, axes):
    """The element is turned round, and its origin with it."""
    if footprint is not None:
        size = None
        footprint = np.flip(np.asarray(footprint))
        sizes = footprint.shape
    else:
        sizes = size
    count = x.ndim if axes is None else np.size(axes)
    origins = tuple(
        [-each(origin, i) - (1 if each(sizes, i) % 2 == 0 else 0) for i in range(count)]
    )
    return ndimage.maximum_filter(
        x, size, footprint, mode=mode, cval=cval, origin=origins, axes=axes
    )


def opened(x, size, footprint, **how):
    return dilated(eroded(x, size, footprint, **how), size, footprint, **how)


def closed(x, size, footprint, **how):
    return eroded(dilated(x, size, footprint, **how), size, footprint, **how)


def morphological_gradient(x, size, footprint, **how):
    return dilated(x, size, footprint, **how) - eroded(x, size, footprint, **how)


def morphological_laplace(x, size, footprint, **how):
    return dilated(x, size, footprint, **how) + eroded(x, size, footprint, **how) - 2 * x


morphology(ndimage.grey_erosion, eroded)
morphology(ndimage.grey_dilation, dilated)
morphology(ndimage.grey_opening, opened)
morphology(ndimage.grey_closing, closed)
morphology(ndimage.morphological_gradient, morphological_gradient)
morphology(ndimage.morphological_laplace, morphological_laplace)
morphology(ndimage.white_tophat, lambda x, *args, **how: x - opened(x, *args, **how))
morphology(ndimage.black_tophat, lambda x, *args, **how: closed(x, *args, **how) - x)

# Each reads the image again after it has written
rereads(
    ndimage.morphological_gradient, ndimage.morphological_laplace, ndimage.white_tophat,
    ndimage.black_tophat, written="output",
)  # fmt: skip
