"""Batches: what depends on the inputs, and what a value is as a batch."""

from __future__ import annotations

import operator

import numpy as np

from .. import ir, runtime
from ..analysis.aliasing import Aliasing
from ..analysis.inference import Inferred
from ..errors import Unbatchable
from ..frontend.lower import Lowerer
from ..kinds import INT, Array, Kind, ListOf, Opaque, Scalar, Size, TupleOf, parts_like
from ..rules import registry

ROW = (slice(None),)


class Values:
    """Which variables are batches, and operands as they are from now on."""

    def __init__(
        self, function: ir.Function, low: Lowerer, inputs: list[ir.Var], count: ir.Var
    ) -> None:
        self.low, self.count = low, count
        self.size: Size = count.kind.size  # type: ignore[attr-defined]
        self.aliasing = Aliasing(function.block)
        self.batched: set[ir.Var] = set(inputs)
        self.classes: set[ir.Var] = set()  # of memory that is batched
        self.now: dict[ir.Var, ir.Var] = {}  # what a batched variable is from now on
        self.rows: dict[ir.Var, Kind] = {}  # the kind of a row, of variables of a changed kind
        self.inputs = set(inputs)
        for v in inputs:
            self.mark(v)
        self.find(function.block)
        for v in inputs:
            self.change(v)

    def mark(self, v: ir.Var) -> bool:
        """Note that a variable is batched, with all memory it may share if that is written."""
        if v in self.batched and self.aliasing.find(v) in self.classes:
            return False
        new = v not in self.batched
        self.batched.add(v)
        if isinstance(v.kind, ListOf) or self.aliasing.is_written(v):
            root = self.aliasing.find(v)
            new = new or root not in self.classes
            self.classes.add(root)
        return new

    def is_batched(self, operand: ir.Operand) -> bool:
        return any(
            v in self.batched or self.aliasing.find(v) in self.classes
            for v in ir.variables(operand)
        )

    def find(self, block: ir.Block) -> None:
        """Find all that depends on the inputs, until nothing more is found."""
        while self._found(block):
            pass

    def _found(self, block: ir.Block) -> bool:
        found = False
        for s in block.statements:
            match s:
                case ir.Assign():
                    moving = any(map(self.is_batched, s.operands()))
                    if moving and not self.looks_only(s):
                        if s.writes:
                            for v in s.writes:
                                found |= self.mark(v)
                        if not isinstance(s.target.kind, Opaque):
                            found |= self.mark(s.target)
                case _:
                    for inner in ir.blocks(s):
                        found |= self._found(inner)
                    for target, ends in ir.joins(s):
                        if any(map(self.is_batched, ends)):
                            found |= self.mark(target)
        return found

    @staticmethod
    def looks_only(s: ir.Assign) -> bool:
        """Whether a statement only looks at shapes and dtypes."""
        record = registry.lookup(registry.methods.get(s.function, s.function))
        if s.function is getattr:
            return True
        return (record is not None and record.inert) or s.function in (
            np.zeros_like, np.ones_like, np.empty_like, np.may_share_memory, runtime.zero_like,
            runtime.own_zeros,
        )  # fmt: skip

    def kind(self, kind: Kind) -> Kind:
        """The kind of a batch of values of a kind."""
        match kind:
            case Array(dtype, shape):
                if shape is None:
                    raise Unbatchable("an array of unknown rank")
                return Array(dtype, (self.size, *shape))
            case Scalar(dtype):
                return Array(dtype, (self.size,))
            case TupleOf(items, type_):
                if type_ is not tuple:
                    raise Unbatchable("a named tuple")
                return TupleOf(tuple(map(self.kind, items)), type_)
            case ListOf(item):
                if isinstance(item, tuple):
                    return ListOf(parts_like(item, map(self.kind, item)))
                return ListOf(None if item is None else self.kind(item))
        return kind

    def known(self, operand: ir.Operand) -> ir.Operand:
        """The operand as it is from now on."""
        return ir.substitute(operand, lambda v: self.now.get(v, v))

    def full(self, operand: ir.Operand, kind: Kind | None = None) -> ir.Operand:
        """The operand as a batch, repeated if it is none."""
        if isinstance(operand, ir.Pack):
            if operand.type is slice:
                raise Unbatchable("a slice")
            return ir.Pack(operand.type, tuple(map(self.full, operand.items)))
        if self.is_batched(operand):
            assert isinstance(operand, ir.Var)
            return self.now.get(operand, operand)
        if operand is ir.UNDEFINED or (isinstance(operand, ir.Const) and operand.value is None):
            return operand
        kind = operand.kind if isinstance(operand, ir.Var) else kind
        if not isinstance(operand, ir.Var) or isinstance(kind, Scalar):
            if isinstance(kind, Array) and kind.shape != ():
                raise Unbatchable("a number that stands for an array")
            dtype = getattr(kind, "dtype", None) or np.asarray(operand.value).dtype  # type: ignore[union-attr]
            return self.low.emit(
                np.full, (self.count, operand), {"dtype": ir.Const(dtype)},
                inferred=Inferred(Array(dtype, (self.size,))),
            )  # fmt: skip
        if isinstance(kind, TupleOf):
            items = [
                self.full(self.low.emit(operator.getitem, (operand, ir.Const(i))))
                for i in range(len(kind.items))
            ]
            return self.joined(items, kind)
        if not isinstance(kind, Array):
            raise Unbatchable("something that isn't an array")
        return self.repeated(operand, operand.name)

    def joined(self, items: list[ir.Operand], kind: TupleOf) -> ir.Var:
        return self.low.emit(
            tuple, (ir.Pack(list, tuple(items)),), inferred=Inferred(self.kind(kind))
        )

    def repeated(self, operand: ir.Var, name: str) -> ir.Var:
        """A batch with equal rows, in memory of its own."""
        row = self.low.emit(operator.getitem, (operand, ir.Const(None)), name=name)
        return self.low.emit(
            np.repeat, (row, self.count, ir.Const(0)),
            inferred=Inferred(self.kind(operand.kind)), name=name,
        )  # fmt: skip

    def raised(self, operand: ir.Operand, rank: int) -> ir.Operand:
        """An operand that, if it is a batch, has a row of that rank."""
        if isinstance(operand, ir.Pack) and self.is_batched(operand):
            raise Unbatchable("a list in arithmetic")
        if not self.is_batched(operand):
            return operand
        assert isinstance(operand, ir.Var)
        own = self.rank(operand)
        now = self.now.get(operand, operand)
        if own == rank:
            return now
        key = ir.Const(ROW + (None,) * (rank - own))
        return self.low.emit(operator.getitem, (now, key), name=now.name)

    def rank(self, operand: ir.Operand) -> int:
        """The rank of a row of an operand."""
        if isinstance(operand, ir.Var):
            shape = getattr(self.row_kind(operand), "shape", None)
            if shape is None:
                raise Unbatchable("an array of unknown rank")
            return len(shape)
        if isinstance(operand, ir.Const):
            return np.ndim(operand.value)
        return 1

    def row_kind(self, v: ir.Var) -> Kind:
        """The kind of a row of a variable."""
        return self.rows.get(v, v.kind)

    def change(self, v: ir.Var) -> None:
        if self.is_batched(v):
            self.rows[v] = v.kind
            v.kind = self.kind(v.kind)

    def first(self, v: ir.Var) -> ir.Var:
        """The first row."""
        if not self.is_batched(v):
            return v
        now = self.now.get(v, v)
        if not isinstance(now.kind, Array):
            raise Unbatchable("the shape of a container")
        return self.low.emit(operator.getitem, (now, ir.Const(0)), name=v.name)

    def full_shape(self, like: ir.Var) -> ir.Pack:
        """The shape of a batch of arrays like one."""
        lengths = tuple(Scalar(INT.dtype, True, n) for n in like.kind.shape)  # type: ignore[attr-defined]
        shape = self.low.emit(np.shape, (like,), inferred=Inferred(TupleOf(lengths)), name="shape")
        items = [
            self.low.emit(operator.getitem, (shape, ir.Const(i)), inferred=Inferred(length))
            for i, length in enumerate(lengths)
        ]
        return ir.Pack(tuple, (self.count, *items))
