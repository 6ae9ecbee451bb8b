"""Print a gast (or ast) tree as the Python a careful person would write.

`to_source` prints; `checked_source` prints, parses the text again and compares it with the tree.
Two kinds of statement exist for the printer alone: `Comment` and `BlankLine`.  Any statement may
also carry an attribute ``trailing_comment``, a string printed behind its first line.

    >>> tree = gast.parse("def f(x):\\n  return (x[1:2, ..., None]) + (2*x)")
    >>> tree.body[0].body.insert(0, Comment("twice and more"))
    >>> tree.body[0].body[1].trailing_comment = "the end"
    >>> print(checked_source(tree), end="")
    def f(x):
        # twice and more
        return x[1:2, ..., None] + 2 * x  # the end
"""

import ast
import copy
import keyword
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import gast
from astunparse.unparser import Unparser

__all__ = ["WIDTH", "BlankLine", "Comment", "checked_source", "to_source"]

WIDTH = 88  # columns a line may have before it is broken


class Comment(ast.stmt):
    """A statement that prints as ``# text``, one line for each line of the text.

    >>> print(to_source(gast.Module([Comment("one\\ntwo")], [])), end="")
    # one
    # two
    """

    _fields: ClassVar[tuple[str, ...]] = ("text",)
    text: str

    def __init__(self, text: str = "") -> None:  # the default: copy.deepcopy gives no arguments
        self.text = text


class BlankLine(ast.stmt):
    """A statement that prints as an empty line.

    >>> name = gast.Expr(gast.Name("x", gast.Load(), None, None))
    >>> to_source(gast.Module([name, BlankLine(), name], []))
    'x\\n\\nx\\n'
    """

    _fields: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        pass


def to_source(tree: ast.AST) -> str:
    """The source text of a tree (a module, a statement or an expression).

    >>> print(to_source(gast.parse("y = (-(x@w)) ** (2+n)")), end="")
    y = (-(x @ w)) ** (2 + n)

    A name that is not an identifier, or a constant that cannot be written down, is a ValueError.
    """
    return _Printer(tree).text()


def checked_source(tree: ast.AST) -> str:
    """The source text of a tree, parsed again and found to mean the same.

    >>> print(checked_source(gast.parse("x=1 ;y=(x)")), end="")
    x = 1
    y = x

    Raises `srcgrad.errors.InternalError` where the text means something else.
    """
    from srcgrad.errors import InternalError

    text = to_source(tree)
    try:
        parsed = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InternalError(f"the printed source does not parse: {error}\n{text}") from error
    statement = gast.Expr(tree) if isinstance(tree, ast.expr) else tree
    module = gast.Module([statement], []) if isinstance(statement, ast.stmt) else tree
    different = _difference(module, parsed)
    if different is not None:
        raise InternalError(f"the printed source differs from its tree: {different}\n{text}")
    return text


# Binding strength of expressions: an operand weaker than its place asks for is put in brackets.
_NAMED, _YIELD, _TUPLE, _TEST, _OR, _AND, _NOT, _COMPARE = range(8)
_BITOR, _BITXOR, _BITAND, _SHIFT, _SUM, _TERM, _FACTOR, _POWER, _AWAIT, _ATOM = range(8, 18)

_LEVELS = {
    "NamedExpr": _NAMED,
    "Yield": _YIELD,
    "YieldFrom": _YIELD,
    "IfExp": _TEST,
    "Lambda": _TEST,
    "Compare": _COMPARE,
    "Await": _AWAIT,
}
_OPERATOR_LEVELS = {
    **dict(zip(("Or", "And", "Not"), (_OR, _AND, _NOT), strict=True)),
    **dict(zip(("BitOr", "BitXor", "BitAnd"), (_BITOR, _BITXOR, _BITAND), strict=True)),
    **dict.fromkeys(("LShift", "RShift"), _SHIFT),
    **dict.fromkeys(("Add", "Sub"), _SUM),
    **dict.fromkeys(("Mult", "MatMult", "Div", "Mod", "FloorDiv"), _TERM),
    **dict.fromkeys(("UAdd", "USub", "Invert"), _FACTOR),
    "Pow": _POWER,
}


