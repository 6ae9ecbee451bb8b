"""What the compiler takes two dimensions to be: equal only if they are so in every run."""

import math
import operator
import tracemalloc

import numpy as np
import pytest

import srcgrad
from srcgrad import ir
from srcgrad.analysis.inference import infer
from srcgrad.kinds import FLOAT, Array, Scalar, Size, fresh_size, int_kind
from srcgrad.rules.shapes import getitem
from srcgrad.testing import check_grads

X = np.array([0.3, 0.5, 0.7, 0.9])


def differences(f, x, *rest):
    found = np.zeros_like(x)
    for i in range(x.size):
        step = np.zeros_like(x)
        step.flat[i] = 1e-6
        found.flat[i] = (f(x + step, *rest) - f(x - step, *rest)) / 2e-6
    return found


def shape(x, *bounds):
    parts = tuple(b if isinstance(b, ir.Var) else ir.Const(b) for b in bounds)
    return getitem((x, ir.Pack(slice, parts)), {}).kind.shape


def test_a_broadcast_dimension_is_that_of_an_operand_that_cannot_be_stretched():
    n, m, k = fresh_size(True), fresh_size(True), fresh_size()

    def added(a, b):
        x, y = (ir.Var(name, Array(FLOAT.dtype, s)) for name, s in (("x", a), ("y", b)))
        return infer(operator.add, (x, y), {}).kind.shape

    assert added((n, m), (2, m)) == (2, m)
    assert added((n, m), (k, m)) == (n, m)
    assert added((n, m), (m, m)) == (n, m)
    assert added((k, m), (1, m)) == (k, m)
    other = fresh_size()
    assert added((k, m), (other, m)) == added((other, m), (k, m)) != (k, m)


def test_what_a_loop_carries_is_never_stretched_if_it_starts_and_ends_so():
    def f(state, k, steps):
        for _ in range(steps):
            state = state + 0.1 * np.stack([state[1], -k * np.sin(state[0])])
        return np.sum(state[0] ** 2)

    state, k = np.linspace(0.1, 0.9, 8).reshape(2, 4), np.array([0.5, 1.0, 0.7, 1.2])
    gradient = srcgrad.grad(f)
    gradient(state, k, 3)
    check_grads(lambda state, k: f(state, k, 3), (state, k))
    assert "unbroadcast" not in gradient.source


def test_what_a_loop_carries_may_become_one_element_long():
    def f(x, w, steps):
        for i in range(steps):
            x = np.sum(x, keepdims=True) * 0.3 if i % 2 else x + w
        return np.sum(x * x)

    for w in (X, X[:1]):
        found = srcgrad.grad(f)(X, w, 3)
        np.testing.assert_allclose(found, differences(f, X, w, 3), rtol=1e-6)


def test_slices_with_the_same_bounds_are_as_long():
    n = fresh_size(True)
    x, y = (ir.Var(name, Array(FLOAT.dtype, (n,))) for name in "xy")
    z = ir.Var("z", Array(FLOAT.dtype, (fresh_size(True),)))
    i, j = ir.Var("i", int_kind()), ir.Var("j", int_kind())
    assert shape(x, i, None, None) == shape(y, i, None, None)
    assert shape(x, i, j, None) == shape(y, i, j, None)
    assert shape(x, i, None, None) != shape(x, j, None, None)
    assert shape(x, i, None, None) != shape(x, None, i, None)
    assert shape(x, i, None, None) != shape(z, i, None, None)
    assert shape(x, i, None, 2) != shape(x, i, None, 3)


def test_what_is_computed_from_ints_in_the_same_way_is_the_same():
    i, j = ir.Var("i", int_kind()), ir.Var("j", int_kind())

    def size(function, *args):
        return infer(function, args, {}).kind.size

    assert size(operator.mul, i, j) == size(operator.mul, i, j)
    assert size(operator.mul, i, j) != size(operator.mul, j, i) != size(operator.mul, j, j)
    assert size(operator.add, i, j) != size(operator.sub, i, j)


