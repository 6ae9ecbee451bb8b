"""All directions at once against one after the other: control flow, memory, lists, indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import grad
from srcgrad.jacobians import Jacobian


def element_writes(x: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(1, len(x) - 1):
        y[i] = x[i - 1] - 2 * x[i] + x[i + 1] ** 2
    return y


def simulation(u: Any) -> Any:
    for _ in range(3):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) - 0.01 * u[1:-1] ** 2
    return u * u


def branches(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            total = total + x[i] ** 2
            x = x * total
        else:
            x = np.sin(x)
    return x


def while_loop(x: Any) -> Any:
    while np.sum(x * x) > 0.5:
        x = 0.5 * x + 0.01 * x[::-1]
    return x


def collected(x: Any) -> Any:
    items = []
    for i in range(len(x)):
        items.append(np.sin(x[i]) * x)
    return np.stack(items)


def masks(x: Any) -> Any:
    y = x.copy()
    y[x > 0] *= 2.0
    y[[0, 2]] = x[[2, 1]] * x[0]
    return y[x < 0.5]


def indices_apart(x: Any) -> Any:
    a = np.outer(x, x).reshape(len(x), 1, len(x)) * np.ones((1, 3, 1))
    return a[np.array([0, 2]), :, np.array([1, 1])]


def matrices(x: Any) -> Any:
    a = np.outer(x, np.arange(4.0)) + np.eye(len(x), 4)
    return (a.T @ a).sum(axis=0) * np.trace(a @ a.T) + np.linalg.solve(a.T @ a + np.eye(4), a[0])


def broadcasts(x: Any) -> Any:
    return np.einsum("ij,j->i", x[:, None] - x[None, :], np.cumsum(x)) + x.mean()


def rows_of_one_primitive(x: Any) -> Any:
    return np.convolve(x, np.array([1.0, -2.0, 0.5])) ** 2


def last_element(x: Any) -> Any:
    y = np.zeros(3)
    y[..., -1] = x[0] * x[1]
    y[..., 0] += np.sum(x) ** 2
    return y


def histogram(x: Any) -> Any:
    heights, edges = np.histogram(np.concatenate([x, x**2, x / 3]), bins=4, density=True)
    return heights * edges[1:] ** 2


FUNCTIONS = [
    element_writes, simulation, branches, while_loop, collected, masks, indices_apart, matrices,
    broadcasts, rows_of_one_primitive, last_element, histogram,
]  # fmt: skip

# What is still computed one direction after the other: an array of a list's shadows, and writes
# by indices that stand apart, and what is of unknown rank
ONE_BY_ONE = {(indices_apart, "reverse"), (histogram, "forward"), (histogram, "reverse")}


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_rows(function: Callable[..., Any], mode: str) -> None:
    x = np.array([0.6, -0.4, 0.9, 0.3, -1.1])
    before = x.copy()
    at_once, single = (Jacobian(function, 0, mode, False) for _ in range(2))
    single._batched = lambda *_: None  # type: ignore[method-assign]
    found, expected = at_once(x), single(x)
    assert bool(at_once._unbatchable) is ((function, mode) in ONE_BY_ONE)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(x, before)
    step = 1e-6 * np.random.default_rng(0).normal(size=x.shape)
    difference = function(x + step) - function(x - step)
    np.testing.assert_allclose(2 * found @ step, difference, atol=1e-11)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_hessians(function: Callable[..., Any]) -> None:
    def loss(x: Any) -> Any:
        return np.sum(function(x) ** 2)

    x = np.array([0.6, -0.4, 0.9, 0.3, -1.1])
    at_once, single = (Jacobian(grad(loss), 0, "forward", False) for _ in range(2))
    single._batched = lambda *_: None  # type: ignore[method-assign]
    found = at_once(x)
    np.testing.assert_allclose(found, single(x), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found, found.T, rtol=1e-9, atol=1e-9)


def test_what_only_one_primitive_needs_is_a_loop_over_rows() -> None:
    jacobian = Jacobian(rows_of_one_primitive, 0, "forward", False)
    jacobian(np.ones(3))
    assert "for row in range(count):" in jacobian.source


def test_a_shape_that_depends_on_values() -> None:
    """The shape of the result is remembered from an earlier call, and may be another one."""

    def positive(x: Any) -> Any:
        return x[x > 0] ** 2

    jacobian = Jacobian(positive, 0, "reverse", False)
    assert jacobian(np.array([1.0, 2.0, -1.0])).shape == (2, 3)
    np.testing.assert_allclose(jacobian(np.array([1.0, 2.0, 3.0])), np.diag([2.0, 4.0, 6.0]))
