"""Where adjoints are added up: no zeros that are added to once, no copies of what nobody needs.

Runs last, when the reverse sweep stands on its own. It moves the allocation of an adjoint to
where the first contribution comes, and lets that contribution be the adjoint if it is an array
nobody else holds. Everything here is about statements of one block, between which nothing else
touches the memory in question.
"""

from __future__ import annotations

import builtins
import operator

import numpy as np

from .. import ir
from ..analysis.affine import Integers, Proof
from ..analysis.aliasing import Aliasing
from ..analysis.alternatives import is_mixed
from ..analysis.elementwise import COPIES, makes_fresh, number_kind
from ..analysis.keys import same_key
from ..errors import Span
from ..frontend.lower import Lowerer
from ..kinds import INT, Array, Kind, Scalar, TupleOf
from .components import lay_out
from .contracting import contract
from .copies import spare_copies, spare_first_passes
from .destinations import compute_in_place
from .distribution import distribute
from .gathering import gather
from .prune import prune
from .reuse import reuse
from .scaling import scale_smaller
from .schedule import schedule
from .signs import settle_signs
from .simplify import simplify


def materialize(function: ir.Function) -> None:
    """Fill an array with a number that is still spread over a shape: when small, that is faster."""
    for block in ir.all_blocks(function.block):
        for position, s in enumerate(block.statements):
            if not isinstance(s, ir.Assign) or s.function is not np.broadcast_to or s.kwargs:
                continue
            kind, value = s.target.kind, number_kind(s.args[0])
            if (
                isinstance(kind, Array) and kind.shape and kind.dtype == np.float64
                and isinstance(value, Scalar) and value.dtype == np.float64 and len(s.args) == 2
            ):  # fmt: skip
                block.statements[position] = filled(s.target, s.args[1], s.args[0], s.span)


def accumulate(function: ir.Function, cut: bool = False, low: Lowerer | None = None) -> None:
    """Improve how adjoints are allocated and added up, in place.

    `cut`: the sweeps become two functions. `low` emits statements; tangents need none.
    """
    _allocate(function)
    if low is not None and distribute(function, low) | gather(function, low):
        _allocate(function)
    if ir.sweep_start(function) is not None:  # tangents have none
        scale_smaller(function)
        contract(function)
        lay_out(function)
        settle_signs(function)
        spare_first_passes(function)
    schedule(function)
    compute_in_place(function)
    reuse(function, cut)


def _allocate(function: ir.Function) -> None:
    """Begin adjoints where they are first added to, without copies that nobody needs."""
    _Accumulator(function).run()
    spare_copies(function)
    simplify(function)
    prune(function)


