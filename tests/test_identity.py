"""Which objects are the same: what is passed to a function may be found in several places."""

import copy
import enum
import itertools
from dataclasses import dataclass, field

import numpy as np
import pytest

from srcgrad import UnsupportedError, grad, value_and_grad
from srcgrad.testing import check_grads


class Body:
    def __init__(self, x, m):
        self.x, self.m = np.array(x), m


SUN = Body([0.0, 0.0], 5.0)
SYSTEM = [SUN, Body([1.0, 1.0], 2.0)]
TABLE = {"k": 1.0}
SAME_TABLE, OTHER_TABLE = TABLE, {"k": 1.0}


def pull(a, b):
    return a.m * b.m / np.sqrt(np.sum((a.x - b.x) ** 2))


def by_identity(body, bodies):
    return sum(pull(body, other) for other in bodies if other is not body)


def by_equality(body, bodies):
    total = 0.0
    for other in bodies:
        if body == other:
            continue
        total = total + pull(body, other)
    return total


def by_inequality(body, bodies):
    return sum([pull(body, other) for other in bodies if body != other], 0.0)


def by_membership(body, bodies):
    return sum([pull(body, other) for other in bodies if other not in [body]], body.m)


@pytest.mark.parametrize("f", [by_identity, by_equality, by_inequality, by_membership])
def test_an_object_among_others(f):
    """One compiled gradient, whichever of them it is."""
    bodies = [Body([0.1 * i, i % 2], 1.0 + i) for i in range(4)]
    gradient = value_and_grad(f)
    for body in (bodies[1], Body([3.0, 2.0], 1.5), bodies[0], bodies[3]):
        value, d_body = gradient(body, bodies)
        assert value == pytest.approx(f(body, bodies))
        others = [b for b in bodies if b is not body]
        aside = copy.deepcopy(body)
        np.testing.assert_allclose(d_body.x, grad(f)(aside, others).x)


@pytest.mark.parametrize("f", [by_identity, by_equality, by_inequality])
def test_an_object_outside(f):
    gradient = value_and_grad(lambda body: f(body, SYSTEM))
    for body in (SUN, SYSTEM[1], Body([3.0, 2.0], 1.5), SUN):
        assert gradient(body)[0] == pytest.approx(f(body, SYSTEM))


def all_pairs(bodies):
    return sum(pull(a, b) for a in bodies for b in bodies if a != b)


def all_combinations(bodies):
    return 2.0 * sum(pull(a, b) for a, b in itertools.combinations(bodies, 2))


def test_all_pairs_of_objects():
    bodies = [Body([0.1 * i, i % 2], 1.0 + i) for i in range(4)]
    found, expected = grad(all_pairs)(bodies), grad(all_combinations)(bodies)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.x, b.x)
        np.testing.assert_allclose(a.m, b.m)


@dataclass
class Pair:
    first: list = field(default_factory=lambda: [1.0])
    second: list = field(default_factory=lambda: [1.0])


def lists(a, b):
    return sum(a) * (2.0 if a is b else 3.0)


def parts(pair):
    return sum(pair.first) * (2.0 if pair.first is pair.second else 3.0)


def test_lists_and_dicts():
    for a, b in (([1.0], [1.0]), ({"k": 1.0}, {"k": 1.0})):
        gradient = value_and_grad(lambda a, b: lists([a["k"]], b) if a is b else 7.0 * a["k"])
        f = value_and_grad(lists) if isinstance(a, list) else gradient
        expected = [2.0, 3.0, 2.0] if isinstance(a, list) else [3.0, 7.0, 3.0]
        assert [f(a, other)[0] for other in (a, b, a)] == expected
    pair, one = Pair(), Pair()
    one.second = one.first
    gradient = value_and_grad(parts)
    assert [gradient(p)[0] for p in (pair, one, pair)] == [3.0, 2.0, 3.0]


def test_two_names_of_one_dict_outside():
    def f(x):
        return x * (2.0 if TABLE is SAME_TABLE else 3.0) * (5.0 if TABLE is OTHER_TABLE else 7.0)

    assert grad(f)(1.0) == f(1.0) == 14.0


def test_one_object_twice_where_it_is_written():
    def f(a, b):
        if a is b:
            return a.m * 7.0
        a.m = a.m * 2.0
        return a.m * b.m

    a, b = Body([0.0], 2.0), Body([0.0], 3.0)
    assert grad(f)(a, b).m == 6.0
    with pytest.raises(ValueError, match="the same Body is in two places of the arguments"):
        grad(f)(a, a)


def test_functions_of_numpy_in_two_places_of_what_is_written():
    class Filter:
        def __init__(self):
            self.state, self.subtract, self.residual = 1.5, np.subtract, np.subtract
            self.norms = [np.linalg.norm, np.linalg.norm]

    def f(filter, x):
        filter.state = filter.subtract(x, filter.state)
        return filter.residual(filter.state, 2 * x) * filter.norms[1](filter.state)

    assert grad(f, argnums=1)(Filter(), 2.5) == -1.0 * 1.0 + (1.0 - 5.0)


