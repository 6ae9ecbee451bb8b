"""Tuples that may be None instead, carried by loops and returned by recursions."""

import collections
import copy
import linecache

import numpy as np
import pytest

import srcgrad
from tests.small_programs import X, check, programs

Best = collections.namedtuple("Best", "value place")


def found_by_a_while(x):
    found, t = None, x[0]
    while t < 3:
        t = t * 1.7
        if t > 1.2 and found is None:
            found = (t, t**2 * x[1])
    return x[1] if found is None else found[0] * found[1]


def never_found(x):
    found, t = None, x[0]
    while t < 3:
        t = t * 1.7
        if t > 100:
            found = (t, t**2)
    return t * x[1] if found is None else found[0] * found[1]


def set_back_to_none(x):
    previous, total, t = None, x[2], x[0]
    while t < 5:
        if previous is not None:
            total += previous[0] * previous[1]
        previous = (t, t * x[1])
        t = t * 1.5
        if t > 2:
            previous = None
    return total * (x[1] if previous is None else previous[0])


def best_of_nested_loops(x):
    best, least = None, np.inf
    for i in range(len(x)):
        k = 0
        while k < i * x[0] * 4 and k < len(x) - 1:
            distance = (x[i] - x[k]) ** 2 * (i + 1)
            if distance < least:
                least, best = distance, (i, x[k])
            k += 1
    if best is None:
        return x[0]
    i, value = best
    return x[i] * value * least


def a_named_tuple(x):
    best, t, k = None, x[0], 0
    while t < 2.5:
        if best is None or t * (2 - t) > best.value:
            best = Best(t * (2 - t), k)
        t, k = t + x[1] / 3, k + 1
    return best.value * (best.place + 1) if best else x[2]


def a_stack_of_tuples_and_its_top(x):
    stack, top, total = [], None, 0.0
    t = x[0]
    while t < 4:
        if top is not None and t > 2 * top[0]:
            total += top[1] * t
            top = stack.pop() if stack else None
        else:
            if top is not None:
                stack.append(top)
            top = (t, t * x[1])
        t = t * 1.4 + x[2] / 4
    return total + (top[1] if top is not None else x[0]) * (len(stack) + 1)


def broken_off(x):
    crossing, before = None, (0.0, x[0] - 0.7)
    for k in range(1, 12):
        t = k * x[1] / 4
        now = (t, np.sin(2 * t) - 0.5 * t + x[0] - 0.7)
        if before[1] * now[1] < 0:
            crossing = (before, now)
            break
        before = now
    if crossing is None:
        return before[1]
    (t0, f0), (t1, f1) = crossing
    return t0 - f0 * (t1 - t0) / (f1 - f0)


def returned_by_a_recursion(x):
    def find(i):
        if i >= len(x):
            return None
        if x[i] > 0.6:
            return x[i], x[i] ** 2 * (i + 1)
        return find(i + 1)

    pair = find(0)
    return x[0] * 3 if pair is None else pair[0] * pair[1]


def handed_on_by_a_recursion(x):
    def best_from(i, best):
        if i >= len(x):
            return best
        if best is None or x[i] > best[0]:
            best = (x[i], x[i] ** 2)
        return best_from(i + 1, best)

    best = best_from(0, None)
    return x[0] if best is None else best[0] * best[1]


def looked_at_on_the_way_back(x):
    def bracket(low, depth):
        if depth > x[1] * 4:
            return None
        if low > 0.9:
            return low, low**2
        pair = bracket(low * 1.5, depth + 1)
        if pair is None:
            return None
        return pair[0] + x[2], pair[1]

    pair = bracket(x[0], 0)
    return x[0] * 3 if pair is None else pair[0] * pair[1]


def copies_of_what_may_be_none(x):
    pair = (x * 1.0, x[0]) if x[0] > 0.43 else None
    row = x[1:] if x[2] > 0.47 else None
    total = 0.0
    for kept, part in ((pair, row), (copy.deepcopy(pair), copy.copy(row))):
        if part is not None:
            total += part[0] * x[0]
        if kept is not None:
            kept[0][0] *= 2.0
            total += np.sum(kept[0]) * kept[1]
    return total + np.sum(x)


