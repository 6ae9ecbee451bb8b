"""What isn't taken contributes nothing: `np.where(x > 0, np.sqrt(x), 0.0)` at 0 has the gradient 0.

The adjoint of a branch of a `where` is zero where the branch isn't taken; but zero times an
infinite or undefined derivative is nan. So from the `where` on, through the elementwise operations
on temporaries that feed it alone, the mask is remembered; what leaves them is masked once more.
Where the mask itself is lost on the way, through an index or a second use, the zeros of the
adjoint take its place.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import ir
from ..kinds import Array, Scalar
from .contributions import is_zero
from .shadows import Shadows

ELEMENTWISE: frozenset[Any] = frozenset(
    {operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg,
     operator.abs, operator.mod}
)  # fmt: skip
# Functions whose derivatives are finite wherever the functions are.
TAME: frozenset[Any] = frozenset(
    {operator.add, operator.sub, operator.neg, np.add, np.subtract, np.negative, np.sin, np.cos,
     np.tanh}
)  # fmt: skip
# Functions whose rules divide by nothing, and so warn only of operands that aren't finite.
QUIET: frozenset[Any] = frozenset(
    {operator.mul, np.multiply, operator.abs, np.absolute, np.square, np.exp}
)
Mask = tuple[Any, bool, bool]  # the condition, the value it has, and whether it's needed by now


class Masks(Shadows):
    """Remembers which adjoints come from a branch of a `where` alone."""

    def __init__(self, function: ir.Function, inputs: list[ir.Var], outputs: list[ir.Var]) -> None:
        super().__init__(function, inputs, outputs)
        self.pending: dict[ir.Var, Mask] = {}
        self.tainted: set[ir.Var] = set()  # their adjoints have zeros where nothing is taken
        self.uses: dict[ir.Var, int] = {}
        self.homes: dict[ir.Var, ir.Block] = dict.fromkeys(function.params, function.block)
        for block in _blocks(function.block):
            operands = [*block.results]
            for s in block.statements:
                self.homes.update(dict.fromkeys(ir.targets(s), block))
                if isinstance(s, ir.Loop):
                    self.homes.update(dict.fromkeys(s.params, s.body))
                operands += ir.uses(s)
            for operand in operands:
                for v in ir.variables(operand):
                    self.uses[v] = self.uses.get(v, 0) + 1

    def take(self, var: ir.Var) -> Any:
        """The complete adjoint of a variable, None if it is zero."""
        d, mask = super().take(var), self.pending.pop(var, None)
        return d if mask is None or d is None else self.limited(d, mask)

    def take_unmasked(self, s: ir.Assign) -> tuple[Any, Mask | None]:
        """The adjoint of a statement's target, and the mask that it may still need."""
        if not elementwise(s.function) and s.function is not np.where:
            return self.take(s.target), None
        mask = self.pending.pop(s.target, None)
        return super().take(s.target), mask

    def feed(
        self, s: ir.Assign, operand: ir.Operand, contribution: Any, d_out: Any, mask: Mask | None
    ) -> Any:
        """Remember or apply the mask of what a statement contributes to an operand."""
        if is_zero(contribution) or not isinstance(operand, ir.Var):
            return contribution
        tame = s.function in TAME or s.function is np.where
        if mask is None:
            if s.target not in self.tainted:
                return contribution
            self.tainted.add(operand)
            if not elementwise(s.function) or tame or not isinstance(d_out, ir.Var):
                return contribution
            return self.limited(contribution, (d_out, True, True))
        self.tainted.add(operand)
        test, value, needed = mask
        mask = (test, value, needed or not tame)
        if (
            self.uses.get(operand, 0) == 1
            and operand not in self.shadows
            and operand not in self.adjoints
            and operand not in self.buffers
            and self.activity.active(operand)
            and self.homes.get(operand) is self.homes.get(s.target)  # where the test is known
            and _shape(operand) == _shape(s.target) is not None
        ):
            self.pending[operand] = mask
            return contribution
        return self.limited(contribution, mask)

    def branch_mask(self, test: Any, value: bool, outer: Mask | None) -> Mask:
        """The mask of a branch of a `where`, perhaps in a branch of another."""
        if outer is None:
            return test, value, False
        parts = [
            t if v else self.emit(np.logical_not, (self.operand(t),))
            for t, v in ((outer[0], outer[1]), (test, value))
        ]
        return self.emit(np.logical_and, tuple(map(self.operand, parts))), True, outer[2]

    def harmless(self, value: Any, s: ir.Assign, mask: Mask) -> Any:
        """A value that a rule uses, replaced where nothing is taken: there it may warn of what
        the primal never computes, a division by zero say."""
        if (
            s.function in TAME | QUIET
            or not isinstance(value, ir.Var)
            or not isinstance(value.kind, Array)
            or _shape(value) != _shape(s.target)
            or value.kind.dtype is None
            or value.kind.dtype.kind not in "fc"
        ):
            return value
        test, taken, _ = mask
        half = ir.Const(0.5)
        args = (test, value, half) if taken else (test, half, value)
        return self.emit(np.where, args, name=value.name)

    def limited(self, d: Any, mask: Mask) -> Any:
        test, value, needed = mask
        if not needed:
            return d
        d = self.operand(d)
        args = (test, d, ir.Const(0.0)) if value else (test, ir.Const(0.0), d)
        result = self.emit(np.where, args)
        if isinstance(result.kind, Array) and result.kind.shape == ():
            return self.emit(operator.getitem, (result, ir.Pack(tuple, ())))
        return result


def elementwise(function: Any) -> bool:
    """Whether a function works on each element by itself."""
    return function in ELEMENTWISE or (
        isinstance(function, np.ufunc) and function.signature is None and function.nout == 1
    )


def _shape(var: ir.Var) -> Any:
    return var.kind.shape if isinstance(var.kind, (Array, Scalar)) else None


def _blocks(block: ir.Block) -> list[ir.Block]:
    found = [block]
    for s in ir.walk(block):
        found += ir.blocks(s)
    return found
