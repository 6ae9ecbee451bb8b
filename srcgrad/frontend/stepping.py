"""Generators that are asked for one item at a time, as functions that make the next one.

A generator's body runs where its items are consumed (`comprehensions`). One that is asked several
times, by `next` or by loops that are left, must go on where it stopped: `steps_of` writes it as a
function that holds its variables and returns another, which makes one item whenever it is called.

    def halves(x):                     def halves(x):
        while True:                        place = 0
            yield x                        def step(sent=None):
            x = x / 2                          nonlocal place, x
                                               at, place = place, -1
                                               while True:
                                                   if not at:
                                                       place = 1
                                                       return x
                                                   at = 0
                                                   x = x / 2
                                           return step

The yields are numbered in the order of the text. What stands before the one at which the function
goes on is skipped, and `at` is zero from there on.
"""

from __future__ import annotations

import ast
import copy
import functools
import itertools
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import gast

from .names import own_nodes, scope_of

_YIELDS = (gast.Yield, gast.YieldFrom)
ENDLESS = 1 << 62  # the length of itertools.count()
FIRST = "__first__"  # the parameter of a generator expression: what it goes through first
DONE = -1  # the place of a generator that is used up


class CannotStep(Exception):
    """A yield stands where its generator can't go on from; holds the node, and says where."""


class Steps:
    """A generator that is asked for its items one by one, as a class lowered like the user's."""

    def __init__(self, step: Any) -> None:
        self.step = step

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        return self.step()

    def send(self, value: Any) -> Any:
        """Go on, where the yield at which the generator stands has this value."""
        return self.step(value)


class Indexed(NamedTuple):
    """What a loop goes through, for who counts: a list, an array, or what has an index.

    The classes beside ask their methods in turn: whether there is another item, and then for it.
    All are lowered like the user's.
    """

    items: Any

    def has_item(self, index: int) -> bool:
        return index < len(self.items)

    def item_at(self, index: int) -> Any:
        return self.items[index]


class Span(NamedTuple):
    """A range, as numbers that a loop may change."""

    start: int
    length: int
    step: int

    def has_item(self, index: int) -> bool:
        return index < self.length

    def item_at(self, index: int) -> int:
        return self.start + index * self.step


class Numbered(NamedTuple):
    """What `enumerate` returns."""

    part: Any
    start: int

    def has_item(self, index: int) -> Any:
        return self.part.has_item(index)

    def item_at(self, index: int) -> Any:
        return self.start + index, self.part.item_at(index)


class Zipped(NamedTuple):
    """What `zip` returns."""

    parts: Any

    def has_item(self, index: int) -> Any:
        return len(self.parts) > 0 and all(part.has_item(index) for part in self.parts)

    def item_at(self, index: int) -> Any:
        return tuple([part.item_at(index) for part in self.parts])


class Ahead:
    """An iterator, which makes its next item when it is asked whether there is one."""

    def __init__(self, iterator: Any) -> None:
        self.iterator = iterator

    def has_item(self, index: int) -> bool:
        try:
            self.item = next(self.iterator)
        except StopIteration:
            return False
        return True

    def item_at(self, index: int) -> Any:
        return self.item


COUNTED = (Indexed, Span, Numbered, Zipped, Ahead)


def counted(items: Any) -> Any:
    """One of these for what a loop goes through: a mark of `Cursors.builtin_counted`."""
    raise NotImplementedError


def at_once(items: Any) -> Any:
    """What `counted` makes of a parameter where the generator is made, if it would make the same
    when that is asked for its first item: a mark of `Cursors.builtin_at_once`."""
    raise NotImplementedError


def numbered(items: Any, start: int = 0) -> Any:
    """`enumerate`: inlined like a function of the user's."""
    return Numbered(counted(items), start)


def zipped(*iterables: Any, strict: bool = False) -> Any:
    """`zip`: inlined like a function of the user's."""
    if strict:
        return zip(*iterables, strict=True)
    return Zipped(tuple([counted(items) for items in iterables]))


def endless(start: Any = 0, step: Any = 1) -> Any:
    """`itertools.count`: inlined like a function of the user's."""
    return Span(start, ENDLESS, step)


def items_zipped(*iterables: Any) -> Any:
    """`zip` of iterators that are asked in turn: inlined like a function of the user's."""
    parts, count = zipped(*iterables), 0
    while parts.has_item(count):
        yield parts.item_at(count)
        count += 1


