"""Lists, built at run time, of tuples, named tuples and objects; sorted, searched, used as heaps.

Each program is compared with finite differences, in reverse and forward mode, and so is the
gradient of its gradient.
"""

import collections
import copy
import dataclasses
import heapq

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

X = np.array([0.7, -0.4, 1.3, 0.2, -1.1, 0.9])

Job = collections.namedtuple("Job", ["due", "cost"])


@dataclasses.dataclass
class Particle:
    position: np.ndarray
    mass: float
    trail: list = dataclasses.field(default_factory=list)

    def kinetic(self):
        return 0.5 * self.mass * np.sum(self.position**2)

    def moved(self, by):
        return Particle(self.position + by, self.mass * 0.9, self.trail)


class Counter:
    def __init__(self, start):
        self.value = start

    def added(self, x):
        return Counter(self.value + x)


def named_tuples(x, n):
    jobs = []
    for i in range(n):
        jobs.append(Job(x[i], x[i] ** 2 + i))
    total = 0.0
    for job in jobs:
        total += job.due * job.cost
    return total + jobs[-1]._replace(cost=x[0]).cost ** 2


def objects(x, n):
    particles = []
    for i in range(n):
        particles.append(Particle(x[i : i + 2] * 1.0, x[i] ** 2))
    total = 0.0
    for p in particles:
        total += p.kinetic() + p.mass
    return total + particles[1].mass * particles[-1].position[0]


def arrays_of_objects_written_in_place(x, n):
    particles = []
    for i in range(n):
        particles.append(Particle(np.array([x[i], 1.0]), 1.0 + i))
    for step in range(3):
        for p in particles:
            p.position[0] *= x[step]
            p.position += 0.1 * particles[0].position
    return sum(p.kinetic() for p in particles)


