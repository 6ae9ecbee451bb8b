"""The derivative of `tap`: it shows the adjoint that passes it."""

from __future__ import annotations

from ..analysis.inference import Inferred
from ..debugging import show_gradient, tap
from ..kinds import NOTHING
from .registry import adjoint, effect, elementwise_batch, inert, kind, linear

inert(show_gradient)
effect(show_gradient)
linear(tap, by=range(1, 2))
elementwise_batch(tap)


@kind(show_gradient)
def nothing(args, kwargs):
    return Inferred(NOTHING)  # it isn't to be called on samples


@adjoint(tap)
def d_tap(name, x, *, out, d_out):
    show_gradient(name, d_out)
    return None, d_out
