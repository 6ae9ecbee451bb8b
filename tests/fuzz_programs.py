"""Random programs over NumPy arrays: branches, loops, writes in place, views, lists, objects.

`program(choose)` makes one as a tree of lines; `choose(n)` picks a number below n, so that
hypothesis, or a plain random generator, decides everything. Shapes are known while generating,
which makes every index valid; values stay bounded because what grows is wrapped in sin or tanh.
"""

from __future__ import annotations

import linecache
import operator

HELPERS = """\
import copy

import numpy as np

NUMBERS = [0.4, -0.7, 1.1, 0.2, 0.9]
PLACES = [0, 2, 1, 1, 0]
PAIRS = [(2, 0.5), (0, -0.3), (1, 0.8), (2, 1.2), (0, 0.1)]
GRID = [[0.1 * i - 0.3 * j for j in range(3)] for i in range(5)]
ROWS = [np.cos(np.arange(4.0) + i) for i in range(5)]


def mutate(a, s):
    a[0] = np.sin(a[0] * s)
    a[1:] *= 0.5
    return a[1] * s


def scaled(a, s):
    return a * s


def tail(a):
    return a[1:]


def shifted(a, b):
    a[1:] = a[:-1] * b[1:]
    b += 0.1 * a
    return a


def gather(items, a):
    items.append(a)
    items.append(np.sin(a))


class State:
    def __init__(self, u, t):
        self.u, self.t = u, t

    @property
    def total(self):
        return np.sum(self.u) * self.t

    def step(self, s):
        self.u[1:] += s * self.u[:-1]
        self.t = np.tanh(self.t + s)
        return self.u

    def moved(self, a):
        return State(self.u + a, self.t * 0.5)

    def __add__(self, other):
        return State(self.u + other.u, self.t + other.t)

    def __iadd__(self, other):
        self.u += other.u
        return self

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.t = self.t * (0.5 if kind is None else 0.3)

    def __call__(self, s):
        return np.tanh(self.t * s) * self.u


"""

N = 4  # the length of most arrays
M = 3  # the number of rows


