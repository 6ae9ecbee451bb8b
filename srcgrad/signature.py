"""What a compiled gradient depends on in its arguments: nesting, dtypes, shapes and flags.

`describe` says it exactly, for looking up an entry. With `sizes` it says only what the compiler
may use: which dimensions are equal and which are 0 or 1, so that one compiled gradient serves
arrays of every size. Where a program's shapes can't be told without (`RELATED`), it also says which
dimensions are longer than others by little, as on a staggered grid, and which ints are as long.
"""

from __future__ import annotations

import array
import collections
import functools
import inspect
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .packages import computes_attributes, told
from .runtime import attributes, has_attributes, held_by, make_object, tuple_of

SHAPE = "%shape"  # the path of an array with this and an axis after it: its length must be known
SPREAD = "%spread"  # that of a list: each of its items is a value of its own
RELATED = ("%related",)  # what `nearby` finds is known of lengths, and of ints that are as long
HELD = "%held"  # that of a dict which is one value: only what its keys and values are in common
OPAQUE = "%opaque"  # the path of a value with this after it: only of what type it is matters
DIFFERENTIATED = "%differentiated"  # with the name of an argument: derivatives are taken by it
FEW, FEW_IN_TUPLES = 4, 16  # items: lists and tuples of as many are always spread
FEW_RECORDS = 16  # objects or dicts: so are lists of as many
SEVERAL = 16  # numbers that derivatives are taken by: lists of as many are
MOST_NESTED = 4  # lists and tuples in each other
FLOATS = (float, np.floating)
MIXED = {int, float, np.float64}
NEAR = 4  # by so much, lengths that are related differ
ANYWHERE = (1, 0)  # where the axis of a vector is: that of any array may follow from its length

# What annotations name may be imported for type checkers alone: from 3.14 on, nobody evaluates them
UNEVALUATED: dict[str, Any] = {}
if sys.version_info >= (3, 14):
    import annotationlib

    UNEVALUATED["annotation_format"] = annotationlib.Format.STRING


