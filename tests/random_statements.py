"""Random programs of statements from tables, one table for each way of keeping and sharing arrays.

Objects whose methods call each other, dicts of arrays, views that wait in lists while their base
is written, stores at indices that repeat, functions that return early, closures, iterators that
are asked after what they read has changed, numbers of several precisions, arrays without axes or
items; side effects in subscripts, right-hand sides and arguments; exceptions that leave things
half done, and `match`. Around them stand loops with an `else`, branches, and names that change
their kinds.

For a long run: `python -m tests.random_statements COUNT [first seed] [table ...]` prints each
program that fails, made as small as it gets.
"""

from __future__ import annotations

import linecache
import random
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.runtime import BY_MEMORY, OTHER_NAMES, READS_WRITTEN

PLACES = re.compile(
    r"\b(TESTED|KEY2|REF|HELD|INNER|VEC|NUM|MAT|INT|PUT|OWN|KEY|LIST|MANY|COMPLEX|ITEMS|CHANGE|USE|GROW|MAKE|"
    r"VIEW|OP)\b"
)


@dataclass(frozen=True)
class Table:
    """What is defined before the function, what it begins with, statements, and what it adds up."""

    statements: tuple[str, ...]
    ends: tuple[str, ...]
    before: str = ""
    begin: str = ""


def lines(text: str) -> tuple[str, ...]:
    """The lines of a table; a `|` in one separates statements."""
    return tuple(line.strip() for line in text.strip().splitlines())


# What is refused when the gradient runs
LATE = (
    "a float is written into an array of ints", READS_WRITTEN, "two arguments share memory",
    "is in two places of what is copied by copy.deepcopy",
    "the result of a call shares memory with its argument", BY_MEMORY, OTHER_NAMES,
    "an augmented assignment writes into this",
)  # fmt: skip
ATOMS = {
    "VEC": "a b c x y a b np.sin(VEC) (VEC-VEC) (VEC/(VEC**2+1)) (VEC*NUM) (m@VEC)".split(),
    "NUM": "s t 0.5 a[0] b[-1] np.sin(NUM) NUM*NUM (NUM-NUM) np.sum(VEC) (VEC@VEC)".split(),
    "MAT": "m m.T m*s m[::-1] np.outer(VEC,VEC) np.sin(m) VEC[:,None]*VEC m+VEC".split(),
    "INT": "0 1 2 n n-1 i count".split(),
    "PUT": "a b a[::-1] m[0] m[:,-1] m.T[0] m[::-1,::-1][0]".split(),
    "OWN": "p q net.best".split(),
    "KEY": "'w' 'b'".split(),
    "LIST": "params state grads".split(),
    "MANY": "[0,0] idx idx[::-1] np.argsort(a) mask ~mask [0,-1]".split(),
    "COMPLEX": "z w8 np.conj(z) m@z np.exp(1j*VEC) VEC+1j*VEC 1/(z+3) np.fft.fft(z)".split(),
    "OP": "'add' 'mul' 'mix' 'max'".split(),
    "VIEW": """a m[0] m[:,-1] m.T[0] k3[0,0] k3[1,:,0] k3[0].T[-1] k3.ravel() m.reshape(-1) a[::-1]
        k3[:,0,:] np.moveaxis(k3,0,-1)[0] k3[...,-1]""".split(),
    "REF": "a b c o.v p.v o.w o.next.v p.last d['w'] d['b'] rows[0] rows[-1] rows[i]".split(),
    "HELD": "REF REF REF[::-1] m[0] m[:,-1] pair[0] pair[1] chosen views[0] d[KEY] o.v p.w".split(),
    "INNER": """a b inner inner[::-1] grid[0][0] grid[1][-1] grid[i%2][0] m[0] boxes[KEY][0]
        pairs[0][1] cells[0]['v'] cells[-1]['v'] boxes['w'][-1]""".split(),
    "GROW": "first second third".split(),
    "MAKE": ["made(VEC)", "pieces(VEC)", "(u * s for u in VEC)", "iter(VEC)"],
    "ITEMS": lines("""
        zip((v * level for v in VEC), VEC)
        zip(VEC, (v * level for v in VEC if v > -9))
        zip(VEC, (scaled(v) for v in pool))
        enumerate(v * level for v in VEC)
        enumerate(scaled(v) for v in VEC if v > 0)
        zip(accumulate(VEC, lambda p, q: p * level + q), VEC)
        pairwise(v * level for v in pool)
        map(lambda v, u: (v * level, u), VEC, pool)
        zip(m, VEC)
        zip(reversed(pool), pool)
        zip(chain(pool, (v * level for v in a)), count_from(1))
        zip(map(scaled, VEC), filter(lambda v: v > -level, VEC))
    """),
    "CHANGE": lines("""
        level = NUM
        level += a[0]
        pool[0] = NUM
        pool.append(NUM)
        a[0] = NUM
        m[0] *= NUM
        a = VEC
        pool = [*pool, NUM]
        t += NUM
        v, u = next(items, (0.5, s)) ; level = level * 0.9 ; t += np.sum(v * u)
    """),
    "USE": lines("""
        t += sum(np.sum(v * u) for v, u in items)
        for v, u in items: t += np.sum(v * u) * level
        for v, u in items: t += np.sum(v * u) ; level = level * 0.9
        for v, u in items: t += np.sum(v * u) ; pool[-1] = pool[-1] * s
        pairs = list(items) ; level = NUM ; t += sum(np.sum(v * u) for v, u in pairs)
        t += max(np.sum(v * u) for v, u in items)
    """),
}

ALWAYS = Table(
    lines("""
        a = VEC
        b = VEC
        b = a
        a, b = b, a
        a = x
        a += VEC
        b *= NUM
        pair = [NUM, NUM] ; pair += VEC[:2] ; t += pair[-1]
        pair = [v * NUM for v in VEC] ; c = pair ; c *= VEC ; t += np.sum(pair) * 0.1
        PUT[0] += NUM
        PUT[1:] = PUT[:-1]
        m[...] = MAT
        m = MAT
        t += NUM
        t = np.sin(t) * NUM
        count += 1
        k = NUM
        k = VEC
        k = INT
        t += np.sum(k * VEC)
        k = k * NUM
    """),
    ("t", "np.sum(np.cos(a))", "b @ x", "np.sum(np.sin(m))", "np.sum(k) * s"),
)

