"""All (real) roots of a polynomial by Newton's method with deflation, each root polished on the
original polynomial; the result compares the roots with wanted ones."""

import numpy as np


def horner(coefficients, x):
    """The value of the polynomial and of its derivative (highest power first)."""
    p = coefficients[0]
    dp = 0.0
    for c in coefficients[1:]:
        dp = dp * x + p
        p = p * x + c
    return p, dp


def newton(coefficients, x, tol=1e-12, max_iterations=100):
    for _ in range(max_iterations):
        p, dp = horner(coefficients, x)
        step = p / dp
        x = x - step
        if abs(step) < tol:
            return x
    raise ArithmeticError("Newton's method did not converge")


def deflate(coefficients, root):
    quotient = [coefficients[0]]
    for c in coefficients[1:-1]:
        quotient.append(c + root * quotient[-1])
    return quotient


def program(coefficients, targets):
    remaining = list(coefficients)
    bound = 1.0 + max(abs(c / coefficients[0]) for c in coefficients[1:])
    roots = []
    while len(remaining) > 2:
        root = newton(remaining, bound)
        root = newton(coefficients, root)
        roots.append(root)
        remaining = deflate(remaining, root)
    roots.append(-remaining[1] / remaining[0])
    cost = 0.0
    for k, (root, target) in enumerate(zip(sorted(roots), targets, strict=True)):
        cost += (k + 1) * (root - target) ** 2
    return cost


def inputs(size=None):
    degree = 5 if size is None else min(size, 8)  # higher degrees are ill-conditioned
    rng = np.random.default_rng(0)
    roots = np.linspace(-2.0, 2.5, degree) + 0.1 * rng.normal(size=degree)
    return 1.5 * np.poly(roots), roots + 0.2 * rng.normal(size=degree)
