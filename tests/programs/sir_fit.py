"""An SIR epidemic integrated with Heun's method and compared with weekly case counts; the contact
rate changes when a lockdown begins."""

import numpy as np

ARGNUMS = (0, 1, 2)


def sir_rates(state, beta, gamma):
    S, I, R = state  # noqa: E741
    N = S + I + R
    infections = beta * S * I / N
    recoveries = gamma * I
    return [-infections, infections - recoveries, recoveries]


def heun_step(state, beta, gamma, dt):
    k1 = sir_rates(state, beta, gamma)
    guess = [s + dt * k for s, k in zip(state, k1, strict=True)]
    k2 = sir_rates(guess, beta, gamma)
    return [s + 0.5 * dt * (a + b) for s, a, b in zip(state, k1, k2, strict=True)]


def simulate(parameters, initial_infected, population, days, dt=0.5):
    beta0, beta1, gamma = parameters
    state = [population - initial_infected, initial_infected, 0.0]
    weekly = []
    last_total = state[0]
    day = 0.0
    while day < days:
        beta = beta0 if day < 21 else beta1
        for _ in range(round(1 / dt)):
            state = heun_step(state, beta, gamma, dt)
        day += 1
        if day % 7 == 0:
            weekly.append(last_total - state[0])
            last_total = state[0]
    return np.array(weekly), state


def program(parameters, initial_infected, report_rate, observed):
    days = 7 * len(observed)
    cases, (_, infected, recovered) = simulate(parameters, initial_infected, 1000.0, days)
    expected = report_rate * cases + 1.0  # imported cases
    # Poisson deviance
    deviance = 2 * np.sum(expected - observed + observed * np.log(observed / expected))
    return deviance + 1e-3 * infected + 1e-4 * recovered


def inputs(size=None):
    weeks = 6 if size is None else size
    rng = np.random.default_rng(0)
    observed = rng.uniform(5.0, 60.0, size=weeks)
    return np.array([0.35, 0.18, 0.12]), 8.0, 0.6, observed
