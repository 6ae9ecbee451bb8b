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
from typing import Any

import numpy as np

from .. import ir
from ..analysis.aliasing import Aliasing
from ..analysis.handed_on import asked_for
from ..frontend.lower import Lowerer
from ..kinds import Array, Kind, ListOf, Scalar, TupleOf
from .hoisting import Hoisted, appends


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
        if isinstance(s, ir.Assign) and s.target in lists and _is_empty_list(s)
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
        if not (_is_row(kind) or _is_kept_well(kind)) or around[items] > 1 or reads.writes(item):
            return []
        test, origins = body.tests.get(s), body.origins[s]
        if not reads.do_nothing_else(items, runs and test is None, origins):
            return []
        instead: dict[ir.Statement, list[ir.Statement]] = {s: []}
        if _is_row(kind):
            display = (
                item if isinstance(item, ir.Pack) else reads.display(item, body.statements, instead)
            )
            if not isinstance(display, ir.Pack) or not any(map(_is_float, display.items)):
                return []
            item = ir.Var("row", Array(np.dtype(float), (len(display.items),)))
            instead[s] = [ir.Assign(item, np.array, (ir.Pack(list, display.items),), span=s.span)]
        target = ir.Var(items.name, s.target.kind, items.user)
        keeping = ir.Assign(
            target, kept_item, (item, *(() if test is None else (test,))), (), s.span
        )
        instead[s].append(keeping)
        found.append(Filled(items, made[items], origins, keeping, instead, reads.rows(items)))
    return found


