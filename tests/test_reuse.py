"""Arrays that are needed no more are computed in, and no others (optimize/reuse.py)."""

import operator
import tracemalloc

import numpy as np
import pytest

import srcgrad
from srcgrad import grad, value_and_grad, vjp
from srcgrad.analysis.elementwise import FRESH
from srcgrad.testing import check_grads


def network(w, v, x, y):
    h = np.tanh(x @ w)
    out = h @ v
    return np.mean((out - y) ** 2)


def network_arguments(n=5):
    rng = np.random.default_rng(0)
    return tuple(rng.normal(size=shape) for shape in ((3, 4), (4, 2), (n, 3), (n, 2)))


def test_the_reverse_sweep_computes_in_what_the_forward_sweep_made():
    gradient = grad(network, argnums=(0, 1))
    gradient(*network_arguments())
    assert "np.multiply(h, h, out=h)" in gradient.source
    assert "np.subtract(out, y, out=out)" in gradient.source
    check_grads(network, network_arguments())


def test_peak_memory_is_that_of_what_must_be_there():
    args = network_arguments(20_000)
    gradient = grad(network, argnums=(0, 1))
    gradient(*args)
    tracemalloc.start()
    try:
        gradient(*args)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    columns = 4 + 2 + 4  # of the hidden layer, the output, and the adjoint of the hidden layer
    assert peak < 8 * 20_000 * (columns + 1)


def stencil(u):
    u = u.copy()
    left, right = u[:-2], u[2:]
    for _ in range(3):
        u[1:-1] += 0.1 * (left + right)
    return np.sum(u * u)


def test_an_array_whose_views_are_dead_is_computed_in():
    x = np.linspace(0.1, 1.0, 7)
    gradient = grad(stencil)
    gradient(x)
    assert "np.multiply(2.0, u, out=u)" in gradient.source
    check_grads(stencil, (x,))


# What mustn't be overwritten


def view_used_later(x):
    y = np.sin(x)
    first = y[:2]
    z = np.exp(y)
    return np.sum(z * z) + np.sum(first * first * first) * z[0]


def a_branch_hands_it_on(x, flag):
    y = np.sin(x)
    z = y if flag > 0 else np.cos(x)
    w = np.exp(y)
    return np.sum(w * w * z) + np.sum(z * z * w)


def a_loop_hands_it_on(x):
    y = np.sin(x)
    z = y
    for _ in range(3):
        w = np.exp(y) * z
        z = np.tanh(w)
    return np.sum(z * w)


def read_in_each_trip(x):
    y = np.sin(x)
    total = 0.0
    for i in range(3):
        z = np.exp(y)
        total += np.sum(z * z * z) * i
    return total


def kept_in_a_list(x):
    ys = []
    for i in range(3):
        y = np.sin(x + i)
        ys.append(y)
        z = np.exp(y)
        ys.append(z)
    return np.sum(ys[0] * ys[1] ** 2 * ys[2] ** 3 * ys[-1])


def broadcast_operand(x):
    y = np.sin(x)
    z = y - y[:, None]
    return np.sum(np.exp(z) * z)


def transposed(x):
    y = np.outer(x, np.cos(x))
    z = np.exp(y) + y.T
    return np.sum(z * z * z.T)


def in_a_branch(x, flag):
    y = np.sin(x)
    h = np.exp(y)
    if flag > 0:
        h = h * y
        h = np.tanh(h)
    return np.sum(h * h * y)


def itself(x):
    y = np.sin(x)
    z = y
    y = y * y
    return np.sum(y * z)


def recursive(x, n):
    if n == 0:
        return np.sum(x * x)
    y = np.sin(x)
    return recursive(y * y + x, n - 1) + np.sum(y * y * y)


@pytest.mark.parametrize("flag", [-1.0, 1.0])
@pytest.mark.parametrize("function", [a_branch_hands_it_on, in_a_branch])
def test_branches(function, flag):
    check_grads(lambda x: function(x, flag), (np.array([0.3, -0.8, 1.1]),))
    gradient = grad(function)
    x = np.array([0.3, -0.8, 1.1])
    expected = grad(lambda x: function(x, flag))(x)
    np.testing.assert_allclose(gradient(x, flag), expected)


