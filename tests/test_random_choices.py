"""Random programs in which a name holds values of different kinds, against differences."""

import pytest

from tests import random_choices
from tests.random_statements import assert_right


@pytest.mark.parametrize("first", range(0, 60, 12))
@pytest.mark.parametrize("program", [random_choices.program, random_choices.lists_or_none])
def test_random_programs(program, first):
    right = 0
    for seed in range(first, first + 12):
        text = program(seed)
        right += assert_right(text, seed, lambda r: int(r.integers(0, 4)), may_refuse=True)
    assert right >= 4
