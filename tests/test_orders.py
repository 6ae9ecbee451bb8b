"""In which order Python goes through sets and dicts, and keys that are taken away in loops."""

import inspect
import linecache
import marshal

import numpy as np
import pytest

from srcgrad import UnsupportedError, grad, value_and_grad
from srcgrad.frontend.set_orders import Order, constant_set
from srcgrad.testing import check_grads

from .random_orders import wrong

X = np.linspace(0.11, 1.9, 200)
RANGES = set(range(100)) - set(range(2, 64)) - set(range(65, 99))


def gone_through(keys, x):
    y = x[0]
    for k in keys:
        y = 0.5 * y + x[k] ** 2
    return y


def in_a_loop(x):
    y = x[0]
    for k in {16, 0, 17, 3, 33, 5}:
        y = 0.5 * y + x[k] ** 2
    return y


def few_in_a_loop(x):
    y = x[0]
    for k in {16, 0}:
        y = 0.5 * y + x[k] ** 2
    return y


def a_display(x):
    return gone_through({0, 16, 17, 3, 5, 33}, x) + gone_through({16, 0}, x)


def a_display_of_parts(x):
    return gone_through({*(16, 0), 64, *{33, 1}}, x)


def added(x):
    s = set()
    for k in (0, 16, 17, 3, 5):
        s.add(k)
    return gone_through(s, x)


def of_a_list(x):
    return gone_through(set([64, 16, 17, 3, 5]), x) + gone_through(frozenset([16, 0, 64]), x)  # noqa: C405


def of_a_dict(x):
    return gone_through(set({0: 1, 16: 2, 17: 3, 3: 4, 5: 5}), x)


def taken_away(x):
    s = set(range(100))
    s -= set(range(2, 64)) | {65}
    y = gone_through(s.copy(), x)
    s.discard(64)
    s.add(128)
    return y + gone_through(s, x) + gone_through(list(s)[:3], x)


def popped(x):
    s, y = {64, 3, 16, 1, 9, 40}, x[0]
    while s:
        k = s.pop()
        y = 0.5 * y + x[k] ** 2
        if k == 9:
            s.add(k * 8)
    return y


def operators(x):
    s, t = {64, 3, 16, 1, 9, 40}, {16, 130, 1, 64}
    y = gone_through(s & t, x) + gone_through(s | t, x) + gone_through(s ^ t, x)
    s ^= {0, 130, 16}
    return y + gone_through(s, x) + gone_through(s.union(t, [8, 24]), x)


def outside(x):
    return gone_through(RANGES, x) + gone_through(set(RANGES), x) + gone_through(RANGES | {16}, x)


FROZEN = frozenset([64, 16, 0, 33])


def of_a_frozenset_outside(x):
    s = FROZEN | {128}
    t = FROZEN - {0} if x[0] > 5 else FROZEN - {0, 1000}
    y = gone_through(s, x) + gone_through(FROZEN & {0, 16, 8}, x)
    return y + len(t) * x[1] if 33 in t else y


def keys_of_dicts(x):
    d, e = {0: 1, 16: 2, 8: 3}, {8: 1, 64: 2, 16: 3, 24: 4}
    y = gone_through(d.keys() | e.keys(), x) + gone_through(d.keys() & e.keys(), x)
    return y + gone_through(e.keys() - d.keys(), x) + gone_through(e.keys() ^ d.keys(), x)


def another_order_on_one_branch(x):
    d = {}
    if x[0] > 5:
        d["a"], d["b"] = x[0], x[1]
    else:
        d["b"], d["a"] = x[1], x[0]
    y = x[2]
    for name in d:
        y = 0.5 * y + d[name] ** 2
    return y


def moved_to_the_end_on_one_branch(x):
    d = {"a": x[0], "b": x[1]}
    if x[0] < 5:
        d["a"] = d.pop("a") * 2.0
    return np.sum(np.array(list(d.values())) * np.array([1.0, 3.0]))


def sets_of_two_orders(x):
    s = set()
    if x[0] < 5:
        s.add(16)
        s.add(0)
    else:
        s.add(0)
        s.add(16)
    return gone_through(s, x)


