"""Random programs of classes as numerical programs write them: what they inherit, keep and raise.

Mixins that call each other by `super`, abstract classes, slots, descriptors, class attributes that
objects shadow on some paths, operators that NumPy's arrays leave to the right operand, dataclasses
of all options, enumerations, what `functools` and `contextlib` make of methods, closures and bound
methods that are kept, copies, exceptions that carry numbers, and an object among the arguments.
Each family of classes has its statements; a program mixes some. Texts vary in the classes, too.
For a long run: `python -m tests.random_classes COUNT [first seed] [family ...]` prints each program
that fails, made as small as it gets.
"""

from __future__ import annotations

import linecache
import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import srcgrad

from .random_statements import LATE, Wrong, indented, lines, shrunk
from .random_words import filled, statement

BEFORE = """\
import abc
import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import operator
from dataclasses import dataclass, field, InitVar
from functools import cached_property, partial, partialmethod, singledispatch, total_ordering
from types import SimpleNamespace
from typing import ClassVar, NamedTuple

import numpy as np


class Oops(Exception):
    def __init__(self, value, where="here"):
        super().__init__(value, where)
        self.value, self.where = value, where

    def worth(self):
        return self.value * 0.3


class Worse(Oops):
    def worth(self):
        return super().worth() + 0.1


class Param:
    def __init__(self, a, v, rest):
        self.a, self.v, self.rest = a, v, rest

    @property
    def size(self):
        return self.v @ self.v * self.a


@dataclass
class Inner:
    u: float
    w: list
"""
# What any program may mention. LIMIT: what numbers are compared with
WORDS: dict[str, list[str]] = {
    "NUM": [
        "x[I]", "s", "0.5", "x[I] * s", "q.a", "q.v[J]", "np.sin(x[I])", "x[I] * x[I]", "q.rest.u",
        "q.rest.w[J]", "MINE", "MINE", "MINE", "MINE",
    ],
    "VEC": ["x[:3]", "q.v", "np.sin(x[:3])", "x[1:] * s", "x[:3] * NUM"],
    "TEST": ["x[I] > LIMIT", "s > LIMIT", "q.a > LIMIT", "k % 2", "NUM > LIMIT", "MINE > LIMIT"],
    "LIMIT": ["0.5", "0.8", "1.2"],
    "I": ["0", "1", "2", "3"],
    "J": ["0", "1", "2"],
}  # fmt: skip
STATEMENTS = lines("""
    s += NUM
    s = s * 0.5 + NUM
    q.a = NUM
    q.v[J] = NUM
    q.v = VEC
    q.rest.u *= NUM
    q.rest.w[J] += NUM
    q.rest.w.append(NUM)
    q.late = NUM
    s += getattr(q, 'late', NUM)
    s += q.size * 0.1
    q = copy.copy(q)
    q = copy.deepcopy(q)
""")
HEADS = [
    "if TEST:", "if TEST:", "for i in range(2):", "for i in range(k):", "while k < 3:\n    k += 1",
    "if TEST:\n    s += NUM\nelse:", "for e in x[:k]:\n    s += e * NUM",
    "try:\n    if TEST: raise Oops(NUM)\nexcept Oops as e:\n    s += e.value\nelse:",
]  # fmt: skip
CAUGHT = [
    "Exception", "AttributeError", "Oops", "(TypeError, AttributeError)", "(Oops, ValueError)",
    "LookupError",
]  # fmt: skip


@dataclass(frozen=True)
class Family:
    """Classes, what a program begins with, statements, numbers to read, and what it adds up."""

    classes: str
    begin: str
    statements: tuple[str, ...]
    numbers: tuple[str, ...]
    end: str
    words: dict[str, list[str]]


def alternatives(text: str) -> list[str]:
    """Choices, one a line; in a line, `;;` separates rows.

    >>> alternatives("pass\\nself.v *= 2;;self.n += 1")
    ['pass', 'self.v *= 2\\nself.n += 1']
    """
    return [row.strip().replace(";;", "\n") for row in text.strip().split("\n")]


FAMILIES: dict[str, Family] = {}

FAMILIES["mixins"] = Family(
    """
class Shape(abc.ABC):
    rate = 0.5
    made = []
    names = {'all': 0}

    def __init__(self, v, **more):
        super().__init__(**more)
        self.v = v
        INIT

    def __init_subclass__(cls, **more):
        super().__init_subclass__(**more)
        cls.names[cls.__name__] = len(cls.names)

    @abc.abstractmethod
    def area(self): ...

    @property
    def width(self):
        return self.v * 2.0

    @width.setter
    def width(self, value):
        self.v = value * 0.5

    def step(self, h):
        BASESTEP

    def kind(self):
        return type(self).__name__

    @classmethod
    def of(cls, *vs):
        return cls(sum(vs))

    @staticmethod
    def unit():
        return 0.7


class Scaling:
    def __init__(self, by=1.5, **more):
        super().__init__(**more)
        self.by = by
        MIXININIT

    def step(self, h):
        MIXSTEP
        return super().step(h * self.by)


class Noting:
    def __init__(self, **more):
        super().__init__(**more)
        self.log = []

    def step(self, h):
        out = super().step(h)
        MIXSTEP
        self.log.append(out)
        return out

    def area(self):
        return super().area() + 0.1 * len(self.log)


class Square(SQUAREBASES):
    RATE

    def area(self):
        AREA

    @property
    def width(self):
        return super().width + self.rate


class Disc(DISCBASES):
    def __init__(self, v, r=0.3, **more):
        super().__init__(v=v, **more)
        self.r = r
        INIT

    def area(self):
        return self.r * self.v + Shape.unit()

    width = Shape.width

    def step(self, h):
        MIXSTEP
        return DISCSTEP


class Ring(Disc):
    RATE

    def area(self):
        return super().area() - super().step(0.1)

    @classmethod
    def of(cls, *vs):
        new = super().of(*vs)
        new.r = vs[0]
        return new
""",
    "p, o = SHAPE(v=x[0]), SHAPE(v=x[1]) | shapes, p0 = [p, o, SHAPE(v=s)], p",
    lines("""
    s += SH.step(NUM)
    s += SH.area() * NUM
    s += SH.width
    SH.width = NUM
    SH.width += NUM
    SH.rate = NUM
    SH.rate += NUM
    s += SH.rate * NUM
    del SH.rate
    SH.v = NUM
    s += getattr(SH, 'by', NUM)
    s += SH.by
    SH.by *= NUM
    s += sum(SH.log)
    SH.log.append(NUM)
    SH.log[-1] = NUM
    s += SH.high
    s += getattr(SH, 'high', 0.4) * NUM
    if hasattr(SH, 'high'): s += SH.high
    if 'high' in vars(SH): s += SH.high * NUM
    SH.high = NUM
    if isinstance(SH, Disc): s += NUM
    if isinstance(SH, (Scaling, Square)): s += NUM
    if type(SH) is Disc: s += NUM
    s += len(SH.kind()) * NUM
    s += SH.names[type(SH).__name__] * NUM
    s += issubclass(type(SH), Noting) * NUM
    p = SHAPE.of(NUM, x[1])
    o = type(SH).of(NUM)
    p = type(SH)(v=NUM)
    p = SHAPE(v=NUM)
    o = Shape(NUM)
    p, o = o, p
    p = SH
    p = p if TEST else o
    shapes.append(SHAPE(v=NUM))
    shapes[J] = SH
    shapes = [SHAPE(v=e) for e in x]
    shapes = [c if c.v > LIMIT else SHAPE(v=c.v) for c in shapes]
    shapes.sort(key=lambda c: c.area())
    for c in shapes: s += c.step(NUM)
    for c in shapes: c.width = NUM
    for c in shapes: c.v, p.v = p.v, c.v
    s += max(shapes, key=Shape.area.__get__ and (lambda c: c.v)).area()
    s += sum(c.area() for c in shapes if isinstance(c, Disc))
    Shape.made.append(1)
    s += len(Shape.made) * 0.01
    s += Shape.step(SH, NUM)
    s += super(Disc, SH).step(NUM)
    f2 = SH.step | SH.v = NUM | s += f2(NUM)
    p = copy.copy(SH)
    p = copy.deepcopy(SH)
    s += type(SH).__mro__.index(Shape) * NUM
    s += SH.__class__.rate * NUM
    vars(SH).update(v=NUM)
    for name in ('v', 'by', 'r'): s += getattr(SH, name, NUM)
    for name, value in vars(SH).items(): s += value if name in ('v', 'r') else 0.1
"""),
    ("p.v", "o.v", "p.width", "o.area()", "p.step(0.3)", "SH.v", "getattr(p, 'by', 0.2)", "p.rate"),
    "p.area() + o.width + sum(c.v for c in shapes) + p0.v * sum(getattr(p, 'log', []))",
    {
        "SHAPE": [
            "Square",
            "Disc",
            "Ring",
            "(Square if TEST else Disc)",
            "(Disc if TEST else Ring)",
        ],
        "SH": ["p", "o", "shapes[J]", "(p if TEST else o)", "p", "o", "p0"],
        "INIT": alternatives("""
            pass
            if v > LIMIT: self.high = v
            if v > LIMIT: self.rate = v
            self.rate = 0.1 * v
            if v > LIMIT: raise Oops(v)
        """),
        "MIXININIT": alternatives("""
            pass
            if self.by > 1: self.rate = 0.9
        """),
        "BASESTEP": alternatives("""
            self.v = self.v + h * self.rate;;return self.v
            self.v += h;;return self.v * self.rate
            return self.area() * h
            if h > LIMIT: raise Worse(h);;self.v *= 0.9;;return h
            return self.v * h
        """),
        "MIXSTEP": alternatives("""
            pass
            self.v = self.v * 1.1
            if h > LIMIT: return self.v
            if h > LIMIT: self.high = h
            try:;;    h = h + self.high;;except AttributeError:;;    h = h * 0.9
            h = h + getattr(self, 'by', 0.2)
            self.rate = self.rate * 0.9
        """),
        "SQUAREBASES": [
            "Scaling, Shape",
            "Noting, Scaling, Shape",
            "Scaling, Noting, Shape",
            "Shape",
        ],
        "DISCBASES": ["Noting, Shape", "Shape", "Scaling, Noting, Shape"],
        "DISCSTEP": [
            "super().step(h) * self.r",
            "super(Disc, self).step(h)",
            "Shape.step(self, h)",
        ],
        "RATE": ["pass", "rate = 0.8", "made = [1, 2]"],
        "AREA": alternatives("""
            return self.v ** 2
            return self.width * self.v
            try:;;    return super().area() + self.v;;except Exception:;;    return self.v
        """),
    },
)

