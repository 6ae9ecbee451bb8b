"""Rows of random programs, made of patterns whose words stand for what may be written there."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence


def filled(row: str, words: Mapping[str, Sequence[str]], r: random.Random, most: int = 12) -> str:
    """A pattern with a choice in the place of each word, in which there may be words again.

    After so many, a word's first choice is taken, which is to be a plain one.

    >>> filled("s += NUM * s", {"NUM": ["x[I]"], "I": ["0"]}, random.Random(0))
    's += x[0] * s'
    """
    pattern = re.compile(r"(?<!['\w])(?:" + "|".join(words) + r")(?!['\w])")
    for count in range(200):
        found = pattern.search(row)
        if found is None:
            break
        choices = words[found.group()]
        choice = choices[0] if count >= most else r.choice(choices)
        row = row[: found.start()] + choice + row[found.end() :]
    return row


def statement(
    r: random.Random,
    words: Mapping[str, Sequence[str]],
    patterns: Sequence[str],
    heads: Sequence[str],
    nesting: float = 0.2,
    deepest: int = 3,
    longest: int = 3,
    most: int = 12,
) -> list[str]:
    """The rows of a statement: of a pattern, or of a head with statements in it.

    `nesting` is how often it has some, to a depth of `deepest`, and at most so many.
    """
    if r.random() < nesting and deepest > 0:
        head = filled(r.choice(heads), words, r, most).split("\n")
        rest = (nesting, deepest - 1, longest, most)
        inside = (
            row
            for _ in range(r.randint(1, longest))
            for row in statement(r, words, patterns, heads, *rest)
        )
        return [*head, *("    " + row for row in inside)]
    return filled(r.choice(patterns), words, r, most).split("\n")


def several(numbers: int) -> list[str]:
    """The indices of so many items.

    >>> several(3)
    ['0', '1', '2']
    """
    return [str(i) for i in range(numbers)]