class _Delimiter(str):
    """A piece of text at which a long line may be broken: the weakest-binding ones first."""

    strength: int

    def __new__(cls, text: str, strength: int) -> "_Delimiter":
        self = super().__new__(cls, text)
        self.strength = strength
        return self


class _Mark(str):
    """An invisible piece of text, told from the others by identity."""


_FOR, _ASYNC_FOR = _Delimiter(" for ", -2), _Delimiter(" async for ", -2)
_FILTER, _COMMA = _Delimiter(" if ", -2), _Delimiter(", ", -1)
_IF, _ELSE = _Delimiter(" if ", _TEST), _Delimiter(" else ", _TEST)
_BINARY = {
    name: _Delimiter(f" {sign} ", _OPERATOR_LEVELS[name]) for name, sign in Unparser.binop.items()
}
_BOOLEAN = {"And": _Delimiter(" and ", _AND), "Or": _Delimiter(" or ", _OR)}
_COMPARISON = {name: _Delimiter(f" {sign} ", _COMPARE) for name, sign in Unparser.cmpops.items()}
# Brackets that may be put (soft), and a stretch that is broken only when nothing else is left.
_SOFT, _SOFT_END, _HIDE, _HIDE_END = _Mark(), _Mark(), _Mark(), _Mark()
_OPENERS, _CLOSERS = frozenset("([{"), frozenset(")]}")

_DEFINITIONS = frozenset({"FunctionDef", "AsyncFunctionDef", "ClassDef"})
_IMPORTS = frozenset({"Import", "ImportFrom"})


