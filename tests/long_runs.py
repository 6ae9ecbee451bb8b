"""A generator of programs run for long: `python -m tests.random_rows COUNT [first seed]`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable


def main(check: Callable[[int], str], program: Callable[[int], str]) -> None:
    """Count what is said of the programs of so many seeds; print those of which it is wrong."""
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    words: Counter[str] = Counter()
    for seed in range(first, first + count):
        try:
            word = check(seed)
        except Exception as error:
            word = "wrong"
            print(f"-- {seed}: {type(error).__name__}: {str(error)[:600]}\n{program(seed)}")
        words[word] += 1
    print(dict(words))