class Program:
    """The state of one generation: names in scope, with what is known of each."""

    def __init__(self, choose, features=None):
        self.choose = choose
        self.scalars = {}
        self.arrays = {}
        self.lists = {}  # name -> [item, minimal length, whether it may change here]
        self.objects = {}  # whose u and t are among the arrays and scalars
        self.functions = []  # closures of a number that return one
        self.indices = []  # loop indices, all below M
        self.counter = 0
        self.loops = 0
        self.depth = 0

    # Choices

    def pick(self, items):
        items = list(items)
        return items[self.choose(len(items))]

    def chance(self, percent):
        return self.choose(100) < percent

    def name(self, prefix):
        self.counter += 1
        return f"{prefix}{self.counter}"

    def constant(self):
        return self.pick(["0.5", "0.3", "1.2", "-0.7", "2.0", "0.9"])

    # Expressions

    def index(self, n):
        """An index into a dimension of length n."""
        choices = [str(self.choose(n)), str(-1 - self.choose(n))]
        if self.indices:
            i = self.pick(self.indices)
            choices += [f"({i} + 1) % {n}", f"{i} % {n}", f"{i} - 1" if n >= M else "0"]
            if n >= M:
                choices += [i, i]
            if n > M:
                choices += [f"{i} + 1"]
        return self.pick(choices)

    def scalar(self, depth=2):
        kind = self.choose(16) if depth > 0 else self.choose(5)
        if kind == 14 and self.functions:
            return f"{self.pick(self.functions)}({self.scalar(depth - 1)})"
        if kind == 15 and self.objects:
            return f"{self.pick(self.objects)}.total"
        if kind == 0:
            return self.constant()
        if kind in (1, 2) and self.scalars:
            return self.pick(self.scalars)
        if kind in (3, 4, 1, 2):
            array = self.pick(self.arrays)
            shape = self.arrays[array]
            if len(shape) == 1:
                return f"{array}[{self.index(shape[0])}]"
            return f"{array}[{self.index(shape[0])}, {self.index(shape[1])}]"
        if kind == 5:
            return f"np.sin({self.scalar(depth - 1)})"
        if kind == 6:
            return f"({self.scalar(depth - 1)} * {self.scalar(depth - 1)})"
        if kind == 7:
            return f"({self.scalar(depth - 1)} {self.pick('+-')} {self.scalar(depth - 1)})"
        if kind == 8:
            divisor = self.scalar(depth - 1)
            return f"({self.scalar(depth - 1)} / (1.5 + {divisor} * {divisor}))"
        if kind == 9:
            array = self.pick(self.arrays)
            return self.pick([f"{array}.mean()", f"np.sum({array}) * 0.2", f"{array}.sum() / 3"])
        if kind == 10:
            return f"float({self.scalar(depth - 1)})"
        if kind == 11:
            found = [n for n, (item, least, _) in self.lists.items() if item == () and least > 0]
            if found:
                items = self.pick(found)
                return f"{items}[{self.pick(['0', '-1', '0'])}]"
            return f"-{self.scalar(depth - 1)}"
        if kind == 12 and self.indices:
            return f"({self.scalar(depth - 1)} * {self.pick(self.indices)})"
        return f"np.tanh({self.scalar(depth - 1)})"

    def with_shape(self, shape):
        return [name for name, s in self.arrays.items() if s == shape]

    def read(self, shape):
        """An array of the given shape without arithmetic: a variable, or a view."""
        found = list(self.with_shape(shape))
        for name, s in self.arrays.items():
            if len(shape) == 1:
                (n,) = shape
                if len(s) == 1 and s[0] > n:
                    k = s[0] - n
                    start = self.choose(k + 1)
                    stop = start + n - s[0]
                    found.append(f"{name}[{start or ''}:{stop or ''}]")
                    if s[0] >= 2 * n - 1:
                        found.append(f"{name}[:{2 * n - 1}:2]")
                if len(s) == 1 and s[0] == n:
                    found += [f"{name}[::-1]"] * self.chance(30)
                if len(s) == 2 and s[1] == n:
                    found.append(f"{name}[{self.index(s[0])}]")
                if len(s) == 2 and s[0] == n:
                    found.append(f"{name}[:, {self.index(s[1])}]")
                if len(s) == 2 and s[0] * s[1] == n:
                    found += [f"{name}.ravel()", f"{name}.reshape(-1)"]
                    found += [f'{name}.T.ravel(order="F")', f'{name}.ravel(order="F")']
            else:
                if len(s) == 2 and s == shape[::-1] and s[0] != s[1]:
                    found.append(f"{name}.T")
                if len(s) == 1 and s[0] == shape[0] * shape[1]:
                    found.append(f"{name}.reshape{shape}")
                if s == (M, N) and shape == (2, N):
                    found.append(f"{name}[{self.pick(['1:', ':-1', '::2'])}]")
        for name, (item, least, _) in self.lists.items():
            if item == shape and least > 0:
                found += [f"{name}[{self.pick(['0', '-1'])}]"] * 2
        return self.pick(found) if found else None

    def array(self, shape, depth=2):
        """An array of the given shape; may be a view."""
        kind = self.choose(19) if depth > 0 else 0
        if kind <= 3:
            return self.read(shape) or self.made(shape)
        inner = depth - 1
        if kind == 4:
            return f"np.sin({self.array(shape, inner)})"
        if kind == 5:
            return f"{self.array(shape, inner)} * {self.scalar(inner)}".join("()")
        if kind in (6, 7):
            sign = self.pick("+-*")
            return f"({self.array(shape, inner)} {sign} {self.array(shape, inner)})"
        if kind == 8:
            test = f"{self.array(shape, 0)} > {self.constant()}"
            return f"np.where({test}, {self.array(shape, inner)}, {self.array(shape, inner)})"
        if kind == 9:
            return self.made(shape)
        if kind == 10:
            return f"{self.array(shape, 0)}.copy()"
        if kind == 11 and len(shape) == 1:
            matrices = [n for n, s in self.arrays.items() if len(s) == 2 and s[0] == shape[0]]
            if matrices:
                matrix = self.pick(matrices)
                return f"{matrix} @ {self.array((self.arrays[matrix][1],), inner)}".join("()")
            return f"np.array([{', '.join(self.scalar(1) for _ in range(shape[0]))}])"
        if kind == 11:
            return f"({self.array(shape, inner)} * {self.array((shape[1],), inner)})"
        if kind == 12 and len(shape) == 1 and shape[0] > 1:
            k = 1 + self.choose(shape[0] - 1)
            parts = f"{self.array((k,), inner)}, {self.array((shape[0] - k,), inner)}"
            return f"np.concatenate([{parts}])"
        if kind == 12 and len(shape) == 2:
            rows = ", ".join(self.array((shape[1],), inner) for _ in range(shape[0]))
            return self.pick(["np.stack([%s])", "np.array([%s])"]) % rows
        if kind == 13:
            return f"np.tanh({self.array(shape, inner)})"
        if kind == 14:
            return f"(1.5 - {self.array(shape, inner)})"
        if kind == 15 and len(shape) == 1:
            sources = [n for n, s in self.arrays.items() if len(s) == 1]
            source = self.pick(sources)
            index = [self.choose(self.arrays[source][0]) for _ in range(shape[0])]
            return f"{source}[np.array({index})]" if self.chance(50) else f"{source}[{index}]"
        if kind == 15:
            return f"np.outer({self.array(shape[:1], inner)}, {self.array(shape[1:], inner)})"
        if kind == 16 and len(shape) == 1:
            matrices = [n for n, s in self.arrays.items() if len(s) == 2 and s[1] == shape[0]]
            if matrices:
                return f"{self.pick(matrices)}.{self.pick(['sum', 'mean'])}(axis=0)"
            return f"scaled({self.array(shape, inner)}, {self.scalar(inner)})"
        if kind == 17:
            return f"scaled({self.array(shape, inner)}, {self.scalar(inner)})"
        if kind == 18:
            a, b = self.array(shape, 0), self.array(shape, 0)
            return f"({a} / (1.5 + {b} * {b}))"
        return f"-{self.array(shape, inner)}"

    def made(self, shape):
        size = shape[0] if len(shape) == 1 else shape
        known = self.with_shape(shape)
        choices = [f"np.zeros({size})", f"np.ones({size})", f"np.full({size}, {self.scalar(0)})"]
        if known:
            choices += [f"np.zeros_like({self.pick(known)})", f"np.zeros({self.pick(known)}.shape)"]
        return self.pick(choices)

    def bounded(self, shape):
        text = self.array(shape)
        return f"np.sin({text})" if self.chance(40) else text

    def bounded_scalar(self):
        text = self.scalar()
        return f"np.tanh({text})" if self.chance(50) else text

    def shape(self):
        return self.pick([(N,), (N,), (N,), (M, N), (M,), (2, N), (N, M)])

    def test(self):
        choices = [f"{self.scalar(1)} > {self.constant()}", f"{self.scalar(1)} < {self.scalar(1)}"]
        if self.indices:
            choices.append(f"{self.pick(self.indices)} > {self.choose(2)}")
            choices.append(f"{self.pick(self.indices)} == {self.choose(3)}")
        if self.chance(15):
            choices = [f"{choices[0]} {self.pick(['and', 'or'])} {self.scalar(0)} > 0.1"]
        return self.pick(choices)

    def key(self, shape):
        """A key to write to, and the shape of what is written."""
        if len(shape) == 1:
            (n,) = shape
            return self.pick(
                [
                    (self.index(n), ()),
                    (self.index(n), ()),
                    ("1:", (n - 1,)),
                    (":-1", (n - 1,)),
                    (":", shape),
                    ("...", shape),
                    ("::-1", shape),
                    ("::2", ((n + 1) // 2,)),
                    ("1:-1", (n - 2,)) if n > 2 else (":", shape),
                ]
            )
        m, n = shape
        return self.pick(
            [
                (f"{self.index(m)}, {self.index(n)}", ()),
                (self.index(m), (n,)),
                (f":, {self.index(n)}", (m,)),
                ("1:", (m - 1, n)) if (m - 1, n) == (2, N) else (":", shape),
                (f"{self.index(m)}, 1:", (n - 1,)),
                (":", shape),
            ]
        )

    # Statements: lists of lines, or (line, block) for compound ones

    def value(self, shape):
        return self.bounded(shape) if shape else self.bounded_scalar()

    def statement(self):
        kinds = [
            "scalar", "array", "rebind", "alias", "view", "write", "write", "write", "augment",
            "augment", "augment_part", "augment_part", "swap", "list", "append", "list_item",
            "call", "primitive", "mask", "fancy", "tuple_items", "list_copy", "drain", "list_loop",
            "zipped", "comprehension", "growing", "nested", "holes", "record", "diagonal", "either",
            "object", "object", "object_change", "object_change", "object_loop", "table", "outer",
        ]  # fmt: skip
        if self.depth < 3:
            kinds += [
                "branch",
                "branch",
                "loop",
                "loop",
                "loop",
                "while_loop",
                "memory",
                "recursion",
                "closure",
                "generator",
                "attempt",
                "match",
            ]
        if self.loops:
            kinds += ["jump"]
        elif self.depth == 1 and self.chance(10):
            kinds += ["early"]
        return getattr(self, "make_" + self.pick(kinds))()

    def block(self, size):
        """Statements in a scope of their own: names made inside are gone after it."""
        self.depth += 1
        saved = dict(self.scalars), dict(self.arrays), {k: list(v) for k, v in self.lists.items()}
        others = dict(self.objects), list(self.functions)
        lines = []
        for _ in range(1 + self.choose(size)):
            lines += self.statement()
        self.scalars, self.arrays, self.lists = saved
        self.objects, self.functions = others
        self.depth -= 1
        return lines

    def make_scalar(self):
        value = self.bounded_scalar()
        outer = bool(self.scalars) and self.chance(60)
        name = self.pick(self.scalars) if outer else self.name("s")
        self.scalars[name] = True
        if outer and self.chance(40):
            return [f"{name} {self.pick('+-*')}= {value}"]
        return [f"{name} = {value}"]

    def make_array(self):
        shape = self.shape()
        value = self.bounded(shape)
        name = self.name("a")
        self.arrays[name] = shape
        return [f"{name} = {value}"]

    def make_rebind(self):
        name = self.pick(self.arrays)
        return [f"{name} = {self.bounded(self.arrays[name])}"]

    def make_alias(self):
        other = self.pick(self.arrays)
        name = self.name("a")
        self.arrays[name] = self.arrays[other]
        return [f"{name} = {other}"]

    def make_view(self):
        shape = self.shape()
        text = self.read(shape)
        if text is None:
            return self.make_alias()
        name = self.name("a")
        self.arrays[name] = shape
        return [f"{name} = {text}"]

    def make_write(self):
        name = self.pick(self.arrays)
        key, shape = self.key(self.arrays[name])
        value = self.value(shape) if self.chance(85) else self.scalar(1)
        if len(self.arrays[name]) == 2:
            value = f"1.0 * {value}"  # NumPy itself errs in a[1, 1:] = a[:, 3], which overlap
        return [f"{name}[{key}] = {value}"]

    def make_augment(self):
        name = self.pick(self.arrays)
        shape = self.arrays[name]
        if self.chance(25):
            return [f"{name} {self.pick('+-*')}= {self.scalar(1)}"]
        if self.chance(15):
            divisor = self.array(shape, 0)
            return [f"{name} /= 1.5 + {divisor} ** 2"]
        return [f"{name} {self.pick('+-*')}= {self.bounded(shape)}"]

    def make_augment_part(self):
        name = self.pick(self.arrays)
        key, shape = self.key(self.arrays[name])
        return [f"{name}[{key}] {self.pick('+-**')}= {self.value(shape)}"]

    def make_swap(self):
        name = self.pick(self.arrays)
        others = [n for n in self.with_shape(self.arrays[name]) if n != name]
        if not others:
            return self.make_array()
        other = self.pick(others)
        if self.chance(25) and len(others) > 1:
            third = self.pick([n for n in others if n != other])
            return [f"{name}, {other}, {third} = {other}, {third}, {name}"]
        return [f"{name}, {other} = {other}, {name}"]

    def make_list(self):
        name = self.name("l")
        item = self.pick([(), (), (N,), (N,), (M,), "pair"])
        count = self.choose(3)
        values = ", ".join(self.item(item) for _ in range(count))
        self.lists[name] = [item, count, True]
        return [f"{name} = [{values}]"]

    def item(self, item):
        if item == "pair":
            return f"({self.scalar(1)}, {self.array((N,), 1)})"
        if item == ():
            return self.bounded_scalar()
        return self.array(item, 1)

    def make_append(self):
        if not self.lists:
            return self.make_list()
        name = self.pick(self.lists)
        info = self.lists[name]
        line = f"{name}.append({self.item(info[0])})"
        info[1] += 1
        if self.chance(25):
            inner = self.statement()
            if any("return" in str(s) or "break" in str(s) or "continue" in str(s) for s in inner):
                return [line, *inner]
            if info[0] == "pair" or info[1] < 1 or name not in self.lists:
                return [line, *inner]
            out = self.name("s" if info[0] == () else "a")
            if info[0] == ():
                self.scalars[out] = True
            else:
                self.arrays[out] = info[0]
            info[1] -= 1
            return [line, *inner, f"{out} = {name}.pop()"]
        return [line]

    def make_list_item(self):
        found = [n for n, v in self.lists.items() if v[1] > 0]
        if not found:
            return self.make_append()
        name = self.pick(found)
        item = self.lists[name][0]
        place = self.pick(["0", "-1"])
        if item == "pair":
            s, a = self.name("s"), self.name("a")
            self.scalars[s], self.arrays[a] = True, (N,)
            return [f"{s}, {a} = {name}[{place}]"]
        if self.chance(40):
            return [f"{name}[{place}] = {self.item(item)}"]
        if item == ():
            return [f"{name}[{place}] {self.pick('+-*')}= {self.bounded_scalar()}"]
        if self.chance(50):
            return [f"{name}[{place}] {self.pick('+-*')}= {self.bounded(item)}"]
        return [f"{name}[{place}][{self.index(item[0])}] = {self.bounded_scalar()}"]

    def make_tuple_items(self):
        a, b = self.name("a"), self.name("a")
        shape = self.shape()
        first, second = self.array(shape, 1), self.array(shape, 1)
        pair = self.name("t")
        self.arrays[a] = self.arrays[b] = shape
        return [f"{pair} = ({first}, {second})", f"{b}, {a} = {pair}"]

    def make_list_copy(self):
        if not self.lists or self.chance(60):
            return self.make_list()
        name = self.pick(self.lists)
        item, least, _ = self.lists[name]
        new = self.name("l")
        text, count = self.pick(
            [(f"list({name})", least), (f"{name} + {name}", 2 * least), (f"{name}[1:]", least - 1),
             (f"{name}[::-1]", least), (f"[v for v in {name}]", least)]
        )  # fmt: skip
        self.lists[new] = [item, max(count, 0), True]
        return [f"{new} = {text}"]

    def make_call(self):
        kind = self.choose(4)
        shape = self.pick([s for s in self.arrays.values() if len(s) == 1])
        a = self.pick(self.with_shape(shape))
        if kind == 0:
            name = self.name("s")
            line = f"{name} = mutate({a}, {self.scalar(1)})"
            self.scalars[name] = True
            return [line]
        if kind == 1 and shape == (N,):
            name = self.name("a")
            self.arrays[name] = (M,)
            return [f"{name} = tail({a})"]
        if kind == 2:
            b = self.pick(self.with_shape(shape))
            name = self.name("a")
            self.arrays[name] = shape
            return [f"{name} = shifted({a}, {b})"]
        found = [n for n, v in self.lists.items() if v[0] == shape]
        if not found:
            return self.make_list()
        name = self.pick(found)
        self.lists[name][1] += 2
        return [f"gather({name}, {a})"]

    def make_primitive(self):
        name = self.pick(self.arrays)
        shape = self.arrays[name]
        kind = self.choose(6)
        if kind == 0 and len(shape) == 1:
            index = [self.choose(shape[0]) for _ in range(M)]
            return [f"np.add.at({name}, np.array({index}), {self.array((M,), 1)})"]
        if kind == 1:
            function = self.pick(["add", "multiply", "subtract"])
            operands = f"{self.array(shape, 1)}, {self.array(shape, 1)}"
            return [f"np.{function}({operands}, out={name})"]
        if kind == 2:
            return [f"np.copyto({name}, {self.bounded(shape)})"]
        if kind == 3:
            if self.chance(50):
                return [f"np.clip({self.array(shape, 1)}, -1.0, 1.0, {name})"]
            return [f"np.sin({self.array(shape, 1)}, out={name})"]
        if kind == 4:
            return [f"{name}.fill({self.scalar(1)})"]
        return [f"np.sin({name}[1:], out={name}[:-1])"] if len(shape) == 1 else self.make_write()

    def make_mask(self):
        name = self.pick(self.arrays)
        test = f"{self.array(self.arrays[name], 0)} > {self.constant()}"
        mark = self.pick(["=", "+=", "*="])
        return [f"{name}[{test}] {mark} {self.scalar(1)}"]

    def make_fancy(self):
        found = [n for n, s in self.arrays.items() if len(s) == 1]
        name = self.pick(found)
        (n,) = self.arrays[name]
        order = list(range(n))
        index = [order.pop(self.choose(len(order))) for _ in range(2)]
        mark = self.pick(["=", "+=", "*=", "="])
        fresh = self.name("a")
        lines = [f"{name}[{index}] {mark} {self.pick([self.scalar(1), self.array((2,), 1)])}"]
        self.arrays[fresh] = (2,)
        lines.append(f"{fresh} = {name}[{index[::-1]}]")
        if self.chance(50):
            lines.append(f"{fresh}[0] = {self.scalar(1)}")
        return lines

    def make_drain(self):
        """A list popped until a few items are left."""
        found = [n for n, v in self.lists.items() if v[2]]
        if not found or self.loops > 1:
            return self.make_list()
        name = self.pick(found)
        item, least, _ = self.lists[name]
        keep = self.choose(3)
        saved = dict(self.scalars), dict(self.arrays)
        hidden = self.lists.pop(name)
        if item == "pair":
            s, a = self.name("s"), self.name("a")
            self.scalars[s], self.arrays[a] = True, (N,)
            head = f"{s}, {a} = {name}.pop()"
        else:
            v = self.name("s" if item == () else "a")
            if item == ():
                self.scalars[v] = True
            else:
                self.arrays[v] = item
            where = self.pick(["", "", "0", "-1"]) if keep == 0 else ""
            head = f"{v} = {name}.pop({where})"
        self.loops += 1
        body = [head, *list(self.block(2))]
        self.loops -= 1
        self.scalars, self.arrays = saved
        self.lists[name] = [hidden[0], min(least, keep), hidden[2]]
        if self.depth > 1:
            self.lists[name][1] = 0
        return [(f"while len({name}) > {keep}:", body)]

    def make_list_loop(self):
        """Every item of a list changed."""
        found = [n for n, v in self.lists.items() if v[0] != "pair"]
        if not found:
            return self.make_list()
        name = self.pick(found)
        item = self.lists[name][0]
        k = self.name("k")
        place = f"{name}[{k}]"
        if item == ():
            line = f"{place} {self.pick(['=', '+=', '*='])} np.sin({self.scalar(1)} * {place})"
        else:
            line = self.pick(
                [f"{place} = np.tanh({place} * {self.scalar(1)})",
                 f"{place} *= {self.array(item, 1)}",
                 f"{place}[1:] = {place}[:-1] * {self.scalar(0)}",
                 f"{place}[{self.index(item[0])}] += {self.bounded_scalar()}",
                 f"{name}[{k}], {name}[0] = {name}[0], {name}[{k}]"]
            )  # fmt: skip
        return [(f"for {k} in range(len({name})):", [line])]

    def make_zipped(self):
        shape = self.pick([s for s in self.arrays.values() if len(s) == 1])
        a, b = self.pick(self.with_shape(shape)), self.pick(self.with_shape(shape))
        i, p, q = self.name("i"), self.name("s"), self.name("s")
        saved = dict(self.scalars)
        self.scalars[p] = self.scalars[q] = True
        self.loops += 1
        body = self.block(2)
        self.loops -= 1
        self.scalars = saved
        if self.chance(50):
            return [(f"for {p}, {q} in zip({a}, {b}.copy()):", body)]
        return [(f"for {i}, {p} in enumerate({a}):", [f"{q} = {p} * {i}", *body])]

    def make_comprehension(self):
        shape = self.pick([s for s in self.arrays.values() if len(s) == 1])
        a = self.pick(self.with_shape(shape))
        name = self.name("l")
        condition = f" if v > {self.constant()}" if self.chance(40) else ""
        if self.chance(50):
            self.lists[name] = [(), 0 if condition else shape[0], True]
            return [f"{name} = [np.sin(v * {self.scalar(0)}) for v in {a}{condition}]"]
        self.lists[name] = [shape, 0 if condition else shape[0], True]
        return [f"{name} = [{a} * v for v in {a}{condition}]"]

    def make_outer(self):
        """The use of a list that is a global variable."""
        i, s, a = self.name("i"), self.name("s"), self.name("a")
        kind = self.choose(8)
        if kind == 0:
            self.scalars[s] = True
            return [f"{s} = NUMBERS[{self.index(5)}] * {self.scalar(1)}"]
        if kind == 1:
            self.arrays[a] = (N,)
            return [f"{a} = np.array(NUMBERS[1:]) * {self.scalar(1)} + ROWS[{self.index(5)}]"]
        if kind == 2:
            self.lists[s] = [(), 0, True]
            return [f"{s} = [v * {self.scalar(0)} for v in NUMBERS if v > {self.constant()}]"]
        saved = dict(self.scalars), dict(self.arrays)
        lines = []
        if kind in (3, 4, 5):
            head = [f"for {i}, {s} in PAIRS:", f"for {i}, {s} in zip(PLACES, NUMBERS):",
                    f"for {i} in PLACES[:{self.choose(4)}]:"][kind - 3]  # fmt: skip
            self.indices.append(i)
            if kind < 5:
                self.scalars[s] = True
        elif kind == 6:
            head, lines = f"for {i}, {a} in enumerate(ROWS):", [f"{a} = {a} * {self.scalar(0)}"]
            self.arrays[a] = (N,)
        else:
            head = f"for {i} in GRID:"
            lines = [f"{s} = {i}[{self.index(3)}] * {self.scalar(0)}"]
            self.scalars[s] = True
        self.loops += 1
        body = [*lines, *self.block(3)]
        self.loops -= 1
        self.indices = [name for name in self.indices if name != i]
        self.scalars, self.arrays = saved
        return [(head, body)]

    def make_growing(self):
        """An array that gets longer in a loop."""
        g, i, s = self.name("g"), self.name("i"), self.name("s")
        source = self.pick([n for n, sh in self.arrays.items() if len(sh) == 1])
        line = self.pick(
            [f"{g} = np.concatenate([{g}, np.sin({g}[-1:])])",
             f"{g} = np.concatenate([{g}[1:], {source}]) * 0.5",
             f"{g} = {g}[1:]" if self.chance(30) else f"{g} = np.append({g}, {source}[0])"]
        )  # fmt: skip
        more = [f"{g}[0] = np.tanh({self.scalar(1)})"] if self.chance(50) else []
        start = f"{g} = {source}" + self.pick([".copy()", "[:2]", " * 1.0"])
        self.scalars[s] = True
        return [start, (f"for {i} in range(2):", [line, *more]), f"{s} = np.sum({g} * {g})"]

    def make_nested(self):
        """A list of lists."""
        rows, row, i, v, s = (self.name(c) for c in ("r", "r", "i", "v", "s"))
        array = self.chance(50)
        item = self.array((N,), 1) if array else self.scalar(1)
        write = f"{rows}[0][-1][1] = {self.scalar(1)}" if array else f"{rows}[1][0] *= {item}"
        total = f"{s} = {s} + np.sum(np.sin({v}))"
        build = [f"{row} = [{item}]", (f"for {v} in range({i} + 1):", [f"{row}.append({item})"])]
        lines = [f"{rows} = []", (f"for {i} in range(3):", [*build, f"{rows}.append({row})"])]
        if self.chance(70):
            lines.append(write)
        if self.chance(40):
            lines.append(f"{rows}[0], {rows}[2] = {rows}[2], {rows}[0]")
        if self.chance(40):
            lines.append(f"{rows}[-1].pop()")
        lines += [f"{s} = 0.0", (f"for {row} in {rows}:", [(f"for {v} in {row}:", [total])])]
        self.scalars[s] = True
        return lines

    def make_holes(self):
        """A list of a length that only the run knows, with None where nothing is put."""
        xs, i, v, s = (self.name(c) for c in ("l", "i", "v", "s"))
        kind = self.pick([(), (N,), "pair"])
        item = self.item(kind)
        use = f"{v}[0] * np.sum({v}[1])" if kind == "pair" else f"np.sum({v} * {v})"
        known = [f"{s} = np.tanh({s} + {use})"]
        if kind == (N,) and self.chance(50):
            known.append(f"{v}[1] = {self.scalar(1)}")
        lines = [f"{xs} = [None] * len({self.pick(self.arrays)})", f"{s} = {self.scalar(1)}"]
        if self.chance(50):
            lines.append(f"{xs}[{self.pick(['0', '-1'])}] = {item}")
        put = (f"if {i} % 3 != {self.choose(3)}:", [f"{xs}[{i}] = {item}"])
        lines.append((f"for {i} in range(len({xs})):", [put]))
        if self.chance(50):
            there = f"if {xs}[{i}] is not None and {xs}[{i} - 1] is None:"
            copied = f"{xs}[{i} - 1] = {xs}[{i}]"
            lines.append((f"for {i} in range(1, len({xs})):", [(there, [copied])]))
        other = [(f"if {v} is not None:", known), ("else:", [f"{s} = {s} * 0.9"])]
        lines.append((f"for {v} in {xs}:", other))
        self.scalars[s] = True
        return lines

    def make_record(self):
        """A dict that holds arrays, changed in a loop."""
        d, i, name = self.name("d"), self.name("i"), self.name("a")
        shape = self.pick([(N,), (M, N)])
        start = f"{d} = {{'a': {self.array(shape, 1)}, 's': {self.scalar(1)}}}"
        body = self.pick(
            [f"{d}['a'] = np.sin({d}['a']) * {d}['s']", f"{d}['a'][0] *= {d}['s']",
             f"{d}['s'] = np.tanh({d}['s'] + {d}['a'].sum())"]
        )  # fmt: skip
        self.arrays[name] = shape
        return [start, (f"for {i} in range(2):", [body]), f"{name} = {d}['a'] * {d}['s']"]

    def make_diagonal(self):
        a, name = self.array((N,), 1), self.name("a")
        self.arrays[name] = (N,)
        square = self.name("q")
        write = f"{square}[1, 1] = {self.scalar(1)}"
        return [f"{square} = np.outer({a}, {a})", f"{name} = np.diag({square})", write]

    def make_either(self):
        """A name that is one of two arrays, and is then written."""
        shape = self.shape()
        known = self.with_shape(shape)
        if len(known) < 2:
            return self.make_array()
        name = self.name("a")
        a, b = self.pick(known), self.pick(known)
        self.arrays[name] = shape
        key, _part = self.key(shape)
        return [f"{name} = {a} if {self.test()} else {b}", f"{name}[{key}] *= {self.scalar(1)}"]

    def make_branch(self):
        lines = [(f"if {self.test()}:", self.block(3))]
        if self.chance(20):
            lines.append((f"elif {self.test()}:", self.block(2)))
        if self.chance(60):
            lines.append(("else:", self.block(3)))
        return lines

    def make_loop(self):
        self.loops += 1
        kind = self.choose(10)
        added = None
        if kind < 7:
            index = self.pick("ijk") if self.chance(70) else self.name("i")
            while index in self.indices:
                index = self.name("i")
            bounds = self.pick(["range(3)", "range(n)", "range(0)", "range(1, 3)",
                                "range(2, -1, -1)",
                                "range(n)", "range(len(x) - 1)", "range(n - 2)"])  # fmt: skip
            head = f"for {index} in {bounds}:"
            self.indices.append(index)
            body = self.block(4)
            self.indices.remove(index)
        elif kind < 8 and any(v[0] != "pair" for v in self.lists.values()):
            found = [n for n, v in self.lists.items() if v[0] != "pair"]
            name = self.pick(found)
            item = self.lists[name][0]
            added = self.name("s" if item == () else "a")
            saved = dict(self.scalars), dict(self.arrays)
            (self.scalars if item == () else self.arrays)[added] = True if item == () else item
            changing = self.lists.pop(name)
            head, body = f"for {added} in {name}:", self.block(3)
            self.lists[name] = changing
            self.scalars, self.arrays = saved
        else:
            array = self.pick(self.arrays)
            shape = self.arrays[array]
            added = self.name("s" if len(shape) == 1 else "a")
            saved = dict(self.scalars), dict(self.arrays)
            if len(shape) == 1:
                self.scalars[added] = True
            else:
                self.arrays[added] = shape[1:]
            text = self.pick([array, f"{array}.copy()"])
            head, body = f"for {added} in {text}:", self.block(3)
            self.scalars, self.arrays = saved
        self.loops -= 1
        return [(head, body)]

    def make_while_loop(self):
        count = self.name("c")
        self.loops += 1
        test = self.pick([f"{count} < {self.choose(4)}", f"{count} < 4 and {self.test()}"])
        saved, self.indices = self.indices, list(self.indices)
        body = self.block(3)
        self.indices = saved
        self.loops -= 1
        return [f"{count} = 0", (f"while {test}:", [f"{count} += 1", *body])]

    def make_memory(self):
        """What an iteration leaves for the next one: None before the first."""
        m, s = self.name("m"), self.name("s")
        shape = self.shape()
        a, b, c = self.array(shape, 1), self.array(shape, 1), self.bounded_scalar()
        kept, use = self.pick(
            [(f"({a}, {c})", f"np.sum({m}[0]) * {m}[1]"),
             (f"[{a}, {b}]", f"np.sum({m}[1] * {m}[0])"),
             (f"{{'a': {a}, 's': {c}}}", f"np.sum({m}['a']) * {m}['s']"),
             (a, f"np.sum({m})")]
        )  # fmt: skip
        [(head, body)] = self.make_while_loop()[1:] if self.chance(20) else [self.counted()]
        known = (f"if {m} is not None:", [f"{s} = np.tanh({s} + {use})"])
        at = 0 if self.chance(50) else len(body)
        body = [*body[:at], known, f"{m} = {kept}", *body[at:]]
        if self.chance(30):
            body.append(*self.make_jump())
        start = [f"{m} = None", f"{s} = {c}"]
        if head.startswith("while"):
            start.append(f"{head.split()[1]} = 0")
        self.scalars[s] = True
        return [*start, (head, body), *([known] if self.chance(50) else [])]

    def make_recursion(self):
        """A function that calls itself with a list; how often, only the run decides."""
        g, a, s, v = (self.name(c) for c in ("g", "l", "s", "v"))
        terms = ["items[0]", "items[-1]", "np.sum(a) * 0.3", "a[1]", "np.sin(items[-1])",
                 "len(items) * 0.1", "items[len(items) // 2]"]  # fmt: skip

        def term():
            return self.pick(terms)

        changes = ["items.append(np.tanh({} * {}))", "items[0] = np.tanh({} + {})",
                   "items[-1] *= 0.5 + 0.1 * np.tanh({} - {})", "items.reverse()",
                   "items.insert(0, np.sin({}) * {})",
                   "items[0], items[-1] = items[-1], items[0] * {} * 0.2"]  # fmt: skip
        passed = self.pick(
            ["items", "items", "items + [np.tanh({})]", "items[::-1]", "list(items)",
             "[v * np.tanh({}) for v in items]", "items[1:] + items[:1]"]
        )  # fmt: skip
        moved = self.pick(["a", "np.sin(a)", "a * np.tanh(items[0])", "a[::-1]"])
        deeper = f"{g}({passed.format(term())}, {moved}, depth - 1)"
        last = self.pick(
            [deeper, f"np.tanh({deeper}) + {term()}",
             f"{deeper} * 0.5 + {g}(items, a * 0.5, depth - 2) * {term()}"]
        )  # fmt: skip
        base = self.pick([term(), "sum(items)", "np.tanh(items[0] * a[0])"])
        body = [self.pick(changes).format(term(), term()) for _ in range(self.choose(3))]
        if self.chance(30):
            body = [(f"if {term()} > 0.2:", body or ["pass"])]
        ends = ("if depth <= 0:", [f"return {base}"])
        function = (f"def {g}(items, a, depth):", [ends, *body, f"return {last}"])
        array = self.pick(self.with_shape((N,)))
        start = [f"{a} = [{self.bounded_scalar()}, {self.bounded_scalar()}]"]
        if self.chance(50):
            start = [f"{a} = []", (f"for {v} in {array}:", [f"{a}.append(np.tanh({v}))"])]
        depth = self.pick(["2.5", "1.5 + np.sign(z * z)"])
        lines = [function, *start, f"{s} = {g}({a}, {array}, {depth})"]
        if self.chance(60):
            lines.append(f"{s} = {s} + sum({a}) * {a}[0]")
        self.scalars[s] = True
        return lines

    def make_object(self):
        known = list(self.objects)
        choices = [f"State({self.array((N,), 1)}, {self.scalar(1)})"]
        if known:
            o, p = self.pick(known), self.pick(known)
            choices += [o, f"{o}.moved({self.array((N,), 1)})", f"{o} + {p}", f"copy.copy({o})",
                        f"{o} if {self.test()} else {p}", f"copy.deepcopy({o})"]  # fmt: skip
        value = self.pick(choices)
        again = bool(known) and self.chance(30)
        return [f"{self.pick(known) if again else self.named_object()} = {value}"]

    def named_object(self):
        name = self.name("o")
        self.objects[name] = True
        self.arrays[f"{name}.u"], self.scalars[f"{name}.t"] = (N,), True
        return name

    def make_object_change(self):
        if not self.objects:
            return self.make_object()
        o, p = self.pick(self.objects), self.pick(self.objects)
        line = self.pick(
            [f"{o}.step({self.scalar(1)})", f"{o} += {p}", f"{o}, {p} = {p}, {o}",
             f"{o}.u = {p}.u", f"{o}.u, {o}.t = {p}.u * {o}.t, {self.scalar(1)}",
             f"{o}.u = {self.bounded((N,))}", f"{o}.t {self.pick('+-*')}= {self.scalar(1)}",
             f"{o}.u[{self.index(N)}] {self.pick(['=', '+=', '*='])} {self.scalar(1)}",
             f"setattr({o}, 't', {self.bounded_scalar()})", f"{o}.u = {o}({self.scalar(1)})"]
        )  # fmt: skip
        return [line]

    def make_object_loop(self):
        """Objects in a list or a dict, each of which is changed."""
        if not self.objects:
            return self.make_object()
        items, v, s = self.name("b"), self.name("o"), self.name("s")
        several = [self.pick(self.objects) for _ in range(2)]
        change = self.pick(
            [f"{v}.step({self.scalar(1)})", f"{v}.u[0] = {s} * {v}.t", f"{v}.t = {s} + {v}.total",
             f"{v}.u = np.sin({v}.u)", f"{v} = {v}.moved({v}.u)", f"{v} += {several[0]}"]
        )  # fmt: skip
        body = [change, f"{s} = np.tanh({s} + {v}.total)"]
        several.append(f"State({self.array((N,), 1)}, {self.scalar(1)})")
        start = [f"{s} = {self.scalar(1)}"]
        self.scalars[s] = True
        if self.chance(30):
            pairs = ", ".join(f"'{'abc'[i]}': {o}" for i, o in enumerate(several))
            return [*start, f"{items} = {{{pairs}}}", (f"for {v} in {items}.values():", body)]
        return [*start, f"{items} = [{', '.join(several)}]", (f"for {v} in {items}:", body)]

    def make_table(self):
        """A dict whose items are written, moved and taken out."""
        d, k, s = self.name("d"), self.name("k"), self.name("s")
        shape = self.pick([(N,), (M,)])
        start = f"{d} = {{'a': {self.array(shape, 1)}, 'b': {self.array(shape, 1)}}}"
        changes = [f"{d}['a'] = {d}['b']", f"{d}['b'] *= {self.scalar(1)}",
                   f"{d}['c'] = {self.array(shape, 1)}", f"{d}.update(a={self.array(shape, 1)})",
                   f"{d}['a'][0] = {self.scalar(1)}", f"{d}.setdefault('a', 0.0)[1] *= 0.5",
                   f"{d}['c'] = {d}.pop('a')\n", f"{d}['a'], {d}['b'] = {d}['b'], {d}['a']",
                   f"{d} = {{**{d}, 'a': {d}['b'] * 0.5}}"]  # fmt: skip
        lines = [self.pick(changes).strip() for _ in range(self.choose(3))]
        if any("pop" in line for line in lines):
            lines = [line for line in lines if "pop" in line]
        loop = self.pick(
            [(f"for {k} in {d}:", [f"{s} = np.tanh({s} + np.sum({d}[{k}]))"]),
             (f"for {k} in {d}.values():", [f"{s} = {s} * 0.5 + {k}[0] * {k}[-1]"]),
             (f"for {k} in list({d}):", [f"{d}[{k}] = {d}[{k}] * {s}"])]
        )  # fmt: skip
        first = f"{s} = {self.scalar(1)}"
        self.scalars[s] = True
        self.arrays[f"{d}['b']"] = shape
        return [start, *lines, first, loop]

    def make_closure(self):
        """A function that reads, writes and rebinds what is outside."""
        f, v = self.name("f"), self.name("v")
        plain = [n for n in self.scalars if n.isidentifier()]
        array = self.pick(self.with_shape((N,)))
        changes = [f"{array}[{self.index(N)}] *= {v}", f"{array}[1:] += {v} * {array}[:-1]"]
        body = [self.pick(changes)] if self.chance(50) else []
        head = []
        if plain and self.chance(60) and self.depth == 1:
            kept = self.pick(plain)
            if kept != "z":
                head = [f"nonlocal {kept}"]
                body.append(f"{kept} = np.tanh({kept} + {v} * {self.scalar(0)})")
        if self.chance(30):
            body = [(f"if {v} > {self.constant()}:", body or ["pass"])]
        body.append(f"return {v} * {self.scalar(1)} + {array}[0] * 0.1")
        self.functions.append(f)
        return [(f"def {f}({v}):", [*head, *body])]

    def make_generator(self):
        """Values yielded one by one, while what they are made of changes."""
        g, v, s, p = (self.name(c) for c in ("g", "v", "s", "s"))
        array = self.pick(self.with_shape((N,)))
        stop = (f"if {v} > {self.constant()}:", [self.pick(["return", "continue"])])
        body = [f"{s} = np.tanh({s} + {v})", f"yield {s} * {self.scalar(0)}"]
        if self.chance(50):
            body.insert(self.choose(2), stop)
        if self.chance(30):
            body.append(f"yield {v} * {s}")
        inner = [f"{s} = {self.scalar(1)}", (f"for {v} in {array}:", body)]
        made = (f"def {g}():", inner)
        total = self.name("s")
        if self.chance(50):
            self.scalars[total] = True
            return [made, f"{total} = sum({g}())"]
        saved = dict(self.scalars)
        self.scalars[p] = True
        self.loops += 1
        block = self.block(2)
        self.loops -= 1
        self.scalars = saved
        return [made, (f"for {p} in {g}():", block)]

    def make_match(self):
        """Names captured where a pattern matches, and as before where it doesn't."""
        s, t, a = self.name("s"), self.name("s"), self.name("a")
        (start, other), array = (self.bounded_scalar() for _ in "ab"), self.array((N,), 1)
        saved = dict(self.scalars), dict(self.arrays)
        self.scalars[s] = self.scalars[t] = True
        self.arrays[a] = (N,)
        known = self.choose(3)
        if self.objects and self.chance(40):
            subject = self.pick(self.objects)
            patterns = [f"State(u={a}, t={s})", f"State(t=0.5 | 0.3 as {s})", f"State(t={s})",
                        f"State(t={s}, u=_) if {self.test()}", f"State() if {s} > 0.2"]  # fmt: skip
        else:
            subject = self.pick(
                [f"({known}, {self.scalar(1)}, {array})",
                 f"[{known}, {self.scalar(0)}, {array}]",
                 f"({known}, {self.pick(['0.5', '0.3'])} if {self.test()} else {s}, {array})"]
            )  # fmt: skip
            patterns = [f"(1, {s}, {a})", f"(0, 0.5 | 0.3, {a}) if {self.test()}",
                        f"(_, 0.5 as {s}, _) | (_, {s}, _) if {s} > {self.constant()}",
                        f"(_, 0.5, *_) | (2, 0.3, _) if {s} > {t}", f"({t}, {s}, _) if {s} > {t}",
                        f"(0 | 1, {s}, {a}) if {self.test()}", f"(_, {s}, {a})"]  # fmt: skip
        chosen = [self.pick(patterns) for _ in range(1 + self.choose(3))]
        cases = [(f"case {p}:", self.block(2)) for p in chosen]
        if self.chance(50):
            cases.append(("case _:", self.block(2)))
        self.scalars, self.arrays = saved
        self.scalars[s], self.arrays[a] = True, (N,)
        head = [f"{s}, {t} = {start}, {other}", f"{a} = {array}"]
        return [*head, (f"match {subject}:", cases)]

    def make_attempt(self):
        """What is tried, and left on the way."""
        loops = self.loops
        self.loops = loops if self.chance(50) else 0
        error = self.pick(["RuntimeError", "RuntimeError", "KeyError"])
        test, cleaned = self.test(), self.chance(30)
        if cleaned:  # what only the run knows is refused
            test = self.pick(["3 > 2", "3 < 2"])
        raised = (f"if {test}:", [f"raise {error}"])
        if not cleaned and self.chance(40):
            raised = (f"for {self.name('i')} in range(3):", [raised, *self.block(1)])
        body = [*self.block(2), raised, *self.block(2)]
        if cleaned and self.chance(60):
            body = [("try:", body), ("finally:", self.block(1))]
        elif cleaned:
            o = self.named_object()
            made = f"{o} = State({self.array((N,), 1)}, {self.scalar(1)})"
            body = [made, (f"with {o}:", body)]
        caught = self.block(2)
        final = self.block(1) if self.chance(30) else []
        self.loops = loops
        lines = [
            ("try:", body),
            (f"except {self.pick([error, '(RuntimeError, KeyError)'])}:", caught),
        ]
        return [*lines, ("finally:", final)] if final else lines

    def counted(self):
        index = self.name("i")
        bounds = self.pick(["range(3)", "range(n)", "range(0)", "range(1)", "range(len(x) - 1)"])
        self.loops += 1
        body = self.block(2)
        self.loops -= 1
        return f"for {index} in {bounds}:", body

    def make_jump(self):
        return [(f"if {self.test()}:", [self.pick(["break", "continue"])])]

    def make_early(self):
        return [(f"if {self.test()}:", [f"return {self.result()}"])]

    def result(self):
        """A number made of most of what there is; what is left out is used inside alone."""
        terms = list(self.scalars)
        terms += [f"np.sum({name} * {self.constant()})" for name in self.arrays]
        return " + ".join([t for t in terms if self.chance(70)] or terms)


def program(choose):
    """A random program, as a tree of lines: a list of lines and of (line, block)."""
    p = Program(choose)
    p.arrays = {"x": (N,), "w": (M, N)}
    p.scalars = {"z": True}
    p.depth = 1
    lines = []
    if p.chance(50):
        lines += [f"{name} = {name}.copy()" for name in ("x", "w") if p.chance(60)]
    for _ in range(2 + p.choose(8)):
        lines += p.statement()
    total = "total"
    lines.append(f"{total} = {p.result()}")
    for name, (item, _, _) in p.lists.items():
        if item == "pair":
            lines.append((f"for p, q in {name}:", [f"{total} = {total} + p * np.sum(q)"]))
        else:
            lines.append((f"for v in {name}:", [f"{total} = {total} + np.sum(np.sin(v))"]))
    lines.append(f"return {total}")
    return lines


def text_of(lines, indent="    "):
    """The source text of a tree of lines."""
    out = []
    for line in lines:
        if isinstance(line, tuple):
            head, body = line
            out.append(indent + head)
            out.append(text_of(body, indent + "    ") if body else indent + "    pass")
        else:
            out.append(indent + line)
    return "\n".join(out)


def source(lines):
    """The whole module of a program."""
    return HELPERS + "def program(x, w, z, n):\n" + text_of(lines) + "\n"


_number = 0


def load(text):
    """The function `program` of a module's text; its source can be found by inspect."""
    global _number
    _number += 1
    filename = f"<fuzz {_number}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace = {"__name__": "fuzz"}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["program"]


def smaller(lines):
    """Programs with one statement less, or with a block in place of its statement."""
    for i, line in enumerate(lines):
        yield lines[:i] + lines[i + 1 :]
        if isinstance(line, tuple):
            head, body = line
            yield lines[:i] + body + lines[i + 1 :]
            for b in smaller(body):
                yield [*lines[:i], (head, b), *lines[i + 1 :]]


__all__ = ["load", "operator", "program", "smaller", "source"]
