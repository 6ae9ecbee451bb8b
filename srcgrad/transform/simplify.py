"""Simplification: peephole rewriting and common subexpressions."""

from __future__ import annotations

from .. import ir


def simplify(function: ir.Function) -> None:
    """Simplify a function, in place."""