class Reads:
    """What is done with the lists of a function: whether an array can be in the place of one.

    Args:
        block: the function's.
        needed: variables that more is done with than what the function says.
        aliasing: which memory is written.
    """

    def __init__(self, block: ir.Block, needed: Collection[ir.Var], aliasing: Aliasing) -> None:
        self.block, self.needed, self.aliasing = block, needed, aliasing
        self.uses: dict[ir.Var, list[ir.Statement | None]] = defaultdict(list)
        self.empty: set[ir.Var] = set()  # the lists that are empty at first
        for s in ir.walk(block):
            for v in dict.fromkeys(ir.uses(s)):
                self.uses[v].append(s)
            if isinstance(s, ir.Assign) and _is_empty_list(s):
                self.empty.add(s.target)
        self.asked = asked_for(block, needed)
        self.returned = aliasing.own() | aliasing.held_by(needed)
        for s in ir.walk(block):
            for target, ends in () if isinstance(s, ir.Assign) else ir.joins(s):
                for v in ir.variables_of(ends if target in self.asked else ()):
                    self.uses[v].append(None)
        for v in (*needed, *ir.variables_of(block.results)):
            self.uses[v].append(None)

    def narrow(self, items: ir.Var, appended: ir.Assign) -> None:
        """Note of what kind the items of a list are, where one statement appends them.

        A sum may have been an int, for all that was known, until the loop that added it up was one
        operation, and an array of what may be ints may have been one of ints.
        """
        kind, item = items.kind, getattr(appended.args[1], "kind", None)
        match getattr(kind, "item", None), item:
            case Scalar(known), Scalar(dtype) if dtype == known and not item.mixed:
                self._hold(items, appended, item)
            case Array(None, shape), Array(dtype, other) if dtype and other and shape:
                if len(shape) == len(other):
                    self._hold(items, appended, item)

    def _hold(self, items: ir.Var, appended: ir.Assign, item: Kind) -> None:
        """Note that all items of a list are of a kind, where one statement appends them."""
        others = [s for s in self.uses[items] if s is not appended]
        if all(isinstance(s, ir.Assign) and items not in s.writes for s in others):
            assert isinstance(items.kind, ListOf)
            self._narrow(items, items.kind.item, item)

    def _narrow(self, v: ir.Var, old: Any, new: Kind) -> None:
        before = v.kind
        if before == old:
            v.kind = new
        elif isinstance(before, ListOf) and before.item == old:
            v.kind = replace(before, item=new)
        if v.kind == before or not isinstance(before, ListOf) or not isinstance(v.kind, ListOf):
            return
        for s in self.uses[v]:
            if isinstance(s, ir.Assign) and s.function in (operator.getitem, list):
                self._narrow(s.target, before.item, v.kind.item)
            elif isinstance(s, ir.Assign) and appends(s) and s.args[1] is v:
                assert isinstance(s.args[0], ir.Var)
                self._hold(s.args[0], s, v.kind)

    def writes(self, item: ir.Operand) -> bool:
        """Whether an item is an array that is written."""
        if not isinstance(item, ir.Var) or isinstance(item.kind, Scalar):
            return False
        return self.aliasing.is_written(item)

    def do_nothing_else(
        self, items: ir.Var, some: bool, but: frozenset[ir.Statement] = frozenset()
    ) -> bool:
        """Whether all that is done with a list is to read it, `but` some statements.

        There surely are `some` items in it.
        """
        if items in self.needed:
            return False
        uses = [s for s in self.uses[items] if s not in but]
        return all(self.is_read(s, items, some) for s in uses)

    def display(
        self,
        item: ir.Operand,
        body: list[ir.Statement],
        instead: dict[ir.Statement, list[ir.Statement]],
    ) -> ir.Operand | None:
        """What is in a list that a loop makes in each iteration, just to append it.

        The statement that makes it is noted to be left out.
        """
        for s in body:
            if isinstance(s, ir.Assign) and s.target is item and s.function is list:
                if len(self.uses[s.target]) == 1 and len(s.args) == 1:
                    instead[s] = []
                    return s.args[0]
        return None

    def is_read(self, s: ir.Statement | None, items: ir.Var, some: bool) -> bool:
        kind = items.kind
        assert isinstance(kind, (ListOf, TupleOf))
        if not isinstance(s, ir.Assign) or s.effect or not s.args:
            return False
        if isinstance(kind, TupleOf):
            return s.args[0] is items and self.is_part_read(s, kind)
        if appends(s) and s.args[1] is items:
            return s.args[0] in self.empty and self.holds_rows(s.args[0], s)
        if s.writes or s.args[0] is not items:
            return False
        if s.function is builtins.len:
            return True
        if s.function in _STACKING:
            # an array of nothing is one of numbers in double precision
            double = isinstance(kind.item, Scalar) and kind.item.dtype == np.float64
            fits = some or (double and s.function is not np.stack)
            return fits and len(s.args) == 1 and _asks_for_floats(s, kind)
        if isinstance(kind.item, (ListOf, tuple)) and not _is_part(s):
            return _is_place_in(s) and self.do_nothing_else(s.target, False)
        if isinstance(s.target.kind, ListOf):
            whole = s.function is list and len(s.args) == 1
            if not (whole or _is_part(s)) or s.target.kind.item != kind.item:
                return False
            return self.do_nothing_else(s.target, some and whole)
        if not _is_place_in(s) or self.writes(s.target) or s.target.kind != kind.item:
            return False
        return not isinstance(kind.item, Scalar) or self.is_number(s.target)

    def is_part_read(self, s: ir.Assign, kind: TupleOf) -> bool:
        """Whether a statement takes a number out of a tuple, or makes an array of it."""
        if s.function in _STACKING:
            return len(s.args) == 1 and not s.kwargs
        key = s.args[1] if _is_place_in(s) else None
        if not isinstance(key, ir.Const) or not -len(kind.items) <= key.value < len(kind.items):
            return False
        return s.target.kind == kind.items[key.value] and self.is_number(s.target)

    def is_number(self, v: ir.Var) -> bool:
        """Whether it is known of what type a number is, or makes no difference."""
        if not isinstance(v.kind, Scalar):
            return isinstance(v.kind, Array) and v.kind.dtype in (np.float64, np.complex128)
        if v.kind.python is not None and not v.kind.mixed:
            return True
        return all(
            isinstance(s, ir.Assign) and s.function in _SAME and self.is_number(s.target)
            for s in self.uses[v]
        )

    def holds_rows(self, lists: ir.Operand, appended: ir.Statement) -> bool:
        """Whether arrays can be in a list in the place of the lists that are appended to it."""
        if not isinstance(lists, ir.Var) or lists in self.needed:
            return False
        return all(s is appended or self.is_row(s, lists) for s in self.uses[lists])

    def is_row(self, s: ir.Statement | None, lists: ir.Var) -> bool:
        assert isinstance(lists.kind, ListOf)
        if not isinstance(s, ir.Assign) or s.writes or s.effect or s.args[0] is not lists:
            return False
        if s.function is builtins.len:
            return True
        if not _is_place_in(s):
            return False
        return s.target.kind == lists.kind.item and self.do_nothing_else(s.target, False)

    def is_tested(self, items: ir.Var) -> bool:
        """Whether a list, or what is made of it, is asked something: what isn't a number, say.

        What is left out then has the adjoint zero, and products with nan in them must not add up.
        """
        seen, stack = {items}, [items]
        while stack:
            for s in self.uses[stack.pop()]:
                if s is not None and not isinstance(s, ir.Assign):
                    return True
                kind = s.target.kind if s is not None else None
                if getattr(kind, "dtype", None) == np.bool_:
                    return True
                found = [s.target] if s is not None else []
                stack += [v for v in found if v not in seen]
                seen.update(found)
        return False

    def rows(self, items: ir.Var) -> ir.Var | None:
        """The list of lists to which a list is appended."""
        holders = (s.args[0] for s in self.uses[items] if s is not None and appends(s))  # type: ignore[union-attr]
        return next((v for v in holders if v is not items and isinstance(v, ir.Var)), None)

    def copied(self, block: ir.Block, loop: ir.Loop) -> tuple[ir.Var, ir.Var] | None:
        """The list of which a loop makes another one, and that, if neither changes any more.

        Rows are taken out of lists one by one to make an array of them.
        """
        at = block.statements.index(loop)
        if len(loop.body.statements) != 2 or loop.range is None or loop.exits or loop.backwards:
            return None
        read, append = loop.body.statements
        start, stop, step = loop.range
        if not (isinstance(read, ir.Assign) and isinstance(append, ir.Assign) and appends(append)):
            return None
        items, copy = read.args[0], append.args[0]
        before, after = block.statements[:at], block.statements[at:]
        made = {v for s in before for v in ir.targets(s) if v in self.empty}
        if (
            read.function is not operator.getitem or read.args[1] is not loop.index
            or append.args[1] is not read.target or not made.issuperset((items, copy))
            or not (ir.is_constant(start, 0) and ir.is_constant(step, 1))
            or not any(_is_length(s, items, stop) for s in before)
            or ir.use_counts(ir.Block(block.statements[: at + 1]))[copy] > 1  # type: ignore[index]
            or self.aliasing.find(items) in self.aliasing.written_by(*after)  # type: ignore[arg-type]
            or not self.asked.isdisjoint(loop.targets) or None in self.uses[items]  # type: ignore[index]
            or not all(s is append or _is_plain_read(s) for s in self.uses[copy])  # type: ignore[index]
        ):  # fmt: skip
            return None
        assert isinstance(items, ir.Var) and isinstance(copy, ir.Var)
        return items, copy

    def array_made(self, items: ir.Var, shared: bool) -> ir.Assign | None:
        """The statement by which NumPy makes an array of a list, if nobody writes that.

        Nor may the caller write it, if the memory of what is in its place is `shared`.
        """
        for s in self.uses[items]:
            if isinstance(s, ir.Assign) and s.function in _STACKING:
                written = self.aliasing.is_written(s.target)
                if not (written or (shared and self.leaves(s.target))):
                    return s
        return None

    def leaves(self, v: ir.Var) -> bool:
        """Whether a variable's memory, or that of anything in it, is among the results."""
        return not self.returned.isdisjoint(self.aliasing.classes(v))

    def read_as_array(self, filled: Filled, array: ir.Var, own: bool, low: Lowerer) -> ir.Var:
        """Let what reads a list read an array in its place.

        Args:
            filled: the list.
            array: the array.
            own: whether nothing else has its memory: what NumPy makes of the list may be it.
            low: infers kinds.

        Returns:
            The array's variable from now on.
        """
        reading = _Reading(self, low, filled.appended)
        shared = self.leaves(array) or self.leaves(filled.items)
        made = self.array_made(filled.items, shared) if own else None
        if made is not None:
            array = reading.adopted(made, array)
        reading.read(filled.items, array, own)
        done, lists = reading.done, reading.lists
        for block in ir.all_blocks(self.block):
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
        if isinstance(kind, ListOf) and _is_place_in(s):
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


