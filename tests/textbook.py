"""Textbook functions, and their gradients as an expert writes them by hand.

Each gradient returns only the derivatives, computes nothing twice, and is written as one would in
NumPy: in place where that is natural, with names for what is used twice.
"""

import numpy as np

RNG = np.random.default_rng(7)
normal = RNG.normal


def least_squares(w, x, y):
    r = x @ w - y
    return 0.5 * np.sum(r**2)


def d_least_squares(w, x, y):
    r = x @ w - y
    return x.T @ r


def ridge(w, x, y, penalty):
    r = x @ w - y
    return np.mean(r**2) + penalty * np.sum(w**2)


def d_ridge(w, x, y, penalty):
    r = x @ w - y
    d_r = 2 / r.size * r
    d_w = x.T @ d_r
    d_w += 2 * penalty * w
    return d_w


def logistic(w, x, y):
    z = x @ w
    return np.mean(np.logaddexp(0, z) - y * z)


def d_logistic(w, x, y):
    z = x @ w
    p = np.exp(z - np.logaddexp(0, z))
    d_z = (p - y) / z.size
    return x.T @ d_z


def softmax_cross_entropy(w, x, labels):
    logits = x @ w
    logits = logits - np.max(logits, axis=1, keepdims=True)
    log_sum = np.log(np.sum(np.exp(logits), axis=1))
    return np.mean(log_sum - logits[np.arange(len(labels)), labels])


def d_softmax_cross_entropy(w, x, labels):
    logits = x @ w
    logits -= logits.max(axis=1, keepdims=True)
    e = np.exp(logits)
    d_logits = e / e.sum(axis=1, keepdims=True)
    d_logits[np.arange(len(labels)), labels] -= 1
    d_logits /= len(labels)
    return x.T @ d_logits


def two_layers(w1, b1, w2, b2, x, y):
    h = np.maximum(x @ w1 + b1, 0)
    out = h @ w2 + b2
    return np.mean((out - y) ** 2)


def d_two_layers(w1, b1, w2, b2, x, y):
    a = x @ w1 + b1
    h = np.maximum(a, 0)
    out = h @ w2 + b2
    d_out = 2 / out.size * (out - y)
    d_b2 = d_out.sum(axis=0)
    d_w2 = h.T @ d_out
    d_h = d_out @ w2.T
    d_a = d_h * ((a > 0) + 0.5 * (a == 0))
    d_b1 = d_a.sum(axis=0)
    d_w1 = x.T @ d_a
    return d_w1, d_b1, d_w2, d_b2


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def d_rosenbrock(x):
    r = x[1:] - x[:-1] ** 2
    d_x = np.zeros_like(x)
    d_x[1:] += 200 * r
    d_x[:-1] -= 400 * r * x[:-1]
    d_x[:-1] -= 2 * (1 - x[:-1])
    return d_x


def gaussian_likelihood(mean, log_std, x):
    z = (x - mean) / np.exp(log_std)
    return np.sum(0.5 * z**2 + log_std)


def d_gaussian_likelihood(mean, log_std, x):
    std = np.exp(log_std)
    z = (x - mean) / std
    d_mean = -(z / std).sum(axis=0)
    d_log_std = (1 - z * z).sum(axis=0)
    return d_mean, d_log_std


def layer_norm(x, gain, bias, target):
    c = x - np.mean(x, axis=1, keepdims=True)
    std = np.sqrt(np.mean(c * c, axis=1, keepdims=True) + 1e-5)
    x_hat = c / std
    return np.sum((gain * x_hat + bias - target) ** 2)


def d_layer_norm(x, gain, bias, target):
    c = x - x.mean(axis=1, keepdims=True)
    std = np.sqrt((c * c).mean(axis=1, keepdims=True) + 1e-5)
    x_hat = c / std
    d_out = 2 * (gain * x_hat + bias - target)
    d_gain = (d_out * x_hat).sum(axis=0)
    d_bias = d_out.sum(axis=0)
    d_x_hat = d_out * gain
    d_c = d_x_hat / std
    d_std = -(d_x_hat * x_hat).sum(axis=1, keepdims=True) / std
    d_c += d_std / std / x.shape[1] * c
    d_x = d_c - d_c.mean(axis=1, keepdims=True)
    return d_x, d_gain, d_bias


def attention(q, k, v):
    scores = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    return np.sum((p @ v) ** 2)


