"""To be recorded: how the reverse sweep gets the forward sweep's values back.

The reverse sweep uses variables of the forward sweep. One that isn't in a loop is still there.
One that belongs to a loop's iteration is *recomputed* in the mirrored iteration, where that is
cheaper than storing it (an index, a slice or an item of an array that is never written), else
*recorded*: pushed on a list by the forward sweep and popped by the reverse sweep. What was stored
in a part of an array that nothing writes after is read again from there; what is the same in each
iteration is left in its variable by the last one.
"""

from __future__ import annotations

import builtins
import operator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from .. import ir, runtime
from ..analysis.aliasing import Aliasing
from ..analysis.inference import Inferred
from ..analysis.keys import kept_axes
from ..frontend.structure import item_kinds
from ..ir import list_append
from ..kinds import INT, Array, ListOf, Opaque, Scalar, TupleOf, holds_arrays
from ..rules import registry
from .repeated import Path, Repeated, last_value

CHEAP: frozenset[Any] = frozenset(
    {
        operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.neg,
        operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
        operator.and_, operator.or_, operator.not_, operator.getitem, operator.is_,
        builtins.getattr, builtins.len, np.transpose, np.shape, builtins.bool,
    }
)  # fmt: skip
ARITHMETIC: frozenset[Any] = frozenset({operator.add, operator.sub, operator.mul, operator.neg})
ALLOCATIONS: frozenset[Any] = frozenset({np.zeros_like, runtime.zero_like, runtime.own_zeros})


@dataclass
class Lasting:
    """What is in arrays still when the reverse sweep comes, though others of their parts are
    written: the items that were read, and the calls that store something."""

    items: set[ir.Var] = field(default_factory=set)
    stores: list[ir.Assign] = field(default_factory=list)


class Mirrored(Protocol):
    """What is known of a reverse sweep, from having made it.

    Attributes:
        mirrors: by the id of each forward block, the block of the reverse sweep that undoes it.
        indices: of the reverse sweep's loops, what those of the forward sweep's are there.
        lasting: the reads of arrays of which nothing is written after them.
    """

    mirrors: dict[int, ir.Block]
    indices: dict[ir.Var, ir.Var]
    lasting: Lasting


def record(function: ir.Function, forward: int, adjoint: Mirrored) -> None:
    """Make the reverse sweep stand on its own, in place.

    `forward` is the number of statements of the forward sweep.
    """
    indices = adjoint.indices
    recorder = _Recorder(function, adjoint.mirrors, indices, adjoint.lasting)
    statements = function.block.statements
    # where a forward loop is dead already, nothing else tells its mirror about its index
    ir.rename(ir.Block(statements[forward:]), indices)
    top = ir.Block(statements[:forward])
    recorder.visit(top, ())
    function.block.statements[:0] = recorder.stacks


