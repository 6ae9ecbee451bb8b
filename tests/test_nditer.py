"""`np.nditer`: its options, and the order of memory, in which it goes through an array."""

import numpy as np
import pytest

import srcgrad
from tests.small_programs import X, check, programs


def weighted(x):
    total = 0.0
    for v in np.nditer(np.outer(x, x + 1)):
        total = total * 0.5 + v
    return total


def index_told(x):
    it = np.nditer(np.outer(x, x), flags=["multi_index"])
    return sum(v * it.multi_index[0] for v in it)


def stepped_by_hand(x):
    a = np.outer(x, x)
    it = np.nditer(a, flags=["multi_index"])
    total = 0.0
    while not it.finished:
        total += a[it.multi_index] ** 2 + it[0] * it.multi_index[1]
        it.iternext()
    return total


def written(x):
    a = np.outer(x, x)
    with np.nditer(a, op_flags=["readwrite"]) as it:
        for v in it:
            v[...] = 2 * v * v
    return a[0].sum() * a[1, 2]


def several(x):
    return sum(k * a * b * b for k, (a, b) in enumerate(np.nditer([np.outer(x, x), x])))


def transposed_by_rows(x):
    return sum(k * v for k, v in enumerate(np.nditer(np.outer(x, x + 1).T, order="C")))


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_program(f):
    check(f)


def test_memory_in_another_order_is_refused_when_it_is_met():
    def transposed(x):
        return sum(k * v for k, v in enumerate(np.nditer(np.outer(x, x + 1).T)))

    with pytest.raises(ValueError, match="give order='C'"):
        srcgrad.grad(transposed)(X)


def test_other_options_are_refused():
    def buffered(x):
        return sum(v for v in np.nditer(x, flags=["buffered"]))

    with pytest.raises(srcgrad.UnsupportedError, match="these options isn't supported") as error:
        srcgrad.grad(buffered)(X)
    assert 'np.nditer(x, flags=["buffered"])' in str(error.value)
