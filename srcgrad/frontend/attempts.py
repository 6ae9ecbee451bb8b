"""`try` and `raise`.

There is no exception in the IR. What surely fails when compiling goes on in the handler. What may
fail at run time, and can be asked beforehand whether it does (np.linalg's functions, math's, a
division, an `if` that raises), becomes a branch: the handler, or the rest of the body. Whatever
else fails at run time raises its exception from the generated code, and isn't handled there; it
is kept even where nothing depends on its result.
"""

from __future__ import annotations

import builtins
import functools
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from .. import ir
from ..analysis.aliasing import is_slice
from ..analysis.inference import Inferred
from ..emit import runtime
from ..errors import UnsupportedError
from ..kinds import BOOL, Array, ListOf, Opaque, Places, Scalar
from .calls import Calls
from .operations import raise_exception
from .structure import FALSE, is_table
from .values import (
    Materialize,
    MayFail,
    NeedStatic,
    Peel,
    Place,
    Raised,
    Ref,
    State,
    Trying,
    Unbound,
    Unreached,
    Value,
)

# What never raises, or only where the compiler made it.
SAFE: frozenset[Any] = frozenset(
    {operator.not_, operator.is_, operator.and_, operator.or_, bool, len, list, runtime.fails}
)
DIVISIONS = frozenset({operator.truediv, operator.floordiv, operator.mod, operator.pow})


@dataclass(eq=False, slots=True)
class Untried:
    """The statements of a try that stand under its else."""

    statements: list[Any]


