"""Random programs in which a name, an attribute or an item holds values of different kinds.

Numbers, None, texts, tuples, lists, dicts, objects, functions and arrays take turns, in branches
and in loops that are unrolled or not; attributes are set on some paths only. What is there is
asked by `isinstance`, `is None`, `callable`, `hasattr`, `try` and `match`.
"""

from __future__ import annotations

import random

HEAD = """\
import numpy as np

SHARED = np.array([0.5, 1.5])


class Box:
    size = 2.0
    table = SHARED

    def __init__(self, value, other=None):
        self.value = value
        self.other = other

    def area(self):
        return self.value ** 2

    def twice(self):
        return 2.0

    def times(self, t):
        return self.value * t


class Ball:
    def __init__(self, value):
        self.value = value

    def area(self):
        return 3.0 * self.value

    def __getattr__(self, name):
        if name in ("mark", "late"):
            return self.value + 1.0
        raise AttributeError(name)


def worth(v):
    if v is None:
        return 0.25
    if isinstance(v, str):
        return float(len(v))
    if isinstance(v, tuple):
        return sum(worth(a) * (i + 1) for i, a in enumerate(v))
    if isinstance(v, list):
        return sum(a * a for a in v) + 0.5
    if isinstance(v, dict):
        return v["a"] * 3.0 + 1.0
    if isinstance(v, np.ndarray):
        return np.sum(v * v)
    if isinstance(v, (Box, Ball)):
        return v.area()
    if callable(v):
        return v(1.5)
    return v * 2.0


def tried(v):
    try:
        return v[0] * 2.0
    except (TypeError, IndexError, KeyError):
        return 0.5


def matched(v):
    match v:
        case None:
            return 0.1
        case (a, b):
            return tried((a, b))
        case Box(value=w):
            return w * 3.0
        case float():
            return v * v
        case _:
            return 1.0


def f(x, n):
    s = 0.0
    A = x[0]
    B = None
    box, ball = Box(x[1]), Ball(x[2])
    D = {}
"""
VALUES = [
    "x[I]", "x[I] * x[I]", "(x[I], x[I])", "(x[I], 1.0)", "None", "Box(x[I])", "Ball(x[I] * 2)",
    "[x[I], x[I]]", "(lambda t: t * x[I])", "'text'", "(x[I], x[I], x[I])", "x[:2] * x[I]",
    "0.0", "worth(A)", "worth(B) * x[I]", "(worth(A), x[I])", "box", "ball", "{'a': x[I]}",
    "box.times",
]  # fmt: skip
CHANGES = [
    "A = V", "B = V", "A, B = B, A", "A = V if x[I] > C else V", "B = A if x[I] > C else V",
    "if x[I] > C:\n    A = V\nelif x[I] > 1.5:\n    B = V", "if A is None: A = V",
    "if not isinstance(A, tuple): A = V", "if x[I] > C: box.late = V", "box.other = V",
    "if x[I] > C: box.table = x[:2] * x[I]", "if x[I] > C: ball.mark = x[I]",
    "if x[I] > C: box.twice = lambda: x[I]", "if x[I] > C: box.size = x[I]",
    "if hasattr(box, 'late') and x[I] > C: del box.late", "if x[I] > C: del box.other",
    "A = box.other", "box.other = B", "D['k'] = A", "if x[I] > C: D['k'] = V", "B = D.get('k')",
    "A = getattr(box, 'late', V)", "A = (lambda u, v: u if x[I] > C else v)(A, B)",
    "A = worth(A)", "B = tried(B)", "if isinstance(A, float): A = (A, x[I])",
    "A = (A, B)[int(x[I] > C)]",
]  # fmt: skip
USES = [
    "s += worth(A)", "s += worth(B) * x[I]", "s += tried(A)", "s += matched(A) + matched(B)",
    "s += worth(box.other) if hasattr(box, 'other') else 0.3", "s += box.size * x[I]",
    "s += np.sum(box.table) * x[I]", "s += box.twice() * x[I]", "s += ball.mark * x[I]",
    "s += worth(getattr(box, 'late', 0.5))", "s += x[I] if A is None else 0.0",
    "try:\n    s += worth(box.late)\nexcept AttributeError:\n    s += x[I]",
    "s += x[I] if hasattr(box, 'late') else 2 * x[I]", "s += worth(D.get('k'))",
    "s += x[I] if isinstance(A, (tuple, list)) else 0.0",
    "s += A.area() if isinstance(A, Box) else x[I]",
    "s += sum(worth(v) for v in (A, B, box))", "s += x[I] if A is B else 0.0",
    "if isinstance(A, tuple) and isinstance(B, float): s += tried(A) * B",
    "s += worth(A if x[I] > C else B)", "s += x[I] if A == 'text' else 0.0",
]  # fmt: skip
HEADS = [
    "for k in range(2):", "if x[I] > C:", "for v in x[:2]:", "i = 0\nwhile i < n:\n    i += 1",
    "i = n\nwhile i > 0:\n    i -= 1\n    if x[i % 6] > 2.0: continue",
    "for j in range(n):\n    if x[j % 6] > 2.0: break",
]  # fmt: skip

