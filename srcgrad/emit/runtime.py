"""The few helpers that generated code may call, where shapes aren't known when compiling.

`Gradient.save` copies the source of those that a gradient uses, so they import NumPy alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np


def unbroadcast(gradient: Any, like: Any) -> Any:
    """Sum an adjoint over the axes along which its operand was broadcast.

    >>> unbroadcast(np.ones((3, 2)), np.zeros((1, 2)))
    array([[3., 3.]])
    """
    return unbroadcast_to(gradient, np.shape(like))


def unbroadcast_to(gradient: Any, shape: tuple[int, ...]) -> Any:
    """Sum an adjoint over the axes along which its operand, of the given shape, was broadcast.

    >>> unbroadcast_to(np.ones((3, 2)), (2,))
    array([3., 3.])
    """
    if np.shape(gradient) == shape:
        return gradient
    if np.ndim(gradient) > len(shape):
        gradient = np.add.reduce(gradient, axis=tuple(range(np.ndim(gradient) - len(shape))))
    if np.ndim(gradient) < len(shape):
        ones = (1,) * (len(shape) - np.ndim(gradient))
        gradient = np.reshape(gradient, ones + np.shape(gradient))
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and gradient.shape[i] != 1)
    if axes:
        gradient = np.add.reduce(gradient, axis=axes, keepdims=True)
    if np.shape(gradient) != shape:
        gradient = np.broadcast_to(gradient, shape)
    return gradient


def total(gradient: Any) -> Any:
    """The sum of all elements of an array or number.

    >>> float(total(np.ones((2, 2))))
    4.0
    """
    return np.sum(gradient)


def unless_zero(contribution: Any, *adjoints: Any) -> Any:
    """A contribution, a multiple of adjoints, where one of them isn't zero; zero elsewhere.

    Zero times an infinite derivative is nan, but what is never used contributes nothing. Where an
    adjoint is zero its derivative needn't be: that of the contribution counts where either isn't.

    >>> unless_zero(np.array([1.5, np.nan]), np.array([3.0, 0.0]))
    array([1.5, 0. ])
    """
    if isinstance(contribution, np.ndarray) and contribution.dtype.kind in "fc":
        for adjoint in adjoints:
            if np.shape(adjoint) != contribution.shape:
                break
        else:
            # Quick to see: where nothing is nan or infinite, what is multiplied by zero is zero
            if abs(np.vdot(contribution, contribution)) < np.inf:
                return contribution.copy()
    counts = adjoints[0] != 0
    for adjoint in adjoints[1:]:
        counts = counts | (adjoint != 0)
    if not isinstance(contribution, np.ndarray) and np.ndim(counts) == 0:
        return contribution if counts else type(contribution)(0)
    return np.where(counts, contribution, 0.0)


def zero_like(value: Any) -> Any:
    """A zero adjoint for an array or number: an array for one without axes, which may be written.

    >>> zero_like(2.5), zero_like(np.float32(2.5)), zero_like(np.array(2.5))
    (0.0, np.float32(0.0), array(0.))
    """
    if isinstance(value, np.generic):
        return np.result_type(value, 1.0).type(0.0)
    if isinstance(value, list):
        raise TypeError(
            "the pieces into which an array is split have no derivative where only the run tells "
            "how many they are: slice the array, or split it at a tuple"
        )
    if not isinstance(value, np.ndarray) and not np.ndim(value):
        return 0.0
    return np.zeros_like(value, dtype=np.result_type(value, 1.0))


def filled_like(value: Any, like: Any) -> Any:
    """An array of its own with a value in it, shaped like another; for a number, the value.

    >>> filled_like(1.0, np.zeros(2)), filled_like(1.0, 2.5)
    (array([1., 1.]), 1.0)
    """
    if not isinstance(like, np.ndarray):
        return value
    made = np.zeros_like(like)
    made[...] = value
    return made


def as_dtype(gradient: Any, dtype: Any) -> Any:
    """An adjoint with the dtype of its operand.

    >>> as_dtype(np.ones(2), np.dtype("f4")).dtype
    dtype('float32')
    """
    dtype = np.dtype(dtype)
    if dtype.kind == "f" and np.iscomplexobj(gradient):
        gradient = np.real(gradient)
    if isinstance(gradient, np.generic):
        return gradient.astype(dtype)  # of a number that stands for an array without axes
    return gradient.astype(dtype, copy=False) if isinstance(gradient, np.ndarray) else gradient


def given(gradient: Any, like: Any) -> Any:
    """An adjoint, or zeros where there is none: of the sign of a real number, say.

    >>> given(None, np.ones(2))
    array([0., 0.])
    """
    return np.zeros(np.shape(like)) if gradient is None else gradient


def shape_if_any(value: Any) -> tuple[int, ...]:
    """The shape of an array; () where there is None instead.

    >>> shape_if_any(np.ones(2)), shape_if_any(None)
    ((2,), ())
    """
    return np.shape(value)


def project(gradient: Any, like: Any) -> Any:
    """The adjoint of a variable of any dtype: real if the variable is, and zero if that is whole.

    >>> project(np.array([1 + 2j]), np.ones(1)), project(np.ones(1), np.array([3]))
    (array([1.]), array([0.]))
    """
    if np.result_type(like).kind in "biu":
        return np.zeros_like(gradient)
    if np.iscomplexobj(gradient) and not np.iscomplexobj(like):
        return np.real(gradient)
    return gradient


def own_copy(array: Any) -> Any:
    """A copy of an argument that the function writes into, with the same memory layout.

    >>> own_copy(np.ones((2, 3)).T).flags.f_contiguous
    True
    """
    copy = array.copy(order="K")
    if copy.strides == array.strides or array.size < 2:
        return copy
    # reshape and ravel must be views, or copies, of the copy as they are of the original: the
    # strides have the same ratios, but between numbers that are apart there are gaps of one
    size, strides = array.itemsize, array.strides
    common = int(np.gcd.reduce([s for s, n in zip(strides, array.shape, strict=True) if n > 1]))
    if common > size and common % size == 0:
        strides = tuple(s // common * 2 * size for s in strides)
    lowest, span = 0, size
    for stride, n in sorted(zip(strides, array.shape, strict=True), key=lambda axis: abs(axis[0])):
        if n > 1 and abs(stride) < span:
            return copy  # it shows some numbers several times
        lowest -= min(stride * (n - 1), 0)
        span += abs(stride) * (n - 1)
    view: Any = np.ndarray(array.shape, array.dtype, np.empty(span, np.uint8), lowest, strides)
    view[...] = array
    return view


def own_zeros(array: Any) -> Any:
    """Zeros with the same memory layout as an array.

    >>> own_zeros(np.ones((2, 3))[::-1]).strides
    (-24, 8)
    """
    zeros = own_copy(array)
    zeros[...] = 0.0
    return zeros


READS_WRITTEN = "NumPy reads what it has just written here, item by item"
WRITE_COPY = "write a copy: y.copy()"


def check_apart(written: Any, arrays: Any) -> None:
    """Refuse arguments that share memory when one of them is written in place.

    `arrays` may have lists of arrays in it.

    >>> x = np.ones(3)
    >>> check_apart((x,), (x, np.ones(3), [np.ones(2)]))
    """
    arrays = [array for part in arrays for array in _arrays(part)]
    for i, a in enumerate(written):
        for j, b in enumerate(arrays):
            if a is b and i <= j and not any(c is a for c in arrays[:j]):
                continue
            if _overlap(a, b):
                raise ValueError(
                    "two arguments share memory, and the function writes into one of them: "
                    "pass a copy"
                )


def check_unread(written: Any, place: str, *arrays: Any) -> None:
    """Refuse to write an array from itself where NumPy reads what it has just written.

    >>> x = np.ones(3)
    >>> check_unread(x[:2], "model.py:3", x[2:], [np.ones(2)])
    """
    if any(_overlap(written, array) for array in _arrays(arrays)):
        raise ValueError(f"{place}: {READS_WRITTEN}: {WRITE_COPY}")


def check_direction(array: Any, key: Any, value: Any, place: str) -> None:
    """Refuse `array[key] = value` where they cross, so that one place is written and read.

    >>> x = np.ones((3, 3))
    >>> check_direction(x, 1, x[0], "model.py:3"); check_direction(x, 1, x[:, 1], "model.py:3")
    """
    written = array[key]
    if np.ndim(written) != 1 or np.ndim(value) == 0 or value.shape[-1] < 2:
        return
    step, other = written.strides[0], value.strides[-1]
    if step != other and step * other > 0 and _overlap(written, value):
        to = written.ctypes.data + step * np.arange(len(written))
        of = value.ctypes.data + other * np.arange(len(written))
        _, when, then = np.intersect1d(to, of, assume_unique=True, return_indices=True)
        if written.dtype != value.dtype or np.any(when != then):
            raise ValueError(f"{place}: {READS_WRITTEN}: {WRITE_COPY}")


def _overlap(a: Any, b: Any) -> bool:
    """Whether two arrays share memory, as fields of records and every other item don't."""
    if not np.may_share_memory(a, b):
        return False
    try:
        return np.shares_memory(a, b, max_work=10_000)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def _arrays(part: Any) -> Any:
    """The arrays in a nest of lists."""
    if isinstance(part, (list, tuple)):
        return [array for item in part for array in _arrays(item)]
    return (part,) if isinstance(part, np.ndarray) else ()


