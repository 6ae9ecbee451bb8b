"""Random programs that make arrays of other shapes, of lengths as in practice, are right."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from srcgrad import UnsupportedError, value_and_grad
from tests import random_shapes


def outcome(seed: int) -> str:
    text, f, (x, y, k) = random_shapes.program(seed)
    rng = np.random.default_rng(seed)
    directions = [rng.normal(size=array.shape) for array in (x, y)]

    def along(t: float) -> float:
        return float(f(x + t * directions[0], y + t * directions[1], k))

    value = along(0.0)
    try:
        found, gradient = value_and_grad(f, argnums=(0, 1))(x.copy(), y.copy(), k)
    except UnsupportedError:
        return "refused"
    assert np.isclose(found, value, rtol=1e-9, atol=1e-9), text
    slope = sum(float(np.sum(g * d)) for g, d in zip(gradient, directions, strict=True))
    scale = max(1.0, abs(slope), 1e-3 * abs(value))
    for step in (1e-6, 1e-5, 1e-7, 1e-4):
        by_hand = (along(step) - along(-step)) / (2 * step)
        if abs(slope - by_hand) <= 1e-4 * scale:
            return "right"
    raise AssertionError(f"seed {seed}: {slope} instead of {by_hand}\n{text}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("start", range(0, 80, 40))
def test_random_shapes(start: int) -> None:
    outcomes = Counter(map(outcome, range(start, start + 40)))
    assert outcomes["right"] >= 36, outcomes