FAMILIES["slots"] = Family(
    """
class Positive:
    def __set_name__(self, owner, name):
        self.name = '_' + name

    def __get__(self, obj, owner=None):
        if obj is None:
            return self
        return getattr(obj, self.name, 0.3)

    def __set__(self, obj, value):
        CHECKED
        setattr(obj, self.name, value)

    def __delete__(self, obj):
        delattr(obj, self.name)


class Typed:
    def __get__(self, obj, owner=None):
        return obj.u * 2.0 if obj is not None else self


class Bare:
    __slots__ = ('u', 'w', '_h', 'seen')
    h = Positive()
    t = Typed()

    def __init__(self, u):
        self.u = u
        SETW
        self.seen = 0

    GETATTR

    def grow(self, by):
        self.seen += 1
        GROW
        return self


class More(Bare):
    __slots__ = MORESLOTS

    def __init__(self, u, z=0.2):
        super().__init__(u)
        self.z = z

    def grow(self, by):
        self.z = self.z * by
        return super().grow(by * 0.9)


class Open(Bare):
    def __setattr__(self, name, value):
        SETATTR
        super().__setattr__(name, value)


class Lazy:
    def __init__(self, **given):
        self.__dict__.update(given)

    def __getattr__(self, name):
        LAZY

    def __delattr__(self, name):
        self.gone = name
        object.__delattr__(self, name)


class Frozen:
    def __init__(self, u):
        object.__setattr__(self, 'u', u)

    def __setattr__(self, name, value):
        raise AttributeError(name)


class Forward:
    def __init__(self, to):
        self._to = to

    def __getattr__(self, name):
        return getattr(self._to, name)
""",
    "b, c, z = SLOT(x[0]), SLOT(x[1]), Lazy(u=x[2], w=s) | y = Forward(b)",
    lines("""
    s += SL.w
    s += getattr(SL, 'w', NUM)
    if hasattr(SL, 'w'): s += SL.w * NUM
    SL.w = NUM
    del SL.w
    SL.u = NUM
    SL.u *= NUM
    SL.h = NUM
    s += SL.h
    SL.h += NUM
    del SL.h
    s += SL.t * NUM
    SL.t = NUM
    SL.extra = NUM
    s += SL.extra
    SL.z = NUM
    s += getattr(SL, 'z', 0.1)
    SL.grow(NUM)
    s += SL.grow(NUM).grow(NUM).u
    s += SL.seen * NUM
    b = SLOT(NUM)
    c = SL
    b, c = c, b
    b = copy.copy(SL)
    b = copy.deepcopy(SL)
    z.late = NUM
    s += z.late
    s += z.w2
    s += z.u
    z.w *= NUM
    del z.w
    s += z.w
    s += getattr(z, 'gone', 'abc') == 'w'
    z = Lazy(u=NUM)
    z = Lazy(**vars(z), w=NUM)
    s += len(vars(z)) * NUM
    s += Frozen(NUM).u
    y = Forward(SL)
    s += y.u * NUM
    s += y.grow(NUM).u
    y.u = NUM
    s += y.w
    s += y.h
    y = Forward(y)
    for name in ('u', 'w', 'h'): s += getattr(SL, name)
    for name in ('u', 'w', '_h', 'z'): s += getattr(SL, name, NUM)
    for name in SL.__slots__: s += getattr(SL, name, 0.1)
    setattr(SL, 'uw'[k % 2], NUM)
    if isinstance(type(SL).h, Positive): s += NUM
    for o in (b, c): o.grow(NUM)
    for o in [SLOT(e) for e in x]: s += o.grow(NUM).h
    Bare.u.__set__(SL, NUM)
    s += Bare.u.__get__(SL)
    s += operator.attrgetter('u')(SL)
    s += len(hasattr(SL, '__dict__') * [0]) * NUM
"""),
    ("b.u", "c.u", "z.u", "y.u", "getattr(b, 'w', 0.2)", "c.h"),
    "b.u + c.h + getattr(c, 'w', 0.7) * getattr(b, 'z', 0.3) + z.u",
    {
        "SLOT": ["Bare", "More", "Open", "(More if TEST else Bare)", "(More if TEST else Open)"],
        "SL": ["b", "c", "b", "c", "(b if TEST else c)"],
        "CHECKED": alternatives("""
            pass
            if value < LIMIT: raise ValueError('small')
            if value > LIMIT: raise Oops(value)
            value = value * 1.1
        """),
        "SETW": [
            "pass",
            "self.w = u * 0.5",
            "if u > LIMIT: self.w = u",
            "if u > LIMIT: self.h = u",
        ],
        "GETATTR": alternatives("""
            pass
            pass
            def __getattr__(self, name):;;    if name == 'w': return self.u * 0.4;;    raise AttributeError(name)
            def __getattr__(self, name):;;    if name == 'w' and self.u > LIMIT: return 0.4;;    raise AttributeError(name)
        """),  # noqa: E501
        "GROW": alternatives("""
            self.u = self.u * by
            self.w = self.w + by
            if by > LIMIT: self.w = by
            self.h = self.h * by
            try:;;    self.u += self.w;;finally:;;    self.w = by
        """),
        "MORESLOTS": ["('z',)", "['z', 'y']", "'z'", "{'z': 'text'}"],
        "SETATTR": alternatives("""
            pass
            if name == 'u': value = value * 1.1
            if name == 'w' and value > LIMIT: return
            if name == 'w': object.__setattr__(self, 'seen', 7)
        """),
        "LAZY": alternatives("""
            if name == 'late': self.late = self.u * 2.0;;if name == 'late': return self.late;;raise AttributeError(name)
            if name.startswith('w'): return self.u * 0.7;;raise AttributeError(name)
            raise AttributeError(name)
            if name.startswith('_'): raise AttributeError(name);;return 0.6
        """),  # noqa: E501
    },
)

