"""Stockham's self-sorting FFT by hand, radix 2, on separate real and imaginary arrays.

Two work arrays are swapped between stages; returns a weighted power spectrum.
"""

import math

import numpy as np

ARGNUMS = (0, 1)


def fft0(n, s, eo, xr, xi, yr, yi):
    """One pass: n the length of the sequence, s the stride; eo: the result belongs in y."""
    if n == 1:
        if eo:
            for q in range(s):
                yr[q] = xr[q]
                yi[q] = xi[q]
        return
    m = n // 2
    theta0 = 2 * math.pi / n
    for p in range(m):
        wr = math.cos(p * theta0)
        wi = -math.sin(p * theta0)
        for q in range(s):
            ar = xr[q + s * (p + 0)]
            ai = xi[q + s * (p + 0)]
            br = xr[q + s * (p + m)]
            bi = xi[q + s * (p + m)]
            yr[q + s * (2 * p + 0)] = ar + br
            yi[q + s * (2 * p + 0)] = ai + bi
            dr = ar - br
            di = ai - bi
            yr[q + s * (2 * p + 1)] = dr * wr - di * wi
            yi[q + s * (2 * p + 1)] = dr * wi + di * wr
    fft0(n // 2, 2 * s, not eo, yr, yi, xr, xi)


def fft(xr, xi):
    """Transform in place."""
    n = len(xr)
    assert n & (n - 1) == 0, "the length must be a power of two"
    fft0(n, 1, False, xr, xi, np.empty(n), np.empty(n))


def program(real, imaginary):
    xr, xi = real.copy(), imaginary.copy()
    n = len(xr)
    # a Hann window first
    for k in range(n):
        w = 0.5 - 0.5 * math.cos(2 * math.pi * k / n)
        xr[k] *= w
        xi[k] *= w
    fft(xr, xi)
    power = 0.0
    phase = 0.0
    for k in range(n):
        power += (1 + k) * (xr[k] ** 2 + xi[k] ** 2)
        phase += xr[k] * xi[(k + 1) % n]
    return power / n + phase


def inputs(size=None):
    n = size or 32
    rng = np.random.default_rng(0)
    return rng.standard_normal(n), rng.standard_normal(n)
