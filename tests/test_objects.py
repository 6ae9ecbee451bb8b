"""Objects of which only the run tells how many there are: linked lists, trees, records.

Each program is compared with finite differences, in reverse and forward mode.
"""

import copy
import functools
import heapq
import itertools
from dataclasses import dataclass

import numpy as np
import pytest

import srcgrad
from srcgrad.inspect.stages import stages
from srcgrad.testing import check_grads

X = np.random.default_rng(3).normal(size=6)
EDGES = np.array([[0, 1], [2, 3], [1, 3], [4, 5], [0, 2]])


class Cell:
    def __init__(self, value, after=None):
        self.value = value
        self.after = after


def linked(x):
    head = None
    for v in x:
        if v < 1.0:
            head = Cell(v * v, head)
    node = head
    while node is not None:
        node.value *= 2.0
        node.value = node.value * node.value
        node = node.after
    total, k, node = 0.0, 1, head
    while node:
        total += k * np.sin(node.value)
        k += 1
        node = node.after
    return total


class Tree:
    def __init__(self, key):
        self.key = key
        self.left = None
        self.right = None
        self.count = 1


def search_tree(x):
    root = None
    for v in x:
        if root is None:
            root = Tree(v)
            continue
        node = root
        while True:
            node.count += 1
            if v < node.key:
                if node.left is None:
                    node.left = Tree(v)
                    break
                node = node.left
            else:
                if node.right is None:
                    node.right = Tree(v)
                    break
                node = node.right
    total, stack, node, i = 0.0, [], root, 0
    while stack or node is not None:
        while node is not None:
            stack.append(node)
            node = node.left
        node = stack.pop()
        total += i * (node.key * node.count) ** 2
        node, i = node.right, i + 1
    return total


def recursive_search_tree(x):
    def insert(node, v):
        if node is None:
            return Tree(v)
        if v < node.key:
            node.left = insert(node.left, v)
        else:
            node.right = insert(node.right, v)
        node.count += 1
        return node

    def walk(node, depth):
        if node is None:
            return 0.0
        here = depth * node.key**2 * node.count
        return walk(node.left, depth + 1) + here + walk(node.right, depth + 1)

    root = None
    for v in x:
        root = insert(root, v)
    return walk(root, 1)


class Cluster:
    """A k-d tree, whose constructor calls itself."""

    def __init__(self, points, depth=0):
        self.axis = depth % 2
        self.left = None
        self.right = None
        if len(points) <= 2:
            self.points = points
            self.split = 0.0
            return
        points = points[np.argsort(points[:, self.axis])]
        middle = len(points) // 2
        self.points = points[middle : middle + 1]
        self.split = points[middle, self.axis]
        self.left = Cluster(points[:middle], depth + 1)
        self.right = Cluster(points[middle + 1 :], depth + 1)

    def energy(self, q):
        e = np.sum(np.exp(-np.sum((self.points - q) ** 2, axis=1)))
        if self.left is not None and q[self.axis] < self.split + 1.0:
            e += self.left.energy(q)
        if self.right is not None and q[self.axis] > self.split - 1.0:
            e += self.right.energy(q)
        return e


def neighbours(x):
    points = np.outer(x, np.array([1.0, -0.5])) + np.cos(np.arange(12.0)).reshape(6, 2)
    return Cluster(points).energy(x[:2])


class Number:
    def __init__(self, value):
        self.value = value

    def evaluate(self, x):
        return self.value


class Variable:
    def __init__(self, index):
        self.index = index

    def evaluate(self, x):
        return x[self.index]


class Operation:
    def __init__(self, sign, a, b):
        self.sign, self.a, self.b = sign, a, b

    def evaluate(self, x):
        left, right = self.a.evaluate(x), self.b.evaluate(x)
        if self.sign == "+":
            return left + right
        return left * right


TOKENS = np.array([2, 3, 0, -2, 1, 4, 0, 2, 1])


def parsed(x):
    """An expression in postfix notation: 0 multiplies, 1 adds, below are numbers, above inputs."""
    stack = []
    for token in TOKENS:
        if token in (0, 1):
            b, a = stack.pop(), stack.pop()
            stack.append(Operation("+" if token else "*", a, b))
        elif token < 0:
            stack.append(Number(-1.0 * token))
        else:
            stack.append(Variable(token - 2))
    return stack[-1].evaluate(x)


