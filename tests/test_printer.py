"""The printer: what it prints reads well, and always means the tree it was printed from."""

import ast
import copy
import gc
import importlib.util
import math
import pickle
import sys
import types
import warnings
from pathlib import Path

import gast
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from srcgrad.emit import layout, verification
from srcgrad.emit.printer import BlankLine, Comment, to_source
from srcgrad.emit.verification import checked_source
from srcgrad.errors import InternalError


def expression(text):
    return gast.parse(text).body[0].value


def module(*body):
    return gast.Module(list(body), [])


def statement(text):
    return gast.parse(text).body[0]


def name(identifier):
    return gast.Name(identifier, gast.Load(), None, None)


def constant(value):
    return gast.Constant(value, None)


# NumPy's and SciPy's own sources

CHUNKS, SHARE = 4, 3  # one file in three is looked at


def sources(package):
    spec = importlib.util.find_spec(package)
    if spec is None:
        return []
    files = Path(spec.submodule_search_locations[0]).rglob("*.py")
    return sorted(file for file in files if "tests" not in file.parts)


@pytest.mark.parametrize("package", ["numpy", "scipy"])
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_round_trips_the_sources_of(package, chunk):
    files = sources(package)
    if not files:
        pytest.skip(f"{package} is not installed")
    gc.disable()  # trees are many objects, and hold no cycles
    try:
        for file in files[chunk * SHARE :: CHUNKS * SHARE]:
            source = file.read_bytes()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of theirs, not of what is printed
                original = ast.parse(source)
            tree = gast.ast_to_gast(original)
            text = to_source(tree)
            again = ast.parse(text)
            assert ast.dump(original) == ast.dump(again), file
            assert verification.difference(tree, again) is None, file
            assert text.endswith("\n") and not text.endswith("\n\n"), file
    finally:
        gc.enable()


def test_a_plain_ast_tree_prints_the_same():
    file = Path(ast.__file__)
    source = file.read_text()
    text = to_source(ast.parse(source))
    assert text == to_source(gast.parse(source))
    assert text == to_source(ast.parse(text))
    assert ast.dump(ast.parse(source)) == ast.dump(ast.parse(text))


@pytest.mark.parametrize("width", [1, 30, 60])
def test_breaking_lines_never_changes_their_meaning(monkeypatch, width):
    monkeypatch.setattr(layout, "WIDTH", width)
    for file in [*sources("numpy")[::25], Path(ast.__file__)]:
        tree = ast.parse(file.read_bytes())
        assert ast.dump(tree) == ast.dump(ast.parse(to_source(tree))), file


# Text that prints as it stands

EXPRESSIONS = r"""
x[1:2, ..., None]
x[a,]
x[1:2,]
x[()]
x[a, b][c]
x[(a, b), c]
x[*a, b]
x[-1:n, ::2, :]
x[a + 1 : b]
x[f(a) : f(b) : 2]
x[: n + 1, n + 1 :]
x[:: n - 1]
x[a.b :]
x[lambda: 1 : 2]
a + b * c
(a + b) * c
a - b - c
a - (b - c)
a / b / c
a / (b * c)
a * (b / c)
a @ b @ c
-(x @ w)
-x @ w
-x ** 2
(-x) ** 2
(-3) ** 2
x ** -y
x ** y ** z
(x ** y) ** z
2 ** -1 ** z
-(-x)
-(+x)
~-x
~~x
- 1 .real
not a in b
not a not in b
(not a) in b
not (a or b)
not not a
-(not a)
a and b or c
a and (b or c)
(a and b) and c
a < b <= c != d
(a < b) < c
a < (b < c)
a == b is not c
a | b ^ c & d << e
(a | b) & c
a << b >> c
a << b + c
a if b else c
a if b else c if d else e
(a if b else c) if d else e
a if (b if c else d) else e
(a if b else c) + 1
lambda: 0
lambda x: x
lambda x, /, y, *args, z=1, **kw: (x, y)
lambda *, z: z
(lambda: 0)()
(lambda: 0) + 1
lambda: lambda: 0
lambda: (yield)
f(lambda x: x, key=lambda x: -x)
(x := 1)
f((x := 1), y=(z := 2))
[(x := 1), x]
f(x for x in y)
f((x for x in y), z)
f((x for x in y), key=z)
[x for x in y if a if b]
[x for x, y in z for w in x]
[x for x in (a if b else c)]
[x for x in (lambda: y)]
[x for x in y if (a if b else c)]
[(x, y) for (x,) in y]
[(y := x) for x in z]
{x for x in y}
{x: y for x, y in z}
{**a, 'b': 1, **(c or d)}
{1, 2}
{1: 2, 3: (4, 5)}
{}
[]
()
(a,)
((a, b), c)
(a, *b)
[*a, *(b or c)]
f(*a, *(b or c), k=1, **d, **(e or f))
(3).real
(3.0).real
3j.imag
(3j).imag
True.real
'a'.join
(await_).x
(a + b).T
(-x).T
-x.T
(a, b)[0]
[a, b][0]
a.b.c(d)[e](f)
f'{x}'.y
f'{x!r:>{w}} {{}} {y + 1}'
f(f'{x}', 'y')
b'\x00'
['it\'s', "it's"]
['\n\x00\ud800']
u'x'
...
None
1e309
-1e309
float('nan')
1e22
0.1
1_0
0xFF
"""

