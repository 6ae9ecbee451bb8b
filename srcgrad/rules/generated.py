"""Rules of the helpers that generated code calls, so that it can be differentiated again."""

from __future__ import annotations

import numpy as np

from .. import ir, runtime
from ..analysis.inference import Inferred
from ..kinds import Array, Opaque, Scalar
from .registry import adjoint, effect, elementwise_batch, kind, tangent, zero


@adjoint(runtime.unbroadcast)
def unbroadcast(gradient, like, *, out, d_out):
    if np.ndim(out) > np.ndim(gradient):  # of what was stored with axes of length one before
        return runtime.unbroadcast(d_out, gradient), None
    return np.broadcast_to(d_out, np.shape(gradient)), None


adjoint(runtime.unbroadcast_to)(unbroadcast)
adjoint(runtime.total)(lambda gradient, *, out, d_out: np.broadcast_to(d_out, np.shape(gradient)))
adjoint(runtime.as_dtype)(lambda gradient, dtype, *, out, d_out: (d_out, None))
adjoint(runtime.filled_like)(lambda value, like, *, out, d_out: (d_out, None))
adjoint(runtime.given)(lambda gradient, like, *, out, d_out: (d_out, None))
adjoint(runtime.project)(lambda gradient, like, *, out, d_out: (d_out, None))
adjoint(runtime.finished)(lambda gradient, like, *, out, d_out: (d_out, None))


@adjoint(runtime.unless_zero)
def unless_zero(contribution, *adjoints, out, d_out):
    """Where the adjoints are zero, the way back through them is masked by the branch they're of.

    A contribution that is nan there is hidden; where it is zero, its derivative needn't be.
    """
    hidden = np.isnan(contribution) & (out == 0)
    return np.where(hidden, 0.0, d_out), *[None for _ in adjoints]


@tangent(runtime.unless_zero)
def t_unless_zero(contribution, *adjoints, out, tangents):
    t, *rest = tangents
    if t is None:
        return None
    return runtime.unless_zero(t, *adjoints, *[r for r in rest if r is not None])


@kind(runtime.unless_zero)
def kind_of_contribution(args, kwargs):
    """That of the contribution, unless it's broadcast to the adjoints, which batches may be."""
    kinds = [a.kind for a in args if isinstance(a, ir.Var)]
    if len(kinds) < len(args) or not all(isinstance(k, (Array, Scalar)) for k in kinds):
        return None
    ranks = [None if k.shape is None else len(k.shape) for k in kinds]
    own, others = ranks[0], ranks[1:]
    if own is None or all(rank is not None and rank <= own for rank in others):
        return Inferred(kinds[0])
    return None


elementwise_batch(runtime.unless_zero)
zero(runtime.order, runtime.zero_like, runtime.own_zeros, runtime.permit, runtime.forbid)
effect(runtime.permit)
kind(runtime.permit, runtime.forbid)(lambda args, kwargs: Inferred(Opaque(None)))
