"""Classes as programs use them: what the run decides, and what Python refuses of them."""

import abc
import copy
import dataclasses
import functools
from dataclasses import InitVar, dataclass, field

import numpy as np
import pytest

import srcgrad
from tests.small_programs import X, check, programs


class Node:
    def __init__(self, v):
        self.v = v
        if v > 0.7:
            self.high = v * v


@dataclass
class State:
    x: float
    v: float = 0.5


@dataclass
class Spring(State):
    k: float = 0.3


class Shape(abc.ABC):
    def __init__(self, v):
        self.v = v

    @abc.abstractmethod
    def area(self): ...


class Reader:
    def __get__(self, thing, owner=None):
        return self if thing is None else thing.u * 2.0


class Slotted:
    __slots__ = ("u", "w")
    rate = 0.5
    read = Reader()

    def __init__(self, u):
        self.u = u

    def area(self):
        return self.u * 3.0


class Doubled:
    def __init__(self, u):
        self.u, self.parts = u, [u]

    def __copy__(self):
        made = Doubled(self.u * 2.0)
        made.parts = self.parts
        return made


class Deeply:
    def __init__(self, u):
        self.u = u

    def __deepcopy__(self, memo):
        return Deeply(self.u * 2.0)


@dataclass
class Scaled:
    x: float
    by: InitVar[float] = 1.0
    made: float = field(init=False, default=0.25)

    def __post_init__(self, by):
        self.x = self.x * by


@dataclass
class ScaledAlways:
    x: float
    by: InitVar[float]

    def __post_init__(self, by):
        self.x = self.x * by


class Base:
    def __init__(self, v):
        self.v = v

    def half(self, v):
        return self.v * v


class Derived(Base):
    def half(self, v):
        return super().half(v) * 2.0


@functools.singledispatch
def sized(thing, by=1.0):
    return by * 0.1


@sized.register
def _(thing: float, by=1.0):
    return thing * by


@sized.register
def _(thing: Base, by=1.0):
    return thing.v * by * 3.0


@sized.register
def _(thing: Derived, by=1.0):
    return thing.v * by * 4.0


@functools.wraps(sized)
def product(a, b):
    return a * b


class Taking:
    def __init__(self, v):
        self.v = v

    @functools.singledispatchmethod
    def take(self, thing, by=1.0):
        return self.v * by

    @take.register
    def _(self, thing: float, by=1.0):
        return self.v * thing * by

    @take.register
    def _(self, thing: Derived, by=1.0):
        return self.v * thing.v * by


class Given:
    def __init__(self, **given):
        self.__dict__.update(given)


def state_or_spring(x, i):
    return State(x[0]) if x[i] > 0.5 else Spring(x[0])


def dict_of_one_of_two_dataclasses(x):
    try:
        return sum(dataclasses.asdict(state_or_spring(x, i))["x"] * x[i] for i in range(3))
    except TypeError:
        return x[0] * 9


def tuple_of_one_of_two_dataclasses(x):
    try:
        return sum(sum(dataclasses.astuple(state_or_spring(x, i))) * x[i] for i in range(3))
    except TypeError:
        return x[0] * 9


def one_of_two_dataclasses_replaced(x):
    try:
        return sum(dataclasses.replace(state_or_spring(x, i), v=x[i]).v ** 2 for i in range(3))
    except TypeError:
        return x[0] * 9


def fields_of_one_of_two_dataclasses(x):
    total = 0.0
    for i in range(3):
        state = state_or_spring(x, i)
        for each in dataclasses.fields(state):
            total += getattr(state, each.name) * x[i]
    return total


def many_of_two_dataclasses(x):
    many = []
    for v in x:
        many.append(State(v) if v > 0.5 else Spring(v))
    many = [dataclasses.replace(state, v=state.x * 2) for state in many]
    return sum(dataclasses.asdict(state)["v"] * state.x for state in many)


def a_dataclass_or_none_replaced(x):
    total = 0.0
    for v in x:
        state = State(v) if v > 0.5 else None
        try:
            total += dataclasses.replace(state, v=v * v).v
        except TypeError:
            total += v * 9
    return total


