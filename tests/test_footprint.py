"""Expressions are taken apart where they cost the gradient its peak (optimize/footprint.py), and
what is stored in a part of an array is computed there (optimize/destinations.py)."""

import tracemalloc

import numpy as np
import pytest

from benchmarks.workloads.dynamics import heat_3d
from srcgrad import grad, value_and_grad, vjp
from srcgrad.testing import check_grads

N = 50_000


def peak(f, *args):
    """Arrays of `N` numbers that a call needs at once, beside its arguments."""
    f(*args)
    f(*args)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        f(*args)
        return (tracemalloc.get_traced_memory()[1] - before) / (8 * N)
    finally:
        tracemalloc.stop()


def softmax_sum(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def horner(c, x, y):
    p = c[2]
    p = p * x + c[1]
    p = p * x + c[0]
    return np.sum((p - y) ** 2)


def far_from_the_peak(x):
    a = np.sin(x)
    b = np.cos(a * x)
    p = 1 / (1 + np.exp(-x))
    return np.sum(a * b * p)


def test_an_expression_that_is_the_peak_is_taken_apart():
    x = np.linspace(-1, 1, N)
    gradient = grad(softmax_sum)
    assert peak(gradient, x) < 1.1
    assert "np.exp(exp, out=exp)" in gradient.source
    check_grads(softmax_sum, (x[:5],))


def test_lengths_that_differ_are_told_apart():
    c, x = np.array([0.3, -0.5, 0.7]), np.linspace(-1, 1, N)
    gradient = grad(horner)
    assert peak(gradient, c, x, np.sin(x)) < 1.1
    check_grads(horner, (c, x[:5], np.sin(x[:5])))


def test_so_are_those_of_arrays_that_numpy_would_not_compute_in_place_itself():
    c, x = np.array([0.3, -0.5, 0.7]), np.linspace(-1, 1, 5000)
    gradient = grad(horner)
    assert peak(gradient, c, x, np.sin(x)) * N / x.size < 1.2
    assert "p = p * x\n    p += c[1]" in gradient.source


def test_what_is_broadcast_is_computed_in_place():
    def f(mean, log_sigma, x):
        z = (x - mean) * np.exp(-log_sigma)
        return -0.5 * np.sum(z * z) - len(x) * np.sum(log_sigma)

    x = np.linspace(-1, 1, N).reshape(-1, 2)
    gradient = grad(f, (0, 1))
    assert peak(gradient, x[0], x[1], x) < 1.3  # one array, and what NumPy buffers
    assert "z *= " in gradient.source
    check_grads(f, (x[0], x[1], x[:3]), argnums=(0, 1))


def test_an_expression_that_is_not_the_peak_stays():
    x = np.linspace(-1, 1, 5)
    gradient = grad(far_from_the_peak)
    gradient(x)
    assert "p = 1 / (1 + np.exp(-x))" in gradient.source
    check_grads(far_from_the_peak, (x,))


def test_the_value_and_what_a_pullback_needs_stay_as_they_are():
    x = np.linspace(-1, 1, 5)

    def f(x):
        return 1 / (1 + np.exp(-x))

    out, pullback = vjp(f, x)
    first, second = pullback(np.ones(5)), pullback(np.ones(5))
    np.testing.assert_array_equal(out, f(x))
    np.testing.assert_array_equal(first[0], second[0])
    (value, p), _ = value_and_grad(lambda x: (np.sum(f(x)), f(x)), has_aux=True)(x)
    np.testing.assert_array_equal(p, f(x))
    assert value == np.sum(p)


# Destinations


def smooth(a, steps):
    a = a.copy()
    b = a.copy()
    for _ in range(steps):
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3
        a[1:-1] = (b[:-2] + b[1:-1] + b[2:]) / 3
    return np.sum(a * a)


def parts(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def test_what_is_stored_in_a_part_is_computed_there():
    x = np.linspace(-1, 1, 9)
    gradient = grad(smooth)
    gradient(x, 2)
    assert "np.add(a_left, a_inner, out=b" in gradient.source
    assert peak(gradient, np.linspace(-1, 1, N), 2) < 6.1
    check_grads(lambda x: smooth(x, 3), (x,))
    gradient = grad(parts)
    gradient(x)
    assert "np.multiply(d_difference, x_left, out=d_x" in gradient.source
    check_grads(parts, (x,))


def reads_what_it_overwrites(a):
    a = np.sin(a)
    a[1:] = a[:-1] * a[1:] + 0.1
    return np.sum(a * a)


def reads_it_on_the_way(a):
    b = np.sin(a)
    t = a * 2.0
    s = np.sum(b[1:])
    t = t / 3.0 + s
    b[:] = t
    return np.sum(b * b * a)


def stores_other_shapes(a):
    b = np.sin(np.outer(a, a))
    b[:] = a * 3.0
    b[0, :2] = 2.0 * a[:1]
    return np.sum(b * b)


def stores_another_precision(a):
    b = np.zeros(len(a), np.float32)
    b[:] = a * 3.0
    return np.sum(b * b * a)


def stores_at_indices(a):
    b = np.sin(a)
    b[np.array([0, 2, 0])] = 3.0 * a[:3]
    return np.sum(b * b)


def stores_an_index_that_changes(a):
    b = np.sin(a)
    i = 1
    for k in range(3):
        t = a[:2] * 2.0
        i = (i + k) % 3
        b[i : i + 2] = t * t
    return np.sum(b * b)


def keeps_the_value(a):
    b = np.sin(a)
    t = a * 2.0
    b[:] = t
    t = t + b
    return np.sum(b * t)


@pytest.mark.parametrize(
    "function",
    [reads_what_it_overwrites, reads_it_on_the_way, stores_other_shapes, stores_at_indices,
     stores_an_index_that_changes, keeps_the_value],
)  # fmt: skip
def test_what_else_looks_at_the_array_sees_what_it_did(function):
    a = np.array([0.3, -0.8, 1.1, 0.5])
    check_grads(function, (a,))
    value, _ = value_and_grad(function)(a)
    assert value == function(a)


def test_a_store_may_round():
    a = np.array([0.3, -0.8, 1.1, 0.5])
    value, d_a = value_and_grad(stores_another_precision)(a)
    assert value == stores_another_precision(a)
    np.testing.assert_allclose(d_a, 27 * a * a, rtol=1e-6)


def test_an_array_stored_in_itself_and_in_another():
    def f(a, b):
        a[1:] = 2.0 * b[1:] + b[:-1]
        return np.sum(a * a)

    a, b = np.array([0.3, -0.8, 1.1]), np.array([0.2, 0.4, 0.9])
    check_grads(lambda b: f(np.zeros(3), b), (b,))
    expected = grad(lambda b: np.sum((2.0 * b[1:] + b[:-1]) ** 2))(b)
    np.testing.assert_allclose(grad(f, argnums=1)(a, b), expected)


def over_a_column(x, w):
    x[...] = x / (1.5 + w[:, 2] * w[:, 2])
    return np.sum(x * np.arange(1.0, 4.0))


def column_to_column(x, w):
    y = w.copy()
    y[:, 0] = -w[:, 1]
    y[:, 3] = -(w[:, 2] * x)
    return np.sum(y * y * np.arange(1.0, 4.0)[:, None])


@pytest.mark.parametrize("f", [over_a_column, column_to_column])
@pytest.mark.parametrize(("columns", "dtype"), [(4, np.float32), (8, np.float64)])
def test_what_is_negated_in_a_column(f, columns, dtype):
    """NumPy's `negative` leaves out all but the first of some columns, if told where to write."""
    x, w = np.array([0.3, -0.8, 1.1], dtype), np.cos(np.arange(3.0 * columns)).reshape(3, -1)
    wider = np.append(w, np.zeros((3, 1)), 1)
    expected = grad(f, (0, 1))(x.astype(float), wider)
    found = grad(f, (0, 1))(x, w.astype(dtype))
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-5)
    np.testing.assert_allclose(found[1], expected[1][:, :-1], rtol=1e-5, atol=1e-7)


# Arrays that only have a name still


def box(u, steps):
    u = u.copy()
    for _ in range(steps):
        c = u[1:-1]
        along_x = u[2:] - 2 * c + u[:-2]
        along_y = u[2:] - 3 * c + u[:-2]
        along_z = u[2:] - 4 * c + u[:-2]
        u[1:-1] += 0.125 * (along_x + along_y + along_z)
    return np.sum(u * u)


def test_what_a_name_holds_is_computed_in():
    gradient = grad(box)
    gradient(np.linspace(-1, 1, 9), 2)
    assert "along_z = np.multiply(4.0, c, out=along_y)" in gradient.source
    reverse = gradient.source.partition("# return")[2]
    assert reverse.count("d_total = ") == reverse.count("+= d_total") - 1 == 1
    assert peak(gradient, np.linspace(-1, 1, N), 2) < 6.1
    check_grads(lambda u: box(u, 3), (np.linspace(-1, 1, 9),))
    assert value_and_grad(box)(np.ones(5), 2)[0] == box(np.ones(5), 2)


def test_what_each_iteration_makes_is_made_before_the_loop():
    u = np.random.default_rng(0).normal(size=(5, 5, 5))
    gradient = grad(heat_3d)
    gradient(u, 2)
    reverse = gradient.source.partition("# return")[2]
    assert reverse.index("d_total = np.empty_like(d_c)") < reverse.index("for ")
    check_grads(lambda u: heat_3d(u, 2), (u,))


def test_so_is_what_the_function_itself_makes_with_the_parts_of_its_expression():
    gradient = grad(box)
    gradient(np.linspace(-1, 1, 9), 2)
    lines = [line.strip() for line in gradient.source.splitlines()]
    loop = lines.index("for _ in range(steps):")
    assert "along_x = np.empty_like(c)" in lines[:loop]
    assert lines[loop + 1 : loop + 4] == [
        "np.multiply(2.0, c, out=along_x)",
        "np.subtract(u_right, along_x, out=along_x)",
        "along_x += u_left",
    ]
    assert gradient(np.linspace(-1, 1, 9), 0) == pytest.approx(2 * np.linspace(-1, 1, 9))
    u = np.linspace(-1, 1, 9, dtype=np.float32)
    assert gradient(u, 3).dtype == np.float32
    np.testing.assert_allclose(gradient(u, 3), gradient(u.astype(float), 3), rtol=1e-5)
    for n in (0, 1, 2, 3):
        assert gradient(np.ones(n), 2).shape == (n,)


def needs_the_last(u, steps):
    for _ in range(steps):
        c = u[1:-1]
        along_x = u[2:] - 2 * c + u[:-2]
        along_y = u[2:] - 3 * c + np.sin(along_x)
        along_z = np.exp(along_y) - 4 * c + u[:-2]
        u = u + 0.1 * np.concatenate([u[:1], along_x + along_y + along_z, u[-1:]])
    return np.sum(u * u) + np.sum(along_z * along_x)


def twice(u, steps):
    u = u.copy()
    for i in range(steps):
        c = u[1:-1]
        along_x = u[2:] - 2 * c + u[:-2]
        if i % 2:
            along_y = along_x
        else:
            along_y = u[2:] - 3 * c + u[:-2]
        along_x = along_x * 2.0 - along_y
        u[1:-1] += 0.1 * (along_x + along_y)
    return np.sum(u * u)


@pytest.mark.parametrize("f", [box, needs_the_last, twice])
def test_what_an_iteration_leaves_is_not_overwritten(f):
    x = np.linspace(-1, 1, 7)
    check_grads(lambda u: f(u, 3), (x,))
    assert value_and_grad(f)(x, 3)[0] == f(x, 3)
    _, pullback = vjp(lambda u: f(u, 3), x)
    first, second = pullback(1.0), pullback(1.0)
    np.testing.assert_array_equal(first[0], second[0])


def test_a_copy_that_is_scaled_is_not_made():
    gradient = grad(smooth)
    gradient(np.linspace(-1, 1, 9), 2)
    assert "np.divide(d_a_inner, 3.0, out=d_total)" in gradient.source
    assert "= d_a_inner.copy()" not in gradient.source


def keeps_each(u, steps):
    kept = []
    for i in range(steps):
        t = 2.0 * u
        t = t * t + i
        kept.append(t)
        u = u + 0.1 * np.sin(t)
    return np.sum(kept[0] * kept[-1]) + np.sum(u)


def carries_the_last(u, steps):
    last = u
    for i in range(steps):
        t = np.exp(0.1 * u)
        t = t * last
        last = t + i
        u = u * 0.9
    return np.sum(t * last)


def reads_the_last_in_the_next(u, steps):
    before = np.zeros(len(u))
    for _ in range(steps):
        t = u * 0.5 + before
        u = u + 0.1 * t * t
        before = t
    return np.sum(u * before)


def one_branch_uses_it(u, steps):
    for i in range(steps):
        t = 2.0 * u
        s = np.sin(u) + t
        if i > 0:
            u = u + 0.1 * s * t
        else:
            u = u + 0.1 * s
    return np.sum(u * u)


@pytest.mark.parametrize(
    "function", [keeps_each, carries_the_last, reads_the_last_in_the_next, one_branch_uses_it]
)
def test_what_outlives_an_iteration_is_its_own(function):
    u = np.array([0.3, -0.8, 1.1, 0.5])
    check_grads(lambda u: function(u, 3), (u,))
    assert value_and_grad(function)(u, 3)[0] == function(u, 3)


def two_buffers(a, steps):
    b = a.copy()
    c = a * a
    for _ in range(steps):
        b[1:-1] = 0.5 * (c[:-2] + c[2:])
        c[1:-1] = 0.5 * (b[:-2] + b[2:])
    return np.sum(c * c)


def recurrence(x, decay):
    y = np.zeros_like(x)
    for i in range(1, len(x)):
        y[i] = decay * y[i - 1] + x[i]
    return np.sum(y * y)


def read_in_an_expression(a, steps):
    b = a.copy()
    c = a * a
    for _ in range(steps):
        c[1:-1] = 0.5 * (c[:-2] + b[2:])
        b[1:-1] = 0.5 * (c[:-2] + c[2:])
    return np.sum(c * c) * np.sum(np.sin(2.0 * b))


def bound_in_the_loop(a, steps):
    c = a * a
    for _ in range(steps):
        kept = c + 1.0
        c[1:-1] = 0.5 * (kept[:-2] + kept[2:])
    return np.sum(c * c)


@pytest.mark.parametrize(
    ("f", "second", "deleted"),
    [
        (two_buffers, 3, ["b"]),
        (two_buffers, 0, ["b"]),
        (recurrence, 0.5, ["x_list", "y_list"]),
        (read_in_an_expression, 2, []),
        (bound_in_the_loop, 2, []),
        (bound_in_the_loop, 0, []),
    ],
)
def test_names_that_only_the_forward_sweep_needs_are_deleted(f, second, deleted):
    gradient = grad(f)
    for n in (1, 2, 7):
        check_grads(f, (np.linspace(0.5, 1.5, n), second), argnums=0)
        gradient(np.linspace(0.5, 1.5, n), second)
    lines = [s.strip() for s in gradient.source.splitlines()]
    found = [name for s in lines if s.startswith("del ") for name in s[4:].split(", ")]
    assert found[: len(deleted)] == deleted and bool(found) == bool(deleted)


def test_an_array_that_is_deleted_costs_nothing():
    assert peak(grad(two_buffers), np.linspace(0, 1, N), 3) < 3.1
