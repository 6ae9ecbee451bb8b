"""Functions that take None as well, for which they result in something else.

What may be None in some runs is said to be of the kind that it is of in the others. Most functions
raise a TypeError where it is None, as the program does; `np.sum(x, axis)` doesn't, and neither does
`np.asarray(x)`, which is an array of one object then.
"""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any

from .. import ir, runtime
from ..analysis.inference import infer
from ..kinds import NOTHING, UNKNOWN, Array, Dimension, Kind, ListOf, Size, same_dtype
from ..packages import told
from ..rules.parameters import role
from .predicates import NONE
from .values import Value


def by_option(low: Any, function: Any, args: list[Value], kwargs: dict[str, Value]) -> Any:
    """A call with an option, an axis say, that may be None: a branch for either, if it matters.

    None of other calls.
    """
    place: Any
    for place, option in (*enumerate(args), *kwargs.items()):
        if not isinstance(option, ir.Var) or not low.is_optional(option):
            continue
        operands = tuple(map(low.operand, args)), {k: low.operand(v) for k, v in kwargs.items()}
        if role(function, place) != "other" or is_alike(function, *operands, option):
            continue

        without = functools.partial(low.call_with, function, args, kwargs, place, NONE)
        given = functools.partial(low.call_object, function, args, kwargs)
        return low.either(low.identical(option, NONE), without, given)
    return None


def check_given(
    low: Any, function: Any, operands: tuple[ir.Operand, ...], named: dict[str, ir.Operand]
) -> None:
    """Have it checked that operands aren't None of which the result would be of another kind."""
    package = (told(function, "__module__") or "").partition(".")[0]
    if package not in ("numpy", "scipy") and function is not operator.getitem:
        return
    if low.span is None:  # it begins a derivative, of a result that is checked
        return
    for v in ir.variables_of((*operands, *named.values())):
        if (may_lack(v) and v not in low.given_here) and not is_alike(function, operands, named, v):
            if low.trying is not None:
                raise low.refuse(runtime.ABSENT, "ask first: if x is None")
            low.act(runtime.check_given, v, ir.Const(low.span.place))


def may_lack(v: ir.Var) -> bool:
    """Whether a variable, or an item of the list that it holds, may be None."""
    if v.kind == NOTHING:  # nothing else is known of it yet
        return False
    return v.optional or (isinstance(v.kind, ListOf) and v.kind.holes)


def is_alike(
    function: Any, operands: tuple[ir.Operand, ...], named: dict[str, ir.Operand], v: ir.Var
) -> bool:
    """Whether what a call results in is of one kind, be a variable None or not, or it raises.

    >>> import numpy as np
    >>> from srcgrad.kinds import FLOAT, INT
    >>> x, n = ir.Var("x", FLOAT, optional=True), ir.Var("n", INT, optional=True)
    >>> is_alike(np.sin, (x,), {}, x), is_alike(np.array, (x,), {}, x)
    (True, False)
    """
    absent = ir.Pack(list, (NONE, NONE)) if not v.optional else NONE

    def put(other: ir.Var) -> ir.Operand:
        return absent if other is v else other

    without = [ir.substitute(operand, put) for operand in operands]
    found = infer(function, tuple(without), {k: ir.substitute(o, put) for k, o in named.items()})
    if found.kind == UNKNOWN:
        return True
    kind = infer(function, operands, named).kind
    if not isinstance(kind, Array) or not isinstance(found.kind, Array):
        return kind == found.kind
    kinds = (other.kind for other in ir.variables_of((*operands, *named.values())))
    known = {n for of_operand in kinds for n in _shape(of_operand)}
    pairs = itertools.zip_longest(_shape(kind), _shape(found.kind))
    fit = all(m == n or (isinstance(m, Size) and m not in known and n) for m, n in pairs)
    return fit and same_dtype(kind, found.kind)


def _shape(kind: Kind) -> tuple[Dimension, ...]:
    return getattr(kind, "shape", None) or ()
