"""Programs at the edges: empty arrays, conversions, arrays of nothing but nan."""

from __future__ import annotations

import functools
import linecache
import operator
import warnings
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads, directional_difference

from . import expressions

REDUCTIONS = ("mean", "var", "std", "nanmean", "nanvar", "nanstd", "median", "nanmedian", "average")
REDUCTIONS += ("sum", "nansum", "prod", "nanprod")


def function(expression: str, **names: Any) -> Any:
    """A function of x that returns an expression."""
    text = f"def f(x):\n    return {expression}\n"
    filename = f"<edge {expression} {names}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace = {"np": np, **names}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["f"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("shape", [(0,), (0, 3)])
def test_of_an_empty_array_the_gradient_is_empty(name: str, shape: tuple[int, ...]) -> None:
    f = function(f"np.{name}(x)")
    x = np.zeros(shape)
    assert srcgrad.grad(f)(x).shape == shape
    assert srcgrad.hvp(f)(x, x).shape == shape
    value, tangent = srcgrad.jvp(f, (x,), (x,))
    np.testing.assert_equal(value, f(x))
    assert np.isnan(tangent) or tangent == 0
    found = srcgrad.grad(function(f"np.sum(np.{name}(x, axis=0))"))(x)
    assert found.shape == shape


def test_the_mean_of_nothing_warns_once() -> None:
    f = function("np.mean(x)")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        assert np.isnan(srcgrad.value_and_grad(f)(np.zeros(0))[0])
    assert [w.category for w in found] == [RuntimeWarning]


@pytest.mark.filterwarnings("ignore")
def test_of_what_a_mask_leaves_empty() -> None:
    gradient = srcgrad.grad(function("np.mean(x[x > 2])"))
    assert gradient(np.ones(3)).tolist() == [0, 0, 0]
    assert gradient(np.array([1.0, 3.0, 5.0])).tolist() == [0, 0.5, 0.5]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", ["np.max(x)", "np.nanmean(x)", "np.var(x[:1], ddof=1)"])
def test_nan_is_no_error(expression: str) -> None:
    assert np.isnan(srcgrad.grad(function(expression))(np.full(2, np.nan))[0])


DTYPES = (np.float16, np.float32, np.float64, np.longdouble)
DTYPES += (np.complex64, np.complex128, np.clongdouble)  # type: ignore[assignment]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "expression",
    [
        "np.sum(np.real(D(x) ** 2))",
        "np.sum(np.real(np.array(x, dtype=D) ** 2))",
        "np.sum(np.real(np.asarray(x, dtype=D) ** 2))",
        "np.sum(np.real(np.asarray(x).astype(D) ** 2))",
        "np.sum(np.real(np.dtype(D).type(x) ** 2))",
        "np.sum(np.real(np.ascontiguousarray(x, dtype=D) ** 2))",
    ],
)
@pytest.mark.parametrize("x", [1.5, np.array([1.5, 2.5]), np.ones((2, 0), np.float32)])
def test_a_conversion_passes_the_derivative_on(expression: str, dtype: Any, x: Any) -> None:
    f = function(expression, D=dtype)
    ones = np.ones_like(x)[()]
    found = srcgrad.grad(f)(x)
    assert np.shape(found) == np.shape(x)
    assert np.result_type(found) == getattr(x, "dtype", np.float64)
    np.testing.assert_allclose(found, 2 * x, rtol=1e-2)
    np.testing.assert_allclose(srcgrad.jvp(f, (x,), (ones,))[1], np.sum(2 * x), rtol=1e-2)
    np.testing.assert_allclose(srcgrad.hvp(f)(x, ones), 2 * ones, rtol=1e-2)


def test_a_conversion_to_ints_has_no_slope() -> None:
    assert srcgrad.grad(function("np.int64(x) * x"))(2.5) == 2
    assert srcgrad.grad(function("x.dtype.type(x[0]) * x[1]"))(np.array([2.0, 3.0])).tolist() == [
        3,
        2,
    ]


