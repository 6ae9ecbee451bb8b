"""Lists from outside, as arguments or global variables: one value if their items are alike."""

import copy
import functools
import itertools
import math
import types
from collections import namedtuple

import numpy as np
import pytest

import srcgrad

X = np.array([0.5, 0.3, 0.7, 0.2, 0.9, -0.4])
WHOLE = [3, 1, 4, 1, 5, 2]
FLOATS = [0.5, 1.5, -0.5, 2.0, 0.25, 3.0]
PAIRS = [(0, 0.5), (1, 1.5), (2, -0.5), (3, 0.25), (4, 2.0), (5, 1.0)]
ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 1.0], [2.0, 3.0]]
RAGGED = [[1.0], [2.0, 3.0], [4.0, 5.0, 6.0], [], [7.0], [8.0, 9.0]]
ARRAYS = [np.random.default_rng(i).normal(size=3) for i in range(6)]
WIDTHS = [np.random.default_rng(i).normal(size=n) for i, n in enumerate((1, 3, 3, 1, 3, 1))]
FLAGS = [True, False, True, True, False, True]
COMPLEX = [1 + 2j, 2 - 1j, 0.5j, 1.0 + 0j, 2j, 3.0 + 0j]
Point = namedtuple("Point", "a b")
POINTS = [Point(1.0, 2.0), Point(3.0, 4.0), Point(5.0, 6.0), Point(7.0, 8.0), Point(9.0, 1.0)]


def indexed(x, items):
    return sum(x[i] ** 2 for i in items)


def as_an_index(x, items):
    return np.sum(x[items] ** 2)


def as_an_array(x, items):
    return np.sum(np.array(items) * x**2) + np.dot(x, items)


def slices(x, items):
    ends = sum(a * b * b for a, b in zip(items[1:], x, strict=False))
    return ends + sum(a * b for a, b in zip(items[::-1], x, strict=True))


def ends(x, items):
    return items[0] * x[0] + items[-1] * x[1] + len(items) * x[2] ** 2


def taken_apart(x, items):
    first, second, *others = items
    return first * x[0] + second * x[1] + others[0] * x[2]


def in_a_while(x, items):
    i, total = 0, 0.0
    while i < len(items) and items[i] < 2.0:
        total += items[i] * x[i] ** 2
        i += 1
    return total


def longer(x, items):
    return sum(a * x[k % 6] for k, a in enumerate([*items, 1.0, *items, *items]))


def own_copy(x, items):
    mine = items[:]
    mine.append(x[0])
    mine[0] = x[1]
    return sum(v * v for v in mine)


def searched(x, items):
    return x[items.index(2.0)] * items.count(0.5) + x[0] * (1.5 in items) + x[1] * any(items)


def ordered(x, items):
    return sum(a * b for a, b in zip(sorted(items), x, strict=True)) + max(items) * x[2]


def compared(x, items):
    return x[0] ** 2 if items == [1.0] or not items else x[1]


def sums(x, items):
    return sum(items) * x[0] + math.fsum(items) * x[1] + math.prod(items) * x[2] + np.mean(items)


def recursive(x, items):
    def value(i):
        return items[i] * x[i] ** 2 + value(i + 1) if i < len(items) else 0.0

    return value(0)


def pairs(x, items):
    return sum(x[i] * v * k for k, (i, v) in enumerate(items, 1))


def columns(x, items):
    i, v = zip(*items, strict=True)
    return np.sum(x[list(i)] * np.array(v))


def named(x, items):
    return sum(p.a * x[0] + p.b * x[1] for p in items)


def matrix(x, items):
    return sum(sum(row) * v for row, v in zip(items, x, strict=True)) + np.sum(
        np.array(items) * x[:, None]
    )


def ragged(x, items):
    total = 0.0
    for i, row in enumerate(items):
        for v in row:
            total += v * x[i]
        if row:
            total += row[-1] * x[i] ** 2
    return total


def arrays(x, items):
    total = np.zeros(3)
    for a in items:
        total = total + np.tanh(a * x[0])
    return total @ total + np.sum(np.array(items) @ x[:3]) + np.sum(np.stack(items) * x[:, None])


