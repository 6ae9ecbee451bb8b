"""Context managers outside whose methods keep to themselves: a timer, a lock, a profiler.

They are entered and left as they are when the generated code runs. What they write are attributes
of their own: if the function reads one of these, the manager is followed instead, as others are.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import types
from typing import Any

import gast

from ..packages import is_of_package
from .names import own_nodes
from .predicates import is_static, is_written
from .recent import imported_or
from .values import Closure, Path

ENTERING = ("__enter__", "__exit__")
SHARED = (list, dict, set, collections.deque)  # what it holds, others may hold, too


def followed(manager: Any) -> tuple[str, Path]:
    """The site that says of a manager outside that it is followed."""
    return "%followed", Path("object", manager, "")


def suppressed(manager: contextlib.suppress) -> tuple[type[BaseException], ...]:
    """The classes of exceptions that a `contextlib.suppress` ends."""
    classes = list(manager._exceptions)  # type: ignore[attr-defined]
    found: list[type[BaseException]] = []
    while classes:  # among them may be tuples
        cls = classes.pop(0)
        if isinstance(cls, tuple):
            classes[:0] = cls
        else:
            found.append(cls)
    return tuple(found)


def may_end_exceptions(exit: Any) -> bool:
    """Whether an `__exit__` may return that an exception is over, or raise another."""
    if isinstance(exit, gast.Lambda):
        return not isinstance(exit.body, gast.Constant) or bool(exit.body.value)
    nodes = list(own_nodes(exit.body))
    returned = (n.value for n in nodes if isinstance(n, gast.Return) and n.value is not None)
    goes_on = (isinstance(v, gast.Constant) and not v.value for v in returned)
    return not all(goes_on) or any(isinstance(n, (gast.Raise, gast.Assert)) for n in nodes)


def is_users(manager: Any) -> bool:
    """Whether a context manager outside does what the program says in Python."""
    cls = type(manager.value)
    written = all(is_written(manager, name) for name in ENTERING)
    return written and _is_users(cls)


def keeps_to_itself(manager: Any, method: Closure) -> bool:
    """Whether a method writes nothing but attributes of its object, and calls nothing that may."""
    parameters = method.node.args.args
    own = parameters[0].id if parameters else ""
    names = [n for n in gast.walk(method.node) if isinstance(n, gast.Name)]
    known = {**vars(builtins), **method.namespace.globals}
    known |= dict.fromkeys(n.id for n in names if not isinstance(n.ctx, gast.Load))
    known[own] = manager
    return all(_is_harmless(node, own, known) for node in gast.walk(method.node))


def _is_harmless(node: Any, own: str, known: dict[str, Any]) -> bool:
    match node:
        case gast.Attribute(ctx=gast.Store() | gast.Del()):
            return isinstance(node.value, gast.Name) and node.value.id == own
        case gast.Subscript(ctx=gast.Store() | gast.Del()):
            return False
        case gast.Global() | gast.Nonlocal():
            return False
        case gast.Call(func=gast.Attribute(value=value)):
            held = _found(value, known)
            return held is not None and not isinstance(held, SHARED) and not _is_users(held)
        case gast.Call():
            called = _found(node.func, known)
            return called is not None and not _is_users(called)
    return True


def _found(node: Any, known: dict[str, Any]) -> Any:
    """What an expression of names and attributes stands for; None if that isn't known."""
    if isinstance(node, gast.Attribute):
        return getattr(_found(node.value, known), node.attr, None)
    return imported_or(known, node.id, None) if isinstance(node, gast.Name) else None


def _is_users(thing: Any) -> bool:
    """Whether a module, class, function or object is of the program's own."""
    if isinstance(thing, types.ModuleType):
        thing = types.SimpleNamespace(__module__=thing.__name__)
    elif not hasattr(thing, "__qualname__"):
        thing = type(thing)
    return not is_static(str(thing.__module__)) and not is_of_package(thing)
