"""What is added to shifted parts of an array is added as one vector to another.

The reverse sweep of a stencil, `u[2:, 1:-1] + u[:-2, 1:-1] + ...`, adds one array to several parts
of another, each a few rows and columns short of the whole. NumPy goes through such parts row by
row, makes an iterator for each call, and from three axes on a copy. So what is added is put among
zeros, in an array as large as the whole, and that is added as a vector, shifted by as many numbers
as the parts are apart; what a shift takes over the end of a row are zeros. So it takes a half to a
quarter of the time, whether arrays are small or large.

Only arrays that surely lie in memory row by row can be seen as vectors. Runs when all calls are
what they are printed as, before what is the same in each iteration is moved out of loops: of the
views that are made here, most are.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import ir
from ..analysis.buffers import Buffers
from ..analysis.elementwise import is_elementwise, number_kind
from ..errors import Span
from ..kinds import INT, Array, Dimension, Kind, Scalar, TupleOf, fresh_size

MOST_MISSING = 8  # rows or columns that a part may be short of the whole
# How many arguments come before the order; what is empty yet isn't added to, were it zeros
FILLED: dict[Any, int] = {np.zeros: 2, np.ones: 2, np.full: 3}

Shape = tuple[Dimension, ...]
Offsets = tuple[int, ...]  # one for each axis


def add_shifted(function: ir.Function) -> bool:
    """Add to shifted parts of arrays as to vectors in the loops of the reverse sweep, in place."""
    start = ir.sweep_start(function)
    if start is None:
        return False
    statements = function.block.statements
    sweep = ir.Block(statements[start:])
    if any(isinstance(s, ir.Loop) for s in ir.walk(sweep)):
        used = set(ir.all_uses(sweep))
        before = [v for s in statements[:start] for v in ir.targets(s) if v in used]
        shifts = _Shifts(function)
        shifts.block(sweep, (), before)
        statements[start:] = sweep.statements
        for block in ir.all_blocks(function.block) if shifts.wholes else ():
            _lay_by_rows(block, shifts.by_rows)
        return bool(shifts.wholes)
    return False


@dataclass(frozen=True)
class Part:
    """A part of an array: where it begins, and by how much it is shorter than the whole."""

    whole: ir.Var
    corner: Offsets
    missing: Offsets


@dataclass
class Group:
    """Statements of a block that add the same to parts of arrays, by their positions.

    The arrays are of this kind, and so much longer than the parts.
    """

    added: ir.Var
    kind: Array
    missing: Offsets
    parts: dict[int, tuple[ir.Assign, Part]] = field(default_factory=dict)

    @property
    def positions(self) -> tuple[int, int]:
        """The first and the last."""
        return min(self.parts), max(self.parts)

    def corner(self) -> Offsets:
        """Where what is added begins among the zeros: in the midst of the parts, if that is apt.

        A shift forward on one axis and back on another might be none where rows are short.
        """
        corners = [part.corner for _, part in self.parts.values()]
        low = tuple(map(min, zip(*corners, strict=True)))
        middle = tuple((min(c) + max(c)) // 2 for c in zip(*corners, strict=True))
        return middle if all(_one_way(_less(c, middle)) for c in corners) else low


@dataclass
class Zeros:
    """An array of zeros, among which what is added stands from a corner on, and it as a vector.

    `used` says where: in which blocks, from which position to which.
    """

    whole: ir.Var
    flat: ir.Var
    corner: Offsets
    used: list[tuple[ir.Block, int, int]] = field(default_factory=list)

    def is_free(self, block: ir.Block, group: Group) -> bool:
        """Whether nothing else stands there where a group needs it."""
        begin, end = group.positions
        return not any(
            b is block and begin <= last and first <= end for b, first, last in self.used
        )


@dataclass
class Made:
    """Statements that are made at a place, each once."""

    statements: list[ir.Statement] = field(default_factory=list)
    results: dict[Any, ir.Var] = field(default_factory=dict)

    def once(
        self, name: str, kind: Kind, function: Any, *args: ir.Operand, span: Any,
        views: tuple[ir.Var, ...] = (),
    ) -> ir.Var:  # fmt: skip
        """The result of a call."""
        call = (function, *(a if isinstance(a, ir.Var) else repr(a) for a in args))
        if call not in self.results:
            self.results[call] = ir.Var(name, kind)
            self.statements.append(ir.Assign(self.results[call], function, args, (), span, views))
        return self.results[call]

    def vector(self, name: str, array: ir.Var, span: Any) -> ir.Var:
        """An array that lies row by row, seen as a vector."""
        kind, lengths = array.kind, [n for n in _shape(array) if isinstance(n, int)]
        assert isinstance(kind, Array)
        size = math.prod(lengths) if len(lengths) == kind.rank else fresh_size()
        vector = Array(kind.dtype, (size,))
        args = (array, ir.Const(-1))
        return self.once(name, vector, np.reshape, *args, span=span, views=(array,))

    def part(self, name: str, vector: ir.Var, far: ir.Operand, after: bool, span: Any) -> ir.Var:
        """What a vector has after its first elements, or before its last ones, so many of them."""
        key = (vector, far if isinstance(far, ir.Var) else repr(far), after)
        if key not in self.results:
            assert isinstance(vector.kind, Array)
            nothing, stop = ir.Const(None), far
            if not after and isinstance(far, ir.Const):
                stop = ir.Const(-far.value)
            elif not after:
                stop = ir.Var("minus", Scalar(INT.dtype, True, fresh_size()))
                self.statements.append(ir.Assign(stop, operator.neg, (far,), (), span))
            ends = (stop, nothing) if after else (nothing, stop)
            taken = (vector, ir.Pack(slice, (*ends, nothing)))
            self.results[key] = ir.Var(name, Array(vector.kind.dtype, (fresh_size(),)))
            call = ir.Assign(self.results[key], operator.getitem, taken, (), span, (vector,))
            self.statements.append(call)
        return self.results[key]


@dataclass
class Outside:
    """What stands before a loop: the arrays that are there, and what is made of them."""

    arrays: tuple[ir.Var, ...]
    made: Made = field(default_factory=Made)
    zeros: dict[Any, list[Zeros]] = field(default_factory=dict)
    alike: dict[Shape | None, ir.Var | None] = field(default_factory=dict)

    def like(self, group: Group) -> ir.Var | None:
        """An array as large as those of a group: one of them, or what was made last."""
        shape = group.kind.shape
        if shape not in self.alike:
            wholes = [part.whole for _, part in group.parts.values() if part.whole in self.arrays]
            alike = [v for v in self.arrays if _shape(v) == shape]
            self.alike[shape] = next(iter([*wholes, *reversed(alike)]), None)
        return self.alike[shape]

    def zeros_for(self, group: Group, block: ir.Block, span: Span | None) -> Zeros | None:
        """The zeros for a group of a block: those of other ones, or new ones if there are several.

        What is added but once is worth no array of its own.
        """
        several = self.zeros.setdefault((group.kind, group.missing), [])
        free = [zeros for zeros in several if zeros.is_free(block, group)]
        if len(group.parts) == 1:
            ((_, part),) = group.parts.values()
            apt = (zeros for zeros in free if _one_way(_less(part.corner, zeros.corner)))
            found = next(apt, None)
        else:
            corner = group.corner()
            found = next((zeros for zeros in free if zeros.corner == corner), None)
            if found is None:
                found = self.new_zeros(group, corner, span)
                several.append(found)
        if found is not None:
            found.used.append((block, *group.positions))
        return found

    def new_zeros(self, group: Group, corner: Offsets, span: Span | None) -> Zeros:
        """An array of zeros as large as those of a group."""
        like = self.like(group)
        assert like is not None
        whole = ir.Var("padded", group.kind)
        args = (self.shape(like, span), *_dtype(group.kind))
        self.made.statements.append(ir.Assign(whole, np.zeros, args, (), span))
        return Zeros(whole, self.made.vector("padded_flat", whole, span), corner)

    def distance(self, steps: Offsets, group: Group, span: Span | None) -> ir.Operand:
        """How far apart in memory two elements are, so many steps on each axis."""
        like = self.like(group)
        assert like is not None
        total: ir.Operand = ir.Const(steps[0])
        for axis, n in enumerate(steps[1:], 1):
            if not _is(total, 0):
                length = self.length(like, axis, span)
                total = length if _is(total, 1) else self.number(operator.mul, total, length, span)
            if n:
                more = ir.Const(n)
                total = more if _is(total, 0) else self.number(operator.add, total, more, span)
        return total

    def number(self, function: Any, a: ir.Operand, b: ir.Operand, span: Span | None) -> ir.Operand:
        """A number that is computed of two."""
        if isinstance(a, ir.Const) and isinstance(b, ir.Const):
            return ir.Const(function(a.value, b.value))
        kind = Scalar(INT.dtype, True, fresh_size())
        return self.made.once("distance", kind, function, a, b, span=span)

    def length(self, like: ir.Var, axis: int, span: Span | None) -> ir.Operand:
        """The length of an array along an axis."""
        n = _shape(like)[axis]
        if isinstance(n, int):
            return ir.Const(n)
        name = "columns" if axis == len(_shape(like)) - 1 else "rows"
        args, kind = (self.shape(like, span), ir.Const(axis)), Scalar(INT.dtype, True, n)
        return self.made.once(name, kind, operator.getitem, *args, span=span)

    def shape(self, like: ir.Var, span: Span | None) -> ir.Var:
        """The shape of an array."""
        asked = (builtins.getattr, like, ir.Const("shape"))
        return self.made.once("shape", _lengths(like), *asked, span=span)


class _Shifts:
    def __init__(self, function: ir.Function) -> None:
        self.aliasing = Buffers(function.block)
        self.counts = ir.use_counts(function.block)
        self.made = {s.target: s for s in ir.walk(function.block) if isinstance(s, ir.Assign)}
        self.wholes: set[ir.Var] = set()  # that are added to as vectors
        self.by_rows: set[ir.Operand] = set()
        others: set[ir.Var] = set()
        while more := self.found_by_rows(function.block, others):
            others |= more

    def block(
        self, block: ir.Block, loops: tuple[Outside, ...], before: Iterable[ir.Var] = ()
    ) -> None:
        """Change a block in these loops, and the blocks in it, after what is made before."""
        changed: dict[int, list[ir.Statement]] = {}
        groups = self.groups(block) if loops else []
        for group in sorted(groups, key=lambda g: len(g.parts) == 1):
            changed.update(self.shifted(group, block, loops))
        statements: list[ir.Statement] = []
        arrays = [v for v in before if isinstance(v.kind, Array) and v.assured]
        for position, s in enumerate(block.statements):
            outside = Outside(tuple(arrays))
            inside = (*loops, outside) if isinstance(s, ir.Loop) else loops
            for inner in ir.blocks(s):
                self.block(inner, inside)
            statements += [*outside.made.statements, *changed.get(position, [s])]
            arrays += [v for v in ir.targets(s) if isinstance(v.kind, Array) and v.assured]
        block.statements[:] = statements

    def groups(self, block: ir.Block) -> list[Group]:
        """The additions of a block between which what is added doesn't change."""
        found: list[Group] = []
        going_on: list[Group] = []
        for position, s in enumerate(block.statements):
            if not isinstance(s, ir.Assign):
                going_on = []
                continue
            part = self.part(s)
            if part is not None:
                added, kind = s.args[1], part.whole.kind
                assert isinstance(added, ir.Var) and isinstance(kind, Array)
                same = (added, kind, part.missing)
                group = next((g for g in going_on if (g.added, g.kind, g.missing) == same), None)
                if group is None:
                    group = Group(*same)
                    going_on.append(group)
                    found.append(group)
                group.parts[position] = (s, part)
            going_on = [g for g in going_on if not self.aliasing.may_write(s, g.added)]
        return found

    def part(self, s: ir.Assign) -> Part | None:
        """What a call adds an array to, if it is a part of an array that lies row by row."""
        if s.function not in (operator.iadd, operator.isub) or self.counts.get(s.target):
            return None
        view, added = s.args
        taken = self.made.get(view) if isinstance(view, ir.Var) else None
        if taken is None or taken.function is not operator.getitem or not taken.certain:
            return None
        whole = taken.args[0]
        if not isinstance(whole, ir.Var) or not isinstance(added, ir.Var):
            return None
        kind, part = whole.kind, taken.target.kind
        if not isinstance(kind, Array) or not isinstance(part, Array) or added.kind != part:
            return None
        if kind.shape is None or part.dtype != kind.dtype or part.rank != kind.rank:
            return None
        if kind.dtype is None or kind.dtype.kind not in "fc":
            return None
        cut = _cut(taken.args[1], kind.shape)
        if cut is None or not any(cut[1][1:]):  # of whole rows it is a vector itself
            return None
        if whole not in self.by_rows or not self.aliasing.are_distinct(added, whole):
            return None
        return Part(whole, *cut)

    def found_by_rows(self, block: ir.Block, others: set[ir.Var]) -> set[ir.Var]:
        """Find the arrays that lie by rows, if what loops carry does but for some others.

        Returns more of these.
        """
        self.by_rows.clear()
        carried: list[tuple[ir.Var, ir.Operand]] = []
        for s in ir.walk(block):
            if isinstance(s, ir.Assign) and self.lies_by_rows(s):
                self.by_rows.add(s.target)
            elif isinstance(s, ir.Loop):
                ends = zip(s.params, s.targets, s.inits, s.body.results, strict=False)
                for param, target, init, result in ends:
                    if init in self.by_rows and param not in others:
                        self.by_rows |= {param, target}
                        carried.append((param, result))
        return {param for param, result in carried if result not in self.by_rows}

    def lies_by_rows(self, s: ir.Assign) -> bool:
        """Whether a call surely makes an array of floats that lies in memory row by row.

        Without gaps; or that it can be made so, as arrays that are like other ones.
        """
        kind, kwargs = s.target.kind, dict(s.kwargs)
        if not isinstance(kind, Array) or kind.dtype is None or kind.dtype.kind not in "fc":
            return False
        if isinstance(s.function, Hashable) and s.function in FILLED:
            return len(s.args) <= FILLED[s.function] and not kwargs.keys() - {"dtype"}
        if s.function in (np.ndarray.copy, np.zeros_like):
            return len(s.args) == 1 and not kwargs
        if not is_elementwise(s.function) or kwargs.keys() - {"out"}:
            return False
        if "out" in kwargs:
            return kwargs["out"] in self.by_rows
        arrays = [a for a in s.args if not isinstance(number_kind(a), Scalar)]
        alike = all(a in self.by_rows and _shape(a) == _shape(s.target) for a in arrays)
        return bool(arrays) and alike

    def shifted(
        self, group: Group, block: ir.Block, loops: tuple[Outside, ...]
    ) -> dict[int, list[ir.Statement]]:
        """The statements that add as to vectors, in place of those of a group."""
        outside = next((o for o in loops if o.like(group) is not None), None)
        if outside is None:
            return {}
        span = group.parts[group.positions[0]][0].span
        zeros = outside.zeros_for(group, block, span)
        if zeros is None:
            return {}
        corner, stops = zeros.corner, _less(zeros.corner, group.missing)
        key = tuple(slice(a or None, b or None) for a, b in zip(corner, stops, strict=True))
        store = ir.Assign(
            ir.Var("_", group.kind), operator.setitem,
            (zeros.whole, ir.Const(key), group.added), (), span, writes=(zeros.whole,),
        )  # fmt: skip
        result: dict[int, list[ir.Statement]] = {}
        inside = Made()
        for position, (s, part) in group.parts.items():
            whole, view = part.whole, s.args[0]
            assert isinstance(view, ir.Var)
            self.wholes.add(whole)
            statements: list[ir.Statement] = [] if result else [store]
            inside.statements = statements
            made = outside.made if whole in outside.arrays else inside
            into = made.vector(f"{whole.name}_flat", whole, s.span)
            added, shift = zeros.flat, _less(part.corner, corner)
            if any(shift):
                far = outside.distance(tuple(map(abs, shift)), group, s.span)
                forward = max(shift) > 0
                shifted = "shifted" + view.name.removeprefix(whole.name)
                into = made.part(view.name, into, far, forward, s.span)
                added = outside.made.part(shifted, added, far, not forward, s.span)
            target = ir.Var(s.target.name, into.kind)
            statements.append(
                ir.Assign(target, s.function, (into, added), (), s.span, writes=(into,))
            )
            result[position] = statements
        return result


