"""Loops over rows of items, left in every way: itertools' selections, np.ndindex, chains."""

import itertools
import types

import numpy as np
import pytest

import srcgrad
from tests.small_programs import X, check, programs

GRID = np.random.default_rng(0).normal(size=(7, 3))


def grid(shift):
    return np.outer(GRID[:, 0], shift) + GRID


def left_by_break(x):
    a, t = grid(x), 0.0
    for i, j in np.ndindex(7, 3):
        if a[i, j] < -1:
            break
        t += a[i, j] ** 2
    return t


def left_or_not(x):
    a, t = grid(x), 0.0
    for i, j in np.ndindex(a.shape):
        if a[i, j] < -1:
            break
        t += a[i, j] ** 2
    else:
        t *= 100.0
    return t * (i + 1) * (j + 2)


def exhausted(x):
    t = 0.0
    for i, j in np.ndindex(2, 3):
        if x[j] > 10 * i + 5:
            break
        t += x[j] ** 2 * i
    else:
        t *= 100.0
    return t


def left_again_and_again(x):
    a, t = grid(x), 0.0
    for k in range(3):
        for i, j in itertools.product(range(len(a)), range(k, 3)):
            if a[i, j] < -0.5:
                break
            t += a[i, j] ** 2 * k
        t *= 1.1
    return t


def left_by_break_of_entries(x):
    t = 0.0
    for (i, _), v in np.ndenumerate(grid(x)):
        if v < -1:
            break
        t += v**2 * i + v
    return t


def left_by_return(x):
    a = grid(x)
    for i, j in itertools.permutations(range(len(a)), 2):
        if a[i, 0] > 1.2 * a[j, 0]:
            return a[i] @ a[j]
    return a.sum()


def left_inside(x):
    a, t = grid(x), 0.0
    for i, j in np.ndindex(a.shape):
        for k in range(3):
            if a[i, k] < -1:
                break
            t += a[i, j]
        if t > 2:
            break
    return t


def chained_items(x):
    t = 0.0
    for v in itertools.chain.from_iterable(grid(x)):
        if v < -1:
            break
        t += v**2
    return t


def chained_rows(x):
    a, t = grid(x), 0.0
    for row in itertools.chain(a[:2], a[2:4], a[4:]):
        if row[0] < -0.3:
            break
        t += row @ row
    else:
        t *= 7.0
    return t


def cut(x):
    a = grid(x)
    for i, j in itertools.islice(itertools.combinations(range(len(a)), 2), 4):
        a[i] *= a[j]
    return a.sum()


def while_it_holds(x):
    items = itertools.chain.from_iterable(grid(x))
    return sum(v**2 for v in itertools.takewhile(lambda v: v > -1, items))


def distances(x):
    a, t = grid(x), 0.0
    for i, j in itertools.combinations(range(len(a)), 2):
        t += 1 / np.sqrt(((a[i] - a[j]) ** 2).sum())
    return t


def rows_that_are_written(x):
    a = grid(x)
    for p, q in itertools.combinations(a, 2):
        p += 0.1 * q
    return (a**2).sum()


def items_that_are_written_later(x):
    y, t = x.copy(), 0.0
    for a, b in itertools.product(y, y):
        y[0] += 0.1 * a * b
        t += a * b * y[0]
    return t


def triples(x):
    a = grid(x)[:, 0]
    t = sum(p * q * r for p, q, r in itertools.combinations(a, 3))
    t += sum(p * q for p, q in itertools.combinations_with_replacement(a, 2))
    for i, j, k in itertools.permutations(range(len(a)), 3):
        t += a[i] * a[j] ** 2 * a[k] ** 3
    return t + sum(a[i] * a[j] * a[k] for i, j, k in itertools.product(range(6), repeat=3))


def as_keys(x):
    a, found = grid(x), {}
    for i, j in itertools.combinations(range(len(a)), 2):
        found[i, j] = a[i] @ a[j]
    return sum(v * (key[0] + 1) for key, v in found.items()) + found[1, 3]


def beside_another(x):
    a = grid(x)
    pairs = itertools.combinations(range(len(a)), 2)
    t = sum(w * (a[i] @ a[j]) for (i, j), w in zip(pairs, a[:, 0], strict=False))
    for number, (i, j) in enumerate(itertools.product(range(len(a)), [0, 2])):
        t += number * a[i, j]
    return t


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_it_gives_the_derivatives(f):
    for x in (X, -3 * X):
        check(f, x)
        alone = srcgrad.grad(f)(x.copy())
        np.testing.assert_allclose(alone, srcgrad.value_and_grad(f)(x.copy())[1], rtol=1e-12)


@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_any_number_of_items(size):
    def f(a):
        t = 0.0
        for i, j in itertools.combinations(range(len(a)), 2):
            t += a[i] * a[j] ** 2
        for i, j in itertools.permutations(range(len(a)), 2):
            t += a[i] ** 2 * a[j]
        return t + sum(a[i] * a[j] for i, j in itertools.product(range(len(a)), repeat=2))

    a = np.linspace(0.5, 1.5, size)
    others = a.sum() - a
    squares = (a**2).sum() - a**2
    before = np.cumsum(a) - a
    squares_after = (a**2).sum() - np.cumsum(a**2)
    expected = squares_after + 2 * a * before + 2 * a * others + squares + 2 * a.sum()
    np.testing.assert_allclose(srcgrad.grad(f)(a), expected)


def anew(function):
    """The same function, for which nothing is compiled yet."""
    return types.FunctionType(function.__code__.replace(), function.__globals__)


def test_loops_stay_loops(loops_stay):
    gradient = srcgrad.grad(anew(distances))
    gradient(X)
    assert len(gradient.source.splitlines()) < 30
    assert "for j in range(i + 1, " in gradient.source
