"""Slices and copies of lists made in loops, differentiated once, twice and three times."""

import numpy as np
import pytest

import srcgrad

X = np.array([0.7, 1.2, -0.4, 0.9, 1.6])
ALONG = np.array([0.3, -0.5, 0.7, 0.2, 0.4])


def made(x):
    items = []
    for v in x:
        items.append(v * v)
    return items


def strides(x):
    items = made(x)
    return sum(c * c for c in items[::2]) * sum(items[1::2])


def of_arrays(x):
    rows = []
    for v in x:
        rows.append(v * x)
    return sum(np.sum(row**3) for row in rows[1:])


def of_tuples(x):
    pairs = []
    for v in x:
        pairs.append((v, v * v))
    return sum(a * b * b for a, b in pairs[1:3])


def of_lists(x):
    rows = []
    for v in x:
        rows.append([v, v * v])
    return sum(row[0] * row[1] ** 2 for row in rows[2:])


def windows(x):
    items, total = made(x), 0.0
    for i in range(len(x) - 1):
        window = items[i : i + 2]
        total += window[0] * window[1] ** 2
    return total


def changed_copy(x):
    items = made(x)
    other = list(items)
    other.append(x[0])
    other[1] = other[1] * x[2]
    return sum(a * b for a, b in zip(items, other, strict=False)) + other[-1] ** 3


def slice_of_a_slice(x):
    items = made(x)
    part = items[1:]
    return sum(a * b * b for a, b in zip(part, part[:-1], strict=False))


def shrinking(x):
    items = made(x)
    while len(items) > 1:
        items = [a * b + b for a, b in zip(items[1:], items, strict=False)]
    return items[0]


def changed_after(x):
    items = made(x)
    items[1] = items[0] * 2
    part = items[:3]
    items[0] = items[0] * part[1]
    return sum(a * b for a, b in zip(items[:3], part, strict=True))


def last_three(x):
    items = []
    for v in x:
        items.append(v * v)
        if len(items) > 3:
            items = items[1:]
    return items[0] * items[1] ** 2 * items[2]


def popped_and_sorted(x):
    items = made(x)
    a, b = items.pop(), items.pop(0)
    return sum(c**3 for c in sorted(items)[1:]) * a * b


@pytest.mark.parametrize(
    "function",
    [
        strides, of_arrays, of_tuples, of_lists, windows, changed_copy, slice_of_a_slice,
        shrinking, changed_after, last_three, popped_and_sorted,
    ],
)  # fmt: skip
def test_higher_derivatives_of_parts_of_lists(function):
    gradient, hvp = srcgrad.grad(function), srcgrad.hvp(function)

    def inner(x):
        return np.sum(srcgrad.grad(function)(x) * ALONG)

    def along(x):
        return np.sum(srcgrad.hvp(function)(x, ALONG) * ALONG)

    steps = 1e-6 * np.eye(X.size)
    first = [(function(X + h) - function(X - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(gradient(X), first, rtol=1e-6, atol=1e-7)
    second = (gradient(X + 1e-6 * ALONG) - gradient(X - 1e-6 * ALONG)) / 2e-6
    np.testing.assert_allclose(hvp(X, ALONG), second, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(srcgrad.grad(inner)(X), hvp(X, ALONG), rtol=1e-9, atol=1e-12)
    third = [(along(X + h) - along(X - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(srcgrad.grad(along)(X), third, rtol=1e-5, atol=1e-5)


def replaced(x, n, m):
    items = made(x)
    items[n:m] = [x[0], x[1]]
    return items


def deleted(x, n, m):
    items = made(x)
    del items[n:m]
    items.append(x[0])
    return items


def replaced_in_a_loop(x, n, m):
    items = made(x)
    for _ in range(2):
        i = len(items) // 2
        items[i : i + 1] = [items[i] * x[0], items[i] * 2]
    items[n:m] = []
    return items


def by_itself(x, n, m):
    items = made(x)
    other = items
    items[n:m] = other[m:n]
    return other


@pytest.mark.parametrize("n", [0, 1, -2, 7, -9])
@pytest.mark.parametrize("m", [0, 3, -1, 9])
@pytest.mark.parametrize("program", [replaced, deleted, replaced_in_a_loop, by_itself])
def test_slices_that_only_the_run_bounds(program, n, m):
    def weighed(x, n, m):
        return sum((i + 1) * v for i, v in enumerate(program(x, n, m)))

    value, gradient = srcgrad.value_and_grad(weighed)(X, n, m)
    assert value == pytest.approx(weighed(X, n, m))
    step = 1e-6 * ALONG
    slope = (weighed(X + step, n, m) - weighed(X - step, n, m)) / 2e-6
    np.testing.assert_allclose(gradient @ ALONG, slope, rtol=1e-6, atol=1e-7)
