"""Colouring generated source on a terminal."""

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
    if os.environ.get("NO_COLOR") or not stream.isatty() or os.environ.get("TERM") == "dumb":
        return source
    try:
        from pygments import highlight
        from pygments.formatters import TerminalFormatter
        from pygments.lexers import PythonLexer
    except ImportError:
        return source
    return str(highlight(source, PythonLexer(), TerminalFormatter()))
