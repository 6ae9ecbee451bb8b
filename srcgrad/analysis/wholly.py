"""What is surely used wholly by something, whatever else uses parts of it.

Of the weights of a path, `m = np.max(a)` uses one, but `np.exp(a - m)` uses all.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Hashable, Iterable

from .. import ir
from ..rules import registry
from .activity import Activity
from .aliasing import Aliasing
from .elementwise import ARITHMETIC, is_elementwise
from .usage import PRODUCTS, PartialUse, Use, chosen_by, taken_by


def wholly_used(
    function: ir.Function,
    aliasing: Aliasing,
    activity: Activity,
    outputs: Iterable[ir.Var],
    use: PartialUse,
) -> set[ir.Var]:
    """The variables all elements of which matter to the outputs, where nothing writes them."""
    ways: dict[ir.Var, list[tuple[ir.Var, ...]]] = defaultdict(list)  # what has to be used wholly

    def hand_on(operand: ir.Operand, block: ir.Block, *targets: ir.Var) -> None:
        # what another block uses isn't used if that isn't run
        if isinstance(operand, ir.Var) and homes.get(operand) is block:
            if not aliasing.is_written(operand):
                ways[operand].append(targets)

    def visit(block: ir.Block, params: Iterable[ir.Var]) -> None:
        homes.update(dict.fromkeys(params, block))
        for s in block.statements:
            homes.update(dict.fromkeys(ir.targets(s), block))
            if isinstance(s, ir.If):
                for inner in ir.blocks(s):
                    visit(inner, ())
                    for end, target in zip(inner.results, s.targets, strict=False):
                        hand_on(end, inner, target)
            elif isinstance(s, ir.Loop):
                visit(s.body, s.params)
                for init, end, *used in zip(
                    s.inits, s.body.results, s.params, s.targets, strict=False
                ):
                    hand_on(init, block, *used)
                    hand_on(end, s.body, *used)  # in the next iteration, or after the last
            elif not s.writes and activity.active(s.target):
                for operand in _handed_on(s, use):
                    hand_on(operand, block, s.target)

    homes: dict[ir.Var, ir.Block] = {}
    visit(function.block, function.params)
    for output in outputs:
        hand_on(output, function.block)
    whole, order = set(ways), list(reversed(ways))
    before = None
    while before != len(whole):
        before = len(whole)
        for v in order:
            if v in whole and not any(whole.issuperset(way) for way in ways[v]):
                whole.discard(v)
    return whole


def _handed_on(s: ir.Assign, use: PartialUse) -> Iterable[ir.Operand]:
    """The operands each element of which the result depends on, unless by chance."""
    if s.function is operator.getitem:
        return s.args[:1] if taken_by(s) == Use.WHOLE else ()
    if not isinstance(s.function, Hashable) or chosen_by(s) != Use.WHOLE:
        return ()
    if s.function in registry.linear_in:
        plain = registry.OFFSETS.isdisjoint(k for k, _ in s.kwargs)
        return [s.args[i] for i in registry.linear_in[s.function] if plain and i < len(s.args)]
    record = registry.lookup(s.function)
    slopes = record is not None and (record.partials is not None or record.singular)
    if not (slopes or s.function in ARITHMETIC) or not is_elementwise(s.function):
        return ()
    if s.function in PRODUCTS:
        return [a for a, b in zip(s.args, s.args[::-1], strict=True) if not use.is_sparse(b)]
    return s.args