class Group:
    def __init__(self, weight):
        self.parent = self
        self.weight = weight
        self.rank = 0


def find(group):
    while group.parent is not group:
        group.parent = group.parent.parent
        group = group.parent
    return group


def merged_groups(x):
    groups = [Group(v) for v in x]
    for i, j in EDGES:
        a, b = find(groups[i]), find(groups[j])
        if a is b:
            continue
        if a.rank < b.rank:
            a, b = b, a
        b.parent = a
        a.weight = a.weight * b.weight + b.weight
        if a.rank == b.rank:
            a.rank += 1
    return sum(g.weight**2 for g in groups if g.parent is g)


@dataclass
class Event:
    time: float
    amount: float


def event_queue(x):
    queue = []
    for k in range(len(x)):
        queue.append(Event(0.3 * k + x[k] ** 2, np.abs(x[k])))
    level, now, cost = 1.0, 0.0, 0.0
    while queue:
        first = min(queue, key=lambda event: event.time)
        queue.remove(first)
        if first.time > 3.0:
            break
        cost += level * (first.time - now)
        level = level * np.exp(now - first.time) + first.amount
        now = first.time
        if first.amount > 0.6:
            queue.append(Event(now + 0.7 * first.amount, 0.3 * first.amount))
    return cost + level


class Link:
    def __init__(self, value):
        self.value = value
        self.before = None
        self.after = None


class Chain:
    def __init__(self):
        self.head = None
        self.tail = None
        self.count = 0

    def push(self, value):
        link = Link(value)
        if self.tail is None:
            self.head = link
        else:
            self.tail.after = link
            link.before = self.tail
        self.tail = link
        self.count += 1

    def __len__(self):
        return self.count

    def __iter__(self):
        link = self.head
        while link is not None:
            yield link.value
            link = link.after


def doubly_linked(x):
    chain = Chain()
    for v in x:
        chain.push(np.sin(v))
    total, link = 0.0, chain.tail
    while link.before is not None:
        total += link.value * link.before.value
        link = link.before
    for i, v in enumerate(chain):
        total += v * i
    return total * len(chain)


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, scale):
        return Vector(self.x * scale, self.y * scale)

    def square(self):
        return self.x**2 + self.y**2


class Body:
    def __init__(self, position, velocity, mass):
        self.position, self.velocity, self.mass = position, velocity, mass


def bodies(x):
    found = []
    i = 0
    while i < len(x):
        found.append(Body(Vector(x[i], x[i] * 0.5), Vector(0.1, x[i]), 1.0 + x[i]))
        i += 1
    for step in range(3):
        for body in found:
            body.position = body.position + body.velocity * 0.1
            body.velocity = body.velocity + body.position * (-0.1 / body.mass)
        if step == 1:
            found.append(Body(found[0].position, found[1].velocity, 2.0))
    return sum(body.position.square() * body.mass for body in found)


class Vertex:
    def __init__(self):
        self.neighbours = []
        self.state = np.zeros(2)


def message_passing(x):
    vertices = []
    for v in x:
        vertex = Vertex()
        vertex.state = v * np.ones(2)
        vertices.append(vertex)
    for a, b in EDGES:
        vertices[a].neighbours.append(vertices[b])
        vertices[b].neighbours.append(vertices[a])
    for _ in range(3):
        new = [sum((n.state for n in v.neighbours), v.state) for v in vertices]
        for vertex, state in zip(vertices, new, strict=True):
            vertex.state = np.tanh(state)
            vertex.state[0] *= 0.5
    return sum(np.sum(v.state**2) for v in vertices)


def arrays_of_two_objects(x):
    head = None
    for i in range(len(x)):
        cell = Cell(x[i] * np.ones(2))
        if head is not None and x[i] > 0:
            cell.value = head.value
            cell.value += x[i]
        cell.after = head
        head = cell
    total = 0.0
    while head is not None:
        total += np.sum(head.value**2)
        head.value[0] = 3.0 * head.value[1]
        head = head.after
    return total


def lists_of_two_objects(x):
    head = None
    for v in x:
        cell = Cell([], head)
        if head is not None and v < 0:
            cell.value = head.value
        cell.value.append(v)
        head = cell
    total = 0.0
    while head is not None:
        total += sum(i * v**2 for i, v in enumerate(head.value))
        head = head.after
    return total


