"""Lists that the run makes where an array is meant, smaller than what it is spread over."""

import numpy as np
import pytest

from tests.small_programs import X, check, programs

WEIGHTS = np.arange(9.0).reshape(3, 3)


def squares(values):
    made = []
    for v in values:
        made.append(v * v)
    return made


def into_rows(x):
    table = np.zeros((3, 3))
    table[:, :] = squares(x)
    return np.sum(table * WEIGHTS)


def one_into_all(x):
    table = np.ones((3, 3))
    for i in range(3):
        table[i : i + 2, :2] = [squares(x)[i]]
        table[2, i:] = squares(x[i : i + 1])
    return np.sum(table * WEIGHTS)


def rows_of_arrays(x):
    made = []
    for v in x:
        made.append(v * x[:2])
    cube = np.zeros((2, 3, 2))
    cube[...] = made
    return np.sum(cube * np.arange(12.0).reshape(2, 3, 2))


def rows_of_lists(x):
    made = []
    for v in x:
        made.append([v * v, v])
    cube = np.zeros((2, 3, 2))
    cube[:] = made
    return np.sum(cube * np.arange(12.0).reshape(2, 3, 2))


def columns_of_lists(x):
    made = []
    for v in x:
        made.append([v * v])
    table = np.zeros((3, 3))
    table[:] = made
    return np.sum(table * WEIGHTS)


def items_of_lists_of_one(x):
    levels = (x * x)[:, None].tolist()
    table, k = np.ones((3, 4)), 0
    while k < 3:
        table[k, 1:] = levels[k]
        k += 1
    return np.sum(table * np.arange(12.0).reshape(3, 4))


def at_several_places(x):
    table = np.zeros((3, 3))
    table[[0, 2]] = squares(x)
    table[1, WEIGHTS[1] > 3] = squares(x[:1])
    return np.sum(table * WEIGHTS)


def added_at_places(x):
    table = np.zeros((3, 3))
    np.add.at(table, (slice(None), [0, 1, 1]), squares(x))
    np.subtract.at(table, [0, 2], squares(x))
    return np.sum(table * WEIGHTS)


def filled(x):
    return np.sum((np.full((3, 3), squares(x)) + np.full_like(WEIGHTS, squares(x))) * WEIGHTS)


def of_a_range(x):
    table = np.zeros((2, 3))
    table[:] = range(3)
    return np.sum(table * x)


@pytest.mark.parametrize("f", programs(globals()))
def test_the_gradient_is_summed_over_what_a_list_is_spread_over(f):
    check(f, X)
