"""Derivatives taken inside differentiated functions: hvp, Jacobians, Hessians and the rest."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import (
    UnsupportedError,
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
    value_and_grad,
    vhp,
    vjp,
)
from srcgrad.testing import check_grads

PROGRAMS: list[Callable[[Any], Any]] = []
POINT = np.array([0.7, -0.4, 1.1])


def program(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS.append(f)
    return f


def inner(x: Any) -> Any:
    return np.sum(x**3) * x[0] + np.sin(x[1] * x[2])


def vec(x: Any) -> Any:
    return np.array([x[0] * x[1], np.sin(x[2]) * x[0], x[1] ** 3])


@program
def hess_in(x: Any) -> Any:
    return np.sum(hessian(inner)(x) ** 2)


@program
def jac_in(x: Any) -> Any:
    return np.sum(jacobian(vec)(x) ** 2)


@program
def jacfwd_in(x: Any) -> Any:
    return np.sum(jacfwd(vec)(x) ** 2)


@program
def jacrev_in(x: Any) -> Any:
    return np.sum(jacrev(vec)(x) ** 2)


@program
def hvp_in(x: Any) -> Any:
    return np.sum(hvp(inner)(x, x) ** 2)


@program
def vhp_in(x: Any) -> Any:
    return np.sum(vhp(inner)(x, x) ** 2)


@program
def jvp_in(x: Any) -> Any:
    a, b = jvp(vec, (x,), (x * 2,))
    return np.sum(a * b)


@program
def vjp_in(x: Any) -> Any:
    a, pb = vjp(vec, x)
    return np.sum(pb(a)[0] ** 2)


@program
def vg_in(x: Any) -> Any:
    a, g = value_and_grad(inner)(x)
    return a * np.sum(g**2)


@program
def ew_in(x: Any) -> Any:
    return np.sum(elementwise_grad(np.tanh)(x) * x)


@program
def ew2_in(x: Any) -> Any:
    return np.sum(elementwise_grad(lambda y: np.tanh(y) * y**2)(x) * x)


@program
def der_in(x: Any) -> Any:
    return derivative(lambda y: np.sin(y) * y**2)(x[0]) * x[1]


@program
def lin_in(x: Any) -> Any:
    out, linear = linearize(vec, x)
    return np.sum(out * linear(x**2))


@program
def closure_hess(x: Any) -> Any:
    def g(y):
        return np.sum((y - x) ** 4) * x[0]

    return np.sum(hessian(g)(x * 0.5))


@program
def closure_jac(x: Any) -> Any:
    def g(y):
        return y**2 * x[0]

    return np.sum(jacobian(g)(x * 0.5))


@program
def newton(x: Any) -> Any:
    def g(y):
        return np.sum(np.cosh(y - x)) + 0.5 * np.sum(y**2)

    y = np.zeros(3)
    for _ in range(4):
        y = y - np.linalg.solve(hessian(g)(y), grad(g)(y))
    return np.sum(y**2)


@program
def gd(x: Any) -> Any:
    def g(y):
        return np.sum((y - x) ** 2) + 0.5 * np.sum(y**4)

    y = np.zeros(3)
    for _ in range(10):
        y = y - 0.1 * grad(g)(y)
    return np.sum(y**2)


@program
def gd_while(x: Any) -> Any:
    def g(y):
        return np.sum((y - x) ** 2) + 0.5 * np.sum(y**4)

    y = np.zeros(3)
    d = grad(g)(y)
    k = 0
    while np.linalg.norm(d) > 1e-3 and k < 50:
        y = y - 0.1 * d
        d = grad(g)(y)
        k += 1
    return np.sum(y**2)


@program
def gd_inplace(x: Any) -> Any:
    y = np.zeros(3)
    for _ in range(10):
        y -= 0.1 * grad(lambda z: np.sum((z - x) ** 2))(y)
    return np.sum(y**2)


@program
def gauss_newton(x: Any) -> Any:
    def r(y):
        return np.array([y[0] - x[0], y[1] * y[0] - x[1], y[1] ** 2 - x[2]])

    y = np.ones(2)
    for _ in range(3):
        J = jacfwd(r)(y)
        y = y - np.linalg.solve(J.T @ J, J.T @ r(y))
    return np.sum(y**2)


@program
def cg_hvp(x: Any) -> Any:
    def g(y):
        return np.sum(np.cosh(y - x))

    y = np.zeros(3)
    d = grad(g)(y)
    s = np.zeros(3)
    r = -d
    p = r.copy()
    for _ in range(3):
        Hp = hvp(g)(y, p)
        a = r @ r / (p @ Hp)
        s = s + a * p
        rn = r - a * Hp
        b = rn @ rn / (r @ r)
        p = rn + b * p
        r = rn
    return np.sum((y + s) ** 2)


h_inner = hessian(inner)
j_vec = jacobian(vec)


@program
def outer_hess(x: Any) -> Any:
    return np.sum(h_inner(x) ** 2) + np.trace(j_vec(x))


@program
def nested_jac(x: Any) -> Any:
    return np.sum(jacobian(jacobian(vec))(x) ** 2)


@program
def hess_loop(x: Any) -> Any:
    def g(y):
        y = y.copy()
        for i in range(1, 3):
            y[i] += y[i - 1] ** 2 * y[i]
        return np.sum(y * y)

    return np.sum(hessian(g)(x) ** 2)


@program
def hess_tuple(x: Any) -> Any:
    H = hessian(lambda a, b: np.sum(a**2 * b), argnums=(0, 1))(x, 2 * x)
    return np.sum(H[0][1]) + np.sum(H[1][0] ** 2)


@program
def jac_dict(x: Any) -> Any:
    J = jacobian(lambda p: p["a"] ** 2 * p["b"])({"a": x, "b": 2.0 * x})
    return np.sum(J["a"] * J["b"])


@program
def grad_of_jvp_partial(x: Any) -> Any:
    return np.sum(jvp(lambda y: y**3, (x,), (np.ones(3),))[1])


@program
def in_branch(x: Any) -> Any:
    if x[0] > 0:
        return np.sum(hessian(inner)(x))
    return np.sum(jacobian(vec)(x))


@program
def tr_hess(x: Any) -> Any:
    return sum(hvp(inner)(x, e)[i] for i, e in enumerate(np.eye(3)))


@program
def hess_kw(x: Any) -> Any:
    return np.sum(hessian(lambda y, *, k: k * np.sum(y**4))(x, k=3.0))


@program
def vjp_aux(x: Any) -> Any:
    _out, pb, aux = vjp(lambda y: (y**2, y.sum()), x, has_aux=True)
    return np.sum(pb(x)[0]) * aux


@program
def jac_scalar(x: Any) -> Any:
    return jacobian(lambda s: np.sin(s) * x)(x[0]) @ x


@program
def deriv2(x: Any) -> Any:
    return derivative(derivative(lambda y: np.sin(y) * y**3))(x[0]) * x[1]


@dataclass
class P:
    a: object
    b: float


def writes(y, buf):
    buf[0] = y[0] ** 2
    buf[1:] *= y[1:]
    y[1] = y[1] * buf[0]
    return np.sum(buf * y)


@program
def mutating_hess(x: Any) -> Any:
    buf = np.ones(3) * x[2]
    H = hessian(writes)(x, buf)
    return np.sum(H**2) + np.sum(buf)


@program
def mutating_jacobian(x: Any) -> Any:
    buf = np.ones(3) * x[2]

    def g(y, b):
        b[0] += y[0]
        b *= y
        return b * y

    J = jacobian(g, argnums=(0, 1))(x, buf)
    return np.sum(J[0] ** 2) + np.sum(J[1] ** 3) + np.sum(buf**2)


@program
def mutating_vjp(x: Any) -> Any:
    buf = np.ones(3) * x[2]

    def g(y, b):
        b[0] += y[0]
        b *= y
        return b * y

    out, pb = vjp(g, x, buf)
    return np.sum(pb(out)[0]) + np.sum(buf**2) + np.sum(pb(x)[1])


@program
def mutating_grad(x: Any) -> Any:
    buf = np.ones(3) * x[2]
    g = grad(writes)(x, buf)
    return np.sum(g**2) + np.sum(buf**2)


@program
def capture_mutated(x: Any) -> Any:
    buf = np.ones(3)

    def g(y):
        return np.sum(y**2 * buf)

    a = hessian(g)(x)
    buf *= x
    b = hessian(g)(x)
    return np.sum(a) + np.sum(b**2)


@program
def hess_hess(x: Any) -> Any:
    return np.sum(hessian(lambda y: np.sum(hessian(lambda z: np.sum(z**5))(y)))(x) ** 2)


@program
def jac_grad(x: Any) -> Any:
    return np.sum(jacobian(grad(inner))(x) ** 2)


@program
def jac_closure_grad(x: Any) -> Any:
    def g(y):
        return np.sum(y**3 * x)

    return np.sum(jacrev(grad(g))(x) ** 2)


@program
def names(x: Any) -> Any:
    def g(u, *, k, w):
        return np.sum(u * w**3) * k

    return np.sum(hessian(g, argnums="w")(x, k=2.0, w=x * 2))


@program
def neg(x: Any) -> Any:
    def g(u, w):
        return np.sum(u * w**3)

    return np.sum(hessian(g, argnums=-1)(x, x * 2) ** 2)


@program
def varargs(x: Any) -> Any:
    def g(*a):
        return np.sum(a[0] * a[1] ** 3)

    return np.sum(hessian(g, argnums=-1)(x, x * 2) ** 2) + np.sum(
        jacobian(lambda *a: a[1] ** 2, 1)(x, x)
    )


@program
def keywords(x: Any) -> Any:
    return np.sum(jacobian(lambda **k: k["a"] ** 2 * k["b"], "a")(a=x, b=2 * x))


@program
def defaults(x: Any) -> Any:
    def g(u, s=2.0, r=3.0):
        return np.sum(u**3) * s * r**2

    return np.sum(grad(g)(x, r=x[0])) + np.sum(hessian(g)(x, r=x[1]))


@program
def dataclass_in(x: Any) -> Any:
    def g(p):
        return np.sum(p.a**3) * p.b

    G = grad(g)(P(x, x[0]))
    H = hvp(g)(P(x, x[0]), P(x, 1.0))
    return np.sum(G.a) + G.b + np.sum(H.a**2) + H.b


@program
def dataclass_jac(x: Any) -> Any:
    J = jacobian(lambda p: p.a**3 * p.b)(P(x, x[0]))
    return np.sum(J.a) + np.sum(J.b**2)


@program
def dict_out(x: Any) -> Any:
    J = jacobian(lambda y: {"u": y**2, "v": (np.sum(y**3), 1.0, "s")})(x)
    return np.sum(J["u"] ** 2) + np.sum(J["v"][0] ** 2) + np.sum(J["v"][1])


@program
def two_d(x: Any) -> Any:
    def g(A):
        return A @ A

    J = jacobian(g)(np.outer(x, x[:2])[:2])
    return np.sum(J**2)


@program
def partial_in(x: Any) -> Any:
    def g(a, y):
        return np.sum(a * y**3)

    return np.sum(hessian(functools.partial(g, x))(x * 2) ** 2)


@program
def partial_known(x: Any) -> Any:
    return np.sum(grad(functools.partial(lambda k, y: np.sum(y**3) * k, 2.0))(x) ** 2)


class Model:
    def __init__(self, w):
        self.w = w

    def loss(self, x):
        return np.sum(self.w * x**3)


m0 = Model(np.array([1.0, 2.0, 3.0]))


@program
def method_known(x: Any) -> Any:
    return np.sum(hessian(m0.loss)(x) ** 2)


@program
def method_in(x: Any) -> Any:
    m = Model(x)
    return np.sum(hessian(m.loss)(x * 2) ** 2)


@program
def recursion(x: Any) -> Any:
    def g(y, n):
        return np.sum(y) if n == 0 else g(y * y * x, n - 1)

    return np.sum(hessian(g)(x, 3) ** 2) * 1e-2


@program
def list_arg(x: Any) -> Any:
    J = jacobian(lambda p: p[0] * p[1])([x, x**2])
    return np.sum(J[0] ** 2) + np.sum(J[1])


@program
def loopy_list(x: Any) -> Any:
    ys = []
    for i in range(3):
        ys.append(jacobian(lambda y: y**2 * x[i])(x))  # noqa: B023
    return np.sum(ys[0] @ ys[1] @ ys[2])


@program
def ew_arr(x: Any) -> Any:
    def g(y):
        z = np.zeros_like(y)
        for i in range(3):
            z[i] = y[i] ** 3 * x[0]
        return z

    return np.sum(elementwise_grad(g)(x) ** 2)


@program
def scalars(x: Any) -> Any:
    def f(a, b):
        return a**3 * b

    H = hessian(f, argnums=(0, 1))(x[0], x[1])
    return H[0][0] * x[2] + H[0][1] ** 2 + H[1][1]


@program
def float_lit(x: Any) -> Any:
    def f(a):
        return np.sum(a**3 * x)

    return hessian(f)(2.0) * x[0] + derivative(lambda s: np.sum(s**2 * x))(3.0)


@program
def lam_vjp_hess(x: Any) -> Any:
    out, pb = vjp(lambda y: hessian(inner)(y), x)
    return np.sum(pb(out)[0] ** 2) * 1e-2


@program
def lin_outside(x: Any) -> Any:
    return np.sum(LIN(x) * x**2)


LIN = linearize(vec, np.array([0.3, 0.2, 0.1]))[1]


@program
def nested_newton_loop_while(x: Any) -> Any:
    y = 1.0
    k = 0

    def f(z):
        return z**3 - x[0] ** 2 - 2.0

    while abs(f(y)) > 1e-12 and k < 50:
        y = y - f(y) / derivative(f)(y)
        k += 1
    return y * x[1]


@program
def checkpointed(x: Any) -> Any:
    @srcgrad.checkpoint
    def g(y):
        return np.sum(hessian(inner)(y) ** 2)

    return g(x)


@program
def compr(x: Any) -> Any:
    return np.sum(np.array([hvp(inner)(x, e) for e in np.eye(3)]) ** 2)


@program
def argnums_list(x: Any) -> Any:
    g = grad(lambda a, b: np.sum(a * b**2), argnums=[0, 1])(x, 2 * x)
    return np.sum(g[0] * g[1])


@program
def unrolled_meta(x: Any) -> Any:
    w = x
    for _i in range(3):
        w = w - 0.1 * grad(lambda w: np.sum((w - x) ** 2 * x))(w)
    return np.sum(w**2)


@program
def in_place_meta(x: Any) -> Any:
    w = x.copy()
    for _i in range(3):
        w -= 0.1 * jvp(grad(lambda w: np.sum((w - x) ** 4)), (w,), (x,))[1]
    return np.sum(w**2)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(f: Callable[[Any], Any]) -> None:
    """Against differences, and forward mode against reverse mode."""
    x = POINT.copy()
    gradient = grad(f)(x)
    np.testing.assert_array_equal(x, POINT)
    step = 1e-6
    expected = [(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-6)
    v = np.array([1.0, -0.5, 0.3])
    out, t_out = jvp(f, (x,), (v,))
    assert out == pytest.approx(f(x), rel=1e-12)
    assert abs(t_out - gradient @ v) <= 1e-10 * max(1.0, np.sum(np.abs(gradient * v)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f", PROGRAMS[::6], ids=lambda f: f.__name__)
def test_second_order(f: Callable[[Any], Any]) -> None:
    v, step = np.array([1.0, -0.5, 0.3]), 1e-6
    gradient = grad(f)
    expected = (gradient(POINT + step * v) - gradient(POINT - step * v)) / (2 * step)
    np.testing.assert_allclose(hvp(f)(POINT, v), expected, rtol=1e-5, atol=1e-5)


def test_derivatives_of_derivatives() -> None:
    v = np.array([1.0, -0.5, 0.3])
    matrix = hessian(inner)(POINT)
    np.testing.assert_allclose(jacobian(hvp(inner), 1)(POINT, v), matrix)
    np.testing.assert_allclose(jacfwd(jacrev(inner))(POINT), matrix)
    np.testing.assert_allclose(jacobian(grad(inner))(POINT), matrix)
    third = jacobian(hessian(inner))(POINT)
    np.testing.assert_allclose(jacobian(vhp(inner))(POINT, v), third @ v, atol=1e-12)
    np.testing.assert_allclose(derivative(derivative(np.sin))(0.5), -np.sin(0.5))


def test_dtypes_and_empty_arrays() -> None:
    single = POINT.astype(np.float32)
    assert grad(lambda x: np.sum(hessian(inner)(x)))(single).dtype == np.float32
    assert grad(lambda x: np.sum(jacrev(vec)(x)))(single).dtype == np.float32
    assert grad(lambda x: np.sum(elementwise_grad(np.sin)(x)))(single).dtype == np.float32
    nothing = np.zeros(0)
    assert grad(lambda x: np.sum(hessian(lambda y: np.sum(y**3))(x)))(nothing).shape == (0,)
    assert grad(lambda x: np.sum(jacobian(lambda y: y**3)(x)))(np.array(2.0)) == 12.0


def test_complex() -> None:
    def holomorphic(x: Any) -> Any:
        return np.sum(np.real(jacobian(lambda z: z**3, holomorphic=True)(x + 1j)))

    def real(x: Any) -> Any:
        return np.sum(np.real(jacrev(lambda z: np.sum(np.abs(z) ** 2))(x + 1j)))

    np.testing.assert_allclose(grad(holomorphic)(POINT), 6 * POINT)
    np.testing.assert_allclose(grad(real)(POINT), [2.0, 2.0, 2.0])


PULLBACK = vjp(vec, POINT)[1]
SPARSE = jacobian(lambda x: x**2, sparsity=np.eye(3))


def writes_outside(x: Any) -> Any:
    buffer = np.zeros(3)

    def g(y: Any) -> Any:
        buffer[0] = y[0]
        return buffer * y

    return np.sum(jacobian(g)(x))


REFUSED: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: np.sum(PULLBACK(x)[0]), "made outside the differentiated code\ncall vjp inside it"),
    (lambda x: np.sum(SPARSE(x)), "a sparse Jacobian can't be differentiated\nleave sparsity out"),
    (lambda x: np.sum(hessian(inner, argnums=int(x[0]))(x)), "argnums must be known"),
    (lambda x: np.sum(hessian(vec)(x)), "grad needs a function that returns a number"),
    (lambda x: np.sum(hvp(inner)()), "hvp needs the direction after the arguments"),
    (lambda x: np.sum(hessian(inner)(x, x)), "too many positional arguments"),
    (lambda x: np.sum(jacobian(lambda n: n * x)(3)), "argument 'n' of jacobian isn't of floats"),
    (lambda x: derivative(lambda y: y**2)(x)[0], "use jacobian or elementwise_grad"),
    (lambda x: jvp(vec, (x,), ())[1][0], "there are 1 primals but 0 tangents"),
    (lambda x: np.sum(np.abs(jacobian(lambda z: z**2)(x + 1j))), "pass holomorphic=True"),
    (writes_outside, "'buffer' is written inside a function whose derivative is taken here"),
]


@pytest.mark.parametrize(("f", "message"), REFUSED)
def test_refusals(f: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(UnsupportedError) as refusal:
        grad(f)(POINT)
    assert message in str(refusal.value)
    assert refusal.value.span.filename == __file__


def test_elementwise_grad_is_of_elementwise_functions() -> None:
    with pytest.raises(TypeError, match="needs a function that is elementwise"):
        grad(lambda x: np.sum(elementwise_grad(np.cumsum)(x)))(POINT)


def with_a_list(x, kept=[1.0]):  # noqa: B006
    kept = kept + [x[0]]  # noqa: RUF005
    return kept[-1] * kept[0] * x[1]


def test_a_default_is_the_functions_own_list():
    """It was an array to the gradient inside: what was joined to it was added."""
    x, v = np.array([0.3, -0.7]), np.array([0.3, -0.2])
    np.testing.assert_allclose(srcgrad.hvp(with_a_list)(x, v), v[::-1])

    def product(x):
        return np.sum(srcgrad.grad(with_a_list)(x) * v)

    np.testing.assert_allclose(srcgrad.grad(product)(x), v[::-1])


def indexed_by_arrays(x):
    y = x.copy()
    y[y > 0.4] *= 2
    y[[0, 0]] += 1
    y[np.array([1, 2])] *= x[np.array([2, 0])]
    return y @ y


def test_arrays_among_the_constants_of_a_program():
    x, v = np.array([0.3, -0.7, 1.1]), np.array([0.3, -0.2, 0.5])
    slope = srcgrad.grad(indexed_by_arrays)
    expected = (slope(x + 1e-6 * v) - slope(x - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(srcgrad.hvp(indexed_by_arrays)(x, v), expected, rtol=1e-6)


def written_dict_outside(x, derived):
    params = {"w": x * 2}

    def cost(q):
        q["w"] = q["w"] * 2
        return np.sum(q["w"] ** 2) + np.sum(params["w"] ** 3)

    return derived(cost, params)["w"]


def written_dict_inside(x, derived):
    params = {"w": x * 2}

    def cost(q):
        params["w"] = q["w"] * 2
        return np.sum(q["w"] ** 2)

    return derived(cost, params)["w"]


def written_array_outside(x, derived):
    w = x * 2

    def cost(q):
        q *= w
        return np.sum(q**2)

    return derived(cost, w)


class Fitted:
    def __init__(self, x):
        self.params = [x * 2]

    def cost(self, q):
        q[0] = q[0] * 2
        return np.sum(q[0] ** 2) + np.sum(self.params[0] ** 3)


def written_list_of_an_object(x, derived):
    model = Fitted(x)
    return derived(model.cost, model.params)[0]


def gradient_of(f, at):
    return grad(f)(at)


def pulled_back(f, at):
    return vjp(f, at)[1](1.0)[0]


@pytest.mark.parametrize("derived", [gradient_of, pulled_back])
@pytest.mark.parametrize(
    "f",
    [written_dict_outside, written_dict_inside, written_array_outside, written_list_of_an_object],
)
def test_what_is_written_is_not_found_outside_too(f, derived):
    """What the function read outside was what it had been before."""
    with pytest.raises((ValueError, UnsupportedError), match="pass a copy"):
        grad(lambda x: np.sum(f(x, derived)))(POINT)


def pulled_back_later(x):
    a = x * 2
    _, pullback = vjp(lambda z: z**2 * a, x)
    a *= 2
    return np.sum(pullback(x)[0]) + np.sum(a)


def pulled_back_in_a_loop(x):
    a, found = x * 2, []
    part = {"a": a[1:]}
    for _ in range(2):
        y, pullback = vjp(lambda z: z[1:] ** 2 * part["a"], x)
        part["a"] *= 2
        found.append(pullback(y)[0])
    return np.sum(found[0] * found[1])


def pushed_later(x):
    a = x * 2
    _, linear = linearize(lambda z: z**2 * a, x)
    a[0] = 5.0 * x[1]
    return np.sum(linear(x)) + np.sum(a)


@pytest.mark.parametrize("f", [pulled_back_later, pulled_back_in_a_loop, pushed_later])
def test_what_is_captured_may_change_later(f):
    x, v = POINT, np.array([0.3, -0.2, 0.5])
    expected = (f(x + 1e-6 * v) - f(x - 1e-6 * v)) / 2e-6
    value, gradient = value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    np.testing.assert_allclose(gradient @ v, expected, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (x,), (v,))[1], expected, rtol=1e-6)


def test_linearize_keeps_what_the_function_found_outside():
    scale = np.ones(2)
    _, linear = linearize(lambda z: z**2 * scale, np.ones(2))
    scale *= 3
    np.testing.assert_allclose(linear(np.ones(2)), [2.0, 2.0])


def test_a_linear_function_that_keeps_something_else_is_refused():
    scale = np.ones(2)
    _, linear = linearize(lambda z: z**2 * scale, np.ones(2))
    with pytest.raises(UnsupportedError, match=r"of a function that finds arrays .* outside"):
        grad(lambda x: np.sum(linear(x) * x))(np.ones(2))


SCALE = np.array([0.3, 0.5, 0.9])


def scaled(q):
    q *= SCALE
    return np.sum(q**2)


@pytest.mark.parametrize("derived", [lambda x: hvp(scaled)(x, POINT), lambda x: hessian(scaled)(x)])
def test_second_derivatives_by_what_is_found_outside(derived):
    with pytest.raises(ValueError, match="pass a copy"):
        derived(SCALE)
    with pytest.raises(ValueError, match="pass a copy"):
        grad(lambda x: np.sum(derived(SCALE) * x))(POINT)
    assert np.all(np.isfinite(derived(POINT)))


@pytest.mark.parametrize("derivative", [
    lambda f, p, t: srcgrad.vjp(f, p)[1](1.0)[0][0].sum(),
    lambda f, p, t: srcgrad.jvp(f, (p,), (t,))[1],
    lambda f, p, t: srcgrad.jacobian(f)(p)[0].sum(),
    lambda f, p, t: srcgrad.implicit_root(lambda z, p: z - f(p), lambda z, p: f(p))(0.1, p),
    lambda f, p, t: srcgrad.implicit_root(lambda z: z - f(p), lambda z: f(p))(0.1),
])  # fmt: skip
def test_items_of_lists_that_the_run_chooses_have_no_inner_derivative(derivative):
    def f(x, y, k):
        return derivative(lambda p: np.sum(p[k] * p[0]), [x, y], [y, x])

    x, y = np.array([0.5, 0.3]), np.array([1.2, 0.7])
    with pytest.raises(srcgrad.UnsupportedError, match="chooses items of a list when it runs"):
        srcgrad.grad(f, (0, 1))(x, y, 1)


@pytest.mark.parametrize("kind", ["grad", "value_and_grad", "hvp"])
def test_gradients_by_items_of_lists_that_the_run_chooses(kind):
    def f(x, y, k):
        def inner(p):
            return np.sum(p[k] * p[0] * p[1])

        if kind == "hvp":
            return srcgrad.hvp(inner)([x, y], [y, x])[0].sum()
        found = getattr(srcgrad, kind)(inner)([x, y])
        return (found[1] if kind == "value_and_grad" else found)[0].sum()

    x, y = np.array([0.5, 0.3]), np.array([1.2, 0.7])
    d_x, d_y = srcgrad.grad(f, (0, 1))(x, y, 1)
    # the gradient is (y**2, 2 * x * y): its first part is y**2, and 2 * y * x along (y, x)
    expected = (2 * y, 2 * x) if kind == "hvp" else (0 * x, 2 * y)
    np.testing.assert_allclose(d_x, expected[0], rtol=1e-12)
    np.testing.assert_allclose(d_y, expected[1], rtol=1e-12)


class Weights:
    def __init__(self, w):
        self.w = w

    def loss(self, k):
        return self.w**2 * k**3


OUTSIDE, LISTED, PAIR = Weights(3.0), [Weights(3.0)], (1.0, Weights(3.0))


@pytest.mark.parametrize("derived", [
    lambda k: grad(Weights.loss)(OUTSIDE, k).w,
    lambda k: grad(lambda o: o.loss(k))(OUTSIDE).w,
    lambda k: grad(lambda o: o[0].loss(k))(LISTED)[0].w,
    lambda k: grad(lambda o: o["w"].loss(k))({"w": OUTSIDE})["w"].w,
    lambda k: grad(lambda o: o[1].loss(k))(PAIR)[1].w,
    lambda k: srcgrad.value_and_grad(lambda y, o: o.loss(k) * y, argnums=1)(1.0, OUTSIDE)[1].w,
    lambda k: srcgrad.vjp(lambda o: o.loss(k), OUTSIDE)[1](1.0)[0].w,
    lambda k: srcgrad.jvp(lambda o: o.loss(k), (OUTSIDE,), (Weights(1.0),))[1],
    lambda k: srcgrad.linearize(lambda o: o.loss(k), OUTSIDE)[1](Weights(1.0)),
])  # fmt: skip
def test_derivatives_by_objects_that_are_found_outside(derived):
    """They were zero: an object that nothing is asked of is only a name."""
    assert derived(2.0) == pytest.approx(48.0)
    assert grad(derived)(2.0) == pytest.approx(72.0)


def test_what_is_passed_and_written_through_another_name():
    """A dict with a tuple in it is still the caller's, though objects in it be looked into."""

    def derived(k):
        held = {"w": (k, 2.0), "v": 3.0 * k}

        def loss(o):
            held["v"] = held["v"] * 2
            return o["v"] ** 2 * held["v"] * o["w"][0]

        return grad(loss)(held)["v"]

    with pytest.raises(ValueError, match="is in the arguments and outside"):
        derived(1.5)
    with pytest.raises(UnsupportedError, match="is passed to a function and found by it outside"):
        grad(derived)(1.5)

    def changed(k):
        def loss(o):
            LISTED[0].w = LISTED[0].w * 2
            return o[0].w ** 2 * k

        return grad(loss)(LISTED)[0].w

    with pytest.raises(UnsupportedError, match="is passed to a function and found by it outside"):
        grad(changed)(1.5)
    assert LISTED[0].w == 3.0


