"""Random programs in which names have no value on some paths: they raise there, or are right."""

from __future__ import annotations

import random

import numpy as np
import pytest

import srcgrad

from .random_statements import loaded, slope

NAMES = ("p", "q", "w")
# What a name is given, and how a number is made of it. A name may hold one family in a program.
FAMILIES = (
    (["x * {i}", "x[{i}] + np.zeros(6)", "{n} * 2", "np.sin(x)", "x[::-1]"],
     ["np.sum({n} + x)", "np.sum({n} * x)", "{n}[1]", "np.sum(x)", "len({n})", "np.sum({n} ** 2)"]),
    (["x[{i}] * 2", "{i}.5", "x[{i}] * x[0]", "{n} + 1.0", "{n} * x[1]"],
     ["{n}", "{n} * x[0]", "{n} + x[1]", "math.sin({n})", "x[2]", "-{n}"]),
    (["lambda v: v * x[{i}]", "lambda v: v + {i}", "np.sin", "math.exp"],
     ["{n}(x[0])", "{n}(x[1]) * x[2]", "x[0]"]),
    (["(x[{i}], {i}.0)", "({i}.0, x[0])", "(x[0] * x[1], {n}[0])"],
     ["{n}[0]", "sum({n})", "{n}[1] * x[0]", "x[1]", "len({n}) * x[2]"]),
    (["[x[{i}], {i}.0]", "[x[1] * 2, x[0]]", "[v * {i} for v in x]"],
     ["{n}[0]", "sum({n})", "{n}[1] * x[0]", "x[1]", "len({n}) * x[2]"]),
    (["{i}", "{i} + 1", "{n} + 1"], ["x[{n} % 6]", "{n} * x[0]", "x[1]", "sum(x[:{n}])"]),
    (["{{'a': x[{i}]}}", "{{'a': {i}.0}}"], ["{n}['a']", "{n}['a'] * x[0]", "x[3]"]),
    (["Holder(x[{i}])", "Holder({i}.0)"], ["{n}.held", "{n}.held * x[0]", "x[3]"]),
    (["'abc'", "'d'"], ["len({n}) * x[0]", "x[0] if {n} == 'abc' else x[1]", "x[2]"]),
    (["None", "x[{i}]"], ["x[0] if {n} is None else {n}", "x[1]", "x[2] if {n} is None else x[3]"]),
)  # fmt: skip
HEAD = """\
import math
import numpy as np


class Holder:
    def __init__(self, held):
        self.held = held


def f(x, n):
    total = 0.0
"""


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.families = {name: self.random.choice(FAMILIES) for name in NAMES}
        self.lines: list[str] = []

    def value(self, name: str) -> str:
        text: str = self.random.choice(self.families[name][0])
        return text.format(n=name, i=self.random.randrange(6))

    def read(self, name: str) -> str:
        return str(self.random.choice(self.families[name][1])).format(n=name)

    def test(self, loop: bool = False) -> str:
        if loop and self.random.random() < 0.5:
            return self.random.choice(["i > 0", "i != 0", "i >= 1", "not i == 0", "i", "i > 1"])
        return self.random.choice([
            f"n > {self.random.randrange(6)}", f"n == {self.random.randrange(6)}", "x[0] > 1.2",
            f"x[{self.random.randrange(6)}] < x[{self.random.randrange(6)}]", "n % 2",
        ])  # fmt: skip

    def block(self, depth: int, count: int, loop: bool = False) -> None:
        for _ in range(count):
            self.statement(depth, loop)

    def statement(self, depth: int, loop: bool) -> None:
        name, margin = self.random.choice(NAMES), "    " * depth
        add = self.lines.append
        kind = self.random.random()
        if kind < 0.3 or depth > 3:
            add(f"{margin}{name} = {self.value(name)}")
        elif kind < 0.45:
            other = f" if {self.test(loop)} else {self.read(name)}" if kind < 0.34 else ""
            add(f"{margin}total += {self.read(name)}{other}")
        elif kind < 0.65:
            add(f"{margin}if {self.test(loop)}:")
            self.block(depth + 1, self.random.randint(1, 2), loop)
            if self.random.random() < 0.4:
                add(f"{margin}else:")
                self.block(depth + 1, 1, loop)
        elif kind < 0.8:
            header = self.random.choice([
                "for i in range(n)", "for i in range(n - 2)", "for i in range(n, 4)",
                "for i in range(3)", "for i, v in enumerate(x)", "for v in x[:n]",
            ])  # fmt: skip
            add(f"{margin}{header}:")
            self.block(depth + 1, self.random.randint(1, 3), True)
            if self.random.random() < 0.2:
                add(f"{margin}else:")
                self.block(depth + 1, 1, loop)
        elif kind < 0.84 and loop:
            add(f"{margin}if {self.test(loop)}:")
            add(f"{margin}    {self.random.choice(['break', 'continue'])}")
        elif kind < 0.88:
            add(f"{margin}try:")
            self.block(depth + 1, 1, loop)
            add(f"{margin}    total += x[n + {self.random.randrange(6)}]")
            self.block(depth + 1, 1, loop)
            caught = self.random.choice(["IndexError", "NameError", "(NameError, IndexError)"])
            add(f"{margin}except {caught}:")
            add(f"{margin}    {self.random.choice(['pass', f'{name} = {self.value(name)}'])}")
        elif kind < 0.92:
            add(f"{margin}def inner():")
            add(f"{margin}    return {self.read(name)}")
            add(f"{margin}if {self.test(loop)}:")
            add(f"{margin}    {name} = {self.value(name)}")
            add(f"{margin}total += inner()")
        elif kind < 0.95:
            add(f"{margin}if {self.test(loop)}:")
            add(f"{margin}    del {name}")
        else:
            add(f"{margin}if {self.test(loop)}:")
            add(f"{margin}    return total + {self.read(name)}")


