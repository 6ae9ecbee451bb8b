"""Python 3.14 and 3.15: annotations that nobody evaluates, lazy imports, more unpacking."""

import math
import sys
import textwrap
import types

import gast
import numpy as np
import pytest

from srcgrad import UnsupportedError, grad
from srcgrad.frontend import recent
from srcgrad.testing import check_grads

from .random_orders import compiled

X = np.array([0.5, 2.0])


class Lazy:
    """Stands for what `lazy import` leaves in a module, on any Python."""

    def __init__(self, name):
        self.name = name

    def resolve(self):
        return __import__(self.name)


@pytest.fixture
def lazy(monkeypatch):
    monkeypatch.setattr(recent, "LAZY", Lazy)
    return Lazy


def test_lazy_imports_are_made_when_they_are_read(lazy):
    def f(x):
        return mathematics.sin(x[0]) if x[0] < 1 else absent.sin(x[0])  # noqa: F821

    names = {"mathematics": lazy("math"), "absent": lazy("absent"), "np": np}
    f = types.FunctionType(f.__code__, names)
    gradient = grad(f)
    np.testing.assert_allclose(gradient(X), [math.cos(0.5), 0.0])
    assert names["mathematics"] is math
    assert isinstance(names["absent"], Lazy)
    read = gradient.sources
    gradient(X)
    assert gradient.sources == read
    with pytest.raises(ModuleNotFoundError, match="absent"):
        gradient(X[::-1])


def test_a_lazy_import_of_what_is_not_there_is_caught(lazy):
    def f(x):
        try:
            return absent.total(x)  # noqa: F821
        except ImportError:
            return np.sum(x * x)

    f = types.FunctionType(f.__code__, {"absent": lazy("absent"), "np": np})
    np.testing.assert_allclose(grad(f)(X), 2 * X)


@pytest.mark.parametrize(
    "plain, part, expected",
    [
        ("[ys for ys in xs if ys]", "elt", "[item for ys in xs if ys for item in ys]"),
        ("{item for item in xs}", "elt", "{item_ for item in xs for item_ in item}"),
        (
            "(f(item_) for item in item_)",
            "elt",
            "(item__ for item in item_ for item__ in f(item_))",
        ),
        ("{d: None for d in ds}", "key", "{key: value for d in ds for key, value in d.items()}"),
    ],
)
def test_unpacking_in_comprehensions_is_a_loop(plain, part, expected):
    node = gast.parse(plain).body[0].value
    if part == "elt":
        node.elt = gast.Starred(node.elt, gast.Load())
    else:
        node.value = None
    recent.unpack_in_loops(node)
    assert gast.unparse(node).strip("()") == expected.strip("()")
    assert all(hasattr(n, "lineno") for n in gast.walk(node) if isinstance(n, gast.expr))


@pytest.mark.skipif(sys.version_info < (3, 15), reason="syntax of Python 3.15")
@pytest.mark.parametrize(
    "body",
    [
        "return sum([*y for y in [x, x * 2]])",
        "return np.sum(np.array([*y for y in [[x[0], x[1] ** 2], [x[1]]] if len(y) > 1]))",
        "d = {**e for e in [{'a': x[0]}, {'b': x[1] * 2}, {'a': x[1]}]}; return d['a'] * d['b']",
        "return sum((*y for y in [x * x, x]))",
        "return np.sum(x * x) * len({*y for y in [[1, 2], [2, 3]]})",
    ],
)
def test_unpacking_in_comprehensions(body):
    check_grads(compiled(f"import numpy as np\ndef f(x):\n    {body}\n", body), (X,))


@pytest.mark.skipif(sys.version_info < (3, 15), reason="syntax of Python 3.15")
def test_lazy_imports():
    text = """\
    lazy import numpy as np
    lazy from math import sin
    lazy import absent
    def f(x):
        return np.sum(x * x) * sin(x[0])
    """
    check_grads(compiled(textwrap.dedent(text), "lazy"), (X,))


@pytest.mark.skipif(sys.version_info < (3, 14), reason="annotations are evaluated")
def test_annotations_are_not_evaluated():
    text = """\
    import numpy as np
    class Scale:
        factor: Unknown
        def __init__(self, factor: Unknown) -> None:
            self.factor = factor
        def __call__(self, x: Unknown) -> Unknown:
            y: Unknown = x * self.factor
            return y
    def f(x: Unknown, *, factor: Unknown = 2.0) -> Unknown:
        def inner(y: Unknown) -> Unknown:
            return np.sum(y * y)
        return inner(Scale(factor)(x))
    """
    f = compiled(textwrap.dedent(text), "annotated")
    check_grads(f, (X,))
    np.testing.assert_allclose(grad(f)(X, factor=3.0), 18 * X)


@pytest.mark.skipif(sys.version_info < (3, 14), reason="syntax of Python 3.14")
def test_template_strings_are_refused():
    f = compiled('def f(x):\n    t = t"{x}"\n    return x * len(t.strings)\n', "template")
    with pytest.raises(UnsupportedError, match="TemplateStr isn't supported"):
        grad(f)(1.0)
