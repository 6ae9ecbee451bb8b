"""Hyperparameter tuning: ridge regression trained by hand-coded gradient descent with momentum and
a stopping test; the validation loss depends on the step size, momentum and penalties."""

import numpy as np

ARGNUMS = (0, 1, 2, 3)


def train(X, y, w, step_size, momentum, penalties, max_steps):
    velocity = np.zeros_like(w)
    n = len(y)
    best = np.inf
    for step in range(max_steps):
        residual = X @ w - y
        loss = residual @ residual / n + penalties @ w**2
        if loss > 2.0 * best:
            break  # diverging
        best = min(best, loss)
        gradient = 2.0 * X.T @ residual / n
        gradient += 2.0 * penalties * w
        if np.max(np.abs(gradient)) < 1e-2:
            return w, loss, step
        velocity *= momentum
        velocity -= step_size * gradient
        w = w + velocity
    else:
        loss = np.mean((X @ w - y) ** 2)
    return w, loss, max_steps


def program(log_penalties, step_size, momentum, w0, X, y, X_val, y_val, max_steps):
    penalties = np.exp(log_penalties)
    w, warm_loss, _ = train(X, y, w0, 0.5 * step_size, 0.0, penalties, 5)
    w, training_loss, steps = train(X, y, w, step_size, momentum, penalties, max_steps)
    validation = np.mean((X_val @ w - y_val) ** 2)
    return validation + 0.05 * training_loss + 0.01 * warm_loss + 1e-4 * steps


def inputs(size=None):
    max_steps = 30 if size is None else size
    rng = np.random.default_rng(0)
    d = 4
    truth = rng.normal(size=d)
    X, X_val = rng.normal(size=(25, d)), rng.normal(size=(10, d))
    y = X @ truth + 0.3 * rng.normal(size=25)
    y_val = X_val @ truth + 0.3 * rng.normal(size=10)
    log_penalties = np.log(np.array([0.1, 0.03, 0.2, 0.05]))
    return log_penalties, 0.08, 0.6, 0.1 * rng.normal(size=d), X, y, X_val, y_val, max_steps