class _Printer(Unparser):  # type: ignore[misc]
    """Collects the pieces of one line, and the finished lines.

    ``dispatch`` of an expression, which the methods of astunparse call, brackets whatever could
    not stand as an argument of a call.
    """

    def __init__(self, tree: ast.AST) -> None:
        self.lines: list[str] = []
        self.pieces: list[str] = []
        self.write: Callable[[str], None] = self.pieces.append
        self.future_imports: list[str] = []
        self.comment: str | None = None
        self._indent = 0
        if isinstance(tree, ast.stmt):
            self._block([tree])
        elif isinstance(tree, ast.expr):
            self._expr(tree, _TUPLE)
        else:
            self.dispatch(tree)

    def text(self) -> str:
        self._end_line()
        return "\n".join(self.lines).rstrip("\n") + "\n"

    def dispatch(self, tree: Any) -> None:
        if isinstance(tree, list):
            self._block(tree)
        elif isinstance(tree, ast.expr):
            self._expr(tree, _TEST)
        else:
            self._method(tree)(tree)

    def _method(self, tree: Any) -> Callable[[Any], None]:
        method: Callable[[Any], None] | None = getattr(self, "_" + type(tree).__name__, None)
        if method is None:
            raise ValueError(f"cannot print a node of type {type(tree).__name__}")
        return method

    # Lines and blocks

    def fill(self, text: str = "") -> None:
        self._end_line()
        if text:
            self.write(text)

    def enter(self) -> None:
        self.write(":")
        self._end_line()
        self._indent += 1

    def _end_line(self) -> None:
        pieces = self.pieces
        if not pieces:
            return
        line = "    " * self._indent + "".join(pieces)
        if len(line) > WIDTH and "\n" not in line:
            lines = _break(pieces, self._indent, False)
        else:
            lines = [line]
        if self.comment is not None:
            lines[0] += "  # " + " ".join(_comment_lines(self.comment)).strip(" ")
            self.comment = None
        self.lines += lines
        pieces.clear()

    def _gap(self, wanted: int) -> None:
        lines = self.lines
        present = 0
        while present < len(lines) and not lines[-1 - present]:
            present += 1
        lines.extend([""] * (wanted - present))

    def _block(self, body: Sequence[ast.stmt], documented: str = "") -> None:
        """Print statements; `documented` names the kind of the owner of a docstring."""
        before = ""  # the kind of the statement before
        gap = 1 if self._indent else 2
        empty = True
        for index, statement in enumerate(body):
            kind = type(statement).__name__
            if kind == "BlankLine":
                if self.lines:
                    self.lines.append("")
                continue
            imports_end = before in _IMPORTS and kind not in _IMPORTS and not self._indent
            if before in _DEFINITIONS:
                self._gap(gap)
            elif before and _begins_definition(body, index):
                if type(body[index - 1]).__name__ != "Comment":
                    self._gap(gap)
            elif imports_end or (before == "docstring" and documented != "function"):
                self._gap(1)
            if kind == "Comment":
                self._comment(statement)
                before = kind
                continue
            self.comment = getattr(statement, "trailing_comment", None)
            if documented and empty and _is_text(statement):
                kind = "docstring"
                self.write(_docstring(statement.value.value))  # type: ignore[attr-defined]
            else:
                self.dispatch(statement)
            self._end_line()
            empty = False
            before = kind
        if empty and self._indent:
            self.fill("pass")
            self._end_line()

    def _comment(self, node: Any) -> None:
        for line in _comment_lines(node.text):
            if len(self.lines) < 2:  # where Python would look for the encoding of a file
                line = re.sub(r"coding(?=[:=])", "coding ", line)
            self.lines.append(("    " * self._indent + "# " + line).rstrip())

    def _suite(self, body: Sequence[ast.stmt], documented: str = "") -> None:
        self.enter()
        self._block(body, documented)
        self._indent -= 1

    def _Module(self, t: Any) -> None:
        self._block(t.body, "module")

    # Statements

    def _soft(self, node: Any, level: int) -> None:
        """An expression that may be put in brackets to break the line."""
        self.write(_SOFT)
        self._expr(node, level)
        self.write(_SOFT_END)

    def _Expr(self, t: Any) -> None:
        self._expr(t.value, _YIELD)

    def _Assign(self, t: Any) -> None:
        for target in t.targets:
            self._expr(target, _TUPLE)
            self.write(" = ")
        self._value(t.value, type(t.targets[-1]).__name__ == "Tuple")

    def _value(self, node: Any, bare_tuple: bool = False) -> None:
        self._soft(node, _TEST if type(node).__name__ == "Tuple" and not bare_tuple else _YIELD)

    def _AugAssign(self, t: Any) -> None:
        self._expr(t.target, _ATOM)
        self.write(f" {self.binop[type(t.op).__name__]}= ")
        self._value(t.value)

    def _AnnAssign(self, t: Any) -> None:
        bracketed = type(t.target).__name__ == "Name" and not t.simple
        if bracketed:
            self.write("(")
        self._expr(t.target, _ATOM)
        if bracketed:
            self.write(")")
        self.write(": ")
        self._expr(t.annotation, _TEST)
        if t.value is not None:
            self.write(" = ")
            self._value(t.value)

    def _Return(self, t: Any) -> None:
        self.write("return")
        if t.value is not None:
            self.write(" ")
            self._soft(t.value, _TUPLE)

    def _Assert(self, t: Any) -> None:
        self.write("assert ")
        self._soft(t.test, _TEST)
        if t.msg is not None:
            self.write(", ")
            self._soft(t.msg, _TEST)

    def _Global(self, t: Any) -> None:
        self.write("global " + ", ".join(map(_identifier, t.names)))

    def _Nonlocal(self, t: Any) -> None:
        self.write("nonlocal " + ", ".join(map(_identifier, t.names)))

    def _ImportFrom(self, t: Any) -> None:
        module = _dotted(t.module) if t.module else ""
        self.write(f"from {'.' * (t.level or 0)}{module} import ")
        if [alias.name for alias in t.names] == ["*"]:
            self.write("*")
            return
        self.write(_SOFT)
        self._sequence(t.names, self._alias)
        self.write(_SOFT_END)

    def _alias(self, t: Any) -> None:
        self.write(_dotted(t.name) + (f" as {_identifier(t.asname)}" if t.asname else ""))

    def _If(self, t: Any) -> None:
        self._condition("if ", t)
        orelse = t.orelse
        while len(orelse) == 1 and type(orelse[0]).__name__ == "If":
            self.comment = getattr(orelse[0], "trailing_comment", None)
            self._condition("elif ", orelse[0])
            orelse = orelse[0].orelse
        self._else(orelse)

    def _While(self, t: Any) -> None:
        self._condition("while ", t)
        self._else(t.orelse)

    def _condition(self, word: str, t: Any) -> None:
        self.write(word)
        self._soft(t.test, _NAMED if type(t.test).__name__ == "NamedExpr" else _TEST)
        self._suite(t.body)

    def _else(self, body: Sequence[ast.stmt]) -> None:
        if body:
            self.write("else")
            self._suite(body)

    def _For(self, t: Any) -> None:
        self.write("async for " if type(t).__name__ == "AsyncFor" else "for ")
        self._expr(t.target, _TUPLE)
        self.write(" in ")
        self._soft(t.iter, _TEST)
        self._suite(t.body)
        self._else(t.orelse)

    _AsyncFor = _For

    def _With(self, t: Any) -> None:
        self.write("async with " if type(t).__name__ == "AsyncWith" else "with ")
        items = t.items
        if len(items) > 1:
            self.write(_SOFT)
            self._sequence(items, self._withitem)
            self.write(_SOFT_END)
        elif type(items[0].context_expr).__name__ == "Tuple" and items[0].optional_vars is None:
            self.write("(")  # `with (a, b):` would be two items
            self._withitem(items[0])
            self.write(")")
        else:
            self._withitem(items[0])
        self._suite(t.body)

    _AsyncWith = _With

    def _ExceptHandler(self, t: Any, word: str = "except") -> None:
        self.write(word)
        if t.type is not None:
            self.write(" ")
            self._expr(t.type, _TEST)
        if t.name:
            self.write(f" as {_identifier(getattr(t.name, 'id', t.name))}")
        self._suite(t.body)

    def _Try(self, t: Any) -> None:
        self.write("try")
        self._suite(t.body)
        for handler in t.handlers:
            self.comment = getattr(handler, "trailing_comment", None)
            self._ExceptHandler(handler, "except*" if type(t).__name__ == "TryStar" else "except")
        self._else(t.orelse)
        if t.finalbody:
            self.write("finally")
            self._suite(t.finalbody)

    _TryStar = _Try

    def _Match(self, t: Any) -> None:
        self.write("match ")
        self._expr(t.subject, _TEST)
        self.enter()
        for case in t.cases:
            self.comment = getattr(case, "trailing_comment", None)
            self.write(f"case {_delegated(case.pattern)}")
            if case.guard is not None:
                self.write(" if ")
                self._soft(case.guard, _TEST)
            self._suite(case.body)
        self._indent -= 1

    def _TypeAlias(self, t: Any) -> None:
        self.write("type ")
        self._expr(t.name, _ATOM)
        self._type_parameters(t)
        self.write(" = ")
        self._soft(t.value, _TEST)

    def _type_parameters(self, t: Any) -> None:
        parameters = getattr(t, "type_params", None)
        if parameters:
            self.write("[")
            self._sequence(parameters, self.dispatch)
            self.write("]")

    def _TypeVar(self, t: Any) -> None:
        stars = {"TypeVar": "", "TypeVarTuple": "*", "ParamSpec": "**"}[type(t).__name__]
        self.write(stars + _identifier(t.name))
        if getattr(t, "bound", None) is not None:
            self.write(": ")
            self._expr(t.bound, _TEST)
        if getattr(t, "default_value", None) is not None:
            self.write(" = ")
            self._expr(t.default_value, _TEST)

    _TypeVarTuple = _ParamSpec = _TypeVar

    def _decorators(self, t: Any) -> None:
        comment, self.comment = self.comment, None  # it belongs behind `def`
        for decorator in t.decorator_list:
            self.write("@")
            self._expr(decorator, _TEST)
            self._end_line()
        self.comment = comment

    def _ClassDef(self, t: Any) -> None:
        self._decorators(t)
        self.write(f"class {_identifier(t.name)}")
        self._type_parameters(t)
        if t.bases or t.keywords:
            self.write("(")
            self._sequence([*t.bases, *t.keywords], self.dispatch)
            self.write(")")
        self._suite(t.body, "class")

    def _FunctionDef(self, t: Any) -> None:
        self._decorators(t)
        word = "async def" if type(t).__name__ == "AsyncFunctionDef" else "def"
        self.write(f"{word} {_identifier(t.name)}")
        self._type_parameters(t)
        self.write("(")
        self._arguments(t.args)
        self.write(")")
        if getattr(t, "returns", None) is not None:
            self.write(" -> ")
            self._expr(t.returns, _TEST)
        self._suite(t.body, "function")

    _AsyncFunctionDef = _FunctionDef

    def _arguments(self, t: Any) -> None:
        write = self.write
        positional = [*getattr(t, "posonlyargs", ()), *t.args]
        defaults = [None] * (len(positional) - len(t.defaults)) + t.defaults
        separator = ""
        for index, (parameter, default) in enumerate(zip(positional, defaults, strict=True), 1):
            write(separator and _COMMA)
            self._parameter("", parameter, default)
            separator = ", "
            if index == len(getattr(t, "posonlyargs", ())):
                write(_COMMA)
                write("/")
        if t.vararg or t.kwonlyargs:
            write(separator and _COMMA)
            separator = ", "
            if t.vararg:
                self._parameter("*", t.vararg, None)
            else:
                write("*")
        for parameter, default in zip(t.kwonlyargs, t.kw_defaults, strict=True):
            write(_COMMA)
            self._parameter("", parameter, default)
        if t.kwarg:
            write(separator and _COMMA)
            self._parameter("**", t.kwarg, None)

    def _parameter(self, stars: str, t: Any, default: Any) -> None:
        name = t.id if hasattr(t, "id") else t.arg  # gast has names for parameters, ast has args
        self.write(stars + _identifier(name))
        annotation = getattr(t, "annotation", None)
        if annotation is not None:
            self.write(": ")
            self._expr(annotation, _TEST)
        if default is not None:
            self.write("=" if annotation is None else " = ")
            self._expr(default, _TEST)

    # Expressions

    def _expr(self, node: Any, level: int) -> None:
        """Print an expression, in brackets if it binds less than `level`."""
        kind = type(node).__name__
        if kind == "Name":
            self.write(_identifier(node.id))
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
                self.write(_COMMA)
            first = False
            show(node)

    def _Constant(self, t: Any) -> None:
        if getattr(t, "kind", None) == "u":
            self.write("u")
        self.write(_constant(t.value)[0])

    def _JoinedStr(self, t: Any) -> None:
        self.write(_delegated(t))

    _FormattedValue = _JoinedStr

    def _BoolOp(self, t: Any) -> None:
        operator = type(t.op).__name__
        for index, value in enumerate(t.values):
            if index:
                self.write(_BOOLEAN[operator])
            self._expr(value, _OPERATOR_LEVELS[operator] + 1)

    def _BinOp(self, t: Any) -> None:
        operator = type(t.op).__name__
        level = _OPERATOR_LEVELS[operator]
        if level == _POWER:
            self._expr(t.left, _AWAIT)
            self.write(_BINARY[operator])
            self._expr(t.right, _FACTOR)
            return
        chain = [t]  # a sum of a thousand terms is a thousand levels deep
        while type(t.left).__name__ == "BinOp" and _level("BinOp", t.left) == level:
            t = t.left
            chain.append(t)
        self._expr(t.left, level)
        for part in reversed(chain):
            self.write(_BINARY[type(part.op).__name__])
            self._expr(part.right, level + 1)

    def _UnaryOp(self, t: Any) -> None:
        operator = type(t.op).__name__
        if operator == "Not":
            self.write("not ")
            self._expr(t.operand, _NOT)
            return
        self.write(self.unop[operator])
        kind = type(t.operand).__name__
        signed = kind in ("UnaryOp", "Constant") and _level(kind, t.operand) == _FACTOR
        self._expr(t.operand, _POWER if signed and operator != "Invert" else _FACTOR)

    def _Compare(self, t: Any) -> None:
        self._expr(t.left, _BITOR)
        for operator, right in zip(t.ops, t.comparators, strict=True):
            self.write(_COMPARISON[type(operator).__name__])
            self._expr(right, _BITOR)

    def _IfExp(self, t: Any) -> None:
        self._expr(t.body, _OR)
        self.write(_IF)
        self._expr(t.test, _OR)
        self.write(_ELSE)
        self._expr(t.orelse, _TEST)

    def _NamedExpr(self, t: Any) -> None:
        self._expr(t.target, _ATOM)
        self.write(" := ")
        self._expr(t.value, _TEST)

    def _Lambda(self, t: Any) -> None:
        self.write(_HIDE)
        self.write("lambda")
        self.write(" ")
        count = len(self.pieces)
        self._arguments(t.args)
        if len(self.pieces) == count:
            self.pieces.pop()
        self.write(": ")
        self._expr(t.body, _TEST)
        self.write(_HIDE_END)

    def _Await(self, t: Any) -> None:
        self.write("await ")
        self._expr(t.value, _ATOM)

    def _Yield(self, t: Any) -> None:
        self.write("yield")
        if t.value is not None:
            self.write(" ")
            self._expr(t.value, _TUPLE)

    def _YieldFrom(self, t: Any) -> None:
        self.write("yield from ")
        self._expr(t.value, _TEST)

    def _Starred(self, t: Any) -> None:
        self.write("*")
        self._expr(t.value, _BITOR)

    def _Attribute(self, t: Any) -> None:
        number = type(t.value).__name__ == "Constant" and type(t.value.value) in _NUMBERS
        if number:  # `3.real` is a malformed number
            self.write("(")
        self._expr(t.value, _TEST if number else _ATOM)
        if number:
            self.write(")")
        self.write("." + _identifier(t.attr))

    def _Call(self, t: Any) -> None:
        self._expr(t.func, _ATOM)
        if len(t.args) == 1 and not t.keywords and type(t.args[0]).__name__ == "GeneratorExp":
            self._GeneratorExp(t.args[0])
            return
        self.write("(")
        self._sequence([*t.args, *t.keywords] if t.keywords else t.args, self.dispatch)
        self.write(")")

    def _keyword(self, t: Any) -> None:
        if t.arg is None:
            self.write("**")
            self._expr(t.value, _BITOR)
        else:
            self.write(_identifier(t.arg) + "=")
            self._expr(t.value, _TEST)

    def _Subscript(self, t: Any) -> None:
        self._expr(t.value, _ATOM)
        self.write("[")
        index = t.slice
        if type(index).__name__ == "Tuple" and len(index.elts) == 1:
            self._expr(index.elts[0], _TEST)
            self.write(",")
        else:
            self._expr(index, _TUPLE)
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
                self._expr(part, _TEST)

    def _Tuple(self, t: Any) -> None:
        if len(t.elts) >= 2:  # brackets are the business of the place it stands in
            self._sequence(t.elts, self.dispatch)
            return
        self.write("(")
        for element in t.elts:
            self._expr(element, _TEST)
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
            self._expr(value, _BITOR)
        else:
            self._expr(key, _TEST)
            self.write(": ")
            self._expr(value, _TEST)

    def _comprehension(self, t: Any) -> None:
        self.write(_ASYNC_FOR if t.is_async else _FOR)
        self.write(_HIDE)
        self._expr(t.target, _TUPLE)
        self.write(_HIDE_END)
        self.write(" in ")
        self._expr(t.iter, _OR)
        for condition in t.ifs:
            self.write(_FILTER)
            self._expr(condition, _OR)


