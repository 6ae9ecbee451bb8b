"""Functions that are written in simpler ones, end to end: value, and gradient by differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

import srcgrad

rng = np.random.default_rng(41)
X = rng.normal(size=(3, 4))
W = rng.normal(size=(3, 4))
POINTS = rng.normal(size=5)
C = rng.normal(size=4)
BASES = {
    "poly": polynomial, "cheb": chebyshev, "leg": legendre, "herm": hermite, "herme": hermite_e,
    "lag": laguerre,
}  # fmt: skip


def differences(f: Any, x: Any) -> Any:
    result = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        high, low = x.copy(), x.copy()
        high[i] += 1e-6
        low[i] -= 1e-6
        result[i] = (f(high) - f(low)) / 2e-6
    return result


def check(f: Any) -> None:
    value, gradient = srcgrad.value_and_grad(f)(X.copy())
    np.testing.assert_allclose(value, f(X.copy()), rtol=1e-12)
    np.testing.assert_allclose(gradient, differences(f, X), rtol=1e-5, atol=1e-7)


def add_reduce(x):
    return np.sum(W[0] * np.add.reduce(x))


def add_reduce_out(x):
    y = np.zeros(4)
    np.add.reduce(x, 0, None, y)
    return np.sum(W[0] * y)


def multiply_reduce(x):
    return np.sum(W[:, 0] * np.multiply.reduce(x, axis=1))


def maximum_reduce(x):
    return np.maximum.reduce(x[0])


def minimum_reduce(x):
    return np.sum(np.minimum.reduce(x, axis=0, keepdims=True) ** 2)


def add_accumulate(x):
    return np.sum(W * np.add.accumulate(x))


def multiply_accumulate(x):
    return np.sum(W * np.multiply.accumulate(x, axis=1))


def maximum_accumulate(x):
    return np.sum(W * np.maximum.accumulate(x, axis=1))


def add_outer(x):
    return np.sum(np.add.outer(x[0], x) ** 2)


def subtract_outer(x):
    return np.sum(np.subtract.outer(x[0], x[:, 1]) ** 2)


def multiply_outer_of_a_number(x):
    return np.sum(np.multiply.outer(x[0, 0], x[1]) ** 2)


def add_reduceat(x):
    return np.sum(np.add.reduceat(x, [0, 2, 1], axis=1) ** 2)


def logaddexp_reduce(x):
    return np.sum(np.logaddexp.reduce(x, axis=1) ** 2)


def subtract_reduce(x):
    return np.sum(np.subtract.reduce(x, axis=1) ** 2)


def divide_reduce(x):
    return np.sum(np.divide.reduce(x, axis=0) ** 2)


def hypot_reduce(x):
    return np.sum(np.hypot.reduce(x, axis=0) ** 3)


def along_axis(x):
    return np.sum(np.apply_along_axis(lambda row: row * row.sum(), 1, x) ** 2)


def along_axis_to_numbers(x):
    return np.sum(np.apply_along_axis(np.sum, 0, x) ** 2)


def over_axes(x):
    return np.sum(np.apply_over_axes(np.sum, x, [0, 1]) ** 2)


def piecewise(x):
    return np.sum(W * np.piecewise(x, [x < 0, x > 1], [lambda v: v**2, 2.0, lambda v: 3 * v]))


def piecewise_of_numbers(x):
    total = 0.0
    for t in x[0]:
        total += np.piecewise(t, [t < 0, t > 1], [lambda v: v**2, 2.0, lambda v: x[1, 0] * v]) * t
        total += np.piecewise(float(t), t > 0, [lambda v, a: a * v, 3.0], x[2, 0])
    return total


def from_function(x):
    return np.sum(np.fromfunction(lambda i, j: x[0, 0] * i + j, (3, 4)) ** 2)


def put_mask(x):
    y = x * 2
    np.putmask(y, W > 0, x * x)
    return np.sum(y * W)


def place(x):
    y = x * 2
    np.place(y, W > 0, x[0, :2])
    return np.sum(y * W)


def kaiser(x):
    return np.sum(np.kaiser(5, x[0, 0]) * POINTS)


def list_of_numbers(x):
    return sum(x[0].tolist()) * x[1, 1]


def nested_list(x):
    rows = x.tolist()
    return rows[0][1] * rows[2][2]


def item_of_a_number(x):
    return x[1, 2].item() * x.sum().item()


def power_series(x):
    return np.sum(W * polynomial.polyval(x, C))


def of_roots(x):
    return np.sum(polynomial.polyvalfromroots(x, C[:2]) * W)


def by_coefficients(x):
    return np.sum(legendre.legval(POINTS, x) ** 2) + np.sum(chebyshev.chebval(POINTS, x[0]))


def in_two_variables(x):
    return np.sum(polynomial.polyval2d(x[0], x[1], x[:2]) ** 2)


def on_a_grid(x):
    return np.sum(hermite.hermgrid2d(x[0], x[1], W) ** 2)


def derivative_of_a_series(x):
    return np.sum(polynomial.polyder(x[0]) ** 2) + np.sum(polynomial.polyint(x[1]) ** 2)


def product_of_series(x):
    return np.sum(polynomial.polymul(x[0], x[1]) ** 2)


def vandermonde(x):
    return np.sum(polynomial.polyvander(x, 3) ** 2)


def fitted_series(x):
    return np.sum(polynomial.polyfit(POINTS, POINTS**2 * x[0, 0] + x[0, 1], 2) ** 2)


def shapes_by_broadcast(x):
    together = np.broadcast(x[:, :1], W[0], 2.0)
    rows = np.broadcast_to(x[:, :1], together.shape)
    angles = np.concatenate((np.cos(rows), np.zeros((*together.shape[:-1], 1))), axis=-1)
    return np.sum(angles**2) * together.size + together.nd + together.ndim + together.numiter


def items_by_broadcast(x):
    filled, total = np.empty((3, 4)), 0.0
    filled.flat = [a * b for a, b in np.broadcast(x, x[0])]
    for a, b in np.broadcast(x[:, :1], W[0]):
        total = total + a * b**2
    return np.sum(filled * W) + total


def for_arrays_of_any_library(x):
    xp = x.__array_namespace__(api_version="2023.12")
    on = {"device": x.device} if x.device in ("cpu", None) else {}
    return xp.sum(x.__array_wrap__(np.sin(x.__array__())) * xp.full(4, 2.0, **on))


PROGRAMS = [f for f in list(globals().values()) if getattr(f, "__code__", None) and f.__code__.co_varnames[:1] == ("x",)]  # noqa: E501  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_definition(program: Any) -> None:
    check(program)


@pytest.mark.parametrize("prefix", BASES)
def test_series_are_those_of_numpy(prefix: str) -> None:
    module = BASES[prefix]
    value = getattr(module, f"{prefix}val")

    def program(x):
        return np.sum(value(x, C) * W)

    check(program)
    for coefficients in (C[:1], C[:2], C, rng.normal(size=(4, 2))):
        expected = value(POINTS, coefficients)

        def weighted(x, c):
            return np.sum(value(x, c) ** 2)

        found, _ = srcgrad.value_and_grad(weighted)(POINTS, coefficients)
        np.testing.assert_allclose(found, np.sum(expected**2), rtol=1e-10)


@pytest.mark.parametrize("prefix", BASES)
def test_coefficients_of_series_are_those_of_numpy(prefix: str) -> None:
    def named(suffix: str) -> Any:
        return getattr(BASES[prefix], f"{prefix}{suffix}")

    power, grid, space = named("pow"), named("vander2d"), named("vander3d")
    fit, add, times, line = named("fit"), named("add"), named("mul"), named("mulx")

    def powers(x):
        return (
            np.sum(power(x[0, :2], 3) ** 2) + np.sum(power(x[1], 0)) + np.sum(power(x[1], 1) * W[0])
        )

    def grids(x):
        points = np.sum(space(x[0], x[1], x[2], [1, 0, 2]) ** 2)
        return points + np.sum(grid(x[0], x[1], [2, 3]) ** 2)

    def fitted(x):
        lines = fit(POINTS, np.outer(POINTS**2, x[0]), 2, w=POINTS**2 + 1.0)
        return np.sum(lines**2) + np.sum(fit(POINTS, POINTS**3 * x[0, 0] + x[1, 1], 2) ** 3)

    def cancelled(x):
        """The last coefficients vanish: NumPy leaves them out."""
        shorter = add(x[0], [0.0, 0.0, 0.0, -x[0, 3]])
        return np.sum(shorter**2) * len(shorter) + np.sum(times(shorter, line(x[1])) ** 2)

    for program in (powers, grids, fitted, cancelled):
        check(program)
        value, _ = srcgrad.value_and_grad(program)(X)
        assert value == pytest.approx(program(X), rel=1e-9)


def fitted_fully(x):
    lines, residuals, _, singular, _ = np.polyfit(POINTS, np.outer(POINTS**2, x[0]), 1, full=True)
    return np.sum(lines**2) + np.sum(residuals) + np.sum(singular) * x[1, 1]


def fitted_with_covariance(x):
    c, scaled = np.polyfit(POINTS, POINTS**3 * x[0, 0] + x[1, 1], 1, cov=True)
    weights = POINTS**2 + x[0, 1] ** 2
    lines, table = np.polyfit(POINTS, np.outer(POINTS**2, x[0]), 1, w=weights, cov=True)
    _, plain = np.polyfit(POINTS * x[2, 0], POINTS, 1, cov="unscaled")
    _, each = np.polyfit(POINTS * x[2, 0], np.outer(POINTS, x[0]), 1, cov="unscaled")
    spread = np.sum(np.sqrt(np.diag(scaled))) + np.sum(table**2)
    return spread + np.sum(c) + np.sum(lines**2) + np.sum(plain) + np.sum(each**2)


@pytest.mark.parametrize("program", [fitted_fully, fitted_with_covariance])
def test_what_else_polyfit_tells(program: Any) -> None:
    check(program)
    value, _ = srcgrad.value_and_grad(program)(X)
    assert value == pytest.approx(program(X), rel=1e-9)


def test_too_few_points_for_a_covariance() -> None:
    def program(x):
        return np.sum(np.polyfit(POINTS[:2], x[0, :2], 1, cov=True)[1])

    for function in (program, srcgrad.grad(program)):
        with pytest.raises(ValueError, match="must exceed order"):
            function(X)


def trimmed(x):
    row = np.concatenate([np.zeros(2), x[0], np.zeros(1)])
    front, back = np.trim_zeros(row, "f"), np.trim_zeros(row, "b")
    nothing = np.trim_zeros(x[1] * 0.0)
    return np.sum(front**2) * front.size + np.sum(back**3) * back.size + np.sum(nothing)


def trimmed_in_place(x):
    row = np.concatenate([np.zeros(2), x[0], np.zeros(1)])
    inner = np.trim_zeros(row)
    inner[1:] *= x[1, 0]
    inner[0] = 2 * x[2, 2]
    return np.sum(row**3) * inner.size


@pytest.mark.parametrize("program", [trimmed, trimmed_in_place])
def test_trim_zeros(program: Any) -> None:
    check(program)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.2.0", reason="one dimension only")
def test_trim_zeros_of_a_matrix() -> None:
    def program(x):
        table = np.zeros((6, 6))
        table[1:4, 2:] = x
        return np.sum(np.trim_zeros(table) ** 2) + np.sum(np.trim_zeros(table, "b", axis=1)[1] ** 3)

    check(program)


def test_ufuncs_of_linear_algebra() -> None:
    def program(x):
        a = x[:, :3] + 3 * np.eye(3)
        found = np.linalg._umath_linalg.solve(a, x[:, 2:], signature="dd->d")
        return np.sum(W[:, :2] * found) + np.sum(np.linalg._umath_linalg.solve1(a, x[:, 3]) ** 2)

    check(program)


def pads_by_a_function(x):
    return np.sum(np.pad(x, 1, mode=lambda *a: None))


def random(x):
    return np.random.default_rng(0).gamma(x[0, 0])


REFUSED = [pads_by_a_function, random]


@pytest.mark.parametrize("program", REFUSED, ids=lambda f: f.__name__)
def test_refusal_shows_the_line(program: Any) -> None:
    with pytest.raises(srcgrad.UnsupportedError) as error:
        srcgrad.grad(program)(X)
    assert error.value.span is not None
    assert error.value.span.function == program.__name__


@pytest.mark.parametrize("fit", [np.polyfit, np.polynomial.polynomial.polyfit])
def test_a_fit_of_no_data_raises(fit):
    """The gradient was zero, in silence."""

    def f(x):
        positive = x[x > 0]
        return fit(positive, positive**2, 1)[1]

    gradient = srcgrad.grad(f)
    assert np.all(np.isfinite(gradient(np.array([1.0, 2.0, -1.0]))))
    for g in (f, gradient):
        with pytest.raises(TypeError, match="expected non-empty vector for x"):
            g(np.array([-1.0, -2.0, -3.0]))
