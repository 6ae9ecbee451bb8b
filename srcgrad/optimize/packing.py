"""Packing: parts of matrices that a loop only reads, or only adds to, lie in one piece in it.

NumPy goes through `keep[1:-1, 1:-1]` row by row, and through an array of its own at once. So what
a loop reads in each trip, and nobody writes meanwhile, is copied before the loop; and what the
reverse sweep adds to such a part, and nobody reads meanwhile, it adds to zeros, which are added to
the part after the loop.
"""

from __future__ import annotations

import operator
from collections import Counter

import numpy as np

from .. import ir
from ..analysis.aliasing import Aliasing
from ..analysis.elementwise import IN_PLACE, is_elementwise
from ..analysis.row_parts import is_part_of_rows
from ..kinds import Opaque

ADDING = (operator.iadd, operator.isub)
OPERATORS = frozenset(IN_PLACE.values())
Key = tuple[ir.Operand, str]  # an array, and which part of it
Copies = dict[Key, tuple[ir.Var, int]]  # by what they copy, and how many statements come before


def pack(function: ir.Function) -> None:
    """Lay parts of arrays out in one piece for the loops of a function, in place.

    Runs before the views that a loop needs are made before it, and before what is added to shifted
    parts is added as to vectors.
    """
    if any(isinstance(s, ir.Loop) for s in ir.walk(function.block)):
        _Packer(function).block(function.block)


class _Packer:
    def __init__(self, function: ir.Function) -> None:
        self.aliasing = Aliasing(function.block, function.together)
        self.reversing = False

    def block(self, block: ir.Block) -> None:
        """Pack for the loops of a block, the outer ones first."""
        statements: list[ir.Statement] = []
        copies: Copies = {}
        for s in block.statements:
            if isinstance(s, ir.Assign) and s.function is ir.reverse_sweep:
                self.reversing = True
            if isinstance(s, ir.Loop):
                self.loop(s, statements, copies)
            else:
                statements.append(s)
            for inner in ir.blocks(s):
                self.block(inner)
        block.statements[:] = statements

    def loop(self, loop: ir.Loop, statements: list[ir.Statement], copies: Copies) -> None:
        """Add a loop to statements, with what makes the pieces that it uses, and adds them up.

        `copies` are those that the statements make.
        """
        after: list[ir.Statement] = []
        written = self.aliasing.written_by(loop)
        for key, parts in _invariant_parts(loop).items():
            root = self.aliasing.find(parts[0].target)
            if root not in written:
                if not self.is_read(loop, parts):
                    continue
                piece, position = copies.get(key, (None, 0))
                if piece is None or root in self.aliasing.written_by(*statements[position:]):
                    piece = _piece(parts[0], np.copy, statements)
                    copies[key] = piece, len(statements)
            elif self.reversing and self.is_added_to(loop, parts):
                piece = _piece(parts[0], np.zeros_like, statements)
                view, nothing = _twin(parts[0]), ir.Var("_", Opaque(None))
                both = (view.target, piece)
                add = ir.Assign(nothing, operator.iadd, both, (), view.span, writes=both[:1])
                after += [view, add]
            else:
                continue
            ir.rename(loop.body, dict.fromkeys((s.target for s in parts), piece))
        statements += [loop, *after]

    def is_read(self, loop: ir.Loop, parts: list[ir.Assign]) -> bool:
        """Whether a loop only computes with parts, element by element."""
        users = _users(loop, parts)
        return bool(users) and all(
            isinstance(s, ir.Assign) and (is_elementwise(s.function) or s.function in OPERATORS)
            for s in users
        )

    def is_added_to(self, loop: ir.Loop, parts: list[ir.Assign]) -> bool:
        """Whether a loop only adds to parts, and has nothing to do with that memory else."""
        own = {s.target for s in parts}
        others = Counter(ir.all_uses(ir.Block([loop])))
        for s in parts:
            others.subtract(ir.uses(s))
        for user in _users(loop, parts):
            if not isinstance(user, ir.Assign) or user.function not in ADDING:
                return False
            if user.args[0] not in own or user.writes != user.args[:1] or others[user.target]:
                return False
            others[user.args[0]] -= 1
        rest = [v for v, count in others.items() if count > 0]
        return self.aliasing.find(parts[0].target) not in self.aliasing.held_by(rest)


def _invariant_parts(loop: ir.Loop) -> dict[Key, list[ir.Assign]]:
    """The parts of rows that are the same in each trip of a loop, equal ones together.

    What is taken on a branch is left there.
    """
    varying = ir.made_in(loop)
    found: dict[Key, list[ir.Assign]] = {}
    bodies = [loop.body]
    for body in bodies:
        for s in body.statements:
            if isinstance(s, ir.Loop):
                bodies.append(s.body)
            elif is_part_of_rows(s) and all(v.assured and v not in varying for v in ir.uses(s)):
                found.setdefault((s.args[0], repr(s.args[1])), []).append(s)
    return found


def _users(loop: ir.Loop, parts: list[ir.Assign]) -> list[ir.Statement | None]:
    """The statements in a loop that use parts themselves; None for a block that yields one."""
    own = {s.target for s in parts}
    found: list[ir.Statement | None] = []
    for block in ir.all_blocks(loop.body):
        found += [s for s in block.statements if not own.isdisjoint(ir.uses(s))]
        found += [] if own.isdisjoint(ir.variables_of(block.results)) else [None]
    return found


def _piece(part: ir.Assign, function: object, statements: list[ir.Statement]) -> ir.Var:
    """An array like a part, made by what is added to statements."""
    view = _twin(part)
    piece = part.target.anew()
    statements += [view, ir.Assign(piece, function, (view.target,), (), part.span)]
    return piece


def _twin(s: ir.Assign) -> ir.Assign:
    """The same part again."""
    return ir.Assign(s.target.anew(), s.function, s.args, (), s.span, s.views)
