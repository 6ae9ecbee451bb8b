"""Functions in IR made text, and run."""

from __future__ import annotations

import importlib
import itertools
import linecache
import sys
from typing import Any

import gast
import numpy as np

from .. import ir
from ..emit.python import emit_function
from ..emit.references import Emitted
from ..emit.verification import checked_source
from ..optimize.release import release
from ..optimize.repeated_items import repeat_items
from ..optimize.row_buffers import set_buffers
from ..optimize.unboxing import unbox
from ..optimize.unpacking import unpack
from ..units import call_plain, finish
from .memory import keep_freed_memory
from .task import Request

_numbers = itertools.count(1)


def emitted_module(
    request: Request, functions: list[ir.Function], docstrings: list[str]
) -> tuple[list[Any], str, str, tuple[Emitted, ...]]:
    """Print functions into one module text, with the units they call, and run it."""
    call_plain(functions)
    bodies = [*functions, *(unit.body for unit in ir.units(functions))]
    finish(ir.units(functions), {function.name for function in functions} | _names(bodies))
    units = ir.units(functions)
    set_buffers(functions, [unit.body for unit in units])
    functions = [*functions, *(unit.body for unit in units)]
    docstrings = [*docstrings, *(unit.docstring for unit in units)]
    for function in functions:
        unbox(function)
        repeat_items(function)
        unpack(function)
        release(function)
    shared: dict[str, Any] = {}
    taken = {unit.name for unit in units}
    emitted = tuple(
        emit_function(f, d, shared, taken) for f, d in zip(functions, docstrings, strict=True)
    )
    text = "\n\n".join(checked_source(gast.Module([e.tree], [])) for e in emitted)
    filename = f"<srcgrad {request.name} {next(_numbers)}>"
    # no mtime: linecache.checkcache leaves the entry alone
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    code = compile(text, filename, "exec")
    namespace: dict[str, Any] = {}
    for e in emitted:
        namespace.update(namespace_of(e))
    keep_freed_memory()
    exec(code, namespace)
    generated = [namespace[function.name] for function in functions]
    return generated, text, filename, emitted


def _names(functions: list[ir.Function]) -> set[str]:
    """The names of parameters and variables, which those of functions mustn't hide."""
    found = {p.name for function in functions for p in function.params}
    for function in functions:
        for s in ir.walk(function.block):
            found.update(v.name for v in ir.targets(s))
    return found


def namespace_of(emitted: Emitted) -> dict[str, Any]:
    """The globals of a generated function."""
    namespace: dict[str, Any] = {"np": np, **emitted.bindings}
    for module in emitted.modules:
        if module != "numpy":
            importlib.import_module(module)
            package = module.partition(".")[0]
            namespace[package] = sys.modules[package]
    for helper in emitted.helpers:
        namespace[helper.__name__] = helper
    return namespace
