"""The methods of NumPy's numbers, which are those of arrays but return numbers."""

import cmath
import math

import numpy as np
import pytest
from scipy import special

import srcgrad
from srcgrad import grad, jvp
from srcgrad.testing import check_grads

X = np.array([1.3, -0.7, 1.1, 0.5])


def cut_off(x):
    return x[0].astype(int) * x[1] + x.max().astype(np.int8) * x[2] + x.sum().astype("int64") * x[3]


def truth(x):
    return x[0].astype(bool) * x[1] + x[2].astype(np.bool_) * x[3]


def to_complex(x):
    z = x[0].astype(complex) * (1 + 2j)
    return (z * z).imag * x[1]


def a_copy_is_a_number(x):
    y = x[0].copy()
    z = y
    y += 1.0
    return y * z * x[1]


def one_of_one(x):
    return x[0].flat[0] * x.sum().flatten()[0] * x[1].ravel()[0] * x[2].item() * x[3].tolist()


@pytest.mark.parametrize(
    "f", [cut_off, truth, to_complex, a_copy_is_a_number, one_of_one], ids=lambda f: f.__name__
)
def test_the_derivative_is_that_of_the_number(f):
    check_grads(f, (X,))


@pytest.mark.parametrize("x", [0.5, np.float64(0.5), np.float32(0.5), np.array(0.5), X])
def test_the_derivative_of_a_part_of_a_complex_multiple_is_real(x):
    gradient = srcgrad.grad(lambda x: np.sum((x * 1j).imag + (x * (1 + 2j)).real))(x)
    assert np.asarray(gradient).dtype == np.asarray(x).dtype
    np.testing.assert_array_equal(gradient, np.full_like(x, 2.0))


def test_the_text_has_no_tests_of_dtypes():
    gradient = srcgrad.grad(cut_off)
    assert gradient(X).tolist() == [0.0, 1.0, 1.0, 2.0]
    assert "project" not in gradient.source and "unbroadcast" not in gradient.source


def test_an_unknown_dtype_that_turns_out_to_be_whole():
    def f(x, kind):
        return np.sum(x.astype(kind[0]) * x)

    x = np.array([1.5, -2.5])
    for name, expected in {"f8": 2 * x, "i8": np.trunc(x)}.items():
        assert np.array_equal(srcgrad.grad(f)(x, [np.dtype(name)]), expected)


ROWS = np.arange(6.0).reshape(2, 3) * 5 + 17


def powers(x, n):
    y = x * 1.0
    y **= n
    return np.sum(x**n) + np.sum(np.power(x, n) * np.cos(x)) + np.sum(y * np.sin(x))


def power_of_a_number(x, n):
    return x[0, 0] ** n + np.sum(x)


def rolled(x, n):
    return np.sum(np.roll(x, n) * np.cos(x)) + np.sum(np.roll(x, (n, n), (0, 1)) * np.cos(2 * x))


def turned(x, n):
    return np.sum(np.rot90(x, n)[0] ** 2)


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("f", [powers, power_of_a_number, rolled, turned])
def test_unsigned_ints_have_negatives_in_rules(f, n):
    expected = grad(f)(ROWS, n)
    with np.errstate(over="raise"):
        for dtype in (np.uint8, np.uint16, np.uint64, np.int64):
            np.testing.assert_allclose(grad(f)(ROWS, dtype(n)), expected, rtol=1e-12)
            direction = np.cos(ROWS)
            along = jvp(f, (ROWS, dtype(n)), (direction, dtype(0)))[1]
            np.testing.assert_allclose(along, np.sum(direction * expected), rtol=1e-12)


def test_exponents_that_are_an_array_of_unsigned_ints():
    exponents = np.array([0, 1, 2], np.uint8)
    with np.errstate(over="raise"):
        found = grad(powers)(ROWS, exponents)
    np.testing.assert_allclose(found, grad(powers)(ROWS, exponents.astype(int)), rtol=1e-12)


