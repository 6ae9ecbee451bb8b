"""Gravitational potential of particles in the plane by a Barnes-Hut quadtree: nodes are objects
that hold their total mass and centre, built by insertion and summed recursively."""

import numpy as np

ARGNUMS = (0, 1, 2)


class Node:
    def __init__(self, corner, width):
        self.corner = corner
        self.width = width
        self.mass = 0.0
        self.center = np.zeros(2)
        self.body = None
        self.children = None

    def quadrant(self, position):
        half = self.width / 2
        right = position[0] >= self.corner[0] + half
        upper = position[1] >= self.corner[1] + half
        return 2 * int(upper) + int(right)

    def split(self):
        half = self.width / 2
        x, y = self.corner
        self.children = [Node((x + i * half, y + j * half), half) for j in (0, 1) for i in (0, 1)]

    def insert(self, position, mass):
        if self.children is None and self.body is None:
            self.body = (position, mass)
        else:
            if self.children is None:
                self.split()
                old_position, old_mass = self.body
                self.body = None
                self.children[self.quadrant(old_position)].insert(old_position, old_mass)
            self.children[self.quadrant(position)].insert(position, mass)
        total = self.mass + mass
        self.center = (self.mass * self.center + mass * position) / total
        self.mass = total

    def potential(self, position, theta, softening):
        if self.mass == 0.0:
            return 0.0
        offset = self.center - position
        distance = np.sqrt(offset @ offset + softening**2)
        if self.children is None or self.width < theta * distance:
            return -self.mass / distance
        return sum(child.potential(position, theta, softening) for child in self.children)


def program(positions, masses, softening, theta):
    root = Node((0.0, 0.0), 1.0)
    for p, m in zip(positions, masses, strict=True):
        root.insert(p, m)
    energy = 0.0
    for p, m in zip(positions, masses, strict=True):
        energy += 0.5 * m * root.potential(p, theta, softening)
    return energy + np.sum(root.center**2)


def inputs(size=None):
    n = 12 if size is None else size
    rng = np.random.default_rng(0)
    return rng.random((n, 2)), rng.uniform(0.5, 1.5, size=n), 0.1, 0.7
