"""Lowering of calls: user functions are inlined, primitives emitted, classes constructed."""

from __future__ import annotations

import bisect
import builtins
import collections
import dataclasses
import functools
import itertools
import operator
import sys
import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from .. import ir
from ..analysis.inference import Inferred, infer
from ..emit import runtime
from ..errors import SourceError, UnsupportedError
from ..kinds import BOOL, Array, Kind, ListOf, Opaque, Scalar, Size, TupleOf, int_kind
from ..rules import registry
from ..signature import is_plain
from .builder import FALSE, NONE, TRUE, Poison, describe, list_append, parts
from .expressions import NAMEDTUPLE, SIMPLE, STATIC_MODULES, Expressions, Frame
from .names import Namespace, own_nodes, scope_of
from .source import get_source
from .values import (
    Bound,
    Closure,
    DictObject,
    Generator,
    InnerGradient,
    Instance,
    ListObject,
    Materialize,
    NeedStatic,
    Partial,
    Path,
    Peel,
    Place,
    Ref,
    Sequence,
    Slice,
    Thaw,
    Tuple,
    Value,
)

MOST_CALLS = 24
MOST_INLINED = 2000
NEED_ITEMS = frozenset({np.column_stack, np.dstack, np.block})  # their rules take items apart
ENDLESS = 1 << 62  # the length of itertools.count()
RULES = "srcgrad.rules."
MOST_UNROLLED = 100


class Dynamic(Exception):
    """A value isn't known when compiling."""


