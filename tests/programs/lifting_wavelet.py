"""A CDF 9/7 wavelet by lifting, in place on the even and odd samples, over several levels."""

import numpy as np

ARGNUMS = (0, 1)

STEPS = (-1.586134342, -0.05298011854, 0.8829110762, 0.4435068522)
SCALE = 1.149604398


def lift(x, a, odd):
    """Add to every odd (even) sample what its neighbours say, mirrored at the ends."""
    if odd:
        x[1:-1:2] += a * (x[:-2:2] + x[2::2])
        x[-1] += 2 * a * x[-2]
    else:
        x[2::2] += a * (x[1:-1:2] + x[3::2])
        x[0] += 2 * a * x[1]


def forward(x, levels):
    n = len(x)
    for _ in range(levels):
        part = x[:n]
        for k, a in enumerate(STEPS):
            lift(part, a, odd=k % 2 == 0)
        packed = np.empty(n)
        packed[: n // 2] = part[::2] / SCALE
        packed[n // 2 :] = part[1::2] * SCALE
        part[:] = packed
        n //= 2
    return x


def inverse(x, levels):
    n = len(x) >> (levels - 1)
    while n <= len(x):
        part = x[:n]
        packed = part.copy()
        part[::2] = packed[: n // 2] * SCALE
        part[1::2] = packed[n // 2 :] / SCALE
        for k in reversed(range(len(STEPS))):
            lift(part, -STEPS[k], odd=k % 2 == 0)
        n *= 2
    return x


def program(signal, threshold, levels):
    coefficients = forward(signal.copy(), levels)
    detail = coefficients[len(signal) >> levels :]
    # firm shrinkage, smooth
    detail *= detail**2 / (detail**2 + threshold**2)
    smooth = inverse(coefficients.copy(), levels)
    return np.sum((smooth - signal) ** 2) + 0.1 * np.sum(np.sqrt(coefficients**2 + 1e-2))


def inputs(size=None):
    n = size or 32
    t = np.linspace(0, 1, n, endpoint=False)
    return np.sin(9 * t) + 0.3 * np.cos(40 * t), 0.2, 2
