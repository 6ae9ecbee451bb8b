"""What is asked of a value that is one of two, as the data decide: Python's answers and errors."""

import copy  # noqa: F401 - the programs use it
import dataclasses
import linecache
import math  # noqa: F401 - the programs use it

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads


@dataclasses.dataclass
class Point:
    v: float


class Counts:
    def __init__(self, v):
        self.v = v

    def __index__(self):
        return 2

    def __getitem__(self, k):
        return self.v * k


def double(y):
    return 2 * y


def program(one, other, body):
    lines = "\n".join("    " + line for line in body.splitlines())
    text = f"""
def f(x):
    if x[0] > 0.5:
        v = {one}
    else:
        v = {other}
{lines}
    return s * x[1] + x[2]
"""
    name = f"<{one}, {other}: {body}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {**globals()}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


TUPLE = "(x[1], x[2])"
CAUGHT = """try:
    {}
except TypeError:
    s = 5 * x[2]
except AttributeError:
    s = 7 * x[2]"""
TESTS = [
    *[(TUPLE, "None", f"{question}") for question in (
        "hasattr(v, 'count')", "str(v) == 'None'", "f'{v}' == 'None'", "f'{v!r}' == 'None'",
        "np.ndim(v) == 0", "np.shape(v) == ()", "np.size(v) == 1", "np.asarray(v).ndim == 0",
        "getattr(v, 'index', None) is None", "'{}'.format(v) == 'None'", "bool(v)",
    )],
    ("()", "None", "repr(v) == 'None'"), ("x * 2", "None", "hasattr(v, 'copy')"),
    ("x[1]", "None", "getattr(v, 'real', None) is None"), ("'abc'", "None", "hasattr(v, 'upper')"),
    ("x * 2", "None", "np.ndim(v) == 0"), ("Point(x[1])", "None", "hasattr(v, 'v')"),
    ("Counts(x[1])", "[x[1], 2.0]", "hasattr(v, '__eq__')"), ("double", "None", "callable(v)"),
    ("x * 2", "None", "hasattr(v, '__name__')"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "question"), TESTS)
def test_answers(one, other, question):
    compare(program(one, other, f"s = x[1] ** 2 if {question} else x[1] * x[2]"))


USES = [
    *[(TUPLE, "None", f"s = {use}") for use in (
        "sum(v)", "v[0] * v[1]", "(v + (x[1],))[1]", "(v * 2)[1]", "sum([*v, x[1]])", "v[-1]",
        "np.sum(v)", "sum(a * b for a, b in zip(v, x))", "sum(tuple(v))", "(1 in v) + 0.0",
        "math.fsum(v)", "np.sum(np.sin(v))",
    )],
    (TUPLE, "None", "s = len(v) * {None: 3.0, 2: x[2]}.get(v, x[1])"),
    (TUPLE, "None", "s = len([x[1] for q in v]) * x[1]"),
    (TUPLE, "None", "s = len([x[1] for q, r in zip(x, v)]) * x[1]"),
    ("(1, 2)", "None", "s = {None: 3.0, (1, 2): x[2]}.get(v, x[1])"),
    (TUPLE, "None", "s = len(v) * x[1]"), (TUPLE, "None", "s = x[1] if x[2] in v else x[2]"),
    ("()", "None", "s = sum([*v, x[1]])"),
    (TUPLE, "None", "a, b = v; s = a * b"),
    ("{'a': x[1]}", "None", "s = len(f'{v:<12}|')"), ("[x[1]]", "2.0", "s = len(f'{v:+}')"),
    ("math.sqrt", "Point(x[1])", "s = len(f'{v:5.1f}')"),
    ("ValueError('no')", "None", "raise v"), ("Point(x[1])", "2.0", "raise v"),
    ("double", "x", "[] = v; s = x[1]"),
]  # fmt: skip


@pytest.mark.parametrize("caught", [False, True])
@pytest.mark.parametrize(("one", "other", "use"), USES)
def test_uses(one, other, use, caught):
    compare(program(one, other, CAUGHT.format(use) if caught else use))


