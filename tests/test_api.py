"""What users call, with what arguments, and what they get back or are told."""

import collections
import dataclasses
import functools
import inspect
import linecache
import math
import threading
import traceback
import warnings

import numpy as np
import pytest
import scipy.sparse

import srcgrad
from srcgrad import InternalError, UnsupportedError, grad, value_and_grad, vjp
from srcgrad.testing import check_grads

X = np.array([1.0, 2.0, 3.0])
SCALE = 2.0
TABLE = {"a": np.ones(3), "b": 2.0}
ITEMS = [np.ones(3)]


def same(found, expected):
    assert type(found) is type(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    if isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape


def product(x, y, z=3.0):
    """Multiply."""
    return np.sum(x * y) * z


# argnums


@pytest.mark.parametrize(
    ("argnums", "expected"),
    [
        (0, 6 * X), (1, 3 * X), (-2, 3 * X), ("y", 3 * X), ((0,), (6 * X,)),
        ((1, 0), (3 * X, 6 * X)), (np.int64(1), 3 * X),
        (("y", 0), (3 * X, 6 * X)), ([0, "y"], (6 * X, 3 * X)),
    ],
)  # fmt: skip
def test_argnums(argnums, expected):
    found = grad(product, argnums)(X, 2 * X)
    if isinstance(expected, tuple):
        assert type(found) is tuple
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    else:
        same(found, expected)


def test_a_default_and_a_keyword_can_be_differentiated():
    assert grad(product, "z")(X, X) == 14.0
    assert grad(product, "z")(X, y=X, z=1.0) == 14.0
    same(grad(product)(y=X, x=X), 3 * X)


def variadic(x, *rest, **named):
    total = np.sum(x)
    for r in rest:
        total = total * np.sum(r)
    for v in named.values():
        total = total + np.sum(v * v)
    return total


def test_argnums_in_variable_arguments():
    g = grad(variadic, (0, 2, "k"))
    d_x, d_2, d_k = g(X, 2.0, X, k=X)
    same(d_x, np.full(3, 12.0))
    same(d_2, np.full(3, 12.0))
    same(d_k, 2 * X)
    same(grad(variadic, -1)(X, X), np.full(3, 6.0))
    same(grad(variadic, -2)(X, X), np.full(3, 6.0))


@pytest.mark.parametrize(
    ("argnums", "error", "words"),
    [
        (3, ValueError, "argnums=3 is out of range: product takes 3 positional arguments"),
        (-4, ValueError, "argnums=-4 is out of range"),
        ("w", ValueError, "argnums='w': product has no parameter of that name, only x, y, z"),
        ((0, "x"), ValueError, r"argnums=\(0, 'x'\) names an argument twice"),
        ((), ValueError, "argnums is empty"),
        (True, TypeError, "argnums must be an int, a name or a tuple of them, not True"),
        (1.0, TypeError, "argnums must be an int, a name or a tuple of them, not 1.0"),
    ],
)
def test_wrong_argnums(argnums, error, words):
    with pytest.raises(error, match=words):
        grad(product, argnums)


def test_argnums_of_parameters_without_a_position():
    def f(*, x):
        return x * x

    with pytest.raises(ValueError, match="takes 0 positional arguments; name the others"):
        grad(f)
    assert grad(f, "x")(x=3.0) == 6.0


def test_argnums_that_the_call_does_not_have():
    with pytest.raises(TypeError, match="argnums='k', but variadic was called without k"):
        grad(variadic, "k")(X)
    words = r"argnums names rest\[1\], but variadic was called with 1 argument for \*rest"
    with pytest.raises(TypeError, match=words):
        grad(variadic, 2)(X, X)
    words = "argnums=-3 is out of range: variadic was called with 2 positional arguments"
    with pytest.raises(ValueError, match=words):
        grad(variadic, -3)(X, X)


# What can be differentiated


class Model:
    rate = 0.5

    def __init__(self, w):
        self.w = w

    def loss(self, x):
        return np.sum(self.w * x * x) * self.rate

    @grad(argnums=1)
    def d_loss(self, x):
        return np.sum(self.w * x * x)

    @grad
    def d_self(self, x):
        return np.sum(self.w * x * x)

    @staticmethod
    @grad
    def static(x):
        return np.sum(x * x)

    @classmethod
    def of_class(cls, x):
        return cls.rate * np.sum(x * x)

    def __call__(self, x):
        return np.sum(self.w * x * x)


def test_methods():
    model = Model(np.ones(3))
    same(grad(model.loss)(X), X)
    same(model.d_loss(X), 2 * X)
    same(Model.d_loss(model, X), 2 * X)
    same(Model.static(X), 2 * X)
    same(grad(Model.of_class)(X), X)
    same(grad(Model.loss, 1)(model, X), X)
    d_model = model.d_self(X)
    assert type(d_model) is Model
    same(d_model.w, X * X)


def test_attributes_of_the_object_are_read_when_called():
    model = Model(np.ones(3))
    of_method, of_object = grad(model.loss), grad(model)
    same(of_method(X), X)
    same(of_object(X), 2 * X)
    model.w = 3 * np.ones(3)
    same(of_method(X), 3 * X)
    same(of_object(X), 6 * X)
    model.w = 3.0
    same(of_object(X), 6 * X)


def test_numpy_and_math_functions():
    assert grad(np.sin)(0.5) == math.cos(0.5)
    assert grad(math.sin)(0.5) == math.cos(0.5)
    same(grad(np.linalg.norm)(np.array([3.0, 4.0])), np.array([0.6, 0.8]))


def test_partials():
    same(grad(functools.partial(product, X))(X), 3 * X)
    same(grad(functools.partial(product, z=1.0))(X, X), X)
    same(grad(functools.partial(functools.partial(product, X), z=1.0))(X), X)
    same(grad(functools.partial(Model(np.ones(3)).loss))(X), X)


def test_a_wrapped_function_is_the_wrapper():
    @functools.wraps(product)
    def doubled(x, y):
        return 2 * product(x, y)

    same(grad(doubled)(X, X), 6 * X)


def test_a_function_without_source():
    namespace = {"np": np}
    text = "def square(x):\n    return np.sum(x * x)\n"
    exec(text, namespace)
    with pytest.raises(UnsupportedError, match=r"^cannot find the source of square"):
        grad(namespace["square"])(X)
    same(grad(namespace["square"], source=text)(X), 2 * X)
    with pytest.raises(srcgrad.SourceError, match="holds no function"):
        grad(eval("lambda x: x"), source="x = 1")(2.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: grad(3), "grad needs a function, not an int"),
        (lambda: value_and_grad(Model), "value_and_grad needs a function, not the class Model"),
        (lambda: grad(staticmethod(product)), "put @staticmethod above @grad, not below it"),
        (lambda: grad(product, source=3), "source must be the text of the function, not an int"),
    ],
)
def test_what_cannot_be_differentiated(make, words):
    with pytest.raises(TypeError, match=words):
        make()


