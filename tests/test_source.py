import ast
import doctest
import functools
import gc
import importlib
import linecache
import operator
import os
import pickle
import subprocess
import sys
import threading
import types
import zipfile

import gast
import numpy as np
import pytest

from srcgrad import grad
from srcgrad.errors import SourceError, Span, UnsupportedError, format_location
from srcgrad.frontend import source as module
from srcgrad.frontend.source import get_source


def load(path, text, **names):
    """Write a file and run it, as import does."""
    path.write_text(text, encoding="utf-8")
    exec(compile(text, str(path), "exec", dont_inherit=True), names)
    return names


def cell(name, text, **names):
    """Run a notebook cell, as ipykernel does."""
    linecache.cache[name] = (len(text), None, [line + "\n" for line in text.splitlines()], name)
    exec(compile(text, name, "exec", dont_inherit=True), names)
    return names


def segment(source, node):
    """What a node's span holds, read from the file."""
    span = source.span(node)
    lines = linecache.getlines(span.filename)[span.line - 1 : span.end_line]
    lines[-1] = lines[-1].encode()[: span.end_column].decode()
    lines[0] = lines[0].encode()[span.column :].decode()
    return "".join(lines)


def passed(function):
    return function


def decorated_with(*arguments):
    def wrap(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)

        wrapper.original = function
        wrapper.arguments = arguments
        return wrapper

    return wrap


def plain(x, *, scale=2.0):
    # A comment.
    return scale * x  # And another.


class Model:
    def loss(self, w):
        _ = """One
    line less indented."""
        return self.__hidden(w)

    def __hidden(self, w):
        return w * w

    @staticmethod
    def static(w):
        return 3 * w

    @classmethod
    def made(cls, w):
        return super().__new__(cls), w

    @property
    def doubled(self):
        return 2

    square = lambda self, w: w**2  # noqa: E731

    class Inner:
        async def later(self):
            return __class__


@passed
@decorated_with(
    "above",
    lambda x: x,
)
def above(x):
    return x + 1


def asserting(x, n=3):
    assert n > 0, "n is positive"

    def inner(y):
        assert all(v < 9 for v in [y]), f"{y} too large"
        return y + n

    return inner(x), inner


def test_module_function():
    source = get_source(plain)
    assert type(source.node) is gast.FunctionDef
    assert source.name == "plain"
    assert source.filename == __file__
    assert source.text == (
        "def plain(x, *, scale=2.0):\n    # A comment.\n    return scale * x  # And another."
    )
    assert segment(source, source.node.body[0].value) == "scale * x"
    first = plain.__code__.co_firstlineno
    assert source.span(source.node.body[0]) == Span(__file__, first + 2, 4, first + 2, 20, "plain")


def test_methods():
    source = get_source(Model.loss)
    assert source.name == "Model.loss"
    # The string is not what the author wrote if its lines are moved.
    assert source.text == (
        'def loss(self, w):\n    _ = """One\n    line less indented."""\n'
        "    return self.__hidden(w)"
    )
    assert segment(source, source.node.body[1].value) == "self.__hidden(w)"
    assert get_source(Model().loss) is source
    assert get_source(Model._Model__hidden).name == "Model.__hidden"
    assert get_source(Model.static).text == "def static(w):\n    return 3 * w"
    assert get_source(Model.made).name == "Model.made"
    assert get_source(Model.__dict__["doubled"].fget).name == "Model.doubled"
    assert get_source(Model.square).text == "lambda self, w: w**2"
    later = get_source(Model.Inner.later)
    assert type(later.node) is gast.AsyncFunctionDef
    assert later.text == "async def later(self):\n    return __class__"


def test_nested():
    k = 2

    def outer():
        def inner(x):
            return k * x

        return inner

    source = get_source(outer())
    assert source.name == "test_nested.<locals>.outer.<locals>.inner"
    assert source.text == "def inner(x):\n    return k * x"
    assert source.span(source.node).column == 8
    assert get_source(outer()) is source


