"""What is done with the lists of a function: whether all of it can be done with arrays.

A list that one loop fills, and that is only read, may become an array (`filled_lists`): it is asked
for its length, its items and parts of it, and NumPy makes arrays of it.
"""

from __future__ import annotations

import builtins
import operator
from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from .. import ir
from ..analysis.aliasing import Aliasing, is_slice
from ..kinds import Array, Kind, ListOf, Scalar, TupleOf
from .hoisting import appends
from .sublists import counts_to


class Reads:
    """What is done with the lists of a function: whether an array can be in the place of one.

    Args:
        block: the function's.
        needed: variables that more is done with than what the function says.
        asked: those that are asked for, other than to be handed on for nobody.
        aliasing: which memory is written.
    """

    def __init__(
        self,
        block: ir.Block,
        needed: Collection[ir.Var],
        asked: Collection[ir.Var],
        aliasing: Aliasing,
    ) -> None:
        self.block, self.needed, self.aliasing = block, needed, aliasing
        self.asked = set(asked)
        self.uses: dict[ir.Var, list[ir.Statement | None]] = defaultdict(list)
        self.empty: set[ir.Var] = set()  # the lists that are empty at first
        for s in ir.walk(block):
            for v in dict.fromkeys(ir.uses(s)):
                self.uses[v].append(s)
            if isinstance(s, ir.Assign) and is_empty_list(s):
                self.empty.add(s.target)
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
        if s.function in STACKING:
            # an array of nothing is one of numbers in double precision
            double = isinstance(kind.item, Scalar) and kind.item.dtype == np.float64
            fits = some or (double and s.function is not np.stack)
            return fits and len(s.args) == 1 and _asks_for_floats(s, kind)
        if isinstance(kind.item, (ListOf, tuple)) and not _is_part(s):
            return takes_item(s) and self.do_nothing_else(s.target, False)
        if isinstance(s.target.kind, ListOf):
            whole = s.function is list and len(s.args) == 1
            if not (whole or _is_part(s)) or s.target.kind.item != kind.item:
                return False
            return self.do_nothing_else(s.target, some and whole)
        if not takes_item(s) or self.writes(s.target) or s.target.kind != kind.item:
            return False
        return not isinstance(kind.item, Scalar) or self.is_number(s.target)

    def is_part_read(self, s: ir.Assign, kind: TupleOf) -> bool:
        """Whether a statement takes a number out of a tuple, or makes an array of it."""
        if s.function in STACKING:
            return len(s.args) == 1 and not s.kwargs
        key = s.args[1] if takes_item(s) else None
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
        if not takes_item(s):
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
        if len(loop.body.statements) != 2 or loop.range is None or loop.exits:
            return None
        read, append = loop.body.statements
        if not (isinstance(read, ir.Assign) and isinstance(append, ir.Assign) and appends(append)):
            return None
        items, copy = read.args[0], append.args[0]
        before, after = block.statements[:at], block.statements[at:]
        made = {v for s in before for v in ir.targets(s) if v in self.empty}
        if (
            read.function is not operator.getitem or read.args[1] is not loop.index
            or append.args[1] is not read.target or not made.issuperset((items, copy))
            or not any(_is_length(s, items) and counts_to(loop, s.target) for s in before)
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
            if isinstance(s, ir.Assign) and s.function in STACKING:
                written = self.aliasing.is_written(s.target)
                if not (written or (shared and self.leaves(s.target))):
                    return s
        return None

    def leaves(self, v: ir.Var) -> bool:
        """Whether a variable's memory, or that of anything in it, is among the results."""
        return not self.returned.isdisjoint(self.aliasing.classes(v))


STACKING = (np.array, np.asarray, np.stack)
# What is the same of Python's numbers and of NumPy's
_SAME = (operator.add, operator.sub, operator.mul, operator.neg, operator.pos, abs)


def is_empty_list(s: ir.Assign) -> bool:
    kind, first = s.target.kind, s.args[0] if s.args else None
    empty = s.function is list and isinstance(first, ir.Pack) and not first.items
    return empty and type(kind) is ListOf and kind.type is list and not kind.holes


def is_kept_well(kind: object) -> bool:
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


def is_row_of_floats(item: Any) -> bool:
    """Whether an item is a tuple of floats, or a list of them, so that it can be an array."""
    if isinstance(item, tuple):
        return bool(item) and all(map(_is_double, item))
    # whether one of them is an int, what is in the list says
    return isinstance(item, ListOf) and getattr(item.item, "dtype", None) == np.float64


def is_float(operand: ir.Operand) -> bool:
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


def takes_item(s: ir.Assign) -> bool:
    return s.function is operator.getitem and _is_place(s.args[1])


def _is_place(key: ir.Operand) -> bool:
    """Whether an index is an int, of which arrays and lists give the same item."""
    if isinstance(key, ir.Const):
        return type(key.value) is int
    return isinstance(key, ir.Var) and isinstance(key.kind, Scalar) and key.kind.dtype.kind in "iu"


def _is_part(s: ir.Assign) -> bool:
    return s.function is operator.getitem and is_slice(s.args[1])


def _is_length(s: ir.Statement, items: ir.Operand) -> TypeGuard[ir.Assign]:
    return isinstance(s, ir.Assign) and s.function is builtins.len and s.args == (items,)


def _is_plain_read(s: ir.Statement | None) -> bool:
    """Whether a statement only asks for the length of a list, for an item, or for an array."""
    if not isinstance(s, ir.Assign) or s.writes or s.effect:
        return False
    if s.function is operator.getitem:
        return not isinstance(s.target.kind, ListOf)
    return s.function is builtins.len or s.function in STACKING
