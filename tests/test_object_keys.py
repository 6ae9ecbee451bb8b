"""Objects as the keys of dicts and the members of sets, by which object it is."""

import collections
import copy

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

X = np.array([0.4, 0.7, -0.3, 1.3])


class Value:
    """A number that knows what it was computed from, as in a small tape."""

    def __init__(self, data, parents=()):
        self.data, self.slope, self.parents = data, 0.0, set(parents)
        self.back = lambda: None

    def __mul__(self, other):
        out = Value(self.data * other.data, (self, other))

        def back():
            self.slope += other.data * out.slope
            other.slope += self.data * out.slope

        out.back = back
        return out

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for parent in value.parents:
                    visit(parent)
                order.append(value)

        visit(self)
        self.slope = 1.0
        for value in reversed(order):
            value.back()


def tape(x):
    a, b = Value(x[0]), Value(x[1])
    c = a
    for _ in range(3):
        c = c * b * a
    c.backward()
    return a.slope * b.slope


def edges(x):
    nodes, weights = [Value(v) for v in (x[0], x[1], x[2])], {}
    for i, a in enumerate(nodes):
        for b in nodes[i + 1 :]:
            weights[a, b] = a.data * b.data
    weights[(nodes[0], nodes[1])] *= 3
    return sum(w * b.data for (_, b), w in weights.items())


class Point:
    def __init__(self, place):
        self.place = place


def one_of_two(x):
    a, b = Point(x[0]), Point(x[1])
    kept, total = {a}, 0.0
    c = a if x[2] > 0 else b
    for node in (a, c):
        total += node.place * x[3] if node in kept else node.place**2
    return total


def another_in_each_iteration(x):
    first, seen, total = Point(x[0]), set(), 0.0
    node = first
    for _ in range(3):
        seen.add(node)
        total += node.place**2 if first in seen else 100.0
        node = Point(node.place * x[1])
        total += 100.0 * (node in seen)
    return total * len(seen)


def exchanged(x):
    a, b = Point(x[0]), Point(x[1])
    kept, total = {a}, 0.0
    for _ in range(3):
        if a in kept:
            total += a.place**2
        a, b = b, a
        b.place = 1.1 * b.place
    return total


def copies(x):
    a = Value(x[0])
    weights = {a: 2 * x[1]}
    again, (b, others) = weights.copy(), copy.deepcopy((a, weights))
    b.data, again[a] = b.data * 5, 3 * again[a]
    return weights[a] * again[a] * others[b] * b.data + 100 * (a in others)


def counted(x):
    a, b = Value(x[0]), Value(x[1])
    rows = collections.defaultdict(list)
    for node in (a, b, a):
        rows[node].append(node.data**2)
    both, one = {a, b}, {b}
    total = sum(n.data**3 for n in both - one) + len(both & one) + (one <= both)
    return total + sum(n * v.data for v, n in collections.Counter([a, b, a]).items()) + sum(
        sum(row) * node.data for node, row in rows.items()
    )  # fmt: skip


@pytest.mark.parametrize(
    "f", [tape, edges, one_of_two, another_in_each_iteration, exchanged, copies, counted]
)
def test_objects_are_keys(f):
    check_grads(f, (X,))
    value, _ = srcgrad.value_and_grad(f)(-X)
    assert value == pytest.approx(f(-X), rel=1e-12)


class Equal:
    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return self.number == other.number

    def __hash__(self):
        return hash(self.number)


def equal_to_another(x):
    return x[0] * len({Equal(1), Equal(1)})


NOTES = {}


def kept_outside(x):
    NOTES[Value(x[0])] = 1.0
    return x[0]


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (equal_to_another, "must be known when compiling"),
        (kept_outside, "key of a dict outside"),
    ],
)
def test_objects_that_can_not_be_keys(f, message):
    with pytest.raises(srcgrad.UnsupportedError, match=message):
        srcgrad.grad(f)(X)


def test_a_dict_with_objects_for_keys_is_not_returned():
    with pytest.raises(srcgrad.UnsupportedError, match="whose keys are objects can't be returned"):
        srcgrad.vjp(lambda x: {Value(x[0]): x[1]}, X)


def mean_square(x):
    """Some two hundred values on the tape, of which each keeps a function and those before it."""
    inputs = [Value(v) for v in x]
    terms = [a * b for a in inputs for b in inputs]
    powers = [t * t * t * t * t * t * t * t * t for t in terms[:3]]
    chain = terms[0]
    for t in [*terms, *powers]:
        chain = chain * t * terms[1]
    out = chain
    for _ in range(4):
        for p in powers:
            out = out * p * p * p * p
    out.backward()
    return sum(v.slope for v in inputs) * 1e3


