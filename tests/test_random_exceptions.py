"""Gradients of random programs (`random_exceptions.py`) against differences."""

import pytest

from tests.random_exceptions import BEFORE, Writer, check


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_programs(first):
    words = [check(BEFORE + Writer(seed).source(), 3) for seed in range(first, first + 10)]
    assert "right" in words  # some are refused, some raise
