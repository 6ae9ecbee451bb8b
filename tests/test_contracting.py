"""Sums of products, and rows that are added at indices: the calls that are fast."""

import numpy as np
import pytest

from srcgrad import adjoint, grad, hvp
from srcgrad.runtime import cross_product, scattering, sum_of_products, weighted_sum
from srcgrad.testing import check_grads
from tests.test_simplify import body

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 4, 3))
V = RNG.normal(size=4)


def rows(x, v):
    return np.sum(np.exp(x * v[:, None]))


def kept_rows(x, v):
    v = v[:, None]
    return np.sum(np.sin(x * v) * v)


def scaled(x, s):
    return np.sum(np.sin(x * s))


def columns(x, v):
    return np.sum(np.exp(x.T * v))


@pytest.mark.parametrize("f", [rows, kept_rows])
def test_sums_along_the_last_axis(f):
    lines = body(f, X, V, argnums=1)
    assert any("np.vecdot(" in line for line in lines), lines
    check_grads(f, (X, V))


def test_sums_of_all():
    lines = body(scaled, X, 0.7, argnums=1)
    assert lines[-1] == "return np.vdot(np.cos(x * s), x)", lines
    check_grads(scaled, (X, 0.7))


def test_sums_of_all_of_a_window():
    def f(x, s):
        return np.sum(np.sin(x[1:, :-1] * s))

    def g(x, s):
        return np.sum(np.sin(x[1:] * s))

    lines = body(f, X, 0.7, argnums=1)
    assert any("sum_of_products(" in line for line in lines), lines
    assert any("np.vdot(" in line for line in body(g, X, 0.7, argnums=1))
    for x in (X, np.zeros((1, 3)), RNG.normal(size=(130, 140)), RNG.normal(size=(9000, 3))):
        check_grads(f, (x, 0.7), order=1)
        window = x[1:, :-1]
        expected = pytest.approx(np.sum(window * window), rel=1e-12)
        assert sum_of_products(window, window) == expected
    single = sum_of_products(
        np.ones((200, 200), np.float32)[:, 1:], np.ones((200, 199), np.float32)
    )
    assert single.dtype == np.float32 and single == 200 * 199


def test_sums_along_other_axes_are_made_of_products():
    assert not any("dot(" in line for line in body(columns, X, V, argnums=1))
    check_grads(columns, (X, V))


@pytest.mark.parametrize("f", [rows, kept_rows, scaled])
def test_single_precision_and_nothing_at_all(f):
    second = V if f is not scaled else np.float64(0.7)
    found = grad(f, argnums=1)(X.astype(np.float32), second.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, grad(f, argnums=1)(X, second), rtol=1e-5)
    np.testing.assert_array_equal(grad(f, argnums=1)(X[:, :0], second), 0 * second)


def test_complex_numbers_are_not_conjugated():
    def f(z, w):
        return np.sum(np.abs(np.exp(z * w[:, None])) ** 2)

    z, w = X + 1j * Y, V + 0.5j
    assert not any("dot(" in line for line in body(f, z, w, argnums=1))
    check_grads(f, (z, w))


def standardized(mean, log_sigma, x):
    z = (x - mean) * np.exp(-log_sigma)
    return np.sum(np.cos(z)) - np.sum(log_sigma)


def quotient(mean, log_sigma, x):
    z = (x - mean) / np.exp(log_sigma)
    return 0.5 * np.sum(z * z)


def of_three_axes(mean, log_sigma, x):
    z = (x[:, None] - mean) * np.exp(-log_sigma)
    return np.sum(np.tanh(np.sum(z * z, axis=2)))


def other_axes(mean, log_sigma, x):
    z = (x.T - mean[:, None]) * np.exp(-log_sigma)[:, None]
    return np.sum(np.cos(z))


def written(mean, log_sigma, x):
    scale = np.exp(-log_sigma)
    difference = x - mean
    z = difference * scale
    total = np.sum(np.cos(z))
    z[0] = 0.0
    difference[1] = 1.0
    return total + np.sum(z * difference)


STANDARDIZED = [standardized, quotient, of_three_axes, other_axes, written]


