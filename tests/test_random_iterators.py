"""Random programs whose iterators are asked for some items while their containers change."""

import pytest

from . import random_iterators
from .random_statements import assert_right


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_programs(first):
    right = 0
    for seed in range(first, first + 10):
        text = random_iterators.program(seed)
        right += assert_right(text, seed, may_refuse=True)
    assert right >= 5