TABLES = {
    "objects": Table(
        lines("""
            a = OWN.forward(VEC)
            b = OWN.step(VEC, NUM)
            OWN.w = VEC
            OWN.w[0] += NUM
            OWN.w += VEC
            OWN.scaled(VEC).scaled(VEC)
            OWN.norm = NUM
            t += OWN.norm
            b = OWN.run(VEC, INT)
            a = OWN.peak(VEC)
            OWN[0] = NUM
            t += OWN[-1] * NUM
            net.best = Layer(a, t)
            net.best = OWN
            net.layers[0] = OWN
            t += net.pick(NUM).b
            p, q = q, p
            OWN.last = VEC
            OWN.b += NUM
        """),
        ("p.norm", "np.sum(q.w * q.b)", "sum(np.sum(v) for v in q.log)", "net.best.w[0]"),
        """
class Layer:
    def __init__(self, w, b=0.0):
        self.w, self.b, self.last, self.count, self.log = w, b, w, 0, []

    def forward(self, v):
        self.last = v
        self.count += 1
        return np.tanh(self.w * v + self.b)

    def step(self, v, rate=0.1):
        out = self.forward(v)
        self.w = self.w - rate * out * self.last
        self.b -= rate * np.mean(out)
        return out

    def scaled(self, d):
        self.w *= 0.9
        self.w += d
        return self

    @property
    def norm(self):
        return np.sum(self.w**2) + self.b

    @norm.setter
    def norm(self, v):
        self.w = self.w * v

    def run(self, v, n):
        for i in range(n):
            v = self.forward(v) if i % 2 else self.step(v, 0.05 * i)
            self.log.append(v)
        return v

    def peak(self, v):
        while self.count < 3:
            v = self.forward(v)
            if v[0] > 0.3:
                return v
        self.count = 0
        return -v

    def __getitem__(self, i):
        return self.w[i]

    def __setitem__(self, i, v):
        self.w[i] = v


class Net:
    def __init__(self, *layers):
        self.layers, self.best = list(layers), layers[0]

    def pick(self, v):
        for layer in self.layers:
            if layer.norm > v:
                self.best = layer
        return self.best
""",
        "p, q = Layer(a, s), Layer(y * 0.5) | net = Net(p, q)",
    ),
    "dicts": Table(
        lines("""
            adam(params, grads, state, i)
            momentum(params, grads, state)
            LIST[KEY] = VEC
            LIST[KEY] += VEC
            LIST[KEY] *= NUM
            LIST[KEY][0] = NUM
            LIST[KEY] = LIST[KEY]
            params, grads = grads, params
            grads = {key: np.sin(v) for key, v in params.items()}
            for key in LIST: LIST[key] = LIST[key] * NUM
            for key, v in LIST.items(): v *= NUM
            params.update(grads)
            params = {**params, KEY: VEC}
            a = LIST[KEY]
            t += sum(np.sum(v * NUM) for v in LIST.values())
            LIST.setdefault(KEY, a)[0] *= 0.5
            h = LIST.pop(KEY) | LIST[KEY] = h * NUM | LIST.update(w=LIST.get("w", h), b=h)
            key = max(params, key=lambda q: np.sum(params[q])) | params[key] = params[key] * 0.5
        """),
        ("np.sum(params['w'] * params['b'])", "np.sum(np.sin(state['w']))", "np.sum(grads['b'])"),
        """
def adam(params, grads, state, k, rate=0.1):
    for key in params:
        state[key] = 0.9 * state[key] + 0.1 * grads[key] ** 2
        params[key] = params[key] - rate * grads[key] / np.sqrt(state[key] ** 2 + 0.1) / (k + 1)


def momentum(params, grads, state):
    for key, value in params.items():
        state[key] *= 0.9
        state[key] -= 0.1 * grads[key]
        value += state[key]
""",
        "params, grads = {'w': a * 1.0, 'b': y + 0.1}, {'w': x * s, 'b': np.cos(y)} | "
        "state = {key: np.zeros_like(v) for key, v in params.items()}",
    ),
    "views": Table(
        lines("""
            t += np.sum(rows[INT % 6] * VEC)
            rows[INT % 6][0] = NUM
            rows[INT % 6][...] = VEC
            rows[INT % 6][:] *= NUM
            rows[INT % 6][1:] += rows[INT % 6][:-1]
            rows[INT % 6] = VEC
            rows[INT % 6] = PUT
            rows[INT % 6] += VEC
            rows[0], rows[1] = rows[1], rows[0]
            views[INT % 2][...] *= NUM
            views[INT % 2][0] = VEC
            views[INT % 2][:, -1] += VEC
            views[INT % 2] = MAT
            for v in rows[1:3]: v *= 0.9 ; t += NUM
            for v, u in zip(*views): v += 0.1 * u
            for v in views[0]: v[...] = np.sin(v) * NUM
            np.einsum('ii->i', m)[...] = VEC
            np.fill_diagonal(m, NUM)
            np.split(m, [1])[0][...] *= NUM
            first, *_ = m | first *= NUM
        """),
        ("sum(np.sum(v[0]) for v in views)", "sum(v[0] * v[-1] for v in rows)"),
        begin="views = [m.T, m[:, ::-1]] | rows = [m[0], m.T[-1], np.diagonal(m) * 1.0, a[::-1], "
        "m.reshape(-1)[: n], np.moveaxis(m, 0, -1)[-1]]",
    ),
    "indices": Table(
        lines("""
            PUT[MANY] = NUM
            PUT[MANY] += NUM
            PUT[MANY] *= NUM
            PUT[idx] = three
            PUT[idx] += three
            PUT[mask] = VEC[mask]
            np.add.at(PUT, MANY, NUM)
            np.subtract.at(PUT, idx, three)
            np.put(a, [0, 0], NUM)
            m[idx, idx] = three
            m[idx, 0] += three
            np.add.at(m, (idx, idx[::-1]), three)
            m[idx] = VEC
            m[mask] *= NUM
            m[m > NUM] = NUM
            np.copyto(PUT, VEC, where=mask)
            np.multiply(VEC, NUM, out=PUT)
            np.tanh(VEC, out=a, where=mask)
            np.putmask(b, mask, VEC)
            np.cumsum(VEC, out=PUT)
            three = three[[2, 2, 1]]
            three[idx % 3] += NUM
            mask = VEC > NUM
            idx = (idx + 1) % n
            idx[0] = n - 1
            t += np.sum(VEC[MANY])
            t += np.sum(np.take_along_axis(m, np.argsort(VEC)[None], 0) * VEC)
        """),
        ("np.sum(three**2)", "np.sum(a[idx] * three)"),
        begin="idx, mask = np.array([0, n - 1, 0]), a > 0.1 | three = np.array([0.3, -0.2, 0.5])",
    ),
    "outs": Table(
        lines("""
            np.add(PUT[1:], PUT[:-1], out=PUT[1:])
            np.subtract(VEC, VEC, out=m[0])
            np.power(VEC, 2, out=PUT)
            np.sqrt(np.abs(VEC) + 0.1, out=PUT, where=np.abs(VEC) > NUM)
            np.divide(VEC, x, out=VEC * 1.0, where=x > 0.3)
            np.multiply(m, VEC, out=m)
            np.negative(m.T, out=m)
            np.maximum(PUT, VEC, out=PUT)
            np.cumsum(PUT, out=PUT)
            np.maximum.accumulate(VEC, out=PUT)
            np.add.reduce(m, axis=INT % 2, out=PUT)
            np.matmul(m, VEC, out=held)
            np.matmul(m, held, out=held)
            np.dot(m, VEC, out=held)
            np.outer(VEC, VEC, out=m)
            np.einsum('ij,j->i', m, VEC, out=PUT)
            m.sum(axis=1, out=PUT)
            np.mean(m, 0, out=PUT)
            np.max(m, axis=0, out=PUT)
            np.clip(PUT, -0.5, 0.5, out=PUT)
            VEC.clip(-0.4, 0.8, PUT)
            np.modf(VEC * 3, out=(held, PUT))
            np.stack([VEC, held], out=two)
            np.concatenate([VEC, held], out=two.reshape(-1))
            np.take(VEC, [0, -1], out=ends)
            np.copyto(m, VEC)
            np.copyto(m[:, 0], m[0])
            np.copyto(PUT, held, where=VEC > NUM)
            np.nan_to_num(PUT, copy=False)
            np.asarray(PUT)[0] = NUM
            np.asarray(m, float)[-1] *= NUM
            np.ascontiguousarray(held)[0] += NUM
            np.atleast_2d(PUT)[0, -1] = NUM
            np.swapaxes(m, 0, 1)[0] += VEC
            np.rot90(m)[0] = VEC
            np.flip(m, 0)[-1] *= held
            np.expand_dims(PUT, 0)[...] = VEC
            m[np.ix_([0, -1], [0])] += NUM
            m.flat[n] = NUM
            m.flat[::n + 1] = VEC
            m.flat[m.ravel() > NUM] = NUM
            m.T.flat[[-1, 0]] *= NUM
            PUT.sort()
            m.sort(axis=0)
            m[...] = m.T
            m[1:] = m[:-1]
            m += m.T * 0.5
            m -= m.mean(axis=0)
            m[:, 0] = m[0]
            PUT[:] = PUT[::-1]
            PUT -= PUT.mean()
            PUT[...] = PUT[0]
            held[...] = VEC
            two[0] = two[1]
            two += two[::-1] * NUM
            two[:, 1:] -= two[:, :-1]
            ends *= ends[::-1]
            a, held = held, a
            held = PUT
        """),
        ("held @ y", "np.sum(np.sin(two) * x)", "ends[0] * ends[1]"),
        begin="held, two, ends = x * 0.5, np.stack([x, y]), np.array([0.1, s])",
    ),
    "returns": Table(
        lines("""
            t += first(VEC, NUM, 0.1) or NUM
            t += sum([(first(VEC, u) or 0.1) * u for u in x])
            t += sum(search(v, NUM) for v in m if v[0] > NUM)
            a = written(PUT, NUM)
            h = [written(v, u) for v, u in zip(m.T, VEC)] | t += sum(v @ v for v in h)
            b = settled(VEC)
            found = [first(v, s, 0.1) for v in m] | t += sum(u for u in found if u is not None)
            t += next((u * s for u in VEC if u > 0.2), NUM)
            t += max((u * u for u in VEC if u > NUM), default=NUM)
            a = np.array([search(v * VEC, s) for v in x])
        """),
        ("first(a, s, 0.3) if first(a, s, 0.3) is not None else b[0]", "search(b, s)"),
        """
def first(v, s, limit):
    for i in range(len(v)):
        for j in range(i + 1):
            if v[i] * v[j] > limit:
                return v[i] * s + v[j]
            if v[j] < -1:
                return None
    return s


def search(v, s):
    out = 0.0
    for w in v:
        while True:
            w = w * 0.5 + 0.1
            if w < 0.3:
                break
            if w > 2:
                return out + w
            out += w * s
        if out > 3:
            return out * v[0]
    else:
        out -= s
    return out


def written(v, s):
    for i in range(len(v)):
        if v[i] > 0.5:
            return v
        v[i] += s * v[0]
    return v * 2


def settled(v):
    u = np.zeros_like(v)
    for _ in range(50):
        new = 0.4 * np.cos(u) + v * 0.3
        if np.max(np.abs(new - u)) < 1e-10:
            return new
        u = new
    return u
""",
    ),
    "closures": Table(
        lines("""
            t += bump(NUM)
            b = moved(VEC)
            t += total(NUM)
            t += other(total(NUM))
            total, other = other, total
            for u in VEC: t += total(u)
            t += sum([bump(u) for u in VEC])
            t += sum(map(total, VEC))
            h = [lambda v, u=u: v * u * level for u in x] | level = NUM | t += sum(f(s) for f in h)
            level += a[0]
            seen[-1:] = [NUM]
            while count < 3: t += bump(a[count % n])
            t = total(s) + t * bump(t)
            a[0], t = total(a[0]), bump(t)
            if bump(s) > NUM: t += total(s)
        """),
        ("level", "sum(seen)", "total(s)", "other(x[0])", "bump(s)"),
        begin="""level, seen = s, []
def bump(v):
    nonlocal level, count
    count += 1
    level = level * 0.5 + v
    seen.append(level)
    return level * a[0]
def moved(v):
    nonlocal a, t
    a, t = a + v, t + level
    return a
def summing(k):
    whole = k
    def added(v):
        nonlocal whole
        whole = whole + v * level
        return whole * k
    return added
total, other = summing(s), summing(t)""",
    ),
    "iterators": Table(
        lines("""
            items = ITEMS | CHANGE | USE
            items = ITEMS | CHANGE | CHANGE | USE
            items = ITEMS | USE | CHANGE
            CHANGE
            t += sum(pool[1:])
        """),
        ("level", "sum(pool)", "sum(scaled(v) for v in pool)"),
        "from itertools import accumulate, chain, count as count_from, pairwise\n",
        begin="""level, pool, items = s, [a[0], s], iter([(a, s)])
def scaled(v):
    nonlocal t
    t = t + 0.1 * v
    return v * level""",
    ),
    "lists": Table(
        lines("""
            GROW.append(VEC)
            GROW.append(VEC)
            GROW.append(GROW[-1] * NUM if GROW else VEC)
            push(GROW, VEC)
            GROW.insert(0, VEC)
            if GROW: GROW.pop()
            if len(GROW) > 2: GROW.pop(0)
            GROW = [v * NUM for v in GROW]
            GROW = GROW[1:]
            GROW = GROW
            GROW, GROW = GROW, GROW
            GROW = GROW * 2
            GROW.extend(GROW[:2])
            for u in m: GROW.append(u * s)
            for u in m: GROW.append(u * s) if u[0] > 0 else GROW.append(-u)
            for u in list(GROW): GROW.append(np.sin(u))
            t += len(GROW) * NUM
            t += np.sum(np.array(GROW) * NUM)
            t += np.sum(sum(v * NUM for v in GROW))
            t += np.sum(sum(u * v for u, v in zip(GROW, GROW)))
            if GROW: t += np.sum(np.stack(GROW)[-1])
        """),
        (
            "len(first) * s",
            "np.sum(sum(first))",
            "np.sum(np.array(second) * s)",
            "sum(np.sum(u * v) for u, v in zip(second, third))",
        ),
        before="def push(items, v):\n    items.append(v)\n",
        begin="first, second, third = [a], [], [b, a]",
    ),
    "wholes": Table(
        lines("""
            whole = 0
            whole = NUM
            whole = INT
            whole += NUM
            whole = whole * NUM
            whole = max(whole, NUM)
            whole = whole if a[0] > 0.1 else NUM
            if t > 0.2: whole = NUM
            wholes = np.arange(len(x))
            wholes = np.zeros(len(x), int)
            wholes = wholes + VEC
            wholes = wholes * whole
            wholes = wholes if s > t else VEC * 1.0
            wholes = np.full(len(x), whole)
            wholes = np.array([whole] * len(x))
            wholes[0] = INT
            wholes[-1] = NUM
            wholes[:] = VEC
            wholes[0] = whole
            wholes *= 2
            wholes += VEC
            wholes.fill(NUM)
            few = [whole, 1]
            few[0] = NUM
            few.append(whole)
            few[-1] = whole * s
            a = np.full(len(x), whole)
            a = wholes * s
            b = b + wholes
            a[0] += whole
            t += np.sum(np.array([whole, 1, INT]))
            t += np.sum(np.stack([wholes, x]) * s)
            t += np.mean(few) * s
            t += np.sum(np.full_like(x, whole) * y)
        """),
        (
            "np.sum(whole * x)",
            "wholes @ y",
            "np.sum(np.array(few)) * s",
            "np.sum(np.full(2, whole))",
        ),
        begin="whole, wholes, few = 0, np.arange(len(x)), [0, 1]",
    ),
    "generators": Table(
        lines("""
            it = MAKE
            it = MAKE | t += next(it, s) | CHANGE | t += next(it, NUM)
            t += next(it, s)
            t += next(it, NUM) * level
            for u in it: t += u ; break
            for u, v in zip(range(3), it): t += u * v
            for k, u in enumerate(it): t += u * k
            a = np.sin(a) + next(it, NUM)
            level = NUM
            a[0] = NUM
        """),
        ("level", "next(it, s)", "sum(u for u in it)"),
        before="""def pieces(q):
    for k in range(len(q)):
        if q[k] > 0.2:
            yield q[k] * k
        yield q[k]


""",
        begin="""level, pool = s, [a[0], s]
def made(q):
    k = 0
    while k < 4:
        yield q[k % len(q)] * level
        k += 1
        if q[0] > 0.3:
            yield s * k
it = made(a)""",
    ),
    "precisions": Table(
        lines("""
            f4 = f4 * np.float32(0.5)
            g4 = f4 * NUM
            g4[:] = VEC
            g4[0] = NUM
            f4 += g4
            g4 -= np.float32(0.1) * f4**2
            a = f4 * VEC
            a[...] = f4
            z = COMPLEX
            w8 = (COMPLEX).astype(np.complex64)
            w8[...] = VEC
            z[...] = COMPLEX
            z[0] = NUM
            z *= NUM - 0.3j
            a = (COMPLEX).imag * 1.0
            b = np.abs(COMPLEX + 2)
            t += np.vdot(COMPLEX, COMPLEX).imag
            t += np.sum(np.abs(COMPLEX) ** 2)
            for j in range(n): z[j] = z[j] * z[j - 1] + s
            z = np.where(a > 0, z, NUM)
            np.add.at(z, [0, 0], NUM)
            z[a > 0] *= 1j
        """),
        ("float(np.sum(f4 * f4))", "np.sum(np.abs(w8) ** 2)", "np.sum((z * z).real)", "g4 @ a"),
        begin="f4, g4 = x.astype(np.float32), np.zeros(n, np.float32) | "
        "w8, z = (f4 + 1j * f4[::-1]).astype(np.complex64), x + 1j * y",
    ),
    "small": Table(
        lines("""
            h0 += NUM
            h0[...] = NUM
            h0[()] *= NUM
            h0 = np.array(NUM)
            r *= NUM
            r[...] = NUM
            r = PUT[-1, ...]
            t += r * h0
            t += float(h0) * NUM
            t += h0[()]
            a[0] = h0
            a = h0 * VEC
            e = VEC[:0]
            e += NUM
            e = np.concatenate([e, a[1:1]])
            t += np.sum(e * NUM) + np.prod(e) + e @ e
            for u in e: t += u * 5
            t += max(e, default=NUM)
            t += float(max(0, h0) * NUM)
            t += float(min(h0, NUM, r, 1) * max(h0, r))
            most = max(INT, h0, NUM) | t += float(most) * NUM
            most = np.nan_to_num(h0, copy=False) | most *= NUM | t += most
            t += sum(float(u) * k for k, u in enumerate([max(k, one) for k in range(2)]))
            a[n:] = e
            a = np.concatenate([e, VEC])
            one[...] = h0
            one[0] += r
            h0 = one.reshape(())
            one = np.atleast_1d(h0) * 1.0
            np.multiply(h0, r, out=h0)
            np.dot(VEC, VEC, out=h0)
            h0 = np.where(r > 0, h0, NUM)[()] + np.zeros(())
            t += np.sum(np.stack([h0, r]) * one)
        """),
        ("h0 * 2.0", "r * s", "np.sum(e)", "one[0] * one[-1]"),
        begin="h0, r, e, one = np.array(s), a[0, ...], x[:0] * 1.0, np.array([s])",
    ),
}

