"""Functions that keep their results (`functools.cache`, `lru_cache`): called once for each key."""

from functools import cache, lru_cache

import numpy as np
import pytest

import srcgrad
from tests.small_programs import check

POINT = np.array([0.5, 1.2, 0.9])


@cache
def binomial(n, k):
    return 1 if k in (0, n) else binomial(n - 1, k - 1) + binomial(n - 1, k)


def recursion(x):
    @cache
    def fib(n):
        return x[n] if n < 2 else fib(n - 1) * 0.5 + fib(n - 2)

    return fib(24)


def what_it_read_has_changed(x):
    scale = 1.0

    @cache
    def g(n):
        return x[n] * scale

    first = g(0)
    scale = 3.0
    return first + g(0) + g(1)


def calls_counted(x):
    calls = []

    @cache
    def g(n):
        calls.append(n)
        return x[n] ** 2

    return (g(0) + g(0) + g(1)) * len(calls)


def floats(x):
    @lru_cache
    def g(v):
        return v * v

    return g(x[0]) + g(x[1])


def on_some_paths(x):
    a, b = [1, 2, 3, 2], [2, 3, 1]

    @lru_cache(None)
    def common(i, j):
        if i == len(a) or j == len(b):
            return 0.0
        if x[i % 3] > x[j % 3]:
            return x[i % 3] + common(i + 1, j + 1)
        return max(common(i + 1, j), common(i, j + 1))

    return common(0, 0)


def in_a_loop(x):
    @cache
    def g(k):
        return x[k % 3] * k

    total, i = g(1), 0
    while total < 20.0:
        total += g(i) + g(1)
        i += 1
    return total + g(2)


def of_a_class(x):
    class Series:
        def __init__(self, a):
            self.a = a

        @lru_cache(None)  # noqa: B019
        def term(self, n):
            return self.a if n < 1 else self.term(n - 1) * x[1] + self.term(n - 2)

    return Series(x[0]).term(8) + Series(x[2]).term(3)


def another_decorator_in_a_class(x):
    def doubled(function):
        factor = 2.0
        return lambda *args: function(*args) * factor

    class Thing:
        def __init__(self, a):
            self.a = a

        @doubled
        def scaled(self, n):
            return self.a * n

    return Thing(x[0]).scaled(x[1])


def named_arguments(x):
    @lru_cache(None)
    def g(k, s=1.0, *, t=2.0):
        return x[k] * s * t

    return g(0) + g(0, 2.0) + g(0, t=3.0) + g(k=0)


def outer(x):
    return sum(binomial(12, k) * x[0] ** k for k in range(13))


@pytest.mark.parametrize(
    "program",
    [recursion, what_it_read_has_changed, calls_counted, floats, on_some_paths, in_a_loop,
     of_a_class, another_decorator_in_a_class, named_arguments, outer],
)  # fmt: skip
def test_gradient_is_right(program):
    check(program, POINT)


