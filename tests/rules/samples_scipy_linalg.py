"""Samples of scipy.linalg."""

import numpy as np

from srcgrad.rules import scipy as scipy_rules

from .kit import case
from .samples_linalg import c, definite, of_hermitian, r, then, u_vh, u_vh_adjoint

SAMPLES = {}
try:
    from scipy import linalg, optimize
except ImportError:
    linalg = None


def good(n):
    return r(n, n) + 3 * np.eye(n)


if linalg is not None:
    scipy_rules.load()
    a = good(4)
    z = c(4, 4) + 3 * np.eye(4)
    SAMPLES[linalg.solve] = [
        case(a, r(4)), case(a, r(4, 2)), case(a, r(4), transposed=True), case(z, c(4)),
        case(a, r(4, 2), transposed=True), case(z, r(4, 2)), case(a, c(4)),
        *(
            case(a, r(4), assume_a=structure, transposed=t)
            for structure in ("diagonal", "tridiagonal", "upper triangular", "banded")
            for t in (False, True)
        ),
    ]  # fmt: skip
    SAMPLES[linalg.solve_triangular] = [
        case(m, b, trans, lower=lower, unit_diagonal=unit)
        for m, b in ((a, r(4)), (a, r(4, 3)), (z, c(4)), (z, c(4, 2)))
        for trans in (0, 1, 2, "N", "T", "C") for lower in (False, True) for unit in (False, True)
    ]  # fmt: skip
    SAMPLES[linalg.inv] = [case(a), case(z), case(good(1))]
    SAMPLES[linalg.det] = [case(a), case(z)]
    SAMPLES[linalg.pinv] = [case(r(4, 3)), case(r(3, 4)), case(c(4, 3)), case(a)]
    SAMPLES[linalg.lstsq] = [case(r(5, 3), r(5)), case(r(5, 3), r(5, 2)), case(r(3, 5), r(3))]
    SAMPLES[linalg.solve_banded] = [
        case((1, 2), r(4, 6) + np.array([[0], [0], [5], [0]]), r(6)),
        case((2, 1), c(4, 6) + np.array([[0], [5], [0], [0]]), c(6, 2)),
        case((0, 0), r(1, 5) + 3, r(5)),
        case((2, 0), r(3, 5) + np.array([[5], [0], [0]]), r(5, 2)),
    ]
    SAMPLES[linalg.solveh_banded] = [
        case(r(3, 6) + np.array([[0], [0], [9]]), r(6)),
        case(r(3, 6) + np.array([[9], [0], [0]]), r(6, 2), lower=True),
        case(r(2, 5) + np.array([[0], [9]]), r(5)), case(r(1, 5) ** 2 + 1, r(5)),
    ]  # fmt: skip
    SAMPLES[linalg.eigh_tridiagonal] = [
        case(r(5), r(4), True), case(r(5), r(4), True, "i", (1, 3)), case(r(1), r(0), True),
    ]  # fmt: skip
    SAMPLES[linalg.eigvalsh_tridiagonal] = [case(r(5), r(4))]
    SAMPLES[linalg.fractional_matrix_power] = [case(a @ a.T, 0.3), case(z @ z, 0.3), case(a, 2)]
    SAMPLES[linalg.toeplitz] = [
        case(r(4)), case(r(4), r(3)), case(c(3), c(5)), case(c(4)), case(r(1)), case(r(1), r(4)),
    ]  # fmt: skip
    SAMPLES[linalg.hankel] = [case(r(4)), case(r(4), r(3)), case(c(3), c(5)), case(r(1), r(2))]
    SAMPLES[linalg.circulant] = [case(r(4)), case(c(3)), case(r(1))]
    first = np.array([5.0, 1, -1, 0.5])
    SAMPLES[linalg.solve_toeplitz] = [
        case(first, r(4)), case((first, first[::-1].copy()), r(4)), case(first + 0.3j, c(4)),
        case((first, r(4)), r(4, 2)), case((first + 1j, c(4)), c(4)), case(first, r(4, 2)),
    ]  # fmt: skip
    SAMPLES[linalg.solve_sylvester] = [
        case(good(3), good(2), r(3, 2)), case(z, c(2, 2) + 3 * np.eye(2), c(4, 2)),
        case(z, c(2, 2) + 3 * np.eye(2), r(4, 2)),
    ]  # fmt: skip
    SAMPLES[linalg.solve_continuous_lyapunov] = [case(good(3), r(3, 3)), case(z, c(4, 4))]
    SAMPLES[linalg.solve_discrete_lyapunov] = [
        case(0.3 * r(3, 3), r(3, 3)), case(0.1 * c(3, 3), c(3, 3), "direct"),
        case(0.1 * c(3, 3), c(3, 3), method="bilinear"),
    ]  # fmt: skip
    for lower in (False, True):
        SAMPLES[of_hermitian(linalg.cholesky, 8, lower=lower)] = [case(r(4, 4)), case(c(3, 3))]
    SAMPLES[linalg.cho_solve] = [
        case((np.tril(a), True), r(4)), case((np.triu(a), False), r(4)),
        case((np.tril(a), True), r(4, 2)), case((np.triu(z), False), c(4, 2)),
        case((np.tril(z), True), c(4)),
        case((a, True), r(4)), case((a, False), r(4, 2)),  # the other triangle isn't read
    ]  # fmt: skip
    lapack = linalg.lapack
    m, b = definite(4, 4), r(4, 2)
    SAMPLES[lapack.dpotrf] = [case(m), case(m, lower=1)]
    SAMPLES[lapack.dpotri] = [case(m), case(m, 1)]
    SAMPLES[lapack.dpotrs] = [case(m, y, lower) for y in (b, b[:, 0]) for lower in (0, 1)]
    SAMPLES[lapack.dtrtri] = [case(m / 4, lower, unit) for lower in (0, 1) for unit in (0, 1)]
    SAMPLES[lapack.dtrtrs] = [
        case(m / 4, b, lower, trans, unit)
        for lower in (0, 1) for trans in (0, 1) for unit in (0, 1)
    ]  # fmt: skip
    SAMPLES[linalg.lu] = [
        case(x, **options)
        for x in (r(4, 4), r(5, 3), r(3, 5), c(3, 3), r(1, 3))
        for options in ({}, {"permute_l": True}, {"p_indices": True})
    ]
    SAMPLES[linalg.lu_factor] = [
        case(r(4, 4)), case(c(3, 3)), case(r(1, 1)), case(r(4, 2)), case(c(2, 3)),
    ]  # fmt: skip
    SAMPLES[linalg.lu_solve] = [
        case(linalg.lu_factor(m), b, trans)
        for m, b in ((a, r(4)), (r(4, 4), r(4, 2)), (z, c(4, 2)))
        for trans in (0, 1, 2)
    ]
    SAMPLES[linalg.qr] = [
        case(x, mode=mode, pivoting=pivoting)
        for x in (r(4, 4), r(5, 3), r(3, 5), c(4, 3))
        for mode in ("economic", "r")
        for pivoting in (False, True)
    ] + [case(r(3, 3)), case(r(2, 4))]
    SAMPLES[then(linalg.svd, u_vh, u_vh_adjoint, full_matrices=False)] = [
        case(r(4, 3)), case(r(3, 4)), case(c(3, 3))
    ]  # fmt: skip
    SAMPLES[linalg.svdvals] = [case(r(4, 3)), case(c(3, 4))]
    SAMPLES[of_hermitian(linalg.eigvalsh)] = [case(r(4, 4)), case(c(3, 3))]
    SAMPLES[of_hermitian(linalg.eigh, eigvals_only=True)] = [case(r(4, 4)), case(c(3, 3))]
    SAMPLES[of_hermitian(linalg.eigvalsh, subset_by_index=(1, 2))] = [case(r(4, 4))]
    SAMPLES[linalg.eigvals] = [case(r(4, 4)), case(c(3, 3))]
    SAMPLES[linalg.eig] = [
        case(np.diag([1.0, 2, 4]) + 0.1 * r(3, 3)), case(c(3, 3)), case(c(3, 3), right=False)
    ]  # fmt: skip
    SAMPLES[linalg.expm] = [
        case(r(4, 4)),
        case(c(3, 3)),
        case(r(2, 3, 3)),
        case(r(1, 1)),
        case(9 * r(2, 5, 5) - 25 * np.eye(5)),
    ]
    SAMPLES[linalg.expm_frechet] = [
        case(r(3, 3), r(3, 3), compute_expm=False), case(r(3, 3), r(3, 3)),
        case(c(2, 2), c(2, 2)),
    ]  # fmt: skip
    SAMPLES[linalg.sqrtm] = [case(definite(4, 4) + 0.1 * r(4, 4)), case(z)]
    SAMPLES[linalg.logm] = [case(definite(4, 4) + 0.1 * r(4, 4)), case(z)]
    for function in (linalg.cosm, linalg.sinm, linalg.coshm, linalg.sinhm):
        SAMPLES[function] = [case(r(3, 3)), case(c(3, 3))]
    for function in (linalg.tanm, linalg.tanhm):
        SAMPLES[function] = [case(0.3 * r(3, 3)), case(0.3 * c(3, 3))]
    SAMPLES[linalg.norm] = [
        case(r(4)), case(r(3, 4)), case(c(3, 4)), case(r(3, 4), 1), case(r(3, 4), 2),
        case(r(3, 4), "nuc"), case(r(3, 4), axis=1),
        case(r(3, 4), np.inf, 0, True, fixed=(1,)), case(r(4), 3),
    ]  # fmt: skip
    SAMPLES[linalg.block_diag] = [
        case(r(2, 3), r(1, 2), r(3, 1)), case(r(2, 2), r(3), 2.5), case(c(2, 1), r(2, 2)),
    ]  # fmt: skip
    # SciPy reads one triangle of these: of larger matrices they are tested as parts of others
    SAMPLES[of_hermitian(linalg.pinvh, 4)] = [case(r(4, 4)), case(c(3, 3))]
    for function in (linalg.pinvh, linalg.eigvalsh, linalg.eigh, linalg.cholesky):
        SAMPLES[function] = [case(np.array([[2.5]]))]
    SAMPLES[linalg.svd] = [case(r(3, 4), compute_uv=False), case(c(3, 3), True, False)]
    # Those of equations of Riccati; the others must be Hermitian: `test_riccati_equations`
    weights = np.diag([1, 2, 3]), np.array([[3, 1], [1, 2]])
    SAMPLES[linalg.solve_continuous_are] = [
        case(r(3, 3), r(3, 2), *weights), case(c(3, 3), c(3, 2), *weights, balanced=False),
        case(r(3, 3), r(3, 1), weights[0], 1.5),
    ]  # fmt: skip
    SAMPLES[linalg.solve_discrete_are] = [
        case(r(3, 3), r(3, 2), *weights), case(c(3, 3), c(3, 2), *weights, balanced=False),
    ]  # fmt: skip
    tall = np.random.default_rng(3).normal(size=(2, 5, 2))
    SAMPLES[linalg.qr] += [case(tall[0]), case(tall[0] + 1j * tall[1], pivoting=True)]
    SAMPLES[optimize.nnls] = [case(tall[0], np.array([0.4, -1.0, 0.7, 1.3, 0.2]))]
