"""The language: one small program for each construct, against finite differences.

The programs are what people write and what might go wrong in lowering it: names assigned on some
paths only, names used again for other kinds of values, loops that don't run, objects and lists
that are shared, jumps out of nested loops and of inlined functions.
"""

import bisect
import collections
import copy
import dataclasses
import functools
import itertools
import logging
import math
import operator
import types
import typing
import warnings
from collections.abc import Callable

import numpy as np
import pytest

import srcgrad
import srcgrad.testing

RNG = np.random.default_rng(20)
X = RNG.normal(size=5)
POSITIVE = RNG.uniform(0.5, 2.0, size=5)
MATRIX = RNG.normal(size=(4, 3))


def check(f, *args, argnums=None, tolerance=1e-6):
    """Compare the gradient of `f` with finite differences along a random direction."""
    if argnums is None:
        argnums = tuple(
            i
            for i, a in enumerate(args)
            if isinstance(a, float) or (isinstance(a, np.ndarray) and a.dtype.kind == "f")
        )
    before = copy.deepcopy(args)
    value, gradients = srcgrad.value_and_grad(f, argnums=argnums)(*args)
    for old, new in zip(before, args, strict=True):
        assert np.array_equal(old, new) if isinstance(old, np.ndarray) else True
    assert value == pytest.approx(f(*copy.deepcopy(args)))
    rng = np.random.default_rng(3)
    for argnum, gradient in zip(argnums, gradients, strict=True):
        direction = rng.normal(size=np.shape(args[argnum]))
        assert np.shape(gradient) == np.shape(args[argnum])

        def moved(h, argnum=argnum, direction=direction):
            there = [copy.deepcopy(a) for a in args]
            there[argnum] = there[argnum] + h * direction
            if isinstance(args[argnum], float):
                there[argnum] = float(there[argnum])
            return f(*there)

        h = 1e-6
        expected = (moved(h) - moved(-h)) / (2 * h)
        found = float(np.sum(gradient * direction))
        assert found == pytest.approx(expected, rel=tolerance, abs=tolerance)


# Names


def assigned_in_one_branch(x):
    if x[0] > -100:
        y = x * 2
    return np.sum(y * y)


def reused_for_another_type(x):
    y = len(x)
    y = x * y
    y = np.sum(y)
    y = [y, y * 2]
    y = y[0] * y[1]
    return y


def integer_becomes_float(x):
    s = 1
    for i in range(len(x)):
        s = s * x[i]
    return s


def scalar_becomes_array(x):
    s = 0
    for i in range(3):
        s = s + x * (i + 1)
    return np.sum(s * s)


def number_becomes_array_in_place(x):
    total = 0
    for i in range(3):
        total += x * (i + 1)
    return np.sum(total * total)


def first_iteration_is_special(x):
    for i in range(len(x)):
        if i == 0:
            y = x * 2
        else:
            y = y * x[i]
        if i == 3:
            return np.sum(y)
    return x[0]


def sum_of_arrays(x):
    return np.sum(np.stack([sum(x * k * v for k in range(3)) for v in x]) ** 2)


def unknown_number_unpacked(x):
    kept = [v for v in x if v > -9]
    a, *rest, b = kept
    c, d, e, f, g = kept
    return a * b + sum(rest) * c * g


def loop_that_does_not_run(x, n):
    y = x
    for i in range(n):
        y = np.sin(y) * (i + 1)
    return np.sum(y)


def static_counter(x):
    k = 0
    total = 0.0
    while k < 3:
        total += x[k] ** (k + 1)
        k += 1
    return total * k


def names_like_ours(x):
    d_x = x * 2
    saved = d_x + 1
    out = np.exp(-saved)
    d_out = out * d_x
    return np.sum(d_out)


def unicode_names(x):
    α = x * 2
    β_ = np.sin(α)
    return np.sum(β_ * α)


def shadowed_builtins(x):
    sum = x[0]
    max = lambda a: a * 3
    len = max(sum)
    return len * sum


def shadowed_numpy(x):
    math_ = np
    np_ = math_
    return np_.sum(math_.exp(x))


def chained_assignment(x):
    a = b = x * 2
    b = b + 1
    return np.sum(a * b)


def swapped(x):
    a, b = x[0], x[1]
    for _ in range(3):
        a, b = b, a * b
    return a + 2 * b


def starred(x):
    first, *middle, last = [x[0], x[1], x[2], x[3]]
    (p, q), r = (middle, last)
    return first * p + q * r


def walrus(x):
    total = 0.0
    i = 0
    while (v := x[i] ** 2) < 100 and i < 3:
        total += v
        i += 1
    return total + sum((last := t * 2) for t in [x[0], x[1]]) * last


def deleted(x):
    y = x * 2
    z = y + 1
    del y
    return np.sum(z)


def annotated(x: np.ndarray) -> float:
    y: float = x[0] ** 2
    z: int
    return y


# Branches


def nested_branches(x):
    if x[0] > 0:
        if x[1] > 0:
            y = x * 2
        else:
            y = np.sin(x)
    elif x[2] > 0:
        y = np.cos(x)
    else:
        y = x * x
    return np.sum(y * x)


def conditional_expression(x):
    return (x[0] if x[1] > 0 else x[2] ** 2) * (x[3] if x[0] < 0 else 1.0)


def short_circuit(x):
    a = x[0] > 0 and x[1]
    b = x[2] < 0 or x[3]
    return a * 2.0 + b * 3.0 + x[4]


def side_effects_in_order(x):
    log = []

    def noted(v):
        log.append(v)
        return v > 0

    if noted(x[0]) or noted(x[1]):
        pass
    return sum(v * (i + 1) for i, v in enumerate(log))


def chained_comparison(x):
    return x[0] * 2 if -1 < x[1] < 1 <= x[2] ** 2 + 1 else x[0] ** 2


def optional_value(x):
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best**2


def optional_array(x):
    previous = None
    total = 0.0
    for i in range(4):
        y = x * (i + 1)
        if previous is not None:
            total += np.sum(y * previous)
        previous = y
    return total


def optional_tuple(x):
    def first_positive(x):
        for i in range(len(x)):
            if x[i] > 0:
                return x[i], x[i] ** 2
        return None

    found = first_positive(x)
    if found is None:
        return np.sum(x)
    a, b = found
    return a * b


def none_by_default(x, scale=None):
    if scale is None:
        scale = x[0]
    return np.sum(x * scale)


def captured_by_one_of(a, b, c):
    match (a, b):
        case (x, 0.0) | (0.0, x):
            return x * 2 * c
        case _:
            return a * b * c


def captured_only_where_it_matches(a, b, c):
    x = c
    match (a, b):
        case (x, 1.0, 3):
            return x
        case (x, 0.0) if x > 5:
            return x * 7
        case (y, z):
            return x * y + z


def captured_before_a_guard_fails(a, b):
    match a, b:
        case ((0.5 | 1.5) as x, y) | (y, (0.5 | 1.5) as x) if x > y:
            return x * np.sin(b)
        case x, *rest:
            return x * rest[0] + np.cos(a)


def matched_value(x, kind):
    match kind:
        case "double":
            y = x * 2
        case "sine" | "sin":
            y = np.sin(x)
        case _:
            y = x
    return np.sum(y)


def matched_structure(x):
    total = 0.0
    for shape in [("circle", x[0]), ("box", x[1], x[2]), [x[3], x[4]], 3.0]:
        match shape:
            case ("circle", r):
                total += np.pi * r**2
            case ("box", w, h) if w > 100:
                total += 0
            case ("box", w, h):
                total += w * h
            case [a, *rest]:
                total += a * rest[0]
            case float() as f:
                total += f
    return total


