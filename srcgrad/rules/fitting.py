"""Polynomials, covariances and weighted counts."""

from __future__ import annotations

import numpy as np

from .helpers import check_dtype
from .products import conj
from .registry import adjoint, definition

# Polynomials, the highest power first


def falling(n, m):
    """The factors that differentiating n powers x^(n-1), ..., 1 m times puts before them."""
    powers = np.arange(n - 1, -1, -1)
    factors = np.ones(n)
    for i in range(m):
        factors = factors * (powers - i)
    return factors


def one_each(*polynomials):
    """Refuse arrays whose columns are polynomials, which some functions take."""
    if any(np.ndim(p) > 1 for p in polynomials):
        raise NotImplementedError("this is of several polynomials: call it for each of them")


@adjoint(np.polyval)
def polyval(p, x, *, out, d_out):
    one_each(p)
    return moments(d_out, x, p.size), d_out * np.polyval(np.polyder(p), x)


def moments(weights, x, n):
    """The sums of weights times x^(n-1), ..., x, 1: power by power, as `np.vander` takes ten times
    as long as `np.polyval`. Called by generated code.

    >>> moments(np.array([1.0, 1.0]), np.array([2.0, 3.0]), 3)
    array([13.,  5.,  2.])
    """
    found = np.empty(n, np.result_type(weights, x, 0.0))
    for k in range(n - 1, -1, -1):
        found[k] = np.sum(weights)
        weights = weights * x
    return found


@adjoint(moments)
def d_moments(weights, x, n, *, out, d_out):
    return np.polyval(d_out, x), weights * np.polyval(np.polyder(d_out), x), None


@adjoint(np.polyder)
def polyder(p, m=1, *, out, d_out):
    one_each(p)
    d_p = np.zeros(p.shape, d_out.dtype)
    d_p[: d_out.size] = d_out
    return d_p * falling(p.size, m)


@adjoint(np.polyint)
def polyint(p, m=1, k=None, *, out, d_out):
    """The constants of integration are divided by the factorials of the powers that they get."""
    one_each(p)
    d_p = d_out[: p.size] / falling(p.size + m, m)[: p.size]
    if k is None:
        return d_p
    d_k = d_out[p.size :] / np.cumprod(np.maximum(np.arange(m), 1.0))[::-1]
    if np.ndim(k) == 0 or np.size(k) == 1:
        return d_p, None, np.reshape(np.sum(d_k), np.shape(k))
    return d_p, None, d_k


@adjoint(np.polyadd)
def polyadd(a1, a2, *, out, d_out):
    one_each(a1, a2)
    return d_out[d_out.size - np.size(a1) :], d_out[d_out.size - np.size(a2) :]


@adjoint(np.polysub)
def polysub(a1, a2, *, out, d_out):
    one_each(a1, a2)
    return d_out[d_out.size - np.size(a1) :], -d_out[d_out.size - np.size(a2) :]


@adjoint(np.polymul)
def polymul(a1, a2, *, out, d_out):
    """A convolution, without the leading zeros of the factors."""
    a1, a2 = np.atleast_1d(a1, a2)
    d_full = np.zeros(a1.size + a2.size - 1, d_out.dtype)
    d_full[d_full.size - d_out.size :] = d_out
    return np.convolve(d_full, a2[::-1], "valid"), np.convolve(d_full, a1[::-1], "valid")


@adjoint(np.roots)
def roots(p, *, out, d_out):
    """Of p(r) = 0: p'(r) dr = -sum of dp[k] r^(n-1-k)."""
    return -(d_out / np.polyval(np.polyder(p), out)) @ np.vander(out, p.size)


@adjoint(np.poly)
def poly(seq_of_zeros, *, out, d_out):
    """d_zeros[i] = -sum of d_out[k+1] q[k], with q the polynomial divided by x - zeros[i]."""
    if seq_of_zeros.ndim != 1:
        raise NotImplementedError("np.poly of a matrix: use np.poly(np.linalg.eigvals(a))")
    quotient = np.ones_like(seq_of_zeros)
    total = np.zeros_like(seq_of_zeros)
    for k in range(1, np.size(out)):
        total = total - quotient * d_out[k]
        quotient = out[k] + seq_of_zeros * quotient
    return total


