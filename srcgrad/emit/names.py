"""Naming: which variables of the IR share a Python variable, and what it is called.

SSA variables that meet in an `If` or a loop should be one Python variable, so that no copies are
printed. Liveness gives the pairs that can't share (they interfere); the rest is coalesced, and
each group gets the name that its user-named member has.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable
from typing import Any

import gast

from .. import ir
from ..frontend.operations import leave_unless
from ..packages import told

# Names of temporaries that would hide a builtin
INSTEAD = {
    "sum": "total", "max": "largest", "min": "smallest", "abs": "magnitude", "round": "rounded",
    "pow": "power", "any": "found", "all": "every", "len": "length", "float": "number",
    "absolute": "magnitude", "maximum": "larger", "minimum": "smaller", "int": "number",
    "not": "negated", "and": "both", "or": "either", "is": "same",
}  # fmt: skip
# Names that emission writes by itself
WRITTEN = frozenset(
    "_ range len list tuple reversed zip enumerate slice float int complex bool abs".split()
)
RESERVED = frozenset(keyword.kwlist) | {"_"} | frozenset(dir(builtins))


def _of_its_name(loop: ir.Loop, k: int) -> ir.Operand:
    """What a loop's parameter starts with; if others start with what has its name, that."""
    param, init = loop.params[k], loop.inits[k]
    if not isinstance(init, ir.Var) or init.name == param.name:
        return init
    starts = {v.name: v for v in loop.inits if isinstance(v, ir.Var)}
    swapped = any(p.name == init.name for p in loop.params)
    return starts.get(param.name, init) if swapped else init


