"""Users' subclasses of builtin classes, whose objects are containers or numbers with more to them.

What such a class adds to a container (methods, properties, `__getattr__`) is found on it, before
what the container has. A class that redefines how its objects are used *as* a container or number
isn't followed, for what goes through containers does so directly: it is refused, not misread.
"""

from __future__ import annotations

import collections
import enum
import operator
import sys
import types
import typing
from collections.abc import Callable
from typing import Any

import gast

from ..errors import SourceError
from ..packages import told
from .links import Linked
from .source import get_source

CONTAINERS = (dict, list, tuple, set, frozenset)
NUMBERS = (int, float, complex)
# Dicts whose own methods keep items as a class that derives from them says
STORING = (collections.OrderedDict, collections.defaultdict, collections.Counter)
BUILTINS = (*CONTAINERS, *NUMBERS)

# What Python looks up on the class of an object that syntax or a builtin uses as a container, or as
# a number. The operators of tuples and lists are found on the class wherever they are used.
PROTOCOL = ("__getitem__", "__iter__", "__len__", "__contains__", "__bool__", "__reversed__")
_OPERATORS = sorted(vars(operator).keys() & vars(int).keys() - {"__doc__"})
_REFLECTED = sorted({f"__r{name[2:]}" for name in _OPERATORS} & vars(int).keys())
_IN_PLACE = sorted({f"__i{name[2:]}" for name in _OPERATORS} & vars(operator).keys())
OPERATORS = (*_OPERATORS, *_REFLECTED, *_IN_PLACE, "__float__", "__int__", "__bool__")


def protocol_members(cls: Any) -> list[str] | None:
    """The attributes that objects of a protocol have, if some are data: `issubclass` raises then.

    >>> protocol_members(typing.SupportsFloat) is None  # a method
    True
    """
    if not (getattr(cls, "_is_protocol", False) and getattr(cls, "_is_runtime_protocol", False)):
        return None
    try:
        issubclass(object, cls)
    except TypeError:
        found = getattr(cls, "__protocol_attrs__", None)  # of Python 3.12 on
        return sorted(typing._get_protocol_attrs(cls) if found is None else found)  # type: ignore[attr-defined]
    return None


def added_by(cls: type) -> dict[str, Any]:
    """What users' classes define on top of the builtin class that they derive from.

    >>> class Settings(dict):
    ...     def rate(self):
    ...         return self["rate"]
    >>> sorted(name for name in added_by(Settings) if not name.startswith("__"))
    ['rate']
    >>> added_by(dict)
    {}
    """
    found: dict[str, Any] = {}
    if cls not in BUILTINS and issubclass(cls, BUILTINS):
        for base in cls.__mro__:
            if base in BUILTINS:
                break
            if base.__module__.partition(".")[0] not in sys.stdlib_module_names:
                found = {**vars(base), **found}
    return found


def is_named_tuple(cls: type) -> bool:
    """Whether a class is one that `namedtuple` made, not one that derives from it.

    >>> import collections
    >>> Pair = collections.namedtuple("Pair", "a b")
    >>> class Point(Pair):
    ...     pass
    >>> is_named_tuple(Pair), is_named_tuple(Point), is_named_tuple(tuple)
    (True, False, False)
    """
    return issubclass(cls, tuple) and "_fields" in vars(cls)


def redefined(cls: type) -> str | None:
    """What a user's class redefines of being a container or number; None if it doesn't.

    >>> class Longer(list):
    ...     def __len__(self):
    ...         return 1 + super().__len__()
    >>> redefined(Longer), redefined(list)
    ('__len__', None)
    """
    added = added_by(cls)
    names = PROTOCOL if issubclass(cls, (tuple, list)) else (*PROTOCOL, *OPERATORS)
    if issubclass(cls, STORING):
        names = (*names, "__setitem__", "__delitem__")
    return next((n for n in names if _is_users(added.get(n))), None)


def _is_users(method: Any) -> bool:
    """Whether a member of a class is a function that a user wrote: `enum` gives flags its own."""
    return isinstance(method, types.FunctionType) and method.__module__ != enum.__name__


def made_init(cls: Any, self: Any, *args: Any, **kwargs: Any) -> None:
    """The `__init__` that a dataclass is given, which is lowered as what it does."""