def number_or_none(x):
    head = None
    for v in x:
        head = Cell(None, head)
        if v > 0:
            head.value = v * v
    total = 1.0
    while head is not None:
        if head.value is None:
            total = total * 1.1
        else:
            total = total * head.value + head.value
        head = head.after
    return total


def array_or_none(x):
    head = None
    for v in x:
        head = Cell(None, head)
        if v > 0:
            head.value = v * np.arange(3.0)
    total = 1.0
    while head is not None:
        w = head.value
        if w is not None:
            total += np.sum(np.sin(w))
            head.value = None
        else:
            head.value = np.ones(3) * total
            w = head.value
        w *= 2.0
        total += w[1]
        head = head.after
    return total


def tuple_or_none(x):
    head = None
    for v in x:
        head = Cell(None, head)
        if v > 0:
            head.value = (v, np.array([v, v * v]))
    total = 0.0
    while head is not None:
        if head.value is not None:
            a, b = head.value
            total += a * b[1] + b[0]
        elif head.after is not None and head.after.value:
            total += head.after.value[0]
        head = head.after
    return total


class Shape:
    def __init__(self, size):
        self.size = size

    def measure(self):
        return self.area() * 2 + self.size


class Square(Shape):
    def area(self):
        return self.size**2


class Disc(Shape):
    def __init__(self, size):
        super().__init__(size)
        self.margin = size * 3

    def area(self):
        return np.pi * self.size**2 + self.margin


def shapes(x):
    found = []
    i = 0
    while i < len(x):
        found.append(Square(x[i]) if x[i] > 0 else Disc(x[i]))
        i += 1
    total = 0.0
    for shape in found:
        total += shape.measure()
        if isinstance(shape, Disc):
            total += shape.margin**2
        shape.size = 2.0
        total += shape.area()
    return total


class Scaled:
    scale = 2.0

    def __init__(self, own):
        self.own = own
        self.after = None

    @property
    def value(self):
        return self.own * self.scale

    @value.setter
    def value(self, new):
        self.own = new / 2

    def __add__(self, other):
        return Scaled(self.own + other.own)

    def __eq__(self, other):
        return self.own == other.own

    def __len__(self):
        return 3

    def __getitem__(self, i):
        return self.own * i

    def __call__(self, y):
        return self.own * y

    def __bool__(self):
        return bool(self.own > 0.0)

    def __neg__(self):
        return Scaled(-self.own)


def protocols(x):
    head = None
    for v in x:
        new = Scaled(v)
        if v < 0:
            new.scale = v * v
        if v > 1:
            new.value = v**3
        new.after = head
        head = new
    total, s = 0.0, head
    while head is not None:
        s = s + head
        total += head.value + head[2] * head(3.0) + len(head)
        if head:
            total += s.value * 2
        if head == s:
            total += 100.0 * head.value
        total += (-head).own**2
        head = head.after
    return total


class Layer:
    def __init__(self, function, weight, after):
        self.function, self.weight, self.after = function, weight, after

    def __call__(self, z):
        return self.function(self.weight * z)


def layers(x):
    head = None
    for v in x:
        head = Layer(np.tanh, v, head)
    z = 0.7
    while head is not None:
        z, head = head(z), head.after
    return z


def sets_and_dicts(x):
    nodes = [Cell(v) for v in x]
    for node in nodes:
        node.after = nodes[0]
    for a, b in EDGES:
        nodes[a].after = nodes[b]
    seen, node, total = set(), nodes[2], 0.0
    while node not in seen:
        seen.add(node)
        total += node.value * len(seen)
        node = node.after
    squares = {}
    for node in nodes:
        squares[node] = node.value**2
    return total + sum(squares[node] for node in nodes if node in seen)


def lists_of_objects(x):
    head, nodes = None, []
    for v in x:
        head = Cell(v, head)
        nodes.append(head)
    nodes.reverse()
    nodes.insert(1, nodes.pop())
    total = 0.0
    for i, node in enumerate(nodes):
        total += i * node.value + (0.0 if node.after is None else node.after.value**2)
    return total + (x[0] if head in nodes else x[1]) * nodes.index(nodes[2])


