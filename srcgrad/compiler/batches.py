"""Batches of tangents or adjoints."""

from __future__ import annotations

from .. import ir
from ..errors import Unbatchable, UnsupportedError
from ..frontend.lower import Lowerer
from ..kinds import INT, Scalar, fresh_size
from ..optimize.prune import prune
from ..optimize.simplify import simplify
from ..transform.batching import batch
from .primal import Free


def batched(
    function: ir.Function, low: Lowerer, inputs: list[ir.Var], free: Free, results: list[int]
) -> ir.Var:
    """Make the function one of batches of the inputs; return the parameter that is their length."""
    count = ir.Var(free.unused("count"), Scalar(INT.dtype, True, fresh_size(True)), True)
    try:
        batch(function, low, inputs, count, results)
    except UnsupportedError as error:
        raise Unbatchable(str(error)) from error
    ir.passed("batched", function)
    prune(function)
    simplify(function)
    prune(function)
    return count
