"""Tell two half moons apart, with a network of two layers of tanh.

python examples/teaching/two_moons.py
"""

import numpy as np
from side_by_side import compare

from srcgrad import grad


def scores(W1, b1, W2, b2, w3, b3, x):
    h1 = np.tanh(x @ W1 + b1)
    h2 = np.tanh(h1 @ W2 + b2)
    return h2 @ w3 + b3


@grad(argnums=(0, 1, 2, 3, 4, 5))
def loss(W1, b1, W2, b2, w3, b3, x, y):
    """A hinge: labels are 1 and -1, and a margin of one costs nothing."""
    return np.mean(np.maximum(1 - y * scores(W1, b1, W2, b2, w3, b3, x), 0))


def backward(W1, b1, W2, b2, w3, b3, x, y):
    h1 = np.tanh(x @ W1 + b1)
    h2 = np.tanh(h1 @ W2 + b2)
    d_score = -y * (y * (h2 @ w3 + b3) < 1) / len(y)
    d_2 = np.outer(d_score, w3) * (1 - h2**2)
    d_1 = d_2 @ W2.T * (1 - h1**2)
    return x.T @ d_1, d_1.sum(axis=0), h1.T @ d_2, d_2.sum(axis=0), d_score @ h2, d_score.sum()


def moons(n, rng):
    """Points on two half circles that reach into each other, with labels 1 and -1."""
    angle = np.pi * rng.uniform(size=n)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    upper = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    lower = np.array([1.0, 0.5]) - upper
    return np.where(y[:, None] > 0, upper, lower) + 0.1 * rng.normal(size=(n, 2)), y


def main():
    rng = np.random.default_rng(0)
    x, y = moons(200, rng)
    test_x, test_y = moons(200, rng)
    parameters = [
        rng.normal(size=(2, 16)), np.zeros(16),
        rng.normal(size=(16, 16)) / 4, np.zeros(16),
        rng.normal(size=16) / 4, 0.0,
    ]  # fmt: skip
    compare(loss, backward, *parameters, x, y)

    for step in range(501):
        gradients = loss(*parameters, x, y)
        parameters = [p - 0.5 * g for p, g in zip(parameters, gradients, strict=True)]
        if step % 100 == 0:
            right = np.mean(scores(*parameters, test_x) * test_y > 0)
            print(f"step {step:3}: loss {loss.primal(*parameters, x, y):.4f}, right {right:.1%}")


if __name__ == "__main__":
    main()
