"""Interpolants made inside: their values are SciPy's, their derivatives those of differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

pytest.importorskip("scipy")

from scipy import interpolate

R = np.random.default_rng(0)
KNOTS = np.sort(R.uniform(0, 5, 8))
VALUES, MANY, GRID = R.normal(size=8), R.normal(size=(8, 3)), R.normal(size=(8, 8))
POINTS = np.array([-0.5, KNOTS[0], KNOTS[2], 1.3, KNOTS[-1], 5.5, 2.2])
INSIDE = np.clip(POINTS, KNOTS[0], KNOTS[-1])
PAIRS = np.stack([INSIDE, INSIDE[::-1]], -1) * 0.3 + np.array([1.8, 2.5])
BEYOND = np.array([[1.3, 2.2], [90.0, 2.2], [1.2, -30.0]])


def padded(x):
    return np.concatenate([[x[0]] * 3, x, [x[-1]] * 3])


PROGRAMS: dict[str, Any] = {
    "cubic": lambda x, y: interpolate.CubicSpline(x, y)(POINTS),
    "columns": lambda x, y: interpolate.CubicSpline(x, MANY * y[:, None])(POINTS),
    "another axis": lambda x, y: interpolate.CubicSpline(x, MANY.T * y, axis=1)(1.3),
    "natural": lambda x, y: interpolate.CubicSpline(x, y, bc_type="natural")(POINTS, 2),
    "clamped": lambda x, y: interpolate.CubicSpline(x, y, 0, "clamped", False)(INSIDE),
    "two ends": lambda x, y: interpolate.CubicSpline(x, y, bc_type=((1, 0.3), (2, -0.7)))(POINTS),
    "derivative": lambda x, y: interpolate.CubicSpline(x, y).derivative()(POINTS),
    "antiderivative": lambda x, y: interpolate.CubicSpline(x, y).antiderivative()(INSIDE),
    "second antiderivative": lambda x, y: interpolate.CubicSpline(x, y).antiderivative(2)(INSIDE),
    "integral": lambda x, y: interpolate.CubicSpline(x, y).integrate(0.7, 2.2),
    "integral to outside": lambda x, y: interpolate.CubicSpline(x, y).integrate(-0.7, 9.2),
    "integral that isn't there": lambda x, y: np.nan_to_num(
        interpolate.Akima1DInterpolator(x, y).integrate(1.0, 9.2)
    ),
    "nothing outside": lambda x, y: np.nan_to_num(
        interpolate.CubicSpline(x, y)(POINTS, 1, extrapolate=False)
    ),
    "periodic": lambda x, y: interpolate.CubicSpline(x, y, extrapolate="periodic")(POINTS + 0.01),
    "once periodic": lambda x, y: interpolate.PchipInterpolator(x, y)(POINTS + 0.01, 1, "periodic"),
    "points in place of an axis": lambda x, y: interpolate.CubicSpline(x, MANY.T * y, axis=1)(
        np.stack([POINTS, POINTS[::-1]])
    ),
    "pchip along an axis": lambda x, y: interpolate.PchipInterpolator(x, GRID * y, 1)(POINTS),
    "akima along an axis": lambda x, y: interpolate.Akima1DInterpolator(x, GRID * y, 1)(INSIDE),
    "hermite along an axis": lambda x, y: interpolate.CubicHermiteSpline(x, GRID * y, GRID, -1)(
        POINTS
    ),
    "B-splines along an axis": lambda x, y: interpolate.make_interp_spline(x, GRID * y, axis=1)(
        POINTS, 1
    ),
    "coefficients": lambda x, y: interpolate.CubicSpline(x, y).c[:, 2],
    "pchip": lambda x, y: interpolate.PchipInterpolator(x, y)(POINTS),
    "pchip of columns": lambda x, y: interpolate.PchipInterpolator(x, MANY * y[:, None])(POINTS),
    "monotone": lambda x, y: interpolate.PchipInterpolator(x, np.cumsum(y**2))(POINTS),
    "akima": lambda x, y: interpolate.Akima1DInterpolator(x, np.cumsum(y**2))(INSIDE, 1),
    "hermite": lambda x, y: interpolate.CubicHermiteSpline(x, y, y * 2)(POINTS),
    "interp1d": lambda x, y: interpolate.interp1d(x, y)(INSIDE),
    "filled": lambda x, y: interpolate.interp1d(x, y, bounds_error=False, fill_value=(1.0, 2.0))(
        POINTS
    ),
    "extrapolated": lambda x, y: interpolate.interp1d(x, y, fill_value="extrapolate")(POINTS),
    "cubic interp1d": lambda x, y: interpolate.interp1d(x, y, kind="cubic")(INSIDE),
    "of degree one": lambda x, y: interpolate.make_interp_spline(x, y, k=1)(POINTS),
    "of B-splines": lambda x, y: interpolate.make_interp_spline(x, y, bc_type="natural")(POINTS),
    "B-spline": lambda x, y: interpolate.BSpline(padded(x), np.append(y, y[:2]), 3)(POINTS),
    "slope of a B-spline": lambda x, y: interpolate.BSpline(
        padded(x), np.append(y, y[:2]), 3
    ).derivative()(INSIDE),
    "B-spline with nothing outside": lambda x, y: np.nan_to_num(
        interpolate.BSpline(padded(x), np.append(y, y[:2]), 3)(POINTS, 1, False)
    ),
    "periodic B-spline": lambda x, y: interpolate.BSpline(padded(x), np.append(y, y[:2]), 3)(
        POINTS + 0.01, extrapolate="periodic"
    ),
    "no slope left": lambda x, y: interpolate.BSpline(padded(x), np.append(y, y[:2]), 3)(INSIDE, 4),
    "knots at one place": lambda x, y: interpolate.BSpline(
        np.insert(padded(x), 5, x[2]), np.append(y, y[:3]), 3
    )(np.append(INSIDE, 1.31), 2),
    "of degree two": lambda x, y: interpolate.BSpline(x, y, 2)(POINTS, 1),
    "splev": lambda x, y: interpolate.splev(INSIDE, interpolate.splrep(x, y), der=1),
    "fitpack": lambda x, y: interpolate.InterpolatedUnivariateSpline(x, y)(INSIDE),
    "grid filled outside": lambda x, y: interpolate.RegularGridInterpolator(
        (x, x + 1), GRID * y, bounds_error=False, fill_value=7.0
    )(BEYOND, method="linear"),
    "grid extrapolated": lambda x, y: interpolate.interpn(
        (x, x + 1), GRID * y, BEYOND, bounds_error=False, fill_value=None
    ),
    "grid at one point": lambda x, y: interpolate.RegularGridInterpolator((x, x + 1), GRID * y)(
        [0.4, 1.3]
    ),
    "polynomials along an axis": lambda x, y: interpolate.BarycentricInterpolator(
        x, GRID * y, axis=1
    )([0.4, 1.3]),
    "grid": lambda x, y: interpolate.RegularGridInterpolator((x, x + 1), GRID * y)(PAIRS),
    "uneven grid": lambda x, y: interpolate.interpn(
        (x, x[:3] - x[0]), MANY * y[:, None], np.array([1.3, 0.01])
    ),
    "lagrange": lambda x, y: interpolate.lagrange(x, y)(1.2),
    "krogh": lambda x, y: interpolate.KroghInterpolator(x, y)(INSIDE),
    "krogh at once": lambda x, y: interpolate.krogh_interpolate(x, y, INSIDE),
    "barycentric at once": lambda x, y: interpolate.barycentric_interpolate(x, GRID * y, 1.3, 1),
    "pchip at once": lambda x, y: interpolate.pchip_interpolate(x, y, POINTS, der=1),
}


@pytest.mark.filterwarnings("ignore:`lagrange` is deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_interpolant(name: str) -> None:
    f = PROGRAMS[name]
    weights = R.normal(size=np.shape(f(KNOTS, VALUES)))

    def loss(x, y):
        return np.sum(f(x, y) * weights)

    value, (d_x, d_y) = srcgrad.value_and_grad(loss, argnums=(0, 1))(KNOTS, VALUES)
    assert value == pytest.approx(loss(KNOTS, VALUES), rel=1e-10)
    along_x, along_y = R.normal(size=8), R.normal(size=8)
    along_x[[0, 2, -1]] = 0  # where points are
    h = 1e-6
    ahead, behind = (loss(KNOTS + s * h * along_x, VALUES + s * h * along_y) for s in (1, -1))
    found = np.sum(d_x * along_x) + np.sum(d_y * along_y)
    assert found == pytest.approx((ahead - behind) / (2 * h), rel=1e-5, abs=1e-5)
    moved = srcgrad.jvp(loss, (KNOTS, VALUES), (along_x, along_y))[1]
    assert moved == pytest.approx(found, rel=1e-9)


MAKERS: dict[str, Any] = {
    "CubicSpline": lambda y: interpolate.CubicSpline(KNOTS, y),
    "PchipInterpolator": lambda y: interpolate.PchipInterpolator(KNOTS, y),
    "Akima1DInterpolator": lambda y: interpolate.Akima1DInterpolator(KNOTS, y),
    "CubicHermiteSpline": lambda y: interpolate.CubicHermiteSpline(KNOTS, y, y),
    "interp1d": lambda y: interpolate.interp1d(KNOTS, y),
    "uncopied interp1d": lambda y: interpolate.interp1d(KNOTS, y, copy=False),
    "make_interp_spline": lambda y: interpolate.make_interp_spline(KNOTS, y),
    "BSpline": lambda y: interpolate.BSpline(KNOTS, y, 3),
    "RegularGridInterpolator": lambda y: interpolate.RegularGridInterpolator((KNOTS,), y),
    "BarycentricInterpolator": lambda y: interpolate.BarycentricInterpolator(KNOTS, y),
    "KroghInterpolator": lambda y: interpolate.KroghInterpolator(KNOTS, y),
    "lagrange": lambda y: interpolate.lagrange(KNOTS, y),
}


@pytest.mark.filterwarnings("ignore:`lagrange` is deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", MAKERS)
def test_values_written_after_the_interpolant_is_made(name: str) -> None:
    def loss(y):
        values = y * 1.0
        made = MAKERS[name](values)
        values[2] = values[3] * 7.0
        return np.sum(made(INSIDE) ** 2)

    value, found = srcgrad.value_and_grad(loss)(VALUES)
    along, h = R.normal(size=8), 1e-6
    expected = (loss(VALUES + h * along) - loss(VALUES - h * along)) / (2 * h)
    assert value == pytest.approx(loss(VALUES), rel=1e-9)
    assert found @ along == pytest.approx(expected, rel=1e-5)


def test_second_order_by_the_points() -> None:
    def loss(t):
        return np.sum(interpolate.CubicSpline(KNOTS, np.sin(KNOTS))(t))

    spline = interpolate.CubicSpline(KNOTS, np.sin(KNOTS))
    t = np.array([0.7, 2.4])
    found = srcgrad.grad(lambda t: np.sum(srcgrad.grad(loss)(t)))(t)
    assert found == pytest.approx(spline(t, 2))


def test_outside_of_the_range_raises() -> None:
    def program(y):
        return interpolate.interp1d(KNOTS, y)(9.0)

    with pytest.raises(ValueError, match="outside the interpolation range"):
        srcgrad.grad(program)(VALUES)


def test_what_has_no_rule_is_refused() -> None:
    def smoothing(y):
        return np.sum(interpolate.UnivariateSpline(KNOTS, y)(POINTS))

    with pytest.raises((srcgrad.UnsupportedError, NotImplementedError), match="s=0"):
        srcgrad.grad(smoothing)(VALUES)


def refused(f: Any) -> str:
    with pytest.raises((srcgrad.UnsupportedError, ValueError)) as caught:
        srcgrad.grad(lambda y: np.sum(f(y)))(VALUES)
    return str(caught.value)


def test_what_no_derivative_is_known_of_is_refused() -> None:
    down = KNOTS[::-1].copy()
    twice = np.append(KNOTS[0], KNOTS[:-1])
    rows = interpolate.CubicSpline(KNOTS, GRID, axis=1)
    messages = [
        refused(
            lambda y: interpolate.CubicSpline(KNOTS, y, extrapolate="periodic").integrate(0, 9)
        ),
        refused(lambda y: interpolate.make_interp_spline(KNOTS, y).integrate(0, 9, False)),
        refused(lambda y: interpolate.InterpolatedUnivariateSpline(KNOTS, y)(9.0, ext=1)),
        refused(lambda y: interpolate.RegularGridInterpolator((down,), y)([1.3])),
        refused(lambda y: interpolate.KroghInterpolator(twice, y)(1.3)),
        refused(lambda y: interpolate.krogh_interpolate(KNOTS, y, 1.3, der=1)),
        refused(lambda y: interpolate.barycentric_interpolate(KNOTS, y, 1.3, der=1)),
        refused(lambda y: rows(y)),
    ]
    asked = ["periodic spline", "extrapolate=True", "ext=0", "ascending", "points that differ"]
    asked += ["der=0", "der=0", "along axis 0"]
    for message, words in zip(messages, asked, strict=True):
        assert words in message


# Interpolants that are made outside

SECOND = np.linspace(-1.0, 1.0, 6)
SURFACE = R.normal(size=(8, 6))
WITHIN = np.array([0.3, 1.3, 2.4]) + KNOTS[0]
ACROSS = np.array([-0.4, 0.1, 0.7])
CLOUD = R.uniform(0, 1, (30, 2))
TCK = interpolate.bisplrep(CLOUD[:, 0], CLOUD[:, 1], np.sin(CLOUD.sum(1)))
BEYOND_THE_ENDS = np.array([-5.0, 1.9, 7.0])
PATCH = interpolate.RectBivariateSpline(KNOTS, SECOND, SURFACE)
FACETS = interpolate.RectBivariateSpline(KNOTS, SECOND, SURFACE, kx=1, ky=1)
CUBES = interpolate.CubicSpline(KNOTS, VALUES)
FITTED = interpolate.InterpolatedUnivariateSpline(KNOTS, VALUES)
LATTICE = interpolate.RegularGridInterpolator((KNOTS, SECOND), SURFACE)


def linear(**settings: Any) -> Any:
    return interpolate.interp1d(KNOTS, VALUES, **settings)


OUTSIDE: dict[str, tuple[Any, ...]] = {
    "interp1d": (linear(), WITHIN),
    "one point": (linear(), 1.9),
    "grid of points": (linear(), np.stack([WITHIN, WITHIN + 0.1])),
    "extrapolated": (linear(fill_value="extrapolate"), BEYOND_THE_ENDS),
    "filled": (linear(bounds_error=False, fill_value=3.0), BEYOND_THE_ENDS),
    "quadratic": (linear(kind="quadratic"), WITHIN),
    "cubic": (linear(kind="cubic", bounds_error=False), np.array([1.9, 2.0])),
    "nearest": (linear(kind="nearest"), WITHIN),
    "of columns": (interpolate.interp1d(KNOTS, MANY, axis=0), WITHIN),
    "of rows": (interpolate.interp1d(KNOTS, MANY.T), np.stack([WITHIN, WITHIN + 0.1])),
    "cubic of rows": (interpolate.interp1d(KNOTS, MANY.T, kind=3), WITHIN),
    "krogh": (interpolate.KroghInterpolator(KNOTS, VALUES), WITHIN),
    "barycentric": (interpolate.BarycentricInterpolator(KNOTS, VALUES), WITHIN),
    "smoothed": (interpolate.UnivariateSpline(KNOTS, VALUES), BEYOND_THE_ENDS),
    "smoothed constant": (interpolate.UnivariateSpline(KNOTS, VALUES, ext=3), BEYOND_THE_ENDS),
    "smoothed zero": (interpolate.UnivariateSpline(KNOTS, VALUES, ext=1), BEYOND_THE_ENDS),
    "piecewise linear": (interpolate.UnivariateSpline(KNOTS, VALUES, k=1, s=0), WITHIN),
    "slope": (interpolate.UnivariateSpline(KNOTS, VALUES, s=0).derivative(), WITHIN),
    "slope asked here": (lambda x: FITTED.derivative()(x), WITHIN),
    "second derivative": (lambda x: CUBES.derivative().derivative()(x), WITHIN),
    "integral": (CUBES.integrate, 0.7, 2.2),
    "of B-splines": (interpolate.make_interp_spline(KNOTS, VALUES).integrate, 0.7, 2.2),
    "smoothed integral": (interpolate.UnivariateSpline(KNOTS, VALUES).integral, -7.0, 2.2),
    "surface": (PATCH.ev, WITHIN, ACROSS),
    "beyond the edge": (PATCH.ev, BEYOND_THE_ENDS, ACROSS),
    "one point of a surface": (PATCH.ev, 1.9, 0.1),
    "bilinear": (lambda x, y: FACETS(x, y, grid=False), WITHIN[:, None], ACROSS),
    "slope of a surface": (lambda x, y: PATCH.ev(x, y, dx=1), WITHIN, ACROSS),
    "lattice": (PATCH, WITHIN, ACROSS[:2]),
    "lattice of one": (PATCH, 1.9, 0.1),
    "scattered": (
        interpolate.SmoothBivariateSpline(CLOUD[:, 0], CLOUD[:, 1], np.sin(CLOUD.sum(1))).ev,
        np.array([0.3, 0.5]),
        np.array([0.6, 0.2]),
    ),
    "bisplev": (lambda x, y: interpolate.bisplev(x, y, TCK), np.array([0.3, 0.5]), np.array([0.4])),
    "bisplev of a row": (lambda x, y: interpolate.bisplev(x, y, TCK), 0.3, np.array([0.4, 0.6])),
    "bisplev of a point": (lambda x, y: interpolate.bisplev(x, y, TCK), 0.3, 0.4),
    "regular grid": (LATTICE, np.stack([WITHIN, ACROSS], -1)),
    "regular grid of coordinates": (lambda x, y: LATTICE((x, y)), WITHIN, ACROSS),
    "regular grid of splines": (
        interpolate.RegularGridInterpolator(
            (KNOTS, SECOND), SURFACE, method="cubic", bounds_error=False
        ),
        np.stack([WITHIN, ACROSS], -1),
    ),
    "one point of a regular grid": (
        interpolate.RegularGridInterpolator((KNOTS, SECOND), SURFACE, method="slinear"),
        np.array([1.9, 0.1]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
def test_interpolant_made_outside(name: str) -> None:
    f, *points = OUTSIDE[name]
    weights = R.normal(size=np.shape(f(*points)))

    def loss(*points):
        return np.sum(f(*points) ** 2 * weights)

    numbers = tuple(range(len(points)))
    value, gradients = srcgrad.value_and_grad(loss, argnums=numbers)(*points)
    assert value == pytest.approx(loss(*points), rel=1e-13)
    directions = [R.normal(size=np.shape(p)) for p in points]

    def along(h):
        return loss(*(p + h * d for p, d in zip(points, directions, strict=True)))

    def slope(h):
        moved = [p + h * d for p, d in zip(points, directions, strict=True)]
        found = srcgrad.grad(loss, argnums=numbers)(*moved)
        return sum(np.sum(g * d) for g, d in zip(found, directions, strict=True))

    h = 1e-5
    found = sum(np.sum(g * d) for g, d in zip(gradients, directions, strict=True))
    assert found == pytest.approx((along(h) - along(-h)) / (2 * h), rel=1e-6, abs=1e-7)
    tangent = srcgrad.jvp(loss, tuple(points), tuple(directions))[1]
    assert tangent == pytest.approx(found, rel=1e-9, abs=1e-12)

    def directed(*points):
        found = srcgrad.grad(loss, argnums=numbers)(*points)
        return sum(np.sum(g * d) for g, d in zip(found, directions, strict=True))

    bends = srcgrad.grad(directed, argnums=numbers)(*points)
    bend = sum(np.sum(b * d) for b, d in zip(bends, directions, strict=True))
    assert bend == pytest.approx((slope(h) - slope(-h)) / (2 * h), rel=1e-5, abs=1e-6)


def test_an_interpolant_of_an_object_outside() -> None:
    class Airfoil:
        def __init__(self) -> None:
            self.lift = interpolate.interp1d(KNOTS, VALUES, kind="cubic")
            self.drag = interpolate.RectBivariateSpline(KNOTS, SECOND, SURFACE)

        def forces(self, angle, speed):
            return self.lift(angle) * speed + self.drag(angle, speed, grid=False)

    wing = Airfoil()
    check_grads(lambda a, v: np.sum(wing.forces(a, v)), (WITHIN, ACROSS))


def test_beyond_the_ends_an_interpolant_made_outside_raises() -> None:
    table = linear()
    with pytest.raises(ValueError, match="interpolation range"):
        srcgrad.grad(lambda x: np.sum(table(x)))(BEYOND_THE_ENDS)


def test_two_values_are_filled_in_below_and_above():
    def f(y, below):
        inside = interpolate.interp1d(KNOTS, y, bounds_error=False, fill_value=(below, 2.0))
        return np.sum(inside(POINTS) * np.arange(1.0, 8.0))

    assert srcgrad.value_and_grad(f)(VALUES, 3.0)[0] == pytest.approx(f(VALUES, 3.0), rel=1e-12)
    check_grads(f, (VALUES, 3.0))


@pytest.mark.parametrize("kind", ["zero", "previous", "next", "nearest", "nearest-up"])
def test_steps(kind):
    ends = np.array([KNOTS[0], KNOTS[3], KNOTS[-1], (KNOTS[1] + KNOTS[2]) / 2, *KNOTS[:3] + 0.05])

    def f(y, v):
        inside = interpolate.interp1d(KNOTS, y, kind)
        beyond = interpolate.interp1d(KNOTS, y, kind, bounds_error=False, fill_value=0.5)
        return np.sum(inside(ends) * np.arange(7)) + np.sum(beyond(POINTS) * v) + inside(v + 1)

    assert srcgrad.value_and_grad(f)(VALUES, 1.3)[0] == pytest.approx(f(VALUES, 1.3), rel=1e-12)
    check_grads(f, (VALUES, 1.3))


def asked_what_it_is(value):
    return 2.0 * value if isinstance(value, float) else np.sum(3.0 * value)


@pytest.mark.parametrize(
    "made",
    [
        interpolate.interp1d, interpolate.CubicSpline, interpolate.PchipInterpolator,
        interpolate.make_interp_spline, interpolate.InterpolatedUnivariateSpline,
        interpolate.KroghInterpolator, interpolate.BarycentricInterpolator, interpolate.lagrange,
        lambda x, y: lambda v: interpolate.RegularGridInterpolator((x, x), np.outer(y, y))((v, v)),
        lambda x, y: lambda v: interpolate.splev(v, interpolate.splrep(x, y)),
        lambda x, y: lambda v: interpolate.CubicSpline(x, y).integrate(0.0, v),
        lambda x, y: lambda v: interpolate.interpn((x, x), np.outer(y, y), (v, v)),
    ],
)  # fmt: skip
def test_of_one_point_an_interpolant_gives_an_array_without_axes(made):
    knots = np.arange(5.0)

    def f(y, v):
        return asked_what_it_is(made(knots, y)(v))

    y, v = np.array([1.0, 3.0, 2.0, 5.0, 4.0]), 1.3
    assert srcgrad.value_and_grad(f)(y, v)[0] == pytest.approx(f(y, v), rel=1e-12)
    check_grads(lambda y: f(y, v), (y,))


@pytest.mark.parametrize("kind", ["linear", "cubic", "previous"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_interp1d_of_columns(kind, axis):
    def f(y):
        inside = interpolate.interp1d(KNOTS, y, kind, axis)
        beyond = interpolate.interp1d(
            KNOTS, y, kind, axis, bounds_error=False, fill_value=(0.5, 2.0)
        )
        a, b = inside(np.array([[1.3, 2.2], [3.0, 3.1]])), beyond(POINTS)
        weights = (np.cos(np.arange(r.size)).reshape(r.shape) for r in (a, b))
        return sum(np.sum(r * w) for r, w in zip((a, b), weights, strict=True))

    y = MANY if axis == 0 else MANY.T if axis == 1 else np.stack([MANY.T, MANY.T**2])
    assert srcgrad.value_and_grad(f)(y)[0] == pytest.approx(f(y), rel=1e-12)
    check_grads(f, (y,))


TWICE = np.array([0.0, 0.0, 1.0, 2.0, 2.0])
AMONG_THEM = np.array([0.0, 0.4, 1.0, 1.7, 2.0])


@pytest.mark.parametrize(
    "f",
    [
        lambda y: interpolate.interp1d(TWICE, y)(AMONG_THEM) @ np.arange(1.0, 6.0),
        lambda y: np.interp([-1.0, *AMONG_THEM, 3.0], TWICE, y) @ np.arange(1.0, 8.0),
        lambda y: np.interp(2.0, TWICE, y) ** 2 + np.interp(1.0, np.ones(5), y),
    ],
)
def test_two_knots_at_one_place(f):
    y = np.array([0.3, 0.5, 1.4, 0.2, 0.9])
    assert srcgrad.value_and_grad(f)(y)[0] == pytest.approx(f(y), rel=1e-12)
    check_grads(f, (y,))
