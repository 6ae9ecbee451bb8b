"""Kernel ridge regression with an anisotropic Gaussian kernel: the Gram matrix filled in by
symmetry, its Cholesky factor, the leave-one-out error and the log-determinant."""

import numpy as np

ARGNUMS = (0, 1, 2, 3)


def kernel(a, b, length_scales):
    z = (a - b) / length_scales
    return np.exp(-0.5 * np.dot(z, z))


def gram_matrix(X, length_scales, noise):
    n = len(X)
    K = np.empty((n, n))
    for i in range(n):
        K[i, i] = 1.0 + noise
        for j in range(i):
            K[i, j] = K[j, i] = kernel(X[i], X[j], length_scales)
    return K


def program(X, y, log_scales, log_noise):
    K = gram_matrix(X, np.exp(log_scales), np.exp(log_noise))
    L = np.linalg.cholesky(K)
    alpha = np.linalg.solve(L.T, np.linalg.solve(L, y))
    K_inverse = np.linalg.inv(K)
    leave_one_out = 0.0
    for i, a in enumerate(alpha):
        leave_one_out += (a / K_inverse[i, i]) ** 2
    log_determinant = 2.0 * np.log(np.diag(L)).sum()
    return leave_one_out / len(y) + 0.1 * (y.dot(alpha) + log_determinant)


def inputs(size=None):
    n = 10 if size is None else size
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(n, 2))
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=n)
    return X, y, np.array([0.1, 0.4]), -1.5
