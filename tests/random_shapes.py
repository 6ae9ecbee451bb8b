"""Random programs of NumPy functions that make arrays of other shapes, with lengths as in practice.

The other generators write programs for four or five numbers; of longer arrays, other things hold:
no length is that of a sample, places and cuts lie far behind, and what is faster for many numbers
is used. A program is run as it is written, so that arguments fit the shapes.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np

LENGTHS = (1, 2, 3, 5, 7, 26, 31, 40, 45, 60, 128, 130)
MOST = 6000  # numbers of an array


class Generator:
    """Writes the source of a function of two arrays and an int, and runs each statement."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        rng = np.random.default_rng(seed)
        self.lines: list[str] = []
        self.names: dict[str, Any] = {"np": np}
        self.arrays: list[str] = []
        self.owned: list[str] = []
        for name in "xy":
            self.names[name] = rng.normal(size=self.shape())
            self.arrays.append(name)
        self.names["k"] = self.random.choice([2, 3, 30])
        self.arguments = tuple(self.names[name] for name in ("x", "y", "k"))

    def shape(self) -> tuple[int, ...]:
        while True:
            shape = tuple(self.random.choices(LENGTHS, k=self.random.choice([1, 1, 2, 2, 2, 3, 4])))
            if np.prod(shape) <= MOST:
                return shape

    def array(self, rank: int | None = None) -> str | None:
        found = [a for a in self.arrays if rank is None or self.names[a].ndim == rank]
        return self.random.choice(found[-6:]) if found else None

    def number(self, value: int) -> str:
        """An int: written, or as something that has it."""
        if self.random.random() < 0.5:
            return str(value)
        ways = []
        for a in self.arrays[-4:]:
            for axis, n in enumerate(self.names[a].shape):
                ways += [f"{a}.shape[{axis}]"] * (n == value)
                ways += [f"{a}.shape[{axis}] - {n - value}"] * (0 < n - value < 9)
                ways += [f"{a}.shape[{axis}] // 2"] * (n // 2 == value)
                ways += [f"len({a})"] * (axis == 0 and n == value)
        ways += ["k"] * (self.names["k"] == value)
        return self.random.choice(ways) if ways else str(value)

    def below(self, n: int) -> str:
        return self.number(self.random.randrange(max(n, 1)))

    def places(self, n: int) -> str:
        r = self.random
        count = r.choice([1, 2, 3, 40])
        found = [r.randrange(-n, n) for _ in range(count)] if n else []
        if count == 40 or r.random() < 0.3:
            return f"(np.arange({count}) * {r.choice([1, 7])} % {max(n, 1)})"
        return str(found)

    def cut(self, n: int) -> str:
        r = self.random
        start, stop = sorted((r.randrange(n + 1), r.randrange(n + 1)))
        return r.choice(
            [f"{self.number(start)}:", f":{self.number(stop)}", f"{start}:{stop}", f"-{stop}:",
             f"::{r.choice([2, 3])}", "::-1", f"{start}::{r.choice([2, 5])}", ":", f":-{start + 1}"]
        )  # fmt: skip

    def key(self, shape: tuple[int, ...]) -> str:
        r = self.random
        items = []
        advanced = False
        for n in shape:
            choice = r.random()
            if choice < 0.6 or n == 0:
                items.append(self.cut(n))
            elif choice < 0.75:
                items.append(self.number(r.randrange(n)))
            elif choice < 0.9 and not advanced:
                items.append(self.places(n))
                advanced = True
            elif not advanced:
                items.append(f"np.arange({n}) % {r.choice([2, 3])} == 0")
                advanced = True
            else:
                items.append(":")
        if r.random() < 0.15:
            items.insert(r.randrange(len(items) + 1), "None")
        return ", ".join(items[: r.randint(1, len(items))])

    def call(self) -> str:
        """A call of a function, for an array that it can take."""
        r = self.random
        a = self.array()
        assert a is not None
        v: np.ndarray = self.names[a]
        axis = r.randrange(v.ndim) if v.ndim else 0
        n = v.shape[axis] if v.ndim else 1
        signed = r.choice([axis, axis - v.ndim]) if v.ndim else 0
        m = self.below(n)
        matrix, vector = self.array(2), self.array(1)
        order = r.sample(range(v.ndim), v.ndim)
        divisors = [d for d in range(1, v.size + 1) if v.size % d == 0] or [1]
        d = r.choice(divisors)
        ways = [
            f"{a}[{self.key(v.shape)}]" if v.ndim else f"{a} * 2",
            f"{a}.reshape({self.number(d)}, -1)", f"{a}.reshape(-1, {self.number(d)})",
            f"{a}.reshape({d}, {v.size // d}, order='F')", f"np.ravel({a}, order='F')",
            f"{a}.transpose({order})" if v.ndim else f"{a} * 3", f"{a}.T",
            f"np.moveaxis({a}, {axis}, {r.choice([0, -1])})", f"np.swapaxes({a}, {signed}, 0)",
            f"np.take({a}, {self.places(n)}, axis={signed})", f"np.take({a}, {m}, axis={signed})",
            f"np.delete({a}, {m}, axis={signed})", f"np.delete({a}, {self.places(n)}, {axis})",
            f"np.insert({a}, {m}, 1.5, axis={axis})", f"np.roll({a}, {m}, axis={signed})",
            f"np.repeat({a}, {r.choice([1, 2, 3])}, axis={axis})", f"np.tile({a}, 2)",
            f"np.repeat({a}, np.arange({n}) % 3, axis={axis})",
            f"np.diff({a}, axis={signed})", f"np.diff({a}, n=2, axis={axis}, prepend=0.5)",
            f"np.cumsum({a}, axis={axis})", f"np.cumprod(np.tanh({a}), axis={axis})",
            f"np.flip({a}, {axis})", f"np.sort({a}, axis={signed})",
            f"np.take_along_axis({a}, np.argsort({a}, axis={axis}), {axis})",
            f"np.partition({a}, {m}, axis={axis})",
            f"np.split({a}, [{n // 3}, {n // 2}], axis={axis})[{r.randrange(3)}]",
            f"np.array_split({a}, {r.choice([2, 3, 7])}, axis={axis})[{r.choice([0, 1, -1])}]",
            f"np.pad({a}, {r.choice([1, 2, 33])}, mode='{r.choice(['constant', 'edge', 'wrap'])}')",
            f"np.pad({a}, {min(n, 30)}, mode='reflect')",
            f"np.concatenate([{a}, {a}[::-1] * 2], axis={axis})",
            f"np.stack([{a}, {a} ** 2], {axis})",
            f"np.sum({a}, axis={signed})", f"np.mean({a}, axis={axis}, keepdims=True) * {a}",
            f"np.max({a}, axis={axis})", f"np.var({a}, axis={axis}, ddof=1)",
            f"{a} - np.median({a}, axis={axis}, keepdims=True)", f"np.std({a}, axis={axis}) + 0.1",
            f"np.quantile({a}, [0.2, 0.55], axis={axis})", f"np.ptp({a}, axis={axis})",
            f"np.trapezoid({a}, axis={axis})", f"np.gradient({a}, axis={axis})",
            f"np.where({a} > 0.3, {a}, {a} * 2)", f"np.clip({a}, -0.7, 0.9)",
            f"np.expand_dims({a}, {axis})",
            f"np.squeeze({a})", f"np.tril(np.atleast_2d({a}), -{m})",
            f"np.triu(np.atleast_2d({a}), {m})",
            f"np.lib.stride_tricks.sliding_window_view({a}, {m} + 1, axis={axis}).mean(axis=-1)",
            f"np.lib.stride_tricks.sliding_window_view({a}, {m} + 1, axis={axis})[..., -1]",
            f"np.broadcast_to({a}, (2, *{a}.shape))", f"np.fft.rfft({a}, axis={axis}).real",
            f"np.fft.fft({a}, {r.choice([16, 50])}, axis={axis}).imag",
            f"np.maximum.accumulate({a}, axis={axis})",
            f"np.add.reduceat({a}, [0, {m}], axis={axis})",
            f"np.apply_along_axis(lambda row: row[::-1] * row.sum(), {axis}, {a})",
            f"np.compress(np.arange({n}) % 4 != 1, {a}, axis={axis})", f"np.atleast_3d({a})",
            f"np.resize({a}, ({r.choice([2, 3, 40])}, 7))", f"np.rot90(np.atleast_2d({a}))",
            f"np.linalg.norm({a}, axis={axis})",
            f"np.average({a}, axis={axis}, weights=np.arange(1, {n} + 1))",
            f"{a} * {a}.shape[{axis}]", f"{a} / np.sqrt({a}.size + 1)",
            f"np.nansum({a}, axis={axis})",
            f"np.array([row * 2 for row in {a}])", f"np.array([np.sum(row) for row in {a}])",
        ]  # fmt: skip
        if v.ndim > 1:
            other = r.choice([i for i in range(v.ndim) if i != axis])
            least = min(v.shape[axis], v.shape[other])
            ways += [
                f"np.diagonal({a}, {self.below(least)}, {axis}, {other})",
                f"np.diagonal({a}, -{self.below(v.shape[axis])}, {axis}, {other})",
                f"np.trace({a}, {self.below(least)}, {axis}, {other})",
                f"np.sum({a}, axis=({axis}, {other}))", f"{a} @ np.swapaxes({a}, -1, -2)",
                f"np.einsum('...ij,...kj->...ik', {a}, {a})", f"np.einsum('...ij->...j', {a})",
                f"np.var({a}, axis=({axis}, {other}), keepdims=True) + {a}",
                f"np.tensordot({a}, {a}, axes=(({axis},), ({axis},)))",
            ]  # fmt: skip
        if matrix is not None:
            w = self.names[matrix]
            ways += [
                f"np.diag({matrix}, {self.below(w.shape[1])})",
                f"{matrix}[np.triu_indices({min(w.shape)})]",
                f"{matrix}.flat[{self.below(w.size)}:]", f"np.cov({matrix})",
                f"{matrix}[np.ix_({self.places(w.shape[0])}, {self.places(w.shape[1])})]",
                f"np.array([{matrix}[i, i % {w.shape[1]}] for i in range({w.shape[0]})])",
            ]  # fmt: skip
        if vector is not None:
            u = self.names[vector]
            n, mode = len(u), r.choice(["full", "same", "valid"])
            ways += [
                f"np.convolve({vector}, {vector}[:{self.below(n)} + 1], '{mode}')",
                f"np.outer({vector}[:40], {vector}[-30:])",
                f"np.diag({vector}[:45], {r.choice([0, 2, -33])})",
                f"np.ediff1d({vector}, to_end=[1.0, 2.0])",
                f"np.vander(np.tanh({vector}[:20]), {r.choice([3, 35])})",
                f"np.interp(np.linspace(-1, 1, 37), np.linspace(-1, 1, {n}), {vector})",
                f"np.bincount(np.arange({n}) % 11, {vector}, {r.choice([0, 5, 40])})",
                f"np.histogram({vector}, bins=[-9, -0.5, 0.5, 9], weights={vector})[0]",
                f"np.meshgrid({vector}[:20], {vector}[:30])[{r.randrange(2)}]",
                f"np.unwrap({vector} * 3)",
                f"np.array([{vector}[i] * i for i in range({self.number(n)})])",
                f"np.array([np.sum({vector}[i : i + 3]) for i in range(0, {n}, 3)])",
                f"np.linspace({vector}[0], {vector}[-1], {r.choice([2, 50])})",
                f"np.tri({min(n, 40)}) @ {vector}[:{min(n, 40)}]",
            ]  # fmt: skip
        both = [b for b in self.arrays[-6:] if self._fits(v, self.names[b])]
        if both:
            b = r.choice(both)
            ways += [f"{a} * {b}", f"{a} + {b}", f"np.maximum({a}, {b})", f"{b} - {a} * {b}"] * 3
        return r.choice(ways)

    @staticmethod
    def _fits(a: np.ndarray, b: np.ndarray) -> bool:
        try:
            return int(np.prod(np.broadcast_shapes(a.shape, b.shape))) <= MOST
        except ValueError:
            return False

    def write(self) -> list[str]:
        """Statements that write in an array."""
        r = self.random
        a = r.choice(self.owned)
        v = self.names[a]
        if not v.ndim:
            return [f"{a} = {a} * 2"]
        key = self.key(v.shape)
        source = self.call()
        return r.choice(
            [
                [f"{a}[{key}] {r.choice(['+=', '*=', '=', '-='])} {source}"],
                [f"{a}[{key}] = np.mean({source})"], [f"{a} *= {r.choice(['0.5', '-1'])}"],
                [f"{a}[{key}] += np.tanh({a}[{key}])"], [f"{a} -= np.mean({a}, axis=0)"],
                [f"np.add.at({a}, {self.places(len(v))}, 0.5)"],
                [
                    f"for i in range({self.number(len(v))}):",
                    f"    {a}[i] += 0.1 * np.sum({a}[i - 1])",
                ],
                [f"for row in {a}:", "    row *= 0.9"],
            ]
        )  # fmt: skip

    def statement(self) -> None:
        r = self.random
        before = {name: v.copy() for name, v in self.names.items() if isinstance(v, np.ndarray)}
        name = None
        if self.owned and r.random() < 0.3:
            lines = self.write()
        else:
            name = f"a{len(self.arrays)}"
            text = self.call()
            if r.random() < 0.4:
                text = f"np.tanh({text})"
            elif r.random() < 0.3:
                text = f"np.array({text}) * 0.5"
            lines = [f"{name} = {text}"]
        try:
            with np.errstate(all="raise", under="ignore"):
                exec("\n".join(lines), self.names)
        except Exception:
            for kept, value in before.items():
                self.names[kept] = value
            if name is not None:
                self.names.pop(name, None)
            return
        values = [self.names[n] for n in (*self.arrays, *([name] if name else []))]
        fine = all(
            v.size <= MOST and np.abs(v).max(initial=0.0) < 1e3 for v in map(np.asarray, values)
        )
        if not fine or (name and np.asarray(values[-1]).dtype != float):
            for kept, value in before.items():
                self.names[kept] = value
            if name is not None:
                self.names.pop(name, None)
            return
        self.lines += lines
        if name is not None:
            self.names[name] = np.asarray(self.names[name])
            self.arrays.append(name)
            if lines[0].split(" = ")[1].startswith(("np.tanh(", "np.array(")):
                self.owned.append(name)

    def text(self) -> str:
        terms = []
        for a in self.arrays[-4:]:
            v = self.names[a]
            ways = [f"np.sum(np.sin({a}))", f"np.sum({a} ** 2) / {a}.size" if v.size else "0.0"]
            if v.ndim and v.size:
                ways += [
                    f"np.mean({a})", f"np.mean({a}[..., -1]) * {a}.shape[0]",
                    f"np.sum({a} * np.arange({a}.shape[-1]))",
                    f"np.sum(np.mean({a}, axis=-1) ** 2)", f"np.sum({a}[0]) * len({a})",
                ]  # fmt: skip
            terms.append(self.random.choice(ways))
        body = "".join(f"    {line}\n" for line in self.lines)
        return f"def f(x, y, k):\n{body}    return {' + '.join(terms)}\n"


def program(seed: int) -> tuple[str, Callable[..., Any], tuple[Any, ...]]:
    """The source of a program, the function, and its arguments."""
    generator = Generator(seed)
    for _ in range(generator.random.randint(2, 7)):
        generator.statement()
    text = generator.text()
    filename = f"<shapes {seed}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, filename, "exec"), namespace)
    return text, namespace["f"], generator.arguments
