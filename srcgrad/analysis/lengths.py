"""How long slices are whose bounds a loop's index tells, as in `x[i : i + k]`.

When the frontend meets the slice, it knows nothing of the range of `i`. After it, `affine` proves
that the bounds lie in the array in every iteration; so the slice is `k` long, and goes together
with other arrays that are.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

from .. import ir
from ..kinds import Array, Dimension, ListOf, Scalar, Size, TupleOf, parts_like
from .affine import Affine, Integers, Proof, constant
from .elementwise import broadcast, is_elementwise, number_kind

MOST = 4  # added to a length, for the sum to be one

Found = dict[int, Dimension]  # what the bases of sizes are


def settle_lengths(function: ir.Function) -> None:
    """Say of the slices of a function, and of what is made of them, how long they are, in place."""
    if not any(isinstance(s, ir.Loop) for s in ir.walk(function.block)):
        return
    integers, found = Integers(function.block), Found()
    for s in ir.walk(function.block):
        kind = s.target.kind if isinstance(s, ir.Assign) else None
        if not isinstance(s, ir.Assign) or not isinstance(kind, Array) or not kind.shape:
            continue
        if s.function is operator.getitem:
            shape = _sliced(s, integers, function.params)
        elif found and is_elementwise(s.function) and not s.kwargs:
            shape = _merged(s, found)
        else:
            continue
        # a length that is an operand's says nothing of that operand where the call isn't made
        own = {n.base for v in ir.uses(s) for n in _shape(v) if isinstance(n, Size)}
        for have, known in zip(kind.shape, shape, strict=False):
            if known is None or not isinstance(have, Size) or have.offset or have.base in own:
                continue
            known = _settled(known, found)
            if not isinstance(known, Size) or known.base != have.base:
                found.setdefault(have.base, known)
    if found:
        for v in _variables(function):
            v.kind = _settled(v.kind, found)


def _sliced(
    s: ir.Assign, integers: Integers, arguments: tuple[ir.Var, ...]
) -> tuple[Dimension | None, ...]:
    """The lengths of a view, where the bounds of slices tell them."""
    x, key = s.args
    items = ir.items_of(key)
    if not any(isinstance(part, ir.Var) for item in items for part in ir.slice_parts(item)):
        return ()
    if not isinstance(x, ir.Var) or not isinstance(x.kind, Array) or x.kind.shape is None:
        return ()
    proof, axis, lengths = Proof(integers, [*arguments, x]), 0, list[Dimension | None]()
    for item in items:
        parts = ir.slice_parts(item)
        if ir.is_constant(item, None):
            lengths.append(None)
            continue
        if parts:
            lengths.append(_length(x.kind.shape[axis], parts, proof))
        elif proof.of(item) is None:
            return ()
        axis += 1
    return tuple(lengths)


def _length(n: Dimension, parts: tuple[ir.Operand, ...], proof: Proof) -> Dimension | None:
    """How long `x[start:stop]` is along an axis of length n; None if that isn't known."""
    first, last, step = parts
    if not isinstance(step, ir.Const) or step.value not in (None, 1):
        return None
    whole = proof.length(n)
    start = constant(0) if ir.is_constant(first, None) else proof.of(first)
    stop = whole if ir.is_constant(last, None) else proof.of(last)
    if start is None or stop is None:
        return None
    if not all(map(proof.is_natural, (start, stop, whole - stop))):
        return None
    return dimension(stop - start)


def dimension(length: Affine) -> Dimension | None:
    """A sum as a dimension, which is 0 where the sum is negative."""
    if not length.terms:
        return max(length.constant, 0)
    (base, factor), *others = length.terms
    if others or factor != 1 or not isinstance(base, Size) or base.offset:
        return None
    return replace(base, offset=length.constant) if abs(length.constant) <= MOST else None


def _merged(s: ir.Assign, found: Found) -> tuple[Dimension | None, ...]:
    """The lengths of what arithmetic makes, where those of the operands have been found."""
    kinds = [number_kind(a) for a in s.args]
    shapes = [k.shape for k in kinds if k is not None and k.shape is not None]
    whole = broadcast(tuple(_settled(n, found) for n in shape) for shape in shapes)
    return () if len(shapes) < len(kinds) or whole is None else whole


def _shape(v: ir.Var) -> tuple[Dimension, ...]:
    return (v.kind.shape or ()) if isinstance(v.kind, Array) else ()


def _variables(function: ir.Function) -> set[ir.Var]:
    """All variables of a function."""
    found = set(function.params)
    for s in ir.walk(function.block):
        found.update(ir.targets(s))
        if isinstance(s, ir.Loop):
            found.update(s.params)
    return found


def _settled(of: Any, found: Found) -> Any:
    """A kind, or a dimension, with what lengths were found to be."""

    def settled(part: Any) -> Any:
        return _settled(part, found)

    match of:
        case Size(base, offset) if base in found:
            known = settled(found[base])
            if isinstance(known, int):
                return known + offset if known + offset >= 0 else of
            clamped = offset > 0 and not known.exact
            fits = not clamped and abs(known.offset + offset) <= MOST
            return replace(known, offset=known.offset + offset) if fits else of
        case Array(_, shape) if shape is not None:
            return replace(of, shape=tuple(map(settled, shape)))
        case Scalar(_, _, size) if size is not None:
            return replace(of, size=settled(size))
        case TupleOf(items):
            return replace(of, items=tuple(map(settled, items)))
        case ListOf(item):
            return replace(of, item=settled(item))
        case tuple():
            return parts_like(of, map(settled, of))
    return of