def arrays_of_widths(x, items):
    total = np.sum((x[0] * items[0]) * (items[1] * x[:3]))
    for a, b in itertools.pairwise(items):
        total += np.sum(np.exp(a * x[:1]) * b * x[1])
    return total


def written_arrays(x, items):
    for a in items:
        a[0] = x[0]
    return sum(np.sum(a**2) for a in items)


def flags(x, items):
    return sum(v**2 if b else v for b, v in zip(items, x, strict=True)) + np.sum(x[items])


def complex_numbers(x, items):
    return sum(abs(c * v) ** 2 for c, v in zip(items, x, strict=True))


def lengths(x, items):
    total = 0.0
    for n in items:
        total += np.sum(np.full(n, x[0]))
        for k in range(n):
            total += x[k] * n
    return total


def shape(x, items):
    return np.sum(np.zeros((items[0], items[4])) + x[0]) + x.reshape(items[0], -1)[0, 0]


def two_arrays_of_unlike_length(x, items):
    return np.sum(np.exp(items[np.argmax(x)] * x[0]) * items[np.argmin(x)] * x[:3])


CASES = [
    (indexed, WHOLE), (as_an_index, WHOLE), (as_an_array, FLOATS), (slices, FLOATS),
    (ends, FLOATS), (taken_apart, FLOATS), (in_a_while, FLOATS), (longer, FLOATS),
    (own_copy, FLOATS), (searched, FLOATS), (ordered, FLOATS), (compared, FLOATS),
    (sums, FLOATS), (recursive, FLOATS), (pairs, PAIRS), (columns, PAIRS), (named, POINTS),
    (matrix, ROWS), (ragged, RAGGED), (arrays, ARRAYS), (arrays_of_widths, WIDTHS),
    (written_arrays, ARRAYS), (flags, FLAGS), (complex_numbers, COMPLEX), (lengths, WHOLE),
    (shape, WHOLE), (two_arrays_of_unlike_length, WIDTHS),
]  # fmt: skip


@pytest.mark.parametrize("function, items", CASES, ids=[f.__name__ for f, _ in CASES])
def test_argument(function, items):
    before = copy.deepcopy(items)
    slope = srcgrad.grad(function)(X, items)
    for i in range(len(X)):
        step = 1e-6 * np.eye(len(X))[i]
        moved = [function(X + h * step, copy.deepcopy(items)) for h in (1, -1)]
        assert slope[i] == pytest.approx((moved[0] - moved[1]) / 2e-6, rel=1e-5, abs=1e-7)
    assert repr(items) == repr(before)


@pytest.mark.parametrize("function, items", CASES, ids=[f.__name__ for f, _ in CASES])
def test_outer_variable(function, items):
    if function is written_arrays:
        pytest.skip("it would change what others see")
    slope = srcgrad.grad(lambda x: function(x, items))(X)
    np.testing.assert_allclose(slope, srcgrad.grad(function)(X, items), rtol=1e-12)
    direction = np.cos(np.arange(len(X)))
    tangent = srcgrad.jvp(lambda x: function(x, items), (X,), (direction,))[1]
    assert tangent == pytest.approx(slope @ direction, rel=1e-10)


DATA = [(0.1, 0.3), (0.2, 0.1), (0.4, 0.9), (0.7, 0.2), (0.3, 0.5)]


def squared_error(w):
    total = 0.0
    for x, y in DATA:
        total += (w[0] * x + w[1] - y) ** 2
    return total / len(DATA)


def test_one_gradient_for_every_length():
    w = np.array([0.3, -0.2])
    gradient = srcgrad.grad(squared_error)
    for _ in range(4):
        x, y = np.array(DATA).T
        error = w[0] * x + w[1] - y
        np.testing.assert_allclose(gradient(w), [2 * np.mean(error * x), 2 * np.mean(error)])
        DATA.extend([(0.5, 0.4), (0.25, -0.3)])
    assert len(gradient.sources) == 1
    assert "    for x, y in reversed(DATA):" in gradient.source
    assert len(gradient.source.splitlines()) < 22


