"""Calls of primitives: NumPy's functions and what else has a rule or can't be looked into."""

from __future__ import annotations

import functools
import inspect
import itertools
import operator
import types
from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.alternatives import takes_dtype
from ..analysis.inference import Inferred, infer
from ..joins import is_complex
from ..kinds import Array, ListOf, Opaque, Scalar, TupleOf
from ..packages import told
from ..rules import registry
from ..rules.parameters import SPLITTING, role
from ..signature import UNEVALUATED
from .absences import by_option
from .inlining import Inlining
from .powers import check_power
from .predicates import NONE, is_asked, is_iterator, is_none, is_range
from .purity import has_effect
from .refusals import name_of
from .structure import folded, of_any_length, resized
from .values import (
    Bound,
    Closure,
    Generator,
    Instance,
    ListObject,
    Partial,
    Ref,
    Sequence,
    Slice,
    Tuple,
    Value,
)

# Their rules take the adjoint apart into as many pieces; there is another for an array of arrays.
JOINING = frozenset({np.concatenate, np.hstack, np.vstack})
NEED_ITEMS = frozenset({np.column_stack, np.dstack, np.block})  # their rules take items apart

WRITTEN = frozenset({"out", "copy"})  # parameters that say what a function writes
# Keywords of a ufunc that say nothing.
DEFAULTS = {"where": True, "order": "K", "subok": True, "casting": "same_kind"}
# What such functions do with `out=` one of their operands
AUGMENTING: dict[Any, Any] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
}
UNSIGNED = {np.dot: ("a", "b", "out"), np.concatenate: ("arrays", "axis", "out")}
UFUNC_METHODS = {
    "reduce": ("array", "axis", "dtype", "out", "keepdims", "initial", "where"),
    "accumulate": ("array", "axis", "dtype", "out"),
    "reduceat": ("array", "indices", "axis", "dtype", "out"),
}


class Dynamic(Exception):
    """A value isn't known when compiling."""


BY_DTYPE = frozenset({np.result_type, np.common_type})  # what they say hangs on dtypes alone
RULES = "srcgrad.rules."  # the modules of rules and definitions

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


def is_told_by_run(
    function: Any, operands: tuple[ir.Operand, ...], named: dict[str, ir.Operand]
) -> bool:
    """Whether what is passed beside an array, which only the run knows, tells the result's kind."""
    of_run = any(isinstance(o, ir.Var) for o in (*operands[1:], *named.values()))
    return of_run and registry.kinds[function](operands, named) is None


def of_numpy(function: Any) -> bool:
    """Whether NumPy has such a function."""
    module = str(told(function, "__module__")).partition(".")[0]
    return isinstance(function, np.ufunc) or module == "numpy"


