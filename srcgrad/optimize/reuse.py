"""Buffer reuse: what is computed from an operand that is needed no more is computed in its place.

`t = a * b` becomes `a *= b` if `a` is an array that the same block made, of the shape and dtype
of the result, and neither it nor anything that may share its memory is used again. Allocating costs
more than multiplying from a few thousand numbers on. Names go on saying what is in them: the two
are one variable where both are temporaries, or where a variable of the user's is given a new value
made from its old one; else the result has a name of its own, `p = np.exp(a, out=a)`. An operand
that is used once only stays part of the user's expression in the forward sweep. What was reduced is
small beside what it was reduced from: there an expression reads better, and costs nothing. Runs
last, as it writes memory.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import ir
from ..analysis.aliasing import Aliasing, holds_memory
from ..analysis.elementwise import (
    COMMUTATIVE,
    IN_PLACE,
    WITH_OUT,
    is_elementwise,
    makes_fresh,
    number_kind,
)
from ..kinds import Array, Opaque, Scalar
from ..transform.layouts import layouts_matter
from .footprint import Footprint
from .keeping import seen_by_others
from .popped import Popped, own_once_popped


def reuse(function: ir.Function, cut: bool = False) -> None:
    """Compute in place where that is safe.

    `cut`: the sweeps become two functions, of which the second may be called more than once, and
    leaves what the first has made as it is.
    """
    statements = function.block.statements
    start = ir.sweep_start(function)
    if start is None:
        return
    name_adjoints(ir.Block(statements[start:]), set())
    reuser = Reuser(function)
    if cut:
        reuser.untouchable = {
            v for s in ir.walk(ir.Block(statements[:start])) for v in ir.targets(s)
        }
    else:
        reuser.own(own_once_popped(function))
    reuser.function(start)
    ir.rename(function.block, reuser.renamed)


@dataclass
class Fate:
    """What becomes, in a block, of variables that may share memory.

    `free`: all are defined and used in the block alone. `last` is the last use of one in it.
    """

    members: set[ir.Var]
    free: bool
    last: int


@dataclass
class Place:
    """A block, and where the variables of the function are defined and used in it.

    `lent` are arrays from around the block that only this block still uses, and what may share
    their memory.
    """

    block: ir.Block
    lent: frozenset[ir.Var]
    used: dict[ir.Var, list[int]] = field(default_factory=dict)
    defined: set[ir.Var] = field(default_factory=set)
    mine: set[ir.Var] = field(default_factory=set)  # arrays in whose place others may be computed
    known: dict[int, Fate] = field(default_factory=dict)  # of what shares memory, by the set's id

    def __post_init__(self) -> None:
        for position, s in enumerate(self.block.statements):
            one = ir.Block([s])
            for v in ir.all_uses(one):
                self.used.setdefault(v, []).append(position)
            for inner in ir.walk(one):
                self.defined.update(ir.targets(inner))
                if isinstance(inner, ir.Loop):
                    self.defined.update(inner.params)


class Reuser:
    """Computes in place in the blocks of a function."""

    def __init__(self, function: ir.Function) -> None:
        self.block = function.block
        self.counts = ir.use_counts(function.block)
        aliasing = Aliasing(function.block, function.together)
        classes: dict[ir.Var, set[ir.Var]] = {}
        for v in _variables(function):
            if holds_memory(v.kind):
                classes.setdefault(aliasing.find(v), set()).add(v)
        self.sharing = {v: members for members in classes.values() for v in members}
        kept = {aliasing.find(v) for v in aliasing.contents.values()}
        seen = seen_by_others(ir.walk(function.block))
        kept |= {aliasing.find(v) for v in seen if holds_memory(v.kind)}
        self.held = {v for root in kept & classes.keys() for v in classes[root]}
        self.adjoints = {f"d_{v.name}" for v in _arrays(function) if v.user}
        self.renamed = ir.Renaming()
        self.small: set[ir.Var] = set()
        self.named: set[ir.Var] = set()  # results that are not part of an expression any more
        self.untouchable: set[ir.Var] = set()  # for the reverse sweep
        self.forward: set[ir.Var] = set()  # made by the forward sweep
        self.popped: dict[ir.Var, Popped] = {}  # from records, which alone referred to them
        self.takers: dict[ir.Var, ir.Assign] = {}
        self.scarce, self.crowded = Footprint(function).found()
        self.laid_out = layouts_matter(function, aliasing)

    def own(self, popped: dict[ir.Var, Popped]) -> None:
        """Have arrays for one's own once they are popped."""
        self.popped = popped
        for v in popped.values():
            self.sharing.update(dict.fromkeys(v.sharing, v.sharing))
            self.held -= v.sharing

    def function(self, start: int) -> None:
        """Compute in place in both sweeps, of which the second begins at a position."""
        statements = self.block.statements
        for s in ir.walk(ir.Block(statements[:start])):
            if isinstance(s, ir.Assign):
                self.takers.update((v, s) for v in ir.uses(s))
        self.forward = {v for s in ir.walk(ir.Block(statements[:start])) for v in ir.targets(s)}
        for position, s in enumerate(statements):
            for inner in ir.walk(ir.Block([s])):
                if isinstance(inner, ir.Loop):
                    self.statements(inner.body, position > start)
        self.statements(self.block, False, start)

    def statements(
        self,
        block: ir.Block,
        reverse: bool,
        start: int | None = None,
        lent: frozenset[ir.Var] = frozenset(),
        given: frozenset[ir.Var] = frozenset(),
    ) -> set[ir.Var]:
        """Compute in place in a block; the arrays that it owns at its end.

        It owns those made in it that nothing else refers to, and those that it is given, of those
        that it is lent.
        """
        place = Place(block, lent, mine=set(given))
        for position, s in enumerate(block.statements):
            reverse = reverse or position == start
            if isinstance(s, ir.If) and reverse:
                self.branches(place, s, position)
            if not isinstance(s, ir.Assign):
                continue
            made = self.in_place(place, s, position, reverse)
            if made is not None:
                block.statements[position] = made
            popped = self.popped.get(s.target)
            alike = [v for v in ir.uses(s) if _alike(v, s.target)]
            alike += [popped.before] if popped is not None else []
            if _reduces(s) or not self.small.isdisjoint(alike):
                self.small.add(s.target)
            if made is not None or makes_fresh(s) or popped is not None:
                if s.target not in self.held:
                    place.mine.add(s.target)
        return place.mine

    def branches(self, place: Place, s: ir.If, position: int) -> None:
        """Compute in place in the branches of an `If`, and own those of its targets that they own.

        What only the branches still use, they are lent.
        """
        given = frozenset(
            v for v in place.mine & set(ir.all_uses(ir.Block([s])))
            if self.free(place, v) and self.over(place, v, position)
        )  # fmt: skip
        lent = frozenset(w for v in given for w in self.sharing[v])
        place.mine -= given
        kept = [self.statements(b, True, lent=lent, given=given) for b in (s.then, s.orelse)]
        for target, *ends in list(zip(s.targets, s.then.results, s.orelse.results, strict=True)):
            if target not in self.held and all(
                isinstance(end, ir.Var) and end in mine and end.kind == target.kind
                and branch.results.count(end) == 1
                for end, mine, branch in zip(ends, kept, (s.then, s.orelse), strict=True)
            ):  # fmt: skip
                place.mine.add(target)

    # What may be overwritten

    def fate(self, place: Place, v: ir.Var) -> Fate:
        """What becomes of an array and of all that may share its memory."""
        members = self.sharing[v]
        known = place.known.get(id(members))
        if known is None or known.members is not members:
            results = {w for o in place.block.results for w in ir.variables(o)}
            free = members.isdisjoint(results) and all(
                w in place.lent
                or (w in place.defined and len(place.used.get(w, ())) == self.counts.get(w, 0))
                for w in members
            )
            last = max(place.used[w][-1] if w in place.used else -1 for w in members)
            known = place.known[id(members)] = Fate(members, free, last)
        return known

    def free(self, place: Place, v: ir.Var) -> bool:
        """Whether all that may share an array's memory is defined and used in this block alone.

        A call may have kept what was computed in its place.
        """
        return v not in self.held and self.fate(place, v).free

    def over(self, place: Place, v: ir.Var, position: int) -> bool:
        """Whether nothing that may share an array's memory is used after a statement."""
        return self.fate(place, v).last <= position

    def writable(self, s: ir.Assign) -> bool:
        """Whether a call makes an array of floats of nothing but numbers and arrays."""
        kind = s.target.kind
        if not isinstance(kind, Array) or kind.dtype is None or kind.dtype.kind not in "fc":
            return False
        if not kind.shape or s.kwargs or s.writes or s.effect or s.views:
            return False
        if self.laid_out and not isinstance(s.span, ir.Origin):
            return False
        return all(number_kind(a) is not None for a in s.args)

    def buffers(
        self, place: Place, s: ir.Assign, position: int, reverse: bool
    ) -> Iterator[tuple[int, ir.Var]]:
        """The operands into which a call may write its result, and their positions."""
        kind = s.target.kind
        if not self.writable(s):
            return
        for i, operand in enumerate(s.args):
            if (
                isinstance(operand, ir.Var) and operand in place.mine and operand.kind == kind
                and not (reverse and operand in self.untouchable)
                and operand not in self.small
                and self.free(place, operand) and self.over(place, operand, position)
            ):  # fmt: skip
                yield i, operand

    # How it is written

    def in_place(
        self, place: Place, s: ir.Assign, position: int, reverse: bool
    ) -> ir.Assign | None:
        """A call that writes its result into an operand, or None."""
        if s.function not in IN_PLACE and not takes_out(s):
            return None
        found = list(self.buffers(place, s, position, reverse))
        for i, buffer in found:
            if s.function in IN_PLACE and (i == 0 or s.function in COMMUTATIVE):
                if list(s.args).count(buffer) == 1 and self.one_variable(s, buffer, reverse):
                    return self.augmented(s, buffer)
        if s is self.block.statements[-1] and self.block.results == (s.target,):
            if s.target not in self.scarce:
                return None  # the answer is returned as the expression that it is
        for _, buffer in found:
            root = self.renamed(buffer)
            assert isinstance(root, ir.Var)
            if takes_out(s) and not reverse and self.one_variable(s, buffer, reverse):
                return self.over_it(s, buffer)
            if takes_out(s) and (
                root.user or self.counts[buffer] > 1 or buffer in self.named or root in self.named
                or root in self.popped
            ):  # fmt: skip
                return self.with_out(s, buffer)
        taker = self.takers.get(s.target)
        named = taker is not None and taker.target in self.scarce
        if takes_out(s) and (named or s.target.user or self.counts.get(s.target, 0) > 1):
            dead = self.left_behind(place, s, position, reverse)
            if dead is not None:
                root = self.renamed(dead)
                alike = isinstance(root, ir.Var) and root.name == s.target.name
                alike = alike and not (root.user or s.target.user)
                return self.over_it(s, dead) if alike else self.with_out(s, dead)
        return None

    def left_behind(
        self, place: Place, s: ir.Assign, position: int, reverse: bool
    ) -> ir.Var | None:
        """An array that has a name still, though nobody needs it, and is just like a result."""
        if s.target not in self.crowded or not self.writable(s):
            return None
        for v in sorted(place.mine, key=lambda v: v.id, reverse=True):
            if v.kind != s.target.kind or v in self.small or (reverse and v in self.untouchable):
                continue
            if not self.over(place, v, position - 1) or not self.free(place, v):
                continue
            root = self.renamed(v)
            assert isinstance(root, ir.Var)
            named = root.user or v in self.named or root in self.named or root in self.popped
            if named or self.counts.get(v, 0) > 1:
                return v
        return None

    def one_variable(self, s: ir.Assign, buffer: ir.Var, reverse: bool) -> bool:
        """Whether a result may have the name of what it is computed in."""
        root = self.renamed(buffer)
        assert isinstance(root, ir.Var)
        if not reverse:
            if not root.user and (buffer in self.named or s.target in self.scarce):
                return True
            return root.user and self.becomes(s.target) == root.name
        if buffer in self.forward or root in self.forward or root in self.popped:
            return False
        if root.user and root.name != s.target.name:
            return False  # a variable of the function's, computed again
        return root.name not in self.adjoints or root.name == s.target.name

    def becomes(self, v: ir.Var) -> str | None:
        """The variable of the user's whose next value is computed from a value alone."""
        while not v.user:
            s = self.takers.get(v)
            if self.counts.get(v) != 1 or s is None or s.function not in IN_PLACE:
                return None
            v = s.target
        return v.name

    def augmented(self, s: ir.Assign, buffer: ir.Var) -> ir.Assign:
        """`buffer *= other`"""
        other = s.args[1] if s.args[0] is buffer else s.args[0]
        root = self.renamed(buffer)
        assert isinstance(root, ir.Var)
        adjoint = s.target.name.startswith("d_") and not root.name.startswith("d_")
        if not root.user and (s.target.user or s.target.name in self.adjoints or adjoint):
            root.name, root.user = s.target.name, s.target.user
        self.renamed[s.target] = buffer
        self.share(s.target, buffer)
        return ir.Assign(
            ir.Var("_", Opaque(None)), IN_PLACE[s.function], (buffer, other), (), s.span,
            writes=(buffer,),
        )  # fmt: skip

    def over_it(self, s: ir.Assign, buffer: ir.Var) -> ir.Assign:
        """`np.exp(buffer, out=buffer)`"""
        root = self.renamed(buffer)
        assert isinstance(root, ir.Var)
        if not root.user:
            root.name, root.user = s.target.name, s.target.user
        self.renamed[s.target] = buffer
        self.share(s.target, buffer)
        function, args = written_over(s.function, s.args)
        return ir.Assign(
            ir.Var("_", Opaque(None)), function, args, (("out", buffer),), s.span, writes=(buffer,)
        )

    def with_out(self, s: ir.Assign, buffer: ir.Var) -> ir.Assign:
        """`result = np.multiply(buffer, other, out=buffer)`"""
        self.named.add(s.target)
        self.share(s.target, buffer)
        function, args = written_over(s.function, s.args)
        return ir.Assign(
            s.target, function, args, (("out", buffer),), s.span, views=(buffer,), writes=(buffer,)
        )

    def share(self, a: ir.Var, b: ir.Var) -> None:
        """Note that two variables share memory."""
        members = self.sharing[a] | self.sharing[b]
        self.sharing.update(dict.fromkeys(members, members))
        if not members.isdisjoint(self.held):
            self.held |= members


