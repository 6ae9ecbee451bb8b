"""The exceptions, and how a place in the user's source is shown."""

from __future__ import annotations

import linecache
import os
import unicodedata
from dataclasses import dataclass

__all__ = [
    "InternalError",
    "SourceError",
    "Span",
    "SrcgradError",
    "UnsupportedError",
    "format_location",
]


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the user's source, and the function it is in.

    Lines count from 1. Columns count from 0, in bytes of UTF-8, as those of `ast` do.

    >>> span = Span("model.py", 4, 8, 4, 13, "loss")
    >>> span.line, span.column
    (4, 8)
    """

    filename: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str

    @property
    def place(self) -> str:
        """The file, without its folders, and the line.

        >>> Span("models/loss.py", 4, 8, 4, 13, "loss").place
        'loss.py:4'
        """
        return f"{os.path.basename(self.filename)}:{self.line}"

    def text(self) -> str:
        """Return the line this starts on, as it stands in the file; "" if it can't be read.

        >>> Span("no such file.py", 1, 0, 1, 5, "f").text()
        ''
        """
        return linecache.getline(self.filename, self.line).rstrip("\r\n")


def format_location(span: Span) -> str:
    r"""Show where a span is, like Python shows a SyntaxError: file, line, source, caret.

    >>> import linecache
    >>> linecache.cache["model.py"] = (11, None, ["    y = goto(x)\n"], "model.py")
    >>> print(format_location(Span("model.py", 1, 8, 1, 12, "loss")))
      File "model.py", line 1, in loss
        y = goto(x)
            ^^^^
    """
    return _format(span, span.text())


def _format(span: Span, line: str) -> str:
    head = f'  File "{span.filename}", line {span.line}'
    if span.function:
        head += f", in {span.function}"
    code = line.strip()
    if not code:
        return head
    encoded = line.encode("utf-8", "surrogatepass")
    indent = len(line) - len(line.lstrip())
    last = indent + len(code)
    start = min(max(_characters(encoded, span.column), indent), last)
    end = _characters(encoded, span.end_column) if span.end_line == span.line else last
    end = min(max(end, start), last)
    # Where a tab ends depends on where the line starts: shown as one space, the caret is right
    # in every terminal.
    code = "".join(" " if c.isspace() and c.isascii() else c for c in code)
    before = _width(code[: start - indent])
    carets = max(_width(code[start - indent : end - indent]), 1)
    return f"{head}\n    {code}\n    {' ' * before}{'^' * carets}"


def _characters(encoded: bytes, column: int) -> int:
    return len(encoded[:column].decode("utf-8", "replace"))


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    width = 0
    for c in text:
        if unicodedata.category(c) not in ("Mn", "Me", "Cf"):
            width += 2 if unicodedata.east_asian_width(c) in "WF" else 1
    return width


class SrcgradError(Exception):
    """Any error that srcgrad raises: what is wrong, where, and what to do instead.

    The source line is read when the error is made, so that it can be shown in another process
    and after the file has changed.

    >>> str(SrcgradError("no good", advice="do better"))
    'no good\\ndo better'
    """

    message: str
    span: Span | None
    advice: str | None
    text: str | None

    def __init__(self, message: str, span: Span | None = None, advice: str | None = None) -> None:
        super().__init__(message, span, advice)
        self.message = message
        self.span = span
        self.advice = advice
        self.text = None if span is None else span.text()

    @property
    def filename(self) -> str | None:
        """The file of the user's code that this is about.

        >>> SrcgradError("no good", Span("model.py", 4, 8, 4, 13, "loss")).filename
        'model.py'
        """
        return None if self.span is None else self.span.filename

    @property
    def lineno(self) -> int | None:
        """The line of the user's code that this is about.

        >>> SrcgradError("no good", Span("model.py", 4, 8, 4, 13, "loss")).lineno
        4
        """
        return None if self.span is None else self.span.line

    def __str__(self) -> str:
        parts = [self.message]
        if self.span is not None:
            parts.insert(0, _format(self.span, self.text or ""))
        if self.advice:
            parts.append(self.advice)
        return "\n".join(parts)


class UnsupportedError(SrcgradError):
    r"""The function holds something that cannot be differentiated; raised when compiling.

    >>> import linecache
    >>> linecache.cache["model.py"] = (19, None, ["    return eval(x)\n"], "model.py")
    >>> span = Span("model.py", 1, 11, 1, 18, "loss")
    >>> print(UnsupportedError("eval cannot be differentiated", span, "Write the expression out."))
      File "model.py", line 1, in loss
        return eval(x)
               ^^^^^^^
    eval cannot be differentiated
    Write the expression out.
    """


class Boxed(UnsupportedError):
    """What an array of objects holds matters: such arrays are to be followed object by object."""


class SourceError(SrcgradError):
    """The source text of a function cannot be found, or is not what the function was made from.

    >>> print(SourceError("cannot find the source of sin", advice="Give a Python function."))
    cannot find the source of sin
    Give a Python function.
    """


class InternalError(SrcgradError):
    """Something that should not happen: a bug in srcgrad, not in the user's code.

    >>> print(InternalError("variable x is not defined"))
    variable x is not defined
    This is a bug in srcgrad. Please report it, with the function that was differentiated.
    """

    def __init__(
        self,
        message: str,
        span: Span | None = None,
        advice: str | None = (
            "This is a bug in srcgrad. Please report it, with the function that was differentiated."
        ),
    ) -> None:
        super().__init__(message, span, advice)


class Unbatchable(SrcgradError):
    """A program can't be made to work on batches: it is run for one input after the other."""


def user_error(kind: type[Exception], message: str) -> Exception:
    """An error in what the user passed, which isn't to be reported as a bug of srcgrad."""
    error = kind(message)
    error.__srcgrad__ = True  # type: ignore[attr-defined]
    return error


def is_ours(error: BaseException) -> bool:
    """Whether an error says what is wrong with what the user wrote or passed.

    >>> is_ours(user_error(TypeError, "no number")), is_ours(InternalError("?"))
    (True, False)
    """
    return isinstance(error, (SourceError, UnsupportedError)) or hasattr(error, "__srcgrad__")
