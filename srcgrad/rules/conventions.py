"""Where a derivative doesn't exist, or is infinite: what srcgrad gives there, as data.

One choice, the same everywhere: finite if a finite derivative is of use. What attains an extremum
shares equally, a norm or a distance of zero has the derivative zero, a bound belongs to its
inside, a jump has no slope, and a true infinity stays one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

inf = np.inf


@dataclass(frozen=True)
class Convention:
    """A point without a derivative.

    Attributes:
        call: the expression, in terms of the arguments and `np`.
        at: the arguments.
        derivatives: those of the sum of all results by the arguments, as lists or numbers.
        why: what the choice is.
    """

    call: str
    at: dict[str, Any]
    derivatives: tuple[Any, ...]
    why: str


SHARED = "what attains the extremum shares equally"
DISTANCE = "zero, the mean of all directions"
BOUND = "a bound belongs to the inside"
STEP = "a step has no slope"
TRUE = "truly infinite"
LIMIT = "the limit"

RANK = "that of matrices of the same rank"
TRIANGLE = "of the triangle that is read; nothing depends on the other"
MIXED = [[2.0, 1.0], [1.0, 2.0]]
ZEROS, ONES, RANK_1 = [[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [[2.0, 0.0], [0.0, 0.0]]

CONVENTIONS = (
    Convention("np.maximum(x, y)", {"x": 0.0, "y": 0.0}, (0.5, 0.5), SHARED),
    Convention("np.maximum(x, 0)", {"x": [0.0, 1.0]}, ([0.5, 1.0],), SHARED),
    Convention("np.minimum(x, y)", {"x": 2.0, "y": 2.0}, (0.5, 0.5), SHARED),
    Convention("np.fmax(x, y)", {"x": 2.0, "y": 2.0}, (0.5, 0.5), SHARED),
    Convention("np.fmin(x, y)", {"x": 2.0, "y": 2.0}, (0.5, 0.5), SHARED),
    Convention("max(x, y)", {"x": 2.0, "y": 2.0}, (0.5, 0.5), SHARED),
    Convention("min(x, y)", {"x": 2.0, "y": 2.0}, (0.5, 0.5), SHARED),
    Convention("np.max(x)", {"x": [1.0, 3.0, 3.0]}, ([0, 0.5, 0.5],), SHARED),
    Convention("np.min(x)", {"x": [1.0, 1.0, 3.0]}, ([0.5, 0.5, 0],), SHARED),
    Convention("np.ptp(x)", {"x": [1.0, 1.0, 3.0]}, ([-0.5, -0.5, 1],), SHARED),
    Convention("np.median(x)", {"x": [1.0, 2.0, 2.0]}, ([0, 0.5, 0.5],), SHARED),
    Convention("np.quantile(x, 0.0)", {"x": [1.0, 1.0, 3.0]}, ([0.5, 0.5, 0],), SHARED),
    Convention("np.maximum.accumulate(x)", {"x": [2.0, 2.0]}, ([1, 1],), "of ties, the latest"),
    Convention("np.sort(x)[0]", {"x": [2.0, 2.0]}, ([1, 0],), "ties stay in their order"),
    Convention("np.clip(x, -1, 1)", {"x": [-1.0, 1.0, 2.0]}, ([1, 1, 0],), BOUND),
    Convention("np.abs(x)", {"x": [0.0, -2.0]}, ([0, -1],), "zero, the mean of both sides"),
    Convention("np.fabs(x)", {"x": 0.0}, (0.0,), "zero, the mean of both sides"),
    Convention("abs(x)", {"x": 0.0}, (0.0,), "zero, the mean of both sides"),
    Convention("np.abs(x)", {"x": 0j}, (0j,), DISTANCE),
    Convention("np.angle(x)", {"x": 0j}, (0j,), DISTANCE),
    Convention("np.hypot(x, y)", {"x": 0.0, "y": 0.0}, (0, 0), DISTANCE),
    Convention("np.arctan2(x, y)", {"x": 0.0, "y": 0.0}, (0, 0), DISTANCE),
    Convention("np.linalg.norm(x)", {"x": [0.0, 0.0]}, ([0, 0],), DISTANCE),
    Convention("np.linalg.norm(x, 1)", {"x": [0.0, 2.0]}, ([0, 1],), DISTANCE),
    Convention("np.linalg.norm(x, np.inf)", {"x": [2.0, -2.0]}, ([0.5, -0.5],), SHARED),
    Convention("np.linalg.norm(x, 3)", {"x": [0.0, 0.0]}, ([0, 0],), DISTANCE),
    Convention("np.linalg.norm(x)", {"x": [[0.0, 0.0], [0.0, 0.0]]}, ([[0, 0], [0, 0]],), DISTANCE),
    Convention("np.linalg.norm(x, 'nuc')", {"x": ZEROS}, ([[0, 0], [0, 0]],), DISTANCE),
    Convention("np.linalg.norm(x, 'nuc')", {"x": ONES}, ([[1, 0], [0, 1]],), "exact"),
    Convention("np.linalg.norm(x, 2)", {"x": ONES}, ([[0.5, 0], [0, 0.5]],), SHARED),
    Convention("np.linalg.pinv(x)", {"x": RANK_1}, ([[-0.25, 0.25], [0.25, 0]],), RANK),
    Convention("np.linalg.lstsq(x, [1, 1])[0]", {"x": RANK_1}, ([[-0.25, 0.25], [0.25, 0]],), RANK),
    Convention("np.linalg.det(x)", {"x": ZEROS}, ([[0, 0], [0, 0]],), "exact, of rank 0 too"),
    Convention("np.linalg.eigvalsh(x)[0]", {"x": MIXED}, ([[0.5, 0], [-1, 0.5]],), TRIANGLE),
    Convention("np.linalg.eigvalsh(x, 'U')[0]", {"x": MIXED}, ([[0.5, -1], [0, 0.5]],), TRIANGLE),
    Convention("np.linalg.eigh(x)[0][1]", {"x": MIXED}, ([[0.5, 0], [1, 0.5]],), TRIANGLE),
    Convention("np.linalg.cholesky(x)[1, 0]", {"x": ONES}, ([[0, 0], [1, 0]],), TRIANGLE),
    Convention("np.max(x)", {"x": [np.nan, 1.0]}, ([np.nan, np.nan],), "as the maximum"),
    Convention("np.mean(x)", {"x": []}, ([],), "of nothing, nothing"),
    Convention("np.std(x)", {"x": [2.0, 2.0, 2.0]}, ([0, 0, 0],), DISTANCE),
    Convention("np.sign(x)", {"x": 0.0}, (0.0,), STEP),
    Convention("np.floor(x)", {"x": 1.0}, (0.0,), STEP),
    Convention("np.round(x)", {"x": 0.5}, (0.0,), STEP),
    Convention("np.heaviside(x, y)", {"x": 0.0, "y": 0.5}, (0, 1), STEP),
    Convention("x // y", {"x": 2.0, "y": 1.0}, (0, 0), STEP),
    Convention("x % y", {"x": 2.0, "y": 1.0}, (1, -2), "that of x - y * (x // y)"),
    Convention("np.unwrap(x)", {"x": [0.0, np.pi + 1]}, ([1, 1],), STEP),
    Convention("np.nan_to_num(x)", {"x": [1.0, np.nan]}, ([1, 0],), "a constant took its place"),
    Convention("x ** y", {"x": 0.0, "y": 0.0}, (0, 0), "a constant, and zero where log(0) stands"),
    Convention("x ** 0.5", {"x": 0.0}, (inf,), TRUE),
    Convention("x ** 2.0", {"x": [0.0, 1.0]}, ([0, 2],), LIMIT),
    Convention("np.sqrt(x)", {"x": [0.0, 4.0]}, ([inf, 0.25],), TRUE),
    Convention("np.cbrt(x)", {"x": 0.0}, (inf,), TRUE),
    Convention("np.log(x)", {"x": 0.0}, (inf,), TRUE),
    Convention("np.arcsin(x)", {"x": 1.0}, (inf,), TRUE),
    Convention("np.arccosh(x)", {"x": 1.0}, (inf,), TRUE),
    Convention("np.sinc(x)", {"x": [0.0, 1.0]}, ([0, -1],), LIMIT),
    Convention("np.prod(x)", {"x": [0.0, 2.0, 3.0]}, ([6, 0, 0],), "exact, with zeros too"),
    Convention("np.prod(x)", {"x": [0.0, 0.0, 3.0]}, ([0, 0, 0],), "exact, with zeros too"),
    Convention("np.cumprod(x)", {"x": [0.0, 2.0, 3.0]}, ([9, 0, 0],), "exact, with zeros too"),
    Convention("np.logaddexp(x, y)", {"x": -inf, "y": -inf}, (0, 0), "finite"),
    Convention("np.interp(x, [0, 1, 2], [0, 1, 5])", {"x": 1.0}, (4,), "the slope to the right"),
    Convention("np.interp(x, [0, 1], [0, 1])", {"x": 1.0}, (1,), BOUND),
    Convention(
        "np.where(x > 0, np.sqrt(x), 0.0)",
        {"x": [0.0, 4.0]},
        ([0, 0.25],),
        "a branch not taken contributes nothing",
    ),
    Convention(
        "np.where(x > 0, np.log(x), x)",
        {"x": [0.0, 4.0]},
        ([1, 0.25],),
        "a branch not taken contributes nothing",
    ),
    Convention(
        "np.linalg.eigvalsh(x)",
        {"x": [[1.0, 0.0], [0.0, 1.0]]},
        ([[1, 0], [0, 1]],),
        "of equal eigenvalues, one choice of vectors: right for what treats them alike",
    ),
    Convention(
        "np.linalg.svd(x, compute_uv=False)",
        {"x": [[0.0, 0.0], [0.0, 2.0]]},
        ([[1, 0], [0, 1]],),
        "of the singular value 0, the slope to one side",
    ),
    Convention(
        "np.linalg.det(x)",
        {"x": [[1.0, 2.0], [2.0, 4.0]]},
        ([[4, -2], [-2, 1]],),
        "exact, of singular matrices too",
    ),
)

DEGENERATE = (
    (
        "`eigh`, `svd`",
        "equal values, of which only the values are used",
        "one choice of vectors: right for what treats equal values alike, as a sum or a norm does",
    ),
    (
        "`eigh`, `svd`",
        "equal values, of which only the vectors are used",
        "right for what is the same for each choice of vectors, as a projection is; in forward "
        "mode, nan for the vectors that the direction mixes",
    ),
    (
        "`eigh`, `svd`",
        "equal values (or several singular values 0) that are used with their vectors",
        "nan: a function of a matrix that is made of them has a derivative, but they don't tell "
        "it; call `expm`, `sqrtm`, `polar` or `norm(x, 'nuc')`, or take values that are used by "
        "themselves from a call of `eigvalsh` or `svdvals`",
    ),
    (
        "`svd`",
        "a null space of several vectors",
        "right for what depends on the space only, as a projection does; of what depends on which "
        "vectors span it, nan, and in forward mode the least change that keeps them orthogonal",
    ),
    (
        "`eigvalsh`, `svdvals`",
        "equal values, second derivatives",
        "nan in directions that mix them",
    ),
    ("`eig`, `eigvals`", "a matrix with too few eigenvectors", "nan: it is infinite"),
    (
        "`polar`, `orthogonal_procrustes`, `norm(x, 'nuc')`",
        "equal singular values",
        "exact in every order, unless they are 0",
    ),
    (
        "`pinv`, `lstsq`",
        "a matrix without full rank",
        "that of matrices of the same rank, in every order",
    ),
    ("`det`", "a singular matrix of any rank", "exact; so is its second derivative"),
    ("`matrix_rank`", "any matrix", "zero: it is a step"),
    (
        "`inv`, `solve`, `slogdet`, `lu`, `cond` but by `2`",
        "a singular matrix",
        "`numpy.linalg.LinAlgError`, though `slogdet` and `lu` have a value",
    ),
    (
        "`qr`",
        "a matrix whose first columns depend on one another",
        "`LinAlgError`, though it has a value",
    ),
    (
        "`qr` with `mode='complete'`",
        "two or more columns beyond those of the matrix",
        "right for what is the same for each choice of them, as a projection is",
    ),
    ("`cholesky`", "a nearly singular matrix", "large, as the true one is"),
    ("`expm`, `cosm`, `sinm` and their like", "any matrix", "exact"),
    ("`sqrtm`, `logm`", "a singular matrix", "no derivative: an error, or large numbers"),
)


def degenerate_table() -> str:
    """What the derivatives of linear algebra are at degenerate matrices, as a Markdown table.

    >>> print(degenerate_table().splitlines()[0])
    | function | of | derivative |
    """
    lines = ["| function | of | derivative |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in DEGENERATE)])


def conventions_table() -> str:
    """The points as a Markdown table.

    >>> print(conventions_table().splitlines()[2])
    | `np.maximum(x, y)` | x = 0.0, y = 0.0 | 0.5, 0.5 | what attains the extremum shares equally |
    """
    lines = ["| function | at | derivative | why |", "|---|---|---|---|"]
    for c in CONVENTIONS:
        at = ", ".join(f"{name} = {value}" for name, value in c.at.items())
        found = ", ".join(str(d) for d in c.derivatives)
        lines.append(f"| `{c.call}` | {at} | {found} | {c.why} |")
    return "\n".join(lines)
