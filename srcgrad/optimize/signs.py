"""Signs go to where adjoints are added up: `t = -d_x[k:]; d_y += t @ a` is `d_y -= d_x[k:] @ a`.

Simplification draws signs through products of what is never written. The adjoint of what is
written in place is a shadow, and a part of it has another value later: here, in the order in which
the reverse sweep will run, it is seen that nothing in between writes the part. A sign is exact, so
that the numbers are the same to the last bit.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.aliasing import Aliasing, holds_memory
from ..analysis.elementwise import number_kind
from ..analysis.regions import Loops, Regions
from ..frontend.operations import add_to_item, subtract_from_item
from ..kinds import Array, Scalar
from ..rules.registry import hashable

OPPOSITE: dict[Any, Any] = {
    operator.iadd: operator.isub, operator.isub: operator.iadd,
    add_to_item: subtract_from_item, subtract_from_item: add_to_item,
    np.add.at: np.subtract.at, np.subtract.at: np.add.at,
}  # fmt: skip
BILINEAR: frozenset[Any] = frozenset(
    {operator.mul, operator.matmul, np.matmul, np.dot, np.vdot, np.vecdot, np.outer,
     runtime.sum_of_products}
)  # fmt: skip


def settle_signs(function: ir.Function) -> None:
    """Drop negations in the reverse sweep where additions can be subtractions, in place."""
    start = ir.sweep_start(function)
    if start is None:
        return
    tail = ir.Block(function.block.statements[start:], function.block.results)
    _Settler(function).block(tail, ())
    function.block.statements[start:] = tail.statements


class _Settler:
    def __init__(self, function: ir.Function) -> None:
        self.aliasing = Aliasing(function.block, function.together)
        self.counts = ir.use_counts(function.block)
        self.regions = Regions(function.block, self.aliasing)

    def block(self, block: ir.Block, loops: Loops) -> None:
        users: dict[ir.Var, list[ir.Assign]] = {}
        for s in block.statements:
            if isinstance(s, ir.Assign):
                for v in dict.fromkeys(ir.uses(s)):
                    users.setdefault(v, []).append(s)
        for s in list(block.statements):
            for inner in ir.blocks(s):
                self.block(inner, (*loops, s) if isinstance(s, ir.Loop) else loops)
            if isinstance(s, ir.Assign) and s.function is operator.neg and _is_float(s.target):
                self.settle(block.statements, users, s, loops)

    def settle(
        self,
        statements: list[ir.Statement],
        users: dict[ir.Var, list[ir.Assign]],
        sign: ir.Assign,
        loops: Loops,
    ) -> None:
        """Drop a negation if all that is made of it can do without.

        `users`: the calls among the statements that read a variable.
        """
        t, (x,) = sign.target, sign.args
        if not isinstance(x, ir.Var) or x.kind != t.kind:
            return
        turned: dict[ir.Assign, tuple[Any, tuple[ir.Operand, ...]]] = {}
        negative = [t]  # what is computed without the sign
        for v in negative:
            calls = users.get(v, [])
            if len(calls) != self.counts.get(v, 0):
                return  # used in another block too, or twice in a call
            for s in calls:
                other = _turned(s, v)
                if s in turned or s.target in negative:
                    return
                if other is not None:
                    turned[s] = other
                elif _is_linear(s, v):
                    negative.append(s.target)
                else:
                    return
        start = next(i for i, s in enumerate(statements) if s is sign)
        reading = set(users.get(t, ()))
        last = max((i for i, s in enumerate(statements) if s in reading), default=start)
        if not all(self.keeps(s, x, loops) for s in statements[start:last]):
            return
        for call, (function, args) in turned.items():
            call.function, call.args = function, args
        for o in statements[start : last + 1]:
            if isinstance(o, ir.Assign):
                o.args = tuple(x if a is t else a for a in o.args)
        self.counts[x] = self.counts.get(x, 0) + self.counts.get(t, 0) - 1
        both = dict.fromkeys([*users[x], *users.pop(t, ())])
        users[x] = [s for s in both if s is not sign]
        del statements[start]

    def keeps(self, statement: ir.Statement, x: ir.Var, loops: Loops) -> bool:
        """Whether a statement surely leaves a variable's memory as it is."""
        if not holds_memory(x.kind):
            return True
        root = self.aliasing.find(x)
        return all(
            root not in self.aliasing.written_by(s)
            or (s is statement and self.regions.untouched(x, s, loops))
            for s in ir.walk(ir.Block([statement]))
            if isinstance(s, ir.Assign)
        )


def _turned(s: ir.Assign, v: ir.Var) -> tuple[Any, tuple[ir.Operand, ...]] | None:
    """The function and arguments of the call that does with `-v` what one does with `v`."""
    if s.kwargs or not s.args:
        return None
    if s.function in (operator.add, operator.sub):
        a, b = s.args
        if not _is_float(a if v is b else b):
            return None
        if v is b:
            return (operator.sub if s.function is operator.add else operator.add), s.args
        return (operator.sub, (b, a)) if s.function is operator.add else None
    if s.function is operator.mul and _is_float(s.target):
        a, b = s.args
        if isinstance(a, ir.Const) and type(a.value) is float:
            return operator.mul, (ir.Const(-a.value), b)
        return None
    taken = s.args[-1] is v and s.args[0] is not v
    if taken and isinstance(s.args[0], ir.Var) and isinstance(s.args[0].kind, Array):
        opposite = OPPOSITE.get(s.function) if hashable(s.function) else None
        return None if opposite is None else (opposite, s.args)
    return None


def _is_linear(s: ir.Assign, v: ir.Var) -> bool:
    """Whether a call makes an array or a number of its own, minus that for `-v`."""
    if s.views or s.writes or s.effect or not _is_float(s.target) or not hashable(s.function):
        return False
    if s.function is np.sum:
        return s.args[0] is v and "initial" not in dict(s.kwargs)
    if s.kwargs or len(s.args) != 2 or any(number_kind(a) is None for a in s.args):
        return False
    return s.function in BILINEAR or (s.function is operator.truediv and s.args[0] is v)


def _is_float(operand: ir.Operand) -> bool:
    kind = number_kind(operand)
    return isinstance(kind, (Array, Scalar)) and kind.dtype is not None and kind.dtype.kind in "fc"
