"""Solving sparse systems: directly, with factors, by iteration, and as linear operators."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import expm
from scipy.sparse import linalg

from ...analysis.inference import Inferred
from ...custom import stop_gradient
from ...kinds import INT, Array, Opaque, TupleOf, fresh_size
from ..products import conj
from ..registry import (
    adjoint,
    definition,
    definitions,
    kind,
    passes_for,
    primitives,
    refuse,
    tangent,
    zero,
)
from ..shaping import transposed
from . import sparse_spectra  # noqa: F401  (it registers its rules)
from .kinds import floating, operand_kind
from .left import left
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


FACTORISED = type(linalg.splu(sparse.csc_matrix(np.eye(2))))


@passes_for(FACTORISED)
class Factorised:
    """What `splu` gives of a matrix whose data have derivatives; it solves anew each time."""

    def __init__(self, A):
        self.A = A

    def solve(self, rhs, trans="N"):
        return solve(self.A if trans == "N" else self.A.T, rhs)


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
    lambda A: (Factorised(A) if isinstance(A, Entries) else factors(A)).solve
)


# By iteration, to a tolerance: the derivative is that of the exact solution, found by a second
# iteration, with the transposed matrix. Where the first began, and what hastened it, doesn't count.


def krylov(name, A, b, x0, rtol, atol, maxiter, M, restart):
    """What an iterative solver finds, and whether it did. Called by generated code.

    >>> krylov("cg", np.diag([2.0, 4.0]), np.ones(2), None, 1e-9, 0.0, None, None, None)
    (array([0.5 , 0.25]), 0)
    """
    options = {"rtol": rtol, "maxiter": maxiter}
    if name != "minres":
        options["atol"] = atol
    if M is not None:
        options["M"] = M
    if restart is not None:
        options["restart"] = restart
    return getattr(linalg, name)(A, b, x0, **options)


def solved_back(A, b, symmetric, back, rtol, atol, maxiter):
    """The solution of the transposed system or, not `back`, of the system itself: by conjugate
    gradients, MINRES, or by GMRES, which doesn't break down. Called by generated code.

    Of a symmetric matrix only, that is its own transpose, no transpose is asked: a linear operator
    needn't have one.
    """
    method = linalg.gmres if symmetric is None else getattr(linalg, symmetric)
    options = {"rtol": rtol, "maxiter": maxiter}
    if symmetric != "minres":
        options["atol"] = atol
    if back and (symmetric is None or np.iscomplexobj(np.zeros(0, A.dtype))):
        A = A.T
    x, failed = method(A, b, **options)
    if failed:
        raise ArithmeticError(
            f"the transposed system, which the derivative of a solver needs, isn't solved to "
            f"rtol={rtol} by {method.__name__}: use scipy.sparse.linalg.spsolve"
        )
    return x


SYMMETRIC = ("cg", "minres")


@adjoint(krylov)
def d_krylov(name, A, b, x0, rtol, atol, maxiter, M, restart, *, out, d_out):
    symmetric = name if name in SYMMETRIC else None
    d_b = solved_back(A, d_out[0], symmetric, True, rtol, atol, maxiter)
    if isinstance(A, np.ndarray):
        return None, -d_b[:, None] * out[0], d_b
    return None, d_b, d_b  # which refuses a matrix or an operator that is differentiated


@adjoint(solved_back)
def d_solved_back(A, b, symmetric, back, rtol, atol, maxiter, *, out, d_out):
    d_b = solved_back(A, d_out, symmetric, not back, rtol, atol, maxiter)
    if isinstance(A, np.ndarray):
        d_A = -d_b[:, None] * out
        return (d_A.T if back else d_A), d_b
    return d_b, d_b


kind(solved_back)(spsolve_kind)


@kind(krylov)
def krylov_kind(args, kwargs):
    found = spsolve_kind(args[1:], kwargs)
    return None if found is None else Inferred(TupleOf((found.kind, INT)))


def krylov_of_entries(name, data, rows, columns, shape, x0, rtol, atol, maxiter, M, restart, b):
    """As `krylov`, of a sparse matrix that is given by its entries. Called by generated code."""
    A = sparse.csr_array((data, (rows, columns)), shape=shape)
    return krylov(name, A, b, x0, rtol, atol, maxiter, M, restart)


def solved_back_of_entries(data, rows, columns, shape, symmetric, rtol, atol, maxiter, b):
    """The solution of a system with a sparse matrix that is given by its entries. Called by
    generated code.
    """
    A = sparse.csr_array((data, (rows, columns)), shape=shape)
    return solved_back(A, b, symmetric, False, rtol, atol, maxiter)


@adjoint(krylov_of_entries)
def d_krylov_of_entries(
    name, data, rows, columns, shape, x0, rtol, atol, maxiter, M, restart, b, *, out, d_out
):
    symmetric = name if name in SYMMETRIC else None
    d_b = solved_back_of_entries(
        data, columns, rows, (shape[1], shape[0]), symmetric, rtol, atol, maxiter, d_out[0]
    )
    d_data = -d_b[rows] * out[0][columns]
    return None, d_data, None, None, None, None, None, None, None, None, None, d_b


@adjoint(solved_back_of_entries)
def d_solved_back_of_entries(
    data, rows, columns, shape, symmetric, rtol, atol, maxiter, b, *, out, d_out
):
    d_b = solved_back_of_entries(
        data, columns, rows, (shape[1], shape[0]), symmetric, rtol, atol, maxiter, d_out
    )
    return -d_b[rows] * out[columns], None, None, None, None, None, None, None, d_b


kind(solved_back_of_entries)(of_entries_kind)


@kind(krylov_of_entries)
def krylov_of_entries_kind(args, kwargs):
    found = of_entries_kind(args[1:], kwargs)
    return None if found is None else Inferred(TupleOf((found.kind, INT)))


def held(data, rows, columns, shape):
    """A sparse matrix of which no derivative is taken. Called by generated code."""
    return sparse.csr_array((data, (rows, columns)), shape=shape)


zero(held)
kind(held)(lambda args, kwargs: Inferred(Opaque(sparse.csr_array)))


solver_left = {
    name: left(
        getattr(linalg, name),
        "it is differentiated for a vector on the right, without callback, shift, M1 and M2",
    )
    for name in ("bicg", "bicgstab", "cg", "cgs", "gmres", "minres", "qmr", "tfqmr")
}


def solve_by(name, A, b, x0, rtol, atol, maxiter, M, callback, restart=None):
    if callback is not None or b.ndim != 1:
        if restart is not None:
            return solver_left[name](
                A, b, x0, rtol=rtol, atol=atol, restart=restart, maxiter=maxiter, M=M,
                callback=callback,
            )  # fmt: skip
        if name == "minres":
            return solver_left[name](
                A, b, x0, rtol=rtol, maxiter=maxiter, M=M, callback=callback
            )  # fmt: skip
        return solver_left[name](
            A, b, x0, rtol=rtol, atol=atol, maxiter=maxiter, M=M, callback=callback
        )
    x0 = None if x0 is None else stop_gradient(x0)
    if isinstance(M, Entries):
        M = held(M.values, M.rows, M.columns, M.shape)
    elif isinstance(M, np.ndarray):
        M = stop_gradient(M)
    if isinstance(A, Entries):
        return krylov_of_entries(
            name, A.values, A.rows, A.columns, A.shape, x0, rtol, atol, maxiter, M, restart, b
        )
    return krylov(name, A, b, x0, rtol, atol, maxiter, M, restart)


def iterative(name):
    """The rule of an iterative solver, by the transposed system."""

    @definition(getattr(linalg, name))
    def rule(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None):
        return solve_by(name, A, b, x0, rtol, atol, maxiter, M, callback)


for _name in ("bicg", "bicgstab", "cg", "cgs", "tfqmr"):
    iterative(_name)


@definition(linalg.qmr)
def qmr(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M1=None, M2=None, callback=None):
    if M1 is not None or M2 is not None:
        return solver_left["qmr"](
            A, b, x0, rtol=rtol, atol=atol, maxiter=maxiter, M1=M1, M2=M2, callback=callback
        )
    return solve_by("qmr", A, b, x0, rtol, atol, maxiter, None, callback)


@definition(linalg.gmres)
def gmres(
    A, b, x0=None, *, rtol=1e-5, atol=0.0, restart=None, maxiter=None, M=None, callback=None,
    callback_type=None,
):  # fmt: skip
    return solve_by("gmres", A, b, x0, rtol, atol, maxiter, M, callback, restart)


@definition(linalg.minres)
def minres(
    A, b, x0=None, *, rtol=1e-5, shift=0.0, maxiter=None, M=None, callback=None, show=False,
    check=False,
):  # fmt: skip
    if np.ndim(shift) != 0 or shift != 0:
        return solver_left["minres"](
            A, b, x0, rtol=rtol, shift=shift, maxiter=maxiter, M=M, callback=callback
        )
    return solve_by("minres", A, b, x0, rtol, 0.0, maxiter, M, callback)


def exponential_times(A, B):
    """The exponential of a matrix times another one. Called by generated code."""
    return linalg.expm_multiply(A, B)


@definition(linalg.expm_multiply)
def expm_multiply(A, B):
    if isinstance(A, Entries):
        raise NotImplementedError(
            "expm_multiply is differentiated by B, and by an array A: use A.toarray()"
        )
    return exponential_times(A, B)


@adjoint(exponential_times)
def d_expm_multiply(A, B, *, out, d_out):
    if isinstance(A, np.ndarray):
        product = d_out[:, None] * B if B.ndim == 1 else d_out @ B.T
        turned_A = transposed(A)
        return derivative(expm, turned_A, product), linalg.expm_multiply(turned_A, d_out)
    d_b = linalg.expm_multiply(flipped(A), d_out)
    return d_b, d_b


@tangent(exponential_times)
def t_expm_multiply(A, B, *, out, tangents):
    t_A, t_B = tangents
    total = 0.0 if t_B is None else linalg.expm_multiply(A, t_B)
    return total if t_A is None else total + derivative(expm, A, t_A) @ B


kind(exponential_times)(spsolve_kind)

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
        and _function not in definitions
    ):
        refuse(_function, reason="of sparse matrices it has no rule: use an array, or spsolve")
