"""Comprehensions, and generators: what they yield is consumed where it is yielded."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast

from .. import ir
from .iteration import Iteration
from .machine import Frame
from .names import scope_of
from .predicates import FALSE
from .stepping import FIRST, CannotStep, Steps, steps_of
from .values import Closure, DictObject, Generator, ListObject, Ref, Sequence, Tuple, Value


class Comprehensions(Iteration):
    """Lowers comprehensions and the bodies of generators."""

    def generator_of(self, closure: Closure, values: dict[str, Value]) -> Value:
        """A generator, which runs its body where it is consumed; a definition's has no place.

        One that is found to be asked several times is an object whose `__next__` makes its items.
        """
        fixed = self.fixed_span
        site = ("%steps", self.span, closure.name)
        if site in self.known_sites:
            return self.stepping(closure, values)

        def run(body: Callable[[Value], None]) -> Value | None:
            outer = self.fixed_span

            def consumed(item: Value) -> None:
                self.fixed_span = outer
                body(item)
                self.fixed_span = fixed

            self.fixed_span = fixed
            try:
                return self.run_function(closure, values, consumed)
            finally:
                self.fixed_span = outer

        generator = Generator(run, site=site)
        self.iterators[generator.born] = site
        return generator

    def stepping(self, closure: Closure, values: dict[str, Value]) -> Value:
        """A generator as an object that stops at each item and goes on from there."""
        try:
            node = steps_of(closure.node)
        except CannotStep as error:
            self.span = closure.source.span(error.args[0])
            raise self.refuse(
                "a generator that is asked for items several times can't go on from this yield",
                "yield in a statement of its own, outside of `try` and `with`, or make a list",
            ) from None
        step = self.run_function(replace(closure, node=node), values)
        assert step is not None
        return self.call(ir.Const(Steps), [step], {})

    def generator_expression(self, node: Any) -> Value:
        """A generator expression, which evaluates its first iterable at once."""
        frame, first = self.current, self.iterable(node.generators[0].iter)
        site = self.stepwise_site
        if site in self.known_sites:
            return self.stepping(self.closure(as_function(node), "<genexpr>"), {FIRST: first})
        if any(isinstance(s, tuple) and s[0] == "%stepwise" for s in self.known_sites):
            self.capture_frames()  # an object may hold it, and be returned
        generators = node.generators
        simple = len(generators) == 1 and not generators[0].ifs
        goes_by_itself = isinstance(first, Generator) or self.has_method(first, "__next__")
        simple = simple and not goes_by_itself  # which would be used up at once

        def item_of(inner: Sequence, i: Value) -> Value:
            found: list[Value] = []
            given = Tuple((inner.item(i),))
            self.generate(node, frame, lambda: found.append(self.expression(node.elt)), first=given)
            return found[0]

        def sequence() -> Sequence:
            inner = self.require(first)
            return replace(inner, item=lambda i: item_of(inner, i), bounds=None, changing=None)

        made = Generator(
            lambda body: self.run_comprehension(node, frame, first, body),
            sequence=sequence if simple else None,
            over=tuple(self.over_dicts([first])),
        )
        assert made.born is not None
        self.generators[made.born] = self.current
        return self.as_of(made, site)

    def run_comprehension(
        self, node: Any, frame: int, first: Value, consume: Callable[[Value], None]
    ) -> None:
        self.state.frames[self.current]["%returned"] = FALSE
        self.generate(
            node,
            frame,
            lambda: self.yielded(self.expression(node.elt)),
            consume=consume,
            first=first,
        )

    def yielded(self, value: Value) -> None:
        """Give a value to the consumer of the generator being run, which may break off."""
        inner = self.current
        consumer = self.frames[inner].consumer
        if consumer is None:
            raise self.refuse("a yield outside of a generator")
        number, body, around = consumer
        self.current = number
        frame = self.state.frames[number]
        frame["%returned"] = FALSE
        span, trying, suspended = self.span, self.trying, self.suspended
        self.trying, self.suspended = around, trying
        try:
            body(value)
            flag = self.exit_flag()
        finally:
            self.current, self.span, self.trying, self.suspended = inner, span, trying, suspended
        if self.state.unreachable:
            return
        frame = self.state.frames[inner]
        if isinstance(flag, ir.Const) and not flag.value:
            return
        frame["%stop"] = frame["%break"] = frame["%returned"] = flag

    def comprehension(self, node: Any) -> Value:
        """A list, set or dict comprehension."""
        if isinstance(node, gast.ListComp):
            return self.collected(node, self.current)
        if isinstance(node, gast.DictComp):
            ref = self.new(DictObject({}))

            def put() -> None:
                key = self.expression(node.key)
                self.store_item(ref, key, self.expression(node.value))

            self.generate(node, self.current, put)
            return ref
        ref = self.new_set({})
        self.generate(
            node,
            self.current,
            lambda: self.discarded(
                self.call(self.attribute(ref, "add"), [self.expression(node.elt)], {})
            ),
        )
        return ref

    def collected(self, node: Any, frame: int) -> Ref:
        ref = self.new(ListObject(()))
        self.generate(node, frame, lambda: self.append(ref, self.expression(node.elt)))
        return ref

    def generate(
        self,
        node: Any,
        frame: int,
        body: Callable[[], None],
        consume: Callable[[Value], None] | None = None,
        first: Value | None = None,
    ) -> None:
        """Run `body` for every combination of a comprehension's generators.

        The first of them goes through what its expression is outside: `[x for x in x]`.
        """
        caller, self.current = self.current, frame
        try:
            outermost = self.iterable(node.generators[0].iter) if first is None else first
        finally:
            self.current = caller
        number = self.unique()
        parent = self.frames[frame]
        # what else it reads in the body of a class isn't what is defined there
        self.frames[number] = Frame(
            scope_of(node),
            parent.source,
            parent.namespace,
            parent.parent if frame in self.methods else frame,
            parent.owner,
            parent.receiver,
            parent.name,
            True,
            None if consume is None else (self.current, consume, self.trying),
        )
        self.state.frames[number] = {}

        def level(position: int) -> None:
            if position == len(node.generators):
                body()
                return
            generator = node.generators[position]

            def conditions(tests: list[Any]) -> None:
                if not tests:
                    level(position + 1)
                    return
                self.decided(self.tested(tests[0]), lambda: conditions(tests[1:]))

            def item(value: Value) -> None:
                self.assign(generator.target, value)
                conditions(list(generator.ifs))

            iterable = self.iterable(generator.iter) if position else outermost
            self.loop_site = id(generator)
            name = generator.target.id if isinstance(generator.target, gast.Name) else "i"
            self.iterate(iterable, item, name)

        self.current = number
        try:
            level(0)
        finally:
            self.current = caller
            self.leave_frame(number)


@functools.lru_cache(1024)
def as_function(node: Any) -> Any:
    """The generator function that a generator expression is, of what it goes through first."""
    inner: Any = gast.Expr(gast.Yield(node.elt))
    for generator in reversed(node.generators):
        for test in reversed(generator.ifs):
            inner = gast.If(test, [inner], [])
        inner = gast.For(generator.target, generator.iter, [inner], [], None)
    inner.iter = gast.Name(FIRST, gast.Load(), None, None)
    parameter = gast.Name(FIRST, gast.Param(), None, None)
    arguments = gast.arguments([parameter], [], None, [], [], None, [])
    made = gast.FunctionDef("<genexpr>", arguments, [inner], [], None, None, [])
    for part in gast.walk(made):
        if not hasattr(part, "lineno"):
            gast.copy_location(part, node)
    return made
