"""Reverse mode: the function that returns the gradient, or forward sweep and pullback."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ir
from ..analysis.aliasing import Aliasing
from ..analysis.inference import Inferred
from ..errors import Unbatchable
from ..frontend.lower import Lowerer
from ..frontend.structure import leaves
from ..frontend.values import Tuple, Value
from ..ir import reverse_sweep
from ..kinds import INT, RESIDUALS, ListOf, Opaque, Scalar, TupleOf, is_float
from ..results import built, finished, nesting, seed_gradient, seed_pullback
from ..transform.checking import Checking
from ..transform.conformity import demand, keep_demands
from ..transform.reverse import Adjoint
from ..transform.splitting import split
from ..transform.tracing import Observing, instrument
from ..units import distinct, recorded, simplified
from .batches import batched
from .output import emitted_module
from .primal import Primal, dependences
from .task import Compiled, Task


def gradient_function(task: Task, lowered: Primal) -> Compiled:
    """The function that returns the gradient, or the forward sweep and the pullback."""
    request, low, function, free = task.request, lowered.low, lowered.function, lowered.free
    targets, result, aux = lowered.targets, lowered.result, lowered.aux
    wrt, outputs, params, block = lowered.wrt, lowered.outputs, function.params, function.block
    if request.traced:
        instrument(function, dict.fromkeys(wrt), outputs, request.traced == "all")
    demand(function, low)
    lowered.pruned()
    reverse_mode = Observing if request.traced else Checking if request.nan_check else Adjoint
    adjoint = reverse_mode(function, list(dict.fromkeys(wrt)), outputs)
    adjoint.within(low)
    forward = adjoint.augment(block)
    adjoint.block = reverse = ir.Block()
    adjoint.emit(reverse_sweep, (), inferred=Inferred(Opaque(None)), effect=True)
    seeds: list[ir.Var] = []
    if request.pullback:
        seeds = seed_pullback(adjoint, low, result)
        for seed in seeds:
            while seed.name in task.arguments:
                seed.name += "_"
    else:
        seed_gradient(adjoint, outputs)
    # an argument that is taken out of a container keeps its adjoint: it is a result
    extractions = [s for s in forward.statements if isinstance(s, ir.Assign) and s.target in wrt]
    adjoint.reverse(ir.Block([s for s in forward.statements if s not in extractions]))
    adjoint.span = None
    gradients = [finished(adjoint, low, target) for _, _, target in targets]
    answer = gradients[0] if request.single else ir.Pack(tuple, tuple(gradients))
    shown: list[ir.Operand] = []
    if request.batch:
        if any(isinstance(v.kind, ListOf) for v in leaves(low, result)):
            raise Unbatchable("the result holds a list that is built at run time")
        shown = [_shapes(adjoint, low, result)]
    elif request.value or request.pullback:
        whole = Tuple((result, aux)) if request.has_aux else result
        adjoint.block = forward
        shown = [built(adjoint, low, whole)]
        adjoint.block = reverse
    elif request.has_aux:
        shown = [built(adjoint, low, aux)]
    first = request.has_aux and not (request.value or request.pullback)
    marker = reverse.statements[0]
    block = ir.Block(
        forward.statements + reverse.statements, (answer, *shown) if first else (*shown, answer)
    )
    function.params = (*params, *seeds, *free.found.values())
    function.seeds = tuple(seeds)
    function.block = block
    ir.passed("reversed", function)
    simplified(function, marker)
    keep_demands(function, low)  # what isn't made now won't be: that is known early
    if request.batch:
        floats = [seed for seed in seeds if is_float(seed.kind)]
        params = (*params, *seeds, batched(function, adjoint, floats, free, [len(shown)]))
    cut = request.pullback and not request.batch
    recorded(function, marker, adjoint, 0 if first else len(shown), cut)
    ir.passed("recorded", function)
    keep_demands(function, low)

    used = ir.free_variables(function.block)
    kept = [(p, v) for p, v in free.found.items() if v in used]
    function.name = _function_name(task)
    common = dependences(task, lowered, kept, used)
    if cut:
        function.params = (*params, *(v for _, v in kept))
        return _pair(task, function, marker, seeds, common, nesting(low, result))
    function.params = (*params, *(v for _, v in kept))
    generated, text, filename, emitted = emitted_module(
        request, [function], [_docstring(task, targets)]
    )
    return Compiled(generated[0], text, filename, emitted, **common, nesting=nesting(low, result))


def _shapes(adjoint: Adjoint, low: Lowerer, result: Value) -> ir.Operand:
    """The shapes of the floats in a result."""
    shapes = []
    for v in leaves(low, result):
        if is_float(v.kind):
            rank = v.kind.shape or ()  # type: ignore[attr-defined]
            kind = TupleOf(tuple(Scalar(INT.dtype, True, n) for n in rank))
            shapes.append(adjoint.emit(np.shape, (v,), inferred=Inferred(kind), name="shape"))
    return ir.Pack(tuple, tuple(shapes))


def _pair(
    task: Task,
    function: ir.Function,
    marker: ir.Statement,
    seeds: list[ir.Var],
    common: dict[str, Any],
    result_nesting: Any,
) -> Compiled:
    """Split a function at the marker into the forward sweep and the pullback."""
    out, answer = function.block.results
    before, residuals, after = split(function, marker, seeds)
    reverse = ir.Block(after, (answer,))
    distinct((*seeds, *residuals))
    # a parameter that is kept may now have the name of one that isn't
    distinct(tuple(sorted(function.params, key=lambda p: p not in residuals)))
    packed = ir.Pack(tuple, (out, ir.Pack(tuple, residuals)))
    forward = ir.Function(f"forward_{task.base}", function.params, ir.Block(before, (packed,)))
    pullback = ir.Function(f"pullback_{task.base}", (*residuals, *seeds), reverse)
    pullback.together = Aliasing(ir.Block([*before, *after])).groups(residuals)
    name = task.request.name
    docstrings = [
        f"The result of {name}{task.where}, and what its pullback needs.",
        f"The derivatives of {name} by its arguments, from that of its result.",
    ]
    generated, text, filename, emitted = emitted_module(
        task.request, [forward, pullback], docstrings
    )
    aliasing = Aliasing(reverse)
    return Compiled(
        generated[0],
        text,
        filename,
        emitted,
        **common,
        pullback=generated[1],
        nesting=result_nesting,
        written=tuple(
            i for i, v in enumerate(residuals) if aliasing.changes(v) or v.kind == RESIDUALS
        ),
    )


def _function_name(task: Task) -> str:
    if task.request.batch:
        return f"vjps_{task.base}"
    return f"value_and_d_{task.base}" if task.request.value else f"d_{task.base}"


def _docstring(task: Task, targets: list[Any]) -> str:
    request = task.request
    names = ", ".join(label for label, _, _ in targets)
    if request.batch:
        return f"Adjoints of {names} for rows of adjoints of {request.name}{task.where}."
    what = "Value and gradient" if request.value else "Gradient"
    return f"{what} of {request.name}{task.where} with respect to {names}."
