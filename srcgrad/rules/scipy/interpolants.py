"""Interpolants that are made outside: their derivatives by the point at which they are asked.

What SciPy made outside of the function is a constant. It is asked for its value as the function
asks it, and for its slopes by what is here, which generated code calls: SciPy has those of some
interpolants only, and none beyond the ends of the data, where many stay as they are.
"""

from __future__ import annotations

import numpy as np
from scipy import interpolate

from ... import ir
from ...analysis.inference import Inferred
from ...kinds import Array, fresh_size
from ..registry import adjoint, definition, kind
from ..shapes import broadcast
from .kinds import operand_kind
from .piecewise import Grid
from .splines import raised

# Polynomials between knots


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


@adjoint(interpolate.PPoly.integrate, interpolate.BSpline.integrate)
def integral(self, a, b, extrapolate=None, *, out, d_out):
    return None, -d_out * self(a, 0, extrapolate), d_out * self(b, 0, extrapolate)


class Derivative:
    """A derivative of an interpolant that is made outside."""

    def __init__(self, whole, order):
        self.whole, self.order = whole, order

    def __call__(self, x, nu=0, extrapolate=None):
        return self.whole(x, self.order + nu, extrapolate)

    def derivative(self, nu=1):
        return Derivative(self.whole, self.order + nu)


@definition(interpolate.PPoly.derivative, interpolate.BSpline.derivative)
def derivative(self, nu=1):
    return Derivative(self, nu)


definition(interpolate.UnivariateSpline.derivative)(lambda self, n=1: Derivative(self, n))


# Of one variable, along an axis of the data


@adjoint(interpolate.interp1d.__call__, interpolate.BarycentricInterpolator.__call__)
def interpolant(self, x, *, out, d_out):
    return None, (d_out * slope_between(self, x, 1)).sum(axes_of_data(self, x.ndim))


def axes_of_data(table, rank):
    """The axes of the values at points that aren't those of the points, of which there are `rank`.

    >>> axes_of_data(interpolate.interp1d([0.0, 1.0], np.ones((5, 2, 7)), axis=1), 1)
    (0, 2)
    """
    first, count = table._y_axis, rank + len(table._y_extra_shape)
    return (*range(first), *range(first + rank, count))


def slope_between(table, x, nu):
    """A derivative of what `interp1d` makes, or of a polynomial through all points.

    It is laid out as the values are. At a knot it is the one to the right; beyond the ends it is
    zero where a constant is filled in.

    >>> table = interpolate.interp1d([0.0, 1.0, 3.0], [0.0, 2.0, 0.0], fill_value="extrapolate")
    >>> slope_between(table, np.array([0.5, 1.0, 9.0]), 1)
    array([ 2., -1., -1.])
    """
    if not isinstance(table, interpolate.interp1d):
        return table.derivative(x, nu)
    x = np.asarray(x)
    knots, flat = table.x, np.ravel(x)
    values = np.moveaxis(table.y, table.axis, 0)
    if hasattr(table, "_spline"):
        found = np.reshape(table._spline(flat, nu), (*flat.shape, *values.shape[1:]))
    else:
        found = np.zeros((*flat.shape, *values.shape[1:]))
        if table._kind == "linear" and nu == 1:
            i = np.clip(np.searchsorted(knots, flat, "right") - 1, 0, len(knots) - 2)
            widths = knots[i + 1] - knots[i]
            found += ((values[i + 1] - values[i]).T / widths).T
    if not isinstance(table.fill_value, str):
        outside = (flat < knots[0]) | (flat > knots[-1])
        if table.bounds_error and np.any(outside):
            raise ValueError("a value in x_new is outside the interpolation range")
        found[outside] = 0.0
    found = np.reshape(found, (*x.shape, *values.shape[1:]))
    return np.moveaxis(found, range(x.ndim), range(table.axis, table.axis + x.ndim))


@adjoint(slope_between)
def change_of_slope(table, x, nu, *, out, d_out):
    return None, (d_out * slope_between(table, x, nu + 1)).sum(axes_of_data(table, x.ndim))


@kind(interpolate.interp1d.__call__, interpolate.BarycentricInterpolator.__call__, slope_between)
def values_kind(args, kwargs):
    x = operand_kind(args[1] if len(args) > 1 else kwargs.get("x"))
    if x is None or not isinstance(args[0], ir.Const):
        return None
    table = args[0].value
    points = getattr(x, "shape", ())
    if points is None:
        return None
    others = tuple(table._y_extra_shape)
    shape = (*others[: table._y_axis], *points, *others[table._y_axis :])
    return Inferred(Array(np.result_type(table.dtype, np.float64), shape))


