"""Arrays of objects, which hold what isn't a number: None, text; and what is asked of values."""

import numpy as np
import pytest

import srcgrad
from tests.small_programs import check, programs


def item_that_is_none(x):
    kept = np.array([None, 1.5])
    return x[0] * x[1] if kept[0] is None and kept[1] is not None else x[2]


def column_of_none(x):
    """A filter keeps its last measurement like this, before there is one."""
    last = np.atleast_2d(np.array([None] * 2))
    if last.shape[1] == 2:
        last = last.T
    if last.shape != (2, 1):
        raise ValueError(f"{last.shape} isn't a column")
    for item in last[:, 0]:
        if item is not None:
            return x[0]
    return x[0] * x[1] * x[2]


def kinds_of_items(x):
    mixed = np.array([None, 1.5, "a"])
    numbers = [isinstance(item, float) for item in mixed]
    scalars = np.isscalar(mixed[0]), np.isscalar(mixed[2])
    return x[0] ** (1 + sum(numbers)) * (x[1] if scalars == (False, True) else x[2])


def nothing_from_a_list(x):
    """What a loop takes from a list of None is None."""
    matrices, inputs = [None] * len(x), [0] * len(x)
    total = x[0]
    for matrix, u in zip(matrices, inputs, strict=True):
        if matrix is not None and u is not None:
            total = total + np.dot(matrix, u)
        total = total * x[1]
    return total


def scalars_and_arrays(x):
    values = (x[0], x, 3, "a", None, (1, 2), x[:1], np.sum(x), np.asarray(2.0), True)
    return sum((i + 1) * x[i % 3] ** 2 for i, v in enumerate(values) if np.isscalar(v))


def tuples_that_only_the_run_knows(x):
    place = np.unravel_index(np.argmax(x), (3, 1))
    return x[0] * x[1] if place == (1, 0) and place != (0, 0) else x[2]


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_program(f):
    check(f)


def test_the_type_of_an_object_is_not_known():
    def f(x):
        mixed = np.array([None, 1.5])
        return x if type(mixed[1]) is float else x * x

    with pytest.raises(srcgrad.UnsupportedError, match="the type of this value isn't known"):
        srcgrad.grad(f)(2.0)
