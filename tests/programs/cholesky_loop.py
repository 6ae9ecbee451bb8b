"""Cholesky factorisation written as three loops, in place on the lower triangle.

Used for the negative log likelihood of a Gaussian process with a squared exponential kernel.
"""

import math

import numpy as np

ARGNUMS = (0, 1, 2)


def cholesky(A):
    n = len(A)
    for j in range(n):
        for k in range(j):
            A[j, j] -= A[j, k] * A[j, k]
        if A[j, j] <= 0.0:
            raise ValueError("matrix is not positive definite")
        A[j, j] = math.sqrt(A[j, j])
        for i in range(j + 1, n):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
    # zero the strict upper triangle
    for i in range(n):
        for j in range(i + 1, n):
            A[i, j] = 0.0
    return A


def forward_substitution(L, b):
    y = b.copy()
    for i in range(len(y)):
        for j in range(i):
            y[i] -= L[i, j] * y[j]
        y[i] /= L[i, i]
    return y


def program(x, y, log_parameters):
    length, amplitude, noise = np.exp(log_parameters)
    n = len(x)
    K = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            K[i, j] = amplitude * np.exp(-0.5 * ((x[i] - x[j]) / length) ** 2)
        K[i, i] += noise
    L = cholesky(K)
    z = forward_substitution(L, y)
    log_determinant = 0.0
    for i in range(n):
        log_determinant += 2.0 * math.log(L[i, i])
    return 0.5 * np.dot(z, z) + 0.5 * log_determinant + 0.5 * n * math.log(2 * math.pi)


def inputs(size=None):
    n = size or 8
    rng = np.random.default_rng(0)
    x = np.sort(rng.random(n)) * 4
    return x, np.sin(x) + 0.1 * rng.standard_normal(n), np.array([0.1, 0.2, -1.0])
