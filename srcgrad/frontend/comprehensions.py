"""Comprehensions, and generators: what they yield is consumed where it is yielded."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import gast

from .. import ir
from .choices import options
from .iteration import Iteration
from .machine import Frame
from .names import closed_at, own_nodes, scope_of
from .predicates import FALSE, NONE, TRUE, is_false, is_none
from .stepping import FIRST, CannotStep, Steps, steps_of
from .structure import is_evaluated, object_items
from .values import (
    Closure,
    DictObject,
    Generator,
    Instance,
    ListObject,
    Ref,
    Sequence,
    Trying,
    Tuple,
    Value,
)

# What the frame of a consumer keeps of a generator until that has ended: what the consumer raised,
# and whether the generator went on when it was left
PENDING, CLOSING = "%pending{}", "%closing{}"


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
            self.held_by = self.frames_with(generator)
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

    def expression_Yield(self, node: Any) -> Value:
        self.yielded(NONE if node.value is None else self.expression(node.value), node)
        return NONE

    def expression_YieldFrom(self, node: Any) -> Value:
        return self.known("what the generator returns", self.delegated(node))

    def delegated(self, node: Any) -> Any:
        """Yield all that a generator yields; what it returns."""
        iterable = self.expression(node.value)
        inside = self.is_told_at(node)

        def passed_on(item: Value) -> None:
            self.trying = self.suspended
            if inside:
                self.yielded_inside(item)
            else:
                self.yielded(item, node)

        if not isinstance(iterable, Generator):
            self.loop_site = id(node)
            self.iterate(iterable, lambda item: self.yielded(item, node))
            return NONE
        results: list[Any] = []

        def run(body: Callable[[Value], None]) -> None:
            results.append(iterable.run(body))

        self.iterate(replace(iterable, run=run), passed_on)
        if inside:
            self.close_generator()
        return NONE if results[-1] is None else results[-1]

    def yielded(self, value: Value, node: Any = None) -> None:
        """Give a value to the consumer of the generator being run, which may break off.

        `node` is the yield, if it is one of a generator function.
        """
        self.check_open()
        if self.is_told_at(node):
            self.yielded_inside(value)
            self.close_generator()
        else:
            self.given_to_consumer(value, self.consumed)

    def frames_with(self, generator: Generator) -> frozenset[int | None]:
        """The frames that have a name for a generator; None stands for an object that has it."""

        def is_this(value: Any) -> bool:
            return isinstance(value, Generator) and value.born == generator.born

        found: set[int | None] = set()
        for number, names in self.state.frames.items():
            own = self.frames[number].namespace.globals.get("__name__", "")
            if own.startswith("srcgrad."):
                continue  # whose names go at once
            if any(is_this(v) for name, v in names.items() if not is_evaluated(name)):
                found.add(number)
        if any(is_this(v) for thing in self.state.heap.values() for v in object_items(thing)):
            found.add(None)
        return frozenset(found)

    def is_told_at(self, node: Any) -> bool:
        """Whether the generator being run is told at a yield if its consumer doesn't go on."""
        frame = self.frames[self.current]
        return frame.closing and id(node) in closed_at(frame.node)

    def check_open(self) -> None:
        """Refuse a yield of a generator that was left, and has caught the GeneratorExit."""
        inner = self.current
        if not self.frames[inner].closing:
            return
        number = self.frames[inner].consumer[0]
        if not is_false(self.state.frames[number][CLOSING.format(inner)]):
            raise self.refuse(
                "a generator that yields after it was left can't be followed",
                "end it where a GeneratorExit is caught",
            )

    def check_left(self, pending: Value) -> None:
        """Refuse that a generator with something to do at its end is left, but still has a name."""
        frame = self.frames[self.current]
        flag = self.state.frames[self.current].get("%stop", FALSE)
        if not frame.held_by or (is_false(flag) and is_none(pending)):
            return
        number = frame.consumer[0]
        consumer = self.frames[number].node
        returned = self.state.frames[number].get("%returned", FALSE)
        if not is_false(returned) and is_none(pending) and isinstance(consumer, gast.FunctionDef):
            breaks = any(isinstance(n, gast.Break) for n in own_nodes(consumer.body))
            if frame.held_by == {number} and not breaks:
                return  # its name goes, too
        raise self.refuse(
            "what a generator does where it is left is done once nothing refers to it",
            "go through it without a name: for ... in generator(...)",
        )

    def yielded_inside(self, value: Value) -> None:
        """Give a value to the consumer, where the generator is told of it if that isn't the end.

        What the consumer raises is kept until the generator has been closed.
        """
        inner, (number, _, around) = self.current, self.frames[self.current].consumer
        caught = tuple(dict.fromkeys(cls for t in tries(around) for cls in t.caught))

        def keep(error: Value) -> None:
            self.state.frames[number][PENDING.format(inner)] = error

        def run(body: Callable[[Value], None], item: Value) -> None:
            if caught:
                self.attempt(caught, lambda: body(item), keep)
            else:
                body(item)

        self.given_to_consumer(value, run)
        if self.state.unreachable:
            return
        pending, frame = self.raised_by_consumer(), self.state.frames[inner]
        self.check_left(pending)
        raised = self.negated(self.identical(pending, NONE))
        left = self.truth(self.any_or_all(True, [raised, frame.get("%stop", FALSE)]))
        if not is_false(left):
            frame["%stop"] = frame["%break"] = frame["%returned"] = left

    def raised_by_consumer(self) -> Value:
        """What the consumer of the generator being run has raised, or None."""
        number = self.frames[self.current].consumer[0]
        raised = self.state.frames[number][PENDING.format(self.current)]
        return self.known("what is raised", raised)

    def close_generator(self) -> None:
        """Raise a GeneratorExit where a generator stands that its consumer doesn't go on with."""
        inner = self.current
        if self.state.unreachable:
            return
        self.decided(
            self.state.frames[inner].get("%returned", FALSE),
            lambda: self.throw(self.new(Instance(GeneratorExit, {"args": Tuple(())}))),
        )

    def note_ended(self, error: Value) -> None:
        """Note of a generator that it goes on where it was left: it has ended the GeneratorExit."""
        classes = [self.exception_class(o) for o in options(error) if not is_none(o)]
        if not any(issubclass(cls, GeneratorExit) for cls in classes):
            return
        number = self.current
        while not self.frames[number].closing:
            if self.frames[number].consumer is None:
                return
            number = self.frames[number].consumer[0]
        consumer = self.frames[number].consumer[0]
        self.state.frames[consumer][CLOSING.format(number)] = TRUE

    def run_closing(self, number: int, statements: list[Any]) -> None:
        """Run the body of a generator that is told when its consumer doesn't go on with it."""
        consumer, inner = self.frames[number].consumer[0], self.current
        names = PENDING.format(inner), CLOSING.format(inner)
        self.state.frames[consumer].update(zip(names, (NONE, FALSE), strict=True))
        self.attempt((GeneratorExit,), lambda: self.run(statements), lambda error: None)
        if self.state.unreachable:
            return
        pending, _ = (self.state.frames[consumer].pop(name) for name in names)
        pending = self.known("what is raised", pending)
        raised = self.truth(self.negated(self.identical(pending, NONE)))
        self.decided(raised, lambda: self.throw(self.narrowed(pending)))

    @staticmethod
    def consumed(body: Callable[[Value], None], item: Value) -> None:
        body(item)

    def given_to_consumer(
        self, value: Value, run: Callable[[Callable[[Value], None], Value], None]
    ) -> None:
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
            run(body, value)
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


def tries(trying: Trying | None) -> Iterator[Trying]:
    """A try and those around it."""
    while trying is not None:
        yield trying
        trying = trying.outer
