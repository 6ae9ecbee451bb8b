"""Samples of scipy.sparse and scipy.sparse.linalg."""

import numpy as np

from srcgrad.rules import scipy as scipy_rules

from .kit import case
from .samples_linalg import c, r

SAMPLES = {}
try:
    from scipy import sparse
    from scipy.sparse import linalg
except ImportError:
    sparse = None

if sparse is not None:
    scipy_rules.load()
    from srcgrad.rules.scipy import sparse as rules
    from srcgrad.rules.scipy import sparse_entries
    from srcgrad.rules.scipy import sparse_linalg as solvers

    matrix = (sparse.random(5, 5, 0.4, random_state=2) + 4 * sparse.eye(5)).tocsc()
    wide = sparse.random(3, 5, 0.6, random_state=3).tocsr()
    places = matrix.tocoo()
    data, rows, columns = places.data, places.row, places.col
    SAMPLES[rules.BASE.__matmul__] = [
        case(a, x) for a in (matrix, wide, wide * 1j) for x in (r(5), r(5, 2), c(5))
    ]
    SAMPLES[rules.BASE.__rmatmul__] = [
        case(a.T, x) for a in (matrix, wide) for x in (r(5), r(2, 5))
    ]
    SAMPLES[sparse_entries.product] = [
        case(data, rows, columns, (5, 5), x) for x in (r(5), r(5, 2), c(5))
    ] + [case(r(3), np.array([0, 1, 1]), np.array([2, 0, 0]), (2, 3), r(3))]
    SAMPLES[solvers.solution] = [case(data, rows, columns, (5, 5), x) for x in (r(5), r(5, 2))]
    SAMPLES[solvers.spsolve] = [case(matrix, x) for x in (r(5), r(5, 2))]
    SAMPLES[solvers.FACTORISED.solve] = [
        case(linalg.splu(matrix), x, trans) for x in (r(5), r(5, 2)) for trans in ("N", "T", "H")
    ]
    SAMPLES[solvers.krylov] = [
        case(name, a, r(5), None, 1e-13, 0.0, None, None, None, fixed=(4, 5))
        for name in ("bicg", "bicgstab", "cgs", "gmres", "qmr", "tfqmr", "cg", "minres")
        for a in [(matrix @ matrix.T).tocsr() if name in solvers.SYMMETRIC else matrix.tocsr()]
    ] + [
        case("gmres", matrix.toarray(), r(5), None, 1e-13, 0.0, None, None, None, fixed=(4, 5))
    ]  # fmt: skip
    SAMPLES[solvers.solved_back] = [
        case(a, r(5), None, back, 1e-13, 0.0, None, fixed=(4, 5))
        for a in (matrix.toarray(), matrix) for back in (True, False)
    ]  # fmt: skip
    SAMPLES[solvers.solved_back_of_entries] = [
        case(data, rows, columns, (5, 5), None, 1e-13, 0.0, None, r(5), fixed=(5, 6))
    ]
    SAMPLES[solvers.exponential_times] = [case(matrix / 4, r(5)), case(matrix / 4, r(5, 2))]
    operator = linalg.aslinearoperator(wide)
    SAMPLES[linalg.LinearOperator.matvec] = [case(operator, r(5))]
    SAMPLES[linalg.LinearOperator.rmatvec] = [case(operator, r(3))]
