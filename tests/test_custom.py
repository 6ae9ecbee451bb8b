"""Custom rules, constants and derivatives taken inside differentiated functions."""

import math
import random

import numpy as np
import pytest

import srcgrad
from srcgrad import (
    UnsupportedError,
    adjoint,
    checkpoint,
    custom_vjp,
    grad,
    hvp,
    jvp,
    nondifferentiable,
    stop_gradient,
    vjp,
)
from srcgrad.rules import registry
from srcgrad.testing import check_grads
from tests.small_programs import differences
from tests.test_units import check, difference

X = np.random.default_rng(0).standard_normal(4)


@custom_vjp
def log1pexp(x):
    return np.log(1 + np.exp(x))


def log1pexp_forward(x):
    e = np.exp(x)
    return np.log(1 + e), e


log1pexp.defvjp(log1pexp_forward, lambda e, d_out: (d_out * (1 - 1 / (1 + e)),))


def test_a_pair_of_functions():
    check(lambda x: np.sum(log1pexp(x) ** 2), X)
    check(log1pexp, 0.3)
    assert grad(log1pexp)(100.0) == 1.0
    assert log1pexp(0.0) == np.log(2)


def test_a_pair_for_a_lambda():
    bent = srcgrad.custom_vjp(lambda x: np.tanh(x))
    bent.defvjp(lambda x: (np.tanh(x), x), lambda x, d: (d / np.cosh(x) ** 2,))
    x = np.array([0.3, 0.5])
    gradient = srcgrad.grad(lambda x: np.sum(bent(x) ** 2))
    np.testing.assert_allclose(gradient(x), 2 * np.tanh(x) / np.cosh(x) ** 2, rtol=1e-14)
    assert "def function(" in gradient.source
    check_grads(lambda x: np.sum(bent(x) ** 2), (x,))


def test_the_rule_is_used_rather_than_the_function():
    @custom_vjp
    def clipped(x, scale):
        return np.floor(x * scale)

    clipped.defvjp(
        lambda x, scale: (np.floor(x * scale), (scale, {"x": x})),
        lambda kept, d_out: (d_out * kept[0] * kept[1]["x"], None),
    )

    def f(x):
        total = 0.0
        for i in range(3):
            total = total + np.sum(clipped(x, 2.0 + i))
        return total

    np.testing.assert_allclose(grad(f)(X), X * (2 + 3 + 4))
    moved = jvp(f, (X,), (np.ones(4),))[1]
    assert moved == pytest.approx(np.sum(X) * 9)


def test_several_results_and_containers():
    @custom_vjp
    def polar(p):
        return {"r": np.hypot(p["x"], p["y"]), "angle": np.arctan2(p["y"], p["x"])}

    def forward(p):
        out = polar.function(p)
        return out, (p, out["r"])

    def backward(kept, d):
        p, r = kept
        return (
            {
                "x": d["r"] * p["x"] / r - d["angle"] * p["y"] / r**2,
                "y": d["r"] * p["y"] / r + d["angle"] * p["x"] / r**2,
            },
        )

    polar.defvjp(forward, backward)

    def f(x, y):
        out = polar({"x": x, "y": y})
        return out["r"] * np.sin(out["angle"])

    check(f, 0.3, 0.7)


def test_a_rule_that_is_missing_or_misfits():
    @custom_vjp
    def bare(x):
        return x * 2

    with pytest.raises(srcgrad.UnsupportedError, match="a custom_vjp without a rule"):
        grad(bare)(1.0)
    bare.defvjp(lambda x: (x, None), lambda kept, d: d)
    with pytest.raises(srcgrad.UnsupportedError, match="must return a tuple of 1"):
        grad(bare)(1.0)
    bare.defvjp(lambda x: x, lambda kept, d: (d,))
    with pytest.raises(srcgrad.UnsupportedError, match="must return a pair"):
        grad(bare)(1.0)
    with pytest.raises(TypeError, match="custom_vjp needs a function"):
        custom_vjp(3)


