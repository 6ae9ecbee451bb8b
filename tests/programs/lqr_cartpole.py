"""A cart and pole held upright: the gain from iterating the Riccati equation, then simulated."""

import numpy as np

ARGNUMS = (0, 1)


def linearise(physics, dt):
    M, m, length, g = physics["M"], physics["m"], physics["length"], physics["g"]
    A = np.eye(4)
    A[0, 1] = A[2, 3] = dt
    A[1, 2] = -m * g / M * dt
    A[3, 2] = (M + m) * g / (length * M) * dt
    B = np.array([[0.0], [dt / M], [0.0], [-dt / (M * length)]])
    return A, B


def dare(A, B, Q, R, iterations):
    P = Q
    for _ in range(iterations):
        gain = np.linalg.inv(R + B.T @ P @ B) @ (B.T @ P @ A)
        P = Q + A.T @ P @ (A - B @ gain)
    return gain


def derivative(state, force, *, M, m, length, g):
    _x, v, angle, omega = state
    s, c = np.sin(angle), np.cos(angle)
    temp = (force + m * length * omega**2 * s) / (M + m)
    alpha = (g * s - c * temp) / (length * (4 / 3 - m * c**2 / (M + m)))
    return np.array([v, temp - m * length * alpha * c / (M + m), omega, alpha])


def rk4(f, y, dt, *args, **kwargs):
    k1 = f(y, *args, **kwargs)
    k2 = f(y + dt / 2 * k1, *args, **kwargs)
    k3 = f(y + dt / 2 * k2, *args, **kwargs)
    k4 = f(y + dt * k3, *args, **kwargs)
    return y + dt / 6 * (k1 + 2 * (k2 + k3) + k4)


def program(weights, start, dt, steps):
    physics = {"M": 1.0, "m": 0.1, "length": 0.5, "g": 9.81}
    A, B = linearise(physics, dt)
    K = dare(A, B, np.diag(weights[:4]), np.array([[weights[4]]]), 60)
    state = start
    cost, peak = 0.0, 0.0
    for _k in range(steps):
        (force,) = -K @ state
        if abs(force) > 10.0:
            force = 10.0 * np.sign(force)
        cost += (state @ state + 0.01 * force**2) * dt
        state = rk4(derivative, state, dt, force, **physics)
        peak = max(peak, abs(state[0]))
        if abs(state[2]) > 0.8:
            cost += 100.0
            break
    return cost + 0.1 * peak


def inputs(size=None):
    return np.array([1.0, 0.5, 10.0, 1.0, 0.1]), np.array([0.1, 0.0, 0.12, -0.05]), 0.02, size or 25
