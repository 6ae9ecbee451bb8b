"""What a loop carried when what is around it was lowered last, with which it begins again.

These are guesses: the round that begins with them checks them (`are_as_guessed`, `are_carried`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from .. import ir
from ..errors import UnsupportedError
from ..joins import without_sizes
from ..kinds import ListOf
from .restarts import Materialize, NeedStatic
from .structure import Widened, is_flag, is_partial, same_template
from .values import ListObject, Ref, State
from .widening import Slot, Widening

DIGITS = "0123456789"


def is_hidden(name: Any) -> bool:
    """Whether this is the name of a variable of the compiler's that has a number."""
    return isinstance(name, str) and name[:1] == "%" and name[-1:].isdigit()


def hidden_again(name: Any, frame: dict[Any, Any]) -> Any:
    """What a variable is called now whose name has a number: the last one of its like."""
    if not is_hidden(name) or name in frame:
        return name
    stem = name.rstrip(DIGITS)
    alike = (n for n in reversed(frame) if is_hidden(n) and n.rstrip(DIGITS) == stem)
    return next(alike, name)


@dataclass(frozen=True)
class Carried:
    """What a loop carried in a round of the loop or unit around it, or the loops in a unit did.

    Attributes:
        frame: the function that it stands in.
        frames: all that were being run.
        settling: the dimensions that it brought in.
        inner: what the loops in it carried, by where they stand.
        rounds: that of each round of a unit: in the first, nothing is known of what it returns.
        lists: those that must exist at run time, or whose length it changes; see `Recalling.lists`.
    """

    frame: int = 0
    frames: list[int] = field(default_factory=list)
    templates: dict[Slot, Any] = field(default_factory=dict)
    settling: set[int] = field(default_factory=set)
    inner: dict[Any, list[Carried]] = field(default_factory=dict)
    rounds: list[dict[Any, list[Carried]]] = field(default_factory=list)
    lists: list[tuple[Any, int, ListOf | None]] = field(default_factory=list)


class Recalling(Widening):
    """Begins a loop with what it carried before."""

    def carried_earlier(self, site: Any) -> Carried:
        """What a loop that stands there carried when what is around it was lowered last."""
        number = len(self.carried.get(site, []))
        earlier = self.carried_before.get(site, [])
        return earlier[number] if number < len(earlier) else Carried()

    def recalled(
        self, before: Carried, entry: State, marker: Any, settling: set[int]
    ) -> dict[Slot, Any]:
        """What a loop carried when the loop around it was lowered last, as far as it may again."""
        settling |= before.settling
        self.settling, self.peelable, self.standing = settling, False, frozenset(entry.heap)
        known, found = dict(self.slots(entry)), {}
        frames = {before.frame: self.current}
        for old, new in zip(reversed(before.frames), reversed(entry.frames), strict=False):
            frames.setdefault(old, new)
        for (kind, holder, name), template in before.templates.items():
            if not isinstance(template, Widened):
                continue
            if kind == "frame":
                if holder not in entry.frames or holder == before.frame:
                    holder = frames.get(holder, holder)
                name = hidden_again(name, entry.frames.get(holder, {}))
                template = replace(template, name=str(name)) if is_hidden(name) else template
            slot = kind, holder, name
            if isinstance(template.kind, ListOf):
                if slot in known or not without_sizes(template.kind):
                    continue
            unknown = kind != "frame" or (str(name).startswith("%") and not is_flag(name))
            if slot not in known and unknown:
                continue
            if kind == "frame" and slot[1] not in entry.frames:
                continue
            value = known.get(slot, self.absent(entry, slot))
            if not same_template(self.widen(name, template, value, entry, entry, marker), template):
                return {}
            found[slot] = template
        return found

    def rebuilt(self, before: Carried) -> dict[int, ir.Var | None]:
        """Make lists exist at run time that did when the loop was lowered last.

        Returns the variable of each, and which are those whose length is forgotten.
        """
        found: dict[int, ir.Var | None] = {}
        for site, age, kind in before.lists:
            number = next(islice(self.made_at(self.state, site), age, None), None)
            thing: Any = None if number is None else self.state.heap[number]
            if number is None or not isinstance(thing, ListObject):
                continue
            if kind is None:
                found[number] = None
                continue
            if thing.var is None:
                if thing.external or any(map(is_partial, thing.items)):
                    continue
                saved = self.state.copy(), len(self.block.statements)
                try:
                    self.materialize(Materialize(Ref(number), self.span))
                except (UnsupportedError, NeedStatic, Materialize):
                    self.state = saved[0]
                    self.forget(self.block, saved[1])
                    continue
                thing = self.state.heap[number]
            found[number] = thing.var
            self.widen_items(thing.var, self.with_kind(thing.var.kind, kind))
        return found

    def are_as_guessed(
        self, lists: dict[int, ir.Var | None], block: ir.Block, forgotten: int
    ) -> bool:
        """Whether an iteration uses the lists that were made to exist at run time, and forgets how
        long others are."""
        used = ir.free_variables(block) if lists else {}
        return all(
            self.times_forgotten > forgotten if var is None else var in used
            for var in lists.values()
        )

    def lists(
        self, entry: State, resized: set[int], block: ir.Block
    ) -> list[tuple[Any, int, ListOf | None]]:
        """Where each of these lists was made, how many were made there later, and its kind if the
        loop uses it."""
        found: list[tuple[Any, int, ListOf | None]] = []
        numbers = resized & entry.heap.keys()
        used = ir.free_variables(block) if numbers else {}
        for number in numbers:
            thing, site = entry.heap[number], self.sites.get(number)
            var = thing.var if isinstance(thing, ListObject) else None
            if site is not None and var is not None and isinstance(var.kind, ListOf):
                age = next(i for i, n in enumerate(self.made_at(entry, site)) if n == number)
                found.append((site, age, var.kind if var in used else None))
        return found

    def made_at(self, state: State, site: Any) -> Iterator[int]:
        """The objects that were made at a place in the program, the last first."""
        return (number for number in reversed(state.heap) if self.sites.get(number) == site)

    def list_kinds(self, state: State) -> list[Any]:
        return [
            thing.var.kind
            for thing in state.heap.values()
            if isinstance(thing, ListObject) and thing.var is not None
        ]