def changed_in_a_recursion(x):
    def build(i):
        if i >= len(x):
            return None
        cell = Cell(x[i])
        cell.after = build(i + 2)
        return cell

    def scale(cell, s):
        if cell is not None:
            cell.value *= s
            scale(cell.after, s * cell.value)

    a, b = build(0), build(1)
    scale(a, 1.5)
    scale(b, a.value)
    total = 0.0
    for cell in (a, b):
        while cell is not None:
            total += cell.value
            cell = cell.after
    return total


def attributes_that_come_later(x):
    nodes = [Cell(v) for v in x]
    i = 0
    while i < 3:
        for node in nodes:
            node.value = node.value * 1.1
            node.sum = node.value if i == 0 else node.sum + node.value**2
        nodes.append(Cell(nodes[0].value))
        nodes[-1].sum = 0.0
        i += 1
    return sum(node.sum for node in nodes)


class Preset:
    __slots__ = ("after", "pair", "value")

    def __init__(self, after):
        self.after = after
        self.pair = None


class WithDefaults:
    mass = None
    pair = None
    weight = 2.0

    def __init__(self, after):
        self.after = after


def defaults_of_the_class(x):
    head, preset = None, None
    for v in x:
        head, preset = WithDefaults(head), Preset(preset)
        preset.value = v
        if v > 0:
            head.mass = v * v
            head.pair = preset.pair = (v, v * 2)
            head.weight = v
    total = 0.0
    while head is not None:
        total += x[0] if head.mass is None else head.mass
        total += x[1] if head.pair is None else head.pair[0] * head.pair[1]
        total += preset.value if preset.pair is None else preset.pair[1] ** 2
        total *= head.weight
        head, preset = head.after, preset.after
    return total


def none_is_caught(x):
    head = None
    for v in x:
        head = Cell(v, head)
    total = 0.0
    for _ in range(20):
        try:
            total += head.value**2
            head = head.after
        except AttributeError:
            break
    return total


def perhaps_an_attribute(x):
    head, total = None, 0.0
    for v in x:
        head = Cell(v, head)
        if v > 0:
            head.mark = v
    while head is not None:
        if hasattr(head, "mark"):
            total += head.mark
        head = head.after
    return total


PROGRAMS = (
    linked, search_tree, recursive_search_tree, neighbours, parsed, merged_groups, event_queue,
    doubly_linked, bodies, message_passing, arrays_of_two_objects, lists_of_two_objects,
    number_or_none, array_or_none, tuple_or_none, shapes, protocols, layers, sets_and_dicts,
    lists_of_objects, changed_in_a_recursion, attributes_that_come_later, perhaps_an_attribute,
    defaults_of_the_class, none_is_caught,
)  # fmt: skip


# What makes or changes objects in a recursion has a gradient, but that has none
RECURSIVE = (recursive_search_tree, neighbours, changed_in_a_recursion)


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradient_is_right(program):
    check_grads(program, (X,), order=1 if program in RECURSIVE else 2)
    assert srcgrad.value_and_grad(program)(X)[0] == pytest.approx(program(X), rel=1e-12)


@pytest.mark.parametrize("program", [linked, search_tree, parsed, shapes])
def test_other_data_make_other_objects(program):
    gradient = srcgrad.grad(program)
    for seed in range(4):
        x = np.random.default_rng(seed).normal(size=7 + seed)
        given = x.copy()
        found = gradient(x)
        np.testing.assert_array_equal(x, given)
        direction = np.random.default_rng(9).normal(size=x.shape)
        step = 1e-6 * direction
        difference = (program(x + step) - program(x - step)) / 2e-6
        assert found @ direction == pytest.approx(difference, rel=1e-5, abs=1e-6)


def test_attributes_are_lists():
    text = stages(linked, X)["emitted"]
    assert "cell_value.append(v * v)" in text
    assert "node_1 = cell_after[node]" in text
    assert "while node is not None:" in text


def returned(x):
    head = None
    for v in x:
        if v > 0:
            head = Cell(v, head)
            head.value *= 2.0
    while head.after is not None:
        head.after.value += head.value
        head = head.after
    return head.value, head


def kept_in_an_array(x):
    cells = []
    i = 0
    while i < len(x):
        cells.append(Cell(x[i]))
        cells[-1].after = cells[0]
        i += 1
    return np.array([cells])[0, 0].value  # of two axes


