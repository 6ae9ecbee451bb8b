"""Optical flow after Horn and Schunck: a pyramid of two images, warping, and Jacobi iterations."""

import numpy as np

ARGNUMS = (0, 1, 2)


def blur(image):
    kernel = np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16
    padded = np.pad(image, 2, mode="edge")
    rows = sum(k * padded[:, i : i + image.shape[1]] for i, k in enumerate(kernel))
    return sum(k * rows[i : i + image.shape[0]] for i, k in enumerate(kernel))


def average(u):
    p = np.pad(u, 1, mode="edge")
    near = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
    far = p[:-2, :-2] + p[:-2, 2:] + p[2:, :-2] + p[2:, 2:]
    return near / 6 + far / 12


def warp(image, u, v):
    h, w = image.shape
    y, x = np.mgrid[0:h, 0:w].astype(float)
    xs, ys = np.clip(x + u, 0, w - 1.001), np.clip(y + v, 0, h - 1.001)
    x0, y0 = np.floor(xs).astype(int), np.floor(ys).astype(int)
    fx, fy = xs - x0, ys - y0
    return (
        image[y0, x0] * (1 - fx) * (1 - fy)
        + image[y0, x0 + 1] * fx * (1 - fy)
        + image[y0 + 1, x0] * (1 - fx) * fy
        + image[y0 + 1, x0 + 1] * fx * fy
    )


def flow_level(first, second, u, v, alpha, iterations):
    warped = warp(second, u, v)
    iy, ix = np.gradient(0.5 * (first + warped))
    it = warped - first
    du, dv = np.zeros_like(u), np.zeros_like(v)
    for _ in range(iterations):
        ubar, vbar = average(u + du) - u, average(v + dv) - v
        slope = (ix * ubar + iy * vbar + it) / (alpha**2 + ix**2 + iy**2)
        du = ubar - ix * slope
        dv = vbar - iy * slope
    return u + du, v + dv


def program(first, second, alpha, levels, iterations):
    pyramid = [(blur(first), blur(second))]
    for _ in range(levels - 1):
        a, b = pyramid[-1]
        pyramid.append((blur(a)[::2, ::2], blur(b)[::2, ::2]))
    u = v = None
    for a, b in reversed(pyramid):
        if u is None:
            u, v = np.zeros(a.shape), np.zeros(a.shape)
        else:
            u, v = (2 * np.kron(w, np.ones((2, 2)))[: a.shape[0], : a.shape[1]] for w in (u, v))
        u, v = flow_level(a, b, u, v, alpha, iterations)
    return np.mean(u**2 + v**2) + np.mean((warp(second, u, v) - first) ** 2)


def inputs(size=None):
    n = size or 8
    y, x = np.mgrid[0:n, 0:n] / n
    first = np.sin(5 * x + 1) * np.cos(4 * y) + 0.3 * x
    second = np.sin(5 * (x - 0.05) + 1) * np.cos(4 * (y - 0.03)) + 0.3 * x
    return first, second, 0.3, 2, 5
