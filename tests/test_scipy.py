"""The rules for SciPy, compiled: gradients of small programs against finite differences."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad
import tests.rules
from srcgrad.rules import registry
from srcgrad.testing import check_grads
from tests.rules.kit import Case, is_float

pytest.importorskip("scipy")

from scipy import (
    fft,
    integrate,
    interpolate,
    linalg,
    ndimage,
    optimize,
    signal,
    sparse,
    special,
    stats,
)

SAMPLES: dict[Any, list[Case]] = {}
for module in pkgutil.iter_modules(tests.rules.__path__, "tests.rules."):
    if module.name.startswith("tests.rules.samples_scipy_"):
        SAMPLES.update(importlib.import_module(module.name).SAMPLES)
MOST = 4  # samples of each function


def measured(result):
    """A number that depends on all that a function returns."""
    total = 0.0
    for number, part in enumerate(result if isinstance(result, tuple) else (result,)):
        total = total + (1 + 0.3 * number) * np.sum(np.sin(np.real(part)))
        if np.iscomplexobj(part):
            total = total + 0.7 * np.sum(np.imag(part))
    return total


def check(program: Any, x: Any, tolerance: float = 2e-6) -> None:
    """Compare the gradient of `program` at x with a difference along a random direction."""
    rng = np.random.default_rng(0)
    direction = rng.normal(size=np.shape(x))
    if np.iscomplexobj(x):
        direction = direction + 1j * rng.normal(size=np.shape(x))
    direction = direction if isinstance(x, np.ndarray) else direction[()]
    with np.errstate(all="ignore"):
        gradient = srcgrad.grad(program)(x)
        step = 1e-6
        difference = (program(x + step * direction) - program(x - step * direction)) / (2 * step)
    assert np.shape(gradient) == np.shape(x)
    found = np.sum(gradient * direction).real
    assert found == pytest.approx(difference, rel=tolerance, abs=tolerance)


def names(function: Any) -> str:
    return ".".join(registry.public_place(function) or (function.__name__,))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", list(SAMPLES)[::3], ids=names)  # see also tests/rules
def test_compiled(function: Any) -> None:
    cases = [c for c in SAMPLES[function] if np.size(c.args[-1])]
    if not hasattr(function, "__self__") and registry.public_place(function) is None:
        return  # a composition of the samples' own
    for case in cases[:: max(1, len(cases) // MOST)]:
        options = case.kwargs
        for position, x in enumerate(case.args):
            if position in case.fixed or not is_float(x) or isinstance(x, np.generic):
                continue
            before, after = case.args[:position], case.args[position + 1 :]

            def program(x, before=before, after=after, options=options):
                return measured(function(*before, x, *after, **options))

            check(program, x, max(case.tolerance, 2e-6))


PROGRAMS: dict[str, tuple[Any, Any]] = {}


def program(x: Any) -> Any:
    """Register a program with the argument at which it is checked."""

    def register(function: Any) -> Any:
        PROGRAMS[function.__name__] = (function, x)
        return function

    return register


MATRIX = np.random.default_rng(3).normal(size=(4, 4))
VECTOR = np.random.default_rng(4).normal(size=4)
DEFINITE = MATRIX @ MATRIX.T + 4 * np.eye(4)


@program(VECTOR)
def matrices_made_in_other_formats(x):
    n = len(x)
    gradient = sparse.lil_matrix(
        sparse.spdiags(np.vstack((-np.ones(n), np.ones(n))), [-1, 1], n, n)
    )
    gradient[0, n - 1] = -1
    gradient /= 2.0
    return np.sum((sparse.csr_matrix(gradient) @ np.sin(x)) ** 3)


@program(MATRIX[:3])
def matrices_of_diagonals(x):
    """`dia` formats: each entry stands in the column that it has in its row of the data."""
    square = sparse.dia_matrix((x, [-1, 0, 2]), (4, 4))
    wide = sparse.dia_matrix((x, np.array([0, 1, 2])), shape=(2, 4))
    tall = sparse.dia_array((x[0], -1), shape=(6, 4))
    rows = sparse.dia_array(([x[0], x[1]], (1, 0)), shape=(4, 4)) @ wide.T
    penalty = sparse.eye(4) + 3.0 * wide.T.dot(wide)
    smooth = sparse.linalg.spsolve(sparse.csc_matrix(penalty), VECTOR)
    return (
        np.sum(square.toarray() ** 3) + np.sum((tall @ smooth) ** 2) + np.sum(rows.toarray() ** 2)
    )


@program(VECTOR)
def matrices_scaled_in_place(x):
    a = sparse.csr_matrix(sparse.eye(4))
    b = sparse.lil_matrix((4, 4))
    b[0, 3] = 6
    other, another = a, b
    a *= x[0]
    a /= 1.0 + x[1] ** 2
    b /= 3.0
    return np.sum((other @ x) ** 2) + np.sum((another @ x) ** 2)


@program(VECTOR[:2])
def densities_of_one_point(x):
    normal = stats.multivariate_normal
    return normal.logpdf(x[:1], [0.2], [[2.0]]) + normal.logpdf(x[None], cov=2.0 * np.eye(2))


@program(MATRIX)
def solve_assuming(x):
    a = x @ x.T + 4 * np.eye(4)
    b = np.sin(x)
    total = linalg.solve(a, b, assume_a="pos") @ VECTOR
    total = total + linalg.solve(a, b[0], assume_a="sym")
    total = total + linalg.solve(a, b[1], assume_a="her", lower=True)
    return np.sum(total * VECTOR)


@program(MATRIX)
def cho_factor_and_solve(x):
    factor = linalg.cho_factor(x @ x.T + 4 * np.eye(4), lower=True)
    solution = linalg.cho_solve(factor, np.cos(x[0]))
    upper = linalg.cho_factor(x @ x.T + 4 * np.eye(4))
    return solution @ linalg.cho_solve(upper, x[1]) + np.sum(np.log(np.diag(factor[0])))


@program(MATRIX)
def lu_factor_and_solve(x):
    factors = linalg.lu_factor(x)
    return np.sum(linalg.lu_solve(factors, x[0]) * VECTOR) + linalg.lu_solve(factors, VECTOR, 1)[2]


@program(MATRIX)
def generalised_eigenvalues(x):
    a, b = x + x.T, x @ x.T + 3 * np.eye(4)
    w, v = linalg.eigh(a, b)
    return np.sum(np.sin(w)) + np.sum(v**2 * MATRIX) + linalg.eigvalsh(a, b)[1]


@program(MATRIX)
def some_eigenvalues(x):
    a = x + x.T
    top = linalg.eigh(a, eigvals_only=True, subset_by_index=(2, 3))
    return np.sum(top**2) + np.sum(linalg.eigh(a)[1] ** 2 * MATRIX)


@program(MATRIX + 2 * np.eye(4))
def complex_eigenvectors(x):
    w, v = linalg.eig(x)
    return np.sum(np.abs(v) ** 2 * MATRIX) + np.sum(np.abs(w) ** 2)


@program(-DEFINITE + 0.1 * MATRIX)
def complex_square_root(x):
    return np.sum(np.abs(linalg.sqrtm(x)) ** 3) + np.sum(np.abs(linalg.logm(x)) ** 2)


@program(DEFINITE + 0.1 * MATRIX)
def real_square_root(x):
    return np.sum(linalg.sqrtm(x) ** 3) + np.sum(linalg.logm(x) ** 2)


@program(MATRIX)
def polar_and_procrustes(x):
    u, p = linalg.polar(x)
    left, q = linalg.polar(x, side="left")
    rotation, scale = linalg.orthogonal_procrustes(x, MATRIX.T)
    return np.sum(u * MATRIX + p * DEFINITE + left * q) + np.sum(rotation * DEFINITE) * scale


@program(MATRIX)
def integrals(x):
    total = integrate.trapezoid(np.sin(x), axis=0) + integrate.trapezoid(x, x[0] ** 3)
    running = integrate.cumulative_trapezoid(x[0], x[1] ** 2, initial=0)
    steps = integrate.cumulative_trapezoid(x, dx=0.3, axis=0)
    return np.sum(total**2) + np.sum(running * VECTOR) + np.sum(np.sin(steps))


@program(MATRIX)
def integrals_of_parabolas(x):
    total = integrate.simpson(np.sin(x), axis=0) + integrate.simpson(x[:, :3], dx=0.3)[0]
    stretched = np.cumsum(np.exp(x), axis=1)
    return np.sum(total**2) + np.sum(
        integrate.simpson(x, stretched) + integrate.simpson(x[:3], stretched[1, :3], axis=0)[1]
    ) * integrate.simpson(x[0, :2], x=np.array([0.0, 0.7]))  # fmt: skip


@program(np.concatenate((MATRIX, MATRIX[:1])))
def integrals_by_romberg(x):
    total = integrate.romb(np.sin(x), axis=0, dx=0.3) + integrate.romb(x[:3], x[0, 0], axis=0)
    return np.sum(total**2) * integrate.romb(x[:2, 1] ** 2)


@program(np.array([0.3, 1.7]))
def integral_of_a_function(x):
    return integrate.fixed_quad(lambda t, k: np.exp(-k * t) * t, 0.0, x[1], args=(x[0],), n=6)[0]


@program(VECTOR)
def rosenbrock(x):
    return optimize.rosen(x)


@program(MATRIX)
def shifted_spectrum(x):
    return np.sum(np.abs(fft.fftshift(fft.fft2(x))) * MATRIX)


SPARSE = sparse.csr_array(MATRIX * (MATRIX > 0))
SPLINE = interpolate.CubicSpline(np.arange(5.0), np.arange(5.0) ** 3)


@program(MATRIX)
def sparse_products(x):
    return np.sum(np.sin(SPARSE @ x) + x[0] @ SPARSE) + np.sum((SPARSE.T @ x[1]) ** 2)


@program(np.array([0.3, 1.2, 3.9]))
def cubic_spline(x):
    return np.sum(SPLINE(x) ** 2) + SPLINE(x[0], 1)


@program(MATRIX)
def khatri_rao_product(x):
    return np.sum(np.sin(linalg.khatri_rao(x, x[:2])))


POINTS = np.array([-0.7, 0.2, 0.6, 1.4, 2.3])
COUNTS = np.array([-1.0, 0.0, 1.0, 3.0, 2.5])
# parameters, and the methods that have closed forms
DISTRIBUTIONS: dict[str, tuple[tuple[float, ...], str]] = {
    "norm": ((0.3, 1.2), "pdf logpdf cdf logcdf sf logsf ppf isf"),
    "halfnorm": ((-0.1, 1.2), "pdf logpdf cdf"),
    "lognorm": ((0.7, -0.1, 1.2), "pdf logpdf cdf"),
    "t": ((3.5, 0.3, 1.2), "pdf logpdf cdf sf"),
    "cauchy": ((0.3, 1.2), "pdf logpdf cdf"),
    "expon": ((-0.1, 1.2), "pdf logpdf cdf sf logsf"),
    "gamma": ((1.7, -0.1, 1.2), "pdf logpdf cdf sf"),
    "chi2": ((3.3, -0.1, 1.2), "pdf logpdf cdf sf"),
    "laplace": ((0.3, 1.2), "pdf logpdf cdf"),
    "logistic": ((0.3, 1.2), "pdf logpdf cdf sf logcdf logsf"),
    "weibull_min": ((1.7, -0.1, 1.2), "pdf logpdf cdf sf"),
    "pareto": ((1.7, -1.1, 1.4), "pdf logpdf cdf"),
    "uniform": ((-0.1, 1.2), "pdf logpdf cdf"),
    "beta": ((1.7, 2.3, -0.1, 1.2), "pdf logpdf cdf"),
    "poisson": ((1.7, 1.0), "pmf logpmf"),
    "binom": ((4, 0.3, 1.0), "pmf logpmf"),
    "bernoulli": ((0.3, 1.0), "pmf logpmf"),
}
BY_SHAPE = ("t", "gamma", "chi2", "beta", "binom")  # their cdf by the first parameters is refused


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distribution(name: str) -> None:
    distribution = getattr(stats, name)
    parameters, methods = DISTRIBUTIONS[name]
    discrete = "pmf" in methods
    for method in methods.split():
        points = COUNTS if discrete else POINTS
        if method in ("ppf", "isf"):
            points = points[1:3]

        function = getattr(distribution, method)
        for outside in (False, True):
            with np.errstate(all="ignore"):
                usual = function(points, *parameters)
                points = points if outside else points[np.isfinite(usual) & (usual != 0)]

            def by_points(x, function=function):
                return finite_sum(function(x, *parameters))

            def frozen(x, method=method):
                return finite_sum(getattr(distribution(*parameters), method)(x))

            for program in (by_points, frozen):
                value, _ = srcgrad.value_and_grad(program)(points)
                assert value == pytest.approx(program(points), rel=1e-12)
                if not discrete:
                    check(program, points)
            for i, p in enumerate(parameters):
                before, after = parameters[:i], parameters[i + 1 :]
                if (discrete and i == len(parameters) - 1) or isinstance(p, int):
                    continue
                if method in ("cdf", "sf") and name in BY_SHAPE and i < len(parameters) - 2:
                    continue

                def by_parameter(p, function=function, before=before, after=after, x=points):
                    return finite_sum(function(x, *before, p, *after))

                check(by_parameter, p)


def finite_sum(x):
    return np.sum(np.where(np.isfinite(x), x, 0.0) * np.arange(1, len(x) + 1))


@pytest.mark.filterwarnings("ignore")
def test_invalid_parameters_are_nan() -> None:
    def program(scale):
        return stats.norm.cdf(0.3, 0.0, scale) + stats.gamma.pdf(0.3, scale)

    value, gradient = srcgrad.value_and_grad(program)(-1.0)
    assert np.isnan(value) and np.isnan(program(-1.0))
    assert not np.isfinite(gradient) or gradient == 0


def test_a_distribution_without_closed_form_is_refused() -> None:
    def program(x):
        return stats.genhyperbolic.pdf(x, 0.5, 1.5, -0.5)

    with pytest.raises(srcgrad.UnsupportedError, match="no closed form"):
        srcgrad.grad(program)(0.3)


def cubic(x, a, b):
    return x**3 + a * x - b


def system(x, m, b):
    return m @ x + 0.1 * x**3 - b


def bowl(x, a):
    return np.sum((x - a) ** 4 + 0.5 * x * x)


def hollow(x, a):
    return (x - a) ** 2 + 0.5 * x**4


def solved_system(a):
    found = optimize.root(system, np.zeros(2), args=(np.eye(2) * a, np.ones(2) * a * a))
    return found.x[0] * a


SOLVERS = {
    "brentq": lambda a: optimize.brentq(cubic, 0.0, 5.0, args=(a, 3.0)),
    "newton": lambda a: optimize.newton(cubic, 1.0, args=(a, 3.0)),
    "fsolve": lambda a: optimize.fsolve(cubic, 1.0, args=(a, 3.0))[0] * a,
    "root": solved_system,
    "minimize": lambda a: np.sum(optimize.minimize(bowl, np.array([0.5, 0.2]), args=(a,)).x),
    "value": lambda a: optimize.minimize(bowl, np.array([0.5, 0.2]), args=(a,)).fun,
    "minimize_scalar": lambda a: optimize.minimize_scalar(hollow, args=(a,)).x,
}


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_by_the_implicit_function_theorem(name: str) -> None:
    f, a, step = SOLVERS[name], 1.3, 1e-4
    tolerance = 1e-5 if name.startswith("minimize") else 1e-7
    gradient = srcgrad.grad(f)
    expected = (f(a + step) - f(a - step)) / (2 * step)
    assert gradient(a) == pytest.approx(expected, rel=tolerance)
    assert srcgrad.jvp(f, (a,), (1.0,))[1] == pytest.approx(gradient(a), rel=1e-9)
    curved = (gradient(a + step) - gradient(a - step)) / (2 * step)
    assert srcgrad.grad(gradient)(a) == pytest.approx(curved, rel=100 * tolerance)


@pytest.mark.filterwarnings("ignore:the matrix subclass")  # which SciPy's sums return
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    check(*PROGRAMS[name])


def test_scipy_is_not_imported_by_srcgrad(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""
import sys, numpy as np, srcgrad
srcgrad.grad(lambda x: np.tanh(x))(2.0)
assert not any(name.partition(".")[0] == "scipy" for name in sys.modules)
""")
    root = Path(srcgrad.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    subprocess.run([sys.executable, script], check=True, timeout=60, env=environment)


SAMPLE = np.random.default_rng(5).uniform(0.5, 2, (5, 3))
STATISTICS = {
    "moment": lambda a: stats.moment(a, 3),
    "skew": lambda a: stats.skew(a, axis=1, bias=False),
    "kurtosis": lambda a: stats.kurtosis(a, axis=None),
    "unbiased kurtosis": lambda a: stats.kurtosis(a, bias=False),
    "kurtosis of few": lambda a: stats.kurtosis(a[:3], bias=False),
    "skew of two": lambda a: stats.skew(a[:2] ** 2, bias=False) + np.sum(a),
    "zscore": lambda a: stats.zscore(a, ddof=1),
    "zmap": lambda a: stats.zmap(a[0], a[1]),
    "sem": lambda a: stats.sem(a, axis=None),
    "variation": lambda a: stats.variation(a),
    "gmean": lambda a: stats.gmean(a, axis=1),
    "weighted gmean": lambda a: stats.gmean(a, weights=a * 2),
    "hmean": lambda a: stats.hmean(a),
    "pmean": lambda a: stats.pmean(a, 1.7),
    "geometric pmean": lambda a: stats.pmean(a, 0, weights=a * 2),
    "gstd": lambda a: stats.gstd(a),
    "entropy": lambda a: stats.entropy(a),
    "relative entropy": lambda a: stats.entropy(a, a[::-1] ** 2, base=2, axis=1),
    "circmean": lambda a: stats.circmean(a * 3),
    "circvar": lambda a: stats.circvar(a, axis=0, high=3.0),
    "circstd": lambda a: stats.circstd(a, axis=1, low=-1.0, high=3.0),
    "normalized circstd": lambda a: stats.circstd(a, normalize=True, keepdims=True),
    "median_abs_deviation": lambda a: stats.median_abs_deviation(a, axis=1, scale="normal"),
    "deviation of all": lambda a: stats.median_abs_deviation(a, None, np.mean, keepdims=True),
    "boxcox": lambda a: stats.boxcox(a, np.mean(a)),
    "yeojohnson": lambda a: stats.yeojohnson(a - 1.0, np.mean(a)),
    "yeojohnson of an int": lambda a: stats.yeojohnson(a - 1.0, 2),
    "pearsonr": lambda a: np.array(stats.pearsonr(a[:, 0], a[:, 1])),
    "statistic": lambda a: stats.pearsonr(a[:, 0], a[:, 1]).statistic,
    "linregress": lambda a: np.array(stats.linregress(a[:, 0], a[:, 1])),
    "unpacked": lambda a: sum(i * v for i, v in enumerate(stats.linregress(a[:, 0], a[:, 1]))),
    "pvalue": lambda a: stats.linregress(a[:, 0], a[:, 1]).pvalue,
    "item": lambda a: stats.linregress(a[:, 0], a[:, 1])[2],
    "slope": lambda a: stats.linregress(a[:, 0], a[:, 1]).slope,
    "intercept": lambda a: stats.linregress(a[:, 0], a[:, 1]).intercept,
    "rvalue": lambda a: stats.linregress(a[:, 0], a[:, 1]).rvalue,
    "stderr": lambda a: stats.linregress(a[:, 0], a[:, 1]).stderr,
    "intercept_stderr": lambda a: stats.linregress(a[:, 0], a[:, 1]).intercept_stderr,
    "boxcox_llf": lambda a: stats.boxcox_llf(0.7, a[:, 0]),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics_of_samples(name: str) -> None:
    f = STATISTICS[name]
    weights = np.random.default_rng(6).normal(size=np.shape(f(SAMPLE)))

    def loss(a):
        return np.sum(f(a) * weights)

    assert srcgrad.value_and_grad(loss)(SAMPLE)[0] == pytest.approx(loss(SAMPLE), rel=1e-12)
    check(loss, SAMPLE)


CLASSIFIED = "special linalg fft signal integrate optimize interpolate ndimage stats".split()


CLASSIFIED += ["sparse", "sparse.linalg", "sparse.csgraph", "spatial.distance", "fftpack"]


@pytest.mark.parametrize("name", CLASSIFIED)
def test_every_function_is_in_a_class(name: str) -> None:
    module = importlib.import_module(f"scipy.{name}")
    registry.load()
    described = {"lebedev_rule", "linprog_verbose_callback", "show_options"}
    for text in set(module.__all__) - described:
        thing = getattr(module, text)
        if isinstance(thing, (types.FunctionType, types.BuiltinFunctionType, np.ufunc)):
            assert registry.classified(thing) is not None, f"scipy.{name}.{text}"


def test_special_is_classified() -> None:
    from scipy import special

    for name in special.__all__:
        thing = getattr(special, name)
        if callable(thing) and not isinstance(thing, type):
            assert registry.classified(thing) is not None, name


def test_by_the_order_is_refused() -> None:
    from scipy import special

    def program(v):
        return special.jv(v, 2.0)

    with pytest.raises(srcgrad.UnsupportedError, match=r"scipy\.special\.jv.*by its order"):
        srcgrad.grad(program)(1.5)


def test_functions_are_printed_with_their_public_place() -> None:
    from scipy import special

    def program(x):
        return special.ndtr(x) * special.logsumexp(np.ones(3) * x)

    gradient = srcgrad.grad(program)
    gradient(0.5)
    assert "scipy.special.ndtr(x)" in gradient.source
    assert "scipy.special.logsumexp(" in gradient.source


def solved(a: Any, b: Any) -> Any:
    return np.sum(linalg.lu_solve(linalg.lu_factor(a), -b) ** 2)


def solved_by_the_transpose(a: Any, b: Any) -> Any:
    factors = linalg.lu_factor(a * a)
    return np.sum(linalg.lu_solve(factors, b, 1) * linalg.lu_solve(factors, b))


@pytest.mark.parametrize("program", [solved, solved_by_the_transpose])
def test_forward_mode_through_a_tuple_of_factors(program: Any) -> None:
    a, b = np.eye(3) + np.arange(9.0).reshape(3, 3) / 20, np.array([1.0, 2.0, 0.5])
    check_grads(program, (a, b))
    d_a, d_b = srcgrad.grad(program, (0, 1))(a, b)
    moved = srcgrad.jvp(program, (a, b), (a.T, 2 * b))[1]
    np.testing.assert_allclose(moved, np.sum(d_a * a.T) + d_b @ (2 * b))


PLACES = (np.array([1, 0, 2, 2, 0]), np.array([2, 0, 0, 2, 0]))  # out of order, and one twice


@program(np.array([2.0, 3.0, -1.0, 0.5, 4.0]))
def stars_between_sparse_matrices(x):
    matrix = sparse.coo_matrix((x, PLACES), shape=(3, 3)).tocsr()
    array = sparse.csr_array((x, PLACES), shape=(3, 3))
    total = np.sum((matrix * x[:3]) ** 2) + np.sum((x[1:4] * matrix) * x[:3])
    total = total + np.sum((array * x[:3]).toarray() ** 2) + (matrix * array)[0, 0]
    total = total + np.sum(matrix**2 @ x[2:]) + np.sum((array * matrix).toarray() * x[:3])
    return total + (2 * matrix * 3).sum() + (array.multiply(x[:3]) @ x[:3])[0]


@program(np.array([2.0, 3.0, -1.0, 0.5, 4.0]))
def what_a_sparse_matrix_gives_is_a_matrix(x):
    matrix, array = (
        made((x, PLACES), shape=(3, 3)) for made in (sparse.csr_matrix, sparse.csr_array)
    )
    rows, columns = matrix.sum(1), matrix.sum(axis=0)
    scaled = np.asarray(matrix * (x[:3][np.newaxis].T / (rows + 5)))[:, 0]
    product = np.asarray(matrix.todense() * np.outer(x[:3], x[1:4]))
    total = scaled @ x[:3] + np.sum(product**2) + (columns * rows).sum() + np.sum(columns.A1**2)
    return total + np.sum(array.todense() * x[:3]) + array.sum(1) @ array.sum(0)


@program(np.array([2.0, 3.0, -1.0, 0.5, 4.0]))
def parts_of_sparse_matrices(x):
    matrix = sparse.csr_matrix((x, PLACES), shape=(3, 3))
    some = np.array([2, 0])
    total = np.sum((matrix[some, :][:, some] @ x[:2]) ** 2) + matrix[-1, 2] * x[0]
    total = total + np.sum((matrix[1:] @ x[:3]) ** 2) + np.sum(matrix[[0, 0, 2]] @ x[:3] ** 2)
    total = total + np.sum((matrix[np.ix_(some, some)] @ x[:2]) ** 3) + np.sum(matrix[2] @ x[:3])
    total = total + np.sum(matrix.diagonal() ** 2) + np.sum(matrix.diagonal(-2) * x[0])
    copied = matrix.copy()
    copied *= 2.0
    return total + np.sum((matrix[np.array([True, False, True])] @ x[:3]) ** 2) + copied.sum()


@program(np.array([2.0, 3.0, -1.0, 0.5, 4.0]) * 1.3)
def sparse_matrices_of_a_dtype(x):
    """What is made of whole numbers is cut off."""
    cut = sparse.csr_matrix((x, PLACES), shape=(3, 3), dtype=int)
    made = sparse.coo_array((x, PLACES), shape=(3, 3))
    total = np.sum(cut @ x[:3]) + (sparse.diags([x], [0], dtype=int) @ x)[0]
    total = total + sparse.hstack([made, made], dtype=int).sum() * x[0]
    total = total + sparse.block_diag([made, made], dtype=int).sum() * x[1]
    total = total + np.sum((sparse.csc_array((x, PLACES), dtype=complex) @ (1j * x[:3])).imag)
    return total + np.sum(sparse.csr_array(np.outer(x, x), dtype=int) @ x)


@pytest.mark.parametrize("format", ["csr_matrix", "csr_array"])
def test_an_order_of_entries_that_is_not_followed_is_refused(format: str) -> None:
    def f(x):
        return getattr(sparse, format)((x, PLACES), shape=(3, 3)).data[0] * 2.0

    with pytest.raises(srcgrad.UnsupportedError, match="which entry isn't followed"):
        srcgrad.grad(f)(np.ones(5))


def test_an_operator_of_what_is_differentiated_is_refused() -> None:
    from scipy.sparse.linalg import aslinearoperator

    def f(x, y):
        return np.sum(aslinearoperator(np.diag(x)) @ y)

    with pytest.raises(srcgrad.UnsupportedError, match="aslinearoperator can't be differentiated"):
        srcgrad.grad(f)(np.ones(3), np.ones(3))
    np.testing.assert_array_equal(srcgrad.grad(f, 1)(np.arange(3.0), np.ones(3)), np.arange(3.0))


def test_objects_that_copy_what_they_are_made_of() -> None:
    def f(x):
        y = x * 2.0
        matrix = sparse.csr_matrix((y, (np.arange(3), np.arange(3))))
        line = np.polynomial.Polynomial(y)
        y[1] = 0.0
        return np.sum(matrix @ x) + line(2.0)

    check_grads(f, (np.array([1.0, -2.0, 0.5]),))
    x = np.array([1.0, -2.0, 0.5])
    assert srcgrad.value_and_grad(f)(x)[0] == f(x)


def test_quotients_of_sparse_matrices():
    x, s = np.random.default_rng(0).random((3, 3)) + 0.5, 1.3
    array = sparse.csr_array(np.eye(3) + 1)
    for A in (array, sparse.csr_matrix(array)):
        check_grads(lambda s, A=A: (A / s @ np.arange(3.0)).sum(), (s,))
        check_grads(lambda x, A=A: (A / x).sum(), (x,))
        check_grads(lambda x, A=A: np.sum((A * 2 / x).toarray() ** 2), (x,))


def test_what_depends_on_the_input_and_is_not_followed_is_refused():
    array = sparse.csr_array(np.eye(3) + 1)
    with pytest.raises(srcgrad.UnsupportedError, match="an object that srcgrad doesn't follow"):
        srcgrad.grad(lambda s: np.sum(array**s @ np.ones(3)))(2.0)


def test_romberg_needs_a_power_of_two_of_intervals():
    f = srcgrad.grad(lambda x: integrate.romb(x))
    for count in (1, 4, 6):
        with pytest.raises(ValueError, match="one plus a non-negative power of 2"):
            f(np.ones(count))


def test_a_list_as_the_order_of_a_polynomial_is_refused():
    with pytest.raises(srcgrad.UnsupportedError):
        srcgrad.grad(lambda x: np.sum(special.eval_legendre([0, 1, 2], x)))(np.ones(3))
    with pytest.raises(srcgrad.UnsupportedError, match="one order at a time"):
        srcgrad.grad(lambda x: np.sum(stats.moment(x, [1, 2])))(np.ones(3))


@pytest.mark.parametrize(
    "measure",
    [ndimage.center_of_mass, ndimage.sum_labels, ndimage.mean, ndimage.standard_deviation],
)
def test_measures_of_labelled_regions(measure) -> None:
    image = np.random.default_rng(0).uniform(size=(5, 6))
    labels = np.zeros((5, 6), int)
    labels[1:3, 1:4], labels[3:, 4:] = 1, 2
    for asked in ((), (labels,), (labels, 2), (labels, [1, 2]), (labels, np.arange(1, 3))):
        expected = np.asarray(measure(image, *asked))
        weights = np.arange(1.0, expected.size + 1).reshape(expected.shape)

        def f(x, asked=asked, weights=weights):
            return np.sum(np.asarray(measure(x, *asked)) * weights)

        assert srcgrad.value_and_grad(f)(image)[0] == pytest.approx(np.sum(expected * weights))
        check_grads(f, (image,))


def test_filters_that_are_told_where_to_put_their_result() -> None:
    image = np.random.default_rng(0).uniform(size=(5, 6))

    def f(x):
        smooth = np.zeros_like(x)
        ndimage.gaussian_filter(x, 1.0, output=smooth, mode="nearest")
        edges = ndimage.sobel(smooth, 0, output=None) + ndimage.prewitt(x, output=np.float64)
        half = ndimage.zoom(x, (0.5, 0.7), order=1, mode="mirror", grid_mode=True)
        return np.sum(edges * smooth) + np.sum(half**2)

    assert srcgrad.value_and_grad(f)(image)[0] == pytest.approx(f(image), rel=1e-12)
    check_grads(f, (image,))


def test_an_image_zoomed_to_nothing() -> None:
    def f(x):
        return np.sum(ndimage.zoom(x, 0.05, grid_mode=True, mode="nearest")) + np.sum(x**2)

    image = np.ones((3, 4))
    assert srcgrad.value_and_grad(f)(image)[0] == f(image)
    assert np.array_equal(srcgrad.grad(f)(image), 2 * image)


def test_one_state_of_a_filter_for_many_signals() -> None:
    signals = np.random.default_rng(0).normal(size=(3, 7))

    def f(x, state):
        y, final = signal.lfilter([0.3, 0.2], [1.0, -0.4], x, axis=1, zi=state)
        return np.sum(y**2) + np.sum(final**3)

    check_grads(f, (signals, np.full((1, 1), 0.3)))
    check_grads(f, (signals, np.full((3, 1), 0.3)))


WIDTHS = np.array([1.0, 0.0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: ndimage.gaussian_filter(x, np.array([1.0, 0.7])),
        lambda x: ndimage.gaussian_filter(x, (1.0, 0.0)),
        lambda x: ndimage.gaussian_filter(x, WIDTHS),
        lambda x: ndimage.gaussian_filter(x, 0.3 + x[0, :2]),
        lambda x: ndimage.uniform_filter(x, np.array([3, 2])),
        lambda x: ndimage.zoom(x, np.array([0.5, 2.0])),
    ],
)
def test_a_width_for_each_axis(f) -> None:
    image = np.random.default_rng(0).uniform(size=(5, 6))
    value = srcgrad.value_and_grad(lambda x: np.sum(f(x) ** 2))(image)[0]
    assert value == pytest.approx(np.sum(f(image) ** 2))
    check_grads(lambda x: np.sum(f(x) ** 2), (image,))


def factor_with_jitter(a):
    """As Gaussian processes have it: a factor of LAPACK's, or one with more and more jitter."""
    factor, info = linalg.lapack.dpotrf(a, lower=1)
    if info == 0:
        return factor
    jitter = np.diag(a).mean() * 1e-3
    tries = 1
    while tries <= 6 and np.isfinite(jitter):
        try:
            return linalg.cholesky(a + np.eye(a.shape[0]) * jitter, lower=True)
        except:  # noqa: E722
            jitter *= 10
        finally:
            tries += 1
    raise linalg.LinAlgError("not definite, even with jitter")


def evidence(a, y):
    factor = factor_with_jitter(a)
    weights, _ = linalg.lapack.dpotrs(factor, y, lower=1)
    inverse, _ = linalg.lapack.dpotri(factor, lower=1)
    return np.sum(np.log(np.diag(factor))) + y @ weights + np.trace(inverse)


@pytest.mark.parametrize("shift", [0.0, 2.5])
def test_factors_with_jitter(shift) -> None:
    """The exceptions of scipy.linalg weren't looked out for: the gradient raised them."""
    a = np.diag([3.0, 2.5, 4.0]) + 0.3 - shift * np.eye(3)
    y = np.array([0.3, -0.4, 0.9])
    gradient = srcgrad.value_and_grad(evidence)
    assert gradient(a, y)[0] == evidence(a, y)
    assert "scipy.linalg.lapack.dpotrf(a, lower=1)" in gradient.source
    check_grads(evidence, (a, y), argnums=(0, 1))


SECTIONS = signal.butter(4, 0.3, output="sos")


def begun_at_rest(x):
    state = signal.sosfilt_zi(SECTIONS) * x[0]
    return signal.sosfilt(SECTIONS, x, zi=state)[0]


def in_blocks(x):
    state, blocks = np.zeros((SECTIONS.shape[0], 2)), []
    for k in range(0, len(x), 4):
        block, state = signal.sosfilt(SECTIONS, x[k : k + 4], zi=state)
        blocks.append(block)
    return np.concatenate((*blocks, state.ravel()))


@pytest.mark.parametrize("f", [begun_at_rest, in_blocks])
def test_sections_of_a_filter_with_states(f) -> None:
    x = np.random.default_rng(0).normal(size=10)
    np.testing.assert_allclose(srcgrad.vjp(f, x)[0], f(x), rtol=1e-9)
    check(lambda x: measured(f(x)), x)
