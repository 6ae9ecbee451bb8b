"""Dicts and sets: those with keys known when compiling, and the lookups that the others are of."""

from __future__ import annotations

import collections
import operator
import types
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import gast

from .. import ir
from ..analysis.inference import Inferred
from ..kinds import BOOL, INT, Array, Held, ListOf, Places, Scalar, TupleOf, int_kind, is_float
from ..packages import told
from . import tables
from .mixed import MixedLists
from .predicates import FALSE, NONE, TRUE, leaf_kind
from .restarts import Materialize, NeedStatic, Thaw, Unkeepable
from .set_orders import Order
from .sets import IN_PLACE, SET_OPERATORS, is_set_table
from .structure import Poison, is_table, item_structure, nothing, objects_in_key, resized
from .values import (
    Bound,
    Choice,
    DictObject,
    Instance,
    ListObject,
    Place,
    Ref,
    Tuple,
    Value,
    as_value,
)
from .wording import described

# The dicts whose `|` makes one of their class; of others, it makes a plain dict.
KEPT_BY_OPERATORS = (collections.OrderedDict, collections.defaultdict)
SET_COMPARISONS = frozenset({operator.le, operator.lt, operator.ge, operator.gt})


class Dicts(MixedLists):
    """Evaluates what is done to dicts and sets."""

    def hashed(self, value: Value) -> Any:
        """The key of a dict or set that stands on the heap: it may be an object, too."""
        if isinstance(value, Tuple):
            return tuple(self.hashed(item) for item in value.items)
        return value if isinstance(value, Ref) and self.is_its_own_key(value) else self.key(value)

    def is_its_own_key(self, ref: Ref) -> bool:
        """Whether an object is a key by which object it is, and that is known."""
        thing = self.on_heap(ref)
        if not isinstance(thing, Instance) or is_table(thing) or self.making:
            return False
        if any(self.class_attribute(thing.type, name) for name in ("__eq__", "__hash__")):
            return False
        if thing.external:  # the caller may have passed one object twice: that is asked of copies
            self.want_own(thing)
            return False
        if ref.id in self.copies:
            self.copied_keys = True
            self.check_copied_keys()
        self.the_only_one(thing)
        return True

    def the_only_one(self, thing: Any) -> None:
        """Refuse an object that stands for one of several as a key."""
        if thing.frozen is not None:
            self.wants_table(thing)
            message = "which object is the key of this dict or set isn't known when compiling"
            raise Thaw(thing.frozen, message, self.span, None)

    def settled_keys(self, thing: DictObject) -> None:
        """Refuse a dict of which it depends on the run what keys it has."""
        for item in (*thing.items.values(), thing.order):
            if isinstance(item, Poison):
                self.known("", item)
        for key in thing.items:
            for ref in objects_in_key(key):
                self.hashed(ref)

    def keys_of(self, thing: DictObject) -> list[Any]:
        """The keys in the order in which Python goes through them."""
        self.settled_keys(thing)
        return thing.order.keys() if thing.is_set else list(thing.items)

    def changed(self, value: Value, items: dict[Any, Value]) -> None:
        """Give a dict other items."""
        assert isinstance(value, Ref)
        thing = self.dictionary(value)
        self.writable(thing)
        self.put_items(value, items)

    def missing_item(self, value: Value, key: Any) -> Value:
        """`d[key]` where a dict has no such key."""
        thing = self.dictionary(value)
        self.settled_keys(thing)
        written = self.added_attribute(value, thing.type, "__missing__")
        if written is not None:
            return self.call(written, [self.lift(key, None)], {})
        if issubclass(thing.type, collections.Counter):
            return ir.Const(0)
        if thing.factory is None:
            if thing.external:
                self.write_journal(thing, collections.defaultdict)
            raise self.missing(key, f"the dict has no key {key!r}")
        made = self.call(thing.factory, [], {})
        self.changed(value, {**self.dictionary(value).items, key: made})
        return self.dictionary(value).items[key]

    # Dicts whose keys only the run tells

    def asks_at_run_time(self, value: Value, key: Value) -> bool:
        """Whether a dict is asked for a key that isn't known when compiling: it is a table then."""
        unknown = list(self.unknown_parts(key))
        if not unknown or not isinstance(value, Ref) or self.is_known_soon(unknown):
            return False
        try:
            self.tabulate(value)
        except Unkeepable:
            if any(v.origins for v in unknown):
                return False
            raise
        return True

    def is_known_soon(self, unknown: list[ir.Var]) -> bool:
        """Whether to ask for what isn't known of a key: of arguments, and of loops unrolled."""
        origins = frozenset().union(*(v.origins for v in unknown))
        if all(v.origins and object not in map(type, v.origins) for v in unknown):
            if self.specialisable(origins):
                return True
        if self.compact or not origins & self.unrollable:
            return False
        self.takes_apart = True
        return True

    def unknown_parts(self, key: Value) -> Iterator[ir.Var]:
        if isinstance(key, ir.Var):
            yield key
        elif isinstance(key, Tuple):
            for item in key.items:
                yield from self.unknown_parts(item)

    def is_of_table(self, function: Any, args: list[Value]) -> bool:
        """Whether a method of a dict or set is that of one which exists at run time, by now."""
        if not args or not isinstance(function, METHODS):
            return False
        if told(function, "__objclass__") not in OWNERS:
            return False
        if self.is_slotted(args[0]):
            return True
        if not isinstance(args[0], Ref):
            return False
        if is_table(self.state.heap[args[0].id]):
            return True
        if function in OF_SETS and any(is_set_table(self.on_heap(a)) for a in args[1:]):
            self.tabulate(args[0])
            return True
        return function in KEYED and len(args) > 1 and self.asks_at_run_time(args[0], args[1])

    def tabulate(self, ref: Ref) -> None:
        """Turn a dict or set on the abstract heap into one that the generated code builds."""
        thing = self.dictionary(ref)
        self.want_tables(thing)
        if thing.external or self.is_taken(ref) or ref.id < 0:
            if ref.id in self.holdable:
                site = frozenset([self.holdable[ref.id]])
                raise NeedStatic(site, "the keys of this dict must be known", self.span)
            self.want_own(thing)
            self.want_held(thing)
            inside = map(self.on_heap, () if thing.is_set else thing.items.values())
            of_sets = thing.is_set or any(getattr(one, "is_set", False) for one in inside)
            raise Unkeepable(
                f"the keys of {thing.external or 'a dict outside'!r} must be known when compiling",
                self.span,
                "use lists in place of sets" if of_sets else "make a copy first: dict(...)",
            )
        self.settled_keys(thing)
        cls = TABLES.get(thing.type)
        if cls is None:
            raise self.refuse(f"the keys of a {thing.type.__name__} must be known when compiling")
        items: dict[Any, Value] = {}
        if thing.is_set:
            items["where"] = self.made_like(thing.order)
        else:
            items["where"] = self.lookup_made([self.lift(key, None) for key in thing.items])
            self.lookup_of(items["where"]).name = "places"
            values = tuple(thing.items.values())
            before, self.site = self.site, self.sites.get(ref.id, self.site)
            entries = items["entries"] = self.new(ListObject(values))
            self.site = before
            try:
                if isinstance(self.on_heap(entries), ListObject):  # of one kind
                    self.materialize(Materialize(entries, self.span))
            except Unkeepable as error:
                if slots := self.site_of_slots(ref, thing):
                    error.slots, error.kinds = slots, False
                raise
        if thing.factory is not None:
            items["factory"] = thing.factory
        self.state.heap[ref.id] = Instance(cls, items, None, thing.frozen)
        for frame in self.state.frames.values():
            for name, value in frame.items():
                if value == ref:
                    self.name_table(name, ref)

    # Lookups

    def lookup_made(self, keys: Iterable[Value] = ()) -> Value:
        """A lookup that has the places of some keys, in their order."""
        keys = list(keys)
        pairs = [(self.asked_key(key), ir.Const(place)) for place, key in enumerate(keys)]
        whole = ir.Pack(dict, tuple(ir.Pack(tuple, pair) for pair in pairs))
        var = self.emit(dict, (whole,) if keys else (), inferred=Inferred(Places(None)))
        where = self.new(ListObject((), var))
        for key in keys:
            self.keep(var, key)
        return where

    def lookup_made_set(self) -> Value:
        var = self.emit(set, (), inferred=Inferred(Places(None)))
        return self.new(ListObject((), var))

    def lookup_of(self, where: Value) -> ir.Var:
        var = self.list_of(where)[1].var
        assert var is not None
        return var

    def asked_key(self, key: Value) -> ir.Operand:
        """The operand of a key."""
        for item in self.key_leaves(key):
            kind = leaf_kind(item) if isinstance(item, (ir.Var, ir.Const)) else None
            if kind is None or isinstance(kind, (Array, ListOf, TupleOf)):
                raise self.refuse(
                    f"{described(item)} can't be the key of a dict that is built at run time"
                )
        return self.operand(key)

    def key_leaves(self, key: Value) -> Iterator[Value]:
        if isinstance(key, Tuple):
            for item in key.items:
                yield from self.key_leaves(item)
        else:
            yield key

    def noted_key(self, where: Value, key: Value) -> tuple[ir.Var, ir.Operand]:
        """The lookup in which a key is entered, and its operand."""
        operand, var = self.asked_key(key), self.lookup_of(where)
        self.keep(var, key)
        return var, operand

    def lookup_has(self, where: Value, key: Value) -> Value:
        args = (self.lookup_of(where), self.asked_key(key))
        return self.emit(operator.contains, args, inferred=Inferred(BOOL), name="found")

    def lookup_at(self, where: Value, key: Value) -> Value:
        args = (self.lookup_of(where), self.asked_key(key))
        if self.trying is not None:
            self.guard(operator.getitem, args, {})
        return self.emit(operator.getitem, args, inferred=Inferred(INT), name="place")

    def lookup_value(self, where: Value, key: Value) -> Value:
        var, asked = self.lookup_of(where), self.asked_key(key)
        assert isinstance(var.kind, Held)
        if self.trying is not None:
            self.guard(operator.getitem, (var, asked), {})
        inferred = Inferred(resized(item_structure(var.kind.value), self.first_loop), (var,))
        item = self.emit(operator.getitem, (var, asked), inferred=inferred, name="item")
        found = self.project(item)
        if isinstance(item.kind, Held):
            return self.new(Instance(tables.HeldOutside, {"where": found}, item.name))
        return found

    def lookup_written(self, where: Value) -> Value:
        raise self.refuse(
            f"{self.lookup_of(where).name!r} is written here, and asked for keys that only the run "
            "tells",
            "make a copy first: dict(...)",
        )

    def lookup_enter(self, where: Value, key: Value, position: Value) -> Value:
        var, operand = self.noted_key(where, key)
        self.modify(operator.setitem, var, operand, self.operand(position))
        return NONE

    def lookup_leave(self, where: Value, key: Value) -> Value:
        var = self.lookup_of(where)
        self.insist_on_key(where, key)
        self.modify(operator.delitem, var, self.asked_key(key))
        return NONE

    def lookup_join(self, where: Value, key: Value) -> Value:
        var, operand = self.noted_key(where, key)
        self.modify(set.add, var, operand)
        return NONE

    def lookup_part(self, where: Value, key: Value) -> Value:
        var = self.lookup_of(where)
        self.insist_on_key(where, key)
        self.modify(set.remove, var, self.asked_key(key))
        return NONE

    def insist_on_key(self, where: Value, key: Value) -> None:
        """Inside a try: find out first whether a key is there that is taken out."""
        if self.trying is not None:
            found = self.operand(self.lookup_has(where, key))
            self.branch(found, nothing, lambda: self.throw_new(KeyError, [key]))

    def keys_of_other(self, other: Value, ordered: bool = True) -> ir.Var:
        """The lookup of another set, of which one is made if its members are known."""
        if not is_table(self.on_heap(other)):
            thing = self.dictionary(other)
            self.settled_keys(thing)
            order = thing.order if ordered else Order(set.update, tuple(thing.items))
            return self.lookup_of(self.made_like(order))
        thing = self.on_heap(other)
        assert isinstance(thing, Instance)
        return self.lookup_of(thing.items["where"])

    def lookup_change(self, function: Value, where: Value, other: Value) -> Value:
        var, keys = self.lookup_of(where), self.keys_of_other(other)
        self.link(var, None, keys)
        self.modify(self.key(function), var, keys)
        return NONE

    def lookup_combine(self, function: Value, where: Value, other: Value) -> Value:
        var, keys = self.lookup_of(where), self.keys_of_other(other)
        made = self.emit(
            self.key(function), (var, keys), inferred=Inferred(var.kind), name="members"
        )
        self.link(made, None, var)
        self.link(made, None, keys)
        return self.new(ListObject((), made))

    def lookup_compare(self, function: Value, where: Value, other: Value) -> Value:
        args = (self.lookup_of(where), self.keys_of_other(other, ordered=False))
        return self.emit(self.key(function), args, inferred=Inferred(BOOL))

    def lookup_empty(self, where: Value) -> Value:
        self.modify(set.clear, self.lookup_of(where))
        return NONE

    def lookup_taken(self, where: Value) -> Value:
        var, kind = self.lookup_of(where), self.kind_of_keys(where)
        if not isinstance(kind.item, Scalar) or kind.holes:
            raise self.refuse(
                "what is taken out of this set isn't a number",
                "go through it: for key in list(...)",
            )
        if self.trying is not None:
            raise self.refuse(
                "whether this set is empty can't be asked by an exception", "ask first: if members:"
            )
        inferred = Inferred(kind.item)
        return self.emit(set.pop, (var,), inferred=inferred, writes=(var,), name="key")

    def kind_of_keys(self, where: Value) -> ListOf:
        """The kind of a list of the keys."""
        var = self.lookup_of(where)
        assert isinstance(var.kind, Places)
        kind = ListOf(var.kind.item, var.kind.holes)
        if any(is_float(k) for k in kind_leaves(kind.item)):
            raise self.refuse(
                "the keys of this dict or set are floats, whose derivatives would be lost",
                "keep them in a list too",
            )
        return kind

    def lookup_keys(self, where: Value) -> Value:
        var, kind = self.lookup_of(where), self.kind_of_keys(where)
        made = self.emit(list, (var,), inferred=Inferred(kind), name="keys")
        return self.new(ListObject((), made))

    def lookup_count(self, where: Value) -> Value:
        args = (self.lookup_of(where),)
        return self.emit(len, args, inferred=Inferred(int_kind()), name="count")

    # Construction

    def builtin_dict(self, value: Value | None = None, /, **named: Value) -> Value:
        return self.with_slots(self.filled_dict(DictObject({}), value, named))

    def builtin_ordered_dict(self, value: Value | None = None, /, **named: Value) -> Value:
        return self.filled_dict(DictObject({}, type=collections.OrderedDict), value, named)

    def builtin_defaultdict(
        self, factory: Value = NONE, value: Value | None = None, /, **named: Value
    ) -> Value:
        none = isinstance(factory, ir.Const) and factory.value is None
        thing = DictObject({}, type=collections.defaultdict, factory=None if none else factory)
        return self.filled_dict(thing, value, named)

    def filled_dict(self, thing: DictObject, value: Value | None, named: dict[str, Value]) -> Ref:
        """A new dict with the items of another one, or of an iterable of pairs."""
        ref = self.new(thing)
        self.call(self.attribute(ref, "update"), [] if value is None else [value], named)
        return ref

    def builtin_counter(self, value: Value | None = None, /, **named: Value) -> Value:
        ref = self.new(DictObject({}, type=collections.Counter))
        self.counter_update(ref, value, **named)
        return ref

    def builtin_fromkeys(self, keys: Value, value: Value = NONE) -> Value:
        return self.new(DictObject({self.hashed(k): value for k in self.unpacked(keys)}))

    # Methods of dicts

    def dict_pop(self, value: Value, key: Value, default: Value | None = None) -> Value:
        items, k = dict(self.dictionary(value).items), self.hashed(key)
        if k not in items:
            if default is None:
                raise self.missing(k, f"the dict has no key {k!r}")
            return default
        item = self.known(f"[{k!r}]", items.pop(k))
        self.changed(value, items)
        return item

    def dict_popitem(self, value: Value, last: Value = TRUE) -> Value:
        items = dict(self.dictionary(value).items)
        self.settled_keys(self.dictionary(value))
        if not items:
            message = "popitem(): dictionary is empty"
            raise self.fault(KeyError, message, given=(message,))
        key = list(items)[-1 if self.key(last) else 0]
        item = items.pop(key)
        self.changed(value, items)
        return Tuple((self.lift(key, None), item))

    def dict_move_to_end(self, value: Value, key: Value, last: Value = TRUE) -> Value:
        items, k = dict(self.dictionary(value).items), self.hashed(key)
        if k not in items:
            raise self.missing(k, f"the dict has no key {k!r}")
        item = items.pop(k)
        self.changed(value, {**items, k: item} if self.key(last) else {k: item, **items})
        return NONE

    def dict_items(self, value: Value) -> Value:
        return self.call(Place(tables.items), [value], {})

    def dict_keys(self, value: Value) -> Value:
        return self.call(Place(tables.Keys), [value], {})

    def dict_values(self, value: Value) -> Value:
        return self.call(Place(tables.values), [value], {})

    def dict_get(self, value: Value, key: Value, default: Value = NONE) -> Value:
        if isinstance(value, ir.Const):
            if not isinstance(value.value, dict):
                raise self.refuse(f"{described(value)} has no get")
            return self.lift(value.value.get(self.key(key)), None)
        found = self.dictionary(value).items.get(self.hashed(key), default)
        return self.known(f"[{self.hashed(key)!r}]", found)

    def dict_setdefault(self, value: Value, key: Value, default: Value = NONE) -> Value:
        thing = self.dictionary(value)
        if thing.frozen not in self.thawed:
            self.unfrozen(thing)
        if self.hashed(key) not in thing.items:
            self.store_item(value, key, default)
        return self.known("", self.dictionary(value).items[self.hashed(key)])

    def dict_update(self, value: Value, other: Value | None = None, /, **named: Value) -> Value:
        if isinstance(other, Choice):
            return self.for_each(other, lambda o: self.dict_update(value, o, **named))
        self.writable(self.dictionary(value))
        thing = self.on_heap(other)
        if isinstance(thing, DictObject):
            self.settled_keys(thing)
            for k, v in thing.items.items():
                self.store_item(value, self.lift(k, None), v)
        elif other is not None and self.has_keys(other):

            def take(key: Value) -> None:
                self.store_item(value, key, self.subscript(other, key))

            self.iterate(self.call(self.attribute(other, "keys"), [], {}), take)
        elif other is not None:
            pairs = (
                other
                if thing is None or not is_table(thing)
                else self.call(self.attribute(other, "items"), [], {})
            )

            def put(pair: Value) -> None:
                items = self.unpacked(pair)
                if len(items) != 2:
                    raise self.fault(ValueError, f"a pair is needed here, not {len(items)} items")
                self.store_item(value, *items)

            self.iterate(pairs, put)
        for name, v in named.items():
            self.store_item(value, ir.Const(name), v)
        return NONE

    def has_keys(self, other: Value) -> bool:
        """Whether a dict is made of this by its keys: it's a mapping of a user's class."""
        thing = self.thing(other)
        if isinstance(thing, Instance):
            return not is_table(thing) and self.class_attribute(thing.type, "keys") is not None
        return isinstance(other, ir.Const) and hasattr(other.value, "keys")

    def dict_copy(self, value: Value) -> Value:
        thing = self.dictionary(value)
        return self.dict_like(thing, thing.items, (*KEPT_BY_OPERATORS, collections.Counter))

    def dict_like(self, like: DictObject, items: dict[Any, Value], kept: tuple[type, ...]) -> Ref:
        """A dict with other items, or set; of its class if it is one of those that are kept."""
        made = replace(like, items=dict(items), external=None, frozen=None)
        if not like.is_set and not issubclass(like.type, kept):
            made = replace(made, type=dict, is_namespace=False)
        return self.new(made)

    def dict_clear(self, value: Value) -> Value:
        self.changed(value, {})
        assert isinstance(value, Ref)
        self.state.heap[value.id] = replace(self.dictionary(value), order=None)
        return NONE

    # Methods of counters

    def counter_update(self, value: Value, other: Value | None = None, /, **named: Value) -> Value:
        def count(key: Value, more: Value) -> None:
            total = self.binary(operator.add, self.subscript(value, key), more)
            self.store_item(value, key, total)

        thing = self.on_heap(other)
        if isinstance(thing, DictObject) and not thing.is_set:
            self.settled_keys(thing)
            for key, more in thing.items.items():
                count(self.lift(key, None), more)
        elif other is not None and is_table(thing):
            items = self.call(self.attribute(other, "items"), [], {})
            self.iterate(items, lambda pair: count(*self.unpacked(pair)))
        elif other is not None:
            self.iterate(other, lambda key: count(key, ir.Const(1)))
        for name, more in named.items():
            count(ir.Const(name), more)
        return NONE

    def counter_operator(self, name: str, value: Value, *others: Value) -> Value | None:
        """What an operator of a Counter returns, as its class says; None if it says nothing."""
        thing, method = self.on_heap(value), vars(collections.Counter).get(name)
        if not isinstance(thing, DictObject) or not issubclass(thing.type, collections.Counter):
            return None
        if not isinstance(method, types.FunctionType):
            return None
        result = self.call(Bound(as_value(method), value), list(others), {})
        return None if self.is_declined(result) else result

    def counter_total(self, value: Value) -> Value:
        return self.call(ir.Const(sum), [self.dict_values(value)], {})

    def counter_most_common(self, value: Value, n: Value = NONE) -> Value:
        items = self.dictionary(value).items
        keys = sorted(items, key=lambda k: -self.key(items[k]))[: self.key(n)]
        rows = tuple(Tuple((self.lift(k, None), items[k])) for k in keys)
        return self.new(ListObject(rows))

    def counter_elements(self, value: Value) -> Value:
        items = self.dictionary(value).items
        return Tuple(tuple(self.lift(k, None) for k in items for _ in range(self.key(items[k]))))

    # Operators

    def dict_operator(self, function: Any, a: Value, b: Value) -> Value | None:
        """`a | b` of dicts, and what sets can do; None for other values."""
        p, q = map(self.on_heap, (a, b))
        counted = self.counter_operator(f"__{function.__name__.strip('_')}__", a, b)
        if counted is not None:
            return counted
        if isinstance(p, DictObject) and p.is_set and is_set_table(q):
            if function not in SET_OPERATORS:
                members = self.made_like(Order(set.update, tuple(p.items)))
                return self.lookup_compare(ir.Const(function), members, b)
            table = self.new(replace(p, type=set, external=None, frozen=None))
            self.tabulate(table)
            return self.binary(function, table, b)
        if not isinstance(p, DictObject) or not isinstance(q, DictObject):
            one, other = (p, b) if isinstance(p, DictObject) else (q, a)
            apart = isinstance(one, DictObject) and self.is_no_dict(other)
            equality = function in (operator.eq, operator.ne)
            return ir.Const(function is operator.ne) if apart and equality else None
        if p.is_set and q.is_set:
            if function in SET_OPERATORS:
                return self.set_of(SET_OPERATORS[function], a, (b,))
            if function in SET_COMPARISONS:
                sets = set(self.keys_of(p)), set(self.keys_of(q))
                return ir.Const(function(*sets))
        if function is operator.or_ and not p.is_set and not q.is_set:
            self.settled_keys(p)
            self.settled_keys(q)
            plain = not issubclass(p.type, KEPT_BY_OPERATORS)
            like = q if plain and issubclass(q.type, p.type) else p  # Python asks that one first
            return self.dict_like(like, {**p.items, **q.items}, KEPT_BY_OPERATORS)
        if function in (operator.eq, operator.ne):
            equal = self.equal_dicts(p, q)
            return equal if function is operator.eq else self.negated(equal)
        return None

    def is_no_dict(self, value: Value) -> bool:
        """Whether a value is of another type than a dict, and equal to none."""
        if isinstance(value, ir.Const):
            return type(value.value) in (str, bytes, int, float, complex, bool, type(None))
        listed = isinstance(value, Tuple) or isinstance(self.on_heap(value), ListObject)
        return listed or self.is_python_number(value)

    def equal_dicts(self, p: DictObject, q: DictObject) -> Value:
        self.settled_keys(p)
        self.settled_keys(q)
        if set(p.items) != set(q.items) or p.is_set != q.is_set:
            return ir.Const(False)
        if p.is_set:
            return TRUE
        keys = list(p.items)
        ordered = all(issubclass(t, collections.OrderedDict) for t in (p.type, q.type))
        if ordered and keys != list(q.items):
            return FALSE
        return self.compare(
            gast.Eq(),
            Tuple(tuple(p.items[k] for k in keys)),
            Tuple(tuple(q.items[k] for k in keys)),
        )

    def dict_augmented(self, function: Any, old: Ref, value: Value) -> bool:
        """`d |= e`, in place; False for what isn't a dict or set."""
        p, q = map(self.on_heap, (old, value))
        if self.counter_operator(f"__i{function.__name__.strip('_')}__", old, value) is not None:
            return True
        if isinstance(p, DictObject) and p.is_set:
            if p.type is set and is_set_table(q):
                self.tabulate(old)
            if p.type is frozenset or not isinstance(q, DictObject) or not q.is_set:
                return False
            if function in IN_PLACE:
                self.set_changed(getattr(set, IN_PLACE[function]), old, (value,))
            return function in IN_PLACE
        result = self.dict_operator(function, old, value)
        if result is None:
            return False
        self.changed(old, dict(self.dictionary(result).items))
        return True


