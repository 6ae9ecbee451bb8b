"""`zip` of a generator and what has a length, or none; of rows that only the run counts."""

import itertools

import numpy as np
import pytest

import srcgrad
from tests.small_programs import X, check, programs

WEIGHTS = [1.0, 2.0, 3.0, 4.0, 5.0]
MADE = []


def orbit(u):
    for k in range(6):
        yield u * k
        u = u * 0.9 + 0.1 * np.sin(u)


def noted(u):
    for k in range(6):
        MADE.append(k)
        yield u * k


def with_a_list(x):
    return sum(np.sum(v) * w for v, w in zip(orbit(x), WEIGHTS, strict=False))


def with_an_array_first(x):
    total = 0.0
    for w, v in zip(x, noted(x), strict=False):
        if w > 0.7:
            continue
        total += w * np.sum(v**2)
    return total


def with_an_array_last(x):
    total = 0.0
    for v, w in zip(noted(x), x, strict=False):
        total += w * np.sum(v**2)
        if total > 2:
            break
    return total


def with_an_endless_cycle(x):
    return sum(w * (u @ u) for u, w in zip(orbit(x), itertools.cycle([1.0, -0.5]), strict=False))


def with_a_range_that_is_shorter(x):
    return sum(w * i * np.sum(v) for v, w, i in zip(noted(x), x, range(2), strict=False))


def with_known_items(x):
    d = dict(zip("abc", orbit(x), strict=False))
    return np.sum(d["c"] * d["b"])


def kept_as_a_list(x):
    rows = list(zip(orbit(x[0]), itertools.count(1), strict=False))
    return sum(a * b for a, b in rows) + rows[2][0] * x[1]


def a_generator_expression(x):
    return max(a * b for a, b in zip((v * v for v in x), x[::-1], strict=False))


class Layer:
    def __init__(self, *weights):
        self.weights = weights

    def all_weights(self):
        return [w * w for w in self.weights]


class Network:
    def __init__(self, layers):
        self.layers = layers

    def parameters(self):
        return (w for layer in self.layers for w in layer.weights)

    def squares(self):
        for layer in self.layers:
            yield from layer.all_weights()


def network(v):
    return Network([Layer(v[0], v[1] * 2), Layer(v[2] ** 2), Layer(), Layer(3.0, v[0])])


def in_a_loop_two_of_parts_of_objects(x):
    total = 0.0
    for p, q in zip(network(x).parameters(), network(x).squares(), strict=False):
        if q < 0.2:
            continue
        total += p * q
    return total


def in_a_loop_one_beside_a_list(x):
    total, seen = 0.0, []
    for p, weight in zip(network(x).parameters(), WEIGHTS[:3], strict=False):
        seen.append(p * weight)
        total = total * x[1] + seen[-1]
    return total + len(seen) * x[0]


def in_a_loop_that_is_left(x):
    total = 0.0
    for k, (p, q) in enumerate(zip(network(x).squares(), network(x).parameters(), strict=False)):
        total += p * q * k
        if k == 2:
            break
    return total


@pytest.mark.parametrize("function", programs(globals()), ids=lambda f: f.__name__)
def test_zip_with_a_generator(function):
    check(function)


@pytest.mark.parametrize(
    "function", [with_an_array_first, with_an_array_last, with_a_range_that_is_shorter]
)
def test_no_more_is_made_than_python_makes(function):
    made = []
    for run in (function, srcgrad.grad(function)):
        MADE.clear()
        run(X)
        made.append(list(MADE))
    assert made[0] == made[1]


def with_effects(make):
    """A function that adds up what changes a number whenever an item is made."""

    def f(x):
        made = 0.5

        def noted(v):
            nonlocal made
            made = made + 0.1 * v
            return v * made

        return sum(np.sum(v) for v in make(noted, x)) + made * 2

    return f


@pytest.mark.parametrize(
    "function",
    [
        with_effects(lambda noted, x: zip(map(noted, x), x, strict=True)),
        with_effects(lambda noted, x: zip(x[1:], map(noted, x), strict=False)),
        with_effects(lambda noted, x: zip((noted(v) for v in x), map(noted, x), strict=False)),
    ],
)
def test_effects_come_in_the_order_of_the_items(function):
    check(function)


@pytest.mark.parametrize(
    "function",
    [
        with_effects(lambda noted, x: zip(map(noted, x), x[1:], strict=False)),
        with_effects(lambda noted, x: zip((noted(v) for v in x if v > 0), [1.0], strict=False)),
        with_effects(lambda noted, x: zip(map(noted, x), orbit(x[0]), strict=False)),
        with_effects(lambda noted, x: itertools.accumulate(map(noted, orbit(x[0])))),
        with_effects(lambda noted, x: itertools.pairwise(map(noted, x))),
    ],
)
def test_effects_of_items_that_are_not_asked_for(function):
    check(function)


def with_a_list_that_changes(x):
    items, total = [x[0], 2.0, x[1]], 0.0
    for p, q in zip((a * b for a in items for b in (x[0], 1.0)), WEIGHTS, strict=False):
        total += p * q
        items[2] = total
    return total


def with_an_array_that_changes(x):
    items, total = [x[:2] * 1.0, x[1:] * 1.0], 0.0
    for p, q in zip((a * b for a in items for b in (x[0], 1.0)), WEIGHTS, strict=False):
        total += np.sum(p) * q
        items[1] *= 2
    return total


def with_a_name_that_changes(x):
    factor, total = 1.0, 0.0
    for p, q in zip((a * b * factor for a in (x[0], 2.0) for b in (x[1], 1.0)), x, strict=False):
        total += p * q
        factor = total
    return total


