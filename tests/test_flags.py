"""Flags and texts outside that the function sets and resets are known when compiling."""

import contextlib
import weakref

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import directional_difference

X = np.array([0.4, 0.7, 1.1])
DOUBLED = False


class Config:
    taping = True


@contextlib.contextmanager
def using(name, value):
    old = getattr(Config, name)
    setattr(Config, name, value)
    try:
        yield
    finally:
        setattr(Config, name, old)


class doubling:
    def __enter__(self):
        global DOUBLED
        self.before, DOUBLED = DOUBLED, True

    def __exit__(self, *args):
        global DOUBLED
        DOUBLED = self.before


class Variable:
    def __init__(self, data):
        self.data, self.slope, self.creator = data, None, None

    def __mul__(self, other):
        return Product()(self, other)


class Product:
    """Knows its operands and its result if the tape runs."""

    def __call__(self, a, b):
        out = Variable(a.data * b.data)
        if Config.taping:
            self.operands, self.results = (a, b), [weakref.ref(r) for r in (out,)]
            out.creator = self
        return out

    def backward(self, slope):
        a, b = self.operands
        return slope * b, slope * a


def backward(variable):
    variable.slope, functions = Variable(1.0), [variable.creator]
    while functions:
        function = functions.pop()
        slopes = [result().slope for result in function.results]
        with using("taping", False):
            for operand, slope in zip(function.operands, function.backward(*slopes), strict=True):
                before = 0.0 if operand.slope is None else operand.slope.data
                operand.slope = Variable(before + slope.data)
                if operand.creator is not None:
                    functions.append(operand.creator)


def value(x):
    return np.sum(x * x) if DOUBLED else np.sum(np.sin(x))


def of_an_engine(x):
    a, b = Variable(x[0]), Variable(x[1])
    out = a * b * a
    backward(out)
    return a.slope.data * b.slope.data


def in_a_with(x):
    with doubling():
        inside = value(x)
    return inside * value(x)


def in_a_loop(x):
    total = value(x)
    for i in range(x.size):
        with doubling():
            total = total + value(x) * x[i]
        total = total * value(x)
    return total


def set_in_a_loop(x):
    global DOUBLED
    total = 0.0
    for i in range(x.size):
        total = total + value(x) * x[i]
        DOUBLED = not DOUBLED
    return total * value(x)


def set_in_the_last_round(x):
    global DOUBLED
    total = 0.0
    for i in range(x.size):
        total = total + value(x) * x[i]
        if i == x.size - 2:
            DOUBLED = True
    return total


def on_a_branch(x):
    global DOUBLED
    if x[0] > 0.3:
        DOUBLED = True
        inside = value(x)
    else:
        inside = x[1]
    return inside * value(x)


def left_by_an_exception(x):
    try:
        with doubling():
            if x[0] < 1.0:
                raise ValueError
            inside = value(x)
    except ValueError:
        inside = value(x) * 3.0
    return inside * value(x)


def returned_from(x):
    def inner(y):
        with doubling():
            if y[0] > 0:
                return value(y)
        return value(y) * 2.0

    return inner(x) * value(x)


def halved(a, b):
    """Recursive: how deep it goes, the data decide."""
    if b - a < 0.2:
        return value(np.array([a, b]))
    return halved(a, (a + b) / 2) + 0.5 * halved((a + b) / 2, b)


def of_a_recursion(x):
    with doubling():
        inside = halved(x[0], x[2])
    return inside * halved(x[0], x[2])


def set_in_a_recursion(x):
    def falling(a):
        global DOUBLED
        DOUBLED = not DOUBLED
        return value(x) if a < 0.2 else value(x) * falling(a / 2)

    return falling(x[1]) * value(x)


def in_an_inner_gradient(x):
    with doubling():
        inside = srcgrad.grad(lambda v: value(v) * v[0])(x)
    return np.sum(inside * srcgrad.grad(value)(x))


def in_an_inner_function(x):
    def f(v):
        with doubling():
            return value(v) + v[0]

    return np.sum(srcgrad.grad(f)(x) * x) * value(x)


