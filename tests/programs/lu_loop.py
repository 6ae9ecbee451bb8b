"""LU factorisation in place by Doolittle's method, without pivoting, then two triangular solves.

Returns a weighted sum of the solution and the logarithm of the determinant.
"""

import numpy as np

ARGNUMS = (0, 1)


def lu_decompose(A):
    """Overwrite A with its factors: U on and above the diagonal, L (unit) below."""
    n = A.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            A[i, k] = A[i, k] / A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]


def lu_solve(LU, b):
    n = LU.shape[0]
    x = np.array(b)
    for i in range(n):
        s = 0
        for j in range(i):
            s += LU[i, j] * x[j]
        x[i] = x[i] - s
    for i in reversed(range(n)):
        s = 0
        for j in range(i + 1, n):
            s += LU[i, j] * x[j]
        x[i] = (x[i] - s) / LU[i, i]
    return x


def program(A, b):
    LU = A.copy()
    lu_decompose(LU)
    x = lu_solve(LU, b)
    log_determinant = 0.0
    for i in range(len(x)):
        log_determinant += np.log(abs(LU[i, i]))
    total = 0.0
    for i, value in enumerate(x):
        total += (i + 1) * value
    return total + 0.5 * log_determinant


def inputs(size=None):
    n = size or 8
    rng = np.random.default_rng(0)
    A = rng.standard_normal((n, n)) + 2 * np.sqrt(n) * np.eye(n)
    return A, rng.standard_normal(n)
