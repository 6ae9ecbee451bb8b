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


def power_sums(x):
    """A number as long as the loop hasn't run, as far as anybody knows."""
    total = 0.5
    for i in range(len(x)):
        power = 1
        for _ in range(i):
            power = power * x
        total = total + power
    return total


def fitted_line(x):
    return np.linalg.lstsq(power_sums(x), x[:, 0], rcond=None)[0] ** 2


def eigenvalues_and_vectors(x):
    values, vectors = np.linalg.eigh(power_sums(x) + power_sums(x).T)
    return values * np.abs(vectors)


def triangle(x):
    return np.abs(np.linalg.qr(power_sums(x))[1])


def singular_values(x):
    return np.linalg.svd(power_sums(x))[1] ** 3


def whole_parts(x):
    whole, rest = divmod(power_sums(x), 0.37)
    return np.modf(power_sums(x))[0] * whole + rest**2


def chosen_by_indices(x):
    p = power_sums(x)
    rows, columns = np.nonzero(p > 0.9)
    return p[rows, columns] ** 2 + p[np.nonzero(p > 0.9)]


@pytest.mark.parametrize(
    "f",
    [fitted_line, eigenvalues_and_vectors, triangle, singular_values, whole_parts,
     chosen_by_indices],
)  # fmt: skip
def test_several_results_of_what_has_any_rank(f):
    modes = "rev" if f is triangle else ("fwd", "rev")  # its tangent joins parts of any rank
    check_grads(f, (np.array([[0.8, 0.3], [0.4, 1.1]]),), order=1, modes=modes)


def test_a_key_with_more_places_than_the_array_has_axes_raises_where_it_is_used():
    def f(x):
        v = x[..., 0] if x > 1.0 else x
        return np.sum(np.sin(v))

    x = np.array(0.7)
    assert grad(f)(x) == pytest.approx(np.cos(0.7))
    for g in (f, lambda x: np.sum(np.sin(x[..., 0, -1]))):
        with pytest.raises(IndexError, match="too many indices for array"):
            value_and_grad(g)(np.array(1.7))
