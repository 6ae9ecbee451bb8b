"""Eigenvalues, singular values, and the polar decomposition that is made of them.

Their vectors turn with the matrix at rates over the gaps between values. Equal values have no
gap and no vectors of their own: what treats these alike has a derivative, which the rules give,
and what does not has none, for which they give nan.
"""

from __future__ import annotations

import numpy as np

from .matrices import (
    adjoined,
    copy_lower,
    diagonal_matrix,
    diagonal_of,
    hermitian_part,
    in_one_triangle,
)
from .products import conj
from .registry import adjoint, tangent
from .shaping import transposed

# Gaps between values


def differences(x):
    """x[j] - x[i] as a matrix with rows i and columns j."""
    return x[..., None, :] - x[..., :, None]


def close(x):
    """Which of the elements i and j of x are equal, but for rounding; each is equal to itself."""
    largest = np.abs(x).max(-1, keepdims=True, initial=0)[..., None]
    return ~above_rounding(differences(x), largest)


def above_rounding(x, largest):
    """Which elements of matrices of numbers up to `largest` are more than what rounding makes."""
    return np.abs(x) / (8 * x.shape[-1]) + largest != largest


def reciprocal_gaps(x, d_x):
    """1 / (x[j] - x[i]), of values whose vectors are used as well as, if `d_x` isn't 0, they are.

    Of equal values it is 0: no vectors are better than the others, and what treats them alike
    doesn't change as they turn. But what depends on the values too, as a function of a matrix does
    that is made of them, has its derivative in how they move apart as the vectors turn, which the
    adjoints don't tell: it is nan.
    """
    equal = close(x)
    gaps = ~equal / (differences(x) + equal)
    if d_x is None:
        return gaps
    used = (d_x[..., None, :] != 0) | (d_x[..., :, None] != 0)
    return np.where(equal & used & ~np.eye(x.shape[-1], dtype=bool), np.nan, gaps)


def turning(x, inner):
    """How the vectors of the values x turn, `inner[i, j] / (x[j] - x[i])`; nan for equal values
    that this moves apart, and 0 for those that it doesn't."""
    equal = close(x)
    turn = ~equal * inner / (differences(x) + equal)
    largest = np.abs(inner).max((-2, -1), keepdims=True, initial=0)
    moved = above_rounding(inner, largest)
    return np.where(equal & moved & ~np.eye(x.shape[-1], dtype=bool), np.nan, turn)


# Eigenvalues


@adjoint(np.linalg.eigh, unused=None)
def eigh(a, UPLO="L", *, out, d_out):
    """M. B. Giles, Collected matrix derivative results (2008)."""
    w, v = out
    d_w, d_v = d_out
    if d_v is None:
        return in_one_triangle(conj((v * d_w[..., None, :]) @ adjoined(v)), UPLO in "Ll")
    inner = (adjoined(v) @ conj(d_v)) * reciprocal_gaps(w, d_w)
    if d_w is not None:
        inner = inner + diagonal_matrix(d_w)
    return in_one_triangle(conj(hermitian_part(v @ inner @ adjoined(v))), UPLO in "Ll")


@tangent(np.linalg.eigh)
def t_eigh(a, UPLO="L", *, out, tangents):
    w, v = out
    t_a = copy_lower(tangents[0] if UPLO in "Ll" else adjoined(tangents[0]))
    inner = adjoined(v) @ t_a @ v
    return diagonal_of(inner).real.copy(), v @ turning(w, inner)


@adjoint(np.linalg.eigvalsh)
def eigvalsh(a, UPLO="L", *, out, d_out):
    v = np.linalg.eigh(a, UPLO)[1]
    return in_one_triangle(conj((v * d_out[..., None, :]) @ adjoined(v)), UPLO in "Ll")


def independent(w, v):
    """The eigenvectors v, but nan of a defective matrix, where equal values share a vector: there
    the values move apart as roots do, at infinite speed."""
    shared = close(w) & (np.abs(adjoined(v) @ v) > 1 - 1e-9) & ~np.eye(w.shape[-1], dtype=bool)
    return np.where(shared.any((-2, -1), keepdims=True), np.nan, v)


