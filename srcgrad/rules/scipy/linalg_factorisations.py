"""Factorisations: triangular ones and what solves with them, and those with vectors."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ...analysis.inference import Inferred
from ...kinds import Array, TupleOf, fresh_size
from .. import linalg as numpy_rules
from .. import spectral
from ..matrices import (
    adjoined,
    copy_lower,
    diagonal_matrix,
    diagonal_of,
    divisible,
    hermitian_part,
    in_one_triangle,
    outer,
    triangle,
)
from ..products import conj
from ..registry import Unknown, adjoint, definition, inert, kind, tangent
from ..spectral import reciprocal_gaps, turning, unitary_factor
from .kinds import constant, floating, operand_kind

OF_STACKS = Unknown("of stacks of matrices it has no rule; use np.linalg, or a loop")
OF_SUBSETS = Unknown("eigenvectors of a subset depend on all others; compute them all")
GENERALISED = Unknown("of this form of generalised eigenvalue problem it has no rule")
RAW = Unknown("with mode='raw' it has no rule; use mode='economic'")


@adjoint(linalg.cholesky)
def cholesky(a, lower=False, *, check_finite=True, out, d_out):
    """As of np.linalg.cholesky, for complex matrices with triangular solves."""
    if a.ndim > 2 or not np.iscomplexobj(out):
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
    c = triangle(c, lower)  # the other one, which isn't read, may be random data
    # d_a = -d_b out^T, and its adjoint, times c: c by what has few columns comes first
    if lower:
        d_c = np.tril(outer(-d_b, adjoined(c) @ out) - outer(conj(out), conj(c.T @ d_b)))
    else:
        d_c = np.triu(outer(-conj(c) @ d_b, out) - outer(conj(c @ out), conj(d_b)))
    return (d_c, None), d_b


def lu_adjoint(l, u, d_l, d_u):  # noqa: E741
    """The adjoint of the rows of a matrix, in the order of the factors."""
    k = min(l.shape[0], u.shape[1])
    l1, u1 = l[:k], divisible(u[:, :k])
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


def row_order(piv, rows=None):
    """The order in which the factors have the rows of a matrix. Called by generated code.

    >>> row_order(np.array([1, 2, 2]))
    array([1, 2, 0])
    """
    order = np.arange(len(piv) if rows is None else rows)
    for i, j in enumerate(piv):
        order[[i, j]] = order[[j, i]]
    return order


inert(row_order)


@adjoint(linalg.lu_factor)
def lu_factor(a, *, check_finite=True, out, d_out):
    both, piv = out
    if a.ndim > 2:
        return OF_STACKS
    rows, columns = both.shape
    k = min(rows, columns)
    lower = np.tril(both[:, :k], -1) + np.eye(rows, k, dtype=both.dtype)
    d_rows = lu_adjoint(lower, np.triu(both[:k]), d_out[0][:, :k], d_out[0][:k])
    return d_rows[np.argsort(row_order(piv, rows))]


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
    return spectral.svd(a, full_matrices, compute_uv, out=out, d_out=d_out)


@tangent(linalg.svd)
def t_svd(
    a, full_matrices=True, compute_uv=True, *, check_finite=True, lapack_driver=None, out, tangents
):
    return spectral.t_svd(a, full_matrices, compute_uv, out=out, tangents=tangents)


adjoint(linalg.svdvals)(
    lambda a, *, check_finite=True, out, d_out: spectral.svdvals_adjoint(a, d_out)
)


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


def of_tridiagonal(v, weights):
    """The adjoints of the diagonal and of what is beside it, for that of a matrix which is
    v diag(weights) v^T: each element beside the diagonal stands in the matrix twice."""
    scaled = v * weights
    return (scaled * v).sum(1), 2 * (scaled[:-1] * v[1:]).sum(1)


@adjoint(linalg.eigh_tridiagonal, unused=None)
def eigh_tridiagonal(
    d, e, eigvals_only=False, select="a", select_range=None, check_finite=True, tol=0.0,
    lapack_driver="auto", *, out, d_out,
):  # fmt: skip
    if eigvals_only:
        v = linalg.eigh_tridiagonal(d, e, False, select, select_range)[1]
        return of_tridiagonal(v, d_out)
    w, v = out
    d_w, d_v = d_out
    if d_v is None:
        return of_tridiagonal(v, d_w)
    if select not in ("a", "all"):
        return OF_SUBSETS, OF_SUBSETS
    d_a = eigh_adjoint(v, w, d_w, d_v, False)[0]
    return d_a.diagonal(), d_a.diagonal(1) + d_a.diagonal(-1)


@tangent(linalg.eigh_tridiagonal)
def t_eigh_tridiagonal(
    d, e, eigvals_only=False, select="a", select_range=None, check_finite=True, tol=0.0,
    lapack_driver="auto", *, out, tangents,
):  # fmt: skip
    if eigvals_only:
        w, v = linalg.eigh_tridiagonal(d, e, False, select, select_range)
    elif select in ("a", "all"):
        w, v = out
    else:
        raise NotImplementedError(OF_SUBSETS.reason)
    t_d, t_e = tangents[:2]
    moved = 0.0 * v
    if t_d is not None:
        moved = moved + t_d[:, None] * v
    if t_e is not None:
        none = np.zeros_like(v[:1])
        moved = moved + np.concatenate((t_e[:, None] * v[1:], none))
        moved = moved + np.concatenate((none, t_e[:, None] * v[:-1]))
    if eigvals_only:
        return (v * moved).sum(0)
    inner = v.T @ moved
    return diagonal_of(inner).copy(), v @ turning(w, inner)


@adjoint(linalg.eigvalsh_tridiagonal)
def eigvalsh_tridiagonal(
    d, e, select="a", select_range=None, check_finite=True, tol=0.0, lapack_driver="auto", *,
    out, d_out,
):  # fmt: skip
    v = linalg.eigh_tridiagonal(d, e, False, select, select_range)[1]
    return of_tridiagonal(v, d_out)


@kind(linalg.eigh_tridiagonal)
def eigh_tridiagonal_kind(args, kwargs):
    """As many values as there are numbers in the diagonal, or as are chosen."""
    only = constant(args, kwargs, 2, "eigvals_only", False)
    found = tridiagonal_kind(args, kwargs, 3)
    if found is None or only is None:
        return None
    values, vectors = found
    return Inferred(values if only else TupleOf((values, vectors)))


@kind(linalg.eigvalsh_tridiagonal)
def eigvalsh_tridiagonal_kind(args, kwargs):
    found = tridiagonal_kind(args, kwargs, 2)
    return None if found is None else Inferred(found[0])


def tridiagonal_kind(args, kwargs, position):
    """The kinds of the values and of the vectors."""
    found = [operand_kind(a) for a in args[:2]]
    if len(found) < 2 or any(k is None or k.shape is None for k in found):
        return None
    dtypes = [k.dtype for k in found]
    dtype = floating(*dtypes)
    whole = constant(args, kwargs, position, "select", "a") in ("a", "all")
    n = found[0].shape[0]
    count = n if whole else fresh_size()
    return Array(dtype, (count,)), Array(dtype, (n, count))


@adjoint(linalg.eig, unused=None)
def eig(
    a, b=None, left=False, right=True, *, check_finite=True, homogeneous_eigvals=False, out, d_out
):
    if b is not None or homogeneous_eigvals or left:
        return GENERALISED, GENERALISED
    if not right:
        return spectral.eigvals(a, out=out, d_out=d_out)
    return spectral.eig(a, out=out, d_out=d_out)


@adjoint(linalg.eigvals)
def eigvals(a, b=None, *, check_finite=True, homogeneous_eigvals=False, out, d_out):
    if b is not None or homogeneous_eigvals:
        return GENERALISED, GENERALISED
    return spectral.eigvals(a, out=out, d_out=d_out)


@definition(linalg.polar)
def polar(a, side="right"):
    u = unitary_factor(a)
    return u, hermitian_part(adjoined(u) @ a if side == "right" else a @ adjoined(u))


@definition(linalg.orthogonal_procrustes)
def orthogonal_procrustes(A, B, check_finite=True):
    product = (B.T @ conj(A)).T
    u = unitary_factor(product)
    return u, np.sum(conj(u) * product).real


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
