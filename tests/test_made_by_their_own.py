"""Results and gradients of classes that make their objects their own way: it isn't gone again."""

import collections
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from srcgrad import grad, jvp, stop_gradient, vjp


class Box:
    """Something that is wide and high."""


@dataclass
class Doubled(Box):
    wide: float
    high: float

    def __post_init__(self) -> None:
        if self.wide <= 0:
            raise ValueError("a box is wide")
        self.wide = 2 * self.wide


@dataclass
class OwnInit(Box):
    wide: float
    high: float

    def __init__(self, side: float, high: float) -> None:
        if side <= 0:
            raise ValueError("a box is wide")
        self.wide, self.high = 2 * side, high


@dataclass
class OwnSetting(Box):
    wide: float
    high: float

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "wide" and value <= 0:
            raise ValueError("a box is wide")
        object.__setattr__(self, name, 2 * value)


@dataclass
class Derived(Box):
    wide: float
    high: float = field(init=False)

    def __post_init__(self) -> None:
        self.high = self.wide**2


class OwnNew(collections.namedtuple("Sides", "wide high")):
    __slots__ = ()

    def __new__(cls, wide: float, high: float) -> "OwnNew":
        if wide <= 0:
            raise ValueError("a box is wide")
        return super().__new__(cls, 2 * wide, high)


class Positive:
    """An attribute that is checked, and doubled, when it is assigned."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, thing: Any, owner: type) -> Any:
        return self if thing is None else vars(thing)[self.name]

    def __set__(self, thing: Any, value: float) -> None:
        if value <= 0:
            raise ValueError(f"{self.name} must be positive")
        vars(thing)[self.name] = 2 * value


class Described(Box):
    wide = Positive()

    def __init__(self, wide: float, high: float) -> None:
        self.wide, self.high = wide, high


CLASSES = [Described, Doubled, OwnInit, OwnSetting, OwnNew]


def sides(box: Any) -> list[float]:
    return [box.wide, box.high]


@pytest.mark.parametrize("cls", CLASSES)
def test_a_result_is_made_once(cls):
    def f(x):
        return cls(x, 3 * x)

    out, pull = vjp(f, 1.5)
    assert type(out) is cls and sides(out) == sides(f(1.5))
    down = jvp(f, (1.5,), (-1.0,))[1]  # a tangent may be what the class refuses
    step = [(a - b) for a, b in zip(sides(f(2.5)), sides(f(1.5)), strict=True)]
    assert type(down) is cls and np.allclose(sides(down), [-s for s in step])
    assert np.isclose(pull(down)[0], -sum(s * s for s in step))


@pytest.mark.parametrize("cls", CLASSES)
def test_a_gradient_is_made_as_it_is(cls):
    def area(box, x):
        return -x * box.wide * box.high

    box = cls(1.5, 2.0)
    gradient = grad(area)(box, 2.0)
    assert type(gradient) is cls
    assert sides(gradient) == [-2 * box.high, -2 * box.wide]
    assert jvp(area, (box, 2.0), (gradient, 0.0))[1] == 4 * (box.high**2 + box.wide**2)


def test_fields_that_the_constructor_does_not_take():
    out, tangent = jvp(lambda x: Derived(x), (3.0,), (-1.0,))
    assert out == Derived(3.0) and sides(tangent) == [-1.0, -6.0]


def test_a_tuple_of_a_class_without_names():
    class Twice(tuple):
        def __new__(cls, x):
            return super().__new__(cls, (x, 2 * x))

    class Plain(tuple):
        pass

    for cls, given, expected in [(Twice, 3.0, (3.0, 6.0)), (Plain, (3.0, 4.0), (3.0, 4.0))]:
        out, pull = vjp(lambda x: cls(x), given)  # noqa: B023
        assert type(out) is cls and out == expected
        pull(out)
    assert grad(lambda pair: pair[0] * pair[1])(Twice(1.0)) == (2.0, 1.0)


def test_stop_gradient_of_a_named_tuple():
    box = OwnNew(1.5, 2.0)
    assert stop_gradient(box) == box
    assert type(stop_gradient(box)) is OwnNew
