"""Lists whose numbers are read and written one by one: what is printed for them, and how much."""

import math

import numpy as np
import pytest

from srcgrad import grad, hvp, jvp, vjp

from . import random_items

X = np.random.default_rng(3).uniform(0.3, 1.2, 9)


def texts(f, *args):
    derivative = grad(f)
    derivative(*args)
    return derivative.source


def products(xs):
    n = int(math.sqrt(len(xs)))
    a = [[xs[i * n + j] for j in range(n)] for i in range(n)]
    b = [[math.sin(xs[i * n + j]) for j in range(n)] for i in range(n)]
    total = 0.0
    for i in range(n):
        for j in range(n):
            for k in range(n):
                total += a[i][k] * b[k][j]
    return total


def test_items_of_rows_are_added_to_in_place():
    text = texts(products, X)
    assert "d_b[k][j] += a[i][k]" in text
    assert "d_a[i][k] += b[k][j]" in text


def elimination(xs):
    b = [2.5 + v for v in xs]
    d = list(xs)
    for i in range(1, len(xs)):
        w = 0.5 / b[i - 1]
        b[i] -= w * d[i - 1]
        d[i] -= w * d[i - 1]
    return d[-1] * b[-1]


def test_what_is_only_added_to_keeps_its_adjoint():
    text = texts(elimination, X)
    assert text.count("= d[previous_i]") == 1  # nothing writes it between the two reads
    assert "= 0.0" not in text.partition("# return")[2]
    assert "d_b[previous_i] += " in text


