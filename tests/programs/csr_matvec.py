"""Sparse matrix in CSR form: products with it and its transpose as element loops, then Jacobi
iterations for a diagonally dominant system."""

import numpy as np

ARGNUMS = (0, 1, 2)


def csr_matvec(data, indices, indptr, x):
    n = len(indptr) - 1
    y = np.zeros(n)
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            y[i] += data[k] * x[indices[k]]
    return y


def csr_rmatvec(data, indices, indptr, x, n_cols):
    y = np.zeros(n_cols)
    for i in range(len(indptr) - 1):
        xi = x[i]
        if xi == 0.0:
            continue
        for k in range(indptr[i], indptr[i + 1]):
            y[indices[k]] += data[k] * xi
    return y


def csr_diagonal(data, indices, indptr):
    n = len(indptr) - 1
    d = np.zeros(n)
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            if indices[k] == i:
                d[i] = data[k]
                break
    return d


def program(data, x, b, indices, indptr):
    y = csr_matvec(data, indices, indptr, x)
    z = csr_rmatvec(data, indices, indptr, np.tanh(y), len(x))
    diagonal = csr_diagonal(data, indices, indptr)
    u = np.zeros_like(b)
    for _ in range(4):
        residual = b - csr_matvec(data, indices, indptr, u)
        u += residual / diagonal
    return np.dot(y, z) + np.sum(u**2)


def inputs(size=None):
    n = 12 if size is None else size
    rng = np.random.default_rng(0)
    data, indices, indptr = [], [], [0]
    for i in range(n):
        columns = {i, *(int(j) for j in rng.integers(0, n, size=3))}
        for j in sorted(columns):
            indices.append(j)
            data.append(4.0 if i == j else rng.normal())
        indptr.append(len(indices))
    return (
        np.array(data) + 0.1 * rng.normal(size=len(data)),
        rng.normal(size=n),
        rng.normal(size=n),
        np.array(indices),
        np.array(indptr),
    )
