"""Simplification: what it makes of expressions, and that it changes no gradient."""

import copy
import itertools
import warnings

import numpy as np
import pytest

import srcgrad
from srcgrad import units
from srcgrad.testing import check_grads
from tests.random_programs import program

X = np.array([0.5, -1.5, 2.0, 0.25])
M = np.arange(6.0).reshape(2, 3)


def body(f, *args, argnums=0):
    """The statements of a gradient's source, without docstring, comments and blank lines."""
    gradient = srcgrad.grad(f, argnums=argnums)
    gradient(*copy.deepcopy(args))
    lines = [line.strip() for line in gradient.source.splitlines()[2:]]
    return [line for line in lines if line and not line.startswith("#")]


def test_the_adjoint_of_a_sum_is_not_spread():
    assert body(lambda x: np.sum(x * x), X) == ["return 2.0 * x"]


def test_constant_factors_meet():
    assert body(lambda x: np.sum(3.0 * (2.0 * (x * x) / 4.0)), X) == ["return 3.0 * x"]


def test_signs_meet():
    lines = body(lambda x: -np.sum(-x * -x), X)
    assert lines == ["return -2.0 * x"]


def test_opposite_means_are_factored():
    lines = body(lambda x: np.mean(np.sin(x)) - np.mean(np.cos(x)), X)
    assert lines[-3:] == ["d_x = np.sin(x) + np.cos(x)", "d_x *= 1.0 / x.size", "return d_x"]


def test_a_gradient_of_ones():
    assert body(lambda x: np.sum(x), X) == ["return np.ones(x.shape)"]


def test_the_gradient_is_never_the_argument():
    gradient = srcgrad.grad(lambda x, y: np.sum(x * y), argnums=(0, 1))
    x, y = X.copy(), X + 1
    d_x, d_y = gradient(x, y)
    assert not np.may_share_memory(d_x, y) and not np.may_share_memory(d_y, x)


def test_gradients_are_different_arrays():
    d_x, d_y = srcgrad.grad(lambda x, y: np.sum(x + y), argnums=(0, 1))(X, X + 1)
    d_x[0] = 7.0
    assert d_y[0] == 1.0


def test_float32_stays():
    x = X.astype(np.float32)
    for f in (lambda x: np.sum(2.0 * x), lambda x: np.mean(np.sin(x) * x), lambda x: np.sum(x)):
        assert srcgrad.grad(f)(x).dtype == np.float32


def test_the_first_contribution_is_stored():
    def f(c):
        return c[0] * c[1] + c[2]

    lines = body(f, X)
    assert "d_c = np.zeros(c.shape)" in lines
    assert not any("d_c[0] = d_c[0]" in line for line in lines)


def test_a_second_contribution_is_added():
    def f(c):
        return c[0] * c[1] + c[0]

    np.testing.assert_allclose(srcgrad.grad(f)(X), [X[1] + 1, X[0], 0, 0])


def test_overlapping_slices_are_added():
    def f(x):
        return np.sum(x[1:] * x[:-1])

    np.testing.assert_allclose(srcgrad.grad(f)(X), [X[1], X[0] + X[2], X[1] + X[3], X[2]])


def test_repeated_indices_are_added():
    index = np.array([0, 0, 2])

    def f(x):
        return np.sum(x[index] ** 2)

    np.testing.assert_allclose(srcgrad.grad(f)(X), [4 * X[0], 0, 2 * X[2], 0])


def test_rows_and_columns_without_repetition_are_stored():
    columns = np.array([2, 0])

    def f(m):
        return np.sum(m[np.arange(2), columns] ** 2)

    assert not any("add.at" in line for line in body(f, M))
    np.testing.assert_allclose(srcgrad.grad(f)(M), [[0, 0, 4], [6, 0, 0]])


def test_written_memory_is_not_read_late():
    """The factor of the product changes after the product is taken."""

    def f(x):
        y = x * 2.0
        z = 3.0 * y
        y *= x
        return np.sum(z * z) + np.sum(y)

    np.testing.assert_allclose(srcgrad.grad(f)(X), 72 * X + 4 * X)


