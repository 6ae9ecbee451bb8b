"""Outer products that loops add up, made products of matrices behind them."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

from srcgrad import grad, value_and_grad, vjp
from srcgrad.errors import UnsupportedError
from srcgrad.optimize import accumulation
from srcgrad.testing import check_grads
from tests.random_recurrent import program
from tests.test_vectorizing import twin

RNG = np.random.default_rng(0)
W, U, B = RNG.normal(size=(4, 4)) * 0.5, RNG.normal(size=(4, 3)), RNG.normal(size=4)
X = RNG.normal(size=(7, 3))


def both(monkeypatch, function, *arguments, argnums=(0, 1)):
    """The gradient with the pass and without, compared; its reverse sweep."""
    gradient = value_and_grad(twin(function), argnums=argnums)
    value, found = gradient(*arguments)
    with monkeypatch.context() as patch:
        patch.setattr(accumulation, "gather", lambda *_: False)
        other = value_and_grad(twin(function), argnums=argnums)
        expected_value, expected = other(*arguments)
    assert "_rows" not in other.source
    assert np.array_equal(value, expected_value)
    for x, y in zip(found, expected, strict=True):
        assert x.dtype == y.dtype and x.shape == y.shape
        scale = np.max(np.abs(y), initial=0.0, where=np.isfinite(y)) or 1.0
        np.testing.assert_allclose(x / scale, y / scale, atol=1e-6 if x.itemsize == 4 else 1e-12)
    return gradient.source.partition("\n\n")[2]


def network(w, u, b, x):
    h = np.zeros(len(b))
    loss = 0.0
    for t in range(len(x)):
        h = np.tanh(w @ h + u @ x[t] + b)
        loss += np.sum(h**2)
    return loss


def test_recurrent_network(monkeypatch):
    source = both(monkeypatch, network, W, U, B, X, argnums=(0, 1, 2, 3))
    assert source.endswith("""\
    d_transpose = d_total_rows.T
    d_u = d_transpose.dot(x)
    d_w = d_transpose.dot(h_rows)
    d_b = d_total_rows.sum(axis=0)
    d_x = d_total_rows.dot(u)
    return loss, (d_w, d_u, d_b, d_x)
""")
    check_grads(network, (W, U, B, X))


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_other_precisions(monkeypatch, dtype):
    def f(w, u, b, x):
        h = np.zeros(len(b), w.dtype)
        for t in range(len(x)):
            h = w @ h * 0.5 + u @ x[t] + b
        return np.sum(np.abs(h) ** 2)

    arguments = [a.astype(dtype) for a in (W, U, B, X)]
    if dtype == np.complex128:
        arguments[0] *= 1 + 0.5j
    source = both(monkeypatch, f, *arguments, argnums=(0, 1, 2, 3))
    assert f"dtype=np.{np.dtype(dtype)}" in source and "h_rows" in source


def test_trips_that_add_nothing(monkeypatch):
    """Zero times an infinite number isn't zero."""

    def f(w, x):
        h = np.ones(4)
        loss = 0.0
        for t in range(len(x)):
            if x[t, 0] > 0:
                h = np.tanh(w @ x[t] + h)
            else:
                loss += np.sum(h)
        return loss + np.sum(h)

    x = RNG.normal(size=(9, 4))
    x[:, 0] = [1, -1, 1, 1, -1, -1, 1, -1, 1]
    x[4, 1] = np.inf
    source = both(monkeypatch, f, W, x, argnums=(0,))
    assert "x_row_rows = np.zeros((n, w.shape[1]))" in source
    assert np.all(np.isfinite(grad(f)(W, x)))


@pytest.mark.parametrize("bounds", [(0,), (-3,), (1,), (1, 8), (2, 2), (3, 1)])
def test_some_trips(monkeypatch, bounds):
    def f(w, b, start, stop):
        h = b * 1.0
        for _ in range(start, stop):
            h = np.sin(w @ h)
        return np.sum(h)

    def g(w, b, stop):
        h = b * 1.0
        for _ in range(stop):
            h = np.sin(w @ h)
        return np.sum(h)

    if len(bounds) == 1:
        assert "trips = max(stop, 0)" in both(monkeypatch, g, W, B, *bounds)
    else:
        assert "_rows" not in both(monkeypatch, f, W, B, *bounds)


