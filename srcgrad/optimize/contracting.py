"""Sums of products without the products: `(a * b).sum(axis=-1)` is `np.vecdot(a, b)`.

The product is an array that is only made to be summed. Where the sum is along the last axis, or
along all, NumPy has a call that needs none, and takes half the time or less, for small arrays too.
The rows of a matrix times a vector, summed, are `matrix @ vector`, the columns `vector @ matrix`;
where one factor is as long along axes that the other one lacks, it is a product of matrices:
`(x[:, :, None] * m[:, None, :]).sum(axis=0)` is `x.T @ m`, and `(w[..., None] * x).sum(axis=0)` one
for each place along the other axis of `w` (`runtime.weighted_sum`), whatever else the weights are
multiplied by before. Sums of products of columns and rows are a product of matrices, too.
The columns of a product of two matrices are summed by `np.einsum`.
Only in the reverse sweep, as the order of the terms is another one.
"""

from __future__ import annotations

import itertools
import operator
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.affine import is_whole
from ..analysis.aliasing import Aliasing, is_slice
from ..kinds import Array, Dimension, Scalar, same_dtype
from .prune import prune


def contract(function: ir.Function) -> None:
    """Sum products in the reverse sweep without making them, in place."""
    aliasing, counts = Aliasing(function.block), ir.use_counts(function.block)
    windows = {
        s.target for s in ir.walk(function.block) if isinstance(s, ir.Assign) and _is_window(s)
    }
    definitions = {s.target: s for s in ir.walk(function.block) if isinstance(s, ir.Assign)}
    replaced = False
    for block in ir.sweep_blocks(function):
        contractions: list[_Contraction] = []
        products: dict[ir.Operand, ir.Assign] = {}  # of what nothing has written since
        outer: dict[ir.Var, list[ir.Assign]] = {}  # products of vectors that are added up
        for s in list(block.statements):
            if isinstance(s, ir.Assign) and s.function is np.sum:
                product = products.get(s.args[0])
                if product is not None and not (found := _of_two(product, s)):
                    made = _contracted(product, s, windows)
                    if made and counts.get(product.target) == 1:
                        at = next(i for i, o in enumerate(block.statements) if o is s)
                        block.statements[at : at + 1] = made
                        block.statements.remove(product)
                        continue
                    found = _of_more(product, s, products)
                if product is not None:
                    contractions += found
            elif isinstance(s, ir.Assign) and _is_product(s):
                products[s.target] = s
                if _is_outer(s):
                    outer[s.target] = [s]
            elif isinstance(s, ir.Assign) and s.function is operator.add:
                added = [v for v in ir.uses(s) if v in outer and counts[v] == 1]
                alike = all(v.kind == s.target.kind for v in added)
                if len(added) == 2 and alike:
                    outer[s.target] = [p for v in added for p in outer.pop(v)]
            if written := aliasing.written_by(s):
                for target, product in list(products.items()):
                    if not written.isdisjoint(aliasing.held_by(ir.uses(product))):
                        del products[target]
                        outer = {v: o for v, o in outer.items() if product not in o}
        for each in _worthwhile(contractions, counts):
            at = next(i for i, o in enumerate(block.statements) if o is each.total)
            block.statements[at : at + 1] = each.calls(definitions)
            replaced = True
        for v, several in outer.items():
            if len(several) > 1:
                s = definitions[v]
                at = next(i for i, o in enumerate(block.statements) if o is s)
                block.statements[at : at + 1] = _sum_of_outer(s, several, definitions)
                replaced = True
    if replaced:
        prune(function)


def _is_outer(product: ir.Assign) -> bool:
    """Whether a call multiplies a column by a row."""
    shape = _shape(product.target)
    a, b = (_aligned(v, shape) for v in product.args)
    return len(shape) == 2 and 1 not in shape and {a, b} == {(shape[0], 1), (1, shape[1])}


def _sum_of_outer(
    total: ir.Assign, products: list[ir.Assign], definitions: dict[ir.Var, ir.Assign]
) -> list[ir.Statement]:
    """The product of two matrices that a sum of products of vectors is."""
    parts, (n, m) = _Parts(total, 2, definitions), _shape(total.target)
    sides: list[ir.Var] = []
    for axis, length in ((0, n), (1, m)):
        rows = tuple(
            parts.laid_out(v, [axis])
            for product in products
            for v in product.args
            if isinstance(v, ir.Var) and _aligned(v, (n, m))[axis] == length
        )
        shape = (len(rows), length)
        sides.append(parts.emit(np.array, ir.Pack(tuple, rows), shape=shape))
    columns = parts.transposed(sides[0], [1, 0])
    parts.emit(operator.matmul, columns, sides[1], shape=(n, m))
    return parts.named()