class Calls(Expressions):
    """Evaluates calls."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        self.active_nodes: list[int] = []  # of the functions being inlined
        self.calls_made = 0
        self.trying: Trying | None = None  # the try whose body is being lowered
        self.loop_site = 0  # the loop that is about to be lowered
        self.captured: set[int] = set()
        self.inlined: dict[Any, types.CodeType] = {}
        self.given_sources: dict[types.CodeType, str] = {}  # where Python keeps none

    def run(self, statements: list[Any]) -> None:
        raise NotImplementedError

    def assign(self, target: Any, value: Value) -> None:
        raise NotImplementedError

    def expression_Call(self, node: Any) -> Value:
        function = self.expression(node.func)
        args: list[Value] = []
        for argument in node.args:
            if isinstance(argument, gast.Starred):
                args.extend(self.unpacked(self.expression(argument.value)))
            else:
                args.append(self.expression(argument))
        kwargs: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.expression(keyword.value)
            if keyword.arg is None:
                kwargs.update(self.dictionary(value).items)
            else:
                kwargs[keyword.arg] = value
        return self.call(function, args, kwargs)

    def expression_Lambda(self, node: Any) -> Value:
        return self.closure(node, "<lambda>")

    def closure(self, node: Any, name: str) -> Closure:
        """The function that a def or lambda in the lowered code makes."""
        frame = self.frames[self.current]
        self.captured.add(self.current)
        number: int | None = self.current
        while number is not None:
            self.captured.add(number)
            number = self.frames[number].parent
        a = node.args
        defaults = tuple(self.expression(d) for d in a.defaults)
        names = [self.argument_name(k) for k in a.kwonlyargs]
        keyword_defaults = {
            n: self.expression(d) for n, d in zip(names, a.kw_defaults, strict=True) if d
        }
        return Closure(
            node, frame.source, self.current, frame.namespace, defaults, keyword_defaults, name
        )

    @staticmethod
    def argument_name(argument: Any) -> str:
        return argument.id if isinstance(argument, gast.Name) else str(argument)

    # Dispatch

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """The value of `function(*args, **kwargs)`."""
        match function:
            case Bound():
                return self.call(function.function, [function.receiver, *args], kwargs)
            case Partial():
                return self.call(
                    function.function, [*function.args, *args], {**function.kwargs, **kwargs}
                )
            case Closure():
                return self.inline_closure(function, args, kwargs)
            case InnerGradient():
                return self.nested_gradient(function.gradient, args, kwargs, function.primal)
            case ir.Const():
                return self.call_object(function.value, args, kwargs)
            case Ref():
                thing = self.state.heap[function.id]
                if isinstance(thing, Instance):
                    found = self.class_attribute(thing.type, "__call__")
                    if found is not None:
                        return self.call(Bound(found, function), args, kwargs)
            case ir.Var() if isinstance(function.kind, Opaque):
                return self.unknown_call(operator.call, [function, *args], kwargs)
        raise self.refuse(f"a {describe(function)} can't be called")

    def call_object(self, function: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        registry.load()
        special = self.special(function)
        if special is not None:
            result: Value | None = special(*args, **kwargs)
            if result is not None:
                return result
        function = registry.methods.get(function, function) if _hashable(function) else function
        if _hashable(function) and function in registry.definitions:
            before, self.fixed_span = self.fixed_span, True
            try:
                return self.inline(registry.definitions[function], args, kwargs)  # type: ignore[arg-type]
            finally:
                self.fixed_span = before
        record = registry.lookup(function)
        if record is not None or function in registry.inplace_rules:
            return self.primitive(function, record, args, kwargs)
        if getattr(function, "__module__", "") == "srcgrad.api" and not isinstance(function, type):
            if getattr(function, "__name__", "") in ("grad", "value_and_grad"):
                return self.make_gradient(function, args, kwargs)
        if isinstance(function, types.FunctionType) and str(function.__module__).startswith(RULES):
            known = self.computed(function, args, kwargs)
            if known is not None:
                return known
        if _is_scipy(function):  # not written in what the compiler reads: a primitive, or refused
            if isinstance(function, type):
                return self.unknown_call(function, args, kwargs)
            return self.primitive(function, None, args, kwargs)
        calling = getattr(type(function), "__call__", None)  # noqa: B004
        if registry.lookup(calling) or (_hashable(calling) and calling in registry.definitions):
            return self.call(Bound(Place(calling), Place(function)), args, kwargs)
        match function:
            case functools.partial():
                bound = tuple(self.lift(a, None) for a in function.args)
                named = {k: self.lift(v, None) for k, v in function.keywords.items()}
                return self.call(Partial(Place(function.func), bound, named), args, kwargs)
            case types.FunctionType():
                return self.inline(function, args, kwargs)
            case types.MethodType():
                return self.call(
                    Bound(Place(function.__func__), Place(function.__self__)), args, kwargs
                )
            case type():
                return self.construct(function, args, kwargs)
            case functools._lru_cache_wrapper():
                return self.call_object(function.__wrapped__, args, kwargs)
        primal = getattr(function, "__srcgrad_primal__", None)
        if primal is not None:
            return self.nested_gradient(function, args, kwargs)
        if isinstance(function, (np.ufunc, types.MethodDescriptorType)) or _is_numpy(function):
            return self.primitive(function, None, args, kwargs)
        method = getattr(type(function), "__call__", None)  # noqa: B004
        if isinstance(method, types.FunctionType):
            return self.call(Bound(Place(method), Place(function)), args, kwargs)
        return self.unknown_call(function, args, kwargs)

    def computed(self, function: Any, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
        """The result of a rule's helper of known arguments, which needn't be lowered."""
        try:
            values = [self.static(a) for a in args]
            named = {k: self.static(a) for k, a in kwargs.items()}
        except Dynamic:
            return None
        return self.unstatic(function(*values, **named))

    def static(self, value: Value) -> Any:
        """The Python value of an abstract value that is known when compiling."""
        match value:
            case ir.Const() if not isinstance(value.value, ir.Undefined):
                return value.value
            case Tuple():
                return tuple(self.static(item) for item in value.items)
            case Slice():
                return slice(*(self.static(p) for p in (value.start, value.stop, value.step)))
            case Ref():
                thing = self.state.heap[value.id]
                if isinstance(thing, ListObject) and thing.var is None:
                    return [self.static(item) for item in thing.items]
        raise Dynamic

    def unstatic(self, value: Any) -> Value:
        """The abstract value of a Python value."""
        if type(value) is tuple:
            return Tuple(tuple(self.unstatic(item) for item in value))
        if type(value) is list:
            return self.new(ListObject(tuple(self.unstatic(item) for item in value)))
        if type(value) is slice:
            return Slice(ir.Const(value.start), ir.Const(value.stop), ir.Const(value.step))
        return ir.Const(value)

    def nested_gradient(
        self,
        gradient: Any,
        args: list[Value],
        kwargs: dict[str, Value],
        primal: Value | None = None,
    ) -> Value:
        """The call of a gradient inside the function that is being lowered."""
        from ..nested import lower_gradient

        return lower_gradient(self, gradient, args, kwargs, primal)  # type: ignore[arg-type]

    def make_gradient(self, maker: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """`grad(f, ...)` inside the function that is being lowered."""
        from ..nested import make_gradient

        return make_gradient(self, maker, args, kwargs)  # type: ignore[arg-type]

    def special(self, function: Any) -> Callable[..., Value | None] | None:
        name = SPECIAL.get(function) if _hashable(function) else None
        return getattr(self, name) if name else None

    def unknown_call(self, function: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """A call of something that srcgrad can't look into; its result has no derivative."""
        operands = tuple(self.operand(a) for a in args)
        named = {k: self.operand(v) for k, v in kwargs.items()}
        return self.emit(
            function, operands, named, inferred=Inferred(Opaque(None)), effect=True, name="value"
        )

    # Primitives

    def primitive(
        self,
        function: Any,
        record: registry.Primitive | None,
        args: list[Value],
        kwargs: dict[str, Value],
    ) -> Value:
        if record is not None and record.always:
            name = getattr(function, "__qualname__", None) or function.__name__
            raise self.refuse(f"{name} isn't supported", record.refused)
        out = kwargs.get("out")
        if out is not None and not (isinstance(out, ir.Const) and out.value is None):
            return self.with_out(function, record, args, kwargs)
        if isinstance(function, np.ufunc) and function.nin < len(args) <= function.nargs:
            names = args[function.nin :]
            target = names[0] if len(names) == 1 else Tuple(tuple(names))
            rest = args[: function.nin]
            return self.with_out(function, record, rest, {**kwargs, "out": target})
        if function in NEED_ITEMS and args:
            self.need_items(args[0])
        operands = tuple(self.argument(a) for a in args)
        named = {k: self.argument(v) for k, v in kwargs.items() if k != "out"}
        if record is not None and (record.differentiable or record.inert):
            folded = self.folded(function, operands, named)
            if folded is not None:
                return folded
        if self.trying is not None:
            self.guard(function, operands, named)
        writes: tuple[ir.Var, ...] = ()
        effect = False
        if function in registry.inplace_rules:
            writes = tuple(ir.variables(operands[0]))
            self.emit(function, operands, named, inferred=Inferred(Opaque(None)), writes=writes)
            return args[0] if function in _RETURNING else NONE
        if record is not None and record.mutates:
            writes = tuple(v for i in record.mutates for v in self.written(i, operands, named))
        if _is_random(function):
            effect = True
        var = self.emit(function, operands, named, effect=effect, writes=writes)
        return self.project(var)

    def guard(
        self, function: Any, operands: tuple[ir.Operand, ...], named: dict[str, ir.Operand]
    ) -> None:
        """Inside a try: find out first whether a call of np.linalg fails."""
        trying = self.trying
        assert trying is not None
        module = getattr(function, "__module__", None) or ""
        if not module.startswith("numpy.linalg") or function is np.linalg.norm:
            return
        place = (self.site, tuple(self.active_nodes))
        if place in trying.tried:
            return
        trying.tried.add(place)
        if named:
            raise self.refuse("keywords in a call that may fail in a try aren't supported")
        test = self.emit(
            runtime.fails, (ir.Const(function), *operands), inferred=Inferred(BOOL), name="failed"
        )
        raise MayFail(test, function.__name__)

    def written(
        self, which: int | str, operands: tuple[ir.Operand, ...], named: dict[str, ir.Operand]
    ) -> list[ir.Var]:
        if isinstance(which, str):
            return list(ir.variables(named[which])) if which in named else []
        return list(ir.variables(operands[which])) if which < len(operands) else []

    def argument(self, value: Value) -> ir.Operand:
        if isinstance(value, (Closure, Bound, Partial)):
            raise self.refuse("a function can't be passed to a function srcgrad doesn't look into")
        if isinstance(value, (Sequence, Generator)):
            return self.operand(self.builtin_list(value))
        return self.operand(value)

    def folded(
        self, function: Any, operands: tuple[ir.Operand, ...], named: dict[str, ir.Operand]
    ) -> Value | None:
        """The result of a pure function of known Python values, if it is such a value too."""
        args, kwargs = [], {}
        for operand in operands:
            known, value = constant(operand)
            if not known:
                return None
            args.append(value)
        for name, operand in named.items():
            known, value = constant(operand)
            if not known:
                return None
            kwargs[name] = value
        try:
            with np.errstate(all="raise"):
                result = function(*args, **kwargs)
        except Exception:
            return None
        if isinstance(result, (*SIMPLE, np.dtype)) and not isinstance(result, np.generic):
            return ir.Const(result)
        if type(result) is tuple and all(type(item) in (int, bool) for item in result):
            return Tuple(tuple(ir.Const(item) for item in result))
        return None

    def with_out(
        self, function: Any, record: Any, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        """`f(x, out=y)` means `y[...] = f(x)`."""
        out = kwargs.pop("out")
        where = kwargs.pop("where", None)
        if isinstance(out, Tuple) and len(out.items) == 1:
            out = out.items[0]
        if where is not None and not (isinstance(where, ir.Const) and where.value is True):
            return self.masked(function, args, kwargs, where, out)
        result = self.primitive(function, record, args, kwargs)
        targets = out.items if isinstance(out, Tuple) else (out,)
        results = result.items if isinstance(result, Tuple) else (result,)
        for target, item in zip(targets, results, strict=True):
            if isinstance(target, ir.Const):
                continue
            self.store(target, ir.Const(Ellipsis), item)
        return out

    def masked(
        self, function: Any, args: list[Value], kwargs: dict[str, Value], where: Value, out: Value
    ) -> Value:
        """`f(x, out=y, where=m)` means `y[m] = f(x[m])`, which never sees the other elements."""
        if kwargs or not isinstance(out, ir.Var) or not isinstance(out.kind, Array):
            raise self.refuse("where= together with other keywords isn't supported")
        shape = self.attribute(out, "shape")
        like = out.kind.shape

        def spread(value: Value) -> Value:
            kind = value.kind if isinstance(value, ir.Var) else None
            if isinstance(kind, Array) and kind.shape == like and like is not None:
                return value
            return self.call_object(np.broadcast_to, [value, shape], {})

        mask = spread(where)
        chosen = [
            self.subscript(spread(a), mask)
            if isinstance(a, ir.Var) and isinstance(a.kind, Array)
            else a
            for a in args
        ]
        self.store(out, mask, self.call_object(function, chosen, {}))
        return out

    def store(self, container: Value, key: Value, value: Value) -> None:
        """`container[key] = value` on an array."""
        array = self.operand(container)
        if not isinstance(array, ir.Var) or not isinstance(array.kind, (Array, Opaque)):
            raise self.refuse(f"a {describe(container)} can't be assigned to by index")
        operand = self.operand(value)
        if isinstance(operand, ir.Pack):
            operand = self.number(value)
        self.emit(
            operator.setitem,
            (array, self.index(key), operand),
            inferred=Inferred(Opaque(None)),
            writes=(array,),
        )

    # User functions

    def inline(
        self, function: types.FunctionType, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        """Run a Python function's body in place of its call."""
        try:
            source = get_source(function, self.given_sources.get(function.__code__))
        except SourceError as error:
            raise self.refuse(
                f"the source of {function.__name__!r}, which is called here, can't be found",
                str(error),
            ) from error
        self.inlined[function] = function.__code__
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        defaults = function.__defaults__ or ()
        closure = Closure(
            source.node,
            source,
            None,
            Namespace(function.__globals__, cells),
            tuple(
                self.lift(d, Path("item", defaults, i) if _mutable(d) else None)
                for i, d in enumerate(defaults)
            ),
            {
                k: self.lift(d, Path("item", function.__kwdefaults__, k) if _mutable(d) else None)
                for k, d in (function.__kwdefaults__ or {}).items()
            },
            function.__name__,
            _owner(function),
        )
        return self.inline_closure(closure, args, kwargs)

    def inline_closure(
        self, closure: Closure, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        node = closure.node
        if isinstance(node, gast.AsyncFunctionDef):
            raise self.refuse("an asynchronous function can't be differentiated")
        values = self.bound_arguments(closure, args, kwargs)
        if is_generator(node):
            return Generator(lambda body: self.run_function(closure, values, body))
        result = self.run_function(closure, values)
        assert result is not None
        return result

    def run_function(
        self,
        closure: Closure,
        values: dict[str, Value],
        consume: Callable[[Value], None] | None = None,
    ) -> Value | None:
        """Run a function's body; `consume` is given what a generator yields."""
        node = closure.node
        self.check_recursion(closure, values)
        number = self.unique()
        self.frames[number] = Frame(
            scope_of(node),
            closure.source,
            closure.namespace,
            closure.frame,
            closure.owner,
            next(iter(values.values()), None),
            closure.name,
            consumer=None if consume is None else (self.current, consume),
        )
        self.state.frames[number] = dict(values)
        if consume is not None:
            self.state.frames[self.current]["%returned"] = FALSE
        caller, span, self.current = self.current, self.span, number
        self.depth += 1
        self.active_nodes.append(id(node))
        try:
            if isinstance(node, gast.Lambda):
                return self.expression(node.body)
            self.run(node.body)
            if self.state.unreachable:
                return NONE
            if consume is not None:
                return None
            self.fall_off()
            return self.known("the result", self.state.frames[number].get("%return", NONE))
        finally:
            self.depth -= 1
            self.active_nodes.pop()
            self.current, self.span = caller, span
            if number not in self.captured:
                self.state.frames.pop(number, None)

    def generator_expression(self, node: Any) -> Value:
        """A generator expression, which evaluates its first iterable at once."""
        frame, first = self.current, self.expression(node.generators[0].iter)
        return Generator(lambda body: self.run_comprehension(node, frame, first, body))

    def run_comprehension(
        self, node: Any, frame: int, first: Value, consume: Callable[[Value], None]
    ) -> None:
        self.state.frames[self.current]["%returned"] = FALSE
        self.generate(
            node,
            frame,
            lambda: self.yielded(self.expression(node.elt)),
            consume=consume,
            first=first,
        )

    def yielded(self, value: Value) -> None:
        """Give a value to the consumer of the generator being run, which may break off."""
        inner = self.current
        consumer = self.frames[inner].consumer
        if consumer is None:
            raise self.refuse("a yield outside of a generator")
        number, body = consumer
        self.current = number
        frame = self.state.frames[number]
        frame["%returned"] = FALSE
        span = self.span
        try:
            body(value)
            flag = self.exit_flag()
        finally:
            self.current, self.span = inner, span
        if self.state.unreachable:
            return
        frame = self.state.frames[inner]
        if isinstance(flag, ir.Const) and not flag.value:
            return
        frame["%stop"] = frame["%break"] = frame["%returned"] = flag

    def check_recursion(self, closure: Closure, values: dict[str, Value]) -> None:
        """Refuse a recursion whose depth isn't known: calls are inlined."""
        self.calls_made += 1
        nested = self.active_nodes.count(id(closure.node))
        if nested < 3:
            return
        if nested == 3:
            # the ints and lengths that may steer the recursion must be known
            found: frozenset[Any] = frozenset()
            for value in values.values():
                for v in self.number_variables(value):
                    if isinstance(v.kind, Scalar) and v.kind.dtype.kind in "iub":
                        found |= v.origins
                    if isinstance(v.kind, Array):
                        for n in v.kind.shape or ():
                            if isinstance(n, Size):
                                found |= self.size_origins.get(n.base, frozenset())
            if found:
                raise NeedStatic(found, "how deep this recursion goes", self.span)
        if nested >= MOST_CALLS or self.calls_made > MOST_INLINED:
            raise self.refuse(
                f"how deep the recursion of {closure.name!r} goes isn't known when compiling",
                "write it as a loop, or make its depth follow from an int or from lengths",
            )

    def number_variables(self, value: Value) -> list[ir.Var]:
        if isinstance(value, ir.Var):
            return [value]
        return [v for item in parts(value) for v in self.number_variables(item)]

    def fall_off(self) -> None:
        """A function that ends without a return returns None."""
        number = self.current

        def put() -> None:
            self.state.frames[number]["%return"] = NONE

        stopped = self.stopped(self.state)
        if stopped is None:
            self.branch(self.operand(self.state.frames[number]["%stop"]), lambda: None, put)
        elif not stopped:
            put()

    def bound_arguments(
        self, closure: Closure, args: list[Value], kwargs: dict[str, Value]
    ) -> dict[str, Value]:
        """The values of a function's parameters, as Python would bind them."""
        a = closure.node.args
        positional = [self.argument_name(p) for p in (*a.posonlyargs, *a.args)]
        keyword_only = [self.argument_name(p) for p in a.kwonlyargs]
        only_positional = {self.argument_name(p) for p in a.posonlyargs}
        values: dict[str, Value] = dict(zip(positional, args, strict=False))
        extra = args[len(positional) :]
        if a.vararg is not None:
            values[self.argument_name(a.vararg)] = Tuple(tuple(extra))
        elif extra:
            raise self.refuse(
                f"{closure.name}() takes {len(positional)} positional arguments "
                f"but {len(args)} were given"
            )
        rest: dict[Any, Value] = {}
        for name, value in kwargs.items():
            if name in keyword_only or (name in positional and name not in only_positional):
                if name in values:
                    raise self.refuse(f"{closure.name}() got multiple values for argument {name!r}")
                values[name] = value
            elif a.kwarg is not None:
                rest[name] = value
            else:
                raise self.refuse(f"{closure.name}() got an unexpected keyword argument {name!r}")
        if a.kwarg is not None:
            values[self.argument_name(a.kwarg)] = self.new(DictObject(rest))
        start = len(positional) - len(closure.defaults)
        for name, default in zip(positional[start:], closure.defaults, strict=True):
            values.setdefault(name, default)
        for name, default in closure.keyword_defaults.items():
            values.setdefault(name, default)
        missing = [n for n in (*positional, *keyword_only) if n not in values]
        if missing:
            raise self.refuse(f"{closure.name}() is missing the argument {missing[0]!r}")
        return values

    # Classes

    def construct(self, cls: type, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """An instance of a user class."""
        fields = getattr(cls, "_fields", None)
        if issubclass(cls, tuple) and fields is not None:
            defaults = getattr(cls, "_field_defaults", {})
            named = dict(zip(fields, args, strict=False), **kwargs)
            items = [named[f] if f in named else self.lift(defaults[f], None) for f in fields]
            return Tuple(tuple(items), cls)
        if cls is types.SimpleNamespace:
            return self.new(Instance(cls, dict(kwargs)))
        if cls is collections.deque:
            if len(args) > 1 or kwargs:
                raise self.refuse("a deque with a maximal length isn't supported", "use a list")
            return self.builtin_list(*args)
        if issubclass(cls, BaseException):
            return self.emit(
                cls, tuple(self.operand(a) for a in args), inferred=Inferred(Opaque(cls))
            )
        library = getattr(sys.modules.get(cls.__module__), cls.__name__, None) is cls and (
            cls.__module__.partition(".")[0] in STATIC_MODULES
        )
        if library or not is_plain(cls):
            return self.unknown_call(cls, args, kwargs)
        ref = self.new(Instance(cls, {}))
        if dataclasses.is_dataclass(cls) and not _own_init(cls):
            self.initialise_dataclass(cls, ref, args, kwargs)
        else:
            found = self.class_attribute(cls, "__init__")
            if found is not None:
                self.call(Bound(found, ref), args, kwargs)
            elif args or kwargs:
                raise self.refuse(f"{cls.__name__}() takes no arguments")
        return ref

    def initialise_dataclass(
        self, cls: type, ref: Ref, args: list[Value], kwargs: dict[str, Value]
    ) -> None:
        names = [f for f in dataclasses.fields(cls) if f.init]
        if len(args) > len(names):
            raise self.refuse(f"{cls.__name__}() takes {len(names)} arguments")
        values: dict[str, Value] = {}
        given = dict(zip((f.name for f in names), args, strict=False), **kwargs)
        for f in dataclasses.fields(cls):
            if f.name in given:
                values[f.name] = given[f.name]
            elif f.default is not dataclasses.MISSING:
                values[f.name] = self.lift(f.default, None)
            elif f.default_factory is not dataclasses.MISSING:
                values[f.name] = self.call(Place(f.default_factory), [], {})
            elif f.init:
                raise self.refuse(f"{cls.__name__}() is missing the argument {f.name!r}")
        thing = self.state.heap[ref.id]
        assert isinstance(thing, Instance)
        self.state.heap[ref.id] = Instance(cls, values, thing.external)
        after = self.class_attribute(cls, "__post_init__")
        if after is not None:
            self.call(Bound(after, ref), [], {})

    def set_attribute(self, target: Value, name: str, value: Value) -> None:
        thing = self.state.heap.get(target.id) if isinstance(target, Ref) else None
        if not isinstance(thing, Instance):
            raise self.refuse(
                f"assigning an attribute of a {describe(target)}, which the caller would see, "
                "can't be differentiated",
                "return the value instead",
            )
        if thing.external:
            raise self.refuse(
                f"assigning to {thing.external}.{name}, which the caller would see, "
                "can't be differentiated",
                "make a copy of the object first, or return the value instead",
            )
        self.unfrozen(thing)
        found = self.class_attribute(thing.type, name)
        if isinstance(found, ir.Const) and isinstance(found.value, property):
            if found.value.fset is None:
                raise self.refuse(f"property {name!r} has no setter")
            self.call(Bound(Place(found.value.fset), target), [value], {})
            return
        if isinstance(value, ir.Var) and not value.user:
            value.name = name
        assert isinstance(target, Ref)
        self.state.heap[target.id] = Instance(thing.type, {**thing.items, name: value})

    # Iteration

    def iterate(self, iterable: Value, body: Callable[[Value], None], name: str = "i") -> None:
        """Run `body` for each item; a break it sets ends the iteration."""
        if isinstance(iterable, Generator):
            self.use_up(iterable)
            iterable.run(body)
            self.after_loop()
            return
        site, self.loop_site = self.loop_site, 0
        sequence = self.sequence(iterable)
        if sequence is None:
            raise self.refuse(f"a {describe(iterable)} can't be iterated over")
        length, count = sequence.length, self.list_length(iterable)

        def unrolled() -> bool:
            if isinstance(length, ir.Var):
                raise NeedStatic(length.origins, "how often this loop runs", self.span)
            if not isinstance(length, ir.Const) or length.value > MOST_UNROLLED:
                return False
            self.unrolled(0, length.value, sequence.item, checked)
            return True

        def checked(item: Value) -> None:
            body(item)
            if not self.state.unreachable and self.list_length(iterable) != count:
                raise self.refuse(
                    "this list changes its length while it is iterated over",
                    "iterate over a copy: list(...)",
                )

        known = isinstance(length, ir.Const) or (isinstance(length, ir.Var) and length.origins)
        if known and ("%site", site) in self.known_sites and unrolled():
            return
        eager = sequence.structural or self.fixed_span
        if eager and isinstance(length, ir.Const) and unrolled():
            return

        def iteration(index: ir.Var | None) -> Value:
            assert index is not None
            self.state.frames[self.current]["%returned"] = FALSE
            body(index if sequence.bounds is not None else sequence.item(index))
            return self.exit_flag()

        zero, one = ir.Const(0), ir.Const(1)
        if sequence.bounds is not None:
            bounds = tuple(self.operand(b) for b in sequence.bounds)
        else:
            bounds = (zero, self.operand(length), one)
        before, whole = len(self.block.statements), bounds

        def rest(bounds: Any, peelable: bool = False) -> None:
            unroll = unrolled if known and bounds is whole else None
            constant = isinstance(length, ir.Const)
            self.loop(bounds, iteration, name, unroll, constant, site, peelable)
            self.after_loop()

        try:
            rest(whole, True)
        except Peel:
            self.peeled(sequence, body, rest)
        self.note_lists(iterable, before, site if known else 0)

    def peeled(
        self, sequence: Sequence, body: Callable[[Value], None], rest: Callable[[Any], None]
    ) -> None:
        """Run the first iteration of a loop by itself, and then the rest, a loop.

        So a sum that starts as the number 0 is an array all through the loop.
        """
        length, one = sequence.length, ir.Const(1)
        later: tuple[Value, Value, Value] = (one, length, one)
        first: Value | None = None
        if sequence.bounds is not None:
            first, stop, step = sequence.bounds
            assert first is not None
            later = (self.binary(operator.add, first, step), stop, step)
        bounds = tuple(self.operand(b) for b in later)

        def run() -> None:
            self.state.frames[self.current]["%returned"] = FALSE
            body(first if first is not None else sequence.item(ir.Const(0)))
            if self.state.unreachable:
                return
            flag = self.exit_flag()
            if not isinstance(flag, ir.Const):
                self.branch(self.operand(flag), lambda: None, lambda: rest(bounds))
            elif not flag.value:
                rest(bounds)
            self.after_loop()

        if self.surely_runs(length):
            run()
            return
        test = self.compare(gast.Gt(), length, ir.Const(0))
        self.branch(self.operand(test), run, lambda: None)
        self.after_loop()

    def surely_runs(self, length: Value) -> bool:
        """Whether a loop of this length has a first iteration."""
        if isinstance(length, ir.Const):
            return bool(length.value > 0)
        kind = length.kind if isinstance(length, ir.Var) else None
        size = kind.size if isinstance(kind, Scalar) else None
        if isinstance(size, Size):
            return size.big and size.offset >= -1
        return size is not None and size > 0

    def list_length(self, iterable: Value) -> int | None:
        """The number of items of a list, if it is known."""
        thing = self.state.heap.get(iterable.id) if isinstance(iterable, Ref) else None
        if isinstance(thing, ListObject) and thing.var is None:
            return len(thing.items)
        return None

    def note_lists(self, iterable: Value, before: int, site: int) -> None:
        """Look at the lists that a loop changes: not the one it iterates over, it is to be hoped.

        If their number of items must be known later, the loop at `site` will be unrolled.
        """
        thing = self.state.heap.get(iterable.id) if isinstance(iterable, Ref) else None
        own = thing.var if isinstance(thing, ListObject) else None
        for statement in ir.walk(ir.Block(self.block.statements[before:])):
            if not isinstance(statement, ir.Assign) or not statement.writes:
                continue
            if statement.function in (list_append, list.pop):
                changed = statement.writes[0]
                if changed is own:
                    self.span = statement.span
                    raise self.refuse(
                        "this list changes its length while it is iterated over",
                        "iterate over a copy: list(...)",
                    )
                if site:
                    changed.origins |= {("%site", site)}
        for statement in ir.walk(ir.Block(self.block.statements[before:])):
            if isinstance(statement, ir.Loop):
                for param, target in zip(statement.params, statement.targets, strict=True):
                    if isinstance(param.kind, ListOf):
                        target.origins |= param.origins

    def unrolled(
        self, i: int, count: int, item: Callable[[Value], Value], body: Callable[[Value], None]
    ) -> None:
        """Run `body` for the items from number `i` on, one after the other."""
        if i == count:
            return
        body(item(ir.Const(i)))
        if self.state.unreachable:
            return
        flag = self.exit_flag()

        def rest() -> None:
            self.unrolled(i + 1, count, item, body)

        if isinstance(flag, ir.Const):
            if not flag.value:
                rest()
            else:
                self.after_loop()
            return
        self.branch(flag, lambda: None, rest)  # type: ignore[arg-type]
        self.after_loop()

    def exit_flag(self) -> Value:
        """The exit flag at the end of an iteration; `break` and `continue` are over then."""
        if self.state.unreachable:
            return TRUE
        frame = self.state.frames[self.current]
        flag = frame.get("%break", FALSE)
        if "%stop" in frame:
            frame["%stop"] = FALSE
            frame["%break"] = FALSE
        if "%broken" in frame:
            frame["%broken"] = flag
        return flag

    def after_loop(self) -> None:
        """After a loop, only a `return` inside it still skips what follows."""
        frame = self.state.frames[self.current]
        if "%returned" in frame:
            frame["%stop"] = frame["%break"] = frame["%returned"]

    def sequence(self, value: Value) -> Sequence | None:
        """Length and items of something that can be iterated over."""
        match value:
            case Sequence():
                self.use_up(value)
                return value
            case Tuple():
                items = value.items
                return Sequence(ir.Const(len(items)), lambda i: self.item_of(items, i, value), True)
            case Generator():
                return self.sequence(self.builtin_list(value))
            case Ref():
                thing = self.state.heap[value.id]
                if isinstance(thing, ListObject):
                    if thing.var is None:
                        return Sequence(
                            ir.Const(len(thing.items)),
                            lambda i: self.subscript(value, i),
                            len(thing.items) <= MOST_UNROLLED,
                        )
                    var = thing.var
                    return Sequence(self.builtin_len(value), lambda i: self.list_item(var, i))
                if isinstance(thing, DictObject):
                    self.settled_keys(thing)
                    keys = tuple(
                        ir.Const(k) if not isinstance(k, tuple) else self.lift(k, None)
                        for k in thing.items
                    )
                    return self.sequence(Tuple(keys))
                return self.sequence_of_instance(value, thing)
            case ir.Const() if isinstance(value.value, (str, bytes, tuple, list, range, dict)):
                return self.sequence(Tuple(tuple(self.lift(v, None) for v in value.value)))
            case ir.Var() if isinstance(value.kind, Array):
                if value.kind.shape is None or not value.kind.shape:
                    return None
                n = value.kind.shape[0]
                length: Value = ir.Const(n) if isinstance(n, int) else self.builtin_len(value)
                return Sequence(
                    length,
                    lambda i: self.emit(
                        operator.getitem, (value, self.operand(i)), name=value.name.rstrip("s")
                    ),
                )
            case ir.Var() if isinstance(value.kind, (ListOf, TupleOf)):
                if isinstance(value.kind, TupleOf):
                    return self.sequence(self.project(value))
                return Sequence(self.builtin_len(value), lambda i: self.list_item(value, i))
        return None

    def sequence_of_instance(self, ref: Ref, thing: Instance) -> Sequence | None:
        found = self.class_attribute(thing.type, "__iter__")
        if found is not None:
            return self.sequence(self.call(Bound(found, ref), [], {}))
        getter = self.class_attribute(thing.type, "__getitem__")
        counter = self.class_attribute(thing.type, "__len__")
        if getter is not None and counter is not None:
            length = self.call(Bound(counter, ref), [], {})
            return Sequence(length, lambda i: self.call(Bound(getter, ref), [i], {}))
        return None

    def comprehension(self, node: Any) -> Value:
        """A list, set or dict comprehension."""
        if isinstance(node, gast.ListComp):
            return self.collected(node, self.current)
        items: dict[Any, Value] = {}
        if isinstance(node, gast.DictComp):

            def put() -> None:
                key = self.key(self.expression(node.key))
                items[key] = self.expression(node.value)

            self.generate(node, self.current, put, static=True)
            return self.new(DictObject(items))

        def add() -> None:
            item = self.expression(node.elt)
            items[self.key(item)] = item

        self.generate(node, self.current, add, static=True)
        return self.new(DictObject(items, None, True))

    def collected(self, node: Any, frame: int) -> Ref:
        ref = self.new(ListObject(()))
        self.generate(node, frame, lambda: self.append(ref, self.expression(node.elt)))
        return ref

    def generate(
        self,
        node: Any,
        frame: int,
        body: Callable[[], None],
        static: bool = False,
        consume: Callable[[Value], None] | None = None,
        first: Value | None = None,
    ) -> None:
        """Run `body` for every combination of a comprehension's generators."""
        number = self.unique()
        parent = self.frames[frame]
        self.frames[number] = Frame(
            scope_of(node),
            parent.source,
            parent.namespace,
            frame,
            parent.owner,
            parent.receiver,
            parent.name,
            True,
            None if consume is None else (self.current, consume),
        )
        self.state.frames[number] = {}

        def level(position: int) -> None:
            if position == len(node.generators):
                body()
                return
            generator = node.generators[position]

            def conditions(tests: list[Any]) -> None:
                if not tests:
                    level(position + 1)
                    return
                test = self.truth(self.expression(tests[0]))
                if isinstance(test, ir.Const):
                    if test.value:
                        conditions(tests[1:])
                    return
                if static:
                    raise self.refuse("which items this has must be known when compiling")
                self.branch(test, lambda: conditions(tests[1:]), lambda: None)

            def item(value: Value) -> None:
                self.assign(generator.target, value)
                conditions(list(generator.ifs))

            given = first is not None and position == 0
            iterable = first if given else self.expression(generator.iter)
            assert iterable is not None
            self.loop_site = id(generator)
            name = generator.target.id if isinstance(generator.target, gast.Name) else "i"
            self.iterate(iterable, item, name)

        caller, self.current = self.current, number
        try:
            level(0)
        finally:
            self.current = caller
            if number not in self.captured:
                self.state.frames.pop(number, None)

    # Lists

    def append(self, ref: Ref, value: Value) -> None:
        thing = self.state.heap[ref.id]
        assert isinstance(thing, ListObject)
        self.writable(thing)
        if thing.var is None:
            self.state.heap[ref.id] = ListObject((*thing.items, value))
            return
        assert isinstance(thing.var.kind, ListOf)
        thing.var.kind = ListOf(self.joined_item(thing.var.kind.item, value))
        self.emit(
            list_append,
            (thing.var, self.operand(value)),
            inferred=Inferred(Opaque(None)),
            writes=(thing.var,),
        )

    def writable(self, thing: Any) -> None:
        if thing.external:
            raise self.refuse(
                f"{thing.external!r} belongs to the caller, who would see it change",
                "make a copy of it first",
            )
        self.unfrozen(thing)

    def unfrozen(self, thing: Any) -> None:
        """Refuse to write an object that stands for one of several."""
        if thing.frozen is not None:
            raise Thaw(
                thing.frozen,
                "which object is changed here isn't known when compiling",
                self.span,
                "make a new object instead of changing it",
            )

    def extend(self, ref: Ref, part: Value) -> None:
        self.iterate(part, lambda item: self.append(ref, item))

    def listed(self, length: Value, item: Callable[[Value], Value]) -> Ref:
        ref = self.new(ListObject(()))
        bounds = (ir.Const(0), length, ir.Const(1))
        self.iterate(Sequence(length, item, False, bounds), lambda i: self.append(ref, item(i)))
        return ref

    def list_of(self, value: Value) -> tuple[Ref, ListObject]:
        assert isinstance(value, Ref)
        thing = self.state.heap[value.id]
        assert isinstance(thing, ListObject)
        return value, thing

    def method_append(self, items: Value, value: Value) -> Value:
        self.append(self.list_of(items)[0], value)
        return NONE

    def method_extend(self, items: Value, part: Value) -> Value:
        self.extend(self.list_of(items)[0], part)
        return NONE

    def method_pop(self, items: Value, position: Value | None = None) -> Value:
        if isinstance(items, Ref) and isinstance(self.state.heap[items.id], DictObject):
            return self.dict_pop(items, position)
        ref, thing = self.list_of(items)
        self.writable(thing)
        if thing.var is None and (position is None or isinstance(position, ir.Const)):
            values = list(thing.items)
            if not values:
                raise self.refuse("pop from an empty list")
            value = values.pop(position.value if isinstance(position, ir.Const) else -1)
            self.state.heap[ref.id] = ListObject(tuple(values))
            return value
        var = self.materialized(ref)
        inferred = self.item_inferred(var)
        operands: tuple[ir.Operand, ...] = (var,)
        if position is not None:
            operands = (var, self.operand(position))
        return self.project(
            self.emit(list.pop, operands, inferred=inferred, writes=(var,), name="item")
        )

    def method_popleft(self, items: Value) -> Value:
        return self.method_pop(items, ir.Const(0))

    def method_appendleft(self, items: Value, value: Value) -> Value:
        return self.method_insert(items, ir.Const(0), value)

    def method_remove(self, items: Value, value: Value) -> Value:
        if isinstance(items, Ref) and isinstance(self.state.heap[items.id], DictObject):
            return self.dict_remove(items, value, True)
        position = self.method_index(items, value)
        self.method_pop(items, position)
        return NONE

    def method_count(self, items: Value, value: Value) -> Value:
        count: Value = ir.Const(0)
        for item in self.unpacked(items):
            equal = self.compare(gast.Eq(), item, value)
            if isinstance(equal, ir.Const):
                equal = ir.Const(int(equal.value))
            count = self.binary(operator.add, count, equal)
        return count

    def method_sort(self, items: Value, **kwargs: Value) -> Value:
        ref, thing = self.list_of(items)
        self.writable(thing)
        result = self.builtin_sorted(items, **kwargs)
        assert isinstance(result, Ref)
        self.state.heap[ref.id] = self.state.heap[result.id]
        return NONE

    def dict_remove(self, value: Ref, item: Value, must: bool) -> Value:
        thing = self.dictionary(value)
        self.writable(thing)
        items, key = dict(thing.items), self.key(item)
        if key in items:
            self.settled_keys(thing)
            items.pop(key)
        elif must:
            raise self.refuse(f"{key!r} isn't in this set")
        self.state.heap[value.id] = DictObject(items, None, thing.is_set)
        return NONE

    def method_discard(self, value: Value, item: Value) -> Value:
        assert isinstance(value, Ref)
        return self.dict_remove(value, item, False)

    def settled_keys(self, thing: DictObject) -> None:
        """Refuse a dict of which it depends on the run what keys it has."""
        for item in thing.items.values():
            if isinstance(item, Poison):
                self.known("", item)

    def method_insert(self, items: Value, position: Value, value: Value) -> Value:
        ref, thing = self.list_of(items)
        self.writable(thing)
        if thing.var is None and isinstance(position, ir.Const):
            values = list(thing.items)
            values.insert(position.value, value)
            self.state.heap[ref.id] = ListObject(tuple(values))
            return NONE
        raise self.refuse("list.insert isn't supported on a list that is built in a loop")

    def method_reverse(self, items: Value) -> Value:
        ref, thing = self.list_of(items)
        self.writable(thing)
        if thing.var is not None:
            raise self.refuse("list.reverse isn't supported on a list that is built in a loop")
        self.state.heap[ref.id] = ListObject(thing.items[::-1])
        return NONE

    def method_copy(self, value: Value) -> Value:
        assert isinstance(value, Ref)
        thing = self.state.heap[value.id]
        if isinstance(thing, DictObject):
            return self.new(DictObject(dict(thing.items), None, thing.is_set))
        return self.builtin_list(value)

    def method_clear(self, value: Value) -> Value:
        assert isinstance(value, Ref)
        thing = self.state.heap[value.id]
        self.writable(thing)
        if isinstance(thing, ListObject):
            if thing.var is not None:
                raise self.refuse("list.clear isn't supported on a list that is built in a loop")
            self.state.heap[value.id] = ListObject(())
        else:
            self.state.heap[value.id] = DictObject({})
        return NONE

    def method_index(self, items: Value, value: Value) -> Value:
        for i, item in enumerate(self.unpacked(items)):
            equal = self.compare(gast.Eq(), item, value)
            if isinstance(equal, ir.Const) and equal.value:
                return ir.Const(i)
        raise self.refuse("the position of this value isn't known when compiling")

    # Dicts

    def dict_pop(self, value: Value, key: Value | None) -> Value:
        assert isinstance(value, Ref) and key is not None
        thing = self.dictionary(value)
        self.writable(thing)
        items = dict(thing.items)
        item: Value = items.pop(self.key(key))
        self.state.heap[value.id] = DictObject(items, None, thing.is_set)
        return item

    def method_items(self, value: Value) -> Value:
        self.settled_keys(self.dictionary(value))
        pairs = self.dictionary(value).items.items()
        return Tuple(tuple(Tuple((self.lift(k, None), v)) for k, v in pairs))

    def method_keys(self, value: Value) -> Value:
        self.settled_keys(self.dictionary(value))
        return Tuple(tuple(self.lift(k, None) for k in self.dictionary(value).items))

    def method_values(self, value: Value) -> Value:
        self.settled_keys(self.dictionary(value))
        return Tuple(tuple(self.dictionary(value).items.values()))

    def method_get(self, value: Value, key: Value, default: Value = NONE) -> Value:
        if isinstance(value, ir.Const):
            if not isinstance(value.value, dict):
                raise self.refuse(f"a {describe(value)} has no get")
            return self.lift(value.value.get(self.key(key)), None)
        found = self.dictionary(value).items.get(self.key(key), default)
        return self.known(f"[{self.key(key)!r}]", found)

    def method_setdefault(self, value: Value, key: Value, default: Value = NONE) -> Value:
        thing = self.dictionary(value)
        if self.key(key) not in thing.items:
            self.store_item(value, key, default)
        return self.dictionary(value).items[self.key(key)]

    def method_update(self, value: Value, other: Value | None = None, **named: Value) -> Value:
        items = dict(named)
        if other is not None:
            items = {**self.builtin_dict_items(other), **named}
        for k, v in items.items():
            self.store_item(value, ir.Const(k), v)
        return NONE

    def method_add(self, value: Value, item: Value) -> Value:
        thing = self.dictionary(value)
        self.writable(thing)
        assert isinstance(value, Ref)
        self.state.heap[value.id] = DictObject({**thing.items, self.key(item): item}, None, True)
        return NONE

    def store_item(self, container: Value, key: Value, value: Value) -> None:
        """`container[key] = value`."""
        if isinstance(container, Ref):
            thing = self.state.heap[container.id]
            if isinstance(thing, Instance):
                found = self.class_attribute(thing.type, "__setitem__")
                if found is None:
                    raise self.refuse(f"{thing.type.__name__} doesn't support item assignment")
                self.call(Bound(found, container), [key, value], {})
                return
            self.writable(thing)
            if isinstance(thing, DictObject):
                self.state.heap[container.id] = DictObject(
                    {**thing.items, self.key(key): value}, None, thing.is_set
                )
                return
            if thing.var is None and isinstance(key, ir.Const):
                items = list(thing.items)
                try:
                    items[key.value] = value
                except IndexError:
                    raise self.refuse("list assignment index out of range") from None
                self.state.heap[container.id] = ListObject(tuple(items))
                return
            if thing.var is None and isinstance(key, Slice):
                known = self.static_slice(key)
                if known is not None:
                    items = list(thing.items)
                    items[known] = self.unpacked(value)
                    self.state.heap[container.id] = ListObject(tuple(items))
                    return
            if isinstance(key, Slice):
                raise self.refuse("a slice of a list that is built in a loop can't be assigned")
            var = self.materialized(container)
            assert isinstance(var.kind, ListOf)
            var.kind = ListOf(self.joined_item(var.kind.item, value))
            self.emit(
                operator.setitem,
                (var, self.operand(key), self.operand(value)),
                inferred=Inferred(Opaque(None)),
                writes=(var,),
            )
            return
        if isinstance(container, Place):
            raise self.refuse(
                "this object belongs to the caller, who would see it change",
                "make a copy of it first, or return the value",
            )
        self.store(container, key, value)

    # Builtins

    def builtin_len(self, value: Value) -> Value:
        match value:
            case Tuple():
                return ir.Const(len(value.items))
            case Sequence():
                return value.length
            case ir.Const():
                return ir.Const(len(value.value))
            case Ref():
                thing = self.state.heap[value.id]
                if isinstance(thing, ListObject) and thing.var is not None:
                    return self.emit(len, (thing.var,), inferred=Inferred(int_kind()), name="count")
                if isinstance(thing, Instance):
                    found = self.class_attribute(thing.type, "__len__")
                    if found is None:
                        raise self.refuse(f"object of type {thing.type.__name__} has no len()")
                    return self.call(Bound(found, value), [], {})
                if isinstance(thing, DictObject):
                    self.settled_keys(thing)
                return ir.Const(len(thing.items))
            case ir.Var() if isinstance(value.kind, Array) and value.kind.shape:
                n = value.kind.shape[0]
                if isinstance(n, int):
                    return ir.Const(n)
                kind = Scalar(np.dtype(np.int64), True, n)
                return self.emit(len, (value,), inferred=Inferred(kind), name="n")
        return self.emit(len, (self.operand(value),), inferred=Inferred(int_kind()), name="n")

    def builtin_range(self, *args: Value) -> Value:
        parts = list(args)
        if len(parts) == 1:
            parts = [ir.Const(0), *parts]
        if len(parts) == 2:
            parts.append(ir.Const(1))
        if all(isinstance(p, ir.Const) for p in parts):
            known = range(*(p.value for p in parts))  # type: ignore[union-attr]
            length: Value = ir.Const(len(known))
            return Sequence(
                length,
                lambda i: (
                    ir.Const(known[i.value])
                    if isinstance(i, ir.Const)
                    else self.range_item(parts, i)
                ),
                False,
                tuple(parts),
            )
        start, stop, step = parts
        if isinstance(step, ir.Const) and step.value == 1:
            zero = isinstance(start, ir.Const) and start.value == 0
            length = stop if zero else self.binary(operator.sub, stop, start)
        else:
            length = self.emit(
                len_of_range, tuple(self.operand(p) for p in parts), inferred=Inferred(int_kind())
            )
        return Sequence(length, lambda i: self.range_item(parts, i), False, tuple(parts))

    def range_item(self, parts: list[Value], i: Value) -> Value:
        start, _, step = parts
        if not (isinstance(step, ir.Const) and step.value == 1):
            i = self.binary(operator.mul, i, step)
        if isinstance(start, ir.Const) and start.value == 0:
            return i
        return self.binary(operator.add, start, i)

    def builtin_enumerate(self, value: Value, start: Value = ir.Const(0)) -> Value:  # noqa: B008
        if isinstance(value, Generator):
            return self.counted_items(value, start)
        inner = self.require(value)
        return Sequence(
            inner.length,
            lambda i: (
                Tuple((self.binary(operator.add, i, start), self.item(inner, i)))
                if not (isinstance(start, ir.Const) and start.value == 0)
                else Tuple((i, self.item(inner, i)))
            ),
            inner.structural,
            eager=inner.eager,
        )

    def counted_items(self, generator: Generator, start: Value) -> Generator:
        """`enumerate` of a generator."""

        def run(body: Callable[[Value], None]) -> None:
            frame, name = self.current, self.hidden(start)

            def counted(item: Value) -> None:
                count = self.state.frames[frame][name]
                self.state.frames[frame][name] = self.binary(operator.add, count, ir.Const(1))
                body(Tuple((count, item)))

            self.iterate(generator, counted)
            self.state.frames[frame].pop(name, None)

        return Generator(run)

    def item(self, sequence: Sequence, i: Value) -> Value:
        return sequence.item(i)

    def require(self, value: Value) -> Sequence:
        sequence = self.sequence(value)
        if sequence is None:
            raise self.refuse(f"a {describe(value)} can't be iterated over")
        return sequence

    def builtin_zip(self, *values: Value, strict: Value | None = None) -> Value:
        eager = any(isinstance(v, Generator) for v in values)
        parts = [self.require(v) for v in values]
        lengths = [p.length for p in parts]
        finite = [n for n in lengths if not (isinstance(n, ir.Const) and n.value == ENDLESS)]
        lengths = finite or lengths
        known = [n.value for n in lengths if isinstance(n, ir.Const)]
        if not lengths:
            return Tuple(())
        if len(known) == len(lengths):
            length: Value = ir.Const(min(known))
        elif any(p.structural for p in parts):
            length = ir.Const(min(known))
        else:
            unique = [
                n
                for i, n in enumerate(lengths)
                if not any(self.same_length(n, m) for m in lengths[:i])
            ]
            length = unique[0]
            if len(unique) > 1:
                length = self.emit(
                    min, tuple(self.operand(n) for n in unique), inferred=Inferred(int_kind())
                )
        structural = any(p.structural for p in parts)
        return Sequence(
            length,
            lambda i: Tuple(tuple(self.item(p, i) for p in parts)),
            structural,
            eager=eager or any(p.eager for p in parts),
        )

    def same_length(self, a: Value, b: Value) -> bool:
        if self.same(a, b):
            return True
        sizes = [
            v.kind.size if isinstance(v, ir.Var) and isinstance(v.kind, Scalar) else None
            for v in (a, b)
        ]
        return sizes[0] is not None and sizes[0] == sizes[1]

    def builtin_reversed(self, value: Value) -> Value:
        inner = self.require(value)
        last = self.binary(operator.sub, inner.length, ir.Const(1))
        bounds: tuple[Value, Value, Value] | None = None
        if inner.bounds is not None:
            start, stop, step = inner.bounds
            if all(isinstance(b, ir.Const) for b in inner.bounds):
                r = range(start.value, stop.value, step.value)[::-1]
                bounds = (ir.Const(r.start), ir.Const(r.stop), ir.Const(r.step))
            elif isinstance(step, ir.Const) and step.value == 1:
                bounds = (
                    self.binary(operator.sub, stop, ir.Const(1)),
                    self.binary(operator.sub, start, ir.Const(1)),
                    ir.Const(-1),
                )
        return Sequence(
            inner.length,
            lambda i: self.item(inner, self.binary(operator.sub, last, i)),
            inner.structural,
            bounds,
        )

    def builtin_map(self, function: Value, *values: Value) -> Value:
        if len(values) == 1 and isinstance(values[0], Generator):
            inner = values[0]
            return Generator(
                lambda body: self.iterate(inner, lambda i: body(self.call(function, [i], {})))
            )
        zipped = self.require(self.builtin_zip(*values))

        def item(i: Value) -> Value:
            parts = zipped.item(i)
            assert isinstance(parts, Tuple)
            return self.call(function, list(parts.items), {})

        return Sequence(zipped.length, item, zipped.structural, eager=zipped.eager)

    def builtin_filter(self, function: Value, value: Value) -> Value:
        none = isinstance(function, ir.Const) and function.value is None

        def run(body: Callable[[Value], None]) -> None:
            def tested(item: Value) -> None:
                test = self.truth(item if none else self.call(function, [item], {}))
                if isinstance(test, ir.Const):
                    if test.value:
                        body(item)
                    return
                self.branch(test, lambda: body(item), lambda: None)

            self.iterate(value, tested)

        return Generator(run)

    def builtin_list(self, value: Value | None = None) -> Value:
        if value is None:
            return self.new(ListObject(()))
        if isinstance(value, Generator):
            ref = self.new(ListObject(()))
            self.iterate(value, lambda item: self.append(ref, item))
            return ref
        sequence = self.require(value)
        if isinstance(sequence.length, ir.Const) and sequence.length.value <= MOST_UNROLLED:
            items = [sequence.item(ir.Const(i)) for i in range(sequence.length.value)]
            return self.new(ListObject(tuple(items)))
        ref = self.new(ListObject(()))
        self.iterate(value, lambda item: self.append(ref, item))
        return ref

    def list_of_items(self, value: Value) -> Value:
        return self.builtin_list(value)

    def builtin_tuple(self, value: Value | None = None) -> Value:
        if value is None:
            return Tuple(())
        if isinstance(value, Generator):
            value = self.builtin_list(value)
        return Tuple(tuple(self.unpacked(value)))

    def builtin_dict_items(self, value: Value) -> dict[Any, Value]:
        if isinstance(value, Ref) and isinstance(self.state.heap[value.id], DictObject):
            return dict(self.dictionary(value).items)
        pairs = [self.unpacked(item) for item in self.unpacked(value)]
        return {self.key(k): v for k, v in pairs}

    def builtin_dict(self, value: Value | None = None, **named: Value) -> Value:
        items = {} if value is None else self.builtin_dict_items(value)
        return self.new(DictObject({**items, **named}))

    def builtin_set(self, value: Value | None = None) -> Value:
        items = [] if value is None else self.unpacked(value)
        return self.new(DictObject({self.key(i): i for i in items}, None, True))

    def hidden(self, start: Value) -> str:
        """A name of the current frame that no program can have."""
        name = f"%total{self.unique()}"
        self.state.frames[self.current][name] = start
        return name

    def builtin_sum(self, value: Value, start: Value = ir.Const(0)) -> Value:  # noqa: B008
        if isinstance(value, ir.Var) and isinstance(value.kind, Array):
            total = self.call_object(np.sum, [value], {"axis": ir.Const(0)})
            if isinstance(start, ir.Const) and start.value == 0:
                return total
            return self.binary(operator.add, start, total)
        return self.reduced(value, start, lambda a, b: self.binary(operator.add, a, b))

    def reduced(
        self, value: Value, start: Value | None, step: Callable[[Value, Value], Value]
    ) -> Value:
        """Combine the items of an iterable one by one."""
        frame = self.current
        if start is None:
            sequence = self.require(value)
            start = sequence.item(ir.Const(0))
            rest = self.binary(operator.sub, sequence.length, ir.Const(1))
            value = Sequence(
                rest,
                lambda i: sequence.item(self.binary(operator.add, i, ir.Const(1))),
                sequence.structural,
            )
        name = self.hidden(start)

        def combine(item: Value) -> None:
            values = self.state.frames[frame]
            zero = isinstance(values[name], ir.Const) and values[name].value == 0  # type: ignore[union-attr]
            first = (
                zero
                and step is not None
                and isinstance(start, ir.Const)
                and isinstance(item, ir.Var)
                and isinstance(item.kind, (Scalar, Array))
                and not self.in_loop()
            )
            values[name] = item if first else step(values[name], item)

        self.iterate(value, combine)
        return self.known("the total", self.state.frames[frame].pop(name))

    def in_loop(self) -> bool:
        return True

    def builtin_reduce(self, function: Value, value: Value, start: Value | None = None) -> Value:
        return self.reduced(value, start, lambda a, b: self.call(function, [a, b], {}))

    def builtin_min(self, *args: Value, **kwargs: Value) -> Value | None:
        return self.extreme(builtins.min, np.min, args, kwargs)

    def builtin_max(self, *args: Value, **kwargs: Value) -> Value | None:
        return self.extreme(builtins.max, np.max, args, kwargs)

    def extreme(
        self, function: Any, whole: Any, args: tuple[Value, ...], kwargs: dict[str, Value]
    ) -> Value | None:
        key = kwargs.pop("key", None)
        default = kwargs.pop("default", None)
        values: list[Value]
        if len(args) == 1:
            value = args[0]
            if key is None and isinstance(value, ir.Var) and isinstance(value.kind, Array):
                return self.call_object(whole, [value], {})
            if isinstance(value, Generator):
                value = self.builtin_list(value)
            thing = self.state.heap.get(value.id) if isinstance(value, Ref) else None
            sequence = self.require(value)
            if key is not None and not isinstance(sequence.length, ir.Const):
                return self.extreme_of_many(function is builtins.max, sequence, key)
            if isinstance(thing, ListObject) and thing.var is not None:
                array = self.emit(np.array, (thing.var,))
                return self.call_object(whole, [array], {})
            values = self.unpacked(value)
            if not values and default is not None:
                return default
        else:
            values = list(args)
        if key is not None:
            return self.extreme_by_key(function is builtins.max, values, key)
        if len(values) == 1:
            return values[0]
        return self.primitive(function, registry.lookup(function), values, {})

    def extreme_by_key(self, largest: bool, values: list[Value], key: Value) -> Value:
        best, best_key = values[0], self.call(key, [values[0]], {})
        for value in values[1:]:
            k = self.call(key, [value], {})
            test = self.truth(self.compare(gast.Gt() if largest else gast.Lt(), k, best_key))
            best, best_key = self.chosen(test, value, best), self.chosen(test, k, best_key)
        return best

    def extreme_of_many(self, largest: bool, sequence: Sequence, key: Value) -> Value:
        """The extreme item by key of a sequence whose length isn't known."""
        frame, one = self.current, ir.Const(1)
        start = sequence.item(ir.Const(0))
        best, best_key = self.hidden(start), self.hidden(self.call(key, [start], {}))
        rest = self.binary(operator.sub, sequence.length, one)

        def compare(item: Value) -> None:
            values = self.state.frames[frame]
            k = self.call(key, [item], {})
            op = gast.Gt() if largest else gast.Lt()
            test = self.truth(self.compare(op, k, values[best_key]))

            def take() -> None:
                self.state.frames[frame].update({best: item, best_key: k})

            if not isinstance(test, ir.Const):
                self.branch(test, take, lambda: None)
            elif test.value:
                take()

        later = Sequence(rest, lambda i: sequence.item(self.binary(operator.add, i, one)))
        self.iterate(later, compare)
        self.state.frames[frame].pop(best_key)
        return self.known("this value", self.state.frames[frame].pop(best))

    def chosen(self, test: ir.Var | ir.Const, a: Value, b: Value) -> Value:
        if isinstance(test, ir.Const):
            return a if test.value else b
        name = f"%chosen{self.unique()}"
        frame = self.current

        def put(value: Value) -> Callable[[], None]:
            def run() -> None:
                self.state.frames[frame][name] = value

            return run

        self.branch(test, put(a), put(b))
        return self.known("this value", self.state.frames[frame].pop(name))

    def builtin_sorted(self, value: Value, **kwargs: Value) -> Value:
        key, reverse = kwargs.get("key"), kwargs.get("reverse", FALSE)
        if not isinstance(reverse, ir.Const):
            raise self.refuse("reverse= must be known when compiling")
        if isinstance(value, (Generator, Sequence)):
            value = self.builtin_list(value)
        thing = self.state.heap.get(value.id) if isinstance(value, Ref) else None
        if not (isinstance(thing, ListObject) and thing.var is not None) and not (
            isinstance(value, ir.Var) and isinstance(value.kind, Array)
        ):
            items = self.unpacked(value)
            keys = [self.call(key, [i], {}) if key is not None else i for i in items]
            if all(isinstance(k, ir.Const) for k in keys):
                order = sorted(
                    range(len(items)),
                    key=lambda i: keys[i].value,  # type: ignore[union-attr]
                    reverse=reverse.value,
                )
                return self.new(ListObject(tuple(items[i] for i in order)))
            if key is not None:
                return self.insertion_sorted(items, keys, reverse.value)
        elif key is not None:
            raise self.refuse("sorted(key=...) of items that aren't known one by one")
        array = self.call_object(np.sort, [self.number(value)], {})  # type: ignore[list-item]
        if reverse.value:
            back = Slice(NONE, NONE, ir.Const(-1))
            array = self.subscript(array, back)
        return self.builtin_list(array)

    def insertion_sorted(self, items: list[Value], keys: list[Value], reverse: bool) -> Value:
        pairs = [Tuple((k, i)) for k, i in zip(keys, items, strict=True)]
        for last in range(len(pairs) - 1, 0, -1):
            for j in range(last):
                a, b = pairs[j], pairs[j + 1]
                op = gast.Lt() if reverse else gast.Gt()
                test = self.truth(self.compare(op, a.items[0], b.items[0]))
                both = list(zip(a.items, b.items, strict=True))
                pairs[j], pairs[j + 1] = (
                    Tuple(tuple(self.chosen(test, y, x) for x, y in both)),
                    Tuple(tuple(self.chosen(test, x, y) for x, y in both)),
                )
        return self.new(ListObject(tuple(p.items[1] for p in pairs)))

    def builtin_any(self, value: Value) -> Value:
        return self.quantified(value, operator.or_)

    def builtin_all(self, value: Value) -> Value:
        return self.quantified(value, operator.and_)

    def quantified(self, value: Value, function: Any) -> Value:
        if isinstance(value, ir.Var) and isinstance(value.kind, Array):
            whole = np.any if function is operator.or_ else np.all
            return self.call_object(whole, [value], {})
        start = ir.Const(function is operator.and_)

        def step(a: Value, b: Value) -> Value:
            test = self.boolean(b)
            if isinstance(test, ir.Const):
                return a if test.value == start.value else test
            if isinstance(a, ir.Const):
                return test if a.value == start.value else a
            return self.emit(function, (self.operand(a), test))

        return self.reduced(value, start, step)

    def builtin_isinstance(self, value: Value, classes: Value) -> Value:
        kinds = self.key(classes)
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        return ir.Const(any(self.is_instance(value, k) for k in kinds))

    def is_instance(self, value: Value, cls: Any) -> bool:
        match value:
            case ir.Const():
                return isinstance(value.value, cls)
            case Tuple():
                return issubclass(value.type, cls)
            case Ref():
                thing = self.state.heap[value.id]
                if isinstance(thing, Instance):
                    return issubclass(thing.type, cls)
                kind = list if isinstance(thing, ListObject) else set if thing.is_set else dict
                return issubclass(kind, cls)
            case ir.Var():
                return self.kind_is(value.kind, cls)
            case Closure():
                return issubclass(types.FunctionType, cls)
        raise self.refuse("isinstance() of this value isn't known when compiling")

    def kind_is(self, kind: Kind, cls: Any) -> bool:
        match kind:
            case Array(dtype, shape) if shape is not None:
                return issubclass(np.ndarray, cls)
            case Scalar(dtype, python):
                if python is None:
                    answers = {
                        issubclass(dtype.type, cls),
                        issubclass(type(dtype.type(0).item()), cls),
                    }
                    if len(answers) == 2:
                        raise self.refuse("whether this is a Python number isn't known")
                    return answers.pop()
                return issubclass(type(dtype.type(0).item()) if python else dtype.type, cls)
            case Opaque(type=t) if t is not None:
                return issubclass(t, cls)
            case ListOf():
                return issubclass(list, cls)
        raise self.refuse("isinstance() of this value isn't known when compiling")

    def builtin_type(self, value: Value, *rest: Value) -> Value:
        match value:
            case ir.Const():
                return Place(type(value.value))
            case Tuple():
                return Place(value.type)
            case Ref():
                thing = self.state.heap[value.id]
                if isinstance(thing, Instance):
                    return Place(thing.type)
                return Place(list if isinstance(thing, ListObject) else dict)
            case ir.Var():
                match value.kind:
                    case Array(shape=shape) if shape is not None:
                        return Place(np.ndarray)
                    case Scalar(dtype, python) if python is not None:
                        return Place(type(dtype.type(0).item()) if python else dtype.type)
        raise self.refuse("the type of this value isn't known when compiling")

    def builtin_callable(self, value: Value) -> Value:
        if isinstance(value, (Closure, Bound, Partial)):
            return TRUE
        if isinstance(value, ir.Const):
            return ir.Const(callable(value.value))
        return FALSE

    def builtin_hasattr(self, value: Value, name: Value) -> Value:
        try:
            self.attribute(value, self.key(name))
        except UnsupportedError:
            return FALSE
        return TRUE

    def builtin_getattr(self, value: Value, name: Value, *default: Value) -> Value:
        if default:
            try:
                return self.attribute(value, self.key(name))
            except UnsupportedError:
                return default[0]
        return self.attribute(value, self.key(name))

    def builtin_setattr(self, value: Value, name: Value, new: Value) -> Value:
        self.set_attribute(value, self.key(name), new)
        return NONE

    def builtin_slice(self, *args: Value) -> Value:
        parts = [NONE, *args] if len(args) == 1 else list(args)
        while len(parts) < 3:
            parts.append(NONE)
        return Slice(*parts)

    def builtin_divmod(self, a: Value, b: Value) -> Value:
        return Tuple((self.binary(operator.floordiv, a, b), self.binary(operator.mod, a, b)))

    def builtin_print(self, *args: Value, **kwargs: Value) -> Value:
        operands = tuple(self.shown(a) for a in args)
        named = {k: self.operand(v) for k, v in kwargs.items()}
        self.emit(print, operands, named, inferred=Inferred(Opaque(None)), effect=True)
        return NONE

    def shown(self, value: Value) -> ir.Operand:
        try:
            return self.operand(value)
        except UnsupportedError:
            return ir.Const(f"<{describe(value)}>")

    def builtin_text(self, value: Value = ir.Const("")) -> Value:  # noqa: B008
        if isinstance(value, ir.Const):
            return ir.Const(str(value.value))
        return self.emit(str, (self.shown(value),), inferred=Inferred(Opaque(str)))

    def builtin_super(self, *args: Value) -> Value:
        frame = self.frames[self.current]
        if frame.owner is None or frame.receiver is None:
            raise self.refuse("super() isn't supported here")
        return Super(frame.owner, frame.receiver)  # type: ignore[return-value]

    def attribute(self, value: Value, name: str) -> Value:
        if isinstance(value, Super):
            receiver = value.receiver
            cls = self.builtin_type(receiver)
            assert isinstance(cls, ir.Const)
            mro = list(cls.value.__mro__)
            for base in mro[mro.index(value.owner) + 1 :]:
                if name in base.__dict__ and base is not object:
                    return self.bound(Place(base.__dict__[name]), receiver, cls.value)
            if name == "__init__":
                return Place(_nothing)
            raise self.refuse(f"super() has no attribute {name!r}")
        return super().attribute(value, name)

    def builtin_iter(self, value: Value) -> Value:
        return self.require(value)

    def builtin_product(self, *values: Value, repeat: Value = ir.Const(1)) -> Value:  # noqa: B008
        lists = [self.unpacked(v) for v in values] * self.key(repeat)
        rows: list[tuple[Value, ...]] = [()]
        for items in lists:
            rows = [(*row, item) for row in rows for item in items]
        return Tuple(tuple(Tuple(row) for row in rows))

    def builtin_chain(self, *values: Value) -> Value:
        return Tuple(tuple(item for v in values for item in self.unpacked(v)))

    def builtin_combinations(self, value: Value, r: Value) -> Value:
        rows = itertools.combinations(self.unpacked(value), self.key(r))
        return Tuple(tuple(Tuple(row) for row in rows))

    def builtin_pairwise(self, value: Value) -> Value:
        inner = self.require(value)
        one = ir.Const(1)
        return Sequence(
            self.binary(operator.sub, inner.length, one),
            lambda i: Tuple((inner.item(i), inner.item(self.binary(operator.add, i, one)))),
            inner.structural,
        )

    def builtin_accumulate(
        self, value: Value, function: Value | None = None, *, initial: Value = NONE
    ) -> Value:
        def step(a: Value, b: Value) -> Value:
            if function is None or (isinstance(function, ir.Const) and function.value is None):
                return self.binary(operator.add, a, b)
            return self.call(function, [a, b], {})

        if isinstance(value, Generator):
            value = self.builtin_list(value)
        sequence, one = self.require(value), ir.Const(1)
        given = not (isinstance(initial, ir.Const) and initial.value is None)
        if isinstance(sequence.length, ir.Const):
            items: list[Value] = [initial] if given else []
            for item in self.unpacked(sequence):
                items.append(step(items[-1], item) if items else item)
            return Tuple(tuple(items))
        frame, ref = self.current, self.new(ListObject(()))
        total = self.hidden(initial if given else sequence.item(ir.Const(0)))
        self.append(ref, self.state.frames[frame][total])

        def add(item: Value) -> None:
            new = step(self.state.frames[frame][total], item)
            self.state.frames[frame][total] = new
            self.append(ref, new)

        if given:
            self.iterate(sequence, add)
        else:
            rest = self.binary(operator.sub, sequence.length, one)
            later = Sequence(rest, lambda i: sequence.item(self.binary(operator.add, i, one)))
            self.iterate(later, add)
        self.state.frames[frame].pop(total)
        return ref

    def builtin_repeat(self, value: Value, times: Value) -> Value:
        return Sequence(times, lambda i: value, False)

    def builtin_bisect_left(self, items: Value, x: Value, *bounds: Value) -> Value:
        return self.bisected(bisect.bisect_left, items, x, bounds)

    def builtin_bisect_right(self, items: Value, x: Value, *bounds: Value) -> Value:
        return self.bisected(bisect.bisect_right, items, x, bounds)

    def bisected(self, function: Any, items: Value, x: Value, bounds: tuple[Value, ...]) -> Value:
        """An index into a sorted list: an int without a derivative."""
        operands = tuple(self.operand(v) for v in (items, x, *bounds))
        known = [constant(o) for o in operands]
        if all(k for k, _ in known):
            return ir.Const(function(*(v for _, v in known)))
        return self.emit(function, operands, inferred=Inferred(int_kind()), name="i")

    def builtin_fromkeys(self, keys: Value, value: Value = NONE) -> Value:
        return self.new(DictObject({self.key(k): value for k in self.unpacked(keys)}))

    def builtin_islice(self, value: Value, *bounds: Value) -> Value:
        if isinstance(value, Generator):
            value = self.builtin_list(value)
        parts = [NONE, *bounds] if len(bounds) == 1 else list(bounds)
        cut = Slice(*parts, *([NONE] * (3 - len(parts))))
        if isinstance(value, ir.Var):
            return self.subscript(value, cut)
        return self.subscript(self.builtin_list(value), cut)

    def builtin_count(
        self,
        start: Value = ir.Const(0),  # noqa: B008
        step: Value = ir.Const(1),  # noqa: B008
    ) -> Value:
        def item(i: Value) -> Value:
            return self.binary(operator.add, start, self.binary(operator.mul, i, step))

        return Sequence(ir.Const(ENDLESS), item)

    def builtin_starmap(self, function: Value, value: Value) -> Value:
        def run(body: Callable[[Value], None]) -> None:
            self.iterate(value, lambda item: body(self.call(function, self.unpacked(item), {})))

        return Generator(run)

    def builtin_takewhile(self, function: Value, value: Value) -> Value:
        raise self.refuse("itertools.takewhile isn't supported", "write a loop with a break")

    def builtin_permutations(self, value: Value, r: Value = NONE) -> Value:
        rows = itertools.permutations(self.unpacked(value), self.key(r))
        return Tuple(tuple(Tuple(row) for row in rows))

    def builtin_replacements(self, value: Value, r: Value) -> Value:
        rows = itertools.combinations_with_replacement(self.unpacked(value), self.key(r))
        return Tuple(tuple(Tuple(row) for row in rows))

    def builtin_from_iterable(self, value: Value) -> Value:
        return self.builtin_chain(*self.unpacked(value))

    def namedtuple_replace(self, value: Value, /, **changes: Value) -> Value:
        assert isinstance(value, Tuple)
        fields = list(getattr(value.type, "_fields", ()))
        unknown = [name for name in changes if name not in fields]
        if unknown:
            raise self.refuse(f"{value.type.__name__} has no field {unknown[0]!r}")
        pairs = zip(fields, value.items, strict=True)
        return Tuple(tuple(changes.get(name, item) for name, item in pairs), value.type)

    def namedtuple_asdict(self, value: Value, /) -> Value:
        assert isinstance(value, Tuple)
        fields = getattr(value.type, "_fields", ())
        return self.new(DictObject(dict(zip(fields, value.items, strict=True))))

    def builtin_ndindex(self, *shape: Value) -> Value:
        """`np.ndindex`: the indices of an array, one loop in the other."""
        lengths = list(shape)
        if len(lengths) == 1 and self.sequence_type(lengths[0]) is not None:
            lengths = self.unpacked(lengths[0])

        def run(body: Callable[[Value], None]) -> None:
            def level(before: tuple[Value, ...]) -> None:
                if len(before) == len(lengths):
                    body(Tuple(before))
                    return
                inner = self.builtin_range(lengths[len(before)])
                self.iterate(inner, lambda i: level((*before, i)), "ijkl"[len(before) % 4])

            level(())

        return Generator(run)

    def builtin_ndenumerate(self, array: Value) -> Value:
        def run(body: Callable[[Value], None]) -> None:
            indices = self.builtin_ndindex(self.attribute(array, "shape"))
            self.iterate(indices, lambda i: body(Tuple((i, self.subscript(array, i)))))

        return Generator(run)

    def builtin_nditer(self, array: Value, **options: Value) -> Value:
        if options:
            raise self.refuse("np.nditer with options isn't supported", "use np.ndindex")
        return self.attribute(array, "flat")

    def builtin_partial(self, function: Value, *args: Value, **kwargs: Value) -> Value:
        return Partial(function, args, dict(kwargs))


@dataclasses.dataclass(eq=False, slots=True)
class Super:
    owner: type
    receiver: Value


@dataclasses.dataclass(eq=False, slots=True)
class Trying:
    """A try: the calls in it of which it is known that they don't fail."""

    tried: set[Any] = dataclasses.field(default_factory=set)


class MayFail(Exception):
    """A call inside a try may fail; `test` is true if it does."""

    def __init__(self, test: ir.Var, name: str) -> None:
        super().__init__()
        self.test, self.name = test, name


def is_generator(node: Any) -> bool:
    """Whether a function node has a yield of its own."""
    if isinstance(node, gast.Lambda):
        return False
    return any(isinstance(n, (gast.Yield, gast.YieldFrom)) for n in own_nodes(node.body))


def _nothing(*args: Any, **kwargs: Any) -> None:
    return None


def len_of_range(start: int, stop: int, step: int) -> int:
    """The number of steps of `range(start, stop, step)`."""
    return len(range(start, stop, step))


def constant(operand: ir.Operand) -> tuple[bool, Any]:
    """Whether an operand is known when compiling, and its value."""
    if isinstance(operand, ir.Const):
        simple = isinstance(operand.value, (*SIMPLE, np.dtype, type, tuple)) and not isinstance(
            operand.value, np.generic
        )
        return simple, operand.value
    if isinstance(operand, ir.Pack):
        parts = [constant(item) for item in operand.items]
        if all(known for known, _ in parts):
            values = [value for _, value in parts]
            return True, slice(*values) if operand.type is slice else operand.type(values)
    return False, None


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _mutable(value: Any) -> bool:
    return isinstance(value, (list, dict, set, np.ndarray))


def _is_numpy(function: Any) -> bool:
    module = getattr(function, "__module__", None) or ""
    if _is_random(function):
        return True
    return module.partition(".")[0] in ("numpy", "scipy", "math", "cmath", "_operator")


def _is_scipy(function: Any) -> bool:
    if not isinstance(function, (types.FunctionType, types.BuiltinFunctionType, type)):
        return False
    return (getattr(function, "__module__", None) or "").partition(".")[0] == "scipy"


def _is_random(function: Any) -> bool:
    owner = getattr(function, "__self__", None)
    cls = getattr(function, "__objclass__", None)
    kinds = (np.random.Generator, np.random.RandomState)
    return isinstance(owner, kinds) or cls in kinds


def _own_init(cls: type) -> bool:
    for base in cls.__mro__:
        if "__init__" in base.__dict__:
            init = base.__dict__["__init__"]
            params = getattr(base, "__dataclass_params__", None)
            own = "__dataclass_fields__" in base.__dict__
            generated = params is not None and params.init and own
            return not generated or init.__code__.co_filename != "<string>"
    return False


def _owner(function: types.FunctionType) -> type | None:
    """The class in whose body a method was defined, from the cell that `super()` uses."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name == "__class__":
            try:
                return cell.cell_contents  # type: ignore[no-any-return]
            except ValueError:
                return None
    return None


_RETURNING = frozenset(
    {
        operator.iadd,
        operator.isub,
        operator.imul,
        operator.itruediv,
        operator.ipow,
        operator.imod,
        operator.ifloordiv,
        operator.imatmul,
    }
)


def _special_table() -> dict[Any, str]:
    table: dict[Any, str] = {
        getattr(builtins, name): f"builtin_{name}"
        for name in (
            "len range enumerate zip reversed map filter list tuple dict set sum min max any all "
            "isinstance type callable hasattr getattr setattr slice divmod print super iter sorted"
        ).split()
    }
    table[frozenset] = "builtin_set"
    table[str] = table[repr] = "builtin_text"
    table[functools.reduce] = "builtin_reduce"
    table[functools.partial] = "builtin_partial"
    for name in (
        "product chain combinations permutations pairwise accumulate repeat islice count starmap "
        "takewhile"
    ).split():
        table[getattr(itertools, name)] = f"builtin_{name}"
    table[itertools.combinations_with_replacement] = "builtin_replacements"
    table[itertools.chain.from_iterable] = "builtin_from_iterable"
    table[bisect.bisect_left] = "builtin_bisect_left"
    table[bisect.bisect_right] = "builtin_bisect_right"
    for name in "ndindex ndenumerate nditer".split():
        table[getattr(np, name)] = f"builtin_{name}"
    table[dict.fromkeys] = "builtin_fromkeys"
    for function in NAMEDTUPLE.values():
        table[function] = function.__name__
    for name in "append extend pop insert reverse copy clear index".split():
        table[getattr(list, name)] = f"method_{name}"
    for name in "pop items keys values get setdefault update copy clear".split():
        table[getattr(dict, name)] = f"method_{name}"
    table[set.add] = "method_add"
    for name in "remove count sort".split():
        table[getattr(list, name)] = f"method_{name}"
    for name in "remove discard".split():
        table[getattr(set, name)] = f"method_{name}"
    for name in "popleft appendleft".split():
        table[getattr(collections.deque, name)] = f"method_{name}"
    return table


SPECIAL = _special_table()
__all__ = ["Calls", "Materialize", "infer"]
