"""Statistics that order samples or compare two of them, and densities, in both modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

pytest.importorskip("scipy")

from scipy import stats

R = np.random.default_rng(0)
U, V, ROWS = R.uniform(0.3, 1.3, 9), R.uniform(size=7), R.uniform(size=(9, 3))
IN_U, IN_V = R.uniform(size=9), R.uniform(size=7)
PLACES, EDGES = R.uniform(0, 4, 9), np.array([0, 1, 2.5, 4])
POINTS, SOLID_POINTS = np.array([0.3, 0.5, 0.9]), R.uniform(size=(3, 4))


def unpacked(u):
    statistic, pvalue = stats.ttest_1samp(u, 0.2)
    return statistic * pvalue


PROGRAMS: dict[str, tuple[Any, ...]] = {
    "trimmed": (lambda u: stats.trim_mean(u, 0.2), U),
    "trimmed columns": (lambda a: stats.trim_mean(a, 0.2), ROWS),
    "trimmed rows": (lambda a: stats.trim_mean(a, 0.2, axis=1, keepdims=True), ROWS.T),
    "trimmed all": (lambda a: stats.trim_mean(a, 0.2, axis=None), ROWS),
    "trimmed all, kept": (lambda a: stats.trim_mean(a, 0.2, axis=None, keepdims=True), ROWS),
    "not trimmed": (lambda a: stats.trim_mean(a, 0.0), ROWS),
    "range": (lambda u: stats.iqr(u), U),
    "range of columns": (lambda a: stats.iqr(a, 0, (80, 10), scale="normal"), ROWS),
    "another method": (lambda a: stats.iqr(a, 0, interpolation="midpoint", keepdims=True), ROWS),
    "scaled range": (lambda u, s: stats.iqr(u, scale=s), U, 2.0),
    "wasserstein": (lambda u, v: stats.wasserstein_distance(u, v), U, V),
    "weighted wasserstein": (
        lambda u, v, a, b: stats.wasserstein_distance(u, v, a, b), U, V, IN_U, IN_V,
    ),
    "shared numbers": (
        lambda u, v: stats.wasserstein_distance(u, np.concatenate((v, u))), U, V,
    ),
    "energy": (lambda u, v: stats.energy_distance(u, v), U, V),
    "weighted energy": (lambda u, v, a, b: stats.energy_distance(u, v, a, b), U, V, IN_U, IN_V),
    **{
        f"{test} {alternative}": program
        for alternative in ("two-sided", "less", "greater")
        for test, program in {
            "one sample": (
                lambda u, m, k=alternative: stats.ttest_1samp(u, m, alternative=k).pvalue, U, 0.2,
            ),
            "two samples": (
                lambda u, v, k=alternative: stats.ttest_ind(u, v, alternative=k)[1], U, V,
            ),
            "pairs": (lambda u, v, k=alternative: stats.ttest_rel(u, v, alternative=k)[1], U, IN_U),
        }.items()
    },
    "statistic": (lambda u, m: stats.ttest_1samp(u, m).statistic, U, 0.2),
    "statistic of rows": (lambda a: stats.ttest_1samp(a, 0.3, axis=1)[0], ROWS.T),
    "statistic of all": (lambda a: stats.ttest_1samp(a, 0.3, axis=None)[0], ROWS),
    "statistic of two": (lambda u, v: stats.ttest_ind(u, v)[0], U, V),
    "statistic of two rows": (lambda a: stats.ttest_ind(a, a**2, axis=1)[0], ROWS.T),
    "statistic of pairs": (lambda a: stats.ttest_rel(a, a**2, axis=1)[0], ROWS.T),
    "statistic of Welch": (lambda u, v: stats.ttest_ind(u, v, equal_var=False)[0], U, V),
    "freedom of Welch": (lambda u, v: stats.ttest_ind(u, v, equal_var=False).df, U, V),
    "unpacked": (unpacked, U),
    **{
        f"{what} {how} in bins": (
            lambda v, what=what, options=options: np.nan_to_num(
                stats.binned_statistic(PLACES, v, what, **options)[0]
            ),
            U,
        )
        for what in ("mean", "sum", "std")
        for how, options in {
            "equal": {"bins": 3}, "given": {"bins": EDGES}, "part": {"bins": 4, "range": (0.5, 3)},
        }.items()
    },
    "count in bins": (lambda v: stats.binned_statistic(PLACES, v, "count", 3)[0] * v[0], U),
    "places of bins": (lambda x: stats.binned_statistic(x, U, bins=3).statistic + x[:3], PLACES),
    "edges of bins": (lambda x: stats.binned_statistic(x, U, bins=3).bin_edges, PLACES),
    "places and values": (lambda x: stats.binned_statistic(x, x**2, bins=EDGES)[0], PLACES),
    "density": (lambda u, x: stats.gaussian_kde(u)(x), U, POINTS),
    "other width": (lambda u, x: stats.gaussian_kde(u, "silverman").evaluate(x), U, POINTS),
    "given width": (lambda u, x, h: stats.gaussian_kde(u, h).pdf(x), U, POINTS, 0.4),
    "log density": (
        lambda u, x, w: stats.gaussian_kde(u, weights=w).logpdf(x), U, POINTS, IN_U,
    ),
    "density in space": (lambda a, x: stats.gaussian_kde(a.T)(x), ROWS, SOLID_POINTS),
    "density at a point in space": (lambda a, x: stats.gaussian_kde(a.T)(x), ROWS, V[:3]),
    "density at a point": (lambda u: stats.gaussian_kde(u)(0.3), U),
}  # fmt: skip

MADE = stats.gaussian_kde(U)
IN_SPACE = stats.gaussian_kde(ROWS.T, weights=IN_U, bw_method=0.3)
PROGRAMS |= {
    "made outside": (lambda x: MADE(x), POINTS),
    "log made outside": (lambda x: MADE.logpdf(x), POINTS),
    "made outside, at a point": (lambda x: MADE.evaluate(x), 0.4),
    "in space made outside": (lambda x: IN_SPACE.pdf(x), SOLID_POINTS),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    f, *args = PROGRAMS[name]
    np.testing.assert_allclose(srcgrad.vjp(f, *args)[0], f(*args), rtol=1e-9)
    check_grads(f, args, order=1)


def test_a_bin_of_one_has_no_slope() -> None:
    f = srcgrad.grad(lambda v: np.sum(stats.binned_statistic(EDGES[:3], v, "std", EDGES)[0]))
    np.testing.assert_array_equal(f(np.ones(3)), np.zeros(3))


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda u: stats.ttest_ind(u, V, equal_var=False)[1], "shape parameters"),
        (lambda u: stats.ttest_ind(u, V, trim=0.2)[0], "without trim"),
        (lambda u: stats.binned_statistic(PLACES, u, "median")[0], "'mean', 'sum', 'std'"),
        (lambda u: stats.gaussian_kde(u, lambda kde: 0.3)(0.3), "a number for bw_method"),
        (lambda u: stats.gaussian_kde(u).integrate_box_1d(0, 1), "integrate_box_1d"),
        (lambda u: MADE.integrate_box_1d(0, u[0]), "integrate_box_1d"),
        (lambda u: stats.spearmanr(u, IN_U)[0], "spearmanr can't be differentiated"),
    ],
)
def test_what_is_refused(f: Any, message: str) -> None:
    with pytest.raises(srcgrad.UnsupportedError, match=message):
        srcgrad.grad(lambda u: np.sum(f(u)))(U)
