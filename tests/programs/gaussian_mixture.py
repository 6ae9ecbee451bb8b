"""A few EM steps for a one-dimensional Gaussian mixture; returns the negative log-likelihood."""

import numpy as np

ARGNUMS = (0, 1, 2)

SQRT_2PI = np.sqrt(2 * np.pi)


class GaussianMixture:
    def __init__(self, means, log_sigmas):
        self.means = np.array(means)
        self.sigmas = np.exp(log_sigmas)
        self.k = len(self.means)
        self.weights = np.ones(self.k) / self.k
        self.history = []

    def density(self, x, j):
        z = (x - self.means[j]) / self.sigmas[j]
        return np.exp(-0.5 * z**2) / (self.sigmas[j] * SQRT_2PI)

    def e_step(self, x):
        r = np.zeros((len(x), self.k))
        for j in range(self.k):
            r[:, j] = self.weights[j] * self.density(x, j)
        total = r.sum(axis=1)
        self.history.append(-np.log(total).mean())
        r /= total[:, np.newaxis]
        return r

    def m_step(self, x, r):
        nk = r.sum(axis=0)
        self.weights = nk / len(x)
        for j in range(self.k):
            self.means[j] = np.dot(r[:, j], x) / nk[j]
            variance = np.dot(r[:, j], (x - self.means[j]) ** 2) / nk[j]
            self.sigmas[j] = np.sqrt(variance + 1e-3)

    def fit(self, x, iterations):
        for _ in range(iterations):
            r = self.e_step(x)
            self.m_step(x, r)
        return self


def program(x, means, log_sigmas, iterations=5):
    gmm = GaussianMixture(means, log_sigmas).fit(x, iterations)
    r = gmm.e_step(x)
    entropy = -np.sum(r * np.log(r + 1e-12))
    return gmm.history[-1] + 0.1 * gmm.history[0] + 0.01 * entropy


def inputs(size=None):
    n = 40 if size is None else size
    rng = np.random.default_rng(0)
    x = np.where(rng.random(n) < 0.4, rng.normal(-2, 0.8, n), rng.normal(1.5, 1.1, n))
    return x, np.array([-1.0, 0.2, 1.0]), np.array([0.0, 0.3, -0.2])
