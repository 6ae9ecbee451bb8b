"""The matrix exponential by scaling and squaring with a Padé approximant (Higham, 2005).

The degree and the number of squarings depend on the norm. Used for the transition probabilities
of a continuous-time Markov chain observed at irregular times.
"""

import math

import numpy as np

ARGNUMS = (0, 1)

THETA = {3: 1.5e-2, 5: 2.5e-1, 7: 9.5e-1, 9: 2.1}
COEFFICIENTS = {
    3: (120, 60, 12, 1),
    5: (30240, 15120, 3360, 420, 30, 1),
    7: (17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1),
    9: (
        17643225600,
        8821612800,
        2075673600,
        302702400,
        30270240,
        2162160,
        110880,
        3960,
        90,
        1,
    ),
}


def pade(A, degree):
    b = COEFFICIENTS[degree]
    identity = np.eye(A.shape[0])
    A2 = A @ A
    power = identity
    odd = b[1] * identity
    even = b[0] * identity
    for k in range(2, degree, 2):
        power = power @ A2
        even = even + b[k] * power
        odd = odd + b[k + 1] * power
    U = A @ odd
    return np.linalg.solve(even - U, even + U)


def expm(A):
    norm = np.max(np.sum(np.abs(A), axis=0))
    for degree, theta in THETA.items():
        if norm <= theta:
            return pade(A, degree)
    squarings = max(0, math.ceil(math.log2(norm / THETA[9])))
    X = pade(A / 2**squarings, 9)
    for _ in range(squarings):
        X = X @ X
    return X


def program(log_rates, times, states):
    n = log_rates.shape[0]
    Q = np.exp(log_rates)
    Q[np.diag_indices(n)] = 0.0
    for i in range(n):
        Q[i, i] = -Q[i].sum()
    log_likelihood = 0.0
    for time, before, after in zip(times, states[:-1], states[1:], strict=True):
        P = expm(time * Q)
        log_likelihood += np.log(P[before, after])
    stationary = expm(40.0 * Q)[0]
    return -log_likelihood + np.sum(stationary**2)


def inputs(size=None):
    n = size or 4
    rng = np.random.default_rng(0)
    times = np.array([0.02, 0.05, 0.1, 0.3, 0.5, 0.9])
    states = rng.integers(0, n, len(times) + 1).tolist()
    return 0.5 * rng.standard_normal((n, n)), times, states
