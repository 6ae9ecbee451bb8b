"""Programs of the corpus rewritten: the same gradients."""

import numpy as np
import pytest

from . import rewriting

SOURCE = """
import numpy as np

def program(x, n):
    y = np.zeros(3)
    for i in range(n):
        if i % 2:
            y[i] = x[i] * 2
        else:
            y[i] += x[i]
    return y
"""


@pytest.mark.parametrize("seed", range(100, 112))
def test_what_does_the_same_has_the_same_gradient(seed):
    assert rewriting.check(seed) == "right"


@pytest.mark.parametrize("way", rewriting.WAYS, ids=lambda way: way.__name__)
def test_each_way_rewrites(way):
    text = rewriting.rewritten(SOURCE, [way])
    assert text != rewriting.rewritten(SOURCE, [])
    names = {}
    exec(text, names)
    assert names["program"](np.array([1.0, 2.0, 3.0]), 3).tolist() == [1.0, 4.0, 3.0]
