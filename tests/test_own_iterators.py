"""Iterators of the user's own classes: no more of their items are taken than are asked for."""

import itertools

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads
from tests.small_programs import X, check, programs

Y = np.array([0.126, -0.535, 1.304, -1.265, -1.193])


class Items:
    def __init__(self, items):
        self.items, self.position = items, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.position >= len(self.items):
            raise StopIteration
        self.position += 1
        return self.items[self.position - 1]


def shifted(shift):
    return np.concatenate([Y + shift[0], shift])


class ByIndex:
    """What Python goes through by its indices, until there is none."""

    def __init__(self, items):
        self.items = items

    def __getitem__(self, index):
        if index > 2:
            raise IndexError(index)
        return self.items[index] ** 2


def gone_through_by_index(x):
    things, total = ByIndex(shifted(x)), 0.0
    for i, v in enumerate(things):
        total += v * (i + 1)
    return total + max(ByIndex(x)) + sum(a * b for a, b in zip(things, x, strict=True))


def value_of_a_generator_that_is_done(x):
    def averaged():
        total, count = 0.0, 0
        while True:
            v = yield total
            if v is None:
                return total / count
            total, count = total + v * v, count + 1

    averages, total = averaged(), 0.0
    next(averages)
    for v in x:
        total = averages.send(v)
    try:
        averages.send(None)
    except StopIteration as done:
        return done.value + total * x[0]


def left_by_return(x):
    t = 0.0
    for v in Items(shifted(x)):
        if v < -0.6:
            return t * v
        t += v * v
    return t


def left_by_break(x):
    t = 0.0
    for v in Items(shifted(x)):
        if t > 0.9:
            break
        t += v * v
    else:
        t *= 10.0
    return t * v


def rest_after_any(x):
    items = Items(shifted(x))
    found = any(v < -0.6 for v in items)
    return sum(items) * found + items.position * x[0]


def rest_after_enumerate(x):
    items, t = Items(shifted(x)), 0.0
    for i, v in enumerate(items):
        if i == 1:
            break
        t += v
    for v in items:
        t += v * v
    return t * items.position


def rest_after_map(x):
    items, t = Items(shifted(x)), 0.0
    for v in map(np.exp, items):
        t += v
        if items.position == 2:
            break
    return t * sum(items)


def rest_after_islice(x):
    items = Items(shifted(x))
    return sum(itertools.islice(items, 2)) * sum(items)


def rest_after_next(x):
    items = Items(shifted(x))
    return next(items) * next(items) ** 2 * sum(v**3 for v in items)


def asked_first_by_zip(x):
    items, t = Items(shifted(x)), 0.0
    for a, b in zip(items, [1.0, 2.0], strict=False):
        t += a * b
    return t + sum(items)


def whole(x):
    y = shifted(x)
    t = sum(list(Items(y))) * max(Items(y)) + min(Items(y)) * len(list(Items(y)))
    t += sorted(Items(y))[1] * np.array(list(Items(y))).prod()
    return t + sum(a * b for a, b in itertools.pairwise(Items(y)))


class Quaternion:
    def __init__(self, w, v):
        self.w, self.v = w, np.asarray(v)

    def __iter__(self):
        yield self.w
        yield from self.v


class Points:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)


def unpacked(x):
    w, a, b, *others = Quaternion(2.0, np.sin(x))
    p, *q = Points(x[x > -10.0])
    return w * a * b + sum(others) + p * q[0]


def spread_over_parameters(x):
    first = tuple(Quaternion(2.0, x))[1]
    return np.hypot(*Quaternion(x[0], x[1:2])) * first + np.prod([*Quaternion(2.0, x)])


def spread_after_extend(x):
    items = [2.0]
    items.extend(x)
    return np.hypot(*items[:2]) * max(*items)


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_it_gives_the_derivatives(f):
    check(f)
    alone = srcgrad.grad(f)(X.copy())
    np.testing.assert_allclose(alone, srcgrad.value_and_grad(f)(X.copy())[1], rtol=1e-12)


class Weights:
    """Other numbers by position, forwards and backwards."""

    def __init__(self, values):
        self.values = list(values)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        return self.values[i] * 2

    def __iter__(self):
        return iter(self.values)


class TwiceBackwards(Weights):
    def __reversed__(self):
        for v in self.values:
            yield v * v
            yield v * 3


OUTSIDE, OUTSIDE_TWICE = Weights([0.5, 1.5]), TwiceBackwards([2.5, 0.5])


def test_reversed_asks_the_class():
    def f(x):
        total = 0.0
        for things in (Weights(x), TwiceBackwards(x), OUTSIDE, OUTSIDE_TWICE):
            for v in reversed(things):
                total = total * x[0] + v * x[1]
        return total + next(reversed(TwiceBackwards(x))) + next(reversed(Weights(x)))

    check_grads(f, (np.array([0.4, 0.7]),))


class Doubling:
    def __init__(self, value):
        self.value, self.count = value, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.value, self.count = self.value * 2, self.count + 1
        if self.count > 3:
            raise StopIteration
        return self.value


def test_map_asks_in_turn():
    """As `zip` does, for no more items than it needs."""

    def f(x):
        a, b, c, d = Doubling(x[0]), Doubling(x[1]), Doubling(x[0]), Doubling(x[2])
        total = sum(map(lambda u, v: u * v, [1.0], a)) + len(list(map(max, [], b)))
        total = total + sum(map(lambda u, v: u * v, c, [1.0, 2.0]))
        total = total + sum(map(lambda u, v, w: u * v + w, x[1:], d, d))
        return total * x[1] + a.value + b.value * 3 + c.value * x[0] + d.value

    check(f)
