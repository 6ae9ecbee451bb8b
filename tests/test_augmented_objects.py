"""`o += p` where a class says what that does: of objects that only the run tells apart, too."""

import functools
import operator

import numpy as np
import pytest

from srcgrad.testing import check_grads
from tests.small_programs import X, programs


class State:
    """In place, and not as a sum is."""

    def __init__(self, u, t):
        self.u, self.t = u, t

    def __add__(self, other):
        return State(self.u + other.u, self.t + other.t)

    def __iadd__(self, other):
        self.u += other.u
        return self


class Product(State):
    def __iadd__(self, other):
        self.u *= other.u
        self.t = self.t * 2
        return self


class Sum:
    def __init__(self, u, t):
        self.u, self.t = u, t

    def __add__(self, other):
        return Sum(self.u + 2 * other.u, self.t + other.t)


class Operators:
    def __init__(self, u):
        self.u = u

    def __imul__(self, k):
        self.u = self.u * k
        return self

    def __isub__(self, k):
        return Operators(self.u - k)

    def __ipow__(self, k):
        self.u **= k
        return self


class Holder:
    def __init__(self, state):
        self.state = state


def total(states):
    return sum(np.sum(o.u * o.u) * o.t for o in states)


def items_of_a_list(x):
    states = []
    for i in range(len(x)):
        states.append(State(x * i, 1.0 * i))
    for i in range(len(x)):
        o = states[i]
        o += states[0]
        states[i] += State(x, 1.0)
    return total(states)


def one_of_two(x):
    a, b = State(x * 1.0, 1.0), State(x * 2.0, 2.0)
    for i in range(len(x)):
        o = a if x[i] > 0.5 else b
        o += State(x, 3.0)
    return total([a, b])


def of_several_classes(x):
    states = []
    for i in range(len(x)):
        if x[i] > 0.5:
            states.append(State(x * i, 1.0 * i))
        elif x[i] > 0.1:
            states.append(Product(x * i, 1.0 * i))
        else:
            states.append(Sum(x * i, 1.0 * i))
    for o in states:
        o += State(x, 1.0)
    for i in range(len(x)):
        states[i] += states[0]
    return total(states)


def in_a_dict(x):
    states = {"a": State(x * 1.0, 1.0), "b": State(x * 2.0, 2.0)}
    for i in range(len(x)):
        states["a" if x[i] > 0.5 else "b"] += State(x, 3.0)
    return total(states.values())


def in_an_object(x):
    holders = []
    for i in range(len(x)):
        holders.append(Holder(State(x * i, 1.0)))
    for i in range(len(x)):
        holders[i].state += State(x, 2.0)
    return total([h.state for h in holders])


def other_operators(x):
    things = []
    for i in range(len(x)):
        things.append(Operators(x * (i + 1)))
    for i in range(len(x)):
        o = things[i]
        o *= x[i]
        o -= 1.0
        o **= 2
        things[-1 - i] *= 2.0
    return sum(np.sum(o.u**2) for o in things)


def lists_and_arrays(x):
    a, b, u, v = [x[0]], [x[1], x[2]], x * 1.0, x * 2.0
    for i in range(len(x)):
        items, array = (a, u) if x[i] > 0.5 else (b, v)
        items += [x[i] * 2]
        array += x[i]
    return sum(a) * 2 + sum(w * w for w in b) + np.sum(u**2) + np.sum(v)


def by_functions(x):
    states = []
    for i in range(len(x)):
        states.append(State(x * i, 1.0))
    operator.iadd(states[1], State(x, 2.0))
    functools.reduce(operator.iadd, states)
    return total(states)


# What the right-hand side rebinds is changed as it was before


def by_what_rebinds_it(x):
    a, items = x * 1.0, [x[0]]

    def moved(k):
        nonlocal a, items
        a, items = a + k * x, [x[1] * k, x[2]]
        return a

    for i in range(len(x)):
        a -= moved(i) * 0.5
    items += [np.sum(moved(2.0))]
    a *= moved(3.0)
    return np.sum(np.sin(a) * x) + items[0] * 2 + items[-1] * len(items)


class Moving:
    def __init__(self, u):
        self.u, self.parts = u, [u, u * 2]

    def moved(self, k):
        self.u = self.u + k * k
        self.parts[1] = self.parts[1] * k
        return self.u


def by_what_assigns_the_attribute(x):
    o = Moving(x * 1.0)
    o.u -= o.moved(x)
    o.parts[1] *= o.moved(x)
    return np.sum(np.sin(o.u) * x) + np.sum(o.parts[1])


def by_what_assigns_the_attributes_of_many(x):
    things = []
    for i in range(len(x)):
        things.append(Moving(x * i))
    for o in things:
        o.u -= o.moved(x) * 0.5
    return sum(np.sum(o.u**2) for o in things)


def by_what_stores_the_item(x):
    table, rows = {"u": x * 1.0}, [v * x for v in x]

    def moved(i):
        table["u"] = table["u"] * x
        rows[i] = rows[i] - x
        return rows[i]

    for i in range(len(rows)):
        rows[i] *= moved(i)
        table["u"] += moved(i)
    return np.sum(table["u"] * x) + np.sum(sum(rows) ** 2)


def arrays_added_to_lists(x):
    """A list has no operator `+=` of numbers, which are asked first: an array's makes an array."""
    one = [x[0], x[1], x[2]]
    two, three, rows = one, [v * v for v in x], [[1.0, 2.0, 3.0]]
    two += x
    three *= x[:3] if len(three) == 3 else x
    rows[0] += x[:3]
    table = {"a": one}
    table["a"] += np.arange(3.0) * x[0]
    for _ in range(2):
        three += x
    one += [x[1]]
    operator.iconcat(one, x)
    one *= 2
    total = len(one) * x[0] + np.sum(two * x) + np.sum(np.sin(three)) + np.sum(rows[0] * x[:3])
    return total + sum(one) + np.sum(table["a"] ** 2)


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_it_gives_the_derivatives(f):
    for x in (X, X[::-1].copy()):
        check_grads(f, (x,))
