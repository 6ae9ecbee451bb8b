"""Arrays that don't go together, where the program catches what NumPy raises."""

import numpy as np
import pytest

import srcgrad
import srcgrad.testing
from tests.small_programs import X, check, programs


def a_sum(x):
    try:
        return np.sum(x + np.ones(7))
    except ValueError:
        return np.sum(x**2)


def a_product(x):
    a = np.outer(x, x)
    try:
        c = a @ np.ones((2, 2))
    except ValueError:
        c = a * x
    return np.sum(c)


def a_product_that_fits(x):
    try:
        c = np.outer(x, x) @ np.ones((3, 2))
    except ValueError:
        c = x
    return np.sum(c)


def a_shape(x):
    try:
        y = x.reshape(2, 2)
    except ValueError as error:
        y = x * len(str(error))
    return np.sum(y**2)


def a_shape_of_six(x):
    try:
        y = x.reshape(2, 3)
    except ValueError:
        y = np.outer(x, x)
    return np.sum(y**2)


def rows_of_two(x):
    try:
        y = x.reshape(-1, 2) * x[0]
    except ValueError:
        y = np.outer(x, x)
    return np.sum(y**2)


def joined(x):
    try:
        y = np.concatenate([x.reshape(1, 3), x[:2].reshape(1, 2)])
    except (ValueError, TypeError):
        y = x
    return np.sum(y**2)


def in_place(x):
    y = x.copy()
    try:
        y += np.ones(4)
    except ValueError:
        y *= 2
    return np.sum(y**2)


def in_a_function_that_is_called(x):
    def total(a, b):
        return np.dot(a, b) + np.add(a, b).sum()

    result = 0.0
    for n in (2, 3):
        try:
            result += total(x, np.ones(n))
        except ValueError:
            result += x[0] ** 3
    return result


@pytest.mark.parametrize("function", programs(globals()), ids=lambda f: f.__name__)
def test_gradient_is_that_of_the_path_taken(function):
    check(function)


def test_what_fits_is_not_asked():
    def f(x, y):
        try:
            z = x * y + np.dot(x, y)
        except ValueError:
            z = x
        return np.sum(z)

    gradient = srcgrad.grad(f)
    gradient(X, X)
    assert "fails" not in gradient.source
    np.testing.assert_allclose(gradient(X, np.ones(2)), np.ones(3))


def bracketed(x):
    optimize = pytest.importorskip("scipy.optimize")
    try:
        root = optimize.brentq(lambda t: t * t - x[0], 0.0, x[1])
    except ValueError as error:
        root = 3 * x[2] + len(str(error))
    return root * x[2]


def not_converged(x):
    optimize = pytest.importorskip("scipy.optimize")
    try:
        root = optimize.newton(lambda t: t * t + x[0], x[1], maxiter=5)
    except Exception:
        root = 3 * x[2]
    return root * x[2]


@pytest.mark.parametrize("f", [bracketed, not_converged])
def test_a_solver_that_finds_nothing(f):
    for x in (np.array([0.5, 0.9, 0.7]), np.array([0.5, 0.3, 0.7])):
        srcgrad.testing.check_grads(f, (x,))
