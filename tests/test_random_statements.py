"""Gradients of random programs (`random_statements.py`) against differences."""

import pytest

from tests.random_statements import TABLES, Writer, check


@pytest.mark.parametrize("name", TABLES)
def test_each_table(name):
    words = [check(Writer(seed, (name,)).source(), size) for seed, size in ((7, 3), (8, 2))]
    assert "right" in words, words
