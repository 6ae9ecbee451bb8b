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


def several(numbers: int) -> list[str]:
    """The indices of so many items.

    >>> several(3)
    ['0', '1', '2']
    """
    return [str(i) for i in range(numbers)]
