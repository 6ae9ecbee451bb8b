"""LAPACK's triangular factors and what solves with them, as Gaussian processes are written.

What comes beside a result, `info`, is an int: it says whether the matrix had a factor.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from .. import linalg as numpy_rules
from ..matrices import triangle
from ..registry import Unknown, adjoint
from . import linalg_factorisations
from .linalg import solve_triangular

UNCLEAN = Unknown("with clean=0 the other triangle is that of the matrix; leave it out")


@adjoint(lapack.dpotrf)
def potrf(a, lower=0, clean=1, *, out, d_out):
    if not clean:
        return UNCLEAN
    return numpy_rules.cholesky(a, upper=not lower, out=out[0], d_out=d_out[0])


@adjoint(lapack.dpotrs)
def potrs(c, b, lower=0, *, out, d_out):
    factor = (c, lower)
    (d_c, _), d_b = linalg_factorisations.cho_solve(factor, b, out=out[0], d_out=d_out[0])
    return d_c, d_b


@adjoint(lapack.dpotri)
def potri(c, lower=0, *, out, d_out):
    """Only one triangle of the inverse is made; the other one is that of the factor."""
    half, d_half = triangle(out[0], lower), triangle(d_out[0], lower)
    inverse = half + triangle(out[0], lower, 1).T
    d_a = -inverse @ (d_half + d_half.T) @ inverse
    d_c = d_a @ triangle(c, lower) if lower else triangle(c, lower) @ d_a
    return triangle(d_c, lower) + triangle(d_out[0], not lower, 1)


@adjoint(lapack.dtrtrs)
def trtrs(a, b, lower=0, trans=0, unitdiag=0, *, out, d_out):
    return solve_triangular(a, b, trans, lower, unitdiag, out=out[0], d_out=d_out[0])


@adjoint(lapack.dtrtri)
def trtri(c, lower=0, unitdiag=0, *, out, d_out):
    inverse, d_inverse = triangle(out[0], lower), triangle(d_out[0], lower, unitdiag)
    if unitdiag:
        inverse = triangle(out[0], lower, 1) + np.eye(c.shape[0])
    d_c = triangle(-inverse.T @ d_inverse @ inverse.T, lower, 1 if unitdiag else 0)
    return d_c + triangle(d_out[0], not lower, 0 if unitdiag else 1)
