"""The functions of NumPy that HIPS autograd has no rule for, by name (its issue 788), and more.

Each is differentiated in reverse, forward and second order, against differences.
"""

from __future__ import annotations

import linecache
import re
from typing import Any

import numpy as np
import pytest

from srcgrad import UnsupportedError, grad, jacfwd, jacrev, value_and_grad

from .expressions import check, function

R = np.random.default_rng(5)
VECTOR = np.array([0.7, -1.3, 2.1, 0.4, -0.6])
OTHER = np.array([1.2, 0.3, -0.8, 1.9, 0.5])
MATRIX = np.array([[0.7, -1.3, 2.1, 0.35], [0.4, -0.6, 1.1, -0.9], [1.7, 0.2, -0.45, 0.8]])
A = np.array([0.1, 0.5, 0.6, 0.9, 0.2])
B = np.array([0.4, 0.5, 0.1, 0.7, 0.3])
SQUARE = np.array([[2.1, 0.3, -0.4], [0.2, 1.8, 0.5], [-0.3, 0.6, 1.4]])

# Name, and expressions of x (and y) that call it
REDUCTIONS = {
    "median": ["np.median(x, 1)"], "quantile": ["np.quantile(x, 0.3, 0)"],
    "percentile": ["np.percentile(x, 40, 1)"], "ptp": ["np.ptp(x, 0)"],
    "average": ["np.average(x, 1, np.arange(1.0, 5.0))"], "cumprod": ["np.cumprod(x, 1)"],
    "cumulative_sum": ["np.cumulative_sum(x, axis=1, include_initial=True)"],
    "cumulative_prod": ["np.cumulative_prod(x, axis=0)"], "cov": ["np.cov(x)"],
    "corrcoef": ["np.corrcoef(x)"], "trapezoid": ["np.trapezoid(x, dx=0.3)"],
    "ediff1d": ["np.ediff1d(x)"],
}  # fmt: skip
WITH_HOLES = {
    name: [f"np.{name}(np.where(x > 1.5, np.nan, x), 1)"]
    for name in (
        *("nanmedian", "nansum", "nanvar", "nanmin", "nanmean", "nanmax", "nanstd", "nanprod"),
        *("nancumsum", "nancumprod"),
    )
}
WITH_HOLES |= {"nanquantile": ["np.nanquantile(np.where(x > 1.5, np.nan, x), 0.4, 0)"]}
ELEMENTWISE = {
    "fmod": ["np.fmod(x, y)"], "divmod": ["np.divmod(x, y)[1]"], "cbrt": ["np.cbrt(x)"],
    "float_power": ["np.float_power(np.abs(x), y)"], "positive": ["np.positive(x) * y"],
    "ldexp": ["np.ldexp(x, 2) * y"], "modf": ["np.modf(x * y)[0]"],
    "frexp": ["np.frexp(x * y)[0]"], "copysign": ["np.copysign(x, y)"],
    "heaviside": ["np.heaviside(x, y) * x"], "i0": ["np.i0(x * y)"],
    "unwrap": ["np.unwrap(3 * x + y)"], "sign": ["np.sign(x) * x * y"],
    "nextafter": ["np.nextafter(x, 9.0) * y"], "round": ["np.round(x) * y"],
    "around": ["np.around(x) + y"], "trunc": ["np.trunc(x) * y"],
    "rint": ["np.rint(x) * y"], "floor": ["np.floor(x) * y"], "ceil": ["np.ceil(x) * y"],
}  # fmt: skip
SHAPING = {
    "vander": ["np.vander(x, 3)"], "delete": ["np.delete(x, 1)"],
    "insert": ["np.insert(x, 2, y[0])", "np.insert(x, [0, 2], y[:2])"],
    "resize": ["np.resize(x, (2, 4))"], "diagflat": ["np.diagflat(x, 1)"],
    "flip": ["np.flip(x)"], "meshgrid": ["np.stack(np.meshgrid(x, y))"],
    "trim_zeros": ["np.trim_zeros(x)"], "concat": ["np.concat((x, y))"],
    "block": ["np.block([[x, y], [y, x]])"], "dstack": ["np.dstack((x, y))"],
    "broadcast_arrays": ["np.broadcast_arrays(x[:, None], y)[0]"],
    "unstack": ["np.unstack(np.stack((x, y)))[1]"],
    "matrix_transpose": ["np.matrix_transpose(np.outer(x, y))"],
    "ascontiguousarray": ["np.ascontiguousarray(x[::-1])"], "copy": ["np.copy(x)"],
    "asanyarray": ["np.asanyarray(x)"], "asfortranarray": ["np.asfortranarray(np.outer(x, y))"],
    "asarray_chkfinite": ["np.asarray_chkfinite(x)"], "require": ["np.require(x, float)"],
    "take": ["np.take(x, [3, 0, 0])"],
    "take_along_axis": ["np.take_along_axis(x, np.argsort(y), 0)"],
    "compress": ["np.compress(y > 0, x)"], "extract": ["np.extract(y > 0, x)"],
    "choose": ["np.choose([0, 1, 0, 1, 0], (x, y))"],
    "piecewise": ["np.piecewise(x, [x > 0], [lambda t: t**2, lambda t: -t])"],
    "geomspace": ["np.geomspace(np.abs(x[0]), np.abs(x[2]), 4)"],
    "logspace": ["np.logspace(x[0], x[1], 4)"], "full_like": ["np.full_like(y, x[1])"],
    "interp": ["np.interp(x, np.arange(-2.0, 3.0), y)"], "kaiser": ["np.kaiser(5, x[0]) * y"],
    "apply_along_axis": ["np.apply_along_axis(lambda r: r * r[0], 0, np.outer(x, y))"],
    "apply_over_axes": ["np.apply_over_axes(np.sum, np.outer(x, y), [0])"],
    "vectorize": ["np.vectorize(lambda a, b: a * b)(x, y)"],
    "select": ["np.select([x > 1, y > 0], [x, y], 0.5)"],
    "nan_to_num": ["np.nan_to_num(x * y)"],
    "fromfunction": ["np.fromfunction(lambda i: x[0] * i + y[0], (3,))"],
    "ix_": ["np.outer(x, y)[np.ix_([0, 2], [1, 1])]"],
    "tril_indices": ["np.outer(x, y)[np.tril_indices(3)]"],
}  # fmt: skip
IN_PLACE = {
    "fill_diagonal": "np.fill_diagonal(m, y[0])", "put": "np.put(m, [1, 3], y[:2])",
    "place": "np.place(m, m > 1.5, y[:2])", "putmask": "np.putmask(m, m > 1.5, y)",
    "copyto": "np.copyto(m[0], y)", "add.at": "np.add.at(m, [0, 0, 2], y)",
    "put_along_axis": "np.put_along_axis(m, np.array([[1]]), y[0], 1)",
}  # fmt: skip
PRODUCTS = {
    "vdot": ["np.vdot(x, y)"], "vecdot": ["np.vecdot(x, y)"],
    "vecmat": ["np.vecmat(x, np.outer(y, x))"],
    "matvec": ["np.matvec(np.outer(x, y), y)"],
    "convolve": ["np.convolve(x, y[:2], 'same')", "np.convolve(x, y[0])"],
    "correlate": ["np.correlate(x, y[:3], 'full')"], "polyval": ["np.polyval(x, y)"],
    "polyadd": ["np.polyadd(x, y[:2])"], "polysub": ["np.polysub(x[:2], y)"],
    "polymul": ["np.polymul(x, y)"], "polyder": ["np.polyder(x)"],
    "polyint": ["np.polyint(x, 2, y[0])", "np.polyint(x, 3, y[:3])"],
    "polyfit": ["np.polyfit(x, y, 2)"], "poly": ["np.poly(x)"],
    "bincount": ["np.bincount([0, 2, 0, 1, 2], x)"],
    "histogram": ["np.histogram(A, 3, (0, 1), weights=x)[0]"],
    "histogram2d": [
        "np.histogram2d(A, B, 2, [[0, 1], [0, 1]], weights=x)[0]",
        "np.histogram2d(A, B, (2, 3), density=True, weights=np.abs(x))[0]",
    ],
    "histogram_bin_edges": [
        "np.histogram_bin_edges(x, 3) * y[0]", "np.histogram_bin_edges(x, 'sturges') * y[0]",
    ],
    "histogramdd": [
        "np.histogramdd((x, B), 2)[1][0] * y[0]",
        "np.histogramdd(np.stack([A, B], 1), (2, [0, 0.2, 1]), ((0, 1), None), weights=x)[0]",
    ],
    "r_": ["np.r_[x, 1.0, y[:2], 0:3]"], "c_": ["np.c_[x, y]"], "s_": ["x[np.s_[1:4]] * 2"],
    "einsum": [
        "np.einsum('i,j', x, y)", "np.einsum('i,i->', x, y)", "np.einsum(x, [0], y, [1], [1, 0])",
        "np.einsum('...i,i', np.outer(x, y), x)",
        "np.einsum('ij,jk,k->i', np.outer(x, y), np.outer(y, x), x, optimize=True)",
        "np.einsum('ij,jk,k->i', np.outer(x, y), np.outer(y, x), x, optimize='optimal')",
        "np.einsum('ij,jk->ik', np.outer(x, y), np.outer(y, x), optimize=['einsum_path', (0, 1)])",
        "np.einsum(np.outer(x, y), [0, Ellipsis], x, [0], [Ellipsis])",
        "np.einsum(np.outer(x, y), [..., 1], x, [1])", "np.einsum('ii', np.outer(x, y))",
        "np.einsum('ii->i', np.outer(x, y))", "np.einsum('i...->...', np.outer(x, y))",
    ],
}  # fmt: skip
LINALG = {
    "linalg.matrix_power": ["np.linalg.matrix_power(x, 3)", "np.linalg.matrix_power(x, -2)"],
    "linalg.tensorsolve": ["np.linalg.tensorsolve(x, np.ones(3))"],
    "linalg.tensorinv": ["np.linalg.tensorinv(x, 1)"],
    "linalg.eigvalsh": ["np.linalg.eigvalsh(x + x.T)"], "linalg.svdvals": ["np.linalg.svdvals(x)"],
    "linalg.lstsq": ["np.linalg.lstsq(x[:, :2], x[:, 2], None)[0]"],
    "linalg.qr": ["np.linalg.qr(x)[1]"],
    "linalg.cond": ["np.linalg.cond(x)", "np.linalg.cond(x, 1)"],
    "linalg.multi_dot": ["np.linalg.multi_dot([x, x.T, x])"],
    "linalg.trace": ["np.linalg.trace(x)"],
    "linalg.diagonal": ["np.linalg.diagonal(x)"], "linalg.cross": ["np.linalg.cross(x, x[::-1])"],
    "linalg.outer": ["np.linalg.outer(x[0], x[1])"], "linalg.matmul": ["np.linalg.matmul(x, x)"],
    "linalg.tensordot": ["np.linalg.tensordot(x, x, axes=1)"],
    "linalg.matrix_transpose": ["np.linalg.matrix_transpose(x)"],
    "linalg.matrix_norm": ["np.linalg.matrix_norm(x, ord='nuc')"],
    "linalg.vector_norm": ["np.linalg.vector_norm(x, ord=3)"],
    "linalg.vecdot": ["np.linalg.vecdot(x, x.T)"],
    "fft.hfft": ["np.fft.hfft(x[0] + 1j * x[1])"], "fft.ihfft": ["np.fft.ihfft(x[0])"],
}  # fmt: skip