class _Accumulator:
    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.aliasing = Aliasing(function.block)
        self.counts = ir.use_counts(function.block)
        arrays = (v for s in ir.walk(function.block) for v in ir.uses(s))
        self.proof = Proof(Integers(function.block), arrays)
        self.renamed = ir.Renaming()
        self.holders: dict[ir.Statement, list[ir.Var]] = {}  # what it uses, or the blocks in it

    def run(self) -> None:
        self.block(self.function.block)
        ir.rename(self.function.block, self.renamed)

    def block(self, block: ir.Block) -> None:
        for s in list(block.statements):
            for inner in ir.blocks(s):
                self.block(inner)
        self.drop_copies(block)
        for s in list(block.statements):
            if isinstance(s, ir.Assign) and makes_zeros(s):
                self.first_touch(block, s)

    # Copies

    def drop_copies(self, block: ir.Block) -> None:
        """A copy of a fresh array that nobody else uses is that array."""
        fresh: set[ir.Var] = set()
        for s in list(block.statements):
            if not isinstance(s, ir.Assign):
                continue
            source = s.args[0] if s.args else None
            if (
                s.function in COPIES and len(s.args) == 1 and not s.kwargs
                and isinstance(source, ir.Var) and source in fresh
                and self.counts.get(source) == 1 and source.kind == s.target.kind
            ):  # fmt: skip
                block.statements.remove(s)
                self.replace(s.target, source)
            elif makes_fresh(s):
                fresh.add(s.target)

    def replace(self, target: ir.Var, source: ir.Var) -> None:
        if target.user or not source.user:
            source.name, source.user = target.name, target.user
        self.counts[source] = self.counts.get(target, 0)
        self.renamed[target] = source
        self.aliasing.union(source, target)

    # First contributions

    def first_touch(self, block: ir.Block, zeros: ir.Assign) -> None:
        """Let the first contribution to an array of zeros be what the array starts as."""
        statements = block.statements
        d = zeros.target
        root = self.aliasing.find(d)
        start = next(i for i, s in enumerate(statements) if s is zeros)
        touched: list[ir.Operand] = []
        position = start + 1
        while position < len(statements):
            s = statements[position]
            if not self.mentions(s, root):
                position += 1
                continue
            if not touched and start + 1 < position:
                del statements[start]
                position -= 1
                statements.insert(position, zeros)
                start = position
                position += 1
            if not isinstance(s, ir.Assign):
                break
            if not touched and s.args and s.args[0] is d and self.begin(block, start, position):
                return
            stored = self.store(block, position, d, touched)
            if stored is None:
                break
            key, count = stored
            touched.append(key)
            position += count
        if isinstance(d.kind, Array) and self.proof.cover(touched, d.kind.rank):
            zeros.function = np.empty if zeros.function is np.zeros else np.empty_like

    def mentions(self, statement: ir.Statement, root: ir.Var) -> bool:
        """Whether a statement touches memory, or may; one that only asks its shape does too."""
        if statement not in self.holders:  # what stands in it is done
            used = ir.all_uses(ir.Block([statement]))
            self.holders[statement] = self.aliasing.holders(dict.fromkeys(used))
        return any(root in self.aliasing.classes(v) for v in self.holders[statement])

    def begin(self, block: ir.Block, start: int, position: int) -> bool:
        """Make `d = zeros; d += c` into `d = c`, if that is what these statements are."""
        s, d = block.statements[position], block.statements[start].target  # type: ignore[union-attr]
        assert isinstance(s, ir.Assign)
        if s.function not in (operator.iadd, operator.isub) or len(s.args) != 2:
            return False
        value = s.args[1]
        kind: Kind | None = number_kind(value)
        if s.function is operator.iadd and isinstance(kind, Scalar):
            return self.fill(block, start, position, value)
        if not isinstance(kind, Array) or kind != d.kind or kind.shape is None:
            return False
        assert isinstance(value, ir.Var)
        if self.aliasing.find(value) is self.aliasing.find(d):
            return False
        if s.function is operator.isub:
            made = ir.Assign(d, operator.neg, (value,), (), s.span)
        else:
            maker = next(
                (m for m in block.statements[:position]
                 if isinstance(m, ir.Assign) and m.target is value), None,
            )  # fmt: skip
            if maker is not None and self.counts[value] == 1 and makes_fresh(maker):
                del block.statements[position], block.statements[start]
                value.name, value.user = d.name, d.user
                self.counts[value] = self.counts[d]
                self.renamed[d] = value
                self.aliasing.union(value, d)
                return True
            made = ir.Assign(d, np.ndarray.copy, (value,), (), s.span)
        block.statements[position] = made
        del block.statements[start]
        return True

    def fill(self, block: ir.Block, start: int, position: int, value: ir.Operand) -> bool:
        """Make `d = zeros; d += 1.0` into `d = np.ones(shape)`."""
        zeros, kind = block.statements[start], number_kind(value)
        assert isinstance(zeros, ir.Assign) and kind is not None
        d = zeros.target
        if not isinstance(d.kind, Array) or not d.kind.shape or d.kind.dtype != np.float64:
            return False
        if kind.dtype != np.float64:
            return False
        sizes = tuple(Scalar(INT.dtype, True, n) for n in d.kind.shape)
        if zeros.function is np.zeros:
            block.statements[position] = filled(d, zeros.args[0], value, zeros.span)
            del block.statements[start]
            return True
        shape = ir.Var("shape", TupleOf(sizes))
        asked = ir.Assign(shape, builtins.getattr, (zeros.args[0], ir.Const("shape")))
        block.statements[position] = filled(d, shape, value, zeros.span)
        block.statements[start] = asked
        self.counts[shape] = 1
        return True

    def store(
        self, block: ir.Block, position: int, d: ir.Var, touched: list[ir.Operand]
    ) -> tuple[ir.Operand, int] | None:
        """Make a first `d[key] += c` into `d[key] = c`, where other parts have been touched.

        Returns the key and how many statements there are now; None if that isn't it.
        """
        statements = block.statements
        read = statements[position]
        assert isinstance(read, ir.Assign)
        if read.function is not operator.getitem or read.args[0] is not d or read.kwargs:
            return None
        if self.counts.get(read.target) != 1 or position + 1 >= len(statements):
            return None
        key = read.args[1]
        if not all(self.proof.parts_apart(key, k) for k in touched):
            return None
        following = statements[position + 1]
        if not isinstance(following, ir.Assign) or not following.args:
            return None
        if following.args[0] is not read.target or len(following.args) != 2:
            return None
        value = following.args[1]
        if self.aliasing.find(d) in self.aliasing.held_by([value]):
            return None
        if not _real(number_kind(value), d.kind):
            return None
        function, span = following.function, following.span
        count = 2
        if function is operator.add:
            if position + 2 >= len(statements):
                return None
            last = statements[position + 2]
            if (
                not isinstance(last, ir.Assign) or last.function is not operator.setitem
                or last.args[0] is not d or not same_key(last.args[1], key)
                or last.args[2] is not following.target
                or self.counts.get(following.target) != 1
            ):  # fmt: skip
                return None
            count = 3
        elif function not in (operator.iadd, operator.isub) or not read.views:
            return None
        made: list[ir.Statement] = []
        if function is operator.isub:
            assert isinstance(value, (ir.Var, ir.Const))
            kind = number_kind(value)
            if not isinstance(value, ir.Var) or not isinstance(kind, Array):
                return None
            negative = ir.Var(d.name, kind)
            made.append(ir.Assign(negative, operator.neg, (value,), (), span))
            self.counts[negative] = 1
            value = negative
        target = ir.Var("_", statements[position + 1].target.kind)  # type: ignore[union-attr]
        made.append(ir.Assign(target, operator.setitem, (d, key, value), (), span, writes=(d,)))
        statements[position : position + count] = made
        return key, len(made)


def makes_zeros(s: ir.Assign) -> bool:
    """Whether a statement makes zeros to which contributions are added: in batches, of a shape."""
    if s.function is np.zeros:
        own = not s.target.user or s.target.name.startswith("d_")  # a result's name stays
        return own and len(s.args) == 1 and not s.kwargs
    return s.function is np.zeros_like and not s.kwargs


def filled(d: ir.Var, shape: ir.Operand, value: ir.Operand, span: Span | None) -> ir.Assign:
    """A call that makes an array filled with a number."""
    if isinstance(value, ir.Const) and value.value in (0, 1):
        return ir.Assign(d, np.ones if value.value == 1 else np.zeros, (shape,), (), span)
    dtype = getattr(d.kind, "dtype", None) if is_mixed(number_kind(value)) else None
    given = () if dtype is None else (ir.Const(dtype),)
    return ir.Assign(d, np.full, (shape, value, *given), (), span)


def _real(value: Kind | None, into: Kind) -> bool:
    """Whether a number can be stored where it could be added."""
    if value is None or not isinstance(into, Array):
        return False
    a, b = value.dtype, into.dtype  # type: ignore[attr-defined]
    return a is not None and b is not None and b.kind in "fc" and (a.kind != "c" or b.kind == "c")