def test_the_list_becomes_another():
    def f(x, items):
        return sum((x * v**2 for v in items), 0.0)

    gradient = srcgrad.grad(f)
    for items in (
        [1, 2, 3, 4, 5], [1.0, 2, 3, 4, 5], [1.5] * 7, [1, 2], [], [True] * 6, [np.float32(2)] * 5,
        [1, 2, 3, 4, 5, 6], [True] * 5 + [0.5],
    ):  # fmt: skip
        assert gradient(2.0, items) == pytest.approx(sum(float(v) ** 2 for v in items)), items


def test_lists_of_arrays_of_other_shapes():
    def f(x, items):
        return sum(np.sum(np.exp(x * a)) for a in items)

    gradient, x = srcgrad.grad(f), np.array([0.1, 0.2, 0.3])
    for shapes in ([(3,)] * 5, [(1,)] * 5, [(3,), (1,), (2, 3), (3,), (3,)], [(2, 1)] * 6):
        items = [np.full(s, 0.5 + i) for i, s in enumerate(shapes)]
        expected = [(f(x + 1e-6 * e, items) - f(x - 1e-6 * e, items)) / 2e-6 for e in np.eye(3)]
        np.testing.assert_allclose(gradient(x, items), expected, rtol=1e-7)
        assert gradient(x, items).shape == x.shape


def test_short_differentiated_lists_are_given_item_by_item():
    def f(weights, xs):
        return sum(w * x**2 for w, x in zip(weights, xs, strict=True))

    slopes = srcgrad.grad(f, argnums=(0, 1))([0.1] * 6, FLOATS)
    assert slopes[0] == pytest.approx([v**2 for v in FLOATS])
    assert slopes[1] == pytest.approx([0.2 * v for v in FLOATS])
    assert srcgrad.grad(f)([0.1] * 6, FLOATS) == pytest.approx(slopes[0])


NUMBERS = [0.3 * ((7 * i) % 23) - 1.1 for i in range(20)]
LAYER = [[0.1 * i - 0.07 * j * j for j in range(5)] for i in range(6)]
CUT = [NUMBERS[k : k + n] for k, n in ((0, 5), (3, 3), (5, 4), (7, 6), (1, 2), (9, 3))]


def neighbours(items):
    total = 0.0
    for i in range(len(items) - 1):
        total += 100 * (items[i + 1] - items[i] ** 2) ** 2 + (1 - items[i]) ** 2
    return total


def parts_of_it(items):
    pairs = sum(a * b for a, b in zip(items[1:], items[:-1], strict=True))
    first, second, *others = items
    return pairs + sum(items[::2]) + first * second**2 + others[3]


def in_order(items):
    return sum(k * v for k, v in enumerate(sorted(items))) + max(items) ** 2


def with_arrays(items):
    return np.sum(np.array(items) ** 2 * np.arange(20)) + np.dot(items, np.sin(items))


def copied_and_changed(items):
    mine = list(items)
    mine[0] = mine[1] * 2
    mine.append(mine[3])
    mine.reverse()
    return sum(k * v * v for k, v in enumerate(mine))


def on_a_branch(items):
    total = items[0]
    for v in items:
        total = total * 0.5 + (v**2 if v > 0 else -v)
    return total


def not_used(items):
    return 2.0


def network(weights, biases):
    hidden = []
    for row, bias in zip(weights, biases, strict=False):
        hidden.append(math.tanh(sum(w * x for w, x in zip(row, X, strict=False)) + bias))
    return sum(h * b for h, b in zip(hidden, biases, strict=False))


def rows_named(rows):
    row, other = rows[2], rows[2]
    kept = list(rows)
    kept.append([1.0, 2.0])
    return row[0] * other[0] * rows[2][0] + sum(r[0] * r[1] for r in kept)


def copies_of_rows(rows):
    mine = [row[:] for row in rows]
    for i in range(len(mine)):
        mine[i][0] *= rows[(i + 1) % len(rows)][1]
    return sum(map(sum, mine)) + sum(max(column) for column in zip(*rows, strict=False))


