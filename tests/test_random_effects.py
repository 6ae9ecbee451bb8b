"""Random programs of what has effects where it isn't seen: special methods, generators, views."""

import numpy as np
import pytest

import srcgrad
from tests import (
    random_complex,
    random_compositions,
    random_dtypes,
    random_generators,
    random_letters,
    random_memory,
    random_protocols,
    random_stores,
)
from tests.random_statements import assert_right, loaded

LEAST = {  # right of twelve
    random_complex: 5, random_dtypes: 7, random_generators: 4, random_letters: 8,
    random_memory: 6, random_protocols: 1, random_stores: 4,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", (0, 12, 24))
@pytest.mark.parametrize("module", LEAST, ids=lambda module: module.__name__.partition("_")[2])
def test_random_programs(module, first):
    right = 0
    for seed in range(first, first + 12):
        text = module.program(seed)
        right += assert_right(text, seed, lambda r: int(r.integers(0, 4)), may_refuse=True)
    assert right >= LEAST[module]


@pytest.mark.filterwarnings("ignore")
def test_compositions():
    right = 0
    for seed in range(10):
        text = random_compositions.program(seed)
        right += assert_right(text, seed, lambda r: int(r.integers(0, 4)), may_refuse=True)
    assert right >= 6


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("module", (random_complex, random_memory, random_stores))
def test_second_derivatives(module):
    """Products with the Hessian against differences of gradients."""
    compared = 0
    for seed in range(50, 58):
        f, r = loaded(module.program(seed))["f"], np.random.default_rng(seed)
        x, v, n = r.uniform(0.3, 2.2, 6), r.normal(size=6), int(r.integers(0, 4))
        gradient = srcgrad.grad(f)

        def along(h, g=gradient, x=x, v=v, n=n):
            return (g(x + h * v, n) - g(x - h * v, n)) / (2 * h)

        try:
            near, far = along(1e-6), along(3e-6)
            found = srcgrad.hvp(f)(x, n, v)
        except (srcgrad.UnsupportedError, ValueError, TypeError, IndexError):
            continue
        scale = max(1.0, np.max(np.abs(near)))
        if np.allclose(near, far, rtol=0, atol=1e-5 * scale):  # no branch is taken otherwise
            np.testing.assert_allclose(found, near, rtol=0, atol=1e-4 * scale)
            compared += 1
    assert compared > 2
