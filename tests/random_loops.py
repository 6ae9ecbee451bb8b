"""Random nests of loops over the elements and rows of arrays, most of which are independent."""

from __future__ import annotations

import random
import re
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


class Writer:
    """Writes the source of a function of a square array `a` and an array `b` as long."""

    deepest: int  # of operations in each other
    shallow: float  # how often there is none where there may be

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def expression(self, names: list[str], depth: int = 0) -> str:
        r = self.random
        if depth > self.deepest or r.random() < self.shallow:
            return self.atom(names)
        x, y = (self.expression(names, depth + 1) for _ in range(2))
        return r.choice(self.operations(names, x, y))


class Generator(Writer):
    """Loops over elements and rows, by their indices.

    Among the loops are such whose iterations depend on each other, that read and write the same
    places, that aren't run, and whose indices are outside: then the function raises.
    """

    deepest, shallow = 2, 0.35

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
        if choice < 0.9:
            u, v, k = r.choice(indices), r.choice(indices), r.choice("22n")
            return f"np.sum(np.cos(b[{u} : {u} + {k}]) * a[{v}, {v} : {v} + {k}] * d[:2])"
        if choice < 0.92:
            return f"({r.choice('ac')}[{at(indices)}, :] @ {r.choice('aec')}[:, {at(indices)}])"
        return f"{r.uniform(0.2, 2):.2f}"

    def operations(self, indices: list[str], x: str, y: str) -> list[str]:
        return [
            f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"({x} * {y})", f"np.sin({x})",
            f"np.exp(0.1 * {x})", f"{x} / (2.0 + {self.atom(indices)} ** 2)",
            f"np.where({x} > 0.1, {x}, {y})", f"np.maximum({x}, {y})",
        ]  # fmt: skip

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


HELPERS = """\
def axpy(alpha, x, y):
    for i in range(len(x)):
        y[i] += alpha * x[i]
def blend(x, y, z):
    for i in range(1, len(z)):
        z[i] = x[i - 1] * y[i] + z[i]
def dot(x, y):
    total = 0.0
    for u, v in zip(x, y):
        total += u * v
    return total
def f(a, b):
"""
MIXED = {
    "n": "len(b)",
    "c": ["np.zeros_like(a)", "a * 0.5", "a.T.copy()", "np.asfortranarray(a) * 1.0"],
    "y": ["np.zeros(n)", "b.copy()", "np.ones_like(b)", "np.cos(b)"],
    "g": "b[b > -0.3]",
    "order": [f"(np.arange(n) * {k}) % n" for k in (1, 2, 3)],
    "counts": "np.arange(n)",
    "mask": "b > 0.1",
    "single": "b.astype(np.float32)",
    "z": "b + 1j * np.sin(b)",
    "q": "np.array(0.5)",
    "one": "np.ones(1)",
    "flat": ["c.T", "c.reshape(-1)", "c.ravel()", "c.diagonal()", "c.sum(axis=0)"],
    "left": "y[:-1]",
    "right": "y[1:]",
    "same": "y",
    "s": "0.0",
    "t": "1.0",
}
RESULTS = {
    "s": "s", "t": "t", "q": "q * 0.5", "one": "one[0]", "z": "np.sum(z.real - z.imag)",
    "single": "np.sum(single)", "g": "np.sum(g)", "counts": "np.sum(b * counts)",
    "c": "np.sum(c * np.cos(np.arange(n * n).reshape(n, n)))", "y": "np.sum(y * np.arange(n))",
}  # fmt: skip


