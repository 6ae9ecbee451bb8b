"""srcgrad: a source-transformation autodiff compiler for NumPy."""

from typing import Any

from .api import grad, value_and_grad
from .checkpointing import checkpoint, checkpoint_loop
from .custom import custom_vjp, implicit_minimum, implicit_root, nondifferentiable, stop_gradient
from .debugging import tap, taps
from .errors import InternalError, SourceError, SrcgradError, UnsupportedError
from .forward import derivative, elementwise_grad, hvp, jvp, linearize, vhp
from .gradient import Gradient
from .jacobians import hessian, jacfwd, jacobian, jacrev
from .pullback import vjp
from .sparse import jacobian_sparsity

__version__ = "0.1.0"
__all__ = [
    "Gradient",
    "InternalError",
    "SourceError",
    "SrcgradError",
    "UnsupportedError",
    "checkpoint",
    "checkpoint_loop",
    "custom_vjp",
    "derivative",
    "elementwise_grad",
    "grad",
    "hessian",
    "hvp",
    "implicit_minimum",
    "implicit_root",
    "jacfwd",
    "jacobian",
    "jacobian_sparsity",
    "jacrev",
    "jvp",
    "linearize",
    "nondifferentiable",
    "stop_gradient",
    "tap",
    "taps",
    "value_and_grad",
    "vhp",
    "vjp",
]

_RULES = ("adjoint", "definition", "elementwise", "inplace", "refuse", "tangent", "zero")


def __getattr__(name: str) -> Any:
    """The decorators that register rules, imported when they are first needed."""
    if name in _RULES:
        from .rules import registry

        return getattr(registry, name)
    raise AttributeError(f"module 'srcgrad' has no attribute {name!r}")


for _public in (InternalError, SourceError, SrcgradError, UnsupportedError):
    _public.__module__ = "srcgrad"  # where users find it
del _public