def with_an_attribute_that_changes(x):
    made, total = network(x), 0.0
    for p, q in zip(made.squares(), WEIGHTS, strict=False):
        total += p * q
        made.layers[1].weights = (total,)
    return total


CHANGING = [
    with_a_list_that_changes,
    with_an_array_that_changes,
    with_a_name_that_changes,
    with_an_attribute_that_changes,
]


@pytest.mark.parametrize("function", CHANGING)
def test_what_items_are_made_of_changes_in_the_loop(function):
    check(function)


def test_what_two_generators_are_made_of_changes_in_the_loop():
    def f(x):
        items, total = [x[0], 2.0], 0.0
        by_two = (a * b for a in items for b in (x[0], 1.0))
        for p, q in zip(by_two, (w for w in (x[0], x[1]) for _ in range(2)), strict=False):
            total += p * q
            items[1] = total
        return total

    check(f)


def positive(x, shift=0.5):
    return [v for v in x if v > shift]


def columns_of_tuples(x):
    rows = []
    for v in positive(x):
        rows.append((v, v * v))
    return sum(x) + sum((i + 1) * sum(c) for i, c in enumerate(zip(*rows, strict=True)))


def columns_of_lists(x):
    rows = []
    for v in positive(x):
        rows.append([v, v * v])
    columns = [list(c) for c in zip(*rows, strict=True)]
    back = [list(c) for c in zip(*columns, strict=True)]
    return sum(x) + sum(
        a * b for row, same in zip(rows, back, strict=True) for a, b in zip(row, same, strict=True)
    )


def as_long_as_the_shortest(x):
    rows = []
    for i in range(len(x)):
        if x[i] > 0.5:
            rows.append(x[: i + 2])
    return sum(x) + sum(sum(c) ** 2 for c in zip(*rows, strict=False))


def unpacked_or_not(x):
    rows = []
    for v in positive(x):
        rows.append((v, v * v))
    try:
        a, b = zip(*rows, strict=True)
    except ValueError:
        return sum(x) * 3
    return sum(a) * sum(b)


def lists_unpacked(x):
    rows = []
    for v in positive(x):
        rows.append([v, v * v])
    if not rows:
        return sum(x)
    a, b = map(list, zip(*rows, strict=True))
    a.append(x[0])
    return sum(a) * sum(b) + len(list(zip(*rows, strict=True)))


def rows_of_one_length_or_not(x):
    rows = []
    for i in range(len(x)):
        if x[i] > 0.5:
            rows.append(x[: i + 1])
    try:
        return sum(sum(c) for c in zip(*rows, strict=True)) + sum(x)
    except ValueError:
        return sum(x * x)


COLUMNS = [
    columns_of_tuples,
    columns_of_lists,
    as_long_as_the_shortest,
    unpacked_or_not,
    lists_unpacked,
    rows_of_one_length_or_not,
]


@pytest.mark.parametrize("function", COLUMNS)
def test_columns_of_rows_that_only_the_run_counts(function):
    """One gradient, also where there is no row, and so no column."""
    gradient = srcgrad.value_and_grad(function)
    for x in (X, X - 1.0, X[::-1] + 0.3):
        check(function, x)
        value, found = gradient(x)
        assert value == pytest.approx(function(x))
        np.testing.assert_allclose(found, srcgrad.grad(function)(x))
    assert len(gradient.sources) == 1


def list_or_tuple(x):
    total = 0.0
    for v in x:
        pair = [v, 2 * v] if v > 0.5 else ()
        total += len(pair) * v + sum(w * w for w in pair)
    return total


def list_in_a_dict_or_none(x):
    groups = {}
    for v in x:
        groups.setdefault(v > 0.5, []).append((v, v * v))
    return sum(a * b for key in (True, False, 2) for a, b in groups.get(key, ()))


def tuple_that_becomes_a_list(x):
    kept, total = (), 0.0
    for v in x:
        total += v * sum(kept)
        kept = [v, x[0]] if v > 0.5 else (v,)
    return total


@pytest.mark.parametrize(
    "function", [list_or_tuple, list_in_a_dict_or_none, tuple_that_becomes_a_list]
)
def test_a_list_or_a_tuple(function):
    for x in (X, X - 1.0, X + 1.0):
        check(function, x)


def rows_written_while_gone_through(x):
    rows, total = [], 0.0
    for v in positive(x, -9.0):
        rows.append([v, v * v, 1.0])
    for j, column in enumerate(zip(*rows, strict=True)):
        total += sum(column) * (j + 1)
        if j < 2:
            rows[0][j + 1] *= 2 * x[0]
    return total


def rows_written_before_they_are_asked_for(x):
    rows = []
    for v in positive(x, -9.0):
        rows.append(v * np.ones(2) * x[:2])
    columns = zip(*rows, strict=True)
    rows[0][1] = 5.0 * x[1]
    rows.append(x)
    return sum(sum(c) ** 2 for c in columns) + sum(3.0 * sum(c) for c in columns)


def columns_with_a_name(x):
    rows = []
    for v in positive(x):
        rows.append((v, v * v))
    columns = zip(*rows, strict=True)
    return sum((i + 1) * sum(c) for i, c in enumerate(columns))


@pytest.mark.parametrize(
    "function",
    [
        rows_written_while_gone_through,
        rows_written_before_they_are_asked_for,
        columns_with_a_name,
    ],
)
def test_columns_are_made_when_they_are_asked_for(function):
    check(function)


def test_columns_are_gone_through_once():
    def f(x):
        rows = []
        for v in positive(x):
            rows.append((v, v * v))
        columns = zip(*rows, strict=True)
        return sum(sum(c) for c in columns) + sum(2 * sum(c) for c in columns)

    with pytest.raises(srcgrad.UnsupportedError, match="may be used up already"):
        srcgrad.grad(f)(X)
