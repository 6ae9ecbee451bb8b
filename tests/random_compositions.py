"""Random programs that compose features: views in objects in lists, closures over them, `finally`.

Objects hold views of arrays which others write, stand in lists (of more than sixteen, too), dicts
and arrays of objects; closures rebind and write what generators hold; functions change one argument
that may be a part of another, return early and clean up; names change what they stand for.
"""

from __future__ import annotations

import random
import re

from .random_words import several, statement

HEAD = """\
import numpy as np


class Cell:
    def __init__(self, part, weight=1.0):
        self.part = part
        self.weight = weight

    def grow(self, by):
        self.part *= by
        self.weight = self.weight * 0.5 + by
        return self

    def energy(self):
        return np.sum(self.part * self.part) * self.weight


class Log:
    def __init__(self, into):
        self.into = into

    def __enter__(self):
        return self.into

    def __exit__(self, kind, error, trace):
        self.into *= 0.5
        return kind is ValueError


def blend(a, b, by):
    a[1:] += b[:-1] * by
    b[0] = np.sin(a[-1])
    return a


def early(a, limit):
    try:
        for i in range(len(a)):
            if a[i] > limit:
                return a[i] * a[0]
            a[i] *= 1.1
        return a[-1]
    finally:
        a[0] = a[0] * 0.7 + 0.1


def parts(cells, by):
    try:
        for c in cells:
            yield c.part
            c.weight *= by
    finally:
        cells[0].weight += by


def halves(a):
    for i in range(2):
        yield a[i::2]
        a[i] *= 0.9


def swapped(p, q):
    p.part, q.part = q.part, p.part


def f(x, n):
    s, k = 0.1, 0
    u = x * 1.0
    w = np.outer(x[:3], x[3:])
    z = x + 1j * x[::-1]
    h = x.astype(KIND)
    cells = [Cell(u[:3]), Cell(w[0], x[1]), Cell(x[:3] * 1.0)]
    many = [Cell(np.array([v, x[0]]), v) for v in np.concatenate((x, x * 0.5, x[::-1]))]
    recs = [{"a": v, "m": i * 0.1} for i, v in enumerate(x)]
    boxes = np.array(cells, dtype=object)
    table = {"p": cells[0], "q": cells[1]}
    t, c, r = x[0], cells[0], recs[0]

    def put(v):
        nonlocal s
        u[1] += v
        s = s * 0.9 + u[1]
        return u

    def renew(v):
        nonlocal u
        u = u * v
        return u[:3]

    def held(by):
        def run(cell):
            nonlocal by
            by = by * 0.5 + 0.1
            cell.part[0] += by
            return by
        return run

    g = held(x[2])
"""
VIEWS = [
    "u[:3]", "u[3:]", "w[J]", "w[:, J]", "w.T[J]", "cells[J].part", "c.part", "u[::2]", "h[:3]",
    "table[KEY].part", "boxes[J].part", "cells[-1].part", "u[1:4]", "z.real[:3]", "z.imag[3:]",
    "cells[J].part[::-1]", "u[2::-1]", "w.ravel()[2:5]",
]  # fmt: skip
NUMBERS = [
    "x[K]", "u[K]", "s", "w[J, J]", "0.5", "c.weight", "cells[J].weight", "VIEWS[J]", "x[K] * u[K]",
    "np.sin(u[K])", "many[M].weight", "recs[K]['a']", "r['a']", "z[K].real", "abs(z[K])",
    "float(h[K])", "np.sum(t) * 0.1", "np.tanh(c.energy())", "many[n].part[0]", "z[K].imag",
]  # fmt: skip
LISTS = [
    "cells", "cells[1:]", "cells[::-1]", "boxes", "boxes[1:]", "table.values()", "many[:n + 1]",
    "many[n:5]", "many", "list(table.values())",
]  # fmt: skip
STATEMENTS = [
    "s += NUM * NUM", "s = s * 0.5 + NUM * NUM", "VIEWS[J] = NUM * NUM", "VIEWS[J] += NUM",
    "v = VIEWS\nv *= NUM", "v = VIEWS\nv += v[::-1] * NUM", "v = VIEWS\nv[:] = np.sin(v) + NUM",
    "v, e = VIEWS, VIEWS\nv[0] = NUM\ne[1:] = v[:2] * NUM\ns += v[1] * e[0]",
    "blend(VIEWS, VIEWS, NUM)", "s += np.sum(blend(VIEWS, VIEWS, NUM) * VIEWS)",
    "blend(u, u, NUM * 0.1)", "blend(u[:4], u[2:], NUM * 0.1)", "blend(h, u, NUM * 0.1)",
    "blend(u, h, NUM * 0.1)", "s += early(VIEWS, LIMIT)", "s += early(u, LIMIT)",
    "s += early(VIEWS, LIMIT) * early(VIEWS, LIMIT)", "t = early(VIEWS, LIMIT)",
    "s += put(NUM)[K] * NUM", "put(NUM)[:2] *= 0.9", "renew(0.8)[0] = NUM", "s += renew(1.1)[1]",
    "s += g(CELL) * NUM", "s += g(cells[J])\ng = held(NUM)", "put(g(c))",
    "c = CELL", "c = CELL\nc.part[J] *= NUM", "CELL.grow(0.8 + 0.1 * NUM)", "CELL.weight = NUM",
    "CELL.part = VIEWS", "CELL.part = VIEWS * NUM", "cells[J] = Cell(VIEWS, NUM)",
    "cells[J] = CELL", "cells.append(Cell(VIEWS, NUM))", "cells.append(c)",
    "swapped(CELL, CELL)", "cells[0], cells[1] = cells[1], cells[0]", "boxes[J] = c",
    "boxes = boxes[::-1]", "boxes[0], boxes[1] = boxes[1], boxes[0]", "table[KEY] = CELL",
    "for p in LIST: s += p.energy() * 0.1", "for p in LIST: p.weight *= NUM",
    "for p in LIST:\n    p.part *= 0.9\n    s += p.part[0] * p.weight",
    "for p in LIST:\n    p.part = p.part * NUM", "for p in LIST:\n    p.part[1] = p.part[0] * s",
    "for i, p in enumerate(many):\n    for q in many[i + 1:]: s += p.part[0] * q.weight * 0.01",
    "for i, p in enumerate(many):\n    for q in many[i + 1:i + 3]: q.part[0] += 0.1 * p.part[1]",
    "for i in range(len(many) - 1):\n    many[i].part += many[i + 1].part * NUM * 0.1",
    "for p, q in zip(LIST, LIST): s += p.weight * q.part[1]",
    "for p, q in zip(LIST, LIST): p.part[0] += 0.1 * q.part[1]",
    "for v in parts(LIST, NUM): s += v[0] * v[1]", "for v in parts(cells, NUM): v[1] = v[0] * NUM",
    "for v in parts(cells, NUM):\n    if v[0] > LIMIT: break\n    v += 0.1",
    "it = parts(cells, NUM)\nv = next(it)\nv[0] *= NUM\ns += next(it)[1]",
    "it = parts(cells, NUM)\nv = next(it)\nit.close()\ns += v[0]",
    "for v in halves(VIEWS): v[0] += NUM", "for v in halves(u): s += np.sum(v) * NUM",
    "for v in halves(u): v *= NUM * 0.3", "s += sum(np.sum(v) for v in halves(u)) * NUM",
    "recs[K]['a'] = NUM", "r = recs[K]\nr['a'] = r['a'] * NUM", "recs[K] = {'a': NUM, 'm': 0.2}",
    "for q in recs: s += q['a'] * q['m']", "for q in recs[2:]: q['a'] *= NUM",
    "for i, q in enumerate(recs):\n    for e in recs[i + 1:]: s += q['a'] * e['m']",
    "recs.append({'a': NUM, 'm': NUM})", "recs.sort(key=lambda q: q['a'])", "recs.reverse()",
    "recs = [{**q, 'a': q['a'] * NUM} for q in recs]", "r = max(recs, key=lambda q: q['a'])",
    "many.sort(key=lambda p: p.weight)", "many = [p for p in many if p.weight > 0.4] + many[:5]",
    "p = max(many, key=lambda p: p.weight)\np.weight *= NUM", "many[M] = Cell(x[:2] * NUM, NUM)",
    "many[M].part = u[:2]", "many[M].part[:] = u[1:3]", "many[M].part[0] = NUM", "c = many[M]",
    "many[M], many[M] = many[M], many[M]", "many.append(many[M])", "p = many.pop()\ns += p.weight",
    "z *= NUM", "z.real[K] = NUM", "z.imag[1:] += x[1:] * NUM", "z[1:] *= z[:-1] * 0.3",
    "s += np.sum(abs(z) ** 2) * 0.01", "z = np.conj(z) * NUM", "s += (z * z[::-1]).imag[0]",
    "h[1:] *= h[:-1] * NUM", "h += u", "u += h", "h[K] = NUM", "s += float(np.sum(h * h)) * 0.1",
    "u[:] = h", "u *= np.cos(u)", "u[1:] = u[:-1] * NUM", "u[u > LIMIT] *= NUM",
    "w[J] = w[J] * NUM",
    "w[:, J] += w[J]", "w += w.T * NUM * 0.1", "u[[0, 2, 0]] += NUM", "np.add.at(u, [1, 1], NUM)",
    "t = VIEWS", "t = NUM", "t = t * NUM", "t = np.sum(t) * NUM", "t = VIEWS.copy()",
    "with Log(VIEWS) as v:\n    v[0] += NUM\n    if NUM > LIMIT: raise ValueError\n    v[1] *= NUM",
    "with Log(CELL.part) as v:\n    s += v[0] * NUM",
    "try:\n    u[1] *= NUM\n    if u[1] > LIMIT: raise ValueError\n    u[2] = NUM\n"
    "except ValueError:\n    u[0] += u[1] * NUM\nfinally:\n    c.part[1] *= 0.8",
    "try:\n    v = cells[K].part\n    v[0] *= NUM\nexcept IndexError:\n    s += NUM",
    "try:\n    s += early(VIEWS, LIMIT)\nfinally:\n    u *= 0.9",
]  # fmt: skip
HEADS = [
    "for i in range(n):", "for i in range(2):", "while k < n:\n    k += 1", "if NUM > LIMIT:",
    "while np.sum(u) > 4.0 and k < 9:\n    k += 1\n    u *= 0.7", "for p in cells[:2]:\n    c = p",
    "for p in many[n:8]:\n    s = s * 0.9 + p.weight", "for q in recs[1:]:\n    r = q",
    "for v in parts(cells[:3], 0.9):\n    v[0] *= 0.9", "if NUM > LIMIT:\n    return s * NUM",
    "for i in range(3):\n    if u[i] > LIMIT: continue",
    "for i in range(3):\n    if s > 2.0: break",
    "if CELL is CELL:", "for p in boxes:\n    p.weight += 0.1",
    "try:\n    if NUM > LIMIT: raise KeyError\nexcept KeyError:\n    s *= 0.5\nelse:",
]  # fmt: skip
ENDS = {
    "u": "np.sum(np.sin(u) * np.arange(6)) * 0.1 + np.sum(np.sin(w)) + np.sum(np.tanh(t))",
    "cells": "sum(np.tanh(p.energy()) * (0.2 + i) for i, p in enumerate(cells)) + c.weight",
    "h": "np.sum(np.sin(h)) * 1.0",
    "z": "np.sum(np.tanh(abs(z)))",
    "many": "sum(np.sin(p.part[0] * p.weight) for p in many)",
    "recs": "sum(q['a'] * (0.3 + q['m']) for q in recs) + r['a']",
    "boxes": "sum(np.tanh(p.energy()) for p in boxes)",
    "table": "sum(np.sin(p.part[1] * p.weight) for p in table.values())",
}


