"""Calls of a gradient after the first: what is generated to look them up."""

import array
import functools
import gc
import types
import weakref
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from srcgrad import UnsupportedError, grad, value_and_grad

X = np.array([1.0, 2.0, 3.0])
CALLS = 4  # the second call generates a look-up, the third fills it, the fourth uses it


def repeated(gradient, *args, **kwargs):
    """The result of a call, which is the same however often it's made."""
    first, *others = [gradient(*args, **kwargs) for _ in range(CALLS)]
    for other in others:
        np.testing.assert_equal(other, first)
    return first


def test_keywords_and_defaults():
    def f(x, /, scale=2.0, *, power=2):
        return scale * np.sum(x**power)

    gradient = grad(f)
    for _ in range(CALLS):
        np.testing.assert_allclose(gradient(X), 4 * X)
        np.testing.assert_allclose(gradient(X, 3.0), 6 * X)
        np.testing.assert_allclose(gradient(X, scale=1.0, power=3), 3 * X**2)
        np.testing.assert_allclose(gradient(X, power=1), np.full(3, 2.0))


def test_the_latest_call_is_remembered_by_all_that_matters():
    def f(x, y, n):
        return np.sum(x * y[:n]) * n

    gradient = grad(f)
    y = np.arange(5.0)
    for _ in range(CALLS):
        for n in (2, 2, 3, 2):
            x = np.ones(n)
            for _ in range(2):
                np.testing.assert_array_equal(gradient(x, y, n), n * y[:n])
            single = gradient(x.astype(np.float32), y, n)
            assert single.dtype == np.float32
            np.testing.assert_array_equal(gradient(np.ones((3, 1)), y[:1], 1), np.zeros((3, 1)))


def test_a_function_without_arrays_is_remembered_too():
    def f(x, y):
        return x * y

    gradient = grad(f)
    assert [gradient(2.0, y) for y in (3.0, 4.0, 5.0, 6.0, 7.0)] == [3.0, 4.0, 5.0, 6.0, 7.0]
    f.__code__ = (lambda x, y: x * x * y).__code__
    assert [gradient(2.0, 3.0) for _ in range(CALLS)] == [12.0] * CALLS


def test_arguments_of_variable_number():
    def f(x, *rest, **named):
        return x * sum(rest) * named.get("scale", 1.0)

    gradient = grad(f)
    for _ in range(CALLS):
        assert gradient(2.0) == 0
        assert gradient(2.0, 3.0) == 3
        assert gradient(2.0, 3.0, 4.0) == 7
        assert gradient(2.0, 3.0, scale=10.0) == 30
        assert gradient(2.0, *np.ones(3)) == 3


def test_hostile_parameter_names():
    def f(_, type, tuple, map, len, __1, known=1.0):
        return _ * type * tuple * map * len * __1 * known

    assert repeated(grad(f, "map"), 1.0, 2.0, 3.0, 4.0, 5.0, 6.0) == 180.0


def test_more_structures_than_are_kept():
    def f(x, extra):
        return np.sum(x * x)

    gradient = grad(f)
    extras = [None, 1, 1.0, True, "a", (), (1,), [1.0], {"a": 1}, {1: 2}, {2, 3}, len, np.int64(3)]
    for _ in range(CALLS):
        for extra in extras:
            np.testing.assert_allclose(gradient(X, extra), 2 * X)


def test_values_that_decide_what_is_compiled():
    def f(x, flag, mode, n, shape):
        y = x.reshape(shape)
        if flag:
            y = y * 2
        if mode == "cube":
            y = y * y * y
        return np.sum(y, axis=n)[0] if y.ndim > 1 else np.sum(y)

    gradient = grad(f)
    x = np.arange(1.0, 5.0)
    for _ in range(CALLS):
        np.testing.assert_allclose(gradient(x, False, "", 0, (2, 2)), [1, 0, 1, 0])
        np.testing.assert_allclose(gradient(x, False, "", 1, (2, 2)), [1, 1, 0, 0])
        np.testing.assert_allclose(gradient(x, True, "", 1, (2, 2)), [2, 2, 0, 0])
        np.testing.assert_allclose(gradient(x, True, "cube", 0, (4,)), 24 * x**2)