class Mode(enum.Enum):
    FAST = "fast"
    SLOW = "slow"


class Stage:
    def __init__(self, mode):
        self.mode, self.gain = mode, np.array([1.0, 2.0])

    def pushed(self, x):
        self.gain *= x
        return self.gain if self.mode is Mode.FAST else 2 * self.gain


def test_members_of_an_enum_in_two_places_of_what_is_written():
    def f(stages, x):
        return sum(np.sum(stage.pushed(x)) for stage in stages)

    stages = [Stage(Mode.FAST), Stage(Mode.SLOW), Stage(Mode.FAST)]
    assert grad(f, argnums=1)(stages, 0.5) == 3.0 + 6.0 + 3.0


def the_heaviest(bodies, body):
    best = bodies[0]
    for other in bodies:
        if other.m > best.m:
            best = other
    return best.m * (2.0 if best is body else 3.0) + (body.m if best != body else 0.0)


def the_last_heavy_one(bodies, body):
    found = None
    for other in bodies:
        if other.m > 2.0:
            found = other
    return body.m if found is None else found.m * (2.0 if found is body else 3.0)


@pytest.mark.parametrize("f", [the_heaviest, the_last_heavy_one])
def test_one_of_several_objects(f):
    a, b, c = Body([0.0], 1.5), Body([0.0], 2.5), Body([0.0], 3.5)
    gradient = value_and_grad(f)
    for bodies, body in (([a, b], b), ([a, b], a), ([a, b], c), ([c, b, a], c), ([a], a)):
        assert gradient(bodies, body)[0] == f(bodies, body)


class Node:
    def __init__(self, value, *parts):
        self.value, self.parts, self.slope = value, parts, 0.0


def by_the_id_of_objects(x):
    a, b = Node(x[0]), Node(x[1])
    top = Node(a.value * b.value, a, Node(b.value**2, b, a))
    order, seen = [], set()

    def visit(node):
        if id(node) in seen:
            return
        seen.add(id(node))
        for part in node.parts:
            visit(part)
        order.append(node)

    visit(top)
    return sum((i + 1) * node.value for i, node in enumerate(order)) * len(seen)


def by_the_id_of_dicts(x):
    leaves = [{"v": x[0]}, {"v": x[1]}]
    weight = {id(leaf): (i + 2.0) * x[1] for i, leaf in enumerate(leaves)}
    return sum(leaf["v"] * weight[id(leaf)] for leaf in [*leaves, leaves[0]])


def by_the_id_of_arrays(x):
    """The number of each array is its own, also where nothing else keeps it in the gradient."""
    weights = [x * i for i in range(1, 4)]
    state = {id(w): np.zeros_like(w) for w in weights}
    for _ in range(2):
        for w in weights:
            s = state[id(w)]
            s += w * w
            w -= 0.1 * s
    kept, seen = [], []
    for i in range(4):
        made = x * i
        kept.append(made)
        if id(made) not in seen:
            seen.append(id(made))
    return len(seen) * sum(w.sum() for w in weights) + (id(w) == id(weights[2])) * x[0]


@pytest.mark.parametrize("f", [by_the_id_of_objects, by_the_id_of_dicts, by_the_id_of_arrays])
def test_ids(f):
    check_grads(f, (np.array([0.4, 0.7]),))


def the_others(x):
    pairs = [(x[0], x[1]), (x[1], x[0]), (x[1], 2.0)]
    return sum(p[0] * q[1] for p in pairs for q in pairs if p is not q)


def one_by_two_names(x):
    pair = (x[0], x[1])
    other = (x[0], x[1])
    return x[0] * (2 if pair is other else 3) * (5 if other is other else 7)


NONE = ()


def of_other_lengths(x):
    rows = [(v, v) for v in x]
    single, empty = (x[0],), ()
    return sum(p[0] for p in rows if p is not single) * (2 if empty is NONE else 3)


def dicts_of_a_list(x):
    bodies = []
    for v in x:
        if v > 0:
            bodies.append({"m": v})
    return sum(a["m"] ** 2 * b["m"] for a in bodies for b in bodies if a is not b)


def sets_of_a_list(x):
    groups = []
    for i, v in enumerate(x):
        if v > 0:
            groups.append({i, 7})
    return sum(len(a & b) for a in groups for b in groups if a is b) * x[0]


@pytest.mark.parametrize(
    "f", [the_others, one_by_two_names, of_other_lengths, dicts_of_a_list, sets_of_a_list]
)
def test_which_tuples_and_dicts_are_one_object(f):
    check_grads(f, (np.array([0.4, 0.7]),))
    value, _ = value_and_grad(f)(np.array([0.4, 0.7]))
    assert value == pytest.approx(f(np.array([0.4, 0.7])))


