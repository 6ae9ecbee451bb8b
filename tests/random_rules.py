"""Random programs that call functions with rules of the user's.

The functions have rules (`adjoint` and `elementwise`, `custom_vjp`) or are checkpoints. They are
called with arguments by position, by name, unpacked and left out, in loops, branches, handlers,
comprehensions and by `functools.partial`; what they are given is written later, is a view, or is
given twice. The derivatives of a program, second ones too, are to be those of the same program
without any rules.

For a long run: `python -m tests.random_rules COUNT [first seed]`.
"""

from __future__ import annotations

import random
import warnings

import numpy as np

import srcgrad
from tests.long_runs import main
from tests.random_statements import loaded

FUNCTIONS = """import functools
import numpy as np
import srcgrad


def scaled(x, a=2.0):
    return x * a


def both(x, y):
    return x * y, np.sin(x)


def soft(x):
    return np.log1p(np.exp(x))


def hypo(x, y):
    return np.sqrt(1.0 + x * x + y * y)


def size(x):
    return np.sqrt(np.sum(x * x))


def tabled(d):
    return {"s": d["a"] * d["b"], "t": d["a"] - 2.0 * d["b"]}


def raised(x, *, p=2, q=1.0):
    return q * x**p


def squares(*xs):
    total = 0.0
    for x in xs:
        total = total + x * x
    return total


def turned(x):
    return x[::-1]


class Layer:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return np.tanh(raised_one(x, self.w))


def raised_one(x, w):
    return w * x + w
"""
RULES = {
    "adjoint": """

@srcgrad.adjoint(scaled)
def scaled_rule(x, a=2.0, *, out, d_out):
    return d_out * a, np.sum(d_out * x)


@srcgrad.adjoint(both)
def both_rule(x, y, *, out, d_out):
    d_product, d_sine = d_out
    return d_product * y + d_sine * np.cos(x), d_product * x


@srcgrad.elementwise(soft)
def soft_rule(x, *, out):
    return 1.0 - np.exp(-out)


@srcgrad.elementwise(hypo)
def hypo_rule(x, y, *, out):
    return x / out, y / out


@srcgrad.adjoint(size)
def size_rule(x, *, out, d_out):
    return d_out * x / out


@srcgrad.adjoint(raised)
def raised_rule(x, *, p=2, q=1.0, out, d_out):
    return d_out * q * p * x ** (p - 1)


@srcgrad.adjoint(squares)
def squares_rule(*xs, out, d_out):
    return tuple(2.0 * d_out * x for x in xs)


@srcgrad.adjoint(turned)
def turned_rule(x, *, out, d_out):
    return d_out[::-1]


@srcgrad.adjoint(raised_one)
def raised_one_rule(x, w, *, out, d_out):
    return d_out * w, d_out * (x + 1.0)
""",
    "checkpoint": """

scaled, both, soft, hypo, size, tabled, raised, squares, turned, raised_one = map(
    srcgrad.checkpoint,
    (scaled, both, soft, hypo, size, tabled, raised, squares, turned, raised_one),
)
""",
    "pairs": """

def with_pair(function, forward, backward):
    function = srcgrad.custom_vjp(function)
    function.defvjp(forward, backward)
    return function


soft = with_pair(
    soft, lambda x: (np.log1p(np.exp(x)), x), lambda x, d: (d / (1.0 + np.exp(-x)),)
)
size = with_pair(
    size,
    lambda x: (np.sqrt(np.sum(x * x)), (x, np.sqrt(np.sum(x * x)))),
    lambda kept, d: (d * kept[0] / kept[1],),
)
hypo = with_pair(
    hypo,
    lambda x, y: (np.sqrt(1.0 + x * x + y * y), (x, y)),
    lambda kept, d: tuple(d * v / np.sqrt(1.0 + kept[0] ** 2 + kept[1] ** 2) for v in kept),
)
turned = with_pair(turned, lambda x: (x[::-1], None), lambda kept, d: (d[::-1],))
both = with_pair(
    both,
    lambda x, y: ((x * y, np.sin(x)), (x, y)),
    lambda kept, d: (d[0] * kept[1] + d[1] * np.cos(kept[0]), d[0] * kept[0]),
)
""",
}


