"""Sums of products without the products: `(a * b).sum(axis=-1)` is `np.vecdot(a, b)`.

The product is an array that is only made to be summed. Where the sum is along the last axis, or
along all, NumPy has a call that needs none, and takes half the time or less, for small arrays too.
The rows of a matrix times a vector, summed, are `matrix @ vector`, the columns `vector @ matrix`.
Only in the reverse sweep, as the order of the terms is another one.
"""

from __future__ import annotations

import operator

import numpy as np

from .. import ir
from ..analysis.aliasing import Aliasing, holds_memory
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
        products: dict[ir.Operand, ir.Assign] = {}  # of what nothing has written since
        for s in list(block.statements):
            if isinstance(s, ir.Assign) and s.function is np.sum:
                product = products.get(s.args[0])
                if product is not None and counts.get(product.target) == 1:
                    made = _contracted(product, s, windows) or _times_vector(
                        product, s, definitions
                    )
                    if made:
                        at = next(i for i, o in enumerate(block.statements) if o is s)
                        block.statements[at : at + 1] = made
                        block.statements.remove(product)
            elif isinstance(s, ir.Assign) and (_is_product(s) or _is_by_vector(s)):
                products[s.target] = s
            written = {
                aliasing.find(v)
                for inner in ir.walk(ir.Block([s]))
                if isinstance(inner, ir.Assign)
                for v in inner.writes
                if holds_memory(v.kind)
            }
            if written:
                for target, product in list(products.items()):
                    if not written.isdisjoint(map(aliasing.find, ir.uses(product))):
                        del products[target]


def _is_product(s: ir.Assign) -> bool:
    """Whether a call multiplies two arrays of real numbers that are alike."""
    kind = s.target.kind
    return (
        s.function is operator.mul and isinstance(kind, Array) and not s.target.user
        and kind.dtype in (np.float64, np.float32) and kind.shape is not None
        and len(kind.shape) > 1
        and all(isinstance(a, ir.Var) and a.kind == kind for a in s.args)
    )  # fmt: skip


def _is_by_vector(s: ir.Assign) -> bool:
    """Whether a call multiplies a matrix of real numbers by a vector, or by a column or row."""
    kind = s.target.kind
    return (
        s.function is operator.mul and isinstance(kind, Array) and not s.target.user
        and kind.dtype in (np.float64, np.float32) and kind.rank == 2
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
    if axis.value is None and not keepdims.value:
        apart = not windows.isdisjoint(ir.uses(product))
        function = runtime.sum_of_products if apart else np.vdot
        return [ir.Assign(total.target, function, product.args, (), total.span)]
    if axis.value not in (-1, len(kind.shape) - 1):
        return []
    if not keepdims.value:
        return [ir.Assign(total.target, np.vecdot, product.args, (), total.span)]
    rows = ir.Var(total.target.name, Array(kind.dtype, kind.shape[:-1]))
    key = ir.Pack(tuple, (ir.Const(Ellipsis), ir.Const(None)))
    view = ir.Assign(total.target, operator.getitem, (rows, key), (), total.span, (rows,), True)
    return [ir.Assign(rows, np.vecdot, product.args, (), total.span), view]
