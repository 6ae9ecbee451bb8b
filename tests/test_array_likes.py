"""What NumPy takes for an array: lists, tuples, numbers, arguments by name, random numbers."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pytest

from srcgrad import UnsupportedError, grad, jvp, value_and_grad, vjp

X = np.array([0.3, 0.7, 1.1])


def assert_right(f: Callable[..., Any], x: Any = X) -> None:
    """The gradient and the tangent of a function of one array, against central differences."""
    x = np.asarray(x)
    step, directions = 1e-6, np.eye(x.size).reshape(x.size, *x.shape)
    expected = [(f(x + step * d) - f(x - step * d)) / (2 * step) for d in directions]
    found = grad(f)(x)
    np.testing.assert_allclose(found.ravel(), expected, rtol=1e-6, atol=1e-7)
    tangent = jvp(f, (x,), (np.ones_like(x),))[1]
    np.testing.assert_allclose(tangent, np.sum(expected), rtol=1e-6, atol=1e-7)


LISTS = [
    lambda x: np.sum([x[0], x[1] * x[2]]),
    lambda x: np.mean((x[0] ** 2, x[1])),
    lambda x: np.std([v * v for v in x]),
    lambda x: np.linalg.norm([x[0], 2.0, x[1]]),
    lambda x: np.dot([1, 2, 3], x**2),
    lambda x: np.dot(x**2, (1, 2, 3)),
    lambda x: np.sum(np.multiply([x[0], 2], 2) ** 2),
    lambda x: np.sum(np.multiply(2, [x[0], x[1]]) ** 2),
    lambda x: np.sum(np.exp([x[0], 0])),
    lambda x: np.sum(np.square([x[0], x[1]])),
    lambda x: np.sum(np.power([1, 2, 3], x)),
    lambda x: np.sum(np.convolve(x, [1, 2, 1]) ** 2),
    lambda x: np.polyval([1, 2, 3], x[0]),
    lambda x: np.polyval([x[0], 2, x[1]], x[2]),
    lambda x: np.average(x**2, weights=[1, 2, 3]),
    lambda x: np.sum(np.linalg.solve([[2, 1, 0], [1, 3, 1], [0, 1, 4]], x) ** 2),
    lambda x: np.linalg.det([[x[0], 1.0], [x[1], x[2]]]),
    lambda x: np.trapezoid(x**2, [0, 1, 3]),
    lambda x: np.sum(np.max([x, x[::-1] ** 2], axis=0)),
    lambda x: np.sum(np.cumsum([v * x[0] for v in x]) ** 2),
    lambda x: np.sum(np.stack([[x[0], x[1]], x[:2] ** 2]) ** 2),
    lambda x: np.sum(np.vstack([x, [1, 2, 3]]) ** 2),
    lambda x: np.sum(np.append([1, 2], x) ** 2),
    lambda x: np.add.reduce([x[0] ** 2, x[1]]),
    lambda x: np.sum(((x[0], x[1]), (x[1], 2))) ** 2,
    lambda x: np.sum(np.clip(x, [0, 1, 0], [1, 2, 1])),
    lambda x: np.sum(np.array([x[0]] * 3) ** 2) + np.sum([x[1]] * 2),
    lambda x: np.sum((x**2 + range(len(x))) / x),
    lambda x: np.sum((range(3)[::-1] - x) ** 2 * range(1, 4)) + np.sum(np.sum(x) * range(len(x))),
    lambda x: np.sum(x[x > range(3)] ** 2) + np.sum(x[np.arange(3) != range(0, 6, 2)]),
    lambda x: np.sum(operator.iadd(x**2, range(3)) ** 2),
]


@pytest.mark.parametrize("f", LISTS)
def test_lists_and_tuples_stand_for_arrays(f: Callable[..., Any]) -> None:
    assert_right(f)


def test_a_list_made_in_a_loop_stands_for_an_array() -> None:
    def f(x: Any, n: int) -> Any:
        values = []
        for i in range(n):
            values.append(x[i] ** 2)
        return np.mean(values) * np.max(values)

    expected = [(f(X + d, 3) - f(X - d, 3)) / 2e-6 for d in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(grad(f)(X, 3), expected, rtol=1e-6)


def test_the_gradient_by_a_list_is_a_list() -> None:
    assert grad(lambda w: np.sum(np.square(w)))([1.0, 2.0]) == [2.0, 4.0]
    gradient = grad(lambda w: np.linalg.det(w))([[1.0, 2.0], [3.0, 5.0]])
    assert isinstance(gradient, list) and isinstance(gradient[0], list)
    np.testing.assert_allclose(gradient, [[5.0, -3.0], [-2.0, 1.0]])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.r_[x, 1.0, x[0] ** 2, 1:4, 0:1:3j, [1, 2]] * 2.0) ** 2,
        lambda x: np.sum(np.r_[0, x**2]),
        lambda x: np.sum(np.c_[x, x**2] * [1, 2]),
        lambda x: np.sum(np.c_[np.outer(x, x), x] ** 2),
    ],
)
def test_r_and_c(f: Callable[..., Any]) -> None:
    assert_right(f)


def test_dtypes_as_functions() -> None:
    assert grad(lambda x: np.float64(x) ** 2)(3.0) == 6.0
    assert_right(lambda x: np.sum(np.float64(x) ** 2 * np.int64(x + 5) * np.complex128(2).real))
    single = grad(lambda x: np.sum(np.float64(x) ** 2))(np.ones(2, np.float32))
    assert single.dtype == np.float32 and single.tolist() == [2, 2]
    assert grad(lambda x: np.float32(x) * 2)(3.0) == 2.0


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.tile(A=x, reps=2) ** 2),
        lambda x: np.sum(np.swapaxes(np.outer(x, x), axis1=0, axis2=1) * [1, 2, 3]),
        lambda x: np.dot(a=x, b=x),
        lambda x: np.sum(np.repeat(a=x, repeats=2) ** 2),
        lambda x: np.sum(np.full(shape=(2,), fill_value=x[0]) ** 2),
        lambda x: np.linalg.norm(x=x, ord=3),
    ],
)
def test_arguments_by_name(f: Callable[..., Any]) -> None:
    assert_right(f)


def by_local_generator(x: Any) -> Any:
    rng = np.random.default_rng(0)
    return np.dot(np.outer(x, x), rng.normal(size=3))[0] * rng.uniform()


def by_local_random_state(x: Any) -> Any:
    rng = np.random.RandomState(0)
    return np.dot(np.outer(x, x), rng.randn(x.size))[0] * rng.rand()


@pytest.mark.parametrize("f", [by_local_generator, by_local_random_state])
def test_random_numbers_of_a_generator_made_inside(f: Callable[..., Any]) -> None:
    assert_right(f)


def test_a_generator_as_an_argument() -> None:
    def f(x: Any, rng: Any) -> Any:
        return np.dot(x**2, rng.standard_normal(3))

    found = grad(f)(X, np.random.default_rng(1))
    np.testing.assert_allclose(found, 2 * X * np.random.default_rng(1).standard_normal(3))


@pytest.mark.parametrize("f", [np.sum, np.mean, np.array, np.atleast_2d, np.squeeze])
def test_the_gradient_by_a_number_is_a_number(f: Callable[..., Any]) -> None:
    total = lambda x: np.sum(f(x)) * 2  # noqa: E731
    for number in (3.0, np.float64(3.0), np.float32(3.0), 3.0 + 0j, np.complex64(3.0)):
        real = (
            (lambda x: np.real(total(x))) if isinstance(number, (complex, np.complex64)) else total
        )  # type: ignore[unused-ignore]
        gradient = grad(real)(number)
        assert isinstance(gradient, type(number)), type(gradient)
        assert gradient == 2
        (gradient,) = vjp(real, number)[1](1.0)
        assert isinstance(gradient, type(number))


def unary(f: Callable[..., Any], number: int) -> Callable[..., Any]:
    """As in autograd's `unary_to_nary`: which argument, only the call can tell."""

    def changed(*args: Any) -> Any:
        values = list(args)
        values[number] = values[number] * 2
        return f(*values)

    return changed