FAMILIES["operators"] = Family(
    """
@total_ordering
class Dual:
    ARRAYS

    def __init__(self, a, d=0.0):
        self.a, self.d = a, d

    def __add__(self, o):
        COERCED
        return Dual(self.a + o.a, self.d + o.d)

    __radd__ = __add__

    def __sub__(self, o):
        return self + -o

    def __rsub__(self, o):
        return Dual(o - self.a, -self.d)

    def __neg__(self):
        return Dual(-self.a, -self.d)

    def __mul__(self, o):
        COERCED
        return Dual(self.a * o.a, self.a * o.d + self.d * o.a)

    def __rmul__(self, o):
        return type(self)(o * self.a, o * self.d)

    def __truediv__(self, o):
        return self * (1.0 / o) if not isinstance(o, Dual) else NotImplemented

    def __rtruediv__(self, o):
        return Dual(o / self.a, -o * self.d / self.a ** 2)

    def __matmul__(self, o):
        COERCED
        return np.sum(self.a * o.a)

    def __rmatmul__(self, o):
        return np.dot(o, self.a * np.ones(3)) + self.d

    def __pow__(self, n, mod=None):
        return Dual(self.a ** n, n * self.a ** (n - 1) * self.d)

    def __rpow__(self, o):
        return Dual(o ** self.a, self.d)

    IADD

    def __imul__(self, o):
        self.a *= o
        return self

    def __eq__(self, o):
        EQ

    def __lt__(self, o):
        LT

    def __hash__(self):
        return HASH

    def __bool__(self):
        return bool(np.sum(self.a) > LIMIT)

    def __abs__(self):
        return Dual(abs(self.a), self.d * np.sign(self.a))

    def __float__(self):
        return float(self.a)

    def __iter__(self):
        return iter((self.a, self.d))

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return (self.a, self.d)[i]

    def __setitem__(self, i, v):
        setattr(self, 'ad'[i], v)

    def __contains__(self, v):
        return np.sum(self.a) > v

    def __call__(self, v, *more, by=1.0):
        return self.a * v + self.d * by + sum(more)

    def __enter__(self):
        self.d = self.d + 0.1
        return self

    def __exit__(self, kind, e, tb):
        EXIT

    def __round__(self, n=0):
        return round(float(self.d), n)

    def __invert__(self):
        return Dual(self.d, self.a)

    def sin(self):
        return Dual(np.sin(self.a), self.d * np.cos(self.a))


class Sub(Dual):
    def __radd__(self, o):
        return Sub(self.a * o if not isinstance(o, Dual) else o.a, 0.5)

    def __mul__(self, o):
        out = super().__mul__(o)
        return Sub(out.a, out.d) if out is not NotImplemented else out

    def __rmul__(self, o):
        return Sub(self.a * 0.5, self.d) if isinstance(o, Dual) else super().__rmul__(o)

    def __lt__(self, o):
        return super().__lt__(o) if isinstance(o, Dual) else NotImplemented
""",
    "u, w, z = Dual(x[0], 1.0), DUAL(x[1]), DUAL(x[2], s) | r = u",
    lines("""
    u = DU + DU
    u = DU + NUM
    u = NUM + DU
    u = DU * DU
    u = NUM * DU
    w = DU - DU
    w = NUM - DU
    w = DU / NUM
    w = NUM / DU
    w = DU / DU
    w = -DU
    w = abs(DU)
    z = DU ** 2
    z = 1.5 ** DU
    z = ~DU
    s += DU @ DU
    s += DU @ 1.5
    s += VEC @ DU
    u += NUM
    u += DU
    w -= DU
    w *= NUM
    z *= DU
    r += NUM
    s += worth(VEC * DU)
    s += worth(DU * VEC)
    s += worth(VEC + DU)
    s += worth(DU + VEC)
    s += worth(VEC - DU)
    s += worth(x[0] * DU)
    s += worth(np.float64(1.5) + DU)
    s += worth(np.sum(VEC) * DU)
    h = x[:3] * 1.0 | h += DU | s += worth(h)
    h = x[:3] * 1.0 | h *= DU | s += worth(h)
    s += NUM if DU == DU else 0.1
    s += NUM if DU < DU else 0.1
    s += NUM if DU >= DU else 0.1
    s += NUM if DU != DU else 0.1
    s += NUM if DU > NUM else 0.1
    s += NUM if NUM < DU else 0.1
    s += NUM if DU else 0.1
    s += NUM if not DU else 0.1
    s += NUM if LIMIT in DU else 0.1
    s += NUM if DU in (u, w) else 0.1
    s += len({u, w, z}) * NUM
    s += {u: 1.0, w: s}.get(DU, NUM)
    d2 = {DU: NUM} | d2[DU] = NUM | s += sum(d2.values())
    s += max(u, w, z).a
    s += min([u, w]).a
    s += sorted([u, w, z])[J].a
    s += sorted([u, w, z], key=float)[0].a
    s += sum([u, w, z], DU).a
    s += sum((u, w)).d
    s += DU(NUM)
    s += DU(NUM, NUM, by=s)
    s += sum(DU)
    a, d = DU | s += a * d
    s += DU[0] * DU[-1]
    DU[0] = NUM
    DU[1] += NUM
    s += float(DU) * 0.1
    with DU as e: s += e.d ; u = e
    with DU as e: |     if TEST: raise Oops(e.a) |     s += NUM
    s += worth(np.sin(DU))
    s += functools.reduce(operator.mul, [u, w, z]).a
    s += functools.reduce(lambda p, e: p + e, (DU, NUM, DU)).d
    u = w
    u, w, z = w, z, u
    u = DUAL(NUM, NUM)
    u = DU if TEST else DUAL(NUM)
    r = u
    many = [DUAL(e, 1.0) for e in x] | s += sum(many[1:], many[0]).d
    many = [DUAL(e) for e in x] | s += (many[0] * many[1] + many[-1]).a
    many = [u, w] | many[0] += NUM | many[1] *= NUM | s += u.a
    for e in (u, w, z): e += NUM
    for e in (u, w, z): e *= NUM
    for e in x: u = u * e + w
    for e in x: w += e
    u.a = VEC | w = DU * 2.0 | s += worth(u + w) | u, w = DUAL(NUM), DUAL(NUM)
    s += worth(divmod(u, w))
    u = copy.copy(DU)
    t2 = (u, w) < (w, z) | s += t2 * NUM
    t2 = [u, w] == [u, z] | s += t2 * NUM
"""),
    ("u.a", "w.a", "z.d", "u.d", "worth(u + w)", "r.a"),
    "u.a + w.a * w.d + worth(z) + r.a * r.d",
    {
        "DUAL": ["Dual", "Dual", "Sub", "(Sub if TEST else Dual)"],
        "DU": ["u", "w", "z", "u", "w", "z", "r", "(u if TEST else w)", "DUAL(NUM)", "(u or w)"],
        "ARRAYS": [
            "__array_ufunc__ = None", "__array_priority__ = 10.0", "pass", "__array_ufunc__ = None",
        ],
        "COERCED": alternatives("""
            if not isinstance(o, Dual): o = Dual(o)
            o = o if isinstance(o, Dual) else Dual(o, 0.1)
            if isinstance(o, (list, str)): return NotImplemented;;if not isinstance(o, Dual): o = Dual(o)
        """),  # noqa: E501
        "IADD": alternatives("""
            pass
            def __iadd__(self, o):;;    self.a = self.a + getattr(o, 'a', o);;    return self
            def __iadd__(self, o):;;    if not isinstance(o, Dual): return NotImplemented;;    self.d += o.d;;    return self
            def __iadd__(self, o):;;    self.d += 0.1;;    return Dual(self.a + getattr(o, 'a', o))
        """),  # noqa: E501
        "EQ": alternatives("""
            return isinstance(o, Dual) and bool(np.all(self.a == o.a))
            return NotImplemented if not isinstance(o, Dual) else abs(self.a - o.a) < 0.3
            return self.a == getattr(o, 'a', o)
        """),
        "LT": alternatives("""
            return self.a < getattr(o, 'a', o)
            return self.a < o.a
            return self.a < o.a if isinstance(o, Dual) else NotImplemented
        """),
        "HASH": ["1", "id(type(self))", "hash(type(self).__name__)"],
        "EXIT": alternatives("""
            self.a = self.a * 0.9
            return kind is Oops
            self.d = e.value if isinstance(e, Oops) else self.d;;return True
        """),
    },
)  # fmt: skip

