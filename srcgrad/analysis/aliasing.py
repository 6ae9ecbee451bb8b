"""Which variables may share memory, and which memory is written in place.

Variables fall into classes: a view with what it is a view of, the values that meet in an `If` or
a loop, the items of a list with the list's other items. Two variables of different classes never
share memory. The analysis is a union-find over the whole function: sound whatever the order.
"""

from __future__ import annotations

import operator
from typing import Any

from .. import ir
from ..kinds import Array, ListOf, TupleOf


class Aliasing:
    """The memory classes of a function's variables."""

    def __init__(self, block: ir.Block) -> None:
        self.parent: dict[ir.Var, ir.Var] = {}
        self.contents: dict[ir.Var, ir.Var] = {}  # of a list's class: a variable of its items'
        self._visit(block)
        self.written: set[ir.Var] = set()
        for statement in ir.walk(block):
            if isinstance(statement, ir.Assign):
                self.written.update(self.find(v) for v in statement.writes)

    def find(self, var: ir.Var) -> ir.Var:
        """The representative of a variable's class."""
        root = var
        while (parent := self.parent.get(root, root)) is not root:
            root = parent
        while var is not root:
            self.parent[var], var = root, self.parent[var]
        return root

    def union(self, a: ir.Var, b: ir.Var) -> None:
        a, b = self.find(a), self.find(b)
        if a is b:
            return
        self.parent[b] = a
        inner = self.contents.pop(b, None)
        if inner is not None:
            if a in self.contents:
                self.union(self.contents[a], inner)
            else:
                self.contents[a] = inner

    def is_written(self, var: ir.Var) -> bool:
        """Whether memory of this variable's class is written anywhere."""
        return self.find(var) in self.written

    def items(self, container: ir.Var) -> ir.Var:
        """A variable that stands for the items of a list."""
        root = self.find(container)
        if root not in self.contents:
            self.contents[root] = ir.Var("items", ListOf(None))
        return self.contents[root]

    def _store(self, container: ir.Var, operand: ir.Operand) -> None:
        for v in ir.variables(operand):
            if holds_memory(v.kind):
                self.union(self.items(container), v)

    def _visit(self, block: ir.Block) -> None:
        for s in block.statements:
            match s:
                case ir.Assign():
                    self._assign(s)
                case ir.If():
                    self._visit(s.then)
                    self._visit(s.orelse)
                    for k, target in enumerate(s.targets):
                        self._meet(target, s.then.results[k], s.orelse.results[k])
                case ir.Loop():
                    self._visit(s.body)
                    for k, target in enumerate(s.targets):
                        self._meet(target, s.inits[k], s.body.results[k])
                        self._meet(target, s.params[k])

    def _meet(self, target: ir.Var, *operands: ir.Operand) -> None:
        if holds_memory(target.kind):
            for operand in operands:
                if isinstance(operand, ir.Var) and holds_memory(operand.kind):
                    self.union(target, operand)

    def _assign(self, s: ir.Assign) -> None:
        first = s.args[0] if s.args else None
        if isinstance(s.target.kind, ListOf) and s.function is list:
            for operand in s.args:
                self._store(s.target, operand)
            return
        if isinstance(first, ir.Var) and isinstance(first.kind, ListOf):
            if s.function is operator.setitem:
                self._store(first, s.args[2])
                return
            if s.writes and len(s.args) > 1 and s.function is not list.pop:
                self._store(first, s.args[1])
                return
            if isinstance(s.target.kind, ListOf) and isinstance(s.args[-1], ir.Pack):
                self.union(self.items(s.target), self.items(first))
                return
            if s.views and holds_memory(s.target.kind):
                self.union(s.target, self.items(first))
                return
        for v in s.views:
            if isinstance(v.kind, ListOf):
                if holds_memory(s.target.kind):
                    self.union(s.target, self.items(v))
            elif holds_memory(s.target.kind):
                self.union(s.target, v)


def holds_memory(kind: Any) -> bool:
    """Whether values of a kind refer to memory that can be written in place."""
    return isinstance(kind, (Array, ListOf, TupleOf))
