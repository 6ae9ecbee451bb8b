"""Forward mode: against reverse mode by the dot-product identity, and what is made of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import (
    derivative,
    elementwise_grad,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linearize,
    vhp,
    vjp,
)
from srcgrad.testing import check_grads
from tests.test_nested import PROGRAMS
from tests.test_refusals import define


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_agrees_with_reverse_mode(f: Callable[..., Any]) -> None:
    rng = np.random.default_rng(5)
    x, v = rng.normal(size=5), rng.normal(size=5)
    before = x.copy()
    out, t_out = jvp(f, (x,), (v,))
    assert out == pytest.approx(f(x), rel=1e-12)
    assert t_out == pytest.approx(np.sum(grad(f)(x) * v), rel=1e-10, abs=1e-12)
    np.testing.assert_array_equal(x, before)


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


# What is made of tangents


def quartic(x: Any, y: float, power: int = 4) -> Any:
    return np.sum(x**power) * y + np.sin(x[0] * y)


def test_products_with_the_hessian_agree() -> None:
    rng = np.random.default_rng(4)
    x, v = rng.normal(size=3), rng.normal(size=3)
    matrix = hessian(quartic)(x, 2.0)
    np.testing.assert_allclose(hvp(quartic)(x, 2.0, v), matrix @ v, rtol=1e-12)
    np.testing.assert_allclose(vhp(quartic)(x, 2.0, v), matrix @ v, rtol=1e-12)
    np.testing.assert_allclose(hvp(quartic, "x")(x, 2.0, v, power=2)[1:], 4 * v[1:], rtol=1e-12)
    both = hessian(quartic, ("x", 1))(x, 2.0)
    product_x, product_y = hvp(quartic, (0, "y"))(x, 2.0, (v, 0.5))
    np.testing.assert_allclose(product_x, both[0][0] @ v + 0.5 * both[0][1], rtol=1e-12)
    np.testing.assert_allclose(product_y, both[1][0] @ v + 0.5 * both[1][1], rtol=1e-12)
    np.testing.assert_allclose(both[0][0], matrix)


def test_products_are_generated() -> None:
    product = hvp(quartic)
    assert product.source == ""
    product(np.ones(2), 1.0, np.ones(2))
    assert product.source.startswith("def jvp_d_quartic(x, y, power, t_x):")
    assert repr(product) == "<product with the Hessian of quartic>"
    with pytest.raises(ValueError, match=r"the direction of 'x' must have the shape \(2,\)"):
        product(np.ones(2), 1.0, np.ones(3))


def test_linearize() -> None:
    def f(p: Any, scale: float) -> Any:
        return {"y": np.tanh(p["w"]) * scale}

    w = np.array([0.5, -1.0])
    out, linear = linearize(f, {"w": w}, 2.0)
    np.testing.assert_allclose(out["y"], 2 * np.tanh(w))
    kept = w.copy()
    w[:] = 7.0
    moved = linear({"w": np.array([1.0, 0.0])}, 0.0)
    np.testing.assert_allclose(moved["y"], [2 / np.cosh(kept[0]) ** 2, 0.0])
    assert "def jvp_f(p, scale, t_p, t_scale):" in linear.source
    with pytest.raises(TypeError, match="takes 2 tangents, not 1"):
        linear({"w": w})


def test_derivative() -> None:
    def f(x: Any, n: int) -> Any:
        for _ in range(n):
            x = np.sin(x) * x
        return x

    slope = derivative(f)
    step = 1e-6
    expected = (f(0.7 + step, 3) - f(0.7 - step, 3)) / (2 * step)
    assert slope(0.7, 3) == pytest.approx(expected, rel=1e-8)
    assert slope.source.startswith("def d_f(x, n):")
    assert derivative(f, "x")(0.7, n=0) == 1.0
    with pytest.raises(TypeError, match=r"'x' is an array of shape \(2,\)"):
        slope(np.ones(2), 3)
    with pytest.raises(TypeError, match="a function that returns a float"):
        derivative(lambda x: x * np.ones(2))(1.0)
    with pytest.raises(TypeError, match="'n' is a int"):
        derivative(f, 1)(1.0, 2)


def test_elementwise_grad() -> None:
    def in_place(x: Any) -> Any:
        y = np.zeros_like(x)
        for i in range(len(x)):
            y[i] = x[i] ** 3
        return y

    x = np.array([0.5, -2.0, 1.0])
    np.testing.assert_allclose(elementwise_grad(in_place)(x), 3 * x**2)
    np.testing.assert_allclose(elementwise_grad(np.tanh)(x), 1 / np.cosh(x) ** 2)
    np.testing.assert_allclose(elementwise_grad(np.exp)(1j * x), np.exp(1j * x))
    for f in (np.cumsum, lambda x: x[::-1] * 2, lambda x: x * x.sum()):
        with pytest.raises(TypeError, match="needs a function that is elementwise"):
            elementwise_grad(f)(x)
    with pytest.raises(TypeError, match="holomorphic elementwise"):
        elementwise_grad(np.abs)(1j * x)
    with pytest.raises(TypeError, match=r"of the shape of the argument, \(3,\), not \(\)"):
        elementwise_grad(np.sum)(x)


def test_names_of_tangents_are_their_own() -> None:
    def f(x: float, t_x: float) -> float:
        return x * t_x

    assert jvp(f, (2.0, 3.0), (1.0, 10.0)) == (6.0, 23.0)
    assert jvp(lambda *args: args[0] * args[1], (2.0, 3.0), (1.0, 10.0)) == (6.0, 23.0)


def test_nested_tangents_are_checked() -> None:
    def f(p: Any) -> Any:
        return p["a"] * p["b"][0]

    p = {"a": 2.0, "b": (np.ones(2), 3)}
    t_out = jvp(f, (p,), ({"a": 1.0, "b": (np.zeros(2), None)},))[1]
    np.testing.assert_array_equal(t_out, [1.0, 1.0])
    with pytest.raises(TypeError, match="tangent 0 must be a dict like its primal, not a float"):
        jvp(f, (p,), (1.0,))
    with pytest.raises(ValueError, match=r"must have the items \['a', 'b'\] of its primal"):
        jvp(f, (p,), ({"a": 1.0},))
    with pytest.raises(ValueError, match=r"tangent 0\['b'\]\[0\] must have the shape \(2,\)"):
        jvp(f, (p,), ({"a": 1.0, "b": (np.zeros(3), 3)},))
    with pytest.raises(TypeError, match="tangent 0 is complex, but its primal is real"):
        jvp(np.sin, (1.0,), (1j,))


def test_none_is_the_tangent_of_what_holds_no_floats() -> None:
    def f(x, pairs, sizes, scale):
        return sum(x[a] * x[b] for a, b in pairs) * sizes["n"] * scale["all"]

    primals = (np.array([1.0, 2.0, 3.0]), [(0, 1), (1, 2)], {"n": 2}, {"all": 5.0})
    tangents = (np.ones(3), None, None, {"all": 1.0})
    assert jvp(f, primals, tangents) == (80.0, (1 + 2 + 2 + 3) * 10 + 16)
    with pytest.raises(TypeError, match=r"tangent 3\['all'\] must be of floats, not NoneType"):
        jvp(f, primals, (np.ones(3), None, None, None))


def test_jacobians_of_nests() -> None:
    def f(d: Any, s: float) -> Any:
        return {"u": d["a"] * s, "n": 3, "m": np.outer(d["a"], d["b"][0])}

    d = {"a": np.array([1.0, 2.0]), "b": (np.array([3.0, 4.0, 5.0]),)}
    for make in (jacfwd, jacrev, jacobian):
        found = make(f, (0, "s"))(d, 2.0)
        by_d, by_s = found["u"]
        np.testing.assert_allclose(by_d["a"], 2 * np.eye(2))
        np.testing.assert_allclose(by_d["b"][0], np.zeros((2, 3)))
        np.testing.assert_allclose(by_s, d["a"])
        assert found["n"] is None
        np.testing.assert_allclose(found["m"][0]["b"][0], np.einsum("i,jk->ijk", d["a"], np.eye(3)))


def test_jacobians_of_complex_functions() -> None:
    z = np.array([1 + 2j, 0.5 - 1j])
    for make in (jacfwd, jacrev, jacobian):
        np.testing.assert_allclose(
            make(lambda z: z**2, holomorphic=True)(z), np.diag(2 * z), atol=1e-15
        )
    with pytest.raises(TypeError, match="pass holomorphic=True if the function is holomorphic"):
        jacfwd(lambda z: z**2)(z)
    with pytest.raises(TypeError, match="the result is complex"):
        jacrev(lambda x: x * 1j)(np.ones(2))
    np.testing.assert_allclose(jacfwd(lambda x: x * 1j)(np.ones(2)), 1j * np.eye(2))
    with pytest.raises(TypeError, match="with holomorphic=True argument 'x' must be complex"):
        jacfwd(lambda x: x, holomorphic=True)(np.ones(2))


def test_holomorphic_functions_are_recognized() -> None:
    z = np.array([1 + 2j, 0.5 - 1j])
    for make in (jacfwd, jacrev, jacobian):
        for f in (np.conj, lambda z: z * np.conj(z), lambda z: z.real + 0j):
            with pytest.raises(TypeError, match="the function must be holomorphic"):
                make(f, holomorphic=True)(z)
        with pytest.raises(TypeError, match="the result must be complex"):
            make(lambda z: np.abs(z) ** 2, holomorphic=True)(z)
    assert derivative(lambda z: z**3)(1 + 1j) == pytest.approx(6j)
    with pytest.raises(TypeError, match="needs a holomorphic function"):
        derivative(lambda z: z * np.conj(z))(1 + 1j)


def test_products_with_the_hessian_name_what_is_wrong() -> None:
    for make in (hvp, vhp):
        with pytest.raises(TypeError, match="an array of dtype int64; convert it to float first"):
            make(lambda n: np.sum(n * 2.0))(np.arange(3), np.ones(3))
        with pytest.raises(TypeError, match="the direction comes after the arguments"):
            make(lambda x: np.sum(x**2))(np.ones(3))
    with pytest.raises(TypeError, match="it is an int, not a float; pass float"):
        jacobian(lambda n: n * np.ones(2))(3)


def test_jacobians_of_nothing() -> None:
    nothing = np.zeros((0, 2))
    for make in (jacfwd, jacrev, jacobian):
        assert make(lambda x: x.sum(0))(nothing).shape == (2, 0, 2)
        assert make(lambda x: x[:0])(np.ones(3)).shape == (0, 3)


def test_arguments_in_a_container_are_taken_out_before_they_are_compared() -> None:
    def f(parameters: Any, y: Any) -> Any:
        (a, b), c = parameters
        y[0] = a * b
        return y * c

    y = np.ones(2)
    out, t_out = jvp(f, (((2.0, 3.0), np.ones(2)), y), (((1.0, 0.0), np.zeros(2)), np.zeros(2)))
    np.testing.assert_array_equal(t_out, [3.0, 0.0])
    np.testing.assert_array_equal(out, [6.0, 1.0])
    np.testing.assert_array_equal(y, np.ones(2))


def test_what_a_function_returns_besides_has_no_tangent():
    table = np.array([1.0, 2.0])
    value, tangent = jvp(lambda x: (x, 1.0, np.inf, 3, "s", table), (2.0,), (5.0,))
    assert value[:5] == (2.0, 1.0, np.inf, 3, "s")
    assert tangent[:5] == (5.0, 0.0, 0.0, None, None)
    np.testing.assert_array_equal(tangent[5], [0.0, 0.0])


def heated(u, steps):
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) - 0.01 * u[1:-1] ** 2
    return np.sum(u * u)


@pytest.mark.parametrize("order", [1, 2])
def test_views_leave_the_loops_and_tangents_reuse_buffers(order):
    rng = np.random.default_rng(0)
    u, v = rng.normal(size=(2, 7))
    made, f = (linearize(heated, u, 3)[1], heated) if order == 1 else (hvp(heated), grad(heated))
    found = made(v, None) if order == 1 else made(u, 3, v)
    steps = [f(u + h * v, 3) for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(found, (steps[0] - steps[1]) / 2e-6, rtol=1e-7, atol=1e-7)
    views = ["u_inner", "t_u_inner", "u_right", "t_u_left", "d_u_inner", "t_d_u_inner"]
    for view in views[: 4 if order == 1 else 6]:
        assert f"\n    {view} = " in made.source
    loops = [part.partition("\n    t_")[0] for part in made.source.split("):\n        ")[1:]]
    assert len(loops) == order
    assert not any("[1:-1]" in loop for loop in loops)
    assert "t_total *= 0.1" in loops[0]
    assert " + u_left) - 0.01 * " in loops[0]  # the user's own line is spelled as before


def test_a_tangent_takes_over_no_array_that_is_needed_again():
    def f(x):
        y = np.sin(x) * x
        z = y * 2.0
        return np.sum(z * y) + np.sum(y)

    x, v = np.random.default_rng(1).normal(size=(2, 5))
    y = np.sin(x) * x
    slope = np.sin(x) + x * np.cos(x)
    out, t_out = jvp(f, (x,), (v,))
    np.testing.assert_allclose(out, np.sum(2 * y * y + y))
    np.testing.assert_allclose(t_out, np.sum((4 * y + 1) * slope * v))
    curvature = 2 * np.cos(x) - x * np.sin(x)
    np.testing.assert_allclose(hvp(f)(x, v), (4 * slope**2 + (4 * y + 1) * curvature) * v)


@pytest.mark.parametrize("rotates", [False, True])
def test_the_tangents_of_eigenvectors(rotates: bool) -> None:
    x = np.array([[2.0, 0.3, 0.1], [0.2, 1.0, 0.4], [0.1, 0.2, 0.5]])
    if rotates:
        x[0, 1], x[1, 0] = 3.0, -3.0
    along = np.random.default_rng(0).normal(size=(3, 3))

    def f(x: Any) -> Any:
        w, v = np.linalg.eig(x)
        values = np.linalg.eigvals(x) ** 2
        return np.sum(np.abs(w - 0.3) ** 2 + values.real) + np.sum(
            np.abs(v[0]) ** 3 + v[1].real * v[2].real
        )

    assert np.iscomplex(np.linalg.eig(x)[0]).any() == rotates
    moved = jvp(f, (x,), (along,))[1]
    h = 1e-6
    assert moved == pytest.approx((f(x + h * along) - f(x - h * along)) / (2 * h), rel=1e-7)
    assert moved == pytest.approx(np.sum(grad(f)(x) * along), rel=1e-10)


@pytest.mark.parametrize("size", [abs, np.abs, lambda c: (c * np.conj(c)).real, lambda c: c.imag])
@pytest.mark.parametrize("trips", ["for", "while"])
def test_a_complex_number_that_starts_as_zero(size, trips):
    def f(x):
        c, k = 0j, 0
        if trips == "for":
            for _ in range(3):
                c = c * c + x[0] * (1 + 0.5j) + x[1]
        while trips == "while" and abs(c) < 2 and k < 5:
            c, k = c * c + x[0] * (1 + 0.5j) + x[1], k + 1
        return size(c)

    x, direction = np.array([0.4, 0.3]), np.array([0.7, -0.2])
    value, tangent = jvp(f, (x,), (direction,))
    assert np.isrealobj(tangent)
    assert value == pytest.approx(f(x), rel=1e-12)
    difference = (f(x + 1e-6 * direction) - f(x - 1e-6 * direction)) / 2e-6
    assert tangent == pytest.approx(difference, rel=1e-6)
    assert tangent == pytest.approx(grad(f)(x) @ direction, rel=1e-10)


MAKERS = (
    "np.array(a, copy=None)", "np.require(a)", "np.einsum('ij->ji', a)", "a.view(np.ndarray)",
    "np.einsum('ii->i', a)", "np.asarray_chkfinite(a)", "np.require(a.T, float, 'C')",
    "np.einsum('ij,j->ij', a, np.ones(3))", "np.unstack(a)[1]", "np.unstack(a, axis=-1)[0]",
)  # fmt: skip


@pytest.mark.parametrize("maker", [m for m in MAKERS if hasattr(np, "unstack") or "uns" not in m])
def test_the_tangent_is_a_view_where_the_primal_is(maker: str) -> None:
    f = define(
        "def f(x):\n"
        "    a = x * 1.0\n"
        f"    b = {maker}\n"
        "    b[0] = 5.0\n"
        "    b[-1] *= 2.0\n"
        "    a[0] += 1.0\n"
        "    return np.sum(np.sin(a)) + np.sum(np.cos(b))\n"
    )
    check_grads(f, (np.random.default_rng(0).standard_normal((3, 3)),), order=1)


def test_rows_kept_in_a_list_are_read_before_they_are_written() -> None:
    def f(x):
        a = x.copy()
        rows = []
        for i in range(2):
            rows.append(a[i])
        kept = np.array(rows)
        a[:1] += a[-1:]
        return np.sum(np.cos(a)) + np.sum(np.cos(kept) * 3.0)

    check_grads(f, (np.random.default_rng(0).standard_normal((3, 2)),), order=1)


def test_batches_of_copies_are_copies() -> None:
    def f(x):
        a = np.sin(x)
        b = a.flatten()
        c = b * 2.0
        np.copyto(b, 0.7)
        return np.concatenate([np.cos(a).ravel(), b, c])

    x = np.array([[0.3], [0.9]])
    expected = np.concatenate([np.diag(-np.sin(np.sin(x[:, 0]))), np.zeros((2, 2)), 2 * np.eye(2)])
    expected *= np.cos(x[:, 0])
    np.testing.assert_allclose(jacfwd(f)(x)[..., 0], expected)
    np.testing.assert_allclose(jacrev(f)(x)[..., 0], expected)


def test_tangents_in_a_tuple_are_needed_as_long_as_it_is() -> None:
    def f(x):
        a = x.copy()
        c = np.broadcast_arrays(a, np.ones(1))[0]
        return np.concatenate([np.cos(a), np.cos(c)])

    x = np.array([0.3, 0.9])
    _, moved = jvp(f, (x,), (np.ones(2),))
    np.testing.assert_allclose(moved, -np.sin(np.concatenate([x, x])))


def fraction_that_is_written(x):
    y = x * 2
    fraction, whole = np.modf(y)
    fraction[0] = 3 * x[1]
    return np.sum(fraction) + np.sum(whole) + np.sum(y**2)


def axes_that_are_written(x):
    y = x * 2
    rows, columns = np.meshgrid(y, y, sparse=True)
    (alone,) = np.meshgrid(y)
    rows[0] = 3 * x[1]
    alone[0] = x[0]
    return np.sum(rows * columns) + np.sum(y**2) + np.sum(alone**3)


def fraction_of_what_is_written(x):
    y = x * 2
    _, rest = np.divmod(y, 0.46)
    fraction, _ = np.modf(rest)
    y[0] = 3 * x[1]
    rest[1] = x[2]
    return np.sum(fraction * x) + np.sum(rest * x) + np.sum(y**2)


def diagonal_of_what_is_written(x):
    y = np.outer(x, x)
    total = np.sum(np.linalg.diagonal(y) ** 2)
    y *= 0.5
    return total + np.sum(y**2)


@pytest.mark.parametrize(
    "f",
    [
        fraction_that_is_written,
        axes_that_are_written,
        fraction_of_what_is_written,
        diagonal_of_what_is_written,
    ],
)
def test_new_arrays_have_tangents_of_their_own(f):
    """The tangents of items of a tuple were those of the arguments, or read-only."""
    x, v = np.array([0.3, 0.52, 0.9]), np.array([0.2, -0.4, 0.7])
    expected = (f(x + 1e-6 * v) - f(x - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(jvp(f, (x,), (v,))[1], expected, rtol=1e-7)
    np.testing.assert_allclose(grad(f)(x) @ v, expected, rtol=1e-7)


def test_the_item_of_an_array_with_one_that_is_computed_in_place():
    def f(x, y):
        w = np.sin(x)
        t = y * np.cos(x)[0] - np.exp(-x)[-1]
        w[:] *= t
        return w @ w + t

    for x in (np.array([0.4]), np.array([0.4, -0.8])):
        v = x + 0.3
        slope = (f(x + 1e-6 * v, 0.7 + 4e-7) - f(x - 1e-6 * v, 0.7 - 4e-7)) / 2e-6
        assert jvp(f, (x, 0.7), (v, 0.4))[1] == pytest.approx(slope, rel=1e-7)


def labels_of(scores, labels):
    """Labels given as such or as rows with a one: an array of floats on one path."""
    if labels.size == scores.size:
        labels = labels.argmax(axis=1)
    return labels


def chosen(scores, labels):
    return np.sum(scores[np.arange(3), labels_of(scores, labels)] ** 2)


def chosen_one_by_one(scores, labels):
    total = 0.0
    for row, label in zip(scores, labels_of(scores, labels), strict=True):
        total += row[label] ** 2
    return total


def chosen_rows(scores, labels):
    return np.sum(scores[labels_of(scores, labels) % 3, ::-1] ** 2 * scores)


def written_where_chosen(scores, labels):
    made, labels = 2 * scores, labels_of(scores, labels)
    made[np.arange(3), labels] *= scores[:, 1]
    return np.sum(made[labels] ** 2)


def masked(scores, labels):
    if labels.size == scores.size:
        labels = labels > 0.5
    return np.sum(scores[labels] ** 2)


@pytest.mark.parametrize(
    "f", [chosen, chosen_one_by_one, chosen_rows, written_where_chosen, masked]
)
def test_an_index_that_may_be_of_floats_has_no_tangent(f: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    scores, along = rng.normal(size=(2, 3, 3))
    labels = np.eye(3)[[1, 0, 2]]
    slope = (f(scores + 1e-6 * along, labels) - f(scores - 1e-6 * along, labels)) / 2e-6
    still = np.zeros_like(labels)
    assert jvp(f, (scores, labels), (along, still))[1] == pytest.approx(slope, rel=1e-6)
    assert linearize(f, scores, labels)[1](along, still) == pytest.approx(slope, rel=1e-6)
    for derived in (jacfwd, jacrev, grad):
        d_scores, d_labels = derived(f, argnums=(0, 1))(scores, labels)
        assert np.sum(d_scores * along) == pytest.approx(slope, rel=1e-6)
        np.testing.assert_array_equal(d_labels, still)


OTHER = np.array([0.3, -1.2, 2.0])
TABLE = np.outer(OTHER, OTHER) + np.eye(3)
BESIDE = [
    lambda x, c: np.atleast_1d(x, c),
    lambda x, c: np.atleast_2d(x, c, 1.5),
    lambda x, c: np.atleast_3d(x, TABLE, c),
    lambda x, c: np.broadcast_arrays(x, c, TABLE),
    lambda x, c: np.meshgrid(x, c),
    lambda x, c: np.meshgrid(x, c, indexing="ij", sparse=True),
    lambda x, c: np.split(np.concatenate((x, c)), 2),
    lambda x, c: np.stack([x, c]),
    lambda x, c: np.append(x, c),
    lambda x, c: np.r_[x, 2.0, c],
    lambda x, c: np.block([[x, c], [c, c]]),
    lambda x, c: np.insert(x, 1, c[:1]),
    lambda x, c: np.diff(x, prepend=c[:1]),
    lambda x, c: np.linspace(x, c, 4),
    lambda x, c: np.interp([-1.0, 0.5, 5.0], [0.0, 1.0, 2.0], x, left=c[0]),
    lambda x, c: np.pad(x, 2, mode="linear_ramp", end_values=c[0]),
]


@pytest.mark.parametrize("f", BESIDE)
@pytest.mark.parametrize("swapped", [False, True])
def test_what_stands_beside_has_no_tangent(f: Callable[..., Any], swapped: bool) -> None:
    def total(x):
        found = f(OTHER, x) if swapped else f(x, OTHER)
        parts = found if isinstance(found, (tuple, list)) else (found,)
        return sum(np.sum(np.sin(part)) * (i + 1) for i, part in enumerate(parts))

    check_grads(total, (np.array([0.5, 1.4, -0.7]),))


def test_what_stands_beside_is_written() -> None:
    def f(x):
        a, b = np.atleast_2d(x, OTHER.copy())
        b[0, 1] = x[2]
        a[0] *= x[0]
        return np.sum(a * b + b**3)

    x = np.array([0.5, 1.4, -0.7])
    check_grads(lambda x: f(x.copy()), (x,))
    check_grads(f, (x,))


def test_signs_of_what_only_the_run_tells() -> None:
    """Their rule contributes nothing to real numbers, and something to complex ones."""

    def of_any_rank(x):
        a = np.squeeze(x[None] if x[0] > 0 else x)
        return np.sum(np.sign(a) * a**2)

    def of_eigenvectors(x):
        w, v = np.linalg.eig(np.outer(x, x) + np.diag([1.0, 2.0, 3.0]))
        chosen = np.squeeze(v[:, np.nonzero(w.real > 1)[0]])
        return np.sum(np.abs(np.sign(chosen) * chosen**2))

    for f in (of_any_rank, of_eigenvectors):
        check_grads(f, (np.array([0.3, -0.2, 0.7]),))


def test_the_tangent_of_a_number_that_may_be_an_int_is_real():
    def f(x, s):
        chosen = s if x > 5 else x
        return float(np.asarray(chosen).item()) * x

    assert jvp(f, (6.0, 3), (1.0, None)) == (18.0, 3.0)
    assert jvp(f, (2.0, 3), (1.0, None)) == (4.0, 4.0)


COEFFICIENTS = {1.0: [1.0, 2.0], 2.0: [3.0, 4.0]}


def coefficient_of(x, order):
    return COEFFICIENTS[order][1] * x


def coefficients_in_turn(x, order):
    for coefficient in COEFFICIENTS[order]:
        x = x * coefficient
    return x


def coefficients_copied(x, order):
    own = list(COEFFICIENTS[order])
    own[0] = own[0] * x
    return own[0] + own[1] * order


@pytest.mark.parametrize("f", [coefficient_of, coefficients_in_turn, coefficients_copied])
def test_a_list_that_a_float_finds_in_a_dict_has_no_tangent(f: Callable[..., Any]) -> None:
    by_x, by_order = grad(f, argnums=(0, 1))(0.3, 2.0)
    assert jvp(f, (0.3, 2.0), (1.0, 0.0)) == pytest.approx((f(0.3, 2.0), by_x))
    assert jvp(f, (0.3, 2.0), (0.0, 1.0)) == pytest.approx((f(0.3, 2.0), by_order))


def root_of_a_choice(x):
    return np.sqrt(1.0 - x if x < 1.0 else 0.0)


def power_of_a_choice(x):
    left = 0.0
    if x < 1.0:
        left = 1.0 - x
    return (2.0 * left) ** 0.35


def root_of_a_sum_of_choices(x):
    total = 0.0
    for excess in (x - 3.0, x - 4.0):
        if excess > 0.0:
            total += excess * excess
    return math.sqrt(total)


def angle_of_a_choice(x):
    cosine = 1.0
    for k in range(3):
        if x < k - 2:
            cosine = x / k
    return np.arccos(cosine)


def roots_of_chosen_arrays(x):
    left = np.zeros(2)
    if x < 1.0:
        left = left + x
    return np.sum(np.sqrt(left))


@pytest.mark.parametrize(
    "f",
    [
        root_of_a_choice,
        power_of_a_choice,
        root_of_a_sum_of_choices,
        angle_of_a_choice,
        roots_of_chosen_arrays,
    ],
)
def test_a_branch_that_is_not_taken_moves_nothing_under_a_root(f: Callable[..., Any]) -> None:
    with np.errstate(divide="ignore", invalid="ignore"):
        assert grad(f)(2.0) == 0
        assert jvp(f, (2.0,), (1.0,)) == (0.0, 0.0)
        assert jacfwd(f)(2.0) == 0
    if f is not angle_of_a_choice:
        moved = 0.25 if f is not root_of_a_sum_of_choices else 3.5
        check_grads(f, (moved,))


def test_what_no_branch_leaves_constant_moves_under_a_root() -> None:
    def f(x):
        total = 0.0
        for k in range(3):
            total += x * (1.0 if k else x)
        return math.sqrt(total)

    assert "unless_zero" not in linearize(f, 0.5)[1].source