def able_to_stop(function: Any) -> Any:
    """A function, or what does the same for `counted`: inlined like a function of the user's."""
    if function is enumerate:
        return numbered
    if function is itertools.count:
        return endless
    return zipped if function is zip else function


@functools.lru_cache(1024)
def steps_of(node: Any) -> Any:
    """The function of a generator function's parameters that returns its step function.

    Args:
        node: The generator function, a gast node, which stays as it is.

    Returns:
        A gast node; the statements of the generator, which it shares, keep their places.

    Raises:
        CannotStep: a yield stands in a `try`, a `with`, or amid an expression.
    """
    scope = scope_of(node)
    taken = {n.id for n in gast.walk(node) if isinstance(n, gast.Name)} | scope.local

    def fresh(name: str) -> str:
        while name in taken:
            name += "_"
        taken.add(name)
        return name

    names = {name: fresh(name) for name in ("at", "place", "sent", "step")}
    arguments = {a.id for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    arguments |= {a.id for a in (node.args.vararg, node.args.kwarg) if a is not None}
    own = [n for n in own_nodes(node.body) if isinstance(n, gast.Name)]
    assigned = {n.id for n in own} & scope.local
    kept = arguments - {n.id for n in own if not isinstance(n.ctx, gast.Load)}
    loops = {
        id(s): s.iter.id for s in node.body
        if isinstance(s, gast.For) and isinstance(s.iter, gast.Name) and s.iter.id in kept
    }  # fmt: skip
    writer = _Writer(names, fresh, loops)
    body = writer.block(node.body)
    held = sorted((scope.local - arguments) | assigned | set(writer.names))
    start = _parsed(
        f"""
if {names["place"]} == {DONE}:
    raise StopIteration
{names["at"]}, {names["place"]} = {names["place"]}, {DONE}
""",
        node,
    )
    declared = gast.Nonlocal([names["place"], *held])
    step = _parsed(f"def {names['step']}({names['sent']}=None): pass", node)[0]
    step.body = [declared, *start, *body, *_parsed("raise StopIteration", node)]
    unset = " = ".join([*held, "None"])
    before = _parsed(f"{names['place']} = 0" + f"\nif False: {unset}" * bool(held), node)
    before += writer.before
    after = _parsed(f"return {names['step']}", node)
    made = gast.FunctionDef(node.name, node.args, [*before, step, *after], [], None, None, [])
    return gast.copy_location(made, node)


@dataclass
class _Writer:
    """Writes the statements of a generator so that they go on at the yield of number `at`."""

    known: dict[str, str]  # the names of the rewriting's own variables
    fresh: Any
    loops: dict[int, str]  # which go once through a parameter: its name
    yields: int = 0
    before: list[Any] = field(default_factory=list)  # what is done where the generator is made
    names: list[str] = field(default_factory=list)  # of the loops' own variables

    def block(self, statements: list[Any]) -> list[Any]:
        """Statements that begin at the first, or go on at a yield in them."""
        written: list[Any] = []
        plain: list[Any] = []
        last = max((k for k, s in enumerate(statements) if _yields(s)), default=-1)
        for k, statement in enumerate(statements):
            if not _yields(statement):
                self.returning(statement, plain)
                continue
            skipped, going_on = self.statement(statement)
            skipped, plain = plain + skipped, []
            if skipped:
                written.append(self.when(f"not {self.known['at']}", skipped, skipped[0]))
            if k < last:
                test = f"{self.known['at']} <= {self.yields}"
                going_on = [self.when(test, going_on, statement)]
            written += going_on
        return written + plain

    def returning(self, statement: Any, into: list[Any]) -> None:
        """A statement without a yield, whose returns end the generator."""
        if _returns(statement):
            made = _Returns().visit(copy.deepcopy(statement))
            into.extend(made if isinstance(made, list) else [made])
        else:
            into.append(statement)

    @staticmethod
    def when(test: str, statements: list[Any], place: Any) -> Any:
        node = _parsed(f"if {test}: pass", place)[0]
        node.body = statements
        return node

    def statement(self, node: Any) -> tuple[list[Any], list[Any]]:
        """What a statement with yields does unless it is skipped, and then in either case."""
        match node:
            case gast.Expr(value=gast.Yield()):
                return self.stop(node.value)
            case gast.Assign(value=gast.Yield()) if not _yields_in(node.targets):
                stop, going_on = self.stop(node.value)
                sent = gast.Assign(node.targets, self.name("sent", node), None)
                return stop, [*going_on, gast.copy_location(sent, node)]
            case gast.Expr(value=gast.YieldFrom()):
                name = self.own("item")
                loop = _parsed(f"for {name} in (): yield {name}", node)[0]
                loop.iter = node.value.value
                return self.statement(loop)
            case gast.If() if not _yields_in([node.test]):
                return [], [self.choice(node)]
            case gast.While() if not _yields_in([node.test, *node.orelse]):
                return [], [self.loop(node, node.test, node.body)]
            case gast.For() if not _yields_in([node.iter, *node.orelse]):
                return self.counted(node)
        raise CannotStep(next(n for n in own_nodes([node]) if isinstance(n, _YIELDS)))

    def stop(self, node: Any) -> tuple[list[Any], list[Any]]:
        """A yield: the function returns the item, and next time goes on there."""
        self.yields += 1
        at, place = self.known["at"], self.known["place"]
        stop = _parsed(f"{place} = {self.yields}\nreturn None", node)
        if node.value is not None:
            stop[1].value = node.value
        return stop, _parsed(f"{at} = 0", node)

    def choice(self, node: Any) -> Any:
        first = self.yields
        body = self.block(node.body)
        middle = self.yields
        orelse = self.block(node.orelse)
        at = self.known["at"]
        inside = f"0 < {at} <= {middle}" if middle > first else "False"
        test = _parsed(f"({inside}) if {at} else None", node)[0].value
        test.orelse = node.test
        made = gast.If(test, body or _parsed("pass", node), orelse)
        return gast.copy_location(made, node)

    def loop(self, node: Any, test: Any, body: list[Any]) -> Any:
        going_on = test
        if not (isinstance(test, gast.Constant) and test.value):
            going_on = _parsed(f"{self.known['at']} or None", node)[0].value
            going_on.values[1] = test
        made = gast.While(going_on, self.block(body), self.block(node.orelse))
        return gast.copy_location(made, node)

    def counted(self, node: Any) -> tuple[list[Any], list[Any]]:
        """A `for`, as a while that counts the items it has gone through."""
        items, count = self.own("items"), self.own("count")
        start = _parsed(f"{items} = None\n{count} = 0", node)
        if id(node) in self.loops:
            first = _parsed(f"{items} = None", node)
            begun = counted if node.iter.id == FIRST else at_once
            first[0].value = _call(begun, node.iter, node)
            self.before += first
            start[0].value = _call(counted, _parsed(items, node)[0].value, node)
        else:
            start[0].value = _call(counted, self.stopping(node.iter), node)
        take = _parsed(f"{count} += 1\n_ = {items}.item_at({count} - 1)", node)
        take[1].targets = [node.target]
        test = _parsed(f"{items}.has_item({count})", node)[0].value
        return start, [self.loop(node, test, [*take, *node.body])]

    @staticmethod
    def stopping(iterable: Any) -> Any:
        """An iterable, of which the call of an iterator's class is that of a generator."""
        if not isinstance(iterable, gast.Call):
            return iterable
        function = _call(able_to_stop, iterable.func, iterable)
        call = gast.Call(function, iterable.args, iterable.keywords)
        return gast.copy_location(call, iterable)

    def own(self, name: str) -> str:
        name = self.fresh(name)
        self.names.append(name)
        return name

    def name(self, which: str, place: Any) -> Any:
        return _parsed(self.known[which], place)[0].value


class _Returns(ast.NodeTransformer):
    """Makes each return of a generator the end of its items."""

    def visit_Return(self, node: Any) -> Any:
        if node.value is None:
            return _parsed("raise StopIteration", node)
        end = _parsed("raise StopIteration(None)", node)
        end[0].exc.args = [node.value]
        return end

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_ClassDef = visit_FunctionDef


def _call(function: Any, *arguments: Any) -> Any:
    """The call of a helper, at the place of the last argument."""
    *given, place = arguments
    name = gast.copy_location(gast.Constant(function, None), place)
    return gast.copy_location(gast.Call(name, given, []), place)


def _parsed(text: str, place: Any) -> list[Any]:
    """The statements of a text, as if they stood at the place of a node."""
    tree = gast.ast_to_gast(ast.parse(text))
    for node in gast.walk(tree):
        gast.copy_location(node, place)
    body: list[Any] = tree.body
    return body


def _yields_in(nodes: list[Any]) -> bool:
    return any(isinstance(n, _YIELDS) for n in own_nodes(nodes))


def _yields(node: Any) -> bool:
    return _yields_in([node])


def _returns(node: Any) -> bool:
    return any(isinstance(n, gast.Return) for n in own_nodes([node]))