def check_listed_once(things: Any) -> None:
    """Refuse arrays and lists, parts of what is copied deeply, of which some are the same one.

    >>> check_listed_once((np.ones(3), [np.ones(2), [1.0]]))
    """
    seen: set[int] = set()
    waiting = list(things)
    while waiting:
        thing = waiting.pop()
        if isinstance(thing, (np.ndarray, list, dict)):
            if id(thing) in seen:
                raise ValueError(
                    f"the same {type(thing).__name__} is in two places of what is copied by "
                    "copy.deepcopy, and its copy is written: make a copy of it first"
                )
            seen.add(id(thing))
        if isinstance(thing, (list, tuple, dict)):
            waiting += thing.values() if isinstance(thing, dict) else thing


def check_different(items: list[Any]) -> None:
    """Refuse a list of objects, by number, which is copied deeply and has one in two places.

    >>> check_different([0, 2, 1])
    """
    if len(set(items)) < len(items):
        raise ValueError(
            "the same object is in two places of what is copied by copy.deepcopy: make a copy of "
            "it first"
        )


def check_containers_apart(written: Any, others: Any) -> None:
    """Refuse arguments that have a list, dict or object in two places when it may be written.

    >>> check_containers_apart(({"a": [1.0]},), ([1.0],))
    """
    there = {id(thing) for thing in _containers(others)}
    for thing in _containers(written):
        if id(thing) in there:
            raise ValueError(
                f"the same {type(thing).__name__} is in two places of the arguments, and the "
                "function writes it, or one beside it: pass a copy"
            )
        there.add(id(thing))


