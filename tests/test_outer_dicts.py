"""Dicts outside that are asked for keys which only the run tells."""

import heapq
import itertools

import numpy as np
import pytest

import srcgrad
from srcgrad import UnsupportedError, grad
from srcgrad.testing import check_grads

MASSES = {1: 1.008, 6: 12, 8: np.float64(15.999)}
NEIGHBOURS = {1: [6, 8], 6: [1], 8: [1, 6, 8]}
SHELLS = {1: (0.5, 1), 6: (1.5, 2), 8: (2.5, 3)}
SYMBOLS = {1: "H", 6: "C", 8: "O"}
RADII = {"H": 0.3, "C": 0.7, "O": 0.6}
BONDS = {(1, 6): 1.1, (6, 8): 1.4}
BASES = {1: np.ones(2), 6: np.arange(2.0), 8: np.array([2.0, 3.0])}
GRAPH = {1: {6: 0.5, 8: 0.7}, 6: {8: 1.5}, 8: {}}
NAMED = {"a": {"b": 0, "c": 1}, "b": {"c": 2, "d": 3}, "c": {"d": 4}, "d": {}}
NUMBERS = np.array([1, 6, 8])
X = np.linspace(0.5, 1.5, 9)


def numbers_of_both_types(x, numbers):
    return sum(MASSES[z] * x[i] ** 2 for i, z in enumerate(numbers))


def lists(x, numbers):
    total = 0.0
    for z in numbers:
        for other in NEIGHBOURS[z]:
            total += x[z] * x[other]
    return total


def tuples_and_texts(x, numbers):
    total = 0.0
    for z in numbers:
        energy, level = SHELLS[z]
        total += energy * x[level] ** 2 * RADII[SYMBOLS[z]]
    return total


def arrays_by_pairs(x, numbers):
    total = 0.0
    for a, b in itertools.pairwise(numbers):
        total += BONDS[a, b] * x[a] * np.sum(BASES[b] * x[:2] ** 2)
    return total


def asked_and_gone_through(x, numbers):
    total = 0.0
    for z in numbers + 1:
        if z in MASSES:
            total += x[0] * MASSES[z]
        total += x[1] * MASSES.get(z, 2.0) ** 2
        try:
            total += RADII[SYMBOLS[z]] * x[2]
        except KeyError:
            total += x[3] ** 2
    for z, mass in MASSES.items():
        total += x[4] * z * mass
    return total * len(MASSES) + sum(MASSES.values()) * x[5]


def dicts_of_dicts(x, numbers):
    total = 0.0
    for z in numbers:
        for other, weight in GRAPH[z].items():
            total += weight * x[z] * x[other]
        total += len(GRAPH[z]) * x[0] + sum(GRAPH[z].values()) * x[1] ** 2
    a, b = numbers[:2]
    return total + GRAPH[a].get(b, 1.0) * x[2] ** 2 + (x[3] if b in GRAPH[a] else 0.0)


def shortest_path(x, numbers):
    """From a to d, by Dijkstra's algorithm."""
    lengths, heap, done = {"a": 0.0}, [(0.0, "a")], set()
    while heap:
        length, here = heapq.heappop(heap)
        if here in done:
            continue
        done.add(here)
        for there, edge in NAMED[here].items():
            longer = length + x[edge]
            if there not in lengths or longer < lengths[there]:
                lengths[there] = longer
                heapq.heappush(heap, (longer, there))
    return lengths["d"] ** 2 + lengths["c"]


class Model:
    scales = {1: 0.5, 6: 2.0, 8: 0.25}  # noqa: RUF012

    def __init__(self):
        self.shifts = {1: 1.0, 6: 2.0, 8: 3.0}

    def energy(self, x, numbers):
        scales = np.array([self.scales[z] for z in numbers])
        shifts = np.vectorize(self.shifts.get)(numbers)
        return np.sum(scales * (x[numbers] - shifts) ** 2)


FUNCTIONS = (
    numbers_of_both_types, lists, tuples_and_texts, arrays_by_pairs, asked_and_gone_through,
    dicts_of_dicts, shortest_path, Model().energy,
)  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_it_gives_the_derivatives(f):
    check_grads(f, (X, NUMBERS), argnums=0)


