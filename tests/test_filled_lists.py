"""Lists that loops fill and that are only read: arrays in their place, or lists as they are."""

import math

import numpy as np
import pytest

from srcgrad import grad, hvp, jvp, value_and_grad, vjp
from srcgrad.testing import check_grads

from . import random_fills

X = np.random.default_rng(4).uniform(0.2, 1.4, 9)
M = np.random.default_rng(5).normal(size=(9, 8))


def summed(x):
    return sum([v * v for v in x])


def stacked(x):
    r = [np.sin(v) for v in x]
    return np.sum(np.array(r) ** 2)


def copied_first(x):
    xs = x.tolist()
    total = 0.0
    for i in range(1, len(xs)):
        total += (xs[i] - xs[i - 1]) ** 2
    return total


def neighbours(x):
    ys = [float(v) for v in x]
    total = 0.0
    for a, b in zip(ys[:-1], ys[1:], strict=True):  # noqa: RUF007
        total += (b - a) ** 2
    return total


def from_lists(x):
    squares, sines = [], []
    for v in list(x):
        squares.append(v**2)
        sines.append(np.sin(v))
    return np.dot(np.array(squares), np.array(sines)) + squares[0] * sines[-1]


def backwards(x):
    r = [x[i] * i for i in range(len(x) - 1, -1, -1)]
    total = 0.0
    for k in range(len(r)):
        total += r[k] * (k + 1)
    return total


def of_indices(x):
    h = 1.0 / len(x)
    return np.sum(np.sin(np.array([i * h for i in range(len(x))]) * x))


def rows_read(x):
    rows = [row * row[0] for row in np.outer(x, x)]
    total = 0.0
    for a, b in zip(rows[:-1], rows[1:], strict=True):  # noqa: RUF007
        total += np.dot(a, b)
    return total


def rows_stacked(x):
    rows = [np.tanh(row * x) for row in np.outer(x, x)]
    return np.sum(np.array(rows) ** 2) + np.sum(np.mean(rows, axis=0)) + np.stack(rows).max()


def of_rows(x):
    return np.mean([np.sum(row**2) for row in np.outer(x, x)])


def matrix_of_pairs(x):
    matrix = np.array([[np.exp(-((a - b) ** 2)) for b in x] for a in x])
    return np.sum(matrix * matrix)


def rows_of_lists(x):
    table = [list(row) for row in np.outer(x, x)]
    total = 0.0
    for row in table:
        total += row[0] * row[-1]
    return total


def table_of_lists(x):
    table = np.outer(x, np.sin(x)).tolist()
    total = 0.0
    for i in range(len(table)):
        for j in range(len(table[0])):
            total += table[i][j] ** 2 * j
    return total


def tuples_read(x):
    pairs = [(v, v * 2) for v in x]
    return sum([a * b for a, b in pairs]) + pairs[-1][0]


def columns(x):
    matrix = np.array([[1, v, v**2, float(v) ** 3] for v in x])
    return np.sum(matrix @ np.array([1.0, 2.0, 3.0, 4.0])) * matrix[0, 1]


def rotated(x):
    points = [np.array([[v, -v * v], [v * v, v]]) @ np.array([1.0, 2.0]) for v in x]
    return np.sum(np.array(points) ** 2)


def norms(x):
    rows = np.outer(x, x)
    return sum([np.linalg.norm(row) for row in rows]) + np.sum(
        np.array([np.linalg.norm(row, 3) for row in rows])
    )


def cut_off(x):
    return sum([max(v - 0.5, 0.0) for v in x]) + sum([v if v > 0.3 else 0.0 for v in x])


def chosen(x):
    r = []
    for v in x:
        if v > 0.8:
            r.append(1.0)
        elif v > 0.5:
            r.append(v * v)
        else:
            w = 0.1 * v
            r.append(w - 1)
    return np.sum(np.array(r) ** 2)


def filtered(x):
    large = [v for v in x if v > 0.3]
    mean = sum(large) / max(len(large), 1)
    return sum([(v - mean) ** 2 for v in large]) + 0.1 * mean


