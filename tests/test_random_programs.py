"""Programs made at random, of branches, loops, jumps, lists, objects and array writes.

Each gradient must agree with finite differences, or the program be refused; an internal error or
a wrong value is a failure, whatever the program.
"""

import linecache
import random
import warnings

import numpy as np
import pytest

import srcgrad
from srcgrad.forward import Tangent

PROGRAMS = 90
HEAD = """
class Box:
    def __init__(self, u):
        self.u = u

def generated(x, s):
    for k in range(3):
        yield x[k] * s
        s = s * 0.5

def f(x, n):
    a, b, c = x[0], x[1], 0.7
    y = x * 1.0
    items = [x[2], x[3]]
    pair = (x[0], 1.0)
    box = Box(x[1])
    table = {"k": x[2]}
    def h(v):
        return v * 0.5
"""
TAIL = """
    total = a * 1.1 + b * 1.2 + c * 1.3 + np.sum(y * y) + sum(items) * items[0]
    return total + pair[0] * pair[1] + box.u * 0.9 + table["k"]
"""


class Writer:
    """Writes a program, statement by statement."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.indices, self.count = [], 0

    def program(self):
        lines = []
        for _ in range(self.random.randint(3, 7)):
            lines += self.statement(1)
        return HEAD + "\n".join(lines) + TAIL

    def pick(self, *choices):
        return self.random.choice(choices)

    def place(self):
        return self.pick("0", "1", "2", "-1", *[f"{i} % 4" for i in self.indices * 2])

    def number(self):
        return self.pick(
            "a", "b", "c", "a", "b", f"x[{self.place()}]", f"x[{self.place()}]",
            f"y[{self.place()}]", "items[-1]", "pair[0]", "box.u", 'table["k"]',
            f"h({self.pick('a', 'b', 'x[0]')})", "0.5", "1.5",
        )  # fmt: skip

    def expression(self):
        one, two = self.number(), self.number()
        return self.pick(
            one, f"{one} * {two}", f"{one} * {two}", f"{one} + {two}", f"np.sin({one})",
            f"({one} if {self.condition()} else {two})", "0.5 * np.sum(y)",
            f"np.tanh({one} - {two})", f"0.1 * sum(v * {one} for v in items)",
        )  # fmt: skip

    def condition(self):
        simple = [
            f"x[{self.place()}] > {self.pick(-0.5, 0, 0.3, 0.8)}",
            f"a > {self.pick(-1, 0, 1)}",
            f"y[{self.place()}] < {self.pick(0, 0.5)}",
            "len(items) > 3",
            *[f"{i} % 2 == 0" for i in self.indices],
            *[f"{i} > 1" for i in self.indices],
        ]
        if self.random.random() < 0.15:
            return f"{self.pick(*simple)} {self.pick('and', 'or')} {self.pick(*simple)}"
        return self.pick(*simple)

    def block(self, depth, most):
        lines = []
        for _ in range(self.random.randint(1, most)):
            lines += self.statement(depth)
        return lines

    def statement(self, depth):
        indent, chance = "    " * depth, self.random.random()
        if depth < 4 and chance < 0.16:
            lines = [f"if {self.condition()}:"], self.block(depth + 1, 3)
            lines = [indent + lines[0][0], *lines[1]]
            if self.random.random() < 0.5:
                lines += [f"{indent}else:", *self.block(depth + 1, 3)]
            return lines
        if depth < 4 and chance < 0.28:
            return self.loop(depth)
        if self.indices and chance < 0.33:
            return [
                f"{indent}if {self.condition()}:", f"{indent}    {self.pick('break', 'continue')}"
            ]  # fmt: skip
        if depth > 1 and chance < 0.35:
            return [f"{indent}if {self.condition()}:", f"{indent}    return {self.expression()}"]
        return [indent + line for line in self.simple()]

    def loop(self, depth):
        indent = "    " * depth
        self.count += 1
        i, v = f"i{self.count}", f"v{self.count}"
        over = self.pick("range(n)", "range(3)", "range(n - 1, -1, -1)", "range(1, n)", "range(0)")
        lines = self.pick(
            [f"for {i} in {over}:"],
            [f"for {i} in {over}:"],
            [f"for {i}, {v} in enumerate(x):", f"    c = c * 0.5 + {v}"],
            [f"for {i}, {v} in enumerate(generated(x, a)):", f"    b = b * 0.5 + {v}"],
            [f"{i} = 0", f"while {i} < {self.pick('n', '3')}:", f"    {i} += 1"],
        )
        lines = [indent + line for line in lines]
        self.indices.append(i)
        lines += self.block(depth + 1, 4)
        self.indices.pop()
        if self.random.random() < 0.15:
            lines += [f"{indent}else:", *self.block(depth + 1, 2)]
        return lines

    def simple(self):
        e, m, name = self.expression(), self.number(), self.pick("a", "b", "c")
        return self.pick(
            [f"{name} = {e}"], [f"{name} = {e}"], [f"{name} {self.pick('+=', '*=', '-=')} {m}"],
            [f"y[{self.place()}] {self.pick('=', '+=', '*=')} {e}"],
            [f"y[{self.place()}] {self.pick('=', '+=', '*=')} {e}"],
            [f"y[1:] = y[:-1] * {m}"], [f"y *= {m}"], [f"z = y[1:]; z[0] = {m}"],
            [f"y = y + {m}"], ["y[:2] += x[:2]"], [f"w = y; w[1] = {m}"], ["y[y > 0.5] *= 0.5"],
            [f"y[[0, 2]] += {m}"], [f"items.append({e})"], [f"items.append({e})"],
            [f"items[0] = {e}"], [f"items = items[:2] + [{m}]"], [f"pair = ({m}, pair[0])"],
            [f"box.u = {e}"], [f"box = Box({e})"], [f'table["k"] = {e}'], ["a, b = b, a"],
            ["if len(items) > 2:", "    b = items.pop() * 0.5"],
        )  # fmt: skip


def function_of(seed):
    text = Writer(seed).program()
    filename = f"<random program {seed}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace = {"np": np, "__name__": "random_program"}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["f"]


def difference(f, x, n, direction):
    """The value and the derivative by finite differences; None where there is none."""
    try:
        with np.errstate(all="raise"):
            wide, narrow = (
                (f(x + h * direction, n) - f(x - h * direction, n)) / (2 * h) for h in (1e-5, 1e-6)
            )
            value = f(x, n)
    except (ArithmeticError, ValueError, IndexError, UnboundLocalError):
        return None
    if abs(wide - narrow) > 1e-4 * max(1.0, abs(narrow)) or abs(narrow) > 1e5:
        return None
    return value, narrow


REFUSED, RIGHT = [], []


@pytest.mark.parametrize("start", range(0, PROGRAMS, 10))
def test_random_programs(start):
    for seed in range(start, start + 10):
        f = function_of(seed)
        rng = np.random.default_rng(seed)
        for n in (3, 0):
            x, direction = 0.8 * rng.normal(size=4), rng.normal(size=4)
            expected = difference(f, x, n, direction)
            if expected is None:
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    value, gradient = srcgrad.value_and_grad(f)(x, n)
            except srcgrad.UnsupportedError:
                REFUSED.append(seed)
                continue
            RIGHT.append(seed)
            assert value == pytest.approx(expected[0], rel=1e-9), seed
            found = np.sum(gradient * direction)
            assert found == pytest.approx(expected[1], rel=3e-4, abs=3e-4), seed
    assert len(REFUSED) <= 0.2 * len(RIGHT) + 4


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("start", range(0, 40, 10))
def test_tangents_and_second_derivatives(start):
    """Tangents against gradients; products with the Hessian against differences of gradients."""
    for seed in range(start, start + 10):
        f = function_of(seed)
        rng = np.random.default_rng(seed)
        x, u, v = 0.8 * rng.normal(size=(3, 4))
        gradient = srcgrad.grad(f)
        with np.errstate(all="ignore"):
            try:
                d_x = gradient(x, 3)
            except (srcgrad.UnsupportedError, ArithmeticError, LookupError, UnboundLocalError):
                continue
            (t_out,) = Tangent(f, 0, False, False).push((x, 3), {}, (v,))
            assert abs(t_out - d_x @ v) <= 1e-10 * max(1.0, np.sum(np.abs(d_x * v))), seed
            found = srcgrad.hvp(f)(x, 3, v) @ u
            near, far = (
                (gradient(x + h * v, 3) - gradient(x - h * v, 3)) @ u / (2 * h)
                for h in (1e-6, 1e-5)
            )
            if abs(near - far) <= 1e-6 * max(1.0, abs(near)):  # no branch is taken otherwise
                assert abs(found - near) <= 1e-5 * max(1.0, abs(near)), seed
