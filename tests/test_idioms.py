"""What people write in Python: idioms, classes, the standard library; lists given to NumPy.

One small function each, of three numbers, compared with finite differences.
"""

import abc
import bisect
import collections.abc
import contextlib
import copy
import dataclasses
import enum
import functools
import heapq
import inspect
import itertools
import math
import numbers
import operator
import random
import re
import statistics
import sys
import time
import typing
import weakref
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field, replace
from functools import (
    cache,
    cached_property,
    lru_cache,
    partial,
    partialmethod,
    reduce,
    singledispatch,
    singledispatchmethod,
    wraps,
)

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

X = np.array([0.3, 0.8, 0.55])


def class_inside(x):
    class Point:
        def __init__(self, a, b):
            self.a, self.b = a, b

        def norm(self):
            return self.a**2 + self.b**2

    return Point(x[0], x[1]).norm() + x[2]


def dataclass_inside(x):
    @dataclass
    class P:
        a: float
        b: float = 2.0

    p = P(x[0])
    return p.a * p.b + x[1]


class Registering:
    def __init__(self, weight):
        self.arrays, self.children = {}, []
        self.weight = weight

    def __setattr__(self, name, value):
        if isinstance(value, np.ndarray):
            self.arrays[name] = value
        if isinstance(value, Registering):
            self.children.append(value)
        super().__setattr__(name, value)

    def parameters(self):
        yield from self.arrays.values()
        for child in self.children:
            yield from child.parameters()


def attributes_registered_by_a_setattr(x):
    outer = Registering(x * 2)
    outer.inner = Registering(np.sin(x))
    outer.weight = outer.weight * outer.inner.weight
    return sum(np.sum(p**2) for p in outer.parameters())


def added_axes_are_summed(x):
    """As engines do with the slope of what was broadcast: here nothing was."""
    slope = x * np.ones_like(x)
    for _ in range(slope.ndim - x.ndim):
        slope = slope.sum(axis=0)
    for axis, length in enumerate(x.shape):
        if length == 1:
            slope = slope.sum(axis=axis, keepdims=True)
    slope += 1.0
    return np.sum(slope * x)


def objects_named_in_messages(x):
    context = object()
    holder = Recurrent()
    assert x.shape == (3,), f"the shapes of {holder!r} and {context!r} differ: {x.shape!r}"
    if x[0] > 5:
        raise ValueError(f"too much for {holder}", holder)
    return x[0] * x[1]


def cheapest_way(x):
    """Dijkstra's algorithm: the heap compares names where two costs are the same."""
    graph = {
        "a": {"b": x[0], "c": x[1] + 1.0, "e": x[0]},
        "b": {"c": x[2], "d": 2.0},
        "c": {"d": x[0] * 0.5},
        "d": {},
        "e": {"d": 3.0},
    }
    heap, done = [(0.0, "a")], set()
    while heap:
        cost, node = heapq.heappop(heap)
        if node in done:
            continue
        done.add(node)
        if node == "d":
            break
        for other, step in graph[node].items():
            if other not in done:
                heapq.heappush(heap, (cost + step, other))
    return cost**2


class Kernel:
    """It keeps the method that it was told to use, and asks which one that is."""

    def __init__(self, name):
        self.chosen = {"cubic": self.cubic, "wave": self.wave}[name]

    def cubic(self, x):
        return x**3

    def wave(self, x):
        return np.sin(x)

    def __call__(self, x):
        if self.chosen == self.cubic:
            return self.chosen(x) + x[0]
        return self.chosen(x) if self.chosen != Kernel("wave").wave else self.chosen(x) * x[1]


KERNEL = Kernel("cubic")


def equal_methods(x):
    inside, first = Kernel("wave"), KERNEL(x)
    return np.sum(first * inside(x)) + (1.0 if inside.cubic == KERNEL.cubic else x[2])


def activated(z, activation):
    if activation == "relu" or activation in ("plus", None):
        return np.maximum(z, 0)
    return np.tanh(z) if activation == "tanh" or activation == np.tanh else activation(z)


def a_name_or_a_function(x):
    square = lambda z: z**2  # noqa: E731
    total = activated(x, "relu") + activated(x, square) + activated(x, KERNEL.cubic)
    return np.sum(total * activated(x, np.tanh) * (square != np.sum) * (square == square))  # noqa: PLR0124


class Factors(collections.abc.Mapping):
    """Equal to other mappings, as the class that it inherits from says, and to nothing else."""

    def __init__(self, values):
        self.values_ = values

    def __getitem__(self, key):
        return self.values_[key]

    def __iter__(self):
        return iter(range(len(self.values_)))

    def __len__(self):
        return len(self.values_)


def a_name_or_an_object_that_compares_itself(x):
    factors = Factors(x)
    if factors == "random" or factors in ("svd", 2):
        return 0.0
    return np.sum(factors[0] * x**2)


class Recurrent:
    """Its state is None, then another object in each step, which knows where it comes from."""

    def __init__(self):
        self.state = None

    def step(self, value):
        new = Recurrent()
        new.parents = [self.state, value] if self.state is not None else [value]
        new.value = np.tanh(value + (self.state.value if self.state is not None else 0.0))
        self.state = new


def another_object_in_each_iteration(x):
    cell = Recurrent()
    for i in range(3):
        cell.step(x[i])
    return cell.state.value * cell.state.parents[0].parents[1]


def function_of_another_iteration(x):
    def times(k):
        return lambda v: v * k

    h, total = times(x[0]), 0.0
    for i in range(3):
        total += h(x[i])
        h = times(x[i])
    return total


def namedtuple_inside(x):
    P = namedtuple("P", "a b")
    p = P(x[0], x[1])
    return p.a * p.b


