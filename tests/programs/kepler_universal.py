"""Two-body motion by universal variables: Stumpff functions, Newton's method, f and g functions."""

import numpy as np

ARGNUMS = (0, 1, 2)


def stumpff(z):
    """C(z) and S(z)."""
    if z > 1e-6:
        s = np.sqrt(z)
        return (1 - np.cos(s)) / z, (s - np.sin(s)) / s**3
    elif z < -1e-6:
        s = np.sqrt(-z)
        return (np.cosh(s) - 1) / -z, (np.sinh(s) - s) / s**3
    return 1 / 2 - z / 24, 1 / 6 - z / 120


def propagate(r0, v0, dt, mu, tol=1e-13, maxiter=50):
    r0_norm = np.linalg.norm(r0)
    vr0 = r0 @ v0 / r0_norm
    alpha = 2 / r0_norm - v0 @ v0 / mu
    chi = np.sqrt(mu) * abs(alpha) * dt
    for _ in range(maxiter):
        C, S = stumpff(alpha * chi**2)
        F = (
            r0_norm * vr0 / np.sqrt(mu) * chi**2 * C
            + (1 - alpha * r0_norm) * chi**3 * S
            + r0_norm * chi
            - np.sqrt(mu) * dt
        )
        dF = (
            r0_norm * vr0 / np.sqrt(mu) * chi * (1 - alpha * chi**2 * S)
            + (1 - alpha * r0_norm) * chi**2 * C
            + r0_norm
        )
        step = F / dF
        chi -= step
        if abs(step) < tol:
            break
    else:
        raise RuntimeError("no convergence")
    z = alpha * chi**2
    C, S = stumpff(z)
    f = 1 - chi**2 / r0_norm * C
    g = dt - chi**3 / np.sqrt(mu) * S
    r = f * r0 + g * v0
    r_norm = np.linalg.norm(r)
    fdot = np.sqrt(mu) / (r_norm * r0_norm) * (z * S - 1) * chi
    gdot = 1 - chi**2 / r_norm * C
    return r, fdot * r0 + gdot * v0


def elements(r, v, mu):
    """Semi-major axis, eccentricity, inclination, node, argument of periapsis."""
    h = np.cross(r, v)
    n = np.cross([0.0, 0.0, 1.0], h)
    e = np.cross(v, h) / mu - r / np.linalg.norm(r)
    a = 1 / (2 / np.linalg.norm(r) - v @ v / mu)
    i = np.arccos(h[2] / np.linalg.norm(h))
    node = np.arctan2(n[1], n[0])
    w = np.arccos(np.clip(n @ e / (np.linalg.norm(n) * np.linalg.norm(e)), -1, 1))
    return a, np.linalg.norm(e), i, node, w if e[2] >= 0 else 2 * np.pi - w


def program(r0, v0, mu, dt, legs):
    r, v = r0, v0
    misses = 0.0
    for leg in range(legs):
        r, v = propagate(r, v, dt * (1 + 0.1 * leg), mu)
        misses += np.sum((r - np.array([1.0, 0.5, -0.2])) ** 2)
    return misses + sum(x * (k + 1) for k, x in enumerate(elements(r, v, mu)))


def inputs(size=None):
    return np.array([1.0, 0.1, -0.1]), np.array([-0.1, 0.9, 0.35]), 1.0, 0.7, size or 4