def test_a_negative_int_is_no_clamped_dimension():
    n = fresh_size()
    x = ir.Var("x", Array(FLOAT.dtype, (n,)))
    i = ir.Var("i", int_kind())
    before = ir.Var("before", infer(operator.sub, (i, ir.Const(1)), {}).kind)
    assert shape(x, before, None, None) != shape(x, before, None, None)


def test_a_size_varies_in_the_inner_loop_too():
    def f(x, k):
        n = 1
        total = 0.0
        for _ in range(k):
            v = np.cos(x[:n])
            for _ in range(k):
                total = total + np.sum((v * np.sin(x[:n])) ** 2)
                v = np.cos(x[:n])
                n = 3 if n == 1 else 1
        return total

    def g(x, k):
        n = 1
        total = 0.0
        for _ in range(k):
            m = n
            for _ in range(k):
                total = total + np.sum((np.ones(m) * x[0] * np.ones(n) * x[1]) ** 2)
                m = n
                n = 3 if n == 1 else 1
        return total

    for function in (f, g):
        for k in (0, 1, 2, 3):
            found = srcgrad.grad(function)(X, k)
            np.testing.assert_allclose(found, differences(function, X, k), atol=1e-8)


def test_items_of_a_list_may_differ_in_length():
    def f(x, k):
        items = []
        for i in range(k):
            items.append(np.sin(x[: i + 1]))
        return np.sum((items[0] * items[k - 1]) ** 2)

    for k in (1, 2, 4):
        np.testing.assert_allclose(srcgrad.grad(f)(X, k), differences(f, X, k), atol=1e-8)


def test_loops_over_slices_need_no_unbroadcasting():
    def f(a):
        a = a.copy()
        for k in range(len(a) - 1):
            a[k + 1 :, k] /= a[k, k]
            a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
        return np.sum(a * a)

    gradient = srcgrad.grad(f)
    a = np.array([[3.0, 1.0, 0.5], [0.2, 4.0, 1.0], [0.3, 0.1, 2.0]])
    found = gradient(a)
    assert "unbroadcast" not in gradient.source
    assert "outer" not in gradient.source.partition("saved.append")[2].partition(")")[0]
    for i in range(3):
        for j in range(3):
            step = np.zeros((3, 3))
            step[i, j] = 1e-6
            difference = (f(a + step) - f(a - step)) / 2e-6
            assert found[i, j] == pytest.approx(difference, abs=1e-7)


def test_a_shape_is_known_where_the_dtype_is_not():
    """Eigenvalues may be real or complex; what is made of them has its shape all the same."""
    n = fresh_size()
    w = ir.Var("w", Array(None, (n,)))
    assert infer(np.real, (w,), {}).kind == Array(None, (n,), real=True)
    assert infer(np.isfinite, (w,), {}).kind == Array(np.dtype(bool), (n,))
    assert infer(np.squeeze, (w,), {}).views == (w,)


def test_an_eigenvector_is_normed_in_place():
    def direction(a):
        w, v = np.linalg.eig(a)
        (i,) = np.nonzero(np.abs(np.real(w) - 1.0) < 0.5)
        point = np.real(v[:, i[-1]]).squeeze()
        point /= point[2]
        return point[0] * point[1]

    a = np.array([[1.0, 0.2, 0.3], [0.1, 4.0, 0.4], [0.2, 0.1, 9.0]])
    step = np.array([[0.3, -0.1, 0.2], [0.5, 0.2, -0.4], [0.1, 0.7, 0.6]])
    expected = (direction(a + 1e-6 * step) - direction(a - 1e-6 * step)) / 2e-6
    assert np.sum(srcgrad.grad(direction)(a) * step) == pytest.approx(expected, rel=1e-6)


def test_a_shape_that_is_needed_is_asked_for():
    """The cross product of vectors of unknown length may be a number or a vector."""

    def norm_of_cross(m):
        total = 0.0
        for v in np.cross(m[:3, 1], m[:3, 2]):
            total += v * v
        return total

    m = np.arange(16.0).reshape(4, 4) ** 0.5
    n = np.cross(m[:3, 1], m[:3, 2])
    expected = np.zeros((4, 4))
    expected[:3, 1], expected[:3, 2] = 2 * np.cross(m[:3, 2], n), 2 * np.cross(n, m[:3, 1])
    np.testing.assert_allclose(srcgrad.grad(norm_of_cross)(m), expected, rtol=1e-12)


