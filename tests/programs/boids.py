"""A flock of birds and a hawk: neighbours are found anew in each step, and everybody steers.

Each bird flies towards the centre of its neighbours, as they do on average, and away from those too
near; the hawk is a bird that flies after the nearest one which isn't a hawk.
"""

import math

import numpy as np

ARGNUMS = (0, 1, 2)


class Vec:
    __slots__ = ("x", "y")

    def __init__(self, x=0.0, y=0.0):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)

    def __iadd__(self, other):
        self.x += other.x
        self.y += other.y
        return self

    def __sub__(self, other):
        return Vec(self.x - other.x, self.y - other.y)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __truediv__(self, k):
        return Vec(self.x / k, self.y / k)

    def length(self):
        return math.hypot(self.x, self.y)

    def limited(self, most):
        length = self.length()
        return self * (most / length) if length > most else self


class Bird:
    fastest = 2.0

    def __init__(self, position, velocity):
        self.position, self.velocity = position, velocity
        self.force = Vec()
        self.trail = []

    def neighbours(self, flock, radius):
        return [
            b for b in flock if b is not self and (b.position - self.position).length() < radius
        ]

    def steer(self, flock, weights):
        near = self.neighbours(flock, weights["radius"])
        if not near:
            return
        centre, heading, push = Vec(), Vec(), Vec()
        for b in near:
            centre += b.position
            heading += b.velocity
            gap = self.position - b.position
            if gap.length() < weights["crowd"]:
                push += gap / (gap.length() ** 2 + 0.01)
        n = len(near)
        self.force += weights["cohesion"] * (centre / n - self.position)
        self.force += weights["alignment"] * (heading / n - self.velocity)
        self.force += weights["separation"] * push

    def move(self, dt):
        self.velocity = (self.velocity + self.force * dt).limited(self.fastest)
        self.trail.append((self.position.x, self.position.y))
        self.position = self.position + self.velocity * dt
        self.force = Vec()


class Hawk(Bird):
    fastest = 3.0

    def steer(self, flock, weights):
        prey = min(
            (b for b in flock if not isinstance(b, Hawk)),
            key=lambda b: (b.position - self.position).length(),
        )
        self.force += (prey.position - self.position) * weights["hunger"]


def program(positions, velocities, behaviour, steps):
    flock = [Bird(Vec(*p), Vec(*v)) for p, v in zip(positions, velocities, strict=True)]
    flock.append(Hawk(Vec(2.0, 2.0), Vec()))
    names = ("cohesion", "alignment", "separation", "hunger")
    weights = {"radius": 1.5, "crowd": 0.6, **dict(zip(names, behaviour, strict=True))}
    for _ in range(steps):
        for bird in flock:
            bird.steer(flock, weights)
        for bird in flock:
            bird.move(0.1)
    places = np.array([[b.position.x, b.position.y] for b in flock])
    trails = np.array([b.trail for b in flock])
    spread = np.sum(np.var(places, axis=0)) + 0.1 * np.sum(trails[:, -1] ** 2)
    return spread + sum(b.velocity.length() for b in flock)


def inputs(size=None):
    rng = np.random.default_rng(0)
    n = 4 if size is None else size
    return rng.random((n, 2)) * 2, rng.normal(size=(n, 2)), np.array([0.5, 0.3, 0.2, 0.4]), 4