def of_two_kinds(x):
    head = None
    for v in x:
        head = Cell(0.0, head)
        if v > 0:
            head.value = (v, v)
    return head.value if head.after is None else head.after.value


def two_functions(x):
    head = None
    for v in x:
        head = Layer(np.tanh if v > 0 else (lambda z: z), v, head)
        head.weight *= 2
    return head(x[0])


def equal_objects_in_a_set(x):
    head, seen = None, set()
    for v in x:
        new = Scaled(v)
        new.after = head
        head = new
        if v > 0:
            head.value = 2.0
        seen.add(head)
    return head.value * len(seen)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (kept_in_an_array, "which object is changed here"),
        (of_two_kinds, r"'value' of objects .* different kinds \(line \d+\)"),
    ],
)
def test_refused(program, message):
    with pytest.raises(srcgrad.UnsupportedError, match=message) as refusal:
        srcgrad.grad(program)(X)
    assert refusal.value.lineno is not None


@pytest.mark.parametrize("program", [recursive_search_tree, changed_in_a_recursion])
def test_second_derivatives_of_a_recursion_are_refused(program):
    with pytest.raises(srcgrad.UnsupportedError, match="computed again in the reverse sweep"):
        srcgrad.hessian(program)(X)


def test_objects_of_a_gradient_stay_inside():
    def outer(x):
        found = []

        def inner(x):
            head = None
            for v in x:
                if v > 0:
                    head = Cell(v, head)
                    head.value *= 2.0
                    found.append(head)
            return head.value**2

        return np.sum(srcgrad.grad(inner)(x) ** 2) + found[0].value

    with pytest.raises(srcgrad.UnsupportedError):
        srcgrad.grad(outer)(X)


def test_objects_are_not_returned():
    with pytest.raises(srcgrad.UnsupportedError, match="can't be returned"):
        srcgrad.grad(returned, has_aux=True)(X)


def test_objects_of_a_class_that_the_program_defines_are_refused():
    """The class is another one each time the program is lowered: compiling didn't end."""

    def f(x):
        class Event:
            def __init__(self, time, size):
                self.time, self.size = time, size

        queue = []
        for i, v in enumerate(x):
            heapq.heappush(queue, (abs(v), i, Event(abs(v), v)))
        total = 0.0
        while queue:
            time, _, event = heapq.heappop(queue)
            total = total * 0.9 + event.size * time
        return total

    with pytest.raises(srcgrad.UnsupportedError, match="whether these are the same object"):
        srcgrad.grad(f)(X)


class Mover:
    def __init__(self, place, speed):
        self.place, self.speed = place, speed
        self.path = [place]

    def step(self, force):
        self.speed = self.speed + 0.1 * force
        self.place = self.place + 0.1 * self.speed
        self.path.append(self.place)


def many_bodies(x):
    bodies = []
    for i in range(len(x)):
        bodies.append(Mover(x[i], 0.1 * x[i] ** 2))
    for _ in range(3):
        for a in bodies:
            force = 0.0
            for b in bodies:
                if a is not b:
                    force = force + np.sin(b.place - a.place)
            a.step(force)
    return sum(b.speed * b.place for b in bodies)


WEIGHTS = [0.5, 0.3]


class Gaussian:
    def __init__(self, exponent, weight, centre):
        self.exponent, self.weight, self.centre = exponent, weight, np.array(centre)


def overlaps(x):
    """Lists of lists of objects and four loops over them, as in quantum chemistry."""
    shells = []
    for centre in ([0.0, 0.0, 0.0], [0.0, 0.0, x[0]], [0.0, x[1], x[0]]):
        shells.append(
            [Gaussian(a * x[2], w, centre) for a, w in zip((1.0, 2.5), WEIGHTS, strict=True)]
        )
    n = len(shells)
    overlap = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for k in range(len(shells[i])):
                for m in range(len(shells[j])):
                    a, b = shells[i][k], shells[j][m]
                    apart = a.centre - b.centre
                    reduced = a.exponent * b.exponent / (a.exponent + b.exponent)
                    overlap[i, j] += a.weight * b.weight * np.exp(-reduced * np.dot(apart, apart))
    for a in shells[0]:
        for b in shells[1]:
            overlap[0, 1] *= 1.0 + 0.1 * a.exponent * b.weight
    return np.sum(overlap**2)


