"""Loops: how they end, and what the generated code makes of that."""

import itertools

import numpy as np
import pytest

import srcgrad
import srcgrad.testing

X = np.array([0.3, 0.5, 0.7, 0.9])


def directional(f, x, direction, step=1e-6):
    return (f(x + step * direction) - f(x - step * direction)) / (2 * step)


def walrus_in_test(x, k):
    t, i = 0.0, 0
    while (e := np.sum(np.sin(x) * 0.5**i)) > 0.1 and i < k:
        t = t + e * e
        i += 1
    return t + e


def breaks_continues_or_ends(x, k):
    y, i = x, 0
    while np.max(np.abs(y)) > 0.05:
        i += 1
        if i > k:
            break
        if i == 2:
            continue
        y = y * np.cos(y) * 0.5
    else:
        y = y * 3
    return np.sum(y * y)


def returns(x, k):
    y, i = x * 1.0, 0
    while i < 10:
        y[i % 4] *= np.sin(y[(i + 1) % 4])
        if i == k:
            return np.sum(y**2)
        i += 1
    return 5 * np.sum(y)


def perhaps_no_trip(x, k):
    y, i = x * 1.0, 3
    while i < k:
        y = y * y
        i += 1
    return np.sum(y)


class Counter:
    def __init__(self):
        self.n = 0

    def step(self):
        self.n += 1
        return self.n


def object_changes_in_test(x, k):
    counter, y = Counter(), x
    while counter.step() < k:
        y = y * np.sin(y) + counter.n
    return np.sum(y) * counter.n


def memory_changes_in_test(x, k):
    y, i = x * 1.0, 0

    def bump():
        y[0] *= 1.5
        return y[0]

    while bump() < 4 and i < k:
        y[1] += y[0] ** 2
        i += 1
    return np.sum(y * y)


def nested(x, k):
    t, i = 0.0, 0
    while i < k:
        j, y = 0, x
        while j < i:
            y = np.sin(y)
            j += 1
            t = t + np.sum(y)
        i += 1
    return t * t


def until_a_list_is_long(x, k):
    states = [x]
    while len(states) < k:
        states.append(np.sin(states[-1]) * states[0])
    return np.sum(states[-1] * states[0])


def until_a_list_is_empty(x, k):
    states = [x * i for i in range(k)]
    t = 0.0
    while states:
        t = t + np.sum(np.sin(states.pop()))
    return t


WHILE = [
    walrus_in_test, breaks_continues_or_ends, returns, perhaps_no_trip, object_changes_in_test,
    memory_changes_in_test, nested, until_a_list_is_long, until_a_list_is_empty,
]  # fmt: skip


