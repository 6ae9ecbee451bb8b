"""Texts that decide what is computed: of objects, by patterns, of private names."""

import collections
import re
import typing
from dataclasses import dataclass, field

import numpy as np
import pytest

import srcgrad
import srcgrad.testing
from srcgrad import grad
from tests.small_programs import X, check, programs

FIELDS, REPORT = "{}|{:.2f}|{!r}|{}|{{}}", "bad {0} of {1!r:>9} in {points}"
NUMBER = re.compile(r"(\w+)\(slope=([^)]*)\)")


class Leaky:
    def __init__(self, slope=0.25):
        self.slope = slope

    def __str__(self):
        return f"Leaky(slope={self.slope})"

    def __format__(self, spec):
        return f"<{self.slope:{spec or '.1f'}}>"


class Named(Leaky):
    def __repr__(self):
        return f"{type(self).__name__}!"


@dataclass
class Options:
    kind: str = "soft"
    orders: list = field(default_factory=lambda: [1, 2])
    cached: int = field(default=0, repr=False)


class Plain:
    pass


def scale(text):
    return {
        "leaky(slope=0.25)": 2.0,
        "Named!": 3.0,
        "<0.2>": 4.0,
        "<0.250>": 5.0,
        "Options(kind='soft', orders=[1, 2])": 6.0,
        "[Named!, 1]": 7.0,
        "(Named!,)": 8.0,
        "{'a': Named!, 2: 'b'}": 9.0,
        "  Named!|": 10.0,
    }[text]


def gain_by_the_text_of_an_object(x):
    described = str(Leaky()).lower()
    if "leaky" in described:
        slope = float(re.match(r"leaky\(slope=(.*)\)", described).groups()[0])
        return np.sum(np.sin(x)) * slope * scale(described)
    return np.sum(x)


def what_each_form_says(x):
    leaky, named = Leaky(), Named()
    total = x[0] * scale(repr(named)) + x[1] ** 2 * scale(f"{leaky}")
    total += x[1] * scale(f"{leaky:.3f}") + x[2] ** 2 * scale(f"{leaky!s}".lower())
    return total * scale(format(leaky, ".3f")) * scale(f"{named!r:>8}|")


def in_containers(x):
    named = Named()
    total = x[0] * scale(str(Options())) + x[1] ** 2 * scale(repr([named, 1]))
    return total + x[2] * scale(f"{(named,)}") * x[0] * scale(str({"a": named, 2: "b"}))


def of_a_number(x):
    leaky = Leaky(x[0])
    return x[1] ** 2 if str(leaky) == f"Leaky(slope={x[0]})" else x[1]


def patterns(x):
    found = NUMBER.fullmatch("tanh(slope=3)")
    total = float(found.group(2)) * np.sum(np.tanh(x)) * len(found[1])
    for name, power in re.findall(r"([a-z]+)\^(\d)", "sin^2 + cos^3"):
        total = total + np.sum(getattr(np, name)(x) ** int(power))
    if re.search("(?i)TAN", "arctan") is not None:
        total = total * float(re.split(r"\s*,\s*", "1, 2 ,3")[1])
    return total


class Account:
    __rate = 3.0

    def __init__(self, value):
        self.__value = value

    def __interest(self, value):
        return self.__rate * value**2

    @property
    def value(self):
        return self.__value

    def worth(self):
        return np.sum(self.__interest(self.__value))


class Savings(Account):
    def __init__(self, value):
        super().__init__(2 * value)
        self.__value = value

    def both(self):
        return np.sum(self.__value**3) + self.worth() * np.sum(self.value)


OPENED = Savings(np.array([0.5, 0.7, 0.2]))


def private(x):
    return Account(x).worth() * x[0] + np.sum(Account(x)._Account__value)


def private_in_subclasses(x):
    return Savings(x).both()


def private_outside(x):
    return OPENED.both() * np.sum(x**2 * OPENED.value)


def private_in_local_classes(x):
    class _Base:
        def __init__(self, v):
            self.__v = v

        def square(self):
            return self.__v**2

    class Above(_Base):
        def __init__(self, __v):
            super().__init__(__v)
            self.__v = 3 * __v

        def product(self):
            def __inside(k):
                return self.__v * k

            return self.square() * __inside(2.0)

    return np.sum(Above(x).product())


def numbers_of_texts_unknown_when_compiling(x):
    powers = {f"{i:02d}": v for i, v in enumerate(x)}
    total = 0.0
    for text in powers:
        total += powers[text] ** int(text) * float(text) + x[int(text)] * 2 ** int(text[1])
    return total


