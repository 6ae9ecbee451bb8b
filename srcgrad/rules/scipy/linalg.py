"""Linear algebra beyond NumPy's: structured systems, factorisations, functions of matrices.

Arguments that let SciPy overwrite its input (`overwrite_a=True`) are refused: the reverse sweep
needs that input.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ...analysis.inference import Inferred
from ...kinds import INT, Array, TupleOf, fresh_size
from .. import linalg as numpy_rules
from ..linalg import (
    adjoined,
    copy_lower,
    diagonal_matrix,
    diagonal_of,
    hermitian_part,
    in_one_triangle,
    reciprocal_gaps,
    turning,
    unitary_factor,
)
from ..products import conj
from ..registry import (
    Unknown,
    adjoint,
    definition,
    inert,
    kind,
    only_reverse,
    primitives,
    refuse,
    tangent,
)  # fmt: skip
from ..shaping import present, transposed
from .kinds import constant, floating, operand_kind

OF_STACKS = Unknown("of stacks of matrices it has no rule; use np.linalg, or a loop")
OF_SUBSETS = Unknown("eigenvectors of a subset depend on all others; compute them all")
GENERALISED = Unknown("of this form of generalised eigenvalue problem it has no rule")
RAW = Unknown("with mode='raw' it has no rule; use mode='economic'")


def outer(x, y):
    """x y^T, of two vectors or two matrices."""
    return x[:, None] * y if x.ndim == 1 else x @ y.T


def triangle(x, lower, k=0):
    return np.tril(x, -k) if lower else np.triu(x, k)


# Solving


def structured(d_a, assume_a, lower):
    """The part of the adjoint of a matrix that `assume_a` lets SciPy read."""
    if assume_a in ("pos", "her", "positive definite", "hermitian"):
        return in_one_triangle((d_a + adjoined(d_a)) / 2, lower)
    if assume_a in ("sym", "symmetric"):
        return in_one_triangle((d_a + transposed(d_a)) / 2, lower)
    if assume_a == "diagonal":
        return np.triu(np.tril(d_a))
    if assume_a == "tridiagonal":
        return np.triu(np.tril(d_a, 1), -1)
    if assume_a == "upper triangular":
        return np.triu(d_a)
    if assume_a == "lower triangular":
        return np.tril(d_a)
    return d_a


@adjoint(linalg.solve)
def solve(a, b, lower=False, *, check_finite=True, assume_a=None, transposed=False, out, d_out):
    if a.ndim > 2 or b.ndim > 2:
        return OF_STACKS, OF_STACKS
    if assume_a in ("pos", "her", "positive definite", "hermitian"):
        d_b = linalg.solve(conj(a), d_out, lower=lower, assume_a=assume_a)
    elif assume_a in ("sym", "symmetric"):
        d_b = linalg.solve(a, d_out, lower=lower, assume_a=assume_a)
    elif assume_a == "upper triangular" or assume_a == "lower triangular":
        is_lower = assume_a == "lower triangular"
        d_b = linalg.solve_triangular(a, d_out, 0 if transposed else 1, is_lower)
    elif transposed:
        d_b = linalg.solve(a, d_out)
    else:
        d_b = linalg.solve(a.T, d_out)
    d_a = outer(-out, d_b) if transposed else outer(-d_b, out)
    return structured(d_a, assume_a, lower), d_b


@adjoint(linalg.solve_triangular)
def solve_triangular(
    a, b, trans=0, lower=False, unit_diagonal=False, *, check_finite=True, out, d_out
):
    if a.ndim > 2 or b.ndim > 2:
        return OF_STACKS, OF_STACKS
    if trans in (0, "N"):
        d_b = linalg.solve_triangular(a, d_out, 1, lower, unit_diagonal)
        d_a = outer(-d_b, out)
    elif trans in (1, "T"):
        d_b = linalg.solve_triangular(a, d_out, 0, lower, unit_diagonal)
        d_a = outer(-out, d_b)
    else:
        d_b = linalg.solve_triangular(conj(a), d_out, 0, lower, unit_diagonal)
        d_a = conj(outer(-out, d_b))
    return triangle(d_a, lower, 1 if unit_diagonal else 0), d_b


@adjoint(linalg.inv)
def inv(a, *, check_finite=True, assume_a=None, lower=False, out, d_out):
    out_t = transposed(out)
    return structured(-out_t @ d_out @ out_t, assume_a, lower)


@adjoint(linalg.det)
def det(a, *, check_finite=True, out, d_out):
    return numpy_rules.det(a, out=out, d_out=d_out)


@adjoint(linalg.pinv)
def pinv(a, *, atol=None, rtol=None, return_rank=False, check_finite=True, out, d_out):
    if return_rank:
        return numpy_rules.pinv_adjoint(a, out[0], d_out[0])
    return numpy_rules.pinv_adjoint(a, out, d_out)


@adjoint(linalg.pinvh)
def pinvh(a, *, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True, out, d_out):
    if return_rank:
        out, d_out = out[0], d_out[0]
    a = copy_lower(a if lower else adjoined(a))
    return in_one_triangle(hermitian_part(numpy_rules.pinv_adjoint(a, out, d_out)), lower)


def precision(dtype):
    return float(np.finfo(dtype).eps)


@adjoint(linalg.lstsq, unused=None)
def lstsq(a, b, cond=None, *, check_finite=True, lapack_driver=None, out, d_out):
    if a.ndim > 2 or b.ndim > 2:
        return OF_STACKS, OF_STACKS
    d_x, d_residues, _, d_s = d_out
    if d_residues is not None:
        d_residues = np.reshape(d_residues, -1)
    if cond is None:
        cond = precision(out[0].dtype)
    d_out = (d_x, d_residues, None, d_s)
    return numpy_rules.lstsq(a, b, cond, out=out, d_out=d_out)


def band(x, y, l_and_u, n):
    """The products x_i y_j at the places (i, j) of a band matrix, as SciPy stores it."""
    below, above = l_and_u
    stored = np.zeros((below + above + 1, n), np.result_type(x, y))
    for row in range(below + above + 1):
        shift = row - above
        low, high = max(0, -shift), n - max(0, shift)
        products = x[low + shift : high + shift] * y[low:high]
        stored[row, low:high] = products if x.ndim == 1 else products.sum(1)
    return stored


def transposed_band(ab, l_and_u, n):
    below, above = l_and_u
    stored = np.zeros((below + above + 1, n), ab.dtype)
    for row in range(below + above + 1):
        shift = row - above
        low, high = max(0, -shift), n - max(0, shift)
        stored[below + above - row, low + shift : high + shift] = ab[row, low:high]
    return stored


@adjoint(linalg.solve_banded)
def solve_banded(l_and_u, ab, b, *, check_finite=True, out, d_out):
    if ab.ndim > 2 or b.ndim > 2:
        return None, OF_STACKS, OF_STACKS
    below, above = l_and_u
    n = ab.shape[1]
    d_b = linalg.solve_banded((above, below), transposed_band(ab, l_and_u, n), d_out)
    return None, -band(d_b, out, l_and_u, n), d_b


def antidiagonal_sums(x):
    """The sums of x[i, j] over i + j = 0, 1, ..., m + n - 1 (where nothing is): each row written
    one element further on."""
    m, n = x.shape
    rows = np.zeros((m, n + m + 1), x.dtype)
    rows[:, :n] = x
    return np.ravel(rows)[: m * (n + m)].reshape(m, n + m).sum(0)


def toeplitz_adjoint(sums, c, r):
    """The adjoints of the first column and row (None: its conjugate) of a Toeplitz matrix, given
    the sums along the diagonals, from the lowest to the highest."""
    m = c.shape[0]
    d_c = sums[:m][::-1]
    if r is None:
        return np.concatenate((d_c[:1], d_c[1:] + conj(sums[m : 2 * m - 1]))), None
    n = r.shape[0]
    return d_c, np.concatenate((np.zeros_like(r[:1]), sums[m : m + n - 1]))


@adjoint(linalg.toeplitz)
def toeplitz(c, r=None, *, out, d_out):
    if c.ndim != 1 or (r is not None and r.ndim != 1):
        return OF_STACKS, OF_STACKS
    return toeplitz_adjoint(antidiagonal_sums(d_out[::-1]), c, r)


@adjoint(linalg.hankel)
def hankel(c, r=None, *, out, d_out):
    if c.ndim != 1 or (r is not None and r.ndim != 1):
        return OF_STACKS, OF_STACKS
    sums = antidiagonal_sums(d_out)
    m = c.shape[0]
    if r is None:
        return sums[:m], None
    return sums[:m], np.concatenate((np.zeros_like(r[:1]), sums[m:-1]))


@adjoint(linalg.circulant)
def circulant(c, *, out, d_out):
    if c.ndim != 1:
        return OF_STACKS
    sums = antidiagonal_sums(d_out[::-1])
    n = c.shape[0]
    return sums[:n][::-1] + np.concatenate((np.zeros_like(c[:1]), sums[n:-1][::-1]))


@adjoint(linalg.solve_toeplitz)
def solve_toeplitz(c_or_cr, b, *, check_finite=True, out, d_out):
    if isinstance(c_or_cr, tuple):
        c, r = c_or_cr
        row = r
    else:
        c, r = c_or_cr, None
        row = conj(c)
    if c.ndim > 1 or b.ndim > 2:
        return OF_STACKS, OF_STACKS
    column = np.concatenate((c[:1], row[1:]))
    d_b = linalg.solve_toeplitz((column, c), d_out)
    if b.ndim == 1:
        sums = -np.convolve(d_b[::-1], out)
    else:
        sums = -antidiagonal_sums((d_b @ out.T)[::-1])
    d_c, d_r = toeplitz_adjoint(sums, c, r)
    return (d_c if r is None else (d_c, d_r)), d_b


@adjoint(linalg.solve_sylvester)
def solve_sylvester(a, b, q, *, out, d_out):
    d_q = linalg.solve_sylvester(transposed(a), transposed(b), d_out)
    out_t = transposed(out)
    return -d_q @ out_t, -out_t @ d_q, d_q


@adjoint(linalg.solve_continuous_lyapunov)
def solve_continuous_lyapunov(a, q, *, out, d_out):
    """a x + x a^H = q."""
    d_q = linalg.solve_sylvester(transposed(a), conj(a), d_out)
    return -d_q @ transposed(out) - conj(transposed(d_q) @ out), d_q


@adjoint(linalg.solve_discrete_lyapunov)
def solve_discrete_lyapunov(a, q, method=None, *, out, d_out):
    """x = a x a^H + q."""
    d_q = linalg.solve_discrete_lyapunov(transposed(a), d_out, method)
    return d_q @ conj(a) @ transposed(out) + conj(transposed(d_q) @ a @ out), d_q


# Factorisations


@adjoint(linalg.cholesky)
def cholesky(a, lower=False, *, check_finite=True, out, d_out):
    """As of np.linalg.cholesky, with triangular solves."""
    if a.ndim > 2:
        return numpy_rules.cholesky(a, upper=not lower, out=out, d_out=d_out)
    d_factor = conj(d_out) if lower else d_out.T
    inner = solved_above(out, copy_lower(factor_above(out, lower) @ d_factor), lower)
    d_a = conj(hermitian_part(solved_above(out, adjoined(inner), lower))) / 2
    return in_one_triangle(d_a, lower)


def factor_above(factor, lower):
    """The factor of a Cholesky decomposition that is an upper triangle."""
    return adjoined(factor) if lower else factor


def solved_above(factor, b, lower):
    """b, from the left divided by the factor that is an upper triangle."""
    if lower:
        return linalg.solve_triangular(factor, b, 2, True)
    return linalg.solve_triangular(factor, b)


@definition(linalg.cho_factor)
def cho_factor(a, lower=False, *, check_finite=True):
    """The other triangle, which is random data, is zero here."""
    return linalg.cholesky(a, lower), lower


@adjoint(linalg.cho_solve)
def cho_solve(c_and_lower, b, *, check_finite=True, out, d_out):
    c, lower = c_and_lower
    if c.ndim > 2 or b.ndim > 2:
        return (OF_STACKS, None), OF_STACKS
    d_b = linalg.cho_solve((conj(c), lower), d_out)
    d_a = outer(-d_b, out)
    d_a = d_a + adjoined(d_a)
    d_c = np.tril(d_a @ conj(c)) if lower else np.triu(conj(c) @ d_a)
    return (d_c, None), d_b


def lu_adjoint(l, u, d_l, d_u):  # noqa: E741
    """The adjoint of the rows of a matrix, in the order of the factors."""
    k = min(l.shape[0], u.shape[1])
    l1, u1 = l[:k], u[:, :k]
    inner = np.zeros((k, k), l.dtype)
    if d_l is not None:
        inner = inner + np.tril(l1.T @ d_l[:k], -1)
    if d_u is not None:
        inner = inner + np.triu(d_u[:, :k] @ u1.T)
    if l.shape[0] != k:
        d_below = np.zeros_like(l[k:])
        if d_l is not None:
            d_below = linalg.solve_triangular(u1, d_l[k:].T, 0, False).T
            inner = inner - np.triu(l[k:].T @ d_below @ u1.T)
        return np.concatenate((through_factors(l1, u1, inner), d_below), 0)
    if u.shape[1] != k:
        d_right = np.zeros_like(u[:, k:])
        if d_u is not None:
            d_right = linalg.solve_triangular(l1, d_u[:, k:], 1, True, True)
            inner = inner - np.tril(l1.T @ d_right @ u[:, k:].T, -1)
        return np.concatenate((through_factors(l1, u1, inner), d_right), 1)
    return through_factors(l1, u1, inner)


def through_factors(l, u, inner):  # noqa: E741
    d_rows = linalg.solve_triangular(l, inner, 1, True, True)
    return linalg.solve_triangular(u, d_rows.T, 0, False).T


@adjoint(linalg.lu, unused=None)
def lu(a, permute_l=False, *, check_finite=True, p_indices=False, out, d_out):
    """M. Seeger et al., Auto-differentiating linear algebra (2017), for any shape."""
    if a.ndim > 2:
        return OF_STACKS
    if permute_l:
        p, l, u = linalg.lu(a)  # noqa: E741
        d_l, d_u = d_out
        d_l = None if d_l is None else p.T @ d_l
        return p @ lu_adjoint(l, u, d_l, d_u)
    p, l, u = out  # noqa: E741
    _, d_l, d_u = d_out
    d_rows = lu_adjoint(l, u, d_l, d_u)
    return d_rows[p] if p_indices else p @ d_rows


def row_order(piv):
    """The order in which the factors have the rows of a matrix. Called by generated code.

    >>> row_order(np.array([1, 2, 2]))
    array([1, 2, 0])
    """
    order = np.arange(len(piv))
    for i, j in enumerate(piv):
        order[[i, j]] = order[[j, i]]
    return order


inert(row_order)


@adjoint(linalg.lu_factor)
def lu_factor(a, *, check_finite=True, out, d_out):
    both, piv = out
    if a.ndim > 2:
        return OF_STACKS
    lower = np.tril(both, -1) + np.eye(both.shape[0], dtype=both.dtype)
    d_rows = lu_adjoint(lower, np.triu(both), d_out[0], d_out[0])
    return d_rows[np.argsort(row_order(piv))]


@adjoint(linalg.lu_solve)
def lu_solve(lu_and_piv, b, trans=0, *, check_finite=True, out, d_out):
    both, piv = lu_and_piv
    if both.ndim > 2 or b.ndim > 2:
        return (OF_STACKS, None), OF_STACKS
    if trans == 0:
        d_b = linalg.lu_solve(lu_and_piv, d_out, 1)
        d_a = outer(-d_b, out)
    elif trans == 1:
        d_b = linalg.lu_solve(lu_and_piv, d_out, 0)
        d_a = outer(-out, d_b)
    else:
        d_b = linalg.lu_solve((conj(both), piv), d_out, 0)
        d_a = conj(outer(-out, d_b))
    d_rows = d_a[row_order(piv)]
    upper = np.triu(both)
    lower = both - upper + np.eye(both.shape[0], dtype=both.dtype)
    return (np.tril(d_rows @ upper.T, -1) + np.triu(lower.T @ d_rows), None), d_b


@adjoint(linalg.qr, unused=None)
def qr(a, lwork=None, mode="full", pivoting=False, *, check_finite=True, out, d_out):
    if a.ndim > 2:
        return OF_STACKS
    if mode == "raw":
        return RAW
    x = a[:, out[-1]] if pivoting else a
    if mode == "r":
        q, r = linalg.qr(x, mode="full")
        d_x = numpy_rules.qr(x, "complete", out=(q, r), d_out=(None, d_out[0]))
    else:
        name = "reduced" if mode == "economic" else "complete"
        d_x = numpy_rules.qr(x, name, out=(out[0], out[1]), d_out=(d_out[0], d_out[1]))
    return d_x[:, np.argsort(out[-1])] if pivoting else d_x


@adjoint(linalg.svd, unused=None)
def svd(
    a, full_matrices=True, compute_uv=True, *, check_finite=True, lapack_driver=None, out, d_out
):
    return numpy_rules.svd(a, full_matrices, compute_uv, out=out, d_out=d_out)


@tangent(linalg.svd)
def t_svd(
    a, full_matrices=True, compute_uv=True, *, check_finite=True, lapack_driver=None, out, tangents
):
    return numpy_rules.t_svd(a, full_matrices, compute_uv, out=out, tangents=tangents)


@adjoint(linalg.svdvals)
def svdvals(a, *, check_finite=True, out, d_out):
    return numpy_rules.svdvals_adjoint(a, d_out)


def eigh_adjoint(v, w, d_w, d_v, generalised):
    """The adjoints of a and b in a v = b v diag(w), v^H b v = 1."""
    if d_v is None:
        d_a = conj((v * d_w[..., None, :]) @ adjoined(v))
        return d_a, -conj((v * (w * d_w)[..., None, :]) @ adjoined(v)) if generalised else None
    turned = adjoined(v) @ conj(d_v)
    inner = turned * reciprocal_gaps(w, d_w)
    if d_w is not None:
        inner = inner + diagonal_matrix(d_w)
    d_a = conj(hermitian_part(v @ inner @ adjoined(v)))
    if not generalised:
        return d_a, None
    inner = inner * w[..., None, :] + 0.5 * diagonal_matrix(diagonal_of(turned).real)
    return d_a, -conj(hermitian_part(v @ inner @ adjoined(v)))


def in_triangles(adjoints, lower):
    """The adjoints of a and b, of which one triangle is read."""
    d_a, d_b = adjoints
    if d_b is None:
        return in_one_triangle(d_a, lower)
    return in_one_triangle(d_a, lower), in_one_triangle(d_b, lower)


@adjoint(linalg.eigh, unused=None)
def eigh(
    a, b=None, *, lower=True, eigvals_only=False, type=1, check_finite=True,
    subset_by_index=None, subset_by_value=None, driver=None, out, d_out,
):  # fmt: skip
    if b is not None and type != 1:
        return GENERALISED, GENERALISED
    if eigvals_only:
        w, v = linalg.eigh(
            a, b, lower=lower, subset_by_index=subset_by_index, subset_by_value=subset_by_value
        )
        return in_triangles(eigh_adjoint(v, w, d_out, None, b is not None), lower)
    w, v = out
    d_w, d_v = d_out
    if d_v is not None and (subset_by_index is not None or subset_by_value is not None):
        return OF_SUBSETS, OF_SUBSETS
    return in_triangles(eigh_adjoint(v, w, d_w, d_v, b is not None), lower)


@tangent(linalg.eigh)
def t_eigh(
    a, b=None, *, lower=True, eigvals_only=False, type=1, check_finite=True,
    subset_by_index=None, subset_by_value=None, driver=None, out, tangents,
):  # fmt: skip
    if b is not None and type != 1:
        raise NotImplementedError(GENERALISED.reason)
    if eigvals_only:
        w, v = linalg.eigh(
            a, b, lower=lower, subset_by_index=subset_by_index, subset_by_value=subset_by_value
        )
    elif subset_by_index is None and subset_by_value is None:
        w, v = out
    else:
        raise NotImplementedError(OF_SUBSETS.reason)
    t_a = tangents[0]
    inner = 0 if t_a is None else adjoined(v) @ copy_lower(t_a if lower else adjoined(t_a)) @ v
    longer = 0
    if b is not None and tangents[1] is not None:
        t_b = tangents[1]
        stretch = adjoined(v) @ copy_lower(t_b if lower else adjoined(t_b)) @ v
        inner = inner - stretch * w[..., None, :]
        longer = 0.5 * diagonal_of(stretch)[..., None, :]
    t_w = diagonal_of(inner).real.copy()
    return t_w if eigvals_only else (t_w, v @ turning(w, inner) - v * longer)


@adjoint(linalg.eigvalsh)
def eigvalsh(
    a, b=None, *, lower=True, type=1, check_finite=True,
    subset_by_index=None, subset_by_value=None, driver=None, out, d_out,
):  # fmt: skip
    if b is not None and type != 1:
        return GENERALISED, GENERALISED
    w, v = linalg.eigh(
        a, b, lower=lower, subset_by_index=subset_by_index, subset_by_value=subset_by_value
    )
    return in_triangles(eigh_adjoint(v, w, d_out, None, b is not None), lower)


@adjoint(linalg.eig, unused=None)
def eig(
    a, b=None, left=False, right=True, *, check_finite=True, homogeneous_eigvals=False, out, d_out
):
    if b is not None or homogeneous_eigvals or left:
        return GENERALISED, GENERALISED
    if not right:
        return numpy_rules.eigvals(a, out=out, d_out=d_out)
    return numpy_rules.eig(a, out=out, d_out=d_out)


@adjoint(linalg.eigvals)
def eigvals(a, b=None, *, check_finite=True, homogeneous_eigvals=False, out, d_out):
    if b is not None or homogeneous_eigvals:
        return GENERALISED, GENERALISED
    return numpy_rules.eigvals(a, out=out, d_out=d_out)


@definition(linalg.polar)
def polar(a, side="right"):
    u = unitary_factor(a)
    return u, hermitian_part(adjoined(u) @ a if side == "right" else a @ adjoined(u))


@definition(linalg.orthogonal_procrustes)
def orthogonal_procrustes(A, B, check_finite=True):
    product = (B.T @ conj(A)).T
    u = unitary_factor(product)
    return u, np.sum(conj(u) * product).real


# Functions of matrices


def derivative(function, a, d):
    """The derivative of a function at the matrix a in the direction d: the corner of its value
    at [[a, d], [0, a]]. R. Mathias, SIAM J. Matrix Anal. Appl. 17 (1996)."""
    n = a.shape[-1]
    upper = np.concatenate((a, d), axis=-1)
    lower = np.concatenate((np.zeros_like(a), a), axis=-1)
    return function(np.concatenate((upper, lower), axis=-2))[..., :n, n:]


@adjoint(linalg.expm)
def expm(A, *, out, d_out):
    if A.ndim == 2:
        return linalg.expm_frechet(A.T, d_out, compute_expm=False)
    return derivative(linalg.expm, transposed(A), d_out)


@tangent(linalg.expm)
def t_expm(A, *, out, tangents):
    if A.ndim == 2:
        return linalg.expm_frechet(A, tangents[0], compute_expm=False)
    return derivative(linalg.expm, A, tangents[0])


@adjoint(linalg.expm_frechet, unused=None)
def expm_frechet(A, E, method=None, compute_expm=True, *, check_finite=True, out, d_out):
    d_value = None
    if compute_expm:
        d_value, d_out = d_out
    n = A.shape[-1]
    zero = np.zeros_like(A)
    d_corner = zero if d_out is None else d_out
    both = np.concatenate(
        (np.concatenate((A.T, zero), axis=1), np.concatenate((E.T, A.T), axis=1)), axis=0
    )
    d_both = np.concatenate(
        (np.concatenate((zero, d_corner), axis=1), np.concatenate((zero, zero), axis=1)), axis=0
    )
    d_both = linalg.expm_frechet(both, d_both, compute_expm=False)
    d_A = d_both[:n, :n] + d_both[n:, n:]
    if d_value is not None:
        d_A = d_A + linalg.expm_frechet(A.T, d_value, compute_expm=False)
    return d_A, d_both[:n, n:]


@adjoint(linalg.sqrtm)
def sqrtm(A, *, out, d_out):
    out_t = transposed(out)
    return linalg.solve_sylvester(out_t, out_t, d_out)


only_reverse(linalg.logm, reason="whether its result is complex depends on the values")


@adjoint(linalg.logm)
def logm(A, *, out, d_out):
    return derivative(linalg.logm, transposed(A), d_out)


def _function_of_a_matrix(function):
    @adjoint(function)
    def backward(A, *, out, d_out):
        return derivative(function, transposed(A), d_out)

    @tangent(function)
    def forward(A, *, out, tangents):
        return derivative(function, A, tangents[0])


for _function in (linalg.cosm, linalg.sinm, linalg.tanm, linalg.coshm, linalg.sinhm, linalg.tanhm):
    _function_of_a_matrix(_function)


# Norms and arrangements


@adjoint(linalg.norm)
def norm(a, ord=None, axis=None, keepdims=False, check_finite=True, *, out, d_out):
    return numpy_rules.norm(a, ord, axis, keepdims, out=out, d_out=d_out)


@adjoint(linalg.block_diag)
def block_diag(*arrs, out, d_out):
    if out.ndim > 2:
        return tuple(OF_STACKS for _ in arrs)
    contributions, row, column = (), 0, 0
    for x in arrs:
        m = x.shape[0] if np.ndim(x) == 2 else 1
        n = x.shape[-1] if np.ndim(x) > 0 else 1
        part = d_out[row : row + m, column : column + n]
        part = part if np.ndim(x) == 2 else part[0, 0] if np.ndim(x) == 0 else part[0]
        contributions = (*contributions, part)
        row, column = row + m, column + n
    return contributions


@definition(linalg.khatri_rao)
def khatri_rao(a, b):
    return (a[:, None, :] * b).reshape(a.shape[0] * b.shape[0], a.shape[1])


for _name in ("kron", "tril", "triu"):
    for _function in present(linalg, _name):
        definition(_function)(getattr(np, _name))


@kind(linalg.solve_banded)
def solve_banded_kind(args, kwargs):
    found = [operand_kind(a) for a in args[1:3]]
    if len(found) < 2 or any(k is None for k in found):
        return None
    return Inferred(Array(floating(*(k.dtype for k in found)), found[1].shape))


@kind(linalg.lu)
def lu_kind(args, kwargs):
    """The factors of matrices with one row or column have lengths that samples take for others."""
    found = operand_kind(args[0]) if args else None
    if found is None or found.shape is None or len(found.shape) != 2:
        return None
    permuted = constant(args, kwargs, 1, "permute_l", False)
    indices = constant(args, kwargs, 3, "p_indices", False)
    dtype = floating(found.dtype)
    if dtype is None or permuted is None or indices is None:
        return None
    (m, n), k = found.shape, fresh_size()
    factors = (Array(dtype, (m, k)), Array(dtype, (k, n)))
    if permuted:
        return Inferred(TupleOf(factors))
    whole = np.dtype(np.int32)
    p = Array(whole, (m,)) if indices else Array(np.zeros(0, dtype).real.dtype, (m, m))
    return Inferred(TupleOf((p, *factors)))


@kind(linalg.lstsq)
def lstsq_kind(args, kwargs):
    """There are residues only where the rank is full, which samples don't tell."""
    found = [operand_kind(a) for a in args[:2]]
    if len(found) < 2 or any(k is None or k.shape is None for k in found):
        return None
    a, b = found
    dtype = floating(a.dtype, b.dtype)
    real = None if dtype is None else np.zeros(0, dtype).real.dtype
    residues = Array(real, None if len(b.shape) == 1 else (fresh_size(),))
    x = Array(dtype, (*a.shape[1:], *b.shape[1:]))
    return Inferred(TupleOf((x, residues, INT, Array(real, (fresh_size(),)))))