def test_where_very_much_would_be_unrolled_loops_over_lists_are_kept(monkeypatch):
    monkeypatch.setattr("srcgrad.compiler.LONG", 100)
    monkeypatch.setattr("srcgrad.compiler.TOO_LONG", 200)
    check_grads(overlaps, (np.array([0.7, 0.4, 1.1]),), order=1)
    gradient = srcgrad.grad(overlaps)
    gradient(np.array([0.7, 0.4, 1.1]))
    assert len(gradient.source.splitlines()) < 200


def test_where_much_would_be_unrolled_objects_stand_in_tables():
    few, many = np.linspace(0.1, 1.0, 3), np.linspace(0.1, 1.0, 40)
    gradient = srcgrad.grad(many_bodies)
    for x in (few, many):
        slope = gradient(x)
        direction = np.cos(np.arange(len(x)))
        moved = [many_bodies(x + h * direction) for h in (1e-5, -1e-5)]
        assert slope @ direction == pytest.approx((moved[0] - moved[1]) / 2e-5, rel=1e-7)
    assert len(gradient.source.splitlines()) < 300


def test_tables_after_much_that_must_be_unrolled(monkeypatch):
    monkeypatch.setattr("srcgrad.compiler.LONG", 100)
    monkeypatch.setattr("srcgrad.compiler.TOO_LONG", 200)

    def scaled(factor):
        return lambda value: value * factor

    def f(x):
        total = 0.0
        steps = [(scaled(0.9 + 0.01 * i), x[0] * i) for i in range(6)]
        for first, a in steps:
            for second, b in steps:
                total = second(first(total)) + np.sin(a - b) * 0.1
                total = total * 0.99 + np.cos(b)
        head = None
        for v in x[1:]:
            if v < 1.0:
                head = Cell(v * v * x[0], head)
        while head is not None:
            total = total * 0.9 + head.value
            head = head.after
        return total

    slope, direction = srcgrad.grad(f)(X), np.cos(np.arange(len(X)))
    moved = [f(X + h * direction) for h in (1e-6, -1e-6)]
    assert slope @ direction == pytest.approx((moved[0] - moved[1]) / 2e-6, rel=1e-6)


class Momentum:
    def __init__(self):
        self.state = {}

    def update(self, name, value, slope):
        if name not in self.state:
            self.state[name] = {"count": 0, "mean": np.zeros_like(slope)}
        count = self.state[name]["count"] + 1
        self.state[name]["count"] = count
        self.state[name]["mean"] = 0.9 * self.state[name]["mean"] + 0.1 * slope
        return value - 0.3 * self.state[name]["mean"] / (1 - 0.9**count)


class Factor:
    def __init__(self, weights, optimizer):
        self.weights, self.slope = weights, np.zeros_like(weights)
        self.optimizer, self.inputs = optimizer, []

    def forward(self, x):
        self.inputs.append(x)
        return x * self.weights

    def backward(self, d):
        self.slope += d * self.inputs.pop()
        return d * self.weights

    def update(self):
        self.weights = self.optimizer.update("weights", self.weights, self.slope)

    def flush(self):
        self.inputs, self.slope = [], np.zeros_like(self.slope)


def test_what_a_loop_makes_at_first_beside_lists_that_it_makes_anew():
    """The first iteration stands alone, though the list has the loop lowered once more."""

    def train(x, steps):
        layer = Factor(x, Momentum())
        for _ in range(steps):
            layer.backward(layer.forward(np.cos(x)) - 1.0)
            layer.update()
            layer.flush()
        return np.sum(layer.weights**2)

    gradient, direction = srcgrad.grad(train), np.cos(np.arange(len(X)))
    for steps in (1, 4):
        moved = [train(X + h * direction, steps) for h in (1e-6, -1e-6)]
        assert gradient(X, steps) @ direction == pytest.approx((moved[0] - moved[1]) / 2e-6)
    assert "dict(" not in gradient.source


class Material:
    def __init__(self, color, ambient=0.1, *others, gloss=3.0, **more):
        shade = color * ambient
        self.__dict__.update({k: v for k, v in locals().items() if k != "self"})