def of_numbers(x):
    listed = []
    for v in x:
        listed.append(v * v)

    def f(t, items):
        total = 0.0
        for i, v in enumerate(items):
            total += np.sin(t * v) * (i + 1) * v
        return total

    slope = grad(f)(x[0], listed)
    listed[0] = 3.0
    return slope * grad(grad(f))(x[1], listed)


def of_pairs_in_a_dict(x):
    pairs = []
    for v in x:
        pairs.append((v * v, v))

    def f(t, held):
        return held["scale"] * sum(t**3 * a * b**2 for a, b in held["pairs"])

    return grad(f)(x[1], {"pairs": pairs, "scale": x[0]})


@pytest.mark.parametrize("f", [of_numbers, of_pairs_in_a_dict])
def test_lists_of_the_run_are_passed(f):
    check_grads(f, (np.array([0.3, 0.8, 0.55, 1.2]),))


def test_lists_of_objects_stay_loops_in_second_derivatives():
    def energy(k, bodies):
        total = 0.0
        for a in bodies:
            for b in bodies:
                if a is not b:
                    total += k**2 * (a.w - b.w) ** 2
        return total

    bodies = [Weights(0.1 * i) for i in range(20)]
    product = hvp(energy)
    pairs = energy(1.0, bodies)
    assert product(3.0, bodies, 1.5) == pytest.approx(3.0 * pairs)
    assert product.source.count("\n") < 40


def test_lists_of_the_run_that_are_written_inside_are_refused():
    def f(x):
        listed = []
        for v in x:
            listed.append(v * v)

        def first(t, items):
            listed[0] = 3.0
            return t**2 * sum(items)

        return grad(first)(x[0], listed)

    with pytest.raises(UnsupportedError, match="passed to a function that writes it"):
        grad(f)(np.array([0.3, 0.8]))