# Nesting

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass(frozen=True)
class Layer:
    w: np.ndarray
    b: float
    name: str = "layer"


def test_gradients_have_the_nesting_of_the_argument():
    def f(p):
        layer = p["layers"][0]
        return np.sum(layer.w * p["point"].x) + layer.b * p["point"].y + p["pair"][1] ** 2

    p = {"layers": [Layer(X, 2.0)], "point": Point(X, 3.0), "pair": (1.0, 4.0)}
    d = grad(f)(p)
    assert list(d) == ["layers", "point", "pair"]
    assert type(d["layers"]) is list
    (layer,) = d["layers"]
    assert type(layer) is Layer
    same(layer.w, X)
    assert (layer.b, layer.name) == (3.0, "layer")
    assert type(d["point"]) is Point
    same(d["point"].x, X)
    assert d["point"].y == 2.0
    assert d["pair"] == (0.0, 8.0)


def test_aux_may_be_anything():
    def f(x):
        return np.sum(x), {"name": "s", "n": 3, "parts": [x * 2, (1.0, None)]}

    gradient, aux = grad(f, has_aux=True)(X)
    same(gradient, np.ones(3))
    assert (aux["name"], aux["n"], aux["parts"][1]) == ("s", 3, (1.0, None))
    same(aux["parts"][0], 2 * X)
    (value, aux), gradient = value_and_grad(f, has_aux=True)(X)
    assert (value, aux["n"]) == (6.0, 3)
    with pytest.raises(TypeError, match=r"with has_aux=True product must return a pair"):
        grad(product, has_aux=True)(X, X)


# dtype, shape and memory


