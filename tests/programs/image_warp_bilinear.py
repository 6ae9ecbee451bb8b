"""Warps an image by an affine map plus a swirl with bilinear interpolation, pixel by pixel, and
compares it with a template."""

import numpy as np

ARGNUMS = (0, 1, 2)


def swirl(x, y, strength, cx, cy):
    dx, dy = x - cx, y - cy
    angle = strength * np.exp(-(dx * dx + dy * dy) / 20.0)
    c, s = np.cos(angle), np.sin(angle)
    return cx + c * dx - s * dy, cy + s * dx + c * dy


def bilinear(image, x, y):
    height, width = image.shape
    x0, y0 = int(np.floor(x)), int(np.floor(y))
    if x0 < 0 or y0 < 0 or x0 >= width - 1 or y0 >= height - 1:
        return None
    fx, fy = x - x0, y - y0
    top = (1 - fx) * image[y0, x0] + fx * image[y0, x0 + 1]
    bottom = (1 - fx) * image[y0 + 1, x0] + fx * image[y0 + 1, x0 + 1]
    return (1 - fy) * top + fy * bottom


def warp(image, matrix, strength):
    height, width = image.shape
    out = np.zeros_like(image)
    for row in range(height):
        for col in range(width):
            x = matrix[0, 0] * col + matrix[0, 1] * row + matrix[0, 2]
            y = matrix[1, 0] * col + matrix[1, 1] * row + matrix[1, 2]
            x, y = swirl(x, y, strength, (width - 1) / 2, (height - 1) / 2)
            value = bilinear(image, x, y)
            if value is None:
                continue
            out[row, col] = value
    return out


def program(image, matrix, strength, template):
    difference = warp(image, matrix, strength) - template
    return 0.5 * np.sum(difference * difference)


def inputs(size=None):
    n = 9 if size is None else size
    rng = np.random.default_rng(0)
    image = rng.random((n, n + 2))
    matrix = np.array([[0.97, 0.11, 0.43], [-0.08, 1.04, 0.37]])
    return image, matrix, 0.31, rng.random((n, n + 2))
