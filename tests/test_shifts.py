"""Additions to shifted parts of arrays are made as to vectors: by programs of random stencils."""

import itertools

import numpy as np
import pytest

import srcgrad.units
from srcgrad import grad, jvp, value_and_grad, vjp
from srcgrad.testing import check_grads
from tests.test_simplify import body

from .random_orders import compiled

RNG = np.random.default_rng(3)
STATEMENTS = (
    "q = {a}[{0}] + {a}[{1}] - 0.5 * {b}[{2}]",
    "q = q + {a}[{0}] * {a}[{1}] * k",
    "q = np.sin({a}[{0}] - {a}[{1}])",
    "q *= {a}[{0}] + {b}[{1}]",
    "{a}[{0}] = 0.3 * q",
    "{a}[{0}] += 0.3 * q",
    "{a}[{0}] -= {b}[{1}] + {b}[{2}]",
    "{a}[{0}] = {a}[{1}] + {a}[{2}]",
    "a, b = b, a",
    "if i % 2:\n            {a}[{0}] += 0.5 * q - {b}[{1}] - {b}[{2}]",
    "for _ in range(2):\n            {a}[{0}] -= 0.2 * (q + {b}[{1}]) - {b}[{2}]",
    "b = b + 0.1 * a",
    "c = a.copy()\n        {a}[{0}] += c[{1}] + c[{2}] - c[{0}] * k",
)


def random_part(rng, missing):
    """The key of a part that is so much shorter than the whole on each axis."""
    corner = [int(rng.integers(m + 1)) for m in missing]
    return ", ".join(f"{c or ''}:{c - m or ''}" for c, m in zip(corner, missing, strict=True))


def random_stencil(rng, rank):
    """The text of a function that goes over the parts of arrays of a rank in a loop."""
    missing = [int(rng.integers(4)) for _ in range(rank)]
    lines = []
    for _ in range(rng.integers(2, 7)):
        names = dict(zip("ab", rng.permutation(["a", "b"]), strict=True))
        parts = [random_part(rng, missing) for _ in range(3)]
        lines.append(str(rng.choice(STATEMENTS)).format(*parts, **names))
    first = rng.choice(["x.copy()", "1.0 * x", "np.array(x)", "np.sin(x)"])
    second = rng.choice(["np.zeros(x.shape, x.dtype)", "0.5 * x", "np.zeros_like(x)", "x.copy()"])
    inside = "\n        ".join(lines)
    return f"""\
import numpy as np
def f(x, k, n):
    a, b = {first}, {second}
    q = 0.1 * x[{random_part(rng, missing)}]
    for i in range(n):
        {inside}
    return np.sum(np.cos(a) * k) + np.sum(b * a) + np.sum(q * q)
"""


