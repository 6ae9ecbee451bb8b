"""Rows of a few components are laid out component by component.

Where points, rotations or parameters are gathered, `x = table[index]` has a row of three or eleven
numbers for each of thousands of indices. NumPy is slow at what is done along such short rows, and
fast where all first components follow one another, then all second ones. It keeps that layout: what
is computed of such arrays has it too. So `table.T.take(index, axis=1).T`, the same numbers, makes
everything faster that follows, and few calls have to know of it: those that make arrays, and those
that take another layout to start with.

Few components are those whose number is known, and those that are taken apart by constants, as by
`camera[:, 3:6]`. Only where all that is done with the arrays is known not to depend on how they lie
in memory.
"""

from __future__ import annotations

import builtins
import operator
from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.aliasing import Aliasing, is_slice
from ..analysis.elementwise import is_elementwise
from ..kinds import Array

FEW = 16
SHAPED: frozenset[Any] = frozenset({np.zeros, np.ones, np.empty, np.full})
LIKE: frozenset[Any] = frozenset({np.zeros_like, np.ones_like, np.empty_like, np.full_like})
IN_PLACE: frozenset[Any] = frozenset(
    {operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.setitem}
)
CROSS: frozenset[Any] = frozenset({np.cross, runtime.cross_product})
KEPT: frozenset[Any] = frozenset(  # the layout of their operands
    {np.where, runtime.unless_zero, operator.gt, operator.ge, operator.lt, operator.le, operator.eq,
     operator.ne, operator.and_, operator.or_, operator.invert}
)  # fmt: skip
PRODUCTS: frozenset[Any] = frozenset({operator.matmul, np.matmul, np.dot})
# What returns no array of two axes that lies as an operand does
OTHERS: frozenset[Any] = PRODUCTS | frozenset(
    {np.sum, np.max, np.min, np.mean, np.vecdot, np.einsum, np.vdot, np.shape, builtins.len,
     np.add.at, runtime.add_at, np.subtract.at, runtime.subtract_at,
     runtime.check_broadcast, runtime.check_added, runtime.check_stored}
)  # fmt: skip
VIEWS: frozenset[Any] = frozenset({np.transpose, runtime.unbroadcast, runtime.unbroadcast_to})
ATTRIBUTES = ("shape", "size", "ndim", "dtype")


def lay_out(function: ir.Function) -> None:
    """Lay the rows of few components that a function gathers out by component, in place."""
    gathers = [s for s in function.block.statements if isinstance(s, ir.Assign) and _gathers(s)]
    few = _few(function.block) if gathers else set()
    chosen = {s.target for s in gathers if s.target in few}
    if chosen:
        layout = _Layout(function, chosen)
        if layout.found():
            layout.say()


def _gathers(s: ir.Assign) -> bool:
    """Whether a call takes rows of a matrix of floats at a vector of indices."""
    if s.function is not operator.getitem or s.views or not isinstance(s.args[1], ir.Var):
        return False
    kinds = [getattr(o, "kind", None) for o in (*s.args, s.target)]
    if not all(isinstance(k, Array) and k.dtype is not None for k in kinds):
        return False
    table, index, rows = kinds
    ranks = table.rank, index.rank, rows.rank  # type: ignore[union-attr]
    return ranks == (2, 1, 2) and table.dtype.kind == "f" and index.dtype.kind == "i"  # type: ignore[union-attr]


def _few(block: ir.Block) -> set[ir.Var]:
    """The matrices that have few columns, as what is done with them tells."""
    found: set[ir.Var] = set()
    factors: set[ir.Var] = set()  # of products of matrices, which may be wide
    for s in ir.walk(block):
        if not isinstance(s, ir.Assign):
            continue
        if s.function in PRODUCTS:
            factors.update(ir.uses(s))
        for v in (*ir.uses(s), s.target):
            shape = v.kind.shape if isinstance(v.kind, Array) else None
            if shape is not None and len(shape) == 2 and isinstance(shape[1], int):
                if 1 < shape[1] <= FEW:
                    found.add(v)
        kind = s.target.kind
        if is_elementwise(s.function) and s.target in found:
            for v in ir.uses(s):
                if isinstance(v.kind, Array) and v.kind.rank == 2 and v.kind.shape != kind.shape:  # type: ignore[attr-defined]
                    found.add(v)
        if s.function is operator.getitem and isinstance(s.args[0], ir.Var):
            items = ir.items_of(s.args[1])
            if len(items) == 2:
                last = ir.slice_parts(items[1])[1] if is_slice(items[1]) else items[1]
                few = isinstance(last, ir.Const) and type(last.value) is int
                if few and 0 <= last.value <= FEW:  # type: ignore[union-attr]
                    found.add(s.args[0])
    return found - factors