def compared_with_none(x):
    there = (x[0], 1.0) if x[0] < 0.5 else None
    gone = (x[0], 1.0) if x[0] > 0.5 else None
    total = x[2] if gone == None else 0.0  # noqa: E711
    return total + (x[0] if there != None else 0.0) + (x[1] if None == there else 0.0)  # noqa: E711, SIM300


def compared_with_one_that_may_be_none(x):
    gone = (x[0], 1.0) if x[0] > 0.5 else None
    also = (x[0], 1.0) if x[1] < 0.5 else None
    same = (x[0], 1.0) if x[0] < 0.5 else None
    like = (x[0], 1) if x[1] > 0.5 else None
    total = (x[2] if gone == also else 0.0) + (x[1] if gone == same else 0.0)
    return total + (x[0] if same == like else 0.0) + (x[1] * x[2] if gone in (like, also) else 0.0)


def both_are_none(x):
    """`is` and `==` of what is of different kinds where it isn't None."""
    pair = (x[0], x[1]) if x[0] > 0.5 else None
    number = x[0] if x[0] > 0.5 else None
    array = x[1:] if x[0] > 0.5 else None
    table = {"a": x[2]} if x[0] > 0.5 else None
    function = None if x[0] < 0.5 else lambda v: v * 2
    total = (x[0] if pair is number else 0.0) + (x[1] if pair is array else 0.0)
    total += (x[2] if pair == function else 0.0) + (x[0] if table == pair else 0.0)
    return total + (5.0 if function is not pair else 0.0)


def both_are_none_in_a_loop(x):
    found = last = None
    total = x[0]
    for v in x[:2]:
        total += v * x[2] if found is last else 0.0
        found = v if v > 0.5 else None
        last = (v, x[0])
    return total


def checked_pair(items):
    for v in items:
        if v < 0:
            return None
    return items[0] * items[1], [items[2], items[0]]


def checked_list(items):
    made = [0.0] * len(items)
    for i in range(len(items)):
        for k in range(i):
            if items[k] - items[i] > 0.47:
                return None
        made[i] = items[i] ** 2
    return made


def checked_dict(items):
    while items[0] < 0:
        return None
    for v in items:
        if v < 0:
            return None
    return {"a": items[0] * items[1]}


def none_from_within_a_loop(x):
    """It was refused: "has values of different kinds", where the loop comes before the value."""
    total = x[2]
    for scale in (1.0, -1.0, 2.0):
        pair = checked_pair(scale * x)
        if pair is not None:
            total += pair[0] * sum(pair[1])
        made = checked_list(scale * x)
        if made is None:
            total *= x[0]
        else:
            made[0] = made[0] * x[1]
            total += sum(made)
        known = checked_dict(scale * x)
        total += known["a"] if known is not None else x[1]
    return total


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_optional_tuples(f):
    for point in (X, np.array([0.93, 0.35, 0.2]), np.array([0.2, 0.45, 0.5])):
        check(f, point)


def test_the_same_items_may_be_there_or_not():
    def f(x):
        pair = (x[0], x[1]) if x[2] > 0 else None
        a, b = x[0] * 1.0, x[1] * 1.0
        maybe = (a, b) if x[2] > 0 else None
        other = maybe if x[0] > 0.5 else (a, b)
        total = 1.0 if other is None else other[0] * other[1]
        return total + (x[2] if pair is None else pair[0])

    for point in (X, -X, np.array([0.3, 0.2, -0.5]), np.array([0.7, 0.2, -0.5])):
        check(f, point)


def test_an_optional_tuple_of_arrays():
    def f(x):
        kept, y = None, x * 1.0
        while np.sum(y) < 6:
            if np.max(y) > 1.2:
                kept = (y, np.sum(y))
            y = y * 1.3
        return np.sum(y) if kept is None else np.sum(kept[0] ** 2) * kept[1]

    check(f)
    check(f, X * 2)
    hessian = srcgrad.hessian(f)(X)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-10)


