"""Random nests of loops over the elements and rows of arrays, most of which are independent."""

from __future__ import annotations

import random
import textwrap

HEAD = """\
n = len(b)
c = {c}
y = {y}
e = np.cos(a)
d = b * b
s = 0.0
t = 1.0
"""
LAST = """\
return s + t + np.sum(c * np.cos(np.arange(n * n).reshape(n, n))) + np.sum(y * np.arange(n))
"""


class Generator:
    """Writes the source of a function of a square array `a` and an array `b` as long.

    Among the loops are such whose iterations depend on each other, that read and write the same
    places, that aren't run, and whose indices are outside: then the function raises.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def program(self) -> str:
        r = self.random
        c = r.choice(["np.zeros_like(a)", "a * 0.5", "a.T.copy()"])
        y = r.choice(["np.zeros(n)", "b.copy()", "np.ones_like(b)"])
        text = HEAD.format(c=c, y=y)
        for _ in range(r.randint(1, 3)):
            text += "\n".join(self.loop([], 0)) + "\n"
        return "def f(a, b):\n" + textwrap.indent(text + LAST, "    ")

    def loop(self, around: list[str], depth: int) -> list[str]:
        r = self.random
        v = "ijk"[depth]
        low = r.choice(["", "1, ", "1, ", "2, ", *(f"{w} + 1, " for w in around)])
        high = r.choice(["n", "n", "n", "n - 1", "n - 1", "len(b)", *around])
        over = f"range({low}{high})"
        if r.random() < 0.2:
            over = r.choice([f"reversed({over})", "range(n - 1, -1, -1)", "range(n - 2, 0, -1)"])
        body: list[str] = []
        for _ in range(r.choice([1, 1, 1, 2, 3])):
            inner = depth < 2 and r.random() < 0.35
            body += self.loop([*around, v], depth + 1) if inner else self.statement([*around, v])
        return [f"for {v} in {over}:", *("    " + line for line in body)]

    def place(self, indices: list[str]) -> str:
        r = self.random
        v = indices[-1] if r.random() < 0.6 else r.choice(indices)
        return r.choice([v] * 20 + [f"{v} - 1", f"{v} + 1", f"n - 1 - {v}", "0", "1", f"{v} // 2"])

    def atom(self, indices: list[str]) -> str:
        r, at = self.random, self.place
        choice = r.random()
        if choice < 0.35:
            return f"{r.choice('bbddy')}[{at(indices)}]"
        if choice < 0.75:
            return f"{r.choice('aaaeeec')}[{at(indices)}, {at(indices)}]"
        if choice < 0.8:
            return r.choice(["s", "t"])
        if choice < 0.85:
            return f"{r.choice(indices)} * 0.3"
        if choice < 0.88:
            return f"a[{at(indices)}, {r.choice(['1:', ':-1', ':', '::2'])}].sum()"
        if choice < 0.92:
            return f"({r.choice('ac')}[{at(indices)}, :] @ {r.choice('aec')}[:, {at(indices)}])"
        return f"{r.uniform(0.2, 2):.2f}"

    def expression(self, indices: list[str], depth: int = 0) -> str:
        r = self.random
        if depth > 2 or r.random() < 0.35:
            return self.atom(indices)
        x, y = (self.expression(indices, depth + 1) for _ in range(2))
        return r.choice(
            [
                f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"({x} * {y})", f"np.sin({x})",
                f"np.exp(0.1 * {x})", f"{x} / (2.0 + {self.atom(indices)} ** 2)",
                f"np.where({x} > 0.1, {x}, {y})", f"np.maximum({x}, {y})",
            ]
        )  # fmt: skip

    def row(self, indices: list[str]) -> str:
        at = self.place(indices)
        return self.random.choice(["b", "d", "y", f"a[{at}]", f"c[{at}]", f"e[:, {at}]"])

    def statement(self, indices: list[str]) -> list[str]:
        r, at = self.random, self.place
        x = self.expression(indices)
        u, w = indices[max(len(indices) - 2, 0)], indices[-1]
        if r.random() < 0.5:
            k = r.choice(indices)
            line = r.choice(
                [
                    f"c[{u}, {w}] = {x}", f"c[{w}, {u}] = {x}", f"c[{u}, {w}] += {x}",
                    f"s += {x}", f"y[{u}] += {x}", f"y[{w}] = {x}", f"y[{w}] = {x} - y[{w}]",
                    f"c[{w}] -= {self.row(indices)} * a[{w}, 0]", f"c[{w}] = a[{w}] + b",
                    f"c[{w}, {u}:] -= c[{w}, {u}] / (2.0 + a[{u}, {u}] ** 2) * c[{u}, {u}:]",
                    f"y[{w}] = a[{w}, :{u}] @ b[:{u}]", f"y += a[{w}] * {x}",
                    f"c[:, {w}] = {self.row(indices)} * e[0, {w}]",
                    f"c[{u}] += {self.row(indices)} * a[{w}, {w}]",
                    f"c[{u}, {w}] += a[{u}, {k}] * e[{k}, {w}]",
                ]
            )  # fmt: skip
            return [line]
        sign = r.choice(["=", "=", "+=", "-=", "*="])
        choice = r.random()
        if choice < 0.3:
            return [f"c[{at(indices)}, {at(indices)}] {sign} {x}"]
        if choice < 0.55:
            return [f"y[{at(indices)}] {sign} {x}"]
        if choice < 0.7:
            return [f"s {r.choice(['+=', '-='])} {x}"]
        if choice < 0.75:
            return [f"t = {x}"]
        if choice < 0.9:
            target = r.choice([f"c[{at(indices)}]", f"c[:, {at(indices)}]", "y", "y[:]"])
            return [f"{target} {r.choice(['+=', '-=', '*='])} {self.row(indices)} * {x}"]
        if choice < 0.95:
            return [f"w = c[{at(indices)}]", f"w[{at(indices)}] {r.choice(['=', '+='])} {x}"]
        place = at(indices)
        return [f"u = y[{place}]", f"y[{place}] = {x}", f"s += u * {self.atom(indices)}"]
