"""Gauss-Seidel sweeps with over-relaxation for the Poisson equation on a square, point by point.

Boundary values and source are given; the result is the weighted energy of the solution.
"""

import numpy as np

ARGNUMS = (0, 1, 2)


def gauss_seidel(u, f, h, omega, sweeps):
    n, m = u.shape
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                residual = (
                    u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - h * h * f[i, j]
                ) / 4 - u[i, j]
                u[i, j] += omega * residual
    return u


def apply_boundary(u, boundary):
    u[0, :] = boundary[0]
    u[-1, :] = boundary[1]
    u[:, 0] = boundary[2]
    u[:, -1] = boundary[3]


def program(boundary, f, omega, sweeps):
    n = f.shape[0]
    h = 1.0 / (n - 1)
    u = np.zeros((n, n))
    apply_boundary(u, boundary)
    gauss_seidel(u, f, h, omega, sweeps)
    energy = 0.0
    for i in range(n - 1):
        for j in range(n - 1):
            energy += (u[i + 1, j] - u[i, j]) ** 2 + (u[i, j + 1] - u[i, j]) ** 2
            energy += 2 * h * h * f[i, j] * u[i, j]
    return energy / 2


def inputs(size=None):
    n = size or 10
    rng = np.random.default_rng(0)
    boundary = rng.standard_normal((4, n))
    f = rng.standard_normal((n, n)) * 10
    return boundary, f, 1.5, 6
