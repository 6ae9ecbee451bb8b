"""`np.vectorize`: the function is differentiated for each element."""

import math
from functools import partial

import numpy as np
import pytest

import srcgrad
from tests.small_programs import X, check, programs


def a_lambda(x):
    f = np.vectorize(lambda a: a**2 + 1)
    return f(x).sum()


def helper(a, b=2.0):
    if a > 0.5:
        return a * b
    return a * a


def a_function_with_defaults(x):
    return np.vectorize(helper)(x, 3.0).sum()


vhelper = np.vectorize(helper)


def an_object_of_the_module(x):
    return np.sum(vhelper(x))


@np.vectorize
def vdec(a):
    return math.sin(a) * a


def decorated(x):
    return np.sum(vdec(np.outer(x, x)))


def scalars_and_keywords(x):
    return float(vhelper(x[0], b=x[1])) + vhelper(x, x[::-1]).sum()


def broadcast(x):
    f = np.vectorize(lambda a, b: a * b, otypes=[float])
    return f(x[:, None], x[None, :]).sum()


def a_signature(x):
    f = np.vectorize(lambda v: v @ v, signature="(n)->()")
    return f(np.outer(x, x)).sum()


def several_results(x):
    f = np.vectorize(lambda v: (v, v * v))
    a, b = f(x)
    return (a * b).sum()


def excluded_by_name(x):
    f = np.vectorize(lambda a, n: a**n, excluded=["n"])
    return f(x, n=3).sum()


def a_method(x):
    class K:
        def __init__(self, s):
            self.s = s

        def one(self, a):
            return a * self.s

        def all(self, x):
            return np.vectorize(self.one)(x)

    return K(x[0]).all(x).sum()


def a_branch(x):
    f = np.vectorize(lambda a: 1.0 if a > 0.5 else a)
    return f(x).sum()


def in_a_loop(x):
    f = np.vectorize(helper)
    return sum(f(row).sum() for row in np.outer(x, x))


def a_partial(x):
    return np.vectorize(partial(helper, b=x[0]))(x).sum()


def ints_with_otypes(x):
    f = np.vectorize(lambda a: 0 if a < 0.5 else a, otypes="d")
    return (f(x) * x).sum()


def excluded(x):
    def poly(a, p):
        s = 0.0
        for c in p:
            s = s * a + c
        return s

    f = np.vectorize(poly, excluded={1})
    return f(x, x).sum() + np.vectorize(poly, excluded=["p"])(x, p=[1.0, x[0], 2.0]).sum()


def decorated_inside(x):
    @np.vectorize
    def f(a, b):
        return a * b if a > b else a + b

    return f(x[:, None], x**2).sum()


def a_signature_of_matrices(x):
    f = np.vectorize(np.outer, signature="(n),(m)->(n,m)")
    return f(np.outer(x, x), x)[1].sum()


def numbers(x):
    f = np.vectorize(math.sin)
    return f(x[0]) * f(x[1]) + float(f(x.sum()))


def a_list(x):
    f = np.vectorize(math.sin)
    return f([x[0], x[1]]).sum() * f(1)


def a_builtin(x):
    return np.vectorize(max)(x, 0.5).sum()


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_program(f):
    check(f)


def test_results_cut_to_ints_are_refused():
    """The first result is an int, so NumPy makes ints of all: a gradient of zero, or a mistake."""
    f = np.vectorize(lambda a: 0 if a < 0.5 else a)

    def cut(x):
        return np.sum(f(x) * x)

    with pytest.raises(TypeError, match=r"give otypes=\[float\]"):
        srcgrad.grad(cut)(X)


def test_frompyfunc_is_refused():
    def objects(x):
        return np.frompyfunc(lambda a: a * a, 1, 1)(x).astype(float).sum()

    with pytest.raises(srcgrad.UnsupportedError, match=r"use np.vectorize") as error:
        srcgrad.grad(objects)(X)
    assert "np.frompyfunc(" in str(error.value)


def test_a_first_row_that_gives_an_int():
    def f(x):
        return np.sum(np.apply_along_axis(lambda row: 0 if row[0] < 0 else row[0], 1, x))

    gradient = srcgrad.value_and_grad(f)
    x = np.array([[1.5, 2.0], [-0.7, 1.0]])
    value, d_x = gradient(x)
    assert value == f(x) == 1.5
    np.testing.assert_array_equal(d_x, [[1, 0], [0, 0]])
    assert f(x[::-1]) == 1  # NumPy made ints of all
    with pytest.raises(TypeError, match=r"np\.apply_along_axis makes ints.*return floats"):
        gradient(x[::-1])


def test_real_numbers_made_of_complex_ones():
    """The first result is real, so NumPy leaves out the imaginary part of the others, or raises."""

    def turned(v):
        return 1j * v if v.sum() < 0.4 else v

    def rows(x):
        return np.abs(np.apply_along_axis(turned, 1, np.outer(x, x))).sum()

    def items(x):
        return np.abs(np.vectorize(lambda v: 1j * v if v < 0.4 else v)(x)).sum()

    x = np.array([0.7, 0.3])
    for f in (rows, items):
        with pytest.raises(TypeError, match=r"makes all results real.*add 0j to it"):
            srcgrad.grad(f)(x)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "u1", "i8", "?"])
@pytest.mark.parametrize(
    "function",
    [
        lambda a: a + a, lambda a: a * 1.5 if a > 0 else 0.0, math.sin, lambda a: (a / 3, a)[0],
        lambda a: (a + a, a / 3),
    ],
)  # fmt: skip
def test_the_dtype_is_that_of_the_first_result(dtype, function):
    """NumPy gives the function Python's numbers, but asks it for a dtype with one of its own."""

    def f(x, given):
        made = np.vectorize(function)(given)
        return made if isinstance(made, tuple) else made * x

    x, given = np.array([0.7, 0.3, -0.4]), np.array([1.3, 0.4, 0.0]).astype(dtype)
    found, expected = srcgrad.vjp(f, x, given)[0], f(x, given)
    for one, other in zip(np.atleast_2d(found), np.atleast_2d(expected), strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)
    if given.dtype.kind == "f":
        pulled = srcgrad.grad(lambda g: np.sum(f(1.0, g)[0]))(given)
        assert pulled.dtype == given.dtype
