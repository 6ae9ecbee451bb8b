"""Simulations: differential equations, stencils, moving bodies, filters.

In the gradients of the stencils nothing is recorded, as they are linear: only the last state of the
forward run is needed, and the adjoint runs the same stencil backwards.
"""

from __future__ import annotations

import numpy as np

from benchmarks.workloads.base import Workload, normal, sizes, uniform


def _pendulum(state, stiffness):
    return np.stack([state[1], -stiffness * np.sin(state[0])])


def pendulums(state, stiffness, steps, h):
    """Potential energy of pendulums after some steps of the Runge-Kutta method of order four."""
    y = state
    for _ in range(steps):
        k1 = _pendulum(y, stiffness)
        k2 = _pendulum(y + 0.5 * h * k1, stiffness)
        k3 = _pendulum(y + 0.5 * h * k2, stiffness)
        k4 = _pendulum(y + h * k3, stiffness)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum(1 - np.cos(y[0]))


def pendulums_gradient(state, stiffness, steps, h):
    """By hand: of each stage, the angle is recorded."""
    q, p = state
    k = stiffness
    half = 0.5 * h
    angles = []
    for _ in range(steps):
        a1 = np.sin(q)
        a1 *= -k
        q2 = q + half * p
        p2 = p + half * a1
        a2 = np.sin(q2)
        a2 *= -k
        q3 = q + half * p2
        p3 = p + half * a2
        a3 = np.sin(q3)
        a3 *= -k
        q4 = q + h * p3
        p4 = p + h * a3
        a4 = np.sin(q4)
        a4 *= -k
        angles.append((q, q2, q3, q4))
        p2 += p3
        p2 *= 2.0
        p2 += p
        p2 += p4
        p2 *= h / 6
        q = q + p2
        a2 += a3
        a2 *= 2.0
        a2 += a1
        a2 += a4
        a2 *= h / 6
        p = p + a2

    d_state = np.zeros(state.shape, state.dtype)
    d_q, d_p = d_state
    np.sin(q, out=d_q)
    d_k = np.zeros(k.shape, k.dtype)
    for q1, q2, q3, q4 in reversed(angles):
        once_q, once_p = h / 6 * d_q, h / 6 * d_p
        twice_q, twice_p = 2.0 * once_q, 2.0 * once_p

        d_k -= np.sin(q4) * once_p
        d_q4 = np.cos(q4)
        d_q4 *= -k
        d_q4 *= once_p
        d_q += d_q4
        d_p += once_q
        d_q4 *= h
        d_p3 = twice_q + d_q4
        d_a3 = h * once_q
        d_a3 += twice_p

        d_k -= np.sin(q3) * d_a3
        d_q3 = np.cos(q3)
        d_q3 *= -k
        d_q3 *= d_a3
        d_q += d_q3
        d_p += d_p3
        d_q3 *= half
        d_q3 += twice_q
        d_p3 *= half
        d_p3 += twice_p

        d_k -= np.sin(q2) * d_p3
        d_q2 = np.cos(q2)
        d_q2 *= -k
        d_q2 *= d_p3
        d_q += d_q2
        d_p += d_q3
        d_q2 *= half
        d_q2 += once_q
        d_q3 *= half
        d_q3 += once_p

        d_k -= np.sin(q1) * d_q3
        d_q1 = np.cos(q1)
        d_q1 *= -k
        d_q1 *= d_q3
        d_q += d_q1
        d_p += d_q2
    return d_state, d_k


def jacobi_1d(a, steps):
    """Sum of squares after averaging each element with its neighbours, to and fro."""
    a = a.copy()
    b = a.copy()
    for _ in range(steps):
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3
        a[1:-1] = (b[:-2] + b[1:-1] + b[2:]) / 3
    return np.sum(a * a)


def jacobi_1d_gradient(a, steps):
    """By hand: the sweeps on views made once."""
    a = a.copy()
    b = a.copy()
    a_parts = a[:-2], a[1:-1], a[2:]
    b_parts = b[:-2], b[1:-1], b[2:]
    for _ in range(steps):
        for (left, middle, right), (_, t, _) in ((a_parts, b_parts), (b_parts, a_parts)):
            np.add(left, middle, out=t)
            t += right
            t /= 3.0
    # from here on, the same buffers and their views are the adjoints
    a *= 2.0
    b[...] = 0.0
    t = np.empty_like(a_parts[1])
    for _ in range(steps):
        for (_, d_new, _), d_old_parts in ((a_parts, b_parts), (b_parts, a_parts)):
            np.divide(d_new, 3.0, out=t)
            d_new[...] = 0.0
            for d_old in d_old_parts:
                d_old += t
    a += b
    return a