TABLES["order"] = Table(
    lines("""
    a[nxt()] = NUM
    a[nxt()] += NUM
    a[nxt()] += poke(NUM)
    a[nxt()] *= shift(VEC)[0]
    b[nxt()] += poke(NUM) * b[k % n]
    t += poke(NUM)
    t = t + poke(NUM) * a[0]
    t = a[0] * poke(NUM) + a[0]
    t += more(NUM)
    t = t * more(NUM) + t
    a[0], k = NUM, nxt()
    k, a[k % n] = nxt(), NUM
    a[nxt()], b[nxt()] = b[nxt()], a[nxt()]
    a[k % n], a[nxt()] = a[nxt()], a[k % n]
    c = a = VEC
    c = a = shift(VEC)
    a[0] = b[0] = poke(NUM)
    a[:] = b[:] = shift(VEC)
    if 0 < nxt() < a[nxt()] + 2: t += NUM
    if poke(NUM) < a[0] < poke(NUM): t += a[0]
    t += NUM if poke(NUM) > a[0] else a[0]
    t += (a[0] > 0 and poke(NUM)) or a[0]
    t += max(a[0], poke(NUM), a[0])
    t += [a[0], poke(NUM), a[0]][nxt() % 3]
    t += {0: a[0], nxt(): poke(NUM), 1: a[0]}[0]
    t += three(a[0], poke(NUM), w=a[0])
    t += three(w=poke(NUM), v=a[0], u=a[0])
    t += three(*[a[0], poke(NUM)], **{'w': a[0]})
    t += a @ shift(VEC)
    t += np.sum(a * poke(NUM))
    t += np.sum(a[1:] * poke(NUM) + a[:1])
    t += np.sum(a[:] - poke(NUM) * a)
    t += np.dot(a, swap())
    t += np.sum(swap() * a - b)
    a -= shift(VEC)
    a += swap()
    b *= swap()[0]
    a = a + shift(VEC) * a
    np.add(b, poke(NUM), out=swap())
    (u := VEC * 1.0)[0] = NUM | t += u[-1] * NUM
    v = s | t += sum((v := u * 0.5) + v for u in VEC) + v
    t += [q := NUM, q * 2][1] + q
    h = lambda v, w=poke(NUM): v * w * a[0] | a[0] = NUM | t += h(NUM)
    h = lambda v, w=a: v * w[0] * a[0] | a[0] = NUM | t += h(NUM)
    t += sum(poke(u) * a[-1] for u in a)
    t += sum([poke(u) * a[0] for u in a[::-1]])
    for u in a: a[nxt()] = u * NUM
    for a[0] in VEC: t += a[0] * a[-1]
    for k, a[k % n] in enumerate(VEC): t += a[0]
    for t, k in [(NUM, nxt()), (t, nxt())]: t += a[k % n]
    *c, t = [*c[:-1], poke(NUM)] | c = np.array(c + [a[0]])
    t, *_ = a * poke(NUM)
    log[nxt() % len(log)] += poke(NUM)
    log[-1:], log[0] = [NUM, poke(NUM)], a[0]
    log.append(more(NUM) * log[0])
    log += [a[0], poke(NUM)]
    t += log.pop() * poke(NUM) * log.pop() | log = [t, s, a[0]]
    log[0], t = t, log[0]
    t = log[0] = poke(NUM)
"""),
    ("t * 0.1", "sum(log)", "np.sum(k) * s", "np.sum(c)"),
    before="""
def three(u, v, w=1.0):
    return u * 2 + v * w


""",
    begin="""log, k, q, u, v = [s, t], 0, s, a, s
def nxt(v=1):
    nonlocal k
    k += v
    return k % n
def shift(v):
    nonlocal a
    a = a + v
    return a
def poke(v):
    a[0] = v
    return v * 2 + a[-1]
def more(v):
    nonlocal t
    t = t + v * 0.5
    return v
def swap():
    nonlocal a, b
    a, b = b, a
    return a""",
)

