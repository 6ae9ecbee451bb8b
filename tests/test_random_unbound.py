"""Names that may be unbound where they are read, in random programs."""

from __future__ import annotations

import pytest

from .random_unbound import assert_right_or_raises, program


@pytest.mark.parametrize("seed", range(60))
def test_raises_where_the_program_does(seed):
    assert_right_or_raises(program(seed), seed)


def test_most_programs_say_something():
    outcomes = " ".join(assert_right_or_raises(program(seed), seed) for seed in range(100, 120))
    assert outcomes.count("right") > 8
    assert outcomes.count("raises") > 8
    assert outcomes.count("refused") < 8
