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
from dataclasses import dataclass, replace

import numpy as np

from .. import ir
from ..frontend.lower import Lowerer
from ..kinds import Array, Kind, ListOf, Scalar, TupleOf
from .hoisting import Hoisted, appends
from .list_reads import (
    Reads,
    is_empty_list,
    is_float,
    is_kept_well,
    is_row_of_floats,
    takes_item,
)


def kept_item(item: object, test: object = True) -> None:
    """What stands for `append` in the body of a loop whose list may become an array.

    It is kept if the test is true.
    """


@dataclass(eq=False)
class Filled:
    """A list that a loop fills.

    Attributes:
        items: the list.
        made: the statement that makes it.
        appended: those that append to it.
        keeping: what stands for that while the loop is looked at.
        instead: for statements of the loop's body, what stands for them.
        rows: a list of lists, of which it is one.
    """

    items: ir.Var
    made: ir.Assign
    appended: frozenset[ir.Statement]
    keeping: ir.Assign
    instead: dict[ir.Statement, list[ir.Statement]]
    rows: ir.Var | None


def filled_lists(
    block: ir.Block, loop: ir.Loop, body: Hoisted, runs: bool, reads: Reads
) -> list[Filled]:
    """The lists that a loop of a block fills; none if there are others to which it appends.

    Args:
        block: the loop is one of its statements.
        loop: the loop.
        body: what it does in an iteration.
        runs: whether it has an iteration in every run.
        reads: tells what else is done with a list.
    """
    appending = [s for s in body.statements if isinstance(s, ir.Assign) and appends(s)]
    lists = [s.args[0] for s in appending]
    if not lists or len(set(lists)) < len(lists):
        return []
    at = block.statements.index(loop)
    made = {
        s.target: s for s in block.statements[:at]
        if isinstance(s, ir.Assign) and s.target in lists and is_empty_list(s)
    }  # fmt: skip
    if len(made) < len(lists):
        return []
    around = ir.use_counts(ir.Block([*block.statements[:at], *body.statements]))
    found = []
    for s in appending:
        items, item = s.args
        assert isinstance(items, ir.Var) and isinstance(items.kind, ListOf)
        reads.narrow(items, s)
        kind = items.kind.item
        if (
            not (is_row_of_floats(kind) or is_kept_well(kind))
            or around[items] > 1
            or reads.writes(item)
        ):
            return []
        test, origins = body.tests.get(s), body.origins[s]
        if not reads.do_nothing_else(items, runs and test is None, origins):
            return []
        instead: dict[ir.Statement, list[ir.Statement]] = {s: []}
        if is_row_of_floats(kind):
            display = (
                item if isinstance(item, ir.Pack) else reads.display(item, body.statements, instead)
            )
            if not isinstance(display, ir.Pack) or not any(map(is_float, display.items)):
                return []
            item = ir.Var("row", Array(np.dtype(float), (len(display.items),)))
            instead[s] = [ir.Assign(item, np.array, (ir.Pack(list, display.items),), span=s.span)]
        target = ir.Var(items.name, s.target.kind, items.user)
        kept = (item,) if test is None else (item, test)
        keeping = ir.Assign(target, kept_item, kept, span=s.span)
        instead[s].append(keeping)
        found.append(Filled(items, made[items], origins, keeping, instead, reads.rows(items)))
    return found


def read_as_array(reads: Reads, filled: Filled, array: ir.Var, own: bool, low: Lowerer) -> ir.Var:
    """Let what reads a list read an array in its place.

    Args:
        reads: what is done with the lists of the function.
        filled: the list.
        array: the array.
        own: whether nothing else has its memory: what NumPy makes of the list may be it.
        low: infers kinds.

    Returns:
        The array's variable from now on.
    """
    reading = _Reading(reads, low, filled.appended)
    shared = reads.leaves(array) or reads.leaves(filled.items)
    made = reads.array_made(filled.items, shared) if own else None
    if made is not None:
        array = reading.adopted(made, array)
    reading.read(filled.items, array, own)
    done, lists = reading.done, reading.lists
    for block in ir.all_blocks(reads.block):
        if not done.keys().isdisjoint(block.statements):
            block.statements = [new for s in block.statements for new in done.get(s, [s])]
        # nobody asks for what is handed on
        block.results = tuple(ir.UNDEFINED if o in lists else o for o in block.results)
    return array


