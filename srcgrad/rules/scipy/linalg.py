"""Linear algebra beyond NumPy's: systems, those of structured matrices among them, and norms.

Factorisations and functions of matrices are in the modules `linalg_factorisations` and
`linalg_functions`; what is then without a rule is refused.

Arguments that let SciPy overwrite its input (`overwrite_a=True`) are refused: the reverse sweep
needs that input.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ... import ir
from ...analysis.inference import Inferred
from ...kinds import INT, Array, Opaque, Scalar, TupleOf, fresh_size
from .. import linalg as numpy_rules
from ..matrices import adjoined, copy_lower, hermitian_part, in_one_triangle, outer, triangle
from ..products import conj
from ..registry import (
    Unknown,
    adjoint,
    definition,
    definitions,
    inert,
    kind,
    primitives,
    refuse,
)
from ..shaping import present, transposed
from . import linalg_factorisations, linalg_functions  # noqa: F401  (they register their rules)
from .kinds import floating, operand_kind
from .linalg_factorisations import OF_STACKS

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
    elif assume_a in ("diagonal", "tridiagonal"):
        d_b = linalg.solve(a if transposed else a.T, d_out, assume_a=assume_a)
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


adjoint(linalg.det)(
    lambda a, *, check_finite=True, out, d_out: numpy_rules.det(a, out=out, d_out=d_out)
)


@adjoint(linalg.pinv)
def pinv(a, *, atol=None, rtol=None, return_rank=False, check_finite=True, out, d_out):
    if return_rank:
        out, d_out = out[0], d_out[0]
    if atol is None and rtol is None:
        return numpy_rules.pinv_adjoint(a, out, d_out)
    return numpy_rules.truncated_pinv_adjoint(a, out, d_out)


@adjoint(linalg.pinvh)
def pinvh(a, *, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True, out, d_out):
    if return_rank:
        out, d_out = out[0], d_out[0]
    a = copy_lower(a if lower else adjoined(a))
    rule = numpy_rules.pinv_adjoint
    if atol is not None or rtol is not None:
        rule = numpy_rules.truncated_pinv_adjoint
    return in_one_triangle(hermitian_part(rule(a, out, d_out)), lower)


def precision(dtype):
    return float(np.finfo(dtype).eps)


@adjoint(linalg.lstsq, unused=None)
def lstsq(a, b, cond=None, *, check_finite=True, lapack_driver=None, out, d_out):
    if a.ndim > 2 or b.ndim > 2:
        return OF_STACKS, OF_STACKS
    d_x, d_residues, _, d_s = d_out
    if d_residues is not None:
        d_residues = np.reshape(d_residues, -1)
    truncated = cond is not None
    if cond is None:
        cond = precision(out[0].dtype)
    d_out = (d_x, d_residues, None, d_s)
    return numpy_rules.lstsq_adjoint(a, b, cond, truncated, out, d_out)


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


def symmetric_band(x, y, count, lower):
    """The adjoint of a Hermitian band matrix, as SciPy stores one half of it, for that of its
    elements x_i y_j: what is above the diagonal is the conjugate of what is below."""
    n = x.shape[0]
    stored = np.zeros((count, n), np.result_type(x, y))
    for k in range(count):
        above, below = x[: n - k] * y[k:], x[k:] * y[: n - k]
        sums = below + conj(above) if lower else above + conj(below)
        sums = sums if x.ndim == 1 else sums.sum(1)
        if k == 0:
            stored[0 if lower else count - 1] = sums.real / 2
        elif lower:
            stored[k, : n - k] = sums
        else:
            stored[count - 1 - k, k:] = sums
    return stored


@adjoint(linalg.solveh_banded)
def solveh_banded(ab, b, *, lower=False, check_finite=True, out, d_out):
    if ab.ndim > 2 or b.ndim > 2:
        return OF_STACKS, OF_STACKS
    d_b = linalg.solveh_banded(conj(ab), d_out, lower=lower)
    return -symmetric_band(d_b, out, ab.shape[0], lower), d_b


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


OF_PENCILS = Unknown("with e or s it has no rule")


def by_the_gain(x, gain, d_q):
    """The adjoints of a Riccati equation, to whose solution a small change of the gain is nothing.

    The change of `a` stands beside `x` in it, and twice.
    """
    d_a = 2 * x @ d_q
    d_r = gain @ d_q @ adjoined(gain)
    return conj(d_a), -conj(d_a @ adjoined(gain)), conj(d_q), conj(d_r)


@adjoint(linalg.solve_continuous_are)
def solve_continuous_are(a, b, q, r, e=None, s=None, balanced=True, *, out, d_out):
    """c^H x + x c + q + k^H r k = 0, where c = a - b k, for the gain k = r^-1 b^H x."""
    if e is not None or s is not None:
        return OF_PENCILS, OF_PENCILS, OF_PENCILS, OF_PENCILS, OF_PENCILS, OF_PENCILS
    gain = np.linalg.solve(np.atleast_2d(r), adjoined(b) @ out)
    d_q = linalg.solve_continuous_lyapunov(a - b @ gain, -hermitian_part(conj(d_out)))
    return by_the_gain(out, gain, d_q)


@adjoint(linalg.solve_discrete_are)
def solve_discrete_are(a, b, q, r, e=None, s=None, balanced=True, *, out, d_out):
    """x = c^H x c + q + k^H r k, where c = a - b k, for the gain that makes this smallest."""
    if e is not None or s is not None:
        return OF_PENCILS, OF_PENCILS, OF_PENCILS, OF_PENCILS, OF_PENCILS, OF_PENCILS
    weighted = adjoined(b) @ out
    gain = np.linalg.solve(r + weighted @ b, weighted @ a)
    closed = a - b @ gain
    d_q = linalg.solve_discrete_lyapunov(closed, hermitian_part(conj(d_out)))
    return by_the_gain(out @ closed, gain, d_q)


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


definition(linalg.khatri_rao)(
    lambda a, b: (a[:, None, :] * b).reshape(a.shape[0] * b.shape[0], a.shape[1])
)

for _name in ("kron", "tril", "triu"):
    for _function in present(linalg, _name):
        definition(_function)(getattr(np, _name))


@kind(linalg.solve_banded)
def solve_banded_kind(args, kwargs):
    found = [operand_kind(a) for a in args[1:3]]
    if len(found) < 2 or any(k is None for k in found):
        return None
    return Inferred(Array(floating(*(k.dtype for k in found)), found[1].shape))


@kind(linalg.solveh_banded)
def solveh_banded_kind(args, kwargs):
    found = [operand_kind(a) for a in args[:2]]
    if len(found) < 2 or any(k is None for k in found):
        return None
    return Inferred(Array(floating(*(k.dtype for k in found)), found[1].shape))


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
    rank = Scalar(INT.dtype, None)  # NumPy's or Python's, as the version of SciPy has it
    driver = kwargs.get("lapack_driver")
    none = isinstance(driver, ir.Const) and driver.value == "gelsy"  # it finds no singular values
    values = Opaque(type(None)) if none else Array(real, (fresh_size(),))
    return Inferred(TupleOf((x, residues, rank, values)))


inert(linalg.bandwidth, linalg.ishermitian, linalg.issymmetric)
for _name in linalg.__all__:
    _function = getattr(linalg, _name)
    _known = _function in primitives or _function in definitions
    if callable(_function) and not isinstance(_function, type) and not _known:
        refuse(_function, reason="it has no rule yet")
