"""`np.matrix`: products by `*`, always two dimensions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy

from srcgrad import grad, jvp, vjp
from srcgrad.errors import UnsupportedError
from srcgrad.testing import check_grads

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
A = np.array([[2.0, 0.5, -0.3], [0.4, 1.5, 0.2], [-0.1, 0.3, 1.2]])
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    MOTION = np.matrix([[1.0, 0.1], [0.0, 1.0]])

WHAT_NUMPY_MAKES = [
    lambda M: M * M,
    lambda M: M * 2.0 - 3 / M + M / M,
    lambda M: np.ones((3, 3)) * M,
    lambda M: np.ones(3) * M,
    lambda M: M * np.ones((3, 1)),
    lambda M: M + np.ones(3),
    lambda M: np.eye(3) - M,
    lambda M: np.ones((3, 3)) @ M,
    lambda M: np.ones((3, 3)).dot(M),
    lambda M: np.ones(3).dot(M),
    lambda M: np.inner(np.ones((2, 3)), M),
    lambda M: M**3,
    lambda M: M**-1,
    lambda M: M.I * M.T,
    lambda M: M[:, :2].I,
    lambda M: M[0],
    lambda M: M[-1, :],
    lambda M: M[:, -1],
    lambda M: M[1:, 0],
    lambda M: M[:, [0]],
    lambda M: M[[0, 1]],
    lambda M: M[[0, 1], [1, 2]],
    lambda M: M[M > 0.25],
    lambda M: M[1, 2],
    lambda M: M.A,
    lambda M: M.A1,
    lambda M: list(M)[1],
    lambda M: M.sum(),
    lambda M: M.sum(axis=0),
    lambda M: M.mean(1),
    lambda M: M.std(axis=1),
    lambda M: M.max(axis=0),
    lambda M: M.flatten(),
    lambda M: M.ravel(),
    lambda M: M.reshape(1, 9),
    lambda M: M.reshape((9, 1)),
    lambda M: M.diagonal(),
    lambda M: M.trace(),
    lambda M: M.dot(np.ones(3)),
    lambda M: M.cumsum(),
    lambda M: np.array(M.tolist()),
    lambda M: M.item(3),
    lambda M: abs(M),
    lambda M: -M.T,
    lambda M: np.where(M > 0, M, 0.0),
    np.tril,
    np.diag,
    np.trace,
    lambda M: np.outer(M, M),
    lambda M: np.einsum("ij->i", M),
    np.linalg.norm,
    lambda M: np.linalg.norm(M, axis=0),
    np.linalg.inv,
    np.linalg.pinv,
    np.linalg.det,
    lambda M: np.linalg.cholesky(M * M.T),
    lambda M: np.linalg.eigh(M + M.T)[0],
    lambda M: np.linalg.svd(M)[1],
    lambda M: np.linalg.solve(M, np.ones(3)),
    lambda M: np.linalg.solve(M, M.T),
    lambda M: np.dot(M, np.ones(3)),
    lambda M: np.dot(M, M),
    lambda M: np.cumsum(M),
    lambda M: np.cumsum(M, 0),
    lambda M: np.concatenate([M, M]),
    lambda M: np.vstack([M, np.ones(3)]),
    lambda M: np.hstack((M, M)),
    lambda M: np.kron(M, np.eye(2)),
    np.ravel,
    lambda M: np.reshape(M, (9, 1)),
    np.transpose,
    lambda M: np.clip(M, 0, 1),
    lambda M: np.sum(M),
    lambda M: np.sum(M, axis=1),
    np.mean,
    lambda M: np.average(M, axis=0),
    lambda M: np.max(M, axis=1),
    lambda M: np.prod(M),
    np.zeros_like,
    lambda M: np.multiply(M, M),
    lambda M: np.maximum(M, 0.25),
    lambda M: np.exp(M) + np.sin(M[:, 0]),
    lambda M: np.add.reduce(M),
    lambda M: np.array(M),
    lambda M: np.asarray(M) * np.asarray(M),
    lambda M: np.copy(M),
    lambda M: M.copy(),
    lambda M: np.bmat([[M, M], [M, M]]),
    lambda M: np.asmatrix(M) * np.matrix("1; 2; 3"),
    lambda M: np.tile(M, 2) + np.fliplr(np.tile(M, 2)),
    lambda M: np.linalg.qr(M)[0],
    lambda M: np.linalg.eigvalsh(M + M.T),
    lambda M: np.sort(M) + np.append(M, M, axis=0)[:3],
    lambda M: np.round(np.real(M) * 0.0, 2) + np.full_like(M, 2.0),
    lambda M: np.squeeze(M),
]


@pytest.mark.parametrize("number", range(len(WHAT_NUMPY_MAKES)))
def test_what_becomes_of_it(number):
    f = WHAT_NUMPY_MAKES[number]
    expected = f(np.matrix(A))
    found, _ = vjp(lambda x: f(np.matrix(x)), A)
    assert type(found) is type(expected)
    np.testing.assert_array_equal(np.shape(found), np.shape(expected))
    np.testing.assert_allclose(np.array(found), np.array(expected), rtol=1e-12, atol=1e-12)
    check_grads(lambda x: np.sum(np.square(np.array(f(np.matrix(x))))), (A,))


def test_what_is_not_known():
    def f(x):
        return np.roll(np.matrix(x), 1)[0, 0]

    with pytest.raises(UnsupportedError) as raised:
        grad(f)(A)
    message = str(raised.value)
    assert "return np.roll(np.matrix(x), 1)[0, 0]\n           ^^^^^^^" in message
    assert message.endswith(
        "what roll makes of this object isn't known\ngive it an array: np.asarray(...)"
    )


def kalman(q, r, measured):
    x = np.matrix([[0.0], [0.0]])
    P = np.matrix(np.eye(2))
    H = np.matrix([[1.0, 0.0]])
    Q = q * np.matrix(np.eye(2))
    R = np.matrix([[r]])
    loss = 0.0
    for z in measured:
        x = MOTION * x
        P = MOTION * P * MOTION.T + Q
        y = np.matrix([[z]]) - H * x
        S = H * P * H.T + R
        K = P * H.T * S.I
        x = x + K * y
        P = (np.matrix(np.eye(2)) - K * H) * P
        loss += (y.T * S.I * y)[0, 0] + np.log(np.linalg.det(S))
    return loss


def regression(rows, wanted):
    data, labels = np.asmatrix(rows), np.asmatrix(wanted).transpose()
    n, m = np.shape(data)
    weights = np.ones((m, 1))
    for _ in range(4):
        h = 1.0 / (1 + np.exp(-(data * weights)))
        weights = weights + 0.1 * data.transpose() * (labels - h)
    return np.sum(np.square(weights)) / n


def arm(angles):
    def turn(t):
        return np.matrix([[np.cos(t), -np.sin(t), 0], [np.sin(t), np.cos(t), 0], [0, 0, 1]])

    frame, at = np.matrix(np.identity(3)), np.matrix(np.zeros((3, 1)))
    for t in angles:
        frame = frame * turn(t)
        at = at + frame * np.matrix([[1.0, 0, 0]]).T
    return np.linalg.norm(at - np.matrix("1; 1; 0")) ** 2


def riccati(v):
    """A linear quadratic regulator, by SciPy's functions of arrays."""
    F, G = np.matrix(np.eye(3)), np.matrix(np.zeros((3, 1)))
    F[0, 1] = F[1, 2] = 0.1 * v
    G[2, 0] = v
    X = cost = np.matrix(np.diag([1.0, 0.5, 0.2]))
    for _ in range(50):
        step = F.T * X * G * scipy.linalg.inv(np.eye(1) + G.T * X * G) * G.T * X * F
        new = F.T * X * F - step + cost
        if (abs(new - X)).max() < 1e-6:
            break
        X = new
    K = np.matrix(scipy.linalg.inv(G.T * X * G + np.eye(1)) * (G.T * X * F))
    return K.sum()


