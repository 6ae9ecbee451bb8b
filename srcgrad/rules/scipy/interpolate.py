"""Interpolation: splines that are made outside, here, and those made inside, in `piecewise`."""

from __future__ import annotations

from scipy import interpolate

from ..registry import adjoint
from . import piecewise  # noqa: F401  (registers its rules)


@adjoint(interpolate.PPoly.__call__, interpolate.BSpline.__call__)
def spline(self, x, nu=0, extrapolate=None, *, out, d_out):
    """By the point; a spline made outside is a constant."""
    slope = self(x, nu + 1, extrapolate)
    if slope.ndim == x.ndim:
        return None, d_out * slope
    if self.axis != 0:  # which is known when the gradient runs
        raise ValueError("a spline made outside is differentiated along axis 0 of its data")
    axes = tuple(range(x.ndim, slope.ndim))
    return None, (d_out * slope).sum(axes)
