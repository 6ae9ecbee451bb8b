"""Texts of values: `str`, `repr`, `format`, f-strings, and what is printed."""

from __future__ import annotations

import collections
import dataclasses
import itertools
import string
import sys
import types
from typing import Any, TypeGuard

import gast
import numpy as np

from .. import ir, runtime
from ..analysis.inference import Inferred
from ..errors import UnsupportedError
from ..kinds import Opaque
from ..packages import told
from .choices import options
from .columns import holds_named
from .objects import Objects
from .operators import TEXT
from .predicates import NONE, is_asked, is_range
from .restarts import Wording
from .values import (
    Bound,
    Choice,
    DictObject,
    Instance,
    ListObject,
    Place,
    Ref,
    Spread,
    Tuple,
    Value,
)
from .wording import describe


class Texts(Objects):
    """Writes values as texts."""

    def builtin_print(self, *args: Value, **kwargs: Value) -> Value:
        shows: Any = print
        if args and isinstance(args[-1], Spread):
            args, shows = (*args[:-1], args[-1].rest), runtime.print_items
        operands = tuple(self.shown(a) for a in args)
        named = {k: self.operand(v) for k, v in kwargs.items()}
        self.emit(shows, operands, named, inferred=Inferred(Opaque(None)), effect=True)
        return NONE

    def shown(self, value: Value) -> ir.Operand:
        """What is printed, or told by an exception: an object without a text is named only."""
        if isinstance(value, Choice):
            return self.operand(self.for_each(value, lambda o: self.shown(o)))  # type: ignore[arg-type,return-value]
        try:
            return self.in_text(value, "__str__")
        except UnsupportedError:
            return ir.Const(f"<{describe(value)}>")

    def builtin_text(self, *args: Value, **kwargs: Value) -> Value:
        if len(args) == 1 and not kwargs:
            return self.plain_text(args[0])
        known = self.computed(str, [*args], kwargs)
        if known is None:
            raise self.refuse("the text of bytes must be known when compiling")
        return known

    def plain_text(self, value: Value) -> Value:
        return self.text(str, "__str__", value)

    def builtin_repr(self, value: Value) -> Value:
        return self.text(repr, "__repr__", value)

    def builtin_format(self, value: Value, spec: Value = ir.Const("")) -> Value:  # noqa: B008
        value = self.object_or_none(value)
        if isinstance(value, Choice):
            return self.for_each(value, lambda option: self.builtin_format(option, spec))
        self.check_format(value, spec)
        if isinstance(value, ir.Const) and isinstance(spec, ir.Const) and not is_asked(value):
            return self.as_python(format, value.value, spec.value)
        self.check_wording(value)
        thing = self.thing(value)
        if isinstance(thing, Instance) and not issubclass(thing.type, BaseException):
            return self.text_of_object(value, thing, "__format__", spec)
        operands = (self.in_text(value, "__str__"), self.operand(spec))
        return self.emit(format, operands, inferred=TEXT)

    def expression_JoinedStr(self, node: Any) -> Value:
        template = ""
        args: list[Value] = []
        for part in node.values:
            if isinstance(part, gast.Constant):
                template += _literal(part.value)
                continue
            value = self.expression(part.value)
            self.check_wording(value)
            conversion = f"!{chr(part.conversion)}" if part.conversion not in (-1, None) else ""
            field, filling = self.field(value, conversion, *self.specification(part.format_spec))
            template, args = template + field, args + filling
        return self.filled(template, args)

    def builtin_str_format(self, text: Value, *args: Value, **named: Value) -> Value | None:
        """`text.format(...)` of containers and objects; None where Python can write them itself."""
        given = {**dict(zip(map(str, itertools.count()), args, strict=False)), **named}
        held = any(isinstance(v, (Ref, Tuple, Choice)) for v in given.values())
        if not isinstance(text, ir.Const) or not isinstance(text.value, str) or not held:
            return None
        template = ""
        filling: list[Value] = []
        fields = [*string.Formatter().parse(text.value)]
        numbered = {name == "" for _, name, _, _ in fields if name == "" or (name or "").isdigit()}
        places = itertools.count()
        for literal, name, spec, conversion in fields:
            template += _literal(literal)
            if name is None:
                continue
            value = given.get(name or str(next(places)))
            if value is None or "{" in (spec or "") or len(numbered) > 1:
                return None
            self.check_wording(value)
            form = f"!{conversion}" if conversion else ""
            field, more = self.field(value, form, spec or "", [])
            template, filling = template + field, filling + more
        return self.filled(template, filling)

    def field(
        self, value: Value, conversion: str, spec: str, specs: list[Value]
    ) -> tuple[str, list[Value]]:
        """A field of a text for `str.format`, and what fills it: an object's text is its own."""
        if conversion:
            text = self.own_text(value, "__str__" if conversion == "!s" else "__repr__")
        else:
            text = self.own_text(value, "__format__", self.filled(spec, specs))
        if text is not None and not conversion:
            spec, specs = "", []
        elif text is not None:
            conversion = ""
        filling = [value if text is None else text, *specs]
        return "{" + conversion + (":" + spec if spec else "") + "}", filling

    def specification(self, node: Any) -> tuple[str, list[Value]]:
        """The format that a part of an f-string is given, and what fills the fields in it."""
        parts = [] if node is None else node.values
        constant = [isinstance(part, gast.Constant) for part in parts]
        text = "".join(p.value if c else "{}" for p, c in zip(parts, constant, strict=True))
        return text, [
            self.expression(p.value) for p, c in zip(parts, constant, strict=True) if not c
        ]

    def filled(self, template: str, args: list[Value]) -> Value:
        """`template.format(*args)`"""
        if all(isinstance(a, ir.Const) and not is_asked(a) for a in args):
            known = (a.value for a in args if isinstance(a, ir.Const))
            return self.as_python(template.format, *known)
        operands = (ir.Const(template), *map(self.written_out, args))
        return self.emit(str.format, operands, inferred=TEXT, name="text")

    def as_python(self, function: Any, *known: Any) -> ir.Const:
        """What a function makes of what is known, which may be an exception."""
        try:
            return ir.Const(function(*known))
        except (TypeError, ValueError) as error:
            raise self.raised_by_python(error) from None

    # Of one value

    def text(self, function: Any, form: str, value: Value) -> Value:
        """`str(value)` or `repr(value)`."""
        value = self.object_or_none(value)
        if isinstance(value, Choice):
            return self.for_each(value, lambda o: self.text(function, form, o))
        self.check_wording(value)
        if not isinstance(value, Tuple) or value.type is tuple:
            known = self.computed(function, [value], {})
            if known is not None:
                return known
        own = self.own_text(value, form)
        if own is not None:
            return own
        return self.emit(function, (self.in_text(value, form),), inferred=TEXT)

    def refuses(self, value: Value, spec: Value) -> type | None:
        """The class of a value that takes no format but the empty one, if this may be another."""
        classes = self.classes_of(value) or set()
        if getattr(spec, "value", None) == "":
            return None
        plain = all(told(c, "__format__") is object.__format__ for c in classes)
        return next(iter(classes), None) if plain else None

    def check_format(self, value: Value, spec: Value) -> None:
        """Raise what Python raises of a format that is given to a list, say."""
        cls = self.refuses(value, spec)
        if cls is not None:
            message = f"unsupported format string passed to {cls.__name__}.__format__"
            self.insist(self.negated(self.truth(spec)), TypeError, message)

    def check_wording(self, value: Value) -> None:
        """Refuse to compute with the text of an exception that isn't Python's own."""
        for option in () if self.telling else options(value):
            thing = self.thing(option)
            error = thing.items.get("%error") if isinstance(thing, Instance) else None
            if isinstance(error, Place) and any(isinstance(a, Wording) for a in error.value.args):
                raise self.refuse(
                    "what Python says of this exception isn't known when compiling",
                    "print it, or use the name of its type: type(error).__name__",
                )

    def in_text(self, value: Value, form: str) -> ir.Operand:
        """What Python makes the text of a value from when it runs: the value, or its own text."""
        own = self.own_text(value, form)
        return self.written_out(value if own is None else own)

    def written_out(self, value: Value) -> ir.Operand:
        """What Python writes at run time: a value that has no text of its own."""
        thing = self.thing(value)
        if isinstance(thing, Instance) and issubclass(thing.type, BaseException):
            return self.exception_operand(value)
        if _is_dtype(value):
            return ir.Const(str(value.value))
        written = self.operand(value)
        if any(holds_named(v.kind) for v in ir.variables(written)):
            raise self.refuse("the text of a list of objects isn't known when compiling")
        return written

    def own_text(self, value: Value, form: str, spec: Value = ir.Const("")) -> Value | None:  # noqa: B008
        """The text of an object, as its class says; None for what Python's own classes write.

        Args:
            value: what is written.
            form: the method that is asked for, `__str__`, `__repr__` or `__format__`.
            spec: what `__format__` is given.

        Raises:
            UnsupportedError: the class doesn't say.
        """
        value = self.object_or_none(value)
        if isinstance(value, Choice):
            own = any(self.thing(o) or isinstance(o, Tuple) for o in value.options)
            if form == "__format__" and (own or any(self.refuses(o, spec) for o in value.options)):
                return self.for_each(value, lambda option: self.builtin_format(option, spec))
            if form != "__format__" and own:
                write = self.builtin_repr if form == "__repr__" else self.plain_text
                return self.for_each(value, write)
        elif form == "__format__":
            self.check_format(value, spec)
        thing = self.thing(value)
        if _is_dtype(value):
            known = repr if form == "__repr__" else str  # not that of the type it's written as
            return ir.Const(known(value.value))
        if is_range(value):
            *bounds, step = self.int_bounds(value)
            bounds += [] if getattr(step, "value", None) == 1 else [step]
            return self.filled(f"range({', '.join(['{}'] * len(bounds))})", bounds)
        if isinstance(value, Tuple) and value.type is not tuple and value.missing is None:
            return self.text_of_named(value, form)
        if isinstance(thing, Instance) and not issubclass(thing.type, BaseException):
            return self.text_of_object(value, thing, form, spec)
        if isinstance(value, Ref) and isinstance(thing, DictObject):
            return self.text_of_dict(value, thing, form)
        if isinstance(value, Ref) and value.id in self.deques:
            most = self.bounded.get(value.id)
            template = "deque({})" if most is None else f"deque({{}}, maxlen={most})"
            return self.filled(template, [self.builtin_repr(self.builtin_list(value))])
        items: Any = ()
        begin, end = "[]"
        if isinstance(value, Tuple) and value.type is tuple and value.missing is None:
            items, begin, end = value.items, "(", ",)" if len(value.items) == 1 else ")"
        elif isinstance(thing, ListObject) and thing.type is list and thing.var is None:
            items = thing.items
        if not any(
            isinstance(i, (Choice, Ref, Tuple)) or is_range(i) or _is_dtype(i) for i in items
        ):
            return None
        texts = [self.builtin_repr(i) for i in items]
        return self.filled(begin + ", ".join(["{}"] * len(texts)) + end, texts)

    def text_of_named(self, value: Tuple, form: str) -> Value | None:
        """The text of a named tuple, or of another tuple of a user's class."""
        for name in dict.fromkeys((form, "__str__", "__repr__")):
            found = getattr(value.type, name, None)
            if told(found, "__code__") is _NAMED.__repr__.__code__:
                fields: tuple[str, ...] = value.type._fields  # type: ignore[attr-defined]
                template = ", ".join(f"{field}={{}}" for field in fields)
                texts = [self.builtin_repr(item) for item in value.items]
                return self.filled(f"{value.type.__name__}({template})", texts)
            if isinstance(found, types.FunctionType):
                return self.call(Bound(ir.Const(found), value), [], {})
        return None

    def text_of_dict(self, value: Ref, thing: DictObject, form: str) -> Value | None:
        """The text of a dict or set; None if only the run tells."""
        for name in dict.fromkeys((form, "__str__", "__repr__")):
            written = self.added_attribute(value, thing.type, name)
            if written is not None:
                return None if name == "__format__" else self.call(written, [], {})
        keys = [self.lift(k, None) for k in self.keys_of(thing)]
        if thing.is_set:
            inside = "{{" + ", ".join(["{}"] * len(keys)) + "}}" if keys else ""
            plain = thing.type is set and keys
            template = inside if plain else f"{thing.type.__name__}({inside})"
            return self.filled(template, [self.builtin_repr(k) for k in keys])
        texts = [self.builtin_repr(v) for k in keys for v in (k, self.subscript(value, k))]
        template = "{{" + ", ".join(["{}: {}"] * len(keys)) + "}}"
        if thing.type is collections.OrderedDict and sys.version_info < (3, 12):
            template = "[" + ", ".join(["({}, {})"] * len(keys)) + "]"
        if thing.type is collections.OrderedDict:
            template = f"OrderedDict({template if keys else ''})"
        elif thing.type is collections.defaultdict and isinstance(thing.factory, ir.Const):
            template = f"defaultdict({_literal(repr(thing.factory.value))}, {template})"
        elif getattr(thing.type, "__repr__", None) is not dict.__repr__:
            return None
        return self.filled(template, texts)

    def text_of_object(self, value: Value, thing: Instance, form: str, spec: Value) -> Value:
        cls = thing.type
        names = ["__repr__"] if form == "__repr__" else ["__str__", "__repr__"]
        if form == "__format__":
            own = self.class_attribute(cls, form)
            if own is not None:
                return self.call(Bound(own, value), [spec], {})
        methods = [self.class_attribute(cls, name) for name in names]
        own = next((method for method in methods if method is not None), None)
        if own is None and self.telling:
            return ir.Const(f"<{describe(value)}>")
        if own is None:
            raise self.refuse(
                f"the text of an object of the class {cls.__name__} isn't known when compiling",
                "give the class a method __repr__",
            )
        if dataclasses.is_dataclass(cls) and hasattr(getattr(own, "value", None), "__wrapped__"):
            names = [f.name for f in dataclasses.fields(cls) if f.repr]
            texts = [self.builtin_repr(self.attribute(value, name)) for name in names]
            template = ", ".join(f"{name}={{}}" for name in names)
            return self.filled(f"{_literal(cls.__qualname__)}({template})", texts)
        return self.call(Bound(own, value), [], {})


_NAMED = collections.namedtuple("_NAMED", ())


def _is_dtype(value: Value) -> TypeGuard[ir.Const]:
    return isinstance(value, ir.Const) and isinstance(value.value, np.dtype)


def _literal(text: str) -> str:
    """What `str.format` makes this text of."""
    return text.replace("{", "{{").replace("}", "}}")