REWRITTEN = {
    "- 1 .real": "-(1).real",
    "3j.imag": "(3j).imag",
    "(await_).x": "await_.x",
    "['it\\'s', \"it's\"]": '["it\'s", "it\'s"]',
    "1e22": "1e+22",
    "1_0": "10",
    "0xFF": "255",
    "((a, b), c)": "(a, b), c",
    "(a, *b)": "a, *b",
}


@pytest.mark.parametrize("text", EXPRESSIONS.strip().split("\n"))
def test_prints_an_expression_as_a_person_would(text):
    tree = gast.parse(text)
    assert to_source(tree) == REWRITTEN.get(text, text) + "\n"
    assert checked_source(tree) == to_source(ast.parse(text))


STATEMENTS = [
    "x = y = 1",
    "x = (1, 2)",
    "x, y = y, x",
    "(x,) = y",
    "x, *y = z",
    "x = y, z = w",
    "x = yield",
    "x = yield y, z",
    "x = yield from y",
    "yield",
    "x += yield y",
    "x += (1, 2)",
    "x[i] @= y + z",
    "x: int",
    "x: int = 3",
    "(x): int = 3",
    "x.y: int = (1, 2)",
    "del x, y[1], z.w",
    "del (x, y)",
    "assert x, 'message'",
    "assert (x, y)",
    "raise",
    "raise A from b",
    "global x, y",
    "import a.b as c, d",
    "from . import a",
    "from ..a.b import c as d, e",
    "from a import *",
    "return",
    "return x, *y",
    "return (x,)",
    "return (yield x)",
    "(x := 1)",
    "await x ** 2",
    "(await x)()",
    "await (await x)",
    "await f(x)[0].y",
    "-(await x)",
    "if x := y:\n    pass\nelif (a, b):\n    pass\nelse:\n    pass",
    "while x := f():\n    break\nelse:\n    continue",
    "for i, x in enumerate(y):\n    pass\nelse:\n    pass",
    "for x in (1, 2):\n    pass",
    "for (x,) in y:\n    pass",
    "for x[0], *y.z in (*a, b):\n    pass",
    "with a as b, c as (d, e):\n    pass",
    "with ((a, b)):\n    pass",
    "with (a, b) as c:\n    pass",
    "with (a, b), c:\n    pass",
    "with (yield):\n    pass",
    "with (a := b):\n    pass",
    "with (a if b else c) as d:\n    pass",
    "async def f():\n    async for x in y:\n        pass\n    async with a as b:\n        pass",
    "async def f():\n    return [x async for x in y if await x]",
    "try:\n    pass\nexcept A as e:\n    pass\nexcept (B, C):\n    pass\nexcept:\n    pass\n"
    "else:\n    pass\nfinally:\n    pass",
    "try:\n    pass\nfinally:\n    pass",
    "try:\n    pass\nexcept* A as e:\n    pass\nexcept* (B, C):\n    pass",
    "match x:\n    case [1, -2.5, *rest] if rest:\n        pass\n    case {'a': 1, **kw}:\n"
    "        pass\n    case A(b, c=None) | ('x' as y):\n        pass\n    case _:\n        pass",
    "match x, y:\n    case a.b:\n        pass",
    "def f(a, /, b: int, c=1, *args: int, d, e: int = 2, **kw: int) -> int:\n    pass",
    "def f(*, a):\n    pass",
    "def f(a=1, /):\n    pass",
    "def f(**kw):\n    pass",
    "def f(*args: *Ts):\n    pass",
    "@a\n@b.c(d)\n@(yield)\nclass A(B, *C, metaclass=D, **E):\n    pass",
    "@a\nasync def f():\n    pass",
    "class A:\n    pass",
    "match = 1\ntype = match\nmatch[type](case)",
]
STATEMENTS_REWRITTEN = {
    "match x, y:\n": "match (x, y):\n",
    "with (a if b else c)": "with a if b else c",
    "-(await x)": "-await x",
}


