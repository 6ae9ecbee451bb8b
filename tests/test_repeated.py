"""What is the same in all iterations is neither recorded nor computed again."""

import re

import numpy as np
import pytest

from srcgrad import grad, hvp, vjp

X = np.array([0.3, 0.7, 0.6, 0.2])


def same_array(x, y, n, m):
    s = y
    for _ in range(n):
        kernel = np.exp(y * x)
        s = s * kernel.sum() * 0.3 + np.sin(s)
    return s


def in_an_inner_loop(x, y, n, m):
    s = y
    for i in range(n):
        q = y**3 / x[0]
        for _ in range(m - i):  # in the last trip of the outer one, maybe none
            k = y**2 / x.sum() + q
            s = np.sin(s) * k
        s = s * q
    return s


def in_a_branch(x, y, n, m):
    s = y
    for i in range(n):
        if i >= m:
            k = np.exp(x) / y
            for _ in range(m):
                s = s + np.sqrt(k).sum()
            s = np.sin(s) * k.sum()
        else:
            s = s * y
    return s


def before_the_end(x, y, n, m):
    s = y
    for _ in range(n):
        k = np.sqrt(x) / y
        if s > 4:
            break
        length = np.sqrt(x) * y**2
        s = s * k.sum() + length @ length
    return s


def several_results(x, y, n, m):
    s = y
    for _ in range(n):
        w, v = np.linalg.eigh(np.outer(x, x) + np.diag(x))
        s = np.sin(s) * (v**2 @ w)[0] + w.sum()
    return s


def another_view(x, y, n, m):
    a, s = np.outer(x, x), y
    for _ in range(n):
        turned = np.rollaxis(a, 1)
        k = (turned * x) ** 2
        a[0, 0] += s
        s = np.sin(s) * k.sum()
    return s


RECORDED = {
    same_array: ["s"],
    in_an_inner_loop: ["(s_1, sin)", "s_1"],
    in_a_branch: ["(s_2, sin)", "s"],
    before_the_end: ["s"],
    several_results: ["(y, sin)"],
    another_view: ["(y, turned_1, product, sin, total)"],
}
SAME = list(RECORDED)


def written_later(x, y, n, m):
    s = y
    for _ in range(n):
        k = np.exp(x)
        s = np.sin(s) * k.sum() / 4
        k *= s
        s = np.sin(s + k.sum() / 4)
    return s


def of_what_is_written(x, y, n, m):
    a, s = x.copy(), y
    for _ in range(n):
        k = np.exp(a)
        s = np.sin(s) * k.sum() / 4
        a[0] += 0.1
    return s


def of_a_list_that_changes(x, y, n, m):
    items, s = [x, x * 2], y
    for _ in range(n):
        k = np.exp(items[0])
        s = np.sin(s) * k.sum()
        items[0] = x * s
    return s + items[-1].sum()


def random(x, y, n, m):
    s, generator = y, np.random.default_rng(0)
    for _ in range(n):
        s = np.sin(s) * np.exp(generator.normal() * y)
    return s * y


CHANGES = [written_later, of_what_is_written, of_a_list_that_changes, random]


@pytest.mark.parametrize("function", SAME + CHANGES)
def test_gradients_whether_or_not_loops_run(function):
    def flat(z, n, m):
        return function(z[:4], z[4], n, m)

    def of_the_gradient(z, v, n, m):
        return grad(flat)(z, n, m) @ v

    gradient, product, twice = grad(flat), hvp(flat), grad(of_the_gradient)
    z, v = np.append(X, 0.7), np.array([0.3, -0.2, 0.5, 0.1, 0.4])
    for n, m in ((0, 0), (3, 2), (3, 0), (0, 3), (1, 4)):
        slope = (flat(z + 1e-6 * v, n, m) - flat(z - 1e-6 * v, n, m)) / 2e-6
        assert gradient(z, n, m) @ v == pytest.approx(slope, rel=1e-6, abs=1e-8)
        ends = gradient(z + 1e-6 * v, n, m), gradient(z - 1e-6 * v, n, m)
        second = product(z, n, m, v)
        np.testing.assert_allclose(second, (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(twice(z, v, n, m), second, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("function", SAME)
def test_it_is_left_in_its_variable(function):
    gradient = grad(function, argnums=(0, 1))
    gradient(X, 0.7, 3, 2)
    assert re.findall(r"saved\.append\((.*)\)", gradient.source) == RECORDED[function]


def test_the_numbers_of_a_scheme_are_not_recorded():
    def heat(u, dt, dx, n):
        for _ in range(n):
            u[1:-1] += dt / dx**2 * (u[2:] - 2 * u[1:-1] + u[:-2]) * u[1:-1]
        return np.sum(u * u)

    gradient = grad(heat, argnums=(0, 1, 2))
    gradient(X, 0.1, 0.5, 3)
    assert "ratio = dt / power\n" in gradient.source
    assert "saved.append((total, u_inner_1))\n" in gradient.source


def test_what_is_left_has_another_name_than_the_number_of_trips():
    def f(x, y):
        n = len(x)
        m = np.outer(x, x)
        s = y
        for i in range(n - 2):
            if i == 1:
                break
            products = [row * k for row, k in zip(m, x, strict=True)]  # of which there are n, too
            s = s + sum(p.sum() ** 2 for p in products)
        return s

    _, pullback = vjp(f, X, 0.7)
    expected = grad(f, argnums=(0, 1))(X, 0.7)
    np.testing.assert_allclose(np.append(*pullback(1.0)), np.append(*expected))
    expected = 4 * X**3 * X.sum() ** 2 + 2 * (X**4).sum() * X.sum()
    np.testing.assert_allclose(pullback(0.5)[0], expected / 2)


def test_a_loop_of_which_only_what_repeats_is_needed_runs_once():
    def error(w, data):
        total = 0.0
        for x, y in data:
            total += (w[0] * x + w[1] - y) ** 2
        return total

    gradient = grad(error)
    for data in ([], [(0.1, 0.3)], [(0.1, 0.3), (0.2, 0.1), (0.4, 0.9), (0.7, 0.2), (0.3, 0.5)]):
        x, y = np.array(data).reshape(-1, 2).T
        left = 2 * (X[0] * x + X[1] - y)
        expected = np.array([left @ x, left.sum(), 0.0, 0.0])
        np.testing.assert_allclose(gradient(X, data), expected, atol=1e-12)
    assert "if count > 0:" in gradient.source
    assert re.findall("    for .*:", gradient.source) == ["    for x, y in reversed(data):"]