TABLES["flow"] = Table(
    lines("""
    try: |     a[0] = NUM |     a[n + INT] = NUM | except IndexError: |     a[-1] = NUM
    try: |     t = risky(PUT, NUM) | except ValueError: |     t = t * 0.5 + NUM
    try: |     t += risky(PUT, NUM) | except ValueError as e: |     t += e.args[0] | else: |     t *= 0.5 | finally: |     a[0] += NUM
    try: |     b = checked(VEC, NUM) | except (ValueError, KeyError): |     b = VEC
    try: |     t += NUM |     if TESTED: raise Oops(NUM) |     a[0] = NUM | except Oops as e: |     t += e.args[0]
    try: |     t += NUM |     if TESTED: raise Oops(NUM) |     a[0] = NUM | except Oops: |     a[0] = 0.3 | else: |     t = t * NUM
    try: |     table[KEY2] += NUM | except KeyError: |     table['w'] = NUM
    try: |     table.pop(KEY2) | except KeyError: |     table[KEY2] = NUM
    with scope(PUT) as held: |     held[0] = NUM |     t += held[0] * NUM
    with scope(PUT): |     if TESTED: t = early(VEC, NUM)
    t += early(VEC, NUM)
    t += deep(PUT, 3)
    t += ended(VEC, NUM)
    t += fallen(PUT, NUM)
    for u in VEC: |     try: |         if u > NUM: continue |         if u < -0.7: break |         t += u |     finally: |         a[0] += u * s | else: |     t += NUM
    for i in range(3): |     try: |         t += risky(PUT, NUM) |     except ValueError: |         if TESTED: break |         t -= NUM |     else: |         t *= 0.9
    while True: |     count += 1 |     try: |         if count > 4: break |         t += NUM * count |         if TESTED: continue |     finally: |         t += a[0]
    last = 0.0 | for last in VEC: t += last * 0.5
    for w in VEC: pass | t += w * NUM
    i = 0 | for i in range(2, INT): t += a[i % n] | t += i * s
    t += table.get(KEY2, NUM)
    del table[min(table)] | table['v'] = NUM
    match [NUM, a]: |     case [0.5, w]: t += w[0] |     case [u, w] if u > 0.2: t += u * w[-1] |     case [u, *_]: t -= u
    match {'p': NUM, **table}: |     case {'w': u, **rest}: t += u * sum(rest.values()) |     case {'p': u}: t += u
    match Point(NUM, VEC): |     case Point(u, v) if v[0] > u: t += u * v[0] |     case Point(p=u, q=w): t += w[-1] - u
    match count % 3: |     case 0|1: t += NUM |     case k2: t += NUM * k2
"""),  # noqa: E501
    ("sum(table.values())", "np.sum(last) * s", "np.sum(w) * s"),
    before="""
from contextlib import contextmanager


class Oops(Exception):
    pass


class Point:
    __match_args__ = ("p", "q")

    def __init__(self, p, q):
        self.p, self.q = p, q


@contextmanager
def scope(v):
    old = v[0]
    v *= 0.5
    try:
        yield v
    finally:
        v[-1] += old


def risky(v, s):
    v[0] = v[0] * 0.5 + s
    if v[0] > 0.2:
        raise ValueError(v[-1] * s)
    v[-1] = s
    return v[0]


def checked(v, s):
    if v[0] > s:
        raise ValueError("large")
    if v[-1] > s:
        raise KeyError("last")
    return v * s


def early(v, s):
    with scope(v * 1.0) as u:
        for w in u:
            if w > s:
                return w * s
            u[0] = w
        try:
            if u[0] > 0:
                return u[0] + s
        finally:
            u[0] = 7.0
            s = s * 2
    return u[0] * s


def deep(v, k):
    if k == 0:
        return v[0]
    v[k % len(v)] *= 0.7
    try:
        if v[0] > 0.4:
            return deep(v[::-1], k - 1) * 0.5
    finally:
        v[0] += 0.1 * v[-1]
    return deep(v * 1.1, k - 1)


def ended(v, s):
    for w in v:
        try:
            if w > s:
                break
        finally:
            s = s + w
    else:
        s = s * 2
    return s


def fallen(v, s):
    for i in range(len(v)):
        try:
            v[i] = risky(v[i:], s) * 0.5
        except ValueError as error:
            s = s * 0.5 + error.args[0] * 0.1
            continue
        finally:
            v[i] += 0.1 * s
        s = s + v[i]
    return s


""",
    begin="table, last, w = {'w': t, 'v': s}, s, s",
)


