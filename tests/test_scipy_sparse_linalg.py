"""Solvers that iterate, and some values and vectors of sparse matrices, in both modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

pytest.importorskip("scipy")

from scipy import sparse
from scipy.sparse import linalg

R = np.random.default_rng(0)
N, M = 6, 12
A = R.uniform(size=(N, N)) + 5 * np.eye(N)
ROOT = R.uniform(size=(N, N)) + 1j * R.uniform(size=(N, N))
HERMITIAN = ROOT @ ROOT.conj().T + 3 * np.eye(N)
DEFINITE, B, V = HERMITIAN.real, R.uniform(size=N), R.uniform(size=N)
OUTSIDE, OPERATOR = sparse.csr_array(DEFINITE), linalg.aslinearoperator(DEFINITE)
PRODUCT = linalg.LinearOperator((N, N), matvec=lambda x: DEFINITE @ x, dtype=float)
SQUARE, DIAGONAL, BESIDE = R.uniform(size=(M, M)), R.uniform(size=M), R.uniform(size=M - 1)
TALL, WEIGHTS = R.uniform(size=(9, 7)), R.uniform(size=(M, 3))


def tridiagonal(v: Any) -> Any:
    return sparse.diags([v + 3, 0.2 * v[1:], 0.2 * v[1:]], [0, -1, 1])


def string(v: Any, e: Any) -> Any:
    return sparse.diags([3 * v, e, e], [0, 1, -1])


def check(f: Any, *args: Any, order: int = 1) -> None:
    """The value is SciPy's, and the derivatives are right."""
    np.testing.assert_allclose(srcgrad.vjp(f, *args)[0], f(*args), rtol=1e-6, atol=1e-9)
    check_grads(f, args, order=order)


@pytest.mark.parametrize("name", ["bicg", "bicgstab", "cgs", "gmres", "tfqmr", "qmr"])
def test_solver(name: str) -> None:
    solve = getattr(linalg, name)
    check(lambda a, b: solve(a, b, rtol=1e-13)[0], A, B)
    check(lambda b: solve(A + 0.2j * A.T, b, rtol=1e-13)[0], B + 1j)

    def of_entries(v, b):
        matrix = sparse.diags([v + 3, 0.2 * v[1:], 0.3 * v[:-1]], [0, -1, 1])
        return solve(matrix, b, rtol=1e-13)[0]

    check(of_entries, V, B)


