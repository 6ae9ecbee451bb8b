"""What isn't taken contributes nothing: `np.where(x > 0, np.sqrt(x), 0.0)` at 0 has the gradient 0.

The adjoint of a branch of a `where` is zero where the branch isn't taken; but zero times an
infinite or undefined derivative is nan. So from the `where` on, through the elementwise operations
on temporaries that feed it alone, the mask is remembered; what leaves them is masked once more.
Where the mask itself is lost on the way, through an index say, the zeros of the adjoint take its
place: `unless_zero(0.5 * d_s / s, d_s)`. Not `np.where(d_s, 0.5 * d_s / s, 0.0)`, the derivative
of which would be zero where the adjoint is zero though the branch is taken.
"""

from __future__ import annotations

import builtins
import functools
import math
import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ir, runtime
from ..analysis.activity import is_inert
from ..analysis.elementwise import COPIES, is_elementwise
from ..analysis.inference import Inferred
from ..analysis.positivity import Positivity
from ..analysis.usage import (
    PLACES,
    PRODUCTS,
    Condition,
    PartialUse,
    Use,
    conditions,
    is_zero_number,
)
from ..analysis.wholly import WhollyUsed
from ..errors import UnsupportedError
from ..frontend.values import Tuple
from ..ir import list_append
from ..kinds import Array, ListOf, Opaque, Scalar
from ..rules import registry
from ..rules.positive import UNBOUNDED_AT_ZERO
from .contributions import is_zero
from .shadows import Shadows

# Functions whose derivatives are finite wherever the functions are; those of the bounds everywhere.
TAME: frozenset[Any] = frozenset(
    {operator.add, operator.sub, operator.neg, np.add, np.subtract, np.negative, np.sin, np.cos,
     np.tanh, np.maximum, np.minimum, np.fmax, np.fmin, np.clip}
)  # fmt: skip
# Functions whose rules divide by nothing, and so warn only of operands that aren't finite.
QUIET: frozenset[Any] = frozenset(
    {operator.mul, np.multiply, operator.abs, np.absolute, np.square, np.exp}
)
QUOTIENTS: frozenset[Any] = frozenset(
    {operator.truediv, np.divide, operator.mod, np.remainder, np.fmod}
)
POWERS: frozenset[Any] = frozenset({operator.pow, builtins.pow, np.power, np.float_power})
AT_ZERO: frozenset[Any] = QUOTIENTS | POWERS | UNBOUNDED_AT_ZERO
MAGNITUDES: frozenset[Any] = frozenset({operator.abs, builtins.abs, np.absolute, np.fabs})
HANDING: frozenset[Any] = COPIES | {operator.getitem}  # on what their operands are
SCALED: frozenset[Any] = PRODUCTS | {operator.truediv, np.divide}
SUMS: frozenset[Any] = frozenset({operator.add, np.add, np.sum})
JOINING: frozenset[Any] = frozenset(
    {np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack, np.block,
     np.append, np.insert, np.pad}
)  # fmt: skip
# Who asks these has data that are missing, or results that are none
ASKING: frozenset[Any] = frozenset(
    {np.isnan, np.isinf, np.isfinite, np.isneginf, np.isposinf}
    | {math.isnan, math.isinf, math.isfinite}
)
Joined = dict[ir.Operand, tuple[ir.Operand, ...]]
NOT_JOINED: Joined = {}
Mask = tuple[Any, bool, bool]  # the condition, the value it has, and whether it's needed by now