def test_what_is_written_after_the_call():
    @custom_vjp
    def square(x):
        return x * x

    square.defvjp(lambda x: (x * x, x), lambda x, d_out: (2 * x * d_out,))

    def f(x):
        u = x * 1.0
        v = square(u)
        u *= 3
        v[0] = u[1]
        return np.sum(v * u) + np.sum(square(u[:2]))

    step = np.array([1.0, 2.0, -1.0, 0.5])
    assert np.sum(grad(f)(X) * step) == pytest.approx(difference(f, (X,), (step,)))
    with pytest.raises(srcgrad.UnsupportedError, match="may share memory"):
        jvp(f, (X,), (step,))

    @custom_vjp
    def same(x):
        return x

    same.defvjp(lambda x: (x, None), lambda kept, d_out: (2 * d_out,))

    def g(x):
        u = x * 1.0
        v = same(u)
        u *= 3
        return np.sum(v)

    with pytest.raises(srcgrad.UnsupportedError, match="may share memory"):
        grad(g)(X)


def test_stop_gradient():
    assert grad(lambda x: x * stop_gradient(x))(3.0) == 3.0
    assert stop_gradient(3.0) == 3.0

    def f(x):
        held = stop_gradient({"a": x * 2, "b": [np.sum(x)]})
        y = x * held["a"]
        y[0] = 5.0
        return np.sum(y) * held["b"][0]

    expected = 2 * X * np.sum(X)
    expected[0] = 0.0
    np.testing.assert_allclose(grad(f)(X), expected)
    np.testing.assert_allclose(jvp(f, (X,), (np.ones(4),))[1], np.sum(expected))

    def written(x):
        y = x * 1.0
        held = stop_gradient(y)
        y *= 2.0
        held[0] = 1.0
        return np.sum(y * held)

    np.testing.assert_allclose(grad(written)(X), 2 * np.array([1.0, *X[1:]]))


def test_nondifferentiable():
    @nondifferentiable
    def scale(x):
        return np.max(np.abs(x))

    np.testing.assert_allclose(grad(lambda x: np.sum(x) / scale(x))(X), 1 / np.max(np.abs(X)))
    assert scale(X) == np.max(np.abs(X))


GENERATOR = np.random.default_rng(0)
CALLS = [0]


@nondifferentiable
def drawn(shape):
    return GENERATOR.random(shape)


@nondifferentiable
def counted():
    CALLS[0] += 1
    return CALLS[0] * 0.3


@nondifferentiable
def scaled(x):
    return np.linalg.norm(x) / math.sqrt(x.size)


def dropped(x):
    return x * (GENERATOR.random(x.shape) + 0.5)


@adjoint(dropped)
def _dropped(x, *, out, d_out):
    return d_out * (out / x)


def draws_twice(x):
    return np.sum(np.sin(x * drawn(4)) * drawn(4))


def counts_twice(x):
    counted()
    return np.sum(np.sin(x * counted()) * counted())


def draws_in_a_loop(x):
    s = 0.0
    for _ in range(3):
        noise = drawn(2)
        s = np.sin(s + x.sum()) * noise[0]
    return s


def counts_in_a_loop(x):
    y = np.zeros(4)
    for i in range(4):
        y[i] = x[0] * counted() ** 2
    return np.sum(y * y)


def drops(x):
    s = x
    for _ in range(3):
        s = np.sin(dropped(x)) * s
    return np.sum(s * dropped(x))


@pytest.mark.parametrize(
    "function", [draws_twice, counts_twice, draws_in_a_loop, counts_in_a_loop, drops]
)
def test_what_is_not_looked_into_may_return_something_else_each_time(function):
    def again(f, *args):
        GENERATOR.bit_generator.state, CALLS[0] = state, 0
        return f(*args)

    state = GENERATOR.bit_generator.state
    gradient, product = grad(function), hvp(function)
    v = np.array([0.3, -0.2, 0.5, 0.1])
    gradient(X), product(X, v)  # compiled, which calls it as well
    slope = (again(function, X + 1e-6 * v) - again(function, X - 1e-6 * v)) / 2e-6
    assert again(gradient, X) @ v == pytest.approx(slope, rel=1e-6, abs=1e-8)
    assert again(jvp, function, (X,), (v,))[1] == pytest.approx(slope, rel=1e-6, abs=1e-8)
    ends = again(gradient, X + 1e-6 * v) - again(gradient, X - 1e-6 * v)
    np.testing.assert_allclose(again(product, X, v), ends / 2e-6, rtol=1e-5, atol=1e-6)


