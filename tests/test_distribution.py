"""What loops only add to, made on whole arrays behind them."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

from srcgrad import grad, hvp, value_and_grad
from srcgrad.errors import UnsupportedError
from srcgrad.optimize import accumulation
from tests.random_loops import Recurrences
from tests.test_vectorizing import normal, twin


def both(monkeypatch, function, *arguments):
    """The gradient with the pass and without, compared; its reverse sweep."""
    gradient = value_and_grad(twin(function), argnums=(0, 1))
    value, found = gradient(*arguments)
    with monkeypatch.context() as patch:
        patch.setattr(accumulation, "distribute", lambda *_: False)
        expected_value, expected = value_and_grad(twin(function), argnums=(0, 1))(*arguments)
    np.testing.assert_allclose(value, expected_value, rtol=1e-12, atol=1e-14)
    for x, y in zip(found, expected, strict=True):
        scale = np.max(np.abs(y), initial=1.0)
        np.testing.assert_allclose(x / scale, y / scale, atol=1e-12, err_msg=gradient.source)
    return gradient.source.partition("\n\n")[2]


def filtered(c, x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = c[0] * x[i]
        if i >= 1:
            y[i] += c[1] * y[i - 1]
        if i >= 2:
            y[i] += c[2] * y[i - 2]
    return np.sum(y * y)


def backwards(c, x):
    y = np.zeros(len(x))
    for i in range(len(x) - 2, -1, -1):
        y[i] = x[i] * np.sin(x[i]) - c[1] * y[i + 1]
    return np.sum(y * y)


def from_behind(c, x):
    y = x.copy()
    for i in range(len(x) - 6, -1, -1):
        y[i] += c[1] * y[i + 1]
    return np.sum(y * y)


def carried(c, x):
    a, b = np.cos(c[0]), c[1] * 2
    y, loss = np.zeros(len(x)), 0.0
    for i in range(1, len(x)):
        y[i] = np.tanh(a * y[i - 1] + b * x[i])
        loss += (y[i] - x[i - 1]) ** 2
    return loss


def overwritten(c, x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] += c[0] * y[i - 1]
        y[i - 1] = c[1] * y[i]
    return np.sum(y * y)


def read_again(c, x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = c[0] * y[i - 1] * c[1]
        c[1] = y[i] + c[0]
    return np.sum(y * y)


def asked_for(c, x):
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        y[i] = y[i - 1] * x[i - 1] + x[i] * c[2]
    return y @ x


def interrupted(c, x):
    y = x.copy()
    first = y[:1]
    for i in range(len(x)):
        before = y[0]
        first[0] += c[0] * x[i]
        y[0] = before + c[1] * x[i]
    return np.sum(y * y)


@pytest.mark.parametrize(
    ("function", "texts"),
    [
        (filtered, ["d_c[0] += d_y.dot(x)", "d_c[1] += d_y[1:].dot(y[:-1])", "if n > 2:"]),
        (backwards, ["d_c[1] -= "]),
        (from_behind, ["d_c[1] += "]),
        (carried, ["d_a = ", ".dot(y_left)", ".dot(x_right)"]),
        (overwritten, []),
        (read_again, []),
        (interrupted, []),
        (asked_for, ["d_x[:-1] += "]),
    ],
)
def test_additions(monkeypatch, function, texts):
    for n in (1, 2, 3, 4, 9):
        source = both(monkeypatch, function, normal(3), normal(n, seed=1))
    assert source.count("\n    for ") == 1, source
    for text in texts:
        assert text in source, source


def test_what_would_be_outside_stays(monkeypatch):
    """A short signal asks for no coefficient that there isn't."""
    for n in (0, 1, 2):
        c, x = normal(n), normal(n, seed=1)
        _, (d_c, d_x) = value_and_grad(twin(filtered), argnums=(0, 1))(c, x)
        assert d_c.shape == d_x.shape == (n,)
        both(monkeypatch, filtered, c, x)


@pytest.mark.parametrize("seed", range(10))
def test_random_recurrences(monkeypatch, seed):
    text = Recurrences(seed).program()
    name = f"<recurrences {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"np": np}
    exec(compile(text, name, "exec"), names)
    for n in (9, 2, 1):
        c, b = 0.5 * normal(3, seed=seed), 0.5 * normal(n, seed=seed)
        try:
            names["f"](c.copy(), b.copy())
        except IndexError:
            with pytest.raises((IndexError, UnsupportedError)):
                value_and_grad(names["f"], (0, 1))(c, b)
            continue
        both(monkeypatch, names["f"], c, b)
        if n == 9 and seed < 4:
            check_second_order(names["f"], c, b, seed)


def check_second_order(f, c, b, seed):
    """A product with the Hessian, of which loops are distributed too, against differences."""
    u, v = (normal(3, seed=seed + 1), normal(len(b), seed=seed + 2)), (c[::-1], b[::-1])
    gradient = grad(f, argnums=(0, 1))
    steps = (gradient(c + h * v[0], b + h * v[1]) for h in (1e-6, -1e-6))
    near, far = (sum(a @ d for a, d in zip(slopes, u, strict=True)) for slopes in steps)
    found = hvp(f, argnums=(0, 1))(c, b, v)
    total = sum(a @ d for a, d in zip(found, u, strict=True))
    np.testing.assert_allclose(total, (near - far) / 2e-6, rtol=1e-5, atol=1e-6)
