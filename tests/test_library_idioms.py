"""What functions of libraries do that are written for numbers and arrays alike, and in short."""

# ruff: noqa: RUF005  (a tuple is added to what may be no tuple)

import dataclasses

import numpy as np
import pytest
from scipy import signal

import srcgrad
from srcgrad.testing import check_grads

X = np.array([0.3, 0.8, 0.55, 1.2])
A = np.random.default_rng(2).normal(size=(3, 3))


# Whether something is a number or an array isn't known


def turned_eigenvector(a):
    w, v = np.linalg.eig(a @ a.T)  # real or complex, as far as anybody knows
    q = np.roll(v[:, w.argmax()], 1)
    q[0] *= -1
    q[1:] *= 2.0
    return np.abs(q / np.linalg.norm(q)) ** 2


def number_until_the_loop_runs(x):
    sine, step = 0.7, np.max(x)
    while step > 0.5:
        sine = np.sin(x + step)
        step = step / 2
    angle = np.arctan2(sine, 0.3)
    angle %= 2 * np.pi
    angle *= 3.0
    return angle


def interpolated(x):
    total = 0
    for i in range(len(x)):
        p = 1
        for j in range(len(x)):
            if i != j:
                p *= (np.sin(x) - x[j]) / (x[i] - x[j])
        total += x[i] ** 2 * p
    return total


def power_sums(x):
    """A number in the first trip, an array after it."""
    total = 0.5
    for i in range(len(x)):
        power = 1
        for _ in range(i):
            power *= x
        total += power
    return total


def changed_in_turn(x):
    a, b = power_sums(x), power_sums(x) * 2
    for v in x:
        a, b = b, a
        a *= v
        b -= a
        b += 1
    total = a * a
    a *= 2.0
    return total * a + b


CHANGED = [
    (turned_eigenvector, A), (number_until_the_loop_runs, X), (interpolated, X), (power_sums, X),
    (changed_in_turn, X),
]  # fmt: skip


@pytest.mark.parametrize("f, x", CHANGED)
def test_a_number_or_an_array_is_changed(f, x):
    check_grads(f, (x,))


def number_or_array(x):
    y = 0.7
    if x[0] > 0:
        y = x * 2
    return np.sin(y)


def named_twice(x):
    y = number_or_array(x)
    z = y
    y *= 2.0
    return y + z


def kept(x):
    y = number_or_array(x)
    pair = [y, x]
    y *= 2.0
    return y + pair[0]


def viewed(x):
    y = number_or_array(x)
    z = y[:2]
    y *= 2.0
    return np.sum(y) + np.sum(z)


def kept_in_a_loop(x):
    y, found = number_or_array(x), []
    for _ in range(len(x)):
        found.append(y)
    y *= 2.0
    return y + found[1]


def captured(x):
    y = number_or_array(x)

    def get(y=y):
        return y

    y *= 2.0
    return y + get()


def iterated(x):
    y = number_or_array(x)
    rest = iter(y)
    y *= 2.0
    return np.sum(y) + next(rest)


def named_twice_in_a_loop(x):
    y, before = power_sums(x), 0.0
    for v in x:
        before = y
        y *= v
    return y + before


def kept_while_it_changes(x):
    y, found = power_sums(x), []
    for v in x:
        found.append(y)
        y *= v
    return y + found[1]


def one_in_each_trip(x):
    y, other = power_sums(x), power_sums(x)
    for v in x:
        y = other
        y *= v
    return y + other


def viewed_by_the_next_trip(x):
    y, first = power_sums(x), 0.0
    for v in x:
        y *= v
        y += np.sum(first)
        first = y[:2]
    return y


def changed_on_one_path(x):
    y = power_sums(x)
    z = y
    for v in x:
        if v > 0.5:
            y *= v
    return y + z


def the_argument(x):
    y = 1.0
    for v in x:
        if v > 0.5:
            y = x
        y *= v
    return y + x


TWICE = [
    named_twice, kept, viewed, kept_in_a_loop, captured, iterated, named_twice_in_a_loop,
    kept_while_it_changes, one_in_each_trip, viewed_by_the_next_trip, changed_on_one_path,
    the_argument,
]  # fmt: skip


@pytest.mark.parametrize("f", TWICE)
def test_what_else_refers_to_it_would_change_too(f):
    with pytest.raises(RuntimeError, match=r"line \d+: an augmented assignment writes into this"):
        srcgrad.vjp(f, X)


# Lists


def starred_parts(x):
    return np.array([x[0] ** 2, *x[x > 0.5], x[1]])


