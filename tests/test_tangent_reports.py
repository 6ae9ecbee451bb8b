"""Programs on which users reported Tangent failing or returning wrong gradients, written afresh;
the numbers are those of the issues at https://github.com/google/tangent/issues."""

import numpy as np
import pytest

import srcgrad
from tests.programs import finite_differences as fd


def assert_gradient_is_right(function, *args, argnums=(0,)):
    before = [np.copy(a) for a in args]
    gradients = srcgrad.grad(function, argnums=argnums)(*args)
    for a, b in zip(args, before, strict=True):
        np.testing.assert_array_equal(a, b)
    for seed in range(3):
        direction, expected = fd.directional_difference(function, args, argnums, seed)
        found = fd.inner(gradients, direction)
        assert abs(found - expected) <= 1e-6 * max(1.0, abs(expected))
    return gradients


# 77: a function defined inside the function could not be resolved


def nested_function(x):
    def square(x):
        return x * x

    return square(x)


def nested_function_with_free_variable(x):
    scale = x[0]

    def weighted(i):
        return scale * x[i]

    total = 0.0
    for i in range(len(x)):
        total += weighted(i) ** 2
    return total


def test_77_nested_function():
    assert srcgrad.grad(nested_function)(3.0) == 6.0
    assert_gradient_is_right(nested_function_with_free_variable, np.array([0.7, -1.2, 2.0]))


# 31: loops over np.arange, here over an upper triangle


def upper_triangle(x):
    """Sum the upper triangle of the array x."""
    sum = 0
    rows, cols = x.shape
    for i in np.arange(rows):
        for j in np.arange(i, cols):
            sum = sum + x[i, j]
    return sum


def upper_triangle_of_squares(x):
    total = 0
    rows, cols = x.shape
    for i in np.arange(rows):
        for j in np.arange(i, cols):
            total = total + (i + 1) * x[i, j] ** 2
    return total


def test_31_arange_over_the_upper_triangle():
    x = np.random.default_rng(0).normal(size=(3, 4))
    gradient = srcgrad.grad(upper_triangle)(x)
    np.testing.assert_array_equal(gradient, np.triu(np.ones((3, 4))))
    assert_gradient_is_right(upper_triangle_of_squares, x)


# 62: slices as arguments of np.dot


def dot_of_rows(x, y):
    return np.dot(x[0, :], y[0, :])


def test_62_rows_in_dot():
    rng = np.random.default_rng(0)
    x, y = rng.random((1, 3)), rng.random((1, 3))
    dx, dy = assert_gradient_is_right(dot_of_rows, x, y, argnums=(0, 1))
    np.testing.assert_array_equal(dx, y)
    np.testing.assert_array_equal(dy, x)


# 58: enumerate


def enumerate_weights(x):
    total = 0.0
    for i, value in enumerate(x):
        total += (i + 1) * value**2
    return total


def enumerate_rows(x):
    out = np.zeros(len(x))
    for i, row in enumerate(x, start=1):
        out[i - 1] = i * np.sum(row) * row[0]
    return np.sum(out**2)


def test_58_enumerate():
    x = np.random.default_rng(0).normal(size=(4, 3))
    assert_gradient_is_right(enumerate_weights, x[0])
    assert_gradient_is_right(enumerate_rows, x)


# 56: x[:, :, f] in a loop, of which the last is returned


def last_frame(x):
    for f in range(np.shape(x)[2]):
        r = x[:, :, f]
    return r


def sum_of_last_frame(x):
    return np.sum(last_frame(x) ** 2)


def frames_accumulated(x):
    r = np.zeros(x.shape[:2])
    for f in range(np.shape(x)[2]):
        r += x[:, :, f] ** (f + 1)
    return np.sum(r**2)


def test_56_frames_in_a_loop():
    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    (gradient,) = assert_gradient_is_right(sum_of_last_frame, x)
    assert not gradient[:, :, :-1].any()
    assert_gradient_is_right(frames_accumulated, x)


def test_56_the_pullback_of_the_array_itself():
    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    out, pullback = srcgrad.vjp(last_frame, x)
    np.testing.assert_array_equal(out, x[:, :, 3])
    (gradient,) = pullback(np.ones((2, 3)))
    expected = np.zeros_like(x)
    expected[:, :, 3] = 1.0
    np.testing.assert_array_equal(gradient, expected)


# 69: an augmented store under a condition


def conditional_store(d, n):
    S = np.zeros((n, n))
    for i in range(n):
        S[i, 2] = 1.0
        if i == 2:
            S[i, i] += d[i]
    return S


def weighted_conditional_store(d, n):
    S = conditional_store(d, n)
    return np.sum(S * S * np.arange(1.0, n * n + 1.0).reshape(n, n))


def test_69_store_under_a_condition():
    d = np.array([0.3, -0.8, 1.7, 0.4])
    (gradient,) = assert_gradient_is_right(weighted_conditional_store, d, 4)
    np.testing.assert_array_equal(np.flatnonzero(gradient), [2])


# 66: a loop that looks for the largest element; zeros came out for integers, in silence


def logsumexp(a):
    result = 0.0
    largest_in_a = a[0]
    a_shape = len(a)
    for i in range(1, a_shape):
        if a[i] > largest_in_a:
            largest_in_a = a[i]
    for i in range(a_shape):
        result += np.exp(a[i] - largest_in_a)
    return np.log(result) + largest_in_a


def test_66_logsumexp():
    x = np.array([1.0, 2.0, 3.0, 4.0])
    expected = np.exp(x) / np.sum(np.exp(x))
    np.testing.assert_allclose(srcgrad.grad(logsumexp)(x), expected, rtol=1e-12)
    assert_gradient_is_right(logsumexp, np.array([0.4, 2.0, -1.0, 0.3, 1.9]))


@pytest.mark.parametrize(
    "x", [np.array([1, 2, 3, 4]), [1, 2, 3, 4]], ids=["integer array", "list of integers"]
)
def test_66_integer_arguments_are_a_clear_error(x):
    with pytest.raises(TypeError, match=r"(?i)\bint"):
        srcgrad.grad(logsumexp)(x)


# 86: print


def talkative(x):
    print("x is", x[0])
    y = x * x
    for i in range(2):
        print(i, y[i], sep=": ", end=";\n")
    return np.sum(y)


def test_86_print(capsys):
    x = np.array([3.0, 5.0])
    talkative(x)
    printed = capsys.readouterr().out
    gradient = srcgrad.grad(talkative)(x)
    assert capsys.readouterr().out == printed
    np.testing.assert_array_equal(gradient, 2 * x)