PAIR = (1.0, 2.0)


def read_from_a_list(x):
    rows = [(v, 2 * v) for v in x]
    return sum(p[0] for p in rows if p is not rows[0])


def on_one_path(x):
    a, b = (x[0], x[1]), (x[0], x[1])
    if x[0] > 0:
        a = b
    return x[0] * (2 if a is b else 3)


def of_the_last_iteration(x):
    best = (x[0], x[0])
    for v in x:
        pair = (v, v)
        if pair[0] > best[0]:
            best = pair
        if best is pair:
            x = x * 2
    return np.sum(x)


def from_outside(x):
    return x[0] * (2 if PAIR is PAIR else 3)


def of_constants(x):
    a, b = (1, 2), (1, 2)
    return x[0] * (2 if a is b else 3)


@pytest.mark.parametrize(
    "f", [read_from_a_list, on_one_path, of_the_last_iteration, from_outside, of_constants]
)
def test_tuples_that_may_be_one_object_are_refused(f):
    with pytest.raises(UnsupportedError, match="whether these tuples are one object isn't known"):
        grad(f)(np.array([0.4, 0.7]))


def the_greatest_of_a_list(x):
    values = list(x)
    top = max(values)
    return sum(v for v in values if v is not top)


def read_twice(x):
    a, b = x[0], x[0]
    return x[1] * (2 if a is b else 3)


def kept_by_a_loop(x):
    best = np.inf
    for v in x:
        if best is not np.inf:
            best = best + v
        best = min(v, best)
    return best


def made_by_one_expression(x):
    a, b = 1.5, 3.0 / 2.0
    return x[0] * (2 if a is b else 3)


def scaled(value, one=0.5):
    return one if value is None else value * one


def an_array_or_a_number(x):
    a, b = x * x[1] if x[0] > 0.1 else x[0], scaled(None)
    return x[0] * (2 if a is b else 3)


@pytest.mark.parametrize(
    "f",
    [
        the_greatest_of_a_list,
        read_twice,
        kept_by_a_loop,
        made_by_one_expression,
        an_array_or_a_number,
    ],
)
def test_numbers_that_may_be_one_object_are_refused(f):
    with pytest.raises(UnsupportedError, match=r"(numbers|values) are one object isn't known"):
        grad(f)(np.array([0.4, 0.7]))


@pytest.mark.parametrize("f", [lambda x: x[0] * id(x[0]), lambda x: x[0] * (id(1.5) > 0)])
def test_ids_of_numbers_are_refused(f):
    with pytest.raises(UnsupportedError, match="the id of a number isn't known"):
        grad(f)(np.array([0.4, 0.7]))


def of_names(x, mode="full"):
    again = x[0]
    same = again
    total = x[0] * (2 if mode is FULL else 3) * (5 if mode is HALF else 7)
    return total * (11 if same is again else 13) * (17 if (x[0] > 0) is True else 19)


FULL, HALF = "full", "half"


def test_texts_that_are_names_and_names_for_one_number():
    x = np.array([0.4, 0.7])
    for args in ((x,), (x, "half"), (x, "none")):
        value, gradient = value_and_grad(of_names)(*args)
        assert value == pytest.approx(of_names(*args))
        np.testing.assert_allclose(gradient, [value / x[0], 0.0])


def nan_among(x):
    n, m = float("nan"), float("nan")
    items, none = [1.0, n, n], x[0] / 0.0 * 0.0
    total = x[0] * items.index(n) + x[1] * items.count(n) + x[2] * (none in [none])
    total = total + (x[0] if m in items else x[1]) + (x[2] if [m] == [n] else x[0])
    return total + (x[1] if (n, 1) == (n, 1) else x[2]) + (x[0] if (m, 1) != (n, 1) else x[2])


def test_what_is_the_same_is_equal_in_a_container():
    """Containers ask for identity first, so that one nan is equal to itself there."""
    x = np.array([0.3, 0.8, 0.55])
    with np.errstate(all="ignore"):
        value, gradient = value_and_grad(nan_among)(x)
        assert value == nan_among(x)
    np.testing.assert_array_equal(gradient, [3.0, 4.0, 1.0])


def array_among(x):
    a, b = x[:2] * 2.0, x[1:]
    return np.sum(a * b) if a in [a, b] else x[0] + [a, b].index(a)


def test_an_array_is_found_by_identity():
    x = np.array([0.3, 0.8, 0.55])
    value, gradient = value_and_grad(array_among)(x)
    assert value == array_among(x)
    np.testing.assert_allclose(gradient, [2 * x[1], 2 * x[0] + 2 * x[2], 2 * x[1]])