TABLES["references"] = Table(
    lines("""
    REF = REF
    REF = HELD
    REF = VEC
    REF, REF = REF, REF
    REF[0] = NUM
    HELD[...] = VEC
    REF[:] = HELD
    REF[1:] = HELD[:-1]
    HELD[-1] += NUM
    REF += VEC
    REF *= NUM
    HELD[:] *= HELD[0]
    o, p = p, o
    o.next = p
    o.next = o
    o.next, p.next = p.next, o.next
    o = Node(HELD, HELD, o)
    p = o.next
    o = copy.copy(p)
    p = copy.deepcopy(o)
    o.mix(HELD)
    HELD[0] = p.mix(HELD)[1 % n]
    rows = [HELD, HELD, *rows[:2]]
    rows.append(HELD)
    rows.insert(0, HELD)
    rows = rows[::-1]
    rows[:2] = rows[1::-1]
    rows = rows[1:] + rows[:1]
    last = rows[:] | last[0] = HELD | last[-1][0] = NUM | t += rows[0][0]
    if len(rows) > 3: HELD[0] = rows.pop()[0]
    for v in rows: v[0] = v[-1] * NUM
    for v, u in zip(rows, rows[::-1]): v += 0.1 * u
    for j, v in enumerate(rows): rows[j] = v[::-1]
    for j in range(len(rows)): rows[j] = rows[j - 1]
    for j in range(len(rows)): rows[j] *= NUM
    d[KEY] = HELD
    d = {**d, KEY: HELD}
    d = dict(d)
    d.update(w=HELD)
    d['w'], d['b'] = d['b'], d['w']
    for key, v in d.items(): v[0] = NUM ; d[key] = v[::-1]
    for key in d: d[key] = HELD
    d = {key: v[::-1] for key, v in d.items()}
    HELD[0] = d.setdefault(KEY, HELD)[0] * NUM
    pair = (HELD, HELD)
    pair = pair[::-1]
    pair[0][0] = NUM
    first, second = pair | second[...] = first * s
    HELD[0], HELD[-1] = NUM, NUM
    m[0] = HELD
    m[:, 0] += HELD
    m = m.T
    m = np.array([HELD] * n)
    for v in m: v[...] = HELD
    views = [m[0], m[:, 0]] | views[INT % 2][0] = NUM
    chosen = HELD if TESTED else HELD | chosen[0] = NUM
    chosen = HELD | if TESTED: chosen = HELD | chosen *= 0.5
    keep = lambda: HELD | REF = VEC | keep()[0] = NUM
    keep = lambda v=HELD: v | REF = VEC | keep()[0] = NUM
    REF = passed(HELD, HELD)
    HELD[0] = passed(HELD, HELD)[-1] * NUM
    REF = swapped(HELD, HELD, 3)
    for v in turns(HELD, HELD): v[0] = v[-1] * NUM
    HELD[0] = sum(v[0] for v in turns(HELD, HELD)) * 0.3
    q = p | for j in range(3): q.v[0] = NUM ; q = q.next
    try: |     HELD[0] = NUM |     if TESTED: raise ValueError(NUM) |     REF = HELD | except ValueError as error: |     HELD[-1] = error.args[0]
    t += HELD @ VEC
"""),  # noqa: E501
    (
        "sum(v @ x for v in rows)",
        "np.sum(np.sin(o.v) * p.w)",
        "np.sum(np.cos(o.next.v))",
        "d['w'] @ d['b']",
        "pair[0] @ pair[1]",
        "chosen[0]",
    ),
    before="""
import copy


class Node:
    def __init__(self, v, w, next=None):
        self.v, self.w, self.next = v, w, next or self

    def mix(self, u):
        self.v, self.w = self.w, u
        self.next.v[0] += u[-1] * 0.5
        return self.v

    @property
    def last(self):
        return self.next.w

    @last.setter
    def last(self, u):
        self.next.w = u


def passed(v, u):
    v[0] = u[-1] * 0.5
    if v[0] > 0.1:
        return u
    v, u = u, v
    u[-1] += 0.3
    return u


def swapped(v, u, k):
    if k == 0:
        return v
    u[0] = v[-1] * 0.7 + 0.1
    return swapped(u, v, k - 1) if v[0] > 0.2 else swapped(v, u * 0.5, k - 1)


def turns(v, u):
    for _ in range(2):
        yield v
        v, u = u, v[::-1]


""",
    begin="""o, p = Node(a, b), Node(b, x * 2.0) | o.next = p
rows = [a, y * s, b] | d = {'w': a, 'b': b[::-1]} | pair = (a, y * 1.0)
chosen, first, second, views, last, q = a, a, b, [m[0]], rows, p""",
)


