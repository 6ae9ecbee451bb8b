"""QR factorisation by modified Gram-Schmidt in the style of polybench, with element loops.

Returns a function of both factors, so that the orthonormal vectors and the projections matter.
"""

import numpy as np


def gram_schmidt(A, R, Q):
    m, n = A.shape
    for k in range(n):
        norm = 0.0
        for i in range(m):
            norm += A[i, k] * A[i, k]
        R[k, k] = np.sqrt(norm)
        for i in range(m):
            Q[i, k] = A[i, k] / R[k, k]
        for j in range(k + 1, n):
            R[k, j] = 0.0
            for i in range(m):
                R[k, j] += Q[i, k] * A[i, j]
            for i in range(m):
                A[i, j] = A[i, j] - Q[i, k] * R[k, j]


def program(A):
    work = A.astype(float)  # astype copies
    m, n = work.shape
    R = np.zeros((n, n))
    Q = np.zeros((m, n))
    gram_schmidt(work, R, Q)
    weights = np.cos(np.arange(m * n)).reshape(m, n)
    log_volume = 0.0
    for k in range(n):
        log_volume += np.log(R[k, k])
    return (weights * Q).sum() + 0.5 * np.sum(R**2 * np.arange(n)) + log_volume


def inputs(size=None):
    n = size or 6
    return (np.random.default_rng(0).standard_normal((n + 2, n)),)
