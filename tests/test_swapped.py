"""Buffers that a loop swaps or hands round: their adjoints are swapped back."""

import linecache
import sys

import numpy as np
import pytest

from srcgrad import grad, value_and_grad
from srcgrad.testing import check_grads

from .random_buffers import Generator

X = np.sin(np.arange(1.0, 8.0))
PLATE = np.cos(np.arange(30.0)).reshape(5, 6)


def two(x, n):
    old, new = x.copy(), np.zeros_like(x)
    for _ in range(n):
        new[1:-1] = 0.5 * (old[2:] + old[:-2]) + 0.1 * old[1:-1] ** 2
        old, new = new, old
    return np.sum(old * x)


def three(x, n):
    """A wave: what was, what is, and what will be."""
    before, now, after = x.copy(), x.copy(), np.zeros(x.shape)
    for _ in range(n):
        after[1:-1] = 2 * now[1:-1] - before[1:-1] + 0.2 * (now[2:] - 2 * now[1:-1] + now[:-2])
        before, now, after = now, after, before
    return np.sum(now**2) + np.sum(before * after)


def until_it_rests(x, n):
    old = x.copy()
    new = old.copy()
    count = 0
    while True:
        inner = new[1:-1]
        np.add(old[:-2], old[2:], out=inner)
        np.multiply(inner, 0.5, out=inner)
        change = np.max(np.abs(new - old))
        old, new = new, old
        count += 1
        if change < 1e-2 or count > n:
            break
    return np.sum(old * x)


def two_names_for_one(x, n):
    a = x.copy()
    b = a
    for _ in range(n):
        b[1:-1] = 0.5 * (a[2:] + a[:-2])
        a, b = b, a
    return np.sum(a * b)


def in_two_loops(x, n):
    a, b = x.copy(), np.zeros_like(x)
    for _ in range(2):
        for _ in range(n):
            b[1:-1] = a[1:-1] * a[:-2]
            a, b = b, a
        a *= 0.5
    return np.sum(a) + np.sum(b * x)


def on_one_path(x, n):
    a, b = x.copy(), 0.5 * x
    for i in range(n):
        b[1:] += 0.3 * a[:-1] * a[1:]
        if i % 2 == 0:
            a, b = b, a
    return np.sum(a * b)


def seen_before(x, n):
    """A view from before the loop is of one of the two, whichever that is by then."""
    a, b = x.copy(), np.zeros_like(x)
    view = a[1:-1]
    for _ in range(n):
        b[1:-1] = 0.5 * view + a[2:]
        a, b = b, a
    return np.sum(a * b) + np.sum(view)


PROGRAMS = [
    two, three, until_it_rests, two_names_for_one, in_two_loops, on_one_path, seen_before
]  # fmt: skip


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("f", PROGRAMS)
def test_swapped(f, n):
    check_grads(lambda x: f(x, n), (X,))
    value, _ = value_and_grad(f)(X, n)
    assert value == f(X, n)


def jacobi(plate, n):
    old, new = plate.copy(), plate.copy()
    for _ in range(n):
        inner = new[1:-1, 1:-1]
        np.add(old[:-2, 1:-1], old[2:, 1:-1], out=inner)
        inner += old[1:-1, :-2] + old[1:-1, 2:]
        np.multiply(inner, 0.25, out=inner)
        old, new = new, old
    return np.sum(old**2)


def test_nothing_is_recorded_and_nothing_copied():
    check_grads(lambda plate: jacobi(plate, 3), (PLATE,))
    gradient = grad(jacobi)
    gradient(PLATE, 3)
    forward, _, backward = gradient.source.partition("# return np.sum(old**2)")
    assert "append" not in forward and "pop" not in backward
    assert "np.add(old[:-2, 1:-1], old[2:, 1:-1], out=inner)" in forward
    loop = backward[backward.index("for _ in range(n)") : backward.index("# old, new = plate")]
    assert "copy" not in loop and "d_inner *= 0.25" in loop
    assert "padded[1:-1, 1:-1] = d_inner" in loop  # added as to vectors


def one_array_twice(x, n):
    """What is taken out of a list may be what was put in before."""
    rows = []
    a = x.copy()
    for _ in range(n):
        rows.append(a)
    u, v = rows[0], rows[1]
    for i in range(1, len(x)):
        v[i] = u[i - 1] * 2 + x[i]
    for i in range(1, len(x)):
        a[i] += 0.5 * u[i - 1]
    return np.sum(v * x)


def test_what_a_list_holds_may_be_one_array():
    check_grads(lambda x: one_array_twice(x, 3), (X,))
    assert value_and_grad(one_array_twice)(X, 3)[0] == one_array_twice(X, 3)


def check_random(seed, shape, n):
    source = Generator(seed).program()
    name = f"<buffers {seed}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {"np": np}
    exec(compile(source, name, "exec"), space)
    x = 0.3 * np.random.default_rng(seed).standard_normal(shape)
    try:
        check_grads(lambda x: space["f"](x, n), (x,))
    except AssertionError as error:
        raise AssertionError(f"{source}\nseed {seed}, shape {shape}, n = {n}: {error}") from error


@pytest.mark.parametrize("seed", range(16))
def test_random_loops(seed):
    shape = [(6,), (5, 4)][seed % 2]
    check_random(seed, shape, seed % 3 + 1)


if __name__ == "__main__":  # python -m tests.test_swapped FIRST LAST
    for seed in range(*map(int, sys.argv[1:])):
        for shape in ((6,), (5, 4), (3,), (2, 3)):
            for n in (0, 1, 4):
                try:
                    check_random(seed, shape, n)
                except Exception as error:
                    print(seed, shape, n, type(error).__name__, error, flush=True)
                    break
