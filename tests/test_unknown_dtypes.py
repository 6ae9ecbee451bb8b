"""Values that are real or complex as the data decide: eigenvalues, roots, functions of matrices.

The adjoint of what is real is real, though what it came from may be complex.
"""

import numpy as np
import pytest
from scipy import linalg, ndimage

import srcgrad.testing

COMPLEX = np.array([[0.0, 1.0, 0.3], [-1.0, 0.2, 0.1], [0.3, 0.5, 0.9]])
REAL = np.array([[2.0, 0.3, 0.1], [0.2, -1.0, 0.4], [0.1, 0.3, 0.5]])


def measured(q):
    return np.sum(q.imag**2 + q.real**3)


def real_parts(a):
    w = np.linalg.eig(a)[0]
    return measured(w.real * w * (1 + 0.5j))


def magnitudes(a):
    w = np.linalg.eigvals(a)
    return measured(np.abs(w) * w * (1 + 2j))


def several(a):
    w, v = np.linalg.eig(a)
    y = np.imag(w) + np.abs(v[0])
    return measured(y * w * (1 + 2j) + y**2 * 1j)


def written_in_place(a):
    w, _ = linalg.eig(a)
    z = np.abs(w).copy()
    z[1:] *= 2.0
    return measured(z * w * (1 + 2j))


def stored(a):
    w = np.linalg.eigvals(a)
    s = np.zeros_like(w.real)
    s[0] = w[0].real
    s[1:] = np.abs(w[1:]) ** 2
    return np.abs(np.sum(s * w**2 * (1 + 1j)))


def collected(a):
    w = np.linalg.eigvals(a)
    items = []
    for i in range(3):
        items.append(np.abs(w[i]) * w[i].real)
    return np.abs(np.sum(np.array(items) * w * (2 - 1j)))


PROGRAMS = [real_parts, magnitudes, several, written_in_place, stored, collected]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("matrix", [COMPLEX, REAL], ids=["complex", "real"])
def test_the_adjoint_of_what_is_real_is_real(f, matrix):
    srcgrad.testing.check_grads(f, (matrix,), order=2)


def test_roots():
    def f(p):
        r = np.roots(p)
        t = np.zeros(len(r))
        t += np.real(r)
        t *= np.abs(r)
        return np.sum((t * r * 1j).real ** 2)

    srcgrad.testing.check_grads(f, (np.array([1.0, 0.2, 0.5, 0.7]),), order=2)


@pytest.mark.parametrize("z", [1 + 2j, 1 + 0j, np.array([1 + 2j, 2.0]), np.array([1 + 0j, 2.0])])
def test_real_if_all_are(z):
    _, tangent = srcgrad.jvp(np.real_if_close, (z,), (z * 0 + (3 + 4j),))
    assert np.all(tangent == (3 + 4j if np.any(np.imag(z)) else 3.0))
    gradient = srcgrad.grad(lambda z: np.sum(np.real(np.real_if_close(z) ** 2)))(z)
    np.testing.assert_allclose(gradient, 2 * z)


def recurrence_by_both(w, e, x):
    total = 0.0
    for v in e:
        total += v * w[1]
    for v in w:
        total *= v
    return total * np.sum(x) + np.sum(w)


def table_of_both(w, e, x):
    last = 2.0
    for v in e:
        last = last + v
    last *= w[0]
    table = np.array([last, w[1], last * w[2]])
    table[0] *= last
    return np.sum(table * x)


def one_of_both(w, e, x):
    s = w[0] if w[1] > 0 else x[0]
    y = w if w[2] > 0 else x
    return np.sum(x) * s + np.sum(x * y)


@pytest.mark.parametrize("f", [recurrence_by_both, table_of_both, one_of_both])
@pytest.mark.parametrize("count", [0, 2])
def test_numbers_of_either_precision(f, count):
    """What a Python number or one of NumPy's is multiplied by may be of less precision."""
    w, e, x = np.array([0.3, 0.5, 0.7]), np.array([2.0, 3.0])[:count], np.array([0.2, -0.5, 0.9])
    expected = srcgrad.grad(f, argnums=(0, 1, 2))(w, e, x)
    found = srcgrad.grad(f, argnums=(0, 1, 2))(w.astype(np.float32), e, x)
    assert [d.dtype for d in found] == [np.float32, np.float64, np.float64]
    for d, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(d, wanted, rtol=1e-5, atol=1e-6)


def test_an_adjoint_is_of_the_dtype_that_the_recursion_was_given():
    def f(x, z):
        def g(a, factor, depth):
            if depth <= 0:
                return np.sum(a) * factor
            return g(a * factor, factor, depth - 1)

        return g(x, np.tanh(z), 1.5 + np.sign(z * z)) + np.sum(x * 2.0)

    for dtype in (np.float32, np.float64):
        x = np.ones(3, dtype)
        d_x, d_z = srcgrad.grad(f, (0, 1))(x, 0.3)
        assert d_x.dtype == dtype
        np.testing.assert_allclose(d_x, 2.0 + np.tanh(0.3) ** 4, rtol=1e-6)
        assert d_z == pytest.approx(12.0 * np.tanh(0.3) ** 3 * (1 - np.tanh(0.3) ** 2), rel=1e-6)


