"""Dispatch of calls: user functions are inlined, primitives emitted, classes constructed."""

from __future__ import annotations

import bisect
import builtins
import collections
import contextlib
import copy
import dataclasses
import functools
import inspect
import itertools
import operator
import re
import types
import typing
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import gast
import numpy as np

from .. import ir
from ..analysis.inference import infer
from ..kinds import Array, Kind, Opaque, Reference, Scalar, TupleOf
from ..packages import is_of_package, told
from ..rules import registry
from ..rules.library import remembered
from ..rules.registry import hashable
from ..rules.structured import column, surely_is
from ..signature import is_gradient
from . import operations, running, stepping
from .attributes import NAMEDTUPLE
from .boxes import boxed, equal, sorted_by
from .choices import is_function
from .classes import PROTOCOL, asked_methods, is_exception_init
from .columns import is_reference
from .comparisons import COMPARE
from .cursors import may_be_stepwise
from .dicts import KEYED, dict_methods
from .kept_results import Kept
from .links import other_length
from .names import calls_in
from .operators import BINARY, INPLACE
from .predicates import (
    NONE,
    array_kind,
    is_asked,
    is_none,
    is_number,
    is_range,
    is_static,
    is_written,
)
from .primitives import BY_DTYPE, RULES
from .refusals import name_of, naming, not_taken
from .slots import other_keys, varies
from .stepwise import ROWS
from .subclasses import CONTAINERS, made_init
from .values import (
    Bound,
    Choice,
    Closure,
    DictObject,
    Generator,
    InnerGradient,
    Instance,
    Journal,
    Manager,
    Partial,
    Path,
    Place,
    Ref,
    Sequence,
    Spread,
    Tuple,
    Value,
    as_value,
    births,
    layout,
)
from .wording import described

OPERATORS = frozenset(BINARY.values())
SINGLE = frozenset(map(np.dtype, ("f2", "f4", "c8")))
T = TypeVar("T")


# Functions of srcgrad's own that mean something where they are called in the code being lowered:
# each with what lowers its call. The modules that define them add them.
LOWERINGS: dict[Any, Callable[[Any, list[Value], dict[str, Value]], Value]] = {}


