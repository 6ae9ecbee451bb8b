"""Normal forms: which values of a program are equal, as far as arithmetic alone can tell.

The normal form of a value is a polynomial over *atoms*, with exponents of either sign. An atom is
a variable that arithmetic can't look into, a divisor of several terms, or a sum along axes of a
product of atoms; what doesn't vary along these axes is taken out of the sum. So `total` and
`exp.sum(axis=1)` have one form, and `d - (d.sum(axis=1) / total)[:, None] * exp`, summed along
axis 1, has the form 0. Values are functions on an index space aligned at its last axis, as NumPy's
broadcasting aligns them: an array of shape (3, 1) and one of shape (3, 4) with equal columns have
one form. Coefficients are small fractions, and exact; other constants are atoms.

Equal forms are equal numbers wherever both are defined: rounding, overflow and a division by zero
on the way make the difference. A value is looked into only if nothing writes, after it was made,
the memory it was made from (`Simplifier.definition`); two values that mention one atom then mean
the same contents. Forms that grow beyond a bound aren't looked into, which costs but a chance.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ir
from ..analysis.keys import kept_axes
from ..kinds import Array, Dimension, Scalar, may_be_truth, same_dtype

if TYPE_CHECKING:
    from .simplify import Simplifier

Number = int | Fraction
Monomial = tuple[tuple[int, int], ...]  # atoms in rising order, each with its exponent
Polynomial = dict[Monomial, Number]

TERMS = 16
EXPONENT = 8
DEPTH = 30
LARGEST = 2**20  # of a constant that is a coefficient, in eighths
ZERO: Polynomial = {}
ONE: Polynomial = {(): 1}


Reader = Callable[["NormalForms", ir.Assign, int], "Polynomial | None"]


class TooLarge(Exception):
    """A form has outgrown the bounds."""


class NormalForms:
    """The normal forms of one function's values, found when asked for.

    Only calls that `readers` know are looked into, and of these none whose variable and form are
    `opaque`.
    """

    def __init__(
        self,
        ctx: Simplifier,
        readers: dict[Any, Reader] | None = None,
        opaque: Callable[[ir.Var, Polynomial], bool] = lambda var, form: False,
    ) -> None:
        self.ctx, self.opaque = ctx, opaque
        self.readers = READERS if readers is None else readers
        self.known: dict[ir.Var, Polynomial | None] = {}
        self.numbers: dict[Any, int] = {}  # of atoms, by what they are
        self.atoms: list[Any] = []
        self.shapes: list[tuple[Dimension, ...]] = []  # of atoms, without leading ones
        self.divisors: dict[int, tuple[Monomial, Polynomial]] = {}
        self.reducible: Callable[[int], bool] = lambda divisor: True
        self.forward = {
            s.target for s in ir.walk(ir.forward_part(ctx.function)) if isinstance(s, ir.Assign)
        }

    def of(self, operand: ir.Operand, depth: int = 0) -> Polynomial | None:
        """The normal form of a number or an array, None if its kind isn't known well enough."""
        if isinstance(operand, ir.Const):
            return self.constant(operand.value)
        if not isinstance(operand, ir.Var):
            return None
        if operand in self.known:
            return self.known[operand]
        result = self._of(operand, depth)
        self.known[operand] = result
        return result

    def _of(self, var: ir.Var, depth: int) -> Polynomial | None:
        kind = var.kind
        if not isinstance(kind, (Array, Scalar)) or kind.dtype is None or kind.shape is None:
            return None
        if kind.dtype.kind in "iu" and isinstance(kind, Scalar):
            if isinstance(kind.size, int) or (kind.size is not None and kind.size.offset == 0):
                return self.size(kind.size)
        form = self.read(var, depth) if depth < DEPTH else None
        if form is None or self.opaque(var, form):
            return self.atom(var, kind.shape)
        return form

    def read(self, var: ir.Var, depth: int = 0) -> Polynomial | None:
        """The form of what a call makes of its operands, None if it can't be looked into."""
        s = self.ctx.definition(var)
        if s is None or not isinstance(s.function, Hashable):
            return None
        read = self.readers.get(s.function)
        if read is None or may_be_truth(var.kind):
            return None
        if read is not _size and var.kind.dtype.kind not in "fc":  # type: ignore[attr-defined]
            return None
        try:
            form = read(self, s, depth + 1)
        except TooLarge:
            return None
        # what is zero but for rounding in the forward sweep is there for its rounding
        return form if form or var not in self.forward else None

    # Atoms

    def constant(self, value: Any) -> Polynomial | None:
        if not isinstance(value, (int, float, np.floating)) or isinstance(value, bool):
            return None
        if not math.isfinite(value):
            return None
        scaled = float(value) * 8
        if abs(scaled) > LARGEST or scaled != int(scaled):
            return self.atom(("constant", float(value)))
        number = Fraction(int(scaled), 8)
        return {(): _plain(number)} if number else ZERO

    def atom(self, what: Any, shape: Iterable[Dimension] = ()) -> Polynomial:
        return {((self.number(what, tuple(shape)), 1),): 1}

    def number(self, what: Any, shape: tuple[Dimension, ...]) -> int:
        found = self.numbers.get(what)
        if found is None:
            found = self.numbers[what] = len(self.atoms)
            self.atoms.append(what)
            while shape and shape[0] == 1:
                shape = shape[1:]
            self.shapes.append(shape)
        return found

    def size(self, dimension: Dimension) -> Polynomial:
        """How long a dimension is."""
        if isinstance(dimension, int):
            return {(): dimension} if dimension else ZERO
        return self.atom(("size", dimension))

    def shape(self, monomial: Monomial) -> tuple[Dimension, ...]:
        """The shape of a product of atoms, without leading ones."""
        rank = max((len(self.shapes[a]) for a, _ in monomial), default=0)
        return tuple(
            next((n for a, _ in monomial if (n := self.length(a, k)) != 1), 1)
            for k in range(rank, 0, -1)
        )

    def length(self, atom: int, k: int) -> Dimension:
        """The length of an atom along the k-th axis from the end."""
        shape = self.shapes[atom]
        return shape[-k] if k <= len(shape) else 1

    # Arithmetic

    def add(self, a: Polynomial, b: Polynomial, factor: Number = 1) -> Polynomial:
        result = dict(a)
        for monomial, c in b.items():
            total = result.get(monomial, 0) + factor * c
            if total:
                result[monomial] = total
            else:
                result.pop(monomial, None)
        return _bounded(result)

    def multiply(self, a: Polynomial, b: Polynomial) -> Polynomial:
        if len(a) * len(b) > 4 * TERMS:
            raise TooLarge
        result: Polynomial = {}
        for m, c in a.items():
            for n, d in b.items():
                product = _product(m, n)
                total = result.get(product, 0) + c * d
                if total:
                    result[product] = total
                else:
                    del result[product]
        return self.reduced(result)

    def power(self, a: Polynomial, n: int) -> Polynomial:
        if n < 0:
            a, n = self.inverse(a), -n
        result = ONE
        for _ in range(n):
            result = self.multiply(result, a)
        return result

    def inverse(self, a: Polynomial) -> Polynomial:
        """One over a polynomial; one of several terms becomes an atom, its common factor apart."""
        if not a:
            raise TooLarge
        content = self.content(a)
        rest = self.multiply(a, {_inverse(content): 1}) if content else a
        if len(rest) > 1 and content:
            inner = self.content(rest)  # another one may come to light, as in 1 - 1 / (1 + e)
            content = _product(content, inner)
            rest = {_product(m, _inverse(inner)): c for m, c in rest.items()}
        if len(rest) == 1:
            ((monomial, c),) = rest.items()
            whole = _inverse(_product(content, monomial))
            return self.reduced({whole: _plain(Fraction(1) / c)})
        lead = max(rest, key=_order)
        scale = rest[lead]
        rest = {m: _plain(Fraction(c) / scale) for m, c in rest.items()}
        number = self.number(("divisor", frozenset(rest.items())), self._whole_shape(rest))
        self.divisors.setdefault(number, (lead, rest))
        whole = _product(_inverse(content), ((number, -1),))
        return self.reduced({whole: _plain(Fraction(1) / scale)})

    def content(self, a: Polynomial) -> Monomial:
        """The monomial that every term is a multiple of."""
        least: dict[int, int] = {}
        for atom in {atom for m in a for atom, _ in m}:
            exponent = min(dict(m).get(atom, 0) for m in a)
            if exponent:
                least[atom] = exponent
        return tuple(sorted(least.items()))

    def _whole_shape(self, a: Polynomial) -> tuple[Dimension, ...]:
        shapes = [self.shape(m) for m in a]
        rank = max(map(len, shapes))
        padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
        return tuple(next((n for n in ns if n != 1), 1) for ns in zip(*padded, strict=True))

    def reduced(self, a: Polynomial) -> Polynomial:
        """Write what can be said without a divisor so: with q = 1 + e, `e / q` is `1 - 1 / q`."""
        if not self.divisors:
            return _bounded(a)
        todo, done = list(a.items()), {}  # type: ignore[var-annotated]
        for _ in range(8 * TERMS):
            if not todo:
                return _bounded({m: c for m, c in done.items() if c})
            monomial, c = todo.pop()
            for m, d in self._step(monomial) or ():
                todo.append((m, c * d))
            if self._step(monomial) is None:
                done[monomial] = done.get(monomial, 0) + c
        raise TooLarge

    def _step(self, monomial: Monomial) -> list[tuple[Monomial, Number]] | None:
        """What a monomial is equal to that is closer to the normal form, if it isn't in it."""
        for atom, exponent in monomial:
            if atom not in self.divisors:
                continue
            lead, terms = self.divisors[atom]
            if exponent > 0:
                less = _product(monomial, ((atom, -1),))
                return [(_product(less, m), c) for m, c in terms.items()]
            powers = dict(monomial)
            if self.reducible(atom) and all(e > 0 and powers.get(b, 0) >= e for b, e in lead):
                rest = _product(monomial, _inverse(lead))
                others = [(_product(rest, m), -c) for m, c in terms.items() if m != lead]
                return [(_product(rest, ((atom, 1),)), 1), *others]
        return None

    # Sums and axes

    def sum(self, a: Polynomial, shape: tuple[Dimension, ...], axes: Iterable[int]) -> Polynomial:
        """The sum of an array of this shape along axes, counted from the end, which are kept."""
        result = ZERO
        for monomial, c in a.items():
            factor: Polynomial = {(): c}
            along: list[int] = []
            for k in axes:
                lengths = {self.length(atom, k) for atom, _ in monomial} - {1}
                if lengths - {shape[-k]}:
                    raise TooLarge
                if lengths:
                    along.append(k)
                else:
                    factor = self.multiply(factor, self.size(shape[-k]))
            inside: list[tuple[int, int]] = []
            outside: list[tuple[int, int]] = []
            for power in monomial:
                varies = any(self.length(power[0], k) != 1 for k in along)
                (inside if varies else outside).append(power)
            term: Polynomial = {tuple(outside): 1}
            if inside:
                whole = self.shape(tuple(inside))
                rank = len(whole)
                kept = tuple(1 if rank - i in along else n for i, n in enumerate(whole))
                number = self.number(("sum", tuple(along), tuple(inside)), kept)
                term = {_product(tuple(outside), ((number, 1),)): 1}
            result = self.add(result, self.multiply(term, factor))
        return result

    def moved(self, a: Polynomial, move: Callable[[int], int]) -> Polynomial:
        """The same numbers with each axis at another place; places count from the end."""
        return self.reduced(
            {tuple(sorted((self._moved(atom, move), e) for atom, e in m)): c for m, c in a.items()}
        )

    def _moved(self, atom: int, move: Callable[[int], int]) -> int:
        what, places = atom, tuple(k for k in range(len(self.shapes[atom]), 0, -1)
                                   if self.length(atom, k) != 1)  # fmt: skip
        natural = places
        if isinstance(self.atoms[atom], tuple) and self.atoms[atom][0] == "moved":
            _, what, places, natural = self.atoms[atom]
        there = tuple(move(k) for k in places)
        if there == natural:
            return what
        lengths = {k: self.length(atom, old) for k, old in zip(there, places, strict=True)}
        rank = max(there, default=0)
        shape = tuple(lengths.get(k, 1) for k in range(rank, 0, -1))
        return self.number(("moved", what, there, natural), shape)


