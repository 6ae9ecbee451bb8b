"""Iterators that are held in several places, and each of which goes on where another stopped."""

import itertools

import numpy as np
import pytest

from tests.small_programs import X, check, programs


def zipped_with_itself(x):
    numbers = iter([*x, x[0] * x[1]])
    return sum(a * b * b for a, b in zip(numbers, numbers, strict=False))


def groups_of_three(x):
    groups = zip(*[iter(np.concatenate([x, x * x, x[:1]]))] * 3, strict=False)
    return sum(a * b - c**2 for a, b, c in groups)


def mapped_over_itself(x):
    squares = (v * v for v in np.concatenate([x, x[::-1]]))
    return sum(map(lambda a, b: a - b * b, squares, squares))


def zipped_with_itself_and_another(x):
    numbers = iter(np.concatenate([x, x]))
    return sum(a * b * c for a, c, b in zip(numbers, x, numbers, strict=False))


def filled_groups(x):
    numbers = iter(np.concatenate([x, x**2]))
    groups = itertools.zip_longest(*[numbers] * 4, fillvalue=0.5)
    return sum(a * b + c * d for a, b, c, d in groups)


def filled_groups_of_two_iterators(x):
    numbers = (v * v for v in x)
    rows = itertools.zip_longest(numbers, x, numbers, x, fillvalue=2.0)
    return sum(a * b - c * d for a, b, c, d in rows)


def a_list_is_no_iterator(x):
    values = list(x)
    return sum(a * b**2 for a, b in itertools.zip_longest(values, values))


def held_by_a_list(x):
    parts = [list(part) for part in [(v * v for v in x)] * 2]
    return sum(parts[0]) + 5.0 * sum(parts[1])


def held_by_a_tuple_that_a_loop_goes_through(x):
    pairs, total = zip(x, x * x, strict=True), 0.0
    for part in (pairs, pairs):
        for a, b in part:
            total = total / 2 + a * b
    return total


def held_by_two_arguments(x):
    def total_of(*parts):
        return sum((k + 1) * v for k, part in enumerate(parts) for v in part)

    squares = map(np.square, x)
    return total_of(squares, squares, x)


def begun_under_another_name(x):
    squares = map(np.square, x)
    one, other = squares, squares
    return next(one) * next(other) ** 2 + 3.0 * sum(one)


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_an_iterator_in_several_places_stands_at_one(f):
    check(f)
    check(f, X[::-1].copy())