class Attempts(Calls):
    """Lowers `try`, `raise` and the tests on which they depend."""

    def if_statement(self, node: gast.If, rest: list[Any]) -> bool:
        """Lower an `if`; whether the statements after it, `rest`, were lowered in a branch."""
        test = self.tested(node.test)
        if isinstance(test, ir.Const):
            self.run(node.body if test.value else node.orelse)
            return False
        if self.in_try():
            for failing, other in ((node.body, node.orelse), (node.orelse, node.body)):
                exceptions = self.raised_by(failing)
                if exceptions is not None:
                    if self.passes():
                        self.run(other)
                        return False
                    if failing is node.orelse:
                        test = self.emit(operator.not_, (test,), inferred=Inferred(BOOL))
                    assert isinstance(test, ir.Var)
                    raise MayFail(test, exceptions)
        return self.branch(
            test,
            lambda: self.run(node.body),
            lambda: self.run(node.orelse),
            (lambda: self.run(rest)) if rest else None,
        )

    # Raising

    def statement_Raise(self, node: Any) -> None:
        if node.exc is None:
            raise self.refuse("a bare raise isn't supported")
        exception = self.expression(node.exc)
        if self.fixed_span and isinstance(node.exc, gast.Call) and self.unsupported(node.exc):
            raise self.refuse(str(self.key(self.expression(node.exc.args[0]))))
        cls = exception_type(exception)
        if cls is not None and self.in_try() and self.catcher(cls) is not None:
            raise self.fault(cls, f"this {cls.__name__} isn't caught")
        operand = self.shown(exception)
        self.emit(raise_exception, (operand,), inferred=Inferred(Opaque(None)), effect=True)
        self.state.unreachable = True

    def unsupported(self, node: gast.Call) -> bool:
        """Whether a rule says with this exception that it doesn't support its arguments."""
        made = self.expression(node.func)
        return isinstance(made, ir.Const) and made.value is NotImplementedError and bool(node.args)

    def in_try(self) -> bool:
        """Whether what is lowered now surely runs when the body of a try does."""
        return self.trying is not None and self.block is self.trying.block

    def catcher(self, exception: type[BaseException]) -> Trying | None:
        """The try around this place that catches an exception."""
        trying = self.trying
        while trying is not None and not issubclass(exception, trying.caught):
            trying = trying.outer
        return trying

    def raising(self, statements: list[Any]) -> bool:
        """Whether statements end with a raise of their own."""
        return bool(statements) and isinstance(statements[-1], gast.Raise)

    def raised_by(self, statements: list[Any]) -> tuple[type[BaseException], ...] | None:
        """The exception that statements surely raise, having done nothing else; None if not."""
        outer, state, current, span = self.block, self.state, self.current, self.span
        site, depth, trying = self.site, self.fork_depth, self.trying
        assert trying is not None
        self.state, self.block = state.copy(), ir.Block()
        exception: type[BaseException] | None = None
        try:
            if self.raising(statements) and len(statements) == 1 and statements[0].exc is not None:
                exception = exception_type(self.expression(statements[0].exc))
            else:
                self.run(statements)
        except Raised as error:
            done = [s for s in ir.walk(self.block) if isinstance(s, ir.Assign)]
            if error.block is self.block and not any(s.writes or s.effect for s in done):
                exception = error.exception
        except (UnsupportedError, NeedStatic, Unbound, Unreached, Materialize, MayFail, Peel):
            pass
        finally:
            self.state, self.block, self.current, self.span = state, outer, current, span
            self.site, self.fork_depth, self.trying = site, depth, trying
        if exception is None or not issubclass(exception, trying.caught):
            return None
        return (exception,)

    # Trying

    def passes(self) -> bool:
        """Whether it is known by now that this place, one of a try's statement, doesn't fail."""
        trying = self.trying
        assert trying is not None
        trying.seen += 1
        return trying.seen <= trying.passed

    def guard(
        self, function: Any, operands: tuple[ir.Operand, ...], named: dict[str, ir.Operand]
    ) -> None:
        """Inside a try: find out first whether a call fails."""
        trying = self.trying
        assert trying is not None
        exceptions = tuple(e for e in fallible(function, operands) if issubclass(e, trying.caught))
        if not exceptions:
            return
        if not self.in_try():
            if trying.caught == (np.linalg.LinAlgError,):
                raise self.refuse(
                    f"{function.__name__} inside a branch or loop of a try can't be followed",
                    "put the try around the call alone",
                )
            return
        if self.passes():
            return
        if named:
            raise self.refuse("keywords in a call that may fail in a try aren't supported")
        which = ir.Pack(tuple, tuple(ir.Const(e) for e in exceptions))
        test = self.emit(
            runtime.fails,
            (which, ir.Const(function), *operands),
            inferred=Inferred(BOOL),
            name="failed",
        )
        raise MayFail(test, exceptions)

    def statement_Try(self, node: Any) -> None:
        def run() -> None:
            if node.handlers:
                self.run_guarded(node)
            else:
                self.run(node.body)

        if node.finalbody:
            self.finishing(run, lambda error: self.run_finally(node.finalbody, error))
        else:
            run()

    def finishing(self, run: Callable[[], None], finish: Callable[[Raised | None], bool]) -> None:
        """Run, and then what must run however that ended; it says whether the exception ends."""
        block, current, span, depth = self.block, self.current, self.span, self.fork_depth
        try:
            run()
        except Raised as error:
            if error.block is not block:
                raise
            self.current, self.span, self.fork_depth = current, span, depth
            if not finish(error):
                raise
            return
        except MayFail:
            raise self.refuse(
                "whether a finally or the end of a with is reached by an exception isn't known "
                "when compiling",
                "put the try that catches it inside",
            ) from None
        if not self.state.unreachable:
            finish(None)

    def run_finally(self, statements: list[Any], error: Raised | None) -> bool:
        """Run the statements of a `finally`; whether it returns, which ends an exception."""
        frame = self.state.frames[self.current]
        names = ("%stop", "%break", "%returned", "%return")
        saved = {name: frame[name] for name in names if name in frame}
        for name in names[:3]:
            frame[name] = FALSE
        if "%return" in frame:
            frame["%return"] = ir.UNDEFINED
        self.run(statements)
        stopped = self.stopped(self.state)
        if stopped is not False:
            if error is not None and not stopped:
                raise self.refuse("whether this finally ends the exception isn't known")
            return True
        frame = self.state.frames[self.current]
        for name in names:
            if name in saved:
                frame[name] = saved[name]
            else:
                frame.pop(name, None)
        return False

    def run_guarded(self, node: Any) -> None:
        """A try with handlers."""
        handlers: list[tuple[tuple[type[BaseException], ...], Any]] = []
        for handler in node.handlers:
            kinds: Any = BaseException
            if handler.type is not None:
                kinds = self.key(self.expression(handler.type))
            handlers.append((kinds if isinstance(kinds, tuple) else (kinds,), handler))
        caught = tuple(cls for kinds, _ in handlers for cls in kinds)
        outer = self.trying

        def handle(exceptions: tuple[type[BaseException], ...], span: Any = None) -> None:
            self.span = span or self.span
            found = [
                next((h for kinds, h in handlers if issubclass(e, kinds)), None) for e in exceptions
            ]
            if any(h is not found[0] for h in found) or found[0] is None:
                raise self.refuse("which of these handlers is entered isn't known when compiling")
            self.trying = outer
            if found[0].name is not None:
                name = found[0].name
                name = name.id if isinstance(name, gast.Name) else name
                self.bind(name, caught_exception(exceptions[0]))
            self.run(found[0].body)

        self.trying = Trying(caught, self.block, outer)
        try:
            self.attempt([*node.body, *([Untried(node.orelse)] if node.orelse else [])], handle)
        finally:
            self.trying = outer

    def attempt(self, statements: list[Any], handle: Callable[..., None]) -> None:
        """Run the statements of a try; what stands after a call that may fail goes in a branch."""
        trying = self.trying
        assert trying is not None
        trying.block = self.block
        for position, node in enumerate(statements):
            if self.stopped(self.state):
                return
            if isinstance(node, Untried):
                self.trying = trying.outer
                self.run(node.statements)
                self.trying = trying
                return
            state, count = self.state.copy(), len(self.block.statements)
            block, current, span, depth = self.block, self.current, self.span, self.fork_depth
            trying.seen = 0
            try:
                self.run([node])
                trying.passed = 0
                for s in ir.walk(ir.Block(block.statements[count:])):
                    if isinstance(s, ir.Assign) and s.function not in SAFE:
                        s.effect = True  # it may raise what is caught: not to be left out
            except Raised as error:
                if error.block is not block or not issubclass(error.exception, trying.caught):
                    raise
                self.current, self.span, self.fork_depth = current, span, depth
                handle((error.exception,))
                return
            except MayFail as failure:
                if not any(issubclass(e, trying.caught) for e in failure.exceptions):
                    raise
                done = [
                    s
                    for s in ir.walk(ir.Block(block.statements[count:]))
                    if isinstance(s, ir.Assign)
                ]
                tabulated = [
                    Ref(number)
                    for number, thing in state.heap.items()
                    if is_table(self.state.heap[number]) and not is_table(thing)
                ]
                if tabulated:  # which is nothing that the program did
                    self.state, self.current, self.span = state, current, span
                    del block.statements[count:]
                    for ref in tabulated:
                        self.materialize(Materialize(ref, span))
                    self.attempt(statements[position:], handle)
                    return
                if any(s.writes or s.effect for s in done) or self.changed_since(state):
                    raise self.refuse(
                        "what this statement did before the exception can't be undone",
                        "put the call that may fail in a statement of its own",
                    ) from None
                self.state, self.current, here, self.span = state, current, self.span, span
                rest, passed = statements[position:], trying.seen

                def go_on(rest: list[Any] = rest, passed: int = passed) -> None:
                    self.trying = trying
                    trying.passed = passed
                    self.attempt(rest, handle)

                exceptions = failure.exceptions
                self.branch(failure.test, functools.partial(handle, exceptions, here), go_on)
                return

    def changed_since(self, state: State) -> bool:
        """Whether variables or objects of an earlier state have other values now."""
        frames = any(
            name.lstrip("%") == name and not self.same(values.get(name), value)
            for number, values in self.state.frames.items()
            for name, value in state.frames.get(number, {}).items()
        )
        return frames or any(
            self.state.heap.get(number) is not thing for number, thing in state.heap.items()
        )


