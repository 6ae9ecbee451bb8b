"""Tuples of which only the run knows how long they are, and calls with as many arguments."""

import heapq
import itertools

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

from . import random_lengths
from .random_statements import assert_right

X = np.array([1.0, 0.5, 3.0])


def halves(x):
    path, w = (), x[0]
    while w > 0.1:
        path += (w,)
        w = w * x[1]
    return sum(path) * len(path) + path[-1] * path[0]


def frozen_list(x):
    found = [v for v in x if v > 0.7]
    kept = tuple(found)
    found.append(x[1])
    found[0] = 7.0
    return sum(kept) * sum(found)


def rows_of_arrays(x):
    rows = []
    for v in x:
        if v > 0.7:
            rows.append(np.array([v, v * v]))
    kept = tuple(rows)
    kept[0][0] *= 2.0
    for row in kept:
        row += x[1]
    return sum(r.sum() for r in rows) * rows[0][0]


def best_path(x):
    best = None
    for i in range(3):
        path, w = [], x[i]
        while w > 0.2:
            path.append(w)
            w = w * 0.6
        if best is None or sum(path) > sum(best):
            best = tuple(path)
    return sum(best) * len(best)


def in_halves(x):
    def product(items):
        if len(items) < 2:
            return sum(items)
        middle = len(items) // 2
        return product(items[:middle]) * product(items[middle:]) + items[0]

    return product(tuple(v for v in x if v > 0.3) * 2)


def with_shape(x):
    """A number joined to ints that the run counts: its derivative was lost."""
    chosen = []
    for i in range(3):
        if x[i] > 0.7:
            chosen.append(i)
    joined = (x[0] ** 2, *tuple(chosen))
    joined = (x[1],) + tuple(chosen) + joined  # noqa: RUF005
    return joined[0] * joined[3] * len(joined)


def as_index(x):
    where, w = (), x[2]
    while w > 1.0:
        where += (len(where),)
        w = w * 0.5
    return np.outer(x, x)[where] * np.zeros(tuple(n + 2 for n in where)).size * w


def spread_to_any(x):
    def mean(*values, scale=1.0):
        return scale * sum(values) / len(values)

    found = [v for v in x if v > 0.7]
    return mean(*found) * mean(x[1], *found, *found[1:], scale=x[0])


def spread_to_some(x):
    def g(a, b=0.5, c=0.25):
        return a * b + c**2

    total = 0.0
    for i in range(3):
        part, w = [], x[i]
        while w > 0.4 and len(part) < 3:
            part.append(w)
            w = w * 0.5
        total += g(*part)
    return total


class Shape:
    def __init__(self, *sides, unit=1.0):
        self.sides, self.unit = sides, unit

    def length(self, *more):
        return self.unit * (sum(self.sides) + max(0.2, *more))


def spread_to_objects(x):
    found = [v for v in x if v > 0.7]
    shape = Shape(*found, unit=x[1])
    return shape.length(*found) + shape.sides[-1] * sum(itertools.chain(*[found, shape.sides]))


def spread_to_ufunc(x):
    found = [v for v in x if v > 0.7]
    return np.hypot(*found) * float(np.arctan2(*found[:2]))


FUNCTIONS = [
    halves, frozen_list, rows_of_arrays, best_path, in_halves, with_shape, as_index,
    spread_to_any, spread_to_some, spread_to_objects, spread_to_ufunc,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_right(f):
    check_grads(f, (X,), order=1 if f is in_halves else 2)
    assert srcgrad.value_and_grad(f)(X)[0] == pytest.approx(f(X))


def test_returned():
    def f(x):
        return tuple(v * v for v in x if v > 0.7)

    out, pullback = srcgrad.vjp(f, X)
    assert out == (1.0, 9.0) and type(out) is tuple
    np.testing.assert_allclose(pullback((1.0, 0.5))[0], [2.0, 0.0, 3.0])
    with pytest.raises(TypeError, match="must be a tuple like the result, not a list"):
        pullback([1.0, 0.5])
    out, t_out = srcgrad.jvp(f, (X,), (np.ones(3),))
    assert (out, t_out) == ((1.0, 9.0), (2.0, 6.0))


def test_what_it_is_in_texts_and_tests(capsys):
    def f(x):
        found = tuple(v for v in x if v > 0.7)
        print("found", *found, sep=", ")
        text = "%g and %g" % found  # noqa: UP031
        same = (found == (1.0, 3.0), found < (1.0, 4.0), found == [1.0, 3.0], 3.0 in found)
        kind = isinstance(found, tuple), isinstance(found, list), type(found) is tuple
        return sum(found), (text, same, kind, str(found), found.index(3.0), found.count(1.0))

    _, aux = srcgrad.value_and_grad(f, has_aux=True)(X)[0]
    assert capsys.readouterr().out == "found, 1.0, 3.0\n"
    assert aux == f(X)[1]


def test_is_never_changed():
    def f(x):
        found = tuple(v for v in x if v > 0.7)
        try:
            found[0] = 3.0
        except TypeError:
            return found[0] * 2
        return found[0]

    assert srcgrad.grad(f)(X).tolist() == [2.0, 0.0, 0.0]

    def g(x):
        found = tuple(v for v in x if v > 0.7)
        found.append(x[0])
        return sum(found)

    with pytest.raises(srcgrad.UnsupportedError, match="'tuple' has no attribute 'append'"):
        srcgrad.grad(g)(X)


def test_too_few_and_too_many_arguments():
    def f(x, least):
        def two(a, b):
            return a * b

        found = []
        for v in x:
            if v > least:
                found.append(v)
        return two(*found)

    gradient = srcgrad.grad(f)
    assert gradient(X, 0.7).tolist() == [3.0, 0.0, 1.0]
    for least, message in (0.1, "more arguments than parameters"), (2.0, "fewer arguments"):
        with pytest.raises(TypeError):
            f(X, least)
        with pytest.raises(TypeError, match=message):
            gradient(X, least)


def test_refused():
    def which(x):
        found = tuple(v for v in x if v > 0.7)
        again = (*found,)
        return found[0] if found is again else found[1]

    with pytest.raises(srcgrad.UnsupportedError, match="whether these tuples are one object"):
        srcgrad.grad(which)(X)

    def growing(x):
        queue = [(0.0, ())]
        while queue:
            cost, path = heapq.heappop(queue)
            if len(path) == 3:
                return cost
            for step in (x[0], x[1]):
                heapq.heappush(queue, (cost + step, (*path, cost)))

    with pytest.raises(srcgrad.UnsupportedError, match="items of this list are of different kinds"):
        srcgrad.grad(growing)(X)


@pytest.mark.parametrize("first", range(0, 100, 20))
def test_random_programs(first):
    right = 0
    for seed in range(first, first + 20):
        text = random_lengths.program(seed)
        right += assert_right(text, seed, may_refuse=True)
    assert right >= 15
