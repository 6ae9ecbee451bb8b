"""How calls are spelled, where NumPy takes one spelling sooner than another."""

import numpy as np
import pytest

from srcgrad import grad, value_and_grad
from srcgrad.testing import check_grads

RNG = np.random.default_rng(3)
M, N, V = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 2)), RNG.normal(size=4)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex128])
def test_whole_numbers_beside_arrays_of_floats(dtype):
    def f(x):
        y = 3 - 2 * x
        y *= 4
        return np.sum(np.abs(np.where(abs(x) > 1, y, 7 / y)))

    gradient = value_and_grad(f)
    x = V.astype(dtype)
    value, d_x = gradient(x)
    assert value == f(x) and value.dtype == f(x).dtype and d_x.dtype == dtype
    assert "3.0 - 2.0 * x" in gradient.source and "y *= 4.0" in gradient.source
    assert "> 1.0" in gradient.source and "7.0 / y" in gradient.source
    if x.dtype.itemsize >= 8:
        check_grads(f, (x,), order=1)


def test_other_numbers_stay():
    def f(x, n, i):
        large = x * 4097
        s = 2 * i
        return np.sum(large[n * 3 - 1 :]) * s[0] + np.sum(x[s] ** 3) + 2 * float(x[0])

    gradient = grad(f)
    d_x = gradient(V, 1, np.array([1, 0]))
    source = gradient.source
    assert "4097" in source and "4097." not in source and "2 * i" in source
    assert "[n * 3 - 1:]" in source or "n * 3 - 1" in source
    np.testing.assert_allclose(d_x, [2 + 3 * V[0] ** 2, 0, 2 * 4097 + 3 * V[2] ** 2, 2 * 4097])


def test_products_in_the_reverse_sweep_are_methods():
    def f(a, b, v):
        return np.sum(np.sin(a @ b)) + np.sum(np.cos(a @ v)) + np.tanh(v @ v)

    gradient = grad(f, argnums=(0, 1, 2))
    gradient(M, N, V)
    source = gradient.source
    assert "np.cos(a @ b)" in source and "np.sin(a @ v)" in source and "tanh(v @ v)" in source
    assert ".dot(b.T)" in source and "a.T.dot(" in source and "= x.T @" not in source
    check_grads(f, (M, N, V), order=2)
    for empty in ((M[:0], N, V), (M[:, :0], N[:0], V[:0])):
        for d, argument in zip(gradient(*empty), empty, strict=True):
            assert d.shape == argument.shape
            assert not np.any(d) or argument is V


def test_products_that_dot_would_not_take_alike_stay():
    def batched(a, b):
        return np.sum(np.sin(a @ b))

    gradient = grad(batched, argnums=(0, 1))
    a = RNG.normal(size=(2, 3, 4))
    gradient(a, N)
    assert " @ b.T" in gradient.source
    check_grads(batched, (a, N), order=1)

    mixed = grad(lambda a, b: np.sum(np.sin(a @ b)))
    assert mixed(M, N.astype(np.float32)).dtype == np.float64
    assert " @ b.T" in mixed.source
