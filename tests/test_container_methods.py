"""Methods of containers, and functions of the library that take or make them."""

import collections
import copy
import functools
import inspect
import itertools
import sys
from collections import Counter, OrderedDict

import numpy as np
import pytest

from srcgrad import UnsupportedError, grad, jvp, value_and_grad, vjp
from srcgrad.testing import check_grads

WEIGHTS = {"a": 1.0, "b": 2.0, "c": 3.0}


def weighed(keys, x):
    return sum([WEIGHTS[k] * x[i % 2] for i, k in enumerate(sorted(keys))], 0.0)


def intersection(x):
    return weighed({"a", "b"}.intersection({"b", "c"}), x)


def intersection_of_several(x):
    return weighed({"a", "b", "c"}.intersection({"b", "c"}, ["c"]), x)


def difference(x):
    return weighed({"a", "b"}.difference({"b", "c"}), x)


def symmetric_difference(x):
    return weighed({"a", "b"}.symmetric_difference(["b", "c"]), x)


def intersection_update(x):
    s = {"a", "b"}
    s.intersection_update({"b"})
    return weighed(s, x)


def difference_update(x):
    s = {"a", "b"}
    s.difference_update({"b"})
    return weighed(s, x)


def superset(x):
    return x[0] * 2 if {"a", "b"}.issuperset({"a"}) else x[1]


def subset(x):
    return x[0] * 2 if {"a"} <= {"a", "b"} else x[1]


def disjoint(x):
    return x[0] * 2 if {"a"}.isdisjoint({"b"}) else x[1]


def removed_from_a_set(x):
    s = {"a", "b"}
    s.remove("a")
    s.discard("z")
    return weighed(s, x)


def popped_from_a_set(x):
    s = {"a"}
    k = s.pop()
    return WEIGHTS[k] * x[0] * (len(s) + 3)


def frozen(x):
    return weighed(frozenset(["a", "b", "a"]), x)


def copied_dict(x):
    d = {"a": x[0], "b": x[1]}
    e = d.copy()
    e["a"] = x[1] * 3
    return d["a"] * e["a"]


def cleared_dict(x):
    d = {"a": x[0]}
    d.clear()
    d["b"] = x[1] * x[0]
    return sum(d.values())


def set_default(x):
    d = {}
    d.setdefault("k", x[0])
    d.setdefault("k", x[1])
    return d["k"] * x[1]


def pop_with_default(x):
    d = {"a": x[0]}
    return d.pop("z", x[1]) * d.pop("a")


def counter(x):
    c = collections.Counter(["a", "b", "a"])
    return c["a"] * x[0] + c["zz"] * x[1] + c.total() * x[1]


def counter_most_common(x):
    c = collections.Counter("aab")
    k, n = c.most_common(1)[0]
    return WEIGHTS[k] * n * x[0]


def counter_elements(x):
    c = collections.Counter("aab")
    return sum([WEIGHTS[k] * x[0] for k in c.elements()])


def counter_update(x):
    c = collections.Counter("aab")
    c.update("bc")
    return sum([WEIGHTS[k] * n * x[0] for k, n in c.items()])


def equal_dicts(x):
    return x[0] * x[1] if {"a": 1, "b": 2} == {"b": 2, "a": 1} else x[0]


def equal_sets(x):
    return x[0] * x[1] if {"a", "b"} == {"b", "a"} else x[0]


def unequal_dicts(x):
    return x[0] * x[1] if {"a": 1} != {"a": 2} else x[0]


def equal_dicts_of_numbers(x):
    d = {"a": x[0]}
    e = {"a": x[1]}
    return x[0] * x[1] if d == e else x[0] ** 2


def set_comprehension(x):
    return weighed({k for k in ["a", "b", "a"]}, x)


def update_pairs(x):
    d = {}
    d.update([("a", x[0]), ("b", x[1])])
    d.update(c=x[0] * 2)
    return d["a"] * d["b"] * d["c"]


def named_tuple(x):
    T = collections.namedtuple("T", "u v")
    t = T(x[0], x[1])
    d = t._asdict()
    return d["u"] * t._replace(u=x[1]).u


