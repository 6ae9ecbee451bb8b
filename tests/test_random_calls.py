"""One gradient called with many kinds of arguments in turn (`random_calls.py`)."""

import pytest

from tests.random_calls import Writer, check


@pytest.mark.parametrize("start", range(0, 20, 10))
def test_random_calls(start):
    words = []
    for seed in range(start, start + 10):
        writer = Writer(seed)
        source = writer.source()
        words += check(source, writer.calls(source))
    assert words.count("right") >= 10
