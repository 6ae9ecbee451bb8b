"""Where derivatives are infinite, and which functions use but some of their elements.

What isn't used has the adjoint zero, and zero times an infinite derivative is nan: by these tables
the compiler knows where to look out for it (`transform/masks.py`).
"""

from __future__ import annotations

import builtins
import math
import operator

import numpy as np

from .. import runtime
from .registry import chooses, singular

singular(
    operator.pow, builtins.pow, np.power, np.float_power, np.sqrt, np.cbrt, np.hypot, np.arctan2,
    np.arcsin, np.arccos, np.arccosh, math.pow, math.sqrt, math.cbrt, math.hypot, math.atan2,
    math.asin, math.acos, math.acosh,
    np.lib.scimath.sqrt, np.lib.scimath.power, np.lib.scimath.arcsin, np.lib.scimath.arccos,
    finite=True,
)  # fmt: skip
singular(
    operator.truediv, np.divide, operator.mod, np.remainder, np.fmod, np.reciprocal, np.log,
    np.log2, np.log10, np.log1p, np.arctanh,
    math.log, math.log2, math.log10, math.log1p, math.atanh,
    np.lib.scimath.log, np.lib.scimath.log2, np.lib.scimath.log10, np.lib.scimath.logn,
    np.lib.scimath.arctanh,
    finite=False,
)  # fmt: skip
chooses(np.triu, np.tril, np.compress, np.extract, np.select, np.choose, np.delete, by="mask")
chooses(runtime.unless_zero, by="mask")
chooses(
    np.nansum, np.nanmean, np.nanmax, np.nanmin, np.nanprod, np.nanvar, np.nanstd, np.nancumsum,
    np.nancumprod, np.nanmedian, np.nanquantile, np.nanpercentile,
    by="nan",
)  # fmt: skip
chooses(np.nan_to_num, by="finite")
chooses(np.maximum, np.minimum, np.fmax, np.fmin, np.clip, by="bound")
chooses(
    np.max, np.amax, np.min, np.amin, np.median, np.percentile, np.quantile, np.take,
    np.take_along_axis, np.diagonal, np.diag, np.trace, builtins.max, builtins.min,
    by="position",
)  # fmt: skip
