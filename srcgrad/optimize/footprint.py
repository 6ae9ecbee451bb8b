"""Where memory is scarce: which results would cost the function its peak, were they new arrays.

An expression of several calls makes an array for each, though two at a time are enough. Where more
are needed elsewhere, that costs no memory, and reads best; where not, they had better be computed
one in the other's place (`reuse.py`). A result is live from the call that makes it to the last use
of it, or of what may share its memory.

Sizes aren't known, so several are tried: all lengths alike, and each in turn much longer than the
others. What a loop records is many times what it records once.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import ir
from ..analysis.aliasing import holds_memory
from ..analysis.elementwise import is_elementwise, number_kind
from ..ir import list_append
from ..kinds import Array, ListOf
from ..runtime import listed

LENGTH, LONG = 100.0, 10_000.0  # of dimensions of unknown length
TRIPS = 100.0  # of a loop
MOST = 12  # lengths that are tried longer than the others
LISTS = (np.ndarray.tolist, listed)
BOXED = 4.0  # what numbers in a list take, over what they do in an array
SLACK = 1.02  # how much more isn't worth it

Sizes = np.ndarray[Any, Any]  # of an array, one for each of the lengths that are tried


def scarce(function: ir.Function) -> set[ir.Var]:
    """The results that had better not be new arrays."""
    return Footprint(function).found()[0]


class Footprint:
    """An account of what is live when."""

    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.bases = _bases(function)
        self.nothing = np.zeros(1 + len(self.bases))
        self.made: dict[ir.Var, Sizes] = {}  # the arrays and lists that the function makes
        self.lists: set[ir.Var] = set()  # of the numbers of arrays
        self.sources: dict[ir.Var, tuple[ir.Var, ...]] = {}  # whose memory a variable may share
        self.reached: dict[ir.Var, set[ir.Var]] = {}
        self.needed = self.nothing  # by a call at most, if all that can be is computed in place
        self.anew: dict[ir.Var, Sizes] = {}  # by a call that makes a new array for its result
        self.counts = ir.use_counts(function.block)
        self.live: set[ir.Var] = set()  # before the call looked at last,
        self.held = self.nothing  # and how much that is
        for s in ir.walk(function.block):
            if isinstance(s, ir.Assign):
                self.note(s)
            else:
                self.meet(s)

    def found(self) -> tuple[set[ir.Var], set[ir.Var]]:
        """The results that had better be computed in an operand's place, and those that had better
        be computed in that of an array that only has a name still."""
        self.block(self.function.block, self.roots(self.function.block.results))
        limit = SLACK * self.needed
        self.named = {v for v in self.made if v.user or self.counts.get(v, 0) > 1}
        self.crowded: set[ir.Var] = set()
        self.names(self.function.block, self.nothing, limit)
        return {v for v, size in self.anew.items() if (size > limit).any()}, self.crowded

    def names(self, block: ir.Block, held: Sizes, limit: Sizes) -> Sizes:
        """What names hold after a block, from what they hold before; note what is too much."""
        for s in block.statements:
            for inner in ir.blocks(s):
                again = self.nothing
                if isinstance(s, ir.Loop):  # what an iteration left behind
                    made = {t for o in ir.walk(inner) for t in ir.targets(o)}
                    again = self.size(made & self.named)
                held = self.names(inner, held + again, limit) - again
            v = s.target if isinstance(s, ir.Assign) else None
            if v in self.made and (isinstance(v.kind, Array) or v in self.lists):
                if (held + self.made[v] > limit).any():
                    self.crowded.add(v)
                if v in self.named:
                    held = held + self.made[v]
        return held

    # Who holds how much

    def note(self, s: ir.Assign) -> None:
        """Note what a call makes, or hands on."""
        if s.function is list_append:
            container, item = s.args
            assert isinstance(container, ir.Var)
            held = sum((self.weight(v) for v in ir.variables(item)), self.nothing)
            self.made[container] = self.made.get(container, self.nothing) + TRIPS * held
        elif s.views:
            self.sources[s.target] = s.views
        elif isinstance(s.target.kind, (Array, ListOf)):
            self.made.setdefault(s.target, self.weight(s.target))
            if s.function in LISTS:
                held = sum((self.weight(v) for v in ir.uses(s)), self.nothing)
                self.made[s.target] = BOXED * held
                self.lists.add(s.target)

    def meet(self, s: ir.If | ir.Loop) -> None:
        """What comes out of a block may be what was made in it."""
        for target, ends in ir.joins(s):
            self.sources[target] = tuple(v for o in ends for v in ir.variables(o))

    def roots(self, operands: Iterable[ir.Operand]) -> set[ir.Var]:
        """The arrays and lists in whose memory some operands are."""
        found: set[ir.Var] = set()
        for v in ir.variables_of(operands):
            if holds_memory(v.kind) and v not in found:
                if v not in self.reached:
                    self.reached[v] = self.reach(v)
                found |= self.reached[v]
        return found

    def reach(self, v: ir.Var) -> set[ir.Var]:
        """A variable, and those whose memory it may share."""
        found: set[ir.Var] = set()
        waiting = [v]
        while waiting:
            v = waiting.pop()
            if v not in found and holds_memory(v.kind):
                found.add(v)
                waiting += self.sources.get(v, ())
        return found

    def size(self, live: set[ir.Var]) -> Sizes:
        size = self.nothing
        for v in live & self.made.keys() if live else ():
            size = size + self.made[v]
        return size

    def weight(self, v: ir.Var) -> Sizes:
        """The bytes of an array."""
        size, kind = self.nothing, v.kind
        if isinstance(kind, Array) and kind.shape is not None:
            size = size + (8 if kind.dtype is None else kind.dtype.itemsize)
            for n in kind.shape:
                size = size * (n if isinstance(n, int) else self.length(n.base))
        return size

    def length(self, base: int) -> Sizes:
        found = self.nothing + LENGTH
        if base in self.bases:
            found[1 + self.bases.index(base)] = LONG
        return found

    # What is live when

    def block(self, block: ir.Block, live: set[ir.Var]) -> set[ir.Var]:
        """What is live before a block, from what is after it; each call is accounted for."""
        for s in reversed(block.statements):
            match s:
                case ir.Assign():
                    live = self.call(s, live)
                case ir.If():
                    live = live | self.roots([s.test])
                    live = self.block(s.then, live | self.roots(s.then.results)) | self.block(
                        s.orelse, live | self.roots(s.orelse.results)
                    )
                case ir.Loop():
                    inside = self.roots(ir.free_variables(s.body)) | self.roots(s.body.results)
                    live = self.block(s.body, live | inside | self.roots(s.inits))
        return live

    def call(self, s: ir.Assign, live: set[ir.Var]) -> set[ir.Var]:
        used = self.roots(s.operands())
        held = self.held if live is self.live else self.size(live)
        before, begun = live, used - live
        if begun or s.target in live:
            before = (live - {s.target}) | used
            held = held + self.size(begun) - self.size(live & {s.target} - used)
        self.live, self.held = before, held
        size = held + self.size({s.target} - before)
        over = [
            v for v in s.args
            if isinstance(v, ir.Var) and v in self.made and v not in live
            and v.kind == s.target.kind
        ]  # fmt: skip
        if _can_be_over(s) and over:
            self.anew[s.target] = size
            size = held
        self.needed = np.maximum(self.needed, size)
        return before


def _can_be_over(s: ir.Assign) -> bool:
    if not is_elementwise(s.function) or s.kwargs or s.writes or s.effect or s.views:
        return False
    if s.function is operator.pow and getattr(s.args[1], "value", None) != 2:
        return False
    return all(number_kind(a) is not None for a in s.args)


def _bases(function: ir.Function) -> list[int]:
    """The bases of unknown lengths, if they aren't too many."""
    found: dict[int, None] = {}
    for s in ir.walk(function.block):
        for v in ir.targets(s):
            shape = v.kind.shape if isinstance(v.kind, Array) else None
            found.update((n.base, None) for n in shape or () if not isinstance(n, int))
    return list(found) if len(found) <= MOST else []
