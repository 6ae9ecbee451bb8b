"""Calls with arguments that are seldom given: see `random_arguments.py` for long runs."""

import pytest

pytest.importorskip("scipy")

from tests.random_arguments import call, check


@pytest.mark.parametrize("seed", range(2))
def test_derivatives_are_those_of_differences(seed):
    outcomes = {}
    for k in range(25):
        expression = call(1000 * seed + k)
        outcomes[expression] = check(expression)
    assert not {e: found for e, found in outcomes.items() if found.startswith("wrong")}
    assert sum(found == "right" for found in outcomes.values()) > 12
