"""Arithmetic in fewer calls: what is written, that it is right, and where it is as exact."""

import linecache
import random
import warnings

import numpy as np
import pytest

import srcgrad
import srcgrad.units as units
from tests.test_normal import ARGUMENTS, Expressions
from tests.test_simplify import body

X = np.array([0.5, -1.5, 2.0, 0.25])
Y = np.array([1.0, 0.0, 0.3, 1.0])


def logistic(z, y):
    p = 1 / (1 + np.exp(-z))
    return -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p))


def test_the_gradient_of_a_logistic_loss():
    assert body(logistic, X, Y)[-2:] == [
        "np.divide(1.0, p, out=p)",
        "return np.subtract(p, y, out=p)",
    ]
    np.testing.assert_allclose(srcgrad.grad(logistic)(X, Y), 1 / (1 + np.exp(-X)) - Y, rtol=1e-15)


def test_with_the_value_the_gradient_is_the_same():
    gradient = srcgrad.value_and_grad(logistic)
    value, d_z = gradient(X, Y)
    assert value == logistic(X, Y)
    assert "np.subtract(p, y, out=p)" in gradient.source
    np.testing.assert_allclose(d_z, 1 / (1 + np.exp(-X)) - Y, rtol=1e-15)


@pytest.mark.parametrize("z", [-800.0, -40.0, -20.0, 20.0, 36.0])
def test_a_saturated_logistic_loss(z):
    """No NaN where a textbook's formula has none; exact to rounding errors of the labels."""
    z, y = np.full(4, z), np.array([0.0, 1.0, 0.25, 1.0])
    with np.errstate(all="ignore"):
        found = srcgrad.grad(logistic)(z, y)
    expected = [1 / (1 + np.exp(-a)) - b if a > -700 else -b for a, b in zip(z, y, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-16)


def test_a_sigmoid_stays_exact_where_it_saturates():
    """Nothing computes `1 - p` here: its derivative must not lose its digits to that."""

    def f(z):
        return np.sum(1 / (1 + np.exp(-z)))

    z = np.array([30.0, 38.0, 100.0])
    np.testing.assert_allclose(srcgrad.grad(f)(z), np.exp(-z) / (1 + np.exp(-z)) ** 2, rtol=1e-12)


def kept(x):
    e = np.exp(x)
    return e / e.sum(axis=1, keepdims=True)


def spread(x):
    e = np.exp(x)
    return e / np.sum(e, axis=1)[:, None]


def by_columns(x):
    e = np.exp(x)
    return e / e.sum(axis=0, keepdims=True)


def of_all(x):
    e = np.exp(x[0])
    return (e / e.sum())[None]


@pytest.mark.parametrize("shares", [kept, spread, by_columns, of_all])
@pytest.mark.parametrize("factor", [1.0, 3.0])
def test_the_adjoint_of_a_softmax(shares, factor):
    """`(d_p - sum(d_p * p)) * p`: nothing is divided by the sum again."""

    def f(x, w):
        p = shares(x)
        return factor * np.sum((p * p) @ w)

    x, w = np.random.default_rng(0).normal(size=(2, 3, 4))
    lines = body(f, x, w.T)
    assert sum("divide" in line or "/" in line for line in lines) == 1, lines
    p, axis = shares(x), {by_columns: 0}.get(shares, 1)
    d_p = 2 * factor * p * w.T.sum(axis=1)
    expected = np.zeros(x.shape)
    expected[: len(p)] = p * (d_p - (d_p * p).sum(axis=axis, keepdims=True))
    np.testing.assert_allclose(srcgrad.grad(f)(x, w.T), expected, rtol=1e-12, atol=1e-15)


def test_products_of_the_same_are_collected():
    def f(x):
        return np.sum(np.tanh(x + 0.1 * x * x * x))

    lines = body(f, X)
    assert sum("*" in line or "+" in line for line in lines) <= 7
    slope = 1 - np.tanh(X + 0.1 * X**3) ** 2
    np.testing.assert_allclose(srcgrad.grad(f)(X), slope * (1 + 0.3 * X * X))


def test_factors_that_cancel():
    def f(x, s):
        u = x / s
        return np.sum(u * u * s)

    found = srcgrad.grad(f)(X, Y + 1)
    np.testing.assert_allclose(found, 2 * X / (Y + 1))


def test_differences_of_the_forward_sweep_are_kept():
    """`(x - m) / s` isn't `x / s - m / s`, though both of these are there."""

    def f(w, x, m, s):
        u, v = x / s, m / s
        return np.sum(w * (x - m) / s) + np.sum(u * v)

    m = np.full(4, 1e8)
    x, s = m + np.array([1e-3, 2e-3, 0.0, -1e-3]), np.full(4, 3.0)
    np.testing.assert_allclose(srcgrad.grad(f)(X, x, m, s), (x - m) / s, rtol=1e-15)


def test_quotients_dont_overflow_on_the_way():
    def f(x, a, b):
        return np.sum((x / a) * (x / b) * (a / b) * (x / a))

    x, big = np.array([1e200, 2e200]), np.array([3e200, 1e200])
    found = srcgrad.grad(f)(x, big, big)
    np.testing.assert_allclose(found, 3 * (x / big) ** 2 / big)


def test_what_a_loop_doesnt_change_stays_outside():
    def f(x, n):
        k = x * x * 0.5
        total = 0.0
        for _ in range(n):
            total = total + np.sum(np.sin(x) * k)
        return total

    k, d_k = X * X / 2, 3 * np.sin(X)
    np.testing.assert_allclose(srcgrad.grad(f)(X, 3), 3 * np.cos(X) * k + d_k * X)


def test_memory_written_later_is_not_read():
    def f(x):
        p = x * 2.0
        q = p / x
        total = np.sum(q * p * p / q)
        p *= 3.0
        return total + np.sum(p * x)

    np.testing.assert_allclose(srcgrad.grad(f)(X), 8 * X + 12 * X)


def test_float32_and_numbers():
    found = srcgrad.grad(logistic)(X.astype(np.float32), Y.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-X)) - Y, rtol=1e-5)

    def g(x: float, y: float) -> float:
        p = 1 / (1 + np.exp(-x))
        return -(y * np.log(p) + (1 - y) * np.log(1 - p))

    assert srcgrad.grad(g)(0.3, 0.25) == pytest.approx(1 / (1 + np.exp(-0.3)) - 0.25)
    assert isinstance(srcgrad.grad(g)(0.3, 0.25), float)