def test_same_name_in_branches():
    functions = []
    for sign in (1, -1):
        if sign > 0:

            def f(x):
                return x

        else:

            def f(x):
                return -x

        functions.append(f)
    texts = [get_source(f).text for f in functions]
    assert texts == ["def f(x):\n    return x", "def f(x):\n    return -x"]


def test_decorated():
    assert above.arguments[0] == "above"
    source = get_source(above.original)
    assert source.text == "def above(x):\n    return x + 1"
    assert len(source.node.decorator_list) == 2
    assert segment(source, source.node.body[0]) == "return x + 1"
    # Exactly the function given: what functools.wraps points to is not followed.
    wrapper = get_source(above)
    assert wrapper.name == "decorated_with.<locals>.wrap.<locals>.wrapper"
    assert wrapper.text.startswith("def wrapper(*args, **kwargs):")
    assert get_source(above.arguments[1]).text == "lambda x: x"

    # fmt: off
    @passed
    # Between.
    @passed

    def below(x): return x
    # fmt: on

    assert get_source(below).text == "def below(x): return x"


def test_lambdas():
    pair = (lambda x: x + 1, lambda x: x + 2)
    assert [get_source(f).text for f in pair] == ["lambda x: x + 1", "lambda x: x + 2"]
    assert type(get_source(pair[0]).node) is gast.Lambda

    same = (lambda x: x, lambda x: x)
    columns = [get_source(f).node.col_offset for f in same]
    assert columns[0] < columns[1]

    table = {"a": lambda x: x, "b": (lambda x: lambda y: x + y)}
    assert get_source(table["b"]).text == "lambda x: lambda y: x + y"
    assert get_source(table["b"](1)).text == "lambda y: x + y"

    # fmt: off
    def default(x, f=lambda x: (x)): return f(x)
    # fmt: on

    assert get_source(default.__defaults__[0]).text == "lambda x: (x)"
    assert get_source(default).text == "def default(x, f=lambda x: (x)): return f(x)"

    assert get_source(passed(lambda x, ä="ö": x)).text == 'lambda x, ä="ö": x'
    assert [get_source(f).text for f in [lambda i=i: i for i in range(2)]] == ["lambda i=i: i"] * 2


def test_lambdas_that_only_return_a_constant():
    inner = (lambda owner: (owner, lambda self: 7.0))(1)[1]
    assert get_source(inner).text == "lambda self: 7.0"
    pair = (lambda: 1.0, lambda: 2.0)
    assert [get_source(f).text for f in pair] == ["lambda: 1.0", "lambda: 2.0"]
    # fmt: off
    split = [lambda: (
        1.0), lambda: (lambda x: (x
        + 2.0))]
    # fmt: on
    assert get_source(split[0]).text == "lambda: (\n    1.0)"
    assert get_source(split[1]()).text == "lambda x: (x\n+ 2.0)"


def test_lambda_over_lines():
    # fmt: off
    f = passed(
        lambda x: (
            x
            + 1
        ),
    )
    source = get_source(f)
    assert source.text == "lambda x: (\n    x\n    + 1\n)"
    assert segment(source, source.node.body) == "x\n            + 1"
    g = (lambda x:  # noqa: E731
         x - 1)
    # fmt: on
    assert get_source(g).text == "lambda x:  # noqa: E731\n     x - 1"
    # That text by itself is found to be what it is.
    assert get_source(g, source=get_source(g).text).text == "lambda x:  # noqa: E731\n     x - 1"


def test_same_lambda_code_with_other_defaults(tmp_path):
    names = load(tmp_path / "m.py", "f, g = (lambda x, a=1: x * a), (lambda x, a=2: x * a)\n")
    assert get_source(names["f"]).text == "lambda x, a=1: x * a"
    assert get_source(names["g"]).text == "lambda x, a=2: x * a"


