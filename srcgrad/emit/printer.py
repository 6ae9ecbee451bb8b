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
from collections.abc import Sequence
from typing import Any, ClassVar

from .expressions import ExpressionPrinter
from .layout import SOFT, SOFT_END, broken
from .levels import ATOM, NAMED, TEST, TUPLE, YIELD
from .words import comment_lines, delegated, docstring, dotted, identifier

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


_DEFINITIONS = frozenset({"FunctionDef", "AsyncFunctionDef", "ClassDef"})
_IMPORTS = frozenset({"Import", "ImportFrom"})


class _Printer(ExpressionPrinter):
    """Prints statements: collects the finished lines."""

    def __init__(self, tree: ast.AST) -> None:
        super().__init__()
        self.lines: list[str] = []
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
        else:
            super().dispatch(tree)

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

    def _target(self, node: Any) -> None:
        if type(node).__name__ == "Tuple":
            self._soft(node, TUPLE)
        else:
            self._expr(node, TUPLE)

    def _Expr(self, t: Any) -> None:
        self._expr(t.value, YIELD)

    def _Assign(self, t: Any) -> None:
        for target in t.targets:
            self._target(target)
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
        self._target(t.target)
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
