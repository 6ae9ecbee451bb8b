"""The keyword `dtype` and the methods of ufuncs: reduce, accumulate, reduceat, outer and at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

from . import expressions
from .test_edges import function

R = np.random.default_rng(5)
MATRIX, VECTOR, OTHER = R.uniform(0.4, 2, (3, 4)), R.uniform(0.4, 2, 5), R.uniform(0.4, 2, 3)
CHOSEN = np.array([[1, 0, 1, 1], [0, 1, 1, 0], [1, 1, 0, 1]], bool)

REORDERABLE = ("add", "multiply", "maximum", "minimum", "fmax", "fmin", "hypot", "logaddexp")
REORDERABLE += ("logaddexp2",)
ORDERED = ("subtract", "divide", "fmod", "remainder", "float_power", "copysign", "floor_divide")

REDUCTIONS = [
    *("", "axis=1", "axis=-1, keepdims=True", "axis=1, dtype=np.float64", "initial=1.5"),
    *("axis=0, where=CHOSEN, initial=1.1", "axis=1, out=np.empty(3)"),
]
OF_SEVERAL_AXES = ["axis=None", "axis=(0, 1)", "axis=()", "axis=(1, 0), keepdims=True, initial=2.0"]


def check(expression: str, *xs: Any, second: bool = False) -> None:
    expressions.check(expression, *xs, second=second, CHOSEN=CHOSEN)


@pytest.mark.parametrize("keywords", REDUCTIONS)
@pytest.mark.parametrize("name", REORDERABLE + ORDERED)
def test_reduce(name: str, keywords: str) -> None:
    check(f"np.{name}.reduce(x, {keywords})", MATRIX, second=keywords == "axis=1")


@pytest.mark.parametrize("keywords", OF_SEVERAL_AXES)
@pytest.mark.parametrize("name", REORDERABLE)
def test_reduce_several_axes(name: str, keywords: str) -> None:
    check(f"np.{name}.reduce(x, {keywords})", MATRIX)


@pytest.mark.parametrize("name", (*REORDERABLE, *ORDERED, "power", "arctan2"))
def test_accumulate(name: str) -> None:
    check(f"np.{name}.accumulate(x)", VECTOR, second=True)
    for keywords in ("axis=1", "axis=-1, dtype=float", "axis=0, out=np.empty((3, 4))"):
        check(f"np.{name}.accumulate(x, {keywords})", MATRIX)


@pytest.mark.parametrize("name", REORDERABLE + ORDERED)
def test_reduceat(name: str) -> None:
    check(f"np.{name}.reduceat(x, [0, 3, 1])", VECTOR, second=True)
    for rest in ("[0, 2], axis=1", "np.array([2, 0]), -1", "[0, 1], 0, np.float64"):
        check(f"np.{name}.reduceat(x, {rest})", MATRIX)


@pytest.mark.parametrize("name", (*REORDERABLE, *ORDERED, "power", "arctan2"))
def test_outer(name: str) -> None:
    check(f"np.{name}.outer(x, y)", VECTOR, OTHER, second=True)
    check(f"np.{name}.outer(x, y)", MATRIX, OTHER)


def written(statement: str) -> Any:
    return function("run(x * 1)", run=function(f"({statement}, np.sum(x * x))[1]"))


@pytest.mark.parametrize("name", (*REORDERABLE, *ORDERED, "power", "arctan2"))
def test_at_takes_repeated_elements_one_after_the_other(name: str) -> None:
    for x, indices in (
        (VECTOR, "[0, 1, 1]"),
        (VECTOR, "np.array([[0, 0, 0]])"),
        (MATRIX, "([0, 1, 1], [0, 0, 2])"),
    ):
        f = written(f"np.{name}.at(x, {indices}, np.array([0.5, 1.5, 0.7]))")
        check_grads(f, (x,), order=1)


@pytest.mark.parametrize("name", ["negative", "exp", "sin", "square"])
def test_at_of_functions_of_one(name: str) -> None:
    check_grads(written(f"np.{name}.at(x, [0, 0, 2])"), (VECTOR,), order=1)


@pytest.mark.parametrize("name", ["power", "arctan2"])
def test_reductions_that_numpy_gets_wrong_are_refused(name: str) -> None:
    with pytest.raises(srcgrad.UnsupportedError, match="depends on how the array lies in memory"):
        srcgrad.grad(function(f"np.sum(np.{name}.reduce(x))"))(MATRIX)


@pytest.mark.parametrize("name", ["sin", "log", "sqrt", "absolute", "square", "tanh"])
def test_dtype(name: str) -> None:
    check(f"np.{name}(x, dtype=np.float64)", VECTOR, second=True)
    check(f"np.{name}(x, dtype=x.dtype)", VECTOR)
    check(f"np.{name}(x, dtype=None)", VECTOR)
    check(f"np.{name}(x, np.zeros(5), where=x > 1, dtype='d')", VECTOR)
    f = function(f"np.sum(np.{name}(x, dtype=np.float32))")
    found = srcgrad.grad(f)(VECTOR)
    assert found.dtype == np.float64
    exact = srcgrad.grad(function(f"np.sum(np.{name}(x))"))(VECTOR)
    np.testing.assert_allclose(found, exact, rtol=1e-6)


def test_dtype_complex_of_real_operands() -> None:
    check("np.sqrt(-x, dtype=complex).imag", VECTOR, second=True)
    check("np.arccosh(x / 5, dtype=complex).imag", VECTOR)
    check("np.multiply(x, y[0], dtype=complex) * 1j", VECTOR, OTHER)


def test_a_logaddexp_of_nothing_but_minus_infinity_has_no_slope() -> None:
    x = np.array([[-np.inf, -np.inf, -np.inf], [0.5, -np.inf, 2.0]])

    def f(x: Any) -> Any:
        return np.sum(np.exp(np.logaddexp.reduce(x, axis=1)))

    value, gradient = srcgrad.value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_allclose(gradient, np.exp(x), rtol=1e-14)
    pushed = srcgrad.jvp(f, (x,), (np.ones_like(x),))[1]
    assert pushed == pytest.approx(np.sum(np.exp(x)), rel=1e-14)


def test_of_eigenvalues_alone_the_vectors_have_no_adjoint() -> None:
    f = function("np.sum(np.abs(np.linalg.eig(x)[0]) ** 2)")
    g = function("np.sum(np.abs(np.linalg.eig(x).eigenvalues) ** 2)")
    check_grads(f, (MATRIX[:, :3],), order=1, modes=("rev",))
    check_grads(g, (MATRIX[:, :3],), order=1, modes=("rev",))


def test_levels_in_any_arrangement_have_second_derivatives() -> None:
    levels = np.array([[0.1, 0.35], [0.6, 0.8]])
    check("np.quantile(x, y)", VECTOR, levels, second=True)
    check("np.percentile(x, 100 * y, axis=(0, 1), keepdims=True)", MATRIX, levels, second=True)
    check("np.nanquantile(x, y, 1)", MATRIX, levels, second=True)


@pytest.mark.parametrize("keywords", ['order="F"', "subok=False", 'casting="unsafe"'])
def test_how_the_result_of_a_ufunc_lies_in_memory_is_no_matter_of_its_rule(keywords):
    f = function(f"np.multiply(x, np.exp(x, {keywords}), {keywords}).ravel('K')")
    check_grads(f, (MATRIX,))
    laid_out = srcgrad.vjp(f, MATRIX)[0]
    np.testing.assert_allclose(laid_out, f(MATRIX), rtol=1e-14)
