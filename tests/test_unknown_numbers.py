"""Python's containers and iterators steered by an int that isn't known when compiling.

Each program is called with several ints by one gradient, and compared with finite differences: how
long an iterator is, where an item stands and which of several it is must follow the int.
"""

import bisect
import collections
import functools
import inspect
import itertools
import sys

import numpy as np
import pytest

import srcgrad

X = np.array([0.3, 1.2, -0.7, 0.55])
FUNCTIONS = (np.sin, np.cos, np.exp)


# Where an item stands


def index_after_an_unknown_item(x, k):
    return x[[k, 3, 1].index(3)] ** 2


def index_of_an_unknown_item(x, k):
    return x[[2, 0, 3, 1].index(k)] ** 2


def index_in_a_tuple(x, k):
    return x[(k, 3, 1).index(1)] ** 2


def index_that_may_fail(x, k):
    try:
        place = [2, 3].index(k)
    except ValueError:
        place = 3
    return x[place] ** 2


def removed(x, k):
    items = [k, 3, 1]
    items.remove(3)
    return x[items[0]] ** 2 + x[items[1]] ** 3


def place_of_the_largest_int(x, k):
    items = [k, 2, 1]
    return x[items.index(max(items))] ** 2


def place_of_the_largest(x, k):
    items = [x[0], k * x[1], x[2]]
    return items.index(max(items)) * x[3] ** 2


def place_in_a_list_of_unknown_length(x, k):
    items = [2 * v for v in x[k:]]
    return x[items.index(min(items))] ** 2


def counted(x, k):
    return x[[k, 3, 1].count(3)] ** 2


def first_that_fits(x, k):
    return x[next(i for i in range(4) if i >= k)] ** 2


def bisected(x, k):
    return x[bisect.bisect([0, 1, 2], k)] ** 2


# Sequences of different lengths


def zip_of_pairs_and_a_range(x, k):
    total = 0.0
    for (a, b), i in zip([(x[0], 1), (x[1], 2), (x[2], 3)], range(k)):
        total += a * b * (i + 1)
    return total**2


def zip_of_functions_and_a_slice(x, k):
    return sum(f(v) for f, v in zip(FUNCTIONS, x[:k]))


def zip_of_functions_and_a_list(x, k):
    return sum(f(v) for f, v in zip(FUNCTIONS, [i * x[0] for i in range(k)]))


def zip_of_functions_and_a_count(x, k):
    return sum(f(x[i % 4]) for f, i in zip(FUNCTIONS, itertools.count(k)))


def zip_with_functions_last(x, k):
    return sum(f(x[i]) * i for i, f in zip(reversed(range(k)), FUNCTIONS))


def zip_of_dicts(x, k):
    rows = [{"a": x[0]}, {"a": x[1]}, {"a": x[2]}]
    return sum(row["a"] ** i for row, i in zip(rows, range(1, k + 1)))


def zip_with_a_length_of_the_data(x, k):
    positive = x[x > 0.37 * k]
    return sum(f(v) for f, v in zip(FUNCTIONS, positive))


def zip_left_by_a_break(x, k):
    total = x[3]
    for f, i in zip(FUNCTIONS, range(k)):
        if i == 1:
            break
        total += f(x[i])
    else:
        total *= 2
    return total


def zip_left_by_a_break_of_the_data(x, k):
    total = x[3]
    for f, v in zip(FUNCTIONS, x[x > 0.3 * k - 1]):
        if v > 1:
            break
        total += f(v)
    return total


def map_of_two(x, k):
    return sum(map(lambda f, i: f(i * x[0]), FUNCTIONS, range(k)))


def dict_of_a_zip(x, k):
    entries = dict(zip("abc", x[:k]))
    return sum(v**2 for v in entries.values()) + len(entries) * x[3]


def reduced(x, k):
    return functools.reduce(lambda a, pair: pair[0](a) * x[pair[1]], zip(FUNCTIONS, range(k)), x[3])


def tuple_repeated(x, k):
    return sum(f(v) for f, v in zip(FUNCTIONS[:2] * k, x))


# Which of several


def index_repeated(x, k):
    y = np.zeros((2,) * (k + 1))
    y[(0,) * (k + 1)] = x[0]
    y[(slice(None),) * k] += x[1]
    return np.sum(y**2) + y[(1,) * k + (0,)] * x[2]


def floats_repeated(x, k):
    return sum(v + w * w for v, w in zip((0.5,) * k, x, strict=False)) * x[1]


def many_keys_that_are_texts(x, k):
    entries = {}
    for i in range(150):
        entries[f"{i % (k + 1)}-{i}"] = x[i % 4] * i
    return sum(v**2 for v in entries.values()) / len(entries) + entries[f"{k}-{k}"]