# Smoothed splines of one variable


@adjoint(interpolate.UnivariateSpline.__call__)
def smoothed(self, x, nu=0, ext=None, *, out, d_out):
    return None, d_out * smoothed_slope(self, x, nu + 1, ext)


def smoothed_slope(spline, x, nu, ext):
    """A derivative of a `UnivariateSpline`: 0 where it goes on as a constant, or is of less degree.

    >>> x = np.arange(5.0)
    >>> spline = interpolate.UnivariateSpline(x, x**2, s=0, ext="const")
    >>> np.round(smoothed_slope(spline, np.array([1.0, 9.0]), 1, None), 9)
    array([2., 0.])
    """
    knots = spline.get_knots()
    degree = len(spline.get_coeffs()) - len(knots) + 1
    ext = spline.ext if ext is None else ext
    x = np.asarray(x)
    found = np.array(spline(x, min(nu, degree), ext))
    if nu > degree:
        found[...] = 0.0
    if ext in (3, "const"):
        found[(x < knots[0]) | (x > knots[-1])] = 0.0
    return found


adjoint(smoothed_slope)(
    lambda spline, x, nu, ext, *, out, d_out: (None, d_out * smoothed_slope(spline, x, nu + 1, ext))
)


@adjoint(interpolate.UnivariateSpline.integral)
def smoothed_integral(self, a, b, *, out, d_out):
    """Nothing is beyond the ends of the data, for SciPy."""
    d_a, d_b = smoothed_slope(self, a, 0, "zeros"), smoothed_slope(self, b, 0, "zeros")
    return None, -d_out * d_a, d_out * d_b


@kind(interpolate.UnivariateSpline.__call__, smoothed_slope)
def smoothed_kind(args, kwargs):
    x = operand_kind(args[1] if len(args) > 1 else kwargs.get("x"))
    shape = getattr(x, "shape", ())
    return None if x is None or shape is None else Inferred(Array(np.dtype(np.float64), shape))


# Of two variables


@adjoint(interpolate.BivariateSpline.ev)
def surface_at(self, xi, yi, dx=0, dy=0, *, out, d_out):
    d_x, d_y = surface(self, xi, yi, dx + 1, dy), surface(self, xi, yi, dx, dy + 1)
    return None, d_out * d_x, d_out * d_y


@adjoint(interpolate.BivariateSpline.__call__)
def surface_on_grid(self, x, y, dx=0, dy=0, grid=True, *, out, d_out):
    if grid:
        return (None, *of_grid(self, x, y, dx, dy, d_out))
    d_x, d_y = surface(self, x, y, dx + 1, dy), surface(self, x, y, dx, dy + 1)
    return None, d_out * d_x, d_out * d_y


def of_grid(spline, x, y, dx, dy, d_out):
    """What the values on a grid contribute to the adjoints of its two axes."""
    rows, columns = np.reshape(x, (-1, 1)), np.reshape(y, (1, -1))
    d_x = d_out * surface(spline, rows, columns, dx + 1, dy)
    d_y = d_out * surface(spline, rows, columns, dx, dy + 1)
    return np.reshape(d_x.sum(1), np.shape(x)), np.reshape(d_y.sum(0), np.shape(y))


def surface(spline, x, y, dx, dy):
    """A partial derivative of a spline of two variables, given as an object or by its `tck`.

    FITPACK moves points that are outside of the data to its edge, so that nothing changes there.

    >>> x = np.arange(5.0)
    >>> spline = interpolate.RectBivariateSpline(x, x, np.outer(x, x), kx=1, ky=1)
    >>> np.round(surface(spline, np.array([1.5, 9.0]), 2.5, 1, 0), 9)
    array([2.5, 0. ])
    """
    if hasattr(spline, "degrees"):
        (kx, ky), (tx, ty, c) = spline.degrees, spline.tck[:3]
    else:
        tx, ty, c, kx, ky = spline
    c = np.reshape(c, (len(tx) - kx - 1, len(ty) - ky - 1))
    points, moved = [], False
    for place, t, k, nu in ((x, tx, kx, dx), (y, ty, ky, dy)):
        inner = np.clip(place, t[k], t[-k - 1])
        points.append(inner)
        moved = moved | ((inner != place) & (nu > 0))
    found = interpolate.NdBSpline((tx, ty), c, (kx, ky))(
        np.stack(np.broadcast_arrays(*points), -1), nu=(dx, dy)
    )
    return np.where(moved, 0.0, found)


