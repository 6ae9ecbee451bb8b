"""With options that a rule doesn't know, calls of constants are left as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad

pytest.importorskip("scipy")

from scipy import interpolate, ndimage, signal, spatial, stats
from scipy.sparse import linalg

R = np.random.default_rng(0)
PLACES, DATA, ASKED = (
    R.uniform(size=(15, 2)),
    R.uniform(size=15),
    np.array([[0.5, 0.5], [0.4, 0.6]]),
)
IMAGE, TREE = R.uniform(size=(6, 7)), spatial.cKDTree(PLACES)
DEFINITE = IMAGE @ IMAGE.T + np.eye(6)
SMOOTH = interpolate.CloughTocher2DInterpolator(PLACES, DATA)
FEW = interpolate.RBFInterpolator(PLACES, DATA, neighbors=5)
RESCALED = interpolate.LinearNDInterpolator(PLACES, DATA, rescale=True)

CALLS: list[Any] = [
    lambda: SMOOTH(ASKED),
    lambda: FEW(ASKED),
    lambda: RESCALED(ASKED),
    lambda: interpolate.griddata(PLACES, DATA, ASKED, method="cubic"),
    lambda: interpolate.krogh_interpolate(DATA, DATA**2, 0.3, der=1),
    lambda: interpolate.barycentric_interpolate(DATA, DATA**2, 0.3, der=1),
    lambda: TREE.query(ASKED, k=[1, 2])[0],
    lambda: ndimage.grey_dilation(IMAGE, structure=np.ones((3, 3))),
    lambda: ndimage.white_tophat(IMAGE, structure=np.ones((3, 3))),
    lambda: ndimage.median_filter(IMAGE, (3, 2), axes=(1, 0)),
    lambda: linalg.cg(DEFINITE, np.ones((6, 1)))[0],
    lambda: linalg.minres(DEFINITE, np.ones(6), shift=0.5)[0],
    lambda: linalg.eigsh(DEFINITE, 2, M=np.eye(6))[0],
    lambda: np.real(linalg.eigsh(DEFINITE + 0j, 2)[0]),
    lambda: linalg.svds(IMAGE, 2, return_singular_vectors="u")[1],
    lambda: signal.resample_poly(DATA, 3, 2, padtype="line"),
    lambda: np.abs(signal.csd(DATA, DATA**2, nperseg=4, average="median")[1]),
    lambda: np.abs(signal.csd(DATA * 1j, DATA, nperseg=4, return_onesided=False)[1]),
    lambda: signal.gausspulse("cutoff", fc=5.0),
    lambda: stats.binned_statistic(DATA, DATA, "median", bins=3)[0],
    lambda: stats.ttest_ind(DATA, DATA**2, trim=0.1).pvalue,
    lambda: stats.ttest_ind(DATA, DATA**2, equal_var=False).pvalue,
]


@pytest.mark.parametrize("constant", CALLS)
def test_a_constant_is_left_as_it_is(constant: Any) -> None:
    expected = np.sum(constant())
    assert srcgrad.grad(lambda x: np.sum(constant()) * x)(1.0) == pytest.approx(expected, rel=1e-6)
