"""The Rosenbrock function as an element loop writing its terms, in the textbook way."""

import numpy as np


def program(x):
    n = len(x)
    terms = np.zeros(n - 1)
    for i in range(n - 1):
        valley = x[i + 1] - x[i] ** 2
        distance = 1 - x[i]
        terms[i] = 100.0 * valley**2 + distance**2
    total = 0.0
    for term in terms:
        total += term
    return total


def inputs(size=None):
    n = 10 if size is None else size
    rng = np.random.default_rng(0)
    return (1.0 + 0.3 * rng.normal(size=n),)
