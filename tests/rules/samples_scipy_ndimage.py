"""Samples of scipy.ndimage."""

import numpy as np

from srcgrad.rules import scipy as scipy_rules

from .kit import case
from .samples_linalg import c, r

SAMPLES = {}
try:
    from scipy import ndimage
except ImportError:
    ndimage = None

if ndimage is not None:
    scipy_rules.load()
    from srcgrad.rules.scipy import splines

    MODES = ("reflect", "mirror", "nearest", "wrap", "constant")
    GRID_MODES = ("grid-mirror", "grid-wrap", "grid-constant")
    for function in (ndimage.correlate, ndimage.convolve):
        SAMPLES[function] = [
            case(x, weights, mode=mode)
            for mode in MODES
            for x, weights in (
                (r(7), r(3)),
                (r(5, 6), r(2, 3)),
                (c(6), c(4)),
                (r(3, 2, 4), r(1, 3, 2)),
            )
        ]
        SAMPLES[function] += [
            case(r(5, 6), r(3, 3), origin=(1, -1)),
            case(r(5), r(4), mode="constant", cval=0.7),
        ]
    SAMPLES[ndimage.uniform_filter1d] = [
        case(x, size, axis, mode=mode)
        for mode in MODES
        for x, size, axis in ((r(7), 3, -1), (r(5, 6), 4, 0))
    ] + [case(r(6), 3, origin=1)]
    SAMPLES[ndimage.spline_filter1d] = [
        case(r(13, 14), order, axis, mode=mode)
        for order in (0, 1, 2, 3, 5)
        for axis, mode in ((0, "mirror"), (-1, "reflect"), (1, "grid-wrap"), (0, "constant"))
    ] + [case(r(3, 4), 5, axis, mode=mode) for axis in (0, 1) for mode in ("reflect", "mirror")]
    points = np.random.default_rng(5).uniform(-2, 7, (2, 4))
    SAMPLES[ndimage.map_coordinates] = (
        [
            case(
                r(5, 6), points, order=order, mode=mode, tolerance=1e-5
            )  # SciPy truncates its filter
            for order in (0, 1, 2, 3)
            for mode in MODES + GRID_MODES
        ]
        + [case(r(7), points[:1], order=1), case(r(5, 6), points, prefilter=False)]
        + [case(r(5, 6), points, mode=mode, prefilter=False) for mode in MODES + GRID_MODES]
        + [  # few pixels, between which points lie, on them or halfway
            case(r(3), np.arange(-7.0, 8.0, 0.5)[None], order=order, mode=mode, fixed=(1,))
            for order in (0, 1, 5)
            for mode in MODES + GRID_MODES
        ]
    )
    SAMPLES[splines.value] = [
        case(r(5, 6), points, order, mode, 0.0, nu, fixed=(4,))
        for order in (1, 3)
        for mode in ("nearest", "grid-wrap", "constant")
        for nu in ((0, 0), (1, 0), (0, 2))
    ]
    SAMPLES[splines.scattered] = [
        case(r(4), points, (5, 6), order, mode, nu)
        for order in (1, 3)
        for mode in ("reflect", "grid-constant")
        for nu in ((0, 0), (0, 1))
    ]
    SAMPLES[ndimage.fourier_gaussian] = [case(c(4, 5), 1.5, fixed=(1,))]
    SAMPLES[ndimage.fourier_uniform] = [case(c(4, 5), 2)]
    SAMPLES[ndimage.fourier_ellipsoid] = [case(c(4, 5), 2)]
    SAMPLES[ndimage.fourier_shift] = [case(c(4, 5), (1.5, 0.5), fixed=(1,))]
    corners = np.array([[1, 0, 1], [0, 1, 1]], bool)
    for function in (ndimage.median_filter, ndimage.maximum_filter, ndimage.minimum_filter):
        SAMPLES[function] = [
            case(r(5, 6), mode=mode, cval=0.2, **options)
            for mode in MODES
            for options in (
                {"size": 3}, {"size": (2, 3)}, {"size": 4, "origin": 1}, {"footprint": corners},
                {"footprint": corners, "origin": (-1, 1)},
            )
        ] + [case(r(7), 3), case(r(3, 2, 4), (1, 3, 2)), case(r(3), 9, mode="mirror")]  # fmt: skip
    SAMPLES[ndimage.rank_filter] = [
        case(r(5, 6), 2, 3), case(r(5, 6), -3, (2, 3)), case(r(7), 1, footprint=[1, 0, 1]),
    ]  # fmt: skip
    SAMPLES[ndimage.percentile_filter] = [
        case(r(5, 6), 30, 3), case(r(5, 6), -30, (2, 3)), case(r(7), 100, 4, mode="wrap"),
    ]  # fmt: skip