@pytest.mark.parametrize("text", STATEMENTS)
def test_prints_a_statement_as_a_person_would(text):
    expected = text
    for old, new in STATEMENTS_REWRITTEN.items():
        expected = expected.replace(old, new)
    tree = gast.parse(text)
    assert to_source(tree) == expected + "\n"
    assert checked_source(tree) == to_source(ast.parse(text))


@pytest.mark.parametrize("width", [1, 12, 20])
@pytest.mark.parametrize("text", [*EXPRESSIONS.strip().split("\n"), *STATEMENTS])
def test_every_construct_can_be_broken(monkeypatch, text, width):
    tree = gast.parse(text)
    monkeypatch.setattr(layout, "WIDTH", width)
    assert ast.dump(ast.parse(checked_source(tree))) == ast.dump(ast.parse(text))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
@pytest.mark.parametrize(
    "text",
    [
        "type A = int",
        "type A[T: (int, str), *Ts, **P] = f[T, *Ts, P]",
        "def f[T: int](x: T) -> T:\n    pass",
        "class A[T](B):\n    pass",
        "async def f[**P](*args: P.args):\n    pass",
    ],
)
def test_type_parameters(monkeypatch, text):
    assert checked_source(gast.parse(text)) == text + "\n"
    assert checked_source(ast.parse(text)) == text + "\n"
    monkeypatch.setattr(layout, "WIDTH", 1)
    assert ast.dump(ast.parse(checked_source(gast.parse(text)))) == ast.dump(ast.parse(text))


@pytest.mark.skipif(sys.version_info < (3, 13), reason="syntax of Python 3.13")
def test_defaults_of_type_parameters():
    text = "type A[T: int = bool, *Ts = *tuple[int], **P = [int]] = f[T]\n"
    assert checked_source(gast.parse(text)) == text


# Constants


@pytest.mark.parametrize(
    "value, text",
    [
        (-3, "-3"),
        (-0.0, "-0.0"),
        (math.inf, "1e309"),
        (-math.inf, "-1e309"),
        (math.nan, "float('nan')"),
        (2j, "2j"),
        (-2j, "-2j"),
        (complex(0.0, -2.0), "complex(0.0, -2.0)"),
        (complex(-0.0, 2.0), "complex(-0.0, 2.0)"),
        (1 + 2j, "1 + 2j"),
        (1.5 - 2j, "1.5 - 2j"),
        (complex(-1.0, 0.0), "-1 + 0j"),
        (complex(1.0, -0.0), "complex(1.0, -0.0)"),
        (complex(math.inf, -math.inf), "1e309 - 1e309j"),
        (complex(math.nan, 1.0), "complex(float('nan'), 1.0)"),
        ((1, -2, (math.nan,), ()), "(1, -2, (float('nan'),), ())"),
        (10**5000, hex(10**5000)),
        (-(10**5000), hex(-(10**5000))),
        (True, "True"),
        (..., "..."),
        (b"'\"", repr(b"'\"")),
    ],
    ids=lambda value: None if isinstance(value, str) else type(value).__name__,
)
def test_constants(value, text):
    assert checked_source(constant(value)) == text + "\n"
    assert repr(eval(text)) == repr(value) if abs_below(value) else eval(text) == value


def abs_below(value):
    return not isinstance(value, int) or abs(value) < 10**100


@pytest.mark.parametrize(
    "value, text",
    [
        (-3, "(-3) ** 2"),
        (-0.5, "(-0.5) ** 2"),
        (-math.inf, "(-1e309) ** 2"),
        (-2j, "(-2j) ** 2"),
        (1 + 2j, "(1 + 2j) ** 2"),
        (3, "3 ** 2"),
        (math.nan, "float('nan') ** 2"),
    ],
)
def test_folded_constants_under_a_power(value, text):
    tree = gast.BinOp(constant(value), gast.Pow(), constant(2))
    assert checked_source(tree) == text + "\n"


