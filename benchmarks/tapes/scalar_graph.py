"""A tape of scalars, as in Karpathy's micrograd: every number is a node.

A `Value` remembers the values it was computed from and its derivative with respect to each. That
is all reverse mode needs: walk the graph from the result back, each node after everything that
uses it, and add ``partial * node.grad`` to every parent.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

Number = int | float


class Value:
    """A number that remembers how it was computed.

    `data` is the number. After ``result.backward()``, `grad` is the derivative of `result` with
    respect to this value. The gradients of leaves (values made directly, not computed) add up
    over several calls until they are set to zero, those of computed values are renewed.
    """

    __slots__ = ("data", "grad", "op", "parents", "partials")

    # lets our reflected operators handle a NumPy number on the left
    __array_ufunc__ = None

    def __init__(
        self,
        data: Number,
        parents: tuple[Value, ...] = (),
        partials: tuple[float, ...] = (),
        op: str = "",
    ) -> None:
        self.data = data
        self.grad = 0.0
        self.parents = parents
        self.partials = partials
        self.op = op

    def backward(self) -> None:
        """Fill in the gradient of this value with respect to everything it was computed from."""
        order = topological_order(self)
        for value in order:
            if value.parents:
                value.grad = 0.0
        self.grad += 1.0
        for value in reversed(order):
            for parent, partial in zip(value.parents, value.partials, strict=True):
                parent.grad += partial * value.grad

    def __add__(self, other: Any) -> Value:
        if (other := _lift(other)) is None:
            return NotImplemented
        return Value(self.data + other.data, (self, other), (1.0, 1.0), "+")

    def __sub__(self, other: Any) -> Value:
        if (other := _lift(other)) is None:
            return NotImplemented
        return Value(self.data - other.data, (self, other), (1.0, -1.0), "-")

    def __mul__(self, other: Any) -> Value:
        if (other := _lift(other)) is None:
            return NotImplemented
        return Value(self.data * other.data, (self, other), (other.data, self.data), "*")

    def __truediv__(self, other: Any) -> Value:
        if (other := _lift(other)) is None:
            return NotImplemented
        out = self.data / other.data
        return Value(out, (self, other), (1 / other.data, -out / other.data), "/")

    def __floordiv__(self, other: Any) -> Value:
        if (other := _lift(other)) is None:
            return NotImplemented
        return Value(self.data // other.data, (self, other), (0.0, 0.0), "//")

    def __mod__(self, other: Any) -> Value:
        if (other := _lift(other)) is None:
            return NotImplemented
        # x % y = x - (x // y) * y, and the quotient is constant between its steps
        partials = (1.0, -float(self.data // other.data))
        return Value(self.data % other.data, (self, other), partials, "%")

    def __pow__(self, other: Any) -> Value:
        if (other := _lift(other)) is None:
            return NotImplemented
        base, exponent = self.data, other.data
        out = base**exponent
        if isinstance(out, complex):
            raise ValueError(f"{base} ** {exponent} is not real")
        if base == 0 and 0 < exponent < 1:
            by_base = math.inf
        else:
            by_base = exponent * base ** (exponent - 1) if exponent != 0 else 0.0
        # a negative base has powers at isolated exponents only: no derivative along the exponent
        by_exponent = out * math.log(base) if base > 0 else 0.0
        return Value(out, (self, other), (by_base, by_exponent), "**")

    def __neg__(self) -> Value:
        return Value(-self.data, (self,), (-1.0,), "neg")

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Value:
        sign = (self.data > 0) - (self.data < 0)
        return Value(abs(self.data), (self,), (float(sign),), "abs")

    def __radd__(self, other: Any) -> Value:
        return NotImplemented if (other := _lift(other)) is None else other + self

    def __rsub__(self, other: Any) -> Value:
        return NotImplemented if (other := _lift(other)) is None else other - self

    def __rmul__(self, other: Any) -> Value:
        return NotImplemented if (other := _lift(other)) is None else other * self

    def __rtruediv__(self, other: Any) -> Value:
        return NotImplemented if (other := _lift(other)) is None else other / self

    def __rfloordiv__(self, other: Any) -> Value:
        return NotImplemented if (other := _lift(other)) is None else other // self

    def __rmod__(self, other: Any) -> Value:
        return NotImplemented if (other := _lift(other)) is None else other % self

    def __rpow__(self, other: Any) -> Value:
        return NotImplemented if (other := _lift(other)) is None else other**self

    def tanh(self) -> Value:
        """The hyperbolic tangent."""
        out = math.tanh(self.data)
        return Value(out, (self,), (1 - out * out,), "tanh")

    def relu(self) -> Value:
        """The positive part; its derivative at zero is one half, as for a tie in a maximum."""
        slope = 1.0 if self.data > 0 else 0.5 if self.data == 0 else 0.0
        return Value(max(self.data, 0.0), (self,), (slope,), "relu")

    def exp(self) -> Value:
        """The exponential."""
        out = math.exp(self.data)
        return Value(out, (self,), (out,), "exp")

    def log(self) -> Value:
        """The natural logarithm; ValueError unless the value is positive."""
        if not self.data > 0:
            raise ValueError(f"log of {self.data}: it takes a positive value")
        return Value(math.log(self.data), (self,), (1 / self.data,), "log")

    def __repr__(self) -> str:
        return f"Value(data={self.data}, grad={self.grad})"


def _lift(number: Any) -> Value | None:
    if isinstance(number, Value):
        return number
    if isinstance(number, int | float):
        return Value(number)
    # NumPy's float32 and integers, fractions
    return Value(float(number)) if isinstance(number, Real) else None


def topological_order(root: Value) -> list[Value]:
    """Everything `root` was computed from, then `root`, each value after its parents.

    A stack of our own in place of recursion: graphs are deeper than Python's stack.
    """
    order = []
    seen = {root}
    stack = [(root, iter(root.parents))]
    while stack:
        value, parents = stack[-1]
        for parent in parents:
            if parent not in seen:
                seen.add(parent)
                stack.append((parent, iter(parent.parents)))
                break
        else:
            order.append(value)
            stack.pop()
    return order


class Module:
    """Something with parameters to train."""

    def parameters(self) -> list[Value]:
        """The values that training changes."""
        return []

    def zero_grad(self) -> None:
        """Forget the gradients added up so far."""
        for parameter in self.parameters():
            parameter.grad = 0.0


class Neuron(Module):
    """``tanh(w . x + b)``, or without the tanh if not `nonlinear`."""

    def __init__(self, inputs: int, nonlinear: bool = True, rng: random.Random | None = None):
        uniform = (rng or random.Random()).uniform
        self.weights = [Value(uniform(-1, 1)) for _ in range(inputs)]
        self.bias = Value(0.0)
        self.nonlinear = nonlinear

    def __call__(self, x: Sequence[Value | Number]) -> Value:
        total = self.bias
        for weight, xi in zip(self.weights, x, strict=True):
            total = total + weight * xi
        return total.tanh() if self.nonlinear else total

    def parameters(self) -> list[Value]:
        """The weights and the bias."""
        return [*self.weights, self.bias]


class Layer(Module):
    """Neurons side by side, all reading the same inputs."""

    def __init__(
        self, inputs: int, outputs: int, nonlinear: bool = True, rng: random.Random | None = None
    ):
        self.neurons = [Neuron(inputs, nonlinear, rng) for _ in range(outputs)]

    def __call__(self, x: Sequence[Value | Number]) -> list[Value]:
        return [neuron(x) for neuron in self.neurons]

    def parameters(self) -> list[Value]:
        """Those of every neuron."""
        return [p for neuron in self.neurons for p in neuron.parameters()]


class MLP(Module):
    """Layers one after the other, the last one linear."""

    def __init__(self, inputs: int, sizes: Iterable[int], rng: random.Random | None = None):
        widths = [inputs, *sizes]
        last = len(widths) - 2
        self.layers = [
            Layer(widths[i], widths[i + 1], nonlinear=i < last, rng=rng) for i in range(last + 1)
        ]

    def __call__(self, x: Sequence[Value | Number]) -> list[Value]:
        out = self.layers[0](x)
        for layer in self.layers[1:]:
            out = layer(out)
        return out

    def parameters(self) -> list[Value]:
        """Those of every layer."""
        return [p for layer in self.layers for p in layer.parameters()]
