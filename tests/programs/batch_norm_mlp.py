"""A small network of layer objects with batch normalisation: mini-batches go through in training
mode, updating the running statistics, which the evaluation at the end uses."""

import numpy as np

ARGNUMS = (0, 1, 2)


class Dense:
    def __init__(self, W, b):
        self.W = W
        self.b = b

    def forward(self, x, training):
        return x @ self.W + self.b


class BatchNorm:
    def __init__(self, n, momentum=0.8, eps=1e-5):
        self.gamma = np.ones(n)
        self.beta = np.zeros(n)
        self.running_mean = np.zeros(n)
        self.running_var = np.ones(n)
        self.momentum = momentum
        self.eps = eps

    def forward(self, x, training):
        if training:
            mean = x.mean(axis=0)
            var = x.var(axis=0)
            self.running_mean *= self.momentum
            self.running_mean += (1 - self.momentum) * mean
            self.running_var = self.momentum * self.running_var + (1 - self.momentum) * var
        else:
            mean, var = self.running_mean, self.running_var
        x_hat = (x - mean) / np.sqrt(var + self.eps)
        return self.gamma * x_hat + self.beta


class Swish:
    def forward(self, x, training):
        return x / (1.0 + np.exp(-x))


class Network:
    def __init__(self, *layers):
        self.layers = layers

    def __call__(self, x, training=True):
        for layer in self.layers:
            x = layer.forward(x, training)
        return x


def mse(prediction, target):
    return ((prediction - target) ** 2).mean()


def program(weights, biases, gammas, X, Y, batch_size):
    norms = []
    layers = []
    for W, b in zip(weights[:-1], biases[:-1], strict=True):
        norm = BatchNorm(W.shape[1])
        norm.gamma = gammas[len(norms)]
        norms.append(norm)
        layers += [Dense(W, b), norm, Swish()]
    layers.append(Dense(weights[-1], biases[-1]))
    network = Network(*layers)
    loss = 0.0
    for start in range(0, len(X), batch_size):
        batch = slice(start, start + batch_size)
        loss += mse(network(X[batch]), Y[batch])
    evaluation = mse(network(X, training=False), Y)
    return loss + 2.0 * evaluation + 0.01 * sum(np.sum(n.running_var) for n in norms)


def inputs(size=None):
    n = 18 if size is None else size
    rng = np.random.default_rng(0)
    sizes = [3, 6, 5, 2]
    weights, biases = [], []
    for m, k in zip(sizes, sizes[1:], strict=False):  # noqa: RUF007
        weights.append(rng.normal(size=(m, k)) / np.sqrt(m))
        biases.append(0.1 * rng.normal(size=k))
    gammas = [1.0 + 0.2 * rng.normal(size=k) for k in sizes[1:-1]]
    return weights, biases, gammas, rng.normal(size=(n, 3)), rng.normal(size=(n, 2)), 6
