"""Sixteen kinds of in-place and imperative code that other tools refuse or get wrong in silence,
each against finite differences."""

import math

import numpy as np
import pytest

import srcgrad
from tests.programs import finite_differences as fd

KINDS = {}


def kind(name):
    """Register a program (of an array x of six numbers) under the kind that it stands for."""

    def register(function):
        KINDS.setdefault(name, []).append(function)
        return function

    return register


@kind("element writes")
def element_writes(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] ** 2
    y[0] = y[1] * y[2]
    y[1] = 3.0
    return np.sum(y * y[::-1])


@kind("element writes")
def element_recurrence(x):
    y = np.empty_like(x)
    y[0] = x[0]
    for i in range(1, x.size):
        y[i] = np.sin(y[i - 1]) + x[i] * y[i - 1]
    return y.sum() + y[-1] ** 2


@kind("element writes")
def rows_and_columns(x):
    grid = np.zeros((3, 2))
    grid[0] = x[:2]
    grid[:, 1] = x[3:]
    grid[-1, 0] = grid[0, 1] * x[2]
    grid[grid > 0.5] = np.prod(x)
    return np.sum(grid * np.arange(1.0, 7.0).reshape(3, 2))


@kind("in-place operators")
def inplace_operators(x):
    y = x * 2
    y += np.sin(x)
    y *= y
    y -= x[0]
    y /= 2 + x**2
    y **= 2
    return np.sum(y)


@kind("in-place operators")
def inplace_two_names(x):
    y = np.exp(x)
    z = y
    z += x
    z[1:3] *= y[3:5]
    return np.sum(y**2) + np.sum(z)


@kind("in-place operators")
def rebinding_is_not_inplace(x):
    y = x.copy()
    z = y
    z = z + 1.0
    y *= 3.0
    return np.sum(y * z)


@kind("a write through a view")
def write_through_view(x):
    y = x**2
    middle = y[1:4]
    middle[:] = x[:3] * x[3:]
    middle += 1.0
    return np.sum(y**2)


@kind("a write through a view")
def write_through_transpose(x):
    A = np.outer(x[:3], x[3:])
    B = A.T
    B[0] *= x[1]
    A[0, 1] = 0.0
    B[1, 2] += x[5] ** 2
    return np.sum(A**2 * np.arange(9.0).reshape(3, 3))


@kind("a write through a view")
def reshape_view_and_copy(x):
    A = np.sin(x).reshape(2, 3)
    flat = A.reshape(-1)  # a view
    flat[2] = x[0]
    copied = A.T.reshape(-1)  # a copy
    copied *= 5.0
    A.ravel()[4] = x[1] * x[2]
    return np.sum(A**3) + np.dot(copied, x)


@kind("a view of a view")
def view_of_view(x):
    y = np.cos(x)
    outer = y[1:]
    inner = outer[::2]
    inner[1] = x[0] * inner[0]
    outer[3] *= 2.0
    return np.sum(y**2) + np.sum(inner * inner)


@kind("a view of a view")
def view_of_row_of_transpose(x):
    A = np.tile(x, 2).reshape(4, 3).copy()
    column = A.T[1]
    tail = column[2:]
    tail += x[4:]
    tail[-1] = tail[0] ** 2
    return np.sum(A * A)


def scale_and_shift(a, factor):
    a *= factor
    a[0] += factor**2


def clamp_first(values, limit):
    if values[0] > limit:
        values[0] = limit
    return values


@kind("a mutated argument")
def callee_mutates(x):
    y = x + 1.0
    scale_and_shift(y, x[1])
    scale_and_shift(y[2:4], x[0])
    return np.sum(y**2)


@kind("a mutated argument")
def caller_argument_mutated(x):
    scale_and_shift(x, 2.0)
    x[3] = x[2] * x[1]
    return np.sum(x**2)


