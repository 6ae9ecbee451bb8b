"""What is asked of a value that is one of two, as the data decide: Python's answers and errors."""

import dataclasses
import linecache
import math  # noqa: F401 - the programs use it

import numpy as np
import pytest

import srcgrad


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
