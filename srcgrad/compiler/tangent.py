"""Forward mode: the function that returns a result's tangent."""

from __future__ import annotations

import numpy as np

from .. import ir
from ..analysis.inference import Inferred
from ..frontend.predicates import NONE
from ..kinds import Array, ListOf, is_float
from ..optimize.accumulation import accumulate, materialize
from ..optimize.invariants import hoist
from ..optimize.packing import pack
from ..optimize.prune import prune
from ..optimize.reads import share_reads
from ..optimize.simplify import simplify
from ..optimize.tangent_buffers import reuse_tangents
from ..results import built, nesting, rebuilt, separate, tangent_of_list
from ..transform.conformity import demand, keep_demands
from ..transform.forward import Tangent
from .batches import batched
from .output import emitted_module
from .primal import Primal, dependences, floats
from .task import Compiled, Task


def tangent_function(task: Task, lowered: Primal) -> Compiled:
    """The function that returns the result and its tangent."""
    request, low, function = task.request, lowered.low, lowered.function
    params = function.params
    demand(function, low)
    if low.opened:
        lowered.pruned()
    tangent = Tangent(function, list(dict.fromkeys(lowered.wrt)), lowered.outputs)
    tangent.within(low)
    given: dict[ir.Var, ir.Operand] = {}
    if request.unit:
        given = _unit_tangents(tangent, lowered.wrt, function.block)
    for (_, _, value), twin in zip(lowered.targets, lowered.tangents, strict=not request.unit):
        given.update(zip(floats(low, value), floats(low, twin), strict=True))
    block = tangent.transform(function.block, given)
    tangent.block, tangent.span = block, None

    def leaf(v: ir.Var) -> ir.Operand:
        if isinstance(v.kind, ListOf) and v.kind.item is not None:
            return tangent_of_list(tangent, v)
        return tangent.full(v) if is_float(v.kind) else NONE

    moved = rebuilt(tangent, low, lowered.result, leaf, _still)
    shown = [built(tangent, low, lowered.result)] if request.value else []
    aux = [built(tangent, low, lowered.aux)] if request.has_aux else []
    block.results = (*shown, moved, *aux)
    function.block = block
    function.params = (*params, *lowered.free.found.values())
    ir.passed("tangents", function)
    prune(function)
    simplify(function)
    prune(function)
    if request.batch:
        tangents = [t for t in given.values() if isinstance(t, ir.Var)]
        params = (*params, batched(function, tangent, tangents, lowered.free, [len(shown)]))
    materialize(function)
    separate(function, len(shown))
    accumulate(function)
    reuse_tangents(function, [t for t in given.values() if isinstance(t, ir.Var)])
    share_reads(function)
    pack(function)
    hoist(function)
    prune(function)
    keep_demands(function, low)
    used = ir.free_variables(function.block)
    kept = [(p, v) for p, v in lowered.free.found.items() if v in used]
    function.params = (*params, *(v for _, v in kept))
    function.name = f"jvp_{task.base}"
    names = ", ".join(label for label, _, _ in lowered.targets)
    what = "Value and tangent" if request.value else "Tangent"
    docstring = f"{what} of {request.name}{task.where} along {names}."
    if request.unit:
        docstring = f"Derivative of {request.name}{task.where} by {names}."
        function.name = f"d_{task.base}"
    if request.batch:
        docstring = f"Tangents of {request.name}{task.where} along rows of {names}."
        function.name = f"jvps_{task.base}"
    generated, text, filename, emitted = emitted_module(request, [function], [docstring])
    common = dependences(task, lowered, kept, used)
    return Compiled(
        generated[0], text, filename, emitted, **common, nesting=nesting(low, lowered.result)
    )


def _still(constant: ir.Const) -> ir.Const:
    """The tangent of a constant; None, as for all else, if it is no float."""
    value = constant.value
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        return ir.Const(np.zeros_like(value))
    number = isinstance(value, (float, complex, np.inexact))
    return ir.Const(type(value)(0) if number else None)


def _unit_tangents(
    tangent: Tangent, wrt: list[ir.Var], block: ir.Block
) -> dict[ir.Var, ir.Operand]:
    """Tangents of ones, made where the variables are."""
    given: dict[ir.Var, ir.Operand] = {v: ir.Const(1.0) for v in wrt}
    made = [i for i, s in enumerate(block.statements) if given.keys() & set(ir.targets(s))]
    tangent.block = ones = ir.Block()
    for v in wrt:
        if isinstance(v.kind, Array):
            given[v] = tangent.emit(
                np.ones_like, (v,), inferred=Inferred(v.kind), name=f"t_{v.name}"
            )
    at = max(made, default=-1) + 1
    block.statements[at:at] = ones.statements
    return given
