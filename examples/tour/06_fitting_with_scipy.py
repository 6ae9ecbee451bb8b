"""6. Fitting with SciPy: `value_and_grad` is what `minimize(..., jac=True)` wants.

python examples/tour/06_fitting_with_scipy.py
"""

import numpy as np
from scipy.optimize import minimize

from srcgrad import hvp, value_and_grad


def model(parameters, t):
    amplitude, decay, frequency = parameters
    return amplitude * np.exp(-decay * t) * np.cos(frequency * t)


def misfit(parameters, t, measured):
    return np.sum((model(parameters, t) - measured) ** 2)


t = np.linspace(0, 5, 60)
truth = np.array([2.0, 0.4, 3.0])
measured = model(truth, t)
start = np.array([1.0, 0.1, 2.7])

with_gradient = minimize(
    value_and_grad(misfit), start, args=(t, measured), jac=True, method="BFGS", tol=1e-8
)
with_differences = minimize(misfit, start, args=(t, measured), method="BFGS", tol=1e-8)
print(np.round(with_gradient.x, 4))  # [2.  0.4 3. ]
fewer = with_differences.nfev / with_gradient.nfev
print(f"with differences {with_differences.nfev} evaluations, {fewer:.0f} times as many")

# With products of the Hessian and a vector, Newton's method needs no matrix.
product = hvp(misfit)
newton = minimize(
    value_and_grad(misfit), start, args=(t, measured), jac=True, method="trust-ncg",
    hessp=lambda x, v, *args: product(x, *args, v),
)  # fmt: skip
print(np.round(newton.x, 4))  # [2.  0.4 3. ]