def test_a_value_that_comes_to_matter():
    def f(x, n):
        return np.sum(x * n) if x.ndim == 1 else np.sum(x, axis=n)[0]

    gradient = grad(f)
    for n in (0, 1, 2):
        np.testing.assert_allclose(repeated(gradient, X, n), np.full(3, float(n)))
    np.testing.assert_allclose(repeated(gradient, np.ones((2, 2)), 0), [[1, 0], [1, 0]])
    np.testing.assert_allclose(repeated(gradient, np.ones((2, 2)), 1), [[1, 1], [0, 0]])
    for n in (0, 1, 2):
        np.testing.assert_allclose(repeated(gradient, X, n), np.full(3, float(n)))


def test_shapes_and_dtypes():
    gradient = grad(lambda x, y: np.sum(x * y))
    for dtype in (np.float64, np.float32, np.float64):
        for shape in ((3,), (1,), (2, 3), (), (0,), (4,)):
            x, y = np.ones(shape, dtype), np.full(3 if shape in ((3,), (2, 3)) else (), 2, dtype)
            result = repeated(gradient, x, y)
            assert result.shape == shape
            assert result.dtype == dtype
            np.testing.assert_allclose(result, 2)


class Pair(NamedTuple):
    a: object
    b: object


@dataclass
class Weights:
    a: object
    b: object


def test_containers():
    def f(params, x):
        return np.sum(params["layers"][0] * params["scale"] * x)

    gradient = grad(f)
    for scale in (2.0, X, np.float64(3.0)):
        for _ in range(CALLS):
            result = gradient({"layers": [X, (X,)], "scale": scale}, X)
            np.testing.assert_allclose(result["layers"][0], scale * X)
            assert list(result) == ["layers", "scale"]
            result = gradient({"scale": scale, "layers": [X]}, X)
            assert list(result) == ["scale", "layers"]
            assert len(result["layers"]) == 1


@pytest.mark.parametrize("make", [Pair, Weights])
def test_records(make):
    gradient = grad(lambda w, x: np.sum(w.a * x) * w.b)
    for b in (2.0, 3.0):
        for _ in range(CALLS):
            result = gradient(make(X, b), X)
            np.testing.assert_allclose(result.a, b * X)
            assert result.b == 14.0
    record = Weights(X, 1.0)
    record.c = "more"
    np.testing.assert_allclose(gradient(record, X).a, X)
    np.testing.assert_allclose(gradient(Pair(X, 4.0), X).a, 4 * X)


def test_a_key_equal_to_another():
    gradient = grad(lambda p: p[1] * 3 if type(next(iter(p))) is int else p[1] * 5)
    for _ in range(CALLS):
        assert gradient({1: 2.0}) == {1: 3.0}
        assert gradient({True: 2.0}) == {True: 5.0}


def test_outer_values():
    weights, power, flag = X, 2, True

    def f(x):
        return np.sum(weights * x**power) if flag else np.sum(x)

    gradient = grad(f)
    for _ in range(CALLS):
        weights, power, flag = X, 2, True
        np.testing.assert_allclose(gradient(X), 2 * X * X)
        power = 3
        np.testing.assert_allclose(gradient(X), 3 * X * X**2)
        weights = 2.0
        np.testing.assert_allclose(gradient(X), 6 * X**2)
        weights = np.ones((2, 3))
        np.testing.assert_allclose(gradient(X), 6 * X**2)
        flag = False
        np.testing.assert_allclose(gradient(X), np.ones(3))


def test_memory_mapped_arrays(tmp_path):
    gradient = grad(lambda x: np.sum(x * x))
    mapped = np.memmap(tmp_path / "x", np.float64, "w+", shape=3)
    mapped[:] = X
    for x in (X, mapped, X, mapped):
        np.testing.assert_allclose(repeated(gradient, x), 2 * X)


def test_methods():
    class Model:
        def __init__(self, w):
            self.w = w

        @grad
        def loss(self, x):
            return np.sum(self.w * x)

    for w in (X, 2 * X):
        np.testing.assert_allclose(Model(w).loss(X).w, X)
    for w in (2.0, 3.0):
        assert Model(w).loss(X).w == 6.0
    bound = grad(Model(X).loss.__func__.primal, argnums="x")
    np.testing.assert_allclose(repeated(bound, Model(2 * X), X), 2 * X)