def weighed(x, keys):
    total = 0.0
    for k in keys:
        total += WEIGHTS[k] * x[0]
    return total


WEIGHTS = {1: 0.5, 2: 1.5}


def test_it_is_read_when_the_gradient_runs(monkeypatch):
    gradient = grad(weighed)
    x = np.ones(2)
    assert gradient(x, np.array([1, 2]))[0] == 2.0
    assert gradient.source == (
        "def d_weighed(x, keys, WEIGHTS):\n"
        '    """Gradient of weighed (test_outer_dicts.py:117) with respect to x."""\n'
        "    # for k in keys:\n"
        "    d_x = np.zeros(x.shape)\n"
        "    for i in reversed(range(len(keys))):\n"
        "        # for k in keys:\n"
        "        k = keys[i]\n"
        "        # total += WEIGHTS[k] * x[0]\n"
        "        d_x[0] += WEIGHTS[k]\n"
        "    return d_x\n"
    )
    sources = len(gradient.sources)
    monkeypatch.setitem(WEIGHTS, 3, 0.25)
    assert gradient(x, np.array([1, 3]))[0] == 0.75
    assert len(gradient.sources) == sources
    monkeypatch.setitem(WEIGHTS, 3, np.full(2, 0.25))
    with pytest.raises(UnsupportedError, match="the keys of 'WEIGHTS' must be known"):
        gradient(x, np.array([1, 3]))
    monkeypatch.setitem(WEIGHTS, 3, 4)  # an int
    assert gradient(x, np.array([1, 3]))[0] == 4.5
    with pytest.raises(KeyError):
        gradient(x, np.array([1, 9]))


def written(x, keys):
    total = 0.0
    for k in keys:
        total += WEIGHTS[k] * x[0]
        WEIGHTS[k] = 2 * total
    return total


def test_what_is_written_is_refused():
    message = "'WEIGHTS' is written here, and asked for keys that only the run tells"
    with pytest.raises(UnsupportedError, match=message):
        srcgrad.grad(written)(np.ones(2), np.array([1, 2]))
    assert WEIGHTS == {1: 0.5, 2: 1.5}


def shortest(w, graph, source, target):
    """Dijkstra's way through a graph of dicts, by the squares of what edges have as weights."""
    far = {node: 1e9 for node in graph}  # noqa: C420 -- as it is written
    far[source], waiting, done = 0.0, [(0.0, source)], set()
    while waiting:
        d, node = heapq.heappop(waiting)
        if node in done:
            continue
        done.add(node)
        if node == target:
            break
        for other, edge in graph[node].items():
            if d + w[edge] ** 2 < far[other]:
                far[other] = d + w[edge] ** 2
                heapq.heappush(waiting, (far[other], other))
    return far[target]


def rewritten(w, graph, source, target):
    """What is written is a copy, as of any argument."""
    node = source
    for i in range(4):
        graph[node][target] = int(w[i] * 3) % len(w)
        node = min(graph[node], key=lambda other: graph[other].get(target, 0))
    return sum(w[edge] ** 2 for inner in graph.values() for edge in inner.values())


def ring(count):
    return {i: {(i + 1) % count: i, (i * 7 + 3) % count: count + i} for i in range(count)}


@pytest.mark.parametrize("program", [shortest, rewritten])
def test_dicts_that_are_given(program):
    gradient = grad(program)
    for count in (12, 20, 12):
        w = np.random.default_rng(count).uniform(0.5, 1.5, 2 * count)
        given = ring(count)
        found = gradient(w, given, 0, count // 2)
        expected = [
            (
                program(w + h, ring(count), 0, count // 2)
                - program(w - h, ring(count), 0, count // 2)
            )
            / 2e-6
            for h in 1e-6 * np.eye(2 * count)
        ]
        np.testing.assert_allclose(found, expected, atol=1e-6)
        assert given == ring(count)
    if program is shortest:
        assert gradient.source.count("\n") < 300


def test_dicts_by_which_derivatives_are_taken():
    def looked_up(table, keys):
        return sum(table[k] ** 2 for k in keys)

    found = grad(looked_up)({1: 2.0, 5: 3.0, 7: 1.0}, np.array([5, 5, 1]))
    assert found == {1: 4.0, 5: 12.0, 7: 0.0}