def test_folded_constants_elsewhere():
    minus = gast.UnaryOp(gast.USub(), constant(-3))
    assert checked_source(minus) == "-(-3)\n"
    assert checked_source(gast.Attribute(constant(-3), "real", gast.Load())) == "(-3).real\n"
    difference = gast.BinOp(name("x"), gast.Sub(), constant(1 - 2j))
    assert checked_source(difference) == "x - (1 - 2j)\n"
    power = gast.BinOp(constant(-3), gast.Pow(), constant(2))
    parts = [constant("a"), constant("b"), gast.FormattedValue(power, -1, None)]
    assert checked_source(gast.JoinedStr(parts)) == "f'ab{(-3) ** 2}'\n"


@pytest.mark.parametrize("value", [frozenset(), [1], types.SimpleNamespace(), bool])
def test_what_is_no_constant_is_refused(value):
    with pytest.raises(ValueError, match="cannot print a constant"):
        to_source(constant(value))


def test_a_subclass_of_float_is_refused():
    class Length(float):
        pass

    with pytest.raises(ValueError, match="Length"):
        to_source(constant(Length(1.0)))


def test_unknown_nodes_are_refused():
    class Strange(ast.expr):
        pass

    with pytest.raises(ValueError, match="Strange"):
        to_source(module(gast.Expr(Strange())))


# Docstrings


@pytest.mark.parametrize(
    "doc, text",
    [
        ("Plain.", '"""Plain."""'),
        ("", '""""""'),
        ("Two\n\n    lines.\n    ", '"""Two\n\n    lines.\n    """'),
        ("Über ∂\tx", '"""Über ∂\tx"""'),
        (r"\alpha", 'r"""\\alpha"""'),
        ('say """x"""', r'"""say \"\"\"x\"\"\""""'),
        ('four """" quotes', r'"""four \"\"\"\" quotes"""'),
        ('ends with "', r'"""ends with \""""'),
        ('ends with ""', r'"""ends with "\""""'),
        ('"begins', '""""begins"""'),
        ("ends with \\", r'"""ends with \\"""'),
        ('\\" and """', r'"""\\" and \"\"\""""'),
        ("null \0 return \r line \u2028 \\", r'"""null \x00 return \r line \u2028 \\"""'),
        ("lone \ud800", r'"""lone \ud800"""'),
        ("\ufeffmark", r'"""\ufeffmark"""'),
    ],
)
def test_docstrings(doc, text):
    function = statement("def f():\n    pass")
    function.body.insert(0, gast.Expr(constant(doc)))
    assert checked_source(module(function)) == f"def f():\n    {text}\n    pass\n"
    assert ast.get_docstring(ast.parse(to_source(function)).body[0], clean=False) == doc


@given(st.text(st.sampled_from("\"\\'\n\r\t\0 axuN{}é\u2028\ud800"), max_size=12))
def test_any_docstring(doc):
    function = statement("def f():\n    pass")
    function.body.insert(0, gast.Expr(constant(doc)))
    text = checked_source(module(function))
    assert ast.get_docstring(ast.parse(text).body[0], clean=False) == doc


# Names

HOSTILE = [
    "",
    "a b",
    "a\n",
    "x; import os",
    "class",
    "None",
    "1a",
    "a.b",
    "ﬁ",
    "a#",
    "\ud800",
    None,
]


@pytest.mark.parametrize("bad", HOSTILE)
def test_hostile_names_are_refused(bad):
    load = gast.Load()
    function = statement("def f(x):\n    pass")
    places = [
        name(bad),
        gast.Attribute(name("x"), bad, load),
        gast.Call(name("f"), [], [gast.keyword(bad or "", name("x"))]),
        gast.Global([bad]),
        gast.Nonlocal([bad]),
        gast.Import([gast.alias("a", bad or " ")]),
        gast.ImportFrom("a", [gast.alias(bad or "", None)], 0),
        gast.ImportFrom(bad or "a b", [gast.alias("b", None)], 0),
        gast.FunctionDef(bad, function.args, function.body, [], None, None, []),
        gast.ClassDef(bad, [], [], function.body, [], []),
        gast.JoinedStr([gast.FormattedValue(name(bad or ""), -1, None)]),
        gast.Match(name("x"), [gast.match_case(gast.MatchStar(bad or ""), None, [gast.Pass()])]),
        gast.Try([gast.Pass()], [gast.ExceptHandler(None, name(bad or ""), [gast.Pass()])], [], []),
        gast.arguments([name(bad)], [], None, [], [], None, []),
    ]
    for place in places:
        if bad == "a.b" and type(place).__name__ == "ImportFrom":
            continue
        with pytest.raises(ValueError, match="not a name"):
            to_source(place)