def filtered_backwards(x):
    r = [x[i] * i for i in range(len(x) - 1, -1, -1) if x[i] > 0.4]
    return sum([(k + 1) * v for k, v in enumerate(r)])


def by_numpy(x):
    squares = np.vectorize(lambda v: v**2)(x)
    return np.sum(squares * np.fromiter((2 * v for v in x), dtype=float))


def each_time_anew(x):
    total = 0.0
    for k in range(3):
        scaled = [v * (k + 1) for v in x]
        total = np.sin(total + np.sum(np.array(scaled) ** 2))
    return total


WHOLE = [
    summed, stacked, copied_first, neighbours, from_lists, backwards, of_indices, rows_read,
    rows_stacked, of_rows, matrix_of_pairs, rows_of_lists, tuples_read, columns, rotated, norms,
    by_numpy, chosen, filtered, filtered_backwards,
]  # fmt: skip


@pytest.mark.parametrize(
    "f", [*WHOLE, each_time_anew, table_of_lists, cut_off], ids=lambda f: f.__name__
)
def test_gradient(f):
    for n in (9, 2, 1):
        check_grads(f, (X[:n],))
    value = value_and_grad(f)(X)[0]
    assert type(value) is type(f(X))


@pytest.mark.parametrize("f", WHOLE, ids=lambda f: f.__name__)
def test_there_is_no_list(f):
    gradient = grad(f)
    gradient(X)
    lines = gradient.source.splitlines()
    code = [line for line in lines if not line.strip().startswith("#")]
    assert not any(".append(" in line or line.strip().startswith("for ") for line in code)


def test_few_items_that_are_only_moved():
    def median_filter(x):
        out = []
        for i in range(2, len(x) - 2):
            window = sorted(x[i - 2 : i + 3])
            out.append(window[2])
        return np.sum(np.array(out) ** 2)

    gradient = grad(median_filter)
    check_grads(median_filter, (X,))
    gradient(X)
    assert "out.append(np.sort(x[i - 2 : i + 3])[2])" in gradient.source


def test_what_reads_well():
    gradient = grad(stacked)
    gradient(X)
    assert gradient.source.partition('x."""\n')[2] == (
        "    r = np.sin(x)\n"
        "\n"
        "    # r = [np.sin(v) for v in x]\n"
        "    d_x = np.cos(x)\n"
        "    d_x *= r\n"
        "    d_x *= 2.0\n"
        "    return d_x\n"
    )


def test_an_empty_list():
    for f in (summed, stacked, copied_first, neighbours, backwards):
        assert value_and_grad(f)(X[:0])[0] == f(X[:0]) == 0.0
        assert grad(f)(X[:0]).shape == (0,)

    def no_rows(x, m):
        return np.sum(np.array([row * x for row in m]))

    assert grad(no_rows)(0.5, M) == pytest.approx(M.sum())
    assert grad(no_rows)(0.5, M[:0]) == 0.0


def appended_later(x):
    r = [v * v for v in x]
    r.append(x[0])
    return sum(r) * r[-1]


def changed_later(x):
    r = [v * v for v in x]
    r[0] = 2 * x[1]
    return sum(r) * r[0]


def array_changed(x):
    r = [v * v for v in x]
    y = np.asarray(r)
    y += 1
    return np.sum(y * y) + sum(r)


def source_changed(x):
    x = x * 1.0
    r = list(x)
    x[0] = 5.0
    return sum(r) * r[0]


def source_changed_before_it_is_kept(x):
    x, r = x * 1.0, []
    for i in range(len(x)):
        v = x[i]
        x[i] = 0.5 * v * v
        r.append(v)
    return sum(r) * np.sum(x)


def rows_changed(x):
    rows = [row * 2 for row in np.outer(x, x)]
    for row in rows:
        row[0] = 0.0
    return sum([np.sum(row) for row in rows])


def product_of_lists(x):
    table, rest = np.outer(x, x).tolist(), range(len(x))
    product = [[sum([table[i][k] * x[k] * table[k][j] for k in rest]) for j in rest] for i in rest]
    return product[0][0] + sum([product[i][i] for i in rest])


