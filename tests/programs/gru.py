"""A gated recurrent unit as a class with state, unrolled over a batch of sequences.

The parameters are a dataclass; the last state is read out linearly for regression.
"""

from dataclasses import dataclass

import numpy as np

ARGNUMS = (0, 1)


@dataclass
class Parameters:
    Wz: np.ndarray
    Uz: np.ndarray
    bz: np.ndarray
    Wr: np.ndarray
    Ur: np.ndarray
    br: np.ndarray
    Wh: np.ndarray
    Uh: np.ndarray
    bh: np.ndarray
    out: np.ndarray


def sigmoid(x):
    return 0.5 * (np.tanh(0.5 * x) + 1)


class GRU:
    def __init__(self, parameters, batch):
        self.p = parameters
        self.h = np.zeros((batch, parameters.Uz.shape[0]))

    def __call__(self, x):
        p, h = self.p, self.h
        z = sigmoid(x @ p.Wz + h @ p.Uz + p.bz)
        r = sigmoid(x @ p.Wr + h @ p.Ur + p.br)
        candidate = np.tanh(x @ p.Wh + (r * h) @ p.Uh + p.bh)
        self.h = (1 - z) * h + z * candidate
        return self.h

    def reset(self):
        self.h = np.zeros_like(self.h)


def program(parameters, sequences, targets):
    batch, length, _ = sequences.shape
    cell = GRU(parameters, batch)
    activity = 0.0
    for t in range(length):
        h = cell(sequences[:, t, :])
        activity += np.mean(h**2)
    prediction = cell.h @ parameters.out
    loss = np.mean((prediction - targets) ** 2) + 0.01 * activity
    # once more, backwards in time
    cell.reset()
    for t in reversed(range(length)):
        cell(sequences[:, t, :])
    return loss + np.mean((cell.h @ parameters.out - targets) ** 2)


def inputs(size=None):
    length = size or 7
    batch, features, hidden = 4, 3, 5
    rng = np.random.default_rng(0)
    arrays = []
    for _ in range(3):
        arrays.append(rng.standard_normal((features, hidden)) / np.sqrt(features))
        arrays.append(rng.standard_normal((hidden, hidden)) / np.sqrt(hidden))
        arrays.append(0.1 * rng.standard_normal(hidden))
    parameters = Parameters(*arrays, out=rng.standard_normal(hidden))
    return parameters, rng.standard_normal((batch, length, features)), rng.standard_normal(batch)