class _Layout:
    """Which matrices of a function lie by columns, once the chosen ones do."""

    def __init__(self, function: ir.Function, chosen: set[ir.Var]) -> None:
        self.function, self.chosen = function, chosen
        self.aliasing = Aliasing(function.block)
        self.definitions = {
            s.target: s for s in ir.walk(function.block) if isinstance(s, ir.Assign)
        }
        self.turned: set[ir.Var] = set()  # lie by columns
        self.changed: list[ir.Assign] = []  # the calls to be told

    def found(self) -> bool:
        """Find them; whether all that is done with them is known not to depend on it."""
        for s in self.function.block.statements:
            if not isinstance(s, ir.Assign):
                if not self.turned.isdisjoint(ir.all_uses(ir.Block([s]))):
                    return False
                continue
            if not self.note(s):
                return False
        return True

    def note(self, s: ir.Assign) -> bool:
        """Note what a call makes; whether it is known."""
        if s.target in self.chosen or self.is_filled(s):
            self.changed.append(s)
            self.turned.add(s.target)
            return True
        used = [v for v in ir.uses(s) if v in self.turned]
        if not used:
            return True
        function, kind = s.function, s.target.kind
        rank = kind.rank if isinstance(kind, Array) else 0
        if rank is None or rank > 2:
            return False
        if function is operator.getitem or function in VIEWS:
            items = ir.items_of(s.args[1]) if function is operator.getitem else ()
            simple = all(is_slice(i) or isinstance(i, ir.Const) for i in items)
            if rank == 2 and s.args[0] in self.turned:
                self.turned.add(s.target)
            return simple or s.args[0] not in self.turned
        if function in CROSS and not _of_vectors(s):
            return True  # in an array of its own
        if is_elementwise(function) or function in KEPT or function in CROSS or function in LIKE:
            if s.writes:
                return False  # what a copy is written in nobody sees
            if rank == 2:
                self.turned.add(s.target)
                self.changed.append(s)
            return True
        if function is np.vecdot and not s.kwargs:
            self.changed.append(s)
        if function is builtins.getattr:
            return isinstance(s.args[1], ir.Const) and s.args[1].value in ATTRIBUTES
        if function in OTHERS:
            return rank < 2 or function in PRODUCTS or 1 in kind.shape  # type: ignore[attr-defined]
        return function in IN_PLACE or (function is np.ndarray.copy and not s.kwargs)

    def is_filled(self, s: ir.Assign) -> bool:
        """Whether a call makes an array shaped as one that lies by columns."""
        if s.function not in SHAPED or s.kwargs or len(s.args) > 2:
            return False
        if not isinstance(s.args[0], ir.Var):
            lengths = getattr(s.target.kind, "shape", None)
            known = lengths is not None and all(isinstance(n, int) for n in lengths)
            return known and any(lengths == getattr(v.kind, "shape", None) for v in self.turned)
        shape = self.definitions.get(s.args[0])
        if shape is None or shape.function not in (builtins.getattr, np.shape):
            return False
        return isinstance(shape.args[0], ir.Var) and shape.args[0] in self.turned

    def say(self) -> None:
        """Change the calls."""
        statements = self.function.block.statements
        columns: dict[ir.Var, ir.Var] = {}  # copies of what lies by rows
        for s in self.changed:
            at = next(i for i, o in enumerate(statements) if o is s)
            if s.target in self.chosen:
                statements[at : at + 1] = _by_columns(s)
            elif s.function in SHAPED:
                s.kwargs = (("order", ir.Const("F")),)
            elif s.function in LIKE:
                if not s.kwargs and len(s.args) < 3:  # the order may be said, or is the array's
                    s.kwargs = (("order", ir.Const("F")),)
            elif s.function is np.vecdot:
                kinds = [a.kind for a in s.args]  # type: ignore[union-attr]
                if kinds[0] == kinds[1] and s.target.kind.dtype.kind == "f":  # type: ignore[attr-defined]
                    s.function, s.args = np.einsum, (ir.Const("ij,ij->i"), *s.args)
            else:
                if s.function in CROSS:
                    s.function = runtime.cross_product
                for v in ir.uses(s):
                    if v in self.turned or not _is_matrix(v):
                        continue
                    if v not in columns or self.aliasing.is_written(v):
                        columns[v] = ir.Var(v.name, v.kind)
                        turn = ir.Assign(columns[v], np.asfortranarray, (v,), (), s.span, (v,))
                        statements.insert(at, turn)
                    ir.rename_uses(s, {v: columns[v]})


def _of_vectors(s: ir.Assign) -> bool:
    """Whether a cross product is that of vectors of three components, along the last axis."""
    shapes = [getattr(getattr(a, "kind", None), "shape", None) for a in s.args]
    return not s.kwargs and len(shapes) == 2 and all(n and n[-1] == 3 for n in shapes)


def _is_matrix(v: ir.Var) -> bool:
    """Whether a variable is a matrix that may have several rows and columns."""
    shape = v.kind.shape if isinstance(v.kind, Array) else None
    return shape is not None and len(shape) == 2 and 1 not in shape


def _by_columns(s: ir.Assign) -> list[ir.Statement]:
    """The calls that gather rows, component by component."""
    table, index = s.args
    kind = s.target.kind
    assert isinstance(table, ir.Var) and isinstance(table.kind, Array) and table.kind.shape
    assert isinstance(kind, Array) and kind.shape is not None
    turned = ir.Var(table.name, Array(kind.dtype, table.kind.shape[::-1]))
    taken = ir.Var(s.target.name, Array(kind.dtype, kind.shape[::-1]))
    return [
        ir.Assign(turned, np.transpose, (table,), (), s.span, (table,), True),
        ir.Assign(taken, np.take, (turned, index), (("axis", ir.Const(1)),), s.span),
        ir.Assign(s.target, np.transpose, (taken,), (), s.span, (taken,), True),
    ]
