"""Powers of Python's own numbers, complex where the base is negative: none of these is missed."""

import math
import operator

import numpy as np
import pytest

import srcgrad


def root(x):
    return x**0.5


def by_a_name(x):
    return pow(x, 0.5)


def by_the_operator(x):
    return operator.pow(x, 0.5)


def in_place(x):
    x **= 0.5
    return x


def real_part_of_a_product(x):
    r = x**0.3
    return (r * r.conjugate()).real


def parts(x):
    r = x**0.5
    return r.real + r.imag


def magnitude(x):
    return abs(x**0.3) ** 2


def asked_of_its_type(x):
    r = (x - 1.0) ** 0.25
    return r.imag if isinstance(r, complex) else r


def in_a_loop(x):
    total = 0.0
    for i in range(4):
        total += i * (x + 0.1 * i) ** 1.5
    return total


def in_a_list(x):
    return sum(v**0.5 for v in [3.0, x, 2.0 * x])


def of_itself(x, n=3):
    return x**0.5 if n == 0 else of_itself(1.1 * x, n - 1)


def beside_an_exception(x):
    try:
        return abs(x**0.5)
    except ValueError:
        return 3.0 * x


PROGRAMS = [
    root, by_a_name, by_the_operator, in_place, real_part_of_a_product, parts, magnitude,
    asked_of_its_type, in_a_loop, in_a_list, of_itself, beside_an_exception,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_complex_powers_are_refused(f):
    gradient = srcgrad.grad(f)
    for x in (2.3, 5.0):
        slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        assert np.isclose(gradient(x), slope, rtol=1e-6)
        assert np.isclose(srcgrad.jvp(f, (x,), (1.0,))[1], slope, rtol=1e-6)
    for derivative in (gradient, srcgrad.value_and_grad(f), srcgrad.hessian(f)):
        with pytest.raises(ValueError, match=r"is complex, for which nothing was compiled"):
            derivative(-2.3)
    with pytest.raises(ValueError, match=r"\(-\d\.\d*\) \*\* [\d.]+ is complex"):
        srcgrad.jvp(f, (-2.3,), (1.0,))


def to_any_power(x, y):
    return x**y


def test_powers_that_are_real_are_taken():
    gradient = srcgrad.grad(to_any_power)
    assert gradient(-2.0, 3.0) == 12.0 and gradient(2.0, 0.5) == 0.5 * 2.0**-0.5
    assert gradient(-2.0, 3) == 12.0
    with np.errstate(invalid="ignore"):
        assert math.isnan(gradient(np.float64(-2.0), 0.5))  # as NumPy's powers are
    with pytest.raises(ValueError, match=r"\(-2.0\) \*\* 0.5 is complex"):
        gradient(-2.0, 0.5)


def never_negative(x):
    n = len([1, 2, 3])
    a = (x * x + 1.0) ** 0.5 + abs(x) ** 0.3 + math.exp(x) ** 1.5 + 2.0**x + x**2.0
    return a + math.sqrt(2.0 + x) ** 0.7 + (abs(x) / (x**2 + 1.0)) ** 1.5 + n**0.5


def of_complex_numbers(x):
    return abs(complex(x) ** 0.5)


def test_powers_that_are_never_complex_are_not_checked():
    for f in (never_negative, of_complex_numbers):
        gradient = srcgrad.grad(f)
        for x in (0.7, -1.3):
            assert np.isclose(gradient(x), (f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rtol=1e-6)
        assert "check_power" not in gradient.source


def test_the_check_stands_before_the_power():
    gradient = srcgrad.grad(root)
    gradient(2.0)
    assert "    check_power(x, 0.5)\n" in gradient.source
