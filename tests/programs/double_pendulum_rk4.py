"""Double pendulum with RK4; the right-hand side is a closure over masses and lengths. The result
mixes the end point, the path of the lower bob and the energy drift."""

import numpy as np

ARGNUMS = (0, 1, 2)

G = 9.81


def make_pendulum(masses, lengths):
    m1, m2 = masses
    l1, l2 = lengths

    def derivative(state, t):
        th1, th2, w1, w2 = state
        delta = th1 - th2
        den = 2 * m1 + m2 - m2 * np.cos(2 * delta)
        a1 = (
            -G * (2 * m1 + m2) * np.sin(th1)
            - m2 * G * np.sin(th1 - 2 * th2)
            - 2 * np.sin(delta) * m2 * (w2**2 * l2 + w1**2 * l1 * np.cos(delta))
        ) / (l1 * den)
        a2 = (
            2
            * np.sin(delta)
            * (
                w1**2 * l1 * (m1 + m2)
                + G * (m1 + m2) * np.cos(th1)
                + w2**2 * l2 * m2 * np.cos(delta)
            )
        ) / (l2 * den)
        return np.array([w1, w2, a1, a2])

    def energy(state):
        th1, th2, w1, w2 = state
        v1sq = (l1 * w1) ** 2
        v2sq = v1sq + (l2 * w2) ** 2 + 2 * l1 * l2 * w1 * w2 * np.cos(th1 - th2)
        y1 = -l1 * np.cos(th1)
        y2 = y1 - l2 * np.cos(th2)
        return 0.5 * m1 * v1sq + 0.5 * m2 * v2sq + G * (m1 * y1 + m2 * y2)

    return derivative, energy


def rk4(f, y0, t0, t1, steps):
    h = (t1 - t0) / steps
    y, t = y0, t0
    trajectory = np.zeros((steps + 1, len(y0)))
    trajectory[0] = y
    for k in range(steps):
        k1 = f(y, t)
        k2 = f(y + h * k1 / 2, t + h / 2)
        k3 = f(y + h * k2 / 2, t + h / 2)
        k4 = f(y + h * k3, t + h)
        y = y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6
        t += h
        trajectory[k + 1] = y
    return trajectory


def program(y0, masses, lengths, steps):
    derivative, energy = make_pendulum(masses, lengths)
    path = rk4(derivative, y0, 0.0, 0.5, steps)
    x = lengths[0] * np.sin(path[:, 0]) + lengths[1] * np.sin(path[:, 1])
    drift = energy(path[-1]) - energy(path[0])
    return np.mean(x**2) + 1e-1 * np.sum(path[-1] ** 2) + drift**2


def inputs(size=None):
    steps = 12 if size is None else size
    return np.array([1.2, -0.4, 0.3, 0.1]), (1.0, 0.7), [1.0, 0.8], steps
