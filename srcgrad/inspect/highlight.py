"""Colouring source: on a terminal, and as classes of HTML."""

from __future__ import annotations

import os
from typing import Any


def highlighted(source: str, stream: Any) -> str:
    """The source, coloured if the stream is a terminal and pygments is installed.

    Not if the environment variable NO_COLOR is set, as on https://no-color.org.

    >>> import io
    >>> highlighted("x = 1\\n", io.StringIO())
    'x = 1\\n'
    """
    if not coloured(stream):
        return source
    try:
        from pygments import highlight
        from pygments.formatters import TerminalFormatter
        from pygments.lexers import PythonLexer
    except ImportError:
        return source
    return str(highlight(source, PythonLexer(), TerminalFormatter()))


def coloured(stream: Any) -> bool:
    """Whether to write colours: on a terminal, unless NO_COLOR says no.

    >>> import io
    >>> coloured(io.StringIO())
    False
    """
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and bool(stream.isatty())


def tokens(source: str) -> list[list[tuple[str, str]]]:
    """The pieces of each line of some source with the class of each: "k" for keywords, "s" for
    strings, "m" for numbers, "f" for functions, "c" for comments, "i" for the numbers of
    variables, "" for the rest.

    Without pygments, each line is one piece.

    >>> "".join(text for _, text in tokens("x = 1")[0])
    'x = 1'
    """
    lines = source.split("\n")
    try:
        from pygments.lexers import PythonLexer
        from pygments.token import Token
    except ImportError:
        return [[("", line)] for line in lines]
    classes = {
        Token.Keyword: "k", Token.Operator.Word: "k", Token.Literal.String: "s",
        Token.Literal.Number: "m", Token.Name.Function: "f", Token.Comment: "c",
    }  # fmt: skip
    found: list[list[tuple[str, str]]] = [[]]
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    for token, text in lexer.get_tokens(source):
        kind = next((name for of, name in classes.items() if token in of), "")
        if kind == "m" and text[0] == "." and found[-1] and found[-1][-1][1][-1:].isidentifier():
            kind = "i"
        for n, piece in enumerate(text.split("\n")):
            if n:
                found.append([])
            if not piece:
                continue
            if found[-1] and found[-1][-1][0] == kind:
                piece = found[-1].pop()[1] + piece
            found[-1].append((kind, piece))
    return found
