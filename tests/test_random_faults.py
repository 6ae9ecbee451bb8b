"""Calls that NumPy and SciPy may refuse, in a `try`."""

import pytest

from tests.random_faults import check
from tests.rules.test_rules import SAMPLES


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(2))
def test_random_faults(seed):
    words = [check(function, seed) for function in list(SAMPLES)[seed::20]]
    assert words.count("right") >= 6 and words.count("right: raised") >= 3
