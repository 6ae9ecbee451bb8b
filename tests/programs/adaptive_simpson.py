"""Adaptive Simpson quadrature by recursion with a counter of evaluations in the enclosing function,
used for the period of a pendulum and the moments of a density."""

import numpy as np

ARGNUMS = (0, 1)


def integrate(f, a, b, tolerance=1e-6, max_depth=12):
    evaluations = 0

    def counted(x):
        nonlocal evaluations
        evaluations += 1
        return f(x)

    def simpson(fa, fm, fb, width):
        return width / 6 * (fa + 4 * fm + fb)

    def recurse(a, fa, m, fm, b, fb, whole, tolerance, depth):
        f1 = counted(0.5 * (a + m))
        f2 = counted(0.5 * (m + b))
        left = simpson(fa, f1, fm, m - a)
        right = simpson(fm, f2, fb, b - m)
        if depth <= 0 or abs(delta := left + right - whole) <= 15 * tolerance:
            return left + right + (delta / 15 if depth > 0 else 0.0)
        return recurse(a, fa, 0.5 * (a + m), f1, m, fm, left, tolerance / 2, depth - 1) + recurse(
            m, fm, 0.5 * (m + b), f2, b, fb, right, tolerance / 2, depth - 1
        )

    m = 0.5 * (a + b)
    fa, fm, fb = counted(a), counted(m), counted(b)
    value = recurse(a, fa, m, fm, b, fb, simpson(fa, fm, fb, b - a), tolerance, max_depth)
    return value, evaluations


def pendulum_period(amplitude, length):
    k = np.sin(amplitude / 2)
    value, _ = integrate(lambda t: 1.0 / np.sqrt(1.0 - (k * np.sin(t)) ** 2), 0.0, np.pi / 2)
    return 4.0 * np.sqrt(length / 9.81) * value


def program(pendulum, shape):
    period = pendulum_period(*pendulum)

    def density(x):
        return np.exp(-shape[0] * (x - shape[1]) ** 2) * (1.0 + shape[2] * np.sin(3 * x))

    mass, n = integrate(density, -2.0, shape[3])
    mean, _ = integrate(lambda x: x * density(x) / mass, -2.0, shape[3])
    return period**2 + mass * mean + 1e-3 * n


def inputs(size=None):
    return (1.2, 0.9), np.array([1.3, 0.2, 0.4, 2.5])
