"""Adjoints: of the shape and dtype of what they belong to, of their own memory."""

from __future__ import annotations

from typing import Any

import numpy as np


def unbroadcast(gradient: Any, like: Any) -> Any:
    """Sum an adjoint over the axes along which its operand was broadcast.

    >>> unbroadcast(np.ones((3, 2)), np.zeros((1, 2)))
    array([[3., 3.]])
    """
    return unbroadcast_to(gradient, np.shape(like))


def unbroadcast_to(gradient: Any, shape: tuple[int, ...]) -> Any:
    """Sum an adjoint over the axes along which its operand, of the given shape, was broadcast.

    >>> unbroadcast_to(np.ones((3, 2)), (2,))
    array([3., 3.])
    """
    if np.shape(gradient) == shape:
        return gradient
    if np.ndim(gradient) > len(shape):
        gradient = np.add.reduce(gradient, axis=tuple(range(np.ndim(gradient) - len(shape))))
    if np.ndim(gradient) < len(shape):
        ones = (1,) * (len(shape) - np.ndim(gradient))
        gradient = np.reshape(gradient, ones + np.shape(gradient))
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and gradient.shape[i] != 1)
    if axes:
        gradient = np.add.reduce(gradient, axis=axes, keepdims=True)
    if np.shape(gradient) != shape:
        gradient = np.broadcast_to(gradient, shape)
    return gradient


def total(gradient: Any) -> Any:
    """The sum of all elements of an array or number.

    >>> float(total(np.ones((2, 2))))
    4.0
    """
    return np.sum(gradient)


def unless_zero(contribution: Any, *adjoints: Any) -> Any:
    """A contribution, a multiple of adjoints, where one of them isn't zero; zero elsewhere.

    Zero times an infinite derivative is nan, but what is never used contributes nothing. Where an
    adjoint is zero its derivative needn't be: that of the contribution counts where either isn't.

    >>> unless_zero(np.array([1.5, np.nan]), np.array([3.0, 0.0]))
    array([1.5, 0. ])
    """
    if isinstance(contribution, np.ndarray) and contribution.dtype.kind in "fc":
        for adjoint in adjoints:
            if np.shape(adjoint) != contribution.shape:
                break
        else:
            # Quick to see: where nothing is nan or infinite, what is multiplied by zero is zero
            if abs(np.vdot(contribution, contribution)) < np.inf:
                return contribution.copy()
    counts = adjoints[0] != 0
    for adjoint in adjoints[1:]:
        counts = counts | (adjoint != 0)
    if not isinstance(contribution, np.ndarray) and np.ndim(counts) == 0:
        return contribution if counts else type(contribution)(0)
    return np.where(counts, contribution, 0.0)


def zero_like(value: Any) -> Any:
    """A zero adjoint for an array or number: an array for one without axes, which may be written.

    >>> zero_like(2.5), zero_like(np.float32(2.5)), zero_like(np.array(2.5))
    (0.0, np.float32(0.0), array(0.))
    """
    if isinstance(value, np.generic):
        return np.result_type(value, 1.0).type(0.0)
    if isinstance(value, list):
        raise TypeError("a list of which only the run tells that it is one has no derivative")
    if not isinstance(value, np.ndarray) and not np.ndim(value):
        return 0.0
    return np.zeros_like(value, dtype=np.result_type(value, 1.0))


def filled_like(value: Any, like: Any) -> Any:
    """An array of its own with a value in it, shaped like another; for a number, the value.

    >>> filled_like(1.0, np.zeros(2)), filled_like(1.0, 2.5)
    (array([1., 1.]), 1.0)
    """
    if not isinstance(like, np.ndarray):
        return value
    made = np.zeros_like(like)
    made[...] = value
    return made


def as_dtype(gradient: Any, dtype: Any) -> Any:
    """An adjoint with the dtype of its operand.

    >>> as_dtype(np.ones(2), np.dtype("f4")).dtype
    dtype('float32')
    """
    dtype = np.dtype(dtype)
    if dtype.kind == "f" and np.iscomplexobj(gradient):
        gradient = np.real(gradient)
    if isinstance(gradient, np.generic):
        return gradient.astype(dtype)  # of a number that stands for an array without axes
    return gradient.astype(dtype, copy=False) if isinstance(gradient, np.ndarray) else gradient


