"""Names that the generated code needs itself, and values that only one branch has."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import grad, jvp, vjp

_ = 5.0


def underscore_parameter(x: Any, _: Any) -> Any:
    s = 0.0
    for _i in range(3):
        s = s + np.sum(x * _) ** 2
    return s * _


def underscore_global(x: Any, y: Any) -> Any:
    s = 0.0
    for _i in range(3):
        s = s + np.sum(x * _) ** 2
    return s * _ * y


def builtin_parameters(x: Any, range: Any) -> Any:
    s = 0.0
    for v in x:
        s = s + np.sin(v * range) * range
    return s


def module_parameter(x: Any, np: Any) -> Any:
    return (x * np).sum() ** 2 * abs(np)


def len_parameter(x: Any, len: Any) -> Any:
    total = x[0]
    for v in x:
        total = total * v + len
    return total


def builtin_locals(x: Any, y: Any) -> Any:
    float = x * 2
    list = [np.max(float * y), np.sum(x**2)]
    zip = list[0] * np.exp(list[1])
    return zip**2


KEYWORDS = {"lambda": 0.3, "class": np.array([1.0, 2.0, 0.5]), "from": {"in": 2.0}, "a b": 2.0}


def keys_that_are_keywords(x: Any, y: Any) -> Any:
    scaled = np.sum(x**2 * KEYWORDS["class"]) * KEYWORDS["lambda"] * KEYWORDS["from"]["in"]
    kept = {"if": scaled * y, "is": KEYWORDS["a b"] * x}
    for _k in range(3):
        kept["is"] = np.sin(kept["is"]) * y
    return kept["if"] + np.sum(kept["is"])


def negated(x: Any, y: Any) -> Any:
    return np.sum(x) ** 2 if not (y > 5) else np.sum(x)


def both(x: Any, y: Any) -> Any:
    return np.sum(x) ** 2 if (y > 1) & (y < 5) else np.sum(x)


def member(x: Any, y: Any) -> Any:
    return np.sum(x) ** 2 * y if y in (1.0, 2.0) else np.sum(x)


def member_of_set(x: Any, y: Any) -> Any:
    return np.sum(x) ** 2 * y if y in {1.0, 2.0} else np.sum(x)


def one_branch_only(x: Any, y: Any) -> Any:
    if y > 1:
        z = np.exp(x)
        if y > 3:
            z = z * np.sin(z)
        result = np.sum(z * z * x)
    else:
        result = np.sum(x * x * y)
    if result > 100:
        result = result * np.log(result)
    return result


FUNCTIONS = [
    *(underscore_parameter, underscore_global, builtin_parameters, module_parameter),
    *(len_parameter, builtin_locals, keys_that_are_keywords, negated, both, member),
    *(member_of_set, one_branch_only),
]


@pytest.mark.parametrize("y", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_every_mode(f: Callable[..., Any], y: float) -> None:
    x, step = np.array([0.3, 0.7, 1.1]), 1e-6
    d_x = np.array([(f(x + d, y) - f(x - d, y)) / (2 * step) for d in step * np.eye(3)])
    np.testing.assert_allclose(grad(f)(x, y), d_x, rtol=1e-6, atol=1e-7)
    out, pullback = vjp(f, x, y)
    assert out == pytest.approx(f(x, y))
    np.testing.assert_allclose(pullback(1.0)[0], d_x, rtol=1e-6, atol=1e-7)
    tangent = jvp(f, (x, y), (np.ones(3), 0.0))[1]
    np.testing.assert_allclose(tangent, d_x.sum(), rtol=1e-6, atol=1e-7)


class Layer:
    def __init__(self) -> None:
        self.x: list[Any] = []

    def forward(self, x: Any) -> Any:
        self.x.append(x)
        return squared_sine(x)


def squared_sine(x: Any) -> Any:
    x = np.sin(x)
    return x * x


def test_what_a_pullback_keeps_has_no_name_of_another_parameter() -> None:
    """The argument, the value computed from it, and the list outside are all called `x`."""
    layer, x = Layer(), np.array([0.3, 0.7])
    out, pullback = vjp(layer.forward, x)
    np.testing.assert_allclose(out, np.sin(x) ** 2)
    np.testing.assert_allclose(pullback(np.ones(2))[0], np.sin(2 * x))
    np.testing.assert_array_equal(layer.x, [x])


def test_a_parameter_is_renamed_only_if_it_must_be() -> None:
    gradient = grad(lambda x, input, max: np.sum(x * input) * max)
    gradient(np.ones(2), 2.0, 3.0)
    assert "(x, input, max):" in gradient.source
    underscore = grad(underscore_parameter)
    underscore(np.ones(2), 2.0)
    assert "(x, __):" in underscore.source


def test_what_the_prompt_showed_last_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """The prompt keeps it as `builtins._`: it may be a tuple of arrays, which has no hash."""
    monkeypatch.setattr(builtins, "_", (1, np.ones(2)), raising=False)

    def f(x: Any) -> Any:
        return float(x) ** 2 + abs(x)

    assert grad(f)(3.0) == 7.0
