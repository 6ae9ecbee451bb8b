"""Writing a generated gradient as a module that imports NumPy alone."""

from __future__ import annotations

import dis
import enum
import importlib
import inspect
import json
import re
import sys
import types
from collections.abc import Iterator
from typing import Any

import gast
import numpy as np

from .compiler import Compiled
from .emit.verification import checked_source
from .errors import UnsupportedError
from .packages import told
from .runtime.saved import check_arguments

LARGEST_LITERAL = 64  # numbers written out; more are written as bytes
FUTURE = "from __future__ import annotations"


class _Module:
    """A module being written: its imports, copied functions and constants."""

    def __init__(self, taken: set[str]) -> None:
        self.imports = {"import numpy as np": None}
        self.functions: dict[str, str] = {}
        self.constants: list[str] = []
        self.bound: dict[str, Any] = {"np": np}
        self.taken = taken

    def bind(self, name: str, value: Any) -> None:
        """Give a name a value, and those that it uses itself theirs."""
        if name in self.bound:
            if self.bound[name] is not value:
                raise UnsupportedError(f"the module would need two things named {name!r}")
            return
        self.bound[name] = value
        if isinstance(value, types.FunctionType) and value.__module__.startswith("srcgrad."):
            source = inspect.getsource(value).rstrip()
            self.functions[name] = re.sub(r"^def \w+", f"def {name}", source)
            for used, what in _outer_values(value):
                self.bind(used, what)
            return
        if isinstance(value, types.ModuleType):
            given = "" if value.__name__ == name else f" as {name}"
            self.imports[f"import {value.__name__}{given}"] = None
            return
        if callable(value) and not isinstance(value, np.dtype):
            self.imports[_import(name, value)] = None
            return
        self.constants.append(f"{name} = {self.expression(value)}")

    def expression(self, value: Any) -> str:
        """The text of an expression that makes a value."""
        if isinstance(value, enum.Enum) and isinstance(value, (int, str)):
            value = value.value
        if value is None or value is Ellipsis or isinstance(value, (bool, int, str, bytes)):
            return repr(value)
        if isinstance(value, (float, complex)) and not isinstance(value, np.generic):
            text = repr(value)
            if "n" not in text:  # neither nan nor inf
                return text
            return f'{type(value).__name__}("{text}")'
        if isinstance(value, np.ndarray) and value.dtype.kind in "fciub":
            return _array(value)
        if isinstance(value, np.generic) and value.dtype.kind in "fciub":
            return f"{_array(np.asarray(value))}[()]"
        if isinstance(value, np.dtype):
            return _dtype(value)
        if type(value) in (tuple, list):
            inner = ", ".join(map(self.expression, value))
            if type(value) is list:
                return f"[{inner}]"
            return f"({inner}{',' * (len(value) == 1)})"
        if type(value) is dict:
            pairs = (f"{self.expression(k)}: {self.expression(v)}" for k, v in value.items())
            return "{" + ", ".join(pairs) + "}"
        raise UnsupportedError(
            f"a {type(value).__name__} can't be written into a module",
            None,
            "pass it as an argument, or pickle the gradient instead of saving it",
        )

    def default(self, name: str, value: Any) -> Any:
        """The node of a default value: a literal, or a constant of the module."""
        text = self.expression(value)
        if len(text) > 30:
            constant = name.upper()
            while constant in self.taken:
                constant += "_"
            self.taken.add(constant)
            self.constants.append(f"{constant} = {text}")
            text = constant
        return gast.parse(text, mode="eval").body


def _dtype(value: np.dtype[Any]) -> str:
    if value.names is None:
        return f"np.dtype({value.str!r})"
    parts = [value[name] for name in value.names]
    fields = {
        "names": list(value.names),
        "formats": [(part.base.str, part.shape) for part in parts],
        "offsets": [value.fields[name][1] for name in value.names],  # type: ignore[index]
        "itemsize": value.itemsize,
    }
    return f"np.dtype((np.record, {fields}))" if value.type is np.record else f"np.dtype({fields})"


