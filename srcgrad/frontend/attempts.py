"""`try`, `raise` and `finally`.

What surely fails when compiling goes on in the handler. What may fail at run time, and can be asked
beforehand whether it does (np.linalg's functions, math's, a division; where a ValueError is caught,
arrays whose shapes may not go together; what fails of all samples), becomes a branch that raises;
how what is raised on one path finds its handler is told in `paths`. Whatever else fails at run time
raises its exception from the generated code, and isn't handled there; it is kept even where nothing
depends on its result.
"""

from __future__ import annotations

import builtins
import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np
from numpy.linalg import LinAlgError

from .. import ir, runtime
from ..analysis.aliasing import is_slice
from ..analysis.elementwise import number_kind
from ..analysis.inference import Inferred, fits, mistaken
from ..kinds import BOOL, SHAPE, Array, ListOf, Opaque, Places, Scalar
from ..packages import told
from ..rules import registry
from .calls import Calls
from .choices import options
from .names import own_nodes
from .operators import INPLACE
from .predicates import FALSE, NONE, is_none, is_number
from .primitives import RULES
from .purity import has_effect
from .structure import constant, nothing
from .values import EVERYTHING, Choice, Instance, Trying, Value

ARITHMETIC = frozenset(
    {
        operator.add,
        operator.sub,
        operator.mul,
        operator.truediv,
        operator.pow,
        operator.floordiv,
        operator.mod,
    }
)
ORDERINGS = {operator.lt, operator.le, operator.gt, operator.ge}
# What raises a TypeError of operands that it isn't defined for
TYPED = ARITHMETIC | ORDERINGS | {
    operator.matmul, operator.neg, operator.pos, operator.invert, operator.lshift, operator.rshift,
    operator.and_, operator.or_, operator.xor, operator.index, abs, round, complex, divmod,
    *(function for function in vars(math).values() if callable(function)),
}  # fmt: skip
EXTREMES = frozenset({np.max, np.min, np.argmax, np.argmin, np.ptp, np.nanargmax, np.nanargmin})
REDUCTIONS = frozenset({np.sum, np.prod, np.mean})
DIVISIONS = frozenset({operator.truediv, operator.floordiv, operator.mod, operator.pow})
# Of the functions of math: what takes any number, and what never grows too large
GROWING = frozenset({"exp", "exp2", "expm1", "cosh", "sinh", "ldexp"})
MILD = frozenset("sqrt log log2 log10 log1p sin cos tan asin acos atanh fmod remainder".split())
LEAVING = gast.Return, gast.Break, gast.Continue, gast.Raise, gast.Assert  # a `finally`


