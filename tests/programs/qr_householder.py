"""QR factorisation by Householder reflections, in place on views, for linear least squares.

The reflectors are stored below the diagonal and applied to the right-hand side afterwards.
"""

import numpy as np

ARGNUMS = (0, 1)


def make_householder(a):
    """The vector v, normalised to v[0] = 1, and beta = 2 / v'v, which map a to a multiple of e1."""
    alpha = -np.copysign(np.linalg.norm(a), a[0])
    v = a.copy()
    v[0] -= alpha
    v /= v[0]
    return v, 2.0 / np.dot(v, v), alpha


def qr_in_place(A):
    n = A.shape[1]
    betas = np.zeros(n)
    for k in range(n):
        x = A[k:, k]
        v, beta, alpha = make_householder(x)
        trailing = A[k:, k + 1 :]
        trailing -= beta * np.outer(v, v @ trailing)
        x[0] = alpha
        x[1:] = v[1:]
        betas[k] = beta
    return betas


def apply_q_transposed(A, betas, b):
    for k in range(A.shape[1]):
        tail = b[k:]
        w = betas[k] * (tail[0] + np.dot(A[k + 1 :, k], tail[1:]))
        tail[0] -= w
        tail[1:] -= w * A[k + 1 :, k]


def back_substitution(R, y):
    n = R.shape[1]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - R[i, i + 1 :] @ x[i + 1 :]) / R[i, i]
    return x


def program(A, b):
    A = A.copy()
    b = b.copy()
    n = A.shape[1]
    betas = qr_in_place(A)
    apply_q_transposed(A, betas, b)
    x = back_substitution(A[:n], b[:n])
    residual = b[n:] @ b[n:]
    diagonal = np.diag(A)
    return np.sum(np.arange(1, n + 1) * x) + residual + 0.1 * np.sum(np.log(np.abs(diagonal)))


def inputs(size=None):
    n = size or 5
    rng = np.random.default_rng(0)
    return rng.standard_normal((2 * n, n)), rng.standard_normal(2 * n)
