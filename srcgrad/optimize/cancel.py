"""Adjoints that cancel: what is zero whatever the arguments are isn't computed.

Where a maximum is subtracted to keep an exponential from overflowing, the result doesn't depend on
it, and the adjoint that reaches the maximum is a sum that cancels: `d.sum() - total * d.sum() /
total`. Its normal form (`normal.py`) is zero. Such an adjoint is left out where it would be added,
and with it goes all that is computed from it, the mask of the largest elements first.

Computed, the sum would be rounding errors; or NaN, if the forward sweep has overflowed or divided
by zero. What remains of the gradient is then NaN as well, or it is the derivative's limit.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Hashable
from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.elementwise import number_kind, same_kind
from .normal import NormalForms
from .operands import become, is_floating
from .simplify import Simplifier

SUMS: frozenset[Any] = frozenset({operator.add, operator.sub, np.sum})
# Of zeros, these make zeros.
LINEAR: frozenset[Any] = frozenset(
    {operator.neg, operator.truediv, operator.getitem, np.sum, np.broadcast_to, np.reshape,
     np.transpose, np.expand_dims, np.squeeze, np.swapaxes, np.moveaxis, np.ravel, np.real,
     np.ndarray.astype, np.ndarray.copy, builtins.float, runtime.unbroadcast, runtime.as_dtype,
     runtime.project}
)  # fmt: skip
BILINEAR: frozenset[Any] = frozenset({operator.mul, operator.matmul})


def cancel(function: ir.Function) -> bool:
    """Leave out the adjoints that are zero, in place; whether there are any."""
    canceller = _Canceller(function)
    if not canceller.zeros:
        return False
    canceller.run()
    return canceller.changed


class _Canceller(Simplifier):
    def __init__(self, function: ir.Function) -> None:
        super().__init__(function)
        self._times()
        forms = NormalForms(self)
        self.zeros: set[ir.Operand] = {
            s.target
            for s in ir.walk(ir.reverse_part(function))
            if isinstance(s, ir.Assign) and isinstance(s.function, Hashable)
            and s.function in SUMS and is_floating(s) and forms.of(s.target) == {}
        }  # fmt: skip

    def rewrite(self, s: ir.Assign) -> tuple[ir.Operand | None, bool]:
        if not self.reversing or not s.args:
            return None, False
        if s.function in (operator.iadd, operator.isub) and s.args[1] in self.zeros:
            return ir.Const(None), True
        if s.writes or not is_floating(s) or not isinstance(s.function, Hashable):
            return None, False
        if self.is_zero(s):
            self.zeros.add(s.target)
        elif s.function in (operator.add, operator.sub) and not self.zeros.isdisjoint(s.args):
            return self.without(s)
        return None, False

    def is_zero(self, s: ir.Assign) -> bool:
        """Whether a call yields zeros because its operands are."""
        if s.function in BILINEAR:
            return not self.zeros.isdisjoint(s.args)
        return s.target in self.zeros or (s.function in LINEAR and s.args[0] in self.zeros)

    def without(self, s: ir.Assign) -> tuple[ir.Operand | None, bool]:
        """What remains of a sum or difference when one of its operands is zero."""
        a, b = s.args
        before = s.function, s.args
        if b in self.zeros:
            result = self.remaining(s, a)
            if result is not None:
                self.changed = True
                return result, True
        elif s.function is operator.add:
            result = self.remaining(s, b)
            if result is not None:
                self.changed = True
                return result, True
        else:
            become(s, operator.neg, b)
        return None, before != (s.function, s.args)

    def remaining(self, s: ir.Assign, operand: ir.Operand) -> ir.Operand | None:
        if not same_kind(number_kind(operand), s.target.kind):
            return None
        self.current = s
        result = self.same(s.target, operand)
        self.current = None
        return result
