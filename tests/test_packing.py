"""Parts of matrices lie in one piece in loops, by programs of random fields; NumPy's buffers."""

import numpy as np
import pytest

import srcgrad.units
from srcgrad import grad, jvp, value_and_grad
from srcgrad.testing import check_grads

from .random_orders import compiled

RNG = np.random.default_rng(5)
PARTS = ("[1:-1, 1:-1]", "[1:-1, :-2]", "[1:-1, 2:]", "[2:, 1:-1]", "[:-2, 1:-1]", "[..., :-2][2:]")
STATEMENTS = (
    "{a}{p} += 0.1 * {b}{q} * {c}{r}",
    "{a}{p} += 0.1 * {b}{q} * {c}{r}",
    "{a}{p} *= 0.9 + 0.1 * {c}{r}",
    "{a}{p} = {b}{q} - 0.2 * {a}{p} * {c}{r}",
    "{a}[1] = {b}[-2] * {c}[0]",
    "t = np.sin({a}{p}) * {c}{q}",
    "t *= {b}{q} + {c}{p}",
    "{a}{p} -= 0.1 * t",
    "t = {b}{p} + 0.1 * t",
    "part = {c}{r}\n{i}{a}{p} += part * 0.1\n{i}part *= 0.9",
    "np.multiply({b}{p}, {c}{q}, out={a}{r})",
    "if i % 2:\n{i}    {a}{p} += 0.1 * {c}{q} * {b}{r}",
    "for _ in range({n}):\n{i}    {a}{p} += 0.1 * {c}{q} * {b}{r} - 0.1 * {c}{r}",
    "{a}.T[1:-1, 1:-1] += 0.1 * {c}.T[1:-1, 1:-1]",
    "total += np.sum({c}{p} * {a}{q})",
    "{a}, {b} = {b}, {a}",
    "{a} = {a} * 0.9",
)
FIRST = ("w.copy()", "w", "x", "x * w", "np.zeros(x.shape, x.dtype)", "w.T", "w[::-1]")


def random_fields(rng):
    """The text of a function whose loops read and write parts of fields, some of them the same."""

    def statement(indent):
        a, b, c = rng.choice(["x", "u", "v", "w"], 3, p=[0.2, 0.35, 0.2, 0.25])
        p, q, r = rng.choice(PARTS, 3)
        text = str(rng.choice(STATEMENTS))
        return text.format(a=a, b=b, c=c, p=p, q=q, r=r, i=indent, n=rng.integers(3))

    indent = " " * 8
    lines = f"\n{indent}".join(statement(indent) for _ in range(rng.integers(1, 5)))
    more = f"\n{indent}".join(statement(indent) for _ in range(rng.integers(1, 3)))
    return f"""\
import numpy as np
def f(x, w, n):
    u, v = {rng.choice(FIRST)}, {rng.choice(FIRST)}
    t, total = 0.1 * x[1:-1, 1:-1], 0.0
    for i in range(n):
        {lines}
    i = 0
    while i < n:
        i += 1
        {more}
    return np.sum(u * v) + np.sum(np.cos(w) * x) + np.sum(t * t) + total
"""


