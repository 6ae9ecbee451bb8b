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
    closing = _Closing()
    closing.visit(function.block)
    closing.close(function.block)
    closing.rename(function.block, {})


class _Closing:
    """Where variables are used, and what they are called there once the Ifs yield them.

    Blocks are numbered in the order in which they begin, so that those in a block have the numbers
    that follow its own: whether a variable is used outside of a block is seen by the first and the
    last number of those that use it, however deep the branches are nested.
    """

    def __init__(self) -> None:
        self.extents: dict[ir.Block, tuple[int, int]] = {}  # the numbers of a block and those in it
        self.uses: dict[ir.Var, tuple[int, int]] = {}  # the first and the last block that uses one
        self.origins: dict[ir.Var, ir.Var] = {}  # of what an If yields: the variable that it holds
        self.names: dict[ir.Block, dict[ir.Var, ir.Var]] = {}  # what holds a variable in a block

    def visit(self, block: ir.Block) -> None:
        number = len(self.extents)
        self.extents[block] = number, number
        for s in block.statements:
            self._note(ir.uses(s), number)
            for inner in ir.blocks(s):
                self.visit(inner)
        self._note(ir.variables_of(block.results), number)
        self.extents[block] = number, len(self.extents) - 1

    def _note(self, used: list[ir.Var], number: int) -> None:
        for v in used:
            first, last = self.uses.get(v, (number, number))
            self.uses[v] = min(first, number), max(last, number)

    def close(self, block: ir.Block) -> None:
        for s in block.statements:
            for inner in ir.blocks(s):
                self.close(inner)
            if isinstance(s, ir.If):
                self._yield(block, s, s.then, s.orelse)
                self._yield(block, s, s.orelse, s.then)

    def _yield(self, block: ir.Block, s: ir.If, branch: ir.Block, other: ir.Block) -> None:
        own = [t for b in branch.statements for t in ir.targets(b)]
        wanted = [v for v in own if self._is_used_outside(v, branch)]
        for v in wanted:
            outside = ir.Var(v.name, v.kind, v.user, optional=v.optional, partial=True)
            s.targets += (outside,)
            origin = self.origins[outside] = self.origins.get(v, v)
            self.uses[outside] = self.uses[origin]
            self.names.setdefault(branch, {})[origin] = v
            self.names.setdefault(block, {})[origin] = outside
        branch.results += tuple(wanted)
        other.results += (ir.UNDEFINED,) * len(wanted)

    def _is_used_outside(self, v: ir.Var, block: ir.Block) -> bool:
        if v not in self.uses:
            return False
        (first, last), (begin, end) = self.uses[v], self.extents[block]
        return first < begin or last > end

    def rename(self, block: ir.Block, names: dict[ir.Var, ir.Var]) -> None:
        """Let a block use what holds each variable there; `names` is what does around it."""
        own = self.names.get(block, {})
        around = {v: names.get(v, v) for v in own}
        names.update(own)
        for s in block.statements:
            ir.rename_uses(s, names)
            for inner in ir.blocks(s):
                self.rename(inner, names)
        block.results = ir.renamed(block.results, names)
        names.update(around)
