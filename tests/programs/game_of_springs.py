"""Particles joined by springs, as objects: forces accumulate on the particles, which bounce off
the floor; the game is to throw the net so that it lands at a target."""

import numpy as np

ARGNUMS = (0, 1, 2, 3)

GRAVITY = np.array([0.0, -9.81])


class Particle:
    def __init__(self, position, velocity, mass=1.0, pinned=False):
        self.position = position
        self.velocity = velocity
        self.mass = mass
        self.pinned = pinned
        self.force = np.zeros(2)

    def kinetic(self):
        return 0.5 * self.mass * self.velocity.dot(self.velocity)


class Spring:
    def __init__(self, a, b, stiffness, damping):
        self.a, self.b = a, b
        self.stiffness, self.damping = stiffness, damping
        self.rest = self.current_length()

    def current_length(self):
        d = self.b.position - self.a.position
        return np.sqrt(np.sum(d**2))

    def pull(self):
        d = self.b.position - self.a.position
        length = self.current_length()
        n = d / length
        speed = np.dot(self.b.velocity - self.a.velocity, n)
        f = (self.stiffness * (length - self.rest) + self.damping * speed) * n
        self.a.force += f
        self.b.force -= f


class World:
    def __init__(self, particles, springs, bounce):
        self.particles = particles
        self.springs = springs
        self.bounce = bounce
        self.time = 0.0

    def step(self, dt):
        for p in self.particles:
            p.force = p.mass * GRAVITY
        for s in self.springs:
            s.pull()
        for p in self.particles:
            if p.pinned:
                continue
            p.velocity = p.velocity + dt * p.force / p.mass
            p.position = p.position + dt * p.velocity
            if p.position[1] < 0.0 and p.velocity[1] < 0.0:
                p.position[1] *= -self.bounce
                p.velocity[1] *= -self.bounce
        self.time += dt


def program(positions, velocity, stiffness, bounce, steps):
    particles = [Particle(x.copy(), velocity.copy()) for x in positions]
    particles[0].mass = 2.0
    springs = []
    for i, p in enumerate(particles):
        for q in particles[:i]:
            springs.append(Spring(q, p, stiffness, damping=0.4))
    world = World(particles, springs, bounce)
    for k in range(steps):
        particles[2].pinned = k < 4  # the hand lets go
        world.step(0.02)
    target = np.array([1.5, 0.5])
    miss = sum(np.sum((p.position - target) ** 2) for p in world.particles)
    return miss + 0.01 * sum(p.kinetic() for p in world.particles)


def inputs(size=None):
    steps = 25 if size is None else size
    rng = np.random.default_rng(0)
    positions = np.array([[0.0, 0.9], [0.4, 1.0], [0.1, 1.5]]) + 0.1 * rng.normal(size=(3, 2))
    return positions, np.array([2.0, -1.0]), 30.0, 0.7, steps
