"""Random programs whose loops of the run make lists with items of several kinds.

Numbers, texts, None, tuples, lists, dicts, objects and functions are appended, inserted, stored,
popped, sorted and gone through, under two names that may be those of one list.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

HEAD = """\
import numpy as np


class Box:
    def __init__(self, value):
        self.value = value

    def area(self):
        return self.value ** 2


class Ball(Box):
    def area(self):
        return self.value * 3.0


def worth(v):
    if v is None:
        return 0.25
    if isinstance(v, str):
        return float(len(v)) if v == "text" else 1.5
    if isinstance(v, tuple):
        return sum(worth(a) * (i + 1) for i, a in enumerate(v))
    if isinstance(v, list):
        return sum(a * a for a in v) + 0.5
    if isinstance(v, dict):
        return v["a"] * 3.0
    if isinstance(v, Box):
        return v.area()
    if callable(v):
        return v(0.3)
    return np.sum(v * 2.0)


def matched(v):
    match v:
        case None:
            return 0.1
        case "text":
            return 2.0
        case (a, b):
            return worth(a) * 2.0 + worth(b)
        case Box(value=w):
            return w * 3.0
        case float():
            return v * v
        case _:
            return 1.0


def f(x, n):
    s, i = 0.0, 0
    A = []
    B = A
    D = {}
"""
# what a value is made of: a small choice for each program, so that some of it is right
VALUES = [
    "x[i]", "x[i] * x[i - 1]", "'text'", "'a'", "None", "(x[i], i)", "('text', x[i])",
    "(x[i], None)", "(x[i], (x[i], 'a'))", "[x[i], 2.0]", "{'a': x[i]}", "Box(x[i])",
    "Ball(x[i])", "np.sin", "i", "(x[i] if x[i] > 1.1 else 'a', i)", "x[:2] * x[i]",
    "(x[i], x[i], 'b')",
]  # fmt: skip
GROWS = [
    "A.append(V)", "B.append(V)", "A.append(V if x[i] > C else V)", "A.insert(0, V)",
    "A += [V, V]", "A.extend((V, V))", "A = A + [V]", "A.insert(len(A) // 2, V)",
    "A.append(V)\nA.append(V)", "if x[i] > C: A.append(V)\nelse: A.append(V)",
]  # fmt: skip
CHANGES = [
    "if A: A[0] = V", "if A: A[-1] = V", "if A: s += worth(A.pop())", "A = A[1:]", "B = A",
    "B = list(A)", "B = A[:]", "A = B", "A, B = B, A", "A.reverse()", "A = A[::-1]",
    "if A: s += worth(A.pop(0)) * x[i]", "if A: del A[0]", "A = [V for v in A]",
    "A = [v for v in A if not isinstance(v, str)]", "A.sort(key=worth)",
    "A = sorted(A, key=worth)", "B = A + B", "B.clear()", "A = [v if v is None else V for v in B]",
]  # fmt: skip
USES = [
    "for v in A: s = s * 0.9 + worth(v)", "for v in B: s += matched(v)", "s += len(A) * x[i - 1]",
    "for k, v in enumerate(A): s += worth(v) * k", "s += sum(worth(v) for v in A)",
    "for v in reversed(A): s = s * 0.8 + matched(v)", "s += x[0] if 'text' in A else 0.5",
    "for u, v in zip(A, B): s += worth(u) * matched(v)", "if A: s += worth(A[0]) * matched(A[-1])",
    "s += sum(1 for v in A if v is None) * x[1]", "s += A.count('text') * x[2]",
    "while A: s = s * 0.7 + worth(A.pop())", "if len(A) > 1: s += worth(A[1]) * x[0]",
    "for v in A:\n    if isinstance(v, Box): v.value = v.value * 1.1",
    "for v in A:\n    if isinstance(v, str): continue\n    s += worth(v)\n    if s > 40.0: break",
    "s += max(worth(v) for v in A) if A else 0.1", "s += x[3] if A == B else x[4]",
    "s += sum(worth(v) for v in B if isinstance(v, (tuple, float)))",
]  # fmt: skip

# of a dict whose keys only the run tells
STORES = [
    "D[i] = V", "D[i % 3] = V", "D.setdefault(i // 2, V)", "D[round(x[i] * 2.0)] = V",
    "D[i] = V if x[i] > C else V", "D.setdefault(i % 2, []).append(V)", "D.update({i: V})",
    "if x[i] > C: D[i] = V\nelse: D[i + 1] = V", "A.append(V)\nD[i] = A[-1]",
]  # fmt: skip
LOOKS = [
    "for k, v in D.items(): s = s * 0.9 + worth(v) * k", "s += sum(matched(v) for v in D.values())",
    "s += worth(D.get(n - 1))", "if 1 in D: s += worth(D[1]) * x[2]", "D = dict(D)",
    "if 2 in D: del D[2]", "s += worth(D.pop(0, None))", "D = {k: V for k in D}",
    "for k in D: D[k] = V", "D = {k: v for k, v in D.items() if not isinstance(v, str)}",
    "for k in sorted(D): s = s * 0.8 + matched(D[k])", "A = list(D.values())", "D.clear()",
    "for v in D.values():\n    if isinstance(v, Box): v.value *= 1.2", "s += len(D) * x[0]",
]  # fmt: skip


def of_dicts(seed: int) -> str:
    """A program that has a dict, too."""
    return program(seed, STORES, LOOKS)


def program(seed: int, stores: Sequence[str] = (), looks: Sequence[str] = ()) -> str:
    """A function `f` of a vector of six positive numbers and an int."""
    grows, changes, uses = stores or GROWS, looks or CHANGES, looks or USES
    rng = random.Random(seed)
    values = rng.sample(VALUES, rng.randrange(2, 5))

    def filled(text: str) -> str:
        while "V" in text:
            text = text.replace("V", rng.choice(values), 1)
        while "> C" in text:
            text = text.replace("> C", f"> {rng.choice((0.7, 1.1, 1.6))}", 1)
        return text.replace("[i - 1]", "[(i - 1) % 6]").replace("[i]", "[i % 6]")

    lines: list[str] = []
    total = f"s += sum(worth(v) for v in {'D.values()' if stores else 'A'})"
    for _ in range(rng.randrange(1, 4)):
        head = rng.choice(["i = 0\nwhile i < n:\n    i += 1", "for i in range(n):"])
        some = [rng.choice(grows)]
        some += [rng.choice([*grows, *changes, *uses]) for _ in range(rng.randrange(0, 3))]
        inner = [filled(text) for text in some]
        lines.append("\n".join([head, *("    " + r for t in inner for r in t.split("\n"))]))
        lines += [filled(rng.choice([*changes, *uses])) for _ in range(rng.randrange(0, 3))]
    lines += [filled(rng.choice(uses)), total, filled(rng.choice(uses))]
    body = "\n".join("    " + row for line in lines for row in line.split("\n"))
    return f"{HEAD}{body}\n    return s + x[5]\n"