def test_lambdas_without_columns(tmp_path):
    text = (
        "f, g, h = (lambda x: x + 1), (lambda x: x + 2), (lambda x: x + 2)\n"
        "a, b = (lambda x, k=1: x * k), (lambda x, k=2: x * k)\n"
    )
    path = tmp_path / "m.py"
    path.write_text(text)
    program = (
        "import sys\nsys.path.insert(0, sys.argv[1])\nimport m\n"
        "from srcgrad.frontend.source import get_source\n"
        "print([get_source(f).text for f in (m.f, m.g, m.h)])\n"
        "try: get_source(m.a)\nexcept Exception as e: print(type(e).__name__); print(e)\n"
    )
    result = run("-X", "no_debug_ranges", "-c", program, str(tmp_path))
    assert result == (
        "['lambda x: x + 1', 'lambda x: x + 2', 'lambda x: x + 2']\n"
        "SourceError\n"
        f'  File "{path}", line 2, in <lambda>\n'
        "    a, b = (lambda x, k=1: x * k), (lambda x, k=2: x * k)\n"
        "    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "cannot tell which of 2 lambdas on this line is meant\n"
        "Put them on separate lines, or use def.\n"
    )


def run(*arguments, stdin=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST"))}
    env["PYTHONPATH"] = os.path.dirname(os.path.dirname(__file__))
    process = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=env,
        check=False,
    )
    return process.stdout


def test_lambda_in_fstring():
    kept = []
    f"{kept.append(lambda x: x + 1)} {kept.append(lambda x: x + 2)}"
    assert [ast.unparse(gast.gast_to_ast(get_source(f).node)) for f in kept] == [
        "lambda x: x + 1",
        "lambda x: x + 2",
    ]


def test_rewritten_by_pytest():
    assert any(name.startswith("@py_") for name in asserting.__code__.co_varnames)
    assert get_source(asserting).text.startswith("def asserting(x, n=3):\n    assert n > 0")
    assert get_source(asserting(1)[1]).name == "asserting.<locals>.inner"