def in_place(a):
    M = np.matrix(a)
    M[:, 0] = M[:, 1] * 2
    M[1] = M[0] + 1
    M[0, :] = np.array([1.0, 2, 3]) * a[0]
    M[2, 2] = a[1, 1]
    row = M[2]
    row[0, 1] = 4.0 * M[0, 0]
    M += 1.0
    M *= np.matrix(np.diag([1.0, 2.0, 3.0]))
    total = 0.0
    for row in M:
        total += (row * row.T)[0, 0]
    return total + M[M > 0.5].sum()


RNG = np.random.default_rng(0)
PROGRAMS = [
    (kalman, (0.1, 0.5, RNG.normal(size=5))),
    (regression, (RNG.normal(size=(6, 3)), RNG.random(6))),
    (arm, (np.array([0.3, 0.2, -0.1]),)),
    (riccati, (1.3,)),
    (in_place, (A,)),
]


@pytest.mark.parametrize("f, arguments", PROGRAMS)
def test_programs(f, arguments):
    check_grads(f, arguments)


def test_the_source_has_arrays():
    gradient = grad(kalman, argnums=(0, 1))
    gradient(0.1, 0.5, np.ones(3))
    assert "x_1 = MOTION @ x" in gradient.source and "x = x_1 + K @ y" in gradient.source
    assert "Matrix" not in gradient.source