def with_errstate(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(x)
    return y.sum()


def errstate_return(x):
    with np.errstate(all="ignore"):
        return np.sum(np.sqrt(x))


@contextlib.contextmanager
def scaled(v):
    yield v * 2


def with_contextmanager(x):
    with scaled(x) as y:
        z = y * x
    return z.sum()


def with_local_contextmanager(x):
    @contextlib.contextmanager
    def raised(v, by=1.0):
        nonlocal level
        before, level = level, level + by
        try:
            yield v * level
        finally:
            level = before

    level, total = x[0], 0.0
    with raised(x[1], by=x[2]) as y:
        total += y * level
    with raised(2.0) as y, raised(3.0) as z:
        total += y * z
    return total + level


def with_suppress(x):
    with contextlib.suppress(ZeroDivisionError):
        y = x * 2
    return y.sum()


def with_nullcontext(x):
    with contextlib.nullcontext(x * 3) as y:
        z = y
    return z.sum()


def try_value_error(x):
    try:
        y = np.sum(x) * 2
    except ValueError:
        y = 0.0
    return y


def try_zero_division(x):
    try:
        r = 1.0 / float(x[0])
    except ZeroDivisionError:
        r = 0.0
    return r * x[1]


def try_key_error(x):
    d = {"a": x[0]}
    try:
        v = d["b"]
    except KeyError:
        v = x[1]
    return v * d["a"]


def try_index_error(x):
    items = [x[0], x[1]]
    try:
        v = items[5]
    except IndexError:
        v = x[2]
    return v * v


def try_attribute_error(x):
    try:
        v = x.nonexistent
    except AttributeError:
        v = x * 2
    return v.sum()


def try_type_error(x):
    def g(a, b):
        return a * b

    try:
        v = g(x)
    except TypeError:
        v = g(x, x)
    return v.sum()


def try_raise_inside(x):
    def g(v):
        if v > 100:
            raise ValueError("too big")
        return v * v

    try:
        r = g(x[0])
    except ValueError:
        r = x[1]
    return r


def try_exception_generic(x):
    try:
        y = np.linalg.cholesky(np.outer(x, x) + np.eye(len(x)))
    except Exception:
        y = np.eye(len(x))
    return y.sum()


def try_else_finally(x):
    log = []
    try:
        y = x * 3
    except ValueError:
        y = x
    else:
        y = y + 1
    finally:
        log.append(1)
    return y.sum() * len(log)


def gen_in_for(x):
    def gen(n):
        for i in range(n):
            yield x[i] * i

    s = 0.0
    for v in gen(3):
        s += v
    return s


def yield_from(x):
    def inner():
        yield x[0]
        yield x[1]

    def outer():
        yield from inner()
        yield x[2]

    return sum(outer())


def generator_list(x):
    def gen():
        for v in x:
            if v > 0:
                yield v * v

    return sum(list(gen()))


def generator_array(x):
    def gen():
        a = 1.0
        for v in x:
            a *= v
            yield a

    return np.sum(np.array(list(gen())))


def generator_next(x):
    it = iter([x[0], x[1], x[2]])
    a = next(it)
    b = next(it)
    return a * b


def generator_zip(x):
    def gen():
        for v in x:
            yield v * 2

    return sum(a * b for a, b in zip(gen(), x))


def match_class(x):
    @dataclass
    class A:
        v: float

    match A(x[0]):
        case A(v=v):
            return v * v
        case _:
            return 0.0


def match_value(x):
    def act(kind, v):
        match kind:
            case "tanh":
                return np.tanh(v)
            case "relu" | "lrelu":
                return np.maximum(v, 0)
            case _:
                raise ValueError(kind)

    return act("tanh", x).sum() + act("relu", x).sum()


def walrus_comp(x):
    return sum(y for v in x if (y := v * v) > 0.01)


def walrus_while(x):
    i = 0
    s = 0.0
    while (n := len(x)) > i:
        s += x[i] * n
        i += 1
    return s


def star_args(x):
    def f(*args, **kw):
        return sum(args) * kw["k"]

    return f(*x, k=2.0)


def star_args2(x):
    def f(a, b, *rest, s=1.0):
        return a * b + sum(rest) * s

    args = (x[0], x[1], x[2])
    return f(*args, **{"s": 3.0})


def nonlocal_counter(x):
    total = 0.0

    def add(v):
        nonlocal total
        total += v * v

    for v in x:
        add(v)
    return total


def fstrings(x):
    s = f"{x[0]:.3f} {len(x)!r:>{10}}"
    return np.sum(x) * len("abc")


def ranges_as_arrays(x):
    scores = np.outer(x, x) + 0.1 * np.arange(9).reshape(3, 3)
    labels, count = np.array([0, 2, 1]), len(scores)
    picked = scores[range(count), labels]
    scores[range(count), list(labels)] -= 1
    scores[range(1, count, 2)] *= 2
    total = np.dot(scores[:, 1] ** 2, range(count)) + np.sum(range(count)) * scores[0, range(2)]
    return np.sum(np.log(picked**2)) + np.sum(total**2) + np.mean(np.array(range(3)) * x**2)


def default_mutable(x, acc=[]):
    def g(v, store=[]):
        store.append(v)
        return store[-1] * len(store)

    return g(x[0]) + g(x[1])


@lru_cache(maxsize=None)
def binom(n, k):
    return 1 if k in (0, n) else binom(n - 1, k - 1) + binom(n - 1, k)


def lru(x):
    return sum(binom(4, i) * x[i % 3] for i in range(5))


@cache
def weights(n):
    return np.arange(n) * 0.5


def cached_array(x):
    return np.sum(weights(3) * x)


class Vec:
    __slots__ = ("x", "y")
    count = 3

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, o):
        return Vec(self.x + o.x, self.y + o.y)

    def __radd__(self, o):
        return self if o == 0 else self + o

    def __sub__(self, o):
        return Vec(self.x - o.x, self.y - o.y)

    def __mul__(self, s):
        return Vec(self.x * s, self.y * s)

    __rmul__ = __mul__

    def __truediv__(self, s):
        return Vec(self.x / s, self.y / s)

    def __neg__(self):
        return Vec(-self.x, -self.y)

    def __matmul__(self, o):
        return self.x * o.x + self.y * o.y

    def __iadd__(self, o):
        self.x = self.x + o.x
        self.y = self.y + o.y
        return self

    def __getitem__(self, i):
        return (self.x, self.y)[i]

    def __setitem__(self, i, v):
        if i == 0:
            self.x = v
        else:
            self.y = v

    def __contains__(self, v):
        return v == self.count

    def __iter__(self):
        yield self.x
        yield self.y

    def __len__(self):
        return 2

    def __bool__(self):
        return True

    def __call__(self, s):
        return self.x * s

    def __abs__(self):
        return np.sqrt(self.x**2 + self.y**2)

    def __eq__(self, o):
        return self.x == o.x

    def __lt__(self, o):
        return self.x < o.x

    def __pow__(self, n):
        return Vec(self.x**n, self.y**n)

    def __float__(self):
        return float(self.x)

    def __hash__(self):
        return 1

    def __repr__(self):
        return f"Vec({self.x}, {self.y})"

    @property
    def norm(self):
        return self.x**2 + self.y**2

    @norm.setter
    def norm(self, v):
        self.x = v

    @staticmethod
    def make(a):
        return Vec(a, a)

    @classmethod
    def zero(cls):
        return cls(0.0, 0.0)


def op_overload(x):
    a, b = Vec(x[0], x[1]), Vec(x[1], x[2])
    c = 2 * a + b / 3 - (-a)
    return c @ b


def op_sum(x):
    return sum([Vec(x[0], x[1]), Vec(x[1], x[2])]).norm


def op_inplace(x):
    a = Vec(x[0], x[1])
    a += Vec(x[1], x[2])
    a[0] = a[1] * 2
    return a[0] + len(a) + a(3.0) + (3 in a)


def op_iter(x):
    p, q = Vec(x[0], x[1])
    return p * q + sum(v * v for v in Vec(x[1], x[2]))


def op_abs(x):
    return abs(Vec(x[0], x[1])) + (Vec(x[0], x[1]) ** 2).x


def op_cmp(x):
    return max(Vec(x[0], x[1]), Vec(x[1], x[2])).y if Vec(x[0], 0) < Vec(x[1], 0) else x[2]


def op_setter(x):
    v = Vec(x[0], x[1])
    v.norm = x[2] ** 2
    return v.x + Vec.make(x[0]).norm + Vec.zero().x


def op_float(x):
    return float(Vec(x[0], x[1])) * 2


class Base(abc.ABC):
    scale = 2.0

    def __init__(self, w):
        self.w = w

    @abc.abstractmethod
    def forward(self, v): ...
    def __call__(self, v):
        return self.forward(v) * self.scale


class Derived(Base):
    def __init__(self, w, b):
        super().__init__(w)
        self.b = b

    def forward(self, v):
        return self.w * v + self.b