def check_once(things: Any, types: tuple[type, ...]) -> None:
    """Refuse objects, parts of what is copied deeply, of which some are the same one.

    `types`: the classes of those that are written.

    >>> check_once(([{"a": [1.0]}, {"b": 1.0}],), (dict,))
    """
    seen: set[int] = set()
    for thing in _containers(things):
        if type(thing) in types:
            if id(thing) in seen:
                raise ValueError(
                    f"the same {type(thing).__name__} is in two places of what is copied by "
                    "copy.deepcopy, and its copy is written: make a copy of it first"
                )
            seen.add(id(thing))


def check_arrays_apart(written: Any, others: Any) -> None:
    """Refuse arguments in which two arrays share memory, when one may be written.

    >>> check_arrays_apart(([{"at": np.zeros(2)}, {"at": np.zeros(2)}],), (np.zeros(2),))
    """
    arrays = [a for a in _arrays_in(written) if a.size]
    count = len(arrays)
    arrays += [a for a in _arrays_in(others) if a.size]
    bounds = sorted((*np.lib.array_utils.byte_bounds(a), i) for i, a in enumerate(arrays))
    last = 0
    for n, (start, _, i) in enumerate(bounds):
        for _, end, j in bounds[last:n]:
            if start < end and min(i, j) < count and _overlap(arrays[i], arrays[j]):
                raise ValueError(
                    "two arrays in the arguments share memory, and the function writes into one "
                    "of them: pass a copy"
                )
        while last < n and bounds[last][1] <= start:
            last += 1


def check_not_held(arguments: Any, things: Any) -> None:
    """Refuse arguments that hold what the function finds outside too when one is written.

    >>> check_not_held(({"a": [1.0]},), ([1.0],))
    """
    outside, waiting = set(), list(things)
    while waiting:
        outside.add(id(thing := waiting.pop()))
        if isinstance(thing, list) and thing and isinstance(thing[0], list):
            waiting += thing
    for thing in _containers(arguments):
        if id(thing) in outside:
            raise ValueError(
                f"the same {type(thing).__name__} is in the arguments and outside, and the "
                "function writes it, or one beside it: pass a copy"
            )


def _containers(things: Any) -> Iterator[Any]:
    """The lists, dicts, sets and objects in a nest, each place of them.

    Functions of NumPy, which an object may hold as its strategies, aren't written.
    """
    for thing in things:
        parts = _parts(thing)
        if parts is None:
            continue
        if not isinstance(thing, tuple):
            yield thing
        if not _LEAVES.issuperset(map(type, parts)):
            yield from _containers(parts)


def _arrays_in(things: Any) -> Iterator[Any]:
    """The arrays in a nest of lists, dicts and objects."""
    for thing in things:
        if isinstance(thing, np.ndarray):
            yield thing
        elif parts := _parts(thing):
            yield from _arrays_in(parts)


def _parts(thing: Any) -> Any:
    """What a list, dict, set or object holds that may be written; None of anything else."""
    if isinstance(thing, dict):
        return thing.values()
    if isinstance(thing, (list, tuple)) or hasattr(type(thing), "popleft"):
        return thing
    if isinstance(thing, (np.ufunc, type(np.sum))):
        return None
    if type(thing).__module__ != "builtins" and has_attributes(thing):
        return attributes(thing).values()
    return () if isinstance(thing, set) else None


_LEAVES = frozenset({int, float, complex, bool, str, type(None), np.ndarray, np.float64})


def check_fresh(result: Any, arrays: Any) -> None:
    """Refuse a result that shares memory with an argument when one of them is written in place.

    >>> x = np.ones(3)
    >>> check_fresh(x + 1, (x,))
    """
    if any(np.may_share_memory(result, a) for a in arrays):
        raise ValueError(
            "the result of a call shares memory with its argument, and one of them is written in "
            "place: make a copy of it first, by .copy()"
        )


