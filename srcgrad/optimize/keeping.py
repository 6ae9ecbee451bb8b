"""What a call may keep: a reference to an argument that no analysis sees."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator

import numpy as np

from .. import ir
from ..ir import reverse_sweep
from ..kinds import Array, ListOf, Scalar, TupleOf

FORGETFUL = ("numpy", "_operator", "operator", "builtins", "math")  # they keep no argument


def seen_by_others(statements: Iterable[ir.Statement]) -> Iterator[ir.Var]:
    """What others than functions on arrays have seen, who may have kept it."""
    for s in statements:
        if isinstance(s, ir.Assign) and _may_keep(s):
            yield from ir.uses(s)
            yield s.target


def _may_keep(s: ir.Assign) -> bool:
    """Whether a call may keep a reference to an argument."""
    if s.function is reverse_sweep or isinstance(s.function, np.ufunc):
        return False
    module = getattr(s.function, "__module__", None) or type(s.function).__module__
    if s.effect or isinstance(s.function, ir.Unit) or s.function is operator.call:
        return True
    if module.partition(".")[0] not in FORGETFUL and not module.startswith("srcgrad.runtime"):
        return True
    if s.writes:
        return not all(isinstance(v.kind, (Array, ListOf)) for v in s.writes)
    return not isinstance(s.target.kind, (Array, Scalar, TupleOf))
