"""Orthogonal polynomials as objects: `scipy.special.hermite(n)`, called at once or later."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from ..polynomial_classes import Descending
from ..registry import definition, made_of, passes_for

OF_SCIPY = type(special.legendre(1))


@passes_for(OF_SCIPY)
class Orthogonal(Descending):
    """A polynomial that is evaluated by the function of its family, as SciPy's are."""

    def __init__(self, n, nodes, leading, evaluate, monic):
        self.n, self.nodes, self.leading, self.evaluate = n, nodes, leading, evaluate
        self.monic = monic

    def __call__(self, v):
        return self.evaluate(v) / self.leading if self.monic else self.evaluate(v)

    @property
    def values(self):
        """From its roots: what SciPy does arithmetic with."""
        scale = 1.0 if self.monic else self.leading
        return scale * np.poly(self.nodes(self.n)) if self.n > 0 else np.full(1, 1.0 * scale)

    @property
    def weights(self):
        raise NotImplementedError("the weights of a polynomial: use scipy.special.roots_legendre")


@passes_for(OF_SCIPY)
class OrthogonalOutside(Descending):
    """One that is there before: what SciPy evaluates it by hides its order."""

    def __init__(self, values, weights):
        self.values, self.weights = values, weights

    def __call__(self, v):
        raise NotImplementedError(
            "an orthogonal polynomial that was made outside of the function: make it inside, or "
            "call scipy.special.eval_hermite(n, x) or its like"
        )


made_of[OF_SCIPY] = (OrthogonalOutside, "coeffs", "weights")


def of_order(n, nodes, leading, evaluate, monic):
    if n < 0:
        raise ValueError("n must be nonnegative.")
    return Orthogonal(n, nodes, leading, evaluate, monic)


@definition(special.legendre)
def legendre(n, monic=False):
    leading = special.binom(2 * n, n) / 2.0**n
    nodes = lambda n: special.roots_legendre(n)[0]  # noqa: E731
    return of_order(n, nodes, leading, lambda v: special.eval_legendre(n, v), monic)


@definition(special.chebyt)
def chebyt(n, monic=False):
    leading = 2.0 ** max(n - 1, 0)
    nodes = lambda n: special.roots_chebyt(n)[0]  # noqa: E731
    return of_order(n, nodes, leading, lambda v: special.eval_chebyt(n, v), monic)


@definition(special.chebyu)
def chebyu(n, monic=False):
    nodes = lambda n: special.roots_chebyu(n)[0]  # noqa: E731
    return of_order(n, nodes, 2.0**n, lambda v: special.eval_chebyu(n, v), monic)


@definition(special.hermite)
def hermite(n, monic=False):
    nodes = lambda n: special.roots_hermite(n)[0]  # noqa: E731
    return of_order(n, nodes, 2.0**n, lambda v: special.eval_hermite(n, v), monic)


@definition(special.hermitenorm)
def hermitenorm(n, monic=False):
    nodes = lambda n: special.roots_hermitenorm(n)[0]  # noqa: E731
    return of_order(n, nodes, 1.0, lambda v: special.eval_hermitenorm(n, v), monic)


@definition(special.laguerre)
def laguerre(n, monic=False):
    nodes = lambda n: special.roots_laguerre(n)[0]  # noqa: E731
    leading = (-1.0) ** n / math.factorial(max(n, 0))
    return of_order(n, nodes, leading, lambda v: special.eval_laguerre(n, v), monic)


@definition(special.genlaguerre)
def genlaguerre(n, alpha, monic=False):
    nodes = lambda n: special.roots_genlaguerre(n, alpha)[0]  # noqa: E731
    leading = (-1.0) ** n / math.factorial(max(n, 0))
    return of_order(n, nodes, leading, lambda v: special.eval_genlaguerre(n, alpha, v), monic)


@definition(special.gegenbauer)
def gegenbauer(n, alpha, monic=False):
    nodes = lambda n: special.roots_gegenbauer(n, alpha)[0]  # noqa: E731
    leading = 2.0**n * special.poch(alpha, n) / math.factorial(max(n, 0))
    return of_order(n, nodes, leading, lambda v: special.eval_gegenbauer(n, alpha, v), monic)


@definition(special.jacobi)
def jacobi(n, alpha, beta, monic=False):
    nodes = lambda n: special.roots_jacobi(n, alpha, beta)[0]  # noqa: E731
    leading = special.poch(n + alpha + beta + 1, n) / 2.0**n / math.factorial(max(n, 0))
    return of_order(n, nodes, leading, lambda v: special.eval_jacobi(n, alpha, beta, v), monic)
