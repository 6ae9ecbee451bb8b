"""What isn't used contributes nothing, where the derivative is infinite too.

Other tools give nan for each of these: zero times infinity. The differences are finite.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

POINTS = np.array([[0.0, 1.0], [2.0, 3.0], [1.0, 5.0]])
GAPS = np.ones((3, 3)) - np.eye(3)
UNEVEN = np.arange(9.0).reshape(3, 3)
MISSING = np.array([1.0, np.nan, 3.0, -0.5])
X = np.array([0.5, 0.6, 0.7, 0.8])


def distances(x):
    return np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))


def pairs_above_the_diagonal(x):
    return np.sum(1 / distances(x)[np.triu_indices(3, 1)])


def infinite_diagonal(x):
    d = distances(x)
    np.fill_diagonal(d, np.inf)
    return np.sum(1 / d)


def infinite_elements_replaced(x):
    inverse = 1 / distances(x)
    inverse[np.isinf(inverse)] = 0
    return np.sum(inverse)


def off_the_diagonal(x):
    d = np.linalg.norm(x[:, None] - x[None], axis=-1)
    return np.sum(d[~np.eye(3, dtype=bool)] ** -1)


def element_by_element(x):
    d = ((x[:, None] - x[None]) ** 2).sum(-1) ** 0.5
    total = 0.0
    for i in range(3):
        for j in range(3):
            if i != j:
                total += 1 / d[i, j]
    return total


def skipped(x):
    total = 0.0
    for i in range(3):
        for j in range(3):
            apart = x[i] - x[j]
            r = np.sqrt(apart @ apart)
            if r == 0:
                continue
            total += 1 / r
    return total


def on_a_branch(x):
    total = 0.0
    for i in range(3):
        for j in range(3):
            dx, dy = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1]
            r2 = dx * dx + dy * dy
            r = math.sqrt(r2)
            if i != j and r < 4:
                total += 1 / r2 + r
    return total


def in_an_expression(x):
    total = 0.0
    for i in range(3):
        for j in range(3):
            inverse = 1 / np.sqrt(np.sum((x[i] - x[j]) ** 2))
            total += inverse if i != j else 0.0
    return total


def stored_by_a_mask(x):
    d = np.hypot(x[:, None, 0] - x[None, :, 0], x[:, None, 1] - x[None, :, 1])
    weights = np.zeros_like(d)
    weights[d > 0] = 1 / d[d > 0]
    return weights.sum()


def divided_where(x):
    d = distances(x)
    return np.sum(np.divide(1, d, out=np.zeros_like(d), where=d > 0))


def the_upper_triangle(x):
    return np.sum(np.triu(1 / (distances(x) ** 2 + np.eye(3)) * distances(x), 1))


def nearest_neighbours(x):
    total = 0.0
    for i in range(len(x)):
        d = np.sqrt(((x - x[i]) ** 2).sum(axis=1))
        d[i] = np.inf
        total += np.min(d)
    return total


def missing_diagonal(x):
    d = distances(x)
    d[d == 0] = np.nan
    return np.nansum(1 / d)


def a_flat_kernel(x):
    """The Matérn kernel is smooth where points meet."""
    d = distances(x)
    k = (1 + d) * np.exp(-d)
    return np.sum(k) + np.sum(np.exp(-(d**2) / 2))


ALL = [
    pairs_above_the_diagonal, infinite_diagonal, infinite_elements_replaced, off_the_diagonal,
    element_by_element, skipped, on_a_branch, in_an_expression, stored_by_a_mask, divided_where,
    the_upper_triangle, nearest_neighbours, missing_diagonal, a_flat_kernel,
]  # fmt: skip


def a_table_of_lists(x):
    d = [[math.sqrt((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2) for q in x] for p in x]
    return sum(1 / d[i][j] for i in range(len(x)) for j in range(len(x)) if i != j)


def a_table_by_rows(x):
    d = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        for j in range(len(x)):
            d[i][j] = math.sqrt((x[i, 0] - x[j, 0]) ** 2)
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            total += 1 / d[i][j]
    return total


def sums_of_squares_in_loops(x):
    d = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        for j in range(len(x)):
            square = 0.0
            for k in range(x.shape[1]):
                square += (x[i, k] - x[j, k]) ** 2
            d[i, j] = math.sqrt(square)
    return sum(min(d[i, j] for j in range(len(x)) if j != i) for i in range(len(x)))


def the_second_of_sorted_distances(x):
    total = 0.0
    for p in x:
        total += sorted([(math.sqrt(sum((p - q) ** 2)), q[0]) for q in x])[1][0]
    return total


TABLES = [
    a_table_of_lists, a_table_by_rows, sums_of_squares_in_loops, the_second_of_sorted_distances
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", TABLES, ids=lambda f: f.__name__)
def test_distances_number_by_number(f: Callable[[Any], Any]) -> None:
    check_grads(f, (POINTS,), order=1)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_what_is_left_out(f: Callable[[Any], Any]) -> None:
    along = np.random.default_rng(0).normal(size=POINTS.shape)
    g = srcgrad.grad(f)
    found, h = np.sum(g(POINTS) * along), 1e-6
    expected = (f(POINTS + h * along) - f(POINTS - h * along)) / (2 * h)
    assert found == pytest.approx(expected, rel=1e-6)
    if f is a_flat_kernel:
        return  # its tangent is nan: there a value of the kernel isn't told from its limit
    assert srcgrad.jvp(f, (POINTS,), (along,))[1] == pytest.approx(found, rel=1e-10)
    if f is the_upper_triangle:
        return  # so is its second derivative
    curved = srcgrad.hvp(f)(POINTS, along)
    expected = (g(POINTS + h * along) - g(POINTS - h * along)) / (2 * h)
    assert np.allclose(curved, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "f",
    [
        lambda q: np.sum((1 / q)[q > 0]),
        lambda q: np.sum(np.triu(np.sqrt(q), 1) + np.tril(1 / q, -1)),
        lambda q: np.sum(np.sqrt(q)[[0, 1], [1, 2]]),
        lambda q: np.max(np.sqrt(q) * UNEVEN) + np.sqrt(q)[2, 0] + np.sum(np.maximum(q**0.5, 0.2)),
        lambda q: np.nansum(np.nan_to_num(1 / q, posinf=0.0)),
        lambda q: np.sum(np.log(q)[~np.eye(3, dtype=bool)]),
        lambda q: np.sum(np.extract(q > 0, np.arcsin(q - 1))),
    ],
)
def test_elements_where_the_derivative_is_infinite(f: Callable[[Any], Any]) -> None:
    gradient = srcgrad.grad(f)(GAPS)
    assert np.all(gradient[np.eye(3, dtype=bool)] == 0)
    for i, j in [(0, 1), (1, 2), (2, 0)]:
        step = np.zeros((3, 3))
        step[i, j] = 1e-6
        expected = (f(GAPS + step / 2) - f(GAPS - step / 2)) / 1e-6
        assert gradient[i, j] == pytest.approx(expected, abs=1e-5)


def the_larger_of_two(x):
    return x + max(math.sqrt(x), 0.5)


def a_guarded_divisor(x):
    return 3 * x / max(math.sqrt(x * x), 1e-3)


def bounds_in_a_loop(x):
    total = 0.0
    for i in range(3):
        total += max(math.hypot(x * i, x), 0.5) + min(x**0.25, 1.0 - x, -2.0)
    return total


def bounds_within_bounds(x):
    return min(x + 1.0, max(0.1, 3 * x**0.25 - 1)) * 3.0


def bounds_by_element(x):
    return np.clip(np.sqrt(x), 0.1, 2.0) + np.fmax(x**0.3, 0.2) + np.minimum(np.arcsin(1 - x), x)


def a_bound_of_an_array(x):
    return np.sum(np.maximum(np.sqrt(x), [0.5, 2.0]))


def a_bounded_logarithm(x):
    return max(np.log(x), -30.0) * x


def the_largest_of_a_list(x):
    return max([math.sqrt(v) for v in [x, x + 0.5, x + 2.0]])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (the_larger_of_two, 1.0),
        (a_guarded_divisor, 3e3),
        (bounds_in_a_loop, 0.0),
        (bounds_within_bounds, 0.0),
        (bounds_by_element, 1.0),
        (a_bound_of_an_array, 0.0),
        (a_bounded_logarithm, -30.0),
        (the_largest_of_a_list, 0.5 / math.sqrt(2.0)),
    ],
)
def test_a_number_that_a_bound_leaves_out(f: Callable[[Any], Any], expected: float) -> None:
    zero = np.float64(0.0) if f is a_bounded_logarithm else 0.0
    assert srcgrad.grad(f)(zero) == pytest.approx(expected)
    assert srcgrad.jvp(f, (zero,), (1.0,))[1] == pytest.approx(expected)
    if f is a_bounded_logarithm:
        return
    x = 0.3
    along = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    assert srcgrad.grad(f)(x) == pytest.approx(along, rel=1e-6)
    assert srcgrad.jvp(f, (x,), (1.0,))[1] == pytest.approx(along, rel=1e-6)


def padded(x):
    return np.sum(np.sqrt(np.abs(np.concatenate((np.diff(x), np.zeros(1))))))


def a_total_variation(x):
    steps = 0
    for step in (np.pad(np.diff(x), (0, 1)), np.append(0, x[1:] - x[0])):
        steps += np.power(abs(step), 2)
    return np.sum(np.sqrt(steps))


def stored_in_parts(x):
    y = np.zeros((2, 6))
    y[1, :3] += x
    y *= 2
    return np.sum(y**0.5) + np.sum(np.hypot(y, 0.0))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", [padded, a_total_variation, stored_in_parts])
def test_a_constant_part_has_no_tangent(f: Callable[[Any], Any]) -> None:
    x, along = np.array([0.5, 0.9, 0.6]), np.array([1.0, -0.5, 0.3])
    found = srcgrad.jvp(f, (x,), (along,))[1]
    expected = (f(x + 1e-6 * along) - f(x - 1e-6 * along)) / 2e-6
    assert found == pytest.approx(expected, rel=1e-6)
    assert srcgrad.grad(f)(x) @ along == pytest.approx(expected, rel=1e-6)


def a_step(x):
    return np.sum(np.sqrt(x)[::2])


def stored_with_a_step(x):
    y = np.sqrt(x)
    y[1::2] = 1.0
    y[::-1][::2] = 1.0
    return np.sum(y**2)


def every_element_replaced(x):
    y = np.sqrt(x)
    y[::-1] = 1.0
    return np.sum(y**2) + x[0]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (a_step, [0.25, 0.0, 0.5, 0.0]),
        (stored_with_a_step, [1.0, 0.0, 1.0, 0.0]),
        (every_element_replaced, [1.0, 0.0, 0.0, 0.0]),
    ],
)
def test_slices_with_a_step_leave_elements_out(f: Callable[[Any], Any], expected: Any) -> None:
    np.testing.assert_allclose(srcgrad.grad(f)(np.array([4.0, 0.0, 1.0, 0.0])), expected)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.nansum((MISSING - x) ** 2),
        lambda x: np.nanmean((MISSING - x) ** 2),
        lambda x: np.nanvar(MISSING * x),
        lambda x: np.nanstd(MISSING * x),
        lambda x: np.nanmax(MISSING * x) - np.nanmin(np.exp(MISSING) * x),
        lambda x: np.nanmedian(MISSING * x) + np.nanquantile(MISSING * x, 0.3),
        lambda x: np.nanprod(MISSING * x),
        lambda x: np.nancumsum(MISSING * x) @ np.nancumprod(MISSING + x),
        lambda x: np.sum(np.nan_to_num(MISSING * x)),
        lambda x: np.sum(((MISSING - x) ** 2)[~np.isnan(MISSING)]),
        lambda x: np.mean(np.where(np.isnan(MISSING), 0, MISSING - x) ** 2),
    ],
)
def test_missing_data(f: Callable[[Any], Any]) -> None:
    along = np.array([0.3, 0.4, 0.5, -0.2])
    found, h = srcgrad.grad(f)(X) @ along, 1e-6
    assert found == pytest.approx((f(X + h * along) - f(X - h * along)) / (2 * h), rel=1e-7)
    assert srcgrad.jvp(f, (X,), (along,))[1] == pytest.approx(found, rel=1e-12)


def test_the_tangent_of_what_is_nan_stays_for_others() -> None:
    def f(x):
        return np.nansum(x) + np.sum(np.where(np.isnan(x), 2.0, x**2))

    x, along = np.array([1.0, np.nan]), np.array([1.0, 1.0])
    assert srcgrad.jvp(f, (x,), (along,))[1] == 3.0
    assert srcgrad.grad(f)(x).tolist() == [3.0, 0.0]


def test_what_is_used_on_one_branch_is_undone_there() -> None:
    def f(x):
        total = 0.0
        for v in x:
            r = np.sqrt(v)
            if r > 0:
                total += 1 / r
        return total

    g = srcgrad.grad(f)
    assert np.allclose(g(np.array([0.0, 1.0, 4.0])), [0.0, -0.5, -1 / 16])
    assert g.source.count("if r > 0:") == 1


def test_several_results_of_which_one_is_used_on_a_branch() -> None:
    def fitted(x, y):
        slopes = np.linalg.lstsq(x, y, rcond=None)[0]
        if np.isnan(slopes[0]):
            raise ValueError("no fit")
        else:
            return slopes

    check_grads(fitted, (UNEVEN[:, 1:] ** 2, X[:3]), order=1)


def test_a_length_that_is_not_flat_has_no_gradient_at_zero() -> None:
    with np.errstate(all="ignore"):
        assert np.isnan(srcgrad.grad(lambda x: np.sum(np.sqrt(x**2)))(np.zeros(2))).all()
        assert np.isinf(srcgrad.grad(lambda x: np.sum(np.sqrt(x)))(np.zeros(2))).all()


def test_what_is_returned_is_used() -> None:
    def f(x):
        r = np.sqrt(x)
        y = 0.0
        if r > 2:
            y = r * 3.0
        return r, y

    for x in (1.0, 9.0):
        _, pullback = srcgrad.vjp(f, x)
        assert pullback((1.0, 0.0)) == (pytest.approx(0.5 / np.sqrt(x)),)
    assert srcgrad.grad(lambda x: srcgrad.vjp(f, x)[0][0])(1.0) == 0.5
    assert srcgrad.grad(lambda x: srcgrad.checkpoint(f)(x)[0])(1.0) == 0.5


def test_a_function_may_be_long():
    lines = [f"y = np.tanh(y * w[{i % 3}]) - 0.1 * y" for i in range(300)]
    text = "\n    ".join(["def f(x, w):", "y = x", *lines, "return np.sum(y)"])
    outer = {"np": np}
    exec(text, outer)
    gradient = srcgrad.grad(outer["f"], source=text)
    x, w = np.array([0.3, -0.2]), np.array([1.1, 0.9, 1.0])
    d, step = np.array([1.0, 2.0]), 1e-6
    expected = (outer["f"](x + step * d, w) - outer["f"](x - step * d, w)) / (2 * step)
    np.testing.assert_allclose(gradient(x, w) @ d, expected, rtol=1e-6)


def test_what_may_be_infinite_is_found_out_once_for_each_value():
    """Each value is used twice by the next: along every way they would be 2**60."""
    steps = ["    y = 0.1 * y * y + 0.95 * y"] * 60  # stays at 0.5, where the slope is 1.05
    program = "\n".join(["def f(x):", "    y = x", *steps, "    return np.sum(np.tril(y))"])
    namespace = {"np": np}
    exec(program, namespace)
    slope = srcgrad.grad(namespace["f"], source=program)(np.full((2, 2), 0.5))
    np.testing.assert_allclose(slope, np.tril(np.full((2, 2), 1.05**60)))


TIMES = np.linspace(0.0, 3.0, 4)


def halved_variance(d, t):
    return np.sum((np.clip(t - 1.5, 0.0, 9.0) / d) ** 0.5 * np.cbrt((t + 1) * d))


def variance_by_steps(d, t):
    total = 0.0
    for moment in t:
        total = total + math.sqrt(2.0 * d * max(moment - 1.5, 0.0))
    return total


def truncated_variance(d, t):
    variance = np.maximum(t - 1.5, 0.0)
    return np.sum(t + variance * d + np.sqrt(variance * d / 3))


@pytest.mark.parametrize("f", [halved_variance, variance_by_steps, truncated_variance])
def test_a_root_that_is_zero_whatever_the_other_factor_is(f: Callable[..., Any]) -> None:
    """By `d` the derivative of `np.sqrt(d * v)` is zero where `v` is cut off at zero."""
    expected = (f(2.0 + 1e-5, TIMES) - f(2.0 - 1e-5, TIMES)) / 2e-5
    with np.errstate(all="ignore"):
        assert srcgrad.grad(f)(2.0, TIMES) == pytest.approx(expected)
        assert srcgrad.grad(f, argnums=(0, 1))(2.0, TIMES)[0] == pytest.approx(expected)
        tangents = 1.0, np.zeros(4)
        assert srcgrad.jvp(f, (2.0, TIMES), tangents)[1] == pytest.approx(expected)


TABLE = np.array([[1.0, np.nan], [2.0, 3.0]])


def missing_left_out(w):
    a = TABLE * w
    a[np.isnan(a)] = 0.0
    return np.sum(a**2 * w)


def missing_left_out_in_place(w):
    a = TABLE.copy()
    a *= w
    a *= w
    a[np.isnan(a)] = 0.0
    return np.sum(a**2 * w)


def divided_by_the_distance(w):
    """Bodies at no distance from themselves: that is made nan, and what comes of it zero."""
    places = np.array([0.3, 1.5, 0.7])
    gaps = places[None, :] - places[:, None]
    lengths = np.abs(gaps) * w[0]
    lengths[lengths == 0] = np.nan
    pulls = gaps / lengths**3
    pulls *= np.append(w, 1.0)[None, :]
    pulls[np.isnan(pulls)] = 0.0
    return np.sum(pulls.sum(axis=1) ** 2)


def by_factors_that_are_not_finite(w):
    a = np.sin(w) * np.ones((2, 2))
    factor = np.array([3.0, np.inf])
    a *= factor
    a /= np.array([1.0, np.nan])
    a[~np.isfinite(a)] = 0.0
    return np.sum(a * w)


def missing_numbers_skipped(w):
    total = 0.0
    for i in range(2):
        for j in range(2):
            value = TABLE[i, j] * w[j]
            if not np.isnan(value):
                total += (value - w[i]) ** 2
    return total


def missing_rows_skipped(w):
    total, count = 0.0, 0
    for row in TABLE.tolist():
        value = row[0] * w[0] + row[1] * w[1]
        if math.isnan(value):
            continue
        total, count = total + value**2, count + 1
    return total / count + sum(a**2 for a in [r @ w for r in TABLE] if a == a)


def missing_left_out_of_a_list(w):
    values = [TABLE[i, j] * w[j] for i in range(2) for j in range(2)]
    return sum(v * w[0] for v in values if not np.isnan(v))


def unfilled_places_skipped(w):
    means = np.full(4, np.nan)
    for i in range(2, 4):
        means[i] = w[i - 2] * i
    scaled = means * np.sum(w) ** 2
    total = 0.0
    for value in scaled:
        if np.isfinite(value):
            total += np.tanh(value)
    return total


LEFT_OUT = [
    missing_numbers_skipped, missing_rows_skipped, missing_left_out_of_a_list,
    unfilled_places_skipped, missing_left_out, missing_left_out_in_place, divided_by_the_distance,
    by_factors_that_are_not_finite,
]  # fmt: skip


@pytest.mark.parametrize("f", LEFT_OUT, ids=lambda f: f.__name__)
def test_what_is_no_number_and_then_replaced_contributes_nothing(f: Callable[..., Any]) -> None:
    w = np.array([0.8, 1.3])
    with np.errstate(all="ignore"):
        check_grads(f, (w,), order=1 if f is missing_rows_skipped else 2)


def test_an_adjoint_of_zero_has_a_derivative_all_the_same() -> None:
    def f(w):
        a = w.copy()
        a *= np.array([3.0, np.nan])
        a[np.isnan(a)] = 0.0
        return np.sum(a * w)

    np.testing.assert_allclose(srcgrad.hessian(f)(np.array([0.0, 2.0])), [[6.0, 0.0], [0.0, 0.0]])


def rest_of_a_list(x):
    s = squares = n = 0
    deviations = []
    for v in x.tolist():
        s, squares, n = s + v, squares + v * v, n + 1
        deviations.append(math.sqrt(squares / n - s * s / n / n))  # 0 at first
    return sum(deviations[1:])


def bounded_row(x):
    rows = np.zeros((2, 3))
    for t in range(1, 2):
        rows[t] = np.maximum(x, 0)
    return np.sum(np.exp(rows[1] + np.sqrt(rows[1])))


def bounded_in_the_trip_before(x):
    v, total = x + 2.0, 0.0
    for t in range(3):
        total = total + np.sum(np.sqrt(v))
        v = np.maximum(x - 0.1 * t + 0.1 * np.sqrt(v), 0)
    return total


@pytest.mark.parametrize("f", [rest_of_a_list, bounded_row, bounded_in_the_trip_before])
def test_a_root_of_zero_that_is_left_out_later(f):
    """By a slice of a list, or by a bound whose result is in memory or in the next trip."""
    x, step = np.array([-1.0, 4.0, 0.5]), 1e-6
    slopes = [(f(x + d) - f(x - d)) / (2 * step) for d in step * np.eye(3)]
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(srcgrad.grad(f)(x), slopes, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(srcgrad.jacfwd(f)(x), slopes, rtol=1e-6, atol=1e-8)