class Primitives(Inlining):
    """Emits calls of primitives."""

    def writing(
        self, function: Any, args: list[Value], kwargs: dict[str, Value]
    ) -> tuple[list[Value], dict[str, Value]]:
        """The arguments, where those that say what is written in place stand by name.

        What a function may overwrite is left as it is: no program can count on what it holds then.
        """
        names, place, optional = _writing_parameters(function)
        if place is not None and place < len(args) <= len(names):
            named = dict(zip(names[place:], args[place:], strict=False))
            if not named.keys() & kwargs.keys():
                args, kwargs = args[:place], {**named, **kwargs}
                while args and names[len(args) - 1] in optional and is_none(args[-1]):
                    args.pop()
        if any(name.startswith("overwrite_") for name in kwargs) and _is_numpy(function):
            kwargs = {k: v for k, v in kwargs.items() if not k.startswith("overwrite_")}
        return args, kwargs

    def arguments(
        self, function: Any, args: list[Value], kwargs: dict[str, Value]
    ) -> tuple[list[Value], dict[str, Value]]:
        """A primitive's arguments as its rule wants them: by position, and arrays for lists."""
        kwargs = {k: v for k, v in kwargs.items() if not _is_missing(v)}
        if "where" in kwargs and (
            _is_numpy(function) or isinstance(told(function, "__self__"), np.ufunc)
        ):
            kwargs["where"] = self.mask(kwargs["where"])
        if kwargs and (_is_numpy(function) or told(function, "__module__") == "builtins"):
            names = _positional_names(function, not args)
            args, kwargs = list(args), dict(kwargs)
            while len(args) < len(names) and names[len(args)] in kwargs:
                args.append(kwargs.pop(names[len(args)]))
        if function in SPLITTING and args:
            axis = args[2] if len(args) > 2 else ir.Const(SPLITTING[function])
            self.check_split(function, args[0], axis)
        args = [self.datum(function, i, a) for i, a in enumerate(args)]
        if function in JOINING and args:
            args[0] = self.array_of_arrays(args[0])
        return args, {k: self.datum(function, k, v) for k, v in kwargs.items()}

    def datum(self, function: Any, parameter: int | str, value: Value) -> Value:
        """An argument as its parameter takes it; an iterator, of which NumPy would take none."""
        said = role(function, parameter)
        iterates = (is_iterator(value) and not is_range(value)) or self.is_cursor(value)
        if iterates and said != "other":
            raise self.refuse(
                "NumPy doesn't go through an iterator: it takes it for one object",
                "make a list of it: list(...)",
            )
        return self.data(value, said)

    def check_split(self, function: Any, value: Value, axis: Value) -> None:
        """Refuse to split a list along another axis than the first."""
        kind = value.kind if isinstance(value, ir.Var) else None
        listed = isinstance(kind, (ListOf, TupleOf)) or self.is_sequence(value)
        if listed and not (isinstance(axis, ir.Const) and axis.value == 0):
            raise self.refuse(
                f"np.{function.__name__} takes the length of a list for that of any axis",
                "make an array of it: np.array(...)",
            )

    def mask(self, where: Value) -> Value:
        """What says which places are meant as truth values: of the int `~flag`, too."""
        if isinstance(where, ir.Const) and np.ndim(where.value) == 0:
            return where if where.value is None else ir.Const(bool(where.value))
        kind = getattr(where, "kind", None)
        dtype = kind.dtype if isinstance(kind, (Array, Scalar)) else None
        if dtype == np.bool_ and dtype is not None:
            return where
        if dtype is not None and isinstance(kind, Array):
            raise self.fault(TypeError, "an array for where= must be of truth values")
        return self.call_object(np.asarray, [where, ir.Const(np.bool_)], {})

    def data(self, value: Value, role: str) -> Value:
        """An argument in its role: a list or tuple given for an array becomes one."""
        if role == "object":
            return self.with_array_items(value)
        if role == "other" or isinstance(value, (ir.Var, ir.Const)):
            kind = value.kind if isinstance(value, ir.Var) else None
            if role == "array" and kind == Opaque(None):
                return self.emit(np.asarray, (value,))  # type: ignore[arg-type]
            if role != "array" or not isinstance(kind, (ListOf, TupleOf)):
                return value
        if role == "array" and isinstance(value, Sequence) and value.bounds is not None:
            return self.array_of_range(value)
        if isinstance(value, (Generator, Sequence)):
            value = self.builtin_list(value)
        items = self.state.heap[value.id] if isinstance(value, Ref) else value
        if not isinstance(items, (Tuple, ListObject)):
            return value
        if role == "array":
            return self.number(self.with_array_items(value))  # type: ignore[return-value]
        if isinstance(items, ListObject) and items.var is not None:
            return self.with_array_items(value)
        arrays = tuple(
            self.data(item, "arrays" if self.holds_arrays(item) else "array")
            for item in items.items
        )
        if all(a is b for a, b in zip(arrays, items.items, strict=True)):
            return value
        return Tuple(arrays) if isinstance(items, Tuple) else self.new(ListObject(arrays))

    def primitive(
        self,
        function: Any,
        record: registry.Primitive | None,
        args: list[Value],
        kwargs: dict[str, Value],
    ) -> Value:
        if record is not None and record.always:
            name = told(function, "__qualname__") or function.__name__
            raise self.refuse(f"{name} isn't supported", record.refused)
        if record is not None and record.copying in kwargs:
            copied, kwargs = kwargs[record.copying], dict(kwargs)
            del kwargs[record.copying]
            x = args[0]
            if not self.key(copied) and isinstance(x, ir.Var):
                written = self.with_out(function, record, args, {**kwargs, "out": x})
                number = isinstance(x.kind, Array) and x.kind.shape == ()
                return self.subscript(written, Tuple(())) if number else written
        if isinstance(function, np.ufunc):
            kwargs = {k: v for k, v in kwargs.items() if not _is_default(k, v)}
        out = kwargs.get("out")
        if isinstance(function, np.ufunc) and "dtype" in kwargs:
            args, kwargs = self.in_dtype(function, args, kwargs)
        if out is not None and not is_none(out):
            return self.with_out(function, record, args, kwargs)
        if isinstance(function, np.ufunc) and function.nin < len(args) <= function.nargs:
            names = args[function.nin :]
            left = function.nargs - len(args)
            target = names[0] if function.nout == 1 else Tuple((*names, *[NONE] * left))
            rest = args[: function.nin]
            return self.with_out(function, record, rest, {**kwargs, "out": target})
        either: Value | None = by_option(self, function, args, kwargs)
        if either is not None:
            return either
        if function in NEED_ITEMS and args:
            self.need_items(args[0])
        args = [self.converted(function, a) for a in args]
        operands = tuple(self.argument(a, function) for a in args)
        named = {k: self.argument(v, function) for k, v in kwargs.items() if k != "out"}
        effect = has_effect(function)
        if record is not None and (record.differentiable or record.inert) and not effect:
            known = folded(function, operands, named)
            if known is not None:
                return known
        if self.trying is not None:
            self.guard(function, operands, named)
        check_power(self, function, operands)
        writes: tuple[ir.Var, ...] = ()
        if function in registry.inplace_rules:
            writes = tuple(ir.variables(operands[0]))
            for array in writes:
                self.check_floats(array, *operands[1:], *named.values())
            self.emit(function, operands, named, inferred=Inferred(Opaque(None)), writes=writes)
            return args[0] if function in _RETURNING else NONE
        if record is not None and record.mutates:
            writes = tuple(v for i in record.mutates for v in self.written(i, operands, named))
        if function in registry.written_out and is_told_by_run(function, operands, named):
            self.need_known_ints(operands, named)
            return self.defined(function, registry.written_out[function], args, kwargs)
        var = self.emit(function, operands, named, effect=effect, writes=writes)
        unknown = isinstance(var.kind, Array) and var.kind.dtype is None
        if unknown and takes_dtype(infer, function, operands, named):
            self.check_floats(var, ir.Const(0.0))
        if record is None or record.refused is not None:
            var = self.beyond_samples(function, var, operands)
        return self.project(var)

    def beyond_samples(
        self, function: Any, var: ir.Var, operands: tuple[ir.Operand, ...]
    ) -> ir.Var:
        """The result of a function of which no rule tells more than samples do."""
        if (told(function, "__module__") or "").startswith("scipy."):
            var.kind = of_any_length(var.kind)
        kind = var.kind
        if isinstance(kind, Scalar) and kind.python and kind.dtype.kind == "i":
            if any(map(_is_float, operands)):  # of other floats it may be a float
                return self.emit(operator.index, (var,), inferred=Inferred(kind), effect=True)
        return var

    # Lists in the place of arrays

    def array_of(self, value: Value) -> Value:
        """`np.array(value)`; the items of a list that is made at run time are made arrays first."""
        return self.emit(np.array, (self.operand(self.with_array_items(value)),))

    def with_array_items(self, value: Value) -> Value:
        """A list at run time of tuples or lists as a list of arrays; other values as they are."""
        thing = self.on_heap(value)
        if isinstance(thing, ListObject) and thing.var is None:
            inner = tuple(map(self.with_array_items, thing.items))
            if all(a is b for a, b in zip(inner, thing.items, strict=True)):
                return value
            return self.new(ListObject(inner))
        if not isinstance(thing, ListObject) or thing.var is None:
            return value
        kind = thing.var.kind
        if not isinstance(kind, ListOf) or not isinstance(kind.item, (tuple, ListOf)):
            return value
        sequence = self.require(value)
        return self.listed(sequence.length, lambda i: self.array_of(sequence.item(i)))

    def holds_arrays(self, value: Value) -> bool:
        """Whether a list or tuple holds arrays rather than numbers: a row of blocks."""
        items = self.state.heap.get(value.id) if isinstance(value, Ref) else value
        if not isinstance(items, (Tuple, ListObject)):
            return False
        return any(
            isinstance(item, ir.Var) and isinstance(item.kind, Array) and item.kind.shape != ()
            for item in items.items
        ) or any(map(self.holds_arrays, items.items))

    def array_of_arrays(self, value: Value) -> Value:
        """The array of the arrays, alike in shape, of a list that exists at run time."""
        thing = self.on_heap(value)
        var = thing.var if isinstance(thing, ListObject) else None
        if var is None or not isinstance(var.kind, ListOf) or not isinstance(var.kind.item, Array):
            return value
        alike = resized(var.kind.item, self.first_loop) == var.kind.item
        return self.emit(np.array, (var,)) if alike and var.kind.item.shape else value

    def written(
        self, which: int | str, operands: tuple[ir.Operand, ...], named: dict[str, ir.Operand]
    ) -> list[ir.Var]:
        if isinstance(which, str):
            return list(ir.variables(named[which])) if which in named else []
        return list(ir.variables(operands[which])) if which < len(operands) else []

    def converted(self, function: Any, value: Value) -> Value:
        """The array that an object makes of itself for a function of NumPy, or that is made of its
        items; else the value. In a list or tuple, the objects are arrays.

        As NumPy does: not for functions that the class implements, or takes over. And the float
        that `math` makes of a complex number of NumPy's, or fails to.
        """
        if told(function, "__module__") == "math" and is_complex(getattr(value, "kind", None)):
            return self.call_object(float, [value], {})
        thing = self.state.heap.get(value.id) if isinstance(value, Ref) else value
        if not isinstance(thing, (Instance, ListObject, Tuple)) or not of_numpy(function):
            return value
        if not isinstance(thing, Instance):
            return self.with_converted_items(function, value, thing)
        own = ["__array__", function.__name__]
        if isinstance(function, np.ufunc):
            own.append("__array_ufunc__")
        elif hasattr(function, "_implementation"):
            own.append("__array_function__")
        made, *other = (self.class_attribute(thing.type, name) for name in own)
        if any(found is not None for found in other):
            return value
        if made is not None:
            return self.call(Bound(made, value), [], {})
        items = [self.class_attribute(thing.type, name) for name in ("__len__", "__getitem__")]
        return value if None in items else self.array_of(self.builtin_list(value))

    def with_converted_items(
        self, function: Any, value: Value, sequence: ListObject | Tuple
    ) -> Value:
        """A list or tuple in which what makes arrays of itself is an array."""
        if isinstance(sequence, ListObject) and sequence.var is not None:
            return value
        items = tuple(self.converted(function, item) for item in sequence.items)
        if all(a is b for a, b in zip(items, sequence.items, strict=True)):
            return value
        return Tuple(items) if isinstance(sequence, Tuple) else self.new(ListObject(items))

    def argument(self, value: Value, called: Any = None) -> ir.Operand:
        """What a primitive is called with."""
        if isinstance(value, (Closure, Bound, Partial)):
            name = "a function" if called is None else f"{name_of(called)}, which"
            raise self.refuse(
                f"a function can't be passed to {name} srcgrad doesn't look into",
                "where what that returns is a constant, call it outside",
            )
        made = value.value if isinstance(value, ir.Const) else None
        if isinstance(made, type) and issubclass(made, np.ndarray) and made is not np.ndarray:
            raise self.refuse(
                f"{made.__name__} is a class derived from np.ndarray, whose operations may differ",
                "use an array, and functions of it",
            )
        if isinstance(value, (Sequence, Generator)):
            return self.operand(self.builtin_list(value))
        if isinstance(value, Tuple) and value.whole is None:
            return ir.Pack(tuple, tuple(map(self.argument, value.items)))
        return self.operand(value)

    def in_dtype(
        self, function: np.ufunc, args: list[Value], kwargs: dict[str, Value]
    ) -> tuple[list[Value], dict[str, Value]]:
        """`ufunc(x, dtype=d)` means `ufunc(np.asarray(x, d))` if the ufunc takes operands of it."""
        given = kwargs["dtype"]
        if not isinstance(given, ir.Const):
            return args, kwargs
        rest = {k: v for k, v in kwargs.items() if k != "dtype"}
        if given.value is None:
            return args, rest
        dtype = np.dtype(given.value)
        dtypes = [_dtype(a, dtype) for a in args[: function.nin]]
        casting = kwargs.get("casting", ir.Const("same_kind"))
        if not isinstance(casting, ir.Const):
            return args, kwargs
        if dtype.kind != "c" and any(d is None or d.kind == "c" for d in dtypes):
            return args, kwargs
        if not all(d is None or np.can_cast(d, dtype, casting.value) for d in dtypes):
            return args, kwargs  # NumPy raises
        if not any(t.startswith(dtype.char * function.nin + "->") for t in function.types):
            return args, kwargs
        operands = [self.call_object(np.asarray, [a, given], {}) for a in args[: function.nin]]
        return [*operands, *args[function.nin :]], rest

    def with_out(
        self, function: Any, record: Any, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        """`f(x, out=y)` means `y[...] = f(x)`."""
        out = kwargs.pop("out")
        where = kwargs.pop("where", None)
        if isinstance(out, Tuple) and len(out.items) == 1:
            out = out.items[0]
        if where is not None and not (isinstance(where, ir.Const) and where.value is True):
            if isinstance(function, np.ufunc):
                return self.masked(function, args, kwargs, where, out)
            kwargs["where"] = where  # it says of which items the sum is
        if has_effect(function):
            raise self.refuse("out= of random numbers isn't supported", "assign what is returned")
        if function in registry.ignoring_out:
            raise self.refuse(f"{function.__name__} writes nothing into out=", "leave it out")
        if function in AUGMENTING and not kwargs and isinstance(out, ir.Var):
            a, b = args
            if a is out or (b is out and function in (np.add, np.multiply)):
                return self.augmented(AUGMENTING[function], out, b if a is out else a)
        if function in registry.summing_in_out:
            args, kwargs = _in_dtype_of(out, function, args, kwargs)
        result = self.primitive(function, record, args, kwargs)
        targets = out.items if isinstance(out, Tuple) else (out,)
        results = result.items if isinstance(result, Tuple) else (result,)
        if len(targets) != len(results):
            raise self.refuse("out= has to be as many arrays as there are results")
        returned = []
        for i, (target, item) in enumerate(zip(targets, results, strict=True)):
            if not is_none(target):
                self.check_cast(function, item, target)
                self.check_axes(function, item, target)
                if isinstance(target, ir.Var):  # it isn't read, but written meanwhile
                    self.check_unread(target, *map(self.operand, targets[i + 1 :]))
                self.store(target, ir.Const(Ellipsis), item)
            returned.append(item if is_none(target) else target)
        return Tuple(tuple(returned)) if isinstance(out, Tuple) else returned[0]

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
            if value is not where:  # it may be part of what is written later
                value = self.call_object(np.copy, [value], {})
            return self.call_object(np.broadcast_to, [value, shape], {})

        mask = spread(where)
        chosen = [
            self.subscript(spread(a), mask)
            if isinstance(a, ir.Var) and isinstance(a.kind, Array)
            else a
            for a in args
        ]
        result = self.call_object(function, chosen, {})
        self.check_cast(function, result, out)
        self.store(out, mask, result)
        return out

    def check_cast(self, function: Any, value: Value, out: Value) -> None:
        """What is written by `out=` must fit its dtype, unlike what is stored.

        That is what ufuncs ask; some other functions cast whatever they are given, in their ways.
        """
        kinds = [getattr(v, "kind", None) for v in (value, out)]
        given, taken = (getattr(kind, "dtype", None) for kind in kinds)
        if given is None or taken is None or getattr(kinds[0], "mixed", False):
            return
        if np.can_cast(given, taken, "same_kind"):
            return
        message = f"the output can't be cast from {given!r} to {taken!r}"
        if not isinstance(function, np.ufunc):
            advice = "assign what is returned, or make out= an array of its dtype"
            raise self.refuse(message, advice)
        raise self.fault(TypeError, message)

    def check_axes(self, function: Any, value: Value, out: Value) -> None:
        """Only what is computed element by element is broadcast to `out=`."""
        if isinstance(function, np.ufunc) or function in registry.batch_elementwise:
            return
        given, taken = (getattr(getattr(v, "kind", None), "shape", None) for v in (value, out))
        if given is not None and taken is not None and len(given) != len(taken):
            message = f"the output has {len(given)} axes, not {len(taken)} as what it is written to"
            raise self.fault(ValueError, message)

    def computed(self, function: Any, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
        """The result of a rule's helper of known arguments, which needn't be lowered."""
        try:
            values = [self.like(a) if function in BY_DTYPE else self.static(a) for a in args]
            named = {k: self.static(a) for k, a in kwargs.items()}
        except Dynamic:
            return None
        if any(isinstance(v, (types.ModuleType, *registry.GENERATORS)) for v in values):
            return None  # it draws from them
        before = repr((values, named))
        try:
            result = function(*values, **named)
        except Exception:
            return None  # lowering it refuses, and says where, or raises when run
        if repr((values, named)) != before:
            return None  # it changes a list that it is given
        if str(type(result).__module__).startswith(RULES):
            return None  # an object of a class that lowering sees through
        return self.unstatic(result)

    def signature(self, function: Value) -> Value | None:
        """What `inspect.signature` says of a function made here; None if it isn't known."""
        if isinstance(function, Bound):
            of_function = self.call(ir.Const(inspect.signature), [function.function], {})
            whole = of_function.value if isinstance(of_function, ir.Const) else None
            if not isinstance(whole, inspect.Signature):
                return None
            return self.unstatic(whole.replace(parameters=list(whole.parameters.values())[1:]))
        if not isinstance(function, Closure):
            return None
        a = function.node.args
        positional = [*a.posonlyargs, *a.args]
        try:
            last = [self.static(d) for d in function.defaults]
            named = {k: self.static(d) for k, d in function.keyword_defaults.items()}
        except Dynamic:
            return None
        empty = inspect.Parameter.empty
        defaults = [*[empty] * (len(positional) - len(last)), *last]
        kinds: list[Any] = [inspect.Parameter.POSITIONAL_ONLY] * len(a.posonlyargs)
        kinds += [inspect.Parameter.POSITIONAL_OR_KEYWORD] * len(a.args)
        found = [
            inspect.Parameter(self.argument_name(p), kind, default=default)
            for p, kind, default in zip(positional, kinds, defaults, strict=True)
        ]
        if a.vararg is not None:
            name = self.argument_name(a.vararg)
            found.append(inspect.Parameter(name, inspect.Parameter.VAR_POSITIONAL))
        for name in map(self.argument_name, a.kwonlyargs):
            default, kind = named.get(name, empty), inspect.Parameter.KEYWORD_ONLY
            found.append(inspect.Parameter(name, kind, default=default))
        if a.kwarg is not None:
            name = self.argument_name(a.kwarg)
            found.append(inspect.Parameter(name, inspect.Parameter.VAR_KEYWORD))
        return self.unstatic(inspect.Signature(found))

    def like(self, value: Value) -> Any:
        """A number or array of a known dtype, or the Python value of an abstract value."""
        kind = value.kind if isinstance(value, ir.Var) else None
        if isinstance(kind, Array) and kind.dtype is not None:
            return np.zeros(1, kind.dtype)
        if isinstance(kind, Scalar) and kind.python is not None and not kind.mixed:
            number = kind.dtype.type(0)
            return number.item() if kind.python else number
        return self.static(value)

    def static(self, value: Value) -> Any:
        """The Python value of an abstract value that is known when compiling."""
        match value:
            case ir.Const() if not isinstance(value.value, ir.Undefined) and not is_asked(value):
                return value.value
            case Tuple():
                return tuple(self.static(item) for item in value.items)
            case Slice():
                return slice(*(self.static(p) for p in (value.start, value.stop, value.step)))
            case Ref():
                thing = self.state.heap[value.id]
                plain = isinstance(thing, ListObject) and value.id not in self.deques
                if plain and thing.var is None:  # type: ignore[union-attr]
                    return [self.static(item) for item in thing.items]
        raise Dynamic

    def stated(self, value: Value, name: str) -> Any:
        """The Python value of what must be known when compiling."""
        try:
            return self.static(value)
        except Dynamic:
            raise self.refuse(f"{name} must be known when compiling") from None

    def unstatic(self, value: Any) -> Value:
        """The abstract value of a Python value."""
        if type(value) is tuple:
            return Tuple(tuple(self.unstatic(item) for item in value))
        if type(value) is list:
            return self.new(ListObject(tuple(self.unstatic(item) for item in value)))
        if type(value) is slice:
            return Slice(ir.Const(value.start), ir.Const(value.stop), ir.Const(value.step))
        return ir.Const(value)

    def unknown_call(self, function: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """A call of something that srcgrad can't look into; its result has no derivative.

        What it does to an array it is given can't be known; when it runs, it must do nothing.
        """
        operands = tuple(self.operand(a) for a in args)
        named = {k: self.operand(v) for k, v in kwargs.items()}
        if any(map(_is_mutable, (*operands, *named.values()))):
            operands = operands if function is operator.call else (ir.Const(function), *operands)
            function = runtime.unwritten
        known = isinstance(function, type) and (
            function in registry.reentrant or _is_numpy(function)
        )
        kind = Opaque(function if known else None)
        return self.emit(
            function, operands, named, inferred=Inferred(kind), effect=True, name="value"
        )


def _dtype(value: Value, default: np.dtype[Any]) -> np.dtype[Any] | None:
    """The dtype of an operand, if it is known."""
    if isinstance(value, ir.Const):
        return np.result_type(value.value) if np.isscalar(value.value) else None
    return getattr(getattr(value, "kind", None), "dtype", default)


def _is_default(keyword: str, value: Value) -> bool:
    """Whether a keyword of a ufunc is given what it is anyway."""
    if not isinstance(value, ir.Const) or not isinstance(value.value, (bool, str)):
        return False
    return bool(value.value == DEFAULTS.get(keyword))


def _is_missing(value: Value) -> bool:
    """Whether an argument is NumPy's mark of one that isn't given, handed on by a wrapper."""
    return isinstance(value, ir.Const) and value.value is np._NoValue


def _is_mutable(operand: ir.Operand) -> bool:
    if isinstance(operand, ir.Pack):
        return operand.type in (list, dict) or any(map(_is_mutable, operand.items))
    return isinstance(operand, ir.Var) and isinstance(operand.kind, (Array, ListOf))


def _is_float(operand: ir.Operand) -> bool:
    dtype = getattr(getattr(operand, "kind", None), "dtype", None)
    return dtype is not None and dtype.kind in "fc"


def _is_numpy(function: Any) -> bool:
    return (told(function, "__module__") or "").partition(".")[0] in ("numpy", "scipy")


@functools.cache
def _writing_parameters(function: Any) -> tuple[tuple[str, ...], int | None, frozenset[str]]:
    """The names of the parameters that may be given by position, the place of the first of them
    that says what is written, and the names of those that are None by default."""
    nothing: frozenset[str] = frozenset()
    if isinstance(told(function, "__self__"), np.ufunc):
        names = UFUNC_METHODS.get(function.__name__, ())
        optional = frozenset({"dtype"})
    elif not _is_numpy(function) or isinstance(function, (np.ufunc, type)):
        return (), None, nothing
    else:
        try:
            parameters = inspect.signature(function, **UNEVALUATED).parameters.values()
        except (TypeError, ValueError):  # NumPy 1's functions written in C
            names, optional = UNSIGNED.get(function, ()), nothing
        else:
            named = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            names = tuple(p.name for p in parameters if p.kind in named)
            optional = frozenset(p.name for p in parameters if p.default is None)
    places = (i for i, name in enumerate(names) if name in WRITTEN or name.startswith("overwrite_"))
    return names, next(places, None), optional


def _in_dtype_of(
    out: Value, function: Any, args: list[Value], kwargs: dict[str, Value]
) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of a sum for which `out=` tells the dtype, together with the operand's."""
    kinds = [getattr(v, "kind", None) for v in (args[0], out)]
    given, taken = (getattr(kind, "dtype", None) for kind in kinds)
    if given is None or taken is None:
        return args, kwargs
    dtype = np.result_type(given, taken)
    if dtype == given and given.char in "fdgFDGqlQL":
        return args, kwargs
    place = _writing_parameters(function)[0].index("dtype")
    known = args[place] if len(args) > place else kwargs.get("dtype", NONE)
    if not is_none(known):
        return args, kwargs
    return args[:place], {**kwargs, "dtype": ir.Const(dtype)}


@functools.cache
def _positional_names(function: Any, optional: bool) -> tuple[str, ...]:
    """The names of the leading parameters, the optional ones too or only the others."""
    try:
        parameters = inspect.signature(function, **UNEVALUATED).parameters.values()
    except (TypeError, ValueError):
        return ()
    leading = itertools.takewhile(
        lambda p: p.kind is p.POSITIONAL_OR_KEYWORD and (optional or p.default is p.empty),
        parameters,
    )
    return tuple(p.name for p in leading)
