"""Band and tridiagonal matrices, and powers and logarithms of matrices, in both modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

pytest.importorskip("scipy")

from scipy import linalg

R = np.random.default_rng(0)
ROW, MANY, COUPLING = R.uniform(0.2, 1, 7), R.normal(size=(7, 2)), R.normal(size=6)
MATRIX = R.normal(size=(4, 4))
DEFINITE = MATRIX @ MATRIX.T + 4 * np.eye(4)
UNITARY = MATRIX + 1j * R.normal(size=(4, 4))

PROGRAMS: dict[str, tuple[Any, ...]] = {
    "two diagonals": (lambda v, b: linalg.solveh_banded(np.array([v, v + 5]), b), ROW, MANY[:, 0]),
    "two lower diagonals": (
        lambda v, b: linalg.solveh_banded(np.array([v + 5, v]), b, lower=True), ROW, MANY,
    ),
    "three diagonals": (
        lambda v, b: linalg.solveh_banded(np.array([0.3 * v, v, v + 5]), b), ROW, MANY,
    ),
    "three lower diagonals": (
        lambda v, b: linalg.solveh_banded(np.array([v + 5, v, v**2]), b, lower=True),
        ROW, MANY[:, 0],
    ),
    "one diagonal": (lambda v, b: linalg.solveh_banded(np.array([v + 5]), b), ROW, MANY),
    "complex band": (
        lambda v, b: linalg.solveh_banded(np.array([0.3j * v, v * (1 + 1j), v + 5]), b),
        ROW, MANY,
    ),
    "complex lower band": (
        lambda v, b: linalg.solveh_banded(np.array([v + 5, v * (1 - 1j)]), b, lower=True),
        ROW, MANY[:, 0] * 1j,
    ),
    "all values": (lambda d, e: linalg.eigh_tridiagonal(d, e, eigvals_only=True), ROW, COUPLING),
    "values alone": (lambda d, e: linalg.eigvalsh_tridiagonal(d, e), ROW, COUPLING),
    "values beside vectors": (lambda d, e: linalg.eigh_tridiagonal(d, e)[0], ROW, COUPLING),
    "values and vectors": (
        lambda d, e: linalg.eigh_tridiagonal(d, e)[1] ** 2 @ linalg.eigh_tridiagonal(d, e)[0],
        ROW, COUPLING,
    ),
    "some values": (
        lambda d, e: linalg.eigh_tridiagonal(d, e, True, "i", (1, 3)), ROW, COUPLING,
    ),
    "one number": (lambda d: linalg.eigh_tridiagonal(d, np.zeros(0))[0], ROW[:1]),
    "root": (lambda a: linalg.fractional_matrix_power(a, 0.3), DEFINITE),
    "root of any": (lambda a: linalg.fractional_matrix_power(a, 0.3), MATRIX),
    "inverse root": (lambda a: linalg.fractional_matrix_power(a, -1.7), DEFINITE + 0.3 * MATRIX),
    "square": (lambda a: linalg.fractional_matrix_power(a, 2), MATRIX),
    "complex root": (lambda a: linalg.fractional_matrix_power(a, 0.5), UNITARY),
    "by the exponent": (lambda t: linalg.fractional_matrix_power(DEFINITE, t), 0.4),
    "by a whole exponent": (lambda t: linalg.fractional_matrix_power(DEFINITE, t), 2.0),
    "by both": (lambda a, t: linalg.fractional_matrix_power(a, t), DEFINITE, 1.6),
    "logarithm": (lambda a: linalg.logm(a), DEFINITE),
    "complex logarithm of a real matrix": (lambda a: linalg.logm(a), MATRIX),
    "logarithm of a complex matrix": (lambda a: linalg.logm(a), UNITARY),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    f, *args = PROGRAMS[name]
    np.testing.assert_array_equal(srcgrad.vjp(f, *args)[0], f(*args))
    check_grads(f, args, order=1)


def test_values_chosen_by_their_size() -> None:
    f = linalg.eigvalsh_tridiagonal
    span = (f(ROW, COUPLING)[3] - 1e-3, 9.0)

    def chosen(d, e):
        return np.sum(f(d, e, select="v", select_range=span) ** 2)

    check_grads(chosen, (ROW, COUPLING), order=1)


def test_vectors_of_a_subset_are_refused() -> None:
    def f(d):
        return np.sum(linalg.eigh_tridiagonal(d, COUPLING, select="i", select_range=(0, 2))[1] ** 2)

    with pytest.raises(srcgrad.UnsupportedError, match="compute them all"):
        srcgrad.grad(f)(ROW)
    with pytest.raises(srcgrad.UnsupportedError, match="compute them all"):
        srcgrad.jvp(f, (ROW,), (ROW,))


def test_bases_are_refused() -> None:
    """Those of a null space and a range are chosen by the algorithm."""
    for f in (linalg.null_space, linalg.orth):
        with pytest.raises(srcgrad.UnsupportedError, match=f"{f.__name__} can't be differentiated"):
            srcgrad.grad(lambda a, f=f: np.sum(f(a)))(MATRIX[:3])


def test_single_precision() -> None:
    f = srcgrad.grad(lambda v: np.sum(linalg.solveh_banded(np.array([v, v + 5]), v)))
    assert f(ROW.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(f(ROW.astype(np.float32)), f(ROW), rtol=1e-4)
