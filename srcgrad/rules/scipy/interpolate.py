"""Evaluation of splines that are made outside: derivatives by the point, not by the data."""

from __future__ import annotations

from scipy import interpolate

from ..registry import adjoint, refuse


@adjoint(interpolate.PPoly.__call__, interpolate.BSpline.__call__)
def spline(self, x, nu=0, extrapolate=None, *, out, d_out):
    slope = self(x, nu + 1, extrapolate)
    if slope.ndim == x.ndim:
        return None, d_out * slope
    axes = tuple(range(x.ndim, slope.ndim))
    return None, (d_out * slope).sum(axes)


refuse(interpolate.interp1d.__call__, reason="use np.interp, or a scipy.interpolate.CubicSpline")
