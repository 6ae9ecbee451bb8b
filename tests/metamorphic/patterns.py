"""Rewrites given by tables of patterns: `A + B -> operator.add(A, B) | A: number`.

A single capital letter stands for any expression, the same wherever it stands; what follows the bar
says of which kinds it must have been (`base.is_kind`), `out` what the whole must have been.
In what is put in its place, names that end in an underscore are new ones.
"""

from __future__ import annotations

import ast
import copy
import re
from typing import Any

from tests.metamorphic.base import Rewrite, Substitution, is_kind, kinds

LARGE = 25  # nodes of an expression that isn't written twice


class Rule:
    """One line of a table."""

    def __init__(self, line: str) -> None:
        self.line = line
        rule, _, conditions = line.partition(" | ")
        pattern, _, replacement = rule.partition(" -> ")
        self.replacement = ast.parse(replacement.strip().replace(";; ", "\n").replace("\\n", "\n"))
        (self.pattern,) = ast.parse(pattern.strip()).body
        if isinstance(self.pattern, ast.Expr) and isinstance(self.replacement.body[0], ast.Expr):
            self.pattern = only([self.pattern])
        self.conditions = re.findall(r"(\w+): ([\w/ ]+?)(?=$|, )", conditions.strip())
        names = [n.id for n in ast.walk(self.replacement) if isinstance(n, ast.Name)]
        self.uses = {name: names.count(name) for name in names}
        self.new = sorted({n for n in names if len(n) > 1 and n.endswith("_")})

    def matches(self, node: Any) -> dict[str, Any] | None:
        """What the letters stand for, if the rule can be applied."""
        found: dict[str, Any] = {}
        if not match(self.pattern, node, found):
            return None
        for letter, wanted in self.conditions:
            what = node if letter == "out" else found[letter]
            if wanted.startswith("a "):
                if type(what).__name__ != wanted[2:]:
                    return None
            elif not is_kind(kinds(what) or bound_kinds(what, node), wanted):
                return None
        for letter, part in found.items():
            if self.uses.get(letter, 0) > 1 and sum(1 for _ in ast.walk(part)) > LARGE:
                return None
        return found


def bound_kinds(what: Any, statement: Any) -> Any:
    """The kinds of a variable that a statement assigns, before it does."""
    return getattr(statement, "bound", {}).get(getattr(what, "id", None), ())


def only(body: list[Any]) -> Any:
    """A statement, or the expression that it consists of."""
    (statement,) = body
    return statement.value if isinstance(statement, ast.Expr) else statement


def match(pattern: Any, node: Any, found: dict[str, Any]) -> bool:
    """Whether a node is what a pattern says; the letters' parts are put into `found`."""
    if isinstance(pattern, ast.Name) and len(pattern.id) == 1 and pattern.id.isupper():
        if isinstance(node, (ast.Slice, ast.Starred)) or not isinstance(node, ast.expr):
            return False
        if isinstance(node, ast.Tuple) and any(isinstance(e, ast.Slice) for e in node.elts):
            return False
        if pattern.id in found:
            return ast.dump(found[pattern.id]) == ast.dump(load_context(node))
        found[pattern.id] = load_context(node)
        return True
    if isinstance(pattern, ast.AST):
        return type(pattern) is type(node) and all(
            match(getattr(pattern, f, None), getattr(node, f, None), found)
            for f in pattern._fields
            if f not in ("ctx", "kind", "type_comment")
        )
    if isinstance(pattern, list):
        return (
            isinstance(node, list)
            and len(pattern) == len(node)
            and all(match(p, n, found) for p, n in zip(pattern, node, strict=True))
        )
    return bool(pattern == node)


def load_context(node: Any) -> Any:
    """An expression as one that is read."""
    if isinstance(getattr(node, "ctx", None), ast.Store):
        node = copy.copy(node)
        node.ctx = ast.Load()
        if isinstance(node, (ast.Tuple, ast.List)):
            node.elts = [load_context(e) for e in node.elts]
    return node


class Table(Rewrite):
    """A rewrite whose rules stand in a table."""

    rules: list[Rule]
    by_type: dict[type, list[Rule]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.rules = [Rule(line) for line in (cls.__doc__ or "").splitlines() if " -> " in line]
        cls.by_type = {}
        for rule in cls.rules:
            cls.by_type.setdefault(type(rule.pattern), []).append(rule)

    def visit(self, node: Any) -> Any:
        types = {type(node), ast.Name} if isinstance(node, ast.expr) else {type(node)}
        rules = [r for t in types for r in self.by_type.get(t, ())]
        if not isinstance(getattr(node, "ctx", None) or ast.Load(), ast.Load):
            rules = []
        found = [(r, m) for r in rules if (m := r.matches(node)) is not None]
        # Of the node as it was; what stands in it is visited first
        if not found or not self.offer(node):
            return super().visit(node)
        choice = self.random.choice(found)
        node = super().visit(node)
        if type(node) is not type(choice[0].pattern) and not isinstance(
            choice[0].pattern, ast.Name
        ):
            return node
        parts: dict[str, Any] = {}
        if not match(choice[0].pattern, node, parts):
            return node
        return self.replaced(choice[0], parts, node)

    def replaced(self, rule: Rule, parts: dict[str, Any], node: Any) -> Any:
        names = {name: self.fresh(name.rstrip("_")) for name in rule.new}
        copies = copy.deepcopy(rule.replacement)
        result = Substitution({**parts, **names}).visit(copies).body
        result = copy.deepcopy(result)  # what stands twice is two nodes
        self.need(result)
        if isinstance(node, ast.stmt):
            return result
        value = only(result)
        if hasattr(node, "kinds") and not hasattr(value, "kinds"):
            value.kinds = node.kinds
        return value