def test_notebook_cells():
    text = "import math\ndef f(x):\n    return math.sin(x)\n"
    for name in ("<ipython-input-3-0123456789ab>", "/tmp/ipykernel_123/456.py"):
        f = cell(name, text)["f"]
        linecache.checkcache()
        source = get_source(f)
        assert (source.filename, source.text) == (name, text[12:-1])
        assert source.span(source.node.body[0].value).text() == "    return math.sin(x)"
    # IPython compiles each statement by itself.
    text = "import math\nf = lambda x: math.sin(x); g, h = f, lambda x: math.sin(x)\n"
    names = cell("<cell>", text)
    for statement in ast.parse(text).body:
        exec(compile(ast.Module([statement], []), "<cell>", "exec"), names)
    assert get_source(names["g"]).node.col_offset == 4
    assert get_source(names["h"]).node.col_offset == 37
    # A cell that waits at its top.
    text = "async def g():\n    return 1\nf = lambda x: 2 * x; y = await g()\n"
    linecache.cache["<cell>"] = (len(text), None, text.splitlines(keepends=True), "<cell>")
    names = {}
    code = compile(text, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    with pytest.raises(StopIteration):
        types.FunctionType(code, names)().send(None)
    assert get_source(names["f"]).text == "lambda x: 2 * x"


def test_same_name_in_two_files(tmp_path):
    # Their code objects are equal.
    f, g = (load(tmp_path / name, "def f(x):\n  return x\n")["f"] for name in ("a.py", "b.py"))
    assert f.__code__ == g.__code__
    assert get_source(f).filename == str(tmp_path / "a.py")
    assert get_source(g).filename == str(tmp_path / "b.py")


def test_prompt_keeps_source_by_code(monkeypatch):
    # As Python 3.13.1 and later do.
    kept = {}
    monkeypatch.setattr(
        linecache, "_getlines_from_code", lambda code: kept.get(code.co_name, []), raising=False
    )
    for filename, shown in [
        ("<python-input-7>", "<python-input-7>"),
        ("<string>", "<srcgrad source of typed7>"),
    ]:
        text = "def typed7(x):\n    return x * 7\n"
        kept["typed7"] = text.splitlines(keepends=True)
        names = {}
        exec(compile(text, filename, "exec"), names)
        source = get_source(names["typed7"])
        assert (source.filename, source.text) == (shown, text[:-1])
        assert source.span(source.node.body[0]).text() == "    return x * 7"


def test_zipped_module(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("zipped_for_srcgrad.py", "\ndef f(x):\n    return 1 + x\n")
    monkeypatch.syspath_prepend(str(tmp_path / "packed.zip"))
    zipped = importlib.import_module("zipped_for_srcgrad")
    source = get_source(zipped.f)
    assert source.text == "def f(x):\n    return 1 + x"
    assert source.span(source.node.body[0]).text() == "    return 1 + x"


def test_doctest_example():
    text = """
    >>> from srcgrad.frontend.source import get_source
    >>> def f(x):
    ...     return x + 40
    >>> print(get_source(f).text)
    def f(x):
        return x + 40
    >>> get_source(lambda x: x + 41).text
    'lambda x: x + 41'
    """
    test = doctest.DocTestParser().get_doctest(text, {}, "example", None, 0)
    failures = []
    doctest.DocTestRunner(verbose=False).run(test, out=failures.append)
    assert not failures, "".join(failures)


def test_exec_without_source():
    names = {}
    exec("def lost(x):\n    return x\nhidden = lambda x: x", names)
    with pytest.raises(SourceError) as caught:
        get_source(names["lost"])
    assert str(caught.value) == (
        "cannot find the source of lost: "
        "it was made by exec or eval, or by python -c, which keep no source\n"
        'Define it in a file or a notebook, or pass its text: grad(lost, source="...").'
    )
    with pytest.raises(SourceError, match=r'grad\(f, source="..."\)\.$'):
        get_source(names["hidden"])
    exec(compile("def lost(x): return x", "<made>", "exec"), names)
    with pytest.raises(SourceError, match=r"it was made by a program \(<made>\) that keeps no sou"):
        get_source(names["lost"])
    exec(compile("def lost(x): return x", "<stdin>", "exec"), names)
    with pytest.raises(SourceError, match="it was typed at the Python prompt, which keeps no sour"):
        get_source(names["lost"])


PROMPT = """\
from srcgrad.frontend.source import get_source
def f(x):
    return x + 1

try: print(get_source(f).text)
except Exception as e: print(e)

"""


def test_prompt_and_command_line():
    out = run("-i", "-q", stdin=PROMPT)
    if sys.version_info >= (3, 13):
        assert "def f(x):\n    return x + 1" in out
    else:
        assert (
            "cannot find the source of f: it was typed at the Python prompt, "
            "which keeps no source before Python 3.13" in out
        )
    out = run("-c", PROMPT)
    if sys.version_info >= (3, 13):
        assert out == "def f(x):\n    return x + 1\n"
    else:
        assert "or by python -c, which keep no source" in out
    out = run("-", stdin=PROMPT)
    assert "cannot find the source of f" in out or out == "def f(x):\n    return x + 1\n"


def test_not_a_function():
    def message(thing):
        with pytest.raises(SourceError) as caught:
            get_source(thing)
        return str(caught.value)

    assert message(np.sin) == (
        "cannot find the source of sin: it is a ufunc, not made of Python\n"
        "Give a function that calls it: lambda x: sin(x)."
    )
    assert message(len) == (
        "cannot find the source of len: it is a built-in function, not made of Python\n"
        "Give a function that calls it: lambda x: len(x)."
    )
    assert message(Model) == (
        "cannot find the source of Model: it is a class\n"
        "Give one of its methods, or a function that calls it."
    )
    assert message(functools.partial(plain, 1)) == (
        "cannot find the source of this: it is of type partial, not a function\n"
        "Give a function that calls it."
    )
    assert message(operator.itemgetter(1)).startswith("cannot find the source of this: it is of t")


def test_file_gone(tmp_path):
    path = tmp_path / "gone.py"
    f = load(path, "def f(x):\n    return x\n")["f"]
    path.unlink()
    with pytest.raises(SourceError) as caught:
        get_source(f)
    assert str(caught.value) == (
        f"cannot find the source of f: the file {path} cannot be read\n"
        'Define it in a file or a notebook, or pass its text: grad(f, source="...").'
    )


@pytest.mark.parametrize(
    ("now", "how", "shown"),
    [
        ("\ndef g(x):\n    return x * 2\n", "has no function f at line 2 now", "def g(x):"),
        ("\ndef f(x):\n    return x * 3\n", "has another function f at line 2 now", "def f(x):"),
        ("\ndef f(x):\n    return x * 2.\n", "has another function f at line 2 now", "def f(x):"),
        ("\ndef f(y):\n    return y * 2\n", "has another function f at line 2 now", "def f(y):"),
        ("\ndef f(x, *k):\n    return x * 2\n", "has another function f at line 2 now", None),
        ("\ndef f(x) return x", "is not valid Python now", "def f(x) return x"),
        ("\nreturn x\ndef f(x): pass\n", "has no function f at line 2 now", "return x"),
        ("x = 1\n", "has no function f at line 2 now", ""),
    ],
)
def test_file_changed(tmp_path, now, how, shown):
    path = tmp_path / "m.py"
    f = load(path, "\ndef f(x):\n    return x * 2\n")["f"]
    path.write_text(now)
    with pytest.raises(SourceError) as caught:
        get_source(f)
    shown = "def f(x, *k):" if shown is None else shown
    where = f'  File "{path}", line 2, in f\n'
    if shown:
        where += f"    {shown}\n    {'^' * len(shown)}\n"
    assert str(caught.value) == (
        f"{where}{path} has changed since f was defined: it {how}\n"
        "Reload its module (or, if an import hook rewrites it, turn that off), "
        'or pass its text: grad(f, source="...").'
    )


def test_file_changed_elsewhere(tmp_path):
    path = tmp_path / "m.py"
    f = load(path, "def f(x):\n    return x * 2\n")["f"]
    before = get_source(f)
    path.write_text("def f(x):\n    return x * 3\n\n\ndef g(x):\n    return x\n")
    # What was found once stays right.
    assert get_source(f) is before
    path.write_text("def f(x):\n    # A comment.\n    return x * 2\n\n\ndef g(x):\n    return x\n")
    h = types.FunctionType(f.__code__.replace(), {})
    assert get_source(h).node.body[0].lineno == 3


def test_class_changed_around(tmp_path):
    text = "class C:\n    def f(self): return __class__\n    def g(self): return super().g()\n"
    c = load(tmp_path / "m.py", text)["C"]
    assert get_source(c.f).text == "def f(self): return __class__"
    assert get_source(c.g).text == "def g(self): return super().g()"


def test_kept_text_is_of_something_else():
    f = cell("<again>", "def f(x):\n    return x\n")["f"]
    cell("<again>", "def f(x):\n    return -x\n")
    with pytest.raises(SourceError) as caught:
        get_source(f)
    assert str(caught.value) == (
        '  File "<again>", line 1, in f\n'
        "    def f(x):\n"
        "    ^^^^^^^^^\n"
        "the text kept as <again> is not what f was made from: it has another function f "
        "at line 1 now\n"
        'Define the function again, or pass its text: grad(f, source="...").'
    )


def test_constants_are_compared_exactly(tmp_path):
    same = module._same_constant
    assert same(float("nan"), float("nan")) and same((1, 2.0, "a"), (1, 2.0, "a"))
    assert not same(0.0, -0.0) and not same(1, 1.0) and not same(1, True)
    assert not same((0.0,), (-0.0,)) and not same((1,), (1, 2))
    text = "def f(x):\n    return x in {1, 'a', 'b'}, -0.0, 1e999 - 1e999, 10**5000, b'', ..., 1j\n"
    assert get_source(load(tmp_path / "m.py", text)["f"]).text == text[:-1]


def test_optimised_and_future(tmp_path):
    text = (
        "from __future__ import annotations\n"
        "def f(x: no_such_name) -> int:\n"
        '    "A docstring."\n'
        "    assert x\n"
        "    def g(y: also_none): return x\n"
        "    return g\n"
    )
    f = load(tmp_path / "m.py", text)["f"]
    assert get_source(f).text == text[35:-1]
    program = (
        "import sys\nsys.path.insert(0, sys.argv[1])\nimport m\n"
        "from srcgrad.frontend.source import get_source\nprint(get_source(m.f).text)\n"
    )
    assert run("-OO", "-c", program, str(tmp_path)) == text[35:]


def test_source_with_warnings(tmp_path):
    text = "def f(x):\n    return '\\d', x is 1\n"
    path = tmp_path / "m.py"
    path.write_text(text)
    names = {}
    with pytest.warns(Warning):
        exec(compile(text, str(path), "exec"), names)
    assert get_source(names["f"]).text == text[:-1]


def test_encoding(tmp_path):
    path = tmp_path / "m.py"
    text = "# coding: latin-1\ndef f(größe): return 'é', größe + 1\n"
    path.write_bytes(text.encode("latin-1"))
    names = {}
    exec(compile(path.read_bytes(), str(path), "exec"), names)
    source = get_source(names["f"])
    assert source.text == "def f(größe): return 'é', größe + 1"
    span = source.span(source.node.body[0].value.elts[1])
    assert format_location(span) == (
        f'  File "{path}", line 2, in f\n'
        "    def f(größe): return 'é', größe + 1\n"
        "                              ^^^^^^^^^"
    )


def test_line_endings(tmp_path):
    path = tmp_path / "m.py"
    path.write_bytes(b"\r\nclass C:\r\n\tdef f(self):\r\n\t\treturn '''a\r\n\tb'''\r\n")
    names = {}
    exec(compile(path.read_bytes(), str(path), "exec"), names)
    assert get_source(names["C"].f).text == "def f(self):\n\treturn '''a\n\tb'''"


def test_spans():
    # fmt: off
    def f(x, /, y: int = 1, *z, k=2, **kw):
        with open(x) as file, open(y):  # noqa: F841
            pass
        return [
            i
            for i in z
            if i
        ] + sum(x, start=k)
    # fmt: on

    source = get_source(f)
    with_, result = source.node.body
    assert segment(source, source.node.args) == "x, /, y: int = 1, *z, k=2, **kw"
    assert segment(source, source.node.args.args[0]) == "y: int"
    assert segment(source, with_.items[0]) == "open(x) as file"
    assert segment(source, result.value.right.keywords[0]) == "start=k"
    comprehension = result.value.left.generators[0]
    assert segment(source, comprehension) == "i in z\n            if i"
    # Operators and contexts have no place at all: the function's.
    assert source.span(result.value.op) == source.span(source.node)
    # The caret of what spans lines goes to the end of the first.
    assert format_location(source.span(result)).split("\n")[1:] == ["    return [", "    ^^^^^^^^"]


def test_given_source():
    names = {}
    exec("def f(x):\n    return x\n\ng = lambda x: x\n", names)
    f, g = names["f"], names["g"]
    text = "    # Indented.\n    def f(x):\n        '''a\nb'''\n        return x  # ä\n"
    source = get_source(f, source=text)
    assert source.name == "f"
    assert source.filename.startswith("<srcgrad source of f")
    assert source.text == "def f(x):\n    '''a\nb'''\n    return x  # ä"
    assert source.node.body[0].value.value == "a\nb"
    assert segment(source, source.node.body[1]) == "return x"
    assert get_source(f, source=text) is source
    other = get_source(f, source="def f(x): return x")
    assert other.filename != source.filename
    assert other.span(other.node).text() == "def f(x): return x"
    assert source.span(source.node.body[1]).text() == "        return x  # ä"
    # The one of its name is taken, wherever it stands, with whatever is around it.
    several = "class A:\n  def f(x): return x\n  def g(x): return x\nh = lambda x: x\n"
    assert get_source(f, source=several).text == "def f(x): return x"
    assert get_source(f, source="import math\nfrom_now_on = lambda x: x").text == "lambda x: x"
    assert get_source(g, source="lambda x: x").text == "lambda x: x"
    assert get_source(g, source="call(\n  lambda x: x,\n  g)").text == "lambda x: x"
    assert get_source(g, source="lambda x:\n  x").node.body.lineno == 2
    assert get_source(g, source="def named(x): return x").node.name == "named"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "the text given as source of f holds no function"),
        (
            "def g(x): pass\ng = lambda x: 1",
            "the text given as source of f holds 2 functions (g, <lambda>)\n"
            "Give one function, or one that is named f.",
        ),
        (
            "def f(x): pass\ndef f(x): pass",
            "the text given as source of f holds 2 functions (f, f)\n"
            "Give one function, or one that is named f.",
        ),
        (
            "\ndef f(x, *, y, **z): pass",
            '  File "{file}", line 2, in f\n'
            "    def f(x, *, y, **z): pass\n"
            "    ^^^^^^^^^^^^^^^^^^^^^^^^^\n"
            "the text given as source of f takes (x, y, **z), but the function takes (x)",
        ),
        (
            "def f(x):\n    ä = $x",
            '  File "{file}", line 2\n'
            "    ä = $x\n"
            "        ^\n"
            "the text given as source of f is not valid Python: invalid syntax",
        ),
        (
            "  def f(x):\n    ä = $x",
            '  File "{file}", line 2\n'
            "    ä = $x\n"
            "        ^\n"
            "the text given as source of f is not valid Python: invalid syntax",
        ),
    ],
)
def test_given_source_is_wrong(text, message):
    names = {}
    exec("def f(x):\n    return x\n", names)
    with pytest.raises(SourceError) as caught:
        get_source(names["f"], source=text)
    assert str(caught.value) == message.replace("{file}", str(caught.value.filename))


