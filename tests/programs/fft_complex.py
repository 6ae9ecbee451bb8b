"""Iterative Cooley-Tukey FFT in place on a complex array, with bit reversal and butterflies.

Used for a circular convolution of two real signals by the product of their transforms.
"""

import cmath

import numpy as np

ARGNUMS = (0, 1)


def bit_reverse(a):
    n = len(a)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            a[i], a[j] = a[j], a[i]


def fft(a, inverse=False):
    n = len(a)
    bit_reverse(a)
    length = 2
    while length <= n:
        half = length // 2
        step = cmath.exp((2j if inverse else -2j) * cmath.pi / length)
        for start in range(0, n, length):
            w = 1 + 0j
            for k in range(half):
                u = a[start + k]
                v = a[start + k + half] * w
                a[start + k] = u + v
                a[start + k + half] = u - v
                w *= step
        length <<= 1
    if inverse:
        a /= n


def convolve(x, y):
    fx = x.astype(complex)
    fy = y.astype(complex)
    fft(fx)
    fft(fy)
    fx *= fy
    power = np.sum(np.abs(fx) ** 2)
    fft(fx, inverse=True)
    return fx.real, power


def program(x, y):
    result, power = convolve(x, y)
    return np.dot(result, np.cos(np.arange(len(x)))) + 1e-3 * power


def inputs(size=None):
    n = size or 16
    rng = np.random.default_rng(0)
    return rng.standard_normal(n), rng.standard_normal(n)
