"""A neural ordinary differential equation, integrated with Euler's method and fitted to a spiral;
the parameters are a list of (weights, bias) pairs."""

import itertools

import numpy as np

ARGNUMS = (0, 1)


def network(parameters, y):
    h = y**3
    *hidden, last = parameters
    for W, b in hidden:
        h = np.tanh(h @ W + b)
    W, b = last
    return h @ W + b


def odeint(f, y0, times, substeps=4):
    y = y0
    ys = [y]
    for t0, t1 in zip(times[:-1], times[1:]):  # noqa: B905, RUF007
        h = (t1 - t0) / substeps
        for _ in range(substeps):
            y = y + h * f(y)
        ys.append(y)
    return np.stack(ys)


def program(parameters, y0, times, target):
    predicted = odeint(lambda y: network(parameters, y), y0, times)
    error = np.abs(predicted - target)
    loss = np.mean(error**2)
    for W, b in parameters:
        loss += 1e-3 * (np.sum(W**2) + np.sum(b**2))
    return loss


def inputs(size=None):
    n = 8 if size is None else size
    rng = np.random.default_rng(0)
    sizes = [2, 6, 5, 2]
    parameters = [
        (0.5 * rng.normal(size=(m, k)), 0.1 * rng.normal(size=k))
        for m, k in itertools.pairwise(sizes)
    ]
    times = np.linspace(0.0, 1.5, n)
    target = np.stack([np.exp(-0.2 * times) * np.cos(2 * times), np.sin(2 * times)], axis=1)
    return parameters, np.array([1.1, 0.2]), times, target
