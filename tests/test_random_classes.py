"""Gradients of random programs of classes (`random_classes.py`) against differences."""

import pytest

from tests.random_classes import FAMILIES, Writer, check


@pytest.mark.parametrize("name", FAMILIES)
def test_each_family(name):
    words = [check(Writer(seed, (name,)).source(), seed) for seed in range(200, 205)]
    assert "right" in words


def test_families_mixed():
    words = [check(Writer(seed).source(), seed) for seed in range(300, 306)]
    assert "right" in words
