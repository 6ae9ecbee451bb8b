"""Mean-field Ising magnet on a periodic square lattice: magnetisations relaxed in place, then the
free energy with the disordered couplings and the field."""

import numpy as np

ARGNUMS = (0, 1, 2, 3)


def local_field(m, right, down, field, i, j):
    rows, cols = m.shape
    return (
        field[i, j]
        + right[i, j] * m[i, (j + 1) % cols]
        + right[i, j - 1] * m[i, j - 1]
        + down[i, j] * m[(i + 1) % rows, j]
        + down[i - 1, j] * m[i - 1, j]
    )


def relax(m, right, down, field, beta, sweeps):
    """Checkerboard sweeps with damping; the black and the white sites in turn."""
    for _ in range(sweeps):
        for colour in (0, 1):
            for i in range(m.shape[0]):
                for j in range(m.shape[1]):
                    if (i + j) % 2 != colour:
                        continue
                    h = local_field(m, right, down, field, i, j)
                    m[i, j] = 0.3 * m[i, j] + 0.7 * np.tanh(beta * h)


def energy(m, right, down, field):
    bonds = right * m * np.roll(m, -1, axis=1) + down * m * np.roll(m, -1, axis=0)
    return -np.sum(bonds) - np.sum(field * m)


def entropy(m):
    p = 0.5 * (1 + m)
    return -np.sum(p * np.log(p) + (1 - p) * np.log(1 - p))


def program(right, down, field, beta, sweeps):
    m = 0.1 * np.ones_like(field)
    relax(m, right, down, field, beta, sweeps)
    return energy(m, right, down, field) - entropy(m) / beta + 0.5 * abs(m).sum()


def inputs(size=None):
    n = 6 if size is None else size
    rng = np.random.default_rng(0)
    right = 1.0 + 0.2 * rng.normal(size=(n, n))
    down = 1.0 + 0.2 * rng.normal(size=(n, n))
    field = 0.3 + 0.1 * rng.normal(size=(n, n))
    return right, down, field, 0.35, 3
