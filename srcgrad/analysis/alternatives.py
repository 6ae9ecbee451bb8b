"""The kinds of results of what is one of several things: each is asked for by itself.

A number may be an int in some runs and a float in others, and of an array's rank nothing may be
known, not even that it is an array. What holds of the results for all of these is known.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .. import ir
from ..joins import KindMismatch, join
from ..kinds import (
    BOOL,
    FLOAT,
    INT,
    UNKNOWN,
    Array,
    Kind,
    Lesser,
    ListOf,
    Opaque,
    Reference,
    Scalar,
    TupleOf,
    fresh_size,
    parts_like,
)

Args = tuple[ir.Operand, ...]
Named = dict[str, ir.Operand]
_SHORT = {"d": "f", "f": "e", "D": "F", "l": "b", "q": "b", "L": "B", "Q": "B"}
_LENGTHS = tuple(fresh_size() for _ in range(3))
_SHAPES = (_LENGTHS[:0], _LENGTHS[:1], _LENGTHS[:2], _LENGTHS[:1] * 2, _LENGTHS)


def of_either(
    infer: Callable[..., Any], function: Any, args: Args, kwargs: Named, mixed: list[ir.Var]
) -> tuple[Kind, tuple[ir.Var, ...], bool]:
    """What holds of a result whether the numbers that are mixed are floats, short ones or ints.

    Of an array that is filled with one, the dtype isn't known.
    """
    numbers = [k for v in mixed for k in _numbers(v.kind) if k.mixed]
    tried = [Mixed.AS_SAID]
    if any(Lesser.SHORT in k.mixed for k in numbers):
        tried.append(Mixed.SHORT)
    if any(Lesser.WHOLE in k.mixed for k in numbers):
        tried.append(Mixed.INT)
        if any(k.python is None for k in numbers):
            tried.append(Mixed.NUMPY_INT)
    if any(Lesser.TRUTH in k.mixed for k in numbers):
        tried.append(Mixed.BOOL)
    found: tuple[Kind, tuple[ir.Var, ...], bool] | None = None
    for lesser in tried:
        settled = {v: ir.Var(v.name, _unmixed(v.kind, lesser)) for v in mixed}
        result = with_others(infer, function, args, kwargs, settled)
        if found is None:
            found = result.kind, result.views, result.certain
            continue
        kind, views, certain = found
        if result.kind == UNKNOWN:  # it doesn't take ints, or a power of them may be a float
            if isinstance(kind, Scalar) and kind.dtype.kind in "fc":
                found = replace(kind, mixed=Lesser.WHOLE | kind.mixed), views, certain
            continue
        kind = _joined(kind, result.kind)
        shared = tuple(dict.fromkeys((*views, *result.views)))
        found = kind, shared, certain and result.certain and views == result.views
    assert found is not None
    return found


def _joined(a: Kind, b: Kind) -> Kind:
    """The kind of what is of one kind in some runs and of another in others."""
    if isinstance(a, TupleOf) and isinstance(b, TupleOf) and a.type is b.type:
        if len(a.items) == len(b.items):
            return replace(a, items=tuple(map(_joined, a.items, b.items)))
    try:
        return join(a, b)
    except KindMismatch:
        return UNKNOWN


def number_of_any_rank(
    infer: Callable[..., Any], function: Any, args: Args, kwargs: Named
) -> Scalar | None:
    """The kind of a number that a call gives whatever the rank of its one operand without one.

    The sum of all items is one, and so is the largest.
    """
    operands = (*args, *kwargs.values())
    unranked = {v: v.kind for v in operands if isinstance(v, ir.Var) and _unranked(v.kind)}
    if len(unranked) != 1:
        return None
    (v, kind), *_ = unranked.items()
    assert isinstance(kind, Array) and kind.dtype is not None
    whole = Lesser.WHOLE if kind.dtype.kind in "fc" else Lesser(0)
    numbers = [Scalar(kind.dtype, False), Scalar(kind.dtype, True, mixed=whole)]
    arrays = [Array(kind.dtype, _LENGTHS[:rank]) for rank in range(len(_LENGTHS) + 1)]
    found: Kind | None = None
    for sample in itertools.chain(numbers, arrays):
        ranked = {v: ir.Var(v.name, sample)}
        result = with_others(infer, function, args, kwargs, ranked).kind
        if not isinstance(result, Scalar):
            return None
        found = result if found is None else join(found, result)
    return found if isinstance(found, Scalar) else None


def tuple_of_any_rank(
    infer: Callable[..., Any], function: Any, args: Args, kwargs: Named
) -> TupleOf | None:
    """The kind of the tuple that a call gives whatever the ranks of operands without one.

    Eigenvalues come with eigenvectors; what is in the tuple, nobody knows.
    """
    operands = (*args, *kwargs.values())
    unranked = [v for v in operands if isinstance(v, ir.Var) and _has_no_rank(v.kind)]
    found: set[tuple[int, type]] = set()
    for shape in _SHAPES if unranked else ():
        ranked = {}
        for v in unranked:
            assert isinstance(v.kind, Array)
            ranked[v] = ir.Var(v.name, Array(v.kind.dtype or FLOAT.dtype, shape))
        kind = with_others(infer, function, args, kwargs, ranked).kind
        if isinstance(kind, TupleOf):
            found.add((len(kind.items), kind.type))
        elif kind != UNKNOWN:
            return None
    if len(found) != 1:
        return None
    ((count, kind_of_tuple),) = found
    return TupleOf((UNKNOWN,) * count, kind_of_tuple)


def shared_of_any_rank(
    infer: Callable[..., Any],
    mistaken: Callable[..., Any],
    function: Any,
    args: Args,
    kwargs: Named,
    leaves: list[ir.Var],
) -> set[ir.Var]:
    """The operands whose memory a result may share, whatever the ranks of those without one.

    A sum is an array of its own, as the result of a product is. Where no sample is told by, as all
    of them have too few axes, it may be any operand's.
    """
    unranked = [v for v in leaves if _has_no_rank(v.kind)]
    if not 0 < len(unranked) <= 2:
        return set(leaves)
    shared: set[ir.Var] = set()
    told = False
    untyped = any(v.kind.dtype is None for v in unranked)  # type: ignore[attr-defined]
    for dtype in map(np.dtype, "dfDl?" if untyped else "d"):
        for shapes in itertools.product(_SHAPES, repeat=len(unranked)):
            ranked = {
                v: ir.Var(v.name, Array(v.kind.dtype or dtype, shape))  # type: ignore[attr-defined]
                for v, shape in zip(unranked, shapes, strict=True)
            }
            result = with_others(infer, function, args, kwargs, ranked)
            if result.kind != UNKNOWN:
                shared.update(result.views)
                told = True
            elif mistaken(function, *_replaced(args, kwargs, ranked), Exception) is None:
                return set(leaves)
    return shared if told else set(leaves)


def takes_dtype(infer: Callable[..., Any], function: Any, args: Args, kwargs: Named) -> bool:
    """Whether a function of floats, too, gives ints if the arrays of unknown dtypes are of ints.

    >>> from .inference import infer
    >>> v, x = ir.Var("v", Array(None, (3,))), ir.Var("x", FLOAT)
    >>> [takes_dtype(infer, f, (v, x), {}) for f in (np.full_like, np.add)]
    [True, False]
    """
    used = ir.variables_of((*args, *kwargs.values()))
    dtypes = [getattr(v.kind, "dtype", None) for v in used]
    ints = {
        v: ir.Var(v.name, Array(INT.dtype, v.kind.shape))
        for v in used
        if isinstance(v.kind, Array) and v.kind.dtype is None
    }
    if not ints or not any(dtype is not None and dtype.kind in "fc" for dtype in dtypes):
        return False
    dtype = getattr(with_others(infer, function, args, kwargs, ints).kind, "dtype", None)
    return dtype is not None and dtype.kind in "biu"


def with_others(
    infer: Callable[..., Any],
    function: Any,
    args: Args,
    kwargs: Named,
    others: dict[ir.Var, ir.Var],
) -> Any:
    """What a call results in if variables of other kinds stand for some of its operands."""

    found = infer(function, *_replaced(args, kwargs, others))
    back = {other: v for v, other in others.items()}
    return replace(found, views=tuple(back.get(v, v) for v in found.views))


def _replaced(args: Args, kwargs: Named, others: dict[ir.Var, ir.Var]) -> tuple[Args, Named]:
    def replaced(v: ir.Var) -> ir.Var:
        return others.get(v, v)

    named = {k: ir.substitute(a, replaced) for k, a in kwargs.items()}
    return tuple(ir.substitute(a, replaced) for a in args), named


def is_mixed(kind: Any) -> bool:
    """Whether a kind is, or holds, numbers that are mixed."""
    return any(number.mixed for number in _numbers(kind))


def _numbers(kind: Any) -> Iterator[Scalar]:
    """The kinds of the numbers that a value is or holds."""
    match kind:
        case Scalar():
            yield kind
        case TupleOf(items) | tuple(items):
            for item in items:
                yield from _numbers(item)
        case ListOf(item):
            yield from _numbers(item)


def has_dtype(kind: Array | Scalar) -> bool:
    """Whether an array that is filled with a number is surely of the dtype that its kind says.

    A number of Python's takes on another precision in arithmetic, but not so where it fills one.

    >>> has_dtype(FLOAT), has_dtype(Scalar(np.dtype(np.float32), None))
    (True, False)
    """
    weak = isinstance(kind, Scalar) and kind.python is None and kind.dtype.char not in "?lqdD"
    return not weak and not is_mixed(kind)


class Mixed(enum.Enum):
    """What a number that is mixed is in a run."""

    AS_SAID = "of the dtype that its kind says"
    SHORT = "of half the precision, if it may be"
    INT = "an int, or a bool if it is an int, Python's if it may be that; or else a short one"
    NUMPY_INT = "the same, NumPy's if it may be that"
    BOOL = "a bool, if a float may be that; or else as for INT"


def _unmixed(kind: Any, lesser: Mixed) -> Any:
    """A kind in which numbers that are mixed are what they are in some runs.

    >>> import numpy as np
    >>> _unmixed(Scalar(np.dtype(float), mixed=Lesser.WHOLE), Mixed.INT) == INT
    True
    """
    match kind:
        case Scalar(dtype, python, _, mixed) if mixed:
            if lesser is Mixed.AS_SAID:
                return replace(kind, mixed=Lesser(0))
            if lesser is Mixed.SHORT or Lesser.WHOLE not in mixed:
                if Lesser.SHORT not in mixed:
                    return Scalar(dtype, python)
                return Scalar(np.dtype(_SHORT.get(dtype.char, dtype)), bool(python))
            python = lesser is not Mixed.NUMPY_INT if python is None else python
            truth = lesser is Mixed.BOOL and Lesser.TRUTH in mixed
            return Scalar((BOOL if truth or dtype.kind in "iu" else INT).dtype, python)
        case TupleOf(items):
            return replace(kind, items=tuple(_unmixed(item, lesser) for item in items))
        case tuple():
            return parts_like(kind, (_unmixed(item, lesser) for item in kind))
        case ListOf(item):
            return replace(kind, item=_unmixed(item, lesser))
    return kind


def _has_no_rank(kind: Any) -> bool:
    return isinstance(kind, Array) and kind.shape is None


def _unranked(kind: Any) -> bool:
    return _has_no_rank(kind) and kind.dtype is not None


def _lesser_dtypes(dtype: np.dtype[Any], python: bool | None) -> list[np.dtype[Any]]:
    """Those that a number may be of in some runs, if it is of this one in others."""
    if python:
        kinds = "biufc"
        lesser = [k.dtype for k in (BOOL, INT, FLOAT)]
        return [k for k in lesser if kinds.find(k.kind) < kinds.find(dtype.kind)]
    return [k for k in map(np.dtype, "?bBhHiIlLqQefdFD") if k != dtype and np.can_cast(k, dtype)]


def classes_of_kind(kind: Kind) -> set[type] | None:
    """The classes of which a value of a kind may be; None if that isn't known."""
    match kind:
        case Scalar(dtype=dtype) if dtype.kind == "O":
            return None
        case Scalar(dtype, python):
            dtypes = [dtype, *(_lesser_dtypes(dtype, python) if kind.mixed else ())]
            items = {type(d.type(0).item()) for d in dtypes} if python is not False else set()
            return items | ({d.type for d in dtypes} if not python else set())
        case Array(dtype, shape) if shape is not None:
            return {np.ndarray}
        case Array(dtype):  # an array, a NumPy scalar or a Python number
            if dtype is None:
                return {np.ndarray, np.generic, bool, int, float, complex}
            return {np.ndarray, dtype.type, type(np.zeros((), dtype).item())}
        case Opaque(type=t) | TupleOf(type=t):
            return None if t is None else {t}
        case ListOf(type=t):
            return {t}
        case Reference(types=classes):
            return set(classes)
    return None
