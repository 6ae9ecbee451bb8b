"""Some eigenvalues and singular values of sparse matrices, and their vectors.

The vectors of one value turn into those of all others, of which most aren't found: how much, is the
solution of a system with the matrix, bordered by the vectors that are. (So are the derivatives of
single eigenvectors found: R. B. Nelson, AIAA Journal 14 (1976).)
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from ...analysis.inference import Inferred
from ...custom import stop_gradient
from ...kinds import Array, TupleOf, fresh_size
from ..registry import Unknown, adjoint, definition, kind, unseen
from ..spectral import reciprocal_gaps
from .left import left
from .sparse_entries import Entries, as_sparse

DOUBLE = np.dtype(np.float64)
TWICE = Unknown(
    "of eigenvectors of sparse matrices no second derivative is known: use np.linalg.eigh"
)


def symmetric_matrix(data, rows, columns, shape):
    return sparse.csc_array((data, (rows, columns)), shape=shape)


def eigenpairs(data, rows, columns, shape, k, sigma, which, v0, ncv, maxiter, tol):
    """Some eigenvalues of a real symmetric sparse matrix, and their vectors. Called by generated
    code."""
    A = symmetric_matrix(data, rows, columns, shape)
    return linalg.eigsh(A, k, None, sigma, which, v0, ncv, maxiter, tol)


def eigenvalues(data, rows, columns, shape, k, sigma, which, v0, ncv, maxiter, tol):
    """The values alone, in the order that SciPy has then. Called by generated code."""
    A = symmetric_matrix(data, rows, columns, shape)
    return linalg.eigsh(A, k, None, sigma, which, v0, ncv, maxiter, tol, False)


def in_complement(data, rows, columns, shape, w, v, b):
    """For each eigenvalue w, the solution y of (w - A) y = b among the vectors that are orthogonal
    to all v, with b made so. It is nan where another value is equal to w. Called by generated code.

    >>> data, place, first = np.array([1.0, 3.0]), np.arange(2), np.array([[1.0], [0.0]])
    >>> in_complement(data, place, place, (2, 2), np.ones(1), first, np.ones((2, 1)))
    array([[ 0. ],
           [-0.5]])
    """
    A, n = symmetric_matrix(data, rows, columns, shape), shape[0]
    found = np.empty((n, len(w)))
    for j in range(len(w)):
        shifted = w[j] * sparse.eye_array(n, format="csc") - A
        bordered = sparse.block_array([[shifted, v], [v.T, None]], format="csc")
        right = np.concatenate((b[:, j] - v @ (v.T @ b[:, j]), np.zeros(len(w))))
        try:
            factors = linalg.splu(bordered)
        except RuntimeError:  # it is singular
            found[:, j] = np.nan
            continue
        pivots = np.abs(factors.U.diagonal())
        singular = np.min(pivots) <= 8 * n * np.finfo(float).eps * np.max(pivots)
        found[:, j] = np.nan if singular else factors.solve(right)[:n]
    return found


@adjoint(in_complement)
def d_in_complement(data, rows, columns, shape, w, v, b, *, out, d_out):
    d_b = in_complement(data, rows, columns, shape, w, v, d_out)
    return TWICE, None, None, None, TWICE, TWICE, d_b


def on_entries(left, v, rows, columns):
    """The adjoint of the entries of a symmetric matrix, for that of the matrix left v^T."""
    return 0.5 * np.sum(left[rows] * v[columns] + v[rows] * left[columns], axis=1)


def turned_pairs(data, rows, columns, shape, w, v, d_w, d_v):
    """The adjoint of the entries of a symmetric matrix, for those of its values and vectors."""
    left = 0.0 * v if d_w is None else v * d_w
    if d_v is not None:
        left = left + v @ ((v.T @ d_v) * reciprocal_gaps(w, d_w))
        left = left + in_complement(data, rows, columns, shape, w, v, d_v)
    return on_entries(left, v, rows, columns)


@adjoint(eigenpairs, unused=None)
def d_eigenpairs(data, rows, columns, shape, k, sigma, which, v0, ncv, maxiter, tol, *, out, d_out):
    w, v = out
    return turned_pairs(data, rows, columns, shape, w, v, d_out[0], d_out[1])


@adjoint(eigenvalues)
def d_eigenvalues(
    data, rows, columns, shape, k, sigma, which, v0, ncv, maxiter, tol, *, out, d_out
):
    w, v = eigenpairs(data, rows, columns, shape, k, sigma, which, v0, ncv, maxiter, tol)
    rank = np.argsort(np.argsort(w))
    d_w = d_out[np.argsort(out)][rank]
    return on_entries(v * d_w, v, rows, columns)


@kind(eigenpairs)
def eigenpairs_kind(args, kwargs):
    k = fresh_size()
    return Inferred(TupleOf((Array(DOUBLE, (k,)), Array(DOUBLE, (fresh_size(), k)))))


kind(eigenvalues)(lambda args, kwargs: Inferred(Array(DOUBLE, (fresh_size(),))))
kind(in_complement)(lambda args, kwargs: Inferred(Array(DOUBLE, (fresh_size(), fresh_size()))))


eigsh_left = left(
    linalg.eigsh, "it is differentiated for real matrices, without M, Minv, OPinv and mode"
)
svds_left = left(
    linalg.svds, "it is differentiated for real matrices, and both sides of vectors or none"
)


def real_entries(A):
    A = as_sparse(A)
    return A.values * 1.0, A.rows, A.columns, A.shape


def is_complex(A):
    return np.iscomplexobj(A.values if isinstance(A, Entries) else A)


@definition(linalg.eigsh)
def eigsh(
    A, k=6, M=None, sigma=None, which="LM", v0=None, ncv=None, maxiter=None, tol=0,
    return_eigenvectors=True, Minv=None, OPinv=None, mode="normal", rng=None,
):  # fmt: skip
    if not isinstance(A, (Entries, np.ndarray)):
        return unseen(
            linalg.eigsh, A, k, M, sigma, which, v0, ncv, maxiter, tol, return_eigenvectors,
            Minv, OPinv, mode, rng,
        )  # fmt: skip
    special = M is not None or Minv is not None or OPinv is not None or mode != "normal"
    if special or rng is not None or is_complex(A):
        return eigsh_left(
            A, k, M, sigma, which, v0, ncv, maxiter, tol, return_eigenvectors, Minv, OPinv, mode,
            rng,
        )  # fmt: skip
    v0 = None if v0 is None else stop_gradient(v0)
    options = (k, sigma, which, v0, ncv, maxiter, tol)
    if return_eigenvectors:
        return eigenpairs(*real_entries(A), *options)
    return eigenvalues(*real_entries(A), *options)


# Singular values: those of a matrix are the eigenvalues of [[0, A], [A^T, 0]] that aren't negative


def singular_triplets(data, rows, columns, shape, k, ncv, tol, which, v0, maxiter, solver):
    """Some singular values of a real sparse matrix, and their vectors. Called by generated code."""
    A = symmetric_matrix(data, rows, columns, shape)
    return linalg.svds(A, k, ncv, tol, which, v0, maxiter, True, solver)


def singular_values(data, rows, columns, shape, k, ncv, tol, which, v0, maxiter, solver):
    """The values alone, in the order that SciPy has then. Called by generated code."""
    A = symmetric_matrix(data, rows, columns, shape)
    return linalg.svds(A, k, ncv, tol, which, v0, maxiter, False, solver)


@adjoint(singular_triplets, unused=None)
def d_singular_triplets(
    data, rows, columns, shape, k, ncv, tol, which, v0, maxiter, solver, *, out, d_out
):
    u, s, vh = out
    d_u, d_s, d_vh = d_out
    if d_u is None and d_vh is None:
        return np.sum((u * d_s)[rows] * vh.T[columns], axis=1)
    (m, n), count, root = shape, rows.shape[0], np.sqrt(2.0)
    d_u = np.zeros_like(u) if d_u is None else d_u
    d_v = np.zeros_like(vh.T) if d_vh is None else d_vh.T
    both = np.concatenate((data, data))
    down, across = np.concatenate((rows, columns + m)), np.concatenate((columns + m, rows))
    vectors = np.concatenate((u, vh.T), axis=0) / root
    d_vectors = np.concatenate((d_u, d_v), axis=0) * root
    d_both = turned_pairs(both, down, across, (m + n, m + n), s, vectors, d_s, d_vectors)
    return d_both[:count] + d_both[count:]


@adjoint(singular_values)
def d_singular_values(
    data, rows, columns, shape, k, ncv, tol, which, v0, maxiter, solver, *, out, d_out
):
    u, s, vh = singular_triplets(
        data, rows, columns, shape, k, ncv, tol, which, v0, maxiter, solver
    )
    rank = np.argsort(np.argsort(s))
    return np.sum((u * d_out[np.argsort(out)][rank])[rows] * vh.T[columns], axis=1)


@kind(singular_triplets)
def singular_triplets_kind(args, kwargs):
    k = fresh_size()
    u, vh = Array(DOUBLE, (fresh_size(), k)), Array(DOUBLE, (k, fresh_size()))
    return Inferred(TupleOf((u, Array(DOUBLE, (k,)), vh)))


kind(singular_values)(lambda args, kwargs: Inferred(Array(DOUBLE, (fresh_size(),))))


@definition(linalg.svds)
def svds(
    A, k=6, ncv=None, tol=0, which="LM", v0=None, maxiter=None, return_singular_vectors=True,
    solver="arpack",
):  # fmt: skip
    if not isinstance(A, (Entries, np.ndarray)):
        return unseen(
            linalg.svds, A, k, ncv, tol, which, v0, maxiter, return_singular_vectors, solver
        )
    if is_complex(A) or not isinstance(return_singular_vectors, bool):
        return svds_left(A, k, ncv, tol, which, v0, maxiter, return_singular_vectors, solver)
    v0 = None if v0 is None else stop_gradient(v0)
    options = (k, ncv, tol, which, v0, maxiter, solver)
    if return_singular_vectors:
        return singular_triplets(*real_entries(A), *options)
    return singular_values(*real_entries(A), *options)
