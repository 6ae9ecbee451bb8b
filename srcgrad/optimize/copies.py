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
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import ir
from ..analysis.aliasing import Aliasing, holds_memory
from ..analysis.buffers import Buffers
from ..analysis.elementwise import COPIES, held_kind, is_elementwise, makes_fresh, number_kind
from ..analysis.keys import same_key
from ..analysis.regions import Regions
from ..errors import Span
from ..kinds import Array, ListOf, Opaque, Scalar

ADDITIONS: frozenset[Any] = frozenset({operator.iadd, operator.isub, np.add.at, np.subtract.at})

STORES: frozenset[Any] = ADDITIONS | {operator.setitem}


def spare_copies(function: ir.Function) -> None:
    """Remove copies and zeros that make no difference, in place."""
    statements = function.block.statements
    start = ir.sweep_start(function)
    if start is None:
        return
    while _Sparer(function).drop_unread(statements, start):
        pass
    _drop_unread_items(function)
    sparer = _Sparer(function)
    tail = ir.Block(statements[start:], function.block.results)
    sparer.block(tail)
    statements[start:] = tail.statements
    ir.rename(function.block, sparer.renamed)


def _drop_unread_items(function: ir.Function) -> None:
    """Remove what loops of the reverse sweep store where nothing looks any more: zeros mostly."""
    aliasing = Aliasing(function.block, function.together)
    regions = Regions(function.block, aliasing)
    kept = [*function.params, *(v for o in function.block.results for v in ir.variables(o))]
    roots = {root for v in (*kept, *aliasing.contents.values()) for root in aliasing.classes(v)}
    unread = {
        s for s, position, loops in regions.stores
        if loops and isinstance(s.writes[0].kind, Array)
        and aliasing.find(s.writes[0]) not in roots and regions.unread(s, position, loops)
    }  # fmt: skip
    for block in ir.sweep_blocks(function) if unread else ():
        block.statements[:] = [s for s in block.statements if s not in unread]


def drop_overwritten(function: ir.Function) -> None:
    """Remove the stores of the reverse sweep that another one overwrites unread, in place."""
    sparer = _Sparer(function)
    for block in ir.sweep_blocks(function):
        sparer.drop_overwritten(block)


def spare_first_passes(function: ir.Function) -> None:
    """Make `c = x.copy(); x[k] = 0; d = 2 * c` into `d = 2 * x; x[k] = 0`, in place."""
    counts = ir.use_counts(function.block)
    for block in ir.sweep_blocks(function):
        _spare_first_passes(block, counts)


def _spare_first_passes(block: ir.Block, counts: Mapping[ir.Var, int]) -> None:
    statements = block.statements
    for copy in list(statements):
        if not isinstance(copy, ir.Assign) or copy.function not in COPIES or copy.kwargs:
            continue
        c, source = copy.target, copy.args[0]
        if len(copy.args) != 1 or counts.get(c) != 1 or getattr(source, "kind", None) != c.kind:
            continue
        start = next(i for i, s in enumerate(statements) if s is copy)
        use = next((s for s in statements[start:] if c in ir.uses(s)), None)
        if not isinstance(use, ir.Assign) or not makes_fresh(use) or use.target.kind != c.kind:
            continue
        others = [a for a in use.args if a is not c]
        made = {v for s in statements[start:] for v in ir.targets(s)}
        if is_elementwise(use.function) and not use.kwargs and all(
            isinstance(a, ir.Const) or ((isinstance(a, ir.Var) and a not in made)
            and isinstance(a.kind, Scalar)) for a in others
        ):  # fmt: skip
            use.args = tuple(source if a is c else a for a in use.args)
            statements[start] = use
            del statements[next(i for i, s in enumerate(statements) if s is use and i > start)]


