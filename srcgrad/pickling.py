"""Pickling a Gradient: by name where it can be imported, else with the source of its function.

A function that can't be imported (a lambda, a closure, a function of `__main__` or a notebook)
travels as source text, with the values it reads and, in the same way, the functions it calls. It
is compiled again on arrival.
"""

from __future__ import annotations

import ast
import dis
import importlib
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .errors import SourceError
from .frontend.source import get_source
from .packages import told


@dataclass
class Portable:
    """A function as text and values. Each value is (how, what): see `_Packer.pack`."""

    name: str
    written: str  # the name in the text, which `functools.wraps` leaves as it is
    qualname: str
    module: str
    doc: str | None
    text: str
    globals: dict[str, tuple[str, Any]] = field(default_factory=dict)
    cells: dict[str, tuple[str, Any]] = field(default_factory=dict)
    defaults: tuple[Any, ...] | None = None
    keyword_defaults: dict[str, Any] | None = None


def reduce(gradient: Any) -> Any:
    """What pickle should do with a Gradient."""
    name = getattr(gradient, "__qualname__", None)
    if name and _importable(gradient):
        return name
    primal = gradient.primal
    options = (gradient._argnums, gradient._has_aux, gradient._value, gradient._text)
    if isinstance(primal, types.FunctionType) and not _importable(primal):
        packer = _Packer(primal, gradient._text)
        packer.add(primal)
        return _unpacked, (type(gradient), packer.functions, options)
    return type(gradient), (primal, *options)


def _importable(thing: Any) -> bool:
    """Whether another process finds this object under its module and name."""
    module, path = told(thing, "__module__"), told(thing, "__qualname__")
    if not module or not path or module == "__main__" or module not in sys.modules:
        return False
    found: Any = sys.modules[module]
    for part in path.split("."):
        found = getattr(found, part, None)
    return found is thing


class _Packer:
    """Turns functions that refer to one another into a list of `Portable`s."""

    def __init__(self, primal: types.FunctionType, text: str | None) -> None:
        self.primal, self.text = primal, text
        self.functions: list[Portable] = []
        self.numbers: dict[int, int] = {}

    def add(self, function: types.FunctionType) -> int:
        if id(function) in self.numbers:
            return self.numbers[id(function)]
        given = self.text if function is self.primal else None
        portable = Portable(
            function.__name__,
            function.__code__.co_name,
            function.__qualname__,
            function.__module__,
            function.__doc__,
            get_source(function, given).text,
            defaults=function.__defaults__,
            keyword_defaults=function.__kwdefaults__,
        )
        self.numbers[id(function)] = number = len(self.functions)
        self.functions.append(portable)
        for name in _globals_of(function.__code__):
            if name in function.__globals__:
                portable.globals[name] = self.pack(function.__globals__[name])
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            try:
                portable.cells[name] = self.pack(cell.cell_contents)
            except ValueError:  # an empty cell
                portable.cells[name] = ("empty", None)
        return number

    def pack(self, value: Any) -> tuple[str, Any]:
        """A value as it is to be pickled, and how."""
        if isinstance(value, types.ModuleType):
            return "module", value.__name__
        if isinstance(value, types.FunctionType) and not _importable(value):
            try:
                get_source(value)
            except SourceError:
                return "value", value
            return "function", self.add(value)
        return "value", value


def _globals_of(code: types.CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _globals_of(constant)


def _unpacked(cls: Any, portables: list[Portable], options: tuple[Any, ...]) -> Any:
    """The Gradient of the first of some functions."""
    functions = [_function(p) for p in portables]

    def value(how: str, what: Any) -> Any:
        if how == "function":
            return functions[what]
        return importlib.import_module(what) if how == "module" else what

    for function, portable in zip(functions, portables, strict=True):
        for name, packed in portable.globals.items():
            function.__globals__[name] = value(*packed)
        cells = function.__closure__ or ()
        for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
            if portable.cells[name][0] != "empty":
                cell.cell_contents = value(*portable.cells[name])
    argnums, has_aux, with_value, _ = options
    return cls(functions[0], argnums, has_aux, with_value, portables[0].text)


def _function(portable: Portable) -> types.FunctionType:
    """A function with its code, its globals and cells still empty."""
    lambda_ = portable.written == "<lambda>"
    if lambda_:
        tree = ast.parse(f"(\n{portable.text}\n)")
        ast.increment_lineno(tree, -1)
    else:
        tree = ast.parse(portable.text)
    # Compiled inside a function whose variables are its free ones, it has cells for them.
    names = [ast.arg(name) for name in portable.cells]
    body = list(tree.body)
    if not lambda_ and portable.written not in portable.cells:
        body.insert(0, ast.Global([portable.written]))  # one that calls itself finds itself there
    outer = ast.FunctionDef("outer", ast.arguments([], names, None, [], [], None, []), body, [])
    module = ast.fix_missing_locations(ast.Module([outer], []))
    code = compile(module, f"<srcgrad copy of {portable.name}>", "exec", dont_inherit=True)
    outer_code = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    own = next(
        c
        for c in outer_code.co_consts
        if isinstance(c, types.CodeType) and c.co_name == portable.written
    )
    cells = tuple(types.CellType() for _ in own.co_freevars)
    namespace = {"__name__": portable.module, "__builtins__": __builtins__}
    function = types.FunctionType(own, namespace, portable.name, portable.defaults, cells)
    function.__kwdefaults__ = portable.keyword_defaults
    function.__qualname__, function.__module__ = portable.qualname, portable.module
    function.__doc__ = portable.doc
    function.__dict__["__srcgrad_source__"] = portable.text
    return function