def _bounded(a: Polynomial) -> Polynomial:
    if len(a) > TERMS or any(abs(e) > EXPONENT for m in a for _, e in m):
        raise TooLarge
    return a


def _plain(number: Number) -> Number:
    return number.numerator if number.denominator == 1 else number


def _product(a: Monomial, b: Monomial) -> Monomial:
    if not a or not b:
        return a or b
    powers = dict(a)
    for atom, exponent in b:
        powers[atom] = powers.get(atom, 0) + exponent
    return tuple(sorted((atom, e) for atom, e in powers.items() if e))


def _inverse(a: Monomial) -> Monomial:
    return tuple((atom, -e) for atom, e in a)


def _order(a: Monomial) -> tuple[int, Monomial]:
    """By degree, then by the atoms: multiplying two monomials by a third keeps their order."""
    return sum(e for _, e in a), tuple((-atom, e) for atom, e in a)


# How calls are looked into


def _arithmetic(combine: Callable[..., Polynomial]) -> Reader:
    def read(forms: NormalForms, s: ir.Assign, depth: int) -> Polynomial | None:
        found = [forms.of(a, depth) for a in s.args]
        if s.kwargs or any(f is None for f in found):
            return None
        return combine(forms, *found)

    return read


def _power(forms: NormalForms, s: ir.Assign, depth: int) -> Polynomial | None:
    exponent = s.args[1]
    base = forms.of(s.args[0], depth)
    if base is None or s.kwargs or not isinstance(exponent, ir.Const):
        return None
    if type(exponent.value) not in (int, float) or exponent.value not in (-2, -1, 1, 2, 3, 4):
        return None
    return forms.power(base, int(exponent.value))