@pytest.mark.parametrize("use", [
    "s = np.sum(x[v])", "s = np.sum(x[:v])", "y = x.copy(); y[v] = 2.0; s = y.sum()",
    "y = x.copy(); y[0] = v; s = y.sum()", "q = [x[1], x[2], 3.0]; s = q.pop(v)",
    "s = sum(x[k] for k in range(v))", "s = len('abcd'[v]) * x[1]",
])  # fmt: skip
@pytest.mark.parametrize("other", ["None", "Point(x[1])", "Counts(x[2])"])
def test_an_object_in_a_table_is_no_number(use, other):
    with pytest.raises((srcgrad.UnsupportedError, TypeError)):
        srcgrad.grad(program("Counts(x[1])", other, use))(np.array([0.9, 0.7, 0.4]))


NUMBERS = [
    ("x[1]", "np.float32(x[1])", "isinstance(v, np.float32)"),
    ("x[1]", "np.float32(x[1])", "v.dtype == np.float64"),
    ("x[1]", "np.float32(x[1])", "v.itemsize == 8"),
    ("x[1]", "np.float32(x[1])", "(v + np.float32(2)).dtype == np.float64"),
    ("x[1]", "0", "isinstance(v, float) and v.dtype == np.float64"),
    ("x * 2", "x.astype(np.float32)", "v.dtype == np.float64"),
    ("x * 2", "x.astype(np.float32)", "np.zeros(2, v.dtype).itemsize == 8"),
    ("np.zeros(3, np.int32)", "np.zeros(3, np.int64)", "v.dtype == np.int32"),
    ("0.5", "np.float32(0.5)", "np.full(3, v).dtype == np.float64"),
    ("np.float64(1.5)", "np.int64(3)", "np.broadcast_to(v, (3,)).dtype == np.float64"),
    ("3", "np.int64(3)", "isinstance(v * 2, int)"), ("3", "True", "np.asarray(v).dtype == bool"),
    ("3", "np.int64(3)", "isinstance(np.squeeze(v), np.ndarray)"),
    ("x[1]", "float(x[1])", "v.size == 1"), ("x[1]", "None", "v.dtype == float"),
    ("np.array(x[1])", "int(9 * x[1])", "v.shape == ()"), ("x", "0.5", "v.ndim == 1"),
    ("x * 2", "0.5", "isinstance(copy.copy(v), float)"),
    ("x * 2", "np.float64(0.5)", "isinstance(copy.deepcopy([v])[0], np.ndarray)"),
    ("0.5", "np.float64(0.5)", "(v + np.float32(1)).dtype == np.float64"),
    ("0.5", "x[:1]", "v in {None, 3}"), ("x", "0.5", "max(v) > 0.6"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "question"), NUMBERS)
def test_answers_of_numbers_and_arrays(one, other, question):
    compare(program(one, other, f"s = x[1] ** 2 if {question} else x[1] * x[2]"))


@pytest.mark.parametrize("use", [
    "s = v.sum() * x[1]", "s = v.shape[0] * x[1]", "s = len(v) * x[1]", "s = math.sqrt(v)",
    "s = sum(v) * x[1]", "s = sum([q * x[1] for q in v])", "s = min(v) * x[1]", "p, q = v; s = p",
    "s = x[1] if v in {None, 3} else x[2] ** 2", "s = np.sum(np.ones(3) / (v / 0))",
    "x[:] = v; s = x[0]", "v[0] = x[1]; s = np.sum(v)", "s = v[0]", "s = len(v + [1.0]) * x[1]",
    "s = np.sum(v @ x)", "s = np.sum(v + np.ones(2))",
])  # fmt: skip
@pytest.mark.parametrize(("one", "other"), [
    ("x[:2] * 2", "0.5"), ("1", "x * 1.0"), ("x[2]", "x[:2] + 0.0"),
])  # fmt: skip
def test_what_numbers_or_arrays_raise_is_caught(one, other, use):
    body = f"x = x.copy()\ntry:\n    {use}\nexcept (TypeError, AttributeError):\n    s = 5 * x[2]"
    kept = "(ValueError, IndexError, ZeroDivisionError)"
    compare(program(one, other, f"{body}\nexcept {kept}:\n    s = 7 * x[2]"))


