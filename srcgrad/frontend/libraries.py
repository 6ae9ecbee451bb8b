"""Functions of other packages that aren't looked into: they are called when the gradient runs.

What a package does with Python of its own is followed like a program's, where it can be. Where it
can't be, the package is called as it is (`compiler` asks for that): figures are drawn, files and
tables read. What it is given are copies, which it may keep and change. What it returns is a
constant: if the result depends on it by what is differentiated, that is refused. Packages that only
tell somebody something (`registry.reporting`) are never looked into.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.inference import Inferred
from ..errors import UnsupportedError
from ..kinds import Array, ListOf, Opaque, Scalar
from ..packages import package_of
from ..rules import registry
from .primitives import Primitives
from .purity import keeps_to_itself
from .restarts import NeedStatic
from .values import Closure, DictObject, Generator, ListObject, Place, Ref, Sequence, Tuple, Value
from .wording import described

CALLED = "%called"  # of known sites: functions, and packages, that are called, not looked into


class Libraries(Primitives):
    """Calls functions of other packages."""

    def library_call(
        self, function: Any, args: list[Value], kwargs: dict[str, Value]
    ) -> Value | None:
        """A call of a function that isn't looked into, with copies of its arguments; else None."""
        package = package_of(function)
        if function is registry.unseen and isinstance(args[0], ir.Const):
            function, args = args[0].value, args[1:]
            package = package_of(function)
        elif not (
            package in registry.reporting
            or (CALLED, package) in self.known_sites
            or (registry.hashable(function) and self.is_called(function))
        ):
            return None
        return self.call_with_copies(
            ir.Const(function), args, kwargs, package in registry.reporting
        )

    def is_called(self, function: Any) -> bool:
        """Whether a function, of a package or not, is called rather than looked into."""
        return function in registry.called or (CALLED, function) in self.known_sites

    def call_with_copies(
        self,
        function: ir.Var | ir.Const,
        args: list[Value],
        kwargs: dict[str, Value],
        trusted: bool = False,
    ) -> Value:
        """A call with copies of the arguments: it is checked that it leaves them as they are.

        `trusted`: it surely does, or what it does with them is nobody's business.
        """
        operands = tuple(map(self.copied_argument, args))
        named = {k: self.copied_argument(v) for k, v in kwargs.items()}
        called: Any = operator.call
        if not trusted and any(map(_may_change, (*operands, *named.values()))):
            called = runtime.unwritten
        elif isinstance(function, ir.Const):
            called = function.value
        if called in (operator.call, runtime.unwritten):
            operands = (function, *operands)
        is_quantity = isinstance(called, type) and called in registry.quantities
        inferred = Inferred(Opaque(called if is_quantity else None))
        return self.emit(called, operands, named, inferred=inferred, effect=True, name="value")

    def copied_argument(self, value: Value) -> ir.Operand:
        """An argument of such a call: what it keeps and changes is nobody else's."""
        match value:
            case ir.Var(kind=Array()):
                return self.emit(np.copy, (value,), name=value.name)
            case ir.Var(kind=ListOf()):
                return self.copied_list(value)
            case Tuple(type=cls, missing=None) if cls is tuple:
                return ir.Pack(tuple, tuple(map(self.copied_argument, value.items)))
            case Closure():
                raise self.refuse("a function made here can't be passed to another package")
            case Place() if not keeps_to_itself(value.value):
                raise self.refuse(
                    f"{described(value)} may change what is outside of it, and can't be passed to "
                    "another package",
                    "call it in the function",
                )
            case Ref():
                thing = self.state.heap[value.id]
                if isinstance(thing, ListObject) and thing.var is not None:
                    return self.copied_list(thing.var)
                if isinstance(thing, ListObject) and thing.type is list:
                    return ir.Pack(list, tuple(map(self.copied_argument, thing.items)))
                if isinstance(thing, DictObject) and thing.type is dict:
                    return self.dict_outside(
                        {k: self.copied_argument(v) for k, v in thing.items.items()}
                    )
                found = self.outside(value)
                if found is not None:
                    return found
            case Sequence() | Generator():
                return self.copied_argument(self.builtin_list(value))
        return self.operand(value)

    def copied_list(self, var: ir.Var) -> ir.Var:
        """A copy of a list that exists at run time, with copies of its arrays."""
        inferred = Inferred(Opaque(list))
        return self.emit(runtime.copied_items, (var,), inferred=inferred, effect=True)

    def looked_into(
        self,
        follow: Callable[[Any, list[Value], dict[str, Value]], Value],
        function: Any,
        args: list[Value],
        kwargs: dict[str, Value],
    ) -> Value:
        """The call of a function of a package, followed; notes what can't be followed in it.

        Given constants, its result is one, and it may be called instead; else all of its package.
        """
        try:
            found = follow(function, args, kwargs)
        except (UnsupportedError, NeedStatic) as error:
            self.note_refused(error, function, (*args, *kwargs.values()))
            raise
        if isinstance(found, Generator):
            self.look_into_steps(found, function, (*args, *kwargs.values()))
        return found

    def look_into_steps(self, made: Generator, function: Any, given: tuple[Value, ...]) -> None:
        """Have what can't be followed in a generator noted, which runs where it is consumed."""
        run = made.run

        def noting(body: Callable[[Value], None]) -> object:
            outside = False

            def consumed(item: Value) -> None:
                nonlocal outside
                outside = True
                body(item)
                outside = False

            try:
                return run(consumed)
            except (UnsupportedError, NeedStatic) as error:
                if not outside:
                    self.note_refused(error, function, given)
                raise

        made.run = noting

    def note_refused(
        self, error: UnsupportedError | NeedStatic, function: Any, given: tuple[Value, ...]
    ) -> None:
        """Note that a function of a package, given these values, can't be followed."""
        package = package_of(function)
        assert package is not None
        noted = self.refusing.setdefault(error.span, {})
        if all(map(self.is_constant, given)):
            noted[function] = function.__qualname__
        noted[package] = package

    def is_constant(self, value: Value) -> bool:
        """Whether a value comes from outside, so that it isn't what is differentiated."""
        match value:
            case Tuple():
                return value.missing is None and all(map(self.is_constant, value.items))
            case ir.Var(kind=Opaque() | Scalar(dtype=np.dtype(kind="b" | "i"))):
                return True
        return isinstance(value, ir.Const) or value in self.free.values()


def _may_change(operand: ir.Operand) -> bool:
    """Whether a function may change what it's given."""
    if isinstance(operand, ir.Pack):
        return operand.type is list or any(map(_may_change, operand.items))
    kind = getattr(operand, "kind", None)
    return isinstance(kind, Array) or kind in (Opaque(list), Opaque(dict))
