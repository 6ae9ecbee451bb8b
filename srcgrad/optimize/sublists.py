"""Parts of lists that are only gone through: `for b in bodies[i + 1:]` counts from `i + 1` on.

Python makes a list of such a part, and its adjoint would be a list that is added to that of the
whole. Where nothing is put in the list, or taken out of it, its items are those of the list itself.
"""

from __future__ import annotations

import builtins
import operator
from collections import defaultdict
from collections.abc import Collection
from typing import TypeGuard

from .. import ir
from ..analysis.aliasing import Aliasing
from ..kinds import ListOf, int_kind


def go_through(function: ir.Function, kept: Collection[ir.Var]) -> None:
    """Let loops over parts of lists go through the lists.

    Args:
        function: is changed in place.
        kept: variables that more is done with than what the function says.
    """
    parts = [s for s in ir.walk(function.block) if _is_part(s)]
    if not parts:
        return
    aliasing, counts = Aliasing(function.block), ir.use_counts(function.block)
    uses: dict[ir.Var, list[ir.Statement]] = defaultdict(list)
    for s in ir.walk(function.block):
        for v in ir.uses(s):
            uses[v].append(s)
    naturals = _naturals(function.block)
    results = {v for b in ir.all_blocks(function.block) for o in b.results for v in ir.variables(o)}
    dropped: set[ir.Statement] = set()
    whole: dict[ir.Var, ir.Var] = {}  # the lengths of the lists
    for part in parts:
        items, key = part.args
        assert isinstance(items, ir.Var) and isinstance(key, ir.Pack)
        start, stop, _ = key.items
        first = ir.Const(0) if ir.is_constant(start, None) else start
        lengths = [s for s in uses[part.target] if _is(s, builtins.len)]
        reads = [s for s in uses[part.target] if _is(s, operator.getitem)]
        loops = [s for n in lengths for s in uses[n.target] if counts_to(s, n.target)]
        indices = {loop.index for loop in loops}
        seen = {part.target, *(n.target for n in lengths), *(i for i in indices if i is not None)}
        if (
            not _is_natural(first, naturals)
            or not (ir.is_constant(stop, None) or stop in _below(items, uses))
            or not seen.isdisjoint((*kept, *results))
            or aliasing.changes(items)
            or counts[part.target] != len(lengths) + len(reads)
            or sum(counts[n.target] for n in lengths) != len(loops)
            or any(isinstance(i, ir.Pack) or i not in indices for i in (r.args[1] for r in reads))
            or sum(counts[i] for i in indices if i is not None) != len(reads)
        ):
            continue
        if items not in whole:
            whole[items] = _length(function, items)
        for loop in loops:
            last = whole[items] if ir.is_constant(stop, None) else stop
            loop.range = (first, last, ir.Const(1))
        for read in reads:
            read.args = (items, read.args[1])
            read.views = tuple(items if v is part.target else v for v in read.views)
        dropped.update((part, *lengths))
    for block in list(ir.all_blocks(function.block)) if dropped else ():
        block.statements = [s for s in block.statements if s not in dropped]


def _length(function: ir.Function, items: ir.Var) -> ir.Var:
    """The length of a list, taken where the list is made: nothing changes it."""
    home, at = function.block, 0  # of a parameter, or what is found outside
    for block in ir.all_blocks(function.block):
        for i, s in enumerate(block.statements):
            if items in ir.targets(s):
                home, at = block, i + 1
            if isinstance(s, ir.Loop) and items in s.params:
                home, at = s.body, 0
    taken = [s for s in home.statements if _is(s, builtins.len) and s.args == (items,)]
    length = taken[0] if taken else None
    if length is None:
        length = ir.Assign(ir.Var("count", int_kind()), builtins.len, (items,))
    else:
        home.statements.remove(length)
    home.statements.insert(at, length)
    return length.target


def _is(s: ir.Statement, function: object) -> TypeGuard[ir.Assign]:
    return isinstance(s, ir.Assign) and s.function is function and not s.effect


def _is_part(s: ir.Statement) -> TypeGuard[ir.Assign]:
    """Whether a statement takes items of a list one after the other, as many as there are."""
    if not isinstance(s, ir.Assign) or s.function is not operator.getitem:
        return False
    items, key = s.args
    if not isinstance(items, ir.Var) or type(items.kind) is not ListOf:
        return False
    if not isinstance(key, ir.Pack) or key.type is not slice:
        return False
    return any(ir.is_constant(key.items[2], step) for step in (1, None))


def counts_to(s: ir.Statement, count: ir.Var) -> TypeGuard[ir.Loop]:
    """Whether a statement is a loop that counts from zero on up to this."""
    if not isinstance(s, ir.Loop) or s.range is None or s.backwards:
        return False
    start, stop, step = s.range
    return ir.is_constant(start, 0) and stop is count and ir.is_constant(step, 1)


def _naturals(block: ir.Block) -> set[ir.Var]:
    """What is surely no negative int: indices of loops, and these plus something."""
    found = set[ir.Var]()
    for s in ir.walk(block):
        if isinstance(s, ir.Loop) and s.range is not None and s.index is not None:
            if _is_natural(s.range[0], found) and ir.is_constant(s.range[2], 1):
                found.add(s.index)
        elif isinstance(s, ir.Assign) and s.function is operator.add:
            if all(_is_natural(arg, found) for arg in s.args):
                found.add(s.target)
    return found


def _is_natural(operand: ir.Operand, known: set[ir.Var]) -> bool:
    if isinstance(operand, ir.Const):
        return type(operand.value) is int and operand.value >= 0
    return operand in known


def _below(items: ir.Var, uses: dict[ir.Var, list[ir.Statement]]) -> set[ir.Operand]:
    """The indices of loops that count up to the length of a list."""
    lengths = {s.target for s in uses[items] if _is(s, builtins.len)}
    return {
        s.index for n in lengths for s in uses[n]
        if counts_to(s, n) and s.index is not None
    }  # fmt: skip
