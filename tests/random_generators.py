"""Random programs of generators that are consumed in part, and clean up when they are left.

They yield inside `try`, `with`, loops and branches, delegate by `yield from`, return values, hold
state in closures and objects, and are asked by `next`, loops that break, `send` and `close`.
"""

from __future__ import annotations

import random

from .random_words import filled, several, statement

HEAD = """\
import contextlib
import itertools

import numpy as np


class Oops(Exception):
    def __init__(self, value):
        super().__init__("oops")
        self.value = value


class Noting:
    def __init__(self, log, v):
        self.log, self.v = log, v

    def __enter__(self):
        self.log.append(self.v)
        return self.v * 2.0

    def __exit__(self, kind, error, trace):
        self.log.append(self.v * (0.3 if kind is None else 0.7))
        return kind is not None and issubclass(kind, Oops)


class Tree:
    def __init__(self, v, *inner):
        self.v, self.inner = v, inner

    def __iter__(self):
        yield self.v
        for t in self.inner:
            yield from t


@contextlib.contextmanager
def scope(log, v):
    log.append(v)
    try:
        yield v * 0.5
    finally:
        log.append(v * 0.2)


def first(it, default):
    for v in it:
        return v
    return default


def taken(it, k):
    out = []
    for v in it:
        if len(out) >= k:
            break
        out.append(v)
    return out


def f(x, n):
    s, k, log = 0.1, 0, []
    tree = Tree(x[0], Tree(x[1], Tree(x[2])), Tree(x[3]))
    a = x[:3] * 1.0
"""
# The rows of a generator function of `v` (a number), `m` (an int), and `log`
BODIES = [
    "yield v", "yield v * NUM", "yield NUM", "v = v * 0.5 + NUM\nyield v", "log.append(v)",
    "for i in range(m):\n    yield v * (i + 1)",
    "for i in range(m):\n    v = v * 0.9 + NUM\n    yield v",
    "for u in a:\n    if u > LIMIT: continue\n    yield u * v",
    "for u in a:\n    if u > LIMIT: return\n    yield u",
    "for u in a:\n    if u > LIMIT: break\n    yield u\nelse:\n    yield v",
    "if v > LIMIT: return", "if v > LIMIT:\n    yield v\nelse:\n    yield NUM",
    "i = 0\nwhile i < m:\n    i += 1\n    yield v * i",
    "try:\n    yield v\n    yield v * 2\nfinally:\n    log.append(v)",
    "try:\n    for u in a: yield u\nfinally:\n    log.append(NUM)",
    "try:\n    yield v\n    if v > LIMIT: raise Oops(v)\n    yield NUM\nexcept Oops as e:\n"
    "    yield e.value * 0.3",
    "try:\n    yield a[m]\nexcept IndexError:\n    yield v",
    "with Noting(log, v) as w:\n    yield w\n    yield v",
    "with scope(log, v) as w:\n    yield w * NUM",
    "with Noting(log, v) as w:\n    for i in range(m):\n        yield w\n"
    "        if w > LIMIT: raise Oops(w)",
    "yield from a", "yield from [v, NUM]", "yield from OTHER(v, m, log)",
    "got = yield from OTHER(v, m, log)\nif got is not None: yield got",
    "yield from (u * v for u in a)", "for u in OTHER(v, 1, log): yield u * NUM",
    "for u, w in zip(OTHER(v, m, log), a): yield u * w", "a[0] = a[0] * 0.9\nyield a[0]",
    "nonlocal s\ns = s + v * 0.1\nyield s", "nonlocal k\nk += 1\nyield v * k",
    "log.append(v)\nyield len(log) * v",
    "if m > 0:\n    yield v\n    yield from ITSELF(v * 0.5, m - 1, log)",
    "got = yield v\nif got is not None: yield got * 2", "return v",
]  # fmt: skip
USES = [
    "s += first(CALLED, NUM)", "s += sum(taken(CALLED, 2))", "s += sum(taken(CALLED, 1)) * NUM",
    "it = CALLED\ns += next(it, NUM)\ns += sum(taken(it, 1))",
    "it = CALLED\nfor v in it:\n    s = s * 0.9 + v\n    if v > LIMIT: break\n"
    "for v in it: s = s * 0.8 + v",
    "it = CALLED\nfor v in it:\n    s = s * 0.9 + v\n    break\nit.close()",
    "for v in CALLED:\n    s = s * 0.9 + v\n    if s > LIMIT: break",
    "for v in CALLED:\n    if v > LIMIT: continue\n    s += v\nelse:\n    s *= 0.9",
    "s += sum(v * NUM for v in CALLED)", "for i, v in enumerate(CALLED): s += v * i",
    "for v, w in zip(CALLED, CALLED): s += v * w", "for v, w in zip(a, CALLED): s += v * w",
    "s += max(CALLED, default=0.3)", "rows = list(CALLED)\ns += len(rows) * NUM + sum(rows)",
    "s += sum(itertools.islice(CALLED, 2))",
    "for v in itertools.takewhile(lambda u: u < LIMIT, CALLED): s = s * 0.9 + v",
    "for v in itertools.chain(CALLED, CALLED): s = s * 0.9 + v",
    "p, *q = CALLED\ns += p + sum(q) * 0.5", "p, q = itertools.islice(CALLED, 2)\ns += p * q",
    "it = CALLED\nwhile True:\n    try:\n        v = next(it)\n    except StopIteration:\n"
    "        break\n    s = s * 0.9 + v\n    if s > LIMIT: break",
    "it = CALLED\nwhile (v := next(it, None)) is not None:\n    s = s * 0.9 + v\n"
    "    if k > 3: break\n    k += 1",
    "it = CALLED\ntry:\n    s += next(it) * next(it)\nexcept StopIteration:\n    s += NUM",
    "try:\n    for v in CALLED: s = s * 0.9 + v\nexcept Oops as e:\n    s += e.value",
    "it = CALLED\nnext(it, None)\ntry:\n    s += it.send(NUM)\nexcept StopIteration:\n"
    "    s += NUM",
    "s += sum(tree) * NUM", "for v in tree:\n    s = s * 0.9 + v\n    if v > LIMIT: break",
    "s += next(iter(tree)) * NUM", "s += first(tree, NUM)", "tree.v = NUM",
    "tree.inner[0].v *= NUM", "log.append(NUM)", "a[0] = NUM", "a = a * NUM",
    "s += len(log) * NUM", "s += any(v > LIMIT for v in CALLED) * NUM",
    "if NUM in CALLED: s += 1.0",
    "with Noting(log, NUM):\n    for v in CALLED: s = s * 0.9 + v\n    raise Oops(NUM)",
    "for v in CALLED:\n    a[1] = v * NUM\n    s += a[1]", "s = s * 0.5 + NUM",
    "D = {i: v for i, v in enumerate(CALLED)}\ns += sum(D.values()) + len(D)",
    "s += sum(u * v for u in a for v in CALLED)",
    "its = [CALLED, CALLED]\nfor it in its: s += next(it, NUM)\n"
    "for it in its: s += sum(it) * 0.5",
    "it = CALLED\nfor v in it:\n    s += v * next(it, NUM)",
    "s += sum(v for v in CALLED if v > LIMIT)",
    "np_ = np.array(list(CALLED) + [NUM])\ns += np.sum(np_ ** 2)",
]  # fmt: skip
NUMBERS = ["x[I]", "s", "0.5", "x[I]", "a[J]", "x[I] * x[I]"]
CALLED = ["x[I], n, log", "s, n, log", "0.7, 3, log", "x[I], 2, log"]
HEADS = [
    "for j in range(2):", "if x[I] > LIMIT:", "for j in range(n):", "while k < n:\n    k += 1",
    "for o in x[:2]:", "if s > LIMIT:",
]  # fmt: skip
LAST = """\
    s += np.sum(a) * 0.3 + sum(v * (i + 1) for i, v in enumerate(log))
    return s + k * x[0] + sum(tree)
"""