def test_what_only_depends_on_its_arguments_is_called_once():
    def f(x):
        return np.sum(np.sin(x * scaled(x))) * scaled(x)

    gradient = grad(f)
    gradient(X)
    assert gradient.source.count(" = scaled(x)\n") == 1


def test_what_may_return_something_else_is_not_computed_a_second_time():
    def f(x):
        return checkpoint(lambda s: np.sum(np.sin(s * drawn(4))))(x)

    with pytest.raises(UnsupportedError, match="it calls 'drawn'"):
        grad(f)(X)


# Derivatives inside


def test_a_pullback_inside():
    def f(x, w):
        out, pullback = vjp(lambda z: np.sin(z * w) * z, x)
        (d,) = pullback(out * x)
        return np.sum(d * d) + np.sum(out)

    check(f, X, 0.7)
    out, pullback = vjp(lambda z: np.sin(z * 0.7) * z, X)
    assert f(X, 0.7) == pytest.approx(np.sum(pullback(out * X)[0] ** 2) + np.sum(out))


def test_a_pullback_called_several_times_in_a_loop():
    def jacobian_by_rows(x):
        _, pullback = vjp(lambda z: np.array([z[0] * z[1], np.exp(z[1]), z[0] ** 3]), x)
        rows = np.zeros((3, 2))
        for i in range(3):
            seed = np.zeros(3)
            seed[i] = 1.0
            rows[i] = pullback(seed)[0]
        return rows

    def f(x):
        return np.sum(jacobian_by_rows(x) ** 2)

    x = np.array([0.5, 0.8])
    expected = np.array([[0.8, 0.5], [0.0, np.exp(0.8)], [0.75, 0.0]])
    np.testing.assert_allclose(jacobian_by_rows(x), expected)
    check(f, x)


def test_a_pullback_of_a_nest():
    def f(x, y):
        def inner(p, q):
            return {"a": p["u"] * q, "b": [np.sum(p["v"] * p["u"])]}

        out, pullback = vjp(inner, {"u": x, "v": x * y}, y)
        d_p, d_q = pullback({"a": out["a"], "b": [2.0]})
        return np.sum(d_p["u"] * d_p["v"]) + d_q

    check(f, X, 0.4)


def test_what_is_written_after_vjp():
    def f(x):
        y = x * 2
        _, pullback = vjp(lambda z: np.sum(z**3), y)
        y *= 0.0
        return np.sum(pullback(1.0)[0] ** 2) + np.sum(y)

    check(f, X)


def test_jvp_inside_and_jvp_of_vjp():
    def f(x):
        out, moved = jvp(lambda z: np.tanh(z) * np.sum(z), (x,), (np.cos(x),))
        return np.sum(out * moved)

    check(f, X)

    def curvature(x):
        def slope(z):
            return vjp(lambda u: np.sum(u**4), z)[1](1.0)[0]

        return np.sum(jvp(slope, (x,), (x,))[1])

    check(curvature, X)
    assert curvature(X) == pytest.approx(np.sum(12 * X**3))


def test_a_gradient_by_an_outer_variable_in_an_inner_optimisation():
    def f(decay):
        x = np.array([1.0, -0.5])
        for _ in range(5):
            x = x - 0.1 * grad(lambda z: np.sum((z - decay) ** 2) + decay * np.sum(z**4))(x)
        return np.sum(x)

    check(f, 0.3)


def test_jvp_of_recursion_inside():
    def descend(x):
        return x * x if x < 1.0 else descend(x / 2) * np.sin(x)

    def f(x):
        out, pullback = vjp(descend, x)
        return out * pullback(2.0)[0]

    check(f, 5.3)


def test_the_cotangent_must_fit():
    def f(x):
        return np.sum(vjp(lambda z: (z, z * 2), x)[1](x)[0])

    with pytest.raises(srcgrad.UnsupportedError, match="isn't nested like"):
        grad(f)(X)