def test_given_source_with_nul():
    with pytest.raises(SourceError, match="the text given as source of plain is not valid Python"):
        get_source(plain, source="x = '\0'")


def test_private_parameter_of_given_source():
    names = {}
    exec("class C:\n    def f(self, __x, *args, **kw):\n        return __x\n", names)
    text = "def f(self, __x, *args, **kw):\n    return __x"
    assert get_source(names["C"].f, source=text).text == text


def test_source_attribute():
    names = {}
    exec("def made(x):\n    return x\n", names)
    made = names["made"]
    made.__srcgrad_source__ = "def made(x):\n    return x\n"
    assert get_source(made).text == "def made(x):\n    return x"

    @functools.wraps(made)
    def wrapper(x):
        return made(x)

    assert wrapper.__srcgrad_source__ == made.__srcgrad_source__
    assert get_source(wrapper).text.endswith("    return made(x)")
    exec("def other(x):\n    return -x\n", names)
    functools.update_wrapper(names["other"], made)
    with pytest.raises(SourceError, match="cannot find the source of other"):
        get_source(names["other"])


def test_nothing_is_kept_for_ever(tmp_path):
    before = len(module._sources)
    for i in range(40):
        get_source(load(tmp_path / f"m{i}.py", "def f(x):\n    return x\n")["f"])
    gc.collect()
    assert len(module._sources) <= before + 1
    assert len(module._files) <= module._FILES_KEPT


def test_threads(tmp_path):
    line = "fs += [" + ", ".join(f"lambda x: x + {i}" for i in range(20)) + "]\n"
    fs = load(tmp_path / "m.py", line * 3, fs=[])["fs"]
    wrong = []
    start = threading.Barrier(8)

    def work():
        start.wait()
        for i, f in enumerate(fs):
            source = get_source(f)
            if (source.text, source.node.lineno) != (f"lambda x: x + {i % 20}", i // 20 + 1):
                wrong.append(source)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_error_of_missing_source_pickles():
    names = {}
    exec("def f(x): return x", names)
    with pytest.raises(SourceError) as caught:
        get_source(names["f"])
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_operators_made_by_exec_are_refused():
    """As of mpmath's numbers; they were taken for those of a dataclass, an internal error."""
    made = {}
    exec("def less(self, other):\n    return self.size < other.size\n", made)

    class Sized:
        def __init__(self, size):
            self.size = size

        __lt__ = made["less"]

    def f(x):
        return x * 2 if Sized(x) < Sized(3.0) else x

    with pytest.raises(UnsupportedError, match="cannot find the source of less"):
        grad(f)(1.0)
