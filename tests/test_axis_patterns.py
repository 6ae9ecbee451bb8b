"""The functions of einops, compared with einops and with differences."""

from __future__ import annotations

import random

import einops
import numpy as np
import pytest
from einops import asnumpy, einsum, pack, parse_shape, rearrange, reduce, repeat, unpack

import srcgrad
from srcgrad import UnsupportedError
from srcgrad.testing import check_grads

X = np.random.default_rng(0).normal(size=(2, 6, 3))
W = np.arange(1.0, 73.0) % 7


def weighted(y):
    return np.sum(np.sin(y).ravel() * W[: y.size])


def attention(x):
    """Heads are taken apart and put together again."""
    q = rearrange(x, "b n (h d) -> b h n d", d=1)
    scores = einsum(q, q, "b h i d, b h j d -> b h i j")
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    out = einsum(weights, q, "b h i j, b h j d -> b h i d")
    return weighted(rearrange(out, "b h n d -> b n (h d)"))


def pooling(x):
    images = rearrange(x, "b (h w) c -> b h w c", h=2)
    coarse = reduce(images, "b h (w k) c -> b c h w", "max", k=3)
    return weighted(coarse) + weighted(reduce(images, "b h w c -> c", "mean"))


def broadcast(x):
    y = repeat(x, "b n c -> b (n r) c 1", r=2)
    return np.sum(y * repeat(np.arange(3.0), "c -> b n c 1", b=2, n=12))


def lists_of_arrays(x):
    rows = [x[0] ** 2, x[1], x[0] * x[1]]
    return weighted(rearrange(rows, "k n c -> n (k c)")) + weighted(
        reduce(rows, "k n c -> n", "prod")
    )


def packed(x):
    flat, shapes = pack([x, x[:, :, 0], x[:, 0, 0] ** 2], "b *")
    a, b, c = unpack(np.sin(flat), shapes, "b *")
    return np.sum(a**2) + np.sum(b) * np.sum(c) + flat[0, -1] * len(shapes)


def shapes(x):
    lengths = parse_shape(x, "b _ c")
    y = asnumpy(reduce(x, "... c -> c", np.sum)) * lengths["b"]
    return np.sum(y ** lengths["c"])


def for_each_row(x):
    total = 0.0
    for row in x:
        total += np.sum(rearrange(row, "n c -> c n") @ rearrange(row, "(a b) c -> (b a) c", a=3))
    return total


PROGRAMS = [attention, pooling, broadcast, lists_of_arrays, packed, shapes, for_each_row]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_program(f):
    assert srcgrad.value_and_grad(f)(X)[0] == pytest.approx(f(X), rel=1e-12)
    check_grads(f, (X,))


def test_the_source_is_what_one_would_write():
    def f(x):
        return np.sum(rearrange(x, "b (h w) c -> b c h w", h=2) ** 2)

    gradient = srcgrad.grad(f)
    gradient(X)
    assert ".reshape(" in gradient.source and ".transpose((0, 3, 1, 2))" in gradient.source
    assert "einops" not in gradient.source


def test_a_length_that_is_not_known_is_refused():
    def f(x):
        return np.sum(rearrange(x, "b (h w) c -> b c h w"))

    with pytest.raises(einops.EinopsError):
        f(X)
    with pytest.raises((UnsupportedError, ValueError), match=r"h.* aren't known"):
        srcgrad.grad(f)(X)


def random_pattern(r):
    """A function's name, a pattern for three axes, and the lengths that it needs."""
    names = ["b", "n", "c"]
    left, lengths = list(names), {}
    if r.random() < 0.5:
        left[1] = r.choice(["(h w)", "(w h)", "(n 1)", "(1 h w)"])
        if "h" in left[1]:
            names[1:2] = ["h", "w"]
            lengths["h"] = r.choice([1, 2, 3, 6])
    if r.random() < 0.2:
        left, names, lengths = ["...", "c"], ["...", "c"], {}
    function = r.choice(["rearrange", "reduce", "repeat"])
    right = list(names)
    r.shuffle(right)
    if function == "reduce":
        right = right[: r.randint(0, len(right))]
    if function == "repeat":
        right.insert(r.randint(0, len(right)), "r")
        lengths["r"] = r.choice([1, 2])
    if len(right) > 1 and r.random() < 0.5:
        i = r.randrange(len(right) - 1)
        right[i : i + 2] = [f"({right[i]} {right[i + 1]})"]
    if r.random() < 0.3:
        right.insert(r.randint(0, len(right)), r.choice(["1", "()"]))
    return function, " ".join(left) + " -> " + " ".join(right), lengths


@pytest.mark.parametrize("seed", range(36))
def test_random_patterns(seed):
    r = random.Random(seed)
    function, pattern, lengths = random_pattern(r)
    how = (r.choice(["sum", "mean", "max", "min", "prod"]),) if function == "reduce" else ()
    called = getattr(einops, function)

    def f(x):
        return called(x, pattern, *how, **lengths)

    expected = f(X)
    out, pullback = srcgrad.vjp(f, X)
    assert np.shape(out) == np.shape(expected), pattern
    np.testing.assert_array_equal(out, expected, err_msg=pattern)
    cotangent = np.cos(np.arange(1.0, 1.0 + out.size)).reshape(out.shape)
    (found,) = pullback(cotangent)
    step = np.random.default_rng(seed).normal(size=X.shape)
    slope = np.sum(cotangent * (f(X + 1e-6 * step) - f(X - 1e-6 * step))) / 2e-6
    assert np.sum(found * step) == pytest.approx(slope, rel=1e-6, abs=1e-6), pattern
