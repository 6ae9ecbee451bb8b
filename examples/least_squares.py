"""Fit a peak on a background with scipy.optimize.least_squares and an exact Jacobian.

    python examples/least_squares.py

`jacobian(residuals)` takes the arguments of `residuals`, so it is what `jac=` wants. At the
solution it gives the covariance of the parameters as well.
"""

import numpy as np
from scipy.optimize import least_squares

from srcgrad import jacobian


def residuals(p, t, measured, sigma):
    height, center, width, offset, slope = p
    peak = height / (1 + ((t - center) / width) ** 2)
    return (peak + offset + slope * t - measured) / sigma


def main():
    rng = np.random.default_rng(0)
    t, sigma = np.linspace(0, 10, 300), 0.1
    truth = np.array([3.0, 4.5, 0.8, 1.0, -0.05])
    measured = residuals(truth, t, 0.0, 1.0) + sigma * rng.normal(size=t.shape)
    start = np.array([1.0, 4.0, 1.0, 0.0, 0.0])

    jac = jacobian(residuals)
    exact = least_squares(residuals, start, jac=jac, args=(t, measured, sigma))
    numeric = least_squares(residuals, start, args=(t, measured, sigma))
    calls = numeric.nfev + numeric.njev * len(start)  # those of the differences aren't counted
    print(f"exact Jacobian: {exact.nfev} evaluations, {exact.njev} Jacobians, {exact.cost:.4f}")
    print(f"differences:    {calls} evaluations, {numeric.cost:.4f}")

    j = jac(exact.x, t, measured, sigma)
    errors = np.sqrt(np.diag(np.linalg.inv(j.T @ j)))
    names = ("height", "center", "width", "offset", "slope")
    for name, value, error, true in zip(names, exact.x, errors, truth, strict=True):
        print(f"{name:7} {value:8.4f} ± {error:.4f}   (truth {true})")

    print(f"\nAll columns of the Jacobian at once:\n\n{jac.source}")


if __name__ == "__main__":
    main()
