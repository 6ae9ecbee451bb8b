"""What is taken out of tuples in lists is taken out at once; loops in loops have other indices."""

import numpy as np
import pytest

import srcgrad

from . import random_lists
from .small_programs import X, check, programs


def energy(x):
    bodies = []
    for i in range(20):
        bodies.append((x[i % 3] + i, x[1] * i, 1.0 + x[2]))
    total = 0.0
    for a, b, mass in bodies:
        for other_a, other_b, other in bodies:
            total += mass * other / ((a - other_a) ** 2 + (b - other_b) ** 2 + 0.1)
    return total


def one_of_three(x):
    rows = []
    for i in range(20):
        rows.append((x[0] * i, x[1], x[2]))
    total = 0.0
    for row in rows:
        total += row[1] ** 2
    return total


def blank(x):
    _ = x[0]
    rows = []
    for i in range(20):
        rows.append((x[0] * i, x[1], x[2] + i))
    for row in rows:
        _ = _ * 0.5 + row[0] * row[2]
    return _


def tuple_used_whole(x):
    rows = []
    for i in range(20):
        rows.append((x[0] * i, x[1] + i))
    kept, total = [], 0.0
    for row in rows:
        total += row[0] * row[1]
        kept.append(row)
    return total + kept[3][1] ** 2


def rebound_in_between(x):
    rows = []
    for i in range(20):
        rows.append((x[0] * i, x[1] + i))
    total = 0.0
    for i in range(19):
        a = rows[i][0]
        rows[i] = rows[i + 1]
        total += a * rows[i][1]
    return total


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_gradient(f):
    check(f)


def source(f):
    gradient = srcgrad.grad(f)
    gradient(X)
    return gradient.source


def test_text():
    text = source(energy)
    assert "for i in reversed(range(" in text and "for j in reversed(range(" in text
    assert "a, b, mass = bodies[i]\n" in text and "[0]" not in text.partition("for j")[2]
    assert "_, " not in source(one_of_three)


def test_loops_go_through_lists():
    def loss(p, rows, weights):
        total = 0.0
        for t, y in rows:
            total += p[0] * t * y
        for k in range(len(weights)):
            total += p[1] * weights[k]
        return total

    gradient = srcgrad.grad(loss)
    rows = [(0.1 * i, 1.0) for i in range(20)]
    np.testing.assert_allclose(gradient(X, rows, [0.5] * 20), [19.0, 10.0, 0.0], rtol=1e-12)
    assert "for t, y in reversed(rows):" in gradient.source
    assert " in reversed(weights):" in gradient.source


def test_loops_over_lists_that_grow_count():
    def loss(x):
        items = [x[0] * i for i in range(3)]
        for i in range(len(items)):
            items.append(items[i] * x[1])
        for _ in range(2):
            count = len(items)
            items.append(x[2])
            for i in range(count):
                x = x * (1.0 + 0.01 * items[i])
        return np.sum(x)

    check(loss)
    assert "in items:" not in source(loss)


def test_lists_that_stay_are_read_again():
    """What nobody puts in a list, or takes out, after it was read needn't be recorded."""
    assert "saved" not in source(one_of_three) and "saved" not in source(blank)
    assert source(energy).count("saved = []") == 1  # of the distances
    assert "saved = []" in source(rebound_in_between)


def test_zeros_of_tuples_of_numbers():
    def rows(rows):
        return sum(row["a"] * row["b"] ** 2 for row in rows)

    data = [{"a": 1.0 * i, "b": 0.5} for i in range(20)]
    gradient = srcgrad.grad(rows)
    assert gradient(data)[7] == {"a": 0.25, "b": 7.0}
    assert "[(0.0, 0.0)] * len(" in gradient.source


def test_lists_in_tuples_have_zeros_of_their_own():
    def rows(rows):
        return sum(row["a"] * np.sum(np.array(row["b"]) ** 2) for row in rows)

    data = [{"a": 1.0 * i, "b": [0.5, 1.0]} for i in range(20)]
    assert srcgrad.grad(rows)(data)[7] == {"a": 1.25, "b": [7.0, 14.0]}


def test_other_counts_of_items_where_the_run_does_not_go():
    def by_rank(x, rank):
        if rank == 2:
            rows, columns = x.shape
            return np.sum(x) * rows / columns
        if rank > 2:
            rows, columns, *_ = x.shape
            return np.sum(x) * rows / columns
        return np.sum(x**2)

    gradient = srcgrad.grad(by_rank)
    np.testing.assert_array_equal(gradient(X, 1), 2 * X)
    for rank in (2, 3):
        for g in (by_rank, gradient):
            with pytest.raises(ValueError):
                g(X, rank)


@pytest.mark.parametrize("first", [0, 10, 20])
def test_random_programs(first):
    words = [random_lists.check(seed) for seed in range(first, first + 10)]
    assert words.count("right") >= 7