@pytest.mark.parametrize(
    "x",
    [
        2.0, np.float32(2), np.float64(2), np.array(2.0), np.array(2, np.float32),
        np.zeros((0, 3)), np.ones(3, np.float32), np.asfortranarray(np.ones((2, 3))),
        np.ones((4, 6))[::2, ::-3], np.ones(2, np.complex64), np.float16(2), 2j,
    ],
    ids=repr,
)  # fmt: skip
def test_a_gradient_is_like_its_argument(x):
    d = grad(lambda x: np.sum(np.abs(x) ** 2))(x)
    if isinstance(x, (np.ndarray, np.generic)):
        assert type(d) is type(x)
        assert d.dtype == x.dtype
        assert d.shape == x.shape
    else:
        assert isinstance(d, type(x))
    np.testing.assert_allclose(d, 2 * np.conj(x), rtol=1e-3)


def test_an_argument_that_is_not_used():
    same(grad(lambda x: 1.0)(np.ones(2, np.float32)), np.zeros(2, np.float32))
    assert grad(lambda x: 1.0)(2.0) == 0.0
    assert type(grad(lambda x: 1.0)(2j)) is complex


def test_read_only_and_memory_mapped_arrays(tmp_path):
    fixed = X.copy()
    fixed.flags.writeable = False
    same(grad(lambda x: np.sum(x * x))(fixed), 2 * X)
    mapped = np.memmap(tmp_path / "x", np.float64, "w+", shape=3)
    mapped[:] = X
    same(grad(lambda x: np.sum(x * x))(mapped), 2 * X)


class WithArray:
    """What pandas calls a Series, to those that know of nothing but NumPy."""

    def __array__(self, dtype=None, copy=None):
        return X


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (np.zeros(1, [("a", [("b", float)])]), "'x' is a structured array"),
        (np.ma.array([1.0]), "'x' is a numpy.MaskedArray"),
        (np.array([1.0], object), "'x' is an array of Python objects"),
        (np.array([1, 2]), "'x' can't be differentiated: it is an array of dtype int64"),
        (np.int64(3), "'x' can't be differentiated: it is a number of dtype int64"),
        (3, "'x' can't be differentiated: it is an int, not a float; pass float"),
        (True, "'x' can't be differentiated: it is a bool, not a float"),
        ("a", "'x' can't be differentiated: it is a str, not a float or an array of floats"),
        (None, "'x' can't be differentiated: it is a NoneType"),
        ([1.0, 2], r"'x' can't be differentiated: x\[1\] is an int"),
        ([1.0, "a"], r"x\[1\] is a str, .*; make it an argument of its own"),
        ([], "'x' can't be differentiated: it is a list without numbers in it"),
        (WithArray(), "it is a WithArray; pass an array: np.asarray"),
        (scipy.sparse.eye_array(2), "it is a dia_array; pass its .data"),
    ],
)
def test_arguments_without_a_derivative(x, words):
    with pytest.raises(TypeError, match=words):
        grad(lambda x: 1.0)(x)


def test_an_array_of_one_number_will_do():
    def squares(w):
        column = np.arange(6.0).reshape(3, 2) @ w.reshape(-1, 1)
        return column.T @ column

    w = np.array([1.0, 2.0])
    value, d_w = value_and_grad(squares)(w)
    same(value, np.array([[264.0]]))
    same(d_w, np.array([144.0, 192.0]))
    same(srcgrad.hessian(squares)(w), np.array([[40.0, 52.0], [52.0, 70.0]]))
    same(grad(lambda w: np.sum(grad(squares)(w) * w))(w), np.array([288.0, 384.0]))
    with pytest.raises(TypeError, match="returns an array of 2 dimensions"):
        grad(lambda w: w.reshape(1, -1))(w)


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: x * X, "returns an array of 1 dimension; return its sum, or use jacobian"),
        (lambda x: None, "grad needs a function that returns a number, but .* returns None"),
        (lambda x: "a", "returns a number, but function returns a str"),
        (lambda x: f"{x:.3f}", "returns a number, but function returns a str"),
        (lambda x: [x, x], "returns a number, but function returns a list"),
        (lambda x: {"a": x}, "returns a number, but function returns a dict"),
        (lambda x: (v for v in [x]), "returns a number, but function returns a generator"),
        (lambda x: lambda: x, "returns a number, but function returns a function"),
        (lambda x: (x, x), "returns a number, but function returns a tuple; use has_aux=True"),
        (lambda x: 1j * x, "a real result, but function returns a complex number"),
        (lambda x: int(x), "returns a float, but function returns int64"),
    ],
)
def test_results_that_are_no_number(f, words):
    with pytest.raises(TypeError, match=words):
        grad(f)(2.0)


