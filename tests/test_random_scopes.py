"""Random programs about names, functions and their arguments (`random_scopes.py`)."""

import pytest

from tests import random_scopes
from tests.random_statements import assert_right


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_programs(first):
    right = 0
    for seed in range(first, first + 10):
        text = random_scopes.program(seed)
        right += assert_right(text, seed, lambda r: int(r.integers(0, 5)), may_refuse=True)
    assert right >= 6
