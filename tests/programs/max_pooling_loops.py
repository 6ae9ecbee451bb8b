"""Max pooling with loops that remember where the maximum was, then unpooling at these places.

The pair as used in segmentation networks; returns the distance of the result to a target.
"""

import numpy as np

ARGNUMS = (0, 1)


def max_pool(x, size, stride):
    height, width = x.shape
    out_h = (height - size) // stride + 1
    out_w = (width - size) // stride + 1
    out = np.zeros((out_h, out_w))
    where = {}
    for i in range(out_h):
        for j in range(out_w):
            best = -np.inf
            for a in range(i * stride, i * stride + size):
                for b in range(j * stride, j * stride + size):
                    if x[a, b] > best:
                        best = x[a, b]
                        where[i, j] = (a, b)
            out[i, j] = best
    return out, where


def average_pool(x, size):
    height, width = x.shape
    out = np.zeros((height // size, width // size))
    for i in range(height // size):
        for j in range(width // size):
            out[i, j] = np.mean(x[i * size : (i + 1) * size, j * size : (j + 1) * size])
    return out


def unpool(y, where, shape):
    x = np.zeros(shape)
    for (i, j), (a, b) in where.items():
        x[a, b] += y[i, j]
    return x


def program(image, gain, target):
    pooled, where = max_pool(image, 3, 2)
    activated = np.tanh(gain * pooled)
    restored = unpool(activated, where, image.shape)
    coarse = average_pool(image, 2)
    # the largest of each row, as np.max gives it
    peaks = [row.max() for row in coarse]
    return np.sum((restored - target) ** 2) + sum(p * p for p in peaks) + pooled.mean()


def inputs(size=None):
    n = size or 11
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, n)), 0.8, rng.random((n, n))
