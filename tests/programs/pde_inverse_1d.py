"""Inverse problem: the conductivity of a rod from temperatures measured in it. Solves
-(k u')' = f by Thomas' algorithm for each heat source; misfit plus smoothed total variation."""

import numpy as np

ARGNUMS = (0, 1, 2)


def tridiagonal_solve(a, b, c, d):
    """Solve in place of b and d; a is the lower, b the main and c the upper diagonal."""
    n = len(d)
    for i in range(1, n):
        w = a[i - 1] / b[i - 1]
        b[i] = b[i] - w * c[i - 1]
        d[i] = d[i] - w * d[i - 1]
    d[n - 1] /= b[n - 1]
    for i in reversed(range(n - 1)):
        d[i] = (d[i] - c[i] * d[i + 1]) / b[i]
    return d


def solve_rod(k, f, left, right):
    n = len(f)
    h = 1.0 / (n + 1)
    faces = 2 * k[1:] * k[:-1] / (k[1:] + k[:-1])  # harmonic means between cells
    main = (faces[1:] + faces[:-1]) / h**2
    off = -faces[1:-1] / h**2
    rhs = f.copy()
    rhs[0] += faces[0] / h**2 * left
    rhs[-1] += faces[-1] / h**2 * right
    return tridiagonal_solve(off, main, off.copy(), rhs)


def program(log_k, sources, boundary, sensors, measured):
    k = np.exp(log_k)
    misfit = 0.0
    for source, observed in zip(sources, measured, strict=True):
        u = solve_rod(k, source, *boundary)
        r = u[sensors] - observed
        misfit += 0.5 * (r @ r)
    jumps = np.diff(log_k)
    regularisation = np.sum(np.sqrt(jumps * jumps + 1e-2))
    return misfit + 0.05 * regularisation


def inputs(size=None):
    n = 14 if size is None else size
    rng = np.random.default_rng(0)
    log_k = 0.4 * rng.normal(size=n + 2)
    sources = 5.0 * rng.normal(size=(3, n))
    sensors = np.arange(1, n, 3)
    return log_k, sources, (0.5, -0.2), sensors, rng.normal(size=(3, len(sensors)))