def has_made_init(cls: type) -> bool:
    """Whether the `__init__` of a class was made for a dataclass."""
    params = told(cls, "__dataclass_params__")
    own = "__dataclass_fields__" in cls.__dict__ and "__init__" in cls.__dict__
    if not own or params is None or not params.init:
        return False
    return bool(cls.__dict__["__init__"].__code__.co_filename == "<string>")


def gives(cls: type, name: str) -> bool:
    """Whether the `__init__` of a class, or what it calls of it, gives all objects an attribute.

    >>> class Node:
    ...     def __init__(self, v):
    ...         self.v = v
    ...         if v > 0:
    ...             self.root = v**0.5
    ...         self.link()
    ...     def link(self):
    ...         self.next = None
    >>> gives(Node, "v"), gives(Node, "root"), gives(Node, "next")
    (True, False, True)
    """
    fields = cls._attributes if issubclass(cls, Linked) else told(cls, "__dataclass_fields__")
    if name in (fields or ()):
        return True
    return _init_sets(cls, cls.__mro__, name)


def _init_sets(cls: type, bases: tuple[type, ...], name: str) -> bool:
    """Whether the first `__init__` among the bases of a class gives the object an attribute."""
    for i, base in enumerate(bases):
        made = vars(base).get("__init__")
        if isinstance(made, types.FunctionType):
            return _method_sets(cls, bases[i + 1 :], made, name, frozenset())
    return False


def _method_sets(
    cls: type,
    bases: tuple[type, ...],
    method: types.FunctionType,
    name: str,
    seen: frozenset[types.FunctionType],
) -> bool:
    """Whether a method of a class gives the object an attribute, by itself or by another one.

    `bases` are those of the class whose `__init__` it is, or is called by.
    """
    try:
        node = get_source(method).node
    except SourceError:
        return False
    if not getattr(node.args, "args", None) or method in seen:
        return False
    owner = node.args.args[0].id

    def sets_it(call: Any) -> bool:
        match call:
            case gast.Call(
                func=gast.Attribute(value=gast.Call(func=gast.Name(id="super")), attr="__init__")
            ):
                return _init_sets(cls, bases, name)
            case gast.Call(func=gast.Attribute(value=gast.Name(id=held), attr=called)):
                if held != owner:  # Base.__init__(self)
                    base = method.__globals__.get(held)
                    known = called == "__init__" and base in bases
                    return known and _init_sets(cls, bases[bases.index(base) :], name)
                other = getattr(cls, called, None)
                if isinstance(other, types.FunctionType):
                    return _method_sets(cls, bases, other, name, seen | {method})
        return False

    return _sets(node.body, owner, name, sets_it)


def _sets(body: list[Any], owner: str, name: str, call: Callable[[Any], bool]) -> bool:
    """Whether some statements set an attribute of a variable on all paths to their end.

    `call` tells whether a call does.
    """

    def sets(body: list[Any]) -> bool:
        return _sets(body, owner, name, call)

    for s in body:
        match s:
            case gast.Raise():
                return True
            case gast.If() if sets(s.body) and sets(s.orelse):
                return True
            case gast.Try() if sets(s.finalbody):
                return True
            case gast.Try() if sets([*s.body, *s.orelse]) and all(
                sets(handler.body) for handler in s.handlers
            ):
                return True
            case gast.Assign() | gast.AugAssign() | gast.AnnAssign() if s.value is not None:
                targets = s.targets if isinstance(s, gast.Assign) else [s.target]
                if any(_is_store(n, owner, name) for t in targets for n in gast.walk(t)):
                    return True
            case gast.Expr() if _is_store(s.value, owner, name) or call(s.value):
                return True
        if any(isinstance(node, gast.Return) for node in gast.walk(s)):
            return False
    return False


def _is_store(node: Any, owner: str, name: str) -> bool:
    """Whether an expression sets an attribute of a variable."""
    match node:
        case gast.Attribute(value=gast.Name(id=held), attr=attr, ctx=gast.Store()):
            return bool((held, attr) == (owner, name))
        case gast.Call(
            func=gast.Name(id="setattr") | gast.Attribute(attr="__setattr__"),
            args=[gast.Name(id=held), gast.Constant(value=attr), _],
        ):
            return bool((held, attr) == (owner, name))
        case gast.Call(
            func=gast.Attribute(value=gast.Call(func=gast.Name(id="super")), attr="__setattr__"),
            args=[gast.Constant(value=attr), _],
        ):
            return bool(attr == name)
    return False
