"""Monte Carlo price of an up-and-out Asian call with antithetic paths and a fixed seed."""

import numpy as np

ARGNUMS = (0, 1, 2, 3, 4)


def simulate(spot, rate, sigma, maturity, steps, n_paths, rng):
    """Geometric Brownian motion; the second half of the columns are the antithetic paths."""
    dt = maturity / steps
    drift = (rate - 0.5 * sigma**2) * dt
    diffusion = sigma * np.sqrt(dt)
    half = n_paths // 2
    S = np.empty((steps + 1, 2 * half))
    S[0, :] = spot
    for t in range(1, steps + 1):
        z = rng.standard_normal(half)
        S[t, :half] = S[t - 1, :half] * np.exp(drift + diffusion * z)
        S[t, half:] = S[t - 1, half:] * np.exp(drift - diffusion * z)
    return S


def knocked_out(path, barrier):
    return any(price >= barrier for price in path)


def program(spot, strike, rate, sigma, maturity, n_paths, steps):
    rng = np.random.default_rng(0)
    S = simulate(spot, rate, sigma, maturity, steps, n_paths, rng)
    barrier = 150.0
    payoffs = []
    n_out = 0
    for k in range(S.shape[1]):
        path = S[:, k]
        if knocked_out(path, barrier):
            n_out += 1
            payoffs.append(0.0)
            continue
        average = sum(path[1:]) / steps
        payoffs.append(max(average - strike, 0.0))
    discount = np.exp(-rate * maturity)
    price = discount * np.mean(np.array(payoffs))
    # control variate: the forward is known exactly
    forward_error = discount * S[-1].mean() - spot
    return price - 0.3 * forward_error


def inputs(size=None):
    n_paths = 60 if size is None else size
    return 100.0, 98.0, 0.03, 0.25, 1.5, n_paths, 12
