"""`zip` of a generator and what has a length, or none."""

import itertools

import numpy as np
import pytest

import srcgrad
from tests.small_programs import X, check, programs

WEIGHTS = [1.0, 2.0, 3.0, 4.0, 5.0]
MADE = []


def orbit(u):
    for k in range(6):
        yield u * k
        u = u * 0.9 + 0.1 * np.sin(u)


def noted(u):
    for k in range(6):
        MADE.append(k)
        yield u * k


def with_a_list(x):
    return sum(np.sum(v) * w for v, w in zip(orbit(x), WEIGHTS, strict=False))


def with_an_array_first(x):
    total = 0.0
    for w, v in zip(x, noted(x), strict=False):
        if w > 0.7:
            continue
        total += w * np.sum(v**2)
    return total


def with_an_array_last(x):
    total = 0.0
    for v, w in zip(noted(x), x, strict=False):
        total += w * np.sum(v**2)
        if total > 2:
            break
    return total


def with_an_endless_cycle(x):
    return sum(w * (u @ u) for u, w in zip(orbit(x), itertools.cycle([1.0, -0.5]), strict=False))


def with_a_range_that_is_shorter(x):
    return sum(w * i * np.sum(v) for v, w, i in zip(noted(x), x, range(2), strict=False))


def with_known_items(x):
    d = dict(zip("abc", orbit(x), strict=False))
    return np.sum(d["c"] * d["b"])


def kept_as_a_list(x):
    rows = list(zip(orbit(x[0]), itertools.count(1), strict=False))
    return sum(a * b for a, b in rows) + rows[2][0] * x[1]


def a_generator_expression(x):
    return max(a * b for a, b in zip((v * v for v in x), x[::-1], strict=False))


@pytest.mark.parametrize("function", programs(globals()), ids=lambda f: f.__name__)
def test_zip_with_a_generator(function):
    check(function)


@pytest.mark.parametrize(
    "function", [with_an_array_first, with_an_array_last, with_a_range_that_is_shorter]
)
def test_no_more_is_made_than_python_makes(function):
    made = []
    for run in (function, srcgrad.grad(function)):
        MADE.clear()
        run(X)
        made.append(list(MADE))
    assert made[0] == made[1]


def with_effects(make):
    """A function that adds up what changes a number whenever an item is made."""

    def f(x):
        made = 0.5

        def noted(v):
            nonlocal made
            made = made + 0.1 * v
            return v * made

        return sum(np.sum(v) for v in make(noted, x)) + made * 2

    return f


@pytest.mark.parametrize(
    "function",
    [
        with_effects(lambda noted, x: zip(map(noted, x), x, strict=True)),
        with_effects(lambda noted, x: zip(x[1:], map(noted, x), strict=False)),
        with_effects(lambda noted, x: zip((noted(v) for v in x), map(noted, x), strict=False)),
    ],
)
def test_effects_come_in_the_order_of_the_items(function):
    check(function)


@pytest.mark.parametrize(
    "function",
    [
        with_effects(lambda noted, x: zip(map(noted, x), x[1:], strict=False)),
        with_effects(lambda noted, x: zip((noted(v) for v in x if v > 0), [1.0], strict=False)),
        with_effects(lambda noted, x: zip(map(noted, x), orbit(x[0]), strict=False)),
        with_effects(lambda noted, x: itertools.accumulate(map(noted, orbit(x[0])))),
        with_effects(lambda noted, x: itertools.pairwise(map(noted, x))),
    ],
)
def test_effects_of_items_that_are_not_asked_for_are_refused(function):
    with pytest.raises(srcgrad.UnsupportedError, match="they aren't made one by one"):
        srcgrad.value_and_grad(function)(X)
