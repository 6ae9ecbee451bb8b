"""Lists of a length that only the run knows, in which items are put later: `[None] * n`."""

from typing import NamedTuple

import numpy as np
import pytest

import srcgrad


class State(NamedTuple):
    position: float
    velocity: float


def steps(x, n):
    xs = [None] * (n + 1)
    xs[0] = x
    for k in range(n):
        xs[k + 1] = xs[k] - 0.1 * np.sin(xs[k])
    return np.sum(np.array(xs) ** 2)


def smoother(x, n):
    filtered, smooth = [None] * n, [None] * n
    mean, variance = np.array([x, 0.5]), 1.0
    for t in range(n):
        variance = variance + 0.3
        gain = variance / (variance + 0.5)
        mean = mean + gain * (np.cos(t) - mean * x)
        filtered[t] = mean
    smooth[-1] = filtered[-1]
    for t in range(n - 2, -1, -1):
        smooth[t] = filtered[t] + 0.4 * (smooth[t + 1] - filtered[t])
    return sum(np.sum(s**2) for s in smooth)


def backward(x, n):
    transition = np.array([[x, 1 - x], [0.4, 0.6]])
    beta = [None] * n
    beta[n - 1] = np.ones(2)
    for t in reversed(range(n - 1)):
        beta[t] = transition @ (beta[t + 1] * np.array([0.3, x]))
    return np.log(beta[0].sum())


def tuples(x, n):
    xs = [None] * (n + 1)
    xs[0] = (x, 0.0)
    for k in range(n):
        p, v = xs[k]
        xs[k + 1] = (p + 0.1 * v, v - 0.1 * p)
    return sum(p * p + v for p, v in xs)


def named_tuples(x, n):
    xs = [None] * (n + 1)
    xs[0] = State(x, 0.0)
    for k in range(n):
        s = xs[k]
        xs[k + 1] = State(s.position + 0.1 * s.velocity, s.velocity - 0.1 * s.position)
    return sum(s.position**2 + s.velocity for s in xs)


def tuples_instead_of_zeros(x, n):
    xs = [0] * (n + 1)
    xs[0] = (x, 0.0)
    for k in range(n):
        p, v = xs[k]
        xs[k + 1] = (p + 0.1 * v, v - 0.1 * p)
    return sum(p * p + v for p, v in xs)


def table_that_remembers(x, n):
    table = [[None for _ in range(n)] for _ in range(n)]

    def ways(i, j):
        if table[i][j] is None:
            if i == 0 or j == 0:
                table[i][j] = x * (i + j + 1)
            else:
                table[i][j] = np.sin(ways(i - 1, j)) + ways(i, j - 1)
        return table[i][j]

    return ways(n - 1, n - 1)


def rows_in_a_table(x, n):
    table = [None] * n
    for i in range(n):
        table[i] = [None] * n
        for j in range(n):
            table[i][j] = x * (i + 1) * (j + 2)
    for i in range(1, n):
        for j in range(1, n):
            table[i][j] = table[i - 1][j - 1] * 0.5 + np.sin(table[i][j - 1])
    return table[n - 1][n - 1]


def with_holes(x, n):
    xs = [None] * n
    for i in range(n):
        if i % 3 != 1:
            xs[i] = x * i
    total = 0.0
    for k, part in enumerate((list(xs), xs[1:], xs + xs, xs[::-1])):
        for v in part:
            total += x * x if v is None else v * v * (k + 1)
    for v in xs:
        total += (v or 2.0 * x) ** 2
        total += v * x if isinstance(v, float) else x**3
    return total


def tuples_with_holes(x, n):
    xs = [None] * n
    for i in range(n):
        if i % 3 != 1:
            xs[i] = (x * i, np.array([x, x * i]))
    total = 0.0
    for v in xs:
        if v is not None:
            total += np.sin(v[0]) * np.sum(v[1] ** 2)
        total += 1.0 if v else x
    return total


