"""The losses of the courses, each with its derivative as the course derives it.

python examples/teaching/losses.py
"""

import numpy as np
from side_by_side import compare

from srcgrad import grad


@grad
def mse(predicted, y):
    """Mean squared error."""
    return np.mean((predicted - y) ** 2)


def mse_backward(predicted, y):
    return 2 * (predicted - y) / predicted.size


@grad
def bce(p, y):
    """Binary cross-entropy of the probabilities `p`."""
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def bce_backward(p, y):
    return (p - y) / (p * (1 - p)) / p.size


@grad
def cross_entropy(logits, y):
    """Softmax cross-entropy; `y` holds probabilities, one row for each row of logits."""
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_p = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.sum(y * log_p) / len(logits)


@grad
def cross_entropy_of_labels(logits, labels):
    """The same, of whole-number labels."""
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_p = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(labels)), labels])


def cross_entropy_backward(logits, y):
    e = np.exp(logits)
    softmax = e / e.sum(axis=1, keepdims=True)
    return (softmax - y) / len(logits)


def cross_entropy_of_labels_backward(logits, labels):
    return cross_entropy_backward(logits, np.eye(logits.shape[1])[labels])


def main():
    rng = np.random.default_rng(0)
    predicted, y = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    labels = np.array([0, 2, 1, 1])
    compare(mse, mse_backward, predicted, y)
    compare(bce, bce_backward, rng.uniform(0.1, 0.9, 5), np.array([0.0, 1, 1, 0, 1]))
    compare(cross_entropy, cross_entropy_backward, predicted, np.eye(3)[labels])
    compare(cross_entropy_of_labels, cross_entropy_of_labels_backward, predicted, labels)


if __name__ == "__main__":
    main()
