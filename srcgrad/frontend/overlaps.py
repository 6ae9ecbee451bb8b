"""What NumPy reads after it has written it, as the two share memory: that isn't what was meant.

Functions that don't look out for it are told by `registry.rereads`; a mask of all axes is another
case, and so are lists of arrays, stored one after the other: these come with a check that is asked
when the gradient runs. So does storing numbers along one axis from along another one (`m[1] = m[:,
2]`), for which NumPy takes no copy as it does in all other stores. Once all is lowered most checks
are known to be needless.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable

import numpy as np

from .. import ir, runtime
from ..analysis.aliasing import Aliasing
from ..errors import Span
from ..kinds import Array, Opaque, Scalar

# Of an array: for each axis the axis of what it is a part of in the end (of how many), and the
# step; None if that isn't known
Axis = tuple[int, int, int] | None
Layout = tuple[Axis, ...] | None


CHECKS = (
    runtime.check_unread, runtime.check_items_unread, runtime.check_other_list, runtime.check_sole
)  # fmt: skip


def settle_overlaps(
    block: ir.Block, settled: set[ir.Assign], results: Iterable[ir.Var] = ()
) -> None:
    """Leave out checks of what surely is apart, and add those of stores, but of `settled` ones."""
    checks, stores = [], []
    for s in ir.walk(block):
        if isinstance(s, ir.Assign) and type(s.span) is Span and s not in settled:
            if s.function in CHECKS:
                checks.append(s)
            elif s.function is operator.setitem and all(map(_is_array, s.args[::2])):
                stores.append(s)
    if not checks and not stores:
        return
    settled.update(checks, stores)
    aliasing = Aliasing(block)
    for s in checks:
        if s.function is runtime.check_sole:
            s.args = (*s.args[:3], *_other_names(s, block, results, aliasing))
    drop = {
        s for s in checks if aliasing.held_by(s.args[:1]).isdisjoint(aliasing.held_by(s.args[2:]))
    }
    stores = [s for s in stores if len(aliasing.held_by(s.args[::2])) == 1 and is_basic(s.args[1])]
    layouts = Layouts(block) if stores else None
    add = {s for s in stores if layouts is not None and not layouts.goes_along(s)}
    if not drop and not add:
        return
    for inside in (block, *(b for s in ir.walk(block) for b in ir.blocks(s))):
        statements: list[ir.Statement] = []
        for s in inside.statements:
            if s in add:
                assert isinstance(s, ir.Assign) and s.span is not None
                place = ir.Const(s.span.place)
                statements.append(ir.Assign(
                    ir.Var("_", Opaque(None)), runtime.check_direction, (*s.args, place),
                    span=s.span, effect=True,
                ))  # fmt: skip
            if s not in drop:
                statements.append(s)
        inside.statements[:] = statements


def _other_names(
    check: ir.Assign, block: ir.Block, results: Iterable[ir.Var], aliasing: Aliasing
) -> list[ir.Operand]:
    """What may be the array that is to have another shape, and is read behind that."""
    memory = aliasing.held_by(check.args[:1])
    others = [a for a in check.args[3:] if memory & aliasing.held_by([a])]
    if check not in block.statements:
        return others  # in a loop, or a branch
    rest = ir.Block(block.statements[block.statements.index(check) + 1 :], block.results)
    inside = (b for s in ir.walk(rest) for b in ir.blocks(s))
    read = {*results, *(v for s in ir.walk(rest) for v in ir.uses(s))}
    read.update(v for b in (rest, *inside) for v in ir.variables_of(b.results))
    return [a for a in others if a in read]


def _is_array(operand: ir.Operand) -> bool:
    kind = operand.kind if isinstance(operand, ir.Var) else None
    return isinstance(kind, Array) and kind.shape != ()


def is_basic(key: ir.Operand) -> bool:
    """Whether a key has but ints, slices, new axes and an ellipsis."""

    def takes_part(item: ir.Operand) -> bool:
        if isinstance(item, ir.Pack):
            return item.type is slice
        if isinstance(item, ir.Var):
            return isinstance(item.kind, Scalar) and item.kind.dtype.kind in "iu"
        return item.value is None or isinstance(
            item.value, (int, slice, type(Ellipsis), np.integer)
        )

    return all(map(takes_part, ir.items_of(key)))


class Layouts:
    """How the axes of arrays lie in memory, beside those of the arrays that they are parts of.

    Where two parts of an array overlap, it is the same array in the end.
    """

    def __init__(self, block: ir.Block) -> None:
        self.made = {v for s in ir.walk(block) for v in ir.targets(s)}
        self.made |= {p for s in ir.walk(block) if isinstance(s, ir.Loop) for p in s.params}
        self.known: dict[ir.Var, Layout] = {}
        before: dict[ir.Var, Layout] | None = None
        while before != self.known:
            before = dict(self.known)
            for s in ir.walk(block):
                if isinstance(s, ir.Assign):
                    self.assign(s)
                    continue
                for target, ends in ir.joins(s):
                    self.meet(target, ends)

    def goes_along(self, s: ir.Assign) -> bool:
        """Whether a store reads and writes along the same axis, or writes several."""
        array, key, value = s.args
        assert isinstance(array, ir.Var) and isinstance(value, ir.Var)
        written, read = part(self.of(array), key), self.of(value)
        if written is None:
            return False
        if len(written) != 1:
            return True
        to, of = written[0], read[-1] if read else None
        return to is not None and of is not None and to[:2] == of[:2] and (
            to[2] == of[2] or to[2] * of[2] < 0
        )  # fmt: skip

    def of(self, v: ir.Var) -> Layout:
        return self.known.get(v) if v in self.made else whole(v)

    def assign(self, s: ir.Assign) -> None:
        v, first = s.target, s.args[0] if s.args else None
        if not isinstance(v.kind, Array):
            return
        if not s.views:
            self.known[v] = whole(v)
        elif not isinstance(first, ir.Var) or not isinstance(first.kind, Array):
            self.known[v] = None
        elif s.function is operator.getitem and is_basic(s.args[1]):
            self.known[v] = part(self.of(first), s.args[1])
        elif s.function is np.transpose and len(s.args) == 1 and not s.kwargs:
            layout = self.of(first)
            self.known[v] = layout and layout[::-1]
        else:
            self.known[v] = None

    def meet(self, target: ir.Var, ends: tuple[ir.Operand, ...]) -> None:
        found: list[Layout] = []
        for end in ends:
            if isinstance(end, ir.Var) and (end not in self.made or end in self.known):
                found.append(self.of(end))
        if found and isinstance(target.kind, Array):
            self.known[target] = found[0] if all(f == found[0] for f in found) else None


def whole(v: ir.Var) -> Layout:
    """The layout of an array that is a part of no other one."""
    shape = v.kind.shape if isinstance(v.kind, Array) else None
    return None if shape is None else tuple((len(shape), i, 1) for i in range(len(shape)))


def part(layout: Layout, key: ir.Operand) -> Layout:
    """The layout of `x[key]`."""
    if layout is None:
        return None
    items = ir.items_of(key)
    taking = sum(not (ir.is_constant(i, None) or ir.is_constant(i, Ellipsis)) for i in items)
    rest, found = list(layout), list[Axis]()
    for item in items:
        if ir.is_constant(item, None):
            found.append(None)
        elif ir.is_constant(item, Ellipsis):
            found += rest[: len(layout) - taking]
            del rest[: len(layout) - taking]
        elif not rest:
            return None
        else:
            axis, step = rest.pop(0), step_of(item)
            if step != 0:
                found.append((axis[0], axis[1], axis[2] * step) if axis and step else None)
    return (*found, *rest)


def step_of(item: ir.Operand) -> int | None:
    """The step of a slice, 0 for a number; None if it isn't known."""
    if isinstance(item, ir.Pack):
        step = item.items[2]
        if not isinstance(step, ir.Const):
            return None
        return 1 if step.value is None else step.value
    if isinstance(item, ir.Const) and isinstance(item.value, slice):
        return 1 if item.value.step is None else item.value.step
    return 0