def matched_dict(x):
    command = {"op": "scale", "by": x[0]}
    match command:
        case {"op": "shift", "by": b}:
            return x[1] + b
        case {"op": "scale", "by": b, **rest}:
            return x[1] * b


# Loops


def breaks_and_continues(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] < -1.5:
            continue
        if total > 3:
            break
        total += x[i] ** 2
    return total


def loop_else(x, limit):
    for v in x:
        if v > limit:
            y = v * 2
            break
    else:
        y = np.sum(x)
    return y**2


def while_true(x):
    y = x[0] ** 2 + 1
    n = 0
    while True:
        y = 0.5 * (y + 2 / y)
        n += 1
        if n > 6:
            break
        if abs(y * y - 2) < 1e-3:
            break
    return y * x[1]


def while_else(x):
    y, n = x[0], 0
    while n < 3:
        y = np.sin(y) + x[1]
        n += 1
    else:
        y = y * 2
    return y


def return_from_nested_loops(x):
    for i in range(3):
        for j in range(3):
            if x[i] * x[j] > 0.3:
                return x[i] + x[j] ** 2
    return np.sum(x)


def return_from_inlined_function(x):
    def search(x, limit):
        total = 0.0
        for i in range(len(x)):
            total += x[i] ** 2
            if total > limit:
                return total * i
        return -total

    return search(x, 0.5) + search(x, 1e9)


def break_of_inner_loop_only(x):
    total = 0.0
    for i in range(3):
        for j in range(4):
            if j > i:
                break
            total += x[i] * x[j]
    return total


def loop_over_several(x):
    total = 0.0
    for i, (a, b) in enumerate(zip(x[1:], x[:-1])):
        total += i * a * b
    for a in reversed(x):
        total = total * 0.5 + a
    return total


def loop_variable_after_loop(x):
    for i in range(3):
        y = x[i] * i
    return y * i + x[0]


def countdown(x):
    y = 0.0
    for i in range(4, -1, -2):
        y = y * x[i] + x[i]
    return y


def changed_loop_variable(x):
    total = 0.0
    for i in range(3):
        i = i + 1
        total += x[i] * i
    return total


def nested_element_loops(a):
    n, m = a.shape
    total = 0.0
    for i in range(n):
        for j in range(m):
            if i == j:
                continue
            total += a[i, j] ** 2 * (i + 2 * j)
    return total


def over_ndindex(a):
    total = 0.0
    for i, j in np.ndindex(a.shape):
        total += a[i, j] * (i - j)
    return total


def over_ndenumerate(a):
    total = 0.0
    for (i, j), v in np.ndenumerate(a):
        total += v**2 * (i + 3 * j)
    return total


# Lists and other containers


def list_before_and_in_loop(x):
    hs = [x[0]]
    for i in range(1, len(x)):
        hs.append(hs[-1] * 0.5 + x[i])
    return np.sum(np.array(hs) ** 2)


def two_names_for_a_list(x):
    a = [x[0], x[1]]
    b = a
    b.append(x[2])
    a[0] = x[3]
    return b[0] * a[2] + len(a) * x[4]


def copied_list(x):
    a = [x[0], x[1]]
    b = a.copy()
    c = a[:]
    d = list(a)
    a[0] = x[4]
    return b[0] + 2 * c[0] + 3 * d[0] + 4 * a[0]


def list_of_lists(x):
    rows = [[x[0], x[1]], [x[2], x[3]]]
    rows[1][0] = rows[0][1] ** 2
    return sum(sum(row) for row in rows) * rows[1][0]


def list_of_tuples(x):
    pairs = []
    for i in range(len(x) - 1):
        pairs.append((x[i], x[i + 1]))
    total = 0.0
    for a, b in pairs:
        total += a * b
    return total


def popped(x):
    stack = [v for v in x]
    total = 0.0
    while stack:
        total = total * 0.5 + stack.pop()
    return total


def list_replaced_in_loop(x):
    layer = list(x)
    while len(layer) > 1:
        layer = [a * b + a for a, b in zip(layer[:-1], layer[1:])]
    return layer[0]


def list_of_fixed_length_replaced(x):
    state = [x[0], x[1], x[2]]
    for _ in range(4):
        a, b, c = state
        state = [b, c, np.sin(a) + b]
    return state[0] + 2 * state[2]


def list_multiplied_and_joined(x):
    a = [0.0] * 3 + [x[0]]
    a[1] = x[1]
    a += [x[2]]
    a.extend([x[3], x[4]])
    return sum(v * i for i, v in enumerate(a))


def dict_of_arrays(x):
    p = {"w": x * 2, "b": x[0]}
    p["c"] = p["w"] * p["b"]
    p["b"] += 1
    total = 0.0
    for name, value in p.items():
        total = total + np.sum(value) * len(name)
    return total + p.get("nothing", 0.0) + np.sum(p.pop("c"))


def comprehensions(x):
    squares = [v * v for v in x if v > 0]
    table = {i: x[i] * 2 for i in range(3)}
    grid = [a * b for a in x[:2] for b in x[2:4]]
    return sum(squares) + table[1] * table[2] + sum(grid)


def dict_in_branch(x):
    d = {"a": x[0]}
    if x[1] > 0:
        d["a"] = d["a"] * 2
    else:
        d["a"] = np.sin(d["a"])
    return d["a"] ** 2


def list_in_branch(x):
    a = []
    if x[0] > 0:
        a.append(x[1])
        a.append(x[2])
    else:
        a.append(x[3])
    return sum(a) * len(a)


def sets(x):
    seen = set()
    total = 0.0
    for k in (1, 2, 1, 3):
        if k in seen:
            continue
        seen.add(k)
        total += x[k]
    seen.discard(7)
    return total * len(seen)


def queue(x):
    waiting = collections.deque([x[0], x[1], x[2]])
    total = 0.0
    while waiting:
        total = total * 2 + waiting.popleft()
    return total


def array_in_list_written(x):
    rows = [np.zeros(3), np.ones(3)]
    for row in rows:
        row[0] = x[0]
        row[1:] *= x[1]
    return np.sum(rows[0] * rows[1]) + np.sum(rows[1] ** 2)


def tuple_comparison(x):
    a = (1, 2) < (1, 3)
    b = (x[0], x[1]) < (x[0], x[2])
    return x[3] if a and b else x[4]


# Functions


def default_arguments(x):
    def f(a, b=2.0, *rest, c=3.0, **more):
        return a * b + c + sum(rest) + sum(more.values())

    return f(x[0]) + f(x[0], x[1], x[2], c=x[3], d=x[4]) + f(*[x[1], x[2]], **{"c": x[0]})


def closures(x):
    scale = x[0]

    def f(v):
        return v * scale

    scale = x[1]
    return f(x[2])


def closure_over_loop_variable(x):
    fs = [lambda v: v * i for i in range(3)]
    gs = [lambda v, i=i: v * i for i in range(3)]
    return sum(f(x[0]) for f in fs) + sum(g(x[1]) for g in gs)


def nonlocal_counter(x):
    total = 0.0

    def add(v):
        nonlocal total
        total += v * v
        return total

    add(x[0])
    for i in range(3):
        add(x[i])
    return total


def two_lambdas_on_one_line(x):
    f, g = (lambda v: v * 2), (lambda v: v**2)
    return f(x[0]) * g(x[1])


def function_returning_function(x):
    def power(n):
        def f(v):
            return v**n

        return f

    return power(2)(x[0]) + power(3)(x[1])


