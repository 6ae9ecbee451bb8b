"""Lowering a loop: its body is lowered again until the kinds of what it changes are stable.

What a loop carries is found by lowering it, and then it is lowered once more, with parameters: in a
nest of loops that would be twice as often for each level. So a loop begins, when what is around it
is lowered again, with what it carried before (`recalled`), the lists that it needed at run time
(`rebuilt`) and what the loops in it began with; the round that does so checks it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from .. import ir
from ..errors import UnsupportedError
from ..kinds import ListOf, fresh_size, int_kind
from . import item_counts
from .operations import leave_unless
from .paths import RAISED
from .predicates import FALSE, NONE, TRUE, is_false, is_none
from .recalling import Carried, Recalling
from .restarts import Lengthen, Materialize, NeedStatic, Peel, Thaw, Unkeepable
from .structure import (
    COMPOUND,
    Mold,
    Poison,
    Widened,
    as_optional,
    freeze_molded,
    frozen_later,
    is_flag,
    is_long,
    is_partial,
    keep_frozen,
    list_held_by,
    may_get_long,
    object_items,
    parts,
    rebuild,
    references,
    with_items,
)
from .values import Choice, ListObject, Ref, State, Tuple, Value, births
from .widening import Slot, poisons
from .wording import shown_name

MOST_ROUNDS = 12


class Loops(Recalling):
    """Lowers loops: what an iteration changes becomes a parameter."""

    def loop(
        self,
        bounds: tuple[ir.Operand, ir.Operand, ir.Operand] | None,
        body: Callable[[ir.Var | None], Value],
        index_name: str = "i",
        unroll: Callable[[], bool] | None = None,
        unrollable: bool = True,
        asks: frozenset[Any] = frozenset(),
        peelable: bool = False,
    ) -> None:
        """Lower a loop. `body` lowers one iteration and returns its exit flag.

        `unroll` is what to do instead when the index must be known when compiling, or when the
        loop changes what has no counterpart at run time; it says whether it could. `unrollable`
        says that it is likely to, so that asking for the value of the index is worthwhile.
        `asks` is what must be known for something else to be done where the loop changes what has
        no counterpart at run time, and the program uses it. With `peelable`, a number that becomes
        an array raises Peel, in the state before the loop.
        """
        span = self.span
        entry, outer = self.state, self.block
        original, count, unbound = entry.copy(), len(outer.statements), self.unbound
        dynamic = set(self.dynamic_sites)
        marker = object()
        self.instead_of[marker] = asks
        settling: set[int] = set()
        unlengthened: set[Slot] = set()  # of the tuples that aren't made longer
        since = fresh_size().base
        before = self.carried_earlier(span)
        recalled, inner = self.recalled(before, entry, marker, settling), before.inner
        templates: dict[Slot, Any] = dict(recalled)
        resized: set[int] = set()  # the lists that an iteration makes longer or shorter
        frozen: dict[int, Any] = {}  # the objects of which others may be one in the next iteration
        guessed = self.rebuilt(before)
        resized |= guessed.keys()
        entry = self.state

        def afresh() -> None:
            templates.clear()
            frozen.clear()
            inner.clear()

        def anew() -> State:
            """The state before the loop, of which nothing is known any more."""
            self.unrolled_instead(None, original.copy(), count)
            self.dynamic_sites &= dynamic
            resized.clear()
            afresh()
            return self.state

        self.vary_sizes()
        if unroll is not None and unrollable:
            self.unrollable.add(marker)
        for _ in range(MOST_ROUNDS * 4):
            start, known = entry.copy(), dict(self.slots(entry))
            item_counts.forget(start.heap, resized)
            for slot in [s for s in templates if s[0] == "list" and s not in known]:
                del templates[slot]  # of a list that exists at run time by now
            params: dict[Slot, Any] = {}
            for slot, template in templates.items():
                for poison in poisons(template):
                    poison.origins |= asks
                params[slot] = self.instantiate(template, start, marker)
                self.put(start, slot, params[slot])
            freeze_molded(start, templates, known, marker, frozen)
            index, listed = None, set(self.dynamic_sites)
            if bounds is not None:
                index = ir.Var(index_name, int_kind(), origins=frozenset([marker]))
            list_kinds, self.unbound = self.list_kinds(entry), unbound
            unsure, recalled, earlier, inner = recalled, {}, inner, {}
            forgotten = self.times_forgotten
            failure: Exception | None = None  # what unrolling the loop may help against
            try:
                flag, end, block = self._round(start, body, index, earlier, inner)
                self.check_flags(start, end)
                self.state, changed = entry, self.list_kinds(entry) != list_kinds
                if not self.are_as_guessed(guessed, block, forgotten):
                    entry, guessed = anew(), {}
                    continue
                guessed = {}
                if unsure and not self.are_carried(unsure, params, end):
                    afresh()
                    continue
                end = self.lengthen(start, end, block)
                self.peelable, self.settling, self.since = peelable, settling, since
                self.unlengthened = unlengthened
                self.standing = frozenset(entry.heap)
                changed |= self.widen_all(start, end, templates, params, marker, entry)
                if not end.unreachable:
                    after = dict(self.slots(end))
                    stood = frozen_later(entry, end, templates, after, marker)
                    changed |= not stood.keys() <= frozen.keys()
                    frozen |= stood
                found = item_counts.resized(start.heap, end.heap) - resized
                resized |= found
                changed |= bool(found)
                if not changed:
                    break
            except NeedStatic as need:
                self.state = entry
                if unroll is None or marker not in need.origins:
                    raise
                failure = need
            except Materialize as need:
                self.state = entry
                if self.dynamic(need, entry, listed):
                    afresh()
                    continue
                try:
                    self.materialize(need)
                    resized.add(need.ref.id)
                    entry = self.state
                    if any(known.get(s) == need.ref for s in templates):
                        afresh()  # they say what is in it
                except Unkeepable as error:
                    failure = error
            except Unkeepable as error:
                failure = error
            except Lengthen as need:
                self.state = entry
                with suppress(UnsupportedError):
                    value = self.long_tuple(dict(self.slots(entry))[need.slot])
                    entry = self.state
                    self.put(entry, need.slot, value)
                    afresh()
                unlengthened.add(need.slot)
            except Thaw as need:
                self.state = entry
                if need.marker is not marker or marker in self.thawed:
                    raise
                self.thawed.add(marker)
                afresh()
            except Peel:
                self.unrolled_instead(None, original, count)
                raise
            if failure is not None and guessed:
                entry, guessed = anew(), {}
            elif failure is not None:
                self.dynamic_sites &= dynamic  # what the loop kept in lists needn't be
                if isinstance(failure, Unkeepable):
                    unrolled = self.unrolled_instead(unroll, original, count)
                else:
                    unrolled = unroll is not None and unroll()
                if not unrolled:
                    raise failure
                self.span = span
                return
        else:
            raise self.refuse("the kinds of the variables of this loop don't settle")
        if self.unbound is not None and not self.loop_depth and not self.making:
            raise self.unbound
        self.carried.setdefault(span, []).append(
            Carried(
                self.current,
                list(entry.frames),
                templates,
                settling,
                inner,
                lists=self.lists(entry, resized, block),
            )
        )
        self._finish_loop(entry, start, end, block, templates, params, bounds, index, flag, marker)
        self.unrollable.discard(marker)  # what it left behind is no reason to unroll it
        trips = item_counts.trips(bounds) if is_false(flag) and not has_mark(block) else None
        item_counts.count_after(
            self.state.heap, entry.heap, resized, block, trips, self.likeness.alike
        )
        self.resume()

    def _round(
        self,
        start: State,
        body: Callable[[ir.Var | None], Value],
        index: ir.Var | None,
        earlier: dict[Any, list[Carried]],
        inner: dict[Any, list[Carried]],
    ) -> tuple[Value, State, ir.Block]:
        """Lower the body once: its exit flag, its end, its block.

        `inner`: to this is added what the loops in it carry; `earlier` is that of the last round.
        """
        outer, span, forks, began = self.block, self.span, self.fork_depth, self.loop_began
        around = self.carried, self.carried_before
        self.state, self.block = start.copy(), ir.Block()
        self.carried, self.carried_before = inner, earlier
        self.loop_depth, self.fork_depth, self.loop_began = self.loop_depth + 1, 0, next(births)
        try:
            flag = self.iteration(body, index, late=forks > 0 or self.loop_depth > 1)
            return flag, self.state, self.block
        finally:
            self.block, self.span = outer, span
            self.carried, self.carried_before = around
            self.loop_depth, self.fork_depth, self.loop_began = self.loop_depth - 1, forks, began

    def iteration(
        self, body: Callable[[ir.Var | None], Value], index: ir.Var | None, late: bool
    ) -> Value:
        """Lower one iteration; the exit flag at its end, which is set if an exception leaves it."""
        block, name = self.block, f"%exit{self.unique()}"
        if self.trying is not None:
            self.state.frames[self.trying.frame][RAISED] = NONE
        number = self.current

        def run() -> None:
            flag = body(index)
            self.state.frames[number][name] = flag

        self.reach(run, False, True, late)
        frame = self.state.frames[number]
        frame.setdefault(name, ir.Const(self.state.leaving))
        self.close(block, name=name)
        return self.state.frames[number].pop(name)

    def lengthen(self, start: State, end: State, block: ir.Block) -> State:
        """The end of an iteration in which tuples are of any length that were so before it."""
        before, (outer, state) = dict(self.slots(start)), (self.block, self.state)
        self.block, self.state = block, end
        for slot, value in list(self.slots(end)):
            old = before.get(slot)
            if may_get_long(value) and isinstance(old, Ref) and is_long(start.heap[old.id]):
                now = self.state
                try:
                    self.put(self.state, slot, self.long_tuple(value))
                except UnsupportedError:
                    self.state = now
        end, self.block, self.state = self.state, outer, state
        return end

    def if_it_runs(self, test: ir.Operand, run: Callable[[], None]) -> None:
        """Lower a loop whose first iteration stands alone, if its test is true there."""
        before = {slot for slot, value in self.slots(self.state) if isinstance(value, Poison)}
        self.branch(test, run, lambda: None)
        for slot, value in self.slots(self.state):
            if isinstance(value, Poison) and slot not in before:
                value.message = f"{shown_name(str(slot[2]))} changes its kind in this loop"

    def unrolled_instead(self, unroll: Callable[[], bool] | None, state: State, count: int) -> bool:
        """Unroll a loop from the state before it; False if it can't be."""
        self.state = state
        self.forget(self.block, count)
        return unroll is not None and unroll()

    def _finish_loop(
        self,
        entry: State,
        start: State,
        end: State,
        block: ir.Block,
        templates: dict[Slot, Any],
        params: dict[Slot, Any],
        bounds: Any,
        index: ir.Var | None,
        flag: Value,
        marker: Any,
    ) -> None:
        state = entry.copy()
        for number, thing in end.heap.items():
            state.heap.setdefault(number, thing)
        variables: list[ir.Var] = []
        inits: list[ir.Operand] = []
        results: list[ir.Operand] = []
        finals: list[ir.Var] = []
        before, after = dict(self.slots(entry)), dict(self.slots(end))
        merged: set[int] = set()  # the objects from before the loop of which others may be one
        once = item_counts.runs_at_least_once(bounds) and not has_mark(block)

        def held(where: State, value: Any) -> Any:
            """The variable of a list that exists at run time; or None."""
            if is_none(value):
                return NONE
            thing = where.heap[value.id] if isinstance(value, Ref) else None
            return thing.var if isinstance(thing, ListObject) else ir.UNDEFINED

        def within(where: State, value: Any, count: int) -> list[Any]:
            if isinstance(value, Ref):
                return object_items(where.heap[value.id])
            return parts(value) or [ir.UNDEFINED] * count

        def connect(apart: bool, template: Any, param: Any, init: Any, final: Any) -> Any:
            if isinstance(template, Widened):
                kind = template.kind
                is_list = isinstance(kind, ListOf)
                if isinstance(kind, ListOf):
                    param, init, final = held(start, param), held(entry, init), held(end, final)
                    if isinstance(init, ir.Var):
                        self.widen_items(init, kind)
                        self.link(param, None, init)
                target = ir.Var(
                    param.name, param.kind, param.user, template.origins, param.optional
                )
                if is_list:
                    for var in (target, final):
                        if isinstance(var, ir.Var):
                            self.link(param, None, var)
                target.partial = is_partial(final) if once else param.partial
                variables.append(param)
                inits.append(init)
                results.append(final)
                finals.append(target)
                return self.place(state, list_held_by(target)) if is_list else target
            if isinstance(template, Mold):
                alone = apart and is_alone(entry, init) and is_alone(end, final)
                for ref in () if alone else (init, final):
                    if isinstance(ref, Ref) and ref.id in entry.heap:
                        merged.add(ref.id)
                own = object_items(template.thing)
                sides = (start, param), (entry, init), (end, final)
                there = [within(*side, len(own)) for side in sides]
                items = [connect(alone, *each) for each in zip(own, *there, strict=True)]
                thing = replace(template.thing, frozen=None) if alone else template.thing
                return self.place(state, with_items(thing, items))
            if isinstance(template, Choice):
                outer, self.block, self.state = self.block, block, end
                final = self.as_choice(final, template)
                self.block, self.state = outer, entry
                init = self.as_choice(init, template)
                if init.index is ir.UNDEFINED:  # which the body may look up before it is made
                    init = replace(init, index=ir.Const(0))
            if isinstance(template, Tuple) and template.missing is not None:
                init, final = as_optional(init, template), as_optional(final, template)
            if isinstance(template, COMPOUND):
                own = parts(template)
                sides = (start, param), (entry, init), (end, final)
                there = [within(*side, len(own)) for side in sides]
                items = [connect(apart, *each) for each in zip(own, *there, strict=True)]
                return rebuild(template, items)
            return template

        for slot, template in templates.items():
            init = before.get(slot, self.absent(entry, slot))
            final = after.get(slot, self.absent(end, slot))
            if end.unreachable:
                final = init
            value = connect(True, template, params[slot], init, final)
            if is_flag(slot[2]) and init == FALSE and final == TRUE and not has_mark(block):
                value = self.ran(bounds) or value
            self.put(state, slot, value)
            if init is ir.UNDEFINED and slot[0] == "frame" and not once:
                self.half_bound(slot[1], slot[2], state.frames[slot[1]][slot[2]])
        for number in merged:  # now that they have what they hold after the loop
            state.heap[number] = replace(state.heap[number], frozen=marker)
        keep_frozen(state, end, marker)
        exits = not is_false(flag)
        if exits:
            assert isinstance(flag, (ir.Var, ir.Const))
            results.append(flag)
        block.results = tuple(results)
        carried = tuple(variables), tuple(inits), block, tuple(finals)
        self.block.statements.append(ir.Loop(index, bounds, *carried, exits, span=self.span))
        self.state = state


def has_mark(body: ir.Block) -> bool:
    """Whether a loop with this body may be left in the middle of it."""
    return any(isinstance(s, ir.Assign) and s.function is leave_unless for s in body.statements)


def is_alone(state: State, value: Any) -> bool:
    """Whether a value is an object to which nothing else refers, so that it may be changed."""
    if not isinstance(value, Ref):
        return False
    thing = state.heap[value.id]
    return thing.frozen is None and not thing.external and references(state, value) == 1
