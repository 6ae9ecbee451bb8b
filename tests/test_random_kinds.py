"""NumPy's and SciPy's functions with an argument of which only the run tells the kind."""

import pytest

from tests.random_kinds import check
from tests.rules.test_rules import SAMPLES


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(2))
def test_random_kinds(seed):
    words = [check(function, seed) for function in list(SAMPLES)[seed::15]]
    assert words.count("right") >= 10
