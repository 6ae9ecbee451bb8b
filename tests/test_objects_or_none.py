"""What is asked of an object in a table that may be None, of a class that has its own answers."""

import dataclasses
import linecache

import numpy as np
import pytest

import srcgrad


class Answers:
    def __init__(self, v, next):
        self.v, self.next = v, next

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


class EqualToAll:
    def __init__(self, v, next):
        self.v, self.next = v, next

    def __eq__(self, other):
        return True

    __hash__ = None


class Unequal:
    def __init__(self, v, next):
        self.v, self.next = v, next

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


def program(cls, question):
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
    name = f"<{cls.__name__}: {question}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {"cls": cls}
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