def jacobi_2d(a, steps):
    """Sum of squares after averaging each element of a grid with its neighbours, to and fro."""
    a = a.copy()
    b = a.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (
            a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1]
        )
        a[1:-1, 1:-1] = 0.2 * (
            b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1]
        )
    return np.sum(a * a)


def jacobi_2d_gradient(a, steps):
    """By hand: the sweeps on views made once."""
    a = a.copy()
    b = a.copy()
    a_parts, b_parts = _cross_of_views(a), _cross_of_views(b)
    for _ in range(steps):
        for (middle, left, *others), (t, *_) in ((a_parts, b_parts), (b_parts, a_parts)):
            np.add(middle, left, out=t)
            for other in others:
                t += other
            t *= 0.2
    # from here on, the same buffers and their views are the adjoints
    a *= 2.0
    b[...] = 0.0
    t = np.empty_like(a_parts[0])
    for _ in range(steps):
        for (d_new, *_), d_old_parts in ((a_parts, b_parts), (b_parts, a_parts)):
            np.multiply(d_new, 0.2, out=t)
            d_new[...] = 0.0
            for d_old in d_old_parts:
                d_old += t
    a += b
    return a


def _cross_of_views(a):
    return a[1:-1, 1:-1], a[1:-1, :-2], a[1:-1, 2:], a[2:, 1:-1], a[:-2, 1:-1]


def heat_3d(u, steps):
    """Sum of squares of the temperatures in a box after some time, in place."""
    u = u.copy()
    for _ in range(steps):
        c = u[1:-1, 1:-1, 1:-1]
        along_x = u[2:, 1:-1, 1:-1] - 2 * c + u[:-2, 1:-1, 1:-1]
        along_y = u[1:-1, 2:, 1:-1] - 2 * c + u[1:-1, :-2, 1:-1]
        along_z = u[1:-1, 1:-1, 2:] - 2 * c + u[1:-1, 1:-1, :-2]
        u[1:-1, 1:-1, 1:-1] += 0.125 * (along_x + along_y + along_z)
    return np.sum(u * u)


def heat_3d_gradient(u, steps):
    """By hand: a quarter of the middle, and an eighth of each of six neighbours."""
    u = u.copy()
    inner = u[1:-1, 1:-1, 1:-1]
    neighbours = (
        u[2:, 1:-1, 1:-1],
        u[:-2, 1:-1, 1:-1],
        u[1:-1, 2:, 1:-1],
        u[1:-1, :-2, 1:-1],
        u[1:-1, 1:-1, 2:],
        u[1:-1, 1:-1, :-2],
    )
    t = np.empty_like(inner)
    for _ in range(steps):
        np.add(neighbours[0], neighbours[1], out=t)
        for neighbour in neighbours[2:]:
            t += neighbour
        t *= 0.125
        inner *= 0.25
        inner += t
    # from here on, the same buffer and its views are the adjoint
    u *= 2.0
    for _ in range(steps):
        np.multiply(inner, 0.125, out=t)
        inner *= 0.25
        for neighbour in neighbours:
            neighbour += t
    return u


