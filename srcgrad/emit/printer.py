"""Print a gast (or ast) tree as the Python a careful person would write.

Two kinds of statement exist for the printer alone: `Comment` and `BlankLine`.  Any statement may
also carry an attribute ``trailing_comment``, a string printed behind its first line.

    >>> import gast
    >>> tree = gast.parse("def f(x):\\n  return (x[1:2, ..., None]) + (2*x)")
    >>> tree.body[0].body.insert(0, Comment("twice and more"))
    >>> tree.body[0].body[1].trailing_comment = "the end"
    >>> print(to_source(tree), end="")
    def f(x):
        # twice and more
        return x[1:2, ..., None] + 2 * x  # the end
"""

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

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
    SOFT,
    SOFT_END,
    broken,
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
from .words import (
    NUMBERS,
    comment_lines,
    constant,
    delegated,
    docstring,
    dotted,
    identifier,
)

__all__ = ["BlankLine", "Comment", "to_source"]


class Comment(ast.stmt):
    """A statement that prints as ``# text``, one line for each line of the text.

    >>> print(to_source(ast.Module([Comment("one\\ntwo")], [])), end="")
    # one
    # two
    """

    _fields: ClassVar[tuple[str, ...]] = ("text",)
    text: str

    def __init__(self, text: str = "") -> None:  # the default: copy.deepcopy gives no arguments
        self.text = text


class BlankLine(ast.stmt):
    """A statement that prints as an empty line.

    >>> name = ast.Expr(ast.Name("x"))
    >>> to_source(ast.Module([name, BlankLine(), name], []))
    'x\\n\\nx\\n'
    """

    _fields: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        pass


def to_source(tree: ast.AST) -> str:
    """The source text of a tree (a module, a statement or an expression).

    >>> print(to_source(ast.parse("y = (-(x@w)) ** (2+n)")), end="")
    y = (-(x @ w)) ** (2 + n)

    A name that is not an identifier, or a constant that cannot be written down, is a ValueError.
    """
    return _Printer(tree).text()