@pytest.mark.parametrize("f", STANDARDIZED)
def test_sums_of_what_is_standardized(f):
    mean, log_sigma = RNG.normal(size=(2, 3))
    args = (mean, 0.3 * log_sigma, X)
    check_grads(f, args, argnums=(0, 1, 2))
    check_grads(f, args, argnums=(0, 1))
    found = grad(f, (0, 1))(*(a.astype(np.float32) for a in args))
    for a, b in zip(found, grad(f, (0, 1))(*args), strict=True):
        assert a.dtype == np.float32
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    if f is not written:
        for part in grad(f, (0, 1))(mean, log_sigma, X[:0]):
            assert part.shape == (3,)


def test_a_product_that_is_there_takes_the_place_of_a_factor():
    lines = body(standardized, X[0], X[1], X, argnums=(0, 1))
    assert "z = (x - mean) * exp" in lines, lines
    lines = body(quotient, X[0], X[1], X, argnums=1)
    assert lines[-1] == "return -np.einsum('ij,ij->j', z, z)", lines


POINTS, CENTRES = RNG.normal(size=(6, 2)), RNG.normal(size=(3, 2))


def shares(centres, x):
    d = x[:, None] - centres
    return np.sum(np.log(np.sum(np.exp(-np.sum(d * d, axis=2)), axis=1)))


def distances(x, centres):
    d = x[:, None] - centres
    return np.sum(np.sqrt(1 + np.sum(d * d, axis=2)))


def precisions(scale, x, centres):
    z = (x[:, None] - centres) * scale
    return np.sum(np.sin(np.sum(z * z, axis=2)))


def asked_again(scale, x, centres):
    z = (x[:, None] - centres) * scale
    return np.sum(np.sum(z * z, axis=2) ** 2) + np.sum(np.tanh(z))


def rows_and_matrices(m, table):
    return np.sum(np.exp(m * table))


@pytest.mark.parametrize(
    ("f", "args", "calls"),
    [
        (shares, (CENTRES, POINTS), 1),
        (distances, (POINTS, CENTRES), 1),
        (precisions, (np.array([0.5, 1.5]), POINTS, CENTRES), 0),
        (precisions, (np.full((3, 2), 0.7), POINTS, CENTRES), 1),
        (asked_again, (np.full((3, 2), 0.7), POINTS, CENTRES), 0),
        (rows_and_matrices, (RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3, 3))), 0),
    ],
)
def test_weighted_sums_of_matrices(f, args, calls):
    lines = body(f, *args)
    assert sum(line.count("weighted_sum(") for line in lines) == calls, lines
    check_grads(f, args)
    nothing = grad(f)(args[0], *(a[:0] for a in args[1:2]), *args[2:])
    assert nothing.shape == (args[0].shape if f is not distances else (6, 2))


def test_weighted_sums_are_what_they_say():
    for shape in ((2, 3, 4), (1, 3, 1), (0, 3, 2), (3, 0, 2)):
        weights, array = RNG.normal(size=shape[:2]), RNG.normal(size=shape)
        for axis in (0, 1):
            expected = (weights[..., None] * array).sum(axis=axis)
            np.testing.assert_allclose(weighted_sum(weights, array, axis), expected, rtol=1e-12)


def test_last_axes_that_are_alike():
    def f(m, t):
        return np.sum(np.exp(m * t[:, None]))

    args = RNG.normal(size=(4, 3, 2)), RNG.normal(size=(4, 2))
    check_grads(f, args)

    def g(t, m):
        return np.sum(np.exp(np.sum(m * t[:, None], axis=2)) * np.sum(t, axis=1)[:, None])

    check_grads(g, args[::-1])


def test_what_a_sum_begins_with_has_no_factor():
    def total(x, y):
        return np.sum(x * y)

    @adjoint(total)
    def rule(x, y, *, out, d_out):
        z = x * y
        return d_out * z, np.sum(x, axis=0, initial=2.0) * y

    d_x, d_y = grad(lambda x, y: total(x * 1.0, y * 1.0), argnums=(0, 1))(X, X[0])
    np.testing.assert_allclose(d_x, X * X[0])
    np.testing.assert_allclose(d_y, (X.sum(axis=0) + 2.0) * X[0])


def test_memory_written_between_is_read_before():
    def f(x):
        x = x.copy()
        for k in range(3):
            scale = np.sum(x * x, axis=1, keepdims=True)
            x[:, k] *= 0.5
            x *= np.exp(-0.1 * scale)
        return np.sum(x * x)

    check_grads(f, (X,))