def seidel_2d(a, steps):
    """Sum of squares after averaging over nine elements, each with those before it renewed."""
    a = a.copy()
    rows, columns = a.shape
    for _ in range(steps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                a[i, j] = (
                    a[i - 1, j - 1]
                    + a[i - 1, j]
                    + a[i - 1, j + 1]
                    + a[i, j - 1]
                    + a[i, j]
                    + a[i, j + 1]
                    + a[i + 1, j - 1]
                    + a[i + 1, j]
                    + a[i + 1, j + 1]
                ) / 9
    return np.sum(a * a)


def seidel_2d_gradient(a, steps):
    """By hand: element by element, which lists of numbers are faster at than arrays."""
    rows, columns = a.shape
    values = a.tolist()
    for _ in range(steps):
        for i in range(1, rows - 1):
            above, row, below = values[i - 1 : i + 2]
            for j in range(1, columns - 1):
                row[j] = (
                    above[j - 1]
                    + above[j]
                    + above[j + 1]
                    + row[j - 1]
                    + row[j]
                    + row[j + 1]
                    + below[j - 1]
                    + below[j]
                    + below[j + 1]
                ) / 9
    d_values = (2.0 * np.array(values)).tolist()
    for _ in range(steps):
        for i in range(rows - 2, 0, -1):
            d_above, d_row, d_below = d_values[i - 1 : i + 2]
            for j in range(columns - 2, 0, -1):
                t = d_row[j] / 9
                d_row[j] = t
                d_above[j - 1] += t
                d_above[j] += t
                d_above[j + 1] += t
                d_row[j - 1] += t
                d_row[j + 1] += t
                d_below[j - 1] += t
                d_below[j] += t
                d_below[j + 1] += t
    return np.array(d_values)


def n_body(x, v, mass, steps, dt):
    """Kinetic energy of bodies that attract each other, after some time."""
    for _ in range(steps):
        d = x[None, :, :] - x[:, None, :]
        r2 = np.sum(d * d, axis=2) + 0.01
        w = mass / (r2 * np.sqrt(r2))
        v = v + dt * np.sum(d * w[:, :, None], axis=1)
        x = x + dt * v
    return 0.5 * np.sum(mass * np.sum(v * v, axis=1))


def n_body_gradient(x, v, mass, steps, dt):
    """By hand: recorded are the weights and the squared distances, the differences anew."""
    recorded = []
    n, dimensions = x.shape
    t = np.empty((n, n, dimensions))
    for step in range(steps):
        d = x[None, :, :] - x[:, None, :]
        r2 = np.multiply(d, d, out=t).sum(axis=2)
        r2 += 0.01
        w = np.sqrt(r2)
        w *= r2
        np.divide(mass, w, out=w)
        recorded.append((x, r2, w))
        np.multiply(d, w[:, :, None], out=t)
        a = t.sum(axis=1)
        a *= dt
        v = v + a
        if step < steps - 1:
            x = x + dt * v
    d_v = v * mass[:, None]
    d_mass = (v * v).sum(axis=1)
    d_mass *= 0.5
    d_x = np.zeros(x.shape, x.dtype)
    for x, r2, w in reversed(recorded):
        d_v += dt * d_x
        d_a = (dt * d_v)[:, None, :]
        d = x[None, :, :] - x[:, None, :]
        # the gradient of d * w goes into d_a's direction by w, and into d's by the distance
        np.multiply(d, d_a, out=t)
        d_w = t.sum(axis=2)
        d_w *= w
        d_mass += d_w.sum(axis=0) / mass
        d_w *= -3.0
        d_w /= r2
        d *= d_w[:, :, None]
        np.multiply(w[:, :, None], d_a, out=t)
        d += t
        d_x += d.sum(axis=0)
        d_x -= d.sum(axis=1)
    return d_x, d_v, d_mass


def recursive_filter(x, c):
    """Sum of squares of a signal after a recursive filter of order two, element by element."""
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = c[0] * x[i]
        if i >= 1:
            y[i] += c[1] * y[i - 1]
        if i >= 2:
            y[i] += c[2] * y[i - 2]
    return np.sum(y * y)


def recursive_filter_gradient(x, c):
    """By hand: the recurrences on Python's numbers, what is left on arrays."""
    c0, c1, c2 = c.tolist()
    y, before, last = [], 0.0, 0.0
    for number in (c0 * x).tolist():
        before, last = last, number + c1 * last + c2 * before
        y.append(last)
    y = np.array(y)
    d_y, after, last = [], 0.0, 0.0
    for number in (2.0 * y[::-1]).tolist():
        after, last = last, number + c1 * last + c2 * after
        d_y.append(last)
    d_y = np.array(d_y[::-1])
    d_c = np.array([d_y @ x, d_y[1:] @ y[:-1], d_y[2:] @ y[:-2]])
    d_y *= c0
    return d_y, d_c


WORKLOADS = (
    Workload(
        "pendulums",
        pendulums,
        pendulums_gradient,
        lambda n: (normal(2, n), uniform(0.5, 2, n), 10, 0.1),
        sizes(5, 5_000, 250_000),
        argnums=(0, 1),
    ),
    Workload(
        "jacobi 1-D",
        jacobi_1d,
        jacobi_1d_gradient,
        lambda n: (normal(n), 10),
        sizes(12, 20_000, 2_000_000),
    ),
    Workload(
        "jacobi 2-D",
        jacobi_2d,
        jacobi_2d_gradient,
        lambda n: (normal(n, n + 1), 5),
        sizes(6, 150, 1_500),
    ),
    Workload(
        "heat 3-D",
        heat_3d,
        heat_3d_gradient,
        lambda n: (normal(n, n + 1, n + 2), 5),
        sizes(5, 28, 128),
    ),
    Workload(
        "seidel 2-D",
        seidel_2d,
        seidel_2d_gradient,
        lambda n: (normal(n, n + 1), 2),
        sizes(6, 30, 150),
        by_hand_differs="lists of Python's numbers in place of an array",
    ),
    Workload(
        "n-body",
        n_body,
        n_body_gradient,
        lambda n: (normal(n, 3), normal(n, 3, seed=1), uniform(0.5, 1.5, n) / n, 5, 0.05),
        sizes(5, 60, 500),
        argnums=(0, 1, 2),
    ),
    Workload(
        "recursive filter",
        recursive_filter,
        recursive_filter_gradient,
        lambda n: (normal(n), np.array([0.5, 0.9, -0.3])),
        sizes(10, 1_000, 50_000),
        argnums=(0, 1),
        by_hand_differs="lists of Python's numbers in place of arrays",
    ),
)