def functions_in_a_dict(x):
    table = {"sin": np.sin, "square": lambda v: v * v}
    return sum(f(x[0]) for f in table.values()) * table["square"](x[1])


def recursion(x):
    def tree(v):
        if len(v) == 1:
            return v[0]
        half = len(v) // 2
        return tree(v[:half]) * 0.5 + tree(v[half:]) ** 2

    return tree(x)


def recursion_on_an_int(x, n):
    def power(v, n):
        if n == 0:
            return 1.0
        if n % 2:
            return v * power(v, n - 1)
        return power(v * v, n // 2)

    return power(x, n)


def mutual_recursion(x, n):
    def even(v, n):
        return v if n == 0 else odd(np.sin(v), n - 1)

    def odd(v, n):
        return v if n == 0 else even(v * v, n - 1)

    return even(x, n)


def helper_with_default_list(v, memory=()):
    return v + sum(memory)


def default_of_a_callee(x):
    return helper_with_default_list(x[0]) * helper_with_default_list(x[1], (x[2], 1.0))


def doubled(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return 2.0 * f(*args, **kwargs)

    return wrapper


@doubled
def decorated(v, *, power=2):
    return v**power


def calls_decorated(x):
    return decorated(x[0]) + decorated(x[1], power=3)


def partials_and_operators(x):
    f = functools.partial(math.pow, x[0] ** 2 + 1)
    return f(2.0) + functools.reduce(operator.mul, [x[1], x[2], x[3]]) + operator.add(x[0], 1.0)


# Generators and itertools


def generated(values, scale):
    for i, v in enumerate(values):
        if i == 3:
            return
        yield v * scale
        scale = scale * 0.5


def generator_function(x):
    total = 0.0
    for v in generated(x, 2.0):
        if v > 5:
            break
        total += v**2
    return total + sum(generated(x, x[0])) + len(list(generated(x, 1.0)))


def generator_interleaved(x):
    y = x.copy()

    def items():
        for i in range(4):
            yield y[i]

    total = 0.0
    for i, v in enumerate(items()):
        y[i + 1] = v * 2
        total += v
    return total


def generator_expression_interleaved(x):
    y = x.copy()
    total = 0.0
    for v in (y[i] * 2 for i in range(3)):
        y[1:] = y[1:] * 0.5
        total += v
    return total


def delegating_generator(x):
    def inner(v):
        yield v
        yield v * v

    def outer(x):
        yield x[0]
        for i in range(2):
            yield from inner(x[i])

    return sum(v * (k + 1) for k, v in enumerate(outer(x)))


def return_inside_generator_loop(x):
    def f(x):
        for v in generated(x, 3.0):
            if v > 0:
                return v * 10
        return x[0]

    return f(x)


def itertools_in_use(x):
    total = 0.0
    for a, b in itertools.combinations([x[0], x[1], x[2]], 2):
        total += a * b
    for a, b in itertools.product([x[0], x[1]], [1, 2]):
        total += a**b
    for a, b in itertools.pairwise(x):
        total += a * b
    for v in itertools.chain([x[0]], [x[1]]):
        total += v
    for i, v in zip(itertools.count(1), x):
        total += i * v
    return total + list(itertools.accumulate(x))[2] + sum(itertools.islice(x, 2))


def maps_and_filters(x):
    total = sum(map(lambda a, b: a * b, x[1:], x[:-1]))
    for v in filter(lambda v: v > 0, x):
        total += v**2
    return total + max(x, key=lambda v: v * v) + min([x[0], x[1]], key=abs)


def sorting(x):
    by_size = sorted([x[0], x[1], x[2]], key=lambda v: -v)
    plain = sorted(x)
    return sum(v * i for i, v in enumerate(by_size)) + plain[0] * plain[-1]


def any_and_all(x):
    if any(v > 1e6 for v in x) or not all(v < 1e6 for v in x):
        return x[0]
    return x[1] * sum(v > 0 for v in x)


def bisected(x):
    grid = [-1.0, 0.0, 1.0]
    i = bisect.bisect_right(grid, x[0] * 0.1)
    return x[i] * 2


# Classes


class Counter:
    scale = 2.0
    made = "a class attribute"

    def __init__(self, start):
        self.total = start
        self.history = []

    def add(self, v):
        self.total = self.total + self.scale * v
        self.history.append(self.total)
        return self

    @property
    def mean(self):
        return self.total / len(self.history)

    @property
    def half(self):
        return self.total / 2

    @half.setter
    def half(self, value):
        self.total = 2 * value

    @staticmethod
    def square(v):
        return v * v

    @classmethod
    def at(cls, v):
        return cls(v)

    def __call__(self, v):
        return self.total * v


class Louder(Counter):
    scale = 3.0

    def __init__(self, start, volume):
        super().__init__(start * volume)
        self.volume = volume

    def add(self, v):
        super().add(v * self.volume)
        return self


class Dual:
    def __init__(self, a, b=0.0):
        self.a, self.b = a, b

    def __add__(self, other):
        if not isinstance(other, Dual):
            other = Dual(other)
        return Dual(self.a + other.a, self.b + other.b)

    __radd__ = __add__

    def __mul__(self, other):
        if not isinstance(other, Dual):
            return Dual(self.a * other, self.b * other)
        return Dual(self.a * other.a, self.a * other.b + self.b * other.a)

    def __rmul__(self, other):
        return self * other

    def __neg__(self):
        return Dual(-self.a, -self.b)

    def __iadd__(self, other):
        self.a = self.a + other.a
        self.b = self.b + other.b
        return self

    def __getitem__(self, i):
        return (self.a, self.b)[i]

    def __len__(self):
        return 2

    def __lt__(self, other):
        return self.a < other.a

    def __eq__(self, other):
        return self.a == other.a

    def __bool__(self):
        return True


class Point(typing.NamedTuple):
    x: float
    y: float = 1.0

    def norm(self):
        return self.x**2 + self.y**2


@dataclasses.dataclass
class Particle:
    position: np.ndarray
    velocity: np.ndarray
    mass: float = 2.0
    tags: list = dataclasses.field(default_factory=list)

    def __post_init__(self):
        self.momentum = self.mass * self.velocity


def stateful_object(x):
    c = Counter(x[0])
    for i in range(3):
        c.add(x[i])
    return c.total * c.mean + c.history[1]


def inheritance(x):
    c = Louder(x[0], x[1])
    c.add(x[2]).add(x[3])
    return c.total + Counter.at(x[4]).add(x[0]).total


def properties(x):
    c = Counter(x[0])
    c.half = c.half + x[1]
    return c.total * Counter.square(x[2]) + c(x[3])


def operators(x):
    a, b = Dual(x[0], 1.0), Dual(x[1], x[2])
    c = 2.0 * a * b + 1.0 + -a
    c += b
    first, second = c[0], c[1]
    bigger = a if a < b else b
    return first * second + bigger.a


def object_replaced_in_loop(x):
    p = Point(x[0], x[1])
    d = Dual(x[2], 1.0)
    for _ in range(3):
        p = p._replace(x=p.y * 2, y=p.x + p.y)
        d = d * d + p.x
    return p.norm() + d.a * d.b


def objects_in_a_list(x):
    ps = [Particle(x[:2] * i, x[2:4]) for i in range(3)]
    for p in ps:
        p.position = p.position + 0.1 * p.velocity
        p.tags.append(p.mass)
    return sum(np.sum(p.position * p.momentum) * len(p.tags) for p in ps)


def object_chosen_by_branch(x):
    if x[0] > 0:
        d = Dual(x[1], x[2])
    else:
        d = Dual(x[2] * 2, x[3])
    return d.a * d.b


def object_made_on_a_branch_and_changed(x):
    d = Dual(x[0], x[1])
    if x[2] > 0:
        d = Dual(x[3], x[4])
    d.a = d.a * x[0]
    rows = [x[0], x[1]] if x[3] > 0 else [x[2], x[3]]
    rows[0] = rows[0] * 2
    return d.a * d.b + rows[0] * rows[1]


def simple_namespace(x):
    s = types.SimpleNamespace(a=x[0], b=2.0)
    s.a = s.a * s.b
    s.c = x[1]
    return s.a * s.c


def generators_with_names_in_a_loop(x):
    total = 0.0
    for i in range(3):
        pairs = zip(x, x[1:])
        total += sum(a * b for a, b in pairs) * i
        for k, v in enumerate(generated(x, total)):
            total += k * v
    return total


def attribute_mutated_through_two_names(x):
    a = Dual(x[0], x[1])
    b = a
    b.a = x[2] * 3
    return a.a * a.b


# Statements


def asserts_and_raises(x):
    assert x.ndim == 1, "one dimension"
    assert np.sum(x * x) < 100.0
    if np.sum(x * x) < 0:
        raise ValueError(f"impossible: {x[0]:.3f}")
    return x[0] * 2


def with_errstate(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(np.abs(x))
    return np.sum(y)


def try_finally(x):
    total = 0.0
    for i in range(3):
        try:
            if i == 1:
                continue
            total += x[i]
        finally:
            total = total * 2
    return total


def try_linalg(a):
    try:
        inverse = np.linalg.inv(a @ a.T)
        scale = 1.0
    except np.linalg.LinAlgError:
        inverse = np.eye(len(a))
        scale = 2.0
    else:
        scale = scale + 1
    return scale * np.sum(inverse)


def text(x):
    name = "a%d" % 3 + f"{len('ab')}"
    y = x[0] if name.startswith("a3") else x[1]
    return y * len(name)


def formatted(x):
    message = f"{x[0]:.2f} and {x!r:>10}"
    return x[0] ** 2


# In place, in passing


def reshaped_in_place(x):
    y = x.copy()
    y.shape = (5, 1)
    y[0, 0] = y[1, 0] ** 2
    return np.sum(y)


def over_flat(a):
    total = 0.0
    for k, v in enumerate(a.flat):
        total += v * k
    return total + a.flat[2]


def out_of_a_helper(x):
    def scale(v, by):
        v *= by

    y = x.copy()
    scale(y, x[0])
    scale(y[1:], 2.0)
    return np.sum(y)


def row_views(a):
    b = a.copy()
    for row in b:
        row[0] = row[1] * row[2]
    return np.sum(b**2)


def elements_read_while_written(x):
    y = x.copy()
    total = 0.0
    i = 0
    for v in y:
        total += v * v
        if i < 4:
            y[i + 1] = v
        i += 1
    return total


ONE_ARRAY = [
    object_made_on_a_branch_and_changed, simple_namespace, generators_with_names_in_a_loop,
    number_becomes_array_in_place, first_iteration_is_special, sum_of_arrays,
    unknown_number_unpacked,
    assigned_in_one_branch, reused_for_another_type, integer_becomes_float, scalar_becomes_array,
    static_counter, names_like_ours, unicode_names, shadowed_builtins, shadowed_numpy,
    chained_assignment, swapped, starred, walrus, deleted, annotated, nested_branches,
    conditional_expression, short_circuit, side_effects_in_order, chained_comparison,
    optional_value, optional_array, optional_tuple, none_by_default, matched_structure,
    matched_dict, breaks_and_continues, while_true, while_else, return_from_nested_loops,
    return_from_inlined_function, break_of_inner_loop_only, loop_over_several,
    loop_variable_after_loop, countdown, changed_loop_variable, list_before_and_in_loop,
    two_names_for_a_list, copied_list, list_of_lists, list_of_tuples, popped,
    list_replaced_in_loop, list_of_fixed_length_replaced, list_multiplied_and_joined,
    dict_of_arrays, comprehensions, dict_in_branch, list_in_branch, sets, queue,
    array_in_list_written, tuple_comparison, default_arguments, closures,
    closure_over_loop_variable, nonlocal_counter, two_lambdas_on_one_line,
    function_returning_function, functions_in_a_dict, recursion, default_of_a_callee,
    calls_decorated, partials_and_operators, generator_function, generator_interleaved,
    generator_expression_interleaved, delegating_generator, return_inside_generator_loop,
    itertools_in_use, maps_and_filters, sorting, any_and_all, bisected, stateful_object,
    inheritance, properties, operators, object_replaced_in_loop, objects_in_a_list,
    object_chosen_by_branch, attribute_mutated_through_two_names, asserts_and_raises,
    with_errstate, try_finally, text, formatted, reshaped_in_place, out_of_a_helper,
    elements_read_while_written,
]  # fmt: skip


@pytest.mark.parametrize("f", ONE_ARRAY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["", "negated"])
def test_of_an_array(f, sign):
    check(f, sign * X)


@pytest.mark.parametrize(
    "f",
    [nested_element_loops, over_ndindex, over_ndenumerate, over_flat, row_views],
    ids=lambda f: f.__name__,
)
def test_of_a_matrix(f):
    check(f, MATRIX)


def test_of_other_arguments():
    for n in (0, 1, 4):
        check(loop_that_does_not_run, X, n)
    for kind in ("double", "sine", "sin", "other"):
        check(matched_value, X, kind)


@pytest.mark.parametrize(
    ("f", "args", "argnums"),
    [
        (captured_by_one_of, (3.0, 0.0, 2.0), (0, 2)),
        (captured_by_one_of, (0.0, 3.0, 2.0), (1, 2)),
        (captured_by_one_of, (1.5, 3.0, 2.0), (0, 1, 2)),
        (captured_only_where_it_matches, (1.5, 0.0, 2.0), (0, 2)),
        (captured_only_where_it_matches, (6.5, 0.0, 2.0), (0, 2)),
        (captured_only_where_it_matches, (6.5, 3.0, 2.0), (0, 1, 2)),
        (captured_before_a_guard_fails, (1.5, 0.3), (1,)),
        (captured_before_a_guard_fails, (0.5, 0.7), (1,)),
        (captured_before_a_guard_fails, (0.3, 1.5), (0,)),
        (captured_before_a_guard_fails, (2.0, 1.5), (0,)),
        (captured_before_a_guard_fails, (2.0, 3.0), (0, 1)),
    ],
)
def test_a_pattern_captures_where_it_matches(f, args, argnums):
    check(f, *args, argnums=argnums)
    for limit in (-10.0, 0.0, 10.0):
        check(loop_else, X, limit, argnums=(0,))
    for n in (0, 1, 2, 7, 10):
        check(recursion_on_an_int, 1.3, n)
        check(mutual_recursion, 0.7, n)
    check(try_linalg, RNG.normal(size=(3, 3)))
    check(try_linalg, np.diag([1.0, 2.0]))


def test_shape_that_structure_depends_on_is_part_of_the_signature():
    gradient = srcgrad.grad(recursion)
    for n in (3, 5, 8, 5):
        x = np.linspace(0.5, 1.5, n)
        check(recursion, x)
        assert gradient(x).shape == (n,)


def test_compile_time_does_not_explode():
    def nested(x, n):
        total = 0.0
        for i in range(n):
            a = x[0] * i
            for j in range(n):
                b = a + x[1] * j
                for k in range(n):
                    c = b * x[2] + k
                    for l in range(n):
                        total = total + c * l
        return total

    check(nested, X, 2)


def test_a_tuple_repeated_as_often_as_an_argument_says():
    def f(x, n):
        return sum((x,) * n) + sum(n * (1.0,))

    assert srcgrad.value_and_grad(f)(2.0, 3) == (9.0, 3.0)

    def several(x, n):
        return x * sum((1.0, 2.0) * n)

    assert srcgrad.value_and_grad(several)(2.0, 3) == (18.0, 9.0)


def test_sequences_are_no_arrays_for_python_numbers():
    def several(x, n):
        return x * sum((1.0, 2.0) * int(x))

    def sums(x, n):
        return sum((x, 1.0) + n)  # noqa: RUF005

    for f, message in (
        (several, "a tuple repeated"),
        (sums, "operator isn't defined"),
    ):
        with pytest.raises(srcgrad.UnsupportedError, match=message):
            srcgrad.grad(f)(2.0, 3)


def ellipsis_of_none(x):
    a = np.zeros(())
    a[...] = x[0] ** 2
    return a[()]


def squared_in_place(x):
    a = np.zeros(())
    a += x[0] ** 2
    a[...] = a * a
    return a * x[1]


def view_without_axes(x):
    a = np.zeros(2)
    b = a[0, ...]
    b[...] = x[0] ** 2
    c = a[1:].reshape(())
    c += x[1] * b
    return a.sum()


@pytest.mark.parametrize("f", [ellipsis_of_none, squared_in_place, view_without_axes])
def test_writes_to_arrays_without_axes(f):
    x = np.array([0.7, -1.2])
    steps = [1e-6 * d for d in np.eye(2)]
    differences = [(f(x + step) - f(x - step)) / 2e-6 for step in steps]
    assert srcgrad.grad(f)(x) == pytest.approx(differences, abs=1e-8)


def test_an_empty_list_of_indices():
    def f(x):
        large = [i for i in range(len(x)) if x[i] > 5]
        y = x.copy()
        y[[]] = 0.0
        return 2 * x[large].sum() + x[[]].sum() + (y**2).sum()

    x = np.arange(3.0)
    np.testing.assert_array_equal(srcgrad.grad(f)(x), 2 * x)
    np.testing.assert_array_equal(srcgrad.grad(f)(4 + x), 2 * (4 + x) + [0, 0, 2])


@pytest.mark.parametrize("zero", [0, 0.0])
def test_numbers_of_single_precision_added_to_one_of_python(zero):
    def f(x):
        s = zero
        for v in x:
            s += v * v
        for i in range(len(x)):
            s = s + x[i]
        return s

    x = np.array([1.0, 2.0, 3.0], np.float32)
    value, gradient = srcgrad.value_and_grad(f)(x)
    assert type(value) is np.float32 and value == 20
    assert gradient.dtype == np.float32
    np.testing.assert_array_equal(gradient, 2 * x + 1)
    tangent = srcgrad.jvp(f, (x,), (x,))[1]
    assert tangent == gradient @ x


def joined_columns(x, n):
    rows = [np.outer(x[: i + 1] * x[i], x) for i in range(n)]
    return np.sum(np.sin(np.vstack(rows))) + np.sum(np.cos(np.concatenate(rows, axis=None)))


def joined_pieces(x, n):
    pieces = [x]
    for i in range(n):
        pieces.append(x[: i + 1] * x[i])
    return np.sum(np.sin(np.hstack(pieces)))


def rows_of_a_guessed_length(x, n):
    rows = np.reshape(x, (n, -1))
    return np.sum(np.column_stack([r * rows[0] for r in rows]) @ np.stack(rows))


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("f", [joined_columns, joined_pieces, rows_of_a_guessed_length])
def test_joining_a_list_of_arrays_whose_shapes_differ(f, n):
    srcgrad.testing.check_grads(lambda x: f(x, n), (np.linspace(0.3, 1.0, 4),), order=2)


def test_methods_of_the_adjoint_of_a_number_in_a_list():
    def f(x, n):
        items = []
        for i in range(n):
            total = (x * x * i).sum(axis=0)
            items.append(-0.5 * total.reshape(()))
        return sum(items)

    np.testing.assert_allclose(srcgrad.grad(f)(np.ones(3), 3), [-3.0, -3.0, -3.0])


NAMED = {"W1": np.eye(2) * 0.3, "W2": np.eye(2)[::-1] * 1.7, "W3": np.ones((2, 2))}


@pytest.mark.parametrize(
    "key",
    [
        lambda i: f"W{i}",
        lambda i: "W" + str(i),
        lambda i: "W%d" % i,
        lambda i: "W%d" % (i,),
        lambda i: "W{}".format(i),  # noqa: UP032
        lambda i: "W{n}".format(n=i),  # noqa: UP032
        lambda i: "".join(["W", repr(i)]),
        lambda i: "W" + format(i, "d"),
        lambda i: repr(f"W{i}")[1:-1],
    ],
)
def test_keys_made_of_the_number_of_a_round(key):
    def layers(p, x):
        for i in range(1, len(p) + 1):
            x = np.tanh(p[key(i)] @ x)
        return np.sum(x)

    srcgrad.testing.check_grads(layers, (NAMED, np.array([0.3, -0.7])), order=1)


def test_the_precision_of_an_adjoint_that_stays_one_in_a_loop():
    def f(w, z):
        rows = [np.sin(v) for v in w[0]]
        total = np.sum(w) + z * np.sum(w.mean(axis=0))
        for v in rows:
            total = total + np.sum(np.sin(v))
        return total

    w = np.linspace(0.1, 1.0, 6).reshape(2, 3)
    expected = srcgrad.grad(f)(w, 0.4)
    gradient = srcgrad.grad(f)(w.astype(np.float32), 0.4)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)


def test_the_precision_of_an_adjoint_that_a_branch_decides():
    def f(x, w, z):
        a = np.diag(np.outer(x, x))
        waves = [np.sin(v * w[0, -3]) for v in x if v > 0.3]
        kept = [x * v for v in x if v > 2.0]
        total = z + np.sum(w * 0.3) + np.sum(a * 0.9)
        for v in waves:  # noqa: B007 - makes v of another kind before the next loop
            pass
        for v in kept:
            total = total + np.sum(np.sin(v))
        return total

    x, w = np.linspace(0.1, 0.4, 4), np.ones((3, 4))
    gradient = srcgrad.value_and_grad(f, (0, 1, 2))
    _, expected = gradient(x, w, 0.4)
    _, found = gradient(x.astype(np.float32), w.astype(np.float32), 0.4)
    for mine, right in zip(found[:2], expected, strict=False):
        assert mine.dtype == np.float32
        np.testing.assert_allclose(mine, right, rtol=1e-6)


class Link:
    def __init__(self, value, rest=None):
        self.value, self.rest = value, rest


def linked(x):
    head = None
    for v in x:
        head = Link(v, head)
    return head


def walked(x):
    link, total, weight = linked(x), 0.0, 1
    while link is not None:
        total += weight * link.value
        link.value = link.value * total
        link, weight = link.rest, weight + 1
    return total * total


def walked_until(x, limit):
    link, total = linked(x), 0.0
    while link is not None:
        if total > limit:
            return total * link.value
        total += link.value**2
        link = link.rest
    else:
        total = total + 100 * x[0]
    return total


def reversed_in_place(x):
    link, before, total, place = linked(x), None, 0.0, 0
    while link:
        link.rest, before, link = before, link, link.rest
    while before:
        place += 1
        if place == 2:
            before = before.rest
            continue
        total += place * before.value
        before = before.rest
    return total


def visited(x):
    def grown(low, high):
        if high - low == 1:
            return {"value": x[low], "left": None, "right": None}
        middle = (low + high) // 2
        left, right = grown(low, middle), grown(middle, high)
        return {"value": left["value"] * right["value"] + 1, "left": left, "right": right}

    stack, total = [grown(0, len(x))], 0.0
    while True:
        if not stack:
            break
        node = stack.pop()
        total += node["value"] ** 2
        stack.extend(child for child in (node["left"], node["right"]) if child is not None)
    return total


@pytest.mark.parametrize("limit", [0.5, 100.0])
def test_a_while_over_links_that_may_return(limit):
    srcgrad.testing.check_grads(walked_until, (X, limit), order=1)


@pytest.mark.parametrize("f", [walked, reversed_in_place, visited])
def test_a_while_over_objects_that_are_known_when_compiling(f):
    srcgrad.testing.check_grads(f, (X,), order=1)


def asked_until_answered(x):
    asked = []

    def probe(v):
        asked.append(v)
        return v > 0.5

    weight = 1.0
    if any(probe(v) for v in x):
        weight = 2.0
    if all(not probe(v) for v in x[::-1]):
        weight = 3.0
    return weight * sum(v * (i + 1) for i, v in enumerate(asked))


def asked_by_map(x):
    seen = [0.0]

    def probe(v):
        seen[0] = seen[0] + v * v
        return v > 0.5

    return (2.0 if any(map(probe, x)) else 1.0) * seen[0]


def prime_terms(x):
    total = 0.0
    for k in range(2, 12):
        if all(k % d for d in range(2, k)):
            total += x[k % 5] * k
    return total


def cut_off(x):
    made = []

    def probe(v):
        made.append(v)
        return v > 0.1

    total = 0.0
    for v in itertools.islice((u for u in x if probe(u)), 0, 3, 2):
        total += v
        if v > 1:
            total *= 2
            break
    else:
        total += 100 * x[0]
    total += sum(itertools.islice(map(lambda u: (probe(-u), u * u)[1], x), 1, 4))  # noqa: C417
    return total + sum(v * (i + 1) for i, v in enumerate(made))


def kept_map(x):
    def moments(values):
        values = list(values)
        return sum(values) / len(values) + max(values)

    waves, squares = map(np.sin, x), (v * v for v in x)
    first = next(squares)
    return sum(list(waves)) + moments(map(np.cos, x)) + moments(v**3 for v in x) * first


def endless_generator(x):
    def numbers(s):
        while True:
            s = s * 0.5 + x[0]
            yield s

    head = np.array(list(itertools.islice(numbers(x[2]), 2, 5)))
    return sum(v * v for v in itertools.islice(numbers(x[1]), 7)) + head @ head


def asked_in_a_while(x):
    total, k = x[0], 0
    while any(v > total for v in x):
        total, k = total + 0.3 * abs(x[k % 5]) + 0.01, k + 1
    else:
        total = total * 2
    return total + (1.0 if True in (v > 0 for v in x) else x[1])


@pytest.mark.parametrize("x", [X, -X, POSITIVE, X - 3], ids=["X", "-X", "positive", "small"])
@pytest.mark.parametrize(
    "f",
    [
        asked_until_answered, asked_by_map, prime_terms, cut_off, kept_map, endless_generator,
        asked_in_a_while,
    ],
)  # fmt: skip
def test_iterators_make_no_more_than_is_needed(f, x):
    check(f, x)
    srcgrad.testing.check_grads(f, (x,), order=1)


def columns_of_a_history(x):
    history, t, y = [], 0.0, x[0]
    while t < 1.0:
        y = y + 0.1 * (x[1] - y * y)
        history.append((t, y, y * x[2]))
        t += 0.1
    ts, ys, us = zip(*history)
    return np.trapezoid(np.array(ys) ** 2, np.array(ts)) + max(us) + sum(ys[1:]) * len(ts)


def columns_of_a_comprehension(x):
    points = [(v, v * v) for v in x if v > -3]
    a, b = map(np.array, zip(*points))
    columns = list(zip(*points))
    return a @ b + sum(columns[0]) * columns[1][0]


@pytest.mark.parametrize("f", [columns_of_a_history, columns_of_a_comprehension])
def test_zip_of_the_rows_of_a_list_made_at_run_time(f):
    check(f, X)
    srcgrad.testing.check_grads(f, (X,), order=1)


LOGGER = logging.getLogger("srcgrad.tests")


def test_warnings_and_logging(caplog):
    def f(x):
        LOGGER.info("of %d numbers", x.size)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = np.log(x)
        if y[0] < 0:
            warnings.warn("negative", UserWarning, stacklevel=2)
        return np.sum(y)

    caplog.set_level(logging.INFO, LOGGER.name)
    before = list(warnings.filters)
    assert srcgrad.grad(f)(np.array([2.0, -1.0])).tolist() == [0.5, -1.0]
    assert caplog.messages == ["of 2 numbers"]
    with pytest.warns(UserWarning, match="negative"):
        srcgrad.grad(f)(np.array([0.5]))
    assert warnings.filters == before


# What only an array can do, tried on a number


def zeroed_where_small(x):
    y = np.hypot(x, 1.0)
    try:
        y[y < 1.2] = 0.5
    except TypeError:
        if y < 1.2:
            y = 0.5 * x
    return y * x


def negated_inside(x):
    y = np.hypot(x, 1.0)
    inside = x * x < 1
    try:
        if np.any(inside):
            y[inside] = -y[inside]
    except TypeError:
        if inside:
            y = -y
    return y * x


def stored_unless_positive(x):
    y = np.sin(x)
    try:
        if y > 0:
            y = y * 3
        else:
            y[()] = 0.0
        y = y + x
    except TypeError:
        y = x * x
    return y


def length_of_a_number(x):
    try:
        n = len(x)
    except TypeError:
        n, x = 1, np.array([x])
    total = 0.0
    for i in range(n):
        total += x[i] ** 2
    return total


def first_item_of_a_number(x):
    try:
        first = x[0]
    except (TypeError, IndexError):
        first = x
    return first * first


def iterated_number(x):
    total = 0.0
    try:
        for v in x:
            total += v * v
    except TypeError:
        total = x**3
    return total


@pytest.mark.parametrize("x", [0.3, 0.9, -1.3])
@pytest.mark.parametrize(
    "f",
    [
        zeroed_where_small,
        negated_inside,
        stored_unless_positive,
        length_of_a_number,
        first_item_of_a_number,
        iterated_number,
    ],
)
def test_a_number_fails_where_an_array_does_not(f, x):
    for value in (x, np.float64(x)):
        expected = (f(value + 1e-6) - f(value - 1e-6)) / 2e-6
        assert srcgrad.grad(f)(value) == pytest.approx(expected, rel=1e-6)
        assert srcgrad.jvp(f, (value,), (1.0,))[1] == pytest.approx(expected, rel=1e-6)


def test_an_array_is_written_where_a_number_fails():
    for f in (zeroed_where_small, negated_inside, length_of_a_number, iterated_number):
        check(lambda x, f=f: np.sum(f(x)), X)


def test_the_adjoint_of_a_number_has_no_memory():
    """An item of a number is read by writing into an array without axes, which is no number."""

    def f(x):
        y = np.arcsinh(x)
        if x > 5:
            y = np.sign(x) * 3
        return y.squeeze()[()]

    for x in (0.3, np.float64(0.3), np.array(0.3)):
        assert srcgrad.grad(f)(x) == pytest.approx(1 / np.sqrt(1.09))


class Counted:
    """An objective that counts its evaluations, as optimisers' test problems do."""

    def __init__(self):
        self.evaluations, self.used, self.power = 0, False, 3

    def __call__(self, x):
        self.evaluations += 1
        self.used = True
        return np.sum(x**self.power)

    def in_a_loop(self, x):
        total = 0.0
        for v in x:
            self.evaluations += 1
            total += v**2 * self.evaluations
        return total

    def on_a_branch(self, x):
        self.evaluations += 1 if x[0] > 0 else 10
        return np.sum(np.sin(x)) * self.evaluations

    def under_another_name(self, x):
        before = COUNTED[0].evaluations
        self.evaluations += 1
        return np.sum(x) * (before + COUNTED[0].evaluations)


COUNTED = [Counted()]


@pytest.mark.parametrize("name", ["__call__", "in_a_loop", "on_a_branch", "under_another_name"])
def test_an_object_outside_counts(name):
    mine, other = Counted(), Counted()
    COUNTED[0] = mine
    gradient = srcgrad.grad(mine if name == "__call__" else getattr(mine, name))
    for _ in range(3):
        found = gradient(X)
        COUNTED[0] = other
        count = other.evaluations
        for i in range(X.size):
            step = 1e-6 * np.eye(X.size)[i]
            values = []
            for x in (X + step, X - step):
                other.evaluations = count
                values.append(getattr(other, name)(x))
            assert found[i] == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-6)
        COUNTED[0] = mine
        assert vars(mine) == vars(other)
    assert "self.evaluations" in gradient.source


def test_an_int_of_a_callable_object_may_be_needed_when_compiling():
    class Axis:
        def __init__(self):
            self.axis = 1

        def __call__(self, x):
            return np.sum(np.sum(x, axis=self.axis) ** 2)

    f = Axis()
    gradient = srcgrad.grad(f)
    for axis in (1, 0):
        f.axis = axis
        expected = 2 * np.sum(MATRIX, axis=axis, keepdims=True) + 0 * MATRIX
        np.testing.assert_allclose(gradient(MATRIX), expected)


def test_lists_are_joined_by_functions():
    for function in (operator.concat, operator.iconcat, operator.add, operator.iadd):

        def f(x, function=function):
            rows = [[x[0], x[1] * x[2]], [x[3]]]
            flat = functools.reduce(function, rows, [x[4]])
            return sum(v * v for v in flat) * len(flat)

        check(f, X)


def test_an_outer_object_is_indexed_as_when_the_program_runs():
    table = {"a": 2.0}

    class Whole:
        value = 3.0

    whole = Whole()

    def f(x):
        try:
            scale = whole[0]
        except TypeError:
            scale = whole.value
        return np.sum(x**2) * scale * table["a"]

    check(f, X)


# Operators in place, called as functions


def in_place_on_numbers(x):
    return operator.iadd(x[0], x[1]) * operator.imul(float(x[2]), 2.0)


def in_place_reduced(x):
    return functools.reduce(operator.imul, x, 1.0)


def in_place_on_lists(x):
    y = [x[0]]
    z = operator.iadd(y, [x[1]])
    z.append(x[2])
    operator.imul(y, 2)
    operator.delitem(z, 0)
    y.__iadd__([x[3]])
    return sum(v**2 for v in y)


def repeated_in_place(x):
    y = [x[0], x[1]]
    z = y
    z *= 3
    y[0] = x[2]
    return sum(v**2 for v in z)


def in_place_on_other_containers(x):
    keys, table = {1, 2}, {"a": x[0]}
    queue = collections.deque([x[4]])
    operator.ior(keys, {3})
    operator.ior(table, {"b": x[1] ** 2})
    operator.iadd(queue, [x[2], x[3]])
    return sum(x[i] for i in keys) * table["a"] * table["b"] + queue[-1] * queue[1]


def in_place_on_arrays(x):
    y = np.sin(x)
    z = operator.iadd(y, x)
    z *= 2
    return np.sum(y.__imul__(x)) + np.sum(y**2)


class Total:
    def __init__(self, value):
        self.value = value

    def __iadd__(self, other):
        self.value = self.value + other
        return self


def in_place_on_objects(x):
    total = Total(x[0])
    operator.iadd(total, x[1])
    return total.value**2


@pytest.mark.parametrize(
    "f",
    [
        in_place_on_numbers,
        in_place_reduced,
        in_place_on_lists,
        repeated_in_place,
        in_place_on_other_containers,
        in_place_on_arrays,
        in_place_on_objects,
    ],
)
def test_operators_in_place_called_as_functions(f):
    check(f, X)


class Backend(types.ModuleType):
    """A module whose functions are those of its class, as some libraries choose among several."""

    squared = staticmethod(lambda x: x**2)
    factor = 3.0

    @property
    def doubled(self):
        return 2 * self.factor

    def times(self, x):
        return self.factor * x


backend = Backend("backend")


def lazily(name):
    if name not in ("cubed", "offset"):
        raise AttributeError(name)
    return LAZY[name]


def cubed(x):
    return x**3


LAZY = {"cubed": cubed, "offset": 0.5}
lazy = types.ModuleType("lazy")
lazy.__getattr__ = lazily


def by_modules(x):
    y = backend.squared(x) + backend.times(x) * backend.doubled * backend.factor
    return np.sum(y + lazy.cubed(x + lazy.offset))


def test_what_a_module_has_by_its_class_or_by_getattr(monkeypatch):
    check(by_modules, X)
    gradient = srcgrad.grad(by_modules)
    before = gradient(X)
    monkeypatch.setitem(LAZY, "cubed", np.sin)
    monkeypatch.setattr(Backend, "factor", 4.0)
    expected = srcgrad.grad(by_modules)(X)
    assert not np.allclose(before, expected)
    np.testing.assert_allclose(gradient(X), expected)


def test_ranges_in_tuples_are_arguments():
    def f(a, qubits):
        return np.sum(np.tensordot(a, a, axes=(range(1, 3), qubits)) ** 2)

    a = np.arange(8.0).reshape(2, 2, 2)
    plain = srcgrad.grad(lambda a: np.sum(np.tensordot(a, a, axes=([1, 2], [0, 1])) ** 2))
    np.testing.assert_allclose(srcgrad.grad(f)(a, (0, 1)), plain(a))


def leave_either_of_two_loops(x, y):
    for i in range(3):
        for v in x:
            if v * i > y:
                break
            y = y * 1.1
        else:
            y = y + x[i]
        if y > 1.0:
            break
    else:
        y = y + 10 * y * y
    return y + x[0]


def leave_a_for_around_a_while(x, y):
    for i in range(len(x)):
        while i > 0:
            i -= 1
            y = y * 1.01
        else:
            y = y + x[0]
        if y > 1.0:
            break
    else:
        y = y + 10 * y * y
    return y


def leave_what_a_generator_with_an_else_gives(x, y):
    def products():
        for u in x:
            for v in x:
                yield u * v
            else:
                yield u

    for p in products():
        y = y + p
        if y > 3.0:
            break
    else:
        y = y + 10 * y * y
    return y


@pytest.mark.parametrize("scale", [0.01, 0.4, 1.0])
@pytest.mark.parametrize(
    "function",
    [
        leave_either_of_two_loops,
        leave_a_for_around_a_while,
        leave_what_a_generator_with_an_else_gives,
    ],
)
def test_loops_with_an_else_in_each_other(function, scale):
    for start in (0.17, 0.63, 2.9):
        check(function, scale * np.array([0.31, 0.52, 0.94]), start)


lazily_imported = None


def test_a_global_that_is_imported_when_first_needed():
    def f(x):
        global lazily_imported
        if lazily_imported is None:
            import math as lazily_imported
        return lazily_imported.sin(x)

    gradient = srcgrad.grad(f)
    for x in (0.5, 0.7, 0.9):
        assert gradient(x) == pytest.approx(math.cos(x))
    assert lazily_imported is math
    assert len(gradient.sources) == 1


Item = typing.TypeVar("Item")


class Stack(typing.Generic[Item]):
    def __init__(self):
        self.items: list[Item] = []

    def push(self, item: Item) -> "Stack[Item]":
        self.items.append(item)
        return self


class Units:
    def __class_getitem__(cls, scale):
        return lambda x: scale * x


def test_classes_in_brackets():
    def f(x):
        pair = typing.cast(list[float], [x, x])
        named = dict[str, float](a=x)
        table: np.ndarray[tuple[int], np.dtype[np.float64]] = np.array(pair)
        kinds = np.ndarray[typing.Any, np.dtype[np.float64]], typing.Optional[dict[str, int]]  # noqa: UP045
        assert len(kinds) == 2
        stack = Stack[float]().push(x)
        return named["a"] * pair[1] + table[0] * stack.items[0] + Units[3.0](x)

    srcgrad.testing.check_grads(f, (2.0,))


Real = int | float


class DualNumber:
    def __init__(self, value, slope=0.0):
        self.value, self.slope = value, slope

    def __mul__(self, other):
        if isinstance(other, Real | np.floating):
            other = DualNumber(other)
        return DualNumber(
            self.value * other.value, self.value * other.slope + self.slope * other.value
        )

    __rmul__ = __mul__


def test_types_joined_by_a_bar():
    def f(x):
        y = 3.0 * DualNumber(x, 1.0) * DualNumber(x, 1.0) * x
        kinds = list | tuple
        parts = [v[0] if isinstance(v, kinds) else v for v in (x, [x * x], (2 * x, 1))]
        return y.slope + sum(parts) if isinstance(x, float | None) else x

    srcgrad.testing.check_grads(f, (1.5,))
    assert srcgrad.grad(f)(1.5) == 12 * 1.5 + 3 + 2 * 1.5
    assert srcgrad.grad(lambda x, v: x * (3 if isinstance(v, int | np.ndarray) else 5))(1.0, X) == 3


def test_enumerate_counts_in_ints_of_python():
    def f(x, start):
        return x * sum([k * v for k, v in enumerate([1.0, 2.0, 4.0], start)])

    assert srcgrad.grad(f)(2.0, np.uint8(254)) == 254 + 2 * 255 + 4 * 256
    assert srcgrad.grad(lambda x: f(x, np.int8(127)))(2.0) == 127 + 2 * 128 + 4 * 129


MIDDLE = slice(1, 3)


def a_slice_from_outside(x):
    items = [x[0], x[0] * x[1], x[1] * x[2], x[2]]
    items[MIDDLE] = [x[2] ** 2, x[0]]
    del items[slice(None, 1)]
    return items[0] * items[1] * len(items) + sum((x[0], x[1] ** 2, x[2])[MIDDLE])


def a_slice_of_what_the_run_builds(x):
    items = []
    for i in range(len(x) + 3):
        items.append(x[i % 3] * i)
    items[MIDDLE] = [x[2] ** 2, x[0]]
    del items[MIDDLE]
    return items[1] * items[2] * x[0] + sum(range(10)[MIDDLE]) * x[1]


def a_slice_where_a_type_error_is_caught(x):
    try:
        return sum([x[0], x[0] * x[1], x[1] * x[2]][MIDDLE])
    except TypeError:
        return x[0]


@pytest.mark.parametrize(
    "f",
    [a_slice_from_outside, a_slice_of_what_the_run_builds, a_slice_where_a_type_error_is_caught],
)
def test_slices_that_are_made_elsewhere(f):
    srcgrad.testing.check_grads(f, (np.array([0.5, 1.5, 0.7]),))


def test_a_slice_that_is_an_argument_takes_a_part_of_a_list():
    def f(x, part):
        return sum([x, 2 * x, 3 * x, 4 * x][part["of"]])

    assert srcgrad.grad(f)(1.0, {"of": slice(2)}) == 3
    assert srcgrad.grad(f)(1.0, {"of": slice(None, None, -2)}) == 6


def worth(v):
    """What programs ask of anything: an iterator, a method or a partial is none of these."""
    if isinstance(v, (int, float)):
        return v * 2
    if isinstance(v, (list, tuple, np.ndarray)):
        return sum(v) * 3
    return v(0.5) if isinstance(v, Callable) else sum(v)


def classes_of_iterators(x):
    items = [x[0], x[1]]
    made = worth(v * v for v in x) + worth(map(np.sin, x)) + worth(reversed(items))
    return made + sum(a * b for a, b in zip(items, x) if not isinstance(zip(items), list))


def classes_of_what_is_called(x):
    items = [x[0]]
    add = items.append
    if not isinstance(add, (str, np.ndarray)):
        add(x[1])
    late = functools.partial(np.multiply, x[1]) if x[0] > 0.1 else x[2]
    return worth(items) + worth(functools.partial(np.multiply, x[1])) + worth(late) + worth(x[2])


@pytest.mark.parametrize("f", [classes_of_iterators, classes_of_what_is_called])
def test_isinstance_of_iterators_and_functions(f):
    srcgrad.testing.check_grads(f, (np.array([0.5, 1.5, 0.7]),))


scale = 7.0


def class_bodies(x):
    """Comprehensions and functions in the body of a class don't see what is defined there."""
    factor = 2.0

    class Table:
        factor = x[0]
        scale = x[1]
        count = 3
        local = tuple([factor * i for i in range(count)])
        outer = tuple({i: scale * x[i] for i in range(count)}.values())
        total = sum(v * factor for v in local)
        own = factor * scale
        nested = [[scale * i for i in range(2)] for _ in range(2)][1]

        def method(self, v=scale):
            return v * factor * scale

    table = Table()
    items = sum(Table.local) * x[2] + sum(Table.outer) * table.total * x[0]
    return items + Table.own + table.method() + Table.nested[1] * x[1]


def test_class_bodies():
    srcgrad.testing.check_grads(class_bodies, (np.array([0.5, 1.5, 0.7]),))
    value, _ = srcgrad.value_and_grad(class_bodies)(np.array([0.5, 1.5, 0.7]))
    assert value == pytest.approx(class_bodies(np.array([0.5, 1.5, 0.7])))


def tuples_that_differ_early(x):
    """What can't be ordered isn't asked for, where an item before it decides, or both are equal."""
    k = int(x[0] * 2)
    missing = None if x[0] > 0.1 else x[1]
    total = x[0] if (2, x[1]) >= (k, None) else x[2]
    total += x[1] * ((missing, x[0]) < (missing, x[1])) + x[2] * ((k, missing) < (k + 1, x[2]))
    total += x[0] * ((k, "a", x[0]) < (k + 1, 2.0, x[1])) + x[1] * ((None, x[2]) <= (None, x[2]))
    try:
        total += x[2] * ((k, missing) < (k, x[2]))
    except TypeError:
        total += x[1] * 3
    return total


def test_tuples_are_ordered_as_far_as_they_are_equal():
    srcgrad.testing.check_grads(tuples_that_differ_early, (np.array([0.6, 1.5, 0.7]),))
