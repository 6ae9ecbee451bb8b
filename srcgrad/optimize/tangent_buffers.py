"""Buffer reuse where tangents are carried along: as `reuse.py` does it in the reverse sweep.

What is computed from tangents is computed in the buffer of a tangent that isn't needed any more, or
in what was made for it alone; so are the adjoints of gradients inside the function. The user's own
statements stay as they are written.
"""

from __future__ import annotations

from .. import ir
from ..analysis.elementwise import COMMUTATIVE, IN_PLACE
from ..kinds import Array, Scalar
from .reuse import Place, Reuser


def reuse_tangents(function: ir.Function, tangents: list[ir.Var]) -> None:
    """Compute in place, where that is safe, in a function that carries `tangents` along."""
    carried = set(tangents)
    for _ in range(2):  # what a loop's body yields, its parameters have in the next trip
        _mark_carried(function.block, carried)
    _name_tangents(carried)
    reuser = _Tangents(function, carried)
    for s in ir.walk(function.block):
        if isinstance(s, ir.Loop):
            reuser.statements(s.body, True)
    reuser.statements(function.block, True)
    ir.rename(function.block, reuser.renamed)


class _Tangents(Reuser):
    """Computes in place what carries tangents, and adjoints."""

    def __init__(self, function: ir.Function, carried: set[ir.Var]) -> None:
        super().__init__(function)
        self.carried = carried
        variables = [*function.params, *(v for s in ir.walk(function.block) for v in ir.targets(s))]
        self.users = {v.name for v in variables if v.user}

    def in_place(
        self, place: Place, s: ir.Assign, position: int, reverse: bool
    ) -> ir.Assign | None:
        """A call that writes its result into an operand, or None."""
        moving = s.target in self.carried
        if s.function not in IN_PLACE or not (moving or _is_reverse(s)):
            return None
        for i, buffer in self.buffers(place, s, position, reverse):
            root = self.renamed(buffer)
            assert isinstance(root, ir.Var)
            if (i and s.function not in COMMUTATIVE) or list(s.args).count(buffer) != 1:
                continue
            if root.name in self.users and root.name != s.target.name:
                continue
            if root in self.carried and moving:
                return self.augmented(s, buffer)
            if root not in self.carried and moving and self.counts[root] == 1:
                root.name = s.target.name
                return self.augmented(s, buffer)
            if root not in self.carried and not moving:
                return self.augmented(s, buffer)
        return None


def _mark_carried(block: ir.Block, carried: set[ir.Var]) -> None:
    """Add to the variables that carry tangents those that are computed from them."""
    for s in block.statements:
        if isinstance(s, ir.Assign):
            if not carried.isdisjoint(ir.uses(s)):
                carried.update((s.target, *s.writes))
            continue
        _mark_joins(s, carried)
        for inner in ir.blocks(s):
            _mark_carried(inner, carried)
        _mark_joins(s, carried)


def _mark_joins(s: ir.If | ir.Loop, carried: set[ir.Var]) -> None:
    for target, ends in ir.joins(s):
        if any(not carried.isdisjoint(ir.variables(end)) for end in ends):
            carried.add(target)


def _name_tangents(carried: set[ir.Var]) -> None:
    """What is computed from tangents is named so."""
    for v in carried:
        dtype = v.kind.dtype if isinstance(v.kind, (Array, Scalar)) else None
        if not v.user and not v.name.startswith("t_") and dtype is not None and dtype.kind in "fc":
            while v.name.startswith("d_"):
                v.name = v.name[2:]
            v.name = f"t_{v.name}"


def _is_reverse(s: ir.Assign) -> bool:
    return isinstance(s.span, ir.Origin) and s.span.role == "reverse"