class Derived2(Derived):
    scale = 3.0

    def forward(self, v):
        return super().forward(v) ** 2


def inheritance(x):
    return Derived(x[0], x[1])(x[2]) + Derived2(x[0], x[1])(x[2])


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Mode(enum.IntEnum):
    A = 0
    B = 1


class Flag(str, enum.Enum):
    X = "x"


def enums(x):
    c = Color.RED
    if c is Color.RED and c == Color.RED and c.value == 1:
        r = x[0]
    else:
        r = x[1]
    return r * Color.GREEN.value + x[Mode.B] * (Flag.X == "x") + Color["RED"].value + Color(2).value


def enum_iter(x):
    return sum(c.value * x[c.value] for c in Color)


def enum_made_here(x):
    class Axis(enum.Enum):
        X = (0, 2.0)
        Y = (1, 3.0)

    return sum(a.value[1] * x[a.value[0]] for a in Axis) * len(Axis)


def abstract_class_made_here(x):
    class Layer(abc.ABC):
        @abc.abstractmethod
        def forward(self, y): ...

        def __call__(self, y):
            return self.forward(y) + y

    class Scale(Layer):
        def forward(self, y):
            return y * x[0]

    return np.sum(Scale()(x))


class PT(typing.NamedTuple):
    x: float
    y: float = 1.0

    def norm(self):
        return self.x**2 + self.y**2

    @property
    def s(self):
        return self.x + self.y


def typed_namedtuple(x):
    p = PT(x[0], x[1])
    q = p._replace(x=x[2])
    return p.norm() + q.s + PT(x[0]).y + q[0] * p[-1]


@dataclass
class Conf:
    a: float
    items: list = field(default_factory=list)
    total: float = field(init=False)

    def __post_init__(self):
        self.total = self.a * 2


@dataclass(frozen=True)
class Froz:
    a: float
    b: float = 1.0

    def __post_init__(self):
        object.__setattr__(self, "b", self.a * 3)


@dataclass(frozen=True)
class State:
    pos: np.ndarray
    vel: np.ndarray

    def step(self, dt):
        return replace(self, pos=self.pos + dt * self.vel, vel=self.vel - dt * self.pos)


def dataclasses_(x):
    c = Conf(x[0])
    c.items.append(x[1])
    c.items.append(x[2])
    return c.total + sum(c.items) + Froz(x[0]).b


def dataclass_replace(x):
    s = State(x, x * 2)
    for _ in range(4):
        s = s.step(0.1)
    return s.pos.sum() + dataclasses.asdict(s)["vel"].sum() + dataclasses.astuple(s)[0].sum()


def dataclass_fields(x):
    c = State(x, x)
    return sum(getattr(c, f.name).sum() for f in dataclasses.fields(c))


@dataclass(order=True)
class Ord:
    k: float
    v: float = field(compare=False)


def dataclass_order(x):
    return min(Ord(x[0], x[1]), Ord(x[1], x[2])).v + (Ord(x[0], 1.0) == Ord(x[0], 1.0))


def partials(x):
    f = partial(np.power, x)
    g = partial(lambda a, b, c: a * b + c, b=2.0)
    return f(2).sum() + g(x[0], c=x[1])


def reduces(x):
    return reduce(lambda a, b: a * b, x) + reduce(operator.add, [v for v in x], 1.0)


@singledispatch
def area(s):
    raise TypeError


@area.register
def _(s: PT):
    return s.x * s.y


@area.register(Conf)
def _(s):
    return s.a**2


def dispatching(x):
    return area(PT(x[0], x[1])) + area(Conf(x[2]))


class Lazy:
    def __init__(self, v):
        self.v = v

    @cached_property
    def square(self):
        return self.v**2

    @property
    def twice(self):
        return 2 * self.v


def cached_prop(x):
    l = Lazy(x[0])
    return l.square + l.square * l.twice


def made_namedtuple(x):
    total = 0.0
    for k in range(3):
        p = PT._make(x[:2] * k)
        total += p.norm() * PT._make([x[2], p.y]).s
    return total


class Scaled:
    weight = 2.0

    def __init__(self, weight):
        self.weight = weight

    def power(self, factor, value, *, exponent=1):
        return self.weight * factor * value**exponent

    @staticmethod
    def product(a, b):
        return a * b

    @classmethod
    def common(cls, a, b):
        return cls.weight * a * b

    square = partialmethod(power, 3.0, exponent=2)
    fourfold = partialmethod(product, 4.0)
    eightfold = partialmethod(common, 4.0)

    @singledispatchmethod
    def by(self, value):
        return self.weight * value

    @by.register
    def _(self, value: list):
        return self.weight**2 * sum(value)

    @by.register
    @classmethod
    def _(cls, value: int):
        return cls.weight * value


def partial_methods(x):
    s = Scaled(x[2])
    return s.square(x[0]) * s.fourfold(x[1]) + s.eightfold(x[1]) + s.square(x[0], exponent=3)


def dispatching_methods(x):
    s = Scaled(x[2])
    return s.by(x[0]) * s.by([x[1], x[0]]) * s.by(3)


class Sides(enum.IntFlag):
    LEFT = 1
    RIGHT = 2
    TOP = 4


def flags(x):
    fixed = Sides.LEFT | Sides.RIGHT
    total = x[0] if Sides.TOP in fixed else x[0] ** 2
    for k in range(len(x)):
        side = Sides.LEFT if x[k] > 0.5 else Sides.TOP
        total += x[k] ** 3 * int(fixed ^ Sides.TOP) if side & fixed else x[k]
    return total


def itertools_(x):
    s = 0.0
    for a, b in itertools.product(x, x):
        s += a * b
    for a, b in itertools.combinations(x, 2):
        s += a * b * b
    for i, j in itertools.permutations(range(3), 2):
        s += x[i] * x[j]
    for a, b in itertools.pairwise(x):
        s += (a - b) ** 2
    for v in itertools.chain(x, [x[0]]):
        s += v
    for v in itertools.accumulate(x):
        s += v
    for v in itertools.islice(x, 2):
        s += v
    return s


def itertools2(x):
    s = 0.0
    for i, v in zip(itertools.count(1), x):
        s += i * v
    for v, w in zip(x, itertools.cycle([1.0, 2.0])):
        s += v * w
    for v, w in zip(x, itertools.repeat(2.0)):
        s += v * w
    for a, b in itertools.zip_longest([x[0], x[1]], [x[2]], fillvalue=0.0):
        s += a * b
    for v in itertools.starmap(lambda a, b: a * b, [(x[0], 2.0), (x[1], 3.0)]):
        s += v
    for v in itertools.compress([x[0], x[1], x[2]], [1, 0, 1]):
        s += v
    return s


def itertools3(x):
    s = 0.0
    for v in itertools.takewhile(lambda v: v < 100, [x[0], x[1]]):
        s += v
    for v in itertools.dropwhile(lambda v: v < -100, [x[0], x[1]]):
        s += v
    for k, g in itertools.groupby([(0, x[0]), (0, x[1]), (1, x[2])], key=lambda t: t[0]):
        s += (k + 1) * sum(v for _, v in g)
    for v in itertools.filterfalse(lambda v: v > 100, [x[0], x[1]]):
        s += v
    a, b = itertools.tee(x[0:2])
    for v, w in zip(a, b):
        s += v * w
    for b in itertools.batched([x[0], x[1], x[2]], 2) if hasattr(itertools, "batched") else []:
        s += b[0]
    return s


