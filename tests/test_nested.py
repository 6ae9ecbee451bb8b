"""Gradients of gradients, and gradients taken inside differentiated functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import UnsupportedError, grad, jvp, value_and_grad, vjp


def quartic(x: Any) -> Any:
    return np.sum(x**4) + np.sum(np.sin(x) * x)


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0)


def recurrent(x: Any) -> Any:
    h = x
    total = 0.0
    for _ in range(3):
        h = np.tanh(h) * x
        total += np.sum(h**2)
    return total


def element_writes(x: Any) -> Any:
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] ** 2 + (y[i - 1] * x[i] if i > 0 else 0.0)
    y[1:] *= y[:-1]
    return np.sum(y**2)


def heat(x: Any) -> Any:
    u = x.copy()
    for _ in range(4):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) - 0.05 * u[1:-1] ** 2
    return np.sum(u * u)


def early_exit(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        if x[i] < -2.0:
            return total
        if x[i] < 0.0:
            continue
        total = total + x[i] ** 3
        if total > 50.0:
            break
    return total * total


def appended(x: Any) -> Any:
    items = []
    h = x
    for _ in range(3):
        h = np.sin(h) + x * h
        items.append(h)
    return np.sum(np.stack(items) ** 2)


def softmax_loss(x: Any) -> Any:
    e = np.exp(x - np.max(x))
    p = e / e.sum()
    return -np.log(p[1]) + np.sum(p**3)


PROGRAMS = [
    quartic, rosenbrock, recurrent, element_writes, heat, early_exit, appended, softmax_loss,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_hessian_vector_product(f: Callable[..., Any]) -> None:
    def product(x: Any, v: Any) -> Any:
        return np.sum(grad(f)(x) * v)

    rng = np.random.default_rng(3)
    x, v = rng.normal(size=5), rng.normal(size=5)
    first, second = grad(f), grad(product)
    step = 1e-5
    expected = (first(x + step * v) - first(x - step * v)) / (2 * step)
    np.testing.assert_allclose(second(x, v), expected, rtol=1e-6, atol=1e-6)


def matrix(x: Any) -> Any:
    return np.outer(x, x) + np.diag(x * x + np.arange(1.0, 1.0 + len(x)))


def tuple_of_a_branch(x: Any) -> Any:
    if x[0] > -10:
        w, v = np.linalg.eigh(matrix(x))
    else:
        w, v = x, matrix(x)
    return np.sum(w**2 * v[0] ** 2)


def tuple_used_whole(x: Any) -> Any:
    r = np.linalg.eigh(matrix(x)) if x[0] > -10 else np.linalg.eigh(matrix(2 * x))
    return np.sum(r[0] ** 2 * r[1][1] ** 2)


def tuples_of_a_loop(x: Any) -> Any:
    total = 0.0
    for _ in range(len(x) - 2):
        q, r = np.linalg.qr(matrix(x))
        sign, logarithm = np.linalg.slogdet(matrix(x))
        x = np.sum(q**2 * r, axis=0) * 0.1 + x
        total += logarithm * sign
    return np.sum(x**2) + total


def tuple_written_in_place(x: Any) -> Any:
    w, v = np.linalg.eigh(matrix(x))
    y = w.copy()
    v[0] *= w
    w += v[0] ** 2
    return np.sum(w * y)


def tuples_kept(x: Any) -> Any:
    saved = []
    for i in range(len(x) - 1):
        saved.append((i, np.linalg.eigh(matrix(x * (i + 1)))))
        x = np.sin(x) + 1
    return sum(np.sum(r[0] ** 2 * r[1][0] ** 2) * i for i, r in saved)


@pytest.mark.parametrize(
    "f",
    [tuple_of_a_branch, tuple_used_whole, tuples_of_a_loop, tuple_written_in_place, tuples_kept],
    ids=lambda f: f.__name__,
)
def test_what_returns_tuples(f: Callable[..., Any]) -> None:
    """Each derivative of a derivative that there is, against differences of the first."""
    rng = np.random.default_rng(3)
    x, u, v = rng.uniform(0.5, 1.0, 3), rng.normal(size=3), rng.normal(size=3)
    first, step = grad(f), 1e-5
    assert first(x) @ v == pytest.approx((f(x + step * v) - f(x - step * v)) / (2 * step), rel=1e-6)
    expected = (first(x + step * v) - first(x - step * v)) @ u / (2 * step)
    found = [
        grad(lambda x: np.sum(first(x) * u))(x) @ v,
        grad(lambda x: jvp(f, (x,), (u,))[1])(x) @ v,
        jvp(lambda x: np.sum(first(x) * u), (x,), (v,))[1],
        jvp(lambda x: jvp(f, (x,), (u,))[1], (x,), (v,))[1],
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_third_derivative() -> None:
    def f(x: float) -> float:
        return x**5 + np.sin(x)

    third = grad(grad(grad(f)))
    assert third(1.3) == pytest.approx(60 * 1.3**2 - np.cos(1.3), rel=1e-12)


def test_gradient_of_an_inner_function_with_respect_to_what_it_closes_over() -> None:
    def outer(a: float, x: float) -> float:
        def inner(y: float) -> float:
            return a * y**3

        return grad(inner)(x) * x

    assert grad(outer)(2.0, 1.5) == pytest.approx(3 * 1.5**3)
    assert grad(outer, argnums=1)(2.0, 1.5) == pytest.approx(18 * 1.5**2)


def test_perturbations_are_not_confused() -> None:
    # d/dx [x * d/dy (x + y)] at x = 1 is 1, not 2 (Siskind and Pearlmutter)
    def f(x: float) -> float:
        return x * grad(lambda y: x + y)(1.0)

    assert grad(f)(1.0) == 1.0


def test_inner_optimisation_loop() -> None:
    def fitted(c: float) -> float:
        w = 0.0
        for _ in range(20):
            w = w - 0.1 * grad(lambda v: (v - c) ** 2 + 0.1 * v**4)(w)
        return w

    step = 1e-6
    expected = (fitted(0.7 + step) - fitted(0.7 - step)) / (2 * step)
    assert grad(fitted)(0.7) == pytest.approx(expected, rel=1e-6)


def test_value_and_grad_inside() -> None:
    def f(x: Any) -> Any:
        value, gradient = value_and_grad(quartic)(x)
        return value + np.sum(gradient**2)

    rng = np.random.default_rng(0)
    x, v = rng.normal(size=4), rng.normal(size=4)
    step = 1e-6
    expected = (f(x + step * v) - f(x - step * v)) / (2 * step)
    assert np.sum(grad(f)(x) * v) == pytest.approx(expected, rel=1e-6)


def test_the_inner_gradient_of_an_array_function_is_refused() -> None:
    def f(x: Any) -> Any:
        return np.sum(grad(lambda y: y * 2)(x))

    with pytest.raises(UnsupportedError, match="grad needs a function that returns a number"):
        grad(f)(np.ones(3))


def writing(x: Any) -> Any:
    x[0] = x[0] * 2
    x[1:] *= x[:-1]
    return np.sum(x**3)


def slope_of_writing(x: Any) -> Any:
    value, slope = jvp(writing, (x,), (np.cos(x),))
    return slope * value + np.sum(x)


def pullback_of_writing(x: Any) -> Any:
    value, pullback = vjp(writing, x)
    return np.sum(pullback(value)[0] * x)


def gradient_of_writing(x: Any) -> Any:
    return np.sum(np.sin(grad(writing)(x)) * x)


@pytest.mark.parametrize("f", [slope_of_writing, pullback_of_writing, gradient_of_writing])
def test_a_function_that_writes_into_its_argument(f: Callable[..., Any]) -> None:
    x, v = np.array([0.3, 0.4, -0.5]), np.array([0.2, -1.0, 0.7])
    step = 1e-6 * v
    expected = (f(x + step) - f(x - step)) / 2e-6
    assert np.isclose(grad(f)(x) @ v, expected, rtol=1e-6)
    assert np.isclose(jvp(f, (x,), (v,))[1], expected, rtol=1e-6)
    assert x.tolist() == [0.3, 0.4, -0.5]


def test_the_direction_of_a_function_that_writes_is_kept() -> None:
    x, v = np.array([0.3, 0.4, -0.5]), np.array([0.2, -1.0, 0.7])
    slope = grad(lambda x: jvp(writing, (x,), (v,))[1])
    slope(x)
    assert v.tolist() == [0.2, -1.0, 0.7]


def test_arguments_written_inside_must_be_apart() -> None:
    def both(a: Any, b: Any) -> Any:
        a *= 2
        return np.sum(a * b)

    def outer(x: Any) -> Any:
        return jvp(both, (x, x), (x, x))[1]

    with pytest.raises(ValueError, match="share memory"):
        grad(outer)(np.ones(2))


def test_an_array_of_the_code_around_must_not_be_written_inside() -> None:
    def outer(x: Any) -> Any:
        y = np.sin(x)

        def writes(a: Any) -> Any:
            y[0] = a[1]
            return np.sum(y * a)

        return jvp(writes, (x,), (x,))[1]

    with pytest.raises(UnsupportedError, match="pass a copy of it as an argument"):
        grad(outer)(np.ones(2))


@pytest.mark.parametrize("x", [[0.3, 0.5, -0.7], [0.3, 0.0, -0.7]])
def test_the_gradient_of_a_tangent_whose_rule_branches(x):
    def f(x):
        return np.prod(x[:2]) * x[2]

    x, u = np.array(x), np.array([1.0, 0.5, 0.0])
    found = grad(lambda x: jvp(f, (x,), (u,))[1])(x)
    np.testing.assert_allclose(found, [0.5 * x[2], x[2], x[1] + 0.5 * x[0]])
