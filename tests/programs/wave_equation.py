"""The wave equation in one dimension by leapfrog with three buffers that are swapped, a source, an
absorbing right end and receivers; the result compares the seismogram with observations."""

import numpy as np

ARGNUMS = (0, 1)


def ricker(t, peak=0.15, width=0.05):
    a = ((t - peak) / width) ** 2
    return (1 - 2 * a) * np.exp(-a)


def program(velocity, amplitude, observed, receivers):
    n = len(velocity)
    steps = observed.shape[0]
    dx = 1.0 / n
    dt = 0.4 * dx
    u_prev = np.zeros(n)
    u = np.zeros(n)
    u_next = np.zeros(n)
    record = np.zeros((steps, len(receivers)))
    courant2 = (velocity * dt / dx) ** 2
    for step in range(steps):
        u_next[1:-1] = 2 * u[1:-1] - u_prev[1:-1]
        u_next[1:-1] += courant2[1:-1] * (u[2:] - 2 * u[1:-1] + u[:-2])
        u_next[n // 4] += dt**2 * 100.0 * amplitude * ricker(step * dt)
        # reflecting on the left, first-order absorbing on the right
        u_next[0] = 0.0
        c = velocity[-1] * dt / dx
        u_next[-1] = u[-2] + (c - 1) / (c + 1) * (u_next[-2] - u[-1])
        record[step] = u_next[receivers]
        u_prev, u, u_next = u, u_next, u_prev
    misfit = np.sum((record - observed) ** 2)
    remaining = np.sum((u - u_prev) ** 2) / dt**2
    return misfit + 1e-4 * remaining


def inputs(size=None):
    n = 24 if size is None else size
    rng = np.random.default_rng(0)
    velocity = 1.0 + 0.2 * rng.random(n)
    receivers = [n // 2, 3 * n // 4]
    return velocity, 1.3, 0.1 * rng.normal(size=(2 * n, 2)), receivers
