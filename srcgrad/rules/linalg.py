"""Linear algebra: solving, inverses, determinants, factorisations, norms.

Complex cotangents follow JAX's convention, the plain transpose without conjugation. Formulas
found in the literature conjugate; where one is easier to read that way, the rule conjugates the
cotangent on entry and the result on return, which costs nothing for real arrays (see `conj`).

The adjoint of a factorisation with several results gets None for those that were not used.
"""

from __future__ import annotations

import numpy as np

from .products import conj
from .registry import adjoint, tangent, zero
from .shaping import inverse_permutation, transposed

NUMPY_2 = int(np.__version__.split(".")[0]) >= 2


def adjoined(x):
    """The conjugate transpose of a matrix, or of each matrix of a stack."""
    return conj(transposed(x))


def hermitian_part(x):
    return (x + adjoined(x)) / 2


def diagonal_of(x):
    """The diagonals of a stack of matrices."""
    return x.diagonal(0, -2, -1)


def safe_reciprocal(x):
    """1 / x, and 0 where x is 0."""
    return (x != 0) / (x + (x == 0))


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


def copy_lower(x):
    """The Hermitian matrix with the lower triangle of x and, on its diagonal, the real part."""
    lower = np.tril(x, -1)
    return lower + adjoined(lower) + diagonal_matrix(diagonal_of(x).real)


def in_one_triangle(x, lower=True):
    """The adjoint of a Hermitian matrix of which one triangle is read: all of it goes there."""
    return np.tril(x) + np.tril(x, -1) if lower else np.triu(x) + np.triu(x, 1)


def diagonal_matrix(x):
    return x[..., None] * np.eye(x.shape[-1], dtype=x.dtype)


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


@adjoint(np.linalg.pinv)
def pinv(a, rcond=None, hermitian=False, *, rtol=None, out, d_out):
    if not hermitian:
        return pinv_adjoint(a, out, d_out)
    return in_one_triangle(hermitian_part(pinv_adjoint(copy_lower(a), out, d_out)))


@adjoint(np.linalg.lstsq, unused=None)
def lstsq(a, b, rcond=None, *, out, d_out):
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
    """S. P. Smith (1995), I. Murray, Differentiation of the Cholesky decomposition (2016). NumPy
    reads one triangle only, which has the adjoint of both."""
    factor, d_factor = (adjoined(out), adjoined(conj(d_out))) if upper else (out, conj(d_out))
    factor_h = adjoined(factor)
    d_a = np.linalg.solve(factor_h, copy_lower(factor_h @ d_factor))
    d_a = conj(hermitian_part(np.linalg.solve(factor_h, adjoined(d_a)))) / 2
    return in_one_triangle(d_a, not upper)


@adjoint(np.linalg.qr, unused=None)
def qr(a, mode="reduced", *, out, d_out):
    """S. F. Walter and L. Lehmann (2010) for tall matrices; the columns of a wide one beyond the
    square are products with q. M. Seeger et al., Auto-differentiating linear algebra (2017)."""
    if mode == "raw":
        raise NotImplementedError("np.linalg.qr with mode='raw': use mode='reduced'")
    if mode == "r":
        d_q, d_r = None, d_out
        q, r = np.linalg.qr(a)
    else:
        d_q, d_r = d_out
        q, r = out
    k = min(a.shape[-2], a.shape[-1])
    r1 = r[..., :k, :k]
    q1 = q[..., :k]
    if d_q is not None:
        d_q = conj(d_q)
        if mode == "complete":  # the other columns turn as little as they can
            q2, d_q2 = q[..., k:], d_q[..., k:]
            d_q = d_q[..., :k] - q2 @ (adjoined(d_q2) @ q1)
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
        if np.iscomplexobj(v):
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


def vanishing(x):
    """Which of the singular values x are 0, but for rounding."""
    return x <= 4 * x.shape[-1] * np.finfo(x.dtype).eps * x.max(-1, keepdims=True, initial=0)


def reciprocal_or(x, where, value):
    """1 / x, but a value at the places `where`."""
    return np.where(where, value, 1 / (x + where))


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
        outside = ((d_u1 - u @ rotation) * by_values[..., None, :]) @ vh[..., :k, :]
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

    @adjoint(np.linalg.svdvals)
    def svdvals(x, *, out, d_out):
        return svdvals_adjoint(x, d_out)


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
