"""Recursions that remember their results, counting up or down to what only the run tells."""

import functools
import math

import numpy as np
import pytest

import srcgrad
from srcgrad import UnsupportedError
from srcgrad.testing import check_grads
from tests.small_programs import check, programs


def counting_up(x):
    memo, n = {}, len(x)

    def paths(i, j):
        if i == n or j == n:
            return 1.0
        if (i, j) not in memo:
            memo[i, j] = x[i] * paths(i + 1, j) + x[j] ** 2 * paths(i, j + 1)
        return memo[i, j]

    return paths(0, 0)


def counting_down(x):
    memo = {}

    def paths(i, j):
        if (i, j) in memo:
            return memo[i, j]
        if i < 0 or j < 0:
            made = 1.0
        else:
            made = x[i] * paths(i - 1, j) + x[j] ** 2 * paths(i, j - 1)
        memo[i, j] = made
        return made

    return paths(len(x) - 1, len(x) - 1)


def asked_by_get(x):
    memo = {}

    def total(i):
        known = memo.get(i)
        if known is not None:
            return known
        known = x[0] if i >= len(x) else total(i + 1) * x[i] + total(i + 2)
        memo[i] = known
        return known

    return total(0)


def asked_by_an_exception(x):
    memo = {}

    def total(i):
        try:
            return memo[i]
        except KeyError:
            pass
        known = x[0] if i >= len(x) else total(i + 1) * x[i] + total(i + 2)
        memo[i] = known
        return known

    return total(0)


def handed_on(x):
    def total(i, memo=None):
        if memo is None:
            memo = {}
        if i in memo:
            return memo[i]
        known = x[0] if i >= len(x) else total(i + 1, memo) * x[i] + total(i + 2, memo)
        memo[i] = known
        return known

    return total(0)


def of_an_object(x):
    class Solver:
        def __init__(self):
            self.memo, self.calls = {}, 0

        def total(self, i):
            self.calls += 1
            if i >= len(x):
                return 1.0
            if i not in self.memo:
                self.memo[i] = x[i] * self.total(i + 1) + self.total(i + 2)
            return self.memo[i]

    solver = Solver()
    return solver.total(0) * solver.calls


def by_a_decorator(x):
    def remembered(function):
        known = {}

        def asked(*args):
            if args not in known:
                known[args] = function(*args)
            return known[args]

        return asked

    @remembered
    def paths(i, j):
        if i >= len(x) or j >= len(x):
            return x[0]
        return x[i] * paths(i + 1, j) + x[j] * paths(i, j + 1)

    return paths(0, 0)


def by_functools(x):
    @functools.cache
    def best(i, room):
        if i == len(x):
            return 0.0
        skipped = best(i + 1, room)
        return max(skipped, x[i] + best(i + 1, room - i)) if i <= room else skipped

    return best(0, 2) * x[0]


def time_warping(x):
    memo, other = {}, x[::-1] * 1.3

    def distance(i, j):
        if (i, j) in memo:
            return memo[i, j]
        if i == len(x) and j == len(other):
            return 0.0
        if i == len(x) or j == len(other):
            return 1e3
        steps = distance(i + 1, j), distance(i, j + 1), distance(i + 1, j + 1)
        memo[i, j] = min(steps) + (x[i] - other[j]) ** 2
        return memo[i, j]

    return distance(0, 0)


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_memos(f):
    check(f)


def first_alone(x):
    total = 0.0
    for i, v in enumerate(x):
        if i == 0:
            previous = v
            continue
        total += previous * v
        previous = v * v
    return total


def set_on_a_path_that_goes_on(x):
    items, total = [], 0.0
    for v in x:
        if v > 0.7 or not items:
            items.append(v * v)
            continue
        total += items[-1] * v
    return total


def reset_in_an_inner_loop(x):
    total, k = 0.0, 0
    while k < 2:
        for v in x:
            if v > 0.7:
                largest = v * (k + 1)
                continue
            if k > 0:
                total += largest * v
        k += 1
    return total


@pytest.mark.parametrize(
    "f", [first_alone, set_on_a_path_that_goes_on, reset_in_an_inner_loop], ids=lambda f: f.__name__
)
def test_what_an_iteration_that_goes_on_early_has_set(f):
    check(f)
    check(f, np.array([0.9, 0.2, 0.8]))


DRAWN = []


@functools.lru_cache
def drawn(n):
    DRAWN.append(n)
    return np.random.default_rng(len(DRAWN)).normal(size=(n, n))


@functools.cache
def generator():
    return np.random.default_rng(3)


@functools.cache
def nodes(n):
    if n < 1:
        raise ValueError("too few")
    return np.array([math.cos(k * math.pi / n) for k in range(n)])


@functools.cache
def noted(value):
    print("computed")
    return value**2


def test_what_a_cached_function_does_besides_is_done_once(capsys):
    def mixed(x):
        y = drawn(3) @ x
        for _ in range(2):
            y = np.tanh(drawn(3) @ y)
        return np.sum(y * drawn(3)[0])

    x = np.array([0.5, 1.0, -0.3])
    for _ in range(2):
        check_grads(mixed, (x,), order=1)
    assert DRAWN == [3]

    def noisy(x):
        return np.sum(x * generator().normal(size=3))

    gradient = srcgrad.grad(noisy)
    first, second = gradient(x), gradient(x)
    expected = np.random.default_rng(3).normal(size=(2, 3))
    np.testing.assert_array_equal([first, second], expected)

    def total(x):
        return sum(np.sum(nodes(n) * x[:n]) ** 2 for n in range(1, 4)) * noted(3.0) * noted(3.0)

    check_grads(total, (x,))
    assert capsys.readouterr().out == "computed\n"

    with pytest.raises(UnsupportedError):
        srcgrad.grad(lambda x: np.sum(noted(x[0])))(x)


SCALES = {"scale": 1.0}


@functools.cache
def scaled(n):
    SCALES["scale"] = n + 1.0
    return n


@functools.cache
def counting(n):
    return 1 if n == 0 else n * counting(n - 1)


def test_what_a_cached_function_writes_isnt_read():
    def f(x):
        return np.sum(x) * scaled(3) * SCALES["scale"]

    with pytest.raises(UnsupportedError, match="'SCALES' is written by a function that keeps"):
        srcgrad.grad(f)(np.ones(2))

    def g(x):
        return np.sum(x) * counting(4) * counting.cache_info().currsize

    counting.cache_clear()
    assert srcgrad.grad(g)(np.ones(2))[0] == 120.0
