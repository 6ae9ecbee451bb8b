"""A tape of arrays, as in TinyTorch and in PyTorch: a graph of tensors and the functions between.

A `Tensor` wraps a NumPy array. Every operation is a `Function` with a `forward` and a `backward`,
both on plain arrays; `Function.apply` runs the forward and, if an input wants a gradient, leaves a
`Context` on the result: which tensors went in and what the backward needs. `Tensor.backward` goes
through the contexts from the result to the leaves, each after everything that uses it.

Functions may return a gradient of the broadcast shape: the engine sums it down to the input's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from benchmarks.tapes.broadcasting import Array, unbroadcast

Axis = int | tuple[int, ...] | None

_enabled = True


def enable_autograd(enabled: bool = True) -> None:
    """Switch recording on, or off."""
    global _enabled
    _enabled = enabled


@contextmanager
def no_grad() -> Iterator[None]:
    """Record nothing inside a ``with`` block."""
    before = _enabled
    enable_autograd(False)
    try:
        yield
    finally:
        enable_autograd(before)


class Context:
    """What a function leaves for its backward.

    `inputs` are the arguments as they were given; `needs_input_grad` says which of them are tensors
    that want a gradient. A function may store what else it needs as further attributes.
    """

    def __init__(self, function: type[Function], inputs: tuple[Any, ...]) -> None:
        self.function = function
        self.inputs = inputs
        self.needs_input_grad = tuple(isinstance(x, Tensor) and x.requires_grad for x in inputs)
        self.saved_tensors: tuple[Array, ...] = ()

    def save_for_backward(self, *arrays: Array) -> None:
        """Keep `arrays`; the backward finds them in `saved_tensors`."""
        self.saved_tensors = arrays

    def __repr__(self) -> str:
        return f"<{self.function.__name__}Backward>"


class Function:
    """An operation: subclass it, with static `forward` and `backward`."""

    @staticmethod
    def forward(ctx: Any, *args: Any, **options: Any) -> Array:
        """The result, from plain arrays."""
        raise NotImplementedError

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> Array | tuple[Array | None, ...]:
        """The gradient of each positional argument of `forward`; None where there is none."""
        raise NotImplementedError

    @classmethod
    def apply(cls, *args: Any, **options: Any) -> Tensor:
        """Compute, and record if needed. Options are never differentiated."""
        ctx = Context(cls, args)
        data = cls.forward(ctx, *(x.data if isinstance(x, Tensor) else x for x in args), **options)
        if _enabled and any(ctx.needs_input_grad):
            return Tensor(data, requires_grad=True, grad_fn=ctx)
        return Tensor(data)


class Tensor:
    """An array that remembers how it was computed.

    After ``result.backward()``, the `grad` of each leaf (a tensor made directly) that requires one
    has the gradient of `result` added to it. Integers become floats if a gradient is required.
    """

    __slots__ = ("data", "grad", "grad_fn", "requires_grad")

    # lets our reflected operators handle an array on the left
    __array_ufunc__: ClassVar[None] = None

    def __init__(
        self, data: Any, requires_grad: bool = False, grad_fn: Context | None = None
    ) -> None:
        self.data: Array = np.asarray(data.data if isinstance(data, Tensor) else data)
        if requires_grad and not np.issubdtype(self.data.dtype, np.floating):
            if not np.issubdtype(self.data.dtype, np.integer):
                raise TypeError(f"no gradient for numbers of type {self.data.dtype}")
            self.data = self.data.astype(float)
        self.requires_grad = requires_grad
        self.grad: Array | None = None
        self.grad_fn = grad_fn

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the data."""
        return self.data.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.data.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.data.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self.data.dtype

    @property
    def T(self) -> Tensor:
        """All axes in reverse."""
        return Permute.apply(self, axes=tuple(range(self.ndim))[::-1])

    def numpy(self) -> Array:
        """The data, without its history."""
        return self.data

    def item(self) -> float:
        """The only element, as a Python number."""
        return self.data.item()

    def detach(self) -> Tensor:
        """The same data, without its history."""
        return Tensor(self.data)

    def zero_grad(self) -> None:
        """Forget the gradient added up so far."""
        self.grad = None

    def backward(self, gradient: Any = None) -> None:
        """Add the gradient of this tensor to every leaf it was computed from.

        `gradient` is what to multiply by, of this tensor's shape; one, for a single number.
        """
        if not self.requires_grad:
            raise RuntimeError("this tensor was computed from nothing that requires a gradient")
        if gradient is None:
            if self.size != 1:
                raise RuntimeError(f"backward from shape {self.shape} needs a gradient to start")
            gradient = np.ones_like(self.data)
        gradient = gradient.data if isinstance(gradient, Tensor) else np.asarray(gradient)
        if gradient.shape != self.shape:
            raise ValueError(f"gradient of shape {gradient.shape} for a tensor of {self.shape}")

        gradients = {self: gradient}
        for tensor in reversed(topological_order(self)):
            d_out = gradients.pop(tensor)
            ctx = tensor.grad_fn
            if ctx is None:
                # a copy: several leaves may have been given the same array
                d_leaf = np.array(d_out, tensor.dtype)
                tensor.grad = d_leaf if tensor.grad is None else tensor.grad + d_leaf
                continue
            d_inputs = ctx.function.backward(ctx, d_out)
            if not isinstance(d_inputs, tuple):
                d_inputs = (d_inputs,)
            for x, needed, d_x in zip(ctx.inputs, ctx.needs_input_grad, d_inputs, strict=True):
                if not needed:
                    continue
                if d_x is None:
                    raise NotImplementedError(f"{ctx} has no gradient for one of its inputs")
                d_x = unbroadcast(d_x, x.shape)
                gradients[x] = gradients[x] + d_x if x in gradients else d_x

    def __repr__(self) -> str:
        data = np.array2string(self.data, separator=", ", prefix="Tensor(")
        if self.grad_fn is not None:
            return f"Tensor({data}, grad_fn={self.grad_fn})"
        return f"Tensor({data}, requires_grad=True)" if self.requires_grad else f"Tensor({data})"

    def __len__(self) -> int:
        return len(self.data)

    def __add__(self, other: Any) -> Tensor:
        return Add.apply(self, other)

    def __radd__(self, other: Any) -> Tensor:
        return Add.apply(other, self)

    def __sub__(self, other: Any) -> Tensor:
        return Sub.apply(self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return Sub.apply(other, self)

    def __mul__(self, other: Any) -> Tensor:
        return Mul.apply(self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return Mul.apply(other, self)

    def __truediv__(self, other: Any) -> Tensor:
        return Div.apply(self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return Div.apply(other, self)

    def __pow__(self, other: Any) -> Tensor:
        return Pow.apply(self, other)

    def __rpow__(self, other: Any) -> Tensor:
        return Pow.apply(other, self)

    def __matmul__(self, other: Any) -> Tensor:
        return MatMul.apply(self, other)

    def __rmatmul__(self, other: Any) -> Tensor:
        return MatMul.apply(other, self)

    def __neg__(self) -> Tensor:
        return Neg.apply(self)

    def __getitem__(self, index: Any) -> Tensor:
        if isinstance(index, tuple):
            index = tuple(i.data if isinstance(i, Tensor) else i for i in index)
        elif isinstance(index, Tensor):
            index = index.data
        return Slice.apply(self, index=index)

    def dot(self, other: Any) -> Tensor:
        """The inner product of two vectors."""
        return Dot.apply(self, other)

    def sum(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """The sum over `axis`."""
        return Sum.apply(self, axis=axis, keepdims=keepdims)

    def mean(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """The mean over `axis`."""
        return Mean.apply(self, axis=axis, keepdims=keepdims)

    def reshape(self, *shape: Any) -> Tensor:
        """The same elements in another shape, given as numbers or as one tuple."""
        return Reshape.apply(self, shape=_one_tuple(shape))

    def transpose(self, axis1: int = -2, axis2: int = -1) -> Tensor:
        """Two axes exchanged, the last two unless said otherwise."""
        return Transpose.apply(self, axis1=axis1, axis2=axis2)

    def permute(self, *axes: Any) -> Tensor:
        """All axes in a new order, given as numbers or as one tuple."""
        return Permute.apply(self, axes=_one_tuple(axes))

    def exp(self) -> Tensor:
        """The exponential."""
        return Exp.apply(self)

    def log(self) -> Tensor:
        """The natural logarithm."""
        return Log.apply(self)

    def sin(self) -> Tensor:
        """The sine."""
        return Sin.apply(self)

    def cos(self) -> Tensor:
        """The cosine."""
        return Cos.apply(self)

    def tanh(self) -> Tensor:
        """The hyperbolic tangent."""
        return Tanh.apply(self)

    def relu(self) -> Tensor:
        """The positive part."""
        return ReLU.apply(self)

    def sigmoid(self) -> Tensor:
        """``1 / (1 + exp(-x))``."""
        return Sigmoid.apply(self)

    def gelu(self) -> Tensor:
        """The Gaussian error linear unit, in its tanh form."""
        return GELU.apply(self)

    def softmax(self, axis: int = -1) -> Tensor:
        """Exponentials divided by their sum over `axis`."""
        return Softmax.apply(self, axis=axis)


def embedding(weight: Tensor, indices: Any) -> Tensor:
    """The rows of `weight` at the integers `indices`."""
    return Embedding.apply(weight, indices)


def mse_loss(predicted: Tensor, target: Any) -> Tensor:
    """The mean of the squared differences."""
    return MSELoss.apply(predicted, target)


def bce_loss(predicted: Tensor, target: Any) -> Tensor:
    """Binary cross-entropy of `target` and the probabilities `predicted`, on average."""
    return BCELoss.apply(predicted, target)


def cross_entropy(logits: Tensor, labels: Any) -> Tensor:
    """Cross-entropy of integer `labels` and the softmax of the rows of `logits`, on average."""
    return CrossEntropy.apply(logits, labels)


def topological_order(root: Tensor) -> list[Tensor]:
    """The tensors with gradients that `root` was computed from, then `root`, each after its inputs.

    A stack of our own in place of recursion: graphs are deeper than Python's stack.
    """
    order = []
    seen = {root}
    stack = [(root, _parents(root))]
    while stack:
        tensor, parents = stack[-1]
        for parent in parents:
            if parent not in seen:
                seen.add(parent)
                stack.append((parent, _parents(parent)))
                break
        else:
            order.append(tensor)
            stack.pop()
    return order


def _parents(tensor: Tensor) -> Iterator[Tensor]:
    ctx = tensor.grad_fn
    if ctx is None:
        return iter(())
    return (x for x, needed in zip(ctx.inputs, ctx.needs_input_grad, strict=True) if needed)


def _one_tuple(numbers: tuple[Any, ...]) -> tuple[int, ...]:
    if len(numbers) == 1 and not isinstance(numbers[0], int | np.integer):
        return tuple(numbers[0])
    return numbers


class Add(Function):
    """``a + b``."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Array:
        return a + b

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> tuple[Array, Array]:
        return d_out, d_out


class Sub(Function):
    """``a - b``."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Array:
        return a - b

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> tuple[Array, Array | None]:
        return d_out, -d_out if ctx.needs_input_grad[1] else None


class Mul(Function):
    """``a * b``."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Array:
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> tuple[Array | None, Array | None]:
        a, b = ctx.saved_tensors
        need_a, need_b = ctx.needs_input_grad
        return d_out * b if need_a else None, d_out * a if need_b else None


class Div(Function):
    """``a / b``."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Array:
        out = a / b
        ctx.save_for_backward(b, out)
        return out

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> tuple[Array, Array | None]:
        b, out = ctx.saved_tensors
        d_a = d_out / b
        return d_a, -d_a * out if ctx.needs_input_grad[1] else None


class Pow(Function):
    """``a ** b``; along `b` there is no derivative, so zero, where `a` is negative."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Array:
        out = a**b
        ctx.save_for_backward(a, b, out)
        return out

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> tuple[Array | None, Array | None]:
        a, b, out = ctx.saved_tensors
        d_a = d_b = None
        if ctx.needs_input_grad[0]:
            # a ** 0 is constant, at zero too, where 0 * 0 ** -1 would be nan
            if isinstance(b, int | float):
                d_a = d_out * (b * a ** (b - 1 if b else 1))
            else:
                d_a = d_out * b * a ** np.where(b == 0, 1, b - 1)
        if ctx.needs_input_grad[1]:
            d_b = d_out * out * np.log(np.where(np.greater(a, 0), a, 1))
        return d_a, d_b


class Neg(Function):
    """``-a``."""

    @staticmethod
    def forward(ctx: Any, a: Array) -> Array:
        return -a

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> Array:
        return -d_out


class Dot(Function):
    """The inner product of two vectors."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Array:
        if np.ndim(a) != 1 or np.ndim(b) != 1:
            raise ValueError(f"dot takes two vectors, not {np.shape(a)} and {np.shape(b)}")
        ctx.save_for_backward(a, b)
        return np.dot(a, b)

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> tuple[Array | None, Array | None]:
        a, b = ctx.saved_tensors
        need_a, need_b = ctx.needs_input_grad
        return d_out * b if need_a else None, d_out * a if need_b else None


class MatMul(Function):
    """``a @ b``, of vectors, matrices and stacks of matrices."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Array:
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> tuple[Array | None, Array | None]:
        a, b = ctx.saved_tensors
        # a vector on the left is a row, one on the right a column
        rows = a[None, :] if a.ndim == 1 else a
        columns = b[:, None] if b.ndim == 1 else b
        if b.ndim == 1:
            d_out = d_out[..., None]
        if a.ndim == 1:
            d_out = d_out[..., None, :]
        d_a = d_b = None
        if ctx.needs_input_grad[0]:
            d_a = d_out @ np.swapaxes(columns, -1, -2)
            d_a = d_a[..., 0, :] if a.ndim == 1 else d_a
        if ctx.needs_input_grad[1]:
            d_b = np.swapaxes(rows, -1, -2) @ d_out
            d_b = d_b[..., 0] if b.ndim == 1 else d_b
        return d_a, d_b


class Sum(Function):
    """The sum over `axis`."""

    @staticmethod
    def forward(ctx: Any, a: Array, axis: Axis, keepdims: bool) -> Array:
        ctx.shape, ctx.axis, ctx.keepdims = a.shape, axis, keepdims
        return a.sum(axis=axis, keepdims=keepdims)

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> Array:
        if ctx.axis is not None and not ctx.keepdims:
            d_out = np.expand_dims(d_out, ctx.axis)
        return np.broadcast_to(d_out, ctx.shape)


class Mean(Function):
    """The mean over `axis`."""

    @staticmethod
    def forward(ctx: Any, a: Array, axis: Axis, keepdims: bool) -> Array:
        ctx.shape, ctx.axis, ctx.keepdims = a.shape, axis, keepdims
        out = a.mean(axis=axis, keepdims=keepdims)
        ctx.count = a.size // out.size
        return out

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> Array:
        return Sum.backward(ctx, d_out / ctx.count)


class Reshape(Function):
    """The same elements in another shape."""

    @staticmethod
    def forward(ctx: Any, a: Array, shape: tuple[int, ...]) -> Array:
        ctx.shape = a.shape
        return a.reshape(shape)

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> Array:
        return d_out.reshape(ctx.shape)


class Transpose(Function):
    """Two axes exchanged."""

    @staticmethod
    def forward(ctx: Any, a: Array, axis1: int, axis2: int) -> Array:
        ctx.axes = axis1, axis2
        return np.swapaxes(a, axis1, axis2)

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> Array:
        return np.swapaxes(d_out, *ctx.axes)


class Permute(Function):
    """All axes in a new order."""

    @staticmethod
    def forward(ctx: Any, a: Array, axes: tuple[int, ...]) -> Array:
        ctx.axes = axes
        return a.transpose(axes)

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> Array:
        axes = tuple(axis % d_out.ndim for axis in ctx.axes)
        return d_out.transpose(np.argsort(axes))


class Slice(Function):
    """``a[index]``, of any kind that NumPy knows."""

    @staticmethod
    def forward(ctx: Any, a: Array, index: Any) -> Array:
        ctx.shape, ctx.index = a.shape, index
        return a[index]

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> Array:
        d_a = np.zeros(ctx.shape, d_out.dtype)
        index = ctx.index if isinstance(ctx.index, tuple) else (ctx.index,)
        if all(isinstance(i, int | slice | None) or i is ... for i in index):
            d_a[index] = d_out
        else:
            # an array of indices may name an element several times
            np.add.at(d_a, ctx.index, d_out)
        return d_a


class Embedding(Function):
    """The rows of a table at given integers."""

    @staticmethod
    def forward(ctx: Any, weight: Array, indices: Any) -> Array:
        ctx.indices = np.asarray(indices)
        if not np.issubdtype(ctx.indices.dtype, np.integer):
            raise TypeError(f"embedding takes integers, not {ctx.indices.dtype}")
        ctx.shape = weight.shape
        return weight[ctx.indices]

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> tuple[Array, None]:
        d_weight = np.zeros(ctx.shape, d_out.dtype)
        np.add.at(d_weight, ctx.indices, d_out)
        return d_weight, None


class Exp(Function):
    """The exponential."""

    @staticmethod
    def forward(ctx: Any, a: Array) -> Array:
        out = np.exp(a)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> Array:
        (out,) = ctx.saved_tensors
        return d_out * out


class Log(Function):
    """The natural logarithm."""

    @staticmethod
    def forward(ctx: Any, a: Array) -> Array:
        ctx.save_for_backward(a)
        return np.log(a)

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> Array:
        (a,) = ctx.saved_tensors
        return d_out / a


class Sin(Function):
    """The sine."""

    @staticmethod
    def forward(ctx: Any, a: Array) -> Array:
        ctx.save_for_backward(a)
        return np.sin(a)

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> Array:
        (a,) = ctx.saved_tensors
        return d_out * np.cos(a)


class Cos(Function):
    """The cosine."""

    @staticmethod
    def forward(ctx: Any, a: Array) -> Array:
        ctx.save_for_backward(a)
        return np.cos(a)

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> Array:
        (a,) = ctx.saved_tensors
        return -d_out * np.sin(a)


class Tanh(Function):
    """The hyperbolic tangent."""

    @staticmethod
    def forward(ctx: Any, a: Array) -> Array:
        out = np.tanh(a)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> Array:
        (out,) = ctx.saved_tensors
        return d_out * (1 - out * out)


class ReLU(Function):
    """The positive part; its derivative at zero is one half, as for a tie in a maximum."""

    @staticmethod
    def forward(ctx: Any, a: Array) -> Array:
        ctx.save_for_backward(a)
        return np.maximum(a, 0)

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> Array:
        (a,) = ctx.saved_tensors
        return d_out * np.heaviside(a, np.asarray(0.5, a.dtype))


class Sigmoid(Function):
    """``1 / (1 + exp(-a))``."""

    @staticmethod
    def forward(ctx: Any, a: Array) -> Array:
        # exp of a negative number only, which cannot overflow
        e = np.exp(-np.abs(a))
        out = np.where(a >= 0, 1, e) / (1 + e)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> Array:
        (out,) = ctx.saved_tensors
        return d_out * out * (1 - out)


class GELU(Function):
    """The Gaussian error linear unit, in its tanh form, as in GPT-2."""

    scale: ClassVar[float] = math.sqrt(2 / math.pi)

    @staticmethod
    def forward(ctx: Any, a: Array) -> Array:
        t = np.tanh(GELU.scale * (a + 0.044715 * a * a * a))
        ctx.save_for_backward(a, t)
        return 0.5 * a * (1 + t)

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> Array:
        a, t = ctx.saved_tensors
        slope = GELU.scale * (1 + 3 * 0.044715 * a * a)
        return d_out * 0.5 * (1 + t + a * (1 - t * t) * slope)


class Softmax(Function):
    """Exponentials divided by their sum over `axis`."""

    @staticmethod
    def forward(ctx: Any, a: Array, axis: int) -> Array:
        e = np.exp(a - a.max(axis=axis, keepdims=True))
        out = e / e.sum(axis=axis, keepdims=True)
        ctx.axis = axis
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> Array:
        (out,) = ctx.saved_tensors
        return out * (d_out - (d_out * out).sum(axis=ctx.axis, keepdims=True))


class MSELoss(Function):
    """The mean of the squared differences."""

    @staticmethod
    def forward(ctx: Any, predicted: Any, target: Any) -> Array:
        difference = np.subtract(predicted, target)
        ctx.save_for_backward(difference)
        return (difference * difference).mean()

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> tuple[Array, Array]:
        (difference,) = ctx.saved_tensors
        d_predicted = d_out * (2 / difference.size) * difference
        return d_predicted, -d_predicted


class BCELoss(Function):
    """Binary cross-entropy, of probabilities kept a rounding error away from zero and one."""

    @staticmethod
    def forward(ctx: Any, predicted: Any, target: Any) -> Array:
        predicted, target = np.asarray(predicted), np.asarray(target)
        if predicted.shape != target.shape:
            raise ValueError(f"predicted has shape {predicted.shape}, target {target.shape}")
        eps = np.finfo(predicted.dtype).eps
        p = np.clip(predicted, eps, 1 - eps)
        ctx.save_for_backward(p, target)
        return -(target * np.log(p) + (1 - target) * np.log(1 - p)).mean()

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> tuple[Array, Array]:
        p, target = ctx.saved_tensors
        scale = d_out / p.size
        return scale * (p - target) / (p * (1 - p)), scale * (np.log(1 - p) - np.log(p))


class CrossEntropy(Function):
    """Cross-entropy of integer labels and the softmax of rows, on average."""

    @staticmethod
    def forward(ctx: Any, logits: Array, labels: Any) -> Array:
        labels = np.asarray(labels)
        if not np.issubdtype(labels.dtype, np.integer) or labels.shape != logits.shape[:1]:
            raise ValueError(f"labels must be {len(logits)} integers, one per row of logits")
        shifted = logits - logits.max(axis=1, keepdims=True)
        log_softmax = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        ctx.save_for_backward(log_softmax, labels)
        return -log_softmax[np.arange(len(labels)), labels].mean()

    @staticmethod
    def backward(ctx: Any, d_out: Array) -> tuple[Array, None]:
        log_softmax, labels = ctx.saved_tensors
        d_logits = np.exp(log_softmax)
        d_logits[np.arange(len(labels)), labels] -= 1
        return d_logits * (d_out / len(labels)), None