class Calls(Kept):
    """Evaluates calls."""

    def expression_Call(self, node: Any) -> Value:
        function = self.expression(node.func)
        if len(node.args) == 1 and isinstance(node.args[0], gast.Starred):
            if isinstance(function, ir.Const) and function.value is zip:
                rows = self.expression(node.args[0].value)
                named = self.given(gast.Call(node.func, [], node.keywords))[1]
                return self.columns(rows, named)
        if isinstance(function, ir.Const) and function.value is print:
            return self.call_given(function, self.told(lambda: self.evaluated(node)))
        return self.call_given(function, self.evaluated(node))

    def evaluated(self, node: gast.Call) -> list[tuple[str | None, Value]]:
        """The arguments of a call as they are written, with their names, "*" or "**"."""
        found: list[tuple[str | None, Value]] = []
        for i, argument in enumerate(node.args):
            if isinstance(argument, gast.Starred):
                value = self.expression(argument.value)
                if calls_in(node.args[i + 1 :]) and not isinstance(value, Choice):
                    value = self.builtin_tuple(value)  # before they change it
                found.append(("*", value))
            else:
                found.append((None, self.expression(argument)))
        for i, keyword in enumerate(node.keywords):
            value = self.expression(keyword.value)
            if keyword.arg is None and isinstance(self.on_heap(value), DictObject):
                if calls_in([k.value for k in node.keywords[i + 1 :]]):
                    value = self.builtin_copy(value)
            found.append((keyword.arg or "**", value))
        return found

    def call_given(self, function: Value, given: list[tuple[str | None, Value]]) -> Value:
        """The value of a call; where one of several is unpacked, there is a call for each."""
        chosen = [
            i for i, (name, value) in enumerate(given)
            if name in ("*", "**") and isinstance(value, Choice)
        ]  # fmt: skip
        if not chosen:
            return self.call(function, *self.passed(given))
        before, (name, value), after = given[: chosen[0]], given[chosen[0]], given[chosen[0] + 1 :]
        assert isinstance(value, Choice)
        return self.for_each(
            value, lambda o: self.call_given(function, [*before, (name, o), *after])
        )

    def passed(self, given: list[tuple[str | None, Value]]) -> tuple[list[Value], dict[str, Value]]:
        """Positional and named arguments, those that are unpacked one by one."""
        args: list[Value] = []
        kwargs: dict[str, Value] = {}
        positional = True
        for i, (name, value) in enumerate(given):
            if not positional and name in (None, "*"):
                continue
            if name is None:
                args.append(value)
            elif name == "*":
                items = self.items_or_list(value, "%arguments")
                if isinstance(items, list):
                    args.extend(items)
                else:  # nobody knows how many
                    args.append(self.spread_out([(name, items), *given[i + 1 :]]))
                    positional = False
            elif name == "**":
                named = self.builtin_dict(value) if self.has_keys(value) else value
                self.name_arguments(kwargs, self.dictionary(named).items)
            else:
                self.name_arguments(kwargs, {name: value})
        return args, kwargs

    def name_arguments(self, kwargs: dict[str, Value], more: dict[Any, Value]) -> None:
        """Add to the named arguments of a call, which has one of each name."""
        for name, value in more.items():
            if not isinstance(name, str):
                raise self.fault(TypeError, "keywords must be strings")
            if name in kwargs:
                message = f"the call got multiple values for keyword argument {name!r}"
                raise self.fault(TypeError, message)
            kwargs[name] = value

    def told(self, evaluate: Callable[[], T]) -> T:
        """What is evaluated to be told only: objects without a text of their own are named."""
        before, self.telling = self.telling, True
        try:
            return evaluate()
        finally:
            self.telling = before

    def given(self, node: gast.Call) -> tuple[list[Value], dict[str, Value]]:
        """The arguments that a call is given."""
        return self.passed(self.evaluated(node))

    def expression_Lambda(self, node: Any) -> Value:
        return self.closure(node, "<lambda>")

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """The value of `function(*args, **kwargs)`."""
        match function:
            case Bound():
                inner = self.known("this method", function.function)
                if isinstance(inner, ir.Const) and isinstance(inner.value, property):
                    # A protocol's method that a class computes: what it gets is called.
                    method = self.call(as_value(inner.value.fget), [function.receiver], {})
                    return self.call(method, args, kwargs)
                return self.call(inner, [function.receiver, *args], kwargs)
            case Partial():
                inner = self.known("this function", function.function)
                return self.call(inner, [*function.args, *args], {**function.kwargs, **kwargs})
            case Closure():
                return self.inline_closure(function, args, kwargs)
            case Choice():
                return self.for_each(function, lambda f: self.call(f, args, kwargs))
            case InnerGradient():
                return self.nested_gradient(function.gradient, args, kwargs, function.primal)
            case ir.Const(value=None):
                raise self.fault_of_none(TypeError, "is not callable")
            case ir.Const():
                if not callable(function.value):
                    name = type(function.value).__name__
                    error = self.fault(TypeError, f"{name!r} object is not callable")
                    error.late = True  # a flag that stands for a function: other paths call one
                    raise error
                return self.call_object(function.value, args, kwargs)
            case Ref():
                thing = self.state.heap[function.id]
                if isinstance(thing, Instance):
                    found = self.class_attribute(thing.type, "__call__")
                    if found is not None:
                        return self.call(Bound(found, function), args, kwargs)
                    raise self.fault(TypeError, f"{thing.type.__name__!r} object is not callable")
            case Tuple():
                found = self.added_attribute(function, function.type, "__call__")
                if found is not None:
                    return self.call(found, args, kwargs)
            case ir.Var() if isinstance(function.kind, Reference):
                lacking = "{} object is not callable"
                return self.by_class(function, "__call__", args, lacking, kwargs)
            case ir.Var() if isinstance(function.kind, Opaque):
                return self.call_with_copies(function, args, kwargs)
        if is_number(function) or array_kind(function) is not None:
            raise self.fault(TypeError, f"{described(function)} can't be called")
        raise self.refuse(f"{described(function)} can't be called")

    def as_precise(
        self, function: Any, args: list[Value], kwargs: dict[str, Value], found: Value
    ) -> Value:
        """What a definition makes of single precision, in the dtype in which the function does."""
        given = (*args, *kwargs.values())
        if not any(_precision(a) in SINGLE for a in given) or not all(
            isinstance(a, (ir.Var, ir.Const)) for a in given
        ):
            return found
        expected = infer(function, tuple(args), kwargs).kind  # type: ignore[arg-type]
        if not isinstance(found, Tuple):
            return self.in_dtype_of(found, expected)
        kinds = expected.items if isinstance(expected, TupleOf) else ()
        if len(kinds) != len(found.items):
            return found
        items = tuple(map(self.in_dtype_of, found.items, kinds))
        return found if items == found.items else replace(found, items=items, whole=None)

    def in_dtype_of(self, x: Value, kind: Kind) -> Value:
        """A number or array of floats in the precision of another one."""
        have, want = _precision(x), getattr(kind, "dtype", None)
        if have is None or want is None or have == want or have.kind != want.kind:
            return x
        if isinstance(x.kind, Scalar):  # type: ignore[union-attr]
            of_python = isinstance(kind, Scalar) and kind.python is True and want.kind == "f"
            return self.call_object(float if of_python else want.type, [x], {})
        return self.call_object(np.ndarray.astype, [x, ir.Const(want)], {})

    def call_object(self, function: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        registry.load()
        if args and isinstance(args[-1], Spread):
            return self.call_spread(function, args, kwargs)
        if any(isinstance(a, Journal) for a in args) and not is_users(function):
            return self.call_of_journal(function, args, kwargs)
        self.check_journal(function, args)
        chosen = self.chosen_argument(function, args, kwargs)
        if chosen is not None:
            return chosen
        if self.is_of_table(function, args):
            return self.call(self.attribute(args[0], function.__name__), args[1:], kwargs)
        if is_exception_init(function):
            return self.initialise_exception(args[0], args[1:])
        if isinstance(function, ALIASES):
            function = typing.get_origin(function)
        stepwise = self.made_stepwise(function, args, kwargs)
        if stepwise is not None:
            return stepwise
        special = self.special(function)
        if special is not None:
            several = len(args) > (2 if function is map else 1)  # which `zip` asks in turn
            if function in ITERATING and not (function in (min, max, map) and several):
                which = ITERATING[function]
                args = [*args]
                args[which] = map(self.lazily, args[which])
            result: Value | None = self.iterator(
                function, args, lambda: self.specially(function, special, args, kwargs)
            )
            if result is not None:
                return result
        taken_over = self.taken_over(function, args, kwargs)
        if taken_over is not None:
            return taken_over
        if hashable(function) and function in registry.of_fields:
            records = self.made_records(registry.of_fields[function], args, kwargs)
            if records is not None:
                return records
        if self.makes_objects(function, args, kwargs):
            return self.inline(registry.of_objects[function], args, kwargs)
        args = self.for_scipy(function, args)
        if hashable(function) and function in IN_PLACE and len(args) == 2:
            if function in EXTENDING and self.sequence_type(args[1]) is None:
                args = [args[0], self.call(ir.Const(list), args[1:], {})]
            return self.augmented(IN_PLACE[function], *args)
        if hashable(function) and function in LOWERINGS:
            return LOWERINGS[function](self, args, kwargs)
        if hashable(function) and function in DESCRIBING:
            description = self.computed(function, args, kwargs)
            if description is None and function is inspect.signature and len(args) == 1:
                description = self.signature(args[0])
            if description is not None:
                return description
        if args and is_of_text(function):
            known_text = self.computed(function, args, kwargs)
            if known_text is not None:
                return known_text
            if isinstance(function, types.FunctionType):
                return self.unknown_call(function, args, kwargs)
        if args:
            of_objects = self.of_objects(function, args)
            if of_objects is not None:
                return of_objects
        if hashable(function) and function in registry.methods:
            method, function = function, registry.methods[function]
            if args and self.is_optional(args[0]):  # which has no methods where it is None
                return self.of_given(args[0], lambda: self.call_object(method, args, kwargs))
        if hashable(function) and function in OPERATORS and len(args) == 2 and not kwargs:
            return self.binary(function, *args)
        if hashable(function):
            args, kwargs = self.writing(function, args, kwargs)
            args, kwargs = self.arguments(function, args, kwargs)
        if hashable(function) and function in registry.rereading:
            self.check_rereading(registry.rereading[function], args, kwargs)
        if hashable(function) and function in registry.definitions:
            return self.defined(function, registry.definitions[function], args, kwargs)
        record = registry.lookup(function)
        if record is not None and record.refused is not None and is_scipy_class(function):
            place = ".".join(registry.public_place(function) or (function.__name__,))
            raise self.refuse(
                f"{place} can't be differentiated: {record.refused}",
                "make it outside of the differentiated function if it is a constant",
            )
        if record is not None and is_users(function) and not is_srcgrads(function):
            self.check_unseen(function)
        if record is not None or (hashable(function) and function in registry.inplace_rules):
            return self.primitive(function, record, args, kwargs)
        if _is_of_rules(function) and function is not registry.unseen:
            known = self.computed(function, args, kwargs)
            if known is not None:
                return known
        if is_scipy(function):  # not written in what the compiler reads: a primitive, or refused
            if isinstance(function, type):
                return self.unknown_call(function, args, kwargs)
            return self.primitive(function, None, args, kwargs)
        of_library = self.library_call(function, args, kwargs)
        if of_library is not None:
            return of_library
        python = registry.python_of.get(type(function))
        if python is not None:
            return self.call_object(python(function), args, kwargs)
        calling = getattr(type(function), "__call__", None)  # noqa: B004
        if calling in LOWERINGS or registry.lookup(calling) or calling in registry.definitions:
            return self.call(Bound(Place(calling), self.receiver(function)), args, kwargs)
        match function:
            case functools.partial():
                bound = tuple(self.lift(a, None) for a in function.args)
                named = {k: self.lift(v, None) for k, v in function.keywords.items()}
                if named:  # a dict that may be written
                    held = Path("attribute", function, "keywords")
                    self.guards[Path("structure", held, "")] = layout(function.keywords)
                    self.guards.update(
                        {Path("item", held, k): v for k, v in function.keywords.items()}
                    )
                return self.call(Partial(Place(function.func), bound, named), args, kwargs)
            case types.FunctionType():
                if args and function.__code__ is _DISPATCHER:
                    return self.dispatched(function, args[0], args[1:], kwargs)
                manager = told(function, "__wrapped__")
                if manager is not None and function.__code__ is _MANAGER:
                    return self.manager(self.inline(manager, args, kwargs))
                if is_of_package(function):
                    return self.looked_into(self.inline, function, args, kwargs)
                return self.inline(function, args, kwargs)
            case types.MethodType():
                return self.call(
                    Bound(Place(function.__func__), self.receiver(function.__self__)), args, kwargs
                )
            case types.MethodWrapperType(__name__="__call__"):
                return self.call_object(function.__self__, args, kwargs)
            case types.MethodWrapperType(
                __name__="__get__", __self__=types.WrapperDescriptorType()
            ) if args:
                return Bound(Place(function.__self__), args[0])
            case types.BuiltinMethodType() if registry.member(
                type(function.__self__), function.__name__
            ):
                method = registry.member(type(function.__self__), function.__name__)
                receiver = self.receiver(function.__self__)
                return self.call(Bound(Place(method), receiver), args, kwargs)
            case type():
                if is_of_package(function):
                    return self.looked_into(self.construct, function, args, kwargs)
                return self.construct(function, args, kwargs)
            case functools._lru_cache_wrapper():
                return self.call_of_cached(function, args, kwargs)
        if is_gradient(function):
            return self.nested_gradient(function, args, kwargs)
        filed = registry.hashable(function) and is_numpy(function)
        if filed or isinstance(function, (np.ufunc, types.MethodDescriptorType)):
            return self.primitive(function, None, args, kwargs)
        if is_written_method(calling):
            owner = next(c for c in type(function).__mro__ if "__call__" in vars(c))
            if not is_static(owner.__module__) and not is_srcgrads(owner):
                self.guard_member(type(function), owner, "__call__")
            return self.call(Bound(Place(calling), self.receiver(function)), args, kwargs)
        return self.unknown_call(function, args, kwargs)

    def defined(
        self, function: Any, definition: Any, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        """The result of a call of a function that a definition does in simpler ones."""
        before, self.fixed_span = self.fixed_span, True
        try:
            for keyword, is_default in not_taken(function, definition, kwargs).items():
                if not is_default:
                    raise self.refuse(f"{name_of(function)} is differentiated without {keyword}=")
                kwargs = {k: v for k, v in kwargs.items() if k != keyword}
            inline = self.construct if isinstance(definition, type) else self.inline
            with contextlib.nullcontext() if before else naming(function):
                found: Value = self.iterator(
                    function, args, lambda: inline(definition, args, kwargs)
                )
            if isinstance(found, ir.Const) and isinstance(found.value, np.ndarray):
                return self.call_object(np.array, [found], {})  # the program may write it
            return found if before else self.as_precise(function, args, kwargs, found)
        finally:
            self.fixed_span = before

    def receiver(self, thing: Any) -> Value:
        """An object outside of which a method is called."""
        return self.outer(thing, None) or Place(thing)

    def chosen_argument(
        self, function: Any, args: list[Value], kwargs: dict[str, Value]
    ) -> Value | None:
        """A function, not a user's, of an object or None that the data choose; else None."""
        described = self.described(function, args, kwargs)
        if described is not None:
            return described
        made = isinstance(function, type) and self.special(function) is None
        number = made and issubclass(function, (int, float, complex, np.generic))
        if (made and not number) or isinstance(function, types.FunctionType):
            return None
        asking = hashable(function) and function in ASKING
        caught = self.catcher(TypeError) is not None and not asking
        holds = told(function, "__objclass__") in HOLDING  # what it is given, None or not
        # Of None, as the items do of which there are none then
        raises = told(function, "__module__") in ("builtins", "math") and function is not bool
        for place, choice in [*enumerate(args), *kwargs.items()]:
            hashed = place == 1 and hashable(function) and function in KEYED
            used = not asking and (place == 0 or hashed or not holds)
            if isinstance(choice, Tuple) and used and function in LAZY:
                self.check_given(choice)
            elif used and isinstance(choice, Tuple) and not (raises and not caught):
                choice = self.tuple_or_none(choice)
            elif caught and self.is_asked_for_none(choice):
                choice = self.or_none(choice)
            if isinstance(choice, Choice) and (asking or not any(map(is_function, choice.options))):

                def use(option: Value, place: Any = place) -> Value:
                    return self.call_with(function, args, kwargs, place, option)

                if function in LAZY and (found := self.of_lists(choice, use)) is not None:
                    return found
                answer = self.answered(choice, use) if asking else None
                return answer or self.for_each(choice, use)
        return None

    def call_with(
        self, function: Any, args: list[Value], kwargs: dict[str, Value], place: Any, value: Value
    ) -> Value:
        """A call with another value in the place of one argument: at a position, or of a name."""
        args = [value if i == place else a for i, a in enumerate(args)]
        kwargs = {k: value if k == place else a for k, a in kwargs.items()}
        return self.call_object(function, args, kwargs)

    def described(self, function: Any, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
        """What a function that describes arrays says of what may be None; else None."""
        if not hashable(function) or function not in registry.of_none or len(args) != 1:
            return None
        answer: Value = self.lift(registry.of_none[function], None)
        if is_none(args[0]) or self.in_place() or not self.may_be_none(args[0]):
            return answer if is_none(args[0]) else None
        test = self.identical(args[0], NONE)
        return self.either(test, lambda: answer, lambda: self.call_object(function, args, kwargs))

    def of_objects(self, function: Any, args: list[Value]) -> Value | None:
        """A function of containers, objects and functions that isn't called itself; else None."""
        first = args[0]
        if isinstance(first, Closure) and (function in DESCRIPTORS or _of_property(function)):
            return Place(function(*args))
        if any(map(is_reference, args)) and hashable(function):
            if function in (bool, operator.truth) and len(args) == 1:
                return self.boolean(first)
            if function is operator.not_ and len(args) == 1:
                return self.negated(first)
            if function in _COMPARE and len(args) == 2:
                return self.compare(_COMPARE[function](), *args)
        if is_asked(first) and hashable(function) and function in PROTOCOL and len(args) == 1:
            if function is bool:
                return self.boolean(first)
            for name in asked_methods(function):
                if is_written(first, name):
                    answer = self.call(self.attribute(first, name), [], {})
                    return self.conversion(function, name, answer)
        if not isinstance(first, (Ref, Tuple)) and not (
            len(args) == 2 and isinstance(args[1], (Ref, Tuple))
        ):
            return None
        if hashable(function) and function in UNBOUND and self.instance(first) is None:
            return self.call_object(UNBOUND[function], args, {})
        if hashable(function) and function in PROTOCOL:
            found = self.protocol(function, first)
            if found is not None or isinstance(first, Ref):
                return found
        if len(args) == 2 and hashable(function):
            if function in _COMPARE:
                return self.compare(_COMPARE[function](), *args)
            if function is operator.getitem:
                return self.subscript(*args)
            if function is operator.contains:
                return self.contains(*args)
        return None

    def builtin_contextmanager(self, function: Value) -> Value:
        return Partial(Place(operations.managed), (function,), {})

    def call_managed(self, function: Value, /, *args: Value, **kwargs: Value) -> Value:
        return self.manager(self.call(function, list(args), kwargs))

    def manager(self, made: Value) -> Value:
        """What a function made by `contextlib.contextmanager` returns."""
        if not isinstance(made, Generator):
            raise self.refuse("this context manager isn't a generator")
        return Manager(made)

    def builtin_suppress(self, *exceptions: Value) -> Value:
        return Place(contextlib.suppress(*map(self.key, exceptions)))

    def dispatched(
        self, function: Any, first: Value, rest: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        """A call of a `functools.singledispatch` function."""

        def run(option: Value, cls: type) -> Value:
            return self.call(Place(function.dispatch(cls)), [option, *rest], kwargs)

        return self.by_type(first, run)

    def call_dispatched(
        self, method: Value, receiver: Value, cls: Value, /, *args: Value, **kwargs: Value
    ) -> Value:
        """A call of a `functools.singledispatchmethod` of an object."""
        dispatcher, owner = self.key(method).dispatcher, self.key(cls)

        def run(option: Value, asked: type) -> Value:
            function = self.bound(as_value(dispatcher.dispatch(asked)), receiver, owner)
            return self.call(function, [option, *args[1:]], kwargs)

        return self.by_type(args[0], run)

    def by_type(self, value: Value, use: Callable[[Value, type], Value]) -> Value:
        """What a value results in where its class decides what is called."""
        value = self.object_or_none(value)
        if isinstance(value, Choice):
            return self.for_each(value, lambda option: self.by_type(option, use))
        cls = self.builtin_type(value)
        if not isinstance(cls, ir.Const):
            raise self.refuse("the type of this value isn't known when compiling")
        return use(value, cls.value)

    def iterator(self, function: Any, args: list[Value], make: Callable[[], Any]) -> Any:
        """What a call makes, an iterator perhaps: that knows the lists it goes through."""
        around, self.sources = self.sources, []
        early = any(isinstance(a, Generator) for a in args)
        at_once = hashable(function) and function in EAGER
        moment = self.moment() if early or at_once else None
        site = self.stepwise_site if may_be_stepwise(function) else None
        at_work = self.at_work
        if site is not None:
            self.at_work = (*at_work, site)
        try:
            result, over = make(), self.sources
            if at_once or function in ROWS:
                if not self.goes_by_itself(result):
                    result = self.require(result)
                over = []
            if moment is not None and isinstance(result, Sequence):
                over = [*over, *self.read_since(moment, args)]
            if isinstance(result, Sequence) and not is_range(result):
                result = replace(result, over=(*result.over, *over), born=next(births))
            if isinstance(result, Generator):
                result = replace(result, over=(*result.over, *over, *self.over_dicts(args)))
            own = function is not iter and not any(result is a for a in args)
            if isinstance(result, (Sequence, Generator)) and site and (own or not result.site):
                result = self.as_of(result, site)
                if isinstance(result, Generator) and result.sequence is None:
                    self.iterators[result.born] = result.site
        finally:
            self.sources, self.at_work = around, at_work
        if not self.goes_by_itself(result):
            self.sources += over  # what a list was made of, which is part of an iterator perhaps
        return result

    def specially(
        self,
        function: Any,
        special: Callable[..., Value | None],
        args: list[Value],
        kwargs: dict[str, Value],
    ) -> Value | None:
        """Call what does here what a function does, which may take more arguments."""
        try:
            return special(*args, **kwargs)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            raise self.refuse(
                f"{function.__name__!r} can't be followed with these arguments"
            ) from None

    def special(self, function: Any) -> Callable[..., Value | None] | None:
        name = SPECIAL.get(function) if hashable(function) else None
        return getattr(self, name) if name else None

    def nested_gradient(
        self,
        gradient: Any,
        args: list[Value],
        kwargs: dict[str, Value],
        primal: Value | None = None,
    ) -> Value:
        """The call of a gradient inside the function that is being lowered."""
        from ..inner.gradients import lower_gradient

        return lower_gradient(self, gradient, args, kwargs, primal)  # type: ignore[arg-type]


def is_written_method(calling: Any) -> bool:
    """Whether `__call__` of a class is Python, or what srcgrad made of it."""
    known = hashable(calling) and getattr(type(calling), "__call__", None) in LOWERINGS  # noqa: B004
    return isinstance(calling, types.FunctionType) or known


def is_users(function: Any) -> bool:
    """Whether a function or class is written in Python, and not part of Python."""
    written = isinstance(function, (types.FunctionType, type))
    return written and not is_static(function.__module__)


def is_srcgrads(function: Any) -> bool:
    return str(function.__module__).partition(".")[0] == "srcgrad"


def is_of_text(function: Any) -> bool:
    """Whether this is a method of a text, a function of the module `re`, or a method of its."""
    if isinstance(function, types.FunctionType):
        return function.__module__ == re.__name__
    return told(function, "__objclass__") in (str, re.Pattern, re.Match)


def is_numpy(function: Any) -> bool:
    module = told(function, "__module__") or ""
    if registry.is_random(function):
        return True
    return module.partition(".")[0] in ("numpy", "scipy", "math", "cmath", "_operator")


def is_scipy(function: Any) -> bool:
    if not isinstance(function, (types.FunctionType, types.BuiltinFunctionType, type)):
        return False
    return (told(function, "__module__") or "").partition(".")[0] == "scipy"


def is_scipy_class(function: Any) -> bool:
    return isinstance(function, type) and is_scipy(function)


def _special_table() -> dict[Any, str]:
    table: dict[Any, str] = {
        getattr(builtins, name): f"builtin_{name}"
        for name in (
            "len range enumerate zip reversed map filter list tuple sum min max any all next vars "
            "locals isinstance type callable hasattr getattr setattr slice divmod print super iter "
            "sorted id"
        ).split()
    }
    table[str], table[repr], table[format] = "builtin_text", "builtin_repr", "builtin_format"
    table[str.format] = "builtin_str_format"
    table[functools.reduce] = "builtin_reduce"
    table[operator.concat] = "builtin_concat"
    table[functools.partial] = "builtin_partial"
    table[contextlib.suppress] = "builtin_suppress"
    table[contextlib.contextmanager] = "builtin_contextmanager"
    table[operations.managed], table[operations.count_of] = "call_managed", "count_of"
    table[stepping.counted], table[stepping.at_once] = "builtin_counted", "builtin_at_once"
    table[operations.dispatched_method] = "call_dispatched"
    for name in (
        "product chain combinations permutations pairwise accumulate repeat islice count starmap "
        "cycle tee"
    ).split():
        table[getattr(itertools, name)] = f"builtin_{name}"
    table[itertools.combinations_with_replacement] = "builtin_replacements"
    table[itertools.chain.from_iterable] = "builtin_from_iterable"
    table[bisect.bisect_left] = "builtin_bisect_left"
    table[bisect.bisect_right] = "builtin_bisect_right"
    for name in "ndindex ndenumerate nditer".split():
        table[getattr(np, name)] = f"builtin_{name}"
    for function in NAMEDTUPLE.values():
        table[function] = function.__name__
    methods = "__init__ append extend pop insert reverse copy clear index remove count sort"
    for name in methods.split():
        table[getattr(list, name)] = f"method_{name}"
    table[tuple.index], table[tuple.count] = "method_index", "method_count"
    table[running.put], table[running.is_or_equals] = "list_put", "is_or_equals"
    for name in "popleft appendleft rotate extendleft".split():
        table[getattr(collections.deque, name)] = f"method_{name}"
    for name in "replace asdict astuple field fields".split():
        table[getattr(dataclasses, name)] = f"dataclass_{name}"
    table[dataclasses.is_dataclass] = "dataclass_test"
    table[made_init] = "dataclass_initialised"
    table[dataclasses.dataclass] = "dataclass_made"
    for store in (np.ndarray.__setitem__, list.__setitem__, dict.__setitem__):
        table[store] = "builtin_setitem"
    for delete in (list.__delitem__, dict.__delitem__):
        table[delete] = "builtin_delitem"
    table[operator.setitem], table[operator.delitem] = "put_item", "take_item"
    table[np.ndarray.__len__], table[np.ndarray.__iter__] = "builtin_len", "builtin_iter"
    table[copy.copy], table[copy.deepcopy] = "builtin_copy", "builtin_deepcopy"
    table[object.__setattr__], table[object.__getattribute__] = "plain_setattr", "builtin_getattr"
    table[remembered] = "builtin_remembered"
    table[surely_is], table[column] = "builtin_surely_is", "builtin_column"
    table[object.__new__], table[operations.namedtuple_new] = "bare_object", "namedtuple_new"
    table[tuple.__new__] = "tuple_new"
    table[other_keys], table[varies] = "slotted_other_keys", "slotted_varies"
    table[other_length] = "linked_other_length"
    for function in (boxed, equal, sorted_by):
        table[function] = function.__name__
    table[collections.namedtuple] = table[dataclasses.make_dataclass] = "builtin_made_class"
    return {**table, **dict_methods()}


def _of_property(function: Any) -> bool:
    """Whether this is the `setter` or the like of a property."""
    return isinstance(function, types.BuiltinMethodType) and isinstance(function.__self__, property)


_MANAGER = contextlib.contextmanager(len).__code__  # type: ignore[arg-type]
_DISPATCHER = functools.singledispatch(lambda value: value).__code__  # type: ignore[attr-defined]
ALIASES = (types.GenericAlias, type(typing.Sequence[int]))  # of `list[float]()`
DESCRIPTORS = frozenset({property, staticmethod, classmethod, functools.cached_property})
DESCRIBING = frozenset({np.finfo, np.iinfo, inspect.signature, *BY_DTYPE})  # and what has them
LAZY = (enumerate, zip, map, filter, reversed)  # what they return knows what it goes through
ASKING = (isinstance, callable, hasattr)  # what they say is known when compiling, mostly
HOLDING = (list, dict, set, collections.deque, collections.OrderedDict, collections.defaultdict)
EXTENDING = (operator.iconcat, list.__iadd__)  # by the items of an array, too
IN_PLACE = {
    operator.iconcat: operator.add,
    list.__iadd__: operator.add,
    list.__imul__: operator.mul,
    **{inplace: function for function, inplace in INPLACE.items()},
    **{
        getattr(np.ndarray, f"__{inplace.__name__}__"): function
        for function, inplace in INPLACE.items()
    },
}
# Methods of containers that syntax and builtins stand for (no user's class redefines these:
# `subclasses.redefined`)
UNBOUND: dict[Any, Any] = {
    getattr(cls, f"__{function.__name__.strip('_')}__"): function
    for cls in (*CONTAINERS, collections.deque)
    for function in (
        len, iter, reversed, operator.getitem, operator.contains, operator.add, operator.mul,
        operator.or_, operator.and_, operator.sub,
    )
    if hasattr(cls, f"__{function.__name__.strip('_')}__")
}  # fmt: skip
_COMPARE = {function: node for node, function in COMPARE.items()}
SPECIAL = _special_table()
# Iterators whose items are made at once
EAGER = frozenset(
    {
        itertools.accumulate, itertools.islice, itertools.zip_longest, itertools.groupby,
        itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.compress,
        itertools.cycle,
    }
)  # fmt: skip

if hasattr(itertools, "batched"):
    EAGER |= {itertools.batched}

# Functions that go through all items of some of their arguments: of which
ITERATING: dict[Any, slice] = {
    **dict.fromkeys((enumerate, list, tuple, sum, min, max, any, all, sorted), slice(1)),
    **dict.fromkeys(
        (getattr(itertools, n) for n in ("accumulate", "cycle", "islice", "pairwise", "tee")),
        slice(1),
    ),
    **dict.fromkeys((filter, itertools.starmap), slice(1, 2)),
    itertools.product: slice(None),
    map: slice(1, None),
}


def _precision(value: Value) -> np.dtype[Any] | None:
    """The dtype of a number or an array of floats, where it is known."""
    kind = value.kind if isinstance(value, ir.Var) else None
    dtype = kind.dtype if isinstance(kind, (Array, Scalar)) else None
    return dtype if dtype is not None and dtype.kind in "fc" else None


def _is_of_rules(function: Any) -> bool:
    """Whether a function is a helper of the rules, which computes and does nothing else."""
    return isinstance(function, types.FunctionType) and str(function.__module__).startswith(RULES)
