"""Distances to nearest neighbours, least squares without negative unknowns, and harmonics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

pytest.importorskip("scipy")

from scipy import optimize, spatial, special

R = np.random.default_rng(0)
PLACES, ASKED = R.uniform(size=(9, 2)), R.uniform(size=(5, 2))
FAST, TREE = spatial.cKDTree(PLACES), spatial.KDTree(PLACES)
ROUND = spatial.cKDTree(PLACES, boxsize=[1.0, 0.0])
ANGLES, TURNS, X = np.array([0.4, 1.2, 2.0]), np.array([0.1, -1.0, 3.0]), np.array([0.3, -0.5, 0.8])
MATRIX, RIGHT = R.normal(size=(7, 4)), R.normal(size=7)

PROGRAMS: dict[str, tuple[Any, ...]] = {
    "nearest": (lambda x: FAST.query(x)[0], ASKED),
    "three": (lambda x: TREE.query(x, k=3)[0], ASKED),
    "made inside": (lambda x: spatial.cKDTree(PLACES).query(x, k=2, p=1)[0], ASKED),
    "largest difference": (lambda x: spatial.KDTree(PLACES).query(x, k=2, p=np.inf)[0], ASKED),
    "one point": (lambda x: FAST.query(x)[0], ASKED[0]),
    "two of one point": (lambda x: FAST.query(x, k=2)[0], ASKED[0]),
    "a table of points": (lambda x: FAST.query(x.reshape(1, 5, 2), k=2)[0], ASKED),
    "numbers": (lambda x: FAST.query(x)[1] * x[:, 0], ASKED),
    "too far": (
        lambda x: np.minimum(FAST.query(x, k=2, distance_upper_bound=0.15)[0], 3.0), ASKED,
    ),
    "too many": (lambda x: np.minimum(FAST.query(x, k=12)[0], 3.0), ASKED),
    "round": (lambda x: ROUND.query(x * np.array([1.0, 0.1]), k=3)[0], ASKED * 1.3 - 0.2),
    "least squares": (lambda a, b: optimize.nnls(a, b), MATRIX, RIGHT),
    "least squares of few": (
        lambda a, b: optimize.nnls(a, b)[0], np.abs(MATRIX[:3]), np.abs(RIGHT[:3]),
    ),
    "nothing free": (lambda b: optimize.nnls(-np.abs(MATRIX), b)[1], np.abs(RIGHT)),
    "an exact solution": (lambda a: optimize.nnls(a, a @ np.ones(4))[0], np.abs(MATRIX)),
    **{
        f"lpmv {m} {v}": (lambda x, m=m, v=v: special.lpmv(m, v, x), X)
        for m, v in ((0, 0), (1, 2), (2, 2), (0, 3), (-1, 2), (1, 2.5))
    },
    "lpmv of a number": (lambda x: special.lpmv(1, 2, x), 0.3),
    "lpmv of orders": (lambda x: special.lpmv(np.arange(3), 3, x), X),
    **{
        f"harmonic {n} {m}": (lambda t, f, n=n, m=m: special.sph_harm_y(n, m, t, f), ANGLES, TURNS)
        for n, m in ((0, 0), (2, 1), (3, -2), (3, 3), (1, -1))
    },
    "harmonic of numbers": (lambda t, f: special.sph_harm_y(2, 1, t, f), 0.4, 0.3),
    "harmonics": (
        lambda t, f: special.sph_harm_y(np.array([1, 2, 3]), 1, t[:, None], f), ANGLES, TURNS,
    ),
    "harmonics of lists": (
        lambda t: special.sph_harm_y([1, 2, 3], [1, 0, -1], t, 0.3), ANGLES,
    ),
    "beyond the poles": (lambda t, f: special.sph_harm_y(2, 1, t, f), ANGLES - 2.3, TURNS),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    f, *args = PROGRAMS[name]
    value, expected = srcgrad.vjp(f, *args)[0], f(*args)
    for found, wanted in zip(
        *(v if isinstance(v, tuple) else (v,) for v in (value, expected)), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    order = 2 if name.startswith(("lpmv", "harmonic")) else 1
    check_grads(f, args, order=order)


def test_a_tree_of_what_is_differentiated() -> None:
    """It says which points are near, as before; distances from it are refused."""

    def near(x):
        _, numbers = spatial.cKDTree(x).query(x, k=2)
        return np.sum((x[numbers[:, 1]] - x) ** 2)

    def pairs(x):
        i, j = spatial.cKDTree(x).query_pairs(0.5, output_type="ndarray").T
        return np.sum(np.abs(x[i] - x[j]) ** 3)

    check_grads(near, (PLACES,), order=1)
    check_grads(pairs, (PLACES,), order=1, modes="rev")
    for made in (spatial.cKDTree, spatial.KDTree):
        with pytest.raises(srcgrad.UnsupportedError, match="by the points of which a tree is made"):
            srcgrad.grad(lambda x, made=made: np.sum(made(x).query(ASKED)[0]))(PLACES)


@pytest.mark.parametrize(
    ("f", "x", "message"),
    [
        (lambda x: FAST.query(x, k=[1, 2])[0], ASKED, "for a number of neighbours"),
        (lambda v: special.lpmv(1, v, 0.3), 2.5, "by its order"),
        (lambda t: special.sph_harm_y(2, 1, t, 0.0, diff_n=1)[0].real, 0.4, "diff_n"),
    ],
)
def test_what_is_refused(f: Any, x: Any, message: str) -> None:
    with pytest.raises(srcgrad.UnsupportedError, match=message):
        srcgrad.grad(lambda x: np.sum(f(x)))(x)
