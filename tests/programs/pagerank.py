"""PageRank of a weighted graph by power iteration to convergence, dangling pages included."""

import numpy as np

ARGNUMS = (0, 1, 2)


def transition_matrix(W):
    """Columns of W normalised to sum to one; a page without links points everywhere."""
    n = W.shape[0]
    P = W.copy()
    for j in range(n):
        total = P[:, j].sum()
        if total > 0:
            P[:, j] /= total
        else:
            P[:, j] = 1.0 / n
    return P


def program(W, damping, teleport, preference, links):
    n = len(W)
    P = transition_matrix(W * links)
    v = teleport / np.sum(teleport)
    rank = np.ones(n) / n
    change = 1.0
    iterations = 0
    while change > 1e-10:
        previous = rank
        rank = damping * (P @ rank) + (1.0 - damping) * v
        rank /= rank.sum()
        change = np.abs(rank - previous).sum()
        iterations += 1
        if iterations >= 200:
            break
    return 10.0 * np.sum(preference * rank) + np.sum(rank * np.log(rank))


def inputs(size=None):
    n = 8 if size is None else size
    rng = np.random.default_rng(0)
    W = rng.uniform(0.2, 1.0, size=(n, n))
    W[:, 3] += 2.0
    W[2, :] += 1.0
    links = rng.random((n, n)) < 0.4
    links[:, 5] = False  # a page without links
    return W, 0.85, rng.uniform(0.5, 1.5, size=n), rng.normal(size=n), links
