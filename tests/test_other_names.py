"""Objects that get a second name in a loop or a recursion, and are then changed or compared.

In the next iteration, or call, a name may stand for an object that was there before under another.
"""

import numpy as np
import pytest

from .small_programs import check, programs


def often(numbers):
    """Three, which only the run tells."""
    return int(numbers[0] + numbers[1] + 2.5)


def changed_before_it_is_read(x):
    d, e, total = {"a": x[0]}, {"a": x[1]}, 0.0
    for i in range(often(x)):
        total += e["a"]
        d["a"] = x[0] * i + 1
        total += e["a"] * x[2]
        e = d
    return total


def changed_once_it_may_be_the_other(x):
    d, e, y, total = {"a": x[0]}, {"a": x[1]}, x[2], 0.0
    for i in range(often(x)):
        d["a"] = x[0] * i
        total += e["a"]
        if y > 0.5:
            e = d
        y = y * 0.5
    return total


def compared_in_the_loop(x):
    d, e, y, total = {"a": x[0]}, {"a": x[1]}, x[2], 0.0
    for _ in range(often(x)):
        total += x[0] if e is d else x[1]
        if y > 0.5:
            e = d
        y = y * 0.5
    return total


def compared_after_it(x):
    d, e, y = {"a": x[0]}, {"a": x[1], "b": 0.5}, x[2]
    for _ in range(often(x)):
        d["b"] = x[0]
        if y > 0.5:
            e = d
        y = y * 0.5
    return x[0] if e is d else x[1]


def changed_after_it(x):
    d, e, y = {"a": x[0]}, {"a": x[1], "b": 0.5}, x[2]
    for i in range(often(x)):
        d["b"] = x[0] * i
        if y > 0.5:
            e = d
        y = y * 0.5
    d["b"] = x[1] * 7
    return e["b"]


def changed_under_its_other_name(x):
    d, e, y = {"a": x[0]}, {"a": x[1], "b": 0.5}, x[2]
    for i in range(often(x)):
        d["b"] = x[0] * i
        if y > 0.5:
            e = d
        y = y * 0.5
    e["b"] = x[1] * 7
    return d["b"] * x[0]


def a_list(x):
    d, e, y = [x[0]], [x[1]], x[2]
    for i in range(3):
        d[0] = x[0] * i
        if y > 0.5:
            e = d
        y = y * 0.5
    d[0] = x[1] * 2
    return e[0]


def in_two_loops(x):
    d, e, g, y = {"a": x[0]}, {"a": x[1], "b": 0.5}, {"a": x[1], "b": 0.5}, x[2]
    for i in range(often(x)):
        d["b"] = x[0] * i
        if y > 0.5:
            e = d
        y = y * 0.5
    g["b"] = e["b"] * x[2]
    for i in range(often(x)):
        d["b"] = x[0] * 7 * i
        if y > 5.0:
            g = e
    return e["b"] * g["b"] + (x[0] if e is d else 0.0)


def in_a_tuple_at_first(x):
    first, total = {"a": x[0]}, 0.0
    pair = (first, 1.0)
    for i in range(3):
        first["a"] = x[0] * i + 1
        total += pair[0]["a"] * pair[1]
        pair = ({"a": x[1]}, 2.0)
    return total


def in_a_tuple_later(x):
    d, pair, total = {"a": x[0]}, ({"a": x[1]}, 1.0), 0.0
    for i in range(often(x)):
        d["a"] = x[0] * i + 1
        total += pair[0]["a"] * pair[1]
        pair = (d, 2.0)
    return total


def in_a_dict_at_first(x):
    e, total = {"k": {"a": x[1]}}, 0.0
    inner = e["k"]
    for i in range(3):
        inner["a"] = x[0] * i + 1
        total += e["k"]["a"]
        e = {"k": {"a": x[2]}}
    return total


def in_a_dict_later(x):
    d, e, total = {"a": x[0]}, {"k": {"a": x[1]}}, 0.0
    for i in range(3):
        d["a"] = x[0] * i + 1
        total += e["k"]["a"]
        e = {"k": d}
    return total


def two_at_a_time(x):
    d, e, g, total = {"a": x[0]}, {"a": x[1]}, {"a": x[2]}, 0.0
    for i in range(often(x)):
        d["a"] = x[0] * 2 + i
        total += g["a"] * e["a"]
        g, e = e, d
    return total


def whichever_way_it_is_left(x):
    d, e, i = {"a": x[0]}, {"a": x[1]}, 0
    while i < 3:
        i += 1
        try:
            e = d if x[2] > 0.5 else {"a": x[2]}
        finally:
            d["a"] = x[0] * i
    d["a"] = x[1] * 3
    return e["a"]


@pytest.mark.parametrize("f", programs(globals()))
@pytest.mark.parametrize("x", [[0.3, 0.8, 0.55], [0.3, 0.8, 0.45]])
def test_both_names_are_one(f, x):
    check(f, np.array(x))


def passed_on(x):
    d = {"a": x[0]}

    def go(k, e):
        d["a"] = x[0] * k
        value = e["a"]
        return value if k == 0 else value + go(k - 1, d)

    return go(often(x), {"a": x[1]})


def passed_on_sometimes(x):
    d = {"a": x[0]}

    def go(k, e):
        value = e["a"]
        d["a"] = x[0] * k
        value += e["a"]
        return value if k == 0 else value + go(k - 1, d if x[2] > 0.5 else {"a": x[2] * k})

    return go(often(x), {"a": x[1]})


def assigned_outside(x):
    d, h = {"a": x[0]}, {"a": x[1]}

    def go(k):
        nonlocal h
        d["a"] = x[0] * k
        value, h = h["a"], d
        return value if k == 0 else value + go(k - 1)

    return go(often(x))


def swapped(x):
    d, e = {"a": x[0]}, {"a": x[1]}

    def go(k, e, g):
        return (x[0] if e is d else g["a"]) + (0.0 if k == 0 else go(k - 1, g, e))

    return go(often(x), e, d)


def returned(x):
    d, g = {"a": x[0]}, {"a": x[1]}

    def go(k, e, g):
        return e if k == 0 else go(k - 1, g, e)

    last = go(often(x), d, g)
    g["a"] = x[1] * 5
    return last["a"]


def returned_and_compared(x):
    d = {"a": x[0]}

    def go(k, e):
        return e if k == 0 else go(k - 1, {"a": e["a"] * 0.5})

    return x[0] if go(often(x) - 3, d) is d else x[1]


@pytest.mark.parametrize(
    "f",
    [passed_on, passed_on_sometimes, assigned_outside, swapped, returned, returned_and_compared],
)
def test_of_the_dicts_of_a_recursion(f):
    check(f)


class Node:
    def __init__(self, value):
        self.value = value


def an_object_of_a_table(x):
    d, e = Node(x[0]), Node(x[1])

    def go(k, e):
        d.value = x[0] * k
        value = e.value
        return value if k == 0 else value + go(k - 1, d)

    return go(often(x), e)


def read_only(x):
    d, e = {"a": x[0]}, {"a": x[1]}

    def go(k, e, g):
        return e["a"] if k == 0 else go(k - 1, g, e) * 0.5

    last = go(often(x), d, e)
    e["a"] = x[1] * 5
    return last + e["a"]


@pytest.mark.parametrize("f", [an_object_of_a_table, read_only])
def test_of_those_that_is_not(f):
    check(f)
