"""Random programs of what has effects where it isn't seen: special methods, generators, views."""

import pytest

from tests import random_complex, random_generators, random_protocols
from tests.random_statements import assert_right

LEAST = {random_complex: 5, random_generators: 4, random_protocols: 1}  # right of twelve


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", (0, 12, 24))
@pytest.mark.parametrize("module", LEAST, ids=lambda module: module.__name__.partition("_")[2])
def test_random_programs(module, first):
    right = 0
    for seed in range(first, first + 12):
        text = module.program(seed)
        right += assert_right(text, seed, lambda r: int(r.integers(0, 4)), may_refuse=True)
    assert right >= LEAST[module]
