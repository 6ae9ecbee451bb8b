"""Random numbers: those drawn are constants, scaled and shifted by parameters that may vary.

For a location and a scale the derivative follows from the number drawn (the reparametrisation of
Kingma and Welling, Auto-Encoding Variational Bayes, 2014): out = loc + scale * z with z fixed. What
is chosen jumps where the probabilities move it, and is constant elsewhere.
"""

from __future__ import annotations

import numpy as np

from .registry import Unknown, adjoint

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


def described() -> set[object]:
    """The functions whose derivatives are given here."""
    names = (*LOCATED, *OTHERS, "choice")
    return {getattr(owner, name) for owner in (*OWNERS, np.random) for name in names}
