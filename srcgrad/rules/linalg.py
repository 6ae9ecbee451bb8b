"""Linear algebra: solving, inverses, determinants, triangular factors, norms.

Complex cotangents follow JAX's convention, the plain transpose without conjugation. Formulas
found in the literature conjugate; where one is easier to read that way, the rule conjugates the
cotangent on entry and the result on return, which costs nothing for real arrays (see `conj`).

The adjoint of a factorisation with several results gets None for those that were not used.
"""

from __future__ import annotations

import numpy as np
from numpy.linalg import _umath_linalg

from .matrices import (
    adjoined,
    copy_lower,
    diagonal_matrix,
    diagonal_of,
    divisible,
    hermitian_part,
    in_one_triangle,
)
from .products import conj
from .registry import adjoint, definition, zero
from .shaping import inverse_permutation, transposed
from .spectral import svdvals_adjoint, unitary_factor

NUMPY_2 = int(np.__version__.split(".")[0]) >= 2


# Solving


@adjoint(np.linalg.inv)
def inv(a, *, out, d_out):
    out_t = transposed(out)
    return -out_t @ d_out @ out_t


@adjoint(np.linalg.solve)
def solve(a, b, *, out, d_out):
    a_t = transposed(a)
    vectors = b.ndim == 1 if NUMPY_2 else b.ndim == a.ndim - 1
    if not vectors:
        d_b = np.linalg.solve(a_t, d_out)
        return -d_b @ transposed(out), d_b
    if a.ndim == 2:
        d_b = np.linalg.solve(a_t, d_out)
        return -d_b[:, None] * out, d_b
    d_b = np.linalg.solve(a_t, d_out[..., None])
    return -d_b * out[..., None, :], d_b[..., 0]


# The ufuncs behind it, which array_api_compat calls itself
definition(_umath_linalg.solve)(lambda a, b, *, signature=None: np.linalg.solve(a, b))
definition(_umath_linalg.solve1)(
    lambda a, b, *, signature=None: np.linalg.solve(a, b[..., None])[..., 0]
)


def pinv_adjoint(a, p, d_p):
    """G. H. Golub and V. Pereyra, The differentiation of pseudo-inverses and nonlinear least
    squares problems whose variables separate, SIAM J. Numer. Anal. 10 (1973): at constant rank,
    dP = -P dA P + P P^H dA^H (1 - A P) + (1 - P A) dA^H P^H P."""
    p_t, p_h = transposed(p), adjoined(p)
    left = transposed(d_p) @ p
    left = left - a @ (p @ left)  # (1 - A P) d_P^T P
    right = p @ transposed(d_p)
    right = right - (right @ p) @ a  # P d_P^T (1 - P A)
    return conj(left @ p_h + p_h @ right) - p_t @ d_p @ p_t


def truncated_pinv_adjoint(a, p, d_p):
    """The same where a cutoff was given: what it leaves out needn't be zero."""
    return pinv_adjoint(a, p, d_p) + left_out(a, p, d_p)


def left_out(a, p, d_p):
    """What such singular values contribute: as `a` changes, they rotate into those that are kept.

    Between s that is kept and t that isn't, (t² / s² N + t / s N^H) / (s² - t²) with
    N = V^H dA^H U is added to dP.
    """
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    rank = np.round(np.trace(a @ p, axis1=-2, axis2=-1).real)  # of a projection
    kept = np.arange(s.shape[-1]) < rank[..., None]
    s, t, apart = s[..., :, None], s[..., None, :], kept[..., :, None] != kept[..., None, :]
    larger = np.where(apart, np.maximum(s, t), 1.0)
    ratio = np.where(apart, np.minimum(s, t), 0.0) / larger
    weights = ratio / (larger * larger * (1 - ratio * ratio))
    between = adjoined(u) @ transposed(d_p) @ adjoined(vh)
    return conj(u @ (weights * (ratio * between + conj(transposed(between)))) @ vh)


@adjoint(np.linalg.pinv)
def pinv(a, rcond=None, hermitian=False, *, rtol=None, out, d_out):
    rule = pinv_adjoint if rcond is None and rtol is None else truncated_pinv_adjoint
    if not hermitian:
        return rule(a, out, d_out)
    return in_one_triangle(hermitian_part(rule(copy_lower(a), out, d_out)))


