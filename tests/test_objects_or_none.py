"""What is asked of an object in a table that may be None, of a class that has its own answers."""

import dataclasses
import linecache
import operator
import re

import numpy as np
import pytest

import srcgrad
from tests.small_programs import check


class Linked:
    def __init__(self, v, next):
        self.v, self.next = v, next


class Answers(Linked):
    def __eq__(self, other):
        return isinstance(other, Answers) and self.v == other.v

    def __len__(self):
        return 1 if self.v > 0.5 else 0

    def __call__(self):
        return self.v

    def __str__(self):
        return "an answer"

    def __format__(self, spec):
        return f"in a format {spec}"

    __hash__ = None


class EqualToAll(Linked):
    def __eq__(self, other):
        return True

    __hash__ = None


class Unequal(Linked):
    def __ne__(self, other):
        return True


@dataclasses.dataclass
class Data:
    v: float
    next: object = dataclasses.field(compare=False)


QUESTIONS = (
    "n.next == None", "None == n.next", "n.next != None", "n == n", "n == n.next", "n.next == n",
    "n != n.next", "n.next == n.next", "n.next in [None]", "n.next in (None, 3)", "n.next == 3",
    "n.next in [n.next]", "(n.next, 1) == (None, 1)", "[n.next].count(None) == 1", "not n.next",
    "str(n.next) == 'None'", "f'{n.next}' == 'None'", "f'{n.next!s}' == 'None'", "callable(n.next)",
    "n if n.next else None", "(n.next or n) is n",
)  # fmt: skip


TRY = """try:
            {}
        except (TypeError, AttributeError):
            s += 7 * n.v"""


def program(cls, question, caught=False):
    text = f"""
def f(x):
    head = None
    for v in x:
        if v > 0.3:
            head = cls(v * v, head)
    s, n = 0.0, head
    while n is not None:
        if {question}:
            s += n.v ** 2
        else:
            s += n.v
        n = n.next
    return s
"""
    if caught:
        asked = f"s += n.v ** 2 if {question} else n.v"
        text = re.sub(r"if .*:\n.*\n +else:\n.*(?=\n +n = )", lambda _: TRY.format(asked), text)
    name = f"<{cls.__name__}: {question}: {caught}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {"cls": cls, "np": np, "operator": operator, "dataclasses": dataclasses}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


@pytest.mark.parametrize("cls", [Answers, EqualToAll, Unequal, Data])
def test_questions(cls):
    x, answered = np.array([0.5, 0.2, 0.9, 0.7]), 0
    for question in QUESTIONS:
        f = program(cls, question)
        try:
            value, gradient = srcgrad.value_and_grad(f)(x)
        except srcgrad.UnsupportedError:  # the text of an object that its class doesn't say
            assert cls is not Answers
            continue
        answered += 1
        assert value == f(x), question
        steps = 1e-6 * np.eye(4)
        expected = [(f(x + h) - f(x - h)) / 2e-6 for h in steps]
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8, err_msg=question)
    assert answered >= len(QUESTIONS) - 3


class Indexed:
    def __init__(self, v, next):
        self.v, self.next = v, next

    def __getitem__(self, key):
        return self.v if key == "v" else 2.0

    def keys(self):
        return ["v", "w"]

    def __bool__(self):
        return self.v > 0.3


CAUGHT = (
    "bool(n.next)", "(n.next or n) is n", "hasattr(n.next, '__eq__')", "operator.truth(n.next)",
    "operator.not_(n.next)", "operator.eq(n.next, n)", "[1, 2][n.next:] == [1, 2]",
    "[1, 2][n:] == [1]", "dict(n.next)['w'] > 1.0", "len({**n}) == 2", "dict(n)['v'] > 0.5",
    "dataclasses.is_dataclass(n.next)", "range(n.next)[0] == 0", "[1, 2].pop(n) == 2",
    "{1: 1.0, 2: 3.0}.get(n.next, 9.0) < 9.0", "1 in {n: 2.0}", "{n} == {0}",
    "n in list(range(len(x)))", "n in np.arange(4)", "(n, 1) in {(0, 1): 1.0}",
    "n.next.__class__ is type(None)",
)  # fmt: skip


@pytest.mark.parametrize("cls", [Answers, Data, Indexed])
@pytest.mark.parametrize("caught", [False, True])
def test_answers_and_errors(cls, caught):
    """An object in a table is a number: nothing may take it for one."""
    x, answered = np.array([0.5, 0.2, 0.9, 0.7]), 0
    for question in CAUGHT:
        f = program(cls, question, caught)
        try:
            expected = f(x)
        except (TypeError, AttributeError):
            continue
        try:
            value, gradient = srcgrad.value_and_grad(f)(x)
        except srcgrad.UnsupportedError:
            continue
        answered += 1
        assert value == pytest.approx(expected, rel=1e-12), question
        expected = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(4)]
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8, err_msg=question)
    assert answered >= 5


class Base:
    factor = 2.0

    def __init__(self, v, next):
        self.v, self.next = v, next


class Derived(Base):
    factor = 3.0

    def __init__(self, v, next):
        super().__init__(v, next)
        self.extra = v * 2


def linked(x):
    head = None
    for v in np.tile(x, 6):
        if v > 0.1:
            head = Derived(v * v, head) if v > 0.6 else Base(v * v, head)
    return head


def class_attribute_meets_a_number(x):
    s, n = 0.0, linked(x)
    while n is not None:
        factor = n.factor if n.v > 0.2 else 5.0
        s += factor * n.v
        n = n.next
    return s


def class_attribute_in_a_try(x):
    s, n = 0.0, linked(x)
    while n is not None:
        try:
            s += n.v**2 if n.next.factor > 2 else 3 * n.v
        except AttributeError:
            s += 7 * n.v
        n = n.next
    return s


def attribute_that_some_lack(x):
    s, n = 0.0, linked(x)
    while n is not None:
        try:
            s += n.v**2 if n.extra is None else 3 * n.v
        except AttributeError:
            s += 7 * n.v
        n = n.next
    return s


@pytest.mark.parametrize("f", [class_attribute_meets_a_number, class_attribute_in_a_try])
def test_class_attributes(f):
    check(f)


def test_attribute_that_some_lack():
    with pytest.raises(srcgrad.UnsupportedError, match="'extra' isn't known"):
        srcgrad.grad(attribute_that_some_lack)(np.array([0.3, 0.8, 0.55]))


class Plain(Answers):
    __call__ = __format__ = None


class Special(Answers):
    extra = 2.0

    def __str__(self):
        return "special"


@pytest.mark.parametrize(
    "asked",
    [
        lambda n: str(n.next) == "None",
        lambda n: str(n.next) == "special",
        lambda n: hasattr(n.next, "extra"),
        lambda n: getattr(n.next, "extra", 0.0) > 1.0,
    ],
)
def test_of_two_classes_or_none(asked):
    def f(x):
        head, found = None, 0.0
        for v in x:
            if v > 0.6:
                head = Special(v * v, head)
            elif v > 0.3:
                head = Plain(v * v, head)
        while head is not None:
            found += head.v**2 if asked(head) else head.v
            head = head.next
        return found

    check(f, np.array([0.5, 0.9, 0.7]))