def test_an_item_of_a_list_set_by_a_number_from_outside() -> None:
    def f(x: Any, kind: str, y: float) -> Any:
        return np.sum(x * y) if kind == "sum" else 0.0

    assert grad(unary(f, 0))(X, "sum", 3.0).tolist() == [6, 6, 6]
    assert grad(unary(f, 2), argnums=2)(np.ones(3), "sum", 3.0) == 6
    assert (
        value_and_grad(unary(lambda x, y: np.sum(x * y), 1), 1)(X, 2 * X)[1].tolist()
        == (2 * X).tolist()
    )


def test_operators_as_functions_of_lists() -> None:
    out, pullback = vjp(operator.add, [1.0, 2.0], [3.0])
    assert out == [1.0, 2.0, 3.0] and pullback([4.0, 5.0, 6.0]) == ([4.0, 5.0], [6.0])
    assert_right(lambda x: sum(functools.reduce(operator.add, [[x[0]], [x[1] * x[2]], [x[2]]])))
    assert_right(lambda x: sum(map(operator.mul, x**2, [1, 2, 3])))


def test_an_array_made_by_its_class() -> None:
    def f(x: Any) -> Any:
        a, b = np.ndarray((3,)), np.ndarray(shape=x.shape, dtype=np.float64)
        a[:] = x * 2
        b[:] = a - 1
        return np.sum(b**2) + a[0]

    assert_right(f)


@runtime_checkable
class Shaped(Protocol):
    shape: tuple[int, ...]


@runtime_checkable
class Rated(Protocol):
    rate: float


class WithRate:
    def __init__(self, rate: Any) -> None:
        self.rate = rate


