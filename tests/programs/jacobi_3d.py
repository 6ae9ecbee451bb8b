"""Jacobi iteration for the screened Poisson equation in a box, with slices and a fixed count.

A 7-point stencil with reflecting walls in x, periodic walls in y and fixed walls in z.
"""

import numpy as np

ARGNUMS = (0, 1, 2)


def walls(u, kinds, bottom):
    for axis, kind in enumerate(kinds):
        v = np.moveaxis(u, axis, 0)
        match kind:
            case "reflecting":
                v[0] = v[1]
                v[-1] = v[-2]
            case "periodic":
                v[0] = v[-2]
                v[-1] = v[1]
            case ("fixed", top):
                v[0] = bottom
                v[-1] = top
            case _:
                raise ValueError(f"unknown kind of wall: {kind!r}")


def program(rho, bottom, screening, iterations):
    kinds = ["reflecting", "periodic", ("fixed", 0.0)]
    u = np.zeros_like(rho)
    residuals = []
    for it in range(iterations):
        walls(u, kinds, bottom)
        neighbours = u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1]
        neighbours += u[1:-1, :-2, 1:-1]
        neighbours += u[1:-1, 2:, 1:-1]
        neighbours += u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:]
        update = (neighbours - rho[1:-1, 1:-1, 1:-1]) / (6.0 + screening**2)
        if it % 5 == 0:
            residuals.append(np.sum((update - u[1:-1, 1:-1, 1:-1]) ** 2))
        u[1:-1, 1:-1, 1:-1] = update
    inside = u[1:-1, 1:-1, 1:-1]
    return np.sum(inside * inside) + 0.1 * sum(residuals)


def inputs(size=None):
    n = size or 8
    rng = np.random.default_rng(0)
    rho = rng.standard_normal((n, n, n))
    bottom = rng.standard_normal((n, n))
    return rho, bottom, 0.7, 30
