"""Integrals of samples."""

from __future__ import annotations

import numpy as np
from scipy import integrate, special

from ...analysis.inference import Inferred
from ...kinds import Array, fresh_size
from ..registry import definition, kind, refuse, zero
from . import differential_equations, quadrature  # noqa: F401  (registers their rules)


def parts(y, x, dx, axis):
    """The areas of the trapezoids between samples, along the last axis."""
    y = np.swapaxes(y, axis, -1)
    sums = 0.5 * (y[..., 1:] + y[..., :-1])
    if x is None:
        return sums * dx
    if np.ndim(x) > 1:
        x = np.swapaxes(x, axis, -1)
    return sums * (x[..., 1:] - x[..., :-1])


definition(integrate.trapezoid)(
    lambda y, x=None, dx=1.0, axis=-1: np.sum(parts(y, x, dx, axis), axis=-1)
)


@definition(integrate.cumulative_trapezoid)
def cumulative_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None):
    sums = np.cumsum(parts(y, x, dx, axis), axis=-1)
    if initial is not None:
        first = np.zeros_like(sums[..., :1]) + initial
        sums = np.concatenate((first, sums), -1)
    return np.swapaxes(sums, axis, -1)


@definition(integrate.simpson)
def simpson(y, x=None, *, dx=1.0, axis=-1):
    """Parabolas through three samples each; with an even number of them, Cartwright's correction
    for the last interval (see SciPy's documentation)."""
    y = np.swapaxes(y, axis, -1)
    n = y.shape[-1]
    if x is None:
        h = np.full(n - 1, 1.0) * dx
    else:
        x = np.asarray(x)
        h = np.diff(np.swapaxes(x, axis, -1) if np.ndim(x) > 1 else x)
    if n == 2:
        return 0.5 * h[..., 0] * (y[..., 0] + y[..., 1])
    stop = n - 2 if n % 2 else n - 3
    h0, h1 = h[..., 0:stop:2], h[..., 1 : stop + 1 : 2]
    both = h0 + h1
    area = np.sum(
        both / 6.0 * (
            y[..., 0:stop:2] * (2.0 - h1 / h0)
            + y[..., 1 : stop + 1 : 2] * (both * both / (h0 * h1))
            + y[..., 2 : stop + 2 : 2] * (2.0 - h0 / h1)
        ),
        axis=-1,
    )  # fmt: skip
    if n % 2:
        return area
    a, b = h[..., -2], h[..., -1]
    last = (2 * b * b + 3 * a * b) / (6 * (a + b)) * y[..., -1]
    middle = (b * b + 3 * a * b) / (6 * a) * y[..., -2]
    return area + last + middle - b**3 / (6 * a * (a + b)) * y[..., -3]


@definition(integrate.fixed_quad)
def fixed_quad(func, a, b, args=(), n=5):
    nodes, weights = special.roots_legendre(n)
    y = (b - a) * (nodes + 1) / 2.0 + a
    return (b - a) / 2.0 * np.sum(weights * func(y, *args), axis=-1), None


def romberg_weights(count):
    """The weights of samples in Romberg's rule, for a unit distance between them: trapezoids of
    half as many steps each, extrapolated. Called by generated code.

    >>> romberg_weights(3) * 3
    array([1., 4., 1.])
    """
    steps = count - 1
    if steps < 1 or steps & (steps - 1):
        raise ValueError("Number of samples must be one plus a non-negative power of 2.")
    rows, step = [], steps
    while step >= 1:
        weights = np.zeros(count)
        weights[::step] = step
        weights[0] = weights[-1] = step / 2
        row = [weights]
        for j, before in enumerate(rows[-1] if rows else [], 1):
            row.append(row[-1] + (row[-1] - before) / (4**j - 1))
        rows.append(row)
        step //= 2
    return rows[-1][-1]


zero(romberg_weights)
kind(romberg_weights)(lambda args, kwargs: Inferred(Array(np.dtype(np.float64), (fresh_size(),))))


@definition(integrate.romb)
def romb(y, dx=1.0, axis=-1, show=False):
    y = np.moveaxis(np.asarray(y), axis, -1)
    return y @ romberg_weights(y.shape[-1]) * dx


refuse(
    *(integrate.cumulative_simpson, integrate.newton_cotes),
    reason="it has no rule; use scipy.integrate.simpson, trapezoid or cumulative_trapezoid",
)