class Mixed(Writer):
    """Loops over whatever programs loop over, with whatever they do there.

    Arrays of several dtypes, two names of one array, steps, indices out of arrays, temporaries,
    branches, functions of arrays that may be the same one.
    """

    deepest, shallow = 1, 0.4

    def program(self) -> str:
        r = self.random
        lines: list[str] = []
        for _ in range(r.randint(1, 3)):
            lines += self.call() if r.random() < 0.15 else self.loop([], 0)
        text, used = "\n".join(lines), {"n", "y", "c"}
        used |= {name for name in MIXED if re.search(rf"\b{name}\b", text)}
        head = [
            f"{name} = {made if isinstance(made, str) else r.choice(made)}"
            for name, made in MIXED.items()
            if name in used
        ]
        results = " + ".join(result for name, result in RESULTS.items() if name in used)
        lines = [*head, *lines, f"return {results}"]
        return HELPERS + textwrap.indent("\n".join(lines) + "\n", "    ")

    def call(self) -> list[str]:
        r = self.random
        v = [
            r.choice(["b", "y", "c[0]", "c[:, 0]", "left", "right", "y[::-1]", "same", "c[-1]"])
            for _ in range(3)
        ]
        written = r.choice(["y", "same", "left", "right", "c[0]", "c[:, -1]", "y[::-1]"])
        return [
            r.choice(
                [
                    f"axpy(0.3, {v[0]}, {written})",
                    f"blend({v[0]}, {v[1]}, {written})",
                    f"s += dot({v[0]}, {v[1]})",
                ]
            )
        ]

    def loop(self, around: list[str], depth: int) -> list[str]:
        r = self.random
        v = "ijk"[depth]
        low = r.choice([
            "", "", "1, ", "0, ", "2, ", *(f"{w} + 1, " for w in around),
            *(f"{w}, " for w in around),
        ])  # fmt: skip
        high = r.choice(
            ["n", "n", "n - 1", "len(g)", "n - 2", *around, *(f"{w} + 1" for w in around)]
        )
        names = [*around, v]
        head = []
        choice = r.random()
        if choice < 0.5:
            over = f"for {v} in range({low}{high}):"
        elif choice < 0.62:
            low = low or "0, "
            over = f"for {v} in range({low}{high}, {r.choice([2, 2, 3, -1])}):"
        elif choice < 0.7:
            step = r.choice([-1, -1, -2])
            over = f"for {v} in range({high} - 1, {r.choice(['-1', '0', *around])}, {step}):"
        elif choice < 0.78:
            source = r.choice(["b", "y", "g", "single", "same", "c[0]"])
            over = f"for {v}, {v}v in enumerate({source}):"
            names.append(v + "v")
        elif choice < 0.84:
            one, two = (r.choice(["b", "y", "left", "right", "order", "g"]) for _ in range(2))
            over = f"for {v}, {v}v, {v}u in zip(range(n), {one}, {two}):"
            names += [v + "v", v + "u"]
        elif choice < 0.92:
            over = (
                f"for {v} in {r.choice(['order', 'counts', 'order[::-1]', 'reversed(range(n))'])}:"
            )
        else:
            head = [f"{v} = {r.choice(['0', '1'])}"]
            body = self.body(names, depth)
            return [
                *head,
                f"while {v} < {r.choice(['n', 'n - 1'])}:",
                *("    " + line for line in [*body, f"{v} += 1"]),
            ]
        lines = [*head, over, *("    " + line for line in self.body(names, depth))]
        if r.random() < 0.1:
            lines = ["with np.errstate(all='ignore'):", *("    " + line for line in lines)]
        if not around and r.random() < 0.08:
            lines.append(f"s += {v} * b[0]")
        return lines

    def body(self, names: list[str], depth: int) -> list[str]:
        r = self.random
        body: list[str] = []
        for _ in range(r.choice([1, 1, 1, 2, 3])):
            inner = depth < 2 and r.random() < 0.3
            body += self.loop(names, depth + 1) if inner else self.statement(names)
        return body

    def place(self, names: list[str]) -> str:
        r = self.random
        indices = [v for v in names if len(v) == 1]
        v = indices[-1] if r.random() < 0.65 else r.choice(indices)
        return r.choice([v] * 30 + [
            f"{v} - 1", f"{v} - 1", f"{v} + 1", f"{v} - 2", f"n - 1 - {v}", "0", "-1",
            f"-{v}", f"-1 - {v}", f"{v} // 2", f"order[{v}]", f"counts[{v}]", f"({v} + 1) % n",
            f"2 * {v}", "n - 1",
        ])  # fmt: skip

    def atom(self, names: list[str]) -> str:
        r, at = self.random, self.place
        values = [v for v in names if len(v) == 2 and v[1] in "vuw"]
        if values and r.random() < 0.4:
            return r.choice(values)
        choice = r.random()
        if choice < 0.35:
            return f"{r.choice('b b b b y y y y y g single same left right'.split())}[{at(names)}]"
        if choice < 0.6:
            return f"{r.choice('aac')}[{at(names)}, {at(names)}]"
        if choice < 0.66:
            return r.choice([
                "s", "t", "q", "one[0]", f"counts[{at(names)}]", f"z[{at(names)}].real",
                f"np.abs(z[{at(names)}])**2", "flat[0]", f"mask[{at(names)}]",
            ])  # fmt: skip
        if choice < 0.72:
            return f"{r.choice([v for v in names if len(v) == 1])} * 0.3"
        if choice < 0.78:
            part = r.choice(["1:", ":-1", ":", "::2", "::-1", f":{at(names)}", f"{at(names)}:"])
            return f"np.sum({r.choice('ac')}[{at(names)}, {part}])"
        if choice < 0.84:
            u = at(names)
            return f"({r.choice('ac')}[{at(names)}, :{u}] @ {r.choice('by')}[:{u}])"
        return f"{r.uniform(0.2, 2):.2f}"

    def operations(self, names: list[str], x: str, y: str) -> list[str]:
        return [
            f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"({x} * {y})", f"np.sin({x})",
            f"{x} / (2.0 + {self.atom(names)} ** 2)", f"np.where({x} > 0.1, {x}, {y})",
            f"np.maximum({x}, {y})", f"({x} if {self.test(names)} else {y})", f"{x} * {y}",
            f"{x} + {y} * 0.5", f"min({x}, {y})", f"abs({x})", f"max(0.0, {x})",
            f"np.sqrt(1.5 + np.cos({x}))", f"np.hypot({x}, 0.3 + {y})", f"float({x})",
            f"(-{x}) ** 2",
        ]  # fmt: skip

    def test(self, names: list[str]) -> str:
        r, at = self.random, self.place
        v = r.choice([v for v in names if len(v) == 1])
        return r.choice([
            f"b[{at(names)}] > 0.05", f"{v} > 0", f"{v} % 2 == 0", f"mask[{at(names)}]",
            f"{v} != n - 1", f"y[{at(names)}] < 0.2", f"{v} > 0 and b[{v} - 1] > 0.02",
            "a[0, 0] > 0.03",
        ])  # fmt: skip

    def statement(self, names: list[str], depth: int = 0) -> list[str]:
        r, at = self.random, self.place
        x = self.expression(names)
        indices = [v for v in names if len(v) == 1]
        w, u = indices[-1], indices[max(len(indices) - 2, 0)]
        choice = r.random()
        if choice < 0.12 and depth == 0:
            lines = [f"if {self.test(names)}:"]
            lines += ["    " + line for line in self.statement(names, 1)]
            if r.random() < 0.4:
                lines += ["else:", *("    " + line for line in self.statement(names, 1))]
            return lines
        if choice < 0.2 and depth == 0:
            return [
                f"w = {x}",
                f"{w}w = w * {self.atom(names)}",
                *self.statement([*names, f"{w}w"], 1),
            ]
        sign = r.choice(["=", "=", "+=", "+=", "-=", "*=", "/="])
        if sign == "/=":
            x = f"(2.0 + np.abs({x}))"
        if sign == "*=":
            x = f"np.cos({x})"
        if choice < 0.4:
            return [f"{r.choice('y y y y y y same left right g'.split())}[{at(names)}] {sign} {x}"]
        if choice < 0.55:
            return [
                f"c[{r.choice([f'{u}, {w}', f'{w}, {u}', f'{at(names)}, {at(names)}'])}] {sign} {x}"
            ]
        if choice < 0.68:
            line = r.choice([
                f"s += {x}", f"s -= {x}", f"t *= np.cos({x})", f"t = {x}", f"t = max(t, {x})",
                f"s = min(s, {x})", f"q += {x}", f"q[...] = {x}", f"one[0] += {x}",
                f"one += {x}", f"one[0] = {x}", f"s = s + {x} * {w}",
                f"t = np.maximum(t, {x})", f"q = q + {x}",
            ])  # fmt: skip
            return [line]
        if choice < 0.76:
            line = r.choice([
                f"single[{at(names)}] {sign} {x}", f"z[{at(names)}] {sign} {x}",
                f"z[{at(names)}] += 1j * {x}", f"counts[{at(names)}] += 1",
                f"z[{w}].real * 2", f"z.imag[{at(names)}] = {x}",
                f"counts[{at(names)}] = {w}",
            ])  # fmt: skip
            return [line]
        if choice < 0.86:
            target = r.choice([
                f"c[{at(names)}]", f"c[:, {at(names)}]", "y", "y[:]", f"c[{w}, ...]",
                f"c[..., {w}]", f"c[{w}, ::-1]", f"c[::-1, {w}]", "left", f"c[{w}, 1:]",
                f"c[{w}:, {w}]", f"c[{w}][1:]", f"c[{w}, :{w}]",
            ])  # fmt: skip
            row = r.choice([
                "b", "y", f"a[{at(names)}]", f"a[:, {at(names)}]", f"c[{at(names)}]", "0.5",
                f"a[{w}, 1:]", f"a[{w}:, {w}]", f"b[:{w}]",
            ])  # fmt: skip
            return [f"{target} {r.choice(['=', '+=', '-=', '*='])} {row} * np.cos({x})"]
        if choice < 0.92:
            view = r.choice(["c", "c.T", "y", "y[::-1]", "c[::-1]", "c[:, ::-1]"])
            item = f"{w}, {u}" if "c" in view else w
            return [f"view = {view}", f"view[{item}] {sign} {x}"]
        place = at(names)
        return r.choice([
            [f"old = y[{place}]", f"y[{place}] = {x}", f"s += old * {self.atom(names)}"],
            [f"row = c[{place}]", f"row[{at(names)}] {r.choice(['=', '+='])} {x}"],
            [f"y[{place}], y[{at(names)}] = y[{at(names)}], y[{place}] * 0.9"],
            [f"c[{place}] = c[{at(names)}]"],
            [f"y[{place}:] += {x}"], [f"y[:{place}] -= {x} * b[:{place}]"],
            [f"y[{place}:{place} + 2] += {x}"],
        ])  # fmt: skip


