"""Random programs that read and write the items of lists of numbers, and of lists of such lists.

Lists get second names, rows are found in two places, and the same item is read before and after it
is written: by another index, on a branch, in an inner loop, by a function, where an exception is
caught. Some lists hold ints, or None in part. The argument is an array, a list or a tuple. For a
long run: `python -m tests.random_items COUNT [first seed]`.
"""

from __future__ import annotations

import linecache
import random
from typing import Any

import numpy as np

from .long_runs import judged, main

SETUP = """\
import math
import numpy as np

def smooth(items, k):
    for j in range(1, len(items)):
        items[j] += k * items[j - 1]

def swap(items, i, j):
    items[i], items[j] = items[j], items[i]

def shift(items):
    items.insert(0, items.pop() * 0.5)
    return items[0]

CHOICES = (2, 0.5, 1, 0.25, 3, 0.1) * 5

"""
FIRST = """\
def f(x):
    n, s, t, i = len(x), 0.2, 0.2, 1
    whole, gaps = [3, 1, 2, 0], [None] * n
    def put(items, j, v):
        items[j] = v * 0.5 + x[0]
"""
LENGTH = 7  # of the argument
LISTS = [
    *("{new} = [v * {k} for v in x]", "{new} = list(x)", "{new} = [{k}] * n", "{new} = {old}[:]"),
    *("{new} = [0.0] * n", "{new} = [x[j] + {k} * j for j in range(n)]", "{new} = {old}"),
    *("{new} = [math.sin(v) for v in {old}]", "{new} = {old}[::-1]", "{new} = rows[1]"),
    *("{new} = []\nfor j in range(n):\n    {new}.append(x[j] * j + {k})", "{new} = rows[0][:]"),
    "{new} = [1.0] + [0.0] * (n - 1)",
]
ROWS = [
    *("rows = [[{k} * x[j] + i for j in range(n)] for i in range(3)]", "rows = [[0.0] * n] * 3"),
    *("rows = [[{k}] * n for _ in range(3)]", "rows = [list(x), [1.0] * n, [0.0] * n]"),
]
INDICES = ["i", "i - 1", "-1", "0", "n - 1 - i", "i - 2", "2", "-i", "(i + 1) % n"]
NUMBERS = ["{a}", "{b}", "{k}", "s", "x[i]", "t", "rows[1][i]", "rows[i % 3][{i}]"]
MADE = [
    *("{p} * {q} * 0.3", "0.6 * {p} + {k} * {q}", "{p}", "math.sin({p})", "{p} - {q}", "-{p}"),
    *("{p} if {q} > 0.3 else {k} * {q}", "min({p}, {q}, 0.9)", "max({p}, {k})", "abs({p})"),
    *("np.tanh({p})", "{p} / (1.5 + {q} ** 2)"),
]
STATEMENTS = [
    *("{a} = {e}", "{a} += {e}", "{a} -= {e}", "{a} *= 0.9", "{a} = {a} * {k} + {e}", "t = {e}"),
    *("{a}, {b} = {b}, {a}", "s += {e}", "{a} += {b} * 0.2\n{b} = {e}", "rows[i % 3][{i}] = {e}"),
    *(
        "rows[{r}] = rows[{q}]",
        "rows[{r}] = {l}",
        "rows[1][{i}] += {e}",
        "t = {a}\n{a} = {e}\ns += t",
    ),
    *(
        "{l}.append({e})\n{a} += {l}.pop()",
        "smooth({l}, {k})",
        "swap({l}, {i}, {j})",
        "{l}, {m} = {m}, {l}",
    ),
    *("if {a} > {b}:\n    {a} = {e}\nelse:\n    {b} -= {f}", "if t > 0.5:\n    {l} = {m}"),
    *("for j in range(2):\n    {a} = 0.5 * {a} + {l}[j]", "for row in rows:\n    row[{i}] += {e}"),
    *(
        "{l}.sort()",
        "rows[{r}].sort(key=abs)",
        "{l} = sorted({m}, reverse=True)",
        "rows.sort(key=sum)",
    ),
    *("{l}[1:3] = [{e}, {f}]", "{l}.insert(1, {l}.pop())", "{l}.sort(key=lambda v: (v > 0.4, -v))"),
    *(
        "try:\n    t = {a}\n    {b} = {l}[i + 3] + {e}\nexcept IndexError:\n    s += {f}",
        "{a} = [{a}, {k}, {b}][i % 3]",
        "s += shift({l})",
        "whole[i % 4] = whole[i % 4] // 2 + i % 3\n{a} += {e} * whole[i % 4]",
        "whole[0] = 0\nwhole[0] += i % 2\nfor j in range(whole[0]):\n    {l}[j] += {e}",
        "gaps[i] = {e} if gaps[i - 1] is None else None\nif gaps[i] is not None:\n"
        "    {a} = 0.5 * gaps[i] + 0.3 * {a}",
        "put({l}, {i}, {e})\ns += {l}[{i}]",
        "rows[{r}], rows[{q}] = rows[{q}], rows[{r}]",
        "row = rows[i % 3]\nrow[{i}] = {e}\n{a} -= row[{j}]",
        "pick = CHOICES[(i + 1) % len(CHOICES)]\n{a} = {a} * pick * 0.3 + {e}",
        "fresh = [{k}, {p}]\nfresh[i % 2] += {a}\n{b} = fresh[0] - fresh[1]",
        "if {a} > 1.3:\n    continue\n{a} += {e}",
        "if s > 3.0:\n    break\ns += {e}",
        "del {l}[0]\n{l}.append({e})",
        "{l}[1:3] = [{e}, {f}]\ns += {l}[1]",
    ),
    *("{l}[0] = {l}[-1] = {e}", "{a} = 0.0\n{a} += {e}", "{l}.reverse()", "s = s * 0.9 + {l}[i]"),
]
LOOPS = [
    *("for i in range(n):", "for i in range(1, n):", "for i in range(n - 2, -1, -1):"),
    *("for i in range(0):", "for i in range(2, n - 1):", "for i in reversed(range(n)):"),
]
ENDS = ["s + sum({l}) + {m}[2]", "s + sum(v * v for v in {l}) * 0.1 + sum(map(sum, rows)) * 0.3"]


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng, self.lines, self.lists = rng, list[str](), ["x"]

    def filled(self, template: str) -> str:
        """A statement or expression made of random parts."""
        own = self.lists[1:] or ["rows[0]"]
        for _ in range(4):
            if "{" not in template:
                break
            i, j = self.rng.sample(INDICES, 2)
            one, other = self.rng.choice(own), self.rng.choice(own)
            made = {
                "k": str(self.rng.choice([0.3, 0.7, 1.1, 0.5])), "i": i, "j": j,
                "a": f"{one}[{i}]", "b": f"{other}[{j}]", "l": one, "m": other,
                "r": str(self.rng.randrange(3)), "old": other,
                "e": self.rng.choice(MADE), "f": self.rng.choice(MADE),
                "p": self.rng.choice(NUMBERS), "q": self.rng.choice(NUMBERS),
            }  # fmt: skip
            if "rows[{q}]" in template:
                made["q"] = str(self.rng.randrange(3))
            for name, part in made.items():
                template = template.replace(f"{{{name}}}", part)
        return template

    def write(self, text: str, depth: int) -> None:
        self.lines += ["    " * (depth + 1) + line for line in self.filled(text).split("\n")]

    def body(self) -> None:
        self.write(self.rng.choice(ROWS), 0)
        for count in range(self.rng.randint(2, 4)):
            self.write(self.rng.choice(LISTS).replace("{new}", f"a_{count}"), 0)
            self.lists.append(f"a_{count}")
        for _ in range(self.rng.randint(1, 3)):
            self.write(self.rng.choice(LOOPS), 0)
            for _ in range(self.rng.randint(1, 5)):
                self.write(self.rng.choice(STATEMENTS), 1)
        self.write("return " + self.rng.choice(ENDS), 0)


def program(seed: int) -> str:
    """The text of a function `f(x)`."""
    writer = _Writer(random.Random(seed))
    writer.body()
    return "\n".join([FIRST, *writer.lines, ""])


def check(seed: int) -> str:
    """Whether the derivatives of a program, in all modes, are right."""
    text, where = SETUP + program(seed), f"<items {seed}>"
    linecache.cache[where] = (len(text), None, text.splitlines(keepends=True), where)
    names: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, where, "exec"), names)
    rng = np.random.RandomState(seed)
    n = 0 if seed % 60 == 0 else LENGTH + 15 * (seed % 3 == 2)
    x, direction = rng.uniform(0.2, 1.1, n), rng.uniform(-1, 1, n)
    given = (np.array, list, tuple, np.ndarray.tolist)[seed % 4]
    return judged(names["f"], x, direction, IndexError, given=given)


if __name__ == "__main__":
    main(check, program)
