"""Results that are kept outside from call to call: what another call has found is no constant."""

import math

import numpy as np
import pytest

from srcgrad import UnsupportedError, grad, jvp

X = np.array([0.5, -1.0, 2.0])


class Kept:
    def __init__(self):
        self.x = np.zeros(3)
        self.energy = 0.0
        self.least = 1e9
        self.calls = 0
        self.matrix = np.eye(3)
        self.inner = [0.0, 0.0]
        self.pair = (0.0, 0.0)


def returned(kept, x):
    if not np.array_equal(x, kept.x):
        kept.x, kept.energy = x.copy(), np.sum(x**3)
    return kept.energy


def returned_early(kept, x):
    if x.shape == kept.x.shape and np.allclose(x, kept.x, rtol=1e-14):
        return 2 * kept.energy
    kept.x = x.copy()
    kept.energy = np.sum(np.sin(x))
    return 2 * kept.energy


def of_numbers(kept, x):
    first = float(x[0])
    if math.isclose(kept.inner[0], first):
        return kept.inner[1]
    kept.inner[0], kept.inner[1] = first, x[0] ** 2
    return kept.inner[1]


def of_what_they_differ_by(kept, x):
    change = x - kept.x
    if np.any(change != 0):
        kept.x, kept.energy = x.copy(), np.prod(x)
    return kept.energy


def in_a_tuple(kept, x):
    if kept.pair[0] != x[1]:
        kept.pair = (x[1], np.exp(x[1]))
    return x[0] + kept.pair[1]


def in_a_function_of_its_own(kept, x):
    def energy(y, steps):
        if np.all(kept.x == y):
            return kept.energy
        z = np.sin(y)
        for _ in range(steps):
            z = z * y + np.cos(z)
        for _ in range(steps):
            z = z / (1 + z**2)
        kept.x, kept.energy = y.copy(), np.sum(z)
        return kept.energy

    return energy(2 * x, 3) + energy(x, 5)


def within_rounding(kept, x):
    if np.linalg.norm(x - kept.x) < 1e-12:
        return kept.energy
    kept.x, kept.energy = x.copy(), np.sum(np.exp(x))
    return kept.energy


def no_distance(kept, x):
    if max(abs(x - kept.x)) > 0:
        kept.x, kept.energy = x.copy(), np.sum(np.exp(x))
    return kept.energy


def sum_of_squares(kept, x):
    change = x - kept.x
    if change @ change > 1e-20 or np.sum(change**2) > 1e-20:
        kept.x, kept.energy = x.copy(), np.sum(np.exp(x))
    return kept.energy


def element_by_element(kept, x):
    found = np.where(x == kept.x, kept.matrix[0], np.exp(x))
    kept.x, kept.matrix = x.copy(), np.outer([1.0, 0.0], found)
    return np.sum(found)


RECALLING = [
    *(returned, returned_early, of_numbers, of_what_they_differ_by),
    *(within_rounding, no_distance, sum_of_squares, element_by_element),
    in_a_tuple,
    in_a_function_of_its_own,
]


@pytest.mark.parametrize("f", RECALLING, ids=lambda f: f.__name__)
@pytest.mark.parametrize("as_argument", [False, True])
def test_what_an_earlier_call_has_found_is_no_constant(f, as_argument):
    kept = Kept()
    f(kept, X)
    gradient = grad(f, argnums=1) if as_argument else grad(lambda x: f(kept, x))
    with pytest.raises(UnsupportedError, match="an earlier call has kept"):
        gradient(*(kept, X) if as_argument else (X,))


@pytest.mark.parametrize("inner", [lambda f, x: grad(f)(x), lambda f, x: jvp(f, (x,), (x,))[1]])
def test_what_an_earlier_call_has_found_is_no_constant_within(inner):
    kept = Kept()
    returned(kept, X)
    gradient = grad(lambda x: np.sum(inner(lambda y: returned(kept, y), x)))
    with pytest.raises(UnsupportedError, match="an earlier call has kept"):
        gradient(X)


def the_least(kept, x):
    energy = np.sum(x**2)
    if energy < kept.least:
        kept.least = energy
    return kept.least


def every_third_matrix(kept, x):
    if kept.calls % 3 == 0:
        kept.matrix = np.outer(x, x)
    kept.calls += 1
    return x @ kept.matrix @ x


def as_near_as_that(kept, x):
    if np.linalg.norm(x - kept.x) > 0.9:
        kept.x, kept.energy = x.copy(), np.sum(x**2)
    return kept.energy + np.sum(np.sin(x))


def repetitions_counted(kept, x):
    if np.array_equal(x, kept.x):
        kept.calls += 1
    kept.x = x.copy()
    return np.sum(x**2)


def moving_mean(kept, x):
    if np.any(x == kept.matrix[0]):
        kept.calls += 1
    kept.energy = 0.9 * kept.energy + 0.1 * np.mean(x)
    return np.sum((x - kept.energy) ** 2)


@pytest.mark.parametrize(
    "f",
    [the_least, every_third_matrix, as_near_as_that, repetitions_counted, moving_mean],
    ids=lambda f: f.__name__,
)
def test_what_lasts_around_the_arguments_is_a_constant(f):
    direction = np.array([0.3, 1.0, -0.2])
    for calls in range(2):
        kept = [Kept() for _ in range(3)]
        for one in kept:
            for k in range(calls):
                f(one, X / (k + 2))
        up, down = (f(one, X + s * direction) for one, s in zip(kept, (1e-6, -1e-6), strict=False))
        found = grad(f, argnums=1)(kept[2], X)
        assert found @ direction == pytest.approx((up - down) / 2e-6, rel=1e-6, abs=1e-6)