def blocks_of_numbers(a):
    r, t = a[:2, :2], a[:2, 2]
    return np.block([[r, np.c_[t[1], -t[0]].T], [0, 0, 1]]) @ np.block([[a[0]], [a[1:] ** 2]])


def blocks_in_loops(a):
    row = [a * i for i in range(3)]
    return np.block([row, [a[i] * a for i in range(3)]])


def rows_that_grow(a):
    rows, n = [], int(np.ceil(a[0, 0]))
    for i in range(3):
        row = []
        for j in range(n + 2):
            row.append(a[: i + 1, : j + 1] * a[0, 0])
        rows.append(row)
    return np.block(rows)


def one_row_in_a_list(a):
    row = []
    for i in range(int(np.ceil(a[0, 0])) + 3):
        row.append(a * i)
    return np.block([row, row])


BLOCKS = (blocks_of_numbers, blocks_in_loops, rows_that_grow, one_row_in_a_list)


@pytest.mark.parametrize("f, x", [(starred_parts, X), *((f, A) for f in BLOCKS)])
def test_lists(f, x):
    check_grads(f, (x,))


def test_starred_arrays_of_other_lengths():
    gradient = srcgrad.grad(lambda x: np.sum(starred_parts(x) ** 2))
    np.testing.assert_allclose(gradient(X[:2]), [4 * 0.3**3, 4 * 0.8])
    np.testing.assert_allclose(gradient(X[::2])[1:], 2 * X[2] + 2 * X[2])


# Results that may be None


def with_slope(x):
    return (x**2, None) if x[0] > 0.5 else (x**3, np.sin(x))


def test_the_cotangent_of_what_is_none_is_none():
    out, pullback = srcgrad.vjp(with_slope, X + 1)
    assert out[1] is None
    np.testing.assert_allclose(pullback((np.ones(4), None))[0], 2 * (X + 1))
    _, pullback = srcgrad.vjp(with_slope, X)
    np.testing.assert_allclose(pullback((np.zeros(4), np.ones(4)))[0], np.cos(X))
    with pytest.raises(TypeError, match="must be an array or a number, not a NoneType"):
        pullback((np.ones(4), None))


# Objects


class Polynomial:
    def __init__(self, coefficients):
        self.coefficients = coefficients

    def __len__(self):
        return len(self.coefficients)

    def __getitem__(self, i):
        return self.coefficients[i] * 2


def array_of_an_object(x):
    p = Polynomial(x * x)
    return np.array(p) + np.sum(p) + np.asarray(Polynomial([x[0], x[1]]))[1]


def test_the_array_of_the_items_of_an_object():
    check_grads(array_of_an_object, (X,))


# Truth values that are ints: `~flag` is -1 or -2 where the flag is 0 or 1


def where_is_an_int(x):
    few = int(len(x) < 3)
    y = np.divide(x, 2.0, out=np.zeros_like(x), where=~few) + np.sqrt(x, out=x * 2, where=0)
    np.copyto(y, y * x, where=~few)
    total = np.sum(x, where=~few) * np.prod(x, where=2) + np.add.reduce(x, where=-1)
    return y + total + x.sum(where=[0, 1, 1, 0]) + np.max(x * y, where=-1, initial=0.1)


def test_the_int_where_is_a_truth_value():
    check_grads(where_is_an_int, (X,))


def of_library(function):
    function.__module__ = "scipy.library"  # which srcgrad doesn't look into
    return function


@of_library
def at_least_20(k):
    return max(2 * k + 1, 20)


def test_what_is_an_int_for_some_floats_must_be_one():
    gradient = srcgrad.grad(lambda x: at_least_20(x) * x)
    assert gradient(3.0) == 20.0
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        gradient(30.0)


# How much there is depends on the values, of arrays of a known length too


def peaks_of_three(x):
    y = np.array([x[0], x[1], x[2]])
    places, _ = signal.find_peaks(y)
    return np.sum(y) if len(places) == 0 else np.sum(y[places] ** 2)


def what_is_left(x):
    left = np.setdiff1d(np.arange(4), np.argsort(x)[[0, 0, 1, 1]])
    return np.sum(x) if len(left) == 0 else np.sum(x[left] ** 2)


@pytest.mark.parametrize("f", [peaks_of_three, what_is_left])
def test_samples_do_not_say_how_much_is_found(f):
    check_grads(f, (X,))
    check_grads(f, (X[::-1],))


# Comprehensions whose variable has the name of what they go through