class _Sparer:
    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.aliasing = Buffers(function.block)
        made = [t for s in ir.walk(function.block) for t in ir.targets(s)]
        made += [p for s in ir.walk(function.block) if isinstance(s, ir.Loop) for p in s.params]
        self.members = Counter(self.aliasing.find(v) for v in (*function.params, *made))
        self.counts = ir.use_counts(function.block)
        self.renamed = ir.Renaming()

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
        if self.aliasing.find(copy) in self.aliasing.single:
            return False
        if self.members[self.aliasing.find(copy)] != 1:
            return self.views_read(copy, source)
        if any(copy in ir.variables(operand) for operand in block.results):
            return False
        following = block.statements[position + 1 :]
        uses = [i for i, other in enumerate(following) if copy in ir.all_uses(ir.Block([other]))]
        source = self.renamed(source)
        assert isinstance(source, ir.Var)
        while_used = following[: max(uses, default=-1) + 1]
        writing = [s for s in while_used if self.aliasing.may_write(s, source)]
        if len(writing) == 1 and self.can_wait(writing[0], source, while_used):
            statements = block.statements
            statements.remove(writing[0])
            statements.insert(position + len(while_used), writing[0])
            return True
        return not writing

    def can_wait(self, s: ir.Statement, array: ir.Var, others: list[ir.Statement]) -> bool:
        """Whether a statement that stores zeros in an array may come after others as well."""
        if not isinstance(s, ir.Assign) or s.function is not operator.setitem or s.effect:
            return False
        into, key, value = s.args
        if not isinstance(into, ir.Var) or self.renamed(into) is not array:
            return False
        if not isinstance(key, ir.Const) or not isinstance(value, ir.Const):
            return False
        after = others[others.index(s) + 1 :]
        return not any(self.aliasing.may_touch(other, array) for other in after)

    def views_read(self, copy: ir.Var, source: ir.Var) -> bool:
        """Whether neither a copy nor what it's a copy of is written, nor a result."""
        if self.aliasing.find(copy) in self.aliasing.own():
            return False
        return not any(map(self.aliasing.is_shared, (copy, self.renamed(source))))

    def drop_unread(self, statements: list[ir.Statement], start: int) -> bool:
        """Remove a store from a position on into memory that isn't read any more; say if any."""
        kept = [v for o in self.function.block.results for v in ir.variables(o)]
        kept += [*self.function.params, *self.aliasing.contents.values()]
        read = {root for v in kept for root in self.aliasing.classes(v)}
        for position in range(len(statements) - 1, start - 1, -1):
            s = statements[position]
            if isinstance(s, ir.Assign) and s.function in STORES and isinstance(s.args[0], ir.Var):
                if isinstance(s.args[0].kind, Array) and self.aliasing.find(s.args[0]) not in read:
                    del statements[position]
                    return True
            mentioned = [v for v in ir.all_uses(ir.Block([s])) if holds_memory(v.kind)]
            read.update(root for v in mentioned for root in self.aliasing.classes(v))
        return False

    def drop_overwritten(self, block: ir.Block) -> None:
        statements = block.statements
        for s in list(statements):
            if not isinstance(s, ir.Assign) or s.function is not operator.setitem:
                continue
            x, key = s.args[:2]
            if not isinstance(x, ir.Var) or held_kind(x) is None:
                continue
            position = next(i for i, other in enumerate(statements) if other is s)
            root = self.aliasing.find(x)
            following = statements[position + 1 :]
            other = next((o for o in following if self.aliasing.mentions(o, root)), None)
            if isinstance(other, ir.Assign) and other.function is operator.setitem:
                if other.args[0] is x and same_key(other.args[1], key):
                    if root not in self.aliasing.held_by(other.args[2:]):
                        del statements[position]

    def store_at_once(self, block: ir.Block) -> None:
        """Make `d[k] = 0; d[k] += c` into `d[k] = c`, for arrays and lists of numbers."""
        statements = block.statements
        for s in list(statements):
            if (
                isinstance(s, ir.Assign) and s.function is operator.setitem
                and held_kind(s.args[0]) is not None and isinstance(s.args[2], ir.Const)
                and isinstance(s.args[2].value, (int, float)) and s.args[2].value == 0
            ):  # fmt: skip
                self.store_one(statements, s)

    def store_one(self, statements: list[ir.Statement], zeros: ir.Assign) -> None:
        """Store what is added to the zeros, if nothing but additions comes before."""
        d, key, _ = zeros.args
        assert isinstance(d, ir.Var)
        root = self.aliasing.find(d)
        start = next(i for i, s in enumerate(statements) if s is zeros)
        between: list[ir.Statement] = []  # that add to other parts, or it may be this one
        position = start + 1
        while position < len(statements):
            if not self.aliasing.mentions(statements[position], root):
                position += 1
                continue
            found = self.added(statements[position : position + 3], d, key)
            if found is not None:
                self.join(statements, start, position, between, *found)
                return
            count = self.adds(statements[position : position + 3], root)
            if count == 0:
                return
            between += statements[position : position + count]
            position += count

    def adds(self, statements: list[ir.Statement], root: ir.Var) -> int:
        """How many of some statements do nothing to memory but to add to a part of it, or to 0."""
        calls = [s for s in statements if isinstance(s, ir.Assign)]
        first = statements[0]
        if not isinstance(first, ir.Assign) or first.kwargs or not first.args:
            return 0
        x = first.args[0]
        if not isinstance(x, ir.Var) or self.aliasing.find(x) is not root:
            return 0

        def apart(operand: ir.Operand) -> bool:
            return root not in self.aliasing.held_by([operand])

        if first.function in ADDITIONS:
            return int(all(map(apart, first.args[1:])))
        if first.function is not operator.getitem or len(calls) < len(statements) or not calls[1:]:
            return 0
        second = calls[1]
        if self.counts.get(first.target) != 1 or second.args[:1] != (first.target,):
            return 0
        if second.function in (operator.iadd, operator.isub) and first.views and first.certain:
            return 2 * apart(second.args[1])
        if second.function not in (operator.add, operator.sub) or not calls[2:]:
            return 0
        last = calls[2]
        stored = (
            last.function is operator.setitem and last.args[0] is x
            and same_key(last.args[1], first.args[1]) and last.args[2] is second.target
        )  # fmt: skip
        number = isinstance(first.target.kind, Scalar) and self.counts.get(second.target) == 1
        return 3 * (stored and number and apart(second.args[1]))

    def join(
        self,
        statements: list[ir.Statement],
        start: int,
        position: int,
        between: list[ir.Statement],
        value: ir.Operand,
        count: int,
        span: Span | None,
    ) -> None:
        """Store a value, which some statements at a position add to zeros, in the zeros' place.

        It is stored as soon as it is there, and what is added to other parts in `between`, after.
        """
        zeros = statements[start]
        assert isinstance(zeros, ir.Assign)
        d, key, _ = zeros.args
        assert isinstance(d, ir.Var)
        inside = statements[start + 1 : position]
        made = {v: i for i, s in enumerate(inside, 1) for v in ir.targets(s)}
        wait = position - start - 1
        if between:
            wait = made.get(value, 0) if isinstance(value, ir.Var) else 0
        early = [s for s in inside[:wait] if not any(s is other for other in between)]
        late = [s for s in inside[:wait] if any(s is other for other in between)]
        if between:
            moved = [value, *(a for s in late if isinstance(s, ir.Assign) for a in s.args)]
            held = self.aliasing.held_by(moved) - {self.aliasing.find(d)}
            if not held.isdisjoint(self.aliasing.written_by(*inside)):
                return
        target = ir.Var("_", Opaque(None))
        stored = ir.Assign(target, operator.setitem, (d, key, value), (), span, writes=(d,))
        unchanged = self.unchanged(statements[:start], value, d, key)
        statements[start : position + count] = [
            *early, *([] if unchanged else [stored]), *late, *inside[wait:]
        ]  # fmt: skip

    def unchanged(
        self, statements: list[ir.Statement], value: ir.Operand, d: ir.Var, key: ir.Operand
    ) -> bool:
        """Whether a number is what the statements took from where it is to be stored."""
        for before in reversed(statements):
            if isinstance(before, ir.Assign) and before.target is value:
                return _takes(before, d, key) and isinstance(before.target.kind, Scalar)
            if self.aliasing.find(d) in self.aliasing.written_by(before):
                return False
        return False

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
        elif not _takes(first, d, key) or not others or self.counts.get(first.target) != 1:
            return None
        elif others[0].function is operator.iadd and others[0].args[0] is first.target:
            value, count, span = others[0].args[1], 2, others[0].span
        elif others[0].function is operator.add and first.target in others[0].args:
            a, b = others[0].args
            value, count, span = b if a is first.target else a, 3, others[0].span
            if len(others) < 2 or self.counts.get(others[0].target) != 1:
                return None
            last = others[1]
            if last.function is not operator.setitem or last.args[0] is not d:
                return None
            if not same_key(last.args[1], key) or last.args[2] is not others[0].target:
                return None
        else:
            return None
        kind = number_kind(value)
        held = held_kind(d)
        into = None if held is None else held.dtype
        if kind is None or kind.dtype is None or into is None:
            return None
        if isinstance(d.kind, ListOf) and not (
            isinstance(kind, Scalar) and kind.dtype.kind in "fc"
        ):
            return None
        if into.kind not in "fc" or (kind.dtype.kind == "c" and into.kind != "c"):
            return None
        root = self.aliasing.find(d)
        if root in self.aliasing.held_by([value]):
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
