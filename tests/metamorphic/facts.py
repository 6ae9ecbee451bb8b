"""What is known of a program from running it: the kinds of its expressions, and what is bound.

`observe(tree, call)` runs the program of a module once, and notes in each node that was run

- `node.kinds`, the kinds of the values that an expression had, such as `float` or `array2`;
- `node.bound`, the names that had a value whenever a statement began, with their kinds.

A node without them wasn't run, or was made by a rewrite.
"""

from __future__ import annotations

import ast
import copy
import numbers
from typing import Any

import numpy as np

MOST = 40  # observations of one place
UNWRAPPED = (ast.Starred, ast.Slice, ast.JoinedStr, ast.FormattedValue, ast.Constant)


def kind_of(value: Any) -> str:
    """A word for what a value is."""
    if isinstance(value, np.ndarray):
        letter = {"f": "", "i": "int ", "b": "bool ", "c": "complex "}.get(value.dtype.kind, "odd ")
        return f"{letter}array{value.ndim}"
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, numbers.Integral):
        return "int"
    if isinstance(value, numbers.Real):
        return "float"
    if isinstance(value, numbers.Number):
        return "complex"
    if value is None:
        return "none"
    if isinstance(value, (list, tuple, dict, str, range)):
        return type(value).__name__
    return "callable" if callable(value) else "object"


class Watched(ast.NodeTransformer):
    """The program with calls of `see_` around expressions and of `at_` before statements."""

    def __init__(self) -> None:
        self.inside = 0

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            return self.function(node)
        if isinstance(node, (ast.pattern, ast.arguments)):
            return node
        if isinstance(node, ast.AnnAssign):
            node.value = node.value and self.visit(node.value)
            return node
        self.generic_visit(node)
        self.announce(node)
        if not self.inside or not isinstance(node, ast.expr) or isinstance(node, UNWRAPPED):
            return node
        if not isinstance(getattr(node, "ctx", None) or ast.Load(), ast.Load):
            return node
        if isinstance(node, ast.Tuple) and any(isinstance(e, UNWRAPPED) for e in node.elts):
            return node
        return called("see_", node, node)

    def function(self, node: Any) -> Any:
        self.inside += 1
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        else:
            node.body = [self.visit(s) for s in node.body]
            self.announce(node)
        self.inside -= 1
        return node

    def announce(self, node: Any) -> None:
        if not self.inside:
            return
        for field in ("body", "orelse", "finalbody"):
            statements = getattr(node, field, None)
            if isinstance(statements, list):
                announced: list[Any] = []
                for s in statements:
                    names = ast.Call(ast.Name("locals", ast.Load()), [], [])
                    announced += [ast.Expr(called("at_", s, names)), s]
                setattr(node, field, announced)


def called(name: str, node: Any, argument: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), [ast.Constant(node.number), argument], [])


def observe(tree: ast.Module, run: Any) -> None:
    """Note in the nodes of `tree` what they are when `run(tree watched, namespace)` is run."""
    nodes: list[Any] = list(ast.walk(tree))
    for number, node in enumerate(nodes):
        node.number = number
        for name in ("kinds", "bound"):
            if hasattr(node, name):
                delattr(node, name)
    kinds: list[set[str]] = [set() for _ in nodes]
    bound: list[dict[str, set[str]] | None] = [None] * len(nodes)
    visits = [0] * len(nodes)

    def see(number: int, value: Any) -> Any:
        if visits[number] < MOST:
            visits[number] += 1
            kinds[number].add(kind_of(value))
        return value

    def at(number: int, names: dict[str, Any]) -> None:
        if visits[number] >= MOST:
            return
        visits[number] += 1
        mine = bound[number]
        if mine is None:
            bound[number] = {name: {kind_of(value)} for name, value in names.items()}
            return
        for name in [n for n in mine if n not in names]:
            del mine[name]
        for name, seen in mine.items():
            seen.add(kind_of(names[name]))

    watched = ast.fix_missing_locations(Watched().visit(copy.deepcopy(tree)))
    run(watched, {"see_": see, "at_": at})
    for node, seen, names in zip(nodes, kinds, bound, strict=True):
        if seen:
            node.kinds = frozenset(seen)
        if names is not None:
            node.bound = names