def test_dotted_imports():
    assert checked_source(statement("import a.b.c")) == "import a.b.c\n"
    for bad in ("a..b", ".a", "a.", "a.if", "a.b c", "*"):
        with pytest.raises(ValueError):
            to_source(gast.Import([gast.alias(bad, None)]))


# Comments and blank lines


def test_comments():
    function = statement("def f(x):\n    y = x\n    return y")
    first, last = function.body
    first.trailing_comment = "why\nnot"
    function.body = [Comment("return x\n\n  indented"), first, BlankLine(), Comment("end"), last]
    function.trailing_comment = "head"
    assert checked_source(module(Comment("top"), function, Comment("after"))) == (
        "# top\n"
        "def f(x):  # head\n"
        "    # return x\n"
        "    #\n"
        "    #   indented\n"
        "    y = x  # why not\n"
        "\n"
        "    # end\n"
        "    return y\n"
        "\n"
        "\n"
        "# after\n"
    )


def test_comments_never_become_code():
    hostile = "a\rimport os\r\nimport sys\0\x0c\u2028import re\ud800\\"
    tree = module(Comment(hostile), Comment("-*- coding: latin-1 -*-"), statement("x = 1"))
    tree.body[-1].trailing_comment = hostile
    text = checked_source(tree)
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse("x = 1"))
    assert all(line.startswith("#") for line in text.splitlines()[:-1])
    text = checked_source(module(Comment("vim: set fileencoding=latin-1 :"), statement("x = 'é'")))
    assert ast.dump(ast.parse(text.encode())) == ast.dump(ast.parse("x = 'é'"))


def test_a_block_of_comments_is_passed():
    tree = gast.parse("if x:\n    pass\nelse:\n    pass\nfor x in y:\n    pass")
    tree.body[0].body = [Comment("nothing")]
    tree.body[0].orelse = [Comment("nor here")]
    tree.body[1].body = []
    assert checked_source(tree) == (
        "if x:\n    # nothing\n    pass\nelse:\n    # nor here\n    pass\nfor x in y:\n    pass\n"
    )
    assert checked_source(module(Comment("alone"))) == "# alone\n"
    assert checked_source(module()) == "\n"
    assert checked_source(Comment("alone")) == "# alone\n"


def test_trailing_comments_of_compound_statements():
    tree = gast.parse(
        "@a\ndef f():\n    if x:\n        pass\n    elif y:\n        pass\n"
        "    try:\n        pass\n    except A:\n        pass\n"
    )
    function = tree.body[0]
    function.trailing_comment = "f"
    branch, attempt = function.body
    branch.trailing_comment, branch.orelse[0].trailing_comment = "if", "elif"
    attempt.trailing_comment, attempt.handlers[0].trailing_comment = "try", "except"
    assert checked_source(tree) == (
        "@a\ndef f():  # f\n    if x:  # if\n        pass\n    elif y:  # elif\n        pass\n"
        "    try:  # try\n        pass\n    except A:  # except\n        pass\n"
    )


def test_a_trailing_comment_stays_out_of_strings():
    function = statement('def f():\n    """Two\n    lines."""')
    function.body[0].trailing_comment = "c"
    assert checked_source(function) == 'def f():\n    """Two\n    lines."""  # c\n'
    call = statement(f"f({'a' * 50}, {'b' * 50})")
    call.trailing_comment = "c"
    assert checked_source(call).startswith("f(  # c\n    aaa")


def test_comments_can_be_copied_and_pickled():
    tree = [Comment("a"), BlankLine()]
    for other in (copy.deepcopy(tree), pickle.loads(pickle.dumps(tree))):
        assert to_source(module(*other, statement("x"))) == "# a\n\nx\n"
    assert [type(node) for node in ast.walk(module(*tree))][1:] == [Comment, BlankLine]


def test_blank_lines_are_those_a_person_writes():
    text = (
        '"""Module."""\n'
        "\n"
        "import a\n"
        "from b import c\n"
        "\n"
        "x = 1\n"
        "\n"
        "\n"
        "def f():\n"
        '    """Doc."""\n'
        "\n"
        "    def inner():\n"
        "        pass\n"
        "\n"
        "    return inner\n"
        "\n"
        "\n"
        "@d\n"
        "class A:\n"
        '    """Doc."""\n'
        "\n"
        "    a = 1\n"
        "\n"
        "    def m(self):\n"
        "        pass\n"
        "\n"
        "    async def n(self):\n"
        "        pass\n"
        "\n"
        "\n"
        "class B:\n"
        "    def m(self):\n"
        "        pass\n"
        "\n"
        "\n"
        "y = 1\n"
    )
    assert checked_source(gast.parse(text)) == text
    definition = statement("def f():\n    pass")
    tree = module(
        BlankLine(), statement("x"), BlankLine(), Comment("of f"), definition, BlankLine()
    )
    assert checked_source(tree) == "x\n\n\n# of f\ndef f():\n    pass\n"


