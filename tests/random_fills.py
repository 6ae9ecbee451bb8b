"""Random programs that fill lists in loops and comprehensions, and then read them.

What is only read may become an array: its length, items and parts, sums of it, arrays made of it.
Some programs change the list or the array later, go through it backwards, or find it empty. For a
long run: `python -m tests.random_fills COUNT [first seed]`.
"""

from __future__ import annotations

import linecache
import math
import random
from typing import Any

import numpy as np

from .long_runs import judged, main

LENGTHS = (9, 12, 0, 1, 2)  # of the argument
# What is gone through, with the names of items: v is a number, i an index
SOURCES = [
    *("v in {l}", "i, v in enumerate({l})", "v in x", "v in x.tolist()", "v in list(x)"),
    *("i in range(len(x))", "i in range(len(x) - 1, -1, -1)", "i in range(1, len(x))"),
    *("i in range(len({l}) - 1)", "v, w in zip({l}, {m})", "v, w in zip({l}[:-1], {l}[1:])"),
    *("v, w in zip(x, {l})", "v in reversed({l})", "v in {l}[2:]", "v in {l}[::-1]", "v in x * 2"),
]
NUMBERS = [
    *("v * v", "np.sin(v) + {k}", "0.5 * v", "float(v) * {k}", "v if v > 0.3 else {k} * v", "-v"),
    *("v ** 2 / (1 + v * v)", "math.sin(v)", "abs(v)", "max(v, 0.2)", "v * total", "v", "float(v)"),
]
PLACES = ["x[i] * {k}", "x[i] - x[i - 1]", "{k} * i * x[0]", "np.cos(x[i])", "x[i]", "float(x[i])"]
BRANCHES = [
    *("new.append(item)", "new.append({k} * item)", "new.append(np.sqrt(0.1 + abs(item)))", "pass"),
    *("new.append(item if item > 0.6 else 0.1 * item)", "new.append(1.0)", "new.append(item ** 2)"),
    "total += item; new.append(item)",
]
PAIRS = ["w - v", "v * w + {k}", "(v - w) ** 2", "v * np.exp(-w)"]
READS = [
    *("total += sum({l})", "total += np.sum(np.array({l}) ** 2)", "total = total + len({l})"),
    *("for k, v in enumerate({l}): total += (k + 1) * v", "total += {l}[-1]", "total += {l}[2]"),
    *("for v in {l}[1:]: total += v * v", "total += np.mean({l}) if {l} else 0.0"),
    *("for v, w in zip({l}, {m}): total += v * w", "total += np.dot({l}, {l})"),
    *(
        "for k in range(1, len({l})): total += {l}[k] * {l}[k - 1]",
        "total += max({l}, default=0.0)",
    ),
    *(
        "for k in range(1, len({l})): total = np.sin(total + {l}[k])",
        "total += sum(v * v for v in {l})",
    ),
    *("total += sum(sorted({l})[:3])", "total += np.asarray({l})[1:].sum()", "{l} = list({l})"),
    *("{l} = {m}[1:]", "total += sum({l}[::2])", "total += np.sum(np.diff({l})) if {l} else 0.0"),
]
CHANGES = [
    *("{l}.append(0.3 * total)", "x = x * 1.1", "y = np.array({l}); y *= 2; total += np.sum(y)"),
    *("y = np.asarray({l}); y += 1; total += np.sum(y) - sum({l})", "{m} = {l}", "y = x.copy()"),
    *("x[1:] = 0.5 * x[1:]", "if {l}: {l}[0] = 2 * total", "if {l}: {l}.pop()", "{l} += {m}"),
    *("if len({l}) > 2: total += 0.1 * total", "x *= 0.9", "{l} = {l} + {m}", "{l}.sort()"),
]


GRIDS = [
    *(
        "grid = [[v * w + {k} for v in x] for w in {l}]",
        "grid = [list(row) for row in np.outer(x, x)]",
    ),
    *("grid = [[v * i for v in row] for i, row in enumerate(grid)]", "grid = grid[1:]"),
    *(
        "grid = [[np.sin(v) for v in x[:i]] for i in range(len(x))]",
        "grid = np.outer(x, x).tolist()",
    ),
    *(
        "grid = [{l}, {m}]",
        "grid = [row[::-1] for row in grid]",
        "grid = [row * 2 for row in grid]",
    ),
    *("grid = [np.array(row) * {k} for row in grid]", "grid = [x * v for v in {l}]"),
    "grid = [[x[i] - x[j] for j in range(len(x))] for i in range(len(x))]",
    "grid = [[sum([a * v for a in row]) for v in x] for row in grid]",
    "for row in grid: total += row[0] * row[-1]",
    "for i in range(len(grid)): total += np.sum(np.array(grid[i]) ** 2)",
    "total += np.sum(np.array(grid) ** 2) if len(set(map(len, grid))) == 1 else 0.0",
    "total += sum(sum(row) for row in grid)",
    "total += sum(grid[i][i] for i in range(min(len(grid), 2)))",
    "total += sum(row[k] * v for row in grid for k, v in enumerate({l}) if k < len(row))",
    *("if grid: grid[0][0] = total", "grid.append({l})", "{l} = [sum(row) for row in grid]"),
    *("if len(grid): {l} = list(grid[0])", "if len(grid): total += max(grid[-1], default=0.0)"),
]

