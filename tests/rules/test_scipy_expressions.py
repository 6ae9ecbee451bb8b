"""Functions of SciPy that are written in simpler ones, and uses of those that have rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

from . import expressions

pytest.importorskip("scipy")

import scipy
import scipy.ndimage
from scipy import fft, fftpack, signal, sparse, stats
from scipy.sparse import linalg as sparse_linalg
from scipy.spatial import distance

R = np.random.default_rng(1)
IMAGE, KERNEL = R.normal(size=(6, 7)), R.normal(size=(3, 4))
POINTS = R.uniform(-2, 8, size=(2, 5))
MODES = ("reflect", "mirror", "nearest", "wrap", "constant")
GRID_MODES = ("grid-mirror", "grid-wrap", "grid-constant")

CASES: list[tuple[Any, ...]] = []
for _mode in MODES:
    CASES += [
        (f"nd.correlate(x, y, mode={_mode!r})", IMAGE, KERNEL),
        (f"nd.convolve(x, y, mode={_mode!r}, origin=(1, -1))", IMAGE, KERNEL),
        (f"nd.uniform_filter(x, (3, 4), mode={_mode!r}, origin=1)", IMAGE),
        (f"nd.gaussian_filter(x, y, mode={_mode!r}, cval=0.5)", IMAGE, 1.3),
    ]
for _mode in MODES + GRID_MODES:
    CASES += [
        (f"nd.map_coordinates(x, y, order={_order}, mode={_mode!r})", IMAGE, POINTS)
        for _order in (0, 1, 2, 3, 5)
    ]
CASES += [
    ("nd.correlate1d(x, y[0], 0)", IMAGE, KERNEL),
    ("nd.convolve1d(x, [1.0, 2.0, 4.0], 0, mode='wrap', origin=1)", IMAGE),
    ("nd.gaussian_filter1d(x, y, axis=0, order=1)", IMAGE, 1.2),
    ("nd.gaussian_filter(x, (y, 0.7), order=(0, 2))", IMAGE, 1.2),
    ("nd.gaussian_filter(x, 1.0, axes=(1,), radius=2)", IMAGE),
    ("nd.gaussian_laplace(x, 1.0)", IMAGE),
    ("nd.gaussian_gradient_magnitude(x, 1.0)", IMAGE),
    ("nd.sobel(x)", IMAGE),
    ("nd.prewitt(x, 0, mode='mirror')", IMAGE),
    ("nd.laplace(x)", IMAGE),
    ("nd.spline_filter(x)", IMAGE),
    ("nd.shift(x, y)", IMAGE, 1.3),
    ("nd.shift(x, y, order=1, mode='nearest')", IMAGE, np.array([1.3, -0.6])),
    ("nd.shift(x, (0.5, 1.25), order=1)", IMAGE),
    ("nd.rotate(x, y)", IMAGE, 20.0),
    ("nd.rotate(x, 30, reshape=False, order=1)", IMAGE),
    ("nd.rotate(x, 30, axes=(2, 0), order=1)", R.normal(size=(3, 2, 4))),
    # The corners of the image are looked up at the border of what there is, or just beyond it.
    ("nd.rotate(x, 180.0, reshape=False)", IMAGE),
    ("nd.rotate(x, -90, order=1)", IMAGE),
    ("nd.zoom(x, 2)", IMAGE),
    ("nd.zoom(x, (0.5, 1.5), order=1)", IMAGE),
    (
        "nd.affine_transform(x, y, z)", IMAGE,
        np.array([[0.9123, 0.1234], [-0.2345, 1.1456]]), np.array([0.3412, 0.4321]),
    ),
    ("nd.affine_transform(x, y, z, order=1)", IMAGE, np.array([0.9123, 1.1234]), 0.3345),
    (
        "nd.affine_transform(x, y, output_shape=(4, 5))", IMAGE,
        np.array([[0.9123, 0.1234, 0.2456], [-0.2345, 1.1123, 0.3456]]),
    ),
    ("nd.fourier_gaussian(np.fft.fft2(x), 1.5)", IMAGE),
]  # fmt: skip

SPARSE = (sparse.random(6, 6, 0.4, random_state=1) + 5 * sparse.eye(6)).tocsc()
ENTRIES = SPARSE.tocoo()
DATA, VECTOR, COLUMNS = ENTRIES.data, R.normal(size=6), R.normal(size=(6, 3))
OPERATOR = sparse_linalg.aslinearoperator(SPARSE)
for _name in ("csc", "csr", "coo", "csr_array"):
    CASES += [
        (f"{_name} @ x", VECTOR),
        (f"{_name} @ x", COLUMNS),
        (f"x @ {_name}", VECTOR),
        (f"x.T @ {_name}", COLUMNS),
        (f"{_name}.dot(x)", VECTOR),
        (f"{_name}.T @ x", VECTOR),
    ]
CASES += [
    ("csr * x", VECTOR),
    ("(np.sum(x) * csr) @ x", VECTOR),
    ("sl.spsolve(sparse.eye(6) - y * csr, x)", VECTOR, 0.4),
    ("(csr @ csr + 2.0 * csr.T) @ x", VECTOR),
    ("csr.toarray() @ x", VECTOR),
    ("csr[0] @ x", VECTOR),
    ("csr[1:3] @ x", COLUMNS),
    ("operator @ x", VECTOR),
    ("sl.spsolve(csc, x)", VECTOR),
    ('sl.spsolve(csc, x, permc_spec="NATURAL")', VECTOR),
    ("sl.spsolve(csc, x)", COLUMNS),
    ("lu.solve(x)", VECTOR),
    ("lu.solve(x, 'T')", VECTOR),
    ("solver(x)", VECTOR),
    ("sl.splu(csc).solve(x)", VECTOR),
    ("sl.cg(csr @ csr.T, x, rtol=1e-13)[0]", VECTOR),
    ("sl.gmres(csr, x, rtol=1e-13)[0]", VECTOR),
    ("sl.bicgstab(x, y, rtol=1e-13)[0]", SPARSE.toarray(), VECTOR),
    ("sl.expm_multiply(csr, x)", VECTOR),
    ("sl.expm_multiply(x, y)", SPARSE.toarray() / 4, VECTOR),
    ("sl.expm_multiply(x, y)", SPARSE.toarray() / 4, COLUMNS),
    ("sparse.csr_matrix((x, (i, j)), shape=(6, 6)) @ y", DATA, VECTOR),
    ("y.T @ sparse.coo_array((x, (i, j)))", DATA, COLUMNS),
    ("sparse.csr_array((x, csr.indices, csr.indptr)) @ y", DATA, VECTOR),
    ("sparse.csc_array((x, csc.indices, csc.indptr)).T.dot(y)", DATA, VECTOR),
    ("(sparse.diags(x) + 2 * csr) @ y", VECTOR, VECTOR),
    ("sparse.diags([x, y, 1.5], [-1, 0, 1], shape=(6, 6)).toarray()", VECTOR[:5], VECTOR),
    ("sparse.spdiags([x, 2 * x, y], [-1, 0, 2], 6, 6) @ y", VECTOR, VECTOR),
    ("sparse.spdiags(np.stack([x, y]), (0, 1), (6, 5)).T @ y", VECTOR, VECTOR),
    ("sparse.kronsum(sparse.diags(x), csr) @ np.tile(y, 6)", VECTOR, VECTOR),
    (
        "sparse.kronsum(sparse.diags([x, y], [0, 1]), csr, 'csr') @ np.tile(x, 6)",
        VECTOR,
        VECTOR[1:],
    ),
    (
        "sparse.bmat([[sparse.diags(x), None], [csr, sparse.diags(y)]]) @ np.tile(y, 2)",
        VECTOR,
        VECTOR,
    ),
    ("sparse.bmat([[sparse.diags(x)], [csr]], 'csc') @ y", VECTOR, VECTOR),
    ("sparse.tril(sparse.csr_matrix(x), 1) @ y", SPARSE.toarray(), VECTOR),
    ("sparse.triu(sparse.csr_array(x), -1, 'csr') @ y", SPARSE.toarray(), VECTOR),
    ("sparse.csr_matrix(x) @ y", SPARSE.toarray(), VECTOR),
    ("(sparse.csr_matrix((x, (i, j))) @ sparse.csc_array((2 * x, (j, i)))) @ y", DATA, VECTOR),
    ("(sparse.csr_matrix((x, (i, j))) @ csr) @ y", DATA, VECTOR),
    ("sparse.kron(sparse.coo_array((x, (i, j))), csr) @ np.tile(y, 6)", DATA, VECTOR),
    ("sparse.hstack([csr, sparse.coo_array((x, (i, j)))]) @ np.tile(y, 2)", DATA, VECTOR),
    ("sparse.vstack([sparse.coo_array((x, (i, j))), csr]) @ y", DATA, VECTOR),
    ("sparse.block_diag([sparse.coo_array((x, (i, j))), csr]) @ np.tile(y, 2)", DATA, VECTOR),
    ("sl.spsolve(sparse.csc_matrix((x, (i, j)), shape=(6, 6)), y)", DATA, VECTOR),
    ("sl.spsolve(sparse.csc_matrix((x, (i, j)), shape=(6, 6)).tocsr(), y)", DATA, COLUMNS),
    ("sl.splu(sparse.csc_matrix((x, (i, j)))).solve(y)", DATA, VECTOR),
    ("sl.factorized(sparse.csc_matrix((x, (i, j))))(y)", DATA, VECTOR),
]

SIGNAL, TWO_SIGNALS = R.normal(size=31), R.normal(size=(2, 31))
SECTIONS = signal.butter(4, 0.3, output="sos")
B, A = signal.butter(3, 0.4)
for _norm in (None, "ortho", "forward"):
    CASES += [
        (f"fft.{_name}(x, {_type}, norm={_norm!r})", IMAGE)
        for _type in (1, 2, 3)
        for _name in ("dctn", "idctn", "dstn", "idstn")
    ]
CASES += [
    ("fft.dctn(x, s=(4, 5), axes=(1, 0))", IMAGE),
    ("fft.fftfreq(6, x)", 0.3),
    ("signal.convolve2d(x, y, 'same')", IMAGE, KERNEL),
    ("signal.correlate2d(x, y, 'valid')", IMAGE, KERNEL),
    ("signal.correlate2d(1j * y + y**2, x + 1j * x**2, 'valid')", IMAGE, KERNEL),
    ("signal.correlate2d(x + 1j * x**2, 1j * y + y**2, 'valid')", IMAGE, KERNEL),
    ("signal.correlate2d(1j * y + y**2, x + 1j * x**2, 'same')", IMAGE, KERNEL),
    ("signal.correlate(1j * y + y**2, x + 1j * x**2, 'valid')", IMAGE, KERNEL),
    ("signal.lfilter(x, y, z)", B, A, SIGNAL),
    ("signal.lfilter(x, y, z)", 0.7, A, SIGNAL),
    ("signal.lfilter(x, y, z)", B, 1.3, TWO_SIGNALS),
    ("signal.lfilter(x, y, z, 0)", np.array(0.7), np.array(1.3), TWO_SIGNALS),
    ("signal.lfilter([x, 0.2], (2.0, y), z)", 0.7, 0.3, SIGNAL),
    ("signal.filtfilt(x, 1, y)", B, SIGNAL),
    ("signal.lfilter_zi(x, 2)", B),
    ("signal.freqz(x, y, 7)[1]", B, A),
    ("signal.freqz(x, 2.0, worN=5, whole=True, fs=100.0)[1]", B),
    ("signal.freqz(x, y, 4, include_nyquist=True)[1]", B, A),
    ("signal.freqz([0.3, 0.5], x, np.abs(y), fs=10.0)[1]", A, SIGNAL),
    ("signal.lfilter(x, y, z, zi=u)[0]", B, A, SIGNAL, R.normal(size=3)),
    ("signal.lfilter(x, y, z, zi=u)[1]", B, A, SIGNAL, R.normal(size=3)),
    ("signal.lfilter(x, y, z, 0, u)[0]", B, 2 * A, SIGNAL[:2], R.normal(size=3)),
    ("signal.lfilter(b, a, x, zi=y)[0]", TWO_SIGNALS, R.normal(size=(2, 3))),
    ("signal.sosfilt(sos, x)", SIGNAL),
    ("signal.sosfilt(x * sos + (1 - x) * np.eye(6)[3], y)", 0.9, SIGNAL),
    ("signal.filtfilt(b, a, x)", SIGNAL),
    ("signal.filtfilt(b, a, x, padtype='even')", TWO_SIGNALS),
    ("signal.filtfilt(b, a, x, 0, padtype=None)", SIGNAL),
    ("signal.filtfilt(b, a, x, padlen=len(x) - 1)", SIGNAL),
    ("signal.filtfilt(b, a, x, axis=0, padtype='even', padlen=1)", TWO_SIGNALS),
    ("signal.hilbert(x)", SIGNAL),
    ("signal.chirp(np.arange(5) / 5, x[0] + 3, 1.5, x[1] + 6)", SIGNAL),
    ("signal.chirp(x, 3.0, x[0] ** 2 + 1, 5.0, 'quadratic', 30)", SIGNAL),
    ("signal.chirp(x, x[1] + 3, 2.0, 5.0, 'quad', phi=x[2], vertex_zero=False)", SIGNAL),
    ("signal.chirp(x, x[0] ** 2 + 1, 20.0, 5.0, 'log', complex=True)", SIGNAL),
    ("signal.chirp(x, x[0] ** 2 + 1, 20.0, 5.0, 'hyperbolic')", SIGNAL),
    ("np.abs(signal.hilbert(x, axis=0))", TWO_SIGNALS.T[:8]),
    ("signal.detrend(x)", SIGNAL),
    ("signal.detrend(x, 0, 'constant')", TWO_SIGNALS),
    ("signal.resample(x, 12)", SIGNAL),
    ("signal.resample(x, 12)", SIGNAL[:16]),
    ("signal.resample(x, 24, axis=1)", TWO_SIGNALS[:, :16]),
    ("signal.savgol_filter(x, 5, 2, mode='nearest')", SIGNAL),
    ("signal.upfirdn(x, y, 3, 2)", B, SIGNAL),
    ("signal.savgol_filter(x, 5, 2)", SIGNAL),
    ("signal.savgol_filter(x, 6, 3, 1, 0.5, axis=0)", IMAGE),
    ("signal.lfilter_zi(x, y)", B, A),
    ("signal.lfilter_zi(x, y)", B[:2], 2 * A),
    ("signal.lfilter_zi(x, y)", B, A[:2]),
    ("signal.filtfilt(x, y, z)", B, A, SIGNAL),
    ("signal.medfilt(x)", SIGNAL),
    ("signal.medfilt(x, 5)", IMAGE),
    ("signal.medfilt(x, (3, 1))", IMAGE),
    ("signal.welch(x)[1]", SIGNAL),
    ("signal.welch(x, 2.0, 'hamming', 8, 3, 16, 'linear', scaling='spectrum')[1]", TWO_SIGNALS),
    ("signal.welch(x, 2.0, nperseg=9, axis=0, detrend=False)[1]", TWO_SIGNALS.T),
    ("signal.welch(x, nperseg=8)[0] * x[:5]", SIGNAL),
    ("signal.spectrogram(x, nperseg=8)[2]", SIGNAL),
    ("signal.spectrogram(x, 3.0, 'hann', 9, 4, axis=0, scaling='spectrum')[2]", TWO_SIGNALS.T),
    ("signal.spectrogram(x, nperseg=8)[1] * x[0]", SIGNAL),
    ("np.abs(signal.stft(x, nperseg=8)[2])", SIGNAL),
    ("signal.stft(x, 2.0, 'hamming', 9, 6, 12, axis=0, scaling='psd')[2].imag", TWO_SIGNALS.T),
    ("np.abs(signal.stft(x, nperseg=8, boundary=None, padded=False)[2])", SIGNAL),
    ("signal.stft(x, 2.0, nperseg=8)[1] * x[0]", SIGNAL),
    ("signal.istft(signal.stft(x, nperseg=8)[2] * 1.5, nperseg=8)[1]", TWO_SIGNALS),
    ("signal.istft(x + 1j * x**2, nperseg=3, time_axis=0, freq_axis=1)[1]", TWO_SIGNALS[:, :4].T),
    ("signal.welch(x, window=np.hanning(8))[1]", SIGNAL),
    ("signal.welch(x, window=y, scaling='spectrum')[1]", SIGNAL, SIGNAL[:7] ** 2 + 0.3),
    ("signal.welch(x, nperseg=8, return_onesided=False)[1]", TWO_SIGNALS),
    ("signal.welch(x + 1j * x**2, nperseg=8, detrend=False)[1]", SIGNAL),
    ("signal.welch(x, nperseg=8, noverlap=6, average='median')[1]", SIGNAL),
    ("signal.spectrogram(x, window=list(np.hanning(8)))[2]", SIGNAL),
    ("signal.spectrogram(x, nperseg=8, mode='magnitude')[2]", SIGNAL),
    ("signal.spectrogram(x, nperseg=8, mode='complex', axis=0)[2].imag", TWO_SIGNALS.T),
    ("signal.spectrogram(x, nperseg=8, mode='angle')[2][1:-1]", SIGNAL),
    ("signal.spectrogram(x, nperseg=8, mode='phase', detrend=False)[2][1:-1]", SIGNAL),
    ("signal.periodogram(x, window=np.hamming(40))[1]", SIGNAL),
    ("np.abs(signal.stft(x, window=np.hanning(8), nperseg=8)[2])", SIGNAL),
    ("np.abs(signal.stft(x, nperseg=8, return_onesided=False)[2])", SIGNAL),
    ("signal.istft(x + 1j * x**2, window=np.hanning(8)[:6])[1]", TWO_SIGNALS[:, :4].T),
    (
        "signal.istft(x + 1j * x**2, nperseg=4, noverlap=3, input_onesided=False)[1].imag",
        TWO_SIGNALS[:, :4].T,
    ),
    (
        "np.abs(signal.csd(x, y, window=np.hanning(8), average='median')[1])",
        SIGNAL,
        SIGNAL[::-1] ** 2,
    ),
    ("np.abs(signal.csd(1j * x, y, nperseg=8)[1])", SIGNAL, SIGNAL[::-1] ** 2),
    ("signal.coherence(x, y, window=np.hanning(8))[1]", SIGNAL, SIGNAL[::-1] ** 2),
    ("signal.sosfiltfilt(sos, x)", TWO_SIGNALS),
    ("signal.sosfiltfilt(sos, x, 0, 'even', 5)", TWO_SIGNALS.T),
    ("signal.sosfiltfilt(sos, x, padtype=None)", SIGNAL),
    ("signal.decimate(x, 2, n=2)", SIGNAL),
    ("signal.decimate(x, 3, axis=0, zero_phase=False)", TWO_SIGNALS.T),
    ("signal.periodogram(x)[1]", SIGNAL),
    ("signal.periodogram(x, nfft=12, axis=0)[1]", TWO_SIGNALS.T),
    ("signal.periodogram(x, 3.0, ('tukey', 0.3), 40)[1]", TWO_SIGNALS),
    ("signal.windows.hann(31) * x", SIGNAL),
]
LEVELS, ABOVE = R.uniform(0.1, 0.9, 4), R.uniform(1.2, 3, 4)
for _name, _parameters in {
    "expon": 0, "uniform": 0, "logistic": 0, "laplace": 0, "cauchy": 0, "lognorm": 1, "pareto": 1,
    "weibull_min": 1, "gumbel_r": 0,
}.items():  # fmt: skip
    _shapes = ", ".join("yz"[:_parameters])
    _call = f"{_shapes}, 0.1, u" if _shapes else "0.1, y"
    _values = (1.3, 0.7)[: _parameters + 1]
    _call = _call.replace("u", "z")
    CASES += [(f"stats.{_name}.ppf(x, {_call})", LEVELS, *_values)]
    if _name not in ("logistic",):
        CASES += [(f"stats.{_name}.sf(x, {_call})", LEVELS + 1, *_values)]
CASES += [
    ("stats.gamma.ppf(x, 1.5, y, z)", LEVELS, 0.2, 1.3),
    ("stats.gamma.isf(x, 1.5, y, z)", LEVELS, 0.2, 1.3),
    ("stats.chi2.ppf(x, 3, y, z)", LEVELS, 0.2, 1.3),
    ("stats.beta.ppf(x, 1.5, 2.5, y, z)", LEVELS, 0.2, 1.3),
    ("stats.beta.sf(x, 1.5, 2.5)", LEVELS),
    ("stats.t.ppf(x, 3, y, z)", LEVELS, 0.2, 1.3),
    ("stats.expon.isf(x, y)", LEVELS, 0.3),
    ("stats.expon.logcdf(x, scale=y)", LEVELS, 0.7),
    ("stats.logistic.isf(x, y)", LEVELS, 0.3),
    ("stats.weibull_min.logsf(x, y)", LEVELS, 1.3),
    ("stats.pareto.logsf(x, y)", ABOVE, 1.3),
    ("stats.gumbel_r.logpdf(x, y, z)", LEVELS, 0.2, 1.3),
    ("stats.gumbel_r.pdf(x) + stats.gumbel_r.cdf(x) + stats.gumbel_r.logcdf(x)", LEVELS),
    ("stats.gumbel_l.logpdf(x, y, z)", LEVELS, 0.2, 1.3),
    ("stats.gumbel_l.pdf(x) + stats.gumbel_l.cdf(x)", LEVELS),
    ("stats.rayleigh.logpdf(x, y, z)", ABOVE, 0.2, 1.3),
    ("stats.rayleigh.pdf(x) + stats.rayleigh.cdf(x)", LEVELS),
    ("stats.f.logpdf(x, y, z)", LEVELS, 3.0, 5.0),
    ("stats.f.pdf(x, y, z)", LEVELS, 3.0, 5.0),
    ("stats.f.cdf(x, 3, 4) + stats.f.sf(x, 2, 5)", LEVELS),
    ("stats.invgamma.logpdf(x, y) + stats.invgamma.pdf(x, 2)", LEVELS, 1.7),
    ("stats.nbinom.logpmf([0, 2, 5], x, y) + stats.nbinom.pmf(3, x, y)", 2.5, 0.4),
    ("stats.geom.logpmf([1, 2, 5], x) + stats.geom.pmf(3, x)", 0.4),
    ("stats.poisson.cdf([0, 2, 5], x) + stats.poisson.sf(2, x)", 2.5),
    ("stats.poisson(x).logpmf(np.arange(3))", 2.5),
    (
        "stats.multivariate_normal.logpdf(x, y, z @ z.T + np.eye(3))",
        R.normal(size=(5, 3)),
        R.normal(size=3),
        R.normal(size=(3, 3)),
    ),
    ("stats.multivariate_normal.pdf(x, y, np.diag(z))", *R.uniform(0.5, 2, size=(3, 3))),
    ("stats.multivariate_normal.logpdf(x, y, np.diag(z), True)", *R.uniform(0.5, 2, size=(3, 3))),
    ("stats.multivariate_normal(x, np.diag(y)).logpdf(z)", *R.uniform(0.5, 2, size=(3, 3))),
    ("stats.multivariate_normal.logpdf(x, cov=y)", R.normal(size=4), 1.5),
    ("stats.multivariate_normal.logpdf(x, cov=np.diag(y))", R.normal(size=1), R.uniform(1, 2, 2)),
    ("stats.multivariate_normal.logpdf(x, y, z)", R.normal(size=(2, 3)), R.normal(size=3), 1.5),
    ("stats.multivariate_normal.pdf(x, y)", *R.normal(size=(2, 3))),
    ("stats.multivariate_normal.entropy(x, np.diag(y) + np.outer(x, x))", *R.uniform(1, 2, (2, 3))),
    ("stats.multivariate_normal.entropy(x, y)", R.normal(size=3), 1.5),
    ("stats.multivariate_normal(cov=x).entropy() * prior.entropy()", 1.5),
    ("stats.multivariate_t.logpdf(x, y, z)", R.normal(size=(2, 3)), R.normal(size=3), 1.5),
    ("stats.multivariate_t.logpdf(x, y, np.diag(z), 5)", *R.uniform(0.5, 2, size=(3, 3))),
    ("stats.multivariate_t.pdf(x, df=y)", R.normal(size=4), 3.5),
    ("stats.dirichlet.logpdf(x, y)", np.array([0.2, 0.3, 0.5])[:2], np.array([1.5, 2.0, 2.5])),
    ("stats.dirichlet(x).pdf([0.2, 0.3, 0.5])", np.array([1.5, 2.0, 2.5])),
    ("stats.wishart.logpdf(x @ x.T, 5, y @ y.T)", *R.normal(size=(2, 3, 3))),
    ("stats.invwishart.logpdf(x @ x.T, 5, y @ y.T)", *R.normal(size=(2, 3, 3))),
    ("prior.logpdf(x) + prior.pdf(x)", np.array([[0.3, 0.9], [-0.4, 1.1]])),
    ("tails.logpdf(x) + tails.pdf(x)", np.array([[0.3, 0.9], [-0.4, 1.1]])),
    ("shares.logpdf(x) + shares.pdf(x)", np.array([0.2])),
]
P, Q, W = R.uniform(0.5, 2, size=(3, 4))
CASES += [
    (f"distance.{_name}(x, y, z)", P, Q, W)
    for _name in (
        *("euclidean", "sqeuclidean", "cityblock", "cosine", "correlation", "canberra"),
        *("braycurtis", "seuclidean"),
    )
] + [
    ("distance.chebyshev(x, y)", P, Q),
    ("distance.minkowski(x, y, 3)", P, Q),
    ("distance.minkowski(x, y, 3, z)", P, Q, W),
    ("distance.correlation(x, y)", P, Q),
    ("distance.mahalanobis(x, y, z)", P, Q, np.diag(W)),
    ("distance.jensenshannon(x, y)", P, Q),
    ("distance.jensenshannon(x, y, 2.0)", P, Q),
]
for _metric in ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "cosine"):
    CASES += [(f"distance.cdist(x, y, {_metric!r})", R.normal(size=(4, 3)), R.normal(size=(5, 3)))]
    if _metric != "cosine":
        CASES += [(f"distance.pdist(x, {_metric!r})", R.normal(size=(5, 3)))]
for _name in ("fft", "ifft", "dct", "idct", "dst", "idst"):
    CASES += [
        (f"abs(fftpack.{_name}(x)) ** 3", R.normal(size=6)),
        (f"abs(fftpack.{_name}(x, n=4, axis=0)) ** 3", R.normal(size=(5, 3))),
    ]
for _name in ("dct", "idct", "dst", "idst"):
    CASES += [
        (f"fftpack.{_name}(x, {_type}, norm={_norm!r}) ** 3", R.normal(size=(2, 6)))
        for _type in (1, 3)
        for _norm in (None, "ortho")
    ]
    CASES += [(f"fftpack.{_name}n(x) ** 3", R.normal(size=(3, 4)))]
for _name in ("fftn", "ifftn", "fft2", "ifft2"):
    CASES += [(f"abs(fftpack.{_name}(x)) ** 3", R.normal(size=(3, 4)))]
CASES += [
    ("distance.pdist(x, 'minkowski', p=3)", R.normal(size=(5, 3))),
    ("distance.squareform(distance.pdist(x))", R.normal(size=(5, 3))),
]

NAMES = {
    "signal": signal, "fft": fft, "fftpack": fftpack, "stats": stats, "distance": distance,
    "sos": SECTIONS, "b": B, "a": A,
    "nd": scipy.ndimage, "scipy": scipy, "sparse": sparse, "sl": sparse_linalg,
    "csc": SPARSE, "csr": SPARSE.tocsr(), "coo": ENTRIES, "csr_array": sparse.csr_array(SPARSE),
    "i": ENTRIES.row, "j": ENTRIES.col, "operator": OPERATOR, "lu": sparse_linalg.splu(SPARSE),
    "prior": stats.multivariate_normal([0.1, 0.5], [[1.0, 0.2], [0.2, 0.7]]),
    "tails": stats.multivariate_t([0.1, 0.5], [[1.0, 0.2], [0.2, 0.7]], 5),
    "shares": stats.dirichlet([1.5, 2.0]),
    "solver": sparse_linalg.factorized(SPARSE),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_expression(number: int) -> None:
    """Second derivatives of every other one."""
    expression, *arguments = CASES[number]
    expressions.check(expression, *arguments, second=number % 2 == 0, **NAMES)


REFUSED = {
    "nd.grey_dilation(x, structure=np.ones((3, 3)))": "structure adds heights",
    "nd.correlate(x, np.ones((2, 2)), output=np.zeros((6, 7)))": "no reverse rule",
    "nd.correlate(x, np.ones((2, 2)), np.zeros((6, 7)))": "no reverse rule",
    "nd.generic_filter(x, np.sum, 3)": "slices",
    "csr_array.multiply(x[:, :6]) @ np.ones(6)": "multiply entries",
    "(csr_array * x[:, :6]) @ np.ones(6)": "multiply entries",
    "sl.inv(x)": "spsolve",
    "signal.wiener(x)": "convolve",
    "signal.stft(x, boundary='odd')[2]": "boundary",
    "signal.decimate(x, 2, ftype='fir')": "iir",
    "distance.cdist(x, x, 'jaccard')": "metric",
    "fft.hfftn(x)": "irfftn",
    "scipy.interpolate.splprep(x)": "s=0, by x and u",
    "scipy.interpolate.splprep(x, s=0, per=1)": "s=0, by x and u",
    "scipy.integrate.ode(lambda t, y: x[0]).set_integrator('zvode')": "with vode, lsoda",
    "scipy.integrate.ode(lambda t, y: x[0]).set_solout(print)": "without solout",
    "scipy.integrate.ode(lambda t, y: x[0]).integrate(1.0, step=True)": "without step and relax",
    "scipy.integrate.complex_ode(lambda t, y: x[0])": "takes complex numbers",
}


def definite(x: Any) -> Any:
    return x @ x.conj().T + np.eye(len(x))


@pytest.mark.parametrize("name", ["solve_continuous_are", "solve_discrete_are"])
def test_riccati_equations(name: str) -> None:
    solve, rng = getattr(scipy.linalg, name), np.random.default_rng(4)

    def solution(a, b, q, r):
        return solve(a, b, definite(q), definite(r))

    def lengths(a, b, q, r):
        return np.abs(solve(a, b, definite(q), r=definite(r))) ** 2

    real = [rng.normal(size=shape) for shape in ((3, 3), (3, 2), (3, 3), (2, 2))]
    check_grads(solution, tuple(real))
    check_grads(lengths, tuple(x + 1j * rng.normal(size=x.shape) for x in real), order=1)
    with pytest.raises(srcgrad.UnsupportedError, match="with e or s it has no rule"):
        srcgrad.grad(lambda a: np.sum(solve(a, real[1], np.eye(3), np.eye(2), e=np.eye(3))))(
            real[0]
        )


def sparse_loss(A: Any, x: Any) -> Any:
    return np.sum((A @ x) ** 2)


def test_a_sparse_matrix_as_an_argument() -> None:
    gradient = srcgrad.grad(sparse_loss, 1)
    np.testing.assert_allclose(gradient(SPARSE, VECTOR), 2 * SPARSE.T @ (SPARSE @ VECTOR))
    assert "constant.T @ (2.0 * (constant @ x))" in gradient.source
    np.testing.assert_allclose(gradient(2 * SPARSE, VECTOR), 8 * SPARSE.T @ (SPARSE @ VECTOR))
    with pytest.raises((TypeError, srcgrad.UnsupportedError)):
        srcgrad.grad(sparse_loss)(SPARSE, VECTOR)


@pytest.mark.parametrize("expression", REFUSED)
def test_what_cannot_be_differentiated_says_so(expression: str) -> None:
    f = expressions.function(expression, 1, **NAMES)
    with pytest.raises(srcgrad.UnsupportedError, match=REFUSED[expression]):
        srcgrad.grad(f)(IMAGE)
