"""Interpolants of several variables, made inside and outside of the differentiated function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

pytest.importorskip("scipy")

from scipy import interpolate
from scipy.spatial import Delaunay

R = np.random.default_rng(0)
X, Y, Z = np.sort(R.uniform(0, 4, 6)), np.sort(R.uniform(0, 4, 7)), R.uniform(size=(6, 7))
AT_X, AT_Y = np.array([1.0, 1.5, 2.3]), np.array([0.3, 1.0, 2.5])
FAR = np.array([-1.0, 1.0, 9.0])
PLACES, DATA, ROWS = R.uniform(size=(15, 2)), R.uniform(size=15), R.uniform(size=(15, 3))
ASKED, INNER = R.uniform(size=(4, 2)), np.array([[0.5, 0.5], [0.4, 0.6], [0.55, 0.3]])
TRIANGLES = Delaunay(PLACES)
SOLID, SOLID_DATA = R.uniform(size=(30, 3)), R.uniform(size=30)
IN_SOLID = np.array([[0.5, 0.5, 0.4], [0.4, 0.5, 0.6], [5.0, 5.0, 5.0]])

spline, kernels = interpolate.RectBivariateSpline, interpolate.RBFInterpolator
linear, nearest = interpolate.LinearNDInterpolator, interpolate.NearestNDInterpolator

PROGRAMS: dict[str, tuple[Any, ...]] = {
    "grid": (lambda z, x: spline(X, Y, z)(x, AT_Y), Z, AT_X),
    "points": (lambda z, x: spline(X, Y, z).ev(x, AT_Y), Z, AT_X),
    "points by the call": (lambda z, x: spline(X, Y, z)(x, 0.7, grid=False), Z, AT_X),
    "one point": (lambda z: spline(X, Y, z)(1.2, 0.7), Z),
    "one point by ev": (lambda z, x: spline(X, Y, z, kx=2).ev(x, 1.3), Z, 1.3),
    "slopes": (lambda z, y: spline(X, Y, z)(AT_X, y, dx=1, dy=1), Z, AT_Y),
    "degrees": (lambda z, x: spline(X, Y, z, kx=2, ky=4)(x, AT_Y), Z, AT_X),
    "other degrees": (lambda z, x: spline(X, Y, z, kx=1, ky=5)(x, AT_Y), Z, AT_X),
    "outside": (lambda z: spline(X, Y, z, kx=1, ky=1)(FAR, AT_Y), Z),
    "slopes outside": (lambda z: spline(X, Y, z, ky=2)(FAR, AT_Y, dx=1), Z),
    **{
        name: (lambda d, x, y, name=name: kernels(y, d, kernel=name)(x), DATA, ASKED, PLACES)
        for name in ("linear", "thin_plate_spline", "cubic", "quintic")
    },
    **{
        name: (
            lambda d, x, e, name=name: kernels(PLACES, d, kernel=name, epsilon=e)(x),
            DATA, ASKED, 3.0,
        )
        for name in ("gaussian", "multiquadric", "inverse_multiquadric", "inverse_quadratic")
    },
    "smoothed": (lambda d, x, s: kernels(PLACES, d, smoothing=s)(x), ROWS, ASKED, 0.3),
    "smoothed each": (lambda d, x, s: kernels(PLACES, d, smoothing=s)(x), ROWS, ASKED, DATA),
    "without a polynomial": (
        lambda d, x: kernels(PLACES, d, kernel="gaussian", epsilon=3.0, degree=-1)(x), DATA, ASKED,
    ),
    "with a parabola": (lambda d, x: kernels(PLACES, d, degree=2)(x), DATA, ASKED),
    "at the data": (lambda d, x: kernels(PLACES, d, smoothing=1.0)(x), DATA, PLACES),
    "on a line": (lambda d: kernels(PLACES[:, :1], d)(np.array([[0.5]])), DATA),
    "complex kernels": (lambda d: kernels(PLACES, d)(ASKED), DATA + 1j * DATA**2),
    "triangles": (lambda d, x, y: linear(y, d)(x), DATA, INNER, PLACES),
    "rows on triangles": (lambda d, x, y: linear(y, d)(x[:, 0], x[:, 1]), ROWS, INNER, PLACES),
    "filled": (lambda d, x: linear(PLACES, d, fill_value=3.0)(x * 9), DATA, INNER),
    "one point in a triangle": (lambda d: linear(PLACES, d)([0.5, 0.5]), DATA),
    "coordinates of one point": (lambda d: linear(PLACES, d)(0.5, 0.5), DATA),
    "many points": (lambda d: linear(PLACES, d)(np.stack([INNER, INNER[::-1]])), ROWS),
    "triangulated": (lambda d: linear(TRIANGLES, d)(INNER), DATA),
    "tetrahedra": (
        lambda d, x, y: linear(y, d, fill_value=2.0)(x), SOLID_DATA, IN_SOLID, SOLID,
    ),
    "nearest": (lambda d: nearest(PLACES, d)(INNER) * nearest(PLACES, d)(0.5, 0.5), DATA),
    "griddata": (lambda d, x, y: interpolate.griddata(y, d, x), DATA, INNER, PLACES),
    "griddata, nearest": (lambda d: interpolate.griddata(PLACES, d, INNER, "nearest"), ROWS),
    "griddata of tuples": (
        lambda d: interpolate.griddata((PLACES[:, 0], PLACES[:, 1]), d, (INNER[:, 0], INNER[:, 1])),
        DATA,
    ),
    "griddata on a line": (
        lambda d: interpolate.griddata(PLACES[:, 0], d, np.array([0.3, 0.5])), DATA,
    ),
}  # fmt: skip

BY_KERNELS = kernels(PLACES, ROWS, kernel="cubic")
ON_TRIANGLES, ROWS_ON_TRIANGLES = linear(PLACES, DATA), linear(PLACES, ROWS)
OUTSIDE: dict[str, tuple[Any, ...]] = {
    "kernels made outside": (lambda x: BY_KERNELS(x), ASKED),
    "triangles made outside": (lambda x: ON_TRIANGLES(x), INNER),
    "rows on triangles made outside": (lambda x: ROWS_ON_TRIANGLES(x[:, 0], x[:, 1]), INNER),
}


@pytest.mark.parametrize("name", [*PROGRAMS, *OUTSIDE])
def test_interpolant(name: str) -> None:
    f, *args = {**PROGRAMS, **OUTSIDE}[name]
    np.testing.assert_allclose(srcgrad.vjp(f, *args)[0], f(*args), rtol=1e-8, atol=1e-10)
    check_grads(f, args, order=1)


def test_second_order() -> None:
    check_grads(lambda x: spline(X, Y, Z).ev(x, AT_Y), (AT_X,))
    check_grads(lambda d, x: kernels(PLACES, d)(x), (DATA, ASKED))
    check_grads(lambda x: BY_KERNELS(x), (ASKED,))


SMOOTH = interpolate.CloughTocher2DInterpolator(PLACES, DATA)
RESCALED = linear(PLACES, DATA, rescale=True)
FEW = kernels(PLACES, DATA, neighbors=5)
COMPLEX = kernels(PLACES, DATA * 1j)


@pytest.mark.parametrize(
    ("f", "x", "message"),
    [
        (lambda x: spline(x, Y, Z)(AT_X, AT_Y), X, "by the axes of its grid"),
        (lambda z: spline(X, Y, z, s=1)(AT_X, AT_Y), Z, "s=0"),
        (lambda z: spline(X, Y, z, [0, 4, 0, 4])(AT_X, AT_Y), Z, "without bbox"),
        (lambda d: kernels(PLACES, d, neighbors=5)(ASKED), DATA, "all neighbors"),
        (lambda x: FEW(x), ASKED, "all neighbors"),
        (lambda x: np.abs(COMPLEX(x)), ASKED, "real data"),
        (lambda d: linear(PLACES, d, rescale=True)(INNER), DATA, "without rescale"),
        (lambda x: RESCALED(x), INNER, "nor has LinearNDInterpolator with rescale"),
        (lambda x: SMOOTH(x), INNER, "CloughTocher2DInterpolator has no rule"),
        (lambda d: interpolate.griddata(PLACES, d, INNER, "cubic"), DATA, "'linear' or 'nearest'"),
    ],
)
def test_what_is_refused(f: Any, x: Any, message: str) -> None:
    with pytest.raises((srcgrad.UnsupportedError, ValueError), match=message):
        srcgrad.grad(lambda x: np.sum(f(x)))(x)


def test_a_nearest_value_made_outside_is_constant() -> None:
    table = nearest(PLACES, DATA)
    found = srcgrad.grad(lambda x: np.sum(table(x) * x[:, 0]))(INNER)
    np.testing.assert_allclose(found[:, 0], table(INNER))