class _Reading:
    """What becomes of the statements that read a list, and lists made of it."""

    def __init__(self, reads: Reads, low: Lowerer, but: frozenset[ir.Statement]) -> None:
        self.reads, self.uses, self.low, self.but = reads, reads.uses, low, but
        self.done: dict[ir.Statement, list[ir.Statement]] = {}
        self.lists: set[ir.Operand] = set()

    def adopted(self, made: ir.Assign, array: ir.Var) -> ir.Var:
        """The variable of an array that NumPy makes of a list, for what has the items already."""
        self.done[made] = []
        made.target.kind = array.kind
        if not made.target.user:
            made.target.name, made.target.user = array.name, array.user
        return made.target

    def read(self, items: ir.Var, array: ir.Var, own: bool) -> None:
        self.lists.add(items)
        for s in self.uses[items]:
            if s is not None and s not in self.but and s not in self.done:
                assert isinstance(s, ir.Assign)
                self.done[s] = self.statements(s, array, own)

    def statements(self, s: ir.Assign, array: ir.Var, own: bool) -> list[ir.Statement]:
        kind = s.target.kind
        if appends(s):
            assert isinstance(s.args[0], ir.Var)
            self.read_rows(s.args[0], s, array, own)
            return [replace(s, args=(s.args[0], array))]
        if isinstance(kind, ListOf) and takes_item(s):
            return self.read_row(s, array, own)
        if isinstance(kind, ListOf):
            part = ir.Var(s.target.name, self.kind_of_part(s, array), s.target.user)
            self.read(s.target, part, False)
            if s.function is operator.getitem:
                return [replace(s, target=part, args=(array, s.args[1]), views=(array,))]
            return [replace(s, target=part, function=np.array, args=(array,), views=())]
        if s.function is builtins.len:
            assert isinstance(kind, Scalar) and isinstance(array.kind, Array) and array.kind.shape
            s.target.kind = replace(kind, size=array.kind.shape[0])
        elif s.function is not operator.getitem:
            return [replace(s, function=np.array, args=(array,), views=())]
        elif isinstance(kind, TupleOf):
            return self.read_row(s, array, own)
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

    def read_rows(self, lists: ir.Var, appended: ir.Assign, array: ir.Var, own: bool) -> None:
        """Let what reads the lists in a list read arrays like one."""
        assert isinstance(lists.kind, ListOf) and isinstance(array.kind, Array)
        lists.kind = replace(lists.kind, item=array.kind)
        for s in self.uses[lists]:
            if s is None or s is appended:
                continue
            assert isinstance(s, ir.Assign)
            if s.function is operator.getitem:
                row = self.row(s, array.kind, own)
                self.done[s] = [replace(s, target=row, views=(lists,))]
                own = False

    def read_row(self, s: ir.Assign, array: ir.Var, own: bool) -> list[ir.Statement]:
        """Let what reads a list or a tuple in a list read a row of an array."""
        assert isinstance(array.kind, Array) and array.kind.shape
        row = self.row(s, Array(array.kind.dtype, array.kind.shape[1:]), own)
        return [replace(s, target=row, args=(array, s.args[1]), views=(array,))]

    def row(self, s: ir.Assign, kind: Array, own: bool) -> ir.Var:
        row = ir.Var(s.target.name, kind, s.target.user)
        made = self.reads.array_made(s.target, True) if own else None
        row = row if made is None else self.adopted(made, row)
        self.read(s.target, row, False)
        return row

    def kind_of_part(self, s: ir.Assign, array: ir.Var) -> Kind:
        if s.function is not operator.getitem:
            return array.kind
        outer, self.low.block = self.low.block, ir.Block()
        kind = self.low.emit(operator.getitem, (array, s.args[1])).kind
        self.low.block = outer
        return kind
