"""Loops over single numbers: arrays that a loop reads and writes number by number are lists in it.

Python's lists and floats are two to five times as fast at that as arrays and NumPy's numbers:

    y_list = y.tolist()
    for i in range(1, n):
        y_list[i] += 0.5 * y_list[i - 1]
    y[:] = y_list

An array is worth it if the loop computes no arrays and visits most of its elements, as its ranges
show. In such a loop other arrays are lists if they turn out to be short (`c_list = listed(c)`), and
the numbers read of those that are used as arrays, too, are Python's (`c.item(0)`).

It is right if all that is made of the numbers is the same whether they are Python's or NumPy's, as
sums, products and comparisons are. Powers aren't; quotients are, if zero as a divisor is NumPy's
(`a / (b or np.float64(b))`). Runs last, as the kinds of these numbers aren't true any more.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import ir
from ..analysis.aliasing import Aliasing, holds_memory
from ..analysis.alternatives import is_mixed
from ..analysis.elementwise import is_elementwise, number_kind
from ..frontend.operations import (
    add_to_item,
    enter_context,
    leave_unless,
    or_numpys,
    subtract_from_item,
)
from ..ir import list_append
from ..kinds import Array, Dimension, ListOf, Opaque, Scalar, Size, TupleOf, least
from ..runtime import boxed, listed, unless_zero

STORES = (operator.setitem, add_to_item, subtract_from_item)
SUMS = (operator.add, operator.sub)
EXACT = (*SUMS, operator.mul, operator.neg, operator.pos, operator.abs, builtins.abs)
ACCUMULATE = (operator.iadd, operator.isub, operator.imul)
COMPARE = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
CHOICES = (builtins.max, builtins.min, unless_zero)  # one of their operands, or zero
SHAPES = ("shape", "size", "ndim")
FLOAT = np.dtype(np.float64)
PLAIN = tuple(map(np.dtype, (bool, np.int64, np.float64, np.complex128)))  # floats go along with
REAL = tuple(map(np.dtype, (np.int64, np.float64)))
DEEPEST = 4  # the most dimensions of an array that becomes a list
SMALL = 8  # how many elements a range may leave out at an end


def unbox(function: ir.Function) -> None:
    """Let loops that read and write arrays number by number do so in lists, in place."""
    calls = [s for s in ir.walk(function.block) if isinstance(s, ir.Assign)]
    if any(s.function is enter_context for s in calls):
        return  # what suppresses an exception would see an array that isn't up to date
    if not any(map(_reads_number, calls)):
        return
    finder = _Finder(function)
    finder.block(function.block, set())
    finder.items()
    right = _right(function, finder.aliasing, finder.found)
    if right:
        _divide(function.block, _Flow(function, finder.aliasing, right))
    writers: list[_Writer] = []
    for region in right:
        known = _still_there(writers, region, finder.aliasing)
        writers.append(_Writer(region, known))
    for writer in writers:
        writer.write()


def _still_there(
    writers: list[_Writer], region: _Region, aliasing: Aliasing
) -> dict[ir.Var, ir.Var]:
    """The lists of loops before, in the same block, of arrays that nothing has written since."""
    position = {id(s): i for i, s in enumerate(region.block.statements)}
    found: dict[ir.Var, ir.Var] = {}
    for writer in writers:
        before = writer.region
        if (
            before.block is not region.block
            or position[id(before.loop)] > position[id(region.loop)]
        ):
            continue
        between = region.block.statements[position[id(before.loop)] + 1 : position[id(region.loop)]]
        written = aliasing.written_by(*between)
        for v, twin in writer.twins.items():
            alike = (v in before.lists) == (v in region.lists)
            if alike and v in region.lists | region.short and aliasing.find(v) not in written:
                found[v] = twin
    return found


@dataclass(eq=False)
class _Region:
    """A loop in a block, with the arrays that are lists in it, those that are if they are short,
    and the reads of others' items."""

    block: ir.Block
    loop: ir.Loop
    lists: set[ir.Var]
    short: set[ir.Var]
    items: list[ir.Assign] = field(default_factory=list)
    needed: set[ir.Var] = field(default_factory=set)  # arrays that may be read after the loop

    def leaving(self) -> list[ir.Var]:
        """The results of the loop that are made NumPy's numbers again, as they were unless the loop
        ran no trip at all."""
        return [
            v for v in self.loop.targets
            if isinstance(v.kind, Scalar) and _is_double(v) and not v.kind.python and not v.partial
        ]  # fmt: skip

    def reads(self) -> Iterator[ir.Assign]:
        """The reads whose results are Python's numbers."""
        for s in ir.walk(self.loop.body):
            if isinstance(s, ir.Assign) and _reads_number(s):
                if s.args[0] in self.lists | self.short:
                    yield s
        yield from self.items


