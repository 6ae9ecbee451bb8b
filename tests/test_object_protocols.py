"""What Python calls of objects: iterators, descriptors, dataclass fields made in the function."""

import collections
import contextlib
import copy
import datetime
import enum
import functools
from dataclasses import dataclass, field

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads
from tests.small_programs import X, check, programs


def dict_of_some(x):
    d = {k: x[k % 3] * k for k in range(6) if k % 2}
    return sum(d.values()) + d[3] ** 2


class Record:
    scale = 1.0

    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def decay(self):
        for name in vars(self):
            self.__dict__[name] = self.__dict__[name] * 0.9


def attributes_and_their_dict_are_one(x):
    record = Record(a=x, b=x**2)
    attributes = vars(record)
    record.decay()
    record.c = attributes["a"] * record.b
    del record.a
    attributes["scale"] = len(attributes) + hasattr(record, "a")
    return record.scale * sum(np.sum(v) for v in attributes.values())


def either_is_written_on_a_branch_and_in_a_loop(x):
    record = Record(total=0.0)
    attributes = record.__dict__
    for i in range(len(x)):
        attributes["total"] = attributes["total"] * record.total + x[i]
        if x[i] > 0.5:
            vars(record).update(total=x[i] * record.total)
        else:
            record.total += attributes["total"] ** 2
    return record.total * attributes["total"]


def a_dict_becomes_the_attributes(x):
    record, attributes = Record(), {"a": x}
    record.__dict__ = attributes
    attributes["scale"] = 3.0
    record.b = x**2
    return np.sum(record.a * attributes["b"]) * record.scale


class Samples:
    def __init__(self, values, spacing):
        self.values, self.spacing = values, spacing

    def __array__(self, dtype=None, copy=None):
        return self.values * self.spacing

    def mean(self):
        return self.values[0]


def an_object_makes_an_array_of_itself(x):
    samples = Samples(x, 0.5)
    written = np.asarray(samples)
    written[0] = 2.0
    return np.sum(np.exp(samples) * written) + np.vdot(samples, x)


def objects_in_lists_make_arrays_of_themselves(x):
    row, column = Samples(x, 0.5), Samples(x[:, None], 2.0)
    table = np.hstack([np.ones((len(x), 1)), column, column])
    pairs = np.array([row, x]) * np.stack((row, row))
    long = np.concatenate([row, x[:1], row])
    return np.sum(table @ table.T) + np.sum(pairs[0] * x) + np.sum(long**2)


def a_function_is_no_number(x):
    def source(t):
        return t**2

    total = 0.0
    for f in (source, lambda t: t, 0):
        if f == 0 or f is None:
            f = lambda t: 1.0  # noqa: E731
        total = total + f(x[0]) * x[1]
    return total if source != 0.5 else 0.0


def field_of_a_local_dataclass(x):
    @dataclass
    class T:
        xs: list = field(default_factory=list)
        s: float = 0.0

        def add(self, v):
            self.xs.append(v)
            self.s += v

    t = T()
    for v in x:
        t.add(v * v)
    return t.s * t.xs[1]


class Halved:
    """Keeps half of what it is assigned, and hands out the double: a new array each time."""

    def __init__(self, a):
        self._a = a
        self.count = 0

    @property
    def a(self):
        return self._a * 2

    @a.setter
    def a(self, value):
        self.count += 1
        self._a = value / 2

    def __getitem__(self, key):
        return self._a[key] * 2

    def __setitem__(self, key, value):
        self._a[key] = value / 2


class Raised:
    def __get__(self, thing, owner=None):
        return thing._a + 1

    def __set__(self, thing, value):
        thing._a = value * 3


class WithRaised:
    a = Raised()

    def __init__(self, a):
        self._a = a


class DoublingAttributes:
    def __init__(self, a):
        self.a = a

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)


@dataclass(frozen=True)
class Frozen:
    a: object


def property_added_to(x):
    half = Halved(x.copy())
    half.a += x**2
    half.a *= 2
    return np.sum(half.a * x) * half.count


def item_added_to(x):
    half = Halved(x.copy())
    half[1:] += x[:-1] ** 2
    half[0] *= x[1]
    return np.sum(half[:] * x)


def descriptor_added_to(x):
    thing = WithRaised(x.copy())
    thing.a += x[0]
    return np.sum(thing.a * x)


def own_setattr_added_to(x):
    thing = DoublingAttributes(x.copy())
    thing.a += x[0]
    return np.sum(thing.a * x)


