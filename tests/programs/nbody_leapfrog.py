"""Gravitational n-body problem with the kick-drift-kick leapfrog, pair loop, softened forces.

Returns the drift of the energy and a weighted sum of the final positions.
"""

import math

import numpy as np

ARGNUMS = (0, 1, 2)
G = 1.0
SOFTENING = 0.05


class Body:
    def __init__(self, mass, position, velocity):
        self.mass = mass
        self.position = position
        self.velocity = velocity
        self.acceleration = np.zeros(3)

    def kick(self, dt):
        self.velocity = self.velocity + dt * self.acceleration

    def drift(self, dt):
        self.position = self.position + dt * self.velocity

    @property
    def kinetic_energy(self):
        return 0.5 * self.mass * np.dot(self.velocity, self.velocity)


def compute_accelerations(bodies):
    for body in bodies:
        body.acceleration = np.zeros(3)
    for i, first in enumerate(bodies):
        for second in bodies[i + 1 :]:
            r = second.position - first.position
            distance = math.sqrt(r[0] ** 2 + r[1] ** 2 + r[2] ** 2 + SOFTENING**2)
            force = G * r / distance**3
            first.acceleration += second.mass * force
            second.acceleration -= first.mass * force


def potential_energy(bodies):
    energy = 0.0
    for i in range(len(bodies)):
        for j in range(i):
            r = bodies[i].position - bodies[j].position
            energy -= G * bodies[i].mass * bodies[j].mass / np.sqrt(r @ r + SOFTENING**2)
    return energy


def total_energy(bodies):
    return sum(b.kinetic_energy for b in bodies) + potential_energy(bodies)


def program(masses, positions, velocities, dt, steps):
    bodies = [
        Body(m, x.copy(), v.copy()) for m, x, v in zip(masses, positions, velocities, strict=True)
    ]
    start = total_energy(bodies)
    compute_accelerations(bodies)
    for _ in range(steps):
        for body in bodies:
            body.kick(dt / 2)
            body.drift(dt)
        compute_accelerations(bodies)
        for body in bodies:
            body.kick(dt / 2)
    drift = total_energy(bodies) - start
    spread = 0.0
    for k, body in enumerate(bodies):
        spread += (k + 1) * np.sum(body.position**2) + np.sum(body.velocity) * body.mass
    return spread + 10 * drift**2


def inputs(size=None):
    n = size or 5
    rng = np.random.default_rng(0)
    masses = 0.5 + rng.random(n)
    return masses, rng.standard_normal((n, 3)), 0.5 * rng.standard_normal((n, 3)), 0.02, 15