def given(gradient: Any, like: Any) -> Any:
    """An adjoint, or zeros where there is none: of the sign of a real number, say.

    >>> given(None, np.ones(2))
    array([0., 0.])
    """
    return np.zeros(np.shape(like)) if gradient is None else gradient


def shape_if_any(value: Any) -> tuple[int, ...]:
    """The shape of an array; () where there is None instead.

    >>> shape_if_any(np.ones(2)), shape_if_any(None)
    ((2,), ())
    """
    return np.shape(value)


def project(gradient: Any, like: Any) -> Any:
    """The adjoint of a variable of any dtype: real if the variable is, and zero if that is whole.

    >>> project(np.array([1 + 2j]), np.ones(1)), project(np.ones(1), np.array([3]))
    (array([1.]), array([0.]))
    """
    if np.result_type(like).kind in "biu":
        return np.zeros_like(np.real(gradient))
    if np.iscomplexobj(gradient) and not np.iscomplexobj(like):
        return np.real(gradient)
    return gradient


def own_copy(array: Any) -> Any:
    """A copy of an argument that the function writes into, with the same memory layout.

    >>> own_copy(np.ones((2, 3)).T).flags.f_contiguous
    True
    """
    copy = array.copy(order="K")
    if copy.strides == array.strides or array.size < 2:
        return copy
    # reshape and ravel must be views, or copies, of the copy as they are of the original: the
    # strides have the same ratios, but between numbers that are apart there are gaps of one
    size, strides = array.itemsize, array.strides
    common = int(np.gcd.reduce([s for s, n in zip(strides, array.shape, strict=True) if n > 1]))
    if common > size and common % size == 0:
        strides = tuple(s // common * 2 * size for s in strides)
    lowest, span = 0, size
    for stride, n in sorted(zip(strides, array.shape, strict=True), key=lambda axis: abs(axis[0])):
        if n > 1 and abs(stride) < span:
            return copy  # it shows some numbers several times
        lowest -= min(stride * (n - 1), 0)
        span += abs(stride) * (n - 1)
    view: Any = np.ndarray(array.shape, array.dtype, np.empty(span, np.uint8), lowest, strides)
    view[...] = array
    return view


def own_zeros(array: Any) -> Any:
    """Zeros with the same memory layout as an array.

    >>> own_zeros(np.ones((2, 3))[::-1]).strides
    (-24, 8)
    """
    zeros = own_copy(array)
    zeros[...] = 0.0
    return zeros


def last_written(d_array: Any, key: Any) -> Any:
    """The adjoint of the value in `array[key] = value`; of equal indices the last one counts.

    >>> last_written(np.array([1.0, 2.0]), np.array([0, 1, 1]))
    array([1., 0., 2.])
    """
    d_value = d_array[key]
    order = np.empty(d_array.shape, np.intp)
    numbers = np.arange(d_value.size).reshape(d_value.shape)
    order[key] = numbers
    return np.where(order[key] == numbers, d_value, 0)


def finished(gradient: Any, like: Any) -> Any:
    """A gradient as an array with the shape and dtype of its argument, 0.0 by what is None.

    >>> finished(1.0, np.zeros(2, np.float32))
    array([1., 1.], dtype=float32)
    """
    if like is None:
        return 0.0
    if np.iscomplexobj(gradient) and not np.iscomplexobj(like):
        gradient = np.real(gradient)
    result = np.empty_like(like)
    result[...] = gradient
    return result


def stop_gradient(value: Any) -> Any:
    """The same value, as a constant: its derivative is zero.

    An array is copied, lest what is written into it later be taken for a constant.

    >>> stop_gradient([3.0, np.ones(2)])
    [3.0, array([1., 1.])]
    """
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return tuple.__new__(type(value), map(stop_gradient, value))
    if isinstance(value, (tuple, list)):
        return type(value)(stop_gradient(item) for item in value)
    if isinstance(value, dict):
        return {key: stop_gradient(item) for key, item in value.items()}
    return value