def frozen_added_to(x):
    frozen = Frozen(x.copy())
    with contextlib.suppress(AttributeError):
        frozen.a += x[0]  # the array is changed before the assignment fails
    return np.sum(frozen.a * x)


def properties_added_to_in_loops(x):
    halves = [Halved(x * i) for i in range(3)]
    for half in halves:
        half.a += x
        half.a *= x[0]
    return np.sum(sum(half.a for half in halves) * x)


def one_of_two_added_to(x):
    thing = Halved(x.copy()) if x[0] > 0 else WithRaised(x.copy())
    for _ in range(3):
        thing.a += x
    return np.sum(thing.a * x)


class It:
    def __init__(self, xs):
        self.xs = xs
        self.i = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.i >= len(self.xs):
            raise StopIteration
        v = self.xs[self.i]
        self.i += 1
        return v * v


def sum_of_an_iterator(x):
    return sum(It(x))


def loop_over_an_iterator(x):
    t = 0.0
    for v in It(x):
        t = t * 0.5 + v
    return t


def local_descriptor(x):
    class Pos:
        def __set_name__(self, o, n):
            self.n = "_" + n

        def __get__(self, o, t=None):
            return getattr(o, self.n)

        def __set__(self, o, v):
            setattr(o, self.n, v * 2)

    class A:
        a = Pos()

        def __init__(self, a):
            self.a = a

    return A(x[0]).a * x[1]


class Pos:
    def __set_name__(self, o, n):
        self.n = "_" + n

    def __get__(self, o, t=None):
        return getattr(o, self.n)

    def __set__(self, o, v):
        setattr(o, self.n, v * 2)


class A:
    a = Pos()

    def __init__(self, a):
        self.a = a


def data_descriptor(x):
    return A(x[0]).a * x[1]


class Lazy:
    def __init__(self, f):
        self.f = f

    def __get__(self, o, t=None):
        return self.f(o) * 2


class B:
    def __init__(self, a):
        self.q = a

    @Lazy
    def a(self):
        return self.q**2


def plain_descriptor(x):
    return B(x[0]).a * x[1]


def fields_of_a_local_dataclass(x):
    @dataclass
    class T:
        w: np.ndarray
        xs: list = field(default_factory=list)
        d: dict = field(default_factory=dict)
        k: np.ndarray = field(default_factory=lambda: x * 2)
        n: int = field(default=3, repr=False)
        z: float = field(init=False)

        def __post_init__(self):
            self.z = self.w.sum()

    t = T(x)
    u = T(x, n=2)
    for v in x:
        t.xs.append(v * v)
    u.d["a"] = x[0]
    return sum(t.xs) * t.n + t.z * u.d["a"] + (t.k * u.k).sum() + len(u.xs) + u.n * t.xs[0]


def items_sorted(x):
    p = {"c": x[0], "a": x[1], "b": x[2]}
    t = 0.0
    for _, v in sorted(p.items()):
        t = t * 0.5 + v
    for _, v in sorted(p.items(), key=lambda kv: kv[1]):
        t = t * 0.5 + v
    return t


class St:
    def __init__(self, x, n):
        self.h = x
        self.n = n

    def __iter__(self):
        for k in range(self.n):
            yield self.h * (k + 1)


def object_changed_while_it_yields(x):
    s = St(x, 3)
    t = 0.0
    for v in s:
        s.h = s.h * x[0]
        t = t + v.sum()
    return t


class Newton:
    def __init__(self, a, y):
        self.a, self.y, self.k = a, y, 0

    def __iter__(self):
        return self

    def __next__(self):
        old = self.y
        self.y = 0.5 * (self.y + self.a / self.y)
        self.k += 1
        if abs(self.y - old) < 1e-12:
            raise StopIteration
        return self.y


def until_an_iterator_has_converged(x):
    total = 0.0
    for y in Newton(x[0], 1.0):
        total += y
    return total


def next_of_an_iterator(x):
    it = iter(Newton(x[0], 1.0))
    a = next(it)
    b = next(it)
    return a * b


class Grid:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        return iter([self.x, self.x * 2])

    def __reversed__(self):
        return iter([self.x * 2, self.x])


def iter_of_a_list(x):
    return sum(v.sum() * k for k, v in enumerate(Grid(x))) + sum(
        (a * b).sum() for a, b in zip(Grid(x), Grid(x), strict=True)
    )