def joined_texts_unknown_when_compiling(x):
    names = []
    for i in range(len(x)):
        names.append("x" + str(i % 2))
    names.append("sum")
    total = 0.0
    for i in range(len(x)):
        if names[i] == "x0":
            total += x[i] ** 2
        elif names[i] + "!" != "x1!":
            total += 100.0
        if names[i] < "x1" or names[i] in ("x2", "%s%d" % ("x", i + 2)):  # noqa: UP031
            total *= x[1]
    return total * len(names)


def sign_by_an_unknown_text(x):
    """As in a simplex method, whose stages are named and taken off one by one."""
    stages, table = ["max", "min"], x * 1
    for _ in range(len(x)):
        if not stages:
            break
        sign = (stages[-1] == "min") - (stages[-1] == "max")
        column = np.argmax(sign * table[:-1])
        table[column] = table[column] * 1.3 + sign
        if table[column] > 0.5:
            stages.pop()
    return np.sum(table**2)


def told_by_format(x):
    """`text.format(...)` of objects, as an f-string has them; a container was refused."""
    pair, layers = (x[0], Named(0.5)), [Leaky(0.5), Named(0.125)]
    for v in x:
        if v < -5:
            raise ValueError(REPORT.format(pair, layers[1], points=layers))
    text = FIELDS.format(layers[0], layers[0], layers[1], {"a": layers[1]})
    assert text == f"{layers[0]}|{layers[0]:.2f}|{layers[1]!r}|{ {'a': layers[1]} }|{{}}"
    return x[1] * len(text)


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_texts(f):
    check(f)


def test_an_object_without_a_text_is_printed_but_not_compared(capsys):
    def printed(x):
        print(Plain(), Leaky(), [Named()], "end")
        return np.sum(x**2)

    def compared(x):
        return np.sum(x**2) if "Plain" in str(Plain()) else np.sum(x)

    np.testing.assert_allclose(srcgrad.grad(printed)(X), 2 * X)
    assert capsys.readouterr().out == "<container> Leaky(slope=0.25) [Named!] end\n"
    with pytest.raises(srcgrad.UnsupportedError, match="the class Plain isn't known"):
        srcgrad.grad(compared)(X)


def joined(x, n):
    rows = []
    for i in range(n):
        rows.append(f"{x[i]:.1f}")
    text = ", ".join(rows)
    return np.sum(x) * len(text.split(", ")) + len(" ".join(rows).upper().split()) * x[0]


def test_joined_texts_have_methods():
    x = np.array([0.5, 1.5, 2.5])
    np.testing.assert_allclose(srcgrad.grad(joined)(x, 3), [6.0, 3.0, 3.0])


Pair = collections.namedtuple("Pair", "first second")
DEQUE = collections.deque([1, 2], maxlen=3)
ORDERED = collections.OrderedDict(a=1)


class Held(typing.NamedTuple):
    value: float

    def __str__(self):
        return f"<{self.value:.1f}>"


class Marked(dict):
    def __repr__(self):
        return f"Marked({dict.__repr__(self)})"


def told(x):
    waiting = collections.deque([1, 2])
    waiting.append(3)
    lately = collections.deque([1, 2, 3], maxlen=2)
    found = collections.defaultdict(list)
    found["a"].append(1)
    named = collections.OrderedDict()
    named["q"] = x.size
    pair, held = Pair(x.size, [1]), Held(x[0])
    print(waiting, [waiting], f"{waiting}", str(lately), DEQUE, ORDERED)
    print({3, 1}, set(), frozenset([5]), [{2}], found, named, {"a": named})
    print(pair, [pair], held, [held], f"{pair} {held!s} {held!r}", repr(held))
    print(range(x.size), range(1, 9, 2), [range(3)], x.dtype, [x.dtype], f"{x.dtype!r}")
    print("%s %d %s %5.2f" % (x.dtype, 3, waiting, x[0]))  # noqa: UP031
    return np.sum(x)


def test_the_texts_of_containers_and_dtypes(capsys):
    x = np.array([0.5, 2.0])
    told(x)
    expected = capsys.readouterr().out
    grad(told)(x)
    assert capsys.readouterr().out == expected
    assert "deque([1, 2, 3])" in expected and "maxlen=3" in expected