@pytest.mark.parametrize(
    "function",
    [view_used_later, a_loop_hands_it_on, read_in_each_trip, kept_in_a_list, broadcast_operand,
     transposed, itself, lambda x: recursive(x, 3)],
)  # fmt: skip
def test_what_is_used_again_stays(function):
    x = np.array([0.3, -0.8, 1.1])
    given = x.copy()
    check_grads(function, (x,))
    value, gradient = value_and_grad(function)(x)
    assert value == function(x)
    np.testing.assert_array_equal(x, given)
    np.testing.assert_allclose(gradient, grad(function)(x))


def test_a_pullback_can_be_called_again():
    def layers(w, v, x):
        return np.tanh(x @ w) @ v

    w, v, x, _ = network_arguments()
    out, pullback = vjp(layers, w, v, x)
    first = pullback(np.ones_like(out))
    second = pullback(np.ones_like(out))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


def test_aux_is_as_it_was():
    def with_aux(x):
        h = np.sin(x)
        return np.sum(h * h), h

    x = np.array([0.3, -0.8])
    (_, h), d_x = value_and_grad(with_aux, has_aux=True)(x)
    np.testing.assert_array_equal(h, np.sin(x))
    np.testing.assert_allclose(d_x, 2 * np.sin(x) * np.cos(x))


KEPT = []


def remembering(x):
    KEPT.append(x)
    return 2.0 * x


def test_what_others_have_seen_stays():
    """A primitive with a rule of its own may keep what it is given."""

    @srcgrad.adjoint(remembering)
    def rule(x, *, out, d_out):
        return 2.0 * d_out

    def function(x):
        y = np.sin(x)
        z = remembering(y)
        w = np.exp(y)
        return np.sum(w * w * z)

    KEPT.clear()
    x = np.array([0.3, -0.8])
    grad(function)(x)
    np.testing.assert_array_equal(KEPT[-1], np.sin(x))


def single(x):
    h = np.sin(x)
    return np.sum(h * h * np.float32(0.5))


def test_single_precision_stays():
    assert grad(single)(np.ones(3, np.float32)).dtype == np.float32
    assert grad(single)(np.ones(3)).dtype == np.float64


A = np.arange(1.0, 10.0).reshape(3, 3) + 10 * np.eye(3)
ARGUMENTS = {
    np.where: (A > 0, A, A), np.zeros: (A.shape,), np.ones: (A.shape,), np.full: (A.shape, 1.0),
    np.full_like: (A, 1.0), np.concatenate: ([A],), np.stack: ([A],), np.repeat: (A, 1),
    np.take: (A, [0, 1, 2]), np.fft.fft: (A + 0j,), np.fft.ifft: (A + 0j,),
    np.fft.irfft: (A + 0j,), np.fft.hfft: (A + 0j,), np.empty: (A.shape,),
    np.einsum: ("ij,ij->i", A, A),
}  # fmt: skip
AXIS = (np.sum, np.max, np.min, np.mean, np.prod, np.cumsum, np.cumprod)
PAIRS = {
    operator.matmul, np.matmul, np.dot, np.ndarray.dot, np.outer, np.vecdot, np.linalg.solve,
}  # fmt: skip


@pytest.mark.parametrize("function", sorted(FRESH, key=repr))
def test_what_is_said_to_be_fresh_is(function):
    args = ARGUMENTS.get(function, (A, A) if function in PAIRS else (A,))
    axes = [{"axis": 0}, {"axis": ()}] if function in AXIS else [{}]
    for kwargs in axes if function not in AXIS[-2:] else axes[:1]:
        result = function(*args, **kwargs)
        assert result.flags.writeable
        for a in args:
            assert not np.shares_memory(result, a[0] if isinstance(a, list) else a)


def filtered_signal(gain, signal, target):
    filtered = np.fft.irfft(gain * np.fft.rfft(signal), len(signal))
    return np.sum((filtered - target) ** 2)


def test_what_a_transform_returns_is_computed_in():
    args = np.linspace(0.5, 1.0, 4), np.linspace(-1.0, 1.0, 6), np.linspace(0.0, 1.0, 6)
    gradient = grad(filtered_signal, argnums=(0, 1))
    gradient(*args)
    assert "np.subtract(filtered, target, out=filtered)" in gradient.source
    check_grads(filtered_signal, args)