class Maker:
    """Writes a program of statements on rows `v0`, `v1`, ... and numbers `s0`, `s1`, ..."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.lines: list[str] = []
        self.rows, self.numbers = ["v0", "v1"], ["s0"]
        self.count = 2

    def fresh(self, row: bool) -> str:
        self.count += 1
        name = f"{'v' if row else 's'}{self.count}"
        return name

    def row(self) -> str:
        d = self.draw
        v = d.choice(self.rows)
        return d.choice(
            [v, v, v, f"{v}[::-1]", f"m[{d.randrange(2)}]", f"({v} + 0.3)", f"np.sin({v})"]
        )

    def number(self) -> str:
        d = self.draw
        return d.choice(
            [d.choice(self.numbers), f"{d.choice(self.rows)}[{d.randrange(3)}]", "1.5", "0.7"]
        )

    def call(self) -> str:
        """A call that gives a row."""
        d = self.draw
        x, y, s = self.row(), self.row(), self.number()
        return d.choice(
            [
                f"scaled({x}, {s})", f"scaled({x})", f"scaled(a={s}, x={x})",
                f"scaled(*({x}, {s}))",
                f"scaled({x}, **{{'a': {s}}})", f"both({x}, {y})[{d.randrange(2)}]",
                f"soft({x})", f"soft(x={x})", f"hypo({x}, {y})", f"hypo(y={y}, x={x})",
                f"hypo({x}, {s})", f"hypo({s}, {y})", f"hypo({x}, {x})", f"{x} * size({y})",
                f"{x} * soft({s})", f"tabled({{'a': {x}, 'b': {y}}})['{d.choice('st')}']",
                f"tabled(dict(b={y}, a={x}))['{d.choice('st')}']", f"raised({x})",
                f"raised({x}, p=3)", f"raised({x}, p=3, q=0.5)", f"squares({x}, {y})",
                f"squares({x})", f"squares(*[{x}, {y}, {x}])", f"turned({x})",
                f"functools.partial(hypo, {x})({y})", f"(lambda z: soft(z))({x})",
                f"np.array([soft(z) for z in {x}])", f"np.array(list(map(soft, {x})))",
                f"Layer({s})({x})", f"sum([hypo({x}, z) for z in ({y}, {x})])",
                f"functools.reduce(hypo, [{x}, {y}, {x}])", f"(soft if {s} > 0.6 else turned)({x})",
                f"{{'f': soft, 'g': turned}}['{d.choice('fg')}']({x})",
                f"m.T @ m @ raised_one({x}, {s})",
                f"np.stack([turned({x}), soft({y})])[{d.randrange(2)}]",
            ]
        )  # fmt: skip

    def statement(self, depth: int) -> list[str]:
        d = self.draw
        kind = d.choice("new new new number unpack store add row loop if try while defined".split())
        if depth > 1 and kind in ("loop", "if", "try", "while", "defined"):
            kind = "new"
        if kind == "new":
            call, name = self.call(), d.choice([*self.rows, ""]) or self.fresh(True)
            if depth:
                name = d.choice(self.rows)
            elif name not in self.rows:
                self.rows.append(name)
            return [f"{name} = {call}"]
        if kind == "number":
            value, name = f"size({self.row()}) + 0.1 * {self.number()}", d.choice(self.numbers)
            return [f"{name} = {value}"]
        if kind == "unpack":
            a, b = d.choice(self.rows), d.choice(self.rows)
            return [f"{a}, {b} = both({self.row()}, {self.row()})"]
        if kind == "store":
            return [f"m[{d.randrange(2)}] = {self.call()}"]
        if kind == "add":
            return [f"m[{d.randrange(2)}] {d.choice('+-*')}= 0.3 * {self.call()}"]
        if kind == "row":
            return [f"m[:, {d.randrange(3)}] += 0.2 * soft({self.number()})"]
        inner = self.block(depth + 1)
        if kind == "loop":
            return [f"for i in range({d.choice([0, 1, 3])}):", *inner]
        if kind == "while":
            return ["k = 0", "while k < 2:", *inner, "    k += 1"]
        if kind == "if":
            return [f"if {self.number()} > 0.8:", *inner, "else:", *self.block(depth + 1)]
        if kind == "try":
            failing = f"    soft(np.zeros(0))[{d.choice([0, 3])}]"
            return ["try:", *inner, failing, "except IndexError:", f"    m[0] = {self.call()}"]
        name = d.choice(self.rows)
        return ["def inner(x):", f"    return hypo(x, {self.row()}) + soft(x)",
                f"{name} = inner({self.row()})"]  # fmt: skip

    def block(self, depth: int) -> list[str]:
        lines = [line for _ in range(self.draw.choice([1, 2])) for line in self.statement(depth)]
        return ["    " + line for line in lines]

    def program(self) -> str:
        lines = [line for _ in range(self.draw.choice([3, 5, 7])) for line in self.statement(0)]
        result = " + ".join(f"np.sum(np.sin({v}))" for v in (*self.rows, "m"))
        body = ["v0, v1, s0 = x, y, s", "m = np.outer(y[:2], x)", *lines, f"return {result} + s0"]
        return "\n\ndef f(x, y, s):\n" + "\n".join("    " + line for line in body) + "\n"


X, Y, S = np.array([0.5, -0.4, 1.2]), np.array([0.9, 0.3, -0.6]), 0.8


def check(seed: int) -> str:
    """What is said of a program: "right", or why it can't be told.

    Raises:
        AssertionError: its value or a derivative isn't that of the program without rules.
    """
    program = Maker(seed).program()
    form = random.Random(seed).choice(list(RULES))
    plain, ruled = (loaded(FUNCTIONS + rules + program)["f"] for rules in ("", RULES[form]))
    try:
        expected = plain(X, Y, S)
    except Exception:
        return "raises"
    numbers = (0, 1, 2)
    try:
        _, slopes = srcgrad.value_and_grad(plain, argnums=numbers)(X, Y, S)
    except srcgrad.UnsupportedError:
        return "refused without rules"
    if not all(np.all(np.abs(slope) < 1e6) for slope in slopes):
        return "too steep"
    try:
        value, gradient = srcgrad.value_and_grad(ruled, argnums=numbers)(X, Y, S)
    except srcgrad.UnsupportedError as error:
        assert not isinstance(error, srcgrad.InternalError), error
        return f"refused: {str(error).splitlines()[-2:]}"
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    for found, slope in zip(gradient, slopes, strict=True):
        np.testing.assert_allclose(found, slope, rtol=1e-9, atol=1e-11)
    along = (np.cos(X), np.sin(Y), 0.3)
    _, pushed = srcgrad.jvp(plain, (X, Y, S), along)
    try:
        value, tangent = srcgrad.jvp(ruled, (X, Y, S), along)
        np.testing.assert_allclose(tangent, pushed, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(value, expected, rtol=1e-12)
    except srcgrad.UnsupportedError as error:
        assert not isinstance(error, srcgrad.InternalError), error
    try:
        second = srcgrad.hessian(plain)(X, Y, S)
        curvature = srcgrad.hessian(ruled)(X, Y, S)
    except srcgrad.UnsupportedError as error:
        assert not isinstance(error, srcgrad.InternalError), error
        return "right, no Hessian"
    np.testing.assert_allclose(curvature, second, rtol=1e-7, atol=1e-8)
    return "right"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    main(check, lambda seed: Maker(seed).program())
