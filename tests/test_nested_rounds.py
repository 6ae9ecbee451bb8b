"""How often what is nested is lowered: a loop begins with what it was found to be before."""

import functools

import numpy as np
import pytest

import srcgrad
from srcgrad.frontend.loops import Loops
from tests.small_programs import check


@pytest.fixture
def rounds(monkeypatch):
    """Counts the rounds in which bodies of loops are lowered."""
    counted = []
    before = Loops._round

    def counting(self, *args):
        counted.append(self.span)
        return before(self, *args)

    monkeypatch.setattr(Loops, "_round", counting)
    return counted


def comprehensions(x, n):
    ns = range(n)
    rows = [
        [[[[x[a] * x[b] + c * d - e for a in ns] for b in ns] for c in ns] for d in ns] for e in ns
    ]
    return rows[0][1][0][1][0] * rows[1][1][1][1][1]


def sums(x, n):
    ns = range(n)
    return sum(
        sum(sum(sum(sum(x[a] * b * x[c] + d * e for a in ns) for b in ns) for c in ns) for d in ns)
        for e in ns
    )


class Grid:
    def __init__(self, rows):
        for row in rows:
            if len(row) != len(rows[0]):
                raise ValueError("the rows aren't of one length")
            for value in row:
                if not isinstance(value, float):
                    raise TypeError("numbers only")
        self.rows = rows

    def map(self, f):
        return Grid([[f(value) for value in row] for row in self.rows])

    def times(self, other):
        indices = range(len(other.rows))
        return Grid(
            [
                [sum(row[k] * other.rows[k][j] for k in indices) for j in indices]
                for row in self.rows
            ]
        )


def grids(x, n):
    rows = [[x[i] * (j + 1.0) for j in range(n)] for i in range(n)]
    total = Grid([[0.5 for _ in range(n)] for _ in range(n)])
    for _ in range(n):
        total = Grid([[total.times(Grid(rows)).rows[i][j] for j in range(n)] for i in range(n)])
        total = total.map(lambda v: v * 0.1)
    return total.rows[0][1]


def expansion(rows):
    """The determinant, the way it is taught."""
    if len(rows) == 1:
        return rows[0][0]
    total = 0.0
    for j in range(len(rows)):
        minor = [[row[k] for k in range(len(rows)) if k != j] for row in rows[1:]]
        total = total + (-1.0) ** j * rows[0][j] * expansion(minor)
    return total


def expansions(x, n):
    rows = [[x[i] ** j for j in range(n)] for i in range(n)]
    scaled = [[expansion([[v * a for v in row] for row in rows]) for a in x[:n]] for _ in range(n)]
    return scaled[0][1] + scaled[1][0]


MOST = [(comprehensions, 50), (sums, 30), (grids, 450), (expansions, 550)]


@pytest.mark.parametrize(("f", "most"), MOST)
def test_rounds_of_nested_loops_add_up_rather_than_multiply(f, most, rounds):
    x = np.array([0.4, 0.7, 1.1])
    srcgrad.grad(f)(x, 2)
    assert len(rounds) <= most
    check(functools.partial(f, n=2), x)


def ever_less(x, n):
    """The inner loop makes a list in the first round, of what isn't known in the second."""
    total, left = 0.0, x * 1.0
    for i in range(n):
        parts = []
        for v in left:
            if i % 2 == 0 or total > 0.5:
                parts.append(v * v)
        total = total + sum(parts)
        left = left[:-1]
    return total


def other_kinds(x, n):
    """What the inner loops find in the first round is of other kinds in the next."""
    total = 0
    for _ in range(n):
        found = [total * 2 for _ in range(n)]
        rows = [[found[k] + v for v in x] for k in range(n)]
        total = rows[-1][0] * x
        total = np.sum(total * sum(rows[0]))
    return total


def lists_or_not(x, n):
    """A list is written in a loop only while nothing is known of another one."""
    kept, last = [0.0], None
    for _ in range(n):
        made = [1.0, 2.0]
        for k in range(2):
            if last is None:
                made.append(x[k])
            else:
                made[k] = made[k] * last[k] * x[2]
        kept.append(sum(made))
        last = made
    return sum(v * (i + 1) for i, v in enumerate(kept))


@pytest.mark.parametrize("f", [ever_less, other_kinds, lists_or_not])
def test_what_a_loop_was_found_to_be_is_checked(f):
    check(functools.partial(f, n=3), np.array([0.4, 0.7, 1.1]))
