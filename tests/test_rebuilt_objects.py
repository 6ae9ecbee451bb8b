"""Objects that are made of gradients, and of results: no code of their classes runs for that."""

from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest

import srcgrad

W = np.array([1.0, -2.0])


@dataclass
class Doubling:
    value: float

    def __post_init__(self):
        self.value = 2 * self.value


@dataclass
class Positive:
    scale: float
    weights: np.ndarray

    def __post_init__(self):
        if self.scale <= 0:
            raise ValueError("a scale must be positive")


@dataclass(frozen=True)
class Derived:
    value: float
    square: float = 1.0

    def __post_init__(self):
        object.__setattr__(self, "square", self.value**2)


@dataclass
class Shifting:
    value: float

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value + 1)


@dataclass
class OwnConstructor:
    value: float

    def __init__(self, *, half):
        self.value = 2 * half


class Inherited(Doubling):
    def __init__(self, value):
        self.value = value + 1


class Capped:
    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        return 1.0 if instance is None else vars(instance)[self.name]

    def __set__(self, instance, value):
        vars(instance)[self.name] = min(value, 3.0)


@dataclass
class Limited:
    value: float = Capped()


@dataclass
class Made:
    value: float
    square: float = field(init=False)

    def __post_init__(self):
        self.square = self.value**2


class Tripled(namedtuple("Tripled", "value")):
    __slots__ = ()

    def __new__(cls, value):
        return super().__new__(cls, 3 * value)


class OfItems(tuple):
    __slots__ = ()


def square(thing):
    return thing.value**2


def scaled(thing):
    return np.sum(thing.weights) * np.exp(-thing.scale)


@pytest.mark.parametrize(
    "thing",
    [
        Doubling(1.0), Shifting(2.0), OwnConstructor(half=2.0), Inherited(2.0), Limited(2.5),
        Made(3.0), Derived(3.0), Tripled(2.0),
    ],
    ids=lambda thing: type(thing).__name__,
)  # fmt: skip
def test_gradients_are_not_what_a_constructor_makes_of_them(thing):
    value, gradient = srcgrad.value_and_grad(square)(thing)
    assert type(gradient) is type(thing)
    assert value == thing.value**2
    assert gradient.value == 2 * thing.value
    assert srcgrad.jvp(square, (thing,), (gradient,)) == (value, 4 * value)


def test_gradients_may_be_what_a_constructor_refuses():
    thing = Positive(2.0, W)
    gradient = srcgrad.grad(scaled)(thing)
    np.testing.assert_allclose(gradient.scale, np.exp(-2.0))
    np.testing.assert_allclose(gradient.weights, np.full(2, np.exp(-2.0)))


def test_tuples_of_a_class():
    gradient = srcgrad.grad(lambda t: t[0] * t[1])(OfItems((2.0, 3.0)))
    assert type(gradient) is OfItems
    assert gradient == (3.0, 2.0)


@pytest.mark.parametrize("made", [Doubling, Derived, Made, Tripled, Shifting])
def test_results_are_made_once(made):
    def f(x):
        return x**2, [made(x)]

    (_, found), _ = srcgrad.value_and_grad(f, has_aux=True)(3.0)
    assert found == f(3.0)[1]
    out, moved = srcgrad.jvp(lambda x: made(x), (3.0,), (-1.0,))
    assert out == made(3.0)
    assert moved.value == (made(4.0).value - made(3.0).value) * -1.0
