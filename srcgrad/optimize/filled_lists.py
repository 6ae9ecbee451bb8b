"""Lists that a loop fills, with an item in each iteration, and that are only read afterwards.

    squares = []                             squares = x * x
    for v in x:                       =>     total = np.sum(np.array(squares))
        squares.append(v * v)
    total = np.sum(np.array(squares))

Where the iterations are independent (`vectorizing`), what they append is an array, and that is read
as the list was: its length, its items, and parts of it. Items that are arrays, which nobody writes,
are its rows; where NumPy makes an array of a list of them, there must be some, as of no rows it
makes one without those axes.
"""

from __future__ import annotations

import builtins
import operator
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from .. import ir
from ..analysis.aliasing import Aliasing
from ..frontend.lower import Lowerer
from ..kinds import Array, Kind, ListOf, Scalar


def kept_item(item: object) -> None:
    """What stands for `append` in the body of a loop whose list may become an array."""


@dataclass(eq=False)
class Filled:
    """A list that a loop fills.

    Attributes:
        items: the list, and lists made of it that are only read, too.
        made: the statement that makes it.
        appended: the one that appends to it.
        keeping: what stands for that while the loop is looked at.
    """

    items: ir.Var
    made: ir.Assign
    appended: ir.Assign
    keeping: ir.Assign


def appends(s: ir.Statement) -> bool:
    return isinstance(s, ir.Assign) and s.function is ir.list_append


def filled_lists(
    block: ir.Block, loop: ir.Loop, needed: Collection[ir.Var], aliasing: Aliasing, runs: bool
) -> list[Filled]:
    """The lists that a loop of a block fills; none if there are others to which it appends.

    Args:
        block: the loop is one of its statements.
        loop: the loop.
        needed: variables that more is done with than what the function says.
        aliasing: which memory is written.
        runs: whether the loop has an iteration in every run.
    """
    appending = [s for s in loop.body.statements if isinstance(s, ir.Assign) and appends(s)]
    lists = [s.args[0] for s in appending]
    if not lists or len(set(lists)) < len(lists):
        return []
    at = block.statements.index(loop)
    made = {
        s.target: s for s in block.statements[:at]
        if isinstance(s, ir.Assign) and s.target in lists and _is_empty_list(s)
    }  # fmt: skip
    if len(made) < len(lists):
        return []
    after = _uses(ir.Block(block.statements[at + 1 :], block.results))
    around = _uses(ir.Block(block.statements[: at + 1]))
    reading = _Reads(after, needed, aliasing)
    found = []
    for s in appending:
        items, item = s.args
        assert isinstance(items, ir.Var)
        if (
            len(around[items]) > 1
            or reading.writes(item)
            or not reading.do_nothing_else(items, runs)
        ):
            return []
        target = ir.Var(items.name, s.target.kind, items.user)
        keeping = ir.Assign(target, kept_item, (s.args[1],), span=s.span)
        found.append(Filled(items, made[items], s, keeping))
    return found


def read_as_array(block: ir.Block, items: ir.Var, array: ir.Var, low: Lowerer) -> None:
    """Let the statements of a block read an array in place of a list, in place."""
    reading = _Reading(block, low)
    reading.read(items, array)
    for inner in ir.all_blocks(block):
        if not reading.done.keys().isdisjoint(inner.statements):
            inner.statements = [n for s in inner.statements for n in reading.done.get(s, [s])]


def array_made(block: ir.Block, items: ir.Var, kind: Kind, aliasing: Aliasing) -> ir.Var | None:
    """An array of a kind that NumPy makes of a list in a block, and that nobody writes.

    The statement that makes it is left out: what has the items can be this array.
    """
    for s in block.statements:
        if isinstance(s, ir.Assign) and s.function in _STACKING and s.args[0] is items:
            if s.target.kind == kind and not aliasing.is_written(s.target):
                block.statements.remove(s)
                return s.target
    return None


