"""Tuples from lists that functions are given as a whole, in loops in loops."""

import math

import numpy as np
import pytest

import srcgrad

from . import random_tuples
from .random_statements import assert_right

POINTS = np.array([[0.1, 0.0], [1.0, 0.2], [0.4, 1.3], [2.0, 2.1], [1.4, 0.9], [0.7, 0.8]])


def closest_pair(points):
    pairs = [tuple(p) for p in points]
    best = math.inf
    for i, p in enumerate(pairs):
        for q in pairs[i + 1 :]:
            best = min(best, math.dist(p, q))
    return best


def test_both_of_a_pair_have_their_adjoint():
    """That of the tuple from the loop around was lost where the inner loop had ended."""
    towards = (POINTS[2] - POINTS[5]) / np.linalg.norm(POINTS[2] - POINTS[5])
    expected = np.zeros_like(POINTS)
    expected[2], expected[5] = towards, -towards
    np.testing.assert_allclose(srcgrad.grad(closest_pair)(POINTS), expected)


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_programs(first):
    right = 0
    for seed in range(first, first + 20):
        text = random_tuples.program(seed)
        right += assert_right(text, seed)
    assert right >= 15
