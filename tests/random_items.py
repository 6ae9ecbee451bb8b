"""Random programs that read and write the items of lists of numbers, and of lists of such lists.

Lists get second names, rows are found in two places, and the same item is read before and after it
is written: by another index, on a branch, in an inner loop, by a function. The argument is an
array, a list or a tuple. For a long run: `python -m tests.random_items COUNT [first seed]`.
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
    first = ["def f(x):", "    n = len(x)", "    s = t = 0.2", "    i = 1"]
    return "\n".join([*first, *writer.lines, ""])


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
