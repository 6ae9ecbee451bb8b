"""Roots by bisection, polished with Newton steps: implied volatilities and Kepler's equation.

Bisection alone has a derivative of zero with respect to the equation's parameters; the Newton
step at the end makes the root a differentiable function of them.
"""

import math

import numpy as np

ARGNUMS = (0, 1, 2)


def bisect(f, low, high, tolerance=1e-7):
    f_low = f(low)
    if f_low * f(high) > 0:
        raise ValueError("f must have different signs at the two ends")
    while high - low > tolerance:
        middle = 0.5 * (low + high)
        f_middle = f(middle)
        if f_middle == 0:
            return middle
        if f_low * f_middle < 0:
            high = middle
        else:
            low, f_low = middle, f_middle
    return 0.5 * (low + high)


def polish(f, df, x, steps=2):
    for _ in range(steps):
        x -= f(x) / df(x)
    return x


def norm_cdf(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def call_price(spot, strike, volatility):
    d1 = math.log(spot / strike) / volatility + 0.5 * volatility
    return spot * norm_cdf(d1) - strike * norm_cdf(d1 - volatility)


def vega(spot, strike, volatility):
    d1 = math.log(spot / strike) / volatility + 0.5 * volatility
    return spot * math.exp(-0.5 * d1 * d1) / math.sqrt(2 * math.pi)


def implied_volatility(price, spot, strike):
    def f(s):
        return call_price(spot, strike, s) - price

    return polish(f, lambda s: vega(spot, strike, s), bisect(f, 1e-3, 3.0))


def kepler(mean_anomaly, eccentricity):
    def f(E):
        return E - eccentricity * math.sin(E) - mean_anomaly

    return polish(f, lambda E: 1 - eccentricity * math.cos(E), bisect(f, 0.0, 2 * math.pi))


def program(prices, spot, eccentricity, strikes):
    total = 0.0
    for price, strike in zip(prices, strikes, strict=True):
        total += implied_volatility(price, spot, strike) ** 2
    for k in range(1, 6):
        E = kepler(k, eccentricity)
        x, y = math.cos(E) - eccentricity, math.sqrt(1 - eccentricity**2) * math.sin(E)
        total += k * x + x * y
    return total


def inputs(size=None):
    n = size or 5
    strikes = np.linspace(80, 120, n)
    volatilities = 0.2 + 0.1 * np.random.default_rng(0).random(n)
    prices = np.array([call_price(100.0, k, v) for k, v in zip(strikes, volatilities, strict=True)])
    return prices, 100.0, 0.4, strikes