# Long lines

A, B, C, D = "a" * 30, "b" * 30, "c" * 30, "d" * 21


@pytest.mark.parametrize(
    "text, expected",
    [
        (f"f({A}, {B}, k={C[:19]})", None),
        (f"long.call({A}, {B}, k={C[:17]})", f"long.call(\n    {A}, {B}, k={C[:17]}\n)"),
        (f"f({A}, {B}, k={C})", f"f(\n    {A},\n    {B},\n    k={C},\n)"),
        (f"long({A}.g({B}), {C[:14]})[0]", f"long(\n    {A}.g({B}), {C[:14]}\n)[0]"),
        (
            f"d_x = {A} * ({B} - y) / z - {C} / 2",
            f"d_x = (\n    {A} * ({B} - y) / z\n    - {C} / 2\n)",
        ),
        (f"return {A} + {B} - {C}", f"return (\n    {A}\n    + {B}\n    - {C}\n)"),
        (f"x += {A} @ {B} @ {C[:18]}", f"x += (\n    {A} @ {B} @ {C[:18]}\n)"),
        (f"x = {A}, {B}, {C}", f"x = (\n    {A},\n    {B},\n    {C},\n)"),
        (f"x, y = {A}, {B + C}", f"x, y = (\n    {A},\n    {B + C},\n)"),
        (f"return {A}, {B}, {C[:20]}", f"return (\n    {A}, {B}, {C[:20]}\n)"),
        (f"x = [{A}, {B}, {C}]", f"x = [\n    {A},\n    {B},\n    {C},\n]"),
        (f"x[{A}, {B}, {C}] = y", f"x[\n    {A},\n    {B},\n    {C},\n] = y"),
        (f"{A}[{B}:{C}] = y", f"{A}[\n    {B}:{C}\n] = y"),
        (
            f"x = {{'a': {A}, 'b': {B}, 'c': {C}}}",
            f"x = {{\n    'a': {A},\n    'b': {B},\n    'c': {C},\n}}",
        ),
        (f"x = [{A} for {B}, y in {C}]", f"x = [\n    {A}\n    for {B}, y in {C}\n]"),
        (f"f({A}({B}, z) for x in {C})", f"f(\n    {A}({B}, z)\n    for x in {C}\n)"),
        (f"x = {A} if {B} else {C}", f"x = (\n    {A}\n    if {B}\n    else {C}\n)"),
        (
            f"while {A} < {B} and {C[:16]}:\n    pass",
            f"while (\n    {A} < {B} and {C[:16]}\n):\n    pass",
        ),
        (
            f"def f({A}, {B}, *, {C}) -> x[y, z]:\n    pass",
            f"def f(\n    {A},\n    {B},\n    *,\n    {C},\n) -> x[y, z]:\n    pass",
        ),
        (f"def f({A}, {B}, x=1, /) -> y:\n    pass", None),
        (f"from {A} import {B}, {C}", f"from {A} import (\n    {B}, {C}\n)"),
        (f"assert {A} == {B}, f({C})", f"assert (\n    {A} == {B}\n), f({C})"),
        (f"{A} = f({B}, {C})(x)", f"{A} = f(\n    {B}, {C}\n)(x)"),
        (f"{A}{B} = '{C}'", f"{A}{B} = (\n    '{C}'\n)"),
        (f"x = lambda {A}, {B}: f({C}, y)", f"x = lambda {A}, {B}: f(\n    {C}, y\n)"),
        (
            f"with {A} as a, {B} as b, {C} as c:\n    pass",
            f"with (\n    {A} as a,\n    {B} as b,\n    {C} as c,\n):\n    pass",
        ),
        (f"{A + B + C}.{A}", None),
        (f"import {A}, {B}, {C}", None),
    ],
)
def test_long_lines_are_broken_inside_brackets(text, expected):
    indented = text.startswith("return")
    tree = gast.parse(text)
    assert checked_source(tree) == (expected or text) + "\n"
    if not indented and expected:
        assert all(len(line) <= 88 for line in expected.split("\n"))


