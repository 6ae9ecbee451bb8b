"""Rewriting rules of what is added in place: signs are taken over, and what is added to the same
part of an array one after the other is added at once.
"""

from __future__ import annotations

import itertools
import operator
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ir, runtime
from ..analysis.aliasing import holds_memory, is_slice
from ..analysis.elementwise import elementwise_kind, held_kind, number_kind
from ..analysis.keys import same_key
from ..frontend.operations import add_to_item, subtract_from_item
from ..kinds import Scalar, same_dtype
from .operands import Rule, is_array, is_number, negated, scaled

if TYPE_CHECKING:
    from .simplify import Simplifier

IN_PLACE = (operator.iadd, operator.isub)
ITEMS: dict[Any, Any] = {operator.add: add_to_item, operator.sub: subtract_from_item}
NEAR = 12  # statements to look back


def accumulate(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """Signs become those of the addition, and the part of an array is taken right before it.

    Zeros, such as a shadow to which nothing was added, aren't added.
    """
    if ctx.definition(s.args[1], np.zeros, np.zeros_like) is not None:
        return s.args[0]
    _add(ctx, s)
    part = _part(ctx, s.args[0])
    if part is not None and part in ctx.out[-NEAR:-1]:
        ctx.out.remove(part)
        ctx.out.append(part)
    return None


def _add(ctx: Simplifier, s: ir.Assign) -> None:
    """`d += -x` is `d -= x`."""
    target, value = s.args
    other = operator.isub if s.function is operator.iadd else operator.iadd
    if _joined(ctx, s):
        return
    if _collected(ctx, s):
        return
    x = negated(ctx, value)
    if x is not None:
        s.function, s.args = other, (target, x)
        return
    product = scaled(ctx, value)
    if product is not None and is_number(product[0]) and product[0].value < 0:  # type: ignore[union-attr]
        minus = ir.Const(-product[0].value)  # type: ignore[union-attr]
        if is_number(minus, 1.0):
            s.function, s.args = other, (target, product[1])
        else:
            made = ctx.emit(operator.mul, minus, product[1], kind=number_kind(value))
            s.function, s.args = other, (target, made)


def _collected(ctx: Simplifier, s: ir.Assign) -> bool:
    """Make `d += x; ...; d += 2 * x` into `d += 3 * x`, if nothing between does more than add."""
    target, value = s.args
    if not is_array(value):
        return False
    root = ctx.aliasing.find(target)  # type: ignore[arg-type]
    for back, other in enumerate(reversed(ctx.out[-NEAR:]), 1):
        if not isinstance(other, ir.Assign) or not _only_adds(ctx, other, root):
            return False
        if other.function in IN_PLACE and _same_part(ctx, other.args[0], target):
            total = _sum_of_multiples(ctx, other, s)
            if total is not None:
                del ctx.out[-back]
                ctx.changed = True
                c, x = total
                minus = c < 0
                s.function = operator.isub if minus else operator.iadd
                scaled_ = ctx.emit(operator.mul, ir.Const(abs(c)), x, kind=value.kind)  # type: ignore[union-attr]
                s.args = (target, scaled_)
                return True
    return False


def _only_adds(ctx: Simplifier, s: ir.Assign, root: ir.Var) -> bool:
    """Whether a call does nothing to an array, and asks nothing of it, that depends on the order
    in which things are added to it."""
    if s.effect:
        return False
    if s.function in IN_PLACE and ctx.aliasing.find(s.args[0]) is root:  # type: ignore[arg-type]
        return root not in ctx.aliasing.held_by(s.args[1:2])
    views = s.function is operator.getitem and bool(s.views) and s.certain
    return views or not ctx.aliasing.mentions(s, root)


def _same_part(ctx: Simplifier, a: ir.Operand, b: ir.Operand) -> bool:
    """Whether two operands are the same part of an array."""
    if a is b:
        return True
    first, second = _part(ctx, a), _part(ctx, b)
    return (
        first is not None and second is not None and first.args[0] is second.args[0]
        and same_key(first.args[1], second.args[1])
    )  # fmt: skip


def _sum_of_multiples(
    ctx: Simplifier, first: ir.Assign, second: ir.Assign
) -> tuple[float, ir.Operand] | None:
    """(c, x) if what two statements add is together `c * x`, the x being what it was."""
    (c, x), (d, y) = (_multiple(ctx, s.args[1]) for s in (first, second))
    if x is not y or not ctx.stable(x, ctx.made.get(first.target, 0)):
        return None
    kinds = [number_kind(s.args[1]) for s in (first, second)]
    if kinds[0] != kinds[1] or elementwise_kind(operator.mul, (ir.Const(c), x)) != kinds[0]:
        return None
    total = c * (1 if first.function is operator.iadd else -1)
    total += d * (1 if second.function is operator.iadd else -1)
    return (total, x) if total else None


def _multiple(ctx: Simplifier, operand: ir.Operand) -> tuple[float, ir.Operand]:
    """(c, x) if an operand is `c * x` with a constant c, else itself once."""
    s = ctx.definition(operand, operator.mul)
    if s is not None and is_number(s.args[0]) and is_array(s.args[1]):
        return float(s.args[0].value), s.args[1]  # type: ignore[union-attr]
    return 1.0, operand


def _joined(ctx: Simplifier, s: ir.Assign) -> bool:
    """Make `d[k] += a; d[k] += b` into `d[k] += a + b`, if that is what these statements are."""
    target = s.args[0]
    part = _part(ctx, target)
    if part is None or not ctx.out or ctx.out[-1] is not part:
        return False
    root = ctx.aliasing.find(part.target)
    for back, other in enumerate(reversed(ctx.out[-NEAR:-1]), 2):
        if isinstance(other, ir.Assign) and other.function in (operator.iadd, operator.isub):
            first = _part(ctx, other.args[0])
            if first is not None and first.args[0] is part.args[0]:
                if same_key(first.args[1], part.args[1]):
                    return _join(ctx, s, part, len(ctx.out) - back, ctx.made[first.target])
        if ctx.aliasing.mentions(other, root):
            return False
    return False


def _join(ctx: Simplifier, s: ir.Assign, part: ir.Assign, position: int, since: int) -> bool:
    """Add what the statement at a position adds to the same part, in its place."""
    other = ctx.out[position]
    assert isinstance(other, ir.Assign)
    a, b = other.args[1], s.args[1]
    signs = other.function is operator.iadd, s.function is operator.iadd
    if not is_array(a) or not is_array(b) or not ctx.stable(a, since):
        return False
    first, second = (a, b) if signs[0] else (b, a)
    function = operator.add if signs[0] == signs[1] else operator.sub
    kind = elementwise_kind(function, (first, second))
    if kind is None or kind != part.target.kind:
        return False
    del ctx.out[-1], ctx.out[position]
    value = ctx.emit(function, first, second, kind=kind, name=b.name)  # type: ignore[union-attr]
    ctx.out.append(part)
    s.function = operator.iadd if any(signs) else operator.isub
    s.args = (part.target, value)
    return True


def exchange(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """The adjoint of `x[[i, j]] = x[[j, i]]` is `d[[j, i]] = d[[i, j]]`, also where i is j."""
    d, key, value = s.args
    if len(ctx.out) < 2:
        return None
    taken, zeros = ctx.out[-2:]
    if not isinstance(taken, ir.Assign) or not isinstance(zeros, ir.Assign):
        return None
    if taken.function is not runtime.last_written or taken.target is not value:
        return None
    if zeros.function is not operator.setitem or not ir.is_constant(zeros.args[2], 0):
        return None
    stored = taken.args[1]
    if taken.args[0] is not d or zeros.args[0] is not d or not same_key(zeros.args[1], stored):
        return None
    if ctx.counts.get(taken.target) != 1 or not _exchanges(ctx, stored, key):
        return None
    taken.function, s.function = operator.getitem, operator.setitem
    ctx.out.remove(zeros)
    return None


def _exchanges(ctx: Simplifier, one: ir.Operand, other: ir.Operand) -> bool:
    """Whether two keys are the same but for a pair of ints, which is turned round."""
    pairs = list(itertools.zip_longest(ir.items_of(one), ir.items_of(other)))
    turned = [(a, b) for a, b in pairs if None in (a, b) or not same_key(a, b)]
    rest = [a for a, b in pairs if (a, b) not in turned]
    if len(turned) != 1 or not all(is_slice(a) or is_integer(a) for a in rest):
        return False
    makers = [ctx.definition(o, np.array) for o in turned[0]]
    lists = [m.args[0] if m is not None and len(m.args) == 1 else None for m in makers]
    if not all(isinstance(o, ir.Pack) and len(o.items) == 2 for o in lists):
        return False
    (a, b), (c, d) = (o.items for o in lists)  # type: ignore[union-attr]
    return same_key(a, d) and same_key(b, c) and is_integer(a) and is_integer(b)


def is_integer(operand: ir.Operand) -> bool:
    """Whether an operand is an int, Python's or NumPy's."""
    kind = number_kind(operand)
    return isinstance(kind, Scalar) and kind.dtype.kind in "iu"


def _part(ctx: Simplifier, operand: ir.Operand) -> ir.Assign | None:
    """The call that took a part of an array, to be written once."""
    s = ctx.definitions.get(operand) if isinstance(operand, ir.Var) else None
    if s is None or s.function is not operator.getitem or not s.views or not s.certain:
        return None
    arrays = is_array(s.args[0]) and is_array(s.target)
    return s if arrays and ctx.counts.get(s.target, 0) == 1 else None


def add_to_items(function: ir.Function) -> None:
    """Make `d[k] = d[k] + v` into `d[k] += v`, for numbers and items at arrays of indices.

    Also where d is a list of numbers.
    """
    _add_to_items(function.block, ir.use_counts(function.block))


def _add_to_items(block: ir.Block, counts: Counter[ir.Var]) -> None:
    made: dict[ir.Operand, ir.Assign] = {}  # since memory was last written
    joined: list[ir.Assign] = []
    for s in block.statements:
        for inner in ir.blocks(s):
            _add_to_items(inner, counts)
        if not isinstance(s, ir.Assign):
            made.clear()
            continue
        if s.function is operator.setitem:
            parts = _sum_with_item(s, made, counts)
            if parts is not None:
                read, total = parts
                s.function, s.args = ITEMS[total.function], (*s.args[:2], total.args[1])
                joined += [read, total]
            else:
                joined += _sum_of_two(s, made, counts)
        if s.writes or s.effect:
            made.clear()
        else:
            made[s.target] = s
    block.statements[:] = [s for s in block.statements if s not in joined]


def _sum_with_item(
    s: ir.Assign, made: dict[ir.Operand, ir.Assign], counts: Counter[ir.Var]
) -> tuple[ir.Assign, ir.Assign] | None:
    """The read of an item and the sum with it that a statement stores in its place."""
    x, key, new = s.args
    total = made.get(new)
    if total is None or total.function not in ITEMS or total.kwargs or counts[total.target] != 1:
        return None
    read = made.get(total.args[0])
    if read is None or read.function is not operator.getitem or counts[read.target] != 1:
        return None
    if read.args[0] is not x or not same_key(read.args[1], key):
        return None
    if read.views and holds_memory(read.target.kind):
        return None
    kinds = held_kind(x), number_kind(read.target), number_kind(total.target)
    if any(k is None for k in kinds):
        return None
    if is_array(x) and not all(same_dtype(k, kinds[0]) for k in kinds):
        return None
    return (read, total) if same_shape(kinds[1], kinds[2]) else None


def _sum_of_two(
    s: ir.Assign, made: dict[ir.Operand, ir.Assign], counts: Counter[ir.Var]
) -> list[ir.Assign]:
    """Make `d[k] = d[k] + a + b` into `d[k] += a + b`, for numbers; the statements that go."""
    x, key, new = s.args
    total = made.get(new)
    first = None if total is None or total.function not in ITEMS else made.get(total.args[0])
    if total is None or first is None or first.function not in ITEMS:
        return []
    (item, a), (_, b) = first.args, total.args
    read = made.get(item)
    if read is None or read.function is not operator.getitem or read.args[0] is not x:
        return []
    held = held_kind(x)
    if not same_key(read.args[1], key) or held is None:
        return []
    if any(counts[other.target] != 1 for other in (read, first, total)):
        return []
    numbers = [number_kind(o) for o in (first.target, new, a, b)]
    if any(not isinstance(k, Scalar) or k.dtype != held.dtype for k in numbers):
        return []
    minus, same = first.function is operator.sub, first.function is total.function
    total.function, total.args = operator.add if same else operator.sub, (a, b)
    if minus and not same:
        total.args = (b, a)
    s.function = ITEMS[operator.sub if minus and same else operator.add]
    return [read, first]


def same_shape(a: Any, b: Any) -> bool:
    """Whether two kinds of numbers or arrays have the same known shape."""
    return a.shape is not None and a.shape == b.shape


STORES: dict[Any, list[Rule]] = {
    operator.iadd: [accumulate], operator.isub: [accumulate], np.add.at: [exchange],
}  # fmt: skip
