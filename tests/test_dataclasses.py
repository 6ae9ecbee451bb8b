"""Dataclasses: which arguments their constructors take, and what is made of their fields."""

import dataclasses
from dataclasses import KW_ONLY, dataclass, field

import numpy as np
import pytest

import srcgrad
from tests.small_programs import check, programs


@dataclass
class Scaled:
    value: float
    _: KW_ONLY
    times: int = 3


@dataclass
class Weighed(Scaled):
    weight: float = 1.5
    name: str = "w"

    def __post_init__(self):
        self.total = self.value * self.weight * self.times


@dataclass(kw_only=True)
class Named:
    one: float
    other: float = field(default=2.0)


@dataclass
class Mixed:
    other: float = field(kw_only=True, default=0.5)
    one: float = 1.0


def keywords_of_a_base_stand_after_the_positions(x):
    return Weighed(x[0], x[1], times=2).total + Weighed(x[2], name="z").total


def keywords_alone(x):
    named = Named(other=x[0], one=x[1])
    return named.one * named.other**2 + Named(one=x[2]).other


def a_field_of_keywords(x):
    return Mixed(x[0]).one * x[1] + Mixed(x[1], other=x[2]).other ** 2


def replaced(x):
    weighed = dataclasses.replace(Weighed(x[0], x[1], times=2), value=x[2], times=4)
    return weighed.total * x[0] + dataclasses.replace(Mixed(x[0]), other=x[1]).other


def local_with_keywords(x):
    @dataclass
    class Pair:
        a: float
        b: float = field(default=1.0, kw_only=True)
        c: float = 2.0

    return Pair(x[0], x[1]).c * Pair(x[2], b=x[0]).b


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_dataclasses(f):
    check(f)


def test_too_many_positions_are_refused():
    def f(x):
        return Mixed(x[0], x[1]).one

    x = np.array([0.5, 2.0])
    with pytest.raises(TypeError, match="positional argument"):
        f(x)
    with pytest.raises(srcgrad.UnsupportedError, match=r"Mixed\(\) takes 1 argument"):
        srcgrad.grad(f)(x)


@dataclass(frozen=True)
class Fixed:
    value: float


class Watched:
    def __init__(self, value):
        self.kept = value

    @property
    def value(self):
        return self.kept * 3

    @value.setter
    def value(self, value):
        self.kept = value**2

    @value.deleter
    def value(self):
        self.kept = 1.0


class Reset:
    def __get__(self, instance, owner=None):
        return 2 * instance.kept

    def __set__(self, instance, value):
        instance.kept = value

    def __delete__(self, instance):
        instance.kept = instance.kept**2


class Held:
    value = Reset()

    def __init__(self, value):
        self.value = value


def fixed_when_assigned(x):
    fixed = Fixed(x[0])
    try:
        fixed.value = x[1]
    except dataclasses.FrozenInstanceError:
        return fixed.value * x[2]
    return x[1]


def fixed_when_deleted(x):
    fixed = Fixed(x[0])
    try:
        del fixed.value
    except dataclasses.FrozenInstanceError:
        return fixed.value * x[2]
    return x[1]


def property_deleted(x):
    watched = Watched(x[0])
    watched.value = x[1]
    before = watched.value
    del watched.value
    return before * x[2] + watched.value * x[0]


def property_not_to_be_deleted(x):
    class Read:
        value = property(lambda self: 2 * x[0])

    read = Read()
    try:
        del read.value
    except AttributeError:
        return read.value**2
    return x[1]


def descriptor_deleted(x):
    held = Held(x[0])
    for i in range(2):
        held.value = held.value * x[i]
        del held.value
    return held.value


@pytest.mark.parametrize(
    "f",
    [
        *(fixed_when_assigned, fixed_when_deleted, property_deleted),
        *(property_not_to_be_deleted, descriptor_deleted),
    ],
    ids=lambda f: f.__name__,
)
def test_attributes_that_code_assigns_and_deletes(f):
    check(f)
