"""In-place smoothing of a volume in Gauss-Seidel order: six neighbours and two corners.

The conductivity varies from cell to cell and enters through its harmonic mean.
"""

import numpy as np

ARGNUMS = (0, 1)


def harmonic(a, b):
    return 2.0 * a * b / (a + b)


def sweep(volume, k):
    nx, ny, nz = volume.shape
    for i in range(1, nx - 1):
        for j in range(1, ny - 1):
            for l in range(1, nz - 1):  # noqa: E741
                total = 0.0
                weight = 0.0
                for di, dj, dl in (
                    (-1, 0, 0),
                    (1, 0, 0),
                    (0, -1, 0),
                    (0, 1, 0),
                    (0, 0, -1),
                    (0, 0, 1),
                ):
                    w = harmonic(k[i, j, l], k[i + di, j + dj, l + dl])
                    total += w * volume[i + di, j + dj, l + dl]
                    weight += w
                corner = volume[i - 1, j - 1, l - 1] + volume[i + 1, j + 1, l + 1]
                volume[i, j, l] = 0.95 * total / weight + 0.025 * corner


def program(initial, k, sweeps):
    volume = initial.copy()
    for _ in range(sweeps):
        sweep(volume, k)
    return (volume**2).sum() / volume.size


def inputs(size=None):
    n = size or 6
    rng = np.random.default_rng(0)
    initial = rng.random((n, n, n))
    k = 0.5 + rng.random((n, n, n))
    return initial, k, 2