def check_broadcast(*arrays: Any) -> None:
    """Raise what an operation on arrays of these shapes raises, where its result isn't needed.

    >>> check_broadcast(np.ones((2, 3)), np.ones(3))
    """
    np.broadcast(*arrays)


def check_stored(target: Any, value: Any) -> None:
    """Raise what `target[...] = value` raises, if the value has another shape.

    >>> check_stored(np.ones((2, 3)), np.ones(3))
    """
    if np.shape(value) != np.shape(target):
        if isinstance(target, np.ndarray):
            np.empty_like(target)[...] = value
        else:
            np.empty(1, np.result_type(target))[0] = value  # a number takes less than an array


def check_added(target: Any, value: Any) -> None:
    """Raise what `target += value` raises, if the value has another shape.

    >>> check_added(np.ones((2, 3)), np.ones(3))
    """
    if np.shape(value) != np.shape(target):
        np.broadcast_to(value, np.shape(target))


def check_call(function: Any, *args: Any, **kwargs: Any) -> None:
    """Raise what a call raises whose result isn't needed.

    >>> check_call(np.dot, np.ones(3), np.ones(3))
    """
    if function in (np.dot, np.matmul):
        a, b = args
        if 0 < np.ndim(a) < 3 and 0 < np.ndim(b) < 3 and a.shape[-1] == len(b):
            return
    function(*args, **kwargs)


def check_number(result: Any) -> None:
    """Refuse what a function returned, of which it wasn't known that it is a real number.

    >>> check_number(1.5)
    """
    if result is None or np.size(result) != 1:
        what = "None" if result is None else f"an array of shape {np.shape(result)}"
        raise TypeError(f"grad needs a function that returns a number, but it returned {what}")
    if np.iscomplexobj(result):
        raise TypeError("grad needs a real result, but the function returned a complex number")


UNBOUND = "cannot access local variable {!r} where it is not associated with a value"


def check_bound(bound: bool, name: str) -> None:
    """Raise what Python does where a name is read to which no path to there assigned a value.

    >>> check_bound(True, "y")
    """
    if not bound:
        raise UnboundLocalError(UNBOUND.format(name))


def check_power(base: Any, exponent: Any) -> None:
    """Refuse a power of Python's numbers that is complex, where a real one was compiled for.

    >>> check_power(2.0, 0.5), check_power(-2.0, 3.0)
    (None, None)
    """
    if isinstance(base, (float, int)) and base < 0 and isinstance(base**exponent, complex):
        raise ValueError(
            f"({base}) ** {exponent} is complex, for which nothing was compiled: "
            "write complex(x) ** y where that is meant, or np.abs(x) ** y"
        )


def boxed(number: Any) -> Any:
    """A float as NumPy's, as it was before the loop that took it for Python's; ints stay ints.

    >>> boxed(2), boxed(0.5)
    (2, np.float64(0.5))
    """
    return np.float64(number) if isinstance(number, float) else number


def check_whole_power(base: Any, exponent: Any) -> None:
    """Refuse a power of ints that is a float, where it has been settled that ints are ints.

    >>> check_whole_power(2, 0), check_whole_power(2, 3)
    (None, None)
    """
    if exponent < 0:
        raise ValueError(
            f"({base}) ** ({exponent}) is a float, for which nothing was compiled: "
            "write float(x) ** y where that is meant"
        )


def finished(gradient: Any, like: Any) -> Any:
    """A gradient as an array with the shape and dtype of its argument.

    >>> finished(1.0, np.zeros(2, np.float32))
    array([1., 1.], dtype=float32)
    """
    if np.iscomplexobj(gradient) and not np.iscomplexobj(like):
        gradient = np.real(gradient)
    result = np.empty_like(like)
    result[...] = gradient
    return result


def make_object(cls: Any, attributes: Any) -> Any:
    """An object of a class with the given attributes, made without running code of the class.

    >>> class Point: pass
    >>> make_object(Point, {"x": 1}).x
    1
    """
    thing = object.__new__(cls)
    put_attributes(thing, attributes)
    return thing


def make_tuple(cls: Any, items: Any) -> Any:
    """A tuple of a class with the given items, made without calling its `__new__` or `__init__`.

    >>> class Pair(tuple): pass
    >>> make_tuple(Pair, (1, 2))
    (1, 2)
    """
    return tuple.__new__(cls, items)


def put_attributes(thing: Any, attributes: Any) -> None:
    """Give an object attributes without running code of its class, such as descriptors of a name.

    >>> class Point: x = property(lambda self: 3)
    >>> point = Point()
    >>> put_attributes(point, {"x": 1})
    >>> vars(point)
    {'x': 1}
    """
    slots = _slots(type(thing))
    for name, value in attributes.items():
        if name in slots:
            slots[name].__set__(thing, value)
        else:
            thing.__dict__[name] = value


