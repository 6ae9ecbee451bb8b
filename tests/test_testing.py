"""`check_grads`: that it passes what is right, and names what is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.rules import registry
from srcgrad.testing import check_grads, directional_difference


@dataclass
class Spring:
    stiffness: float
    lengths: np.ndarray
    name: str = "coil"


def energy(spring: Spring, scale: float) -> Any:
    return {"each": spring.stiffness * spring.lengths**2, "scaled": (scale * spring.lengths[0], 1)}


@pytest.mark.parametrize("modes", [("rev",), ("fwd", "rev")])
def test_containers_and_objects(modes: tuple[str, ...]) -> None:
    check_grads(energy, (Spring(2.0, np.array([1.0, 2.0, 0.5])), 3.0), 3, modes)


def test_complex_and_single_precision() -> None:
    check_grads(lambda z: np.abs(z) ** 2 * np.exp(z), (np.array([0.5 + 1j, 1 - 2j]),))
    check_grads(lambda x: np.tanh(x) * x, (np.array([0.5, -1.0], np.float32),))


def test_arguments_are_left_alone() -> None:
    def f(x: Any, n: int) -> Any:
        for i in range(1, n):
            x[i] *= x[i - 1]
        return x

    x = np.array([0.5, 2.0, 1.5])
    check_grads(f, (x, 3))
    np.testing.assert_array_equal(x, [0.5, 2.0, 1.5])


@pytest.fixture
def squares() -> Any:
    def square(x: Any) -> Any:
        return x**2

    before = dict(registry.primitives)
    yield square
    registry.primitives.clear()
    registry.primitives.update(before)


def test_a_wrong_derivative_is_named(squares: Any) -> None:
    @srcgrad.elementwise(squares)
    def rule(x: Any, *, out: Any) -> Any:
        return 2.001 * x

    def f(weights: Any, x: Any) -> Any:
        return weights * squares(x)

    with pytest.raises(AssertionError) as failure:
        check_grads(f, (np.ones(2), np.array([1.0, 2.0])))
    message = str(failure.value)
    assert "order 1, argument 'x', forward mode, along the direction [" in message
    assert "a relative error of 0.0005, more than 1e-05" in message


def test_modes_that_disagree_are_named(squares: Any) -> None:
    # d_x is used twice in reverse mode only: no linear function, so its transpose is another one
    @srcgrad.adjoint(squares)
    def rule(x: Any, *, out: Any, d_out: Any) -> Any:
        return 2 * x * d_out + 1e-7 * d_out * d_out

    with pytest.raises(AssertionError, match=r"dot-product identity|finite differences give"):
        check_grads(lambda x: squares(x), (np.array([1.0, 2.0]),), order=1)


def test_second_order(squares: Any) -> None:
    @srcgrad.elementwise(squares)
    def rule(x: Any, *, out: Any) -> Any:
        return 2 * np.floor(1e9 * x) / 1e9  # right, but its own derivative is zero

    check_grads(lambda x: squares(x), (np.array([1.0, 2.0]),), order=1)
    with pytest.raises(AssertionError, match=r"order 2, argument 'x'"):
        check_grads(lambda x: squares(x), (np.array([1.0, 2.0]),), order=2)


def test_nothing_to_check() -> None:
    with pytest.raises(TypeError, match="none of the arguments is of floats"):
        check_grads(lambda n: n, (3,))
    with pytest.raises(TypeError, match="the function returns no floats"):
        check_grads(lambda x: "text", (3.0,))
    with pytest.raises(ValueError, match="modes must be of 'fwd' and 'rev'"):
        check_grads(lambda x: x, (3.0,), modes=("reverse",))


@pytest.mark.parametrize("f", [np.max, np.sort, lambda x: np.partition(x, 1)])
def test_items_that_are_close(f: Any) -> None:
    check_grads(f, (np.array([0.3, 0.5, 0.5 + 1e-4, -0.2, -0.2 - 2e-5]),))


def test_a_wrong_derivative_beside_a_kink_is_named(squares: Any) -> None:
    @srcgrad.elementwise(squares)
    def rule(x: Any, *, out: Any) -> Any:
        return 2.02 * x

    def f(x: Any) -> Any:
        return np.max(squares(x))

    with pytest.raises(AssertionError, match="order 1"):
        check_grads(f, (np.array([0.3, 0.5, 0.5 + 1e-4]),))


def test_derivatives_that_are_zero_but_for_rounding() -> None:
    x = np.array([[-0.23415337, -0.23413696, 1.57921282], [0.76743473, -0.46947439, 0.54256004]])
    check_grads(lambda x: np.std(x, axis=0), (x,), 3)


def test_many_parameters() -> None:
    def f(layers: Any, x: Any) -> Any:
        for layer in layers:
            x = np.tanh(x @ layer["w"] + layer["b"])
        return np.sum(x**2)

    rng = np.random.default_rng(0)
    layers = [{"w": rng.normal(size=(3, 3)), "b": rng.normal(size=3)} for _ in range(15)]
    check_grads(f, (layers, rng.normal(size=(2, 3))))


def test_differences() -> None:
    slope, error = directional_difference(lambda t: np.exp(3 * t))
    assert slope == pytest.approx(3.0, abs=1e-10)
    assert error < 1e-8


def length(x1, x2):
    return np.hypot(x1, x2)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((3, (1.0,)), {}, TypeError, "check_grads needs a function, not a int"),
        ((np.sin, np.ones(2)), {}, TypeError, "args must be the tuple of the arguments"),
        ((np.sin, (1.0,)), {"order": "2"}, TypeError, "order must be an int, not '2'"),
        ((np.sin, (1.0,)), {"order": 0}, ValueError, "order must be at least 1, not 0"),
        ((np.sin, (1.0,)), {"modes": ()}, ValueError, "modes must be of 'fwd' and 'rev'"),
        ((np.sin, (1.0,)), {"modes": "forward"}, ValueError, "modes must be of 'fwd' and 'rev'"),
        ((np.sin, (1.0,)), {"step": 0}, ValueError, "step must be positive, not 0"),
        ((np.sin, (1.0,)), {"rtol": -1}, ValueError, "rtol must be positive, not -1"),
        ((length, (1.0, 2.0)), {"argnums": 5}, ValueError, "argnums=5: the arguments are x1, x2"),
        ((length, (1.0, 2)), {"argnums": "x2"}, TypeError, "'x2' can't be differentiated: it is"),
        ((np.sqrt, (-1.0,)), {}, ValueError, "the function isn't finite at this point"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_what_is_wrong_with_a_call_is_said(arguments, options, error, message):
    with pytest.raises(error, match=message):
        check_grads(*arguments, **options)


def test_one_mode_and_arguments_by_name():
    def f(x, y):
        return np.sum(np.sin(x) * y)

    for modes in ("fwd", "rev", ("fwd",), ["rev"]):
        check_grads(f, (np.ones(3), 2.0), modes=modes, order=3)
    check_grads(f, (np.ones(3), 2.0), argnums="y")
    check_grads(f, (np.ones(3), 2.0), argnums=-1)
