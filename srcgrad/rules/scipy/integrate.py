"""Integrals of samples; those of functions, and differential equations, are refused."""

from __future__ import annotations

import numpy as np
from scipy import integrate, special

from ..registry import definition, refuse
from . import quadrature  # noqa: F401  (registers its rules)


def parts(y, x, dx, axis):
    """The areas of the trapezoids between samples, along the last axis."""
    y = np.swapaxes(y, axis, -1)
    sums = 0.5 * (y[..., 1:] + y[..., :-1])
    if x is None:
        return sums * dx
    if np.ndim(x) > 1:
        x = np.swapaxes(x, axis, -1)
    return sums * (x[..., 1:] - x[..., :-1])


@definition(integrate.trapezoid)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    return np.sum(parts(y, x, dx, axis), axis=-1)


@definition(integrate.cumulative_trapezoid)
def cumulative_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None):
    sums = np.cumsum(parts(y, x, dx, axis), axis=-1)
    if initial is not None:
        first = np.zeros_like(sums[..., :1]) + initial
        sums = np.concatenate((first, sums), -1)
    return np.swapaxes(sums, axis, -1)


@definition(integrate.fixed_quad)
def fixed_quad(func, a, b, args=(), n=5):
    nodes, weights = special.roots_legendre(n)
    y = (b - a) * (nodes + 1) / 2.0 + a
    return (b - a) / 2.0 * np.sum(weights * func(y, *args), axis=-1), None


refuse(
    *(integrate.odeint, integrate.solve_ivp, integrate.solve_bvp),
    reason="it calls a function again and again; write the steps of a Runge-Kutta method as a loop",
)
