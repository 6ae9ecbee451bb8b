"""What a generated function refers to: constants, functions, modules, and objects given by name."""

from __future__ import annotations

import builtins
import enum
import keyword
import math
import types
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from .. import ir
from ..packages import told
from ..rules import registry
from .names import Names
from .spelling import HELPERS, attribute, call, constant, name

LITERALS = (bool, int, float, str, bytes, complex)
MODULES = {"numpy": "np", "math": "math", "cmath": "cmath"}


@dataclass
class Emitted:
    """The tree of a generated function and the objects it refers to by name."""

    tree: Any
    bindings: dict[str, Any] = field(default_factory=dict)
    modules: set[str] = field(default_factory=set)
    helpers: list[Any] = field(default_factory=list)


def is_plain_dtype(value: Any) -> bool:
    """Whether an object is the dtype of numbers or truth values as this machine has them."""
    return isinstance(value, np.dtype) and value.kind in "fciub" and value.isnative


class References:
    """The expressions for objects; `emitted` is told what it takes to know them."""

    def __init__(self, emitted: Emitted, names: Names, reserved: set[str]) -> None:
        self.emitted, self.names, self.reserved = emitted, names, reserved

    def literal(self, value: Any) -> Any:
        """The expression for a constant."""
        if value is None or value is Ellipsis or type(value) in LITERALS:
            return constant(value)
        if isinstance(value, enum.Enum) and isinstance(value, int):  # it computes as one
            return constant(int(value))
        if type(value) is tuple:
            return gast.Tuple([self.literal(v) for v in value], gast.Load())
        if type(value) is slice:
            parts = [
                None if p is None else self.literal(p)
                for p in (value.start, value.stop, value.step)
            ]
            return gast.Slice(*parts)
        if is_plain_dtype(value):
            return call(attribute(self._module("numpy"), "dtype"), [self.given_dtype(value)])
        if isinstance(value, np.generic) and value.dtype.kind in "fiu":
            kind = attribute(self._module("numpy"), value.dtype.name)
            plain = value.item()  # a longdouble's is a longdouble
            return call(kind, [constant(plain if type(plain) in LITERALS else str(value))])
        if isinstance(value, np.bool_):
            return attribute(self._module("numpy"), "True_" if value else "False_")
        if isinstance(value, ir.Undefined):
            return constant(None)
        return self.of(value)

    def given_dtype(self, value: Any) -> Any:
        """The expression for a dtype where NumPy takes one: there its class will do."""
        return attribute(self._module("numpy"), value.name if value.kind != "b" else "bool_")

    def _module(self, module: str) -> Any:
        self.emitted.modules.add(module)
        return name(MODULES[module])

    def of(self, value: Any) -> Any:
        """The expression for a function or another object."""
        if isinstance(value, ir.Unit):
            return name(value.name)
        if registry.hashable(value) and value in HELPERS:
            if value not in self.emitted.helpers:
                self.emitted.helpers.append(value)
            return name(value.__name__)
        text = told(value, "__name__")
        if isinstance(text, str) and getattr(builtins, text, None) is value:
            return name(text)
        for module, where in (("numpy", np), ("math", math)):
            if isinstance(value, types.ModuleType) and value is where:
                return self._module(module)
            if isinstance(text, str) and getattr(where, text, None) is value:
                return attribute(self._module(module), text)
        if isinstance(text, str):
            for sub in ("linalg", "fft", "random"):
                if getattr(getattr(np, sub), text, None) is value:
                    return attribute(attribute(self._module("numpy"), sub), text)
        owner = told(value, "__self__")
        if isinstance(owner, np.ufunc) and isinstance(text, str):
            return attribute(self.of(owner), text)
        place = registry.public_place(value)
        if place is not None:
            return self._public(*place)
        return name(self._bound(value, text))

    def _public(self, module: str, text: str) -> Any:
        """The expression `package.module.name`."""
        self.emitted.modules.add(module)
        package, *rest = module.split(".")
        expression = name(package)
        for part in (*rest, text):
            expression = attribute(expression, part)
        return expression

    def _bound(self, value: Any, text: str | None) -> str:
        """The name of an object that the function is given."""
        for known, thing in self.emitted.bindings.items():
            if thing is value:
                return known
        base = text if isinstance(text, str) and text.isidentifier() else "constant"
        if isinstance(value, np.ndarray):
            base = "indices" if value.dtype.kind in "iu" else "constant"
        if isinstance(value, np.dtype):
            base = "dtype"
        candidate, number = base, 1
        taken = set(self.names.names.values()) | set(self.emitted.bindings) | self.reserved
        taken |= set(keyword.kwlist) | set(dir(builtins))
        while candidate in taken:
            candidate, number = f"{base}_{number}", number + 1
        self.emitted.bindings[candidate] = value
        return candidate