class Same:
    """An object as a key: equal to itself alone, whatever its `==` and `hash` say."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value


def describe(
    value: Any,
    path: tuple[Any, ...] = (),
    static: frozenset[Any] = frozenset(),
    sizes: dict[int, Any] | None = None,
) -> Any:
    """A hashable description of a value; of an int its value too if its path is in `static`.

    >>> describe(np.ones((2, 3)))
    (<class 'numpy.ndarray'>, dtype('float64'), (2, 3))
    >>> describe(np.ones((5, 1, 5)), sizes={})
    (<class 'numpy.ndarray'>, dtype('float64'), (('n', 0), 1, ('n', 0)))
    >>> describe((2.0, True))
    (<class 'tuple'>, <class 'float'>, (<class 'bool'>, True))
    >>> describe([1, 2, 3, 4, 5])
    (<class 'list'>, ('items', <class 'int'>), 5)
    """
    t = type(value)
    if (*path, OPAQUE) in static:
        return t
    if isinstance(value, np.ndarray):
        if is_structured(value):
            fields = fields_of(value).items()
            return (t, *((n, describe(f, (*path, n), static, sizes)) for n, f in fields))
        shape: tuple[Any, ...] = value.shape
        if sizes is not None:
            shape = tuple(
                n if (*path, SHAPE, axis) in static else _length(n, sizes)
                for axis, n in enumerate(shape)
            )
        return (t, value.dtype, shape)
    if t is float or t is complex:
        return t
    if t is int:
        if RELATED not in static or path in static:
            return (int, value) if path in static else int
        if sizes is None:
            return (int, value)
        return (int, _length(value, sizes)) if type(sizes.get(value)) is tuple else int
    if t is bool or t is str or t is bytes or value is None:
        return (t, value)
    if isinstance(value, np.number):
        return (t, value.item()) if path in static else t
    if isinstance(value, np.generic):
        return (t, value.dtype, value.tobytes())
    if t in (list, tuple) and (items := whole(value, path, static, sizes)) is not None:
        return (t, ("items", items), _length(len(value), sizes))
    if isinstance(value, (list, tuple)):
        return (t, *(describe(v, (*path, i), static, sizes) for i, v in enumerate(value)))
    if t is collections.deque:
        return (t, value.maxlen, describe(list(value), path, static, sizes))
    if t is dict and is_held(path, static) and (parts := held(value)) is not None:
        return (t, *parts)
    if isinstance(value, dict):
        items = ((k, describe(v, (*path, k), static, sizes)) for k, v in value.items())
        key = (t, *((type(k), k, v) for k, v in items))
        if isinstance(value, collections.defaultdict):
            return (*key, Same(value.default_factory))
        return key
    if is_record(value):
        pairs = attributes(value).items()
        return (t, *((k, describe(v, (*path, k), static, sizes)) for k, v in pairs))
    if t is set or t is frozenset:
        # how it came about decides, too, in which order Python goes through it
        return (t, sys.getsizeof(value), *map(_constant, value))
    if t is slice or t is range:
        return (t, *map(_constant, (value.start, value.stop, value.step)))
    if t is bytearray or t is array.array:
        return (t, getattr(value, "typecode", None), bytes(value))
    if t is types.MappingProxyType:
        return (t, *((type(k), k, _constant(v)) for k, v in value.items()))
    if isinstance(value, np.dtype):
        return (t, value)
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        return t
    if isinstance(value, types.MethodType):
        return (t, Same(value.__func__), Same(value.__self__))
    return (t, Same(value))


def _constant(value: Any) -> Any:
    """A hashable description of a value that is known when compiling: of numbers with their values.

    >>> _constant(2) == _constant(3), _constant(2) == _constant(2.0)
    (False, False)
    """
    if isinstance(value, np.generic):
        return (type(value), value.dtype, value.tobytes())
    if type(value) is tuple:
        return (tuple, *map(_constant, value))
    if type(value) in (int, float, complex, bool, str, bytes):
        return (type(value), value)
    return Same(value)


def whole(
    value: Any,
    path: tuple[Any, ...] = (),
    static: frozenset[Any] = frozenset(),
    sizes: dict[int, Any] | None = None,
) -> Any:
    """What the items of a list or tuple are that is one value at run time; None if it isn't.

    It is one if its items are alike, it has more than a few, and nothing asks for them one by one,
    such as code that needs to know how many there are. Where derivatives are taken by it, it holds
    floats, or lists and tuples of them. Of a long one, some numbers may be ints and some floats.
    """
    few = FEW if type(value) is list else FEW_IN_TUPLES if type(value) is tuple else None
    if few is None or len(value) <= few or spread_path(path) in static:
        return None
    long = len(value) > FEW_RECORDS
    found = common(value, sizes, mixed=long)
    if found is None:
        return records(value, sizes) if long else None
    if len(path) > 1 and (DIFFERENTIATED, path[1]) in static:
        if not _only_floats(found) or (len(value) <= SEVERAL and _count(value) <= SEVERAL):
            return None
    return found


def _only_floats(found: Any) -> bool:
    """Whether values that `common` describes are floats, or lists and tuples of them."""
    if isinstance(found, type):
        return issubclass(found, FLOATS)
    return found[0] in (list, tuple) and all(map(_only_floats, found[1:]))


def _count(value: Any) -> int:
    """How many numbers there are in lists and tuples."""
    return sum(map(_count, value)) if isinstance(value, (list, tuple)) else 1


def known_of_call(signature: inspect.Signature, by: Iterable[str]) -> frozenset[Any]:
    """What `describe` is told of every call: which arguments derivatives are taken by, and that
    what `*args` collects isn't one value.
    """
    many = (p.name for p in signature.parameters.values() if p.kind is p.VAR_POSITIONAL)
    return frozenset((DIFFERENTIATED, n) for n in by) | {spread_path(("", n)) for n in many}


def is_held(path: tuple[Any, ...], static: frozenset[Any]) -> bool:
    """Whether the dict at a path is one value, if it can be."""
    return (*path, HELD) in static and spread_path(path) not in static


def spread_path(path: tuple[Any, ...]) -> tuple[Any, ...]:
    """What says that the list at a path isn't one value: of a tangent, its argument's."""
    return ("argument", *path[1:], SPREAD)


def common(
    items: Any,
    sizes: dict[int, Any] | None = None,
    depth: int = MOST_NESTED,
    mixed: bool = False,
) -> Any:
    """What values are, if they are alike, described; None if they aren't.

    Alike are numbers of one type (`mixed`: ints and floats, too), arrays of one dtype and number of
    dimensions (and of one shape, or of whatever shapes), and lists and tuples of what is alike.

    >>> common([(1, 0.5), (2, 0.1)])
    (<class 'tuple'>, <class 'int'>, <class 'float'>)
    >>> common([np.ones(2), np.ones(3)])
    (<class 'numpy.ndarray'>, dtype('float64'), 1)
    >>> common([1, 0.5]), common([1, 0.5], mixed=True)
    (None, (<class 'int'>, <class 'float'>))
    """
    types = set(map(type, items))
    if mixed and len(types) > 1 and types <= MIXED:
        return (int, float)
    if len(types) != 1 or not depth:
        return None
    t = types.pop()
    if t in (int, float, complex, bool) or issubclass(t, np.number):
        return t
    if t is np.ndarray:
        kinds, shapes = {(v.dtype, v.ndim) for v in items}, {v.shape for v in items}
        dtype, rank = kinds.pop()
        if kinds or dtype.kind not in "biufc":
            return None
        shape = tuple(_length(n, sizes) for n in shapes.pop())
        return (t, dtype, rank if shapes else shape)
    if t is list:
        inner = common([item for part in items for item in part], sizes, depth - 1, mixed)
        return None if inner is None else (t, inner)
    if t is tuple or (issubclass(t, tuple) and hasattr(t, "_fields")):
        if len(set(map(len, items))) != 1 or not items[0]:
            return None
        parts = [common(part, sizes, depth - 1, mixed) for part in zip(*items, strict=True)]
        return None if None in parts else (t, *parts)
    return None


def records(items: Any, sizes: dict[int, Any] | None = None, depth: int = MOST_NESTED) -> Any:
    """What objects of one class are, or dicts with the same keys, if they hold what is alike.

    That is numbers, arrays, lists and tuples as in `common`, texts, and such objects and dicts.

    >>> records([{"name": "a", "at": 1.0}, {"name": "b", "at": 2.0}])
    (<class 'dict'>, ('name', 'at'), <class 'str'>, <class 'float'>)
    >>> records([{"name": "a"}, {"at": 1.0}])
    """
    cls = type(items[0])
    if set(map(type, items)) != {cls} or not (cls is dict or is_record(items[0])) or not depth:
        return None
    held = held_by(items)
    names = tuple(held[0])
    if any(tuple(h) != names for h in held) or set(map(type, names)) != {str}:
        return None
    found = []
    for name in names:
        values = [h[name] for h in held]
        found.append(_alike(values, sizes) or records(values, sizes, depth - 1))
    return None if None in found else (cls, names, *found)


def held(value: dict[Any, Any]) -> tuple[Any, Any] | None:
    """What the keys of a dict are, and what its values, if these and those are alike; else None.

    Values may be ints and floats, too, Python's and NumPy's, and dicts that are alike.

    >>> held({1: 1.008, 6: 12}), held({"a": 1, "b": 2})
    ((<class 'int'>, (<class 'int'>, <class 'float'>)), (<class 'str'>, <class 'int'>))
    >>> held({"a": 1, 2: 2}), held({})
    (None, None)
    """
    keys, values = _alike(value), _alike(value.values())
    if values is None and set(map(type, value.values())) == {dict}:
        inner = [item for part in value.values() for item in part.items()]
        parts = held(dict(enumerate(v for _, v in inner)))
        names = _alike([k for k, _ in inner])
        values = None if names is None or parts is None else (dict, names, parts[1])
    if values is None and set(map(type, value.values())) <= MIXED:
        values = (int, float) if value else None
    return None if keys is None or values is None else (keys, values)


def _alike(items: Any, sizes: dict[int, Any] | None = None) -> Any:
    """What `common` says, and the type of texts."""
    return str if set(map(type, items)) == {str} else common(list(items), sizes)


def _length(n: int, sizes: dict[int, Any] | None) -> Any:
    return n if n < 2 or sizes is None else ("n", sizes.setdefault(n, len(sizes)))


def nearby(values: Iterable[Any]) -> dict[int, tuple[int, int]]:
    """The lengths of arrays: of each a length it may follow from, and how much longer it is.

    That is the next one near it of those along the same axis, of arrays of as many axes or one.

    >>> nearby([np.ones((10, 12)), np.ones((14, 12)), {"edges": np.ones(13)}])
    {10: (10, 0), 12: (12, 0), 13: (12, 1), 14: (10, 4)}
    """
    places: dict[int, set[tuple[int, int]]] = {}
    for shape in _shapes(values):
        for axis, n in enumerate(shape):
            places.setdefault(n, set()).add((len(shape), axis) if len(shape) > 1 else ANYWHERE)
    found: dict[int, tuple[int, int]] = {}
    for n in sorted(n for n in places if n > 1):
        base = n
        for m, (_, offset) in found.items():
            along = places[m] & places[n] or ANYWHERE in places[m] | places[n]
            if along and not offset and n <= m + NEAR:
                base = m
        found[n] = (base, n - base)
    return found


def _shapes(values: Iterable[Any]) -> Iterator[tuple[int, ...]]:
    for value in values:
        if isinstance(value, np.ndarray):
            yield value.shape
        elif isinstance(value, (list, tuple)):
            yield from _shapes(value)
        elif isinstance(value, dict) or is_record(value):
            yield from _shapes((value if isinstance(value, dict) else attributes(value)).values())


def has_related(arguments: Iterable[Any]) -> bool:
    """Whether the arguments tell more of each other's lengths than which are equal."""
    values = list(arguments)
    found = nearby(values)
    return any(offset for _, offset in found.values()) or any(
        type(value) is int and value in found for value in values
    )


