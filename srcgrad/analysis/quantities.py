"""What comes of dates and durations: a date, a duration, a number.

Python's own arithmetic tells it: which type the result has is the same whichever dates they are.
"""

from __future__ import annotations

import operator
from typing import Any

from .. import ir
from ..kinds import INT, Kind, Opaque, Scalar, kind_of
from ..rules import registry


def of_quantities(function: Any, args: tuple[ir.Operand, ...]) -> Kind | None:
    """The kind of what an operator makes of quantities and numbers that nobody differentiates by.

    None of anything else.

    >>> import datetime
    >>> day, length = (ir.Var("v", Opaque(t)) for t in (datetime.date, datetime.timedelta))
    >>> of_quantities(operator.sub, (day, day))
    Opaque(type=<class 'datetime.timedelta'>)
    >>> of_quantities(operator.truediv, (length, length)).dtype
    dtype('float64')
    """
    samples: list[Any] = []
    found = False
    for operand in args:
        match operand:
            case ir.Var(kind=Opaque(type=cls)) if cls in registry.quantities:
                samples.append(registry.quantities[cls])
                found = True
            case ir.Var(kind=Scalar() as kind) if kind.dtype == INT.dtype:
                samples.append(1)
            case ir.Const(value=int() | float() as value):
                samples.append(value)
            case ir.Const(value=value) if type(value) in registry.quantities:
                samples.append(value)
                found = True
            case _:
                return None
    if not found or getattr(function, "__module__", None) != operator.sub.__module__:
        return None
    try:
        return kind_of(function(*samples))
    except Exception:  # some dates know their time zones: these samples don't
        return None
