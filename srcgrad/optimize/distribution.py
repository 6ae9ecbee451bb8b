"""What a loop only adds to is added after it, on whole arrays.

    for i in reversed(range(1, n)):                for i in reversed(range(1, n)):
        d_y[i - 1] += c * d_y[i]             =>        d_y[i - 1] += c * d_y[i]
        d_c[0] += y[i - 1] * d_y[i]                d_c[0] += d_y[1:] @ y[:-1]

That is loop distribution: the gradient of a recurrence has to go step by step, but what it adds to
the adjoints of its coefficients and inputs nothing in the loop asks for. Such an addition may come
later if all that it is made of is still there: numbers read where the loop writes nothing after it
(`Regions.lasts`), and what is computed of them. It gets a loop of its own, over the part of the
range where the tests around it that compare the index are true. If that loop can't become
operations on whole arrays (`vectorizing`), everything stays as it was.
"""

from __future__ import annotations

import contextlib
import itertools
import operator
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .. import ir
from ..analysis.affine import ORDER, Proof
from ..analysis.aliasing import holds_memory
from ..analysis.keys import same_key
from ..analysis.regions import Regions
from ..frontend.lower import Lowerer
from ..kinds import Array, Scalar
from .prune import prune
from .vectorizing import Loops

Guard = tuple[ir.If, bool]  # a branch, and whether it is the one where the test is true
Range = tuple[ir.Operand, ir.Operand, ir.Operand]


def distribute(function: ir.Function, low: Lowerer) -> bool:
    """Move what the loops of a function only add to behind them, in place; whether there was any.

    Loops within loops stay as they are: rows may be short, and outer loops run on lists.

    Args:
        function: the program, of which both sweeps are recorded.
        low: emits statements.
    """
    loops, done = None, False
    for block in _outside_loops(function.block):
        for loop in [s for s in block.statements if isinstance(s, ir.Loop)]:
            if _has_additions(loop):
                loops = loops or Loops(function, low, [])
                done |= _moved(block, _Parts(loop, loops), loops)
    if done:
        prune(function)  # what was only added, in the loops
    return done


def _outside_loops(block: ir.Block) -> Iterator[ir.Block]:
    """A block and those of the branches in it."""
    yield block
    for s in block.statements:
        if isinstance(s, ir.If):
            for inner in ir.blocks(s):
                yield from _outside_loops(inner)


def _has_additions(loop: ir.Loop) -> bool:
    """Whether it is worth looking for additions in a loop."""
    body = list(ir.walk(loop.body))
    return (
        loop.index is not None and not loop.exits and not any(isinstance(s, ir.Loop) for s in body)
        and (any(isinstance(p.kind, Scalar) for p in loop.params)
             or any(isinstance(s, ir.Assign) and s.function is operator.setitem for s in body))
    )  # fmt: skip


def _moved(block: ir.Block, parts: _Parts, loops: Loops) -> bool:
    """Move the additions that can be made on whole arrays; whether there are any."""
    groups: dict[object, list[_Addition]] = {}
    for addition in parts.additions:
        groups.setdefault(addition.where(), []).append(addition)
    done = False
    for group in groups.values():
        for several in [group] if len(group) == 1 else [group, *([a] for a in group)]:
            if any(a.moved for a in several):
                continue  # with the others
            if _whole(block, parts, several, loops):
                for addition in several:
                    addition.moved = True
                    if isinstance(addition.end, ir.Assign):
                        parts.places[addition.end].statements.remove(addition.end)
                done = True
    return done


