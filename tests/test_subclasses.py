"""Users' subclasses of dict, list, tuple, set and float: what they add is used, or refused."""

import collections
import operator
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
import pytest

import srcgrad
from tests.small_programs import check, programs


class Open(dict):
    def __getattr__(self, name):
        return self[name]


class ByGetitem(dict):
    __getattr__ = dict.__getitem__


class ByGet(dict):
    __getattr__ = dict.get
    __setattr__ = dict.__setitem__


class Namespace(dict):
    def __init__(self, **items):
        super().__init__(**items)
        self.__dict__ = self


class Defaulting(dict):
    def __missing__(self, key):
        return 0.5 * len(key)

    @property
    def twice(self):
        return 2.0 * self["a"]

    def scaled(self, x):
        return self["a"] * x


class Weights(list):
    bias = 0.25

    def apply(self, x):
        return sum(w * v for w, v in zip(self, x, strict=False)) + self.bias


OPEN, BY_GETITEM, BY_GET = Open(a=2.0, n=3), ByGetitem(a=2.0), ByGet(a=2.0, inner=ByGet(b=3.0))
NAMESPACE, DEFAULTING, WEIGHTS = Namespace(a=2.0), Defaulting(a=2.0), Weights([0.5, -1.5])


def items_as_attributes(x):
    for _ in range(OPEN.n):
        x = OPEN.a * np.sin(x)
    return np.sum(x * BY_GETITEM.a + BY_GET.a * BY_GET.inner.b * x**2 + NAMESPACE.a * x**3)


def made_in_the_function(x):
    one, two = ByGet(a=x), Namespace(a=x**2)
    for made in (one, two):
        made.b = 2.0 * made.a
        made["b"] = made.b + made["a"]
    two.c = one.b * two.b
    return np.sum(two["c"]) * (one.missing is None) * len(two)


def what_a_class_adds_to_a_dict(x):
    return np.sum(DEFAULTING["missing"] * x + DEFAULTING.twice * x**2 + DEFAULTING.scaled(x) * x)


def what_a_class_adds_to_a_list(x):
    return WEIGHTS.apply(x * x) * WEIGHTS.bias


class Complex(NamedTuple):
    re: float
    im: float

    def __neg__(self):
        return Complex(-self.re, -self.im)

    def __add__(self, other):
        return Complex(self.re + other.re, self.im + other.im)

    def __abs__(self):
        return np.sqrt(self.re**2 + self.im**2)

    def __call__(self, t):
        return self.re * np.cos(t) - self.im * np.sin(t)


def operators_of_a_named_tuple(x):
    z = -Complex(x[0], x[1]) + Complex(x[1], x[2])
    return abs(z) * z(x[0]) + (+abs(-z)) * z.im


class Methods(MutableMapping):
    def __init__(self, given):
        self._kept = {key.lower(): value for key, value in given.items()}

    def __getitem__(self, key):
        return self._kept[key.lower()]

    def __setitem__(self, key, value):
        self._kept[key.lower()] = value

    def __delitem__(self, key):
        del self._kept[key.lower()]

    def __iter__(self):
        yield from self._kept

    def __len__(self):
        return len(self._kept)


METHODS = Methods({"Square": lambda x: x * x, "Sine": np.sin})


def a_mapping_of_ones_own(x):
    method = "SINE"
    if method.lower() not in tuple(METHODS):
        raise ValueError(method)
    total = METHODS[method](x[0]) + dict(METHODS)["square"](x[2])
    for name, f in METHODS.items():
        total = total + len(name) * f(x[1])
    return total


class Pair:
    def __init__(self, x):
        self.x = x

    def keys(self):
        return ["a", "b"]

    def __getitem__(self, key):
        return self.x * len(key) if key == "a" else self.x**2


def a_dict_of_an_object_with_keys(x):
    d = dict(Pair(x), c=x[0])
    d.update(Pair(d["b"]))
    return np.sum(d["a"] * d["b"]) * d["c"]


class Listed:
    def __iter__(self):
        yield from {f.name: getattr(self, f.name) for f in fields(self)}.items()

    @property
    def values(self):
        return tuple(value for _, value in self)


@dataclass
class Coefficients(Listed):
    a: float
    b: float


COEFFICIENTS = Coefficients(2.0, 3.0)


def an_object_from_outside_is_iterated_over(x):
    a, b = COEFFICIENTS.values
    return np.sum(a * x + b * x**2)


