"""The leading eigenvalues of a symmetric matrix by power iteration with deflation, each iterated
until the vector settles."""

import numpy as np


def leading_eigenpair(A, v, tol=1e-12, max_iterations=2000):
    for _ in range(max_iterations):
        previous = v
        w = A.dot(v)
        v = w / np.linalg.norm(w)
        if np.max(np.abs(v - previous)) < tol:
            break
    else:
        raise RuntimeError("no convergence")
    if v[np.argmax(np.abs(v))] < 0:
        v = -v
    return v @ A @ v, v


def top_eigenpairs(A, k):
    A = A.copy()
    start = np.linspace(1.0, -1.0, len(A))
    values, vectors = [], []
    for _ in range(k):
        eigenvalue, v = leading_eigenpair(A, start / np.linalg.norm(start))
        values.append(eigenvalue)
        vectors.append(v)
        A -= eigenvalue * np.outer(v, v)
    return np.array(values), np.column_stack(vectors)


def program(B, weights):
    A = B @ B.T
    A += np.diag(np.arange(1.0, len(A) + 1.0) ** 4) / len(A) ** 2
    A = 0.5 * (A + A.T)
    values, vectors = top_eigenpairs(A, 3)
    return np.sum(np.log(values)) + np.sum(weights * vectors) + values[0] / values[-1]


def inputs(size=None):
    n = 6 if size is None else size
    rng = np.random.default_rng(0)
    return 0.5 * rng.normal(size=(n, n)), rng.normal(size=(n, 3))
