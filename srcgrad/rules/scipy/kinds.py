"""Kinds of results that samples can't tell, because not every sample is a valid argument."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ir
from ...analysis.inference import Inferred
from ...kinds import Array, Scalar, kind_of

Args = tuple[ir.Operand, ...]
Kwargs = dict[str, ir.Operand]


def operand_kind(operand: Any) -> Array | Scalar | None:
    """The kind of an operand that is a number or an array."""
    numbers = (int, float, complex, np.generic)
    if isinstance(operand, ir.Const) and isinstance(operand.value, numbers):
        found: Any = kind_of(operand.value)
    else:
        found = getattr(operand, "kind", None)
    return found if isinstance(found, (Array, Scalar)) else None


def floating(*dtypes: np.dtype[Any] | None) -> np.dtype[Any] | None:
    """The dtype in which SciPy computes with such numbers: ints become doubles."""
    if any(d is None for d in dtypes):
        return None
    return np.result_type(*(d if d.kind in "fc" else np.float64 for d in dtypes if d is not None))


def like_first(args: Args, kwargs: Kwargs) -> Inferred | None:
    """An array of floats as the first argument is, or a NumPy number."""
    found = operand_kind(args[0]) if args else None
    if found is None:
        return None
    if isinstance(found, Scalar):
        return Inferred(Scalar(np.dtype(np.float64), False))
    dtype = floating(found.dtype)
    if found.shape == () and dtype is not None:
        return Inferred(Scalar(dtype, False))
    return Inferred(Array(dtype, found.shape))


def constant(args: Args, kwargs: Kwargs, position: int, name: str, default: Any) -> Any:
    """The value of an argument that is known when compiling; None where it isn't."""
    operand = args[position] if position < len(args) else kwargs.get(name)
    if operand is None:
        return default
    return operand.value if isinstance(operand, ir.Const) else None
