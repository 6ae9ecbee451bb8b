"""The kit that tests expressions: reverse, forward and second order against differences."""

from __future__ import annotations

import itertools
import linecache
from typing import Any

import numpy as np

import srcgrad

_numbers = itertools.count()


def function(expression: str, count: int, **names: Any) -> Any:
    """The function of x, y, z (as many as `count`) that sums the expression with weights."""
    text = f"""def f({", ".join("xyzuvw"[:count])}):
    out = {expression}
    return np.sum(np.cos(np.arange(1, 1 + np.size(out))).reshape(np.shape(out)) * np.real(out) ** 2)
"""
    filename = f"<expression {next(_numbers)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace = {"np": np, **names}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["f"]


def direction(value: Any, generator: np.random.Generator) -> Any:
    noise = generator.normal(size=np.shape(value))
    if np.iscomplexobj(value):
        noise = noise + 1j * generator.normal(size=np.shape(value))
    return noise if isinstance(value, np.ndarray) else noise[()]


def inner(a: Any, b: Any) -> float:
    return float(np.real(np.sum(np.asarray(a) * np.asarray(b))))


def near(found: Any, expected: Any, tolerance: float) -> bool:
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    return np.allclose(found, expected, rtol=tolerance, atol=tolerance * scale)


def check(
    expression: str, *xs: Any, tolerance: float = 2e-5, second: bool = True, **names: Any
) -> None:
    """Compare the gradient, the derivative in a direction and the product with the Hessian."""
    f = function(expression, len(xs), **names)
    generator = np.random.default_rng(0)
    directions = tuple(direction(x, generator) for x in xs)

    def moved(step: float) -> tuple[Any, ...]:
        return tuple(x + step * d for x, d in zip(xs, directions, strict=True))

    step = 1e-5
    argnums = tuple(range(len(xs)))
    gradient = srcgrad.value_and_grad(f, argnums)
    value, found = gradient(*xs)
    assert near(value, f(*xs), 1e-9), "the value"
    for g, x in zip(found, xs, strict=True):
        assert np.shape(g) == np.shape(x)
    expected = (f(*moved(step)) - f(*moved(-step))) / (2 * step)
    total = sum(inner(g, d) for g, d in zip(found, directions, strict=True))
    assert near(total, expected, tolerance), f"reverse: {total}, differences {expected}"
    forward = srcgrad.jvp(f, xs, directions)[1]
    assert near(forward, expected, tolerance), f"forward: {forward}, differences {expected}"
    if second:
        products = srcgrad.jvp(srcgrad.grad(f, argnums), xs, directions)[1]
        (_, above), (_, below) = gradient(*moved(step)), gradient(*moved(-step))
        for p, a, b in zip(products, above, below, strict=True):
            expected = (np.asarray(a) - np.asarray(b)) / (2 * step)
            assert near(p, expected, 5 * tolerance), f"second order: {p}, differences {expected}"
