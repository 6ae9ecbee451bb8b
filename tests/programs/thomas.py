"""The Thomas algorithm for tridiagonal systems, element by element, used in implicit steps.

Crank-Nicolson for the Black-Scholes equation in log price: one tridiagonal solve per step.
"""

import numpy as np

ARGNUMS = (0, 1, 2)


def thomas(a, b, c, d):
    """Solve with sub-diagonal a, diagonal b, super-diagonal c; b and d are overwritten."""
    n = len(d)
    for i in range(1, n):
        w = a[i - 1] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    x = d
    x[-1] = d[-1] / b[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (d[i] - c[i] * x[i + 1]) / b[i]
    return x


def program(spot, volatility, rate, strike, nodes, steps):
    maturity = 1.0
    dt = maturity / steps
    log_min, log_max = np.log(strike) - 2.0, np.log(strike) + 2.0
    dx = (log_max - log_min) / (nodes - 1)
    prices = np.exp(np.linspace(log_min, log_max, nodes))
    value = np.maximum(prices - strike, 0.0)

    alpha = 0.5 * volatility**2 / dx**2
    beta = (rate - 0.5 * volatility**2) / (2 * dx)
    lower, centre, upper = alpha - beta, -2 * alpha - rate, alpha + beta

    for step in range(steps):
        time_left = (step + 1) * dt
        rhs = np.zeros(nodes)
        for i in range(1, nodes - 1):
            rhs[i] = value[i] + 0.5 * dt * (
                lower * value[i - 1] + centre * value[i] + upper * value[i + 1]
            )
        rhs[0] = 0.0
        rhs[-1] = prices[-1] - strike * np.exp(-rate * time_left)
        sub = np.full(nodes - 1, -0.5 * dt * lower)
        diagonal = np.full(nodes, 1 - 0.5 * dt * centre)
        sup = np.full(nodes - 1, -0.5 * dt * upper)
        diagonal[0] = diagonal[-1] = 1.0
        sup[0] = 0.0
        sub[-1] = 0.0
        value = thomas(sub, diagonal, sup, rhs)

    # cubic Lagrange interpolation at the spot
    position = (np.log(spot) - log_min) / dx
    k = int(position)
    t = position - k
    weights = [
        -t * (t - 1) * (t - 2) / 6,
        (t + 1) * (t - 1) * (t - 2) / 2,
        -(t + 1) * t * (t - 2) / 2,
        (t + 1) * t * (t - 1) / 6,
    ]
    return sum(w * value[k - 1 + m] for m, w in enumerate(weights))


def inputs(size=None):
    return 103.0, 0.25, 0.03, 100.0, size or 40, 12
