"""Operators of classes that return NotImplemented, always or as the run says."""

import pytest

import srcgrad
from srcgrad.testing import check_grads


class Never:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return NotImplemented

    __iadd__ = __add__


class Sometimes(Never):
    def __add__(self, other):
        if self.v < 1.0:
            return None
        return NotImplemented


class InPlace(Never):
    def __iadd__(self, other):
        return NotImplemented if self.v > 1.0 else None


class Other:
    def __init__(self, v):
        self.v = v

    def __radd__(self, other):
        return Other(self.v * other.v)


def added(x, cls):
    thing = cls(x)
    try:
        thing = thing + cls(2.0)
    except TypeError:
        return x**3
    return x * 2 if thing is None else thing.v


def augmented(x, cls):
    thing = cls(x)
    thing += Other(x)
    return x * 2 if thing is None else thing.v


@pytest.mark.parametrize("f", [added, augmented])
def test_what_is_never_implemented(f):
    assert srcgrad.value_and_grad(f)(0.7, Never)[0] == pytest.approx(f(0.7, Never))
    check_grads(f, (0.7, Never), argnums=0)


@pytest.mark.parametrize("x", [0.7, 1.6])
@pytest.mark.parametrize(("f", "cls"), [(added, Sometimes), (augmented, InPlace)])
def test_what_the_run_implements(f, cls, x):
    with pytest.raises(srcgrad.UnsupportedError) as caught:
        srcgrad.grad(f)(x, cls)
    assert caught.value.message == "whether this operator is NotImplemented depends on the run"
    line = "thing = thing + cls(2.0)" if f is added else "thing += Other(x)"
    assert line in str(caught.value)
