"""Random programs that ask iterators for some items, and change meanwhile what they go through."""

from __future__ import annotations

import random

HEAD = """\
import itertools
import operator

import numpy as np


def total(items, s):
    for v in items:
        s = s * 0.9 + v
    return s


def first_of(items):
    for v in items:
        return v
    return 0.25


def f(x):
    s, c = 0.5, 2.0
"""
# Containers of numbers, with what may change them
LISTS = [
    "L = list(x)",
    "L = x.tolist()",
    "L = [x[0], x[1], x[2]]",
    "L = [v * v for v in x if v > 0.6]",
    "L = []\nfor v in x:\n    if v > 0.6: L.append(v)",
    "L = []\nfor i in range(len(x)): L.append(x[i] * i)",
    "L = []\nwhile len(L) < 4: L.append(x[len(L)])",
]
LIST_CHANGES = [
    "L.append(x[0])", "L[0] = x[1] * c", "L.pop()", "L.pop(0)", "L.insert(0, x[2])", "del L[0]",
    "L.extend([x[1], x[2]])", "L = [x[0], x[3]]", "L += [x[4]]", "L.reverse()", "L.sort()",
    "L.clear()", "L[-1] *= 2", "L[:] = [x[1], x[0]]", "L = L[1:]", "L[1], L[0] = L[0], L[1]",
    "L[1:2] = []", "L.remove(L[0])",
]  # fmt: skip
ARRAYS = ["L = x.copy()", "L = x * x", "L = np.array([x[0], x[1], x[2]])", "L = x[:4] + 0.1"]
ARRAY_CHANGES = [
    "L[0] = x[1] * c", "L += 0.5", "L[1:] *= x[0]", "L = L[::-1]", "L[-1] = L[0] * L[0]",
    "L.sort()", "L[:] = 0.7", "L = L * x[0]", "L[[0, 1]] = L[[1, 0]]", "np.add(L, 1.0, out=L)",
]  # fmt: skip
DICTS = [
    "L = {'a': x[0], 'b': x[1], 'c': x[2]}",
    "L = {i: v for i, v in enumerate(x)}",
    "L = {}\nfor i, v in enumerate(x):\n    if v > 0.6: L[i] = v * v",
    "L = {}\nfor v in x: L[int(v * 2)] = v",
]
DICT_CHANGES = [
    "L[next(iter(L))] = x[3]", "L['z'] = x[3]", "L[7] = x[0]", "L.popitem()", "L.clear()",
    "del L[next(iter(L))]", "L.update({0: x[1]})", "L = {1: x[2]}", "L.pop(0, None)",
    "for k in list(L): L[k] *= 2",
]  # fmt: skip
OTHERS = ["c = c + x[0]", "c = 0.5", "s = s * c", "K[0] = x[5]", "K.append(x[4])", "K.pop()"]
# Iterators of numbers: {p} is what gives numbers, {q} something else that does
NUMBERS = [
    "iter({p})", "map(lambda v: v * c, {p})", "filter(lambda v: v > 0.8, {p})",
    "(v * c for v in {p})",
    "(v * v for v in {p} if v < c)", "map(np.sin, {p})", "itertools.accumulate({p})",
    "itertools.accumulate({p}, operator.mul)", "itertools.accumulate({p}, lambda a, b: a * c + b)",
    "itertools.accumulate({p}, initial=x[0])", "itertools.chain({p}, {q})",
    "itertools.chain.from_iterable([{p}, {q}])", "itertools.islice({p}, 3)",
    "itertools.islice({p}, 1, None)", "itertools.islice({p}, 0, 5, 2)",
    "itertools.takewhile(lambda v: v < 1.7, {p})", "itertools.dropwhile(lambda v: v < 1.2, {p})",
    "itertools.filterfalse(lambda v: v > 1.4, {p})", "itertools.compress({p}, [1, 0, 1, 1])",
    "itertools.islice(itertools.cycle({p}), 7)", "itertools.repeat(x[0], 3)",
    "itertools.starmap(operator.mul, {r})", "map(operator.mul, {p}, {q})",
    "(a * b for a, b in {r})",
    "map(lambda r: r[0] * r[1], {r})", "(a + b * c for a in {p} for b in {q})",
    "itertools.tee({p})[1]", "(v + w for v, w in zip({p}, {q}))", "gen({p})", "whole({p})",
    "itertools.compress({p}, (v > 1.0 for v in {q}))",
]  # fmt: skip
RAW = ["L", "L", "L", "L", "K", "x", "reversed(L)", "L"]
# Iterators of pairs of numbers
PAIRS = [
    "zip({p}, {q})", "enumerate({p})", "enumerate({p}, 1)", "itertools.pairwise({p})",
    "itertools.combinations({p}, 2)", "itertools.permutations({p}, 2)",
    "itertools.product({p}, {q})", "itertools.product({p}, repeat=2)",
    "itertools.zip_longest({p}, {q}, fillvalue=0.3)", "((v, v * c) for v in {p})",
    "map(lambda a, b: (b, a), {p}, {q})", "[(a, b) for a, b in zip({p}, {q})]",
    "((k, sum(g)) for k, g in itertools.groupby({p}, lambda v: v > 1.0))",
    "zip(*[iter({p})] * 2)", "itertools.islice(zip({p}, {q}), 3)",
    "((len(list(g)), x[0]) for k, g in itertools.groupby({p}, lambda v: int(v * 2)))",
]  # fmt: skip
GENERATORS = """\
def gen(items):
    for v in items: yield v * c
def whole(items):
    yield x[0]
    yield from items
    yield x[1] * c
"""
# How what an iterator `it` has left is used, with {change} somewhere meanwhile
CONSUMED = [
    "{change}\nfor v in it: s = s * 0.9 + v",
    "{change}\ns = total(it, s)",
    "{change}\ns = s + sum(it)",
    "{change}\nfor v in list(it): s = s * 0.9 + v",
    "{change}\nfor i, v in enumerate(it): s = s + v * i",
    "{change}\nvalues = [*it]\nif len(values) > 0: s = s + values[-1] * len(values)",
    "for v in it:\n    s = s * 0.9 + v\n    {change}",
    "for v in it:\n    s = s * 0.9 + v\n    if s > 2.0:\n"
    "        {change}\n        break\ns = total(it, s)",
    "for v in it:\n    if v > 1.0:\n        {change}\n    s = s * 0.9 + v",
    "s = s + next(it)\n{change}\ns = total(it, s)",
    "s = s + next(it, 0.5)\n{change}\nfor v in it: s = s * 0.9 + v",
    "s = s + next(it, x[0]) * next(it, x[1])\n{change}\ns = s + sum(v * v for v in it)",
    "{change}\nfor a, b in zip(it, it): s = s * 0.9 + a * b",
    "for v in it:\n    s = s * 0.9 + v\n    {change}\n    s = s + next(it, c)",
    "while True:\n    try: v = next(it)\n    except StopIteration: break\n    s = s * 0.9 + v\n"
    "    {change}",
    "while (v := next(it, None)) is not None:\n    s = s * 0.9 + v\n    {change}",
    "for v in itertools.islice(it, 2): s = s * 0.9 + v\n{change}\ns = total(it, s)",
    "for v in it:\n    if v > 1.0: break\n{change}\nfor w in it: s = s * 0.9 + w",
    "s = s + first_of(it)\n{change}\ns = s + first_of(it) * 2\ns = total(it, s)",
    "{change}\na, b = itertools.tee(it)\nnext(a, None)\nfor v, w in zip(b, a): s = s * 0.9 + v * w",
    "s = total(it, s)\n{change}\ns = total(it, s)",
    "{change}\nfor v, w in zip(it, L): s = s * 0.9 + v * w\ns = total(it, s)",
    "{change}\nfor w, v in zip([x[0], x[1]], it): s = s * 0.9 + v * w\ns = total(it, s)",
    "{change}\nfor k in range(3): s = s * 0.9 + next(it, c)",
    "k = 0\nfor v in it:\n    k += 1\n    if k > 4: break\n    s = s * 0.9 + v\n    {change}",
    "d = {{'it': it}}\n{change}\ns = total(d['it'], s)",
    "{change}\ns = s + max(it, default=0.1)",
    "for row in [x[:2], x[2:]]:\n    for v, w in zip(row, it): s = s * 0.9 + v * w\n    {change}",
    "for _ in range(2):\n    for v in it:\n        s = s * 0.9 + v\n        if s > 1.5: break\n"
    "    {change}",
    "def more(n):\n    nonlocal s\n    for _ in range(n): s = s * 0.9 + next(it, 0.2)\n"
    "more(2)\n{change}\nmore(2)",
    "if x[0] > 1.0: s = s + next(it, 0.5)\n{change}\ns = total(it, s)",
    "{change}\nif any(v > 1.5 for v in it): s = s * 2\ns = total(it, s)",
    "{change}\nif x[1] in it: s = s * x[1]\nfor v in it: s = s + v",
    "first, *rest = it\n{change}\ns = s * first + sum(rest)",
]  # fmt: skip
PAIRS_CONSUMED = [
    "{change}\nfor a, b in it: s = s * 0.9 + a * b",
    "for a, b in it:\n    s = s * 0.9 + a * b\n    {change}",
    "a, b = next(it, (x[0], x[1]))\n{change}\nfor a, b in it: s = s * 0.9 + a * b",
    "{change}\nrows = list(it)\nfor a, b in rows: s = s + a * b * len(rows)",
    "for a, b in it:\n    if a > 1.0: break\n{change}\nfor a, b in it: s = s * 0.9 + a * b",
    "{change}\nfor (a, b), (d, e) in zip(it, it): s = s * 0.9 + a * b - d * e",
    "{change}\nfor i, (a, b) in enumerate(it): s = s * 0.9 + a * b * i",
    "{change}\ns = s + sum(a * b for a, b in it)",
    "for a, b in it:\n    s = s * 0.9 + a * b\n    if s > 2.0:\n        {change}",
]  # fmt: skip
# Loops over dicts themselves
DICTS_CONSUMED = [
    "for k in L:\n    s = s * 0.9 + L[k]\n    {change}",
    "for k in L:\n    s = s * 0.9 + L[k]\n    if s > 1.5:\n        {change}",
    "for k, v in L.items():\n    if v > 1.0:\n        {change}\n    s = s * 0.9 + v",
    "for k, v in L.items():\n    L[k] = v * c\n    s = s * 0.9 + L[k]",
    "for i, k in enumerate(L):\n    L[k] = L[k] * 0.5 + i\nfor v in L.values(): s = s * 0.9 + v",
    "for k in list(L):\n    s = s * 0.9 + L.get(k, c)\n    {change}",
    "for k in L:\n    for j in L: s = s * 0.9 + L[j] * 0.1\n    L[k] = s",
    "for k in L:\n    if k in (1, 'b'):\n        {change}\n        break\ns = s + sum(L.values())",
    "for v in L.values():\n    s = s * 0.9 + v\n    if s > 1.5: L['n'] = L.pop(next(iter(L)))",
]
DICT_ITEMS = [
    "L.items()",
    "iter(L.items())",
    "zip(L.values(), L.values())",
    "enumerate(L.values())",
]


