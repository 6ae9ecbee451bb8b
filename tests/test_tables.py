"""Dicts and sets whose keys only the run tells, and lists in lists: right whatever is overwritten.

Each program is compared with finite differences, in reverse and forward mode, and so is the
gradient of its gradient.
"""

import collections

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

X = np.array([0.7, -0.4, 1.3, 0.2, -1.1, 0.9])
KEYS = [2, 0, 2, 1, 0, 2]


def memoised(x, keys):
    table = {}
    for i in range(len(x) - 1):
        for j in range(i + 1):
            if (i - 1, j) in table:
                table[i, j] = np.sin(table[i - 1, j]) * x[i] + x[j]
            else:
                table[i, j] = x[i] * x[j]
    return table[len(x) - 2, 0] ** 2 + table[len(x) - 2, 1]


def overwritten(x, keys):
    """Read, overwritten and read again: the reverse sweep needs each value as it was."""
    table = {}
    total = 0.0
    for i in range(len(keys)):
        k = keys[i]
        total += table.get(k, 0.5) ** 2 * x[i]
        table[k] = x[i] ** 2 + total
    return total + sum(v**3 for v in table.values())


def augmented(x, keys):
    table = {0: 1.0, 1: 2.0, 2: x[0]}
    for i in range(len(keys)):
        table[keys[i]] *= 1.0 + x[i] ** 2
    return table[0] * table[1] + np.exp(0.1 * table[2])


def set_default(x, keys):
    groups = {}
    for i in range(len(keys)):
        groups.setdefault(keys[i], []).append(x[i] ** 2)
    total = 0.0
    for key, members in groups.items():
        total += (key + 1) * sum(members) ** 2 / len(members)
    return total


def arrays(x, keys):
    groups = {}
    for i in range(len(keys)):
        groups.setdefault(keys[i], []).append(x[i:] * x[i])
    return sum(np.sum(sum(np.sum(m) for m in members) ** 2) for members in groups.values())


def written_in_place(x, keys):
    """Arrays kept in the dict are written through it, and through another name."""
    table = {}
    for i in range(len(keys)):
        if keys[i] not in table:
            table[keys[i]] = x * 1.0
        row = table[keys[i]]
        row[i] = row[i - 1] * x[i]
        table[keys[i]][0] += row[i] ** 2
    return sum(np.sum(v**2) for v in table.values())


def one_list_for_two_keys(x, keys):
    table = {}
    shared = [x[0]]
    for i in range(3):
        table[keys[i] + 10 * i] = shared
    for i in range(len(keys)):
        if keys[i] in table:
            table[keys[i]].append(x[i] * 2)
    return sum(v * v for v in table[keys[0]]) + table[22][0] ** 3 + len(shared)


def one_array_for_two_keys(x, keys):
    table = {}
    shared = x[:2] * 1.0
    for i in range(3):
        table[i * keys[2]] = shared
    table[keys[0]][0] *= x[3]
    return np.sum(table[4] ** 3) + np.sum(table[0])


def deleted(x, keys):
    table = {}
    for i in range(len(keys)):
        if keys[i] in table:
            del table[keys[i]]
        else:
            table[keys[i]] = x[i] ** 2
    total = 0.0
    for key in table:
        total += (key + 2) * np.sin(table[key])
    return total + len(table)


def popped(x, keys):
    table = {}
    total = 0.0
    for i in range(len(keys)):
        total += table.pop(keys[i], x[0] * 0.5) * x[i]
        table[keys[i]] = x[i] ** 2
    key, value = table.popitem()
    return total + value * (key + 1) + table.pop(keys[4])


def order_of_insertion(x, keys):
    """A key that is deleted and comes back goes to the end."""
    table = {}
    for i in range(len(keys)):
        table[keys[i]] = x[i]
    del table[keys[0]]
    table[keys[0]] = x[1] * x[2]
    total = 1.0
    for value in table.values():
        total = 0.5 * total + value**2
    return total


def int_and_float_keys(x, keys):
    """1 and 1.0 are the same key; the first one stays."""
    table = {}
    for i in range(len(keys)):
        table[float(keys[i])] = x[i]
    for i in range(len(keys)):
        table[keys[i]] += x[i] ** 2
    return table[1] * table[2.0] + table[keys[1]]