def comprehensions_that_reuse_names(x):
    m = len(x)
    x = [x * 2 for x in x]
    parts = [x[m] * k for m in range(1, m) for k in range(m)]
    table = {m: x[m] * m for m in range(1, m) if m > 1}
    return sum(parts) + sum(table.values()) * m + sum(x)


def test_the_first_iterable_is_evaluated_outside():
    check_grads(comprehensions_that_reuse_names, (X,))


# What objects have of `object`


class Doubling:
    def __init__(self, value):
        self.value = value

    def __setattr__(self, name, value):
        super().__setattr__(name, value * 2)


class Lazy(Doubling):
    def __init_subclass__(cls):
        super().__init_subclass__()

    def __setattr__(self, name, value):
        if name == "square":
            super().__setattr__(name, value**2)
        else:
            object.__setattr__(self, name, value)

    def get(self, name):
        return self.__getattribute__(name)

    def put(self, name, value):
        self.__setattr__(name, value)


def attributes_by_objects_own_methods(x):
    plain, lazy = Doubling(x), Lazy(x)
    lazy.put("square", x + 1)
    return plain.value * lazy.get("square") + lazy.get("value")


def test_methods_of_object():
    check_grads(attributes_by_objects_own_methods, (X,))
    found = attributes_by_objects_own_methods(X)
    np.testing.assert_allclose(found, 4 * X * (X + 1) ** 2 + X)


# Names for what may be a Series of pandas


def named_if_it_can_be(x):
    y = x * np.max(x)
    try:
        y.name = "y"
    except AttributeError:
        y = y * 2
    return y


@pytest.mark.parametrize("x", [X, 0.3])
def test_an_array_has_no_name(x):
    check_grads(named_if_it_can_be, (x,))


# What may be a masked array, and isn't


def data_of(x):
    if np.ma.isMaskedArray(x) or np.ma.is_masked(x[0]):
        return x.filled(0.0)
    if np.ma.getmask(x) is np.ma.nomask:
        x = np.ma.getdata(x) * np.ma.filled(x**2, 0.0)
    return x[~np.ma.getmaskarray(x)]


def test_plain_arrays_are_not_masked():
    check_grads(data_of, (X,))


# super() of classes, and of the class that is named


class Base:
    factor = 2.0

    def __init__(self, value):
        self.value = value

    @classmethod
    def made(cls, value):
        return cls(value * cls.factor)

    @staticmethod
    def shifted(value):
        return value + 1

    def f(self, x):
        return self.value * x

    @property
    def double(self):
        return self.value * 2


class Middle(Base):
    factor = 3.0

    @classmethod
    def made(cls, value):
        return super().made(value * value)

    @staticmethod
    def shifted(value):
        return super(Middle, Middle).shifted(value) * 2

    def f(self, x):
        return super().f(x) * x

    @property
    def double(self):
        return super().double + 1


class Last(Middle):
    @classmethod
    def made(cls, value):
        return super().made(value)

    def f(self, x):
        return super(Middle, self).f(x) + super().f(x) ** 2

    @property
    def double(self):
        return super(Middle, self).double * super().double


def of_class(x):
    last = Last.made(x)
    return last.value * Middle.made(x).value + Last.shifted(x) * last.factor


def of_named_class(x):
    last = Last(x)
    return last.f(x) * last.double + super(Last, last).f(x)


@pytest.mark.parametrize("f", [of_class, of_named_class])
def test_super(f):
    check_grads(f, (X,))
    np.testing.assert_allclose(srcgrad.vjp(f, X)[0], f(X))


# The shape of an array of which the rank isn't known


def of_unknown_rank(a):
    return a[None] if a[0, 0] > 100 else a * 1.0


def put_together(a):
    y = of_unknown_rank(a)
    parts = y.reshape(y.shape[:1] + (-1,)), np.zeros((2,) + y.shape), np.ones(y.shape + (2,))
    shape = y.shape
    shape += (1,)
    pair = np.zeros((*y.shape, 2)), np.zeros(tuple(y.shape[:-1]) + (5,)), np.zeros(shape)
    return sum(np.sum(p) + p.size * p.ndim for p in (*parts, *pair)) * y


def taken_apart(a):
    y = of_unknown_rank(a)
    lengths = list(y.shape)
    lengths[-1] -= 1
    n, m = y.shape
    total = 1
    for length in y.shape:
        total *= length + 1
    known = y.shape[:-1] + (1,) == (n, 1)
    return np.reshape(y[:, :-1], tuple(lengths)) * total * len(y.shape) * (3 if known else m)


