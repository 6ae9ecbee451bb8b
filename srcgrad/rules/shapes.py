"""Kinds of results that depend on more than the kinds of the operands: on an index, a new shape."""

from __future__ import annotations

import builtins
import operator
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .. import ir
from ..analysis.alternatives import has_dtype
from ..analysis.inference import Inferred
from ..joins import is_real
from ..kinds import (
    FLOAT,
    UNKNOWN,
    Array,
    Dimension,
    Lesser,
    Opaque,
    Scalar,
    Size,
    TupleOf,
    derived_size,
    fresh_size,
    int_kind,
)
from .registry import kind


def _as_dimension(operand: ir.Operand) -> Dimension:
    """The length that an operand gives to a dimension, an int or what the call then refuses."""
    if isinstance(operand, ir.Const):
        known = isinstance(operand.value, (int, np.integer)) and operand.value >= 0
        return int(operand.value) if known else fresh_size()
    if isinstance(operand, ir.Var):
        return _length(operand.kind)
    return fresh_size()


def _length(kind: Any) -> Dimension:
    if isinstance(kind, Scalar) and kind.size is not None:
        return kind.size
    return fresh_size()


def as_shape(operand: ir.Operand) -> tuple[Dimension, ...] | None:
    if isinstance(operand, ir.Pack):
        return tuple(_as_dimension(item) for item in operand.items)
    if isinstance(operand, ir.Const):
        value = operand.value
        several = np.ndim(value) == 1
        return tuple(_as_dimension(ir.Const(item)) for item in (value if several else (value,)))
    if isinstance(operand.kind, Scalar) and operand.kind.dtype.kind in "iu":
        return (_as_dimension(operand),)
    if isinstance(operand.kind, TupleOf):
        return tuple(_length(item) for item in operand.kind.items)
    if isinstance(operand.kind, Array) and operand.kind.shape is not None:
        rank = operand.kind.shape[0] if operand.kind.shape else 1
        if isinstance(rank, int):  # an array of the lengths
            return tuple(fresh_size() for _ in range(rank))
    return None


def _is_index(operand: ir.Operand) -> bool:
    if isinstance(operand, ir.Const):
        return isinstance(operand.value, (int, np.integer)) and not isinstance(operand.value, bool)
    return (
        isinstance(operand, ir.Var)
        and isinstance(operand.kind, Scalar)
        and operand.kind.dtype.kind in "iu"
    )


def _sliced(n: Dimension, parts: tuple[ir.Operand, ...]) -> Dimension:
    """The length of `x[start:stop:step]` along a dimension of length n."""
    values: list[Any] = [p.value if isinstance(p, ir.Const) else p for p in parts]
    if isinstance(n, int) and not any(isinstance(v, ir.Var) for v in values):
        return len(range(*slice(*values).indices(n)))
    start, stop, step = values
    if step == -1 and start is None and stop is None:
        return n
    if step not in (None, 1) or not isinstance(n, Size):
        return _slice_size(n, parts)
    if isinstance(start, ir.Var) or (start is not None and start < 0):
        return _slice_size(n, parts)
    if isinstance(stop, ir.Var):
        # x[:m] is m long only where m is no more than the length; equal sizes prove that
        bound: Any = stop.kind.size if isinstance(stop.kind, Scalar) else None
        same = isinstance(bound, Size) and bound.base == n.base
        shrinks = same and bound.offset <= n.offset and (n.offset <= 0 or bound.exact)
        return bound.shifted(-(start or 0)) if shrinks else _slice_size(n, parts)
    if stop is not None and stop >= 0:
        return _slice_size(n, parts)
    return n.shifted((stop or 0) - (start or 0))


def _slice_size(n: Dimension, parts: tuple[ir.Operand, ...]) -> Dimension:
    """The length of a slice of which no more is known than what it follows from."""
    bounds: list[Any] = []
    for part in parts:
        if isinstance(part, ir.Const):
            bounds.append(part.value)
            continue
        bound = (
            part.kind.size if isinstance(part, ir.Var) and isinstance(part.kind, Scalar) else None
        )
        # an int may be below zero where a dimension would be zero
        if bound is None or (isinstance(bound, Size) and not bound.exact):
            return fresh_size()
        bounds.append(bound)
    return derived_size("slice", n, *bounds)


