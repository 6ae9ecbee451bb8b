"""Parts of arrays that are never written again are read again, not copied (analysis/regions.py)."""

import numpy as np
import pytest

from srcgrad import grad, value_and_grad, vjp
from srcgrad.testing import check_grads


def forward_substitution(a, b):
    x = np.zeros(len(b))
    for i in range(len(b)):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return np.sum(x * x)


def back_substitution(a, b):
    n = len(b)
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return np.sum(x * x)


def trajectory(a, b):
    ys = np.zeros((5, len(b)))
    ys[0] = b
    for t in range(4):
        ys[t + 1] = np.tanh(a @ ys[t])
    return np.sum(ys**2)


def two_back(a, b):
    ys = np.zeros((6, len(b)))
    ys[0] = b
    ys[1] = np.sin(b)
    for t in range(2, len(ys)):
        ys[t] = ys[t - 1] * ys[t - 2] + a[0] * np.cos(ys[t - 1])
    return np.sum(ys**2)


def factors(a, b):
    a = a.copy()
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.sum(b * a**2)


def triangle_of_sums(a, b):
    x = np.zeros((4, 4))
    x[0] = b
    for i in range(1, 4):
        for j in range(i, 4):
            x[i, j] = a[i, j] * np.sum(x[i - 1, :j] ** 2)
    return np.sum(x**2)


LASTING = [forward_substitution, back_substitution, trajectory, two_back, triangle_of_sums]


def arguments():
    rng = np.random.default_rng(3)
    return rng.normal(size=(4, 4)) + 3 * np.eye(4), rng.normal(size=4)


@pytest.mark.parametrize("function", LASTING)
def test_lasting_reads_are_not_copied(function):
    gradient = grad(function, argnums=(0, 1))
    gradient(*arguments())
    forward = gradient.source.partition("# return")[0]
    assert ".copy()" not in forward, gradient.source
    check_grads(function, arguments(), order=1, argnums=(0, 1))


def test_a_quotient_that_stays_is_read_again():
    gradient = grad(factors, argnums=(0, 1))
    gradient(*arguments())
    assert gradient.source.count(".copy()") == 1  # of the matrix: of the column nothing is kept
    assert "d_a[k, k] -= d_a_column.dot(a_column)" in gradient.source
    check_grads(factors, arguments(), argnums=(0, 1))


def divided_again(a, b):
    x = b.copy()
    for i in range(3):
        x /= a[i]
    return np.sum(x * x)


def quotient_undone(a, b):
    x = b.copy()
    x /= a[0]
    squares = np.sum(x**2)
    x *= a[0]
    return squares + np.sum(x**3)


def divided_by_itself(a, b):
    x = b.copy()
    x[1:] /= x[0]
    x /= x
    x *= a[0]
    x /= a[1]
    return np.sum(x * x * b)


def divided_in_turns(a, b):
    x = b.copy()
    for i in range(len(x)):
        x[i:] /= a[0, i]
    for i in range(len(x)):
        x[: i + 1] /= a[1, i]
    return np.sum(x * x)


def divided_in_two_sweeps(a, b):
    x = b.copy()
    for k in range(2):
        for i in range(len(x)):
            x[i : i + 1] /= a[k, i]
    return np.sum(x * x)


def divided_through_a_view(a, b):
    x = b.copy()
    rest = x[1:]
    rest /= a[0, 0]
    if a[0, 1] > -10:
        rest /= a[1, 1:]
    return np.sum(x * x)


def norm_divided(a, b):
    x = b.copy()
    x /= np.sqrt(x @ x)
    y = x
    y += a[0]
    return np.sum(x**3)


@pytest.mark.parametrize(
    "function",
    [divided_again, quotient_undone, divided_by_itself, divided_in_turns, divided_in_two_sweeps,
     divided_through_a_view, norm_divided],
)  # fmt: skip
def test_quotients_that_are_written_again(function):
    a, b = arguments()
    check_grads(function, (a, b), argnums=(0, 1))