@adjoint(np.linalg.eig, unused=None)
def eig(a, *, out, d_out):
    """C. Boeddeker et al. (2017); LAPACK scales the vectors to length one and turns them to make
    their largest component real, which the derivative respects."""
    w, v = out
    d_w, d_v = d_out
    v_t = transposed(independent(w, v))
    inner = 0
    if d_v is not None:
        if np.iscomplexobj(v) and v.shape[-1] > 0:
            largest = np.abs(v).argmax(-2)[..., None, :]
            turn = (d_v * v).sum(-2, keepdims=True).imag
            at_largest = np.arange(v.shape[-2])[:, None] == largest
            d_v = d_v - 1j * at_largest * turn / np.where(at_largest, v.real, 1)
        inner = v_t @ d_v
        inner = inner - (v_t @ conj(v)) * diagonal_of(inner).real[..., None, :]
        inner = inner * reciprocal_gaps(w, d_w)
    if d_w is not None:
        inner = inner + diagonal_matrix(d_w)
    return np.linalg.solve(v_t, inner @ v_t)


@tangent(np.linalg.eig)
def t_eig(a, *, out, tangents):
    w, v = out
    v = independent(w, v)
    inner = np.linalg.solve(v, tangents[0] @ v)
    t_v = v @ turning(w, inner)
    t_v = t_v - v * (conj(v) * t_v).sum(-2, keepdims=True).real
    if np.iscomplexobj(v):
        largest = np.abs(v).argmax(-2)[..., None, :]
        at_largest = np.arange(v.shape[-2])[:, None] == largest
        turn = (t_v.imag * at_largest).sum(-2, keepdims=True)
        t_v = t_v - 1j * v * turn / (v.real * at_largest).sum(-2, keepdims=True)
    return diagonal_of(inner).copy(), t_v


@adjoint(np.linalg.eigvals)
def eigvals(a, *, out, d_out):
    """LAPACK may find the values in another order when it also finds the vectors: match them."""
    w, v = np.linalg.eig(a)
    size = np.abs(out).max(-1, keepdims=True, initial=0)
    size = size + (size == 0)
    order = np.argsort(np.round(out / size, 7), -1, "stable")
    d_w = np.take_along_axis(d_out, order, -1)
    order = np.argsort(np.round(w / size, 7), -1, "stable")
    d_w = np.take_along_axis(d_w, np.argsort(order, -1), -1)
    v_t = transposed(independent(w, v))
    return np.linalg.solve(v_t, d_w[..., None] * v_t)


@tangent(np.linalg.eigvals)
def t_eigvals(a, *, out, tangents):
    w, v = np.linalg.eig(a)
    v = independent(w, v)
    size = np.abs(out).max(-1, keepdims=True, initial=0)
    size = size + (size == 0)
    order = np.argsort(np.round(w / size, 7), -1, "stable")
    t_w = np.take_along_axis(diagonal_of(np.linalg.solve(v, tangents[0] @ v)), order, -1)
    order = np.argsort(np.round(out / size, 7), -1, "stable")
    return np.take_along_axis(t_w, np.argsort(order, -1), -1)


# Singular values


def vanishing(x):
    """Which of the singular values x are 0, but for rounding."""
    return x <= 4 * x.shape[-1] * np.finfo(x.dtype).eps * x.max(-1, keepdims=True, initial=0)


def reciprocal_or(x, where, value):
    """1 / x, but a value at the places `where`."""
    return np.where(where, value, 1 / (x + where))


def turned(null, d_null):
    """NaN where something depends on which vectors of a null space were chosen, else 0.

    How these turn among each other when the matrix changes is up to the algorithm.
    """
    inner = adjoined(null) @ d_null
    change = np.abs(inner - adjoined(inner)).max((-2, -1), initial=0)
    least = np.sqrt(np.finfo(change.dtype).eps) * np.abs(inner).max((-2, -1), initial=0)
    return np.where(change > least, np.nan, np.zeros_like(change))[..., None, None]