def _reads_number(s: ir.Statement) -> bool:
    """Whether a statement reads one number of an array of floats, by ints."""
    if not isinstance(s, ir.Assign) or s.function is not operator.getitem or s.kwargs:
        return False
    kind = s.target.kind
    if not isinstance(kind, Scalar) or kind.dtype != FLOAT or s.effect:
        return False
    return _holds_floats(s.args[0]) and _index(s.args[0], s.args[1]) is not None


def _holds_floats(operand: ir.Operand) -> bool:
    """Whether an operand is an array of double precision of known rank."""
    if not isinstance(operand, ir.Var) or not operand.assured:
        return False
    kind = operand.kind
    known = isinstance(kind, Array) and kind.dtype is not None and kind.shape is not None
    return known and kind.dtype == FLOAT  # type: ignore[attr-defined]


def _index(array: ir.Operand, key: ir.Operand) -> tuple[ir.Operand, ...] | None:
    """The ints in a key, one for each dimension; None if that isn't what it is."""
    items = ir.items_of(key)
    shape = array.kind.shape  # type: ignore[union-attr]
    if len(items) != len(shape) or not items or not all(map(_is_int, items)):
        return None
    return items


def _is_int(operand: ir.Operand) -> bool:
    if isinstance(operand, ir.Const):
        return type(operand.value) is int
    kind = operand.kind if isinstance(operand, ir.Var) else None
    return isinstance(kind, Scalar) and kind.dtype.kind in "iu" and not operand.optional  # type: ignore[union-attr]


