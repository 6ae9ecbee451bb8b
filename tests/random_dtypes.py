"""Random programs of arrays of several dtypes: single and double floats, ints that count, bools.

Their numbers are those that single precision has exactly, or nearly: what is compared are values
and derivatives to some digits.
"""

from __future__ import annotations

import random

from .random_words import several, statement

HEAD = """\
import numpy as np


def scale(a, v):
    a *= v
    return a


def counted(k, a):
    k[0] += 1
    return a * k[0]


def f(x, n):
    s, t = 0.1, 0
    a, b = x[:3] * 1.0, x[3:] * 0.5
    h = np.zeros(3)
    k = np.array([1, 2, 3])
    m = np.array([True, False, True])
    e = np.zeros(0)
    z = np.array(x[0])
    q = [x[1], k[1], 2]
"""
FLOATS = [
    "a", "b", "h", "a[::-1]", "x[:3]", "FLOATS * k", "np.where(m, a, b)", "a.astype(float)",
    "h.copy()", "(a + m)", "k * 0.5", "z * b", "np.float64(0.5) * a", "k / 2",
]  # fmt: skip
NUMBERS = [
    "x[I]", "s", "0.5", "a[J]", "z", "k[J]", "np.sum(m)", "float(k[J])", "int(x[I] * 2)", "t",
    "len(e)", "np.sum(e)", "z[()]", "z.item()", "np.float64(1.5)", "np.int64(2)", "m[J]", "q[J]",
    "np.float32(0.5)", "np.mean(a)", "k.sum()", "a.max()", "np.argmax(a)",
    "((x[I] > LIMIT or m[J]) + (m[J] or a[J] > LIMIT))", "(m[J] and x[I])", "(m[J] or s)",
    "((0.1 < a[J] < LIMIT) + m[J])",
]  # fmt: skip
INTS = [
    "k", "k[::-1]", "np.arange(3)", "k + 1", "(a > 0.7).astype(int)", "np.argsort(a)", "k // 2",
    "m.astype(int)", "np.zeros(3, dtype=int)", "np.round(a).astype(int)",
    "(a * 2).astype(np.int32)", "np.cumsum(m)",
]  # fmt: skip
BOOLS = [
    "m", "~m", "a > LIMIT", "k > 1", "m & (a > LIMIT)", "a < b", "k % 2 == 0", "m | (k == 2)",
    "np.isfinite(a)",
]  # fmt: skip
STATEMENTS = [
    "s += NUM", "s = s * 0.5 + NUM", "s += NUM * NUM", "s += np.sum(FLOATS)",
    "s += np.sum(FLOATS * INTS)", "s += np.sum(FLOATS[BOOLS])",
    "s += np.sum(FLOATS, where=BOOLS)", "t += int(NUM)", "t += 1", "t = int(np.sum(BOOLS))",
    "a = FLOATS", "b = FLOATS * NUM", "h[J] = NUM", "h[J] += NUM", "h += FLOATS",
    "h[BOOLS] = NUM", "h[BOOLS] *= NUM", "h[INTS % 3] = FLOATS", "h[:] = INTS",
    "np.add.at(h, INTS % 3, FLOATS)", "a = a * NUM", "a += INTS", "a *= BOOLS", "a -= NUM",
    "a[J] = k[J]", "a[m] = b[m]", "k[J] += 1", "k += 1", "k[J] = int(NUM)", "k = INTS", "k *= 2",
    "k[BOOLS] = 2", "k[BOOLS] += 1", "k = k + m", "k //= 2", "k[J] -= k[J]", "m = BOOLS",
    "m[J] = NUM > LIMIT", "m[J] = not m[J]", "m &= BOOLS", "m ^= BOOLS", "m = m.copy()",
    "e = np.append(e, NUM)", "e = np.concatenate([e, FLOATS])", "e = a[a > 5.0]", "e = e * 2.0",
    "e = np.array([])", "s += e.sum() * NUM", "e = a[:0]", "if e.size: s += e[0]",
    "if len(e) > 0:\n    e = e / len(e)", "s += np.prod(e) * NUM", "e = np.hstack([e, k])",
    "z = np.array(NUM)", "z[...] = NUM", "z += NUM", "z *= NUM", "z = z + NUM",
    "z = np.asarray(NUM) * 1.0", "z[()] = NUM", "z = np.sum(FLOATS)", "s += float(z)",
    "s += z * NUM", "s += z.sum()", "z = np.squeeze(a[:1])", "q[J] = NUM", "q.append(NUM)",
    "s += sum(q)", "q = [NUM, NUM, 1]", "s += np.sum(np.array(q[:3]) * FLOATS)", "q[J] *= 2",
    "q[J] += q[1]", "scale(a, NUM)", "h = scale(h.copy(), NUM)", "a = counted(k, FLOATS)",
    "u = a.astype(np.float64)\nu[0] = NUM\ns += u[0]",
    "u = a.astype(float, copy=False)\nu[0] = NUM", "u = a.view()\nu[1] *= NUM",
    "u = k.astype(float)\nu *= FLOATS\ns += np.sum(u)",
    "u = np.zeros(3, dtype=a.dtype)\nu[1:] = a[1:]\ns += np.sum(u * b)",
    "u = np.empty_like(a)\nu[:] = FLOATS\ns += u[1]",
    "u = np.zeros_like(k)\nu[1] = 2\ns += np.sum(u * a)", "u = np.full(3, NUM)\ns += np.sum(u)",
    "u = np.ones_like(FLOATS) * NUM\ns += np.sum(u)",
    "u = np.array([NUM, NUM, 1.0])\ns += np.sum(u)",
    "u = np.array([k[0], NUM])\ns += u[1] * u[0]",
    "u, w = divmod(k, 2)\ns += np.sum(u * a) + w[0] * NUM", "s += np.dot(INTS, FLOATS)",
    "s += INTS @ FLOATS", "s += np.sum(a ** k)", "s += np.sum(2 ** k) * NUM",
    "s += np.sum(a[k % 3])", "s += a[int(NUM) % 3]", "s += a[k[J] % 3]",
    "s += np.sum(np.maximum(FLOATS, INTS * 0.7))", "s += np.sum(np.where(BOOLS, FLOATS, INTS))",
    "s += np.sum(np.clip(a, 0, k))",
    "s += np.sum(np.bincount(k % 3, weights=a, minlength=3) * b)",
    "s += np.sum(np.repeat(a, k % 3))", "s += np.mean(INTS) * NUM",
    "s += np.count_nonzero(BOOLS) * NUM", "s += np.any(BOOLS) * NUM", "s += (a[J] > LIMIT) * NUM",
    "s += abs(NUM)", "s += round(float(NUM)) * x[I]", "s += max(NUM, NUM)", "s += min(k[J], NUM)",
    "s += np.float64(NUM) * 2", "s += bool(NUM) * x[I]", "s += (NUM if NUM > LIMIT else k[J])",
    "s = NUM if t > 1 else s", "a = a if BOOLS[J] else a * 2", "a, b = b, a", "a = np.sort(a)",
    "s += np.trace(np.outer(a, k))", "s += np.sum(np.cumsum(FLOATS) * k)",
    "s += np.sum(np.stack([a, k]) * NUM)", "s += np.concatenate([a, k, m])[J + 3]",
    "a = np.sqrt(a * a + k * 0.1)",
]  # fmt: skip
HEADS = [
    "for i in range(n):", "for i in range(2):", "for i in range(3):\n    s += a[i] * k[i]",
    "if NUM > LIMIT:", "while t < n:\n    t += 1", "for v in a:\n    s += v * t",
    "for i, v in enumerate(k):\n    s += a[i] * v", "if BOOLS[J]:", "for v in k:",
    "for i in np.flatnonzero(m):\n    s += a[i]", "for i in range(k[J] % 3):",
]  # fmt: skip
LAST = """\
    s = np.sum(s) + np.sum(a * 0.7) + np.sum(b * k) * 0.3 + np.sum(h[:3] * np.arange(1.0, 4.0))
    return s + np.sum(e) * 0.2 + np.sum(z) * 0.4 + np.sum(a[m]) * 0.1 + t * x[5] + sum(q) * 0.1
"""


def program(seed: int) -> str:
    """A function `f` of a vector of six positive numbers and an int."""
    r = random.Random(seed)
    words = {
        "FLOATS": FLOATS, "NUM": NUMBERS, "INTS": INTS, "BOOLS": BOOLS, "I": several(6),
        "J": several(3), "LIMIT": ["0.7", "1.1", "1.6"],
    }  # fmt: skip

    rows = [row for _ in range(r.randint(3, 8)) for row in statement(r, words, STATEMENTS, HEADS)]
    return HEAD + "".join(f"    {row}\n" for row in rows) + LAST