def test_from_the_second_row_on(monkeypatch):
    def f(w, x):
        y = x.copy()
        for t in range(1, len(x)):
            y[t] = np.tanh(w @ y[t - 1] + x[t])
        return np.sum(y**2)

    x = RNG.normal(size=(6, 4))
    source = both(monkeypatch, f, W, x)
    assert "d_total_rows = np.zeros((n, len(w)))" in source
    check_grads(f, (W, x))


def test_a_while_loop(monkeypatch):
    def f(w, b):
        h = b * 1.0
        while np.sum(h * h) > 1e-2:
            h = 0.3 * np.tanh(w @ h)
        return np.sum(h)

    source = both(monkeypatch, f, W, B)
    assert "d_w = " in source and "_rows.T.dot(h_rows)" in source


def test_a_matrix_that_the_loop_asks_for(monkeypatch):
    def f(w, b):
        h = b * 1.0
        for _ in range(8):
            h = np.sin(w @ h)
            w = w * 0.9
        return np.sum(h)

    assert "_rows" not in both(monkeypatch, f, W, B)


def test_what_is_overwritten(monkeypatch):
    def f(w, b):
        h = b.copy()
        loss = 0.0
        for t in range(9):
            loss += np.sum(np.cos(w @ h))
            h[t % 4] = loss * 0.1
        return loss

    both(monkeypatch, f, W, B)
    check_grads(f, (W, B))


def test_one_number_is_spread(monkeypatch):
    def f(w, b, x):
        loss = 0.0
        h = x[0]
        for t in range(len(x)):
            h = np.sin(w @ h * x[t] + b)
            loss += np.sum(h)
        return loss

    for w, x in ((W[:1], RNG.normal(size=(7, 4))), (W[:1, :1], RNG.normal(size=(7, 1)))):
        b = np.ones(w.shape[1])
        both(monkeypatch, f, w, b, x, argnums=(0, 1, 2))
        check_grads(f, (w, b, x))


def test_a_pullback(monkeypatch):
    def states(w, u, b, x):
        h = np.zeros(len(b))
        found = []
        for t in range(len(x)):
            h = np.tanh(w @ h + u @ x[t] + b)
            found.append(h)
        return np.array(found)

    out, pullback = vjp(states, W, U, B, X)
    found = pullback(np.cos(out))
    with monkeypatch.context() as patch:
        patch.setattr(accumulation, "gather", lambda *_: False)
        expected = vjp(twin(states), W, U, B, X)[1](np.cos(out))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def covariance(x, m):
    """As in NPBench: each column times those to the right of it, itself included."""
    x = x - np.mean(x, axis=0)
    cov = np.zeros((m, m))
    for i in range(m):
        cov[i:m, i] = (x[:, i] @ x[:, i:m]) / (len(x) - 1.0)
        cov[i, i:m] = cov[i:m, i]
    return np.sum(np.sin(cov))


@pytest.mark.parametrize(("shape", "m"), [((5, 4), 4), ((5, 4), 3), ((3, 6), 2), ((4, 3), 0)])
def test_parts_that_become_smaller(monkeypatch, shape, m):
    x = RNG.normal(size=shape)
    source = both(monkeypatch, covariance, x, m, argnums=(0,))
    assert "d_x[:, i] += x_1[:, i:m] @ d_product" in source
    assert "d_product_rows[i, i:m] = d_product\n" in source
    assert "d_x_left += padded_product(x_1" in source
    if m:
        check_grads(lambda x: covariance(x, m), (x,))


def lower(a, x, c):
    y = x.copy()
    for k in range(len(x)):
        y[:k] += 0.1 * np.sin(a[:k, k:] @ x[k:] + y[:k]) * c
    return np.sum(y)


def test_parts_of_both_axes(monkeypatch):
    a, x = RNG.normal(size=(5, 5)), RNG.normal(size=5)
    source = both(monkeypatch, lower, a, x, 0.7)
    assert "_rows[k, :k] = " in source and "_rows[k, k:] = x[k:]" in source
    check_grads(lower, (a, x, 0.7))


