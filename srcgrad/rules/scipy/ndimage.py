"""Filters and resampling of images.

A filter is the correlation of the padded image with its weights. So the adjoint by the image is a
convolution of `d_out`, whose margins are folded back onto the pixels that they were made of, and
the adjoint by the weights a correlation with the padded image. Resampling is a product with values
of B-splines at the coordinates: see `splines.py`.

The argument `output`, written in place, is refused where a filter has a rule; it is written where
one is made of others.
"""

from __future__ import annotations

import inspect

import numpy as np
from scipy import ndimage, special

from ...analysis.inference import Inferred
from ...kinds import Array
from ..products import conj
from ..registry import (
    Unknown,
    adjoint,
    classified,
    definition,
    definitions,
    kind,
    mutates,
    refuse,
    rereads,
    zero,
)
from . import ndimage_order, splines  # noqa: F401  (it registers its rules)
from .kinds import operand_kind
from .ndimage_margins import (
    check_for_axes,
    each,
    folded,
    framed,
    margins,
    origin_of,
    padded,
    placed,
)

WITH_AXES = Unknown("with axes=... it has no rule; use the one-dimensional filters")
# Filters


def filter_adjoint(x, weights, mode, cval, origin, d_out):
    """The adjoints of image and weights, in a correlation that doesn't conjugate the weights."""
    widths = [margins(weights.shape[i], origin_of(origin, i)) for i in range(x.ndim)]
    wide = framed(d_out, widths, 0.0)
    d_x = ndimage.convolve(wide, weights, mode="constant", origin=origin)
    for axis in range(x.ndim):
        d_x = folded(d_x, x.shape[axis], widths[axis][0], axis, mode)
    windows = np.lib.stride_tricks.sliding_window_view(padded(x, widths, mode, cval), d_out.shape)
    last = [*range(x.ndim, 2 * x.ndim)]
    first = [*range(x.ndim)]
    d_weights = np.einsum(windows, first + last, d_out, last, first)
    return d_x, d_weights


@adjoint(ndimage.correlate)
def correlate(
    input, weights, *, mode="reflect", cval=0.0, origin=0, axes=None, out, d_out
):  # fmt: skip
    if axes is not None:
        return WITH_AXES, WITH_AXES
    d_x, d_weights = filter_adjoint(input, conj(weights), mode, cval, origin, d_out)
    return d_x, conj(d_weights)


def turned(origin, shape, ndim):
    """The origin with which a correlation with reversed weights is a convolution."""
    return tuple(-origin_of(origin, i) - (1 if shape[i] % 2 == 0 else 0) for i in range(ndim))


@adjoint(ndimage.convolve)
def convolve(
    input, weights, *, mode="reflect", cval=0.0, origin=0, axes=None, out, d_out
):  # fmt: skip
    """The correlation with the weights reversed."""
    if axes is not None:
        return WITH_AXES, WITH_AXES
    origin = turned(origin, weights.shape, input.ndim)
    d_x, d_weights = filter_adjoint(input, np.flip(weights), mode, cval, origin, d_out)
    return d_x, np.flip(d_weights)


@definition(ndimage.correlate1d)
def correlate1d(input, weights, axis=-1, *, output=None, mode="reflect", cval=0.0, origin=0):
    weights, origins = along_one(input, weights, axis, origin)
    return placed(ndimage.correlate(input, weights, mode=mode, cval=cval, origin=origins), output)


@definition(ndimage.convolve1d)
def convolve1d(input, weights, axis=-1, *, output=None, mode="reflect", cval=0.0, origin=0):
    weights, origins = along_one(input, weights, axis, origin)
    return placed(ndimage.convolve(input, weights, mode=mode, cval=cval, origin=origins), output)


def along_one(input, weights, axis, origin):
    """Weights along one axis as those of all axes, and the origin in each."""
    axis = axis % input.ndim
    key = tuple(slice(None) if i == axis else None for i in range(input.ndim))
    return np.asarray(weights)[key], tuple(origin if i == axis else 0 for i in range(input.ndim))


@adjoint(ndimage.uniform_filter1d)
def uniform_filter1d(
    input, size, axis=-1, *, mode="reflect", cval=0.0, origin=0, out, d_out
):  # fmt: skip
    axis = axis % input.ndim
    before, after = margins(size, origin)
    widths = [(before, after) if i == axis else (0, 0) for i in range(input.ndim)]
    wide = framed(d_out, widths, 0.0)
    back = -origin - (1 if size % 2 == 0 else 0)
    d_x = ndimage.uniform_filter1d(wide, size, axis, mode="constant", origin=back)
    return folded(d_x, input.shape[axis], before, axis, mode)