@definition(np.polyfit)
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """As NumPy does it: least squares with columns of length one."""
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    matrix = np.vander(x, deg + 1)
    right = y
    if rcond is None:
        rcond = x.size * 2.220446049250313e-16
    if w is not None:
        matrix = matrix * w[:, None]
        right = y * w if y.ndim == 1 else y * w[:, None]
    scale = np.sqrt((matrix * matrix).sum(0))
    matrix = matrix / scale
    c, residuals, rank, singular = np.linalg.lstsq(matrix, right, rcond)
    c = c / scale if y.ndim == 1 else c / scale[:, None]
    if full:
        return c, residuals, rank, singular, rcond
    if not cov:
        return c
    base = np.linalg.inv(matrix.T @ matrix) / np.outer(scale, scale)
    if cov != "unscaled":
        if x.size <= deg + 1:
            raise ValueError(
                "the number of data points must exceed order to scale the covariance matrix"
            )
        base = base if y.ndim == 1 else base[:, :, None]
        base = base * (residuals / (x.size - deg - 1))
    elif y.ndim == 2:
        base = base[:, :, None]
    return c, base


@definition(np.polydiv)
def polydiv(u, v):
    """The remainder loses its leading zeros, so that its length depends on the values."""
    u, v = np.atleast_1d(u) * 1.0, np.atleast_1d(v) * 1.0
    count = len(u) - len(v) + 1
    quotient = np.zeros(max(count, 1), np.result_type(u, v))
    remainder = u * np.ones_like(v[:1])
    for k in range(count):
        quotient[k] = remainder[k] / v[0]
        remainder[k : k + len(v)] -= quotient[k] * v
    zeros = np.isclose(remainder[:-1], 0, rtol=1e-14)
    return quotient, remainder[np.sum(np.cumprod(zeros)) :]


# Covariances


def as_rows(x, rowvar):
    """A variable in each row."""
    if np.ndim(x) <= 1:
        return np.reshape(x, (1, np.size(x)))
    return x if rowvar else x.T


def from_rows(d_rows, x, rowvar):
    if np.ndim(x) <= 1:
        return d_rows.reshape(np.shape(x))
    return d_rows if rowvar else d_rows.T


@adjoint(np.cov)
def cov(
    m,
    y=None,
    rowvar=True,
    bias=False,
    ddof=None,
    fweights=None,
    aweights=None,
    *,
    dtype=None,
    out,
    d_out,
):
    check_dtype(dtype, m, y)
    x = as_rows(m, rowvar)
    count = x.shape[0]
    if y is not None:
        x = np.concatenate((x, as_rows(y, rowvar)))
    if ddof is None:
        ddof = 0 if bias else 1
    if fweights is None and aweights is None:
        x = x - x.mean(1, keepdims=True)
        total = x.shape[1] - ddof
    else:
        if aweights is None:
            w = np.asarray(fweights)
            total = w.sum() - ddof
        else:
            a = np.asarray(aweights)
            w = a if fweights is None else a * np.asarray(fweights)
            total = w.sum() - ddof * (w * a).sum() / w.sum()
        x = x - (x @ w / w.sum())[:, None]
    d_cov = np.reshape(d_out, (x.shape[0], x.shape[0])) / total
    d_x = (d_cov + conj(d_cov.T)) @ conj(x)
    if fweights is not None or aweights is not None:
        d_x = d_x * w
    if y is None:
        return from_rows(d_x, m, rowvar)
    return from_rows(d_x[:count], m, rowvar), from_rows(d_x[count:], y, rowvar)


@adjoint(np.corrcoef)
def corrcoef(x, y=None, rowvar=True, *, dtype=None, out, d_out):
    """r[i, j] = c[i, j] / sqrt(c[i, i] c[j, j]), with c the covariances."""
    check_dtype(dtype, x, y)
    covariances = np.cov(x, y, rowvar)
    count = as_rows(x, rowvar).shape[0]
    if y is not None:
        count = count + as_rows(y, rowvar).shape[0]
    c = np.reshape(covariances, (count, count))
    variances = c.diagonal()
    d_out = np.reshape(d_out, (count, count))
    through = (d_out + conj(d_out.T)) * np.reshape(out, (count, count))
    d_c = d_out / np.sqrt(variances[:, None] * variances)
    d_c = d_c - (through.sum(1) / (2 * variances))[:, None] * np.eye(count)
    return cov(x, y, rowvar, out=covariances, d_out=d_c)


# Counts

adjoint(np.bincount)(lambda x, weights=None, minlength=0, *, out, d_out: (None, d_out[x]))
