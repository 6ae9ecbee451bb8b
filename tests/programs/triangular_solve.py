"""Triangular systems by forward and back substitution, in place, for several right-hand sides.

One function for lower and upper, transposed or not, with flags as in BLAS's trsm.
"""

import numpy as np

ARGNUMS = (0, 1)


def trsm(T, B, lower=True, transpose=False, unit_diagonal=False):
    """Solve T X = B (or T' X = B), overwriting B."""
    n = T.shape[0]
    if transpose:
        T = T.T
        lower = not lower
    order = range(n) if lower else range(n - 1, -1, -1)
    for i in order:
        done = range(i) if lower else range(i + 1, n)
        row = B[i]  # a view
        for j in done:
            if T[i, j] == 0:
                continue
            row -= T[i, j] * B[j]
        if not unit_diagonal:
            row /= T[i, i]
    return B


def program(L, B):
    X = B.copy()
    trsm(L, X)
    first = np.sum(X * X)
    trsm(L, X, transpose=True)  # now L L' X = B
    second = np.sum(np.sin(X))
    U = 0.1 * L.T
    Y = trsm(U, B.copy(), lower=False, unit_diagonal=True)
    v = trsm(L, B[:, 0].copy()[:, None])[:, 0]
    return first + second + (Y * Y).mean() + v[-1]


def inputs(size=None):
    n = size or 7
    rng = np.random.default_rng(0)
    L = np.tril(rng.standard_normal((n, n)), -1)
    L[np.arange(n), np.arange(n)] = 1.5 + rng.random(n)
    return L, rng.standard_normal((n, 3))