def test_equal_expressions_before_and_after_a_write():
    def f(x):
        y = x * 1.0
        a = y * y
        y[0] = 5.0
        b = y * y
        return np.sum(a) + np.sum(b)

    np.testing.assert_allclose(srcgrad.grad(f)(X), [2 * X[0], *(4 * X[1:])])


def test_equal_arrays_of_which_one_is_written():
    def f(x):
        a = np.sin(x)
        b = np.sin(x)
        b *= 2.0
        return np.sum(a * b)

    np.testing.assert_allclose(srcgrad.grad(f)(X), 4 * np.sin(X) * np.cos(X))


def test_cubes_are_products():
    assert not any("**" in line for line in body(lambda x: np.sum(np.sin(x**3)), X))


def test_buffers_are_used_again():
    lines = body(lambda x: np.sum(np.sin(x) * x), X)
    assert lines == ["d_x = np.cos(x)", "d_x *= x", "d_x += np.sin(x)", "return d_x"]


def test_a_buffer_that_is_needed_later_is_kept():
    def f(x):
        y = np.sin(x)
        return np.sum(y * y * x) + np.sum(np.exp(y) * np.cos(y))

    y = np.sin(X)
    d_y = 2 * y * X + np.exp(y) * (np.cos(y) - np.sin(y))
    np.testing.assert_allclose(srcgrad.grad(f)(X), y * y + d_y * np.cos(X))


def test_a_branch_not_taken_contributes_nothing():
    def f(x):
        return np.sum(np.where(x > 0, np.sqrt(np.abs(x)), 0.0) * x)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isfinite(srcgrad.grad(f)(np.array([0.0, 1.0, -1.0]))).all()


@pytest.mark.parametrize("seed", range(1000, 1040))
def test_random_programs(seed, monkeypatch):
    """With and without the passes, and against differences."""
    source, f, arguments = program(seed)
    value = f(*copy.deepcopy(arguments))
    if not np.isfinite(value) or abs(value) > 1e8:
        pytest.skip("not a number")
    before = copy.deepcopy(arguments)
    found = srcgrad.grad(f, argnums=(0, 1, 2))(*arguments)
    for a, b in zip(arguments, before, strict=True):
        np.testing.assert_array_equal(a, b)
    for name in ("simplify", "accumulate"):
        monkeypatch.setattr(units, name, lambda *_: None)
    plain = srcgrad.grad(lambda x, y, c: f(x, y, c), argnums=(0, 1, 2))(*arguments)
    scale = max(1.0, abs(value))
    for a, b in zip(found, plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8 * scale, err_msg=source)
    rng = np.random.default_rng(0)
    directions = [rng.normal(size=np.shape(a)) for a in arguments]

    def at(step):
        pairs = zip(arguments, directions, strict=True)
        return f(*[copy.deepcopy(a) + step * d for a, d in pairs])

    expected = (at(1e-6) - at(-1e-6)) / 2e-6
    product = sum(np.sum(g * d) for g, d in zip(found, directions, strict=True))
    assert product == pytest.approx(expected, rel=1e-4, abs=1e-5 * scale), source


def test_parts_that_are_added_to_twice_are_added_to_once():
    def f(x):
        return np.sum(x[1:] * x[:-1] ** 2 + np.sin(x[:-1]))

    lines = body(f, X)
    assert sum("d_x[:-1]" in line for line in lines) == 1, lines
    expected = np.zeros(4)
    expected[:-1] = 2 * X[1:] * X[:-1] + np.cos(X[:-1])
    expected[1:] += X[:-1] ** 2
    np.testing.assert_allclose(srcgrad.grad(f)(X), expected)


def test_parts_added_to_in_turns_with_the_whole():
    def f(x):
        y = np.zeros(4)
        y[1:] += x[:-1]
        y += y * y
        y[1:] -= 3.0 * x[:-1]
        return np.sum(y * x)

    step = np.array([1.0, -0.5, 0.25, 2.0])
    expected = (f(X + 1e-6 * step) - f(X - 1e-6 * step)) / 2e-6
    assert np.sum(srcgrad.grad(f)(X) * step) == pytest.approx(expected, rel=1e-6)