@pytest.mark.parametrize("f", WHILE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("k", [0, 1, 2, 3, 5])
def test_while(f, k):
    direction = np.random.default_rng(k).normal(size=4)
    expected = directional(lambda x: f(x, k), X, direction)
    gradient = srcgrad.grad(f)(X, k)
    assert gradient @ direction == pytest.approx(expected, rel=1e-6, abs=1e-8)
    _, tangent = srcgrad.jvp(lambda x: f(x, k), (X,), (direction,))
    assert tangent == pytest.approx(gradient @ direction, rel=1e-10, abs=1e-12)


def test_a_while_loop_stays_one():
    def f(x, tolerance):
        y = x
        while abs(y * y - x) > tolerance:
            y = 0.5 * (y + x / y)
        return y

    gradient = srcgrad.grad(f)
    assert gradient(2.0, 1e-12) == pytest.approx(0.5 / np.sqrt(2.0))
    forward = gradient.source.partition("\n\n")[0]
    assert "while abs(y * y - x) > tolerance:" in forward
    assert "break" not in gradient.source
    assert " if " not in gradient.source


def test_a_variable_of_a_loop_that_never_ran_is_missing():
    def f(x, k):
        i = 0
        while i < k:
            z = x * i
            i += 1
        return np.sum(z * z)

    gradient = srcgrad.grad(f)
    np.testing.assert_allclose(gradient(X, 3), 8 * X)
    with pytest.raises(UnboundLocalError):
        gradient(X, 0)


def test_what_no_path_gives_a_value_is_not_returned():
    """Its derivative would be zero: neither None nor that is what Python returns."""

    def f(x, n):
        for i in range(n):
            y = x * i
        return y

    for derivative in (f, srcgrad.grad(f), srcgrad.value_and_grad(f)):
        derivative(1.5, 3)
        with pytest.raises(UnboundLocalError):
            derivative(1.5, 0)
    with pytest.raises(UnboundLocalError):
        srcgrad.vjp(f, 1.5, 0)
    with pytest.raises(UnboundLocalError):
        srcgrad.jvp(f, (1.5, 0), (1.0, None))


def test_what_has_no_value_may_be_handed_on():
    def numbers(x, n, m):
        s = x[0]
        for _ in range(n):
            a = s**2
        for j in range(m):
            if j >= 1:
                s = s + a * np.sin(s)
            a = s * 2
        return s * x[1]

    def arrays(x, n, m):
        s = x[0]
        for _ in range(n):
            a = np.exp(x)
        for j in range(m):
            for _ in range(j):
                s = np.sin(s * a.sum())
            b = np.sin(x) * s
            a, b = b, b
        return s * x[1]

    for f in (numbers, arrays):
        for n, m in ((0, 0), (0, 1), (1, 1), (0, 3), (2, 3)):
            srcgrad.testing.check_grads(lambda x, f=f, n=n, m=m: f(x, n, m), (X,))


def test_what_a_dead_while_loop_computes_is_not_computed():
    def f(x, k):
        y, i = np.sum(x), 0
        while i < k:
            y = np.sin(y)
            i += 1
        return np.sum(x * x)

    gradient = srcgrad.grad(f)
    np.testing.assert_allclose(gradient(X, 3), 2 * X)
    assert "trips" not in gradient.source and "\n    while" not in gradient.source


def joined_slices(x, w):
    rows = []
    for i in range(len(w)):
        rows.append(w[i] * (x[: i + 1] / x[i]))
    return np.sum(np.concatenate(rows) ** 3) + np.prod(np.hstack(rows))


def joined_along_columns(x, w):
    parts = []
    while len(parts) < len(w):
        parts.append(x[None, : len(parts) + 1] * w[len(parts)])
    return np.sum(np.concatenate(parts, axis=-1) ** 3)


@pytest.mark.parametrize("f", [joined_slices, joined_along_columns])
def test_what_a_loop_makes_is_joined(f):
    x, w = np.array([0.3, -0.7, 1.2, 0.5]), np.array([1.1, -0.4, 0.8])
    srcgrad.testing.check_grads(f, (x, w))


def clustered(x, centers, most=1000):
    labels = None
    for _ in range(most):
        found = []
        for p in x:
            found.append(int(np.argmin((centers - p) ** 2)))
        if found == labels:
            break
        labels = found
        centers = 0.5 * (centers + np.array([np.mean(x[np.array(labels) == k]) for k in range(2)]))
    inertia = np.sum((x - centers[np.array(labels)]) ** 2)
    inertia += np.sum(centers)
    return inertia


def started_late(x, n):
    state, total, i = None, 0.0, 0
    while i < n:
        if state is None:
            state = (x, x**2)
        a, b = state
        state = (a * b, b + a)
        total += np.sum(a)
        i += 1
    return total + np.sum(state[0])


def until_settled(x, tolerance):
    old, k = None, 0
    while old is None or np.max(np.abs(old[0] - x)) > tolerance:
        old = [x, k]
        x = x - 0.1 * (x**3 - 2)
        k += 1
    return np.sum(x * old[0])


def with_else(x, n):
    best = None
    for k in range(n):
        if best is not None and np.sum(best["value"]) > 90:
            break
        best = {"value": x * k if best is None else best["value"] + x**2}
    else:
        x = 2 * x
    return np.sum(x * x) if best is None else np.sum(best["value"] * x)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (clustered, (np.array([0.1, 0.3, 0.2, 2.0, 2.3]), np.array([0.0, 1.0]))),
        (started_late, (X, 4)),
        (until_settled, (np.array([1.1, 1.3]), 1e-4)),
        (with_else, (X, 3)),
        (with_else, (X, 200)),
        (with_else, (X, 0)),
    ],
)
def test_what_is_none_before_the_first_iteration(f, args):
    wrt = tuple(i for i, a in enumerate(args) if isinstance(a, np.ndarray))
    srcgrad.testing.check_grads(f, args, argnums=wrt)


def test_a_list_that_is_none_at_first_needs_no_iteration_of_its_own():
    gradient = srcgrad.grad(clustered)
    gradient(np.array([0.1, 0.3, 0.2, 2.0, 2.3]), np.array([0.0, 1.0]))
    assert "for _ in range(most):" in gradient.source
    assert gradient.source.count(".argmin(") == 1