def test_a_matrix_outside():
    class Model:
        motion = np.matrix([[1.0, 2.0], [3.0, 4.0]])

        def __call__(self, x):
            return (np.matrix(x) * self.motion * np.matrix(x).T)[0, 0]

    model = Model()
    gradient = grad(model)
    x = np.array([1.0, 2.0])
    assert gradient(x).tolist() == [12.0, 21.0]
    model.motion = np.matrix([[2.0, 0.0], [0.0, 2.0]])
    assert gradient(x).tolist() == [4.0, 8.0]
    model.motion[0, 0] = 5.0
    assert gradient(x).tolist() == [10.0, 8.0]


def test_a_matrix_outside_is_not_written():
    def f(x):
        MOTION[0, 0] = 2.0
        return (MOTION * np.matrix(x).T).sum()

    with pytest.raises(UnsupportedError) as raised:
        grad(f)(np.ones(2))
    assert "MOTION[0, 0] = 2.0\n    ^^^^^^^^^^^^" in str(raised.value)
    assert "is outside of the function" in str(raised.value)


def test_a_matrix_as_an_argument():
    def f(x, M):
        return (np.asmatrix(x) * M * M)[0, 0]

    x, M = np.array([1.0, 2.0]), np.matrix([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(grad(f)(x, M), [7.0, 15.0])
    found = grad(f, argnums=1)(x, M)
    np.testing.assert_allclose(found, grad(f, argnums=1)(x, np.asarray(M).view(np.matrix)))
    assert np.shape(found) == (2, 2)


def test_results_and_tangents():
    def f(x):
        return np.matrix(x).T * 2

    out, pullback = vjp(f, np.ones(3))
    assert type(out) is np.matrix and out.shape == (3, 1)
    assert pullback(np.ones((3, 1)))[0].tolist() == [2.0, 2.0, 2.0]
    assert pullback(np.matrix(np.ones((3, 1))))[0].tolist() == [2.0, 2.0, 2.0]
    out, tangent = jvp(f, (np.ones(3),), (np.ones(3),))
    assert type(tangent) is np.matrix and tangent.shape == (3, 1)


def test_what_it_is(capsys):
    def f(x):
        M = np.matrix(x)
        print(M, repr(M), f"{M}", M.shape, M.ndim, len(M), M.size, M.dtype)
        assert isinstance(M, np.matrix) and isinstance(M, np.ndarray)
        if M.T.shape == (3, 1) and np.all(M > 0) and M.any() and (M == M).all():
            return M.sum() * 2
        return M.sum()

    x = np.arange(1.0, 4.0)
    assert grad(f)(x).tolist() == [2.0, 2.0, 2.0]
    found = capsys.readouterr().out
    f(x)
    assert found == capsys.readouterr().out


def test_the_class_of_a_matrix():
    def f(x):
        m = np.asmatrix(x)
        return type(m) is np.matrix, type(m).__name__, m.__class__ is np.matrix, m[0, 0]

    assert vjp(f, np.eye(2))[0] == f(np.eye(2))