R = np.random.default_rng(0)
DATA, WEIGHTS = R.uniform(0.5, 3, 7), R.uniform(0.5, 2, 7)
SAMPLE = R.normal(size=(3, 7))
EXPRESSIONS = [
    ("np.cov(x, fweights=[1, 2, 1, 3, 1, 1, 2])", SAMPLE),
    ("np.cov(x, aweights=DATA, ddof=0)", SAMPLE),
    ("np.cov(x, y, aweights=DATA, fweights=[1, 2, 1, 3, 1, 1, 2])", SAMPLE, WEIGHTS),
    ("np.cov(x, rowvar=False, aweights=[0.5, 1.0, 2.0], bias=True)", SAMPLE),
    ("(-x) ** (y + 1j * x)", DATA, WEIGHTS),
    ("np.float_power(-x, y * 1j)", DATA, WEIGHTS),
    ("(-x[0]) ** (1 + 1j * x[1])", DATA),
    ("pow(-2.5, 1j * x[1])", DATA),
    ("operator.ipow(x * np.exp(3j * x), np.sum(y) * 0.2)", DATA, WEIGHTS),
    ("operator.ipow(x * np.exp(3j * x), y - 1j * x)", DATA, WEIGHTS),
    ("np.var(x + 1j * x**2, axis=1, dtype=complex, ddof=0.5)", SAMPLE),
    ("np.nanstd(x + 1j * x**2, 0, complex)", SAMPLE),
    ("np.array([x.clip(0.2), x.clip(0.2, None), x.clip(max=y), x.clip(y)])", SAMPLE, DATA),
    ("np.einsum('ij,kj->ik', x, x, dtype=float, order='F', casting='safe')", SAMPLE),
    ("np.histogram(DATA, 5, (0, 3), weights=x)[0]", WEIGHTS),
    ("np.histogram(DATA, [0, 1, 2, 3], weights=x)[0]", WEIGHTS),
    ("np.histogram(DATA, 4, weights=x, density=True)[0]", WEIGHTS),
    ("np.histogram(x, [0, 1, 2, 3])[0] * x[:3]", DATA),
    ("np.bincount([0, 1, 1, 2, 0, 3, 3], x)", WEIGHTS),
    ("np.bincount(np.digitize(x, [1.0, 2.0]), weights=y, minlength=4)", DATA, WEIGHTS),
    ("np.polydiv(x, y)[0]", DATA, WEIGHTS[:3]),
    ("np.polydiv(x, y[:3])[1]", DATA, WEIGHTS),
    ("np.sum(np.polydiv(x[:2], y)[1]) * np.polydiv(x, x[:1])[0]", DATA[:3], WEIGHTS[:3]),
    ("np.polynomial.Polynomial(x)(y)", DATA, WEIGHTS),
    ("np.polynomial.Polynomial(x, domain=(0, 4)).deriv(2)(y)", DATA, WEIGHTS),
    ("np.polynomial.Polynomial(x).integ(lbnd=1)(y)", DATA, WEIGHTS),
    ("np.polynomial.Polynomial.fit(x, y, 3).convert().coef", DATA, WEIGHTS),
    ("np.polynomial.Polynomial.fit(x, y, 2, full=True)[1][0]", DATA, WEIGHTS),
    ("np.polynomial.Polynomial.fit(x, y, 2, w=DATA).linspace(4)[1]", DATA, WEIGHTS),
    ("np.polynomial.Polynomial(x, domain=(0, 4)).roots().real", np.array([1.0, -5.0, 2.0])),
    ("(np.polynomial.Polynomial(x) ** 2 * [1.0, 2.0] - 1)(y)", DATA[:3], WEIGHTS),
    ("(1 - np.polynomial.Polynomial(x) / 3)(y)", DATA[:3], WEIGHTS),
    ("(2 * np.poly1d(x).deriv() + np.poly1d(y))(x)", DATA[:3], WEIGHTS[:4]),
    ("(np.poly1d(x) * np.poly1d(y)).integ()(x)", DATA[:3], WEIGHTS[:4]),
]
for _family in ("Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre"):
    EXPRESSIONS += [
        (f"np.polynomial.{_family}(x)(y)", DATA[:5], WEIGHTS),
        (f"np.polynomial.{_family}(x).deriv()(y)", DATA[:5], WEIGHTS),
        (f"np.polynomial.{_family}.fit(x, y, 2).integ(2)(x)", DATA, WEIGHTS),
        (f"(np.polynomial.{_family}(x).integ() + x)(y)", DATA[:5], WEIGHTS),
    ]


