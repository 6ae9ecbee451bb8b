"""Linear, ReLU, Linear, Sigmoid: the network of the operation list, learning XOR.

python examples/teaching/operation_list_mlp.py
"""

import numpy as np
from side_by_side import compare

from srcgrad import grad


def network(x, W1, b1, W2, b2):
    hidden = np.maximum(x @ W1.T + b1, 0)
    return 1 / (1 + np.exp(-(hidden @ W2.T + b2)))


@grad(argnums=("W1", "b1", "W2", "b2"))
def loss(W1, b1, W2, b2, x, y):
    return np.mean((network(x, W1, b1, W2, b2) - y) ** 2)


def backward(W1, b1, W2, b2, x, y):
    """Layer by layer, from the loss back, as the course does it."""
    before = x @ W1.T + b1
    hidden = np.maximum(before, 0)
    out = 1 / (1 + np.exp(-(hidden @ W2.T + b2)))

    d_out = 2 * (out - y) / out.size  # MSELoss
    d_logits = d_out * out * (1 - out)  # Sigmoid
    d_W2 = d_logits.T @ hidden  # Linear
    d_b2 = d_logits.sum(axis=0, keepdims=True)
    d_hidden = d_logits @ W2
    d_before = d_hidden * (before > 0)  # ReLU
    d_W1 = d_before.T @ x  # Linear
    d_b1 = d_before.sum(axis=0, keepdims=True)
    return d_W1, d_b1, d_W2, d_b2


def main():
    x = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = np.array([[0.0], [1.0], [1.0], [0.0]])
    rng = np.random.default_rng(3)
    parameters = [rng.uniform(-0.7, 0.7, shape) for shape in ((8, 2), (1, 8), (1, 8), (1, 1))]
    compare(loss, backward, *parameters, x, y)

    for _ in range(3000):
        gradients = loss(*parameters, x, y)
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter -= 1.0 * gradient
    print(f"after 3000 steps, the loss is {loss.primal(*parameters, x, y):.5f}")
    print(f"XOR: {np.round(network(x, *parameters)[:, 0], 2)}")


if __name__ == "__main__":
    main()
