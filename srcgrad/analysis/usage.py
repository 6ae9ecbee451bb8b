"""How much of a value is used: some of its elements, or all of it on one branch only.

What isn't used has the adjoint zero. Where the derivative of the function that made it is infinite,
zero times infinity would be nan, though nothing depends on it: the distance of a particle from
itself is `np.sqrt(0.0)`, and `distances[i, j]` is read for other pairs only.

Which arrays are used in part is said of their memory, whatever the order of statements: it may be
so, and costs a test of an adjoint where it isn't. What is used on one branch only surely is.
"""

from __future__ import annotations

import builtins
import enum
import itertools
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import ir, runtime
from ..kinds import Array, ListOf, Scalar, TupleOf
from ..rules import registry
from .activity import Activity
from .aliasing import Aliasing
from .elementwise import is_elementwise
from .keys import same_key


class Use(enum.Flag):
    """Which elements of an array are left out."""

    WHOLE = 0
    SAMPLED = enum.auto()  # by arrays of indices: x[np.triu_indices(n)], np.max(x)
    SLICED = enum.auto()  # x[i, j], x[1:]
    MASKED = enum.auto()  # by what their values are, as a rule: x[x > 0], np.triu(x)
    BOUNDED = enum.auto()  # by what they're compared with: np.maximum(x, 0.0), which leaves nan in
    SCALED = enum.auto()  # by a factor of zero: x * (x > 0)
    OVERWRITTEN = enum.auto()  # x[0] = 1.0


PLACES = Use.SAMPLED | Use.SLICED

FILLED: frozenset[Any] = frozenset({np.fmax, np.fmin})  # bounds that nan is left out by
PRODUCTS: frozenset[Any] = frozenset({operator.mul, np.multiply})
MASKS: frozenset[Any] = frozenset({runtime.unless_zero, np.triu, np.tril, np.diag})
EMPTY: frozenset[Any] = frozenset({np.zeros, np.zeros_like})
SUMS: frozenset[Any] = frozenset({operator.add, np.add})
DIFFERENCES: frozenset[Any] = frozenset({operator.sub, np.subtract})
# Of what has zeros, these make what has them too.
PASSING: frozenset[Any] = PRODUCTS | {
    *(operator.neg, np.negative, operator.truediv, np.divide, np.asarray, np.ndarray.astype),
    *(operator.getitem, np.broadcast_to, np.reshape, np.ndarray.reshape, np.diagonal),
    *(
        operator.not_,
        np.logical_not,
        operator.invert,
        builtins.float,
        runtime.as_dtype,
        runtime.project,
    ),
}


def is_zero_number(value: Any) -> bool:
    """Whether a constant is the number 0."""
    return isinstance(value, (int, float)) and value == 0


class PartialUse:
    """Which arrays are used in part, by them or by what is made of them."""

    def __init__(self, block: ir.Block, aliasing: Aliasing) -> None:
        self.aliasing = aliasing
        self.uses: dict[ir.Var, Use] = {}
        statements = [s for s in ir.walk(block) if isinstance(s, ir.Assign)]
        self.made = {s.target: s for s in statements}
        self.written = aliasing.written_by(*block.statements)
        self.sparse: set[ir.Var] = set()
        for s in statements:
            if self._has_zeros(s):
                self.sparse.add(s.target)
        self.changed = True
        while self.changed:
            self.changed = False
            for s in reversed(statements):
                self._assign(s)

    def of(self, var: ir.Var) -> Use:
        return self.uses.get(self.aliasing.find(var), Use.WHOLE)

    def _mark(self, operand: ir.Operand, use: Use) -> None:
        for v in ir.variables(operand) if use else ():
            root = self.aliasing.find(v)
            before = self.uses.get(root, Use.WHOLE)
            if isinstance(v.kind, (Array, ListOf, TupleOf)) and before | use != before:
                self.uses[root] = before | use
                self.changed = True

    def _assign(self, s: ir.Assign) -> None:
        if s.writes:
            if s.function is operator.setitem and not self._updated(s):
                self._mark(s.writes[0], Use.OVERWRITTEN)
            if s.function is operator.imul and self.is_sparse(s.args[1]):
                self._mark(s.writes[0], Use.SCALED)
            later = self.of(s.writes[0]) & ~Use.OVERWRITTEN
            for operand in s.args[1:]:
                self._mark(operand, later | chosen_by(s))
            return
        use = self.of(s.target)
        if s.function is operator.getitem:
            self._mark(s.args[0], use | taken_by(s))
            return
        if _mixes(s):
            use = Use.WHOLE
        if s.function is np.where:
            use |= Use.MASKED
        product = s.function in PRODUCTS and len(s.args) == 2
        for operand, other in zip(s.args, s.args[::-1], strict=True):
            scaled = Use.SCALED if product and self.is_sparse(other) else Use.WHOLE
            # What is broadcast is used by each of many elements.
            broadcast = is_elementwise(s.function) and not _same_shape(operand, s.target)
            kept = use & ~PLACES if broadcast else use
            self._mark(operand, kept | scaled | chosen_by(s))

    def is_sparse(self, operand: ir.Operand) -> bool:
        """Whether an array surely has zeros in it, or may for what it is made of: it's a mask.

        What is multiplied by it is used in part.
        """
        if not isinstance(operand, ir.Var) or not isinstance(operand.kind, Array):
            return False
        return operand in self.sparse or _is_bool(operand.kind)

    def _has_zeros(self, made: ir.Assign) -> bool:
        kind = made.target.kind
        if not isinstance(kind, Array):
            return False
        if _is_bool(kind) or made.function in MASKS:
            return True
        if made.function is np.where:
            return any(isinstance(a, ir.Const) and is_zero_number(a.value) for a in made.args[1:])
        if made.function in EMPTY:
            return self.aliasing.find(made.target) in self.written
        if made.function in SUMS:
            return all(map(self.is_sparse, made.args))
        if made.function in DIFFERENCES:  # of what isn't masked: `x - x * mask`
            return self.is_sparse(made.args[1])
        return made.function in PASSING and any(map(self.is_sparse, made.args))

    def _updated(self, s: ir.Assign) -> bool:
        """Whether what is stored is made of what was there: `x[0] += y`."""
        if not isinstance(s.args[2], ir.Var):
            return False
        made = self.made.get(s.args[2])
        parts = [self.made.get(a) for a in made.args if isinstance(a, ir.Var)] if made else []
        return any(
            part is not None
            and part.function is operator.getitem
            and part.args[0] is s.args[0]
            and same_key(part.args[1], s.args[1])
            for part in parts
        )