class Length:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return Length(self.v + 3 * other.v)

    def __radd__(self, other):
        return Length(other.v + 2 * self.v)

    def __iadd__(self, other):
        return NotImplemented

    def __eq__(self, other):
        return self.v > other.v

    def __lt__(self, other):
        return self.v < other.v

    def __gt__(self, other):
        return self.v > 2 * other.v


class Inherited(Length):
    pass


class Better(Length):
    def __radd__(self, other):
        return Length(7 * other.v + self.v)

    def __gt__(self, other):
        return True


def a_subclass_that_knows_better_is_asked_first(x):
    a, b = Length(x[0]) + Better(x[1]), Length(x[0]) + Inherited(x[1])
    return a.v * b.v + (Better(x[2]) + Length(x[1])).v


def a_subclass_compares_first(x):
    first = x[0] if Length(x[1]) < Better(x[0]) else x[1]
    return first * (x[2] if Length(x[1]) < Inherited(x[0]) else (x[0] - x[2]))


def adds_where_it_does_not_add_in_place(x):
    a = Length(x[0])
    a += Length(x[1])
    return a.v * x[2]


def not_equal_is_not_equal(x):
    return x[0] if Length(x[1]) != Length(x[2]) else (x[0] - x[2])


def a_generator_returns(x):
    def first():
        total = 0.0
        for v in x:
            if v > 1:
                return total * v
            total = total + v
            yield v
        return total

    def second():
        r = (yield from first()) * 2
        yield r * x[0]
        none = yield from [r, x[1]]
        yield x[2] if none is None else 0.0

    return sum((i + 1) * v for i, v in enumerate(second()))


def a_generator_returns_nothing(x):
    def first():
        yield x[0]

    def second():
        r = yield from first()
        yield x[1] * 5 if r is None else x[2]

    return sum(second()) * (x[0] - x[2])


def a_generator_is_left(x):
    def first():
        yield x[0] * x[0]
        yield -x[1] * x[1]
        return x[2]

    def second():
        r = yield from first()
        yield r

    total = 0.0
    for v in second():
        total = total * 2 + v
        if v < 0:
            break
    return total * (x[0] - x[2])


class Part:
    def __init__(self, size, whole=None):
        self.size, self.whole, self.parts = size, whole, []
        if whole is not None:
            whole.parts.append(self)


def copied_with_what_holds_it(x):
    whole = Part(x[0])
    first, _ = Part(x[1], whole), Part(x[2], whole)
    other = copy.deepcopy(first)
    other.size *= 3
    other.whole.parts[1].whole.size *= x[2]
    assert other.whole is not whole
    return whole.size * other.whole.size * sum(p.size for p in other.whole.parts) * first.size


class Forwarding:
    """As `ase.Cell` does: what Python calls of an object is what a property gets."""

    def __init__(self, array):
        self.array = array

    for _name in ("mul", "rmul", "getitem", "len", "neg", "lt", "iter", "contains", "abs"):
        vars()[f"__{_name}__"] = property(
            lambda self, name=f"__{_name}__": getattr(self.array, name)
        )
    __call__ = property(lambda self: self.array.sum)
    __matmul__ = property(lambda self: self.array.__matmul__)
    __setitem__ = property(lambda self: self.array.__setitem__)


def protocols_of_properties(x):
    thing = Forwarding(x * x)
    thing[2] = x[0] * x[2]
    total = thing() * thing[1] + len(thing) * x[0] + sum(v * v for v in thing) + thing @ x
    if x[0] in thing or not np.all(abs(thing) < 2.0):
        total = -total
    return total + np.sum(-thing * 3.0) + np.sum(2.0 * x * (thing < 0.5))


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_program(f):
    check(f)


class Doubling(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.v = made.v * 2
        return made


class Made(metaclass=Doubling):
    def __init__(self, v):
        self.v = v


class Watched:
    def __init__(self, v):
        self.v = v

    def __getattribute__(self, name):
        return object.__getattribute__(self, name) * 2


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (Made, "the metaclass of 'Made' has a __call__"),
        (Watched, "'Watched' has a __getattribute__"),
    ],
)
def test_unusual_classes_are_refused(cls, message):
    def f(x):
        return cls(x[0]).v * x[1]

    with pytest.raises(srcgrad.UnsupportedError, match=message):
        srcgrad.grad(f)(X)


HELD = {"a": 2.0}


def of_another_class(record):
    record.__class__ = object


