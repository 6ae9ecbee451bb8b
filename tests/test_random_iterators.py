"""Random programs whose iterators are asked for some items while their containers change."""

import numpy as np
import pytest

import srcgrad

from . import random_iterators
from .random_statements import loaded, slope


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_programs(first):
    right = 0
    for seed in range(first, first + 10):
        text = random_iterators.program(seed)
        f = loaded(text)["f"]
        r = np.random.default_rng(seed)
        x, direction = r.uniform(0.3, 2.2, 6), r.normal(size=6)
        expected = slope(f, (x,), (direction,))
        if expected is None:
            continue
        try:
            value, gradient = srcgrad.value_and_grad(f)(x.copy())
        except srcgrad.UnsupportedError:
            continue
        assert value == pytest.approx(f(x.copy())), text
        assert gradient @ direction == pytest.approx(expected, rel=1e-5, abs=1e-6), text
        _, tangent = srcgrad.jvp(f, (x.copy(),), (direction,))
        assert tangent == pytest.approx(gradient @ direction), text
        right += 1
    assert right >= 5