def rows_of_many_lengths(x):
    table = [[x[i] * x[j] for j in range(i)] for i in range(len(x))]
    return sum(sum(row) for row in table)


def tuples_with_a_place(x):
    pairs = [(i, v) for i, v in enumerate(x)]
    return sum([x[i] * v for i, v in pairs])


def tuples_kept(x):
    pairs = [(v, v * v) for v in x]
    pairs.append((x[0], 1.0))
    return sum([a * b for a, b in pairs])


def roots_of_what_has_them(x):
    return sum([np.sqrt(v - 0.5) for v in x if v > 0.5])


def appended_in_one_place_of_two(x):
    r, s = [], []
    for v in x:
        if v > 0.5:
            r.append(v)
        else:
            s.append(v * v)
    return sum(r) - sum(s) + len(r)


def number_or_zero(x):
    cut = [v if v > 0.3 else 0.0 for v in x]
    return sum([v / (1 + v) for v in cut])


def row_changed(x):
    table = [[v * w for v in x] for w in x]
    table[0][0] = 2 * x[0]
    return sum(sum(row) for row in table) * table[0][0]


def row_kept(x):
    table, first = [[v * w for v in x] for w in x], None
    for row in table:
        first = row if first is None else first
    first.append(x[0])
    return sum(first) + len(table[0])


def row_after_the_loop(x):
    table = [[v * w for v in x] for w in x]
    for row in table:  # noqa: B007
        pass
    return sum(row) * row[0]


def running_sum(x):
    total, r = 0.0, []
    for v in x:
        total += v
        r.append(total)
    return sum(r)


def pythons_functions(x):
    return sum([math.sin(v) for v in x])


def handed_on(x):
    r = [v * v for v in x]
    for _ in range(2):
        r, s = [v + 1 for v in r], r
    return sum(r) + sum(s)