@pytest.mark.parametrize("case", EXPRESSIONS, ids=lambda case: case[0])
def test_expression(case: tuple[Any, ...]) -> None:
    expressions.check(*case, DATA=DATA, operator=operator)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("expression", "at"),
    [
        *(
            (f"np.{name}(x)", 0.0)
            for name in ("log", "log2", "log10", "sqrt", "cbrt", "reciprocal")
        ),
        *((f"np.{name}(x)", 1.0) for name in ("arcsin", "arccos", "arctanh", "arccosh")),
        *((f"np.{name}(1.0, x)", 0.0) for name in ("divide", "fmod", "remainder")),
        ("np.log1p(x)", -1.0),
        ("np.power(x, -1.0)", 0.0),
    ],
)
def test_functions_of_numpy_divide_a_python_float_by_zero(expression: str, at: float) -> None:
    f = function(expression)
    assert not np.isfinite(srcgrad.grad(f)(at))
    assert not np.isfinite(srcgrad.jvp(f, (at,), (1.0,))[1])


MASKED = [
    "np.where(x > 0, np.log(x), x * x)",
    "np.where(x > 0, np.sqrt(x), 0.0) * y",
    "np.where(x != 0, y / x, y)",
    "np.where(x > 0, x**0.3, x)",
    "np.where(x > 0, np.where(x > 1, np.log(x - 1), np.sqrt(x)), y)",
    "np.where(np.abs(x) < 0.9, np.arccos(x / 2), y * x)",
    "np.where(x > 0, np.arctan2(x, x * 0 + y), x * y)",
    "np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), y)",
    "np.log(x, np.zeros(4), where=x > 0)",
    "np.divide(y, x, np.ones(4), where=x != 0)",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", MASKED)
def test_a_branch_not_taken_leaks_no_nan(expression: str) -> None:
    """In reverse, forward and second order, at points where the other branch has no derivative."""
    x, y = np.array([0.0, -0.5, 1.7, 0.6]), np.array([0.5, 1.2, 0.8, 2.0])
    still = np.array([0.0, 0.3, -0.2, 0.7])  # x[0] stays where it is

    def gradient(x: Any, y: Any) -> Any:
        return srcgrad.grad(program, (0, 1))(x, y)

    program = expressions.function(expression, 2)
    found = gradient(x, y)
    assert np.all(np.isfinite(found))
    step = 1e-6
    expected = (program(x + step * still, y) - program(x - step * still, y)) / (2 * step)
    np.testing.assert_allclose(np.sum(found[0] * still), expected, rtol=1e-5, atol=1e-7)
    forward = srcgrad.jvp(program, (x, y), (still, 0 * y))[1]
    np.testing.assert_allclose(forward, expected, rtol=1e-5, atol=1e-7)
    second = srcgrad.jvp(srcgrad.grad(program), (x, y), (still, 0 * y))[1]
    above, below = gradient(x + step * still, y)[0], gradient(x - step * still, y)[0]
    np.testing.assert_allclose(second, (above - below) / (2 * step), rtol=1e-4, atol=1e-5)


LOST = [
    "np.where(x > 0, np.sqrt(x[[1, 0, 2]]), 0.0)",
    "np.where(x > 0, np.sqrt(x)[::-1], 0.0)",
    "np.where(x > 0, np.sqrt(x) + np.sqrt(x) * x, 0.0)",
    "np.where(x > 0, np.log(x)[[2, 2, 0]], np.log(9 - x))",
    "np.where(x > 0, np.where(x > 1, (x**0.3)[:, None][:, 0], np.sqrt(x)), 0.0)",
    "np.where(x > 0, np.cumsum(np.arctan2(x, x * x)), 0.0)",
    "np.where(x > 0, np.sum(1 / x), 0.0)",
    "np.where(x > 0, x * x, 0.0) + np.where(x > 1, x * x * x, x * x)",
    "np.clip(np.where(x > 0, np.log(x)[::-1], 0.0), -5, 5)",
    "np.maximum(np.where(x > 0, np.power(x, 1.5)[::-1], 0.0), -1.0)",
]


@pytest.mark.parametrize("expression", LOST)
def test_a_zero_adjoint_of_what_is_taken_has_a_derivative(expression: str) -> None:
    """A branch that is taken has an adjoint of zero; that hides nothing in the second order."""
    values = function(expression)
    x, y, direction = np.array([0.6, 1.7, 2.5]), np.zeros(3), np.array([0.3, -1.2, 0.7])
    slope = srcgrad.jacfwd(values)(x)

    def product(x: Any, y: Any) -> Any:
        return np.sum(values(x) * y)

    def squares(x: Any, target: Any) -> Any:
        residual = values(x) - target
        return 0.5 * np.sum(residual * residual)

    def along(x: Any, y: Any) -> Any:
        return srcgrad.jvp(product, (x, y), (direction, np.zeros(3)))[1]

    def gradient(x: Any, y: Any) -> Any:
        return srcgrad.grad(product)(x, y)

    def push(y: Any) -> Any:
        return np.sum(srcgrad.grad(product)(x, y) * direction)

    def sensitivity(x: Any, y: Any) -> Any:
        return srcgrad.grad(product, 1)(x, y)

    close = functools.partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-12)
    moved = srcgrad.jvp(gradient, (x, y), (np.zeros(3), direction))[1]
    close(moved, direction @ slope)
    close(srcgrad.jvp(sensitivity, (x, y), (direction, y))[1], slope @ direction)
    close(srcgrad.hessian(product, (0, 1))(x, y)[0][1], slope.T)
    close(srcgrad.hvp(product, (0, 1))(x, y, (np.zeros(3), direction))[0], direction @ slope)
    close(srcgrad.grad(push)(y), slope @ direction)
    close(srcgrad.grad(along, 1)(x, y), slope @ direction)
    close(srcgrad.hessian(squares)(x, values(x)), slope.T @ slope)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("y", [0.0, 0.8])