@kind("a mutated argument")
def callee_returns_its_argument(x):
    y = x * x[2]
    z = clamp_first(y, -10.0)
    z[1] *= 4.0
    return np.sum(y**2) - z[0]


@kind("out=")
def out_argument(x):
    y = np.empty_like(x)
    np.multiply(x, x, out=y)
    np.add(y, np.sin(x), out=y)
    np.exp(y[:3], out=y[:3])
    return np.sum(y)


@kind("out=")
def out_onto_own_operand(x):
    work = np.zeros((2, 3))
    np.subtract(x[:3], x[3:], out=work[0])
    np.tanh(work[0], out=work[1])
    np.multiply(work, work[::-1], out=work)
    return np.sum(work * work)


@kind("np.add.at")
def add_at(x):
    y = np.zeros(3)
    np.add.at(y, np.array([0, 2, 2, 1, 0, 2]), x**2)
    return np.sum(y**2)


@kind("np.add.at")
def add_at_against_fancy_assignment(x):
    where = np.array([0, 1, 1])
    y = np.ones(4)
    y[where] += x[:3]  # only the last write to element 1 counts
    z = np.ones(4)
    np.add.at(z, where, x[3:])
    return np.sum(y**2 * z)


@kind("branches")
def branches(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0.5:
            y = x[i] ** 2
        elif x[i] > 0 and i % 2 == 0:
            y = np.exp(x[i])
        else:
            y = -x[i] if i else x[i] * 3.0
        total += y * x[0]
    return total


@kind("branches")
def branch_on_rebound_array(x):
    y = x
    if np.sum(x) > 0:
        y = y.copy()
        y[0] = y[1]
    else:
        y = 2 * y
    return np.sum(y**3)


@kind("while and break")
def while_break(x):
    s = x[0] + 2.0
    n = 0
    while True:
        s = 0.5 * (s + (3.0 + x[1]) / s)
        n += 1
        if abs(s * s - 3.0 - x[1]) < 1e-12:
            break
        if n > 50:
            return 0.0
    return s * np.sum(x)


@kind("while and break")
def while_with_condition(x):
    a = np.abs(x)
    rounds = 0
    while a.max() > 0.1:
        a *= 0.5 + 0.1 * x[2] ** 2
        rounds += 1
    return 100.0 * np.sum(a) + rounds


@kind("while and break")
def for_else_continue(x):
    total = 0.0
    for v in x:
        if v < 0:
            continue
        total += v**2
        if total > 100.0:
            break
    else:
        total *= x[-1]
    return total


@kind("float(x[0])")
def float_of_element(x):
    a = float(x[0])
    b = float(np.sum(x[1:] ** 2))
    return a * b + math.sin(a) + x[1].item() * a


@kind("lists")
def list_stack(x):
    rows = []
    row = x[:3]
    for k in range(4):
        row = row * x[3:] + k
        rows.append(row)
    return np.sum(np.stack(rows) ** 2)


@kind("lists")
def list_array(x):
    values = [x[0]]
    for v in x[1:]:
        values.append(v * values[-1] + 1.0)
    values[2] = values[0]
    return np.sum(np.array(values) ** 2) + values.pop() + values[-1]


@kind("lists")
def list_sum(x):
    squares = [v * v for v in x if v > -5]
    halves = squares[:3] + [v / 2 for v in squares[3:]]
    first, *rest = halves
    return first * sum(rest) + max(squares)


@kind("lists")
def list_of_arrays_mutated(x):
    layers = [x[:2].copy(), x[2:4] * 2, x[4:] ** 2]
    for k in range(1, len(layers)):
        layers[k] += layers[k - 1]
    layers[0][1] = layers[-1][0]
    return sum(np.sum(a**2) for a in layers)


@kind("int indices computed from data")
def int_index(x):
    table = np.sin(x)
    total = 0.0
    for v in x:
        position = (np.tanh(v) + 1.0) / 2.0 * (len(table) - 1)
        i = min(int(position), len(table) - 2)
        t = position - i
        total += (1 - t) * table[i] + t * table[i + 1]
    return total


@kind("int indices computed from data")
def argmax_and_argsort(x):
    order = np.argsort(x)
    largest = int(np.argmax(x))
    y = x.copy()
    y[largest] *= 2.0
    y[order[0]] = y[order[1]] * 3.0
    return np.sum(y[order] * np.arange(1.0, 7.0))


@kind("try and finally")
def try_finally(x):
    y = x**2
    depth = 0
    try:
        depth += 1
        y[0] *= x[1]
        total = np.sum(y)
    finally:
        depth -= 1
        y[1] = 0.0
    return total * np.sum(y) + depth


@kind("try and finally")
def return_inside_try(x):
    log = []
    try:
        log.append(x[0])
        if x[0] > -100:
            return np.sum(x**2) * log[0]
        return x[0]
    finally:
        log.clear()


@kind("overlapping slices")
def overlapping_slices(x):
    a = x * x
    a[1:] = a[:-1]
    a[:-2] += a[2:]
    a[::-1] *= a
    return np.sum(a * np.arange(6.0))


@kind("overlapping slices")
def shift_register(x):
    line = np.zeros(4)
    out = 0.0
    for v in x:
        line[1:] = line[:-1]
        line[0] = v
        out += line[0] * line[3] + line[1] ** 2
    return out


@kind("swapped buffers")
def swap_in_loop(x):
    a, b = x.copy(), np.zeros_like(x)
    for _ in range(5):
        b[1:-1] = 0.25 * a[:-2] + 0.5 * a[1:-1] ** 2 + 0.25 * a[2:]
        b[0], b[-1] = a[-1], a[0]
        a, b = b, a
    return np.sum(a**2) + np.sum(b)


@kind("swapped buffers")
def rotate_three(x):
    previous, current, following = x[:3].copy(), x[3:].copy(), np.zeros(3)
    for k in range(4):
        following[:] = 1.5 * current - previous * current
        following[k % 3] += 0.1
        previous, current, following = current, following, previous
    return np.sum(current * current) + np.sum(following)


@kind("swapped buffers")
def swap_elements(x):
    y = x.copy()
    for i in range(len(y) // 2):
        y[i], y[-1 - i] = y[-1 - i], y[i] * 2.0
    return np.sum(y * np.arange(1.0, 7.0) ** 2 * x)


@kind("early returns in nested loops")
def early_return_nested(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            total += x[i] * x[j]
            if i == 4 and j == 2:
                return total * x[j]
    return total


@kind("early returns in nested loops")
def return_of_found(x):
    def find(limit):
        for i, a in enumerate(x):
            for b in x[i + 1 :]:
                if a * b > limit:
                    return a * b * (i + 1)
                if a + b > 1e6:
                    break
        return x[0]

    return find(0.3) + find(1e9)


PROGRAMS = [
    pytest.param(function, id=function.__name__)
    for functions in KINDS.values()
    for function in functions
]
X = np.array([0.62, 1.31, -0.74, 0.43, 0.91, -0.35])


def test_all_sixteen_are_here():
    assert len(KINDS) == 16


@pytest.mark.parametrize("function", PROGRAMS)
def test_gradient(function):
    x = X.copy()
    gradient = srcgrad.grad(function)(x)
    np.testing.assert_array_equal(x, X)
    assert gradient.shape == x.shape
    assert gradient.dtype == x.dtype
    for seed in range(3):
        direction, expected = fd.directional_difference(function, (x,), (0,), seed)
        found = fd.inner((gradient,), direction)
        assert abs(found - expected) <= 1e-6 * max(1.0, abs(expected))


@pytest.mark.parametrize("function", PROGRAMS)
def test_value(function):
    x = X.copy()
    value, _ = srcgrad.value_and_grad(function)(x)
    np.testing.assert_array_equal(x, X)
    assert value == pytest.approx(function(X.copy()), rel=1e-12)