def sweeps(a, b):
    """A later sweep writes what an earlier one has read."""
    x = b.copy()
    for _ in range(2):
        for i in range(1, len(b)):
            x[i] = x[i] + a[i, :i] @ x[:i] ** 2
    return np.sum(x * x)


def wraps_around(a, b):
    """Before the first is the last, which is written at the end."""
    x = b.copy()
    for i in range(len(b)):
        x[i] = x[i] * np.sum(x[i - 1 : i] ** 2) + x[i - 1] ** 2 + a[0, i]
    return np.sum(x * x)


def rows_from_the_end(a, b):
    x = a.copy()
    for i in range(-2, 2):
        x[i + 1] = np.sin(x[i]) * b
    return np.sum(x * x)


def every_other(a, b):
    x = b.copy()
    for i in range(2):
        x[i + 1 :: 2] = x[i + 1 :: 2] * np.sum(x[: i + 1 : 1] ** 2) + np.sum(x[::2] ** 2)
    return np.sum(x * x) + a[0, 0]


def written_after_the_loop(a, b):
    x = np.zeros((4, 4))
    x[0] = b
    for i in range(3):
        x[i + 1] = np.tanh(a @ x[i])
    x[1] = x[3] * x[2]
    return np.sum(x * x)


def ahead(a, b):
    """What is read is written in the next trip."""
    x = a.copy()
    for i in range(3):
        x[i] = x[i] * np.sin(x[i + 1]) + b
    return np.sum(x * x)


def through_a_view(a, b):
    x = a.copy()
    for i in range(3):
        row = x[i]
        above = x[: i + 1].T
        row[1:] = np.sin(row[:3]) * row[1:]
        x[i + 1] = np.tanh(x[i] * np.sum(above[0] ** 2)) * b
    return np.sum(x * x)


def one_array_twice(a, b):
    x = a.copy()
    xs = [x, x]
    for i in range(1):
        xs[i + 1][0] = np.sin(xs[i][0]) * xs[i][1]
        xs[i + 1][0] = np.sin(xs[i][0]) * b
    return np.sum(x * x)


def exchanged(a, b):
    x, y = a.copy(), a.copy()
    for i in range(3):
        x[i + 1] = np.sin(y[i]) * np.cos(x[i]) * b
        x, y = y, x
    return np.sum(x * y)


def where_indices_say(a, b):
    x = a.copy()
    for i in range(3):
        x[[3 - i, i]] = np.sin(x[i]) * x[[i, 3 - i]] * b
    return np.sum(x * x)


def by_small_ints(a, b):
    x = a.copy()
    i = np.uint8(1)
    for k in range(1, 3):
        x[k + 1] = np.sin(x[k]) * b
        x[i - np.uint8(1)] = np.cos(x[k]) * x[0]
    return np.sum(x * x)


def while_it_lasts(a, b):
    x = a.copy()
    i = 0
    while i < 3:
        x[i + 1] = np.sin(x[i]) * x[i + 1] * b
        i += 1
    i = 2
    while i > 0:
        x[i - 1] = np.sin(x[i]) * x[i - 1]
        i -= 1
    return np.sum(x * x)


OVERWRITTEN = [
    factors, sweeps, wraps_around, rows_from_the_end, every_other, written_after_the_loop, ahead,
    through_a_view, one_array_twice, exchanged, where_indices_say, by_small_ints, while_it_lasts,
]  # fmt: skip


@pytest.mark.parametrize("function", OVERWRITTEN)
def test_what_is_written_again_is_copied(function):
    check_grads(function, arguments(), order=1, argnums=(0, 1))


def table(b, n):
    ys = np.zeros((n, len(b)))
    ys[0] = b
    for t in range(n - 1):
        ys[t + 1] = np.sin(ys[t])
    return ys


