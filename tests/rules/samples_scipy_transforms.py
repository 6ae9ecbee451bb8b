"""Samples of scipy.fft, scipy.signal and scipy.interpolate."""

import numpy as np

from srcgrad.rules import scipy as scipy_rules

from .kit import case
from .samples_linalg import c, r

SAMPLES = {}
try:
    from scipy import fft, fftpack, interpolate, signal

    from srcgrad.rules.scipy.interpolants import (
        grid_values,
        slope_between,
        smoothed_slope,
        spline_on_grid,
        surface,
    )
except ImportError:
    fft = None

if fft is not None:
    scipy_rules.load()
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        z = r if name in ("rfft", "ihfft") else c
        SAMPLES[getattr(fft, name)] = [
            case(z(5)), case(z(2, 6), 4), case(z(4, 3), axis=0, norm="ortho"), case(z(5), 8),
        ]  # fmt: skip
    for name in ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"):
        z = r if name.startswith("rfft") else c
        SAMPLES[getattr(fft, name)] = [case(z(4, 3)), case(z(2, 4, 5), norm="ortho")]
    for name in ("dct", "idct", "dst", "idst"):
        SAMPLES[getattr(fft, name)] = [
            case(r(2, 5), kind, norm=norm)
            for kind in (2, 3, 4)
            for norm in (None, "backward", "ortho", "forward")
        ] + [case(r(6)), case(r(4, 3), axis=0), case(r(5), 2, 7), case(r(2, 5), n=3)]
    for function in (fftpack.rfft, fftpack.irfft):
        SAMPLES[function] = [
            case(r(6)), case(r(5)), case(r(2, 4), 6), case(r(5, 2), n=3, axis=0), case(r(1)),
        ]  # fmt: skip
    for function in (signal.convolve, signal.fftconvolve, signal.oaconvolve, signal.correlate):
        SAMPLES[function] = [
            case(a, b, mode)
            for mode in ("full", "same", "valid")
            for a, b in (
                (r(7), r(3)), (r(7), r(4)), (c(6), c(3)), (r(5, 6), r(2, 3)), (r(6), c(2)),
                (r(5), r(5)),
            )
        ] + [case(r(3), r(6), "valid"), case(r(3), r(6))]  # fmt: skip
    for function in (signal.convolve2d, signal.correlate2d):
        SAMPLES[function] = [
            case(x, y, mode)
            for x, y in (
                (r(4, 5), r(2, 3)), (r(4, 5), r(3, 4)), (r(1, 5), r(1, 2)), (c(3, 4), c(2, 2)),
                (r(4, 3), c(2, 1)), (r(2, 3), r(4, 5)), (r(2, 2), r(3, 4)),
            )
            for mode in ("full", "same", "valid")
        ]  # fmt: skip
    from srcgrad.rules.scipy.signal import correlate_inside

    SAMPLES[correlate_inside] = [
        case(a, b)
        for a, b in ((r(7), r(3)), (r(5), r(5)), (c(6), c(3)), (r(5, 6), r(2, 3)), (c(7), r(2)))
    ]
    SAMPLES[signal.upfirdn] = [
        case(r(3), r(6), 2, 1),
        case(r(4), r(2, 5), 1, 2),
        case(r(2), r(4), 3),
    ]
    SAMPLES[signal.sawtooth] = [case(r(4), fixed=(1,)), case(r(2, 3), 0.4, fixed=(1,))]
    stable = np.array([1.3, -0.4, 0.2])
    SAMPLES[signal.lfilter] = [
        case(r(3), stable, r(8)), case(r(1), stable, r(2, 7)), case(r(4), np.array([2.0]), r(6)),
        case(r(2), stable, r(5, 2), 0), case(r(2), stable, r(2)),
        case(r(2), stable, r(7), -1, r(2)),
    ]  # fmt: skip
    cubic = interpolate.CubicSpline(np.arange(5.0), np.arange(5.0) ** 3)
    several = interpolate.CubicSpline(np.arange(5.0), r(5, 2))
    linear = interpolate.make_interp_spline(np.arange(6.0), r(6), 3)
    for function, made in (
        (interpolate.PPoly.__call__, (cubic, several)),
        (interpolate.BSpline.__call__, (linear,)),
    ):
        SAMPLES[function] = [
            case(s, x, nu)
            for s in made
            for x in (np.array(0.3), np.array([0.3, 3.7]), r(2, 2) % 1 + 2.1)
            for nu in (0, 1)
        ]

    # Interpolants that are made outside; more of them are in tests/test_scipy_interpolate.py
    knots, between = np.arange(8.0), np.array([0.3, 2.6, 5.2])
    smooth = interpolate.UnivariateSpline(knots, r(8), s=0)
    patch = interpolate.RectBivariateSpline(knots, knots[:6], r(8, 6))
    SAMPLES[interpolate.PPoly.integrate] = [case(cubic, 0.3, 2.7)]
    SAMPLES[interpolate.BSpline.integrate] = [case(linear, 0.3, 2.7)]
    SAMPLES[interpolate.interp1d.__call__] = [case(interpolate.interp1d(knots, r(8)), between)]
    SAMPLES[interpolate.BarycentricInterpolator.__call__] = [
        case(interpolate.BarycentricInterpolator(knots[:5], r(5)), between - 0.2)
    ]
    SAMPLES[interpolate.UnivariateSpline.__call__] = [case(smooth, between)]
    SAMPLES[interpolate.UnivariateSpline.integral] = [case(smooth, 0.3, 5.2)]
    SAMPLES[interpolate.BivariateSpline.ev] = [case(patch, between, between[::-1] * 0.8)]
    SAMPLES[interpolate.BivariateSpline.__call__] = [
        case(patch, between, between * 0.8),
        case(patch, between, between * 0.8, grid=False),
    ]
    for helper in (slope_between, smoothed_slope, surface, grid_values, spline_on_grid):
        SAMPLES[helper] = []  # by which the second derivatives of these go