Pair, Other = collections.namedtuple("Pair", "u v"), collections.namedtuple("Other", "u v w")


def one_of_two_named_tuples(x):
    p = Pair(x[0], x[1])
    if x[0] < x[1]:
        p = Other(x[1], x[0], 2.0)
    return sum(p._asdict().values()) * p._replace(v=x[1]).v + p._replace(u=x[0] * 3).u


def deleted_attribute(x):
    class A:
        pass

    a = A()
    a.u = x[0]
    a.v = x[1]
    del a.u
    return a.v * (2 if hasattr(a, "u") else 3)


def deleted_names(x):
    a = x[0]
    b = x[1]
    c = a * b
    del (a, b)
    return c


def chained(x):
    return sum(itertools.chain.from_iterable([[x[0]], [x[1] * x[0]]]))


def combinations_with_replacement(x):
    return sum([a * b for a, b in itertools.combinations_with_replacement([x[0], x[1]], 2)])


def starmap(x):
    return sum(itertools.starmap(lambda a, b: a * b, [(x[0], x[1]), (x[1], x[1])]))


def mapped(x):
    return sum(map(lambda v: v * v, [x[0], x[1]]))


def next_with_default(x):
    i = iter([x[0]])
    a = next(i)
    b = next(i, x[1])
    return a * b


def ordered_dict(x):
    d = collections.OrderedDict(a=x[0], b=x[1])
    d.move_to_end("a")
    return next(iter(d.values())) * d["a"] ** 2


def list_methods(x):
    items = [x[0], x[1]]
    items.insert(1, x[0] * x[1])
    items.reverse()
    other = items.copy()
    items.clear()
    return other[0] * other[1] + len(items)


def deque(x):
    q = collections.deque([x[0], x[1]])
    q.rotate(1)
    q.extendleft([x[0] * 3])
    return q.popleft() * q[0]


def extrema_with_key(x):
    return min([x[0], x[1]], key=lambda v: -v) * max({"a": x[0], "b": x[1]}.values())


def sorted_in_reverse(x):
    return sorted([x[0], x[1]], reverse=True)[0] ** 2


def any_and_all(x):
    return x[0] * x[1] if any([x[0] > 0, x[1] > 100]) and all([x[0] > -1, True]) else x[0]


def division_with_remainder(x):
    _, r = divmod(x[0], 0.3)
    return r * x[1]


def default_dict(x):
    d = collections.defaultdict(list)
    d["a"].append(x[0])
    d["b"].append(x[1])
    d["a"].append(x[1])
    return sum([a * b for a, b in zip(d["a"], d["a"], strict=True)]) + d["b"][0]


def dict_from_keys(x):
    d = dict.fromkeys(["a", "b"], x[0])
    d["a"] = x[1]
    return d["a"] * d["b"]


def reduced(x):
    return functools.reduce(lambda a, b: a * b, [x[0], x[1], x[0]])


def match_of_a_dict(x):
    match {"k": x[0], "z": 1}:
        case {"k": v, **rest}:
            return v * x[1] * len(rest)
    return x[0]


def match_of_alternatives(x):
    match "b":
        case "a" | "b":
            return x[0] * x[1]
        case _:
            return x[0]


def match_of_none(x):
    match None:
        case True:
            return x[0]
        case None:
            return x[1] * x[0]


def popitem(x):
    d = {"a": x[0], "b": x[1]}
    k, v = d.popitem()
    return v * WEIGHTS[k] + len(d) * x[0]


# Each against differences, in both modes

