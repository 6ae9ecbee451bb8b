"""Random programs that hand tuples and dicts from lists, as a whole, to functions, in loops."""

from __future__ import annotations

import random

HEAD = """\
import math
from functools import reduce

import numpy as np


def f(x):
    s = 0.0
"""
# How a list is made, with what may be done with two of its items
OF_NUMBERS = (
    [
        "L = [tuple(r) for r in x.reshape(-1, 2)]",
        "L = []\nfor i in range(len(x) - 1): L.append((x[i], x[i + 1]))",
        "L = [(v, v * v) for v in x if v > 0]",
        "L = list(zip(x, x[::-1]))",
        "L = [(i * 1.0, v) for i, v in enumerate(x)]",
        "L = sorted((v, w) for v, w in zip(x, x[1:]))",
        "L = [(v, x[0]) for v in x]; L.append((x[1], x[2]))",
        "D = {}\nfor v in x: D[v > 1] = (v, v * 2)\nL = list(D.values())",
    ],
    [
        "math.dist(P, Q)", "np.dot(P, Q)", "np.sum(np.array(P) * Q[0])", "max(P) * Q[1]",
        "sum(P) * sum(Q)", "math.hypot(*P)", "np.linalg.norm(P)", "min(P, Q)[1] * Q[0]",
        "sum(a * b for a, b in zip(P, Q))", "np.hypot(*P)", "np.prod(P)", "abs(complex(*P))",
        "np.polyval(P, Q[0])", "np.stack([P, Q]).sum(0)[1]", "np.max((P, Q))", "math.prod(P)",
        "np.interp(P[0], (0., 1., 3.), (Q[0], Q[1], 0.5))", "reduce(lambda a, b: a * b, P)",
        "sorted(P)[0]", "len(P) * P[-1]", "np.mean(P)", "np.outer(P, Q).sum()", "math.fsum(P)",
        "np.asarray(P)[1] * Q[0]", "np.clip(P[0], *sorted(Q))", "np.concatenate((P, Q)).prod()",
        "np.cross((*P, 1.), (*Q, 2.))[0]", "np.where(x[0] > 1, P, Q).sum()",
    ],
)  # fmt: skip
OF_ARRAYS = (
    [
        "L = [(x[i:i + 2], x[i:i + 2] ** 2) for i in range(4)]",
        "L = []\nfor i in range(4): L.append((x[i:i + 2], x[i + 1:i + 3]))",
        "L = [(r, r * x[0]) for r in x.reshape(-1, 2)]",
        "L = []\nfor r in x.reshape(-1, 2):\n    if r[0] > 0.4: L.append((r.copy(), r[::-1]))",
    ],
    [
        "np.dot(*P)", "np.stack(P).sum() * Q[0][1]", "np.concatenate(P) @ np.concatenate(Q)",
        "np.linalg.norm(P)", "sum(P)[0]", "np.einsum('i,j->', *P)", "np.where(x[0] > 1, *P).sum()",
        "np.outer(*P)[0, 1]", "np.array(P)[1, 0] * np.array(Q)[0].sum()", "np.maximum(*P)[0]",
        "np.mean(P, axis=0)[1]", "np.tensordot(P, Q)", "np.vstack((P, Q)).std()",
    ],
)  # fmt: skip
OF_TUPLES = (
    [
        "L = [(x[i], (x[i + 1], x[i + 2])) for i in range(4)]",
        "L = []\nfor i in range(4):\n    if x[i] > 0.4: L.append((x[i], (x[i + 1], x[i] ** 2)))",
        "L = [((a, b), (b, a * b)) for a, b in x.reshape(-1, 2)]",
        "L = list(enumerate(zip(x, x[::-1])))",
    ],
    [
        "math.dist(P[1], Q[1])", "np.hypot(*P[1])", "np.sum(P[1]) * Q[1][0]", "sum(P[1])",
        "np.dot(P[1], Q[1])", "max(P, Q)[1][1]", "np.linalg.norm(P[1])", "min(Q[1], P[1])[0]",
        "(lambda a, b: np.sum(a) * np.prod(b))(*P)", "np.array((P[1], Q[1])).sum()",
    ],
)  # fmt: skip
OF_DICTS = (
    [
        "L = []\nfor i, v in enumerate(x):\n    if v > 0.4: L.append({'p': (v, x[1]), 'w': 'a'})",
        "L = [{'p': [v, x[1] * v], 'w': i} for i, v in enumerate(x) if v > 0.4]",
        "D = {}\nfor i, v in enumerate(x): D[i] = {'p': (v, x[0]), 't': {'u': v * v}}\n"
        "L = list(D.values())",
        "L = [{'p': (v, x[1]), 'w': 'a'} for v in x if v > 0.4]\n"
        "for d in L: d['p'] = (d['p'][0] ** 2, d['p'][1])",
    ],
    [
        "math.dist(P['p'], Q['p'])", "np.dot(P['p'], Q['p'])", "sum(P['p']) * Q['p'][0]",
        "max(P['p'])", "len(P) * P['p'][0]", "np.linalg.norm(P['p'])", "(P is Q) * Q['p'][1]",
        "P.get('z', 2.0) * Q['p'][0]", "({**P, 'p': Q['p']})['p'][0]", "P.copy()['p'][1]",
    ],
)  # fmt: skip
LOOPS = [
    "for p in L:\n    for q in L:\n        s = s + {e}",
    "for i, p in enumerate(L):\n    for q in L[i + 1:]:\n        s = s + {e}",
    "for p in L:\n    for j in range(2):\n        q = L[j]\n"
    "        if j: s = s + {e}\n        else: s = s * 0.9",
    "p = L[0]\nfor q in L:\n    s = s + {e}\n    p = q",
    "p = L[0]\nq = p\nfor k in range(3):\n    if k > 1: q = L[1]\n    s = s + {e}",
    "i = 0\nwhile i < len(L) - 1:\n    p, q = L[i], L[i + 1]\n    for k in range(2):\n"
    "        if k: s = s + {e}\n    i += 1",
    "g = lambda p: sum({e} for q in L)\ns = s + sum(g(p) for p in L)",
    "def g(p, q):\n    return {e}\nfor p in L:\n    s = s + max(g(p, q) for q in L)",
    "best = L[0]\nfor p in L:\n    q = best\n    for r in range(2): s = s + {e}\n    best = p",
    "for p in L:\n    for k in range(2):\n        for q in L[:2]:\n            t = {e}\n"
    "            if t > 1.0: s = s + t\n            else: s = s + t * t",
]


def program(seed: int) -> str:
    """The source of a module with `f`, a function of six numbers."""
    r = random.Random(seed)
    makers, uses = r.choice([OF_NUMBERS, OF_ARRAYS, OF_TUPLES, OF_DICTS])
    use = r.choice(uses).replace("P", "p").replace("Q", "q")
    if r.random() < 0.5:
        use = f"({use} + {r.choice(uses).replace('P', 'q').replace('Q', 'p')})"
    lines = f"{r.choice(makers)}\n{r.choice(LOOPS).format(e=use)}\nreturn s".split("\n")
    return HEAD + "".join(f"    {line}\n" for line in lines)
