"""Lists, dicts and objects among the arguments that the function writes: it writes copies."""

import collections
import copy

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

X, Y = np.array([0.5, 0.3]), np.array([1.2, 0.7])


class Layer:
    def __init__(self, w):
        self.w, self.seen = w, None

    def __call__(self, x):
        self.seen = x
        return np.tanh(x * self.w)


def running_mean(x, state):
    state["mean"] = 0.9 * state["mean"] + 0.1 * x.mean()
    return np.sum((x - state["mean"]) ** 2)


def descent(x, state):
    for _ in range(2):
        steps = {"d" + name: 2 * value + np.sin(value) for name, value in state.items()}
        for name in state:
            state[name] = state[name] - 0.1 * steps["d" + name] * x
    return sum(np.sum(value**2) for value in state.values())


def kept_beside(x, state):
    state.update(double=2 * x, size=x.size)
    state["wave"] = np.sin(state.pop("double"))
    return np.sum(state["wave"] * state["mean"]) * state["size"]


def scaled_rows(x, rows):
    for i in range(len(rows)):
        rows[i] = rows[i] * x
    rows.append(x)
    rows[0] *= 2
    return sum(np.sum(row**3) for row in rows)


def layers(x, stack):
    for layer in stack:
        x = layer(x)
    return np.sum(x**2) + np.sum(stack[-1].seen)


@pytest.mark.parametrize(
    ("f", "state"),
    [
        (running_mean, {"mean": 0.3}),
        (descent, {"w": Y, "b": 0.4}),
        (kept_beside, {"mean": Y}),
        (scaled_rows, [X, Y]),
        (scaled_rows, [X * i for i in range(9)]),
        (layers, [Layer(X), Layer(Y)]),
    ],
)
def test_a_copy_is_written(f, state):
    before = copy.deepcopy(state)
    check_grads(lambda x: f(x, copy.deepcopy(state)), (X,))
    expected = srcgrad.grad(lambda x: f(x, copy.deepcopy(state)))(X)
    np.testing.assert_allclose(srcgrad.grad(f)(X, state), expected, rtol=1e-12)
    np.testing.assert_allclose(
        srcgrad.hvp(f)(X, state, Y), srcgrad.hvp(lambda x: f(x, copy.deepcopy(state)))(X, Y)
    )
    if f is not layers:
        check_grads(f, (X, state), argnums=1)
        assert repr(state) == repr(before)
    else:
        assert all(layer.seen is None for layer in state)


def double(first, second):
    first["w"] = first["w"] * 2
    return np.sum(first["w"] * second["w"])


def test_what_is_written_is_in_one_place_only():
    f, state = double, {"w": X}
    np.testing.assert_allclose(srcgrad.grad(f)(state, {"w": X})["w"], 2 * X)
    for derivative in (srcgrad.grad(f), lambda a, b: srcgrad.hvp(f)(a, b, a)):
        with pytest.raises(ValueError, match="the same dict is in two places of the arguments"):
            derivative(state, state)


OUTSIDE = {"w": X}
LAYER = Layer(X)


def beside_the_dict_outside(state):
    state["w"] = state["w"] * 2
    return np.sum(state["w"] * OUTSIDE["w"])


def beside_the_object_outside(layer):
    layer.w = layer.w * 2
    return np.sum(layer.w * LAYER.w)


def the_dict_outside(state):
    OUTSIDE["seen"] = 2.0
    return np.sum(state["w"] * state.get("seen", X))


def the_object_outside(layer):
    LAYER.w = LAYER.w * 2
    return np.sum(layer.w * X)


@pytest.mark.parametrize(
    ("f", "outside"),
    [
        (beside_the_dict_outside, OUTSIDE),
        (beside_the_object_outside, LAYER),
        (the_dict_outside, OUTSIDE),
        (the_object_outside, LAYER),
    ],
)
def test_what_is_written_is_not_what_is_read_outside(f, outside):
    gradient = srcgrad.grad(f)
    assert len(numbers_of(gradient(copy.deepcopy(outside)))) == 2
    with pytest.raises(ValueError, match="is in the arguments and outside, and"):
        gradient(outside)


class Fitted:
    def __init__(self):
        self.state, self.rate = {"w": X}, 0.5

    def loss(self, state):
        state["w"] = state["w"] * self.rate
        return np.sum(state["w"] ** 2)


def test_the_object_outside_may_hold_the_argument():
    fitted = Fitted()
    np.testing.assert_allclose(srcgrad.grad(fitted.loss)(fitted.state)["w"], X / 2)