def d_attention(q, k, v):
    scale = np.sqrt(q.shape[1])
    scores = q @ k.T / scale
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    d_out = 2 * (p @ v)
    d_v = p.T @ d_out
    d_p = d_out @ v.T
    d_scores = p * (d_p - (d_p * p).sum(axis=1, keepdims=True))
    d_scores /= scale
    d_q = d_scores @ k
    d_k = d_scores.T @ q
    return d_q, d_k, d_v


def recurrent(w, u, x):
    h = np.zeros(len(w))
    for t in range(len(x)):
        h = np.tanh(w @ h + u @ x[t])
    return np.sum(h * h)


def d_recurrent(w, u, x):
    states = []
    h = np.zeros(len(w))
    for t in range(len(x)):
        previous = h
        h = np.tanh(w @ h + u @ x[t])
        states.append((previous, h))
    d_w = np.zeros_like(w)
    d_u = np.zeros_like(u)
    d_h = 2 * h
    for t in reversed(range(len(x))):
        previous, h = states.pop()
        d_a = d_h * (1 - h * h)
        d_w += np.outer(d_a, previous)
        d_u += np.outer(d_a, x[t])
        d_h = w.T @ d_a
    return d_w, d_u


def heat(u, steps, rate):
    for _ in range(steps):
        u[1:-1] += rate * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def d_heat(u, steps, rate):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += rate * (u[2:] - 2 * u[1:-1] + u[:-2])
    d_u = 2 * u
    for _ in range(steps):
        d = rate * d_u[1:-1]
        d_u[2:] += d
        d_u[1:-1] -= 2 * d
        d_u[:-2] += d
    return d_u


def polynomial(coefficients, x):
    y = np.zeros_like(x)
    for c in coefficients:
        y = y * x + c
    return np.sum(y)


def d_polynomial(coefficients, x):
    d_coefficients = np.zeros_like(coefficients)
    d_y = np.ones_like(x)
    for i in reversed(range(len(coefficients))):
        d_coefficients[i] = d_y.sum()
        d_y = d_y * x
    return d_coefficients


def soft_clusters(centres, x):
    distances = np.sum((x[:, None] - centres) ** 2, axis=2)
    return -np.sum(np.log(np.sum(np.exp(-distances), axis=1)))


def d_soft_clusters(centres, x):
    difference = x[:, None] - centres
    e = np.exp(-(difference**2).sum(axis=2))
    d_distances = e / e.sum(axis=1, keepdims=True)
    return (-2 * d_distances[:, :, None] * difference).sum(axis=0)


# The gradient by hand of each function, the arguments to differentiate, and arguments to try.
TEXTBOOK = {
    least_squares: (d_least_squares, 0, (normal(size=3), normal(size=(5, 3)), normal(size=5))),
    ridge: (d_ridge, 0, (normal(size=3), normal(size=(5, 3)), normal(size=5), 0.1)),
    logistic: (d_logistic, 0, (normal(size=3), normal(size=(5, 3)), np.array([0.0, 1, 1, 0, 1]))),
    softmax_cross_entropy: (
        d_softmax_cross_entropy, 0,
        (normal(size=(4, 3)), normal(size=(5, 4)), np.array([0, 2, 1, 1, 0])),
    ),
    two_layers: (
        d_two_layers, (0, 1, 2, 3),
        (
            normal(size=(4, 5)), normal(size=5), normal(size=(5, 2)),
            normal(size=2), normal(size=(6, 4)), normal(size=(6, 2)),
        ),
    ),
    rosenbrock: (d_rosenbrock, 0, (normal(size=6),)),
    gaussian_likelihood: (
        d_gaussian_likelihood, (0, 1), (normal(size=3), normal(size=3), normal(size=(5, 3))),
    ),
    layer_norm: (
        d_layer_norm, (0, 1, 2),
        (normal(size=(3, 4)), normal(size=4), normal(size=4), normal(size=(3, 4))),
    ),
    attention: (
        d_attention, (0, 1, 2),
        (normal(size=(4, 3)), normal(size=(5, 3)), normal(size=(5, 2))),
    ),
    recurrent: (
        d_recurrent, (0, 1), (normal(size=(3, 3)), normal(size=(3, 2)), normal(size=(4, 2))),
    ),
    heat: (d_heat, 0, (normal(size=7), 4, 0.1)),
    polynomial: (d_polynomial, 0, (normal(size=4), normal(size=5))),
    soft_clusters: (d_soft_clusters, 0, (normal(size=(2, 3)), normal(size=(6, 3)))),
}  # fmt: skip