def takes_out(s: ir.Assign) -> bool:
    """Whether a call can write its result where it is told to."""
    if s.function is operator.pow:
        return isinstance(s.args[1], ir.Const) and s.args[1].value == 2
    if isinstance(s.function, np.ufunc):
        return is_elementwise(s.function)
    return s.function in WITH_OUT


def written_over(function: Any, args: tuple[ir.Operand, ...]) -> tuple[Any, tuple[ir.Operand, ...]]:
    """The function that takes `out` and does what another one does, and its arguments."""
    if function is operator.pow:
        return np.square, args[:1]
    function, args = negated(function, args)
    return WITH_OUT.get(function, function), args


def negated(function: Any, args: tuple[ir.Operand, ...]) -> tuple[Any, tuple[ir.Operand, ...]]:
    """A negation as the product that it is, for where it is written into a part of an array.

    There, NumPy 2.4 negates but the first of numbers that lie 16 or 64 bytes apart.
    """
    kind = number_kind(args[0]) if function in (operator.neg, np.negative) else None
    if kind is None or kind.dtype is None or kind.dtype.kind != "f":
        return function, args
    return operator.mul, (args[0], ir.Const(-1.0))


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


def _variables(function: ir.Function) -> Iterator[ir.Var]:
    """The variables that a function defines or uses."""
    yield from _arrays(function)
    yield from ir.all_uses(function.block)


def _arrays(function: ir.Function) -> Iterator[ir.Var]:
    """The variables that a function defines, its parameters among them."""
    yield from function.params
    for s in ir.walk(function.block):
        if isinstance(s, ir.Loop):
            yield from s.params
        yield from ir.targets(s)
