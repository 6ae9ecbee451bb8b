"""Runge-Kutta-Fehlberg with step size control for the van der Pol oscillator.

Steps are accepted or rejected by the error estimate; the step sizes are part of the computation.
The last step ends exactly at the final time.
"""

import numpy as np

ARGNUMS = (0, 1)

C = (0.0, 1 / 4, 3 / 8, 12 / 13, 1.0, 1 / 2)
A = (
    (),
    (1 / 4,),
    (3 / 32, 9 / 32),
    (1932 / 2197, -7200 / 2197, 7296 / 2197),
    (439 / 216, -8.0, 3680 / 513, -845 / 4104),
    (-8 / 27, 2.0, -3544 / 2565, 1859 / 4104, -11 / 40),
)
B5 = (16 / 135, 0.0, 6656 / 12825, 28561 / 56430, -9 / 50, 2 / 55)
B4 = (25 / 216, 0.0, 1408 / 2565, 2197 / 4104, -1 / 5, 0.0)


def van_der_pol(t, y, mu):
    return np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0] + 0.1 * np.cos(t)])


def rkf45_step(f, t, y, h, args):
    k = []
    for c, row in zip(C, A, strict=True):
        stage = y.copy()
        for a, slope in zip(row, k, strict=True):
            stage += h * a * slope
        k.append(f(t + c * h, stage, *args))
    high = y + h * sum(b * slope for b, slope in zip(B5, k, strict=True))
    low = y + h * sum(b * slope for b, slope in zip(B4, k, strict=True))
    return high, np.sqrt(np.mean((high - low) ** 2))


def integrate(f, y0, t_end, args=(), tolerance=1e-4, h=0.5):
    t = 0.0
    y = y0
    trajectory = [(t, y)]
    rejected = 0
    while t < t_end:
        if t + h > t_end:
            h = t_end - t
        y_new, error = rkf45_step(f, t, y, h, args)
        if error <= tolerance:
            t = t + h
            y = y_new
            trajectory.append((t, y))
        else:
            rejected += 1
            if rejected > 100:
                raise RuntimeError("too many rejected steps")
        h *= min(4.0, max(0.1, 0.84 * (tolerance / error) ** 0.25))
        if t_end - t < 1e-12:
            break
    return trajectory


def program(y0, mu, t_end):
    evaluations = 0

    def counted(t, y, *args):
        nonlocal evaluations
        evaluations += 1
        return van_der_pol(t, y, *args)

    trajectory = integrate(counted, y0, t_end, args=(mu,))
    assert evaluations >= 6 * (len(trajectory) - 1)
    action = 0.0
    for n in range(1, len(trajectory)):
        (t0, a), (t1, b) = trajectory[n - 1], trajectory[n]
        action += 0.5 * (t1 - t0) * (a @ a + b @ b)
    _, final = trajectory[-1]
    return action + final[0] * 2 - final[1]


def inputs(size=None):
    return np.array([1.5, -0.3]), 1.2, float(size or 3)