class Masks(Shadows):
    """Remembers which adjoints come from a branch of a `where` alone."""

    def __init__(self, function: ir.Function, inputs: list[ir.Var], outputs: list[ir.Var]) -> None:
        super().__init__(function, inputs, outputs)
        self.outputs = outputs
        self.pending: dict[ir.Var, Mask] = {}
        self.tainted: set[ir.Var] = set()  # their adjoints have zeros where nothing is taken
        self.homes: dict[ir.Var, ir.Block] = dict.fromkeys(function.params, function.block)
        blocks = _blocks(function.block)
        for block in blocks:
            for s in block.statements:
                self.homes.update(dict.fromkeys(ir.targets(s), block))
        self.read_inside: set[ir.Var] = set()  # a loop or branch, which doesn't know their masks
        for block in blocks:
            operands = [*block.results, *(v for s in block.statements for v in ir.uses(s))]
            read = {v for operand in operands for v in ir.variables(operand)}
            self.read_inside |= {v for v in read if self.homes.get(v) is not block}

    def take(self, var: ir.Var) -> Any:
        """The complete adjoint of a variable, None if it is zero."""
        d, mask = super().take(var), self.pending.pop(var, None)
        return d if mask is None or d is None else self.limited(d, mask)

    def take_unmasked(self, s: ir.Assign) -> tuple[Any, Mask | None]:
        """The adjoint of a statement's target, and the mask that it may still need."""
        if not is_elementwise(s.function) and s.function is not np.where:
            return self.take(s.target), None
        mask = self.pending.pop(s.target, None)
        return super().take(s.target), mask

    def add(self, var: ir.Var, contribution: Any) -> None:
        self._settle(var)
        super().add(var, contribution)

    def buffer(self, var: ir.Var) -> ir.Var:
        self._settle(var)
        return super().buffer(var)

    def _settle(self, var: ir.Var) -> None:
        """Mask what is known of an adjoint: what comes next has another mask, or none."""
        mask = self.pending.pop(var, None)
        if mask is not None and var in self.adjoints:
            self.adjoints[var] = self.limited(self.adjoints[var], mask)

    if TYPE_CHECKING:

        def distribute(self, operand: ir.Operand, contribution: Any) -> None: ...

    def taint(self, s: ir.Assign, operand: ir.Operand) -> None:
        """The adjoint of an operand has zeros where that of the statement's target has some."""
        if s.target in self.tainted:
            self.tainted.update(ir.variables(operand))

    def feed(
        self, s: ir.Assign, operand: ir.Operand, contribution: Any, d_out: Any, mask: Mask | None
    ) -> None:
        """Add what a statement contributes to an operand; remember or apply its mask."""
        tame = s.function in TAME or s.function is np.where or _scales(s)
        if is_zero(contribution) or not isinstance(operand, ir.Var):
            self.taint(s, operand)
            self.distribute(operand, contribution)
        elif mask is None:
            self.taint(s, operand)
            if isinstance(d_out, ir.Var) and not tame and self._is_lossy(s, operand):
                contribution = self.unless_zero(contribution, d_out)
            self.distribute(operand, contribution)
        else:
            self.tainted.add(operand)
            test, value, needed = mask
            limited = test, value, needed or not tame
            self._feed_masked(s, operand, contribution, limited, _shape(s.target))

    def _is_lossy(self, s: ir.Assign, operand: ir.Var) -> bool:
        """Whether a contribution may be nan where the adjoint that it is a multiple of is zero."""
        each = is_elementwise(s.function)
        number = s.target in self.bounded_numbers or isinstance(s.target.kind, Scalar)
        if number and self._used_in_part(s):
            return True
        if each and (
            s.target in self.tainted
            or self._used_in_part(s)
            or self._has_infinite_factor(s, operand)
        ):
            return True
        return (each or _shape(s.target) == ()) and self._may_be_missing(s)

    def feed_chosen(
        self, s: ir.Assign, operand: ir.Var, contribution: Any, test: ir.Operand, value: bool
    ) -> None:
        """Add what is zero where a test of the operand's elements doesn't have a value."""
        if self.activity.active(operand):
            self._feed_masked(s, operand, contribution, (test, value, False), _shape(operand))

    def remember(self, s: ir.Assign, operand: ir.Var, test: ir.Operand) -> None:
        """The adjoint of an operand, all of it from one statement, is zero where a test fails."""
        if (
            operand not in self.read_inside
            and operand not in self.shadows
            and self.homes.get(operand) is self.homes.get(s.target)
            and isinstance(test, ir.Var)
            and _shape(test) == _shape(operand) is not None
        ):
            self.pending[operand] = test, True, False

    def _feed_masked(
        self, s: ir.Assign, operand: ir.Var, contribution: Any, mask: Mask, shape: Any
    ) -> None:
        before = self.pending.get(operand)
        if before is None:
            alike = operand not in self.adjoints
        else:
            alike = before[0] is mask[0] and before[1] == mask[1]
        if not (
            alike
            and operand not in self.read_inside
            and operand not in self.shadows
            and operand not in self.buffers
            and self.activity.active(operand)
            and self.homes.get(operand) is self.homes.get(s.target)  # where the test is known
            and _shape(operand) == shape is not None
        ):
            self.distribute(operand, self.limited(contribution, mask))
            return
        self.pending.pop(operand, None)
        self.distribute(operand, contribution)
        if operand in self.adjoints:
            self.pending[operand] = (*mask[:2], mask[2] or (before is not None and before[2]))

    def _used_in_part(self, s: ir.Assign) -> bool:
        """Whether the unused elements of a statement's target may be where it's singular."""
        kind = self.singularity(s)
        if kind and s.target in self.bounded_numbers:
            # a Python number at a pole has raised
            return kind == "root" or getattr(s.target.kind, "python", None) is not True
        if not kind or not isinstance(s.target.kind, Array):
            if kind != "root" or s.target not in self.put_in_lists:
                return False
            # a distance in a table, of which the program may not ask that of a thing from itself
            left = s.target in self.put_in_sliced_lists
            return left or self._is_square(s.args[0], self.joined)
        use = self.partial_use.of(s.target)
        if s.target in (self.covered if kind == "pole" else self.wholly_used):
            use = Use.WHOLE
        if kind == "pole":
            # zero times what is infinite there would be nan itself; a stencil isn't looked after
            use &= ~(Use.SCALED | Use.SLICED)
        if use & ~PLACES:
            return True
        if use and (kind == "root" or _shape(_singular_operand(s)) == _shape(s.target)):
            return True
        # a smooth function of a length that is flat at 0 is flat there by the vector, too
        return self.is_length(s)

    @functools.cached_property
    def wholly_used(self) -> set[ir.Var]:
        known = self.aliasing, self.activity, self.outputs, self.partial_use
        return WhollyUsed(self.function, *known).found

    @functools.cached_property
    def covered(self) -> set[ir.Var]:
        """What is used wholly, if stencils use all that they take parts of."""
        known = self.aliasing, self.activity, self.outputs, self.partial_use
        return WhollyUsed(self.function, *known, stencils=True).found

    def is_length(self, s: ir.Assign) -> bool:
        """Whether a statement takes roots of squares, or of sums of squares."""
        root = self.singularity(s) == "root" and isinstance(s.target.kind, Array)
        return root and len(s.args) == 1 and self._is_square(s.args[0])

    def _has_infinite_factor(self, s: ir.Assign, operand: ir.Var) -> bool:
        """Whether what a contribution is multiplied by may be infinite or nan where it isn't used.

        Of a product that is the other operand. Nothing beyond a bound is nan: that the bound keeps.
        """
        left_out = self._left_out(s.target)
        if left_out == Use.BOUNDED and s.function in MAGNITUDES:
            return False  # the sign of what is infinite is not
        by = s.args if s.function in PRODUCTS and s.args.count(operand) == 1 else ()
        factors = [v for a in by if a is not operand for v in ir.variables(a)] or ir.uses(s)
        return self._are_infinite(factors, left_out)

    def may_lose(self, s: ir.Assign) -> bool:
        """The same of a product or quotient in place, of what is written and what it is by."""
        if s.function not in (operator.imul, operator.itruediv):
            return False
        return self._are_infinite(ir.uses(s), self._left_out(s.writes[0]))

    def _left_out(self, var: ir.Var) -> Use:
        # (a product with a factor of zero would be nan itself)
        kept = not isinstance(var.kind, Array) or var in self.covered
        return Use.WHOLE if kept else self.partial_use.of(var) & ~(PLACES | Use.SCALED)

    def _are_infinite(self, factors: list[ir.Var], left_out: Use) -> bool:
        found = self.infinite if left_out == Use.BOUNDED else self.infinite | self.undefined
        return bool(left_out) and not found.isdisjoint(factors)

    @functools.cached_property
    def infinite(self) -> set[ir.Var]:
        """The arrays that may have elements that are a number over zero, or made of such."""
        return self._made_by("pole")

    @functools.cached_property
    def undefined(self) -> set[ir.Var]:
        """The arrays that may have elements that are the root of a negative number, or made of it.

        (A single number may be one, too, but then all that is made of it is.)
        """
        return self._made_by("root")

    def _made_by(self, kind: str) -> set[ir.Var]:
        found = self._data_asked_about()
        for s in self.made.values():
            if any(map(_is_no_number, s.args)):
                found.update(v for v in s.writes or (s.target,) if isinstance(v.kind, Array))
            if isinstance(s.target.kind, Array) and s.target.kind.shape != ():
                if is_elementwise(s.function) or s.function in HANDING:
                    if self.singularity(s) == kind or not found.isdisjoint(ir.uses(s)):
                        found.add(s.target)
        return found

    def singularity(self, s: ir.Assign) -> str:
        """Where a statement's derivative may be infinite: at a "root", at a "pole", or nowhere."""
        kind = singularity(s)
        if kind and s.function in AT_ZERO and self.positivity.positive(_singular_operand(s)):
            return ""
        return kind

    @functools.cached_property
    def positivity(self) -> Positivity:
        return Positivity(self.function.block, self.aliasing)

    @functools.cached_property
    def under_roots(self) -> set[ir.Var]:
        """What is handed on to a root, so that its adjoint may be infinite.

        Where a bound gave it, `np.sqrt(np.maximum(x, 0.0))` at -1 say, what the bound left out
        has the adjoint zero all the same.
        """
        found: set[ir.Var] = set()
        size = -1
        while len(found) != size:
            size = len(found)
            held = set(map(self.aliasing.find, found))
            for s in reversed(self.made.values()):
                if s.target in found and (_hands_on(s) or s.function is list.pop):
                    found.update(ir.uses(s))
                if s.function is list_append and not found.isdisjoint(ir.variables(s.args[0])):
                    found.update(ir.variables(s.args[1]))
                if s.function is operator.setitem and self.aliasing.find(s.writes[0]) in held:
                    found.update(ir.variables(s.args[-1]))
                if self.singularity(s) == "root":
                    found.update(ir.variables(s.args[0]))
            for var in found & self.joined.keys():
                found.update(v for end in self.joined[var] for v in ir.variables(end))
        return found

    @functools.cached_property
    def of_bounds(self) -> set[ir.Var]:
        """What is handed on from a bound, or a `where`, so that its tangent is zero in parts."""
        found: set[ir.Var] = set()
        size = -1
        while len(found) != size:
            size = len(found)
            for s in self.made.values():
                if is_bound(s) or s.function is np.where:
                    found.add(s.target)
                elif _hands_on(s) and not found.isdisjoint(ir.uses(s)):
                    found.add(s.target)
            for var, ends in self.joined.items():
                if not found.isdisjoint(ir.variables_of(ends)):
                    found.update(ir.variables(var))
        return found

    @functools.cached_property
    def bounded_numbers(self) -> set[ir.Var]:
        """The numbers of which a bound is made, and those of which these are.

        Where the bound leaves one out, `max(math.sqrt(x), 0.5)` say, its adjoint is zero.
        """
        found: set[ir.Var] = set()
        for s in reversed(self.made.values()):
            if is_bound(s) or (s.target in found and not s.writes):
                found.update(v for v in ir.uses(s) if _shape(v) == ())
        return found

    @functools.cached_property
    def scaled_under_roots(self) -> set[ir.Var]:
        """The products and quotients of which roots are taken, perhaps scaled further."""
        found: set[ir.Var] = set()
        for s in reversed(self.made.values()):
            if s.target in found and (s.function in HANDING or s.function in SCALED):
                found.update(ir.uses(s))
            if self.singularity(s) == "root":
                found.update(ir.variables(s.args[0]))
        return found

    def zero_factor(self, s: ir.Assign, i: int) -> int | None:
        """Which operand, cut off at a bound, makes a root zero whatever operand `i` is.

        `np.sqrt(np.maximum(v, 0) * t)` is zero for every `t` where `v` is cut off. Other factors
        needn't be looked at for zeros, which takes time: where they are, the derivative is nan.
        """
        if s.target not in self.scaled_under_roots or s.function not in SCALED or len(s.args) != 2:
            return None
        other = 0 if s.function not in PRODUCTS else 1 - i
        factor = s.args[other]
        if factor is s.args[i] or not isinstance(factor, ir.Var) or factor not in self.of_bounds:
            return None
        return other if isinstance(factor.kind, (Array, Scalar)) else None

    @functools.cached_property
    def zero_in_parts(self) -> set[ir.Var]:
        """What has the tangent zero where a bound left it zero, or a factor of it is zero."""
        found = set(self.of_bounds)
        for s in self.made.values():
            by = (self.zero_factor(s, i) for i in range(len(s.args)))
            if any(i is not None for i in by):
                found.add(s.target)
            elif s.target in self.scaled_under_roots and not found.isdisjoint(ir.uses(s)):
                found.add(s.target)
        return found

    @functools.cached_property
    def constant_in_parts(self) -> set[ir.Var]:
        """What is handed on from arrays that are joined, or stored into: a part may be constant."""
        found: set[ir.Var] = set()  # by whose memory it is
        memory = self.aliasing.find
        for s in self.made.values():
            given = not found.isdisjoint(map(memory, ir.uses(s)))
            if s.writes:
                part = self.made.get(s.writes[0])
                stored = s.function is operator.setitem or (part and part.function in HANDING)
                found.update(map(memory, s.writes if given or stored else ()))
            elif s.function in JOINING or (given and _hands_on(s)):
                found.add(memory(s.target))
        return {v for v in self.made if memory(v) in found}

    @functools.cached_property
    def constant_by_branches(self) -> set[ir.Operand]:
        """What has the tangent zero where a branch isn't taken, however often a loop runs."""
        found: set[ir.Operand] = {*self.made, *self.joined}

        def constant(operand: ir.Operand) -> bool:
            return all(v in found or not self.activity.active(v) for v in ir.variables(operand))

        size = -1
        while len(found) != size:
            size = len(found)
            for s in ir.walk(self.function.block):
                if isinstance(s, ir.Assign):
                    if not (_hands_on(s) and all(map(constant, s.operands()))):
                        found.discard(s.target)
                else:
                    enough = any if isinstance(s, ir.If) else all
                    found -= {v for v, ends in ir.joins(s) if not enough(map(constant, ends))}
        return found

    def _is_square(self, operand: ir.Operand, joined: Joined = NOT_JOINED) -> bool:
        """Whether an operand is a square or a sum of squares, one that a loop adds up perhaps."""
        if operand in joined:
            assumed = {**joined, operand: (ir.Const(0.0),)}
            return all(self._is_square(end, assumed) for end in joined[operand])
        if joined and isinstance(operand, ir.Const):
            return is_zero_number(operand.value)
        made = self.made.get(operand) if isinstance(operand, ir.Var) else None
        if made is None or not made.args:
            return False
        if made.function in SUMS:
            arrays = made.args if made.function is not np.sum else made.args[:1]
            return all(self._is_square(a, joined) for a in arrays)
        first, *others = made.args
        if made.function in (operator.pow, np.power):
            return isinstance(others[0], ir.Const) and others[0].value == 2
        return made.function is np.square or (made.function in PRODUCTS and others[0] is first)

    @functools.cached_property
    def joined(self) -> Joined:
        """What the variables may be in which values meet at branches and loops."""
        meetings = (s for s in ir.walk(self.function.block) if not isinstance(s, ir.Assign))
        return {v: operands for s in meetings for v, operands in ir.joins(s)}

    @functools.cached_property
    def made(self) -> dict[ir.Var, ir.Assign]:
        """The statements that make the variables of the primal."""
        statements = ir.walk(self.function.block)
        return {s.target: s for s in statements if isinstance(s, ir.Assign)}

    def condition(self, s: ir.Assign) -> Condition | None:
        """The condition under which the target of a statement that may be singular is used."""
        if s.target in self.shadows:
            return None
        singular = s.target in self.made_of_missing or self.singularity(s)
        return self.conditions.get(s.target) if singular else None

    @functools.cached_property
    def made_of_missing(self) -> set[ir.Var]:
        """What is made of data some of which are missing, if the program asks whether they are."""
        found = self._data_asked_about()
        for s in self.made.values() if self.asks_for_numbers else ():
            if any(map(_is_no_number, s.args)):
                found.update(s.writes or (s.target,))
            if not found.isdisjoint(ir.uses(s)) and (s.writes or not is_inert(s)):
                found.update(s.writes or (s.target,))
        return found

    @functools.cached_property
    def asks_for_numbers(self) -> bool:
        return any(map(_asks, self.made.values()))

    def _data_asked_about(self) -> set[ir.Var]:
        """The arrays that come from outside, if the program asks whether something is a number."""
        if not self.asks_for_numbers:
            return set()
        used = {v for s in self.made.values() for v in ir.uses(s)}
        return {v for v in used if v not in self.made and isinstance(v.kind, (Array, ListOf))}

    def _may_be_missing(self, s: ir.Assign) -> bool:
        """Whether a statement computes with missing data what may be left out number by number."""
        left_out = s.target in self.put_in_lists or self.partial_use.of(s.target)
        return bool(left_out) and s.target in self.made_of_missing

    @functools.cached_property
    def put_in_lists(self) -> set[ir.Var]:
        """What is put in lists, where the program may leave it."""
        stored = [s for s in self.made.values() if s.function in (list_append, operator.setitem)]
        return {v for s in stored for a in s.args[1:] for v in ir.variables(a)}

    @functools.cached_property
    def put_in_sliced_lists(self) -> set[ir.Var]:
        """What is put in lists of which the program takes slices, `deviations[1:]` say."""
        memory = self.aliasing.find
        sliced = {memory(s.args[0]) for s in self.made.values() if _takes_slice(s)}  # type: ignore[arg-type]
        return {
            v
            for s in self.made.values()
            if s.function is list_append and not sliced.isdisjoint(map(memory, s.writes))
            for v in ir.variables(s.args[1])
        }

    @functools.cached_property
    def partial_use(self) -> PartialUse:
        return PartialUse(self.function.block, self.aliasing)

    @functools.cached_property
    def conditions(self) -> dict[ir.Var, Condition]:
        return conditions(self.function.block, self.activity, self.outputs)

    def branch_mask(self, test: Any, value: bool, outer: Mask | None) -> Mask:
        """The mask of a branch of a `where`, perhaps in a branch of another."""
        if outer is None:
            return test, value, False
        parts = [
            t if v else self.emit(np.logical_not, (self.operand(t),))
            for t, v in ((outer[0], outer[1]), (test, value))
        ]
        return self.emit(np.logical_and, tuple(map(self.operand, parts))), True, outer[2]

    def numeric(self, operand: ir.Operand) -> ir.Operand:
        """An operand of a rule, which is no quantity."""
        cls = None if isinstance(operand, ir.Var) else type(getattr(operand, "value", None))
        if isinstance(operand, ir.Var) and isinstance(operand.kind, Opaque):
            cls = operand.kind.type
        if cls in registry.quantities:
            raise UnsupportedError(
                f"arithmetic of numbers with a {cls.__name__} has no derivative",
                self.span,
                "divide it by another one first, in brackets: x * (duration / unit)",
            )
        return operand

    def harmless(self, value: Any, s: ir.Assign, mask: Mask) -> Any:
        """A value that a rule uses, replaced where nothing is taken: there it may warn of what
        the primal never computes, a division by zero say."""
        if (
            s.function in TAME | QUIET
            or not isinstance(value, ir.Var)
            or not isinstance(value.kind, Array)
            or _shape(value) != _shape(s.target)
            or value.kind.dtype is None
            or value.kind.dtype.kind not in "fc"
        ):
            return value
        test, taken, _ = mask
        half = ir.Const(0.5)
        args = (test, value, half) if taken else (test, half, value)
        return self.emit(np.where, args, name=value.name)

    def unless_zero(self, contribution: Any, d_out: ir.Var) -> Any:
        """A contribution, where the adjoint that it is a multiple of isn't zero."""
        d = self.operand(contribution)
        if not isinstance(d, ir.Var) or not isinstance(d.kind, (Array, Scalar)):
            return contribution
        return self.emit(runtime.unless_zero, (d, d_out), inferred=Inferred(d.kind), name=d.name)

    def limited(self, d: Any, mask: Mask) -> Any:
        test, value, needed = mask
        if not needed:
            return d
        d = self.operand(d)
        args = (test, d, ir.Const(0.0)) if value else (test, ir.Const(0.0), d)
        result = self.emit(np.where, args)
        if isinstance(result.kind, Array) and result.kind.shape == ():
            return self.emit(operator.getitem, (result, ir.Pack(tuple, ())))
        return result


