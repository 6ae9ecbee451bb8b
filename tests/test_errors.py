import copy
import linecache
import pickle

import pytest

from srcgrad.errors import (
    InternalError,
    SourceError,
    Span,
    SrcgradError,
    UnsupportedError,
    format_location,
)


@pytest.fixture
def place():
    """A function that puts a line in a file and gives the span of a part of it."""
    names = []

    def make(line, part, line_number=1, function="loss", end=None):
        name = f"model{len(names)}.py"
        names.append(name)
        lines = ["\n"] * (line_number - 1) + [line + "\n", "more\n"]
        linecache.cache[name] = (1, None, lines, name)
        column = len(line[: line.index(part)].encode())
        end = end or (line_number, column + len(part.encode()))
        return Span(name, line_number, column, *end, function)

    yield make
    for name in names:
        del linecache.cache[name]


def test_location(place):
    span = place("    y = goto(x) + 1", "goto(x)", 4)
    assert format_location(span) == (
        '  File "model0.py", line 4, in loss\n    y = goto(x) + 1\n        ^^^^^^^'
    )
    assert span.text() == "    y = goto(x) + 1"


@pytest.mark.parametrize(
    ("line", "part", "code", "carets"),
    [
        ("größe = goto(ß)", "goto(ß)", "größe = goto(ß)", "        ^^^^^^^"),
        # East Asian characters are two columns wide, combining ones none.
        ("幅 = goto(高さ)", "goto(高さ)", "幅 = goto(高さ)", "     ^^^^^^^^^^"),
        ("n\u0303 = goto(x)", "goto(x)", "n\u0303 = goto(x)", "    ^^^^^^^"),
        ("s = '\N{SNAKE}'; goto(x)", "goto(x)", "s = '\N{SNAKE}'; goto(x)", "          ^^^^^^^"),
        ("\t\ty\t=\tgoto(x,\ty)", "goto(x,\ty)", "y = goto(x, y)", "    ^^^^^^^^^^"),
        ("\f  goto(x)  # why", "goto(x)", "goto(x)  # why", "^^^^^^^"),
    ],
)
def test_columns(place, line, part, code, carets):
    assert format_location(place(line, part)).split("\n")[1:] == [f"    {code}", f"    {carets}"]


def test_several_lines_are_marked_to_the_end_of_the_first(place):
    span = place("  y = goto(x,  ", "goto", end=(2, 3))
    assert format_location(span).split("\n")[1:] == ["    y = goto(x,", "        ^^^^^^^"]


def test_nothing_to_mark(place):
    span = place("  y = 1", "y")
    empty = Span(span.filename, 1, 4, 1, 4, "f")
    assert format_location(empty).split("\n")[1:] == ["    y = 1", "      ^"]
    beyond = Span(span.filename, 1, 90, 1, 95, "f")
    assert format_location(beyond).split("\n")[1:] == ["    y = 1", "         ^"]
    whole = Span(span.filename, 1, 0, 2, 0, "f")
    assert format_location(whole).split("\n")[1:] == ["    y = 1", "    ^^^^^"]


def test_no_text():
    span = Span("no such file.py", 7, 0, 7, 5, "")
    assert span.text() == ""
    assert format_location(span) == '  File "no such file.py", line 7'


def test_span():
    span = Span("m.py", 1, 2, 3, 4, "f")
    assert span == Span("m.py", 1, 2, 3, 4, "f")
    assert len({span, Span("m.py", 1, 2, 3, 4, "f")}) == 1
    assert pickle.loads(pickle.dumps(span)) == span
    assert not hasattr(span, "__dict__")
    with pytest.raises(AttributeError):
        span.line = 3


def test_unsupported(place):
    error = UnsupportedError("no goto", place("  goto(x)", "goto(x)", 3), "Use a loop.")
    text = '  File "model0.py", line 3, in loss\n    goto(x)\n    ^^^^^^^\nno goto\nUse a loop.'
    assert str(error) == text
    assert (error.message, error.advice) == ("no goto", "Use a loop.")
    assert (error.filename, error.lineno, error.text) == ("model0.py", 3, "  goto(x)")
    # In another process the file need not be there.
    linecache.cache["model0.py"] = (1, None, [], "model0.py")
    dumped = pickle.dumps(error)
    for again in (pickle.loads(dumped), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is UnsupportedError
        assert str(again) == text
        assert (again.span, again.text, again.lineno) == (error.span, "  goto(x)", 3)


def test_without_a_place():
    error = UnsupportedError("no goto")
    assert str(error) == "no goto"
    assert (error.span, error.advice, error.filename, error.lineno, error.text) == (None,) * 5
    assert str(SourceError("none", advice="Find it.")) == "none\nFind it."


def test_internal(place):
    report = (
        "This is a bug in srcgrad. Please report it, with the function that was differentiated."
    )
    with pytest.raises(InternalError) as caught:
        try:
            raise KeyError("x")
        except KeyError as error:
            raise InternalError("x is not defined", place("y = x", "x")) from error
    assert str(caught.value) == (
        f'  File "model0.py", line 1, in loss\n    y = x\n        ^\nx is not defined\n{report}'
    )
    assert isinstance(caught.value.__cause__, KeyError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert str(InternalError("bad")) == f"bad\n{report}"


@pytest.mark.parametrize("cls", [UnsupportedError, SourceError, InternalError])
def test_one_base(cls):
    assert issubclass(cls, SrcgradError) and issubclass(SrcgradError, Exception)
