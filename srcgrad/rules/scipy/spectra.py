"""Spectra of overlapping parts of signals."""

from __future__ import annotations

import inspect

import numpy as np
from scipy import signal

from ..registry import definition
from .left import left

# the names of windows that SciPy takes depend on its version
WINDOW_OF_SPECTROGRAM = inspect.signature(signal.spectrogram).parameters["window"].default
WINDOW_OF_ISTFT = inspect.signature(signal.istft).parameters["window"].default
WINDOW_OF_STFT = inspect.signature(signal.stft).parameters["window"].default


def parts_of(x, window, nperseg, noverlap, detrend):
    """The overlapping parts of rows of a signal, without their trend, and the window's weights."""
    if np.iscomplexobj(x) or detrend not in ("constant", "linear", False):
        raise NotImplementedError("spectra have a rule for one side of those of real signals")
    if not isinstance(window, (str, tuple)):
        raise NotImplementedError("spectra have a rule for windows with a name")
    length = x.shape[-1]
    n = min(256, length) if nperseg is None else min(nperseg, length)
    if nperseg is not None and nperseg < 1:
        raise ValueError("nperseg must be a positive integer")
    if noverlap is not None and noverlap >= n:
        raise ValueError("noverlap must be less than nperseg.")
    step = n - (n // 2 if noverlap is None else noverlap)
    parts = x[..., np.arange(0, length - n + 1, step)[:, None] + np.arange(n)]
    if detrend:
        parts = signal.detrend(parts, -1, detrend)
    return parts, weights_of(window, n, x)


def weights_of(window, n, x):
    """The weights of a window, as precise as the spectrum of x is."""
    return signal.get_window(window, n).astype(np.result_type(x.real, np.float32))


def unit_of(weights, fs, scaling):
    """What a spectrum of powers is divided by."""
    return fs * np.sum(weights**2) if scaling == "density" else np.sum(weights) ** 2


def both_sides(n, dtype):
    """How often each frequency of one side occurs in the whole spectrum."""
    both = np.full(n // 2 + 1, 2.0, dtype)
    both[0] = 1.0
    if n % 2 == 0:
        both[-1] = 1.0
    return both


def powers(parts, weights, fs, nfft, scaling):
    """The power of each part, by frequency, and the frequencies."""
    n = parts.shape[-1] if nfft is None else nfft
    spectrum = np.fft.rfft(parts * weights, n)
    factors = both_sides(n, weights.dtype) / unit_of(weights, fs, scaling)
    return (spectrum.real**2 + spectrum.imag**2) * factors, np.fft.rfftfreq(n, 1 / fs)


def middles(x, n, noverlap, fs):
    """The times of the middles of the parts of a signal."""
    return np.arange(n / 2, x.shape[-1] - n / 2 + 1, n - noverlap) / float(fs)


@definition(signal.welch)
def welch(
    x, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant",
    return_onesided=True, scaling="density", axis=-1, average="mean",
):  # fmt: skip
    """P. D. Welch (1967): the mean of the squared spectra of overlapping parts."""
    if not return_onesided or average != "mean":
        raise NotImplementedError("welch has a rule for one side of the spectrum, and for the mean")
    parts, weights = parts_of(np.moveaxis(x, axis, -1), window, nperseg, noverlap, detrend)
    power, frequencies = powers(parts, weights, fs, nfft, scaling)
    return frequencies, np.moveaxis(np.mean(power, axis=-2), -1, axis)


csd_left = left(
    signal.csd,
    "it is differentiated for one side of the spectra of real signals, for the mean, and for "
    "windows with a name",
)


@definition(signal.csd)
def csd(
    x, y, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant",
    return_onesided=True, scaling="density", axis=-1, average="mean",
):  # fmt: skip
    """Of a signal with itself, that is `welch`, and real."""
    x, y = np.asarray(x), np.asarray(y)
    known = return_onesided and average == "mean" and isinstance(window, (str, tuple))
    if not known or np.iscomplexobj(x) or np.iscomplexobj(y):
        return csd_left(
            x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis,
            average,
        )  # fmt: skip
    if y is x:
        return signal.welch(
            x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis
        )
    frequencies, cross = cross_spectrum(
        np.moveaxis(np.asarray(x), axis, -1), np.moveaxis(np.asarray(y), axis, -1),
        fs, window, nperseg, noverlap, nfft, detrend, scaling,
    )  # fmt: skip
    return frequencies, np.moveaxis(cross, -1, axis)


def with_zeros(x, count):
    """Rows that are made so long by zeros behind."""
    return np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, count - x.shape[-1])])


def cross_spectrum(x, y, fs, window, nperseg, noverlap, nfft, detrend, scaling):
    count = max(x.shape[-1], y.shape[-1])
    x, y = with_zeros(x, count), with_zeros(y, count)
    parts, weights = parts_of(x, window, nperseg, noverlap, detrend)
    others, _ = parts_of(y, window, nperseg, noverlap, detrend)
    n = parts.shape[-1] if nfft is None else nfft
    cross = np.conj(np.fft.rfft(parts * weights, n)) * np.fft.rfft(others * weights, n)
    cross = cross * (both_sides(n, weights.dtype) / unit_of(weights, fs, scaling))
    return np.fft.rfftfreq(n, 1 / fs), np.mean(cross, axis=-2)