def structured(dtype: Any, fields: Any) -> Any:
    """A structured array of the arrays of its fields; what is None is zeros.

    >>> structured(np.dtype([("a", float), ("n", int)]), {"a": np.ones(2), "n": None})
    array([(1., 0), (1., 0)], dtype=[('a', '<f8'), ('n', '<i8')])
    """
    name, given = next((n, f) for n, f in fields.items() if f is not None)
    result = np.zeros(given.shape[: given.ndim - len(dtype[name].shape)], dtype)
    for name, given in fields.items():
        if given is not None:
            result[name] = given
    return result.view(np.recarray) if dtype.type is np.record else result


def has_attributes(thing: Any) -> bool:
    """Whether an object has attributes of its own, in a `__dict__` or in slots.

    >>> has_attributes(np), has_attributes(2.5)
    (True, False)
    """
    return type(thing).__dictoffset__ != 0 or bool(_slots(type(thing)))


def attributes(thing: Any) -> dict[str, Any]:
    """The attributes of an object: those in its slots that have a value, and its `__dict__`.

    >>> class Point: __slots__ = ("x", "y")
    >>> attributes(make_object(Point, {"x": 1}))
    {'x': 1}
    """
    slots = {}
    for name, slot in _slots(type(thing)).items():  # no `__getattr__` is asked
        try:
            slots[name] = slot.__get__(thing)
        except AttributeError:
            continue
    own: dict[str, Any] = thing.__dict__ if type(thing).__dictoffset__ else {}
    return {**slots, **own} if slots else own


def tuple_of(cls: type, items: Iterable[Any]) -> Any:
    """A tuple of a class with the given items, made without what the class does to make one.

    >>> class Twice(tuple):
    ...     def __new__(cls, x):
    ...         return super().__new__(cls, (x, x))
    >>> tuple_of(Twice, [1, 2]), tuple_of(tuple, [1, 2])
    ((1, 2), (1, 2))
    """
    builtin = cls is tuple or hasattr(cls, "n_sequence_fields")  # as `time.struct_time` has
    return cls(items) if builtin else make_tuple(cls, items)


def records(items: list[Any], *names: Any) -> list[Any]:
    """What objects or dicts hold by these names, as tuples; an object in one has a tuple of names.

    >>> records([{"at": 1.0, "mass": 2.0}, {"at": 3.0, "mass": 4.0}], "at", "mass")
    [(1.0, 2.0), (3.0, 4.0)]
    >>> records([{"end": {"x": 1.0, "y": 2.0}}], ("end", "x", "y"))
    [((1.0, 2.0),)]
    """
    return [_record(item, names) for item in items]


def _record(item: Any, names: tuple[Any, ...]) -> tuple[Any, ...]:
    found = item if isinstance(item, dict) else attributes(item)
    return tuple(
        found[name]
        if isinstance(name, str)
        else _record(found[name[0]], name[1:])
        if isinstance(name, tuple)
        else name(item)
        for name in names
    )


def like_records(items: list[Any], adjoints: list[Any], *names: Any) -> list[Any]:
    """Objects or dicts like these, with the adjoints of what `records` took out of them.

    >>> like_records([{"at": 1.0, "name": "a"}], [(2.0, None)], "at", "name")
    [{'at': 2.0, 'name': 'a'}]
    """
    return [_like_record(item, d, names) for item, d in zip(items, adjoints, strict=True)]


def _like_record(item: Any, adjoints: Any, names: tuple[Any, ...]) -> Any:
    held = item if isinstance(item, dict) else attributes(item)
    made = dict(held)
    for name, d in zip(names, adjoints, strict=True):
        if isinstance(name, str):
            made[name] = _like(held[name], d)
        elif isinstance(name, tuple):
            made[name[0]] = _like_record(held[name[0]], d, name[1:])
    return made if isinstance(item, dict) else make_object(type(item), made)


def _like(value: Any, d: Any) -> Any:
    """An adjoint as a value like this; what isn't a float stays as it is."""
    if isinstance(value, (list, tuple)) and d is not None:
        parts = [_like(item, part) for item, part in zip(value, d, strict=True)]
        return parts if isinstance(value, list) else tuple_of(type(value), parts)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        if isinstance(d, np.ndarray) and (d.shape, d.dtype) == (value.shape, value.dtype):
            return d
        return np.array(np.broadcast_to(d, value.shape), value.dtype)
    if isinstance(value, (float, complex, np.inexact)):
        return type(value)(d)
    return value


def _slots(cls: type) -> dict[str, Any]:
    """The slots of a class written in Python."""
    bases = [base for base in reversed(cls.__mro__) if "__slots__" in vars(base)]
    members = (pair for base in bases for pair in vars(base).items())
    return {name: m for name, m in members if type(m).__name__ == "member_descriptor"}


def fresh_items(items: Any) -> Any:
    """The shadow of a copy of a list, from its shadow: the same arrays, zero for each number.

    >>> fresh_items([2.5, (1.5, 2.5)])
    [0.0, (0.0, 0.0)]
    """

    def fresh(item: Any) -> Any:
        if isinstance(item, tuple):
            return tuple(fresh(part) for part in item)
        return item if item is None or isinstance(item, (np.ndarray, list)) else 0.0

    return [fresh(item) for item in items]