class Recurrences:
    """Loops that have to go step by step, over vectors, with coefficients and guards.

    Reads reach forwards and backwards, so that what one step reads a later one may write.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def program(self) -> str:
        r = self.random
        lines = ["n = len(b)", f"y = {r.choice(['b.copy()', 'np.zeros(n)'])}", "z = 0.5 * b"]
        lines += ["s = 0.0", "k = np.cos(c[0])", "w = z[:1]"]
        for _ in range(r.randint(1, 2)):
            lines += self.loop()
        lines.append("return np.sum(y * np.arange(n)) + np.sum(np.sin(z)) + c[0] + s")
        return "def f(c, b):\n" + textwrap.indent("\n".join(lines) + "\n", "    ")

    def loop(self) -> list[str]:
        r = self.random
        low, high = r.choice([(0, 0), (1, 0), (1, 1), (2, 0), (0, 1), (2, 2)])
        over = f"range({low}, n - {high})" if high else f"range({low}, n)"
        over = r.choice([over, over, f"reversed({over})", "range(n - 1, 0, -1)"])
        lines = [f"for i in {over}:"]
        for _ in range(r.randint(1, 3)):
            guard = r.choice([None, None, "i >= 1", "i > 1", "i < n - 2", "2 <= i", "b[i] > 0"])
            if guard is not None:
                lines.append(f"    if {guard}:")
            indent = "    " if guard is None else "        "
            back = r.choice([0, 1, 1, 2])
            at = r.choice(["i", "i", "i", "i - 1", "n - 1 - i"])
            lines.append(f"{indent}{r.choice('yyz')}[{at}] {r.choice(['=', '+=', '+='])} "
                         f"{self.term(back)} + {self.term(1)}")  # fmt: skip
            if r.random() < 0.3:
                lines.append(f"{indent}s {r.choice(['+=', '-='])} {self.term(1)}")
            if r.random() < 0.1:  # one addition in the middle of another
                lines += [f"{indent}t = z[0]", f"{indent}w[0] += {self.term(1)}",
                          f"{indent}z[0] = t + {self.term(1)}"]  # fmt: skip
        return lines

    def term(self, back: int) -> str:
        r = self.random
        read = r.choice([f"y[i - {back}]", f"y[i - {back}]", "y[i]", "z[i]", "b[i]", "y[i - n]"])
        factor = r.choice(["c[0]", "c[1]", "c[2]", "k", f"np.sin({read})", "b[i]", "z[0]"])
        return f"{factor} * {read}"
