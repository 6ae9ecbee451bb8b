"""Memory layouts that matter are said aloud, so that no pass takes another one.

`np.array(x)` and `np.zeros_like(x)` have the layout of `x`, which `x.copy()` and
`np.zeros(x.shape)`, shorter and faster, have not; and what is computed in the place of `x` lies as
`x` does. Mostly nobody can tell. But whether `y.ravel()` is a view of `y`, into which one writes,
depends on it, and so does what comes first in `y.ravel(order="K")`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ir
from ..analysis.aliasing import Aliasing
from ..kinds import Array

LIKE: frozenset[Any] = frozenset({np.zeros_like, np.ones_like, np.empty_like, np.full_like})
COPIES: frozenset[Any] = frozenset({np.array, np.copy})
ASKED = ("strides", "flags")


def layouts_matter(function: ir.Function, aliasing: Aliasing) -> bool:
    """Whether what a function computes depends on how its arrays lie in memory."""
    return any(
        (not s.certain and any(map(aliasing.is_written, s.views))) or asks_layout(s)
        for s in ir.walk(function.block) if isinstance(s, ir.Assign)
    )  # fmt: skip


def keep_layouts(function: ir.Function, aliasing: Aliasing) -> None:
    """Where layouts matter, name the order in the calls that keep their argument's, in place."""
    if not layouts_matter(function, aliasing):
        return
    for s in ir.walk(function.block):
        if not isinstance(s, ir.Assign) or not s.args or any(k == "order" for k, _ in s.kwargs):
            continue
        if not isinstance(s.args[0], ir.Var) or not isinstance(s.args[0].kind, Array):
            continue
        if s.function in LIKE and len(s.args) <= 2:
            s.kwargs = (*s.kwargs, ("order", ir.Const("K")))
        elif s.args[0].kind.shape is None:
            continue  # perhaps a number of Python's, which has no such method
        elif s.function in COPIES and len(s.args) == 1 and not s.kwargs:
            s.function, s.kwargs = np.ndarray.copy, (("order", ir.Const("K")),)


def asks_layout(s: ir.Assign) -> bool:
    """Whether a call depends on the layout itself."""
    if s.function is np.lib.stride_tricks.as_strided:
        return True
    constants = (c.value for o in s.operands() for c in ir.constants(o))
    if not any(isinstance(c, str) and c in ("K", "A", *ASKED) for c in constants):
        return False
    return not (s.function in LIKE or s.function in COPIES or s.function is np.ndarray.copy)
