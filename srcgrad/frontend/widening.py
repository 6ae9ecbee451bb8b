"""What a variable of a loop is in all iterations: the kinds that its values have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from .. import ir
from ..joins import KindMismatch
from ..kinds import INT, NOTHING, Array, ListOf, Scalar, fresh_size
from ..rules.library import Memory
from .choices import APART, is_choosable, is_function, is_outer_dict, options
from .paths import Paths
from .predicates import is_none, leaf_kind
from .restarts import Lengthen, Materialize, NeedStatic, Peel, Thaw
from .structure import (
    COMPOUND,
    Mold,
    Poison,
    Widened,
    absent,
    alike,
    becomes_array,
    has_layout,
    interchangeable,
    is_absent,
    is_list,
    is_nothing,
    is_partial,
    is_table,
    leaf_family,
    list_held_by,
    may_get_long,
    object_items,
    optional_tuples,
    origins_of_rank,
    part_names,
    parts,
    rebuild,
    resized,
    same_layout,
    same_option,
    same_order,
    same_template,
    with_items,
)
from .values import (
    KEPT,
    Bound,
    Choice,
    Closure,
    DictObject,
    Instance,
    ListObject,
    Partial,
    Place,
    Ref,
    State,
    Tuple,
)
from .wording import shown_name, variable_name

Slot = tuple[str, int, Any]
MOST_LENGTHS = 4  # of tuples of which a loop carries one

MOST_NESTED = 4  # choices in each other
MOST_OBJECTS = 16  # of which a loop carries one
MOST_CLASSES = 8  # of which a loop carries one: more are made in it


class Widening(Paths):
    """Finds what holds of a loop's variables in each iteration."""

    def slots(self, state: State) -> Iterator[tuple[Slot, Any]]:
        for number, frame in state.frames.items():
            for name, value in frame.items():
                yield ("frame", number, name), value
        for number, thing in state.heap.items():
            if isinstance(thing, ListObject):
                if thing.var is None:
                    for i, item in enumerate(thing.items):
                        yield ("list", number, i), item
            else:
                for key, item in thing.items.items():
                    yield ("object", number, key), item

    def absent(self, state: State, slot: Slot) -> ir.Const:
        """What stands for a variable or attribute that isn't there."""
        thing = state.heap.get(slot[1]) if slot[0] == "object" else None
        if isinstance(thing, Instance):
            return self.absent_attribute(thing.type, slot[2])
        return absent(slot[2])

    def put(self, state: State, slot: Slot, value: Any) -> None:
        where, number, key = slot
        if where == "frame":
            state.frames.setdefault(number, {})[key] = value
            return
        thing = state.heap[number]
        if isinstance(thing, ListObject):
            items = list(thing.items)
            items[key] = value
            state.heap[number] = ListObject(tuple(items), None, thing.external, type=thing.type)
        else:
            frozen = KEPT if thing.frozen is KEPT else None
            state.heap[number] = replace(thing, items={**thing.items, key: value}, frozen=frozen)

    def widen_all(
        self,
        start: State,
        end: State,
        templates: dict[Slot, Any],
        params: dict[Slot, Any],
        marker: Any,
        entry: State,
        lengthens: bool = True,
    ) -> bool:
        """Update the templates of what an iteration changes; whether anything is new.

        `lengthens`: tuples that get long may be made lists, from before the first iteration on.
        """
        changed = False
        for slot, template in templates.items():
            # what the iteration appended to a list that the loop carries
            if isinstance(template, Widened) and isinstance(params[slot], Ref):
                thing = start.heap[params[slot].id]
                assert isinstance(thing, ListObject) and thing.var is not None
                if thing.var.kind != template.kind:
                    templates[slot] = replace(template, kind=thing.var.kind)
                    changed = True
        for number, thing in end.heap.items():
            old = entry.heap.get(number)
            if isinstance(old, Instance) and thing.frozen is KEPT is not old.frozen:
                entry.heap[number] = replace(old, frozen=KEPT)
                changed = True
        if end.unreachable:
            return changed
        before = dict(self.slots(start))
        for number, thing in end.heap.items():
            old = start.heap.get(number)
            if isinstance(thing, ListObject) and isinstance(old, ListObject):
                if len(thing.items) != len(old.items) or (thing.var is None) != (old.var is None):
                    raise Materialize(Ref(number), self.span)
            if is_table(thing) and isinstance(old, DictObject):
                raise Materialize(Ref(number), self.span)
            given = entry.heap.get(number)
            if isinstance(thing, DictObject) and isinstance(given, DictObject):
                if not isinstance(given.order, Poison) and not same_order(given, thing):
                    message = "the keys of this dict or set are in another order in each iteration"
                    order = Poison(message, self.span, site=self.sites.get(number))
                    entry.heap[number] = replace(given, order=order)
                    changed = True
        after, given_at = dict(self.slots(end)), dict(self.slots(entry))
        for slot in before.keys() - after.keys():
            where, number, name = slot
            if isinstance(end.heap.get(number), Instance):
                after[slot] = self.absent(end, slot)
            elif where == "object" and number in end.heap:
                if not isinstance(templates.get(slot), Poison):
                    message = f"{shown_name(name)} is taken away in the loop"
                    templates[slot] = Poison(message, self.span, site=self.sites.get(number))
                    changed = True
        for slot, value in after.items():
            kind_, number, name = slot
            if getattr(start.heap.get(number), "type", None) is Memory:
                continue  # what an iteration computes isn't known in the next one
            if kind_ == "frame" and number not in start.frames:
                continue
            if kind_ != "frame" and number not in entry.heap:
                continue  # of what stands for one of several, only more may be known
            old_value = before.get(slot, self.absent(start, slot))
            if self.same(old_value, value):
                continue
            template = templates.get(slot, old_value)
            label = str(name) if kind_ == "frame" or isinstance(name, str) else "item"
            if isinstance(start.heap.get(number), DictObject) and slot not in before:
                new: Any = Poison(
                    f"the key {name!r} is set only inside the loop",
                    self.span,
                    site=self.sites.get(number),
                )
            else:
                new = self.widen(label, template, value, start, end, marker)
                stuck = isinstance(new, Poison) and not isinstance(template, Poison)
                longer = lengthens and stuck and slot not in self.unlengthened
                if longer and may_get_long(given_at.get(slot)):
                    raise Lengthen(slot)
            if not same_template(template, new):
                templates[slot] = new
                changed = True
        return changed

    def widen(
        self, name: str, template: Any, value: Any, start: State, end: State, marker: Any
    ) -> Any:
        """The template that describes both `template` and `value`."""
        if isinstance(template, Poison) or isinstance(value, Poison):
            return template if isinstance(template, Poison) else value
        if isinstance(template, Closure) and same_option(template, value):
            return template
        if self.becomes_choice(template, value, start, end, marker):
            return self.widened_choice(name, template, value, start, end, marker)
        if template is ir.UNDEFINED and (parts(value) or isinstance(value, Tuple)):
            template = unset(value)
        template, value = optional_tuples(template, value)
        if alike(template, value):
            names = part_names(name, template)
            pairs = zip(names, parts(template), parts(value), strict=True)
            return rebuild(template, [self.widen(*each, start, end, marker) for each in pairs])
        if isinstance(template, (Widened, *COMPOUND)) and value is ir.UNDEFINED:
            return template
        leaf = (ir.Var, ir.Const)
        if isinstance(template, (*leaf, Widened)) and isinstance(value, leaf):
            return self.widened_leaf(name, template, value)
        if isinstance(value, Ref):
            if template == value or (
                template is ir.UNDEFINED and self.stands(start, value, marker)
            ):
                return value  # another name for it, where the loop has run
            return self.widened_object(name, template, value, start, end, marker)
        if template is ir.UNDEFINED:
            return Poison(f"{shown_name(name)} is defined only inside the loop", self.span)
        return Poison(f"{shown_name(name)} changes its kind in this loop", self.span)

    def stands(self, start: State, value: Any, marker: Any) -> bool:
        """Whether an object is there before a loop, and the same in each iteration."""
        if not isinstance(value, Ref) or value.id not in self.standing:
            return False
        thing = start.heap.get(value.id)
        return thing is not None and thing.frozen is not marker

    def becomes_choice(
        self, template: Any, value: Any, start: State, end: State, marker: Any
    ) -> bool:
        """Whether a loop carries one of several functions, or of the objects made before it."""
        if not (is_choosable(template) and is_choosable(value)):
            return False
        if any(map(is_function, (template, value))) or any(map(is_absent, (template, value))):
            return not interchangeable(template, value)
        leaves = [leaf_family(v) is not None for v in (template, value)]
        if any(leaves) and any(isinstance(v, Tuple) for v in (template, value)):
            return True
        refs = [v for v in (template, value) if isinstance(v, Ref)]
        things = [(start if ref is template else end).heap[ref.id] for ref in refs]
        if not things or not all(map(has_layout, things)):
            return False
        if any(map(self.stands_apart, things)):
            return len(refs) == 1 or template != value
        if any(leaves):
            return True
        if marker not in self.thawed:
            return len(refs) == 1 or (len(refs) == 2 and not same_layout(*things))
        return all(self.stands(start, ref, marker) for ref in refs)

    def widened_choice(
        self, name: str, template: Any, value: Any, start: State, end: State, marker: Any
    ) -> Any:
        """The template of one of several functions or objects."""
        known: list[Any] = list(options(template))
        taken: set[int] = set()
        another = f"{shown_name(name)} is another object in each iteration"

        def same(t: Any, option: Any) -> bool:
            if interchangeable(t, option):
                return True
            if marker in self.thawed or not isinstance(option, Ref):
                return False
            if self.stands_apart(end.heap[option.id]):
                return False
            thing: Any = t.thing if isinstance(t, Mold) else None
            thing = start.heap[t.id] if isinstance(t, Ref) else thing
            other = end.heap[option.id]
            if isinstance(other, ListObject):
                of_class = isinstance(thing, ListObject) and thing.type is other.type
                return of_class or is_list(t)
            return thing is not None and same_layout(thing, other)

        for option in options(value):
            at = next((i for i, t in enumerate(known) if interchangeable(t, option)), None)
            if at is None:
                at = next((i for i, t in enumerate(known) if same(t, option)), None)
            old = ir.UNDEFINED if at is None else known[at]
            if at is None:
                at = len(known)
                known.append(option)
            objects = sum(isinstance(o, (Ref, Mold)) for o in known)
            if sum(map(is_class, known)) > MOST_CLASSES:
                return Poison(f"{shown_name(name)} is another class in each iteration", self.span)
            if at in taken or objects > MOST_OBJECTS:
                self.want_apart(end)
                return Poison(another, self.span)
            taken.add(at)
            if leaf_family(option) is not None:
                known[at] = self.widen(name, old, option, start, end, marker)
                if isinstance(known[at], Poison):
                    return known[at]
                continue
            if isinstance(option, Ref):
                if old != option and not (
                    old is ir.UNDEFINED and self.stands(start, option, marker)
                ):
                    known[at] = self.widen(name, old, option, start, end, marker)
                    if is_endless(known[at], getattr(end.heap[option.id], "type", list)):
                        self.want_apart(end)
                        return Poison(another, self.span)
                continue
            inner = parts(unset(option) if old is ir.UNDEFINED else old)
            items = [
                p
                if (t is ir.UNDEFINED or t is p)
                and (isinstance(p, (ir.Const, Closure)) or self.stands(start, p, marker))
                else self.widen(name, t, p, start, end, marker)
                for t, p in zip(inner, parts(option), strict=True)
            ]  # fmt: skip
            known[at] = rebuild(known[at], items)
        if sum(isinstance(option, Tuple) for option in known) > MOST_LENGTHS:
            return Poison(f"{shown_name(name)} has ever other lengths in this loop", self.span)
        made = Choice(Widened(INT, "choice"), tuple(known))  # type: ignore[arg-type]
        if nesting(made) > MOST_NESTED:
            return Poison(f"{shown_name(name)} changes its kind in this loop", self.span)
        return made

    def want_apart(self, state: State) -> None:
        """Ask that dicts from outside aren't merged: a loop may go down a tree of them."""
        if APART not in self.known_sites and any(map(is_outer_dict, state.heap.values())):
            raise NeedStatic(frozenset([APART]), "which dict this is", self.span)

    def widened_leaf(self, name: str, template: Any, value: Any) -> Any:
        if not isinstance(template, Widened) and self.same(template, value):
            return template
        if self.peelable and becomes_array(template, value):
            raise Peel
        none = is_none(template) or is_none(value)
        optional = none or any(getattr(v, "optional", False) for v in (template, value))
        known = [v for v in (template, value) if not is_nothing(v) and not is_none(v)]
        kinds = [v.kind if isinstance(v, Widened) else leaf_kind(v) for v in known]
        try:
            kind = kinds[0] if kinds else NOTHING
            for other in kinds[1:]:
                kind = self.stable_join(kind, other, self.settling)
            first = template is ir.UNDEFINED or is_none(template)
            if first and isinstance(kind, Scalar) and kind.size is not None:
                kind = replace(kind, size=self.stable_size(fresh_size(), kind.size, self.settling))
            elif first and isinstance(kind, Array):
                # a size from inside the loop, though it be the same one in each round
                kind = self.stable_join(resized(kind, self.since), kind, self.settling)
        except KindMismatch:
            return Poison(f"{shown_name(name)} changes its kind in this loop", self.span)
        partial = is_partial(template) or is_partial(value)
        return Widened(kind, name, optional, partial, origins_of_rank(kind, (template, value)))

    def widened_object(
        self, name: str, template: Any, value: Ref, start: State, end: State, marker: Any
    ) -> Any:
        """The template of a name that stands for another object in each iteration."""
        q = end.heap[value.id]
        p: Any = None
        if isinstance(template, Mold):
            p = template.thing
        elif isinstance(template, Ref):
            p = start.heap[template.id]
        thawed = marker in self.thawed
        if isinstance(q, ListObject):
            if isinstance(template, Mold) and (thawed or not same_layout(p, q)):
                raise Thaw(marker, "this list changes its length", self.span, None)
            if isinstance(template, Widened) or (isinstance(p, ListObject) and p.var is not None):
                old = template if isinstance(template, Widened) else p.var
                return self.widened_list(name, old.kind, value, q, old.optional)
            if isinstance(p, ListObject) and (thawed or not same_layout(p, q)):
                new = q.var is None and p.var is not None
                raise Materialize(value if new else template, self.span)
            if is_none(template) or (template is ir.UNDEFINED and (q.var is not None or thawed)):
                optional = is_none(template)
                return self.widened_list(name, ListOf(None, type=q.type), value, q, optional)
        if is_table(p) != is_table(q) and isinstance(p, (DictObject, Instance)):
            raise Materialize(template if isinstance(template, Ref) and is_table(q) else value,
                              self.span)  # fmt: skip
        if thawed or value.id in self.widening:  # or it holds itself, however deep
            return Poison(f"{shown_name(name)} is another object in each iteration", self.span)
        if template is ir.UNDEFINED:
            names = range(len(q.items)) if isinstance(q, ListObject) else q.items
            undefined: Any = dict.fromkeys(names, ir.UNDEFINED)
            if isinstance(q, ListObject):
                undefined = tuple(undefined.values())
            p = replace(q, items=undefined)
        elif p is None or not same_layout(p, q):
            return Poison(f"{shown_name(name)} changes its kind in this loop", self.span)
        self.widening.add(value.id)
        try:
            if isinstance(q, ListObject):
                pairs = zip(p.items, q.items, strict=True)
                items: Any = tuple(
                    self.widened_item("item", t, v, start, end, marker) for t, v in pairs
                )
            else:
                items = {
                    key: self.widened_item(str(key), p.items[key], item, start, end, marker)
                    for key, item in q.items.items()
                }
        finally:
            self.widening.discard(value.id)
        made = replace(q, items=items, external=None, frozen=marker)
        return Mold(made, self.sites.get(value.id))

    def widened_item(
        self, name: str, template: Any, value: Any, start: State, end: State, marker: Any
    ) -> Any:
        if self.same(template, value):
            return template
        return self.widen(name, template, value, start, end, marker)

    def widened_list(self, name: str, kind: Any, value: Ref, q: ListObject, optional: bool) -> Any:
        if q.var is None:
            raise Materialize(value, self.span)
        try:
            joined = self.stable_join(kind, q.var.kind)
        except KindMismatch:
            return Poison(f"{shown_name(name)} holds items of different kinds", self.span)
        return Widened(joined, name, optional or q.var.optional)

    def are_carried(self, slots: Iterable[Slot], params: dict[Slot, Any], end: State) -> bool:
        """Whether an iteration changes each of these."""
        after = dict(self.slots(end))
        return not end.unreachable and not any(
            self.same(params[slot], after.get(slot, self.absent(end, slot))) for slot in slots
        )

    def instantiate(self, template: Any, state: State, marker: Any) -> Any:
        """A value with a fresh variable for each widened leaf."""
        if isinstance(template, Widened):
            var = ir.Var(
                variable_name(template.name),
                template.kind,
                template.name.isidentifier(),
                origins=template.origins,
                optional=template.optional,
                partial=template.partial,
            )
            if not isinstance(template.kind, ListOf):
                return var
            return self.place(state, list_held_by(var))
        if isinstance(template, Mold):
            thing = template.thing
            items = [self.instantiate(t, state, marker) for t in object_items(thing)]
            ref = self.place(state, with_items(thing, items))
            if template.site is not None:
                self.sites[ref.id] = template.site
            return ref
        if isinstance(template, COMPOUND):
            return rebuild(template, [self.instantiate(t, state, marker) for t in parts(template)])
        return template