# What a loop of the run does with two names that are lists or None
LIST_HEAD = """\
import numpy as np


class Box:
    held = None


def f(x, n):
    s, i = 0.0, 0
    A = B = None
    P = []
    box = Box()
"""
OF_LISTS = [
    "A = B", "B = A", "A, B = B, A", "A = None", "B = [x[I], x[I]]",
    "A = [v * 2 for v in x if v > C]", "if x[I] > C: A = [x[I]]", "if x[I] > C: B = None",
    "if A is not None: A.append(x[I])", "if A: A = A[1:]", "if B is not None: A = B[:]",
    "if A is not None and B is not None: A = A + B", "if B: s += B[0] * x[I]",
    "if A is not None: s += sum(A)", "if A is None: A = [x[I]]", "B = A if x[I] > C else B",
    "if A is not None: B = list(A)", "if A is B: s += x[I]", "if A: A.pop()",
    "D = (A, B)\nif D[0] is not None: s += sum(D[0])", "if A: A[0] = x[I] * A[0]",
    "P.append(x[I])\nif x[I] > C: A = P", "E = A or [x[I]]\ns += sum(E)",
    "s += len(A) * x[I] if A is not None else 0.1", "if A == B: s += x[I]",
    "box.held = A\nif box.held is not None: s += sum(box.held)",
    "if B is not None:\n    for v in B: s += v * x[I]",
]  # fmt: skip


def lists_or_none(seed: int) -> str:
    """Another one, in which lists and None take turns."""
    rng = random.Random(seed)

    def chosen(most: int, least: int = 0) -> list[str]:
        texts = [rng.choice(OF_LISTS) for _ in range(rng.randrange(least, most))]
        for k, text in enumerate(texts):
            while "I]" in text:
                index = rng.choice((f"{rng.randrange(6)}]", f"(i + {rng.randrange(6)}) % 6]"))
                text = text.replace("I]", index, 1)
            texts[k] = text.replace("> C", f"> {rng.choice((0.7, 1.1, 1.6))}")
        return [row for text in texts for row in text.split("\n")]

    loop = ["while i < n:", "    i += 1", *("    " + row for row in chosen(6, 2))]
    last = "s += (sum(A) if A else x[0]) * (sum(B) if B is not None else x[1]) + sum(P)"
    rows = [*chosen(3), *loop, *chosen(3), last]
    return LIST_HEAD + "".join(f"    {row}\n" for row in rows) + "    return s\n"


def program(seed: int) -> str:
    """A function `f` of a vector of six positive numbers and an int."""
    rng = random.Random(seed)

    def filled(text: str) -> str:
        while "V" in text:
            text = text.replace("V", rng.choice(VALUES), 1)
        while "I]" in text:
            text = text.replace("I]", f"{rng.randrange(6)}]", 1)
        while "> C" in text:
            text = text.replace("> C", f"> {rng.choice((0.7, 1.1, 1.6))}", 1)
        return text

    lines: list[str] = []
    for _ in range(rng.randrange(3, 8)):
        kind = rng.random()
        if kind < 0.35:
            head = filled(rng.choice(HEADS))
            inner = [filled(rng.choice(CHANGES + USES)) for _ in range(rng.randrange(1, 4))]
            indent = "    "
            lines.append("\n".join([head, *(indent + r for t in inner for r in t.split("\n"))]))
        else:
            lines.append(filled(rng.choice(CHANGES) if kind < 0.75 else rng.choice(USES)))
    lines += [filled(rng.choice(USES)), filled(rng.choice(USES)), "s += worth(A) + worth(B) * 3.0"]
    body = "\n".join("    " + row for line in lines for row in line.split("\n"))
    return f"{HEAD}{body}\n    return s\n"
