"""The adjoint of a Cholesky decomposition, by blocks of columns, is what the closed form gives."""

import numpy as np
import pytest

from srcgrad import grad, hvp, jvp
from srcgrad.rules.linalg import cholesky_adjoint


def definite(*shape, dtype=float):
    x = np.random.default_rng(shape[-1]).normal(size=shape)
    return (x @ x.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def closed(factor, d_factor):
    """I. Murray (2016), equation 10."""
    inverse = np.linalg.inv(factor)
    product = np.tril(factor.swapaxes(-1, -2) @ d_factor)
    symmetric = product + np.tril(product, -1).swapaxes(-1, -2)
    d_a = inverse.swapaxes(-1, -2) @ symmetric @ inverse / 2
    return np.tril(d_a) + np.tril(d_a, -1)


@pytest.mark.parametrize(
    "shape",
    [(1, 1), (39, 39), (40, 40), (79, 79), (80, 80), (81, 81), (167, 167), (2, 3, 123, 123)],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blocks_give_what_the_closed_form_gives(shape, dtype):
    factor = np.linalg.cholesky(definite(*shape, dtype=dtype))
    d_factor = np.random.default_rng(1).normal(size=shape).astype(dtype)
    before = factor.copy(), d_factor.copy()
    d_a = cholesky_adjoint(factor, d_factor)
    assert d_a.dtype == dtype
    assert np.array_equal(before[0], factor) and np.array_equal(before[1], d_factor)
    tolerance = 1e-4 if dtype == np.float32 else 1e-12
    expected = closed(factor, d_factor)
    assert np.abs(d_a - expected).max() <= tolerance * np.abs(expected).max()


def value(a, weights):
    return np.sum(weights * np.sin(np.linalg.cholesky(a)))


def test_what_its_derivatives_give_in_a_direction():
    rng = np.random.default_rng(2)
    a, weights = definite(101, 101), rng.normal(size=(101, 101))
    direction = rng.normal(size=(101, 101))
    direction += direction.T

    def along(t):
        return value(a + t * direction, weights)

    by_hand = (along(1e-4) - along(-1e-4)) / 2e-4
    assert np.isclose(np.vdot(grad(value)(a, weights), direction), by_hand, rtol=1e-7)
    assert np.isclose(jvp(value, (a, weights), (direction, 0 * weights))[1], by_hand, rtol=1e-7)

    steps = [grad(value)(a + t * direction, weights) for t in (1e-4, -1e-4)]
    second = (steps[0] - steps[1]) / 2e-4
    found = hvp(value)(a, weights, direction)
    assert np.abs(found - second).max() < 1e-6 * np.abs(second).max()
