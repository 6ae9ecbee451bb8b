"""Lists that loops of the run make, with items of several kinds; and what is read out of lists."""

import heapq

import numpy as np
import pytest

from srcgrad import UnsupportedError, grad
from srcgrad.testing import check_grads
from tests import random_mixed
from tests.random_statements import assert_right

X = np.array([0.3, 1.2, -0.5, 0.8, 2.0, 1.1, -0.2])


class Body:
    def __init__(self, mass):
        self.mass = mass


def polish(x, n):
    tokens = []
    for i in range(n):
        tokens.append(x[i])
        if i % 2:
            tokens.append("+" if x[i] > 0.5 else "*")
    stack = []
    for token in tokens:
        if isinstance(token, str):
            b, a = stack.pop(), stack.pop()
            stack.append(a + b if token == "+" else a * b)
        else:
            stack.append(token)
    return sum(stack)


def events(x, n):
    log = []
    for i in range(n):
        if x[i] > 1.0:
            log.append(("move", x[i], x[i] * 0.5))
        elif x[i] > 0.0:
            log.append(("turn", x[i]))
        else:
            log.append("stop")
    position, angle = 0.0, 0.0
    for event in log:
        match event:
            case ("move", distance, part):
                position += distance * np.cos(angle) * part
            case ("turn", by):
                angle += by * 0.1
            case "stop":
                angle *= 0.9
    return position


def inside(p, a, b):
    return (b[0] - a[0]) * (p[1] - a[1]) > (b[1] - a[1]) * (p[0] - a[0])


def crossing(s, e, a, b):
    dc, dp = [a[0] - b[0], a[1] - b[1]], [s[0] - e[0], s[1] - e[1]]
    n1, n2 = a[0] * b[1] - a[1] * b[0], s[0] * e[1] - s[1] * e[0]
    n3 = 1.0 / (dc[0] * dp[1] - dc[1] * dp[0])
    return [(n1 * dp[0] - n2 * dc[0]) * n3, (n1 * dp[1] - n2 * dc[1]) * n3]


def clipped_area(x, n):
    """Sutherland and Hodgman's: the corners given are tuples, those computed are lists."""
    output = [(x[0], 0.5), (3.0, x[1]), (2.5, 2.7), (0.2, x[4])]
    window = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.1), (0.0, 2.0)]
    a = window[-1]
    for b in window[: n - 3]:
        given, output = output, []
        s = given[-1]
        for e in given:
            if inside(e, a, b):
                if not inside(s, a, b):
                    output.append(crossing(s, e, a, b))
                output.append(e)
            elif inside(s, a, b):
                output.append(crossing(s, e, a, b))
            s = e
        a = b
    area = 0.0
    for i in range(len(output)):
        x1, y1 = output[i]
        x2, y2 = output[(i + 1) % len(output)]
        area += x1 * y2 - x2 * y1
    return area / 2


def objects_and_numbers(x, n):
    items = []
    for i in range(n):
        items.append(Body(x[i]) if x[i] > 1.0 else x[i] if x[i] > 0.0 else None)
    total = 0.0
    for k, item in enumerate(items):
        if item is None:
            total += 1.0
        elif isinstance(item, Body):
            total += item.mass**2
            item.mass = item.mass * 2
        else:
            total += item
            items[k] = Body(item * 2)
    return total + sum(item.mass for item in items if isinstance(item, Body))


def queue(x, n):
    heap, i = [], 0
    while i < n and x[i] < 50.0:
        heapq.heappush(heap, (x[i] ** 2, "a" if x[i] > 0 else "b", x[i] if x[i] > 0 else (x[i], i)))
        i += 1
    total = 0.0
    while heap:
        priority, kind, load = heapq.heappop(heap)
        total = total * 0.9 + priority * (load if kind == "a" else load[0] * load[1])
    return total


def queue_of_arrays(x, n):
    heap = []
    for i in range(n):
        heapq.heappush(heap, (x[i] ** 2, np.array([x[i], 1.0])))
    total = 0.0
    while heap:
        priority, vector = heapq.heappop(heap)
        total = total * 0.9 + priority * vector.sum()
    return total