def _level(kind: str, node: Any) -> int:
    level = _LEVELS.get(kind)
    if level is not None:
        return level
    if kind in ("BinOp", "UnaryOp", "BoolOp"):
        return _OPERATOR_LEVELS[type(node.op).__name__]
    if kind == "Constant":
        return _constant(node.value)[1] if type(node.value) in _NUMBERS else _ATOM
    return _TUPLE if kind == "Tuple" and len(node.elts) > 1 else _ATOM


def _is_simple(node: Any) -> bool:
    """Whether a slice with this bound is written without spaces, as in `x[1:-n]`."""
    kind = type(node).__name__
    if kind == "UnaryOp":
        return type(node.op).__name__ != "Not" and _is_simple(node.operand)
    return kind == "Name" or (kind == "Constant" and _level(kind, node) >= _FACTOR)


def _is_text(node: Any) -> bool:
    value: Any = getattr(node, "value", None)
    return (
        type(node).__name__ == "Expr"
        and type(value).__name__ == "Constant"
        and type(value.value) is str
        and getattr(value, "kind", None) != "u"
    )


def _begins_definition(body: Sequence[ast.stmt], index: int) -> bool:
    while index < len(body) and isinstance(body[index], Comment):
        index += 1
    return index < len(body) and type(body[index]).__name__ in _DEFINITIONS


