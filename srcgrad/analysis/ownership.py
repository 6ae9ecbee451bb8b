"""Values that have one name, so that nobody sees whether an augmented assignment writes them.

`r += c` writes into `r` if that is an array, and makes another number if it is one. Where only the
run knows which, `r + c` stands for both: that is right if `r` was made here and has no other name
that is read later, as in `r = 0`, to which a loop adds what may be an array.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .. import ir, runtime
from ..kinds import Array, Scalar

CHECKS = (runtime.check_unwritten, runtime.check_as_written)


def settle_augmented(block: ir.Block, shown: list[ir.Var]) -> None:
    """Leave out the checks that nothing is written where nobody would see it.

    `shown` is what is returned beside the block's results.
    """
    statements = (s for s in ir.walk(block) if isinstance(s, ir.Assign))
    if any(s.function is runtime.check_unwritten for s in statements):
        ownership = Ownership(block, shown)
        for inside in ir.all_blocks(block):
            following = zip(inside.statements, (*inside.statements[1:], None), strict=False)
            inside.statements = [
                s for s, after in following if not _is_needless(s, after, ownership)
            ]


def _is_needless(s: ir.Statement, after: ir.Statement | None, ownership: Ownership) -> bool:
    """Whether a statement checks that nothing is written that is nobody else's in the end."""
    if not isinstance(s, ir.Assign) or s.function is not runtime.check_unwritten:
        return False
    array, last = s.args[0], s
    assert isinstance(array, ir.Var)
    if isinstance(after, ir.Assign) and after.function is runtime.check_as_written:
        last = after
    return isinstance(array.kind, Array) and ownership.ends(array, last)


Path = tuple[tuple[ir.Statement, int], ...]  # the statements around a place, with the block of each


@dataclass(eq=False)
class Use:
    """A place where a variable is read. `keeps`: the value has another name then."""

    number: int
    path: Path
    keeps: bool


@dataclass(eq=False)
class Ownership:
    """Where each variable of a block is made and read, in the order of the program."""

    block: ir.Block
    shown: list[ir.Var]
    made: dict[ir.Var, tuple[Path, ir.Assign | None]] = field(default_factory=dict)
    uses: dict[ir.Var, list[Use]] = field(default_factory=dict)
    met: dict[ir.Var, list[tuple[ir.Operand, Use]]] = field(default_factory=dict)
    read_by: dict[tuple[ir.Var, ir.Assign], Use] = field(default_factory=dict)
    number: int = 0

    def __post_init__(self) -> None:
        self._visit(self.block, ())
        self._read((*self.block.results, *self.shown), (), keeps=True)

    def ends(self, var: ir.Var, statement: ir.Assign) -> bool:
        """Whether a value is made here, has no other name, and isn't read after a statement."""
        return self._is_last(var, self.read_by[var, statement], set())

    def _is_last(self, var: ir.Var, last: Use, assumed: set[Use]) -> bool:
        if last in assumed:  # it holds for the trip before
            return True
        assumed.add(last)
        if var not in self.made:
            return False
        path, statement = self.made[var]
        if any(isinstance(s, ir.Loop) for s, _ in last.path[len(path) :]):
            return False
        for use in self.uses[var]:
            if use is last or _excludes(use.path, last.path):
                continue
            if use.keeps or use.number >= last.number:
                return False
        if statement is not None:
            return not (statement.views or statement.writes)
        return all(
            isinstance(end, ir.Const)
            or (isinstance(end, ir.Var) and self._is_last(end, handed, assumed))
            for end, handed in self.met[var]
        )

    def _visit(self, block: ir.Block, path: Path) -> None:
        for s in block.statements:
            if isinstance(s, ir.Assign):
                use = self._read(s.operands(), path, s.function not in CHECKS and _keeps(s))
                self.read_by.update(((v, s), use) for v in ir.uses(s))
                self._read(s.views, path, keeps=True)
                self.made[s.target] = path, s
                continue
            self._read(ir.uses(s), path, keeps=False)
            ends = [] if isinstance(s, ir.If) else [self._hand_on(s.inits, path)]
            params = () if isinstance(s, ir.If) else s.params
            for k, inner in enumerate(ir.blocks(s)):
                inside = (*path, (s, k))
                self.made.update((v, (inside, None)) for v in params)
                self._visit(inner, inside)
                ends.append(self._hand_on(inner.results, inside))
            self.made.update((v, (path, None)) for v in s.targets)
            for joined in (s.targets, params):
                self.met.update(zip(joined, map(list, zip(*ends, strict=False)), strict=False))

    def _hand_on(self, operands: Iterable[ir.Operand], path: Path) -> list[tuple[ir.Operand, Use]]:
        """Operands that other variables stand for from here on."""
        return [(operand, self._read((operand,), path, keeps=True)) for operand in operands]

    def _read(self, operands: Iterable[ir.Operand], path: Path, keeps: bool) -> Use:
        self.number += 1
        use = Use(self.number, path, keeps)
        for v in ir.variables_of(operands):
            self.uses.setdefault(v, []).append(use)
        return use


def _keeps(s: ir.Assign) -> bool:
    """Whether a statement may give what it reads another name."""
    return not isinstance(s.target.kind, (Array, Scalar)) or bool(s.writes) or s.effect


def _excludes(one: Path, other: Path) -> bool:
    """Whether two places are on different branches of a statement."""
    for (s, k), (t, m) in zip(one, other, strict=False):
        if s is not t:
            return False
        if k != m:
            return True
    return False
