"""Which variables matter where a loop begins: those that are read before they get another value.

A loop makes a parameter of what its iterations change. What an earlier loop, or an earlier round
of an unrolled one, has left in a variable that the loop assigns before it reads it would become one
for nothing, or be of another kind. So loops begin without it (`Lowerer.forget_dead`). The analysis
is the usual one, backwards over the syntax tree; where exceptions may go elsewhere, all that is
read is taken to matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import gast

_LATER = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef, gast.GeneratorExp)
_ELSEWHERE = (gast.Try, gast.With, gast.AsyncWith, gast.Match)
_LAZY = frozenset({"zip", "map", "filter", "enumerate", "iter", "chain", "islice", "cycle"})
_known: WeakKeyDictionary[Any, dict[int, frozenset[str]]] = WeakKeyDictionary()


def live_at_loops(function: Any) -> dict[int, frozenset[str]]:
    """The names that matter at the beginning of each loop of a function, by the id of its node.

    Loops of which that isn't known are left out.

    >>> text = "def f(x):\\n  k = x\\n  for i in x:\\n    k = i\\n  return x"
    >>> function = gast.parse(text).body[0]
    >>> sorted(live_at_loops(function)[id(function.body[1])])
    ['x']
    """
    known = _known.get(function)
    if known is None:
        known = _known[function] = _Liveness(function).found
    return known


class _Liveness:
    def __init__(self, function: Any) -> None:
        self.found: dict[int, frozenset[str]] = {}
        body = function.body if isinstance(function.body, list) else []
        nodes = [n for s in body for n in gast.walk(s)]
        consumed = {id(a) for n in nodes if isinstance(n, gast.Call) and not _is_lazy(n.func)
                    for a in n.args if isinstance(a, gast.GeneratorExp)}  # fmt: skip
        inner = [n for n in nodes if isinstance(n, _LATER) and id(n) not in consumed]
        self.captured = _names(inner)
        if not self.captured & {"locals", "vars", "eval", "exec"} | _names(body) & {"locals"}:
            self.block(body, frozenset(), frozenset(), frozenset())

    def block(
        self, body: list[Any], after: frozenset[str], left: frozenset[str], again: frozenset[str]
    ) -> frozenset[str]:
        """What matters before some statements, given what does after them, a break, a continue."""
        for node in reversed(body):
            after = self.statement(node, after, left, again)
        return after

    def statement(
        self, node: Any, after: frozenset[str], left: frozenset[str], again: frozenset[str]
    ) -> frozenset[str]:
        match node:
            case gast.Assign():
                assigned = {n for t in node.targets for n in _assigned(t)}
                return (after - assigned) | _names([node.value, *node.targets])
            case gast.If():
                ways = (self.block(b, after, left, again) for b in (node.body, node.orelse))
                return _names([node.test]).union(*ways)
            case gast.For():
                assigned = set(_assigned(node.target))
                begin = self.loop(node, after, left, again, frozenset(assigned), frozenset())
                return self.noted(node, begin | _names([node.iter, node.target]))
            case gast.While():
                return self.noted(
                    node, self.loop(node, after, left, again, frozenset(), _names([node.test]))
                )
            case gast.Return() | gast.Raise():
                return _names([node])
            case gast.Break():
                return left
            case gast.Continue():
                return again
            case _ if isinstance(node, _ELSEWHERE):
                return after | left | again | _names([node])
        return after | _names([node])

    def loop(
        self,
        node: Any,
        after: frozenset[str],
        left: frozenset[str],
        again: frozenset[str],
        assigned: frozenset[str],
        tested: frozenset[str],
    ) -> frozenset[str]:
        """What matters where an iteration begins, which assigns some names and tests others."""
        begin = self.block(node.orelse, after, left, again) | tested
        while True:
            body = self.block(node.body, begin, after, begin)
            later = begin | (body - assigned)
            if later == begin:
                return begin
            begin = later

    def noted(self, node: Any, live: frozenset[str]) -> frozenset[str]:
        self.found[id(node)] = live | self.captured
        return live


def _is_lazy(function: Any) -> bool:
    """Whether a function may leave it for later to consume a generator that it is given."""
    return not isinstance(function, gast.Name) or function.id in _LAZY


def _names(nodes: Iterable[Any]) -> frozenset[str]:
    """The names that are read somewhere in some nodes, or may be."""
    found: set[str] = set()
    for node in nodes:
        for inner in gast.walk(node):
            if isinstance(inner, gast.Name) and not isinstance(inner.ctx, gast.Store):
                found.add(inner.id)
            elif isinstance(inner, gast.AugAssign) and isinstance(inner.target, gast.Name):
                found.add(inner.target.id)
            elif isinstance(inner, (gast.Nonlocal, gast.Global)):
                found.update(inner.names)
    return frozenset(found)


def _assigned(target: Any) -> Iterable[str]:
    """The names that a target surely gives another value."""
    if isinstance(target, gast.Name):
        yield target.id
    elif isinstance(target, gast.Starred):
        yield from _assigned(target.value)
    elif isinstance(target, (gast.Tuple, gast.List)):
        for item in target.elts:
            yield from _assigned(item)