# Words and constants


@lru_cache(maxsize=4096)
def _identifier(name: str) -> str:
    # Python would read an identifier that is not in this normal form as another one
    if (
        not isinstance(name, str)
        or not name.isidentifier()
        or keyword.iskeyword(name)
        or unicodedata.normalize("NFKC", name) != name
    ):
        raise ValueError(f"not a name that can be printed: {name!r}")
    return name


def _dotted(name: str) -> str:
    for part in name.split("."):
        _identifier(part)
    return name


_NUMBERS = frozenset({int, float, complex})


def _constant(value: Any) -> tuple[str, int]:
    """The text of a constant, and how strongly it binds."""
    kind = type(value)
    if kind is int:
        text = repr(value) if value.bit_length() < 1000 else hex(value)  # repr has a limit
    elif kind is float:
        if math.isnan(value):
            return "float('nan')", _ATOM
        text = repr(value).replace("inf", "1e309")
    elif kind is complex:
        return _complex(value.real, value.imag)
    elif kind is str or kind is bytes or kind is bool or value is None:
        return repr(value), _ATOM
    elif value is ...:
        return "...", _ATOM
    elif kind is tuple:
        texts = [_constant(element)[0] for element in value]
        return f"({', '.join(texts)}{',' * (len(texts) == 1)})", _ATOM
    else:
        raise ValueError(f"cannot print a constant of type {kind.__name__}: {value!r}")
    return text, _FACTOR if text[0] == "-" else _ATOM


