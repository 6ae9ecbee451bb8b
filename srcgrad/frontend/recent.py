"""What came with Python 3.15, as it is in older ones: lazy imports, unpacking in comprehensions."""

from __future__ import annotations

import types
from typing import Any

import gast

LAZY: Any = getattr(types, "LazyImportType", ())


def imported(namespace: dict[str, Any], name: str) -> Any:
    """The value of a global, or None; what is imported lazily is, as when a function reads it.

    Raises ImportError if it can't be.

    >>> imported({"n": 3}, "n")
    3
    """
    value = namespace.get(name)
    if isinstance(value, LAZY):
        value = namespace[name] = value.resolve()
    return value


def imported_or(namespace: dict[str, Any], name: str, otherwise: Any) -> Any:
    """The value of a global, or something else if it can't be imported."""
    try:
        return imported(namespace, name)
    except ImportError:
        return otherwise


def unpack_in_loops(node: Any) -> None:
    """Write what comprehensions unpack as loops, in place: `[*ys for ys in xs]` has two.

    >>> node = gast.parse("[ys for ys in xs]").body[0].value
    >>> node.elt = gast.Starred(node.elt, gast.Load())
    >>> unpack_in_loops(node)
    >>> gast.unparse(node)
    '[item for ys in xs for item in ys]'
    """
    for inner in gast.walk(node):
        if isinstance(inner, gast.DictComp) and inner.value is None:
            items = gast.Attribute(inner.key, "items", gast.Load())
            call = gast.copy_location(gast.Call(items, [], []), inner.key)
            pair = _unused(inner, ("key", "value"))
            inner.generators.append(_generator(pair, call))
            inner.key, inner.value = (_name(name, gast.Load()) for name in pair)
        elif isinstance(getattr(inner, "elt", None), gast.Starred):
            names = _unused(inner, ("item",))
            inner.generators.append(_generator(names, inner.elt.value))
            inner.elt = _name(names[0], gast.Load())
        else:
            continue
        for new in gast.walk(inner):
            if not hasattr(new, "lineno"):
                gast.copy_location(new, inner)


def _generator(names: tuple[str, ...], iterable: Any) -> Any:
    targets = [_name(name, gast.Store()) for name in names]
    target = targets[0] if len(targets) == 1 else gast.Tuple(targets, gast.Store())
    return gast.comprehension(target, iterable, [], 0)


def _name(name: str, context: Any) -> Any:
    return gast.Name(name, context, None, None)


def _unused(node: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names like these that stand nowhere in an expression."""
    taken = {n.id for n in gast.walk(node) if isinstance(n, gast.Name)}
    while not taken.isdisjoint(names):
        names = tuple(f"{name}_" for name in names)
    return names