def caught(use, error=TypeError):
    """A function that uses what may be None where a try catches what None raises."""

    def f(x, kind):
        r = kind(x) if x[0] > 0.5 else None
        try:
            return use(r, x) * x[2]
        except error:
            return x[0] * 3.0

    return f


def pair_of(x):
    return x[0], x[1]


def list_of(x):
    return [x[0], x[1]]


def array_of(x):
    return x[:2] * 2.0


def number_of(x):
    return x[1] * x[0]


def unpacked(r, x):
    a, b = r
    return a * b


def gone_through(r, x):
    total = 0.0
    for v in r:
        total += v * v
    return total


OF_ITEMS = {
    "item": lambda r, x: r[0],
    "len": lambda r, x: len(r),
    "sum": lambda r, x: sum(r),
    "in": lambda r, x: 2.0 if x[0] in r else x[1],
    "unpacked": unpacked,
    "gone through": gone_through,
}
OF_NUMBERS = {
    "product": lambda r, x: r * x[0],
    "minus": lambda r, x: -r,
    "order": lambda r, x: x[0] if r > 0.1 else x[1],
}


@pytest.mark.parametrize("use", OF_ITEMS)
@pytest.mark.parametrize("kind", [pair_of, list_of, array_of])
def test_what_none_raises_is_caught_for_what_has_items(kind, use):
    f = caught(OF_ITEMS[use])
    for point in (X, np.array([0.93, 0.35, 0.2])):
        check(lambda x: f(x, kind), point)


@pytest.mark.parametrize("use", OF_NUMBERS)
def test_what_none_raises_is_caught_for_numbers(use):
    f = caught(OF_NUMBERS[use])
    for point in (X, np.array([0.93, 0.35, 0.2])):
        check(lambda x: f(x, number_of), point)


def test_an_attribute_of_none_is_caught():
    f = caught(lambda r, x: r.sum(), AttributeError)
    for point in (X, np.array([0.93, 0.35, 0.2])):
        check(lambda x: f(x, array_of), point)


ASKED = (
    "s += x[1] if h == None else h[0] * h[1]", "s += x[1] if h in [None] else x[2]",
    "s += x[1] if h == hs[0] else x[2]", "s += x[1] if h != hs[2] else x[2]",
    "s += hs.count(None) * x[1]", "s += hs.index(None) * x[1] if None in hs else x[0]",
    "try: s += h[0]\n        except TypeError: s += x[1]",
    "try: a, b = h; s += a * b\n        except TypeError: s += x[1]",
    "try: s += h.place\n        except AttributeError: s += x[1]",
    "s += h.place if hasattr(h, 'place') else x[1]",
)  # fmt: skip


@pytest.mark.parametrize("question", ASKED)
def test_what_else_asks_whether_an_item_of_a_list_is_none(question):
    text = f"""
def f(x):
    hs, s = [], 0.0
    for v in x:
        hs.append(Best(v, 2 * v) if v > 0.4 else None)
    for h in hs:
        {question}
    return s
"""
    linecache.cache[question] = (len(text), None, text.splitlines(True), question)
    namespace = {"Best": Best}
    exec(compile(text, question, "exec"), namespace)
    check(namespace["f"])


class Holder:
    def __init__(self, v):
        self.v, self.pair = v, ((2.0, 3.0 * v) if v > 0.4 else None)


def a_part_known_when_compiling_of_a_tuple_that_objects_hold_or_not(x):
    s = 0.0
    for h in [Holder(v) for v in x if v > 0.2]:
        s += h.pair[0] * h.pair[1] if h.pair is not None and h.pair[1] > 0.5 else h.v**2
    return s


def test_parts_of_tuples_that_objects_hold_or_not():
    check(a_part_known_when_compiling_of_a_tuple_that_objects_hold_or_not)
