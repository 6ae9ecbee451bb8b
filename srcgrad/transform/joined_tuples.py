"""Tuples that branches yield: a variable for each item, which has an adjoint and a tangent.

    if test:                                if test:
        results = forward(x)                    results = forward(x)
        yield results                  =>       yield results[0], results[1]
    joined = ...                            joined_0, joined_1 = ...
    item = joined[1]

Gradients that are differentiated once more have them: what a call hands on to the reverse sweep.
"""

from __future__ import annotations

import operator

from .. import ir
from ..analysis.activity import carries
from ..analysis.aliasing import holds_memory
from ..kinds import Kind, TupleOf


def split_joined_tuples(block: ir.Block) -> None:
    """Split the tuples with floats that branches yield, in place."""
    joins = [s for s in ir.walk(block) if isinstance(s, ir.If)]
    for s in reversed(joins):  # those in its branches first
        while targets := [v for v in s.targets if _is_split(s, v)]:
            _use_items(block, {v: _split(s, v) for v in targets})


def _is_split(s: ir.If, target: ir.Var) -> bool:
    k = s.targets.index(target)
    whole = isinstance(target.kind, TupleOf) and carries(target.kind)
    return whole and all(_is_known(b.results[k]) for b in (s.then, s.orelse))


def _is_known(operand: ir.Operand) -> bool:
    whole = isinstance(operand, ir.Var) and isinstance(operand.kind, TupleOf)
    return whole or isinstance(operand, ir.Pack) or operand is ir.UNDEFINED


def _split(s: ir.If, target: ir.Var) -> list[ir.Var]:
    """Have branches yield the items of a tuple; the variables that hold them after the branch."""
    assert isinstance(target.kind, TupleOf)
    kinds = target.kind.items
    k = s.targets.index(target)
    items = [ir.Var(f"{target.name}_{i}", kind) for i, kind in enumerate(kinds)]
    for block in (s.then, s.orelse):
        whole = block.results[k]
        found = [_item(block, whole, i, kind, s) for i, kind in enumerate(kinds)]
        block.results = (*block.results[:k], *found, *block.results[k + 1 :])
    s.targets = (*s.targets[:k], *items, *s.targets[k + 1 :])
    return items


def _item(block: ir.Block, whole: ir.Operand, i: int, kind: Kind, s: ir.If) -> ir.Operand:
    """An item of what a branch yields, read at its end."""
    if isinstance(whole, ir.Pack):
        return whole.items[i]
    if not isinstance(whole, ir.Var):
        return whole
    item = ir.Var(f"{whole.name}_{i}", kind)
    views = (whole,) if holds_memory(kind) else ()
    args = (whole, ir.Const(i))
    block.statements.append(ir.Assign(item, operator.getitem, args, span=s.span, views=views))
    return item


def _use_items(block: ir.Block, split: dict[ir.Var, list[ir.Var]]) -> None:
    """Use the items of tuples rather than the tuples."""
    names = ir.Renaming({v: ir.Pack(tuple, tuple(items)) for v, items in split.items()})
    for inner in ir.all_blocks(block):
        kept = []
        for s in inner.statements:
            whole = s.args[0] if isinstance(s, ir.Assign) and s.args else None
            if isinstance(s, ir.Assign) and s.function is operator.getitem and whole in split:
                assert isinstance(s.args[1], ir.Const)
                names[s.target] = split[whole][s.args[1].value]
            else:
                kept.append(s)
        inner.statements = kept
    ir.rename(block, names)
