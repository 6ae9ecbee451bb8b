"""What a mask, an index or a bound leaves out leaks no nan, where its derivative is infinite.

Each way to leave elements out is tried with each function that has an infinite or undefined
derivative somewhere, in reverse and forward mode and in both second orders.
"""

from __future__ import annotations

import linecache
import os
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import runtime
from srcgrad.rules import positive
from srcgrad.testing import check_grads

special = pytest.importorskip("scipy.special")

# {F} is a function of x, of which the first element isn't used
WAYS = [
    "np.where(used, {F}, 0.0)",
    "np.where(~used, y, {F})",
    "np.where(used, np.array([{F}, y]), 0.0)",
    "2 * np.where(used, 3 * {F}, 0.0) * y",
    "({F})[used]",
    "({F})[np.where(used)]",
    "({F})[[3, 1, 2]]",
    "np.select([~used, used], [y, {F}], 0.0)",
    "np.choose(used.astype(int), [y, {F}])",
    "np.compress(used, {F})",
    "np.extract(used, {F})",
    "np.delete({F}, 0)",
    "np.take({F}, [1, 2, 3])",
    "np.diag(np.diag({F}))[1:]",
    "np.sum({F}, where=used) * y",
    "np.mean({F}, where=used) * y",
    "r = 1.0 * ({F}); r[~used] = 0.0",
    "r = {F}; r[~used] = y[~used]",
    "r = y.copy(); np.copyto(r, {F}, where=used)",
    "r = {F}; np.putmask(r, ~used, y)",
    "r = {F}; np.place(r, ~used, [0.5])",
    "r = np.zeros(4); r[used] = ({F})[used]",
    "np.maximum({F}, bound)",
    "np.minimum({F}, -bound)",
    "np.fmax({F}, bound)",
    "np.clip({F}, bound, 20.0)",
    "np.max(np.stack([{F}, bound]), axis=0) * y",
]
# What is infinite outside of a slice isn't looked after: every stencil would pay for it
STENCILS = ["({F})[1:] * y[1:]", "({F})[1]"]
# These multiply by zero: of what is infinite, that is nan in the primal too
PRODUCTS = [
    "({F}) * used",
    "used * ({F}) * y",
    "({F}) * (y > 0.45)",
    "({F}) * used.astype(float)",
    "({F}) * np.where(used, y, 0.0)",
    "r = y * ({F}); r *= used",
    "np.abs(({F}) * used)",
]
# A function, and where its derivative is infinite
FINITE = {
    "np.sqrt(x)": 0.0, "x ** 0.5": 0.0, "x ** 1.5": 0.0, "np.power(x, 0.3)": 0.0, "x ** y": 0.0,
    "np.cbrt(x)": 0.0, "np.arcsin(x)": 1.0, "np.arccos(x)": 1.0, "np.arccosh(x + 1)": 0.0,
    "np.hypot(x, 0 * x)": 0.0, "np.arctan2(x, x * x)": 0.0, "np.abs(x)": 0.0,
    "np.linalg.norm(np.stack([x, x]), axis=0)": 0.0, "np.std(np.stack([x, 0 * x]), axis=0)": 0.0,
    "np.sqrt(np.sum(np.stack([x, x]) ** 2, 0))": 0.0,
    "special.xlogy(x, x)": 0.0, "special.entr(x)": 0.0, "special.jv(0.5, x)": 0.0,
    "special.gammainc(0.5, x)": 0.0, "special.betainc(0.5, 0.5, x)": 0.0,
    "special.gammaincinv(2.0, x)": 0.0, "special.rel_entr(x, y)": 0.0,
}  # fmt: skip
POLES = {
    "1 / x": 0.0, "y / x": 0.0, "np.log(x)": 0.0, "np.log2(x)": 0.0, "np.log1p(x)": -1.0,
    "np.arctanh(x)": 1.0, "x ** -1.5": 0.0, "np.reciprocal(x)": 0.0, "np.sqrt(x)": -0.5,
    "np.arcsin(x)": 1.5, "np.linalg.norm(np.stack([x, x]), axis=0) ** -1": 0.0,
    "special.gammaln(x)": 0.0, "special.logit(x)": 0.0, "special.kv(1.0, x)": 0.0,
    "special.erfinv(x)": 1.0,
}  # fmt: skip
# Functions of x that are flat at a place beyond a bound, though by what the bound gives they aren't
BOUNDED = {
    "np.sqrt(np.maximum(x, 0.0))": -0.5, "np.sqrt(np.clip(x, 0.0, 1.0))": -0.5,
    "np.arccos(np.clip(x, -1.0, 1.0))": 1.5, "np.arcsin(np.minimum(x, 1.0)) * y": 1.5,
    "np.sqrt(2 * np.fmax(x, -0.2) + 0.4)": -0.5, "np.maximum(0.0, x) ** 0.7": -0.5,
    "np.sqrt(np.where(x > 0, x, 0.0))": -0.5, "np.sqrt(1 - np.clip(x * 2, -1.0, 1.0) ** 2)": 0.8,
    "np.array([np.sqrt(max(a, 0.0)) for a in x])": -0.5,
    "np.array([np.arccos(max(min(a, 1.0), -1.0)) for a in x])": 1.5,
    "np.sqrt(np.maximum(np.minimum(x, 1.0), 0 * y))": -0.5,
}  # fmt: skip
# Functions of lengths, flat where these are 0: a kernel of the distances of points to themselves
LENGTHS = [
    "np.exp(-np.sqrt(x**2 + (x * x)) ** 2)",
    "np.sqrt(np.sum(np.stack([x, 2 * x]) ** 2, axis=0)) ** 3 * y",
    "r = np.sqrt(np.square(x)); r = r**2 * np.cos(r)",
]
USED = np.array([False, True, True, True])
BOUND = np.where(USED, -15.0, 15.0)
Y = np.array([0.4, 1.2, 0.8, 2.0])
D_X, D_Y = np.array([1.0, 0.3, -0.2, 0.7]), np.array([0.0, 0.1, 0.2, -0.3])
STEP = 1e-5


