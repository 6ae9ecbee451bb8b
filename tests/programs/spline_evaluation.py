"""Natural cubic spline through given knots (tridiagonal solve), evaluated by bisection search;
the result is a fit to data plus the curvature of the spline."""

import numpy as np

ARGNUMS = (0, 1, 2)


class NaturalSpline:
    def __init__(self, x, y):
        self.x, self.y = x, y
        n = len(x)
        h = np.diff(x)
        lower, diagonal, upper = np.zeros(n), np.ones(n), np.zeros(n)
        rhs = np.zeros(n)
        for i in range(1, n - 1):
            lower[i] = h[i - 1]
            diagonal[i] = 2 * (h[i - 1] + h[i])
            upper[i] = h[i]
            rhs[i] = 6 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])
        # Thomas algorithm
        for i in range(1, n):
            m = lower[i] / diagonal[i - 1]
            diagonal[i] -= m * upper[i - 1]
            rhs[i] -= m * rhs[i - 1]
        self.M = np.zeros(n)
        self.M[-1] = rhs[-1] / diagonal[-1]
        for i in range(n - 2, -1, -1):
            self.M[i] = (rhs[i] - upper[i] * self.M[i + 1]) / diagonal[i]

    def locate(self, t):
        lo, hi = 0, len(self.x) - 1
        while hi - lo > 1:
            mid = (lo + hi) // 2
            if self.x[mid] > t:
                hi = mid
            else:
                lo = mid
        return lo

    def __call__(self, t):
        i = self.locate(t)
        h = self.x[i + 1] - self.x[i]
        a = (self.x[i + 1] - t) / h
        b = (t - self.x[i]) / h
        value = a * self.y[i] + b * self.y[i + 1]
        return value + ((a**3 - a) * self.M[i] + (b**3 - b) * self.M[i + 1]) * h**2 / 6


def program(y, x, t, data):
    spline = NaturalSpline(x, y)
    misfit = sum((spline(tk) - dk) ** 2 for tk, dk in zip(t, data, strict=True))
    roughness = 0.0
    for i in range(len(x) - 1):
        m0, m1 = spline.M[i], spline.M[i + 1]
        roughness += (x[i + 1] - x[i]) * (m0**2 + m0 * m1 + m1**2) / 3
    return misfit + 1e-2 * roughness


def inputs(size=None):
    n = 8 if size is None else size
    rng = np.random.default_rng(0)
    x = np.linspace(0.0, 4.0, n) + rng.uniform(-1.0, 1.0, size=n) / n
    t = np.linspace(0.2, 3.8, 2 * n) + 0.1 / n * rng.normal(size=2 * n)
    return np.sin(x) + 0.1 * rng.normal(size=n), x, t, np.sin(t)
