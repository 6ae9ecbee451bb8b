"""Where no derivative exists, the compiled gradient is what the table says."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.rules.conventions import CONVENTIONS, Convention, conventions_table


def program(convention: Convention) -> Any:
    text = f"def f({', '.join(convention.at)}):\n    return np.sum(np.real({convention.call}))\n"
    filename = f"<convention {CONVENTIONS.index(convention)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["f"]


def arguments(convention: Convention) -> list[Any]:
    return [np.array(v) if isinstance(v, list) else v for v in convention.at.values()]


every_convention = pytest.mark.parametrize("convention", CONVENTIONS, ids=lambda c: c.call)


@every_convention
def test_the_derivative_is_the_documented_one(convention: Convention) -> None:
    args = arguments(convention)
    gradient = srcgrad.grad(program(convention), argnums=tuple(range(len(args))))
    with np.errstate(all="ignore"):
        found = gradient(*args)
    for g, expected, argument in zip(found, convention.derivatives, args, strict=True):
        np.testing.assert_allclose(g, expected, atol=1e-12)
        assert np.shape(g) == np.shape(argument)


@pytest.mark.filterwarnings("ignore")
@every_convention
def test_forward_mode_makes_the_same_choice(convention: Convention) -> None:
    args = arguments(convention)
    f = program(convention)
    for i, (derivative, argument) in enumerate(zip(convention.derivatives, args, strict=True)):
        if not np.all(np.isfinite(derivative)) or not np.size(argument):
            continue  # infinity times zero is nan, and so is the mean of nothing
        directions = [np.zeros_like(a)[()] for a in args]
        weights = np.cos(np.arange(1.0, 1 + np.size(argument))).reshape(np.shape(argument))
        directions[i] = np.asarray(weights, np.asarray(argument).dtype)[()]
        found = srcgrad.jvp(f, tuple(args), tuple(directions))[1]
        np.testing.assert_allclose(found, np.sum(np.real(derivative) * weights), atol=1e-12)


def test_every_point_is_in_the_table() -> None:
    assert len(conventions_table().splitlines()) == len(CONVENTIONS) + 2