def attributes_of_another_object(record):
    record.__dict__ = Record(a=2.0).__dict__


def attributes_from_outside(record):
    record.__dict__ = HELD


@pytest.mark.parametrize(
    "change, message",
    [
        (of_another_class, "the class of an object can't be changed"),
        (attributes_of_another_object, "this dict is held elsewhere, too"),
        (attributes_from_outside, "this can't be made the attributes"),
    ],
)
def test_objects_that_become_others_are_refused(change, message):
    def f(x):
        record = Record(a=x)
        change(record)
        return record.a * record.scale

    with pytest.raises(srcgrad.UnsupportedError, match=message):
        srcgrad.grad(f)(1.5)


@pytest.mark.parametrize("names", [("a", "b"), ["a", "b"]])
def test_a_class_in_the_function_may_name_its_slots(names):
    def f(x):
        class Pair:
            __slots__ = names

            def __init__(self, a):
                self.a = a

        pair = Pair(x[0])
        pair.b = x[1] ** 2
        return pair.a * pair.b

    np.testing.assert_allclose(srcgrad.grad(f)(np.array([2.0, 3.0])), [9.0, 12.0])


class Bag:
    """An object outside, which answers by what is in it now."""

    def __init__(self, *items):
        self.items = list(items)

    def __len__(self):
        return len(self.items)

    def __contains__(self, item):
        return item in self.items

    def __eq__(self, other):
        return self.items[0] == other

    def __index__(self):
        return self.items[-1]

    __hash__ = None


BAG, QUEUE, ONE = Bag(1), collections.deque([1]), collections.deque([1])
QUESTIONS = {
    "len": lambda x: np.sum(x) * len(BAG) + x[0] * len(QUEUE),
    "truth": lambda x: np.sum(x) * (2 if BAG else 3) + (x[0] if QUEUE else x[1]),
    "not": lambda x: x[0] if not BAG or not QUEUE else x[1],
    "in": lambda x: np.sum(x) * (2 if 3 in BAG else 3) + (x[0] if 3 not in QUEUE else x[1]),
    "equal": lambda x: x[0] if BAG == 1 else 3 * x[1],
    "unequal": lambda x: x[0] if ONE != QUEUE else 3 * x[1],
    "index": lambda x: x[0] * range(20)[BAG] + (4, 5, 6, 7)[BAG] * x[1],
}


