"""Random programs about names: which of them are bound where, when they are read, and to what.

Names are deleted and bound again on some paths, hold one kind of value after another, are read by
functions defined before, by lambdas made in loops, by comprehensions, class bodies and defaults;
loops and `try` end by `else`, `finally`, `return`, `break` and `continue`; arguments are handed on
by position, by name and by `*` and `**`, through `partial`, getters, tables of functions and keys.
"""

from __future__ import annotations

import random
import textwrap

HEAD = """\
import functools
import math
import operator
from functools import partial

import numpy as np

RATE = 0.75
SIZES = (2, 3)
NAMES = {"one": 1.5, "two": 2.5}
WEIGHTS = np.array([0.5, 1.5, 2.5])


def worth(v):
    if v is None:
        return 0.25
    if v is np or v is math:
        return float(v.cos(0.5))
    if isinstance(v, str):
        return float(len(v))
    if isinstance(v, (list, tuple)):
        return sum(worth(u) for u in v) * 0.5
    if isinstance(v, dict):
        return sum(worth(u) * (1 + k) for k, u in enumerate(v.values()))
    if callable(v):
        return v(1.5)
    if isinstance(v, np.ndarray):
        return float(v.size) + np.sum(v * v)
    return v * 1.5


def matched(v):
    match v:
        case None:
            return 0.5
        case str() as s:
            return len(s) * 0.1
        case [first, *rest]:
            return worth(first) + len(rest)
        case {"p": inner}:
            return worth(inner) * 2
        case int() | float() as number if number > 1:
            return number
        case _:
            return worth(v) * 0.9


def kinds(u, /, v, w=0.5, *more, by=1.0, **named):
    return u * v - w * by + 0.1 * sum(more) + sum(named.values()) * 0.3


def handed(*args, **kwargs):
    return kinds(*args, **kwargs)


def named_only(*, p, q=RATE):
    return p * q


def kept(v, seen=[]):
    return v + 0.1 * len(seen)


def grown(v, depth, into=None):
    into = [] if into is None else into
    into.append(v * depth)
    if depth > 0:
        grown(v * 0.5, depth - 1, into)
    return into


def early(v, s):
    for k in range(4):
        try:
            if v > k:
                continue
            if s > 1.2:
                return v * s
            v = v + 0.1
        finally:
            s = s * 0.9
    else:
        v = v * 1.1
    return v - s


def ending(v, log):
    try:
        log.append(v)
        if v > 1.0:
            return v * v
        log.append(v * 0.5)
    finally:
        log.append(0.3)
    return v


def twice(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs) + function(*args, **kwargs) * 0.5
    return inner


@twice
def decorated(v, by=2.0):
    return v * by


def f(x, n):
    p, q, w, t = x[0], x[1] * 0.5, 0.7, 0.0
    y = x * 1.5
    L = [x[2], 0.4, x[3] * x[0]]
    D = {"p": x[4], "q": 0.3}
    z = x[5]
    log = []
    g = h = lambda v: v * 0.5
    def say(v):
        log.append(v)
        return v
"""

TAIL = """\
    t = t + p * 0.3 + q * 0.2 + w + np.sum(y * y) * 0.1 + g(0.5) + h(p) * 0.1 + len(log) * 0.01
    t = t + sum(L) * 0.1 + sum(D.values()) * 0.2 + 0.01 * sum(log)
    return t + worth(z) * 0.1
"""

