"""Copies and zeros in the reverse sweep that nobody can tell from what they were made for.

The adjoint of what was overwritten is taken out of the shadow (a copy, as the shadow is about to
change) and the shadow set to zero there. Often nothing changes before the copy was last used: then
the shadow itself is read. And where the next thing that happens to the zeros is that a value is
added, the value is stored.

Only the reverse sweep is improved: an array's memory layout may be another one than its copy's,
on which the user's own code may depend.
"""

from __future__ import annotations

import operator
from collections import Counter

import numpy as np

from .. import ir
from ..analysis.aliasing import Aliasing, holds_memory
from ..emit.python import reverse_sweep
from ..errors import Span
from ..kinds import Array, Opaque, Scalar
from .elementwise import number_kind
from .recording import rename
from .simplify import all_uses, use_counts
from .stores import same_key

COPIES = frozenset({np.ndarray.copy, np.array, np.copy})


def spare_copies(function: ir.Function) -> None:
    """Remove copies and zeros that make no difference, in place."""
    statements = function.block.statements
    start = next(
        (i for i, s in enumerate(statements)
         if isinstance(s, ir.Assign) and s.function is reverse_sweep), None,
    )  # fmt: skip
    if start is None:
        return
    sparer = _Sparer(function)
    tail = ir.Block(statements[start + 1 :], function.block.results)
    sparer.block(tail)
    statements[start + 1 :] = tail.statements
    if sparer.renamed:
        rename(function.block, sparer.resolve)


