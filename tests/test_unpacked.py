"""What is unpacked in a display or a call is taken as it is before what follows changes it."""

import numpy as np
import pytest

from tests.small_programs import check, programs


def an_array_in_a_list(x):
    a = x * 1.0

    def poke(v):
        a[0] = v
        return v * x[1]

    items = [*a[:-1], poke(3 * x[1]), *a]
    return sum(v * (i + 1) for i, v in enumerate(items))


def a_list_in_a_tuple(x):
    values = [x[0], x[1]]

    def poke(v):
        values[0] = v
        values.append(v)
        return v * x[2]

    items = (*values, poke(3 * x[1]), *values)
    return sum(v * (i + 1) for i, v in enumerate(items))


def a_list_of_the_run(x):
    values = []
    for i in range(int(x[1] * 4)):
        values.append(x[i] * i)

    def poke(v):
        values[0] = v
        return v * x[2]

    return sum([*values, poke(3 * x[1]), *values])


def arguments(x):
    a, table = x * 1.0, {"u": x[0], "v": x[1]}

    def poke(v):
        a[0] = table["u"] = v
        return v

    def total(*items, **named):
        return sum(items) * sum(named.values())

    return total(*a, poke(3 * x[1])) * total(2.0, **table, w=poke(x[2]))


def a_dict_in_a_dict(x):
    table = {"u": x[0], "v": x[1]}

    def poke(v):
        table["u"] = v
        return v * x[0]

    return sum({**table, "w": poke(3 * x[2])}.values()) * table["u"]


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_it_gives_the_derivatives(f):
    check(f)
    check(f, np.array([0.62, 0.77, 0.4]))
