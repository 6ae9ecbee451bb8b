"""Attributes that an object has on some paths only: what the class says of them, or an error."""

import copy
import functools
import json

import numpy as np
import pytest

import srcgrad
import srcgrad.testing

WEIGHTS = np.array([1.0, 2.0, 3.0])
POINTS = (np.array([0.5, 0.7, 0.9]), np.array([1.5, 0.7, 0.9]), np.array([0.5, 1.2, 0.9]))


class Plain:
    weights = WEIGHTS
    scale = 2.0
    pair = (1.0, 2.0)
    nothing = None

    def method(self):
        return 2.0

    @functools.cached_property
    def cached(self):
        return self.scale * 3.0


class Computed:
    def __getattr__(self, name):
        return 7.0 if name != "other" else self.base * 2.0


class Descriptor:
    def __get__(self, thing, cls=None):
        return 5.0 if thing is None else thing.base


class WithDescriptor:
    late = Descriptor()

    def __init__(self, base):
        self.base = base


def an_array_of_the_class(x):
    a = Plain()
    if x[0] > 1:
        a.weights = x * 2
    return np.sum(a.weights * x)


def a_number_of_the_class(x):
    a = Plain()
    if x[0] > 1:
        a.scale = x[1]
    return a.scale * x[0]


def a_tuple_of_the_class(x):
    a = Plain()
    if x[0] > 1:
        a.pair = (x[0], x[1])
    return a.pair[0] * x[0] + a.pair[1]


def a_method_replaced(x):
    a = Plain()
    if x[0] > 1:
        a.method = lambda: x[1]
    return a.method() * x[0]


def a_cached_property_set(x):
    a = Plain()
    if x[0] > 1:
        a.cached = x[1] * x[2]
    return a.cached * x[0]


def in_a_loop(x):
    a = Plain()
    for i in range(3):
        if x[i] > 1:
            a.weights = x * i
    return np.sum(a.weights * x)


def in_a_loop_of_the_run(x, n):
    b, i = Computed(), 0
    while i < n:
        if x[i % 3] > 1:
            b.z = x[i % 3] * x[0]
        i += 1
    return b.z * x[0]


def set_in_each_trip(x, n):
    b, i = Computed(), 0
    while i < n:
        b.z = x[i % 3] * x[0]
        i += 1
    return b.z * x[0]


def caught(x):
    a = Plain()
    for i in range(3):
        if x[i] > 1:
            a.late = x * i
    try:
        return np.sum(a.late * x)
    except AttributeError:
        return x[0]


def from_getattr(x):
    b = Computed()
    b.base = x[1]
    if x[0] > 1:
        b.other = x[2]
    return b.other * x[0]


def from_a_descriptor(x):
    d = WithDescriptor(x[2])
    if x[0] > 1:
        d.late = x[1]
    return d.late * x[0]


def deleted(x):
    b = Plain()
    b.weights = x * 3
    if x[0] > 1:
        del b.weights
    return np.sum(b.weights * x)


def deleted_in_a_loop(x, n):
    b, i = Plain(), 0
    b.scale = x[1]
    b.late = x[2]
    while i < n:
        if x[i % 3] > 1 and hasattr(b, "late"):
            del b.late
        i += 1
    return getattr(b, "late", x[0]) * b.scale


def asked_for(x):
    b = Plain()
    if x[0] > 1:
        b.z = x[1]
    if hasattr(b, "z"):
        return b.z * x[0]
    return x[0] ** 2


def with_a_default(x):
    b = Plain()
    b.z = x[1]
    if x[0] > 1:
        del b.z
    return getattr(b, "z", x[0]) * x[0]


def copied(x):
    b = Plain()
    if x[0] > 1:
        b.weights = x * 2
    c = copy.copy(b)
    b.weights = x * x
    return np.sum(b.weights * c.weights)


def none_of_the_class(x):
    b = Plain()
    if x[0] > 1:
        b.nothing = x
    return x[0] if b.nothing is None else np.sum(b.nothing * x)


def set_in_a_try_and_never_read(x):
    members = [Plain() for _ in range(2 + int(x[0] > 1))]
    for member in members:
        member.scale = x[1]
    try:
        members[int(x[1] > 1)].late = x[2]
    except TypeError:
        return x[0]
    return sum(member.scale for member in members)