def cases() -> Any:
    for table, args in (
        (REDUCTIONS, (MATRIX,)), (WITH_HOLES, (MATRIX,)), (ELEMENTWISE, (VECTOR, OTHER)),
        (SHAPING, (VECTOR, OTHER)), (PRODUCTS, (VECTOR, OTHER)), (LINALG, (SQUARE,)),
    ):  # fmt: skip
        for name, expressions in table.items():
            for number, expression in enumerate(expressions):
                yield pytest.param(expression, args, id=f"{name}-{number}")


@pytest.mark.parametrize(("expression", "args"), list(cases()))
def test_function(expression: str, args: Any) -> None:
    function = re.match(r"np\.(\w+)\(", expression)
    if function is not None and not hasattr(np, function[1]):
        pytest.skip(f"this version of NumPy has no {function[1]}")
    check(expression, *args, A=A, B=B)


@pytest.mark.parametrize("statement", IN_PLACE.values(), ids=IN_PLACE)
def test_function_that_writes(statement: str) -> None:
    check("written(x * x, y)", MATRIX, OTHER[:4], written=writer(statement))


def writer(statement: str) -> Any:
    text = f"def written(m, y):\n    {statement}\n    return m * m\n"
    name = f"<written {statement}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = {"np": np}
    exec(compile(text, name, "exec"), names)
    return names["written"]


