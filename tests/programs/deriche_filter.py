"""Deriche's recursive edge filter on an image: two passes along rows, two along columns.

Written as in polybench, with scalar carries in the inner loops.
"""

import numpy as np

ARGNUMS = (0, 1)


def coefficients(alpha):
    k = (1.0 - np.exp(-alpha)) ** 2 / (1.0 + 2.0 * alpha * np.exp(-alpha) - np.exp(2.0 * alpha))
    a1 = a5 = k
    a2 = a6 = k * np.exp(-alpha) * (alpha - 1.0)
    a3 = a7 = k * np.exp(-alpha) * (alpha + 1.0)
    a4 = a8 = -k * np.exp(-2.0 * alpha)
    b1 = 2.0 ** (-alpha)
    b2 = -np.exp(-2.0 * alpha)
    return (a1, a2, a3, a4, a5, a6, a7, a8), (b1, b2)


def deriche(img, alpha):
    (a1, a2, a3, a4, a5, a6, a7, a8), (b1, b2) = coefficients(alpha)
    c1 = c2 = 1
    w, h = img.shape
    y1 = np.empty((w, h))
    y2 = np.empty((w, h))
    out = np.empty((w, h))

    for i in range(w):
        ym1 = 0.0
        ym2 = 0.0
        xm1 = 0.0
        for j in range(h):
            y1[i, j] = a1 * img[i, j] + a2 * xm1 + b1 * ym1 + b2 * ym2
            xm1 = img[i, j]
            ym2 = ym1
            ym1 = y1[i, j]

    for i in range(w):
        yp1 = yp2 = xp1 = xp2 = 0.0
        for j in range(h - 1, -1, -1):
            y2[i, j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
            xp2 = xp1
            xp1 = img[i, j]
            yp2 = yp1
            yp1 = y2[i, j]

    for i in range(w):
        for j in range(h):
            out[i, j] = c1 * (y1[i, j] + y2[i, j])

    for j in range(h):
        tm1 = ym1 = ym2 = 0.0
        for i in range(w):
            y1[i, j] = a5 * out[i, j] + a6 * tm1 + b1 * ym1 + b2 * ym2
            tm1 = out[i, j]
            ym2, ym1 = ym1, y1[i, j]

    for j in range(h):
        tp1 = tp2 = yp1 = yp2 = 0.0
        for i in range(w - 1, -1, -1):
            y2[i, j] = a7 * tp1 + a8 * tp2 + b1 * yp1 + b2 * yp2
            tp2, tp1 = tp1, out[i, j]
            yp2, yp1 = yp1, y2[i, j]

    for i in range(w):
        for j in range(h):
            out[i, j] = c2 * (y1[i, j] + y2[i, j])
    return out


def program(img, alpha):
    edges = deriche(img, alpha)
    return np.sum(edges**2) + np.sum(edges[::2, 1::2])


def inputs(size=None):
    n = size or 10
    rng = np.random.default_rng(0)
    return rng.random((n, n + 2)), 0.25
