"""Random programs whose names hold numbers and arrays by turns, and are assigned to in place.

Names are swapped, kept in objects, dicts and lists, handed to functions: where `a += x` writes into
an array, others may see it. For a long run: `python -m tests.random_augmented COUNT [first seed]`.
"""

from __future__ import annotations

import linecache
import random
from typing import Any

import numpy as np

from .long_runs import judged, main

SETUP = """\
import numpy as np

class Box:
    pass

def same(value):
    return value

def added(value, other):
    value += other
    return value

"""
VALUES = [
    *("{0} * x", "{0} + x * 0.3", "np.sin({0})", "{0} * 0.5", "x * 0.7", "{0} - 1", "same({0})"),
    *("{0}", "np.asarray({0})", "({0} if k % 2 else {1})", "added({0}, 0.1 * x)", "{0} * {1}"),
    *("1", "0.5", "box.v", "d['v']", "items[-1]", "np.abs({0})", "0.1 * {0} ** 2"),
]
STATEMENTS = [
    *("{0} += 0.3 * x", "{0} -= 0.5", "{0} *= 0.3 * x", "{0} += np.cos({1})", "{0} -= 0.2 * x"),
    *("{0} += {1}", "a, b = b, a", "box.v = {0}", "d['v'] = {0}", "items.append({0})"),
]
LOOPS = [f"for k in range({n}):" for n in ("n", "2", "k + 1", "1", "0")]
TESTS = ["k % 2 == 0", "k > 0", "np.sum(x) > 1.0", "np.sum({0}) > 1.0"]


class _Writer:
    def __init__(self, seed: int) -> None:
        self.rng, self.lines = random.Random(seed), list[str]()

    def write(self, text: str, depth: int) -> None:
        self.lines.append("    " * (depth + 1) + text.format(*self.rng.choices("abc", k=2)))

    def block(self, depth: int) -> None:
        for _ in range(self.rng.randint(1, 4)):
            choice = self.rng.random()
            if choice < 0.5 or depth == 3:
                self.write(self.rng.choice(STATEMENTS), depth)
            elif choice < 0.75:
                self.write("{0} = " + self.rng.choice(VALUES), depth)
            elif choice < 0.87:
                self.write(self.rng.choice(LOOPS), depth)
                self.block(depth + 1)
            else:
                self.write(f"if {self.rng.choice(TESTS)}:", depth)
                self.block(depth + 1)
                if self.rng.random() < 0.5:
                    self.write("else:", depth)
                    self.block(depth + 1)


def program(seed: int) -> str:
    """The text of a function `f(x, n)`."""
    writer = _Writer(seed)
    starts = ["a, b, c, k = 1, 0.5, 0, 0", "box = Box()", "box.v = 1.5", "items = [0.25]"]
    for line in (*starts, "d = dict(v=2.0)"):
        writer.write(line, 0)
    writer.block(0)
    writer.block(0)
    writer.write("held = 5 * np.sum(box.v) + 7 * np.sum(d['v']) + sum(np.sum(e) for e in items)", 0)
    writer.write("return np.sum(a) + 2 * np.sum(b) + 3 * np.sum(c) + held", 0)
    return "\n".join(["def f(x, n):", *writer.lines, ""])


def check(seed: int) -> str:
    """Whether the derivatives of a program by an array or by a number are right.

    That srcgrad says that it can't follow a write into an array counts as "refused".
    """
    text, where = SETUP + program(seed), f"<augmented {seed}>"
    linecache.cache[where] = (len(text), None, text.splitlines(keepends=True), where)
    names: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, where, "exec"), names)
    n = (0, 1, 3)[seed % 3]
    word = "raises"
    for x in (np.array([0.7, 1.3]), 0.8):
        direction = np.array([0.6, -0.8]) if np.ndim(x) else 1.0
        try:
            word = judged(lambda x: names["f"](x, n), x, direction, TypeError, ValueError)
        except RuntimeError as error:
            assert "an augmented assignment writes into this ndarray" in str(error)
            word = "refused"
        if word != "right":
            break
    return word


if __name__ == "__main__":
    main(check, program)