class Derived(Rated):
    def __init__(self, speed: Any) -> None:
        self.speed = speed


def test_protocols_of_attributes() -> None:
    """Python answers `isinstance` for them, not `issubclass`: this was an internal error."""

    def f(x: Any) -> Any:
        total = np.sum(x**2) if isinstance(x, Shaped) else 3 * x
        objects = (WithRate(total), Derived(total), 2.0, None)
        return total * sum(10**i for i, o in enumerate(objects) if isinstance(o, (Rated, str)))

    assert grad(f)(np.array([1.0, 2.0])).tolist() == [22.0, 44.0]
    assert grad(f)(2.0) == 33.0

    def several(x: Any) -> Any:
        made = [WithRate(x) if i % 2 else Derived(x) for i in range(int(x))]
        return sum(x * x for o in made if isinstance(o, Rated))

    with pytest.raises(UnsupportedError, match="protocol of attributes"):
        grad(several)(4.0)


def test_what_a_file_in_memory_has_is_read(tmp_path):
    """A memmap is an array that only the run knows: its shape and size are not its class's."""
    path = tmp_path / "numbers.bin"
    np.arange(3.0).tofile(path)
    name = str(path)

    def f(x):
        data = np.memmap(name, dtype=float, mode="r")
        total = np.sum(x**2) if data.ndim == 1 and data.size == 3 else np.sum(x)
        for i in range(data.shape[0]):
            total = total + data[i] * x[i]
        return total * data.itemsize

    x = np.array([0.5, 1.5, 2.0])
    np.testing.assert_allclose(grad(f)(x), 8.0 * (2.0 * x + [0.0, 1.0, 2.0]))
    assert value_and_grad(f)(x)[0] == f(x)


class Pair:
    """Two numbers, which NumPy takes for an array beside one of its own."""

    def __init__(self, first, second):
        self.first, self.second = first, second

    def __len__(self):
        return 2

    def __getitem__(self, i):
        if i > 1:
            raise IndexError(i)
        return self.second if i else self.first

    def __rmul__(self, factor):
        return Pair(10 * factor * self.first, self.second)

    def __radd__(self, other):
        return Pair(self.first + 7 * other, self.second)


class Held:
    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.value)

    def __rmul__(self, factor):
        return Held(10 * factor * self.value)


class Asked(Pair):
    __array_priority__ = 1.0

    def __rmul__(self, factor):
        return Asked(factor * self.first, factor * self.second)


BESIDE_ARRAYS = [
    lambda x: np.sum((x[:2] * Pair(x[0], x[1])) ** 2),
    lambda x: (x[:2] + Pair(x[0], x[1]))[1] * x[2],
    lambda x: (x[0] * Pair(x[0], x[1]))[0] + (np.sum(x) * Pair(x[2], x[1]))[0],
    lambda x: (2.0 * Pair(x[0], x[1]))[0] * (float(x[0]) * Pair(x[0], x[1])).first,
    lambda x: np.sum((x * Held(x**2)) ** 2) + np.sum(x[1] * Held(x)),
    lambda x: np.sum((2.0 * Held(x)).value),
    lambda x: np.sum((x[:2] * Asked(x[0], x[1])).second) * x[2],
    lambda x: np.sum(x[:2] * np.poly1d([x[1], 2.0])) + np.sum(2.0 * x[0] * np.poly1d([x[2], 3.0])),
]


@pytest.mark.parametrize("f", BESIDE_ARRAYS)
def test_objects_beside_arrays(f: Callable[..., Any]) -> None:
    assert_right(f)
    assert value_and_grad(f)(X)[0] == pytest.approx(f(X), rel=1e-14)


def test_whose_operator_an_object_gets_is_told() -> None:
    def f(x: Any, numbers: int) -> Any:
        factor = x[0] if numbers else 2.0
        return (factor * Pair(x[0], x[1]))[0]

    with pytest.raises(UnsupportedError, match="whether this operator is that of Pair"):
        grad(f)(X, 1)


class Multiplier:
    def __init__(self, by):
        self.by = by

    def __rmatmul__(self, other):
        return other[0] * self.by


class Preferred(Multiplier):
    __array_priority__ = 10.0


def test_matmul_does_not_ask_an_object_of_an_array():
    """NumPy takes it for an array without axes, unless its class says otherwise."""

    def f(x, cls):
        try:
            return x @ cls(x[1])
        except ValueError:
            return 3.0 * x[2]

    x = np.array([0.3, 0.8, 0.55])
    for cls, expected in ((Multiplier, [0.0, 0.0, 3.0]), (Preferred, [0.8, 0.3, 0.0])):
        value, gradient = value_and_grad(f)(x, cls)
        assert value == pytest.approx(f(x, cls))
        np.testing.assert_allclose(gradient, expected)
    with pytest.raises((ValueError, UnsupportedError), match="without axes"):
        grad(lambda x: x @ Multiplier(x[1]))(x)