def operators_(x):
    d = [{"k": x[0], "n": 1}, {"k": x[1], "n": 0}]
    d = sorted(d, key=operator.itemgetter("n"))
    p = PT(x[0], x[1])
    return (
        d[0]["k"] * operator.attrgetter("x")(p)
        + operator.mul(x[1], x[2])
        + operator.itemgetter(0, 1)(x)[1]
        + operator.methodcaller("norm")(p)
    )


def compared_by_a_function(x):
    pairs = [(x[0], 1), (x[1], 0), (x[2], 1), (x[1] * 2, 0)]

    def order(a, b):
        return a[1] - b[1] or (-1 if a[0] > b[0] else 1)

    pairs.sort(key=functools.cmp_to_key(order))
    key = functools.cmp_to_key(lambda a, b: b - a)
    least = max([x[0], x[1], x[2]], key=key)
    return sum((i + 1) * v for i, (v, _) in enumerate(pairs)) + least * (
        3 if key(1) <= key(0) else 7
    )


def math_all(x):
    v = float(x[0])
    return (
        math.sin(v)
        + math.exp(v)
        + math.log(v + 2)
        + math.hypot(v, 1.0)
        + math.sqrt(v + 2)
        + math.atan2(v, 2.0)
        + math.fsum([v, v])
        + math.prod([v, 2.0])
        + math.erf(v)
        + math.gamma(v + 2)
        + math.dist([v, 1.0], [0.0, 2.0])
        + math.copysign(v, 1.0)
        + math.fabs(v)
        + math.pow(v, 2)
        + math.degrees(v)
        + math.expm1(v)
        + math.log1p(v)
        + math.cosh(v)
        + math.floor(v)
        + math.tau
        + math.comb(5, 2)
        + math.lgamma(v + 1)
        + math.ldexp(v, 2)
        + math.fmod(v, 0.7)
        + math.cbrt(v)
        + math.exp2(v)
        + (v if math.isclose(v, v) else 0)
        + math.log2(v)
        + math.log10(v)
        + math.log(v, 3)
        + math.trunc(v)
        + math.ceil(v)
        + math.modf(v)[0]
        + math.factorial(3)
        + math.gcd(4, 6)
        + math.isqrt(10)
        + math.radians(v)
        + math.remainder(v, 0.7)
        + math.acos(v / 3)
        + math.asin(v / 3)
        + math.atan(v)
        + math.asinh(v)
        + math.sinh(v)
        + math.tanh(v)
        + math.tan(v)
        + math.erfc(v)
    )


def random_seeded(x):
    rng = np.random.default_rng(0)
    return (
        np.sum(x * rng.normal(size=3))
        + np.sum(rng.normal(x, 0.1))
        + rng.uniform() * x[0]
        + rng.random(3) @ x
    )


def random_legacy(x):
    np.random.seed(0)
    return np.sum(x * np.random.randn(3)) + np.sum(np.random.normal(0, 1, size=3) * x)


def random_loc_scale(x):
    rng = np.random.default_rng(1)
    return np.sum(rng.normal(loc=x, scale=np.abs(x)))


def random_python(x):
    random.seed(0)
    return x[0] * random.random() + x[1] * random.gauss(0, 1)


def random_choice(x):
    rng = np.random.RandomState(0)
    idx = rng.permutation(3)
    return np.sum(x[idx] * np.arange(3)) + x[rng.randint(3)]


def copies(x):
    a = [x[0], [x[1]]]
    b = copy.deepcopy(a)
    b[1][0] = x[2]
    c = copy.copy(a)
    y = copy.copy(x)
    y[0] = 5.0
    v = Vec(x[0], x[1])
    w = copy.copy(v)
    w.x = x[2]
    return a[1][0] * b[1][0] + y.sum() + c[0] + v.x * w.x


def copy_obj(x):
    d = {"a": x * 1.0}
    e = copy.deepcopy(d)
    e["a"] *= 2
    twice = copy.deepcopy([d["a"], (d["a"],)])
    twice[0][0] = 3 * x[1]
    return d["a"].sum() + e["a"].sum() + (twice[1][0] ** 2).sum()


def numbers_(x):
    return x[0] * 2 if isinstance(x[0], numbers.Number) and isinstance(2.0, numbers.Real) else x[1]


def statistics_(x):
    return statistics.mean([float(v) for v in x])


def counters(x):
    c = Counter([1, 1, 2])
    return sum(n * x[k] for k, n in c.items())


def default_dict(x):
    d = defaultdict(list)
    for i, k in enumerate(["a", "b", "a"]):
        d[k].append(x[i])
    e = defaultdict(float)
    for i, k in enumerate(["a", "b", "a"]):
        e[k] += x[i]
    return sum(d["a"]) * e["b"] + e["zzz"]


def ordered_dict(x):
    d = OrderedDict()
    d["a"] = x[0]
    d["b"] = x[1]
    d.move_to_end("a")
    return list(d.values())[0] * list(d)[1].__len__() + d["a"]


def heap(x):
    h = [3, 1, 2]
    heapq.heapify(h)
    heapq.heappush(h, 0)
    return x[heapq.heappop(h)] * len(h)


def heap_tuples(x):
    h = []
    heapq.heappush(h, (2, x[0]))
    heapq.heappush(h, (1, x[1]))
    k, v = heapq.heappop(h)
    return v * k


def heap_floats(x):
    h = []
    for v in x:
        heapq.heappush(h, v)
    return heapq.heappop(h) * 2 + heapq.heappop(h)


def deque_(x):
    q = deque([x[0], x[1]])
    q.append(x[2])
    q.rotate(1)
    q.appendleft(x[1])
    v = q.popleft()
    w = q.pop()
    return v * w + q[0]


def sets(x):
    s = {0, 1}
    s |= {2}
    s.add(0)
    t = s & {0, 2}
    u = s - {0}
    s.update([1])
    return (
        sum(x[i] for i in t)
        + len(u) * x[0]
        + (1 in s) * x[1]
        + sum(x[i] for i in s.union({1}))
        + (t <= s)
    )


def dict_ops(x):
    d = {"a": x[0]} | {"b": x[1]}
    d |= {"c": x[2]}
    e = {**d, "a": 1.0}
    k, v = d.popitem()
    del d["a"]
    return (
        v + e["a"] + sum(d.values()) + len(d) + d.get("q", 0.0) + ("b" in d) + list(e.items())[1][1]
    )


def nested_comp(x):
    return sum(sum(a * b for b in x) for a in x)


def dict_comp_zip(x):
    d = {k: v for k, v in zip("abc", x)}
    return d["a"] * d["c"]


def list_mult(x):
    a = [0.0] * 3
    for i in range(3):
        a[i] = x[i] ** 2
    return sum(a)


def list_lists(x):
    n = len(x)
    D = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            D[i][j] = x[i] * x[j]
    return D[0][1] + sum(D[2]) + sum(sum(r) for r in D)


def list_lists_array(x):
    D = [[a * b for b in x] for a in x]
    return np.sum(np.array(D))


def list_of_dicts(x):
    rec = [{"a": v, "b": 2 * v} for v in x]
    return sum(r["a"] * r["b"] for r in rec)


def list_of_objects(x):
    ps = [Vec(v, 2 * v) for v in x]
    return sum(p.norm for p in ps)