def drawn(text, angle):
    """A turtle goes where the letters say."""
    x = y = heading = total = 0.0
    for letter in text:
        if letter == "F":
            x, y = x + np.cos(heading), y + np.sin(heading)
            total += x * y
        elif letter in "+-":
            heading += angle if letter == "+" else -0.7 * angle
    return total


def rewritten_again_and_again(x):
    text = "F"
    for _ in range(2 if x[0] > 0 else 3):
        text = "".join({"F": "F+F-F", "+": "+", "-": "-"}[letter] for letter in text)
    return drawn(text, x[1])


def chosen_by_the_data(x):
    text = "F+F-F" if x[0] > 0 else "F-"
    weights = {}
    for i, letter in enumerate(text):
        weights[letter] = weights.get(letter, 0.0) + x[i % 3]
    return drawn(text, x[1]) * weights["F"] + len(list(text)) * x[2]


def digits_of_a_number(x):
    return sum(int(d) * x[1] for d in f"{x.size * 137}" if d.isdigit()) + sum(
        x[i] for i, c in zip(range(3), reversed(f"{x[0]:.1f}"), strict=False) if c != "."
    )


@pytest.mark.parametrize(
    "function", [rewritten_again_and_again, chosen_by_the_data, digits_of_a_number]
)
def test_letters_of_texts_that_only_the_run_tells(function):
    check(function)
    check(function, np.array([-0.31, 0.8, 0.55]))


def test_a_template_that_only_the_run_tells():
    """What is put into it is written, not a remainder, which would have a derivative."""
    templates = ["%6.2e", "%5.1f"]

    def columns(x):
        cells = []
        for i in range(len(x)):
            cells.append(templates[i % 2] % x[i])
        total = np.sum(x**2)
        for cell, v in zip(cells, x, strict=True):
            total = total + (len(cell) * v if isinstance(cell, str) else np.sum(cell))
        return total

    def named(x):
        pairs = ["%s: %.1f", "%5s %.2f"]
        total = 0.0
        for i in range(len(x)):
            total = total + len(pairs[i % 2] % ("x", x[i])) * x[i]
        return total

    srcgrad.testing.check_grads(columns, (X,))
    srcgrad.testing.check_grads(named, (X,))


def test_texts_among_results():
    """What a report says of the numbers has no adjoint; the numbers have theirs."""

    def report(x):
        return {"square": x**2, "text": f"{x:.2f}", "again": str(x)}

    value, pullback = srcgrad.vjp(report, 2.0)
    assert value == {"square": 4.0, "text": "2.00", "again": "2.0"}
    assert pullback({"square": 1.0, "text": None, "again": None}) == (4.0,)
    value, tangent = srcgrad.jvp(report, (2.0,), (0.5,))
    assert tangent == {"square": 2.0, "text": None, "again": None}
    with pytest.raises(srcgrad.UnsupportedError, match="no derivative rule"):
        srcgrad.vjp(lambda x: (float(f"{x:.2f}") * x, f"{x}"), 2.0)


class Spelled:
    def __init__(self, v):
        self.v = v

    def __str__(self):
        return "spelled"

    def __repr__(self):
        return "Spelled()"


@pytest.mark.parametrize(
    "test",
    [
        lambda one, _: f"{one:.3f}" == "<0.250>",
        lambda one, _: format(one, ".3f") == "<0.250>",
        lambda one, _: f"{one:{'.2' + 'f'}}" == "<0.25>",
        lambda _, other: f"{other!r}" == "'a'",
        lambda _, other: f"{other!r:>5}" == "  'a'",
        lambda _, other: f"{other:>4}" == "   a",
        lambda one, _: f"{one}" == "spelled",
    ],
)
def test_the_texts_of_what_the_data_choose(test):
    """Each option has its own text, and raises where it takes no format."""

    def f(x):
        one = Leaky() if x[0] < 0.5 else Spelled(x[0])
        other = "a" if x[0] < 0.5 else Spelled(x[1])
        try:
            return x[0] ** 2 if test(one, other) else x[1] ** 2
        except TypeError:
            return x[2] ** 2

    gradient = srcgrad.value_and_grad(f)
    for x in (X, X[[1, 0, 2]]):
        value, found = gradient(x)
        assert value == f(x)
        np.testing.assert_allclose(found, np.where(x**2 == value, 2 * x, 0.0))


def test_a_format_that_python_refuses_is_caught():
    def f(x):
        try:
            return x[0] * len(f"{None:>5}")
        except TypeError:
            return x[1] ** 2

    np.testing.assert_allclose(grad(f)(X), [0.0, 2 * X[1], 0.0])