def _complex(real: float, imag: float) -> tuple[str, int]:
    """A literal if arithmetic on its parts gives the very number, signs of zeros included."""
    negative = math.copysign(1.0, imag) < 0
    if not (math.isnan(real) or math.isnan(imag)):
        part = repr(abs(imag)).replace("inf", "1e309").removesuffix(".0") + "j"
        if real == 0 and (math.copysign(1.0, real) < 0) == negative:
            return ("-" + part, _FACTOR) if negative else (part, _ATOM)
        if real != 0 and (imag != 0 or not negative):
            left = repr(real).replace("inf", "1e309").removesuffix(".0")
            return f"{left} {'-' if negative else '+'} {part}", _SUM
    return f"complex({_constant(real)[0]}, {_constant(imag)[0]})", _ATOM


def _escape(text: str) -> str:
    """Escape what cannot be seen, or cannot stand in a file."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape").decode()
        for char in text
    )


def _docstring(text: str) -> str:
    if "\\" in text and '"""' not in text and text[-1] not in '"\\' and _escape(text) == text:
        return f'r"""{text}"""'
    text = _escape(text.replace("\\", "\\\\"))
    text = re.sub('"{3,}|"$', lambda run: '\\"' * len(run.group()), text)
    return f'"""{text}"""'