@pytest.mark.parametrize("z", [np.ones(3) + 1j, np.ones(3, np.float32)])
def test_a_recursion_is_given_an_array_of_one_of_two_dtypes(z):
    def halved(v, depth):
        if depth <= 0:
            return np.sum(np.sin(v)).real
        return halved(v * 0.5, depth - 1) + np.sum(v).real

    def f(x, z, depth):
        return halved(z if np.sum(x) > 0 else x, depth)

    for x in (np.ones(3), -np.ones(3)):
        d_x, d_z = srcgrad.grad(f, (0, 1))(x, z, 2.5)
        given, other = (d_z, d_x) if x[0] > 0 else (d_x, d_z)
        expected = 1.75 + np.cos((z if x[0] > 0 else x) / 8) / 8
        np.testing.assert_allclose(given, expected, rtol=1e-6)
        assert not other.any()
        assert d_z.dtype == z.dtype


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_several_arrays_have_in_common_is_known_when_compiling(dtype):
    """As libraries choose the dtype they work in; einsum by two letters needs to know the axes."""

    def kernel(x, y, width):
        kind = np.result_type(x, y, np.float32)
        x, y = np.ascontiguousarray(x, dtype=kind), np.ascontiguousarray(y, dtype=kind)
        squares = np.einsum("ij,ij->i", x, x)[:, None] + np.einsum("ij,ij->i", y, y)
        out = np.empty(squares.shape, np.common_type(x, np.arange(3)))
        out[:] = np.exp((2.0 * x @ y.T - squares) / width)
        return np.sum(out)

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(4, 3)).astype(dtype), rng.normal(size=(5, 3)).astype(dtype)
    gradient = srcgrad.grad(kernel)
    assert gradient(x, y, 2.0).dtype == dtype
    assert "result_type" not in gradient.source and "common_type" not in gradient.source
    srcgrad.testing.check_grads(kernel, (x.astype(float), y.astype(float), 2.0))


@pytest.mark.parametrize("rate", [0.3, np.float64(0.3), np.float32(0.3)])
def test_the_gradient_by_a_number_has_its_precision(rate):
    """A step of `rate - 0.1 * gradient` is as precise as the rate was."""

    def decay(rate, x):
        for _ in range(3):
            x = x - rate * x
        return np.sum(x**2)

    x = np.ones(3, np.float32)
    for gradient in (
        srcgrad.grad(decay)(rate, x),
        srcgrad.vjp(decay, rate, x)[1](np.float32(1.0))[0],
        srcgrad.grad(lambda p, x: decay(p["rate"], x))({"rate": rate}, x)["rate"],
    ):
        assert type(gradient) is type(rate)
        assert gradient == pytest.approx(-18 * 0.7**5, rel=1e-5)


WHOLE, FLOATS = np.array([1, 2, 3]), np.array([1.5, 3.0, 4.5])


@pytest.mark.parametrize(
    "call",
    [
        lambda v, x: np.full_like(v, x[0]),
        lambda v, x: np.pad(v, 1, constant_values=x[0]),
        lambda v, x: np.insert(v, 1, x[0]),
        lambda v, x: ndimage.convolve1d(v, x),
        lambda v, x: ndimage.shift(v, x[0]),
        lambda v, x: ndimage.map_coordinates(v, [[x[0], x[1]]]),
    ],
)
def test_floats_that_would_be_cut_off_are_refused_where_the_run_tells_that_the_result_is_of_ints(
    call,
):
    def f(x):
        v = WHOLE if x[2] > 1.0 else FLOATS
        return np.sum(call(v, x)) + x[1]

    x = np.array([1.4, 2.25, 0.5])
    srcgrad.testing.check_grads(f, (x,))
    with pytest.raises(TypeError, match=r"test_unknown_dtypes.py:\d+: a float is written into"):
        srcgrad.grad(f)(x + 1.0)


def test_what_is_of_floats_whatever_the_other_array_is_needs_no_check():
    def f(x):
        v = WHOLE if x[2] > 1.0 else FLOATS
        return np.sum(np.concatenate((v, x)) ** 2) + np.sum(np.where(x > 1, v, x)) + v @ x

    x = np.array([1.4, 2.25, 0.5])
    for whole in (0.0, 1.0):
        srcgrad.testing.check_grads(f, (x + whole,))
    gradient = srcgrad.grad(f)
    gradient(x)
    assert "check_floats" not in gradient.source
