"""Find the temperatures a rod started with, from those measured after it has cooled.

    python examples/heat_inverse.py

The simulation writes into its argument, step by step, as one would write it in NumPy. Its gradient
runs the same loop backwards; the caller's array stays as it was.
"""

import argparse

import numpy as np

from srcgrad import value_and_grad


def heat(u, steps):
    """The heat equation with ends held at zero, and a little radiation; `u` is overwritten."""
    for _ in range(steps):
        u[1:-1] += 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2]) - 0.01 * u[1:-1] ** 2
    return u


@value_and_grad
def misfit(u, measured, steps):
    difference = heat(u, steps) - measured
    return np.sum(difference**2)


def example_inputs():
    """Arguments for `srcgrad show examples/heat_inverse.py:misfit`, and `srcgrad check`."""
    return np.linspace(0, 1, 41), np.ones(41), 20


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=1000)
    options = parser.parse_args()

    x = np.linspace(0, 1, 41)
    truth = np.sin(np.pi * x) + 0.5 * np.sin(3 * np.pi * x)
    measured = heat(truth.copy(), steps=20)

    u = np.zeros_like(x)
    velocity = np.zeros_like(x)
    for i in range(options.iterations + 1):
        value, gradient = misfit(u, measured, 20)
        if i % max(options.iterations // 5, 1) == 0:
            error = np.abs(u - truth).max()
            print(f"iteration {i:5}: misfit {value:.2e}, largest error of the start {error:.4f}")
        velocity = 0.95 * velocity - 0.1 * gradient
        velocity[[0, -1]] = 0  # the ends are known
        u += velocity

    print(f"\nThe generated gradient:\n\n{misfit.source}")


if __name__ == "__main__":
    main()
