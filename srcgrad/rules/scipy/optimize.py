"""Solvers: their results have derivatives by the implicit function theorem, whatever they did.

SciPy's solver runs as it is, on the compiled function; only what it found is differentiated. At a
root of f(x, p), dx/dp = -inv(df/dx) df/dp; a minimum is a root of the gradient. The solvers' own
tolerances are tightened, since the theorem holds at the root and not beside it, and a solver that
fails raises: its last guess has no derivative.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, optimize

from ...api import grad
from ...custom import BY_LISTS, Outside, adjoint_solution, close
from ...forward import jvp
from ...pullback import vjp
from ..helpers import parameter_count
from ..registry import adjoint, definition, refuse, zero
from . import optimize_bounds  # noqa: F401  (it registers its class)
from .results import OptimizeResult

BY_GRADIENT = ("CG", "BFGS", "Newton-CG", "L-BFGS-B", "TNC", "SLSQP", "trust-constr", None)


@definition(optimize.rosen)
def rosen(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2, axis=0)


definition(optimize.rosen_der)(lambda x: grad(rosen)(x))


def as_tuple(args):
    return args if isinstance(args, tuple) else (args,)


def number_or_array(x):
    """A first guess as floats: a list is an array."""
    return x * 1.0 if isinstance(x, (int, float)) else np.asarray(x) * 1.0


def vector(x):
    """A first guess as a vector, which the solvers that are older than `minimize` make of any."""
    return np.atleast_1d(number_or_array(x)).ravel()


# The theorem


def first_guess(solve, f, x0, options, moving, held):
    return x0 * 1.0


def run_solver(solve, f, x0, options, moving, held):
    """What a solver finds, in the shape of the first guess."""
    found = solve(f, x0, options, (*moving, *held))
    return float(np.squeeze(found)) if np.ndim(x0) == 0 else np.reshape(found, np.shape(x0))


def d_root(solve, f, x0, options, moving, held, *, out, d_out):
    _, by_x = vjp(lambda x: f(x, *moving, *held), out)
    solution = adjoint_solution(by_x, out, d_out)
    _, by_outer = vjp(lambda *moving: f(out, *moving, *held), *moving)
    return None, None, None, None, tuple([-d for d in by_outer(solution)]), BY_LISTS


def run_minimizer(solve, f, x0, options, bounds, moving, held):
    return run_solver(solve, f, x0, (*options, bounds), moving, held)


def first_minimum(solve, f, x0, options, bounds, moving, held):
    return x0 * 1.0


def d_minimum(solve, f, x0, options, bounds, moving, held, *, out, d_out):
    """At the minimum the slope is zero, or a number is at its bound and the slope leads out."""

    def slope(x, *moving):
        return grad(lambda x: f(x, *moving, *held))(x)

    def condition(x, bounds, *moving):
        if len(bounds) == 0:
            return slope(x, *moving)
        low, high = bounds
        return np.where(at_low, x - low, np.where(at_high, x - high, slope(x, *moving)))

    if len(bounds) > 0:
        steep, close_by = slope(out, *moving), 1e-6 * (1.0 + np.abs(out))
        much = 1e-6 * (1.0 + np.max(np.abs(steep)))
        at_low = (out - bounds[0] < close_by) & (steep > much)
        at_high = (bounds[1] - out < close_by) & (steep < -much)
    _, by_x = vjp(lambda x: condition(x, bounds, *moving), out)
    solution = adjoint_solution(by_x, out, d_out)
    _, by_outer = vjp(lambda bounds, *moving: condition(out, bounds, *moving), bounds, *moving)
    d_bounds, *d_moving = by_outer(-solution)
    return None, None, None, None, d_bounds, tuple(d_moving), BY_LISTS


root_found = Outside(run_solver, first_guess, d_root)
minimum_found = Outside(run_minimizer, first_minimum, d_minimum)


# Roots


def solve_root(f, x0, options, outer):
    method, tol = options
    found = optimize.root(f, x0, outer, method=method, tol=tol)
    check_solved(f, found.x, outer, found.success, f"root: {found.message}")
    return found.x


def solve_fixed_point(f, x0, options, outer):
    xtol, maxiter, method = options
    found = optimize.fixed_point(
        lambda x, *outer: f(x, *outer) + x, x0, outer, xtol=xtol, maxiter=maxiter, method=method
    )
    check_solved(f, found, outer, False, "fixed_point: it isn't one")
    return found


def check_solved(f, x, outer, success, message):
    """A solver that rounding keeps from its tolerance says that it has failed."""
    residual = np.max(np.abs(f(x, *outer)), initial=0.0)
    if not success and not residual < 1e-7 * (1 + np.max(np.abs(x), initial=0.0)):
        raise RuntimeError(message)


def solve_bracketed(f, x0, options, outer):
    method, a, b, maxiter = options
    solver = getattr(optimize, method)
    rtol = {} if method == "toms748" else {"rtol": 8.9e-16}
    return solver(f, a, b, outer, xtol=1e-14, maxiter=max(maxiter, 200), **rtol)


def solve_newton(f, x0, options, outer):
    x1, maxiter = options
    found = optimize.newton(f, x0, None, outer, 1e-12, max(maxiter, 100), x1=x1)
    check_solved(f, found, outer, np.ndim(x0) == 0, "newton: it found no root")
    return found


def find(solve, func, x0, args, *options):
    """The root of a function of one argument and others, which may be captured too."""
    f, moving, held = close(lambda x: func(x, *args) * 1.0, x0)
    return root_found(solve, f, x0, options, moving, held)


def find_system(solve, func, x0, args, *options):
    """The root of a function that may return a list."""
    f, moving, held = close(lambda x: np.asarray(func(x, *args)) * 1.0, x0)
    return root_found(solve, f, x0, options, moving, held)


@definition(optimize.fsolve)
def fsolve(func, x0, args=(), fprime=None, *, col_deriv=False, xtol=1e-13, maxfev=0, factor=100):
    return find_system(solve_root, func, vector(x0), as_tuple(args), "hybr", 1e-13)


@definition(optimize.root)
def root(fun, x0, args=(), method="hybr", jac=None, tol=1e-13, *, options=None):
    guess = vector(x0) if method in ("hybr", "lm") else np.atleast_1d(number_or_array(x0))

    def function(x, *args):
        return fun(x, *args)[0] if jac is True else fun(x, *args)

    x = find_system(solve_root, function, guess, as_tuple(args), method, 1e-13)
    residual = np.asarray(function(x, *as_tuple(args)))
    return OptimizeResult(x=x, fun=residual, success=True, status=1, message="solved")


def described(x, full_output):
    """A root, with what SciPy says of it if that is wanted."""
    if full_output:
        return x, OptimizeResult(root=x, converged=True, flag="converged")
    return x


@definition(optimize.brentq)
def brentq(f, a, b, args=(), xtol=2e-12, rtol=8.9e-16, maxiter=100, full_output=False, disp=True):
    x = find(solve_bracketed, f, 0.0, as_tuple(args), "brentq", a, b, maxiter)
    return described(x, full_output)


@definition(optimize.brenth)
def brenth(f, a, b, args=(), xtol=2e-12, rtol=8.9e-16, maxiter=100, full_output=False, disp=True):
    x = find(solve_bracketed, f, 0.0, as_tuple(args), "brenth", a, b, maxiter)
    return described(x, full_output)


@definition(optimize.ridder)
def ridder(f, a, b, args=(), xtol=2e-12, rtol=8.9e-16, maxiter=100, full_output=False, disp=True):
    x = find(solve_bracketed, f, 0.0, as_tuple(args), "ridder", a, b, maxiter)
    return described(x, full_output)


@definition(optimize.bisect)
def bisect(f, a, b, args=(), xtol=2e-12, rtol=8.9e-16, maxiter=100, full_output=False, disp=True):
    x = find(solve_bracketed, f, 0.0, as_tuple(args), "bisect", a, b, maxiter)
    return described(x, full_output)


@definition(optimize.toms748)
def toms748(
    f, a, b, args=(), k=1, xtol=2e-12, rtol=8.9e-16, maxiter=100, full_output=False, disp=True
):
    x = find(solve_bracketed, f, 0.0, as_tuple(args), "toms748", a, b, maxiter)
    return described(x, full_output)


@definition(optimize.newton)
def newton(
    func, x0, fprime=None, args=(), tol=1.48e-8, maxiter=50, fprime2=None, x1=None, rtol=0.0,
    full_output=False, disp=True,
):  # fmt: skip
    if full_output and np.ndim(x0):
        raise NotImplementedError("newton is differentiated with full_output for one root only")
    x = find(solve_newton, func, number_or_array(x0), args, x1, maxiter)
    return described(x, full_output)


@definition(optimize.root_scalar)
def root_scalar(
    f, args=(), method=None, bracket=None, fprime=None, fprime2=None, x0=None, x1=None, *,
    xtol=None, rtol=None, maxiter=100,
):  # fmt: skip
    def function(x, *args):
        return f(x, *args)[0] if fprime is True else f(x, *args)

    if bracket is not None:
        chosen = "brentq" if method is None else method
        low, high = bracket
        x = find(solve_bracketed, function, 0.0, as_tuple(args), chosen, low, high, maxiter)
    else:
        x = find(solve_newton, function, x0 * 1.0, as_tuple(args), x1, maxiter)
    return described(x, True)[1]


@definition(optimize.fixed_point)
def fixed_point(func, x0, args=(), xtol=1e-8, maxiter=500, method="del2"):
    guess = number_or_array(x0)
    return find(
        solve_fixed_point,
        lambda x, *args: func(x, *args) - x,
        guess, args, 1e-12, maxiter, method,
    )  # fmt: skip


# Minima


def solve_minimum(f, x0, options, outer):
    method, tol, slope, its_outer, bounds = options
    jac = (lambda x, *_: slope(x, *its_outer)) if method in BY_GRADIENT else None
    within = optimize.Bounds(*bounds) if bounds else None
    found = optimize.minimize(f, x0, outer, method=method, jac=jac, tol=tol, bounds=within)
    steep = slope(found.x, *its_outer)
    if bounds:
        steep = found.x - np.clip(found.x - steep, *bounds)
    at_found = np.max(np.abs(steep), initial=0.0)
    if not found.success and not at_found < 1e-5 * (1 + abs(found.fun)):
        raise RuntimeError(f"minimize: {found.message}")
    return found.x if bounds or jac is not None else polished(slope, found.x, steep, its_outer)


def polished(slope, x, steep, its_outer):
    """The root of the slope beside a minimum found by values: half of its digits are right."""
    found = optimize.root(slope, x, its_outer, tol=1e-14)
    beside = np.all(np.abs(found.x - x) <= 1e-4 * (1 + np.abs(x)))
    flatter = np.max(np.abs(found.fun)) < np.max(np.abs(steep))
    return found.x if beside and flatter else x


def solve_minimum_scalar(f, x0, options, outer):
    bracket, bounds, method, _ = options
    if bounds is None:
        return optimize.minimize_scalar(f, bracket, None, outer, method, tol=1e-12).x
    low, high = bounds
    tight = {"xatol": 1e-10 * max(1.0, abs(low), abs(high))}
    x = optimize.minimize_scalar(f, None, bounds, outer, method, options=tight).x
    if min(x - low, high - x) < 1e-6 * (high - low):
        raise RuntimeError("minimize_scalar: the minimum is at a bound, and follows it")
    return x


def solve_least_squares(f, x0, options, outer):
    method, residuals, its_outer, bounds = options
    tight = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15}
    tight |= {"bounds": bounds} if bounds else {}
    found = optimize.least_squares(residuals, x0, "3-point", method=method, args=its_outer, **tight)
    if found.status < 0:
        raise RuntimeError(f"least_squares: {found.message}")
    return found.x


@definition(optimize.minimize)
def minimize(
    fun, x0, args=(), method=None, jac=None, hess=None, hessp=None, bounds=None, constraints=(),
    tol=None, *, callback=None, **options,
):  # fmt: skip
    if len(constraints) > 0:
        raise NotImplementedError(
            "a minimum with constraints has no derivative here: minimize without them, of "
            "parameters that can't leave them"
        )

    def function(x):
        value = fun(x, *as_tuple(args))
        return np.sum(value[0] if jac is True else value)

    x = minimum(function, x0, method, bounds)
    return OptimizeResult(
        x=x, fun=function(x), jac=np.zeros_like(x), success=True, status=0, message="minimized"
    )


def minimum(function, x0, method, bounds=None):
    guess = np.atleast_1d(number_or_array(x0))
    f, moving, held = close(function, guess)
    slope, more, others = close(lambda x: grad(lambda x: f(x, *moving, *held))(x), guess)
    options = (method, 1e-11, slope, (*more, *others))
    return minimum_found(solve_minimum, f, guess, options, limits(bounds, guess), moving, held)


def limits(bounds, guess):
    """Lower and upper bounds, as many as there are numbers; nothing if there are no bounds."""
    if bounds is None:
        return ()
    if isinstance(bounds, optimize.Bounds):
        return np.zeros_like(guess) + bounds.lb, np.zeros_like(guess) + bounds.ub
    low = [-np.inf if low is None else low for low, _ in bounds]
    high = [np.inf if high is None else high for _, high in bounds]
    return np.array(low) * 1.0, np.array(high) * 1.0


def minimum_only(x, full_output):
    if full_output:
        raise NotImplementedError("full_output=True isn't supported: use scipy.optimize.minimize")
    return x


@definition(optimize.fmin)
def fmin(
    func, x0, args=(), xtol=0.0001, ftol=0.0001, maxiter=None, maxfun=None, full_output=0, disp=1,
    retall=0, callback=None, initial_simplex=None,
):  # fmt: skip
    x = minimum(lambda x: func(x, *as_tuple(args)), vector(x0), "Nelder-Mead")
    return minimum_only(x, full_output or retall)


@definition(optimize.fmin_powell)
def fmin_powell(
    func, x0, args=(), xtol=0.0001, ftol=0.0001, maxiter=None, maxfun=None, full_output=0, disp=1,
    retall=0, callback=None, direc=None,
):  # fmt: skip
    x = minimum(lambda x: func(x, *as_tuple(args)), vector(x0), "Powell")
    return minimum_only(x, full_output or retall)


@definition(optimize.fmin_cg)
def fmin_cg(
    f, x0, fprime=None, args=(), gtol=1e-05, norm=np.inf, epsilon=1.5e-8, maxiter=None,
    full_output=0, disp=1, retall=0, callback=None, c1=0.0001, c2=0.4,
):  # fmt: skip
    x = minimum(lambda x: f(x, *as_tuple(args)), vector(x0), "CG")
    return minimum_only(x, full_output or retall)


@definition(optimize.fmin_bfgs)
def fmin_bfgs(
    f, x0, fprime=None, args=(), gtol=1e-05, norm=np.inf, epsilon=1.5e-8, maxiter=None,
    full_output=0, disp=1, retall=0, callback=None, xrtol=0, c1=0.0001, c2=0.9, hess_inv0=None,
):  # fmt: skip
    x = minimum(lambda x: f(x, *as_tuple(args)), vector(x0), "BFGS")
    return minimum_only(x, full_output or retall)


@definition(optimize.fmin_l_bfgs_b)
def fmin_l_bfgs_b(
    func, x0, fprime=None, args=(), approx_grad=0, bounds=None, m=10, factr=10000000.0,
    pgtol=1e-05, epsilon=1e-08, maxfun=15000, maxiter=15000, callback=None, maxls=20,
):  # fmt: skip
    def function(x):
        value = func(x, *as_tuple(args))
        return value if approx_grad or fprime is not None else value[0]

    x = minimum(function, vector(x0), "L-BFGS-B", bounds)
    return x, function(x), {"grad": np.zeros_like(x), "task": "CONVERGENCE", "warnflag": 0}


@definition(optimize.fminbound)
def fminbound(func, x1, x2, args=(), xtol=1e-05, maxfun=500, full_output=0, disp=1):
    x = minimize_scalar(func, bounds=(x1, x2), args=args, method="bounded").x
    return minimum_only(x, full_output)


@definition(optimize.brent)
def brent(func, args=(), brack=None, tol=1.48e-08, full_output=0, maxiter=500):
    return minimum_only(minimize_scalar(func, brack, None, args, "brent").x, full_output)


@definition(optimize.golden)
def golden(func, args=(), brack=None, tol=1.5e-08, full_output=0, maxiter=5000):
    return minimum_only(minimize_scalar(func, brack, None, args, "golden").x, full_output)


@definition(optimize.minimize_scalar)
def minimize_scalar(
    fun, bracket=None, bounds=None, args=(), method=None, tol=None, *, options=None
):
    f, moving, held = close(lambda x: fun(x, *as_tuple(args)) * 1.0, 0.5)
    x = minimum_found(solve_minimum_scalar, f, 0.5, (bracket, bounds, method), (), moving, held)
    return OptimizeResult(x=x, fun=fun(x, *as_tuple(args)), success=True)


@definition(optimize.least_squares)
def least_squares(
    fun, x0, jac="2-point", bounds=None, method="trf", *, args=(), kwargs=None,
    ftol=1e-8, xtol=1e-8, gtol=1e-8, max_nfev=None, x_scale=1.0, loss="linear", verbose=0,
):  # fmt: skip
    if loss != "linear":
        raise NotImplementedError("least_squares is differentiated with loss='linear'")
    guess = np.atleast_1d(number_or_array(x0))
    named = {} if kwargs is None else kwargs
    x = fitted(lambda x: np.asarray(fun(x, *args, **named)), guess, method, bounds)
    residual = np.asarray(fun(x, *args, **named))
    return OptimizeResult(x=x, fun=residual, cost=0.5 * np.sum(residual**2), success=True, status=1)


def fitted(fun, guess, method, bounds=None):
    """The parameters whose residuals have the least sum of squares."""
    residuals, more, others = close(lambda x: fun(x) * 1.0, guess)
    f, moving, held = close(lambda x: 0.5 * np.sum(fun(x) ** 2), guess)
    options = (method, residuals, (*more, *others))
    bounds = within(bounds, guess)
    return minimum_found(solve_least_squares, f, guess, options, bounds, moving, held)


def within(bounds, guess):
    """Lower and upper bounds of a problem of least squares, given as a pair or as an object."""
    if bounds is None or isinstance(bounds, optimize.Bounds):
        return limits(bounds, guess)
    return tuple([np.zeros_like(guess) + np.asarray(bound) for bound in bounds])


@definition(optimize.leastsq)
def leastsq(
    func, x0, args=(), Dfun=None, full_output=False, col_deriv=False, ftol=1.49012e-08,
    xtol=1.49012e-08, gtol=0.0, maxfev=0, epsfcn=None, factor=100, diag=None,
):  # fmt: skip
    guess = vector(x0)
    x = fitted(lambda x: np.asarray(func(x, *as_tuple(args))), guess, "lm")
    return minimum_only(x, full_output), 1


@definition(optimize.curve_fit)
def curve_fit(
    f, xdata, ydata, p0=None, sigma=None, absolute_sigma=False, check_finite=True, bounds=None,
    method=None, jac=None, *, full_output=False, nan_policy=None, loss="linear", **options,
):  # fmt: skip
    """By SciPy's solvers to full precision, whatever the options say of theirs."""
    if full_output:
        raise NotImplementedError("curve_fit is differentiated without full_output=True")
    if nan_policy is not None or loss != "linear":
        raise NotImplementedError("curve_fit is differentiated with loss='linear', without nans")
    ydata = np.asarray(ydata)
    if isinstance(xdata, (list, tuple)):
        xdata = np.asarray(xdata)
    if p0 is None:
        n = parameter_count(f) - 1
        guess = np.ones(n) if bounds is None else guess_within(*within(bounds, np.ones(n)))
    else:
        n = len(p0) if np.ndim(p0) > 0 else 1
        guess = np.atleast_1d(number_or_array(p0))
    if sigma is not None:
        sigma = np.asarray(sigma) * 1.0
        if sigma.ndim == 2:
            sigma = np.linalg.cholesky(sigma)

    def residuals(p):
        misfit = f(xdata, *[p[i] for i in range(n)]) - ydata
        if sigma is None:
            return misfit
        return (
            linalg.solve_triangular(sigma, misfit, lower=True)
            if sigma.ndim == 2
            else misfit / sigma
        )

    if method is None:
        method = "lm" if bounds is None else "trf"
    p = fitted(residuals, guess, method, bounds)
    columns = [jvp(residuals, (p,), (np.eye(n)[i],))[1] for i in range(n)]
    jacobian = np.stack(columns, axis=1)
    covariance = np.linalg.inv(jacobian.T @ jacobian)
    if not absolute_sigma:
        if ydata.size > n:
            covariance = covariance * np.sum(residuals(p) ** 2) / (ydata.size - n)
        else:
            covariance = np.full((n, n), np.inf)
    return p, covariance


