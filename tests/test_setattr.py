"""Who is asked when an attribute is assigned: `__setattr__` first, and by it properties."""

from dataclasses import dataclass

import pytest

import srcgrad
from srcgrad.testing import check_grads


class Past:
    """Its `__setattr__` goes past the property."""

    def __init__(self, v):
        self.v, self.count = v, 0.0

    def __setattr__(self, name, value):
        self.__dict__[name] = value

    @property
    def twice(self):
        return 2 * self.v

    @twice.setter
    def twice(self, value):
        self.v, self.count = value / 2, self.count + 1.0


class Through(Past):
    """This one leaves it to Python."""

    def __setattr__(self, name, value):
        super(Past, self).__setattr__(name, value)


class Plainly(Past):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 1.0)


class Other(Past):
    def __setattr__(self, name, value):
        object.__setattr__(self, "v" if name == "twice" else name, value)


class Squared:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, thing, owner=None):
        return getattr(thing, self.name)

    def __set__(self, thing, value):
        setattr(thing, self.name, value * value)


class Described:
    twice = Squared()

    def __init__(self, v):
        self.v, self.count, self.twice = v, 0.0, v

    def __setattr__(self, name, value):
        self.__dict__["last"] = value
        object.__setattr__(self, name, value)


@dataclass
class Scaled:
    v: float
    count: float = 0.0

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 3.0)

    @property
    def twice(self):
        return 2 * self.v

    @twice.setter
    def twice(self, value):
        self.v = value


@dataclass
class Checked:
    """A field that is a property: the constructor asks it."""

    v: float
    twice: float = 0.0
    count: float = 0.0


Checked.twice = property(lambda self: 2 * self.v, lambda self, value: self.set_half(value))
Checked.set_half = lambda self, value: setattr(self, "count", self.v * value)


def assigned(x, cls):
    thing = cls(x)
    thing.twice = x * x
    return thing.v + thing.count * x + thing.twice


def augmented(x, cls):
    thing = cls(x)
    thing.twice += x * x
    thing.twice = thing.twice * x
    return thing.v + thing.count * x + thing.twice


@pytest.mark.parametrize("f", [assigned, augmented])
@pytest.mark.parametrize("cls", [Past, Through, Plainly, Other, Described, Scaled, Checked])
def test_who_is_asked(f, cls):
    assert srcgrad.value_and_grad(f)(1.7, cls)[0] == pytest.approx(f(1.7, cls))
    check_grads(f, (1.7, cls), argnums=0)


@dataclass(frozen=True)
class Frozen:
    v: float
    count: float = 0.0


class Thawed(Frozen):
    """Only the fields are frozen for a class that isn't a dataclass itself."""

    @property
    def twice(self):
        return 2 * self.v

    @twice.setter
    def twice(self, value):
        object.__setattr__(self, "v", value)


class Loose(Frozen):
    def __setattr__(self, name, value):
        object.__setattr__(self, "v", value)

    @property
    def twice(self):
        return 2 * self.v


@pytest.mark.parametrize("cls", [Thawed, Loose])
def test_subclasses_of_frozen_classes(cls):
    for f in (assigned, augmented):
        assert srcgrad.value_and_grad(f)(1.7, cls)[0] == pytest.approx(f(1.7, cls))
        check_grads(f, (1.7, cls), argnums=0)


def thawed(x, cls):
    thing = cls(x)
    try:
        thing.v = x * x
    except AttributeError:
        thing = cls(x**3)
    return thing.v


@pytest.mark.parametrize("cls", [Frozen, Thawed, Plainly])
def test_fields_are_frozen(cls):
    assert srcgrad.value_and_grad(thawed)(1.7, cls)[0] == pytest.approx(thawed(1.7, cls))
    check_grads(thawed, (1.7, cls), argnums=0)