def _whole(block: ir.Block, parts: _Parts, several: list[_Addition], loops: Loops) -> bool:
    """Make several additions on whole arrays, behind the loop, if that can be done."""
    at = block.statements.index(parts.loop) + 1
    carried = [a.end for a in several if isinstance(a.end, ir.Var)]
    for tested in (False,) if carried else (False, True):
        loop = parts.own_loop(several)
        inner, around = ir.Block([loop]), ir.Block([loop])
        if tested:
            start, stop, step = loop.range  # type: ignore[misc]
            if not ir.is_constant(step, 1):
                start, stop = stop, start  # -1, or it can't be done
            around = ir.Block()
            loops.low.block, outer = around, loops.low.block
            runs = loops.low.emit(operator.gt, (stop, start))
            loops.low.block = outer
            around.statements.append(ir.If(runs, inner, ir.Block(), (), loop.span))
        count = len(around.statements)
        block.statements[at:at] = around.statements
        loops.look()
        made = loops.loop(loop, [(runs, True)] if tested else [])
        if made is not None:
            if tested:
                inner.statements[:] = made
            else:
                block.statements[at : at + 1] = made
            targets = [parts.forget(p) for p in carried]
            ir.rename(loops.function.block, dict(zip(targets, loop.targets, strict=True)))
            loops.look()
            return True
        del block.statements[at : at + count]
    loops.look()
    return False


@dataclass(eq=False)
class _Addition:
    """What a loop adds to a place of an array, or to a number that it carries."""

    end: ir.Assign | ir.Var  # the statement that stores it, or the loop's parameter
    made_of: tuple[ir.Assign, ...]  # in order
    range: Range
    guards: tuple[Guard, ...]  # those that don't follow from the range
    moved: bool = False

    def where(self) -> object:
        """What is the same of additions that may share a loop."""
        ends = (o.value if isinstance(o, ir.Const) else o for o in self.range)
        return (*ends, *((id(s), true) for s, true in self.guards))


class _Stays(Exception):
    """Something in a loop that can't be done after it."""


