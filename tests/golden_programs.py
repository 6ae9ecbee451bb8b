"""The functions whose generated gradients are kept in tests/golden."""

import numpy as np

RNG = np.random.default_rng(20)


def logistic_loss(w, x, y):
    p = 1 / (1 + np.exp(-(x @ w)))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def heat(u, steps):
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) - 0.01 * u[1:-1] ** 2
    return np.sum(u * u)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0)


def mlp(w1, b1, w2, b2, x, y):
    h = np.tanh(x @ w1 + b1)
    out = h @ w2 + b2
    return np.mean((out - y) ** 2)


def softmax_regression(w, b, x, labels):
    logits = x @ w + b
    logits = logits - np.max(logits, axis=1, keepdims=True)
    log_p = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(labels)), labels])


def huber(w, x, y):
    r = x @ w - y
    a = np.abs(r)
    return np.mean(np.where(a <= 1.0, 0.5 * r * r, a - 0.5))


def recurrence(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] ** 2 + (0.5 * y[i - 1] if i > 0 else 0.0)
    return y.sum()


def recurrent_network(w, x):
    h = np.zeros(w.shape[0])
    for t in range(len(x)):
        h = np.tanh(w @ h + x[t])
    return np.sum(h)


def newton_root(x):
    y = x
    while abs(y * y - x) > 1e-10:
        y = 0.5 * (y + x / y)
    return y


def early_return(x, limit):
    total = 0.0
    for i in range(len(x)):
        if x[i] < 0:
            continue
        total += x[i] ** 2
        if total > limit:
            return total
    return 3 * total


def branches(x):
    if x[0] > 0:
        y = x * 2
    elif x[1] > 0:
        y = np.sin(x)
    else:
        y = x**3
    return np.sum(y * y)


def views(x):
    y = x * 1.0
    z = y[1:]
    z[0] = x[0] ** 3
    z[1:] *= 2
    return np.sum(y**2)


def swapped_buffers(x, steps):
    a = x.copy()
    b = np.zeros_like(x)
    for _ in range(steps):
        b[1:-1] = a[1:-1] + 0.1 * (a[2:] - 2 * a[1:-1] + a[:-2])
        a, b = b, a
    return np.sum(a * a)


def collected(x):
    states = []
    h = x
    for _ in range(3):
        h = np.sin(h) + x
        states.append(h)
    return np.sum(np.stack(states) ** 2)


def standard_layer(x, gain, bias):
    c = x - np.mean(x, axis=1, keepdims=True)
    x_hat = c / np.sqrt(np.mean(c * c, axis=1, keepdims=True) + 1e-5)
    return 0.5 * np.sum((gain * x_hat + bias) ** 2)


def second_derivative(x):
    a = np.sin(x) * x
    b = np.exp(-a) + x**3
    c = a / (1 + b * b)
    d = np.log(b) - c
    if d > 0:
        d = d * np.sqrt(d)
    e = np.tanh(c) + d
    s = 1 / (1 + np.exp(-e))
    return s * c + a


# The arguments of each function, and the positions to differentiate.
PROGRAMS = {
    logistic_loss: ((RNG.normal(size=3), RNG.normal(size=(5, 3)), np.array([0.0, 1, 1, 0, 1])), 0),
    heat: ((RNG.normal(size=7), 4), 0),
    rosenbrock: ((RNG.normal(size=6),), 0),
    mlp: (
        (
            RNG.normal(size=(4, 5)), RNG.normal(size=5), RNG.normal(size=(5, 2)),
            RNG.normal(size=2), RNG.normal(size=(6, 4)), RNG.normal(size=(6, 2)),
        ),
        (0, 1, 2, 3),
    ),
    softmax_regression: (
        (
            RNG.normal(size=(4, 3)), RNG.normal(size=3), RNG.normal(size=(5, 4)),
            np.array([0, 2, 1, 1, 0]),
        ),
        (0, 1),
    ),
    huber: ((RNG.normal(size=3), RNG.normal(size=(8, 3)), RNG.normal(size=8)), 0),
    recurrence: ((RNG.normal(size=6),), 0),
    recurrent_network: ((RNG.normal(size=(3, 3)), RNG.normal(size=(4, 3))), (0, 1)),
    newton_root: ((2.0,), 0),
    early_return: ((RNG.normal(size=6), 1.0), 0),
    branches: ((RNG.normal(size=4),), 0),
    views: ((RNG.normal(size=5),), 0),
    swapped_buffers: ((RNG.normal(size=6), 3), 0),
    collected: ((RNG.normal(size=4),), 0),
    standard_layer: ((RNG.normal(size=(3, 4)), RNG.normal(size=4), RNG.normal(size=4)), (0, 1, 2)),
}  # fmt: skip
