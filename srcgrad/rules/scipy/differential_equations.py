"""Differential equations: the derivatives of what the solver computes (the discrete adjoint).

SciPy's solver chooses the steps. They are taken again, with its Runge-Kutta formulas, and these are
what is differentiated; by the sizes of the steps, which only serve the accuracy, there is no
derivative. So the gradient is that of the computed solution: it fits it to rounding, and needs no
solution backwards in time, which may be unstable. It holds what the steps computed in memory.
That of a solution whose slopes jump, at a place that moves with a parameter or with the solution,
isn't that of the steps, and is refused.

The formulas are those of Dormand and Prince (RK45, DOP853) and Bogacki and Shampine (RK23), with
SciPy's interpolants between the steps: E. Hairer, S. P. Norsett, G. Wanner, "Solving Ordinary
Differential Equations I", sections II.4 to II.6. For stiff problems (Radau, BDF) the steps are
those of Radau IIA of order 5, three implicit stages ("... II", section IV.8), each a root found by
`scipy.optimize`, with its derivative. LSODA, which is odeint's, and the integrators of `ode` are
replaced by DOP853.
"""

from __future__ import annotations

import numpy as np
from scipy import integrate

from ...custom import Outside, close, jumps
from ..registry import definition, passes_for, refuse
from .optimize import find_system, solve_root
from .results import OptimizeResult

RK23, RK45, DOP853 = integrate.RK23, integrate.RK45, integrate.DOP853
MOST_STEPS = 20_000
RADAU_C = np.array([(4 - 6**0.5) / 10, (4 + 6**0.5) / 10, 1.0])
# The integrals of the stages' Lagrange polynomials: a row of coefficients of x, x**2, x**3 each.
RADAU_P = np.linalg.inv(np.vander(RADAU_C, increasing=True)).T / np.arange(1, 4)
RADAU_A = (RADAU_P @ RADAU_C ** np.arange(1, 4)[:, None]).T


# The steps


def run_steps(f, t0, t1, y0, options, moving, held):
    """The times between which the solver steps."""
    method, rtol, atol, first_step, max_step, instead = options
    outer = (*moving, *held)
    solver = getattr(integrate, method)(
        lambda t, y: f(t, y, *outer), t0, y0, t1, rtol=rtol, atol=atol,
        first_step=first_step, max_step=max_step,
    )  # fmt: skip
    times = [t0]
    while solver.status == "running":
        message = solver.step()
        times.append(solver.t)
        if solver.status == "failed":
            raise RuntimeError(f"the differential equation can't be solved: {message}")
        if instead and len(times) > MOST_STEPS:
            raise RuntimeError(
                f"the differential equation takes {method} more than {MOST_STEPS} steps: it seems "
                "to be stiff, for which there is scipy.integrate.solve_ivp(..., method='Radau')"
            )
    if len(times) < 2 or t0 == t1:
        raise ValueError("a differential equation is solved over a span of time: its ends differ")
    return np.array(times)


def some_times(f, t0, t1, y0, options, moving, held):
    return t0 + np.flatnonzero(y0)  # of any length


def d_steps(f, t0, t1, y0, options, moving, held, *, out, d_out):
    """By nothing is there a derivative; by what a jump of the slopes moves with it isn't known."""
    _, by_solution, *others = jumps(f, 2)
    others = [by_solution if by_solution is not None else other for other in others]
    d_moving = tuple(others[: len(moving)])
    return None, by_solution, None, by_solution, None, d_moving, None


steps_taken = Outside(run_steps, some_times, d_steps)


def stages(f, t, h, y, slope, A, B, C, outer):
    """The slopes within a step, the last one at its end, and the solution there.

    `slope` is that at the beginning.
    """
    count = len(B)
    K = np.zeros((count + 1, len(y)), y.dtype)
    K[0] = slope
    for j in range(1, count):
        K[j] = f(t + C[j] * h, y + h * (A[j, :j] @ K[:j]), *outer)
    end = y + h * (B @ K[:count])
    K[count] = f(t + h, end, *outer)
    return K, end


def interpolated(f, method, t, h, y, K, end, x, outer):
    """The solution at the fractions x of a step, in columns."""
    if method == "DOP853":
        return dop853_interpolated(f, t, h, y, K, end, x, outer)
    P = RK45.P if method == "RK45" else RK23.P
    powers = x ** np.arange(1, P.shape[1] + 1)[:, None]
    return y[:, None] + h * (K.T @ (P @ powers))


