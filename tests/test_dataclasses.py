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
