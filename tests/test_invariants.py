"""Sharing of reads, loop-invariant motion, and the names of views."""

import warnings

import numpy as np
import pytest

import srcgrad
from srcgrad import grad
from srcgrad.testing import check_grads


def check(f, x, *rest):
    """The gradient, compared with differences; its source."""
    gradient = srcgrad.grad(f)
    found = gradient(x.copy(), *rest)
    direction = np.random.default_rng(0).normal(size=x.shape)
    above, below = f(x + 1e-6 * direction, *rest), f(x - 1e-6 * direction, *rest)
    assert np.sum(found * direction) == pytest.approx((above - below) / 2e-6, rel=1e-6, abs=1e-7)
    return gradient.source


X = np.array([0.3, 0.5, 0.7, 0.9, 1.1])


def test_views_are_made_once():
    def f(u, steps):
        u = u.copy()
        for _ in range(steps):
            u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        return np.sum(u * u)

    source = check(f, X, 4)
    assert source.count("[1:-1]") == 2 + source.count("# u[1:-1]") * source.count("u[1:-1] +=")
    for name in ("u_inner = u[1:-1]", "u_left = u[:-2]", "d_u_right = d_u[2:]"):
        assert name in source
    check(f, X, 0)


def test_what_was_written_in_between_is_read_again():
    def f(x, n):
        y = x * 1.0
        total = 0.0
        for i in range(n):
            a = y[i]
            y[i] = np.sin(y[i]) * y[i + 1]
            b = y[i]
            y[i + 1] += a * b
            total = total + a * b * y[i + 1]
        return total

    check(f, X, 4)


def test_a_snapshot_is_taken_again_after_a_write():
    def f(x, n):
        y = x * 1.0
        total = 0.0
        for i in range(n):
            total = total + y[1:] @ y[:-1]
            y[1:] *= np.cos(y[:-1]) + i
            total = total + y[1:] @ y[:-1]
        return total

    check(f, X, 3)


def test_a_write_in_a_branch_or_a_loop_counts():
    def f(x, n):
        y = x * 1.0
        total = 0.0
        for i in range(n):
            total = total + y[0] ** 2
            if i == 1:
                y[0] = y[0] * y[1]
            total = total + y[0] ** 2
            for j in range(i):
                y[0] += 0.1 * y[j] ** 2
            total = total + y[0] ** 2
        return total

    check(f, X, 4)


def test_copies_that_are_changed_stay_apart():
    def f(x, n):
        total = 0.0
        for i in range(n):
            a = x.copy()
            b = x.copy()
            a[0] *= 2.0
            b[1] *= x[i]
            total = total + a @ b
        return total

    check(f, X, 3)


def test_invariant_arithmetic_is_not_recorded():
    def f(x, k, h, steps):
        y = x
        for _ in range(steps):
            y = y + 0.5 * h * np.sin(-k * y)
        return np.sum(y * y)

    source = check(f, X, 2 * X, 0.1, 3)
    before, _, inside = source.partition("    for _ in range(steps):\n")
    code = [line for line in inside.splitlines() if "#" not in line]
    assert "0.5 * h" in before and not any("0.5 * h" in line for line in code)
    assert "-k" in before
    check(f, X, 2 * X, 0.1, 0)


def test_what_could_fail_stays_in_the_loop():
    def f(x, c, steps):
        total = np.sum(x * x)
        for _ in range(steps):
            total = total + c[0] * total / c[1]
        return total

    gradient = srcgrad.grad(f)
    np.testing.assert_allclose(gradient(X, np.zeros(0), 0), 2 * X)

    def g(x, c, steps):
        total = np.sum(x * x)
        for _ in range(steps):
            total = total * np.log(c)
        return total

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(srcgrad.grad(g)(X, -1.0, 0), 2 * X)


def test_sizes_that_do_not_fit_are_no_error_of_a_loop_that_does_not_run():
    def f(x, a, b, steps):
        total = np.sum(x * x)
        for _ in range(steps):
            total = total + np.sum((a + b) * x)
        return total

    gradient = srcgrad.grad(f)
    np.testing.assert_allclose(gradient(X, np.ones(5), np.ones(4), 0), 2 * X)