def _lay_by_rows(block: ir.Block, by_rows: set[ir.Operand]) -> None:
    """Make those of these arrays lie by rows that a block makes like others, whatever those do."""
    statements: list[ir.Statement] = []
    for s in block.statements:
        if isinstance(s, ir.Assign) and s.function is np.zeros_like and s.target in by_rows:
            (like,) = s.args
            assert isinstance(like, ir.Var)
            shape = ir.Var("shape", _lengths(like))
            asked = (like, ir.Const("shape"))
            statements.append(ir.Assign(shape, builtins.getattr, asked, (), s.span))
            s.function, s.args = np.zeros, (shape, *_dtype(s.target.kind))
        statements.append(s)
    block.statements[:] = statements


def _lengths(array: ir.Var) -> TupleOf:
    """The kind of the shape of an array."""
    return TupleOf(tuple(Scalar(INT.dtype, True, n) for n in _shape(array)))


def _dtype(kind: Any) -> tuple[ir.Operand, ...]:
    """The second argument of a call that makes an array of zeros."""
    return () if kind.dtype == np.float64 else (ir.Const(kind.dtype),)


def _cut(key: ir.Operand, shape: Shape) -> tuple[Offsets, Offsets] | None:
    """Where a part with a key of slices begins, and what it lacks; None if that isn't known."""
    items = ir.items_of(key)
    if len(items) > len(shape):
        return None
    corner, missing = [0] * len(shape), [0] * len(shape)
    for axis, item in enumerate(items):
        bounds: list[Any] = [getattr(part, "value", part) for part in ir.slice_parts(item)]
        if len(bounds) != 3 or bounds[2] not in (None, 1):
            return None
        start, stop, n = bounds[0] or 0, bounds[1], shape[axis]
        if type(start) is not int or type(stop) not in (int, type(None)):
            return None
        if isinstance(n, int):
            start, end, _ = slice(start, stop).indices(n)
            end = end - n
        else:
            end = stop or 0
            if start < 0 or end > 0 or stop == 0:
                return None
        corner[axis], missing[axis] = start, start - end
    return (tuple(corner), tuple(missing)) if max(missing) <= MOST_MISSING else None


def _less(a: Offsets, b: Offsets) -> Offsets:
    return tuple(i - j for i, j in zip(a, b, strict=True))


def _one_way(shift: Offsets) -> bool:
    """Whether a shift goes forward on some axes, or back, but not both."""
    return min(shift) >= 0 or max(shift) <= 0


def _shape(v: Any) -> Shape:
    kind = v.kind
    return kind.shape if isinstance(kind, Array) and kind.shape is not None else ()


def _is(operand: ir.Operand, value: int) -> bool:
    return isinstance(operand, ir.Const) and operand.value == value
