"""Lists that a loop fills with the same item: `[0.0] * n`.

`[value] * n` is a loop of appends up to here, so that all passes know but one way to fill a list,
and the shadow of a list gets its zeros in the loop that fills the list:

    d_items = []                            d_items = [0.0] * n
    for i in range(n):                      for i in range(n):
        items.append(x[i])           =>         items.append(x[i])
        d_items.append(0.0)

Runs last: what else there is of lists needn't know of it.
"""

from __future__ import annotations

import operator

from .. import ir
from ..analysis.aliasing import Aliasing
from ..frontend.operations import enter_context, leave_unless
from ..ir import list_append
from ..kinds import INT, Scalar


def repeat_items(function: ir.Function) -> None:
    """Make lists at once that loops fill with the same number, text or None, in place."""
    calls = [s.function for s in ir.walk(function.block) if isinstance(s, ir.Assign)]
    if list_append in calls and enter_context not in calls:  # what catches would see half a list
        _Repeater(function).block(function.block)


class _Repeater:
    def __init__(self, function: ir.Function) -> None:
        self.aliasing = Aliasing(function.block, function.together)

    def block(self, block: ir.Block) -> None:
        for loop in list(block.statements):
            for inner in ir.blocks(loop):
                self.block(inner)
            if isinstance(loop, ir.Loop) and _runs_to_its_end(loop):
                self.loop(block, loop)

    def loop(self, block: ir.Block, loop: ir.Loop) -> None:
        """Make the lists that a loop fills so before it, and leave it out if it does no more."""
        inside = ir.made_in(loop)
        for append in list(loop.body.statements):
            if not isinstance(append, ir.Assign) or append.function is not list_append:
                continue
            items, item = append.args
            new, length = self.new(block, loop, items), _length(loop)
            if new is None or length is None or not _is_same(item, inside):
                continue
            trips, made = length
            loop.body.statements.remove(append)
            block.statements.remove(new)
            new.function, new.args = operator.mul, (ir.Pack(list, (item,)), trips)
            at = block.statements.index(loop)
            block.statements[at:at] = [*made, new]
        if not loop.body.statements and not loop.targets:
            block.statements.remove(loop)

    def new(self, block: ir.Block, loop: ir.Loop, items: ir.Operand) -> ir.Assign | None:
        """The statement that makes a list, empty, if nothing happens to it up to the loop, and
        there only once."""
        assert isinstance(items, ir.Var)
        root = self.aliasing.find(items)
        used = ir.all_uses(ir.Block([loop]))
        if sum(root in self.aliasing.held_by([v]) for v in used) != 1:
            return None
        for s in reversed(block.statements[: block.statements.index(loop)]):
            if isinstance(s, ir.Assign) and s.target is items:
                return s if s.function is list and s.args and _is_empty(s.args[0]) else None
            if self.aliasing.mentions(s, root):
                return None
        return None


def _length(loop: ir.Loop) -> tuple[ir.Operand, list[ir.Assign]] | None:
    """How many trips a loop has, or a negative int for none, and what makes it; None if unknown."""
    assert loop.range is not None
    start, stop, step = loop.range
    if not ir.is_constant(step, 1) or not (_is_int(start) and _is_int(stop)):
        return None
    if ir.is_constant(start, 0):
        return stop, []
    if isinstance(start, ir.Const) and isinstance(stop, ir.Const):
        return ir.Const(stop.value - start.value), []
    trips = ir.Assign(ir.Var("count", INT), operator.sub, (stop, start), span=loop.span)
    return trips.target, [trips]


def _is_int(operand: ir.Operand) -> bool:
    """Whether an operand is an int of Python's."""
    if isinstance(operand, ir.Const):
        return type(operand.value) is int
    kind = operand.kind if isinstance(operand, ir.Var) and operand.assured else None
    return isinstance(kind, Scalar) and kind.dtype.kind == "i" and kind.python is True


def _is_empty(operand: ir.Operand) -> bool:
    return isinstance(operand, ir.Pack) and not operand.items


def _is_same(item: ir.Operand, inside: set[ir.Var]) -> bool:
    """Whether what a loop appends is the same number, text or None in each trip."""
    if isinstance(item, ir.Const):
        return True
    number = isinstance(item, ir.Var) and isinstance(item.kind, Scalar) and not item.partial
    return number and item not in inside


def _runs_to_its_end(loop: ir.Loop) -> bool:
    leaves = (isinstance(s, ir.Assign) and s.function is leave_unless for s in ir.walk(loop.body))
    return loop.range is not None and not loop.exits and not any(leaves)
