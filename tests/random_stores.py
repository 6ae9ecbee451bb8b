"""Random programs that write arrays in place, through views, dicts and lists.

What is written is read again in loops that the run ends: adjoints are written in place, too, and
so are those of the adjoints.
"""

from __future__ import annotations

import random

from .random_words import several, statement

HEAD = """\
import numpy as np


def relax(u, v):
    u[1:-1] += 0.1 * (u[2:] - u[:-2]) * v
    return u


def step(state, key, v):
    state[key] = np.sin(state[key]) * v
    state["n"] += 1


def f(x, n):
    s, k = 0.1, 0
    u = x * 1.0
    w = np.outer(x[:2], x[:3])
    d = {"p": x[:3] * 1.0, "q": np.zeros(3), "n": 0}
    rows = [x[:3] * x[3], np.ones(3), w[1]]
"""
VIEWS = [
    "u", "u[1:4]", "u[::-1]", "w[J]", "w[0]", "w.T[I]", "w[:, I]", 'd["p"]', 'd["q"]', "rows[I]",
    "rows[-1]", "u[3:]", "w.ravel()[1:]", "w.reshape(3, 2)[I]", "d[KEY][:2]", "rows[0][1:]",
    "u[::2]",
]  # fmt: skip
NUMBERS = [
    "x[K]", "u[K]", "s", "w[J, I]", 'd["p"][I]', "d[KEY][I]", "rows[I][I]", "0.5", "np.sin(u[K])",
    "u[K] * x[K]", "np.sum(VIEWS)", "VIEWS[0]", "np.exp(-x[K])",
]  # fmt: skip
STATEMENTS = [
    "s += NUM * NUM", "s = s * 0.5 + NUM * NUM", "VIEWS[0] = NUM * NUM", "VIEWS[-1] += NUM * NUM",
    "VIEWS[1] *= NUM", "VIEWS *= NUM", "VIEWS += NUM", "VIEWS[:] = np.sin(VIEWS[0]) * NUM",
    "VIEWS[...] *= 1.0 + 0.1 * NUM", "u[1:] = u[:-1] * NUM", "u[1:] += u[:-1] * u[:-1]",
    "v = VIEWS\nv[0] = NUM * v[1]", "v = VIEWS\nv *= v\nv += NUM * 0.1",
    "v = VIEWS\nv[:2] = v[:2] ** 2\ns += v[0] * v[1]", "relax(u, NUM)", "relax(w[J], NUM)",
    "step(d, KEY, NUM)", "d[KEY] = d[KEY] * NUM", "d[KEY][I] = NUM * NUM",
    "d[KEY] += rows[0] * NUM", "rows[I] = rows[I] * NUM", "rows[I][I] += NUM * NUM",
    "rows.append(d[KEY] * NUM)", "rows[0], rows[1] = rows[1], rows[0]",
    'd["p"], d["q"] = d["q"], d["p"]', "s += rows.pop()[0] * NUM\nrows.append(x[3:] * s)",
    "w[J] = w[0] * w[1]", "w[0] += w[1] * NUM", "w = w * NUM", "u = u * np.sin(u)",
    "u[u > LIMIT] *= NUM", "u[[0, 2, 0]] += NUM * u[:3]", "np.add.at(u, [1, 1, 2], d[KEY] * NUM)",
    "np.multiply(u, NUM, out=u)", "np.sin(w, out=w)", "s += np.sum(VIEWS * VIEWS)",
    "s += np.sum(VIEWS ** 3) * NUM", "s += np.dot(rows[I], d[KEY]) * NUM", "s += np.sum(w @ w.T)",
    "u[:3] = w[J] * NUM", "w[J, :] = u[:3] * u[3:]", "u.sort()", "rows[2][0] = NUM",
    "for r in rows: r *= 0.9 + 0.1 * NUM",
    "for key in d:\n    if key != 'n': d[key][0] += NUM * NUM",
    "for i in range(1, 6): u[i] = u[i] + u[i - 1] * NUM",
    "for i in range(4, -1, -1): u[i] -= 0.3 * u[i + 1] * u[i]",
    "u[:] = np.where(u > LIMIT, u * u, np.sin(u))", "d['n'] += 1\ns += d['n'] * NUM",
]  # fmt: skip
HEADS = [
    "for i in range(n):", "for i in range(2):", "while k < n:\n    k += 1",
    "while np.sum(u) > 4.0 and k < 9:\n    k += 1\n    u *= 0.7", "if NUM > LIMIT:",
    "while s > 2.0 and k < 6:\n    k += 1\n    s *= 0.6", "for v in u[:3]:",
    "for r in rows[:2]:\n    r[0] = r[1] * r[2]",
]  # fmt: skip
LAST = """\
    s += np.sum(u * u * np.arange(6)) * 0.1 + np.sum(np.sin(w)) + np.dot(d["p"], d["q"])
    return s + sum(np.sum(r * r) * (0.2 + i) for i, r in enumerate(rows))
"""


def program(seed: int) -> str:
    """A function `f` of a vector of six positive numbers and an int."""
    r = random.Random(seed)
    words = {
        "VIEWS": VIEWS, "NUM": NUMBERS, "KEY": ['"p"', '"q"'], "LIMIT": ["0.7", "1.1", "1.6"],
        "I": several(3), "J": several(2), "K": several(6),
    }  # fmt: skip

    rows = [
        row
        for _ in range(r.randint(3, 7))
        for row in statement(r, words, STATEMENTS, HEADS, nesting=0.25, most=6)
    ]
    return HEAD + "".join(f"    {row}\n" for row in rows) + LAST
