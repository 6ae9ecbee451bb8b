"""Scopes: which names a function makes its own, and which it takes from outside."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import gast

_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)
_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that a function's body assigns, declares global and declares nonlocal."""

    local: frozenset[str]
    outer: frozenset[str]
    nonlocal_: frozenset[str]


@dataclass(eq=False, slots=True)
class Namespace:
    """The globals and closure cells of a function object."""

    globals: dict[str, Any]
    cells: dict[str, Any] = field(default_factory=dict)


_scopes: dict[int, tuple[Any, Scope]] = {}


def scope_of(node: Any) -> Scope:
    """The scope of a function, class or comprehension.

    >>> node = gast.parse("def f(x):\\n    y = x\\n    return [k for k in y]").body[0]
    >>> sorted(scope_of(node).local)
    ['x', 'y']
    """
    known = _scopes.get(id(node))
    if known is not None and known[0] is node:
        return known[1]
    local: set[str] = set()
    outer: set[str] = set()
    nonlocal_: set[str] = set()
    if isinstance(node, _COMPREHENSIONS):
        for generator in node.generators:
            local.update(_targets(generator.target))
    else:
        for argument in _arguments(node):
            if argument is not None:
                local.add(argument.id if isinstance(argument, gast.Name) else argument)
        body = node.body if isinstance(node.body, list) else [node.body]
        for item in own_nodes(body):
            match item:
                case gast.Name() if isinstance(item.ctx, (gast.Store, gast.Del)):
                    local.add(item.id)
                case gast.FunctionDef() | gast.AsyncFunctionDef() | gast.ClassDef():
                    local.add(item.name)
                case gast.Import() | gast.ImportFrom():
                    local.update((n.asname or n.name).split(".")[0] for n in item.names)
                case gast.Global():
                    outer.update(item.names)
                case gast.Nonlocal():
                    nonlocal_.update(item.names)
                case gast.ExceptHandler() if item.name:
                    local.add(item.name.id if isinstance(item.name, gast.Name) else item.name)
                case gast.MatchAs() | gast.MatchStar() if item.name:
                    local.add(item.name)
                case gast.MatchMapping() if item.rest:
                    local.add(item.rest)
    scope = Scope(frozenset(local - outer - nonlocal_), frozenset(outer), frozenset(nonlocal_))
    _scopes[id(node)] = (node, scope)
    return scope


def _arguments(node: Any) -> tuple[Any, ...]:
    """The parameters of a function; a class has none."""
    if isinstance(node, gast.ClassDef):
        return ()
    a = node.args
    return (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg)


def _targets(node: Any) -> Iterator[str]:
    for item in gast.walk(node):
        if isinstance(item, gast.Name) and isinstance(item.ctx, gast.Store):
            yield item.id


def own_nodes(nodes: list[Any]) -> Iterator[Any]:
    """The nodes of a body, not those inside the functions and classes it defines."""
    for node in nodes:
        yield node
        if isinstance(node, (*_FUNCTIONS, gast.ClassDef)):
            continue
        if isinstance(node, _COMPREHENSIONS):
            # A comprehension's targets are its own; a walrus in it binds here.
            for item in gast.walk(node):
                if isinstance(item, gast.NamedExpr):
                    yield item.target
            continue
        yield from own_nodes(list(gast.iter_child_nodes(node)))


@functools.lru_cache(4096)
def closed_at(node: Any) -> frozenset[int]:
    """The yields of a generator, in a `try` or `with`, that do more than end it if it is left.

    What is returned are their ids.
    """
    if isinstance(node, gast.Lambda):
        return frozenset()
    inside: list[Any] = []
    for inner in own_nodes(node.body):
        if isinstance(inner, (gast.Try, gast.With)):
            rest = [*getattr(inner, "handlers", ()), *getattr(inner, "orelse", ())]
            inside += own_nodes([*inner.body, *rest])
    return frozenset(id(n) for n in inside if isinstance(n, (gast.Yield, gast.YieldFrom)))


def runs_once(body: list[Any]) -> bool:
    """Whether each path through the body of a loop leaves the loop."""
    return leaves(body) and not any(isinstance(n, gast.Continue) for n in own_nodes(body))


def leaves(body: list[Any]) -> bool:
    """Whether statements surely jump."""
    return any(
        isinstance(s, (gast.Break, gast.Return, gast.Raise))
        or (isinstance(s, gast.If) and leaves(s.body) and leaves(s.orelse))
        for s in body
    )


def calls_in(nodes: list[Any]) -> bool:
    """Whether something is called where these are evaluated."""
    return any(isinstance(inner, gast.Call) for node in nodes for inner in gast.walk(node))