class _Reading:
    """What becomes of the statements that read a list, and lists made of it."""

    def __init__(self, block: ir.Block, low: Lowerer) -> None:
        self.uses, self.low = _uses(block), low
        self.done: dict[ir.Statement, list[ir.Statement]] = {}

    def read(self, items: ir.Var, array: ir.Var) -> None:
        for s in self.uses[items]:
            assert isinstance(s, ir.Assign)
            self.done[s] = self.statements(s, array)

    def statements(self, s: ir.Assign, array: ir.Var) -> list[ir.Statement]:
        kind = s.target.kind
        if isinstance(kind, ListOf):
            part = ir.Var(s.target.name, self.kind_of_part(s, array), s.target.user)
            self.read(s.target, part)
            if s.function is operator.getitem:
                return [replace(s, target=part, args=(array, s.args[1]), views=(array,))]
            return [replace(s, target=part, function=np.array, args=(array,), views=())]
        if s.function is builtins.len:
            assert isinstance(kind, Scalar) and isinstance(array.kind, Array) and array.kind.shape
            s.target.kind = replace(kind, size=array.kind.shape[0])
        elif s.function is not operator.getitem:
            return [replace(s, function=np.array, args=(array,), views=())]
        elif isinstance(kind, Array):
            return [replace(s, args=(array, s.args[1]), views=(array,))]
        elif isinstance(kind, Scalar) and kind.python is True:
            number = ir.Var(s.target.name, Scalar(kind.dtype, False))
            python = builtins.float if kind.dtype.kind == "f" else builtins.complex
            return [
                replace(s, target=number, args=(array, s.args[1]), views=()),
                ir.Assign(s.target, python, (number,), span=s.span),
            ]
        return [replace(s, args=(array, *s.args[1:]), views=())]

    def kind_of_part(self, s: ir.Assign, array: ir.Var) -> Kind:
        if s.function is not operator.getitem:
            return array.kind
        outer, self.low.block = self.low.block, ir.Block()
        kind = self.low.emit(operator.getitem, (array, s.args[1])).kind
        self.low.block = outer
        return kind


def _uses(block: ir.Block) -> dict[ir.Var, list[ir.Statement | None]]:
    """The statements that use each variable; None for the results of blocks."""
    found: dict[ir.Var, list[ir.Statement | None]] = defaultdict(list)
    for s in ir.walk(block):
        for v in dict.fromkeys(ir.uses(s)):
            found[v].append(s)
    for inner in ir.all_blocks(block):
        for v in ir.variables_of(inner.results):
            found[v].append(None)
    return found


def _is_empty_list(s: ir.Assign) -> bool:
    kind, first = s.target.kind, s.args[0] if s.args else None
    return (
        s.function is list and isinstance(first, ir.Pack) and not first.items
        and type(kind) is ListOf and kind.type is list and not kind.holes
        and _is_kept_well(kind.item)
    )  # fmt: skip


def _is_kept_well(kind: object) -> bool:
    """Whether an array holds items of a kind as they are."""
    if not isinstance(kind, (Array, Scalar)) or kind.shape is None or kind.dtype is None:
        return False
    return kind.dtype.kind in "fc" and not (isinstance(kind, Scalar) and kind.mixed)


_STACKING = (np.array, np.asarray, np.stack)


@dataclass(frozen=True)
class _Reads:
    """Whether all that is done with a list can be done with an array."""

    uses: dict[ir.Var, list[ir.Statement | None]]
    needed: Collection[ir.Var]
    aliasing: Aliasing

    def writes(self, item: ir.Operand) -> bool:
        """Whether an item is an array that is written."""
        if not isinstance(item, ir.Var) or isinstance(item.kind, Scalar):
            return False
        return self.aliasing.is_written(item)

    def do_nothing_else(self, items: ir.Var, some: bool) -> bool:
        """Whether all that is done with a list, in which there surely are `some` items, is this."""
        reads = (
            isinstance(s, ir.Assign) and self.is_read(s, items, some) for s in self.uses[items]
        )
        return items not in self.needed and all(reads)

    def is_read(self, s: ir.Assign, items: ir.Var, some: bool) -> bool:
        kind = items.kind
        assert isinstance(kind, ListOf)
        if s.writes or not s.args or s.args[0] is not items:
            return False
        if s.function is builtins.len:
            return True
        if s.function in _STACKING:
            # an array of nothing is one of numbers in double precision
            double = isinstance(kind.item, Scalar) and kind.item.dtype == np.float64
            fits = some or (double and s.function is not np.stack)
            return fits and len(s.args) == 1 and not s.kwargs
        if isinstance(s.target.kind, ListOf):
            part = s.function is operator.getitem and _is_slice(s.args[1])
            whole = s.function is list and len(s.args) == 1
            alike = s.target.kind.item == kind.item
            return (part or whole) and alike and self.do_nothing_else(s.target, some and whole)
        if s.function is not operator.getitem or self.writes(s.target):
            return False
        known = not isinstance(kind.item, Scalar) or kind.item.python is not None
        return known and s.target.kind == kind.item and _is_place(s.args[1])


def _is_place(key: ir.Operand) -> bool:
    """Whether an index is an int, of which arrays and lists give the same item."""
    if isinstance(key, ir.Const):
        return type(key.value) is int
    return isinstance(key, ir.Var) and isinstance(key.kind, Scalar) and key.kind.dtype.kind in "iu"


def _is_slice(key: ir.Operand) -> bool:
    return isinstance(key, ir.Pack) or (isinstance(key, ir.Const) and isinstance(key.value, slice))
