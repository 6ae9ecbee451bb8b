"""Solvers: their results have derivatives by the implicit function theorem, whatever they did.

The solver runs as it is, in plain Python, so that it must be able to call the function: one that is
defined outside of the differentiated code. What is differentiated goes into `args`.
"""

from __future__ import annotations

import functools
import types

import numpy as np
from scipy import optimize

from ...custom import implicit_minimum, implicit_root
from ..registry import definition, refuse


@definition(optimize.rosen)
def rosen(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2, axis=0)


def run_fsolve(func, x0, *args):
    found, _, status, message = optimize.fsolve(func, x0, args, xtol=1e-13, full_output=True)
    check_solved(func, found, args, status == 1, f"fsolve: {message}")
    return found


def run_root(func, method, tol, x0, *args):
    found = optimize.root(func, x0, args, method=method, tol=tol)
    check_solved(func, found.x, args, found.success, f"root: {found.message}")
    return found.x


def check_solved(func, x, args, success, message):
    """A solver that rounding keeps from its tolerance says that it has failed."""
    if not success and not np.max(np.abs(func(x, *args))) < 1e-8:
        raise RuntimeError(message)


def run_brentq(func, x0, a, b, *args):
    return optimize.brentq(func, a, b, args)


def run_newton(func, x0, *args):
    return optimize.newton(func, x0, args=args, tol=1e-12, maxiter=100)


def run_minimize(func, method, tol, x0, *args):
    return optimize.minimize(func, x0, args, method=method, tol=tol).x


def run_minimize_scalar(func, x0, *args):
    return optimize.minimize_scalar(func, args=args, tol=1e-12).x


def bracketed(func, x, a, b, *args):
    return func(x, *args)


def as_tuple(args):
    return args if isinstance(args, tuple) else (args,)


@definition(optimize.fsolve)
def fsolve(func, x0, args=()):
    x0 = np.atleast_1d(x0)
    return implicit_root(func, functools.partial(run_fsolve, func))(x0, *as_tuple(args))


@definition(optimize.root)
def root(fun, x0, args=(), method="hybr", *, tol=1e-13):
    x0 = np.atleast_1d(x0)
    solver = functools.partial(run_root, fun, method, tol)
    return types.SimpleNamespace(x=implicit_root(fun, solver)(x0, *as_tuple(args)))


@definition(optimize.brentq)
def brentq(f, a, b, args=()):
    solver = implicit_root(functools.partial(bracketed, f), functools.partial(run_brentq, f))
    return solver(0.0, a, b, *as_tuple(args))


@definition(optimize.newton)
def newton(func, x0, args=()):
    return implicit_root(func, functools.partial(run_newton, func))(x0, *as_tuple(args))


@definition(optimize.minimize)
def minimize(fun, x0, args=(), method="BFGS", *, tol=1e-12):
    x0 = np.atleast_1d(x0)
    solver = functools.partial(run_minimize, fun, method, tol)
    x = implicit_minimum(fun, solver)(x0, *as_tuple(args))
    return types.SimpleNamespace(x=x, fun=fun(x, *as_tuple(args)))


@definition(optimize.minimize_scalar)
def minimize_scalar(fun, args=()):
    solver = functools.partial(run_minimize_scalar, fun)
    x = implicit_minimum(fun, solver)(0.0, *as_tuple(args))
    return types.SimpleNamespace(x=x, fun=fun(x, *as_tuple(args)))


refuse(
    *(optimize.root_scalar, optimize.bisect, optimize.least_squares),
    *(optimize.curve_fit, optimize.fixed_point),
    reason="use fsolve, root, brentq, newton, minimize or srcgrad.implicit_root",
)