def test_only_lengths_that_are_needed_are_asked_for():
    """Whether a cross product is a number depends on the vectors' length, not on their number."""

    def moment(r, force):
        return np.sum(np.cross(r, force) ** 2)

    gradient = srcgrad.grad(moment)
    for shape in ((5, 3), (3, 3), (7, 3), (1, 3), (3,)):
        r = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
        force = np.cos(r)
        found = gradient(r, force)
        np.testing.assert_allclose(found, differences(moment, r, force), rtol=1e-6, atol=1e-6)
        if shape == (7, 3):
            source = gradient.source
            assert "return cross_product(force, 2.0 * np.cross(r, force))" in source
            gradient(np.ones((9, 3)), np.ones((9, 3)))
            assert gradient.source is source  # compiled for no number of vectors in particular


def test_the_length_of_an_axis_that_is_moved():
    def moment(r, force):
        return np.sum(np.cross(r, force, axisa=0, axisb=1, axisc=0) ** 2)

    r, force = np.ones((3, 4)), np.arange(12.0).reshape(4, 3)
    found = srcgrad.grad(moment)(r, force)
    np.testing.assert_allclose(found, differences(moment, r, force), rtol=1e-6, atol=1e-6)


def lorentz(v, b, n):
    for _ in range(n):
        v = v + 0.1 * np.cross(v, b)
    v[0] += 1.0
    x, y, z = v
    return x * y + z


def angle_of_a_normal(a, b):
    n = np.cross(a, b)
    angle = np.arctan2(n[0], n[2])
    angle += 1.0
    return angle


def normal_or_twice(a, b):
    w = np.cross(a, b) if a[0] > 0 else a * 2
    w /= 1 + np.linalg.norm(w)
    return np.prod(np.concatenate(([1.0], w))) + np.sum(np.sin(np.array([2.0, *w])))


def triangle_areas(points, triangles):
    total = 0.0
    for i, j, k in triangles:
        n = np.cross(points[j] - points[i], points[k] - points[i])
        area = np.sqrt(n.dot(n))
        area /= 2
        total += area
    return total


def screw_axis(a, b):
    axis = np.r_[a, np.cross(b, a) + 0.3 * a]
    c = 1 + np.dot(a, b)
    plane = np.array([1.0, 2.0, 3.0]) if c < 1e-9 else np.cross(a, b)
    return np.sum(np.sin(axis)) + np.sum(np.hstack(((c,), plane)) ** 2)


@pytest.mark.parametrize(
    "f, args",
    [
        (lambda v, b: lorentz(v, b, 3), (X[:3], X[1:])),
        (angle_of_a_normal, (X[:3], X[1:] ** 2)),
        (normal_or_twice, (X[:3], X[1:] ** 2)),
        (normal_or_twice, (-X[:3], X[1:] ** 2)),
        (screw_axis, (X[:3], X[1:] ** 2)),
        (
            lambda p: triangle_areas(p, np.array([[0, 1, 2], [1, 2, 3]])),
            (np.sin(np.arange(12.0) ** 2).reshape(4, 3),),
        ),
    ],
)
def test_what_follows_from_a_shape_is_known_once_it_is_asked_for(f, args):
    """Through items, arithmetic, branches and loops."""
    check_grads(f, args, order=1)


def test_a_transform_of_lengths_that_are_computed_has_the_axes_of_its_operand():
    def correlation(a, b):
        size = np.array(a.shape) + np.array(b.shape) - 1
        lengths = 2 ** np.ceil(np.log2(size)).astype(int)
        part = tuple([slice(0, int(n)) for n in size])
        both = np.fft.rfft2(a, lengths) * np.fft.rfft2(b[::-1, ::-1], lengths)
        found = np.fft.irfft2(both).real[part]
        found *= 2
        return np.sum(np.sin(found))

    a = np.sin(np.arange(12.0) ** 2).reshape(3, 4)
    check_grads(correlation, (a, a[1:] * 2), order=1)


