"""Random `match` statements: patterns of all kinds, of values that only the run tells, too.

`python -m tests.random_matches COUNT [first seed]` shows those whose gradient is wrong.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections import Counter
from typing import Any

import numpy as np

import srcgrad

from .random_statements import loaded, smaller

BEFORE = """
import numpy as np, collections, types
from dataclasses import dataclass
class Box:
    __match_args__ = ("v", "w")
    def __init__(self, v, w=1.0): self.v, self.w = v, w
@dataclass
class Rec:
    v: object
    w: object = 2.0
Pair = collections.namedtuple("Pair", "v w")
OUT_LIST = [1.0, 2.0, 3.0]
OUT_DICT = {"a": 1.5, "b": 2.5}
OUT_LONG = [1.0] * 9
OUT_BOX = Box(2.0, 3.0)
OUT_MAP = types.MappingProxyType(OUT_DICT)
def gen(x):
    yield x[0]
    yield x[1]
def opt(x):
    if x[0] > 0.4: return (x[1], x[2])
    return None
def kind(x):
    if x[0] > 0.4: return Box(x[1], x[2])
    return Rec(x[2], 3.0)
def table(x):
    d = {}
    for i in range(len(x)):
        if x[i] > 0.4: d["abc"[i]] = x[i]
    return d
def many(x):
    out = []
    for v in x:
        if v > 0.4: out.append(v)
    return out
def boxes(x):
    out = []
    for v in x:
        if v > 0.1: out.append(Box(v) if v > 0.4 else Rec(v))
    return out

def num(v):
    if v is None: return 0.3
    if isinstance(v, str): return 0.2
    if isinstance(v, (list, tuple, collections.deque)):
        return sum([num(u) for u in v]) + 0.1 * len(v)
    if isinstance(v, dict): return sum([num(u) for u in v.values()]) + 0.2 * len(v)
    if isinstance(v, (Box, Rec)): return num(v.v) + 2 * num(v.w)
    return np.sum(v) * 1.5

