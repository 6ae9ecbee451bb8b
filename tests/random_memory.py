"""Random programs in which arrays have several names, and are written through one of them.

Views, functions that give back what they are given or copy it as the data decide, choices of
arrays, containers that hold them: each kind of memory meets each way to write, in each situation.
"""

from __future__ import annotations

import random

import numpy as np

from .random_words import filled, several

HEAD = """\
import numpy as np


def weigh(v):
    weights = (0.3 + np.arange(np.size(v))).reshape(np.shape(v))
    return np.sum(np.sin(np.real(v)) * weights) + 0.6 * np.sum(np.imag(v) * weights)


def either(n, p, q):
    for _ in range(n):
        p, q = q, p
    return p


def unless(p, n):
    if n > 1:
        return p
    return p * 2.0


def change(p, q, k):
    p[0] = q[-1] * k
    q[1] += p[0]
    p[...] *= 0.5 + 0.1 * k
    return q


def again(p, n):
    if n == 0:
        return p
    p[0] *= 1.3
    return again(p[::-1], n - 1)


def each(p, k):
    for i in range(2):
        p[i] *= k
        yield np.sum(p[0])


class Held:
    def __init__(self, p, q):
        self.p = p
        self.q = q

    def write(self, k):
        self.p[0] = k
        self.q *= k


def f(x, n):
    s, m, kept = x[0] * x[1], np.outer(x[:3], x[3:]), []
"""
ARRAYS = [
    "x", "m", "x * 1.0", "m * x[0]", "np.outer(x[:3], x[:3])", "x[1:]", "m[1]", "m.T",
    "np.zeros(6) + x[0]", "x.reshape(2, 3)", "x[::-1]", "np.asfortranarray(m * 1.0)",
    "np.zeros((3, 3))", "np.full(4, x[2])", "x * 1j + 0.5", "(m * 1j).copy()", "np.array([x, x])",
]  # fmt: skip
VIEWS = [
    "A", "A[:]", "A[1:]", "A[::-1]", "A[::2]", "A.T", "A.reshape(-1)", "A.ravel()", "A.flatten()",
    "A.T.reshape(-1)", "A[..., 0]", "A[0]", "A[:, 1]", "A.swapaxes(0, -1)", "np.atleast_2d(A)",
    "np.atleast_1d(A)", "np.asarray(A)", "np.ascontiguousarray(A)", "np.ascontiguousarray(A.T)",
    "A[...]", "A[None]", "A.squeeze()", "A.view()", "np.array_split(A, 2)[J]", "list(A)[J]",
    "A[A > 0.5]", "A[[0, 1]]", "A.copy()", "np.array(A)", "np.array(A, copy=None)", "np.require(A)",
    "A.astype(float, copy=False)", "np.flip(A)", "np.rot90(A)", "np.nan_to_num(A, copy=False)",
    "A.diagonal()", "np.reshape(A, (-1,), order='F')", "np.ravel(A, order='K')", "A.real",
    "A.imag", "A.conj()", "A[()]", "A[True]", "A[:n + 1]", "A[n % 2]",
    "A.reshape(2, -1)", "np.einsum('ij->ji', A)", "next(iter(A))", "A[A.argsort()]",
    "(A, A[::-1])[n % 2]", "(A if x[0] > 1 else A[::-1])", "unless(A, n)", "either(n, A, A[::-1])",
    "min(A, A * 2, key=np.sum)", "np.array([A, A])[J]", "np.moveaxis(A, 0, -1)", "again(A, n)",
    "A.astype(np.float32)", "(lambda q=A: q)()", "np.where(A > 0.5, A, 0)", "A[:, ::-1]",
]  # fmt: skip
NUMBERS = [
    "x[K]", "x[K] * x[K]", "0.5", "np.sum(A)", "weigh(A)", "s * 0.1", "np.sin(x[K])", "np.max(A)",
    "A.flat[0]", "n * x[K]", "np.sum(A[0])",
]  # fmt: skip
VALUES = [
    "NUM", "NUM", "A", "A * NUM", "A[::-1]", "A * A", "A.T", "A[-1]", "A[1:]", "A[:-1]", "VIEW",
    "[NUM, NUM]", "x[:A.size].reshape(A.shape)", "A * 1j", "list(A)", "[A[1], A[0]]", "A.real",
]  # fmt: skip
STATEMENTS = [
    "A[0] = VALUE", "A[0] += VALUE", "A[-1] *= NUM", "A[J] = NUM", "A[1:] = A[:-1]",
    "A[1:] += A[:-1]", "A[::-1] = A", "A[:] = A[::-1]", "A *= A", "N += VALUE", "N -= N.mean()",
    "N *= N[0]", "A[:] = VALUE", "A[:2] = VALUE", "A[..., 0] = NUM", "A[::-2] += NUM",
    "A[A > 0.5] *= NUM", "A[[0, 0, 1]] += NUM", "A[n % 2] = NUM", "A[:n] *= NUM",
    "A[:, 1] += A[:, 0]",
    "A[0], A[1] = A[1], A[0]", "np.multiply(A, NUM, out=A)", "np.sin(VALUE, out=A)",
    "np.add(A[1:], A[:-1], out=A[:-1])", "np.add(A, VALUE, out=A, where=A > 0.5)",
    "np.cumsum(A, axis=0, out=A)", "np.add.at(A, [0, 0, 1], NUM)", "np.copyto(A, VALUE)",
    "np.put(A, [0, 2], NUM)", "np.fill_diagonal(A, NUM)", "A.fill(NUM)", "A.sort()",
    "A.flat = VALUE",
    "A.flat[1:3] = NUM", "A.real = VALUE", "A.imag = VALUE", "A.imag += NUM", "N.shape = (-1,)",
    "N.shape = (2, -1)", "N @= N", "change(A, A, NUM)", "change(A, B, NUM)",
    "change(A, B, NUM)[0] = NUM",
    "o.write(NUM)", "for r in A: r *= NUM", "for r, q in zip(A, A[::-1]): r += q", "s += weigh(A)",
    "for k, r in enumerate(A): A[k] = r * NUM", "for k in np.ndindex(A.shape): A[k] += NUM",
    "for r in np.nditer(A, op_flags=['readwrite']): r[...] = r * NUM", "again(A, n)[0] = NUM",
    "for r in each(A, NUM): A[0] += r", "N = VIEW", "N = B", "a, b = b, a", "v, a = a, v",
    "kept.append(A)", "kept.append(A[1:])", "kept.append(NUM)", "keep = A\ns += weigh(keep)",
    "h['p'] = VIEW", "h = {k: r for k, r in h.items()}", "for r in h.values(): r[0] = NUM",
    "for k in h: h[k] *= NUM", "rows[0] = A", "rows.append(VIEW)", "rows.reverse()", "rows.pop()",
    "rows = [r * 1.0 for r in rows]", "other = rows\nother[0] = VIEW", "rows[n % 2][0] = NUM",
    "other = rows[:]\nother[0][0] = NUM\nother[0] = B", "for r in rows: r *= NUM",
    "for k, r in enumerate(rows): rows[k] = r * NUM", "o.p, o.q = o.q, o.p", "o.p = VIEW",
    "o = Held(A, B)", "def g(r=A):\n    r[0] = NUM\n    return r\ns += weigh(g()) + weigh(g())",
    "p = A if n > 1 else VIEW\np[0] = NUM\ns += weigh(p)", "p = q = A\np *= NUM\ns += weigh(q)",
    "p = None\nif n > 1:\n    p = A\nif p is not None:\n    p *= NUM",
    "p = A if n > 1 else B\np.shape = (2, -1)\ns += weigh(p)",
    "z = A * (1 + 2j)\nz.real[0] = NUM\nz.imag *= NUM\ns += weigh(z)",
]  # fmt: skip
SITUATIONS = [
    "DO", "DO", "for i in range(n):\n    DO\n    DO", "for i in range(0):\n    DO",
    "for i in range(2):\n    DO", "k = 0\nwhile k < 3 and s < 4:\n    k += 1\n    DO\n    s += 0.5",
    "if x[0] > 1:\n    DO\nelse:\n    DO", "if n > 1:\n    DO", "try:\n    DO\nfinally:\n    DO",
    "try:\n    DO\n    if n > 1:\n        raise ValueError\n    DO\nexcept ValueError:\n    DO",
    "for i in range(3):\n    if i == n:\n        break\n    DO\nDO", "t = s\nDO\ns += t * weigh(A)",
    "for i in range(n):\n    DO\n    a, b = b, a", "for i in range(3):\n    DO\n    a, v = v, a",
    "for i in range(n):\n    DO\n    b = a * 1.1", "before = A\nDO\ns += weigh(before)",
    "before = A.copy()\nDO\ns += weigh(before)", "for r in (a, b, v):\n    r[0] = NUM\n    DO",
]  # fmt: skip
HELD = [
    "rows = [a, v]", "rows = [a, b, v, w]", "rows = [a, a]", "rows = [r for r in a]",
    "rows = [a.copy(), v]",
]  # fmt: skip
END = """\
    s += weigh(a) + 0.7 * weigh(b) + 1.3 * weigh(v) + 0.4 * weigh(w) + 0.2 * weigh(x) + weigh(m)
    s += sum((i + 1) * weigh(r) for i, r in enumerate(rows)) + sum(weigh(r) for r in kept)
    return np.real(s + weigh(h["p"]) - 2 * weigh(h["q"]) + 0.6 * weigh(o.p) - 0.9 * weigh(o.q))
"""