def test_a_vector_stands_before_a_matrix_rather_than_behind_its_transpose():
    def f(w, m):
        return np.sum(np.sin(m @ w)) + np.sum(np.cos(w[:2] @ m))

    lines = body(f, np.ones(3), M)
    assert not any(".T" in line for line in lines), lines
    cosine, sine = np.cos(M @ np.ones(3)), np.sin(np.ones(2) @ M)
    expected = cosine @ M - np.append(M @ sine, 0.0)
    np.testing.assert_allclose(srcgrad.grad(f)(np.ones(3), M), expected)


def test_operands_in_another_order_are_the_same():
    lines = body(lambda x, y: np.sum(np.sin(x * y) + np.cos(y * x)), X, X + 1)
    assert sum("x * y" in line or "y * x" in line for line in lines) == 1, lines


def test_a_part_taken_outside_a_loop_is_added_to_inside():
    def f(x, n):
        y = np.zeros(4)
        left = y[:-1]
        for _ in range(n):
            left += np.sin(x[1:])
        return np.sum(y * x)

    expected = 2 * np.append(np.sin(X[1:]), 0.0)
    expected[1:] += 2 * X[:-1] * np.cos(X[1:])
    np.testing.assert_allclose(srcgrad.grad(f)(X, 2), expected)


def test_a_variable_takes_its_next_value_in_place():
    def f(c, x):
        p = c[0] * x
        p = p * x + c[1]
        p = p * x + c[2]
        return np.sum(np.sin(p))

    lines = body(f, X, X + 1)
    assert "p *= x" in lines and "p += c[2]" in lines, lines
    x, slope = X + 1, np.cos(X[0] * (X + 1) ** 3 + X[1] * (X + 1) + X[2])
    expected = [np.sum(slope * x**3), np.sum(slope * x), np.sum(slope), 0]
    np.testing.assert_allclose(srcgrad.grad(f)(X, x), expected)


@pytest.mark.parametrize(
    "use",
    [
        lambda p, kept: kept.append(p),
        lambda p, kept: kept.append(p[1:]),
        lambda p, kept: kept.append(np.sin(p)),
        lambda p, kept: kept.append(p * p) if p[0] > 0 else kept.append(p),
    ],
)
def test_values_that_are_kept_are_not_written(use):
    """The value before is in a list, or needed by the reverse sweep."""

    def f(x):
        kept = []
        p = x * 2.0
        use(p, kept)
        p = p * x + 1.0
        use(p, kept)
        p = p - x
        total = np.sum(p)
        for k in kept:
            total = total + np.sum(k) * np.sum(k)
        return total

    step = np.array([1.0, -0.5, 0.25, 2.0])
    expected = (f(X + 1e-6 * step) - f(X - 1e-6 * step)) / 2e-6
    value, gradient = srcgrad.value_and_grad(f)(X)
    assert value == f(X)
    assert np.sum(gradient * step) == pytest.approx(expected, rel=1e-6)


def test_results_are_not_written():
    def f(x):
        p = x * 2.0
        first = p
        p = p + x
        return np.sum(p * x), (first, p)

    gradient, (first, p) = srcgrad.grad(f, has_aux=True)(X)
    np.testing.assert_array_equal(first, 2 * X)
    np.testing.assert_array_equal(p, 3 * X)
    np.testing.assert_allclose(gradient, 6 * X)
    out, pullback = srcgrad.vjp(lambda x: (f(x)[0], *f(x)[1]), X)
    np.testing.assert_array_equal(out[1], 2 * X)
    np.testing.assert_allclose(pullback((1.0, np.ones(4), np.ones(4)))[0], 6 * X + 5)


def test_transposes_vanish():
    assert body(lambda x, y: np.sum((x @ y.T) ** 2), M, M + 1) == [
        "return (2.0 * (x @ y.T)).dot(y)",
    ]
    d_y = body(lambda x, y: np.sum((x @ y.T) ** 2), M, M + 1, argnums=1)
    assert d_y == ["return (2.0 * (x @ y.T)).T.dot(x)"]
    # of a column times a row as well, whatever the sign
    assert body(lambda x, v: np.sum((x.T @ v) ** 2), M, M[:, 0]) == [
        "return v[:, None] * (2.0 * (x.T @ v))",
    ]
    assert body(lambda x, v: -np.sum(np.exp(x.T @ v)), M, M[:, 0]) == [
        "return -(v[:, None] * np.exp(x.T @ v))",
    ]
    # the rows of the adjoint of windows are long: they're added up
    windows = np.lib.stride_tricks.sliding_window_view
    lines = body(lambda x, w: np.sum(np.exp(windows(x, 2) @ w)), X, X[:2])
    assert any("w[:, None] * " in line for line in lines) and not any("T" in line for line in lines)
    gradient = srcgrad.grad(lambda x: np.sum(np.sin(x.T.T)))
    d_x = gradient(M)
    np.testing.assert_allclose(d_x, np.cos(M))
    d_x[0] = 7.0
    assert M[0, 0] == 0.0


