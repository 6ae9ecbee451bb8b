"""`np.mgrid` and `np.ogrid`: of bounds that only the run knows, and written in place."""

import numpy as np
import pytest

from tests.small_programs import check, programs


def pairs(x):
    n = len(x)
    i, j = np.mgrid[0:n, 0:n]
    return (x[i] * x[j] * (i + 2 * j)).sum()


def open_grid(x):
    i, j = np.ogrid[: len(x), :4]
    return np.exp(-i * x[0] - j * x[1]).sum()


def counted(x):
    grid = np.mgrid[0 : x[0] : 5j, -1:1:4j]
    return (grid**2).sum() * x[1]


def one_axis(x):
    return (np.mgrid[0 : len(x)] * x).sum() + (np.mgrid[1.0:4.0:0.5] * x[0]).sum()


def unpacked_floats(x):
    y, z = np.mgrid[0:3, 0 : len(x)].astype(float) / 2
    return (x * y * z).sum()


def written(x):
    total = 0.0
    for i in range(2):
        y = np.mgrid[1:4.0]
        y[i] *= x[0]
        y += x
        total += np.outer(x, x) @ y @ np.mgrid[0:3]
    return total


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_program(f):
    check(f)