def guess_within(low, high):
    """Where SciPy begins between bounds. Called by generated code.

    >>> guess_within(np.array([0.0, 3.0, -np.inf]), np.array([1.0, np.inf, np.inf]))
    array([0.5, 4. , 1. ])
    """
    guess = np.ones_like(low)
    lower, upper = np.isfinite(low), np.isfinite(high)
    both = lower & upper
    guess[both] = 0.5 * (low[both] + high[both])
    guess[lower & ~upper] = low[lower & ~upper] + 1
    guess[upper & ~lower] = high[upper & ~lower] - 1
    return guess


zero(guess_within, note="a first guess, on which the solution doesn't depend")
zero(optimize.linear_sum_assignment, note="piecewise constant: the indices of an assignment")


@adjoint(optimize.nnls)
def nnls(A, b, *, maxiter=None, out, d_out):
    """Least squares of the columns whose unknowns aren't 0, as long as the same ones are."""
    x, distance = out
    d_x, d_distance = d_out
    free = x > 0
    columns = A * free
    normal = columns.T @ columns + np.diag(1.0 - free)
    moved = np.linalg.solve(normal, d_x * free)
    rest = b - A @ x
    unit = d_distance * rest / (distance + (distance == 0))
    along = A @ moved + unit
    return np.outer(rest, moved) - np.outer(along, x), along


refuse(
    *(optimize.linprog, optimize.milp, optimize.lsq_linear),
    *(optimize.isotonic_regression,),
    reason="its solution lies on constraints, whose active set its rule would need",
)
refuse(
    *(optimize.differential_evolution, optimize.basinhopping, optimize.brute, optimize.shgo),
    *(optimize.dual_annealing, optimize.direct, optimize.fmin_ncg, optimize.fmin_slsqp),
    *(optimize.fmin_tnc, optimize.fmin_cobyla, optimize.bracket),
    reason="use scipy.optimize.minimize, minimize_scalar or least_squares, which have derivatives",
)
refuse(
    *(optimize.anderson, optimize.broyden1, optimize.broyden2, optimize.diagbroyden),
    *(optimize.excitingmixing, optimize.linearmixing, optimize.newton_krylov),
    optimize.quadratic_assignment,
    reason="use scipy.optimize.root, which has a derivative",
)
refuse(
    optimize.line_search,
    *(optimize.approx_fprime, optimize.check_grad, optimize.rosen_hess, optimize.rosen_hess_prod),
    reason="use srcgrad.grad or srcgrad.hessian",
)