def program(way: str, function: str) -> Any:
    """A loss of x and y: the sum of what is left of a function of x."""
    lines = way.replace("{F}", function).split("; ")
    lines = [*lines, "return np.sum(r)"] if len(lines) > 1 else [f"return np.sum({lines[0]})"]
    text = "\n    ".join(["def loss(x, y):", *lines]) + "\n"
    filename = f"<unused {way} {function}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names: dict[str, Any] = {"np": np, "special": special, "used": USED, "bound": BOUND}
    exec(compile(text, filename, "exec"), names)
    return names["loss"]


def is_finite(way: str, function: str, at: float) -> bool:
    """Whether the value is: `np.maximum` leaves nan and infinity in."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(program(way, function)(np.array([at, 0.6, 0.35, 0.45]), Y)))


CASES = [
    (way, function, at)
    for ways, functions in (
        (WAYS, FINITE),
        (WAYS, POLES),
        (PRODUCTS, FINITE),
        (STENCILS, FINITE),
        (["{F}", "y + 2 * {F}"], BOUNDED),
    )
    for way in ways
    for function, at in functions.items()
    if is_finite(way, function, at)
]
MANY = bool(os.environ.get("SRCGRAD_ALL_SAMPLES"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("way", "function", "at"), CASES if MANY else [*CASES[::7], *CASES[-2 * len(BOUNDED) :: 2]]
)
def test_what_is_left_out_leaks_no_nan(way: str, function: str, at: float) -> None:
    loss = program(way, function)
    x = np.array([at, 0.6, 0.35, 0.45])
    gradient = srcgrad.grad(loss, (0, 1))

    def slope(x: Any, y: Any) -> Any:
        d_x, d_y = srcgrad.grad(loss, (0, 1))(x, y)
        return np.sum(d_x * D_X) + np.sum(d_y * D_Y)

    def differences(f: Any, d_x: Any) -> Any:
        above, below = f(x + STEP * d_x, Y + STEP * D_Y), f(x - STEP * d_x, Y - STEP * D_Y)
        return (np.array(above) - np.array(below)) / (2 * STEP)

    still = D_X * USED  # the difference quotient leaves the domain of what isn't used alone
    d_x, d_y = gradient(x, Y)
    assert d_x[0] == 0
    np.testing.assert_allclose(
        np.sum(d_x * still) + np.sum(d_y * D_Y), differences(loss, still), rtol=1e-5, atol=1e-6
    )
    for moved in (still, D_X):
        forward = srcgrad.jvp(loss, (x, Y), (moved, D_Y))[1]
        np.testing.assert_allclose(forward, np.sum(d_x * moved) + np.sum(d_y * D_Y), rtol=1e-9)
    expected = differences(gradient, still)
    second = srcgrad.hvp(loss, (0, 1))(x, Y, (D_X, D_Y))
    np.testing.assert_allclose(second, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(srcgrad.grad(slope, (0, 1))(x, Y), second, rtol=1e-6, atol=1e-9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", LENGTHS)
def test_what_is_flat_by_a_length_is_flat(way: str) -> None:
    loss, x = program(way, ""), np.array([0.0, 0.6, 0.35, 0.45])
    gradient = srcgrad.grad(loss)(x, Y)
    expected = (loss(x + STEP * D_X, Y) - loss(x - STEP * D_X, Y)) / (2 * STEP)
    assert np.sum(gradient * D_X) == pytest.approx(expected, rel=1e-7)
    _, slope = srcgrad.jvp(loss, (x, Y), (D_X, np.zeros(4)))
    assert slope == pytest.approx(expected, rel=1e-7)


def test_bounds_need_no_guard() -> None:
    def limited(a: Any, b: Any) -> Any:
        slope = a / b
        return np.sum(np.maximum(0.0, np.minimum(1.0, slope)) * np.clip(slope, 0.2, 0.8))

    gradient = srcgrad.grad(limited)
    gradient(np.array([0.5, -0.3, 1.7]), np.array([1.0, 2.0, 0.5]))
    assert gradient.source.count("unless_zero(") == 1  # of the quotient alone


def _paths(s: Any, rate: Any, z: Any) -> Any:
    step, total = 1 / z.shape[0], np.zeros(z.shape[1])
    for t in range(z.shape[0]):
        s = s * np.exp((rate - 0.5 * rate**2) * step + rate * np.sqrt(step) * z[t])
        total = total + s
    return np.mean(np.maximum(total - 3.0, 0.0))


def _normalized(x: Any, w: Any, z: Any) -> Any:
    r = (x * z - np.mean(z, axis=0)) / np.sqrt(np.var(z, axis=0) + 1e-5)
    return np.sum(np.maximum(w * r / (1 + np.abs(r)), 0.1 * r))


def _grown(x: Any, w: Any, z: Any) -> Any:
    speed = np.sqrt(np.maximum(x * z, 0.0) + 1e-6)
    return np.sum(np.maximum(speed * z**2 / np.maximum(w * z, 0.5) - 1.0, 0.0))


@pytest.mark.parametrize("loss", [_paths, _normalized, _grown])
def test_what_is_finite_needs_no_guard(loss: Any) -> None:
    args = np.array([1.1, 0.7, 0.4]), 0.3, np.array([[0.3, -0.8, 1.4], [0.9, 2.0, -0.6]])
    gradient = srcgrad.grad(loss, (0, 1))
    found = gradient(*args)
    assert "unless_zero(" not in gradient.source
    for i, d in enumerate(found):
        step = 1e-6 * np.arange(1.0, 1.0 + np.size(d)).reshape(np.shape(d))
        above, below = ([a + sign * step * (j == i) for j, a in enumerate(args[:2])]
                        for sign in (1, -1))  # fmt: skip
        slope = (loss(*above, args[2]) - loss(*below, args[2])) / 2
        assert np.sum(d * step) == pytest.approx(slope, rel=1e-5, abs=1e-12)


@pytest.mark.parametrize(
    "divisor",
    [
        *("v = np.exp(x); v -= 1.0", "v = 1 + x**3", "v = np.minimum(x**2, 1.0)", "v = x * x"),
        *("v = np.sum(x[None], 0)", "v = np.maximum(x, 0.0)", "v = np.clip(x, 0.5, 0 * x)"),
        "v = (x + 1.5).astype(int)",
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_may_be_zero_is_guarded(divisor: str) -> None:
    at = -1.0 if "**3" in divisor or "int" in divisor else 0.0
    loss = program(f"{divisor}; r = (y / v)[used]", "")
    d_x, d_y = srcgrad.grad(loss, (0, 1))(np.array([at, 0.6, 0.35, 0.45]), Y)
    assert d_x[0] == 0 and d_y[0] == 0


def _forward(a: Any, w: Any, observed: Any) -> Any:
    for t in range(len(observed)):
        m = a[:, None] + w
        top = np.max(m, axis=0)
        a = top + np.log(np.sum(np.exp(m - top), axis=0)) + observed[t]
    top = np.max(a)
    return top + np.log(np.sum(np.exp(a - top)))


def test_what_is_used_wholly_beside_needs_no_guard() -> None:
    rng = np.random.default_rng(0)
    args = rng.normal(size=3), rng.normal(size=(3, 3)), rng.normal(size=(4, 3))
    gradient = srcgrad.grad(_forward, (0, 1))
    gradient(*args)
    assert "unless_zero(" not in gradient.source
    assert "mask" not in gradient.source  # what the maxima contribute is zero, as arithmetic tells
    check_grads(_forward, args, argnums=(0, 1))


@pytest.mark.parametrize(
    "beside",
    ["if y[0] > 1: total = np.sum(v)", "for i in range(int(y[0])): total = total + np.sum(v)",
     "total = np.sum(np.floor(v) + np.sign(v))", "w = v * 2; total = np.sum(w[used])",
     "for i in range(2): total, v = np.max(v[1:]) + total, v + 0 * y",
     "total = np.sum(v > 0)", "w = np.log(v) if y[0] > 1 else y; total = np.sum(w)"],
)  # fmt: skip
@pytest.mark.parametrize("function", ["np.sqrt(x)", "1 / x"])
@pytest.mark.filterwarnings("ignore")
def test_what_something_else_might_use_is_guarded(beside: str, function: str) -> None:
    loss = program(f"total = 0.0; v = {function}; {beside}; r = v[used] * total + v[used]", "")
    assert srcgrad.grad(loss)(np.array([0.0, 0.6, 0.35, 0.45]), Y)[0] == 0


# (What is stored and then overwritten isn't looked after: each boundary would pay for it.)
OVERWRITTEN = [
    "r = {F}; r[0] = 1.0",
    "r = {F}; r[:1] = y[:1]; r = r * y",
    "r = {F}; s = r[:2]; s[0] = y[0]",
    "r = {F}; r[0 if y[0] < 1 else 3] = y[0]",
    "r = {F}; s = y.copy() if y[0] > 1 else r; s[0] = y[0]",
    "r = y * 1; s = np.sum(r); r[:] = {F}; r = r[used] * s",
    "r = y * 1; r[:] = {F}; s = np.sum(r[used]); r[:] = y; r = r * s",
    "r = y * 1; r[:] = {F}; r[0] += 1.0; r = s = r[used]",
    "s = 0.0; r = y.copy()\n    for i in range(2): s += np.sum(r); r[:] = {F}\n    r = s * r[used]",
]


@pytest.mark.parametrize("way", OVERWRITTEN)
@pytest.mark.parametrize("function", ["1 / x", "np.sqrt(x)", "np.log(x) * y", "y / x**2"])
@pytest.mark.filterwarnings("ignore")
def test_what_is_overwritten_is_guarded(way: str, function: str) -> None:
    d_x, _ = srcgrad.grad(program(way, function), (0, 1))(np.array([0.0, 0.6, 0.35, 0.45]), Y)
    assert d_x[0] == 0


def _limited(u: Any, c: Any, steps: Any) -> Any:
    for _ in range(steps):
        left, right = u[1:-1] - u[:-2], u[2:] - u[1:-1]
        r = left / np.where(np.abs(right) > 1e-12, right, 1e-12)
        flux = u[1:-1] + 0.5 * (1 - c) * (r + np.abs(r)) / (1 + np.abs(r)) * right
        new = u.copy()
        new[2:-1] = u[2:-1] - c * (flux[1:] - flux[:-1])
        u = new
    return np.sum(u**2)


def _flowing(h: Any, q: Any, steps: Any) -> Any:
    for _ in range(steps):
        v = q / h
        speed = np.maximum(np.abs(v[1:]), np.abs(v[:-1]))
        flux = q * v + h**2
        change = 0.5 * (flux[1:] + flux[:-1]) - speed * (q[1:] - q[:-1])
        h, q = h.copy(), q.copy()
        h[1:-1] -= 0.1 * (q[2:] - q[:-2])
        q[1:-1] -= 0.1 * (change[1:] - change[:-1])
    return np.sum(q**2) + np.sum(h**2)


@pytest.mark.parametrize("loss", [_limited, _flowing])
def test_stencils_of_what_is_written_need_no_guard(loss: Any) -> None:
    rng = np.random.default_rng(0)
    args = rng.random(9) + 1, 0.4 if loss is _limited else rng.random(9), 4
    gradient = srcgrad.grad(loss, (0, 1))
    gradient(*args)
    assert "unless_zero(" not in gradient.source
    check_grads(loss, args, argnums=(0, 1))


def test_signs_of_constants() -> None:
    # the sign of a constant is the least of its elements', of what isn't real there is none
    assert positive.sign_of(np.array([1.0, 0.0])) == positive.NONNEGATIVE
    assert positive.sign_of(1e-3) == positive.POSITIVE
    assert positive.sign_of(np.array([-1.0, 2.0])) == positive.sign_of(1j) == positive.UNKNOWN
    assert positive.sign_of(np.nan) == positive.sign_of("x") == positive.UNKNOWN


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_what_is_guarded_is_new_memory(dtype: Any, bad: float) -> None:
    contribution = np.array([[1.5, 0.0, 2.5], [3.0, 0.0, 1.0]], dtype)
    adjoint = np.array([[2.0, 0.0, 1.0], [1.0, 0.0, 1.0]], dtype)
    expected = contribution.copy()
    contribution[1, 1] = bad
    for c, a in ((contribution, adjoint), (contribution.T, adjoint.T)):
        found = runtime.unless_zero(c, a)
        assert found.dtype == dtype and not np.shares_memory(found, c)
        np.testing.assert_array_equal(found, expected if c is contribution else expected.T)
    # an adjoint of another shape, and one that says that something counts
    np.testing.assert_array_equal(runtime.unless_zero(expected[0], adjoint), [expected[0]] * 2)
    whole = runtime.unless_zero(contribution, adjoint, np.ones((2, 3)))
    np.testing.assert_array_equal(whole, contribution)
    assert runtime.unless_zero(np.zeros((0, 2)), np.zeros((0, 2))).shape == (0, 2)