def test_histograms_are_those_of_numpy() -> None:
    x, y, weights = R.uniform(size=20), R.uniform(size=20), R.uniform(size=20)
    x[:2] = 0, 1  # on edges
    for options in ({}, {"density": True}, {"range": ((0.0, 1.0), (0.2, 0.7))}):
        for bins in (4, (2, 3), (np.array([0, 0.3, 1]), 3), np.array([0.0, 0.2, 0.9, 1.0])):

            def program(w):
                counts, *edges = np.histogram2d(x, y, bins, weights=w, **options)  # noqa: B023
                return np.sum(counts**2) + np.sum(edges[0] ** 2) + np.sum(edges[1] ** 2)

            value, gradient = value_and_grad(program)(weights)
            assert value == pytest.approx(program(weights))
            d = np.random.default_rng(1).normal(size=20)
            expected = (program(weights + 1e-6 * d) - program(weights - 1e-6 * d)) / 2e-6
            assert np.sum(gradient * d) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("np.ma.sum(np.ma.masked_array(x, [0, 1, 0]))", "masked arrays aren't supported"),
        ("np.sum(np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]) * x)", "masked arrays aren't"),
        ("np.ma.MaskedArray(x).sum()", "masked arrays aren't supported"),
        ("np.sum(np.rec.fromrecords([(1.0, 2.0)]).f0 * x[0])", "only of records that np.zeros"),
        ("np.histogramdd(np.stack([x, x], 1))[0]", "how many dimensions there are"),
    ],
)
def test_what_is_refused(expression: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        grad(function(expression, 1))(np.array([0.5, 2.0, 3.0]))


def test_functions_of_text_are_left_as_they_are() -> None:
    def program(x):
        scale = 2.0 if np.char.equal("a", "a") else 3.0
        return np.sum(x * np.char.str_len(["a", "bb", "c"])) * scale

    assert grad(program)(np.ones(3)).tolist() == [2, 4, 2]


def test_the_condition_number_of_a_singular_matrix_has_no_finite_slope() -> None:
    with np.errstate(all="ignore"):
        for x in (np.ones((2, 2)), np.diag([1.0, 0.0])):
            assert not np.linalg.norm(grad(np.linalg.cond)(x)) < 1e12


@pytest.mark.parametrize(
    "expression",
    [
        *("np.stack(x)", "np.stack(x, 1)", "np.stack(x, -1)", "np.concatenate(x)", "np.hstack(x)"),
        *("np.vstack(x)", "np.dstack(x)", "np.column_stack(x)", "x.transpose(None)"),
        *("np.expand_dims(x, ())", "np.expand_dims(x, (0, 2))"),
    ],
)
def test_forward_jacobians_of_rows_as_a_list(expression: str) -> None:
    f = program(expression)
    x = SQUARE * 1.5
    found, expected = jacfwd(f)(x), jacrev(f)(x)
    assert found.shape == (*f(x).shape, 3, 3)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    directions = np.eye(9).reshape(9, 3, 3)
    columns = [(f(x + 1e-6 * d) - f(x - 1e-6 * d)) / 2e-6 for d in directions]
    np.testing.assert_allclose(found, np.stack(columns, -1).reshape(found.shape), atol=1e-6)


def program(expression: str) -> Any:
    """The function of x that returns an expression."""
    text = f"def f(x):\n    return {expression}\n"
    name = f"<{expression}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = {"np": np}
    exec(compile(text, name, "exec"), names)
    return names["f"]
