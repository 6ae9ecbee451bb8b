"""Newton's method with backtracking for a non-linear system: a chain of diodes and resistors.

Node voltages are found by iterating to convergence with a banded Jacobian solved densely; the
power taken from the source is returned, as a function of the parts' values.
"""

import numpy as np

ARGNUMS = (0, 1, 2)


def residual_and_jacobian(v, source, conductance, saturation):
    n = len(v)
    F = np.zeros(n)
    J = np.zeros((n, n))
    for i in range(n):
        left = source if i == 0 else v[i - 1]
        F[i] += conductance[i] * (v[i] - left)
        J[i, i] += conductance[i]
        if i > 0:
            J[i, i - 1] -= conductance[i]
        if i < n - 1:
            F[i] += conductance[i + 1] * (v[i] - v[i + 1])
            J[i, i] += conductance[i + 1]
            J[i, i + 1] -= conductance[i + 1]
        e = saturation[i] * np.exp(v[i] / 0.25)
        F[i] += e - saturation[i]
        J[i, i] += e / 0.25
    return F, J


def newton(function, x, tolerance=1e-9, max_iterations=50):
    F, J = function(x)
    norm = np.linalg.norm(F)
    for _iteration in range(max_iterations):
        step = np.linalg.solve(J, -F)
        damping = 1.0
        while True:
            trial = x + damping * step
            F_trial, J_trial = function(trial)
            if (trial_norm := np.linalg.norm(F_trial)) < norm or damping < 1e-3:
                break
            damping /= 2
        x, F, J, norm = trial, F_trial, J_trial, trial_norm
        if norm < tolerance:
            # one more step makes the derivative as converged as the value
            return x - np.linalg.solve(J, F)
    raise ArithmeticError("Newton's method did not converge")


def program(source, conductance, saturation):
    v = newton(
        lambda v: residual_and_jacobian(v, source, conductance, saturation),
        np.zeros(len(conductance)),
    )
    power = source * conductance[0] * (source - v[0])
    return power + np.sum(v**2)


def inputs(size=None):
    n = size or 6
    rng = np.random.default_rng(0)
    return 2.0, 0.5 + rng.random(n), 1e-2 * (0.5 + rng.random(n))
