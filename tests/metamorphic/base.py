"""What all rewrites have in common.

A rewrite is a NodeTransformer. It walks the whole module and calls `offer()` wherever it could be
applied; where that returns true, it applies. Which places these are is decided from outside, by
their numbers; what it chooses there it asks of `self.random`, which depends on the place alone.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

REGISTRY: dict[str, type[Rewrite]] = {}
JUMPS = (ast.Return, ast.Break, ast.Continue)
SCOPES = (ast.FunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
KNOWN_MODULES = (
    "contextlib copy dataclasses functools itertools math operator types collections".split()
)


def load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def store(name: str) -> ast.Name:
    return ast.Name(name, ast.Store())


def expression(text: str, **parts: Any) -> Any:
    """The expression that a text says, with parts in place of names."""
    return Substitution(parts).visit(ast.parse(text, mode="eval").body)


def statements(text: str, **parts: Any) -> list[Any]:
    """The statements that a text says; a part may be a list of statements, for a name alone."""
    return Substitution(parts).visit(ast.parse(text)).body


class Substitution(ast.NodeTransformer):
    """Puts expressions, other names, or lists of statements in place of names."""

    def __init__(self, parts: dict[str, Any]) -> None:
        self.parts = parts

    def visit_Name(self, node: ast.Name) -> Any:
        part = self.parts.get(node.id)
        if isinstance(part, str):
            return ast.Name(part, node.ctx)
        if part is None:
            return node
        return retargeted(part) if isinstance(node.ctx, ast.Store) else part

    def visit_Expr(self, node: ast.Expr) -> Any:
        if isinstance(node.value, ast.Name) and isinstance(self.parts.get(node.value.id), list):
            return self.parts[node.value.id]
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        if isinstance(self.parts.get(node.name), str):
            node.name = self.parts[node.name]
        return self.generic_visit(node)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> Any:
        names = [n for each in node.names for n in self.names(each)]
        return ast.Nonlocal(names) if names else ast.Pass()

    def visit_arguments(self, node: ast.arguments) -> Any:
        given = [a for each in node.args for a in self.parameters(each)]
        node.args = []
        node = self.generic_visit(node)
        node.args = given
        return node

    def visit_arg(self, node: ast.arg) -> Any:
        (node.arg,) = self.names(node.arg)
        return node

    def names(self, name: str) -> list[str]:
        part = self.parts.get(name, name)
        return [part] if isinstance(part, str) else list(part)

    def parameters(self, parameter: ast.arg) -> list[ast.arg]:
        return [ast.arg(name) for name in self.names(parameter.arg)]


def retargeted(node: Any) -> Any:
    """An expression as the target of an assignment."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return type(node)([retargeted(e) for e in node.elts], ast.Store())
    if isinstance(node, ast.Name):
        return store(node.id)
    if isinstance(node, ast.Attribute):
        return ast.Attribute(node.value, node.attr, ast.Store())
    if isinstance(node, ast.Subscript):
        return ast.Subscript(node.value, node.slice, ast.Store())
    if isinstance(node, ast.Starred):
        return ast.Starred(retargeted(node.value), ast.Store())
    raise TypeError(f"can't be assigned to: {node}")


def own_nodes(nodes: Iterable[Any]) -> Iterator[Any]:
    """All nodes of statements, but for what stands in functions that these define."""
    for node in nodes:
        yield node
        if not isinstance(node, SCOPES):
            yield from own_nodes(ast.iter_child_nodes(node))


def loaded(nodes: Iterable[Any]) -> set[str]:
    """The names read in nodes, in functions that they define, too."""
    return {
        n.id
        for node in nodes
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    } | {n.target.id for s in nodes for n in ast.walk(s)
         if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}  # fmt: skip


def stored(nodes: Iterable[Any]) -> set[str]:
    """The names that nodes assign in their own scope."""
    names = set()
    hidden = set()
    for n in own_nodes(nodes):
        if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del)):
            names.add(n.id)
        elif isinstance(n, (ast.FunctionDef, ast.ClassDef)):
            names.add(n.name)
        elif isinstance(n, (ast.MatchAs, ast.MatchStar)) and n.name:
            names.add(n.name)
        elif isinstance(n, ast.MatchMapping) and n.rest:
            names.add(n.rest)
        elif isinstance(n, ast.ExceptHandler) and n.name:
            names.add(n.name)
        elif isinstance(n, ast.alias):
            names.add((n.asname or n.name).split(".")[0])
        elif isinstance(n, ast.comprehension):
            hidden |= {t.id for t in ast.walk(n.target) if isinstance(t, ast.Name)}
    return names - hidden


def has(nodes: Iterable[Any], *types: Any) -> bool:
    """Whether a node of these types is among them, outside of functions that they define."""
    return any(isinstance(n, types) for n in own_nodes(nodes))


def jumps_out(nodes: Iterable[Any]) -> bool:
    """Whether statements return, yield, or leave a loop that isn't among them."""
    for node in nodes:
        if isinstance(node, (*JUMPS, ast.Yield, ast.YieldFrom, ast.Nonlocal, ast.Global)):
            return True
        if isinstance(node, (ast.For, ast.While)):
            inner = [*ast.iter_child_nodes(node)]
            kept = (ast.Break, ast.Continue)
            if any(
                isinstance(n, (ast.Return, ast.Yield, ast.YieldFrom, ast.Nonlocal))
                for n in own_nodes(inner)
            ) or any(isinstance(n, kept) for n in own_nodes(node.orelse)):
                return True
        elif not isinstance(node, SCOPES) and jumps_out(ast.iter_child_nodes(node)):
            return True
    return False


