"""What a primitive's parameter takes: an array, a sequence of arrays, or something that is no data.

It is told by the names that NumPy and SciPy give their parameters, and so do the rules.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ..packages import told
from .registry import definitions, inplace_rules, lookup

# Parameters that hold no data, by the names NumPy and SciPy give them: how, where, how many.
DESCRIBING = frozenset(
    """
    self args axis axes axis1 axis2 axisa axisb axisc source destination start shape newshape
    new_shape window_shape k n N s num deg d nu order ord mode norm dtype out key
    indices_or_sections obj indices kth offset pad_width stat_length reps repeats shift strides
    optimize subset_by_index subset_by_value c_and_lower lu_and_piv l_and_u c_or_cr p_indices object
    size origin output_shape zoom sigma footprint radius structure labels window bins range output
    iter iterable sequence operands funclist condlist func func1d function ind kw kwargs kwds like
    blocks mats bc_type tck bounds bracket constraints events options t_span extrapolate
    requirements arg1 diagonals offsets pyfunc otypes excluded signature cache rotations other seq
    indexer all divide over under invalid arrayList names formats
    """.split()
)
# SciPy's that do where NumPy's hold data: a tuple says what is filled in below and above.
DESCRIBING_IN_SCIPY = frozenset({"fill_value"})
# Parameters that hold several arrays; a variadic one with such a name is one array after the other.
SEVERAL = frozenset(
    "points arrays tup choicelist choices arys arrs xi coordinates args sample".split()
)

# Of `np.block`, the lists say how the arrays lie; the others ask what they are given.
AS_GIVEN: set[Any] = {
    *(np.block, np.isscalar, np.place, np.putmask, np.take_along_axis, np.put_along_axis),
    getattr(np, "astype", np.block),
}
# What splits along an axis, by default this one, takes the length of a list for that of any axis.
SPLITTING: dict[Any, int] = {np.split: 0, np.array_split: 0, np.hsplit: 1, np.dsplit: 2}


def role(function: Any, parameter: int | str) -> str:
    """What a primitive takes for a parameter: "array", "arrays" (a sequence of them) or "other".

    "object" is what `np.array` takes.

    It follows from the parameter's name in the rule: a list where an array is taken means one.

    >>> import numpy as np, srcgrad.rules
    >>> role(np.dot, 1), role(np.concatenate, 0), role(np.sum, "axis"), role(len, 0)
    ('array', 'arrays', 'other', 'other')
    """
    package = (told(function, "__module__") or "").partition(".")[0]
    of_ufunc = isinstance(function, np.ufunc) or isinstance(told(function, "__self__"), np.ufunc)
    if not of_ufunc and package not in ("numpy", "scipy"):
        return "other"
    if function in AS_GIVEN:
        return "other"
    record = lookup(function)
    defined = definitions.get(function) or inplace_rules.get(function)
    rule = defined or (record and (record.adjoint or record.partials))
    if not rule:
        return "other"
    code = rule.__code__
    positional, keyword = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames[: positional + keyword]
    if isinstance(parameter, int):
        variadic = parameter >= positional
        if variadic and not code.co_flags & inspect.CO_VARARGS:
            return "other"
        name = code.co_varnames[positional + keyword if variadic else parameter]
        if variadic and name in SEVERAL:
            return "array"
    else:
        name = parameter
        if name not in names:
            return "other"
    if name == "object":
        return name
    if name in DESCRIBING or (package == "scipy" and name in DESCRIBING_IN_SCIPY):
        return "other"
    return "arrays" if name in SEVERAL else "array"