_LEVELS = {
    "NamedExpr": NAMED,
    "Yield": YIELD,
    "YieldFrom": YIELD,
    "IfExp": TEST,
    "Lambda": TEST,
    "Compare": COMPARE,
    "Await": AWAIT,
}
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
            self._expr(tree, TUPLE)
        else:
            self.dispatch(tree)

    def text(self) -> str:
        self._end_line()
        return "\n".join(self.lines).rstrip("\n") + "\n"

    def dispatch(self, tree: Any) -> None:
        if isinstance(tree, list):
            self._block(tree)
        elif isinstance(tree, ast.expr):
            self._expr(tree, TEST)
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
        lines = [line] if "\n" in line else broken(pieces, self._indent, False)
        if self.comment is not None:
            lines[0] += "  # " + " ".join(comment_lines(self.comment)).strip(" ")
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
                self.write(docstring(statement.value.value))  # type: ignore[attr-defined]
            else:
                self.dispatch(statement)
            self._end_line()
            empty = False
            before = kind
        if empty and self._indent:
            self.fill("pass")
            self._end_line()

    def _comment(self, node: Any) -> None:
        for line in comment_lines(node.text):
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
        self.write(SOFT)
        self._expr(node, level)
        self.write(SOFT_END)

    def _Expr(self, t: Any) -> None:
        self._expr(t.value, YIELD)

    def _Assign(self, t: Any) -> None:
        for target in t.targets:
            self._expr(target, TUPLE)
            self.write(" = ")
        self._value(t.value, type(t.targets[-1]).__name__ == "Tuple")

    def _value(self, node: Any, bare_tuple: bool = False) -> None:
        self._soft(node, TEST if type(node).__name__ == "Tuple" and not bare_tuple else YIELD)

    def _AugAssign(self, t: Any) -> None:
        self._expr(t.target, ATOM)
        self.write(f" {self.binop[type(t.op).__name__]}= ")
        self._value(t.value)

    def _AnnAssign(self, t: Any) -> None:
        bracketed = type(t.target).__name__ == "Name" and not t.simple
        if bracketed:
            self.write("(")
        self._expr(t.target, ATOM)
        if bracketed:
            self.write(")")
        self.write(": ")
        self._expr(t.annotation, TEST)
        if t.value is not None:
            self.write(" = ")
            self._value(t.value)

    def _Return(self, t: Any) -> None:
        self.write("return")
        if t.value is not None:
            self.write(" ")
            self._soft(t.value, TUPLE)

    def _Assert(self, t: Any) -> None:
        self.write("assert ")
        self._soft(t.test, TEST)
        if t.msg is not None:
            self.write(", ")
            self._soft(t.msg, TEST)

    def _Global(self, t: Any) -> None:
        self.write("global " + ", ".join(map(identifier, t.names)))

    def _Nonlocal(self, t: Any) -> None:
        self.write("nonlocal " + ", ".join(map(identifier, t.names)))

    def _ImportFrom(self, t: Any) -> None:
        module = dotted(t.module) if t.module else ""
        self.write(f"from {'.' * (t.level or 0)}{module} import ")
        if [alias.name for alias in t.names] == ["*"]:
            self.write("*")
            return
        self.write(SOFT)
        self._sequence(t.names, self._alias)
        self.write(SOFT_END)

    def _alias(self, t: Any) -> None:
        self.write(dotted(t.name) + (f" as {identifier(t.asname)}" if t.asname else ""))

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
        self._soft(t.test, NAMED if type(t.test).__name__ == "NamedExpr" else TEST)
        self._suite(t.body)

    def _else(self, body: Sequence[ast.stmt]) -> None:
        if body:
            self.write("else")
            self._suite(body)

    def _For(self, t: Any) -> None:
        self.write("async for " if type(t).__name__ == "AsyncFor" else "for ")
        self._expr(t.target, TUPLE)
        self.write(" in ")
        self._soft(t.iter, TEST)
        self._suite(t.body)
        self._else(t.orelse)

    _AsyncFor = _For

    def _With(self, t: Any) -> None:
        self.write("async with " if type(t).__name__ == "AsyncWith" else "with ")
        items = t.items
        if len(items) > 1:
            self.write(SOFT)
            self._sequence(items, self._withitem)
            self.write(SOFT_END)
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
            self._expr(t.type, TEST)
        if t.name:
            self.write(f" as {identifier(getattr(t.name, 'id', t.name))}")
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
        self._expr(t.subject, TEST)
        self.enter()
        for case in t.cases:
            self.comment = getattr(case, "trailing_comment", None)
            self.write(f"case {delegated(case.pattern)}")
            if case.guard is not None:
                self.write(" if ")
                self._soft(case.guard, TEST)
            self._suite(case.body)
        self._indent -= 1

    def _TypeAlias(self, t: Any) -> None:
        self.write("type ")
        self._expr(t.name, ATOM)
        self._type_parameters(t)
        self.write(" = ")
        self._soft(t.value, TEST)

    def _type_parameters(self, t: Any) -> None:
        parameters = getattr(t, "type_params", None)
        if parameters:
            self.write("[")
            self._sequence(parameters, self.dispatch)
            self.write("]")

    def _TypeVar(self, t: Any) -> None:
        stars = {"TypeVar": "", "TypeVarTuple": "*", "ParamSpec": "**"}[type(t).__name__]
        self.write(stars + identifier(t.name))
        if getattr(t, "bound", None) is not None:
            self.write(": ")
            self._expr(t.bound, TEST)
        if getattr(t, "default_value", None) is not None:
            self.write(" = ")
            self._expr(t.default_value, TEST)

    _TypeVarTuple = _ParamSpec = _TypeVar

    def _decorators(self, t: Any) -> None:
        comment, self.comment = self.comment, None  # it belongs behind `def`
        for decorator in t.decorator_list:
            self.write("@")
            self._expr(decorator, TEST)
            self._end_line()
        self.comment = comment

    def _ClassDef(self, t: Any) -> None:
        self._decorators(t)
        self.write(f"class {identifier(t.name)}")
        self._type_parameters(t)
        if t.bases or t.keywords:
            self.write("(")
            self._sequence([*t.bases, *t.keywords], self.dispatch)
            self.write(")")
        self._suite(t.body, "class")

    def _FunctionDef(self, t: Any) -> None:
        self._decorators(t)
        word = "async def" if type(t).__name__ == "AsyncFunctionDef" else "def"
        self.write(f"{word} {identifier(t.name)}")
        self._type_parameters(t)
        self.write("(")
        self._arguments(t.args)
        self.write(")")
        if getattr(t, "returns", None) is not None:
            self.write(" -> ")
            self._expr(t.returns, TEST)
        self._suite(t.body, "function")

    _AsyncFunctionDef = _FunctionDef

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

    # Expressions

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
