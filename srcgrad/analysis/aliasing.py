"""Which variables may share memory, and which memory is written in place.

Variables fall into classes: a view with what it is a view of, the values that meet in an `If` or
a loop, the items of a list with the list's other items (those of a record with what was pushed in
their place). Two variables of different classes never share memory. The analysis is a union-find
over the whole function: sound whatever the order.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from typing import Any

from .. import ir, runtime
from ..ir import list_append
from ..kinds import Array, ListOf, TupleOf
from .records import records

ORDERS = (runtime.reorder, runtime.restore_order)
# What is done to a list, not to the arrays in it
OF_THE_LIST: frozenset[Any] = frozenset(
    {list_append, list.pop, list.insert, list.reverse, operator.setitem, operator.delitem,
     runtime.add_items, runtime.put_back, *ORDERS}
)  # fmt: skip
# What asks whether arrays are the same one, or share memory
APART = (operator.is_, *runtime.OVERLAP)


class Aliasing:
    """The memory classes of a function's variables.

    Attributes:
        written: the classes whose memory is written in place somewhere, by their representatives.
        shared: those, and the classes of what is kept in lists.
        single: the classes of arrays of which the program asks whether they are the same one.
    """

    def __init__(self, block: ir.Block, together: Iterable[ir.Together] = ()) -> None:
        self.parent: dict[ir.Var, ir.Var] = {}
        self.contents: dict[ir.Var, ir.Var] = {}  # of a list's class: a variable of its items'
        self.returned: dict[tuple[ir.Var, int], ir.Var] = {}  # what units return, in tuples
        for group in together:
            first, *others = (self._held(v, depth) for v, depth in group)
            for v in others:
                self.union(first, v)
        self.block = block
        self.recorded = records(block)
        self.handing = {id(s) for record in self.recorded for s in record.statements()}
        self.visited: list[ir.Assign] = []
        self.compared: set[ir.Var] = set()
        self._visit(block)
        self._hand_over()
        writes = ((v, s) for s in self.visited for v in s.writes)
        self.written = {root for v, s in writes for root in self.written_through(v, s, True)}
        self.single = self.held_by(self.compared)
        self.shared = self.written | {self.find(v) for v in self.contents.values()}
        pushed = (v for record in self.recorded for v in ir.variables(record.push.args[1]))
        self.shared.update(self.find(v) for v in pushed)

    def find(self, var: ir.Var) -> ir.Var:
        """The representative of a variable's class."""
        root = var
        while (parent := self.parent.get(root, root)) is not root:
            root = parent
        while var is not root:
            self.parent[var], var = root, self.parent[var]
        return root

    @functools.cached_property
    def members(self) -> dict[ir.Var, list[ir.Var]]:
        """The variables of each class of several."""
        found: dict[ir.Var, list[ir.Var]] = {}
        for v in {*self.parent, *self.parent.values()}:
            found.setdefault(self.find(v), []).append(v)
        return found

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

    def changes(self, var: ir.Var) -> bool:
        """Whether a variable's memory, or that of anything in it, is written anywhere."""
        return not self.written.isdisjoint(self.classes(var))

    def written_by(self, *statements: ir.Statement) -> set[ir.Var]:
        """The memory that statements write, or those inside them."""
        inside: Iterable[ir.Statement] = ir.walk(ir.Block([*statements]))
        return {
            root for s in inside if isinstance(s, ir.Assign) for v in s.writes
            for root in self.written_through(v, s)
        }  # fmt: skip

    def written_through(self, v: ir.Var, s: ir.Assign, shared: bool = False) -> list[ir.Var]:
        """What a call writes that writes an operand: of a list, the items; `shares` may tell it."""
        told = shared and isinstance(s.function, ir.Unit)
        alone = told or isinstance(v.kind, Array) or s.function in OF_THE_LIST
        return [self.find(v)] if alone else self.classes(v)

    def held_by(self, operands: Iterable[ir.Operand]) -> set[ir.Var]:
        """The memory that operands refer to: that of a list, and of what it contains.

        Of what a function returns, that of each result.
        """
        return {root for v in self.holders(operands) for root in self.classes(v)}

    def holders(self, operands: Iterable[ir.Operand]) -> list[ir.Var]:
        """The variables in operands that hold memory; of what a function returns, the results."""
        held = [v for o in operands for v in ir.variables(o) if holds_memory(v.kind)]
        tuples = {v for v in held if isinstance(v.kind, TupleOf)}
        if tuples:
            held += [v for (whole, _), v in self.returned.items() if whole in tuples]
        return held

    def own(self) -> set[ir.Var]:
        """The memory that two arrays mustn't share, though nothing writes it.

        That of the results, which the caller may write, and of what is asked to be another array.
        """
        return self.held_by(self.block.results) | self.single

    def mentions(self, s: ir.Statement, root: ir.Var) -> bool:
        """Whether a statement has to do with memory, if only with the shape of what is there."""
        return root in self.held_by(ir.all_uses(ir.Block([s])))

    def is_shared(self, var: ir.Var) -> bool:
        """Whether memory of this variable's class is written anywhere, or kept in a list."""
        return self.find(var) in self.shared

    def groups(self, variables: Iterable[ir.Var]) -> tuple[ir.Together, ...]:
        """What may share memory of the variables that hold some, and of what is in them."""
        found: dict[ir.Var, dict[tuple[ir.Var, int], None]] = {}
        pushed = {record.push.args[0]: record.push.args[1] for record in self.recorded}
        for v in variables:
            inside = [
                w for w in ir.variables(pushed.get(v, ir.Const(None))) if holds_memory(w.kind)
            ]
            for w in (v, *inside) if holds_memory(v.kind) else ():
                for depth, root in enumerate(self.classes(w), 0 if w is v else 1):
                    found.setdefault(root, {})[v, depth] = None
        return tuple(tuple(group) for group in found.values() if len(group) > 1)

    def _held(self, var: ir.Var, depth: int) -> ir.Var:
        """A variable that stands for what is so deep in a list."""
        for _ in range(depth):
            var = self.items(var)
        return var

    def items(self, container: ir.Var) -> ir.Var:
        """A variable that stands for the items of a list."""
        root = self.find(container)
        if root not in self.contents:
            self.contents[root] = ir.Var("items", ListOf(None))
        return self.contents[root]

    def classes(self, var: ir.Var) -> list[ir.Var]:
        """The representatives of a variable's class and of what it contains, however deep."""
        found: list[ir.Var] = []
        root: ir.Var | None = self.find(var)
        while root is not None and root not in found:
            found.append(root)
            inner = self.contents.get(root)
            root = None if inner is None else self.find(inner)
        return found

    def _store(self, container: ir.Var, operand: ir.Operand) -> None:
        for v in ir.variables(operand):
            if holds_memory(v.kind):
                self.union(self.items(container), v)

    def _visit(self, block: ir.Block) -> None:
        for s in block.statements:
            if isinstance(s, ir.Assign):
                self._assign(s)
            else:
                for inner in ir.blocks(s):
                    self._visit(inner)
                for target, ends in ir.joins(s):
                    self._meet(target, *ends)

    def _meet(self, target: ir.Var, *operands: ir.Operand) -> None:
        if holds_memory(target.kind):
            for operand in operands:
                if isinstance(operand, ir.Pack) and isinstance(target.kind, ListOf):
                    self._store(target, operand)
                    continue
                for v in ir.variables(operand):
                    if holds_memory(v.kind):
                        self.union(target, v)

    def _hand_over(self) -> None:
        """What is popped from a record is what was pushed."""
        for record in self.recorded:
            for before, after in record.handed_over():
                for v in ir.variables(before):
                    if holds_memory(v.kind) and holds_memory(after.kind):
                        self.union(v, after)

    def _assign(self, s: ir.Assign) -> None:
        self.visited.append(s)
        if s.function in APART:
            self.compared.update(ir.uses(s))
        if id(s) in self.handing:
            return
        first = s.args[0] if s.args else None
        if s.function in (list, tuple) and isinstance(first, ir.Pack):
            self._meet(s.target, first)
            return
        if isinstance(s.function, ir.Unit) and s.function.shares is not None:
            self._call(s, s.function.shares)
            return
        if s.function is operator.getitem and isinstance(first, ir.Var):
            key = s.args[1]
            if isinstance(first.kind, TupleOf) and isinstance(key, ir.Const):
                known = self.returned.get((first, key.value))
                if known is not None:
                    self._meet(s.target, known)
                    return
        if isinstance(first, ir.Var) and isinstance(first.kind, ListOf) and first in s.writes:
            for operand in s.args[1:] if s.function not in ORDERS else ():
                self._store(first, operand)
        if not s.views or not holds_memory(s.target.kind):
            return
        for v in s.views:
            if not isinstance(v.kind, ListOf):
                self.union(s.target, v)
            elif isinstance(s.target.kind, ListOf) and not _takes_item(s):
                self.union(self.items(s.target), self.items(v))
            else:
                self.union(s.target, self.items(v))

    def _call(self, s: ir.Assign, shares: frozenset[tuple[tuple[int, int], ...]]) -> None:
        """The call of a unit of which it is known what its arguments and results share."""

        def member(position: int, depth: int) -> ir.Var | None:
            operand: ir.Operand = s.target
            if position >= 0:
                operand = s.args[position]
            elif isinstance(s.target.kind, TupleOf):
                kind = s.target.kind.items[-1 - position]
                key = (s.target, -1 - position)
                operand = self.returned.setdefault(key, ir.Var("result", kind))
            if not isinstance(operand, ir.Var) or not holds_memory(operand.kind):
                return None
            if depth and not isinstance(operand.kind, ListOf):
                return None
            for _ in range(depth):
                operand = self.items(operand)
            return operand

        if isinstance(s.target.kind, TupleOf):
            for k in range(len(s.target.kind.items)):
                member(-1 - k, 0)
        for group in shares:
            found = [v for place in group if (v := member(*place)) is not None]
            for v in found[1:]:
                self.union(found[0], v)