def test_an_array_joined_with_a_constant_one_has_its_axes():
    def inverse(t):
        r, p = t[0:3, 0:3].T, t[0:3, 3]
        whole = np.r_[np.c_[r, -np.dot(r, p)], [[0, 0, 0, 1]]]
        whole += 1.0
        return np.sum(np.sin(whole))

    check_grads(inverse, (np.sin(np.arange(16.0) ** 2).reshape(4, 4),), order=1)


def test_an_int_as_long_as_a_long_dimension_has_a_kind_the_second_time_too():
    for length in (66, 67):
        n = ir.Var("n", Scalar(np.dtype(np.int64), True, length))
        for _ in range(2):
            assert infer(np.zeros, (n,), {}).kind.shape == (length,)


def sum_of_squares_on_the_diagonal(x):
    return np.sum(np.diagonal(np.ones((5, 1)) * x) ** 2)


def sum_over_singular_values(x):
    return np.sum(np.linalg.svd(np.vander(x, 3))[1] ** 4)


def mean_of_a_triangular_factor(x):
    return np.mean(np.linalg.qr(np.arange(1.0, 6.0)[:, None] ** x)[1] ** 2)


@pytest.mark.parametrize("length", [2, 3, 4, 7])
@pytest.mark.parametrize(
    "f",
    [sum_of_squares_on_the_diagonal, sum_over_singular_values, mean_of_a_triangular_factor],
)
def test_what_is_as_long_as_the_shorter_of_a_literal_and_an_unknown_length(f, length):
    check_grads(f, (np.linspace(0.2, 1.5, length),), order=1)


def test_no_literal_is_the_shorter_of_it_and_an_unknown_length():
    n, m, k = fresh_size(True), fresh_size(True), fresh_size()

    def dimensions(function, *shape, **options):
        kind = infer(function, (ir.Var("x", Array(FLOAT.dtype, shape)),), options).kind
        return kind.shape

    for shape in ((5, n), (n, 3), (m, n), (2, k), (k, 24)):
        assert dimensions(np.diagonal, *shape)[0] not in shape
        assert dimensions(np.linalg.svdvals, *shape)[0] not in shape
    assert dimensions(np.diagonal, n, n) == (n,)
    assert dimensions(np.diagonal, 3, 4) == (3,)


def test_many_axes_of_unknown_length():
    def f(x, y):
        return np.sum(np.exp(np.transpose(x) * x)[0] @ y)

    x = np.linspace(0.1, 0.9, 2**9).reshape((2,) * 9)
    check_grads(f, (x, np.ones((2, 3))), order=1)
    sizes = [fresh_size(True) for _ in range(7)]
    kind = infer(np.transpose, (ir.Var("x", Array(FLOAT.dtype, tuple(sizes))),), {}).kind
    assert kind.shape == tuple(reversed(sizes))
    kind = infer(np.diagonal, (ir.Var("x", Array(FLOAT.dtype, (*sizes[:4], 3))),), {}).kind
    assert kind.shape[:3] == (sizes[2], sizes[3], 3)


def test_products_of_each_item_by_each_have_small_samples():
    n = 2

    def f(x, y):
        return np.sum(np.tensordot(x, y, n) ** 2)

    x, y = np.ones((2, 3, 4, 5)), np.ones((4, 5, 2, 3))
    tracemalloc.start()
    try:
        np.testing.assert_allclose(srcgrad.grad(f)(x, y), 240 * x)
        assert tracemalloc.get_traced_memory()[1] < 3e7  # with the usual samples, 400 MB
    finally:
        tracemalloc.stop()


