"""How long slices are whose bounds a loop's index tells, as in `x[i : i + k]`.

When the frontend meets the slice, it knows nothing of the range of `i`. After it, `affine` proves
that the bounds lie in the array in every iteration; so the slice is `k` long, and goes together
with other arrays that are.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from .. import ir
from ..kinds import Array, Dimension, ListOf, Scalar, Size, TupleOf, parts_like
from ..rules import registry
from .affine import Affine, Integers, Proof, constant
from .alternatives import with_others
from .elementwise import broadcast, is_elementwise, number_kind
from .inference import infer

MOST = 4  # added to a length, for the sum to be one

Found = dict[int, Dimension]  # what the bases of sizes are


def settle_lengths(function: ir.Function) -> None:
    """Say of the slices of a function, and of what is made of them, how long they are, in place."""
    if not any(isinstance(s, ir.Loop) for s in ir.walk(function.block)):
        return
    found = Found()
    _Lengths(function).block(function.block, found)
    if found:
        for v in _variables(function):
            v.kind = _settled(v.kind, found)


class _Lengths:
    """Finds the lengths of slices, and of what arithmetic, branches and loops make of them.

    Attributes:
        natural: the bases of the lengths of arrays that there are.
        steady: the bases of sizes that are the same all the time, as those of arguments are. What a
            loop carries may have another size in each trip, which its base stands for, one by one.
    """

    def __init__(self, function: ir.Function) -> None:
        self.integers, self.natural = Integers(function.block), set[int]()
        for v in function.params:
            self.exists(v)
        sizes = [v.kind.size for v in function.params if isinstance(v.kind, Scalar)]
        sizes += [n for v in function.params for n in _shape(v)]
        self.steady = {n.base for n in sizes if isinstance(n, Size)}

    def exists(self, v: ir.Var) -> None:
        """Note that there is an array, the lengths of which aren't negative."""
        self.natural.update(n.base for n in _shape(v) if isinstance(n, Size) and n.offset <= 0)

    def block(self, block: ir.Block, found: Found) -> None:
        before = set(self.natural)
        self.statements(block, found)
        self.natural = before

    def statements(self, block: ir.Block, found: Found) -> None:
        for s in block.statements:
            if isinstance(s, ir.Assign):
                self.exists(s.target)
                self.assign(s, found)
            elif isinstance(s, ir.Loop):
                self.loop(s, found)
            else:
                for inner in ir.blocks(s):
                    self.block(inner, found)
                for target, (one, other) in ir.joins(s):
                    both = zip(_lengths(one, found), _lengths(other, found), strict=False)
                    _note(target, [m if m == n else None for m, n in both], found)

    def assign(self, s: ir.Assign, found: Found) -> None:
        if not isinstance(s.target.kind, Array) or not s.target.kind.shape:
            return
        if s.function is operator.getitem:
            shape = _sliced(s, Proof(self.integers, natural=self.natural))
        elif found and is_elementwise(s.function) and not s.kwargs:
            shape = _merged(s, found)
        elif found and not s.writes and not s.effect and registry.lookup(s.function) is not None:
            shape = _inferred_anew(s, found)
        else:
            return
        # a length that is an operand's says nothing of that operand where the call isn't made
        own = {n.base for v in ir.uses(s) for n in _shape(v) if isinstance(n, Size)}
        _note(s.target, shape, found, own)

    def loop(self, s: ir.Loop, found: Found) -> None:
        """Look at a loop, for whose parameters it is tried if they stay as long as at the start."""
        guesses = Found()
        for param, init in zip(s.params, s.inits, strict=True):
            _note(param, _lengths(init, found), guesses)
        for base, n in list(guesses.items()):
            if base in found or (isinstance(n, Size) and n.base not in self.steady):
                del guesses[base]
        while guesses:
            trial = {**found, **guesses}
            self.block(s.body, trial)
            wrong = {
                have.base
                for param, result in zip(s.params, s.body.results, strict=False)  # then a flag
                for have, known in zip(_shape(param), _lengths(result, trial), strict=False)
                if isinstance(have, Size) and have.base in guesses
                if known != _settled(have, trial)
            }
            if not wrong:
                found.update(trial)
                return
            for base in wrong:
                del guesses[base]
        self.block(s.body, found)


def _note(
    v: ir.Var, shape: Sequence[Dimension | None], found: Found, but: Collection[int] = ()
) -> None:
    """Note what the lengths of an array are, if they are its own and it isn't known yet."""
    for have, known in zip(_shape(v), shape, strict=False):
        if known is None or not isinstance(have, Size) or have.offset or have.base in but:
            continue
        known = _settled(known, found)
        if not isinstance(known, Size) or known.base != have.base:
            found.setdefault(have.base, known)


def _lengths(operand: ir.Operand, found: Found) -> tuple[Dimension, ...]:
    """The lengths of an array, as far as they are known; none of anything else."""
    shape = _shape(operand) if isinstance(operand, ir.Var) else ()
    return tuple(_settled(n, found) for n in shape)


def _sliced(s: ir.Assign, proof: Proof) -> tuple[Dimension | None, ...]:
    """The lengths of a view, where the bounds of slices tell them."""
    x, key = s.args
    items = ir.items_of(key)
    if not any(isinstance(part, ir.Var) for item in items for part in ir.slice_parts(item)):
        return ()
    if not isinstance(x, ir.Var) or not isinstance(x.kind, Array) or x.kind.shape is None:
        return ()
    axis, lengths = 0, list[Dimension | None]()
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


def _inferred_anew(s: ir.Assign, found: Found) -> tuple[Dimension | None, ...]:
    """The lengths of what another call returns, where more is known now of what it is given."""
    if registry.is_random(s.function) or s.function in registry.kinds:
        return ()
    others = {v: ir.Var(v.name, _settled(v.kind, found)) for v in ir.uses(s)}
    changed = {v: other for v, other in others.items() if other.kind != v.kind}
    if not changed:
        return ()
    kind = with_others(infer, s.function, s.args, dict(s.kwargs), changed).kind
    return (kind.shape or ()) if isinstance(kind, Array) else ()


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
