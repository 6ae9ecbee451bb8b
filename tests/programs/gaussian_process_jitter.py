"""Gaussian process whose Cholesky factorisation is tried with growing jitter until it succeeds, as
GP libraries do; the log marginal likelihood plus the predictions at new points."""

import numpy as np

ARGNUMS = (0, 1, 2, 3)


def squared_exponential(A, B, lengthscale, variance):
    squares = np.sum(A**2, 1)[:, None] + np.sum(B**2, 1)[None, :] - 2 * np.dot(A, B.T)
    return variance * np.exp(-0.5 * squares / lengthscale**2)


def jitchol(K, max_tries=6):
    jitter = 0.0
    for attempt in range(max_tries):
        try:
            return np.linalg.cholesky(K + jitter * np.eye(len(K)))
        except np.linalg.LinAlgError:
            jitter = 1e-3 * 10.0**attempt * np.mean(np.diag(K))
    raise np.linalg.LinAlgError("not positive definite, even with jitter")


def program(X, y, lengthscale, variance, X_new):
    K = squared_exponential(X, X, lengthscale, variance)
    K -= 0.02 * np.eye(len(X))  # a nugget estimated with noise may be negative
    L = jitchol(K)
    alpha = np.linalg.solve(L.T, np.linalg.solve(L, y))
    evidence = -0.5 * y @ alpha - np.sum(np.log(np.diagonal(L)))
    mean = squared_exponential(X_new, X, lengthscale, variance) @ alpha
    with np.errstate(divide="ignore"):
        scaled = np.where(mean > 0, np.log1p(np.abs(mean)), mean / (1.0 + np.abs(mean)))
    return 0.1 * evidence + np.sum(scaled**2)


def inputs(size=None):
    n = 8 if size is None else size
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(n, 1))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=n)
    return X, y, 0.8, 1.2, np.linspace(-2, 2, 5)[:, None]