@dataclass(frozen=True)
class _Contraction:
    """A sum along one axis of products that is a product of matrices.

    `chain` are the products, the last one first, of the weights and the other `factors`. Their axes
    are called by their positions in the product: the `rows` only the other factors have, the
    `columns` only the weights; what both have is `summed` or `shared`.
    """

    total: ir.Assign
    chain: tuple[ir.Assign, ...]
    factors: tuple[ir.Var, ...]
    weights: ir.Var
    rows: list[int]
    summed: int
    columns: list[int]
    shared: list[int]
    kept: list[int]  # of all that has one element, too

    def calls(self, definitions: dict[ir.Var, ir.Assign]) -> list[ir.Statement]:
        """The calls that make the sum."""
        parts = _Parts(self.total, len(_shape(self.total.args[0])), definitions)
        whole, *others = self.factors
        for other in others:
            whole = parts.emit(operator.mul, whole, other, shape=_shape(whole))
        axes = [*self.shared, *self.rows, *self.columns]
        shape = tuple(_shape(self.total.args[0])[k] for k in axes)
        if self.shared:
            weights = parts.laid_out(self.weights, sorted([*self.shared, self.summed]))
            axis = ir.Const(self.summed)
            result = parts.emit(runtime.weighted_sum, weights, whole, axis, shape=shape)
        elif not self.columns and self.summed < self.rows[-1]:
            order = [*self.rows[:-1], self.summed, self.rows[-1]]
            vector = parts.laid_out(self.weights, [self.summed])
            whole = parts.laid_out(whole, order)
            result = parts.emit(operator.matmul, vector, whole, shape=shape)
        else:
            whole = parts.laid_out(whole, [*self.rows, self.summed])
            weights = parts.laid_out(self.weights, [self.summed, *self.columns])
            result = parts.emit(operator.matmul, whole, weights, shape=shape)
        result = parts.transposed(result, sorted(range(len(axes)), key=axes.__getitem__))
        parts.indexed(result, [slice(None) if k in axes else None for k in self.kept])
        return parts.named()


class _Parts:
    """Statements that lay out factors, whose axes are called by their positions in a product."""

    def __init__(self, total: ir.Assign, rank: int, definitions: dict[ir.Var, ir.Assign]) -> None:
        self.total, self.rank, self.definitions = total, rank, definitions
        self.made: list[ir.Statement] = []

    def named(self) -> list[ir.Statement]:
        """The statements, the last of which makes what the total was."""
        last = self.made[-1]
        assert isinstance(last, ir.Assign)
        last.target = self.total.target
        return self.made

    def laid_out(self, v: ir.Var, axes: list[int]) -> ir.Var:
        """A factor with its axes in this order, without the others, of one element each."""
        shape = _shape(v)
        present = range(self.rank - len(shape), self.rank)
        dropped = [k for k in present if k not in axes]
        made = self.definitions.get(v)
        if dropped and made is not None and made.function is operator.getitem and made.certain:
            items, before = ir.items_of(made.args[1]), _new_axes(made.args[1], len(shape))
            if made.views and before == [k - present[0] for k in dropped]:
                v, dropped = made.views[0], []
                rest = tuple(item for item in items if not ir.is_constant(item, None))
                if not all(is_whole(item) or ir.is_constant(item, Ellipsis) for item in rest):
                    wanted = tuple(n for k, n in zip(present, shape, strict=True) if k in axes)
                    v = self.emit(
                        operator.getitem, v, ir.Pack(tuple, rest), shape=wanted, view=True
                    )
        if dropped:
            v = self.indexed(v, [0 if k in dropped else slice(None) for k in present])
        return self.transposed(v, [sorted(axes).index(k) for k in axes])

    def indexed(self, v: ir.Var, key: list[Any]) -> ir.Var:
        """An array without an axis for each 0 in the key, and with one for each None."""
        if all(item == slice(None) for item in key):
            return v
        lengths = iter(_shape(v))
        found = [(item, 1 if item is None else next(lengths)) for item in key]
        shape = tuple(n for item, n in found if item != 0 or item is None)
        while key[-1] == slice(None):
            key.pop()
        index = ir.Const(key[0] if len(key) == 1 else tuple(key))
        return self.emit(operator.getitem, v, index, shape=shape, view=True)

    def transposed(self, v: ir.Var, order: list[int]) -> ir.Var:
        """An array with its axes in another order."""
        if order == sorted(order):
            return v
        shape = tuple(_shape(v)[k] for k in order)
        if order == sorted(order, reverse=True):
            return self.emit(np.transpose, v, shape=shape, view=True)
        axes = ir.Const(tuple(order))
        return self.emit(np.ndarray.transpose, v, axes, shape=shape, view=True)

    def emit(
        self, function: Any, *args: ir.Operand, shape: tuple[Dimension, ...], view: bool = False
    ) -> ir.Var:
        """The result of a call."""
        kind = self.total.target.kind
        assert isinstance(kind, Array)
        target, views = ir.Var(self.total.target.name, Array(kind.dtype, shape)), args[:1]
        self.made.append(
            ir.Assign(
                target, function, args, (), self.total.span,
                tuple(v for v in views if isinstance(v, ir.Var)) if view else (), view,
            )
        )  # fmt: skip
        return target