FAMILIES["dataclasses"] = Family(
    """
@dataclass(PLAIN)
class State:
    x: float
    v: float = 0.5
    log: list = field(default_factory=list, compare=COMPARE)
    tag: str = field(default='a', repr=False)
    by: InitVar[float] = 1.0
    total: float = field(init=False, default=0.25)
    made: ClassVar[int] = 3

    def __post_init__(self, by):
        POST

    def energy(self):
        return self.x * self.v + self.total + sum(self.log)


@dataclass(PLAIN)
class Spring(State):
    k: float = 0.8
    v: float = 0.9

    def energy(self):
        return super().energy() + self.k * self.x ** 2


@dataclass(frozen=True, FROZEN)
class Setting:
    rate: float
    size: tuple = (1.0, 2.0)
    inner: object = None

    def __post_init__(self):
        SETTINGPOST

    @property
    def both(self):
        return self.rate * self.size[0]

    def but(self, **changes):
        return dataclasses.replace(self, **changes)


@dataclass(kw_only=True, slots=SLOTS)
class Keyed:
    a: np.ndarray
    b: float = 0.3
    c: dict = field(default_factory=dict)

    @classmethod
    def zeros(cls, n):
        return cls(a=np.zeros(n))


class Pair(NamedTuple):
    u: float
    w: float = 0.5
    log: tuple = ()

    def norm(self):
        return self.u * self.u + self.w

    @property
    def first(self):
        return self[0] * 2.0

    @classmethod
    def of(cls, *vs):
        return cls(*vs)

    def __add__(self, o):
        return Pair(self.u + o[0], self.w + o[1], self.log)
""",
    "S, G, K, P = STATE(x[0]), Setting(x[1]), Keyed(a=x[:3] * 1.0), Pair(x[2], s) | S2 = S",
    lines("""
    S = STATE(NUM)
    S = STATE(NUM, NUM, by=NUM)
    S = STATE(NUM, log=[NUM, NUM])
    S = Spring(NUM, k=NUM)
    S.x = NUM
    S.x += NUM
    S.log.append(NUM)
    S.total *= NUM
    S.by = NUM
    s += S.by * NUM
    s += State.by * NUM
    s += S.energy()
    s += S2.energy()
    S2 = S
    S, S2 = S2, S
    S2 = dataclasses.replace(S, x=NUM)
    S2 = dataclasses.replace(S, v=NUM, by=NUM)
    S2 = dataclasses.replace(S, log=[NUM], by=1.0)
    S2 = dataclasses.replace(S, total=NUM, by=1.0)
    S2 = copy.copy(S)
    S2 = copy.deepcopy(S)
    S2 = copy.replace(S, x=NUM)
    s += dataclasses.asdict(S)['x'] * NUM
    d2 = dataclasses.asdict(S) | d2['log'].append(NUM) | s += sum(d2['log']) + len(S.log)
    s += sum(e for e in dataclasses.astuple(S) if isinstance(e, float))
    s += sum(dataclasses.astuple(S)[:2])
    s += dataclasses.astuple(Setting(NUM, (NUM, NUM), Pair(NUM)))[2][0]
    s += len(dataclasses.fields(S)) * NUM
    for e in dataclasses.fields(S): s += getattr(S, e.name) if e.name in 'xvk' else 0.1
    for e in dataclasses.fields(S): s += NUM if e.default is dataclasses.MISSING else 0.1
    s += (S == S2) * NUM
    s += (S == dataclasses.replace(S, by=1.0)) * NUM
    if S < S2: s += NUM
    s += max(S, S2).x
    s += sorted([S, S2, STATE(NUM)])[J].x
    s += len(S.tag) * NUM
    S.tag = S.tag + 'b'
    s += len({S: 1, S2: 2}) * NUM
    s += hash(G) * 0.0 + NUM
    s += {G: NUM, G.but(rate=0.1): 0.3}[G]
    s += {G, Setting(NUM)}.pop().rate * 0.0
    s += G.both * NUM
    G = G.but(rate=NUM)
    G = G.but(size=(NUM, NUM))
    G = G.but(inner=S)
    G = Setting(NUM, inner=P)
    G.rate = NUM
    if G.inner is S: s += NUM
    if G.inner: s += NUM
    s += getattr(G.inner, 'x', NUM)
    match G: |     case Setting(e, (d, h)): s += e * d + h
    match S: |     case Spring(k=e): s += e |     case State(x=e, log=[*_, d]): s += e * d |     case State(x=e): s += e
    match P: |     case Pair(e, d) if e > LIMIT: s += e * d |     case (e, *_): s += e
    K.a[J] = NUM
    K.a = VEC
    K.a *= NUM
    K.c['a'] = NUM
    K.c.setdefault('b', NUM)
    s += sum(K.c.values())
    s += K.c.get('a', NUM)
    K.extra = NUM
    K = Keyed(a=VEC, b=NUM)
    K = dataclasses.replace(K, b=NUM)
    K = Keyed(**{**{e.name: getattr(K, e.name) for e in dataclasses.fields(K)}, 'b': NUM})
    K = Keyed.zeros(3) | K.a[J] = NUM
    K = Keyed(K.a)
    s += np.sum(dataclasses.asdict(K)['a']) * NUM
    d2 = dataclasses.asdict(K) | d2['a'][0] = NUM | s += K.a[0]
    P = P._replace(w=NUM)
    P = Pair(NUM)
    P = Pair.of(NUM, NUM)
    P = Pair(*P[:2], log=(NUM,))
    P = P + (NUM, NUM)
    P = Pair._make((NUM, NUM, ()))
    P = Pair(**P._asdict())
    s += P.norm() * P.first
    e, d, *_ = P | s += e * d
    s += sum(P.log) + len(P._fields)
    s += P._asdict()['u']
    if P == (P.u, P.w, ()): s += NUM
    if P < Pair(NUM): s += NUM
    P.u = NUM
    many = [STATE(e) for e in x] | s += sum(e.energy() for e in many)
    many = [STATE(e) for e in x] | many.sort() | s += many[J].energy()
    many = [STATE(e) for e in x] | many = [dataclasses.replace(e, v=e.x, by=1.0) for e in many] | s += many[J].energy()
    many = [Pair(e) for e in x] | many = [e._replace(w=NUM) for e in many if e.u > LIMIT] | s += sum(e.norm() for e in many)
    many = {e: Setting(e) for e in x} | s += sum(e.rate * d for d, e in many.items())
    many = [Setting(e) for e in x] | s += max(many, key=lambda e: e.rate).both
    N = dataclasses.make_dataclass('N', ['a', ('b', float, 0.5)]) | s += N(NUM).a * N(NUM).b
    s += len(repr(P._fields)) * NUM
"""),  # noqa: E501
    ("S.x", "S.v", "S2.x", "G.rate", "K.b", "K.a[J]", "P.u", "P.w", "S.energy()", "G.both"),
    "S.energy() + S2.x * S2.v + G.both + np.sum(K.a * K.b) + P.norm()",
    {
        "STATE": ["State", "State", "Spring", "(Spring if TEST else State)"],
        "PLAIN": ["", "order=True", "eq=False", "order=True, unsafe_hash=True", "repr=False"],
        "COMPARE": ["True", "False"],
        "FROZEN": ["order=True", "eq=True", "slots=True"],
        "SLOTS": ["True", "False"],
        "POST": alternatives("""
            self.total = self.x * by
            self.log.append(self.x)
            if self.x > LIMIT: raise ValueError('large')
            if self.x > LIMIT: self.extra = self.x
            self.x = self.x * by
            pass
        """),
        "SETTINGPOST": alternatives("""
            pass
            object.__setattr__(self, 'rate', self.rate * 1.1)
            if self.rate > LIMIT: object.__setattr__(self, 'inner', 2.0)
            if not self.rate > 0.01: raise Oops(self.rate)
        """),
    },
)

