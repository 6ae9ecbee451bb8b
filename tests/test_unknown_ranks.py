"""Arrays of which only the run tells how many axes they have: what is summed away until it fits."""

import numpy as np
import pytest

from srcgrad import grad, value_and_grad
from srcgrad.testing import check_grads

X = np.random.default_rng(3).standard_normal((3, 1, 4))


def fitted(a, shape):
    """What engines do with the adjoint of an operand that was broadcast."""
    while a.ndim > len(shape):
        a = a.sum(axis=0)
    for i, n in enumerate(shape):
        if n == 1 and a.shape[i] > 1:
            a = a.sum(axis=i, keepdims=True)
    return a


def summed_until_it_fits(x, rank):
    total = 0.0
    for i in range(rank):
        for shape in ((4,), (1, 4), (1, 1, 1), ()):
            total = total + np.sum(fitted(x * x * (i + 1.0), shape) ** 2)
    return total


def reduced_from_behind(x, rank):
    reduced, largest = np.exp(x), x * 2
    while reduced.ndim > rank:
        reduced = np.mean(reduced, axis=-1)
        largest = np.max(largest, axis=-1)
    return np.sum(reduced * largest)


def axes_added_and_taken_away(x, rank):
    wide = x * x
    while wide.ndim > rank:
        wide = np.squeeze(np.expand_dims(wide.sum(axis=0), -1), -1)
    wide = np.squeeze(np.expand_dims(np.sin(wide), 0), 0)
    return np.sum(wide * wide)


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
@pytest.mark.parametrize(
    "f", [summed_until_it_fits, reduced_from_behind, axes_added_and_taken_away]
)
def test_reductions_of_any_rank(f, rank):
    check_grads(lambda x: f(x, rank), (X,), order=1)
    value, gradient = value_and_grad(f)(X, rank)
    assert value == pytest.approx(f(X, rank), rel=1e-13) and gradient.shape == X.shape


@pytest.mark.parametrize("f", [summed_until_it_fits, axes_added_and_taken_away])
def test_second_derivatives_of_any_rank(f):
    weights = np.cos(np.arange(X.size)).reshape(X.shape)

    def along(x):
        return np.sum(grad(f)(x, 1) * weights)

    check_grads(along, (X,), order=1)


def test_a_number_of_numpy_at_a_mask():
    def f(gain, x):
        gains = np.zeros(()) + gain if not np.iterable(gain) else np.asanyarray(gain)
        return np.sum(gains[gains > 0.25] ** 2) * x

    for gain in (0.5, 0.125, np.array([0.5, 0.125])):
        d_gain, d_x = grad(f, argnums=(0, 1))(gain, 3.0)
        np.testing.assert_array_equal(d_gain, 6 * gain * (np.asarray(gain) > 0.25))
        assert d_x == f(gain, 1.0)
