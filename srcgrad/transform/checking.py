"""Checked gradients: each adjoint that a line makes is checked to be finite."""

from __future__ import annotations

from typing import Any

from .. import ir, runtime
from ..kinds import Array, Scalar
from .reverse import Adjoint


class Checking(Adjoint):
    """Reverse mode that checks what rules contribute, line by line."""

    def add(self, var: ir.Var, contribution: Any) -> None:
        if self.activity.active(var) and isinstance(contribution, ir.Var):
            self._check(contribution, var)
        super().add(var, contribution)

    def _reverse_write(self, s: ir.Assign) -> None:
        super()._reverse_write(s)
        written = s.writes[0]
        if written in self.shadows:
            self._check(self.shadows[written], written)

    def _check(self, adjoint: ir.Var, var: ir.Var) -> None:
        kind = adjoint.kind
        if self.span is None or not isinstance(kind, (Array, Scalar)):
            return
        if kind.dtype is not None and kind.dtype.kind not in "fc":
            return
        place = (ir.Const(var.name), ir.Const(self.span.filename), ir.Const(self.span.line))
        self.act(runtime.check_finite, adjoint, *place)