def zero_items(items: Any) -> Any:
    """The shadow of a list that has none: zeros for its numbers and arrays.

    >>> zero_items([2.5, (np.ones(1), 1.5), [2.5]])
    [0.0, (array([0.]), 0.0), [0.0]]
    """

    def zero(item: Any) -> Any:
        if isinstance(item, (list, tuple)):
            return type(item)(zero(part) for part in item)
        return np.zeros_like(item) if isinstance(item, np.ndarray) else 0.0

    return [zero(item) for item in items]


def drop_imaginary(items: Any) -> None:
    """Make the adjoints of the numbers in a list of real numbers real.

    >>> d = [1 + 2j, (3 + 1j, None)]
    >>> drop_imaginary(d)
    >>> d
    [1.0, (3.0, None)]
    """

    def real(item: Any) -> Any:
        if isinstance(item, list):
            drop_imaginary(item)
            return item
        if isinstance(item, tuple):
            return tuple(real(part) for part in item)
        return item if item is None or isinstance(item, np.ndarray) else item.real

    items[:] = [real(item) for item in items]


def add_items(items: Any, key: Any, more: Any) -> None:
    """Add the adjoints of the numbers in a part of a list to those in the list.

    >>> d = [1.0, 2.0, 3.0]
    >>> add_items(d, slice(1, None), [10.0, 20.0])
    >>> d
    [1.0, 12.0, 23.0]
    """

    def total(a: Any, b: Any) -> Any:
        if isinstance(a, tuple):
            return tuple(total(x, y) for x, y in zip(a, b, strict=True))
        return a if a is None or isinstance(a, (np.ndarray, list)) else a + b

    items[key] = [total(a, b) for a, b in zip(items[key], more, strict=True)]


def order(keys: Any, reverse: bool) -> list[int]:
    """The positions of a list's items in their order.

    >>> order([2.5, 0.5, 2.5], False), order([2.5, 0.5, 2.5], True)
    ([1, 0, 2], [0, 2, 1])
    """
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def put_back(items: Any, index: int, item: Any) -> None:
    """Undo `item = items.pop(index)`.

    >>> letters = ["a", "b", "c"]
    >>> put_back(letters, -2, letters.pop(-2))
    >>> letters
    ['a', 'b', 'c']
    """
    items.insert(index if index >= 0 else len(items) + 1 + index, item)


def copied_items(items: Any) -> Any:
    """A copy of a list with copies of its arrays.

    >>> copied_items([2.5, np.ones(1)])
    [2.5, array([1.])]
    """

    def copied(item: Any) -> Any:
        if isinstance(item, (list, tuple)):
            return type(item)(copied(part) for part in item)
        return item.copy() if isinstance(item, np.ndarray) else item

    return copied(items)


def items_of_again(value: Any) -> list[Any]:
    """The items of something that may have been gone through in part: an iterator has others left.

    >>> items_of_again([1, 2])
    [1, 2]
    """
    if hasattr(value, "__next__"):
        raise ValueError(
            f"this {type(value).__name__} is gone through again where a loop over it may have been "
            "left early, and srcgrad has taken all its items: make a list of it first"
        )
    return items_of(value)


def items_of(value: Any) -> list[Any]:
    """The items of what was unknown when compiling, all of them before the first is used.

    >>> items_of({"a": 1, "b": 2})
    ['a', 'b']
    """
    items = []
    for item in value:
        items.append(item)
        if len(items) > 1_000_000 and not hasattr(value, "__len__"):
            raise RuntimeError(
                f"this {type(value).__name__} seems to be endless, and srcgrad takes all its items "
                "before the first is used: take those that are needed outside of the function"
            )
    return items


def last_written(d_array: Any, key: Any) -> Any:
    """The adjoint of the value in `array[key] = value`; of equal indices the last one counts.

    >>> last_written(np.array([1.0, 2.0]), np.array([0, 1, 1]))
    array([1., 0., 2.])
    """
    d_value = d_array[key]
    order = np.empty(d_array.shape, np.intp)
    numbers = np.arange(d_value.size).reshape(d_value.shape)
    order[key] = numbers
    return np.where(order[key] == numbers, d_value, 0)


def cross_product(a: Any, b: Any) -> Any:
    """`np.cross(a, b)` along the last axis, in less time where it has three components.

    >>> cross_product(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    array([0., 0., 1.])
    """
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        return np.cross(a, b)
    a0, a1, a2 = a[..., 0], a[..., 1], a[..., 2]
    b0, b1, b2 = b[..., 0], b[..., 1], b[..., 2]
    first = a1 * b2 - a2 * b1
    out = np.empty_like(a, first.dtype, shape=(*first.shape, 3))
    out[..., 0] = first
    out[..., 1] = a2 * b0 - a0 * b2
    out[..., 2] = a0 * b1 - a1 * b0
    return out