# Implicit functions


def newton(x, a, b):
    for _ in range(30):
        x = x - (x**3 + a * x - b) / (3 * x * x + a)
    return x


def test_a_scalar_root():
    root = srcgrad.implicit_root(lambda x, a, b: x**3 + a * x - b, newton)

    def f(a, b):
        return root(1.0, a, b) ** 2 * a

    check(f, 2.0, 3.0)


def test_a_root_of_a_system_with_captured_variables():
    def f(m, b):
        def residual(x, b):
            return m @ x + 0.1 * x**3 - b

        def solve(x, b):
            for _ in range(50):
                x = x - np.linalg.solve(m + np.diag(0.3 * x**2), m @ x + 0.1 * x**3 - b)
            return x

        root = srcgrad.implicit_root(residual, solve)
        x = root(np.zeros(3), b)
        return np.sum(x * x) + x[0]

    M = np.eye(3) * 2 + 0.3 * np.random.default_rng(1).standard_normal((3, 3))
    b = np.array([1.0, -0.5, 0.3])
    g_m, g_b = grad(f, (0, 1))(M, b)
    step = np.array([0.3, 1.0, -0.2])
    assert np.sum(g_b * step) == pytest.approx(difference(lambda b: f(M, b), (b,), (step,)))
    x = b
    for _ in range(50):
        x = x - np.linalg.solve(M + np.diag(0.3 * x**2), M @ x + 0.1 * x**3 - b)
    d_x = 2 * x + np.array([1.0, 0, 0])
    adjoint = np.linalg.solve((M + np.diag(0.3 * x**2)).T, d_x)
    np.testing.assert_allclose(g_b, adjoint, rtol=1e-8)
    np.testing.assert_allclose(g_m, -np.outer(adjoint, x), rtol=1e-8)


def test_a_minimum():
    def loss(x, a, w):
        return np.sum((x - a) ** 4) + w * np.sum(x * x)

    def solve(x, a, w):
        for _ in range(60):
            x = x - (4 * (x - a) ** 3 + 2 * w * x) / (12 * (x - a) ** 2 + 2 * w)
        return x

    argmin = srcgrad.implicit_minimum(loss, solve)

    def f(a, w):
        return np.sum(np.sin(argmin(np.zeros(2), a, w)))

    check(f, np.array([1.0, 2.0]), 0.7, tolerance=1e-5)


def test_a_solver_that_returns_another_shape():
    root = srcgrad.implicit_root(lambda x, a: x - a, lambda x, a: np.zeros(3))
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        root(np.zeros(2), 1.0)
    with pytest.raises(TypeError, match="solver must be a function"):
        srcgrad.implicit_root(newton, 3)


# Rules that change


def test_a_forward_rule():
    def scaled(x, factor):
        return np.floor(x * factor)

    @srcgrad.tangent(scaled)
    def scaled_tangent(x, factor, *, out, tangents):
        return tangents[0] * factor

    moved = jvp(lambda x: np.sum(scaled(np.sin(x), 3.0) * x), (X,), (np.ones(4),))[1]
    expected = np.sum(scaled(np.sin(X), 3.0) + 3 * np.cos(X) * X)
    assert moved == pytest.approx(expected)
    with pytest.raises(srcgrad.UnsupportedError, match="has no derivative rule"):
        grad(lambda x: np.sum(scaled(x, 3.0)))(X)


def hypotenuse(a, b):
    return np.hypot(a, b)


def by_partials():
    @srcgrad.elementwise(hypotenuse)
    def rule(a, b, *, out):
        return a / out, b / out


def by_contributions():
    @adjoint(hypotenuse)
    def rule(a, b, *, out, d_out):
        return d_out * a / out, d_out * b / out


def squares(x, passed):
    items = []
    for v in x:
        if v > -9:
            items.append(v * v)
    return np.sum(hypotenuse(b=1.0, a=items) if passed else hypotenuse(1.0, items))


