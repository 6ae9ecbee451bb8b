"""Portfolio weights by projected gradient descent; the projection on the simplex sorts. The result
is the out-of-sample utility of the weights."""

import numpy as np

ARGNUMS = (0, 1, 2)


def project_simplex(v):
    """Euclidean projection on {w >= 0, sum(w) = 1} (Duchi et al. 2008)."""
    u = np.sort(v)[::-1]
    css = np.cumsum(u) - 1.0
    rho = np.nonzero(u * np.arange(1, len(v) + 1) > css)[0][-1]
    theta = css[rho] / (rho + 1.0)
    return np.maximum(v - theta, 0.0)


def optimise(mu, sigma, risk_aversion, steps, rate):
    w = np.ones_like(mu) / mu.size
    for k in range(1, steps + 1):
        gradient = risk_aversion * (sigma @ w) - mu
        w_new = project_simplex(w - rate / np.sqrt(k) * gradient)
        if np.abs(w_new - w).max() < 1e-8:
            break
        w = w_new
    return w


def program(mu, factor, risk_aversion, realised):
    sigma = factor @ factor.T + 0.1 * np.eye(len(mu))
    w = optimise(mu, sigma, risk_aversion, 25, 0.15)
    returns = realised @ w
    downside = np.minimum(returns, 0.0)
    return returns.mean() - 2.0 * np.mean(downside**2) - 0.5 * np.sum(w * (sigma @ w))


def inputs(size=None):
    n = 7 if size is None else size
    rng = np.random.default_rng(0)
    mu = rng.normal(size=n)
    return mu, 0.6 * rng.normal(size=(n, 3)), 1.7, mu + 0.5 * rng.normal(size=(20, n))