PROGRAMS: dict[str, tuple[Any, ...]] = {
    "cg": (lambda a, b: linalg.cg(a + a.T, b, rtol=1e-13)[0], DEFINITE, B),
    "cg of a complex matrix": (lambda b: linalg.cg(HERMITIAN, b, rtol=1e-12)[0], B + 1j * V),
    "minres": (
        lambda a, b: linalg.minres(a + a.T - 5 * np.eye(N), b, rtol=1e-13)[0], DEFINITE, B,
    ),
    "minres of entries": (
        lambda v, b: linalg.minres(tridiagonal(v), b, x0=v, rtol=1e-13)[0], V, B,
    ),
    "preconditioned": (
        lambda v, b: linalg.cg(
            tridiagonal(v), b, rtol=1e-13, M=sparse.diags([1 / (v + 3)], [0])
        )[0],
        V, B,
    ),
    "preconditioned by an array": (
        lambda v, b: linalg.bicgstab(tridiagonal(v), b, rtol=1e-13, M=np.diag(v))[0], V, B,
    ),
    "restarted": (lambda v, b: linalg.gmres(tridiagonal(v), b, rtol=1e-13, restart=3)[0], V, B),
    "outside": (lambda b: linalg.cg(OUTSIDE, b, rtol=1e-13)[0], B),
    "scaled": (lambda s, b: linalg.cg(OUTSIDE * s, b, rtol=1e-13)[0], 2.0, B),
    "operator": (lambda b: linalg.gmres(OPERATOR, b, rtol=1e-13)[0], B),
    "product": (lambda b: linalg.cg(PRODUCT, b, rtol=1e-13)[0], B),
    **{
        f"{which} values": (
            lambda v, e, which=which: linalg.eigsh(string(v, e), 3, which=which)[0],
            DIAGONAL, BESIDE,
        )
        for which in ("LM", "SM", "LA", "SA", "BE")
    },
    **{
        f"{which} values alone": (
            lambda a, which=which: linalg.eigsh(
                a + a.T, 3, which=which, return_eigenvectors=False
            ),
            SQUARE,
        )
        for which in ("LM", "SM", "LA", "SA", "BE")
    },
    "vectors": (lambda v, e: linalg.eigsh(string(v, e), 3)[1] ** 2, DIAGONAL, BESIDE),
    "vectors near a value": (
        lambda v, e: linalg.eigsh(string(v, e), 3, sigma=0.3, v0=v)[1] ** 2, DIAGONAL, BESIDE,
    ),
    "values and vectors": (
        lambda a: np.sum(linalg.eigsh(a + a.T, 3)[1] ** 2 * WEIGHTS, 0)
        + linalg.eigsh(a + a.T, 3)[0] ** 2,
        SQUARE,
    ),
    "singular values": (lambda a: linalg.svds(a, 3)[1], TALL),
    "singular values alone": (lambda a: linalg.svds(a, 3, return_singular_vectors=False), TALL),
    "left vectors": (lambda a: linalg.svds(a, 3)[0] ** 2, TALL),
    "right vectors": (lambda a: linalg.svds(a, 3)[2] ** 2, TALL.T),
    "of entries": (
        lambda v: linalg.svds(
            sparse.coo_matrix((v, (np.arange(M), np.arange(M) % 5)), shape=(M, 5)), 3
        )[1],
        DIAGONAL,
    ),
    "a matrix outside": (lambda s: linalg.eigsh(OUTSIDE, 2)[0] * s, 2.0),
    "an operator outside": (lambda s: linalg.svds(OPERATOR, 2)[1] * s, 2.0),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    f, *args = PROGRAMS[name]
    check(f, *args)


def test_a_matrix_of_low_rank() -> None:
    def near(a):
        u, s, vh = linalg.svds(a, 3)
        return (u * s) @ vh

    check(near, TALL)
    check(near, TALL.T)


def test_second_order() -> None:
    check(lambda a, b: linalg.cg(a + a.T, b, rtol=1e-13)[0], DEFINITE, B, order=2)
    check(lambda v, b: linalg.bicgstab(tridiagonal(v), b, rtol=1e-13)[0], V, B, order=2)


TURN = np.linalg.qr(R.uniform(size=(7, 7)))[0]
TWINS = TURN @ np.diag([5.0, 5.0, 3.0, 2.0, 1.0, 0.5, 0.2]) @ TURN.T


def test_equal_values() -> None:
    """What treats both alike has a derivative; what knows but one of them has none."""

    def projection(a, k):
        v = linalg.eigsh((a + a.T) / 2, k, which="LA")[1]
        return np.sum(v @ v.T * TALL[:7])

    direction = TALL[:7] + TALL[:7].T
    ahead, behind = (projection(TWINS + h * direction, 2) for h in (1e-6, -1e-6))
    found = np.sum(srcgrad.grad(projection)(TWINS, 2) * direction)
    assert found == pytest.approx((ahead - behind) / 2e-6, rel=1e-6)
    for _ in range(10):  # ARPACK starts anywhere: the two values are equal, or all but for rounding
        cut = srcgrad.grad(projection)(TWINS, 1)
        assert np.all(np.isnan(cut)) or np.max(np.abs(cut)) > 1e8


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda a: linalg.cg(linalg.aslinearoperator(a), B)[0], "aslinearoperator can't be"),
        (
            lambda a: linalg.cg(linalg.LinearOperator((N, N), matvec=lambda x: a @ x), B)[0],
            "a function can't be passed",
        ),
        (
            lambda a: linalg.cg(a, B, callback=print)[0],
            "without callback|print",
        ),
        (lambda a: linalg.cg(a, B[:, None])[0], "a vector on the right"),
        (lambda a: linalg.minres(a, B, shift=2.0)[0], "without callback, shift"),
        (lambda a: linalg.eigsh(a * 1j, 2)[0], "real matrices"),
        (lambda a: linalg.eigsh(a, 2, M=np.eye(N))[0], "without M"),
        (lambda a: linalg.eigsh(linalg.aslinearoperator(a), 2)[0], "can't be|no derivative rule"),
        (lambda a: linalg.svds(a, 2, return_singular_vectors="u")[0], "both sides of vectors"),
        (lambda a: linalg.eigs(a, 2)[0].real, "eigs can't be differentiated"),
        (
            lambda a: linalg.expm_multiply(sparse.csr_array(a), B),
            "use A.toarray|an object that srcgrad doesn't follow",
        ),
    ],
)
def test_what_is_refused(f: Any, message: str) -> None:
    with pytest.raises(srcgrad.UnsupportedError, match=message):
        srcgrad.grad(lambda a: np.sum(f(a)))(DEFINITE)


def test_second_derivatives_of_vectors_are_refused() -> None:
    def f(a):
        return np.sum(linalg.eigsh(a + a.T, 3)[1] ** 2 * WEIGHTS)

    with pytest.raises(srcgrad.UnsupportedError, match="no second derivative"):
        srcgrad.grad(lambda a: np.sum(srcgrad.grad(f)(a) ** 2))(SQUARE)