@definition(ndimage.uniform_filter)
def uniform_filter(input, size=3, *, output=None, mode="reflect", cval=0.0, origin=0, axes=None):
    check_for_axes(input.ndim if axes is None else len(axes), mode, size, origin)
    for number, axis in enumerate(range(input.ndim) if axes is None else axes):
        input = ndimage.uniform_filter1d(
            input, each(size, number), axis,
            mode=each(mode, number), cval=cval, origin=each(origin, number),
        )  # fmt: skip
    return placed(input, output)


def gaussian_weights(sigma, order, radius):
    """A derivative of the normal density at whole numbers: the polynomials q with the derivative
    q(x) density(x) follow from q' - x q / sigma**2."""
    x = np.arange(-radius, radius + 1)
    variance = sigma * sigma
    density = np.exp(-0.5 / variance * (x * x))
    density = density / np.sum(density)
    if order == 0:
        return density
    q = [1.0]
    for _ in range(order):
        slope = [k * q[k] for k in range(1, len(q))] + [0.0, 0.0]
        steeper = [0.0] + [-c / variance for c in q]
        q = [a + b for a, b in zip(slope, steeper, strict=True)]
    value = q[-1]
    for c in q[-2::-1]:
        value = value * x + c
    return value * density


@definition(ndimage.gaussian_filter1d)
def gaussian_filter1d(
    input,
    sigma,
    axis=-1,
    order=0,
    *,
    output=None,
    mode="reflect",
    cval=0.0,
    truncate=4.0,
    radius=None,
):
    if radius is None:
        radius = int(truncate * float(sigma) + 0.5)
    weights = gaussian_weights(sigma, order, radius)[::-1]
    return placed(ndimage.correlate1d(input, weights, axis, mode=mode, cval=cval), output)


@definition(ndimage.gaussian_filter)
def gaussian_filter(
    input, sigma, order=0, *, output=None,
    mode="reflect", cval=0.0, truncate=4.0, radius=None, axes=None,
):  # fmt: skip
    check_for_axes(input.ndim if axes is None else len(axes), mode, sigma, order, radius)
    for number, axis in enumerate(range(input.ndim) if axes is None else axes):
        if each(sigma, number) > 1e-15:  # as in SciPy: along other axes nothing is done
            input = ndimage.gaussian_filter1d(
                input, each(sigma, number), axis, each(order, number),
                mode=each(mode, number), cval=cval, truncate=truncate,
                radius=each(radius, number),
            )  # fmt: skip
    return placed(input, output)


@definition(ndimage.gaussian_laplace)
def gaussian_laplace(
    input, sigma, *, output=None, mode="reflect", cval=0.0, truncate=4.0, radius=None
):
    total = 0.0
    check_for_axes(input.ndim, mode)
    for axis in range(input.ndim):
        order = tuple(2 if i == axis else 0 for i in range(input.ndim))
        total = total + ndimage.gaussian_filter(
            input, sigma, order, mode=each(mode, axis), cval=cval, truncate=truncate,
            radius=radius,
        )  # fmt: skip
    return placed(total, output)


@definition(ndimage.gaussian_gradient_magnitude)
def gaussian_gradient_magnitude(
    input, sigma, *, output=None, mode="reflect", cval=0.0, truncate=4.0, radius=None
):
    slopes = []
    check_for_axes(input.ndim, mode)
    for axis in range(input.ndim):
        order = tuple(1 if i == axis else 0 for i in range(input.ndim))
        slopes.append(ndimage.gaussian_filter(
            input, sigma, order, mode=each(mode, axis), cval=cval, truncate=truncate,
            radius=radius,
        ))  # fmt: skip
    length = np.linalg.norm(np.stack(slopes), axis=0)
    return length.astype(input.dtype) if output is None else placed(length, output)


# Each pass over an axis begins with the image anew
rereads(
    ndimage.laplace, ndimage.gaussian_laplace, ndimage.gaussian_gradient_magnitude,
    written="output",
)  # fmt: skip


def crossed(input, weights, axis, mode, cval):
    """A difference along one axis, smoothed along all others."""
    check_for_axes(input.ndim, mode)
    axis = axis % input.ndim
    input = ndimage.correlate1d(input, [-1.0, 0.0, 1.0], axis, mode=each(mode, axis), cval=cval)
    for i in range(input.ndim):
        if i != axis:
            input = ndimage.correlate1d(input, weights, i, mode=each(mode, i), cval=cval)
    return input


