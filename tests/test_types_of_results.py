"""Results and gradients are of the types that the program returns, and that it is given."""

import collections
import math
import types

import numpy as np
import pytest

import srcgrad
import srcgrad.testing

from .programs.finite_differences import inner


class Named(dict):
    def __init__(self, **items):
        super().__init__(**items)
        self.__dict__ = self


class Row(list):
    def __init__(self, *items):
        super().__init__(items)


def ordered(x):
    made = collections.OrderedDict(b=x)
    made["a"] = [x, 2 * x]
    made.move_to_end("b")
    return made


def counted(x):
    return {"total": collections.Counter(a=x * x)}


def with_default(x):
    made = collections.defaultdict(float)
    made["a"] += x
    return made


def namespace(x):
    return Named(loss=x * x, parts=(x, Row(x, x + 1)))


def deques(x):
    queue = collections.deque([(x, 0)])
    for i in range(int(10 * x)):
        queue.append((i * x, i))
        queue.appendleft(queue.pop())
    return collections.deque([x]), queue


def queue_of_the_run(x):
    queue = collections.deque([x])
    for i in range(int(10 * x)):
        queue.append(i * x)
    queue.appendleft(x * x)
    return queue


def attributes(x):
    return types.SimpleNamespace(a=x, b=[x * x])


def same(a, b):
    assert type(a) is type(b)
    inner = vars(a) if isinstance(a, types.SimpleNamespace) else a
    if isinstance(inner, dict):
        other = vars(b) if inner is not a else b
        assert [*inner] == [*other]
        return all(same(inner[key], other[key]) for key in inner)
    if isinstance(a, (list, tuple, collections.deque)):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


