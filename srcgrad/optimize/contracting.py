"""Sums of products without the products: `(a * b).sum(axis=-1)` is `np.vecdot(a, b)`.

The product is an array that is only made to be summed. Where the sum is along the last axis, or
along all, NumPy has a call that needs none, and takes half the time or less, for small arrays too.
The rows of a matrix times a vector, summed, are `matrix @ vector`, the columns `vector @ matrix`;
with one more axis, `(w[..., None] * x).sum(axis=0)` is a product of matrices for each place along
the other axis of `w` (`runtime.weighted_sum`), whatever else the weights are multiplied by before.
The squares of columns are summed by `np.einsum`.
Only in the reverse sweep, as the order of the terms is another one.
"""

from __future__ import annotations

import itertools
import operator
from collections import Counter
from dataclasses import dataclass

import numpy as np

from .. import ir
from ..analysis.aliasing import Aliasing
from ..analysis.keys import kept_axes
from ..emit import runtime
from ..kinds import Array, Scalar


def contract(function: ir.Function) -> None:
    """Sum products in the reverse sweep without making them, in place."""
    aliasing, counts = Aliasing(function.block), ir.use_counts(function.block)
    windows = {
        s.target for s in ir.walk(function.block) if isinstance(s, ir.Assign) and _is_window(s)
    }
    definitions = {s.target: s for s in ir.walk(function.block) if isinstance(s, ir.Assign)}
    for block in ir.sweep_blocks(function):
        weighted: list[_Weighted] = []
        products: dict[ir.Operand, ir.Assign] = {}  # of what nothing has written since
        for s in list(block.statements):
            if isinstance(s, ir.Assign) and s.function is np.sum:
                product = products.get(s.args[0])
                if product is not None and counts.get(product.target) == 1:
                    made = _times_vector(product, s, definitions)
                    made = made or _contracted(product, s, windows)
                    if made:
                        at = next(i for i, o in enumerate(block.statements) if o is s)
                        block.statements[at : at + 1] = made
                        block.statements.remove(product)
                        continue
                if product is not None:
                    weighted += _weighted(product, s, products)
            elif isinstance(s, ir.Assign) and (_is_product(s) or _is_by_part(s)):
                products[s.target] = s
            if written := aliasing.written_by(s):
                for target, product in list(products.items()):
                    if not written.isdisjoint(aliasing.held_by(ir.uses(product))):
                        del products[target]
        for found in _worthwhile(weighted, counts):
            at = next(i for i, o in enumerate(block.statements) if o is found.total)
            block.statements[at : at + 1] = found.calls(definitions)


@dataclass(frozen=True)
class _Weighted:
    """A sum along the first or second of three axes of products with what has no third one.

    `chain` are the products, the last one first, of the weights and the other `factors`.
    """

    total: ir.Assign
    axis: int
    weights: ir.Var
    factors: tuple[ir.Operand, ...]
    chain: tuple[ir.Assign, ...]

    def calls(self, definitions: dict[ir.Var, ir.Assign]) -> list[ir.Statement]:
        """The calls that make the sum."""
        span, (whole, *others) = self.total.span, self.factors
        made: list[ir.Statement] = []
        for other in others:
            product = ir.Var(self.total.args[0].name, self.chain[0].target.kind)  # type: ignore[union-attr]
            made.append(ir.Assign(product, operator.mul, (whole, other), (), span))
            whole = product
        taken = definitions.get(self.weights)
        if taken is not None and taken.function is operator.getitem and _adds_last(taken):
            weights = taken.args[0]
        else:
            kind = self.weights.kind
            assert isinstance(kind, Array) and kind.shape is not None
            weights = ir.Var(self.weights.name, Array(kind.dtype, kind.shape[:-1]))
            key = ir.Pack(tuple, (ir.Const(Ellipsis), ir.Const(0)))
            made.append(
                ir.Assign(
                    weights, operator.getitem, (self.weights, key), (), span, (self.weights,), True
                )
            )
        args, target = (weights, whole, ir.Const(self.axis)), self.total.target
        if "keepdims" not in dict(self.total.kwargs):
            return [*made, ir.Assign(target, runtime.weighted_sum, args, (), span)]
        kept = target.kind.shape  # type: ignore[attr-defined]
        shape = (*kept[: self.axis], *kept[self.axis + 1 :])
        total = ir.Var(target.name, Array(target.kind.dtype, shape))  # type: ignore[attr-defined]
        new = ir.Const((*[slice(None)] * self.axis, None))
        return [
            *made,
            ir.Assign(total, runtime.weighted_sum, args, (), span),
            ir.Assign(target, operator.getitem, (total, new), (), span, (total,), True),
        ]


