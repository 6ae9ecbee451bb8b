"""`checkpoint` and `checkpoint_loop`: the same gradients, with less memory."""

import functools
import tracemalloc

import numpy as np
import pytest

import srcgrad
from srcgrad import checkpoint, checkpoint_loop, grad, hessian, jvp, value_and_grad, vjp
from srcgrad.checkpointing import default_snapshots, first_part
from tests.test_units import check

RNG = np.random.default_rng(0)
X, W = RNG.standard_normal(4), RNG.standard_normal((4, 4)) * 0.4


@checkpoint
def layer(x, w):
    return np.tanh(w @ x) + x


def test_a_decorated_function():
    def f(x, w):
        for _ in range(3):
            x = layer(x, w)
        return np.sum(x * x)

    assert layer(X, W) == pytest.approx(np.tanh(W @ X) + X)
    check(f, X, W)


def test_nothing_inside_is_recorded():
    def f(x, w):
        return np.sum(layer(layer(x, w), w))

    gradient = grad(f)
    gradient(X, W)
    head = gradient.source.split("def layer")[0]
    assert "tanh" not in head
    assert "backward_layer(" in head
    assert "def backward_layer(x, w, d_out):" in gradient.source


def test_at_a_call_with_captured_variables():
    def f(x, w):
        def inner(y, scale=2.0):
            z = np.zeros(4)
            for i in range(4):
                z[i] = np.sin(y[i] * scale) * w[i, 0]
            return {"z": z, "sum": np.sum(z)}

        found = checkpoint(inner)(x, scale=w[0, 1])
        return np.sum(found["z"] ** 2) * found["sum"]

    check(f, X, W)


def test_a_branch_inside():
    @checkpoint
    def bend(x):
        if np.sum(x) > 0:
            return np.exp(x)
        return x**3

    for sign in (1.0, -1.0):
        check(lambda x: np.sum(bend(x) * x), sign * np.abs(X))


def test_checkpoints_in_checkpoints():
    @checkpoint
    def outer(x, w):
        return np.sum(layer(layer(x, w) * 2, w))

    check(outer, X, W)


def test_writing_into_an_argument():
    @checkpoint
    def relax(u):
        u[1:-1] += 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2]) * u[1:-1]

    def f(x):
        u = x * 1.0
        relax(u)
        relax(u)
        return np.sum(u**2)

    check(f, X)


def test_loops_with_a_test_contexts_and_handlers():
    """What has no effect but to steer the function may be done twice."""

    @checkpoint
    def steered(y):
        n = 0
        while np.sum(y * y) < 20 and n < 9:
            y = y * 1.3 + np.sin(y)
            n += 1
        with np.errstate(all="ignore"):
            z = np.log(y * y + 1)
        try:
            factor = np.linalg.cholesky(np.outer(y, y) + np.eye(4) * y[0])
        except np.linalg.LinAlgError:
            factor = np.eye(4) * y[1]
        return factor @ z * n

    for sign in (1.0, -1.0):
        check(lambda x: np.sum(steered(x) * x), sign * np.abs(X))


def test_while_in_the_step_of_a_loop():
    def step(i, u):
        while np.sum(u) < 3.0:
            u = u * 1.1 + 0.1
        return np.sin(u) + 0.01 * i

    check(lambda x: np.sum(checkpoint_loop(step, x, 20) ** 2), np.abs(X))


def test_objects_that_are_called():
    class Layer:
        def __init__(self, w):
            self.w = w

        @checkpoint
        def __call__(self, x):
            return np.sum(np.tanh(self.w * x))

    fixed = Layer(W)
    check(lambda x: fixed(fixed(x) * x), X)
    check(lambda x: Layer(x)(x * x), X)
    check(fixed, X)


def test_what_mustn_t_be_done_twice_is_refused():
    generator = np.random.default_rng(0)

    @checkpoint
    def noisy(x):
        return x * generator.standard_normal(4)

    with pytest.raises(srcgrad.UnsupportedError, match="can't be computed a second time"):
        grad(lambda x: np.sum(noisy(x)))(X)
    with pytest.raises(TypeError, match="checkpoint needs a function"):
        checkpoint(3)


def heat(x, c, n, snapshots=None):
    def step(i, state):
        u, v = state
        return u + 0.01 * np.sin(c * u) * v, v * (1.0 + 0.001 * i * c)

    u, v = checkpoint_loop(step, (x, 1.0), n, snapshots)
    return np.sum(u * v)


def heat_plainly(x, c, n, snapshots=None):
    v = 1.0
    for i in range(n):
        x, v = x + 0.01 * np.sin(c * x) * v, v * (1.0 + 0.001 * i * c)
    return np.sum(x * v)


@pytest.mark.parametrize("n", [0, 1, 8, 9, 20, 77])
@pytest.mark.parametrize("snapshots", [None, 1, 3])
def test_the_loop_is_the_loop(n, snapshots):
    assert heat(X, 0.7, n, snapshots) == heat_plainly(X, 0.7, n)
    found = value_and_grad(heat, (0, 1))(X, 0.7, n, snapshots)
    expected = value_and_grad(heat_plainly, (0, 1))(X, 0.7, n)
    assert found[0] == pytest.approx(expected[0], rel=1e-14)
    for a, b in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_the_loop_in_every_mode():
    directions = (np.ones(4), 0.3)
    found = jvp(lambda x, c: heat(x, c, 50), (X, 0.7), directions)
    expected = jvp(lambda x, c: heat_plainly(x, c, 50), (X, 0.7), directions)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    pullback = vjp(lambda x, c: heat(x, c, 50), X, 0.7)[1]
    np.testing.assert_array_equal(pullback(1.0)[0], pullback(1.0)[0])
    second = hessian(lambda x: heat(x, 0.7, 50))(X)
    np.testing.assert_allclose(second, hessian(lambda x: heat_plainly(x, 0.7, 50))(X), atol=1e-12)


