"""Displays of tuples, lists and dicts: what is unpacked in one may be one of several."""

from __future__ import annotations

from typing import Any

import gast

from .. import ir
from ..kinds import Array, ListOf
from .names import calls_in
from .setters import Setters
from .values import Choice, DictObject, ListObject, Ref, Tuple, Value


def is_folded(item: Value) -> bool:
    """Whether Python makes a tuple of such items when it compiles, once for all that are equal."""
    if isinstance(item, Tuple):
        return all(map(is_folded, item.items))
    return isinstance(item, ir.Const)


class Displays(Setters):
    """Evaluates `(a, *b)`, `[a, *b]` and `{a: b, **c}`."""

    def expression_Tuple(self, node: Any) -> Value:
        return self.linked(self.made_tuple(self.displayed(node)))

    def made_tuple(self, given: list[tuple[bool, Value]]) -> Value:
        """A tuple of values, of which some are unpacked."""
        at = next((i for i, (star, v) in enumerate(given) if star and isinstance(v, Choice)), None)
        if at is not None:
            choice: Any = given[at][1]
            before, after = given[:at], given[at + 1 :]
            return self.for_each(choice, lambda o: self.made_tuple([*before, (True, o), *after]))
        if any(star and self.has_any_length(part) for star, part in given):
            return self.builtin_tuple(self.made_list(given))
        items = tuple(self.flattened(given))
        return Tuple(items, fresh=not all(map(is_folded, items)))

    def flattened(self, given: list[tuple[bool, Value]]) -> list[Value]:
        return [v for star, part in given for v in (self.unpacked(part) if star else [part])]

    def displayed(self, node: Any) -> list[tuple[bool, Value]]:
        """The values of a tuple's or list's display, and whether they are unpacked in it."""
        found: list[tuple[bool, Value]] = []
        kept: list[tuple[int, Value, ir.Block, int, Any]] = []
        for i, element in enumerate(node.elts):
            star = isinstance(element, gast.Starred)
            value = self.expression(element.value if star else element)
            if star and calls_in(node.elts[i + 1 :]) and self.may_change(value):
                items = self.call_object(list, [value], {})
                here = self.block, len(self.block.statements)
                kept.append((i, items, *here, self.on_heap(value)))
            if star and self.goes_by_itself(value):
                # before what follows asks for its items
                if isinstance(node, gast.Tuple) and not self.has_method(value, "__next__"):
                    value = Tuple(tuple(self.unpacked(value)))
                else:
                    value = self.call_object(list, [value], {})
            found.append((star, value))
        for i, items, block, count, thing in kept:
            since = ir.walk(ir.Block(block.statements[count:]))
            writes = any(isinstance(s, ir.Assign) and (s.effect or s.writes) for s in since)
            if writes or self.block is not block or self.on_heap(found[i][1]) is not thing:
                found[i] = True, items  # what stood there before what follows was called
        return found

    def may_change(self, value: Value) -> bool:
        """Whether calls may change the items of a value: of an array or a list."""
        if isinstance(value, ir.Var):
            return isinstance(value.kind, (Array, ListOf))
        return isinstance(self.on_heap(value), ListObject)

    def expression_List(self, node: Any) -> Value:
        return self.linked(self.made_list(self.displayed(node)))

    def made_list(self, given: list[tuple[bool, Value]]) -> Ref:
        """A list of values, of which some are unpacked: arrays item by item, unless that's long."""
        arrays = any(star and isinstance(getattr(v, "kind", None), Array) for star, v in given)
        self.takes_apart = self.takes_apart or arrays
        of_run = arrays and self.compact
        if of_run or any(star and self.has_any_length(part) for star, part in given):
            ref = self.new(ListObject(()))
            for star, part in given:
                (self.extend if star else self.append)(ref, part)
            return ref
        return self.new(ListObject(tuple(self.flattened(given))))

    def expression_Dict(self, node: Any) -> Value:
        pairs: list[tuple[Value | None, Value]] = []
        for i, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
            k = None if key is None else self.expression(key)
            v = self.expression(value) if key is not None else self.spread(self.expression(value))
            later = [n for n in (*node.keys[i + 1 :], *node.values[i + 1 :]) if n is not None]
            if k is None and calls_in(later) and isinstance(self.on_heap(v), DictObject):
                v = self.builtin_copy(v)  # before they change it
            pairs.append((k, v))
        return self.made_dict(node, pairs)

    def made_dict(self, node: Any, pairs: list[tuple[Value | None, Value]]) -> Value:
        """A dict of pairs, with None where another dict is unpacked."""
        at = next(
            (i for i, (k, v) in enumerate(pairs) if k is None and isinstance(v, Choice)), None
        )
        if at is not None:
            choice: Any = pairs[at][1]
            before, after = pairs[:at], pairs[at + 1 :]
            return self.for_each(
                choice, lambda o: self.made_dict(node, [*before, (None, o), *after])
            )
        known = all(k is not None and self.is_known_key(k) for k, _ in pairs)
        site, self.site = self.site, id(node)
        ref = self.new(DictObject({self.hashed(k): v for k, v in pairs if k} if known else {}))
        self.site = site
        for k, v in [] if known else pairs:
            if k is None:
                self.call(self.attribute(ref, "update"), [v], {})
            else:
                self.store_item(ref, k, v)
        return self.with_slots(ref)

    def is_known_key(self, key: Value) -> bool:
        if isinstance(key, Tuple):
            return all(map(self.is_known_key, key.items))
        return isinstance(key, (ir.Const, Ref))