class Attempts(Calls):
    """Lowers `try`, `raise` and the tests on which they depend."""

    def if_statement(self, node: gast.If, rest: list[Any]) -> bool:
        """Lower an `if`; whether the statements after it, `rest`, were lowered in a branch."""
        test = self.tested(node.test)
        if isinstance(test, ir.Const):
            self.run(node.body if test.value else node.orelse)
            return False
        return self.branch(
            test,
            lambda: self.run(node.body),
            lambda: self.run(node.orelse),
            (lambda: self.run(rest)) if rest else None,
        )

    # Raising

    def statement_Raise(self, node: Any) -> None:
        if node.exc is None:
            if self.handling is None:
                raise self.refuse("there is no exception here that a bare raise could raise again")
            self.throw(self.handling)
            return
        exception: Value
        made = self.expression(node.exc.func) if isinstance(node.exc, gast.Call) else None
        if self.unsupported(node.exc, made):
            raise self.refuse(str(self.key(self.expression(node.exc.args[0]))))
        if is_exception(made) and self.catcher(made.value) is None:  # type: ignore[union-attr]
            given = self.told(lambda: self.given(node.exc))
            exception = self.exception_at_run_time(made.value, *given)  # type: ignore[union-attr]
        elif made is not None:
            exception = self.call(made, *self.given(node.exc))
        else:
            exception = self.expression(node.exc)
        if node.cause is not None:
            self.expression(node.cause)
        if isinstance(exception, Choice) and not all(map(self.is_exception, exception.options)):
            self.for_each(exception, self.raised)
        else:
            self.throw(self.exception_made(exception))

    def is_exception(self, value: Value) -> bool:
        return issubclass(self.exception_class(value), BaseException)

    def raised(self, value: Value) -> Value:
        """`raise value`, where others that a choice may be are no exceptions."""
        self.throw(self.exception_made(value))
        return NONE

    def exception_made(self, value: Value) -> Value:
        """What `raise value` raises."""
        if isinstance(value, Choice):
            return value
        kind = value.kind if isinstance(value, ir.Var) else None
        if self.trying is not None and isinstance(kind, Opaque) and kind.type is None:
            raise self.refuse(
                "the class of this exception isn't known when compiling, and a try is around it",
                "choose by if and elif what is raised",
            )
        cls = self.exception_class(value)
        if not self.is_exception(value):
            raise self.fault(TypeError, "exceptions must derive from BaseException")
        if isinstance(value, ir.Const) and isinstance(value.value, type):
            return self.construct(cls, [], {})
        return value

    def unsupported(self, node: Any, made: Value | None) -> bool:
        """Whether a rule says with this exception that it doesn't support its arguments."""
        if getattr(made, "value", None) is not NotImplementedError or not node.args:
            return False
        module = self.frames[self.current].namespace.globals.get("__name__")
        uncaught = self.fixed_span and self.catcher(NotImplementedError) is None
        return uncaught or str(module).startswith(RULES)

    def insist(
        self,
        test: Value,
        exception: type[BaseException],
        message: str,
        given: tuple[Any, ...] | None = None,
    ) -> None:
        """Raise an exception unless `test` holds; Python gives it `given`, else the message."""
        if not isinstance(test, ir.Const):
            made: list[Value] = [ir.Const(v) for v in ((message,) if given is None else given)]
            fail = functools.partial(self.throw_new, exception, made)
            self.branch(self.operand(test), nothing, fail)
        elif not test.value:
            raise self.empty(exception, message, given)

    def throw_new(self, exception: type[BaseException], args: list[Value]) -> None:
        self.throw(self.construct(exception, args, {}))

    def guard(
        self, function: Any, operands: tuple[ir.Operand, ...], named: dict[str, ir.Operand]
    ) -> None:
        """Inside a try: find out first whether a call fails."""
        found: dict[Any, list[type[BaseException]]] = {}
        expected: tuple[type[BaseException], ...] = fallible(function, operands)
        if expected and not named and FloatingPointError not in expected:
            self.fail_as_known(function, operands)
        if function in TYPED or isinstance(function, np.ufunc):
            error = None if self.catcher(TypeError) is None else mistaken(function, operands, named)
            if error is not None and any(map(is_mixed, operands)):
                raise self.refuse("whether this number is an int depends on the run")
            if error is not None:
                raise self.fault(TypeError, str(error))
        if LinAlgError in expected and lacks_axes(operands) and self.catcher(LinAlgError):
            error = mistaken(function, operands, named, LinAlgError)
            if error is not None:
                raise self.fault(LinAlgError, str(error))
        if self.may_not_fit(function, operands, named):
            expected = (*expected, ValueError)
        expected = (*self.doubts(function, operands, named), *expected)
        for exception in expected:
            trying = self.catcher(exception)
            if trying is not None and self.is_worth_asking(exception, trying):
                named_there = next(c for c in trying.caught if issubclass(exception, c))
                found.setdefault((trying, named_there), []).append(exception)
        for exceptions in found.values():
            self.ask_if_it_fails(tuple(exceptions), function, operands, named)

    def ask_if_it_fails(
        self,
        exceptions: tuple[type[BaseException], ...],
        function: Any,
        operands: tuple[ir.Operand, ...],
        named: dict[str, ir.Operand],
    ) -> None:
        """Raise what a call raises, if it is one of these, before it is made."""
        asked = (ir.Pack(tuple, tuple(map(ir.Const, exceptions))), ir.Const(function), *operands)
        failed = self.emit(runtime.fails, asked, named, inferred=Inferred(BOOL), name="failed")

        def fail() -> None:
            kind = Inferred(Opaque(None if exceptions[1:] else exceptions[0]))
            error = self.emit(runtime.failure, asked, named, inferred=kind, name="error")
            self.throw_one_of(exceptions, error)

        self.branch(failed, fail, nothing)

    def throw_one_of(self, exceptions: tuple[type[BaseException], ...], error: ir.Var) -> None:
        """Raise what a call was found to raise, one of these: they may go on in other handlers."""
        cls, *others = exceptions
        raised = Instance(cls, {"%error": error})
        if not others:
            self.throw(self.new(raised))
            return
        test = self.class_test(error, cls)
        self.branch(
            test,
            lambda: self.throw(self.new(raised)),
            lambda: self.throw_one_of(tuple(others), error),
        )

    def fail_as_known(self, function: Any, operands: tuple[ir.Operand, ...]) -> None:
        """Raise what a call of known values raises, as of `int("n/a")` or `math.exp(None)`."""
        known = [constant(operand) for operand in operands]
        if all(is_known for is_known, _ in known):
            try:
                function(*(value for _, value in known))
            except Exception as error:
                raised = self.raised_by_python(error)
                raised.late |= any(value is None for _, value in known)  # it may be set elsewhere
                raise raised from None

    def guard_written(self, array: ir.Var) -> None:
        """Where a try catches a TypeError, find out first if this is a number, without items."""
        if may_be_either(array) and self.catcher(TypeError) is not None:
            whole = self.class_test(array, np.ndarray)
            self.insist(whole, TypeError, "a number doesn't support item assignment")

    def guard_store(self, array: ir.Var, index: ir.Operand, value: ir.Operand) -> None:
        """Where a try catches a ValueError, find out first if what is stored has another shape."""
        trying = self.catcher(ValueError)
        operands = (array, index, value)
        if trying is None or is_number(value):
            return
        if fits(runtime.stored, operands, {}) and not any(map(may_be_either, operands)):
            return
        self.ask_if_it_fails((ValueError,), runtime.stored, operands, {})

    def guard_augmented(self, function: Any, array: ir.Var, value: ir.Operand) -> None:
        """Inside a try: find out first if `array op= value` fails, for a shape or dtype, too."""
        self.guard(function, (array, value), {})
        expected = [e for e in (ValueError, TypeError) if self.catcher(e) is not None]
        whole = (array, ir.Const(Ellipsis), value)
        if is_number(value) or fits(runtime.stored, whole, {}):
            expected = [e for e in expected if e is TypeError and not is_of_floats(array, value)]
        operands = (ir.Const(INPLACE[function]), array, value)
        for exception in expected:
            self.ask_if_it_fails((exception,), runtime.augmented, operands, {})

    def doubts(
        self, function: Any, operands: tuple[ir.Operand, ...], named: dict[str, ir.Operand]
    ) -> tuple[type[Exception], ...]:
        """What a call raises of all samples of its operands, and may well raise in the run."""
        error = None if changes(function) else mistaken(function, operands, named, Exception)
        return () if error is None else (type(error),)

    def may_not_fit(
        self, function: Any, operands: tuple[ir.Operand, ...], named: dict[str, ir.Operand]
    ) -> bool:
        """Whether a call may raise for the shapes of its arrays what a try expects."""
        if self.catcher(ValueError) is None or function is operator.getitem or changes(function):
            return False
        if not any(isinstance(v.kind, Array) for o in operands for v in ir.variables(o)):
            return False
        either = any(may_be_either(v) for o in operands for v in ir.variables(o))
        return either or not fits(function, operands, named)

    def is_worth_asking(self, exception: type[BaseException], trying: Trying) -> bool:
        """Whether to ask beforehand if something fails: of what is rare, where it is expected."""
        if issubclass(exception, FloatingPointError):
            return any(issubclass(cls, ArithmeticError) for cls in trying.caught)
        return True

    # Trying

    def statement_Try(self, node: Any) -> None:
        handlers = list(node.handlers)
        while handlers and passes_on(handlers[-1]):
            handlers.pop()

        def run() -> None:
            if handlers:
                self.run_guarded(node, handlers)
            else:
                self.run([*node.body, *node.orelse])

        if node.finalbody:
            leaves = any(isinstance(n, LEAVING) for n in own_nodes(node.finalbody))
            caught = EVERYTHING if leaves else ()
            self.finishing(run, lambda error: self.run_finally(node.finalbody), caught)
        else:
            run()

    def finishing(
        self,
        run: Callable[[], None],
        finish: Callable[[Value | None], Value],
        caught: tuple[type[BaseException], ...],
    ) -> None:
        """Run, and then what must run however that ended.

        `finish` is given what was raised, or None. It returns whether that ends the exception, and
        may do that to those that are `caught` only.
        """

        def handle(error: Value) -> None:
            ends = finish(error)
            if self.state.unreachable:
                return
            self.decided(ends, lambda: self.note_ended(error), lambda: self.throw(error))

        self.attempt(caught, run, handle, lambda: self.discarded(finish(None)))

    def run_finally(self, statements: list[Any]) -> Value:
        """Run the statements of a `finally`; whether it leaves, which ends an exception."""
        frame = self.state.frames[self.current]
        names = ("%stop", "%break", "%returned", "%return")
        saved = {name: frame[name] for name in names if name in frame}
        for name in names[:3]:
            frame[name] = FALSE
        if "%return" in frame:
            frame["%return"] = ir.UNDEFINED
        self.run(statements)
        if self.state.unreachable:
            return FALSE
        frame = self.state.frames[self.current]
        stopped = frame.get("%stop", FALSE)
        if isinstance(stopped, ir.Const) and stopped.value:
            return stopped

        def go_on() -> None:
            frame = self.state.frames[self.current]
            for name in names:
                if name in saved:
                    frame[name] = saved[name]
                elif isinstance(stopped, ir.Const):
                    frame.pop(name, None)
                else:
                    frame[name] = ir.UNDEFINED if name == "%return" else FALSE

        if isinstance(stopped, ir.Const):
            go_on()
        else:
            self.branch(self.operand(stopped), nothing, go_on)
        return stopped

    def run_guarded(self, node: Any, given: list[Any]) -> None:
        """A try with handlers."""
        handlers: list[tuple[tuple[type[BaseException], ...], Any]] = []
        for handler in given:
            kinds: Any = BaseException
            if handler.type is not None:
                kinds = self.key(self.expression(handler.type))
            handlers.append((kinds if isinstance(kinds, tuple) else (kinds,), handler))
        caught = tuple(cls for kinds, _ in handlers for cls in kinds)

        def dispatch(position: int, error: Value) -> None:
            if position == len(handlers):
                self.throw(error)
                return
            kinds, handler = handlers[position]
            found: list[int] = []
            others: list[int] = []
            for i, option in enumerate(options(error)):
                if not is_none(option):
                    matches = issubclass(self.exception_class(option), kinds)
                    (found if matches else others).append(i)
            if not found:
                dispatch(position + 1, error)
            elif not others:
                self.run_handler(handler, error)
            else:
                assert isinstance(error, Choice)
                choice = error
                self.branch(
                    self.operand(self.which(choice, found)),
                    lambda: self.run_handler(handler, self.among(choice, found)),
                    lambda: dispatch(position + 1, self.among(choice, others)),
                )

        self.attempt(
            caught,
            lambda: self.run(node.body),
            lambda error: dispatch(0, error),
            lambda: self.run(node.orelse),
        )

    def run_handler(self, handler: Any, error: Value) -> None:
        name = handler.name.id if isinstance(handler.name, gast.Name) else handler.name
        outer, self.handling = self.handling, error
        self.note_ended(error)
        try:
            if name is not None:
                self.bind(name, error)
            self.run(handler.body)
        finally:
            self.handling = outer
        if name is not None and not self.state.unreachable:
            self.leave_unbound(name)