def largest_of_an_enumeration(x, k):
    return x[max(enumerate([k, 2, 1]), key=lambda pair: pair[1])[0]] ** 2


def largest_of_a_zip(x, k):
    return max(zip(x[k:], range(4)))[0] ** 2


def smallest_of_pairs(x, k):
    value, place = min((v, i) for i, v in enumerate(x[k:]))
    return value**2 * (place + 1)


def rotated(x, k):
    queue = collections.deque([0, 1, 2, 3])
    queue.rotate(k)
    return x[queue[0]] ** 2


def one_set(x, k):
    return sum(x[i] ** 2 for i in {k, 1, 2})


def one_key(x, k):
    entries = {k: x[0], 1: x[1]}
    return entries[1] ** 2 + len(entries) * x[2]


def programs():
    module = sys.modules[__name__]
    for _, thing in sorted(vars(module).items()):
        own = inspect.isfunction(thing) and thing.__module__ == __name__
        if own and list(inspect.signature(thing).parameters) == ["x", "k"]:
            yield thing


def differences(f, k, step=1e-6):
    return np.array([(f(X + step * e, k) - f(X - step * e, k)) / (2 * step) for e in np.eye(4)])


@pytest.mark.parametrize("f", list(programs()), ids=lambda f: f.__name__)
def test_it_follows_the_int(f):
    gradient = srcgrad.grad(f)
    calls = 0
    for k in (2, 0, 1, 3):
        try:
            f(X, k)
        except (ValueError, IndexError) as error:
            with pytest.raises(type(error)):
                gradient(X.copy(), k)
            continue
        np.testing.assert_allclose(gradient(X.copy(), k), differences(f, k), rtol=1e-6, atol=1e-7)
        calls += 1
    assert calls >= 2


def first_of_a_sum(p):
    """A number of NumPy's, or 0-d: the sum of none would be Python's 0."""
    rows = [(p[0], p[:2]), (p[1], p[1:3])]
    for _ in range(2):
        if p[0] < 5:
            rows[-1] = (sum(x for _, x in rows[:-1])[0], rows[0][1])
        else:
            rows = [rows[0]] + [(x @ x, x * 0.9) for _, x in rows[1:]]
    return rows[1][0] * p[2] ** 2


def simplex_of_unknown_size(p):
    rows = [(p[0], p[:2]), (p[1], p[1:3]), (p[2], p[1:])]
    for _ in range(3):
        rows.sort(key=lambda row: row[0])
        middle = sum(x for _, x in rows[:-1]) / 2
        value = middle[0] ** 2 * p[1]
        if value < rows[-2][0]:
            rows[-1] = (value, middle)
        else:
            rows = [rows[0]] + [(x @ x * p[1], x * 0.9) for _, x in rows[1:]]
    return min(rows, key=lambda row: row[0])[0] * p[2]