# {e}: a number; {c}: a condition; {i}: a place; {m}: p, q or w; {k}: of a loop; {a}: anything.
STATEMENTS = """\
{m} = {e}
{m} = {e}
{m} += {e}
z = {a}
z = {a}
t += worth(z) * 0.2
t += matched(z) * 0.2
t += matched({a}) * 0.1
z, {m} = {e}, {m} * 0.9
y[{i}] = {e}
y[{i}] += {e}
L.append({e})
L[{i}] = {e}
D["r"] = {e}
D[f"{n % 2}"] = {e}
D[f"k{int({m}):02d}"] = {e}; t += len(D)
del {m}; {m} = {e}
del D["p"]; D["p"] = {e}
del L[{i}]; L.append({e}); L.insert(0, {e})
del z; z = {a}
t += sum(v * {e} for v in L) * 0.1
g = lambda v: v * {m}
h = lambda v, s={m}: v * s
g, h = h, g
t += g({e}) + h({e})
t += [({m} := v * 0.5) for v in L][-1]
t += sum({m} for {m} in L)
t += sum([{m} * v for {m}, v in enumerate(x[:3])])
t += sum(v for v in L if (w := v * 0.3) < 0.4)
t += {k} if ({k} := {e}) > 1 else {k} * 0.5
t += sum(u * v for u in L[:2] for v in (u, {m}))
t += max(L) - min(L, key=lambda v: (v - {m}) ** 2)
t += sorted(L, key=lambda v: -v * {m})[0]
t += sorted([(v, k) for k, v in enumerate(L)], reverse=True)[0][1]
t += max(D, key=D.get) == "p"
t += D[max(D, key=lambda k: D[k] * {m})]
t += min([("a", {e}), ("b", {e})], key=operator.itemgetter(1))[1]
t += operator.itemgetter("p", "q")(D)[0] * operator.itemgetter(0)(L)
t += operator.attrgetter("real")(x[0]) * operator.methodcaller("sum")(y)
t += partial(kinds, {e}, w={m})({e}, by=0.3)
t += partial(operator.mul, {m})({e})
z = partial(kinds, {e}, {m})
z = partial(h, s={e}) if {c} else {m}
t += kinds({e}, {e}, *L[:2], by={m})
t += kinds({e}, v={e}, u={m})
t += handed({e}, {e}, by={e}, **D)
t += handed(*L, **{"by": {e}})
t += handed(*(L[:2]), *[{e}], extra={e})
t += named_only(p={e}) + named_only(**{"p": {m}, "q": {e}})
t += kept({e})
t += sum(grown({e}, n % 3))
t += early({e}, {m})
t += ending({e}, log)
t += decorated({e}) + decorated({e}, by={m})
t += {"p": worth, "q": matched}["p" if {c} else "q"]({e})
t += (g, h)[bool({c})]({e})
t += [lambda v: v, lambda v: v * {m}][n % 2]({e})
t += RATE * {e} + SIZES[bool({c})] + NAMES["one" if {c} else "two"] + WEIGHTS[n % 3]
if say({e}) < say({e}) < say({e}): t += {e}
t += (say({e}) > 0.5) + (say({e}) < say({m}) != 3)
t += {e} if say({e}) > 1 and say({e}) < 2 or say({m}) > 0 else 0.5
p, q = q, p
{m}, *L = [{e}, *L]
(p, q), w = ({e}, {e}), {m}
for {m} in L: t += {m} * 0.1
for y[{i}] in L: t += y[{i}] * 0.1
for D["p"], {m} in zip(L, x): t += {m} * D["p"]
assert n >= 0, f"{n} is negative"
t += float(f"{n}") * {e}
t += len(f"{n!r:>4}") * {e}
t += (lambda *a, k={m}: sum(a) * k)(*L)
t += (lambda p, q=p: p * q)({e})
t += (lambda: {m} + n)()
t += ({c}) + ({c}) + any(v > {e} for v in L) + all(v > {e} for v in L[:2])
t += ({e}, {m}) == ({m}, {e}) or {e} in L
t += (z is None) + (D.get("r") == None) + (D.get("r") is None)
t += functools.reduce(lambda u, v: u * 0.5 + v, L, {m})
t += sum(map(lambda v: v * {m}, filter(lambda v: v > 0.5, L)))
t += any(v > {m} for v in L) + all(say(v) > 0 for v in L)
t += sum({v: v * {m} for v in range(n)}.values())
t += next((v for v in L if v > {e}), {m})
"""
STATEMENTS = [line for line in STATEMENTS.splitlines() if line]

