"""Which variables are surely positive, or not negative, as the rules tell (`rules.positive`)."""

from __future__ import annotations

from collections.abc import Hashable

from .. import ir
from ..kinds import Array, Scalar
from ..rules.positive import NONNEGATIVE, POSITIVE, UNKNOWN, sign_of, signs
from .aliasing import Aliasing
from .usage import PRODUCTS

KEYWORDS = frozenset({"axis", "keepdims", "ddof", "dtype", "order"})


class Positivity:
    """The signs of a function's variables, of those whose memory isn't written."""

    def __init__(self, block: ir.Block, aliasing: Aliasing) -> None:
        self.found: dict[ir.Var, int] = {}
        for s in ir.walk(block):
            if isinstance(s, ir.Assign) and not aliasing.is_written(s.target):
                sign = self._result(s)
                if sign:
                    self.found[s.target] = sign

    def positive(self, operand: ir.Operand) -> bool:
        return self._sign(operand) == POSITIVE

    def _sign(self, operand: ir.Operand) -> int:
        if isinstance(operand, ir.Const):
            return sign_of(operand.value)
        return self.found.get(operand, UNKNOWN) if isinstance(operand, ir.Var) else UNKNOWN

    def _result(self, s: ir.Assign) -> int:
        rule = signs.get(s.function) if isinstance(s.function, Hashable) else None
        if rule is None or not s.args or not all(k in KEYWORDS for k, _ in s.kwargs):
            return UNKNOWN
        if any(_is_complex(v) for v in (s.target, *ir.uses(s))):
            return UNKNOWN
        of = [self._sign(a) for a in s.args]
        found: int = rule(of, [a.value if isinstance(a, ir.Const) else None for a in s.args])
        if s.function in PRODUCTS and s.args[0] is s.args[1]:
            return max(found, NONNEGATIVE)
        return found


def _is_complex(v: ir.Var) -> bool:
    if not isinstance(v.kind, (Array, Scalar)):
        return False
    return v.kind.dtype is None or v.kind.dtype.kind == "c"