def test_lines_are_measured_with_their_indentation():
    text = f"if x:\n    {D}({A}, {B})\n"
    assert checked_source(gast.parse(text)) == (f"if x:\n    {D}(\n        {A}, {B}\n    )\n")


def test_a_very_long_sum_is_no_deep_recursion():
    tree = name("y")
    for _ in range(900):
        tree = gast.BinOp(tree, gast.Add(), name("y"))
    text = checked_source(gast.Assign([name("x")], tree, None))
    assert text == "x = (\n    y\n" + "    + y\n" * 900 + ")\n"


# The check


@pytest.mark.parametrize(
    "meant, printed",
    [
        ("x + y", "y + x"),
        ("x + 1", "x + 1.0"),
        ("x - y", "x + y"),
        ("x[1:2]", "x[1:3]"),
        ("f(x)", "f(x, y)"),
        ("def f(x):\n    pass", "def f(y):\n    pass"),
        ("def f(x: a):\n    pass", "def f(x):\n    pass"),
        ("try:\n    pass\nexcept A as e:\n    pass", "try:\n    pass\nexcept A as f:\n    pass"),
        ("x = 1\ny = 2", "x = 1"),
        ("global x", "global y"),
        ("f'a{x}'", "f'b{x}'"),
        ("f'a{x}'", "f'a{x!r}'"),
        ("-x", "+x"),
        ("0.0", "-0.0"),
        ("True", "1"),
        ("x = 1", "x = = 1"),
        ("if x:\n    y\nelse:\n    pass", "if x:\n    y"),
    ],
)
def test_checked_source_notices_every_difference(monkeypatch, meant, printed):
    monkeypatch.setattr(verification, "to_source", lambda tree: printed)
    with pytest.raises(InternalError):
        checked_source(gast.parse(meant))


def test_checked_source_refuses_trees_that_no_text_means():
    with pytest.raises(InternalError):
        checked_source(module(gast.Assign([constant(1)], name("x"), None)))
    with pytest.raises(InternalError):
        checked_source(gast.Set([]))
    with pytest.raises(InternalError):
        checked_source(gast.BoolOp(gast.And(), [name("x")]))


def test_the_contexts_of_names_are_no_part_of_the_text():
    assert checked_source(gast.Assign([name("x")], name("y"), None)) == "x = y\n"


# Random expressions

LOAD = gast.Load()
numbers = st.one_of(
    st.integers(-5, 5),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.complex_numbers(),
    st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf, 2j, -2j, complex(1, -0.0)]),
)
constants = st.one_of(
    numbers, st.text(max_size=3), st.binary(max_size=3), st.sampled_from([None, True, False, ...])
).map(constant)
names = st.sampled_from("xyz").map(name)
BINARY = [gast.Add, gast.Sub, gast.Mult, gast.MatMult, gast.Div, gast.Mod, gast.LShift]
BINARY += [gast.RShift, gast.BitOr, gast.BitXor, gast.BitAnd, gast.FloorDiv, gast.Pow]
UNARY = [gast.Invert, gast.Not, gast.UAdd, gast.USub]
COMPARE = [gast.Eq, gast.NotEq, gast.Lt, gast.LtE, gast.Gt, gast.GtE, gast.Is, gast.IsNot]
COMPARE += [gast.In, gast.NotIn]


def operators(kinds):
    return st.sampled_from(kinds).map(lambda kind: kind())


def comparison(left, rest):
    return gast.Compare(left, [operator for operator, _ in rest], [right for _, right in rest])


def parameters(defaults, starred, keyword_default):
    vararg = name("v") if starred else None
    args = [name(identifier) for identifier in "ab"]
    return gast.arguments(
        args,
        [name("p")],
        name("v") if vararg else None,
        [name("k")],
        [keyword_default],
        None,
        defaults,
    )


