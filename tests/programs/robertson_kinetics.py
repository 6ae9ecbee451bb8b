"""Stiff chemical kinetics: reactions in a table, mass action, implicit Euler with Newton."""

from collections import namedtuple

import numpy as np

ARGNUMS = (0, 1)

Reaction = namedtuple("Reaction", "rate reactants products")


def build(k):
    return [
        Reaction(k[0], {"A": 1}, {"B": 1}),
        Reaction(k[1], {"B": 2}, {"B": 1, "C": 1}),
        Reaction(k[2], {"B": 1, "C": 1}, {"A": 1, "C": 1}),
    ]


def rhs(y, reactions, index):
    dydt = np.zeros(len(y))
    for reaction in reactions:
        speed = reaction.rate
        for name, order in reaction.reactants.items():
            speed = speed * y[index[name]] ** order
        for name, order in reaction.reactants.items():
            dydt[index[name]] -= order * speed
        for name, order in reaction.products.items():
            dydt[index[name]] += order * speed
    return dydt


def jacobian(y, reactions, index):
    J = np.zeros((len(y), len(y)))
    for rate, reactants, products in reactions:
        for wrt, power in reactants.items():
            slope = rate * power * y[index[wrt]] ** (power - 1)
            for other, order in reactants.items():
                if other != wrt:
                    slope = slope * y[index[other]] ** order
            for name, order in reactants.items():
                J[index[name], index[wrt]] -= order * slope
            for name, order in products.items():
                J[index[name], index[wrt]] += order * slope
    return J


def program(k, y0, t_end, steps):
    species = ["A", "B", "C"]
    index = {name: i for i, name in enumerate(species)}
    reactions = build(k)
    y = y0.copy()
    h = t_end / steps
    eye = np.eye(len(species))
    out = [y0]
    for _ in range(steps):
        guess = y.copy()
        for _ in range(20):
            residual = guess - y - h * rhs(guess, reactions, index)
            delta = np.linalg.solve(eye - h * jacobian(guess, reactions, index), -residual)
            guess += delta
            if np.linalg.norm(delta) < 1e-12:
                break
        y = guess
        out.append(y)
    table = np.array(out)
    return table[-1] @ np.array([1.0, 1e3, -2.0]) + np.sum(table[:, 2] ** 2)


def inputs(size=None):
    return np.array([0.04, 30.0, 10.0]), np.array([1.0, 0.1, 0.05]), 4.0, size or 8