class _Recorder:
    def __init__(
        self,
        function: ir.Function,
        mirrors: dict[int, ir.Block],
        indices: dict[ir.Var, ir.Var],
        lasting: Lasting,
    ) -> None:
        self.mirrors, self.indices, self.lasting = mirrors, indices, lasting
        self.aliasing = Aliasing(function.block)
        self.stacks: list[ir.Statement] = []
        self.looped: dict[ir.Var, ir.Block] = {}  # the innermost forward block in a loop
        self.definitions: dict[ir.Var, ir.Assign] = {}
        self.loops: dict[int, ir.Loop] = {}  # by the ids of their bodies
        for statement in ir.walk(function.block):
            if isinstance(statement, ir.Assign):
                self.definitions[statement.target] = statement
            elif isinstance(statement, ir.Loop):
                self.loops[id(statement.body)] = statement
        self.repeated = Repeated(dict(self.definitions), self.looped, self.aliasing)

    def visit(self, block: ir.Block, path: Path) -> None:
        """Serve the uses that a block's mirror makes of the block's variables.

        `path` leads to the block from the outermost loop that it is in.
        """
        if path:
            own = self._own(block, _loop(path))
            for v in own:
                self.looped[v] = block
        for s in block.statements:
            if not isinstance(s, ir.Assign):
                for inner in ir.blocks(s):
                    looped = path or isinstance(s, ir.Loop)
                    self.visit(inner, (*path, (s, inner)) if looped else ())
        mirror = self.mirrors.get(id(block))
        if path and mirror is not None:
            self._serve(block, mirror, own, path)

    def _own(self, block: ir.Block, loop: ir.Loop | None) -> dict[ir.Var, None]:
        before = () if loop is None else (loop.index, *loop.params)
        targets = (t for s in block.statements for t in ir.targets(s))
        return dict.fromkeys(v for v in (*before, *targets) if v is not None)

    def _serve(
        self, block: ir.Block, mirror: ir.Block, own: dict[ir.Var, None], path: Path
    ) -> None:
        loop = _loop(path)
        forward_uses = set(ir.all_uses(block))
        self._move_shadows(block, mirror, own, forward_uses)
        used = ir.free_variables(mirror)
        mapping: dict[ir.Var, ir.Operand] = {}
        if loop is not None and loop.index is not None and loop.index in self.indices:
            mapping[loop.index] = self.indices[loop.index]
        needed = [v for v in own if v in used and v not in mapping]
        if loop is not None and loop.body is block and id(mirror) in self.loops:
            mapping.update(self._swapped_back(loop, mirror, needed, own))
            needed = [v for v in needed if v not in mapping]
        if not needed and not mapping:
            return
        self._read_again(block, own)
        recorded: dict[ir.Var, ir.Var] = {}
        clones: list[ir.Statement] = []
        available = set(mapping)
        must: set[ir.Var] = set()
        for v in needed:  # in the order of definition: what is recorded helps to recompute the rest
            if not self._recomputable(v, own, available, forward_uses):
                smaller = None
                if not _shape_uses(mirror, v):  # else what is recorded is a shape
                    smaller = self._smaller_sources(v, own, available, forward_uses)
                must.update({v} if smaller is None else smaller)
                available.update(smaller or ())
            available.add(v)

        def provide(v: ir.Var) -> ir.Operand:
            if v in mapping:
                return mapping[v]
            if v not in own:
                return v
            definition = self.definitions.get(v)
            if self._is_left(v):
                mapping[v] = last_value(v, path)
                return mapping[v]
            if v in must or definition is None:
                twin = v.anew()
                recorded[v] = twin
                mapping[v] = twin
                return twin
            args = tuple(ir.substitute(a, provide) for a in definition.args)
            kwargs = tuple((k, ir.substitute(a, provide)) for k, a in definition.kwargs)
            twin = v.anew()
            views = tuple(w for x in definition.views for w in ir.variables(provide(x)))
            clones.append(
                ir.Assign(twin, definition.function, args, kwargs, definition.span, views,
                          definition.certain)
            )  # fmt: skip
            mapping[v] = twin
            return twin

        needed = self._shapes_alone(block, mirror, needed, must, own, recorded, forward_uses)
        for v in needed:
            provide(v)
        pops = self._stack(block, recorded, loop) if recorded else []
        ir.rename(mirror, mapping)
        mirror.statements[:0] = [*pops, *clones]

    def _swapped_back(
        self, loop: ir.Loop, mirror: ir.Block, needed: list[ir.Var], own: dict[ir.Var, None]
    ) -> dict[ir.Var, ir.Var]:
        """The arrays that each iteration hands on to the next one in other variables.

        What is swapped is swapped back by the mirrored loop, which begins with what is there in the
        end: it needn't be recorded which is which.
        """
        wanted = {*needed, *self._sources(needed, own, set())}
        back, found = self.loops[id(mirror)], dict[ir.Var, ir.Var]()
        for cycle in _cycles(loop):
            if wanted.isdisjoint(loop.params[i] for i in cycle):
                continue
            held = [loop.params[i] for i in (*cycle[1:], cycle[0])]  # and handed on as `cycle`
            twins = [v.anew() for v in held]
            found.update(zip(held, twins, strict=True))
            for k, i in enumerate(cycle):
                back.params, back.inits = (*back.params, twins[k]), (*back.inits, loop.targets[i])
                back.targets = (*back.targets, twins[k].anew())
                mirror.results = (*mirror.results, twins[k - 1])
        return found

    def _read_again(self, block: ir.Block, own: dict[ir.Var, None]) -> None:
        """Let what a block stores where it stays be what is read from there."""
        stores = {id(s) for s in self.lasting.stores}
        for s in block.statements:
            if not isinstance(s, ir.Assign) or id(s) not in stores:
                continue
            array, key, value = s.args
            if not isinstance(value, ir.Var) or value not in own or not value.assured:
                continue
            definition = self.definitions.get(value)
            if definition is None or definition.function is operator.getitem:
                continue
            if self.aliasing.is_written(value):
                continue
            part = registry.kinds[operator.getitem]((array, key), {})
            if not isinstance(part, Inferred) or not part.certain or part.kind != value.kind:
                continue
            if isinstance(part.kind, Scalar) or (isinstance(part.kind, Array) and part.views):
                args = (array, key)
                read = ir.Assign(value, operator.getitem, args, (), s.span, part.views)
                self.definitions[value] = read
                self.lasting.items.add(value)

    def _move_shadows(
        self, block: ir.Block, mirror: ir.Block, own: dict[ir.Var, None], forward_uses: set[ir.Var]
    ) -> None:
        """Allocate in the reverse sweep what the forward sweep only allocates."""
        used = ir.free_variables(mirror)
        for s in list(block.statements):
            if (
                isinstance(s, ir.Assign) and s.function is np.zeros_like and not s.kwargs
                and isinstance(s.target.kind, Array) and s.target.kind.shape
                and s.target in used and s.target not in forward_uses
            ):  # fmt: skip
                block.statements.remove(s)
                mirror.statements.insert(0, s)
                del own[s.target]

    def _shapes_alone(
        self,
        block: ir.Block,
        mirror: ir.Block,
        needed: list[ir.Var],
        must: set[ir.Var],
        own: dict[ir.Var, None],
        recorded: dict[ir.Var, ir.Var],
        forward_uses: set[ir.Var],
    ) -> list[ir.Var]:
        """What is needed once arrays that are asked for their shapes alone aren't.

        The shape is asked of another array that has it, or else recorded in the array's place.
        """
        sources = self._sources([v for v in needed if v not in must], own, must)
        asked = {
            v: found
            for v in needed
            if v in must and v not in sources and (found := _shape_uses(mirror, v))
        }
        shapes: dict[Any, ir.Var] = {}
        kept = [v for v in needed if v not in asked]
        others = [v for v in own if v not in asked and v not in kept and v.assured]
        around = [v for v in ir.free_variables(mirror) if v not in own]
        for v, uses in asked.items():
            must.discard(v)
            like = next((w for w in (*around, *kept) if w.kind == v.kind and w.assured), None)
            if like is None:
                anew = (w for w in others if w.kind == v.kind)
                like = next(
                    (w for w in anew if self._recomputable(w, own, set(kept), forward_uses)), None
                )
                if like is not None and self._sources([like], own, must) & asked.keys():
                    like = None
                kept += [like] if like is not None else []
            if like is not None:
                ir.rename(ir.Block([s for _, s in uses]), {v: like})
                continue
            assert isinstance(v.kind, Array) and v.kind.shape is not None
            twin = shapes.get(v.kind.shape)
            if twin is None:
                kind = TupleOf(tuple(Scalar(INT.dtype, True, n) for n in v.kind.shape))
                shape, twin = ir.Var(f"{v.name}_shape", kind), ir.Var(f"{v.name}_shape", kind)
                origin = ir.origin(uses[0][1].span, "recorded")
                block.statements.append(
                    ir.Assign(shape, builtins.getattr, (v, ir.Const("shape")), (), origin)
                )
                recorded[shape] = shapes[v.kind.shape] = twin
            for place, s in uses:
                if s.function in (builtins.getattr, np.shape):
                    place.statements.remove(s)
                    ir.rename(mirror, {s.target: twin})
                else:
                    _use_shape(s, v.kind.dtype, twin)
        return kept

    def _sources(
        self, again: list[ir.Var], own: dict[ir.Var, None], must: set[ir.Var]
    ) -> set[ir.Var]:
        """The variables of a block from which others are computed again."""
        found: set[ir.Var] = set()
        waiting = list(again)
        while waiting:
            definition = self.definitions.get(waiting.pop())
            operands = definition.operands() if definition is not None else ()
            for v in (v for o in operands for v in ir.variables(o)):
                if v in own and v not in found:
                    found.add(v)
                    if v not in must:
                        waiting.append(v)
        return found

    def _recomputable(
        self, v: ir.Var, own: dict[ir.Var, None], available: set[ir.Var], forward_uses: set[ir.Var]
    ) -> bool:
        """Whether a variable can be had again from what the mirrored iteration has."""
        if v in available:
            return True
        if v not in own:
            # of an iteration around this one: its own mirror provides it
            return v not in self.looped or id(self.looped[v]) in self.mirrors
        if self._is_left(v):
            return True
        definition = self.definitions.get(v)
        if definition is None or definition.effect or definition.writes:
            return False
        if definition.function in ALLOCATIONS:
            source = definition.args[0]
            return (
                v not in forward_uses
                and isinstance(source, ir.Var)
                and self._recomputable(source, own, available, forward_uses)
            )
        if definition.function not in CHEAP or not self._cheap(definition):
            return False
        return all(
            self._recomputable(w, own, available, forward_uses)
            for operand in definition.operands()
            for w in ir.variables(operand)
        )

    def _is_left(self, v: ir.Var) -> bool:
        """Whether a variable of an iteration needs neither recording nor computing again: that of
        the last iteration is there, and holds the same. (Parts of arrays are taken again: that can
        be done before the loop.)"""
        s = self.definitions.get(v)
        if s is None or not isinstance(v.kind, (Array, Scalar)):
            return False
        part = s.views and s.function in CHEAP and isinstance(s.views[0].kind, Array)
        return not (part and self._cheap(s)) and self.repeated.is_same(v)

    def _smaller_sources(
        self, v: ir.Var, own: dict[ir.Var, None], available: set[ir.Var], forward_uses: set[ir.Var]
    ) -> set[ir.Var] | None:
        """What to record in place of an array that arithmetic makes of smaller ones, or of those
        that are there anyway; None if it isn't one, or if they may have changed by then."""
        s = self.definitions.get(v)
        while s is not None and self._takes_all(s):
            s = self.definitions.get(s.views[0])
        if s is None or s.function not in ARITHMETIC or not isinstance(v.kind, Array):
            return None
        found: set[ir.Var] = set()
        waiting = [w for o in s.operands() for w in ir.variables(o)]
        while waiting:
            w = waiting.pop()
            if not w.assured or (isinstance(w.kind, Array) and self.aliasing.is_written(w)):
                return None
            if w in found or self._recomputable(w, own, available, forward_uses):
                continue
            definition = self.definitions.get(w)
            if definition is not None and definition.views and self._cheap(definition):
                waiting += [u for o in definition.operands() for u in ir.variables(o)]
            elif w in own and _has_fewer_axes(w, v):
                found.add(w)
            else:
                return None
        return None if self.aliasing.is_written(s.target) else found

    def _takes_all(self, s: ir.Assign) -> bool:
        """Whether a call is `x[:, None]` or the like."""
        kind = s.views[0].kind if s.views else None
        if s.function is not operator.getitem or not isinstance(kind, Array) or kind.shape is None:
            return False
        return self._cheap(s) and kept_axes(s.args[1], kind.shape) is not None

    def _cheap(self, s: ir.Assign) -> bool:
        """Whether a call costs less than recording its result, and gives the same again."""
        kind = s.target.kind
        reads = [v for o in s.operands() for v in ir.variables(o)]
        if any(isinstance(v.kind, ListOf) for v in reads):
            return s.target in self.lasting.items
        if s.views:
            # a view's contents are the snapshots' business, but a copy's are not
            return s.certain or not any(self.aliasing.is_written(v) for v in s.views)
        if isinstance(kind, (Array, ListOf)):
            return False
        if s.function is operator.getitem:
            container = s.args[0]
            if not isinstance(container, ir.Var):
                return False
            if isinstance(container.kind, Array) and self.aliasing.is_written(container):
                return isinstance(kind, Scalar) and s.target in self.lasting.items
            return isinstance(container.kind, (Array, TupleOf)) and isinstance(kind, Scalar)
        scalars = all(isinstance(v.kind, (Scalar, Opaque)) for v in reads)
        shape = s.function in (builtins.getattr, np.shape) or (
            s.function is builtins.len and all(isinstance(v.kind, Array) for v in reads)
        )
        return scalars or shape

    def _stack(
        self, block: ir.Block, recorded: dict[ir.Var, ir.Var], loop: ir.Loop | None
    ) -> list[ir.Statement]:
        """Push at the end of the forward block; the statements that pop."""
        definitions = [self.definitions[v].span for v in recorded if v in self.definitions]
        spans = [*definitions, loop.span if loop is not None else None, None]
        origin = ir.origin(spans[0], "recorded")
        originals, twins = list(recorded), list(recorded.values())
        single = len(originals) == 1
        kinds = tuple(v.kind for v in originals)
        item: Any = item_kinds(kinds[0] if single else TupleOf(kinds))
        name = f"{originals[0].name}_saved" if single else "saved"
        stack = ir.Var(name, ListOf(item))
        self.stacks.append(ir.Assign(stack, list, (ir.Pack(list, ()),), (), origin))
        pushed: ir.Operand = originals[0] if single else ir.Pack(tuple, tuple(originals))
        block.statements.append(
            ir.Assign(
                ir.Var("_", Opaque(None)), list_append, (stack, pushed), (), origin, writes=(stack,)
            )
        )

        def pop(target: ir.Var) -> ir.Statement:
            return ir.Assign(
                target, list.pop, (stack,), (), origin, views=(stack,), writes=(stack,)
            )

        if single:
            return [pop(twins[0])]
        whole = ir.Var("record", TupleOf(kinds))
        pops = [pop(whole)]
        for i, twin in enumerate(twins):
            pops.append(
                ir.Assign(
                    twin, operator.getitem, (whole, ir.Const(i)), (), origin,
                    views=(whole,) if holds_arrays(twin.kind) else (),
                )
            )  # fmt: skip
        return pops