TABLES["nests"] = Table(
    lines("""
    grid[INT % 2] = grid[INT % 2]
    grid[INT % 2].append(INNER)
    grid[INT % 2][0] = INNER
    grid[INT % 2][-1] = VEC
    grid[INT % 2][0][0] = NUM
    grid[INT % 2][0] *= NUM
    grid[INT % 2] = [v * NUM for v in grid[INT % 2]]
    grid[INT % 2] = grid[INT % 2][:2]
    grid = grid[::-1]
    grid = [list(row) for row in grid]
    grid = [row[::-1] for row in grid]
    grid = [grid[0], grid[0]]
    grid = copy.deepcopy(grid)
    grid = copy.copy(grid) | grid[0][0] = grid[1][0]
    grid[0], grid[1] = grid[1], grid[0]
    grid[0][0], grid[1][0] = grid[1][0], grid[0][0]
    grid[0].extend(grid[1][:1])
    for row in grid: row[0] = INNER
    for row in grid: row.append(row[0] * NUM)
    for row in grid: |     for v in row: v[0] += 0.1 * NUM
    for i2, row in enumerate(grid): |     for j2 in range(len(row)): row[j2] = row[j2] * NUM + grid[i2 - 1][0]
    for row, other in zip(grid, grid[::-1]): row[0] = other[-1]
    for k2, v in pairs: t += v[0] * k2
    for k2, v in pairs: v[k2 % n] = NUM
    pairs.append((INT, INNER))
    pairs = [(k2 + 1, v[::-1]) for k2, v in pairs]
    pairs = sorted(pairs, key=lambda p2: p2[1][0])
    pairs = [(k2, v) for k2, v in pairs if v[0] > NUM]
    if pairs: k2, inner = pairs.pop() ; inner[0] = NUM
    if pairs: inner = max(pairs, key=lambda p2: p2[1][0])[1] ; inner *= 0.5
    boxes[KEY].append(INNER)
    boxes[KEY][0] = INNER
    boxes[KEY] = grid[INT % 2]
    boxes['w'], boxes['b'] = boxes['b'], boxes['w']
    boxes = {key: row[::-1] for key, row in boxes.items()}
    for key, row in boxes.items(): row[-1] = row[0] * NUM
    for row in boxes.values(): row[0][0] = NUM
    if len(boxes[KEY]) > 1: INNER[0] = boxes[KEY].pop()[0]
    del grid[INT % 2][1:]
    t += sum(sum(v[0] for v in row) for row in grid)
    t += sum(np.sum(v) * NUM for row in grid for v in row)
    t += np.sum(np.array(grid[INT % 2]) * NUM)
    t += gathered(grid, 1)
    t += gathered(boxes[KEY], 0)
    INNER[...] = changed(grid[INT % 2], 2)[0]
    grid[INT % 2] = changed(grid[INT % 2], 2)
    boxes[KEY] = changed([INNER, INNER], INT % 3)
    inner = INNER
    inner = VEC
    inner = grid[INT % 2][-1] if TESTED else INNER
    inner += VEC
    cells[INT % 2] = {'v': INNER, 'k': NUM}
    cells[INT % 2]['v'] = INNER
    cells[INT % 2]['v'][0] = NUM
    cells[INT % 2]['k'] += NUM
    cells = [dict(c2) for c2 in cells]
    cells = cells[::-1]
    for c2 in cells: c2['v'] = c2['v'] * c2['k']
    for c2 in cells: c2['k'] += c2['v'][0]
    cells.append({**cells[0], 'k': NUM})
    t += sum(c2['k'] * c2['v'][-1] for c2 in cells)
"""),  # noqa: E501
    (
        "sum(np.sum(v) * j2 for j2, row in enumerate(grid) for v in row)",
        "inner[0]",
        "sum(v[0] * k2 for k2, v in pairs)",
        "sum(np.sum(row[0] * row[-1]) for row in boxes.values())",
        "sum(c2['v'][0] * c2['k'] for c2 in cells)",
    ),
    before="""
import copy


def gathered(rows, depth):
    total = 0.0
    for row in rows:
        total += gathered(row, depth - 1) * 0.5 if depth else row[0] * row[-1]
    return total


def changed(rows, k):
    if k == 0 or rows[0][0] > 3:
        return rows
    rows[0][0] += 0.1 * rows[-1][-1]
    rows = [rows[-1], *rows[:-1]] if k % 2 else rows
    rows[0] = rows[0] * 0.9
    return changed(rows, k - 1)


""",
    begin="""grid = [[a, y * s], [b, a, x * 0.5]] | pairs = [(0, a), (1, y * 1.0)]
boxes = {'w': [a * 2.0, b], 'b': [x * s]}
cells = [{'v': a, 'k': t}, {'v': y * s, 'k': s}] | inner, k2, j2 = a, 0, 0""",
)


TABLES["types"] = Table(
    lines("""
    v = v ** (INT - 2)
    v = 2 ** (INT - k)
    v = INT ** -2
    v = sorted([v, INT])[0]
    v = sorted([NUM, INT])[-1]
    v = max([v, INT, NUM])
    v = [INT, NUM, True][INT % 3]
    v = divmod(v, 2)[k % 2]
    v = round(NUM) if TESTED else NUM
    v = len(range(k - INT))
    v = sum([NUM] * (n - 3), 0)
    v = 1 | for u in range(k): v = VEC[0] if TESTED else np.array(s)
    v = -v // 1
    v, u = u, v
    for u in many: v = v * u
    many.append(v)
    many = sorted(many)
    many = [w * 2 for w in many if w > NUM] or [1]
    k += len(range(INT - 2))
    t += kinds(v) * NUM
    t += kinds(many[INT % len(many)]) * NUM
    t += kinds(max(many)) * s
    t += NUM if isinstance(-v, int) else s * 3
    t += NUM if hasattr(v, "bit_length") else s * 2
    t += NUM if v.__class__ == int else s * 2
"""),
    ("kinds(v) * s", "sum(kinds(w) for w in many) * t", "len(range(2 - k)) * s"),
    before="""
def kinds(v):
    count = 1.0
    if isinstance(v, int):
        count += 1.0
    if isinstance(v, bool):
        count += 2.0
    if isinstance(v, float):
        count += 4.0
    return count


""",
    begin="v, u, k, many = n - 1, s, 1, [n, s]",
)

