"""Rules that don't fit: what a call passes and a rule doesn't know is refused."""

from __future__ import annotations

import inspect
import operator
from typing import Any

import numpy as np

from .. import ir, runtime
from ..errors import UnsupportedError
from ..frontend.refusals import HOW_TO_ADD, instead_of, name_called, name_of, takes
from ..kinds import Opaque
from ..rules import registry
from .contributions import NONE, is_zero
from .masks import Masks


class Misfits(Masks):
    """Checks whether a rule is one for a call, and what it contributes."""

    def _is_active(self, operand: ir.Operand) -> bool:
        return any(map(self.activity.active, ir.variables(operand)))

    def _doubted(self, s: ir.Assign, rule: Any, contributions: list[Any]) -> list[Any]:
        """What a user's rule contributes, of which nothing is taken for granted."""
        count = len(parameters_of(rule))
        if len(contributions) > count and not rule.__code__.co_flags & inspect.CO_VARARGS:
            raise UnsupportedError(
                f"the rule of {name_of(s.function)} returns {len(contributions)} contributions, "
                f"but it has {count} parameter{'s' * (count != 1)}",
                s.span,
            )
        pairs = zip(by_parameter(s, rule), contributions, strict=False)
        return [self.doubted(c, operand) for operand, c in pairs]

    def _check_known(self, s: ir.Assign, operand: ir.Operand, contribution: Any) -> None:
        """Refuse an active operand by which the rule knows no derivative."""
        if isinstance(operand, ir.Var) and isinstance(operand.kind, Opaque):
            if is_zero(contribution) and self.activity.active(operand):
                raise UnsupportedError(
                    f"what {name_of(s.function)} is given here depends on what is differentiated, "
                    "and is an object that srcgrad doesn't follow",
                    s.span,
                    "make it of numbers and arrays",
                )
        if isinstance(contribution, ir.Const) and isinstance(contribution.value, registry.Unknown):
            if self._is_active(operand):
                self._refuse_unknown(s, contribution.value)

    def _refuse_unknown(self, s: ir.Assign, unknown: registry.Unknown) -> None:
        raise UnsupportedError(
            f"{name_of(s.function)} can't be differentiated like this: {unknown.reason}", s.span
        )

    def _check_keywords(self, s: ir.Assign, rule: Any) -> None:
        names = parameters_of(rule)
        code = rule.__code__
        variadic = code.co_flags & inspect.CO_VARARGS
        named = {*names, *code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]}
        for k, _ in s.kwargs:
            if says_how(s.function, k):
                continue
            if k not in named or k in ("out", "d_out"):
                if not takes(s.function, k):
                    raise UnsupportedError(f"{name_of(s.function)} has no argument {k!r}", s.span)
                raise UnsupportedError(
                    f"the rule of {name_of(s.function)} doesn't support the argument {k!r}",
                    s.span,
                    HOW_TO_ADD,
                )
        if len(s.args) > len(names) and not variadic:
            raise UnsupportedError(
                f"the rule of {name_of(s.function)} supports {len(names)} positional arguments",
                s.span,
                HOW_TO_ADD,
            )

    def _refuse_missing(self, s: ir.Assign) -> None:
        made = self._source(s)
        name, record = name_called(made), registry.lookup(made.function)
        if record is not None and record.refused:
            raise UnsupportedError(f"{name} can't be differentiated: {record.refused}", s.span)
        if made is not s:
            raise UnsupportedError(
                f"what {name} returns can't be differentiated: it has no rule",
                s.span,
                "write it in NumPy, or let its arguments be constants (stop_gradient)",
            )
        raise UnsupportedError(f"{name} has no derivative rule", s.span, instead_of(made))

    def _source(self, s: ir.Assign) -> ir.Assign:
        """The call without a rule that made the object of which a statement takes a part, or s."""
        made: ir.Assign | None = s
        parts = (getattr, runtime.items_of, runtime.unwritten, operator.call)
        while made is not None and made.function in parts and isinstance(made.args[0], ir.Var):
            made = self.definitions.get(made.args[0])
        if made is None or isinstance(made.function, ir.Unit):
            return s
        record = registry.lookup(made.function)
        return made if record is None or record.refused else s


def says_how(function: Any, keyword: str) -> bool:
    """Whether a keyword of a ufunc says nothing of values, but how the result lies in memory."""
    return isinstance(function, np.ufunc) and keyword in ("order", "subok", "casting")


def by_parameter(s: ir.Assign, rule: Any) -> list[ir.Operand]:
    """What a statement passes for each parameter of a rule, by position or name, or None."""
    named = dict(s.kwargs)
    return [*s.args, *(named.get(name, NONE) for name in parameters_of(rule)[len(s.args) :])]


def parameters_of(rule: Any) -> tuple[str, ...]:
    code = rule.__code__
    return tuple(code.co_varnames[: code.co_argcount])