"""
SUBJECTS = """
x[0]
x
(x[0], x[1])
[x[0], x[1]]
(x[0], 2, "s")
[x[0], [x[1], x[2]]]
{"a": x[0], "b": x[1]}
{"a": x[0], "c": (x[1], x[2])}
{"kind": "sin", "v": x[0]}
Box(x[0], x[1])
Rec(x[0])
Rec(Box(x[1]), x[2])
Pair(x[0], x[1])
OUT_LIST
OUT_DICT
OUT_LONG
OUT_BOX
OUT_MAP
lst
dct
obj
tup
longlst
opt(x)
opt(x) or 2.0
kind(x)
table(x)
many(x)
boxes(x)[0]
boxes(x)[-1]
collections.deque([x[0], x[1]])
collections.OrderedDict(a=x[0], b=x[1])
collections.defaultdict(float, a=x[0])
range(2)
np.float64(x[0])
list(x)
x.tolist()
tuple(x)
x.shape
len(x)
"text"
None
list(gen(x))
list(zip(x, x))[0]
dict(zip("abc", x))
{k: v for k, v in zip("ab", x)}
[v for v in x if v > 0.4]
sorted(x)
(x[0] > 0.4)
int(x[0] * 3)
(x[0], None) if x[1] > 0.3 else None
[x[0]] if x[1] > 0.3 else [x[0], x[2]]
[x[0]] * len(x)
lst[1:]
dct["a"]
obj.v
x[:2]
np.array(2.0)
""".strip().splitlines()
PATTERNS = """
(p, q)
[p, q]
[p]
[p, *q]
[p, _, *_]
(p, None)
None
{"a": p}
{"a": p, **q}
{"a": p, "b": q}
{"kind": "sin", "v": p}
{"kind": "cos", "v": p}
{}
[]
Box(p, q)
Box(v=p)
Rec(p, w=q)
Rec(Box(p), q)
Box() | Rec()
Pair(p, q)
float(p)
int(p)
float() | int()
str()
list(p)
dict()
tuple()
list() | tuple()
np.ndarray()
True
0
1 | 2
1.5
3
"text"
[p, [q, _]]
{"c": [p, q]}
[1.0, *p]
(p, q) as u
[float(p), *_]
object()
bool()
""".strip().splitlines()
GUARDS = ("", "", "", " if x[1] > 0.5", " if num(p) > 0.5")
POINTS = (np.array([0.3, 0.8, 0.55]), np.array([0.7, 0.2, 0.45]))


def program(seed: int) -> str:
    """The source of a module with `f`, of three numbers and containers of Python."""
    r = random.Random(seed)
    rows = ["def f(x, lst, dct, obj, tup, longlst):", "    p = q = u = 0.5", "    t = 0.0"]
    for _ in range(r.randint(1, 3)):
        subject, indent = r.choice(SUBJECTS), "    "
        if r.random() < 0.2:
            rows.append("    for x in (x, x[::-1]):")
            indent = "        "
        rows.append(f"{indent}match {subject}:")
        for _ in range(r.randint(1, 3)):
            case = f"{r.choice(PATTERNS)}{r.choice(GUARDS)}"
            total = f"t * 1.1 + num(p) * {r.randint(1, 5)} + num(q) * x[0] + num(u)"
            rows.append(f"{indent}    case {case}: t = {total}")
        if r.random() < 0.7:
            rows.append(f"{indent}    case _: t = t + x[0] * {r.randint(1, 5)}")
    rows.append("    return t + num(p) + num(q) * 0.5")
    return BEFORE + "\n".join(rows) + "\n"


def check(text: str) -> str:
    """What becomes of a program: "right", "invalid", "refused: ..." or "wrong: ..."."""
    try:
        space = loaded(text)
    except Exception:  # names that alternatives don't all capture, say
        return "invalid"
    f, word = space["f"], "invalid"

    def arguments(x: Any) -> tuple[Any, ...]:
        dct = {"a": 1.5, "c": (1.0, 2.0)}
        return x.copy(), [0.4, 0.9], dct, space["Box"](0.7), (0.3, None), [0.1] * 8

    def along(x: Any, e: Any) -> Any:
        return (f(*arguments(x + 1e-6 * e)) - f(*arguments(x - 1e-6 * e))) / 2e-6

    for x in POINTS:
        try:
            expected = f(*arguments(x)), np.array([along(x, e) for e in np.eye(3)])
        except Exception:  # the program itself fails
            continue
        if np.ndim(expected[0]):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = srcgrad.value_and_grad(f)(*arguments(x))
        except srcgrad.UnsupportedError as error:
            return f"refused: {error.message}"
        except Exception as error:
            return f"wrong: {type(error).__name__}: {error}"
        for one, other in zip(found, expected, strict=True):
            if not np.allclose(one, other, atol=1e-5):
                return f"wrong: {one}, not {other}"
        word = "right"
    return word


def shrunk(text: str) -> str:
    """The function of a program that is wrong without the lines that it is wrong without."""
    head, _, text = text.partition("def f(")
    text, again = "def f(" + text, True
    while again:
        again = False
        for candidate in smaller(text):
            if check(head + candidate).startswith("wrong"):
                text, again = candidate, True
                break
    return head + text


def main(count: int, first: int) -> None:
    words: Counter[str] = Counter()
    for seed in range(first, first + count):
        word = check(program(seed))
        words[word if word.startswith("refused") else word.split(":")[0]] += 1
        if word.startswith("wrong"):
            print(f"seed {seed}: {word}\n{shrunk(program(seed)).removeprefix(BEFORE)}", flush=True)
    for word, times in words.most_common():
        print(times, word)


if __name__ == "__main__":
    main(int(sys.argv[1]), int((sys.argv[2:] or ["0"])[0]))
