"""Matrix factorisations and a determinant, as loops.

Each gives the sum of the products of its factors' elements and fixed weights, except the
determinant. The gradients need no record of matrices overwritten: the factors are all there at the
end, or the matrix before a step follows from the one after.
"""

from __future__ import annotations

import numpy as np

from benchmarks.workloads.base import Workload, normal, sizes


def cholesky(a, weights):
    """The lower factor, column by column; only the lower half of `a` is read."""
    n = len(a)
    lower = np.zeros_like(a)
    for j in range(n):
        lower[j, j] = np.sqrt(a[j, j] - lower[j, :j] @ lower[j, :j])
        lower[j + 1 :, j] = (a[j + 1 :, j] - lower[j + 1 :, :j] @ lower[j, :j]) / lower[j, j]
    return np.sum(weights * lower)


def cholesky_gradient(a, weights):
    """By hand: the adjoint of the factor becomes, column by column, that of the matrix.

    What the columns to the right owe to a column is gathered when it is reached.
    """
    n = len(a)
    lower = np.zeros(a.shape, a.dtype)
    for j in range(n):
        row = lower[j, :j]
        column = lower[j:, j]
        np.subtract(a[j:, j], lower[j:, :j] @ row, out=column)
        pivot = np.sqrt(column[0])
        column /= pivot
    d = np.tril(weights)
    for j in range(n - 1, -1, -1):
        pivot, column = lower[j, j], lower[j + 1 :, j]
        d_column, d_rest = d[j + 1 :, j], d[j + 1 :, j + 1 :]
        d_column -= d_rest @ column
        d_column -= column @ d_rest
        d_column /= pivot
        # the pivot divides the column and is itself a root
        d[j, j] = (d[j, j] - d_column @ column) / (2.0 * pivot)
    return d


def lu(a, weights):
    """Both factors in one matrix, in place, without exchanging rows."""
    a = a.copy()
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.sum(weights * a)


def lu_gradient(a, weights):
    """By hand."""
    a = a.copy()
    n = len(a)
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k, None] * a[k, k + 1 :]
    d = weights.copy()
    for k in range(n - 2, -1, -1):
        lower, upper = a[k + 1 :, k], a[k, k + 1 :]
        d_rest = d[k + 1 :, k + 1 :]
        d_lower = d[k + 1 :, k]
        d_lower -= d_rest @ upper
        d[k, k + 1 :] -= lower @ d_rest
        d_lower /= a[k, k]
        d[k, k] -= d_lower @ lower
    return d


def qr(a, weights_q, weights_r):
    """Both factors, by the modified process of Gram and Schmidt."""
    q = a.copy()
    n = q.shape[1]
    r = np.zeros((n, n))
    for j in range(n):
        r[j, j] = np.sqrt(q[:, j] @ q[:, j])
        q[:, j] /= r[j, j]
        r[j, j + 1 :] = q[:, j] @ q[:, j + 1 :]
        q[:, j + 1 :] -= np.outer(q[:, j], r[j, j + 1 :])
    return np.sum(weights_q * q) + np.sum(weights_r * r)


def qr_gradient(a, weights_q, weights_r):
    """By hand, the columns as rows; going back, what a step took off is put on again."""
    q = a.T.copy()
    n = len(q)
    r = np.zeros((n, n))
    for j in range(n):
        column, rest = q[j], q[j + 1 :]
        r[j, j] = np.sqrt(column @ column)
        column /= r[j, j]
        np.matmul(rest, column, out=r[j, j + 1 :])
        rest -= r[j, j + 1 :, None] * column
    d_q = weights_q.T.copy()
    for j in range(n - 1, -1, -1):
        column, rest, row = q[j], q[j + 1 :], r[j, j + 1 :]
        d_column, d_rest = d_q[j], d_q[j + 1 :]
        d_row = weights_r[j, j + 1 :] - d_rest @ column
        d_column -= row @ d_rest
        rest += row[:, None] * column
        d_column += d_row @ rest
        d_rest += d_row[:, None] * column
        # the gradient of column / |column|, and of |column|
        d_column -= (d_column @ column) * column
        d_column /= r[j, j]
        d_column += weights_r[j, j] * column
        column *= r[j, j]
    return d_q.T


def determinant(a):
    """By elimination, exchanging rows for the largest pivot."""
    a = a.copy()
    n = len(a)
    det = 1.0
    for k in range(n):
        p = k + np.argmax(np.abs(a[k:, k]))
        if p != k:
            a[[k, p]] = a[[p, k]]
            det = -det
        det = det * a[k, k]
        for i in range(k + 1, n):
            a[i, k:] -= a[i, k] / a[k, k] * a[k, k:]
    return det


def determinant_gradient(a):
    """By hand: the inner loop as one product; recorded are the factors and the exchanges."""
    a = a.copy()
    n = len(a)
    det = 1.0
    recorded = []
    for k in range(n):
        p = k + np.abs(a[k:, k]).argmax()
        if p != k:
            a[[k, p]] = a[[p, k]]
            det = -det
        pivot = a[k, k]
        det *= pivot
        factors = a[k + 1 :, k] / pivot
        a[k + 1 :, k + 1 :] -= factors[:, None] * a[k, k + 1 :]
        recorded.append((p, factors))
    d = np.zeros(a.shape, a.dtype)
    for k in range(n - 1, -1, -1):
        p, factors = recorded[k]
        pivot = a[k, k]
        d_rest = d[k + 1 :, k + 1 :]
        d_factors = d_rest @ a[k, k + 1 :]
        d_factors /= -pivot
        d[k, k + 1 :] -= factors @ d_rest
        d[k + 1 :, k] = d_factors
        d[k, k] = det / pivot - d_factors @ factors
        if p != k:
            d[[k, p]] = d[[p, k]]
    return d


def _positive_definite(n):
    a = normal(n, n)
    return a @ a.T / n + np.eye(n)


def _dominant(n):
    return normal(n, n) / np.sqrt(n) + 3 * np.eye(n)


def _orthogonal(n):
    return np.linalg.qr(normal(n, n))[0]


WORKLOADS = (
    Workload(
        "cholesky",
        cholesky,
        cholesky_gradient,
        lambda n: (_positive_definite(n), normal(n, n, seed=1)),
        sizes(5, 64, 400),
        by_hand_differs="one product for what all columns to the right contribute",
    ),
    Workload(
        "lu",
        lu,
        lu_gradient,
        lambda n: (_dominant(n), normal(n, n, seed=1)),
        sizes(5, 64, 400),
    ),
    Workload(
        "qr",
        qr,
        qr_gradient,
        lambda n: (_dominant(n), normal(n, n, seed=1), normal(n, n, seed=2)),
        sizes(5, 64, 400),
        by_hand_differs="the columns as rows, and steps undone rather than recorded",
    ),
    Workload(
        "determinant",
        determinant,
        determinant_gradient,
        lambda n: (_orthogonal(n),),
        sizes(5, 48, 200),
        by_hand_differs="the inner loop as one product",
    ),
)
