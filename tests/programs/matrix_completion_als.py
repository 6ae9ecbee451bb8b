"""Matrix completion by alternating least squares over the known entries; the loss is the error on
held-out entries as a function of the ratings, the starting factors and the penalty."""

import numpy as np

ARGNUMS = (0, 1, 2)


def solve_side(ratings, mask, fixed, penalty):
    """The best row factors when the column factors are fixed."""
    n, k = ratings.shape[0], fixed.shape[1]
    factors = np.zeros((n, k))
    for i in range(n):
        known = np.flatnonzero(mask[i])
        if known.size == 0:
            continue
        F = fixed[known]
        A = F.T @ F + penalty * len(known) * np.eye(k)
        factors[i] = np.linalg.solve(A, F.T @ ratings[i, known])
    return factors


def program(ratings, V0, penalty, mask, held_out, iterations):
    mean = ratings[mask].mean()
    R = ratings - mean
    R[~mask] = 0.0
    V = V0
    for _ in range(iterations):
        U = solve_side(R, mask, V, penalty)
        V = solve_side(R.T, mask.T, U, penalty)
    prediction = U @ V.T + mean
    error = 0.0
    for i, j in held_out:
        error += (prediction[i, j] - ratings[i, j]) ** 2
    fit = np.sum(np.where(mask, prediction - ratings, 0.0) ** 2)
    return error / len(held_out) + 0.1 * fit


def inputs(size=None):
    n = 9 if size is None else size
    m, k = 7, 2
    rng = np.random.default_rng(0)
    ratings = rng.normal(size=(n, k)) @ rng.normal(size=(k, m)) + 3.0
    ratings += 0.2 * rng.normal(size=(n, m))
    mask = rng.random((n, m)) < 0.6
    mask[4] = False  # a user without ratings
    held_out = [(int(i), int(j)) for i, j in np.argwhere(~mask)[::2]]
    return ratings, rng.normal(size=(m, k)), 0.1, mask, held_out, 3
