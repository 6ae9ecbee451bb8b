"""Small programs that random rewrites of larger ones (`tests/metamorphic`) came down to."""

import collections
import contextlib
import functools
import itertools
import types

import numpy as np
import pytest

import srcgrad
from tests import small_programs

Pair = collections.namedtuple("Pair", ["value", "key"])


def list_of_a_list_or_none(x):
    cache, total = [[] for _ in range(2)], 0.0
    for t in x:
        y = np.array([1.0, 2.0]) * t
        for h in range(3):
            keys = cache[h] if h < len(cache) else None
            if keys is not None:
                keys.append(y)
                total = total + np.sum(keys[0] * y)
    return total


def lists_of_a_list_on_one_branch(x):
    cache, total = [([], []) for _ in range(2)], 0.0
    for t in x:
        for h in range(3):
            if h < 2:
                keys, values = cache[h]
            else:
                keys, values = None, None
            if keys is not None:
                keys.append(t)
                values.append(t * t)
                total = total + keys[0] * values[0]
    return total


def lists_of_a_list_by_next(x):
    cache, rows = [([], []) for _ in range(2)], []
    for t in x:
        y, heads = t * np.array([1.0, 2.0]), []
        it = iter(enumerate(cache))
        while (held := next(it, None)) is not None:
            h, (keys, values) = held
            keys.append(y)
            values.append(y * y + h)
            w = np.array([y @ key for key in keys])
            heads.append(sum(a * b for a, b in zip(w, values, strict=True)))
        rows.append(np.concatenate(heads))
    return np.mean(np.stack(rows))


def method_of_a_list_in_a_list(x):
    cache, total = [[] for _ in range(2)], 0.0
    for t in x:
        for keys in cache:
            add = keys.append
            add(t * t)
            total = total + sum(keys) * t
    return total


def class_made_in_a_loop(x):
    total = 0.0
    for k in range(3, len(x) + 40):

        class Items:
            def __init__(self, those):
                self.those = list(those)

            def __getitem__(self, place):
                return self.those[place] + k  # noqa: B023

        for i in Items(range(len(x))):
            total += x[i % 3] * x[k % 3] * 0.1
    return total


def namedtuple_made_in_a_loop(x):
    total = 1.0
    for k in range(len(x) + 40):
        Pair = collections.namedtuple("Pair", "old new")
        pair = Pair(total, x[k % 3])
        total = np.sin(pair.old) + pair.new
    return total


def dict_after_a_break(x):
    i, total = 2, 0.0
    while True:
        if i < 1:
            break
        choices = {i - 1: x[i - 1], i: x[i] ** 2}
        total += sum(choices.values()) * x[i]
        i -= 1
    return total


def dict_of_a_path(x):
    grid = np.outer(x, x)
    i, j = 2, 2
    path = [(2, 2)]
    while True:
        if not (i > 1 or j > 1):
            break
        choices = {(i - 1, j): grid[i - 1, j], (i, j - 1): grid[i, j - 1]}
        i, j = min(choices, key=choices.get)
        path.append((i - 1, j - 1))
    return sum(grid[p] for p in path)


def array_of_another_size_in_each_iteration(x):
    parts = [x]
    for _ in range(len(x) - 1):
        parts.append(parts[-1][::2])
    for a in parts:
        v = np.zeros(a.shape)
        for _ in range(len(x)):
            v = np.kron(v, np.ones(2))[: a.shape[0]]
        w = v
        for _ in range(len(x)):
            w = a * a
        v = v + w
    return np.mean(v)


def array_or_none_of_another_size_in_each_iteration(x):
    parts, v = [np.outer(x, x)], None
    for _ in range(len(x) - 1):
        parts.append(parts[-1][:-1, :-1] * 2.0)
    for a in parts[:-1]:
        u = np.kron(np.ones(a.shape), np.ones((2, 2)))[: a.shape[0], : a.shape[1]]
        slope = np.gradient(a)[1]
        for _ in range(len(x)):
            v = slope * u
    return np.mean(v**2)


def array_of_the_iteration_before(x):
    total = 0.0
    for i in range(len(x) - 1):
        a = x[: i + 1]
        u = np.zeros(a.shape)
        for _ in range(1):
            u = np.kron(u, np.ones(2))[: a.shape[0]] + a
        w = u
        for _ in range(len(x) - 1):
            w = a * w[:1]
        if i > 0:
            total = total + np.sum(np.sin(v) * (u + w))  # noqa: F821
        v = u + w  # noqa: F841
    return total


def dict_returned_from_a_loop_of_one(x):
    def made():
        where = {}
        for i in range(len(x)):
            where[i, i] = i, x[i]
        for _ in range(1):
            return x * 2, where

    doubled, _where = made()
    return np.sum(doubled**2)


