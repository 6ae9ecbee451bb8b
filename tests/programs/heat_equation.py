"""Explicit finite differences for the heat equation in a rod, conductivity depending on heat.

The rod is heated at the left end by a time-dependent flux; the misfit to measurements at a few
sensors is returned, as in an inverse problem.
"""

import numpy as np

ARGNUMS = (0, 1, 2)


class Rod:
    def __init__(self, temperature, length=1.0):
        self.T = temperature.copy()
        self.n = len(temperature)
        self.dx = length / (self.n - 1)
        self.time = 0.0
        self.history = []

    def conductivity(self, T, a, b):
        return a + b * T**2

    def advance(self, dt, flux, a, b):
        T = self.T
        k = self.conductivity(0.5 * (T[1:] + T[:-1]), a, b)
        q = -k * (T[1:] - T[:-1]) / self.dx
        T[1:-1] -= dt / self.dx * (q[1:] - q[:-1])
        T[0] += 2 * dt / self.dx * (flux - q[0])
        T[-1] = T[-2]
        self.time += dt

    def measure(self, sensors):
        self.history.append([self.T[s] for s in sensors])


def program(initial, flux, k, sensors, measured):
    rod = Rod(initial)
    dt = 0.2 * rod.dx**2
    a, b = k
    for step, q in enumerate(flux):
        for _ in range(4):
            rod.advance(dt, q, a, b)
        if (step + 1) % 5 == 0:
            rod.measure(sensors)
    misfit = 0.0
    for model, data in zip(rod.history, measured, strict=False):
        for t, d in zip(model, data, strict=True):
            misfit += (t - d) ** 2
    return misfit / len(rod.history) + 1e-3 * np.sum(rod.T**2)


def inputs(size=None):
    n = size or 21
    rng = np.random.default_rng(0)
    initial = np.exp(-10 * (np.linspace(0, 1, n) - 0.4) ** 2)
    flux = 2.0 + rng.random(30)
    k = np.array([1.0, 0.3])
    sensors = [n // 4, n // 2, 3 * n // 4]
    measured = rng.random((6, 3))
    return initial, flux, k, sensors, measured
