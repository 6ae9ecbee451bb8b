"""Dynamic time warping of two series of vectors: the classical minimum and the soft minimum.

The classical one also walks the optimal path back and adds the length of detours.
"""

from itertools import pairwise

import numpy as np

ARGNUMS = (0, 1)


def distance_matrix(x, y):
    n, m = len(x), len(y)
    D = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            diff = x[i] - y[j]
            D[i, j] = np.dot(diff, diff)
    return D


def dtw(D, window=None):
    n, m = D.shape
    w = max(window or max(n, m), abs(n - m))
    R = np.full((n + 1, m + 1), np.inf)
    R[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(max(1, i - w), min(m, i + w) + 1):
            cost = D[i - 1, j - 1]
            R[i, j] = cost + min(R[i - 1, j], R[i, j - 1], R[i - 1, j - 1])
    # walk back
    path = [(n - 1, m - 1)]
    i, j = n, m
    while i > 1 or j > 1:
        choices = {
            (i - 1, j): R[i - 1, j],
            (i, j - 1): R[i, j - 1],
            (i - 1, j - 1): R[i - 1, j - 1],
        }
        i, j = min(choices, key=choices.get)
        path.append((i - 1, j - 1))
    path.reverse()
    return R[n, m], path


def softmin3(a, b, c, gamma):
    a /= -gamma
    b /= -gamma
    c /= -gamma
    largest = max(max(a, b), c)
    total = 0.0
    total += np.exp(a - largest)
    total += np.exp(b - largest)
    total += np.exp(c - largest)
    return -gamma * (np.log(total) + largest)


def soft_dtw(D, gamma):
    n, m = D.shape
    R = np.zeros((n + 2, m + 2)) + 1e10
    R[0, 0] = 0
    for j in range(1, m + 1):
        for i in range(1, n + 1):
            R[i, j] = D[i - 1, j - 1] + softmin3(R[i - 1, j], R[i - 1, j - 1], R[i, j - 1], gamma)
    return R[n, m]


def program(x, y, gamma):
    D = distance_matrix(x, y)
    hard, path = dtw(D, window=len(x))
    detours = 0.0
    for here, there in pairwise(path):
        if here[0] == there[0] or here[1] == there[1]:
            detours += D[there]
    return hard + 0.1 * detours + soft_dtw(D, gamma)


def inputs(size=None):
    n = size or 9
    rng = np.random.default_rng(0)
    x = np.cumsum(rng.standard_normal((n, 2)), axis=0)
    y = np.cumsum(rng.standard_normal((n + 2, 2)), axis=0)
    return x, y, 0.5