def test_the_second_derivative():
    v = RNG.normal(size=V.shape)
    found = hvp(kept_rows, argnums=1)(X, V, v)
    d = grad(kept_rows, argnums=1)
    expected = (d(X, V + 1e-6 * v) - d(X, V - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(found, expected, rtol=1e-7)


# Rows at indices

TABLE = RNG.normal(size=(6, 5))


def embedded(table, index):
    return np.sum(np.sin(table[index]) ** 2)


@pytest.mark.parametrize("n", [4, 300])
@pytest.mark.parametrize("dtype", [np.intp, np.int8, np.uint16])
def test_rows_are_added_by_a_function_of_their_own(n, dtype):
    index = RNG.integers(0 if np.dtype(dtype).kind == "u" else -6, 6, size=n).astype(dtype)
    assert any("add_at(d_table, index, " in line for line in body(embedded, TABLE, index))
    expected = np.zeros(TABLE.shape)
    np.add.at(expected, index, np.sin(2 * TABLE[index]))
    np.testing.assert_allclose(grad(embedded)(TABLE, index), expected, rtol=1e-12)


PLACES = np.array([[0, 2, 1], [1, 1, -1]])


@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_added_at_a_matrix_of_places_has_all_its_axes(sign):
    """NumPy would read beyond the end of a vector."""

    def f(x, w):
        y = x * 1.5
        return sign * (np.sum(y[PLACES] * w) + np.sum(np.take(x, PLACES) * w[:, None].T))

    x, w = TABLE[0], np.array([0.3, 0.7, -0.4])
    d_x, d_w = grad(f, (0, 1))(x, w)
    expected = np.zeros(len(x))
    np.add.at(expected, PLACES, np.broadcast_to(2.5 * sign * w, PLACES.shape))
    np.testing.assert_allclose(d_x, expected, rtol=1e-12)
    np.testing.assert_allclose(d_w, sign * 2.5 * x[PLACES].sum(axis=0), rtol=1e-12)


@pytest.fixture
def every_call(monkeypatch):
    """The way that takes less time for many numbers, for few."""
    monkeypatch.setattr(scattering, "FEW", 0)


@pytest.mark.parametrize("n", [0, 3, 300])
@pytest.mark.parametrize("width", [0, 1, 16, 17, 40])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.intp])
def test_rows_are_added_in_order(n, width, order, dtype, every_call):
    """The sums are those of `np.add.at`, bit by bit."""
    index = RNG.integers(0 if np.dtype(dtype).kind == "u" else -9, 9, size=n).astype(dtype)
    check_added(np.zeros((9, width), order=order), index, RNG.normal(size=(n, width)))


def check_added(array, key, added):
    for ours, numpys in (
        (scattering.add_at, np.add.at),
        (scattering.subtract_at, np.subtract.at),
    ):
        found, expected = array.copy(order="K"), array.copy(order="K")
        ours(found, key, added)
        numpys(expected, key, added)
        np.testing.assert_array_equal(found, expected)


AT, J, EVERY = RNG.integers(-4, 4, (5, 3)), RNG.integers(0, 4, 3), slice(None)
KEYS = [
    AT, (AT,), (EVERY, AT), (AT, EVERY), (EVERY, EVERY, AT), (EVERY, AT, EVERY), (AT, J),
    (AT, J, AT), (EVERY, AT, J), (J[:, None], AT[:1]), (EVERY, -1, J), (J, [0, 1, -2]), [3, 3, 1],
    (AT, ..., J), (AT, EVERY, J), (AT, None), (slice(1, 3), J), (EVERY, slice(0, 2)),
    np.arange(4) > 1, (), AT[:0], (EVERY, 2), (AT, J.astype(np.uint8)), (J, slice(None, None, -1)),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=range(len(KEYS)))
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_places_are_added_to_as_numpy_does(key, order, dtype, every_call):
    array = np.zeros((4, 4, 4), dtype, order=order)
    value = RNG.normal(size=array[key].shape).astype(dtype)
    check_added(array, key, value)
    check_added(array, key, np.asfortranarray(value))
    if value.ndim:
        check_added(array, key, value[..., :1])
    check_added(array, key, 2.0)