def test_wrong_number_of_arguments():
    with pytest.raises(TypeError, match=r"product\(\) missing a required argument: 'y'"):
        grad(product)(X)
    with pytest.raises(TypeError, match=r"product\(\) got an unexpected keyword argument 'q'"):
        grad(product)(X, X, q=1)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: np.sum(x * y),
        lambda x, y: np.sum(x + y),
        lambda x, y: np.sum(x.T + y.T),
        lambda x, y: np.sum(np.stack([x, y])),
        lambda x, y: np.sum(x) + np.sum(y),
    ],
)
def test_gradients_are_memory_of_their_own(f):
    x, y = X.copy(), X.copy()
    a, b = grad(f, (0, 1))(x, y)
    for array in (a, b):
        assert array.flags.writeable
        assert not any(np.shares_memory(array, other) for other in (x, y))
    assert not np.shares_memory(a, b)


# vjp


def test_vjp_of_nested_results():
    out, pullback = vjp(lambda x, y: (x * y, {"s": np.tanh(x), "n": 3}), X, 2.0)
    same(out[0], 2 * X)
    for _ in range(2):
        d_x, d_y = pullback((np.ones(3), {"s": np.zeros(3), "n": None}))
        same(d_x, np.full(3, 2.0))
        assert d_y == 6.0


def test_a_pullback_keeps_what_it_needs():
    def f(x):
        y = np.zeros(3)
        for i in range(3):
            y[i] = x[i] ** 2
        return y

    x = X.copy()
    out, pullback = vjp(f, x)
    x[:] = 0
    out[:] = 0
    first = pullback(np.ones(3))[0]
    same(first, 2 * X)
    first[:] = 0
    same(pullback(np.ones(3))[0], 2 * X)
    assert "def pullback_f(" in pullback.source


def test_a_pullback_returns_memory_of_its_own():
    # the adjoint of w is in a list that the pullback empties
    def f(w, n):
        for _ in range(n):
            w = 1.5 - w / (1.5 + w * w)
        w[1:] = 1.0 * w[1:]
        return np.sum(w * 2.0)

    expected = grad(f)(X, 3)
    _, pullback = vjp(lambda w: f(w, 3), X)
    first = pullback(1.0)[0]
    same(first, expected)
    same(pullback(2.0)[0], 2 * expected)
    same(first, expected)


def test_a_pullback_keeps_arrays_that_cannot_be_written():
    def f(x):
        for _ in range(2):
            x = np.diag(np.outer(x, x))
        return np.sum(x), x

    _, pullback = vjp(f, X)
    for _ in range(2):
        same(pullback((1.0, X))[0], (1.0 + X) * 4 * X**3)


def test_the_forward_sweep_of_a_pullback_has_no_cotangent():
    # that of a mean is written as a sum divided by a length, of an array that is at hand
    def f(x, w):
        for i in range(2):
            w = np.outer(w[:, i], np.concatenate([x[:-1], x[:1]]))
        return x - w.mean(axis=0), w

    out, pullback = vjp(f, X, np.ones((2, 3)))
    t_out = srcgrad.jvp(f, (X, np.ones((2, 3))), (np.ones(3), np.zeros((2, 3))))[1]
    d_x, _ = pullback(out)
    same(np.sum(d_x), sum(np.sum(a * b) for a, b in zip(out, t_out, strict=True)))


def test_vjp_runs_the_function_once(capsys):
    def f(x):
        print("running")
        return np.log(x)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        _, pullback = vjp(f, np.array([0.0, 1.0]))
        assert capsys.readouterr().out == "running\n"
        assert [str(w.message) for w in seen] == ["divide by zero encountered in log"]
    with np.errstate(all="ignore"):
        pullback(np.ones(2))
    assert capsys.readouterr().out == ""


def test_vjp_with_aux_and_with_an_integer():
    out, pullback, aux = vjp(lambda x, n: (x**n, "aux"), X, 2, has_aux=True)
    same(out, X**2)
    assert aux == "aux"
    d_x, d_n = pullback(np.ones(3))
    same(d_x, 2 * X)
    assert d_n is None


def test_sets_that_are_returned_are_sets():
    def f(x, names):
        return x * len(names), {"a", "b"}, frozenset({(1, 2)}), set(), names

    given = {"s", "t"}
    out, pullback = vjp(f, 1.5, given)
    assert out == (3.0, {"a", "b"}, frozenset({(1, 2)}), set(), given)
    assert [type(v) for v in out[1:]] == [set, frozenset, set, set]
    assert pullback((1.0, None, None, None, None))[0] == 2.0
    assert srcgrad.jvp(f, (1.5, given), (1.0, None))[1] == (2.0, None, None, None, None)
    assert grad(lambda x: (2 * x, {1.5, 2}), has_aux=True)(1.5) == (2.0, {1.5, 2})


