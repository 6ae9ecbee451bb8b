"""A stochastic growth model by value function iteration on a grid, with Howard steps."""

import numpy as np

ARGNUMS = (0, 1, 2)


def utility(c, sigma):
    if sigma == 1.0:
        return np.log(c)
    return c ** (1 - sigma) / (1 - sigma)


def rouwenhorst(n, rho, sd):
    p = (1 + rho) / 2
    P = np.array([[p, 1 - p], [1 - p, p]])
    for _ in range(2, n):
        k = P.shape[0]
        new = np.zeros((k + 1, k + 1))
        new[:k, :k] += p * P
        new[:k, 1:] += (1 - p) * P
        new[1:, :k] += (1 - p) * P
        new[1:, 1:] += p * P
        new[1:-1] /= 2
        P = new
    z = np.linspace(-1, 1, n) * sd * np.sqrt((n - 1) / (1 - rho**2))
    return np.exp(z), P


def program(beta, alpha, rho, sigma, n_k, n_z, sweeps):
    delta = 0.1
    z, P = rouwenhorst(n_z, rho, 0.1)
    k_star = (alpha / (1 / 0.95 - 1 + delta)) ** (1 / (1 - alpha))
    grid = np.linspace(0.5, 1.5, n_k) * k_star
    output = z[:, None] * grid**alpha + (1 - delta) * grid
    V = utility(output, sigma) / (1 - beta)
    policy = np.zeros((n_z, n_k), dtype=int)
    for _sweep in range(sweeps):
        EV = P @ V
        V_new = np.empty_like(V)
        for i in range(n_z):
            for j in range(n_k):
                c = output[i, j] - grid
                feasible = c > 0
                best, best_value = 0, -np.inf
                for a in range(n_k):
                    if not feasible[a]:
                        break
                    value = utility(c[a], sigma) + beta * EV[i, a]
                    if value > best_value:
                        best, best_value = a, value
                policy[i, j] = best
                V_new[i, j] = best_value
        if np.max(np.abs(V_new - V)) < 1e-9:
            break
        V = V_new
        for _ in range(3):
            c = output - grid[policy]
            V = utility(c, sigma) + beta * np.array([(P[i] @ V)[policy[i]] for i in range(n_z)])
    return np.mean(V)


def inputs(size=None):
    return 0.93, 0.33, 0.9, 2.0, size or 8, 3, 4