def caught_exception(cls: type[BaseException]) -> Value:
    """What an `except ... as` binds: of an exception, no more than its type is known."""
    return Place(cls.__new__(cls))


def exception_type(value: Value) -> type[BaseException] | None:
    """The type of an exception that is raised."""
    cls: Any = None
    if isinstance(value, ir.Var) and isinstance(value.kind, Opaque):
        cls = value.kind.type
    elif isinstance(value, ir.Const):
        cls = value.value if isinstance(value.value, type) else type(value.value)
    if isinstance(value, Ref) or not isinstance(cls, type) or not issubclass(cls, BaseException):
        return None
    return cls


def fallible(function: Any, operands: tuple[ir.Operand, ...]) -> tuple[type[BaseException], ...]:
    """The exceptions that a function may raise, of those that it can be asked about beforehand."""
    module = getattr(function, "__module__", None) or ""
    if module.startswith("numpy.linalg") and function is not np.linalg.norm:
        return (np.linalg.LinAlgError,)
    if getattr(math, getattr(function, "__name__", ""), None) is function:
        return (ValueError, OverflowError)
    if function in DIVISIONS and all(map(is_python_number, operands)):
        return (ZeroDivisionError, *((OverflowError,) if function is operator.pow else ()))
    kind = getattr(operands[0], "kind", None) if operands else None
    if function is operator.getitem and isinstance(kind, Places):
        return (KeyError,)
    if function is operator.getitem and isinstance(kind, (Array, ListOf)):
        return () if is_slice(operands[1]) else (IndexError,)
    if function in (builtins.int, builtins.float):
        return (ValueError, OverflowError)
    return ()


def is_python_number(operand: ir.Operand) -> bool:
    if isinstance(operand, ir.Var):
        return isinstance(operand.kind, Scalar) and operand.kind.python is not False
    return isinstance(operand, ir.Const) and isinstance(operand.value, (int, float, complex))