TABLES["records"] = Table(
    lines("""
    pairs.append((NUM, NUM))
    pairs[INT % len(pairs)] = (NUM, p[0])
    pairs = sorted(pairs)
    pairs = [(w, v) for v, w in pairs if v > NUM] or [(s, t)]
    p = pairs[INT % len(pairs)]
    p = (NUM, q[1])
    p, q = q, p
    t += np.dot(p, q) * s
    t += math.hypot(*p) * max(q)
    for p in pairs: t += np.dot(p, pairs[0]) * 0.1
    for p in pairs: t += sum(np.dot(p, u) for u in pairs) * 0.1
    t += sum(np.linalg.norm(v) for v in pairs) * NUM
    t += sum(math.dist(v, u) for v in pairs for u in pairs[1:] if v != u)
    u, w = zip(*pairs) ; t += np.dot(u, w)
    u = [sum(c2) for c2 in zip(*pairs)] ; t += u[0] * NUM
    t += len(list(zip(*[v for v in pairs if v[0] > NUM]))) * s
    t += np.sum(np.array(pairs) * NUM)
    rows.append([NUM, NUM])
    rows[INT % len(rows)][0] = NUM
    rows[0] = rows[-1]
    rows = [list(c2) for c2 in zip(*rows)] ; t += len(rows) * s
    t += np.dot(rows[0], rows[-1])
    for row in rows: row[-1] *= 0.5
    u = min(rows) ; t += u[0]
    recs.append({'p': (NUM, NUM), 'w': NUM, 'name': 'ab'[INT % 2]})
    for r in recs: r['w'] = r['w'] * NUM
    r = recs[INT % len(recs)] ; r['p'] = p ; q = r['p']
    t += sum(np.dot(r['p'], p) for r in recs if r['name'] == 'a')
    t += sum(v['w'] * u['p'][0] for v in recs for u in recs if v is not u) * 0.1
    recs.sort(key=lambda r: r['w'])
    r = max(recs, key=lambda v: v['w']) ; r['w'] += NUM ; t += (r is recs[0]) * s
    recs[0] = {**recs[-1], 'w': NUM}
    r = recs[0].copy() ; r['w'] = NUM ; t += recs[0]['w'] * r['w']
    recs = [v for v in recs if v['w'] > NUM] or recs[:1]
    groups.setdefault(INT % 2, []).append(p)
    t += sum(np.dot(v, p) for v in groups.get(INT, ())) * 0.1
    u = [NUM, NUM] if TESTED else () ; t += sum(u) * len(u)
"""),
    (
        "sum(v * u for v, u in pairs)",
        "sum(np.dot(row, row) for row in rows)",
        "sum(v['w'] * v['p'][1] for v in recs)",
        "sum(np.dot(v, p) for g in groups.values() for v in g)",
        "np.dot(p, q)",
    ),
    before="import math\n\n\n",
    begin="""pairs, rows, recs, groups = [], [], [], {} | p, q = (s, t), (t, s)
for v in x: pairs.append((v, v * s)) if v > -9 else None
for v in x: rows.append([v, t * v]) if v > -9 else None
for v in x: recs.append({'p': (v, s), 'w': v * v, 'name': 'a'}) if v > -9 else None""",
)

TESTS = ("t > s", "a[0] > 0", "np.sum(a) > np.sum(b)", "i % 2", "count > 1", "x[0] > 0.3")
ATOMS["TESTED"], ATOMS["KEY2"] = list(TESTS), ["'w'", "'zz'", "'v'"]


class Writer:
    """Writes a program of statements from some tables."""

    def __init__(
        self, seed: int, names: tuple[str, ...] = (), tables: dict[str, Table] = TABLES
    ) -> None:
        self.random = random.Random(seed)
        names = names or tuple(self.random.sample(list(tables), self.random.randint(1, 2)))
        self.tables = [tables[name] for name in names]

    def source(self) -> str:
        """The text of `f`, which returns a number, and `g`, which returns its terms."""
        r = self.random
        start = [
            r.choice(["a = x * 1.0", "a = np.sin(x)", "a = x"]),
            r.choice(["b = y * s", "b = y", "b = a[::-1]"]),
            "c, m, n = np.cos(x), np.outer(x, y) + np.eye(len(x)), len(x)",
            "t, k, count, i = 0.3, s, 0, 0",
        ]
        for table in self.tables:
            start += [s for line in table.begin.split(" | ") for s in line.split("\n") if s]
        body = [*start, *self.block(0, r.randint(3, 7))]
        ends = [end for table in (ALWAYS, *self.tables) for end in table.ends]
        text = "import numpy as np\n" + "".join(table.before for table in self.tables)
        results = (" + ".join(f"({end})" for end in ends), f"np.array([{', '.join(ends)}])")
        for name, result in zip("fg", results, strict=True):
            inside = "\n".join(f"    {line}" for line in [*body, f"return {result}"])
            text += f"\n\ndef {name}(x, y, s):\n{inside}\n"
        return text

    def block(self, depth: int, count: int) -> list[str]:
        return [line for _ in range(count) for line in self.statement(depth)]

    def statement(self, depth: int) -> list[str]:
        r = self.random
        choice = r.random() if depth < 2 else 1.0
        if choice < 0.15:
            inside = self.block(depth + 1, r.randint(1, 3))
            if r.random() < 0.3:
                leave = f"if {r.choice(TESTS)}: {r.choice(['break', 'continue'])}"
                inside.insert(0, leave)
            head = f"for i in range({r.choice(['2', '3', 'n', 'n - 1'])}):"
            return [*indented(head, inside), *self.otherwise(depth, 0.3)]
        if choice < 0.3:
            inside = self.block(depth + 1, r.randint(1, 2))
            return [*indented(f"if {r.choice(TESTS)}:", inside), *self.otherwise(depth, 0.4)]
        table = ALWAYS if r.random() < 0.3 else r.choice(self.tables)
        line = r.choice(table.statements)
        for _ in range(8):
            line = PLACES.sub(self.atom, line)
        return [part for row in line.split(" | ") for part in split(row)]

    def otherwise(self, depth: int, how_often: float) -> list[str]:
        if self.random.random() > how_often:
            return []
        return indented("else:", self.block(depth + 1, 1))

    def atom(self, match: re.Match[str]) -> str:
        """What stands at a place: deep expressions become shorter the more there are."""
        choices = ATOMS[match[0]]
        plain = [c for c in choices if not PLACES.search(c)]
        deep = not plain or self.random.random() < 0.4
        return self.random.choice(choices if deep else plain)


def split(row: str) -> list[str]:
    """The statements of a row; what follows a `for` is in it."""
    return [row.replace(" ; ", "; ")] if row.startswith("for ") else row.split(" ; ")


def indented(head: str, inside: list[str]) -> list[str]:
    return [head, *(f"    {line}" for line in inside)]


class Wrong(Exception):
    """A gradient is wrong, or what computes it fails."""