class Names:
    """The Python name of each variable of a function; `inlined` variables need none."""

    def __init__(
        self, function: ir.Function, inlined: dict[ir.Var, ir.Assign], reserved: Iterable[str]
    ) -> None:
        self.inlined = inlined
        self.modules = set(reserved) - {function.name}
        self.reserved = set(reserved) | RESERVED
        self.edges: dict[ir.Var, set[ir.Var]] = {}
        self.order: list[ir.Var] = list(function.params)
        self.parent: dict[ir.Var, ir.Var] = {}
        self.carried: list[tuple[ir.Var, ...]] = []  # the parameters of the loops around a place
        live = self._block(function.block, set())
        for p in function.params:
            self._define(p, live | set(function.params))
        for v, others in list(self.edges.items()):
            for other in others:
                self.edges.setdefault(other, set()).add(v)
        for s in ir.walk(function.block):
            if isinstance(s, ir.Loop):  # first what must have one name, then what may
                for p, target in zip(s.params, s.targets, strict=True):
                    self._merge(p, target)
        self._coalesce_all(function.block)
        self.names: dict[ir.Var, str] = {}
        self._assign(function)

    def __getitem__(self, var: ir.Var) -> str:
        return self.names[self.find(var)]

    def find(self, var: ir.Var) -> ir.Var:
        while var in self.parent:
            var = self.parent[var]
        return var

    def release(self, groups: Iterable[set[ir.Var]], body: list[Any], sweep: Any) -> None:
        """Delete, above the mark of the reverse sweep, the names of groups of variables of which
        each has a value there, and none is in what follows."""
        position = next((i for i, s in enumerate(body) if s is sweep), 0)
        given = (t for s in body[:position] if isinstance(s, gast.Assign) for t in s.targets)
        used = (n for s in body[position:] for n in gast.walk(s))
        free = {t.id for t in given if isinstance(t, gast.Name)}
        free -= {n.id for n in used if isinstance(n, gast.Name)}
        of_groups = ({self[v] for v in group if v not in self.inlined} for group in groups)
        found = set().union(*(names for names in of_groups if names <= free))
        if found:
            targets = [gast.Name(n, gast.Del(), None, None) for n in sorted(found)]
            body.insert(position, gast.Delete(targets))

    # Liveness

    def uses(self, operands: Iterable[ir.Operand]) -> set[ir.Var]:
        """The named variables that evaluating operands reads."""
        found: set[ir.Var] = set()
        for operand in operands:
            for v in ir.variables(operand):
                if v in self.inlined:
                    found |= self.uses(self.inlined[v].operands())
                else:
                    found.add(v)
        return found

    def _define(self, var: ir.Var, live: set[ir.Var]) -> None:
        """What is live has other names than a variable that gets its value."""
        edges = self.edges.setdefault(var, set())
        edges.update(live)
        edges.discard(var)

    def _block(self, block: ir.Block, after: set[ir.Var]) -> set[ir.Var]:
        """The variables live before a block, given those live after it."""
        live = after | self.uses(block.results)
        for s in reversed(block.statements):
            match s:
                case ir.Assign():
                    if s.target in self.inlined:
                        continue
                    self._define(s.target, live)
                    live.discard(s.target)
                    live |= self.uses(s.operands())
                    if s.function is leave_unless:
                        live |= set(self.carried[-1])
                case ir.If():
                    for target in s.targets:
                        self._define(target, live | set(s.targets))
                    live -= set(s.targets)
                    live = self._block(s.then, set(live)) | self._block(s.orelse, set(live))
                    live |= self.uses([s.test])
                case ir.Loop():
                    live = self._loop(s, live)
        return live

    def _loop(self, s: ir.Loop, live: set[ir.Var]) -> set[ir.Var]:
        for target in s.targets:
            self._define(target, live | set(s.targets))
        live -= set(s.targets)
        own = set(s.params) | ({s.index} if s.index is not None else set())
        around = set(live)
        self.carried.append(s.params)
        for _ in range(2):
            inside = self._block(s.body, set(around) | self._flag(s))
            for p in own:
                self._define(p, inside | own | around)
            if around.issuperset(inside - own):
                break
            around |= inside - own
        self.carried.pop()
        # a parameter's next value is assigned while the exit flag is still needed
        for p in s.params:
            self._define(p, self._flag(s))
        # and its first one while the number of trips isn't computed yet
        for p, init in zip(s.params, s.inits, strict=True):
            self._define(p, self.uses(s.range or ()) - self.uses([init]))
        return around | self.uses([*s.inits, *(s.range or ())])

    def _flag(self, s: ir.Loop) -> set[ir.Var]:
        return self.uses([s.body.results[-1]]) if s.exits else set()

    # Coalescing

    def _coalesce_all(self, block: ir.Block) -> None:
        for s in block.statements:
            match s:
                case ir.Loop():
                    for k, p in enumerate(s.params):
                        self._coalesce(p, s.body.results[k])
                        self._coalesce(p, _of_its_name(s, k))
                case ir.If():
                    for k, target in enumerate(s.targets):
                        self._coalesce(target, s.then.results[k])
                        self._coalesce(target, s.orelse.results[k])
            for inner in ir.blocks(s):
                self._coalesce_all(inner)

    def _coalesce(self, a: ir.Var, operand: ir.Operand) -> None:
        if not isinstance(operand, ir.Var) or operand in self.inlined:
            return
        x, y = self.find(a), self.find(operand)
        if x is not y and y not in self.edges.get(x, ()):
            self._merge(x, y)

    def _merge(self, a: ir.Var, b: ir.Var) -> None:
        a, b = self.find(a), self.find(b)
        if a is b:
            return
        self.parent[b] = a
        mine = self.edges.setdefault(a, set())
        for other in self.edges.pop(b, set()):
            edges = self.edges[other]
            edges.discard(b)
            if other is not a:
                edges.add(a)
                mine.add(other)
        mine.discard(b)

    # Names

    def _assign(self, function: ir.Function) -> None:
        groups: dict[ir.Var, list[ir.Var]] = {}
        for var in self._all(function):
            if var not in self.inlined:
                groups.setdefault(self.find(var), []).append(var)
        spoken = self._spoken(function)
        given = {p.name for p in function.params}
        for p in function.params:
            name = p.name
            while name in spoken or (name != p.name and name in given):
                name += "_"
            self.names[self.find(p)] = name
        results = {self.find(v) for o in function.block.results for v in ir.variables(o)}
        for root in sorted(groups, key=lambda root: root not in results):
            members = groups[root]
            if root in self.names:
                continue
            base = next((v.name for v in members if v.user), None)
            base = base or INSTEAD.get(members[0].name, members[0].name)
            taken = {self.names[o] for o in self.edges.get(root, ()) if o in self.names}
            taken |= self.reserved
            if base == "_" and any(v.user for v in members):
                base = "item"
            name, number = base, 1
            while name in taken or not name.isidentifier():
                name = f"{base}_{number}"
                number += 1
                if not base.isidentifier():
                    base = "value"
            self.names[root] = name

    def _spoken(self, function: ir.Function) -> set[str]:
        """The names that the generated code may use in their usual meaning."""
        called = {s.function for s in ir.walk(function.block) if isinstance(s, ir.Assign)}
        names = {told(f, "__name__", ""): f for f in called}
        builtin = {name for name, f in names.items() if getattr(builtins, name, None) is f}
        return self.modules | builtin | WRITTEN

    def _all(self, function: ir.Function) -> Iterable[ir.Var]:
        yield from function.params
        for s in ir.walk(function.block):
            if isinstance(s, ir.Loop):
                if s.index is not None:
                    yield s.index
                yield from s.params
            yield from ir.targets(s)