PASSED = {
    "by name": lambda x: np.sum(hypotenuse(2.0, b=x)),
    "in another order": lambda x: np.sum(hypotenuse(b=x, a=x[:1])),
    "in a list": lambda x: np.sum(hypotenuse([x[0], 2 * x[1]], 1.0)),
    "in a tuple, by name": lambda x: np.sum(hypotenuse(1.0, b=(x[0], 2 * x[1]))),
    "in a list of the run": lambda x: squares(x, False),
    "in a list of the run, by name": lambda x: squares(x, True),
}


@pytest.mark.parametrize("register", [by_partials, by_contributions])
@pytest.mark.parametrize("name", PASSED)
def test_arguments_of_a_function_with_a_rule(name, register, monkeypatch):
    monkeypatch.setattr(registry, "primitives", dict(registry.primitives))
    register()
    check_grads(PASSED[name], (X,))
    np.testing.assert_allclose(
        srcgrad.jacobian(PASSED[name])(X), grad(PASSED[name])(X), rtol=1e-12, atol=1e-12
    )


def test_a_partial_derivative_that_is_not_returned_is_not_zero():
    def scaled(a, b):
        return np.hypot(a, b)

    @srcgrad.elementwise(scaled)
    def rule(a, b, *, out):
        return a / out

    message = "scaled isn't differentiable with respect to"
    for f in (lambda x: np.sum(scaled(1.0, x)), lambda x: np.sum(scaled(1.0, b=x))):
        with pytest.raises(UnsupportedError, match=message):
            jvp(f, (X,), (X,))
        with pytest.raises(UnsupportedError, match=message):
            grad(f)(X)


def test_what_is_no_rule():
    with pytest.raises(
        TypeError, match=r"a rule of hypotenuse takes \(a, b, \*, out\), not \(a, b\)"
    ):
        srcgrad.elementwise(hypotenuse)(lambda a, b: 1.0)
    with pytest.raises(TypeError, match=r"takes \(a, \*, out, d_out\), not \(a, \*, out\)"):
        adjoint(hypotenuse)(lambda a, *, out: 1.0)
    with pytest.raises(TypeError, match="a rule is a Python function, not 3"):
        srcgrad.tangent(hypotenuse)(3)
    with pytest.raises(TypeError, match="@adjoint is given the function that rule is the rule of"):

        @adjoint
        def rule(a, *, out, d_out):
            return d_out


@pytest.mark.parametrize(
    ("contributions", "message"),
    [
        (
            lambda x, *, out, d_out: (d_out, d_out),
            "returns 2 contributions, but it has 1 parameter",
        ),
        (lambda x, *, out, d_out: "half", "a rule contributes 'half', which is no number"),
    ],
)
def test_what_a_rule_does_not_contribute(contributions, message):
    def doubled(x):
        return 2 * x

    adjoint(doubled)(contributions)
    with pytest.raises(UnsupportedError, match=message):
        grad(lambda x: np.sum(doubled(x)))(X)


def test_a_rule_registered_again_is_noticed():
    def step(x):
        return np.floor(x)

    @srcgrad.adjoint(step)
    def first(x, *, out, d_out):
        return d_out

    gradient = grad(lambda x: step(x) * 2.0)
    assert gradient(1.5) == 2.0

    @srcgrad.adjoint(step)
    def second(x, *, out, d_out):
        return 10 * d_out

    assert gradient(1.5) == 20.0

    def inlined(x):
        return x * x

    gradient = grad(lambda x: inlined(x))
    assert gradient(3.0) == 6.0
    srcgrad.zero(inlined)
    assert gradient(3.0) == 0.0


def test_the_shape_of_a_users_contribution_is_checked():
    @srcgrad.custom_vjp
    def total(x):
        return x.sum()

    total.defvjp(lambda x: (x.sum(), None), lambda residuals, d_out: (d_out * np.ones(2),))

    def outside(x):
        return float(memoryview(x.sum()[None])[0])

    @srcgrad.adjoint(outside)
    def rule(x, *, out, d_out):
        return d_out * np.ones(2)

    for f in (total, lambda x: total(2 * x), outside, lambda x: outside(2 * x)):
        np.testing.assert_array_equal(np.shape(grad(f)(np.ones(2))), (2,))
        with pytest.raises(ValueError, match=r"\(2,\)"):
            grad(f)(np.ones(3))


