"""What is asked of printed syntax trees."""

from __future__ import annotations

from typing import Any

import gast

from .printer import BlankLine, Comment
from .spelling import call, constant, name


def does_anything(body: list[Any]) -> bool:
    """Whether there are statements that aren't comments."""
    return any(not isinstance(s, (Comment, BlankLine)) for s in body)


def assigns(statement: Any, target: str) -> bool:
    """Whether a statement assigns one name."""
    return (
        isinstance(statement, gast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], gast.Name)
        and statement.targets[0].id == target
    )


def names_in(node: Any, context: type = gast.expr_context) -> set[str]:
    """The names in a tree, of those that are stored alone if that is the context."""
    names = (n for n in gast.walk(node) if isinstance(n, gast.Name))
    return {n.id for n in names if isinstance(n.ctx, context)}


def same_tree(a: Any, b: Any) -> bool:
    return bool(gast.dump(a) == gast.dump(b))


def tree_size(node: Any) -> int:
    return sum(1 for _ in gast.walk(node))


def written_out(node: Any) -> Any:
    """A value with the slices in it as calls of `slice`: `:` stands in subscripts alone."""
    if isinstance(node, gast.Slice):
        parts = [constant(None) if p is None else p for p in (node.lower, node.upper, node.step)]
        if node.step is None:
            del parts[2]
            if node.lower is None:
                del parts[0]
        return call(name("slice"), parts)
    if isinstance(node, (gast.Tuple, gast.List)):
        return type(node)([written_out(item) for item in node.elts], node.ctx)
    if isinstance(node, gast.Dict):
        return gast.Dict(node.keys, [written_out(item) for item in node.values])
    return node