def lists_of_objects(x, n):
    particles = []
    for i in range(n):
        particles.append(Particle(x * x[i], 1.0))
    for i in range(n):
        p = particles[i // 2]
        p.trail.append(x[i] ** 2)
    return sum(sum(p.trail) ** 2 * (i + 1) for i, p in enumerate(particles))


def objects_replaced(x, n):
    particles = []
    for i in range(n):
        particles.append(Particle(np.array([x[i], x[0]]), 1.0))
    for step in range(2):
        for i in range(n):
            particles[i] = particles[i].moved(x[step] * particles[i - 1].position)
    return sum(p.kinetic() for p in particles)


def one_object_twice(x, n):
    shared = Particle(x[:2] * 1.0, x[2])
    particles = []
    for i in range(n):
        particles.append(shared)
        particles.append(Particle(x[2:4] * x[i], 1.0))
    particles[0].position[1] = x[3] ** 2
    return sum(p.kinetic() for p in particles)


def copied(x, n):
    particles = []
    for i in range(n):
        particles.append(Particle(x[:2] * x[i], x[i]))
    p = copy.copy(particles[1])
    p.mass = x[0] ** 2
    return p.kinetic() + particles[1].kinetic()


def dicts_in_a_list(x, n):
    rows = []
    for i in range(n):
        rows.append({"a": x[i], "b": x[i] ** 2})
    for i in range(n):
        rows[i]["a"] = rows[i - 1]["b"] * x[i]
    return sum(row["a"] * row["b"] for row in rows)


def dicts_in_a_dict(x, n):
    graph = {}
    for i in range(n):
        for j in range(i):
            graph.setdefault(i % 3, {})[j] = x[i] * x[j]
    total = 0.0
    for i, row in graph.items():
        for j, v in row.items():
            total += (i + 1) * v**2 + j
    return total


def objects_in_a_dict(x, n):
    table = {}
    for i in range(n):
        k = i % 3
        table[k] = table[k].added(x[i]) if k in table else Counter(x[i] ** 2)
    return sum(c.value**2 for c in table.values())


def heap(x, n):
    queue = []
    for i in range(n):
        heapq.heappush(queue, (x[i] ** 2, i, x[i]))
    total, weight = 0.0, 1.0
    while queue:
        cost, i, v = heapq.heappop(queue)
        total += weight * cost * v
        weight *= 0.5
        if i == 2:
            heapq.heappush(queue, (cost + 3.0, 7, v * x[0]))
    return total


def sorted_by_key(x, n):
    items = []
    for i in range(n):
        items.append((x[i], x[i] ** 2, i))
    total = 0.0
    for rank, (a, b, i) in enumerate(sorted(items, key=lambda item: -item[1])):
        total += (rank + 1) * a * b + i
    items.sort(key=lambda item: item[0], reverse=True)
    for rank, item in enumerate(items):
        total += (rank + 2) * item[1]
    for rank, item in enumerate(sorted(items)):
        total += (rank + 3) * item[0] ** 3
    return total


def extremes(x, n):
    jobs = []
    for i in range(n):
        jobs.append(Job(x[i], x[i] ** 2))
    first = min(jobs, key=lambda job: job.due)
    last = max(jobs, key=lambda job: job.cost)
    return first.cost * 2 + last.due * first.due


def queue_of_tuples(x, n):
    queue = collections.deque()
    for i in range(n):
        queue.append((i, x[i]))
    total = 0.0
    while len(queue) > 1:
        i, a = queue.popleft()
        j, b = queue.popleft()
        total += a * b
        if i + j < 6:
            queue.append((i + j + 1, a * b))
    return total


def last_few(x, n):
    window = collections.deque(maxlen=3)
    total = 0.0
    for i in range(n):
        window.append(x[i] ** 2)
        total += sum(window) ** 2 / len(window)
    return total


PROGRAMS = [
    named_tuples, objects, arrays_of_objects_written_in_place, lists_of_objects, objects_replaced,
    one_object_twice, copied, dicts_in_a_list, dicts_in_a_dict, objects_in_a_dict, heap,
    sorted_by_key, extremes, queue_of_tuples, last_few,
]  # fmt: skip


def with_length_as_data(program):
    def wrapped(x, n):
        return program(x, int(n[0]))

    return wrapped


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_derivatives(program):
    f, n = with_length_as_data(program), np.array([5])
    value, gradient = srcgrad.value_and_grad(f)(X, n)
    assert value == pytest.approx(program(X, 5), rel=1e-14)
    direction = np.random.default_rng(0).normal(size=X.shape)
    step = 1e-6 * direction
    expected = (program(X + step, 5) - program(X - step, 5)) / 2e-6
    assert gradient @ direction == pytest.approx(expected, rel=1e-7, abs=1e-8)
    check_grads(f, (X, n))


def changed_after_it_is_kept(x, n):
    particles = []
    p = Particle(x[:2], x[2])
    for i in range(n):
        particles.append(p)
        p.mass = p.mass * x[i]
    return sum(p.mass for p in particles)


def changed_before_it_is_kept(x, n):
    """The same object in each iteration: what an earlier one kept changes too."""
    particles = []
    p = Particle(x[:2], x[2])
    for i in range(n):
        p.mass = p.mass * x[i]
        particles.append(p)
    return sum(p.mass for p in particles)


def changed_in_the_list(x, n):
    particles = []
    for i in range(n):
        particles.append(Particle(x[:2], x[i]))
    for p in particles:
        p.mass *= x[0]
    return sum(p.mass for p in particles)


def kept_on_one_branch(x, n):
    particles = []
    p = Particle(x[:2], x[2])
    for i in range(n):
        if x[i] > 0:
            particles.append(p)
    p.mass = x[1]
    return sum(p.mass for p in particles)


def identity_in_a_list(x, n):
    particles = []
    for i in range(n):
        particles.append(Particle(x[:2], x[i]))
    return x[0] if particles[0] is particles[-1] else x[1] * particles[1].mass


@pytest.mark.parametrize(
    "program",
    [
        changed_after_it_is_kept,
        changed_before_it_is_kept,
        changed_in_the_list,
        kept_on_one_branch,
        identity_in_a_list,
    ],
    ids=lambda p: p.__name__,
)
def test_objects_kept_are_changed(program):
    f, n = with_length_as_data(program), np.array([5])
    assert srcgrad.value_and_grad(f)(X, n)[0] == pytest.approx(program(X, 5), rel=1e-14)
    check_grads(f, (X, n), order=1)


def returned_dict(x, n):
    table = {}
    for i in range(int(n[0])):
        table[i] = x[i]
    return x[0] ** 2, table


def returned_set(x, n):
    found = set()
    for i in range(int(n[0])):
        found.add(i)
    return x[0] ** 2, [found]


def returned_objects(x, n):
    jobs = []
    for i in range(int(n[0])):
        jobs.append(Job(x[i], i))
    return x[0] ** 2, jobs


@pytest.mark.parametrize("program", [returned_dict, returned_set, returned_objects])
def test_what_is_built_at_run_time_is_not_returned(program):
    with pytest.raises(srcgrad.UnsupportedError, match="built at run time can't be returned"):
        srcgrad.grad(program, has_aux=True)(X, np.array([5]))


class Based:
    __slots__ = ("velocity",)


class Slotted(Based):
    """Two slots, of two classes, and a third that has no value."""

    __slots__ = ("position", "spare")

    def __init__(self, position, velocity):
        self.position, self.velocity = position, velocity


class Mixed(Based):
    """A slot, and a `__dict__`."""

    def __init__(self, position, velocity):
        self.position, self.velocity = position, velocity


@dataclasses.dataclass(slots=True, frozen=True)
class Frozen:
    position: np.ndarray
    velocity: float


@pytest.mark.parametrize("cls", [Slotted, Mixed, Frozen])
def test_objects_with_slots_are_arguments_and_results(cls):
    def step(state, dt):
        moved = state.position + dt * state.velocity
        return cls(moved, state.velocity - dt * np.sum(np.sin(moved)))

    def energy(state, dt):
        for _ in range(3):
            state = step(state, dt)
        return 0.5 * np.sum(state.position**2) + state.velocity**2

    check_grads(lambda x, v: energy(cls(x, v), 0.1), (X, 0.7), order=1)
    start = cls(X, 0.7)
    d_start = srcgrad.grad(energy)(start, 0.1)
    assert type(d_start) is cls
    d_x, d_v = srcgrad.grad(lambda x, v: energy(cls(x, v), 0.1), argnums=(0, 1))(X, 0.7)
    np.testing.assert_allclose(d_start.position, d_x, rtol=1e-12)
    assert d_start.velocity == pytest.approx(d_v, rel=1e-12)
    after, pullback = srcgrad.vjp(lambda state: step(state, 0.1), start)
    assert type(after) is type(pullback(after)[0]) is cls
    np.testing.assert_allclose(after.position, X + 0.07, rtol=1e-12)


def test_slots_outside_of_the_function_are_written():
    kept = Slotted(X, 2.0)

    def f(x):
        kept.velocity = 3.0 * np.sum(x)
        return kept.velocity**2

    np.testing.assert_allclose(srcgrad.grad(f)(np.ones(2)), 36.0)
    assert kept.velocity == 6.0


class Network:
    """Besides its weights, it holds ints, text, masks and functions, in lists and dicts too."""

    def __init__(self, sizes, rng):
        self.sizes = sizes
        self.weights = [rng.normal(size=shape) for shape in zip(sizes[1:], sizes, strict=False)]
        self.classes, self.mask = np.arange(sizes[-1]), np.array([True, False, True])
        self.names, self.order, self.nothing = ["a", "b"], (2, 0, 1), [None]
        self.options = {"epochs": 5, "rate": 0.5, "opt": "sgd", "drop": (1, 2.5)}
        self.activation = np.tanh

    def forward(self, x):
        for w in self.weights:
            x = self.activation(w @ x)
        return x


def network_loss(network, x, y):
    out = network.forward(x)
    total = np.sum(out[network.mask] ** 2) * network.options["rate"] + len(network.names)
    for k, label in enumerate(network.classes):
        total += (out[label] - y[k]) ** 2 * network.sizes[k]
    total += np.sum(out[list(network.order)] * y)
    return total * network.options["drop"][0] + network.options["drop"][1]


def test_objects_hold_more_than_floats():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=2), rng.normal(size=3)
    for sizes in ([2, 4, 3], [2, 3, 4, 3]):
        network = Network(sizes, rng)
        check_grads(network_loss, (network, x, y))
        d_network = srcgrad.grad(network_loss)(network, x, y)
        assert d_network.sizes == sizes and d_network.options["epochs"] == 5
        assert d_network.names == ["a", "b"] and d_network.order == (2, 0, 1)
        np.testing.assert_array_equal(d_network.mask, network.mask)
        assert [d.shape for d in d_network.weights] == [w.shape for w in network.weights]
        step = 1e-6
        for w, d in zip(network.weights, d_network.weights, strict=True):
            before = w[1, 0]
            w[1, 0] = before + step
            above = network_loss(network, x, y)
            w[1, 0] = before - step
            slope = (above - network_loss(network, x, y)) / (2 * step)
            w[1, 0] = before
            assert d[1, 0] == pytest.approx(slope, rel=1e-6)
    network.classes = np.array([0, 0, 1])
    check_grads(network_loss, (network, x, y))


def test_objects_without_floats_and_containers_with_ints_are_refused():
    network = Network([2, 3], np.random.default_rng(0))
    with pytest.raises(TypeError, match=r"x\[1\] is an int, not a float"):
        srcgrad.grad(lambda x: x[0].weights[0][0, 0])([network, 3])
    network.weights, network.options = [], {}
    with pytest.raises(TypeError, match="it is a Network without numbers in it"):
        srcgrad.grad(lambda x: 1.0)(network)