def _loop(path: Path) -> ir.Loop | None:
    """The loop whose body a path leads to, if it is one's."""
    s, _ = path[-1]
    return s if isinstance(s, ir.Loop) else None


def _cycles(loop: ir.Loop) -> list[list[int]]:
    """Which arrays a loop swaps: each iteration hands on as one what was the next of them."""
    numbers = {p: i for i, p in enumerate(loop.params) if isinstance(p.kind, Array) and p.assured}
    ends = enumerate(loop.body.results[: len(loop.params)])
    handed = {i: numbers[v] for i, v in ends if isinstance(v, ir.Var) and v in numbers}
    found: list[list[int]] = []
    while handed:
        first, following = handed.popitem()
        cycle = [first]
        while following in handed:
            cycle.append(following)
            following = handed.pop(following)
        if following == first and len(cycle) > 1:
            found.append(cycle)
    return found


def _has_fewer_axes(a: ir.Var, b: ir.Var) -> bool:
    """Whether two variables are arrays of which the first is a smaller one."""
    ranks = [k.rank if isinstance(k, Array) else None for k in (a.kind, b.kind)]
    return None not in ranks and ranks[0] < ranks[1]  # type: ignore[operator]


def _shape_uses(mirror: ir.Block, v: ir.Var) -> list[tuple[ir.Block, ir.Assign]] | None:
    """The statements that ask an array for its shape, with their blocks, if there are no others."""
    if not isinstance(v.kind, Array) or not v.kind.shape or v.kind.dtype is None:
        return None
    if not v.assured:
        return None  # there may be no array, where nobody asks
    found: list[tuple[ir.Block, ir.Assign]] = []
    blocks = [mirror]
    while blocks:
        block = blocks.pop()
        if any(v in ir.variables(operand) for operand in block.results):
            return None
        for s in block.statements:
            blocks += ir.blocks(s)
            if v not in ir.uses(s):
                continue
            if not isinstance(s, ir.Assign) or s.kwargs or v in s.writes:
                return None
            if s.function is runtime.unbroadcast:
                if s.args[0] is v:
                    return None
            elif s.function is builtins.getattr:
                if s.args[1].value != "shape":  # type: ignore[union-attr]
                    return None
            elif s.function not in (np.shape, np.zeros_like):
                return None
            found.append((block, s))
    return found


def _use_shape(s: ir.Assign, dtype: Any, shape: ir.Var) -> None:
    """Make a statement that takes an array for its shape take the shape itself."""
    if s.function is runtime.unbroadcast:
        s.function, s.args = runtime.unbroadcast_to, (s.args[0], shape)
    else:
        s.function = np.zeros
        s.args = (shape,) if dtype == np.float64 else (shape, ir.Const(dtype))
