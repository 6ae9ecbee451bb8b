"""The Lorenz system with its state in a dataclass that has arithmetic, integrated with RK4; the
result compares the orbit with observations of two of its coordinates."""

from dataclasses import dataclass

import numpy as np

ARGNUMS = (0, 1)


@dataclass
class State:
    x: float
    y: float
    z: float

    def __add__(self, other):
        return State(self.x + other.x, self.y + other.y, self.z + other.z)

    def __mul__(self, factor):
        return State(self.x * factor, self.y * factor, self.z * factor)

    __rmul__ = __mul__

    @property
    def energy(self):
        return 0.5 * (self.x**2 + self.y**2 + self.z**2)


@dataclass(frozen=True)
class Parameters:
    sigma: float = 10.0
    rho: float = 28.0
    beta: float = 8.0 / 3.0

    def rates(self, s: State) -> State:
        return State(
            x=self.sigma * (s.y - s.x),
            y=s.x * (self.rho - s.z) - s.y,
            z=s.x * s.y - self.beta * s.z,
        )


def rk4(f, s, dt):
    k1 = f(s)
    k2 = f(s + 0.5 * dt * k1)
    k3 = f(s + 0.5 * dt * k2)
    k4 = f(s + dt * k3)
    return s + (dt / 6) * (k1 + 2 * k2 + 2 * k3 + k4)


def program(initial, parameters, observed, dt):
    state = initial
    cost = 0.0
    highest = 0.0
    for x, z in observed:
        for _ in range(3):
            state = rk4(parameters.rates, state, dt)
        cost += (state.x - x) ** 2 + 0.5 * (state.z - z) ** 2
        if state.energy > highest:
            highest = state.energy
    return cost / len(observed) + 1e-2 * highest


def inputs(size=None):
    n = 6 if size is None else size
    rng = np.random.default_rng(0)
    observed = np.column_stack([8.0 * rng.normal(size=n), 20.0 + 5.0 * rng.normal(size=n)])
    return State(1.0, 1.5, 14.0), Parameters(), observed, 0.01