def list_of_objects_mutated(x):
    ps = [Vec(v, 2 * v) for v in x]
    for p in ps:
        p.x += 1.0
        p.y *= p.x
    return sum(p.norm for p in ps)


def layers(x):
    class L:
        pass

    ls = [Lazy(x * i) for i in range(3)]
    h = x
    for l in ls:
        h = np.tanh(h + l.v)
    return h.sum()


def unpack_star(x):
    a, *b = x
    (c, d), e = (x[0], x[1]), x[2]
    return a * sum(b) + c * d * e


def chained_assign(x):
    a = b = x * 2
    a[0] = 1.0
    return (a * b).sum()


def swap(x):
    a, b = x[0], x[1]
    a, b = b, a * b
    return a * b


def ternary_chain(x):
    return (x[0] if x[0] > 5 else x[1] if x[1] > 5 else x[2]) ** 2


def lambdas(x):
    return (lambda a, *b, k=2: a * k + sum(b))(x[0], x[1], x[2])


def funcs_in_dict(x):
    f = {"sin": np.sin, "cos": np.cos}
    return sum(f[k](x).sum() for k in ("sin", "cos"))


def funcs_in_list(x):
    for f in [np.sin, np.tanh, lambda v: v * v]:
        x = f(x)
    return x.sum()


def closure_factory(x):
    def make(n):
        def p(v):
            return v**n

        return p

    return sum(make(n)(x).sum() for n in range(1, 4))


def decorated(x):
    def twice(f):
        @wraps(f)
        def w(*a, **k):
            return f(f(*a, **k))

        return w

    @twice
    def g(v):
        return v * v + 1

    return g(x).sum()


def compose(x):
    return reduce(lambda f, g: lambda v: g(f(v)), [np.sin, np.cos, np.exp])(x).sum()


def while_else(x):
    i = 0
    while i < 3:
        if x[i] > 100:
            break
        i += 1
    else:
        return x.sum() * 2
    return x.sum()


def early_return_loop(x):
    for i in range(len(x)):
        for j in range(len(x)):
            if x[i] * x[j] > 1.0:
                return x[i] + 2 * x[j]
    return x[0]


def globals_read(x):
    return x[0] * CONST["a"] + LIST[1] * x[1]


CONST = {"a": 2.0}
LIST = [1.0, 2.0]


CONST = {"a": 2.0}
LIST = [1.0, 2.0]


def str_methods(x):
    w = "a,b".split(",")
    return (
        x[0] * len(w)
        + x["ab".index("b")] * ("a" in w)
        + len("-".join(w))
        + len("%d" % 3)
        + len("{}".format(2))
    )


def sort_list(x):
    l = [v for v in x]
    l.sort()
    return l[0] * 2 + l[-1]


def argsort(x):
    return np.sum(x[np.argsort(x)] * np.arange(len(x)))


def min_key(x):
    return min(range(len(x)), key=lambda i: x[i]) * x[0] + max(x, key=lambda v: v * v)


def max_default(x):
    return (
        max([], default=2.0) * x[0]
        + max(x[0], x[1])
        + min(x)
        + max(list(x))
        + max(v * v for v in x)
    )


def round_etc(x):
    return (
        x[0] * round(2.7)
        + abs(x[1])
        + pow(x[2], 2)
        + pow(x[0], 2)
        + divmod(7, 2)[0] * x[0]
        + round(float(x[0]), 1) * 0
    )


def bool_ops(x):
    return (x[0] and x[1]) + (None or x[2]) + (not x[0]) * x[1]


def any_all(x):
    return x.sum() if any(v > 0 for v in x) and all(v < 100 for v in x) else x[0]


def enumerate_start(x):
    return sum(i * v for i, v in enumerate(x, 1)) + sum(i * v for i, v in enumerate(x, start=2))


def zip_star(x):
    a, b = zip(*[(x[0], x[1]), (x[1], x[2])])
    return a[0] * b[1] + sum(a)


def reversed_(x):
    return (
        sum(v * (i + 1) for i, v in enumerate(reversed(x)))
        + sum(x[i] * i for i in reversed(range(3)))
        + sum(list(reversed([x[0], x[1]])))
    )


def ifilter(x):
    return (
        sum(filter(lambda v: v > 0, x)) + sum(map(lambda a, b: a * b, x, x)) + sum(map(np.sin, x))
    )


def type_checks(x):
    s = 0.0
    if isinstance(x, np.ndarray):
        s = x.sum()
    if type(x) is np.ndarray and isinstance(s, float):
        s = s * 2
    if isinstance(3, (int, float)) and callable(np.sin) and hasattr(x, "shape"):
        s = s * 3
    return s


def getsetattr(x):
    v = Vec(x[0], x[1])
    setattr(v, "x", x[2])
    return getattr(v, "x") * getattr(v, "zz", 2.0) + v.y


def assert_(x):
    assert x.shape == (3,), f"bad {x.shape}"
    assert np.all(x < 100)
    return x.sum()


def del_(x):
    y = x * 2
    z = y.sum()
    del y
    l = [x[0], x[1]]
    del l[0]
    return z + l[0]


def printing(x):
    print("x", x.shape, file=__import__("io").StringIO()) if False else None
    return x.sum()


def annot(x):
    y: float = x[0]
    z: "int"
    y += 1
    return y


def is_none(x, y=None):
    y = x if y is None else y
    return y.sum()


def slice_obj(x):
    s = slice(0, 2)
    return x[s].sum() + x[slice(1, None)].sum()


def ellipsis_(x):
    return x[..., 0] + x[None, :].sum() + x[np.newaxis].sum()


def int_idx(x):
    i = int(np.argmax(x))
    return x[i] * x[i - 1]


def bool_mask(x):
    y = x.copy()
    y[y > 0.5] = 0.0
    y[np.array([True, False, False])] += x[0]
    return y.sum() + x[x > 0.2].sum()


def inf_(x):
    b = math.inf
    for v in x:
        if v < b:
            b = v
    return b * 2


def global_counter(x):
    return x.sum()


def apply_along(x):
    return np.apply_along_axis(lambda r: r * r.sum(), 0, x).sum()


def fromiter(x):
    return np.fromiter((v * v for v in x), dtype=float).sum()


def fromiter_of_some(x):
    some = np.fromiter((v * v for v in x), float, 2)
    return np.fromiter(map(np.sin, x), float, count=len(x)).sum() * some.prod()


def index_expressions(x):
    middle, column, start = np.s_[1:3], np.s_[:, None], np.index_exp[:2]
    joined = np.r_[x[middle], x[column][np.s_[..., 0]], x[start]]
    return joined @ np.arange(len(joined)) + np.c_[x[middle]].prod()


def np_matrixy(x):
    return (np.asarray([[x[0], x[1]], [x[1], x[2]]]) @ np.array([1.0, 2.0])).sum()


def rows_block(x):
    return np.block([[np.diag(x), x[:, None]], [x[None], np.ones((1, 1))]]).sum()


def chain_methods(x):
    return x.reshape(1, -1).T.dot(x.reshape(1, -1)).clip(0.0, 1.0).sum(axis=0).max()


def simple_ns(x):
    import types

    n = types.SimpleNamespace(a=x[0], b=x[1])
    n.c = n.a * n.b
    return n.c**2


def inner_import(x):
    from math import sqrt

    import numpy as xp

    return xp.sum(x) * sqrt(2.0) + sqrt(x[0])