@pytest.mark.parametrize("f", [put_together, taken_apart])
def test_the_shape_of_an_array_of_unknown_rank(f):
    check_grads(f, (A,))
    np.testing.assert_allclose(srcgrad.vjp(f, A)[0], f(A))


def next_regular(target):
    match = float("inf")
    p5 = 1
    while p5 < target:
        p = 2 ** (-(-target // p5) - 1).bit_length() * p5
        match = p if p < match else match
        p5 *= 5
    return match


def of_next_regular_length(x):
    y = np.pad(x, [(len(x), 1)] * x.ndim)
    return np.abs(np.fft.fft(y, n=next_regular(2 * len(x) + 1))) ** 2


def test_a_length_that_may_be_infinite():
    check_grads(of_next_regular_length, (X,))


def logarithm_where_it_is_defined(x):
    ratio = x / 2
    return np.log(ratio, out=np.full_like(ratio, -9.0), where=ratio > 0) + np.ones_like(ratio)


@pytest.mark.parametrize("x", [X, 0.3, np.float64(0.3)])
def test_arrays_like_numbers(x):
    check_grads(logarithm_where_it_is_defined, (x,))


# A recursion that may come back with nothing


class Bin:
    def __init__(self, size):
        self.size, self.parts, self.taken = size, [], False

    def insert(self, item):
        for part in self.parts:
            place = part.insert(item)
            if place is not None:
                return place
        free = self.size - item
        if self.taken or np.any(free < 0):
            return None
        self.taken, self.parts = True, [Bin(free), Bin(free * 0.5)]
        return self.size * item


def packed(items):
    root, total = Bin(np.array([3.0, 3.0])), 0.0
    for i in range(len(items)):
        place = root.insert(items[i])
        total = total + (np.sum(place) if place is not None else items[i, 0])
    return total


def test_the_adjoint_of_what_a_recursion_did_not_find():
    check_grads(packed, (np.array([[1.0, 0.5], [0.7, 0.9], [0.5, 1.2], [2.9, 2.9]]),), order=1)


# An array that is of ints at first


def levinson(r):
    a, epsilon = np.array([1]), r[0]
    for j in range(1, len(r)):
        gamma = -np.sum(r[1 : j + 1] * a[::-1]) / epsilon
        a = np.concatenate((a, np.zeros(1))) + gamma * np.concatenate((np.zeros(1), a[::-1]))
        epsilon = epsilon * (1 - gamma**2)
    return a * epsilon


def test_the_adjoint_of_ints_is_of_floats():
    check_grads(levinson, (np.array([2.0, 0.5, 0.2, 0.1]),))


# Dataclasses


@dataclasses.dataclass(frozen=True)
class Named:
    name: str = dataclasses.field(default="none", kw_only=True)
    factor: float = dataclasses.field(default=2.0, kw_only=True)


@dataclasses.dataclass(frozen=True)
class Line(Named):
    slope: float
    scale: dataclasses.InitVar[float] = 4.0
    shift: float = 0.3

    def __post_init__(self, scale):
        object.__setattr__(self, "scaled", self.slope * scale)


class Parabola(Line):
    def __init__(self, curvature, slope):
        object.__setattr__(self, "curvature", curvature)
        super().__init__(slope, shift=curvature**2, factor=3.0)


def dataclasses_of_all_kinds(x):
    line, parabola = Line(x, x**2, x**3), Parabola(x, x + 1)
    other = dataclasses.replace(Line(x, factor=x), scale=2.0, shift=0.1)
    total = line.slope * line.factor + line.shift * line.scaled + other.factor * other.scaled
    return total + parabola.curvature * parabola.scaled + parabola.shift * parabola.factor


def arguments_that_are_too_many(x):
    try:
        return Named(x).factor
    except TypeError:
        return x**2


@pytest.mark.parametrize("f", [dataclasses_of_all_kinds, arguments_that_are_too_many])
def test_dataclasses(f):
    check_grads(f, (X,))
    np.testing.assert_allclose(srcgrad.vjp(f, X)[0], f(X))


# Sets


def sets(x, y):
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    total = np.sum(values**2 * counts) + np.sum(values[inverse] * y)
    total += np.sum(np.union1d(x, y) ** 3) + np.sum(np.setdiff1d(x, y[:2]) ** 2)
    return total + np.sum(np.setxor1d(x, x[:2])) + np.sum(np.intersect1d(x, x[:2]) ** 2)


def test_arrays_as_sets():
    rng = np.random.default_rng(3)
    check_grads(sets, (rng.normal(size=5), rng.normal(size=5)))


def test_what_is_equal_shares():
    gradient = srcgrad.grad(lambda x: np.sum(np.unique(x) * np.array([1.0, 6.0])))
    np.testing.assert_array_equal(gradient(np.array([2.0, 1.0, 2.0])), [3.0, 1.0, 3.0])


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.3.0", reason="np.unique sorts")
def test_what_is_found_in_any_order_has_its_own_share():
    """np.unique(sorted=False) gives complex numbers as they hash."""

    def f(x):
        z = x[:5] + 1j * x[5:]
        values, inverse = np.unique(z, return_inverse=True, sorted=False)
        return np.sum(np.abs(np.unique(z, sorted=False)) ** 3) + np.sum(values[inverse] ** 2).real

    check_grads(f, (np.array([1.0, 0.3, 2.0, -1.5, 0.7, 2.0, -0.5, 0.1, 0.4, 1.0]),))


def read_only(x):
    y = 2 * x
    y.flags.writeable = False
    z = y.copy()
    z.setflags(write=True)
    z[0] = x[1]
    return np.sum(y * z) + (0.0 if y.flags.c_contiguous else np.sum(x))


def test_who_may_write():
    check_grads(read_only, (X,))


# As attrs writes the `__init__` of frozen classes, and networkx its decorators

_bound_setattr = object.__setattr__.__get__


class Frozen:
    def __init__(self, place, speed):
        set_attribute = _bound_setattr(self)
        set_attribute("place", place)
        set_attribute("speed", speed)

    def __setattr__(self, name, value):
        raise AttributeError(name)


def frozen_states(x):
    state = Frozen(x, 2 * x)
    for _ in range(3):
        state = Frozen(state.place + 0.1 * state.speed, state.speed - 0.1 * state.place)
    return np.sum(state.place) + np.sum(state.speed**2)


def with_defaults_of_another(*args, **kwargs):
    return np.sum(args[0] ** 2) * kwargs.get("factor", 3.0)


with_defaults_of_another.__defaults__ = (1.0, 2.0)  # more than there are parameters


def decorated_in_a_strange_way(x):
    return with_defaults_of_another(x) + with_defaults_of_another(x, factor=0.5)


@pytest.mark.parametrize("f", [frozen_states, decorated_in_a_strange_way])
def test_ways_of_packages(f):
    check_grads(f, (X,))


# What reductions begin with, where it is differentiated


MASK = np.array([[True, False, True], [False, True, True], [True, True, False]])


def sums_from_something(x):
    m = np.outer(x, x)
    y = np.sum(m, axis=0, initial=x[1] ** 2) * x + np.nansum(m, axis=1, initial=x[0])
    y += m.sum(0, None, None, False, x[2], MASK)
    return np.sum(x, initial=x[0]) ** 2 + (y * y).sum() + np.add.reduce(x, initial=x[1]) ** 3


def products_from_something(x):
    m = np.outer(x, x) + 0.5
    y = np.prod(m, axis=0, initial=x[1] ** 2) * x + m.prod(axis=1, initial=x[0], where=MASK)
    m = np.where(MASK, m, np.nan)
    y += np.nanprod(m, axis=1, initial=x[2])
    return np.prod(x, initial=x[0]) + (y * y).sum() + np.prod(x * [1.0, 0.0, 2.0], initial=x[1])


def extrema_from_something(x):
    m = np.outer(x, x)
    y = np.max(m, axis=0, initial=x[1] ** 2 - 0.1) * x + np.amin(m, axis=1, initial=x[0])
    y += m.max(axis=1, initial=0.4 * x[2], where=MASK)
    nothing = np.max(x[:0], initial=x[1]) * np.min(x, initial=3.0 * x[2])
    return np.max(x, initial=3.0 * x[0]) ** 2 + (y * y).sum() + nothing


@pytest.mark.parametrize(
    "f", [sums_from_something, products_from_something, extrema_from_something]
)
def test_what_reductions_begin_with(f):
    check_grads(f, (np.array([0.3, 0.8, 0.55]),))


def test_what_an_extremum_begins_with_may_attain_it():
    """It is one of those that share the slope."""
    gradient = srcgrad.grad(lambda x, v: np.max(x, initial=v), argnums=(0, 1))
    d_x, d_v = gradient(np.array([2.0, 1.0, 2.0]), 2.0)
    np.testing.assert_allclose(d_x, [1 / 3, 0, 1 / 3])
    assert d_v == pytest.approx(1 / 3)
