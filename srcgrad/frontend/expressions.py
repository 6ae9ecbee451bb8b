"""Lowering of expressions: constants, displays, f-strings; the rest in the modules beside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast

from .. import ir
from ..analysis.inference import Inferred
from ..errors import UnsupportedError
from ..kinds import Array, ListOf, Opaque
from ..rules import registry
from .setters import Setters
from .structure import NONE, described, is_iterator, is_number
from .values import (
    Choice,
    DictObject,
    Generator,
    Journal,
    ListObject,
    NeedStatic,
    Place,
    Ref,
    Sequence,
    Tuple,
    Value,
)


class Expressions(Setters):
    """Evaluates expression nodes to abstract values."""

    def expression(self, node: Any) -> Value:
        """The value of an expression node."""
        method = getattr(self, "expression_" + type(node).__name__, None)
        before, site = self.span, self.site
        self.site = id(node)
        if not self.fixed_span:
            self.span = self.frames[self.current].source.span(node)
        if method is None:
            raise self.refuse(f"{type(node).__name__} isn't supported")
        value = method(node)
        if isinstance(value, Place) and type(value.value) in registry.made_of:
            value = self.made_anew(value.value, value.path)  # an argument
        self.site = site
        if not self.fixed_span:
            self.span = before
        return value  # type: ignore[no-any-return]

    def at(self, node: Any) -> None:
        if not self.fixed_span:
            self.span = self.frames[self.current].source.span(node)

    def expression_Constant(self, node: Any) -> Value:
        return ir.Const(node.value)

    def expression_Tuple(self, node: Any) -> Value:
        return self.made_tuple(self.displayed(node))

    def made_tuple(self, given: list[tuple[bool, Value]]) -> Value:
        """A tuple of values, of which some are unpacked."""
        at = next((i for i, (star, v) in enumerate(given) if star and isinstance(v, Choice)), None)
        if at is not None:
            choice: Any = given[at][1]
            before, after = given[:at], given[at + 1 :]
            return self.for_each(choice, lambda o: self.made_tuple([*before, (True, o), *after]))
        return Tuple(tuple(self.flattened(given)))

    def flattened(self, given: list[tuple[bool, Value]]) -> list[Value]:
        return [v for star, part in given for v in (self.unpacked(part) if star else [part])]

    def displayed(self, node: Any) -> list[tuple[bool, Value]]:
        """The values of a tuple's or list's display, and whether they are unpacked in it."""
        found: list[tuple[bool, Value]] = []
        for element in node.elts:
            star = isinstance(element, gast.Starred)
            value = self.expression(element.value if star else element)
            if star and (is_iterator(value) or self.is_cursor(value)):
                # before what follows asks for its items
                if isinstance(node, gast.Tuple):
                    value = Tuple(tuple(self.unpacked(value)))
                else:
                    value = self.call_object(list, [value], {})
            found.append((star, value))
        return found

    def expression_List(self, node: Any) -> Value:
        given = self.displayed(node)
        if any(star and self.has_any_length(part) for star, part in given):
            ref = self.new(ListObject(()))
            for star, part in given:
                (self.extend if star else self.append)(ref, part)
            return ref
        return self.new(ListObject(tuple(self.flattened(given))))

    def expression_Dict(self, node: Any) -> Value:
        pairs: list[tuple[Value | None, Value]] = []
        for key, value in zip(node.keys, node.values, strict=True):
            k = None if key is None else self.expression(key)
            pairs.append((k, self.expression(value)))
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
        return ref

    def is_known_key(self, key: Value) -> bool:
        if isinstance(key, Tuple):
            return all(map(self.is_known_key, key.items))
        return isinstance(key, (ir.Const, Ref))

    def key(self, value: Value) -> Any:
        """A value, a dict's key or a setting, which must be known when compiling."""
        if isinstance(value, ir.Const):
            return value.value
        if isinstance(value, Tuple):
            return tuple(self.key(item) for item in value.items)
        self.need_static(value, "the key of a dict must be known when compiling")
        raise AssertionError

    def dictionary(self, value: Value) -> DictObject:
        thing = self.on_heap(value)
        if not isinstance(thing, DictObject):
            raise self.refuse(f"{described(value)} isn't a dict")
        return thing

    def unpacked(self, value: Value) -> list[Value]:
        """The items of something whose length is known when compiling."""
        if isinstance(value, Tuple):
            return list(value.items)
        if isinstance(value, Generator):
            value = self.list_of_items(value)
        sequence = self.sequence(value)
        if sequence is None:
            raise self.not_iterable(value)
        return self.unrolled_items(sequence, value)

    def unrolled_items(self, sequence: Sequence, value: Value) -> list[Value]:
        """The items of a sequence made of a value, whose number is known when compiling."""
        if not isinstance(sequence.length, ir.Const):
            self.need_items(value)
            self.need_static(sequence.length, "how many items there are must be known here")
        assert isinstance(sequence.length, ir.Const)
        return [sequence.item(ir.Const(i)) for i in range(sequence.length.value)]

    def need_items(self, value: Value) -> None:
        """Ask for the loops to be unrolled that make a list whose items must be known."""
        thing = self.on_heap(value)
        var = thing.var if isinstance(thing, ListObject) else None
        if isinstance(value, ir.Var) and isinstance(value.kind, ListOf):
            var = value
        if var is not None and var.origins - self.known_sites:
            raise NeedStatic(var.origins, "how many items there are must be known", self.span)

    def not_iterable(self, value: Value) -> UnsupportedError:
        """The refusal of what has no known items; of an array, its shape is asked for first."""
        if is_number(value):
            return self.fault(TypeError, "a number can't be iterated over")
        if isinstance(value, ir.Var) and isinstance(value.kind, Array) and value.kind.shape is None:
            self.need_static(value, "how many items this array has must be known here")
        if isinstance(value, Journal):
            self.want_journal(value)
        return self.refuse(f"{described(value)} can't be iterated over")

    def need_static(self, value: Value, message: str, advice: str | None = None) -> None:
        if isinstance(value, ir.Var) and value.origins:
            raise NeedStatic(value.origins, message, self.span)
        raise self.refuse(message, advice)

    def opaque(self, function: Any, args: list[Value]) -> Value:
        """A call whose result carries no derivative and of which nothing is known."""
        operands = tuple(self.operand(a) for a in args)
        return self.emit(function, operands, inferred=Inferred(Opaque(None)))

    def expression_NamedExpr(self, node: Any) -> Value:
        value = self.expression(node.value)
        self.bind(node.target.id, value)
        return value

    def expression_ListComp(self, node: Any) -> Value:
        return self.comprehension(node)

    def expression_SetComp(self, node: Any) -> Value:
        return self.comprehension(node)

    def expression_DictComp(self, node: Any) -> Value:
        return self.comprehension(node)

    def expression_GeneratorExp(self, node: Any) -> Value:
        return self.generator_expression(node)

    def expression_Await(self, node: Any) -> Value:
        raise self.refuse("asynchronous code can't be differentiated")

    def expression_Yield(self, node: Any) -> Value:
        self.yielded(NONE if node.value is None else self.expression(node.value))
        return NONE

    def expression_YieldFrom(self, node: Any) -> Value:
        return self.known("what the generator returns", self.delegated(node))

    def delegated(self, node: Any) -> Any:
        """Yield all that a generator yields; what it returns."""
        iterable = self.expression(node.value)

        def passed_on(item: Value) -> None:
            self.trying = self.suspended
            self.yielded(item)

        if not isinstance(iterable, Generator):
            self.iterate(iterable, self.yielded)
            return NONE
        results: list[Any] = []

        def run(body: Callable[[Value], None]) -> None:
            results.append(iterable.run(body))

        self.iterate(replace(iterable, run=run), passed_on)
        return NONE if results[-1] is None else results[-1]
