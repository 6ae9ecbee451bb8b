"""Small functions that several rules share.

Those of the first part look only at ranks, axes and other static values: a compiler that knows
the arguments can call them. The rest is ordinary NumPy code, inlined like the rules themselves.
"""

from __future__ import annotations

import inspect
import math

import numpy as np

from .registry import adjoint

# Indices


def parameter_count(function):
    """How many parameters a function takes by position.

    >>> parameter_count(lambda x, a, b: a * x + b)
    3
    """
    return len(inspect.getfullargspec(function).args)


def check_dtype(dtype, *arrays):
    """Refuse a dtype by which NumPy cuts imaginary parts off before it multiplies."""
    if dtype is not None and np.dtype(dtype).kind != "c":
        for a in arrays:
            if np.iscomplexobj(a):
                raise NotImplementedError("a dtype that cuts imaginary parts off: use .real")


def known(number):
    """Whether a number is known when compiling: for a rule that has a simpler form if it is."""
    return True


def may_be_python_float(x):
    """Whether a number may be a float of Python's, as far as is known when compiling."""
    return type(x) is float


def all_axes(ndim):
    """The numbers of the axes, as a tuple: a loop over one is unrolled when compiling."""
    return tuple(range(ndim))


def axes_of(ndim, axis):
    """An axis argument (None, a number or a tuple) as a sorted tuple of non-negative axes."""
    if axis is None or ndim == 0:
        return all_axes(ndim)
    if isinstance(axis, tuple):
        axis = tuple(i % ndim for i in axis)
        return tuple(i for i in all_axes(ndim) if i in axis)
    return (axis % ndim,)


def restoring_index(ndim, axis):
    """The index that gives an array reduced over `axis` its `ndim` axes back, with length 1.

    >>> restoring_index(3, 1)
    (slice(None, None, None), None)
    """
    axes = axes_of(ndim, axis)
    if not axes:
        return (Ellipsis,)
    if axes[0] > 0 and axes[0] == ndim - len(axes):
        return (Ellipsis, *(None for _ in axes))
    return tuple(None if i in axes else slice(None) for i in all_axes(axes[-1] + 1))


def along(ndim, axis, part):
    """The index that takes `part` (a number, a slice or None) along one axis.

    >>> along(2, 0, -1), along(2, 1, -1), along(3, 1, -1)
    (-1, (Ellipsis, -1), (slice(None, None, None), -1))
    """
    axis = axis % ndim
    if axis == 0:
        return part
    if axis == ndim - 1:
        return (Ellipsis, part)
    return (slice(None),) * axis + (part,)


def only_along(ndim, axis):
    """The index that gives an array that has only these axes all `ndim` of them.

    >>> only_along(3, 1)
    (None, slice(None, None, None), None)
    """
    axes = axes_of(ndim, axis)
    return tuple(slice(None) if i in axes else None for i in all_axes(ndim))


def other_axes(ndim, axis):
    """The axes not reduced."""
    axes = axes_of(ndim, axis)
    return tuple(i for i in all_axes(ndim) if i not in axes)


def axes_first(ndim, axis):
    """The permutation that moves the reduced axes to the front."""
    return axes_of(ndim, axis) + other_axes(ndim, axis)


def is_first(ndim, axis):
    """Whether the reduced axes are the first ones."""
    axes = axes_of(ndim, axis)
    return not axes or axes[-1] == len(axes) - 1


def argsort(axes, ndim):
    """The positions of the axes in rising order; of a permutation, this is the inverse."""
    axes = tuple(i % ndim for i in axes)
    return tuple(k for i in all_axes(ndim) for k in all_axes(len(axes)) if axes[k] == i)


# Reductions


def restore_axes(d_out, x, axis, keepdims):
    """An adjoint of a reduction with axes of length 1 in place of those reduced."""
    if keepdims or axis is None:
        return d_out
    if not known(np.ndim(x)):
        return np.expand_dims(d_out, axis)
    if np.ndim(d_out) == 0:
        return d_out
    index = restoring_index(np.ndim(x), axis)
    return d_out[index[0] if len(index) == 1 else index]


def everywhere(where):
    """Whether the argument `where` of a reduction leaves nothing out."""
    return np.ndim(where) == 0 and where is True