@pytest.mark.parametrize(
    "f",
    [
        appended_later, changed_later, array_changed, source_changed, rows_changed, running_sum,
        source_changed_before_it_is_kept, pythons_functions, handed_on, product_of_lists,
        rows_of_many_lengths, tuples_with_a_place, tuples_kept, number_or_zero,
        roots_of_what_has_them, appended_in_one_place_of_two, row_changed,
        row_kept, row_after_the_loop,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_what_isnt_only_read(f):
    check_grads(f, (X,))


def test_what_python_and_numpy_do_otherwise():
    def divided(x):
        xs = x.tolist()
        return xs[0] / xs[1]

    def truth(x):
        r = [v * v for v in x]
        return r[True] * r[-1] if r else 0.0

    with pytest.raises(ZeroDivisionError):
        grad(divided)(np.array([1.0, 0.0, 2.0]))
    check_grads(truth, (X,))
    check_grads(truth, (X[:0],))
    value, gradient = value_and_grad(summed)(X.astype(np.float32))
    assert (type(value), gradient.dtype) == (np.float32, np.float32)


def test_results_are_their_own():
    def made(x):
        r = [v for v in x]  # noqa: C416
        return np.array(r), np.array(r)

    value, pullback = vjp(made, X)
    value[0][0] = 7.0
    assert value[1][0] == X[0] != 7.0
    assert np.array_equal(pullback((np.ones(9), np.ones(9)))[0], np.full(9, 2.0))
    (first, second), _ = jvp(made, (X,), (X,))
    assert not np.shares_memory(first, second) and not np.shares_memory(first, X)

    def made_of_one_another(x):
        first = np.array([v * v for v in x])
        second = np.array([v for v in first])  # noqa: C416
        third = [row * 2 for row in np.outer(x, x)]
        fourth = [row for row in third]  # noqa: C416
        return first, second, third, np.array(fourth), fourth

    results, pullback = vjp(made_of_one_another, X)
    assert not np.shares_memory(results[0], results[1])
    assert not any(np.shares_memory(row, results[3]) for row in results[2])
    assert all(a is b for a, b in zip(results[2], results[4], strict=True))
    seeds = (np.ones(9), np.ones(9), [np.zeros(9)] * 9, np.zeros((9, 9)), [np.zeros(9)] * 9)
    np.testing.assert_allclose(pullback(seeds)[0], 4 * X)


def test_what_numpy_makes_of_a_list_is_another_array():
    def twice(x):
        doubled = [2 * v for v in x]
        first = np.array(doubled)
        return first, np.array([v for v in doubled]), np.array([v for v in first])  # noqa: C416

    def with_a_row(x):
        rows = [x * v for v in x]
        return np.array(rows), rows[0]

    def with_a_tuple(x):
        pairs = [(v, 2 * v) for v in x]
        return np.array(pairs), np.array(pairs[0]), np.array(pairs[0])

    for f in (twice, with_a_row, with_a_tuple):
        results, pullback = vjp(f, X)
        for k, result in enumerate(results):
            np.testing.assert_array_equal(result, f(X)[k])
            assert not any(np.shares_memory(result, other) for other in results[:k])
        for result in results:
            result[...] = 7.0
        ones = tuple(map(np.ones_like, results))
        _, tangents = jvp(f, (X,), (X,))
        assert np.sum(pullback(ones)[0] * X) == pytest.approx(sum(map(np.sum, tangents)))


def test_precision():
    def as_doubles(x):
        r = [v * v for v in x]
        return np.array(r, dtype=float), np.array(r), np.stack([x * v for v in x], dtype=float)

    def either(x):
        return np.array([0.0 if v > 0.8 else v for v in x])

    single = X.astype(np.float32)
    assert [a.dtype for a in vjp(as_doubles, single)[0]] == [np.float64, np.float32, np.float64]
    assert vjp(either, single)[0].dtype == either(single).dtype == np.float64
    with pytest.raises(TypeError):
        vjp(lambda x: np.array([v * 1j for v in x.tolist()], dtype=float), X)


def test_a_number_of_an_unknown_type_divides():
    def divided(x):
        table = [[v, 1.0] for v in x]
        return 1 / (table[0][1] - 1)

    with pytest.raises(ZeroDivisionError):
        grad(divided)(X)


def test_results_are_of_their_types():
    def an_item(x):
        table = [[v, float(v)] for v in x]
        return table[0][1]

    def a_copy(x):
        b = [float(v) for v in x]
        x = x * 1.1
        b = [v for v in b]  # noqa: C416
        return b

    def beside_an_array(x):
        cut = [v if v > 0.8 else 0.0 for v in x]
        return [v * x for v in cut]

    assert type(vjp(an_item, X)[0]) is float
    assert list(map(type, vjp(a_copy, X)[0])) == [float] * 9
    check_grads(beside_an_array, (X,))


def test_a_list_that_another_name_changes():
    def f(x):
        r, lists = [v * v for v in x], []
        for _ in range(2):
            lists.append(r)
        copied = [v for v in r]  # noqa: C416
        lists[0].append(1.0)
        return sum(copied) * len(copied) + sum(r)

    check_grads(f, (X,))
    assert value_and_grad(f)(X)[0] == pytest.approx(f(X))


def test_rows_that_are_left_out_contribute_nothing():
    table = M.copy()
    table[4, 1] = np.nan

    def in_a_loop(w):
        return sum(a**2 for a in [row @ w for row in table] if a == a)

    def by_a_mask(w):
        a = np.array([np.dot(row, w) for row in table])
        return np.sum(a[~np.isnan(a)] ** 2)

    def of_sums(w):
        sums = [np.sum(row * w) for row in table]
        return sum([v * v for v in sums if v == v])

    w = np.linspace(0.3, 0.9, 8)
    for f in (in_a_loop, by_a_mask, of_sums):
        check_grads(f, (w,), order=1 if f is of_sums else 2)


def test_second_derivatives():
    v = np.linspace(-1, 1, 9)
    for f in (stacked, copied_first, neighbours, from_lists, rows_stacked, matrix_of_pairs):
        h = 1e-5
        expected = (grad(f)(X + h * v) - grad(f)(X - h * v)) / (2 * h)
        np.testing.assert_allclose(hvp(f)(X, v), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("first", [0, 15, 30])
def test_random_programs(first):
    words = [random_fills.check(seed) for seed in range(first, first + 15)]
    assert words.count("right") >= 9
