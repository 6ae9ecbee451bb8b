"""Which primitives work element by element, and the kind of their result."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from .. import ir
from ..kinds import Array, Dimension, Kind, Lesser, ListOf, Scalar, Size, kind_of, same_dtype

FRESH: frozenset[Any] = frozenset(
    {operator.matmul, np.matmul, np.dot, np.ndarray.dot, np.where, np.sum, np.zeros, np.ones,
     np.zeros_like, np.empty, np.empty_like, np.full, np.outer, np.ndarray.copy, np.ones_like,
     np.full_like, np.cumsum, np.cumprod, np.concatenate, np.stack, np.sort, np.vecdot, np.einsum,
     np.max, np.min, np.mean, np.prod, np.repeat, np.take, np.tril, np.triu, np.fft.fft,
     np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft, np.linalg.solve,
     np.linalg.inv, np.linalg.cholesky}
)  # fmt: skip
NUMBERS = (int, float, complex, np.generic)
ARITHMETIC: frozenset[Any] = frozenset(
    {operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pow,
     operator.abs, builtins.abs}
)  # fmt: skip
IN_PLACE: dict[Any, Any] = {
    operator.add: operator.iadd, operator.sub: operator.isub,
    operator.mul: operator.imul, operator.truediv: operator.itruediv,
}  # fmt: skip
WITH_OUT: dict[Any, Any] = {
    operator.add: np.add, operator.sub: np.subtract, operator.mul: np.multiply,
    operator.truediv: np.divide, operator.neg: np.negative,
}  # fmt: skip
COPIES: frozenset[Any] = frozenset({np.ndarray.copy, np.array, np.copy})
COMMUTATIVE: frozenset[Any] = frozenset({operator.add, operator.mul})


def is_elementwise(function: Any) -> bool:
    """Whether a function works element by element on the broadcast shape of its operands."""
    if isinstance(function, np.ufunc):
        return function.signature is None and function.nout == 1
    try:
        return function in ARITHMETIC
    except TypeError:
        return False


def makes_fresh(s: ir.Assign) -> bool:
    """Whether a call surely returns an array that nothing else refers to."""
    kind = s.target.kind
    if not isinstance(kind, Array) or not kind.shape or s.views or s.writes or s.effect:
        return False
    if is_elementwise(s.function) and not any(k == "out" for k, _ in s.kwargs):
        return True
    return isinstance(s.function, Hashable) and s.function in FRESH


def number_kind(operand: ir.Operand) -> Array | Scalar | None:
    """The kind of an operand that is a number or an array."""
    if isinstance(operand, ir.Var):
        kind = operand.kind
    elif isinstance(operand, ir.Const) and isinstance(operand.value, NUMBERS):
        kind = kind_of(operand.value)
    else:
        return None
    return kind if isinstance(kind, (Array, Scalar)) else None


def held_kind(operand: ir.Operand) -> Array | Scalar | None:
    """The kind of an array, or of the numbers in a list that holds nothing else."""
    kind = operand.kind if isinstance(operand, ir.Var) else None
    if isinstance(kind, ListOf) and isinstance(kind.item, Scalar) and not kind.holes:
        return kind.item
    return kind if isinstance(kind, Array) else None


def broadcast(shapes: Iterable[tuple[Dimension, ...]]) -> tuple[Dimension, ...] | None:
    """The shape that shapes broadcast to, None if that isn't known."""
    result: tuple[Dimension, ...] = ()
    for shape in shapes:
        rank = max(len(result), len(shape))
        a = (1,) * (rank - len(result)) + result
        b = (1,) * (rank - len(shape)) + shape
        merged = []
        for m, n in zip(a, b, strict=True):
            if m == n or n == 1:
                merged.append(m)
            elif m == 1:
                merged.append(n)
            elif isinstance(m, int) or isinstance(n, int):
                merged.append(m if isinstance(m, int) else n)
            elif isinstance(m, Size) and m.never_one:
                merged.append(m)
            elif isinstance(n, Size) and n.never_one:
                merged.append(n)
            else:
                return None
        result = tuple(merged)
    return result


def promoted(operands: Sequence[ir.Operand]) -> np.dtype[Any] | None:
    """The dtype of arithmetic on operands, by NumPy's rules for Python numbers."""
    strong: list[Any] = []
    weak: list[Any] = []
    unsure: list[Any] = []
    kinds = [number_kind(o) for o in operands]
    for kind in kinds:
        if kind is None or kind.dtype is None:
            return None
        if isinstance(kind, Array) or kind.python is False:
            strong.append(kind.dtype)
        elif kind.python:
            weak.append({"f": 0.0, "c": 0j, "b": False}.get(kind.dtype.kind, 0))
        else:
            unsure.append(kind.dtype)
    result = np.result_type(*strong, *weak) if strong or weak else np.dtype(np.float64)
    for dtype in unsure:  # a Python number or a NumPy one: fine where it makes no difference
        if not strong or np.result_type(result, dtype) != result:
            if strong:
                return None
            result = np.result_type(result, dtype)
    arrays = any(isinstance(k, Array) for k in kinds)
    return None if arrays and all_may_be_whole(kinds) else result


def elementwise_kind(function: Any, operands: Sequence[ir.Operand]) -> Array | Scalar | None:
    """The kind of arithmetic on floating-point operands, None if it isn't known."""
    kinds = [number_kind(o) for o in operands]
    dtype = promoted(operands)
    if dtype is None or any(k is None or k.shape is None for k in kinds):
        return None
    if dtype.kind not in "fc" or function not in ARITHMETIC:
        return None
    shape = broadcast(k.shape for k in kinds if k is not None and k.shape is not None)
    if shape is None:
        return None
    if shape or any(isinstance(k, Array) for k in kinds):
        if not shape:
            return None  # arithmetic on arrays without dimensions yields a NumPy number
        return Array(dtype, shape)
    flags = {k.python for k in kinds if isinstance(k, Scalar)}
    python = False if False in flags else None if None in flags else True
    whole = function is not operator.truediv and all_may_be_whole(kinds)
    return Scalar(dtype, python, None, _short(kinds) | (Lesser.WHOLE if whole else Lesser(0)))


def all_may_be_whole(kinds: Sequence[Array | Scalar | None]) -> bool:
    """Whether arithmetic on what is a float in some runs is one on ints only in others."""

    def may_be(kind: Array | Scalar | None) -> bool:
        return isinstance(kind, Scalar) and Lesser.WHOLE in kind.mixed

    floats = (k for k in kinds if k is not None and k.dtype is not None and k.dtype.kind in "fc")
    return any(map(may_be, kinds)) and all(map(may_be, floats))


def _short(kinds: Sequence[Array | Scalar | None]) -> Lesser:
    """Whether arithmetic on numbers may be of half the precision, as no other is NumPy's."""
    numbers = [k for k in kinds if isinstance(k, Scalar)]
    double = any(k.python is False and Lesser.SHORT not in k.mixed for k in numbers)
    short = not double and any(Lesser.SHORT in k.mixed for k in numbers)
    return Lesser.SHORT if short else Lesser(0)


def same_kind(a: Kind | None, b: Kind | None) -> bool:
    """Whether two kinds of numbers or arrays say the same of dtype and shape."""
    if not isinstance(a, (Array, Scalar)) or not isinstance(b, (Array, Scalar)):
        return False
    if not same_dtype(a, b) or a.shape != b.shape or a.shape is None:
        return False
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return (a.python == b.python or b.python is None) and a.mixed in b.mixed
    return type(a) is type(b)
