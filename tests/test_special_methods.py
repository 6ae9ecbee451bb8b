"""What Python takes of special methods and what it raises: answers, operators, iterators, slots."""

import operator
from dataclasses import dataclass

import numpy as np
import pytest

import srcgrad
from tests.small_programs import X, check, programs


class Answering:
    """Says of its truth and length what it is given."""

    def __init__(self, truth, length=2):
        self.truth, self.length = truth, length

    def __bool__(self):
        return self.truth

    def __len__(self):
        return self.length


class Long:
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length


def truth_of(thing, x):
    try:
        return x[0] if thing else x[1]
    except TypeError:
        return x[2] * 3
    except ValueError:
        return x[1] * x[2]


def length_of(thing, x):
    try:
        return x[0] * len(thing)
    except TypeError:
        return x[2] * 3
    except ValueError:
        return x[1] * x[2]


def truth_is_a_bool(x):
    total = x[0]
    for k, truth in enumerate((True, None, 1, "yes", x[0] > 0.1, bool(x[0] > 0.1))):
        total = total * 1.5 + truth_of(Answering(truth), x) * (k + 1)
    return total


def lengths_are_ints_that_arent_negative(x):
    total = x[0]
    for k, length in enumerate((3, 0, -1, None, 2.0, True, np.int64(2))):
        total = total * 1.5 + (truth_of(Long(length), x) + length_of(Long(length), x)) * (k + 1)
    return total


def lengths_that_the_run_tells(x):
    total = x[0]
    for k in range(len(x)):
        total = total * 1.5 + length_of(Long(k - int(x[k] + 0.6)), x)
    return total


def one_of_several_answers(x):
    thing = Answering(None) if x[0] > 0.1 else Answering(True, 3)
    return truth_of(thing, x) + length_of(thing, x)


class Bare:
    def __init__(self, value):
        self.value = value


def operators_that_no_class_defines(x):
    total, thing = 0.0, Bare(x[0])
    for k, use in enumerate((
        lambda: thing + 1.0, lambda: 2.0 * thing, lambda: x[1] - thing, lambda: thing / thing,
        lambda: -thing, lambda: abs(thing), lambda: thing < thing, lambda: thing >= 1.0,
        lambda: thing(x), lambda: max(thing, thing), lambda: abs(None), lambda: float(thing),
        lambda: next(thing), lambda: [*thing], lambda: len(thing), lambda: +None,
    )):  # fmt: skip
        try:
            total += use()
        except TypeError:
            total += x[k % 3] * (k + 1)
    return total


def an_object_is_augmented_without_an_operator(x):
    thing = Bare(x[0])
    try:
        thing += x[1]
    except TypeError:
        thing.value += x[2]
    return thing.value * x[0]


class Iterated:
    def __init__(self, made):
        self.made = made

    def __iter__(self):
        return self.made


def only_iterators_are_returned_to_iterate(x):
    total = 0.0
    for k, made in enumerate((
        [x[0], x[1]], (x[0], x[1]), x, x[0], {1: x[0]}, range(3), None, "abc", Iterated([x[0]]),
        iter([x[0], x[1]]), map(np.sin, x), (v * v for v in x), enumerate(x), {1, 2},
    )):  # fmt: skip
        try:
            for v in Iterated(made):
                total += np.sum(v) * x[1]
        except TypeError:
            total += x[k % 3] * (k + 1)
    return total


class Changing:
    """Changes between its items."""

    def __init__(self, value):
        self.value, self.passed = value, 0

    def __iter__(self):
        yield self.value
        self.passed += 1
        yield self.value * 2.0


def an_iterator_goes_no_further_than_it_is_asked(x):
    a, b, c = Changing(x[0]), Changing(x[1]), Changing(x[2])
    total = next(iter(a)) + a.passed
    items = iter(b)
    total += next(items) * 2 + b.passed * 3
    for v in iter(c):
        total += v + c.passed
    return total * total


