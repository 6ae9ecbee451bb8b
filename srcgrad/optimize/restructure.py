"""Arithmetic of the reverse sweep written in fewer calls: `d / p * p / q` is `d / q`.

The rules of a chain of primitives, put one after another, compute more than the formula that one
would write: the derivative of `c * d * d * d` has three terms, and that of a logistic loss by its
logits is `p - y` after everything else has cancelled. The normal form of such a value
(`normal.py`) is planned anew from the values that are there anyway, and where the plan costs less
than the calls that it makes superfluous, it takes their place.

Rounding. A plan adds and subtracts the terms of the normal form, common factors taken out, so what
cancels in the plan cancels in the calls it replaces, up to the order in which adjoints are added.
Sums that the forward sweep has computed are taken as they are. The exception is `1 - p` with
`p = 1 / (1 + e)`: it equals `e / (1 + e)`, but is less exact where `p` is near one. A function that
computes it has that error already, and its adjoint is written in these terms: with a logistic loss
`p - y` is exact to rounding errors of `p`, not of the difference.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .. import ir
from ..analysis.elementwise import elementwise_kind, is_elementwise, number_kind, same_kind
from ..kinds import Array, Scalar
from .normal import (
    ARITHMETIC,
    Monomial,
    NormalForms,
    Number,
    Polynomial,
    TooLarge,
)  # fmt: skip
from .operands import is_floating
from .simplify import Simplifier

CANDIDATES = 40  # variables that a plan may use
SCALAR, SMALL, DIVISION, FUNCTION = 0.15, 0.5, 1.2, 3.0  # relative to a product of arrays
WORTHWHILE = 0.9


def restructure(function: ir.Function) -> bool:
    """Write the arithmetic of the reverse sweep in fewer calls, in place; whether any is."""
    planner = _Planner(function)
    planner.plan()
    if not planner.plans:
        return False
    planner.carry_out(function.block)
    return True


@dataclass(frozen=True, eq=False)
class Plan:
    """How to compute a value: an operand, or a call of other plans; the cost of all calls."""

    kind: Array | Scalar
    cost: float
    operand: ir.Operand | None = None
    function: Any = None
    parts: tuple[Plan, ...] = ()

    def leaves(self) -> Iterator[ir.Operand]:
        if self.operand is not None:
            yield self.operand
        for part in self.parts:
            yield from part.leaves()


class _Planner(Simplifier):
    def __init__(self, function: ir.Function) -> None:
        super().__init__(function)
        self._times()
        self.forms = NormalForms(self, ARITHMETIC, self.is_opaque)
        self.forms.reducible = self.has_complement
        self.complements: set[int] = set()
        self.looks_into_complements = False
        self.users: dict[ir.Var, list[ir.Statement]] = {}
        for s in ir.walk(function.block):
            for v in ir.uses(s):
                self.users.setdefault(v, []).append(s)
        self.plans: dict[ir.Assign, Plan] = {}
        self.dead: set[ir.Var] = set()

    def is_opaque(self, var: ir.Var, form: Polynomial) -> bool:
        """Whether a sum is taken as it is: it is used more than once, or by the forward sweep."""
        if len(form) < 2:
            return False
        if var in self.forms.forward:
            return not (self.looks_into_complements and self._is_complement(form))
        return self.counts.get(var, 0) > 1

    def _is_complement(self, form: Polynomial) -> bool:
        return len(form) == 2 and any(self._is_constant(m) for m in form)

    def _is_constant(self, monomial: Monomial) -> bool:
        return all(_is_constant_atom(self.forms.atoms[a]) for a, _ in monomial)

    def has_complement(self, divisor: int) -> bool:
        """Whether the function computes `1 - 1 / q` of a divisor q itself."""
        return divisor in self.complements

    # Which calls are planned anew

    def plan(self) -> None:
        """Find what is computed in fewer calls."""
        own = [s for s in ir.walk(ir.reverse_part(self.function)) if _is_arithmetic(s)]
        if len(own) < 3:
            return
        self.blocks = dict(_blocks(self.function.block))
        self.quotients = self._find_quotients()
        self._find_complements()
        hidden: set[ir.Var] = set()  # what a larger call has been planned with
        for s in reversed(own):
            assert isinstance(s, ir.Assign)
            if s.target in hidden or s.target in self.dead:
                continue
            form = self.forms.read(s.target)
            if form is None:
                continue
            inside = self._inside(s)
            hidden.update(v for v in inside if v is not s.target)
            if len(inside) > 2:
                self._try(s, form, inside)

    def _find_quotients(self) -> dict[int, dict[ir.Var, None]]:
        """The quotients of the forward sweep that each block of the reverse sweep uses anyway."""
        found: dict[int, dict[ir.Var, None]] = {}
        for s in ir.walk(ir.reverse_part(self.function)):
            for v in ir.uses(s) if isinstance(s, ir.Assign) else ():
                definition = self.definition(v, operator.truediv)
                if v in self.forms.forward and definition is not None and is_floating(definition):
                    found.setdefault(self.blocks[s], {})[v] = None
        return found

    def _find_complements(self) -> None:
        """Find the divisors q of which the function computes `1 - 1 / q`."""
        differences = [
            s.target for s in ir.walk(ir.forward_part(self.function))
            if isinstance(s, ir.Assign) and s.function is operator.sub and is_floating(s)
            and isinstance(s.args[0], ir.Const) and self.definition(s.args[1], operator.truediv)
        ]  # fmt: skip
        if not differences:
            return
        self.looks_into_complements = True
        for v in differences:
            form = self.forms.read(v)
            if form is not None and self._is_complement(form):
                powers = {p for m in form for p in m}
                self.complements.update(a for a, e in powers if a in self.forms.divisors and e < 0)
        self.looks_into_complements = bool(self.complements)
        self.forms.known.clear()

    def _inside(self, s: ir.Assign) -> dict[ir.Var, None]:
        """The variables that a form is made of, those it looks into; the call's own included.

        Those of other blocks of the reverse sweep, which may run less often, aren't.
        """
        inside: dict[ir.Var, None] = {s.target: None}  # in an order that is always the same
        todo = [s]
        while todo and len(inside) < CANDIDATES:
            for v in ir.uses(todo.pop()):
                definition = self.definitions.get(v)
                if v in inside or v not in self.forms.known or definition is None:
                    continue
                if not _is_arithmetic(definition) or self._is_atom(v):
                    continue
                if v not in self.forms.forward and self.blocks[definition] != self.blocks[s]:
                    continue
                inside[v] = None
                todo.append(definition)
        return inside

    def _is_atom(self, v: ir.Var) -> bool:
        number = self.forms.numbers.get(v)
        return number is not None and self.forms.known[v] == {((number, 1),): 1}

    def _try(self, s: ir.Assign, form: Polynomial, inside: dict[ir.Var, None]) -> None:
        target = s.target
        available: dict[Any, ir.Var] = {}
        for v in inside:
            for w in (v, *(u for u in ir.uses(self.definitions[v]))):
                found = self.forms.known.get(w)
                if found and w is not target and w not in self.dead:
                    key = frozenset(found.items())
                    if key not in available or self._outlives(w, inside):
                        available[key] = w
        atoms = {atom for monomial in form for atom, _ in monomial}
        for v in self.quotients.get(self.blocks[s], ()):
            found = self.forms.of(v)
            if found and len(found) == 1 and all(a in atoms for m in found for a, _ in m):
                available.setdefault(frozenset(found.items()), v)
        # what is used by nothing else costs what it takes to compute it
        kept = {k: v for k, v in available.items() if self._outlives(v, inside)}
        for choice in (kept, available):
            plan = _Search(self, choice, target.kind.shape).whole(form)  # type: ignore[attr-defined]
            if plan is None or not same_kind(plan.kind, target.kind):
                continue
            leaves = {v for o in plan.leaves() for v in ir.variables(o)}
            dying = self._dying(s, leaves)
            if plan.cost <= sum(self._cost(d, target) for d in dying) - WORTHWHILE:
                self.plans[s] = plan
                self.dead.update(d.target for d in dying if d is not s)
                for d in dying:
                    for v in ir.uses(d):
                        self.counts[v] -= 1
                for o in plan.leaves():
                    for v in ir.variables(o):
                        self.counts[v] = self.counts.get(v, 0) + 1
                return
            if choice is available or choice == available:
                return

    def _outlives(self, v: ir.Var, inside: dict[ir.Var, None]) -> bool:
        """Whether a variable is there even if what it is used for here isn't.

        Of the forward sweep's that is assumed.
        """
        if v not in self.definitions or v not in inside or v in self.forms.forward:
            return True
        users = self.users.get(v, ())
        return len(users) < self.counts.get(v, 0) or any(
            not isinstance(u, ir.Assign) or u.target not in inside for u in users
        )

    def _dying(self, s: ir.Assign, leaves: set[ir.Var]) -> list[ir.Assign]:
        """The calls that nothing needs any more if a call is computed from these leaves."""
        dying, uses = [s], {}  # type: ignore[var-annotated]
        for d in dying:
            for v in ir.uses(d):
                uses[v] = uses.get(v, 0) + 1
                definition = self.definitions.get(v)
                if (
                    definition is None or v in leaves or definition.writes or definition.effect
                    or uses[v] < self.counts.get(v, 0) or not is_elementwise(definition.function)
                    or not (v in self.forms.forward or self.blocks[definition] == self.blocks[s])
                ):  # fmt: skip
                    continue
                dying.append(definition)
        return dying

    def _cost(self, s: ir.Assign, target: ir.Var) -> float:
        kind = number_kind(s.target)
        return 0.0 if kind is None else cost(s.function, kind, target.kind.shape)  # type: ignore[attr-defined]

    def carry_out(self, block: ir.Block) -> None:
        """Put the calls of the plans in place of those that they were made for."""
        statements: list[ir.Statement] = []
        for s in block.statements:
            for inner in ir.blocks(s):
                self.carry_out(inner)
            plan = self.plans.get(s) if isinstance(s, ir.Assign) else None
            if plan is not None:
                assert isinstance(s, ir.Assign)
                parts = plan.parts or (_constant(1.0), plan)
                args = tuple(self._made(part, s, statements) for part in parts)
                s.function, s.args, s.kwargs = plan.function or operator.mul, args, ()
            statements.append(s)
        block.statements[:] = statements

    def _made(self, plan: Plan, s: ir.Assign, statements: list[ir.Statement]) -> ir.Operand:
        """What holds the value of a part of a plan, after the calls that make it."""
        if plan.operand is not None:
            return plan.operand
        args = tuple(self._made(part, s, statements) for part in plan.parts)
        target = ir.Var(s.target.name, plan.kind)
        statements.append(ir.Assign(target, plan.function, args, (), s.span))
        return target


def _is_arithmetic(s: ir.Statement) -> bool:
    return (
        isinstance(s, ir.Assign) and isinstance(s.function, Hashable)
        and s.function in ARITHMETIC and is_floating(s) and not s.writes and not s.effect
    )  # fmt: skip


def _blocks(block: ir.Block) -> Iterator[tuple[ir.Statement, int]]:
    """In which block each statement stands."""
    for s in block.statements:
        yield s, id(block)
        for inner in ir.blocks(s):
            yield from _blocks(inner)


def _is_constant_atom(what: Any) -> bool:
    return isinstance(what, tuple) and what[0] == "constant"


def cost(function: Any, kind: Array | Scalar, full: Any) -> float:
    """What a call costs, a product of two arrays of the shape `full` costing one."""
    if isinstance(kind, Scalar):
        return SCALAR
    price = DIVISION if function is operator.truediv else 1.0
    if function not in ARITHMETIC:
        price = FUNCTION
    return price if kind.shape == full else price * SMALL


class _Search:
    """Looks for a cheap way to compute a form from the variables that are available."""

    def __init__(self, planner: _Planner, available: dict[Any, ir.Var], full: Any) -> None:
        self.forms = planner.forms
        self.available = available
        self.full = full  # the shape of the whole
        # products that are there: what they are a multiple of, the factor, the variable
        self.products: list[tuple[dict[int, int], float, ir.Var]] = []
        for key, var in available.items():
            if len(key) == 1:
                ((monomial, c),) = key
                powers, factor = self.apart(monomial, c)
                if powers and factor and np.isfinite(factor):
                    self.products.append((powers, factor, var))
        # a sum that is there is a product with its divisor
        for number, (_, terms) in self.forms.divisors.items():
            var = available.get(frozenset(terms.items()))  # type: ignore[assignment]
            if var is not None:
                self.products.append(({number: 1}, 1.0, var))

    def whole(self, form: Polynomial) -> Plan | None:
        """The plan for a form, None if there is none."""
        found = self.available.get(frozenset(form.items()))
        if found is not None:
            return self.leaf(found)
        if not form:
            return None
        if len(form) == 1:
            ((monomial, c),) = form.items()
            return self.product(monomial, c)
        common, factor = self.common(form)
        if common or factor != 1:
            inverse = tuple((a, -e) for a, e in common)
            try:
                rest = self.forms.multiply(form, {inverse: 1 / Fraction(factor)})
            except TooLarge:
                return None
            plan = self.whole(rest) if len(rest) == len(form) else None
            return None if plan is None else self.product(common, factor, plan)
        return self.sum(form)

    def common(self, form: Polynomial) -> tuple[Monomial, Number]:
        """The factors that all terms of a form have."""
        powers = [dict(m) for m in form]
        atoms = {a for p in powers for a in p}
        found = {}
        for atom in atoms:
            exponents = [p.get(atom, 0) for p in powers]
            if min(exponents) > 0:
                found[atom] = min(exponents)
            elif max(exponents) < 0:
                found[atom] = max(exponents)
        sizes = [c if c > 0 else -c for c in form.values()]
        factor: Number = sizes[0] if len(set(sizes)) == 1 else 1
        if all(c < 0 for c in form.values()):
            factor = -factor
        return tuple(sorted(found.items())), factor

    def sum(self, form: Polynomial) -> Plan | None:
        """Add the terms of a form, the positive ones first."""
        terms = sorted(form.items(), key=lambda term: (term[1] < 0, len(term[0])))
        result: Plan | None = None
        for monomial, c in terms:
            positive = c > 0 or result is None
            part = self.product(monomial, c if positive else -c)
            if part is None:
                return None
            if result is None:
                result = part
            else:
                result = self.call(operator.add if positive else operator.sub, result, part)
                if result is None:
                    return None
        return result

    def apart(self, monomial: Monomial, c: Number) -> tuple[dict[int, int], float]:
        """The atoms of a monomial that are variables, and the number that the others make."""
        factor, powers = float(c), {}
        for atom, exponent in monomial:
            what = self.forms.atoms[atom]
            if _is_constant_atom(what):
                with np.errstate(all="ignore"):  # too large or small a number is seen to later
                    factor *= float(np.float64(what[1]) ** exponent)
            else:
                powers[atom] = exponent
        return powers, factor

    def product(self, monomial: Monomial, c: Number, extra: Plan | None = None) -> Plan | None:
        """Multiply and divide until a monomial is made, times another plan if there is one."""
        left, number = self.apart(monomial, c)
        above = [] if extra is None else [extra]
        below: list[Plan] = []
        while left:
            best, gain, sign = None, 0, 1
            for candidate in self.products:
                for direction in (1, -1) if self.divides(candidate[2], candidate[0]) else (1,):
                    found = self.gain(left, candidate[0], direction)
                    if found > gain or (found == gain and best is not None and direction > sign):
                        best, gain, sign = candidate, found, direction
            if best is None:
                return None
            powers, factor, var = best
            for atom, exponent in powers.items():
                left[atom] = left.get(atom, 0) - sign * exponent
                if not left[atom]:
                    del left[atom]
            number = number / factor if sign > 0 else number * factor
            (above if sign > 0 else below).append(self.leaf(var))
        if not np.isfinite(number):
            return None
        return self.quotient(number, above, below)

    def quotient(self, number: float, above: list[Plan], below: list[Plan]) -> Plan | None:
        """The product of a number and some plans, divided by others.

        Scalars come first. Then factors and divisors take turns, so that what is moderate as a
        whole doesn't overflow on the way.
        """
        first = [p for p in above if not _extent(p)]
        scale = [p for p in below if isinstance(p.kind, Scalar)]
        arrays = sorted((p for p in above if _extent(p)), key=_extent)
        others = sorted((p for p in below if p not in scale), key=_extent)
        if number != 1 or not above or (scale and not first):
            first.insert(0, _constant(number))
        steps = [*((operator.mul, p) for p in first), *((operator.truediv, p) for p in scale)]
        for pair in itertools.zip_longest(arrays, others):
            functions = (operator.mul, operator.truediv)
            steps += [(f, p) for f, p in zip(functions, pair, strict=True) if p is not None]
        result: Plan | None = None
        for function, part in steps:
            result = part if result is None else self.call(function, result, part)
            if result is None:
                return None
        return result

    def divides(self, var: ir.Var, powers: dict[int, int]) -> bool:
        """Whether it is safe to divide by a product: a Python number must not be zero."""
        kind = var.kind
        checked = isinstance(kind, Scalar) and kind.python is not False
        return not checked or all(e > 0 for e in powers.values())

    def gain(self, left: dict[int, int], powers: dict[int, int], direction: int) -> int:
        """How many factors fewer are left if these are taken out; 0 if any are added."""
        gain = 0
        for atom, exponent in powers.items():
            have, take = left.get(atom, 0), direction * exponent
            if have * take <= 0 or abs(take) > abs(have):
                return 0
            gain += abs(take)
        return gain

    def leaf(self, var: ir.Var) -> Plan:
        kind = number_kind(var)
        assert kind is not None
        return Plan(kind, 0.0, operand=var)

    def call(self, function: Any, *parts: Plan) -> Plan | None:
        operands = [p.operand if p.operand is not None else ir.Var("", p.kind) for p in parts]
        kind = elementwise_kind(function, operands)
        if kind is None:
            return None
        total = sum(p.cost for p in parts) + cost(function, kind, self.full)
        return Plan(kind, total, function=function, parts=parts)


def _constant(number: float) -> Plan:
    kind = number_kind(ir.Const(number))
    assert kind is not None
    return Plan(kind, 0.0, operand=ir.Const(number))


def _extent(plan: Plan) -> int:
    return plan.kind.rank or 0