@pytest.mark.parametrize("function", [first_of_a_sum, simplex_of_unknown_size])
def test_second_derivatives_where_a_number_may_be_an_array_without_axes(function):
    p = np.array([0.7, 1.3, 0.4])
    gradient = srcgrad.grad(function)
    steps = 1e-6 * np.eye(3)
    slopes = [(function(p + h) - function(p - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(gradient(p), slopes, rtol=1e-6, atol=1e-8)
    tangents = [srcgrad.jvp(function, (p,), (e,))[1] for e in np.eye(3)]
    np.testing.assert_allclose(tangents, slopes, rtol=1e-6, atol=1e-8)
    expected = [(gradient(p + h) - gradient(p - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(srcgrad.hessian(function)(p), expected, rtol=1e-6, atol=1e-7)


# Tuples of like items at an index that the data say, of which no argument tells


def largest(x):
    return int(np.argmax(x))


def number_of_a_tuple(x):
    weights = (0.5, x[0], 3, x[1])
    return weights[largest(x)] * x[1] + (2.0, 0.5, 1.5, 0.1)[-largest(x)] * x[2]


def array_of_a_tuple_written(x):
    parts = (x * 1.0, x * 2.0)
    parts[largest(x) % 2][0] = 5.0
    return np.sum(parts[0] ** 2 + parts[1])


def same_array_twice(x):
    y = x * 2
    both = (y, y)
    both[largest(x) % 2][1] *= 3.0
    return np.sum(y**2)


def arrays_of_other_ranks(x):
    return np.sum((x * 1.0, np.outer(x, x))[largest(x) % 2] ** 2)


def list_of_a_tuple_appended_to(x):
    lists = ([x[0], 1.0], [x[1], x[2]])
    lists[largest(x) % 2].append(x[0] * 3)
    return sum(lists[0]) + 2 * sum(lists[1]) * len(lists[1])


def pair_of_a_tuple(x):
    p, q = ((x[0], x[1]), (x[1], x[2]), (x[2], x[3]), (x[3], x[0]))[largest(x)]
    return p * q * q


def none_in_a_tuple(x):
    found = (None, x[1], None, x[3])[largest(x)]
    return x[0] if found is None else found**2


def no_such_item(x):
    try:
        return (x[0], x[1])[largest(x)] * 2
    except IndexError:
        return x[2] ** 2


def odometer(x):
    dims, where, total = (3, 4, 2), [0, 0, 0], 0.0
    while where[0] < dims[0]:
        i = int(np.argmax(np.array(where)))
        total = total + x[where[0]] ** 2 * dims[i]
        where[0] += 1
    return total


@pytest.mark.parametrize(
    "f",
    [
        number_of_a_tuple, array_of_a_tuple_written, same_array_twice, arrays_of_other_ranks,
        list_of_a_tuple_appended_to, pair_of_a_tuple, none_in_a_tuple, no_such_item, odometer,
    ],
)  # fmt: skip
def test_tuples_at_an_index_that_the_data_say(f):
    gradient = srcgrad.grad(f)
    for k in range(4):
        x = X.copy()
        x[k] += 2.0
        given = x.copy()
        slope = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(4)]
        np.testing.assert_allclose(gradient(x), slope, rtol=1e-6, atol=1e-7)
        assert np.array_equal(x, given)


def unlike_items(x):
    return (x[0], "no", 3.0)[largest(x)] * 2.0


def test_unlike_items_of_a_tuple_are_refused():
    with pytest.raises(srcgrad.UnsupportedError, match="of different kinds"):
        srcgrad.grad(unlike_items)(X)


# Sets of which only the run knows what is in them, and in which order


def taken_one_by_one(x):
    members = {i for i in range(len(x)) if x[i] > 0.5}
    total = 0.0
    while members:
        total = total * 1.5 + x[members.pop()] ** 2
    return total


def reached(x):
    todo, done, total = {0}, set(), 1.0
    while todo:
        i = todo.pop()
        if i in done:
            continue
        done.add(i)
        total = total * np.sin(x[i]) + x[i] ** 2
        if x[i] > 0.5:
            for j in ((i * 2 + 1) % len(x), (i * 3 + 2) % len(x)):
                todo.add(j)
    return total


def taken_and_put(x):
    members = set()
    for i in range(len(x)):
        if x[i] > 0.2:
            members.add(10 * i + 7)
    total = 0.0
    for _ in range(2):
        i = members.pop()
        members.add(i % 7)
        total = total * x[0] + x[i % len(x)] * i
    return total + len(members) * x[1]


def taken_and_left(x):
    members = set()
    for i in range(len(x)):
        if x[i] > 0.2:
            members.add(i)
    same, other = members, members.copy()
    members.pop()
    total = 0.0
    for i in same:
        total = total * 1.1 + x[i] ** 2
    return total * len(members) + len(other) * x[other.pop()] * 2


class Work:
    def __init__(self):
        self.todo = set()

    def take(self):
        return self.todo.pop()


def taken_by_a_method(x):
    work, total = Work(), 0.0
    for k in range(3):
        for i in range(len(x)):
            if x[i] > 0.3 * k:
                work.todo.add(i)
        while len(work.todo) > 1:
            total = np.sin(total) + x[work.take()] ** 2
    return total


@pytest.mark.parametrize(
    "f", [taken_one_by_one, reached, taken_and_put, taken_and_left, taken_by_a_method]
)
def test_members_of_sets_are_taken_in_pythons_order(f):
    gradient = srcgrad.grad(f)
    for size in (5, 30, 3):
        x = np.random.default_rng(size).uniform(0.25, 1.5, size)
        slope = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(size)]
        np.testing.assert_allclose(gradient(x), slope, rtol=1e-5, atol=1e-6)


def taken_from_nothing(x):
    members = set()
    for i in range(len(x)):
        if x[i] > 5.0:
            members.add(i)
    return x[members.pop()]


def taken_until_it_raises(x):
    members = {i for i in range(len(x)) if x[i] > 0.5}
    try:
        while True:
            x = x * x[members.pop()]
    except KeyError:
        return np.sum(x)


def pairs_taken(x):
    members = {(i, i + 1) for i in range(len(x)) if x[i] > 0.5}
    return x[members.pop()[0]]


def test_sets_from_which_nothing_can_be_taken():
    with pytest.raises(KeyError, match="pop from an empty set"):
        srcgrad.grad(taken_from_nothing)(X)
    for f in (taken_until_it_raises, pairs_taken):
        with pytest.raises(srcgrad.UnsupportedError, match="this set is"):
            srcgrad.grad(f)(X)