class Counter2:
    n = 0

    def __init__(self):
        self.h = []

    def push(self, v):
        self.h.append(v)
        return self

    def total(self):
        return sum(self.h)


def fluent(x):
    return Counter2().push(x[0]).push(x[1]).total() ** 2


class Stack:
    def __init__(self):
        self._d = []

    def __len__(self):
        return len(self._d)

    def push(self, v):
        self._d.append(v)

    def pop(self):
        return self._d.pop()


def rpn(x):
    s = Stack()
    for t in [0, 1, "*", 2, "+"]:
        if t == "*":
            s.push(s.pop() * s.pop())
        elif t == "+":
            s.push(s.pop() + s.pop())
        else:
            s.push(x[t])
    return s.pop()


def stack_dynamic(x):
    s = Stack()
    for v in x:
        s.push(v * v)
    t = 0.0
    while len(s):
        t = t * 0.5 + s.pop()
    return t


class Iter:
    def __init__(self, d):
        self.d = d
        self.i = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.i >= 3:
            raise StopIteration
        self.i += 1
        return self.d[self.i - 1] * self.i


class Ctx:
    def __init__(self, v):
        self.v = v

    def __enter__(self):
        return self

    def __exit__(self, *a):
        self.v = None
        return False


def ctx_class(x):
    with Ctx(x) as c:
        y = c.v * 2
    return y.sum()


def recursion_static(x):
    def f(n):
        return x[0] if n == 0 else f(n - 1) * x[1] + x[2]

    return f(4)


def horner(x):
    p = 0.0
    for c in x[::-1]:
        p = p * 0.5 + c
    return p


def helper(v):
    return v.sum()


def memo_dict(x):
    memo = {}

    def fib(n):
        if n in memo:
            return memo[n]
        r = x[n] if n < 2 else fib(n - 1) * 0.5 + fib(n - 2)
        memo[n] = r
        return r

    return fib(8)


def str_key_loop(x):
    d = {}
    for name in ("w", "b"):
        d[name] = x * len(name)
    for name in d:
        d[name] = d[name] * 2
    return sum(v.sum() for v in d.values())


def params_update(x):
    p = {"w": x[0], "b": x[1]}
    g = {"w": 0.1, "b": 0.2}
    for _ in range(3):
        p = {k: v - 0.1 * g[k] * v for k, v in p.items()}
    for k in p:
        p[k] -= 0.5 * g[k]
    return p["w"] * p["b"]


def optim_class(x):
    class SGD:
        def __init__(self, lr=0.1):
            self.lr = lr
            self.v = {}

        def step(self, p, g):
            for k in p:
                self.v[k] = 0.9 * self.v.get(k, 0.0) + g[k]
                p[k] = p[k] - self.lr * self.v[k]

    o = SGD()
    p = {"a": x[0], "b": x[1]}
    for _ in range(3):
        o.step(p, {k: 2 * v for k, v in p.items()})
    return p["a"] * p["b"]


def history(x):
    h = {"loss": [], "x": []}
    y = x
    for i in range(5):
        y = y * 0.9
        h["loss"].append(np.sum(y**2))
        h["x"].append(y)
    return h["loss"][-1] + np.mean(h["loss"]) + np.array(h["x"]).sum()


def dyn_dict(x):
    d = {}
    for i in range(len(x)):
        d[i] = x[i] ** 2
    return sum(d.values()) + d[1]


# Lists in the place of arrays


def sum_of_list(x):
    return np.sum([x[0], x[1] * 2])


def mean_of_list(x):
    return np.mean([v * v for v in x])


def extremes_of_lists(x):
    return np.max([v * v for v in x]) + np.min((x[0], x[1]))


def spread_of_lists(x):
    return np.std([v * v for v in x]) + np.var([x[0], x[1]])


def norm_of_lists(x):
    return np.linalg.norm([x[0], x[1]]) + np.linalg.norm([v for v in x])


def dot_of_lists(x):
    return np.dot([x[0], x[1], x[2]], x) + np.dot([v for v in x], x)


def exp_of_lists(x):
    return np.exp([x[0], x[1]]).sum() + np.exp([v for v in x]).sum()


def cross_of_lists(x):
    return np.cross([x[0], x[1], x[2]], [1.0, 2.0, 3.0])[0]


def prod_of_list(x):
    return np.prod([v for v in x]) + np.cumsum([v for v in x])[1]


def matrix_of_lists(x):
    return (np.array([x[0], x[1]]) @ [[1.0, 2.0], [3.0, 4.0]]).sum()


def interp_of_lists(x):
    return np.interp(x[0], [0.0, 1.0], [x[1], x[2]])


def polyval_of_list(x):
    return np.polyval([x[0], x[1]], x[2])


def diff_of_list(x):
    return np.sum(np.diff([v for v in x]) ** 2)


def outer_of_list(x):
    return np.outer([x[0], x[1]], x).sum()


def array_of_lists(x):
    return np.asarray([v for v in x]).sum() + np.array([[v, v] for v in x]).sum()


def stacks_of_lists(x):
    return (
        np.stack([v * x for v in x]).sum()
        + np.vstack([v * x for v in x])[0, 1]
        + np.concatenate([x for v in x])[1]
    )


def columns_of_lists(x):
    return np.column_stack([x, x * 2])[0].sum() + np.column_stack([v * x for v in x])[0].sum()


def where_of_lists(x):
    return np.where([True, False, True], x, 0.0).sum() + np.maximum([x[0], x[1]], 0.5).sum()


def sort_of_lists(x):
    return np.sort([v for v in x])[0] + np.argmax([v for v in x]) + np.median([v for v in x])


def average_of_lists(x):
    return np.average([v for v in x], weights=[1.0, 2.0, 3.0])


def trapezoid_of_list(x):
    return np.trapezoid([v for v in x], dx=0.5) if hasattr(np, "trapezoid") else x[0]


def matmul_of_lists(x):
    return x @ [x[0], 1.0, 2.0] + [1.0, 2.0, 3.0] @ x


def sum_with_lists(x):
    return (x + [x[0], 1.0, 2.0]).sum() + ([1.0, 2.0, 3.0] * x).sum()


def array_of_appended_lists(x):
    l = []
    for v in x:
        l.append([v, v * v])
    a = np.array(l)
    return a.sum() * a[0, 1]


def array_of_appended_tuples(x):
    l = []
    for v in x:
        l.append((v, v * v))
    return np.array(l)[:, 1].sum()


def array_of_nested_list(x):
    l = [[0.0] * 3 for _ in range(len(x))]
    for i in range(len(x)):
        for j in range(3):
            l[i][j] = x[i] * x[j]
    return np.array(l).sum() + np.linalg.norm(l)


def unzipped_pairs(x):
    pts = [(v, 2.0 * v) for v in x]
    xs, ys = zip(*pts)
    return sum(xs) * ys[0]


def history_of_arrays(x):
    h = []
    y = x
    for i in range(3):
        y = y * 0.5
        h.append(y.copy())
    return np.mean(h) + np.array(h)[1].sum() + np.sum(h, axis=0)[0] + h[-1][0]


def matrix_functions_of_lists(x):
    m = [[x[0], 1.0], [0.0, x[1]]]
    return np.linalg.det(m) + np.trace(np.array(m)) + np.matmul(m, m)[0, 0]


