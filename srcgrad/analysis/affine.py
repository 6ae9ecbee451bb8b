"""Integers as sums of multiples of other integers, and proofs that they aren't negative.

What bounds an index: the lengths of arrays, the ranges of the loops around, and constants added to
them. `k + 1`, where `k` runs over `range(n)`, is at least 1, and at most `n`, the length of `a`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import ir
from ..kinds import Array, Dimension, Scalar, Size

MOST_STEPS = 12  # of a proof, each of which replaces a loop's index by a bound


@dataclass(frozen=True)
class Affine:
    """The sum of a constant, and of terms (variables, bases of sizes) times whole factors.

    >>> n, k = term("n"), term("k") + constant(1)
    >>> (n - k).factor("k"), (n - k).constant, (n - n).known()
    (-1, -1, 0)
    """

    terms: frozenset[tuple[Any, int]]
    constant: int = 0

    def __add__(self, other: Affine) -> Affine:
        return self.plus(other, 1)

    def __sub__(self, other: Affine) -> Affine:
        return self.plus(other, -1)

    def plus(self, other: Affine, factor: int) -> Affine:
        """This and another times a factor."""
        terms = dict(self.terms)
        for t, n in other.terms:
            terms[t] = terms.get(t, 0) + factor * n
        kept = frozenset((t, n) for t, n in terms.items() if n)
        return Affine(kept, self.constant + factor * other.constant)

    def factor(self, of: Any) -> int:
        """What a term is multiplied by; 0 if it isn't one."""
        return next((n for t, n in self.terms if t == of), 0)

    def replaced(self, one: Any, by: Affine) -> Affine:
        """The same sum with another one in place of a term."""
        rest = frozenset((t, n) for t, n in self.terms if t is not one)
        return Affine(rest, self.constant).plus(by, self.factor(one))

    def known(self) -> int | None:
        """Its value, if that's known."""
        return None if self.terms else self.constant


def constant(value: int) -> Affine:
    """A constant."""
    return Affine(frozenset(), value)


def term(of: Any) -> Affine:
    """A sum of one term."""
    return Affine(frozenset({(of, 1)}))


class Integers:
    """The integers of a function.

    Attributes:
        made: the statement that makes a variable.
        loops: the loop that a variable is the index of.
        named: the sum that a size is the value of.
        lengths: the bases of sizes that are surely lengths, and so not negative.

    >>> from srcgrad.kinds import INT
    >>> n, k = ir.Var("n", Scalar(np.dtype(int), True, Size(0))), ir.Var("k", INT)
    >>> after = ir.Var("after", INT)
    >>> add = ir.Assign(after, operator.add, (k, ir.Const(1)))
    >>> loop = ir.Loop(k, (ir.Const(0), n, ir.Const(1)), (), (), ir.Block([add]), ())
    >>> integers = Integers(ir.Block([loop]))
    >>> integers.exist([ir.Var("a", Array(np.dtype(float), (Size(0),)))])
    >>> length, next_k = integers.of(n), integers.of(after)
    >>> integers.is_natural(length - next_k), integers.is_natural(next_k - length)
    (True, False)
    """

    def __init__(self, block: ir.Block) -> None:
        self.lengths: set[int] = set()
        self.made: dict[ir.Var, ir.Assign] = {}
        self.loops: dict[ir.Var, ir.Loop] = {}
        self.named: dict[Dimension, ir.Var] = {}
        for s in ir.walk(block):
            if isinstance(s, ir.Assign):
                self.made[s.target] = s
                if is_int(s.target) and s.function in _SUMS:
                    self.named[s.target.kind.size] = s.target  # type: ignore[attr-defined]
            elif isinstance(s, ir.Loop) and s.index is not None:
                self.loops[s.index] = s

    def exist(self, variables: Iterable[ir.Var]) -> None:
        """Note that these arrays have been made: numbers as long as their axes aren't negative."""
        for v in variables:
            shape = v.kind.shape if isinstance(v.kind, Array) else None
            for n in shape or ():
                if isinstance(n, Size) and n.offset <= 0:
                    self.lengths.add(n.base)

    def of(self, operand: ir.Operand) -> Affine | None:
        """An integer as a sum; None if the operand is no Python int."""
        if isinstance(operand, ir.Const):
            return constant(operand.value) if type(operand.value) is int else None
        if not isinstance(operand, ir.Var) or not is_int(operand):
            return None
        if operand in self.loops:
            return term(operand)
        size = operand.kind.size  # type: ignore[attr-defined]
        if isinstance(size, int):
            return constant(size)
        total = self._sum(operand)
        if total is not None:
            return total
        if isinstance(size, Size) and size.exact:
            return self.length(size)
        return term(operand)

    def _sum(self, v: ir.Var) -> Affine | None:
        made = self.made.get(v)
        if made is None or made.function not in _SUMS or len(made.args) != 2:
            return None
        left, right = map(self.of, made.args)
        if left is None or right is None:
            return None
        return left.plus(right, _SUMS[made.function])

    def length(self, n: Dimension) -> Affine:
        """A dimension of an array as a sum."""
        if isinstance(n, int):
            return constant(n)
        named = self.named.pop(n, None)  # so that it isn't asked for in its own terms
        if named is not None:
            total = self._sum(named)
            self.named[n] = named
            if total is not None:
                return total
        if not n.exact:
            return term(n)
        return term(Size(n.base, 0, n.big)) + constant(n.offset)

    def is_natural(self, value: Affine | None) -> bool:
        """Whether a number is surely 0 or more, wherever the loops that bound it are run."""
        if value is None:
            return False
        for _ in range(MOST_STEPS):
            index = next((t for t, _ in value.terms if t in self.loops), None)
            if index is None:
                break
            assert isinstance(index, ir.Var)
            bounds = self.bounds(self.loops[index])
            if bounds is None:
                return False
            up = value.factor(index) > 0
            value = value.replaced(index, bounds[0] if up else bounds[1] - constant(1))
        least = value.constant
        for size, factor in value.terms:
            if not isinstance(size, Size) or factor < 0:
                return False
            if not size.big and size.base not in self.lengths:
                return False
            least += factor * (2 if size.big and not size.offset else 0)
        return least >= 0

    def bounds(self, loop: ir.Loop) -> tuple[Affine, Affine] | None:
        """The least index of a loop that runs, and one more than the greatest."""
        if loop.range is None:
            return None
        start, stop = map(self.of, loop.range[:2])
        step = loop.range[2]
        if start is None or stop is None or not isinstance(step, ir.Const):
            return None
        if step.value > 0:
            return start, stop
        return stop + constant(1), start + constant(1)


_SUMS: dict[Any, int] = {operator.add: 1, operator.sub: -1}


def is_int(v: ir.Var) -> bool:
    """Whether a variable is a Python int."""
    kind = v.kind
    return isinstance(kind, Scalar) and kind.python is True and kind.dtype == np.dtype(np.int64)
