"""A tape of operations, as in MyTorch of Carnegie Mellon's course 11-785.

Arrays stay plain NumPy arrays. Whoever computes something tells the engine what went in, what came
out and which function takes the gradient back; the engine keeps a list of these and, for the
gradient, goes through it backwards. The gradient of an array lies in a buffer under the identity
of the array object, or is added to an array the caller hands over (`gradients_to_update`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.tapes.broadcasting import Array, unbroadcast

Backward = Callable[..., "Array | tuple[Array | None, ...]"]


@dataclass(frozen=True, eq=False)
class Operation:
    """One step of the computation, and how its gradient goes back.

    ``backward_operation(gradient of output, *inputs)`` gives the gradient of each input: one array
    for a single input, else a tuple, in which None says that nothing goes back there.
    """

    inputs: tuple[Array, ...]
    output: Array
    gradients_to_update: tuple[Array | None, ...]
    backward_operation: Backward


class GradientBuffer:
    """Gradients by the identity of the array they belong to."""

    def __init__(self) -> None:
        # the array is kept with its gradient: the id of a dead array may be given to a new one
        self._memory: dict[int, tuple[Array, Array]] = {}

    def is_in_memory(self, array: Array) -> bool:
        """Whether `array` has a gradient here."""
        return id(array) in self._memory

    def add_spot(self, array: Array) -> None:
        """Give `array` a gradient of zeros, unless it has one."""
        if id(array) not in self._memory:
            dtype = array.dtype if np.issubdtype(array.dtype, np.inexact) else float
            self._memory[id(array)] = array, np.zeros(array.shape, dtype)

    def update_param(self, array: Array, gradient: Array) -> None:
        """Add to the gradient of `array`."""
        self.get_param(array)[...] += _checked(gradient, array)

    def set_param(self, array: Array, gradient: Array) -> None:
        """Replace the gradient of `array`."""
        self.get_param(array)[...] = _checked(gradient, array)

    def get_param(self, array: Array) -> Array:
        """The gradient of `array`; KeyError if it has none."""
        try:
            return self._memory[id(array)][1]
        except KeyError:
            raise KeyError(f"this array of shape {array.shape} has no gradient here") from None

    def clear(self) -> None:
        """Forget all gradients."""
        self._memory.clear()


def _checked(gradient: Array, array: Array) -> Array:
    if np.shape(gradient) != array.shape:
        raise ValueError(f"gradient of shape {np.shape(gradient)} for an array of {array.shape}")
    return gradient


class Autograd:
    """The engine: the list of operations and the buffer of gradients."""

    def __init__(self) -> None:
        self.gradient_buffer = GradientBuffer()
        self.operation_list: list[Operation] = []

    def add_operation(
        self,
        inputs: Sequence[Array],
        output: Array,
        gradients_to_update: Sequence[Array | None],
        backward_operation: Backward,
    ) -> None:
        """Record that `output` was computed from `inputs`.

        The gradient of an input is added to its entry in `gradients_to_update`, in place, or
        where that is None goes into the buffer.
        """
        if len(inputs) != len(gradients_to_update):
            raise ValueError(
                f"{len(inputs)} inputs but {len(gradients_to_update)} gradients to update"
            )
        for array in (*inputs, output):
            if not isinstance(array, np.ndarray | np.generic):
                raise TypeError(f"not a NumPy array: {array!r}")
        for array, given in zip(inputs, gradients_to_update, strict=True):
            if given is None:
                self.gradient_buffer.add_spot(array)
        if self.gradient_buffer.is_in_memory(output):
            raise ValueError("the output is an earlier array changed in place: copy it first")
        operation = Operation(tuple(inputs), output, tuple(gradients_to_update), backward_operation)
        self.operation_list.append(operation)

    def backward(self, divergence: Array | float) -> None:
        """Take the gradient `divergence` of the last output back through all operations.

        Called again, it adds to the gradients of what was not computed by an operation.
        """
        if not self.operation_list:
            raise ValueError("nothing was recorded")
        buffer = self.gradient_buffer
        for operation in self.operation_list:
            buffer.add_spot(operation.output)
            buffer.get_param(operation.output)[...] = 0
        last = self.operation_list[-1].output
        buffer.set_param(last, np.asarray(divergence))
        for operation in reversed(self.operation_list):
            grad_output = buffer.get_param(operation.output)
            gradients = operation.backward_operation(grad_output, *operation.inputs)
            if not isinstance(gradients, tuple):
                gradients = (gradients,)
            for array, gradient, given in zip(
                operation.inputs, gradients, operation.gradients_to_update, strict=True
            ):
                if gradient is None:
                    continue
                if given is None:
                    buffer.update_param(array, gradient)
                else:
                    given += _checked(gradient, array)

    def zero_grad(self) -> None:
        """Forget the operations and the gradients in the buffer."""
        self.gradient_buffer.clear()
        self.operation_list.clear()


def add_backward(grad_output: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Gradients of ``a + b``."""
    return unbroadcast(grad_output, a.shape), unbroadcast(grad_output, b.shape)


