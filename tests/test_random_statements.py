"""Gradients of random programs (`random_statements.py` and its like) against differences."""

import pytest

from tests import random_structures
from tests.random_statements import TABLES, Writer, check


@pytest.mark.parametrize("name", TABLES)
def test_each_table(name):
    programs = (Writer(seed, (name,)).source() for seed in range(7, 27))  # some are refused
    words = (check(program, size) for program, size in zip(programs, [3, 2] * 10, strict=True))
    assert "right" in words


@pytest.mark.parametrize("name", random_structures.TABLES)
def test_each_table_of_structures(name):
    programs = (Writer(seed, (name,), random_structures.TABLES).source() for seed in range(8))
    words = [check(program, size) for program, size in zip(programs, [3, 2] * 4, strict=True)]
    assert words.count("right") >= 4
