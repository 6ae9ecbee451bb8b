"""Emitting a primitive: the kind of its result, and what must be known of its operands.

The abstract state (`values.State`) says what every name holds.
"""

from __future__ import annotations

import itertools
import operator
from dataclasses import replace
from typing import Any

from .. import ir
from ..analysis.alternatives import with_others
from ..analysis.inference import Inferred, LengthsNeeded, infer
from ..errors import Boxed, UnsupportedError
from ..kinds import (
    BOOL,
    NOTHING,
    SHAPE,
    UNKNOWN,
    Array,
    Kind,
    ListOf,
    Opaque,
    Scalar,
    Size,
)
from ..packages import told
from ..rules import registry
from .absences import check_given
from .choices import Choices
from .naming import temporary_name
from .predicates import SIMPLE, is_object
from .restarts import Empty, NeedStatic, Raised
from .structure import (
    Poison,
)
from .values import (
    Choice,
    ListObject,
    Path,
    Ref,
    Slice,
    Tuple,
)
from .wording import described

_numbers = itertools.count(1)  # of frames and objects


class Emission(Choices):
    """Emits IR into `self.block` under the abstract state `self.state`."""

    def unique(self) -> int:
        return next(_numbers)

    def refuse(self, message: str, advice: str | None = None) -> UnsupportedError:
        return UnsupportedError(message, self.span, advice)

    def fault(
        self,
        exception: type[BaseException],
        message: str,
        advice: str | None = None,
        given: tuple[Any, ...] | None = None,
    ) -> Raised:
        """What the program surely does wrong here, which a try may catch.

        `given` is what Python gives the exception, where that is known.
        """
        error = Raised(message, self.span, advice, exception, given)
        error.block = self.block
        return error

    def unknown_object(self, kind: Kind, message: str) -> Boxed:
        """What is asked of what may be an item of an array of objects, and anything."""
        if is_object(kind):
            message = "what an array of objects holds isn't known when compiling"
        return Boxed(message, self.span, "keep it in a list" if is_object(kind) else None)

    def fault_of_none(self, exception: type[BaseException], message: str) -> Raised:
        """What is wrong with None: in a loop, it may be something else in a later iteration."""
        error = self.fault(exception, f"'NoneType' object {message}")
        error.late = True
        return error

    def note_unbound(self, error: UnsupportedError) -> None:
        """Note what has no value in this round: it is refused if it has none in the last."""
        plain = UnsupportedError(error.message, error.span, error.advice)  # nothing that is caught
        self.unbound = self.unbound or plain

    def raised_by_python(self, error: BaseException) -> Raised:
        """What the program surely does wrong here: Python raised this when it was tried."""
        return self.fault(type(error), str(error), given=error.args)

    def missing(self, key: Any, message: str) -> Raised:
        """What is raised where there is no such key."""
        return self.fault(KeyError, message, given=(key,) if isinstance(key, SIMPLE) else None)

    def empty(
        self,
        exception: type[BaseException],
        message: str,
        given: tuple[Any, ...] | None = None,
    ) -> Exception:
        """What to raise where there is nothing in a container, not what is looked for, or but None.

        A later iteration or call may find something in it, and a branch needn't be taken.
        """
        again = self.loop_depth or self.fork_depth or self.making
        fault = self.fault(exception, message, given=given)
        return Empty(fault) if again else fault

    def emit(
        self,
        function: Any,
        args: tuple[ir.Operand, ...],
        kwargs: dict[str, ir.Operand] | None = None,
        name: str = "",
        inferred: Inferred | None = None,
        effect: bool = False,
        writes: tuple[ir.Var, ...] = (),
    ) -> ir.Var:
        """Append `target = function(*args, **kwargs)` and return the target."""
        kwargs = kwargs or {}
        if not registry.hashable(function):  # a foreign function, which passes would look up
            function, args = operator.call, (ir.Const(function), *args)
        self.emitted += 1
        self.check_length(self.emitted)
        self.check_references(function, args, kwargs)
        if self.flats:
            args = self.flats_anew(function, args, kwargs)
        self.note_writes(function, writes)
        if inferred is None:
            check_given(self, function, args, kwargs)
            special = registry.kinds.get(function)
            try:
                found = special(args, kwargs) if special else None
            except (ArithmeticError, LookupError, TypeError, ValueError):
                found = None  # of arguments that the call itself may not take: try it
            if isinstance(found, LengthsNeeded):
                self.need_lengths(found, function)
            inferred = found if isinstance(found, Inferred) else None
            if inferred is None:
                self.need_constants(kwargs)
                inferred = self.result_of(function, args, kwargs)
                if inferred.kind is UNKNOWN:
                    self.need_given(args, kwargs)
                    self.need_known_ints(args, kwargs)
        if isinstance(inferred.kind, (Array, Scalar)) and inferred.kind.dtype is not None:
            if inferred.kind.dtype.names is not None:
                raise self.refuse(
                    "a structured array has no derivative", "use an array for each field"
                )
        target = ir.Var(temporary_name(function, args, name, inferred.kind), inferred.kind)
        scalar = isinstance(inferred.kind, Scalar) and inferred.kind.dtype.kind in "iub"
        # of an int, of a string made of one, or of a list
        rankless = isinstance(inferred.kind, Array) and inferred.kind.shape is None
        if scalar or isinstance(inferred.kind, (Opaque, ListOf)) or rankless:
            origins: frozenset[Any] = frozenset()
            for operand in (*args, *kwargs.values()):
                for v in ir.variables(operand):
                    origins |= v.origins
                    if rankless:  # its rank may be known if the shapes are
                        origins |= self.origins_of_shape(v)
            size = getattr(inferred.kind, "size", None)
            if isinstance(size, Size) and size.base in self.size_origins:
                origins |= self.size_origins[size.base]
            target.origins = origins
        elif isinstance(inferred.kind, Array):
            self.follow_sizes(inferred.kind, (*args, *kwargs.values()))
        if function is len or (
            function is operator.getitem and getattr(args[0], "kind", None) == SHAPE
        ):
            self.not_negative.add(target)
        self.note_views(target, inferred.views)
        self.block.statements.append(
            ir.Assign(
                target,
                function,
                args,
                tuple(kwargs.items()),
                self.span,
                inferred.views,
                inferred.certain,
                writes,
                effect,
            )
        )
        return target

    def class_test(self, operand: ir.Operand, classes: Any) -> ir.Var:
        """`isinstance(operand, classes)`, which only the run tells."""
        return self.emit(isinstance, (operand, ir.Const(classes)), inferred=Inferred(BOOL))

    def result_of(
        self, function: Any, args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]
    ) -> Inferred:
        """The kind of a result, where it is known of the lists given how many items they have."""
        used = ir.variables_of((*args, *kwargs.values()))
        lists = {v: v.kind for v in used if isinstance(v.kind, ListOf)}
        counted = {
            thing.var: ir.Var(thing.var.name, replace(lists[thing.var], length=thing.count))
            for thing in (self.state.heap.values() if lists else ())
            if isinstance(thing, ListObject) and thing.var in lists and thing.count is not None
        }  # fmt: skip
        if not counted:
            return infer(function, args, kwargs)
        return with_others(infer, function, args, kwargs, counted)  # type: ignore[no-any-return]

    def modify(self, function: Any, into: ir.Var, *operands: ir.Operand) -> None:
        """Append a call that is made for what it does to its first operand."""
        silent = Inferred(Opaque(None))
        self.emit(function, (into, *operands), inferred=silent, writes=(into,))

    def act(self, function: Any, *operands: ir.Operand) -> None:
        """Append a call that is made for what else it does than to return a result."""
        self.emit(function, operands, name="_", inferred=Inferred(Opaque(None)), effect=True)

    def follow_sizes(self, kind: Array, operands: tuple[ir.Operand, ...]) -> None:
        """Note from which arguments the new dimensions of a result follow."""
        known = self.size_origins
        new = [n for n in kind.shape or () if isinstance(n, Size) and n.base not in known]
        if not new:
            return
        found: frozenset[Any] = frozenset()
        for operand in operands:
            for v in ir.variables(operand):
                found |= v.origins | self.origins_of_shape(v)
        if found:
            for n in new:
                known[n.base] = found

    def origins_of_shape(self, v: ir.Var) -> frozenset[Any]:
        """The arguments from which the unknown dimensions of an array follow."""
        shape = v.kind.shape or () if isinstance(v.kind, Array) else ()
        sizes = [n.base for n in shape if isinstance(n, Size)]
        return frozenset().union(*(self.size_origins.get(n, frozenset()) for n in sizes))

    def need_lengths(self, needed: LengthsNeeded, function: Any) -> None:
        """Ask for lengths that follow from those of arguments."""
        known = (self.size_origins.get(n.base, frozenset()) for n in needed.lengths)
        origins: frozenset[Any] = frozenset().union(*known)
        if origins:
            name = told(function, "__name__", "this call")
            message = f"the lengths that {name} depends on must be known when compiling"
            raise NeedStatic(origins, message, self.span)

    def need_given(self, args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> None:
        """Nothing is known of a result for which a list has but None yet."""
        for operand in (*args, *kwargs.values()):
            if any(v.kind == NOTHING and v.optional for v in ir.variables(operand)):
                raise self.empty(TypeError, "this item of a list is None")

    def need_known_ints(self, args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> None:
        """The kind of a result may follow from the value of an int: ask for it.

        Not where it follows from an object of which nothing is known.
        """
        if not self.asks:
            return
        found = [v for operand in (*args, *kwargs.values()) for v in ir.variables(operand)]
        if not any(isinstance(v.kind, Opaque) or v.kind is UNKNOWN for v in found):
            for v in found:
                wanted = {o for o in v.origins if type(o) is not object or o in self.unrollable}
                if wanted and isinstance(v.kind, Scalar) and v.kind.dtype.kind in "iu":
                    self.asked.add(v.name)
                    raise NeedStatic(v.origins, f"{v.name} must be known when compiling", self.span)

    def need_constants(self, kwargs: dict[str, ir.Operand]) -> None:
        """Ask for the value of an int on which the rank of the result may depend."""
        for name in ("axis", "axes", "ord", "ndmin", "axis1", "axis2"):
            operand = kwargs.get(name)
            if operand is None:
                continue
            for v in ir.variables(operand):
                if v.origins:
                    raise NeedStatic(v.origins, f"{name} must be known when compiling", self.span)

    def deciding(self, test: ir.Operand) -> frozenset[Any]:
        """What would tell which branch is taken if it were known: arguments, and loops unrolled."""
        found = frozenset(o for v in ir.variables(test) for o in v.origins)
        return frozenset(o for o in found if isinstance(o, (tuple, Path))) - self.known_sites

    def operand(self, value: Any) -> ir.Operand:
        """The IR operand that holds an abstract value."""
        match value:
            case ir.Var() | ir.Const() | ir.Pack():
                return value
            case Tuple():
                if value.whole is not None:
                    return value.whole
                return ir.Pack(tuple, tuple(map(self.operand, value.items)))
            case Slice():
                parts = (value.start, value.stop, value.step)
                return ir.Pack(slice, tuple(self.operand(part) for part in parts))
            case Ref():
                thing = self.state.heap[value.id]
                if isinstance(thing, ListObject):
                    if thing.var is not None:
                        return thing.var
                    return ir.Pack(list, tuple(self.operand(item) for item in thing.items))
        if isinstance(value, Poison):
            return self.operand(self.known("this", value))
        message = f"{described(value)} can't be passed to a function that srcgrad doesn't look into"
        if isinstance(value, Choice):
            self.need_static(value.index, message)
        raise self.refuse(message)