class _Sparer:
    def __init__(self, function: ir.Function) -> None:
        self.aliasing = Aliasing(function.block)
        made = [t for s in ir.walk(function.block) for t in ir.targets(s)]
        made += [p for s in ir.walk(function.block) if isinstance(s, ir.Loop) for p in s.params]
        self.members = Counter(self.aliasing.find(v) for v in (*function.params, *made))
        self.counts = use_counts(function.block)
        self.renamed: dict[ir.Var, ir.Var] = {}

    def resolve(self, var: ir.Var) -> ir.Var:
        while var in self.renamed:
            var = self.renamed[var]
        return var

    def block(self, block: ir.Block) -> None:
        self.store_at_once(block)
        for position, s in enumerate(block.statements):
            for inner in ir.blocks(s):
                self.block(inner)
            if isinstance(s, ir.Assign) and self.needless(block, position, s):
                source = s.args[0]
                assert isinstance(source, ir.Var)
                self.renamed[s.target] = source
        block.statements[:] = [
            s for s in block.statements
            if not (isinstance(s, ir.Assign) and s.target in self.renamed)
        ]  # fmt: skip

    def needless(self, block: ir.Block, position: int, s: ir.Assign) -> bool:
        """Whether a copy is only read, before what it's a copy of is written."""
        copy, source = s.target, s.args[0] if s.args else None
        if s.function not in COPIES or len(s.args) != 1 or s.kwargs:
            return False
        if not isinstance(source, ir.Var) or not isinstance(source.kind, Array):
            return False
        if source.kind != copy.kind or self.aliasing.is_shared(copy):
            return False
        if self.members[self.aliasing.find(copy)] != 1:
            return False
        if any(copy in ir.variables(operand) for operand in block.results):
            return False
        following = block.statements[position + 1 :]
        uses = [i for i, other in enumerate(following) if copy in all_uses(ir.Block([other]))]
        root = self.aliasing.find(self.resolve(source))
        return not any(self.writes(other, root) for other in following[: max(uses, default=-1) + 1])

    def writes(self, statement: ir.Statement, root: ir.Var) -> bool:
        """Whether a statement writes memory, or may."""
        return any(
            holds_memory(v.kind) and root in self.aliasing.classes(v)
            for s in ir.walk(ir.Block([statement]))
            if isinstance(s, ir.Assign)
            for v in s.writes
        )

    def mentions(self, statement: ir.Statement, root: ir.Var) -> bool:
        """Whether a statement has anything to do with memory."""
        used = all_uses(ir.Block([statement]))
        return any(holds_memory(v.kind) and root in self.aliasing.classes(v) for v in used)

    def store_at_once(self, block: ir.Block) -> None:
        """Make `d[k] = 0; d[k] += c` into `d[k] = c`."""
        statements = block.statements
        for s in list(statements):
            if (
                isinstance(s, ir.Assign) and s.function is operator.setitem
                and isinstance(s.args[0], ir.Var) and isinstance(s.args[0].kind, Array)
                and isinstance(s.args[2], ir.Const) and isinstance(s.args[2].value, (int, float))
                and s.args[2].value == 0
            ):  # fmt: skip
                root = self.aliasing.find(s.args[0])
                start = next(i for i, other in enumerate(statements) if other is s)
                following = range(start + 1, len(statements))
                position = next((i for i in following if self.mentions(statements[i], root)), None)
                if position is not None:
                    self.join(statements, start, position)

    def join(self, statements: list[ir.Statement], start: int, position: int) -> None:
        """Store what is added to zeros, unless it was there before they were."""
        zeros = statements[start]
        assert isinstance(zeros, ir.Assign)
        d, key, _ = zeros.args
        assert isinstance(d, ir.Var)
        found = self.added(statements[position : position + 3], d, key)
        if found is None:
            return
        value, count, span = found
        target = ir.Var("_", Opaque(None))
        stored = ir.Assign(target, operator.setitem, (d, key, value), (), span, writes=(d,))
        statements[position : position + count] = [stored]
        del statements[start]
        for before in reversed(statements[:start]):
            if isinstance(before, ir.Assign) and before.target is value:
                if _takes(before, d, key) and isinstance(before.target.kind, Scalar):
                    statements.remove(stored)
                return
            if self.writes(before, self.aliasing.find(d)):
                return

    def added(
        self, statements: list[ir.Statement], d: ir.Var, key: ir.Operand
    ) -> tuple[ir.Operand, int, Span | None] | None:
        """What the first of some statements add to a part of an array; how many do so."""
        first = statements[0]
        if not isinstance(first, ir.Assign) or not first.args:
            return None
        others = [s for s in statements[1:] if isinstance(s, ir.Assign) and len(s.args) > 1]
        if len(others) < len(statements) - 1:
            others = []
        value: ir.Operand
        if first.function is operator.iadd and first.args[0] is d and _everything(key):
            value, count, span = first.args[1], 1, first.span
        elif not _takes(first, d, key) or not others or self.counts[first.target] != 1:
            return None
        elif others[0].function is operator.iadd and others[0].args[0] is first.target:
            value, count, span = others[0].args[1], 2, others[0].span
        elif others[0].function is operator.add and first.target in others[0].args:
            a, b = others[0].args
            value, count, span = b if a is first.target else a, 3, others[0].span
            if len(others) < 2 or self.counts[others[0].target] != 1:
                return None
            last = others[1]
            if last.function is not operator.setitem or last.args[0] is not d:
                return None
            if not same_key(last.args[1], key) or last.args[2] is not others[0].target:
                return None
        else:
            return None
        kind = number_kind(value)
        into = d.kind.dtype if isinstance(d.kind, Array) else None
        if kind is None or kind.dtype is None or into is None:
            return None
        if into.kind not in "fc" or (kind.dtype.kind == "c" and into.kind != "c"):
            return None
        root = self.aliasing.find(d)
        if any(holds_memory(v.kind) and self.aliasing.find(v) is root for v in ir.variables(value)):
            return None
        return value, count, span


def _takes(s: ir.Assign, d: ir.Var, key: ir.Operand) -> bool:
    """Whether a call takes a part of an array: its items, or a view."""
    if s.function is not operator.getitem or s.args[0] is not d or s.kwargs:
        return False
    view = bool(s.views) and s.certain
    return same_key(s.args[1], key) and (view or isinstance(s.target.kind, Scalar))


def _everything(key: ir.Operand) -> bool:
    """Whether an index takes the whole array."""
    return isinstance(key, ir.Const) and repr(key.value) in ("Ellipsis", "slice(None, None, None)")