def _weighted(
    product: ir.Assign, total: ir.Assign, products: dict[ir.Operand, ir.Assign]
) -> list[_Weighted]:
    """The sum as one of products with weights, if it is such a one."""
    kind, axis = product.target.kind, _axis(total)
    assert isinstance(kind, Array) and kind.shape is not None
    if kind.rank != 3 or axis not in (0, 1) or kind.dtype != getattr(total.target.kind, "dtype", 0):
        return []
    column = (*kind.shape[:-1], 1)
    chain, factors, at = [product], [], product
    while True:
        kinds = [getattr(a, "kind", None) for a in at.args]
        if getattr(kinds[1], "shape", None) == column != kind.shape:
            weights, other = at.args[1], at.args[0]
        elif getattr(kinds[0], "shape", None) == column != kind.shape:
            weights, other = at.args
        else:
            inner = next((a for a in at.args if a in products), None)
            if inner is None or at.args[0] is at.args[1]:
                return []
            factors.append(at.args[at.args[0] is inner])
            at = products[inner]
            chain.append(at)
            continue
        factors.append(other)
        break
    if not isinstance(weights, ir.Var) or any(f.kind != kind for f in factors):  # type: ignore[union-attr]
        return []
    if weights.kind.dtype != kind.dtype:  # type: ignore[attr-defined]
        return []
    return [_Weighted(total, axis, weights, tuple(factors[::-1]), tuple(chain))]


def _worthwhile(found: list[_Weighted], counts: dict[ir.Var, int]) -> list[_Weighted]:
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


def _axis(total: ir.Assign) -> int | None:
    """The axis of a sum along one, counted from the first; None otherwise."""
    kwargs = dict(total.kwargs)
    axis, keepdims = kwargs.pop("axis", None), kwargs.pop("keepdims", ir.Const(True))
    kind = getattr(total.args[0], "kind", None)
    if (
        kwargs
        or not ir.is_constant(keepdims, True)
        or len(total.args) != 1
        or not isinstance(axis, ir.Const)
    ):
        return None
    if type(axis.value) is not int or not isinstance(kind, Array) or kind.rank is None:
        return None
    return axis.value % kind.rank


def _adds_last(s: ir.Assign) -> bool:
    """Whether an index adds an axis behind all others."""
    array, key = s.args
    items = ir.items_of(key)
    if not items or not ir.is_constant(items[-1], None):
        return False
    rank = getattr(array.kind, "rank", None)  # type: ignore[union-attr]
    return kept_axes(key, array.kind.shape) == [*range(rank or 0), None]  # type: ignore[union-attr]


def _is_product(s: ir.Assign) -> bool:
    """Whether a call multiplies two arrays of real numbers whose last axes are alike."""
    kind = s.target.kind
    return (
        s.function is operator.mul and isinstance(kind, Array) and not s.target.user
        and kind.dtype in (np.float64, np.float32) and kind.shape is not None
        and len(kind.shape) > 1
        and all(isinstance(a, ir.Var) and isinstance(a.kind, Array) for a in s.args)
        and all(a.kind.shape and a.kind.shape[-1] == kind.shape[-1] for a in s.args)  # type: ignore[union-attr]
        and all(a.kind.dtype == kind.dtype for a in s.args)  # type: ignore[union-attr]
    )  # fmt: skip


def _is_by_part(s: ir.Assign) -> bool:
    """Whether a call multiplies an array of real numbers by one that is broadcast, a vector say."""
    kind = s.target.kind
    return (
        s.function is operator.mul and isinstance(kind, Array) and not s.target.user
        and kind.dtype in (np.float64, np.float32) and kind.rank in (2, 3)
        and all(isinstance(a, ir.Var) for a in s.args)
        and any(isinstance(a, ir.Var) and a.kind == kind for a in s.args)
    )  # fmt: skip


def _times_vector(
    product: ir.Assign, total: ir.Assign, definitions: dict[ir.Var, ir.Assign]
) -> list[ir.Statement]:
    """The product of a matrix and a vector that a sum of rows or columns is, if it is one."""
    kind, axis = product.target.kind, dict(total.kwargs).get("axis")
    if len(total.kwargs) != 1 or len(total.args) != 1 or not isinstance(axis, ir.Const):
        return []
    if kind.rank != 2:  # type: ignore[attr-defined]
        return []
    for matrix, other in (product.args, product.args[::-1]):
        assert isinstance(matrix, ir.Var) and isinstance(other, ir.Var)
        if matrix.kind != kind or getattr(other.kind, "dtype", None) != kind.dtype:  # type: ignore[attr-defined]
            continue
        if axis.value in (1, -1) and getattr(other.kind, "shape", None) == kind.shape[1:]:  # type: ignore[attr-defined]
            return [ir.Assign(total.target, operator.matmul, (matrix, other), (), total.span)]
        made = definitions.get(other)
        if axis.value not in (0, -2) or made is None or made.function is not operator.getitem:
            continue
        vector, key = made.args
        column = isinstance(key, ir.Const) and key.value == (slice(None), None)
        if column and getattr(getattr(vector, "kind", None), "shape", None) == kind.shape[:1]:  # type: ignore[attr-defined]
            return [ir.Assign(total.target, operator.matmul, (vector, matrix), (), total.span)]
    return []


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
    if not _is_product(product):
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
    squares = alike and kind.rank == 2 and product.args[0] is product.args[1]
    if squares and axis.value in (0, -2) and not keepdims.value:
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