def _comment_lines(text: str) -> list[str]:
    return [_escape(line).rstrip() for line in re.split("\r\n|\r|\n", text)]


def _delegated(node: Any) -> str:
    """What `ast.unparse` prints, of an f-string or a pattern."""
    for inner in ast.walk(node):
        for field in ("id", "attr", "arg", "name", "rest"):
            name = getattr(inner, field, None)
            if isinstance(name, str):
                _identifier(name)
        for name in getattr(inner, "kwd_attrs", ()):
            _identifier(name)
    is_gast = type(node).__module__ == "gast.gast"
    isolated = gast.gast_to_ast(node) if is_gast else copy.deepcopy(node)
    return ast.unparse(_Literals().visit(isolated))


class _Literals(ast.NodeTransformer):
    """Writes -3 as an operation, which ast.unparse would print as `-3 ** 2` when squared."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if type(node.value) in _NUMBERS:
            return ast.parse(_constant(node.value)[0], mode="eval").body
        return node


# Breaking of long lines, as black does


def _joined(pieces: Sequence[str], indent: int) -> str:
    return "    " * indent + "".join(pieces).strip(" ")


def _scan(pieces: Sequence[str]) -> tuple[list[tuple[int, int]], list[int]]:
    """Where the outermost brackets are, and the delimiters outside them."""
    pairs, delimiters, opened = [], [], []
    for index, piece in enumerate(pieces):
        if piece in _OPENERS or piece is _SOFT or piece is _HIDE:
            opened.append(index)
        elif piece in _CLOSERS or piece is _SOFT_END or piece is _HIDE_END:
            if opened:
                start = opened.pop()
                if not opened:
                    pairs.append((start, index))
        elif not opened and type(piece) is _Delimiter:
            delimiters.append(index)
    return pairs, delimiters


def _break(pieces: Sequence[str], indent: int, inside: bool) -> list[str]:
    """The lines of a statement, or of a part that stands `inside` brackets."""
    text = _joined(pieces, indent)
    if len(text) <= WIDTH:
        return [text]
    pairs, delimiters = _scan(pieces)
    if inside and delimiters:
        return _break_at_delimiters(pieces, frozenset(delimiters), indent)
    atom = None  # soft brackets that hold a single thing, and where putting them helps
    for start, end in pairs:
        if pieces[start] is not _SOFT:
            continue
        inner, breaks = _scan(pieces[start + 1 : end])
        if not breaks:
            fits = len(_joined(pieces[:start], indent)) < WIDTH
            if fits and not any(last > first + 1 for first, last in inner):
                fits = len(_joined(pieces[start:end], indent + 1)) <= WIDTH
                atom = (start, end) if fits else atom
            pieces = [*pieces[:start], "", *pieces[start + 1 : end], "", *pieces[end + 1 :]]
    chosen = atom
    if chosen is None:
        pairs = [
            (start, end)
            for start, end in _scan(pieces)[0]
            if end > start + 1 and pieces[start] is not _HIDE
        ]
        if pieces[0].startswith(("def ", "async def ")):
            ordered = [pair for pair in pairs if pieces[pair[0]] == "("]  # parameters first
        else:
            ordered = pairs[::-1]
        ordered.sort(key=lambda pair: pair[1] - pair[0] == 2)  # not `[0]` if there is another
        for start, end in ordered:
            head, tail = _joined(pieces[:start], indent), _joined(pieces[end:], indent)
            if len(head) < WIDTH and len(tail) <= WIDTH:  # the opening bracket to be added
                chosen = start, end
                break
        else:
            chosen = max(pairs, key=lambda pair: pair[1] - pair[0], default=None)
    if chosen is None:
        revealed = _reveal(pieces)
        return [text] if len(revealed) == len(pieces) else _break(revealed, indent, inside)
    start, end = chosen
    soft = pieces[start] is _SOFT or chosen == atom
    opener, closer = ("(", ")") if soft else (pieces[start], pieces[end])
    return [
        *_break([*pieces[:start], opener], indent, inside),
        *_break(pieces[start + 1 : end], indent + 1, True),
        *_break([closer, *pieces[end + 1 :]], indent, inside),
    ]


def _break_at_delimiters(
    pieces: Sequence[str], delimiters: frozenset[int], indent: int
) -> list[str]:
    weakest = min(pieces[index].strength for index in delimiters)  # type: ignore[attr-defined]
    lines: list[str] = []
    group: list[str] = []
    for index, piece in enumerate(pieces):
        if index not in delimiters or piece.strength != weakest:  # type: ignore[attr-defined]
            group.append(piece)
        elif weakest == _COMMA.strength:
            lines += _break([*group, ","], indent, True)
            group = []
        else:
            lines += _break(group, indent, True)
            group = [piece.lstrip()]
    if weakest == _COMMA.strength:
        group.append(",")
    return lines + _break(group, indent, True)


def _reveal(pieces: Sequence[str]) -> list[str]:
    """Let brackets in what is hidden be broken; its commas remain no places to break at."""
    revealed = []
    depth = 0
    hidden: list[int] = []
    for piece in pieces:
        if piece is _HIDE:
            hidden.append(depth)
        elif piece is _HIDE_END:
            hidden.pop()
        else:
            depth += (piece in _OPENERS) - (piece in _CLOSERS)
            revealed.append(str(piece) if hidden and hidden[-1] == depth else piece)
    return revealed


# Comparing what was printed with what was to be printed

_IGNORED = frozenset({"ctx", "kind", "type_comment", "type_ignores"})  # no part of the meaning
_BLOCKS = frozenset({"body", "orelse", "finalbody"})


def _difference(want: Any, got: Any) -> str | None:
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