def parameters(function: ast.FunctionDef) -> list[str]:
    """The names of all the parameters of a function."""
    a = function.args
    extra = [p for p in (a.vararg, a.kwarg) if p]
    return [p.arg for p in [*a.posonlyargs, *a.args, *a.kwonlyargs, *extra]]


def kinds(node: Any) -> frozenset[str]:
    """The kinds of an expression, as far as they are known."""
    if isinstance(node, ast.Constant):
        value = node.value
        return frozenset({type(value).__name__ if value is not None else "none"})
    return getattr(node, "kinds", frozenset())


def is_kind(seen: Iterable[str], wanted: str) -> bool:
    """Whether all kinds are of one of the wanted: `array` stands for all `array1` ..."""
    seen = set(seen)
    groups = {"number": ("float", "int"), "array": tuple(f"array{i}" for i in range(1, 7))}
    accepted = {k for w in wanted.split("/") for k in groups.get(w, (w,))}
    return bool(seen) and seen <= accepted


class Rewrite(ast.NodeTransformer):
    """A rewrite of a module; see the top."""

    name = ""
    weight: ClassVar[float] = 1.0  # how often it is chosen

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.name:
            REGISTRY[cls.name] = cls

    def __init__(self, tree: ast.Module, seed: int, chosen: frozenset[int] = frozenset()) -> None:
        self.tree, self.seed, self.chosen = tree, seed, chosen
        self.count = 0
        self.functions: list[Any] = []  # around this place
        self.classes: list[ast.ClassDef] = []
        self.earlier: list[list[Any]] = []  # statements to put before the one being visited
        self.steady: list[bool] = []  # whether what is here runs exactly once, when it begins
        self.taken = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        self.taken |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
        self.taken |= {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef))}
        self.taken |= {n.name for n in ast.walk(tree) if isinstance(n, ast.ClassDef)}
        self.taken |= {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
        self.top: list[Any] = []  # to put after the imports
        self.imports: set[str] = set()
        self.random = random.Random(0)

    def run(self) -> ast.Module:
        """The module, rewritten in place."""
        self.visit(self.tree)
        body = self.tree.body
        have = {a.name for s in body if isinstance(s, ast.Import) for a in s.names if not a.asname}
        place = 0
        for i, s in enumerate(body):
            if isinstance(s, (ast.Import, ast.ImportFrom)) or (i == 0 and isinstance(s, ast.Expr)):
                place = i + 1
        new = [ast.Import([ast.alias(name)]) for name in sorted(self.imports - have)]
        body[place:place] = new + self.top
        return ast.fix_missing_locations(self.tree)

    def offer(self, node: Any = None) -> bool:
        """Whether to apply the rewrite here; with a node, only if it was ever run."""
        if node is not None and not self.was_run(node):
            return False
        number = self.count
        self.count += 1
        self.random = random.Random(f"{self.name}:{self.seed}:{number}")
        return number in self.chosen

    def was_run(self, node: Any) -> bool:
        if not self.functions or self.functions[0].name == "inputs":
            return False
        return hasattr(node, "kinds") or hasattr(node, "bound")

    def fresh(self, wish: str) -> str:
        """A name that isn't used in the module."""
        name, number = wish, 1
        while name in self.taken:
            number += 1
            name = f"{wish}_{number}"
        self.taken.add(name)
        return name

    def need(self, node: Any) -> None:
        """Import the modules of the standard library that a new node names."""
        nodes = node if isinstance(node, list) else [node]
        for n in (n for each in nodes for n in ast.walk(each)):
            if isinstance(n, ast.Name) and n.id in KNOWN_MODULES:
                self.imports.add(n.id)

    # Walking

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        if not self.functions and not self.classes and node.name == "inputs":
            return node
        self.functions.append(node)
        self.generic_visit(node)
        self.functions.pop()
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        self.classes.append(node)
        self.generic_visit(node)
        self.classes.pop()
        return node

    def generic_visit(self, node: Any) -> Any:
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                visited = self.statements(value)
                setattr(node, field, self.block(visited) if self.functions else visited)
            elif isinstance(value, list):
                new = []
                for i, item in enumerate(value):
                    result = self.part(node, field, i, item)
                    if isinstance(result, list):
                        new += result
                    elif result is not None or item is None:
                        new.append(result)
                setattr(node, field, new)
            elif isinstance(value, ast.AST):
                setattr(node, field, self.part(node, field, 0, value))
        return node

    def statements(self, body: list[Any]) -> list[Any]:
        new = []
        for s in body:
            self.earlier.append([])
            self.steady.append(True)
            result = self.visit(s)
            self.steady.pop()
            new += self.earlier.pop()
            new += result if isinstance(result, list) else [result]
        return new

    def part(self, node: Any, field: str, index: int, value: Any) -> Any:
        """Visit a part of a node, knowing whether it is run once if the statement is."""
        if not isinstance(value, ast.AST):
            return value
        once = not (
            isinstance(node, (*SCOPES, *COMPREHENSIONS, ast.comprehension, ast.While))
            or (isinstance(node, ast.IfExp) and field != "test")
            or (isinstance(node, ast.BoolOp) and index > 0)
            or (isinstance(node, ast.Compare) and field == "comparators" and index > 0)
            or isinstance(node, (ast.match_case, ast.ExceptHandler))
        )
        if isinstance(value, ast.pattern):
            return value
        self.steady.append(once and bool(self.steady) and self.steady[-1])
        result = self.visit(value)
        self.steady.pop()
        return result

    def block(self, body: list[Any]) -> list[Any]:
        """What to make of the statements of a block, which are visited already."""
        return body