def newton_from_a_guess(x, most, rate=0.4):
    steps, close = 0, False
    while steps < most and not close:
        new = rate - (rate**2 - x * np.shape(x)[0] * (rate + 1) ** 3) / (2 * rate + x)
        close = np.all(np.abs(new - rate) < 1e-3)
        steps += 1
        rate = new
    if not close:
        return np.sum(rate) + 2
    return np.sum(rate**2)


def described(x, n, y=0.6):
    for _ in range(n):
        y = np.sin(y) * x
    norms = np.sum(y * np.ones(np.shape(y))) + np.max(y) + np.std(y)
    return norms + np.sum(y**2 + np.mean(y)) * np.size(y) + np.sum(y ** np.ndim(y))


@pytest.mark.parametrize("f", [newton_from_a_guess, described])
@pytest.mark.parametrize("k", [0, 1, 4])
def test_a_number_that_becomes_an_array(f, k):
    srcgrad.testing.check_grads(f, (X, k))


def test_a_number_that_becomes_an_array_does_so_before_a_while_loop():
    gradient = srcgrad.grad(newton_from_a_guess)
    gradient(X, 3)
    assert "unbroadcast" not in gradient.source.partition(".pop()")[2]


def test_the_shape_is_not_that_of_an_array_that_may_be_missing():
    def f(x):
        left, s = None, 0.4
        for _ in range(3):
            if left is not None:
                s = np.tanh(s + np.sum(left))
            left = 1.5 - x[:-1]
        return s

    srcgrad.testing.check_grads(f, (0.1 * X,))


def test_after_a_loop_that_only_a_return_ends_nothing_asks_whether_it_returned():
    def root(y, most=1.0):
        x = 1.0
        while True:
            step = (x * x - y) / (2 * x)
            x = x - most * step
            if abs(step) < 1e-12:
                return x

    gradient = srcgrad.grad(lambda y: root(y) ** 3)
    np.testing.assert_allclose(gradient(4.0), 3.0)
    assert "returned" not in gradient.source
    assert "1.0 *" not in gradient.source.split("while")[1].split("#")[0]


def test_an_index_out_of_range_on_the_way_that_is_not_taken():
    """The last round of an unrolled loop would look behind the end, but the loop is left before."""
    knots = [0.0, 1.0, 3.0, 4.0]

    def between(x):
        for i in range(len(knots)):
            low, high = knots[i], knots[i + 1]
            if low <= x <= high:
                return ((x - low) / (high - low)) ** 2
        return x

    g = srcgrad.grad(between)
    assert [g(0.5), g(2.0), g(3.25)] == [1.0, 0.5, 0.5]
    with pytest.raises(IndexError):
        g(5.0)


def test_a_key_missing_on_the_way_that_is_not_taken():
    rates = {"low": 2.0}

    def f(x):
        return x * rates["low"] if x < 1 else x * rates["high"]

    assert srcgrad.grad(f)(0.5) == 2.0
    with pytest.raises(KeyError):
        srcgrad.grad(f)(1.5)


class Node:
    def __init__(self, value):
        self.value, self.slope = value, 0.0


class Layer:
    def __init__(self, values):
        while True:
            self.nodes = [Node(v) for v in values]
            break


def made_in_a_loop_that_runs_once(x):
    layer = Layer(x)
    for node in layer.nodes:
        node.slope = node.value**2
    return sum(node.slope * node.value for node in layer.nodes)


def first_of_objects(x):
    nodes = [Node(v) for v in x]
    for node in nodes:
        if node.value > 0:
            node.slope = node.value**2
            break
        node.slope = -node.value
        break
    return sum(node.slope for node in nodes)


def returns_in_the_first_iteration(x):
    def first(values):
        for v in values:
            return v * v
        return x[0]

    return first(x[1:]) * first(x[:0])


def breaks_in_both_branches(x):
    total = 0.0
    for v in x:
        while v > 0.4:
            total += v**2
            if v > 0.6:
                break
            total *= x[0]
            break
        else:
            total += x[1]
    return total