ROWS = [X + i for i in range(9)]


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda x, rows: np.sum(sum(x * row for row in rows)), (ROWS[3], ROWS)),
        (lambda x: np.sum(sum(x * row for row in ROWS)), (ROWS[3],)),
        (lambda x: np.sum(x * Y), (Y,)),
    ],
)
def test_an_array_that_is_written_is_not_in_a_list_or_outside(f, args):
    def written(x, *others):
        x[0] = 2 * x[1]
        return f(x, *others)

    gradient = srcgrad.grad(written)
    assert len(gradient(X + 1, *args[1:])) == 2
    with pytest.raises(ValueError, match="two arguments share memory"):
        gradient(*args)


def test_checks_stand_where_the_arguments_have_been_taken_apart():
    def f(x, state, other):
        state["seen"] = x
        w = other["w"]
        w *= x
        return np.sum(w)

    primals = (X, {"a": X}, {"w": Y})
    _, t_out = srcgrad.jvp(f, primals, (Y, {"a": X}, {"w": X}))
    np.testing.assert_allclose(t_out, np.sum(Y * Y + X * X))


def numbers_of(tree):
    return tree["w"] if isinstance(tree, dict) else tree.w


class Sized(Layer):
    def __init__(self, w):
        super().__init__(w)
        self.size, self.name = 3, "sized"


def test_what_an_object_holds_besides_floats_is_in_its_gradient():
    found = srcgrad.grad(lambda layer, x: np.sum(layer.w * x))(Sized(X), Y)
    np.testing.assert_allclose(found.w, Y)
    assert (found.size, found.name, found.seen) == (3, "sized", None)


def in_a_list(p):
    p[0] = np.sin(p[0]) * p[1]
    return np.sum(p[0] ** 2)


def in_a_dict(p):
    p["x"] = np.sin(p["x"]) * p["y"]
    return np.sum(p["x"] ** 2)


def of_a_list(x, y):
    return [x, y]


def of_a_dict(x, y):
    return {"x": x, "y": y}


def numbers(tree):
    return sum(np.sum(part) for part in (tree.values() if isinstance(tree, dict) else tree))


DERIVATIVES = {
    "grad": lambda f, p, t: numbers(srcgrad.grad(f)(p)),
    "vjp": lambda f, p, t: numbers(srcgrad.vjp(f, p)[1](1.0)[0]),
    "jvp": lambda f, p, t: srcgrad.jvp(f, (p,), (t,))[1],
    "jacobian": lambda f, p, t: numbers(srcgrad.jacobian(f)(p)),
    "hvp": lambda f, p, t: numbers(srcgrad.hvp(f)(p, t)),
}


