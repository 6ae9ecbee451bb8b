"""Random programs with tuples of which only the run knows how many items they have.

They are made of what loops collect, joined, cut, put in lists, dicts and objects, passed to
functions as they are and unpacked (`f(*T)`), and compared.
"""

from __future__ import annotations

import random

HEAD = """\
import itertools
import math
from functools import reduce

import numpy as np


class Box:
    def __init__(self, *items, scale=1.0):
        self.items = items
        self.scale = scale

    def total(self, *more):
        return self.scale * (sum(self.items) + sum(more))


def of_any(*args):
    return sum((i + 1) * a for i, a in enumerate(args)) + len(args)


def of_two(a, b):
    return a * b + a


def of_some(a, b=0.5, *args, k=2.0):
    return a * b * k + sum(args) - len(args)


def of_up_to_three(a, b=0.5, c=0.25):
    return a + b * b + c ** 3


def handed_on(function, *args, **kwargs):
    return function(*args, **kwargs)


def f(x):
    s = 0.0
    T = tuple(v for v in x if v > 0.9)
    U = ()
    L = [x[1], x[2] ** 2]
    rows = []
    held = {"t": T}
"""
CHANGES = [
    "T = tuple(L)", "U = tuple(L)", "T = tuple(sorted(L))", "T = tuple(v * 2 for v in L if v > C)",
    "U = tuple(x[:2])", "w = x[I]\nwhile w > 0.3:\n    T += (w,)\n    w *= 0.6",
    "w = x[I]\nwhile w > 0.3:\n    U = (w, *U)\n    w = w * 0.5", "T = (x[I],) + T", "T = T[1:]",
    "T = T[:-1] + U", "U = T[::-1]", "U = T * 2", "T = U if x[I] > C else T", "T, U = U, T",
    "for v in x:\n    if v > C: T = (*T, v)", "if x[I] > C: T = (x[0], x[1])", "T = tuple(U)",
    "if x[I] > C:\n    T = tuple(L)\nelse:\n    T = (x[2], 1.5)", "U = tuple(reversed(T))",
    "U = tuple(map(lambda v: v * v, T))", "L = list(T)", "L.append(x[I])", "L += T", "L.extend(U)",
    "rows.append(T)", "rows.append(U)", "rows.append(tuple(v * x[I] for v in L))", "held['t'] = T",
    "T = held['t']", "T = tuple(itertools.chain(T, L))", "del L[-1:]",
    "T = tuple(zip(*[T, U]))[0] if T and U else (x[I],)", "if rows: T = rows[-1]",
    "while len(T) > 4: T = T[2:]", "while len(U) > 5: U = U[:-2]", "*L, _ = (*T, x[I])",
    "T = tuple(x * x[I])", "T = tuple((x * x[I]).tolist())", "T = (lambda *a: a[1:])(*T, x[I])",
    "T += tuple(u for u in U if u not in T)",
]  # fmt: skip
USES = [
    "s += sum(T) * len(T)", "s += max((0.1, *T))", "s += sum(a * b for a, b in zip(T, U))",
    "s += of_any(*T)", "s += of_any(x[I], *T, *U)", "s += of_two(*(*T, x[I], 1.0)[:2])",
    "s += of_some(x[I], *T, k=x[0])", "s += of_some(*(T or (1.0,)))", "s += of_any(*L, *U[1:])",
    "s += of_up_to_three(*(*T, x[I])[:3])", "s += handed_on(of_any, *T)", "s += sum(T[1:], 0.5)",
    "s += handed_on(of_some, x[I], *U, k=1.5)", "s += np.sum(np.array(T))", "s += math.fsum(U)",
    "if T: s += T[0] * T[-1]", "s += max(0.1, 0.2, *T) * min(x[I], *U, 3.0)",
    "s += float(np.prod(T))", "s += len([v for v in T if v == x[I]])", "s += T.count(x[I]) * x[1]",
    "s += x[I] if T == U else 2 * x[I]", "s += x[I] if T < U else 3 * x[I]",
    "s += x[I] * isinstance(T, tuple) + isinstance(L, tuple)",
    "a, *b = (*T, 1.0); s += a * sum(b)", "s += sum(sum(r) * k for k, r in enumerate(rows))",
    "s += reduce(lambda a, b: a * b, T, 1.0)", "for i, v in enumerate(T): s += i * v",
    "s += Box(*T).total()", "s += Box(*T, scale=x[I]).total(*U)",
    "s += sum(itertools.chain(*rows))", "s += x[I] if x[0] in T else 0.0",
    "s += held['t'][0] if held['t'] else 0.1",
    "for r in rows:\n    for v in r:\n        if v > C: s += v * v",
    "s += sum(of_any(*r) for r in rows)", "s += sum(map(of_two, T, U))",
    "s += np.linalg.norm(np.array(T + (x[I],)))", "s += sum(sorted(T)[:2])",
    "s += len(L + [*T]) * x[I]", "s += len(str(T)) * 0 * x[I] + len(repr((1, T)))",
    "if T: s += T[len(T) // 2]", "s += sum(T[i] * x[i % 3] for i in range(len(T)))",
    "s += sum(held['t'])", "if T and U: s += np.dot(T[:1], U[:1])",
    "s += sum(a for a, *_ in zip(T, L))", "s += T.index(T[-1]) * x[I] if T else 1.0",
]  # fmt: skip


def program(seed: int) -> str:
    """A function `f` of a vector of six positive numbers."""
    rng = random.Random(seed)

    def filled(text: str) -> str:
        return text.replace("I]", f"{rng.randrange(6)}]").replace(
            "> C", f"> {rng.choice((0.7, 1.1, 1.6))}"
        )

    lines: list[str] = []
    for _ in range(rng.randrange(4, 9)):
        text = filled(rng.choice(CHANGES) if rng.random() < 0.6 else rng.choice(USES))
        kind = rng.random()
        if kind < 0.2:
            head = rng.choice(("for n in range(len(x) // 2):", "if x[3] > 1.1:", "for q in x[:2]:"))
            more = filled(rng.choice(CHANGES + USES))
            lines.append(
                "\n".join([head, *("    " + r for t in (text, more) for r in t.split("\n"))])
            )
        else:
            lines.append(text)
    lines += [filled(rng.choice(USES)), "s += sum(T) + sum(U) * 2 + sum(L) * 3"]
    body = "\n".join("    " + row for line in lines for row in line.split("\n"))
    return f"{HEAD}{body}\n    return s\n"