PROGRAMS = [
    ordered, counted, with_default, namespace, deques, queue_of_the_run, attributes,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_results(f):
    value, pullback = srcgrad.vjp(f, 2.05)
    again, tangent = srcgrad.jvp(f, (2.05,), (1.0,))
    assert same(value, f(2.05)) and same(again, value)
    assert type(tangent) is type(value) and type(srcgrad.jacobian(f)(2.05)) is type(value)
    (weighted,) = pullback(value)
    near = [srcgrad.vjp(f, x)[0] for x in (2.05 + 1e-6, 2.05 - 1e-6)]
    slope = (inner(near[0], value) - inner(near[1], value)) / 2e-6
    assert weighted == pytest.approx(slope, 1e-6) == inner(value, tangent)


def test_a_namespace_stays_one():
    value, _ = srcgrad.vjp(namespace, 2.0)
    assert value.loss == 4.0 and value.parts[1] == [2.0, 3.0]
    value.loss = 5.0
    assert value["loss"] == 5.0


@pytest.mark.parametrize("cls", [collections.OrderedDict, collections.Counter, Named, dict])
def test_gradients(cls):
    gradient = srcgrad.grad(lambda d: d["a"] ** 2 * np.sum(d["b"]))(cls(a=3.0, b=np.ones(2)))
    assert type(gradient) is cls and gradient["a"] == 12.0 and gradient["b"].tolist() == [9.0, 9.0]


def test_gradients_by_attributes():
    def f(a):
        a.total = a.x * np.sum(a.y)
        return a.total**2

    given = types.SimpleNamespace(x=2.0, y=np.array([1.0, 3.0]), name="a")
    gradient = srcgrad.grad(f)(given)
    assert gradient.x == 64.0 and gradient.y.tolist() == [32.0, 32.0] and gradient.name == "a"
    assert [*vars(given)] == ["x", "y", "name"]


def test_gradients_by_lists():
    gradient = srcgrad.grad(lambda row: row[0] * row[1])(Row(2.0, 3.0))
    assert type(gradient) is Row and gradient == [3.0, 2.0]


def test_what_is_only_a_part_of_a_dict_is_refused():
    def views(x):
        return {"a": x}.keys(), x

    def window(x):
        return collections.deque([x, x, x], maxlen=2)

    def made_by_a_function(x):
        made = collections.defaultdict(lambda: x)
        return made["a"], made

    for f in (views, window, made_by_a_function):
        with pytest.raises(srcgrad.UnsupportedError, match="can't be returned") as caught:
            srcgrad.vjp(f, 2.05)
        assert "return list(...) or dict(...) of it" in str(caught.value)


@pytest.mark.parametrize("z", [1.5, -1.5 + 2j, np.float64(1.5), np.complex128(1 - 2j)])
def test_the_conjugate_of_a_number_of_python_is_one(z):
    def f(z):
        found = (z + z).conjugate()
        return found, found * found.conjugate() * (3.0 if isinstance(found, np.generic) else 5.0)

    def divided(z):
        return z.conjugate() / 0.0

    expected = f(z)
    out, pullback = srcgrad.vjp(f, z)
    again, tangents = srcgrad.jvp(f, (z,), (1.0 + 0 * z,))
    assert out == again == expected
    assert [*map(type, out)] == [*map(type, again)] == [*map(type, expected)]
    assert inner(pullback((z, z))[0], 1.0 + 0 * z) == pytest.approx(inner((z, z), tangents))
    if not isinstance(z, np.generic):
        for run in (lambda: srcgrad.vjp(divided, z), lambda: srcgrad.jvp(divided, (z,), (z,))):
            with pytest.raises(ZeroDivisionError):
                run()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_outer_takes_a_number_for_an_array(dtype):
    """So that of single precision and a number of Python's it is computed in double precision."""
    x = np.array([0.1, 0.7, 0.3], dtype)

    def f(x, s, n):
        sums = np.add.outer(x, n), np.subtract.outer(s, x), np.add.outer(x[0], s)
        products = np.multiply.outer(x, np.float32(0.3)), np.power.outer(x, n), np.add.outer(s, n)
        return sums + products

    for found, expected in zip(srcgrad.vjp(f, x, 0.3, 2)[0], f(x, 0.3, 2), strict=True):
        assert type(found) is type(expected) and found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_the_extremes_of_floats_of_python_are_some():
    def f(x):
        rows = [[0.0] * 3 for _ in range(2)]
        for i in range(2):
            for j in range(3):
                rows[i][j] = float(x[j]) * (i - 0.5)
        items = [float(v) for v in x]
        largest = max(items)
        return max(rows[1]), min(rows[0]), largest, isinstance(largest, np.generic), max(x)

    def divided(x):
        try:
            return max([float(v) for v in x]) / (x.size - 3)
        except ZeroDivisionError:
            return x[0]

    x = np.array([0.3, 0.7, 0.5])
    assert repr(srcgrad.vjp(f, x)[0]) == repr(f(x)) == repr(srcgrad.jvp(f, (x,), (x,))[0])
    assert srcgrad.vjp(divided, x)[0] == 0.3
    _, pullback = srcgrad.vjp(f, x)
    np.testing.assert_allclose(pullback((1.0, 2.0, 4.0, None, 8.0))[0], [0.0, 0.5 - 1 + 4 + 8, 0.0])


@pytest.mark.parametrize(
    "call",
    [
        lambda v, x: np.nonzero(v),
        lambda v, x: np.where(v > 0.5),
        lambda v, x: np.gradient(v),
        lambda v, x: np.sum(v, axis=-1),
    ],
)
def test_whether_an_unknown_result_is_a_tuple_is_asked_in_the_run(call):
    """Of arrays of unknown ranks."""

    def f(x):
        v = np.outer(x, x) if x[0] > 1.0 else x
        found = call(v, x)
        return x[1] * (2.0 if isinstance(found, tuple) else 3.0 if isinstance(found, list) else 5.0)

    for x in (np.array([0.3, 0.8]), np.array([1.3, 0.8])):
        value, gradient = srcgrad.value_and_grad(f)(x)
        assert value == f(x)
        assert gradient.tolist() == [0.0, f(x) / x[1]]


def test_results_of_what_may_be_a_bool_or_of_another_dtype_are_as_many():
    def f(x):
        v = x[0]
        if x[1] > 1.0:
            v = True
        mantissa, _ = math.frexp(v)
        whole, rest = np.divmod(np.array([1, 2]) if x[1] > 1.0 else x, x[0])
        return mantissa * x[1] + np.sum(rest) + np.sum(whole)

    for x in (np.array([0.3, 0.8]), np.array([0.3, 1.8])):
        srcgrad.testing.check_grads(f, (x,))
