"""Random numbers: those drawn are constants, scaled and shifted by parameters that may vary.

For a location and a scale the derivative follows from the number drawn (the reparametrisation of
Kingma and Welling, Auto-Encoding Variational Bayes, 2014): out = loc + scale * z with z fixed. What
is chosen jumps where the probabilities move it, and is constant elsewhere.
"""

from __future__ import annotations

import math
import random

import numpy as np

from .registry import Unknown, adjoint, definition

OWNERS = (np.random.Generator, np.random.RandomState)
LOCATED = ("normal", "laplace", "gumbel", "logistic")
OTHERS = ("uniform", "exponential", "rayleigh")


@adjoint(*(getattr(owner, name) for owner in OWNERS for name in LOCATED))
def located(self, loc=0.0, scale=1.0, size=None, *, out, d_out):
    return None, d_out, d_out * (out - loc) / (scale + (scale == 0))


@adjoint(*(getattr(np.random, name) for name in LOCATED))
def located_by_global(loc=0.0, scale=1.0, size=None, *, out, d_out):
    return d_out, d_out * (out - loc) / (scale + (scale == 0))


@adjoint(*(owner.uniform for owner in OWNERS))
def uniform(self, low=0.0, high=1.0, size=None, *, out, d_out):
    width = high - low
    d_high = d_out * (out - low) / (width + (width == 0))
    return None, d_out - d_high, d_high


@adjoint(np.random.uniform)
def uniform_by_global(low=0.0, high=1.0, size=None, *, out, d_out):
    width = high - low
    d_high = d_out * (out - low) / (width + (width == 0))
    return d_out - d_high, d_high


adjoint(*(getattr(o, n) for o in OWNERS for n in ("exponential", "rayleigh")))(
    lambda self, scale=1.0, size=None, *, out, d_out: (None, d_out * out / (scale + (scale == 0)))
)
adjoint(np.random.exponential, np.random.rayleigh)(
    lambda scale=1.0, size=None, *, out, d_out: d_out * out / (scale + (scale == 0))
)


CHOSEN = Unknown("by what it chooses from; draw a position: x[rng.choice(len(x))]")

adjoint(np.random.Generator.choice)(
    lambda self, a, size=None, replace=True, p=None, axis=0, shuffle=True, *, out, d_out: (
        *(None, CHOSEN),
        *(None,) * 5,
    )
)
adjoint(np.random.RandomState.choice)(
    lambda self, a, size=None, replace=True, p=None, *, out, d_out: (None, CHOSEN, None, None, None)
)
adjoint(np.random.choice)(
    lambda a, size=None, replace=True, p=None, *, out, d_out: (CHOSEN, None, None, None)
)


# Of Python's module: what is chosen, sampled and shuffled are items at places that are drawn


@adjoint(random.Random.gauss, random.Random.normalvariate)
def gauss(self, mu=0.0, sigma=1.0, *, out, d_out):
    return None, d_out, d_out * (out - mu) / (sigma + (sigma == 0))


@adjoint(random.gauss, random.normalvariate)
def gauss_by_global(mu=0.0, sigma=1.0, *, out, d_out):
    return d_out, d_out * (out - mu) / (sigma + (sigma == 0))


def uniformly(self, a, b):
    return a + (b - a) * self.random()


def exponentially(self, lambd=1.0):
    return -math.log(1.0 - self.random()) / lambd


def choice(self, seq):
    if not len(seq):
        raise IndexError("Cannot choose from an empty sequence")
    return seq[self.randrange(len(seq))]


def choices(self, population, weights=None, *, cum_weights=None, k=1):
    n = len(population)
    if weights is None and cum_weights is None:
        return [population[int(self.random() * n)] for _ in range(k)]
    bounds = np.cumsum(weights) if cum_weights is None else np.array(cum_weights)
    if len(bounds) != n:
        raise ValueError("The number of weights does not match the population")
    total, inner = bounds[-1] + 0.0, bounds[:-1]
    if total <= 0.0:
        raise ValueError("Total of weights must be greater than zero")
    return [
        population[np.searchsorted(inner, self.random() * total, side="right")] for _ in range(k)
    ]


def sample(self, population, k):
    n = len(population)
    if not 0 <= k <= n:
        raise ValueError("Sample larger than population or is negative")
    pooled = n <= (21 if k <= 5 else 21 + 4 ** math.ceil(math.log(k * 3, 4)))  # as Python does it
    places = np.zeros(k, int)
    if pooled:
        pool = np.arange(n)
        for i in range(k):
            j = self.randrange(n - i)
            places[i] = pool[j]
            pool[j] = pool[n - i - 1]
    else:
        for i in range(k):
            j = self.randrange(n)
            while np.any(places[:i] == j):
                j = self.randrange(n)
            places[i] = j
    return [population[i] for i in places]


def shuffle(self, x):
    places = np.arange(len(x))
    for i in reversed(range(1, len(x))):
        j = self.randrange(i + 1)
        places[i], places[j] = places[j], places[i]
    x[:] = [x[i] for i in places]


definition(random.Random.uniform)(uniformly)
definition(random.uniform)(lambda a, b: uniformly(random, a, b))
definition(random.Random.expovariate)(exponentially)
definition(random.expovariate)(lambda lambd=1.0: exponentially(random, lambd))
definition(random.Random.choice)(choice)
definition(random.choice)(lambda seq: choice(random, seq))
definition(random.Random.choices)(choices)
definition(random.choices)(
    lambda population, weights=None, *, cum_weights=None, k=1: choices(
        random, population, weights, cum_weights=cum_weights, k=k
    )
)
definition(random.Random.sample)(sample)
definition(random.sample)(lambda population, k: sample(random, population, k))
definition(random.Random.shuffle)(shuffle)
definition(random.shuffle)(lambda x: shuffle(random, x))

PYTHONS = ("gauss", "normalvariate", "uniform", "expovariate")
CHOOSING = ("choice", "choices", "sample", "shuffle")


def described() -> set[object]:
    """The functions whose derivatives are given here."""
    names = (*LOCATED, *OTHERS, "choice")
    pythons = {getattr(o, n) for o in (random, random.Random) for n in (*PYTHONS, *CHOOSING)}
    return pythons | {getattr(owner, name) for owner in (*OWNERS, np.random) for name in names}