def test_an_axis_that_is_one_of_numpys_ints():
    def f(x, axis):
        return np.sum(np.sum(x, axis=axis) ** 2) + np.max(x, axis=axis)[0]

    gradient = grad(f)
    for axis in (np.int64(0), np.int64(1), 0, np.int32(1), np.int64(0), 1):
        np.testing.assert_array_equal(gradient(ROWS, axis), grad(f)(ROWS, int(axis)))


AXIS = np.int64(0)


def axes_outside(x):
    return np.sum(np.sum(x, axis=AXIS) ** 2) + np.sum(np.stack([x, 2 * x], axis=AXIS - 1)[0] ** 3)


def pieces(x, n):
    left, right = np.split(x, n)[0], np.array_split(x, n)[1]
    return np.sum(left**2) + np.sum(right**3) * np.sum(np.diff(x, n - 1))


def test_numpys_ints_outside_are_asked_for(monkeypatch):
    """As Python's are, in whatever is computed of them; another one is noticed."""
    axis = AXIS
    gradient = grad(axes_outside)
    for now in (np.int64(1), axis, np.int64(1), np.int32(1), 0, np.uint8(1)):
        monkeypatch.setitem(globals(), "AXIS", int(now))
        expected = grad(axes_outside)(ROWS)
        monkeypatch.setitem(globals(), "AXIS", now)
        np.testing.assert_array_equal(gradient(ROWS), expected)


@pytest.mark.parametrize("n", [np.int64(2), np.uint8(2), np.int32(2)])
def test_parts_as_many_as_one_of_numpys_ints(n):
    x = np.arange(6.0) + 0.5
    np.testing.assert_array_equal(grad(pieces)(x, n), grad(pieces)(x, 2))
    np.testing.assert_array_equal(grad(lambda x: pieces(x, n))(x), grad(pieces)(x, 2))


def test_orders_that_are_unsigned_or_short():
    """Derivatives of Bessel functions are those of the order below and above."""
    for name in ("jv", "kn", "iv", "struve"):
        function = getattr(special, name)
        for n in (0, 1, 127):
            expected = grad(lambda x, n, f=function: f(n, x))(1.3, n)
            for order in (np.uint8(n), np.int8(n), np.array(n, np.uint16)):
                found = grad(lambda x, n, f=function: f(n, x))(1.3, order)
                np.testing.assert_allclose(found, expected, rtol=1e-12)


def length_of_range(x, bounds):
    return x * len(range(bounds[0], bounds[1]))


def items_of_range(x, bounds):
    span = range(bounds[0], bounds[1])
    return x * sum([span[k] ** 2 for k in range(len(span))])


def range_backwards(x, bounds):
    total = 0.0
    for i in reversed(range(bounds[0], bounds[1])):
        total += x * i * 3
    return total


def range_by_an_iterator(x, bounds):
    items, total = iter(range(bounds[0], bounds[1])), 0.0
    for i in items:
        total += x * i * 2
        for j in items:
            total += x * (i + j)
            break
    return total


def array_of_range(x, bounds):
    span = range(bounds[0], bounds[1])
    return x * np.sum(np.array(span) * 1000) * span.start


def first_item_apart(x, bounds):
    total = None
    for i in range(bounds[0], bounds[1]):
        total = x * (i * 2) if total is None else total + x * (i * 2)
    return total


@pytest.mark.parametrize(
    "bounds",
    [np.array([-100, 101], np.int8), np.array([100, 203], np.uint8)],
    ids=["int8", "uint8"],
)
@pytest.mark.parametrize(
    "f",
    [
        length_of_range, items_of_range, range_backwards, range_by_an_iterator, array_of_range,
        first_item_apart,
    ],
)  # fmt: skip
def test_ranges_count_in_ints_of_python(f, bounds):
    value, slope = srcgrad.value_and_grad(f)(2.0, bounds)
    assert value == f(2.0, bounds)
    assert slope == pytest.approx(f(1.0, bounds), rel=1e-14)


def test_a_range_that_small_unsigned_bounds_make_empty():
    assert grad(length_of_range)(2.0, np.array([5, 3], np.uint8)) == 0.0


def by_python(x):
    return math.sin(x) + math.frexp(x)[0]


def on_some_paths(x):
    return math.exp(x) if x > 1 else x * x