def test_a_row_that_is_spread_and_one_that_is_not_there(every_call):
    array = np.zeros((3, 2))
    scattering.add_at(array, np.zeros(200, int), np.ones((1, 2)))
    assert array[0].tolist() == [200, 200]
    for key in (np.full(9, 3), (EVERY, np.full(9, -4)), (np.full(9, 1), np.full(9, 3))):
        array = np.zeros((3, 3, 20))
        with pytest.raises(IndexError):
            scattering.add_at(array, key, np.ones(np.zeros((4, 5, 20))[key].shape))


def by_sentence(x, i):
    return np.sum(np.sin(x[i]) ** 2)


def by_column(x, i):
    return np.sum(np.sin(x[:, i]) ** 2)


def by_pair(x, i):
    return np.sum(np.sin(x[i, i[::-1]]) ** 2)


def along(x, i):
    return np.sum(np.sin(np.take_along_axis(x, i % 5, axis=1)) ** 2)


@pytest.mark.parametrize("function", [by_sentence, by_column, by_pair, along])
def test_other_places_too(function, every_call):
    index = RNG.integers(0, 5, size=(6, 9))
    assert any("add_at(d_x, " in line for line in body(function, TABLE, index))
    check_grads(function, (TABLE, index), argnums=0)


def test_factors_that_are_not_broadcast_need_no_sums():
    def sparse(values, x, columns, starts):
        total = 0.0
        for i in range(len(starts) - 1):
            row = slice(starts[i], starts[i + 1])
            total += (values[row] @ x[columns[row]]) ** 2
        return total

    args = RNG.normal(size=7), RNG.normal(size=4), np.array([0, 3, 1, 2, 3, 0, 0]), [0, 2, 2, 7]
    gradient = grad(sparse, argnums=(0, 1))
    gradient(*args)
    assert "unbroadcast" not in gradient.source
    check_grads(sparse, args, argnums=(0, 1))

    def either(x, y, z, flag):
        if flag:
            return np.sum(1.0 * (x @ y) * np.sin(y))
        return np.sum(y * x + z @ x)

    for flag, n in ((True, 3), (False, 1)):
        check_grads(either, (np.ones(3), np.arange(1.0, n + 1), np.ones(3), flag), argnums=(0, 1))


def test_differences_of_rows_are_subtracted_so(every_call):
    def apart(x, i, j):
        return np.sum(np.sin(x[i] - x[j]))

    index = RNG.integers(0, 5, size=(2, 40))
    assert any("subtract_at(d_x, j, " in line for line in body(apart, TABLE, *index))
    check_grads(apart, (TABLE, *index), argnums=0)


def test_the_function_s_own_call_stays():
    def f(x, index):
        y = np.zeros((3, 2))
        np.add.at(y, index, x)
        return np.sum(y * y)

    lines = body(f, np.ones((4, 2)), np.array([0, 2, 2, 0]))
    assert "np.add.at(y, index, x)" in lines


def turned(axis, x):
    return np.sum(np.sin(np.cross(axis, x)))


def test_products_of_vectors_are_made_by_a_fast_function():
    rows = RNG.normal(size=(2, 5, 3))
    lines = body(turned, *rows, argnums=(0, 1))
    assert sum("cross_product(" in line for line in lines) == 2, lines
    for axis, x in [rows, rows[:, 0], (rows[0, 0], rows[1]), (rows[0, :, None], rows[1])]:
        check_grads(turned, (axis, x), argnums=(0, 1))
        for single in grad(turned, (0, 1))(axis.astype(np.float32), x.astype(np.float32)):
            assert single.dtype == np.float32
    assert grad(turned)(rows[0, :0], rows[1, :0]).shape == (0, 3)
    check_grads(lambda a, x: np.sum(np.cross(a.T, x, axisa=0) ** 2), (rows[0], rows[1]))
    check_grads(lambda a: np.sum(np.abs(np.cross(a, rows[1] * 1j)) ** 2), (rows[0] + 0j,))
    v = RNG.normal(size=(5, 3))
    h = (
        grad(turned)(rows[0] + 1e-6 * v, rows[1]) - grad(turned)(rows[0] - 1e-6 * v, rows[1])
    ) / 2e-6
    np.testing.assert_allclose(hvp(turned)(*rows, v), h, rtol=1e-5, atol=1e-8)
    nested = grad(lambda a: np.sum(grad(turned)(a, rows[1]) * v))(rows[0])
    np.testing.assert_allclose(nested, h, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, complex])