def test_solvers_take_containers():
    def residual(u, p):
        return u + 0.1 * np.sin(u * p["a"]) - p["b"][0]

    def solver(u, p):
        for _ in range(50):
            u = u - residual(u, p)
        return u

    root = srcgrad.implicit_root(residual, solver)

    def f(a):
        return np.sum(root(np.zeros(3), {"a": a, "b": (a * 2, 1)}) ** 2)

    check(f, np.array([0.5, 0.3, 1.2]))


LEVEL = 1


@nondifferentiable
def times_the_level(x):
    return LEVEL * np.round(x)


def raise_the_level():
    global LEVEL
    LEVEL += 1


def test_a_number_outside_that_changes_between_two_calls():
    def f(x):
        total = 0.0
        for _ in range(3):
            total = total + np.sum(x * times_the_level(x))
            raise_the_level()
        return total

    global LEVEL
    LEVEL = 1
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(srcgrad.grad(f)(x), [6.0, 12.0])
    assert LEVEL == 4


def test_a_number_in_a_closure_that_changes_between_two_calls():
    step = 1

    @nondifferentiable
    def steps(x):
        return step * np.round(x)

    def f(x):
        nonlocal step
        before = steps(x)
        step += 1
        return np.sum(x * before + x * steps(x))

    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(srcgrad.grad(f)(x), [3.0, 6.0])
    assert step == 2


@nondifferentiable
def legacy(shape):
    return np.random.normal(size=shape) + random.random()


def test_what_a_function_draws_while_compiling_is_put_back():
    def noisy(x):
        return np.sum(x * drawn(4) * legacy(4)) + np.sum(dropped(x))

    def seeded(f):
        GENERATOR.bit_generator.state = state
        np.random.seed(3)
        random.seed(3)
        return f(X)

    state = GENERATOR.bit_generator.state
    expected = seeded(noisy)
    assert seeded(srcgrad.value_and_grad(noisy))[0] == pytest.approx(expected, rel=1e-12)


SLOPE, SLOPES = 3.0, np.array([1.0, 2.0, 0.5, 1.5])


def steeper(x, factor):
    return np.tanh(x) * factor * SLOPE


@adjoint(steeper)
def steeper_rule(x, factor, *, out, d_out):
    return d_out * (1 - np.tanh(x) ** 2) * factor * SLOPE, np.sum(d_out * np.tanh(x)) * SLOPE


def by_slopes(x):
    return x * SLOPES * np.sum(SLOPES)


@adjoint(by_slopes)
def by_slopes_rule(x, *, out, d_out):
    return d_out * SLOPES * np.sum(SLOPES)


def shrunk(x, n):
    return np.sum(x**2) if n < 0.1 else shrunk(steeper(x, 0.3) + 0.1 * by_slopes(x), n * 0.5)


def in_a_recursion(x):
    return shrunk(x, 1.0 + x[0] ** 2)


def in_a_checkpoint(x):
    return np.sum(checkpoint(lambda u: steeper(u, u[0]) ** 2)(x))


def in_a_tangent(x):
    return jvp(lambda u: np.sum(steeper(u, u[0]) ** 2), (x,), (x * x,))[1]


@pytest.mark.parametrize("f", [in_a_recursion, in_a_checkpoint, in_a_tangent])
def test_rules_find_numbers_outside_where_functions_stay_functions(f, monkeypatch):
    gradient = srcgrad.value_and_grad(f)
    for slope in (3.0, 2.0):  # a constant of what was compiled
        monkeypatch.setitem(globals(), "SLOPE", slope)
        value, found = gradient(X)
        assert value == pytest.approx(f(X), rel=1e-12)
        np.testing.assert_allclose(found, differences(f, X), rtol=1e-6, atol=1e-8)
    monkeypatch.setitem(globals(), "SLOPES", SLOPES[::-1].copy())
    for _ in range(2):
        np.testing.assert_allclose(gradient(X)[1], differences(f, X), rtol=1e-6, atol=1e-8)
        SLOPES[0] += 1.0  # read when the gradient runs


