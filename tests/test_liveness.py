"""Loops begin without what earlier loops have left in variables that they assign themselves."""

import math

import numpy as np
import pytest

from tests.small_programs import check, programs

TABLEAUX = {
    "rk4": ([[], [0.5], [0, 0.5], [0, 0, 1]], [1 / 6, 1 / 3, 1 / 3, 1 / 6], [0, 0.5, 0.5, 1]),
    "heun": ([[], [1.0]], [0.5, 0.5], [0, 1]),
}


def methods_of_unlike_stages(x):
    total = 0.0
    for a, b, c in TABLEAUX.values():
        y, t, h = np.array([1.0, 0.8]), 0.0, 0.1
        for _ in range(5):
            k = []
            for i in range(len(b)):
                stage = y.copy()
                for j, weight in enumerate(a[i]):
                    stage += h * weight * k[j]
                k.append(np.array([x[0] * stage[1], -x[1] * stage[0] + math.sin(t + c[i] * h)]))
            y = y + h * sum(bi * ki for bi, ki in zip(b, k, strict=True))
            t += h
        total += y @ y * x[2]
    return total


def left_by_the_loop_before(x):
    rows = [x[0], x[1]]
    for v in x:
        rows = [v * v]
        if v > 0.5:
            rows.append(v)
    total = 0.0
    for v in x:
        rows = np.sin(v) * x
        total += rows @ rows
    return total


def read_if_the_loop_does_not_run(x):
    last = x[0] ** 2
    for v in x[x > 5]:
        last = v
    return last * x[1]


def read_after_a_break(x):
    found = x[2]
    for v in x:
        if v > 0.6:
            break
        found = v * v
    return found * x[0]


def read_in_the_else(x):
    best = x[1]
    for k in range(3):
        if x[k] > 9:
            best = x[k]
            break
        step = x[k] * 2
    else:
        best = best * step
    return best


def read_by_a_closure(x):
    scale = x[0]

    def scaled(v):
        return v * scale

    total = 0.0
    for v in x:
        total += scaled(v)
        scale = v
    return total


def read_by_a_generator(x):
    scale = x[0]
    scaled = (v * scale for v in x)
    total = 0.0
    for v in scaled:
        scale = v
        total += v
    return total


def read_in_the_next_iteration(x):
    old = x[0]
    total = 0.0
    for v in x:
        if v > 0.5:
            new = old * v
        else:
            new = v
        total += new
        old = new
    return total


def read_where_an_exception_is_caught(x):
    y, total = x[0], 0.0
    try:
        for v in x:
            y = v
            total += math.log(v - 0.6)
    except ValueError:
        total += y
    for v in x:
        y = v * total
    return total * y


def read_by_an_augmented_assignment(x):
    y = x[0]
    for v in x:
        y *= v
    return y


def a_subscript_is_no_assignment(x):
    y = np.zeros(3)
    for k in range(3):
        y[k] = x[k] ** 2
    for k in range(2):
        y[k + 1] = y[k] * x[k]
    return np.sum(y)


@pytest.mark.parametrize("function", programs(globals()), ids=lambda f: f.__name__)
def test_gradient_is_right(function):
    check(function)
