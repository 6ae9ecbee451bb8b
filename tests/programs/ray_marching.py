"""Sphere tracing of a small scene given by signed distance functions, pixel by pixel.

Rays march until they hit or leave; hits are polished along the ray, shaded with the normal from
finite differences of the distance, and attenuated by fog.
"""

import numpy as np

ARGNUMS = (0, 1, 2)
MAX_STEPS = 60
FAR = 12.0
HIT = 1e-4


def length(v):
    return np.sqrt(np.sum(v * v))


def normalize(v):
    return v / length(v)


def smooth_union(a, b, k=0.3):
    m = 0.5 + 0.5 * np.tanh((b - a) / k)
    return b * (1 - m) + a * m - k * 0.25 * m * (1 - m)


def make_scene(spheres, floor):
    def scene(p):
        d = length(p - spheres[0][:3]) - spheres[0][3]
        for sphere in spheres[1:]:
            d = smooth_union(d, length(p - sphere[:3]) - sphere[3])
        return smooth_union(d, p[1] - floor, 0.1)

    return scene


def march(scene, origin, direction):
    """The distance to the surface along a ray, or None."""
    t = 0.0
    for _ in range(MAX_STEPS):
        d = scene(origin + t * direction)
        if d < HIT:
            break
        t += 0.9 * d
        if t > FAR:
            return None
    else:
        return None
    # Newton steps along the ray, so that the hit does not depend on the path of the march
    for _ in range(3):
        p = origin + t * direction
        slope = np.dot(normal(scene, p), direction)
        t -= scene(p) / slope
    return t


def normal(scene, p, eps=1e-3):
    n = np.empty(3)
    for axis in range(3):
        offset = np.zeros(3)
        offset[axis] = eps
        n[axis] = (scene(p + offset) - scene(p - offset)) / (2 * eps)
    return n


def program(spheres, light, floor, resolution):
    scene = make_scene(spheres, floor)
    origin = np.array([0.0, 0.6, -4.0])
    light = normalize(light)
    image = np.zeros((resolution, resolution))
    for row in range(resolution):
        for column in range(resolution):
            x = (column + 0.5) / resolution - 0.5
            y = 0.5 - (row + 0.5) / resolution
            direction = normalize(np.array([x, y - 0.1, 1.0]))
            t = march(scene, origin, direction)
            if t is None:
                image[row, column] = 0.2 + 0.3 * y
                continue
            p = origin + t * direction
            brightness = np.dot(normalize(normal(scene, p)), light)
            image[row, column] = 0.1 + 0.9 * np.log1p(np.exp(4 * brightness)) / 4
            image[row, column] *= np.exp(-0.1 * t)
    rows = np.arange(1, resolution + 1)
    return float(rows @ image @ rows) / resolution**2 + np.sum(image**2)


def inputs(size=None):
    spheres = np.array([[0.0, 0.5, 0.2, 0.8], [0.9, 0.3, -0.4, 0.45]])
    return spheres, np.array([0.5, 1.0, -0.8]), -0.3, size or 4
