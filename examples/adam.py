"""Train a network on mini-batches with an Adam written in ten lines.

    python examples/adam.py

The parameters are a dict of arrays; so is the gradient. Nothing but NumPy is needed to train.
"""

import argparse

import numpy as np

from srcgrad import value_and_grad


def adam(gradient, params, batches, rate=0.01, decay=(0.9, 0.999)):
    """Adam (Kingma and Ba, 2015) over batches of arguments; yields the losses."""
    mean = {k: np.zeros_like(v) for k, v in params.items()}
    square = {k: np.zeros_like(v) for k, v in params.items()}
    for t, batch in enumerate(batches, 1):
        loss, d_params = gradient(params, *batch)
        for k, d in d_params.items():
            mean[k] += (1 - decay[0]) * (d - mean[k])
            square[k] += (1 - decay[1]) * (d * d - square[k])
            size = np.sqrt(square[k] / (1 - decay[1] ** t)) + 1e-8
            params[k] -= rate * mean[k] / (1 - decay[0] ** t) / size
        yield loss


def predict(params, x):
    hidden = np.tanh(x @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


@value_and_grad
def loss(params, x, y):
    """The cross entropy of labels 0 and 1."""
    z = predict(params, x)
    return np.mean(np.logaddexp(0.0, z) - y * z)


def spirals(n, rng):
    """Two interleaved spirals."""
    angle = 3 * np.pi * np.sqrt(rng.uniform(size=n))
    y = np.arange(n) % 2
    radius = angle * np.where(y == 1, 1.0, -1.0) / 5
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return points + 0.03 * rng.normal(size=(n, 2)), y.astype(float)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=4000)
    options = parser.parse_args()

    rng = np.random.default_rng(0)
    x, y = spirals(2000, rng)
    test_x, test_y = spirals(1000, rng)
    params = {
        "w1": 2.0 * rng.normal(size=(2, 64)),
        "b1": rng.normal(size=64),
        "w2": rng.normal(size=64) / 8,
        "b2": np.zeros(()),
    }

    chosen = (rng.integers(0, len(x), 64) for _ in range(options.steps))
    batches = ((x[rows], y[rows]) for rows in chosen)
    total = 0.0
    for step, value in enumerate(adam(loss, params, batches), 1):
        total += value
        if step % (options.steps // 5) == 0:
            right = np.mean((predict(params, test_x) > 0) == (test_y > 0.5))
            print(f"step {step:5}: loss {total / (options.steps // 5):.4f}, test {right:6.1%}")
            total = 0.0
    print(f"\nThe generated gradient:\n\n{loss.source}")


if __name__ == "__main__":
    main()