def in_a_loop(x):
    total = 0.0
    for k in range(3):
        total += math.sin(k * x)
    return total


def of_a_complex_number(z):
    return cmath.exp(z).real


@pytest.mark.parametrize("f", [by_python, on_some_paths, in_a_loop, of_a_complex_number])
@pytest.mark.parametrize("type_", [np.float16, np.float32, np.complex64])
@pytest.mark.parametrize("at", [0.5, 1.5])
def test_gradients_by_numbers_of_less_precision_are_of_their_type(f, type_, at):
    if (type_ is np.complex64) != (f is of_a_complex_number):
        return
    slope = grad(f)(type_(at))
    assert type(slope) is type_
    wide = complex if type_ is np.complex64 else float
    assert slope == pytest.approx(grad(f)(wide(at)), rel=2e-3)


def rows_added(x, rows):
    with np.errstate(over="ignore"):
        return np.sum(x * sum(rows)) + x[0] * sum(rows[:, 0], start=rows[0, 1])


@pytest.mark.parametrize("dtype", "?bBhHiIlLfd")
def test_adding_keeps_the_type_of_small_ints(dtype):
    """As Python's sum does, where np.sum takes a wider one."""
    rows = np.full((3, 4), 100).astype(dtype)
    expected = rows_added(np.arange(4.0), rows)
    found, slope = srcgrad.value_and_grad(rows_added)(np.arange(4.0), rows)
    assert found == expected
    np.testing.assert_array_equal(slope[1:], sum(rows)[1:])


def test_all_of_a_matrix_asks_its_rows():
    def f(x):
        return np.sum(x**2) if all(x > 0.0) else np.sum(x)

    def caught(x):
        try:
            return f(x)
        except ValueError:
            return np.sum(x**3)

    x = np.array([[0.5], [1.5]])
    np.testing.assert_allclose(srcgrad.grad(f)(x), 2.0 * x)
    np.testing.assert_allclose(srcgrad.grad(caught)(x), 2.0 * x)
    with pytest.raises(ValueError, match="truth value of an array"):
        srcgrad.grad(f)(x.T)
    np.testing.assert_allclose(srcgrad.grad(caught)(x.T), 3.0 * x.T**2)


def either_or_both(x):
    first = x[0] > 0 or x[1] > 0
    return x[0] * (first + (x[2] > 0 or x[1] > 3)) + x[1] * sum([first, x[1] < 0 or x[0] > 9])


def not_inverted(x):
    return x[0] * ~(x[0] > 0 or x[1] > 0) + x[2]


def both_in_turn(x):
    chain = 0 > x[0] > x[2]
    return x[0] * (chain + (not chain)) + x[1] * isinstance(chain, bool) + x[2] * (chain + chain)


def pythons_too(x, s=0.5):
    first, other = s > 0 or x[1] > 0, s < -5 or x[2] > 0
    return x[0] * (first + other) + x[1] * (first + first)


@pytest.mark.parametrize("f", [either_or_both, not_inverted, both_in_turn, pythons_too])
def test_what_decides_is_of_the_type_that_it_was(f):
    """True of NumPy's and True are True, Python's two of them are 2."""
    value, slope = srcgrad.value_and_grad(f)(X)
    assert value == f(X)
    steps = 1e-6 * np.eye(4)
    np.testing.assert_allclose(slope, [(f(X + s) - f(X - s)) / 2e-6 for s in steps], atol=1e-8)


def test_what_is_neither_a_bool_nor_an_index():
    class Sized:
        def __init__(self, x):
            self.x = x

        def __bool__(self):
            return self.x > 0 or self.x < -5

    def f(x):
        return x[0] if Sized(x[0]) else 0.0

    def indexed(x):
        try:
            return x[0] * [2.0, 3.0][x[0] > 0 or x[1] > 0]
        except TypeError:
            return x[0] ** 3

    with pytest.raises(TypeError, match="__bool__ should return bool"):
        f(X)
    with pytest.raises(TypeError, match="__bool__ should return bool"):
        srcgrad.grad(f)(X)
    np.testing.assert_allclose(srcgrad.grad(indexed)(X), [3 * X[0] ** 2, 0, 0, 0])