def changed(r: random.Random, kind: str) -> str:
    """What changes something, maybe, on one line."""
    own = {"list": LIST_CHANGES, "array": ARRAY_CHANGES, "dict": DICT_CHANGES}[kind]
    change = r.choice(own) if r.random() < 0.75 else r.choice(OTHERS)
    draw = r.random()
    if draw < 0.15:
        return "pass"
    if draw < 0.25 and not change.startswith("for"):
        return f"{change}; {r.choice([c for c in own if not c.startswith(chr(102))])}"
    return change


def numbers(r: random.Random, kind: str, depth: int) -> str:
    """An expression that gives numbers when it is gone through."""
    if depth == 0 or r.random() < 0.2:
        raw = r.choice(RAW)
        return raw.replace("L", "L.values()") if kind == "dict" else raw
    made = r.choice(NUMBERS)
    return made.format_map(Filled(r, kind, depth - 1))


def pairs(r: random.Random, kind: str, depth: int) -> str:
    """An expression that gives pairs of numbers when it is gone through."""
    return r.choice(PAIRS).format_map(Filled(r, kind, depth))


class Filled(dict[str, str]):
    """Fills the blanks of an expression."""

    def __init__(self, r: random.Random, kind: str, depth: int) -> None:
        super().__init__()
        self.drawn = r, kind, depth

    def __missing__(self, name: str) -> str:
        return (pairs if name == "r" else numbers)(*self.drawn)


