"""Interpolants of several variables that the differentiated code makes: by the values, and by the
points at which they are asked.

A surface on a grid (`RectBivariateSpline`) is a spline in each direction, its coefficients the
solution of two band systems. Kernels (`RBFInterpolator`) are summed in NumPy, and what is linear on
triangles is found from their corners, so that the places of the data have derivatives, too.
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy import interpolate, linalg
from scipy.spatial import Delaunay, KDTree, distance

from ...analysis.inference import Inferred
from ...custom import stop_gradient
from ...ir import Const
from ...kinds import Array, Opaque, Scalar, TupleOf, fresh_size
from ..registry import definition, kind, passes_for, refuse, zero
from .kinds import operand_kind
from .left import left
from .piecewise import Spline, aligned, interp1d

DOUBLE, WHOLE = np.dtype(np.float64), np.dtype(np.intp)

# On a rectangular grid


def spline_knots(x, k):
    """The knots of the spline of degree k through points at x, as FITPACK chooses them, and the
    band matrix of its B-splines there. Called by generated code.

    >>> spline_knots(np.arange(4.0), 1)[0]
    array([0., 0., 1., 2., 3., 3.])
    """
    x = np.asarray(x, float)
    if x.ndim != 1 or len(x) <= k or np.any(np.diff(x) <= 0):
        raise ValueError("a spline of degree k needs more than k points, in rising order")
    inner = x if k % 2 else (x[1:] + x[:-1]) / 2
    beside = (k + 1) // 2 if k % 2 else k // 2
    inner = inner[beside : len(inner) - beside]
    t = np.concatenate((np.full(k + 1, x[0]), inner, np.full(k + 1, x[-1])))
    made = interpolate.BSpline.design_matrix(x, t, k).tocoo()
    band = np.zeros((2 * k + 1, len(x)))
    band[k + made.row - made.col, made.col] = made.data
    return t, band


refuse(spline_knots, reason="a surface has no derivative by the axes of its grid: only by z")
kind(spline_knots)(
    lambda args, kwargs: Inferred(
        TupleOf((Array(DOUBLE, (fresh_size(),)), Array(DOUBLE, (fresh_size(), fresh_size()))))
    )
)


@passes_for(interpolate.RectBivariateSpline)
class Surface:
    """A spline in each of two directions."""

    def __init__(self, tx, ty, c, kx, ky):
        self.tx, self.ty, self.c, self.kx, self.ky = tx, ty, c, kx, ky

    def __call__(self, x, y, dx=0, dy=0, grid=True):
        x = np.clip(x, self.tx[0], self.tx[-1])
        y = np.clip(y, self.ty[0], self.ty[-1])
        if grid:
            along_x = Spline(self.tx, self.c, self.kx, True)(np.atleast_1d(x), dx)
            return Spline(self.ty, along_x.T, self.ky, True)(np.atleast_1d(y), dy).T
        x, y = x + 0.0 * y, y + 0.0 * x
        shape, x, y = np.shape(x), np.ravel(x), np.ravel(y)
        in_x = Spline(self.tx, np.eye(len(self.tx) - self.kx - 1), self.kx, True)(x, dx)
        in_y = Spline(self.ty, np.eye(len(self.ty) - self.ky - 1), self.ky, True)(y, dy)
        return np.reshape(np.sum((in_x @ self.c) * in_y, -1), shape)

    def ev(self, xi, yi, dx=0, dy=0):
        return self(xi, yi, dx, dy, False)


@definition(interpolate.RectBivariateSpline)
def rect_bivariate_spline(x, y, z, bbox=(None, None, None, None), kx=3, ky=3, s=0):
    if s != 0:
        raise NotImplementedError(
            "RectBivariateSpline is differentiated with s=0: how it smooths has no derivative"
        )
    for end in bbox:
        if end is not None:
            raise NotImplementedError("RectBivariateSpline is differentiated without bbox")
    tx, in_x = spline_knots(x, kx)
    ty, in_y = spline_knots(y, ky)
    half = linalg.solve_banded((kx, kx), in_x, np.asarray(z) * 1.0)
    return Surface(tx, ty, linalg.solve_banded((ky, ky), in_y, half.T).T, kx, ky)


# Sums of kernels


def exponents(ndim, degree):
    """Those of the monomials of so many variables up to a degree. Called by generated code.

    >>> exponents(2, 1)
    array([[0, 0],
           [1, 0],
           [0, 1]])
    """
    found = []
    for total in range(degree + 1):
        for chosen in itertools.combinations_with_replacement(range(ndim), total):
            found.append([chosen.count(i) for i in range(ndim)])
    return np.reshape(np.array(found, np.int64), (-1, ndim))


zero(exponents)
kind(exponents)(
    lambda args, kwargs: Inferred(Array(np.dtype(np.int64), (fresh_size(), fresh_size())))
)


def kernel_values(kernel, x, y, epsilon):
    """The kernel of all distances, written without what has no derivative at 0."""
    if kernel in ("linear", "cubic", "quintic"):
        r = epsilon * distance.cdist(x, y)
        return -r if kernel == "linear" else r**3 if kernel == "cubic" else -(r**5)
    s = epsilon**2 * distance.cdist(x, y, "sqeuclidean")
    if kernel == "thin_plate_spline":
        return 0.5 * s * np.log(s + (s == 0))
    if kernel == "multiquadric":
        return -np.sqrt(s + 1.0)
    if kernel == "inverse_multiquadric":
        return 1.0 / np.sqrt(s + 1.0)
    if kernel == "inverse_quadratic":
        return 1.0 / (s + 1.0)
    return np.exp(-s)


def monomials(x, powers):
    return np.prod(x[:, None, :] ** powers, axis=-1)


@passes_for(interpolate.RBFInterpolator)
class Kernels:
    """The sum of kernels about the data and of a polynomial."""

    def __init__(self, y, coefficients, kernel, epsilon, powers, shift, scale, shape):
        self.y, self.coefficients, self.kernel, self.epsilon = y, coefficients, kernel, epsilon
        self.powers, self.shift, self.scale, self.shape = powers, shift, scale, shape

    def __call__(self, x):
        x = np.asarray(x) * 1.0
        near = kernel_values(self.kernel, x, self.y, self.epsilon)
        count = self.y.shape[0]
        far = monomials((x - self.shift) / self.scale, self.powers)
        found = near @ self.coefficients[:count] + far @ self.coefficients[count:]
        return np.reshape(found, (x.shape[0], *self.shape))


LEAST_DEGREE = {"multiquadric": 0, "linear": 0, "thin_plate_spline": 1, "cubic": 1, "quintic": 2}
KERNELS = (*LEAST_DEGREE, "inverse_multiquadric", "inverse_quadratic", "gaussian")


@definition(interpolate.RBFInterpolator)
def rbf_interpolator(
    y, d, neighbors=None, smoothing=0.0, kernel="thin_plate_spline", epsilon=None, degree=None
):
    if neighbors is not None:
        raise NotImplementedError("RBFInterpolator is differentiated with all neighbors")
    if kernel not in KERNELS:
        raise NotImplementedError("RBFInterpolator has no kernel of this name (in lower case)")
    if epsilon is None:
        if kernel not in ("linear", "thin_plate_spline", "cubic", "quintic"):
            raise ValueError("`epsilon` must be specified if `kernel` depends on the scale.")
        epsilon = 1.0
    if degree is None:
        degree = max(LEAST_DEGREE.get(kernel, -1), 0)
    y, d = np.asarray(y) * 1.0, np.asarray(d) * 1.0
    count = y.shape[0]
    powers = exponents(y.shape[1], degree)
    low, high = np.min(stop_gradient(y), axis=0), np.max(stop_gradient(y), axis=0)
    shift, scale = (high + low) / 2, (high - low) / 2
    scale = scale + (scale == 0)
    near = kernel_values(kernel, y, y, epsilon) + smoothing * np.eye(count)
    far = monomials((y - shift) / scale, powers)
    none = np.zeros((powers.shape[0], powers.shape[0]))
    system = np.concatenate(
        (np.concatenate((near, far), axis=1), np.concatenate((far.T, none), axis=1)), axis=0
    )
    flat = np.reshape(d, (count, -1))
    right = np.concatenate((flat, np.zeros((powers.shape[0], flat.shape[1]))), axis=0)
    solved = np.linalg.solve(system, right)
    return Kernels(y, solved, kernel, epsilon, powers, shift, scale, d.shape[1:])


def kernel_weights(table):
    """Those of an interpolant made outside, with the parameters of its polynomial. Called by
    generated code.
    """
    if table.neighbors is not None or np.dtype(table.d_dtype).kind == "c":
        raise ValueError(
            "an RBFInterpolator made outside is differentiated with all neighbors, of real data"
        )
    return table._coeffs, table.epsilon, table.powers, table._shift, table._scale


zero(kernel_weights)


@kind(kernel_weights)
def kernel_weights_kind(args, kwargs):
    vector = Array(DOUBLE, (fresh_size(),))
    weights = Array(DOUBLE, (fresh_size(), fresh_size()))
    powers = Array(np.dtype(np.int64), (fresh_size(), fresh_size()))
    return Inferred(TupleOf((weights, Scalar(DOUBLE, None), powers, vector, vector)))


few_left = left(interpolate.RBFInterpolator.__call__, "it is differentiated with all neighbors")


@definition(interpolate.RBFInterpolator.__call__)
def kernels_from_outside(self, x):
    if self.neighbors is not None:
        return few_left(self, x)
    weights, epsilon, powers, shift, scale = kernel_weights(self)
    return Kernels(
        self.y, weights, self.kernel, epsilon, powers, shift, scale, self.d_shape
    )(x)  # fmt: skip


# On triangles


def triangulated(points):
    """Called by generated code."""
    return points if isinstance(points, Delaunay) else Delaunay(points)


zero(triangulated)
kind(triangulated)(lambda args, kwargs: Inferred(Opaque(Delaunay)))


def located(triangles, x):
    """The corners of the triangle in which each point lies, and whether it is in any: those of the
    largest one if it isn't. Called by generated code.
    """
    number = triangles.find_simplex(x)
    corners = triangles.points[triangles.simplices]
    size = np.abs(np.linalg.det(corners[:, :-1] - corners[:, -1:]))
    inside = number >= 0
    return triangles.simplices[np.where(inside, number, np.argmax(size))], inside


zero(located)


def shape_of_points(operand):
    """The shape of an array of points without the axis of their coordinates, or None."""
    if isinstance(operand, Const):
        return np.shape(operand.value)[:-1]
    shape = getattr(operand_kind(operand), "shape", None)
    return None if shape is None else shape[:-1]


@kind(located)
def located_kind(args, kwargs):
    shape = shape_of_points(args[1])
    if shape is None:
        return None
    corners = Array(np.dtype(np.intc), (*shape, fresh_size()))
    return Inferred(TupleOf((corners, Array(np.dtype(bool), shape))))


@passes_for(interpolate.LinearNDInterpolator)
class Triangulated:
    """What is linear on each triangle, as long as the same points are its corners."""

    def __init__(self, triangles, points, values, fill):
        self.triangles, self.points, self.values, self.fill = triangles, points, values, fill

    def __call__(self, *args):
        x = as_points(args if len(args) > 1 else args[0])
        corners, inside = located(self.triangles, x)
        places = self.points[corners]
        last = places[..., -1, :]
        sides = np.swapaxes(places[..., :-1, :] - last[..., None, :], -1, -2)
        first = np.linalg.solve(sides, (x - last)[..., None])[..., 0]
        weights = np.concatenate((first, 1.0 - np.sum(first, -1, keepdims=True)), -1)
        later = np.ndim(self.values) - 1
        found = np.sum(aligned(weights, later) * self.values[corners], axis=-1 - later)
        return np.where(aligned(inside, later), found, self.fill)


def as_points(x):
    """Points as an array whose last axis is that of the coordinates."""
    if isinstance(x, tuple):
        return np.stack(np.broadcast_arrays(*x), -1) * 1.0
    return np.asarray(x) * 1.0


@definition(interpolate.LinearNDInterpolator)
def linear_nd_interpolator(points, values, fill_value=np.nan, rescale=False):
    if rescale:
        raise NotImplementedError("LinearNDInterpolator is differentiated without rescale")
    if isinstance(points, Delaunay):
        return Triangulated(points, points.points, np.asarray(values) * 1.0, fill_value)
    points = as_points(points)
    return Triangulated(triangulated(points), points, np.asarray(values) * 1.0, fill_value)


def ask(table, *args):
    """Called by generated code."""
    return table(*args)


asked_left = left(
    ask,
    "CloughTocher2DInterpolator has no rule, nor has LinearNDInterpolator with rescale: use "
    "RBFInterpolator, or LinearNDInterpolator without",
)


@definition(interpolate.LinearNDInterpolator.__call__)
def linear_from_outside(self, *args):
    """The method of a common base, which the smooth interpolants have, too."""
    if not isinstance(self, interpolate.LinearNDInterpolator) or self.scale is not None:
        return asked_left(self, *args)
    values = np.reshape(self.values, (len(self.values), *self.values_shape))
    return Triangulated(self.tri, self.points, values, self.fill_value)(*args)


def nearest(points, x):
    """Which of the points is nearest. Called by generated code.

    >>> nearest(np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([0.9, 0.7]))
    array(1)
    """
    return np.asarray(KDTree(points).query(x)[1])


zero(nearest)


@kind(nearest)
def nearest_kind(args, kwargs):
    shape = shape_of_points(args[1])
    return None if shape is None else Inferred(Array(WHOLE, shape))


@passes_for(interpolate.NearestNDInterpolator)
class Nearest:
    """The value at the nearest point."""

    def __init__(self, points, values):
        self.points, self.values = points, values

    def __call__(self, *args):
        return self.values[nearest(self.points, as_points(args if len(args) > 1 else args[0]))]


@definition(interpolate.NearestNDInterpolator)
def nearest_nd_interpolator(x, y, rescale=False):
    if rescale:
        raise NotImplementedError("NearestNDInterpolator is differentiated without rescale")
    return Nearest(as_points(x), np.asarray(y))


zero(interpolate.NearestNDInterpolator.__call__)


griddata_left = left(interpolate.griddata, "it is differentiated with method='linear' or 'nearest'")


@definition(interpolate.griddata)
def griddata(points, values, xi, method="linear", fill_value=np.nan, rescale=False):
    if method not in ("linear", "nearest"):
        return griddata_left(points, values, xi, method, fill_value, rescale)
    points = as_points(points)
    if points.ndim == 1 and method == "linear":
        return interp1d(
            points, values, axis=0, bounds_error=False, fill_value=fill_value
        )(xi)  # fmt: skip
    if points.ndim == 1:
        raise NotImplementedError("griddata is differentiated on a line with method='linear'")
    if method == "nearest":
        return nearest_nd_interpolator(points, values, rescale)(xi)
    return linear_nd_interpolator(points, values, fill_value, rescale)(xi)