def ordered_before_its_objects(x, n):
    """`(priority, count, object)`: objects that have no order aren't asked, where counts differ."""
    heap = [(v, k, Body(v)) for k, v in enumerate(x[:n])]
    heapq.heapify(heap)
    count = len(heap)
    while len(heap) > 1:
        first, _, a = heapq.heappop(heap)
        second, _, b = heap[0]
        heapq.heapreplace(heap, (first + second, count, Body(a.mass * b.mass)))
        count += 1
    return heap[0][0] * heap[0][2].mass


def changed(x, n):
    items = other = [1.5]
    for i in range(n):
        other.append(x[i] if x[i] > 0 else (x[i], x[i] * 2))
    items = items[1:-1] + [2.5]  # noqa: RUF005
    items.insert(0, (3.0, 1.0))
    items[2] = "text"
    total = 0.0
    for item in reversed(items):
        if isinstance(item, tuple):
            total = total * 0.9 + item[0] * item[1]
        else:
            total += len(item) if isinstance(item, str) else item * 0.8
    return total + items.count("text") * x[0] + ("text" in items) + items.index("text") * x[1]


def dicts(x, n):
    """Dicts whose keys only the run tells have values of several kinds, too."""
    notes, squares, groups, i = {}, {k: (v, k) if k % 2 else v for k, v in enumerate(x[:n])}, {}, 0
    while i < n and x[i] < 50.0:
        notes[i] = (x[i], i) if x[i] > 1.0 else x[i] if x[i] > 0.0 else "low"
        groups.setdefault(i % 2, []).append([x[i]] if x[i] > 1.0 else x[i])
        i += 1
    total = 0.0
    for table in (notes, squares, dict(enumerate(groups[0]))):
        for key, v in table.items():
            if isinstance(v, tuple):
                total += v[0] ** 2 * v[1]
            elif isinstance(v, list):
                total += v[0] ** 3
            else:
                total += len(v) if isinstance(v, str) else v * key
    return total


def functions(x, n):
    steps = []
    for i in range(n):
        steps.append(np.sin if x[i] > 1 else np.cos)
    y = x[0]
    for step in steps:
        y = step(y) + 0.1 * y
    return y


def numbers_then_arrays(x, n):
    rows, pairs = [], []
    for i in range(n):
        rows.append(x[i] * x[i - 1])
        pairs.append((x[i] ** 2, i))
    last = pairs.pop()
    total = np.sum(rows[0] * 2.0) + pairs[0][0] * last[0]
    for i in range(n):
        rows.append(x[:2] * x[i])
        pairs.append((x[:2], i))
    return total + sum(np.sum(row**2) for row in rows) + sum(np.sum(v) * k for v, k in pairs)


def numbers_joined_with_arrays(x, n):
    rows, pieces, i = [], (), 0
    while i < n and x[i] < 50.0:
        rows = rows + [x[i]]  # noqa: RUF005
        pieces = (*pieces, x[i] ** 2)
        i += 1
    total, part = rows[0] * pieces[1], rows[1:]
    while i > 0:
        i -= 1
        rows = rows + [x[:2] * x[i]]  # noqa: RUF005
        pieces = (*pieces, x[:2] * x[i])
    part.append(x[2:4])
    return total + sum(np.sum(v**2) for v in [*rows, *part]) + sum(np.sum(v) for v in pieces)


def copies_of_what_may_be_missing(x, n):
    items = []
    for i in range(n):
        if x[i] > 0:
            items.append((x[i], x[i] * 2))
        else:
            items.append(None)
    copies = [item for item in items if item is None or item[0] < 50.0]
    copies.sort(key=lambda item: 0.0 if item is None else -item[0])
    total = 0.0
    for k, item in enumerate(copies):
        total += 1.0 if item is None else item[0] * item[1] * k
    return total


