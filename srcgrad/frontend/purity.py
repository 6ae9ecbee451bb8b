"""Whether a function that users give a rule, and nobody looks into, only depends on its arguments.

If not, it draws from a generator, reads the next batch, counts its calls: each call is another, and
is made where it stands. That is seen from what its code names, not from running it.
"""

from __future__ import annotations

import builtins
import dis
import functools
import numbers
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..packages import package_of, told
from ..rules import registry
from .recent import imported_or

PURE = frozenset(
    getattr(builtins, name)
    for name in "abs all any divmod getattr hasattr isinstance iter len max min next pow repr "
    "round sorted sum".split()
)
STILL = (
    numbers.Number, str, bytes, range, slice, frozenset, types.ModuleType, types.FunctionType,
    types.BuiltinFunctionType, types.MethodType, np.ufunc, functools.partial,
)  # fmt: skip
CHANGING = object()  # what a name stands for that may be given another value
BINDING = ("STORE_GLOBAL", "DELETE_GLOBAL", "IMPORT_NAME")


def has_effect(function: Any) -> bool:
    """Whether a call of a primitive does more than return what its arguments say."""
    record = registry.lookup(function)
    if registry.is_random(function) or (record is not None and record.effect):
        return True
    return record is not None and _is_users(function) and not _is_settled(function, set())


def _is_users(function: Any) -> bool:
    """Whether a function with a rule is one that users wrote."""
    if not isinstance(function, (types.FunctionType, types.MethodType, functools.partial)):
        return False
    return function.__module__.partition(".")[0] not in ("numpy", "scipy", "srcgrad")


def _is_settled(value: Any, seen: set[int]) -> bool:
    """Whether what code does with a value is the same each time, and nothing else happens."""
    if id(value) in seen or value is None or isinstance(value, (numbers.Number, str, np.dtype)):
        return True
    seen.add(id(value))
    if isinstance(value, tuple):
        return all(_is_settled(item, seen) for item in value)
    if isinstance(value, type):
        return value.__module__ in ("builtins", "numpy")
    if not callable(value):
        return False
    record = registry.lookup(value)
    if record is not None and not _is_users(value):
        return not (record.effect or registry.is_random(value))
    if not isinstance(value, types.FunctionType):
        return isinstance(value, types.BuiltinFunctionType) and value in PURE
    defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
    return not _binds_outside(value.__code__) and all(
        _is_settled(v, seen) for v in (*defaults, *_outside(value))
    )


def keeps_to_itself(value: Any, seen: set[int] | None = None) -> bool:
    """Whether a function surely changes nothing outside of it that the program may read again.

    What it prints, or asks of a package, isn't of that kind. Anything but a function does: it is
    nothing that is called.
    """
    seen = set() if seen is None else seen
    if isinstance(value, functools.partial):
        return keeps_to_itself(value.func, seen)
    if isinstance(value, types.MethodType) and package_of(value.__func__) is None:
        return False
    if not isinstance(value, types.FunctionType) or package_of(value) is not None:
        return True
    if id(value) in seen:
        return True
    seen.add(id(value))
    if _binds_outside(value.__code__):
        return False
    defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
    return all(_is_still(v) and keeps_to_itself(v, seen) for v in (*defaults, *_outside(value)))


def _is_still(value: Any) -> bool:
    """Whether a value that a function names can't be changed, or is no business of the program."""
    if value is CHANGING or value is None or isinstance(value, (*STILL, np.dtype, np.number)):
        return True
    if isinstance(value, tuple):
        return all(map(_is_still, value))
    cls = value if isinstance(value, type) else type(value)
    if cls.__module__ == "builtins":
        return isinstance(value, type)
    array = isinstance(value, np.ndarray)
    return not array and (cls.__module__.startswith("numpy") or package_of(cls) is not None)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _binds_outside(code: types.CodeType) -> bool:
    """Whether code gives a value to a variable outside of it, or imports something."""
    return any(
        i.opname in BINDING or (i.opname == "STORE_DEREF" and i.argval in code.co_freevars)
        for c in _codes(code) for i in dis.get_instructions(c)
    )  # fmt: skip


def _outside(function: types.FunctionType) -> Iterator[Any]:
    """What a function takes from outside of itself: of a module, what it takes from there.

    Names that may be given another value between two calls, by a function of the module or, of
    numbers in closures, by another closure, stand for CHANGING.
    """
    code = function.__code__
    around = {**vars(builtins), **function.__globals__}
    around.update(dict.fromkeys(_rebound(function.__globals__), CHANGING))
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    for c in _codes(code):
        found: Any = None
        for i in dis.get_instructions(c):
            if isinstance(found, types.ModuleType) and i.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                found = getattr(found, i.argval, None)
                continue
            yield found
            found = None
            if i.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                found = imported_or(around, i.argval, CHANGING)
            elif i.opname == "LOAD_DEREF" and i.argval in cells:
                cell = cells[i.argval]
                found = cell.cell_contents if cell != types.CellType() else cell
                found = CHANGING if isinstance(found, numbers.Number) else found


def _rebound(namespace: dict[str, Any]) -> Iterator[str]:
    """The names of a module that its functions and methods give another value."""
    for thing in list(namespace.values()):
        for function in vars(thing).values() if isinstance(thing, type) else (thing,):
            code = told(function, "__code__")
            if isinstance(code, types.CodeType):
                yield from _globals_bound(code)


@functools.lru_cache(10000)
def _globals_bound(code: types.CodeType) -> frozenset[str]:
    found = (i for c in _codes(code) for i in dis.get_instructions(c))
    return frozenset(i.argval for i in found if i.opname in BINDING[:2])