@pytest.mark.parametrize("n", [0, 1, 6])
def test_keys_that_only_the_run_tells(n):
    def f(x, n):
        @cache
        def g(k):
            return x[0] if k <= 0 else g(k - 1) * x[1] + g(k // 2)

        return g(n)

    check(lambda x: f(x, n), POINT)


def mutated(x, n):
    @cache
    def buffer(k):
        return np.zeros(k)

    total = 0.0
    for _ in range(n):
        b = buffer(3)
        b[0] += x[0]
        total += np.sum(b * b)
    return total


def counted(x, n):
    count = [0]

    @cache
    def g(i):
        count[0] += 1
        return x[0] * count[0]

    return sum(g(i) + g(1) for i in range(n))


def read_what_changes(x, n):
    k = x[0]

    @cache
    def g(i):
        return k * i

    total = g(1)
    for i in range(n):
        total += g(i)
        k = k * x[1]
    return total


class Model:
    def __init__(self, v):
        self.v = v

    @cache  # noqa: B019
    def scaled(self, i):
        return self.v * i


def attribute_changed(x, n):
    model, total = Model(x[0]), 0.0
    for i in range(n):
        total += model.scaled(i % 2)
        model.v = model.v * x[1]
    return total


@pytest.mark.parametrize("program", [mutated, counted, read_what_changes, attribute_changed])
def test_refused_where_what_was_kept_may_be_another(program):
    with pytest.raises(srcgrad.UnsupportedError, match="keeps its results, and whether") as refused:
        srcgrad.grad(program)(POINT, 3)
    assert refused.value.filename == __file__


def test_an_object_is_a_key():
    def f(x):
        model = Model(x[0])
        first = model.scaled(1)
        model.v = x[0] * x[1]
        return first * model.scaled(1) + model.scaled(2)

    check(f, POINT)


class Grid:
    def __init__(self, n):
        self.weights, self.names = np.ones(n), ["a", "b"]


@cache
def kept_grid(n):
    steps = np.zeros(n)
    steps[0] = 1.0
    rows = []
    for i in range(n):
        rows.append(steps * i)
    return Grid(n), rows, {"steps": [1.0, 2.0]}


def written_array(x):
    weights = kept_grid(3)[0].weights if x[0] > 0 else np.ones(3)
    weights[0] = x[1]
    return np.sum(weights)


def written_view(x):
    view = kept_grid(3)[0].weights[1:]
    view *= 2.0
    return np.sum(view) * x[0]


def written_row(x):
    kept_grid(3)[1][2][0] = x[0]
    return x[1]


def written_by_a_callee(x):
    def fill(a):
        a[:] = x

    fill(kept_grid(3)[0].weights)
    return np.sum(x)


def written_in_a_loop(x):
    for i in range(2):
        kept_grid(i + 2)[0].weights[0] += 1.0
    return np.sum(x)


def longer_list(x):
    kept_grid(3)[1].append(x)
    return np.sum(x)


def written_dict(x):
    kept_grid(3)[2]["steps"][0] = x[0]
    return np.sum(x)


def set_attribute(x):
    kept_grid(3)[0].weights = x
    return np.sum(x)


@pytest.mark.parametrize(
    "program",
    [written_array, written_view, written_row, written_by_a_callee, written_in_a_loop, longer_list,
     written_dict, set_attribute],
)  # fmt: skip
def test_what_a_function_outside_keeps_isnt_changed(program):
    with pytest.raises(srcgrad.UnsupportedError, match=r"kept_grid\(\.\.\.\)"):
        srcgrad.grad(program)(POINT)


def test_what_a_function_outside_keeps_is_read():
    def f(x, k=3):
        grid, rows, table = kept_grid(3)
        copied = grid.weights.copy()
        copied[0] = x[2]
        total = np.sum(copied) * table["steps"][k % 2] + len(grid.names)
        for i in range(k):
            total += np.sum(rows[i] * x)
        return total + np.sum(grid.weights * x**2) + len([*rows, x])

    check(f, POINT)


def test_a_local_name_that_changes_is_the_functions_own():
    def f(x):
        @lru_cache(None)
        def chain(i, j):
            if i == j:
                return 0.0
            best = np.inf
            for k in range(i, j):
                best = min(best, chain(i, k) + chain(k + 1, j) + x[i - 1] * x[k] * x[j])
            return best

        return chain(1, len(x) - 1)

    x = np.array([0.6, 1.3, 2.2])
    np.testing.assert_allclose(srcgrad.grad(f)(x), [1.3 * 2.2, 0.6 * 2.2, 0.6 * 1.3])
    x = np.array([0.6, 1.3, 2.2, 0.3, 1.7])
    found, h = srcgrad.grad(f)(x), 1e-6
    slopes = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(5)]
    np.testing.assert_allclose(found, slopes, rtol=1e-6)
