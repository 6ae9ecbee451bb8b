"""Dead-code elimination: what no result, effect or needed memory depends on goes.

A write in place is alive if anybody alive reads the memory (the aliasing class) that it writes,
after it or in the same loop.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.aliasing import OF_THE_LIST, Aliasing, holds_memory
from ..frontend.operations import leave_unless
from ..kinds import Array, Opaque, TupleOf

# Functions that look at the shape of their array operands, not at their contents.
SHAPE_ONLY: frozenset[Any] = frozenset(
    {builtins.getattr, builtins.len, np.shape, np.ndim, np.size, np.zeros_like, np.empty_like,
     np.ones_like, np.may_share_memory, runtime.zero_like, runtime.own_zeros, list,
     runtime.check_added, runtime.check_broadcast, runtime.check_stored}
)  # fmt: skip

ON_LISTS = OF_THE_LIST - {list.pop}  # they change a list without looking at what is in it


def prune(function: ir.Function) -> None:
    """Remove the dead code of a function, in place."""
    marker = _Marker(Aliasing(function.block), function.block)
    marker.run()
    _sweep(function.block, marker)


def prune_to(function: ir.Function, needed: Iterable[ir.Operand]) -> None:
    """Remove what the given operands, the results of a function yet to be made, don't need."""
    whole: list[ir.Operand] = []  # items of tuples that are used as a whole
    tuples: set[ir.Var] = set()
    for s in ir.walk(function.block):
        if not (isinstance(s, ir.Assign) and s.function is operator.getitem):
            tuples.update(v for v in ir.uses(s) if isinstance(v.kind, TupleOf))
    for s in ir.walk(function.block):
        if isinstance(s, ir.Assign) and s.function is operator.getitem and s.args[0] in tuples:
            whole.append(s.target)
    prune_but(function, [*needed, *whole])


def prune_but(function: ir.Function, needed: Iterable[ir.Operand]) -> None:
    """Remove what neither the results of a function nor the given operands need."""
    results = function.block.results
    function.block.results = (*results, *needed)
    prune(function)
    function.block.results = results


class _Marker:
    def __init__(self, aliasing: Aliasing, block: ir.Block) -> None:
        self.aliasing, self.block = aliasing, block
        self.own = set(block.statements)
        self.live: set[Any] = set()  # variables and statements
        # Of memory that is written, the root: where in the function's block it is read last
        self.last_read: dict[ir.Var, int] = {}
        self.position = len(block.statements)

    def run(self) -> None:
        for operand in self.block.results:
            self.read(operand)
        before: Any = None
        while before != (before := (len(self.live), dict(self.last_read))):
            self.mark(self.block)

    def use(self, operand: ir.Operand) -> None:
        self.live.update(ir.variables(operand))

    def read(self, operand: ir.Operand) -> None:
        for v in ir.variables(operand):
            self.live.add(v)
            for root in self.aliasing.classes(v) if holds_memory(v.kind) else ():
                if root in self.aliasing.written:
                    self.last_read[root] = max(self.position, self.last_read.get(root, -1))

    def mark(self, block: ir.Block) -> bool:
        """Mark what is alive in a block; whether anything is."""
        found = False
        for position, s in reversed(list(enumerate(block.statements))):
            if block is self.block:
                self.position = position
            match s:
                case ir.Assign():
                    alive = s in self.live or self.alive(s)
                    if alive and s not in self.live:
                        self.live.add(s)
                        self.mark_operands(s)
                case ir.If():
                    self.use_ends(s)
                    inner = [self.mark(s.then), self.mark(s.orelse)]
                    alive = any(inner) or any(t in self.live for t in s.targets)
                    if alive:
                        self.live.add(s)
                        self.use(s.test)
                case ir.Loop():
                    self.use_ends(s)
                    # the reverse sweep may use what belongs to an iteration
                    own = (*s.targets, *s.params, s.index)
                    alive = self.mark(s.body) or any(v in self.live for v in own)
                    if alive:
                        self.live.add(s)
                        self.mark_loop(s)
            found |= s in self.live
        return found

    def alive(self, s: ir.Assign) -> bool:
        if s.function is leave_unless:
            return False  # unless its loop is, which marks it
        if s.effect or s.target in self.live:
            return True
        if any(isinstance(v.kind, Opaque) for v in s.writes):
            return True  # who reads the memory of an unknown object can't be known
        # what a loop writes, its next trip may read
        after = self.position + (s in self.own)
        return any(self.last_read.get(root, -1) >= after for root in self.aliasing.written_by(s))

    def mark_operands(self, s: ir.Assign) -> None:
        shape_only = s.function in SHAPE_ONLY
        views = s.views if holds_memory(s.target.kind) else ()  # a number was read
        for position, operand in enumerate(s.operands()):
            for v in ir.variables(operand):
                is_list = not isinstance(v.kind, Array)
                if isinstance(s.function, ir.Unit):
                    self.read(v)
                elif not is_list and (v in views or (v in s.writes and position == 0)):
                    self.live.add(v)
                elif is_list and s.writes == (v,) and s.function in ON_LISTS and not s.effect:
                    self.live.add(v)  # whether what has an effect raises depends on the items
                elif shape_only and not is_list:
                    self.live.add(v)
                else:
                    self.read(v)

    def mark_loop(self, s: ir.Loop) -> None:
        for operand in s.range or ():
            self.use(operand)
        if s.exits:
            self.use(s.body.results[-1])
        for inner in s.body.statements:
            if isinstance(inner, ir.Assign) and inner.function is leave_unless:
                self.live.add(inner)
                self.mark_operands(inner)
        self.use_ends(s)

    def use_ends(self, s: ir.If | ir.Loop) -> None:
        for target, ends in reversed(list(ir.joins(s))):
            if target in self.live:
                for end in ends:
                    self.use(end)


def _sweep(block: ir.Block, marker: _Marker) -> None:
    live = marker.live
    kept: list[ir.Statement] = []
    for s in block.statements:
        if s not in live:
            continue
        match s:
            case ir.If():
                keep = [k for k, t in enumerate(s.targets) if t in live]
                _sweep(s.then, marker)
                _sweep(s.orelse, marker)
                for b in (s.then, s.orelse):
                    b.results = tuple(b.results[k] for k in keep)
                s.targets = tuple(s.targets[k] for k in keep)
            case ir.Loop():
                keep = [k for k, p in enumerate(s.params) if p in live]
                flags = s.body.results[len(s.params) :]
                _sweep(s.body, marker)
                s.body.results = tuple(s.body.results[k] for k in keep) + flags
                s.params = tuple(s.params[k] for k in keep)
                s.inits = tuple(s.inits[k] for k in keep)
                s.targets = tuple(s.targets[k] for k in keep)
        kept.append(s)
    block.statements[:] = kept
