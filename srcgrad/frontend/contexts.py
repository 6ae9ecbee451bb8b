"""`with`: context managers that are followed, those that are called as they are, and generators."""

from __future__ import annotations

import contextlib
import types
from typing import Any

import gast

from .. import ir
from . import managers
from .assignments import Assignments
from .operations import enter_context, exit_context
from .predicates import FALSE, NONE, array_kind, is_none, is_number
from .structure import FLAGS
from .values import EVERYTHING, Closure, Instance, Manager, Place, Value
from .wording import described


class Contexts(Assignments):
    """Lowers `with` statements."""

    def statement_With(self, node: Any) -> None:
        item, *later = node.items
        inner = [gast.With(later, node.body, None)] if later else node.body
        manager = self.expression(item.context_expr)
        if isinstance(manager, ir.Const) and isinstance(manager.value, contextlib.suppress):
            caught = gast.Constant(managers.suppressed(manager.value), None)
            self.run([gast.Try(inner, [gast.ExceptHandler(caught, None, [gast.Pass()])], [], [])])
            return
        if isinstance(manager, Manager):
            self.run_managed(manager, item, inner)
            return
        lacking = "object does not support the context manager protocol"
        if is_none(manager):
            raise self.fault_of_none(TypeError, lacking)
        if is_number(manager) or array_kind(manager) is not None:
            raise self.fault(TypeError, f"{described(manager)}: this {lacking}")
        thing = self.thing(manager)
        if isinstance(manager, Place) or self.on_heap(manager) is not None:
            self.check_enters(self.class_of(manager), lacking)
        elif isinstance(thing, Instance):  # in a table
            self.check_enters(thing.type, lacking)
        is_entered = self.is_entered(manager)
        if is_entered:
            entered = self.entered(manager, "__enter__", [])
        else:
            entered = self.unknown_call(enter_context, [manager], {})
        if item.optional_vars is not None:
            self.assign(item.optional_vars, entered)
        caught = EVERYTHING if is_entered and self.may_end_exceptions(manager) else ()
        leave = self.exit if is_entered else self.exit_unseen
        self.finishing(lambda: self.run(inner), lambda error: leave(manager, error), caught)

    def check_enters(self, cls: type, lacking: str) -> None:
        """Check that a class has both methods of a context manager, as Python does before it
        calls one."""
        if not hasattr(cls, "__enter__"):
            raise self.fault(TypeError, f"{cls.__name__!r} {lacking}")
        if not hasattr(cls, "__exit__"):
            raise self.fault(TypeError, f"{cls.__name__!r} {lacking} (missed __exit__ method)")

    def entered(self, manager: Value, name: str, args: list[Value]) -> Value:
        """What one of the two methods of a context manager returns."""
        if isinstance(self.thing(manager), Instance):
            lacking = "{} object does not support the context manager protocol"
            return self.by_class(manager, name, args, lacking)
        return self.call(self.attribute(manager, name), args, {})

    def is_entered(self, manager: Value) -> bool:
        """Whether what a context manager does is followed."""
        if not isinstance(manager, Place) or not managers.is_users(manager):
            return self.thing(manager) is not None
        thing = manager.value
        if managers.followed(thing) in self.known_sites or id(thing) in self.read_of:
            return True
        methods = (self.closure_of(getattr(type(thing), name)) for name in managers.ENTERING)
        if not all(managers.keeps_to_itself(thing, method) for method in methods):
            return True
        if self.may_end_exceptions(manager):
            return True
        self.left_alone.append(thing)
        return False

    def may_end_exceptions(self, manager: Value) -> bool:
        """Whether the `__exit__` of a context manager may return that an exception is over, or
        raise another."""
        thing = self.thing(manager)
        cls = type(manager.value) if isinstance(manager, Place) else getattr(thing, "type", None)
        found = None if cls is None else self.class_attribute(cls, "__exit__")
        function = getattr(found, "value", None)
        if isinstance(function, types.FunctionType):
            found = self.closure_of(function)
        return isinstance(found, Closure) and managers.may_end_exceptions(found.node)

    def run_managed(self, manager: Manager, item: Any, inner: list[Any]) -> None:
        """`with` a generator: it runs, and the body where it yields.

        However the body is left, the generator goes on: its flags are put aside for that time. An
        exception goes on inside it, where it yields.
        """
        aside = {name: f"{name}{self.unique()}" for name in FLAGS}
        self.state.frames[self.current].update(dict.fromkeys(aside.values(), FALSE))

        def body(value: Value) -> None:
            self.trying = self.suspended
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value)
            self.run(inner)
            frame = self.state.frames[self.current]
            for name, hidden in aside.items():
                frame[hidden], frame[name] = frame.get(name, FALSE), FALSE

        self.managing = True
        self.iterate(manager.generator, body)
        frame = self.state.frames[self.current]
        for name, hidden in aside.items():
            frame[name] = frame.pop(hidden, FALSE)

    def exit(self, manager: Value, error: Value | None) -> Value:
        """Leave the block of a `with`; whether that ends the exception by which it is left."""
        how: list[Value] = [NONE, NONE, NONE]
        if error is not None:
            how = [self.builtin_type(error), error, NONE]
        result = self.entered(manager, "__exit__", how)
        return FALSE if error is None or self.state.unreachable else self.truth(result)

    def exit_unseen(self, manager: Value, error: Value | None) -> Value:
        """Leave the block of a `with` whose manager isn't looked into."""
        self.unknown_call(exit_context, [manager], {})
        return FALSE
