"""1-D finite-difference time-domain simulation of a pulse hitting a lossy dielectric slab.

Absorbing boundaries by remembering boundary values for two steps; element loops as in the
textbook by Sullivan. Differentiable in the permittivity, conductivity and pulse parameters.
"""

from math import exp

import numpy as np

ARGNUMS = (0, 1, 2)


def program(epsilon, sigma, pulse, steps):
    ke = len(epsilon) + 40
    ex = np.zeros(ke)
    hy = np.zeros(ke)
    t0, spread = pulse
    ddx = 0.01
    dt = ddx / 6e8
    epsz = 8.854e-12
    kc = 10
    k_start = 25

    ca = np.ones(ke)
    cb = np.ones(ke) * 0.5
    for k, (eps_r, s) in enumerate(zip(epsilon, sigma, strict=True)):
        eaf = dt * s / (2 * epsz * eps_r)
        ca[k_start + k] = (1 - eaf) / (1 + eaf)
        cb[k_start + k] = 0.5 / (eps_r * (1 + eaf))

    boundary_low = [0, 0]
    boundary_high = [0, 0]
    received = []
    for time_step in range(1, steps + 1):
        # electric field
        for k in range(1, ke):
            ex[k] = ca[k] * ex[k] + cb[k] * (hy[k - 1] - hy[k])
        ex[kc] += exp(-0.5 * ((t0 - time_step) / spread) ** 2)
        # absorbing boundary conditions
        ex[0] = boundary_low.pop(0)
        boundary_low.append(ex[1])
        ex[ke - 1] = boundary_high.pop(0)
        boundary_high.append(ex[ke - 2])
        # magnetic field
        for k in range(ke - 1):
            hy[k] = hy[k] + 0.5 * (ex[k] - ex[k + 1])
        received.append(ex[-5])
    energy = 0.0
    for k in range(ke):
        energy += ex[k] ** 2 + hy[k] ** 2
    return energy + sum(r * r for r in received)


def inputs(size=None):
    n = size or 10
    rng = np.random.default_rng(0)
    epsilon = 1.5 + rng.random(n)
    sigma = 0.04 + 0.02 * rng.random(n)
    return epsilon, sigma, np.array([15.0, 6.0]), 130
