"""Random programs in which a name holds values of different kinds, against differences."""

import numpy as np
import pytest

import srcgrad
from tests import random_choices
from tests.random_statements import loaded, slope


@pytest.mark.parametrize("first", range(0, 60, 12))
@pytest.mark.parametrize("program", [random_choices.program, random_choices.lists_or_none])
def test_random_programs(program, first):
    right = 0
    for seed in range(first, first + 12):
        text = program(seed)
        f = loaded(text)["f"]
        r = np.random.default_rng(seed)
        x, direction, n = r.uniform(0.3, 2.2, 6), r.normal(size=6), int(r.integers(0, 4))
        expected = slope(lambda x, f=f, n=n: f(x, n), (x,), (direction,))
        if expected is None:
            continue
        try:
            value, gradient = srcgrad.value_and_grad(f)(x, n)
        except srcgrad.UnsupportedError:
            continue
        assert value == pytest.approx(f(x, n)), text
        assert gradient @ direction == pytest.approx(expected, rel=1e-5, abs=1e-6), text
        _, tangent = srcgrad.jvp(f, (x, n), (direction, None))
        assert tangent == pytest.approx(gradient @ direction), text
        right += 1
    assert right >= 4
