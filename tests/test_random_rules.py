"""Random programs that call functions with rules of the user's."""

import pytest

from tests.random_rules import check


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(0, 40, 2))
def test_random_programs(seed):
    check(seed)