class _Parts:
    """The additions of a loop that may be made after it.

    Attributes:
        additions: those, each with all that it is made of.
        places: of the stores, the blocks that they stand in.
    """

    def __init__(self, loop: ir.Loop, loops: Loops) -> None:
        self.loop, self.aliasing = loop, loops.aliasing
        self.made: dict[ir.Var, ir.Assign] = {}
        self.order: dict[ir.Assign, int] = {}
        self.guards: dict[ir.Assign, tuple[Guard, ...]] = {}
        self.places: dict[ir.Assign, ir.Block] = {}
        self.readers: dict[ir.Operand, ir.Assign] = {}  # of each variable, the first
        self._visit(loop.body, (), itertools.count(1))
        self.inside = {loop.index, *loop.params}
        for s in ir.walk(loop.body):
            self.inside.update(ir.targets(s))
        self.uses = Counter(ir.all_uses(loop.body))
        self.proof = Proof(loops.integers, loops.function.params)
        self.additions: list[_Addition] = []
        self._find()

    def _visit(self, block: ir.Block, guards: tuple[Guard, ...], numbers: Iterator[int]) -> None:
        for s in block.statements:
            number = next(numbers)
            if isinstance(s, ir.Assign):
                self.made[s.target], self.order[s], self.guards[s] = s, number, guards
                for operand in s.args:
                    self.readers.setdefault(operand, s)
                if s.function is operator.setitem:
                    self.places[s] = block
            elif isinstance(s, ir.If):
                self._visit(s.then, (*guards, (s, True)), numbers)
                self._visit(s.orelse, (*guards, (s, False)), numbers)

    def _find(self) -> None:
        """Find the additions to arrays that the loop does nothing else with."""
        find = self.aliasing.find
        memory = Counter(
            root for v in self.uses.elements() if holds_memory(v.kind)
            for root in self.aliasing.classes(v)
        )  # fmt: skip
        chains: dict[ir.Var, list[tuple[ir.Assign, ...]]] = {}
        for s in self.places:
            chain = self._chain(s)
            if chain is not None:
                chains.setdefault(find(s.args[0]), []).append(chain)  # type: ignore[arg-type]
        # each addition asks for its array twice, and writes it
        found: list[tuple[ir.Assign | ir.Var, tuple[ir.Assign, ...]]] = [
            (chain[-1], chain) for root, several in chains.items()
            if memory[root] == 2 * len(several) and self._is_in_turn(several) for chain in several
        ]  # fmt: skip
        found += [(p, links) for p in self.loop.params if (links := self._links(p))]
        if not found:
            return
        self.written = self.aliasing.written_by(self.loop)
        self.regions = Regions(ir.Block([self.loop]), self.aliasing)
        for end, chain in found:
            with contextlib.suppress(_Stays):
                self.additions.append(self._addition(end, chain))

    def _is_in_turn(self, chains: list[tuple[ir.Assign, ...]]) -> bool:
        """Whether each of several additions to some memory is done when the next one reads it."""
        ends = sorted((self.order[chain[0]], self.order[chain[-1]]) for chain in chains)
        return all(one[1] < other[0] for one, other in itertools.pairwise(ends))

    def _links(self, p: ir.Var) -> tuple[ir.Assign, ...]:
        """The additions that lead from a number that the loop carries to what it is next."""
        end = self.loop.body.results[self.loop.params.index(p)]
        links: list[ir.Assign] = []
        at: ir.Operand = p
        while at is not end:
            s = self.readers.get(at)
            if s is None or s.kwargs or self.guards[s] or self.uses[at] != 1:  # type: ignore[index]
                return ()
            if s.function is not operator.add and (s.function, s.args[0]) != (operator.sub, at):
                return ()
            links.append(s)
            at = s.target
        kind = p.kind
        number = isinstance(kind, Scalar) and kind.dtype.kind in "fc"
        return tuple(links) if number and self.uses[at] == 1 else ()  # type: ignore[index]

    def forget(self, p: ir.Var) -> ir.Var:
        """Let the loop no longer carry a number; returns what it was at the end."""
        loop, k = self.loop, self.loop.params.index(p)
        target = loop.targets[k]
        loop.params, loop.inits = _without(loop.params, k), _without(loop.inits, k)
        loop.targets = _without(loop.targets, k)
        loop.body.results = _without(loop.body.results, k)
        return target

    def _chain(self, store: ir.Assign) -> tuple[ir.Assign, ...] | None:
        """What is read, what is added to it and what is stored, if all that is at one place."""
        array, key, value = store.args
        kind = array.kind if isinstance(array, ir.Var) else None
        if not isinstance(kind, Array) or kind.dtype is None or kind.dtype.kind not in "fc":
            return None
        added = self.made.get(value) if isinstance(value, ir.Var) else None
        if array in self.inside or added is None or added.kwargs or self.uses[added.target] != 1:
            return None
        if added.function not in (operator.add, operator.sub):
            return None
        for operand in added.args[: 2 if added.function is operator.add else 1]:
            read = self.made.get(operand) if isinstance(operand, ir.Var) else None
            if (
                read is not None and read.function is operator.getitem and read.args[0] is array
                and same_key(read.args[1], key) and self.uses[read.target] == 1
                and isinstance(read.target.kind, Scalar) and not self.uses[store.target]
            ):  # fmt: skip
                return read, added, store
        return None

    def _addition(self, end: ir.Assign | ir.Var, chain: tuple[ir.Assign, ...]) -> _Addition:
        """An addition with all that it is made of."""
        found = dict.fromkeys(chain)
        linked = {end, *(s.target for s in chain)}
        needed = [v for s in chain for v in ir.uses(s) if v not in linked]
        bounds, guards = self.loop.range, []
        for s, true in self.guards[chain[-1]]:
            narrower = self._narrowed(bounds, s.test, true)  # type: ignore[arg-type]
            if narrower is None:
                guards.append((s, true))
                needed += ir.variables(s.test)
            bounds = narrower or bounds
        for v in needed:  # grows
            made = self.made.get(v)
            if made is None:
                if v in self.inside and v is not self.loop.index:
                    raise _Stays
            elif made not in found:
                self._check(made)
                found[made] = None
                needed += ir.uses(made)
        made_of = tuple(sorted(found, key=self.order.__getitem__))
        return _Addition(end, made_of, bounds, tuple(guards))  # type: ignore[arg-type]

    def _check(self, s: ir.Assign) -> None:
        """Raise if what a statement computes may be another number after the loop."""
        numbers = [v for v in ir.uses(s) if not isinstance(v.kind, Scalar)]
        if s.effect or s.writes or s.kwargs or not isinstance(s.target.kind, Scalar):
            raise _Stays
        if isinstance(s.function, ir.Unit):
            raise _Stays
        if not numbers:
            return
        array = s.args[0]
        if s.function is not operator.getitem or numbers != [array] or array in self.inside:
            raise _Stays
        assert isinstance(array, ir.Var)
        if not isinstance(array.kind, Array):
            raise _Stays
        if self.aliasing.find(array) in self.written:
            if not self.regions.lasts(array, self.order[s], (self.loop,), s.args[1]):
                raise _Stays

    def _narrowed(self, bounds: Range, test: ir.Operand, true: bool) -> Range | None:
        """The part of a range where a comparison of the index is true; None if it is no such."""
        s = self.made.get(test) if isinstance(test, ir.Var) else None
        start, stop, step = bounds
        if s is None or s.function not in ORDER or not ir.is_constant(step, 1):
            return None
        more, strict = ORDER[s.function]
        left, right = s.args if more else s.args[::-1]  # left > right
        strict = strict if true else not strict
        if not true:
            left, right = right, left
        if left is self.loop.index and self._is_outer(right):
            lowest = self._plus(right, int(strict))
            if lowest is not None and self._is_less(start, lowest):
                return lowest, stop, step
        if right is self.loop.index and self._is_outer(left):
            beyond = self._plus(left, int(not strict))
            if beyond is not None and self._is_less(beyond, stop):
                return start, beyond, step
        return None

    def _is_outer(self, operand: ir.Operand) -> bool:
        return self.inside.isdisjoint(ir.variables(operand))

    @staticmethod
    def _plus(operand: ir.Operand, more: int) -> ir.Operand | None:
        if isinstance(operand, ir.Const) and type(operand.value) is int:
            return ir.Const(operand.value + more)
        return operand if isinstance(operand, ir.Var) and not more else None

    def _is_less(self, one: ir.Operand, other: ir.Operand) -> bool:
        """Whether a bound is surely no more than another."""
        a, b = self.proof.of(one), self.proof.of(other)
        return a is not None and b is not None and self.proof.is_natural(b - a)

    def own_loop(self, several: list[_Addition]) -> ir.Loop:
        """A loop that makes some additions, with variables of its own."""
        first = several[0]
        within: dict[ir.Statement, tuple[Guard, ...]] = dict(self.guards.items())
        chosen = dict.fromkeys(s for a in several for s in a.made_of)
        statements: list[ir.Statement] = sorted(chosen, key=self.order.__getitem__)  # type: ignore[arg-type]
        for k, (s, true) in reversed(list(enumerate(first.guards))):
            inner = [c for c in statements if (s, true) in within[c]]
            statements = [c for c in statements if c not in inner]
            sides = (ir.Block(inner), ir.Block())
            then, orelse = sides if true else sides[::-1]
            statements.append(ir.If(s.test, then, orelse, (), s.span))
            within[statements[-1]] = first.guards[:k]
        whole = self.loop
        carried = [whole.params.index(a.end) for a in several if isinstance(a.end, ir.Var)]
        loop = ir.Loop(
            whole.index, first.range,
            tuple(whole.params[k] for k in carried), tuple(whole.inits[k] for k in carried),
            ir.Block(statements, tuple(whole.body.results[k] for k in carried)),
            tuple(whole.targets[k] for k in carried), span=whole.span,
        )  # fmt: skip
        copy = ir.twin(loop)
        assert isinstance(copy, ir.Loop)
        return copy


def _without(several: tuple[Any, ...], k: int) -> tuple[Any, ...]:
    """All but one of several things."""
    return several[:k] + several[k + 1 :]