class Settings:
    def __init__(self, scale, shift=2.0):
        parameters = locals()
        parameters.pop("self")
        self.parameters = parameters


def shaded(x):
    m = Material(x[0], x[1], gloss=x[2])
    settings = Settings(x[2])
    names = [*vars(m), *settings.parameters]
    assert names == ["color", "ambient", "gloss", "others", "more", "shade", "scale", "shift"]
    total = m.shade * m.color + m.ambient * m.gloss + len(m.others) + len(m.more)
    return total + sum(settings.parameters.values()) * settings.parameters["scale"]


def after_a_loop(x):
    total = 0.0
    for v in x:
        total += v
    return locals()["total"]


def test_locals_is_a_dict_of_the_parameters():
    check_grads(shaded, (np.array([0.4, 0.9, 1.3]),))
    with pytest.raises(srcgrad.UnsupportedError, match=r"locals\(\) isn't supported here"):
        srcgrad.grad(after_a_loop)(np.ones(2))


class Cached:
    def __init__(self, v):
        self.v = v

    @functools.cached_property
    def twice(self):
        return self.v * 2


class CachedPair(Cached):
    @functools.cached_property
    def pair(self):
        return self.v * 2, [self.v[0] ** 2]

    @property
    def twice(self):
        return self.pair[0] * self.pair[1][0]


class AskedByHasattr(Cached):
    @property
    def twice(self):
        if not hasattr(self, "kept"):
            self.kept = self.v * 2
        return self.kept


class AskedByGetattr(Cached):
    @property
    def twice(self):
        kept = getattr(self, "kept", None)
        if kept is None:
            kept = self.kept = self.v * 2
        return kept


class AskedByTry(Cached):
    @property
    def twice(self):
        try:
            return self.kept
        except AttributeError:
            self.kept = self.v * 2
            return self.kept


class AskedInDict(Cached):
    @property
    def twice(self):
        if "kept" not in self.__dict__:
            self.kept = self.v * 2
        return self.__dict__.get("kept", 0.0)


class MadeWhenMissing:
    def __init__(self, v):
        self.v = v

    def __getattr__(self, name):
        if name != "twice":
            raise AttributeError(name)
        self.twice = self.v * 2
        return self.twice


CACHES = (
    Cached, CachedPair, AskedByHasattr, AskedByGetattr, AskedByTry, AskedInDict, MadeWhenMissing,
)  # fmt: skip


def first_asked_in_a_loop(cls, x, n):
    c, total = cls(x), 0.0
    for i in range(n):
        total += np.sum(c.twice) * (i + 1)
        c.v = c.v * 3  # what is kept stays
    return total


def asked_later_in_loops(cls, x, n):
    c, total = cls(x), 0.0
    for i in range(n):
        for j in range(n):
            if i > 0 and j != i:
                total += np.sum(c.twice**2) * j
        c.v = c.v * 3
    return total


@pytest.mark.parametrize("f", [first_asked_in_a_loop, asked_later_in_loops])
@pytest.mark.parametrize("cls", CACHES, ids=lambda cls: cls.__name__)
def test_what_an_object_keeps_is_made_in_a_loop(cls, f):
    x = np.array([0.5, 0.8])
    assert srcgrad.value_and_grad(lambda x: f(cls, x, 3))(x)[0] == pytest.approx(f(cls, x, 3))
    check_grads(lambda x: f(cls, x, 3), (x,), order=1)


def asked_in_a_product(x):
    c, total = Cached(x), 0.0
    for m in itertools.product(range(int(x[0] > 0) + 1), repeat=2):
        total += np.dot(m, c.twice)
    return total


def test_what_an_object_keeps_is_right_or_refused():
    x = np.array([0.5, 0.8])
    try:
        found = srcgrad.grad(asked_in_a_product)(x)
    except srcgrad.UnsupportedError as error:
        assert "whether this object has the attribute" in str(error)
    else:
        np.testing.assert_allclose(found, [4.0, 4.0])


def copied_ring_in_a_loop(x):
    class Link:
        def __init__(self, v):
            self.v, self.next = v, self

    first, second = Link(x * x), Link(np.sin(x))
    first.next, second.next = second, first
    for i in range(len(x)):
        ring = copy.deepcopy(first)
        ring.v[0] = x[i]
        ring.next.v += first.v[i]
        first.next.v[i] += ring.next.next.v[0]
    return np.sum(ring.v * first.v) + ring.next.next.v @ second.v


