"""Functions of three numbers, collected from a module of tests and compared with differences."""

import inspect

import numpy as np
import pytest

import srcgrad

X = np.array([0.3, 0.8, 0.55])


def programs(namespace):
    """The functions of one parameter `x` that a module defines."""
    return [
        thing
        for _, thing in sorted(namespace.items())
        if inspect.isfunction(thing)
        and thing.__module__ == namespace["__name__"]
        and list(inspect.signature(thing).parameters) == ["x"]
    ]


def differences(f, x=X):
    """The gradient by central differences, extrapolated."""

    def along(e, h):
        return (f(x + h * e) - f(x - h * e)) / (2 * h)

    return np.array([(4 * along(e, 5e-4) - along(e, 1e-3)) / 3 for e in np.eye(len(x))])


def check(f, x=X):
    """Both modes against differences, and the value; without it, other code is dead."""
    expected = differences(f, x)
    value, gradient = srcgrad.value_and_grad(f)(x.copy())
    assert value == pytest.approx(f(x.copy()), rel=1e-12)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(srcgrad.grad(f)(x.copy()), gradient, rtol=1e-12, atol=1e-14)
    direction = np.array([0.5, -1.0, 2.0])
    _, found = srcgrad.jvp(f, (x.copy(),), (direction,))
    assert found == pytest.approx(expected @ direction, rel=1e-6, abs=1e-8)