def arrays_with_holes(x, n):
    xs = [None] * n
    for i in range(n):
        if i % 3 != 1:
            xs[i] = np.array([x, x * i])
    total = 0.0
    for v in xs:
        if v is not None:
            v[0] += x
            total += np.sum(v**2)
    xs = [np.ones(2) if v is None else v for v in xs]
    return total + np.sum(np.array(xs) ** 2)


def appended(x, n):
    xs = []
    for i in range(n):
        last = None if i % 2 else np.sin(x * i)
        xs.append(last)
    return sum(3 * x if v is None else v * v for v in xs)


def pairs(x, n):
    xs = []
    for i in range(n):
        xs.append((None if i % 2 else x * x * i, i))
    return sum(x if v is None else v * i for v, i in xs)


def kept_where_given(x, n):
    xs, ys = [None] * n, [None] * n
    for i in range(n):
        if i % 3 != 1:
            xs[i], ys[i] = x * i, (x, x * i)
    found = [(i, v) for i, v in enumerate(xs) if v is not None and i < 4]
    total = sum(i * v for i, v in found)
    for p, q in [y for y in ys if y]:
        total += p * q
    return total


def predecessors(x, n):
    before, cost = [None] * n, [1e9] * n
    cost[0] = x
    for i in range(1, n):
        for j in range(i):
            if cost[j] + x * (i - j) ** 1.5 < cost[i]:
                cost[i], before[i] = cost[j] + x * (i - j) ** 1.5, j
    total, k = cost[n - 1], n - 1
    while k is not None:
        total, k = total + cost[k], before[k]
    return total


PROGRAMS = [
    steps, smoother, backward, tuples, named_tuples, tuples_instead_of_zeros, table_that_remembers,
    rows_in_a_table, with_holes, tuples_with_holes, arrays_with_holes, appended, pairs,
    kept_where_given, predecessors,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_program(f):
    for n in (1, 2, 5):
        step = 1e-5
        expected = (f(0.7 + step, n) - f(0.7 - step, n)) / (2 * step)
        value, gradient = srcgrad.value_and_grad(f)(0.7, n)
        assert value == pytest.approx(f(0.7, n), rel=1e-12)
        assert gradient == pytest.approx(expected, rel=1e-7, abs=1e-8)
        assert srcgrad.grad(f)(0.7, n) == pytest.approx(gradient, rel=1e-12)
        assert srcgrad.jvp(f, (0.7, n), (1.0, None))[1] == pytest.approx(gradient, rel=1e-9)


@pytest.mark.parametrize("f", [steps, backward, tuples, with_holes], ids=lambda f: f.__name__)
def test_second_derivative(f):
    first, step = srcgrad.grad(f), 1e-5
    expected = (first(0.7 + step, 4) - first(0.7 - step, 4)) / (2 * step)
    assert srcgrad.grad(lambda x: first(x, 4))(0.7) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("f", [tuples, tuples_with_holes], ids=lambda f: f.__name__)
def test_the_gradient_of_a_tangent(f):
    def slope(x):
        return srcgrad.jvp(lambda z: f(z, 5), (x,), (1.0,))[1]

    step = 1e-5
    expected = (slope(0.7 + step) - slope(0.7 - step)) / (2 * step)
    assert srcgrad.grad(slope)(0.7) == pytest.approx(expected, rel=1e-7)


def test_the_loop_stays_one():
    gradient = srcgrad.grad(steps)
    gradient(0.7, 3)
    assert "xs = [None] * n" in gradient.source and "for k in reversed(range(n))" in gradient.source


def test_an_item_that_is_none():
    def total(x, n):
        xs = [None] * n
        xs[0] = x
        return sum(v * x for v in xs)

    assert srcgrad.grad(total)(0.7, 1) == pytest.approx(1.4)
    with pytest.raises(TypeError, match="NoneType"):
        srcgrad.grad(total)(0.7, 2)