@pytest.mark.parametrize("part", ["i : i + 2", "1:3", "n - i :", "i % 2 :", "i : n : 2", "i:-1"])
def test_parts_that_may_always_be_small(monkeypatch, part):
    """A product of matrices whose rows are mostly zeros takes more time than it saves."""
    names = {"np": np}
    text = f"""\
def f(a, x):
    n, s = len(x), 0.0
    for i in range(n):
        s = s + np.sum(np.sin(a[:, {part}] @ x[{part}] + s))
    return s
"""
    exec(compile(text, f"<part {part}>", "exec"), names)
    linecache.cache[f"<part {part}>"] = len(text), None, text.splitlines(True), f"<part {part}>"
    assert "_rows" not in both(monkeypatch, names["f"], RNG.normal(size=(4, 6)), np.arange(6.0))


def test_an_infinite_number_stays_where_it_is(monkeypatch):
    """The zeros beside a part are nothing: an infinite number times them isn't nan."""

    def f(x, few):
        total = 0.0
        for i in range(few):
            total += np.sum(np.arctan(x[:, i] @ x[:, i:few]))
        return total

    x = RNG.normal(size=(4, 5))
    x[2, 3] = np.inf
    gradient = grad(f)
    with np.errstate(invalid="ignore"):
        found = gradient(x, 5)
        with monkeypatch.context() as patch:
            patch.setattr(accumulation, "gather", lambda *_: False)
            expected = grad(twin(f))(x, 5)
    assert "padded_product" in gradient.source
    assert np.isnan(found[2, :4]).all() and np.isfinite(expected).sum() == 15
    there = np.isfinite(expected)
    np.testing.assert_allclose(found[there], expected[there])


def compare(monkeypatch, seed):
    """Check a random program with the pass and without."""
    names = {"np": np}
    source = program(seed)
    exec(compile(source, f"<recurrent {seed}>", "exec"), names)
    linecache.cache[f"<recurrent {seed}>"] = (
        len(source), None, source.splitlines(keepends=True), f"<recurrent {seed}>",
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    w, b, x = rng.normal(size=(3, 3)) * 0.7, rng.normal(size=3), rng.normal(size=(6, 3))
    f = names["f"]
    try:
        with np.errstate(all="ignore"):
            f(w.copy(), b.copy(), x.copy(), 5)
    except (ValueError, IndexError):
        return None
    arguments = (w, b, x, 5)
    gradient = value_and_grad(f, argnums=(0, 1, 2))
    try:
        value, found = gradient(*(np.copy(a) for a in arguments[:3]), 5)
    except UnsupportedError:
        return None
    with monkeypatch.context() as patch:
        patch.setattr(accumulation, "gather", lambda *_: False)
        other = value_and_grad(twin(f), argnums=(0, 1, 2))
        expected_value, expected = other(*(np.copy(a) for a in arguments[:3]), 5)
    assert value == expected_value, source
    for one, two in zip(found, expected, strict=True):
        scale = max(np.max(np.abs(two)), 1.0)
        np.testing.assert_allclose(one / scale, two / scale, atol=1e-10, err_msg=source)
    direction = [rng.normal(size=a.shape) for a in (w, b, x)]

    def along(e):
        return f(*(a + e * d for a, d in zip((w, b, x), direction, strict=True)), 5)

    numeric = (along(1e-6) - along(-1e-6)) / 2e-6
    exact = sum(np.sum(g * d) for g, d in zip(found, direction, strict=True))
    if abs(numeric) < 1e4:
        coarse = (along(1e-5) - along(-1e-5)) / 2e-5
        if abs(coarse - numeric) < 1e-4 * max(1, abs(numeric)):  # smooth here
            assert abs(exact - numeric) <= 1e-3 * max(1, abs(numeric)), source
    return gradient.source


@pytest.mark.parametrize("seed", range(16))
def test_random_programs(monkeypatch, seed):
    compare(monkeypatch, seed)


def test_the_random_programs_are_such(monkeypatch):
    sources = [s for seed in range(24, 40) if (s := compare(monkeypatch, seed))]
    assert len(sources) > 8 and sum("_rows" in s for s in sources) > 3