FAMILIES["tools"] = Family(
    """
class Mode(enum.Enum):
    FAST = 1
    SLOW = 2
    OTHER = FAST

    def apply(self, v):
        return v * self.value if self is Mode.FAST else v - 0.1

    @property
    def next(self):
        return Mode.SLOW if self is Mode.FAST else Mode.FAST


class Order(enum.IntEnum):
    LOW = 0
    HIGH = 2


class Const(float, enum.Enum):
    G = 9.81
    C = 0.5


class Op(enum.Enum):
    ADD = (1, 0.5)
    MUL = (2, 1.5)

    def __init__(self, number, weight):
        self.number, self.weight = number, weight


class Flags(enum.Flag):
    A = 1
    B = 2


@singledispatch
def size(o):
    return 0.1


@size.register
def _(o: float):
    return o * 2.0


@size.register(list)
@size.register(tuple)
def _(o):
    return sum(size(e) for e in o)


@size.register
def _(o: Mode):
    return o.value * 1.0


class Model:
    made = 0
    table = {}

    def __init__(self, w, mode=Mode.FAST):
        self.w, self.mode, self.calls = w, mode, 0
        self.f = FUNCTION
        self.hooks = [self.half, lambda v: v * self.w]
        self.ops = {'half': self.half, 'w': lambda: self.w}
        COUNTED

    def __call__(self, v):
        self.calls += 1
        CALL

    def half(self, v):
        self.calls += 1
        return v * 0.5 * self.w

    def power(self, v, n, by=1.0):
        return v ** n * by

    square = partialmethod(power, 2)
    cube = partialmethod(power, n=3, by=0.1)

    @cached_property
    def area(self):
        self.calls += 1
        return self.w * self.w

    @functools.singledispatchmethod
    def take(self, o):
        return self.w

    @take.register
    def _(self, o: float):
        self.w = self.w + 0.1 * o
        return o

    @take.register
    def _(self, o: tuple):
        return sum(self.take(e) for e in o)

    @contextlib.contextmanager
    def weighted(self, by):
        kept, self.w = self.w, self.w * by
        WEIGHTED

    @functools.wraps(size)
    def wrapped(self, *args, **more):
        return self.f(*args, **more)

    @classmethod
    @contextlib.contextmanager
    def made_of(cls, w):
        yield cls(w)

    def counter(self):
        total = 0.0

        def add(v):
            nonlocal total
            total += v * self.w
            return total

        return add


def logged(f):
    @functools.wraps(f)
    def run(self, *args):
        self.calls += 1
        return f(self, *args) * 1.1
    return run


class Child(Model):
    @logged
    def half(self, v):
        return super().half(v)

    @functools.lru_cache(maxsize=None)
    def table_of(self, n):
        self.calls += 1
        return n * 0.5

    @cached_property
    def area(self):
        return super().area + 0.3 if False else self.w

    power2 = lambda self, v: v * v * self.w
""",
    "m, l, e0 = MODEL(x[0]), MODEL(x[1], Mode.SLOW), Mode.FAST | add, ns, bag = m.counter(), SimpleNamespace(a=x[2], f=m.half), []",  # noqa: E501
    lines("""
    s += MO(NUM)
    s += MO.half(NUM)
    s += MO.f(NUM)
    s += MO.square(NUM)
    s += MO.cube(NUM)
    s += MO.area
    del MO.area
    MO.area = NUM
    s += ('area' in vars(MO)) * NUM
    MO.w = NUM
    MO.w *= NUM
    s += MO.calls * NUM
    s += MO.take(float(NUM))
    s += MO.take((1.5, 0.5))
    s += MO.take('a')
    s += MO.wrapped(NUM)
    with MO.weighted(NUM): s += MO.w
    with MO.weighted(NUM) as e: s += MO.half(e)
    with MO.weighted(NUM): |     if TEST: raise Oops(MO.w) |     s += NUM
    with MO.weighted(0.9), MO.weighted(NUM): s += MO.area
    with Model.made_of(NUM) as e: s += e(NUM)
    with contextlib.ExitStack() as stack: |     e = stack.enter_context(MO.weighted(NUM)) |     s += MO.w
    with contextlib.ExitStack() as stack: |     stack.callback(bag.append, NUM) |     s += NUM
    with contextlib.suppress(Oops, AttributeError): |     s += MO.area |     del MO.area |     del MO.area
    s += add(NUM)
    add = MO.counter() | add(NUM)
    s += sum(h(NUM) for h in MO.hooks)
    MO.hooks.append(MO.square)
    MO.hooks.append(partial(MO.power, n=2, by=NUM))
    MO.hooks[0] = add
    for h in MO.hooks: s += h(NUM)
    s += MO.ops['half'](NUM)
    s += MO.ops['w']()
    MO.ops['half'] = MO.hooks[-1]
    MO.f = MO.half
    MO.f = lambda v, w=NUM: v * w
    MO.f = add
    MO.half = lambda v: v * NUM
    m = MODEL(NUM)
    m, l = l, m
    l = m
    l = copy.copy(MO)
    l = copy.deepcopy(MO)
    h = MO.half | m = MODEL(NUM) | s += h(NUM)
    h = functools.partial(MO.power, NUM) | s += h(2) + h(n=3, by=NUM)
    h = operator.methodcaller('half', NUM) | s += h(MO)
    h = MO.half.__func__ | s += h(m, NUM)
    if MO.half == MO.hooks[0]: s += NUM
    s += Model.made * 0.1
    Model.table['a'] = 2
    s += len(Model.table) * NUM
    s += Model.table.get('a', 0) * NUM
    s += e0.apply(NUM)
    s += e0.value * NUM
    e0 = e0.next
    e0 = Mode.SLOW if TEST else Mode.FAST
    e0 = Mode(1 + k % 2)
    e0 = Mode['SLOW']
    s += {Mode.FAST: NUM, Mode.SLOW: s}[e0]
    if e0 is Mode.FAST: s += NUM
    if e0 == Mode.OTHER: s += NUM
    if MO.mode in (Mode.FAST,): s += NUM
    MO.mode = e0
    s += MO.mode.apply(NUM)
    match e0: |     case Mode.FAST: s += NUM |     case Mode.SLOW: s *= 0.9
    s += len(e0.name) * NUM
    s += sum(e.value for e in Mode) * NUM
    s += x[Order.HIGH] * Order.HIGH
    s += x[Order(0)] + (Order.LOW < Order.HIGH)
    s += Const.G * NUM
    s += Const.C.value * NUM
    s += Op.MUL.weight * NUM
    s += sum(o.weight * o.number for o in Op) * NUM
    fl = Flags.A | Flags.B if TEST else Flags.A
    s += (Flags.B in (Flags.A if TEST else Flags.B)) * NUM
    s += (Flags.A if TEST else Flags.B).value * NUM
    s += size(float(NUM))
    s += size([1.5, 0.5, 'a'])
    s += size(e0)
    s += size(NUM)
    ns.a = NUM
    ns.b = NUM
    s += getattr(ns, 'b', NUM)
    s += ns.f(NUM) * ns.a
    ns = SimpleNamespace(**vars(ns))
    ns.f = MO.square
    bag.append(MO.half)
    bag.append(lambda v: v * NUM)
    bag.append(lambda v, i=k: v * i)
    s += sum(h(NUM) for h in bag)
    for h in bag: s += h(NUM) * 0.1
    hs = [lambda v, e=e: v * e for e in x] | s += hs[J](NUM)
    hs = [MODEL(e).half for e in x] | s += hs[J](NUM) + sum(h(s) for h in hs)
    hs = [partial(MO.power, n=i) for i in range(3)] | s += sum(h(NUM) for h in hs)
    hs = {n2: getattr(MO, n2) for n2 in ('half', 'square')} | s += hs['half'](NUM) * hs['square'](NUM)
    for name in ('half', 'square', 'cube'): s += getattr(MO, name)(NUM)
    ms = [MODEL(e) for e in x] | s += ms[J](NUM) + sum(e.half(NUM) for e in ms)
    ms = [MODEL(e, e0) for e in x] | for e in ms: e.w *= NUM | s += ms[J].area
    ms = [MODEL(e) for e in x] | s += sum(e.area + e.w for e in ms) + sum(e.calls for e in ms)
    if isinstance(MO, Child): s += MO.table_of(2) + MO.table_of(2) + MO.calls
    if isinstance(MO, Child): s += MO.power2(NUM)
    if callable(MO) and TEST: s += NUM
"""),  # noqa: E501
    ("m.w", "l.w", "m.area", "ns.a", "m.half(0.5)", "m(x[I])", "add(0.5)", "e0.value"),
    "m(x[1]) + l.half(x[2]) + m.w * l.w + ns.a + add(x[0]) + len(bag) + m.calls * 0.01",
    {
        "MODEL": ["Model", "Model", "Child", "(Child if TEST else Model)"],
        "MO": ["m", "l", "m", "l", "(m if TEST else l)"],
        "FUNCTION": [
            "self.half", "lambda v: v * w", "partial(self.power, n=2)", "partial(np.multiply, w)",
            "self.mode.apply", "np.sin", "functools.partial(operator.mul, 2.0)",
        ],
        "COUNTED": ["pass", "Model.made += 1", "type(self).made += 1"],
        "CALL": alternatives("""
            return self.f(v) + self.mode.apply(v)
            if v > LIMIT: return self.half(v);;return self.square(v)
            return sum(h(v) for h in self.hooks)
            self.f = self.half;;return v * self.w
            return self.area * v
        """),
        "WEIGHTED": alternatives("""
            try:;;    yield kept;;finally:;;    self.w = kept
            yield by;;self.w = kept
            try:;;    yield self.w;;except Oops as e:;;    self.w = e.value
            try:;;    yield kept;;except Oops as e:;;    raise Worse(e.value * 2) from e;;else:;;    self.w += 0.1
        """),  # noqa: E501
    },
)  # fmt: skip