def dict_methods() -> dict[Any, str]:
    """Which method here does what a method of dict, set or Counter does."""
    table: dict[Any, str] = {}
    for name in "pop popitem items keys values get setdefault update copy clear".split():
        table[getattr(dict, name)] = f"dict_{name}"
    table[dict.__init__] = "dict_update"
    table[collections.OrderedDict.move_to_end] = "dict_move_to_end"
    table[collections.OrderedDict.popitem] = "dict_popitem"
    for name in (
        "add remove discard pop union intersection difference symmetric_difference update "
        "copy clear intersection_update difference_update symmetric_difference_update issubset "
        "issuperset isdisjoint"
    ).split():
        table[getattr(set, name)] = f"set_{name}"
    for name in "update total most_common elements".split():
        table[getattr(collections.Counter, name)] = f"counter_{name}"
    table[collections.OrderedDict] = "builtin_ordered_dict"
    table[collections.defaultdict] = "builtin_defaultdict"
    table[collections.Counter] = "builtin_counter"
    table[set], table[frozenset] = "builtin_set", "builtin_frozenset"
    table[dict], table[dict.fromkeys] = "builtin_dict", "builtin_fromkeys"
    for name in (
        "made made_set has at value written enter leave join part taken change combine compare "
        "empty keys count"
    ).split():
        table[getattr(tables, name)] = f"lookup_{name}"
    return table


def kind_leaves(item: Any) -> Iterator[Any]:
    """The kinds in that of a list's item, which may be a tuple of kinds."""
    if isinstance(item, tuple):
        for inner in item:
            yield from kind_leaves(inner)
    else:
        yield item


METHODS = (types.MethodDescriptorType,)
OWNERS = frozenset({dict, set, collections.OrderedDict})
# Methods that take a key.
OF_SETS: frozenset[Any] = frozenset(
    {getattr(set, name) for name in (
        "union", "intersection", "difference", "symmetric_difference", "update", "issubset",
        "intersection_update", "difference_update", "symmetric_difference_update", "issuperset",
        "isdisjoint",
    )}
)  # fmt: skip
KEYED: frozenset[Any] = frozenset(
    {dict.pop, dict.get, dict.setdefault, set.add, set.remove, set.discard}
)
TABLES: dict[type, type] = {
    dict: tables.Table,
    collections.OrderedDict: tables.Table,
    collections.defaultdict: tables.DefaultTable,
    collections.Counter: tables.Counts,
    set: tables.Members,
}