def passes_on(handler: Any) -> bool:
    """Whether a handler only raises again what it has caught: then nobody need ask what fails.

    >>> tree = gast.parse("try: f()\\nexcept ValueError as e: raise e from None")
    >>> passes_on(tree.body[0].handlers[0])
    True
    """
    raising = handler.body[0]
    if len(handler.body) > 1 or not isinstance(raising, gast.Raise):
        return False
    again = isinstance(raising.exc, gast.Name) and handler.name is not None
    return raising.exc is None or (again and raising.exc.id == handler.name.id)


def lacks_axes(operands: tuple[ir.Operand, ...]) -> bool:
    """Whether the first operand is no matrix: then numpy.linalg fails whatever its numbers are."""
    shape = getattr(getattr(operands[0], "kind", None), "shape", None) if operands else None
    return shape is not None and len(shape) < 2


def changes(function: Any) -> bool:
    """Whether a call does something, so that it isn't to be asked beforehand if it fails."""
    record = registry.lookup(function)
    changing = function in registry.inplace_rules or (record is not None and record.mutates)
    return bool(changing) or has_effect(function)


def is_exception(value: Value | None) -> bool:
    """Whether a value is a class of exceptions."""
    cls = value.value if isinstance(value, ir.Const) else None
    return isinstance(cls, type) and issubclass(cls, BaseException)