@adjoint(np.linalg.lstsq, unused=None)
def lstsq(a, b, rcond=None, *, out, d_out):
    return lstsq_adjoint(a, b, rcond, rcond is not None, out, d_out)


def lstsq_adjoint(a, b, rcond, truncated, out, d_out):
    """The derivative of `pinv` times b; that of the squared residuals is elementary."""
    x = out[0][:, None] if b.ndim == 1 else out[0]
    right = b[:, None] if b.ndim == 1 else b
    residual = conj(right - a @ x)
    d_x, d_residuals, _, d_s = d_out
    d_a, d_b = 0, 0
    if d_x is not None:
        d_x = d_x[:, None] if b.ndim == 1 else d_x
        if rcond is None:
            rcond = np.finfo(d_x.dtype).eps * max(a.shape[0], a.shape[1])
        p = np.linalg.pinv(a, rcond)
        d_b = transposed(p) @ d_x
        rest = conj(d_x - transposed(a) @ d_b)
        d_a = residual @ transposed(p @ conj(d_b)) - d_b @ transposed(x)
        d_a = d_a + conj(adjoined(p) @ x) @ transposed(rest)
        if truncated:
            d_a = d_a + left_out(a, p, d_x @ transposed(right))
    if d_residuals is not None:
        weights = np.zeros(right.shape[1], d_residuals.dtype)
        weights[: d_residuals.size] = d_residuals  # there are none where the rank is not full
        d_residual = 2 * residual * weights
        d_a = d_a - d_residual @ transposed(x)
        d_b = d_b + d_residual
    if d_s is not None:
        d_a = d_a + svdvals_adjoint(a, d_s)
    return d_a, d_b[:, 0] if b.ndim == 1 and np.ndim(d_b) > 1 else d_b


@adjoint(np.linalg.tensorsolve)
def tensorsolve(a, b, axes=None, *, out, d_out):
    if axes is not None:
        order = to_last(a.ndim, normed(a.ndim, tuple(axes))[0])
        a = a.transpose(order)
    matrix = a.reshape(b.size, b.size)
    d_b = np.linalg.solve(matrix.T, d_out.reshape(b.size))
    d_a = (-d_b[:, None] * out.reshape(b.size)).reshape(a.shape)
    if axes is not None:
        d_a = d_a.transpose(inverse_permutation(order))
    return d_a, d_b.reshape(b.shape)


@adjoint(np.linalg.tensorinv)
def tensorinv(a, ind=2, *, out, d_out):
    size = 1
    for axis in range(ind):
        size = size * a.shape[axis]
    out_t = out.reshape(size, size).T
    return (-out_t @ d_out.reshape(size, size) @ out_t).reshape(a.shape)


# Determinants


def cofactors(a, det):
    """The cofactors of a matrix, given its determinant: det(a) inv(a)^T, or, where it is nearly
    singular, from its singular values. Called by generated code.

    >>> cofactors(np.array([[1.0, 2.0], [2.0, 4.0]]), 0.0).round(9)
    array([[ 4., -2.],
           [-2.,  1.]])
    """
    try:
        inverse = np.linalg.inv(a)
        size = np.abs(inverse).max((-2, -1), initial=0) * np.abs(a).max((-2, -1), initial=0)
        if np.all(size < 1e6):
            return np.asarray(det)[..., None, None] * inverse.swapaxes(-1, -2)
    except np.linalg.LinAlgError:
        pass
    u, s, vh = np.linalg.svd(a)
    before, after = np.ones_like(s), np.ones_like(s)
    before[..., 1:] = np.cumprod(s[..., :-1], -1)
    after[..., :-1] = np.cumprod(s[..., :0:-1], -1)[..., ::-1]
    sign = np.linalg.det(u) * np.linalg.det(vh)
    return sign[..., None, None] * np.conj((u * (before * after)[..., None, :]) @ vh)


