"""An American put on a binomial tree, backwards in one array, with its early exercise boundary."""

import math

import numpy as np

ARGNUMS = (0, 1, 2, 3)


def program(spot, strike, rate, volatility, maturity, steps):
    dt = maturity / steps
    up = math.exp(volatility * math.sqrt(dt))
    down = 1 / up
    discount = math.exp(-rate * dt)
    p = (math.exp(rate * dt) - down) / (up - down)
    prices = [spot * up**j * down ** (steps - j) for j in range(steps + 1)]
    values = [max(strike - s, 0.0) for s in prices]
    boundary = []
    for i in reversed(range(steps)):
        critical = 0.0
        for j in range(i + 1):
            s = spot * up**j * down ** (i - j)
            hold = discount * (p * values[j + 1] + (1 - p) * values[j])
            exercise = strike - s
            if exercise > hold:
                values[j] = exercise
                critical = s
            else:
                values[j] = hold
        values.pop()
        boundary.append(critical)
    assert len(values) == 1
    return values[0] + 1e-3 * np.mean(boundary[::-1])


def inputs(size=None):
    return 95.3, 100.7, 0.05, 0.3, 1.0, size or 12
