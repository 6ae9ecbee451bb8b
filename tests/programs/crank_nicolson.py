"""Crank-Nicolson for heat conduction with variable diffusivity and radiation at one end (a few
Newton steps per time step); work arrays are allocated once and reused."""

import numpy as np

ARGNUMS = (0, 1, 2)


class CrankNicolson:
    def __init__(self, diffusivity, dx, dt):
        n = len(diffusivity)
        self.r = 0.5 * dt / dx**2 * 0.5 * (diffusivity[1:] + diffusivity[:-1])
        self.lower = -self.r
        self.diagonal = np.ones(n)
        self.diagonal[:-1] += self.r
        self.diagonal[1:] += self.r
        self.work = np.zeros(n)
        self.rhs = np.zeros(n)
        self.dt = dt

    def explicit_half(self, u):
        self.rhs[:] = u
        flux = self.r * (u[1:] - u[:-1])
        self.rhs[:-1] += flux
        self.rhs[1:] -= flux

    def implicit_half(self, extra):
        """Thomas' algorithm; `extra` is added to the last diagonal entry."""
        n = len(self.rhs)
        d, b = self.rhs.copy(), self.work
        b[:] = self.diagonal
        b[-1] += extra
        for i in range(1, n):
            m = self.lower[i - 1] / b[i - 1]
            b[i] -= m * self.lower[i - 1]
            d[i] -= m * d[i - 1]
        d[-1] /= b[-1]
        for i in range(n - 2, -1, -1):
            d[i] -= self.lower[i] * d[i + 1]
            d[i] /= b[i]
        return d

    def step(self, u, emissivity):
        self.explicit_half(u)
        end = u[-1]
        for _ in range(3):
            # radiation -e T^4 linearised about the current guess of the end temperature
            slope = 4 * emissivity * end**3 * self.dt
            self.rhs[-1] += 3 * emissivity * end**4 * self.dt
            new = self.implicit_half(slope)
            self.rhs[-1] -= 3 * emissivity * end**4 * self.dt
            end = new[-1]
        u[:] = new


def program(u0, diffusivity, emissivity, steps):
    n = len(u0)
    solver = CrankNicolson(diffusivity, dx=1.0 / (n - 1), dt=0.02)
    u = np.array(u0)
    lost = 0.0
    for _ in range(steps):
        before = u.sum()
        solver.step(u, emissivity)
        lost += before - np.sum(u)
    return np.sum(np.linspace(0.5, 1.5, n) * u**2) + lost


def inputs(size=None):
    n = 10 if size is None else size
    rng = np.random.default_rng(0)
    return 1.0 + 0.5 * rng.random(n), 0.3 + 0.2 * rng.random(n), 0.8, 6
