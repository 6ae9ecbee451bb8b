"""Rows of few components are laid out by component, where nobody can tell."""

import numpy as np
import pytest

from srcgrad import grad, hvp, value_and_grad, vjp
from srcgrad.testing import check_grads
from tests.test_simplify import body

RNG = np.random.default_rng(0)
TABLE = RNG.uniform(0.5, 1.5, (4, 7))
INDEX = np.array([0, 3, 3, -2, 1])
SEEN = RNG.normal(size=(5, 2))


def seen_from(table, index, seen):
    row = table[index]
    p = row[:, 0:3]
    axis = row[:, 3:6] / np.sqrt(np.sum(row[:, 3:6] ** 2, axis=1, keepdims=True))
    turned = p * row[:, 6:7] + np.cross(axis, p) + axis * np.sum(axis * p, axis=1, keepdims=True)
    return np.sum((turned[:, :2] / turned[:, 2:] - seen) ** 2)


def springs(table, index, seen):
    a, b = table[index][:, :2], table[index[::-1]][:, :2]
    d = b - a
    length = np.sqrt(np.sum(d * d, axis=1) + 0.1)
    force = np.where((d > 0) & (length > 0.5)[:, None], d, 0.1 * d) / length[:, None]
    return np.sum(force * seen) + np.max(length)


def changed(table, index, seen):
    row = table[index]
    row[:, 0] *= 2.0
    row[1:, 1:3] += row[:-1, 1:3] * row[1:, 0:1]
    seen = np.array(seen)
    total = np.sum(row[:, :2] * seen)
    seen[0] = 3.0
    return total + np.sum(np.sin(row[:, 1:3] - seen))


@pytest.mark.parametrize("f", [seen_from, springs, changed])
def test_what_is_gathered_lies_by_components(f):
    lines = body(f, TABLE, INDEX, SEEN)
    assert any("table.T.take(" in line for line in lines), lines
    for index in (INDEX, INDEX.astype(np.int32), INDEX[:1]):
        args = TABLE, index, SEEN[: len(index)]
        check_grads(f, args, argnums=(0, 2), order=1)
        value, gradient = value_and_grad(f)(*args)
        assert value == f(*args)
        np.testing.assert_array_equal(gradient, grad(f)(np.asfortranarray(TABLE), *args[1:]))
    single = grad(f)(TABLE.astype(np.float32), INDEX, SEEN.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, grad(f)(TABLE, INDEX, SEEN), rtol=2e-4, atol=2e-4)
    assert np.all(grad(f)(TABLE, INDEX[:1], SEEN[:1])[1:] == 0)
    with pytest.raises(IndexError):
        grad(f)(TABLE, INDEX + 4, SEEN)


def between(table, index, points, weights):
    row = table[index]
    d = np.cross(points[index], row[:, 3:6])  # points of three components, as one call shows
    p = d[:, :2] / d[:, 2:]
    return np.sum((weights[:, None] * p * row[:, 6:7]) ** 2)


def test_arrays_of_lengths_that_are_known_lie_by_components_too():
    args = TABLE, INDEX, TABLE[:, :3] * 2, SEEN[:, 0]
    lines = body(between, *args)
    made = [line for line in lines if "np.zeros((5, " in line or "np.empty((5, " in line]
    assert made and all("order='F'" in line for line in made), lines
    check_grads(between, args, argnums=(0, 2, 3), order=1)


def worded(table, index, seen):
    near = table[index][:, :2]
    weights = np.full_like(near, 2.7, dtype=int)
    few = np.ones_like(near, None, "C", shape=(3, 2))
    across = np.cross(table[index][:3, :5], np.sin(table[:3, :5]), axis=0)
    return np.sum(near * weights * seen) * np.sum(few) + np.sum(across**2)


def test_arrays_and_cross_products_keep_the_words_of_their_own():
    check_grads(worded, (TABLE, INDEX, SEEN), argnums=(0, 2), order=1)
    value, _ = value_and_grad(worded)(TABLE, INDEX, SEEN)
    np.testing.assert_allclose(value, worded(TABLE, INDEX, SEEN), rtol=1e-14)


def test_derivatives_of_derivatives_and_pullbacks():
    v = RNG.normal(size=TABLE.shape)
    step = 1e-5
    moved = [grad(seen_from)(TABLE + s * step * v, INDEX, SEEN) for s in (1, -1)]
    found = hvp(seen_from)(TABLE, INDEX, SEEN, v)
    np.testing.assert_allclose(found, (moved[0] - moved[1]) / (2 * step), rtol=1e-6, atol=1e-6)
    _, pullback = vjp(lambda t: seen_from(t, INDEX, SEEN), TABLE)
    np.testing.assert_allclose(pullback(1.0)[0], grad(seen_from)(TABLE, INDEX, SEEN), rtol=1e-12)


def wide(table, index, w):
    return np.sum(np.tanh(table[index] @ w))


def loop(table, index, seen):
    row = table[index]
    total = 0.0
    for i in range(len(index)):
        total = np.sin(total + np.sum(row[i, :2] * row[i, 0]))
    return total * np.sum(row[:, 0:3] ** 2)


def flattened(table, index, seen):
    row = table[index][:, 0:3] * 2.0
    flat = row.reshape(-1)
    flat[1] = 3.0
    return np.sum(row**2 * row[:, :1])


@pytest.mark.parametrize(
    ("f", "other"), [(wide, np.linspace(-1.0, 1.0, 7)), (loop, SEEN), (flattened, SEEN)]
)
def test_what_may_be_wide_or_depend_on_the_layout_stays(f, other):
    assert not any(".take(" in line for line in body(f, TABLE, INDEX, other))
    check_grads(f, (TABLE, INDEX, other), argnums=0, order=1)