_STACKING = (np.array, np.asarray, np.stack)
# What is the same of Python's numbers and of NumPy's
_SAME = (operator.add, operator.sub, operator.mul, operator.neg, operator.pos, abs)


def _is_empty_list(s: ir.Assign) -> bool:
    kind, first = s.target.kind, s.args[0] if s.args else None
    empty = s.function is list and isinstance(first, ir.Pack) and not first.items
    return empty and type(kind) is ListOf and kind.type is list and not kind.holes


def _is_kept_well(kind: object) -> bool:
    """Whether an array holds items of a kind as they are."""
    if not isinstance(kind, (Array, Scalar)) or kind.shape is None or kind.dtype is None:
        return False
    if isinstance(kind, Scalar):
        # one of Python's numbers among those in single precision makes an array in double
        double = kind.dtype in (np.float64, np.complex128)
        if not double and kind.python is not False:
            return False
        return kind.dtype.kind in "fc" and not kind.mixed
    return kind.dtype.kind in "fc"


def _is_row(item: Any) -> bool:
    """Whether an item is a tuple of floats, or a list of them, so that it can be an array."""
    if isinstance(item, tuple):
        return bool(item) and all(map(_is_double, item))
    # whether one of them is an int, what is in the list says
    return isinstance(item, ListOf) and getattr(item.item, "dtype", None) == np.float64