@pytest.mark.parametrize(
    ("d_out", "error", "words"),
    [
        (np.ones(3), TypeError, "the cotangent must be a tuple like the result, not a ndarray"),
        ((np.ones(3),), ValueError, "the cotangent must have 2 items like the result, not 1"),
        ((np.ones(2), {"s": 1.0}), ValueError, r"cotangent\[0\] must have the shape \(3,\)"),
        ((X, {"t": 1.0}), ValueError, r"cotangent\[1\] must have the keys \['s'\], not \['t'\]"),
        ((X, {"s": "a"}), TypeError, r"cotangent\[1\]\['s'\] must be an array or a number"),
        ((X, {"s": 1j}), TypeError, r"cotangent\[1\]\['s'\] is complex, but the result is real"),
    ],
)
def test_wrong_cotangents(d_out, error, words):
    _, pullback = vjp(lambda x: (2 * x, {"s": np.sum(x)}), X)
    with pytest.raises(error, match=words):
        pullback(d_out)


# What the function uses


def test_outer_values_are_read_when_called(monkeypatch):
    g = grad(lambda x: np.sum(x * x) * SCALE)
    same(g(X), 4 * X)
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    same(g(X), 10 * X)
    monkeypatch.setitem(globals(), "SCALE", np.float32(2.0))
    same(g(X), 4 * X)
    monkeypatch.setitem(globals(), "SCALE", np.arange(3.0))
    with pytest.raises(TypeError, match="returns an array of 1 dimension"):
        g(X)
    assert len(g.sources) == 2


def test_an_outer_value_of_another_shape_is_noticed(monkeypatch):
    # the gradient doesn't read the value, but sums over the axes that it adds
    g = grad(lambda x: np.sum(x + SCALE))
    same(g(X), np.ones(3))
    monkeypatch.setitem(globals(), "SCALE", np.ones((2, 3)))
    same(g(X), np.full(3, 2.0))


def test_containers_and_their_length(monkeypatch):
    monkeypatch.setitem(globals(), "ITEMS", [np.ones(3)])

    def f(x):
        total = TABLE["b"] * np.sum(x * TABLE["a"])
        for item in ITEMS:
            total = total + np.sum(item * x)
        return total

    g = grad(f)
    same(g(X), np.full(3, 3.0))
    ITEMS.append(2 * np.ones(3))
    same(g(X), np.full(3, 5.0))
    monkeypatch.setitem(TABLE, "b", 0.0)
    same(g(X), np.full(3, 3.0))


def test_a_redefined_function_is_noticed():
    def helper(x):
        return x * x

    def f(x):
        return np.sum(helper(x))

    g = grad(f)
    same(g(X), 2 * X)

    def helper(x):  # noqa: F811
        return 3 * x

    same(g(X), np.full(3, 3.0))


def test_a_redefined_method_is_noticed():
    class Changing:
        def power(self, x):
            return x * x

    thing = Changing()
    g = grad(lambda x: np.sum(thing.power(x)))
    same(g(X), 2 * X)
    Changing.power = lambda self, x: 3 * x
    same(g(X), np.full(3, 3.0))


class Times:
    def __init__(self, factor=1.0):
        self.factor = factor

    def __call__(self, x):
        return self.factor * x


class Described:
    scale = 2.0
    element = np.positive
    times = Times()
    kind = Times

    @property
    def rate(self):
        return 2.0

    @classmethod
    def by_class(cls, x):
        return 3 * x

    @staticmethod
    def static(x):
        return 4 * x

    def plain(self, x):
        return 5 * x


class Derived(Described):
    pass