class Vector(list):
    def __init__(self, *numbers):
        super().__init__(numbers)

    @classmethod
    def zeros(cls, n):
        return cls(*[0.0] * n)

    @property
    def length(self):
        return np.sqrt(self * self)

    def __add__(self, other):
        return Vector(*(a + b for a, b in zip(self, other, strict=True)))

    def __radd__(self, other):
        return self if other == 0 else Vector(*other) + self

    def __sub__(self, other):
        return self + other * -1

    def __mul__(self, other):
        if isinstance(other, Vector):
            return sum(a * b for a, b in zip(self, other, strict=True))
        return Vector(*(a * other for a in self))

    __rmul__ = __mul__

    def __iadd__(self, other):
        for i in range(len(self)):
            self[i] = self[i] + other[i]
        return self

    def __neg__(self):
        return self * -1

    def __lt__(self, other):
        return self * self < other * other

    def __abs__(self):
        return self.length


class Point(tuple):
    def __new__(cls, x, y, z):
        return super().__new__(cls, (x, y, z))

    @property
    def x(self):
        return self[0]

    def __add__(self, other):
        return Point(*(a + b for a, b in zip(self, other, strict=True)))

    def __mul__(self, number):
        return Point(*(number * a for a in self))

    def __rmul__(self, number):
        return Point(*(10 * number * a for a in self))

    def dot(self, other):
        return sum(a * b for a, b in zip(self, other, strict=True))


class Numbers(list):
    def total(self):
        return sum(self)


FIRST, SECOND = Numbers([1.0, 2.0, 3.0]), Numbers([2.0, 1.0, 4.0])


def operators_of_a_list(x):
    a = Vector(*x)
    b = a * 2.0 - Vector(1.0, x[0], 2.0)
    c = -b
    c += a
    least, most = sorted([a, b])
    return (a + b) * c + (2.0 * a) * least * abs(b) + sum([a, b, c]) * most + max(a, c)[0]


def a_list_that_a_loop_changes(x):
    place, speed, path = Vector.zeros(3), Vector(*x), Numbers()
    for _ in range(5):
        speed = speed - place * 0.1
        place += speed * 0.1
        path.append(place.length)
    return place * place + path.total() * (2.0 if type(path) is Numbers else 1.0)


def changed_in_place_it_stays_what_it_is(x):
    a = Vector(*x)
    a.sort()
    a.reverse()
    a.pop()
    a.insert(0, x[1])
    a[1:2] = [x[2], x[2]]
    del a[0]
    a.extend([x[0]])
    copy, part = a.copy(), a[1:]
    factor = 2.0 if isinstance(a, Vector) else 1.0
    return a.length * factor * (3.0 if isinstance(copy, Vector) or type(part) is Vector else 1.0)


def one_of_two_lists_of_a_class(x):
    either = FIRST if x[0] > 0.5 else SECOND
    total = 0.0
    for i in range(len(x)):
        total = total + either[i] * x[i]
    return total * either.total() * (2.0 if isinstance(either, Numbers) else 1.0)


def tuples_of_a_class(x):
    a = Point(*x)
    b = a * 2.0 + Point(1.0, x[0], 2.0)
    for _ in range(3):
        b = b * 0.5 + a
    return b.dot(a) + (2.0 * b).x + (float(x[1]) * b).dot(a)


def numbers_of_numpy_make_arrays_of_them(x):
    """A tuple or list is what they multiply, whatever its `__rmul__`."""
    point, vector = Point(*x), Vector(*x)
    return np.sum(x[0] * point) + np.sum(x * vector) + np.dot(x, np.sum(x) * vector)


class Measured(dict):
    def __missing__(self, key):
        self[key] = made = 0.5 * len(key)
        return made


class Branching(dict):
    def __missing__(self, key):
        self[key] = made = type(self)()
        return made


def items_that_are_made_where_they_lack(x):
    made = Measured({"a": x[0]})
    made["bb"] += x[1]
    tree = Branching()
    tree["left"]["right"]["leaf"] = x[2]
    found = made["a"] * made["bb"] * made["ccc"] * len(made)
    return found + made.get("d", x[0]) * tree["left"]["right"]["leaf"] + len(tree["other"])


def items_that_are_made_in_a_loop(x):
    made = Measured()
    for i in range(len(x)):
        made["a"] += x[i] * i
        made["bb"] = made["a"] * x[i]
    return made["a"] * made["bb"]


class Doubling(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, 2.0 * value)

    def __delitem__(self, key):
        self[key] = 3.0


class Tripling(list):
    def __setitem__(self, i, value):
        super().__setitem__(i, 3.0 * value)

    def __delitem__(self, i):
        self[i] = 1.0


def items_kept_in_ways_of_their_own(x):
    items, numbers = Doubling(a=x[0]), Tripling([x[0], x[1]])
    items["b"] = x[1]
    items["b"] += x[2]
    items.update(c=x[2])
    del items["a"]
    numbers[0] = x[2]
    operator.setitem(numbers, 0, numbers[0] * x[1])
    del numbers[1]
    return items["a"] * items["b"] * items["c"] + numbers[0] * numbers[1]


class Ordered(collections.OrderedDict):
    scale = 2.0