def whether_one_of_two_is_a_dataclass(x):
    things = [State(v) if v > 0.5 else Node(v) for v in x]
    return sum(x[0] * x[1] if dataclasses.is_dataclass(thing) else x[2] for thing in things)


def an_abstract_class(x):
    try:
        return Shape(x[0]).v
    except TypeError:
        return x[1] ** 2


def an_abstract_class_of_the_function(x):
    class Square(Shape):
        def area(self):
            return self.v * self.side

        @property
        @abc.abstractmethod
        def side(self):
            return self.v

    class Drawn(Square):
        side = 3.0

    try:
        return Square(x[0]).area()
    except TypeError:
        return Drawn(x[1]).area()


def a_name_given_twice(x):
    given = Given(u=x[0], w=x[1])
    try:
        given = Given(**vars(given), w=x[2])
    except TypeError:
        return x[0] * given.w
    return given.w


def a_name_given_twice_by_dicts(x):
    def named(**given):
        return given["w"]

    more = {"w": x[1]}
    try:
        return named(**more, **more)
    except TypeError:
        return x[0] * dict(u=x[2], **more)["w"]


def a_key_that_is_no_name(x):
    try:
        return dict(**{1: x[0]})[1]
    except TypeError:
        return x[1] ** 2


def slots_beside_what_the_class_has(x):
    slotted, many, total = Slotted(x[0]), [Slotted(v) for v in x], 0.0
    for name in ("rate", "read", "area"):
        try:
            setattr(slotted, name, x[1])
        except AttributeError:
            total += x[2] ** 2
    try:
        many[1].rate = x[1]
    except AttributeError:
        total += x[0] * x[1]
    slotted.w = x[1]
    return total + slotted.w * slotted.read + slotted.area() * many[1].rate


def slots_instead_of_a_dict(x):
    slotted, total = Slotted(x[0]), 0.0
    if hasattr(slotted, "__dict__") or hasattr(slotted, "__weakref__"):
        total += x[0]
    try:
        total += len(slotted.__dict__) * x[0]
    except AttributeError:
        total += x[1]
    try:
        return total + len(vars(slotted)) * x[0]
    except TypeError:
        return total + x[2] ** 2


def copies_that_the_class_makes(x):
    held, kept = Doubled(x[0]), []
    other = copy.copy(held)
    other.parts.append(x[1])
    for v in x:
        if v > 0.1:
            kept.append(Doubled(v))
    deeply = copy.copy(Deeply(x[2]))  # a shallow copy isn't asked of it
    return other.u * sum(held.parts) + copy.copy(kept[1]).u * deeply.u


def copies_of_some_of_many_that_lack_an_attribute(x):
    kept = []
    for v in x:
        if v > 0.1:
            kept.append(Node(v))
    first, last = copy.copy(kept[0]), copy.deepcopy(kept[-1])
    first.v *= x[1]
    return first.v * last.v + kept[0].v


def what_replace_hands_to_the_maker(x):
    scaled, total = Scaled(x[0], x[1]), 0.0
    scaled.by = x[2]
    try:
        total += dataclasses.replace(scaled, made=x[1]).x
    except ValueError:
        total += x[0] ** 2
    try:
        total += dataclasses.replace(ScaledAlways(x[0], x[1]), x=x[2]).x
    except ValueError:
        total += x[1] ** 2
    return total + dataclasses.replace(scaled, x=x[1]).x * scaled.made


def dispatched_by_the_class_that_the_run_tells(x):
    total, many, none = 0.0, [], None
    for v in x:
        one = Base(v) if v > 0.5 else Derived(v)
        many.append(one)
        number = one if v > 0.7 else float(v)
        total += sized(one) * x[0] + sized(number, by=x[1]) + sized(none, v)
        total += Taking(x[2]).take(one, by=x[1]) + Taking(v).take(number)
    return total + sum(sized(one, by=x[1]) for one in many) + product(x[0], x[1])


def a_method_of_a_class_for_an_object_of_another(x):
    half = (Base if x[2] > 0.5 else Derived)(x[0]).half.__func__
    try:
        return half(Base(x[1]), x[2])
    except TypeError:
        return x[0] * 7.0


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_programs(f):
    check(f)
    check(f, X[::-1].copy())


