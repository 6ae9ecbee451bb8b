"""Buffers of loops: what each iteration makes anew is made once, where memory is scarce.

An array as large as what the whole function holds costs its pages each time that it is made. So
`np.empty_like` stands before the loop, and the calls of an expression write into it one after the
other. Only what no iteration leaves to the next one, or to what follows the loop, is made so.
"""

from __future__ import annotations

import numpy as np

from .. import ir
from ..analysis.elementwise import COMMUTATIVE, IN_PLACE, makes_fresh
from ..kinds import Opaque
from .reuse import Place, Reuser, takes_out, written_over


def reuse_in_loops(function: ir.Function) -> None:
    """Make arrays that each iteration of a loop makes anew once, if memory is scarce.

    Runs when the views that a loop needs are made before it: a view has the shape of the array.
    """
    if not any(isinstance(s, ir.Loop) for s in ir.walk(function.block)):
        return
    buffers = _Buffers(function)
    buffers.loops(function.block, set(function.params))
    ir.rename(function.block, buffers.renamed)


class _Buffers(Reuser):
    def loops(self, block: ir.Block, known: set[ir.Var]) -> None:
        """Make arrays that each iteration of a loop makes anew once, before the loop.

        `known` are the variables that are defined around a block.
        """
        for s in list(block.statements):
            for inner in ir.blocks(s):
                own = {*s.params} if isinstance(s, ir.Loop) else set()
                self.loops(inner, known | own)
            if isinstance(s, ir.Loop):
                position = next(i for i, other in enumerate(block.statements) if other is s)
                block.statements[position:position] = self.made_before(s, known)
            known = known.union(ir.targets(s))

    def made_before(self, loop: ir.Loop, known: set[ir.Var]) -> list[ir.Statement]:
        """The statements that make arrays for the results that only an iteration needs."""
        made: list[ir.Statement] = []
        place = Place(loop.body, frozenset())
        for s in list(loop.body.statements):
            if not isinstance(s, ir.Assign) or s.target not in self.crowded:
                continue
            v = s.target
            if not v.user and self.counts.get(v, 0) < 2:
                continue  # it is part of an expression
            if v in self.held or v in self.small or not makes_fresh(s) or not takes_out(s):
                continue
            chain = self.chain(loop.body, s)
            operands = (w for o in chain for w in ir.uses(o))
            like = next((w for w in operands if w in known and w.kind == v.kind), None)
            if like is None or not like.assured:
                continue
            if not self.writable(s) or not self.free(place, v):
                continue
            buffer = ir.Var(v.name, v.kind, v.user)
            made.append(ir.Assign(buffer, np.empty_like, (like,), (), s.span))
            for o in chain:
                position = next(i for i, p in enumerate(loop.body.statements) if p is o)
                loop.body.statements[position] = self.into(buffer, o)
                self.renamed[o.target] = buffer
        return made

    def chain(self, block: ir.Block, s: ir.Assign) -> list[ir.Assign]:
        """The calls of an expression, each of which can be computed in the place of the one before.

        The last is the one given.
        """
        makers = {o.target: o for o in block.statements if isinstance(o, ir.Assign)}
        found = [s]
        while True:
            made = next(
                (makers[a] for a in found[0].args
                 if isinstance(a, ir.Var) and a in makers and self.counts.get(a) == 1
                 and a.kind == s.target.kind and not a.user and a not in self.held
                 and self.sharing.get(a) == {a} and makes_fresh(makers[a])
                 and takes_out(makers[a]) and self.writable(makers[a])), None,
            )  # fmt: skip
            if made is None:
                return found
            found.insert(0, made)

    def into(self, buffer: ir.Var, s: ir.Assign) -> ir.Assign:
        """A call that writes its result into an array, which may be what an operand is by now."""
        args = tuple(ir.substitute(a, self.renamed) for a in s.args)
        nothing = ir.Var("_", Opaque(None))
        if s.function in IN_PLACE and args.count(buffer) == 1:
            if args[0] is buffer or s.function in COMMUTATIVE:
                other = args[1] if args[0] is buffer else args[0]
                both = (buffer, other)
                return ir.Assign(nothing, IN_PLACE[s.function], both, (), s.span, writes=(buffer,))
        function, args = written_over(s.function, args)
        out = (("out", buffer),)
        return ir.Assign(nothing, function, args, out, s.span, writes=(buffer,))