class Tally(collections.Counter):
    scale = 3.0


def what_operators_and_copies_are(x):
    class Scaled(dict):
        scale = 5.0

    def scale(made):
        return getattr(made, "scale", 1.0) * len(made)

    one, ordered, tally = Scaled(a=1), Ordered(b=2), Tally(a=1)
    total = x[0] * scale(one.copy()) + x[1] * scale(one | {"c": 1}) + scale({"c": 1} | one)
    total += x[2] * scale(ordered.copy()) + x[0] * scale({"a": 1} | ordered) ** 2
    total += x[1] * scale(ordered | {"a": 1}) ** 2 + x[2] * scale(tally.copy()) ** 2
    total += x[0] * scale(tally | Tally(b=2)) ** 3 + x[1] * tally["z"]
    tally.update({"a": 4})
    return total * tally["a"] + x[2] * (Ordered(a=1, b=2) == Ordered(b=2, a=1))


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_program(f):
    check(f)


def test_arguments_that_keep_items_in_ways_of_their_own():
    def store(items):
        items["b"] = items["a"]
        return items["a"] * items["b"]

    def store_first(numbers):
        numbers[0] = numbers[1] * 2
        return numbers[0] * numbers[1]

    assert srcgrad.value_and_grad(store)(Doubling(a=3.0)) == (18.0, {"a": 12.0})
    assert srcgrad.value_and_grad(store_first)(Tripling([1.0, 2.0])) == (24.0, [0.0, 24.0])


def test_what_is_read_is_what_it_is_now():
    settings = Namespace(a=2.0)
    g = srcgrad.grad(lambda x: settings.a * x)
    assert g(1.0) == 2.0
    settings.a = 7.0
    assert g(1.0) == 7.0


def test_as_arguments():
    def f(settings, weights):
        return settings.a * settings["b"] + weights.apply([settings.a, 1.0])

    d_settings, d_weights = srcgrad.grad(f, argnums=(0, 1))(Open(a=2.0, b=3.0), Weights([5.0, 7.0]))
    assert d_settings == {"a": 3.0 + 5.0, "b": 2.0}
    assert d_weights == [2.0, 1.0]


class Doubled(dict):
    def __getitem__(self, key):
        return 2.0 * dict.__getitem__(self, key)


class FromOne(list):
    def __getitem__(self, i):
        return list.__getitem__(self, i - 1)


class Sum(list):
    def __add__(self, other):
        return Sum(a + b for a, b in zip(self, other, strict=True))


class Backwards(NamedTuple):
    a: float
    b: float

    def __iter__(self) -> Iterator[float]:
        return iter((self.b, self.a))


class Never(set):
    def __contains__(self, item):
        return False


class Tripled(float):
    def __mul__(self, other):
        return 3.0 * float(self) * other


class Merging(dict):
    def __ior__(self, other):
        return self


class Latest(collections.OrderedDict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self.move_to_end(key)


DOUBLED, FROM_ONE, SUM = Doubled(a=1.0), FromOne([1.0, 2.0]), Sum([1.0, 2.0])
BACKWARDS, NEVER, TRIPLED = Backwards(1.0, 2.0), Never({1}), Tripled(2.0)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: DOUBLED["a"] * x, "a Doubled is a dict with a __getitem__ of its own"),
        (lambda x: FROM_ONE[1] * x, "a FromOne is a list with a __getitem__ of its own"),
        (lambda x: max(BACKWARDS) * x, "a Backwards is a tuple with a __iter__ of its own"),
        (lambda x: max(Backwards(x, 2 * x)), "a Backwards is a tuple with a __iter__"),
        (lambda x: x if 1 in NEVER else x * x, "a Never is a set with a __contains__ of its own"),
        (lambda x: len(Merging(a=x)) * x, "a Merging is a dict with a __ior__ of its own"),
        (lambda x: len(Latest(a=x)) * x, "a Latest is a dict with a __setitem__ of its own"),
        (lambda x: TRIPLED * x, "a Tripled is a float with a __mul__ of its own"),
    ],
)
def test_a_container_used_in_its_own_way_is_refused(f, message):
    with pytest.raises(srcgrad.UnsupportedError, match=message):
        srcgrad.grad(f)(1.5)


def test_such_an_argument_is_refused():
    with pytest.raises(srcgrad.UnsupportedError, match="use a class that holds a list"):
        srcgrad.grad(lambda xs: xs[1] ** 2)(FromOne([1.0, 2.0]))
    with pytest.raises(srcgrad.UnsupportedError, match="use a class that holds a float"):
        srcgrad.grad(lambda x: 2.0 * x)(Tripled(2.0))
    with pytest.raises(srcgrad.UnsupportedError, match="use a class that holds a float"):
        srcgrad.grad(lambda x, k: k * x)(2.0, Tripled(2.0))