BLOCK_TEXTS = """\
if {c}:
    p = {e}
    del w
else:
    del p
    w = {e}
try:
    t += p
except NameError:
    p = {e}
try:
    t += w * 2
except UnboundLocalError as error:
    w = {e}
    t += "w" in str(error)
---
for {k} in range(n):
    if {c}:
        u = {e}
try:
    t += u
except NameError:
    u = {e}
t += u
del u
---
fs = [lambda v: v * k + {m} for k in range(3)]
for fn in fs:
    t += fn({e}) * 0.1
---
fs = []
for k in range(n):
    fs.append(lambda v, k=k: v * k + {m})
    @fs.append
    def fn(v):
        return v * k * {m}
{s}
for fn in fs:
    t += fn({e}) * 0.1
---
def late():
    return {m} * {e}
{s}
t += late()
{s}
t += late() * 0.5
---
def bump(v):
    nonlocal p, z
    p = p * 0.5 + v
    z = v
    return p * {e}
t += bump({e})
{s}
t += bump({e}) - bump({m})
---
def outer(v, k=3):
    q = v
    def mid(u):
        nonlocal q
        q = q * 0.5 + u
        def deep():
            nonlocal q, w
            q += w * 0.1
            w = q * 0.3
            return q + p
        return deep
    return mid(v)() + mid(k)() + q
t += outer({e}) + outer({m}, k={e})
---
def counting(start, acc=[]):
    acc.append(start)
    return sum(acc) * {m}
t += counting({e}) + counting({e}) * 0.5
---
def with_default(v=p, u=(q, w), s=L):
    return v * u[0] + u[1] + s[0] + len(s)
{s}
t += with_default() + with_default(u=({e}, {e}))
---
if {c}:
    import math as lib
else:
    import numpy as lib
t += lib.sin({m}) + float(lib.pi)
---
if {c}:
    from math import exp as function
else:
    def function(v):
        return v * {m}
t += function({e} * 0.1)
---
for {k} in L:
    if {k} > {e}:
        break
    {s}
else:
    {s}
---
for {k} in range(n):
    if {c}:
        break
    {s}
else:
    t += {e}
t += {m}
---
r = 0
while r < n:
    r += 1
    if {c}:
        continue
    {s}
    if {c}:
        break
else:
    {s}
---
for {k} in range(n):
    try:
        if {c}:
            break
        {s}
    finally:
        {m} = {m} * 0.9 + 0.1
---
for {k} in range(n):
    try:
        {s}
        if {c}:
            continue
        t += {e}
    finally:
        t += 0.1 * {m}
---
def leaving(v):
    for k in range(n):
        try:
            if v > {e}:
                return v * k
            v = v * 1.5
        finally:
            log.append(v)
    return v
t += leaving({m})
---
def overruled(v):
    while True:
        try:
            return v * {e}
        finally:
            if {c}:
                break
    return v
t += overruled({e})
---
try:
    {s}
    if {c}:
        raise ValueError({e})
    {s}
except ValueError as error:
    t += error.args[0]
else:
    {s}
finally:
    w = w * 0.5
---
class Local:
    base = {m}
    p = scale = base * 2
    items = [v * p for v in L]
    if n > 1:
        extra = scale + {e}
    else:
        extra = 1.0
    def method(self, v, s=scale):
        return v * s + self.base + p
    @staticmethod
    def still(v, by=base):
        return v * by
    @classmethod
    def of(cls, v):
        return cls.scale * v
    @property
    def seen(self):
        return self.extra * q
{s}
t += Local().method({e}) + Local.still({e}) + Local.of({m}) + Local().seen + Local.items[0]
---
seen = near = False
for {k} in L:
    if {c}:
        seen = True
if {c}:
    near = True
t += seen + near + ({c})
---
best = None
for {k} in range(n):
    if {c}:
        best = ({e}, {k})
last = {m} if {c} else None
t += (best is last) + (best == None)
t += 0.5 if best is None else best[0]
---
class Pair:
    def __init__(self, u, v):
        self.u, self.v = u, v
    def __call__(self, s):
        return self.u * s
    def get(self, name="v"):
        return getattr(self, name)
pair = Pair({e}, {m})
t += operator.attrgetter("u")(pair) * operator.methodcaller("get")(pair)
t += max([pair, Pair({e}, {e})], key=operator.attrgetter("u")).v
z = pair if {c} else pair.get
t += worth(z) if callable(z) and z is pair else {e}
z = {e}
---
p = {e}
L = [p * 0.5 for p in L]
t += p
L = [v for v in L if v > 0][:4] + [p, q]
---
rows = [[u * v for v in L] for u in (p, q)]
t += sum(sum(row) for row in rows) * 0.1
t += sum(row[k] for k, row in enumerate(rows))
---
table = {"add": lambda u, v: u + v, "mul": operator.mul, "name": kinds}
for name in ("add", "mul", "name")[:n]:
    t += table[name]({e}, {m}) * 0.2
t += table["mul" if {c} else "add"]({m}, {e})
---
match n:
    case 0:
        p = {e}
    case 1 | 2 as s:
        q = s * {e}
    case _ if {c}:
        {s}
    case other:
        w = other * {e}
---
match (n, {e}, L):
    case (0, v, _):
        t += v
    case (k, v, [first, *_]) if v > first:
        t += v * first + k
    case (k, v, [*rest]):
        t += v * len(rest) + k
---
for {k} in range(3):
    z = ({e}, None, [{e}], {"p": {e}}, "ab")[({k} + n) % 5]
    t += worth(z) + matched(z)
---
for {k} in range(n):
    t += worth(z) * 0.1
    z = {a}
---
def recur(v, k, trail=()):
    if k <= 0:
        return v + len(trail) + sum(trail) * 0.1
    return recur(v * {m}, k - 1, trail + (v,))
t += recur({e}, n)
---
def fact(k):
    return {m} if k < 1 else k * 0.5 * fact(k - 1)
t += fact(n) + fact(2)
---
def make(k):
    state = {e}
    def step(v):
        nonlocal state
        state = state * 0.5 + v * k
        return state
    def read():
        return state
    return step, read
step, read = make({m})
step({e})
{s}
t += step({e}) * read()
---
k = 0.5
def shadow(k):
    k = k * 2
    return [k * v for v in L for k in (v, 2)][0] + k
t += shadow({e}) + k
---
it = iter(L)
t += next(it)
for {k} in it:
    t += {k} * {m}
    break
t += next(it, {e})
---
with np.errstate(all="ignore"):
    {s}
    if {c}:
        t += {e}
---
global_name = RATE
def reads():
    return RATE * global_name
{s}
t += reads() * {e}
---
if (u := {e}) > 1.0:
    z = u
elif (u := u * 2) > 1.2:
    z = [u]
t += u + worth(z) * 0.1
---
{m} = {e}
def f2(x, *, n=n):
    {m} = x * n
    return {m}
t += f2({e}) * {m}
---
for {k}, (u, *rest) in enumerate([(p, q), (q, w, p)]):
    t += u * ({k} + 1) + sum(rest)
---
def gen(v):
    try:
        for k in range(n):
            yield v * k
            v = v * {m}
    finally:
        log.append(v)
for u in gen({e}):
    t += u * 0.1
    if {c}:
        break
"""
BLOCKS = BLOCK_TEXTS.split("---\n")

