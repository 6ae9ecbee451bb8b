"""Loop-invariant motion: what is the same in each trip of a loop is computed before it.

A loop may run no trip at all, so only what can't fail is moved: arithmetic on operands that surely
have values and broadcast, views, shapes. What is moved out of a loop of the forward sweep needn't
be recorded. Of an array that the loop writes, parts that it surely doesn't write are read before
it: an elimination reads the row of the pivot once, not for each row below it.
"""

from __future__ import annotations

import builtins
import operator
from typing import Any

import numpy as np

from .. import ir
from ..analysis.aliasing import Aliasing, holds_memory
from ..analysis.elementwise import broadcast, number_kind
from ..analysis.regions import Loops, Regions
from ..kinds import Array, Scalar, TupleOf

ARITHMETIC: frozenset[Any] = frozenset(
    {operator.add, operator.sub, operator.mul, operator.neg}
)  # fmt: skip
QUIET: frozenset[Any] = frozenset({np.sin, np.cos, np.tanh, np.abs, np.sign, np.arctan})
SHAPES: frozenset[Any] = frozenset({builtins.getattr, builtins.len, np.shape, np.ndim})


def hoist(function: ir.Function, count: int | None = None, views: bool = True) -> None:
    """Move invariant statements out of the loops among a function's first statements, in place.

    Before recording, `count` must leave the reverse sweep out: what is a variable of an iteration
    of the forward sweep seems to be invariant there. `views` says whether to move views, too.
    """
    statements = function.block.statements
    part = ir.Block(statements[:count])
    _Hoister(function, views).block(part)
    statements[: len(statements) if count is None else count] = part.statements


class _Hoister:
    def __init__(self, function: ir.Function, views: bool) -> None:
        self.views = views
        self.aliasing = Aliasing(function.block)
        self.apart = self.aliasing.own()
        self.yielded = _results(function.block)
        self.function = function
        self.known_regions: Regions | None = None

    @property
    def regions(self) -> Regions:
        if self.known_regions is None:
            self.known_regions = Regions(self.function.block, self.aliasing)
        return self.known_regions

    def block(self, block: ir.Block, around: Loops = ()) -> None:
        kept: list[ir.Statement] = []
        for s in block.statements:
            inside = (*around, s) if isinstance(s, ir.Loop) else around
            for inner in ir.blocks(s):
                self.block(inner, inside)
            if isinstance(s, ir.Loop):
                kept += self.invariants(s, around)
            kept.append(s)
        block.statements[:] = kept

    def invariants(self, loop: ir.Loop, around: Loops) -> list[ir.Statement]:
        """Take out of a loop's body what can stand before the loop."""
        varying = ir.made_in(loop)
        written = self.aliasing.written_by(*loop.body.statements)
        moved: list[ir.Statement] = []
        views: dict[Any, ir.Assign] = {}  # that move with what is read through them
        for s in loop.body.statements:
            if not isinstance(s, ir.Assign) or s.target in self.yielded:
                continue  # a variable that changes keeps its name
            source: Any = s.args[0] if s.args else None
            spared = source in views and self.regions.spared(source, loop, around)
            if spared and self.copies_part(s):
                if views[source] not in moved:
                    moved.append(views[source])
                    varying.discard(source)
            elif any(v in varying or not v.assured for v in ir.uses(s)):
                continue
            elif not self.movable(s, written):
                if not self.is_part(s, written) or not self.regions.inside(s, around):
                    continue
                if s.views and not self.views:
                    views[s.target] = s
                    continue
                if not s.views and not self.regions.spared(source, loop, around, s.args[1]):
                    continue
            moved.append(s)
            varying.discard(s.target)
        gone = set(map(id, moved))
        loop.body.statements[:] = [s for s in loop.body.statements if id(s) not in gone]
        return moved

    def copies_part(self, s: ir.Assign) -> bool:
        """Whether a call makes a copy that nobody writes."""
        copies = s.function is np.ndarray.copy and len(s.args) == 1 and not s.kwargs
        return copies and not self.is_own(s.target)

    def is_own(self, array: ir.Var) -> bool:
        """Whether an array has to be made again in each iteration."""
        root = self.aliasing.find(array)
        return root in self.aliasing.written or root in self.apart

    def is_part(self, s: ir.Assign, written: set[ir.Var]) -> bool:
        """Whether a call takes an item or a part of an array that a loop writes."""
        source = s.args[0] if s.args else None
        if s.function is not operator.getitem or s.effect or not isinstance(source, ir.Var):
            return False
        if not isinstance(source.kind, Array) or self.aliasing.find(source) not in written:
            return False
        return (bool(s.views) and s.certain) or isinstance(s.target.kind, Scalar)

    def movable(self, s: ir.Assign, written: set[ir.Var]) -> bool:
        """Whether a call can't fail, changes nothing, and yields the same whenever it is made."""
        kind = s.target.kind
        if s.effect or s.writes or s.kwargs or not isinstance(kind, (Array, Scalar, TupleOf)):
            return False
        try:
            if s.function in SHAPES:
                return all(isinstance(v.kind, Array) for v in ir.uses(s))
            elementwise = s.function in ARITHMETIC or s.function in QUIET
        except TypeError:  # not hashable
            return False
        if s.function is operator.getitem:
            return self.movable_item(s)
        if s.function is operator.truediv:
            divisor = s.args[1]
            known = isinstance(divisor, ir.Const) and number_kind(divisor) is not None
            elementwise = known and bool(divisor.value)  # type: ignore[union-attr]
        if not elementwise:
            return False
        kinds = [number_kind(a) for a in s.args]
        if any(k is None or k.shape is None or k.dtype is None for k in kinds):
            return False
        shapes = [k.shape for k in kinds if k is not None and k.shape is not None]
        if len(shapes) > 1 and not _surely_broadcast(shapes):
            return False
        if not written.isdisjoint(self.aliasing.held_by(ir.uses(s))):
            return False
        return not holds_memory(kind) or not self.is_own(s.target)

    def movable_item(self, s: ir.Assign) -> bool:
        """A slice, of whatever length, and a part of a record: an item might not be there."""
        source = s.args[0]
        if not isinstance(source, ir.Var):
            return False
        if isinstance(source.kind, TupleOf):
            return isinstance(s.args[1], ir.Const)
        whole = self.views and bool(s.views) and s.certain
        return whole and _only_slices(s.args[1], source.kind)


def _results(block: ir.Block) -> set[ir.Var]:
    """The variables that any block yields."""
    found = {v for o in block.results for v in ir.variables(o)}
    for s in block.statements:
        for inner in ir.blocks(s):
            found |= _results(inner)
    return found


def _only_slices(key: ir.Operand, kind: Any) -> bool:
    items = ir.items_of(key)

    def is_slice(item: ir.Operand) -> bool:
        if isinstance(item, ir.Pack):
            return item.type is slice
        return isinstance(item, ir.Const) and (
            item.value is None or item.value is Ellipsis or isinstance(item.value, slice)
        )

    return isinstance(kind, Array) and kind.shape is not None and all(map(is_slice, items))


def _surely_broadcast(shapes: list[tuple[Any, ...]]) -> bool:
    """Whether shapes broadcast in every run: each dimension is 1, or that of the result."""
    result = broadcast(shapes)
    if result is None:
        return False
    return all(
        n == 1 or n == m
        for shape in shapes
        for n, m in zip(reversed(shape), reversed(result), strict=False)
    )