@pytest.mark.parametrize("function", QUESTIONS.values(), ids=QUESTIONS)
def test_objects_outside_answer_as_they_are_now(function):
    x = np.array([1.0, 2.0])
    gradient = srcgrad.grad(function)
    for bag, queue in (([1], [1]), ([2, 3], []), ([1, 3, 2], [3]), ([3], [1, 3])):
        BAG.items[:] = bag
        QUEUE.clear()
        QUEUE.extend(queue)
        steps = [(function(x + e) - function(x - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
        np.testing.assert_allclose(gradient(x), steps, rtol=1e-6)


class Settings:
    """What has some attributes by code: properties, and what `__getattr__` finds."""

    def __init__(self, **values):
        self.__dict__["values"] = values

    def __getattr__(self, name):
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def total(self):
        if "rate" not in self.values:
            raise AttributeError("total")
        return 2 * self.values["rate"]

    @property
    def table(self):
        return self.values["rate"] * np.frompyfunc(abs, 1, 1)(1)


@pytest.mark.parametrize(
    "names",
    [
        ("rate", "missing", "total", "values"),
        ("__dict__", "__class__", "__len__", "__eq__", "__init__", "__name__", "mro"),
    ],
)
def test_attributes_that_are_asked_for(names):
    def f(x):
        found = 0.0
        for i, name in enumerate(names):
            things = (Settings(rate=x[0]), Settings(), x, x[0], [x], (x,), {}, "a", 1.0, Settings)
            for k, thing in enumerate(things):
                found += (1.0 + i + 10 * k) * hasattr(thing, name)
        rates = Settings(rate=x[0]), Settings()
        return found * x[1] + sum(
            getattr(r, name, x[1]) ** 2 for r in rates for name in ("rate", "total")
        )

    x = np.array([0.5, 2.0])
    value, gradient = srcgrad.value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-12)
    steps = 1e-6 * np.eye(2)
    expected = [(f(x + h) - f(x - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)


def has_what_can_not_be_followed(x):
    return x[0] * (2.0 if hasattr(Settings(rate=x[0]), "table") else 3.0)


def is_a_list(x):
    items, other = collections.deque([x[0]]), [x[0]]
    return items[0] * (2.0 if isinstance(other, list) else 3.0)


@pytest.mark.parametrize(
    ("f", "message"),
    [(has_what_can_not_be_followed, "frompyfunc"), (is_a_list, "a list or a deque")],
)
def test_what_is_not_known_is_not_taken_to_be_false(f, message):
    with pytest.raises(srcgrad.UnsupportedError, match=message):
        srcgrad.grad(f)(np.array([0.5, 2.0]))


class Called:
    def __call__(self):
        return 1.0


def test_what_can_be_called_and_what_is_equal():
    def f(x):
        a, b, total = Called(), Called(), 0.0
        for i, thing in enumerate((a, Called, Part(1.0), Part, x, f, len, [], None, lambda: 0)):
            total += callable(thing) * 2.0**i
        for i, test in enumerate((a == b, a == a, a != b, a == None, a != 1, b == "b")):  # noqa: E711
            total += 0.1**i * test
        return total * x[0]

    x = np.array([0.5])
    value, gradient = srcgrad.value_and_grad(f)(x)
    assert value == f(x)
    assert gradient[0] == pytest.approx(value / x[0])


class Measure:
    def __init__(self, u):
        self.u = u

    def __divmod__(self, other):
        return self.u * other, self

    def __rdivmod__(self, other):
        return self.u - other, other


def test_divmod_is_what_a_class_says():
    def f(x):
        product, left = divmod(Measure(x[0]), x[1])
        difference, other = divmod(x[1], Measure(x[0]))
        return product * left.u + difference * other

    srcgrad.testing.check_grads(f, (np.array([0.5, 2.0]),))


class Frame:
    """Objects that are made by `__new__`, which goes through its bases."""

    def __new__(cls, *args, **kwargs):
        made = super().__new__(cls)
        made.scale = 2.0
        return made


class Pose(Frame):
    def __new__(cls, angle, *, offset=0.0):
        return super().__new__(Tilted if cls is Pose else cls, angle, offset=offset)

    def __init__(self, angle, *, offset=0.0):
        self.angle, self.offset = angle, offset

    def height(self, x):
        return self.scale * np.sin(self.angle) * x + self.offset


class Tilted(Pose):
    def height(self, x):
        return super().height(x) + self.angle**2


class Doubled(collections.namedtuple("Doubled", "x y")):
    def __new__(cls, x, y=3.0):
        return super().__new__(cls, 2.0 * x, y)


class Crossed(Doubled):
    __slots__ = ()

    def __new__(cls, x, y):
        return super(Crossed, cls).__new__(cls, y, y=x)  # noqa: UP008

    def area(self):
        return self.x * self.y


class NoObject:
    def __new__(cls, x):
        return x * x

    def __init__(self, x):
        raise AssertionError("what isn't an object of the class isn't initialised")


@pytest.mark.parametrize(
    "f",
    [
        lambda x: Pose(x, offset=x).height(x),
        lambda x: Tilted(x).height(x),
        lambda x: object.__new__(Frame) is not None and Frame(x).scale * x,
        lambda x: Doubled(x).x * Doubled(x, x).y,
        lambda x: Crossed(x, 2.0).area() + Crossed(x, x)._replace(x=1.0).area(),
        lambda x: Doubled._make((x, x)).x * x,
        NoObject,
    ],
)
def test_what_new_makes(f):
    check_grads(lambda x: np.sin(f(x)), (0.7,))
    assert srcgrad.value_and_grad(lambda x: np.sin(f(x)))(0.7)[0] == np.sin(f(0.7))


def test_many_objects_that_new_makes():
    def f(x, n):
        poses = [Pose(x * i) for i in range(n)]
        return sum(p.height(x) for p in poses)

    check_grads(lambda x: f(x, 3), (0.7,))

    def of_a_local_class(x):
        class Local:
            def __new__(cls, value):
                made = super().__new__(cls)
                made.twice = 2.0 * value
                return made

            def __init__(self, value):
                self.value = value

        made = Local(x)
        return made.twice * made.value

    check_grads(of_a_local_class, (0.7,))


class LookedUp:
    """Raises KeyError, as `dict` does, for attributes that aren't there."""

    def __init__(self, **values):
        self.__dict__["held"] = values

    def __getattr__(self, name):
        return self.__dict__["held"][name]

    def __call__(self, x):
        return np.sum(x**2) * self.rate

    def __iter__(self):
        return iter([self.rate, 2.0])

    def __getitem__(self, i):
        return self.weights[i]

    def __radd__(self, x):
        return x + self.rate

    def __enter__(self):
        return self

    def __exit__(self, *details):
        return False

    @property
    def twice(self):
        return 2 * self.rate


class Slotted:
    __slots__ = ("other", "rate")

    def __init__(self, rate):
        self.rate = rate

    def __getattr__(self, name):
        raise KeyError(name)

    def __call__(self, x):
        return np.sum(x**2) * self.rate


class AnswersAll:
    rate = 3.0

    def __getattr__(self, name):
        return 2.0


class Strict(type):
    def __getattr__(cls, name):
        raise KeyError(name)


class OfStrict(metaclass=Strict):
    rate = 3.0

    def __init__(self, rate):
        self.own = rate

    def __call__(self, x):
        return np.sum(x**2) * self.rate * self.own


SETTINGS = LookedUp(rate=3.0, weights=np.array([1.0, 2.0, 4.0]))
IN_A_LIST, IN_A_DICT = [SETTINGS], {"settings": SETTINGS}


def attempted(x):
    try:
        rate = SETTINGS.missing
    except KeyError:
        rate = 3.0
    return np.sum(x**2) * rate


def entered(x):
    with SETTINGS as settings:
        return np.sum(x**2) * settings.rate


def unpacked(x):
    rate, two = SETTINGS
    return np.sum(x**two) * rate


def of_the_function(x):
    settings = LookedUp(rate=x[0] * 0 + 3.0, weights=x)
    return settings(settings.weights)


COMPUTED = [
    lambda x: np.sum(x**2) * SETTINGS.rate,
    lambda x: SETTINGS(x),
    lambda x: np.sum((x + SETTINGS) ** 2) - 6 * np.sum(x) + 2 * np.sum(x**2),
    lambda x: np.sum(x**2) * (SETTINGS[1] + SETTINGS.twice - 5),
    lambda x: np.sum(x**2) * IN_A_LIST[0].rate,
    lambda x: np.sum(x**2) * IN_A_DICT["settings"].rate,
    lambda x: np.sum(x**2) * getattr(SETTINGS, "rate"),  # noqa: B009
    lambda x: Slotted(3.0)(x),
    lambda x: np.sum(x**2) * AnswersAll().rate * AnswersAll().anything / 2,
    lambda x: OfStrict(1.0)(x),
    attempted,
    entered,
    unpacked,
    of_the_function,
    SETTINGS,
    Slotted(3.0),
    OfStrict(1.0),
]


@pytest.mark.parametrize("number", range(len(COMPUTED)))
def test_objects_whose_attributes_are_computed(number):
    """Nothing but what the program asks for is asked of a `__getattr__`."""
    np.testing.assert_allclose(srcgrad.grad(COMPUTED[number])(X), 6 * X)


def test_they_are_arguments():
    def f(x, settings):
        return np.sum(x**2) * settings.rate

    for settings in (SETTINGS, Slotted(3.0), AnswersAll()):
        np.testing.assert_allclose(srcgrad.grad(f)(X, settings), 6 * X)


class Asked:
    """An object that is asked for attributes it doesn't have, which no special method is."""

    def __init__(self, value):
        self.value = value

    def __getattr__(self, name):
        if name in ("mark", "__len__"):
            return self.value + 1.0
        raise AttributeError(name)


class Full(Asked):
    def __getitem__(self, i):
        return self.value * i

    def __call__(self, v, k=1.0):
        return self.value * v * k

    def __contains__(self, v):
        return self.value > v

    def __len__(self):
        return 3

    def __enter__(self):
        return self.value

    def __exit__(self, *args):
        self.value = 3.0


class Bare:
    def __init__(self, value):
        self.value = value


def other_of(thing, x):
    return [lambda: Asked(x[1]), lambda: Bare(x[1]), lambda: None][thing]()


USES = {
    "subscript": lambda thing, x: thing[2],
    "call": lambda thing, x: thing(x[1], k=x[0]),
    "len": lambda thing, x: len(thing) * x[0],
    "in": lambda thing, x: x[0] if 1.0 in thing else x[1],
    "with": lambda thing, x: entered(thing),
}


def entered(thing):
    with thing as value:
        return value * 2


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("other", range(3), ids=["asked", "bare", "none"])
def test_special_methods_are_those_of_the_class(use, other):
    """What has none raises a TypeError, which a try catches, whatever its `__getattr__` says."""

    def f(x):
        thing = Full(x[2]) if x[0] < 1.1 else other_of(other, x)
        total = 0.1
        try:
            total = use(thing, x)
        except TypeError:
            total = total + x[2] * 0.5
        return total * x[0]

    gradient = srcgrad.value_and_grad(f)
    for x in (np.array([1.0, 2.0, 3.0]), np.array([1.3, 2.0, 3.0])):
        try:
            value, found = gradient(x)
        except srcgrad.UnsupportedError:  # with a manager that may be None
            assert use is USES["with"] or other == 2
            continue
        assert value == pytest.approx(f(x))
        expected = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


class Heavy(Bare):
    def __bool__(self):
        return bool(self.value > 1.5)


class Long(Bare):
    def __len__(self):
        return 1 if self.value > 1.2 else 0


def test_each_class_says_whether_its_objects_are_true():
    def f(x, n):
        things, total, i = [], 0.0, 0
        while i < n and x[i] < 50.0:
            things.append([Heavy(x[i]), Long(x[i]), Bare(x[i]), None][i % 4])
            i += 1
        for k, thing in enumerate(things):
            if thing:
                total += thing.value**2 * k
            elif thing is not None:
                total += thing.value * 3
        return total

    for x in (np.linspace(0.5, 2.0, 9), np.linspace(2.0, 0.3, 9)):
        check_grads(f, (x, 9))


def test_what_follows_a_return_is_for_other_values():
    def worth(thing):
        if isinstance(thing, Bare):
            return thing.value**2
        return thing * 2.0

    def f(x, n):
        things, i = [], 0
        while i < n and x[i] < 50.0:
            things.append(Heavy(x[i]))
            i += 1
        for thing in things:
            thing.value *= 1.2
        return sum(worth(thing) for thing in things)

    check_grads(f, (np.linspace(0.5, 2.0, 5), 5))


class Unit(enum.Enum):
    METRE = "m"
    FOOT = "ft"

    @property
    def scale(self):
        return {"m": 1.0, "ft": 0.3048}[self.value]


class Level(enum.IntEnum):
    NONE = 0
    SOME = 2


class Catalogue(type):
    """What a metaclass defines is for the class, not for its objects."""

    def __bool__(cls):
        return True

    def __add__(cls, other):
        return 7.0

    def __getattr__(cls, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return 9.0

    @property
    def scale(cls):
        return 4.0


class Entry(metaclass=Catalogue):
    def __init__(self, value):
        self.value = value

    def __len__(self):
        return 0

    def __radd__(self, other):
        return self.value * other


NOTHING = Entry(3.0)


def of_the_class(x):
    own = Entry(x[0])
    weight = 2.0 if NOTHING or own or Level.NONE else 3.0
    return weight * ((x[1] + own) * Entry.scale * Entry.other + Unit.FOOT.scale * x[0] + NOTHING)


def lacking_to_the_object(x):
    total = 0.0
    for name in ("scale", "other"):
        try:
            total += getattr(NOTHING, name) * x[0]
        except AttributeError:
            total += x[1] ** 2
    return total


@pytest.mark.parametrize("f", [of_the_class, lacking_to_the_object])
def test_what_a_metaclass_has(f):
    check_grads(f, (X,))


class Listed:
    def __init__(self, items):
        self.items = items

    def __getitem__(self, i):
        return self.items[i]

    def __len__(self):
        return len(self.items)


def grows(x):
    listed, total = Listed(list(x)), 0.0
    for v in listed:
        total += v * v
        if len(listed) < 5:
            listed.items.append(v * 2)
    return total * len(listed)


def grows_as_the_run_decides(x, n=4):
    listed, total = Listed([x[i % 3] * i for i in range(n)]), 0.0
    for v in listed:
        total += v * v
        if len(listed) < 9:
            listed.items.append(v * 2)
    return total


def gets_others(x, n=4):
    listed, total = Listed([x[i % 3] * i for i in range(n)]), 0.0
    for v in listed:
        total += v * v
        listed.items = listed.items[1:]
    return total


def gets_other_rows(x):
    listed, total = Listed(x), 0.0
    for v in listed:
        total += v * v
        listed.items = listed.items[:2]
    return total


def numbered_keys(x):
    total = 0.0
    try:
        for v in Listed({0: x[0], 1: x[1]}):
            total += v * v
    except KeyError:
        total = total * 2
    return total


@pytest.mark.parametrize(
    "f", [grows, grows_as_the_run_decides, gets_others, gets_other_rows, numbered_keys]
)
def test_what_an_object_gives_by_number_may_change(f):
    check(f)


@pytest.mark.parametrize("n", [-2, True, 3])
def test_lengths_are_not_negative(n):
    class Long:
        def __len__(self):
            return n

    def f(x, n):
        return np.sum(x) * len(Long())

    def passed(x, n):
        class Long:
            def __len__(self):
                return n

        return np.sum(x) * len(Long())

    for g in (f, passed):
        if n < 0:
            with pytest.raises(ValueError, match="should return >= 0"):
                srcgrad.grad(g)(X, n)
        else:
            np.testing.assert_array_equal(srcgrad.grad(g)(X, n), np.full(X.shape, float(n)))


WITHOUT_ITEMS = {
    "slice": lambda x: slice(0, 2),
    "slice of the run": lambda x: slice(0, int(x[1])),
    "zip": lambda x: zip(x, x, strict=True),
    "map": lambda x: map(abs, x),
    "enumerate": enumerate,
    "reversed": lambda x: reversed([1.0, 2.0]),
    "filter": lambda x: filter(None, x),
    "function": lambda x: lambda v: v * x,
    "method": lambda x: x.sum,
    "partial": lambda x: functools.partial(np.sum, x),
    "object outside": lambda x: TODAY,
    "number": lambda x: x[0],
}
TODAY = datetime.date(2024, 2, 29)
ITERATORS = ("zip", "map", "enumerate", "reversed", "filter")


@pytest.mark.parametrize("kind", WITHOUT_ITEMS)
def test_what_has_no_length_or_items(kind):
    made = WITHOUT_ITEMS[kind]

    def by_length(x):
        key = made(x)
        try:
            return float(len(key)) * x[0]
        except TypeError:
            return np.sum(x)

    def by_items(x):
        key = made(x)
        try:
            for _ in key:
                return 5.0 * x[0]
        except TypeError:
            return np.sum(x)

    def by_number(x):
        key = made(x)
        try:
            key[0]
        except (TypeError, IndexError):
            return np.sum(x)
        return 5.0 * x[0]

    x = np.array([0.5, 2.0, 1.5])
    for f in (by_length, by_items, by_number):
        first = f is by_items and kind in ITERATORS
        assert f(x) == (2.5 if first else 4.0)
        value, gradient = srcgrad.value_and_grad(f)(x)
        assert value == f(x)
        assert gradient.tolist() == ([5.0, 0.0, 0.0] if first else [1.0, 1.0, 1.0])


def test_an_object_outside_that_has_a_length_later():
    class Box:
        content = TODAY

    def f(x):
        try:
            return len(Box.content) * x[0]
        except TypeError:
            return -x[0]

    gradient = srcgrad.grad(f)
    for content, slope in ((TODAY, -1.0), ([1, 2], 2.0), (TODAY, -1.0), ("abc", 3.0)):
        Box.content = content
        assert gradient(np.ones(1)).tolist() == [slope]


def check_caught(f):
    """What `f` of three numbers does raises a TypeError, which it catches: it returns their sum."""
    x = np.array([0.5, 2.0, 1.5])
    value, gradient = srcgrad.value_and_grad(f)(x)
    assert value == f(x) == 4.0
    assert gradient.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("kind", [*ITERATORS, "slice", "iter", "set", "generator"])
def test_what_can_not_be_reversed(kind):
    more = {"iter": iter, "set": lambda x: {1, 2}, "generator": lambda x: (v for v in x)}
    made = {**WITHOUT_ITEMS, **more}[kind]

    def f(x):
        items = made(x)
        try:
            return 5.0 * len(list(reversed(items))) * x[0]
        except TypeError:
            return np.sum(x)

    check_caught(f)


@pytest.mark.parametrize("kind", ["list", "list of the run", "tuple", "tuple of the run", "dict"])
def test_what_has_no_sign(kind):
    def f(x):
        match kind:
            case "list":
                items = [x[0], 2.0]
            case "list of the run":
                items = [v * 2 for v in x]
            case "tuple":
                items = (x[0], 2.0)
            case "tuple of the run":
                items = tuple(v * 2 for v in x)
            case "dict":
                items = {0: x[0]}
        try:
            return np.sum(-items)
        except TypeError:
            return np.sum(x)

    check_caught(f)
