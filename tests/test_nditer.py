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


def table_of(vector):
    """Polynomials as python-control keeps them: an array of arrays."""
    table = np.empty((1, 2), dtype=object)
    table[0, 0], table[0, 1] = vector * vector, vector[:1] * 3
    return table


def arrays_in_an_array(x):
    static = True
    for item in np.nditer(table_of(x), flags=["refs_ok"]):
        if item.item().size > 1:
            static = False
            break
    return np.sum(table_of(x)[0, 0]) * (1.0 if static else 2.0)


def arrays_as_they_lie_in_memory(x):
    total = 0.0
    for item in np.nditer(table_of(x).T, flags=["refs_ok", "zerosize_ok"]):
        total = 2 * total + np.sum(item.item()) * item.item().size + item.ndim
    return total


def backwards(x):
    items = np.empty(3, dtype=object)
    items[0], items[1], items[2] = x * x, x[:1] * 3, x
    total = 0.0
    for item in np.nditer(items[::-1], flags=["refs_ok"]):
        total = 2 * total + np.sum(item.item()) * item.size
    return total


def numbers_with_references(x):
    return sum(v * v for v in np.nditer(x, flags=["refs_ok"]))


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


def test_the_truth_of_an_array_without_axes_is_refused():
    def truth(x):
        return sum(np.sum(x) for item in np.nditer(table_of(x), flags=["refs_ok"]) if item)

    with pytest.raises(srcgrad.UnsupportedError, match="truth value of an array of an object"):
        srcgrad.grad(truth)(X)
