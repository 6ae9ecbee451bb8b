"""Polynomials of NumPy's classes that exist before the function runs."""

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Polynomial

import srcgrad
from srcgrad.testing import check_grads
from tests.small_programs import X, check, programs

POWERS = Polynomial([1.0, 2.0, 0.5])
SERIES = Chebyshev([1.0, 0.5, 0.2, 0.1], domain=[-2, 2])
DESCENDING = np.poly1d([1.0, -2.0, 0.5])


class Fit:
    def __init__(self, polynomial):
        self.polynomial = polynomial


FIT = Fit(POWERS)


def of_a_global(x):
    return np.sum(POWERS(x) * SERIES(x)) + DESCENDING(x[0]) + POWERS.degree() * x[1]


def of_an_attribute(x):
    return np.sum(FIT.polynomial(x) ** 2)


def derived(x):
    return np.sum(POWERS.deriv()(x)) + SERIES.integ()(x[0]) - DESCENDING.deriv(2)(x[1]) * x[2]


def added_to_one_made_here(x):
    return (POWERS * x[0] + Polynomial(x))(0.3) + (POWERS * POWERS)(x[1])


def without_its_leading_zeros(x):
    polynomial = np.poly1d(np.concatenate([np.zeros(2), x]))
    difference = np.poly1d(x) - np.poly1d(x * np.array([1.0, 0.5, 0.2]))
    squares = np.sum(polynomial.c**2) * len(polynomial.coeffs) + sum(difference)
    return squares * polynomial.order + difference.o


def by_its_powers(x):
    polynomial = np.poly1d(x) ** 2
    return polynomial[0] * polynomial[4] + polynomial[9] + polynomial(x[0]) * len(DESCENDING)


def root_of_a_global(x):
    slope, root = POWERS.deriv(), x[0] + 2.0
    for _ in range(4):
        root = root - (POWERS(root) - x[1]) / slope(root)
    return root * x[2]


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_polynomials_outside(f):
    check(f)


def test_a_polynomial_is_an_argument():
    def f(x, polynomial, others):
        return np.sum(polynomial(x) ** 2) + sum(p(x[0]) for p in others)

    for polynomial in (POWERS, SERIES, DESCENDING):
        check_grads(f, (X, polynomial, [POWERS, Polynomial([0.0, 1.0])]), argnums=0)


def test_coefficients_are_read_at_the_call():
    def f(x):
        return polynomial(x)

    gradient = srcgrad.grad(f)
    polynomial = Polynomial([1.0, 2.0])
    assert gradient(3.0) == 2.0
    polynomial.coef[1] = 5.0
    assert gradient(3.0) == 5.0
    polynomial.coef = np.array([0.0, 1.0, 1.0])
    assert gradient(3.0) == 7.0
    polynomial = np.poly1d([4.0, 0.0])
    assert gradient(3.0) == 4.0


class Unhashable:
    __hash__ = None

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * x


def test_what_is_called_need_not_be_hashable():
    scale = Unhashable(2.0)
    gradient = srcgrad.grad(lambda x: scale(x) ** 2)
    assert gradient(3.0) == 24.0
    scale.factor = 3.0
    assert gradient(3.0) == 54.0
