"""Pullbacks and tangents of lists of tuples and lists that a loop of the run makes."""

import numpy as np
import pytest

from srcgrad import jacobian, jvp, vjp

from .programs.finite_differences import inner, random_direction
from .small_programs import programs

X = np.array([1.0, 2.0, 0.5])


def history(x):
    rows, s = [], x[0]
    for i in range(20):
        s = np.sin(s) + x[1]
        rows.append((i, s, "step", (x * s, [s, 2 * s]), np.arange(2)))
    return {"rows": rows, "last": s}


def triangle(x):
    return [[x[j % 3] * i + j for j in range(i)] for i in range(20)]


def one_list_twice(x):
    row = [x[0]]
    rows = []
    for i in range(20):
        rows.append(row)
        if i % 7 == 0:
            row.append(x[1] * i)
    return rows


def one_array_often(x):
    a, pairs = x * 2, []
    for i in range(20):
        pairs.append((a, i * x[0]))
        a[0] += x[1]
    return pairs


def parts_of_one(x):
    y, pairs = np.zeros(20), []
    for i in range(20):
        y[i] = x[i % 3] ** 2
        pairs.append((y[: i % 3], y[i]))
    return pairs


def changed(x):
    pairs = []
    for i in range(20):
        pairs.append((x[0] * i, [x[1]]))
        if i % 2:
            a, b = pairs.pop()
            b.append(a)
            pairs.append((a * a, b))
    return pairs[1:9] + sorted(pairs[10:], key=lambda pair: -pair[0])


def a_tuple(x):
    return tuple((x[i % 3] * i, x * i) for i in range(20))


def deeper(x, n):
    if n == 0:
        return [(x[0], x)]
    pairs = deeper(x * 1.1, n - 1)
    pairs.append((x[1], x * n))
    return pairs


def recursive(x):
    return deeper(x, 5)


def left_early(x):
    pairs = []
    for i in range(20):
        if x[0] * i > 12.5:
            return pairs, i
        pairs.append((x[0] * i, i))
    return pairs, -1


def empty(x):
    pairs = []
    for i in range(int(x[2] - 1)):
        pairs.append((x[0], i))
    return pairs, x[1]


@pytest.mark.parametrize("f", programs(globals()))
def test_pullback_and_tangent(f):
    rng = np.random.default_rng(0)
    value, pullback = vjp(f, X)
    weight, direction = random_direction(value, rng), rng.normal(size=3)
    (gradient,) = pullback(weight)
    again, tangent = jvp(f, (X,), (direction,))
    assert inner(value, weight) == inner(again, weight) == inner(f(X), weight)
    near = [inner(f(X + h * direction), weight) for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(inner(tangent, weight), (near[0] - near[1]) / 2e-6, 1e-6, 1e-7)
    np.testing.assert_allclose(gradient @ direction, inner(tangent, weight), 1e-12, 1e-12)
    np.testing.assert_array_equal(pullback(weight)[0], gradient)  # it keeps nothing


def test_tangents_are_none_of_what_is_no_float():
    _, tangent = jvp(history, (X,), (np.array([1.0, 0.0, 0.0]),))
    number, s, text, (array, items), ints = tangent["rows"][0]
    assert (number, text, ints) == (None, None, None)
    assert s == np.cos(1.0) and items == [s, 2 * s]
    np.testing.assert_allclose(array, X * s + [np.sin(1.0) + 2.0, 0.0, 0.0])


def test_cotangents_are_nested_like_the_result():
    def f(x):
        pairs = []
        for i in range(3):
            pairs.append((x[0] * i, [x, x]))
        return pairs

    _, pullback = vjp(f, X)
    good = (1.0, [X, X])
    for bad, error, message in [
        (
            (1.0,),
            TypeError,
            r"cotangent\[2\] must be a tuple of 2 like the result, not a tuple of 1",
        ),
        (
            [1.0, [X, X]],
            TypeError,
            r"cotangent\[2\] must be a tuple of 2 like the result, not list",
        ),
        ((1.0, [X]), ValueError, r"cotangent\[2\]\[1\] must have 2 items like the result, not 1"),
        ((X, [X, X]), ValueError, r"cotangent\[2\]\[0\] must have the shape \(\) of the result"),
        ((1.0, [X, 1j * X]), TypeError, r"cotangent\[2\]\[1\]\[1\] is complex, but the result is"),
    ]:
        with pytest.raises(error, match=message):
            pullback([good, good, bad])
    with pytest.raises(ValueError, match="the cotangent must have 3 items like the result, not 1"):
        pullback([good])


def test_jacobian():
    def f(x):
        return [(x * i, 1.5) for i in range(20)]

    rows = jacobian(f)(2.0)
    assert [row[0] for row in rows] == list(range(20)) and rows[3][1] == 0.0