class Elementwise:
    """Writes arithmetic whose gradient has much to collect: quotients, powers, complements."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = ["x", "y", "z", "c"]

    def expression(self, depth):
        r = self.random
        if depth == 0:
            return r.choice(self.names)
        a, b = self.expression(depth - 1), self.expression(r.randint(0, depth - 1))
        return r.choice(
            [
                f"{a} * {b}", f"({a} + {b})", f"({a} - {b})", f"{a} / (2.5 + {b} * {b})",
                f"1 / (1 + np.exp(-{b}))", f"(1 - {a}) * {b}", f"np.tanh({a}) * {b}",
                f"{a} * {a} * {b}", f"0.5 * {a}", f"np.log(1.5 + {b} * {b}) * {a}",
                f"np.where({a} > 0.9, {b}, {a})", f"{a} / np.sqrt(2 + {b} * {b})",
            ]
        )  # fmt: skip

    def source(self):
        r, lines = self.random, []
        for i in range(r.randint(2, 5)):
            name = f"v{i}"
            lines.append(f"    {name} = ({self.expression(r.randint(1, 2))})")
            if r.random() < 0.3:
                lines.append(f"    {name} = 1 / (1 + np.exp(-{name}))")
                lines.append(f"    w{i} = np.log(1 - {name}) * {r.choice(self.names)}")
                self.names.append(f"w{i}")
            self.names.append(name)
        last = [n for n in self.names if n not in "xyzc"][-3:]
        total = " + ".join(f"np.sum({n} * {r.choice(self.names)})" for n in last)
        return "\n".join(["def program(x, y, z, c):", *lines, f"    return {total}", ""])


def compiled(source, name):
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {"np": np}
    exec(compile(source, name, "exec"), namespace)
    return namespace["program"]


@pytest.mark.parametrize("seed", range(60))
def test_random_arithmetic(seed, monkeypatch):
    """With and without the passes, on arrays of different shapes and on equal ones."""
    writer = Elementwise(seed) if seed % 3 else Expressions(seed)
    source = writer.source()
    rng = np.random.default_rng(seed)
    same = tuple(rng.uniform(0.5, 1.5, 4) for _ in range(3))
    arguments = ARGUMENTS if seed % 3 == 0 or seed % 2 else (*same, 0.75)
    both = []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for turn in range(2):
            f = compiled(source, f"<restructure {seed} {turn}>")
            both.append(srcgrad.grad(f, argnums=(0, 1, 2, 3))(*arguments))
            for name in ("cancel", "restructure"):
                monkeypatch.setattr(units, name, lambda function: False)
    for found, plain in zip(*both, strict=True):
        assert np.shape(found) == np.shape(plain)
        if np.isfinite(plain).all():
            scale = np.max(np.abs(plain))
            np.testing.assert_allclose(found, plain, 1e-9, 1e-9 * scale, err_msg=source)


@pytest.mark.parametrize("c", [1e200, 1e-200])
def test_powers_of_constants_that_no_float_holds(c):
    def cubes(x):
        return np.sum((c * x) ** 3) * c

    with np.errstate(all="ignore"):
        gradient = srcgrad.grad(cubes)(np.array([0.5, 2.0]))
    np.testing.assert_array_equal(gradient, [np.inf, np.inf] if c > 1 else [0.0, 0.0])
