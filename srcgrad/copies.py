"""Copies of what the caller owns and the function writes; where copies wouldn't do, refusals."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from . import ir, runtime
from .analysis.aliasing import Aliasing
from .errors import UnsupportedError
from .frontend.lower import Lowerer
from .frontend.structure import is_records, leaves, reachable
from .frontend.values import (
    Heap,
    ListObject,
    Ref,
    State,
    Tuple,
    Value,
)
from .kinds import (
    Array,
    ListOf,
    Opaque,
)


def own_copies(
    function: ir.Function, free: set[ir.Var], lent: bool = False
) -> dict[ir.Var, ir.Var]:
    """Copy at the start what the function writes but the caller owns; the copies, by original.

    `lent`: its lists are meant to be changed.
    """
    aliasing = Aliasing(function.block)
    written = aliasing.written
    if not written:
        return {}
    inputs: list[ir.Var] = [p for p in function.params if isinstance(p.kind, Array)]
    lists: list[ir.Var] = [p for p in function.params if isinstance(p.kind, ListOf)]
    statements = function.block.statements
    params = {*function.params, *free}
    extracted: dict[ir.Var, int] = {}
    holder: dict[ir.Var, Any] = {}
    for position, s in enumerate(statements):
        if isinstance(s, ir.Assign) and s.args and s.args[0] in params | set(extracted):
            taking = (operator.getitem, builtins.getattr, runtime.records)
            if s.function in taking and not s.views:
                if isinstance(s.args[0].kind, Opaque):
                    extracted[s.target], holder[s.target] = position, s.args[0]
                    if isinstance(s.target.kind, Array):
                        inputs.append(s.target)
                    elif isinstance(s.target.kind, ListOf):
                        lists.append(s.target)
    copies: dict[ir.Var, ir.Var] = {}
    for var in inputs:
        if aliasing.find(var) in written:
            copies[var] = ir.Var(var.name, var.kind, True)
    outside = [v for v in free if isinstance(v.kind, (Array, ListOf))]
    for var in (*outside, *(() if lent else lists)):
        if classes := written.intersection(aliasing.classes(var)):
            writer = next(
                (s for s in ir.walk(function.block) if isinstance(s, ir.Assign)
                 and not classes.isdisjoint(aliasing.written_by(s))), None,
            )  # fmt: skip
            raise UnsupportedError(
                f"{var.name!r} is "
                + ("outside of the function" if var in free else "the caller's")
                + ", where the change would be seen",
                writer.span if writer else None,
                "make a copy of it first: .copy()",
            )
    if not copies:
        return {}
    places = set(extracted.values())
    prefix = next((i for i in range(len(statements)) if i not in places), len(statements))
    start = max([prefix - 1, *(extracted[v] for v in copies if v in extracted)]) + 1
    others = list(inputs)
    late: set[int] = set()  # where others are extracted that the guard looks at
    for v in (*inputs, *lists):
        while extracted.get(v, -1) >= start:
            late.add(extracted[v])
            v = holder[v]
    first = [*statements[:start], *(statements[i] for i in sorted(late))]
    rest = [s for i, s in enumerate(statements) if i >= start and i not in late]
    body = ir.Block(rest, function.block.results)
    ir.rename(body, copies)
    made = [ir.Assign(copy, runtime.own_copy, (var,)) for var, copy in copies.items()]
    guards: list[ir.Statement] = []
    used = free.intersection(ir.all_uses(function.block))
    beside = [v for v in (*lists, *sorted(used, key=str)) if _has_arrays(v.kind)]
    if len(others) + len(beside) > 1:
        guards.append(
            ir.Assign(
                ir.Var("_", Opaque(None)), runtime.check_apart,
                (ir.Pack(tuple, tuple(copies)), ir.Pack(tuple, (*others, *beside))), effect=True,
            )
        )  # fmt: skip
    function.block.statements[:] = first + guards + made + body.statements
    function.block.results = body.results
    return copies


def _has_arrays(kind: Any) -> bool:
    """Whether an array, or a list that may hold some."""
    if isinstance(kind, ListOf):
        return _has_arrays(kind.item)
    return any(map(_has_arrays, kind)) if isinstance(kind, tuple) else isinstance(kind, Array)


def in_copies(low: Lowerer, value: Any, copies: dict[ir.Var, ir.Var]) -> Any:
    """What a function returns, with the copies in place of the arguments they were made of."""
    if not any(leaf in copies for leaf in leaves(low, value)):
        return value
    match value:
        case ir.Var():
            return copies[value]
        case Tuple():
            return Tuple(tuple(in_copies(low, i, copies) for i in value.items), value.type)
    thing = low.state.heap[value.id]
    if isinstance(thing, ListObject):
        items: Any = tuple(in_copies(low, item, copies) for item in thing.items)
    else:
        items = {key: in_copies(low, item, copies) for key, item in thing.items.items()}
    return low.new(replace(thing, items=items))


def unshared(low: Lowerer, value: Any, arrays: dict[ir.Var, ir.Var] | None = None) -> Any:
    """A value with copies of the lists, dicts and objects in it, but not of the arrays.

    `arrays`: the objects in lists outside are copied too; to it is added what their arrays become.
    """
    if isinstance(value, Tuple):
        return replace(value, items=tuple(unshared(low, item, arrays) for item in value.items))
    if not isinstance(value, Ref):
        return value
    thing = low.state.heap[value.id]
    if isinstance(thing, ListObject) and thing.var is not None:
        if arrays is not None and is_records(thing.var.kind):
            return low.copied(value, lambda item: low.deep_copy(item, arrays))
        assert isinstance(thing.var.kind, ListOf)
        if _has_lists(thing.var.kind.item):
            return low.copied(value, lambda item: unshared(low, item))
        return value if thing.type is tuple else low.builtin_list(value)
    if isinstance(thing, ListObject):
        items: Any = tuple(unshared(low, item, arrays) for item in thing.items)
    else:
        items = {key: unshared(low, item, arrays) for key, item in thing.items.items()}
    made = low.new(replace(thing, items=items, external=None))
    low.copies[made.id] = low.holders.get(value.id)
    return made


def _has_lists(item: Any) -> bool:
    """Whether items of a kind are lists, or hold some."""
    return any(map(_has_lists, item)) if isinstance(item, tuple) else isinstance(item, ListOf)


def check_apart(
    low: Lowerer,
    passed: Iterable[Value],
    given: Iterable[Value],
    before: State,
    met: Iterable[Value],
) -> None:
    """Refuse to go on where a function has written copies of what else it has got hold of.

    `met`: the function, and what it has looked up.
    """
    heap = before.heap
    numbers = [number for value in passed for number in containers(heap, value)]
    copies = [number for value in given for number in containers(heap, value)]
    written = {n for n in (*numbers, *copies) if low.state.heap.get(n) is not heap[n]}
    for number, copied in zip(numbers, copies, strict=True):
        if copied in written and (thing := low.state.heap[number]).external:
            low.want_own(thing)
    if written and not reachable(heap, met).isdisjoint(numbers):
        raise low.refuse(
            "the same list, dict or object is passed to a function and found by it outside, and it "
            "writes it, or one beside it",
            "pass a copy",
        )
    if written and len(set(numbers)) < len(numbers):
        raise low.refuse(
            "the same list, dict or object is passed twice to a function that writes it, or "
            "one beside it",
            "pass a copy",
        )


def containers(heap: dict[int, Heap], value: Any) -> list[int]:
    """The numbers of the lists, dicts and objects in a value."""
    if isinstance(value, Tuple):
        return [number for item in value.items for number in containers(heap, item)]
    if not isinstance(value, Ref):
        return []
    thing = heap[value.id]
    items = thing.items if isinstance(thing, ListObject) else thing.items.values()
    return [value.id, *(number for item in items for number in containers(heap, item))]


def check_copied_once(low: Lowerer, function: ir.Function) -> None:
    """Have deep copies checked only of what is written."""
    if not (low.deep_copies or low.checked_once):
        return
    aliasing = Aliasing(function.block)
    unwritten = {s for s, copies in low.deep_copies if not any(map(aliasing.changes, copies))}
    for check, classes in low.checked_once.items():
        written = [c for c in classes if c in low.types_written or c in (list, dict, set)]
        written.sort(key=lambda cls: (cls.__module__, cls.__qualname__))
        check.args = (check.args[0], ir.Pack(tuple, tuple(map(ir.Const, written))))
        unwritten |= set() if written else {check}
    for block in (function.block, *(b for s in ir.walk(function.block) for b in ir.blocks(s))):
        block.statements = [s for s in block.statements if s not in unwritten]
