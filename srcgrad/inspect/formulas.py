"""What the rule of a primitive adds to the adjoints of its operands, in the operands' names.

`h = np.tanh(total)` has `d_total += d_h * (1 - h * h)`. Where a rule has branches, the one for
operands of these kinds is shown: its tests are evaluated with samples of the operands.
"""

from __future__ import annotations

import ast
import copy
import inspect
import operator
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import ir
from ..errors import SourceError
from ..frontend.source import get_source
from ..kinds import Array, Kind, ListOf, Scalar
from ..rules import registry
from ..transform.misfits import parameters_of
from .calls import Call
from .rules import function_name


@dataclass(frozen=True)
class Rule:
    """The derivative rule of a primitive.

    Attributes:
        formula: what it adds to the adjoints of the operands, one line for each.
        where: the file and line where it is written; "" of what the compiler does by itself.
    """

    formula: str
    where: str


def view_of(c: Call) -> Rule:
    """What is done for a view of an array whose adjoint is updated in place."""
    (first, text), *rest = c.args
    mirrored = replace(c, args=((first, f"d_{text}"), *rest))
    return Rule(f"d_{c.name} = {mirrored.spelled}  # a view", "")


def rule_of(c: Call) -> Rule | None:
    """The rule of the primitive that is called, in the names of its operands."""
    record = registry.lookup(c.function)
    rule: Callable[..., Any] | None = registry.inplace_rules.get(c.function)
    written = rule is not None
    if rule is None and record is not None:
        rule = record.adjoint or record.partials
    if rule is None:
        return None
    first = c.args[0][0] if c.args else None
    if c.function is operator.getitem and isinstance(getattr(first, "kind", None), Array):
        return Rule(f"d_{c.spelled} += d_{c.name}", "")
    filename = rule.__code__.co_filename.replace("\\", "/").rpartition("/")[2]
    where = f"{filename}:{rule.__code__.co_firstlineno}"
    try:
        partial = record is not None and rule is record.partials
        return Rule(_formula(rule, partial, written, c), where)
    except SourceError:
        return Rule(f"{function_name(rule)}(…)", where)


def _formula(rule: Callable[..., Any], partial: bool, written: bool, c: Call) -> str:
    source = get_source(rule)
    tree: Any = ast.parse(source.text).body[0]
    value = getattr(tree, "value", None)
    folded = _Folded({**rule.__globals__, **_samples(rule, c)}, _constants(rule, c))
    if isinstance(value, ast.Lambda):
        body: list[Any] = folded.chosen([ast.Return(value.body)])
    else:
        body = folded.chosen(tree.body)
    renamed = _Renamed(_operand_names(rule, c, written))
    adjoints = _adjoint_names(rule, c)
    last = body.pop() if body else None
    if not isinstance(last, ast.Return) or last.value is None:
        return "\n".join(ast.unparse(renamed(s)) for s in [*body, *([last] if last else [])])
    if any(isinstance(inner, ast.Return) for s in body for inner in ast.walk(s)):
        return "\n".join(ast.unparse(renamed(s)) for s in [*body, last])
    parts = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
    wanted = [
        (adjoints[name], ast.BinOp(ast.Name("d_out"), ast.Mult(), part) if partial else part)
        for name, part in zip(parameters_of(rule), parts, strict=False)
        if name in adjoints and not (isinstance(part, ast.Constant) and part.value is None)
    ]
    shown: list[str] = []
    for position, s in enumerate(body):
        name = s.targets[0].id if _assigns_name(s) else None
        rest = [*body[position + 1 :], *(part for _, part in wanted)]
        reads = 0 if name is None else _reads(rest, name)
        if name is not None and reads == 0:
            continue
        # what is used once is written where it is used; not where the array may change before
        if name is not None and not written and (reads == 1 or isinstance(s.value, ast.Name)):
            renamed.names[name] = renamed(s.value)
            continue
        if name is not None:
            taken = {*adjoints.values(), c.name, f"d_{c.name}"}
            renamed.names[name] = ast.Name("contribution" if name in taken else name)
        shown += ast.unparse(renamed(s)).splitlines()
    shown += [_added(adjoint, renamed(part)) for adjoint, part in wanted]
    return "\n".join(line for line in shown if len(set(line.split(" += "))) > 1 or "+=" not in line)