def _is_float(operand: ir.Operand) -> bool:
    if isinstance(operand, ir.Const):
        return isinstance(operand.value, float)
    return isinstance(operand, ir.Var) and _is_double(operand.kind)


def _is_double(kind: object) -> bool:
    return isinstance(kind, Scalar) and kind.dtype == np.float64 and not kind.mixed


def _asks_for_floats(s: ir.Assign, items: ListOf) -> bool:
    """Whether a call that makes an array has no keyword but the dtype of doubles, as items are."""
    asked = dict(s.kwargs)
    dtype = asked.pop("dtype", None)
    if dtype is None:
        return not asked
    item: Any = items.item
    while isinstance(item, (ListOf, tuple)):
        item = item.item if isinstance(item, ListOf) else item[0]
    known = isinstance(dtype, ir.Const) and dtype.value in (float, np.float64)
    return known and not asked and getattr(item, "dtype", None) == np.float64


def _is_place_in(s: ir.Assign) -> bool:
    return s.function is operator.getitem and _is_place(s.args[1])


def _is_place(key: ir.Operand) -> bool:
    """Whether an index is an int, of which arrays and lists give the same item."""
    if isinstance(key, ir.Const):
        return type(key.value) is int
    return isinstance(key, ir.Var) and isinstance(key.kind, Scalar) and key.kind.dtype.kind in "iu"


def _is_part(s: ir.Assign) -> bool:
    """Whether a statement takes a slice."""
    key = s.args[1] if s.function is operator.getitem else None
    return isinstance(key, ir.Pack) or (isinstance(key, ir.Const) and isinstance(key.value, slice))


def _is_length(s: ir.Statement, items: ir.Operand, count: ir.Operand) -> bool:
    """Whether a statement takes the length of a list for a count."""
    if not isinstance(s, ir.Assign) or s.function is not builtins.len:
        return False
    return s.target is count and s.args == (items,)


def _is_plain_read(s: ir.Statement | None) -> bool:
    """Whether a statement only asks for the length of a list, for an item, or for an array."""
    if not isinstance(s, ir.Assign) or s.writes or s.effect:
        return False
    if s.function is operator.getitem:
        return not isinstance(s.target.kind, ListOf)
    return s.function is builtins.len or s.function in _STACKING