@definition(signal.coherence)
def coherence(
    x, y, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant",
    axis=-1,
):  # fmt: skip
    how = (fs, window, nperseg, noverlap, nfft, detrend)
    frequencies, in_x = signal.welch(x, *how, axis=axis)
    _, in_y = signal.welch(y, *how, axis=axis)
    _, cross = cross_spectrum(
        np.moveaxis(np.asarray(x), axis, -1), np.moveaxis(np.asarray(y), axis, -1),
        *how, "density",
    )  # fmt: skip
    cross = np.moveaxis(cross, -1, axis)
    return frequencies, (cross.real**2 + cross.imag**2) / in_x / in_y


@definition(signal.spectrogram)
def spectrogram(
    x, fs=1.0, window=WINDOW_OF_SPECTROGRAM, nperseg=None, noverlap=None,
    nfft=None, detrend="constant", return_onesided=True, scaling="density", axis=-1, mode="psd",
):  # fmt: skip
    if not return_onesided or mode != "psd":
        raise NotImplementedError("spectrogram has a rule for mode='psd', and one side; see stft")
    rows = np.moveaxis(x, axis, -1)
    n = min(256 if nperseg is None else nperseg, rows.shape[-1])
    if noverlap is None:
        noverlap = n // 8
    parts, weights = parts_of(rows, window, n, noverlap, detrend)
    power, frequencies = powers(parts, weights, fs, nfft, scaling)
    power = np.moveaxis(power, -1, axis - 1 if axis < 0 else axis)
    return frequencies, middles(rows, n, noverlap, fs), power


@definition(signal.stft)
def stft(
    x, fs=1.0, window=WINDOW_OF_STFT, nperseg=256, noverlap=None, nfft=None,
    detrend=False, return_onesided=True, boundary="zeros", padded=True, axis=-1,
    scaling="spectrum",
):  # fmt: skip
    if not return_onesided or boundary not in ("zeros", None):
        raise NotImplementedError("stft has a rule for one side, and for boundary='zeros' or None")
    rows = np.moveaxis(x, axis, -1)
    n = min(256 if nperseg is None else nperseg, rows.shape[-1])
    if noverlap is None:
        noverlap = n // 2
    before = n // 2 if boundary is not None else 0
    wide = rows.shape[-1] + 2 * before
    after = before + (-(wide - n) % (n - noverlap) % n if padded else 0)
    rows = np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(before, after)])
    parts, weights = parts_of(rows, window, n, noverlap, detrend)
    nfft = n if nfft is None else nfft
    unit = np.sqrt(unit_of(weights, fs, "density" if scaling == "psd" else scaling))
    spectrum = np.moveaxis(
        np.fft.rfft(parts * weights, nfft) / unit, -1, axis - 1 if axis < 0 else axis
    )
    times = middles(rows, n, noverlap, fs)
    if boundary is not None:
        times = times - n / 2 / fs
    return np.fft.rfftfreq(nfft, 1 / fs), times, spectrum


@definition(signal.periodogram)
def periodogram(
    x, fs=1.0, window="boxcar", nfft=None, detrend="constant", return_onesided=True,
    scaling="density", axis=-1,
):  # fmt: skip
    if nfft is not None:
        x = np.moveaxis(np.moveaxis(x, axis, 0)[:nfft], 0, axis)
    length = x.shape[axis]
    return signal.welch(x, fs, window, length, 0, nfft, detrend, return_onesided, scaling, axis)


@definition(signal.istft)
def istft(
    Zxx, fs=1.0, window=WINDOW_OF_ISTFT, nperseg=None, noverlap=None, nfft=None,
    input_onesided=True, boundary=True, time_axis=-1, freq_axis=-2, scaling="spectrum",
):  # fmt: skip
    """The parts laid over each other, and divided by the sum of the squared windows."""
    if not input_onesided or not isinstance(window, (str, tuple)):
        raise NotImplementedError("istft has a rule for one side, and for windows with a name")
    in_time, in_frequency = time_axis % Zxx.ndim, freq_axis % Zxx.ndim
    spectra = np.moveaxis(Zxx, (in_time, in_frequency), (-2, -1))
    usual = 2 * (spectra.shape[-1] - 1)
    n = usual if nperseg is None else nperseg
    if nfft is None:
        nfft = n if n == usual + 1 else usual
    step = n - (n // 2 if noverlap is None else noverlap)
    weights = weights_of(window, n, Zxx)
    unit = np.sqrt(unit_of(weights, fs, "density" if scaling == "psd" else scaling))
    parts = np.fft.irfft(spectra, nfft)[..., :n] * (weights * unit)
    count = parts.shape[-2]
    x = np.zeros((*parts.shape[:-2], n + (count - 1) * step), parts.dtype)
    norm = np.zeros(n + (count - 1) * step, parts.dtype)
    for i in range(count):
        x[..., i * step : i * step + n] += parts[..., i, :]
        norm[i * step : i * step + n] += weights**2
    if boundary:
        x, norm = x[..., n // 2 : -(n // 2)], norm[n // 2 : -(n // 2)]
    x = x / np.where(norm > 1e-10, norm, 1.0)
    x = np.moveaxis(x, -1, in_time - 1 if in_frequency < in_time else in_time)
    return np.arange(x.shape[0]) / float(fs), x