def _assigns_name(s: Any) -> bool:
    return isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)


def _reads(nodes: list[Any], name: str) -> int:
    """How often a variable is read before it is assigned again."""
    count = 0
    for node in nodes:
        for n in ast.walk(node):
            if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load):
                count += 1
        if _assigns_name(node) and node.targets[0].id == name:
            break
    return count


def _added(adjoint: str, part: Any) -> str:
    text = ast.unparse(part)
    if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub):
        return f"{adjoint} -= {ast.unparse(part.operand)}"
    product = part.left if isinstance(part, ast.BinOp) else None
    if isinstance(product, ast.UnaryOp) and isinstance(product.op, ast.USub):
        if isinstance(part.op, (ast.Mult, ast.Div)):
            positive = ast.BinOp(product.operand, part.op, part.right)
            return f"{adjoint} -= {ast.unparse(positive)}"
    return f"{adjoint} += {text}"


def _operand_names(rule: Callable[..., Any], c: Call, written: bool) -> dict[str, Any]:
    """The operands by the names of the rule's parameters, as expressions."""
    named = dict(zip(parameters_of(rule), (text for _, text in c.args), strict=False))
    named.update((k, text) for k, _, text in c.kwargs)
    found: dict[str, Any] = {}
    for k, text in named.items():
        try:
            found[k] = ast.parse(text, mode="eval").body
        except SyntaxError:  # slices stand in subscripts alone
            key = text.removeprefix("(").removesuffix(")")
            subscript: Any = ast.parse(f"_[{key}]", mode="eval").body
            found[k] = subscript.slice
    if written and c.args:
        found["d_x"] = ast.Name(f"d_{c.args[0][1]}")
    else:
        found["out"], found["d_out"] = ast.Name(c.name), ast.Name(f"d_{c.name}")
    return found


def _adjoint_names(rule: Callable[..., Any], c: Call) -> dict[str, str]:
    """The adjoints of the active operands by the names of the rule's parameters."""
    named = [*zip(parameters_of(rule), (text for _, text in c.args), strict=False)]
    named += [(k, text) for k, _, text in c.kwargs]
    return {
        k: f"d_{text}" if text in c.active else f"d_[{', '.join(sorted(inside))}]"
        for k, text in named
        if (inside := _words(text) & c.active)
    }


def _words(text: str) -> set[str]:
    return set("".join(x if x.isalnum() or x == "_" else " " for x in text).split())