def fallible(function: Any, operands: tuple[ir.Operand, ...]) -> tuple[type[BaseException], ...]:
    """The exceptions that a function may raise, of those that it can be asked about beforehand."""
    module = told(function, "__module__") or ""
    if module.startswith("numpy.linalg") and function is not np.linalg.norm:
        return (LinAlgError,)
    if module.startswith("scipy.linalg"):
        return (LinAlgError, ValueError)  # of nan and inf
    name = told(function, "__name__", "")
    if getattr(math, name, None) is function:
        domain = () if name in GROWING else (ValueError,)
        large = () if name in MILD else (OverflowError,)
        items = (TypeError,) if any(map(may_have_items, operands)) else ()
        return (*domain, *large, *items)
    if function in DIVISIONS and all(map(may_be_python_number, operands)):
        return (ZeroDivisionError, *((OverflowError,) if function is operator.pow else ()))
    kind: Any = getattr(operands[0], "kind", None) if operands else None
    if function in EXTREMES and isinstance(kind, ListOf):
        return (ValueError,)
    if function in EXTREMES and 0 not in (getattr(kind, "shape", None) or (0,)):
        return () if all(isinstance(n, int) for n in kind.shape) else (ValueError,)  # of no items
    if function in (builtins.all, builtins.any):
        return (ValueError, TypeError)  # of rows, and of what has no axis
    if function is builtins.bool and isinstance(kind, Array):
        return () if kind.shape == () else (ValueError,)  # of several items
    if function in ARITHMETIC or isinstance(function, np.ufunc) or function in REDUCTIONS:
        return (FloatingPointError,)  # under np.errstate
    if function is operator.getitem and isinstance(kind, Places):
        return (KeyError,)
    if function is operator.getitem and kind == SHAPE:
        return (IndexError,)
    if function is builtins.len:
        return (TypeError,)  # of a number
    if function is operator.getitem and isinstance(kind, (Array, Scalar)) and not kind.shape:
        return (IndexError, TypeError)  # of what may be a number, NumPy's or Python's
    if function in (str.index, str.rindex):
        return (ValueError,)
    if function is operator.getitem and isinstance(kind, (Array, ListOf)):
        return () if is_slice(operands[1]) else (IndexError,)
    if function in (builtins.int, builtins.float):
        whole = (ValueError, OverflowError)  # of nan and inf, and of an int that is too large
        if not (operands and is_real_number(operands[0])):
            return (*whole, TypeError)
        if kind.dtype.kind == "f":
            return whole if function is builtins.int else ()
        return () if function is builtins.int else (OverflowError,)
    return ()