def program(seed: int) -> str:
    """A function `f` of a vector of six positive numbers and an int."""
    r = random.Random(seed)
    names: list[str] = []
    words = {
        "CALLED": [f"MADE({value})" for value in CALLED], "MADE": names, "NUM": NUMBERS,
        "LIMIT": ["0.7", "1.1", "1.6"], "I": several(6), "J": several(3),
    }  # fmt: skip

    rows: list[str] = []
    for number in range(r.randint(1, 3)):
        name = f"g{number}"
        words["OTHER"], words["ITSELF"] = names or ["range"], [name]
        patterns = [b for b in BODIES if names or "OTHER" not in b]
        inside = [filled(r.choice(patterns), words, r) for _ in range(r.randint(1, 3))]
        if not any("yield" in row for row in inside):
            inside.append("yield v")
        nonlocals = sorted({row.split("\n")[0] for row in inside if row.startswith("nonlocal")})
        inside = [row.partition("\n")[2] if row.startswith("nonlocal") else row for row in inside]
        rows.append(f"def {name}(v, m, log):")
        rows += ["    " + line for row in [*nonlocals, *inside] for line in row.split("\n")]
        names.append(name)

    for _ in range(r.randint(2, 5)):
        rows += statement(r, words, USES, HEADS, nesting=0.15, deepest=2, longest=2)
    return HEAD + "".join(f"    {row}\n" for row in rows) + LAST
