"""Objects that srcgrad doesn't know, and what goes into them and comes out again.

A buffer, a file or a context variable is handed a number by one call, and hands it out by another:
`buffer.write(x.tobytes())`, then `buffer.read()`. What such calls do isn't known. So an object, its
methods and what these return are one, as are all files, and all functions of a package that isn't
looked into: if a float goes in anywhere, it may come out everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from types import ModuleType
from typing import Any

from .. import ir, runtime
from ..kinds import ListOf, Opaque
from ..packages import package_of, told
from ..rules import registry

FILES = "files"
LOOKS: frozenset[Any] = frozenset(
    {
        runtime.check_arrays_apart,
        runtime.check_containers_apart,
        runtime.check_not_held,
        runtime.check_once,
    }
)


class UnknownObjects:
    """The unknown objects of a block, by what stands for each."""

    def __init__(self, block: ir.Block, carries: Callable[[Any], bool]) -> None:
        self.carries = carries
        self.parent: dict[Hashable, Hashable] = {}
        self.used: dict[ir.Assign, list[Hashable]] = {}
        for s in ir.walk(block):
            match s:
                case ir.Assign():
                    used = self._used(s)
                    if used:
                        is_part = FILES in used or self._among(s.target)
                        self._join(*used, *((s.target,) if is_part else ()))
                    if used and (s.effect or FILES in used):
                        self.used[s] = used
                case _:
                    for target, ends in ir.joins(s):
                        self._meet(target, *ends)

    def of(self, var: ir.Var) -> Hashable | None:
        """What stands for the object that a variable is, or is a part of; None if it is none."""
        return self._find(var) if var in self.parent else None

    def changed_by(self, s: ir.Assign) -> set[Hashable]:
        """What stands for the objects that a call may change."""
        return {self._find(key) for key in self.used.get(s, ())}

    def _used(self, s: ir.Assign) -> list[Hashable]:
        found: list[Hashable] = [v for o in s.operands() for v in self._among(o)]
        if isinstance(s.function, ir.Unit):
            return self._used_in(s.function, found)
        function = s.function
        first = s.args[0] if s.args else None
        if isinstance(first, ir.Var) and isinstance(first.kind, ListOf) and first in s.writes:
            return []  # it's followed: what goes into it together has nothing to do with each other
        if registry.hashable(function):
            if function in LOOKS:
                return []
            if function in registry.filing:
                found.append(FILES)
        called = [function, *(o.value for o in s.operands() if isinstance(o, ir.Const))]
        for receiver in (told(f, "__self__") for f in called if s.effect and callable(f)):
            if self.carries(Opaque(type(receiver))) and not isinstance(receiver, ModuleType):
                found.append(("outside", id(receiver)))
        packages = {package_of(f) for f in called if s.effect and callable(f)}
        found += [("package", p) for p in packages if p is not None and p not in registry.forgetful]
        return found

    def _used_in(self, unit: ir.Unit, given: list[Hashable]) -> list[Hashable]:
        """The objects outside that a unit uses, and those given if it hands floats to any."""
        outside: list[Hashable] = []
        handed = False
        for s in _statements(unit):
            used = self._used(s)
            if used and (s.effect or FILES in used):
                outside += [key for key in used if not isinstance(key, ir.Var)]
                handed = handed or any(
                    self.carries(v.kind) and not isinstance(v.kind, Opaque)
                    for o in s.operands() for v in ir.variables(o)
                )  # fmt: skip
        return [*(given if handed else ()), *outside]

    def _among(self, operand: ir.Operand) -> list[Hashable]:
        return [
            v for v in ir.variables(operand) if isinstance(v.kind, Opaque) and self.carries(v.kind)
        ]

    def _meet(self, target: ir.Var, *operands: ir.Operand) -> None:
        if self._among(target):
            self._join(target, *(v for o in operands for v in self._among(o)))

    def _find(self, key: Hashable) -> Hashable:
        while (parent := self.parent.get(key, key)) is not key:
            key = parent
        return key

    def _join(self, first: Hashable, *others: Hashable) -> None:
        self.parent.setdefault(first, first)
        for other in others:
            self.parent[self._find(other)] = self._find(first)


def _statements(unit: ir.Unit) -> Iterator[ir.Assign]:
    """The statements of a unit and of those that it calls, but for these calls."""
    waiting, seen = [unit], {unit}
    while waiting:
        for s in ir.walk(waiting.pop().body.block):
            if isinstance(s, ir.Assign) and not isinstance(s.function, ir.Unit):
                yield s
            elif isinstance(s, ir.Assign) and s.function not in seen:
                seen.add(s.function)
                waiting.append(s.function)