def _sum(forms: NormalForms, s: ir.Assign, depth: int) -> Polynomial | None:
    value, kwargs = s.args[0], dict(s.kwargs)
    if len(s.args) == 2:
        kwargs["axis"] = s.args[1]
    if len(s.args) > 2 or set(kwargs) - {"axis", "keepdims"} or not isinstance(value, ir.Var):
        return None
    axis, keepdims = kwargs.get("axis", ir.Const(None)), kwargs.get("keepdims", ir.Const(False))
    kind, a = value.kind, forms.of(value, depth)
    if not isinstance(kind, Array) or kind.shape is None or a is None:
        return None
    if not same_dtype(kind, s.target.kind):
        return None
    if not isinstance(axis, ir.Const) or not isinstance(keepdims, ir.Const):
        return None
    rank = len(kind.shape)
    axes = axis.value if isinstance(axis.value, tuple) else (axis.value,)
    if axis.value is None:
        axes = tuple(range(rank))
    if not all(type(i) is int and -rank <= i < rank for i in axes):
        return None
    places = sorted(rank - i % rank for i in axes)
    result = forms.sum(a, kind.shape, places)
    if s.function is np.mean:
        for k in places:
            result = forms.multiply(result, forms.inverse(forms.size(kind.shape[-k])))
    if not keepdims.value:
        result = forms.moved(result, lambda k: k - builtins.sum(j < k for j in places))
    return result