@definition(ndimage.sobel)
def sobel(input, axis=-1, *, output=None, mode="reflect", cval=0.0):
    return placed(crossed(input, [1.0, 2.0, 1.0], axis, mode, cval), output)


@definition(ndimage.prewitt)
def prewitt(input, axis=-1, *, output=None, mode="reflect", cval=0.0):
    return placed(crossed(input, [1.0, 1.0, 1.0], axis, mode, cval), output)


@definition(ndimage.laplace)
def laplace(input, *, output=None, mode="reflect", cval=0.0, axes=None):
    total = 0.0
    check_for_axes(input.ndim if axes is None else len(axes), mode)
    for number, axis in enumerate(range(input.ndim) if axes is None else axes):
        weights = [1.0, -2.0, 1.0]
        total = total + ndimage.correlate1d(
            input, weights, axis, mode=each(mode, number), cval=cval
        )
    return placed(total, output)


def like_input(args, kwargs):
    found = operand_kind(args[0]) if args else None
    return None if found is None else Inferred(Array(found.dtype, found.shape))


def weighted_kind(args, kwargs):
    """As the input, or complex where the weights are."""
    found = like_input(args, kwargs)
    weights = operand_kind(args[1] if len(args) > 1 else kwargs.get("weights"))
    if found is None or getattr(getattr(weights, "dtype", None), "kind", "") != "c":
        return found
    dtype = found.kind.dtype and np.promote_types(found.kind.dtype, np.complex64)
    return Inferred(Array(dtype, found.kind.shape))


# Resampling


def as_doubles(args, kwargs):
    found = operand_kind(args[0]) if args else None
    if found is None:
        return None
    dtype = None if found.dtype is None else np.result_type(found.dtype, np.float64)
    return Inferred(Array(dtype, found.shape))


@adjoint(ndimage.spline_filter1d)
def spline_filter1d(input, order=3, axis=-1, *, mode="mirror", out, d_out):
    return splines.unfiltered(d_out, order, axis % input.ndim, mode)


@definition(ndimage.spline_filter)
def spline_filter(input, order=3, *, output=None, mode="mirror"):
    if order > 1:
        for axis in range(input.ndim):
            input = ndimage.spline_filter1d(input, order, axis, mode=mode)
    return placed(input, output)


MARGIN = 12  # by which SciPy extends an image before it computes its spline, for some modes


def extended(order, mode, prefilter):
    extends = order > 1 and prefilter and mode in ("nearest", "grid-constant")
    return MARGIN if extends else 0


def coefficients(x, order, mode, cval, prefilter):
    """The spline's coefficients."""
    if not prefilter or order < 2:
        return x
    margin = extended(order, mode, prefilter)
    if margin > 0:
        x = padded(x, [(margin, margin)] * x.ndim, mode, cval)
    return ndimage.spline_filter(x, order, mode=mode)


@adjoint(ndimage.map_coordinates)
def map_coordinates(
    input, coordinates, *, order=3, mode="constant", cval=0.0, prefilter=True, out, d_out
):
    margin, ndim = extended(order, mode, prefilter), input.ndim
    places, nu = np.asarray(coordinates) + margin, (0,) * ndim
    shape = tuple(n + 2 * margin for n in input.shape)
    d_input = splines.scattered(d_out, places, shape, order, mode, nu)
    if prefilter and order > 1:
        for axis in range(ndim):
            d_input = splines.unfiltered(d_input, order, axis, mode)
    if margin > 0:
        for axis in range(ndim):
            d_input = folded(d_input, input.shape[axis], margin, axis, mode)
    c = coefficients(input, order, mode, cval, prefilter)
    slopes = [
        d_out * splines.value(c, places, order, mode, cval, splines.raised(nu, axis))
        for axis in range(ndim)
    ]
    return d_input, np.stack(slopes)


@kind(ndimage.map_coordinates)
def map_coordinates_kind(args, kwargs):
    found = [operand_kind(a) for a in args[:2]]
    if len(found) < 2 or any(k is None or k.shape is None for k in found):
        return None
    return Inferred(Array(found[0].dtype, found[1].shape[1:]))