def svd_adjoint(u, s, vh, d_u, d_s, d_vh):
    """The adjoint of a reduced singular value decomposition.

    With P = U^H dA V, the rotations W_U = U^H dU and W_V = V^H dV have the sum
    (P + P^H)[i, j] / (s[j] - s[i]) and the difference (P - P^H)[i, j] / (s[j] + s[i]). Equal
    values do not mix by the first, nor zeros by the second: see `reciprocal_gaps`.
    """
    k = s.shape[-1]
    if d_u is None and d_vh is None:
        return conj((u[..., :k] * d_s[..., None, :]) @ vh[..., :k, :])
    v = adjoined(vh)
    both, apart, outside = 0, 0, 0
    if d_u is not None and u.shape[-1] > k:
        outside = turned(u[..., k:], conj(d_u[..., k:]))
    if d_vh is not None and vh.shape[-2] > k:
        outside = outside + turned(v[..., k:], transposed(d_vh[..., k:, :]))
    zero = vanishing(s)
    zeros = zero[..., None, :] & zero[..., :, None]
    by_sums = reciprocal_or(s[..., None, :] + s[..., :, None], zeros, 0)
    by_values = reciprocal_or(s, zero, 0)
    if d_s is not None:
        used = zero & (d_s != 0)
        pairs = zeros & (used[..., None, :] | used[..., :, None])
        by_sums = np.where(pairs & ~np.eye(k, dtype=bool), np.nan, by_sums)
        by_values = np.where(used & (u.shape[-2] != vh.shape[-1]), np.nan, by_values)
    if d_u is not None:
        d_u = conj(d_u)
        d_u1 = d_u[..., :k] - u[..., k:] @ (adjoined(d_u[..., k:]) @ u[..., :k])
        u = u[..., :k]
        rotation = adjoined(u) @ d_u1
        scaled = (d_u1 - u @ rotation) * by_values[..., None, :]
        outside = outside + scaled @ vh[..., :k, :]
        rotation = rotation - adjoined(rotation)
        both, apart = rotation, rotation
    if d_vh is not None:
        d_v = transposed(d_vh)
        d_v1 = d_v[..., :k] - v[..., k:] @ (adjoined(d_v[..., k:]) @ v[..., :k])
        v = v[..., :k]
        rotation = adjoined(v) @ d_v1
        scaled = (d_v1 - v @ rotation) * by_values[..., None, :]
        outside = outside + u[..., :k] @ adjoined(scaled)
        rotation = rotation - adjoined(rotation)
        both, apart = both + rotation, apart - rotation
    u, v = u[..., :k], v[..., :k]
    inner = (both * reciprocal_gaps(s, d_s) + apart * by_sums) / 2
    if d_s is not None:
        inner = inner + diagonal_matrix(d_s)
    return conj(u @ inner @ adjoined(v) + outside)


def svd_tangent(u, s, vh, t_a):
    """The tangent of a singular value decomposition, by the formulas of its adjoint."""
    k = s.shape[-1]
    u1, v = u[..., :k], adjoined(vh)
    v1 = v[..., :k]
    inner = adjoined(u1) @ t_a @ v1
    zero = vanishing(s)
    sums = s[..., None, :] + s[..., :, None]
    apart = inner - adjoined(inner)
    zeros = zero[..., None, :] & zero[..., :, None]
    apart = apart * reciprocal_or(sums, zeros, np.where(apart == 0, 0, np.nan))
    both = turning(s, inner + adjoined(inner))
    by_values = reciprocal_or(s, zero, 0 if u.shape[-2] == vh.shape[-1] else np.nan)
    right, left = t_a @ v1, adjoined(t_a) @ u1
    t_u = u1 @ ((both + apart) / 2) + (right - u1 @ inner) * by_values[..., None, :]
    t_v = v1 @ ((both - apart) / 2) + (left - v1 @ adjoined(inner)) * by_values[..., None, :]
    if u.shape[-1] != k:
        t_u = np.concatenate((t_u, -u1 @ (adjoined(t_u) @ u[..., k:])), -1)
    if vh.shape[-2] != k:
        t_v = np.concatenate((t_v, -v1 @ (adjoined(t_v) @ v[..., k:])), -1)
    return t_u, diagonal_of(inner).real.copy(), adjoined(t_v)