def in_a_dict(table):
    return network(table["w"], table["b"])


DIFFERENTIATED = [
    (neighbours, (NUMBERS,)), (parts_of_it, (NUMBERS,)), (in_order, (NUMBERS,)),
    (with_arrays, (NUMBERS,)), (copied_and_changed, (NUMBERS,)), (on_a_branch, (NUMBERS,)),
    (not_used, (NUMBERS,)), (network, (LAYER, NUMBERS)), (rows_named, (LAYER,)),
    (rows_named, (CUT,)), (copies_of_rows, (LAYER,)), (in_a_dict, ({"w": LAYER, "b": NUMBERS},)),
]  # fmt: skip


def flat(value):
    if isinstance(value, (list, tuple, dict)):
        parts = value.values() if isinstance(value, dict) else value
        return [leaf for part in parts for leaf in flat(part)]
    return [value]


def like(value, numbers):
    if isinstance(value, dict):
        return {k: like(v, numbers) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(like(v, numbers) for v in value)
    return float(next(numbers))


@pytest.mark.parametrize("f, args", DIFFERENTIATED, ids=lambda v: getattr(v, "__name__", ""))
def test_differentiated(f, args):
    places, x = tuple(range(len(args))), np.array(flat(args))
    direction = np.cos(np.arange(len(x)))

    def along(function, numbers=x):
        ends = [np.array(function(numbers + h * direction)) for h in (1e-6, -1e-6)]
        return (ends[0] - ends[1]) / 2e-6

    def value(numbers):
        return f(*like(args, iter(numbers)))

    def slope(numbers):
        return flat(srcgrad.grad(f, argnums=places)(*like(args, iter(numbers))))

    found = srcgrad.grad(f, argnums=places)(*args)
    assert like(args, iter(flat(found))) == found  # nested as the arguments are
    assert np.dot(flat(found), direction) == pytest.approx(along(value), rel=1e-6, abs=1e-8)
    moved = srcgrad.jvp(f, args, like(args, iter(direction)))[1]
    assert moved == pytest.approx(np.dot(flat(found), direction), rel=1e-10, abs=1e-12)
    _, pullback = srcgrad.vjp(f, *args)
    for _ in range(2):
        np.testing.assert_allclose(flat(pullback(2.0)), 2 * np.array(flat(found)), rtol=1e-12)
    product = srcgrad.hvp(f, argnums=places)(*args, like(args, iter(direction)))
    np.testing.assert_allclose(flat(product), along(slope), rtol=1e-6, atol=1e-7)


def test_one_gradient_for_every_length_of_a_differentiated_list():
    gradient = srcgrad.grad(neighbours)
    for n in (17, 40, 1000):
        x = np.linspace(-1.0, 1.0, n)
        expected = srcgrad.grad(neighbours)(x)
        np.testing.assert_allclose(gradient(x.tolist()), expected, rtol=1e-12)
    of_lists = [text for text in gradient.sources if "d_items = [0.0] * len(items)" in text]
    assert len(of_lists) == 1


def test_gradients_of_lists_share_nothing():
    gradient = srcgrad.grad(rows_named)
    first = gradient(LAYER)
    first[2][0] = first[0] = None
    assert flat(gradient(LAYER)) == flat(srcgrad.grad(rows_named)(copy.deepcopy(LAYER)))


def appended(x, items):
    items.append(x)
    return items[-1]


def assigned(x, items):
    items[0] = x
    return items[0]


def added_to(x, items):
    items += [x]
    return items[-1]


def inner_list_changed(x, items):
    rows = list(items)
    rows[0].append(x)
    return rows[0][-1]


def each_inner_list_changed(x, items):
    for row in items:
        row[0] = x
    return items[0][0]


@pytest.mark.parametrize(
    "function, items",
    [
        (appended, FLOATS), (assigned, FLOATS), (added_to, FLOATS), (inner_list_changed, ROWS),
        (each_inner_list_changed, ROWS),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)  # fmt: skip
def test_lists_among_the_arguments_stay_as_they_are(function, items):
    before = copy.deepcopy(items)
    assert srcgrad.grad(function)(2.0, items) == 1.0
    assert items == before
    try:
        assert srcgrad.grad(lambda x: function(x, items))(2.0) == 1.0
        found = copy.deepcopy(items)
        items[:] = copy.deepcopy(before)
        function(2.0, items)
        assert items == found
    finally:
        items[:] = before


def test_the_same_list_twice():
    def f(x, first, second):
        return sum(x * a * b for a, b in zip(first, second, strict=True))

    expected = sum(v * v for v in FLOATS)
    assert srcgrad.grad(f)(1.0, FLOATS, FLOATS) == pytest.approx(expected)


def test_lists_in_other_arguments():
    class Model:
        def __init__(self):
            self.scales = FLOATS

    def f(x, table, pair, model):
        total = sum(v * x[i] for v, i in zip(table["values"], table["places"], strict=True))
        return total + sum(v * w for v, w in zip(pair[0], x, strict=True)) * sum(model.scales)

    slope = srcgrad.grad(f)(X, {"values": FLOATS, "places": WHOLE}, (FLOATS, 1.0), Model())
    expected = np.array(FLOATS) * sum(FLOATS)
    np.add.at(expected, WHOLE, FLOATS)
    np.testing.assert_allclose(slope, expected)


TABLE = [[1.0, 2.0], [3.0, 4.0]]
LIMITS = {"low": (0.1, 2.0), "high": (0.6, 4.0)}


def read_on_branches(x):
    total = 0.0
    for i in range(3):
        if x[0] > i - 1:
            y = TABLE[0][1] * x[0] if x[1] > 0 else x[1]
        else:
            y = x[0] ** 2
        total = total + y * TABLE[0][1] * TABLE[1][0]
    return total


def read_where_it_returns(x):
    for _, (limit, factor) in LIMITS.items():
        if x[0] <= limit:
            return x[0] * factor
    return x[0] * LIMITS["low"][1] * x[1]


@pytest.mark.parametrize("x", [[0.3, 0.2], [-0.3, 0.2], [-0.3, -0.2], [0.9, -0.2], [0.05, 1.0]])
@pytest.mark.parametrize("function", [read_on_branches, read_where_it_returns])
def test_outer_containers_read_on_some_branches(function, x):
    x = np.array(x)
    slope = srcgrad.grad(function)(x)
    for i in range(2):
        step = 1e-6 * np.eye(2)[i]
        expected = (function(x + step) - function(x - step)) / 2e-6
        assert slope[i] == pytest.approx(expected, abs=1e-8)


def none_at_first(x):
    previous = None
    for t in range(len(x)):
        current = []
        for s in range(3):
            if t == 0:
                reached = x[s]
            else:
                reached = sum(previous[k] * x[t] for k in range(3))
            current.append(reached)
        previous = current
    return previous[0] * previous[1]


def none_has_no_method(x):
    previous = None
    for t in range(len(x)):
        if t > 0:
            current = previous.sum() * x
        else:
            current = x * 2
        previous = current
    return previous.sum()


@pytest.mark.parametrize("function", [none_at_first, none_has_no_method])
def test_what_is_none_in_the_first_iteration(function):
    slope = srcgrad.grad(function)(X)
    for i in range(len(X)):
        step = 1e-6 * np.eye(len(X))[i]
        expected = (function(X + step) - function(X - step)) / 2e-6
        assert slope[i] == pytest.approx(expected, rel=1e-6, abs=1e-8)


HELD = [1.0], np.ones(2), {"k": 1.0}
BY_POSITION = functools.partial(lambda a, b, x: np.sum(x * b) * a[0], *HELD[:2])
BY_KEYWORD = functools.partial(lambda x, c, n=1: np.sum(x) * c["k"] * n, c=HELD[2])
NESTED = functools.partial(
    functools.partial(lambda t, d, x: t[0][0] * d["k"] * x[0], HELD), HELD[2]
)


def with_defaults(x, a=HELD[0], *, c=HELD[2]):
    return np.sum(x) * a[0] * c["k"]


with_defaults.b = HELD[1]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: BY_POSITION(x),
        lambda x: BY_KEYWORD(x) + sum(map(NESTED, [x])),
        lambda x: with_defaults.__defaults__[0][0] * x[1] * with_defaults.__kwdefaults__["c"]["k"],
        lambda x: with_defaults.__dict__["b"][0] * x[1] + with_defaults(x),
    ],
    ids=["partial", "keywords", "defaults", "attributes"],
)
def test_what_functions_hold_is_as_it_is_now(f):
    x = np.array([0.3, 0.7])
    gradient, tangent = srcgrad.grad(f), lambda: srcgrad.jvp(f, (x,), (np.ones(2),))[1]
    for value in (1.0, 3.0):
        HELD[0][0] = HELD[1][:] = HELD[2]["k"] = value
        slopes = [(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
        np.testing.assert_allclose(gradient(x), slopes, rtol=1e-7)
        np.testing.assert_allclose(tangent(), np.sum(slopes), rtol=1e-7)


@pytest.mark.parametrize(
    "f, message",
    [
        (lambda x: with_defaults.__globals__["HELD"][0][0] * x[1], "the globals of a function"),
        (lambda x: itertools.__dict__["count"], "the __dict__ of a module"),
    ],
)
def test_namespaces_are_refused(f, message):
    with pytest.raises(srcgrad.UnsupportedError, match=message):
        srcgrad.grad(f)(np.array([0.3, 0.7]))


def waves(now, before):
    t = 0.0
    while t <= 1:
        t += 0.3
        new = [[0.0] * len(now[0]) for _ in now]
        for i in range(len(now)):
            for j in range(len(now[0])):
                new[i][j] = 1.9 * now[i][j] ** 2 - before[i][j]
        before = now
        now = new
    return sum(map(sum, now))


def eliminated(a, b):
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            m = a[i][k] / a[k][k]
            for j in range(k, n):
                a[i][j] -= m * a[k][j]
            b[i] -= m * b[k]
    return sum(b[i] / a[i][i] for i in range(n))


MATRIX = (np.random.default_rng(8).normal(size=(6, 6)) + 6 * np.eye(6)).tolist()
OTHER = (0.4 * np.random.default_rng(9).normal(size=(6, 6))).tolist()
COLUMN = np.random.default_rng(10).normal(size=20).tolist()


@pytest.mark.parametrize("by", [0, 1, (0, 1)])
@pytest.mark.parametrize(("f", "args"), [(waves, (MATRIX, OTHER)), (eliminated, (MATRIX, COLUMN))])
def test_rows_of_arguments_are_copied_where_they_may_be_written(f, args, by):
    places = by if isinstance(by, tuple) else (by,)
    moves = [np.cos(np.arange(np.size(args[k]))).reshape(np.shape(args[k])) for k in places]

    def moved(h):
        given = list(args)
        for k, v in zip(places, moves, strict=True):
            given[k] = (np.array(args[k]) + h * v).tolist()
        return f(*copy.deepcopy(given))

    given = copy.deepcopy(args)
    derivative = srcgrad.grad(f, argnums=places)
    gradients = derivative(*given)
    assert given == args
    assert derivative.source.count("\n") < 140
    slope = (moved(1e-6) - moved(-1e-6)) / 2e-6
    found = sum(np.sum(np.array(d) * v) for d, v in zip(gradients, moves, strict=True))
    assert found == pytest.approx(slope, rel=1e-7)


def test_rows_that_are_one_list_are_refused_where_they_are_written():
    row = [0.5] * 6
    with pytest.raises(ValueError, match="the same list is in two places of the arguments"):
        srcgrad.grad(eliminated)([row, row[:], row, row[:], row, row[:]], COLUMN)


NEAR = [(-1, 0), (1, 0), (0, -1), (0, 1)]
ALL_AROUND = [*NEAR, (-1, -1), (1, 1), (1, -1), (-1, 1)]
FEW = [0.5, 1.5]


def around(u, connectivity):
    neighbors = NEAR if connectivity == 4 else ALL_AROUND
    rows, columns = u.shape
    total = 0.0
    for r in range(rows):
        for c in range(columns):
            for dy, dx in neighbors:
                if 0 <= r + dy < rows and 0 <= c + dx < columns:
                    total += u[r, c] ** 2 * u[r + dy, c + dx]
    return total / len(neighbors)


def one_of_three(u, connectivity):
    weights = FEW if connectivity == 4 else FLOATS if u[0, 0] > 0 else [u[0, 1]]
    if weights is FEW:
        return weights[-1] * u[0, 0] ** 2
    return sum(w * v * v for w, v in zip(weights, u[1], strict=False))


@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("f", [around, one_of_three])
def test_one_of_several_short_lists_of_different_lengths(f, sign, connectivity):
    u = sign * X.reshape(2, 3)
    value, gradient = srcgrad.value_and_grad(f)(u, connectivity)
    assert value == f(u, connectivity)
    expected = [
        (f(u + e.reshape(2, 3), connectivity) - f(u - e.reshape(2, 3), connectivity)) / 2e-6
        for e in 1e-6 * np.eye(6)
    ]
    np.testing.assert_allclose(gradient.ravel(), expected, atol=1e-8)


def test_short_lists_of_different_lengths_become_others():
    def f(x, flag):
        return sum([v * x[0] for v in (few if flag == 1 else many)])

    few, many, x = [1.0, 2.0], [1.0, 2.0, 3.0], np.ones(1)
    gradient = srcgrad.grad(f)
    assert gradient(x, 1) == 3.0 and gradient(x, 0) == 6.0
    few[0] = 5.0
    assert gradient(x, 1) == 7.0
    few.append(1.0)
    assert gradient(x, 1) == 8.0 and gradient(x, 0) == 6.0


LONG, LONGER, TABLE = [1.0, 2.0] * 10, [3.0] * 30, [[1.0, 2.0] for _ in range(20)]


def restored(x, flag):
    chosen = LONG if flag == 1 else LONGER
    before, chosen[0] = chosen[0], 7.0
    total = sum(chosen) * x[0]
    chosen[0] = before
    return total


def written_at_last(x, flag):
    chosen = LONG if flag == 1 else LONGER
    total = sum(chosen) * x[0]
    chosen.append(9.0)
    return total


def of_an_object(x, flag):
    held = types.SimpleNamespace(items=LONG if flag == 1 else LONGER)
    total = sum(held.items) * x[0]
    held.items[0] = 9.0
    return total


def or_one_made_here(x, flag):
    chosen = LONG if flag == 1 else [1.0, x[0]]
    total = sum(chosen) * x[0]
    chosen[0] = 9.0
    return total


def after_a_loop(x, flag):
    chosen, total = LONG, 0.0
    for _ in range(len(x)):
        total += sum(chosen) * x[0]
        chosen = LONGER
    chosen[0] = 9.0
    return total


@pytest.mark.parametrize("flag", [0, 1])
@pytest.mark.parametrize(
    "f", [restored, written_at_last, of_an_object, or_one_made_here, after_a_loop]
)
def test_one_of_several_lists_outside_is_not_written_in_part(f, flag):
    before = copy.deepcopy((LONG, LONGER))
    with pytest.raises(srcgrad.UnsupportedError, match="belongs to the caller"):
        srcgrad.grad(f)(X, flag)
    assert before == (LONG, LONGER)


def test_rows_of_long_lists_outside_are_written_as_the_function_does():
    def f(x, i):
        total = TABLE[i][0] * x[0]
        TABLE[i][0] = 8.0
        row = TABLE[i + 1]
        row[1] = float(total)
        return total

    before = copy.deepcopy(TABLE)
    try:
        f(X, 3)
        expected, TABLE[:] = copy.deepcopy(TABLE), copy.deepcopy(before)
        np.testing.assert_array_equal(srcgrad.grad(f)(X, 3), [1.0, 0, 0, 0, 0, 0])
        assert expected == TABLE != before
    finally:
        TABLE[:] = before