def shared_memory(function: ir.Function) -> frozenset[tuple[tuple[int, int], ...]]:
    """What the parameters and results of a function share of their memory (`ir.Unit.shares`).

    A list whose items are written is said to share memory with them: so it is written too.
    """
    aliasing = Aliasing(function.block)
    groups: dict[ir.Var, list[tuple[int, int]]] = {}
    found: set[tuple[tuple[int, int], ...]] = set()
    results = [(-1 - k, r) for k, r in enumerate(function.block.results)]
    for position, v in [*enumerate(function.params), *results]:
        if not isinstance(v, ir.Var) or not holds_memory(v.kind):
            continue
        classes = aliasing.classes(v)
        inner = aliasing.contents.get(classes[-1])
        if inner is not None:  # its items are of the class of what holds them
            classes.append(aliasing.find(inner))
        for depth, root in enumerate(classes):
            groups.setdefault(root, []).append((position, depth))
            if depth and root in aliasing.written:
                found.add(((position, 0), (position, depth)))
    found.update(tuple(group) for group in groups.values() if len(group) > 1)
    return frozenset(found)


def _takes_item(s: ir.Assign) -> bool:
    """Whether a statement takes one item out of a list (rather than a part of the list)."""
    if s.function is list.pop:
        return True
    return s.function is operator.getitem and not is_slice(s.args[1])


def is_slice(key: ir.Operand) -> bool:
    if isinstance(key, ir.Pack):
        return key.type is slice
    return isinstance(key, ir.Const) and isinstance(key.value, slice)


def holds_memory(kind: Any) -> bool:
    """Whether values of a kind refer to memory that can be written in place."""
    return isinstance(kind, (Array, ListOf, TupleOf))
