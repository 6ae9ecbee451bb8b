"""Reads of memory that is written in place: what was read is read again only after a write.

`simplify.py` shares calls whose operands never change. Here an item or a snapshot of an array that
does change is shared for as long as nothing in between writes the array, as is what arithmetic
makes of it, and a number that was stored there. So are the items of lists that are numbers or
lists. In loops, two views of the same part of an array are one view, whatever is written.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import ir
from ..analysis.aliasing import Aliasing, holds_memory, is_slice
from ..analysis.elementwise import held_kind, is_elementwise, makes_fresh
from ..analysis.keys import constant_key
from ..kinds import Array, ListOf, Scalar


class Available:
    """What was read and may be had again, by what equal reads have in common (`_Sharer.key`)."""

    def __init__(self, aliasing: Aliasing) -> None:
        self.aliasing = aliasing
        self.known: dict[Any, ir.Var] = {}
        self.reads: dict[ir.Var, set[Any]] = {}  # of memory, perhaps among others forgotten by now

    def copy(self) -> Available:
        other = Available(self.aliasing)
        other.known = dict(self.known)
        other.reads = {root: set(keys) for root, keys in self.reads.items()}
        return other

    def add(self, key: Any, found: ir.Var) -> None:
        self.known[key] = found
        is_view, sources, _ = key
        for v in () if is_view else sources:
            self.reads.setdefault(self.aliasing.find(v), set()).add(key)

    def forget(self, statements: Iterable[ir.Statement]) -> None:
        """Drop what was read from memory that statements write: that of a list's items, too."""
        for root in self.aliasing.written_by(*statements) if self.known else ():
            for key in self.reads.pop(root, ()):
                self.known.pop(key, None)


def share_reads(function: ir.Function, count: int | None = None) -> None:
    """Let equal reads among a function's first statements be one, in place."""
    statements = function.block.statements
    sharer = _Sharer(function)
    part = ir.Block(statements[:count])
    sharer.block(part, Available(sharer.aliasing), False)
    statements[: len(statements) if count is None else count] = part.statements
    ir.rename(function.block, sharer.shared)


class _Sharer:
    def __init__(self, function: ir.Function) -> None:
        self.aliasing = Aliasing(function.block)
        self.shared = ir.Renaming()
        self.escaping = self.aliasing.own()

    def block(self, block: ir.Block, available: Available, looped: bool) -> None:
        kept: list[ir.Statement] = []
        for s in block.statements:
            if isinstance(s, ir.Assign):
                key = self.key(s, looped)
                known = available.known.get(key) if key is not None else None
                if known is not None and known.kind == s.target.kind:
                    if s.target.user and not known.user:
                        known.name, known.user = s.target.name, True
                    self.shared[s.target] = known
                    continue
                if key is not None:
                    available.add(key, s.target)
                available.forget([s])
                if s.function is operator.setitem:
                    self.stored(available, s)
            else:
                written = [inner for b in ir.blocks(s) for inner in ir.walk(b)]
                if isinstance(s, ir.Loop):
                    available.forget(written)
                for inner in ir.blocks(s):
                    self.block(inner, available.copy(), looped or isinstance(s, ir.Loop))
                available.forget(written)
            kept.append(s)
        block.statements[:] = kept

    def stored(self, available: Available, s: ir.Assign) -> None:
        """A number that was stored is what is read next, if it has the array's precision."""
        source, key, value = s.args
        held = held_kind(source)
        if not isinstance(source, ir.Var) or held is None:
            return
        index = self.index(key)
        if index is not None and isinstance(value, ir.Var) and isinstance(value.kind, Scalar):
            dtype, plain = held.dtype, value.assured
            if plain and dtype is not None and value.kind.dtype == dtype:
                available.add((False, (self.shared(source),), index), self.shared(value))

    def key(self, s: ir.Assign, looped: bool) -> Any:
        """What equal reads have in common; None if a call isn't a read, or needs memory of its own.

        The first item says whether the result is a view, for which writes don't matter, the second
        one what is read.
        """
        if is_elementwise(s.function):
            return self.arithmetic(s)
        source = s.args[0] if s.args else None
        if s.writes or s.effect or s.kwargs or not isinstance(source, ir.Var):
            return None
        if isinstance(source.kind, ListOf):
            return self.item(s, self.shared(source))
        if not isinstance(source.kind, Array) or not isinstance(s.target.kind, (Array, Scalar)):
            return None
        source = self.shared(source)
        if s.function is operator.getitem:
            index = self.index(s.args[1])
            is_view = bool(s.views)
            if index is None or (is_view and not (s.certain and looped)):
                return None
            if not is_view and holds_memory(s.target.kind):
                return None
            return is_view, (source,), index
        if s.function is np.ndarray.copy and len(s.args) == 1 and self.stays(s.target):
            return False, (source,), "copy"
        return None

    def item(self, s: ir.Assign, items: ir.Operand) -> Any:
        """What equal reads of a list's items have in common, if these are numbers or lists."""
        if s.function is not operator.getitem or is_slice(s.args[1]):
            return None
        if not isinstance(s.target.kind, (ListOf, Scalar)):
            return None
        index = self.index(s.args[1])
        return None if index is None else (False, (items,), index)

    def arithmetic(self, s: ir.Assign) -> Any:
        """What equal calls that work element by element on arrays have in common."""
        given = [a for a in s.args if isinstance(a, ir.Var) and isinstance(a.kind, Array)]
        arrays = tuple(map(self.shared, given))
        if not arrays or s.kwargs or not isinstance(s.target.kind, Array):
            return None
        if not makes_fresh(s) or not self.stays(s.target):
            return None
        operands: list[Any] = [self.shared(a) if isinstance(a, ir.Var) else a for a in s.args]
        parts = [a if a in arrays else self.index(a) for a in operands]
        return None if None in parts else (False, arrays, (s.function, *parts))

    def stays(self, array: ir.Var) -> bool:
        """Whether what a new array holds never changes, and nobody else gets it."""
        root = self.aliasing.find(array)
        return root not in self.aliasing.written and root not in self.escaping

    def index(self, operand: ir.Operand) -> Any:
        match operand:
            case ir.Var():
                return self.shared(operand) if isinstance(operand.kind, Scalar) else None
            case ir.Const():
                return constant_key(operand.value)
            case ir.Pack():
                items = [self.index(item) for item in operand.items]
                return None if None in items else (operand.type, *items)
