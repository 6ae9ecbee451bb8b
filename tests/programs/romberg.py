"""Romberg integration by refining trapezoids and extrapolating the tableau."""

import math

import numpy as np

ARGNUMS = (0, 1)


def trapzd(func, a, b, n, s):
    if n == 1:
        return 0.5 * (b - a) * (func(a) + func(b))
    it = 1 << (n - 2)
    delta = (b - a) / it
    x = a + 0.5 * delta
    total = 0.0
    for _ in range(it):
        total += func(x)
        x += delta
    return 0.5 * (s + (b - a) * total / it)


def polint(xa, ya, x):
    """Neville's algorithm: the value and an error estimate."""
    n = len(xa)
    c, d = list(ya), list(ya)
    ns = min(range(n), key=lambda i: abs(x - xa[i]))
    y = ya[ns]
    ns -= 1
    dy = 0.0
    for m in range(1, n):
        for i in range(n - m):
            ho, hp = xa[i] - x, xa[i + m] - x
            w = c[i + 1] - d[i]
            den = ho - hp
            if den == 0.0:
                raise ValueError("error in routine polint")
            den = w / den
            d[i] = hp * den
            c[i] = ho * den
        if 2 * (ns + 1) < n - m:
            dy = c[ns + 1]
        else:
            dy = d[ns]
            ns -= 1
        y += dy
    return y, dy


def qromb(func, a, b, eps=1e-8, jmax=8, k=4):
    s, h = [0.0] * (jmax + 1), [0.0] * (jmax + 1)
    h[0] = 1.0
    ss = 0.0
    for j in range(1, jmax + 1):
        s[j - 1] = trapzd(func, a, b, j, s[j - 2] if j > 1 else 0.0)
        if j >= k:
            ss, dss = polint(h[j - k : j], s[j - k : j], 0.0)
            if abs(dss) <= eps * abs(ss):
                return ss
        h[j] = 0.25 * h[j - 1]
    raise RuntimeError("Too many steps in routine qromb")


def program(theta, upper):
    def integrand(t):
        return math.exp(-theta[0] * t) * math.cos(theta[1] * t) / (1.0 + theta[2] * t * t)

    inner = qromb(integrand, 0.0, upper)
    return inner + qromb(lambda t: t * integrand(t) ** 2, 0.0, 0.5 * upper)


def inputs(size=None):
    return np.array([0.6, 1.3, 0.4]), 2.0