def after_a_loop(x, y, n):
    for _ in range(n):
        a = y**2
    s = 0.0
    for _ in range(n):
        s += a * 3.0 * y
    return s + y * x[0]


def after_a_branch(x, y, n):
    a = None
    if n:
        a = y**2
    s = 0.0
    for _ in range(n):
        s += a * 3.0 * y
    return s + y * x[0]


@pytest.mark.parametrize("function", [after_a_loop, after_a_branch])
def test_what_has_no_value_is_no_error_of_a_loop_that_does_not_run(function):
    gradient = srcgrad.value_and_grad(function, argnums=(0, 1))
    for n in (2, 0):
        value, (d_x, d_y) = gradient(X, 0.7, n)
        assert value == pytest.approx(3 * n * 0.343 + 0.21)
        np.testing.assert_allclose(d_x, 0.7 * np.eye(5)[0])
        assert d_y == pytest.approx(9 * n * 0.49 + 0.3)


def test_views_are_named_for_what_they_show():
    def f(a, n):
        a = a.copy()
        for k in range(n):
            a[k + 1 :, k] /= a[k, k]
            a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
            a[1:-1, 2:] *= a[1:-1, 2:]
        return np.sum(a * a)

    rng = np.random.default_rng(1)
    source = check(f, 3 * np.eye(4) + 0.2 * rng.normal(size=(4, 4)), 3)
    for name in ("a_column", "a_row", "a_right", "next_k"):
        assert name in source


def saved(source):
    """What the forward sweep records in each trip."""
    return source.partition(".append(")[2].partition("\n")[0]


def test_an_array_asked_for_its_shape_alone_is_not_recorded():
    def f(kernel, image):
        rows = image.shape[0] - len(kernel) + 1
        out = np.zeros(rows)
        for i in range(len(kernel)):
            out += kernel[i] * image[i : i + rows]
        return np.sum(out * out)

    source = check(f, X[:2], X)
    assert "append" not in source

    def g(x, w, n):
        h = x
        for _ in range(n):
            h = np.sin(h) + (h * 2.0 + w)
        return np.sum(h)

    source = check(g, X, np.array(0.5), 3)
    assert "append" in source
    check(lambda x: g(x, np.ones((3, 1)), 3), X)
    check(lambda w: g(X, w, 2), np.ones((3, 1)))


def test_a_recorded_shape_takes_the_place_of_an_array():
    def f(x, w, n):
        for i in range(n):
            x = x[:, :1] * w[i] + 0.5 * x
        return np.sum(x**2)

    rng = np.random.default_rng(2)
    x, w = rng.normal(size=(3, 4)), rng.normal(size=(5, 4))
    source = check(f, x, w, 3)
    assert "x_left.shape" in source and "unbroadcast_to(" in source
    check(lambda w: f(x, w, 3), w)
    check(lambda x: f(x, w[:, :1], 3), x)
    gradient = srcgrad.grad(lambda x: np.sum(srcgrad.grad(f)(x, w, 2) ** 2))
    direction = rng.normal(size=x.shape)

    def inner(x):
        return np.sum(srcgrad.grad(f)(x, w, 2) ** 2)

    difference = (inner(x + 1e-6 * direction) - inner(x - 1e-6 * direction)) / 2e-6
    assert np.sum(gradient(x) * direction) == pytest.approx(difference, rel=1e-5)


def test_what_others_are_computed_from_again_is_recorded():
    def f(x, n):
        for _ in range(n):
            y = np.tanh(x) * 2.0
            x = np.array([y[0] * y[1], np.sin(y[1]), y[0] ** 2])
        return np.sum(x)

    check(f, X[:3], 3)


def eliminated(a, b):
    a = a.copy()
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k:] -= a[i, k] / a[k, k] * a[k, k:]
    return np.sum(a**2 * b[0])


def eliminated_by_element(a, b):
    a = a.copy()
    n = len(a)
    for k in range(n - 1):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return np.sum(a**2 * b[0])


