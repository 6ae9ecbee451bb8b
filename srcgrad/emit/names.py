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
INDEX, INSIDE = "i", "jk"  # of loops that have none in the program, and of those in them
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
    """The Python name of each variable of a function; `inlined` variables need none.

    A set of variables is an int, with a bit for each: thousands of them may be live at once.
    """

    def __init__(
        self, function: ir.Function, inlined: dict[ir.Var, ir.Assign], reserved: Iterable[str]
    ) -> None:
        self.inlined = inlined
        self.modules = set(reserved) - {function.name}
        self.reserved = set(reserved) | RESERVED
        self.bits: dict[ir.Var, int] = {}
        self.edges: dict[ir.Var, int] = {}  # what is live where a variable gets its value
        self.parent: dict[ir.Var, ir.Var] = {}
        self.members: dict[ir.Var, int] = {}  # of the groups that have one name
        self.carried: list[tuple[ir.Var, ...]] = []  # the parameters of the loops around a place
        self.counting: list[ir.Var] = []  # and their indices, if anything uses them
        self.counts = ir.use_counts(function.block)
        live = self._block(function.block, 0)
        for p in function.params:
            self._define(p, live | self.set_of(function.params))
        for s in ir.walk(function.block):
            if isinstance(s, ir.Loop):  # first what must have one name, then what may
                for p, target in zip(s.params, s.targets, strict=True):
                    self._merge(p, target)
        self._coalesce_all(function.block)
        self.names: dict[ir.Var, str] = {}
        self.named: dict[str, tuple[int, int]] = {}  # the members of the groups, and their edges
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

    def set_of(self, variables: Iterable[ir.Var]) -> int:
        found = 0
        for v in variables:
            found |= self.bits.setdefault(v, 1 << len(self.bits))
        return found

    def reads(self, operands: Iterable[ir.Operand]) -> list[ir.Var]:
        """The named variables that evaluating operands reads."""
        found: list[ir.Var] = []
        for v in ir.variables_of(operands):
            found += self.reads(self.inlined[v].operands()) if v in self.inlined else (v,)
        return found

    def uses(self, operands: Iterable[ir.Operand]) -> int:
        return self.set_of(self.reads(operands))

    def _define(self, var: ir.Var, live: int) -> None:
        """What is live has other names than a variable that gets its value."""
        self.edges[var] = self.edges.get(var, 0) | live & ~self.set_of([var])

    def _block(self, block: ir.Block, after: int) -> int:
        """The variables live before a block, given those live after it."""
        live = after | self.uses(block.results)
        for s in reversed(block.statements):
            match s:
                case ir.Assign():
                    if s.target in self.inlined:
                        continue
                    self._define(s.target, live)
                    live &= ~self.set_of([s.target])
                    live |= self.uses(s.operands())
                    if s.function is leave_unless:
                        live |= self.set_of(self.carried[-1])
                case ir.If():
                    targets = self.set_of(s.targets)
                    for target in s.targets:
                        self._define(target, live | targets)
                    live &= ~targets
                    live = self._block(s.then, live) | self._block(s.orelse, live)
                    live |= self.uses([s.test])
                case ir.Loop():
                    live = self._loop(s, live)
        return live

    def _loop(self, s: ir.Loop, live: int) -> int:
        targets = self.set_of(s.targets)
        for target in s.targets:
            self._define(target, live | targets)
        around = live & ~targets
        params = s.params if s.index is None else (*s.params, s.index)
        own = self.set_of(params)
        self.carried.append(s.params)
        counting = [v for v in params[len(s.params) :] if v in self.counts]
        self.counting += counting
        for _ in range(2):
            inside = self._block(s.body, around | self._flag(s))
            for p in params:
                self._define(p, inside | own | around)
            if not inside & ~own & ~around:
                break
            around |= inside & ~own
        self.carried.pop()
        for v in counting:  # nobody reads `for i in x: for i in y:` with ease
            self.counting.pop()
            self._define(v, self.set_of(self.counting))
        # a parameter's next value is assigned while the exit flag is still needed
        for p in s.params:
            self._define(p, self._flag(s))
        # and its first one while the number of trips isn't computed yet
        for p, init in zip(s.params, s.inits, strict=True):
            self._define(p, self.uses(s.range or ()) & ~self.uses([init]))
        return around | self.uses([*s.inits, *(s.range or ())])

    def _flag(self, s: ir.Loop) -> int:
        return self.uses([s.body.results[-1]]) if s.exits else 0

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
        if x is not y and not self._interfere(x, self._members(y), self.edges.get(y, 0)):
            self._merge(x, y)

    def _members(self, root: ir.Var) -> int:
        return self.members.get(root) or self.set_of([root])

    def _interfere(self, root: ir.Var, members: int, edges: int) -> bool:
        """Whether a group can't share a name with others, of these members and edges."""
        return bool(self.edges.get(root, 0) & members or edges & self._members(root))

    def _merge(self, a: ir.Var, b: ir.Var) -> None:
        a, b = self.find(a), self.find(b)
        if a is b:
            return
        self.parent[b] = a
        self.members[a] = self._members(a) | self._members(b)
        self.edges[a] = self.edges.get(a, 0) | self.edges.pop(b, 0)

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
            self._name(self.find(p), name)
        results = {self.find(v) for o in function.block.results for v in ir.variables(o)}
        for root in sorted(groups, key=lambda root: root not in results):
            members = groups[root]
            if root in self.names:
                continue
            given_by_user = next((v.name for v in members if v.user), None)
            base = given_by_user or INSTEAD.get(members[0].name, members[0].name)
            if base == "_" and any(v.user for v in members):
                base = "item"
            others = iter(INSIDE if base == INDEX and not given_by_user else ())
            name, number = base, 1
            while not name.isidentifier() or self._is_taken(name, root):
                name = next(others, f"{base}_{number}")
                number += name[-1].isdigit()
                if not base.isidentifier():
                    base = "value"
            self._name(root, name)

    def _name(self, root: ir.Var, name: str) -> None:
        self.names[root] = name
        members, edges = self.named.get(name, (0, 0))
        self.named[name] = members | self._members(root), edges | self.edges.get(root, 0)

    def _is_taken(self, name: str, root: ir.Var) -> bool:
        """Whether a group can't have a name, which others have already."""
        return name in self.reserved or self._interfere(root, *self.named.get(name, (0, 0)))

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