def blocks_of_what_is_no_manager(x):
    total = x[0]
    for k, thing in enumerate((None, x[1], x, Bare(x[2]))):
        try:
            with thing:
                total += 1.0
        except TypeError:
            total = total * 0.5 + x[1] * (k + 1)
    return total


class Rows:
    """Has items by numbers; its length isn't asked to go through them."""

    def __init__(self, items):
        self.items, self.asked = items, 0

    def __len__(self):
        self.asked += 1
        return len(self.items)

    def __getitem__(self, k):
        return self.items[k] * 2


def only_its_items_are_asked(x):
    rows, total = Rows([x[0], x[1], x[2]]), 0.0
    for v in rows:
        total = total * 0.5 + v
    return total + sum(v * v for v in rows) + rows.asked * x[0] + len(rows) * rows.asked * x[1]


class Slotted:
    __slots__ = ("value", "w")

    def __init__(self, value):
        self.value = value


class Roomy(Slotted):
    pass


class Narrow(Slotted):
    __slots__ = ("more",)


@dataclass(slots=True)
class Row:
    value: float
    w: float = 0.5


def slots_are_all_attributes(x):
    class Local:
        __slots__ = ("value", "w")

        def __init__(self, value):
            self.value = value

    total = x[0]
    for k, thing in enumerate((Slotted(x[0]), Roomy(x[1]), Narrow(x[2]), Row(x[0]), Local(x[1]))):
        thing.w = thing.value * 2
        try:
            thing.other = x[1]
            total += thing.other * thing.w * (k + 1)
        except AttributeError:
            total += x[2] * thing.w * (k + 2)
        try:
            setattr(thing, "more", x[0])  # noqa: B010
            total += thing.more
        except AttributeError:
            total *= x[1]
    return total


class Counted:
    """Counts how often it is asked if it is equal to something."""

    def __init__(self, value):
        self.value, self.asked = value, 0

    def __eq__(self, other):
        self.asked += 1
        return self.value == getattr(other, "value", other)


class Silent(Counted):
    def __eq__(self, other):
        self.asked += 1
        return NotImplemented


def counted(*things):
    return sum(thing.asked * 10.0**-k for k, thing in enumerate(things))


def containers_know_their_own(x):
    """What is looked for isn't asked if it is the same, nor is an item behind it."""
    a, b, c, d = Counted(x[0]), Counted(x[1]), Counted(x[0] * 1.0), Silent(x[2])
    items = [a, b, c, d]
    total = items.count(a) * x[0] + (b in items) * x[1] + items.index(c) * x[2]
    total += tuple(items).count(d) * x[0] + (d in (a, b, c, d)) * x[1]
    total += (x[0] if c in {1: a, 2: b, 3: c}.values() else x[1]) + len(items) * x[2]
    total += x[0] if b in (thing for thing in (a, b, c)) else x[1]
    return total + counted(a, b, c, d)


def containers_of_numbers_ask_an_object(x):
    a, numbers = Counted(x[1]), [x[0], x[1], x[2]]
    total = numbers.count(a) * x[0] + (a in numbers) * x[1] + numbers.index(a) * x[2]
    return total + counted(a)


def one_of_several_is_looked_for(x):
    a, b = Counted(x[0]), Counted(x[1])
    wanted, items = (a if x[1] > x[0] else b), [b, a]
    total = items.count(wanted) * x[0] + (wanted in items) * x[1] + items.index(wanted) * x[2]
    return total + counted(a, b)


