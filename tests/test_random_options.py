"""NumPy's and SciPy's functions with options drawn from their signatures, against differences."""

import pytest

from tests.random_options import check
from tests.rules.test_rules import SAMPLES


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(3))
def test_random_options(seed):
    words = [check(function, seed) for function in list(SAMPLES)[seed::9]]
    assert words.count("right") >= 20