def parts(seed: int) -> list[str]:
    """The statements of `f`, one after the other; some hold several lines."""
    r = random.Random(seed)
    kind = r.choice(["list", "list", "list", "array", "dict"])
    made = {"list": LISTS, "array": ARRAYS, "dict": DICTS}[kind]
    depth = r.choice([0, 1, 1, 1, 2])
    if r.random() < 0.3:
        items, uses = pairs(r, kind, depth), PAIRS_CONSUMED
        if kind == "dict" and r.random() < 0.5:
            items = r.choice(DICT_ITEMS)
    else:
        items, uses = numbers(r, kind, depth), CONSUMED
    if kind == "dict" and r.random() < 0.4:
        uses = DICTS_CONSUMED
    use = r.choice(uses)
    lines = [r.choice(made), "K = [x[1], x[2], x[3]]"]
    change = changed(r, kind)
    if " in it:" in use and use.count("it") == 1 and r.random() < 0.4:
        lines.append(use.replace(" in it:", f" in {items}:").format(change=inside(change, use)))
    else:
        named = items if "(" in items and not items.startswith(("L.", "[")) else f"iter({items})"
        lines += [f"it = {named}", use.format(change=inside(change, use))]
    if r.random() < 0.3:
        lines.append("for v in K: s = s + v")
    return [*lines, "return s"]


def inside(change: str, use: str) -> str:
    """A change that may stand where a use has it, as part of a loop or by itself."""
    return "pass" if "for k" in change and "    {change}" in use else change


def written(statements: list[str]) -> str:
    """The source of a module with `f`, a function of six numbers, of these statements."""
    text = "\n".join(statements)
    if "gen(" in text or "whole(" in text:
        text = GENERATORS + text
    return HEAD + "".join(f"    {line}\n" for line in text.split("\n"))


def program(seed: int) -> str:
    """The source of a module with `f`, a function of six numbers."""
    return written(parts(seed))