def test_the_sum_of_a_sum_is_that_sum():
    assert body(lambda x: np.sum(np.sum(np.sin(x))), M) == ["return np.cos(x)"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_number_whose_axes_are_moved_is_not_spread(dtype):
    def nearest(x, y):
        return np.sum(np.min((x[:, None] - y) ** 2, axis=1))

    x, y = np.arange(4, dtype=dtype) ** 2, np.array([1.0, 5.0, 8.5], dtype)
    gradient = srcgrad.grad(nearest)
    found = gradient(x, y)
    assert found.dtype == dtype
    assert "np.ones" not in gradient.source or dtype == np.float32, gradient.source
    np.testing.assert_allclose(found, [-2.0, 0.0, -2.0, 1.0])
    np.testing.assert_allclose(gradient(np.array([3.0], dtype), y), [0.0])  # a tie
    assert gradient(np.ones(0, dtype), y).shape == (0,)


def test_multiples_of_the_same_are_added_at_once():
    """Three times twice the adjoint, with additions to overlapping parts between."""

    def f(x):
        x = x.copy()
        for _ in range(3):
            c = x[1:-1, 1:-1]
            rows = x[2:, 1:-1] - 2 * c + x[:-2, 1:-1]
            columns = x[1:-1, 2:] - 2 * c + x[1:-1, :-2]
            x[1:-1, 1:-1] += 0.1 * (rows + columns)
        return np.sum(x * x)

    x = np.random.default_rng(0).normal(size=(5, 6))
    lines = body(f, x)
    assert [line for line in lines if "-=" in line] == ["d_x_flat -= padded_flat"]
    assert lines.index("d_total *= 4.0") < lines.index("d_x_flat -= padded_flat")
    check_grads(f, (x,))


def test_multiples_are_not_collected_across_a_read():
    def f(x):
        y = x.copy()
        for _ in range(3):
            y[1:] -= y[:-1]
            y[1:] *= x[1:]
            y[1:] -= 2 * y[:-1]
        return np.sum(y * y)

    check_grads(f, (X,))


def test_multiples_are_not_collected_of_what_is_written_between():
    """What is added first is the adjoint before it is scaled once more."""

    def f(y, x):
        q = y * 0.9
        q *= 0.9
        q += y
        q *= 0.9
        q += y / (x**2 + 1) + x
        return q[-1] * (y[::-1] @ np.sin(y))

    check_grads(f, (X, np.cos(X)))


def test_the_sign_of_what_is_written_later_moves_on():
    def f(h, e):
        h, e = h.copy(), e.copy()
        for _ in range(3):
            h -= 0.5 * (e[1:] - e[:-1])
            e[1:-1] += h[1:] - h[:-1]
        return np.sum(h * h) + np.sum(e * e)

    e = np.random.default_rng(0).normal(size=5)
    assert not any("-d_h" in line or "negative(" in line for line in body(f, X, e))
    check_grads(f, (X, e))


def test_what_is_added_twice_is_doubled():
    def f(x):
        c = x - np.mean(x)
        return np.sum(c / np.sqrt(np.mean(c * c)) * [1.0, 2.0, 0.5, 4.0])

    lines = body(f, X)
    assert not any(a == b for a, b in itertools.pairwise(lines))
    check_grads(f, (X,))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_constant_takes_the_factors_around_it(dtype):
    def f(x, y):
        return -np.sum(np.log(np.sum(np.exp(-x * y), axis=1)))

    x, y = (M + 1).astype(dtype), (0.5 * M).astype(dtype)
    lines = body(f, x, y)
    assert not any("-(" in line or "-1.0" in line for line in lines)
    found = srcgrad.grad(f)(x, y)
    e = np.exp(-x * y)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, e * y / e.sum(axis=1, keepdims=True), rtol=1e-5)
    np.testing.assert_array_equal(x, (M + 1).astype(dtype))