def _is_bool(kind: Array) -> bool:
    return kind.dtype is not None and kind.dtype.kind == "b"


def _mixes(s: ir.Assign) -> bool:
    """Whether a function makes each element of many, as a product of matrices does."""
    arrays = [a for a in s.args if isinstance(a, ir.Var) and isinstance(a.kind, Array)]
    return len(arrays) > 1 and not is_elementwise(s.function)


def _same_shape(a: ir.Operand, b: ir.Var) -> bool:
    of = a.kind if isinstance(a, ir.Var) else None
    return isinstance(of, Array) and isinstance(b.kind, Array) and of.shape == b.kind.shape


def chosen_by(s: ir.Assign) -> Use:
    """What a function leaves out of its operands."""
    if any(k == "where" for k, _ in s.kwargs):
        return Use.MASKED
    record = registry.lookup(s.function)
    chooses = record.chooses if record is not None else ""
    if chooses == "bound" and s.function not in FILLED:
        return Use.BOUNDED
    return {"": Use.WHOLE, "position": Use.SAMPLED}.get(chooses, Use.MASKED)


def taken_by(s: ir.Assign) -> Use:
    """What an index leaves out of an array."""
    of, key = s.args[:2]
    if not isinstance(of, ir.Var) or not isinstance(of.kind, Array):
        return Use.WHOLE
    use = Use.WHOLE
    for item in ir.items_of(key):
        dtype = getattr(item.kind, "dtype", None) if isinstance(item, ir.Var) else None
        if isinstance(item, ir.Const):
            if item.value is None or item.value is Ellipsis:
                continue
            if isinstance(item.value, slice):
                use |= Use.WHOLE if _is_whole(item.value) else Use.SLICED
                continue
            dtype = np.asarray(item.value).dtype
        elif isinstance(item, ir.Pack) and item.type is slice:
            start, stop, step = (p.value if isinstance(p, ir.Const) else p for p in item.items)
            use |= Use.WHOLE if _is_whole(slice(start, stop, step)) else Use.SLICED
            continue
        if _is_number(item):
            use |= Use.SLICED
        else:
            use |= Use.MASKED if dtype is not None and dtype.kind == "b" else Use.SAMPLED
    return use


def _is_number(item: ir.Operand) -> bool:
    """Whether a part of an index is an int."""
    if isinstance(item, ir.Const):
        return np.ndim(item.value) == 0 and not isinstance(item.value, (bool, np.bool_))
    kind = item.kind if isinstance(item, ir.Var) else None
    return isinstance(kind, Scalar) and kind.dtype is not None and kind.dtype.kind != "b"


def _is_whole(key: slice) -> bool:
    """Whether a slice leaves nothing out."""
    return key.start is None and key.stop is None and key.step in (None, 1, -1)


Condition = tuple[ir.Operand, bool]  # a test, and its value where something is used


def conditions(
    block: ir.Block, activity: Activity, outputs: Iterable[ir.Var]
) -> dict[ir.Var, Condition]:
    """The variables that are used on one branch of one `If` only, and when that is taken.

    Used is what a derivative goes through: a comparison with a variable is no use of it.
    """
    found: dict[ir.Var, Condition] = {}
    _visit(block, (*block.results, *outputs), activity, found)
    return found


def _visit(
    block: ir.Block,
    results: Iterable[ir.Operand],
    activity: Activity,
    found: dict[ir.Var, Condition],
) -> set[ir.Var]:
    """Find the conditions in a block; the variables that are used in it."""
    always: set[ir.Var] = {v for operand in results for v in ir.variables(operand)}
    seen: dict[ir.Var, Any] = {}

    def use(v: ir.Var, condition: Condition | None) -> None:
        if condition is None or seen.setdefault(v, condition) != condition:
            always.add(v)

    for s in reversed(block.statements):
        # More names may leave a loop or a branch than are used after it.
        left = [activity.active(t) for t in ir.targets(s)]
        if isinstance(s, ir.If):
            then, orelse = (
                _visit(b, itertools.compress(b.results, left), activity, found)
                for b in (s.then, s.orelse)
            )
            for v in then | orelse:
                use(v, None if v in then & orelse else (s.test, v in then))
        elif isinstance(s, ir.Loop):
            left = [out or activity.active(p) for out, p in zip(left, s.params, strict=True)]
            used = _visit(s.body, itertools.compress(s.body.results, left), activity, found)
            for v in used | {v for init in s.inits for v in ir.variables(init)}:
                use(v, None)
        elif s.writes or activity.active(s.target):
            condition = seen.get(s.target)
            if s.writes or s.target in always or condition is None:
                condition = None
            else:
                found[s.target] = condition
            for v in ir.uses(s):
                use(v, condition)
    return always | set(seen)
