"""`f(*items)` where only the run knows how many items there are.

What is unpacked, and what follows it, becomes one tuple (`long_tuples.py`) at the end of the
arguments, marked as such (`values.Spread`). A function that is written in Python finds the values
of its parameters there, one by one, and its `*args` is what is left; of what has a number of
parameters that is known, the call is that with so many items.
"""

from __future__ import annotations

import builtins
import inspect
import itertools
import types
from collections.abc import Callable
from typing import Any

import gast

from .. import ir
from ..rules import registry
from .classes import Classes
from .operations import check_arguments
from .predicates import NONE
from .subclasses import has_made_init, is_named_tuple
from .values import Closure, ListObject, Slice, Spread, Tuple, Value

OF_ALL: dict[Any, Any] = {  # what takes the items at once
    builtins.max: builtins.max,
    builtins.min: builtins.min,
    itertools.chain: itertools.chain.from_iterable,
}


class Starred(Classes):
    """Passes on arguments of which only the run knows how many there are."""

    def spread_out(self, given: list[tuple[str | None, Value]]) -> Spread:
        """The arguments of a call from the first one on that is unpacked: positional ones."""
        joined = self.new(ListObject(()))
        for name, value in given:
            if name is None:
                self.append(joined, value)
            elif name == "*":
                self.extend(joined, value)
        return Spread(self.long_tuple(joined))

    def call_spread(self, function: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """The call of a known function or class with arguments that the run unpacks."""
        *head, spread = args
        assert isinstance(spread, Spread)
        if function in OF_ALL:
            joined = self.spread_out([*((None, a) for a in head), ("*", spread.rest)]).rest
            if function is not itertools.chain:  # of one argument, it is that one's items
                self.inline(check_arguments, [joined, ir.Const(2), NONE], {})
            return self.call(ir.Const(OF_ALL[function]), [joined], kwargs)
        if function is print:
            return self.builtin_print(*args, **kwargs)
        known = registry.lookup(function) is not None or function in registry.definitions
        if isinstance(function, types.FunctionType) and not known:
            return self.inline(function, args, kwargs)
        if isinstance(function, type) and self.is_initialised(function):
            return self.construct(function, args, kwargs)
        count = _parameters(function)
        if count is None:
            self.need_items(spread.rest)
            raise self.refuse("how many items there are must be known here")
        items = self.taken_out(spread, count - len(head), count - len(head))
        return self.call(ir.Const(function), [*head, *items], kwargs)

    def is_initialised(self, cls: type) -> bool:
        """Whether a class has an `__init__` that is written in Python."""
        if is_named_tuple(cls) or any(map(has_made_init, cls.__mro__)):
            return False
        return isinstance(inspect.getattr_static(cls, "__init__"), types.FunctionType)

    def taken_out(self, spread: Spread, least: int, most: int | None) -> list[Value]:
        """The first `least` items, where the run sees to it that there are no more than `most`."""
        bound = NONE if most is None else ir.Const(max(most, 0))
        self.inline(check_arguments, [spread.rest, ir.Const(max(least, 0)), bound], {})
        return [self.subscript(spread.rest, ir.Const(i)) for i in range(least)]

    @staticmethod
    def argument_name(argument: Any) -> str:
        return argument.id if isinstance(argument, gast.Name) else str(argument)

    def bound_spread(
        self, closure: Closure, args: list[Value], kwargs: dict[str, Value]
    ) -> tuple[list[Value], Value]:
        """The arguments for the parameters that have names, and what is left for `*args`."""
        a = closure.node.args
        names = [self.argument_name(p) for p in (*a.posonlyargs, *a.args)]
        *head, last = args
        assert isinstance(last, Spread)
        surplus: list[tuple[str | None, Value]] = [(None, v) for v in head[len(names) :]]
        spread = self.spread_out([*surplus, ("*", last.rest)])
        head = head[: len(names)]
        defaults: list[Any] = [*[None] * (len(names) - len(closure.defaults)), *closure.defaults]
        free = list(zip(names, defaults, strict=True))[len(head) :]
        before = list(itertools.takewhile(lambda pair: pair[0] not in kwargs, free))
        least = sum(default is None for _, default in before)
        most = len(before) if a.vararg is None or len(before) < len(free) else None
        items = self.taken_out(spread, least, most)
        for i, (_, default) in enumerate(before[least:], least):
            items.append(self.item_or(spread.rest, i, default))
        rest: Value = Tuple(())
        if most is None:
            rest = self.subscript(spread.rest, Slice(ir.Const(len(before)), NONE, NONE))
        return [*head, *items], rest

    def item_or(self, items: Value, i: int, default: Value) -> Value:
        """`items[i] if i < len(items) else default`."""
        name, frame = f"%argument{self.unique()}", self.current

        def put(make: Callable[[], Value]) -> Callable[[], None]:
            def run() -> None:
                self.state.frames[frame][name] = make()

            return run

        there = self.compare(gast.Gt(), self.builtin_len(items), ir.Const(i))
        self.branch(
            self.truth(there), put(lambda: self.subscript(items, ir.Const(i))), put(lambda: default)
        )
        return self.known("this argument", self.state.frames[frame].pop(name))


def _parameters(function: Any) -> int | None:
    """How many arguments a function takes, if there is but one answer.

    >>> _parameters(lambda x, y: x), _parameters(lambda x, y=1: x), _parameters(print)
    (2, None, None)
    """
    if isinstance(function, type) and is_named_tuple(function):
        return len(function._fields)  # type: ignore[attr-defined]
    nin = getattr(function, "nin", None)
    if isinstance(nin, int):
        return nin
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    P = inspect.Parameter
    positional = [p for p in parameters if p.kind in (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD)]
    if any(p.kind is P.VAR_POSITIONAL or p.default is not P.empty for p in parameters):
        return None
    return len(positional)
