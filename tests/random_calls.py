"""Random programs that ask what their arguments are, called with many kinds of them in turn.

Numbers and arrays of all dtypes, ranks, layouts and lengths, lists, tuples, dicts and objects, one
array twice, None: each call's gradient must be the one that differences tell, whatever the gradient
was called with before. `python -m tests.random_calls COUNT [first seed]` prints what fails.
"""

from __future__ import annotations

import random
import re
import sys
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

import srcgrad

from .random_statements import Wrong, loaded, smaller

BEFORE = '''import numpy as np

class Box:
    def __init__(self, v, w=None): self.v, self.w = v, w

def numbers(v):
    """All the numbers in a value, as a sum."""
    if v is None: return 0.25
    if isinstance(v, (list, tuple)): return sum(numbers(u) * (k + 1) for k, u in enumerate(v))
    if isinstance(v, dict): return sum(numbers(u) * len(k) for k, u in v.items())
    if isinstance(v, Box): return numbers(v.v) * 2 + numbers(v.w)
    if isinstance(v, str): return 0.1 * len(v)
    return np.sum(np.sin(v) * 1.5).real

def scaled(v, by=2.0, *more, shift=0.0, **named):
    return v * by + shift + sum(more) + sum(named.values()) * 0.5

'''
STATEMENTS = """
t = t + numbers(NAME)
t = t + numbers(NAME) * numbers(NAME)
t = t * numbers(NAME)
NAME = NUMBER * 1.5
NAME = ARRAY * 1.5
NAME *= NUMBER
NAME += 1
NAME -= NAME * 0.5
NAME = NAME if TEST else OTHER
NAME = OTHER
NAME, NAME = NAME, NAME
if TEST: BLOCK
if TEST: BLOCK ELSE BLOCK
if isinstance(NAME, np.ndarray): STORE
if isinstance(NAME, np.ndarray) and NAME.ndim: STORE
if isinstance(NAME, np.ndarray) and NAME.size: STORE
if isinstance(NAME, list): CHANGE
if isinstance(NAME, list) and NAME: CHANGE
if isinstance(NAME, dict): KEYED
if isinstance(NAME, Box): NAME.v = NAME.v * NUMBER
if isinstance(NAME, Box): NAME = NAME.v
if isinstance(NAME, (list, tuple)): NAME = np.array([numbers(u) for u in NAME])
for u in np.atleast_1d(ARRAY): t = t + np.sum(u * NUMBER).real * 0.5
for i in range(np.ndim(ARRAY)): t = t + numbers(NAME) * i
for i in range(len(NAME) if hasattr(NAME, "__len__") else 2): t = t * 0.9 + numbers(NAME)
t = t + scaled(NUMBER, NUMBER)
t = t + scaled(NUMBER, *[numbers(u) for u in np.atleast_1d(ARRAY)])
t = t + np.ndim(ARRAY) * numbers(NAME) + np.size(ARRAY)
t = t + np.sum(ARRAY * ARRAY).real
t = t + np.sum(np.abs(ARRAY + 3))
t = t + np.sum(np.asarray(ARRAY).T.reshape(-1)[:3]).real * NUMBER
t = t + np.mean(ARRAY).real
t = t + np.sum(np.asarray(ARRAY)[..., :2] * NUMBER).real
t = t + np.sum(np.asarray(ARRAY)[::-1] * NUMBER).real
t = t + np.sum(np.max(np.real(ARRAY), axis=0) * NUMBER).real
t = t + np.sum(np.cumsum(ARRAY) * NUMBER).real
t = t + np.sum(np.dot(ARRAY, ARRAY)).real
t = t + np.sum(np.outer(ARRAY, ARRAY) * NUMBER).real
t = t + np.sum(np.where(np.real(ARRAY) > 0, ARRAY, ARRAY)).real
t = t + np.sum(np.stack([ARRAY, ARRAY]) * NUMBER).real
t = t + np.sum(np.broadcast_to(ARRAY, (2, *np.shape(ARRAY))) * NUMBER).real
t = t + np.sum(np.add.outer(ARRAY, ARRAY) ** 2).real
t = t + float(np.size(ARRAY) and np.sum(np.real(ARRAY)) * NUMBER)
t = t + np.linalg.norm(np.ravel(ARRAY)) * NUMBER
try: t = t + np.sum(ARRAY @ ARRAY).real
try: t = t + np.asarray(ARRAY)[1].real.sum() * NUMBER
try: t = t + NAME[0] * NUMBER
try: t = t + NAME["a"] * NUMBER
try: NAME[0] = NUMBER
try: NAME = NAME + NAME
""".strip().splitlines()
STORES = """
NAME[...] = NUMBER
NAME[:1] = NUMBER
NAME[-1:] *= NUMBER
NAME[...] = NAME * NAME
NAME.T[...] *= 0.5
NAME.reshape(-1)[:2] *= 0.5
NAME.ravel()[1:] = NUMBER
NAME.flat[:2] = NUMBER
np.multiply(NAME, 0.5, out=NAME)
NAME += NAME[::-1].copy()
NAME[::-1] += NAME
NAME[1:] += NAME[:-1]
NAME[NAME.real > 0.2] *= 2
NAME.real[...] *= 0.5
NAME[()] *= 2
NAME.fill(NUMBER)
NAME = NAME.astype(float)
NAME = NAME.copy()
NAME = NAME.view()
NAME = np.ascontiguousarray(NAME)
NAME = NAME[0]
NAME = NAME[None]
NAME = NAME[1:]
NAME.sort()
""".strip().splitlines()
CHANGES = """
NAME.append(NUMBER)
NAME[0] = NUMBER
NAME[-1] *= 2
NAME.pop()
NAME += [NUMBER]
NAME = NAME[1:]
NAME = NAME * 2
NAME.reverse()
NAME = np.array(NAME)
NAME.insert(0, NUMBER)
NAME = [numbers(u) for u in NAME]
""".strip().splitlines()
KEYED = """
NAME["a"] = NUMBER
NAME["z"] = NUMBER
NAME.pop("a", 0.0)
NAME.update(q=NUMBER)
NAME = {k: numbers(v) * 2 for k, v in NAME.items()}
NAME = NAME.get("a", NUMBER)
NAME = list(NAME.values())
NAME = {**NAME, "b": NUMBER}
for k in list(NAME): NAME[k] = numbers(NAME[k]) * 0.5
for i, k in enumerate(NAME): t = t + numbers(NAME[k]) * i
""".strip().splitlines()
TESTS = """
np.ndim(ARRAY) == 1
np.ndim(ARRAY) > 1
np.size(ARRAY) > 2
np.size(ARRAY)
np.shape(ARRAY) == np.shape(ARRAY)
isinstance(NAME, float)
isinstance(NAME, (int, bool))
isinstance(NAME, np.ndarray)
isinstance(NAME, list)
type(NAME) is type(NAME)
NAME is None
NAME is NAME
np.iscomplexobj(NAME)
hasattr(NAME, "__len__")
np.result_type(ARRAY).kind == "f"
numbers(NAME) > 0.3
t > 0.5
mode == "a"
mode
np.isscalar(NAME)
""".strip().splitlines()
TABLES = {"STORE": STORES, "CHANGE": CHANGES, "KEYED": KEYED}
ATOMS = {
    "NAME": ["x", "y", "x", "z"],
    "NUMBER": ["0.5", "numbers(x)", "numbers(y)", "t", "2", "numbers(z)"],
    "ARRAY": ["x", "y", "z", "x", "y", "numbers(x)", "t"],
    "OTHER": ["x", "y", "t", "0.5", "None", "x"],
}
WORDS = re.compile("|".join(ATOMS))
HEADS = [
    "def f(x, y, mode=None):",
    "def f(x, y=1.5, mode='a'):",
    "def f(x, y=None, *, mode='b'):",
    "def f(x, *rest, mode=None):\n    y = rest[0] if rest else x",
    "def f(x, y=2, *rest, mode='', **named):\n    t = sum(named.values())",
    "def f(x, /, **named):\n    y = named.get('y', 0.5)\n    mode = named.get('mode')",
    "def f(x, y=(1.0, 2.0), mode=False):",
]