def _array(value: np.ndarray[Any, Any]) -> str:
    if value.size <= LARGEST_LITERAL and bool(np.isfinite(value).all()):
        return f"np.array({value.tolist()!r}, dtype={value.dtype.str!r})"
    data = np.ascontiguousarray(value).tobytes().hex()
    flat = f"np.frombuffer(bytes.fromhex({data!r}), dtype={value.dtype.str!r})"
    return f"{flat}.reshape({value.shape!r}).copy()"


def _outer_values(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function finds outside of itself, by name."""
    codes = [function.__code__]
    for code in codes:
        codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
        for instruction in dis.get_instructions(code):
            name = instruction.argval
            if instruction.opname == "LOAD_GLOBAL" and name in function.__globals__:
                yield name, function.__globals__[name]


def _import(name: str, value: Any) -> str:
    """The import statement for a function or class, which must be found under its name."""
    module, path = told(value, "__module__"), told(value, "__qualname__")
    found: Any = None
    if module and path and path.isidentifier() and module != "__main__":
        try:
            found = getattr(importlib.import_module(module), path, None)
        except ImportError:
            found = None
    if found is not value or str(module).startswith("srcgrad"):
        raise UnsupportedError(
            f"the generated source uses {getattr(value, '__name__', value)!r}, "
            "which can't be imported by name",
            None,
            "define it at the top of a module, or pickle the gradient instead of saving it",
        )
    return f"from {module} import {path}" + (f" as {name}" if path != name else "")


def module_text(
    compiled: Compiled, signature: inspect.Signature, free: tuple[Any, ...], pattern: Any
) -> str:
    """The text of a module with the generated function, which is right for a pattern of arguments.

    The outer values that the primal reads become keyword-only parameters with defaults.
    """
    from . import __version__

    emitted = compiled.emitted[0]
    tree = gast.parse(compiled.source).body[0]
    nodes = tree.args.args
    documented = tree.body[0].end_lineno
    lines = compiled.source.splitlines()
    checks = [*_checks([node.id for node in nodes], [*pattern[0], *pattern[1]])]
    lines = [*lines[tree.body[0].lineno - 1 : documented], *checks, *lines[documented:]]
    module = _Module({node.id for node in nodes} | set(emitted.bindings))
    for name in sorted({name for e in compiled.emitted for name in e.modules} - {"numpy"}):
        module.imports[f"import {name}"] = None
    for helper in dict.fromkeys(helper for e in compiled.emitted for helper in e.helpers):
        module.bind(helper.__name__, helper)
    for name, value in emitted.bindings.items():
        module.bind(name, value)
    if checks:
        module.bind(check_arguments.__name__, check_arguments)
    tree.args = _parameters(module, nodes, signature, free)
    # only the head is printed anew, as a tree has no comments
    tree.body = [gast.Pass()]
    head = checked_source(gast.Module([tree], [])).rstrip().removesuffix("pass").rstrip()
    parts = [*module.functions.values(), "\n".join([head, *lines]).rstrip()]
    if any("Any" in text for text in module.functions.values()):
        module.imports["from typing import Any"] = None
    if module.constants:
        parts.insert(0, "\n".join(module.constants))
    used = gast.walk(gast.parse("\n".join(parts)))
    if not any(isinstance(node, gast.Name) and node.id == "np" for node in used):
        del module.imports["import numpy as np"]
    docstring = f'"""Generated by srcgrad {__version__}; needs NumPy alone."""'
    head = "\n\n".join([docstring, *_sorted([FUTURE, *module.imports])])
    return "\n\n\n".join([head, *parts]) + "\n"


def _checks(names: list[str], descriptions: list[Any]) -> list[str]:
    """The lines that check parameters, of which `describe` says what they are to be."""
    checks = [c for both in zip(names, descriptions, strict=False) for c in _checked(*both)]
    lines = [
        f"        ({_quoted(text)}, {text}, {_quoted(expected)})," for text, expected in checks
    ]
    return ["    check_arguments(", *lines, "    )"] if lines else []


def _checked(text: str, description: Any) -> Iterator[tuple[str, str]]:
    """Expressions and what they are to be, for a value with a description and what is in it.

    What can't be told in a few words, such as what sets and functions are, isn't.
    """
    match description:
        case type():
            yield text, description.__name__
        case (type() as t, np.dtype() as dtype, tuple() as shape) if issubclass(t, np.ndarray):
            yield text, f"{dtype}[{_lengths(shape)}]"
        case (type() as t, ("n", tuple()) as length) if t is int:
            yield text, f"int[{_lengths((length,))}]"
        case (type() as t, value) if isinstance(value, (int, float, str, bytes)) or value is None:
            yield text, repr(value)
        case (type() as t, ("items", _), _) if t is list:
            yield text, t.__name__
        case (type() as t, *items) if issubclass(t, (list, tuple)):
            yield f"len({text})", str(len(items))
            for i, item in enumerate(items):
                yield from _checked(f"{text}[{i}]", item)
        case (type() as t, *items) if issubclass(t, dict) and all(map(_is_item, items)):
            yield f"tuple({text})", repr(tuple(key for _, key, _ in items))
            for _, key, item in items:
                yield from _checked(f"{text}[{key!r}]", item)
        case (type() as t, *parts) if t.__module__ != "builtins" and all(map(_is_named, parts)):
            fields = issubclass(t, np.ndarray)
            for name, item in parts:
                yield from _checked(f"{text}[{name!r}]" if fields else f"{text}.{name}", item)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _is_item(item: Any) -> bool:
    return isinstance(item, tuple) and len(item) == 3 and item[0] in (str, int, bool)


def _is_named(pair: Any) -> bool:
    named = isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)
    return named and pair[0].isidentifier()


def _lengths(shape: tuple[Any, ...]) -> str:
    """The lengths of an array: of `n` as many as the number that stands with it."""
    found = []
    for length in shape:
        if isinstance(length, int):
            found.append(str(length))
            continue
        _, which = length
        number, more = which if isinstance(which, tuple) else (which, 0)
        letter = "nmkpqrstuv"[number % 10] + (str(number // 10) if number > 9 else "")
        found.append(f"{letter} + {more}" if more else letter)
    return ", ".join(found)


def _sorted(imports: list[str]) -> list[str]:
    """Import statements in groups: the future, the standard library, the rest."""
    groups: dict[int, list[str]] = {}
    for line in sorted(imports, key=lambda line: (line.startswith("from"), line)):
        package = re.split(r"[ .]", line)[1]
        group = 0 if line == FUTURE else 1 if package in sys.stdlib_module_names else 2
        groups.setdefault(group, []).append(line)
    return ["\n".join(groups[group]) for group in sorted(groups)]


def _parameters(
    module: _Module, nodes: list[Any], signature: inspect.Signature, free: tuple[Any, ...]
) -> Any:
    """The parameters of the primal, then the outer values."""
    count = len(signature.parameters)
    arguments = gast.arguments([], [], None, [], [], None, [])
    for node, parameter in zip(nodes[:count], signature.parameters.values(), strict=True):
        has_default = parameter.default is not parameter.empty
        default = module.default(node.id, parameter.default) if has_default else None
        match parameter.kind:
            case parameter.VAR_POSITIONAL:
                arguments.vararg = node
            case parameter.VAR_KEYWORD:
                arguments.kwarg = node
            case parameter.KEYWORD_ONLY:
                arguments.kwonlyargs.append(node)
                arguments.kw_defaults.append(default)
            case kind:
                only = kind is parameter.POSITIONAL_ONLY
                (arguments.posonlyargs if only else arguments.args).append(node)
                if default is not None:
                    arguments.defaults.append(default)
    for node, value in zip(nodes[count:], free, strict=False):
        arguments.kwonlyargs.append(node)
        arguments.kw_defaults.append(module.default(node.id, value))
    return arguments
