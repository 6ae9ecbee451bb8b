"""Batches: a program that is linear in some inputs, for many of them at once.

What depends on those inputs, and the memory it is written into, gets one more axis in front, with
a row for each; what doesn't stays as it is, and is computed once. How a primitive works on such
batches is said in `rules/batching.py`; one of which nothing is said is called for one row after
the other. Loops and branches never depend on the inputs, so they stay as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.inference import Inferred
from ..errors import Unbatchable
from ..frontend.lower import Lowerer
from ..kinds import Array, ListOf, Opaque, Scalar, Size, is_float
from .batched_calls import Calls

# What returns its operand for a batch if and only if it does so for a row
ALIKE: frozenset[Any] = frozenset(
    {runtime.unbroadcast, runtime.as_dtype, runtime.project, runtime.writable}
)


# What makes a container or object of its operands
MAKING: frozenset[Any] = frozenset({runtime.make_object, runtime.make_tuple})


def batch(
    function: ir.Function, low: Lowerer, inputs: list[ir.Var], count: ir.Var, results: list[int]
) -> None:
    """Make a function, in place, work on batches of some of its inputs.

    Args:
        function: the function; some of its statements may be calls of rules' results, which
            `low` lowers.
        low: emits statements.
        inputs: the variables that become batches; they are linear in what they stand for.
        count: the number of rows.
        results: the positions of the results that are batches, whether they depend on the
            inputs or not.

    Raises:
        Unbatchable: the function can't be made to.
    """
    assert isinstance(count.kind, Scalar) and isinstance(count.kind.size, Size)
    Batch(function, low, inputs, count).run(function, results)


class Batch(Calls):
    """The walk through a function, statement by statement."""

    def run(self, function: ir.Function, results: list[int]) -> None:
        self.block(function.block)
        self.low.block = function.block
        function.block.results = tuple(
            self.result(r) if i in results else self.known(r)
            for i, r in enumerate(function.block.results)
        )

    def block(self, block: ir.Block) -> None:
        outer, statements = self.low.block, block.statements
        block.statements = []
        for s in statements:
            self.low.block = block
            self.low.span = s.span
            match s:
                case ir.Assign():
                    self.assign(s)
                case ir.If():
                    self.branch(s)
                case ir.Loop():
                    self.loop(s)
        self.low.block = outer

    def branch(self, s: ir.If) -> None:
        if self.is_batched(s.test):
            raise Unbatchable("a test of what depends on the direction")
        outer = self.low.block
        kinds = [t.kind for t in s.targets]
        for inner in (s.then, s.orelse):
            self.block(inner)
            self.low.block = inner
            inner.results = tuple(
                self.full(r, kind) if self.is_batched(t) else r
                for r, t, kind in zip(inner.results, s.targets, kinds, strict=True)
            )
        self.low.block = outer
        for t in s.targets:
            self.change(t)
        outer.statements.append(s)

    def loop(self, s: ir.Loop) -> None:
        if any(map(self.is_batched, s.range or ())):
            raise Unbatchable("a loop whose range depends on the direction")
        kinds = [p.kind for p in s.params]
        s.inits = tuple(
            self.full(i, kind) if self.is_batched(t) else i
            for i, t, kind in zip(s.inits, s.targets, kinds, strict=True)
        )
        outer = self.low.block
        for v in (*s.params, *s.targets):
            self.change(v)
        self.block(s.body)
        self.low.block = s.body
        count = len(s.params)
        own, flags = s.body.results[:count], s.body.results[count:]
        if any(map(self.is_batched, flags)):
            raise Unbatchable("a loop whose end depends on the direction")
        s.body.results = (
            *(
                self.full(r, kind) if self.is_batched(t) else r
                for r, t, kind in zip(own, s.targets, kinds, strict=True)
            ),
            *flags,
        )
        self.low.block = outer
        outer.statements.append(s)

    def assign(self, s: ir.Assign) -> None:
        moving = any(map(self.is_batched, s.operands()))
        if s.target in self.inputs:  # taken out of an argument
            self.low.block.statements.append(s)
            return
        if s.writes:
            if moving:
                self.write(s)
            else:
                self.low.block.statements.append(s)
            return
        if not self.is_batched(s.target):
            if moving:
                self.look(s)
            else:
                self.low.block.statements.append(s)
            return
        if not moving or self.looks_only(s):
            result = self.allocated(s)
        else:
            result = self.applied(s)
        self.now[s.target] = self.settled(result, s)

    def settled(self, result: ir.Var, s: ir.Assign) -> ir.Var:
        """A result with the kind that it must have."""
        kind = self.kind(s.target.kind)
        if isinstance(kind, Array):
            found = result.kind
            if isinstance(found, Array) and found.shape is not None:
                assert kind.shape is not None
                if len(found.shape) != len(kind.shape):
                    raise Unbatchable(f"{s.function} made rows of another rank")
                both = found.dtype is not None and kind.dtype is not None  # float64 == None
                if both and found.dtype != kind.dtype:
                    result = self.low.emit(
                        np.ndarray.astype, (result, ir.Const(kind.dtype)), inferred=Inferred(kind)
                    )
        result = self.apart(result, s)
        result.kind = kind
        result.name, result.user = s.target.name, s.target.user
        if self.aliasing.is_written(s.target) and s.views and isinstance(kind, Array):
            definition = self.definition(result)
            certain = s.certain and definition is not None and definition.certain
            view = definition is not None and definition.views
            if not (certain and view) and s.function not in ALIKE:
                raise Unbatchable("a view that is written")
        return result

    def definition(self, v: ir.Var) -> ir.Assign | None:
        """The statement that has just made a variable."""
        for s in reversed(self.low.block.statements):
            if isinstance(s, ir.Assign) and s.target is v:
                return s
        return None

    def apart(self, result: ir.Var, s: ir.Assign) -> ir.Var:
        """A copy, if the result is a view, one of them is written later, but the row was none."""
        definition = self.definition(result)
        if s.views or definition is None:
            return result
        used = (s.target, *(v for o in s.operands() for v in ir.variables(o)))
        written = any(map(self.aliasing.is_written, used))
        if not (written and definition.views and isinstance(result.kind, Array)):
            return result
        return self.low.emit(np.ndarray.copy, (result,), inferred=Inferred(result.kind))

    def look(self, s: ir.Assign) -> None:
        """A statement that looks at the shape of a batch: it looks at the first row."""
        if not self.looks_only(s) and not isinstance(s.target.kind, Opaque):
            raise Unbatchable(f"{s.function} of what depends on the direction")
        if isinstance(s.target.kind, Opaque) and not self.looks_only(s):
            made = isinstance(s.function, type) or s.function in MAKING
            change = self.result if made else self.known
            s.args = tuple(change(a) for a in s.args)
            s.kwargs = tuple((k, change(a)) for k, a in s.kwargs)
        else:
            s.args = tuple(ir.substitute(a, self.first) for a in s.args)
            s.kwargs = tuple((k, ir.substitute(a, self.first)) for k, a in s.kwargs)
        self.low.block.statements.append(s)

    def result(self, operand: ir.Operand) -> ir.Operand:
        """A result, each float in it a batch."""
        if isinstance(operand, ir.Pack):
            if operand.type is dict:  # of pairs of a key and an item
                pairs = [
                    ir.Pack(p.type, (p.items[0], self.result(p.items[1])))
                    for p in operand.items
                    if isinstance(p, ir.Pack)
                ]
                return ir.Pack(dict, tuple(pairs))
            return ir.Pack(operand.type, tuple(map(self.result, operand.items)))
        if isinstance(operand, ir.Var):
            if isinstance(operand.kind, ListOf):
                raise Unbatchable("a list")
            return self.full(operand) if is_float(operand.kind) else self.known(operand)
        if isinstance(operand, ir.Const) and isinstance(operand.value, (float, complex)):
            return self.full(operand)
        return operand

    def allocated(self, s: ir.Assign) -> ir.Var:
        """Memory that doesn't depend on the inputs, but into which what does is written."""
        kind = s.target.kind
        if isinstance(kind, ListOf):
            if s.args and isinstance(s.args[0], ir.Pack) and not s.args[0].items:
                return self.low.emit(list, s.args, inferred=Inferred(self.kind(kind)))
            raise Unbatchable("a list")
        if s.function is np.zeros_like and isinstance(kind, Array) and s.args:
            like = self.first(s.args[0]) if isinstance(s.args[0], ir.Var) else s.args[0]
            if isinstance(like, ir.Var) and kind.dtype is not None and kind.shape is not None:
                size = self.full_shape(like)
                kwargs: dict[str, ir.Operand] = {}
                if kind.dtype != np.dtype(float):
                    kwargs["dtype"] = ir.Const(kind.dtype)
                return self.low.emit(np.zeros, (size,), kwargs, inferred=Inferred(self.kind(kind)))
        row = ir.Var(s.target.name, kind)
        args = tuple(ir.substitute(a, self.first) for a in s.args)
        kwargs_ = tuple((k, ir.substitute(a, self.first)) for k, a in s.kwargs)
        self.low.block.statements.append(
            ir.Assign(row, s.function, args, kwargs_, s.span, s.views, s.certain, (), s.effect)
        )
        full = self.full(row)
        assert isinstance(full, ir.Var)
        return full
