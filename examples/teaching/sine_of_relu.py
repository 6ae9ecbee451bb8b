"""A model that takes the sine of rectified features, trained for 500 steps.

    python examples/teaching/sine_of_relu.py [--plot loss.png]

With --plot, the loss curve is drawn, if matplotlib is installed.
"""

import argparse

import numpy as np
from side_by_side import compare

from srcgrad import grad


@grad(argnums=("W", "b", "v"))
def loss(W, b, v, x, y):
    features = np.sin(np.maximum(x @ W + b, 0))
    return np.mean((features @ v - y) ** 2)


def backward(W, b, v, x, y):
    before = x @ W + b
    rectified = np.maximum(before, 0)
    features = np.sin(rectified)
    d_predicted = 2 * (features @ v - y) / len(y)
    d_v = features.T @ d_predicted
    d_before = np.outer(d_predicted, v) * np.cos(rectified) * (before > 0)
    return x.T @ d_before, d_before.sum(axis=0), d_v


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="PATH", help="where to save the loss curve")
    options = parser.parse_args()

    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, (200, 1))
    y = np.sin(3 * x[:, 0]) * x[:, 0]
    parameters = [2 * rng.normal(size=(1, 32)), rng.normal(size=32), rng.normal(size=32) / 6]
    compare(loss, backward, *parameters, x, y)

    losses = []
    for _ in range(500):
        gradients = loss(*parameters, x, y)
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter -= 0.05 * gradient
        losses.append(loss.primal(*parameters, x, y))
    print(f"the loss goes from {losses[0]:.3f} to {losses[-1]:.3f}")

    if options.plot:
        plot(losses, options.plot)


def plot(losses, path):
    try:
        import matplotlib
    except ImportError:
        print("no plot: matplotlib isn't installed")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    axes.semilogy(losses)
    axes.set_xlabel("step")
    axes.set_ylabel("mean squared error")
    figure.savefig(path)
    print(f"saved {path}")


if __name__ == "__main__":
    main()