def _dot(forms: NormalForms, s: ir.Assign, depth: int) -> Polynomial | None:
    """The product of two vectors is the sum of their products."""
    kinds = [a.kind for a in s.args if isinstance(a, ir.Var)]
    if len(kinds) != 2 or s.kwargs or not all(isinstance(k, Array) for k in kinds):
        return None
    shapes = [k.shape for k in kinds if isinstance(k, Array)]
    if shapes[0] is None or len(shapes[0]) != 1 or shapes[0] != shapes[1]:
        return None
    a, b = (forms.of(x, depth) for x in s.args)
    if a is None or b is None:
        return None
    result = forms.sum(forms.multiply(a, b), shapes[0], (1,))
    return forms.moved(result, lambda k: k - 1)


def _subscript(forms: NormalForms, s: ir.Assign, depth: int) -> Polynomial | None:
    """`x[:, None]` has an axis more; `x[:, 0]` has an axis of length 1 less."""
    x, key = s.args
    kind = x.kind if isinstance(x, ir.Var) else None
    if not isinstance(kind, Array) or kind.shape is None:
        return None
    there = kept_axes(key, kind.shape)
    if there is None:
        return None
    places = {len(kind.shape) - n: len(there) - i for i, n in enumerate(there) if n is not None}
    return _moved(forms, x, places, depth)