@definition(ndimage.affine_transform)
def affine_transform(
    input, matrix, offset=0.0, output_shape=None, *, output=None,
    order=3, mode="constant", cval=0.0, prefilter=True,
):  # fmt: skip
    matrix, ndim = np.asarray(matrix), input.ndim
    shape = input.shape if output_shape is None else output_shape
    if matrix.ndim == 2 and matrix.shape[1] == ndim + 1:  # homogeneous coordinates
        places = transformed(matrix[:ndim, :ndim], matrix[:ndim, ndim], shape)
    else:
        places = transformed(matrix, np.asarray(offset), shape)
    return placed(
        ndimage.map_coordinates(
            input, places, order=order, mode=mode, cval=cval, prefilter=prefilter
        ),
        output,
    )


def transformed(matrix, offset, shape):
    """Where the pixels of an image of this shape come from."""
    places = np.indices(shape, dtype=float)
    flat = places.reshape(len(shape), -1)
    moved = matrix[:, None] * flat if matrix.ndim == 1 else matrix @ flat
    moved = moved + (offset[:, None] if offset.ndim else offset)
    return moved.reshape(places.shape)


@definition(ndimage.shift)
def shift(input, shift, *, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    if isinstance(shift, (tuple, list)):
        shift = np.asarray(shift)
    places = np.indices(input.shape, dtype=float)
    if np.ndim(shift):
        shift = shift.reshape((input.ndim,) + (1,) * input.ndim)
    return placed(
        ndimage.map_coordinates(
            input, places - shift, order=order, mode=mode, cval=cval, prefilter=prefilter
        ),
        output,
    )


@definition(ndimage.rotate)
def rotate(
    input, angle, axes=(1, 0), reshape=True, *, output=None,
    order=3, mode="constant", cval=0.0, prefilter=True,
):  # fmt: skip
    first, second = sorted((axes[0] % input.ndim, axes[1] % input.ndim))
    cosine, sine = special.cosdg(angle), special.sindg(angle)
    m, n = input.shape[first], input.shape[second]
    rows, columns = m, n
    if reshape:
        rows = int(abs(cosine) * m + abs(sine) * n + 0.5)
        columns = int(abs(sine) * m + abs(cosine) * n + 0.5)
    shape = list(input.shape)
    shape[first], shape[second] = rows, columns
    places = list(np.indices(tuple(shape), dtype=float))
    # Exact at right angles, and summed as SciPy does: what is beyond the border jumps.
    y, x, middle, centre = places[first], places[second], (rows - 1) / 2, (columns - 1) / 2
    above, left = cosine * middle + sine * centre, cosine * centre - sine * middle
    places[first] = (m - 1) / 2 - above + cosine * y + sine * x
    places[second] = (n - 1) / 2 - left - sine * y + cosine * x
    return placed(
        ndimage.map_coordinates(
            input, np.stack(places), order=order, mode=mode, cval=cval, prefilter=prefilter
        ),
        output,
    )


@definition(ndimage.zoom)
def zoom(
    input, zoom, *, output=None, order=3, mode="constant", cval=0.0, prefilter=True, grid_mode=False
):
    places = []
    for i in range(input.ndim):
        n = input.shape[i]
        m = round(n * each(zoom, i))
        if grid_mode:  # pixels are squares then, and it is their centres that are looked up
            places.append((np.arange(m) + 0.5) * (n / max(m, 1)) - 0.5)
        else:
            places.append(np.arange(m) * ((n - 1) / max(m - 1, 1)))
    grid = np.stack(np.meshgrid(*places, indexing="ij"))
    return placed(
        ndimage.map_coordinates(
            input, grid, order=order, mode=mode, cval=cval, prefilter=prefilter
        ),
        output,
    )


# The filters keep the image's shape, and its dtype where the weights are real

kind(ndimage.correlate, ndimage.convolve)(weighted_kind)
kind(
    *(ndimage.uniform_filter1d, ndimage.median_filter),
    *(ndimage.maximum_filter, ndimage.minimum_filter),
    *(ndimage.rank_filter, ndimage.percentile_filter),
)(like_input)
kind(ndimage.spline_filter1d)(as_doubles)

# The rest


@adjoint(ndimage.fourier_gaussian)
def fourier_gaussian(input, sigma, n=-1, axis=-1, *, out, d_out):
    return ndimage.fourier_gaussian(d_out, sigma, n, axis)


@adjoint(ndimage.fourier_ellipsoid)
def fourier_ellipsoid(input, size, n=-1, axis=-1, *, out, d_out):
    return ndimage.fourier_ellipsoid(d_out, size, n, axis)


adjoint(ndimage.fourier_uniform)(
    lambda input, size, n=-1, axis=-1, *, out, d_out: ndimage.fourier_uniform(d_out, size, n, axis)
)
adjoint(ndimage.fourier_shift)(
    lambda input, shift, n=-1, axis=-1, *, out, d_out: ndimage.fourier_shift(d_out, shift, n, axis)
)


# Sums over an image, or over the pixels that bear labels


def over_regions(measure, input, labels, index):
    """A measure of an image, of all that bears labels, or of each region that is asked for."""
    input = np.asarray(input)
    if labels is None:
        return measure(input)
    input, labels = np.broadcast_arrays(input, labels)
    if index is None:
        return measure(input[labels > 0])
    if np.ndim(index) == 0:
        return measure(input[labels == index])
    regions = np.ravel(index) if np.ndim(index) > 1 else index
    return [measure(input[labels == region]) for region in regions]


def arranged(found, index):
    """The measures of regions, as these are in their array."""
    return np.reshape(np.array(found), np.shape(index)) if np.ndim(index) > 1 else np.array(found)


def in_double(measure):
    """Means of single precision are double; so are all sums over the regions of a list."""

    def function(input, labels=None, index=None):
        found = over_regions(measure, input, labels, index)
        if measure is np.sum and not isinstance(found, list):
            return found
        return np.float64(1.0) * (arranged(found, index) if isinstance(found, list) else found)

    return function


definition(ndimage.sum, ndimage.sum_labels)(in_double(np.sum))
definition(ndimage.mean)(in_double(np.mean))
definition(ndimage.variance)(in_double(np.var))
definition(ndimage.standard_deviation)(in_double(np.std))


def centre_of(input, weights):
    mass = np.sum(input * weights)
    places = [
        np.reshape(np.arange(n * 1.0), [-1] + [1] * i) for i, n in enumerate(input.shape[::-1])
    ]
    return tuple([np.sum(input * weights * place) / mass for place in places[::-1]])


@definition(ndimage.center_of_mass)
def center_of_mass(input, labels=None, index=None):
    input = np.asarray(input)
    if labels is None:
        return centre_of(input, np.ones(input.shape))
    labels = np.asarray(labels)
    if index is None:
        return centre_of(input, (labels > 0) * 1.0)
    if np.ndim(index) == 0:
        return centre_of(input, (labels == index) * 1.0)
    return [centre_of(input, (labels == region) * 1.0) for region in index]


def or_zero(extremum):
    """Of regions in a list, those that don't occur have an extremum of zero."""

    def function(input, labels=None, index=None):
        if labels is None or index is None or np.ndim(index) == 0:
            return over_regions(extremum, input, labels, index)
        parts = over_regions(np.ravel, input, labels, index)
        found = [extremum(part) if part.size else 0 * np.sum(part) for part in parts]
        return arranged(found, index)

    return function


definition(ndimage.maximum)(or_zero(np.max))
definition(ndimage.minimum)(or_zero(np.min))


@definition(ndimage.median)
def median(input, labels=None, index=None):
    """Of regions in a list, those that don't occur have the least pixel of the first region."""
    if labels is None or index is None or np.ndim(index) == 0:
        return over_regions(np.median, input, labels, index)
    pixels, labels = np.broadcast_arrays(np.asarray(input), labels)
    least = np.min(pixels[labels == np.min(labels)])
    parts = over_regions(np.ravel, input, labels, index)
    return arranged([np.median(part) if part.size else least for part in parts], index)


LABELLED = "use np.bincount(labels.ravel(), x.ravel()), or x[labels == k]"
CALLING = "it calls a function for each pixel: write the filter with slices"

for _name in dir(ndimage):
    _function = getattr(ndimage, _name)
    if _name.startswith("_") or not callable(_function) or classified(_function):
        continue
    if _name.startswith(("binary_", "distance_", "generate_", "iterate_")) or _name in (
        *("label", "find_objects", "maximum_position", "minimum_position", "value_indices"),
        *("watershed_ift", "histogram"),
    ):
        zero(_function)
    elif _name in ("extrema", "labeled_comprehension"):
        refuse(_function, reason=LABELLED)
    else:
        refuse(_function, reason=CALLING)

for _function in {f for f in vars(ndimage).values() if callable(f) and classified(f)}:
    _names = list(inspect.signature(_function).parameters)
    if "output" in _names and _function not in definitions:
        mutates(_function, parameters=("output", _names.index("output")))
