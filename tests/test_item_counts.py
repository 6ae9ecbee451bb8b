"""Lists built in loops, of which it is known how many items they have."""

import numpy as np
import pytest

from srcgrad import grad, value_and_grad
from srcgrad.testing import check_grads

RNG = np.random.default_rng(3)
W = 0.5 * RNG.normal(size=(3, 3))


def states(xs, w):
    hs = []
    for x in xs:
        hs.append(np.tanh(w @ x))
    return hs


def attended(xs, w):
    hs = states(xs, w)
    scores = np.exp(np.array([h @ hs[-1] for h in hs]))
    return np.sum(sum(a * h for a, h in zip(scores / np.sum(scores), hs, strict=False)) ** 2)


def summed_in_a_loop(xs, w):
    total = 0
    for h in states(xs, w):
        total = total + h * xs[0]
    return np.sum(total**2)


def cached(xs, w):
    cache = [([], []) for _ in range(2)]
    rows = []
    for x in xs:
        heads = []
        for h, (keys, values) in enumerate(cache):
            keys.append(w @ x)
            values.append(np.tanh(x) * (h + 1))
            scores = np.array([x @ key for key in keys])
            heads.append(sum(s * v for s, v in zip(scores, values, strict=True)))
        rows.append(np.concatenate(heads))
    return np.sum(np.stack(rows) ** 2)


def left_by_return(xs, w):
    hs = []

    def first():
        for x in xs:
            hs.append(w @ x)
            return

    first()
    return np.sum(np.array(hs) ** 2) * len(hs)


def left_by_break(xs, w):
    hs = []
    for x in xs:
        hs.append(w @ x)
        if x[0] > 0.5:
            break
    return np.sum(np.array(hs) ** 2) * len(hs)


def skipped(xs, w):
    hs = [w[0]]
    for x in xs:
        if x[0] > 0:
            continue
        hs.append(w @ x)
    return np.sum(sum(hs) ** 2) * len(hs)


def raised(xs, w):
    hs = []
    for x in xs:
        try:
            hs.append(np.tanh(w @ x))
            if x[0] > 0:
                raise ValueError
            hs.append(np.sin(w @ x))
        except ValueError:
            hs.append(x)
    return np.sum(np.array(hs) ** 2 * np.arange(len(hs))[:, None])


def as_long_as_before(xs, w):
    hs, before, total = [], np.zeros((1, 3)), 0.0
    for x in xs:
        hs.append(np.tanh(w @ x))
        now = np.array(hs)
        total = total + np.sum(now) * len(before) + np.sum(before[:1] * now[:1])
        before = now
        if len(hs) > 2:
            hs.pop(0)
    return total


def two_names(xs, w):
    hs = []
    alias = hs
    for x in xs:
        hs.append(np.tanh(w @ x))
        alias.append(x)
    return np.sum(np.stack(alias) ** 2) * len(hs)


def in_lists(xs, w):
    rows = [[] for _ in range(3)]
    first = rows[0]
    for i, x in enumerate(xs):
        rows[i % 3].append(w @ x)
        if len(first) > 1:
            first.pop()
    return sum(np.sum(np.array(r) ** 2) * len(r) for r in rows) + len(first) * np.sum(w)


def changed_after_it_was_made(xs, w):
    hs = states(xs, w)
    longer = [2 * h for h in hs] + [xs[0]]
    hs.insert(0, xs[0])
    hs.pop()
    return np.sum(np.array(longer)[1:] * np.array(hs)) + np.sum(np.array(longer)[:-1] * xs)


def repeated(xs, w):
    hs = states(xs, w)
    alias = hs
    hs *= 2
    return np.sum(np.array(alias) * np.concatenate([xs, xs])) + np.sum(np.array(3 * hs))


def of_lists_that_may_be_empty(xs, w):
    rows, kept = [], []
    for x in xs:
        kept.append(sum(a * b for a, b in zip(rows[1:], rows, strict=False)))
        rows.append(w @ x)
    return np.sum(np.stack([k + np.zeros(3) for k in kept]) ** 2)


def of_lists_that_are_empty(xs, w):
    never, often, total = [], [w[0]], np.sum(w)
    for x in xs:
        try:
            total = total + np.sum(sum(a * b for a, b in zip(never, often, strict=False)))
            if x[0] > 0:
                raise ValueError
        except ValueError:
            often.append(w @ x)
        if len(often) > 9:
            never.pop()
    return total * np.sum(sum(never) + sum(often))


PROGRAMS = [
    attended, summed_in_a_loop, cached, left_by_return, left_by_break, skipped, raised,
    as_long_as_before, two_names, in_lists, changed_after_it_was_made, repeated,
    of_lists_that_may_be_empty, of_lists_that_are_empty,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients(f):
    gradient = value_and_grad(f, argnums=(0, 1))
    for n in (5, 1):
        xs = RNG.normal(size=(n, 3))
        value, _ = gradient(xs, W)
        np.testing.assert_allclose(value, f(xs, W), rtol=1e-12)
        check_grads(f, (xs, W), order=1)


@pytest.mark.parametrize("f", [attended, summed_in_a_loop, cached])
def test_one_gradient_is_right_for_all_lengths(f):
    sources = set()
    for n in (5, 30, 150):
        gradient = grad(f)
        gradient(RNG.normal(size=(n, 3)), W)
        sources.add(gradient.source)
    assert len(sources) == 1 and sources.pop().count("\n") < 200


def test_an_array_of_a_list_is_as_long_as_the_loop():
    def f(xs, w):
        return np.sum(np.array(states(xs, w)) * xs)

    gradient = grad(f)
    gradient(RNG.normal(size=(5, 3)), W)
    assert "unbroadcast" not in gradient.source


def one_of_two_lists(x, y):
    first, second, third = [x], [], [y, x]
    for _ in range(len(x)):
        if x[0] > 0.3:
            first = second
        first.append(y)
    total = sum(np.sum(u * v) for u, v in zip(second, third, strict=False))
    return total + (x[1] if len(second) > 0 else x[2] ** 2) + len(first) * x[0]


def one_or_the_other(x, y):
    made, others = [], []
    for k in range(len(x)):
        chosen = made if x[k] > 0.45 else others
        chosen.append(y * x)
    total = x[1] if len(made) == len(x) else x[2] ** 2
    return total + sum(np.sum(v) for v in made) + 2 * sum(np.sum(v) for v in others)


@pytest.mark.parametrize("f", [one_of_two_lists, one_or_the_other], ids=lambda f: f.__name__)
@pytest.mark.parametrize("first", [0.1, 0.5])
def test_what_is_appended_to_one_of_two_lists(f, first):
    x, y = np.array([first, 0.7, 0.8]), np.array([0.3, 0.4, 0.5])
    assert value_and_grad(f)(x, y)[0] == pytest.approx(f(x, y), rel=1e-14)
    check_grads(f, (x, y), argnums=(0, 1))