class Index:
    """An object that only says which int it is."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class Number(Index):
    def __float__(self):
        return self.value

    __int__ = __complex__ = __float__


OUTSIDE = Index(3)


def numbers_of_objects(x):
    total = float(Index(2)) * x[0] + int(Index(1)) * x[1] + float(Number(float(x[2]))) ** 2
    for k in range(3):
        total += float(Number(float(x[k]) ** 2)) * float(OUTSIDE)
    return total + abs(complex(Number(1j * float(x[0]))) * x[1]) + operator.index(OUTSIDE) * x[2]


def answers_that_are_no_numbers(x):
    total = 0.0
    for convert in (float, int, complex, operator.index):
        for answer in (1, 2.0, 3j, x, np.float32(2.0)):
            try:
                total = total + abs(convert(Number(answer))) * x[0]
            except TypeError:
                total = total * 2.0 + x[1]
    return total


class Doubled:
    """Is larger after each time that it is asked."""

    def __init__(self, value):
        self.value = value

    def __bool__(self):
        self.value = self.value * 2.0
        return bool(self.value > 1.0)


def asked_until_one_decides(x):
    total = 0.0
    for quantified in (any, all):
        a, b, c = Doubled(x[0]), Doubled(x[1]), Doubled(x[2])
        y = x[0] if quantified([a, b, c]) else x[1]
        y = y * (2.0 if quantified((x[1] > 0.5, a, b)) else 3.0)
        y = y * (2.0 if quantified({"a": Long(2), "b": c}.values()) else 3.0)
        members = [Doubled(x[i]) for i in range(2 + int(x[1] > 0.5))]
        y = y + (x[0] if quantified(members) else x[1])
        total = total + y * (a.value + b.value * c.value) + sum(m.value**2 for m in members)
    return total + (x[0] if any([x[1] > 0.5, x > 0.5]) else x[2])


class Ranked:
    """Is ordered by what it is multiplied by each time, and equal to what is near."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return bool(abs(self.value - other.value) < 0.3)

    def __lt__(self, other):
        self.value = self.value * 1.5
        return bool(self.value < other.value)

    def __ge__(self, other):
        return bool(self.value > 0.4)


def tuples_of_objects_in_order(x):
    a, b, c, y = Ranked(x[0]), Ranked(x[1]), Ranked(x[2]), 1.0
    if (a, 1) < (b, 2):
        y = y * x[0]
    if (a, b) >= (c, a):
        y = y + x[1]
    if ((b, 1), a) > ((c, 1), b):
        y = y * x[2]
    if [1.0, a, 3] < [1.0, b, 1]:
        y = y * x[1]
    try:
        y = y * 2.0 if (a, 1) <= (Ranked(x[1] + 5.0), 1) else y * 3.0
    except TypeError:  # there is no __le__
        y = y * x[0]
    return y * (a.value + 2.0 * b.value + 3.0 * c.value)


class Entering:
    """A context manager that lacks what it is left by."""

    def __init__(self, value):
        self.value = value

    def __enter__(self):
        return self.value


class Leaving:
    def __exit__(self, *how):
        pass


class Suppressing(Entering):
    __exit__ = lambda self, *how: self.value > 0  # noqa: E731


class Passing(Entering):
    __exit__ = lambda self, *how: None  # noqa: E731


ENTERING = Entering(2.0)


def entered(manager, x):
    y = x[0]
    try:
        with manager as v:
            y = y * v
    except AttributeError:
        y = y * x[1]
    except TypeError:
        y = y * x[2]
    return y


def context_managers_that_lack_a_method(x):
    y = entered(Entering(x[1]), x) + 2.0 * entered(Leaving(), x) + entered(ENTERING, x)
    return y + 3.0 * entered({"v": x}, x) + 4.0 * entered([x[1]], x)


def left_by_lambdas(x):
    y = x[0]
    for manager in (Suppressing(x[1]), Passing(x[2])):
        try:
            with manager as v:
                y = y * v
                if y < 1.0:
                    raise KeyError("small")
                y = y * x[0]
        except KeyError:
            y = y * 3.0
    return y


@pytest.mark.parametrize("program", programs(globals()))
def test_special_methods(program):
    check(program, X)


def test_what_isnt_caught_is_raised():
    def negative(x):
        return x[0] * len(Long(-1))

    def no_bool(x):
        return x[0] if Answering(1) else x[1]

    def no_slot(x):
        thing = Slotted(x[0])
        thing.other = x[1]
        return thing.value

    for f, error in ((negative, ValueError), (no_bool, TypeError), (no_slot, AttributeError)):
        with pytest.raises(error):
            f(X)
        with pytest.raises((error, srcgrad.UnsupportedError)):
            srcgrad.grad(f)(X)