def _same(forms: NormalForms, s: ir.Assign, depth: int) -> Polynomial | None:
    """What is copied or broadcast has the same numbers."""
    x = s.args[0]
    dtype = getattr(x.kind, "dtype", None) if isinstance(x, ir.Var) else None
    if s.kwargs or (dtype is not None and dtype != s.target.kind.dtype):  # type: ignore[attr-defined]
        return None
    return forms.of(x, depth)


def _reshaped(forms: NormalForms, s: ir.Assign, depth: int) -> Polynomial | None:
    """Where axes of length 1 come or go, the others stay as they are."""
    x = s.args[0]
    kinds = [v.kind for v in (x, s.target) if isinstance(v, ir.Var)]
    shapes = [k.shape for k in kinds if isinstance(k, Array) and k.shape is not None]
    if len(shapes) < 2 or not same_dtype(*kinds):
        return None
    old, new = ([len(shape) - i for i, n in enumerate(shape) if n != 1] for shape in shapes)
    if [shapes[0][-k] for k in old] != [shapes[1][-k] for k in new]:
        return None
    return _moved(forms, x, dict(zip(old, new, strict=True)), depth)


def _moved(
    forms: NormalForms, x: ir.Operand, places: dict[int, int], depth: int
) -> Polynomial | None:
    """The form of an array the axes of which are elsewhere; those that are nowhere have length 1.

    Places count from the end.
    """

    def place(k: int) -> int:
        if k not in places:
            raise TooLarge
        return places[k]

    a = forms.of(x, depth)
    return None if a is None else forms.moved(a, place)


def _size(forms: NormalForms, s: ir.Assign, depth: int) -> Polynomial | None:
    """`x.size`"""
    x = s.args[0]
    if s.function is builtins.getattr and not (
        isinstance(s.args[1], ir.Const) and s.args[1].value == "size"
    ):
        return None
    if not isinstance(x, ir.Var) or not isinstance(x.kind, Array) or x.kind.shape is None:
        return None
    result = ONE
    for n in x.kind.shape:
        result = forms.multiply(result, forms.size(n))
    return result


ARITHMETIC: dict[Any, Reader] = {
    operator.add: _arithmetic(NormalForms.add),
    operator.sub: _arithmetic(lambda forms, a, b: forms.add(a, b, -1)),
    operator.neg: _arithmetic(lambda forms, a: forms.add(ZERO, a, -1)),
    operator.mul: _arithmetic(NormalForms.multiply),
    operator.truediv: _arithmetic(lambda forms, a, b: forms.multiply(a, forms.inverse(b))),
    np.square: _arithmetic(lambda forms, a: forms.multiply(a, a)),
    np.reciprocal: _arithmetic(NormalForms.inverse),
    operator.pow: _power,
}

READERS: dict[Any, Reader] = {
    **ARITHMETIC,
    np.sum: _sum,
    np.mean: _sum,
    operator.matmul: _dot,
    np.dot: _dot,
    operator.getitem: _subscript,
    np.broadcast_to: _same,
    np.ndarray.copy: _same,
    np.asarray: _same,
    np.reshape: _reshaped,
    np.ravel: _reshaped,
    np.squeeze: _reshaped,
    np.expand_dims: _reshaped,
    builtins.getattr: _size,
}