def test_the_fast_function_makes_what_numpy_does(dtype):
    a, b = RNG.normal(size=(2, 4, 3)).astype(dtype)
    for x, y in [
        (a, b),
        (a[0], b[0]),
        (a[0], b),
        (a[:, None], b),
        (a.T[:, :3], b[0]),
        (a[:0], b[:0]),
    ]:
        found = cross_product(x, y)
        expected = np.cross(x, y)
        assert found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError):
        cross_product(a, b[:, :1])


def convolved(x, w):
    k = w.shape[0]
    out = np.zeros((x.shape[0], x.shape[1] - k + 1, w.shape[2]))
    for i in range(x.shape[1] - k + 1):
        out[:, i, :] = np.sum(x[:, i : i + k, :, np.newaxis] * w[np.newaxis, :, :, :], axis=(1, 2))
    return np.sum(np.sin(out))


def weighted(x, w):
    return np.sum(np.exp(x[:, :, None] * w))


def outer_and_rows(u, v, m):
    z = np.tanh(u[:, None] * v)
    return np.sum(z * m) + np.sum(z[:, 0])


def written_before_it_is_summed(x, w):
    total = 0.0
    for i in range(len(w)):
        y = x[:, :, None] * w
        x *= 0.5
        total += np.sum(np.sin(y)) * w[i, 0]
    x += 1.0
    return total + np.sum(x * x)


@pytest.mark.parametrize(
    ("f", "shapes", "products"),
    [
        (convolved, ((2, 5, 3), (2, 3, 4)), 2),
        (convolved, ((3, 4, 1), (1, 1, 2)), 2),
        (convolved, ((1, 3, 2), (3, 2, 1)), 0),
        (weighted, ((4, 3), (3, 5)), 0),
        (weighted, ((4, 3), (5,)), 1),
        (outer_and_rows, ((4,), (3,), (4, 3)), 2),
        (written_before_it_is_summed, ((4, 2), (2, 3)), 0),
    ],
)
def test_sums_of_products_along_axes_that_one_factor_lacks(f, shapes, products):
    args = [RNG.normal(size=shape) for shape in shapes]
    argnums = tuple(range(len(args)))
    text = "\n".join(body(f, *args, argnums=argnums))
    assert text.count(" @ ") + text.count(".dot(") == products, text
    check_grads(f, args, order=1)
    single = grad(f, argnums)(*(a.astype(np.float32) for a in args))
    for one, double in zip(single, grad(f, argnums)(*args), strict=True):
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, double, rtol=1e-4, atol=1e-4)
    none = grad(f, argnums)(args[0][:0], *(args[1:] if f is not outer_and_rows else
                                           (args[1], args[2][:0])))  # fmt: skip
    assert none[0].shape == (0, *shapes[0][1:]) and not none[1].any()


def two_products_of_vectors(a, x, y):
    return np.sum(np.sin(a @ x)) + np.sum(np.exp(y @ a))


def three_products_of_vectors(a, x, y):
    z = np.tanh(a @ x)
    return y @ a @ x + np.sum((z @ a) ** 2)


def asked_between(a, x, y):
    def adjoint_between(b):
        return np.sum(np.outer(y, x) * b)

    return np.sum(np.sin(a @ x)) + adjoint_between(a * (a @ x)[:, None])


def of_lengths_that_are_not_known(a, x, y):
    first = np.concatenate([y[y > 0.0], y[y <= 0.0]])
    again = np.concatenate([y[y <= 0.0], y[y > 0.0]])
    return np.sum(np.sin(first @ a)) + np.sum((again @ a) * x)


@pytest.mark.parametrize(
    ("f", "stacks"),
    [
        (two_products_of_vectors, 2),
        (three_products_of_vectors, 2),
        (asked_between, 0),
        (of_lengths_that_are_not_known, 0),
    ],
)
def test_sums_of_products_of_vectors(f, stacks):
    args = RNG.normal(size=(4, 3)), RNG.normal(size=3), RNG.normal(size=4)
    lines = body(f, *args, argnums=(0, 1, 2))
    assert sum(line.count("np.array((") for line in lines) == stacks, lines
    for n, m in ((4, 3), (1, 3), (2, 1), (0, 2), (2, 0)):
        check_grads(f, (args[0][:n, :m], args[1][:m], args[2][:n]), order=1)
    single = grad(f)(*(a.astype(np.float32) for a in args))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, grad(f)(*args), rtol=1e-4, atol=1e-5)
