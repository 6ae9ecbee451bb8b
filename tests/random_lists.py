"""Random programs over lists that are filled, read, changed and read again, in loops and functions.

For a long run: `python -m tests.random_lists COUNT [first seed]`.
"""

from __future__ import annotations

import linecache
import random
from typing import Any

import numpy as np

from .long_runs import judged, main

SETUP = """\
import numpy as np

class Pair:
    def __init__(self, p, q):
        self.p = p
        self.q = q

def total(items, n):
    if n < 0:
        return 0.0
    return items[n] * 0.5 + total(items, n - 1) * 0.9

def change(items, item):
    for i in range(len(items)):
        if i == 1:
            items[i] = item
    items.append(item)

"""
NUMBERS = ["a", "b", "x[0]", "x[1] * 0.5", "a * b", "np.sin(a)", "x[2] + a", "0.3"]
# what is in a list: how an item is made of numbers {0} and {1} in trip {2}, and what reads it
ITEMS = {
    "number": ("{0} * (1 + 0.1 * {2})", ["{0} ** 2 * 0.1", "np.sin({0})", "{0} * a"]),
    "tuple": ("({0} + 0.1 * {2}, {1}, {2})", ["{0}[0] * {0}[1]", "np.cos({0}[0]) * {0}[2] * 0.1"]),
    "list": ("[{0}, {1} * {2}]", ["{0}[0] * {0}[1]", "sum({0})", "{0}[-1] * b"]),
    "array": ("x * {0} + 0.1 * {2}", ["np.sum({0} ** 2) * 0.1", "{0}[1] * {0}[0]", "{0} @ x"]),
    "both": ("({0}, x * {1})", ["{0}[0] * {0}[1][2]", "np.sum({0}[1]) * {0}[0]"]),
    "object": ("Pair({0} + {2}, {1})", ["{0}.p * {0}.q", "{0}.p ** 2 * 0.1"]),
}
# ways to read a list {0}: {1} is what is made of `e`, {2} of `{0}[j]`, {3} of `{0}[j - 1]`
READS = [
    "for e in {0}:\n    s += {1}",
    "for j in range(len({0})):\n    s += {2} * (1 + j)",
    "for j, e in enumerate({0}):\n    s += {1} * (1 + j)",
    "for e in reversed({0}):\n    s = 0.9 * s + {1}",
    "for e in {0}[1:]:\n    s = 0.5 * s + {1}",
    "s += sum({1} for e in {0})",
    "for j in range(1, len({0})):\n    s += {2} * ({3})",
    "for e in {0}:\n    first = {1}\n    for e in {0}:\n        s += first * ({1}) * 0.1",
    "j = 0\nwhile j < len({0}):\n    if s > 40:\n        break\n    s += {2}\n    j += 1",
]
# ways to change one: {4} is a new item, {5} a list of the same kind
CHANGES = [
    "{0}.append({4})",
    "{0}[1] = {4}",
    "for j in range(1, len({0})):\n    s += {2}\n    {0}[j] = {0}[j - 1]\n    s += {2} * 0.3",
    "if len({0}) > 2:\n    e = {0}.pop()\n    s += {1}",
    "{0}.insert(1, {4})",
    "{0}.reverse()",
    "{0}, {5} = {5}, {0}",
    "{5} = {0}",
    "change({0}, {4})",
]
OF_KIND = {
    "array": ["{0}[0][1] += a", "for e in {0}:\n    e *= 1.1"],
    "list": ["{0}[1][0] = s * 0.01\n{0}[0].append(b)"],
    "object": ["for e in {0}:\n    e.p += s * 0.01"],
    "number": ["s += total({0}, len({0}) - 1)"],
}


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng, self.lines, self.count = rng, list[str](), 0
        self.lists: dict[str, str] = {}  # the names of the lists there are, and of what

    def write(self, text: str, depth: int) -> None:
        self.lines += ["    " * (depth + 1) + line for line in text.split("\n")]

    def item(self, kind: str, trip: str) -> str:
        return ITEMS[kind][0].format(*self.rng.choices(NUMBERS, k=2), trip)

    def filled(self, depth: int) -> None:
        self.count += 1
        name, kind, n = f"items_{self.count}", self.rng.choice([*ITEMS]), self.rng.randint(3, 5)
        item, way = self.item(kind, "i"), self.rng.random()
        if way < 0.4:
            self.write(f"{name} = [{item} for i in range({n})]", depth)
        else:
            skipped = "    if i == 1:\n        continue\n" if way > 0.9 else ""
            loop = f"for i in range({n}):\n{skipped}    {name}.append({item})"
            self.write(f"{name} = []\n{loop}", depth)
        self.lists[name] = kind

    def used(self, texts: list[str], name: str, depth: int) -> None:
        kind = self.lists[name]
        same = [other for other, k in self.lists.items() if k == kind]
        reads = [self.rng.choice(ITEMS[kind][1]) for _ in range(3)]
        places = ["e", f"{name}[j]", f"{name}[j - 1]"]
        made = [read.format(place) for read, place in zip(reads, places, strict=True)]
        item, other = self.item(kind, "2"), self.rng.choice(same)
        self.write(self.rng.choice(texts).format(name, *made, item, other), depth)

    def block(self, depth: int, count: int) -> None:
        outer = dict(self.lists)
        for _ in range(count):
            choice = self.rng.random()
            if choice < 0.2 or not self.lists:
                self.filled(depth)
                continue
            name = self.rng.choice([*self.lists])
            if choice < 0.55 or depth == 2:
                self.used(READS, name, depth)
            elif choice < 0.8:
                self.used(CHANGES + OF_KIND.get(self.lists[name], []), name, depth)
            else:
                loops = [f"for k_{depth} in range({self.rng.randint(1, 3)}):", "if s > 1:"]
                self.write(f"{self.rng.choice(loops)}\n    s *= 0.9", depth)
                self.block(depth + 1, self.rng.randint(1, 3))
        if depth:
            self.lists = outer


def program(seed: int) -> str:
    """The text of a function `f(x)`."""
    writer = _Writer(random.Random(seed))
    writer.write("a = x[0] + 0.2\nb = x[1] * x[2]\ns = 0.1 * a", 0)
    writer.block(0, writer.rng.randint(5, 9))
    writer.write("return s", 0)
    return "\n".join(["def f(x):", *writer.lines, ""])


def check(seed: int) -> str:
    """Whether the derivatives of a program, in all modes, are right."""
    text, where = SETUP + program(seed), f"<lists {seed}>"
    linecache.cache[where] = (len(text), None, text.splitlines(keepends=True), where)
    names: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, where, "exec"), names)
    return judged(names["f"], np.array([0.7, 0.4, 1.1]), np.array([0.5, -0.8, 0.3]), IndexError)


if __name__ == "__main__":
    main(check, program)
