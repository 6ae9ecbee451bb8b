"""Sparse Jacobians and Hessians by compression, after Curtis, Powell and Reid.

Columns that share no row are summed up by one direction, so that a Jacobian with a few entries in
each row takes a few directions, however long it is. Which columns go together is a colouring of
the columns (A. Gebremedhin, F. Manne, A. Pothen, What Color Is Your Jacobian?, SIAM Review 47
(2005)); of a Hessian, whose two halves are equal, a star colouring takes fewer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .argnums import Argnums
from .jacobians import Jacobian

PROBES = 3


class SparseJacobian(Jacobian):
    """The function that computes a Jacobian with a known pattern of entries, compressed.

    Made by `jacobian(f, sparsity=pattern)` and `hessian(f, sparsity=pattern)`. It returns an array
    in compressed rows (`scipy.sparse.csr_array`), with a row for each number in the result and a
    column for each number in the argument.
    """

    def __init__(
        self,
        primal: Callable[..., Any],
        argnums: Argnums,
        mode: str,
        pattern: Any,
        symmetric: bool = False,
    ) -> None:
        super().__init__(primal, argnums, mode, False)
        if not self._single:
            raise TypeError("a sparse Jacobian is by one argument: argnums must not be a tuple")
        self._pattern = pattern_of(pattern)
        self._symmetric = symmetric
        rows, columns = self._pattern.shape
        if symmetric and rows != columns:
            raise ValueError(f"the pattern of a Hessian must be square, not {self._pattern.shape}")
        self._across = False
        if symmetric:
            self._colors = star_coloring(self._pattern)
        else:
            by_column, by_row = coloring(self._pattern), coloring(self._pattern.T.tocsr())
            fewer = by_row.max(initial=-1) < by_column.max(initial=-1)
            self._across = mode == "reverse" or (mode == "either" and bool(fewer))
            self._colors = by_row if self._across else by_column

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        ((place, x),) = self._one.inputs(args, kwargs)
        self._check_input(place, x)
        if not isinstance(x, np.ndarray) or x.size != self._pattern.shape[1]:
            found = f"{x.size} numbers" if isinstance(x, np.ndarray) else f"a {type(x).__name__}"
            raise ValueError(
                f"the pattern has {self._pattern.shape[1]} columns, but argument {place!r} is "
                f"{found}"
            )
        rng = np.random.default_rng(0)
        check = rng.uniform(0.5, 1.5, len(self._colors))
        seeds = np.zeros((self._colors.max(initial=-1) + 2, len(self._colors)))
        seeds[self._colors, np.arange(len(self._colors))] = 1.0
        seeds[-1] = check  # one more direction tells whether the pattern is right
        if self._across:
            found = self._pulled_back(args, kwargs, seeds)
        else:
            found = self._pushed_forward(args, kwargs, x, seeds)
        matrix = self._recovered(found[:-1])
        product = check @ matrix if self._across else matrix @ check
        size = abs(matrix)
        scale = np.abs(found[-1]) + (check @ size if self._across else size @ check)
        wrong = np.abs(product - found[-1]) > 10 * np.finfo(found.dtype).eps ** 0.5 * scale
        if np.any(wrong):
            kind, at = ("column" if self._across else "row"), int(np.flatnonzero(wrong)[0])
            raise ValueError(
                f"the Jacobian has entries that aren't in the pattern, in {kind} {at} for example"
            )
        return matrix

    def _pushed_forward(self, args: Any, kwargs: Any, x: Any, seeds: Any) -> Any:
        rows = seeds.astype(x.dtype).reshape((len(seeds), *x.shape))
        found, out = self._pushed(args, kwargs, [x], [rows])
        if not isinstance(out, np.ndarray):
            raise TypeError(f"a sparse Jacobian is of an array, not of a {type(out).__name__}")
        return self._flat(found[0], self._pattern.shape[0])

    def _pulled_back(self, args: Any, kwargs: Any, seeds: Any) -> Any:
        out = self._result(args, kwargs)
        if not isinstance(out, np.ndarray):
            raise TypeError(f"a sparse Jacobian is of an array, not of a {type(out).__name__}")
        self._flat(out[None], self._pattern.shape[0])
        rows = seeds.astype(out.dtype).reshape((len(seeds), *out.shape))
        (gradients,) = self._pulled_rows(args, kwargs, out, [rows])
        return self._flat(gradients, self._pattern.shape[1])

    @staticmethod
    def _flat(rows: Any, size: int) -> Any:
        flat = rows.reshape((len(rows), -1))
        if flat.shape[1] != size:
            raise ValueError(f"the pattern has {size} rows, but the result {flat.shape[1]} numbers")
        return flat

    def _recovered(self, compressed: Any) -> Any:
        """The entries of the Jacobian from sums of its columns, or of its rows."""
        from scipy.sparse import csr_array

        i, j = self._pattern.nonzero()
        if self._across:
            data = compressed[self._colors[i], j]
        elif self._symmetric:
            direct = _is_alone(self._pattern, self._colors)[i, self._colors[j]]
            data = np.where(direct, compressed[self._colors[j], i], compressed[self._colors[i], j])
        else:
            data = compressed[self._colors[j], i]
        return csr_array((data, (i, j)), shape=self._pattern.shape)


def pattern_of(pattern: Any) -> Any:
    """A pattern as a sparse matrix in compressed rows, without duplicates."""
    try:
        from scipy.sparse import csr_array, issparse
    except ImportError:
        raise ImportError("sparse Jacobians need SciPy: pip install scipy") from None
    if not issparse(pattern):
        pattern = np.asarray(pattern)
        if pattern.ndim != 2:
            raise ValueError(
                "sparsity must be a matrix, sparse or not, whose nonzero entries are where the "
                f"Jacobian has some; not an array of {pattern.ndim} axes"
            )
    found = csr_array(pattern != 0 if not issparse(pattern) else pattern.astype(bool))
    found.sum_duplicates()
    found.eliminate_zeros()
    found.sort_indices()
    return found


def coloring(pattern: Any) -> Any:
    """A number for each column; columns of the same number share no row.

    Greedy, the columns with most entries first.

    >>> coloring(pattern_of(np.eye(4) + np.eye(4, k=1)))
    array([1, 0, 1, 0])
    """
    rows = pattern
    columns = pattern.T.tocsr()
    count = columns.shape[0]
    colors = np.full(count, -1)
    for j in np.argsort(-np.diff(columns.indptr), kind="stable"):
        taken = set()
        for i in columns.indices[columns.indptr[j] : columns.indptr[j + 1]]:
            taken.update(colors[rows.indices[rows.indptr[i] : rows.indptr[i + 1]]].tolist())
        colors[j] = _smallest_not_in(taken)
    return colors


def star_coloring(pattern: Any) -> Any:
    """A number for each column of a symmetric matrix, from whose compression it is recovered.

    Neighbours have different colours, and so have at least three of four vertices of a path;
    then of the entries (i, j) and (j, i) one stands alone in its sum.

    >>> star_coloring(pattern_of(np.eye(4) + np.eye(4, k=1) + np.eye(4, k=-1))).max() + 1
    np.int64(3)
    """
    symmetric = pattern_of(pattern + pattern.T)
    near = [
        [j for j in symmetric.indices[symmetric.indptr[i] : symmetric.indptr[i + 1]] if j != i]
        for i in range(symmetric.shape[0])
    ]
    colors = np.full(len(near), -1)
    for v in sorted(range(len(near)), key=lambda i: -len(near[i])):
        taken = set()
        for w in near[v]:
            taken.add(int(colors[w]))
            for x in near[w]:
                if x == v or colors[x] < 0:
                    continue
                again = any(y != w and colors[y] == colors[w] for y in near[x])
                if colors[w] < 0 or again:
                    taken.add(int(colors[x]))
        colors[v] = _smallest_not_in(taken)
    return colors


def _smallest_not_in(taken: set[int]) -> int:
    color = 0
    while color in taken:
        color += 1
    return color


def _is_alone(pattern: Any, colors: Any) -> Any:
    """For each row and colour, whether at most one entry of the row is of that colour."""
    counts = np.zeros((pattern.shape[0], int(colors.max(initial=-1)) + 1), int)
    i, j = pattern.nonzero()
    np.add.at(counts, (i, colors[j]), 1)
    return counts <= 1


def jacobian_sparsity(
    f: Callable[..., Any], *args: Any, argnums: int | str = 0, probes: int = PROBES, seed: int = 0
) -> Any:
    """Where the Jacobian of a function has entries, found by probing.

    The Jacobian itself is computed near the arguments, at `probes` points that differ from them
    by random factors of about 1. An entry that is zero at all of them, as in a branch that none
    takes, isn't found; `jacobian(f, sparsity=...)` checks the pattern at each call.

    Args:
        f: a function from an array to an array.
        args: its arguments.
        argnums: the argument to differentiate by: a position or a name.
        probes: the number of points.
        seed: of the random factors.

    Returns:
        A `scipy.sparse.csr_array` of bools, with a row for each number in the result and a column
        for each number in the argument.

    >>> import numpy as np
    >>> jacobian_sparsity(lambda x: x * x, np.ones(2)).toarray()
    array([[ True, False],
           [False,  True]])
    """
    whole = Jacobian(f, argnums, "either", False)
    ((place, x),) = whole._one.inputs(args, {})
    whole._check_input(place, x)
    position = whole._one._parameters.index(place)
    rng = np.random.default_rng(seed)
    found: Any = None
    for number in range(probes):
        factor = rng.uniform(0.9, 1.1, np.shape(x)) if number else 1.0
        moved = np.asarray(x * factor + (0.01 * (factor - 1.0) if number else 0.0), x.dtype)
        matrix = whole(*args[:position], moved, *args[position + 1 :])
        entries = matrix.reshape((-1, x.size)) != 0
        found = entries if found is None else found | entries
    return pattern_of(found)


__all__ = ["SparseJacobian", "coloring", "jacobian_sparsity", "pattern_of", "star_coloring"]