def test_what_a_lost_mask_hides_stays_hidden_in_the_second_order(y: float) -> None:
    """Of nan where nothing is taken nothing is seen; the third order is right as well."""

    def program(x: Any, y: Any) -> Any:
        return np.sum(np.where(x > 0, np.sqrt(x)[::-1][::-1], 0.0) * y)

    def slope(x: Any, y: Any) -> Any:
        return srcgrad.grad(program)(x, y)

    def bend(x: Any, y: Any, direction: Any) -> Any:
        return srcgrad.jvp(slope, (x, y), (direction, 0.0))[1]

    x, direction = np.array([0.0, 4.0, 1.0]), np.array([0.0, 1.0, 1.0])
    assert srcgrad.grad(program)(x, y).tolist() == [0.0, y / 4, y / 2]
    assert srcgrad.jvp(slope, (x, y), (0 * x, 1.0))[1].tolist() == [0.0, 0.25, 0.5]
    assert bend(x, y, direction).tolist() == [0.0, -y / 32, -y / 4]
    third = srcgrad.jvp(bend, (x, y, direction), (0 * x, 1.0, 0 * x))[1]
    assert third.tolist() == [0.0, -1 / 32, -1 / 4]


@pytest.mark.parametrize("mode", ["constant", "linear_ramp"])
@pytest.mark.parametrize(
    "values",
    [
        *(
            "y[0]",
            "np.array([y[0]])",
            "np.array([y[0], y[2]])",
            "y[:2].reshape(2, 1)",
            "y[:2].reshape(1, 2)",
        ),
        *(
            "y.reshape(2, 2)",
            "(y[0], y[1])",
            "[y[0], 2 * y[0]]",
            "((y[0], 3.0), (y[2], y[0] * y[1]))",
        ),
    ],
)
def test_what_is_padded_with_has_a_derivative(mode: str, values: str) -> None:
    name = "constant_values" if mode == "constant" else "end_values"
    for width in ("2", "((1, 2), (0, 3))"):
        expressions.check(
            f"np.pad(x, {width}, {mode!r}, {name}={values})",
            R.normal(size=(3, 4)),
            R.normal(size=4),
        )


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "linear_ramp", "mean", "minimum"])
def test_how_much_is_padded_may_be_known_at_run_time_only(mode: str) -> None:
    expression = f"np.pad(x, int(w), {mode!r})"
    for width in (0.5, 1.5, 2.5):
        expressions.check(expression, DATA[:6].reshape(2, 3) * 1.0, w=width)


