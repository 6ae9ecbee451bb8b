"""Which variables carry a derivative: those that vary with the inputs and matter to the outputs.

Both are found by going through the statements, forwards and backwards, until nothing is added:
memory that is written in place counts as one variable.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import ir, runtime
from ..errors import Boxed, UnsupportedError
from ..kinds import Array, ListOf, Opaque, Places, Residuals, Scalar, TupleOf
from ..rules import registry
from .aliasing import Aliasing
from .unknown_objects import UnknownObjects

INERT: frozenset[Any] = frozenset(
    {
        builtins.len, builtins.bool, builtins.print, builtins.isinstance, runtime.print_items,
        operator.not_, operator.is_, operator.contains,
    }
)  # fmt: skip

UNKNOWN_OBJECT = "a float is written into an object that srcgrad doesn't know"
INTO_AN_ARRAY = "use an array of floats or a list"
MEMORY = ("base",)  # the attributes of an array that hold its numbers


# Objects without numbers in them; of any other, srcgrad can't know.
HARMLESS: frozenset[Any] = frozenset(
    {type(None), bool, int, slice, type, range, np.dtype, *registry.GENERATORS, Residuals}
)


def carries(kind: Any) -> bool:
    """Whether a value of this kind can carry a derivative."""
    match kind:
        case Array() | Scalar():
            return kind.dtype is None or kind.dtype.kind in "fcOSU"
        case Places():
            return False
        case ListOf():
            items = kind.item if isinstance(kind.item, tuple) else (kind.item,)
            return any(item is not None and _carries_item(item) for item in items)
        case TupleOf():
            return any(carries(item) for item in kind.items)
        case Opaque():
            return kind.type not in HARMLESS
    return False


def _carries_item(item: Any) -> bool:
    return any(map(_carries_item, item)) if isinstance(item, tuple) else carries(item)


def is_inert(statement: ir.Assign) -> bool:
    """Whether a statement's result has no derivative, whatever it is applied to."""
    function = statement.function
    if function in INERT or (isinstance(function, type) and issubclass(function, BaseException)):
        return True
    if function is builtins.getattr:
        of = statement.args[0]
        if isinstance(of, ir.Var) and isinstance(of.kind, Opaque):
            return False  # of an object that srcgrad doesn't know
        name = statement.args[1]
        if isinstance(name, ir.Const) and name.value in MEMORY:
            return False
        return not (
            isinstance(statement.target.kind, (Array, Scalar)) and carries(statement.target.kind)
        )
    record = registry.lookup(function)
    return record is not None and record.zero


def _refuse_bits(s: ir.Assign) -> None:
    """Refuse an integer or text that isn't piecewise constant."""
    reason = registry.reinterpreting.get(s.function) if registry.hashable(s.function) else None
    if reason is not None:
        name = getattr(s.function, "__name__", "this call")
        raise UnsupportedError(f"{name} can't be differentiated: {reason}", s.span)


def _items(block: ir.Block) -> dict[ir.Var, list[ir.Var]]:
    """The variables taken out of each tuple: used where the tuple is used as a whole."""
    found: dict[ir.Var, list[ir.Var]] = {}
    for s in ir.walk(block):
        if isinstance(s, ir.Assign) and s.function is operator.getitem:
            container = s.args[0]
            if isinstance(container, ir.Var) and isinstance(container.kind, TupleOf):
                found.setdefault(container, []).append(s.target)
    return found