def test_a_number_asks_no_array_that_is_made_for_it():
    lines = body(lambda x: np.sum(np.sqrt(np.mean(x * x, axis=1))), M + 1)
    assert not any("product" in line for line in lines)


def test_temporaries_of_the_forward_sweep_stand_where_they_are_used():
    lines = body(lambda x, y: np.mean((np.tanh(x) - y) ** 2), X, X + 1, argnums=1)
    assert lines == ["tanh = np.tanh(x)", "tanh -= y", "return -2.0 / x.size * tanh"]


def test_zeros_of_a_known_shape_need_no_array() -> None:
    def f(x):
        a, b = np.real((np.sin(x[0]), x[1]))
        return a * b

    gradient = srcgrad.grad(f)
    np.testing.assert_allclose(gradient(np.array([0.0, 2.0])), [2.0, 0.0])
    assert "np.zeros(2)" in gradient.source


def sigmoids(x):
    return np.sum(x / (1 + np.exp(-x))) + np.sum(1 / (1 + np.exp(-x)))


def test_a_reciprocal_that_is_there_takes_the_place_of_its_denominator():
    def f(x, y):
        return np.sum(y / (1 + np.exp(-x)) * (1 / (1 + np.exp(-x))))

    def g(x, y):
        return np.sum(y * (1 / (1 + np.exp(-x))))

    lines = body(g, X, 0.5 * X)
    assert not any("/" in line for line in lines[2:]), lines
    for function in (f, g):
        check_grads(function, (X, 0.5 * X))
    check_grads(sigmoids, (X,))


def test_parts_of_zeros_that_do_not_overlap_are_stored():
    def f(x):
        n = x.shape[0] // 3
        return np.sum(np.sin(x[:n])) * np.sum(x[n : 2 * n] ** 2) * np.sum(np.exp(x[2 * n :]))

    def g(x):
        return np.sum(np.sin(x[3:])) * np.sum(x[1:3] ** 2)

    def overlapping(x):
        return np.sum(np.sin(x[:3])) * np.sum(x[2:4] ** 2)

    def from_the_end(x):
        return np.sum(np.sin(x[:3])) * np.sum(x[-2:] ** 2)

    def gates(w, x, h):
        n = h.shape[1]
        z = x @ w
        i, f, g = z[:, :n], z[:, n : 2 * n], z[:, 2 * n :]
        return np.sum(np.tanh(i) * h + np.sin(f) * np.exp(g))

    y = np.linspace(-1.0, 1.0, 7)
    for function in (f, g, overlapping, from_the_end):
        check_grads(function, (y,))
        check_grads(function, (y[:4],))
    assert not any("+=" in line for line in body(g, y)), body(g, y)
    assert any("+=" in line for line in body(overlapping, y))
    assert any("+=" in line for line in body(from_the_end, y))
    w, x, h = (
        np.random.default_rng(i).normal(size=s) for i, s in enumerate(((2, 9), (4, 2), (4, 3)))
    )
    lines = body(gates, w, x, h)
    assert any("np.empty" in line for line in lines), lines
    assert not any("+=" in line for line in lines), lines
    check_grads(gates, (w, x, h))
    check_grads(gates, (w[:, :6], x, h[:, :2]))


def test_what_is_made_of_an_array_that_is_written_is_shared_until_then():
    def f(x, steps):
        u = x.copy()
        middle = u[1:-1]
        for _ in range(steps):
            along = u[2:] - 2 * middle
            back = u[:-2] - 2 * middle
            middle += 0.1 * along * back
        return np.sum(u * u)

    def g(x, steps):
        u = x.copy()
        total = 0.0
        for _ in range(steps):
            total = total + np.sum(np.sin(2 * u))
            u[0] *= 0.5
            total = total + np.sum(np.sin(2 * u))
        return total

    y = np.linspace(-1.0, 1.0, 7)
    forward = body(f, y, 2)
    assert sum("2" in line and "middle" in line for line in forward[:12]) == 1, forward
    for function in (f, g):
        check_grads(function, (y, 2))