def test_an_array_that_may_be_none_is_hashed_where_it_is_none():
    caught = CAUGHT.format("s = x[1] if v in {None, 3} else x[2] ** 2")
    compare(program("x * 1.0", "None", caught))


@pytest.mark.parametrize("use", ["v += x", "v *= x[1]", "v -= x[:2]", "v *= 2"])
@pytest.mark.parametrize("other", ["np.arange(3)", "x[:1].copy()"])
def test_what_writing_in_place_raises_is_caught(other, use):
    caught = (
        f"try:\n    {use}\n    s = np.sum(v)\nexcept (ValueError, TypeError):\n    s = 5 * x[2]"
    )
    compare(program("x.copy()", other, caught))


@pytest.mark.parametrize("other", ["[x[1], 2.0]", "(x[1], 2.0)"])
def test_an_array_is_added_to_a_list(other):
    compare(
        program("x[:2] * 2", other, "items = [1.0, x[1]]\nitems += v\ns = len(items) * sum(items)")
    )


@pytest.mark.parametrize("function", [
    "hypot(v, x[1])", "atan2(v, x[1])", "pow(v, 2)", "log(v, 3)", "erf(v)",
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:Casting complex")
def test_math_takes_the_real_part_of_a_complex_number(function):
    compare(program("x[1] + x[2] * 1j", "2.0 * x[1]", f"s = math.{function} * x[2]"))


def test_all_of_a_list_is_no_item_of_it():
    caught = "try:\n    v[...] = 2.0\nexcept TypeError:\n    s = v[0]"
    compare(program("[x[1], 2.0]", "[3.0, x[2]]", caught))


def compare(f):
    gradient = srcgrad.value_and_grad(f)
    for x in (np.array([0.9, 0.7, 0.4]), np.array([0.2, 0.7, 0.4])):
        try:
            expected = f(x)
        except Exception as error:
            with pytest.raises((type(error), UnboundLocalError)):  # where nobody catches it
                gradient(x)
            continue
        value, found = gradient(x)
        assert value == pytest.approx(expected, rel=1e-12)
        steps = 1e-6 * np.eye(3)
        np.testing.assert_allclose(found, [(f(x + h) - f(x - h)) / 2e-6 for h in steps], rtol=1e-6)


class Interval:
    """Converts itself, and is made of a number by the first of several products."""

    def __init__(self, low, high):
        self.low, self.high = low, high

    def __rmul__(self, other):
        low, high = (other, other) if isinstance(other, (int, float)) else (other.low, other.high)
        return Interval(low * self.low, high * self.high)

    __mul__ = __rmul__

    def __pow__(self, n):
        power = 1
        for _ in range(n):
            power = power * self
        return power

    def __float__(self):
        return 0.5 * (self.low + self.high)

    def __int__(self):
        return int(self.high)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_number_is_made_of_what_may_be_an_object_that_makes_one(n):
    def mean(x, n):
        return float(Interval(x, 2 * x) ** n)

    def whole(x, n):
        return x * int(Interval(x, 2 * x) ** n)

    def sides(x, n):
        return float(Interval(x, 3 * x) if n else x * x)

    for f in (mean, whole, sides):
        check_grads(lambda x, f=f: f(x, n), (1.3,))


def test_no_number_is_made_of_what_is_none_in_this_run():
    def f(x, n):
        made = None
        for i in range(n):
            made = Interval(x, x) if i == 0 else made * x
        return float(made)

    assert srcgrad.grad(f)(1.5, 3) == pytest.approx(3 * 1.5**2)
    with pytest.raises(TypeError, match="not 'NoneType'"):
        srcgrad.grad(f)(1.5, 0)