def dop853_interpolated(f, t, h, y, K, end, x, outer):
    count = len(K)
    more = np.zeros((count + 3, len(y)), y.dtype)
    more[:count] = K
    for j in range(3):
        a = DOP853.A_EXTRA[j]
        between = y + h * (a[: count + j] @ more[: count + j])
        more[count + j] = f(t + DOP853.C_EXTRA[j] * h, between, *outer)
    change = end - y
    first = h * K[0] - change
    second = 2 * change - h * (K[-1] + K[0])
    rest = h * (DOP853.D @ more)
    left, right = x, 1 - x
    total = rest[3][:, None] * left
    total = (total + rest[2][:, None]) * right
    total = (total + rest[1][:, None]) * left
    total = (total + rest[0][:, None]) * right
    total = (total + second[:, None]) * left
    total = (total + first[:, None]) * right
    return y[:, None] + (total + change[:, None]) * left


def stepped(f, times, t0, t1, y0, t_eval, method, moving, held):
    """The solution at `t_eval`, in columns; at the ends of all steps if that is None."""
    outer = (*moving, *held)
    solver = DOP853 if method == "DOP853" else RK45 if method == "RK45" else RK23
    A, B, C = solver.A, solver.B, solver.C
    count = len(times) - 1
    starts = t0 + (times[:-1] - times[0])
    sizes = np.append(np.diff(times)[:-1], t1 - starts[-1])
    y = y0
    slope = f(t0, y, *outer)
    if t_eval is None:
        found = np.zeros((len(y), count + 1), y.dtype)
        found[:, 0] = y
    else:
        sign = np.sign(times[-1] - times[0])
        upto = np.searchsorted(sign * t_eval, sign * times, "right")
        upto[0] = 0
        found = np.zeros((len(y), len(t_eval)), y.dtype)
    for i in range(count):
        t, h = starts[i], sizes[i]
        K, end = stages(f, t, h, y, slope, A, B, C, outer)
        if t_eval is None:
            found[:, i + 1] = end
        elif upto[i] < upto[i + 1]:
            x = (t_eval[upto[i] : upto[i + 1]] - t) / h
            found[:, upto[i] : upto[i + 1]] = interpolated(f, method, t, h, y, K, end, x, outer)
        y = end
        slope = K[-1]
    return found, np.append(starts, t1)


def stepped_implicitly(f, times, t0, t1, y0, t_eval, moving, held):
    """Like `stepped`, for stiff problems."""
    outer = (*moving, *held)
    count, n = len(times) - 1, len(y0)
    starts = t0 + (times[:-1] - times[0])
    sizes = np.append(np.diff(times)[:-1], t1 - starts[-1])
    y = y0
    if t_eval is None:
        found = np.zeros((n, count + 1))
        found[:, 0] = y
    else:
        sign = np.sign(times[-1] - times[0])
        upto = np.searchsorted(sign * t_eval, sign * times, "right")
        upto[0] = 0
        found = np.zeros((n, len(t_eval)))
    for i in range(count):
        t, h = starts[i], sizes[i]
        changes = radau_stages(f, t, h, y, outer)
        if t_eval is None:
            found[:, i + 1] = y + changes[2]
        elif upto[i] < upto[i + 1]:
            x = (t_eval[upto[i] : upto[i + 1]] - t) / h
            slopes = np.linalg.solve(RADAU_A, changes)
            within = slopes.T @ (RADAU_P @ x ** np.arange(1, 4)[:, None])
            found[:, upto[i] : upto[i + 1]] = y[:, None] + within
        y = y + changes[2]
    return found, np.append(starts, t1)


def radau_stages(f, t, h, y, outer):
    """How far the solution moves from the start of a step to each of its stages."""

    def residual(z):
        changes = np.reshape(z, (3, len(y)))
        slopes = [f(t + RADAU_C[j] * h, y + changes[j], *outer) for j in range(3)]
        return np.ravel(changes - h * (RADAU_A @ np.stack(slopes)))

    guess = np.zeros(3 * len(y))
    return np.reshape(find_system(solve_root, residual, guess, (), "hybr", 1e-13), (3, len(y)))


