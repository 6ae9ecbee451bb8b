"""Random programs of objects whose special methods change them, count, or raise.

What the methods do differs by program: `bool`, `len`, `==`, `<`, `in`, subscripts, iteration,
calls, attributes, `with`, arithmetic. The objects are of several classes, chosen by branches, held
in lists, dicts and each other, and written through aliases.
"""

from __future__ import annotations

import random

from .random_words import filled, several

HEAD = """\
import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Oops(Exception):
    pass


class Scaled:
    def __init__(self, by):
        self.by = by

    def __get__(self, thing, owner=None):
        return self if thing is None else thing.v * self.by

    def __set__(self, thing, value):
        thing.v = value / self.by


class Duo(NamedTuple):
    u: float
    w: float = 0.5

    def norm(self):
        return self.u * self.u + self.w

    def moved(self, by):
        return self._replace(u=self.u + by)


@dataclass
class Data:
    v: float
    w: float = 0.5
    rows: list = dataclasses.field(default_factory=list)

    def __post_init__(self):
        self.rows.append(self.v * self.w)

    def total(self):
        return self.v * self.w + sum(self.rows)


class Slotted:
    __slots__ = ("v", "w")

    def __init__(self, v):
        self.v = v

    def grow(self, by):
        self.w = getattr(self, "w", 1.0) * by
        return self


def pick(a, b, test):
    if test:
        return a
    return b


def worth(o):
    if o is None or o is NotImplemented:
        return 0.25
    if isinstance(o, (bool, int)):
        return 0.5 * o
    if isinstance(o, P):
        return o.v * 0.5 + o.count * 0.1 + sum(o.log)
    if isinstance(o, np.ndarray):
        return np.sum(o * o)
    if isinstance(o, tuple):
        return sum(worth(a) for a in o)
    return o * 1.5


"""
# What the methods of P, Q (of P) and R (of Q) do. N: a number, TEST: of one
EFFECTS = [
    "self.v = self.v * 1.1", "self.count += 1", "self.log.append(self.v)", "self.v += 0.2", "",
    "", "", "if self.v > LIMIT: raise Oops(self.v)",
    "if self.count > 2: raise ValueError('often')", "self.log[-1] *= 0.9",
    "self.kept[0] += self.v", "if self.v > LIMIT: self.count += 1", "self.w = self.v * 0.3",
    "if self.v < LIMIT: return self.other_way()",
]  # fmt: skip
METHODS = {
    "__bool__(self)": [
        "return self.v > LIMIT", "return self.count % 2 == 0", "return bool(self.log)",
        "return True",
    ],
    "__len__(self)": [
        "return len(self.log)", "return 2", "return self.count", "return 1 + (self.v > LIMIT)",
    ],
    "__eq__(self, other)": [
        "return self.v == getattr(other, 'v', other)", "return self.v > worth(other)",
        "return NotImplemented", "return isinstance(other, P) and self.count == other.count",
    ],
    "__lt__(self, other)": [
        "return self.v < getattr(other, 'v', 1.0)", "return self.count < other.count",
        "return NotImplemented", "return other.v > self.v",
    ],
    "__contains__(self, item)": [
        "return self.v > worth(item)", "return any(a > 1.0 for a in self.log)",
        "return item in self.log",
    ],
    "__getitem__(self, k)": [
        "return self.log[k]", "if k > 2: raise IndexError\nreturn self.v * (k + 1)",
        "if k >= 2: raise IndexError(k)\nreturn self.v + k", "return self.kept[k]",
    ],
    "__setitem__(self, k, value)": [
        "self.log[k] = value", "self.kept[k] = value", "self.v = value * (k + 1)",
    ],
    "__delitem__(self, k)": ["del self.log[k]", "self.kept[k] = 0.0"],
    "__iter__(self)": [
        "return iter(self.log)", "yield self.v\nself.count += 1\nyield self.v * 2.0",
        "for a in self.log: yield a * self.v", "return iter((self.v, self.count))",
        "self.at = 0\nreturn self",
    ],
    "__next__(self)": [
        "self.at += 1\nif self.at > 2: raise StopIteration\nreturn self.v * self.at",
    ],
    "__call__(self, t, *more)": [
        "return self.v * worth(t)", "self.v = self.v + worth(t) * 0.1\nreturn self", "return t",
        "self.log.append(worth(t))\nreturn self.log[0]",
    ],
    "__getattr__(self, name)": [
        "if name in ('w', 'late'): return self.v * 0.7\nraise AttributeError(name)",
        "if name == 'late':\n    self.late = self.v\n    return 0.3\nraise AttributeError(name)",
        "raise AttributeError(name)",
    ],
    "__setattr__(self, name, value)": [
        "object.__setattr__(self, name, value)",
        "object.__setattr__(self, name, value * 1.0 if name == 'w' else value)",
        "self.__dict__[name] = value",
    ],
    "__enter__(self)": [
        "return self", "self.v = self.v * 0.8\nreturn self.v", "return self.log",
        "return P(self.v)",
    ],
    "__exit__(self, kind, error, trace)": [
        "return False", "return True", "self.v = self.v * 1.3",
        "return kind is not None and issubclass(kind, Oops)",
        "self.log.append(0.1 if kind is None else self.v)",
    ],
    "__iadd__(self, other)": [
        "self.v = self.v + worth(other)\nreturn self", "return P(self.v + worth(other))",
        "return NotImplemented", "self.log.append(worth(other))\nreturn self", "return self.v",
    ],
    "__add__(self, other)": [
        "return P(self.v + worth(other))", "return self.v + worth(other)",
        "if isinstance(other, P): return NotImplemented\nreturn self.v + other",
    ],
    "__radd__(self, other)": [
        "return P(self.v + worth(other))", "return worth(other) * self.v",
        "return NotImplemented",
    ],
    "__mul__(self, other)": [
        "return P(self.v * worth(other))", "return self.v * worth(other)",
        "if isinstance(other, P): return NotImplemented\nreturn self.v * other",
    ],
    "__neg__(self)": ["return P(-self.v)", "return -self.v"],
    "__abs__(self)": ["return abs(self.v)", "return self"],
    "__float__(self)": ["return float(self.v)", "return 1.5"],
    "__index__(self)": ["return self.count % 3"],
    "prop(self)": ["return self.v * self.v", "return self.log[0]", "return self.kept"],
    "prop(self, value)": ["self.v = worth(value) * 0.5", "self.log[0] = value", "pass"],
    "other_way(self)": ["return self.v > 1.0", "return None", "return 1"],
    "size(self)": [
        "return self.v + self.rate", "return self.rate * len(self.log)", "return type(self).rate",
    ],
}  # fmt: skip
ALWAYS = ("prop(self)", "prop(self, value)", "other_way(self)", "size(self)")
START = """\
s, k = 0.1, 0
A, B, G = P(x[0]), Q(x[1]), R(x[2])
L, D = [A, B], {'a': B, 'b': G}
E, T, S = Data(x[3]), Duo(x[4], x[5]), Slotted(x[1])
"""
OBJECTS = [
    "A", "B", "A", "B", "G", "L[J]", "D['a']", "D['b']", "(A if x[I] > LIMIT else B)",
    "pick(A, G, x[I] > LIMIT)", "L[int(x[I] > LIMIT)]", "A.held", "(A or B)",
]  # fmt: skip
NUMBERS = ["x[I]", "s", "OBJ.v", "0.5", "x[I]", "worth(OBJ)"]
TESTS = [
    "OBJ", "not OBJ", "OBJ == OBJ", "OBJ < OBJ", "NUM in OBJ", "OBJ in L", "OBJ != NUM",
    "x[I] > LIMIT", "OBJ is OBJ", "len(OBJ) > 1", "hasattr(OBJ, 'w')", "OBJ and NUM > LIMIT",
    "OBJ or OBJ", "bool(OBJ)", "isinstance(OBJ, Q)", "k % 2", "any(L)", "all(L)", "callable(OBJ)",
    "OBJ.v > LIMIT",
]  # fmt: skip
STATEMENTS = [
    "if TEST: s += NUM", "s += NUM if TEST else NUM", "if TEST: OBJ.v = NUM", "if TEST: A = OBJ",
    "if TEST: A += NUM", "while TEST and k < 3:\n    k += 1\n    s += NUM", "OBJ.v = NUM",
    "OBJ.v += NUM", "A += NUM", "B += OBJ", "OBJ.held = OBJ", "OBJ.held.v *= NUM", "A = B",
    "A, B = B, A", "L.append(OBJ)", "L[0] = OBJ", "D['a'] = OBJ", "s += worth(D.get('z', OBJ))",
    "A = P(NUM)", "A = Q(NUM)", "B = R(NUM)", "A = A + NUM", "s += worth(OBJ + OBJ)",
    "s += worth(NUM + OBJ)", "s += worth(OBJ * NUM)", "s += worth(OBJ * OBJ)", "L[0] += NUM",
    "D['a'] += NUM", "s += L.index(OBJ) * NUM", "L.remove(OBJ)", "s += L.count(OBJ) * NUM",
    "s += worth(sorted(L)[0])", "L.sort()", "s += worth(max(L))", "s += worth(min(A, B))",
    "s += worth(sum(L, NUM))", "s += worth(OBJ[0])", "OBJ[0] = NUM", "OBJ[1] += NUM",
    "del OBJ[0]", "for v in OBJ: s += worth(v)", "u, w = OBJ\ns += worth(u) * worth(w)",
    "s += sum(worth(v) for v in OBJ)", "s += worth([*OBJ][0])", "s += worth(OBJ(NUM))",
    "s += worth(OBJ(OBJ))", "A = A(NUM)", "s += len(OBJ) * NUM", "s += worth(OBJ.w)",
    "s += OBJ.late * NUM", "OBJ.w = NUM", "del OBJ.w", "OBJ.late = NUM", "s += worth(OBJ.prop)",
    "OBJ.prop = NUM", "OBJ.prop += NUM", "s += OBJ.scaled * NUM", "OBJ.scaled = NUM",
    "OBJ.scaled *= 1.1", "s += OBJ.size() * NUM", "OBJ.rate = NUM", "s += OBJ.rate * NUM",
    "s += abs(OBJ) * NUM", "s += worth(-OBJ)", "s += float(OBJ) * NUM", "s += x[OBJ]",
    "s += np.sum(OBJ.kept) * NUM", "OBJ.kept[1] = NUM", "OBJ.kept = x[:2] * NUM",
    "u = OBJ.kept\nu *= NUM", "OBJ.log.append(NUM)", "u = OBJ.log\nu[0] = NUM", "OBJ.log = [NUM]",
    "setattr(OBJ, 'w', NUM)", "s += worth(getattr(OBJ, 'late', NUM))",
    "s += worth(next(iter(OBJ)))", "s += worth(next(OBJ, NUM))", "for o in L: o.v *= 1.1",
    "for o in L:\n    if o: s += o.v", "for o in L: o += NUM",
    "for key, o in D.items(): s += worth(o)", "L = [o for o in L if o]",
    "L = [o + NUM for o in L]", "s += sum(o.v for o in L if TEST)",
    "for i, o in enumerate(L): L[i] = o if TEST else A",
    "with OBJ as v: s += worth(v) if not isinstance(v, list) else sum(v)",
    "with OBJ:\n    s += NUM\n    if x[I] > LIMIT: raise Oops\n    s += NUM",
    "with OBJ as v, OBJ: OBJ.v += NUM", "E = Data(NUM)", "E = dataclasses.replace(E, v=NUM)",
    "E = dataclasses.replace(E, w=NUM, rows=[NUM])", "E.w += NUM", "s += E.total()",
    "E.rows.append(NUM)", "if E == Data(x[3]): s += NUM", "E, U = Data(NUM), E\nU.v = s",
    "s += sum(E.rows) * NUM", "s += sum(v for v in dataclasses.astuple(E)[:2])",
    "s += dataclasses.asdict(E)['v']", "T = Duo(NUM)", "T = T._replace(u=NUM)",
    "T = T.moved(NUM)", "s += T.norm()", "u, w = T\ns += u * w", "s += T[0] * NUM",
    "T = Duo(*T[::-1])", "s += sum(T)", "T = Duo(w=NUM, u=T.w)", "s += T._asdict()['w']",
    "S = Slotted(NUM)", "S.w = NUM", "S.grow(NUM)", "s += S.grow(NUM).w", "s += S.w", "del S.w",
    "S.q = NUM", "s += getattr(S, 'w', NUM)", "s += NUM if TEST and TEST else NUM",
    "s = s * 0.5 + worth(A)", "A = OBJ if TEST else OBJ", "A = pick(OBJ, OBJ, TEST)",
    "OBJ.held = P(NUM) if TEST else None", "s += NUM if OBJ.held is None else OBJ.held.v",
    "A = A and B", "A.v = B.v = NUM",
]  # fmt: skip
HEADS = [
    "if TEST:", "for i in range(2):", "for i in range(n):", "for o in L[:2]:",
    "while k < n:\n    k += 1", "for v in x[:3]:",
]  # fmt: skip
CAUGHT = [
    "Exception", "Exception", "Oops", "TypeError", "(Oops, TypeError, ValueError)",
    "(TypeError, AttributeError, LookupError)",
]  # fmt: skip
WORDS = {
    "TEST": TESTS, "NUM": NUMBERS, "OBJ": OBJECTS, "LIMIT": ["0.7", "1.1", "1.6"], "I": several(6),
    "J": several(2),
}  # fmt: skip
LAST = """\
total = worth(A) + worth(B) * 1.1 + worth(G) * 1.2 + sum(worth(o) for o in L)
return s + total + E.total() + T.norm() + S.v
"""


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.present: set[str] = set()

    def filled(self, row: str) -> str:
        return filled(row, WORDS, self.random)

    def classes(self) -> str:
        r, text = self.random, ""
        for name, base, share in (("P", "", 0.75), ("Q", "(P)", 0.25), ("R", "(Q)", 0.2)):
            rows = ["rate = 0.5", "scaled = Scaled(2.0)"] if not base else []
            if not base:
                rows += ["def __init__(self, v):", "    self.v, self.count = v * 1.0, 0"]
                rows += ["    self.log, self.kept, self.held = [v], np.array([v, 1.0]), None"]
                if r.random() < 0.3:
                    rows.append("__hash__ = None")
            elif r.random() < 0.4:
                rows += ["def __init__(self, v):"]
                rows += [f"    super().__init__(v * {r.choice((0.5, 2.0))})"]
                rows += ["    " + r.choice(("self.rate = v", "self.w = v", "self.log.append(2.0)"))]
            elif r.random() < 0.4:
                rows += [f"rate = {r.choice((0.25, 1.5))}"]
            for method, bodies in METHODS.items():
                if method == "prop(self, value)":
                    if "@property" in rows:
                        rows += ["@prop.setter", *self.method(method, bodies)]
                    continue
                if r.random() >= share and not (not base and method in ALWAYS):
                    continue
                if method == "__setattr__(self, name, value)" and r.random() < 0.7:
                    continue
                if method == "prop(self)":
                    rows.append("@property")
                rows += self.method(method, bodies, bool(base) and method in self.present)
                self.present.add(method)
            if not base and self.present & {"__len__(self)", "__getitem__(self, k)"}:
                rows.append("__array_ufunc__ = None")  # or NumPy asks for items, as it likes
            body = "".join(f"    {row}\n" for row in rows or ["pass"])
            text += f"class {name}{base}:\n{body}\n\n"
        return text

    def method(self, method: str, bodies: list[str], inherits: bool = False) -> list[str]:
        r = self.random
        rows = self.filled(r.choice(bodies)).split("\n")
        if not method.startswith(("__getattr__", "__setattr__", "other_way")):
            effect = r.choice(EFFECTS)
            rows = [*self.filled(effect).split("\n"), *rows] if effect else rows
        if inherits and r.random() < 0.5 and method != "prop(self)":
            name, _, rest = method.partition("(self")
            call = f"super().{name}({rest.removeprefix(', ')}"
            last = r.random() < 0.5
            around = ([], [f"return {call}"]) if last else ([f"kept = {call}"], ["return kept"])
            rows = [*around[0], *rows[:-1], *around[1]]
        return [f"def {method}:", *(f"    {row}" for row in rows)]

    def statement(self, depth: int) -> list[str]:
        r = self.random
        choice = r.random()
        if choice < 0.13 and depth < 3:
            head = self.filled(r.choice(HEADS)).split("\n")
            inside = [row for _ in range(r.randint(1, 3)) for row in self.statement(depth + 1)]
            return [*head, *("    " + row for row in inside)]
        rows = self.filled(r.choice(STATEMENTS)).split("\n")
        if choice < 0.55:  # most fail where a method is missing or raises
            otherwise = self.filled(r.choice(("s += NUM", "s = s * 0.9", "pass")))
            rows = ["try:", *("    " + row for row in rows)]
            rows += [f"except {r.choice(CAUGHT)}:", f"    {otherwise}"]
        return rows


def program(seed: int) -> str:
    """A function `f` of a vector of six positive numbers and an int."""
    writer = _Writer(seed)
    classes = writer.classes()
    rows = START.split("\n")[:-1]
    for _ in range(writer.random.randint(3, 8)):
        rows += writer.statement(0)
    rows += LAST.split("\n")[:-1]
    return HEAD + classes + "def f(x, n):\n" + "".join(f"    {row}\n" for row in rows)