def remembered(x, n):
    cache = {}

    def get(k):
        if k not in cache:
            cache[k] = x[k] * 2 if k % 2 else [x[k], x[0]]
        return cache[k]

    total, i = 0.0, 0
    while i < n and x[i] < 50.0:
        found = get(i // 2)
        total += found[0] * found[1] if isinstance(found, list) else found
        i += 1
    return total


def dicts_in_a_table(x, n):
    table = {}
    for i in range(n):
        table[round(x[i] * 7.1)] = x[i]
    for i in range(n):
        table.update({round(x[i] * 7.1) + i % 2: (x[i], "b")})
    for key in table:
        if key % 3 == 0:
            table[key] = {"a": x[2] * key}
    total = 0.0
    for key, v in table.items():
        if isinstance(v, tuple):
            total += v[0] * key
        elif isinstance(v, dict):
            total += v["a"] ** 2
        else:
            total += v
    return total


PROGRAMS = [
    polish, events, clipped_area, objects_and_numbers, queue, queue_of_arrays, changed, dicts,
    ordered_before_its_objects, remembered, functions, numbers_then_arrays,
    numbers_joined_with_arrays, copies_of_what_may_be_missing, dicts_in_a_table,
]  # fmt: skip
SLOW = (clipped_area, dicts, dicts_in_a_table)


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients(f):
    check_grads(f, (X, 7), order=1 if f in SLOW else 2, step=1e-3)


def test_tuples_are_compared_as_far_as_they_are_equal():
    """What comes later may be what can't be compared."""

    def f(x):
        a, b = (x[0], x[:2]), (x[1], x[1:3])
        return x[3] * x[4] if a < b and a != b else x[5]

    check_grads(f, (X,))


def test_objects_without_an_order_are_asked_where_the_items_before_are_equal():
    def least(x):
        return min((v, Body(v)) for v in x)[1].mass ** 2

    def ordered(x):
        return sorted((v, Body(v)) for v in x)[0][1].mass ** 2

    for f in (least, ordered):
        assert grad(f)([0.3, -0.5, 2.0]) == [0.0, -1.0, 0.0]
        for g in (f, grad(f)):
            with pytest.raises(TypeError):
                g([1.0, 1.0, 2.0])


def test_trees_of_tuples_are_refused():
    def f(x, n):
        stack, i = [], 0
        while i < n and x[i] < 50.0:
            stack.append(("leaf", x[i]))
            i += 1
            if len(stack) > 2:
                b, a = stack.pop(), stack.pop()
                stack.append(("sum", a, b))
        return stack[0][1]

    with pytest.raises(UnsupportedError) as caught:
        grad(f)(X, 7)
    text = str(caught.value)
    assert 'stack.append(("sum", a, b))' in text and "are of different kinds" in text


def test_tuples_of_several_kinds_are_refused():
    def f(x, n):
        items, i = [], 0
        while i < n and x[i] < 50.0:
            items.append((x[i], i) if x[i] > 0.5 else x[i])
            i += 1
        return sum(v[0] if isinstance(v, tuple) else v for v in tuple(items))

    with pytest.raises(UnsupportedError, match="a tuple of items of several kinds"):
        grad(f)(X, 7)


@pytest.mark.parametrize("program", [random_mixed.program, random_mixed.of_dicts])
@pytest.mark.parametrize("first", range(0, 32, 16))
def test_random_programs(program, first):
    right = 0
    for seed in range(first, first + 8):
        text = program(seed)
        right += assert_right(text, seed, lambda r: int(r.integers(0, 6)), may_refuse=True)
    assert right >= 3


def test_one_of_a_tuple_and_none_in_a_tuple_that_is_indexed():
    def f(x, n):
        pair, other, total, i = (x[0], x[1]), None, 0.0, 0
        while i < n and x[i] < 50.0:
            pair = (pair, other)[int(x[i] > 5.0)]
            item = [None, (x[i], 2.0), None, (x[i], 3.0)][i % 4]
            if item is not None:
                total += item[0] ** 2 * item[1]
            i += 1
        return total + (1.0 if pair is None else pair[0] * pair[1])

    check_grads(f, (X, 7))
    assert grad(f)(np.append(X[:-1], 7.0), 7)[0] == 0.0  # the pair is None then
