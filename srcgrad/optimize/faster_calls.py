"""Calls of NumPy that take their time, made by functions of `emit.runtime` that do the same.

Only those of the reverse sweep: what the user wrote stays. Late, as other passes know NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import ir
from ..emit import runtime
from ..kinds import Array, same_dtype


def call_faster(function: ir.Function) -> None:
    """Replace the calls that a faster function can take, in place."""
    for s in ir.walk(function.block):
        if isinstance(s, ir.Assign) and isinstance(s.span, ir.Origin):
            for slow, takes, fast in FASTER:
                if s.function == slow and takes(s):
                    s.function = fast


def _takes_vectors(s: ir.Assign) -> bool:
    """Whether a call takes two arrays of floats, and their last axes for those of the vectors."""
    return not s.kwargs and len(s.args) == 2 and all(
        isinstance(a, ir.Var) and isinstance(a.kind, Array) and a.kind.shape
        and a.kind.dtype is not None and a.kind.dtype.kind in "fc" for a in s.args
    )  # fmt: skip


def _takes_rows(s: ir.Assign) -> bool:
    """Whether a call adds a matrix to the rows of another one at a vector of indices."""
    kinds = [a.kind if isinstance(a, ir.Var) else None for a in s.args]
    if len(kinds) != 3 or not all(isinstance(k, Array) and k.dtype is not None for k in kinds):
        return False
    into, index, value = kinds
    ranks = [k.rank for k in kinds if isinstance(k, Array)]
    return ranks == [2, 1, 2] and same_dtype(into, value) and index.dtype.kind in "iu"  # type: ignore[union-attr]


FASTER: tuple[tuple[Any, Callable[[ir.Assign], bool], Any], ...] = (
    (np.add.at, _takes_rows, runtime.add_to_rows),
    (np.cross, _takes_vectors, runtime.cross_product),
)