def singularity(s: ir.Assign) -> str:
    """Where a statement's derivative may be infinite, whatever the signs of its operands."""
    record = registry.lookup(s.function)
    if record is None or not record.singular:
        return ""
    second = s.args[1] if len(s.args) == 2 else None
    if s.function in QUOTIENTS:
        scalar = isinstance(second, ir.Var) and _shape(second) == ()  # zero for all or none
        return record.singular if isinstance(second, ir.Var) and not scalar else ""
    if s.function in POWERS and isinstance(s.target.kind, Array) and _shape(s.args[0]) == ():
        return ""  # one number, and not each element's
    if isinstance(second, ir.Const) and isinstance(second.value, (int, float)):
        if s.function not in POWERS:
            return "" if second.value else record.singular
        return "" if second.value >= 1 else "root" if second.value > 0 else "pole"
    return record.singular


def is_bound(s: ir.Assign) -> bool:
    """Whether a statement gives the larger or smaller of numbers, or of arrays by element."""
    record = registry.lookup(s.function)
    if record is None or record.chooses != "position":
        return record is not None and record.chooses == "bound"
    return all(_shape(v) == () for v in (s.target, *ir.uses(s)))


def _hands_on(s: ir.Assign) -> bool:
    """Whether the elements of the result are made of those of the operands, or sums of them."""
    return s.function in HANDING | SUMS or is_bound(s) or is_elementwise(s.function)


