"""Forward mode: against reverse mode by the dot-product identity, and what is made of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import grad, hessian, hvp, jacfwd, jacobian, jacrev, jvp, vjp
from srcgrad.errors import UnsupportedError
from tests.programs import finite_differences
from tests.test_nested import PROGRAMS


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_agrees_with_reverse_mode(f: Callable[..., Any]) -> None:
    rng = np.random.default_rng(5)
    x, v = rng.normal(size=5), rng.normal(size=5)
    before = x.copy()
    out, t_out = jvp(f, (x,), (v,))
    assert out == pytest.approx(f(x), rel=1e-12)
    assert t_out == pytest.approx(np.sum(grad(f)(x) * v), rel=1e-10, abs=1e-12)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("name", finite_differences.names())
def test_programs(name: str) -> None:
    module = finite_differences.load(name)
    argnums = tuple(getattr(module, "ARGNUMS", (0,)))
    try:
        gradient = grad(module.program, argnums=argnums)(*module.inputs())
    except UnsupportedError:
        pytest.skip("refused in reverse mode")
    direction, _ = finite_differences.directional_difference(
        module.program, module.inputs(), argnums, 0
    )
    expected = finite_differences.inner(gradient, direction)
    args = module.inputs()
    tangents: list[Any] = [None] * len(args)
    for i, d in zip(argnums, direction, strict=True):
        tangents[i] = d

    def program(*chosen: Any) -> Any:
        whole = list(args)
        for i, value in zip(argnums, chosen, strict=True):
            whole[i] = value
        return module.program(*whole)

    try:
        _, t_out = jvp(module.program, args, _filled(tangents, args))
    except UnsupportedError as error:
        pytest.skip(f"refused in forward mode: {error.message}")
    assert t_out == pytest.approx(expected, rel=1e-9)


def _filled(tangents: list[Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Zeros for what doesn't move."""
    return tuple(_moved(t, a) for t, a in zip(tangents, args, strict=True))


def _moved(t: Any, a: Any) -> Any:
    if isinstance(a, (list, tuple)):
        items = [_moved(None if t is None else t[i], item) for i, item in enumerate(a)]
        return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)
    if isinstance(a, dict):
        return {k: _moved(None if t is None else t[k], v) for k, v in a.items()}
    if t is None and isinstance(a, np.ndarray):
        return np.zeros_like(a)
    if t is None and isinstance(a, float):
        return 0.0
    return t if t is not None else a


def test_results_keep_their_nesting() -> None:
    def f(p: Any, n: int) -> Any:
        return {"y": np.tanh(p["w"]) * n, "n": n, "pair": (p["w"].sum(), "text")}

    w, t = np.array([0.5, -1.0]), np.array([1.0, 2.0])
    out, t_out = jvp(f, ({"w": w}, 2), ({"w": t}, None))
    np.testing.assert_allclose(t_out["y"], 2 * t / np.cosh(w) ** 2)
    assert t_out["n"] is None and t_out["pair"][0] == pytest.approx(3.0)
    assert out["pair"][1] == "text"


def test_float32_stays_float32() -> None:
    x = np.array([1.0, 2.0], np.float32)
    _, t_out = jvp(lambda x: np.exp(x) * 2.0, (x,), (np.ones(2),))
    assert t_out.dtype == np.float32


def test_tangents_are_checked() -> None:
    with pytest.raises(ValueError, match=r"tangent 0 must have the shape \(2,\)"):
        jvp(np.sin, (np.ones(2),), (np.ones(3),))
    with pytest.raises(ValueError, match="1 primals but 2 tangents"):
        jvp(np.sin, (np.ones(2),), (np.ones(2), np.ones(2)))


def test_hessian_and_its_products() -> None:
    def f(x: Any) -> Any:
        return np.sum(x**3) * x[0] + np.sin(x[1] * x[2])

    rng = np.random.default_rng(2)
    x, v = rng.normal(size=3), rng.normal(size=3)
    matrix = hessian(f)(x)
    step = 1e-6
    g = grad(f)
    expected = np.stack([(g(x + step * e) - g(x - step * e)) / (2 * step) for e in np.eye(3)])
    np.testing.assert_allclose(matrix, expected, atol=1e-7)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
    np.testing.assert_allclose(hvp(f)(x, v), matrix @ v, atol=1e-12)


def test_jacobians() -> None:
    def f(x: Any) -> Any:
        return np.outer(np.sin(x), x)

    x = np.array([0.3, -1.2, 0.7])
    forward, reverse = jacfwd(f)(x), jacrev(f)(x)
    assert forward.shape == (3, 3, 3)
    np.testing.assert_allclose(forward, reverse, atol=1e-14)
    np.testing.assert_allclose(jacobian(f)(x), forward, atol=1e-14)
    out, pullback = vjp(f, x)
    np.testing.assert_allclose(pullback(np.ones_like(out))[0], forward.sum((0, 1)), atol=1e-14)


def test_jacobian_of_a_number() -> None:
    assert jacfwd(lambda x: x**3)(2.0) == pytest.approx(12.0)
    assert jacrev(lambda x: x**3)(2.0) == pytest.approx(12.0)