def is_mixed(operand: ir.Operand) -> bool:
    """Whether an operand is a number of one dtype in some runs, and of another in others."""
    kind = getattr(operand, "kind", None)
    return isinstance(kind, Scalar) and bool(kind.mixed)


def is_real_number(operand: ir.Operand) -> bool:
    """Whether an operand is surely a real number, or an array without axes of one."""
    if not isinstance(operand, ir.Var) or operand.optional:
        return False
    kind: Any = operand.kind
    known = isinstance(kind, (Scalar, Array)) and kind.shape == () and kind.dtype is not None
    return known and kind.dtype.kind in "biuf"


def is_of_floats(array: ir.Var, value: ir.Operand) -> bool:
    """Whether the dtype of an array is surely one into which a value may be cast."""
    dtype = getattr(array.kind, "dtype", None)
    other = getattr(number_kind(value), "dtype", None)
    return dtype is not None and other is not None and np.can_cast(other, dtype, "same_kind")


def may_have_items(operand: ir.Operand) -> bool:
    kind = getattr(operand, "kind", None)
    return isinstance(kind, Array) and kind.shape != ()


def may_be_either(operand: ir.Operand) -> bool:
    """Whether only the run tells if an operand is a number or an array."""
    kind = getattr(operand, "kind", None)
    return isinstance(kind, Array) and kind.shape is None


def may_be_python_number(operand: ir.Operand) -> bool:
    if isinstance(operand, ir.Var):
        python = isinstance(operand.kind, Scalar) and operand.kind.python is not False
        return python or may_be_either(operand)
    return isinstance(operand, ir.Const) and isinstance(operand.value, (int, float, complex))
