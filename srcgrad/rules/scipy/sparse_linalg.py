"""Solving sparse systems: directly, with factors, by iteration, and as linear operators."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import expm
from scipy.sparse import linalg

from ...analysis.inference import Inferred
from ...kinds import INT, Array, Opaque, TupleOf, fresh_size
from ..products import conj
from ..registry import adjoint, definition, kind, primitives, refuse, tangent
from ..shaping import transposed
from .kinds import floating, operand_kind
from .linalg_functions import derivative
from .sparse import flipped
from .sparse_entries import OPAQUE, Entries, dtype_of, of_entries_kind


def solution(data, rows, columns, shape, b):
    """The solution of a system whose sparse matrix is given by its entries.

    >>> solution(np.array([2.0, 4.0]), np.arange(2), np.arange(2), (2, 2), np.ones(2))
    array([0.5 , 0.25])
    """
    return linalg.spsolve(sparse.csc_array((data, (rows, columns)), shape=shape), b)


@adjoint(solution)
def d_solution(data, rows, columns, shape, b, *, out, d_out):
    d_b = solution(data, columns, rows, (shape[1], shape[0]), d_out)
    d_data = -d_b[rows] * out[columns]
    if b.ndim > 1:
        d_data = d_data.sum(1)
    return d_data, None, None, None, d_b


kind(solution)(of_entries_kind)


def spsolve(A, b):
    """The solution of a system with a sparse matrix. Called by generated code."""
    return linalg.spsolve(A, b)


adjoint(spsolve)(lambda A, b, *, out, d_out: (None, spsolve(flipped(A), d_out)))


@kind(spsolve)
def spsolve_kind(args, kwargs):
    other = operand_kind(args[1])
    if other is None or other.shape is None:
        return None
    dtype, of_other = dtype_of(args[0]), other.dtype
    dtype = None if dtype is None or of_other is None else floating(dtype, of_other)
    return Inferred(Array(dtype, other.shape))


@definition(linalg.spsolve)
def solve(A, b, permc_spec=None, use_umfpack=True):
    if isinstance(A, Entries):
        return solution(A.values, A.rows, A.columns, A.shape, b)
    if isinstance(A, np.ndarray):
        return np.linalg.solve(A, b)
    return spsolve(A, b)


class Factorised:
    """What `splu` gives of a matrix whose data have derivatives; it solves anew each time."""

    def __init__(self, A):
        self.A = A

    def solve(self, rhs, trans="N"):
        return solve(self.A if trans == "N" else self.A.T, rhs)

    def __call__(self, rhs):
        return solve(self.A, rhs)


FACTORISED = type(linalg.splu(sparse.csc_matrix(np.eye(2))))
OTHER = {"N": "T", "T": "N"}


@adjoint(FACTORISED.solve)
def factorised_solve(self, rhs, trans="N", *, out, d_out):
    if trans == "H":
        return None, conj(self.solve(conj(d_out)))
    return None, self.solve(d_out, OTHER[trans])


kind(FACTORISED.solve)(spsolve_kind)


def factors(A):
    """The LU factors of a sparse matrix. Called by generated code."""
    return linalg.splu(A)


refuse(factors, reason=OPAQUE)
kind(factors)(lambda args, kwargs: Inferred(Opaque(FACTORISED)))

definition(linalg.splu)(lambda A: Factorised(A) if isinstance(A, Entries) else factors(A))
definition(linalg.factorized)(
    lambda A: Factorised(A) if isinstance(A, Entries) else factors(A).solve
)


def iterated(A, b, symmetric, rtol, atol, maxiter):
    """The solution of a system by conjugate gradients, or by GMRES, which doesn't break down.

    Called by generated code, of the transposed system of an iterative solver.
    """
    method = linalg.cg if symmetric else linalg.gmres
    x, failed = method(A, b, rtol=rtol, atol=atol, maxiter=maxiter)
    if failed:
        raise ArithmeticError(
            f"the transposed system, which the derivative of a solver needs, isn't solved to "
            f"rtol={rtol} by {method.__name__}: use scipy.sparse.linalg.spsolve"
        )
    return x


@adjoint(iterated)
def d_iterated(A, b, symmetric, rtol, atol, maxiter, *, out, d_out):
    d_b = iterated(turned(A, symmetric), d_out, symmetric, rtol, atol, maxiter)
    if isinstance(A, np.ndarray):
        return -d_b[:, None] * out, d_b
    return d_b, d_b  # which refuses a matrix or an operator that is differentiated


kind(iterated)(spsolve_kind)


def turned(A, symmetric):
    if symmetric:
        return A
    return A.T if isinstance(A, np.ndarray) else flipped(A)


def iterative(method, symmetric):
    """The rule of an iterative solver, by the transposed system."""

    @adjoint(method)
    def rule(
        A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None, out, d_out
    ):
        d_b = iterated(turned(A, symmetric), d_out[0], symmetric, rtol, atol, maxiter)
        if isinstance(A, np.ndarray):
            return -d_b[:, None] * out[0], d_b
        return d_b, d_b  # which refuses a matrix or an operator that is differentiated

    return rule


def iterative_kind(args, kwargs):
    found = spsolve_kind(args, kwargs) if len(args) > 1 else None
    return None if found is None else Inferred(TupleOf((found.kind, INT)))


for _name in ("bicg", "bicgstab", "cg", "cgs", "gmres", "qmr", "tfqmr"):
    iterative(getattr(linalg, _name), _name == "cg")
    kind(getattr(linalg, _name))(iterative_kind)


@adjoint(linalg.expm_multiply)
def d_expm_multiply(A, B, *, out, d_out):
    if isinstance(A, np.ndarray):
        product = d_out[:, None] * B if B.ndim == 1 else d_out @ B.T
        turned_A = transposed(A)
        return derivative(expm, turned_A, product), linalg.expm_multiply(turned_A, d_out)
    d_b = linalg.expm_multiply(flipped(A), d_out)
    return d_b, d_b


@tangent(linalg.expm_multiply)
def t_expm_multiply(A, B, *, out, tangents):
    t_A, t_B = tangents
    total = 0.0 if t_B is None else linalg.expm_multiply(A, t_B)
    return total if t_A is None else total + derivative(expm, A, t_A) @ B


kind(linalg.expm_multiply)(spsolve_kind)

# An operator that is made of what is differentiated is asked for its adjoint, and so refused
adjoint(linalg.LinearOperator.matvec)(
    lambda self, x, *, out, d_out: (d_out, conj(self.rmatvec(conj(d_out))))
)
adjoint(linalg.LinearOperator.rmatvec)(
    lambda self, x, *, out, d_out: (d_out, conj(self.matvec(conj(d_out))))
)
definition(linalg.LinearOperator.__matmul__, linalg.LinearOperator.dot)(
    lambda self, x: self.matvec(x)
)


@kind(linalg.LinearOperator.matvec, linalg.LinearOperator.rmatvec)
def matvec_kind(args, kwargs):
    other = operand_kind(args[1])
    return None if other is None else Inferred(Array(None, (fresh_size(),)))


for _name in dir(linalg):
    _function = getattr(linalg, _name)
    if (
        not _name.startswith("_")
        and callable(_function)
        and not isinstance(_function, type)
        and _function not in primitives
        and _function not in (linalg.spsolve, linalg.splu, linalg.factorized)
    ):
        refuse(_function, reason="of sparse matrices it has no rule: use an array, or spsolve")