class _Finder:
    """Finds the loops, and the arrays that may be lists in them."""

    def __init__(self, function: ir.Function) -> None:
        self.aliasing = Aliasing(function.block, function.together)
        self.found: list[_Region] = []
        self.top = function.block
        self.definitions = {
            s.target: s for s in ir.walk(function.block) if isinstance(s, ir.Assign)
        }

    def block(self, block: ir.Block, taken: set[ir.Var]) -> None:
        """Look at the loops of a block, where the arrays `taken` are lists already."""
        for position, s in enumerate(block.statements):
            inside = taken
            if isinstance(s, ir.Loop) and _on_numbers(s):
                rest = ir.Block(block.statements[position + 1 :], block.results)
                later = {root for v in ir.all_uses(rest) for root in self.aliasing.classes(v)}
                region = _Region(block, s, *self.lists(s, taken))
                if self.pays(region):
                    self.found.append(region)
                    region.needed = {
                        v for v in region.lists | region.short
                        if block is not self.top or self.aliasing.find(v) in later
                    }  # fmt: skip
                    inside = taken | region.lists | region.short
            for inner in ir.blocks(s):
                self.block(inner, inside)

    def pays(self, region: _Region) -> bool:
        """Whether a loop uses several numbers in a trip, so that making the lists is worth it."""
        uses = sum(isinstance(s, ir.Assign) and self.uses_number(s)
                   for s in ir.walk(region.loop.body))  # fmt: skip
        return bool(region.lists) and uses > len(region.lists | region.short)

    def items(self) -> None:
        """Give each region the reads of arrays that are lists in none."""
        done = {s for region in self.found for s in region.reads()}
        for region in self.found:
            region.items = [
                s for s in ir.walk(region.loop.body)
                if isinstance(s, ir.Assign) and _reads_number(s) and s not in done
            ]  # fmt: skip
            done.update(region.items)

    def lists(self, loop: ir.Loop, taken: set[ir.Var]) -> tuple[set[ir.Var], set[ir.Var]]:
        """The arrays from before a loop that it uses number by number, and nothing else does in it:
        those of which it uses nearly all, and the others."""
        whole = ir.Block([loop])
        inside = {t for s in ir.walk(loop.body) for t in ir.targets(s)}
        met: dict[ir.Var, set[ir.Var]] = {}  # the variables that may refer to the same memory
        for v in {*ir.all_uses(whole), *inside, *loop.params, *loop.targets}:
            if holds_memory(v.kind):
                for root in self.aliasing.classes(v):
                    met.setdefault(root, set()).add(v)
        single: dict[ir.Var, list[ir.Assign]] = {}
        others = {v for s in ir.walk(whole) if not isinstance(s, ir.Assign) for v in ir.uses(s)}
        others |= {v for s in ir.walk(whole) for b in ir.blocks(s) for o in b.results
                   for v in ir.variables(o)}  # fmt: skip
        for s in ir.walk(loop.body):
            if not isinstance(s, ir.Assign):
                continue
            if self.uses_number(s):
                single.setdefault(s.args[0], []).append(s)  # type: ignore[arg-type]
                rest: Iterable[ir.Operand] = s.args[1:]
            else:
                rest = () if _asks_shape(s) else s.operands()
            others.update(v for o in rest for v in ir.variables(o))
        ranges = _Ranges(loop, self.definitions)
        alone = {
            v for v in single.keys() - inside - others - taken
            if met[self.aliasing.find(v)] == {v} and self.nests(v)
        }  # fmt: skip
        covered = {v for v in alone if any(ranges.cover(v, s.args[1]) for s in single[v])}
        rows = {v for v in alone if v.kind.rank == 1}  # type: ignore[attr-defined]
        return covered, rows - covered

    def uses_number(self, s: ir.Assign) -> bool:
        """Whether a call reads or writes one number of an array."""
        if _reads_number(s):
            return True
        if s.function not in STORES or s.kwargs or not _holds_floats(s.args[0]):
            return False
        array, key, value = s.args
        if s.writes != (array,) or _index(array, key) is None:
            return False
        if isinstance(value, ir.Const):
            return type(value.value) in (int, float)
        return isinstance(value, ir.Var) and _is_double(value)

    def nests(self, v: ir.Var) -> bool:
        """Whether nested lists show the shape of an array: only the last length may be zero."""
        shape = v.kind.shape  # type: ignore[attr-defined]
        return len(shape) <= DEEPEST and all((least(n) or 0) > 0 for n in shape[:-1])


def _on_numbers(loop: ir.Loop) -> bool:
    """Whether a loop computes no arrays, beside which numbers cost nothing, and runs to its end."""
    inside = list(ir.walk(ir.Block([loop])))
    if any(isinstance(t.kind, Array) for s in inside for t in ir.targets(s)):
        return False
    return not any(
        s.exits if isinstance(s, ir.Loop) else getattr(s, "function", None) is leave_unless
        for s in inside
    )


def _is_double(v: ir.Var) -> bool:
    return isinstance(v.kind, Scalar) and v.kind.dtype == FLOAT and not v.optional


def _asks_shape(s: ir.Assign) -> bool:
    if s.function is builtins.len:
        return True
    name = s.args[1] if s.function is builtins.getattr and len(s.args) == 2 else None
    return isinstance(name, ir.Const) and name.value in SHAPES


