"""User functions: their bodies are run in place of their calls.

Each call has a frame of its own, as in Python. What can't be inlined, as a recursion can't, is a
unit (`units`): a function that stays one. A generator's body runs where its items are consumed.
"""

from __future__ import annotations

import functools
import os
import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from .. import ir
from ..errors import SourceError, UnsupportedError
from ..kinds import Array, Scalar, Size
from ..rules import registry
from . import operations, running, stepping, stepwise, tables, units
from .machine import Frame
from .names import Namespace, closed_at, own_nodes, scope_of
from .predicates import FALSE, NONE, TRUE, is_iterator
from .restarts import NeedStatic, Unreached
from .sharing import shared_call
from .source import get_source
from .starred import Starred
from .structure import parts
from .values import Closure, DictObject, Path, Spread, Tuple, Value

MOST_CALLS = 24  # of a recursion, inside each other, if only the run tells whether it goes on
MOST_KNOWN = 200  # if objects that are known when compiling tell it
MOST_INLINED = 2000
# What is lowered like the user's code, but isn't it
OWN_FILES = frozenset(m.__file__ for m in (operations, running, stepping, stepwise, tables))
RULES_FOLDER = os.path.dirname(registry.__file__)


class Inlining(Starred):
    """Runs the bodies of functions."""

    def inline(
        self, function: types.FunctionType, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        """Run a Python function's body in place of its call."""
        return self.inline_closure(self.closure_of(function), args, kwargs)

    def closure_of(self, function: Any) -> Closure:
        """A Python function as lowering sees it."""
        try:
            source = get_source(function, self.given_sources.get(function.__code__))
        except SourceError as error:
            raise self.refuse(error.message, error.advice) from error
        self.inlined[function] = function.__code__
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        defaults = function.__defaults__ or ()
        if defaults:
            self.guards[Path("attribute", function, "__defaults__")] = defaults
        for name, default in (function.__kwdefaults__ or {}).items():
            keywords = Path("attribute", function, "__kwdefaults__")
            self.guards[Path("item", keywords, name)] = default
        return Closure(
            source.node,
            source,
            None,
            Namespace(function.__globals__, cells),
            tuple(
                self.lift(d, Path("item", defaults, i) if is_mutable(d) else None)
                for i, d in enumerate(defaults)
            ),
            {
                k: self.lift(d, Path("item", function.__kwdefaults__, k) if is_mutable(d) else None)
                for k, d in (function.__kwdefaults__ or {}).items()
            },
            function.__name__,
            _owner(function),
        )

    def inline_closure(
        self,
        closure: Closure,
        args: list[Value],
        kwargs: dict[str, Value],
        wanted: units.Wanted | None = None,
    ) -> Value:
        node = closure.node
        if isinstance(node, gast.AsyncFunctionDef):
            raise self.refuse("an asynchronous function can't be differentiated")
        if closure.frame is not None and closure.frame not in self.state.frames:
            raise self.refuse(
                "this function may have been made in an earlier iteration of a loop, by a call "
                "whose variables aren't known any more",
                "make it in the iteration that calls it, or pass what it needs as arguments",
            )
        values = self.bound_arguments(closure, args, kwargs)
        if is_generator(node):
            return self.generator_of(closure, values)
        wanted, self.wanted = wanted or self.wanted, None
        if wanted is not None or (self.kept and units.identity(closure) in self.kept):
            return units.lower_call(self, closure, values, wanted or units.Wanted())
        function, before, emitted = units.identity(closure), self.fixed_span, self.emitted
        fixed = before or _stands_for_another(closure)
        shared = self.shared and function in self.shared and not fixed and self.may_share(closure)
        if shared and function not in self.calls.impure:  # which is inlined the next time
            return shared_call(self, closure, values)
        self.fixed_span = fixed
        try:
            result = self.run_function(closure, values)
        finally:
            self.fixed_span = before
            if self.calls is not None and self.depth and not fixed:
                self.calls.note(function, self.emitted - emitted)
        assert result is not None
        return result

    def may_share(self, closure: Closure) -> bool:
        """Whether a call may be that of a unit: no `try` around it sees what it raises."""
        return self.trying is None and id(closure.node) not in self.active_nodes

    def as_unit(
        self, function: Value, args: list[Value], kwargs: dict[str, Value], wanted: units.Wanted
    ) -> Value:
        """The call of a function that isn't to be inlined."""
        self.wanted = wanted
        try:
            return self.call(function, args, kwargs)
        finally:
            self.wanted = None

    def run_function(
        self,
        closure: Closure,
        values: dict[str, Value],
        consume: Callable[[Value], None] | None = None,
    ) -> Value | None:
        """Run a function's body; `consume` is given what a generator yields."""
        node = closure.node
        self.check_recursion(closure, values)
        number = self.unique()
        managing, held_by = self.managing, self.held_by
        self.managing, self.held_by = False, frozenset()
        closing = consume is not None and not managing and bool(closed_at(node))
        self.frames[number] = Frame(
            scope_of(node),
            closure.source,
            closure.namespace,
            closure.frame,
            closure.owner,
            next(iter(values.values()), None),
            closure.name,
            node=node,
            consumer=None if consume is None else (self.current, consume, self.trying),
            held_by=held_by,
            closing=closing,
        )
        self.state.frames[number] = dict(values)
        for name in values:
            self.set_flag(name, number, TRUE)
        if consume is not None:
            self.state.frames[self.current]["%returned"] = FALSE
        caller, span, self.current, entry = self.current, self.span, number, self.state
        self.depth += 1
        self.active_nodes.append(id(node))
        self.active_blocks.append(self.block)
        result: Value | None = None
        try:
            if isinstance(node, gast.Lambda):
                return (result := self.expression(node.body))
            if closing:
                self.run_closing(number, node.body)
            else:
                self.run(node.body)
            if self.state.unreachable:
                if consume is None and self.depth > 1:
                    raise Unreached  # nothing is done with its result
                return NONE
            if consume is not None and not returns_value(node):
                return None
            self.fall_off()
            result = self.state.frames[number].get("%return", NONE)
            return result if consume is not None else self.known("the result", result)
        except (UnsupportedError, NeedStatic) as error:
            if span is not None and error.span is not None and _is_own(error.span.filename):
                error.span = span  # what the user wrote, that this stands for
                if isinstance(error, UnsupportedError):
                    error.text = span.text()
            raise
        finally:
            self.depth -= 1
            self.active_nodes.pop()
            self.active_blocks.pop()
            self.current, self.span = caller, span
            if not is_iterator(result):
                self.leave_frame(number, entry)  # another state, if an exception leaves a branch

    def check_recursion(self, closure: Closure, values: dict[str, Value]) -> None:
        """Stop inlining the calls of a recursion whose depth isn't known."""
        self.calls_made += 1
        nested = self.active_nodes.count(id(closure.node))
        if nested < 3:
            return
        if nested == 3:
            # the ints and lengths that may steer the recursion must be known
            found: frozenset[Any] = frozenset()
            for value in values.values():
                for v in self.number_variables(value):
                    if isinstance(v.kind, Scalar) and v.kind.dtype.kind in "iub":
                        found |= v.origins
                    if isinstance(v.kind, Array):
                        for n in v.kind.shape or ():
                            if isinstance(n, Size):
                                found |= self.size_origins.get(n.base, frozenset())
            if found:
                need = NeedStatic(found, "how deep this recursion goes", self.span)
                need.unit = units.identity(closure)
                raise need
        first = self.active_blocks[self.active_nodes.index(id(closure.node))]
        known = self.block is first  # no branch or loop in between
        counted = any(isinstance(v, ir.Const) and type(v.value) is int for v in values.values())
        most = MOST_KNOWN if known and not counted else MOST_CALLS
        if nested >= most or self.calls_made > MOST_INLINED:
            function = units.identity(closure)
            if function not in self.kept:
                raise units.NeedUnit(function)
            raise self.refuse(
                f"how deep the recursion of {closure.name!r} goes isn't known when compiling",
                "a generator that calls itself can't be differentiated: return a list",
            )

    def number_variables(self, value: Value) -> list[ir.Var]:
        if isinstance(value, ir.Var):
            return [value]
        return [v for item in parts(value) for v in self.number_variables(item)]

    def fall_off(self) -> None:
        """A function that ends without a return returns None."""
        number = self.current

        def put() -> None:
            self.state.frames[number]["%return"] = NONE

        stopped = self.stopped(self.state)
        if stopped is None:
            self.branch(self.operand(self.state.frames[number]["%stop"]), lambda: None, put)
        elif not stopped:
            put()

    def bound_arguments(
        self, closure: Closure, args: list[Value], kwargs: dict[str, Value]
    ) -> dict[str, Value]:
        """The values of a function's parameters, as Python would bind them."""
        a = closure.node.args
        left: Value | None = None
        if args and isinstance(args[-1], Spread):
            args, left = self.bound_spread(closure, args, kwargs)
        positional = [self.argument_name(p) for p in (*a.posonlyargs, *a.args)]
        keyword_only = [self.argument_name(p) for p in a.kwonlyargs]
        only_positional = {self.argument_name(p) for p in a.posonlyargs}
        values: dict[str, Value] = dict(zip(positional, args, strict=False))
        extra = args[len(positional) :]
        if a.vararg is not None:
            values[self.argument_name(a.vararg)] = left or Tuple(tuple(extra))
        elif extra:
            raise self.fault(
                TypeError,
                f"{closure.name}() takes {len(positional)} positional arguments "
                f"but {len(args)} were given",
            )
        rest: dict[Any, Value] = {}
        for name, value in kwargs.items():
            if name in keyword_only or (name in positional and name not in only_positional):
                if name in values:
                    raise self.fault(
                        TypeError, f"{closure.name}() got multiple values for argument {name!r}"
                    )
                values[name] = value
            elif a.kwarg is not None:
                rest[name] = value
            else:
                raise self.fault(
                    TypeError, f"{closure.name}() got an unexpected keyword argument {name!r}"
                )
        if a.kwarg is not None:
            values[self.argument_name(a.kwarg)] = self.new(DictObject(rest))
        # the last of them: a decorator may have put more there than there are parameters
        for name, default in zip(reversed(positional), reversed(closure.defaults), strict=False):
            values.setdefault(name, default)
        for name, default in closure.keyword_defaults.items():
            values.setdefault(name, default)
        missing = [n for n in (*positional, *keyword_only) if n not in values]
        if missing:
            raise self.fault(TypeError, f"{closure.name}() is missing the argument {missing[0]!r}")
        return values

    def closure(self, node: Any, name: str) -> Closure:
        """The function that a def or lambda in the lowered code makes."""
        frame = self.frames[self.current]
        self.capture_frames()
        a = node.args
        defaults = tuple(self.expression(d) for d in a.defaults)
        names = [self.argument_name(k) for k in a.kwonlyargs]
        keyword_defaults = {
            n: self.expression(d) for n, d in zip(names, a.kw_defaults, strict=True) if d
        }
        methods = self.methods.get(self.current)
        # what stands in the body of a class doesn't see the names that are defined there
        around = self.current if methods is None else frame.parent
        made = Closure(
            node, frame.source, around, frame.namespace, defaults, keyword_defaults, name
        )
        if methods is not None:
            methods.append(made)
        return made


@functools.lru_cache(4096)  # asked at every call; a rule is inlined many times
def is_generator(node: Any) -> bool:
    """Whether a function node has a yield of its own."""
    if isinstance(node, gast.Lambda):
        return False
    return any(isinstance(n, (gast.Yield, gast.YieldFrom)) for n in own_nodes(node.body))


@functools.lru_cache(4096)
def returns_value(node: Any) -> bool:
    """Whether a return of a function node has a value."""
    returns = (n for n in own_nodes(node.body) if isinstance(n, gast.Return))
    return any(n.value is not None for n in returns)


def is_mutable(value: Any) -> bool:
    """Whether a default may be changed from call to call."""
    return isinstance(value, (list, dict, set, np.ndarray))


def _owner(function: types.FunctionType) -> type | None:
    """The class in whose body a method was defined, from the cell that `super()` uses."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name == "__class__":
            try:
                return cell.cell_contents  # type: ignore[no-any-return]
            except ValueError:
                return None
    return None


def _is_own(filename: str) -> bool:
    return filename in OWN_FILES or filename.startswith(RULES_FOLDER)


def _stands_for_another(closure: Closure) -> bool:
    """Whether a function belongs to a class that stands for one of NumPy's."""
    module = closure.namespace.globals.get("__name__")
    return any(cls.__module__ == module for cls in registry.stands_for)
