"""Plane truss by the stiffness method: assembly over the bars, fixed nodes, an inclined roller (a
Lagrange multiplier) and a solve; compliance plus a penalty on the stress in each bar."""

import numpy as np

ARGNUMS = (0, 1, 2, 3)


def bar_geometry(nodes, i, j):
    dx = nodes[j, 0] - nodes[i, 0]
    dy = nodes[j, 1] - nodes[i, 1]
    length = np.sqrt(dx**2 + dy**2)
    return length, dx / length, dy / length


def assemble(nodes, bars, areas, E):
    n_dof = 2 * len(nodes)
    K = np.zeros((n_dof, n_dof))
    for (i, j), A in zip(bars, areas, strict=True):
        L, c, s = bar_geometry(nodes, i, j)
        k = E * A / L
        direction = np.array([-c, -s, c, s])
        ke = k * np.outer(direction, direction)
        dofs = [2 * i, 2 * i + 1, 2 * j, 2 * j + 1]
        for a in range(4):
            for b in range(4):
                K[dofs[a], dofs[b]] += ke[a, b]
    return K


def gauss_solve(A, b):
    """Gaussian elimination with partial pivoting, in place."""
    n = len(b)
    for k in range(n - 1):
        pivot = k + int(np.argmax(np.abs(A[k:, k])))
        if pivot != k:
            A[[k, pivot]] = A[[pivot, k]]
            b[[k, pivot]] = b[[pivot, k]]
        for i in range(k + 1, n):
            if A[i, k] != 0.0:
                factor = A[i, k] / A[k, k]
                A[i, k:] -= factor * A[k, k:]
                b[i] -= factor * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x


def program(areas, nodes, load, slope, bars, fixed):
    E = 10.0
    K = assemble(nodes, bars, areas, E)
    free = [d for d in range(2 * len(nodes)) if d not in fixed]
    u = np.zeros(2 * len(nodes))
    # unknowns: the force of the roller under the last node but one, then the displacements
    m = len(free)
    A = np.zeros((m + 1, m + 1))
    A[1:, 1:] = K[np.ix_(free, free)]
    A[0, m - 4], A[0, m - 3] = np.sin(slope), np.cos(slope)
    A[:, 0] = A[0]
    rhs = np.zeros(m + 1)
    rhs[1:] = load[free]
    u[free] = gauss_solve(A, rhs)[1:]
    compliance = load @ u
    stress_penalty = 0.0
    for i, j in bars:
        L, c, s = bar_geometry(nodes, i, j)
        strain = ((u[2 * j] - u[2 * i]) * c + (u[2 * j + 1] - u[2 * i + 1]) * s) / L
        stress_penalty += (E * strain) ** 4
    return compliance + 0.01 * stress_penalty


def inputs(size=None):
    n = 3 if size is None else size  # columns of nodes
    rng = np.random.default_rng(0)
    nodes = np.array([[float(k), float(y)] for k in range(n) for y in (0, 1)])
    nodes += 0.05 * rng.normal(size=nodes.shape)
    bars = []
    for k in range(n - 1):
        a, b, c, d = 2 * k, 2 * k + 1, 2 * k + 2, 2 * k + 3
        bars += [(a, c), (b, d), (c, d), (a, d), (b, c)]
    load = np.zeros(2 * len(nodes))
    load[-1] = load[-3] = -0.4
    load[-2] = 0.1
    return rng.uniform(0.5, 1.5, size=len(bars)), nodes, load, 0.3, bars, {0, 1, 2, 3}