def without_shifts(f, *args):
    """The gradient by the first argument, compiled without the pass."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(srcgrad.units, "add_shifted", lambda function: None)
        return grad(f)(*args)


@pytest.mark.parametrize("seed", range(12))
def test_random_stencils(seed):
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(2, 5))
    text = random_stencil(rng, rank)
    shape = tuple(int(n) for n in rng.integers(4, 6, rank))
    x = 0.5 * rng.random(shape)
    f = compiled(text, f"stencil {seed}")
    plain = without_shifts(compiled(text, f"plain {seed}"), x, 0.7, 3)
    value, d_x = value_and_grad(f)(x, 0.7, 3)
    assert value == pytest.approx(f(x, 0.7, 3), rel=1e-12), text
    np.testing.assert_allclose(d_x, plain, rtol=1e-11, atol=1e-12, err_msg=text)
    direction = rng.normal(size=shape)
    slope = jvp(lambda x: f(x, 0.7, 3), (x,), (direction,))[1]
    assert np.sum(d_x * direction) == pytest.approx(slope, rel=1e-8, abs=1e-8), text
    for other in (np.asfortranarray(x), x.astype(np.float32), x[::-1]):
        found, expected = grad(f)(other, 0.7, 3), without_shifts(f, other, 0.7, 3)
        assert found.dtype == other.dtype
        tolerance = 1e-3 if other.dtype == np.float32 else 1e-11
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance, err_msg=text)
    for n in itertools.product(range(4), repeat=2):  # whatever is short of a row or a column
        small = np.full((*n, *shape[2:]), 0.3)
        found, expected = grad(f)(small, 0.7, 2), without_shifts(f, small, 0.7, 2)
        np.testing.assert_allclose(found, expected, rtol=1e-11, err_msg=f"{n}\n{text}")


def heat(u, steps):
    u = u.copy()
    for _ in range(steps):
        q = 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u[1:-1, 1:-1] = q * np.cos(q)
    return np.sum(u**2)


def test_four_neighbours():
    u = RNG.random((6, 5))
    lines = body(heat, u, 3)
    assert "padded[1:-1, 1:-1] = d_total" in lines
    assert "columns = shape[1]" in lines
    assert "d_u_above = d_u_flat[:-columns]" in lines
    assert "shifted_above = padded_flat[columns:]" in lines
    for view in ("above", "below", "left", "right"):
        assert lines.count(f"d_u_{view} += shifted_{view}") == 1
    check_grads(heat, (u, 3), argnums=0)
    for shape in ((0, 5), (5, 0), (1, 1), (2, 7), (7, 2), (3, 3)):
        check_grads(heat, (RNG.random(shape), 3), argnums=0, order=1)


def diagonals(u, steps):
    u = u.copy()
    for _ in range(steps):
        q = u[2:, :-2] * 0.2 - 0.1 * u[1:-1, 1:-1] + 0.2 * u[:-2, 2:] + u[2:, 2:] * 0.2
        u[1:-1, 1:-1] += np.sin(q) + q * (u[:-2, :-2] - u[:-2, 2:] + u[2:, :-2])
    return np.sum(u**2)


def test_neighbours_across():
    for shape in ((6, 5), (5, 1), (1, 5), (3, 2), (2, 3), (4, 3)):
        check_grads(diagonals, (RNG.random(shape), 3), argnums=0, order=1)


def test_short_parts_and_rows_are_left_alone():
    def rows(u, steps):
        u = u.copy()
        for _ in range(steps):
            u[1:-1] = np.sin(u[2:] - u[:-2])
        return np.sum(u)

    def corners(u, steps):
        u = u.copy()
        for _ in range(steps):
            u[10:, 10:] = np.sin(u[:-10, :-10] - u[10:, :-10])
        return np.sum(u)

    def other_layout(u, steps):
        u = 2.0 * u
        for _ in range(steps):
            u[1:, 1:] = np.sin(u[:-1, :-1] - u[1:, :-1])
        return np.sum(u**2)

    for f in (rows, corners, other_layout):
        u = RNG.random((13, 12))
        assert not any("padded" in line for line in body(f, u, 3))
        check_grads(f, (u, 3), argnums=0, order=1)
        check_grads(f, (np.asfortranarray(u), 3), argnums=0, order=1)


def test_what_is_added_may_change_between():
    def f(u, steps):
        u = u.copy()
        for i in range(steps):
            q = u[1:, :-1] + u[:-1, 1:]
            p = q.copy()
            p *= u[1:, 1:]
            if i % 2:
                u[1:, 1:] = q * p - u[:-1, 1:] + p
            u[:-1, :-1] += p - 0.5 * q
        return np.sum(np.sin(u))

    check_grads(f, (RNG.random((5, 4)), 4), argnums=0, order=1)


def test_pullbacks_may_be_called_twice():
    u, d = RNG.random((6, 5)), RNG.random((6, 5))

    def steps(u):
        u = u.copy()
        for _ in range(3):
            q = u[:-2, 1:-1] + u[2:, 1:-1] - u[1:-1, :-2] * u[1:-1, 2:]
            u[1:-1, 1:-1] = np.sin(q)
        return u

    _, pullback = vjp(steps, u)
    first, second = pullback(d), pullback(d)
    np.testing.assert_array_equal(first, second)
    direction = RNG.random((6, 5))
    assert np.sum(first * direction) == pytest.approx(
        np.sum(d * jvp(steps, (u,), (direction,))[1]), rel=1e-12
    )


def test_long_expressions_are_looked_through_once():
    steps = "\n".join(["    t = np.sin(t) * t + t"] * 400)
    text = f"""\
import numpy as np
def f(x, n):
    t = 0.01 * x.copy()
{steps}
    for _ in range(n):
        t[1:, 1:] += t[:-1, 1:] - t[:-1, :-1]
    return np.sum(t * t)
"""
    f, x = compiled(text, "long expression"), RNG.random((3, 4))
    np.testing.assert_allclose(grad(f)(x, 2), without_shifts(f, x, 2), rtol=1e-12)