def unpacked(f, *args):
    """The gradient by the first two arguments, compiled without the pass."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(srcgrad.units, "pack", lambda function: None)
        return grad(f, argnums=(0, 1))(*args)


@pytest.mark.parametrize("seed", range(16))
def test_random_fields(seed):
    rng = np.random.default_rng(seed)
    text = random_fields(rng)
    x, w = 0.3 + 0.5 * rng.random((2, 5, 5))
    f = compiled(text, f"fields {seed}")
    value, (d_x, d_w) = value_and_grad(f, argnums=(0, 1))(x.copy(), w.copy(), 3)
    assert value == pytest.approx(f(x.copy(), w.copy(), 3), rel=1e-12), text
    t_x, t_w = rng.normal(size=(2, 5, 5))
    step = 1e-6
    ends = [f(x + h * t_x, w + h * t_w, 3) for h in (step, -step)]
    slope = np.sum(d_x * t_x) + np.sum(d_w * t_w)
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6, abs=1e-7), text
    moved = jvp(lambda x, w: f(x, w, 3), (x, w), (t_x, t_w))[1]
    assert slope == pytest.approx(moved, rel=1e-10, abs=1e-10), text
    for y in (np.asfortranarray(x), x.astype(np.float32), x[:, ::-1]):
        for n in (0, 2):
            found = grad(f, argnums=(0, 1))(y, w.astype(y.dtype), n)
            expected = unpacked(f, y, w.astype(y.dtype), n)
            tolerance = 1e-4 if y.dtype == np.float32 else 1e-11
            for one, other in zip(found, expected, strict=True):
                assert one.dtype == other.dtype
                np.testing.assert_allclose(one, other, tolerance, tolerance, err_msg=text)


def wave(u, speed, steps):
    u = u.copy()
    v = np.zeros(u.shape)
    for _ in range(steps):
        v[1:-1, 1:-1] += speed[1:-1, 1:-1] * (u[2:, 1:-1] - 2 * u[1:-1, 1:-1] + u[:-2, 1:-1])
        u += 0.1 * v
    return np.sum(u**2)


def test_coefficients_are_copied_before_the_loop():
    u, speed = RNG.random((2, 6, 5))
    gradient = grad(wave, argnums=(0, 1))
    gradient(u, speed, 3)
    lines = [line.strip() for line in gradient.source.splitlines()]
    assert lines.count("speed_inner = np.copy(speed[1:-1, 1:-1])") == 1
    assert "d_speed_inner = np.zeros(d_speed[1:-1, 1:-1].shape)" in lines
    assert "d_speed[1:-1, 1:-1] += d_speed_inner" in lines
    check_grads(wave, (u, speed, 3), argnums=(0, 1))


@pytest.mark.parametrize("written", ["speed[2, 2] *= 0.5", "view[0] += u[0, 0]", "held[0] -= 0.1"])
def test_what_a_loop_writes_is_not_copied(written):
    text = f"""\
import numpy as np
def f(u, speed, steps):
    u = u.copy()
    view, held = speed.T, [speed]
    for _ in range(steps):
        u[1:-1, 1:-1] += speed[1:-1, 1:-1] * u[1:-1, 2:]
        {written}
    return np.sum(u**2)
"""
    f = compiled(text, f"written {written}")
    u, speed = RNG.random((2, 6, 5))
    gradient = grad(f, argnums=(0, 1))
    gradient(u, speed, 3)
    assert "np.copy(speed[1:-1, 1:-1])" not in gradient.source
    check_grads(f, (u, speed, 3), argnums=(0, 1), order=1)


def test_what_is_read_between_is_added_to_where_it_is():
    def f(u, steps):
        total = 0.0
        for _ in range(steps):
            total += np.sum(np.sin(u[1:, 1:])) * np.sum(u[0])
            u = u * 0.9
        return total

    check_grads(f, (RNG.random((4, 5)), 3), argnums=0, order=1)


def test_buffers_are_small_for_loops_over_parts_alone():
    def once(u):
        return np.sum(u[1:-1, 1:-1] * u[1:-1, 2:])

    def rows(u, steps):
        for _ in range(steps):
            u = u * u[0]
        return np.sum(u)

    u = RNG.random((5, 5))
    gradient = grad(wave)
    gradient(u, u, 2)
    assert gradient.source.startswith("@small_buffers\ndef d_wave(u, speed, steps):\n")
    for f, args in ((once, (u,)), (rows, (u, 2))):
        gradient = grad(f)
        gradient(*args)
        assert gradient.source.startswith("def ")


def test_buffers_are_as_large_as_before_after_a_call():
    def f(u, steps):
        for _ in range(steps):
            u[1:, 1:] += 0.1 * u[:-1, :-1]
            if u[0, 0] > 1:
                raise ValueError("too large")
        return np.sum(u**2)

    before, gradient = np.getbufsize(), grad(f)
    gradient(np.zeros((3, 3)), 2)
    assert gradient.source.startswith("@small_buffers\n")
    assert np.getbufsize() == before
    with pytest.raises(ValueError, match="too large"):
        gradient(np.full((3, 3), 2.0), 2)
    assert np.getbufsize() == before