@adjoint(cofactors)
def d_cofactors(a, det, *, out, d_out):
    """Of a diagonal matrix by T[i, j], the product of all but the elements i and j: that of
    cofactor [i, i] by element [j, j] is T[i, j], that of [i, j] by [j, i] is -T[i, j]."""
    u, s, vh = np.linalg.svd(a)
    n = a.shape[-1]
    i = np.arange(n)
    left_out = (i[:, None, None] == i) | (i[:, None] == i)
    products = np.where(left_out, 1, s[..., None, None, :]).prod(-1) * (i[:, None] != i)
    sign = (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    d_inner = adjoined(u) @ d_out @ adjoined(vh)
    d_s = (products @ diagonal_of(d_inner)[..., None])[..., 0]
    d_inner = diagonal_matrix(d_s) - products * transposed(d_inner)
    return sign * conj(u) @ d_inner @ conj(vh), None


@adjoint(np.linalg.det)
def det(a, *, out, d_out):
    if a.ndim == 2:
        return d_out * cofactors(a, out)
    return d_out[..., None, None] * cofactors(a, out)


@adjoint(np.linalg.slogdet, unused=None)
def slogdet(a, *, out, d_out):
    """Of the sign: d sign = sign i Im(trace(a^-1 da)), zero for a real matrix."""
    d_sign, d_log = d_out
    weight = np.zeros_like(out[1]) if d_log is None else d_log
    if np.iscomplexobj(a) and d_sign is not None:
        weight = weight + 1j * (d_sign * out[0]).imag
    if a.ndim > 2:
        weight = weight[..., None, None]
    return weight * transposed(np.linalg.inv(a))


# Factorisations


@adjoint(np.linalg.cholesky)
def cholesky(a, *, upper=False, out, d_out):
    """NumPy reads one triangle only, which has the adjoint of both."""
    if np.iscomplexobj(out):
        factor, d_factor = (adjoined(out), adjoined(conj(d_out))) if upper else (out, conj(d_out))
        inverse = np.linalg.inv(factor)
        d_a = adjoined(inverse) @ copy_lower(adjoined(factor) @ d_factor) @ inverse
        return in_one_triangle(conj(d_a) / 2, not upper)
    if upper:
        return transposed(cholesky_adjoint(transposed(out), transposed(d_out)))
    return cholesky_adjoint(out, d_out)


def cholesky_adjoint(factor, d_factor):
    """The adjoint of the lower triangle of a real matrix, from that of its Cholesky factor, by
    blocks of columns from the last to the first: as many operations as two factorisations, almost
    all of them in products of matrices. Called by generated code.

    I. Murray, Differentiation of the Cholesky decomposition (2016); within a block, the closed form
    of S. P. Smith (1995).

    >>> cholesky_adjoint(np.diag([1.0, 2.0]), np.ones((2, 2)))
    array([[0.5 , 0.  ],
           [1.  , 0.25]])
    """
    d_a = np.tril(d_factor)
    size = factor.shape[-1]
    width = -(-size // max(size // 40, 1))
    for start in range(0, size, width or 1)[::-1]:
        stop = min(start + width, size)
        block, d_block = factor[..., start:stop, start:stop], d_a[..., start:stop, start:stop]
        beside, d_beside = factor[..., start:stop, :start], d_a[..., start:stop, :start]
        inverse = np.linalg.inv(block)  # NumPy has no function that solves with a triangle
        if stop < size:
            d_below = d_a[..., stop:, start:stop] @ inverse
            d_block -= d_below.swapaxes(-1, -2) @ factor[..., stop:, start:stop]
            d_beside -= d_below.swapaxes(-1, -2) @ factor[..., stop:, :start]
            d_a[..., stop:, :start] -= d_below @ beside
            d_a[..., stop:, start:stop] = d_below
        product = block.swapaxes(-1, -2) @ np.tril(d_block)
        lower = np.tril(product) + np.tril(product, -1).swapaxes(-1, -2)
        both = inverse.swapaxes(-1, -2) @ lower @ inverse
        d_block[...] = (np.tril(both) + np.tril(both, -1)) / 2
        if start:
            d_beside -= both @ beside
    return d_a


@adjoint(cholesky_adjoint)
def d_cholesky_adjoint(factor, d_factor, *, out, d_out):
    """By the closed form, X^T S X with X = L^-1 and S = copy_lower(L^T d_L), halved and in one
    triangle."""
    inverse = np.linalg.inv(factor)
    d_both = copy_lower(d_out)
    d_inverse = copy_lower(transposed(factor) @ d_factor) @ inverse @ d_both
    d_product = in_one_triangle(inverse @ d_both @ transposed(inverse)) / 2
    d_through_inverse = transposed(inverse) @ d_inverse @ transposed(inverse)
    return d_factor @ transposed(d_product) - d_through_inverse, factor @ d_product


def through_reflectors(q1, d_q2):
    """The adjoint of the first columns of q, from that of the others, for LAPACK's reflectors.

    Their product is 1 - v t v^H, where v is lower triangular above. So it follows from m, the first
    columns of v t v^H, of which m1 is the square above and m2 the rest: q2 = e2 - m m1^-H m2^H.
    """
    k = q1.shape[-1]
    m = np.eye(q1.shape[-2], k, dtype=q1.dtype) - q1
    below, alone = m[..., k:, :], np.all(m == 0, axis=-2)  # no reflector changes these columns
    top = m[..., :k, :] + diagonal_matrix(alone)
    turned = np.linalg.solve(adjoined(top), adjoined(below))
    left = adjoined(np.linalg.solve(top, adjoined(m) @ d_q2))
    return d_q2 @ adjoined(turned) + np.concatenate((-turned @ left, left), -2)


@adjoint(np.linalg.qr, unused=None)
def qr(a, mode="reduced", *, out, d_out):
    """S. F. Walter and L. Lehmann (2010) for tall matrices; the columns of a wide one beyond the
    square are products with q. M. Seeger et al., Auto-differentiating linear algebra (2017)."""
    if mode in ("raw", "economic", "e"):
        raise NotImplementedError("np.linalg.qr of this mode: use mode='reduced'")
    if mode == "r":
        d_q, d_r = None, d_out
        q, r = np.linalg.qr(a)
    else:
        d_q, d_r = d_out
        q, r = out
    k = min(a.shape[-2], a.shape[-1])
    r1 = divisible(r[..., :k, :k])
    q1 = q[..., :k]
    if d_q is not None:
        d_q = conj(d_q)
        if mode == "complete" and a.shape[-2] > k:
            d_q = d_q[..., :k] + through_reflectors(q1, d_q[..., k:])
    m = 0
    if d_r is not None:
        d_r = conj(d_r)[..., :k, :]
        d_wide = d_r[..., k:]
        m = r1 @ adjoined(d_r[..., :k])
        d_q_wide = a[..., k:] @ adjoined(d_wide)
        d_q = d_q_wide if d_q is None else d_q + d_q_wide
    m = m - adjoined(d_q) @ q1
    d_a = adjoined(np.linalg.solve(r1, adjoined(d_q + q1 @ copy_lower(m))))
    if d_r is not None:
        d_a = np.concatenate((d_a, q1 @ d_wide), -1)
    elif a.shape[-1] != k:
        d_a = np.concatenate((d_a, np.zeros_like(a[..., k:])), -1)
    return conj(d_a)


# Norms


def direction(x, size):
    """The derivative of the absolute value: the sign, 0 at 0."""
    return conj(x) / (size + (size == 0)) if np.iscomplexobj(x) else np.sign(x)


def normed(ndim, axis):
    """The axes of a norm, counted from the front, and the key that restores them."""
    axes = tuple(range(ndim)) if axis is None else axis
    axes = tuple(i % ndim for i in (axes if isinstance(axes, tuple) else (axes,)))
    return axes, tuple(None if i in axes else slice(None) for i in range(ndim))


def to_last(ndim, axes):
    """The transposition that moves axes to the end."""
    return (*(i for i in range(ndim) if i not in axes), *axes)


def count(tied, axis, dtype):
    """How many there are, and 1 where there is nothing at all."""
    return np.maximum(tied.sum(axis, dtype, keepdims=True), 1)


def vector_norm_adjoint(x, ord, axis, out, d_out):
    """The adjoint of a norm of vectors; `out` and `d_out` have the reduced axes."""
    if ord is None or ord == 2 or ord == "fro":
        return d_out / (out + (out == 0)) * conj(x)
    if ord == 0:
        return np.zeros_like(x)
    size = np.abs(x)
    if ord == 1:
        return d_out * direction(x, size)
    if ord in (np.inf, -np.inf):
        tied = size == out
        return d_out / count(tied, axis, size.dtype) * tied * direction(x, size)
    part = size / (out + (out == 0))
    return d_out * direction(x, size) * (part + (part == 0)) ** (ord - 1)


def matrix_norm_adjoint(x, ord, d_out):
    """The adjoint of a norm of matrices on the last two axes, which `d_out` has."""
    if ord == "nuc":
        return d_out * conj(unitary_factor(x, True))
    if ord in (2, -2):
        u, s, vh = np.linalg.svd(x, False)
        tied = s == (s[..., :1] if ord == 2 else s[..., -1:])
        weights = (s != 0) / tied.sum(-1, s.dtype, keepdims=True) * d_out[..., 0]
        u, vh = np.where(tied[..., None, :], u, 0), np.where(tied[..., None], vh, 0)
        return conj((u * weights[..., None, :]) @ vh)
    summed, along = (-2, -1) if abs(ord) == 1 else (-1, -2)
    size = np.abs(x)
    sums = size.sum(summed, keepdims=True)
    if ord > 0:
        tied = sums == sums.max(along, keepdims=True, initial=0)
    else:
        tied = sums == sums.min(along, keepdims=True)
    return d_out / count(tied, along, size.dtype) * tied * direction(x, size)


@adjoint(np.linalg.norm)
def norm(x, ord=None, axis=None, keepdims=False, *, out, d_out):
    if ord == "f":
        ord = "fro"
    if axis is None and (ord is None or ord == "fro" or (ord == 2 and x.ndim == 1)):
        return d_out / (out + (out == 0)) * conj(x)
    axes, key = normed(x.ndim, axis)
    if not keepdims and np.ndim(out) > 0:
        out, d_out = out[key], d_out[key]
    if len(axes) == 1 or ord is None or ord == "fro":
        return vector_norm_adjoint(x, ord, axes, out, d_out)
    if np.ndim(out) == 0:
        d_out = np.reshape(d_out, (1, 1))
    order = to_last(x.ndim, axes)
    d_x = matrix_norm_adjoint(x.transpose(order), ord, d_out.transpose(order))
    return d_x.transpose(inverse_permutation(order))


if hasattr(np.linalg, "matrix_norm"):

    @adjoint(np.linalg.matrix_norm)
    def matrix_norm(x, *, keepdims=False, ord="fro", out, d_out):
        return norm(x, ord, (-2, -1), keepdims, out=out, d_out=d_out)

    @adjoint(np.linalg.vector_norm)
    def vector_norm(x, *, axis=None, keepdims=False, ord=2, out, d_out):
        axes, key = normed(x.ndim, axis)
        if not keepdims and np.ndim(out) > 0:
            out, d_out = out[key], d_out[key]
        return vector_norm_adjoint(x, ord, axes, out, d_out)


@adjoint(np.linalg.cond)
def cond(x, p=None, *, out, d_out):
    if p is None or p in (2, -2):
        u, s, vh = np.linalg.svd(x, False)
        largest, smallest = s[..., 0], s[..., -1]
        d_s = np.zeros_like(s)
        if p == -2:
            d_s[..., 0] = -d_out * out / largest
            d_s[..., -1] += d_out / largest
        else:
            d_s[..., -1] = -d_out * out / smallest
            d_s[..., 0] += d_out / smallest
        return conj((u * d_s[..., None, :]) @ vh)
    if np.iscomplexobj(out):  # as it is for a complex matrix before NumPy 2
        out, d_out = out.real, d_out.real
    inverse = np.linalg.inv(x)
    size = np.linalg.norm(x, p, (-2, -1))
    d_inverse = norm(inverse, p, (-2, -1), out=out / size, d_out=d_out * size)
    d_x = norm(x, p, (-2, -1), out=size, d_out=d_out * out / size)
    return d_x + inv(x, out=inverse, d_out=d_inverse)


zero(np.linalg.matrix_rank)