def reduced_size(x, axis):
    """How many numbers go into each result of a reduction."""
    if axis is None or np.ndim(x) == 0:
        return np.size(x)
    if not isinstance(axis, tuple):
        return np.shape(x)[axis]
    n = 1
    for i in axis:
        n = n * np.shape(x)[i]
    return n


def reduced_first(x, axis):
    """An array with its reduced axes as one, in front."""
    if np.ndim(x) == 1:
        return x[None] if axis == () else x
    if axis is None or np.ndim(x) == 0:
        return np.reshape(x, -1)
    if not is_first(np.ndim(x), axis):
        x = np.transpose(x, axes_first(np.ndim(x), axis))
    if isinstance(axis, tuple):
        return np.reshape(x, (reduced_size_first(x, len(axis)), *np.shape(x)[len(axis) :]))
    return x


def at_least_1(n):
    """A count to divide by: what an empty array gets is empty, whatever the quotient."""
    return 1 if n == 0 else n


def reduced_size_first(x, count):
    """The number of elements in the first `count` axes."""
    n = 1
    for i in all_axes(count):
        n = n * np.shape(x)[i]
    return n


def reduced_back(d_first, x, axis):
    """The reverse of `reduced_first`, for an adjoint of its result."""
    if np.ndim(x) == 1:
        return d_first
    if axis is None or np.ndim(x) == 0:
        return np.reshape(d_first, np.shape(x))
    order = axes_first(np.ndim(x), axis)
    if isinstance(axis, tuple):
        d_first = np.reshape(d_first, tuple(np.shape(x)[i] for i in order))
    if is_first(np.ndim(x), axis):
        return d_first
    return np.transpose(d_first, argsort(order, np.ndim(x)))


def shares(mask, d_out, axis, dtype):
    """Adjoint split equally among the marked elements along `axis` (d_out has all axes)."""
    if axis is None:
        count = int(np.count_nonzero(mask))
        return mask * (d_out / (math.nan if count == 0 else count))
    return mask * (d_out / np.sum(mask, axis=axis, dtype=dtype, keepdims=True))


def reversed_cumsum(d_out, axis):
    """Sums of an array from its end along one axis."""
    index = along(np.ndim(d_out), axis, slice(None, None, -1))
    return np.cumsum(d_out[index], axis=axis)[index]


def products_of_others(a, axis):
    """For each element, the product of all others along `axis`: exact with zeros."""
    factors = reduced_first(a, axis)
    before, after = np.ones_like(factors), np.ones_like(factors)
    before[1:] = np.cumprod(factors[:-1], axis=0)
    after[:-1] = np.cumprod(factors[:0:-1], axis=0)[::-1]
    return reduced_back(before * after, a, axis)


# Functions that NumPy and the standard library lack

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def polygamma(order, x):
    """Derivative number `order` of the digamma function at a float: DLMF 5.15 and 5.11.

    >>> round(polygamma(0, 1.0), 12)  # minus Euler's constant
    -0.577215664902
    """
    sign, factorial = (-1.0) ** (order + 1), math.gamma(order + 1)
    x, total = float(x), 0.0
    if x <= 0 and x == math.floor(x):
        return math.nan
    while x < 20 + order:
        total += factorial / x ** (order + 1)
        x += 1
    total += factorial / (2 * x ** (order + 1))
    if order:
        total += factorial / order / x**order
    for k, bernoulli in enumerate(BERNOULLI, 1):
        ratio = math.gamma(2 * k + order) / math.gamma(2 * k + 1)
        total += bernoulli * ratio / x ** (2 * k + order)
    return sign * total if order else math.log(x) + sign * total


adjoint(polygamma)(lambda order, x, *, out, d_out: (None, d_out * polygamma(order + 1, x)))


def bessel_i(order, x):
    """The modified Bessel function of an integer order by its power series: DLMF 10.25.2.

    >>> float(round(bessel_i(1, 1.0), 12))
    0.565159103992
    """
    half, k = np.asarray(x) / 2, 0
    term = half**order / math.factorial(order)
    total = term
    while np.any(np.abs(term) > 1e-17 * np.abs(total)):
        k += 1
        term = term * (half * half / (k * (k + order)))
        total = total + term
    return total[()]


@adjoint(bessel_i)
def d_bessel_i(order, x, *, out, d_out):
    if order == 0:
        return None, d_out * bessel_i(1, x)
    return None, 0.5 * d_out * (bessel_i(order - 1, x) + bessel_i(order + 1, x))
