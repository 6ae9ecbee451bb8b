"""What is surely used wholly by something, whatever else uses parts of it.

Of the weights of a path, `m = np.max(a)` uses one, but `np.exp(a - m)` uses all. Each use is a way:
what has to be used wholly itself for it to count. What no way is left for isn't used wholly.

Memory that is written has two values here, that before the first write and that after the last, if
all of this is in the block that makes it; else nothing is said of it.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Hashable, Iterable

from .. import ir
from ..kinds import Array
from ..rules import registry
from .activity import Activity
from .aliasing import Aliasing
from .elementwise import ARITHMETIC, is_elementwise, makes_fresh
from .usage import PRODUCTS, PartialUse, Use, chosen_by, taken_by

UPDATES = (operator.iadd, operator.isub)  # they leave what was there in the sum
Value = tuple[ir.Var, bool]  # a variable; of memory that is written, whether after the last write


class WhollyUsed:
    """The variables all elements of which matter to the outputs.

    Attributes:
        found: them. With `stencils` a slice counts as all, as the parts together often are.
    """

    def __init__(
        self,
        function: ir.Function,
        aliasing: Aliasing,
        activity: Activity,
        outputs: Iterable[ir.Var],
        use: PartialUse,
        stencils: bool = False,
    ) -> None:
        self.aliasing, self.activity, self.use, self.stencils = aliasing, activity, use, stencils
        self.homes: dict[ir.Var, ir.Block] = {}
        self.made: dict[ir.Var, ir.Assign] = {}
        self.writes: dict[ir.Var, list[tuple[int, bool]]] = defaultdict(list)  # and if it's updated
        self.unknown: set[ir.Var] = set()  # memory that is written who knows when
        self.ways: dict[Value, list[tuple[Value, ...]]] = defaultdict(list)
        self._place(function.block, function.params)
        self._visit(function.block)
        for output in outputs:
            self._hand_on(output, function.block, len(function.block.statements))
        whole, order, before = set(self.ways), list(reversed(self.ways)), -1
        while before != len(whole):
            before = len(whole)
            for v in order:
                if v in whole and not any(whole.issuperset(way) for way in self.ways[v]):
                    whole.discard(v)
        # (of what is written a value is asked for where it is made)
        self.found = {v for v, after in whole if not after}

    def _place(self, block: ir.Block, params: Iterable[ir.Var]) -> None:
        """Note where variables are made and memory is written."""
        self.homes.update(dict.fromkeys(params, block))
        for i, s in enumerate(block.statements):
            self.homes.update(dict.fromkeys(ir.targets(s), block))
            if isinstance(s, ir.Assign):
                self.made[s.target] = s
                for v in s.writes:
                    owner = self._owner(v)
                    if owner is None or self.homes[owner] is not block or not self._is_own(owner):
                        self.unknown.add(self.aliasing.find(v))
                    else:
                        self.writes[owner].append((i, s.function in UPDATES))
            for inner in ir.blocks(s):
                self._place(inner, s.params if isinstance(s, ir.Loop) else ())

    def _owner(self, v: ir.Var) -> ir.Var | None:
        """The variable of which one is a part, itself if of none; None if that isn't known."""
        made = self.made.get(v)
        while made is not None and made.views:
            of = made.args[0]
            if made.function is not operator.getitem or not made.certain or not _is_part(made):
                return None
            if not isinstance(of, ir.Var) or not isinstance(of.kind, Array):
                return None
            v = of
            made = self.made.get(v)
        return v if v in self.homes else None

    def _is_own(self, v: ir.Var) -> bool:
        """Whether a variable's memory is that of no other, but of those that it is handed on to."""
        return v in self.made and makes_fresh(self.made[v])

    def _visit(self, block: ir.Block) -> None:
        for i, s in enumerate(block.statements):
            if isinstance(s, ir.If):
                for inner in ir.blocks(s):
                    self._visit(inner)
                    for end, target in zip(inner.results, s.targets, strict=False):
                        self._hand_on(end, inner, len(inner.statements), target)
            elif isinstance(s, ir.Loop):
                self._visit(s.body)
                last = len(s.body.statements)
                for init, end, *used in zip(
                    s.inits, s.body.results, s.params, s.targets, strict=False
                ):
                    self._hand_on(init, block, i, *used)
                    self._hand_on(end, s.body, last, *used)  # in the next trip, or after the last
            elif s.writes:
                self._write(s, block, i)
            elif self.activity.active(s.target) and not (s.views and self._is_written(s.target)):
                for operand in self._handed_on(s):
                    self._hand_on(operand, block, i, s.target)
        for v in [v for v in self.writes if self.homes[v] is block]:
            if all(updates for _, updates in self.writes[v]):
                self.ways[v, False].append(((v, True),))

    def _write(self, s: ir.Assign, block: ir.Block, i: int) -> None:
        """What is stored, or added, is in the memory until that is written over."""
        if len(s.writes) != 1 or s.function not in (*UPDATES, operator.setitem):
            return
        owner = self._owner(s.writes[0])
        if owner is None or not self.activity.active(owner) or not self._is_known(owner):
            return
        if s.function is operator.setitem and not _is_part(s):
            return
        if all(updates for place, updates in self.writes[owner] if place > i):
            self._hand_on_value(s.args[-1], block, i, ((owner, True),))

    def _hand_on(self, operand: ir.Operand, block: ir.Block, i: int, *targets: ir.Var) -> None:
        if all(not self._is_written(v) or self._is_known(v) for v in targets):
            self._hand_on_value(operand, block, i, tuple((v, False) for v in targets))

    def _hand_on_value(
        self, operand: ir.Operand, block: ir.Block, i: int, way: tuple[Value, ...]
    ) -> None:
        """Note how an operand of a statement of a block is used."""
        if not isinstance(operand, ir.Var):
            return
        after = False
        if self._is_written(operand):
            owner = self._owner(operand)
            if owner is None or not self._is_known(owner):
                return
            places = [place for place, _ in self.writes[owner]] if owner in self.writes else []
            after = bool(places) and i > places[-1]
            if places and not after and i >= places[0]:
                return
            operand = owner
        if self.homes.get(operand) is block:  # what another block uses isn't if that isn't run
            self.ways[operand, after].append(way)

    def _is_written(self, v: ir.Var) -> bool:
        return self.aliasing.is_written(v)

    def _is_known(self, v: ir.Var) -> bool:
        return self.stencils and self.aliasing.find(v) not in self.unknown

    def _handed_on(self, s: ir.Assign) -> Iterable[ir.Operand]:
        """The operands each element of which the result depends on, unless by chance."""
        if s.function is operator.getitem:
            whole = taken_by(s) == Use.WHOLE or (self.stencils and _is_part(s))
            return s.args[:1] if whole else ()
        if not isinstance(s.function, Hashable) or chosen_by(s) != Use.WHOLE:
            return ()
        if s.function in registry.linear_in:
            plain = registry.OFFSETS.isdisjoint(k for k, _ in s.kwargs)
            return [s.args[i] for i in registry.linear_in[s.function] if plain and i < len(s.args)]
        record = registry.lookup(s.function)
        slopes = record is not None and (record.partials is not None or record.singular)
        if not (slopes or s.function in ARITHMETIC) or not is_elementwise(s.function):
            return ()
        if s.function in PRODUCTS:
            return [
                a for a, b in zip(s.args, s.args[::-1], strict=True) if not self.use.is_sparse(b)
            ]
        return s.args


def _is_part(s: ir.Assign) -> bool:
    """Whether a key is of slices and ints."""
    return not taken_by(s) & ~Use.SLICED