@adjoint(surface)
def bend_of_surface(spline, x, y, dx, dy, *, out, d_out):
    d_x, d_y = surface(spline, x, y, dx + 1, dy), surface(spline, x, y, dx, dy + 1)
    return None, d_out * d_x, d_out * d_y


def grid_values(tck, x, y, dx, dy):
    """What `bisplev` finds on a grid, with both its axes whatever their lengths."""
    return np.reshape(interpolate.bisplev(x, y, tck, dx, dy), (len(x), len(y)))


@adjoint(grid_values)
def d_grid_values(tck, x, y, dx, dy, *, out, d_out):
    return (None, *of_grid(tck, x, y, dx, dy, d_out))


@definition(interpolate.bisplev)
def bisplev(x, y, tck, dx=0, dy=0):
    found = grid_values(tck, np.atleast_1d(x), np.atleast_1d(y), dx, dy)
    if len(found) > 1:
        return found
    if len(found[0]) > 1:
        return found[0]
    return found[0][0]


@kind(interpolate.BivariateSpline.ev, surface)
def surface_kind(args, kwargs):
    return _of_surface(args, kwargs, grid=False)


@kind(interpolate.BivariateSpline.__call__)
def on_grid_kind(args, kwargs):
    grid = args[5] if len(args) > 5 else kwargs.get("grid", ir.Const(True))
    return _of_surface(args, kwargs, grid.value) if isinstance(grid, ir.Const) else None


kind(grid_values)(lambda args, kwargs: _of_surface(args, kwargs, grid=True))


def _of_surface(args, kwargs, grid):
    """An array of floats at two points, broadcast, or on the grid of two vectors."""
    shapes = []
    for position, names in ((1, ("x", "xi")), (2, ("y", "yi"))):
        named = next((kwargs[name] for name in names if name in kwargs), None)
        found = operand_kind(args[position] if len(args) > position else named)
        if found is None or getattr(found, "shape", ()) is None:
            return None
        shapes.append(getattr(found, "shape", ()))
    if grid:
        sizes = [s[0] if len(s) == 1 else 1 if not s else fresh_size() for s in shapes]
        return Inferred(Array(np.dtype(np.float64), tuple(sizes)))
    return Inferred(Array(np.dtype(np.float64), broadcast(shapes)))


# On a grid of any number of axes


@definition(interpolate.RegularGridInterpolator.__call__)
def on_regular_grid(self, xi, method=None, *, nu=None):
    method = self.method if method is None else method
    if method == "linear" and nu is None:
        return Grid(self.grid, self.values, self.bounds_error, self.fill_value)(xi)
    axes = len(self.grid)
    if method not in ("slinear", "cubic", "quintic") or np.ndim(self.values) > axes:
        raise NotImplementedError(
            "RegularGridInterpolator is differentiated with method='linear' or, of one value at "
            "each point of the grid, 'slinear', 'cubic' or 'quintic'"
        )
    if isinstance(xi, tuple):
        xi = np.stack(np.broadcast_arrays(*xi), -1)
    elif np.ndim(xi) == 1:
        xi = np.reshape(xi, (-1, axes))
    return spline_on_grid(self, np.asarray(xi), method, (0,) * axes if nu is None else tuple(nu))


def spline_on_grid(table, xi, method, nu):
    """A partial derivative of a `RegularGridInterpolator`, zero where a constant is filled in."""
    found = table(xi, method, nu=nu)
    if any(nu) and not table.bounds_error and table.fill_value is not None:
        ends = np.array([(axis[0], axis[-1]) for axis in table.grid])
        found[np.any((xi < ends[:, 0]) | (xi > ends[:, 1]), -1)] = 0.0
    return found


@adjoint(spline_on_grid)
def d_spline_on_grid(table, xi, method, nu, *, out, d_out):
    slopes = [spline_on_grid(table, xi, method, raised(nu, i)) for i in range(len(nu))]
    return None, np.stack([d_out * slope for slope in slopes], -1)


@kind(spline_on_grid)
def on_grid_points_kind(args, kwargs):
    xi = operand_kind(args[1])
    if xi is None or xi.shape is None:
        return None
    return Inferred(Array(np.dtype(np.float64), xi.shape[:-1]))
