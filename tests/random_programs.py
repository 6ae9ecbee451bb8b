"""Random programs for the passes: arithmetic that simplifies, on memory that is written."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

N = 5


class Generator:
    """Writes the source of a function of two arrays and a number."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.arrays = ["x", "y"]
        self.owned: list[str] = []
        # names that the generated code may need itself
        self.number = self.random.choice(["c", "c", "_", "len", "zip", "list", "float"])
        self.scalars = [self.number]
        self.count = 0

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def constant(self) -> str:
        return self.random.choice(["1.0", "-1.0", "2.0", "0.5", "-0.25", "1", "2", "3.0", "0.0"])

    def scalar(self) -> str:
        choice = self.random.random()
        if choice < 0.4:
            return self.constant()
        if choice < 0.7:
            return self.random.choice(self.scalars)
        array = self.random.choice(self.arrays)
        other = self.random.choice(self.arrays)
        return self.random.choice(
            [
                f"{array}[0]", f"{array}[-1]", f"np.mean({array})",
                f"np.mean([{array}[0], 2, {other}[1]])", f"np.dot([1, 2, 0, -1, 1], {array})",
                f"np.sum(np.multiply([{array}[0], {other}[2]], 2))", f"np.max(({array}[0], 0.1))",
            ]
        )  # fmt: skip

    def expression(self, depth: int = 3) -> str:
        r = self.random
        if depth == 0 or r.random() < 0.15:
            return r.choice(self.arrays)
        a = self.expression(depth - 1)
        b = self.scalar() if r.random() < 0.35 else self.expression(depth - 1)
        return r.choice(
            [
                f"({a} * {b})", f"({b} * {a})", f"({a} + {b})", f"({a} - {b})", f"({b} - {a})",
                f"(-{a})", f"({a} / (2.0 + {b} * {b}))", f"({b} / (3.0 + {a} ** 2))",
                f"np.sin({a})", f"({a}) ** {r.choice(['1', '2', '3', '2.0'])}",
                f"({a}).copy()", f"np.tanh({a}) * np.sum({a})", f"np.where({a} > {b}, {a}, {b})",
                f"np.multiply({a}, [1, -2, 0.5, 1, 3])", f"np.sum([{a}, {a} * 2], axis=0)",
                f"({a} * np.ones({N}))", f"np.broadcast_to(np.sum({a}), {N})",
            ]
        )  # fmt: skip

    def statement(self, indent: str, depth: int) -> None:
        r = self.random
        choice = r.random()
        if choice < 0.35 or not self.owned:
            value = self.expression(2)
            name = self.fresh("a")
            if r.random() < 0.6:
                self.lines.append(f"{indent}{name} = {value} + 0.0")
                self.owned.append(name)
            else:
                self.lines.append(f"{indent}{name} = {value}")
            self.arrays.append(name)
        elif choice < 0.45:
            name = self.fresh("s")
            self.lines.append(f"{indent}{name} = np.sum({self.expression(2)}) * {self.scalar()}")
            self.scalars.append(name)
        elif choice < 0.75:
            target = r.choice(self.owned)
            where = r.choice(["", "[1:]", "[:-1]", "[::2]", "[0]", "[-1]"])
            op = r.choice(["+=", "-=", "*=", "="]) if where else r.choice(["+=", "-=", "*="])
            if where in ("[0]", "[-1]"):
                value = self.scalar()
            elif where:
                value = f"({self.expression(1)}){where}" if r.random() < 0.7 else self.scalar()
            else:
                value = self.expression(1) if r.random() < 0.7 else self.scalar()
            self.lines.append(f"{indent}{target}{where} {op} {value}")
        elif choice < 0.82:
            name = self.fresh("v")
            view = r.choice(["[::-1]", "[::-1]", ".ravel()", ".reshape(-1)"])  # perhaps a copy
            self.lines.append(f"{indent}{name} = {r.choice(self.owned)}{view}")
            self.arrays.append(name)
            self.owned.append(name)
        elif depth > 0:
            header = r.choice(
                [
                    f"for i{self.count} in range({r.randint(0, 3)}):",
                    f"if np.sum({r.choice(self.arrays)}) > 0:",
                    f"if not {r.choice(self.scalars)} > 0.2:",
                    f"if {r.choice(self.scalars)} in (0.5, 2, {r.choice(self.scalars)}):",
                ]
            )
            self.lines.append(indent + header)
            before = list(self.arrays), list(self.owned), list(self.scalars)
            for _ in range(r.randint(1, 3)):
                self.statement(indent + "    ", depth - 1)
            self.lines.append(f"{indent}    pass")
            self.arrays, self.owned, self.scalars = before

    def source(self) -> str:
        for _ in range(self.random.randint(2, 7)):
            self.statement("    ", 2)
        kept = self.random.sample(self.arrays, min(3, len(self.arrays)))
        result = " + ".join(f"{self.scalar()} * np.sum({a} * {self.expression(1)})" for a in kept)
        return "\n".join(
            [f"def program(x, y, {self.number}):", *self.lines, f"    return {result}", ""]
        )


def program(seed: int) -> tuple[str, Callable[..., Any], tuple[Any, ...]]:
    """The source of a random program, the program, and arguments for it."""
    import linecache

    source = Generator(seed).source()
    filename = f"<random program {seed}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(source, filename, "exec"), namespace)
    rng = np.random.default_rng(seed)
    arguments = rng.uniform(-1, 1, N), rng.uniform(-1, 1, N), float(rng.uniform(-1, 1))
    return source, namespace["program"], arguments
