"""Options of NumPy's functions that are read from a dict of settings, a global or an object.

They may be different at the next call, so that a rule can't count on them.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import special

import srcgrad

SETTINGS = {"axis": 1, "source": 0, "destination": 2, "start": 0, "count": 2, "flag": True}
axis = 1
config = SimpleNamespace(axis=1)
X = np.random.default_rng(5).normal(size=(2, 3, 4))
WEIGHTS = np.random.default_rng(6).normal(size=500)

BY_AXIS = {
    "sum": lambda x, axis: np.sum(x, axis),
    "prod": lambda x, axis: np.prod(x, axis),
    "max": lambda x, axis: np.max(x, axis=axis),
    "std": lambda x, axis: np.std(x, axis=axis, ddof=1),
    "median": lambda x, axis: np.median(x, axis=axis),
    "quantile": lambda x, axis: np.quantile(x, 0.3, axis=axis),
    "cumsum": lambda x, axis: np.cumsum(x, axis=axis),
    "sort": lambda x, axis: np.sort(x, axis=axis),
    "flip": lambda x, axis: np.flip(x, axis=axis),
    "roll": lambda x, axis: np.roll(x, 1, axis=axis),
    "diff": lambda x, axis: np.diff(x, axis=axis),
    "gradient": lambda x, axis: np.gradient(x, axis=axis),
    "expand_dims": lambda x, axis: np.expand_dims(x, axis),
    "stack": lambda x, axis: np.stack([x, 2 * x], axis=axis),
    "concatenate": lambda x, axis: np.concatenate([x, 2 * x], axis=axis),
    "split": lambda x, axis: np.split(x, [1], axis=axis)[1],
    "repeat": lambda x, axis: np.repeat(x, 2, axis=axis),
    "take": lambda x, axis: np.take(x, [1, 0, 1], axis=axis),
    "swapaxes": lambda x, axis: np.swapaxes(x, axis, 2),
    "moveaxis": lambda x, axis: np.moveaxis(x, axis, 0),
    "moved back": lambda x, axis: np.moveaxis(x, -1, axis),
    "rollaxis": lambda x, axis: np.rollaxis(x, axis),
    "rolled further": lambda x, axis: np.rollaxis(x, 0, axis + 1),
    "rolled back": lambda x, axis: np.rollaxis(x, -1, -axis),
    "norm": lambda x, axis: np.linalg.norm(x, axis=axis),
    "cross": lambda x, axis: np.cross(x, x[::-1] + 1, axis=axis),
    "fft": lambda x, axis: np.fft.fft(x, axis=axis).real,
    "logsumexp": lambda x, axis: special.logsumexp(x, axis=axis),
}


def assert_right(f):
    direction = np.random.default_rng(7).normal(size=X.shape)
    step = 1e-6
    expected = (f(X + step * direction) - f(X - step * direction)) / (2 * step)
    assert np.sum(srcgrad.grad(f)(X) * direction) == pytest.approx(expected, rel=1e-6)
    assert srcgrad.jvp(f, (X,), (direction,))[1] == pytest.approx(expected, rel=1e-6)


def total(out):
    return np.sum(np.sin(out) * WEIGHTS[: out.size].reshape(out.shape))


@pytest.mark.parametrize("name", BY_AXIS)
def test_an_axis_from_outside(name):
    function = BY_AXIS[name]
    assert_right(lambda x: total(function(x, SETTINGS["axis"])))
    assert_right(lambda x: total(function(x, axis)))
    assert_right(lambda x: total(function(x, config.axis)))


def test_an_axis_that_changes():
    gradient = srcgrad.grad(lambda x: total(np.moveaxis(x, config.axis, 0)))
    found = []
    try:
        for value in (0, 1, 2, -2):
            config.axis = value
            found.append(gradient(X))
            assert_right(lambda x: total(np.moveaxis(x, config.axis, 0)))
    finally:
        config.axis = 1
    np.testing.assert_array_equal(found[1], found[3])
    assert not np.allclose(found[0], found[1])


def test_keywords_from_a_dict():
    places = {"source": SETTINGS["source"], "destination": SETTINGS["destination"]}
    assert_right(lambda x: total(np.moveaxis(x, **places)))
    assert_right(lambda x: total(np.sum(x, axis=axis, keepdims=SETTINGS["flag"])))
    assert_right(lambda x: total(np.diff(x, SETTINGS["count"], axis=-1)))


# Permutations of axes and the like, made in Python of a number that isn't known when compiling


def all_but(x, n):
    return np.sum(x, axis=tuple(i for i in range(x.ndim) if i != n))


def last(x, n):
    order = [i for i in range(x.ndim) if i != n] + [n]
    return x.transpose(order)


def appended(x, n):
    order = []
    for i in range(x.ndim):
        if i == n:
            continue
        order.append(i)
    order.append(n)
    return x.transpose(order)


def removed(x, n):
    axes = list(range(x.ndim))
    axes.remove(n)
    axes.append(n)
    return x.transpose(axes)


def moved_in_a_list(x, n):
    axes = list(range(x.ndim))
    axes.insert(0, axes.pop(n))
    return x.transpose(axes)


def swapped(x, n):
    axes = [0, 1, 2]
    axes[n], axes[0] = axes[0], axes[n]
    return x.transpose(axes)


def deleted(x, n):
    axes = [0, 1, 2]
    del axes[n]
    return np.sum(x, axis=tuple(axes))


def longer(x, n):
    axes = [0, 1] if n > 0 else [0]
    return np.sum(x, axis=tuple(axes))


def chosen_axis(x, n):
    return np.sum(x, axis=0 if n > 1 else 1)


def chosen_mode(x, n):
    mode = "edge" if n > 0 else "constant"
    return np.pad(x, 1, mode)


def repeated(x, n):
    return np.sum(x.reshape((*((2, 3) * (n + 1))[:2], -1)), axis=0)


@pytest.mark.parametrize(
    "function",
    [all_but, last, appended, removed, moved_in_a_list, swapped, deleted, longer, chosen_axis,
     chosen_mode, repeated],
)  # fmt: skip
def test_axes_made_of_a_number(function):
    direction = np.random.default_rng(7).normal(size=X.shape)
    step = 1e-6

    def f(x, n):
        return total(function(x, n))

    gradient = srcgrad.grad(f)
    for n in range(3):
        expected = (f(X + step * direction, n) - f(X - step * direction, n)) / (2 * step)
        assert np.sum(gradient(X, n) * direction) == pytest.approx(expected, rel=1e-6)
