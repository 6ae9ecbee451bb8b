"""Functions of SciPy that call a function: integrals, solvers, minimizers.

What they call may be defined in the differentiated code and capture its variables. Gradients are
compared with finite differences, forward mode with reverse mode, and second derivatives with
differences of gradients.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

pytest.importorskip("scipy")

from scipy import integrate, interpolate, optimize, special, stats

R = np.random.default_rng(0)
WEIGHTS = R.normal(size=3)
INPUTS = R.normal(size=(20, 2))
TARGETS = INPUTS @ np.array([1.0, -2.0]) + 0.1 * R.normal(size=20)
TIMES = np.linspace(0.0, 1.0, 9)
DATA = 2 * np.exp(-1.3 * TIMES) + 0.05 * np.sin(9 * TIMES)

PROGRAMS: dict[str, tuple[Any, Any, float]] = {}


def program(x: Any, tolerance: float = 1e-6) -> Any:
    """Register a program with the argument at which it is checked."""

    def register(function: Any) -> Any:
        PROGRAMS[function.__name__] = (function, x, tolerance)
        return function

    return register


def bell(x, mu, width):
    return np.exp(-0.5 * ((x - mu) / width) ** 2)


@program(0.7)
def integral_of_a_closure(k):
    return integrate.quad(lambda x: np.exp(-k * x * x), 0.0, 2.0 * k)[0]


@program(0.7)
def integral_from_infinity_with_arguments(k):
    return integrate.quad(bell, -np.inf, k, args=(k * k, 1.0 + k))[0]


@program(np.array([0.7, 0.6]))
def integral_of_an_array(p):
    def integrand(t):
        return np.array([t * p[0], t ** p[0], np.exp(-p[1] * t)])

    value, _ = integrate.quad_vec(integrand, 0.1, 2 * p[1], epsrel=1e-10)
    scaled = integrate.quad_vec(lambda t, k: np.sin(t * k * WEIGHTS), 0, 1, args=(p[1],))[0]
    return np.sum(value**2) + np.sum(scaled**2)


@program(0.7)
def integral_of_a_number_by_quad_vec(k):
    return integrate.quad_vec(lambda t: np.exp(-k * t * t), -np.inf, np.inf)[0]


@program(WEIGHTS)
def integral_that_captures_an_array(w):
    def integrand(x):
        return np.sum(w * np.sin(w * x)) * math.exp(-x)

    value, _ = integrate.quad(integrand, w[0], 3, limit=100)
    return value**2


@program(0.3)
def integral_with_a_singular_end(k):
    return integrate.quad(lambda x, a: a / math.sqrt(x), 0, 1, (k,))[0]


@program(0.3)
def integral_whose_derivative_is_singular(k):
    return integrate.quad(lambda x: x**k, 0, 1)[0]


@program(np.array([0.3, 1.2]))
def integral_by_several_whose_derivatives_are_singular(p):
    return integrate.quad(lambda x: x ** p[0] * np.cos(p[1] * x), 0, 1)[0]


@program(np.linspace(0.2, 1.1, 23))
def integral_by_many(p):
    return integrate.quad(lambda x: np.sum(np.exp(-p * x)), 0, np.inf)[0]


@program(0.4)
def integral_over_a_region(k):
    return integrate.dblquad(lambda y, x: np.exp(-k * x * y), 0, 1, 0, lambda x: 1 + k * x)[0]


@program(0.9)
def integrals_in_a_loop(k):
    total = 0.0
    for i in range(3):
        total += integrate.quad(lambda x: np.cos(i * k * x), 0, k)[0]  # noqa: B023
    return total


@program(0.9)
def integral_of_a_function_of_numpy(k):
    return integrate.quad(np.sin, 0, k)[0]


@program(0.6)
def integral_of_a_special_function(k):
    return integrate.quad(lambda x: special.jv(2, x * k), 0, 4.5)[0]


def cubic(x, a, b):
    return x**3 + a * x - b


def circle_and_line(v, a):
    x, y = v
    return [x * x + a * y - 3, y + x * a - 1.0]


@program(2.0)
def root_of_a_closure(k):
    return optimize.brentq(lambda x: x * x - k, 0.0, k + 1)


@program(1.3)
def bracketed_roots(a):
    total = optimize.bisect(cubic, 0, 5, args=(a, 3.0)) + optimize.ridder(cubic, 0, 5, (a, 3.0))
    return total + optimize.toms748(cubic, 0, 5, args=(a, 3.0)) * optimize.brenth(
        lambda x: cubic(x, a, 3.0), 0, 5
    )


@program(1.3)
def newton_with_a_slope(a):
    return optimize.newton(lambda x: cubic(x, a, 3.0), 1.0, fprime=lambda x: 3 * x * x + a)


@program(1.3)
def roots_by_lists_of_arguments(a):
    first, *rest = (1.0, a, 3.0)
    fixed = optimize.fixed_point(lambda x, a, b: np.cos(a * x) / b, 0.3, args=rest)
    return optimize.newton(cubic, first, args=rest) * fixed


@program(1.3)
def roots_with_what_is_said_of_them(a):
    x, found = optimize.newton(lambda x: cubic(x, a, 3.0), 1.0, full_output=True)
    assert found.converged
    return x * optimize.brentq(cubic, 0, 5, args=(a, 3.0), full_output=True)[1].root


@program(1.3, 1e-3)
def minimum_from_a_guess_of_unknown_rank(a):
    """The rule of `minimize` has branches, in which second derivatives are made."""
    guess = np.sum(np.roots([1.0, -a, 0.2]))
    return optimize.minimize(lambda x: (a * x - 2.0) ** 2 + x**2, guess).x[0]


@program(R.uniform(1, 2, 3))
def newton_of_many(a):
    return np.sum(optimize.newton(lambda x: x**3 - a * x - 1, np.full(3, 2.0)) ** 2)


@program(1.3)
def root_of_lists(a):
    solution = optimize.root(circle_and_line, [1.0, 0.5], args=(a,))
    return (
        np.sum(solution.x * np.array([1.0, 2.0]))
        + optimize.fsolve(lambda v: circle_and_line(v, a), [1.0, 0.5])[0]
    )


@program(1.3)
def scalar_roots(a):
    bracketed = optimize.root_scalar(lambda x: x**3 - a, bracket=[0, 3], method="brentq").root
    return bracketed * optimize.root_scalar(lambda x: x**3 - a, x0=1.0, x1=1.1).root


@program(1.3)
def fixed_points(a):
    return optimize.fixed_point(lambda x: np.cos(a * x) / 2, 0.3)


@program(0.7, 1e-3)
def hyperparameter(penalty):
    def loss(w):
        return np.mean((INPUTS @ w - TARGETS) ** 2) + penalty * np.sum(w**2)

    w = optimize.minimize(loss, np.zeros(2)).x
    return np.sum((w - 1) ** 2)


@program(0.7, 1e-4)
def minimum_with_its_gradient(a):
    def f(x):
        return np.sum((x - a) ** 2) + np.sum(x**4), 2 * (x - a) + 4 * x**3

    found = optimize.minimize(f, np.array([0.5, 0.2]), jac=True, method="L-BFGS-B")
    return np.sum(found.x) * found.fun


@program(0.7, 1e-5)
def scalar_minima(a):
    free = optimize.minimize_scalar(lambda x: (x - a) ** 2 + 0.5 * x**4).x
    bounds = (0, 1)
    return free * optimize.minimize_scalar(
        lambda x: (x - a) ** 2 + x**4, bounds=bounds, method="bounded", options={"xatol": 1e-11}
    ).x  # fmt: skip


@program(DATA, 1e-4)
def least_squares(d):
    found = optimize.least_squares(lambda p: p[0] * np.exp(-p[1] * TIMES) - d, np.array([1.0, 1.0]))
    return found.x @ np.array([1.0, 2.0]) + found.cost


def within(a, bounds):
    """The minimum of a function of three numbers that depend on each other."""
    found = optimize.minimize(
        lambda x: np.sum((x - a) ** 2) + x[0] * x[1] + 0.5 * x[1] * x[2], np.full(3, 0.1),
        bounds=bounds, tol=1e-13,
    )  # fmt: skip
    return found.x @ np.array([1.0, 2.0, 3.0]) + found.fun


A = np.array([1.7, 0.4, -0.5])


@program(A, 1e-4)
def minimum_at_bounds(a):
    return within(a, [(0, 1), (None, None), (-0.2, None)])


@program(A, 1e-4)
def minimum_between_bounds(a):
    return within(a, optimize.Bounds(-5.0, 5.0))


@program(np.array([0.5, 0.2]), 1e-3)
def minimum_that_follows_its_bounds(a):
    return within(A, [(0, a[0]), (-1, a[1]), (-0.2 * a[1], 1)])


@program(DATA, 1e-4)
def least_squares_at_a_bound(d):
    found = optimize.least_squares(
        lambda p: p[0] * np.exp(-p[1] * TIMES) - d, [0.5, 0.5], bounds=([0, 0], [3.0, 0.9])
    )
    return found.x @ np.array([1.0, 2.0])


@program(np.array([0.7, -0.4]), 1e-3)
def older_minimizers(a):
    def f(x, k=1.0):
        return np.sum((x - a) ** 4 + k * (x - a) ** 2) + x[0]

    total = optimize.fmin_bfgs(f, np.zeros(2), args=(2.0,), gtol=1e-9, disp=False)
    total = total + optimize.fmin_cg(f, np.zeros(2), gtol=1e-9, disp=False)
    total = total + optimize.fmin(f, np.zeros(2), xtol=1e-10, ftol=1e-12, disp=False)
    x, value, _ = optimize.fmin_l_bfgs_b(f, np.zeros(2), approx_grad=True, bounds=[(0, 1), (-2, 0)])
    return np.sum(total * np.array([1.0, 2.0])) + x[1] * value


@program(np.array([0.7, -0.4]), 1e-3)
def older_minimizers_of_one_number(a):
    bounded = optimize.fminbound(lambda x: (x - a[0]) ** 2 + x**4, -2, 2, xtol=1e-11)
    return bounded * a[1] + optimize.brent(lambda x: (x - a[1]) ** 2 + x**4, tol=1e-11)


@program(DATA, 1e-4)
def older_least_squares(d):
    found, _ = optimize.leastsq(lambda p: p[0] * np.exp(-p[1] * TIMES) - d, [1.0, 1.0])
    return found[0] * found[1]


@program(np.array([[0.7, -0.4], [0.3, 0.9]]), 1e-4)
def guesses_of_matrices(a):
    """What is older than `minimize` passes its function a vector, whatever the guess."""

    def residuals(x):
        return x + 0.1 * x**3 - a.ravel()

    def f(x):
        return np.sum(residuals(x) ** 2)

    guess = np.zeros((2, 2))
    found = [
        optimize.fmin_l_bfgs_b(f, guess, approx_grad=True, bounds=[(-2, 2)] * 4, factr=1.0)[0],
        optimize.fmin_bfgs(f, guess, gtol=1e-9, disp=False),
        optimize.fmin_cg(f, guess, gtol=1e-9, disp=False),
        optimize.fmin(f, guess, xtol=1e-10, ftol=1e-12, disp=False),
        optimize.fmin_powell(f, guess, xtol=1e-10, ftol=1e-12, disp=False),
        optimize.fsolve(residuals, guess),
        optimize.root(residuals, guess).x,
        optimize.root(residuals, guess, method="lm").x,
        optimize.leastsq(residuals, guess)[0],
    ]
    return sum([np.sum(x * np.arange(4.0 * i, 4.0 * i + 4)) for i, x in enumerate(found)])


def decay(t, a, b):
    return a * np.exp(-b * t)


@program(DATA, 1e-4)
def fitted_curve(d):
    found, covariance = optimize.curve_fit(decay, TIMES, d, p0=[1.0, 1.0])
    again, _ = optimize.curve_fit(lambda t, a, b: decay(t, a, b), TIMES, d)
    bounded, _ = optimize.curve_fit(decay, TIMES, d, p0=[1.0, 1.0], bounds=(0, [3.0, 5.0]))
    return (
        again[0] * bounded[1]
        + found @ np.array([1.0, 2.0])
        + 10 * np.sum(np.sqrt(np.diag(covariance)))
    )


ACCURATE = {"rtol": 1e-10, "atol": 1e-10}
POINTS = np.linspace(0.0, 2.0, 7)


@program(0.6)
def dense_output(k):
    options = {"rtol": 1e-9, "atol": 1e-9, "dense_output": True}
    found = integrate.solve_ivp(lambda t, y: -k * y * y, (0.0, 2.0), [1.0, 2.0], **options)
    back = integrate.solve_ivp(lambda t, y: -k * y, (2.0, 0.0), [1.0], method="Radau", **options)
    times = np.array([1.7, 0.2, k])
    return np.sum(found.sol(times) ** 2) + found.sol(0.4)[1] + np.sum(back.sol(times))


@program(1.3)
def time_of_an_event(k):
    found = integrate.solve_ivp(
        lambda t, y: -k * y, (0.0, 2.0), [1.0], dense_output=True, rtol=1e-9, atol=1e-9
    )
    return optimize.brentq(lambda t: found.sol(t)[0] - 0.5, 0.0, 2.0)


@program(0.7)
def decay_at_the_end(k):
    found = integrate.solve_ivp(lambda t, y: -k * y, (0, 2), [1.0, 2.0], rtol=1e-10, atol=1e-10)
    return np.sum(found.y[:, -1] ** 2) * found.t[-1]


@program(R.uniform(0.5, 1, 4))
def predator_and_prey(p):
    def rhs(t, y):
        a, b, c, d = p
        return [a * y[0] - b * y[0] * y[1], -c * y[1] + d * y[0] * y[1]]

    found = integrate.solve_ivp(rhs, (0.0, 2.0), np.array([1.0, 0.5]), t_eval=POINTS, **ACCURATE)
    return np.sum(np.sin(found.y))


@program(R.normal(size=3))
def initial_values(y0):
    m = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.3], [0.0, -0.2, -0.1]])
    found = integrate.solve_ivp(
        lambda t, y, s: m @ np.tanh(y) * s, (0, 2), y0, "DOP853", POINTS, args=(0.7,), **ACCURATE
    )
    return np.sum(found.y**2 * np.arange(1, 8))


@program(np.linspace(0.1, 1.9, 4))
def times_of_evaluation(t):
    found = integrate.solve_ivp(
        lambda t, y: np.array([y[1], -y[0] * t]), (0, 2), [1.0, 0.0], method="DOP853", t_eval=t,
        rtol=1e-12, atol=1e-12,
    )  # fmt: skip
    return np.sum(found.y**3)


@program(1.3)
def ends_of_the_span(end):
    return integrate.solve_ivp(
        lambda t, y: -y * t, (0.1 * end, end), [1.0], method="RK23", rtol=1e-8, atol=1e-8
    ).y[0, -1]


@program(0.25)
def backwards_in_time(k):
    return integrate.solve_ivp(
        lambda t, y: -k * y * t, (2, 0), [1.0], t_eval=[1.5, 0.3], **ACCURATE
    ).y[0, 1]


def pendulum(y, t, b, c):
    angle, speed = y
    return [speed, -b * speed - c * np.sin(angle)]


@program(0.25)
def pendulum_by_odeint(b):
    found = integrate.odeint(pendulum, [np.pi - 0.1, 0.0], np.linspace(0, 5, 11), args=(b, 5.0))
    return np.sum(found[:, 0] ** 2)


class InitialValues:
    """As in courses on growth: the solver of a model, which is asked step by step."""

    def __init__(self, slope, jacobian, args=None):
        self.args, self.ode = args, integrate.ode(slope, jacobian)

    def trajectory(self, t0, y0, h, end=None, enough=None, **options):
        self.ode.set_integrator("dopri5", **options)
        if self.args != None:  # noqa: E711
            self.ode.set_f_params(*self.args)
            self.ode.set_jac_params(*self.args)
        self.ode.set_initial_value(y0, t0)
        solution = np.hstack((t0, y0))
        while self.ode.successful():
            self.ode.integrate(self.ode.t + h)
            solution = np.vstack((solution, np.hstack((self.ode.t, self.ode.y))))
            if enough != None and enough(self.ode.t, self.ode.y, *self.args) < 0.1:  # noqa: E711
                break
            elif end != None and h > 0 and self.ode.t >= end:  # noqa: E711
                break
        return solution

    def between(self, found, times, k=3):
        rows = [found[:, i] for i in range(1, found.shape[1])]
        curve, _ = interpolate.splprep(rows, u=found[:, 0], k=k, s=0)
        return np.hstack((times[:, np.newaxis], np.array(interpolate.splev(times, curve)).T))


def capital(t, k, params):
    return params["saved"] * k ** params["share"] - params["lost"] * k


@program(np.array([0.3, 0.2, 1.1]))
def growth_by_ode(p):
    params = {"share": p[0], "saved": p[1], "lost": 0.1}
    model = InitialValues(capital, lambda t, k, params: 0.0, (params,))
    one = model.trajectory(0.0, p[2], 0.5, 3, rtol=1e-11, atol=1e-12)
    other = model.trajectory(0.0, p[2] * 1.1, 0.5, 3, rtol=1e-11, atol=1e-12)
    apart = np.sum(np.abs(one[:, 1:] - other[:, 1:]) ** 2) ** 0.5
    return apart + np.sum(model.between(one, np.linspace(0, 3, 5)) ** 2)


@program(0.6, 1e-3)
def pendulum_by_ode(angle):
    solver = integrate.ode(lambda t, y: [y[1], -np.sin(y[0])])
    solver.set_integrator("vode", method="bdf", rtol=1e-8, atol=1e-8)
    solver.set_initial_value([angle, 0.5], 0.0)
    found = [solver.integrate(t) for t in (0.3, 0.6)]
    again = solver.integrate(0.6)
    assert isinstance(solver, integrate.ode)
    return np.sum(np.array(found) ** 2) + again[0] * solver.y[1] + solver.t


@program(np.linspace(0.1, 0.9, 7) ** 1.3)
def curve_through_points(x):
    curve, u = interpolate.splprep([x, np.sin(3 * x)], s=0)
    line, _ = interpolate.splprep(np.stack([x, x**2, 1 / (1 + x)]), u=np.arange(7.0), s=0.0, k=1)
    slopes = np.array(interpolate.splev(np.linspace(0, 1, 4), curve, der=1))
    a, b, c = interpolate.splev(np.array([0.3, 2.2, 5.9]), line)
    return 0.01 * np.sum(slopes**2) + np.sum(u**2) + np.sum(a * b - c)


@program(0.25)
def one_number_by_odeint(k):
    return integrate.odeint(lambda t, y: -k * y, 1.0, np.linspace(0, 3, 4), tfirst=True)[-1, 0]


@program(0.4, 1e-5)
def stiff_kinetics(k):
    def rhs(t, y):
        a, b, c = k * y[0], 1e2 * y[1] * y[2], 3e3 * y[1] ** 2
        return [-a + b, a - b - c, c]

    found = integrate.solve_ivp(
        rhs, (0, 3.0), [1.0, 0.0, 0.0], method="Radau", rtol=1e-7, atol=1e-9
    )
    return np.sum(found.y[:, -1] * np.array([1.0, 2.0, 3.0]))


@program(30.0, 1e-5)
def stiff_relaxation(k):
    found = integrate.solve_ivp(
        lambda t, y: -k * (y - np.cos(t)), (0, 2.0), [0.3], method="BDF", t_eval=POINTS, rtol=1e-6
    )
    return np.sum(found.y**2)


@program(0.6)
def root_of_an_integral(k):
    return optimize.brentq(
        lambda a: integrate.quad(lambda x: np.exp(-x * k), 0, a)[0] - 0.5, 0, 3
    )  # fmt: skip


@program(0.6)
def shooting(k):
    def miss(speed):
        found = integrate.solve_ivp(
            lambda t, y: [y[1], -k * y[0]], (0, 1), [0.0, speed], **ACCURATE
        )
        return found.y[0, -1] - 1

    return optimize.brentq(miss, 0.1, 5)


@program(0.6)
def complex_solution(k):
    found = integrate.solve_ivp(
        lambda t, y: 1j * k * y - 0.1 * y, (0, 1), [1.0 + 0j], t_eval=[0.5, 1.0], **ACCURATE
    )
    return np.sum(np.abs(found.y - 1) ** 2)


class Panel:
    """A part of a surface, as panel methods have them."""

    def __init__(self, start, end, height):
        self.start, self.length, self.height = start, end - start, height

    def influence(self, s):
        return s * self.height


def panels_of(x, count):
    """More than are taken apart: they become a table, each attribute a list."""
    panels = np.empty(count, dtype=object)
    for i in range(count):
        panels[i] = Panel(x * i, x * x * (i + 1), x + i)
    return panels


def influence_of(panel, other):
    def integrand(s):
        return 1.0 / (1.0 + (panel.start - other.start - s) ** 2 + panel.height * other.height)

    return integrate.quad(integrand, 0.0, other.length)[0]


@program(1.2)
def integrals_of_objects_in_a_table(x):
    panels = panels_of(x, 6)
    A = np.zeros((6, 6))
    for i, p in enumerate(panels):
        for j, q in enumerate(panels):
            if i != j:
                A[i, j] = influence_of(p, q)
    return np.sum(A * A)


def influence_of_halves(p, q):
    return integrate.quad(lambda s: p.start * s if s < 0.5 else q.height * s, 0.0, 1.0)[0]


@program(1.2)
def integrals_that_choose_an_object_of_a_table(x):
    total = 0.0
    for p in panels_of(x, 5):
        for q in panels_of(x, 5):
            total += influence_of_halves(p, q)
    return total


@program(1.2)
def integrals_of_methods_of_objects_in_a_table(x):
    return sum(integrate.quad(p.influence, 0.0, p.length)[0] for p in panels_of(x, 6))


def root_of(p, q):
    return optimize.brentq(lambda s: s**3 - p.height - q.length, 0.0, 100.0)


@program(1.2)
def roots_of_objects_in_a_table(x):
    panels = panels_of(x, 6)
    return sum(root_of(p, panels[0]) for p in panels)


def multiples(x, n):
    found = []
    for i in range(n):
        found.append(x * i)
    return found


def integral_of_items(items, i):
    return integrate.quad(lambda s: np.exp(-s * items[i]) * items[i - 1], 0.0, 1.0)[0]


@program(1.2)
def integrals_of_items_of_a_list(x):
    items, total = multiples(x, 7), 0.0
    for i in range(1, 7):
        total += integral_of_items(items, i)
    return total


@program(1.2)
def integral_of_a_sum_of_a_list(x):
    items = multiples(x, 7)
    return integrate.quad(lambda s: np.exp(-s * sum(items)), 0.0, 1.0)[0]


def minimum_near_an_item(items, i):
    return optimize.minimize(lambda u: np.sum((u - items[i]) ** 2), np.zeros(1)).x[0]


@program(1.2, 1e-3)  # what it finds is right to eight digits
def minimum_by_items_of_a_list(x):
    items, total = multiples(x, 7), 0.0
    for i in range(7):
        total += minimum_near_an_item(items, i) ** 2
    return total


@program(1.2)
def integral_of_a_list_that_does_not_depend_on_the_argument(x):
    coefficients = [float(i) for i in range(9)]
    coefficients.append(2.0)

    def polynomial(s):
        value = 0.0
        for c in coefficients:
            value = value * s + c * x
        return value

    return integrate.quad(polynomial, 0.0, 1.0)[0]


def integral_of_a_polynomial(x):
    items = multiples(x, 7)

    def polynomial(s):
        value = 0.0
        for c in items:
            value = value * s + c
        return value

    return integrate.quad(polynomial, 0.0, 1.0)[0]


def root_of_a_sum(x):
    items = multiples(x, 7)
    return optimize.brentq(lambda s: s**3 + sum(c * s for c in items) - 1.0, 0.0, 100.0)


def minimum_near_a_list(x):
    items = multiples(x, 7)
    sought = np.zeros(7)
    return np.sum(
        optimize.minimize(lambda u: sum((u[i] - items[i]) ** 2 for i in range(7)), sought).x
    )


@pytest.mark.parametrize("f", [integral_of_a_polynomial, root_of_a_sum, minimum_near_a_list])
def test_a_list_that_is_gone_through_with_the_variable_is_refused(f: Any) -> None:
    with pytest.raises(srcgrad.UnsupportedError, match="reads a list of numbers from outside"):
        srcgrad.grad(f)(1.2)
    with pytest.raises(srcgrad.UnsupportedError, match="reads a list of numbers from outside"):
        srcgrad.jvp(f, (1.2,), (1.0,))


def test_times_outside_of_the_span_raise() -> None:
    def program(k, t):
        return np.sum(integrate.solve_ivp(lambda t, y: -k * y, (0, 1), [1.0], t_eval=t).y)

    for times in (np.array([0.5, 1.5]), np.array([0.7, 0.5])):
        with pytest.raises(ValueError, match="within t_span"):
            srcgrad.grad(program)(0.5, times)


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853"])
def test_the_solution_is_that_of_scipy(method: str) -> None:
    def program(k):
        found = integrate.solve_ivp(lambda t, y: -k * y * t, (0, 2), [1.0], method=method)
        return found.y[0, -1] * found.t[-1]

    value, gradient = srcgrad.value_and_grad(program)(0.8)
    assert value == pytest.approx(program(0.8), rel=1e-13)
    assert gradient == pytest.approx((program(0.81) - program(0.79)) / 0.02, rel=0.05)


def test_an_unstable_backward_solution_does_no_harm() -> None:
    def program(k):
        return integrate.solve_ivp(lambda t, y: -k * (y - 1), (0, 10.0), [3.0], rtol=1e-8).y[0, -1]

    assert srcgrad.grad(program)(50.0) == pytest.approx(0.0, abs=1e-4)


def test_a_stiff_problem_for_odeint_raises() -> None:
    def program(k):
        return integrate.odeint(lambda y, t: -k * (y - np.cos(t)), 0.0, np.linspace(0, 10, 2))[1, 0]

    with pytest.raises(RuntimeError, match="seems to be stiff"):
        srcgrad.grad(program)(1e5)


def test_events_are_refused() -> None:
    def program(k):
        found = integrate.solve_ivp(
            lambda t, y: -k * y, (0, 2), [1.0], events=lambda t, y: y[0] - 0.5
        )
        return found.y[0, -1]

    with pytest.raises((srcgrad.UnsupportedError, NotImplementedError), match="events"):
        srcgrad.grad(program)(0.3)


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name: str) -> None:
    f, x, tolerance = PROGRAMS[name]
    gradient = srcgrad.grad(f)
    step = 1e-4
    direction = R.normal(size=np.shape(x)) if np.ndim(x) else 1.0

    def along(f: Any) -> Any:
        return (f(x + step * direction) - f(x - step * direction)) / (2 * step)

    def slope(x):
        return np.sum(srcgrad.grad(f)(x) * direction)

    found = np.sum(gradient(x) * direction)
    assert found == pytest.approx(along(f), rel=tolerance, abs=tolerance)
    value, pushed = srcgrad.jvp(f, (x,), (direction,))
    assert value == pytest.approx(f(x), rel=tolerance)
    assert pushed == pytest.approx(found, rel=1e-8)
    curvature = np.sum(srcgrad.grad(slope)(x) * direction)
    expected = along(lambda x: np.sum(gradient(x) * direction))
    assert curvature == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_a_solver_that_fails_raises() -> None:
    def program(a):
        return optimize.fsolve(lambda x: x * x + a, 1.0)[0]

    with pytest.raises(RuntimeError, match="not making good progress"):
        srcgrad.grad(program)(1.0)


def test_constraints_are_refused() -> None:
    def program(a):
        constraint = {"type": "ineq", "fun": lambda x: x[0]}
        return optimize.minimize(lambda x: np.sum((x - a) ** 2), [1.0], constraints=[constraint]).x

    with pytest.raises((srcgrad.UnsupportedError, NotImplementedError), match="constraints"):
        srcgrad.grad(lambda a: program(a)[0])(0.5)

    def at_a_bound(a):
        return optimize.minimize_scalar(lambda x: a * x, bounds=(1, 2), method="bounded").x

    with pytest.raises(RuntimeError, match="at a bound"):
        srcgrad.grad(at_a_bound)(0.5)


def test_what_writes_outside_is_refused() -> None:
    calls = np.zeros(1)

    def program(a):
        def f(x):
            calls[0] += 1.0
            return x * x - a

        return optimize.brentq(f, 0.0, 5.0)

    with pytest.raises(srcgrad.UnsupportedError):
        srcgrad.grad(program)(2.0)


# Jumps


def step_of_a_parameter(k):
    return integrate.quad(lambda x: 2.0 * k if x > k else k, 0, 1)[0]


def mask_of_a_parameter(k):
    return integrate.quad(lambda x: np.where(x * k > 0.5, x, 0.0), 0, 1)[0]


def mask_written(k):
    def integrand(x):
        y = np.array([x, 2 * x])
        y[y > k] = 0.0
        return y[0] + y[1]

    return integrate.quad(integrand, 0, 1)[0]


def rounded(k):
    return integrate.quad(lambda x: math.floor(x / k) * x, 0, 1)[0]


def whole(k):
    return integrate.quad(lambda x: int(x / k) * x, 0, 1)[0]


def remainder(k):
    return integrate.quad(lambda x: x % k, 0, 1)[0]


def sign(k):
    return integrate.quad(lambda x: np.sign(x - k), 0, 1)[0]


def remainder_by_recursion(k):
    def rest(x, k):
        return x if x < k else rest(x - k, k)

    return integrate.quad(lambda x: rest(x, k), 0, 1)[0]


def terms_of_a_sum(k):
    def integrand(x):
        total, t = 0.0, 0.1
        while t < k * x:
            total, t = total + t, t + 0.1
        return total

    return integrate.quad(integrand, 0, 1)[0]


def edge_of_a_density(k):
    return integrate.quad(lambda x: stats.uniform.pdf(x, 0, k) * x * x, 0, 2)[0]


def disc(k):
    return integrate.dblquad(lambda y, x: 1.0 if x * x + y * y < k else 0.0, 0, 1, 0, 1)[0]


def outside_of_a_table(k):
    def integrand(x):
        return np.interp(x - k, [0.0, 1.0], [1.0, 2.0], left=0.0)

    return integrate.quad(integrand, 0, 1)[0]


def switched_at_a_time(k):
    def rhs(t, y):
        return [-y[0] + (1.0 if t > k else 0.0)]

    return integrate.solve_ivp(rhs, (0, 1), [1.0]).y[0, -1]


def switched_by_the_state(k):
    def rhs(t, y):
        return [-k * y[0] + (1.0 if y[0] > 0.7 else 0.0)]

    return integrate.solve_ivp(rhs, (0, 1), [1.0]).y[0, -1]


def pushed(k):
    def rhs(y, t):
        return [y[1], -y[0] - k * np.sign(y[1])]

    return integrate.odeint(rhs, [1.0, 0.0], [0.0, 1.0])[-1, 0]


def compared_with_what_was_written(k):
    def rhs(t, y):
        z = 1.0 * y
        z[0] = np.round(4 * z[0])
        return [1.0 if z[0] == 3 else -k]

    return integrate.solve_ivp(rhs, (0, 1), [1.0]).y[0, -1]


JUMPS = [
    compared_with_what_was_written,
    step_of_a_parameter, mask_of_a_parameter, mask_written, rounded, whole, remainder, sign,
    remainder_by_recursion, terms_of_a_sum, edge_of_a_density, disc, outside_of_a_table,
    switched_at_a_time, switched_by_the_state, pushed,
]  # fmt: skip


@pytest.mark.parametrize("f", JUMPS, ids=lambda f: f.__name__)
def test_a_jump_that_moves_is_refused(f: Any) -> None:
    with pytest.raises(srcgrad.UnsupportedError, match=r"jumps here, at a place that moves with"):
        srcgrad.grad(f)(0.3)
    with pytest.raises(srcgrad.UnsupportedError, match=r"jumps here, at a place that moves with"):
        srcgrad.jvp(f, (0.3,), (1.0,))


def test_the_refusal_of_a_jump_says_where_and_what_to_do() -> None:
    with pytest.raises(srcgrad.UnsupportedError) as raised:
        srcgrad.grad(step_of_a_parameter)(0.3)
    _, line, caret, message, advice = str(raised.value).splitlines()
    assert line[caret.index("^") : caret.rindex("^") + 1] == "x > k"
    assert message == (
        "'integrand' jumps here, at a place that moves with 'k': what the jump adds to the "
        "derivative isn't known"
    )
    assert "divide the interval at the jump" in advice and "stop_gradient" in advice


def divided(k):
    return integrate.quad(lambda x: k, 0, k)[0] + integrate.quad(lambda x: 2.0 * k, k, 1)[0]


def divided_in_time(k):
    early = integrate.solve_ivp(lambda t, y: -y, (0, k), [1.0], **ACCURATE).y[:, -1]
    return integrate.solve_ivp(lambda t, y: 1.0 - y, (k, 1), early, **ACCURATE).y[0, -1]


def no_jump_by_assurance(k):
    here = srcgrad.stop_gradient
    return integrate.quad(lambda x: x - k if x > here(k) else 0.0, 0, 1, points=[0.3])[0]


def jump_that_stays(k):
    return integrate.quad(lambda x: k * x if x > 0.3 else 2 * k, 0, 1, points=[0.3])[0]


def jump_of_all(k):
    return integrate.quad(lambda x: x * k * (1.0 if k > 0.2 else 3.0), 0, 1)[0]


def payoff(k):
    return integrate.quad(lambda x: max(x - k, 0.0) * abs(x - k), 0, 1)[0]


def guarded(k):
    def integrand(x):
        if x > k + 5:
            raise ValueError("too far")
        return 0.0 if x == k else k * x * np.sinc(k * x)

    return integrate.quad(integrand, 0, 1)[0]


def mean_of_a_density(k):
    return integrate.quad(lambda x: x * stats.expon.pdf(x, scale=k), 0, np.inf)[0]


def switched_at_a_known_time(k):
    def rhs(t, y):
        return [-k * y[0] + (1.0 if t > 0.5 else 0.0)]

    early = integrate.solve_ivp(rhs, (0, 0.5), [1.0], **ACCURATE).y[:, -1]
    return integrate.solve_ivp(rhs, (0.5, 1), early, **ACCURATE).y[0, -1]


def patched_at_a_point_of_the_state(k):
    def rhs(t, y):
        v, w = y
        rate = 1.0 if v == 0 else v / (1.0 - np.exp(-v))
        return [-k * rate, w - v]

    return integrate.solve_ivp(rhs, (0, 1), [1.0, 2.0], **ACCURATE).y[1, -1]


CONTINUOUS = [
    divided, patched_at_a_point_of_the_state,
    divided_in_time, no_jump_by_assurance, jump_that_stays, jump_of_all, payoff, guarded,
    mean_of_a_density, switched_at_a_known_time,
]  # fmt: skip


@pytest.mark.parametrize("f", CONTINUOUS, ids=lambda f: f.__name__)
def test_what_is_no_jump_or_stays_is_not_refused(f: Any) -> None:
    step = 1e-4
    expected = (f(0.3 + step) - f(0.3 - step)) / (2 * step)
    assert srcgrad.grad(f)(0.3) == pytest.approx(expected, rel=1e-5)
    assert srcgrad.jvp(f, (0.3,), (1.0,))[1] == pytest.approx(expected, rel=1e-5)


def test_a_jump_of_the_derivative_is_refused_in_the_second() -> None:
    def kink(k):
        return integrate.quad(lambda x: max(x - k, 0.0), 0, 1)[0]

    assert srcgrad.grad(kink)(0.3) == pytest.approx(-0.7)
    with pytest.raises(srcgrad.UnsupportedError, match="jumps here"):
        srcgrad.grad(srcgrad.grad(kink))(0.3)


def asked_by_keys(x):
    found = optimize.minimize(lambda v: np.sum((v - x) ** 2), np.zeros(2))
    if not found["success"]:
        raise ValueError(found["message"])
    return np.sum(found["x"] ** 2) + found["fun"] + len(found.get("nothing", []))


def given_more(x):
    found = optimize.root(lambda v: v**3 - x, np.ones(2))
    found.twice = 2 * found.x
    found["x"] = found.x * x
    return found["twice"] @ found.x + ("twice" in found)


def a_solution_asked_by_keys(x):
    found = integrate.solve_ivp(lambda t, y: -y * x, (0, 1), 2 * x, rtol=1e-10, atol=1e-12)
    return np.sum(found["y"][:, -1])


@pytest.mark.parametrize("f", [asked_by_keys, given_more, a_solution_asked_by_keys])
def test_what_a_solver_returns_is_a_dict(f):
    x = np.array([0.7, 1.2])
    assert srcgrad.value_and_grad(f)(x)[0] == pytest.approx(f(x), rel=1e-6)
    check_grads(f, (x,), order=1, rtol=1e-4)


def inverse_gamma(g, t):
    return g**-1.5 * math.exp(-t / (2 * g))


def logarithm(x, t):
    print("at", x)
    return t**2 * math.log(x)


@pytest.mark.parametrize(
    ("integrand", "end"), [(inverse_gamma, np.inf), (logarithm, 1.0)], ids=["power", "logarithm"]
)
def test_what_an_integrand_does_at_an_end_that_stands_still(integrand, end, capsys):
    def constant(t):
        return integrate.quad(integrand, 0, end, args=(t,))[0]

    def given(t, low):
        return integrate.quad(integrand, low, end, args=(t,))[0]

    def both(t, low):
        return given(t, low) + given(low, t - 0.5)

    t, h = 1.3, 1e-5
    expected = (constant(t + h) - constant(t - h)) / (2 * h)
    curved = (constant(t + h) - 2 * constant(t) + constant(t - h)) / h**2
    assert srcgrad.grad(constant)(t) == pytest.approx(expected, rel=1e-6)
    assert srcgrad.jvp(constant, (t,), (1.0,))[1] == pytest.approx(expected, rel=1e-6)
    assert srcgrad.grad(given)(t, 0.0) == pytest.approx(expected, rel=1e-6)
    assert srcgrad.hessian(given)(t, 0.0) == pytest.approx(curved, rel=1e-3)
    check_grads(both, (t, 0.7), order=1)
    assert "at 0.0" not in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    "asked",
    [
        lambda found: found.nit < 100,
        lambda found: hasattr(found, "nfev"),
        lambda found: getattr(found, "njev", 0) > 2,
        lambda found: found.get("hess_inv") is None,
    ],
)
def test_what_a_solver_that_is_differentiated_does_not_say_is_refused(asked) -> None:
    def f(x):
        found = optimize.minimize(lambda v: np.sum((v - x) ** 2), np.zeros(2))
        return np.sum(found.x * (2.0 if asked(found) else 3.0))

    with pytest.raises(srcgrad.UnsupportedError, match="of a solver that is differentiated isn't"):
        srcgrad.grad(f)(np.ones(2))


@pytest.mark.parametrize("method", ["Nelder-Mead", "Powell"])
def test_a_minimum_found_by_values_alone_is_polished(method) -> None:
    """A distance that is nearly zero is too flat to tell where it is least."""

    def curve(t):
        return np.array([np.cos(t), np.sin(1.3 * t) + 0.1 * t**2])

    def nearest(p):
        distance = lambda t: np.linalg.norm(curve(t[0]) - p)  # noqa: E731
        return optimize.minimize(distance, np.array([0.6]), method=method).x[0]

    t = 0.73
    slope = np.array([-np.sin(t), 1.3 * np.cos(1.3 * t) + 0.2 * t])
    turn = np.array([-np.cos(t), -1.69 * np.sin(1.3 * t) + 0.2])
    off = 1e-5 * np.array([-slope[1], slope[0]])
    expected = slope / (slope @ slope - off @ turn)
    np.testing.assert_allclose(srcgrad.grad(nearest)(curve(t) + off), expected, rtol=1e-9)


def test_what_objects_of_scipy_refuse_is_shown_in_the_program() -> None:
    def stepped(k):
        solver = integrate.ode(lambda t, y: -k * y)
        solver.set_solout(print)
        return solver.integrate(1.0)[0]

    place = (
        r"in test_[\w.<>]+stepped\n +solver\.set_solout\(print\)\n +\^{24}\node is differentiated"
    )
    with pytest.raises(srcgrad.UnsupportedError, match=place):
        srcgrad.grad(stepped)(0.5)
