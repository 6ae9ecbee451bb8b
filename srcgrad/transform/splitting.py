"""Cutting a function with both sweeps in two: the residuals are what the second half needs.

The reverse sweep uses the variables of a branch of the forward sweep in the branch that mirrors
it, as if they were still there. In what is cut in two, or differentiated once more, they must be
what the IR says variables are: `close` lets the first branch yield them.
"""

from __future__ import annotations

from .. import ir


def split(
    function: ir.Function, marker: ir.Statement, seeds: list[ir.Var]
) -> tuple[list[ir.Statement], tuple[ir.Var, ...], list[ir.Statement]]:
    """The statements before a marker, the variables of theirs that those after it use, and these.

    `seeds` are variables of the second half's own; the last result is what it returns.
    """
    close(function)
    statements = function.block.statements
    position = statements.index(marker)
    reverse = ir.Block(statements[position:], function.block.results[-1:])
    residuals = tuple(v for v in ir.free_variables(reverse) if v not in seeds)
    return statements[:position], residuals, statements[position:]


def close(function: ir.Function) -> None:
    """Let each If yield the variables of its branches that are used after it, in place."""
    _close(function, function.block)


def _close(function: ir.Function, block: ir.Block) -> None:
    for s in block.statements:
        for inner in ir.blocks(s):
            _close(function, inner)
        if isinstance(s, ir.If):
            _yield(function, s, s.then, s.orelse)
            _yield(function, s, s.orelse, s.then)


def _yield(function: ir.Function, s: ir.If, branch: ir.Block, other: ir.Block) -> None:
    everywhere, here = ir.use_counts(function.block), ir.use_counts(branch)
    own = [t for b in branch.statements for t in ir.targets(b)]
    wanted = [v for v in own if everywhere.get(v, 0) > here.get(v, 0)]
    if not wanted:
        return
    outside = {v: ir.Var(v.name, v.kind, v.user, optional=v.optional, partial=True) for v in wanted}
    inside = {target: v for v, target in outside.items()}
    ir.rename(function.block, outside)
    ir.rename(branch, inside)
    s.targets += tuple(outside.values())
    branch.results += tuple(wanted)
    other.results += (ir.UNDEFINED,) * len(wanted)
