"""2-D finite-difference time-domain simulation (TM mode) with slices and a perfect conductor.

In-place updates of the fields; material as arrays; a line of detectors records the signal.
"""

import numpy as np

ARGNUMS = (0, 1)


class Grid:
    def __init__(self, permittivity, conductivity, courant=0.5):
        self.shape = permittivity.shape
        self.ez = np.zeros(self.shape)
        self.hx = np.zeros((self.shape[0], self.shape[1] - 1))
        self.hy = np.zeros((self.shape[0] - 1, self.shape[1]))
        loss = 0.5 * conductivity / permittivity
        self.keep = (1 - loss) / (1 + loss)
        self.gain = courant / (permittivity * (1 + loss))
        self.courant = courant
        self.time_step = 0
        self.detectors = []

    def update_h(self):
        self.hx -= self.courant * (self.ez[:, 1:] - self.ez[:, :-1])
        self.hy += self.courant * (self.ez[1:, :] - self.ez[:-1, :])

    def update_e(self):
        inner = self.ez[1:-1, 1:-1]
        inner *= self.keep[1:-1, 1:-1]
        inner += self.gain[1:-1, 1:-1] * (
            self.hy[1:, 1:-1] - self.hy[:-1, 1:-1] - self.hx[1:-1, 1:] + self.hx[1:-1, :-1]
        )

    def source(self, row, column, frequency):
        phase = 2 * np.pi * frequency * self.time_step
        self.ez[row, column] += np.sin(phase) * np.exp(-((self.time_step - 8) ** 2) / 40)

    def run(self, steps, row, column, frequency):
        while self.time_step < steps:
            self.update_h()
            self.update_e()
            self.source(row, column, frequency)
            self.detectors.append(self.ez[-3, 2:-2].copy())
            self.time_step += 1


def program(permittivity, frequency, conductivity, steps):
    grid = Grid(permittivity, conductivity)
    rows, columns = grid.shape
    grid.run(steps, rows // 4, columns // 2, frequency)
    signal = np.array(grid.detectors)
    stored = 0.5 * np.sum(permittivity * grid.ez**2) + 0.5 * np.sum(grid.hx**2)
    return np.sum(signal**2) + stored + 0.5 * np.sum(grid.hy**2)


def inputs(size=None):
    n = size or 14
    rng = np.random.default_rng(0)
    permittivity = 1 + 0.5 * rng.random((n, n))
    conductivity = np.zeros((n, n))
    conductivity[: n // 3] = 0.02
    return permittivity, 0.06, conductivity, 30