class _Renamed(ast.NodeTransformer):
    """Expressions in the place of names."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> Any:
        return copy.deepcopy(self.names.get(node.id, node))

    def __call__(self, node: Any) -> Any:
        return self.visit(copy.deepcopy(node))


class _Folded(ast.NodeTransformer):
    """What of a rule is for operands like these, as far as that can be told from samples."""

    def __init__(
        self, namespace: dict[str, Any], constants: Iterable[str] = (), depth: int = 0
    ) -> None:
        self.namespace, self.constants, self.depth = namespace, set(constants), depth

    def value(self, node: Any) -> Any:
        try:
            code = compile(ast.fix_missing_locations(ast.Expression(node)), "<rule>", "eval")
            return eval(code, self.namespace)
        except Exception:  # it depends on what is known only when running
            return _UNKNOWN

    def test(self, node: Any) -> bool | None:
        value = self.value(node)
        return None if value is _UNKNOWN else bool(value)

    def visit_Name(self, node: ast.Name) -> Any:
        value = self.namespace.get(node.id)
        if not isinstance(node.ctx, ast.Load):
            return node
        if type(value) in (int, bool, float, type(None)) and node.id in self.constants:
            return ast.Constant(value)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        test = self.test(node.test)
        if test is None:
            return self.generic_visit(node)
        return self.visit(node.body if test else node.orelse)

    def visit_Call(self, node: ast.Call) -> Any:
        """The helpers of the rules are written out where they come to one expression."""
        self.generic_visit(node)
        helper = self.namespace.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if (
            not isinstance(helper, types.FunctionType)
            or not helper.__module__.startswith("srcgrad.rules")
            or node.keywords
            or self.depth > 3
            or any(isinstance(a, ast.Starred) for a in node.args)
        ):
            return node
        given = dict(zip(parameters_of(helper), node.args, strict=False))
        samples = {k: v for k, a in given.items() if (v := self.value(a)) is not _UNKNOWN}
        tree: Any = ast.parse(get_source(helper).text).body[0]
        if not isinstance(tree, ast.FunctionDef) or len(given) != len(parameters_of(helper)):
            return node
        constants = [k for k, a in given.items() if isinstance(a, ast.Constant)]
        inner = _Folded({**helper.__globals__, **samples}, constants, self.depth + 1)
        body = inner.chosen(tree.body)
        if len(body) != 1 or not isinstance(body[0], ast.Return):
            return node
        return _Renamed(given)(body[0].value)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        left, right = node.left, node.right
        if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
            value = self.value(node)
            return node if value is _UNKNOWN else ast.Constant(value)
        if isinstance(node.op, ast.Pow) and isinstance(right, ast.Constant) and right.value == 1:
            return left
        return node

    def chosen(self, body: Iterable[Any]) -> list[Any]:
        """The statements that are for operands like the samples."""
        found: list[Any] = []
        for s in body:
            if isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant):
                continue
            test = self.test(s.test) if isinstance(s, ast.If) else None
            if isinstance(s, ast.If) and test is not None:
                found += self.chosen(s.body if test else s.orelse)
            else:
                found.append(self.visit(s))
                if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name):
                    name = s.targets[0].id
                    self.constants.discard(name)
                    self.namespace.pop(name, None)
                    value = self.value(s.value)
                    if value is not _UNKNOWN:
                        self.namespace[name] = value
            if found and isinstance(found[-1], ast.Return):
                break
        return found


# Samples


def _constants(rule: Callable[..., Any], c: Call) -> set[str]:
    """The parameters that the call leaves as they are, or gives a constant."""
    given = dict(zip(parameters_of(rule), (operand for operand, _ in c.args), strict=False))
    given.update((k, operand) for k, operand, _ in c.kwargs)
    return {
        k for k in inspect.signature(rule).parameters
        if k not in ("out", "d_out", "d_x") and isinstance(given.get(k, ir.Const(None)), ir.Const)
    }  # fmt: skip


def _samples(rule: Callable[..., Any], c: Call) -> dict[str, Any]:
    """Values of the kinds of the operands, by the names of the rule's parameters."""
    parameters = inspect.signature(rule).parameters.values()
    found = {p.name: p.default for p in parameters if p.default is not p.empty}
    args = (_sample(operand) for operand, _ in c.args)
    found.update(zip(parameters_of(rule), args, strict=False))
    found.update((k, _sample(operand)) for k, operand, _ in c.kwargs)
    found["out"] = found["d_out"] = _of_kind(c.kind)
    if c.written:
        found["d_x"] = _sample(c.args[0][0])
    return {k: v for k, v in found.items() if v is not _UNKNOWN}


_UNKNOWN = object()


def _sample(operand: ir.Operand) -> Any:
    match operand:
        case ir.Const():
            return operand.value
        case ir.Var():
            return _of_kind(operand.kind)
        case ir.Pack(type=t) if t in (tuple, list, slice):
            items = [_sample(item) for item in operand.items]
            if any(item is _UNKNOWN for item in items):
                return _UNKNOWN
            return slice(*items) if t is slice else t(items)
    return _UNKNOWN


def _of_kind(kind: Kind) -> Any:
    if isinstance(kind, Array) and kind.shape is not None and kind.dtype is not None:
        return np.ones([n if isinstance(n, int) else 3 for n in kind.shape], kind.dtype)
    if isinstance(kind, Scalar):
        one = np.ones((), kind.dtype)[()]
        return one.item() if kind.python else one
    if isinstance(kind, ListOf) and isinstance(kind.item, Kind):
        return [_of_kind(kind.item)] * 2
    return _UNKNOWN