class _Ranges:
    """What the indices of the loops in a loop run through."""

    def __init__(self, loop: ir.Loop, definitions: dict[ir.Var, ir.Assign]) -> None:
        self.definitions = definitions
        self.loops = {
            s.index: s for s in ir.walk(ir.Block([loop]))
            if isinstance(s, ir.Loop) and s.index is not None and s.range is not None
        }  # fmt: skip

    def cover(self, array: ir.Var, key: ir.Operand) -> bool:
        """Whether a key takes most of an array's elements in turn."""
        items = _index(array, key) or ()
        shape: tuple[Dimension, ...] = array.kind.shape  # type: ignore[attr-defined]
        long = [(self.driver(k), n) for k, n in zip(items, shape, strict=True) if n != 1]
        loops = [loop for loop, n in long if loop is not None and self.along(loop, n)]
        return len(set(loops)) == len(long)

    def driver(self, item: ir.Operand, depth: int = 3) -> ir.Loop | None:
        """The loop whose index an int is, but for what is added."""
        if not isinstance(item, ir.Var):
            return None
        if item in self.loops:
            return self.loops[item]
        s = self.definitions.get(item)
        if s is None or s.function not in SUMS or depth == 0:
            return None
        found = [self.driver(a, depth - 1) for a in s.args]
        return found[0] if found[1] is None else found[1] if found[0] is None else None

    def along(self, loop: ir.Loop, n: Dimension, depth: int = 3) -> bool:
        """Whether a range is nearly as long as a dimension, or half as long on average."""
        assert loop.range is not None
        if isinstance(n, int):
            return n <= SMALL
        start, stop, step = loop.range
        stride = step.value if isinstance(step, ir.Const) else None
        if type(stride) is not int or not 0 < abs(stride) <= SMALL:
            return False
        low, high = (start, stop) if stride > 0 else (stop, start)
        near = isinstance(low, ir.Const) and type(low.value) is int and abs(low.value) <= SMALL
        far = isinstance(high, ir.Var) and _base(high) == n.base
        if near and far:
            return True
        moving = self.driver(high if near else low) if near or far else None  # a triangle's side
        return moving is not None and depth > 0 and self.along(moving, n, depth - 1)


def _base(v: ir.Var) -> int | None:
    """The base of the dimension that an int is as long as."""
    size = v.kind.size if isinstance(v.kind, Scalar) else None
    return size.base if isinstance(size, Size) else None


# Which of them are right


def _right(function: ir.Function, aliasing: Aliasing, regions: list[_Region]) -> list[_Region]:
    """The regions whose numbers needn't be NumPy's."""
    while regions:
        flow = _Flow(function, aliasing, regions)
        wrong = {region for v in flow.misused() for region in flow.regions[v]}
        if not wrong:
            break
        regions = [region for region in regions if region not in wrong]
    return regions