def backwards(a, b):
    a = a.copy()
    for k in range(len(a) - 1, 0, -1):
        for i in range(k):
            a[i] -= a[i, k] / a[k, k] * a[k] ** 2
    return np.sum(a**2 * b[0])


def pivot_row_too(a, b):
    """The loop begins with the row that it reads."""
    a = a.copy()
    n = len(a)
    for k in range(n):
        for i in range(k, n):
            a[i, k:] -= 0.1 * a[i, k] * a[k, k] * a[k, k:]
    return np.sum(a**2 * b[0])


def row_before(a, b):
    """Of the first row, the row before is the last, which the loop writes."""
    a = a.copy()
    n = len(a)
    for k in range(n):
        for i in range(k, n):
            a[i] -= 0.1 * a[k - 1, 0] * a[k - 1] ** 2
    return np.sum(a**2 * b[0])


def other_axis(a, b):
    a = a.copy()
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            a[:, i] -= 0.1 * a[k, k] * a[k] ** 2
    return np.sum(a**2 * b[0])


def through_a_view(a, b):
    a = a.copy()
    n = len(a)
    below = a[1:]
    for k in range(n - 1):
        for i in range(k + 1, n):
            below[i - 1] -= 0.1 * a[k, k] * a[k] ** 2
    return np.sum(a**2 * b[0])


def in_turns(a, b):
    """What an inner loop reads before another one writes it."""
    a = a.copy()
    n = len(a)
    for k in range(n - 1):
        for i in range(k + 1, n):
            a[i] -= 0.1 * a[k, k] * a[k] ** 2
        for i in range(k + 1):
            a[i] += 0.2 * a[n - 1, k] * a[n - 1] ** 2
    return np.sum(a**2 * b[0])


def one_of_two(a, b):
    a = a.copy()
    c = a if b[0] > 0 else a[::-1]
    n = len(a)
    for k in range(n - 1):
        for i in range(k + 1, n):
            c[i] -= 0.1 * a[k, k] * a[k] ** 2
    return np.sum(a**2 * b[0])


SPARED = [eliminated, eliminated_by_element, backwards]
WRITTEN = [pivot_row_too, row_before, other_axis, through_a_view, in_turns, one_of_two]


@pytest.mark.parametrize("function", SPARED + WRITTEN)
def test_parts_of_an_array_that_a_loop_writes(function):
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(4, 4)) + 3 * np.eye(4), rng.normal(size=4)
    check_grads(function, (a, b), argnums=(0, 1))
    check_grads(function, (a, -b), order=1, argnums=(0, 1))


def test_the_row_of_the_pivot_is_read_and_kept_once(loops_stay):
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(4, 4)) + 3 * np.eye(4), rng.normal(size=4)
    gradient = grad(eliminated)
    gradient(a, b)
    inner = gradient.source.partition("for i in")[2].partition("# return")[0].splitlines()[1:4]
    assert [line.strip() for line in inner] == [
        "ratio = a[i, k] / a_1",
        "a[i, k:] -= ratio * a_row",
        "ratio_saved.append(ratio)",
    ]


def test_nothing_is_read_that_the_function_does_not_read():
    def f(a, start):
        a = a.copy()
        for k in range(3):
            for i in range(k + start, 2):
                a[i] = a[i] * a[k] + a[k, 2]
        return np.sum(a)

    def g(a, start):
        a = a.copy()
        for k in range(len(a)):
            for i in range(k + start, 2):
                a[i] = a[i] * a[k, k + 1]
        return np.sum(a)

    a = np.arange(1.0, 7.0).reshape(2, 3)
    for function in (f, g):
        gradient = grad(function)
        np.testing.assert_array_equal(gradient(a, 5), np.ones((2, 3)))
        check_grads(lambda a, function=function: function(a, 1), (a,), order=1)


def test_results_that_are_made_in_each_iteration_are_others():
    def f(x):
        return [x * x for _ in range(3)]

    found = [srcgrad.vjp(f, X)[0], *srcgrad.jvp(f, (X,), (X,))]
    for rows in found:
        rows[0][:] = 7.0
        assert not np.any(rows[1] == 7.0) and not np.any(rows[2] == 7.0)