def _shape(operand: ir.Operand) -> tuple[Dimension, ...]:
    kind = operand.kind if isinstance(operand, ir.Var) else None
    assert isinstance(kind, Array) and kind.shape is not None
    return kind.shape


def _new_axes(key: ir.Operand, rank: int) -> list[int]:
    """The axes of a view of this rank that its key adds."""
    items, axis, found = ir.items_of(key), 0, list[int]()
    own = [item for item in items if ir.is_constant(item, None) or is_slice(item)]
    for item in items:
        if ir.is_constant(item, None):
            found.append(axis)
        axis += rank - len(own) if ir.is_constant(item, Ellipsis) else item in own
    return found


def _contraction(
    total: ir.Assign, chain: list[ir.Assign], factors: list[ir.Operand], weights: ir.Operand
) -> _Contraction | None:
    """The sum as a product of matrices, if it is one."""
    kind, shape = total.target.kind, _shape(chain[0].target)
    if not isinstance(kind, Array) or not same_dtype(kind, chain[0].target.kind):
        return None
    axes, keepdims = _axes(total)
    summed = [k for k in axes if shape[k] != 1]
    if len(summed) != 1 or not isinstance(weights, ir.Var):
        return None
    if len(factors) > 1 and any(_shape(f) != shape for f in factors):
        return None
    long = [[k for k, n in enumerate(_aligned(f, shape)) if n != 1] for f in (factors[0], weights)]
    shared = [k for k in long[0] if k in long[1]]
    if any(_aligned(f, shape)[k] != shape[k] for f in (factors[0], weights) for k in shared):
        return None
    rows, columns = ([k for k in here if k not in shared] for here in long)
    if summed[0] not in shared or not rows or len(columns) > 1:
        return None
    shared.remove(summed[0])
    if columns and len(rows) == 1 and columns < rows:  # as well the other way round
        return None
    if shared and (len(shape), rows, columns) != (3, [2], []):
        return None
    kept = [k for k in range(len(shape)) if keepdims or k not in axes]
    whole = tuple(f for f in factors if isinstance(f, ir.Var))
    return _Contraction(total, tuple(chain), whole, weights, rows, summed[0], columns, shared, kept)