def stand_in(value: Any) -> Any:
    """A value of the same description that takes no memory: arrays hold one number.

    >>> array = stand_in(np.ones((1000, 1000)))
    >>> array.shape, array.strides
    ((1000, 1000), (0, 0))
    """
    t = type(value)
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            return value
        one = np.zeros(1, value.dtype)
        return np.lib.stride_tricks.as_strided(one, value.shape, (0,) * value.ndim)
    if t in (list, tuple):
        return t(map(stand_in, value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return tuple_of(t, map(stand_in, value))
    if t is dict:
        return {k: stand_in(v) for k, v in value.items()}
    if is_record(value):
        return make_object(t, {k: stand_in(v) for k, v in attributes(value).items()})
    return value


_NOT_RECORDS = (type, types.FunctionType, types.MethodType, types.ModuleType, functools.partial)


def is_record(value: Any) -> bool:
    """Whether an argument is an object of a plain Python class, differentiated by attribute.

    >>> import types
    >>> is_record(types), is_record(describe)
    (False, False)
    """
    return (
        not isinstance(value, _NOT_RECORDS)
        and is_plain(type(value))
        and has_attributes(value)
        and not is_gradient(value)
        and type(value).__module__.partition(".")[0] not in ("numpy", "scipy")
    )


def is_gradient(thing: Any) -> bool:
    """Whether something is what `grad` and its like make of a function.

    >>> is_gradient(np.sin)
    False
    """
    return told(type(thing), "__srcgrad_primal__") is not None


def is_structured(value: Any) -> bool:
    """Whether a value is a structured array, its fields numbers and texts.

    >>> is_structured(np.zeros(2, [("x", float)])), is_structured(np.zeros(2))
    (True, False)
    """
    return type(value) in (np.ndarray, np.recarray) and has_fields(value.dtype)


def fields_of(array: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of the fields of a structured array, views of it."""
    return {name: array[name] for name in array.dtype.names or ()}


def has_fields(dtype: Any) -> bool:
    """Whether a dtype is that of records of numbers and texts."""
    if not isinstance(dtype, np.dtype) or dtype.fields is None:
        return False
    return all(part.base.kind in "biufcSU" for part, *_ in dtype.fields.values())


def signature_of(function: Any) -> inspect.Signature:
    """The parameters of a function: its own, not those of what it may wrap.

    >>> str(signature_of(np.hypot))
    '(x1, x2, /)'
    """
    positional = inspect.Parameter.POSITIONAL_ONLY
    if isinstance(function, np.ufunc):
        names = ["x"] if function.nin == 1 else [f"x{i + 1}" for i in range(function.nin)]
        return inspect.Signature([inspect.Parameter(n, positional) for n in names])
    call = told(type(function), "__call__")
    asked = computes_attributes(type(function)) or computes_attributes(type(type(function)))
    if asked and isinstance(call, types.FunctionType):
        function = types.MethodType(call, function)
    try:
        if isinstance(function, types.FunctionType):
            return inspect.signature(function, follow_wrapped=False, **UNEVALUATED)
        return inspect.signature(function, **UNEVALUATED)
    except (TypeError, ValueError):
        name = told(function, "__name__", type(function).__name__)
        raise TypeError(f"the parameters of {name} aren't known; wrap it in a lambda") from None


def is_plain(cls: type) -> bool:
    """Whether a class is an ordinary one written in Python, or the one of plain attributes."""
    return cls is types.SimpleNamespace or (
        cls.__new__ is object.__new__  # type: ignore[comparison-overlap]
        and not any(issubclass(cls, base) for base in (dict, list, str, int, float, np.ndarray))
        and bool(cls.__flags__ & (1 << 9))
    )