FAMILIES["state"] = Family(
    """
class Cell:
    count = 0
    shared = np.array([0.5, 1.5, 2.5])
    seen = []

    def __init__(self, part, near=None):
        self.part, self.near = part, near
        self.parts = [part, part[::-1]]
        NEAR

    def write(self, i, v):
        self.part[i] = v
        return self

    def solve(self, v, depth=0):
        try:
            SOLVE
        except Oops as e:
            HANDLE
        finally:
            FINALLY

    def limit(self, v):
        if v > LIMIT:
            raise RAISED
        return v * 0.5

    def total(self):
        return np.sum(self.part * self.weights)

    @property
    def weights(self):
        return WEIGHTS

    @property
    def mean(self):
        return np.mean(self.part)

    @mean.setter
    def mean(self, v):
        self.part += v - np.mean(self.part)

    def __copy__(self):
        COPY

    def __deepcopy__(self, memo):
        return type(self)(copy.deepcopy(self.part, memo), copy.deepcopy(self.near, memo))


class Grid(Cell):
    def write(self, i, v):
        if v > LIMIT:
            self.last = v
        return super().write(i, v * 0.9)

    def solve(self, v, depth=0):
        try:
            return super().solve(v, depth) * 2.0
        except Oops as e:
            self.part[1] += e.worth()
            if e.args[0] > LIMIT: raise
            return e.value


class Node:
    def __init__(self, v, left=None, right=None):
        self.v, self.left, self.right = v, left, right

    def insert(self, v):
        if v < self.v:
            self.left = self.left.insert(v) if self.left else Node(v)
        elif self.right is None:
            self.right = Node(v)
        else:
            self.right.insert(v)
        return self

    def __iter__(self):
        if self.left: yield from self.left
        yield self.v
        if self.right: yield from self.right

    def depth(self):
        return 1 + max(e.depth() if e else 0 for e in (self.left, self.right))


def change(cell, v, into=None):
    cell.part[0] *= v
    if v > LIMIT:
        cell.near = into
        return cell
    cell.part = cell.part * 1.1
    return into or cell
""",
    "base = np.concatenate((x, q.v)) * 1.0 | g, h = CELL_(base[:3]), CELL_(base[PART]) | cs, tree, ch = [g, h], Node(x[0]), g",  # noqa: E501
    lines("""
    CE.part[J] = NUM
    CE.part *= NUM
    CE.part = VEC
    CE.part = base[PART]
    CE.part = VEC * 1.0
    CE.parts[0][J] = NUM
    CE.parts[1] += NUM
    CE.write(J, NUM).write(0, NUM)
    base[I] = NUM
    base *= NUM
    s += CE.total()
    s += CE.mean
    CE.mean = NUM
    CE.mean += NUM
    s += CE.solve(NUM)
    s += CE.limit(NUM)
    try: |     s += CE.limit(NUM) | except Oops as e: |     s += e.value * e.worth()
    try: |     s += CE.solve(NUM) | except Worse as e: |     s += e.value | except Oops as e: |     s += e.worth()
    try: |     raise Worse(CE.mean) from Oops(NUM) | except Oops as e: |     s += e.__cause__.value * e.value
    try: |     CE.limit(NUM) ; s += NUM | except Oops: |     CE.part[J] = NUM | else: |     s *= 0.9 | finally: |     CE.part[0] += 0.1
    er = Oops(NUM) | s += er.worth() + er.args[0] + len(er.where)
    er = None | try: |     CE.limit(NUM) | except Oops as e: |     er = e | s += er.value if er else NUM
    CE.near = CE
    CE.near = None
    s += CE.near.mean if CE.near else NUM
    if CE.near is not None: CE.near.part[0] = NUM
    if CE.near is CE: s += NUM
    s += getattr(CE, 'last', NUM)
    s += CE.last
    s += change(CE, NUM, CE).mean
    ch = change(CE, NUM)
    g, h = h, g
    g = h
    g = CELL_(VEC * 1.0, CE)
    g = CELL_(base[PART], h)
    h = copy.copy(CE)
    h = copy.deepcopy(CE)
    cs = copy.copy(cs)
    cs = copy.deepcopy(cs)
    cs.append(CE)
    cs.append(CELL_(base[PART]))
    cs = [CELL_(base[i:i + 3]) for i in range(3)]
    cs = [CELL_(np.array([e, s, 0.5])) for e in x]
    cs[0], cs[1] = cs[1], cs[0]
    cs[J % 2] = CE
    for c in cs: c.part[0] += NUM
    for c in cs: s += c.mean * NUM
    for c in cs: s += c.solve(NUM)
    for c, d in zip(cs, cs[1:]): c.near = d
    for c, d in zip(cs, cs[1:]): d.part[0] += c.part[1]
    for c in cs: c.part = c.part * NUM
    for c in cs: s += c.near.mean if c.near is not None else 0.1
    c = max(cs, key=lambda c: c.mean) | c.part[0] = NUM
    d2 = {'a': g, 'b': h} | d2['a'], d2['b'] = d2['b'], d2['a'] | d2['a'].part[J] = NUM | s += d2['b'].mean
    Cell.count += 1
    s += Cell.count * 0.1 + g.count
    g.count += 1 | s += g.count * NUM
    g.count += NUM | s += g.count
    Cell.seen.append(2)
    s += len(g.seen) * NUM
    s += np.sum(Cell.shared * CE.part)
    CE.shared = VEC | s += np.sum(CE.shared)
    tree.insert(NUM)
    for e in x: tree.insert(e * NUM)
    tree = Node(NUM, tree)
    tree.v = NUM
    s += sum(e * (i + 1) for i, e in enumerate(tree))
    s += next(iter(tree))
    s += tree.depth() * NUM
    n2 = tree | while n2.left is not None: n2 = n2.left | s += n2.v
    n2 = tree | while n2.right: n2.v *= NUM; n2 = n2.right
    tree.left, tree.right = tree.right, tree.left
    tree = copy.deepcopy(tree) | tree.v *= NUM
    r2 = tree.left or tree | r2.v = NUM
"""),  # noqa: E501
    ("g.mean", "h.part[J]", "g.part[J]", "base[I]", "g.total()", "tree.v", "ch.mean"),
    "g.total() + h.mean + np.sum(base) + sum(tree) + ch.total() + sum(c.mean for c in cs)",
    {
        "CELL_": ["Cell", "Cell", "Grid", "(Grid if TEST else Cell)"],
        "CE": ["g", "h", "ch", "cs[J % 2]", "(g if TEST else h)", "g", "h"],
        "PART": ["3:6", "1:4", "2:5", "::-2", "4::-2"],
        "NEAR": ["pass", "if part[0] > LIMIT: self.last = part[0]", "self.count += 1"],
        "WEIGHTS": ["self.shared", "self.part * 0.5", "np.arange(1.0, 4.0)", "Cell.shared + 0.1"],
        "SOLVE": alternatives("""
            return self.limit(v) + self.part[0]
            if depth < 2: return self.solve(v * 0.8, depth + 1) + v;;return self.limit(v)
            self.part[0] = self.limit(v);;return self.part[1] * v
            for e in self.part:;;    if e > LIMIT: return e * v;;return self.limit(v)
        """),
        "HANDLE": alternatives("""
            return e.value * 0.7
            self.part[0] = e.value;;return 0.3
            raise Worse(e.value * 0.5) from e
            v = e.worth();;raise
            pass
        """),
        "FINALLY": alternatives("""
            pass
            self.part[2] *= 0.9
            if v > LIMIT: return self.part[0]
            self.count = self.count + 1
            self.last = v
        """),
        "RAISED": ["Oops(v)", "Worse(v)", "Oops(v * 2, 'there')", "Worse(self.part[0])"],
        "COPY": alternatives("""
            return type(self)(self.part, self.near)
            return Cell(self.part.copy())
            new = object.__new__(type(self));;new.__dict__.update(self.__dict__);;return new
        """),
    },
)