def operators_called_as_methods(x):
    y = x.__mul__(x).__add__(1.0).__matmul__(x.__neg__())
    return y.__pow__(2) + x.__getitem__(1).__truediv__(x[0]) + x[x.__lt__(0.5)].sum()


def clip_of_list(x):
    return np.hypot(*x[:2]) + np.clip([v for v in x], 0.4, 0.6).sum()


def solve_of_lists(x):
    return np.linalg.solve([[2.0, x[0]], [x[1], 3.0]], [x[2], 1.0]).sum()


def array_in_loop(x):
    return sum(np.array([v, v**2]).sum() for v in x)


def best_or_none(x):
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best


def triangle_of_lists(x):
    r = []
    for i in range(len(x)):
        row = []
        for j in range(i + 1):
            row.append(x[i] * x[j])
        r.append(row)
    return sum(sum(row) for row in r)


def try_index_of_an_array(x):
    try:
        v = x[10]
    except IndexError:
        v = x[0] ** 2
    return v * 3


def try_index_in_a_loop(x):
    total = 0.0
    for i in range(8):
        try:
            total += x[i] ** 2
        except IndexError:
            total *= 2
            break
    return total


def try_index_of_a_list(x):
    items = []
    for v in x:
        items.append(v * v)
    try:
        v = items[7]
    except LookupError:
        v = items[1]
    return v * items[0]


def try_store(x):
    y = x.copy()
    try:
        y[0] = 5 * x[1]
        y[7] = x[2]
    except IndexError:
        y[1] = x[0] * 3
    return np.sum(y**2)


def try_pop(x):
    items = []
    for v in x:
        if v > 0.5:
            items.append(v * v)
    total = 0.0
    for _ in range(4):
        try:
            v = items.pop()
        except IndexError:
            v = x[0]
        total += v
    return total


def try_next(x):
    rest = iter(x)
    total = 0.0
    while True:
        try:
            v = next(rest)
        except StopIteration:
            break
        total += v * v
    return total


def next_or_default(x):
    rest = iter(x)
    return sum(next(rest, 2.0 * x[0]) * (k + 1) for k in range(5))


def try_assert(x):
    try:
        y = x[0] * 2
        assert y > 100
    except AssertionError:
        y = x[1] ** 2
    return y


def try_position(x):
    try:
        i = list(range(3)).index(7)
    except ValueError:
        i = 1
    return x[i] ** 2


def position_by_value(x):
    items = list(x)
    i = items.index(max(items))
    items.remove(min(items))
    return items[0] * items[1] ** 2 * (i + 1)


def position_in_a_built_list(x):
    items = []
    for v in x:
        items.append(v)
    return items[items.index(max(items))] ** 2


def insort(x):
    items = [0.5]
    for v in x:
        bisect.insort(items, v)
    bisect.insort_left(items, 2 * x[0])
    return sum(i * v * v for i, v in enumerate(items))


def smallest_and_largest(x):
    first = sum(heapq.nlargest(2, x)) * heapq.nsmallest(2, [v * v for v in x])[1]
    return first * heapq.nsmallest(1, list(x), key=lambda v: -v)[0]


def merged(x):
    total = 0.0
    for v in heapq.merge([0.4, 1.0], sorted([x[0], x[1]])):
        total = total * 0.5 + v * v
    return total


def added_to_an_object_of_a_class_inside(x):
    class Values:
        def __init__(self):
            self.items = []

        def __iadd__(self, v):
            self.items.append(v)
            return self

    values = Values()
    for v in x:
        values += v
    return values.items[0] * values.items[1] ** 2


def list_display_with_a_built_list(x):
    items = []
    for v in x:
        items.append(v * v)
    joined = [x[0], *items, x[1]]
    return joined[0] * joined[2] + joined[-1] * len(joined)


def with_printoptions(x):
    text = ""
    with np.printoptions(precision=3, suppress=True):
        text += str(x)
        y = x**2
    return np.sum(y)


def sorted_pairs(x):
    pairs = sorted(zip([1, 1, 0], x, strict=True))
    flags = sorted((v > 0.5, v * v) for v in x)
    return sum((i + 1) * (v + 2 * w) for i, ((_, v), (_, w)) in enumerate(zip(pairs, flags)))  # noqa: B905


def sorted_backwards(x):
    pairs = sorted([(1.0, v, i) for i, v in enumerate(x)], reverse=True)
    return sum(v * (j + 1) * (i + 2) for j, (_, v, i) in enumerate(pairs))


def sorted_lists(x):
    rows = sorted([[1, x[0]], [1, x[1]], [0, x[2]]])
    return rows[0][1] + 2 * rows[1][1] + 3 * rows[2][1]


class Weight:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return self.value < other.value


def sorted_objects(x):
    found = sorted([Weight(v) for v in x])
    found.sort(key=lambda w: -(w.value**2))
    return sum((i + 1) * w.value for i, w in enumerate(found)) + sorted(map(Weight, x))[0].value


def extended_by_itself(x):
    items = [x[0]] * 2 + [x[1]]
    items += items
    items.extend(items)
    return sum((i + 1) * v for i, v in enumerate(items)) * x[2]


HELPERS = {"scaled", "weights", "area", "helper", "differences"}


def limits_of_floats(x):
    return x[0] * math.log(sys.float_info.min) + max(x[1], sys.float_info.epsilon)


def weak_references(x):
    class Node:
        def __init__(self, value):
            self.value = value

    nodes = [Node(x[0]), Node(x[1] * x[2])]
    references = [weakref.ref(node) for node in nodes]
    return references[0]().value * references[1]().value


def programs():
    module = sys.modules[__name__]
    for name, thing in sorted(vars(module).items()):
        own = inspect.isfunction(thing) and thing.__module__ == __name__
        if own and list(inspect.signature(thing).parameters)[:1] == ["x"] and name not in HELPERS:
            yield thing


def differences(f, step=1e-6):
    return np.array([(f(X + step * e) - f(X - step * e)) / (2 * step) for e in np.eye(len(X))])


