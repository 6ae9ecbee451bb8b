"""Orthogonal polynomials as SciPy makes them: objects that are called."""

from typing import Any

import numpy as np
import pytest

import srcgrad
from tests.small_programs import check

special = pytest.importorskip("scipy.special")

FAMILIES: list[tuple[str, tuple[float, ...]]] = [
    *(("legendre", ()), ("chebyt", ()), ("chebyu", ()), ("hermite", ()), ("hermitenorm", ())),
    *(("laguerre", ()), ("genlaguerre", (1.5,)), ("gegenbauer", (1.5,)), ("jacobi", (0.5, 1.5))),
]
X = np.array([0.3, -0.5, 0.8])


@pytest.mark.parametrize("monic", [False, True])
@pytest.mark.parametrize(("name", "shape"), FAMILIES)
def test_polynomials_of_a_family(name: str, shape: tuple[float, ...], monic: bool) -> None:
    make = getattr(special, name)

    def program(x):
        total = 0.0
        for n in (0, 1, 4):
            p = make(n, *shape, monic=monic)
            slope = p.deriv()
            total += np.sum(p(x) * x) + np.sum(slope(x) * p(0.25)) + np.sum((p * 2.0 + 1)(x) ** 2)
        return total

    check(program, X)
    value, _ = srcgrad.value_and_grad(program)(X)
    assert value == pytest.approx(program(X), rel=1e-9)


def test_the_order_may_be_known_to_the_run_alone() -> None:
    def states(x):
        psi = [special.hermite(n)(x) * np.exp(-(x**2) / 2) for n in range(len(x))]
        return sum(np.sum(p * psi[0]) / (k + 1) for k, p in enumerate(psi))

    check(states, X)


OUTSIDE = special.hermite(3)


def test_a_polynomial_that_is_there_before() -> None:
    def program(x):
        moved = OUTSIDE * 2 + 1
        return np.sum(OUTSIDE.deriv()(x)) + np.sum(moved(x)) + np.sum(OUTSIDE.weights) * x[0]

    check(program, X)
    with pytest.raises(srcgrad.UnsupportedError, match="made outside"):
        srcgrad.grad(lambda x: np.sum(OUTSIDE(x)))(X)


def test_errors() -> None:
    with pytest.raises(ValueError, match="nonnegative"):
        srcgrad.grad(lambda x: np.sum(special.legendre(-1)(x)))(X)


class Unhashable:
    """Its instances are equal if they hold the same, so that they have no hash."""

    __module__ = "scipy.like"

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __eq__(self, other: Any) -> Any:
        return self.factor == other.factor

    def __call__(self, x: Any) -> Any:
        return self.factor * x


TRIPLE = Unhashable(3.0)


def test_a_callable_object_without_a_hash() -> None:
    check(lambda x: np.sum(TRIPLE(x) * x), X)
