"""Lists that a loop would make anew in each trip, of what is there before it, are made before it.

A list or tuple of which each item is known by itself becomes one at run time where an index asks
for an item that only the run tells:

    for i in range(4):                      items = [a, b, c, d]
        items = [a, b, c, d]                for i in range(4):
        total = total + items[i]     =>         total = total + items[i]

So the loop takes as long as it takes in Python, and so does its adjoint, which adds to a list.
"""

from __future__ import annotations

import builtins
import operator
from collections import Counter
from collections.abc import Collection, Iterable
from typing import TypeGuard

from .. import ir
from ..analysis.aliasing import Aliasing, is_slice
from ..analysis.keys import constant_key


def make_once(function: ir.Function, kept: Collection[ir.Var]) -> None:
    """Make lists that are only read before the loops in which they would be made, in place.

    Args:
        function: the program.
        kept: variables that more is done with than what the function says.
    """
    made = {s.target: s for s in ir.walk(function.block) if _is_made(s)}
    if not made:
        return
    aliasing = Aliasing(function.block)
    reads = Counter(s.args[0] for s in ir.walk(function.block) if _is_read(s))
    counts = ir.use_counts(function.block)
    alone = {
        v for v in made
        if counts[v] == reads[v] and v not in kept and not aliasing.is_written(v)
    }  # fmt: skip
    _Mover(alone).block(function.block)


class _Mover:
    def __init__(self, lists: set[ir.Var]) -> None:
        self.lists = lists

    def block(self, block: ir.Block) -> None:
        """Put the lists that the loops of a block make before the loops, innermost first."""
        statements: list[ir.Statement] = []
        for s in block.statements:
            for inner in ir.blocks(s):
                self.block(inner)
            if isinstance(s, ir.Loop):
                statements += self.taken(s)
            statements.append(s)
        block.statements = statements

    def taken(self, loop: ir.Loop) -> list[ir.Statement]:
        """The lists that a loop makes of what is there before it: each once."""
        inside = ir.made_in(loop)
        found: dict[object, ir.Assign] = {}
        again = ir.Renaming()
        for block in ir.all_blocks(loop.body):
            left: list[ir.Statement] = []
            for s in block.statements:
                ours = isinstance(s, ir.Assign) and s.target in self.lists
                if ours and all(v.assured and v not in inside for v in ir.uses(s)):
                    assert isinstance(s, ir.Assign)
                    first = found.setdefault(_key(s), s)
                    if first is not s:
                        again[s.target] = first.target
                else:
                    left.append(s)
            block.statements = left
        ir.rename(loop.body, again)
        return [*found.values()]


def _is_made(s: ir.Statement) -> TypeGuard[ir.Assign]:
    """Whether a statement makes a list or tuple of single items."""
    if not isinstance(s, ir.Assign) or s.function not in (list, tuple) or not s.args:
        return False
    return isinstance(s.args[0], ir.Pack) and not s.writes and not s.effect


def _is_read(s: ir.Statement) -> TypeGuard[ir.Assign]:
    """Whether a statement takes one item of a list, or asks for the length."""
    if not isinstance(s, ir.Assign) or s.effect:
        return False
    item = s.function is operator.getitem and not is_slice(s.args[1])
    return item or s.function is builtins.len


def _key(s: ir.Assign) -> object:
    """What two calls that make equal lists have in common."""
    return s.function, s.target.kind.type, _keys(s.args)  # type: ignore[attr-defined]


def _keys(operands: Iterable[ir.Operand]) -> tuple[object, ...]:
    return tuple(map(_part, operands))


def _part(operand: ir.Operand) -> object:
    match operand:
        case ir.Const():
            return constant_key(operand.value)
        case ir.Pack():
            return operand.type, _keys(operand.items)
    return operand
