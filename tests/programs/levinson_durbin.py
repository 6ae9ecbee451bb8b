"""The Levinson-Durbin recursion for the coefficients of a linear predictor, with element loops.

The autocorrelation is computed from a signal; coefficients and reflection coefficients matter.
"""

import numpy as np


def autocorrelation(x, lags):
    r = np.zeros(lags + 1)
    n = len(x)
    for lag in range(lags + 1):
        for i in range(n - lag):
            r[lag] += x[i] * x[i + lag]
    return r / n


def levinson_durbin(r, order):
    a = np.zeros(order + 1)
    a[0] = 1.0
    error = r[0]
    reflection = []
    for i in range(1, order + 1):
        acc = r[i]
        for j in range(1, i):
            acc += a[j] * r[i - j]
        k = -acc / error
        reflection.append(k)
        previous = a.copy()
        for j in range(1, i):
            a[j] = previous[j] + k * previous[i - j]
        a[i] = k
        error *= 1.0 - k * k
    return a, error, reflection


def program(x, order):
    windowed = x * np.hanning(len(x))
    r = autocorrelation(windowed, order)
    r[0] *= 1.001  # white noise correction
    a, error, reflection = levinson_durbin(r, order)
    area = 1.0
    for k in reflection:
        area *= (1 - k) / (1 + k)
    return np.log(error) + np.sum(a[1:] ** 2) + np.log(area)


def inputs(size=None):
    n = size or 40
    rng = np.random.default_rng(0)
    x = np.sin(0.7 * np.arange(n)) + 0.5 * np.cos(1.9 * np.arange(n))
    return x + 0.3 * rng.standard_normal(n), 6
