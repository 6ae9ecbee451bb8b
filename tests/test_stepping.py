"""Generators that are asked for their items one by one, and go on where they stopped."""

import itertools

import numpy as np
import pytest

import srcgrad
from tests.small_programs import X, check, differences, programs

ROWS = np.arange(24.0).reshape(8, 3) / 10 - 1


def batches(rows, size):
    while True:
        for start in range(0, len(rows), size):
            yield rows[start : start + size]


def training(x):
    loader, w = batches(ROWS, 3), x[:3]
    for _ in range(5):
        batch = next(loader)
        w = w - 0.1 * batch.T @ np.tanh(batch @ w)
    return w @ w


class Trainer:
    def __init__(self, w):
        self.w, self.shuffled = w, np.random.default_rng(0).permutation(8)
        self.loader = self.batches()

    def batches(self):
        start = 0
        while True:
            yield ROWS[self.shuffled[start : start + 2]]
            start = (start + 2) % 8

    def step(self):
        residual = next(self.loader) @ self.w - 1
        self.w = self.w - 0.1 * residual.sum()
        return residual @ residual


def training_by_a_class(x):
    trainer = Trainer(x[:3])
    return sum([trainer.step() for _ in range(6)])


def geometric(value, factor):
    while True:
        yield value
        value = value * factor


def interleaved(x):
    generators = [geometric(x[0], x[1]), geometric(x[1], 0.5)]
    total = 0.0
    for _ in range(len(x)):
        for generator in generators:
            total += next(generator) ** 2
    return total


def several_yields(x):
    def items():
        q = x[0]
        yield q
        for i, v in enumerate(x):
            if v > 0:
                yield q * v * i
                q = q + v
            elif i > 1:
                return
            else:
                for a, b in zip(x, x[::-1], strict=False):
                    yield a * b
        yield q

    given, total = items(), 0.0
    first = next(given)
    for _ in range(4):
        total = total * 0.9 + next(given) * first
    for item in given:
        total += np.sin(item)
    return total + next(given, x[1])


def until_it_stops(x):
    def items():
        yield from x * x

    squares, total = items(), 0.0
    while True:
        try:
            total += next(squares)
        except StopIteration:
            return total


def sent(x):
    def mean():
        total, count, value = 0.0, 0, 0.0
        while True:
            item = yield value
            total += item
            count += 1
            value = total / count

    means = mean()
    next(means)
    return sum([np.sin(means.send(v)) for v in x])


def pipeline(x):
    def squares(values):
        for value in values:
            yield value * value

    items, total = squares(geometric(x[0], x[1])), 0.0
    for _ in range(3):
        total += next(items)
    return total


def as_late_as_in_python(x):
    buffer = x.copy()

    def items():
        for k in itertools.count():
            yield buffer[k % 3]
            buffer[k % 3] *= x[2]

    given, total = items(), 0.0
    for k in range(6):
        total += next(given) * buffer[(k + 1) % 3]
        buffer[(k + 1) % 3] += total
    return total


def asked_by_zip(x):
    first, second = geometric(x[0], x[1]), geometric(x[2], 0.5)
    next(first)
    total = 0.0
    for k, a, b in zip(range(3), first, second):  # noqa: B905
        total += k * a * b
    return total + next(first)


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_it_gives_the_derivatives(f):
    check(f)


@pytest.mark.parametrize("count", [0, 1, 4])
def test_second_derivatives(count):
    def f(x):
        items, total = geometric(x[0], x[1]), x[2]
        for _ in range(count):
            total = np.sin(total * next(items))
        return total

    d = np.array([0.3, -0.2, 0.5])
    gradient = srcgrad.grad(f)
    expected = (gradient(X + 1e-5 * d) - gradient(X - 1e-5 * d)) / 2e-5
    np.testing.assert_allclose(srcgrad.hvp(f)(X, d), expected, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(srcgrad.jvp(f, (X,), (d,))[1], differences(f) @ d, rtol=1e-6)


def test_one_that_is_used_up():
    def f(x):
        def once():
            yield x[0]

        items = once()
        return next(items) * next(items)

    with pytest.raises(StopIteration):
        srcgrad.grad(f)(X)


@pytest.mark.parametrize("rows", [0, 1, 4])
def test_what_stands_in_for_a_first_item_that_is_not_there(rows):
    """Its shape isn't that of the items, which it takes only where there is none."""

    def f(w, xs):
        def products():
            i = 0
            while True:
                if i >= len(xs):
                    return
                yield w @ xs[i]
                i += 1

        given = products()
        first = next(given, w[0])
        states = [first]
        for v in given:
            states.append(v * first)
        return np.sum(np.array(states) ** 2)

    rng = np.random.default_rng(0)
    w, xs = rng.normal(size=(2, 2)), rng.normal(size=(rows, 2))
    d = rng.normal(size=w.shape)
    slope = (f(w + 1e-6 * d, xs) - f(w - 1e-6 * d, xs)) / 2e-6
    np.testing.assert_allclose(np.sum(srcgrad.grad(f)(w, xs) * d), slope, rtol=1e-6)