@pytest.mark.parametrize(
    "change",
    [
        lambda owner: setattr(owner, "rate", property(lambda self: 7.0)),
        lambda owner: setattr(owner, "by_class", classmethod(lambda cls, x: x * x)),
        lambda owner: setattr(owner, "static", staticmethod(lambda x: x * x)),
        lambda owner: setattr(owner, "plain", lambda self, x: x * x),
        lambda owner: setattr(owner, "scale", 7.0),
        lambda owner: setattr(owner, "element", np.square),
        lambda owner: setattr(owner, "element", staticmethod(np.sin)),
        lambda owner: setattr(owner, "times", Times(3.0)),
        lambda owner: setattr(owner, "times", np.sinh),
        lambda owner: setattr(owner, "kind", lambda *self: Times(5.0)),
    ],
)
@pytest.mark.parametrize("owner", [Described, Derived])
@pytest.mark.parametrize("make", [lambda thing: lambda: thing, lambda thing: type(thing)])
def test_what_a_class_defines_is_noticed_when_it_changes(change, owner, make, monkeypatch):
    thing = Derived()
    made = make(thing)

    def f(x):
        t = made()
        y = t.kind()(t.times(t.element(x)))
        return np.sum(t.plain(y) * t.by_class(x) * t.static(x)) * t.rate * t.scale

    for name in [n for n in vars(Described) if not n.startswith("__")]:
        monkeypatch.setattr(owner, name, Described.__dict__[name])  # undone afterwards
    g = grad(f)
    same(g(X), 60 * 2 * 2 * 3 * X**2)
    change(owner)
    step = 1e-6 * np.eye(3)
    assert np.allclose(g(X), [(f(X + e) - f(X - e)) / 2e-6 for e in step], rtol=1e-6)


def test_a_function_that_returns_nothing_on_a_branch():
    def f(x):
        if np.sum(x) > 2:
            return np.sum(x) ** 2

    for g in (grad(f), grad(lambda x: np.sum(grad(f)(x)))):
        assert g(X).shape == X.shape
        with pytest.raises(TypeError, match="returns a number, but it returned None"):
            g(np.zeros(3))


def test_a_method_that_an_object_overrides_is_noticed():
    thing = Derived()
    g = grad(lambda x: np.sum(thing.plain(x)))
    same(g(X), np.full(3, 5.0))
    thing.plain = lambda x: x * x
    same(g(X), 2 * X)
    del thing.plain
    same(g(X), np.full(3, 5.0))
    thing.__class__ = type("Other", (Described,), {"plain": lambda self, x: 6 * x})
    same(g(X), np.full(3, 6.0))


def test_defaults_that_change_are_noticed():
    def power(x, n=2, *, scale=1.0):
        return np.sum(x**n) * scale

    def calls(x):
        return power(x)

    own, outer = grad(power), grad(calls)
    for g in (own, outer):
        same(g(X), 2 * X)
    power.__defaults__ = (3,)
    for g in (own, outer):
        same(g(X), 3 * X**2)
    power.__defaults__ = (3.0,)
    power.__kwdefaults__["scale"] = 2.0
    for g in (own, outer):
        same(g(X), 6 * X**2)


def test_attributes_of_functions_and_outer_sets_are_read_when_called():
    numbers = {1, 2}

    def f(x):
        return np.sum(x) * f.scale * sum(numbers) * len(numbers) * (3 if 3 in numbers else 1)

    f.scale = 2.0
    g = grad(f)
    same(g(X), np.full(3, 12.0))
    f.scale = 3.0
    same(g(X), np.full(3, 18.0))
    numbers.add(3)
    same(g(X), np.full(3, 3.0 * 6 * 3 * 3))


def test_a_value_that_vanishes():
    a = 2.0

    def f(x):
        return np.sum(x) * a  # noqa: F821

    g = grad(f)
    same(g(X), np.full(3, 2.0))
    del a
    with pytest.raises(UnsupportedError, match="'a' has no value yet"):
        g(X)


def test_flags_are_part_of_the_signature():
    g = grad(lambda x, double, kind: np.sum(x * x) * (2.0 if double else 1.0)
             if kind == "square" else np.sum(x))  # fmt: skip
    same(g(X, True, "square"), 4 * X)
    same(g(X, False, "square"), 2 * X)
    same(g(X, 1, "square"), 4 * X)
    same(g(X, True, "sum"), np.ones(3))


def test_closures_of_one_code_share_what_is_compiled():
    def make(k):
        return grad(lambda x: np.sum(x) * k)

    first, second = make(2.0), make(3.0)
    same(first(X), np.full(3, 2.0))
    same(second(X), np.full(3, 3.0))
    assert first.sources == second.sources
    assert len(first.sources) == 1
    same(make(np.array(5.0))(X), np.full(3, 5.0))


def test_what_a_wrapped_function_needs_known_is_asked_of_no_other():
    def corner(x):
        a, b, *rest = x
        return a * b + sum(rest)

    def chain(x):
        s = 0.5
        for v in x:
            s = np.sin(s * v)
        return s

    def chained(x):
        return chain(x)

    def doubled(f):
        return grad(lambda x: 2.0 * f(x))

    same(doubled(corner)(X), 2.0 * np.array([X[1], X[0], 1.0]))
    for wrapped in (chain, chained, lambda x: chained(x), functools.partial(chain)):
        g = doubled(wrapped)
        g(X)
        assert "for i in range(n):" in g.source
        before = len(g.sources)
        assert g(np.ones(5)).shape == (5,)
        assert len(g.sources) == before