def tuples(x, keys):
    table = {}
    for i in range(len(keys)):
        table[keys[i]] = (x[i], x[i] ** 2, i)
    total = 0.0
    for a, b, i in table.values():
        total += a * b * (i + 1)
    return total


def values_seen_while_they_change(x, keys):
    """What `items` gives is read when it comes up."""
    table = {}
    for i in range(len(keys)):
        table[keys[i]] = x[i]
    total = 0.0
    for _key, value in table.items():
        total += value**2
        table[1] = total * x[3]
    return total


def view_of_later_keys(x, keys):
    table = {}
    view = table.values()
    for i in range(len(keys)):
        table[keys[i]] = x[i] ** 2
    return sum(view) + 2 * sum(view) ** 2 + len(view)


def changed_by_a_function(x, keys):
    def note(table, key, value):
        table[key] = table.get(key, 0.0) + value**2

    table = {}
    for i in range(len(keys)):
        note(table, keys[i], x[i])
    return table[0] * table[1] * table[2]


def on_one_branch(x, keys):
    table = {}
    if x[0] > 0:
        table["a"] = x[0] ** 2
    else:
        table["b"] = x[1]
    if "b" not in table:
        table["c"] = table["a"] * x[2]
    return sum(v**2 for v in table.values()) * len(table)


def one_of_two(x, keys):
    table = {}
    other = {}
    for i in range(len(keys)):
        table[keys[i]] = x[i]
        other[keys[i]] = x[i] ** 2
    chosen = table if x[1] > 0 else other
    chosen[0] = chosen[1] * x[0]
    return chosen[0] + table[0] + 3 * other[0]


def new_in_each_iteration(x, keys):
    total = 0.0
    for i in range(len(x) - 1):
        table = {}
        for j in range(i + 1):
            table[keys[j]] = table.get(keys[j], 0.0) + x[j] * x[i]
        total += sum(v**2 for v in table.values())
    return total


def carried(x, keys):
    """The dict of the last step is the old one of this step."""
    old = {0: x[0], 1: x[1], 2: x[2]}
    for _i in range(3):
        new = {}
        for j in range(len(keys)):
            new[keys[j]] = new.get(keys[j], 0.0) + old[keys[j]] * x[j]
        old = new
    return old[0] ** 2 + old[1] * old[2]


def comprehended(x, keys):
    table = {k: x[i] ** 2 for i, k in enumerate(keys) if x[i] > 0}
    return sum(v * (k + 1) for k, v in table.items())


def default(x, keys):
    groups = collections.defaultdict(list)
    totals = collections.defaultdict(float)
    for i in range(len(keys)):
        groups[keys[i]].append(x[i])
        totals[keys[i]] += x[i] ** 2
    return sum(sum(g) ** 2 for g in groups.values()) + totals[0] * totals[2]


def counted(x, keys):
    counts = collections.Counter()
    for i in range(len(keys)):
        counts[keys[i]] += 1
    return sum(x[i] ** 2 / counts[keys[i]] for i in range(len(keys)))


def smallest(x, keys):
    table = {}
    for i in range(len(keys)):
        table[keys[i]] = x[i] ** 2
    best = min(table, key=table.get)
    return table[best] * 3 + best


def members(x, keys):
    seen = set()
    total = 0.0
    for i in range(len(keys)):
        if keys[i] in seen:
            total += x[i] ** 3
        seen.add(keys[i])
        if x[i] < 0:
            seen.discard(keys[i])
    for key in seen:
        total += x[key] ** 2
    return total * (len(seen) + 1)


def never_run(x, keys):
    table = {}
    for i in range(len(keys) - len(keys)):
        table[keys[i]] = x[i]
    total = x[0] ** 2
    for value in table.values():
        total += value
    return total + len(table) + sum(table.values())


def copies(x, keys):
    table = {}
    for i in range(len(keys)):
        table[keys[i]] = x[i]
    other = dict(table)
    third = table.copy()
    table[0] = x[1] ** 2
    third.update(table)
    third.update({5: x[5] ** 2})
    return other[0] * table[0] + third[0] ** 2 + third[5]


def caught(x, keys):
    table = {}
    total = 0.0
    for i in range(len(keys)):
        try:
            old = table[keys[i]]
        except KeyError:
            old = x[0] * 2
        table[keys[i]] = old * x[i] + 0.1
        total += old**2
    return total