def test_edges_that_follow_the_data() -> None:
    check_grads(function("np.histogram(x, 5)[1] ** 2"), (DATA,), 2)


def test_subscripts_that_are_no_integers_are_refused() -> None:
    with pytest.raises(srcgrad.UnsupportedError, match="an integer or an ellipsis"):
        srcgrad.grad(function("np.sum(np.einsum(x, ['a']))"))(DATA)


def test_descriptions_of_sequences() -> None:
    f = function("x * np.shape([x, 2.0])[0] * np.ndim([[x]]) * np.size((x, x), 0)")
    assert srcgrad.grad(f)(2.0) == 8


def test_a_length_known_to_be_positive_needs_no_branch() -> None:
    gradient = srcgrad.grad(function("np.mean(x) if x.size > 0 else 0.0"))
    assert gradient(np.ones((2, 2))).tolist() == [[0.25, 0.25]] * 2
    assert "return np.full(x.shape, 1.0 / x.size)" in gradient.source
    assert gradient(np.ones((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("name", ("max", "mean", "sum", "std"))
def test_what_a_wrapper_was_not_given_it_hands_on_as_no_value(name: str) -> None:
    x = np.array([[1.0], [2.0], [5.0]])
    expected = srcgrad.grad(function(f"np.sum(np.{name}(x, axis=1) * w)", w=np.arange(3.0)))(x)
    handed = f"np.sum(np.{name}(x, axis=1, keepdims=np._NoValue) * w)"
    np.testing.assert_equal(srcgrad.grad(function(handed, w=np.arange(3.0)))(x), expected)


@pytest.mark.parametrize("call", ("nanmedian(x", "quantile(x, 0.3", "percentile(x, [30, 40]"))
def test_quantiles_over_no_axes_are_the_elements(call: str) -> None:
    found = srcgrad.grad(function(f"np.sum(np.{call}, axis=()) * 3.0)"))(np.arange(4.0))
    np.testing.assert_allclose(found, 3.0 * (1 + ("[" in call)))


@pytest.mark.parametrize(
    "call",
    ("max(x, axis=1)", "max(x, axis=(1,))", "sum(x, axis=(0,))", "logaddexp.reduce(x, axis=1)"),
)
def test_an_axis_of_a_number_is_reported_as_numpy_does(call: str) -> None:
    with pytest.raises(np.exceptions.AxisError):
        srcgrad.grad(function(f"np.sum(np.{call})"))(0.7)


@pytest.mark.parametrize(
    "call", ("trapezoid(x)", "flip(x, 0)", "split(x, 1)[0]", "transpose(x[None, None], (0, 0))")
)
def test_what_no_number_has_is_no_internal_error(call: str) -> None:
    with pytest.raises((ValueError, IndexError, srcgrad.UnsupportedError)):
        srcgrad.grad(function(f"np.sum(np.{call})"))(np.array(0.7))


@pytest.mark.parametrize("ufunc", ("subtract", "divide"))
@pytest.mark.parametrize("given", ("axis=None", "axis=(0, 1)", "where=x > 0"))
def test_reductions_whose_order_matters(ufunc: str, given: str) -> None:
    f = function(f"np.sum(np.{ufunc}.reduce(x, {given}))")
    for call in (f, srcgrad.grad(f)):
        with pytest.raises(ValueError, match=r"ax[ei]s|where"):
            call(np.ones((2, 3)))


@pytest.mark.parametrize(
    "call",
    [
        *(f"np.{name}(z, dtype=float)" for name in ("var", "nanstd", "prod", "cumprod", "cov")),
        "np.multiply.reduce(z, dtype=float)",
        "np.einsum('i,i', z, z, dtype=float, casting='unsafe')",
        "np.corrcoef(z, z**2, dtype=float)",
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_imaginary_parts_that_are_cut_off_are_refused(call: str) -> None:
    f = function(f"np.sum(({call}).real)".replace("z", "(x + 1j * x[::-1])"))
    with pytest.raises(srcgrad.UnsupportedError, match="cuts imaginary parts off"):
        srcgrad.grad(f)(np.array([1.0, 2.0, 4.0]))


def test_an_axis_transformed_twice_to_other_lengths_is_refused() -> None:
    with pytest.raises(srcgrad.UnsupportedError, match="given twice"):
        srcgrad.grad(function("np.sum(np.fft.fft2(x, (2, 5), axes=(-1, -1)).real)"))(np.ones(4))


@pytest.mark.parametrize(
    "call", ("polyval(x, w)", "polyder(x)", "polyadd(x, x)", "polysub(x, w)", "polyint(x)")
)
def test_several_polynomials_are_refused(call: str) -> None:
    with pytest.raises(srcgrad.UnsupportedError, match="several polynomials"):
        srcgrad.grad(function(f"np.sum(np.{call})", w=np.ones(2)))(np.ones((2, 2)))


@pytest.mark.parametrize("name", ["arcsin", "arccos", "arccosh", "arctanh", "sqrt", "log"])
@pytest.mark.parametrize("argument", ["x + 0j", "np.conj(x + 0j)", "np.lib.scimath.sqrt(-x * x)"])
def test_on_the_cut_of_a_complex_function(name: str, argument: str) -> None:
    """As of what refracts into glass at an angle of total reflection."""
    f = function(f"np.{name}({argument})")
    check_grads(f, (np.array([-2.5, -0.3, 0.4, 1.7]),), 2)


def test_whether_a_constant_is_complex_is_asked_when_it_is_known() -> None:
    def f(x, c):
        return np.real(np.emath.sqrt(c) * x * 1j) ** 2 + abs(np.emath.sqrt(c) * x)

    for c in (2.0, -2.0):
        gradient = srcgrad.grad(f)(0.4, c)
        slope, _ = directional_difference(lambda t, c=c: f(0.4 + t, c))
        np.testing.assert_allclose(gradient, slope, rtol=1e-7)


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("indexing", ["ij", "xy"])
def test_one_of_the_grids_of_what_is_not_differentiated_too(number: int, indexing: str) -> None:
    given = ["np.arange(3)", "x"] if number else ["x", "np.arange(3)"]
    f = function(f"np.meshgrid({', '.join(given)}, indexing={indexing!r})[{number}] ** 2")
    check_grads(f, (DATA[:4],), 2)


def test_parts_that_are_written_later_are_masked_and_broadcast() -> None:
    """The quotients of a pivoting rule: as many as is told, not as the table says."""

    def f(table, rows):
        found = np.zeros(rows)
        quotients = np.divide(table[1:, -1], table[1:, 0], out=found, where=table[1:, 0] > 0)
        row = np.argmax(quotients) + 1
        table -= table[:, 0][:, None] * table[row] * np.sum(quotients)
        return np.sum(table**2)

    check_grads(f, (np.arange(12.0).reshape(3, 4) / 7 - 0.3, 2), 2)


@pytest.mark.parametrize("roots", [[1 + 1j, 1 - 1j, 0.5], [1 - 1j], [0.5 + 0j, 2.0], [0.5, 2.0]])
def test_the_polynomial_of_complex_roots_is_real_or_complex_as_they_are(roots: Any) -> None:
    def f(roots):
        coefficients, others = np.poly(roots), np.polynomial.polynomial.polyfromroots(roots)
        empty = np.zeros(2, coefficients.dtype), np.zeros(2, others.dtype)
        return *empty, coefficients, others, np.imag(coefficients) + 2 * np.imag(others)

    x = np.array(roots)
    for ours, theirs in zip(srcgrad.vjp(f, x)[0], f(x), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs)
    check_grads(lambda x: np.sum(np.abs(np.poly(x)) ** 2), (x,), 1)  # beside them it is complex


@pytest.mark.parametrize("expression", ["np.ravel(x, order='A')", "np.sort(x, None)"])
def test_a_number_of_python_s_is_an_array_without_axes(expression: str) -> None:
    f = function(f"np.sum({expression} ** 2)")
    check_grads(f, (0.7,), 2)


@pytest.mark.parametrize("casting", ["same_kind", "no"])
def test_a_dtype_that_numpy_casts_nothing_to_is_not_taken(casting: str) -> None:
    dtype = "int" if casting == "same_kind" else "np.float32"
    f = function(f"np.negative(x, dtype={dtype}, casting={casting!r})")
    with pytest.raises((TypeError, srcgrad.UnsupportedError)):
        f(DATA)
    with pytest.raises((TypeError, srcgrad.UnsupportedError)):
        srcgrad.vjp(f, DATA)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["fft2", "ifft2"])
def test_the_last_axes_are_transformed_if_only_their_lengths_are_given(name: str) -> None:
    f = function(f"np.sum(np.abs(np.fft.{name}(x, (2, 3), axes=None)) ** 3)")
    check_grads(f, (np.cos(np.arange(40.0)).reshape(2, 4, 5),), 1)


@pytest.mark.parametrize(
    "expression",
    [
        "np.sum(x, 0, where=x[0] > 0.1, out=np.ones(4))",
        "np.max(x, 0, where=np.arange(4) > 1, out=np.ones(4), initial=-0.3)",
        "np.mean(x, 1, where=np.arange(4) > 1, out=np.ones(3))",
        "np.prod(x, where=np.arange(4) > 1, out=np.ones(()))",
    ],
)
def test_where_says_what_is_reduced_and_not_what_is_written(expression: str) -> None:
    f = function(f"np.sum({expression} ** 2)")
    check_grads(f, (np.cos(np.arange(12.0)).reshape(3, 4),), 2)


SMOOTH = {
    "special.spence(x)": 1.0,
    "special.spence(x) + special.spence(x + 0.05)": 1.0,
    "special.elliprc(x, 1.5)": 1.5,
    "special.elliprc(1.5, x)": 1.5,
    "special.elliprc(1.45, x)": 1.5,
    "special.rgamma(x - 2)": 0.0,
    "special.rgamma(x - 1e-3)": -1.0,
    "special.rgamma(x)": 0.0,
    "special.shichi(x)[0]": 0.0,
    "special.iti0k0(x)[0] + special.itj0y0(x + 1)[0]": 0.2,
    "special.eval_chebyt(-2, x)": 0.3,
    "special.eval_chebyc(0, x) + special.eval_chebys(-3, x)": 0.3,
}


@pytest.mark.parametrize("expression", SMOOTH)
def test_derivatives_of_all_orders_where_their_formula_is_singular(expression: str) -> None:
    """What is divided by zero there has a limit, and that has derivatives of its own."""
    special = pytest.importorskip("scipy.special")
    f = function(expression, special=special)
    for step, tolerance in [(1e-4, 1e-8), (1e-3, 1e-6), (4e-3, 1e-4)]:
        points = [SMOOTH[expression] + k * step for k in (-2, -1, 1, 2)]
        slope = np.dot([1, -8, 8, -1], [f(p) for p in points]) / (12 * step)
        f = srcgrad.grad(f)
        np.testing.assert_allclose(f(SMOOTH[expression]), slope, tolerance, tolerance)


@pytest.mark.parametrize(
    "expression",
    ["pow(base=x, exp=3)", "pow(exp=x, base=2.0)", "round(ndigits=1, number=3.1 * x) * x"],
)
def test_builtin_functions_take_their_arguments_by_name(expression: str) -> None:
    check_grads(function(expression), (0.7,), 2)


@pytest.mark.parametrize("name", ["geomspace", "logspace"])
def test_spaces_from_numbers_of_which_little_is_known(name: str) -> None:
    """A sum that starts as an int: it isn't known to be real when compiling."""

    def f(x):
        total = 0
        for v in x:
            total = total + v
        return np.sum(getattr(np, name)(total + 1.5, 2.0, 3) ** 2)

    check_grads(f, (DATA[:3],), 2)


def test_strides_of_arrays_of_which_the_run_tells_the_axes() -> None:
    def f(x, flat):
        y = x if flat else np.outer(x, x)
        return np.sum(np.lib.stride_tricks.as_strided(y, (2,), (8,)) ** 2)

    for flat in (True, False):
        check_grads(f, (DATA[:3], flat), 1)
