"""Private names: in the body of a class, `__name` stands for `_Class__name`."""

from __future__ import annotations

import itertools
from typing import Any

import gast

_FIELDS = {
    gast.Name: "id",
    gast.Attribute: "attr",
    gast.keyword: "arg",
    gast.FunctionDef: "name",
    gast.AsyncFunctionDef: "name",
    gast.ClassDef: "name",
    gast.alias: "asname",
    gast.MatchAs: "name",
    gast.MatchStar: "name",
    gast.MatchMapping: "rest",
}


def mangle(node: Any, qualname: str) -> None:
    """Give the private names in a function the names that Python gives them, in place.

    Args:
        node: the function, as gast has it.
        qualname: tells the class in whose body it stands.

    >>> node = gast.parse("def area(self): return self.__width ** 2").body[0]
    >>> mangle(node, "make.<locals>.Square.area")
    >>> node.body[0].value.left.attr
    '_Square__width'
    """
    _mangle(node, _class_around(qualname), False)


def _class_around(qualname: str) -> str | None:
    """The innermost class around a function: of the names before its own, what isn't a function."""
    parts = qualname.split(".")
    found = None
    for part, following in itertools.pairwise(parts):
        if part != "<locals>" and following != "<locals>":
            found = part
    return found


def _mangle(node: Any, cls: str | None, named: bool = True) -> None:
    inside = node.name if isinstance(node, gast.ClassDef) else cls
    field = _FIELDS.get(type(node))
    if field is not None and named:
        setattr(node, field, _mangled(getattr(node, field), cls))
    if isinstance(node, (gast.Global, gast.Nonlocal)):
        node.names = [_mangled(name, cls) for name in node.names]
    for name, value in gast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, gast.AST):
                _mangle(child, inside if name == "body" else cls)


def _mangled(name: Any, cls: str | None) -> Any:
    owner = (cls or "").lstrip("_")
    if owner and isinstance(name, str) and name.startswith("__") and not name.endswith("__"):
        return f"_{owner}{name}"
    return name
