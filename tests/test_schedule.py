"""Scheduling: what order statements are put in, and what order they must keep."""

import copy

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads
from tests.test_simplify import body

X = np.array([0.5, -1.5, 2.0, 0.25])
M = np.arange(6.0).reshape(2, 3) / 4


def test_the_next_value_takes_the_place_of_the_present_one():
    def f(x, n):
        for _ in range(n):
            x = x + 0.1 * np.sin(x)
        return np.sum(x)

    lines = body(f, X, 3)
    assert lines[3:5] == ["x_saved.append(x_1)", "x_1 = x_1 + 0.1 * np.sin(x_1)"]
    check_grads(f, (X, 3))


def test_a_next_value_is_computed_before_its_operands_change():
    def f(x, n):
        y = x * 1.0
        s = np.zeros(4)
        for _ in range(n):
            z = np.sin(s) * y
            s += z
            s[0] = 0.5 * s[1]
            y = z + y * y
        return np.sum(y * s)

    check_grads(f, (X, 3), order=1)


def test_two_values_that_change_places():
    def f(x, n):
        a, b = x, x * x
        for _ in range(n):
            a, b = b, a * b
        return np.sum(a * b)

    check_grads(f, (0.5 * X, 3))


def test_what_is_reduced_is_reduced_at_once():
    def f(x, gain):
        return np.sum(np.cosh(np.sin(x) - gain) * np.sin(x))

    lines = body(f, M, X[:3], argnums=(0, 1))
    (position,) = (i for i, line in enumerate(lines) if ".sum(axis=0)" in line)
    assert lines[position - 1 : position + 2] == [
        "d_x *= sin", "d_gain = -d_x.sum(axis=0)", "d_x += cosh"
    ]  # fmt: skip
    check_grads(f, (M, X[:3]), argnums=(0, 1))


def test_what_is_computed_from_a_copy_is_computed_from_the_original():
    def f(u, n, rate):
        for _ in range(n):
            u[1:-1] += rate * (u[2:] + u[:-2])
        return np.sum(u**2)

    lines = body(f, X.copy(), 3, 0.1)
    assert "np.multiply(rate, d_u_inner, out=d_total)" in lines
    assert sum(".copy()" in line for line in lines) == 1  # that of the argument
    check_grads(f, (X, 3, 0.1))


def test_a_copy_stays_where_the_original_changes_first():
    def f(u, n):
        for _ in range(n):
            u[1:] = u[:-1] * 0.5 + u[1:]
            u[:-1] = u[1:] * u[:-1]
        return np.sum(u)

    check_grads(f, (X, 3))

    def g(u):
        v = u[1:].copy()
        u[:] = 2 * u
        return np.sum(v * v * u[1:])

    check_grads(g, (X,))


@pytest.mark.parametrize("n", range(3))
def test_an_early_end(n):
    def f(x, n):
        total = 0.0
        for i in range(4):
            y = x * (i + 1)
            if i > n:
                break
            total = total + np.sum(y * x)
            x = np.sin(x) + y
        return total + np.sum(x)

    check_grads(f, (X, n))


def test_zero_trips():
    def f(x, n):
        d = x.copy()
        for _ in range(n):
            d = d * x + d
        return np.sum(d)

    for n in range(3):
        check_grads(f, (X, n))
        before = copy.deepcopy(X)
        srcgrad.grad(f)(X, n)
        np.testing.assert_array_equal(X, before)


def test_residuals_that_share_memory_are_known_to():
    def f(w, z):
        w[1:] += -(w[::2] * z)
        return np.sum(w * w)

    w = np.arange(1.0, 13).reshape(3, 4)
    d_w, d_z = srcgrad.grad(f, argnums=(0, 1))(w.copy(), 0.7)
    pullback = srcgrad.vjp(f, w.copy(), 0.7)[1]
    for _ in range(2):
        found = pullback(1.0)
        np.testing.assert_allclose(found[0], d_w, rtol=1e-12)
        np.testing.assert_allclose(found[1], d_z, rtol=1e-12)
    check_grads(f, (w, 0.7))


def test_items_are_added_to():
    def f(x, n):
        y = np.zeros(n)
        for i in range(n):
            y[i] = x[i] * x[(i + 1) % n] - y[i - 1]
        return np.sum(y * y)

    gradient = srcgrad.grad(f)
    gradient(X, 4)
    code = gradient.source
    assert "d_x_list[i] += " in code
    assert "d_x_list[i] = d_x_list[i]" not in code
    check_grads(f, (X, 4))


def test_an_item_that_is_read_again_is_kept():
    def f(x):
        y = x * 2
        old = y[1]
        y[1] = old + x[0]
        y[2] = y[2] - y[1] * old
        y[[0, 3]] = y[[0, 3]] + y[[3, 0]]
        return np.sum(y * y) * old

    check_grads(f, (X,))
    for dtype in (np.float32, np.float64):
        assert srcgrad.grad(f)(X.astype(dtype)).dtype == dtype


def test_an_array_that_is_needed_anyway_is_asked_for_the_shape():
    def f(x, labels):
        z = x * 2.0 + 1.0
        e = np.exp(z)
        return np.sum(np.log(np.sum(e, axis=1))) - np.sum(z[np.arange(len(labels)), labels])

    labels = np.array([1, 0])
    lines = body(f, M[:2], labels)
    assert "exp = np.exp(z, out=z)" in lines or "e = np.exp(z, out=z)" in lines
    assert not any("z.shape" in line for line in lines)
    check_grads(lambda x: f(x, labels), (M[:2],))


def test_the_last_array_of_a_shape_takes_the_place_of_one_that_is_reduced():
    def f(mean, log_scale, x):
        z = (x - mean) * np.exp(log_scale)
        return -0.5 * np.sum(np.cosh(z)) + np.sum(log_scale)

    points = M.reshape(2, 1, 3)
    lines = body(f, X[:3], X[1:], points, argnums=(0, 1))
    assert any("np.multiply(d_z, z, out=z).sum(axis=(0, 1))" in line for line in lines), lines
    check_grads(f, (X[:3], X[1:], points), argnums=(0, 1, 2))


def test_a_reduction_is_not_moved_past_a_write():
    def f(x, n):
        total = 0.0
        for _ in range(n):
            y = np.sin(x) * x
            y[0] = y[1] * np.sum(y)
            z = y * y
            y *= 0.5
            total = total + np.sum(y) * np.sum(z)
            x = x + 0.1 * z
        return total

    check_grads(f, (X, 3), order=1)
