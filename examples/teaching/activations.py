"""The activations of the courses, each with its derivative as the course derives it.

    python examples/teaching/activations.py

A course's backward takes the gradient of the output, `d_out`; so each function here is the sum of
the activation times `d_out`, whose gradient by `x` is that backward.
"""

import numpy as np
from side_by_side import compare

from srcgrad import grad


@grad
def identity(x, d_out):
    return np.sum(d_out * x)


def identity_backward(x, d_out):
    return d_out


@grad
def sigmoid(x, d_out):
    return np.sum(d_out * (1 / (1 + np.exp(-x))))


def sigmoid_backward(x, d_out):
    s = 1 / (1 + np.exp(-x))
    return d_out * s * (1 - s)


@grad
def tanh(x, d_out):
    return np.sum(d_out * np.tanh(x))


def tanh_backward(x, d_out):
    return d_out * (1 - np.tanh(x) ** 2)


@grad
def relu(x, d_out):
    return np.sum(d_out * np.maximum(x, 0))


def relu_backward(x, d_out):
    return d_out * (x > 0)


@grad
def gelu(x, d_out):
    t = np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))
    return np.sum(d_out * (0.5 * x * (1 + t)))


def gelu_backward(x, d_out):
    t = np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))
    slope = np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * x**2)
    return d_out * (0.5 * (1 + t) + 0.5 * x * (1 - t**2) * slope)


@grad
def softmax(x, d_out):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return np.sum(d_out * (e / np.sum(e, axis=-1, keepdims=True)))


def softmax_backward(x, d_out):
    e = np.exp(x)
    p = e / e.sum(axis=-1, keepdims=True)
    return p * (d_out - (d_out * p).sum(axis=-1, keepdims=True))


def main():
    rng = np.random.default_rng(0)
    x, d_out = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    compare(identity, identity_backward, x, d_out)
    compare(sigmoid, sigmoid_backward, x, d_out)
    compare(tanh, tanh_backward, x, d_out)
    compare(relu, relu_backward, x, d_out)
    compare(gelu, gelu_backward, x, d_out)
    compare(softmax, softmax_backward, x, d_out)


if __name__ == "__main__":
    main()
