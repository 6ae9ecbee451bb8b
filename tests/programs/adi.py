"""Alternating direction implicit time stepping of 2-D diffusion (Peaceman-Rachford, polybench).

Each half step solves tridiagonal systems along rows, then along columns, by forward elimination
and back substitution on the recurrence arrays p and q.
"""

import numpy as np

ARGNUMS = (0, 1)


def program(u0, diffusivity, tsteps):
    n = u0.shape[0]
    u = u0.copy()
    v = np.zeros((n, n))
    p = np.zeros((n, n))
    q = np.zeros((n, n))

    dx = 1.0 / n
    dt = 1.0 / (20 * tsteps)
    mul1 = diffusivity * dt / (dx * dx)
    mul2 = 0.5 * diffusivity * dt / (dx * dx)
    a = -mul1 / 2.0
    b = 1.0 + mul1
    c = a
    d = -mul2 / 2.0
    e = 1.0 + mul2
    f = d

    for _t in range(1, tsteps + 1):
        # columns
        v[0, 1:-1] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = v[0, 1:-1]
        for j in range(1, n - 1):
            p[1:-1, j] = -c / (a * p[1:-1, j - 1] + b)
            q[1:-1, j] = (
                -d * u[j, 0:-2] + (1.0 + 2.0 * d) * u[j, 1:-1] - f * u[j, 2:] - a * q[1:-1, j - 1]
            ) / (a * p[1:-1, j - 1] + b)
        v[-1, 1:-1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]

        # rows
        for i in range(1, n - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = u[i, 0]
            for j in range(1, n - 1):
                den = d * p[i, j - 1] + e
                p[i, j] = -f / den
                q[i, j] = (
                    -a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - c * v[i + 1, j] - d * q[i, j - 1]
                ) / den
            u[i, -1] = 1.0
            for j in range(n - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]
    return np.sum(u**2) / n + np.sum(v[1:-1, 1:-1] * u[1:-1, 1:-1])


def inputs(size=None):
    n = size or 10
    rng = np.random.default_rng(0)
    return rng.random((n, n)), 0.8, 4
