"""Sample a posterior with Hamiltonian Monte Carlo.

    python examples/hmc.py

Logistic regression with a prior, on synthetic data. Each leapfrog step needs the gradient of the
log density; its value decides whether the end of the trajectory is accepted.
"""

import argparse

import numpy as np

from srcgrad import value_and_grad


@value_and_grad
def log_density(w, x, y):
    margin = (x @ w) * np.where(y, 1.0, -1.0)
    return -np.sum(np.logaddexp(0.0, -margin)) - 0.5 * np.sum(w**2) / 4.0


def sample(density, w, steps, rng, step=0.12, leaps=12):
    """A chain of positions, and how many proposals were accepted."""
    chain, accepted = [], 0
    value, slope = density(w)
    for _ in range(steps):
        momentum = rng.normal(size=w.shape)
        before = value - 0.5 * momentum @ momentum
        new, new_value, new_slope = w, value, slope
        for _ in range(leaps):
            momentum = momentum + 0.5 * step * new_slope
            new = new + step * momentum
            new_value, new_slope = density(new)
            momentum = momentum + 0.5 * step * new_slope
        if np.log(rng.uniform()) < new_value - 0.5 * momentum @ momentum - before:
            w, value, slope, accepted = new, new_value, new_slope, accepted + 1
        chain.append(w)
    return np.array(chain), accepted


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=3000)
    options = parser.parse_args()

    rng = np.random.default_rng(0)
    truth = np.array([1.5, -2.0, 0.5, 0.0])
    x = rng.normal(size=(200, 4))
    y = rng.uniform(size=200) < 1 / (1 + np.exp(-x @ truth))

    chain, accepted = sample(lambda w: log_density(w, x, y), np.zeros(4), options.samples, rng)
    chain = chain[len(chain) // 10 :]
    print(f"{options.samples} samples, {100 * accepted / options.samples:.0f}% accepted")
    for i, true in enumerate(truth):
        low, high = np.quantile(chain[:, i], [0.05, 0.95])
        print(f"w[{i}]  mean {chain[:, i].mean():6.3f}, 90% in [{low:6.3f}, {high:6.3f}]  ({true})")
    print(f"\nThe generated gradient:\n\n{log_density.source}")


if __name__ == "__main__":
    main()