def poisons(template: Any) -> Iterator[Poison]:
    """What can't be described in a template."""
    if isinstance(template, Poison):
        yield template
    for part in inner(template):
        yield from poisons(part)


def inner(template: Any) -> list[Any]:
    """The templates in a template."""
    return object_items(template.thing) if isinstance(template, Mold) else parts(template)


def is_endless(template: Any, cls: type) -> bool:
    """Whether the parameters for an object of a class are for another one of it, and so on."""
    if isinstance(template, Poison):
        return True
    return any(
        (isinstance(t, Mold) and getattr(t.thing, "type", list) is cls) or is_endless(t, cls)
        for t in inner(template)
    )


def nesting(template: Any) -> int:
    """How deep choices are in each other."""
    return isinstance(template, Choice) + max(map(nesting, inner(template)), default=0)


def unset(value: Any) -> Any:
    """A compound value before anything is in it; of a function, which one it is stays known."""
    items: list[Any] = [ir.UNDEFINED] * len(parts(value))
    if isinstance(value, (Bound, Partial)) and isinstance(value.function, (ir.Const, Closure)):
        items[0] = value.function
    return rebuild(value, items)


def is_class(value: Any) -> bool:
    return isinstance(value, (Place, ir.Const)) and isinstance(value.value, type)