def test_rings_of_objects_copied_in_a_loop():
    check_grads(copied_ring_in_a_loop, (np.array([0.3, -0.4, 0.7]),))


class Holder:
    def __init__(self, x, held):
        self.x, self.held = x, held


@pytest.mark.parametrize("held", [Holder(2.0, None), Holder(np.array([1.0, 2.0]), None)])
def test_hessians_by_objects_that_hold_some_that_are_not_read(held):
    second = srcgrad.hessian(lambda o: o.x**2)(Holder(3.0, held))
    assert second.x.x == 2.0
    for zero in (second.x.held.x, second.held.x.x, second.held.x.held.x):
        np.testing.assert_array_equal(zero, 0.0)
    both = srcgrad.hessian(lambda o: o.x**2 * np.sum(o.held.x))(Holder(3.0, held))
    np.testing.assert_allclose(both.x.held.x, 6.0 * np.ones(np.shape(held.x)))


class Modules:
    """A list of layers whose attributes are numbers."""

    def __init__(self, *items):
        self.count = 0
        for item in items:
            self.append(item)

    def append(self, item):
        setattr(self, str(self.count), item)
        self.count += 1

    def __getitem__(self, i):
        return getattr(self, str(i))


def test_attributes_whose_names_are_no_identifiers():
    def f(modules, x):
        modules.append(x * modules[0])
        return np.sum(modules[1] ** 2), modules

    modules, x = Modules(np.array([1.0, 2.0])), np.array([0.5, 3.0])
    ((value, out), pullback) = srcgrad.vjp(f, modules, x)
    assert value == 36.25
    np.testing.assert_array_equal(vars(out)["1"], [0.5, 6.0])
    d_modules, d_x = pullback((1.0, Modules(np.ones(2), np.zeros(2))))
    np.testing.assert_allclose(vars(d_modules)["0"], 2 * modules[0] * x**2 + 1)
    np.testing.assert_allclose(d_x, 2 * x * modules[0] ** 2)
    gradient = srcgrad.grad(lambda modules, x: f(modules, x)[0])
    np.testing.assert_allclose(vars(gradient(modules, x))["0"], 2 * modules[0] * x**2)


class Called:
    """An object that is called, as layers are."""

    def __init__(self, weights):
        self.weights = weights

    def __call__(self, x):
        return np.sum(self.weights**2 * x)

    def trained(self, x):
        column = self.weights.T @ x
        self.weights -= 0.1 * x[:, None] * column
        return np.sum(self.weights @ column)


def test_pullbacks_by_objects_that_are_called():
    weights, x = np.array([[1.0, 2.0], [3.0, 4.0], [0.5, 2.5]]), np.array([1.5, 0.5, -1.0])
    called = Called(weights.copy())
    _, pullback = srcgrad.vjp(lambda called, x: called(x[:, None]), called, x)
    called.weights *= 10.0  # what the caller does later doesn't matter
    for _ in range(2):
        d_called, _ = pullback(1.0)
        np.testing.assert_array_equal(d_called.weights, 2 * weights * x[:, None])

    def loss(called, x):
        return called.trained(x) + called(x[:, None])

    expected = srcgrad.grad(loss)(Called(weights), x).weights
    assert np.all(expected != 0.0)
    _, pullback = srcgrad.vjp(loss, Called(weights), x)
    first, second = pullback(1.0), pullback(2.0)
    np.testing.assert_allclose(first[0].weights, expected)
    np.testing.assert_allclose(second[0].weights, 2 * expected)


def noted(x):
    return x


noted.last = noted


class Noting:
    def __init__(self, value):
        self.value, self.note = value, noted


def test_what_a_returned_object_holds_beside_numbers_may_be_in_a_circle():
    x = np.array([1.0, 2.0])
    out, pullback = srcgrad.vjp(lambda x: [Noting(x * x), Noting(x)], x)
    assert out[0].note is noted
    np.testing.assert_array_equal(pullback([Noting(np.ones(2)), Noting(x)])[0], 3 * x)
    with pytest.raises(ValueError, match="shape"):
        pullback([Noting(np.ones(3)), Noting(x)])