def test_a_long_tape_is_gone_through():
    """The recursion goes deeper, and the loop over it is longer, than is unrolled lightly."""
    check_grads(mean_square, (1 + 0.1 * X,), order=1)


def sorted_with_a_stack(x):
    """The tape is put in order by a `while` over a stack, which takes more than a hundred steps."""
    inputs = [Value(v) for v in x]
    out = inputs[0]
    for k in range(30):
        out = out * inputs[k % 2]
    order, seen, stack = [], set(), [(out, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            order.append(node)
            continue
        if node in seen:
            continue
        seen.add(node)
        stack.append((node, True))
        for parent in node.parents:
            if parent not in seen:
                stack.append((parent, False))
    out.slope = 1.0
    for node in reversed(order):
        node.back()
    return sum(v.slope for v in inputs)


def test_a_long_tape_is_sorted_with_a_stack():
    check_grads(sorted_with_a_stack, (X,), order=1)


def kept_by_a_while(x):
    functions, left = [], 120
    while left:
        left -= 1
        functions.append(lambda v, k=left: v * (k + x[0]))
    return functions[0](x[1]) * functions[-1](x[2]) + len(functions)


def test_functions_are_kept_by_a_long_while():
    check_grads(kept_by_a_while, (X,), order=1)


class Parameter:
    def __init__(self, data):
        self.data = data


def by_arguments(weights, x):
    out = Value(x, weights)
    order, seen = [], set()
    for weight in weights * 2:
        if weight not in seen:
            seen.add(weight)
            order.append(weight.data * x)
    numbers = {weight: i + 1.0 for i, weight in enumerate(weights)}
    return sum(order) * numbers[weights[1]] + len(out.parents)


def test_objects_of_arguments_are_keys():
    weights = [Parameter(0.4), Parameter(0.7), Parameter(-1.3)]
    gradient = srcgrad.value_and_grad(by_arguments, argnums=(0, 1))
    value, (d_weights, d_x) = gradient(weights, 0.8)
    assert value == by_arguments(weights, 0.8)
    assert d_x == pytest.approx(2 * (0.4 + 0.7 - 1.3))
    assert [d.data for d in d_weights] == [1.6, 1.6, 1.6]
    with pytest.raises(ValueError, match="the same Parameter is in two places"):
        gradient([weights[0], weights[1], weights[0]], 0.8)


PLACE = Parameter(2.0)
PLACES, PAIRS = {PLACE: 5.0}, {(PLACE, 1): 5.0}
NUMBER, NUMBERS = id(PLACE), {id(PLACE): 5.0}


@pytest.mark.parametrize(
    "f",
    [
        lambda place, x: x**2 if place in PLACES else x,
        lambda place, x: PLACES.get(place, 1.0) * x,
        lambda place, x: sum({**PLACES, place: x}.values()),
        lambda place, x: len({place: x, **PLACES}) * x,
        lambda place, x: x**2 if (place, 1) in PAIRS else x,
    ],
)
def test_objects_of_arguments_that_may_be_keys_outside_are_refused(f):
    def written(place, x):
        place.data = x * place.data
        return f(place, x) * place.data

    for function in (f, written):
        with pytest.raises(srcgrad.UnsupportedError, match=r"known when compiling|may be the same"):
            srcgrad.grad(function, argnums=1)(PLACE, 3.0)


@pytest.mark.parametrize(
    "f",
    [
        lambda place, x: x**2 if id(place) == NUMBER else x,
        lambda place, x: NUMBERS.get(id(place), 1.0) * x,
        lambda place, x: {id(place): x}.get(NUMBER, 2.0),
    ],
)
def test_the_id_of_an_argument_is_its_own_where_a_copy_is_written(f):
    def written(place, x):
        data, place.data = place.data, x * place.data
        result = f(place, x) * place.data
        place.data = data
        return result

    for function in (f, written):
        value, slope = srcgrad.value_and_grad(function, argnums=1)(PLACE, 3.0)
        assert value == function(PLACE, 3.0)
        assert slope == pytest.approx(
            (function(PLACE, 3.0 + 1e-6) - function(PLACE, 3.0 - 1e-6)) / 2e-6, rel=1e-6
        )