def sub_backward(grad_output: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Gradients of ``a - b``."""
    return unbroadcast(grad_output, a.shape), unbroadcast(-grad_output, b.shape)


def mul_backward(grad_output: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Gradients of ``a * b``."""
    return unbroadcast(grad_output * b, a.shape), unbroadcast(grad_output * a, b.shape)


def div_backward(grad_output: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Gradients of ``a / b``."""
    d_a = grad_output / b
    return unbroadcast(d_a, a.shape), unbroadcast(-d_a * a / b, b.shape)


def matmul_backward(grad_output: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Gradients of ``a @ b`` for two matrices."""
    return grad_output @ b.T, a.T @ grad_output


def exp_backward(grad_output: Array, a: Array, out: Array | None = None) -> Array:
    """Gradient of ``exp(a)``, which is computed anew if `out` is not given."""
    return grad_output * (np.exp(a) if out is None else out)


def log_backward(grad_output: Array, a: Array) -> Array:
    """Gradient of ``log(a)``."""
    return grad_output / a


def max_backward(grad_output: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Gradients of the larger of `a` and `b`, in halves where they are equal."""
    share = (a > b) + 0.5 * (a == b)
    return unbroadcast(grad_output * share, a.shape), unbroadcast(
        grad_output * (1 - share), b.shape
    )


def sum_backward(
    grad_output: Array,
    a: Array,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
) -> Array:
    """Gradient of the sum of `a` over `axis`."""
    if axis is not None and not keepdims:
        grad_output = np.expand_dims(grad_output, axis)
    return np.broadcast_to(grad_output, a.shape)


def tanh_backward(grad_output: Array, a: Array, out: Array | None = None) -> Array:
    """Gradient of ``tanh(a)``, which is computed anew if `out` is not given."""
    out = np.tanh(a) if out is None else out
    return grad_output * (1 - out * out)


def softmax_cross_entropy_backward(
    grad_output: Array, predicted: Array, truth: Array, log_softmax: Array | None = None
) -> tuple[Array, Array]:
    """Gradients of the mean over rows of ``-sum(truth * log(softmax(predicted)))``."""
    if log_softmax is None:
        log_softmax = _log_softmax(predicted)
    scale = grad_output / len(predicted)
    weight = truth.sum(axis=1, keepdims=True)
    return scale * (weight * np.exp(log_softmax) - truth), -scale * log_softmax


def add(autograd: Autograd, a: Array, b: Array) -> Array:
    """``a + b``, recorded."""
    return _record(autograd, (a, b), a + b, add_backward)


def sub(autograd: Autograd, a: Array, b: Array) -> Array:
    """``a - b``, recorded."""
    return _record(autograd, (a, b), a - b, sub_backward)


def mul(autograd: Autograd, a: Array, b: Array) -> Array:
    """``a * b``, recorded."""
    return _record(autograd, (a, b), a * b, mul_backward)


def div(autograd: Autograd, a: Array, b: Array) -> Array:
    """``a / b``, recorded."""
    return _record(autograd, (a, b), a / b, div_backward)


def matmul(autograd: Autograd, a: Array, b: Array) -> Array:
    """``a @ b`` for two matrices, recorded."""
    if not a.ndim == b.ndim == 2:
        raise ValueError(f"matmul takes two matrices, not arrays of {a.shape} and {b.shape}")
    return _record(autograd, (a, b), a @ b, matmul_backward)


def exp(autograd: Autograd, a: Array) -> Array:
    """The exponential, recorded."""
    out = np.exp(a)
    return _record(autograd, (a,), out, partial(exp_backward, out=out))


def log(autograd: Autograd, a: Array) -> Array:
    """The natural logarithm, recorded."""
    return _record(autograd, (a,), np.log(a), log_backward)


def max(autograd: Autograd, a: Array, b: Array) -> Array:
    """The larger of `a` and `b`, element by element, recorded."""
    return _record(autograd, (a, b), np.maximum(a, b), max_backward)


def sum(
    autograd: Autograd,
    a: Array,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
) -> Array:
    """The sum over `axis`, recorded."""
    backward = partial(sum_backward, axis=axis, keepdims=keepdims)
    return _record(autograd, (a,), a.sum(axis=axis, keepdims=keepdims), backward)


def tanh(autograd: Autograd, a: Array) -> Array:
    """The hyperbolic tangent, recorded."""
    out = np.tanh(a)
    return _record(autograd, (a,), out, partial(tanh_backward, out=out))


def softmax_cross_entropy(autograd: Autograd, predicted: Array, truth: Array) -> Array:
    """Cross-entropy of `truth`, rows of probabilities, and the softmax of the rows of `predicted`.

    The mean over the rows, recorded.
    """
    if predicted.ndim != 2 or predicted.shape != truth.shape:
        raise ValueError(f"predicted has shape {predicted.shape}, truth {truth.shape}")
    log_softmax = _log_softmax(predicted)
    out = -(truth * log_softmax).sum() / len(predicted)
    backward = partial(softmax_cross_entropy_backward, log_softmax=log_softmax)
    return _record(autograd, (predicted, truth), out, backward)


def _log_softmax(a: Array) -> Array:
    a = a - a.max(axis=1, keepdims=True)
    return a - np.log(np.exp(a).sum(axis=1, keepdims=True))


def _record(autograd: Autograd, inputs: tuple[Array, ...], out: Array, backward: Backward) -> Array:
    autograd.add_operation(inputs, out, [None] * len(inputs), backward)
    return out


class Linear:
    """``x @ W.T + b``, adding its gradients to `dW` and `db`."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        autograd: Autograd,
        rng: np.random.Generator | None = None,
    ) -> None:
        bound = 1 / np.sqrt(in_features)
        rng = rng or np.random.default_rng()
        self.W = rng.uniform(-bound, bound, (out_features, in_features))
        self.b = rng.uniform(-bound, bound, (1, out_features))
        self.dW = np.zeros(self.W.shape)
        self.db = np.zeros(self.b.shape)
        self.autograd = autograd

    def forward(self, x: Array) -> Array:
        """The rows of `x`, transformed."""
        product = x @ self.W.T
        self.autograd.add_operation([x, self.W.T], product, [None, self.dW.T], matmul_backward)
        out = product + self.b
        self.autograd.add_operation([product, self.b], out, [None, self.db], add_backward)
        return out

    __call__ = forward

    def zero_grad(self) -> None:
        """Set `dW` and `db` to zero."""
        self.dW[...] = 0
        self.db[...] = 0


class Activation:
    """A function of one array, without parameters."""

    def __init__(self, autograd: Autograd) -> None:
        self.autograd = autograd

    def forward(self, x: Array) -> Array:
        """The activation of `x`."""
        raise NotImplementedError

    def __call__(self, x: Array) -> Array:
        return self.forward(x)


class Identity(Activation):
    """Gives back what it is given."""

    def forward(self, x: Array) -> Array:
        """`x` itself: nothing to record."""
        return x


class Sigmoid(Activation):
    """``1 / (1 + exp(-x))``, written with tanh, which cannot overflow."""

    def forward(self, x: Array) -> Array:
        """The sigmoid, as ``(1 + tanh(x / 2)) / 2``."""
        half, one = np.asarray(0.5, x.dtype), np.asarray(1.0, x.dtype)
        t = tanh(self.autograd, mul(self.autograd, x, half))
        return mul(self.autograd, add(self.autograd, t, one), half)


class ReLU(Activation):
    """The larger of `x` and zero."""

    def forward(self, x: Array) -> Array:
        """The positive part."""
        return max(self.autograd, x, np.asarray(0.0, x.dtype))


class Tanh(Activation):
    """The hyperbolic tangent."""

    def forward(self, x: Array) -> Array:
        """The hyperbolic tangent."""
        return tanh(self.autograd, x)


class Loss:
    """A number to be minimised, the last operation recorded."""

    def __init__(self, autograd: Autograd) -> None:
        self.autograd = autograd

    def forward(self, y: Array, y_hat: Array) -> Array:
        """The loss of predicting `y_hat` where `y` is true."""
        raise NotImplementedError

    def __call__(self, y: Array, y_hat: Array) -> Array:
        return self.forward(y, y_hat)

    def backward(self) -> None:
        """The gradient of the loss with respect to everything recorded."""
        self.autograd.backward(1.0)


class SoftmaxCrossEntropy(Loss):
    """Cross-entropy of the true probabilities `y` and the softmax of `y_hat`."""

    def forward(self, y: Array, y_hat: Array) -> Array:
        """The mean over the rows."""
        return softmax_cross_entropy(self.autograd, y_hat, y)


class MSELoss(Loss):
    """The mean of the squared differences."""

    def forward(self, y: Array, y_hat: Array) -> Array:
        """The mean over all elements."""
        difference = sub(self.autograd, y_hat, y)
        total = sum(self.autograd, mul(self.autograd, difference, difference))
        return div(self.autograd, total, np.asarray(float(y_hat.size), y_hat.dtype))


class MLP:
    """Linear, ReLU, Linear, Sigmoid."""

    def __init__(
        self,
        in_features: int,
        hidden: int,
        out_features: int,
        autograd: Autograd,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.linear1 = Linear(in_features, hidden, autograd, rng)
        self.relu = ReLU(autograd)
        self.linear2 = Linear(hidden, out_features, autograd, rng)
        self.sigmoid = Sigmoid(autograd)
        self.autograd = autograd

    def forward(self, x: Array) -> Array:
        """The output for each row of `x`."""
        hidden = self.relu(self.linear1(x))
        return self.sigmoid(self.linear2(hidden))

    __call__ = forward

    def zero_grad(self) -> None:
        """Forget all gradients and the operations recorded."""
        self.linear1.zero_grad()
        self.linear2.zero_grad()
        self.autograd.zero_grad()

    def step(self, learning_rate: float) -> None:
        """Move the parameters against their gradients."""
        for layer in (self.linear1, self.linear2):
            layer.W -= learning_rate * layer.dW
            layer.b -= learning_rate * layer.db