PROGRAMS = [
    f
    for name, f in inspect.getmembers(sys.modules[__name__], inspect.isfunction)
    if list(inspect.signature(f).parameters) == ["x"]
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_method(program):
    x, step, direction = np.array([0.7, 1.3]), 1e-6, np.array([0.3, -0.4])
    expected = [(program(x + h) - program(x - h)) / (2 * step) for h in step * np.eye(2)]
    np.testing.assert_allclose(grad(program)(x), expected, atol=1e-7)
    value, slope = jvp(program, (x,), (direction,))
    assert value == pytest.approx(program(x))
    assert slope == pytest.approx(np.dot(expected, direction), abs=1e-7)


def copied_twice_in_a_list(x):
    w = x * 2
    rows = []
    for _ in range(len(x)):
        rows.append(w)
    copies = copy.deepcopy(rows)
    copies[0][0] = 5.0
    return np.sum(copies[1] ** 2)


def copied_as_itself(x):
    w = x * 2
    copies = copy.deepcopy({"a": w, "b": [np.asarray(w)]})
    copies["a"][0] = 5.0
    return np.sum(copies["b"][0] ** 2)


def rows_copied_twice(x):
    row = [0.0] * len(x)
    copies = copy.deepcopy([row for _ in x])
    copies[0][1] = x[0]
    return copies[1][1] * x[1]


@pytest.mark.parametrize("f", [copied_twice_in_a_list, copied_as_itself, rows_copied_twice])
def test_a_deep_copy_of_what_stands_in_two_places(f):
    """Python makes one copy of it."""
    with pytest.raises(ValueError, match=r"two places of what is copied by copy\.deepcopy"):
        grad(f)(np.array([0.3, 0.5]))


def copied_with_a_view(x):
    w = x * 2
    copies = copy.deepcopy([w, w.T, w[:], [w]])
    copies[0][0] = 5.0 * x[1]
    return np.sum(copies[1] ** 2) + np.sum(copies[2] ** 3) + np.sum(copies[3][0])


def copied_rows(x):
    rows = [x * k for k in range(len(x))]
    for _ in range(len(x)):
        rows.append(x * 2)
    copies = copy.deepcopy(rows)
    copies[0][0] = copies[1][1] ** 2
    return np.sum([np.sum(row**2) for row in copies])


def told_from_a_sum(x):
    w = x * 2
    v = w + 0
    return np.sum(w) if v is w else np.sum(w**2)


@pytest.mark.parametrize("f", [copied_with_a_view, copied_rows, told_from_a_sum])
def test_arrays_that_are_others(f):
    x, v = np.array([0.3, 0.5]), np.array([0.4, -0.7])
    expected = (f(x + 1e-6 * v) - f(x - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(grad(f)(x) @ v, expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (x,), (v,))[1], expected, rtol=1e-7)


def test_results_are_arrays_of_their_own():
    (a, b, c), _ = jvp(lambda x: (x.copy(), x + 0, 1 * x), (np.ones(2),), (np.ones(2),))
    assert not any(np.may_share_memory(*pair) for pair in [(a, b), (a, c), (b, c)])


def items_of(c, x):
    y = x[0]
    for k, v in c.items():
        y = 0.5 * y + v * x[k]
    return y


def counters_combined(x):
    c, d = Counter({0: 3, 1: 1}), Counter({0: 1, 2: 2})
    y = items_of(c | d, x) + items_of(c & d, x) + items_of(c + d, x) + items_of(c - d, x)
    return y + items_of(+Counter({0: 3, 1: -1}), x) + items_of(-Counter({0: 3, 1: -1}), x)


def counters_changed(x):
    c, d = Counter({0: 3, 1: 1}), Counter({0: x[0], 1: x[1]})
    c |= {0: 1, 2: 5}
    y = items_of(c, x)
    c += Counter({0: 1, 2: 5})
    y = y + items_of(c, x)
    c -= Counter({0: 1, 1: 5})
    del c[7]
    d |= Counter({0: 0.5, 2: x[2]})
    return y + items_of(c, x) + items_of(d, x)


def counters_compared(x):
    y = x[0] if Counter({0: 1, 1: 0}) == Counter({0: 1}) else x[1]
    y = y + (x[2] if Counter({0: 1}) <= Counter({0: 2, 3: 1}) else x[3])
    return y * (x[1] if Counter({0: 1}) != Counter({0: 2}) else x[3])


def ordered_dicts_compared(x):
    a, b = OrderedDict([(1, 2), (3, 4)]), OrderedDict([(3, 4), (1, 2)])
    return (x[0] if a == b else x[1]) * (x[2] if a == dict(b) else x[3])


def lists_by_slices(x):
    a = [x[0], x[1], x[2], x[3], x[0] * x[1]]
    del a[1::2]
    return a[1] * a[2] * len(a) + x[[3, 1, 3].index(3, 1)] * [3, 1, 3].index(3, -1)


@pytest.mark.parametrize(
    "f",
    [
        counters_combined, counters_changed, counters_compared, ordered_dicts_compared,
        lists_by_slices,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_operators_of_containers_are_those_of_their_class(f):
    x = np.array([1.3, 0.7, 2.1, 0.4])
    assert value_and_grad(f)(x)[0] == pytest.approx(f(x), rel=1e-14)
    check_grads(f, (x,))


def counted(x, n):
    c = Counter()
    for i in range(n):
        c[int(x[i] * 3) % 5] += x[i]
    return c


def counters_of_the_run(x, n):
    c, d = counted(x, n), Counter({0: 2.0, 7: 1.5})
    y = items_of(c + d, x) + items_of(d + c, x) + items_of(c - d, x) + items_of(d - c, x)
    return y + items_of(c & d, x) + items_of(c | d, x) + items_of(d | c, x)


def counters_of_the_run_changed(x, n):
    c = counted(x, n)
    c += Counter({0: 1.0, 3: 2.0})
    c -= Counter({1: 5.0})
    del c[77]
    c |= Counter({1: 0.5})
    return items_of(c, x) * (x[0] if c == counted(x, n) else x[1])


@pytest.mark.parametrize("n", [7, 0])
@pytest.mark.parametrize("f", [counters_of_the_run, counters_of_the_run_changed])
def test_operators_of_counters_that_exist_at_run_time(f, n):
    x = np.array([1.3, 0.7, 2.1, 0.4, 0.5, 0.9, 1.1, 0.3])
    assert value_and_grad(f)(x, n)[0] == pytest.approx(f(x, n), rel=1e-14)
    check_grads(f, (x, n))


def too_many_arguments(x):
    return {1: 2}.get(1, 2, 3) * x[0]


def too_few_values(x):
    a = [x[0], x[1], x[2]]
    a[::2] = [x[3]]
    return a[0]


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (too_many_arguments, "'get' can't be followed with these arguments"),
        (too_few_values, "attempt to assign sequence of size 1 to extended slice of size 2"),
    ],
)
def test_calls_that_go_wrong(f, message):
    with pytest.raises(UnsupportedError, match=message):
        grad(f)(np.ones(4))


def an_empty_deque_rotates(x, n):
    a, b = collections.deque(), collections.deque()
    for i in range(n):
        a, b = b, a
        if x[4] > 0.5:
            a.append(x[i])
    for _ in range(n):
        a, b = b, a
        a.rotate(-1)
        b.rotate(2)
    y = x[0]
    for v in [*a, *b]:
        y = 0.5 * y + v
    return y


@pytest.mark.parametrize("n", [0, 3])
@pytest.mark.parametrize("high", [0.4, 0.6])
def test_rotating_a_deque_that_may_be_empty(n, high):
    x = np.array([1.3, 0.7, 2.1, 0.4, high])
    assert value_and_grad(an_empty_deque_rotates)(x, n)[0] == an_empty_deque_rotates(x, n)
    check_grads(an_empty_deque_rotates, (x, n))


def what_is_no_dict(x, n):
    total = 0.0
    for act in ("relu", ("scale", x[0]), {"pow": 3}, [x[1]], None, 2):
        match act:
            case "relu" | 2:
                total += np.sum(np.maximum(x - 0.5, 0))
            case {"pow": p}:
                total += np.sum(x**p)
            case ("scale", k):
                total += np.sum(x * k)
            case _:
                total += x[2]
    d, s = {"a": x[0]}, {n}
    unlike = d != "a" and {} != [] and s != 3 and s != n and d != () and n != d
    return total * (2.0 if unlike else 0.5)


def test_a_dict_is_equal_to_nothing_else():
    x = np.array([0.4, 0.9, 1.3])
    assert value_and_grad(what_is_no_dict)(x, 3)[0] == pytest.approx(what_is_no_dict(x, 3))
    check_grads(what_is_no_dict, (x, 3), argnums=0)


def smallest_distance(x, n):
    distances, names = [], []
    for i in range(n):
        y = x[i : i + 1].reshape(1, 1)
        distances.append(y.T @ y)
        names.append(f"n{i}")
    distances.append(0.5)
    nearest = distances.index(min(distances))
    return np.sum(min(distances)) * x[nearest] * len(max(names))


def largest_lists(x, n):
    rows, columns = [], []
    for i in range(n):
        rows.append([x[i], x[0]])
        columns.append(x[i : i + 1].reshape(1, 1))
    return max(rows)[0] * min(rows)[1] + max(columns)[0, 0]


@pytest.mark.parametrize("f", [smallest_distance, largest_lists])
def test_extremes_of_what_is_compared_whole(f):
    x = np.array([0.9, 0.4, 1.3])
    assert value_and_grad(f)(x, 3)[0] == pytest.approx(f(x, 3))
    check_grads(f, (x, 3), argnums=0)


def largest_of_long_arrays(x, n):
    rows = []
    for i in range(n):
        rows.append(x * i)
    return np.sum(max(rows))


def test_extremes_of_what_has_no_order():
    for f in (largest_of_long_arrays, grad(largest_of_long_arrays)):
        with pytest.raises(ValueError, match="ambiguous"):
            f(np.ones(3), 3)


@pytest.mark.parametrize("extreme", [max, min])
def test_extremes_of_the_rows_of_an_array(extreme):
    """Python compares rows as arrays: of one number each, or it can't tell."""
    x = np.array([[0.9], [0.4], [1.3]])

    def f(x):
        return extreme(x * x)

    value, pullback = vjp(f, x)
    assert value.shape == (1,) and value == f(x)
    np.testing.assert_allclose(pullback(np.ones(1))[0], 2 * x * (x * x == value))
    for g in (f, lambda x: vjp(f, x)):
        with pytest.raises(ValueError, match="ambiguous"):
            g(np.array([[0.9, 0.4], [0.4, 1.3]]))


class Momentum:
    def __init__(self):
        self.mean = None

    def step(self, key, g):
        if self.mean is None:
            self.mean = {}
        self.mean.setdefault(key, np.zeros_like(g))
        self.mean[key] += 0.1 * (g - self.mean[key])
        return self.mean[key]


def trained_with_momentum(w, b, x, n):
    optimizer, params = Momentum(), {"w": w, "b": b}
    for _ in range(n):
        residual = x @ params["w"] + params["b"]
        grads = {"w": x.T @ residual, "b": residual.sum(0)}
        for key in params:
            params[key] = params[key] - 0.1 * optimizer.step(key, grads[key])
    return np.sum((x @ params["w"] + params["b"]) ** 2)


def test_defaults_are_set_by_the_first_iteration_of_a_loop():
    rng = np.random.default_rng(0)
    args = rng.random((3, 2)), rng.random(2), rng.random((4, 3)), 3
    gradient = grad(trained_with_momentum)
    gradient(*args)
    assert "for _ in" in gradient.source and "places" not in gradient.source
    check_grads(trained_with_momentum, args, argnums=(0, 1))


LENGTHS = {frozenset("HC"): 1.09, frozenset("CO"): 1.43, frozenset("C"): 1.54}


def stretched(x, symbols):
    total = 0.0
    for (i, a), (j, b) in itertools.combinations(enumerate(symbols), 2):
        total += (x[i] - x[j] - LENGTHS.get(frozenset((a, b)), 1.5)) ** 2
    seen = {frozenset(symbols[:2]): x[0]}
    return total + seen[frozenset((symbols[1], symbols[0]))]


def test_frozensets_are_keys():
    x = np.array([0.3, 1.7, 2.2])
    assert value_and_grad(stretched)(x, "HCO")[0] == pytest.approx(stretched(x, "HCO"))
    check_grads(stretched, (x, "HCO"), argnums=0)


OUTER = {
    "dict": {"a": 1.0},
    "ordered": OrderedDict(a=1.0),
    "default": collections.defaultdict(int, a=1.0),
    "counter": Counter("a"),
    "list": [1.0],
    "window": collections.deque([1.0, 2.0], maxlen=2),
}
QUESTIONS = {
    "type": lambda v: type(v) is OrderedDict,
    "name": lambda v: type(v).__name__ == "defaultdict",
    "class": lambda v: v.__class__ is dict,
    "ordered": lambda v: isinstance(v, OrderedDict),
    "default": lambda v: isinstance(v, collections.defaultdict),
    "moves": lambda v: hasattr(v, "move_to_end"),
    "factory": lambda v: hasattr(v, "default_factory"),
    "pops": lambda v: hasattr(v, "popleft"),
    "list": lambda v: v == [1.0],
    "dict": lambda v: v == {"a": 1.0},
    "bool": lambda v: bool(v),
    "deque": lambda v: type(v) is collections.deque,
}


@pytest.mark.parametrize("asked", QUESTIONS)
def test_what_containers_outside_are(asked):
    question = QUESTIONS[asked]
    for name in OUTER:

        def f(x, name=name):
            return np.sum(x) * (2.0 if question(OUTER[name]) else 1.0)

        try:
            found = grad(f)(np.ones(2))[0]
        except UnsupportedError as error:
            assert "a list or a deque" in str(error) or "has the attribute" in str(error)
            assert name in ("list", "window")
            continue
        assert found == f(np.ones(1)), name


def test_copies_of_a_deque_outside_are_as_long_as_it_may_be():
    def f(x):
        one, two = OUTER["window"].copy(), copy.deepcopy(OUTER["window"])
        one.append(x[0])
        two.appendleft(x[1])
        free = collections.deque(OUTER["window"])
        free.append(x[0])
        lengths = len(one) + 10 * len(two) + 100 * len(free) + OUTER["window"].maxlen
        return sum(one) * one[0] + two[0] ** 2 * two[1] + lengths * x[0]

    check_grads(f, (np.array([0.5, 1.5]),))
    value, _ = value_and_grad(f)(np.array([0.5, 1.5]))
    assert value == f(np.array([0.5, 1.5])) == 2.5 * 2.0 + 2.25 + 324 * 0.5


class Listed(list):
    """A list with a class of its own."""


def test_what_only_the_run_knows_is_asked_for_attributes():
    def f(x):
        made = Listed([1.0, 2.0])
        scale = 2.0 if hasattr(made, "append") else 1.0
        other = 5.0 if hasattr(made, "keys") else 3.0
        return np.sum(x) * scale * other

    np.testing.assert_array_equal(grad(f)(np.ones(2)), np.full(2, 6.0))


def test_the_length_of_what_has_none():
    def f(x):
        try:
            return np.sum(x) * len(str)
        except TypeError:
            return np.sum(x) * 3.0

    np.testing.assert_array_equal(grad(f)(np.ones(2)), np.full(2, 3.0))


def held_by_the_run(x, steps):
    """A deque, and dicts, that hold what only the run tells."""
    window, totals, doubled = collections.deque(maxlen=3), collections.defaultdict(float), {}
    for i in range(steps):
        window.append(x[i % 3])
        totals[i % 2] += x[i % 3]
        doubled[i] = 2 * x[i % 3]
    return window, totals, doubled


def asked_of_a_window(x, steps):
    window, _, _ = held_by_the_run(x, steps)
    place = window.index(x[2]) + 10 * window.count(x[2])
    window.remove(x[1])
    window.insert(1, x[0] ** 2)
    window.reverse()
    return place * window[0] + sum(i * v for i, v in enumerate(reversed(window)))


def windows_are_equal(x, steps):
    window, _, _ = held_by_the_run(x, steps)
    same = window == held_by_the_run(x, steps)[0], window == collections.deque(x)
    return x[0] ** (1 + sum(same) + 2 * (window != collections.deque(x[:2])))


def no_room_in_a_window(x, steps):
    window, _, _ = held_by_the_run(x, steps)
    try:
        window.insert(0, x[0])
    except AttributeError:
        return x[0]
    except IndexError as error:
        return x[0] ** 2 * len(str(error))
    return x[1]


def dicts_are_equal(x, steps):
    _, totals, doubled = held_by_the_run(x, steps)
    same = (
        doubled == held_by_the_run(x, steps)[2], dict(totals) == totals, totals == dict(totals),
        doubled == {0: 2 * x[0], 1: 2 * x[1], 2: 2 * x[2]}, doubled != totals, doubled != {0: 1.0},
        doubled != [1],
    )  # fmt: skip
    return x[0] ** sum(same)


def dicts_are_joined(x, steps):
    _, totals, doubled = held_by_the_run(x, steps)
    more = doubled | {0: x[1], 9: x[2]}
    same, totals_before = doubled, len(totals)
    doubled |= totals
    totals |= {5: x[0]}
    total = sum(totals.values()) + sum(k * v for k, v in same.items()) + sum(more.values()) ** 2
    return total * len(more) * totals_before


@pytest.mark.parametrize(
    "f",
    [asked_of_a_window, windows_are_equal, no_room_in_a_window, dicts_are_equal, dicts_are_joined],
    ids=lambda f: f.__name__,
)
def test_what_containers_of_the_run_do(f):
    x = np.array([0.7, 0.4, -0.3])
    assert value_and_grad(f)(x, 3)[0] == pytest.approx(f(x, 3), rel=1e-14)
    check_grads(f, (x, 3), argnums=0)


@pytest.mark.parametrize(
    "asked",
    [
        lambda totals, window: totals.default_factory(3),
        lambda totals, window: len(window * 2),
        lambda totals, window: window.__imul__(2)[0],
    ],
)
def test_what_a_container_of_the_run_lacks_here_it_does_not_lack(asked):
    def f(x, steps):
        window, totals, _ = held_by_the_run(x, steps)
        try:
            return x[0] ** 2 * asked(totals, window)
        except (AttributeError, TypeError):
            return x[1]

    x = np.array([0.7, 0.4, -0.3])
    try:
        value = value_and_grad(f)(x, 3)[0]
    except UnsupportedError:
        return
    assert value == f(x, 3)


def taken_out_of_a_set(x, steps):
    members = {i % 3 for i in range(steps)}
    for i in range(steps):
        members.add(2 * i)
    total = 0.0
    for k in range(steps + 9):
        try:
            members.remove(k)
            total += x[0] * k
        except KeyError:
            total += x[1] ** 2
    return total + len(members)


def taken_out_of_a_dict(x, steps):
    _, _, doubled = held_by_the_run(x, steps)
    total = 0.0
    for k in (1, 7, 2, 1):
        try:
            del doubled[k]
        except KeyError as error:
            total += x[0] ** 2 * error.args[0]
        else:
            total += x[1]
    return total + sum(doubled.values())


def taken_out_of_what_is_empty(x, steps):
    _, _, doubled = held_by_the_run(x, steps)
    doubled.clear()
    try:
        doubled.popitem()
    except KeyError:
        return x[0] ** 3
    return x[1]


@pytest.mark.parametrize(
    "f",
    [taken_out_of_a_set, taken_out_of_a_dict, taken_out_of_what_is_empty],
    ids=lambda f: f.__name__,
)
def test_keys_that_are_not_there_are_caught(f):
    x = np.array([0.7, 0.4, -0.3])
    assert value_and_grad(f)(x, 3)[0] == pytest.approx(f(x, 3), rel=1e-14)
    check_grads(f, (x, 3), argnums=0)


def extremes_of_what_the_run_holds(x, steps):
    _, totals, doubled = held_by_the_run(x, steps)
    largest = max(totals.values()) * max(doubled) + min(doubled.items())[1]
    sizes = (
        max(map(abs, doubled.values())) ** 2 + max(zip(doubled.values(), doubled, strict=True))[0]
    )
    return largest + sizes * max(doubled.values(), default=2.0)


def test_extremes_of_what_the_run_holds():
    x = np.array([0.7, 0.4, -0.3])
    found = value_and_grad(extremes_of_what_the_run_holds)(x, 4)[0]
    assert found == pytest.approx(extremes_of_what_the_run_holds(x, 4), rel=1e-14)
    check_grads(extremes_of_what_the_run_holds, (x, 4), argnums=0)