class Writer:
    """Writes a program of the statements of some families."""

    def __init__(self, seed: int, names: tuple[str, ...] = ()) -> None:
        r = self.random = random.Random(seed)
        names = names or tuple(r.sample(list(FAMILIES), r.choice((1, 1, 2, 2, 3))))
        self.families = [FAMILIES[name] for name in names]
        mine = {"MINE": [n for family in self.families for n in family.numbers]}
        self.words = {**WORDS, **mine}
        for family in self.families:
            self.words |= family.words

    def source(self) -> str:
        """The text of `f`, a function of an array of four numbers, a Param and an int."""
        r = self.random
        text = BEFORE + "\n\ndef worth(o):\n" + WORTH
        begin = ["s = 0.4"]
        plain = {**self.words, "MINE": ["x[I]"]}
        for family in self.families:
            rows = family.classes.split("\n")
            text += "\n" + "\n".join(row for line in rows for row in self.row(line, plain)) + "\n"
            begin += [row for line in family.begin.split(" | ") for row in self.row(line, plain)]
        body = [*begin]
        for _ in range(r.randint(2, 6)):
            body += self.statement()
        ends = " + ".join(family.end for family in self.families)
        body.append(f"return s + q.a * np.sum(q.v) + q.rest.u * sum(q.rest.w) + {ends}")
        return text + "\n\n" + "\n".join(indented("def f(x, q, k):", body)) + "\n"

    def row(self, line: str, words: dict[str, list[str]]) -> list[str]:
        """A line of a class, or several in its place."""
        indent = line[: len(line) - len(line.lstrip())]
        return [
            indent + row if row else row
            for row in filled(line.strip(), words, self.random, 8).split("\n")
        ]

    def statement(self) -> list[str]:
        r = self.random
        patterns = STATEMENTS if r.random() < 0.12 else r.choice(self.families).statements
        rows = statement(
            r,
            self.words,
            [p.replace(" | ", "\n").replace(" ; ", "; ") for p in patterns],
            HEADS,
            0.25,
            2,
            2,
            5,
        )
        if r.random() < 0.4:
            rows = indented("try:", rows)
            rows += indented(f"except {r.choice(CAUGHT)}:", [filled("s += NUM", self.words, r, 3)])
        return rows