# Kinds: a real matrix may have a complex root, logarithm or eigenvectors, which samples don't tell


@kind(linalg.cosm, linalg.sinm, linalg.tanm, linalg.coshm, linalg.sinhm, linalg.tanhm)
def of_the_same_kind(args, kwargs):
    found = operand_kind(args[0]) if args else None
    return None if found is None else Inferred(Array(floating(found.dtype), found.shape))


@kind(linalg.sqrtm, linalg.logm)
def of_unknown_dtype(args, kwargs):
    found = operand_kind(args[0]) if args else None
    if found is None:
        return None
    complex_ = found.dtype is not None and found.dtype.kind == "c"
    return Inferred(Array(np.dtype(np.complex128) if complex_ else None, found.shape))


@kind(linalg.eig)
def eig_kind(args, kwargs):
    found = operand_kind(args[0]) if args else None
    if found is None or len(args) > 1 or kwargs:
        return None
    complex_ = np.dtype(np.complex128)
    if found.dtype is None or found.dtype not in (np.float64, np.complex128):
        return None
    values = Array(complex_, None if found.shape is None else found.shape[:-1])
    vectors = Array(complex_ if found.dtype.kind == "c" else None, found.shape)
    return Inferred(TupleOf((values, vectors)))


inert(linalg.bandwidth, linalg.ishermitian, linalg.issymmetric)
for _name in linalg.__all__:
    _function = getattr(linalg, _name)
    if (
        callable(_function)
        and not isinstance(_function, type)
        and _function not in primitives
        and _function not in (linalg.cho_factor, linalg.polar, linalg.khatri_rao)
        and _function is not linalg.orthogonal_procrustes
    ):
        refuse(_function, reason="it has no rule yet")