@pytest.mark.parametrize("asked", ["getattr", "hasattr", "try"])
def test_attributes_that_only_some_of_many_objects_are_given(asked):
    def f(x):
        node, kept = Node(x[0]), []
        for v in x:
            if v > 0.2:
                kept.append(node)
            kept.append(Node(v))
        if asked == "getattr":
            return getattr(node, "high", x[1]) * kept[0].v
        if asked == "hasattr":
            return node.high * 2 if hasattr(node, "high") else kept[1].v
        try:
            return node.high * 2
        except AttributeError:
            return kept[1].v

    with pytest.raises(srcgrad.UnsupportedError) as caught:
        srcgrad.grad(f)(X)
    assert "whether this object has the attribute 'high' isn't known" in str(caught.value)
    assert "^" in str(caught.value)


class Squared:
    def __init__(self, v):
        self.square = v * v


class SometimesSquared(Squared):
    def __init__(self, v):
        self.v = v
        if v > 0.5:
            super().__init__(v)


class Telling:
    def __init__(self, v, other=None):
        self.v = v
        if other is not None:
            setattr(other, "square", v)  # noqa: B010


class Called(Squared):
    def __init__(self, v):
        Squared.__init__(self, v)
        self.v = v


def asked_of_many(cls, x):
    kept = []
    for v in x:
        if v > 0.1:
            kept.append(cls(v))
            if v > 2.0:
                kept[0].square = v
    return sum(n.square * n.v if hasattr(n, "square") else 3.0 * n.v for n in kept)


@pytest.mark.parametrize("cls", [SometimesSquared, Telling])
def test_what_is_set_on_some_paths_by_a_base_or_of_another_object_isnt_there_for_sure(cls):
    with pytest.raises(srcgrad.UnsupportedError, match="whether this object has the attribute"):
        srcgrad.grad(lambda x: asked_of_many(cls, x))(X)


def test_what_the_init_of_a_base_sets_is_there():
    check(lambda x: asked_of_many(Called, x))


def test_an_attribute_that_one_of_many_objects_lacks():
    def f(x):
        node, kept = Node(x[0]), []
        for v in x:
            if v > 0.2:
                kept.append(node)
            kept.append(Node(v))
        return node.high + 0.0 * kept[0].v

    check(f, X[::-1] + 0.3)
    for call in (f, srcgrad.grad(f), lambda x: srcgrad.jvp(f, (x,), (x,))):
        with pytest.raises(AttributeError, match="'Node' object has no attribute 'high'"):
            call(X.copy())


def test_an_abstract_class_is_refused():
    def f(x):
        return Shape(x[0]).v

    with pytest.raises(srcgrad.UnsupportedError, match=r"\^(.|\n)*abstract class Shape"):
        srcgrad.grad(f)(np.ones(3))


def test_a_deep_copy_that_the_class_makes_is_refused():
    def f(x):
        return copy.deepcopy([Deeply(x[0])])[0].u

    with pytest.raises(srcgrad.UnsupportedError, match=r"\^(.|\n)*with __deepcopy__"):
        srcgrad.grad(f)(X)


def test_the_gradient_by_a_number_that_a_loop_forgets_is_a_number():
    def f(x, a):
        for i in range(2):
            a = x[i] * 2
        return a * x[1]

    for argnums in (1, (0, 1)):
        gradient = srcgrad.grad(f, argnums)(X, 1.5)
        assert type(gradient if argnums == 1 else gradient[1]) is float


def test_copies_of_an_argument_beside_many_of_its_class():
    def f(x, base):
        kept = []
        for v in x:
            if v > 0.1:
                kept.append(copy.copy(base))
                kept[-1].v = kept[-1].v * v
        return sum(each.v for each in kept)

    gradient = srcgrad.grad(f, (0, 1))(X, Base(2.0))
    np.testing.assert_allclose(gradient[0], [2.0, 2.0, 2.0])
    assert gradient[1].v == pytest.approx(np.sum(X))