@pytest.mark.parametrize(
    "f",
    [
        in_a_loop, few_in_a_loop, a_display, a_display_of_parts, added, of_a_list, of_a_dict,
        taken_away, popped, operators, outside, of_a_frozenset_outside, keys_of_dicts,
        another_order_on_one_branch, moved_to_the_end_on_one_branch, sets_of_two_orders,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_what_depends_on_the_order(f):
    assert value_and_grad(f)(X)[0] == pytest.approx(f(X), rel=1e-14)
    check_grads(f, (X,))


def taken_away_in_a_loop(x, n):
    d, y = {"a": x[0], "b": x[1]}, x[3]
    for _ in range(n):
        if "a" in d:
            y = y + d.pop("a")
        y = y * 0.5 + x[2]
    return y


def until_nothing_is_left(x, n):
    d, y = {k: x[k] for k in range(n)}, x[3]
    while d:
        y = y * 0.5 + d.popitem()[1]
    return y


def the_first_comes_last(x, n):
    d, y = {"a": x[0], "b": x[1]}, x[3]
    for _ in range(n):
        first = next(iter(d))
        d[first] = d.pop(first) * 1.5
        for name in d:
            y = 0.5 * y + d[name]
    return y


def discarded(x, n):
    s, y = {1, 2, 3}, x[0]
    for i in range(n):
        s.discard(i)
        y = 0.5 * y + len(s) * x[i]
    return y


def the_order_does_not_matter(x, n):
    """What is only asked by its keys stays a dict whose keys are known: `b` has another shape."""
    d = {"a": x[:2] * 1.0, "b": x[:3] * 2.0}
    for _ in range(n):
        d["a"] = d.pop("a") * 1.1
    return np.sum(d["a"]) + np.sum(d["b"])


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize(
    "f",
    [
        taken_away_in_a_loop, until_nothing_is_left, the_first_comes_last, discarded,
        the_order_does_not_matter,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_keys_that_are_taken_away_in_a_loop(f, n):
    assert value_and_grad(f)(X, n)[0] == pytest.approx(f(X, n), rel=1e-14)
    check_grads(f, (X, n))


def made_at_run_time(x, n):
    s = set()
    for i in range(n):
        if x[i] > 0.13:
            s.add(i * 37 % 190)
    return s


def copied(x, n):
    s = made_at_run_time(x, n)
    y = gone_through(s.copy(), x) + gone_through(set(s), x) + gone_through(frozenset(s), x)
    s.clear()
    s.update([16, 0])
    return y + gone_through(s, x)


def updated(x, n):
    s, t = made_at_run_time(x, n), {16, 0}
    t.update(s)
    s |= {16, 0, 33, 17}
    s -= {33, 37}
    s ^= {64, 128, 0}
    s &= set(range(0, 190, 2))
    return gone_through(s, x) + gone_through(t, x)


def combined(x, n):
    s, t = made_at_run_time(x, n), {16, 0, 128, 74}
    y = gone_through(s | t, x) + gone_through(t | s, x) + gone_through(t - s, x)
    return y + gone_through(s & t, x) + gone_through(s ^ t, x) + gone_through(s - t, x)


def compared(x, n):
    s, t = made_at_run_time(x, n), {37, 74, 111, 148, 185}
    y = x[0] if s <= t else x[1]
    y = y + (x[2] if s == t else x[3]) + (x[4] if s.isdisjoint(t) else x[5])
    return y + (x[6] if t > s else x[7]) + (x[8] if s.issuperset({37}) else x[9])


def emptied_and_filled(x, n):
    s, t, d = {33, 9, 128, 16}, set(), {}
    t |= s
    s -= t
    for i in range(n):
        s.update(t)
        d[i * 5] = x[i]
    return gone_through(s, x) + len(d)


def places_left(x, n):
    s, t = {65, 9, 190}, {2}
    for k in (65, 190):
        s.discard(k)
    for i in range(n):
        s.discard(i * 37 + 100)
        s.update(t)
    return gone_through(s, x)


@pytest.mark.parametrize("n", [9, 0, 30])
@pytest.mark.parametrize(
    "f",
    [copied, updated, combined, compared, emptied_and_filled, places_left],
    ids=lambda f: f.__name__,
)
def test_sets_that_exist_at_run_time(f, n):
    assert value_and_grad(f)(X, n)[0] == pytest.approx(f(X, n), rel=1e-14)
    check_grads(f, (X, n))


def of_neighbours(x, graph):
    total = 0.0
    for u in graph:
        for v in graph[u]:
            total = 0.9 * total + x[u] * x[v] ** 2
    return total


def of_pairs(x, pairs, more=frozenset()):
    return gone_through([a + b for a, b in pairs | more], x) + (x[1] if (0, 1) in pairs else x[2])


def test_sets_among_the_arguments():
    gradient = grad(of_neighbours)
    for graph in ({0: {1, 2}, 1: {3}, 3: set()}, {0: {2, 1}, 1: {3}, 3: set()}, {5: {16, 0, 64}}):
        for _ in range(3):
            expected = grad(lambda x, graph=graph: of_neighbours(x, graph))(X)
            np.testing.assert_allclose(gradient(X, graph), expected, rtol=1e-12)
        check_grads(of_neighbours, (X, graph))
    gradient = grad(of_pairs)
    for pairs in ({(0, 1), (3, 4)}, {(3, 4)}, {(0, 1), (64, 8)}):
        for _ in range(3):
            expected = grad(lambda x, pairs=pairs: of_pairs(x, pairs, frozenset({(5, 5)})))(X)
            np.testing.assert_allclose(gradient(X, pairs, frozenset({(5, 5)})), expected)


def test_equal_sets_of_other_orders():
    gradient = grad(lambda x, keys: gone_through(keys, x))
    for keys in ({16, 0}, {0, 16}, {16, 0}, frozenset([0, 16]), frozenset([16, 0])):
        first, second = keys
        expected = np.zeros(200)
        expected[first], expected[second] = X[first], 2 * X[second]
        expected[0] += 0.25
        np.testing.assert_allclose(gradient(X, keys), expected)


def test_a_set_whose_order_only_the_run_would_tell():
    def f(x, n):
        s = set(range(100)) - set(range(3, 99))
        s -= {1}
        for i in range(n):
            if x[i] > 0.5:
                s.add(i * 64 % 190)
        return gone_through(s, x)

    message = "in which order Python goes through this set isn't known where only the run tells"
    with pytest.raises(UnsupportedError, match=message):
        grad(f)(X, 90)


@pytest.mark.parametrize("seed", range(24))
def test_random_programs(seed):
    assert wrong(seed, sizes=(3, 0)) is None


def test_an_order_is_made_again_after_another_change():
    first = Order(set.update, (16, 0))
    more = [first.then(set.add, k) for k in (8, 24)]
    assert [order.keys() for order in more] == [list({16, 0} | {8}), list({16, 0} | {24})]
    assert first.keys() == [16, 0] and first.then(set.discard, 16).keys() == [0]
    assert first.keys() == [16, 0]
    assert first.is_like(Order(set.update, (16, 0))) and not first.is_like(more[0])
    assert first.as_added() == [16, 0] and first.then(set.discard, 0).as_added() is None


def test_the_constant_of_a_display():
    code = compile("def f():\n    for k in {16, 0, 3}: pass", "?", "exec")
    assert constant_set([code], (3, 0, 16)) == {16, 0, 3}
    assert constant_set([code], (3, 0)) is None


LEFT = inspect.getsource(gone_through) + inspect.getsource(places_left)


@pytest.mark.parametrize("loads", [0, 1, 2])
def test_constants_are_laid_out_otherwise_in_modules_that_are_loaded(loads):
    """What a .pyc file has of a set of constants goes through it in another order."""
    code = compile(LEFT, f"<left {loads}>", "exec")
    for _ in range(loads):
        code = marshal.loads(marshal.dumps(code))
    linecache.cache[code.co_filename] = (len(LEFT), None, LEFT.splitlines(True), code.co_filename)
    names = {"__name__": __name__}
    exec(code, names)
    left = names["places_left"]
    for n in (0, 9):
        assert value_and_grad(left)(X, n)[0] == pytest.approx(left(X, n), rel=1e-14)


@pytest.mark.parametrize("keys", [(65, 9, 190), (9, 65, 190), (190, 65, 9), (1, 33, 65, 2)])
def test_sets_of_few_constants_can_be_made_again(keys):
    constant = frozenset(keys)
    for _ in range(3):
        added = Order.of(constant).as_added()
        assert added is not None and list(set(added)) == list(constant)
        constant = marshal.loads(marshal.dumps(constant))