class _Flow:
    """Where the numbers go that may be Python's.

    Attributes:
        regions: of a variable that may be, or hold, such a number: those it comes from.
    """

    def __init__(self, function: ir.Function, aliasing: Aliasing, regions: list[_Region]) -> None:
        self.function, self.aliasing = function, aliasing
        self.regions: dict[ir.Var, set[_Region]] = {}
        self.leaving = {v for region in regions for v in region.leaving()}
        self.changed = True
        for region in regions:
            for s in region.reads():
                self.add(s.target, {region})
        while self.changed:
            self.changed = False
            self.block(function.block)

    def of(self, operands: Iterable[ir.Operand]) -> set[_Region]:
        """What makes some of the operands, or of what they hold, Python's numbers."""
        found: set[_Region] = set()
        for o in operands:
            for v in ir.variables(o):
                found |= self.regions.get(self.place(v), set())
        return found

    def place(self, v: ir.Var) -> ir.Var:
        """Lists that may be one have what they hold in common."""
        return self.aliasing.find(v) if isinstance(v.kind, ListOf) else v

    def add(self, v: ir.Var, regions: set[_Region]) -> None:
        known = self.regions.setdefault(self.place(v), set())
        if not regions <= known:
            known |= regions
            self.changed = True

    def block(self, block: ir.Block) -> None:
        for s in block.statements:
            for inner in ir.blocks(s):
                self.block(inner)
            match s:
                case ir.Assign():
                    self.assign(s)
                case _:
                    for target, ends in ir.joins(s):
                        if target not in self.leaving:
                            self.add(target, self.of(ends))

    def assign(self, s: ir.Assign) -> None:
        regions = self.of(s.operands())
        if not regions:
            return
        if s.function is list_append:
            self.add(s.args[0], regions)  # type: ignore[arg-type]
        elif s.function in (*COMPARE, *CHOICES, operator.not_) or _takes_out(s):
            self.add(s.target, regions)
        elif s.function in (*EXACT, operator.truediv) and isinstance(s.target.kind, Scalar):
            if not any(map(self.is_numpys, s.args)):
                self.add(s.target, regions)

    def is_numpys(self, operand: ir.Operand) -> bool:
        """Whether a number surely is NumPy's, and makes what is computed with it so."""
        kind = number_kind(operand)
        return isinstance(kind, Scalar) and kind.python is False and not self.of([operand])

    # Uses for which it isn't the same

    def misused(self) -> Iterator[ir.Var]:
        """Variables that are, or hold, such numbers, and are used where it matters."""
        for s in ir.walk(self.function.block):
            if isinstance(s, ir.Assign):
                found = [v for v in ir.uses(s) if self.of([v])]
                if found and not self.same(s):
                    yield from (self.place(v) for v in found)
            elif isinstance(s, ir.Loop):
                yield from (self.place(v) for o in s.range or () for v in self.held(o))
        for o in self.function.block.results:
            yield from (self.place(v) for v in self.held(o))

    def held(self, operand: ir.Operand) -> Iterator[ir.Var]:
        return (v for v in ir.variables(operand) if self.of([v]))

    def same(self, s: ir.Assign) -> bool:
        """Whether a call does the same for Python's numbers as for NumPy's."""
        f = s.function
        if f is operator.not_ or f is list_append or f is builtins.len or _takes_out(s):
            return True
        if s.kwargs and not isinstance(f, np.ufunc):
            return False
        if f in STORES:
            array, key, value = s.args
            held = _holds_floats(array) and not self.of([key])
            return held and isinstance(value, ir.Var) and _is_double(value)
        plain = all(map(_is_plain, s.args))
        if f in CHOICES:
            return (
                plain
                and len(s.args) > 1
                and all(isinstance(a.kind, Scalar) for a in s.args if isinstance(a, ir.Var))
            )
        if f in EXACT or f in COMPARE:
            return plain and sum(map(_is_flag, s.args)) < len(s.args)
        if f in ACCUMULATE:
            return plain and isinstance(s.args[0].kind, Array)  # type: ignore[union-attr]
        if f is operator.truediv:
            under = s.args[1]
            if isinstance(under, ir.Const):
                return plain and under.value != 0
            real = all(_is_plain(a, REAL) for a in s.args)
            return plain and (real or any(map(self.is_numpys, s.args)))
        if f is builtins.float:
            return plain
        return plain and isinstance(f, np.ufunc) and is_elementwise(f)


def _takes_out(s: ir.Assign) -> bool:
    """Whether a call takes an item out of a list or a record."""
    if s.function not in (operator.getitem, list.pop) or not s.args:
        return False
    return isinstance(s.args[0], ir.Var) and isinstance(s.args[0].kind, (ListOf, TupleOf))


def _is_plain(operand: ir.Operand, dtypes: tuple[Any, ...] = PLAIN) -> bool:
    """Whether an operand is a number or an array of a dtype that Python's floats go along with."""
    kind = number_kind(operand)
    return kind is not None and kind.dtype is not None and kind.dtype in dtypes


def _is_flag(operand: ir.Operand) -> bool:
    """Whether an operand is true or false, of which NumPy makes no ints."""
    kind = number_kind(operand)
    return kind is not None and kind.dtype is not None and kind.dtype.kind == "b"


# How it is written