def test_tangents_of_a_state_that_doesnt_move():
    """They are arrays: they may be written in place later."""

    def f(x, y):
        a = x * 1.0
        for _ in range(len(x)):
            a = checkpoint_loop(lambda i, u: u + 0.1 * np.sin(u) * i, y, len(x))
        a = a * 1.0
        a[0] *= 0.4
        return np.sum(a * a * x)

    x, y = np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 0.5])
    _, slope = jvp(lambda x: f(x, y), (x,), (y,))
    assert slope == pytest.approx(grad(f)(x, y) @ y)


def test_memory_is_that_of_the_snapshots():
    n, x = 2000, np.linspace(0.1, 1.0, 500)

    def stepwise(x, c, n):
        return np.sum(checkpoint_loop(lambda i, u: u + 0.01 * np.sin(c * u), x, n))

    def plainly(x, c, n):
        for _ in range(n):
            x = x + 0.01 * np.sin(c * x)
        return np.sum(x)

    def peak(f):
        gradient = grad(f)
        gradient(x, 1.0, 20)
        tracemalloc.start()
        gradient(x, 1.0, n)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    states = peak(stepwise) / x.nbytes
    assert states < default_snapshots(n) + 60
    assert peak(plainly) / x.nbytes > n


def test_the_loop_refuses():
    with pytest.raises(ValueError, match="at least one snapshot"):
        heat(X, 0.7, 5, 0)

    def leaky(x):
        count = 0.0

        def step(i, u):
            nonlocal count
            count += 1.0
            return u * 1.1

        return np.sum(checkpoint_loop(step, x, 30)) * count

    with pytest.raises(srcgrad.UnsupportedError, match="make it part of the state"):
        grad(leaky)(X)

    def scratch(x):
        buffer = np.zeros(4)

        def step(i, u):
            buffer[:] = u * x
            return buffer * 0.9 + x

        return np.sum(checkpoint_loop(step, x, 30))

    with pytest.raises(srcgrad.UnsupportedError, match="'buffer' is written in a function"):
        grad(scratch)(X)


def in_place(x):
    def step(i, u):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) - 0.05 * u[1:-1] ** 2
        return u

    return np.sum(checkpoint_loop(step, x, 40, 3) ** 2) + np.sum(x)


def in_place_swapped(x):
    def step(i, state):
        u, v = state
        u += 0.1 * v * x
        v[0] -= 0.1 * u[1] ** 2
        return v, u

    u, v = checkpoint_loop(step, (x * 2, x), 33, 2)
    return np.sum(u * v) + np.sum(x)


def one_array_twice(x):
    def step(i, state):
        u, _ = state
        u *= 1.01
        return u, u

    u, v = checkpoint_loop(step, (x, x), 20, 3)
    u *= 2
    return np.sum(u * v)


def the_state_is_read_afterwards(x):
    y = x * 1.0

    def step(i, u):
        u[i % 4] = np.sin(u[i % 4]) + y[0]
        return u

    z = checkpoint_loop(step, y, 20, 3)
    y[0] = z[1] * 3
    return np.sum(z * y)


def the_result_is_written(x):
    y = np.zeros(4)

    def step(i, u):
        return u[::-1] + 0.1 * x

    z = checkpoint_loop(step, y, 20, 3)
    z[1:] += x[1:]
    return np.sum(z * y) + np.sum(z**2)


@pytest.mark.parametrize(
    "f",
    [in_place, in_place_swapped, one_array_twice, the_state_is_read_afterwards,
     the_result_is_written],
)  # fmt: skip
def test_steps_that_write_into_their_state(f):
    """The state is the loop's own: neither the argument nor what `f` holds is written."""
    before = X.copy()
    check(f, X, second=f is not the_result_is_written)
    np.testing.assert_array_equal(X, before)


def test_the_result_of_a_function_that_stays_one_is_written_through_views():
    def added(x):
        y = curved(x)
        y[1:] += x[1:]
        return np.sum(y**2)

    def multiplied(x):
        y = curved(x)
        part = y[1:3]
        part *= x[1:3]
        return np.sum(y**2) + np.sum(part)

    def inside(x):
        out, pullback = vjp(lambda y: y**2, x)
        out[1:] *= x[1:]
        return np.sum(out * pullback(out)[0])

    for f in (added, multiplied, inside):
        check(f, X)


@checkpoint
def curved(x):
    return np.sin(x) * x


@functools.cache
def steps_computed(length, snapshots):
    if length <= 8:
        return length
    first = first_part(length, snapshots)
    assert 0 < first < length
    rest = steps_computed(length - first, max(snapshots - 1, 1))
    return first + steps_computed(first, snapshots) + rest


def test_the_schedule_is_the_binomial_one():
    for n in (100, 1000, 10_000):
        assert steps_computed(n, default_snapshots(n)) <= 3 * n

    @functools.cache
    def fewest(blocks, snapshots):
        if blocks == 1:
            return 1
        if snapshots == 1:
            return blocks * (blocks + 1) // 2
        return min(
            m + fewest(m, snapshots) + fewest(blocks - m, snapshots - 1) for m in range(1, blocks)
        )

    for blocks in range(1, 40):
        for snapshots in range(1, 8):
            assert steps_computed(8 * blocks, snapshots) == 8 * fewest(blocks, snapshots)
