"""Functions of matrices: the exponential, roots, logarithms, sines and cosines."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ...analysis.inference import Inferred
from ...kinds import Array
from ..registry import adjoint, kind, tangent
from ..shaping import transposed
from .kinds import floating, operand_kind


def derivative(function, a, d):
    """The derivative of a function at the matrix a in the direction d: the corner of its value
    at [[a, d], [0, a]]. R. Mathias, SIAM J. Matrix Anal. Appl. 17 (1996)."""
    n = a.shape[-1]
    upper = np.concatenate((a, d), axis=-1)
    lower = np.concatenate((np.zeros_like(a), a), axis=-1)
    return function(np.concatenate((upper, lower), axis=-2))[..., :n, n:]


def derivative_on_the_cut(function, a, d):
    """The derivative of a function whose cut the eigenvalues of a real matrix may lie on: with a
    complex direction beside it, rounding errors would have them on either side.
    """
    if np.iscomplexobj(a) or not np.iscomplexobj(d):
        return derivative(function, a, d)
    return derivative(function, a, d.real) + 1j * derivative(function, a, d.imag)


@adjoint(linalg.expm)
def expm(A, *, out, d_out):
    if np.ndim(A) < 2:
        return np.reshape(d_out * out, np.shape(A))
    if A.ndim == 2:
        return linalg.expm_frechet(A.T, d_out, compute_expm=False)
    return derivative(linalg.expm, transposed(A), d_out)


@tangent(linalg.expm)
def t_expm(A, *, out, tangents):
    if np.ndim(A) < 2:
        return tangents[0] * out
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


@adjoint(linalg.logm)
def logm(A, *, out, d_out):
    return derivative_on_the_cut(linalg.logm, transposed(A), d_out)


@tangent(linalg.logm)
def t_logm(A, *, out, tangents):
    return as_real_as(out, derivative(linalg.logm, A, tangents[0]))


def as_real_as(out, change):
    """The change of a result, which is real if the result is. Called by generated code.

    SciPy finds real functions of real matrices by way of complex numbers, and says that a result is
    complex if its imaginary part is more than rounding: of the larger matrix, of which the change
    is the corner, it may say otherwise.

    >>> as_real_as(np.ones(2), np.array([1.0 + 1e-17j, 2.0]))
    array([1., 2.])
    """
    return change if np.iscomplexobj(out) else change.real


@adjoint(linalg.fractional_matrix_power)
def fractional_matrix_power(A, t, *, out, d_out):
    """By the exponent: log(A) A^t, as of numbers."""
    if A.size == 0:
        return A, 0.0
    d_A = derivative_on_the_cut(
        lambda X: linalg.fractional_matrix_power(X, t), transposed(A), d_out
    )
    return d_A, np.sum(d_out * (linalg.logm(A) @ out))


@tangent(linalg.fractional_matrix_power)
def t_fractional_matrix_power(A, t, *, out, tangents):
    t_A, t_t = tangents
    total = 0.0
    if t_A is not None:
        total = derivative(lambda X: linalg.fractional_matrix_power(X, t), A, t_A)
    if t_t is not None:
        total = total + t_t * (linalg.logm(A) @ out)
    return as_real_as(out, total)


def _function_of_a_matrix(function):
    adjoint(function)(lambda A, *, out, d_out: derivative(function, transposed(A), d_out))
    tangent(function)(lambda A, *, out, tangents: derivative(function, A, tangents[0]))


for _function in (linalg.cosm, linalg.sinm, linalg.tanm, linalg.coshm, linalg.sinhm, linalg.tanhm):
    _function_of_a_matrix(_function)


@kind(linalg.cosm, linalg.sinm, linalg.tanm, linalg.coshm, linalg.sinhm, linalg.tanhm)
def of_the_same_kind(args, kwargs):
    found = operand_kind(args[0]) if args else None
    return None if found is None else Inferred(Array(floating(found.dtype), found.shape))


@kind(linalg.sqrtm, linalg.logm, linalg.fractional_matrix_power)
def of_unknown_dtype(args, kwargs):
    found = operand_kind(args[0]) if args else None
    if found is None:
        return None
    complex_ = found.dtype is not None and found.dtype.kind == "c"
    return Inferred(Array(np.dtype(np.complex128) if complex_ else None, found.shape))