def test_lengths_that_differ_by_little_are_related_where_shapes_depend_on_it():
    def flux(cells, edges):
        return np.sum((edges[1:] - edges[:-1]) * cells**2) + np.sum(edges[1:] ** 3 * cells)

    gradient = srcgrad.grad(flux, argnums=(0, 1))
    for n in (4, 9, 1, 2):
        cells, edges = X[0] + np.arange(n), np.cos(np.arange(n + 1.0))
        check_grads(flux, (cells, edges))
        np.testing.assert_allclose(gradient(cells, edges)[0], differences(flux, cells, edges), 1e-6)
        assert n < 2 or "unbroadcast" not in gradient.source
    assert len(gradient.sources) == 2  # for a single cell, and for any number of them
    one = np.array([2.0])
    assert gradient(one, np.arange(5.0))[0] == 8 * one + 1 + 8 + 27 + 64
    with pytest.raises(ValueError, match="broadcast"):
        gradient(X, np.ones(7))


def test_ints_that_are_as_long_as_an_array_are_related_to_it_where_shapes_depend_on_it():
    def smooth(x, n, steps):
        for _ in range(steps):
            x[1 : n - 1] = 0.1 * x[1 : n - 1] * x[0 : n - 2] + 0.5 * x[2:n]
        return np.sum(x**2)

    def plain(x, n, steps):
        return smooth(x.copy(), n, steps)

    gradient = srcgrad.grad(smooth)
    for size, n, steps in ((6, 6, 2), (7, 7, 7), (6, 4, 2), (6, 5, 6), (7, 5, 3), (2, 2, 1)):
        x = np.linspace(0.5, 1.5, size)
        np.testing.assert_allclose(
            gradient(x, n, steps), differences(plain, x, n, steps), rtol=1e-7, atol=1e-7
        )
        assert ("unbroadcast" in gradient.source) == (n != size)


def test_what_is_known_of_a_length_is_part_of_what_is_remembered():
    several, any_number = (
        ir.Var("x", Array(np.dtype(float), (Size(0, 0, big),))) for big in (True, False)
    )
    assert infer(np.squeeze, (several,), {}).kind == several.kind
    assert infer(np.squeeze, (any_number,), {}).kind == Array(np.dtype(float), None)


def flattened(x, w):
    product = np.reshape(x, (x.shape[0], np.prod(x.shape[1:]))) @ w
    rows, columns = product.shape
    return columns * np.sum(product**2) + rows


@pytest.mark.parametrize(
    ("of_x", "of_w"), [((2, 1), (1, 3)), ((1, 1, 1), (1, 1)), ((3, 2, 2), (4, 1))]
)
def test_a_length_that_is_computed_meets_one_that_is_one(of_x, of_w):
    x, w = (np.linspace(0.5, 1.5, math.prod(shape)).reshape(shape) for shape in (of_x, of_w))
    check_grads(flattened, (x, w), argnums=(0, 1))


LENGTHS = np.array([2, 3])


def reshaped_to_an_array_of_lengths(x):
    return np.sum(np.sum(x.reshape(LENGTHS), axis=1) ** 2)


def reshaped_with_an_axis_more(x):
    rows = x.reshape(2, 3)
    return np.sum(np.sum(np.sin(rows).reshape(np.append(np.shape(rows), 1)), axis=1) ** 2)


def made_of_half_the_lengths(x):
    halves = np.array(x.reshape(2, 3).shape) // 2
    made = np.zeros(halves + 1)
    made[:, 0] = x[:2]
    return np.sum(made.sum(axis=1) ** 3)


def made_of_lengths_that_are_joined(x):
    made = np.ones(np.concatenate([x.shape, [2]])) * x[:, None]
    return np.sum(made.sum(axis=0) ** 2) + np.sum(np.full(np.array(4), x[0]) * 2.0)


def stretched_to_an_array_of_lengths(x):
    return np.sum(np.broadcast_to(x, np.r_[2, x.shape]).sum(axis=1) ** 2)


@pytest.mark.parametrize(
    "f",
    [
        reshaped_to_an_array_of_lengths,
        reshaped_with_an_axis_more,
        made_of_half_the_lengths,
        made_of_lengths_that_are_joined,
        stretched_to_an_array_of_lengths,
    ],
)
def test_an_array_of_lengths_tells_the_rank(f):
    x = np.array([0.3, 0.5, 0.7, 0.9, -0.2, 1.1])
    check_grads(f, (x,), order=1)
    assert srcgrad.value_and_grad(f)(x)[0] == pytest.approx(f(x), rel=1e-14)
