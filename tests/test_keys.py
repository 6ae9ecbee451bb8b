"""Keys that take all elements of an array: what their adjoints are, and what is left of them."""

import numpy as np
import pytest

from srcgrad import grad, ir
from srcgrad.analysis.keys import kept_axes, undone
from tests.test_simplify import body


def pack(*items):
    return ir.Pack(tuple, tuple(i if isinstance(i, ir.Const) else ir.Const(i) for i in items))


KEYS = [
    (np.s_[:, None], (3,)),
    (np.s_[None], (3, 2)),
    (np.s_[..., None], (3, 2)),
    (np.s_[:, 0], (3, 1)),
    (np.s_[-1], (1, 3)),
    (np.s_[0, :, None], (1, 3)),
    (np.s_[None, :, 0, ...], (3, 1, 2)),
    (np.s_[0, 0], (1, 1, 4)),
]


@pytest.mark.parametrize(("key", "shape"), KEYS, ids=str)
def test_a_key_is_undone(key, shape):
    items = key if isinstance(key, tuple) else (key,)
    back = undone(pack(*items), shape)
    assert back is not None
    back = tuple(i.value for i in (back.items if isinstance(back, ir.Pack) else (back,)))
    x = np.arange(np.prod(shape)).reshape(shape)
    assert x[key][back].shape == shape
    np.testing.assert_array_equal(x[key][back], x)
    there = kept_axes(pack(*items), shape)
    assert [1 if i is None else shape[i] for i in there] == list(x[key].shape)


@pytest.mark.parametrize(
    ("key", "shape"),
    [(np.s_[1:, None], (3,)), (np.s_[:, 0], (3, 2)), (np.s_[0], (3,)), (np.s_[1], (1, 2))],
    ids=str,
)
def test_a_key_that_may_take_a_part(key, shape):
    items = key if isinstance(key, tuple) else (key,)
    assert undone(pack(*items), shape) is None
    assert kept_axes(pack(*items), shape) is None


def test_the_axis_of_a_sum_that_is_taken_out_again():
    def f(x, mass):
        d = x[None, :] - x[:, None]
        return np.sum(mass * np.sum(d * d, axis=1, keepdims=True)[:, 0])

    x, mass = np.array([1.0, 2.0, 4.0]), np.array([0.5, 1.5, -1.0])
    lines = body(f, x, mass)
    assert not any("keepdims=True)[" in line for line in lines), lines
    d = x[None, :] - x[:, None]
    expected = 2 * ((mass[:, None] + mass) * -d).sum(axis=1)
    np.testing.assert_allclose(grad(f)(x, mass), expected, rtol=1e-13)


def test_what_is_written_is_still_a_part():
    """The column is memory of its matrix: its adjoint is the matrix's, which is written."""

    def f(x):
        y = np.sum(x * x, axis=1, keepdims=True)
        column = y[:, 0]
        column *= np.sin(column)
        return np.sum(y * y) + np.sum(y[:, 0][:, None] * x)

    x = np.random.default_rng(0).normal(size=(3, 2))
    found = grad(f)(x)
    for i in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[i] = 1e-6
        expected = (f(x + step) - f(x - step)) / 2e-6
        np.testing.assert_allclose(found[i], expected, rtol=1e-7)