PROGRAMS = [
    an_array_of_the_class, a_number_of_the_class, a_tuple_of_the_class, a_method_replaced,
    a_cached_property_set, in_a_loop, caught, from_getattr, from_a_descriptor, deleted, asked_for,
    with_a_default, copied, none_of_the_class, set_in_a_try_and_never_read,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_absent_comes_from_the_class(program):
    gradient = srcgrad.value_and_grad(program)
    for x in POINTS:
        assert gradient(x)[0] == pytest.approx(program(x), rel=1e-12)
        srcgrad.testing.check_grads(program, (x,), order=1)


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("program", [in_a_loop_of_the_run, set_in_each_trip, deleted_in_a_loop])
def test_loops_of_the_run(program, n):
    for x in POINTS:
        assert srcgrad.value_and_grad(program)(x, n)[0] == pytest.approx(program(x, n), rel=1e-12)
        srcgrad.testing.check_grads(lambda x: program(x, n), (x,), order=1)


def test_an_attribute_that_is_not_there_is_an_error():
    def f(x):
        b = Plain()
        if x[0] > 1:
            b.late = x[1]
        return b.late + x[0]

    assert srcgrad.grad(f)(POINTS[1]).tolist() == [1.0, 1.0, 0.0]
    for call in (f, srcgrad.grad(f)):  # though the derivative doesn't need it
        with pytest.raises(AttributeError, match="'Plain' object has no attribute 'late'"):
            call(POINTS[0])


def test_all_attributes_at_once_are_refused():
    def f(x):
        b = Plain()
        if x[0] > 1:
            b.late = x[1]
        return sum(vars(b).values())

    with pytest.raises(srcgrad.UnsupportedError, match="whether this object has the attribute"):
        srcgrad.grad(f)(POINTS[0])


class Fallback:
    """Whose `__getattr__` is asked also where a property has no attribute."""

    def __init__(self, base):
        self.base = base

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self.base * len(name)

    @property
    def partial(self):
        if self.base > 1:
            raise AttributeError("not above one")
        return self.base**2

    @property
    def indirect(self):
        return self.base * self.missing

    described = Descriptor()

    @functools.cached_property
    def lazy(self):
        if self.base > 1:
            raise AttributeError
        return self.base**3


class Failing:
    def __get__(self, thing, cls=None):
        raise AttributeError("never there")


Fallback.failing = Failing()
OUTSIDE = (Fallback(2.0), Fallback(0.5))


def properties(x):
    thing = Fallback(x[0])
    return thing.partial * x[1] + thing.indirect + thing.lazy * x[2] + thing.failing


def properties_with_defaults(x):
    thing = Fallback(x[0])
    return getattr(thing, "partial", 9.0) * x[1] + hasattr(thing, "failing") * x[2]


def properties_outside(x):
    return OUTSIDE[0].partial * x[0] + OUTSIDE[1].partial * x[1] + OUTSIDE[0].indirect * x[2]


@pytest.mark.parametrize("program", [properties, properties_with_defaults, properties_outside])
def test_properties_without_an_attribute_ask_getattr(program):
    gradient = srcgrad.value_and_grad(program)
    for x in POINTS:
        assert gradient(x)[0] == pytest.approx(program(x), rel=1e-12)
        srcgrad.testing.check_grads(program, (x,), order=1)


class Scaled:
    factor = 3.0

    def fit(self, x):
        return x * self.factor

    fit.scale = 5.0

    def names(self):
        try:
            return self.fit.func_code.co_varnames
        except AttributeError:
            return self.fit.__code__.co_varnames[1:]


def test_a_method_has_the_attributes_of_its_function():
    def f(x):
        thing = Scaled()
        method = thing.fit
        named = len(thing.names()) + len(method.__name__)
        return np.sum(method.__func__(method.__self__, x)) * method.scale * named

    srcgrad.testing.check_grads(f, (WEIGHTS,))
    assert srcgrad.value_and_grad(f)(WEIGHTS)[0] == f(WEIGHTS)


def test_the_default_of_an_attribute_of_what_only_the_run_knows():
    def f(x):
        number = json.loads("3.5")
        scale = getattr(number, "scale", getattr(number, "factor", 2.0))
        return np.sum(x) * scale * getattr(number, "real", None)

    assert srcgrad.value_and_grad(f)(WEIGHTS)[0] == f(WEIGHTS)
    srcgrad.testing.check_grads(f, (WEIGHTS,))


class Differences:
    """It has what it saw last from its second step on."""

    def __init__(self):
        self.steps = 0

    def step(self, value):
        change = value - self.last if self.steps else value
        self.last, self.steps = value * value, self.steps + 1
        return change


def test_an_attribute_that_the_trip_before_gave():
    def f(x):
        one, each, total = Differences(), [Differences() for _ in x], 0.0
        for i in range(len(x)):
            if i > 1:
                total += one.before * x[i]
            if i > 0:
                one.before = x[i] ** 2
            total += one.step(x[i]) * x[i]
        for k in range(3):
            for i, item in enumerate(each):
                total += item.step(x[i] + k) * x[i]
        return total

    for x in POINTS:
        assert srcgrad.value_and_grad(f)(x)[0] == pytest.approx(f(x), rel=1e-12)
        srcgrad.testing.check_grads(f, (x,))


def test_an_attribute_that_no_object_has_on_a_path_that_is_not_taken():
    def f(x):
        thing, total = Differences(), 0.0
        for v in x:
            if v > 1.3:
                total += thing.clip if thing.clip is not None else 2.0
            total += thing.step(v) * v
        return total

    srcgrad.testing.check_grads(f, (POINTS[0],))
    for call in (f, srcgrad.grad(f)):
        with pytest.raises(AttributeError, match="'Differences' object has no attribute 'clip'"):
            call(POINTS[1])


def test_what_no_such_thing_has_where_the_run_does_not_go():
    def of_a_module(x):
        if np.sum(x) < 0:
            return np.NAN
        return np.sum(x**2)

    def of_a_list_and_an_array(x):
        if np.sum(x) < 0:
            return [1.0].mean() * x.frobnicate()
        return np.sum(x**2)

    for f in (of_a_module, of_a_list_and_an_array):
        srcgrad.testing.check_grads(f, (WEIGHTS,))
        for g in (f, srcgrad.grad(f)):
            with pytest.raises(AttributeError):
                g(-WEIGHTS)
