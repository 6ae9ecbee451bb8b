"""Constants go to the smaller factor: `2 * (a * row)` becomes `a * (2 * row)`.

Simplification draws constants out of products, where they meet other constants. What is left is
multiplied where there is least to multiply: in batches of directions, a batch has hundreds of times
the numbers of what all of its rows are multiplied by. The forward sweep computes what the function
does, to the last bit.
"""

from __future__ import annotations

import operator

from .. import ir
from ..analysis.aliasing import Aliasing
from ..analysis.elementwise import elementwise_kind, number_kind
from ..kinds import Array


def scale_smaller(function: ir.Function) -> None:
    """Multiply the smaller factor of products in the reverse sweep by the constant, in place."""
    aliasing, counts = Aliasing(function.block), ir.use_counts(function.block)
    for block in ir.sweep_blocks(function):
        products: dict[ir.Operand, ir.Assign] = {}
        for s in list(block.statements):
            if not isinstance(s, ir.Assign) or s.function is not operator.mul:
                continue
            constant, product = s.args if isinstance(s.args[0], ir.Const) else s.args[::-1]
            inner = products.get(product)
            once = inner is not None and counts.get(inner.target) == 1
            if inner is not None and once and isinstance(constant, ir.Const):
                scaled = _scaled(constant, inner, s, aliasing)
                if scaled is not None:
                    block.statements.remove(s)
                    position = next(i for i, o in enumerate(block.statements) if o is inner)
                    block.statements.insert(position, scaled)
                    s = inner
            products[s.target] = s


def _scaled(
    constant: ir.Const, inner: ir.Assign, outer: ir.Assign, aliasing: Aliasing
) -> ir.Assign | None:
    """The smaller factor times the constant, if `inner` can take that and be `outer`."""
    big, small = inner.args
    if _rank(big) < _rank(small):
        big, small = small, big
    if not isinstance(big, ir.Var) or not isinstance(small, ir.Var) or _rank(small) < 1:
        return None
    if _rank(big) == _rank(small) or any(map(aliasing.is_shared, (outer.target, inner.target))):
        return None
    shapes = [v.kind.shape for v in (big, small) if isinstance(v.kind, Array)]
    if number_kind(constant) is None or shapes[0][-_rank(small) :] != shapes[1]:  # type: ignore[index]
        return None
    kind = elementwise_kind(operator.mul, (constant, small))
    if kind is None:
        return None
    twin = ir.Var(small.name if not small.user else "scaled", kind)
    if elementwise_kind(operator.mul, (big, twin)) != outer.target.kind:
        return None
    inner.target, inner.args = outer.target, (big, twin)
    return ir.Assign(twin, operator.mul, (constant, small), (), outer.span)


def _rank(operand: ir.Operand) -> int:
    kind = operand.kind if isinstance(operand, ir.Var) else None
    return len(kind.shape) if isinstance(kind, Array) and kind.shape is not None else -1