NUMBERS = [
    "p", "q", "w", "p", "q", "x[{i}]", "y[{i}]", "L[{i}]", 'D["p"]', "0.5", "1.5", "g(0.5)",
    "h(x[1])", "RATE", "say(p)", "p * q", "np.sin(q)", "x[{i}] * p", "w * x[{i}]", "w + 0.1",
    "(p if {c} else q)", 'D.get("r", w)', "worth(q)", "np.tanh(p * q)", "kept(p)",
    "sum(L) * 0.1", "abs(p - q)", "L[-1] * 0.5", "float(n)", "(lambda v: v * p)(w)",
]  # fmt: skip
CONDITIONS = [
    "x[{i}] > 1.0", "p > 0.8", "q < w", "n > 1", "n % 2 == 0", "y[{i}] > {e}", "0.5 < p < 1.5",
    "len(L) > 3", "p > q or n > 2", "not q > 0.4", '"r" in D', "z is None", "callable(z)",
    "isinstance(z, (int, float))", "len(log) > 2", "(p > 0.5) == (q > 0.5)",
]  # fmt: skip
ANYTHING = [
    "{e}", "{e}", "None", "n", "x * {e}", "y", "[{e}, {e}]", "({e}, {e})", '{"p": {e}}', "L", "D",
    "lambda v: v * {e}", "g", "np", "math", '"text"', "(p, None)", "x[1:]", "[]", "()", "True",
    "partial(decorated, by={e})", "np.float64(n)", 'f"{n}"', "[None, {e}]",
]  # fmt: skip


class Writer:
    """Writes a program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.loops = 0

    def fill(self, text: str) -> str:
        """A line with its gaps filled in."""
        r = self.random
        for gap, choices in (("{a}", ANYTHING), ("{c}", CONDITIONS), ("{e}", NUMBERS)) * 3:
            while gap in text:
                text = text.replace(gap, r.choice(choices), 1)
        while "{i}" in text:
            text = text.replace("{i}", r.choice(["0", "1", "2", "-1", "n % 3"]), 1)
        return text

    def lines(self, template: str, depth: int) -> list[str]:
        self.loops += 1
        template = template.replace("{k}", f"i{self.loops}")
        lines: list[str] = []
        for line in template.replace("{m}", self.random.choice("pqw")).splitlines():
            indent = line[: len(line) - len(line.lstrip())]
            if line.strip() == "{s}":
                lines += [indent + inner for inner in self.statement(depth + 1)]
            else:
                lines.append(self.fill(line))
        return lines

    def statement(self, depth: int) -> list[str]:
        r = self.random
        if depth < 3 and r.random() < 0.45 / (1 + depth):
            return self.lines(r.choice(BLOCKS), depth)
        if depth < 3 and r.random() < 0.15:
            over = r.choice(["range(n)", "range(2)", "L[:2]", "range(1, n)"])
            head = r.choice(["if {c}:", f"for {{k}} in {over}:"])
            return self.lines(head + "\n    {s}", depth)
        return self.lines(r.choice(STATEMENTS), depth)


def program(seed: int) -> str:
    """The source of a function of six numbers and a count."""
    writer, lines = Writer(seed), []
    for _ in range(writer.random.randint(3, 8)):
        lines += writer.statement(0)
    return HEAD + textwrap.indent("\n".join(lines), "    ") + "\n" + TAIL