def test_the_result_is_the_callers():
    """Whoever is given the array that wasn't copied may write into it."""
    b = np.array([0.3, -0.4])
    seed = np.random.default_rng(1).normal(size=(4, 2))
    ys, pullback = vjp(table, b, 4)
    ys[...] = 7.0
    expected = grad(lambda b: np.sum(seed * table(b, 4)))(b)
    np.testing.assert_allclose(pullback(seed)[0], expected)
    np.testing.assert_allclose(pullback(seed)[0], expected)
    value, _ = value_and_grad(lambda b: np.sum(table(b, 4)))(b)
    assert value == np.sum(table(b, 4))
    check_grads(lambda b: np.sum(table(b, 4)), (b,))


def test_second_derivatives():
    a, b = arguments()
    check_grads(lambda b: np.sum(grad(lambda x: trajectory(a, x))(b) ** 2), (b,))
    check_grads(lambda b: np.sum(grad(lambda x: forward_substitution(a, x))(b) ** 2), (b,))


def cholesky(a, b):
    n = len(a)
    lower = np.zeros_like(a)
    for j in range(n):
        lower[j, j] = np.sqrt(a[j, j] - lower[j, :j] @ lower[j, :j])
        lower[j + 1 :, j] = (a[j + 1 :, j] - lower[j + 1 :, :j] @ lower[j, :j]) / lower[j, j]
    return np.sum(lower**2 @ b)


def recurrence(a, b):
    x = np.zeros(len(b))
    for i in range(1, len(b)):
        x[i] = (b[i] - a[i, i - 1] * x[i - 1] * x[i - 1]) / a[i, i]
    return np.sum(x * x)


def by_elements(a, b):
    y = np.zeros(len(b))
    for i in range(len(b)):
        s = 0.0
        for j in range(i):
            s += a[i, j] * y[j]
        y[i] = (b[i] - s) / a[i, i]
    return np.sum(y**2)


def filtered(a, b):
    """What is read only where there is something before."""
    y = np.zeros(len(b))
    for i in range(len(b)):
        y[i] = a[0, 0] * b[i]
        if i >= 1:
            y[i] += a[0, 1] * y[i - 1]
        if not i < 2:
            y[i] += a[0, 2] * y[i - 2]
    return np.sum(y * y)


def positive(a, b):
    return a @ a.T + np.eye(4), b


@pytest.mark.parametrize(
    "function", [forward_substitution, cholesky, recurrence, by_elements, filtered]
)
def test_what_stays_in_an_array_is_not_recorded(function):
    arguments_ = positive(*arguments())
    gradient = grad(function, argnums=(0, 1))
    gradient(*arguments_)
    assert "saved" not in gradient.source, gradient.source
    check_grads(function, arguments_, argnums=(0, 1))
    _, pull = vjp(function, *arguments_)
    for found, expected in zip(pull(1.0), gradient(*arguments_), strict=True):
        np.testing.assert_array_equal(found, expected)


def before_the_first(a, b):
    """Where the test is false, too little is known: before the first is the last."""
    y = b.copy()
    for i in range(len(b)):
        if i > 1:
            y[i] *= a[0, 0]
        else:
            y[i] *= a[0, 1] * y[i - 1]
        if i <= 2:
            y[i] += y[i - 2] ** 2
        if i >= 0:
            y[i] += a[1, 0] * y[i - 1] ** 2
    return np.sum(y * y)


def elsewhere_tested(a, b):
    y = b.copy()
    n = len(b)
    for i in range(n):
        for j in range(n):
            if j >= 1:
                y[j] += a[0, i] * y[i - 1] * y[j - 1]
            if j < i:
                y[i] += a[1, j] * y[j] ** 2
    return np.sum(y * y)


def overwritten_after(a, b):
    x = np.zeros(len(b))
    for i in range(1, len(b)):
        x[i] = np.sin(b[i]) * x[i - 1] + a[i, 0]
    cubes = np.sum(x**3)
    x *= 2
    x += b
    return cubes + np.sum(x**2)