def sum_of_products(a: Any, b: Any) -> Any:
    """`np.vdot(a, b)` of real arrays, without copies of large ones that aren't contiguous.

    >>> sum_of_products(np.ones((2, 3)), np.full((2, 3), 2.0))
    np.float64(12.0)
    """
    if a.size < 10_000 or a.shape[-1] < 64:
        return np.vdot(a, b)
    return np.vecdot(a, b).sum()


def weighted_sum(weights: Any, array: Any, axis: int) -> Any:
    """`(weights[..., None] * array).sum(axis)` of three axes, for the first axis or the second.

    In less time: it is a product of matrices for each place along the other axis of the weights.

    >>> weighted_sum(np.array([[1.0], [2.0]]), np.ones((2, 1, 3)), 0)
    array([[3., 3., 3.]])
    """
    if axis == 0:
        weights, array = weights.T, array.swapaxes(0, 1)
    return (weights[:, None] @ array)[:, 0]


def padded_product(a: Any, b: Any) -> Any:
    """`a @ b` of matrices in which zeros stand for what isn't there, whatever they are times.

    >>> padded_product(np.array([[np.inf, 1.0]]), np.array([[0.0, 4.0], [2.0, 3.0]]))
    array([[ 2., inf]])
    """
    with np.errstate(invalid="ignore"):
        product = a @ b
    if np.isfinite(product).all():
        return product
    product[...] = 0
    for column, row in zip(a.T, b, strict=True):
        (rows,), (columns,) = column.nonzero(), row.nonzero()
        product[np.ix_(rows, columns)] += column[rows, None] * row[columns]
    return product


def permit(array: Any) -> None:
    """What `array.setflags(write=True)` does.

    >>> view = np.diag(np.eye(2))
    >>> permit(view)
    >>> view[0] = 3.0
    """
    array.flags.writeable = True


def forbid(array: Any) -> None:
    """Stands for `array.setflags(write=False)`: the program that was read doesn't write there."""


def writable(view: Any) -> Any:
    """A view that can be written, as the diagonal of a matrix at first can't.

    >>> writable(np.diagonal(np.zeros((2, 2)))).flags.writeable
    True
    """
    view.flags.writeable = True
    return view


def print_items(*args: Any, **kwargs: Any) -> None:
    """`print` the last argument's items, after the other arguments.

    >>> print_items("found", (1, 2), sep=", ")
    found, 1, 2
    """
    print(*args[:-1], *args[-1], **kwargs)


def unwritten(function: Any, *args: Any, **kwargs: Any) -> Any:
    """A call of a function that srcgrad can't look into, which must not change its arguments.

    >>> unwritten(np.random.default_rng(0).bytes, 0)
    b''
    >>> unwritten(np.ndarray.fill, np.zeros(2), 1.0)
    Traceback (most recent call last):
        ...
    RuntimeError: fill changed an array or a list that it was given, ...
    """
    given = (*args, *kwargs.values())
    before = _contents(given)
    result = function(*args, **kwargs)
    if _contents(given) != before:
        raise RuntimeError(
            f"{getattr(function, '__name__', function)} changed an array or a list that it was "
            "given, which srcgrad can't follow: give it a copy, or write the change in Python"
        )
    return result


def check_unwritten(value: Any, method: str, place: str = "") -> None:
    """Raise if an augmented assignment writes into a value, which wasn't known when compiling.

    >>> check_unwritten(2.5, "__iadd__")
    >>> check_unwritten([2.5], "__iadd__")
    Traceback (most recent call last):
        ...
    RuntimeError: an augmented assignment writes into this list, which srcgrad can't follow: ...
    """
    if hasattr(type(value), method):
        raise RuntimeError(
            f"{place}an augmented assignment writes into this {type(value).__name__}, which "
            "srcgrad can't follow: write x = x + y, or convert it before: np.array(...), float(...)"
        )


def check_as_written(value: Any, result: Any) -> None:
    """Raise if `value op= other`, in place, isn't `result`, which `value op other` is.

    >>> check_as_written(2, np.ones(3)), check_as_written(np.ones(3), np.ones(3))
    (None, None)
    >>> check_as_written(np.ones(3), np.ones((3, 3)))
    Traceback (most recent call last):
        ...
    RuntimeError: an augmented assignment would give this array another shape or dtype: ...
    """
    if isinstance(value, np.ndarray):
        if (value.shape, value.dtype) != (np.shape(result), getattr(result, "dtype", None)):
            raise RuntimeError(
                "an augmented assignment would give this array another shape or dtype: write "
                "x = x + y, or x[...] = x + y"
            )


def of_type(value: Any, cls: Any) -> Any:
    """A value that is written where one of this type stands: code was compiled for that type.

    >>> of_type("ignore", str)
    'ignore'
    """
    if type(value) is not cls:
        raise TypeError(
            f"this writes a value of the type {type(value).__name__}, for which nothing was "
            f"compiled, where one of the type {cls.__name__} stood"
        )
    return value