def program(seed: int) -> str:
    """A function `f` of a vector of six positive numbers and an int, which runs."""
    for attempt in range(100):
        text = _written(random.Random(100 * seed + attempt))
        namespace: dict[str, object] = {}
        try:
            exec(compile(text, "<memory>", "exec"), namespace)
            value = namespace["f"](np.linspace(0.4, 1.8, 6), 2)  # type: ignore[operator]
        except Exception:
            continue
        if abs(value) < 1e4:
            return text
    raise AssertionError(f"none of these programs runs: {seed}")


def _written(r: random.Random) -> str:
    names = ["a", "a", "v", "v", "b", "w"]
    if r.random() < 0.6:
        names += ["rows[0]", "rows[-1]", 'h["p"]', 'h["q"]', "o.p", "o.q", "rows[n % 2]", "x"]
    words = {
        "A": names, "B": names, "N": ["a", "b", "v", "w"], "VIEW": VIEWS, "NUM": NUMBERS,
        "VALUE": VALUES, "J": several(2), "K": several(6),
    }  # fmt: skip

    def one(pattern: str) -> str:
        """A statement, all of its `A` and `N` the same array."""
        array, own = r.choice(names), r.choice(words["N"])
        return filled(pattern, {**words, "A": [array], "N": [own]}, r, 5)

    def shown(name: str) -> str:
        return filled(r.choice(VIEWS), {**words, "A": [name]}, r, 5)

    rows = [
        f"a = {r.choice(ARRAYS)}",
        f"b = {r.choice(['a', 'a.copy()', 'a * x[2]', 'a[::-1]', 'x', r.choice(ARRAYS)])}",
        f"v = {shown('a')}",
        f"w = {shown(r.choice('abv'))}",
        r.choice(HELD),
        f"h = {{'p': {r.choice(['a', 'v', 'rows[0]'])}, 'q': {r.choice('avw')}}}",
        f"o = Held({r.choice('avw')}, {r.choice(['v', 'a[...]', 'rows[0]'])})",
    ]
    for _ in range(r.choice([1, 2, 2, 3])):
        for row in one(r.choice(SITUATIONS)).split("\n"):
            indent = row[: len(row) - len(row.lstrip())]
            inner = one(r.choice(STATEMENTS)) if row.strip() == "DO" else row.strip()
            rows += [indent + line for line in inner.split("\n")]
    return HEAD + "".join(f"    {row}\n" for row in rows) + END