def test_sizes_share_a_gradient_and_ranks_do_not():
    g = grad(lambda x: np.sum(x * x))
    for n in (2, 3, 50):
        same(g(np.ones(n)), np.full(n, 2.0))
    assert len(g.sources) == 1
    g(np.ones((2, 2)))
    assert len(g.sources) == 2


def test_equal_and_unequal_shapes():
    g = grad(lambda x, y: np.sum(x * y), (0, 1))
    for shapes in [((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 1)), ((4, 3), (4, 1)), ((3, 3), (3,))]:
        x, y = (np.random.default_rng(0).random(s) for s in shapes)
        d_x, d_y = g(x, y)
        assert (d_x.shape, d_y.shape) == shapes
        np.testing.assert_allclose(np.sum(d_x * x), np.sum(x * y))
        np.testing.assert_allclose(np.sum(d_y * y), np.sum(x * y))


def test_many_threads():
    def f(x, n):
        for _ in range(n):
            x = x * x
        return np.sum(x)

    g = grad(f)
    errors = []
    barrier = threading.Barrier(8)

    def run(k):
        barrier.wait()
        try:
            for i in range(20):
                n, size = (i + k) % 3, 2 + (i * k) % 5
                x = np.full(size, 1.1)
                np.testing.assert_allclose(g(x, n), 2**n * x ** (2**n - 1))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


# Looking at a Gradient


def test_identity():
    g = grad(product)
    assert (g.__name__, g.__doc__, g.__module__) == ("product", "Multiply.", __name__)
    assert str(inspect.signature(g)) == "(x, y, z=3.0)"
    assert repr(g) == "<gradient of product>"
    assert repr(value_and_grad(product)) == "<value and gradient of product>"
    assert g.primal is product
    assert g.primal(X, X) == 42.0
    assert UnsupportedError.__module__ == "srcgrad"


def test_source_is_that_of_the_latest_signature():
    g = grad(lambda x: np.sum(np.sin(x)))
    assert g.source == ""
    assert g.sources == ()
    g(X)
    vector = g.source
    g(2.0)
    assert g.source != vector
    g(X)
    assert g.source == vector
    assert vector in g.sources
    assert len(g.sources) == 2


def test_a_traceback_shows_generated_lines():
    g = grad(lambda x, y: np.sum(np.ones(4).reshape(2, 2) @ x * np.sum(y)))
    g(np.ones(2), np.ones(3))
    linecache.checkcache()
    with pytest.raises(ValueError, match="matmul") as caught:
        g(np.ones(7), np.ones(3))
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert frame.filename.startswith("<srcgrad function ")
    assert "@ x" in frame.line


def test_a_bug_inside_is_reported_as_one(monkeypatch):
    from srcgrad import units

    def broken(*args):
        raise KeyError("inside")

    monkeypatch.setattr(units, "record", broken)
    with pytest.raises(InternalError, match=r"compiling function failed: KeyError\('inside'\)"):
        grad(lambda x: np.sum(x * x) + 1)(X)


def test_an_argument_that_holds_itself():
    x = [1.0]
    x.append(x)
    with pytest.raises(TypeError, match="'x' is nested too deeply, or holds itself"):
        grad(lambda x: x[0] * 1.0)(x)


def test_a_pullback_leaves_the_items_of_lists_as_they_were():
    def f(x, n):
        pair, several = [x, x * 2.0], []
        if x[0] > 0:
            several = pair * n
        total = sum(np.sum(u * v) for u, v in zip(several, pair, strict=False))
        return np.array([np.sum(np.array(several)), total])

    x = np.array([0.3, 0.4, -0.2])
    _, pullback = vjp(f, x, 3)
    for _ in range(2):
        same(pullback(np.array([1.0, 2.0]))[0], 9.0 + 2 * (2 * x + 8 * x))


def test_a_pullback_keeps_lists_that_are_in_two_places_one() -> None:
    def f(x):
        rows = []
        for i in range(3):
            row = [np.sin(x[i])]
            rows.append(row)
        return x[0] + row[0] ** 2

    x = np.array([0.3, 0.4, 0.5])
    _, pullback = vjp(f, x)
    for _ in range(2):
        assert np.allclose(pullback(1.0)[0], [1.0, 0.0, np.sin(1.0)])


