"""`np.lib.scimath` (`np.emath`): functions whose results are complex where no real number will do.

Of real numbers the values decide what the result is: its dtype isn't known when compiling.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..analysis.inference import Inferred
from ..kinds import Array, Scalar
from .registry import adjoint, kind

adjoint(np.lib.scimath.sqrt)(lambda x, *, out, d_out: 0.5 * d_out / out)
adjoint(np.lib.scimath.log)(lambda x, *, out, d_out: d_out / x)
adjoint(np.lib.scimath.log2)(lambda x, *, out, d_out: d_out / (np.log(2) * x))
adjoint(np.lib.scimath.log10)(lambda x, *, out, d_out: d_out / (np.log(10) * x))
adjoint(np.lib.scimath.arcsin)(lambda x, *, out, d_out: d_out / np.cos(out))
adjoint(np.lib.scimath.arccos)(lambda x, *, out, d_out: -d_out / np.sin(out))
adjoint(np.lib.scimath.arctanh)(lambda x, *, out, d_out: d_out / (1 - x * x))


@adjoint(np.lib.scimath.logn)
def logn(n, x, *, out, d_out):
    d_x = d_out / np.lib.scimath.log(n)
    return -out * d_x / n, d_x / x


@adjoint(np.lib.scimath.power)
def power(x, p, *, out, d_out):
    return d_out * p * np.lib.scimath.power(x, p - 1.0), d_out * out * np.lib.scimath.log(x)


@kind(*(getattr(np.lib.scimath, name) for name in np.lib.scimath.__all__))
def real_or_complex(args: Any, kwargs: Any) -> Inferred | None:
    """Of an unknown dtype, but if there are complex operands."""
    kinds = [getattr(a, "kind", None) for a in (*args, *kwargs.values())]
    if any(isinstance(k, (Array, Scalar)) and k.dtype is not None and k.dtype.kind == "c"
           for k in kinds):  # fmt: skip
        return None
    shape = kinds[0].shape if len(kinds) == 1 and isinstance(kinds[0], Array) else None
    return Inferred(Array(None, shape or None))  # of an array of rank 0 it is a number