def svdvals_adjoint(a, d_s):
    u, _, vh = np.linalg.svd(a, False)
    return conj((u * d_s[..., None, :]) @ vh)


@adjoint(np.linalg.svd, unused=None)
def svd(a, full_matrices=True, compute_uv=True, hermitian=False, *, out, d_out):
    if compute_uv:
        d_a = svd_adjoint(*out, *d_out)
    else:
        u, _, vh = np.linalg.svd(a, False, True, hermitian)
        d_a = conj((u * d_out[..., None, :]) @ vh)
    return in_one_triangle(hermitian_part(d_a)) if hermitian else d_a


@tangent(np.linalg.svd)
def t_svd(a, full_matrices=True, compute_uv=True, hermitian=False, *, out, tangents):
    t_a = copy_lower(tangents[0]) if hermitian else tangents[0]
    if compute_uv:
        return svd_tangent(*out, t_a)
    u, _, vh = np.linalg.svd(a, False, True, hermitian)
    return diagonal_of(adjoined(u) @ t_a @ adjoined(vh)).real


if hasattr(np.linalg, "svdvals"):
    adjoint(np.linalg.svdvals)(lambda x, *, out, d_out: svdvals_adjoint(x, d_out))


# The polar decomposition


def unitary_factor(a, partial=False):
    """The factor u @ vh of the polar decomposition, of the singular vectors u and vh. Called by
    generated code. Unlike these it has a derivative where singular values are equal.

    `partial`: without the vectors of the singular value 0.

    >>> unitary_factor(np.array([[0.0, 2.0], [-2.0, 0.0]])) + 0.0
    array([[ 0.,  1.],
           [-1.,  0.]])
    """
    u, s, vh = np.linalg.svd(a, False)
    return (u * (s != 0)[..., None, :]) @ vh if partial else u @ vh


def solve_symmetric(a, b):
    """The solution x of a x + x a = b, for a Hermitian matrix a. Called by generated code.

    >>> solve_symmetric(np.diag([1.0, 3.0]), np.ones((2, 2)))
    array([[0.5       , 0.25      ],
           [0.25      , 0.16666667]])
    """
    w, v = np.linalg.eigh(a)
    sums = w[..., None, :] + w[..., :, None]
    zero = np.abs(sums) <= 4 * w.shape[-1] * np.finfo(w.dtype).eps * np.abs(sums).max(initial=0)
    return v @ (~zero / (sums + zero) * (adjoined(v) @ b @ v)) @ adjoined(v)


@adjoint(solve_symmetric)
def d_solve_symmetric(a, b, *, out, d_out):
    d_b = solve_symmetric(conj(a), d_out)
    return -(d_b @ transposed(out) + transposed(out) @ d_b), d_b


@adjoint(unitary_factor)
def d_unitary_factor(a, partial=False, *, out, d_out):
    """Of a = q h: q^H dq is the solution w of h w + w h = q^H da - da^H q; outside the range of
    a tall q, dq is da h^-1, and so for a wide one, where a = h q."""
    d_q, q = conj(d_out), out
    tall = a.shape[-2] >= a.shape[-1]
    if not tall:
        d_q, q = adjoined(d_q), adjoined(q)
    h = hermitian_part(adjoined(q) @ (a if tall else adjoined(a)))
    inner = adjoined(q) @ d_q
    d_a = q @ solve_symmetric(h, inner - adjoined(inner))
    if a.shape[-2] != a.shape[-1]:
        d_a = d_a + (d_q - q @ inner) @ np.linalg.pinv(h, 1e-12, True)
    return conj(d_a if tall else adjoined(d_a))
