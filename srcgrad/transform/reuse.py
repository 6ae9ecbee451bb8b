"""Buffer reuse: what is computed from an operand that is needed no more is computed in its place.

`t = a * b` becomes `a *= b` if `a` is an array that the same block made, of the shape and dtype
of the result, of which nothing else is a view and which is used no more. Allocating costs more
than multiplying from a few thousand numbers on. The adjoint of a variable of the user's keeps its
buffer, so that names say what is in them. The forward sweep keeps the user's spelling, but for a
variable that is given a new value made from its old one: `p = p * x + c` is `p *= x; p += c`. What
was reduced is small beside what it was reduced from: there an expression reads better, and costs
nothing. Runs last, as it writes memory.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator
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
    """Compute in place where that is safe."""
    statements = function.block.statements
    start = next(
        (i for i, s in enumerate(statements)
         if isinstance(s, ir.Assign) and s.function is reverse_sweep), None,
    )  # fmt: skip
    if start is None:
        return
    reuser = _Reuser(function)
    head = ir.Block(statements[:start])
    reuser.forward(head)
    statements[:start] = head.statements
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
        made = {
            t for s in ir.walk(function.block) if not isinstance(s, ir.Loop) for t in ir.targets(s)
            if not isinstance(s, ir.Assign) or not s.views
        }  # fmt: skip
        shared = {aliasing.find(v) for v in _arrays(function) if v not in made}
        shared |= {aliasing.find(v) for v in aliasing.contents.values()}
        # memory that only branches hand on, and nothing else refers to
        self.alone = {v for v in made if aliasing.find(v) not in shared}
        self.adjoints = {f"d_{v.name}" for v in _arrays(function) if v.user}
        self.kept = {v for v in _arrays(function) if aliasing.is_shared(v)}
        self.renamed: dict[ir.Var, ir.Operand] = {}
        self.small: set[ir.Var] = set()

    def resolve(self, var: ir.Var) -> ir.Operand:
        operand: ir.Operand = var
        while isinstance(operand, ir.Var) and operand in self.renamed:
            operand = self.renamed[operand]
        return operand

    def forward(self, block: ir.Block) -> None:
        """Compute in place what gives a variable its next value, outside loops and branches."""
        takers: dict[ir.Var, ir.Assign] = {}
        held: set[ir.Var] = set()  # what others than functions on arrays have seen
        for s in block.statements:
            simple = isinstance(s, ir.Assign) and not s.effect and s.function is not operator.call
            for v in all_uses(ir.Block([s])):
                if isinstance(s, ir.Assign) and simple:
                    takers[v] = s
                else:
                    held.add(v)

        def becomes(v: ir.Var) -> str | None:
            """The variable of the user's whose next value is computed from a value alone."""
            while not v.user:
                s = takers.get(v)
                if self.counts.get(v) != 1 or s is None or s.function not in IN_PLACE:
                    return None
                v = s.target
            return v.name

        def allowed(s: ir.Assign, operand: ir.Var) -> bool:
            root = self.resolve(operand)
            assert isinstance(root, ir.Var)
            if not root.user or {root, operand} & (held | self.kept):
                return False
            return becomes(s.target) == root.name

        self._statements(block, allowed)

    def block(self, block: ir.Block) -> None:
        def allowed(s: ir.Assign, operand: ir.Var) -> bool:
            root = self.resolve(operand)
            assert isinstance(root, ir.Var)
            return root.name not in self.adjoints or root.name == s.target.name

        for s in ir.walk(block):
            if isinstance(s, ir.Loop):
                self._statements(s.body, allowed, branches=True)
        self._statements(block, allowed, branches=True)

    def _statements(
        self,
        block: ir.Block,
        allowed: Callable[[ir.Assign, ir.Var], bool],
        owned: frozenset[ir.Var] = frozenset(),
        branches: bool = False,
    ) -> set[ir.Var]:
        """Compute in place in a block; the arrays that it owns at its end.

        It owns those made in it that nothing else refers to, and those that it is given.
        """
        mine = set(owned)
        used: dict[ir.Var, list[int]] = {}
        for position, s in enumerate(block.statements):
            for v in all_uses(ir.Block([s])):
                used.setdefault(v, []).append(position)
        results = {v for o in block.results for v in ir.variables(o)}

        def done(s: ir.Statement, position: int) -> set[ir.Var]:
            """The arrays owned that a statement is the last to use."""
            last = {v for v in mine & set(all_uses(ir.Block([s]))) if used[v][-1] == position}
            return {v for v in last - results if v in owned or len(used[v]) == self.counts[v]}

        for position, s in enumerate(block.statements):
            if isinstance(s, ir.If) and branches:
                given = done(s, position)
                mine -= given
                mine |= self._branches(s, allowed, frozenset(given))
            if not isinstance(s, ir.Assign):
                continue
            last = {v for v in done(s, position) if used[v].count(position) == 1}
            buffer = next((b for b in self.buffers(s, last) if allowed(s, b)), None)
            if buffer is not None:
                block.statements[position] = self.in_place(s, buffer)
            small = _reduces(s) or any(v in self.small for v in ir.uses(s) if _alike(v, s.target))
            if small:
                self.small.add(s.target)
            elif (buffer is not None or makes_fresh(s)) and s.target in self.alone:
                mine.add(s.target)
        return mine

    def _branches(
        self, s: ir.If, allowed: Callable[[ir.Assign, ir.Var], bool], given: frozenset[ir.Var]
    ) -> set[ir.Var]:
        """Compute in place in the branches of an `If`; those of its targets that it owns."""
        kept = [self._statements(b, allowed, given, True) for b in (s.then, s.orelse)]
        owned: set[ir.Var] = set()
        for target, *ends in list(zip(s.targets, s.then.results, s.orelse.results, strict=True)):
            if target in self.alone and all(
                isinstance(end, ir.Var) and end in mine and end.kind == target.kind
                and branch.results.count(end) == 1
                for end, mine, branch in zip(ends, kept, (s.then, s.orelse), strict=True)
            ):  # fmt: skip
                owned.add(target)
        return owned

    def buffers(self, s: ir.Assign, done: set[ir.Var]) -> Iterator[ir.Var]:
        """The operands into which a call may write its result."""
        kind = s.target.kind
        if s.function not in IN_PLACE or len(s.args) != 2 or not isinstance(kind, Array):
            return
        if kind.dtype is None or kind.dtype.kind not in "fc" or not kind.shape:
            return
        if any(number_kind(a) is None for a in s.args):
            return
        for operand in s.args if s.function in COMMUTATIVE else s.args[:1]:
            if isinstance(operand, ir.Var) and operand in done and operand.kind == kind:
                yield operand

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
