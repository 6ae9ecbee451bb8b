"""Buffer reuse: the reverse sweep computes in place where an operand is needed no more.

`t = a * b` becomes `a *= b` if `a` is an array that the same block made, of the shape and dtype
of the result, of which nothing else is a view and which is used no more. Allocating costs more
than multiplying from a few thousand numbers on. The adjoint of a variable of the user's keeps its
buffer, so that names say what is in them; the forward sweep keeps the user's spelling. What was
reduced is small beside what it was reduced from: there an expression reads better, and costs
nothing. Runs last, as it writes memory.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator
from typing import Any

from .. import ir
from ..analysis.aliasing import Aliasing
from ..emit.python import reverse_sweep
from ..kinds import Array, Opaque, Scalar
from .elementwise import makes_fresh, number_kind
from .recording import rename
from .simplify import all_uses, use_counts

IN_PLACE: dict[Any, Any] = {
    operator.add: operator.iadd, operator.sub: operator.isub,
    operator.mul: operator.imul, operator.truediv: operator.itruediv,
}  # fmt: skip
COMMUTATIVE: frozenset[Any] = frozenset({operator.add, operator.mul})


def reuse(function: ir.Function) -> None:
    """Compute in place where that is safe, in the reverse sweep of a function."""
    statements = function.block.statements
    start = next(
        (i for i, s in enumerate(statements)
         if isinstance(s, ir.Assign) and s.function is reverse_sweep), None,
    )  # fmt: skip
    if start is None:
        return
    reuser = _Reuser(function)
    tail = ir.Block(statements[start + 1 :])
    name_adjoints(tail, set())
    reuser.block(tail)
    statements[start + 1 :] = tail.statements
    if reuser.renamed:
        rename(function.block, reuser.resolve)


class _Reuser:
    def __init__(self, function: ir.Function) -> None:
        self.counts = use_counts(function.block)
        aliasing = Aliasing(function.block)
        shared = Counter(aliasing.find(v) for v in _arrays(function))
        self.alone = {v for v in _arrays(function) if shared[aliasing.find(v)] == 1}
        self.adjoints = {f"d_{v.name}" for v in _arrays(function) if v.user}
        self.renamed: dict[ir.Var, ir.Operand] = {}
        self.small: set[ir.Var] = set()

    def resolve(self, var: ir.Var) -> ir.Operand:
        operand: ir.Operand = var
        while isinstance(operand, ir.Var) and operand in self.renamed:
            operand = self.renamed[operand]
        return operand

    def block(self, block: ir.Block) -> None:
        owned: set[ir.Var] = set()  # arrays made in this block, that nothing else refers to
        used: dict[ir.Var, list[int]] = {}
        for position, s in enumerate(block.statements):
            for v in all_uses(ir.Block([s])):
                used.setdefault(v, []).append(position)
        for position, s in enumerate(block.statements):
            for inner in ir.blocks(s):
                self.block(inner)
            if not isinstance(s, ir.Assign):
                continue
            done = {
                v for v in owned & set(ir.uses(s))
                if used[v][-1] == position and len(used[v]) == self.counts[v]
                and used[v].count(position) == 1
            }  # fmt: skip
            buffer = self.buffer(s, done)
            if buffer is not None:
                block.statements[position] = self.in_place(s, buffer)
            small = _reduces(s) or any(v in self.small for v in ir.uses(s) if _alike(v, s.target))
            if small:
                self.small.add(s.target)
            elif (buffer is not None or makes_fresh(s)) and s.target in self.alone:
                owned.add(s.target)

    def buffer(self, s: ir.Assign, done: set[ir.Var]) -> ir.Var | None:
        """The operand into which a call may write its result."""
        kind = s.target.kind
        if s.function not in IN_PLACE or len(s.args) != 2 or not isinstance(kind, Array):
            return None
        if kind.dtype is None or kind.dtype.kind not in "fc" or not kind.shape:
            return None
        if any(number_kind(a) is None for a in s.args):
            return None
        for operand in s.args if s.function in COMMUTATIVE else s.args[:1]:
            if not isinstance(operand, ir.Var) or operand not in done or operand.kind != kind:
                continue
            root = self.resolve(operand)
            assert isinstance(root, ir.Var)
            if root.name not in self.adjoints or root.name == s.target.name:
                return operand
        return None

    def in_place(self, s: ir.Assign, buffer: ir.Var) -> ir.Assign:
        other = s.args[1] if s.args[0] is buffer else s.args[0]
        root = self.resolve(buffer)
        assert isinstance(root, ir.Var)
        adjoint = s.target.name.startswith("d_") and not root.name.startswith("d_")
        if not root.user and (s.target.user or s.target.name in self.adjoints or adjoint):
            root.name, root.user = s.target.name, s.target.user
        self.renamed[s.target] = buffer
        return ir.Assign(
            ir.Var("_", Opaque(None)), IN_PLACE[s.function], (buffer, other), (), s.span,
            writes=(buffer,),
        )  # fmt: skip


def _reduces(s: ir.Assign) -> bool:
    """Whether a result has only some of the dimensions of an operand."""
    wanted = _dimensions(s.target)
    for v in ir.uses(s):
        given = _dimensions(v)
        if wanted is not None and given is not None and not wanted - given and given - wanted:
            return True
    return False


def _dimensions(v: ir.Var) -> Counter[Any] | None:
    """The lengths of an array's axes that aren't 1."""
    if not isinstance(v.kind, Array) or v.kind.shape is None:
        return None
    return Counter(n for n in v.kind.shape if n != 1)


def _alike(a: ir.Var, b: ir.Var) -> bool:
    return isinstance(a.kind, Array) and a.kind == b.kind


def name_adjoints(block: ir.Block, adjoints: set[ir.Var]) -> None:
    """What is computed from adjoints is named so."""
    for s in block.statements:
        for inner in ir.blocks(s):
            name_adjoints(inner, adjoints)
        if not isinstance(s, ir.Assign) or not isinstance(s.target.kind, (Array, Scalar)):
            continue
        v = s.target
        dtype = v.kind.dtype  # type: ignore[attr-defined]
        if dtype is not None and dtype.kind not in "fc":
            continue
        if v.name.startswith("d_"):
            adjoints.add(v)
        elif not v.user and any(u in adjoints for u in ir.uses(s)):
            v.name = f"d_{v.name}"
            adjoints.add(v)


def _arrays(function: ir.Function) -> Iterator[ir.Var]:
    """The variables that a function defines, its parameters among them."""
    yield from function.params
    for s in ir.walk(function.block):
        if isinstance(s, ir.Loop):
            yield from s.params
        yield from ir.targets(s)
