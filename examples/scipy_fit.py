"""Fit a sum of two decaying oscillations to noisy data with scipy.optimize.

    python examples/scipy_fit.py

`value_and_grad(f)` is what `scipy.optimize.minimize(..., jac=True)` wants. The same fit without
it takes differences: 7 evaluations of the function where one gradient does.
"""

import argparse

import numpy as np
from scipy.optimize import minimize

from srcgrad import value_and_grad


def model(parameters, t):
    total = np.zeros_like(t)
    for amplitude, decay, frequency in parameters.reshape(-1, 3):
        total += amplitude * np.exp(-decay * t) * np.sin(frequency * t)
    return total


def loss(parameters, t, measured):
    return np.mean((model(parameters, t) - measured) ** 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=500)
    options = parser.parse_args()

    rng = np.random.default_rng(0)
    t = np.linspace(0, 8, 400)
    truth = np.array([2.0, 0.3, 3.0, -1.0, 0.1, 7.0])
    measured = model(truth, t) + 0.05 * rng.normal(size=t.shape)
    start = np.array([1.0, 0.1, 2.8, -0.5, 0.2, 7.3])

    gradient = value_and_grad(loss)
    for name, function, jac in (("srcgrad", gradient, True), ("differences", loss, None)):
        fit = minimize(
            function,
            start,
            args=(t, measured),
            jac=jac,
            method="BFGS",
            options={"maxiter": options.iterations},
        )
        print(f"{name:12} {fit.nfev:4} evaluations, loss {fit.fun:.6f}, {np.round(fit.x, 3)}")
    print(f"{'truth':12} {'':4}             loss {loss(truth, t, measured):.6f}, {truth}")

    print(f"\nThe generated gradient:\n\n{gradient.source}")


if __name__ == "__main__":
    main()