@pytest.mark.parametrize("name", DERIVATIVES)
@pytest.mark.parametrize(("f", "made"), [(in_a_list, of_a_list), (in_a_dict, of_a_dict)])
def test_inside_the_arguments_of_an_inner_derivative_are_copies(name, f, made):
    derivative = DERIVATIVES[name]

    def pure(p):
        x, y = p.values() if isinstance(p, dict) else p
        return np.sum((np.sin(x) * y) ** 2)

    def written(x, y):
        p = made(x, y)
        return derivative(f, p, made(y, x)) + numbers(p)

    def expected(x, y):
        return derivative(pure, made(x, y), made(y, x)) + np.sum(x) + np.sum(y)

    found = srcgrad.value_and_grad(written, argnums=(0, 1))(X, Y)
    known = srcgrad.value_and_grad(expected, argnums=(0, 1))(X, Y)
    for a, b in zip((found[0], *found[1]), (known[0], *known[1]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_an_inner_derivative_is_not_given_what_it_writes_twice():
    def product(first, second):
        first[0] = first[0] * 2
        return np.sum(first[0] * second[0])

    def f(x):
        items = [x]
        return np.sum(srcgrad.grad(product)(items, items)[0])

    with pytest.raises(srcgrad.UnsupportedError, match="is passed twice to a function that writes"):
        srcgrad.grad(f)(X)


# Deques, and dicts that are more than dicts


def queued(x, q):
    q.append(x)
    total = 0.0
    while q:
        total += q.popleft() * x
    return total


def turned(x, q):
    q.appendleft(x)
    q.rotate(1)
    q += [x * x]
    del q[0]
    return sum(i * v for i, v in enumerate(q)) + len(q) * x


def newest(x, q):
    q.append(x)
    q += [x * x]
    del q[0]
    return sum(v * x for v in q) + len(q) * x


def grouped(x, d):
    d["new"] += x
    d["old"] += x * x
    return sum(v * v for v in d.values()) * len(d)


def listed(x, d):
    d["new"].append(x)
    return sum(d["new"]) * x


def moved(x, d):
    d.move_to_end("a")
    d["z"] = x
    return sum((i + 1) * v * x for i, v in enumerate(d.values()))


@pytest.mark.parametrize(
    ("f", "made"),
    [
        (queued, lambda: collections.deque()),
        (queued, lambda: collections.deque([1.0, 2.0])),
        (turned, lambda: collections.deque([1.0, 2.0])),
        (turned, lambda: collections.deque([float(i) for i in range(20)])),
        (newest, lambda: collections.deque([1.0, 2.0], maxlen=2)),
        (grouped, lambda: collections.defaultdict(float, old=2.0)),
        (listed, lambda: collections.defaultdict(list)),
        (moved, lambda: collections.OrderedDict(a=1.0, b=2.0)),
    ],
)
def test_collections_are_copied(f, made):
    given, step = made(), 1e-6
    expected = (f(0.7 + step, made()) - f(0.7 - step, made())) / (2 * step)
    gradient = srcgrad.value_and_grad(f)
    for _ in range(2):
        value, found = gradient(0.7, given)
        assert given == made()
        assert value == pytest.approx(f(0.7, made()))
        assert found == pytest.approx(expected)
    given.clear()
    if f is queued:
        assert srcgrad.grad(f)(0.7, given) == pytest.approx(1.4)  # what is in it is looked at anew


def test_the_same_deque_is_passed_once():
    def f(x, q, r):
        q.append(x)
        return x * len(r)

    q = collections.deque([1.0])
    with pytest.raises(ValueError, match="in two places"):
        srcgrad.grad(f)(0.7, q, q)
    with pytest.raises(TypeError, match="pass a list"):
        srcgrad.grad(f, argnums=1)(0.7, q, collections.deque())


RECENT = collections.deque([1.0])


def test_what_is_read_from_a_deque_outside_that_is_written():
    def f(x):
        RECENT.append(x)
        return x * RECENT[-1]

    with pytest.raises(srcgrad.UnsupportedError, match="is written by this function"):
        srcgrad.grad(f)(0.7)


def test_factories_are_told_apart():
    def f(x, d):
        return x * d["a"]

    gradient = srcgrad.grad(f)
    for factory, expected in ((float, 0.0), (lambda: 2.0, 2.0), (lambda: 3.0, 3.0)):
        assert gradient(0.7, collections.defaultdict(factory)) == expected


class Counted:
    def __init__(self):
        self.times = 0


def into_an_array(x, kept=np.zeros(2)):  # noqa: B008
    kept += x
    return np.sum(kept * x)


def into_a_set(x, *, kept=set()):  # noqa: B006
    kept.add(3)
    return x[0] * len(kept)


def into_a_list(x, kept=[]):  # noqa: B006
    kept.append(1.0)
    return x[0] * len(kept)


def into_an_object(x, kept=Counted()):  # noqa: B008
    kept.times += 1
    return x[0] * kept.times


@pytest.mark.parametrize("f", [into_an_array, into_a_set, into_a_list, into_an_object])
def test_a_default_that_is_written(f):
    for derivative in (srcgrad.grad(f), lambda x: srcgrad.jvp(f, (x,), (x,))):
        with pytest.raises(srcgrad.UnsupportedError, match="writes the default of 'kept'"):
            derivative(np.ones(2))


def test_a_default_that_is_read():
    def f(x, weights=np.array([2.0, 3.0]), kept=[1.0]):  # noqa: B006, B008
        return np.sum(weights * x) * kept[0]

    assert srcgrad.grad(f)(np.ones(2)).tolist() == [2.0, 3.0]


def test_a_deque_in_an_object_beside_arrays_that_are_written():
    class Monitor:
        def __init__(self):
            self.history, self.scale = collections.deque([2.0]), np.ones(2)

    def f(monitor, sums, w):
        sums["first"] += w * monitor.scale
        return np.sum(sums["first"]) * np.sum(sums["last"]) * monitor.history[0]

    sums = {"first": np.zeros(2), "last": np.ones(3)}
    by_sums, by_w = srcgrad.grad(f, argnums=(1, 2))(Monitor(), sums, 1.5)
    assert by_sums["first"].tolist() == [6.0, 6.0] and by_sums["last"].tolist() == [6.0, 6.0, 6.0]
    assert by_w == 12.0 and sums["first"].tolist() == [0.0, 0.0]
    shared = {"first": sums["last"][1:], "last": sums["last"]}
    with pytest.raises(ValueError, match="share memory"):
        srcgrad.grad(f, argnums=2)(Monitor(), shared, 1.5)