def program(seed: int) -> str:
    """A function `f` of a vector of six positive numbers and an int."""
    r = random.Random(seed)
    words = {
        "VIEWS": VIEWS, "NUM": NUMBERS, "LIST": LISTS, "KEY": ['"p"', '"q"'], "J": several(3),
        "LIMIT": ["0.7", "1.1", "1.6"], "K": several(6), "M": [*several(3), "-1", "n", "k"],
        "CELL": ["c", "cells[J]", "table[KEY]", "boxes[J]", "many[M]", "cells[-1]"],
    }  # fmt: skip
    rows = [
        row
        for _ in range(r.randint(2, 6))
        for row in statement(r, words, STATEMENTS, HEADS, nesting=0.25, most=5)
    ]
    used = set(re.findall(r"\w+", "\n".join(rows)))
    rest = ENDS.keys() - used - {"u", "cells"} - ({"recs"} if "r" in used else set())
    head = HEAD.replace("KIND", "np.float32" if r.random() < 0.15 else "float")
    if "recs" in rest:
        head = head.replace("t, c, r = x[0], cells[0], recs[0]", "t, c = x[0], cells[0]")
    first = [row for row in head.splitlines() if row.strip().partition(" ")[0] not in rest]
    ends = [f"s += {end}" for name, end in ENDS.items() if name not in rest]
    return "\n".join([*first, *("    " + row for row in [*rows, *ends, "return s"])]) + "\n"
