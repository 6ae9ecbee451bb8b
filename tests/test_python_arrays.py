"""`array.array` of Python's library, made by the function: a list of numbers."""

import array
from array import array as packed

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

X = np.array([0.3, 1.2, 0.7])


def written(x):
    values = packed("d", [0.0, 0.0])
    values[0] = x[0]
    values[1] += values[0] * x[1]
    return values[0] ** 2 + values[1]


def repeated(x):
    values = packed("d", [0]) * (x.size + 1)
    places = array.array("i", [0]) * x.size
    for i in range(x.size):
        places[i] = x.size - 1 - i
    for i in places:
        values[i] = x[places[i]] ** 2
    return sum(values) * values[0]


def made_of_an_array(x):
    values = packed("d", x)
    values.append(float(x[0]) * 3.0)
    other = packed("d")
    other[:] = values[:]
    other.extend(values[1:])
    return np.sum(np.array(other) ** 2) + len(other) * other.pop()


def into_an_array(x):
    values = packed("d", [0.0, 0.0])
    values[0] = x[0]
    y = x * 2
    y[1] = values[0]
    return np.sum(y**2)


def in_rows(x):
    rows = [packed("d", [0.0]) * 3 for _ in range(3)]
    for i in range(3):
        for j in range(i + 1):
            rows[i][j] = x[i] * x[j]
    rows[0], rows[2] = rows[2], rows[0]
    rows[1][1] *= 3.0
    return sum(sum(row) * row[1] for row in rows)


@pytest.mark.parametrize(
    "function", [written, repeated, made_of_an_array, into_an_array, in_rows]
)  # fmt: skip
def test_a_python_array(function):
    check_grads(function, (X,))
    assert srcgrad.value_and_grad(function)(X)[0] == function(X)


def test_rounded_numbers_are_refused():
    with pytest.raises(srcgrad.UnsupportedError, match=r"use array\('d'\)"):
        srcgrad.grad(lambda x: packed("f", [x[0]])[0] ** 2)(X)
