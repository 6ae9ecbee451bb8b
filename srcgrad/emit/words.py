"""The words of a line: names, constants, comments, and what `ast.unparse` prints better."""

import ast
import copy
import keyword
import math
import re
import unicodedata
from functools import lru_cache
from typing import Any

import gast

from .levels import ATOM, FACTOR, SUM


@lru_cache(maxsize=4096)
def is_identifier(name: str) -> bool:
    """Whether a name can be printed: Python would read one not in normal form as another one."""
    return (
        isinstance(name, str)
        and name.isidentifier()
        and not keyword.iskeyword(name)
        and unicodedata.normalize("NFKC", name) == name
    )


def identifier(name: str) -> str:
    if not is_identifier(name):
        raise ValueError(f"not a name that can be printed: {name!r}")
    return name


def dotted(name: str) -> str:
    for part in name.split("."):
        identifier(part)
    return name


NUMBERS = frozenset({int, float, complex})


def constant(value: Any) -> tuple[str, int]:
    """The text of a constant, and how strongly it binds."""
    kind = type(value)
    if kind is int:
        text = repr(value) if value.bit_length() < 1000 else hex(value)  # repr has a limit
    elif kind is float:
        if math.isnan(value):
            return "float('nan')", ATOM
        text = repr(value).replace("inf", "1e309")
    elif kind is complex:
        return _complex(value.real, value.imag)
    elif kind is str or kind is bytes or kind is bool or value is None:
        return repr(value), ATOM
    elif value is ...:
        return "...", ATOM
    elif kind is tuple:
        texts = [constant(element)[0] for element in value]
        return f"({', '.join(texts)}{',' * (len(texts) == 1)})", ATOM
    else:
        raise ValueError(f"cannot print a constant of type {kind.__name__}: {value!r}")
    return text, FACTOR if text[0] == "-" else ATOM


def _complex(real: float, imag: float) -> tuple[str, int]:
    """A literal if arithmetic on its parts gives the very number, signs of zeros included."""
    negative = math.copysign(1.0, imag) < 0
    if not (math.isnan(real) or math.isnan(imag)):
        part = repr(abs(imag)).replace("inf", "1e309").removesuffix(".0") + "j"
        if real == 0 and (math.copysign(1.0, real) < 0) == negative:
            return ("-" + part, FACTOR) if negative else (part, ATOM)
        if real != 0 and (imag != 0 or not negative):
            left = repr(real).replace("inf", "1e309").removesuffix(".0")
            return f"{left} {'-' if negative else '+'} {part}", SUM
    return f"complex({constant(real)[0]}, {constant(imag)[0]})", ATOM


def _escape(text: str) -> str:
    """Escape what cannot be seen, or cannot stand in a file."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape").decode()
        for char in text
    )


def docstring(text: str) -> str:
    if "\\" in text and '"""' not in text and text[-1] not in '"\\' and _escape(text) == text:
        return f'r"""{text}"""'
    text = _escape(text.replace("\\", "\\\\"))
    text = re.sub('"{3,}|"$', lambda run: '\\"' * len(run.group()), text)
    return f'"""{text}"""'


def comment_lines(text: str) -> list[str]:
    return [_escape(line).rstrip() for line in re.split("\r\n|\r|\n", text)]


def delegated(node: Any) -> str:
    """What `ast.unparse` prints, of an f-string or a pattern."""
    for inner in ast.walk(node):
        for field in ("id", "attr", "arg", "name", "rest"):
            name = getattr(inner, field, None)
            if isinstance(name, str):
                identifier(name)
        for name in getattr(inner, "kwd_attrs", ()):
            identifier(name)
    is_gast = type(node).__module__ == "gast.gast"
    isolated = gast.gast_to_ast(node) if is_gast else copy.deepcopy(node)
    return ast.unparse(_Literals().visit(isolated))


class _Literals(ast.NodeTransformer):
    """Writes -3 as an operation, which ast.unparse would print as `-3 ** 2` when squared."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if type(node.value) in NUMBERS:
            return ast.parse(constant(node.value)[0], mode="eval").body
        return node
