"""What is printed is parsed again, and compared with the tree that was to be printed."""

import ast
from collections.abc import Sequence
from typing import Any

import gast

from ..errors import InternalError
from .printer import BlankLine, Comment, to_source


def checked_source(tree: ast.AST) -> str:
    """The source text of a tree, parsed again and found to mean the same.

    >>> print(checked_source(gast.parse("x=1 ;y=(x)")), end="")
    x = 1
    y = x

    Raises `srcgrad.errors.InternalError` where the text means something else.
    """
    text = to_source(tree)
    try:
        parsed = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InternalError(f"the printed source does not parse: {error}\n{text}") from error
    statement = gast.Expr(tree) if isinstance(tree, ast.expr) else tree
    module = gast.Module([statement], []) if isinstance(statement, ast.stmt) else tree
    different = difference(module, parsed)
    if different is not None:
        raise InternalError(f"the printed source differs from its tree: {different}\n{text}")
    return text


_IGNORED = frozenset({"ctx", "kind", "type_comment", "type_ignores"})  # no part of the meaning
_BLOCKS = frozenset({"body", "orelse", "finalbody"})


def difference(want: Any, got: Any) -> str | None:
    """Where a tree differs from the parsed one, in words; None where both mean the same."""
    pending = [(want, got)]  # a stack, since a long sum is a deep tree
    while pending:
        want, got = pending.pop()
        kind = type(got).__name__
        if type(want).__name__ != kind or kind == "Constant":
            if kind == "arg" and type(want).__name__ == "Name":
                pending.append((want.id, got.arg))
                pending.append((getattr(want, "annotation", None), got.annotation))
            elif type(want).__name__ != "Constant" or not _same_constant(want.value, got):
                return f"{_shown(want)} became {_shown(got)}"
            continue
        if not hasattr(got, "_fields"):
            if want != got:
                return f"{want!r} became {got!r}"
            continue
        for field in got._fields:
            if field in _IGNORED:
                continue
            mine, theirs = getattr(want, field, None), getattr(got, field)
            if isinstance(theirs, list):
                items = mine or []
                if field in _BLOCKS:
                    items = [s for s in items if not isinstance(s, (Comment, BlankLine))]
                    if not items and kind != "Module" and (mine or field == "body"):
                        items = [gast.Pass()]
                elif kind == "JoinedStr":
                    items, theirs = _merged(items), _merged(theirs)
                if len(items) != len(theirs):
                    return f"{field} of {_shown(want)} became {_shown(got)}"
                pending += zip(items, theirs, strict=True)
            elif isinstance(theirs, ast.AST):
                pending.append((mine, theirs))
            else:
                if kind == "ExceptHandler":
                    mine = getattr(mine, "id", mine)
                if mine != theirs and (mine or theirs):
                    return f"{field} of {_shown(want)} became {_shown(got)}"
    return None


def _merged(values: Sequence[Any]) -> list[Any]:
    """The parts of an f-string, with texts that follow each other put together."""
    merged: list[Any] = []
    for value in values:
        if type(value).__name__ == "Constant" and type(value.value) is str:
            if merged and isinstance(merged[-1], str):
                merged[-1] += value.value
            elif value.value:
                merged.append(value.value)
        else:
            merged.append(value)
    return merged


def _same_constant(value: Any, node: Any) -> bool:
    try:
        return _identical(value, _evaluated(node))
    except ValueError:
        return False


def _evaluated(node: Any) -> Any:
    """The constant that a literal, or what is printed for want of one, stands for."""
    if type(node) is ast.Constant:
        return node.value
    if type(node) is ast.Call and type(node.func) is ast.Name and not node.keywords:
        kind = {"float": float, "complex": complex}.get(node.func.id)
        if kind is not None:
            return kind(*map(_evaluated, node.args))
    if type(node) is ast.Tuple:
        return tuple(map(_evaluated, node.elts))
    return ast.literal_eval(node)


def _identical(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if type(one) is tuple:
        return len(one) == len(other) and all(map(_identical, one, other))
    if type(one) is float or type(one) is complex:
        return repr(one) == repr(other)  # signs of zeros, and nan
    return bool(one == other)


def _shown(node: Any) -> str:
    text = ast.dump(node) if isinstance(node, ast.AST) else repr(node)
    line = getattr(node, "lineno", None)
    return (text if len(text) < 100 else text[:99] + "…") + (f" (line {line})" if line else "")
