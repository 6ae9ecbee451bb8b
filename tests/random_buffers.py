"""Random loops that write into several buffers, which they swap or hand round."""

from __future__ import annotations

import random
import textwrap

HEAD = """\
a = x.copy()
b = {b}
c = {c}
total = 0.0
"""
LAST = """\
return total + np.sum(a * np.cos(x)) + np.sum(b * x) + np.sum(c[1:] * x[:-1])
"""
PARTS = ("[1:-1]", "[1:-1]", "[2:]", "[:-2]", "[:-2]", "[2:]", "[::-1][:-2]")


class Generator:
    """Writes the source of a function of an array `x`, of one axis or two, and a count `n`."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def program(self) -> str:
        r = self.random
        b = r.choice(["np.zeros_like(x)", "0.5 * x", "np.zeros(x.shape)", "a.copy()", "a"])
        c = r.choice(["np.ones(x.shape)", "x * x", "b.copy()", "np.zeros_like(x)", "b"])
        text = HEAD.format(b=b, c=c)
        for _ in range(r.randint(1, 2)):
            text += "\n".join(self.loop(0)) + "\n"
        return "def f(x, n):\n" + textwrap.indent(text + LAST, "    ")

    def loop(self, depth: int) -> list[str]:
        r = self.random
        body = self.body(depth)
        if r.random() < 0.3:
            steps = f"k{depth}"
            body = [f"{steps} += 1", *body]
            if r.random() < 0.5:
                body.append(r.choice(["if np.sum(a) > 3.0:", "if total > 1.5:"]))
                body.append("    break")
            head = [f"{steps} = 0", f"while {steps} < n:"]
        else:
            head = [f"for i{depth} in range({r.choice(['n', '3', 'n + 1', '2'])}):"]
        return [*head, *("    " + line for line in body)]

    def body(self, depth: int) -> list[str]:
        r = self.random
        lines: list[str] = []
        for _ in range(r.randint(1, 4)):
            if depth == 0 and r.random() < 0.15:
                lines += self.loop(1)
            else:
                lines += self.statement()
        turn = r.choice(
            ["a, b = b, a"] * 4 + ["a, b, c = b, c, a", "a, b, c = c, a, b", "b, c = c, b"]
        )
        if r.random() < 0.15:
            return [*lines, r.choice(["if total > 0.5:", "if a.sum() > 0:"]), "    " + turn]
        lines.insert(r.choice([len(lines)] * 4 + [0]), turn)
        return lines

    def statement(self) -> list[str]:
        r = self.random
        one, other = r.choice("abc"), r.choice("abc")
        p, q, w = (r.choice(PARTS) for _ in range(3))
        stencil = f"{other}{p} + 0.5 * {other}{q}"
        return r.choice(
            [
                [f"{one}[1:-1] = 0.3 * ({stencil})"],
                [f"{one}[1:-1] += 0.1 * ({stencil})"],
                [f"{one}[1:-1] -= 0.1 * {other}{p} * x{q}"],
                [f"inner = {one}[1:-1]", f"np.add({other}{p}, x{q}, out=inner)", "inner *= 0.4"],
                [f"inner = {one}[1:-1]", f"np.multiply(inner, {other}{p}, out=inner)"],
                [f"{one} *= 0.7"],
                [f"{one}[...] = np.sin({other})"],
                [f"np.subtract({one}, 0.2 * {other}, out={one})"],
                [f"total += 0.1 * np.sum({one}{w} * {other}{p})"],
                [f"total += np.max(np.abs({one} - {other})) * 0.1"],
                [f"{one}[0] = {other}[-1]"],
                [f"{one} = {other} + 0.1 * {one}"],
                [f"np.copyto({one}, {other})"],
            ]
        )
