"""Integrals of functions: by their limits, and by what the integrand takes or captures.

The integral itself is SciPy's. Its derivative by a limit is the integrand there, that by a
parameter the integral of the integrand's derivative (Leibniz), for which the adaptive method
chooses points of its own: where the integrand is smooth its derivative needn't be. Where the
integrand jumps, and the place moves with a parameter, there is a term more: that is refused.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
from scipy import integrate

from ...custom import BY_LISTS, Outside, close, jumps
from ...pullback import vjp
from ..registry import definition, refuse

FEW = 16  # numbers


def run_integral(f, a, b, points, epsabs, epsrel, limit, moving, held):
    """The integral of a number, or of an array."""
    first, options = in_the_middle(f, a, b, moving, held), given(points)
    if np.ndim(first):
        return accurate(f, a, b, options, moving, held, first)
    return integrate.quad(f, a, b, (*moving, *held), 0, epsabs, epsrel, limit, **options)[0]


def run_derivative(f, a, b, points, epsabs, epsrel, limit, moving, held):
    """The integral of a number or of an array, whatever accuracy the program asks for."""
    first = in_the_middle(f, a, b, moving, held)
    return accurate(f, a, b, given(points), moving, held, first)


def in_the_middle(f, a, b, moving, held):
    """The integrand at some point: that tells its shape."""
    return f(0.5 * (a + b) if np.isfinite(a + b) else 0.5, *moving, *held)


def given(points):
    return {"points": points} if points is not None else {}


def accurate(f, a, b, options, moving, held, first):
    """The integral of a number or of an array, of which one value is `first`."""

    def integrand(x):
        return f(x, *moving, *held)

    value, error = None, np.inf
    if 0 < np.size(first) <= FEW and not np.iscomplexobj(first):
        value, error = of_few(integrand, a, b, np.shape(first), options)
    if not error <= 1e-6:
        value, error = integrate.quad_vec(
            integrand, a, b, 1e-13, 1e-10, "max", limit=1000, **options
        )
        error /= max(1.0, np.max(np.abs(value), initial=0.0))
    if not error <= 1e-6:
        warnings.warn(
            f"the derivative of an integral is uncertain: the error may be {error:.1e}",
            integrate.IntegrationWarning,
            stacklevel=3,
        )
    return value


def of_few(integrand, a, b, shape, options):
    """The integral of a number, or of an array of a few, and how much of them the error may be.

    QUADPACK integrates each of them. That takes a fraction of the time, as they have their first
    points in common, and what is singular at a limit.
    """
    known = {}

    def at(x, i):
        if x not in known:
            known[x] = np.ravel(integrand(x)).tolist()
        return known[x][i]

    count = math.prod(shape)
    functions = [(integrand, ())] if shape == () else [(at, (i,)) for i in range(count)]
    each = [
        integrate.quad(f, a, b, args, True, 1e-13, 1e-10, 1000, **options) for f, args in functions
    ]
    error = max(error / max(1.0, abs(value)) for value, error, *_ in each)
    return np.reshape([value for value, *_ in each], shape)[()], error


def run_error(f, a, b, points, epsabs, epsrel, limit, moving, held):
    """The estimate of the error of an integral."""
    return integrate.quad(f, a, b, (*moving, *held), 0, epsabs, epsrel, limit, points)[1]


def run_error_of_array(f, a, b, points, epsabs, epsrel, limit, moving, held):
    """The estimate of the error of an integral of an array."""
    return integrate.quad_vec(
        lambda x: f(x, *moving, *held), a, b, epsabs, epsrel, limit=limit, points=points
    )[1]


def a_number(f, a, b, points, epsabs, epsrel, limit, moving, held):
    return 0.0


def at_a_point(f, a, b, points, epsabs, epsrel, limit, moving, held):
    return f(a, *moving, *held)


def d_integral(f, a, b, points, epsabs, epsrel, limit, moving, held, *, out, d_out):
    single = len(moving) == 1 and np.ndim(moving[0]) == 0

    def derivative(x):
        """The derivatives of the integrand by all that moves, one after the other."""
        _, pullback = vjp(lambda *moving: f(x, *moving, *held), *moving)
        if single:
            return pullback(d_out)[0]
        return np.concatenate([np.ravel(d) for d in pullback(d_out)])

    d_moving = []
    if len(moving) > 0:
        g, inner, rest = close(derivative, 0.5)
        d_all = integral_of_derivative(g, a, b, points, epsabs, epsrel, limit, inner, rest)
        start = 0
        for v, jump in zip(moving, jumps(f, 1)[1:], strict=False):
            stop = start + np.size(v)
            if single:
                d = d_all
            elif np.ndim(v) == 0:
                d = d_all[start]
            else:
                d = np.reshape(d_all[start:stop], np.shape(v))
            d_moving.append(d if jump is None else jump)
            start = stop
    d_a = -np.sum(d_out * f(a, *moving, *held)) if np.isfinite(a) else 0.0
    d_b = np.sum(d_out * f(b, *moving, *held)) if np.isfinite(b) else 0.0
    return None, d_a, d_b, None, None, None, None, tuple(d_moving), BY_LISTS


integral = Outside(run_integral, at_a_point, d_integral)
integral_of_derivative = Outside(run_derivative, at_a_point, d_integral)
error_of_integral = Outside(run_error, at_a_point)
error_of_array = Outside(run_error_of_array, a_number)


def as_tuple(args):
    return args if isinstance(args, tuple) else (args,)


@definition(integrate.quad)
def quad(func, a, b, args=(), *, epsabs=1.49e-8, epsrel=1.49e-8, limit=50, points=None):
    args = as_tuple(args)

    def integrand(x):
        return float(func(x, *args))

    f, moving, held = close(integrand, 0.5)
    options = (float(a), float(b), points, epsabs, epsrel, limit, moving, held)
    return integral(f, *options), error_of_integral(f, *options)


@definition(integrate.dblquad)
def dblquad(func, a, b, gfun, hfun, args=(), epsabs=1.49e-8, epsrel=1.49e-8):
    def inner(x):
        low = gfun(x) if callable(gfun) else gfun
        high = hfun(x) if callable(hfun) else hfun
        return quad(lambda y: func(y, x, *args), low, high, epsabs=epsabs, epsrel=epsrel)[0]

    return quad(inner, a, b, epsabs=epsabs, epsrel=epsrel)


@definition(integrate.quad_vec)
def quad_vec(
    f, a, b, epsabs=1e-200, epsrel=1e-8, norm="2", cache_size=100e6, limit=10000, workers=1,
    points=None, quadrature=None, full_output=False, *, args=(),
):  # fmt: skip
    if full_output:
        raise NotImplementedError("quad_vec is differentiated without full_output")
    args = as_tuple(args)
    g, moving, held = close(lambda x: f(x, *args), 0.5)
    options = (float(a), float(b), points, epsabs, epsrel, limit, moving, held)
    return integral(g, *options), error_of_array(g, *options)


refuse(
    *(integrate.tplquad, integrate.nquad),
    reason="it has no rule; write it as scipy.integrate.quad of scipy.integrate.dblquad",
)
refuse(
    *(getattr(integrate, name) for name in ("cubature", "tanhsinh", "qmc_quad", "nsum")
      if hasattr(integrate, name)),
    reason="it has no rule; use scipy.integrate.quad",
)  # fmt: skip
