"""Linear algebra at degenerate matrices: what the table of `rules/conventions.py` says.

Where the truth is finite and can be told, it is compared with differences; where it can't be told,
the derivative is nan and not a wrong number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.rules.registry import lookup, primitives
from srcgrad.testing import check_grads

from .expressions import function
from .kit import _leaves, is_float
from .test_rules import SAMPLES, name
from .test_variants import adjoint_of, contributions

linalg = pytest.importorskip("scipy.linalg")

R = np.random.default_rng(2)
Q = np.linalg.qr(R.normal(size=(3, 3)))[0]
SYMMETRIC = R.normal(size=(3, 3)) + np.arange(9.0).reshape(3, 3)
SYMMETRIC = SYMMETRIC + SYMMETRIC.T
ROTATED = Q @ np.diag([1.0, 1.0, 3.0]) @ Q.T
ROTATED = (ROTATED + ROTATED.T) / 2
EQUAL = [np.eye(3), np.diag([2.0, 2.0, 5.0]), ROTATED]
RANK_1 = np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 2.0])
RANK_2 = RANK_1 + np.outer([0.0, 1.0, 1.0], [2.0, 0.0, 1.0])
JORDAN = np.array([[1.0, 1.0], [0.0, 1.0]])
WEIGHTS = np.arange(1.0, 10.0).reshape(3, 3)
W = WEIGHTS + WEIGHTS.T


def of_values(x):
    w = np.linalg.eigh(x)[0]
    return np.sum(w * w)


def of_both(x):
    w, v = np.linalg.eigh(x)
    return np.sum(W * ((v * np.sqrt(w)) @ v.T))


def of_logarithms(x):
    """At the identity the vectors have an adjoint of exactly zero."""
    w, v = np.linalg.eigh(x)
    return np.sum((v * np.log(w)) @ v.T)


def of_singular_both(x):
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return np.sum(WEIGHTS[: u.shape[0], : vh.shape[1]] * ((u * np.tanh(s)) @ vh))


def of_scipy_both(x):
    w, v = linalg.eigh(x)
    return np.sum(W * ((v * np.sqrt(w)) @ v.T))


def projection(x):
    v = np.linalg.eigh(x)[1][:, :2]
    return np.sum(W * (v @ v.T))


def rotation(x):
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    return np.sum(WEIGHTS[: u.shape[0], : vh.shape[1]] * (u @ vh))


def slope(f: Any, x: Any, direction: Any, step: float = 1e-6) -> Any:
    above, below = f(x + step * direction), f(x - step * direction)
    return (np.asarray(above) - np.asarray(below)) / (2 * step)


@pytest.mark.parametrize("x", EQUAL)
def test_what_treats_equal_values_alike(x: Any) -> None:
    found = srcgrad.grad(of_values)(x)
    assert np.sum(found * SYMMETRIC) == pytest.approx(slope(of_values, x, SYMMETRIC), rel=1e-6)
    forward = srcgrad.jvp(of_values, (x,), (SYMMETRIC,))[1]
    assert forward == pytest.approx(slope(of_values, x, SYMMETRIC), rel=1e-6)


@pytest.mark.parametrize("x", EQUAL[1:])
def test_what_no_choice_of_vectors_changes(x: Any) -> None:
    found = srcgrad.grad(projection)(x if x is ROTATED else np.diag([2.0, 2.0, 5.0]))
    assert np.sum(found * SYMMETRIC) == pytest.approx(slope(projection, x, SYMMETRIC), rel=1e-6)


@pytest.mark.parametrize("f", [of_both, of_logarithms, of_scipy_both])
@pytest.mark.parametrize("x", EQUAL)
def test_values_and_vectors_of_equal_values_do_not_tell(f: Any, x: Any) -> None:
    """Their adjoints are the same for functions that have other derivatives: nan, not a guess."""
    assert np.isnan(srcgrad.grad(f)(x)).any()
    assert np.isnan(srcgrad.jvp(f, (x,), (SYMMETRIC,))[1])
    apart = x + np.diag([0.0, 0.1, 0.3])
    found = np.sum(srcgrad.grad(f)(apart) * SYMMETRIC)
    assert found == pytest.approx(slope(f, apart, SYMMETRIC), rel=1e-6)
    assert srcgrad.jvp(f, (apart,), (SYMMETRIC,))[1] == pytest.approx(found)


@pytest.mark.parametrize(
    "x", [np.eye(3), 2 * Q, Q[:, :2], np.zeros((3, 3)), np.diag([1.0, 0, 0]), np.eye(4)[:, :3][::2]]
)
def test_singular_values_and_vectors(x: Any) -> None:
    direction = R.normal(size=x.shape)
    assert np.isnan(srcgrad.grad(of_singular_both)(x)).any()
    assert np.isnan(srcgrad.jvp(of_singular_both, (x,), (direction,))[1])
    assert np.isfinite(slope(of_singular_both, x, direction))


@pytest.mark.parametrize("x", [np.diag([3.0, 2.0, 0.0]), RANK_2, R.normal(size=(4, 3))[:3]])
def test_one_singular_value_of_zero_is_no_obstacle(x: Any) -> None:
    direction = R.normal(size=x.shape)
    found = np.sum(srcgrad.grad(of_singular_both)(x) * direction)
    assert found == pytest.approx(slope(of_singular_both, x, direction), rel=1e-6)
    assert srcgrad.jvp(of_singular_both, (x,), (direction,))[1] == pytest.approx(found)


@pytest.mark.parametrize("x", [np.eye(3), 2 * Q, Q[:, :2], 3 * Q[:2]])
def test_singular_vectors_of_equal_values(x: Any) -> None:
    direction = R.normal(size=x.shape)
    found = np.sum(srcgrad.grad(rotation)(x) * direction)
    assert found == pytest.approx(slope(rotation, x, direction), rel=1e-6)


@pytest.mark.parametrize(
    "expression",
    [
        "scipy_linalg.polar(x)[0]",
        "scipy_linalg.polar(x, 'left')[1]",
        "scipy_linalg.orthogonal_procrustes(x, W[:, :2] if x.shape[1] == 2 else W)[1]",
        "np.linalg.norm(x, 'nuc')",
    ],
)
@pytest.mark.parametrize("x", [np.eye(3), 2 * Q, Q[:, :2], 3 * Q[:2], R.normal(size=(4, 3))])
def test_polar_factors_are_exact_in_every_order(expression: str, x: Any) -> None:
    if "procrustes" in expression and x.shape[0] != 3:
        return
    f = function(expression, 1, scipy_linalg=linalg, W=WEIGHTS)
    direction, gradient = R.normal(size=x.shape), srcgrad.grad(f)
    found = np.sum(gradient(x) * direction)
    assert found == pytest.approx(slope(f, x, direction), rel=1e-6, abs=1e-8)
    assert srcgrad.jvp(f, (x,), (direction,))[1] == pytest.approx(found)
    second = srcgrad.jvp(gradient, (x,), (direction,))[1]
    np.testing.assert_allclose(second, slope(gradient, x, direction, 1e-5), atol=1e-5)


def squares(x):
    w = np.linalg.eigvals(x)
    return np.real(np.sum(w * w))


def first_vector(x):
    return np.real(np.linalg.eig(x)[1][0, 1])


def test_a_matrix_with_too_few_vectors_has_no_derivative() -> None:
    direction = np.array([[0.3, -0.2], [0.7, 0.1]])
    with np.errstate(invalid="ignore"):
        for f in (squares, first_vector):
            assert np.isnan(srcgrad.grad(f)(JORDAN)).any()
            assert np.isnan(srcgrad.jvp(f, (JORDAN,), (direction,))[1])
    assert srcgrad.grad(squares)(np.eye(2)).tolist() == [[2, 0], [0, 2]]


@pytest.mark.parametrize("x", [RANK_2, RANK_1, np.zeros((3, 3)), np.diag([1.0, 2, 0]), np.eye(1)])
def test_determinants_of_singular_matrices_in_both_orders(x: Any) -> None:
    direction = R.normal(size=x.shape)
    found = srcgrad.grad(np.linalg.det)(x)
    expected = slope(np.linalg.det, x, direction)
    assert np.sum(found * direction) == pytest.approx(expected, abs=1e-6)
    second = srcgrad.jvp(srcgrad.grad(np.linalg.det), (x,), (direction,))[1]
    expected = slope(srcgrad.grad(np.linalg.det), x, direction, 1e-5)
    np.testing.assert_allclose(second, expected, atol=1e-6)


@pytest.mark.parametrize("shape", [(3, 3), (6, 3), (2, 3)])
@pytest.mark.parametrize("expression", ["np.linalg.pinv(x)", "np.linalg.lstsq(x, B, None)[0]"])
def test_pseudo_inverses_among_matrices_of_one_rank(expression: str, shape: Any) -> None:
    """Along a b^T the rank is 1 everywhere."""
    column, row = R.normal(size=shape[0]), R.normal(size=shape[1])
    inner = function(expression, 1, B=np.arange(1.0, 1 + shape[0]))

    def along(t):
        return inner((column + t)[:, None] * (row - 2 * t))

    def changed(t):
        return srcgrad.grad(along)(t)

    assert srcgrad.grad(along)(0.1) == pytest.approx(slope(along, 0.1, 1.0), rel=1e-5)
    assert srcgrad.jvp(along, (0.1,), (1.0,))[1] == pytest.approx(srcgrad.grad(along)(0.1))
    second = srcgrad.jvp(changed, (0.1,), (1.0,))[1]
    assert second == pytest.approx(slope(changed, 0.1, 1.0, 1e-5), rel=1e-4)


@pytest.mark.parametrize("expression", ["np.linalg.slogdet(x)[1]", "np.linalg.inv(x)"])
def test_what_needs_an_inverse_says_so(expression: str) -> None:
    with pytest.raises(np.linalg.LinAlgError, match=r"[Ss]ingular"):
        srcgrad.grad(function(expression, 1))(np.ones((2, 2)))


# Of the last, exact arithmetic has a 0 where a float is as long as a rounding error
DEPENDENT = [np.zeros((3, 3)), np.array([[1.0, 0.0], [2.0, 0.0]]), RANK_1 / 7, RANK_2 / 7]
DIVIDING = [
    "np.linalg.qr(x)[0]", "np.linalg.qr(x, 'r')", "np.linalg.qr(x, 'complete')[1]",
    "linalg.qr(x)[0]", "linalg.qr(x, mode='economic', pivoting=True)[1]", "linalg.lu(x)[2]",
    "linalg.lu(x)[1]", "linalg.lu(x, permute_l=True)[0]",
]  # fmt: skip


@pytest.mark.parametrize("x", DEPENDENT, ids=["zero", "column", "rank 1", "rank 2"])
@pytest.mark.parametrize("expression", DIVIDING)
def test_triangles_that_cannot_be_divided_by(expression: str, x: Any) -> None:
    f = function(expression, 1, linalg=linalg)
    assert np.isfinite(f(x))
    with pytest.raises(np.linalg.LinAlgError, match="its columns depend on one another"):
        srcgrad.grad(f)(x)
    with pytest.raises(np.linalg.LinAlgError, match="its columns depend on one another"):
        srcgrad.jvp(f, (x,), (np.ones_like(x),))


@pytest.mark.parametrize("expression", DIVIDING)
def test_short_columns_are_no_obstacle(expression: str) -> None:
    """The columns of a Vandermonde matrix, say, are of very different lengths."""
    x = R.normal(size=(3, 3)) * np.array([1.0, 1e-9, 1e-18])
    f, direction = (
        function(expression, 1, linalg=linalg),
        R.normal(size=(3, 3)) * np.array([1.0, 1e-9, 1e-18]),
    )
    found = np.sum(srcgrad.grad(f)(x) * direction)
    assert found == pytest.approx(slope(f, x, direction), rel=1e-5, abs=1e-20)


@pytest.mark.parametrize("order", ["1", "-1", "np.inf", "2", "'nuc'", "'fro'"])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_norms_of_nothing(order: str, shape: Any) -> None:
    f, x = function(f"np.linalg.norm(x, {order})", 1), np.zeros(shape)
    try:
        f(x)
    except ValueError:
        return  # NumPy has no minimum of nothing
    assert srcgrad.grad(f)(x).shape == shape
    assert srcgrad.jvp(f, (x,), (x,))[1] == 0


PARTIAL = [f for f in SAMPLES if (record := lookup(f)) is not None and record.unused is None]


def test_functions_with_several_results_know_which_are_used() -> None:
    assert {np.linalg.eigh, np.linalg.svd, np.linalg.lstsq, linalg.lu} <= set(PARTIAL)
    partial = {f for f, record in primitives.items() if record.unused is None}
    own = {
        f for f in partial if getattr(f, "__module__", "").startswith("srcgrad.")
    }  # called by ours
    assert partial - own == set(PARTIAL)
    gradient = srcgrad.grad(of_values)
    gradient(np.eye(3))
    assert "np.zeros" not in gradient.source and "np.where" not in gradient.source


@pytest.mark.parametrize("f", PARTIAL, ids=name)
def test_an_unused_result_has_the_adjoint_zero(f: Any) -> None:
    """What a rule contributes without the adjoint of a result is what it does if that is zero."""
    for sample in SAMPLES[f]:
        with np.errstate(all="ignore"):
            out = f(*sample.args, **sample.kwargs)
            if not isinstance(out, tuple):
                continue
            d_out = adjoint_of(out)
            for i, part in enumerate(out):
                if not all(is_float(leaf) for leaf in _leaves(part)):
                    continue
                alone = [d if j == i else None for j, d in enumerate(d_out)]
                zeros = [d if j == i or d is None else 0 * d for j, d in enumerate(d_out)]
                rest = (f, sample.args, sample.kwargs, out)
                found = contributions(*rest, alone), contributions(*rest, zeros)
                for a, b in zip(*found, strict=True):
                    a, b = (0.0 if c is None else c for c in (a, b))
                    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


def test_what_is_infinite_by_a_result_that_is_not_used() -> None:
    special = pytest.importorskip("scipy.special")
    sine = srcgrad.grad(lambda x: special.sici(x)[0])
    assert sine(0.0) == 1.0  # the cosine integral has a pole there


@pytest.mark.parametrize("decompose", [np.linalg.svd, linalg.svd])
@pytest.mark.parametrize("shape", [(2, 5), (5, 2)])
def test_the_vectors_of_a_null_space(decompose: Any, shape: Any) -> None:
    x, weights = R.normal(size=shape), R.normal(size=(5, 5))
    direction = R.normal(size=shape)

    def null(x):
        u, _, vh = decompose(x)
        return (u if len(x) == 5 else vh.T)[:, 2:]

    def of_their_projection(x):
        vectors = null(x)
        return np.sum(weights * (vectors @ vectors.T))

    def of_one_by_one(x):
        return np.sum(weights[:, 2:] * null(x))

    found = np.sum(srcgrad.grad(of_their_projection)(x) * direction)
    assert found == pytest.approx(slope(of_their_projection, x, direction), rel=1e-6)
    assert srcgrad.jvp(of_their_projection, (x,), (direction,))[1] == pytest.approx(found)
    assert np.isnan(srcgrad.grad(of_one_by_one)(x)).all()
    single = srcgrad.grad(of_their_projection)(x.astype(np.float32))
    assert single.dtype == np.float32 and not np.isnan(single).any()


def of_singular_values(m, n, complex_numbers):
    """A matrix whose singular values are 3, 1.5, 0.2 and 0.1, as many as it has."""
    rng = np.random.default_rng(m * 8 + n)
    imaginary = 1j * complex_numbers
    k = min(m, n)
    u, v = (
        np.linalg.qr(rng.normal(size=(i, i)) + imaginary * rng.normal(size=(i, i)))[0][:, :k]
        for i in (m, n)
    )
    return (u * [3, 1.5, 0.2, 0.1][:k]) @ v.conj().T


@pytest.mark.parametrize("complex_numbers", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4)], ids=str)
def test_singular_values_that_a_cutoff_leaves_out(shape, complex_numbers):
    a = of_singular_values(*shape, complex_numbers)
    b = np.random.default_rng(1).normal(size=(shape[0], 2))
    assert np.linalg.matrix_rank(np.linalg.pinv(a, 0.1)) == 2 < np.linalg.matrix_rank(a)
    check_grads(lambda a: np.linalg.pinv(a, rcond=0.1), (a,))
    check_grads(lambda a: np.linalg.pinv(np.stack([a, 2 * a]), rtol=0.1), (a,), order=1)
    check_grads(lambda a, b: np.linalg.lstsq(a, b, rcond=0.1)[0], (a, b), order=1)
    check_grads(lambda a, b: linalg.lstsq(a, b, cond=0.1)[0], (a, b[:, 0]), order=1)
    check_grads(lambda a: linalg.pinv(a, atol=0.4), (a,), order=1)
    if shape[0] == shape[1]:
        check_grads(lambda a: linalg.pinvh(a + a.conj().T, rtol=0.3), (a,), order=1)
        check_grads(lambda a: np.linalg.pinv(a + a.conj().T, 0.3, hermitian=True), (a,), order=1)
