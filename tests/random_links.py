"""Random programs that make trees and linked lists of tuples, named tuples and short lists.

How many there are, and how they hang together, is decided by the data. Tuples are made anew where
they change, lists are stored into, and other names stand for the same list.
For a long run: `python -m tests.random_links COUNT [first seed]`.
"""

from __future__ import annotations

import random

from . import long_runs, random_nodes

WORDS = {
    "NUM": ["v", "w", "v * w", "0.5 * v + w", "x[I]", "x[I] * v", "w ** 2"],
    "I": ["0", "1", "2", "3"],
    "LINK": ["1", "2"],
    "TEST": [
        "v > 0.4", "w > 0.5", "x[I] > 0.6", "n is m", "k % 2", "n[LINK]", "not n[LINK]",
        "n[LINK] is None", "n[LINK] is not None and n[LINK][0] > 0.3", "n[0] > 0.3",
    ],
    "PLAIN": ["v > 0.4", "w > 0.5", "x[I] > 0.6", "d % 2"],
    "DEEP": ["None", "grow(0.8 * v, w, d - 1)", "grow(w, 0.7 * v, d - 1)"],
}  # fmt: skip
MADE = {
    "tuples": "(NUM, {0}, {1})",
    "named": "Tree(NUM, {0}, {1})",
    "lists": "[NUM, {0}, {1}]",
}
GROWING = {
    "tuples": ("if PLAIN:\n    return NODE", "v, w = NUM, NUM"),
    "named": (
        "if PLAIN:\n    return NODE",
        "if PLAIN:\n    n = NODE\n    return n._replace(left=DEEP)",
        "v, w = NUM, NUM",
    ),
    "lists": (
        "if PLAIN:\n    n = NODE\n    n[LINK] = DEEP\n    return n",
        "if PLAIN:\n    n = NODE\n    n[0] = NUM\n    return n",
        "v, w = NUM, NUM",
    ),
}
CHANGING = (
    "v, l, r = n\ns += v * NUM",
    "v, *rest = n",
    "s += sum(1.0 for part in n if part is None) * NUM",
    "s += len(n) * NUM",
    "s += (n is m) * NUM",
    "s += walk(n) * NUM",
    "s += walk(m)",
    "s += n[0] * NUM",
    "s += n[-1][0] if n[-1] else NUM",
    "m = n",
    "m = LEAF",
    "m = JOIN",
    "n = JOIN if TEST else n",
    "n, m = m, n",
    "m = n[LINK] or LEAF",
    "kept.append(n)",
    "try:\n    s += n[LINK][0] * w\nexcept TypeError:\n    s += NUM",
)
OF_LISTS = (
    "n[0] = NUM",
    "n[0] *= w",
    "n[LINK] = LEAF",
    "m[0] += NUM",
    "n[1], n[2] = n[2], n[1]",
    "n[LINK] = None",
    "if n[LINK] is not None:\n    n[LINK][0] = NUM",
)
OF_NAMED = (
    "s += n.v * NUM",
    "m = n._replace(v=NUM)",
    "n = n._replace(left=m)",
    "m = n._replace(left=n.right, right=n.left)",
    "s += n.left.v if n.left else NUM",
)
HEADS = ("if TEST:", "if TEST:\n    s += NUM\nelse:", "if isinstance(n, (tuple, list)) and TEST:")
TEXT = """\
from typing import Any, NamedTuple

class Tree(NamedTuple):
    v: float
    left: Any = None
    right: Any = None

def walk(n, depth=0):
    if n is None or depth > 5:
        return 0.1
    v, left, right = n
    return v ** 2 + 0.5 * walk(left, depth + 1) - 0.3 * walk(right, depth + 1)

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
        n = n[LINK]
    return s + walk(root) + walk(m) * x[2] + sum(walk(node) for node in kept)
"""


def program(seed: int) -> str:
    """The text of a function of an array of four numbers."""
    r = random.Random(seed)
    kind = r.choice(list(MADE))
    made = MADE[kind]
    words = {
        **WORDS,
        "LEAF": [made.format(None, None)],
        "NODE": [made.format("DEEP", "DEEP"), made.format("None", "DEEP")],
        "JOIN": [made.format("n", None), made.format(None, "n"), made.format("m", "n")],
    }
    change = CHANGING + {"lists": OF_LISTS, "named": OF_NAMED}.get(kind, ())
    return random_nodes.written(r, TEXT, words, GROWING[kind], change, HEADS)


def check(seed: int) -> str:
    """What is said of a random program; raises if it is wrong."""
    return random_nodes.judged(program(seed), seed, TypeError, RecursionError, AttributeError)


if __name__ == "__main__":
    long_runs.main(check, program)