def kept(x):
    """From then on: the next call begins with another value."""
    global DOUBLED
    found = value(x)
    DOUBLED = bool(x[0] < 1.0)
    return found * value(x)


def in_a_generator(x):
    def items():
        with doubling():
            for v in x:
                yield value(x) * v

    total = 0.0
    for item in items():
        total += item * value(x)
    return total * value(x)


FUNCTIONS = [
    of_an_engine, in_a_with, in_a_loop, set_in_a_loop, set_in_the_last_round, on_a_branch,
    left_by_an_exception, returned_from, of_a_recursion, set_in_a_recursion, in_an_inner_gradient,
    in_an_inner_function, kept, in_a_generator,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("start", [False, True])
def test_a_flag_is_what_it_is_where_it_is_read(function, start, monkeypatch):
    def run(f, *args):
        monkeypatch.setattr(f"{__name__}.DOUBLED", start)
        return f(*args)

    direction = np.array([0.3, -1.0, 0.7])
    slope, _ = directional_difference(lambda t: run(function, X + t * direction), 2.0**-7)
    gradient = srcgrad.value_and_grad(function)
    for _ in range(2):
        expected, after = run(function, X), DOUBLED
        found, d_x = run(gradient, X)
        assert (found, after) == (pytest.approx(expected, rel=1e-12), DOUBLED)
        assert d_x @ direction == pytest.approx(slope, rel=1e-6)
        assert run(srcgrad.jvp, function, (X,), (direction,))[1] == pytest.approx(slope, rel=1e-6)
        assert Config.taping is True
        start = not start
        slope, _ = directional_difference(lambda t: run(function, X + t * direction), 2.0**-7)


MODE = "plain"


class in_mode:
    def __init__(self, mode):
        self.mode, self.before = mode, mode_now()

    def __enter__(self):
        set_mode(self.mode)

    def __exit__(self, *how):
        set_mode(self.before)


def mode_now():
    return MODE


def set_mode(mode):
    global MODE
    MODE = mode


def divided(a, b):
    if mode_now() == "plain":
        return a / b
    return a * 2.0 if mode_now() == "ignore" else a * b


def a_mode_in_a_with(x):
    with in_mode("ignore"):
        inside = divided(x, x + 1)
    return np.sum(inside * divided(x, x + 2))


def a_mode_of_the_data(x):
    if x[0] < 0.5:
        set_mode("ignore")
    total = np.sum(divided(x, x + 1) ** 2)
    set_mode("plain")
    return total * np.sum(divided(x, x + 1))


def modes_in_a_loop(x):
    for i in range(len(x)):
        with in_mode("ignore" if i == 1 else "plain"):
            x = divided(x, x + 1)
    return np.sum(x**2)


def a_mode_that_stays(x):
    before = np.sum(divided(x, x + 3))
    set_mode("plain" if mode_now() == "ignore" else "ignore")
    return before * np.sum(divided(x, x + 1) ** 2)


@pytest.mark.parametrize(
    "function", [a_mode_in_a_with, a_mode_of_the_data, modes_in_a_loop, a_mode_that_stays]
)
def test_a_text_is_what_it_is_where_it_is_read(function, monkeypatch):
    def run(f, start, *args):
        monkeypatch.setattr(f"{__name__}.MODE", start)
        return f(*args)

    direction = np.array([0.3, -1.0, 0.7])
    gradient = srcgrad.value_and_grad(function)
    for start in ("plain", "ignore", "other", "plain"):

        def along(t, start=start):
            return run(function, start, X + t * direction)

        slope, _ = directional_difference(along, 2.0**-7)
        expected, after = run(function, start, X), MODE
        found, d_x = run(gradient, start, X)
        assert (found, MODE) == (pytest.approx(expected, rel=1e-12), after)
        assert d_x @ direction == pytest.approx(slope, rel=1e-6)
        tangent = run(srcgrad.jvp, start, function, (X,), (direction,))[1]
        assert tangent == pytest.approx(slope, rel=1e-6)