def test_pixels_are_shifted_by_what_is_differentiated_twice():
    ndimage = pytest.importorskip("scipy.ndimage")

    def f(x):
        return np.sum(np.sin(ndimage.shift(x, x[:1], order=3, mode="nearest")))

    def along(x):
        return jvp(f, (x,), (np.cos(x),))[1]

    check(along, np.array([0.3, 0.8, 0.55]))


def test_a_rule_that_the_function_makes_is_refused():
    def f(x):
        @custom_vjp
        def product(a):
            return a[0] * a[1]

        product.defvjp(lambda a: (a[0] * a[1], a), lambda a, d: (d * a[::-1],))
        return product(x)

    with pytest.raises(srcgrad.UnsupportedError, match="make it outside"):
        srcgrad.grad(f)(X[:2])


def softened(x):
    return np.log1p(np.exp(x))


def of_two(x, y):
    return x * y, np.sin(x)


soft, product_and_sine = srcgrad.custom_vjp(softened), srcgrad.custom_vjp(of_two)
soft.defvjp(lambda x: (softened(x), x), lambda x, d: (d / (1.0 + np.exp(-x)),))
product_and_sine.defvjp(
    lambda x, y: ((x * y, np.sin(x)), (x, y)),
    lambda kept, d: (d[0] * kept[1] + d[1] * np.cos(kept[0]), d[0] * kept[0]),
)


def in_a_branch(x, f, g):
    y = x * x
    if x[0] > 0.3:
        y = f(x)
    return np.sum(y * y)


def in_either_branch(x, f, g):
    m = np.outer(x, x)
    if x[0] > 0.3:
        m[0] = f(2.0 * m[1])
    else:
        m[1] = f(2.0 * m[0])
    return np.sum(m * m)


def in_a_loop(x, f, g):
    k, y = 0, x
    while k < 3:
        y, z = g(y, x[::-1])
        y = f(y[1]) * z
        k += 1
    return np.sum(y)


def in_a_branch_of_a_loop(x, f, g):
    total, y = 0.0, x
    for k in range(4):
        if y[k % 3] > 0.4:
            y = f(y)
        else:
            y, z = g(y, x)
            total = total + np.sum(z * z)
    return total + np.sum(y * y)


def of_the_last_iteration(x, f, g):
    for k in range(3):
        y, z = g(x * k, f(x))
    return np.sum(y * z)


def used_in_branches(x, f, g):
    total = 0.0
    for k in range(3):
        y, z = g(x * k, x)
        if x[k] > 0.3:
            total = total + np.sum(y * y) * (1.0 + total)
        elif x[1] > 0.0:
            total = total + np.sum(z)
        else:
            total = total * y[0] + z[1]
    return total


def in_a_try(x, f, g):
    y = np.exp(x)
    try:
        y = g(x, y)[0]
    except IndexError:
        y = x
    return np.sum(y)


def in_a_handler(x, f, g):
    m = np.outer(x, x)
    try:
        y, z = g(x, x)
        m[1] = f(y)[9] * z
    except IndexError:
        m[0] = f(x)
    return np.sum(m * m)


@pytest.mark.parametrize(
    "f",
    [
        *(in_a_branch, in_either_branch, in_a_loop, in_a_branch_of_a_loop),
        *(of_the_last_iteration, used_in_branches, in_a_try, in_a_handler),
    ],
)
@pytest.mark.parametrize("wrap", [None, srcgrad.checkpoint])
def test_second_derivatives_of_what_a_pair_hands_on(f, wrap):
    """It is kept as a tuple until the branch or iteration is gone through again."""
    rules = (soft, product_and_sine) if wrap is None else (wrap(softened), wrap(of_two))
    x, c = np.array([0.5, -0.4, 1.2]), np.array([1.0, 2.0, 3.0])
    for start in (x, x - 0.5):
        expected = srcgrad.hessian(lambda x: f(x, softened, of_two))(start)
        found = srcgrad.hessian(lambda x: f(x, *rules))(start)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
        slope = srcgrad.grad(lambda x: np.sum(srcgrad.grad(lambda x: f(x, *rules))(x) * c))
        np.testing.assert_allclose(slope(start), expected @ c, rtol=1e-10, atol=1e-12)