@pytest.mark.parametrize("f", list(programs()), ids=lambda f: f.__name__)
def test_idiom(f):
    value, gradient = srcgrad.value_and_grad(f)(X.copy())
    assert value == pytest.approx(f(X.copy()), rel=1e-12)
    np.testing.assert_allclose(gradient, differences(f), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("f", list(programs()), ids=lambda f: f.__name__)
def test_forward(f):
    direction = np.array([0.5, -1.0, 2.0])
    _, found = srcgrad.jvp(f, (X.copy(),), (direction,))
    assert found == pytest.approx(np.dot(differences(f), direction), rel=1e-6, abs=1e-6)


def rates(x, low=2.0, high=3.0):
    return x * low + high


def test_signatures_and_limits_are_known_when_compiling():
    def f(x, **given):
        given = {"low": 5.0, "other": 7.0}
        for name in set(given) - set(inspect.signature(rates).parameters.keys()):
            given.pop(name)
        defaults = [
            p.default for p in inspect.signature(rates).parameters.values() if p.name == "high"
        ]
        epsilon = np.finfo(x.dtype).eps
        clipped = np.clip(x, epsilon, 1 - epsilon)
        return defaults[0] * -np.sum(np.log(clipped), axis=1) @ rates(np.ones(2), **given)

    x = np.array([[0.25, 0.5], [0.5, 0.125]])
    gradient = srcgrad.grad(f)
    np.testing.assert_allclose(gradient(x), -3.0 * 8.0 / x, rtol=1e-12)
    assert gradient(x.astype(np.float32)).dtype == np.float32
    assert "finfo" not in gradient.source


def test_an_iterator_that_a_branch_makes_is_refused():
    def f(x):
        started, total = False, 0.0
        for k in range(len(x)):
            if not started:
                items, started = iter(x), True
            total += next(items) * k
        return total

    with pytest.raises(srcgrad.UnsupportedError, match="different kinds after this branch"):
        srcgrad.grad(f)(X)


def test_a_loop_over_a_clock_stays_a_loop():
    def rounds(x):
        start = time.perf_counter()
        for i in range(1, 61):
            x = np.sin(x)
            if x[0] < 0.2:
                pace = (time.perf_counter() - start) / i  # noqa: F841
                break
        return np.sum(x)

    gradient = srcgrad.grad(rounds)
    np.testing.assert_allclose(gradient(X), differences(rounds), rtol=1e-6)
    assert gradient.source.count("= np.sin(") < 5


def test_functions_made_here_are_asked_for_their_parameters():
    def given_what_they_take(x, functions):
        known = {"x": x, "scale": 3.0}
        total = 0.0
        for f in functions:
            wanted = inspect.signature(f).parameters
            total = total + f(**{k: v for k, v in known.items() if k in wanted})
        return total

    class Model:
        def doubled(self, x):
            return 2.0 * x

    def loss(x):
        def scaled(x, /, *rest, scale=1.0, **named):
            return x * scale

        assert str(inspect.signature(scaled)) == "(x, /, *rest, scale=1.0, **named)"
        functions = [rates, Model().doubled, lambda x, scale: x * scale]
        return np.sum(given_what_they_take(x, functions) ** 2) + scaled(x[0])

    check_grads(loss, (np.array([1.0, 2.0]),))


def checked(f):
    signature = inspect.signature(f)

    @functools.wraps(f)
    def inner(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if np.any(bound.arguments["x"] < 0):
            raise ValueError("negative")
        x = bound.arguments.pop("x")
        return f(2.0 * x, *bound.args, **bound.kwargs)

    return inner


@checked
def weighted(x, power=2.0, *more, scale=3.0, **others):
    return np.sum(x**power) * scale + sum(more) + others.get("offset", 0.0) * x[0]


def test_a_decorator_binds_the_arguments():
    for loss in (
        lambda x: inspect.signature(rates).bind(x, high=x[0]).arguments["high"],
        lambda x: len(inspect.signature(rates).bind_partial().arguments) + x[1],
        lambda x: weighted(x),
        lambda x: weighted(x=x, scale=x[0], offset=2.0),
    ):
        check_grads(loss, (np.array([1.0, 2.0]),))

    bind = inspect.signature(weighted).bind
    for given in ((), (X,) * 2, (X, X, X)):
        wrong = {"power": 2.0} if given else {}

        def f(x, given=given, wrong=wrong):
            return bind(*given, **wrong).args[0][0] * x

        with pytest.raises(TypeError) as expected:
            f(1.0)
        with pytest.raises(TypeError, match=f"^{re.escape(str(expected.value))}$"):
            srcgrad.grad(f)(1.0)


def test_members_of_int_enums_are_known_when_compiling():
    mode = Mode.B

    def f(x):
        if mode is Mode.A:
            x = [x]  # no array, which would be refused
        return np.sum(np.cumsum(x[Mode.B :], axis=Mode.A.value) * (mode / 3)) * Mode.B

    check_grads(f, (X,))
    gradient = srcgrad.grad(f)
    gradient(X)
    assert "d_x[1:] = " in gradient.source


MISSING = object()


def test_a_number_is_no_sentinel():
    def scaled(x, factor=MISSING, power=inspect.Parameter.empty):
        if factor is MISSING:
            factor = np.max(x)
        options = {} if power is inspect.Parameter.empty else {"power": power}
        return np.sum((factor * x) ** options.get("power", 1.0))

    gradient = srcgrad.grad(lambda x, factor: scaled(x) + scaled(x, factor, factor))
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(gradient(x, 3.0), [2.0 + 81.0, 5.0 + 81.0 * 4.0])
    assert "MISSING" not in gradient.source


@pytest.mark.parametrize("window", [np.hanning, np.hamming, np.bartlett, np.blackman])
def test_windows_by_their_length(window):
    """NumPy computes them of lengths that aren't whole, too, where they aren't constants."""
    with pytest.raises(srcgrad.UnsupportedError, match="use an int"):
        srcgrad.grad(lambda m: np.sum(window(m) ** 2))(5.5)
    assert srcgrad.grad(lambda m: m * np.sum(window(int(m))))(5.5) == np.sum(window(5))


STATISTICS = [
    statistics.mean, statistics.fmean, statistics.harmonic_mean, statistics.median,
    statistics.variance, statistics.pvariance, statistics.stdev, statistics.pstdev,
]  # fmt: skip


@pytest.mark.parametrize("f", STATISTICS, ids=lambda f: f.__name__)
def test_statistics_of_few_data(f):
    """There are errors of the module's own for none or one: another one was raised, or nan."""

    def caught(x):
        try:
            found = f([v for v in x if v > 0])
        except statistics.StatisticsError:
            found = 3.0
        return found * x[0]

    for values in ([-1.0, 2.0, 4.0, 7.0], [-1.0, -2.0, -0.5, 3.0], [-1.0, -2.0, -0.5, -4.0]):
        for x in (values, np.array(values)):
            value, gradient = srcgrad.value_and_grad(caught)(x)
            assert value == pytest.approx(caught(x))
            h = 1e-4 * np.eye(4)
            slopes = [
                (caught(np.array(values) + e) - caught(np.array(values) - e)) / 2e-4 for e in h
            ]
            np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-6)
    with pytest.raises(statistics.StatisticsError) as expected:
        f([])
    with pytest.raises(statistics.StatisticsError, match=str(expected.value)):
        srcgrad.grad(lambda x: f([v for v in x if v > 0]))(np.array([-1.0]))


def test_weighted_statistics():
    def f(x, w):
        return statistics.fmean(x, w) * statistics.harmonic_mean(x, weights=w)

    x, w = [1.2, 0.7, 2.4], [2.0, 0.5, 1.0]
    h, (d_x, d_w) = 1e-5 * np.eye(3), srcgrad.grad(f, argnums=(0, 1))(x, w)
    np.testing.assert_allclose(d_x, [(f(x + e, w) - f(x - e, w)) / 2e-5 for e in h], rtol=1e-7)
    np.testing.assert_allclose(d_w, [(f(x, w + e) - f(x, w - e)) / 2e-5 for e in h], rtol=1e-7)


@pytest.mark.parametrize("f", [statistics.mean, statistics.fmean, statistics.variance])
def test_statistics_of_ints_of_numpy_are_refused(f):
    """Of which Python's mean is an int: 0 of [0, 1, 1]."""
    for data in (np.array([0, 1, 1]), [np.int64(1), 2]):
        with pytest.raises(srcgrad.UnsupportedError, match="the statistics of NumPy's ints"):
            srcgrad.grad(lambda x, data=data: f(data) * x)(2.0)
    assert srcgrad.grad(lambda x: f([1, 2, 6]) * x)(2.0) == f([1, 2, 6])