def next_of_what_has_no_name(x):
    total = next(map(np.sin, [x[0]])) + next(itertools.islice(x, 1, None)) ** 2
    for i in range(len(x)):
        total = total + next(enumerate(x[::-1]))[1] * x[i] + next(zip(x, x, strict=True))[1] ** 2
    return total + next(filter(lambda v: v > 0.5, x)) * next(reversed(x))


def starred_generators(x):
    kept = []
    for v in x:
        if v > 0.4:
            kept.append(v * v)
    first = [*(v for v in kept)][::-1]
    mixed = [*reversed(kept), *filter(lambda v: v > 0.5, kept), x[0], *map(np.sin, x)]
    return sum(first) * first[0] + mixed[0] * mixed[2] + sum(mixed)


def methods_of_containers(x):
    d = {"a": x[0], "b": [x[1], x[2]]}
    total = d.__getitem__("a") * d.get("b").__getitem__(-1) + len((x[0], x[1])) * x[1]
    if d.__contains__("a"):
        total = total * d.__len__() * (x[2],).__mul__(2).__getitem__(1)
    kept = []
    for v in x:
        if v > 0.4:
            kept.append(v * v)
    for v in kept.__iter__():
        total = total + v * kept.__len__() * x.__len__()
    return total * kept.__getitem__(-1) + d["b"].__add__([x[0]])[2]


def named_as_the_parameters_of_builtins(x):
    d = dict(value=[("k", x[0])], self=x[1])  # noqa: C408
    d.update(other={"a": x[2]}, value=d["value"] + [("l", x[1])])
    counts = collections.Counter(value=1.0, self=2.0)
    counts.update(other=x[0], value=x[1])
    call = functools.partial(lambda function, self: function * self, function=x[0])
    total = d["value"][0][1] * d["self"] + d["other"]["a"] * len(d)
    return total + counts["other"] * counts["value"] + call(self=x[2]) * Pair(x[0], key=x[1]).key


@contextlib.contextmanager
def scaled(function, method):
    yield function * method


def named_as_the_parameters_of_managers(x):
    with scaled(function=x[0], method=x[1]) as product:
        return product * x[2]


def filled(a, value):
    a[1:] = value
    return a


def recursion_that_writes_and_returns_constants(x):
    b, p, c, d = np.zeros(4), np.zeros(4), np.ones(2), np.ones(3)
    e, f = c, d

    def step():
        nonlocal b, p, e, f
        e, f = c.copy(), d.copy()
        b = filled(b, x[0])
        p = filled(p, b[1:] * x[1])

    def loop(those):
        if those:
            step()
            loop(those[1:])

    loop(list(range(len(x))))
    return np.sum(p) * x[2]


def recursion_that_writes_arrays_made_alike(x):
    b, p, v = np.zeros(4), np.zeros(4), np.zeros(4)

    def loop(those):
        nonlocal b, p
        if those:
            b = filled(b, x[0])
            p = filled(p, b[1:])
            v[1] = 0
            loop(those[1:])

    loop(list(range(len(x))))
    return x[1] * np.sum(v) + np.sum(p)


def comprehensions_of_a_name_of_their_own(x):
    k = x
    items = {k: v * v for k, v in enumerate(k)}
    total = sum([k * k for k in k]) + sum(k for k in k) * items[1]
    return total + sum(v for k in [k] for v in k) * sum({k: k for k in range(len(k))}.values())


def comprehension_that_assigns_an_attribute(x):
    state, found = types.SimpleNamespace(), {}

    def step(v):
        return v * state.t * x[0]

    total = sum(step(v) for state.t, v in enumerate(x))
    return total + sum([found["a"] * v for found["a"], v in zip(x, x[::-1], strict=True)])


def dict_by_a_count(x):
    found, pairs = {}, {}
    for i in itertools.count():
        if i >= len(x):
            break
        found[i] = x[i] ** 2
    for i in itertools.islice(itertools.count(), len(x)):
        pairs[i, i] = found[i] * x[0]
    return found[1] * pairs[2, 2]


@pytest.mark.parametrize("f", small_programs.programs(globals()), ids=lambda f: f.__name__)
def test_gradients_are_those_of_differences(f):
    small_programs.check(f)


def test_how_many_arguments_are_named_as_those_of_a_builtin():
    def count(x):
        return x[0] * len(dict(value={"a": 1, "b": 2, "c": 3}))  # noqa: C408

    assert srcgrad.grad(count)(np.ones(2)).tolist() == [1.0, 0.0]


def test_what_is_no_iterator_has_no_next():
    def first(x):
        return x[0] * next(range(3))

    with pytest.raises((TypeError, srcgrad.UnsupportedError)):
        srcgrad.grad(first)(np.ones(2))