TUPLES = [
    *("pairs = [(v, v * {k}) for v in {l}]", "pairs = [(v, {k}) for v in x]", "pairs = pairs[1:]"),
    *(
        "pairs = list(zip({l}, {m}))",
        "pairs = [(v, max(v, 0)) for v in {l}]",
        "pairs = list(pairs)",
    ),
    *("pairs = [(b, a) for a, b in pairs]", "{l} = [a - b for a, b in pairs]"),
    *("total += sum(a * b for a, b in pairs)", "total += pairs[-1][0] if pairs else 0.0"),
    *("for a_, b_ in pairs: total += a_ * np.sin(b_)", "pairs.append((total, 1.0))"),
    "total += np.sum(np.array(pairs)[:, 1] ** 2) if pairs else 0.0",
    "total += np.array([[v, 1, {k} * v ** 2] for v in x]).sum()",
    "total += sum(np.linalg.norm(np.array([v, w, {k}])) for v, w in zip({l}, {m}))",
    "{l} = [np.array([v, {k} * v]) @ np.array([0.3, v]) for v in x]",
    "total += sum(t[0] / (1 + t[1] ** 2) for t in pairs)",
    "for i, (v, w) in enumerate(pairs): total += (i + 1) * v * w",
    "{l} = [sum(t) for t in pairs]",
]


class _Writer:
    def __init__(self, seed: int) -> None:
        self.rng, self.lines = random.Random(seed), list[str]()
        self.others = self.rng.choice((0.0, 0.4))

    def write(self, text: str, depth: int = 1) -> None:
        chosen = self.rng.sample("abc", 2)
        k = self.rng.choice(("0.7", "1.3", "-0.4"))
        self.lines.append("    " * depth + text.format(l=chosen[0], m=chosen[1], k=k))

    def item(self, source: str) -> str:
        if " w " in source:
            return self.rng.choice(PAIRS)
        if source.startswith("i in"):
            return self.rng.choice(PLACES)
        return self.rng.choice(NUMBERS)

    def fill(self, depth: int) -> None:
        source = self.rng.choice(SOURCES)
        item = self.item(source)
        if self.rng.random() < 0.5:
            keep = " if v > -0.5" if " v " in source and self.rng.random() < 0.15 else ""
            self.write(f"{{l}} = [{item} for {source}{keep}]", depth)
            return
        self.write("new = []", depth)
        self.write(f"for {source}:", depth)
        if self.rng.random() < 0.2:
            self.write("total = total + 0.01", depth + 1)
        self.write(f"item = {item}", depth + 1)
        if self.rng.random() < 0.2:
            self.write("total += item", depth + 1)
        test = self.rng.choice(("item > 0.4", "item < 0.2 or item > 0.9", "total > 1.0"))
        if self.rng.random() < 0.35:
            self.write(f"if {test}:", depth + 1)
            self.write(self.rng.choice(BRANCHES), depth + 2)
            if self.rng.random() < 0.7:
                self.write("else:", depth + 1)
                self.write(self.rng.choice(BRANCHES), depth + 2)
        else:
            self.write("new.append(item)", depth + 1)
        if self.rng.random() < 0.1:
            self.write("new.append(item * item)", depth + 1)
        self.write("{l} = new", depth)

    def block(self, count: int, depth: int = 1) -> None:
        for _ in range(count):
            choice = self.rng.random()
            if self.rng.random() < self.others:
                self.write(self.rng.choice(self.rng.choice((GRIDS, TUPLES))), depth)
            elif choice < 0.45:
                self.fill(depth)
            elif choice < 0.85:
                self.write(self.rng.choice(READS), depth)
            elif choice < 0.95 or depth > 1:
                self.write(self.rng.choice(CHANGES), depth)
            else:
                self.write("for _ in range(2):", depth)
                self.block(3, depth + 1)


def program(seed: int) -> str:
    """The text of a function `f(x)`."""
    writer = _Writer(seed)
    for line in ("total = 0.0", "x = x * 1.0", "a = list(x)", "b = [2 * v for v in x]", "c = a"):
        writer.write(line)
    writer.write("pairs = [(v, 2 * v) for v in x]")
    writer.write("grid = [[v * v for v in x], [v for v in x]]")
    writer.block(8)
    writer.write("return total + sum({l}) + 0.5 * sum({m}) + np.sum(x)")
    return "\n".join(["def f(x):", *writer.lines, ""])


def check(seed: int) -> str:
    """Whether the value, its type and the derivatives of a program are right."""
    text, where = "import math\nimport numpy as np\n\n" + program(seed), f"<fills {seed}>"
    linecache.cache[where] = (len(text), None, text.splitlines(keepends=True), where)
    names: dict[str, Any] = {"__name__": __name__, "math": math}
    exec(compile(text, where, "exec"), names)
    n = LENGTHS[seed % len(LENGTHS)]
    rng = np.random.default_rng(seed)
    x, direction = rng.uniform(0.2, 1.4, n), rng.normal(size=n)
    raised = (IndexError, ValueError, TypeError, ZeroDivisionError)
    return judged(names["f"], x, direction, *raised)


if __name__ == "__main__":
    main(check, program)