class Activity:
    """The active variables of a block, for given inputs and outputs."""

    def __init__(
        self,
        block: ir.Block,
        inputs: Iterable[ir.Var],
        outputs: Iterable[ir.Var],
        aliasing: Aliasing,
    ) -> None:
        self.aliasing = aliasing
        self.objects = UnknownObjects(block, carries)
        self.items = _items(block)
        self.varied: set[Any] = set(inputs)
        self.useful: set[Any] = set(outputs)
        self._repeat(self._forward, block, self.varied)
        self._repeat(self._backward, block, self.useful)
        self._refuse_objects(block)
        self._refuse_unknown_objects(block)

    def _refuse_objects(self, block: ir.Block) -> None:
        """Refuse arrays of what derivatives don't go through."""
        for s in ir.walk(block):
            if not isinstance(s, ir.Assign) or not isinstance(s.target.kind, (Array, Scalar)):
                continue
            dtype = s.target.kind.dtype
            if dtype is not None and dtype.kind in "OSU" and self.active(s.target):
                advice = "make an array of floats"
                if dtype.kind == "O":
                    raise Boxed("an array of objects has no derivative", s.span, advice)
                raise UnsupportedError("text has no derivative", s.span, advice)

    def _refuse_unknown_objects(self, block: ir.Block) -> None:
        for s in ir.walk(block):
            if not isinstance(s, ir.Assign):
                continue
            if s.target not in self.useful or isinstance(s.function, ir.Unit):
                changed = self.useful.intersection(self.objects.changed_by(s))
                if changed and any(self.is_varied(o) for o in s.operands()):
                    raise UnsupportedError(UNKNOWN_OBJECT, s.span, INTO_AN_ARRAY)

    def active(self, operand: Any) -> bool:
        """Whether a variable varies with an input and an output varies with it."""
        return (
            isinstance(operand, ir.Var)
            and carries(operand.kind)
            and self._has(self.varied, operand)
            and self._has(self.useful, operand)
        )

    def is_varied(self, operand: ir.Operand) -> bool:
        return any(self._has(self.varied, v) and carries(v.kind) for v in ir.variables(operand))

    def _has(self, where: set[Any], var: ir.Var) -> bool:
        return var in where or any(m in where for m in self._memory(var))

    def _memory(self, var: ir.Var) -> list[Any]:
        """What stands for a variable's memory, and its items', if that is shared."""
        thing = self.objects.of(var)
        if thing is not None:
            return [thing]
        classes = self.aliasing.classes(var)
        return [(root, "memory") for root in classes if root in self.aliasing.shared]

    def _put(self, where: set[Any], var: ir.Var) -> None:
        where.add(var)
        where.update(self._memory(var))

    def _repeat(self, step: Any, block: ir.Block, where: set[Any]) -> None:
        for var in list(where):
            self._put(where, var)
        size = -1
        while len(where) != size:
            size = len(where)
            step(block)

    def _forward(self, block: ir.Block) -> None:
        for s in block.statements:
            match s:
                case ir.Assign():
                    if any(self.is_varied(o) for o in s.operands()):
                        for v in s.writes:
                            self._put(self.varied, v)
                        self.varied.update(self.objects.changed_by(s))
                        if not carries(s.target.kind):
                            _refuse_bits(s)
                        elif not is_inert(s):
                            self._put(self.varied, s.target)
                case _:
                    self._meet(s)
                    for inner in ir.blocks(s):
                        self._forward(inner)
                    self._meet(s)

    def _meet(self, s: ir.If | ir.Loop) -> None:
        for target, ends in ir.joins(s):
            if any(map(self.is_varied, ends)):
                self._put(self.varied, target)

    def _use(self, operand: ir.Operand, whole: bool = True) -> None:
        waiting = list(ir.variables(operand))
        for v in waiting:
            self._put(self.useful, v)
            if whole:
                waiting += self.items.get(v, ())

    def _backward(self, block: ir.Block) -> None:
        for s in reversed(block.statements):
            match s:
                case ir.Assign():
                    wanted = self._has(self.useful, s.target) and carries(s.target.kind)
                    wanted = wanted and not is_inert(s)
                    changes = any(self._has(self.useful, v) for v in s.writes)
                    if wanted or changes or self.objects.changed_by(s) & self.useful:
                        whole = s.function is not operator.getitem
                        for operand in s.operands():
                            self._use(operand, whole)
                case _:
                    self._use_ends(s)
                    for inner in reversed(ir.blocks(s)):
                        self._backward(inner)
                    self._use_ends(s)

    def _use_ends(self, s: ir.If | ir.Loop) -> None:
        for target, ends in reversed(list(ir.joins(s))):
            if self._has(self.useful, target):
                for end in ends:
                    self._use(end)