@kind(operator.getitem, np.ndarray.__getitem__)
def getitem(args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> Inferred | None:
    """Basic keys give views or scalars, advanced keys (arrays, lists, masks) copies."""
    x, key = args
    if not isinstance(x, ir.Var) or not isinstance(x.kind, Array):
        return None
    array = x.kind
    items = [
        ir.Pack(slice, ir.slice_parts(i)) if ir.slice_parts(i) else i for i in ir.items_of(key)
    ]
    if array.shape is None:
        basic = all(
            _is_index(i)
            or (isinstance(i, ir.Pack) and i.type is slice)
            or (isinstance(i, ir.Const) and (i.value is None or i.value is Ellipsis))
            for i in items
        )
        return Inferred(replace(array, shape=None), (x,), False) if basic else None

    def consumed(item: ir.Operand) -> int:
        if isinstance(item, ir.Const):
            if item.value is None or item.value is Ellipsis or _is_truth(item):
                return 0
            value = np.asarray(item.value)
            return value.ndim if value.dtype == bool else 1
        if isinstance(item, ir.Var) and _is_truth(item):
            return 0
        if isinstance(item, ir.Var) and isinstance(item.kind, Array):
            if item.kind.shape is None:
                return -1000
            if item.kind.dtype is not None and item.kind.dtype.kind == "b":
                return len(item.kind.shape)
        return 1

    used = sum(consumed(i) for i in items)
    if used < 0:
        return Inferred(replace(array, shape=None), (x,), False)
    missing = len(array.shape) - used
    if missing < 0:
        return None
    places = [i for i, k in enumerate(items) if isinstance(k, ir.Const) and k.value is Ellipsis]
    full = ir.Pack(slice, (ir.Const(None), ir.Const(None), ir.Const(None)))
    place = places[0] if places else len(items)
    items[place : place + 1] = [full] * missing
    shape: list[Dimension] = []
    advanced: list[tuple[Dimension, ...]] = []
    positions: list[int] = []
    axis = 0
    for number, item in enumerate(items):
        if isinstance(item, ir.Const) and item.value is None:
            shape.append(1)
        elif _is_index(item):
            if advanced or any(_is_advanced(k) for k in items):
                positions.append(number)
                advanced.append(())
            axis += 1
        elif isinstance(item, ir.Pack) and item.type is slice:
            shape.append(_sliced(array.shape[axis], item.items))
            axis += 1
        else:
            positions.append(number)
            index_shape = _index_shape(item)
            if index_shape is None:
                return Inferred(replace(array, shape=None))
            advanced.append(index_shape)
            axis += consumed(item)
    if not advanced:
        if shape or any(i.value is Ellipsis for i in _constants(key)):
            return Inferred(replace(array, shape=tuple(shape)), (x,))
        return Inferred(_item(array) or UNKNOWN)
    joined = broadcast(advanced)
    adjacent = positions == list(range(positions[0], positions[-1] + 1))
    if places and not missing and positions[0] < place <= positions[-1]:
        adjacent = False  # an ellipsis stands between them, though for no axis
    before = sum(
        1
        for item in items[: positions[0]]
        if (isinstance(item, ir.Pack) and item.type is slice)
        or (isinstance(item, ir.Const) and item.value is None)
    )
    where = before if adjacent else 0
    result = (*shape[:where], *joined, *shape[where:])
    single = None if result else _item(array)
    return Inferred(single or replace(array, shape=result))


def _item(array: Array) -> Scalar | None:
    """The kind of an item of an array."""
    if array.dtype is None:
        number = Scalar(np.dtype(float), False, mixed=Lesser.WHOLE | Lesser.SHORT)
        return number if array.real else None
    return Scalar(array.dtype, False)


def _constants(key: ir.Operand) -> list[ir.Const]:
    return [item for item in ir.items_of(key) if isinstance(item, ir.Const)]


def _is_advanced(item: ir.Operand) -> bool:
    if isinstance(item, ir.Const):
        return isinstance(item.value, (np.ndarray, list, tuple, bool, np.bool_))
    if isinstance(item, ir.Pack):
        return item.type in (list, tuple)
    return isinstance(item.kind, Array) or _is_truth(item)


def _is_truth(item: ir.Operand) -> bool:
    """Whether an index is one truth value, which makes an axis of length 1 or 0."""
    if isinstance(item, ir.Const):
        return isinstance(item.value, (bool, np.bool_))
    kind = getattr(item, "kind", None)
    return isinstance(kind, Scalar) and kind.dtype.kind == "b"


def _index_shape(item: ir.Operand) -> tuple[Dimension, ...] | None:
    """The shape that an advanced index contributes, None where unknown."""
    if isinstance(item, ir.Const):
        array = np.asarray(item.value)
        return (int(array.sum()),) if array.dtype == bool else array.shape
    if isinstance(item, ir.Pack):
        if not all(_is_index(part) or _is_truth(part) for part in item.items):
            return _of_places(item)
        return (fresh_size() if any(map(_is_truth, item.items)) else len(item.items),)
    if _is_truth(item):
        return (fresh_size(),)
    if isinstance(item.kind, Array):
        if item.kind.dtype is not None and item.kind.dtype.kind == "b":
            return (fresh_size(),)
        return item.kind.shape
    return None


def _of_places(item: ir.Operand) -> tuple[Dimension, ...] | None:
    """The shape of ints in a list or tuple, of which NumPy makes an array: `(i,)` in `x[(i,), 0]`.

    What is in a list is of one shape, or NumPy refuses it.
    """
    if isinstance(item, ir.Const) and isinstance(item.value, (list, tuple)):
        array = np.asarray(item.value)
        return array.shape if array.dtype.kind in "iu" else None
    if isinstance(item, ir.Pack):
        shapes = {_of_places(part) for part in item.items}
        shape = shapes.pop() if len(shapes) == 1 else None
        return None if shape is None or item.type is slice else (len(item.items), *shape)
    if isinstance(item, ir.Var) and isinstance(item.kind, Array):
        dtype = item.kind.dtype
        return item.kind.shape if dtype is not None and dtype.kind in "iu" else None
    return () if _is_index(item) else None


def broadcast(shapes: list[tuple[Dimension, ...]]) -> tuple[Dimension, ...]:
    rank = max(map(len, shapes))
    result: list[Dimension] = [1] * rank
    for shape in shapes:
        for axis, n in enumerate(shape, rank - len(shape)):
            if result[axis] == 1:
                result[axis] = n
            elif n != 1 and n != result[axis]:
                result[axis] = fresh_size()
    return tuple(result)


@kind(np.reshape)
def reshape(args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> Inferred | None:
    x = args[0]
    shape = args[1] if len(args) > 1 else kwargs.get("shape", kwargs.get("newshape"))
    if shape is None or not isinstance(x, ir.Var) or not isinstance(x.kind, (Array, Scalar)):
        return None
    new = as_shape(shape)
    if new is not None:
        new = _completed(new, shape, x.kind.shape)
    return Inferred(_of_items(x.kind, new), (x,), False)


def _of_items(kind: Array | Scalar, shape: Any) -> Array:
    """The kind of an array of the items of another one, or of a number."""
    known = has_dtype(kind)
    return Array(kind.dtype if known else None, shape, not known and is_real(kind))


def _completed(
    new: tuple[Dimension, ...], operand: ir.Operand, old: tuple[Dimension, ...] | None
) -> tuple[Dimension, ...]:
    """A new shape with the length that -1 stands for, where the old shape tells it."""
    if isinstance(operand, ir.Pack):
        values = [item.value if isinstance(item, ir.Const) else None for item in operand.items]
    elif isinstance(operand, ir.Const):
        several = isinstance(operand.value, (tuple, list))
        values = list(operand.value) if several else [operand.value]
    else:
        return new
    if values.count(-1) != 1 or old is None:
        return new
    place = values.index(-1)
    rest = [n for i, n in enumerate(new) if i != place]
    remaining = list(old)
    for n in list(rest):
        if n in remaining:
            rest.remove(n)
            remaining.remove(n)
    if not rest and len(remaining) == 1:
        return (*new[:place], remaining[0], *new[place + 1 :])
    if all(isinstance(n, int) for n in (*rest, *remaining)):
        sizes: Any = (remaining, rest)
        total, part = (int(np.prod(s, dtype=int)) for s in sizes)
        if part and total % part == 0:
            return (*new[:place], total // part, *new[place + 1 :])
    return new


@kind(np.ndarray.reshape)
def reshape_method(args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> Inferred | None:
    if len(args) == 2:
        return reshape(args, {})
    return reshape((args[0], ir.Pack(tuple, args[1:])), {})


@kind(np.broadcast_to)
def broadcast_to(args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> Inferred | None:
    x = args[0]
    shape = args[1] if len(args) > 1 else kwargs.get("shape")
    if shape is None or not isinstance(x, ir.Var) or not isinstance(x.kind, (Array, Scalar)):
        return None
    return Inferred(_of_items(x.kind, as_shape(shape)), (x,))


@kind(np.ndarray.copy)
def copied(args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> Inferred | None:
    x = args[0]
    unknown = isinstance(x, ir.Var) and isinstance(x.kind, Array) and x.kind.dtype is None
    return Inferred(x.kind) if unknown else None  # type: ignore[union-attr]


@kind(np.zeros, np.ones, np.empty)
def created(args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> Inferred | None:
    shape = args[0] if args else kwargs.get("shape")
    dtype = args[1] if len(args) > 1 else kwargs.get("dtype", ir.Const(None))
    if shape is None:
        return None
    known = np.dtype(dtype.value) if isinstance(dtype, ir.Const) else None
    return Inferred(Array(known, as_shape(shape)))


@kind(np.full)
def full(args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> Inferred | None:
    if len(args) < 2:
        return None
    dtype = args[2] if len(args) > 2 else kwargs.get("dtype", ir.Const(None))
    value = args[1]
    if not isinstance(dtype, ir.Const):
        return None
    if dtype.value is not None:
        return Inferred(Array(np.dtype(dtype.value), as_shape(args[0])))
    if isinstance(value, ir.Const):
        return Inferred(Array(np.asarray(value.value).dtype, as_shape(args[0])))
    if isinstance(value, ir.Var) and isinstance(value.kind, (Array, Scalar)):
        return Inferred(_of_items(value.kind, as_shape(args[0])))
    return None


def register_transforms(module: Any) -> None:
    """The kinds of Fourier transforms whose lengths are the items of an array."""
    for name in ("fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn", "irfft2", "irfftn"):
        kind(getattr(module, name))(_transformed_to("f" if name.startswith("irfft") else "c"))


def _transformed_to(type_: str) -> Callable[..., Inferred | None]:
    def transformed(args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> Inferred | None:
        s = args[1] if len(args) > 1 else kwargs.get("s")
        x = args[0].kind if args and isinstance(args[0], ir.Var) else None
        if not (isinstance(s, ir.Var) and isinstance(s.kind, Array)):
            return None
        if not isinstance(x, Array) or x.dtype is None or x.shape is None:
            return None
        single = x.dtype in (np.float16, np.float32, np.complex64)
        dtype = np.dtype(f"{type_}{(4 if single else 8) * (2 if type_ == 'c' else 1)}")
        return Inferred(Array(dtype, tuple(fresh_size() for _ in x.shape)))

    return transformed


register_transforms(np.fft)


def _are_ints(args: tuple[ir.Operand, ...]) -> bool:
    """Whether operands are ints of Python's own."""

    def is_int(operand: ir.Operand) -> bool:
        if isinstance(operand, ir.Const):
            return type(operand.value) is int
        kind = getattr(operand, "kind", None)
        return isinstance(kind, Scalar) and kind.dtype.kind == "i" and kind.python is True

    return all(map(is_int, args))


@kind(operator.floordiv, operator.mod, operator.lshift, operator.rshift)
def integer_division(
    args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]
) -> Inferred | None:
    """Of Python ints: the samples would not tell a quotient from a dimension."""
    return Inferred(int_kind()) if _are_ints(args) else None


@kind(operator.pow, operator.ipow, builtins.pow)
def integer_power(args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> Inferred | None:
    """Of Python ints: an int, as it is a dimension more often than not.

    With an exponent that is negative it's a float: `frontend.powers` sees to what only the run
    tells.
    """
    if kwargs or not _are_ints(args):
        return None
    negative = len(args) == 2 and isinstance(args[1], ir.Const) and args[1].value < 0
    return Inferred(FLOAT if negative else int_kind())


@kind(np.random.default_rng)
def generator(args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> Inferred | None:
    return Inferred(Opaque(np.random.Generator))


@kind(np.random.RandomState)
def random_state(args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> Inferred | None:
    return Inferred(Opaque(np.random.RandomState))


@kind(random.Random)
def python_random(args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> Inferred | None:
    return Inferred(Opaque(random.Random))


def _made_by(number: Scalar | None) -> Callable[..., Inferred | None]:
    """The kind of what a conversion makes of a thing of an unknown kind: a string, perhaps.

    Of an array with axes it makes a number, too, if it doesn't raise, as it does of the samples.
    """

    def made(args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> Inferred | None:
        of = args[0].kind if args and isinstance(args[0], ir.Var) else None
        unknown = of == UNKNOWN or (isinstance(of, Opaque) and of.type in (None, str))
        unknown = unknown or (isinstance(of, Array) and of.shape != ())
        return Inferred(number or int_kind()) if unknown else None

    return made


kind(builtins.int)(_made_by(None))
kind(builtins.float)(_made_by(FLOAT))