def compound(inner):
    some = st.lists(inner, max_size=3)
    maybe = st.none() | inner
    starred = inner.map(lambda value: gast.Starred(value, LOAD))
    elements = st.lists(inner | starred, max_size=3)
    slices = st.builds(gast.Slice, maybe, maybe, maybe)
    indices = st.one_of(
        inner,
        slices,
        st.lists(inner | slices | starred, max_size=3).map(lambda elts: gast.Tuple(elts, LOAD)),
    )
    targets = names | st.lists(names, max_size=3).map(lambda elts: gast.Tuple(elts, gast.Store()))
    generators = st.lists(
        st.builds(gast.comprehension, targets, inner, some, st.sampled_from([0, 1])),
        min_size=1,
        max_size=2,
    )
    keywords = st.lists(st.builds(gast.keyword, st.sampled_from(["k", None]), inner), max_size=2)
    return st.one_of(
        st.builds(gast.BinOp, inner, operators(BINARY), inner),
        st.builds(gast.UnaryOp, operators(UNARY), inner),
        st.builds(
            gast.BoolOp, operators([gast.And, gast.Or]), st.lists(inner, min_size=2, max_size=3)
        ),
        st.builds(
            comparison,
            inner,
            st.lists(st.tuples(operators(COMPARE), inner), min_size=1, max_size=2),
        ),
        st.builds(gast.IfExp, inner, inner, inner),
        st.builds(gast.Subscript, inner, indices, st.just(LOAD)),
        st.builds(gast.Attribute, inner, st.just("attr"), st.just(LOAD)),
        st.builds(gast.Call, inner, elements, keywords),
        elements.map(lambda elts: gast.Tuple(elts, LOAD)),
        elements.map(lambda elts: gast.List(elts, LOAD)),
        st.lists(inner | starred, min_size=1, max_size=3).map(gast.Set),
        st.lists(st.tuples(maybe, inner), max_size=3).map(
            lambda items: gast.Dict([key for key, _ in items], [value for _, value in items])
        ),
        st.builds(
            gast.Lambda,
            st.builds(parameters, st.lists(inner, max_size=3), st.booleans(), maybe),
            inner,
        ),
        st.builds(gast.NamedExpr, names, inner),
        st.builds(gast.ListComp, inner, generators),
        st.builds(gast.SetComp, inner, generators),
        st.builds(gast.GeneratorExp, inner, generators),
        st.builds(gast.DictComp, inner, inner, generators),
        st.builds(gast.Await, inner),
        st.builds(gast.Yield, maybe),
        st.builds(gast.YieldFrom, inner),
    )


expressions = st.recursive(constants | names, compound, max_leaves=12)


class Parsed(ast.NodeTransformer):
    """What parsing gives for constants that are no literals."""

    def visit_Constant(self, node):
        if type(node.value) in (int, float, complex):
            return ast.parse(to_source(ast.Constant(node.value)), mode="eval").body
        return node


def shown(tree):
    for node in ast.walk(tree):
        if hasattr(node, "ctx"):
            node.ctx = ast.Load()
    return ast.dump(tree)


PLACES = [
    lambda e: gast.Expr(e),
    lambda e: gast.Return(e),
    lambda e: gast.Assign([name("x")], e, None),
    lambda e: gast.Assign([gast.Tuple([name("x"), name("y")], LOAD)], e, None),
    lambda e: gast.AugAssign(name("x"), gast.Add(), e),
    lambda e: gast.AnnAssign(name("x"), e, e, 1),
    lambda e: gast.If(e, [gast.Pass()], []),
    lambda e: gast.While(e, [gast.Pass()], []),
    lambda e: gast.For(name("x"), e, [gast.Pass()], [], None),
    lambda e: gast.Assert(e, e),
    lambda e: gast.Raise(e, e),
    lambda e: gast.With([gast.withitem(e, None)], [gast.Pass()], None),
    lambda e: gast.With([gast.withitem(e, name("x"))] * 2, [gast.Pass()], None),
    lambda e: gast.ClassDef("A", [e], [gast.keyword("k", e)], [gast.Pass()], [e], []),
    lambda e: gast.Match(e, [gast.match_case(gast.MatchAs(None, None), e, [gast.Pass()])]),
    lambda e: gast.FunctionDef(
        "f", parameters([e], True, e), [gast.Expr(gast.Yield(e))], [e], e, None, []
    ),
]


@settings(max_examples=400, deadline=None)
@given(expressions, st.sampled_from(PLACES), st.sampled_from([1, 20, 40, 88]))
def test_random_expressions_round_trip(tree, place, width):
    tree = module(place(tree))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "WIDTH", width)
        text = checked_source(tree)
    expected = Parsed().visit(gast.gast_to_ast(tree))
    assert shown(expected) == shown(ast.parse(text)), text


@settings(max_examples=300, deadline=None)
@given(numbers)
def test_random_numbers_keep_every_bit(value):
    found = eval(to_source(constant(value)))
    assert type(found) is type(value) and repr(found) == repr(value)