def swept_twice(a, b):
    x = b.copy()
    for _ in range(2):
        for i in range(1, len(b)):
            x[i] = np.sin(x[i] * x[i - 1]) + a[i, i] * x[i] ** 2 * 0.1
    return np.sum(x**2)


def written_in_a_branch(a, b):
    x = b.copy()
    for i in range(1, len(b)):
        s = np.exp(x[i - 1]) * a[0, i]
        if s > 0:
            x[i] = s
        else:
            x[i - 1] = s * x[i]
        x[0] += s**2
    return np.sum(x**2)


def around(a, b):
    x = np.zeros((4, 4))
    x[0] = b
    for i in range(1, 4):
        for j in range(4):
            x[i, j] = x[i - 1, j] ** 2 + x[i - 1, (j + 1) % 4] * a[i, j]
    return np.sum(x)


def running_total(a, b):
    x = b.copy()
    s = 0.0
    for i in range(len(b)):
        s += x[i] ** 2 * a[i, 0]
        x[i] = s
        s += x[i] ** 3
    return s


def doubled_on_the_way(a, b):
    x = b.copy()
    for i in range(1, len(b)):
        x[i] = x[i - 1] ** 2 * a[i, i]
        if a[i, 0] > 0:
            x = x * 2
    return np.sum(x)


def rounded_when_stored(a, b):
    x = np.zeros(len(b), np.float32)
    total = 0.0
    for i in range(len(b)):
        s = np.exp(b[i])
        x[i] = s
        total += np.sin(a[0, i]) * s
    return total + np.sum(x**2)


def spread_when_stored(a, b):
    x = np.zeros((4, 4))
    for i in range(len(b)):
        row = np.exp(b[i : i + 1])
        x[i] = row
        x[i, 0] = 2.0
        x[i, 1:] *= np.sum(row**2)
    return np.sum(x**2 * a)


def stored_twice(a, b):
    x = np.zeros(3)
    for i in range(len(b)):
        s = np.exp(b[i])
        x[i // 2] = s
        x[2] += s**2
    return np.sum(x**2) + a[0, 0]


def stored_through_a_view(a, b):
    x = b.copy()
    rest = x[1:]
    for i in range(len(rest)):
        s = np.exp(a[i, 0]) * x[i]
        rest[i] = s * s
        x[i] = 3.0 * x[i]
    return np.sum(x**2)


def kept_and_changed(a, b):
    x = np.zeros((4, 4))
    for i in range(len(b)):
        row = np.exp(a[i])
        x[i] = row
        row[0] = 3.0
        row *= b
        x[i, 1:] += row[1:] ** 2
    return np.sum(x**2)


@pytest.mark.parametrize(
    "function",
    [before_the_first, elsewhere_tested, overwritten_after, swept_twice, written_in_a_branch,
     around, running_total,
     doubled_on_the_way, spread_when_stored, stored_twice, stored_through_a_view,
     kept_and_changed],
)  # fmt: skip
def test_what_does_not_stay_is_recorded(function):
    a, b = arguments()
    check_grads(function, (a, b), argnums=(0, 1))


def test_what_is_rounded_when_it_is_stored():
    a, b = arguments()
    d_a, d_b = grad(rounded_when_stored, argnums=(0, 1))(a, b)
    np.testing.assert_allclose(d_a[0], np.exp(b) * np.cos(a[0]), rtol=1e-12)
    expected = np.exp(b) * np.sin(a[0]) + 2 * np.exp(2 * b)
    np.testing.assert_allclose(d_b, expected, rtol=1e-6)


def test_a_result_that_the_pullback_reads_is_not_the_callers():
    def solution(a, b):
        x = np.zeros(len(b))
        for i in range(1, len(b)):
            x[i] = (b[i] - a[i, i - 1] * x[i - 1] ** 2) / a[i, i]
        return x

    a, b = arguments()
    found, pull = vjp(solution, a, b)
    first = pull(np.ones(4))
    found[:] = 100.0
    for one, other in zip(first, pull(np.ones(4)), strict=True):
        np.testing.assert_array_equal(one, other)