class Writer:
    """Writes a program, and the arguments of its calls."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def filled(self, text: str, name: str) -> str:
        """A line with something for each word in capitals; the first NAME is the name."""
        names = iter([name])

        def atom(match: re.Match[str]) -> str:
            if match[0] == "NAME" and self.random.random() < 0.6:
                return next(names, name)
            return self.random.choice(ATOMS[match[0]])

        text = text.replace("NAME", name, 1)
        while WORDS.search(text):
            text = WORDS.sub(atom, text)
        return text

    def statement(self, depth: int) -> list[str]:
        r = self.random
        text, name = r.choice(STATEMENTS), r.choice(ATOMS["NAME"])
        if text.startswith("try: "):
            error = r.choice(["Exception", "(TypeError, ValueError, IndexError, KeyError)"])
            other = self.filled("t = t + NUMBER", name)
            line = self.filled(text[5:], name)
            return ["try:", f"    {line}", f"except {error}:", f"    {other}"]
        if "BLOCK" in text:
            if depth > 1:
                return ["t = t + 0.1"]
            rows = [f"if {self.filled(r.choice(TESTS), name)}:", *self.block(depth + 1)]
            return [*rows, "else:", *self.block(depth + 1)] if "ELSE" in text else rows
        guard, _, table = text.partition(": ")
        if table in TABLES:
            line = self.filled(r.choice(TABLES[table]), name)
            return [f"{guard.replace('NAME', name)}:", f"    {line}"]
        return [self.filled(text.replace("TEST", r.choice(TESTS)), name)]

    def block(self, depth: int) -> list[str]:
        count = self.random.randint(1, 3)
        return [f"    {row}" for _ in range(count) for row in self.statement(depth)]

    def source(self) -> str:
        r = self.random
        head = r.choice(HEADS)
        rows = ["t = t + 0.2" if "t = " in head else "t = 0.3"]
        rows.append("z = " + r.choice(["x", "y", "None", "0.5"]))
        rows += [row for _ in range(r.randint(2, 7)) for row in self.statement(0)]
        body = "\n".join(f"    {row}" for row in rows)
        end = "t + numbers(x) + numbers(y) * 0.5 + numbers(z) * 0.3"
        return f"{BEFORE}{head}\n{body}\n    return {end}\n"

    def calls(self, source: str) -> list[Call]:
        """Four calls, some of which are made several times."""
        kinds = [self.call(source) for _ in range(4)]
        return [*kinds, *self.random.choices(kinds, k=6)]

    def call(self, source: str) -> Call:
        r = self.random
        x, y = self.argument(MAKERS), self.argument(MAKERS + OTHERS)
        if r.random() < 0.1:
            y = x
        args, named = [x], {}
        mode = self.argument(["'a'", "None", "True", "'b'"])
        head = source[source.index("def f(") :].partition(":")[0]
        if "y" not in head.replace("def f(x, y", "y"):  # x, *rest or x, /, **named
            if "*rest" in head:
                args += [y] * r.choice([0, 1, 1, 2])
            elif r.random() < 0.8:
                named["y"] = y
        elif "y," in head or r.random() < 0.7:
            if r.random() < 0.7:
                args.append(y)
            else:
                named["y"] = y
        if "y=2, *rest" in head:
            if len(args) == 2 and r.random() < 0.3:
                args.append(self.argument(["0.5"]))
            if r.random() < 0.4:
                named["extra"] = self.argument(["1.5", "2"])
        if r.random() < 0.5:
            named["mode"] = mode
        return args, named

    def argument(self, texts: list[str]) -> Argument:
        return Argument(self.random.choice(texts), self.random.randrange(10**6))


# What makes an argument; `A(shape)` is an array of numbers, `N()` a number
MAKERS = """
N()
N()
np.float64(N())
np.float32(N())
A()
A(1)
A(3)
A(3)
A(5)
A(2, 3)
A(3, 3)
A(3, 1)
A(1, 3)
A(0)
A(2, 0)
A(2, 2, 2)
np.asfortranarray(A(2, 3))
A(3)[::-1]
A(6)[::2]
A(3, 2).T
A(3, 3).T
A(3).astype(np.float32)
A(2, 3).astype(np.float32)
A(3) + 1j * A(3)
A(2, 2) * 1j
complex(N(), N())
(A(3) + 1j * A(3)).astype(np.complex64)
[N(), N()]
[N(), N(), N()]
[N() for _ in range(6)]
[N() for _ in range(20)]
[]
[A(2), N()]
[[N(), N()], [N(), N()]]
(N(), N())
(N(), A(3))
(N(),)
{'a': N(), 'b': A(2)}
{'b': N(), 'a': N()}
{'a': N()}
{'a': [N(), N()], 'z': N()}
Box(N())
Box(A(2), N())
Box(Box(A(3)), [N()])
""".strip().splitlines()
OTHERS = """
2
3
True
None
'abc'
np.arange(3)
np.arange(6).reshape(2, 3)
np.array([True, False, True])
np.int64(4)
np.array(3)
[1, 2, 3]
[1, 2.5]
(1, 2)
[1] * 6
[1.5, 2] * 3
{'a': 2, 'b': 1.5}
{}
()
np.bool_(True)
np.array([])
""".strip().splitlines()


# What errors say that are refusals, or that `except Exception` isn't asked for: shapes at run time
REFUSED = (
    "share memory", "is written into", "without numbers in it", "can't be differentiated",
    "can't follow", "places of the arguments", "matmul:", "broadcast together", "inhomogeneous",
)  # fmt: skip


@dataclass(frozen=True)
class Argument:
    """An argument: made of numbers of a seed, moved along those of another."""

    text: str
    seed: int

    def made(self, box: Any, step: float = 0.0) -> Any:
        at, along = (np.random.default_rng((k, self.seed)) for k in range(2))
        return self.of(lambda *shape: at.normal(size=shape) + step * along.normal(size=shape), box)

    def along(self, box: Any) -> Any:
        along = np.random.default_rng((1, self.seed))
        return self.of(lambda *shape: along.normal(size=shape), box)

    def of(self, drawn: Any, box: Any) -> Any:
        names = {"A": lambda *shape: np.array(drawn(*shape)), "N": lambda: float(drawn())}
        return eval(self.text, {"np": np, "Box": box, **names})


Call = tuple[list[Argument], dict[str, Argument]]


def made(call: Call, box: Any, step: float = 0.0) -> tuple[list[Any], dict[str, Any]]:
    """The arguments, the first one moved; one that stands in two places is one object."""
    args, named = call
    done = {a: a.made(box, step if a is args[0] else 0.0) for a in [*args, *named.values()]}
    return [done[a] for a in args], {k: done[a] for k, a in named.items()}


def slope(f: Any, call: Call, box: Any) -> float | None:
    """The derivative by the first argument, along its direction; None if there is none."""

    def at(step: float) -> Any:
        args, named = made(call, box, step)
        return f(*args, **named)

    try:
        if np.iscomplexobj(at(0.0)) or np.ndim(at(0.0)):
            return None
        found = [(at(h) - at(-h)) / (2 * h) for h in (1e-6, 2e-6)]
    except Exception:  # the program itself fails
        return None
    fine = np.all(np.isfinite(found)) and abs(found[0]) < 1e4
    return float(found[0]) if fine and np.allclose(*found, rtol=1e-5, atol=1e-5) else None


def total(gradient: Any, direction: Any) -> float:
    """The derivative along a direction, from a gradient that must be nested and typed as it is."""
    if isinstance(direction, dict):
        return sum(total(gradient[k], v) for k, v in direction.items())
    if isinstance(direction, (list, tuple)):
        return sum(total(g, v) for g, v in zip(gradient, direction, strict=True))
    if hasattr(direction, "v"):
        return total(gradient.v, direction.v) + total(gradient.w, direction.w)
    if direction is None:
        return 0.0
    g, d = np.asarray(gradient), np.asarray(direction)
    if (g.shape, g.dtype) != (d.shape, d.dtype):
        raise Wrong(f"{g.dtype} of shape {g.shape} for {d.dtype} of shape {d.shape}")
    return float(np.real(np.sum(g * d)))


def same(a: Any, b: Any) -> bool:
    if hasattr(a, "v"):
        return same([a.v, a.w], [b.v, b.w])
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and np.array_equal(a, b)


def check_call(f: Any, gradient: Any, call: Call, box: Any) -> str:
    """What becomes of a call: "right", "invalid", or "refused: ...".

    Raises:
        Wrong: it is neither.
    """
    expected = slope(f, call, box)
    args, named = made(call, box)
    try:
        value, found = gradient(*args, **named)
    except srcgrad.UnsupportedError as error:
        return f"refused: {error.message}"
    except Exception as error:
        if expected is None or any(part in str(error) for part in REFUSED):
            return "invalid"
        raise Wrong(f"{type(error).__name__}: {error}") from error
    if expected is None:
        return "invalid"
    again, names = made(call, box)
    if not same(args, again) or not same(named, names):
        raise Wrong("an argument is changed")
    texts = [a.text for a in [*call[0], *call[1].values()]]
    single = any("32" in text or "64)" in text for text in texts)
    want = f(*again, **names)
    if not np.allclose(value, want, rtol=1e-4 if single else 1e-9):
        raise Wrong(f"the value is {value}, not {want}")
    if call[0][0] in [*call[0][1:], *call[1].values()]:
        return "value"
    along = total(found, call[0][0].along(box))
    if not single and not np.isclose(along, expected, rtol=1e-4, atol=1e-4 * (1 + abs(value))):
        raise Wrong(f"the derivative is {along}, not {expected}")
    return "right"


def check(source: str, calls: list[Call]) -> list[str]:
    """What becomes of the calls of one gradient.

    Raises:
        Wrong: one is wrong, or refused because of those before it.
    """
    space, words = loaded(source), []
    f, box = space["f"], space["Box"]
    gradient = srcgrad.value_and_grad(f)
    for call in calls:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                word = check_call(f, gradient, call, box)
                if word.startswith("refused") and len(calls) > 1:
                    alone = loaded(source)
                    fresh = srcgrad.value_and_grad(alone["f"])
                    if check_call(alone["f"], fresh, call, alone["Box"]) == "right":
                        raise Wrong("it is refused after other calls only")
            except Wrong as error:
                texts = [a.text for a in call[0]], {k: a.text for k, a in call[1].items()}
                raise Wrong(f"{texts}: {error}") from error
        words.append(word)
    return words


def fails(source: str, calls: list[Call]) -> bool:
    try:
        check(source, calls)
    except Wrong:
        return True
    except Exception:  # it is no program any more
        return False
    return False


def shrunk(source: str, calls: list[Call]) -> tuple[str, list[Call]]:
    """A program and calls without what it is wrong without."""
    for k in reversed(range(len(calls))):
        fewer = calls[:k] + calls[k + 1 :]
        if fewer and fails(source, fewer):
            calls = fewer
    head, _, text = source.partition("def f(")
    text, again = "def f(" + text, True
    while again:
        again = False
        for candidate in smaller(text):
            if fails(head + candidate, calls):
                text, again = candidate, True
                break
    return head + text, calls


def main(count: int, first: int) -> None:
    words: Counter[str] = Counter()
    for seed in range(first, first + count):
        writer = Writer(seed)
        source = writer.source()
        calls = writer.calls(source)
        try:
            words.update(check(source, calls))
        except Wrong:
            source, calls = shrunk(source, calls)
            print(f"seed {seed}\n{source.removeprefix(BEFORE)}")
            try:
                check(source, calls)
            except Wrong as error:
                print(f"{error}\n", flush=True)
    for word, times in words.most_common(40):
        print(times, word)


if __name__ == "__main__":
    main(int(sys.argv[1]), int((sys.argv[2:] or ["0"])[0]))