WORTH = """\
    if o is NotImplemented or o is None:
        return 0.25
    if isinstance(o, np.ndarray):
        return sum(worth(e) for e in o) if o.dtype == object else np.sum(o)
    if isinstance(o, tuple):
        return sum(worth(e) for e in o)
    return getattr(o, 'a', o) + getattr(o, 'd', 0.1)
"""


def loaded(text: str) -> dict[str, Any]:
    """What a program defines; it doesn't have the `__future__` of this module."""
    name = f"<classes {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {"__name__": __name__}  # or its classes are Python's
    exec(compile(text, name, "exec", dont_inherit=True), namespace)
    return namespace


def leaves(o: Any) -> list[Any]:
    """The numbers of a tree of arrays, lists and objects, one after the other.

    >>> leaves([1.0, np.ones(2)])
    [1.0, np.float64(1.0), np.float64(1.0)]
    """
    if isinstance(o, list | np.ndarray):
        return [leaf for item in o for leaf in leaves(item)]
    if hasattr(o, "__dict__"):
        return [leaf for name in sorted(vars(o)) for leaf in leaves(vars(o)[name])]
    return [o]


def param(namespace: dict[str, Any], numbers: Any) -> Any:
    """The Param that is passed, of nine numbers."""
    inner = namespace["Inner"](float(numbers[4]), [float(v) for v in numbers[5:8]])
    return namespace["Param"](float(numbers[0]), np.array(numbers[1:4]), inner)


def outcome_of(run: Any) -> Any:
    try:
        return run()
    except Exception as error:
        return error


def check(text: str, seed: int) -> str:
    """What becomes of a program: "right", "raised", "invalid" (no test), or "refused: ..."

    Raises:
        Wrong: a value, a derivative, an exception or what is left of the arguments is wrong.
    """
    r = np.random.default_rng(seed)
    x, p, dx, dp = r.uniform(0.2, 1.4, 4), r.uniform(0.2, 1.4, 8), *r.normal(size=(2, 12))[:, :8]
    dx, k = dx[:4], seed % 3
    # each call in a module of its own: classes have state
    programs = iter([loaded(text) for _ in range(9)])

    def called(h: float) -> Any:
        n = next(programs)
        return n["f"](x + h * dx, param(n, p + h * dp), k)

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        value = outcome_of(lambda: called(0.0))
        n = next(programs)
        mine, theirs = x.copy(), param(n, p)
        found = outcome_of(lambda: srcgrad.value_and_grad(n["f"], (0, 1))(mine, theirs, k))
        if isinstance(found, srcgrad.UnsupportedError):
            REFUSED.append(found)
            return f"refused: {found.message}"
        if isinstance(found, Exception) and any(reason in str(found) for reason in LATE):
            return "refused: when it runs"
        if isinstance(found, TypeError) and "needs a function that returns" in str(found):
            return "invalid"
        if isinstance(found, srcgrad.InternalError):
            raise Wrong(f"InternalError: {found}")
        if isinstance(value, Exception) or isinstance(found, Exception):
            return compared(value, found)
        if not np.array_equal(mine, x) or leaves(theirs) != list(leaves(param(n, p))):
            raise Wrong("the arguments were changed")
        if type(found[0]) is not type(value):
            raise Wrong(f"type: {type(found[0])} instead of {type(value)}")
        if not np.allclose(found[0], value, rtol=1e-9, equal_nan=True):
            raise Wrong(f"the value is {found[0]}, not {value}")
        near = [outcome_of(lambda h=h: called(h)) for h in (1e-6, -1e-6, 2e-6, -2e-6)]
        n = next(programs)
        given = (x.copy(), param(n, p), k), (dx.copy(), param(n, dp), None)
        forward = outcome_of(lambda: srcgrad.jvp(n["f"], *given)[1])
    if any(isinstance(end, Exception) for end in near) or not abs(value) < 1e6:
        return "invalid"
    slopes = (near[0] - near[1]) / 2e-6, (near[2] - near[3]) / 4e-6
    if not np.isclose(*slopes, rtol=1e-5, atol=1e-5):
        return "invalid"
    if isinstance(forward, srcgrad.UnsupportedError):
        forward = slopes[0]
    elif isinstance(forward, Exception):
        raise Wrong(f"forward mode raises {type(forward).__name__}: {forward}")
    gradient = [*leaves(found[1][0]), *leaves(found[1][1])]
    direction = [*leaves(dx), *leaves(param(n, dp))]
    total = np.dot(gradient, direction) if len(gradient) == len(direction) else np.nan
    for name, derivative in {"reverse": total, "forward": forward}.items():
        if not np.isclose(derivative, slopes[0], rtol=1e-4, atol=1e-4 * (1 + 0.01 * abs(value))):
            raise Wrong(f"{name}: the derivative is {derivative}, not {slopes[0]}")
    return "right"


def compared(value: Any, found: Any) -> str:
    """What is said where the function or its gradient raises: "raised" if both do alike."""
    if isinstance(value, Exception) and not isinstance(found, Exception):
        if type(value).__name__ in ("IndexError", "KeyError"):
            return "invalid"  # what isn't needed isn't looked up
    if type(value).__name__ != type(found).__name__:
        raise Wrong(f"{found!r} instead of {value!r}"[:700])
    if type(value).__name__ in ("Oops", "Worse") and value.args[1:] != found.args[1:]:
        raise Wrong(f"{found!r} instead of {value!r}")
    if type(value).__name__ in ("Oops", "Worse") and not np.isclose(value.args[0], found.args[0]):
        raise Wrong(f"{found!r} instead of {value!r}")
    return "raised"


REFUSED: list[srcgrad.UnsupportedError] = []  # in order


def outcome(text: str, seed: int) -> str:
    try:
        return check(text, seed)
    except Wrong as error:
        return f"wrong: {error}"


def alike(text: str, seed: int, word: str) -> Callable[[str], bool]:
    """Whether another program ends as this one does, and the same is said of it."""
    return lambda other: other[-80:] == text[-80:] and outcome(other, seed).startswith(word)


def main(count: int, first: int, names: tuple[str, ...]) -> None:
    """Check programs, print those that fail, and how many ended how."""
    words: Counter[str] = Counter()
    for seed in range(first, first + count):
        text = Writer(seed, names).source()
        word = outcome(text, seed)
        words[word if word.startswith("refused") else word.split(":")[0]] += 1
        if word.startswith("wrong"):
            small = shrunk(text, alike(text, seed, word[:40]), 40.0)
            small = small.replace(BEFORE, "").replace("def worth(o):\n" + WORTH, "")
            print(f"seed {seed}\n{small}\n{word}\n", flush=True)
        elif word.startswith("refused: ") and "when it" not in word and words[word] < 3:
            print(f"seed {seed}: {REFUSED[-1]}\n", flush=True)
    for word, times in words.most_common():
        print(times, word)


if __name__ == "__main__":
    main(int(sys.argv[1]), int((sys.argv[2:] or ["0"])[0]), tuple(sys.argv[3:]))