def test_wrong_arguments():
    gradient = grad(lambda x, y: x * y)
    repeated(gradient, 1.0, 2.0)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        gradient(1.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        gradient(1.0, 2.0, z=3.0)
    nested = [1.0]
    nested.append(nested)
    with pytest.raises(TypeError, match="'y' is nested too deeply, or holds itself"):
        gradient(1.0, nested)
    assert gradient(1.0, y=2.0) == 2.0


def test_refusals_stay_refusals():
    def f(x, how):
        return np.sum(x) if how is None else exec("x")

    gradient = grad(f)
    repeated(gradient, X, None)
    for _ in range(CALLS):
        with pytest.raises(UnsupportedError, match="exec"):
            gradient(X, 1)
        np.testing.assert_allclose(gradient(X, None), np.ones(3))


def test_code_replaced():
    def f(x):
        return x * x

    def g(x):
        return x * x * x

    gradient = grad(f)
    assert repeated(gradient, 2.0) == 4.0
    f.__code__ = g.__code__
    assert repeated(gradient, 2.0) == 12.0


def test_a_call_that_was_kept_follows_the_code():
    def f(x):
        return np.sum(x * x)

    def other(x):
        return np.sum(x**3)

    gradient, code = grad(f), f.__code__
    repeated(gradient, X)
    call = gradient.__call__
    f.__code__ = other.__code__
    np.testing.assert_allclose(call(X[:2]), 3 * X[:2] ** 2)
    f.__code__ = code
    np.testing.assert_allclose(call(X[:2]), 2 * X[:2])


def test_defaults_replaced():
    def f(x, scale=2.0, *, power=2):
        return scale * np.sum(x**power)

    gradient = grad(f)
    np.testing.assert_array_equal(repeated(gradient, X), 4 * X)
    f.__defaults__ = (5.0,)
    np.testing.assert_array_equal(repeated(gradient, X), 10 * X)
    f.__kwdefaults__ = {"power": 3}
    np.testing.assert_array_equal(repeated(gradient, X), 15 * X**2)
    f.__kwdefaults__["power"] = 2
    np.testing.assert_array_equal(repeated(gradient, X), 10 * X)
    np.testing.assert_array_equal(repeated(gradient, X, power=3), 15 * X**2)


def test_source_is_that_of_the_latest_call():
    gradient = grad(lambda x: np.sum(x * x))
    number, array = 2.0, X
    repeated(gradient, number)
    repeated(gradient, array)
    gradient(number)
    short = gradient.source
    gradient(array)
    assert gradient.source != short
    gradient(number)
    assert gradient.source == short


def test_a_gradient_goes_when_it_is_dropped():
    class Held:
        pass

    held = Held()

    def f(x, _=held):
        return x * x

    gradient = grad(f)
    repeated(gradient, 2.0)
    dropped = weakref.ref(gradient)
    gc.disable()
    try:
        del gradient
        assert dropped() is None
    finally:
        gc.enable()


def test_a_name_that_stood_for_a_number_that_had_to_be_known_is_an_array_later():
    def with_rest(f, *rest):
        return grad(lambda x: f(x, *rest))

    def counted(x, n):
        kept = None
        for _ in range(n):
            kept = (x, x) if kept is None else (kept[1], kept[0] * x)
        return np.sum(kept[0])

    def weighted(x, w):
        total = np.sum(x * w[np.array([2, 1, 0])])
        total += np.sum(w[w > 1] * 2)
        return total

    np.testing.assert_allclose(with_rest(counted, 3)(X), 2 * X)
    w = np.array([1.0, 10.0, 100.0])
    gradient = with_rest(weighted, w)
    np.testing.assert_allclose(gradient(X), [100.0, 10.0, 1.0])
    w[:] = 5.0
    np.testing.assert_allclose(gradient(X), [5.0, 5.0, 5.0])


def constants():
    """Functions with an argument that is a constant to the compiler, and values of it in turn."""

    def cut(x, s):
        return np.sum(x[s] ** 2)

    def cut_by_item(x, pair):
        return np.sum(x[pair[0]] ** 2)

    def bounds(x, r):
        return np.sum(x) * r.stop + r.start

    def first(x, numbers):
        return np.sum(x * x) * numbers[0]

    def named(x, table):
        return np.sum(x * x) * table["a"]

    slices = [slice(0, 2), slice(1, 3), slice(None, None, -2), slice(np.int64(1), None), slice(1)]
    yield cut, slices
    yield cut_by_item, [(s,) for s in slices]
    yield cut_by_item, [[s] for s in slices]
    yield bounds, [range(5, 5), range(0), range(0, 3, 2), range(0, 4, 2)]
    yield first, [bytearray(b"ab"), bytearray(b"cb"), bytearray(b"cb"[:1])]
    yield first, [array.array("d", [2.0]), array.array("d", [5.0]), array.array("i", [2])]
    yield named, [types.MappingProxyType({"a": v}) for v in (2, 3, 3.5, True)]


@pytest.mark.parametrize("f, values", list(constants()))
def test_constants_are_told_apart_by_all_that_is_in_them(f, values):
    gradient = value_and_grad(f)
    for _ in range(CALLS):
        for value in values:
            np.testing.assert_equal(gradient(X, value), value_and_grad(copied(f))(X, value))
            assert gradient(X, value)[0] == f(X, value)


def copied(f):
    """A function that shares no compiled gradients with another one."""
    return types.FunctionType(f.__code__.replace(), dict(f.__globals__), f.__name__)


def test_a_constant_that_is_written_between_calls():
    def f(x, numbers):
        return np.sum(x * x) * numbers[0]

    gradient, numbers = grad(f), bytearray(b"ab")
    for first in (1, 1, 2, 3, 3):
        numbers[0] = first
        np.testing.assert_array_equal(gradient(X, numbers), 2 * X * first)


class Base:
    def scale(self, x):
        return x * 2.0


class Derived(Base):
    def scale(self, x):
        return super().scale(x) + x

    def __call__(self, x):
        return x * 3.0


def thing_asked_for(x):
    return np.sum(x) * (5.0 if hasattr(THING, "added") else 3.0)


def thing_or_default(x):
    return np.sum(x) * getattr(THING, "added", 4.0)


def thing_tried(x):
    try:
        return np.sum(x) * THING.added
    except AttributeError:
        return np.sum(x)


def class_asked_for(x):
    return np.sum(x) * (5.0 if hasattr(Derived, "added") else 3.0)


def own_object_asked_for(x):
    made = Derived()
    made.own = 2.0
    return np.sum(made.own * x) * getattr(made, "added", 3.0)


def own_object_tried(x):
    made = Derived()
    made.own = 2.0
    try:
        return np.sum(made.own * x) * made.added
    except AttributeError:
        return np.sum(x)


THING = Derived()
ASKED = [
    thing_asked_for,
    thing_or_default,
    thing_tried,
    class_asked_for,
    own_object_asked_for,
    own_object_tried,
]


@pytest.mark.parametrize("f", ASKED)
def test_attributes_of_classes_that_come_and_go(f, monkeypatch):
    gradient = grad(f)

    def check():
        slope = f(np.array([1.0, 0.0, 0.0])) - f(np.zeros(3))
        np.testing.assert_allclose(repeated(gradient, X), np.full(3, slope))

    check()
    for owner, value in ((Base, 7.0), (Derived, 8.0)):
        with monkeypatch.context() as patch:
            patch.setattr(owner, "added", value, raising=False)
            check()
        check()


def test_attributes_of_modules_that_come_and_go():
    module = types.ModuleType("module")

    def f(x):
        return np.sum(x) * (5.0 if hasattr(module, "added") else getattr(module, "other", 3.0))

    gradient = grad(f)
    np.testing.assert_array_equal(repeated(gradient, X), np.full(3, 3.0))
    module.other = 4.0
    np.testing.assert_array_equal(repeated(gradient, X), np.full(3, 4.0))
    module.added = True
    np.testing.assert_array_equal(repeated(gradient, X), np.full(3, 5.0))
    del module.added, module.other
    np.testing.assert_array_equal(repeated(gradient, X), np.full(3, 3.0))


def test_methods_of_classes_that_are_replaced(monkeypatch):
    called, inherited = grad(lambda x: np.sum(THING(x))), grad(lambda x: np.sum(THING.scale(x)))
    np.testing.assert_array_equal(repeated(called, X), np.full(3, 3.0))
    np.testing.assert_array_equal(repeated(inherited, X), np.full(3, 3.0))
    monkeypatch.setattr(Derived, "__call__", lambda self, x: x * 11.0)
    monkeypatch.setattr(Base, "scale", lambda self, x: x * 6.0)
    np.testing.assert_array_equal(repeated(called, X), np.full(3, 11.0))
    np.testing.assert_array_equal(repeated(inherited, X), np.full(3, 7.0))


def test_keywords_of_a_partial_function_that_are_replaced():
    bound = functools.partial(lambda x, k, ks: x * k * ks[0], k=2, ks=[3])
    gradient = grad(lambda x: np.sum(bound(x)))
    np.testing.assert_array_equal(repeated(gradient, X), np.full(3, 6.0))
    bound.keywords["k"] = 5
    np.testing.assert_array_equal(repeated(gradient, X), np.full(3, 15.0))
    bound.keywords["ks"][0] = 2
    np.testing.assert_array_equal(repeated(gradient, X), np.full(3, 10.0))
    bound.keywords["k"] = 0.5
    np.testing.assert_array_equal(repeated(gradient, X), np.full(3, 1.0))


class Slots:
    __slots__ = ("a", "b")


def test_a_slot_that_nothing_was_put_into():
    def f(x, thing):
        return np.sum(x) * thing.a * getattr(thing, "b", 3) * (2 if hasattr(thing, "b") else 1)

    gradient, thing = grad(f), Slots()
    thing.a = 2.0
    for _ in range(2):
        np.testing.assert_array_equal(repeated(gradient, X, thing), np.full(3, 6.0))
        thing.b = 5
        np.testing.assert_array_equal(repeated(gradient, X, thing), np.full(3, 20.0))
        del thing.b


def tripled(v):
    return 3.0 * np.sum(v)


FAKE = types.SimpleNamespace(sum=tripled)
OTHER = types.ModuleType("other")
OTHER.sum = tripled
library = np


def of_a_library(x):
    return library.sum(x * x)


def of_a_builtin(x):
    return abs(x) * x


def by_a_function(x):
    return of_a_library(x) + of_a_builtin(x[0])


@pytest.mark.parametrize("other", [FAKE, OTHER])
def test_a_name_of_a_module_that_stands_for_another(monkeypatch, other):
    """The compiled gradients of closures with one code are shared."""

    def with_(library):
        return grad(lambda x: library.sum(x * x))

    gradient, callers = grad(of_a_library), grad(by_a_function)
    for now in (np, other, np, other):
        monkeypatch.setitem(globals(), "library", now)
        for _ in range(CALLS):
            expected = (2.0 if now is np else 6.0) * X
            np.testing.assert_allclose(gradient(X), expected)
            np.testing.assert_allclose(with_(now)(X), expected)
            np.testing.assert_allclose(callers(X), expected + np.array([2.0, 0.0, 0.0]))
    monkeypatch.delitem(globals(), "library")
    for _ in range(CALLS):
        with pytest.raises(UnsupportedError, match="name 'library' is not defined"):
            gradient(X)


def test_a_builtin_that_a_global_hides_for_a_while(monkeypatch):
    gradient, callers = grad(of_a_builtin), grad(by_a_function)
    for _ in range(2):
        assert [gradient(-3.0) for _ in range(CALLS)] == [6.0] * CALLS
        assert [callers(X)[0] for _ in range(CALLS)] == [4.0] * CALLS
        monkeypatch.setitem(globals(), "abs", lambda v: v * v)
        assert [gradient(-3.0) for _ in range(CALLS)] == [27.0] * CALLS
        assert [callers(X)[0] for _ in range(CALLS)] == [5.0] * CALLS
        monkeypatch.delitem(globals(), "abs")


def test_shapes_of_one_function_with_a_function_in_some(monkeypatch):
    """What one shape depends on isn't what another does."""

    def f(x):
        return np.sum(x * x) if x.ndim == 1 else of_a_library(x)

    gradient, square = grad(f), np.ones((2, 2))
    for now in (np, OTHER, np):
        monkeypatch.setitem(globals(), "library", now)
        for _ in range(CALLS):
            np.testing.assert_allclose(gradient(X), 2.0 * X)
            np.testing.assert_allclose(gradient(square), (2.0 if now is np else 6.0) * square)
