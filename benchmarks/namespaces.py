"""What ``np`` means to contenders that aren't NumPy: namespaces with NumPy's names.

They hold what the workloads use. Whatever is missing raises `NotExpressible`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.tapes import scalar_graph, tensor_graph
from benchmarks.tapes.scalar_graph import Value
from benchmarks.tapes.tensor_graph import Tensor


class NotExpressible(Exception):
    """The contender has no means to say what the function does."""


class TensorNumPy:
    """For the tensor graph. A maximum is a constant, as where it is taken off for safety."""

    def __getattr__(self, name: str) -> Any:
        plain = getattr(np, name)
        if not callable(plain) or isinstance(plain, type):
            return plain

        def call(*args: Any, **options: Any) -> Any:
            if any(isinstance(a, Tensor) for a in args):
                if name not in _TENSOR:
                    raise NotExpressible(f"np.{name}")
                return _TENSOR[name](*args, **options)
            return plain(*args, **options)

        setattr(self, name, call)
        return call


def _tensor_maximum(x: Tensor, bound: float) -> Tensor:
    if bound != 0:
        raise NotExpressible("np.maximum with anything but 0")
    return x.relu()


_TENSOR: dict[str, Any] = {
    "exp": Tensor.exp,
    "log": Tensor.log,
    "sin": Tensor.sin,
    "cos": Tensor.cos,
    "tanh": Tensor.tanh,
    "sqrt": lambda x: x**0.5,
    "sum": Tensor.sum,
    "mean": Tensor.mean,
    "dot": lambda x, y: tensor_graph.Dot.apply(x, y),
    "max": lambda x, **options: x.data.max(**options),
    "maximum": _tensor_maximum,
    "zeros_like": lambda x: np.zeros_like(x.data),
}


class ScalarNumPy:
    """For the scalar graph: arrays are NumPy's, of `Value` objects."""

    def __getattr__(self, name: str) -> Any:
        if name in ("sin", "cos", "abs", "min", "argmax", "where", "minimum", "outer"):
            raise NotExpressible(f"np.{name}")
        if name not in _SCALAR:
            return getattr(np, name)
        each, plain = _SCALAR[name], getattr(np, name)

        def call(x: Any, *args: Any) -> Any:
            if isinstance(x, Value):
                return each(x, *args)
            if isinstance(x, np.ndarray) and x.dtype == object:
                return np.array([each(v, *args) for v in x.flat], object).reshape(x.shape)
            return plain(x, *args)

        setattr(self, name, call)
        return call

    @staticmethod
    def max(x: Any, **options: Any) -> Any:
        """A constant, as where it is taken off for safety."""
        return np.array([_number(v) for v in x.flat]).reshape(x.shape).max(**options)


def _number(value: Any) -> Any:
    return value.data if isinstance(value, Value) else value


_SCALAR: dict[str, Any] = {
    "exp": scalar_graph.Value.exp,
    "log": scalar_graph.Value.log,
    "tanh": scalar_graph.Value.tanh,
    "sqrt": lambda v: v**0.5,
    "maximum": lambda v, bound: v.relu() if bound == 0 else _missing("np.maximum"),
}


def _missing(what: str) -> Any:
    raise NotExpressible(what)


class TorchNumPy:
    """For PyTorch: its own functions where they take what NumPy's take, else the nearest."""

    def __init__(self) -> None:
        import torch

        self._torch = torch
        self.pi, self.newaxis = math.pi, None
        self.fft, self.linalg = torch.fft, torch.linalg
        self.float64, self.int64 = torch.float64, torch.int64

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._torch, name, None)
        if function is None:
            raise NotExpressible(f"np.{name}")
        setattr(self, name, function)
        return function

    def _plain(self, name: str, x: Any) -> Any:
        """A function of one number or tensor."""
        if isinstance(x, self._torch.Tensor):
            return getattr(self._torch, name)(x)
        return getattr(math, name)(x)

    def sqrt(self, x: Any) -> Any:
        """Of numbers, such as sizes, too."""
        return self._plain("sqrt", x)

    def log(self, x: Any) -> Any:
        """Of numbers, such as pi, too."""
        return self._plain("log", x)

    def exp(self, x: Any) -> Any:
        """Of numbers too."""
        return self._plain("exp", x)

    def max(self, x: Any, axis: Any = (), keepdims: bool = False) -> Any:
        """Ties share the gradient."""
        return self._torch.amax(x, axis, keepdims)

    def min(self, x: Any, axis: Any = (), keepdims: bool = False) -> Any:
        """Ties share the gradient."""
        return self._torch.amin(x, axis, keepdims)

    def maximum(self, x: Any, y: Any) -> Any:
        """A number becomes a tensor."""
        return self._torch.maximum(x, self._torch.as_tensor(y, dtype=x.dtype))

    def cross(self, x: Any, y: Any) -> Any:
        """Along the last axis."""
        return self._torch.linalg.cross(x, y)

    def array(self, values: Any) -> Any:
        """A list that holds tensors is stacked."""
        if isinstance(values, list) and any(isinstance(v, self._torch.Tensor) for v in values):
            return self._torch.stack([self._torch.as_tensor(v) for v in values])
        return self._torch.tensor(values)

    def concatenate(self, parts: Any, axis: int = 0) -> Any:
        """Under PyTorch's name."""
        return self._torch.cat(list(parts), axis)

    def multiply(self, x: Any, y: Any, out: Any = None) -> Any:
        """Under PyTorch's name, which takes `out` but doesn't differentiate it."""
        return self._torch.mul(x, y, out=out)