def program(seed: int) -> str:
    """The source of a function of six numbers and an int."""
    writer = _Writer(seed)
    for name in NAMES:
        if writer.random.random() < 0.5:
            writer.lines.append(f"    {name} = {writer.families[name][0][0].format(n=name, i=2)}")
    writer.block(1, writer.random.randint(4, 7))
    last = writer.random.choice(NAMES)
    writer.lines.append(f"    return total + {writer.read(last)}")
    return HEAD + "\n".join(writer.lines) + "\n"


def assert_right_or_raises(text: str, seed: int) -> str:
    """Compare a program's derivatives with differences for several ints: where it raises, they do.

    What became of it: "right", "raises", both, or "refused".
    """
    f, r = loaded(text)["f"], np.random.default_rng(seed)
    found = set()
    for n in (0, 1, 3, 5):
        x, direction = r.uniform(0.3, 2.2, 6), r.normal(size=6)
        try:
            wanted = f(x.copy(), n)
        except NameError:
            for derivative in (
                lambda x=x, n=n: srcgrad.grad(f)(x.copy(), n),
                lambda x=x, n=n: srcgrad.value_and_grad(f)(x.copy(), n),
                lambda x=x, n=n, d=direction: srcgrad.jvp(f, (x.copy(), n), (d, None)),
            ):
                with pytest.raises((NameError, TypeError, srcgrad.UnsupportedError)):
                    pytest.fail(f"{derivative()}, though n = {n} raises\n{text}")
            found.add("raises")
            continue
        except Exception:
            continue
        expected = slope(lambda x, n=n: f(x, n), (x,), (direction,))
        if expected is None:
            continue
        try:
            value, gradient = srcgrad.value_and_grad(f)(x.copy(), n)
            _, tangent = srcgrad.jvp(f, (x.copy(), n), (direction, None))
        except srcgrad.UnsupportedError:
            found.add("refused")
            continue
        assert value == pytest.approx(wanted), text
        assert gradient @ direction == pytest.approx(expected, rel=1e-5, abs=1e-6), text
        assert tangent == pytest.approx(expected, rel=1e-5, abs=1e-6), text
        found.add("right")
    return " ".join(sorted(found))
