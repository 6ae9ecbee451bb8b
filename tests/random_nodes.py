"""Random programs that make trees and linked lists of dicts, change them and go through them.

How many dicts there are, of which keys, and how they hang together is decided by the data; keys
come and go, subtrees change places, and other names stand for the same dict.
For a long run: `python -m tests.random_nodes COUNT [first seed]`.
"""

from __future__ import annotations

import random
import textwrap

import numpy as np

from . import long_runs
from .random_orders import compiled
from .random_words import filled, statement

WORDS = {
    "NUM": ["v", "w", "v * w", "0.5 * v + w", "x[I]", "x[I] * v", "w ** 2"],
    "I": ["0", "1", "2", "3"],
    "KEY": ["'a'", "'b'"],
    "LINK": ["'next'", "'other'"],
    "TEST": ["v > 0.4", "w > 0.5", "x[I] > 0.6", "KEY in n", "'b' not in n", "n is m", "k % 2"],
    "PLAIN": ["v > 0.4", "w > 0.5", "x[I] > 0.6", "d % 2"],
    "LEAF": [
        "{'a': NUM}", "{'a': NUM, 'next': None, 'other': None}", "{'b': NUM, 'a': NUM}",
        "{'a': NUM, 'name': 'leaf'}", "{'a': NUM, 'next': None}",
    ],
    "NODE": [
        "{'a': NUM, 'next': DEEP, 'other': DEEP}", "{'b': NUM, 'next': DEEP, 'other': None}",
        "{'next': DEEP, 'a': NUM}", "{'a': NUM, 'b': NUM, 'next': DEEP, 'name': 'node'}", "LEAF",
    ],
    "DEEP": ["None", "grow(0.8 * v, w, d - 1)", "grow(w, 0.7 * v, d - 1)"],
}  # fmt: skip
GROWING = (
    "if PLAIN:\n    return NODE",
    "if PLAIN:\n    n = NODE\n    n[LINK] = DEEP\n    return n",
    "if PLAIN:\n    n = NODE\n    n[KEY] = NUM\n    return n",
    "v, w = NUM, NUM",
)
CHANGING = (
    "n[KEY] = NUM",
    "if KEY in n:\n    n[KEY] *= w",
    "if KEY in n:\n    v = n[KEY]",
    "if KEY in n:\n    del n[KEY]",
    "w = n.pop(KEY, NUM)",
    "v = n.get(KEY, NUM)",
    "n.setdefault(KEY, NUM)",
    "n.update(a=NUM)",
    "n[LINK] = LEAF",
    "n[LINK] = {**LEAF, 'a': NUM}",
    "n['next'], n['other'] = n.get('other'), n.get('next')",
    "m = n",
    "m = LEAF",
    "m = {'a': NUM, 'next': n}",
    "m[KEY] = NUM",
    "n = {'a': NUM, 'other': n} if TEST else n",
    "kept.append(n)",
    "s += sum(node.get(KEY, 0.5) for node in kept) * NUM",
    "s += len(n) * NUM",
    "s += (n is m) * NUM",
    "s += (n == m) * NUM",
    "s += walk(n) * NUM",
    "s += walk(m)",
    "s += n[KEY] * NUM",
    "try:\n    s += n[KEY] * w\nexcept KeyError:\n    s += NUM",
    "n, m = m, n",
)
HEADS = ("if TEST:", "if TEST:\n    s += NUM\nelse:", "if isinstance(n, dict) and TEST:")
TEXT = """\
def walk(n):
    if n is None:
        return 0.1
    s = n.get('a', 0.3)
    if 'b' in n:
        s += n['b'] ** 2
    s += len(n.get('name', '')) * 0.1
    return s + 0.5 * walk(n.get('next')) - 0.3 * walk(n.get('other'))

def f(x):
    def grow(v, w, d):
        if d == 0:
            return LEAF
{growing}
        return NODE

    s, v, w, k, kept = 0.0, x[0], x[1], 0, []
    root = n = grow(v, w, DEPTH)
    m = LEAF
    while n is not None and k < 4:
        k += 1
        v, w = NUM, NUM
{changing}
        n = n.get(LINK)
    return s + walk(root) + walk(m) * x[2] + sum(walk(node) for node in kept)
"""


def program(seed: int) -> str:
    """The text of a function of an array of four numbers."""
    return written(random.Random(seed), TEXT, WORDS, GROWING, CHANGING, HEADS)


def written(
    r: random.Random,
    text: str,
    given: dict[str, list[str]],
    growth: tuple[str, ...],
    change: tuple[str, ...],
    heads: tuple[str, ...],
) -> str:
    """A text with statements that make nodes and change them, and with words for its gaps."""
    words = {**given, "DEPTH": ["2", "3"]}

    def rows(patterns: tuple[str, ...], heads: tuple[str, ...], count: int, most: int) -> str:
        lines = [
            row
            for _ in range(count)
            for row in statement(r, words, patterns, heads, 0.3 * bool(heads), 2, 2, most)
        ]
        return textwrap.indent("\n".join(lines), "        ")

    growing = rows(growth, (), r.randint(0, 2), 12)
    changing = rows(change, heads, r.randint(1, 5), 12)
    text = text.replace("{growing}", growing).replace("{changing}", changing)
    return "\n".join(filled(row, words, r) for row in text.split("\n"))


def check(seed: int) -> str:
    """What is said of a random program; raises if it is wrong."""
    return judged(program(seed), seed, KeyError, TypeError, RecursionError)


def judged(text: str, seed: int, *raised: type[Exception]) -> str:
    """What is said of a program, which may raise these; raises if it is wrong."""
    rng = np.random.default_rng(seed)
    x, direction = rng.uniform(0.1, 1.1, 4), rng.standard_normal(4)
    return long_runs.judged(compiled(text, seed), x, direction, *raised)


if __name__ == "__main__":
    long_runs.main(check, program)
