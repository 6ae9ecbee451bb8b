"""Fit the rates of an ordinary differential equation to noisy measurements.

    python examples/ode_fit.py

Predators and prey, integrated by a Runge-Kutta method written as plain loops. The gradient is that
of the integrator itself, by the rates and by the initial state.
"""

import numpy as np
from scipy.optimize import minimize

from srcgrad import value_and_grad


def slope(state, rates):
    prey, predators = state
    birth, hunting, growth, death = rates
    return np.array(
        [birth * prey - hunting * prey * predators, growth * prey * predators - death * predators]
    )


def simulate(state, rates, count, step, inner=10):
    """The states at `count` times, a `step` apart: fourth-order Runge-Kutta."""
    states = np.zeros((count, 2))
    h = step / inner
    for i in range(count):
        states[i] = state
        for _ in range(inner):
            k1 = slope(state, rates)
            k2 = slope(state + h / 2 * k1, rates)
            k3 = slope(state + h / 2 * k2, rates)
            k4 = slope(state + h * k3, rates)
            state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return states


def loss(parameters, measured, step):
    p = np.exp(parameters)  # all are positive
    states = simulate(p[:2], p[2:], len(measured), step)
    return np.mean((np.log(states) - np.log(measured)) ** 2)


def main():
    rng = np.random.default_rng(0)
    truth = np.array([8.0, 4.0, 1.1, 0.4, 0.1, 0.4])
    states = simulate(truth[:2], truth[2:], 40, 0.5)
    measured = states * np.exp(0.05 * rng.normal(size=states.shape))

    gradient = value_and_grad(loss)
    start = np.log([6.0, 5.0, 1.0, 0.3, 0.15, 0.5])
    fit = minimize(gradient, start, args=(measured, 0.5), jac=True, method="BFGS")
    print(f"{fit.nfev} gradients, loss {gradient(start, measured, 0.5)[0]:.4f} -> {fit.fun:.5f}")
    names = ("prey", "predators", "birth", "hunting", "growth", "death")
    for name, value, true in zip(names, np.exp(fit.x), truth, strict=True):
        print(f"{name:10} {value:7.4f}   (truth {true})")
    print(f"\nThe generated gradient:\n\n{gradient.source}")


if __name__ == "__main__":
    main()
