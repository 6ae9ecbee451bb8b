"""Gradients of random programs (`random_statements.py`) against differences."""

import pytest

from tests.random_statements import TABLES, Writer, check


@pytest.mark.parametrize("name", TABLES)
def test_each_table(name):
    programs = (Writer(seed, (name,)).source() for seed in range(7, 27))  # some are refused
    words = (check(program, size) for program, size in zip(programs, [3, 2] * 10, strict=True))
    assert "right" in words
