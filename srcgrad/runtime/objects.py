"""Objects: their attributes, objects made without their classes' code, and rows of them."""

from __future__ import annotations

import collections
import types
from collections.abc import Iterable
from typing import Any

import numpy as np


def make_object(cls: Any, attributes: Any) -> Any:
    """An object of a class with the given attributes, made without running code of the class.

    >>> class Point: pass
    >>> make_object(Point, {"x": 1}).x
    1
    """
    thing = _new(cls)
    put_attributes(thing, attributes)
    return thing


def _new(cls: Any) -> Any:
    """An object of a class, made by the first of its bases whose `__new__` isn't Python's."""
    made = (vars(base).get("__new__") for base in cls.__mro__)
    return next(new for new in made if isinstance(new, types.BuiltinMethodType))(cls)


def make_list(cls: Any, items: Any) -> Any:
    """A list or deque of a class with the given items, made without running code of the class.

    >>> class Row(list): pass
    >>> row = make_list(Row, [1, 2])
    >>> row, type(row) is Row, make_list(collections.deque, [1])
    ([1, 2], True, deque([1]))
    """
    made = _new(cls)
    base: Any = collections.deque if issubclass(cls, collections.deque) else list
    base.extend(made, items)
    return made


def make_dict(cls: Any, items: Any, factory: Any = None, is_namespace: bool = False) -> Any:
    """A dict of a class with the given items, made without running code of the class.

    `factory` is that of a defaultdict; the items of a namespace are its attributes, too.

    >>> class Named(dict): pass
    >>> named = make_dict(Named, {"a": 1})
    >>> named, type(named) is Named, make_dict(collections.defaultdict, {}, int)
    ({'a': 1}, True, defaultdict(<class 'int'>, {}))
    """
    made = _new(cls)
    base: Any = collections.OrderedDict if issubclass(cls, collections.OrderedDict) else dict
    for key, value in items.items():
        base.__setitem__(made, key, value)
    if factory is not None:
        made.default_factory = factory
    if is_namespace:
        made.__dict__ = made
    return made


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
    _put(thing, attributes, _slots(type(thing)))


def _put(thing: Any, attributes: dict[str, Any], slots: dict[str, Any]) -> None:
    for name, value in attributes.items():
        if name in slots:
            slots[name].__set__(thing, value)
        else:
            thing.__dict__[name] = value


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


def _slots(cls: type) -> dict[str, Any]:
    """The slots of a class written in Python."""
    bases = [base for base in reversed(cls.__mro__) if "__slots__" in vars(base)]
    members = (pair for base in bases for pair in vars(base).items())
    return {name: m for name, m in members if type(m).__name__ == "member_descriptor"}


def held_by(items: list[Any]) -> list[dict[str, Any]]:
    """The attributes of objects of one class; dicts as they are.

    >>> held_by([{"at": 1.0}])
    [{'at': 1.0}]
    """
    if not items or isinstance(items[0], dict):
        return items
    cls = type(items[0])
    plain = cls.__dictoffset__ and not _slots(cls)
    return [item.__dict__ for item in items] if plain else [attributes(item) for item in items]


def records(items: list[Any], *names: Any) -> list[Any]:
    """What objects of one class or dicts hold by these names, as tuples.

    An object in one has a tuple of names; a function gives what stands for a name.

    >>> records([{"at": 1.0, "mass": 2.0}, {"at": 3.0, "mass": 4.0}], "at", "mass")
    [(1.0, 2.0), (3.0, 4.0)]
    >>> records([{"end": {"x": 1.0, "y": 2.0}}], ("end", "x", "y"))
    [((1.0, 2.0),)]
    """
    held = held_by(items)
    columns: list[Any] = [
        [h[name] for h in held]
        if isinstance(name, str)
        else records([h[name[0]] for h in held], *name[1:])
        if isinstance(name, tuple)
        else map(name, items)
        for name in names
    ]
    return [*zip(*columns, strict=True)] if names else [()] * len(items)


def like_records(items: list[Any], adjoints: list[Any], *names: Any) -> list[Any]:
    """Objects or dicts like these, with the adjoints of what `records` took out of them.

    >>> like_records([{"at": 1.0, "name": "a"}], [(2.0, None)], "at", "name")
    [{'at': 2.0, 'name': 'a'}]
    """
    made = [dict(h) for h in held_by(items)]
    for name, column in zip(names, zip(*adjoints, strict=True), strict=False):
        if isinstance(name, str):
            values = [held[name] for held in made]
            for held, d in zip(made, _alike(values, column), strict=True):
                held[name] = d
        elif isinstance(name, tuple):
            parts = like_records([held[name[0]] for held in made], [*column], *name[1:])
            for held, part in zip(made, parts, strict=True):
                held[name[0]] = part
    if not items or isinstance(items[0], dict):
        return made
    things = [object.__new__(type(item)) for item in items]
    slots = _slots(type(items[0]))
    for thing, held in zip(things, made, strict=True):
        _put(thing, held, slots)
    return things


def _alike(values: list[Any], adjoints: Iterable[Any]) -> Iterable[Any]:
    """Adjoints as values like these, which are of one type."""
    if not values or type(values[0]) in (int, str, bool):
        return values
    return map(float, adjoints) if type(values[0]) is float else map(_like, values, adjoints)


def _like(value: Any, d: Any) -> Any:
    """An adjoint as a value like this; what isn't a float stays as it is."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "fc":
            return value
        if isinstance(d, np.ndarray) and d.dtype == value.dtype and d.shape == value.shape:
            return d
        return np.array(np.broadcast_to(d, value.shape), value.dtype)
    if isinstance(value, (list, tuple)) and d is not None:
        parts = [_like(item, part) for item, part in zip(value, d, strict=True)]
        return parts if isinstance(value, list) else tuple_of(type(value), parts)
    if isinstance(value, (float, complex, np.inexact)):
        return type(value)(d)
    return value


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