def loaded(text: str) -> dict[str, Any]:
    """What a program defines; errors can show its lines."""
    name = f"<statements {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {"__name__": __name__}  # or its classes are Python's
    exec(compile(text, name, "exec"), namespace)
    return namespace


def slope(f: Any, arguments: Any, direction: Any) -> Any:
    """The derivative along a direction, from differences with two steps that agree; or None."""

    def difference(step: float) -> Any:
        ends = [
            np.asarray(f(*(a + h * d for a, d in zip(arguments, direction, strict=True))))
            for h in (step, -step)
        ]
        return (ends[0] - ends[1]) / (2 * step)

    try:
        near, far = difference(1e-6), difference(2e-6)
    except Exception:  # the program itself fails
        return None
    fine = np.all(np.isfinite(near)) and np.max(np.abs(near)) < 1e4
    return near if fine and np.allclose(near, far, rtol=1e-5, atol=1e-5) else None


def assert_right(text: str, seed: int, *others: Any, may_refuse: bool = False) -> bool:
    """Compare a program's value and both its modes with differences, at six random numbers.

    False if the program itself fails there, as its gradient must, or that is refused where it may
    be. Each of `others` draws one more argument. With single precision the differences are those of
    the program in double precision.
    """
    f, r = loaded(text)["f"], np.random.default_rng(seed)
    double, exact = f, 1.0
    if "float32" in text:
        double, exact = loaded(text.replace("float32", "float64"))["f"], 1e3
    x, direction = r.uniform(0.3, 2.2, 6), r.normal(size=6)
    more = [draw(r) for draw in others]
    try:
        f(x.copy(), *more)
    except RuntimeError as error:  # what isn't needed isn't looked up, so no LookupError
        with pytest.raises((type(error), srcgrad.UnsupportedError)):
            srcgrad.grad(f)(x.copy(), *more)
        return False
    except Exception:
        return False
    expected = slope(lambda x: double(x, *more), (x,), (direction,))
    if expected is None:
        return False
    try:
        value, gradient = srcgrad.value_and_grad(f)(x.copy(), *more)
    except srcgrad.UnsupportedError:
        if not may_refuse:
            raise
        return False
    except (RuntimeError, ValueError, TypeError) as error:
        late = LATE if may_refuse else ()  # the order of keys may depend on a dict's memory
        if not any(reason in str(error) for reason in (*late, "keys changed during iteration")):
            raise
        return False
    assert value == pytest.approx(f(x.copy(), *more)), text
    close = pytest.approx(expected, rel=1e-5 * exact, abs=1e-6 * exact)
    assert gradient @ direction == close, text
    _, tangent = srcgrad.jvp(f, (x.copy(), *more), (direction, *[None for _ in more]))
    assert tangent == pytest.approx(gradient @ direction, rel=1e-6 * exact), text
    return True


def check(text: str, size: int) -> str:
    """What becomes of a program: "right", "invalid" (no test), or "refused: ..."

    With single precision the differences are those of the program in double precision.

    Raises:
        Wrong: a derivative is wrong.
    """
    program = loaded(text)
    double = loaded(text.replace("float32", "float64").replace("complex64", "complex128"))
    single = "float32" in text
    r = np.random.default_rng(size)
    arguments = r.normal(size=size), r.normal(size=size), 0.7
    direction = r.normal(size=size), r.normal(size=size), 0.4
    rtol = 3e-3 if single else 1e-4
    mine = [np.array(a) if np.ndim(a) else a for a in arguments]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = slope(double["f"], arguments, direction)
        if expected is None:
            return "invalid"
        value = double["f"](*mine) if not single else program["f"](*mine)
        if np.ndim(value):
            return "invalid"  # `np.dot` of a tuple and a number
        found: dict[str, Any] = {}
        mine = [np.array(a) if np.ndim(a) else a for a in arguments]
        try:
            primal, gradient = srcgrad.value_and_grad(program["f"], (0, 1, 2))(*mine)
            found["value_and_grad"] = along(gradient, direction)
            found["grad"] = along(srcgrad.grad(program["f"], (0, 1, 2))(*mine), direction)
            found["jvp"] = srcgrad.jvp(program["f"], tuple(mine), direction)[1]
            if not all(map(np.array_equal, mine, arguments)):
                raise Wrong("an argument was changed")
            terms = slope(double["g"], arguments, direction)
            if terms is not None:
                out, pullback = srcgrad.vjp(program["g"], *mine)
                weights = r.normal(size=out.shape).astype(out.dtype)
                for name in ("pullback", "pullback again"):
                    found[name] = along(pullback(weights), direction)
                    found[name] += expected - terms @ weights
        except srcgrad.UnsupportedError as error:
            return f"refused: {error.message}"
        except Exception as error:
            for reason in LATE:
                if reason in str(error):
                    return f"refused: {reason}"
            raise Wrong(f"{type(error).__name__}: {error}") from error
    if not np.allclose(primal, value, rtol=1e-3 if single else 1e-9):
        raise Wrong(f"the value is {primal}, not {value}")
    for name, total in found.items():
        if not np.allclose(total, expected, rtol=rtol, atol=rtol * (1 + 0.01 * abs(value))):
            raise Wrong(f"{name}: the derivative is {total}, not {expected}")
    return "right"


def along(gradient: Any, direction: Any) -> Any:
    return sum(np.sum(g * d) for g, d in zip(gradient, direction, strict=True))


def outcome(text: str, size: int) -> str:
    try:
        return check(text, size)
    except Wrong as error:
        return f"wrong: {error}"


def shrunk(text: str, fails: Callable[[str], bool], seconds: float = 60.0) -> str:
    """The text of a program that fails without the statements that it fails without."""
    end, again = time.time() + seconds, True
    while again:
        again = False
        for candidate in smaller(text):
            if time.time() > end:
                return text
            try:
                if not fails(candidate):
                    continue
            except Exception:  # it is no program any more
                continue
            text, again = candidate, True
            break
    return text


def smaller(text: str) -> Iterator[str]:
    """A program without a statement, or with what is in one in its place: the last ones first."""
    rows = text.split("\n")

    def depth(row: str) -> int:
        return len(row) - len(row.lstrip())

    for k in reversed(range(len(rows))):
        if not rows[k].strip() or rows[k].startswith(("import", "def f", "def g")):
            continue
        end = k + 1
        while end < len(rows) and rows[end].strip() and depth(rows[end]) > depth(rows[k]):
            end += 1
        yield "\n".join(rows[:k] + rows[end:])
        if end > k + 1:
            yield "\n".join(rows[:k] + [row[4:] for row in rows[k + 1 : end]] + rows[end:])


def main(count: int, first: int, names: tuple[str, ...], tables: dict[str, Table] = TABLES) -> None:
    """Check programs, print those that fail, and how many ended how."""
    words: Counter[str] = Counter()
    for seed in range(first, first + count):
        text = Writer(seed, names, tables).source()
        for size in (3, 1 + seed % 2):
            word = outcome(text, size)
            words[word if word.startswith("refused") else word.split(":")[0]] += 1
            if word.startswith("wrong"):
                small = shrunk(text, lambda t, n=size: outcome(t, n).startswith("wrong"))
                print(f"seed {seed}, size {size}\n{small}\n{outcome(small, size)}\n", flush=True)
                break
    for word, times in words.most_common():
        print(times, word)


if __name__ == "__main__":
    main(int(sys.argv[1]), int((sys.argv[2:] or ["0"])[0]), tuple(sys.argv[3:]))
