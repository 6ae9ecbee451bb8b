"""`array.array` of Python's library, made by the function."""

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


def copied_in_rows(x):
    rows, others = ([packed("d", [0.0]) * 3 for _ in range(3)] for _ in range(2))
    for i in range(3):
        for j in range(3):
            others[i][j] = x[i] * x[j] + i
    for row, other in zip(rows, others, strict=True):
        row[:] = other
    for j in range(2):
        largest = j if rows[j][j] > rows[j + 1][j] else j + 1
        rows[j], rows[largest] = rows[largest], rows[j]
        rows[2][j] -= rows[0][j] * rows[1][j]
    return sum(sum(row) * row[1] for row in rows)


@pytest.mark.parametrize(
    "function",
    [written, repeated, made_of_an_array, into_an_array, in_rows, copied_in_rows],
)
def test_a_python_array(function):
    check_grads(function, (X,))
    assert srcgrad.value_and_grad(function)(X)[0] == function(X)


def test_rounded_numbers_are_refused():
    with pytest.raises(srcgrad.UnsupportedError, match=r"use array\('d'\)"):
        srcgrad.grad(lambda x: packed("f", [x[0]])[0] ** 2)(X)


def numbers(x):
    """Python's, in double precision, whatever is stored."""
    values = packed("d", [0.0]) * 3
    for i in range(3):
        values[i] = x[i] * 2
    values.append(x[0])
    values.extend([x[1]])
    values.insert(0, 7)
    values[1] *= x[2]
    whole = packed("b", [1, 2])
    whole[0] = np.int8(3)
    total = round(sum(values), 9)
    return list(values), np.array(values), total, whole[0] * x[0], np.array(whole) * x[0]


def no_list(x):
    values = packed("d", x)
    part, other = values[1:], packed("d", x)
    part[0] = 5
    equal = values == [*values], values == other, values != part, values < part
    told = isinstance(values, list), isinstance(values, packed), type(values) is packed
    return equal, told, values.tolist(), values.typecode, part[0] * x[0], hasattr(values, "sort")


def refused_numbers(x):
    """What can't be stored raises what Python's arrays raise."""
    whole, values, found = packed("B", [1, 2]), packed("d", x), []
    for store in (
        lambda: whole.append(x[0]),
        lambda: whole.append(300),
        lambda: values.append("1"),
        lambda: values.__add__([1.0]),
        lambda: values.__setitem__(slice(None), [1.0]),
        lambda: values + packed("i", [1]),
    ):
        try:
            store()
            found.append(x[0] * 0)
        except TypeError:
            found.append(x[1] * 2)
        except OverflowError:
            found.append(x[2] * 3)
    return np.array(found)


def beside_arrays(x):
    values = packed("d", x)
    return x + values, values * x, x @ values, np.sum(values), np.sin(values), 2 - np.array(values)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", [numbers, no_list, refused_numbers, beside_arrays])
def test_what_an_array_holds_and_is(function, dtype):
    x = X.astype(dtype)
    expected = function(x.copy())
    assert repr(srcgrad.vjp(function, x)[0]) == repr(expected)
    assert repr(srcgrad.jvp(function, (x,), (x,))[0]) == repr(expected)


def test_an_array_is_not_returned():
    with pytest.raises(srcgrad.UnsupportedError, match="can't be returned"):
        srcgrad.vjp(lambda x: packed("d", x), X)