def _contents(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return id(value), value.tobytes()
    if isinstance(value, (list, tuple)):
        return [_contents(item) for item in value]
    if isinstance(value, dict):
        return [(key, _contents(item)) for key, item in value.items()]
    return id(value)


def fails(
    exceptions: tuple[type[BaseException], ...], function: Any, *args: Any, **kwargs: Any
) -> bool:
    """Whether a function raises one of these exceptions, as it does where a try would catch it.

    >>> fails((np.linalg.LinAlgError,), np.linalg.cholesky, -np.eye(2))
    True
    >>> fails((np.linalg.LinAlgError,), np.linalg.cholesky, np.eye(2))
    False
    """
    return failure(exceptions, function, *args, **kwargs) is not None


def failure(
    exceptions: tuple[type[BaseException], ...], function: Any, *args: Any, **kwargs: Any
) -> BaseException | None:
    """The exception that a function raises, if it is one of these.

    >>> failure((np.linalg.LinAlgError,), np.linalg.cholesky, -np.eye(2))
    LinAlgError('Matrix is not positive definite')
    """
    try:
        function(*args, **kwargs)
    except exceptions as error:
        return error
    except Exception:  # which the call itself is about to raise
        return None
    return None


def stored(array: Any, index: Any, value: Any) -> None:
    """Raise what `array[index] = value` raises where the shapes don't go together.

    >>> stored(np.ones(3), slice(2), np.ones(4))
    Traceback (most recent call last):
    ValueError: could not broadcast input array from shape (4,) into shape (2,)
    """
    check_stored(array[index], value)


TOO_NESTED = (
    "setting an array element with a sequence. The requested array would exceed the maximum "
    "number of dimension of {}."
)


def check_nested(array: Any, index: Any, value: Any) -> None:
    """Raise what `array[index] = items` raises where lists are nested too deep for its axes.

    >>> check_nested(np.ones((2, 2)), 0, np.ones(2))
    """
    axes = np.ndim(array[index])
    if axes < np.ndim(value):
        raise ValueError(TOO_NESTED.format(axes))


def check_finite(adjoint: Any, name: str, filename: str, line: int) -> None:
    """Raise FloatingPointError if an adjoint isn't finite, naming the line that it comes from.

    >>> check_finite(np.ones(2), "x", "model.py", 3)
    """
    if not np.all(np.isfinite(adjoint)):
        import linecache

        wrong = "NaN" if np.any(np.isnan(adjoint)) else "infinite"
        raise FloatingPointError(
            f"the gradient becomes {wrong} here: the adjoint of {name!r}\n"
            f'  File "{filename}", line {line}\n'
            f"    {linecache.getline(filename, line).strip()}"
        )


def check_floats(array: Any, place: str, *values: Any) -> None:
    """Refuse to write floats, or these values if they are floats, into an array of ints.

    >>> check_floats(np.zeros(2), "model.py:3"); check_floats(np.arange(2), "model.py:3", 1)
    """
    floats = not values or any(np.result_type(v).kind in "fc" for v in values)
    if floats and array.dtype.kind in "biu":
        raise TypeError(
            f"{place}: a float is written into an array of ints, which would cut it off: make it "
            "an array of floats, for example np.zeros(n) or x.astype(float)"
        )


def check_first(results: Any, caller: str, advice: str) -> None:
    """Raise TypeError where a function would cut all results to what the first is, of less.

    >>> check_first([0.0, 1.5], "np.vectorize", "give otypes=[float]")
    """
    first, dtype = np.asarray(results[0]).dtype, np.asarray(results).dtype
    if first.kind in "biu" and dtype != first:
        raise TypeError(f"{caller} makes ints of all results where the first is one: {advice}")
    if first.kind == "f" and dtype.kind == "c":
        raise TypeError(f"{caller} makes all results real where the first one is: add 0j to it")


def stop_gradient(value: Any) -> Any:
    """The same value, as a constant: its derivative is zero.

    An array is copied, lest what is written into it later be taken for a constant.

    >>> stop_gradient([3.0, np.ones(2)])
    [3.0, array([1., 1.])]
    """
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return tuple.__new__(type(value), map(stop_gradient, value))
    if isinstance(value, (tuple, list)):
        return type(value)(stop_gradient(item) for item in value)
    if isinstance(value, dict):
        return {key: stop_gradient(item) for key, item in value.items()}
    return value


def identity(thing: Any, number: Any = type("Number", (int,), {})) -> int:  # noqa: B008
    """The `id` of an array, which stays its own as long as it is known: the array is kept for it.

    The function may keep its arrays where the gradient needs them no more, and another one would
    get the number.

    >>> x = np.ones(2)
    >>> identity(x) == id(x), identity(np.ones(2)) == identity(np.ones(2))
    (True, False)
    """
    found: int = number(id(thing))
    found.of = thing  # type: ignore[attr-defined]
    return found


def listed(x: Any) -> Any:
    """The numbers of a short array as a list, which loops are faster at; a long one as it is.

    >>> listed(np.ones(2)), listed(np.ones(1000)).shape
    ([1.0, 1.0], (1000,))
    """
    return x.tolist() if x.size <= 32 else x