def returns_what_it_writes(x):
    x[0] = x[1] ** 2
    return x


def returns_a_view_of_what_it_writes(x):
    tail = x[1:]
    tail *= x[0]
    return tail


def returns_it_in_containers(x):
    x *= x[::-1].copy()
    return {"all": x, "some": [x[0], (x,)]}


@pytest.mark.parametrize(
    "f", [returns_what_it_writes, returns_a_view_of_what_it_writes, returns_it_in_containers]
)
def test_an_argument_that_is_written_and_returned(f):
    check_grads(f, (X,), order=1)
    assert X.tolist() == [1.0, 2.0, 3.0]


def test_an_argument_that_is_written_and_returned_besides():
    def f(x):
        x *= 2
        return np.sum(x), x

    def g(x):
        slope, doubled = grad(f, has_aux=True)(x)
        return np.sum(slope * doubled * x)

    slope, doubled = grad(f, has_aux=True)(X)
    same(slope, np.full(3, 2.0))
    same(doubled, 2 * X)
    same(grad(g)(X), 8 * X)


def test_an_argument_without_axes_that_is_written_and_returned():
    def f(x):
        x[...] = 3 * x
        return x

    value, slope = value_and_grad(f)(np.array(0.5))
    assert (value, slope) == (1.5, 3.0)


def test_refusals_are_raised_without_the_frames_of_the_compiler():
    def refused(x):
        return eval("x")

    for function, argument in ((refused, 1.0), (refused, 1)):
        for derivative in (grad(function), value_and_grad(function)):
            with pytest.raises((srcgrad.UnsupportedError, TypeError)) as caught:
                derivative(argument)
            files = [f.filename for f in traceback.extract_tb(caught.value.__traceback__)]
            assert len(files) < 6
            assert caught.value.__suppress_context__


def test_what_may_be_an_array_in_the_end_must_be_a_number() -> None:
    def f(x):
        t = 1.0
        for _ in range(len(x)):
            t = t + 1.0 if x[0] > 0 else t * x
        return t

    for gradient in (grad(f), value_and_grad(f)):
        with pytest.raises(TypeError, match=r"it returned an array of shape \(3,\)"):
            gradient(-np.ones(3))
    assert np.all(grad(f)(np.ones(3)) == 0)


@pytest.mark.parametrize("key", [(slice(None), None), [slice(1, None), 0], (slice(0, 3, 2), ...)])
def test_slices_in_arguments(key):
    x = np.arange(6.0).reshape(3, 2)

    def f(x, settings):
        key = settings["key"]
        return x[key[0], key[1]] * settings["scale"], settings

    (out, seen), pullback = vjp(f, x, {"key": key, "scale": 2.0})
    np.testing.assert_array_equal(out, 2 * x[key[0], key[1]])
    assert seen == {"key": key, "scale": 2.0}
    nothing = type(key)([None, None])
    d_x, d_settings = pullback((np.ones_like(out), {"key": nothing, "scale": 0.0}))
    expected = np.zeros_like(x)
    expected[key[0], key[1]] = 2.0
    np.testing.assert_array_equal(d_x, expected)
    assert d_settings["scale"] == np.sum(x[key[0], key[1]])
    (_, seen), (tangent, _) = srcgrad.jvp(
        f, (x, {"key": key, "scale": 2.0}), (x, {"key": nothing, "scale": 1.0})
    )
    assert seen == {"key": key, "scale": 2.0}
    np.testing.assert_array_equal(tangent, 3 * x[key[0], key[1]])


def test_arange_by_its_step():
    assert grad(lambda step: np.sum(np.arange(4, step=step)))(0.5) == 28.0


@pytest.mark.parametrize("made", [np.polynomial.Polynomial, np.polynomial.Chebyshev, np.poly1d])
def test_objects_that_stand_for_those_of_packages_are_not_returned(made):
    with pytest.raises(UnsupportedError, match="this object of a package can't be returned"):
        vjp(lambda x: (x, made(x)), X)
    out, _ = vjp(lambda x: made(x)(0.5), X)
    assert out == made(X)(0.5)


def test_an_object_of_a_derived_class_is_returned():
    transform = pytest.importorskip("scipy.spatial.transform")
    out, _ = vjp(lambda x: (x, transform.Rotation.from_rotvec(x)), X)
    assert isinstance(out[1], transform.Rotation)
    same(out[1].as_matrix(), transform.Rotation.from_rotvec(X).as_matrix())
