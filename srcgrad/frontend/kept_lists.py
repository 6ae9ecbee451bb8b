"""Lists that exist at run time, and the kind of what is kept in them.

A list whose items are known one by one is a tuple of values on the abstract heap. Where a loop
changes it, it is made one of the generated code: its items then have one kind, which is widened by
what is put in, and so are those of the lists that may hold the same items, or this list.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .. import ir
from ..analysis.inference import Inferred
from ..joins import KindMismatch, either_array, join, without_sizes
from ..kinds import (
    Array,
    Fields,
    Kind,
    ListOf,
    Reference,
    Scalar,
    Size,
    both_several,
    fresh_size,
    parts_like,
    same_form,
)
from .emission import Emission
from .predicates import is_none, leaf_kind
from .restarts import Materialize, NeedStatic, Thaw, Unkeepable
from .structure import (
    is_nothing,
    is_partial,
    is_table,
    item_kinds,
    list_held_by,
    reachable,
)
from .values import (
    EVERYWHERE,
    KEPT,
    TABULATED,
    DictObject,
    Instance,
    Junction,
    ListObject,
    Ref,
    State,
    Tuple,
)
from .wording import described, variable_name


class KeptLists(Emission):
    """Makes lists of the generated code, and keeps values in them."""

    def dynamic(self, need: Materialize, entry: State, known: set[int]) -> bool:
        """Whether lowering again, now with a run-time list where `need` was made, is worthwhile.

        `known`: the places where such lists were made from the beginning.
        """
        self.want_whole(need.ref)
        if need.ref.id in entry.heap:
            thing = entry.heap[need.ref.id]
            if getattr(thing, "var", None) is not None or is_table(thing):
                raise need  # it does here, but not where the function around this was called
            if isinstance(thing, ListObject) and any(map(is_partial, thing.items)):
                # made on a branch before this one: it must be a run-time list from there on
                made = ("%list", self.sites.get(need.ref.id))
                if made in self.known_sites:
                    raise need
                raise NeedStatic(frozenset([made]), "how this list changes", self.span)
            return False
        site = self.sites.get(need.ref.id)
        if site is None or site in known:
            raise need
        self.dynamic_sites.add(site)
        return True

    def materialize(self, need: Materialize) -> None:
        """Turn a list on the abstract heap into a list that the generated code builds."""
        thing = self.state.heap.get(need.ref.id)
        if isinstance(thing, DictObject):
            self.tabulate(need.ref)
            return
        if not isinstance(thing, ListObject):
            raise self.refuse("this container changes in a way that can't be followed here")
        if thing.var is not None:
            return
        if self.is_taken(need.ref):
            raise Unkeepable("how a list outside changes can't be followed here", self.span)
        if thing.external:
            self.want_own(thing)
            raise self.refuse(
                f"the list {thing.external!r} belongs to the caller and would be changed",
                "make a copy first: list(...)",
            )
        for number in reachable(self.state.heap, thing.items):
            inner = self.state.heap[number]
            if isinstance(inner, ListObject) and isinstance(inner.frozen, Junction):
                # it stands for one of two, which a copy doesn't
                raise Thaw(inner.frozen, "which list this is isn't known", self.span, None)
        try:
            var = self.built_list(thing.items, thing.type)
        except Unkeepable as error:
            if error.kinds:
                error.slots |= self.site_of_kinds([need.ref])
            raise
        var.name = self.name_of(need.ref)
        for value in thing.items:
            self.hold(var, (), value)
        count = self.first_lengths[var] = len(thing.items)
        self.state.heap[need.ref.id] = replace(list_held_by(var), frozen=thing.frozen, count=count)

    def name_of(self, ref: Ref) -> str:
        """What the program calls a list: a variable, or the attribute of an object."""
        instances = [t.items for t in self.state.heap.values() if isinstance(t, Instance)]
        for scope in (*reversed(self.state.frames.values()), *instances):
            for name, value in scope.items():
                if value == ref and isinstance(name, str) and name.isidentifier():
                    return variable_name(name)
        return "items"

    def built_list(self, items: tuple[Any, ...], of: type = list) -> ir.Var:
        """A list that exists at run time, of items that are known one by one."""
        kind = ListOf(None, type=of)
        for value in items:
            kind = self.with_item(kind, value)
        operands, made = tuple(map(self.kept_operand, items)), tuple if of is tuple else list
        packed = (ir.Pack(made, operands),)
        return self.emit(made, packed, inferred=Inferred(kind), name="items")

    def with_item(self, kind: ListOf, value: Any) -> ListOf:
        """The kind of a list when `value` is one more of its items."""
        none = is_none(value) or is_nothing(value)
        optional = self.is_optional(value)
        item = kind.item if none else self.item_kind(value)
        if kind.item is not None and kind.item != item:
            self.vary_sizes()
        try:
            items = self.stable_items(kind.item, item)
            return with_more(kind, items, none or optional)
        except KindMismatch:
            thing = self.on_heap(value)
            self.wants_table(thing)
            if isinstance(kind.item, Fields) and kind.item.type is dict:
                self.want_tables(DictObject({}, kind.item.outside, frozen=KEPT))
            objects = isinstance(kind.item, Fields) and bool(kind.item.names)
            if objects:
                self.wants_table(Instance(kind.item.type, {}))
            error = Unkeepable(
                "the items of this list are of different kinds",
                self.span,
                "a list that is built or indexed in a loop needs items of one kind, or None",
            )
            error.kinds = not objects and not isinstance(thing, Instance)
            raise error from None

    def is_optional(self, value: Any) -> bool:
        """Whether a number, an array, a tuple or a list that exists at run time may be None."""
        thing = self.on_heap(value)
        held = thing.var if isinstance(thing, ListObject) else value
        held = held.whole if isinstance(held, Tuple) else held
        return isinstance(held, ir.Var) and held.optional and held not in self.given_here

    def keep(self, var: ir.Var, value: Any) -> None:
        """Note that a list which exists at run time has one more item."""
        assert isinstance(var.kind, ListOf)
        try:
            kind = self.with_item(var.kind, value)
        except Unkeepable as error:
            error.records |= self.deciding(var)  # each item is known if the loop is unrolled
            if error.kinds:
                error.slots |= self.site_of_kinds(self.lists_of(var))
            raise
        self.check_not_within(var, value)
        self.widen_items(var, kind)
        self.hold(var, (), value)

    def lists_of(self, var: ir.Var) -> list[Ref]:
        """The lists on the abstract heap that a variable may hold."""
        alike = self.likeness.alike(var)
        heap = self.state.heap.items()
        return [Ref(n) for n, thing in heap if isinstance(thing, ListObject) and thing.var in alike]

    def check_not_within(self, var: ir.Var, value: Any) -> None:
        """Refuse what holds lists that hold a list: the kind of its items would be part of itself.

        So it is with the neighbours of objects, which have neighbours.
        """
        thing = self.on_heap(value)
        if (
            isinstance(thing, ListObject)
            and thing.var is not None
            and self.likeness.is_in(var, thing.var)
        ):
            raise Unkeepable(
                "this list would be part of what it holds itself",
                self.span,
                "keep numbers that say which, and what they number in another list",
            )
        if isinstance(value, Tuple) or isinstance(thing, Instance):
            try:
                for item in value.items if isinstance(value, Tuple) else thing.items.values():
                    self.check_not_within(var, item)
            except Unkeepable:
                self.wants_table(thing)
                raise

    def hold(self, var: ir.Var, path: tuple[int, ...], value: Any) -> None:
        """Note which lists a list holds: they may be changed later."""
        if isinstance(value, Tuple):
            for i, item in enumerate(value.items):
                self.hold(var, (*path, i), item)
        elif isinstance(value, Ref):
            thing = self.state.heap[value.id]
            if isinstance(thing, ListObject) and thing.var is not None:
                self.link(var, path, thing.var)
            elif isinstance(thing, (DictObject, Instance)):
                if not is_table(thing):  # what is kept are the values that it has now
                    self.state.heap[value.id] = replace(thing, frozen=KEPT)
                for i, item in enumerate(thing.items.values()):
                    self.hold(var, (*path, i), item)

    def link(
        self, var: ir.Var, path: tuple[int, ...] | None, other: ir.Var, *, sliced: bool = False
    ) -> None:
        """Note that a list may be part of the items of another one, or hold the same items.

        What is put in one of them from now on is in the other one too. `path` says which part;
        None says that the items are the same, though one may be a slice of the other.
        """
        if var is other:
            return
        if path is None:
            self.likeness.note_same(var, other, sliced=sliced)
        else:
            self.likeness.note_part(var, path, other)
        self.links.setdefault(var, []).append((path, other, True))
        self.links.setdefault(other, []).append((path, var, False))
        self.follow(var, path, other, True)
        self.follow(other, path, var, False)

    def with_kind(self, kind: ListOf, other: ListOf) -> ListOf:
        """The kind of a list whose items may be those of another one, as far as one list can have
        them and no sizes are known."""
        if not without_sizes(other) or kind.type is not other.type:
            return kind
        try:
            return with_more(kind, self.stable_items(kind.item, other.item), other.holes)
        except KindMismatch:
            return kind

    def widen_items(self, var: ir.Var, kind: ListOf) -> None:
        """Give a list another kind of items, and the lists that may hold the same."""
        if var.kind != kind:
            var.kind = kind
            for link in self.links.get(var, ()):
                self.follow(var, *link)

    def follow(
        self, var: ir.Var, path: tuple[int, ...] | None, other: ir.Var, inwards: bool
    ) -> None:
        """Give a list the kind that follows from that of a list it is linked with."""
        assert isinstance(var.kind, ListOf) and isinstance(other.kind, ListOf)
        try:
            if path is None or inwards:
                part = var.kind if path is None else part_of(var.kind.item, path)
                if not isinstance(part, ListOf):
                    return
                items = self.stable_items(other.kind.item, part.item)
                kind = with_more(other.kind, items, part.holes)
            else:
                kind = replace(other.kind, item=self.with_part(other.kind.item, path, var.kind))
        except KindMismatch:
            raise Unkeepable(
                "the lists that this list holds have items of different kinds",
                self.span,
                "a list that is built or indexed in a loop needs items of one kind",
            ) from None
        self.widen_items(other, kind)

    def with_part(self, item: Any, path: tuple[int, ...], kind: Kind) -> Any:
        """The kind of a list's items of which a part may be of this kind too."""
        if not path or not isinstance(item, tuple):
            return self.stable_items(item, kind)
        inner = self.with_part(item[path[0]], path[1:], kind)
        return parts_like(item, (*item[: path[0]], inner, *item[path[0] + 1 :]))

    def item_kind(self, value: Any) -> Any:
        if isinstance(value, Tuple):
            if value.missing is not None and value.missing not in self.given_here:
                raise self.unkeepable(value)
            kinds = tuple(map(self.part_kind, value.items))
            return kinds if value.type is tuple else Fields(kinds, value.type)
        if isinstance(value, (ir.Var, ir.Const)):
            kind = leaf_kind(value)
            return replace(kind, size=None) if isinstance(kind, Scalar) else kind
        if isinstance(value, Ref):
            thing = self.state.heap[value.id]
            if isinstance(thing, ListObject):
                if thing.var is None:
                    self.materialize(Materialize(value, self.span))
                thing = self.state.heap[value.id]
                assert isinstance(thing, ListObject) and thing.var is not None
                return thing.var.kind
            if value.id in self.records_of:
                return item_kinds(self.records_of[value.id][0].kind)
            if value.id in self.keeping:
                raise self.unkeepable(value, f"{described(value)} that holds itself")
            named = self.is_kept_by_name(thing)
            if isinstance(thing, (DictObject, Instance)) and not is_table(thing):
                # better where the loop is unrolled: then it may be changed later
                keeping = {("%records", self.site), EVERYWHERE}
                if not (keeping & self.known_sites or (self.compact and named)):
                    self.records.add(self.site)
                    raise self.unkeepable(value)
            if named:
                assert isinstance(thing, DictObject)
                self.keeps_dicts = True
                return Fields(self.part_kinds(value, thing), dict, tuple(thing.items))
            if isinstance(thing, DictObject):
                self.tabulate(value)
                thing = self.state.heap[value.id]
            if isinstance(thing, Instance) and self.is_keepable(thing):
                return Fields(self.part_kinds(value, thing), thing.type, tuple(thing.items))
        raise self.unkeepable(value)

    def is_kept_by_name(self, thing: Any) -> bool:
        """Whether a list keeps a dict as the tuple of its values, which nobody may change then."""
        if not isinstance(thing, DictObject) or (TABULATED,) in self.known_sites:
            return False
        plain = thing.type is dict and not thing.is_namespace and not thing.external
        return plain and bool(thing.items) and set(map(type, thing.items)) == {str}

    def want_tables(self, thing: Any) -> None:
        """Begin again with tables for the dicts that lists keep, where this one may be kept."""
        frozen = isinstance(thing, DictObject) and thing.frozen is not None and not thing.external
        kept = self.keeps_dicts or getattr(thing, "frozen", None) == KEPT
        if frozen and kept and (TABULATED,) not in self.known_sites:
            site = frozenset([(TABULATED,)])
            raise NeedStatic(site, "this dict is kept in a list, and changed", self.span)

    def part_kinds(self, value: Ref, thing: Any) -> tuple[Any, ...]:
        """The kinds of what an object or a dict holds."""
        self.keeping.add(value.id)
        try:
            return tuple(map(self.part_kind, thing.items.values()))
        finally:
            self.keeping.remove(value.id)

    def part_kind(self, value: Any) -> Any:
        """The kind of a part of an item, which says nothing of None."""
        if self.is_optional(value):
            raise self.unkeepable(value, f"{described(value)} that may be None")
        return self.item_kind(value)

    def kept_operand(self, value: Any) -> ir.Operand:
        """The operand of what is kept in a list: an object is the tuple of its attributes."""
        if isinstance(value, Tuple) and value.whole is None:
            return ir.Pack(tuple, tuple(map(self.kept_operand, value.items)))
        if isinstance(value, Ref) and value.id in self.records_of:
            return self.records_of[value.id][0]
        thing = self.on_heap(value)
        if isinstance(thing, (DictObject, Instance)):
            return ir.Pack(tuple, tuple(map(self.kept_operand, thing.items.values())))
        if isinstance(value, ir.Var) and value in self.flats:
            raise self.kept_flat("can't be kept in a list that is built in a loop")
        return self.operand(value)

    def unkeepable(self, value: Any, what: str | None = None) -> Unkeepable:
        error = Unkeepable(
            f"{what or described(value)} can't be kept in a list that is built in a loop",
            self.span,
            "keep its arrays in separate lists, or loop over something of known length",
        )
        error.kinds = not isinstance(value, Ref)
        return error

    def stable_join(self, template: Kind, kind: Kind, known: set[int] | None = None) -> Kind:
        """`join` in which a dimension or int that was generalised before stays as it is.

        What a loop carries is generalised by each loop of its own: a size that varies in the loop
        around it may vary in the loop itself as well. `known` are the sizes that it has
        generalised; None for items of a list, for which all count.
        """
        if isinstance(template, ListOf) and type(template) is type(kind):
            if template.type is not kind.type:
                raise KindMismatch
            return with_more(template, self.stable_items(template.item, kind.item), kind.holes)
        if isinstance(template, Array) and isinstance(kind, Array):
            if template.shape is not None and kind.shape is not None:
                if len(template.shape) == len(kind.shape):
                    pairs = zip(template.shape, kind.shape, strict=True)
                    shape = tuple(self.stable_size(m, n, known) for m, n in pairs)
                    return either_array(template, kind, shape)
        if isinstance(template, Scalar) and isinstance(kind, Scalar):
            joined = join(replace(template, size=None), replace(kind, size=None))
            assert isinstance(joined, Scalar)
            size = None
            if template.size is None and kind.size is None:
                return replace(joined, size=None)
            if joined.dtype.kind == "i" and joined.python:
                size = self.stable_size(
                    template.size if template.size is not None else fresh_size(),
                    kind.size if kind.size is not None else fresh_size(),
                    known,
                )
            return replace(joined, size=size)
        return join(template, kind)

    def stable_items(self, a: Any, b: Any) -> Any:
        """`stable_join` of the kinds of list items, which may be tuples of kinds."""
        if a is None or b is None:
            return b if a is None else a
        if same_form(a, b):
            return parts_like(a, (self.stable_items(x, y) for x, y in zip(a, b, strict=True)))
        if isinstance(a, tuple) or isinstance(b, tuple):
            raise KindMismatch
        return self.stable_join(a, b)

    def stable_size(self, m: Any, n: Any, known: set[int] | None = None) -> Any:
        known = self.widened if known is None else known
        several = both_several(m, n)
        if m == n or (isinstance(m, Size) and m.base in known and (several or not m.big)):
            return m
        size = fresh_size(several)
        self.widened.add(size.base)
        known.add(size.base)
        return size


def part_of(item: Any, path: tuple[int, ...]) -> Any:
    """A part of the kind of a list's items, which may be a tuple of kinds."""
    for i in path:
        item = item[i] if isinstance(item, tuple) else None
    return item


def with_more(kind: ListOf, item: Any, holes: bool) -> ListOf:
    """The kind of a list with other items, some of which may be None."""
    holes = (kind.holes or holes) and not isinstance(item, Reference)  # which may be anyway
    if holes and isinstance(item, Fields) and item.names:
        raise KindMismatch  # an object that is kept as its attributes can't be
    return replace(kind, item=item, holes=holes)
