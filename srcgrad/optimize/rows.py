"""Objects in tables that nobody keeps: `gap = a - b` of vectors is two numbers, and no row.

An object stands in a table (`frontend.objects`) as there may be many of its class. Where its number
is used for nothing but reading its attributes, it is in no list, no attribute, no branch's or
loop's variable; so nobody writes it either. Then what was put in is what is read, and the row can
be left out: numbers only tell objects from each other, so the others may have lower ones.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Collection, Iterator, Mapping, Sequence

from .. import ir
from ..ir import list_append
from ..kinds import Array, Reference, Scalar
from .prune import prune_to

Puts = dict[ir.Var, ir.Assign]  # what puts an object's attribute into each list


def drop_rows(
    function: ir.Function,
    tables: Mapping[ir.Var, Sequence[ir.Var]],
    needed: Collection[ir.Operand],
    kept: Collection[ir.Var],
) -> None:
    """Leave out what nothing needs, and the rows of objects of which only attributes are read.

    Args:
        function: is changed in place.
        tables: the lists of each table, by the one whose length is the number of the next object.
        needed: the results.
        kept: other variables that more is done with than what the function says.
    """
    rows = dict(_rows(function.block, tables))
    seen = {*kept, *(v for v in needed if isinstance(v, ir.Var))}
    prune_to(function, needed)
    while rows:
        names, dropped = _unkept(function.block, rows, seen)
        if not dropped:
            return
        for block in list(ir.all_blocks(function.block)):
            block.statements = [s for s in block.statements if s not in dropped]
        ir.rename(function.block, names)
        prune_to(function, needed)


def _rows(
    block: ir.Block, tables: Mapping[ir.Var, Sequence[ir.Var]]
) -> Iterator[tuple[ir.Assign, Puts]]:
    """The statements that make the number of a new object, and what puts its attributes in."""
    for inner in ir.all_blocks(block) if tables else ():
        for i, s in enumerate(inner.statements):
            if isinstance(s, ir.Assign) and s.function is builtins.len:
                counted = s.args[0]
                if isinstance(counted, ir.Var) and counted in tables:
                    put = _puts(inner.statements[i + 1 :], tables[counted])
                    if put is not None:
                        yield s, put


def _puts(after: Sequence[ir.Statement], table: Sequence[ir.Var]) -> Puts | None:
    """What puts a new object's attributes in, of the statements after the one that makes it.

    None if one of the lists is used for something else before that.
    """
    missing, found = set(table), dict[ir.Var, ir.Assign]()
    for s in after:
        if not missing:
            return found
        if not isinstance(s, ir.Assign):
            return None
        first = s.args[0] if s.function is list_append else None
        if isinstance(first, ir.Var) and first in missing:
            found[first] = s
            missing.discard(first)
        elif not missing.isdisjoint((*ir.uses(s), *s.writes)):
            return None
    return None if missing else found


def _unkept(
    block: ir.Block, rows: dict[ir.Assign, Puts], seen: set[ir.Var]
) -> tuple[ir.Renaming, set[ir.Statement]]:
    """What stands for the attributes that are read of objects that nobody keeps; what isn't needed.

    The rows of these are taken out of `rows`.
    """
    names, dropped = ir.Renaming(), set[ir.Statement]()
    counts = ir.use_counts(block)
    reads: dict[ir.Operand, list[ir.Assign]] = {s.target: [] for s in rows}
    for s in ir.walk(block):
        if isinstance(s, ir.Assign) and s.function is operator.getitem and s.args[1] in reads:
            reads[s.args[1]].append(s)
    for s, put in list(rows.items()):
        read = reads[s.target]
        if s.target in seen or counts[s.target] != len(read):
            continue
        found = {r.target: _same(r, put) for r in read}
        if seen.isdisjoint(found) and None not in found.values():
            names.update(found)
            dropped.update((s, *put.values(), *read))
            del rows[s]
    return names, dropped


def _same(read: ir.Assign, put: Puts) -> ir.Var | None:
    """The variable that was put in where an attribute is read; None if it's taken for another."""
    column = read.args[0]
    value = put[column].args[1] if isinstance(column, ir.Var) and column in put else None
    if not isinstance(value, ir.Var):
        return None
    kind, seen = value.kind, read.target.kind
    if isinstance(kind, Scalar) and isinstance(seen, Scalar):
        known = seen.python is None or seen.python is kind.python
        fits = kind.dtype == seen.dtype and known and kind.mixed in seen.mixed
    elif isinstance(kind, Array):
        fits = kind == seen
    else:
        fits = isinstance(kind, Reference) and isinstance(seen, Reference)
    return value if fits else None
