"""Printing expressions: as pieces of a line, with brackets only where Python needs them.

A piece may be a delimiter, where the line can be broken (`layout.py`).
"""

import ast
from collections.abc import Callable, Iterable
from typing import Any

from astunparse.unparser import Unparser

from .layout import (
    ASYNC_FOR,
    BINARY,
    BOOLEAN,
    COMMA,
    COMPARISON,
    ELSE,
    FILTER,
    FOR,
    HIDE,
    HIDE_END,
    IF,
)
from .levels import (
    ATOM,
    AWAIT,
    BITOR,
    COMPARE,
    FACTOR,
    NAMED,
    NOT,
    OPERATOR_LEVELS,
    OR,
    POWER,
    TEST,
    TUPLE,
    YIELD,
)
from .words import NUMBERS, constant, delegated, identifier

_LEVELS = {
    "NamedExpr": NAMED,
    "Yield": YIELD,
    "YieldFrom": YIELD,
    "IfExp": TEST,
    "Lambda": TEST,
    "Compare": COMPARE,
    "Await": AWAIT,
}


class ExpressionPrinter(Unparser):  # type: ignore[misc]
    """Collects the pieces of one line.

    ``dispatch`` of an expression, which the methods of astunparse call, brackets whatever could
    not stand as an argument of a call.
    """

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.write: Callable[[str], None] = self.pieces.append

    def dispatch(self, tree: Any) -> None:
        if isinstance(tree, ast.expr):
            self._expr(tree, TEST)
        else:
            self._method(tree)(tree)

    def _method(self, tree: Any) -> Callable[[Any], None]:
        method: Callable[[Any], None] | None = getattr(self, "_" + type(tree).__name__, None)
        if method is None:
            raise ValueError(f"cannot print a node of type {type(tree).__name__}")
        return method

    def _expr(self, node: Any, level: int) -> None:
        """Print an expression, in brackets if it binds less than `level`."""
        kind = type(node).__name__
        if kind == "Name":
            self.write(identifier(node.id))
        elif _level(kind, node) < level:
            self.write("(")
            self._method(node)(node)
            self.write(")")
        else:
            self._method(node)(node)

    def _sequence(self, nodes: Iterable[Any], show: Callable[[Any], None]) -> None:
        first = True
        for node in nodes:
            if not first:
                self.write(COMMA)
            first = False
            show(node)

    def _Constant(self, t: Any) -> None:
        if getattr(t, "kind", None) == "u":
            self.write("u")
        self.write(constant(t.value)[0])

    def _JoinedStr(self, t: Any) -> None:
        self.write(delegated(t))

    _FormattedValue = _JoinedStr

    def _BoolOp(self, t: Any) -> None:
        operator = type(t.op).__name__
        for index, value in enumerate(t.values):
            if index:
                self.write(BOOLEAN[operator])
            self._expr(value, OPERATOR_LEVELS[operator] + 1)

    def _BinOp(self, t: Any) -> None:
        operator = type(t.op).__name__
        level = OPERATOR_LEVELS[operator]
        if level == POWER:
            self._expr(t.left, AWAIT)
            self.write(BINARY[operator])
            self._expr(t.right, FACTOR)
            return
        chain = [t]  # a sum of a thousand terms is a thousand levels deep
        while type(t.left).__name__ == "BinOp" and _level("BinOp", t.left) == level:
            t = t.left
            chain.append(t)
        self._expr(t.left, level)
        for part in reversed(chain):
            self.write(BINARY[type(part.op).__name__])
            self._expr(part.right, level + 1)

    def _UnaryOp(self, t: Any) -> None:
        operator = type(t.op).__name__
        if operator == "Not":
            self.write("not ")
            self._expr(t.operand, NOT)
            return
        self.write(self.unop[operator])
        kind = type(t.operand).__name__
        signed = kind in ("UnaryOp", "Constant") and _level(kind, t.operand) == FACTOR
        self._expr(t.operand, POWER if signed and operator != "Invert" else FACTOR)

    def _Compare(self, t: Any) -> None:
        self._expr(t.left, BITOR)
        for operator, right in zip(t.ops, t.comparators, strict=True):
            self.write(COMPARISON[type(operator).__name__])
            self._expr(right, BITOR)

    def _IfExp(self, t: Any) -> None:
        self._expr(t.body, OR)
        self.write(IF)
        self._expr(t.test, OR)
        self.write(ELSE)
        self._expr(t.orelse, TEST)

    def _NamedExpr(self, t: Any) -> None:
        self._expr(t.target, ATOM)
        self.write(" := ")
        self._expr(t.value, TEST)

    def _Lambda(self, t: Any) -> None:
        self.write(HIDE)
        self.write("lambda")
        self.write(" ")
        count = len(self.pieces)
        self._arguments(t.args)
        if len(self.pieces) == count:
            self.pieces.pop()
        self.write(": ")
        self._expr(t.body, TEST)
        self.write(HIDE_END)

    def _Await(self, t: Any) -> None:
        self.write("await ")
        self._expr(t.value, ATOM)

    def _Yield(self, t: Any) -> None:
        self.write("yield")
        if t.value is not None:
            self.write(" ")
            self._expr(t.value, TUPLE)

    def _YieldFrom(self, t: Any) -> None:
        self.write("yield from ")
        self._expr(t.value, TEST)

    def _Starred(self, t: Any) -> None:
        self.write("*")
        self._expr(t.value, BITOR)

    def _Attribute(self, t: Any) -> None:
        number = type(t.value).__name__ == "Constant" and type(t.value.value) in NUMBERS
        if number:  # `3.real` is a malformed number
            self.write("(")
        self._expr(t.value, TEST if number else ATOM)
        if number:
            self.write(")")
        self.write("." + identifier(t.attr))

    def _Call(self, t: Any) -> None:
        self._expr(t.func, ATOM)
        if len(t.args) == 1 and not t.keywords and type(t.args[0]).__name__ == "GeneratorExp":
            self._GeneratorExp(t.args[0])
            return
        self.write("(")
        self._sequence([*t.args, *t.keywords] if t.keywords else t.args, self.dispatch)
        self.write(")")

    def _keyword(self, t: Any) -> None:
        if t.arg is None:
            self.write("**")
            self._expr(t.value, BITOR)
        else:
            self.write(identifier(t.arg) + "=")
            self._expr(t.value, TEST)

    def _Subscript(self, t: Any) -> None:
        self._expr(t.value, ATOM)
        self.write("[")
        index = t.slice
        if type(index).__name__ == "Tuple" and len(index.elts) == 1:
            self._expr(index.elts[0], TEST)
            self.write(",")
        else:
            self._expr(index, TUPLE)
        self.write("]")

    def _Slice(self, t: Any) -> None:
        parts = (t.lower, t.upper, t.step)
        spaced = any(part is not None and not _is_simple(part) for part in parts)
        for index, part in enumerate(parts if t.step is not None else parts[:2]):
            if index:
                self.write(" :" if spaced and parts[index - 1] is not None else ":")
                if spaced and part is not None:
                    self.write(" ")
            if part is not None:
                self._expr(part, TEST)

    def _Tuple(self, t: Any) -> None:
        if len(t.elts) >= 2:  # brackets are the business of the place it stands in
            self._sequence(t.elts, self.dispatch)
            return
        self.write("(")
        for element in t.elts:
            self._expr(element, TEST)
            self.write(",")
        self.write(")")

    def _List(self, t: Any) -> None:
        self.write("[")
        self._sequence(t.elts, self.dispatch)
        self.write("]")

    def _Set(self, t: Any) -> None:
        self.write("{")
        self._sequence(t.elts, self.dispatch)
        self.write("}" if t.elts else "*()}")

    def _Dict(self, t: Any) -> None:
        self.write("{")
        self._sequence(zip(t.keys, t.values, strict=True), self._item)
        self.write("}")

    def _item(self, item: tuple[Any, Any]) -> None:
        key, value = item
        if key is None:
            self.write("**")
            self._expr(value, BITOR)
        else:
            self._expr(key, TEST)
            self.write(": ")
            self._expr(value, TEST)

    def _comprehension(self, t: Any) -> None:
        self.write(ASYNC_FOR if t.is_async else FOR)
        self.write(HIDE)
        self._expr(t.target, TUPLE)
        self.write(HIDE_END)
        self.write(" in ")
        self._expr(t.iter, OR)
        for condition in t.ifs:
            self.write(FILTER)
            self._expr(condition, OR)

    # Parameters, of functions and of lambdas

    def _arguments(self, t: Any) -> None:
        write = self.write
        positional = [*getattr(t, "posonlyargs", ()), *t.args]
        defaults = [None] * (len(positional) - len(t.defaults)) + t.defaults
        separator = ""
        for index, (parameter, default) in enumerate(zip(positional, defaults, strict=True), 1):
            write(separator and COMMA)
            self._parameter("", parameter, default)
            separator = ", "
            if index == len(getattr(t, "posonlyargs", ())):
                write(COMMA)
                write("/")
        if t.vararg or t.kwonlyargs:
            write(separator and COMMA)
            separator = ", "
            if t.vararg:
                self._parameter("*", t.vararg, None)
            else:
                write("*")
        for parameter, default in zip(t.kwonlyargs, t.kw_defaults, strict=True):
            write(COMMA)
            self._parameter("", parameter, default)
        if t.kwarg:
            write(separator and COMMA)
            self._parameter("**", t.kwarg, None)

    def _parameter(self, stars: str, t: Any, default: Any) -> None:
        name = t.id if hasattr(t, "id") else t.arg  # gast has names for parameters, ast has args
        self.write(stars + identifier(name))
        annotation = getattr(t, "annotation", None)
        if annotation is not None:
            self.write(": ")
            self._expr(annotation, TEST)
        if default is not None:
            self.write("=" if annotation is None else " = ")
            self._expr(default, TEST)


def _level(kind: str, node: Any) -> int:
    level = _LEVELS.get(kind)
    if level is not None:
        return level
    if kind in ("BinOp", "UnaryOp", "BoolOp"):
        return OPERATOR_LEVELS[type(node.op).__name__]
    if kind == "Constant":
        return constant(node.value)[1] if type(node.value) in NUMBERS else ATOM
    return TUPLE if kind == "Tuple" and len(node.elts) > 1 else ATOM


def _is_simple(node: Any) -> bool:
    """Whether a slice with this bound is written without spaces, as in `x[1:-n]`."""
    kind = type(node).__name__
    if kind == "UnaryOp":
        return type(node.op).__name__ != "Not" and _is_simple(node.operand)
    return kind == "Name" or (kind == "Constant" and _level(kind, node) >= FACTOR)
