"""Gamma functions as in Numerical Recipes: series and continued fraction to convergence."""

import math

import numpy as np

ARGNUMS = (0, 1)

ITMAX = 200
EPS = 1e-15
FPMIN = 1e-300


def gammln(xx):
    cof = [
        76.18009172947146,
        -86.50532032941677,
        24.01409824083091,
        -1.231739572450155,
        0.1208650973866179e-2,
        -0.5395239384953e-5,
    ]
    y = x = xx
    tmp = x + 5.5
    tmp -= (x + 0.5) * math.log(tmp)
    ser = 1.000000000190015
    for j in range(6):
        y += 1
        ser += cof[j] / y
    return -tmp + math.log(2.5066282746310005 * ser / x)


def gser(a, x):
    gln = gammln(a)
    if x <= 0.0:
        return 0.0, gln
    ap = a
    total = delta = 1.0 / a
    for _n in range(ITMAX):
        ap += 1.0
        delta *= x / ap
        total += delta
        if abs(delta) < abs(total) * EPS:
            return total * math.exp(-x + a * math.log(x) - gln), gln
    raise RuntimeError("a too large, ITMAX too small in routine gser")


def gcf(a, x):
    gln = gammln(a)
    b = x + 1.0 - a
    c = 1.0 / FPMIN
    d = 1.0 / b
    h = d
    i = 1
    while True:
        an = -i * (i - a)
        b += 2.0
        d = an * d + b
        if abs(d) < FPMIN:
            d = FPMIN
        c = b + an / c
        if abs(c) < FPMIN:
            c = FPMIN
        d = 1.0 / d
        delta = d * c
        h *= delta
        if abs(delta - 1.0) < EPS:
            break
        i += 1
        if i > ITMAX:
            raise RuntimeError("a too large, ITMAX too small in gcf")
    return math.exp(-x + a * math.log(x) - gln) * h, gln


def gammp(a, x):
    if x < 0.0 or a <= 0.0:
        raise ValueError("bad arguments in routine gammp")
    if x < a + 1.0:
        gamser, _ = gser(a, x)
        return gamser
    gammcf, _ = gcf(a, x)
    return 1.0 - gammcf


def program(a, x):
    total = 0.0
    for i in range(len(x)):
        total += gammp(a[i], x[i]) * (i + 1)
    return total


def inputs(size=None):
    n = size or 5
    return np.linspace(0.7, 4.0, n), np.linspace(4.5, 0.6, n)
