"""What a workload is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Workload:
    """A function to differentiate, and its gradient written by hand.

    ``make_inputs(size)`` gives the arguments, the same on each call; `sizes` says what is tiny (the
    time goes into calls), cached, and bound by memory. `argnums` is one position, or several, in
    which case the gradient is a tuple. Where `hvp_by_hand` is given, it takes the arguments and a
    vector shaped like the gradient, and gives the product of the Hessian and the vector. Where the
    gradient by hand is another program than the function and its adjoint, `by_hand_differs` says in
    what: it is the limit all the same, but no compiler that keeps the function's own loops, arrays
    and layout reaches it.
    """

    name: str
    function: Callable[..., Any]
    gradient_by_hand: Callable[..., Any]
    make_inputs: Callable[[int], tuple[Any, ...]]
    sizes: dict[str, int]
    argnums: int | tuple[int, ...] = 0
    hvp_by_hand: Callable[..., Any] | None = None
    by_hand_differs: str = ""


def sizes(tiny: int, cache: int, memory: int) -> dict[str, int]:
    """The three size classes by name."""
    return {"tiny": tiny, "cache": cache, "memory": memory}


def normal(*shape: int, seed: int = 0) -> Array:
    """Normally distributed numbers, the same for the same shape and seed."""
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def uniform(low: float, high: float, *shape: int, seed: int = 0) -> Array:
    """Numbers between two bounds, the same for the same shape and seed."""
    return np.random.default_rng([seed, *shape]).uniform(low, high, size=shape)


def integers(high: int, *shape: int, seed: int = 0) -> Array:
    """Whole numbers from zero up to, not including, `high`."""
    return np.random.default_rng([seed, *shape]).integers(high, size=shape)