def _divide(block: ir.Block, flow: _Flow) -> None:
    """Divide by zero as NumPy does."""
    made: list[ir.Statement] = []
    for s in block.statements:
        for inner in ir.blocks(s):
            _divide(inner, flow)
        if isinstance(s, ir.Assign) and s.function is operator.truediv:
            over, under = s.args
            if isinstance(under, ir.Var) and flow.of(s.args) and isinstance(s.target.kind, Scalar):
                if not any(map(flow.is_numpys, s.args)):
                    divisor = ir.Var(under.name, under.kind)
                    made.append(ir.Assign(divisor, or_numpys, (under, under), (), s.span))
                    s.args = (over, divisor)
        made.append(s)
    block.statements[:] = made


class _Writer:
    """Writes one region."""

    def __init__(self, region: _Region, known: dict[ir.Var, ir.Var]) -> None:
        self.region, self.known = region, known
        self.twins = {
            v: known.get(v) or ir.Var(f"{v.name}_list", _nested(v.kind.shape), v.user)  # type: ignore[attr-defined]
            for v in sorted(region.lists | region.short, key=lambda v: v.id)
        }

    def write(self) -> None:
        """Make the lists, use them, and put them back."""
        block, loop = self.region.block, self.region.loop
        written = {
            v for s in ir.walk(loop.body) if isinstance(s, ir.Assign) for v in s.writes
        }  # fmt: skip
        self.rows(loop.body, {})
        for s in self.region.items:
            s.function, s.args = np.ndarray.item, (s.args[0], *(_index(*s.args) or ()))
        before: list[ir.Statement] = [
            ir.Assign(twin, listed if v in self.region.short else np.ndarray.tolist, (v,), (),
                      loop.span)
            for v, twin in self.twins.items() if v not in self.known
        ]  # fmt: skip
        after: list[ir.Statement] = [
            ir.Assign(ir.Var("_", Opaque(None)), operator.setitem,
                      (v, ir.Const(slice(None)), twin), (), loop.span, writes=(v,))
            for v, twin in self.twins.items() if v in written and v in self.region.needed
        ]  # fmt: skip
        at = next(i for i, s in enumerate(block.statements) if s is loop)
        used = set(ir.all_uses(ir.Block(block.statements[at + 1 :], block.results)))
        for v in self.region.leaving():
            if v in used:
                number = ir.Var(v.name, v.kind, v.user)
                loop.targets = tuple(number if t is v else t for t in loop.targets)
                box = boxed if is_mixed(v.kind) else np.float64
                after.append(ir.Assign(v, box, (number,), (), loop.span))
        block.statements[at : at + 1] = [*before, loop, *after]

    def rows(self, block: ir.Block, known: dict[Any, ir.Var]) -> None:
        """Rewrite what a block does with the arrays; `known` are the rows taken before it."""
        made: list[ir.Statement] = []
        for s in block.statements:
            for inner in ir.blocks(s):
                self.rows(inner, dict(known))
            twin = self.twins.get(s.args[0]) if isinstance(s, ir.Assign) and s.args else None  # type: ignore[arg-type]
            if isinstance(s, ir.Assign) and twin is not None and not _asks_shape(s):
                *path, last = _index(s.args[0], s.args[1]) or ()
                row = twin
                for k in path:
                    key = (row, k.value if isinstance(k, ir.Const) else k)
                    if key not in known:
                        kind: Any = row.kind
                        known[key] = ir.Var(f"{s.args[0].name}_row", kind.item, s.args[0].user)  # type: ignore[union-attr]
                        made.append(
                            ir.Assign(known[key], operator.getitem, (row, k), (), s.span, (row,))
                        )
                    row = known[key]
                s.writes = (row,) if s.writes else ()
                rest = s.args[2:]
                if rest and isinstance(rest[0], ir.Const):
                    rest = (ir.Const(float(rest[0].value)),)
                s.args = (row, last, *rest)
            made.append(s)
        block.statements[:] = made


def _nested(shape: tuple[Dimension, ...]) -> ListOf:
    """The kind of the lists that an array becomes."""
    item: Any = Scalar(FLOAT, None) if len(shape) == 1 else _nested(shape[1:])
    return ListOf(item)
