"""`tap`, `taps` and `nan_check`."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from srcgrad import grad, hessian, jvp, tap, taps, value_and_grad


def tapped(x: Any) -> Any:
    y = tap("y", x * x)
    for _ in range(2):
        y = tap("loop", np.sin(y))
    z = np.zeros(2)
    z[:] = tap("z", y)
    z[0] *= 2
    return np.sum(3 * z)


def plain(x: Any) -> Any:
    return np.sum(3 * np.sin(np.sin(x * x)) * np.array([2.0, 1.0]))


def test_taps_record(capsys: pytest.CaptureFixture[str]) -> None:
    x = np.array([1.0, 2.0])
    gradient = grad(tapped)
    with taps() as found:
        d_x = gradient(x)
    assert capsys.readouterr().out == ""  # nothing is shown while compiling, nor when recorded
    np.testing.assert_allclose(d_x, grad(plain)(x))
    assert {name: len(adjoints) for name, adjoints in found.items()} == {"z": 1, "loop": 2, "y": 1}
    np.testing.assert_allclose(found["z"][0], [6.0, 3.0])
    np.testing.assert_allclose(found["loop"][1], [6.0, 3.0] * np.cos(np.sin(x * x)))
    np.testing.assert_allclose(d_x, found["y"][0] * 2 * x)
    assert "show_gradient('y'," in gradient.source


def test_taps_print(capsys: pytest.CaptureFixture[str]) -> None:
    grad(lambda x: tap("x", x) ** 2)(3.0)
    assert capsys.readouterr().out == "gradient of x: shape (), norm 6, from 6 to 6\n"


def test_a_hook_may_stop_the_gradient() -> None:
    def small(name: str, adjoint: Any) -> None:
        if np.max(np.abs(adjoint)) > 5:
            raise ValueError(f"the gradient of {name} is large")

    with pytest.raises(ValueError, match="the gradient of z is large"), taps(small):
        grad(tapped)(np.ones(2))


def test_taps_leave_values_alone() -> None:
    x = np.array([1.0, 2.0])
    assert tap("x", x) is not x
    np.testing.assert_array_equal(tap("x", x), x)
    assert tap("n", 3) == 3
    np.testing.assert_allclose(jvp(tapped, (x,), (x,)), jvp(plain, (x,), (x,)))
    with taps():
        np.testing.assert_allclose(hessian(tapped)(x), hessian(plain)(x), atol=1e-12)


def broken(x: Any, n: int) -> Any:
    y = x * 2.0
    for _ in range(n):
        y = y * y
    z = np.sqrt(y)
    return np.sum(z)


def test_nan_check_names_the_line() -> None:
    x = np.array([1.0, 0.0])
    for make in (grad, value_and_grad):
        with pytest.raises(FloatingPointError) as failure, np.errstate(all="ignore"):
            make(broken, nan_check=True)(x, 1)
        message = str(failure.value)
        assert message.startswith("the gradient becomes infinite here: the adjoint of 'y'\n")
        assert f'File "{__file__}", line {broken.__code__.co_firstlineno + 4}' in message
        assert message.endswith("z = np.sqrt(y)")
    checked = grad(broken, nan_check=True)
    np.testing.assert_array_equal(checked(np.ones(2), 1), grad(broken)(np.ones(2), 1))
    assert "check_finite(" in checked.source
    unchecked = grad(broken)
    unchecked(np.ones(2), 1)
    assert "check_finite(" not in unchecked.source


def test_nan_check_of_memory_written_in_place() -> None:
    def f(x: Any) -> Any:
        y = np.ones(2)
        y[:] = x
        y **= 0.5
        return np.sum(y)

    with pytest.raises(FloatingPointError, match=r"y \*\*= 0.5"), np.errstate(all="ignore"):
        grad(f, nan_check=True)(np.zeros(2))


def test_nan_check_pickles_and_decorates() -> None:
    checked = pickle.loads(pickle.dumps(grad(broken, nan_check=True)))
    with pytest.raises(FloatingPointError), np.errstate(all="ignore"):
        checked(np.zeros(1), 0)

    @grad(nan_check=True)
    def f(x: float) -> float:
        return x**0.5

    with pytest.raises(FloatingPointError, match="the adjoint of 'x'"):
        f(0.0)