@pytest.mark.parametrize(
    "f",
    [
        made_in_a_loop_that_runs_once,
        first_of_objects,
        returns_in_the_first_iteration,
        breaks_in_both_branches,
    ],
)
def test_a_loop_that_each_path_leaves_runs_once(f):
    srcgrad.testing.check_grads(f, (X,), order=1)
    gradient = srcgrad.grad(f)
    gradient(X)
    assert "trips" not in gradient.source and "\n    while" not in gradient.source


def long_tuple(x):
    total = 1.0
    for i in tuple(range(150)):
        total = total + np.sin(total * x[0]) / (i + 1)
        if total > 3 * x[1]:
            return total
    return total


def test_a_long_tuple_stays_a_loop():
    srcgrad.testing.check_grads(long_tuple, (X,), order=1)
    srcgrad.testing.check_grads(long_tuple, (X + 9,), order=1)
    gradient = srcgrad.grad(long_tuple)
    gradient(X)
    assert "for i in range(150)" in gradient.source


def an_array_or_the_count(x):
    k = x * 2.0
    for k in range(len(x)):  # noqa: B007
        pass
    return np.sum(k) * 0.7 + np.sum(k) * 0.3


def an_array_or_a_number(x):
    k = x
    while np.sum(k) > 1:
        k = 0.1
    return np.sum(k) * 0.7 + np.sum(k) * 0.3


def an_array_or_one_handed_on(x):
    k, j = x, x[0]
    for _ in range(len(x)):
        k, j = j, 1.0
    return np.sum(k) * 0.7 + np.sum(k) * j


@pytest.mark.parametrize(
    "f", [an_array_or_the_count, an_array_or_a_number, an_array_or_one_handed_on]
)
def test_what_a_loop_replaces_by_another_shape(f):
    """The adjoint of an array is one where the loop has a number of the same name at its end."""
    for x in (np.array([0.3, 0.8, 0.55]), np.array([0.2, 0.1])):
        assert srcgrad.grad(f)(x).shape == x.shape
        srcgrad.testing.check_grads(f, (x,))


@pytest.mark.parametrize("again", [1, 2, 9])
def test_a_loop_in_which_an_array_gets_more_axes(again):
    """The adjoint of what begins anew in a trip has the axes of that trip, not of the next."""

    def weighted(r):
        return np.sum(r * np.sin(np.arange(1.0, r.size + 1)).reshape(r.shape))

    def outer(a, again):
        result = None
        for i, row in enumerate(a):
            if result is None:
                result = row
            elif i == again:
                result = np.array([0.5, 2.0])
            else:
                result = result[..., None] * row
        return weighted(result)

    def named(a):
        for i in range(len(a)):
            if i:
                letters = "".join([chr(97 + k) for k in range(np.ndim(result))])  # noqa: F821
                result = np.einsum(f"{letters},z->{letters}z", result, a[i])  # noqa: F821
            else:
                result = a[i]
        return weighted(result)

    a = np.random.default_rng(0).uniform(0.5, 1.5, (4, 3))
    srcgrad.testing.check_grads(lambda a: outer(a, again), (a,))
    srcgrad.testing.check_grads(named, (a,), order=1)


@pytest.mark.parametrize("first", [None, 0, 2, 20, -1, -3])
@pytest.mark.parametrize("last", [None, 0, 4, 20, -2, -20])
def test_a_part_of_a_range_of_the_run(first, last):
    """Its bounds and the part's may be known only then: `Ix[1:-1]`, the inner points of a mesh."""

    def f(x, n, a, b, c):
        total = 0.0
        for i in range(2, n, 3)[a:b:c]:
            total = 2 * total + x * i
        return total

    def inner(x, n, a, b):
        points = range(n + 1)[first:last]
        return sum(x * i for i in points[a:b]) + x * points.stop

    for n, c in itertools.product((-9, 0, 3, 15), (1, 2, -1, -3)):
        bounds = [-1 if b is None else b for b in (first, last)]
        assert srcgrad.grad(f)(1.0, n, *bounds, c) == f(1.0, n, *bounds, c)
        assert srcgrad.grad(inner)(1.0, n, *bounds) == inner(1.0, n, *bounds)


def test_a_part_of_a_range_of_the_run_that_no_python_takes():
    def f(x, n, step):
        return x * len(range(n)[1:3:step])

    def between(x, n):
        return x * len(range(n)[x:])

    with pytest.raises(ValueError, match="slice step cannot be zero"):
        srcgrad.grad(f)(1.5, 4, 0)
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        srcgrad.grad(between)(1.5, 4)