def _takes_slice(s: ir.Assign) -> bool:
    """Whether a statement takes a slice of a list."""
    if s.function is not operator.getitem or not isinstance(
        getattr(s.args[0], "kind", None), ListOf
    ):
        return False
    return isinstance(s.args[1], ir.Pack) and s.args[1].type is slice


def _singular_operand(s: ir.Assign) -> ir.Operand:
    """The operand at a value of which a statement's derivative is infinite."""
    return s.args[1] if s.function in QUOTIENTS else s.args[0]


def _shape(operand: ir.Operand) -> Any:
    kind = operand.kind if isinstance(operand, ir.Var) else None
    return kind.shape if isinstance(kind, (Array, Scalar)) else None


def _scales(s: ir.Assign) -> bool:
    """Whether a statement multiplies something by a finite constant, or divides it by one."""
    by = s.args if s.function in (operator.mul, np.multiply) else s.args[1:]
    numbers = [np.asarray(a.value) for a in by if isinstance(a, ir.Const)]
    if not numbers or numbers[0].dtype.kind not in "biufc" or not np.isfinite(numbers[0]).all():
        return False
    if s.function in (operator.truediv, np.divide):
        return bool(numbers[0].all())
    return s.function in (operator.mul, np.multiply)


def _asks(s: ir.Assign) -> bool:
    """Whether a statement asks whether something is a number: `x != x` does, too."""
    itself = s.function in (operator.eq, operator.ne) and s.args[0] is s.args[1]
    return s.function in ASKING or itself


def _is_no_number(operand: ir.Operand) -> bool:
    """Whether a constant is nan or infinite, or among the items of what is displayed."""
    if isinstance(operand, ir.Pack):
        return any(map(_is_no_number, operand.items))
    value = operand.value if isinstance(operand, ir.Const) else None
    return isinstance(value, (float, np.floating)) and not np.isfinite(value)


def _blocks(block: ir.Block) -> list[ir.Block]:
    found = [block]
    for s in ir.walk(block):
        found += ir.blocks(s)
    return found


def yielded(adjoint: Any, by: dict[ir.Var, ir.Operand]) -> Any:
    """An adjoint in a branch, of which the target of the `if` is what the branch yields."""
    if isinstance(adjoint, Tuple):  # of a primitive that returns several
        return replace(adjoint, items=tuple(yielded(item, by) for item in adjoint.items))
    return by.get(adjoint, adjoint) if isinstance(adjoint, ir.Var) else adjoint