def table(xs):
    n = len(xs)
    costs = [[1e3] * (n + 1) for _ in range(n + 1)]
    costs[0][0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            least = min(costs[i - 1][j], costs[i][j - 1], costs[i - 1][j - 1])
            costs[i][j] = abs(xs[i - 1] - xs[-j]) + least
    return costs[n][n]


def test_lists_of_one_item_are_made_at_once():
    text = texts(table, X)
    assert "costs.append([1000.0] * next_n)" in text
    assert "d_costs.append([0.0] * next_n)" in text
    assert grad(table)(X) @ X == pytest.approx(table(X), rel=1e-9)  # which is of degree one


def filled(xs, first, n):
    ys = []
    for i in range(first, n):
        ys.append(1.5)
        ys[-1] += xs[0] * i
    zs = []
    for _ in range(first, n):
        zs.append(xs[1])
    kept, other = [], []
    for v in xs:
        if v > 0.5:
            kept.append(1.0)
        other.append(2.0)
        if len(other) > 5:
            break
    return sum(ys) + sum(zs) * len(kept) + sum(other) * xs[2]


@pytest.mark.parametrize("ends", [(0, 4), (2, 5), (5, 2), (3, 3)])
def test_how_many_items(ends):
    f = lambda x: filled(x, *ends)  # noqa: E731
    for v in np.eye(9)[:3]:
        slope = (f(X + 1e-6 * v) - f(X - 1e-6 * v)) / 2e-6
        assert grad(f)(X) @ v == pytest.approx(slope, rel=1e-8, abs=1e-8)
        assert jvp(f, (X,), (v,))[1] == pytest.approx(slope, rel=1e-8, abs=1e-8)


def same_rows(xs):
    rows = [[0.5] * len(xs)] * 2 + [list(xs)]
    for i in range(len(xs)):
        rows[0][i] += xs[i] ** 2
        rows[1][i] *= xs[-1 - i]
        first = rows[1][i]
        rows[2][-i] = first * rows[0][i]
        rows[0][i] = 0.0
        rows[1][i] += first * xs[i]
    return sum(map(sum, rows))


def ends_meet(xs):
    ys = list(xs)
    for i in range(len(ys)):
        before = ys[i]
        ys[-1 - i] = 2.0 * ys[i]
        ys[i] += before * ys[-1 - i]
    return sum(ys)


def popped_between(xs):
    ys, total = list(xs), 0.0
    for _ in range(len(xs) - 1):
        total += ys[0] * ys[-1]
        total += ys.pop() * ys[0]
        ys[0] = total * 0.1
    return total


@pytest.mark.parametrize("f", [elimination, same_rows, ends_meet, popped_between, products])
def test_derivatives(f):
    v = np.linspace(-1, 1, 9)
    slope = (f(X + 1e-6 * v) - f(X - 1e-6 * v)) / 2e-6
    for given in (np.array, list, np.ndarray.tolist, tuple):
        assert np.dot(grad(f)(given(X)), v) == pytest.approx(slope, rel=1e-7)
        assert jvp(f, (given(X),), (given(v),))[1] == pytest.approx(slope, rel=1e-7)
        _, pullback = vjp(f, given(X))
        assert np.dot(pullback(1.0)[0], v) == pytest.approx(slope, rel=1e-7)
    curvature = (grad(f)(X + 1e-6 * v) - grad(f)(X - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(hvp(f)(X, v), curvature, rtol=1e-6, atol=1e-7)
    twice = grad(lambda x: grad(f)(x) @ v)(X)
    np.testing.assert_allclose(twice, curvature, rtol=1e-6, atol=1e-7)


def told_by(xs):
    n = len(xs)
    rows = [list(xs), [1.0] * n]
    ys, zs = [math.sin(v) for v in [0.0] * n], [1.0] + [0.0] * (n - 1)
    for i in range(1, n):
        if zs[i - 2] > ys[0]:
            zs[i - 2] = 0.3 + 0.5 * rows[1][i]
            ys[0] -= 0.5
        last = min(rows[i % 2][n - 1 - i], ys[n - 1 - i], 0.9)  # noqa: F841
    return sum(ys) + ys[2]


def test_rows_that_only_tell():
    assert grad(told_by)([0.5] * 22) == [0.0] * 22


def horner(xs):
    total = 0.0
    for t in range(5):
        r = 0.0
        for c in reversed(xs):
            r = r * t / 5 + c
        total += r * r
    return total


def weighted(x, pairs):
    total = 0.0
    for weight, value in pairs:
        total += x**2 * weight * value
    return total


def with_a_gap(x, items):
    total = 0.0
    for k in range(len(items)):
        if items[k] is None:
            continue
        total += x * items[k] * items[k - 1 if k % 4 != 1 else k]
    return total


MANY = np.random.default_rng(1).normal(size=60)
PAIRS = [(float(v), k) if k % 2 else (1, float(v)) for k, v in enumerate(MANY)]
GAPS = [None if k % 4 == 0 else float(v) for k, v in enumerate(MANY)]
CONSTANTS = tuple(MANY.tolist())


def of_constants(x):
    total = 0.0
    for i in range(len(CONSTANTS)):
        total = total * x + CONSTANTS[i]
    return total


@pytest.mark.parametrize("given", [list, tuple, np.ndarray.tolist, lambda v: tuple(v.tolist())])
def test_long_lists_of_numbers_are_one_value(given):
    gradient = grad(horner)(given(MANY))
    assert texts(horner, given(MANY)).count("\n") < 30
    kinds = type(given(MANY)), type(given(MANY)[0])
    assert (type(gradient), type(gradient[3])) == kinds
    v = np.cos(MANY)
    slope = (horner(given(MANY + 1e-6 * v)) - horner(given(MANY - 1e-6 * v))) / 2e-6
    assert np.dot(gradient, v) == pytest.approx(slope, rel=1e-7)
    single = grad(horner)([np.float32(v) for v in MANY])
    assert {type(d) for d in single} == {np.float32}
    np.testing.assert_allclose(single, gradient, rtol=1e-4)


def test_long_lists_of_ints_and_floats_are_one_value():
    assert texts(weighted, 0.7, PAIRS).count("\n") < 15
    expected = 1.4 * sum(a * b for a, b in PAIRS)
    assert grad(weighted)(0.7, PAIRS) == pytest.approx(expected)
    assert texts(of_constants, 0.7).count("\n") < 25
    slope = (of_constants(0.7 + 1e-6) - of_constants(0.7 - 1e-6)) / 2e-6
    assert grad(of_constants)(0.7) == pytest.approx(slope, rel=1e-8)


@pytest.mark.parametrize("number", [float, np.float64, np.float32])
def test_derivatives_by_tuples_in_lists(number):
    pairs = [(number(v), number(1 + v)) for v in MANY]
    gradient = grad(weighted, argnums=1)(2.0, pairs)
    assert [tuple(map(type, pair)) for pair in gradient] == [(number, number)] * 60
    np.testing.assert_allclose(gradient, [(4 * b, 4 * a) for a, b in pairs], rtol=1e-6)
    lists = tuple(list(pair) for pair in pairs)
    assert type(grad(weighted, argnums=1)(2.0, lists)) is tuple


def test_derivatives_by_tuples_of_several_types():
    pairs = [(np.float32(v), [float(v), 1.0]) for v in MANY]
    gradient = grad(lambda pairs: sum(a * b * c for a, (b, c) in pairs))(pairs)
    assert {(type(a), type(b), type(c)) for a, (b, c) in gradient} == {(np.float32, float, float)}
    single = grad(weighted, argnums=1)(2.0, [(np.float32(v), 0.5) for v in MANY])
    assert {(type(a), type(b)) for a, b in single} == {(np.float32, float)}


def test_lists_of_single_items_are_made_before_the_loop():
    text = texts(with_a_gap, 0.7, GAPS)
    (line,) = [line for line in text.split("\n") if "items = [" in line or "items = (" in line]
    assert text.index(line) < text.index("for ")
    expected = with_a_gap(1.0, GAPS)
    assert grad(with_a_gap)(0.7, GAPS) == pytest.approx(expected)


ENDS = tuple(range(3, 57, 3))


def split_by_constants(x):
    first, second, *_ = np.split(x, ENDS)
    return np.sum(first) ** 2 * np.sum(np.array_split(x, list(ENDS[4:9]))[1] * second)


def test_an_array_is_split_at_a_long_tuple():
    v = np.cos(MANY)
    f = split_by_constants
    slope = (f(MANY + 1e-6 * v) - f(MANY - 1e-6 * v)) / 2e-6
    assert grad(f)(MANY) @ v == pytest.approx(slope, rel=1e-7)
    by_list = grad(lambda x, ends: np.prod(np.split(x, ends)[1]))(MANY, [2, 4, 9, 12, 17])
    np.testing.assert_allclose(by_list[:5], [0, 0, MANY[3], MANY[2], 0])


def test_arguments_collected_are_each_their_own():
    def f(*args):
        return args[0] * args[-1] + sum(args[3:5])

    assert grad(f)(*MANY) == MANY[-1]
    assert grad(f, argnums=(3, 59))(*MANY) == (1.0, MANY[0])
    assert vjp(f, *CONSTANTS)[1](2.0)[0] == 2 * MANY[-1]


@pytest.mark.parametrize("first", [0, 12, 24, 36])
def test_random_programs(first):
    words = [random_items.check(seed) for seed in range(first, first + 12)]
    assert words.count("right") >= 9


def augmented_rows(x):
    n = math.isqrt(len(x))
    rows = [[*x[i * n : (i + 1) * n], 1.0] for i in range(n)]
    for i in range(1, n):
        for j in range(n + 1):
            rows[i][j] += 0.3 * rows[i - 1][j] * rows[i][-1 - j]
    return sum(map(sum, rows))


def test_parts_of_arrays_in_displays():
    for n in (2, 5, 9):
        x = np.random.default_rng(n).uniform(0.1, 0.5, n * n)
        v = np.cos(x * 9)
        slope = (augmented_rows(x + 1e-6 * v) - augmented_rows(x - 1e-6 * v)) / 2e-6
        derivative = grad(augmented_rows)
        assert derivative(x) @ v == pytest.approx(slope, rel=1e-7)
        assert derivative.source.count("\n") < 150  # longer ones are loops