@definition(integrate.solve_ivp)
def solve_ivp(
    fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None, vectorized=False,
    args=None, *, rtol=1e-3, atol=1e-6, first_step=None, max_step=np.inf, min_step=0.0, jac=None,
):  # fmt: skip
    if events is not None:
        raise NotImplementedError(
            "solve_ivp is differentiated without events: find the time of one by "
            "scipy.optimize.brentq of the solution with dense_output=True, and solve up to it"
        )
    if method not in ("RK23", "RK45", "DOP853", "LSODA", "Radau", "BDF"):
        raise NotImplementedError("solve_ivp is differentiated with SciPy's own methods")
    t0, t1 = t_span
    t0, t1 = float(t0), float(t1)
    start = np.asarray(y0) * 1.0

    def right_hand_side(t, y):
        slopes = fun(t, y) if args is None else fun(t, y, *args)
        return np.asarray(slopes) * np.ones(len(y))

    f, moving, held = close(right_hand_side, 0.5, start)
    explicit = "DOP853" if method == "LSODA" else method
    options = (explicit, rtol, atol, first_step, max_step, method == "LSODA")
    times = steps_taken(f, t0, t1, start, options, moving, held)
    if method in ("Radau", "BDF") and start.dtype.kind == "c":
        raise NotImplementedError("complex solutions are differentiated with method='DOP853'")

    def solution(at):
        if method in ("Radau", "BDF"):
            return stepped_implicitly(f, times, t0, t1, start, at, moving, held)
        return stepped(f, times, t0, t1, start, at, explicit, moving, held)

    def dense(t):
        asked = np.atleast_1d(t) * 1.0
        order = np.argsort(asked if t0 < t1 else -asked)
        check_times(asked[order], t0, t1)
        y = solution(asked[order])[0][:, np.argsort(order)]
        return y[:, 0] if np.ndim(t) == 0 else y

    at = None if t_eval is None else np.asarray(t_eval) * 1.0
    if at is not None:
        check_times(at, t0, t1)
    y, t = solution(at)
    return OptimizeResult(
        t=t if t_eval is None else at, y=y, success=True, status=0,
        sol=dense if dense_output else None,
        message="The solver successfully reached the end of the integration interval.",
    )  # fmt: skip


def check_times(t, t0, t1):
    forward = t if t0 < t1 else -t
    low, high = (t0, t1) if t0 < t1 else (-t0, -t1)
    if np.any(np.diff(forward) < 0) or np.any((forward < low) | (forward > high)):
        raise ValueError("the times must be within t_span, and those of t_eval in its order")


@definition(integrate.odeint)
def odeint(
    func, y0, t, args=(), Dfun=None, col_deriv=0, full_output=0, ml=None, mu=None, rtol=None,
    atol=None, *, tcrit=None, h0=0.0, hmax=0.0, hmin=0.0, ixpr=0, mxstep=0, mxhnil=0, mxordn=12,
    mxords=5, printmessg=0, tfirst=False,
):  # fmt: skip
    if full_output:
        raise NotImplementedError("odeint is differentiated without full_output")

    def slope(t, y):
        rest = args if isinstance(args, tuple) else (args,)
        return func(t, y, *rest) if tfirst else func(y, t, *rest)

    t = np.asarray(t) * 1.0
    relative = 1e-9 if rtol is None else 0.1 * rtol
    absolute = 1e-9 if atol is None else 0.1 * atol
    start = np.atleast_1d(y0)
    return solve_ivp(slope, (t[0], t[-1]), start, "LSODA", t, rtol=relative, atol=absolute).y.T


@passes_for(integrate.ode)
class Solver:
    """`scipy.integrate.ode`: a solution that is followed from one time asked for to the next."""

    def __init__(self, f, jac=None):
        self.f, self.jac, self.f_params, self.jac_params = f, jac, (), ()
        self.t, self.y, self.stiff = 0.0, np.zeros(0), 0
        self.method, self.rtol, self.atol, self.max_step = "LSODA", 1e-6, 1e-12, 0.0

    def set_integrator(self, name, **integrator_params):
        known = [n for n in ("vode", "dopri5", "dop853", "lsoda") if n.startswith(name.lower())]
        if not known:
            raise NotImplementedError("ode is differentiated with vode, lsoda, dopri5 and dop853")
        given = integrator_params.get
        self.method = "BDF" if given("method", "adams").lower() == "bdf" else "LSODA"
        self.rtol, self.atol = given("rtol", 1e-6), given("atol", 1e-12)
        self.max_step = given("max_step", 0.0)
        return self

    def set_initial_value(self, y, t=0.0):
        self.y, self.t = np.atleast_1d(np.asarray(y, float)), t
        return self

    def set_f_params(self, *args):
        self.f_params = args
        return self

    def set_jac_params(self, *args):
        self.jac_params = args
        return self

    def set_solout(self, solout):
        raise NotImplementedError("ode is differentiated without solout")

    def successful(self):
        return True  # what fails raises

    def integrate(self, t, step=False, relax=False):
        if step or relax:
            raise NotImplementedError("ode is differentiated without step and relax")
        if t != self.t:
            found = solve_ivp(
                self.f, (self.t, t), self.y, self.method, args=self.f_params,
                rtol=0.1 * self.rtol, atol=0.1 * self.atol, max_step=self.max_step or np.inf,
            )  # fmt: skip
            self.y = found.y[:, -1]
        self.t = t
        return self.y


definition(integrate.ode)(lambda f, jac=None: Solver(f, jac))
refuse(
    integrate.complex_ode,
    reason="use scipy.integrate.solve_ivp, which takes complex numbers",
)
refuse(
    integrate.solve_bvp,
    reason="it has no rule; solve the discretised equations with scipy.optimize.root",
)
