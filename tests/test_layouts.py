"""Arrays in other memory layouts: which reshapes are views, and what is written through them."""

import numpy as np
import pytest

from srcgrad import grad, hvp, jacfwd, jacrev, jvp, linearize, vjp

NUMBERS = np.arange(6.0).reshape(2, 3) / 3 - 0.7
ALONG = np.arange(1.0, 7.0).reshape(2, 3)


def flattened(x):
    z = x * 2
    z.ravel()[0] = 5.0
    return z


def transposed_and_flattened(x):
    z = x * 2
    y = z.T.reshape(-1)
    y[1] *= 2
    y[0] = x[1, 1]
    return z


def an_argument(x):
    y = x.T.reshape(-1)
    y[1] *= x[0, 0]
    return x


def reshaped_again(x):
    z = x * 2
    y = z.reshape(3, 2)
    y[0] += x[0, 0] * x[1, 1]
    y.T.ravel()[2] = 7.0
    return y * z.reshape(3, 2)


def a_view_returned(x):
    z = np.exp(x)
    u = z.T.reshape(-1)
    u[::2] *= u[1]
    return z.T


def reversed_rows(x):
    z = x[:, ::-1] * 1.5
    z.ravel()[1] = x[0, 0] ** 2
    z.reshape(-1, order="F")[0] *= 2
    return z + x


def laid_out_by_columns(x):
    z = np.asarray(x, order="F")
    z.reshape(-1, order="F")[0] = 9.0
    return z * x


def laid_out_by_rows(x):
    z = np.ascontiguousarray(x)
    z.ravel()[0] = 9.0 * x[1, 0]
    return z * x


def copies(x):
    made = [np.array(x), x.copy(), np.copy(x), np.array(x, order="C")]
    for z in made:
        z.ravel()[1] = x[0, 0] ** 2
        z.T.reshape(-1)[2] = 3.0
    return made[0] * made[1] + made[2] * made[3]


def zeros_alike(x):
    z = np.zeros_like(x)
    z.ravel()[0] = x[0, 0]
    z.T.reshape(-1)[3] = x[1, 1] ** 2
    y = np.empty_like(x)
    y[...] = x
    y.ravel()[2] = x[0, 1] * 3
    return z + y


def chosen(x):
    z = np.where(x > 0, x, 2 * x)
    z.T.ravel()[0] = 4.0
    z.T.reshape(-1)[2] = x[0, 0] ** 2
    return z


PROGRAMS = [
    flattened, transposed_and_flattened, an_argument, reshaped_again, a_view_returned,
    reversed_rows, laid_out_by_columns, laid_out_by_rows, copies, zeros_alike, chosen,
]  # fmt: skip


def like(x, values):
    """The values, laid out in memory as x is."""
    twin = np.lib.stride_tricks.as_strided(np.zeros(200)[100:], x.shape, x.strides)
    twin[...] = values
    return twin


def layouts():
    apart = np.zeros((4, 6))
    apart[::2, ::2] = NUMBERS
    return {
        "rows": NUMBERS,
        "columns": np.asfortranarray(NUMBERS),
        "apart": apart[::2, ::2],
        "reversed": NUMBERS[:, ::-1].copy()[:, ::-1],
    }


@pytest.mark.parametrize("layout", layouts())
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_writes_through_reshapes(f, layout):
    x, h = layouts()[layout], 1e-6

    def difference(g):
        above, below = (g(like(x, x + sign * h * ALONG)) for sign in (1, -1))
        return (above - below) / (2 * h)

    expected = difference(f)
    weight = np.cos(np.arange(expected.size)).reshape(expected.shape)
    for along in (ALONG, np.asfortranarray(ALONG)):
        out, tangent = jvp(f, (x,), (along,))
        np.testing.assert_allclose(out, f(like(x, x)))
        np.testing.assert_allclose(tangent, expected, atol=1e-7)
        np.testing.assert_allclose(linearize(f, x)[1](along), expected, atol=1e-7)
    for order in "CF":
        (found,) = vjp(f, x)[1](np.array(weight, order=order))
        assert np.sum(found * ALONG) == pytest.approx(np.sum(weight * expected), abs=1e-7)
    for jacobian in (jacfwd(f), jacrev(f)):
        np.testing.assert_allclose(np.tensordot(jacobian(x), ALONG, 2), expected, atol=1e-7)

    def number(x):
        return np.sum(weight * f(x) ** 2)

    assert np.sum(grad(number)(x) * ALONG) == pytest.approx(difference(number), rel=1e-6)
    curved = hvp(number)(x, ALONG)
    np.testing.assert_allclose(curved, difference(grad(number)), rtol=1e-4, atol=1e-5)


def test_a_linear_function_keeps_whole_numbers_too():
    x, places = np.array([1.0, 2.0]), np.array([0, 1, 1])
    _, linear = linearize(lambda x, places: x[places] ** 2, x, places)
    places[:] = 0
    np.testing.assert_allclose(linear(np.ones(2), np.zeros(3)), [2.0, 4.0, 4.0])
