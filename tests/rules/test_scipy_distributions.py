"""The distributions of SciPy: their closed forms against SciPy's values, and every derivative.

All methods of all continuous distributions with a known density are differentiated by the variable,
the location and the scale; those with a closed form by the shapes as well.
"""

from __future__ import annotations

import linecache
import os
from typing import Any

import numpy as np
import pytest

import srcgrad

stats = pytest.importorskip("scipy.stats")
PARAMETERS = dict(pytest.importorskip("scipy.stats._distr_params").distcont)
srcgrad.grad(lambda x: stats.norm.cdf(x))(0.0)  # loads the rules
import srcgrad.rules.scipy.stats  # noqa: E402  (registers the forms)
from srcgrad.rules.scipy import stats_distributions as rules  # noqa: E402

KNOWN = [n for n in PARAMETERS if (type(getattr(stats, n)), n, "logpdf") in rules._forms]
LEVELS = np.array([0.22, 0.57, 0.77])
LOC, SCALE = 0.13, 1.3
OF_LEVELS = ("ppf", "isf")
# By these shapes, of the distribution function and its like too
BY_SHAPES = {"lognorm", "weibull_min", "pareto"}
METHODS = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
MANY = bool(os.environ.get("SRCGRAD_ALL_SAMPLES"))


def point(name: str, method: str) -> tuple[Any, tuple[float, ...]]:
    shapes = tuple(map(float, PARAMETERS[name]))
    levels = method in OF_LEVELS
    return LEVELS if levels else getattr(stats, name).ppf(LEVELS, *shapes, LOC, SCALE), shapes


def program(name: str, method: str, shapes: str, parameters: list[str]) -> Any:
    call = f"stats.{name}.{method}(x, {shapes}loc=loc, scale=scale)"
    text = f"def f({', '.join(parameters)}):\n    return np.sum({call})\n"
    filename = f"<{name} {method}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names: dict[str, Any] = {"np": np, "stats": stats}
    exec(compile(text, filename, "exec"), names)
    return names["f"]


def test_the_common_distributions_are_known() -> None:
    assert len(KNOWN) > 80


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", KNOWN)
def test_the_values_are_those_of_scipy(name: str) -> None:
    distribution = getattr(stats, name)
    for method in METHODS:
        x, shapes = point(name, method)
        if method not in OF_LEVELS:
            x = np.concatenate([x, [-5.3, -0.4, 0.13, 0.6, 1.2, 9.1, np.nan]])
        found = rules.closed_form(distribution, method)(x, *shapes, LOC, SCALE)
        expected = getattr(distribution, method)(x, *shapes, LOC, SCALE)
        counts = expected != -np.inf if method == "logpdf" else slice(None)  # SciPy's underflow
        np.testing.assert_allclose(
            found[counts], expected[counts], rtol=1e-7, atol=1e-10, err_msg=method
        )
        invalid = rules.closed_form(distribution, method)(x, *shapes, LOC, -1.0)
        assert np.all(np.isnan(invalid)), method


CASES = [(name, method) for name in KNOWN for method in METHODS]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "method"), CASES if MANY else CASES[::7])
def test_derivatives(name: str, method: str) -> None:
    x, shapes = point(name, method)
    by_shapes = (method in ("pdf", "logpdf") and name != "ncx2") or name in BY_SHAPES
    active = [f"s{i}" for i in range(len(shapes))] if by_shapes else []
    parameters = ["x", *active, "loc", "scale"]
    f = program(name, method, "".join(f"{s}, " for s in active or shapes), parameters)
    values = (x, *(shapes if active else ()), LOC, SCALE)
    gradient = srcgrad.grad(f, tuple(range(len(values))))(*values)
    for position, found in enumerate(gradient):
        step = 1e-6
        above, below = (
            f(*values[:position], values[position] + s, *values[position + 1 :])
            for s in (step, -step)
        )
        expected = (above - below) / (2 * step)
        np.testing.assert_allclose(np.sum(found), expected, rtol=1e-4, atol=1e-5)
    ones = tuple(np.ones_like(v)[()] for v in values)
    moving = srcgrad.jvp(f, values, ones)[1]
    np.testing.assert_allclose(moving, sum(np.sum(g) for g in gradient), rtol=1e-8, atol=1e-8)


@pytest.mark.filterwarnings("ignore")
def test_a_smooth_distribution_function_at_the_kink_of_its_density() -> None:
    gradient = srcgrad.grad(lambda x: stats.laplace.cdf(x))
    assert gradient(0.0) == 0.5
    assert stats.laplace.cdf(-40.0) == pytest.approx(
        rules.closed_form(stats.laplace, "cdf")(-40.0), rel=1e-12
    )


def test_a_shape_by_which_there_is_no_closed_form_is_refused() -> None:
    with pytest.raises(srcgrad.UnsupportedError, match="shape"):
        srcgrad.grad(lambda a: stats.nakagami.cdf(1.0, a))(2.0)
    assert srcgrad.grad(lambda x: stats.nakagami.cdf(x, 2.0))(1.0) == pytest.approx(
        stats.nakagami.pdf(1.0, 2.0)
    )
    assert srcgrad.grad(lambda x: stats.nakagami(nu=2.0, scale=x).cdf(1.0))(1.0) == pytest.approx(
        -stats.nakagami.pdf(1.0, 2.0)
    )


@pytest.mark.parametrize("call", ["sf(x, bogus=2)", "sf(x, 1.0, 2.0, 3.0)"])
def test_a_parameter_that_there_is_not_is_refused(call: str) -> None:
    text = f"def f(x):\n    return stats.maxwell.{call}\n"
    names: dict[str, Any] = {"stats": stats}
    exec(text, names)
    with pytest.raises(srcgrad.UnsupportedError, match="no such parameter"):
        srcgrad.grad(names["f"], source=text)(1.0)