def recursive(x, keys):
    table = {}

    def value(n):
        if n < 2:
            return x[n]
        if n in table:
            return table[n]
        table[n] = value(n - 1) * 0.5 + np.sin(value(n - 2))
        return table[n]

    return value(6)


def lists_in_lists(x, keys):
    rows = []
    for i in range(len(keys)):
        rows.append([])
        rows[i // 2].append(x[i] * 2.0)
        rows[0].append(x[i] ** 2)
    total = 0.0
    for row in rows:
        for v in row:
            total += v * v * len(row)
    return total


def list_kept_before_it_is_filled(x, keys):
    rows = []
    for i in range(len(keys)):
        row = []
        rows.append((row, i))
        for j in range(keys[i]):
            row.append(x[j] * x[i])
    return sum(sum(v**2 for v in row) * (i + 1) for row, i in rows)


def list_methods(x, keys):
    items = []
    for i in range(len(keys)):
        items.insert(keys[i] - 1, x[i])
    items.reverse()
    first = items[0] ** 2
    items.append(x[0])
    items.reverse()
    total = 0.0
    for i, v in enumerate(items):
        total += (i + 1) * v**2
    items.clear()
    return total + first + len(items)


def rotated(x, keys):
    items = collections.deque()
    for i in range(len(keys)):
        items.appendleft(x[i])
        items.rotate(keys[i])
    return sum((i + 1) * v**2 for i, v in enumerate(items))


def counts_beside_arrays(x, keys):
    """What a key holds may be a whole number, whose adjoint is one of floats all the same."""
    records = {}
    for k in keys:
        k = int(k)
        if k not in records:
            records[k] = {"count": 0, "mean": np.zeros_like(x)}
        count = records[k]["count"] + 1
        records[k]["count"] = count
        records[k]["mean"] = 0.5 * records[k]["mean"] + x**2
        x = x - 0.1 * records[k]["mean"] / (1 - 0.9**count)
    return np.sum(x)


def counted_at_once(x, keys):
    """A Counter of what a list, pairs or another Counter holds."""
    counts = collections.Counter(keys)
    counts.update(keys[:2])
    counts.update({7: 2})
    counts[1] += 3
    pairs = collections.Counter(zip(keys, keys[::-1], strict=True))
    again = collections.Counter(dict(counts))
    total = sum(n * x[k % len(x)] ** 2 for k, n in sorted(counts.items()))
    total += sum(n * x[0] * (a + 2 * b + 1) for (a, b), n in pairs.items())
    return total + sum(n * x[k % len(x)] for k, n in again.items())


def most_common(x, keys):
    counts = collections.Counter(keys)
    total = x[counts.most_common(1)[0][0]] ** 2
    for k, n in counts.most_common():
        total = total * 0.5 + n * x[k] ** 2
    return total


def sorted_by_keys_and_values(x, keys):
    table = {}
    for k in keys:
        table[k] = table.get(k, 0.0) + x[k]
    total = 0.0
    for k in sorted(table):
        total = total * 0.5 + table[k] * k
    for k in sorted(set(keys), reverse=True):
        total = total * 0.5 + x[k]
    for k, v in sorted(table.items(), key=lambda pair: -pair[1]):
        total = total * 0.9 + v**2 * k
    for v, k in sorted(((v, k) for k, v in table.items()), reverse=True):
        total = total * 0.8 + v * k
    best = sorted(table, key=table.get)[-1]
    return total + table[best] ** 3 + sum(v * (i + 1) for i, v in enumerate(sorted(table.values())))


PROGRAMS = [
    counted_at_once, most_common, sorted_by_keys_and_values,
    memoised, overwritten, augmented, set_default, arrays, written_in_place,
    one_list_for_two_keys, one_array_for_two_keys, deleted, popped, order_of_insertion,
    int_and_float_keys, tuples, values_seen_while_they_change, view_of_later_keys,
    changed_by_a_function, on_one_branch, one_of_two, new_in_each_iteration, carried, comprehended,
    default, counted, smallest, members, never_run, copies, caught, recursive, lists_in_lists,
    list_kept_before_it_is_filled, list_methods, rotated, counts_beside_arrays,
]  # fmt: skip


def known_at_run_time_only(program):
    """The program with keys that are data: ints taken from an array."""

    def wrapped(x, keys):
        return program(x, [int(k) for k in keys])

    return wrapped


def differences(f, x, direction, step=1e-6):
    return (f(x + step * direction) - f(x - step * direction)) / (2 * step)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("data", [False, True], ids=["list", "array"])
def test_gradient(program, data):
    if program is one_of_two and not data:
        return  # refused: see test_refusals
    f, keys = (known_at_run_time_only(program), np.array(KEYS)) if data else (program, KEYS)
    value, gradient = srcgrad.value_and_grad(f)(X, keys)
    assert value == pytest.approx(program(X, KEYS), rel=1e-14)
    direction = np.random.default_rng(0).normal(size=X.shape)
    expected = differences(lambda x: program(x, KEYS), X, direction)
    assert gradient @ direction == pytest.approx(expected, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_other_modes(program):
    check_grads(known_at_run_time_only(program), (X, np.array(KEYS)))


def spanning_tree(points):
    inside, total = {0}, 0.0
    while len(inside) < len(points):
        length, at = min(
            (np.hypot(*(points[i] - points[j])), j)
            for i in inside
            for j in range(len(points))
            if j not in inside
        )
        total += length**2
        inside.add(at)
    return total


def shortest_edges(points):
    inside, total = {0}, 0.0
    while len(inside) < len(points):
        best, at = np.inf, 0
        for i in inside:
            for j in range(len(points)):
                if j not in inside and np.hypot(*(points[i] - points[j])) < best:
                    best, at = np.hypot(*(points[i] - points[j])), j
        total += best**2
        inside.add(at)
    return total


@pytest.mark.parametrize("function", [spanning_tree, shortest_edges])
def test_a_set_is_asked_for_what_the_run_tells_while_it_is_gone_through(function):
    """Asked so, it becomes one of the run: that isn't a change of what it holds."""
    points = np.array([[0.0, 0.1], [1.0, 0.2], [0.4, 1.3], [2.0, 2.1], [1.4, 0.9]])
    check_grads(function, (points,))
    value, _ = srcgrad.value_and_grad(function)(points)
    assert value == pytest.approx(function(points))


def grows(x, keys):
    table = {key: x[key] for key in keys}
    total = 0.0
    for key in table:
        if key == keys[1]:
            table[100] = x[0]
        total += table[key]
    return total


def grows_in_its_last_trip(x, keys):
    table = {key: x[key] for key in keys}
    total, count = 0.0, len(table)
    for i, (_, value) in enumerate(table.items()):
        if i == count - 1:
            table[100] = value
        total += value
    return total


def shrinks(x, keys):
    table = {key: x[key] for key in keys}
    return sum(table.pop(key) for key in table if key != 7)


def asked_for_defaults(x, keys):
    table = collections.defaultdict(float)
    for key in keys:
        table[key] += x[key]
    return sum(table[key + 1] for key in table)


def a_set_that_grows(x, keys):
    inside, total = set(keys), 0.0
    for key in inside:
        if key == 1:
            inside.add(50)
        total += x[key]
    return total


@pytest.mark.parametrize(
    "program", [grows, grows_in_its_last_trip, shrinks, asked_for_defaults, a_set_that_grows]
)
def test_what_changes_its_size_while_it_is_gone_through_is_an_error(program):
    for call in (program, srcgrad.grad(program)):
        with pytest.raises(RuntimeError, match="changed size during iteration"):
            call(X, KEYS)


def test_a_key_for_another_is_an_error():
    """Which keys Python goes through then depends on the memory that the dict has."""

    def f(x, keys):
        table, total = {key: x[key] for key in keys}, 0.0
        for key in table:
            total += table[key]
            table[key + 100] = table.pop(key)
        return total

    with pytest.raises(RuntimeError, match="dictionary keys changed during iteration"):
        srcgrad.grad(f)(X, KEYS)


def test_what_changes_its_size_and_is_left():
    def f(x, keys):
        table, total = {key: x[key] for key in keys}, 0.0
        for key in table:
            table[key] = table[key] ** 2
            total += table[key]
            if key == 0:
                table[50] = total
                break
        return total + sum(table.values())

    check_grads(f, (X, np.array(KEYS)))
