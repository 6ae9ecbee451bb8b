"""Dynamics of a Lennard-Jones fluid: periodic box, cut-off, velocity Verlet, a thermostat."""

import numpy as np

ARGNUMS = (0, 1, 2)


def forces(positions, box, epsilon, sigma, cutoff):
    n = len(positions)
    f = np.zeros_like(positions)
    energy, virial = 0.0, 0.0
    shift = 4 * epsilon * ((sigma / cutoff) ** 12 - (sigma / cutoff) ** 6)
    for i in range(n - 1):
        for j in range(i + 1, n):
            r = positions[i] - positions[j]
            r -= box * np.round(r / box)
            r2 = np.dot(r, r)
            if r2 > cutoff**2:
                continue
            s6 = (sigma**2 / r2) ** 3
            energy += 4 * epsilon * s6 * (s6 - 1) - shift
            pair = 24 * epsilon * s6 * (2 * s6 - 1) / r2
            f[i] += pair * r
            f[j] -= pair * r
            virial += pair * r2
    return f, energy, virial


def program(positions, velocities, parameters, box, target, dt, steps):
    epsilon, sigma = parameters
    x, v = positions.copy(), velocities.copy()
    f, energy, virial = forces(x, box, epsilon, sigma, 0.45 * box)
    pressures = []
    for step in range(1, steps + 1):
        v += 0.5 * dt * f
        x += dt * v
        x %= box
        f, energy, virial = forces(x, box, epsilon, sigma, 0.45 * box)
        v += 0.5 * dt * f
        kinetic = 0.5 * (v**2).sum()
        temperature = 2 * kinetic / v.size
        if step % 2 == 0:
            v *= np.sqrt(target / temperature)
        pressures.append((2 * kinetic + virial) / (3 * box**3))
    return energy + kinetic + np.mean(pressures)


def inputs(size=None):
    rng = np.random.default_rng(4)
    side = 2
    grid = np.stack(np.meshgrid(*[np.arange(side)] * 3), -1).reshape(-1, 3)
    box = 3.4
    x = (grid + 0.25) * box / side + 0.05 * rng.standard_normal((side**3, 3))
    return x, rng.standard_normal((side**3, 3)), np.array([1.0, 1.1]), box, 1.2, 0.004, size or 4
