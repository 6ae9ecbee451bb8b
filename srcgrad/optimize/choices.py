"""The body of a loop without branches: both sides of an `if` are computed, and one is chosen.

    if x[i] > 0:                total = total + np.where(x[i] > 0, x[i], 0.0)
        total += x[i]      =>   y[i] = np.where(x[i] > 0, x[i], y[i])
        y[i] = x[i]

Only where that does no harm: what a branch does raises nothing, warns of nothing, and reads what is
there, whether the branch is taken or not. (What isn't chosen contributes no derivative: the rule of
`np.where` sees to that.) The loop isn't changed; these are other statements that do what it does.
"""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np

from .. import ir
from ..analysis.affine import Proof
from ..analysis.aliasing import Aliasing
from ..analysis.independence import Dependent
from ..analysis.keys import same_key
from ..kinds import Array, Scalar
from .operands import number_dtype

QUIET: frozenset[Any] = frozenset({
    operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.lt, operator.le,
    operator.gt, operator.ge, operator.eq, operator.ne, abs, np.add, np.subtract, np.multiply,
    np.negative, np.absolute, np.sign, np.sin, np.cos, np.tanh, np.arctan, np.maximum, np.minimum,
    np.where,
})  # fmt: skip
ADDITIONS = (operator.add, operator.sub)
Addition = tuple[ir.Assign, int]  # and the position of what is added


def without_branches(
    loop: ir.Loop, proof: Proof, aliasing: Aliasing, used: set[ir.Var]
) -> list[ir.Assign]:
    """The statements of a loop's body, with choices in place of its branches.

    Args:
        loop: the loop.
        proof: what is known where it is.
        aliasing: which variables share memory.
        used: the variables that are asked for, in it or after it.

    Raises:
        Dependent: there is something else in it, or a branch that may do harm.
    """
    return _Choices(loop, proof, aliasing, used).block(loop.body)


def are_quiet(statements: list[ir.Assign], loop: ir.Loop, proof: Proof, aliasing: Aliasing) -> bool:
    """Whether calls of a loop's body raise nothing, and warn of nothing, whatever the numbers."""
    choices = _Choices(loop, proof, aliasing, set())
    return all(map(choices.is_quiet, statements))