def _aligned(factor: ir.Operand, shape: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
    """The shape of a factor, in as many axes as the product has."""
    short = _shape(factor)
    return (*[1] * (len(shape) - len(short)), *short)


def _of_two(product: ir.Assign, total: ir.Assign) -> list[_Contraction]:
    """The sum as a product of the matrices that are multiplied, if it is one."""
    pairs = product.args, product.args[::-1]
    found = (_contraction(total, [product], [a], b) for a, b in pairs)
    return list(itertools.islice(filter(None, found), 1))


def _of_more(
    product: ir.Assign, total: ir.Assign, products: dict[ir.Operand, ir.Assign]
) -> list[_Contraction]:
    """The sum as a product of one of several factors and of all others, if it is one."""
    chain, factors, at = [product], list[ir.Operand](), product
    while True:
        inner = next((a for a in at.args if a in products), None)
        if inner is None or at.args[0] is at.args[1]:
            return []
        factors.insert(0, at.args[at.args[0] is inner])
        at = products[inner]
        chain.append(at)
        for a, b in (at.args, at.args[::-1]):
            found = _contraction(total, chain, [a, *factors], b)
            if found:
                return [found]


def _worthwhile(found: list[_Contraction], counts: dict[ir.Var, int]) -> list[_Contraction]:
    """Those of the sums after which nobody asks for any of their products."""
    while True:
        asked: Counter[ir.Var] = Counter()
        for chain in {w.chain for w in found}:
            asked[chain[0].target] += sum(w.chain == chain for w in found)
        for inner, _ in {pair for w in found for pair in itertools.pairwise(w.chain[::-1])}:
            asked[inner.target] += 1
        left = [w for w in found if all(counts.get(p.target) == asked[p.target] for p in w.chain)]
        if len(left) == len(found):
            return left
        found = left


def _axes(total: ir.Assign) -> tuple[list[int], bool]:
    """The axes of a sum, counted from the first, and whether they are kept; none if unsure."""
    kwargs, rank = dict(total.kwargs), len(_shape(total.args[0]))
    axis, keepdims = kwargs.pop("axis", None), kwargs.pop("keepdims", ir.Const(False))
    if kwargs or len(total.args) != 1 or not isinstance(keepdims, ir.Const):
        return [], False
    axes = [item.value for item in ir.items_of(axis) if isinstance(item, ir.Const)] if axis else []
    if not all(type(k) is int for k in axes):
        return [], False
    return [k % rank for k in axes], bool(keepdims.value)


def _is_product(s: ir.Assign) -> bool:
    """Whether a call multiplies two arrays of real numbers."""
    kind = s.target.kind
    return (
        s.function is operator.mul and isinstance(kind, Array) and not s.target.user
        and kind.dtype in (np.float64, np.float32) and kind.shape is not None
        and len(kind.shape) > 1
        and all(isinstance(a, ir.Var) and isinstance(a.kind, Array) and a.kind.shape
                and a.kind.dtype == kind.dtype for a in s.args)
    )  # fmt: skip


def _is_window(s: ir.Assign) -> bool:
    """Whether a call takes a part of an array by an axis that isn't the first: in rows apart."""
    if s.function is not operator.getitem or not s.views:
        return False
    return any(
        isinstance(item, ir.Pack)
        or (isinstance(item, ir.Const) and isinstance(item.value, slice)
            and item.value != slice(None))
        for item in ir.items_of(s.args[1])[1:]
    )  # fmt: skip


def _contracted(product: ir.Assign, total: ir.Assign, windows: set[ir.Var]) -> list[ir.Statement]:
    """The calls that make the sum of a product; none if it must be made as it is.

    Of `windows` NumPy makes copies to sum all their products by one call.
    """
    kind, made = product.target.kind, total.target.kind
    assert isinstance(kind, Array) and kind.shape is not None
    if any(_shape(a)[-1] != kind.shape[-1] for a in product.args):
        return []
    kwargs = dict(total.kwargs)
    axis, keepdims = kwargs.pop("axis", ir.Const(None)), kwargs.pop("keepdims", ir.Const(False))
    if kwargs or len(total.args) != 1 or not isinstance(made, (Array, Scalar)):
        return []
    if not isinstance(axis, ir.Const) or not isinstance(keepdims, ir.Const):
        return []
    if made.dtype != kind.dtype:
        return []
    alike = all(a.kind == kind for a in product.args)  # type: ignore[union-attr]
    if axis.value is None and not keepdims.value and alike:
        apart = not windows.isdisjoint(ir.uses(product))
        function = runtime.sum_of_products if apart else np.vdot
        return [ir.Assign(total.target, function, product.args, (), total.span)]
    if alike and kind.rank == 2 and axis.value in (0, -2) and not keepdims.value:
        args = (ir.Const("ij,ij->j"), *product.args)
        return [ir.Assign(total.target, np.einsum, args, (), total.span)]
    if axis.value not in (-1, len(kind.shape) - 1):
        return []
    if not keepdims.value:
        return [ir.Assign(total.target, np.vecdot, product.args, (), total.span)]
    rows = ir.Var(total.target.name, Array(kind.dtype, kind.shape[:-1]))
    key = ir.Pack(tuple, (ir.Const(Ellipsis), ir.Const(None)))
    view = ir.Assign(total.target, operator.getitem, (rows, key), (), total.span, (rows,), True)
    return [ir.Assign(rows, np.vecdot, product.args, (), total.span), view]