class _Choices:
    def __init__(self, loop: ir.Loop, proof: Proof, aliasing: Aliasing, used: set[ir.Var]) -> None:
        self.proof, self.aliasing, self.used = proof, aliasing, used
        self.moving: set[ir.Var | None] = {loop.index}
        # numbers that are added to, from the first to the last
        self.carried = dict.fromkeys(loop.params)

    def varies(self, *operands: ir.Operand) -> bool:
        return any(not self.moving.isdisjoint(ir.variables(o)) for o in operands)

    def block(self, block: ir.Block) -> list[ir.Assign]:
        found: list[ir.Assign] = []
        for s in block.statements:
            if isinstance(s, ir.Loop) or (isinstance(s, ir.Assign) and s.effect):
                raise Dependent("a loop or an effect")
            for made in self.chosen(s) if isinstance(s, ir.If) else [s]:
                if self.varies(*made.operands()):
                    self.moving.add(made.target)
                if made.function in ADDITIONS and any(v in self.carried for v in ir.uses(made)):
                    self.carried[made.target] = None
                found.append(made)
        return found

    def chosen(self, s: ir.If) -> list[ir.Assign]:
        """What an `if` does, as choices."""
        kind = s.test.kind if isinstance(s.test, ir.Var) else None
        if not (isinstance(kind, Scalar) and kind.dtype == bool and self.varies(s.test)):
            raise Dependent("a test that is the same in each iteration, or none of a bool")
        sides = (self.block(s.then), self.block(s.orelse))
        asked = [v for side in sides for made in side for v in ir.uses(made)]
        results = zip(s.targets, s.then.results, s.orelse.results, strict=True)
        asked += [
            v for t, *ends in results if t in self.used for o in ends for v in ir.variables(o)
        ]
        if not all(v.assured for v in asked):
            raise Dependent("what has a value only if a branch is taken")
        stores = tuple([w for w in side if w.function is operator.setitem] for side in sides)
        links: set[ir.Assign] = set()
        after: list[ir.Assign] = []
        for t, *ends in zip(s.targets, s.then.results, s.orelse.results, strict=True):
            if t not in self.used:
                continue
            if ir.UNDEFINED in ends:
                raise Dependent("what may be undefined")
            for start in self.carried:
                paths = [_path(end, start, side) for end, side in zip(ends, sides, strict=True)]
                if None not in paths and any(paths):
                    after += self.additions(s, start, paths, t, links)
                    break
            else:
                after.append(self.choice(s, t, *ends))
        for k in (0, 1):
            for store in list(stores[k]):
                if store in stores[k]:
                    after += self.stored(s, k, store, sides, stores, links)
        calls = [c for side in sides for c in side if c not in links]
        calls = [c for c in calls if c.function is not operator.setitem]
        inner = {link.target for link in links}
        if any(not inner.isdisjoint(ir.uses(c)) for c in (*calls, *after)):
            raise Dependent("a sum that is asked for")
        self.check(calls, sides)
        return [*calls, *after]

    def check(self, calls: list[ir.Assign], sides: tuple[list[ir.Assign], ...]) -> None:
        """Refuse what can't be done where the branch isn't taken, or not before what is stored."""
        if not all(map(self.is_quiet, calls)):
            raise Dependent("what may do harm if the branch isn't taken")
        for side in sides:
            stored: set[ir.Var] = set()
            for s in side:
                if s in calls and not stored.isdisjoint(self.aliasing.held_by(ir.uses(s))):
                    raise Dependent("what is stored is asked for")
                stored |= self.aliasing.written_by(s)

    def is_quiet(self, s: ir.Assign) -> bool:
        """Whether a call raises nothing, and warns of nothing, whatever the numbers."""
        if s.kwargs or s.writes:
            return False
        if s.function is operator.getitem and isinstance(s.args[0], ir.Var):
            return isinstance(s.target.kind, Scalar) and self.proof.is_inside(s.args[0], s.args[1])
        if not all(isinstance(getattr(o, "kind", _NUMBER), Scalar) for o in s.args):
            return False
        if s.function in (operator.pow, operator.truediv):
            right = s.args[1].value if isinstance(s.args[1], ir.Const) else 0
            whole = s.function is operator.truediv or right in (1, 2, 3)
            return isinstance(right, (int, float)) and bool(right) and whole
        return s.function in QUIET

    def choice(self, s: ir.If, target: ir.Var, then: ir.Operand, orelse: ir.Operand) -> ir.Assign:
        """What is one thing where the test is true, and else another one."""
        if not isinstance(target.kind, Scalar):
            raise Dependent("a choice of arrays")
        if target.kind.dtype.kind != "b" and any(
            number_dtype(e) == np.bool_ for e in (then, orelse)
        ):
            raise Dependent("a truth value or a number")
        return ir.Assign(target, np.where, (s.test, then, orelse), span=s.span)

    def additions(
        self, s: ir.If, start: ir.Var, paths: list[Any], end: ir.Var, links: set[ir.Assign]
    ) -> list[ir.Assign]:
        """What both branches add to a number, or zero where a branch isn't taken."""
        if not (isinstance(end.kind, Scalar) and end.kind.dtype.kind == "f"):
            raise Dependent("a sum of other numbers")
        links.update(link for path in paths for link, _ in path)
        if (
            all(len(path) == 1 for path in paths)
            and paths[0][0][0].function is paths[1][0][0].function
        ):
            (link, position), (other, place) = (path[0] for path in paths)
            terms = [(link, position, (link.args[position], other.args[place]))]
        else:
            zero = ir.Const(0.0)
            terms = [(link, p, (link.args[p], zero)) for link, p in paths[0]]
            terms += [(link, p, (zero, link.args[p])) for link, p in paths[1]]
        made: list[ir.Assign] = []
        for link, position, pair in terms:
            term = self.choice(s, ir.Var("term", Scalar(end.kind.dtype, False)), *pair)
            args = (start, term.target) if position else (term.target, start)
            start = ir.Var(end.name, end.kind)
            made += [term, ir.Assign(start, link.function, args, span=link.span)]
        made[-1].target = end
        return made

    def stored(
        self, s: ir.If, side: int, store: ir.Assign, sides: tuple[list[ir.Assign], ...],
        stores: tuple[list[ir.Assign], ...], links: set[ir.Assign],
    ) -> list[ir.Assign]:  # fmt: skip
        """A store in a branch: what isn't chosen is stored again, or nothing added to it."""
        array, key, value = store.args
        kind = array.kind if isinstance(array, ir.Var) else None
        if not (isinstance(array, ir.Var) and isinstance(kind, Array) and kind.dtype is not None):
            raise Dependent("a store into something else")
        number = Scalar(kind.dtype, False)
        read = ir.Assign(
            ir.Var(array.name, number), operator.getitem, (array, key), span=store.span
        )
        ends: list[ir.Operand] = [read.target, read.target]
        ends[side] = value
        root = self.aliasing.find(array)
        others = (w for w in stores[1 - side] if root in self.aliasing.written_by(w))
        twins = [w for w in itertools.islice(others, 1) if w.args[0] is array]  # in order
        twins = [w for w in twins if same_key(w.args[1], key)]
        if twins:
            stores[1 - side].remove(twins[0])
            ends[1 - side] = twins[0].args[2]
        whole = kind.rank == len(ir.items_of(key)) and self.proof.is_inside(array, key)
        if not whole or kind.dtype.kind != "f" or any(number_dtype(e) != kind.dtype for e in ends):
            raise Dependent("a store of more than a number, or of another one")
        made, stays = [read], not self.varies(key)
        result = ir.Var(array.name, number)
        if stays:
            paths: list[Any] = []
            for end, own in zip(ends, sides, strict=True):
                paths.append([] if end is read.target else None)
                for r in own:
                    taken = r.function is operator.getitem and r.args[0] is array
                    path = _path(end, r.target, own) if taken and same_key(r.args[1], key) else None
                    if path:
                        paths[-1] = path
                        links.add(r)
            if None in paths:
                raise Dependent("a place that is written by all")
            made += self.additions(s, read.target, paths, result, links)
        else:
            made.append(self.choice(s, result, *ends))
            made = made[1:] if twins else made
        again = ir.Assign(
            store.target, operator.setitem, (array, key, result), (), store.span, store.views,
            store.certain, store.writes,
        )  # fmt: skip
        return [*made, again]


_NUMBER = Scalar(np.dtype(float))


def _path(end: ir.Operand, start: ir.Operand, side: list[ir.Assign]) -> list[Addition] | None:
    """The additions that lead from one number to another; None if it isn't made by such."""
    if end is start:
        return []
    made = next((s for s in side if s.target is end and s.function in ADDITIONS), None)
    if made is None or made.kwargs:
        return None
    for position, operand in enumerate(made.args):
        if position == 0 or made.function is operator.add:
            before = _path(operand, start, side)
            if before is not None:
                return [*before, (made, 1 - position)]
    return None
